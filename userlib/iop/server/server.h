/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The server's entrance; iop.c, which calls it, documents these functions. */
#ifndef DDIO_SERVER_H
#define DDIO_SERVER_H

#include "iop/server/opts.h"
#include "iop/server/service.h"

uint32_t server_reactors(const struct ddio_conf *conf, uint32_t node, uint32_t cores);
/* @services: a list that ends with NULL; they are told of everything in its order. */
int server_start(const struct ddio_iop_opts *opts, const struct server_service *const *services,
		 struct ddio_iop **iop, char *err, size_t err_len);
const char *server_addr(const struct ddio_iop *iop);
void server_stop(struct ddio_iop *iop);
void server_set_key(struct ddio_iop *iop, const struct ddio_key *key);
void server_free(struct ddio_iop *iop);

#endif /* DDIO_SERVER_H */
