/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A contiguous range of a file, read or written by this process alone, in parallel over all disks. */
#ifndef DDIO_CP_RANGE_H
#define DDIO_CP_RANGE_H

#include "cp/file/file.h"
#include "cp/node/objio.h"

/**
 * struct range_io - the requests for one range
 * @file, @buf, @at, @end, @done, @arg: the user's: bytes [@at, @end) of the file, to or from @buf
 * @done: called when nothing is outstanding; @io.error is the result
 * @block: of each disk of the stripe: the file's next block there
 */
struct range_io {
	struct ddio_file *file;
	uint8_t *buf;
	uint64_t at, end;
	void (*done)(struct range_io *range);
	void *arg;
	struct objio io;
	uint64_t *block;
};

/* Ends in done(), maybe before it returns; objio_stop(&range->io) ends it early. */
void range_begin(struct range_io *range, bool writing);
void range_free(struct range_io *range);

#endif /* DDIO_CP_RANGE_H */
