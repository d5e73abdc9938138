/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Listening for leases that the name server wants back; reactor 0. */
#ifndef DDIO_CP_FS_RECALL_H
#define DDIO_CP_FS_RECALL_H

#include "cp/fs/names/names.h"

/* Listens, if the connection is there and knows leases, unless it does already. */
void fsc_recall_listen(struct ddio_fs *fs);

#endif /* DDIO_CP_FS_RECALL_H */
