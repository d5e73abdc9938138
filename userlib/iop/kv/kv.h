/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An ordered store of records over LMDB, whose changes cost a write to a journal and no more.
 *
 * Layers, from the top: the change that is being made (begin to end); changes since the last seal;
 * changes that are being committed; LMDB.  A read looks through them in this order, a cursor
 * merges them.  A seal falls between two changes, so each is in a commit wholly or not at all.
 * A commit that fails puts its layer back under the one above it.
 *
 * Belongs to one reactor.  Values that are read are good until the next call about the store.
 */
#ifndef DDIO_KV_H
#define DDIO_KV_H

#include "env/env.h"
#include "iop/lmdb/commit.h"
#include "iop/lmdb/env.h"

struct kv;
struct kv_node;

/* A database of these is the store's own. */
#define KV_DBS (LMDB_DBS - 1)

/**
 * struct kv_opts - what to open
 * @dbs: names, ended by NULL; their index is the number of a database
 * @map: bytes of address space to begin with
 * @sync: commits reach stable storage
 */
struct kv_opts {
	const char *dir;
	const char *dbs[KV_DBS + 1];
	size_t map;
	bool sync;
};

/* Blocking.  Replays what the journals tell.  @err: one line. */
int kv_open(struct ddio_env *env, const struct kv_opts *opts, struct kv **kv, char *err,
	    size_t err_len);
/* What is in the journal comes back with the next open. */
void kv_close(struct kv *kv);

/* Return: 0, -ENOENT, -errno of LMDB. */
int kv_get(struct kv *kv, uint8_t db, const void *key, size_t key_len, const void **value,
	   size_t *len);

/* A change: begin, any number of puts and deletes, then end (in the journal) or abort (nothing). */
void kv_begin(struct kv *kv);
int kv_put(struct kv *kv, uint8_t db, const void *key, size_t key_len, const void *value,
	   size_t len);
int kv_del(struct kv *kv, uint8_t db, const void *key, size_t key_len);
/* Return: 0, or -errno with nothing changed. */
int kv_end(struct kv *kv);
void kv_abort(struct kv *kv);

/* Not within a change.  @commit may be NULL. */
void kv_commit(struct kv *kv, struct commit *commit);
/* Is there nothing that waits to be committed? */
bool kv_clean(const struct kv *kv);
/* More has gathered than commits have taken: whoever made it should wait for one. */
bool kv_full(const struct kv *kv);

/**
 * struct kv_cursor - a walk over one database
 * @key, @value: of the record it stands on
 * Between first and close nothing may be changed, and nothing else read.
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

/* Onto the first record at or behind the key: 0, -ENOENT, -errno.  To be closed in any case. */
int kv_first(struct kv_cursor *c, struct kv *kv, uint8_t db, const void *key, size_t key_len);
int kv_next(struct kv_cursor *c);
void kv_cursor_close(struct kv_cursor *c);

/*
 * For those who check and mend: a transaction on LMDB itself, while the store is clean.  -EBUSY if it is
 * not.
 */
/* The same, only reading; whatever waits to be committed is not seen. */
int kv_direct_read(struct kv *kv, int (*fn)(struct lmdb *db, MDB_txn *txn, void *arg), void *arg);
int kv_direct(struct kv *kv, int (*fn)(struct lmdb *db, MDB_txn *txn, void *arg), void *arg);

#endif /* DDIO_KV_H */
