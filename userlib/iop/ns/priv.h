/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of the name space. */
#ifndef DDIO_NS_PRIV_H
#define DDIO_NS_PRIV_H

#include <sys/stat.h>
#include "base/hash.h"
#include "iop/kv/kv.h"
#include "iop/ns/ns.h"
#include "iop/ns/record.h"

enum {
	NS_META,
	NS_INODES,
	NS_NAMES,
	NS_ORDER,
	NS_XATTRS,
	NS_ORPHANS,
	NS_DONE,
	NS_MOUNTS,
	NS_DISKS,
};

#define NS_MAP (64u << 20)
#define NS_RESERVE 65536 /* numbers reserved at a time */
#define NS_REMOVED 1024	 /* how many removed inodes' attributes are remembered */
#define NS_TELLS 64	 /* of each mount so many are remembered */
#define NS_LINKS_MAX 65000u
#define NS_RESULTS_STEP 16   /* results forgotten with one change, at most */
#define NS_DEPTH_MAX 100000u /* a deeper directory lies within itself */

/**
 * struct ns - the name space
 * @next: number of the next inode; numbers below @limit are durably reserved, below @reserving soon
 * @passed: numbers have been passed over, see ns_meet()
 * @life: see struct ddio_disk_id; @machine: digest of the machine's run, 0: not known
 * @damaged: the change behind which the journal was damaged, plus 1, until somebody has accepted that; @old: a disk that has
 *	heard of more, plus 1; 0: neither
 * @ends: see ns_ends()
 * @began: changes from here on are of this start; @accepted: of each disk, the life that had heard of more than there was when somebody
 *	accepted that in this run
 * @count: inodes; @counting: how many the current change adds
 * @opens: struct open_inode: those that mounts have open
 * @mounts: struct ns_mount; @before: how many of before the restart have not reported yet
 * @grace: when orphans and locks no longer wait for them
 * @nmounts: of these; @bounds: how many mounts and results there may be, the reactor's
 *	or @own
 * @silent: struct ns_mount: those that have ended since nothing was heard of them, but for their results, the longest
 *	silent first
 * @ending: struct ns_mount: those that end; @end_busy: ns_mounts_go_on() is due
 * @condemned: struct ns_mount: those that end as soon as it is durable that they have lost their locks
 * @unwatched: the node ends: see ns_mounts_unwatch()
 * @clones: struct ns_clone: files that are being made, and are in use
 * @moves: how often a directory has changed its place; @climber: the rename that keeps them where they are, or NULL;
 *	@held_up: struct ns_climb: those that wait for it
 * @removed: what others than files were when they were removed, the last ones of them: programs that still have
 *	one open may ask; @nremoved: so far
 */
struct ns {
	struct ddio_env *env;
	struct kv *kv;
	char cluster[DDIO_MAX_NAME + 1];
	uint32_t block, ndisks;
	bool sync;
	uint64_t timeout_ns;
	uint64_t next, limit, reserving;
	bool passed;
	uint64_t life, machine, damaged, old, began, *accepted;
	struct ddio_ends ends;
	uint64_t count;
	int64_t counting;
	struct commit reserve;
	bool reserve_active;
	struct ddio_hash opens;
	struct ddio_list mounts;
	uint64_t nmounts;
	struct bounds *bounds, own;
	uint32_t before;
	uint64_t grace;
	struct ddio_list clones;
	uint64_t moves;
	const struct ns_climb *climber;
	struct ddio_list held_up;
	struct inode *removed;
	uint64_t nremoved;
	struct ddio_timer timer; /* of mounts without a connection, and of the grace */
	struct ddio_list silent;
	struct ddio_list ending, condemned;
	bool end_busy, unwatched;
	const struct ns_mount_ops *mount_ops;
	void *mount_ctx;
};

/**
 * struct ns_told - what a mount has told by a lease, as FS_WROTE has it
 */
struct ns_told {
	uint64_t ino, end, lease, since;
	int64_t sec, nsec;
	uint64_t flags;
};

/**
 * struct ns_mount - one mount
 * @conns: its connections
 * @opens: struct mount_open: the inodes that it has open
 * @forgotten: results up to this number are forgotten; those up to @swept are also deleted
 * @results: how many are recorded
 * @away: since when it has had no connection
 * @walk: over @opens while it ends; @end: who is told, or NULL
 * @before: it is from before the restart, and has not reported yet; @told: it has reported
 * @any_done: @forgotten is valid; @keep: if it ends, its results stay
 * @keeps: it has not lost what it held before the restart, and may tell it again; @marked: its record says that it has lost it
 * @ns, @mark: make durable that it loses its locks
 * @lost: the name space has lost something that it was answered in an earlier life
 * @owned: since this start of the name space it is known whose it is: @owner's, 0: root's
 * @tells: the last NS_TELLS of what it has told by leases and was taken, of @ntells in all; NULL: none
 */
struct ns_mount {
	struct ddio_list link;
	uint8_t id[DDIO_GROUP_ID_LEN];
	uint32_t conns;
	struct ddio_hash opens;
	uint64_t forgotten, swept, results;
	uint64_t away;
	struct ddio_hash_walk walk;
	struct ns_end *end;
	uint32_t owner;
	bool before, told, any_done, keep, keeps, marked, owned, lost;
	struct ns_told *tells;
	uint64_t ntells;
	struct ns *ns;
	struct commit mark;
};

/* change.c */
/* Allocates a new inode's number; -EAGAIN: none is reserved yet. */
int ns_take_id(struct ns *ns, uint64_t *ino);
/* Makes the record of cluster and inode numbers; returns its length. */
size_t ns_make_meta(const struct ns *ns, uint64_t limit, uint8_t value[NS_META_MAX]);
/* Within a change: records that numbers of inodes below @limit may be in use. */
int ns_put_limit(struct ns *ns, uint64_t limit);
/* Begins and ends a change.  @ret 0: the end journals it; otherwise it undoes it.  Returns @ret, or the
 * journal's error. */
void ns_begin(struct ns *ns);
int ns_end(struct ns *ns, int ret);
/*
 * The same for a request that must not be carried out twice.  @again: it was, with this result.  After an
 * error, or @again, there is nothing to end.  The end records the result with the change.
 */
int ns_begin_once(struct ns *ns, const struct ns_who *who, uint64_t *result, bool *again);
int ns_end_once(struct ns *ns, const struct ns_who *who, uint64_t result, int ret);

/* change.c: puts a record that says only that it is there. */
int ns_put_key(struct ns *ns, uint8_t db, const void *key, size_t key_len);

/* disks.c: chooses the life that begins; within a transaction, records it. */
int ns_life_next(struct ns *ns);
/* Tells, in the log, of known disks that the configuration does not have.  Return: 0 or -errno. */
int ns_disks_missing(struct ns *ns);
int ns_life_put(struct ns *ns, struct lmdb *db, MDB_txn *txn);

/* core.c: within a change, except for load. */
int ns_load(struct ns *ns, uint64_t ino, struct inode *inode);
/* -ENOTDIR; -ESTALE: it has been removed. */
int ns_load_dir(struct ns *ns, uint64_t ino, struct inode *inode);
int ns_store(struct ns *ns, const struct inode *inode);
int ns_delete(struct ns *ns, const struct inode *inode);
struct timespec ns_now(struct ns *ns);
/* Sets the times of a change: of attributes, or (@data) of data. */
void ns_touch(struct ns *ns, struct inode *inode, bool data);
bool ns_is_open(const struct ns *ns, uint64_t ino);

/* dir.c */
bool ns_is_dot(const char *name);
/* Returns -ENOENT if there is none. */
int ns_find(struct ns *ns, uint64_t dir, const char *name, struct ns_entry *e);
/* The same, and loads its inode; -EUCLEAN: there is none. */
int ns_load_named(struct ns *ns, uint64_t dir, const char *name, struct ns_entry *e,
		  struct inode *in);
/*
 * Adds an entry with the next cookie, or (@e->cookie not 0) replaces one; @dir must be stored then.  -EPERM: the name is that of
 * the directory of all snapshots, and the inode is not root's.
 */
int ns_enter(struct ns *ns, struct inode *dir, const char *name, struct ns_entry *e);
int ns_leave(struct ns *ns, struct inode *dir, const char *name, uint64_t cookie);
/* Within a change of a file's owner: the directory with its snapshots gets the same one. */
int ns_snaps_follow(struct ns *ns, const struct inode *file);
/* make.c: within a change: makes a whiteout for @dir; @e names it.  -EAGAIN: no number is reserved yet. */
int ns_whiteout(struct ns *ns, const struct inode *dir, uint32_t uid, struct ns_entry *e);

/*
 * climb.c: returns 1 if directory @top is @dir or above it, 0, -errno, or -EINPROGRESS: the way has not been gone to its
 * end, and the same must be asked in another turn.
 */
int ns_is_above(struct ns *ns, struct ns_climb *climb, struct ns_way *way, uint64_t top,
		uint64_t dir);
/* A directory is about to change its place: 0, or -EINPROGRESS: it waits, and @climb->go_on() follows. */
int ns_climb_moves(struct ns *ns, struct ns_climb *climb);
/* The rename is over, however it ended. */
void ns_climb_end(struct ns *ns, struct ns_climb *climb);

/* remove.c */
/* Takes a name away.  Without its last one the inode is deleted, or left with its objects: *left. */
int ns_unname(struct ns *ns, struct inode *inode, struct ns_left *left);
/* Returns what ns_unname() left, when the request is made again. */
int ns_left_again(struct ns *ns, uint64_t ino, struct ns_left *left);
/* Has somebody been told to remove the inode's objects? */
bool ns_is_going(const struct inode *inode);
/* The inode is no longer open anywhere.  @left NULL: nobody is told to remove its objects. */
int ns_closed(struct ns *ns, uint64_t ino, struct ns_left *left);

/* xattr_store.c: within a change, except for read and names. */
int ns_xattr_read(struct ns *ns, uint64_t ino, const char *name, uint8_t **value, uint32_t *len);
/* Returns 0, -ENOSPC if the inode may not have one more, of this name, or -errno. */
int ns_xattr_room(struct ns *ns, uint64_t ino, const char *name);
int ns_xattr_write(struct ns *ns, uint64_t ino, const char *name, const void *value, uint32_t len);
int ns_xattr_delete(struct ns *ns, uint64_t ino, const char *name);
/* Lists all names of an inode, each ended by a zero; *names: free(). */
/* Returns true if the inode has, or may have, extended attributes. */
bool ns_xattr_any(struct ns *ns, uint64_t ino);
int ns_xattr_names(struct ns *ns, uint64_t ino, uint8_t **names, uint32_t *len);
int ns_xattrs_drop(struct ns *ns, uint64_t ino);

struct acl;
/* mode.c: loads a list: *acl: free(); -ENODATA: there is none. */
int ns_acl_read(struct ns *ns, uint64_t ino, const char *name, struct acl **acl);
/* mode.c: within a change.  Adapts the list to the inode's new mode. */
int ns_acl_chmod(struct ns *ns, struct inode *inode);
/* Gives a new inode of @dir, which is not stored yet, its permissions and lists. */
int ns_acl_inherit(struct ns *ns, const struct inode *dir, uint32_t umask, struct inode *inode);
/* Sets the mode by an attribute that is a list (@len 0: it is removed).  *store: keep its value. */
int ns_acl_set(struct inode *inode, const char *name, const void *value, size_t len, bool kill_sgid,
	       bool *store);

/* stripe.c: "ddio.stripe", "ddio.layout", "ddio.disks" */
bool ns_stripe_is(const char *name);
/* Returns the bytes in @text, or -errno. */
int ns_stripe_get(struct ns *ns, const struct inode *inode, const char *name, char **text);
int ns_stripe_set(struct ns *ns, struct inode *inode, const char *name, const char *text,
		  size_t len);
int ns_stripe_unset(struct inode *inode, const char *name);
/* Makes the stripe of a new regular file in @dir. */
int ns_stripe_new(struct ns *ns, const struct inode *dir, struct stripe *stripe);

/* mount.c */
/* Finds the mount's first recorded result from number @from on; -ENOENT: there is none. */
int ns_result_next(struct ns *ns, const struct ns_mount *m, uint64_t from, uint64_t *seq);
/* Counts results that were recorded and forgotten. */
void ns_results_count(struct ns *ns, struct ns_mount *m, uint64_t more, uint64_t fewer);
int ns_mounts_load(struct ns *ns);
void ns_mounts_free(struct ns *ns);

#endif /* DDIO_NS_PRIV_H */
