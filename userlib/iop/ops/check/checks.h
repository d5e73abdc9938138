/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of what disks and the name space have on record, and the repairs. */
#ifndef DDIO_CHECKS_H
#define DDIO_CHECKS_H

#include "iop/server/service.h"

extern const struct server_service check_service;

#endif /* DDIO_CHECKS_H */
