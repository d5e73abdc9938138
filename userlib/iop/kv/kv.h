/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An ordered store of records over LMDB, in which a change costs one write to a journal.
 *
 * Layers, from the top: the change being made (begin to end); changes since the last seal; changes being
 * committed; LMDB.  A read looks through them in this order, a cursor merges them.  A seal falls between
 * two changes, so a commit contains each entirely or not at all.  A commit that fails puts its layer back
 * beneath the one above it.  Why not one LMDB transaction per request: Documentation/filesystem.rst.
 *
 * Belongs to one reactor.  A value that was read is valid until the next call.
 */
#ifndef DDIO_KV_H
#define DDIO_KV_H

#include "env/env.h"
#include "iop/lmdb/commit.h"
#include "iop/lmdb/room.h"
#include "iop/lmdb/walk.h"

struct kv;
struct kv_node;

/* One database of LMDB's is the store's own. */
#define KV_DBS (LMDB_DBS - 1)

/**
 * struct kv_opts - what to open
 * @dbs: names, ended by NULL; a database's number is its index here
 * @map: initial bytes of address space
 * @sync: commits reach stable storage
 * @reserve: see struct lmdb_opts
 * @intact: returns whether a record is as it was written; NULL: nobody looks
 * @repair: damaged records are removed, and named in the log; otherwise they are refused
 */
struct kv_opts {
	const char *dir;
	const char *dbs[KV_DBS + 1];
	size_t map;
	uint64_t reserve;
	bool sync, repair;
	bool (*intact)(const char *db, const MDB_val *key, const MDB_val *value);
};

/* Blocks; replays the journals.  @err: one line. */
int kv_open(struct ddio_env *env, const struct kv_opts *opts, struct kv **kv, char *err,
	    size_t err_len);
/* No commit may be under way.  Changes that are in a journal come back with the next open. */
void kv_close(struct kv *kv);

/* Returns true if the opening has found that changes or records are missing. */
bool kv_lost(const struct kv *kv);
/*
 * What the opening has found of the journals: whole, but for a change that was never answered; TORN: later changes are there
 * that follow none, so bytes are damaged, or a loss of power has kept them from the disk; DAMAGED: changes that were durable
 * are missing.
 */
enum kv_found { KV_WHOLE, KV_TORN, KV_DAMAGED };
enum kv_found kv_found(const struct kv *kv);

/* Returns 0, -ENOENT or an -errno of LMDB. */
int kv_get(struct kv *kv, uint8_t db, const void *key, size_t key_len, const void **value,
	   size_t *len);

/* A change: begin, any number of puts and deletes, then end (journals it) or abort (discards it). */
void kv_begin(struct kv *kv);
int kv_put(struct kv *kv, uint8_t db, const void *key, size_t key_len, const void *value,
	   size_t len);
int kv_del(struct kv *kv, uint8_t db, const void *key, size_t key_len);
/* This change adds records: it may not use the reserve, and ends with -ENOSPC without it. */
void kv_adds(struct kv *kv);
/* Returns 0, or -errno with nothing changed. */
int kv_end(struct kv *kv);
void kv_abort(struct kv *kv);

/* Writes all changes so far to LMDB, which makes them durable.  Not within a change.  @commit may be NULL. */
void kv_commit(struct kv *kv, struct commit *commit);
/* Makes all changes so far durable, in LMDB or in the journals, whichever comes first.  Not within a change. */
void kv_flush(struct kv *kv, struct commit *commit);
/* Returns the number of the last change: it rises with every one, also over restarts. */
uint64_t kv_changes(const struct kv *kv);
/* Returns true if nothing waits to be committed. */
bool kv_clean(const struct kv *kv);
/* Tells what the records take. */
struct lmdb_left kv_left(const struct kv *kv);
/* Returns true if commits are falling behind, or the journals are full: whoever makes changes should wait for one. */
bool kv_full(const struct kv *kv);

/**
 * struct kv_cursor - a walk over one database
 * @key, @value: of the current record
 * Between first and close nothing may be changed or otherwise read.
 */
struct kv_cursor {
	struct kv *kv;
	uint8_t db;
	const struct kv_node *node[3];
	MDB_cursor *lmdb;
	MDB_val lmdb_key, lmdb_value;
	bool lmdb_any;
	const uint8_t *key, *value;
	size_t key_len, len;
};

/* Finds the first record at or after the key.  Returns 0, -ENOENT or -errno; close it in any case. */
int kv_first(struct kv_cursor *c, struct kv *kv, uint8_t db, const void *key, size_t key_len);
int kv_next(struct kv_cursor *c);
void kv_cursor_close(struct kv_cursor *c);

/* For checks: a walk does not see what waits to be committed. */
int kv_walk_begin(struct kv *kv, struct lmdb_walk *walk);
/* Returns true if nothing has changed since the walk began. */
bool kv_walk_newest(const struct kv *kv, const struct lmdb_walk *walk);
/* For repairs: runs @fn in a write transaction of LMDB.  -EBUSY while anything waits to be committed. */
int kv_direct(struct kv *kv, int (*fn)(struct lmdb *db, MDB_txn *txn, void *arg), void *arg);

#endif /* DDIO_KV_H */
