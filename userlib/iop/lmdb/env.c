// SPDX-License-Identifier: LGPL-2.1-or-later
/* Opens and grows an LMDB environment, and runs its transactions. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "env/name.h"
#include "iop/lmdb/env.h"

#define LOCK_FILE 8192 /* bytes of LMDB's lock file with its 126 readers */

int lmdb_errno(int mdb_err)
{
	switch (mdb_err) {
	case MDB_SUCCESS:
		return 0;
	case MDB_MAP_FULL:
		return LMDB_FULL;
	case MDB_NOTFOUND:
		return -ENOENT;
	case MDB_KEYEXIST:
		return -EEXIST;
	case MDB_READERS_FULL:
	case MDB_TXN_FULL:
		return -EAGAIN;
	case MDB_PAGE_NOTFOUND:
	case MDB_CORRUPTED:
	case MDB_PANIC:
	case MDB_VERSION_MISMATCH:
	case MDB_INVALID:
	case MDB_INCOMPATIBLE:
	case MDB_BAD_RSLOT:
	case MDB_BAD_TXN:
	case MDB_BAD_DBI:
		return -EUCLEAN;
	default:
		break;
	}
	if (mdb_err >= MDB_KEYEXIST && mdb_err <= MDB_LAST_ERRCODE)
		return -EIO;
	/* The system's errors are positive; ours pass through. */
	return mdb_err > 0 ? -mdb_err : mdb_err;
}

int lmdb_sync_dir(const struct lmdb *db)
{
	return fsync(db->lock) ? -errno : 0;
}

/* Locks the directory: two environments in it, even of one process, would destroy each other. */
static int lock_dir(struct lmdb *db, const struct lmdb_opts *opts, char *err, size_t err_len)
{
	const char *dir = opts->dir;
	int ret = ddio_env_dirs_make(dir, opts->sync);

	if (ret) {
		snprintf(err, err_len, "%s: cannot make the directory: %s", dir, strerror(-ret));
		return ret;
	}
	db->lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (db->lock < 0) {
		ret = -errno;
		snprintf(err, err_len, "%s: %s", dir, strerror(-ret));
		return ret;
	}
	if (!flock(db->lock, LOCK_EX | LOCK_NB))
		return 0;
	ret = errno == EWOULDBLOCK ? -EBUSY : -errno;
	snprintf(err, err_len, "%s: %s", dir,
		 ret == -EBUSY ? "in use by another process" : strerror(-ret));
	close(db->lock);
	db->lock = -1;
	return ret;
}

static int open_dbs(struct lmdb *db, const struct lmdb_opts *opts)
{
	MDB_txn *txn;
	int i, ret;

	ret = mdb_txn_begin(db->env, NULL, 0, &txn);
	if (ret)
		return ret;
	for (i = 0; opts->dbs[i] && !ret; i++)
		ret = mdb_dbi_open(txn, opts->dbs[i], MDB_CREATE, &db->dbi[i]);
	db->ndbs = i;
	if (!ret)
		return mdb_txn_commit(txn);
	mdb_txn_abort(txn);
	return ret;
}

/* LMDB writes to a mapping of its lock file: without a block for it, the process would die of SIGBUS. */
static int make_lock_file(const struct lmdb *db)
{
	int fd = openat(db->lock, "lock.mdb", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int ret = fd < 0 ? errno : 0;

	if (!ret && fallocate(fd, 0, 0, LOCK_FILE) && errno != EOPNOTSUPP)
		ret = errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

static int open_env(struct lmdb *db, const struct lmdb_opts *opts)
{
	unsigned int flags = MDB_NOTLS | (opts->sync ? 0 : MDB_NOSYNC);
	int ret, dead;

	ret = mdb_env_create(&db->env);
	if (ret)
		return ret;
	ret = mdb_env_set_maxdbs(db->env, LMDB_DBS);
	if (!ret)
		ret = mdb_env_set_mapsize(db->env, opts->map);
	if (!ret)
		ret = mdb_env_open(db->env, opts->dir, flags, 0600);
	if (!ret)
		ret = mdb_reader_check(db->env, &dead);
	if (!ret)
		ret = open_dbs(db, opts);
	if (!ret)
		ret = mdb_txn_begin(db->env, NULL, MDB_RDONLY, &db->read);
	if (ret) {
		mdb_env_close(db->env);
		db->env = NULL;
		return ret;
	}
	mdb_txn_reset(db->read);
	return 0;
}

/* LMDB would follow whatever a damaged file says. */
static int check_pages(struct lmdb *db, const struct lmdb_opts *opts, char *err, size_t err_len)
{
	char path[4096], found[300];
	int ret;

	db->records = (struct pages_records){ .intact = opts->intact, .arg = opts->arg };
	if (snprintf(path, sizeof(path), "%s/data.mdb", opts->dir) >= (int)sizeof(path))
		ret = -ENAMETOOLONG;
	else
		ret = lmdb_pages_check(path, &db->records, found, sizeof(found));
	if (ret == -EUCLEAN)
		snprintf(
			err, err_len,
			"%s: data.mdb is damaged: %s; put the directory back from a backup, or see "
			"\"Damaged records\" in ddiod(8)",
			opts->dir, found);
	else if (ret)
		snprintf(err, err_len, "%s: %s", opts->dir, strerror(-ret));
	return ret;
}

int lmdb_open(struct lmdb *db, const struct lmdb_opts *opts, char *err, size_t err_len)
{
	int ret;

	memset(db, 0, sizeof(*db));
	ddio_list_init(&db->walks);
	ret = lock_dir(db, opts, err, err_len);
	if (ret)
		return ret;
	ret = check_pages(db, opts, err, err_len);
	if (ret) {
		close(db->lock);
		db->lock = -1;
		return ret;
	}
	db->dir = strdup(opts->dir);
	if (!db->dir) {
		ret = ENOMEM;
		goto close_lock;
	}
	ret = make_lock_file(db);
	if (!ret)
		ret = open_env(db, opts);
	if (ret)
		goto free_dir;
	ret = opts->sync ? lmdb_sync_dir(db) : 0;
	if (ret)
		goto close_env;
	return 0;

close_env:
	mdb_txn_abort(db->read);
	mdb_env_close(db->env);
	db->env = NULL;
	ret = -ret;
free_dir:
	free(db->dir);
	db->dir = NULL;
close_lock:
	close(db->lock);
	db->lock = -1;
	snprintf(err, err_len, "%s: %s", opts->dir, mdb_strerror(ret));
	ret = lmdb_errno(ret);
	return ret == LMDB_FULL ? -ENOSPC : ret;
}

void lmdb_close(struct lmdb *db)
{
	if (!db->env)
		return;
	mdb_txn_abort(db->read);
	mdb_env_close(db->env);
	db->env = NULL;
	free(db->dir);
	close(db->lock);
}

void lmdb_walk_stop(struct lmdb_walk *walk)
{
	if (walk->cursor)
		mdb_cursor_close(walk->cursor);
	if (walk->txn)
		mdb_txn_abort(walk->txn);
	walk->cursor = NULL;
	walk->txn = NULL;
}

int lmdb_grow(struct lmdb *db)
{
	struct lmdb_walk *walk;
	MDB_envinfo info;
	int ret;

	ddio_list_for_each_entry(walk, &db->walks, link)
		lmdb_walk_stop(walk);
	ret = mdb_env_info(db->env, &info);
	if (!ret && info.me_mapsize > SIZE_MAX / 4)
		return -ENOMEM;
	if (!ret)
		ret = mdb_env_set_mapsize(db->env, info.me_mapsize * 2);
	return lmdb_errno(ret);
}

int lmdb_read_begin(struct lmdb *db)
{
	return lmdb_errno(mdb_txn_renew(db->read));
}

void lmdb_read_end(struct lmdb *db)
{
	mdb_txn_reset(db->read);
}

int lmdb_each(struct lmdb *db, int which,
	      int (*fn)(void *arg, const MDB_val *key, const MDB_val *val), void *arg)
{
	MDB_cursor *cursor;
	MDB_val k, v;
	int ret = lmdb_read_begin(db);

	if (ret)
		return ret;
	ret = lmdb_errno(mdb_cursor_open(db->read, db->dbi[which], &cursor));
	if (ret)
		goto end;
	ret = lmdb_errno(mdb_cursor_get(cursor, &k, &v, MDB_FIRST));
	while (!ret) {
		ret = fn(arg, &k, &v);
		if (!ret)
			ret = lmdb_errno(mdb_cursor_get(cursor, &k, &v, MDB_NEXT));
	}
	mdb_cursor_close(cursor);
end:
	lmdb_read_end(db);
	return ret == -ENOENT ? 0 : ret;
}

int lmdb_write_once(struct lmdb *db, int (*fn)(MDB_txn *txn, void *arg), void *arg)
{
	MDB_txn *txn;
	int ret;

	ret = mdb_txn_begin(db->env, NULL, 0, &txn);
	if (ret)
		return lmdb_errno(ret);
	ret = fn(txn, arg);
	if (ret) {
		mdb_txn_abort(txn);
		return lmdb_errno(ret);
	}
	return lmdb_errno(mdb_txn_commit(txn));
}

int lmdb_write(struct lmdb *db, int (*fn)(MDB_txn *txn, void *arg), void *arg)
{
	int ret;

	for (;;) {
		ret = lmdb_write_once(db, fn, arg);
		if (ret != LMDB_FULL)
			return ret;
		ret = lmdb_grow(db);
		if (ret)
			return ret;
	}
}
