/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the record store share. */
#ifndef DDIO_KV_PRIV_H
#define DDIO_KV_PRIV_H

#include "iop/kv/kv.h"
#include "iop/kv/journal.h"
#include "iop/kv/map.h"
#include "iop/lmdb/commit.h"

/* A commit comes by itself after so long, or when so much has gathered. */
#define DDIO_KV_COMMIT_NS 1000000000ull
#define DDIO_KV_COMMIT_BYTES (4u << 20)
#define DDIO_KV_FULL_BYTES (32u << 20)

/**
 * struct ddio_kv - the store
 * @change, @active, @sealed: the layers in memory
 * @own: number of the store's own database
 * @committed: number of the last journal record that LMDB holds; @sealing: that it will
 * @sealed_journal: the one to be emptied with the commit, or -1
 * @buf: value that was read last
 * @timer: of the commit that comes by itself
 */
struct ddio_kv {
	struct ddio_env *env;
	struct ddio_lmdb db;
	struct ddio_kv_journal journal;
	struct ddio_kv_map change, active, sealed;
	bool changing;
	uint8_t own;
	uint64_t committed, sealing;
	int sealed_journal;
	uint8_t *buf;
	size_t cap;
	struct ddio_timer timer;
	struct ddio_committer committer;
};

extern const struct ddio_committer_ops ddio_kv_committer_ops;
/* In a write transaction: all of @map, and the number of the record that it goes up to. */
int ddio_kv_write(struct ddio_kv *kv, MDB_txn *txn, const struct ddio_kv_map *map, uint64_t seq);
/* Something has changed: see to it that it is committed. */
void ddio_kv_changed(struct ddio_kv *kv);

#endif /* DDIO_KV_PRIV_H */
