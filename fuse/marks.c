// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was ever done to an inode through this mount, so that closing a file that was only read costs no
 * request.  A mark stays, and inodes share bytes: a mark too many costs one request.
 */
#include <stdlib.h>
#include "ddiofs.h"

#define MARKS (1u << 16)

struct marks {
	atomic_uchar byte[MARKS];
};

struct marks *marks_new(void)
{
	return calloc(1, sizeof(struct marks));
}

void marks_free(struct marks *marks)
{
	free(marks);
}

static atomic_uchar *byte_of(struct marks *marks, uint64_t ino)
{
	return &marks->byte[(ino * 0x9e3779b97f4a7c15ull) >> 48];
}

void marks_set(struct marks *marks, uint64_t ino, unsigned char mark)
{
	atomic_uchar *byte = byte_of(marks, ino);

	/* Nearly always the mark is set already, and the cache line can stay shared. */
	if ((atomic_load(byte) & mark) != mark)
		atomic_fetch_or(byte, mark);
}

bool marks_has(struct marks *marks, uint64_t ino, unsigned char mark)
{
	return atomic_load(byte_of(marks, ino)) & mark;
}
