/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the name space share. */
#ifndef DDIO_NS_PRIV_H
#define DDIO_NS_PRIV_H

#include <sys/stat.h>
#include "iop/kv/kv.h"
#include "iop/ns/ns.h"
#include "base/u64map.h"

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
#define NS_META_KEY "ns"
#define NS_META_MAX 320
#define NS_VERSION 2
#define NS_RESERVE 65536 /* numbers reserved at a time */
#define NS_FIRST 16	 /* number of the first inode that is made */
#define NS_COOKIE 3	 /* of a directory's first entry: "." and ".." have 1 and 2 */
#define NS_KEY_LEN 8
#define NS_NAME_KEY_MAX (8 + DDIO_MAX_NAME)
#define NS_ORDER_KEY_LEN 16
#define NS_DONE_KEY_LEN (DDIO_GROUP_ID_LEN + 8)
#define NS_REMOVED 1024 /* attributes of removed inodes that are remembered */
#define NS_LINKS_MAX 65000u
#define NS_DEPTH_MAX 100000u /* a deeper directory is in a circle */

/**
 * struct ns - the name space
 * @next: number of the next inode; @limit: reserved durably below; @reserving: and below this soon
 * @count: inodes
 * @opens: how many mounts have an inode open
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
	struct ddio_u64map opens;
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
 * @opens: the inodes that it has open
 * @forgotten: results up to this number are
 * @away: since when it has no connection
 * @before: it is known from before the start and has not told yet
 */
struct ns_mount {
	struct ddio_list link;
	uint8_t id[DDIO_GROUP_ID_LEN];
	uint32_t conns;
	struct ddio_u64map opens;
	uint64_t forgotten;
	uint64_t away;
	bool before, told, any_done;
};

/*
 * record.c: bytes.  The readers take any bytes: 0, -EUCLEAN or -ENOMEM.
 */
struct ns_meta {
	uint64_t limit;
	char cluster[DDIO_MAX_NAME + 1];
};
/* A name's record, and (with the name) that of the order. */
struct ns_entry {
	uint64_t ino;
	uint32_t type; /* bits of the mode */
	uint64_t cookie;
	char name[DDIO_MAX_NAME + 1];
};
/* What a request that must not be done twice gave. */
struct ns_result {
	uint64_t a, b;
};
void ns_key(uint8_t key[NS_KEY_LEN], uint64_t id);
bool ns_key_get(const void *key, size_t len, uint64_t *id);
size_t ns_name_key(uint8_t key[NS_NAME_KEY_MAX], uint64_t id, const char *name);
/* Also of extended attributes. */
int ns_name_key_get(const void *key, size_t len, uint64_t *id, char name[DDIO_MAX_NAME + 1]);
void ns_order_key(uint8_t key[NS_ORDER_KEY_LEN], uint64_t dir, uint64_t cookie);
bool ns_order_key_get(const void *key, size_t len, uint64_t *dir, uint64_t *cookie);
void ns_done_key(uint8_t key[NS_DONE_KEY_LEN], const uint8_t *mount, uint64_t seq);

/* Into @buf (NULL: only the length), -EMSGSIZE if @cap is too small. */
ssize_t ns_inode_put(void *buf, size_t cap, const struct inode *inode);
int ns_inode_get(uint64_t ino, const void *value, size_t len, struct inode *inode);
/* @key: of the record; @name: with the name in it, as in the order. */
#define NS_ENTRY_MAX (28 + 2 + DDIO_MAX_NAME)
size_t ns_entry_put(uint8_t buf[NS_ENTRY_MAX], const void *key, size_t key_len,
		    const struct ns_entry *e, bool name);
int ns_entry_get(const void *key, size_t key_len, const void *value, size_t len, bool name,
		 struct ns_entry *e);
/* A value of bytes: version and CRC around it.  In @buf of @len + 8 bytes. */
#define NS_BYTES_EXTRA 8
void ns_bytes_put(uint8_t *buf, const void *key, size_t key_len, const void *data, size_t len);
int ns_bytes_get(const void *key, size_t key_len, const void *value, size_t len,
		 const uint8_t **data, size_t *data_len);
size_t ns_meta_put(uint8_t value[NS_META_MAX], const struct ns_meta *meta);
int ns_meta_get(const void *value, size_t len, struct ns_meta *meta);

/* ns.c */
int ns_take_id(struct ns *ns, uint64_t *ino);
/*
 * A change of the name space.  @again: it was made before, with this result.  After an error of
 * begin there is no end.  The end records the result and gives @ret back, or what went wrong then.
 */
int ns_begin(struct ns *ns, const struct ns_who *who, struct ns_result *result, bool *again);
int ns_end(struct ns *ns, const struct ns_who *who, const struct ns_result *result, int ret);

/* inode.c: within a change, but for load. */
int ns_load(struct ns *ns, uint64_t ino, struct inode *inode);
/* -ENOTDIR; -ENOENT if it has been removed. */
int ns_load_dir(struct ns *ns, uint64_t ino, struct inode *inode);
int ns_store(struct ns *ns, const struct inode *inode);
int ns_delete(struct ns *ns, const struct inode *inode);
struct timespec ns_now(struct ns *ns);
/* Attributes changed; with data, too (modification). */
void ns_touch(struct ns *ns, struct inode *inode, bool data);
int stripe_copy(struct stripe *to, const struct stripe *from);

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

/* xattr.c */
int ns_xattr_read(struct ns *ns, uint64_t ino, const char *name, uint8_t **value, uint32_t *len);
int ns_xattr_write(struct ns *ns, uint64_t ino, const char *name, const void *value, uint32_t len);
int ns_xattrs_drop(struct ns *ns, uint64_t ino);

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
bool ns_is_open(const struct ns *ns, uint64_t ino);
int ns_mounts_load(struct ns *ns);
void ns_mounts_free(struct ns *ns);

#endif /* DDIO_NS_PRIV_H */
