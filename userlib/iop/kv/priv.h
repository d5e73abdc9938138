/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the record store. */
#ifndef DDIO_KV_PRIV_H
#define DDIO_KV_PRIV_H

#include "iop/kv/kv.h"
#include "iop/kv/journal.h"
#include "iop/kv/map.h"
#include "iop/lmdb/committer.h"

/* The store's own database. */
#define KV_OWN_DB "journal"
/* A commit begins by itself after this time, or this many bytes of changes. */
#define KV_COMMIT_NS 1000000000ull
#define KV_COMMIT_BYTES (4u << 20)
#define KV_FULL_BYTES (32u << 20)
/* Where there would be no room for as much again, each change is answered when it has been committed. */
#define KV_NEXT_BYTES (256u << 10)

/**
 * struct kv_flush - flushes of the journals
 * @waiting, @running: struct commit of the next one and of that under way
 * @which: bits: the journals that it is for; @seq: the last change that they have
 */
struct kv_flush {
	struct ddio_list waiting, running;
	struct ddio_offload job;
	struct ddio_post post;
	bool active;
	uint8_t which;
	uint64_t seq;
	int err;
};

/**
 * struct kv - the store
 * @change, @active, @sealed: the layers in memory
 * @own: number of the store's own database
 * @committed: number of the last journal record in LMDB; @sealing: of the last one being committed
 * @sealed_journal: the journal to be emptied after the commit
 * @adds: the change adds records
 * @bare, @sealed_bare: the layer has changes that are in no journal, since there was no room
 * @buf: the value read last
 * @lost: the opening has found that changes or records are missing; @unnumbered: and which changes are in LMDB, is not
 *	known any more; @found: what it has found of the journals
 * @timer: begins a commit by itself
 * @sync: what is committed or flushed reaches stable storage
 */
struct kv {
	struct ddio_env *env;
	struct lmdb db;
	struct kv_journal journal;
	struct kv_map change, active, sealed;
	bool changing, adds, bare, sealed_bare, lost, unnumbered, sync;
	enum kv_found found;
	uint8_t own;
	uint64_t committed, sealing;
	int sealed_journal;
	uint8_t *buf;
	size_t cap;
	struct ddio_timer timer;
	struct committer committer;
	struct kv_flush flush;
};

/* lmdb.c: reads kv->committed. */
int kv_read_committed(struct kv *kv);
int kv_get_lmdb(struct kv *kv, uint8_t db, const void *key, size_t key_len, const void **value,
		size_t *len);
/* lmdb.c: is the record of the store's own database as it was written? */
bool kv_own_intact(const MDB_val *key, const MDB_val *value);
/* mend.c: corrects damaged records of which one bit is wrong, and removes the others. */
int kv_drop_damaged(struct kv *kv, const struct kv_opts *opts);

/* In a write transaction: writes all of @map, and the number of its last journal record. */
int kv_write(struct kv *kv, MDB_txn *txn, const struct kv_map *map, uint64_t seq);

/* lmdb.c: the same in several transactions of a few records.  Both journals must have all of @map. */
int kv_write_parts(struct kv *kv, const struct kv_map *map, uint64_t seq);

/* flush.c */
void kv_flush_init(struct kv *kv, bool sync);

/* commit.c */
extern const struct committer_ops kv_committer_ops;
/* After a change: sees to it that it gets committed. */
void kv_changed(struct kv *kv);

#endif /* DDIO_KV_PRIV_H */
