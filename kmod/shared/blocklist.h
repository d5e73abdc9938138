/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Block lists: one block checked against its disk, and the blocks of several
 * disks grouped by disk, sorted by where they lie, and searched for overlaps.
 *
 * All functions are linear in the length of the list if it is sorted already, and
 * linear times the digits of the longest offset otherwise; nothing recurses
 * and nothing allocates.  The caller gives a second array where one is needed, and
 * a function that is called now and then, which may let other tasks run or give up.
 */
#ifndef DDIO_BLOCKLIST_H
#define DDIO_BLOCKLIST_H

#include "shim.h"

/**
 * struct ddio_entry - one block, checked
 * @offset: on the disk, bytes
 * @where: as submitted; place: byte in the buffer
 * @first_run: as submitted; scatter: index of the first run
 * @length: bytes
 * @index: in the list as submitted
 * @chan: number of its disk
 * @pin: place: index into the list's pins
 * @nr_runs: scatter: how many
 */
struct ddio_entry {
	u64 offset;
	union {
		u64 where;
		u64 first_run;
	};
	u32 length;
	u32 index;
	u32 chan;
	union {
		u32 pin;
		u32 nr_runs;
	};
};

/**
 * struct ddio_relax - called every few thousand steps
 * @fn: returns 0, or a negative errno to give up; may be NULL
 * @arg: for @fn
 */
struct ddio_relax {
	int (*fn)(void *arg);
	void *arg;
};

#define DDIO_SORT_BITS 11

/**
 * struct ddio_sorter - scratch memory for sorting
 * @relax: called now and then
 * @at: entries of each digit, then where the next one goes
 */
struct ddio_sorter {
	struct ddio_relax relax;
	u32 at[1 << DDIO_SORT_BITS];
};

enum ddio_sort_key { DDIO_SORT_OFFSET, DDIO_SORT_INDEX };

#define DDIO_NO_ENTRY (~0ULL)

int ddio_block_check(u64 offset, u32 length, u64 disk_bytes, u32 logical);
int ddio_entries_group(const struct ddio_entry *from, struct ddio_entry *to, u64 nr, u64 *first,
		       u32 groups, const struct ddio_relax *relax);
int ddio_entries_sort(struct ddio_entry *entry, struct ddio_entry *spare, u32 nr,
		      enum ddio_sort_key key, struct ddio_sorter *sorter);
int ddio_entries_overlap(const struct ddio_entry *entry, u64 nr, const struct ddio_relax *relax,
			 u64 *index);

#endif /* DDIO_BLOCKLIST_H */
