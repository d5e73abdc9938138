/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists that are scattered, in the words of <uapi/linux/ddio.h>; only for env, since its struct
 * ddio_run is another one than that of the maps.
 */
#ifndef DDIO_SCATTER_H
#define DDIO_SCATTER_H

#include <uapi/linux/ddio.h>
#include "env/disk/engine.h"

/**
 * struct ddio_disk_scatter - a list
 * @block: with their disk not filled in; @run: of all of them
 * @running: the engine has it
 * @begun: blocks that the disk's counters have, or had, as in flight; @landed: of them, ended
 * @stopped: of an error that was injected the engine was told
 * @priv: the engine's
 */
struct ddio_disk_scatter {
	struct ddio_disk *disk;
	struct ddio_disk_scatter_spec spec;
	struct ddio_block *block;
	struct ddio_run *run;
	uint32_t nblocks, cap_blocks;
	uint64_t nruns, cap_runs;
	uint32_t begun, landed;
	bool running, stopped;
	void *priv;
};

/* For engines, from the loop: a block has ended; and, after all of them, the list. */
void disk_scatter_landed(struct ddio_disk_scatter *scatter, uint32_t index, int status);
void disk_scatter_ended(struct ddio_disk_scatter *scatter);

#endif /* DDIO_SCATTER_H */
