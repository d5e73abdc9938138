/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The I/O processor: one struct ddio_iop per daemon, one reactor per thread.  A reactor owns its
 * disks with their stores and caches, and its connections; reactors talk to each other by
 * ddio_env_post() only.  Reactor 0 accepts connections, and serves the name space on the node that
 * has it.
 */
#ifndef DDIO_IOP_H
#define DDIO_IOP_H

#include "iop/server/opts.h"

struct ddio_iop;

uint32_t ddio_iop_reactors(const struct ddio_conf *conf, uint32_t node, uint32_t cores);
int ddio_iop_start(const struct ddio_iop_opts *opts, struct ddio_iop **iop, char *err,
		   size_t err_len);
const char *ddio_iop_addr(const struct ddio_iop *iop);
int ddio_iop_look(struct ddio_iop *iop, ddio_iop_look_fn fn, void *arg);
void ddio_iop_set_key(struct ddio_iop *iop, const struct ddio_key *key);
void ddio_iop_stop(struct ddio_iop *iop);
void ddio_iop_free(struct ddio_iop *iop);

#endif /* DDIO_IOP_H */
