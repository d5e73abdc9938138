/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scatter lists in the terms of <uapi/linux/ddio.h>; only for env, since its struct
 * ddio_run is another one than that of the maps.
 */
#ifndef DDIO_SCATTER_H
#define DDIO_SCATTER_H

#include <uapi/linux/ddio.h>
#include "env/disk/engine.h"

/**
 * struct ddio_disk_scatter - a list
 * @block: blocks, without the number of their disk; @run: the runs of all of them
 * @running: the engine has it
 * @sums: its blocks have sums
 * @begun: blocks that were counted as in flight; @landed: those of them that have ended
 * @stopped: the engine was told to stop
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
	bool running, stopped, sums;
	void *priv;
};

/* Called by engines from the loop: a block has ended; after all blocks, the list has ended. */
void disk_scatter_landed(struct ddio_disk_scatter *scatter, uint32_t index, int status);
void disk_scatter_ended(struct ddio_disk_scatter *scatter);

#endif /* DDIO_SCATTER_H */
