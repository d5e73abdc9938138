// SPDX-License-Identifier: LGPL-2.1-or-later
/* The disk engines of the real world.  A new one is one more line here. */
#include "env/disk/priv.h"

extern const struct ddio_disk_engine disk_aio, disk_kmod;

const struct ddio_disk_engine *const ddio_disk_engines[] = {
	&ddio_disk_mem, &disk_aio, &ddio_disk_hp97560, &disk_kmod, NULL,
};
