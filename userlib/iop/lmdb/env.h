/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One LMDB environment in a directory that no other process may use, reduced to what the store and the
 * name space need.  Reads happen on the reactor, in one short transaction at a time; writes on the
 * caller's thread.
 */
#ifndef DDIO_LMDB_ENV_H
#define DDIO_LMDB_ENV_H

#include <errno.h>
#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/list.h"
#include "iop/lmdb/pages.h"

#define LMDB_DBS 10

/* The map is too small: call lmdb_grow() and try again.  No errno has this value. */
#define LMDB_FULL (-100000)

/**
 * struct lmdb_space - what iop/lmdb/room.h knows of the file
 * @reserve: bytes that only removals and starts may use
 * @room: bytes of the file that are its own
 * @used: those that LMDB uses
 * @told: when a lack of room was logged
 * @tight: there is no room, or little beyond what waits to be committed; @refused: how often there was none
 */
struct lmdb_space {
	uint64_t reserve, room, used, told, refused;
	bool tight;
};

/**
 * struct lmdb_walk - a walk under way
 * @link: in lmdb.walks
 * @txn: reads the records; NULL: the walk has to begin again, since the map has grown
 * @cursor: in the database that is being read; NULL: the next one begins
 */
struct lmdb_walk {
	struct ddio_list link;
	struct lmdb *db;
	MDB_txn *txn;
	MDB_cursor *cursor;
};

struct lmdb {
	MDB_env *env;
	MDB_dbi dbi[LMDB_DBS];
	int ndbs;
	char *dir;
	int lock;		      /* the directory, flocked */
	MDB_txn *read;		      /* reset, renewed for every read */
	struct pages_records records; /* those that were damaged when it was opened */
	struct lmdb_space space;
	struct ddio_list walks; /* struct lmdb_walk.link: transactions that last */
};

/**
 * struct lmdb_opts - how to open
 * @dir: created if missing, with its parents
 * @dbs: names of the databases, ended by NULL
 * @map: initial bytes of address space; it grows
 * @sync: commits reach stable storage
 * @intact, @arg: see struct pages_records
 */
struct lmdb_opts {
	const char *dir;
	const char *dbs[LMDB_DBS + 1];
	size_t map;
	bool sync;
	bool (*intact)(const void *arg, const char *db, const MDB_val *key, const MDB_val *value);
	const void *arg;
};

/* Converts LMDB's result to 0, a negative errno or LMDB_FULL; a broken file is -EUCLEAN. */
int lmdb_errno(int mdb_err);

/* Blocks, and reads the whole file.  -EUCLEAN: it is damaged.  @err: one line that names the directory. */
int lmdb_open(struct lmdb *db, const struct lmdb_opts *opts, char *err, size_t err_len);
void lmdb_close(struct lmdb *db);
/* Doubles the map.  No transaction may be under way but those of walks, which it ends. */
int lmdb_grow(struct lmdb *db);
/* Ends the transaction of a walk, which has to begin again. */
void lmdb_walk_stop(struct lmdb_walk *walk);

/* Makes the names of the files in the environment's directory durable.  0 or -errno. */
int lmdb_sync_dir(const struct lmdb *db);

/* On the reactor.  Reads do not nest. */
int lmdb_read_begin(struct lmdb *db);
void lmdb_read_end(struct lmdb *db);
/* Hands every record of a database to @fn until that fails.  Return: 0 or -errno. */
int lmdb_each(struct lmdb *db, int which,
	      int (*fn)(void *arg, const MDB_val *key, const MDB_val *val), void *arg);

/* Runs @fn in a write transaction and commits it, growing the map as needed: no other thread may use the
 * environment meanwhile. */
int lmdb_write(struct lmdb *db, int (*fn)(MDB_txn *txn, void *arg), void *arg);
/* The same without growing; may return LMDB_FULL. */
int lmdb_write_once(struct lmdb *db, int (*fn)(MDB_txn *txn, void *arg), void *arg);

static inline MDB_val lmdb_val(const void *data, size_t len)
{
	return (MDB_val){ .mv_size = len, .mv_data = (void *)data };
}

#endif /* DDIO_LMDB_ENV_H */
