/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files share that check the name space. */
#ifndef DDIO_NS_CHECK_H
#define DDIO_NS_CHECK_H

#include "iop/kv/map.h"
#include "iop/ns/priv.h"

/**
 * struct seen_inode - an inode, as its record has it and as names have it
 * @links: names that it has; @subdirs, @children: of a directory: what names say of it
 * @in: directory of its name
 * @top: one more than the largest cookie of its entries
 * @orphan: there is a record that it has no name
 * @state: of a directory: on the way to the root or not
 * @fix: what the record says is to be put right
 */
struct seen_inode {
	struct ddio_list link;
	struct ddio_hash_node node;
	uint64_t ino;
	uint32_t type, nlink, links, subdirs;
	uint64_t parent, entries, cookie;
	uint64_t in, children, top;
	bool orphan, fix;
	enum { SEEN_UNKNOWN, SEEN_ON_PATH, SEEN_GOOD, SEEN_LOST } state;
};

/**
 * struct ns_check - a check that is being made
 * @seen: struct seen_inode, in the order in which they were seen; @index: by number
 * @fixes: what is to be written
 * @above: one more than the largest number of an inode
 */
struct ns_check {
	struct ns *ns;
	struct lmdb *db;
	MDB_txn *txn;
	bool repair;
	struct ddio_msg_fsck *result;
	struct ddio_list seen;
	struct ddio_hash index;
	struct kv_map fixes;
	uint64_t above;
};

void check_problem(struct ns_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct seen_inode *check_seen(const struct ns_check *c, uint64_t ino);
/* NULL: no memory. */
struct seen_inode *check_see(struct ns_check *c, uint64_t ino);
/* The record as it is in LMDB: 0, -ENOENT, -errno; good until the transaction ends. */
int check_get(struct ns_check *c, int db, const void *key, size_t len, MDB_val *v);
/* The same, as it will be after the repair. */
int check_get_fixed(struct ns_check *c, int db, const void *key, size_t len, MDB_val *v);
int check_each(struct ns_check *c, int db,
	       int (*fn)(struct ns_check *c, const MDB_val *k, const MDB_val *v));
int check_drop(struct ns_check *c, int db, const MDB_val *k);
/* Both records of an entry. */
int check_put_entry(struct ns_check *c, uint64_t dir, const char *name, const struct ns_entry *e);
int check_put_inode(struct ns_check *c, const struct inode *in);

/* check_names.c: entries, their order, extended attributes, orphans, results, mounts. */
int ns_check_names(struct ns_check *c);
/* check_tree.c: what is lost is found; numbers of links and entries. */
int check_tree(struct ns_check *c);

#endif /* DDIO_NS_CHECK_H */
