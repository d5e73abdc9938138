/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A name server that knows nothing of this mount; reactor 0. */
#ifndef DDIO_CP_FS_AGAIN_H
#define DDIO_CP_FS_AGAIN_H

#include "cp/fs/core/core.h"

/* Tells the name server again what is open and locked; ends in fsc_names_told(), perhaps inside. */
void fsc_tell_again(struct ddio_fs *fs);

#endif /* DDIO_CP_FS_AGAIN_H */
