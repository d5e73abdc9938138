/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides of which time a disk, its records and the name space are.  Pure: tests/unit/iop/life goes through all orders
 * of starts, stops, meetings, copies and restores with these functions.  Why they are as they are: Documentation/store.rst,
 * Lives.
 */
#ifndef DDIO_LIFE_H
#define DDIO_LIFE_H

#include <stddef.h>
#include "proto/proto.h"

/**
 * struct lives - what a disk's records know of the disk's lives
 * @life: the present one
 * @from: the label of the disk is being written, and has this life or @life; 0: it has @life
 * @known: the name space knows @life; before that, nobody reads or writes
 * @ended: the daemon has ended in order since: @life is a name for that, and nobody was ever told of it
 * @n, @before: see struct ddio_disk_id
 */
struct lives {
	uint64_t life, from;
	bool known, ended;
	uint32_t n;
	uint64_t before[DDIO_LIVES];
};

/* Returns a life that follows @life and that no other one is like; @random: 64 random bits. */
uint64_t life_after(uint64_t life, uint64_t random);
/* Returns true if the records and a disk whose label has life @label are of the same time. */
bool life_fits(const struct lives *l, uint64_t label);
/*
 * Begins a life, or (@ended) a name for the end of the present one.  The records take it, with @from, before the label
 * (whose life is @label) does; life_written() follows when the label has it.
 */
void life_begin_next(struct lives *l, uint64_t label, uint64_t random, bool ended);
void life_written(struct lives *l);
/* The label is damaged, or the records of lives are: an administrator has said that they belong together. */
void life_guess(struct lives *l, uint64_t label);

/* LIFE_SAME: the one that was known; LIFE_NEXT: one that follows it; LIFE_PAST: the disk is of another time */
enum life_order { LIFE_SAME, LIFE_NEXT, LIFE_PAST };
/* Compares a disk with the life in which the name space has met it last. */
enum life_order life_meet(uint64_t known, const struct ddio_disk_id *id);

/**
 * struct names_life - a life of the name space
 * @first: the last change that it found when it began
 */
struct names_life {
	uint64_t life, first;
};

/*
 * Returns true if a name space with these lives, oldest first, has all that it had at change @change of life @life.
 * @life 0: nothing is known of it.
 */
bool names_have(const struct names_life *lives, size_t n, uint64_t life, uint64_t change);

#endif /* DDIO_LIFE_H */
