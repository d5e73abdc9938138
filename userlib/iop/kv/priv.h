/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the record store share. */
#ifndef DDIO_KV_PRIV_H
#define DDIO_KV_PRIV_H

#include "iop/kv/kv.h"
#include "iop/kv/journal.h"
#include "iop/kv/map.h"
#include "iop/lmdb/committer.h"

/* A commit comes by itself after so long, or when so much has gathered. */
#define KV_COMMIT_NS 1000000000ull
#define KV_COMMIT_BYTES (4u << 20)
#define KV_FULL_BYTES (32u << 20)

/**
 * struct kv - the store
 * @change, @active, @sealed: the layers in memory
 * @own: number of the store's own database
 * @committed: number of the last journal record that LMDB holds; @sealing: that it will
 * @sealed_journal: the one to be emptied with the commit, or -1
 * @buf: value that was read last
 * @timer: of the commit that comes by itself
 */
struct kv {
	struct ddio_env *env;
	struct lmdb db;
	struct kv_journal journal;
	struct kv_map change, active, sealed;
	bool changing;
	uint8_t own;
	uint64_t committed, sealing;
	int sealed_journal;
	uint8_t *buf;
	size_t cap;
	struct ddio_timer timer;
	struct committer committer;
};

/* lmdb.c: sets kv->committed. */
int kv_read_committed(struct kv *kv);
int kv_get_lmdb(struct kv *kv, uint8_t db, const void *key, size_t key_len, const void **value,
		size_t *len);
/* In a write transaction: all of @map, and the number of the record that it goes up to. */
int kv_write(struct kv *kv, MDB_txn *txn, const struct kv_map *map, uint64_t seq);

/* commit.c */
extern const struct committer_ops kv_committer_ops;
/* Something has changed: see to it that it is committed. */
void kv_changed(struct kv *kv);

#endif /* DDIO_KV_PRIV_H */
