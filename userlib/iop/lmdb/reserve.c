// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Room that is kept for removals and for starting: a file beside the records whose blocks are allocated, and
 * which is given up when a write finds the file system full.  LMDB's file never shrinks, so the reserve may not
 * come back; room inside that file does as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "iop/lmdb/env.h"

#define RESERVE_BYTES (1 << 20)
#define RESERVE_NAME "reserve"

static int reserve_fill(int fd)
{
	int err = posix_fallocate(fd, 0, RESERVE_BYTES);

	return close(fd) ? -errno : -err;
}

int lmdb_reserve_make(struct lmdb *db)
{
	int fd, ret;

	if (db->reserved)
		return 0;
	fd = openat(db->lock, RESERVE_NAME, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ret = reserve_fill(fd);
	if (ret)
		unlinkat(db->lock, RESERVE_NAME, 0);
	db->reserved = !ret;
	return ret;
}

void lmdb_reserve_drop(struct lmdb *db)
{
	unlinkat(db->lock, RESERVE_NAME, 0);
	db->reserved = false;
}

/* Returns the bytes of the environment's file that hold nothing: what was removed leaves room there. */
static uint64_t room_inside(struct lmdb *db)
{
	uint64_t used = 2; /* LMDB's own first pages */
	MDB_envinfo info;
	MDB_stat st;
	int i;

	if (lmdb_read_begin(db))
		return 0;
	for (i = 0; i < db->ndbs && !mdb_stat(db->read, db->dbi[i], &st); i++)
		used += st.ms_branch_pages + st.ms_leaf_pages + st.ms_overflow_pages;
	lmdb_read_end(db);
	if (i < db->ndbs || mdb_env_info(db->env, &info) || info.me_last_pgno < used)
		return 0;
	return (info.me_last_pgno + 1 - used) * st.ms_psize;
}

/* Returns the bytes that the file system has left, for a journal. */
static uint64_t room_beside(const struct lmdb *db)
{
	struct statvfs st;

	return fstatvfs(db->lock, &st) ? 0 : (uint64_t)st.f_bavail * st.f_frsize;
}

bool lmdb_room(struct lmdb *db)
{
	if (!lmdb_reserve_make(db))
		return true;
	return room_inside(db) >= RESERVE_BYTES && room_beside(db) >= RESERVE_BYTES / 4;
}

bool lmdb_reserve_use(struct lmdb *db)
{
	bool had = db->reserved;

	lmdb_reserve_drop(db);
	return had;
}
