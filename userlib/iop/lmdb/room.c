// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Keeps room in the file system ahead of LMDB.  A transaction takes new pages even if it only deletes, so a full file
 * system could not be emptied.  The file is therefore longer than what LMDB uses: whoever adds records asks first, and
 * the file is lengthened by what that may take; the last part of it is left to removals and starts.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "iop/lmdb/room.h"

/* What the file grows by, if the file system has it. */
#define ROOM_STEP (256u << 10)
/* What journals beside it need: they are emptied by each commit. */
#define ROOM_JOURNALS (512u << 10)
/* It is said again after that time. */
#define ROOM_TELL_NS 600000000000ull

static int add_free(MDB_cursor *cursor, uint64_t *pages)
{
	uint64_t n;
	MDB_val k, v;
	int ret;

	for (ret = mdb_cursor_get(cursor, &k, &v, MDB_FIRST); !ret;
	     ret = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) {
		memcpy(&n, v.mv_data, sizeof(n));
		*pages += n;
	}
	return ret == MDB_NOTFOUND ? 0 : ret;
}

/* Returns how many pages within the file LMDB would use again. */
static uint64_t free_inside(struct lmdb *db)
{
	const MDB_dbi free_pages = 0; /* LMDB's own database of them */
	MDB_cursor *cursor;
	uint64_t n = 0;

	if (lmdb_read_begin(db))
		return 0;
	if (!mdb_cursor_open(db->read, free_pages, &cursor)) {
		if (add_free(cursor, &n))
			n = 0;
		mdb_cursor_close(cursor);
	}
	lmdb_read_end(db);
	return n;
}

/*
 * Makes the file at least @want bytes long, all of them its own, and leaves something to journals.  On a file system
 * that cannot do it, it is enough that they are free.
 */
static bool lengthen(struct lmdb *db, uint64_t want)
{
	struct statvfs st;
	mdb_filehandle_t fd;

	if (mdb_env_get_fd(db->env, &fd) || fstatvfs(fd, &st))
		return false;
	if (want > db->space.room &&
	    (uint64_t)st.f_bavail * st.f_frsize < want - db->space.room + ROOM_JOURNALS)
		return false;
	if (!fallocate(fd, 0, 0, (off_t)want)) {
		db->space.room = want;
		return true;
	}
	return errno == EOPNOTSUPP;
}

bool lmdb_room(struct lmdb *db, uint64_t bytes)
{
	uint64_t need, page;
	MDB_envinfo info;
	MDB_stat st;

	if (!db->space.reserve)
		return true;
	if (mdb_env_info(db->env, &info) || mdb_env_stat(db->env, &st))
		return false;
	page = st.ms_psize;
	db->space.used = (info.me_last_pgno + 1) * page;
	need = db->space.reserve + bytes;
	if (db->space.room >= db->space.used + need ||
	    lengthen(db, db->space.used + need + ROOM_STEP) || lengthen(db, db->space.used + need))
		return true;
	return db->space.room + free_inside(db) * page >= db->space.used + need;
}

bool lmdb_room_tell(struct lmdb *db, bool room, struct ddio_env *env)
{
	uint64_t now = ddio_env_now(env);

	db->space.tight = !room;
	db->space.refused += !room;
	if (room || (db->space.told && now - db->space.told < ROOM_TELL_NS))
		return room;
	db->space.told = now;
	ddio_env_log(
		env, DDIO_LOG_WARN,
		"%s: its file system is full: nothing can be added until something is removed, there or here",
		db->dir);
	return false;
}

void lmdb_room_begin(struct lmdb *db, uint64_t reserve)
{
	mdb_filehandle_t fd;
	struct stat st;

	db->space.reserve = reserve;
	/* There may be holes. */
	if (!mdb_env_get_fd(db->env, &fd) && !fstat(fd, &st))
		db->space.room = (uint64_t)(st.st_blocks * 512 < st.st_size ? st.st_blocks * 512
									    : st.st_size);
	/* If there is no more, whoever adds something will be told. */
	(void)lmdb_room(db, 0);
}

/* Room in the file that LMDB does not use yet is free, too. */
struct lmdb_left lmdb_left(const struct lmdb *db)
{
	struct lmdb_left left = { .refused = db->space.refused };
	mdb_filehandle_t fd;
	struct statvfs fs;
	MDB_envinfo info;
	MDB_stat st;

	if (mdb_env_info(db->env, &info) || mdb_env_stat(db->env, &st) ||
	    mdb_env_get_fd(db->env, &fd) || fstatvfs(fd, &fs))
		return left;
	left.used = (info.me_last_pgno + 1) * st.ms_psize;
	left.free = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (db->space.room > left.used)
		left.free += db->space.room - left.used;
	return left;
}
