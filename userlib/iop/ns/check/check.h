/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files that check the name space. */
#ifndef DDIO_NS_CHECK_H
#define DDIO_NS_CHECK_H

#include "iop/kv/map.h"
#include "iop/ns/priv.h"

/**
 * struct seen_inode - an inode, by its record and by its names
 * @links: how many names it has; @subdirs, @children: of a directory: entries found
 * @in: directory of its name; @place: its cookie there
 * @top: one more than the largest cookie of its entries
 * @orphan: it is recorded as an orphan
 * @state: of a directory: whether it is under the root
 * @fix: its record must be rewritten
 */
struct seen_inode {
	struct ddio_list link;
	struct ddio_hash_node node;
	uint64_t ino;
	uint32_t type, nlink, links, subdirs;
	uint64_t parent, entries, cookie;
	uint64_t in, place, children, top;
	bool orphan, fix;
	enum { SEEN_UNKNOWN, SEEN_ON_PATH, SEEN_GOOD, SEEN_LOST } state;
};

struct seen_chunk;

/* The directory, in the root, where a repair puts what has no name. */
#define CHECK_LOST_FOUND "lost+found"

/* What a pass returns if it need not go on, or wants the same inode again: no errno. */
#define CHECK_ENOUGH 1
#define CHECK_MORE 2

/*
 * As many records as BOUND_FIXES says are repaired in one transaction, and a few more; without a repair the check ends
 * there.  Should it not come to an end by so many transactions, the next has no bound.
 */
#define CHECK_ROUNDS 1000

/**
 * struct ns_check - a running check
 * @walk: reads the records
 * @pass, @at: what it is at: a pass, and of one over inodes the last one, or @seen
 * @err: why it has ended, or 0
 * @seen: struct seen_inode, in the order in which they were seen; @index: by number; @chunks: their memory,
 *	@room: how many more the first of them has room for; @waste: memory that can be used again
 * @climb: the next directory of a way up, once to find out where it leads to, and once more to note the @verdict;
 *	@circle: one that has been met twice
 * @fixes: records to be written or deleted; @before: problems that earlier transactions, @rounds of them, have repaired
 * @over: what has been found out is known; only memory remains to be freed
 * @above: one more than the largest inode number
 */
struct ns_check {
	struct ns *ns;
	struct lmdb_walk walk;
	bool repair;
	size_t pass;
	struct ddio_list *at;
	int err;
	struct ddio_msg_fsck result;
	struct ddio_list seen;
	struct ddio_hash index;
	struct seen_chunk *chunks, *waste;
	uint32_t room;
	struct seen_inode *climb, *circle;
	int verdict;
	struct kv_map fixes;
	uint64_t before;
	uint32_t rounds;
	bool over;
	uint64_t above;
};

void check_problem(struct ns_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct seen_inode *check_seen(const struct ns_check *c, uint64_t ino);
/* Adds an inode; NULL: no memory. */
struct seen_inode *check_see(struct ns_check *c, uint64_t ino);
/* Forgets all inodes; their memory waits to be used again, or freed. */
void check_see_none(struct ns_check *c);
/* Frees a little of that memory; returns false if there was none. */
bool check_free_some(struct ns_check *c);
/* Reads a record from LMDB: 0, -ENOENT or -errno; valid until the walk ends. */
int check_get(struct ns_check *c, int db, const void *key, size_t len, MDB_val *v);
/* The same, as the repair will leave it. */
int check_get_fixed(struct ns_check *c, int db, const void *key, size_t len, MDB_val *v);
int check_drop(struct ns_check *c, int db, const MDB_val *k);
/* Writes both records of an entry. */
int check_put_entry(struct ns_check *c, uint64_t dir, const char *name, const struct ns_entry *e);
int check_put_inode(struct ns_check *c, const struct inode *in);

/* names.c: records that must belong to an inode. */
int check_name(struct ns_check *c, const MDB_val *k, const MDB_val *v);
/* Checks that a record by cookie has its record by name. */
int check_order(struct ns_check *c, const MDB_val *k, const MDB_val *v);
int check_xattr(struct ns_check *c, const MDB_val *k, const MDB_val *v);
int check_orphan(struct ns_check *c, const MDB_val *k, const MDB_val *v);
int check_done(struct ns_check *c, const MDB_val *k, const MDB_val *v);
int check_mount(struct ns_check *c, const MDB_val *k, const MDB_val *v);

/* tree.c: that all directories are below the root. */
int check_reach(struct ns_check *c, struct seen_inode *s);
/* That an inode has a name, or is an orphan. */
int check_nameless(struct ns_check *c, struct seen_inode *s);
/* That an inode counts its links and entries correctly. */
int check_counts(struct ns_check *c, struct seen_inode *s);

#endif /* DDIO_NS_CHECK_H */
