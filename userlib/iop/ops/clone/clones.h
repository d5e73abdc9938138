/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clones of files: the name space makes them, and each disk shares its blocks; see Documentation/store.rst. */
#ifndef DDIO_CLONES_H
#define DDIO_CLONES_H

#include "iop/server/service.h"

extern const struct server_service clone_service;

#endif /* DDIO_CLONES_H */
