// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has ever been done to an inode through this mount, so that closing a file to which nothing was done
 * asks nobody.  A mark stays, and inodes share places: a mark too many costs a request.
 */
#include <stdlib.h>
#include "ddiofs.h"

#define PLACES (1u << 16)

struct marks {
	atomic_uchar place[PLACES];
};

struct marks *marks_new(void)
{
	return calloc(1, sizeof(struct marks));
}

void marks_free(struct marks *marks)
{
	free(marks);
}

static atomic_uchar *place_of(struct marks *marks, uint64_t ino)
{
	return &marks->place[(ino * 0x9e3779b97f4a7c15ull) >> 48];
}

void marks_set(struct marks *marks, uint64_t ino, unsigned char mark)
{
	atomic_uchar *place = place_of(marks, ino);

	/* Nearly always it is there: then the line is not taken from other processors. */
	if ((atomic_load(place) & mark) != mark)
		atomic_fetch_or(place, mark);
}

bool marks_has(struct marks *marks, uint64_t ino, unsigned char mark)
{
	return atomic_load(place_of(marks, ino)) & mark;
}
