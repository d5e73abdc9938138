/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Epochs that a reactor's disks have prepared, and that nobody settles: the name space is asked how they were decided. */
#ifndef DDIO_EPOCHS_H
#define DDIO_EPOCHS_H

#include "iop/server/service.h"

/* Something was prepared on a disk of the reactor: asks when it should have been settled. */
void epochs_watch(struct reactor *reactor);

extern const struct server_service epoch_service;

#endif /* DDIO_EPOCHS_H */
