/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Has blocks of files lie side by side again, a part of one file's share of a disk with each request; see Documentation/store.rst. */
#ifndef DDIO_MENDS_H
#define DDIO_MENDS_H

#include "iop/server/service.h"

extern const struct server_service mend_service;

#endif /* DDIO_MENDS_H */
