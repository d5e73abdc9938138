/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups of sums in memory. */
#ifndef DDIO_SUMS_PRIV_H
#define DDIO_SUMS_PRIV_H

#include "iop/sums/sums.h"

/**
 * struct sums_of - the groups of one object
 */
struct sums_of {
	struct ddio_hash_node node;
	struct ddio_list groups;
};

/**
 * struct sums_group - a group
 * @of, @of_link: the object's
 * @link: in sums.clean, .due or .late
 * @rec: @doubt: what was recorded as in doubt and has not been read or written since
 * @open: recorded as in doubt as a whole, or about to be
 * @opened: number of the commit that records it
 * @fresh: chunks of blocks of which no record says yet that they were written: until the next commit begins they change
 *	as they like
 * @moving: chunks that are being written
 * @writing: writes under way
 * @touched: sums.tick when something of it was last written
 * @busy: it is in .due or .late; @due: in .due
 * @sealed: it is being recorded
 */
struct sums_group {
	struct ddio_hash_node node;
	struct ddio_list link, of_link;
	struct sums_of *of;
	struct rec_sums rec;
	uint64_t fresh[SUMS_WORDS], moving[SUMS_WORDS];
	uint64_t opened, touched;
	uint32_t writing;
	bool open, busy, due, sealed;
};

/* Where a block's sums are: in which group, and which of it. */
struct sums_at {
	uint64_t number;
	uint32_t first, n, len;
};

struct sums_at sums_at(const struct sums_block *b);
struct sums_group *sums_find(const struct sums *sums, uint64_t id, uint64_t number);
/* Finds, loads or makes a group: 0 or -errno. */
int sums_get(struct sums *sums, uint64_t id, uint64_t number, struct sums_group **group);
/* The group differs from its record.  @due: the next commit must record it. */
void sums_group_busy(struct sums *sums, struct sums_group *group, bool due);
/* The group is as recorded, or about to be. */
void sums_group_clean(struct sums *sums, struct sums_group *group);
/* Drops groups that were not used for longest, down to the bound. */
void sums_shrink(struct sums *sums);
void sums_group_free(struct sums *sums, struct sums_group *group);

/* commit.c: forgets what was set aside. */
void sums_sealed_free(struct sums *sums);

#endif /* DDIO_SUMS_PRIV_H */
