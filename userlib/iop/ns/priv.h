/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the name space share. */
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
};

#define NS_MAP (64u << 20)
#define NS_RESERVE 65536 /* numbers reserved at a time */
#define NS_REMOVED 1024	 /* attributes of removed inodes that are remembered */
#define NS_LINKS_MAX 65000u
#define NS_DEPTH_MAX 100000u /* a deeper directory is in a circle */

/**
 * struct ns - the name space
 * @next: number of the next inode; @limit: reserved durably below; @reserving: and below this soon
 * @count: inodes
 * @opens: struct open_inode: those that mounts have open
 * @mounts: struct ns_mount; @before: how many of an earlier start have not told yet
 * @grace: until then orphans and locks wait for them
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
	uint64_t count;
	int64_t counting; /* by the change that is being made */
	struct commit reserve;
	bool reserve_active;
	struct ddio_hash opens;
	struct ddio_list mounts;
	uint32_t before;
	uint64_t grace;
	struct inode *removed;
	uint64_t nremoved;
	struct ddio_timer timer; /* of mounts that are away, and of the grace */
	const struct ns_mount_ops *mount_ops;
	void *mount_ctx;
};

/**
 * struct ns_mount - one mount
 * @conns: its connections
 * @opens: struct mount_open: the inodes that it has open
 * @forgotten: results up to this number are
 * @away: since when it has no connection
 * @before: it is known from before the start and has not told yet
 */
struct ns_mount {
	struct ddio_list link;
	uint8_t id[DDIO_GROUP_ID_LEN];
	uint32_t conns;
	struct ddio_hash opens;
	uint64_t forgotten;
	uint64_t away;
	bool before, told, any_done;
};

/* change.c */
/* The number of a new inode; -EAGAIN: none is reserved yet. */
int ns_take_id(struct ns *ns, uint64_t *ino);
/* The record of cluster and numbers; returns its length. */
size_t ns_make_meta(const struct ns *ns, uint64_t limit, uint8_t value[NS_META_MAX]);
/* A change of the name space.  The end makes it durable against the process's death, or (@ret) undoes
 * it; returns @ret, or what went wrong then. */
void ns_begin(struct ns *ns);
int ns_end(struct ns *ns, int ret);
/*
 * The same for a request that must not be made twice.  @again: it was made before, with this result.
 * After an error, or @again, there is no end.  The end records the result with the change.
 */
int ns_begin_once(struct ns *ns, const struct ns_who *who, uint64_t *result, bool *again);
int ns_end_once(struct ns *ns, const struct ns_who *who, uint64_t result, int ret);

/* core.c: within a change, but for load. */
int ns_load(struct ns *ns, uint64_t ino, struct inode *inode);
/* -ENOTDIR; -ENOENT if it has been removed. */
int ns_load_dir(struct ns *ns, uint64_t ino, struct inode *inode);
int ns_store(struct ns *ns, const struct inode *inode);
int ns_delete(struct ns *ns, const struct inode *inode);
struct timespec ns_now(struct ns *ns);
/* Attributes changed; with data, too (modification). */
void ns_touch(struct ns *ns, struct inode *inode, bool data);
bool ns_is_open(const struct ns *ns, uint64_t ino);

/* dir.c */
bool ns_is_dot(const char *name);
/* -ENOENT. */
int ns_find(struct ns *ns, uint64_t dir, const char *name, struct ns_entry *e);
/* In @dir with the next cookie, or (@e->cookie not 0) in place of one; @dir is to be stored. */
int ns_enter(struct ns *ns, struct inode *dir, const char *name, struct ns_entry *e);
int ns_leave(struct ns *ns, struct inode *dir, const char *name, uint64_t cookie);

/* remove.c */
/* One name less; without the last one it goes, or waits: *left says. */
int ns_unname(struct ns *ns, struct inode *inode, struct ns_left *left);
/* What unname() said, told again. */
int ns_left_again(struct ns *ns, uint64_t ino, struct ns_left *left);
/* Nobody has it open any more. */
int ns_closed(struct ns *ns, uint64_t ino, struct ns_left *left);

/* xattr_store.c: within a change, but for read and names. */
int ns_xattr_read(struct ns *ns, uint64_t ino, const char *name, uint8_t **value, uint32_t *len);
int ns_xattr_write(struct ns *ns, uint64_t ino, const char *name, const void *value, uint32_t len);
int ns_xattr_delete(struct ns *ns, uint64_t ino, const char *name);
/* All names of an inode, each with a zero behind it; *names: free(). */
int ns_xattr_names(struct ns *ns, uint64_t ino, uint8_t **names, uint32_t *len);
int ns_xattrs_drop(struct ns *ns, uint64_t ino);

/* mode.c, within a change: the inode's mode has been set; its list follows. */
int ns_acl_chmod(struct ns *ns, struct inode *inode);
/* Gives a new inode of @dir, which is not stored yet, its permissions and lists. */
int ns_acl_inherit(struct ns *ns, const struct inode *dir, uint32_t umask, struct inode *inode);
/* Sets an attribute that is a list (@len 0: removes it).  *store: the value is to be kept. */
int ns_acl_set(struct inode *inode, const char *name, const void *value, size_t len, bool kill_sgid,
	       bool *store);

/* stripe.c: "ddio.stripe", "ddio.layout", "ddio.disks" */
bool ns_stripe_is(const char *name);
/* Return: bytes in @text, or -errno. */
int ns_stripe_get(struct ns *ns, const struct inode *inode, const char *name, char **text);
int ns_stripe_set(struct ns *ns, struct inode *inode, const char *name, const char *text,
		  size_t len);
int ns_stripe_unset(struct inode *inode, const char *name);
/* Of a new regular file in @dir. */
int ns_stripe_new(struct ns *ns, const struct inode *dir, struct stripe *stripe);

/* mount.c */
int ns_mounts_load(struct ns *ns);
void ns_mounts_free(struct ns *ns);

#endif /* DDIO_NS_PRIV_H */
