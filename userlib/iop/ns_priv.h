/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the name space share.  See Documentation/store.rst. */
#ifndef DDIO_NS_PRIV_H
#define DDIO_NS_PRIV_H

#include "iop/lmdb_commit.h"
#include "iop/lmdb_env.h"
#include "iop/store.h"

enum { DDIO_NS_META, DDIO_NS_FILES, DDIO_NS_NAMES };

#define DDIO_NS_MAP (16u << 20)
#define DDIO_NS_META_KEY "ns"
#define DDIO_NS_META_MAX 320
#define DDIO_NS_VERSION 1
#define DDIO_NS_RESERVE 4096 /* identifiers reserved at a time */
#define DDIO_NS_KEY_LEN 8
#define DDIO_NS_NAME_KEY_MAX (DDIO_MAX_NAME + 1 + 8)
#define DDIO_NS_FILE_PREFIX 8 /* version and CRC in front of the record */

/**
 * struct ddio_ns_entry - a file that has changed since it was last durable
 * @deleted: there is no such file any more
 * @dirty: changed since the last seal
 * @sealed: in the batch that is being committed
 */
struct ddio_ns_entry {
	struct ddio_file_record rec;
	bool deleted, dirty, sealed;
};

/* Entries in an order of their own: they are few, since every request commits. */
struct ddio_ns_index {
	struct ddio_ns_entry **v;
	size_t n, cap;
};

/**
 * struct ddio_ns_change - one file's records to be written
 * @value: NULL: to be deleted
 */
struct ddio_ns_change {
	uint64_t id;
	char name[DDIO_MAX_NAME + 1];
	uint8_t *value;
	size_t len;
};

/**
 * struct ddio_ns - the name space
 * @by_id, @by_name: entries that override the records
 * @next: identifier of the next file; @limit: durably reserved below
 * @changes, @reserve: the sealed batch
 * @ndirty: entries changed since the last seal
 */
struct ddio_ns {
	struct ddio_env *env;
	struct ddio_lmdb db;
	char cluster[DDIO_MAX_NAME + 1];
	struct ddio_ns_index by_id, by_name;
	uint64_t next, limit;
	size_t ndirty;
	struct ddio_ns_change *changes;
	size_t nchanges;
	uint64_t reserve;
	int seal_err;
	struct ddio_committer committer;
};

/* ns_record.c: bytes.  A name's key is the name, a zero and the identifier. */
struct ddio_ns_meta {
	uint64_t limit;
	char cluster[DDIO_MAX_NAME + 1];
};
void ddio_ns_key(uint8_t key[DDIO_NS_KEY_LEN], uint64_t id);
size_t ddio_ns_name_key(uint8_t key[DDIO_NS_NAME_KEY_MAX], const char *name, uint64_t id);
/* Return: 0 or -EUCLEAN. */
int ddio_ns_name_get(const void *key, size_t key_len, char name[DDIO_MAX_NAME + 1], uint64_t *id);
/* Allocates. Return: 0, -ENOMEM or -EINVAL for what cannot be encoded. */
int ddio_ns_file_put(const struct ddio_file_record *rec, uint8_t **value, size_t *len);
/* Return: 0 (then ddio_file_record_free()), -EUCLEAN or -ENOMEM. */
int ddio_ns_file_get(const void *key, size_t key_len, const void *value, size_t len,
		     struct ddio_file_record *rec);
size_t ddio_ns_meta_put(uint8_t value[DDIO_NS_META_MAX], const struct ddio_ns_meta *meta);
int ddio_ns_meta_get(const void *value, size_t len, struct ddio_ns_meta *meta);

/* ns_overlay.c */
int ddio_file_record_copy(struct ddio_file_record *to, const struct ddio_file_record *from);
struct ddio_ns_entry *ddio_ns_entry_find(const struct ddio_ns *ns, uint64_t id);
/* Index in by_name of the first entry at or behind (@name, @id). */
size_t ddio_ns_entry_at(const struct ddio_ns *ns, const char *name, uint64_t id);
/* The entry of a file, made from @rec (copied) if there is none yet. */
struct ddio_ns_entry *ddio_ns_entry_make(struct ddio_ns *ns, const struct ddio_file_record *rec);
void ddio_ns_entry_dirty(struct ddio_ns *ns, struct ddio_ns_entry *entry);
/* Forgets entries that are durable as they are. */
void ddio_ns_overlay_clean(struct ddio_ns *ns);
void ddio_ns_overlay_fini(struct ddio_ns *ns);

/* ns_commit.c */
extern const struct ddio_committer_ops ddio_ns_committer_ops;
/* The records of one file; MDB_* */
int ddio_ns_write_file(struct ddio_ns *ns, MDB_txn *txn, const struct ddio_ns_change *change);
int ddio_ns_write_meta(struct ddio_ns *ns, MDB_txn *txn, uint64_t limit);

/* ns_read.c: on the reactor, overlay and records together. */
/* -ENOENT; *rec is the caller's to free.  @dying: wanted dying, not living. */
int ddio_ns_find_name(struct ddio_ns *ns, const char *name, bool dying,
		      struct ddio_file_record *rec);
int ddio_ns_find_id(struct ddio_ns *ns, uint64_t id, struct ddio_file_record *rec);

#endif /* DDIO_NS_PRIV_H */
