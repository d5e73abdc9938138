/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random runs between blocks and the memory of members, and their twin, which moves
 * byte by byte.
 */
#ifndef KT_SPREAD_H
#define KT_SPREAD_H

#include "lib/rig.h"

#define KT_SPREAD_MEMBERS 4

/**
 * struct kt_spread - a list with runs
 * @rig: the disks
 * @member: of each member, what its memory ought to hold
 * @room: bytes of each member's memory
 * @cursor: reading: where the next run's memory begins, so that no two overlap
 * @nr_members: members
 * @block, @nr: the list
 * @run, @nr_runs: the runs; room for @max_runs
 */
struct kt_spread {
	struct kt_rig *rig;
	unsigned char *member[KT_SPREAD_MEMBERS];
	uint64_t room;
	uint64_t cursor[KT_SPREAD_MEMBERS];
	uint32_t nr_members;
	struct ddio_block *block;
	uint64_t nr;
	struct ddio_run *run;
	uint64_t nr_runs;
	uint64_t max_runs;
};

/* Draws @draw->nr blocks into @spread->block, with runs for an operation. */
bool kt_spread_draw(struct kt_spread *spread, struct kt_rng *rng, const struct kt_draw *draw,
		    uint32_t op);
/* Moves what one block's runs name: from the disks' images to the members', or back. */
void kt_spread_move(struct kt_spread *spread, uint64_t index, uint32_t op);
void kt_spread_move_all(struct kt_spread *spread, uint32_t op);
/* Fills in a submission of the list. */
void kt_spread_submit(const struct kt_spread *spread, struct ddio_submit *s, uint32_t op,
		      int joint);

#endif /* KT_SPREAD_H */
