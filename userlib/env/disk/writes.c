// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The record of what was written while a disk has disk streams.
 *
 * The beginning and the end of every write get a number, and a table keeps the last number of each
 * region of the disk; regions that share an entry are taken for one another.  A block is unchanged
 * since a number if none of its entries is larger.  The end of a write counts too, since one that began
 * before a stream was opened may still be under way when the disk reads for that stream.
 */
#include <errno.h>
#include <stdlib.h>
#include "env/disk/priv.h"

#define REGION_SHIFT 13
#define REGIONS 1024u

int disk_writes_watch(struct ddio_disk *disk)
{
	if (!disk->write_table)
		disk->write_table = calloc(REGIONS, sizeof(*disk->write_table));
	return disk->write_table ? 0 : -ENOMEM;
}

/* Regions beyond the first that the range touches. */
static uint64_t regions_beyond(uint64_t offset, uint64_t len)
{
	return ((offset + len - 1) >> REGION_SHIFT) - (offset >> REGION_SHIFT);
}

void disk_write_note(struct ddio_disk *disk, uint64_t offset, uint64_t len)
{
	uint64_t first = offset >> REGION_SHIFT, n = regions_beyond(offset, len), i;

	if (!disk->streams)
		return;
	disk->write_seq++;
	for (i = 0; i <= n && i < REGIONS; i++)
		disk->write_table[(first + i) % REGIONS] = disk->write_seq;
}

bool disk_written_since(const struct ddio_disk *disk, uint64_t offset, uint64_t len, uint64_t seq)
{
	uint64_t first = offset >> REGION_SHIFT, n = regions_beyond(offset, len), i;

	for (i = 0; i <= n && i < REGIONS; i++)
		if (disk->write_table[(first + i) % REGIONS] > seq)
			return true;
	return false;
}
