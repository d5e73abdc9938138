/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The name space of the cluster, on the node that serves it: inodes, directories, attributes,
 * what is open.  See Documentation/filesystem.rst.  Belongs to reactor 0.
 *
 * A function that changes something changes all of it or nothing, and what it has changed survives the
 * death of the process when it returns; ns_commit() says when it survives that of the machine.
 * An inode that is not there is -ESTALE by its number, -ENOENT by its name.
 */
#ifndef DDIO_NS_H
#define DDIO_NS_H

#include "env/env.h"
#include "iop/lmdb/commit.h"
#include "iop/ns/inode.h"
#include "proto/proto.h"

struct ns;
struct ns_mount;

/**
 * struct ns_opts - what to open
 * @block, @ndisks: stripe of files whose directory does not say otherwise: over disks 0 to ndisks - 1
 * @timeout_ns: a mount that is away for longer is lost
 */
struct ns_opts {
	const char *dir;
	const char *cluster;
	bool sync;
	uint32_t block, ndisks;
	uint64_t timeout_ns;
};

int ns_open(struct ddio_env *env, const struct ns_opts *opts, struct ns **ns, char *err,
	    size_t err_len);
/* Commit last and wait for it: creating files may begin a commit on its own. */
void ns_close(struct ns *ns);
void ns_commit(struct ns *ns, struct commit *commit);
/* So much waits to be committed that whoever made it should wait, too. */
bool ns_full(const struct ns *ns);
/* A repair is -EBUSY while changes wait to be committed. */
int ns_check(struct ns *ns, bool repair, struct ddio_msg_fsck *result);
/* Do commits reach stable storage? */
bool ns_sync(const struct ns *ns);
uint64_t ns_inodes(struct ns *ns);

/**
 * struct ns_left - an inode that is gone, but for its objects
 * @any: there is one: its objects are to be removed
 */
struct ns_left {
	bool any;
	struct ddio_file_record rec;
};

/**
 * struct ns_who - who asks for a change
 * @mount: NULL: nobody who would ask again
 */
struct ns_who {
	struct ns_mount *mount;
	struct ddio_fs_seq seq;
};

/* inode.c, attr.c; inodes that are given back are to be freed, whatever is returned. */
int ns_inode(struct ns *ns, uint64_t ino, struct inode *inode);
/* The same; of what was no file and has been removed lately as it was then, with no name. */
int ns_getattr(struct ns *ns, uint64_t ino, struct inode *inode);
int ns_setattr(struct ns *ns, const struct ddio_msg_fs_setattr *x, struct inode *inode);
int ns_wrote(struct ns *ns, const struct ddio_msg_fs_wrote *x, struct inode *inode);
int ns_append(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_append *x,
	      uint64_t *offset, struct inode *inode);
int ns_alloc(struct ns *ns, const struct ddio_msg_fs_alloc *x, struct inode *inode);

/* dir.c */
int ns_lookup(struct ns *ns, uint64_t parent, const char *name, struct inode *inode);
/* Allocates @out->ents: free().  No more than @bytes of message. */
int ns_readdir(struct ns *ns, const struct ddio_msg_fs_readdir *x, size_t bytes,
	       struct ddio_msg_fs_entries *out);

/*
 * make.c.  @stripe: of a regular file, or NULL: as its directory says.  @dir: the directory's
 * attributes after that, unless it fails; no number: not known, as it was made before.  May be NULL.
 */
int ns_make(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_make *x,
	    const struct stripe *stripe, struct inode *inode, bool *made, struct ddio_fs_attr *dir);
int ns_link(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_link *x,
	    struct inode *inode);

/* remove.c.  @dir: as in ns_make(). */
int ns_unlink(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_name *x,
	      struct ns_left *left, struct ddio_fs_attr *dir);
/* Those that nobody has open, behind @after. */
int ns_orphans(struct ns *ns, uint64_t after, uint32_t max, struct ddio_msg_ns_listing *out);
/* -EBUSY: it has a name, or is open. */
int ns_gone(struct ns *ns, uint64_t ino);

/* rename.c */
int ns_rename(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_rename *x,
	      struct ns_left *left);

/* xattr.c.  *value: free(). */
int ns_getxattr(struct ns *ns, uint64_t ino, const char *name, uint8_t **value, uint32_t *len);
int ns_setxattr(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_xattr *x,
		struct inode *inode);
int ns_removexattr(struct ns *ns, struct ns_mount *mount, const struct ddio_msg_fs_xattr *x,
		   struct inode *inode);
int ns_listxattr(struct ns *ns, uint64_t ino, uint8_t **names, uint32_t *len);

/*
 * path.c: names as libddio knows them: paths from the root.  A link's target is followed.
 */
int ns_walk(struct ns *ns, const char *path, struct inode *inode);
/* The directory that the last name of @path is in; @name: DDIO_MAX_NAME + 1 bytes. */
int ns_walk_parent(struct ns *ns, const char *path, uint64_t *parent, char *name);
/* Directories have no stripe: what stands there has no meaning. */
int ns_dir_record(const struct inode *in, struct ddio_file_record *rec);
/* Files of a directory in order of names; a directory's name ends with a slash. */
int ns_list(struct ns *ns, const char *dir, const char *after, uint32_t max,
	    struct ddio_msg_ns_listing *out);
/* All regular files by number, orphans too; without names. */
int ns_list_all(struct ns *ns, uint64_t after, uint32_t max, struct ddio_msg_ns_listing *out);

/*
 * mount.c: who has what open.
 */

/**
 * struct ns_mount_ops - what else hangs on a mount
 * @lost: it is, before it is freed: its locks go
 */
struct ns_mount_ops {
	void (*lost)(void *ctx, struct ns_mount *mount);
	/* every mount of before has come back, or its time is over */
	void (*settled)(void *ctx);
};
bool ns_mount_is(const struct ns_mount *mount, const uint8_t id[DDIO_GROUP_ID_LEN]);
/* Is it open, or may a mount of before a restart yet say so? */
bool ns_in_use(const struct ns *ns, uint64_t ino);
void ns_mount_watch(struct ns *ns, const struct ns_mount_ops *ops, void *ctx);
/* One more connection of it. @known: it was there.  Return: 0 or -errno. */
int ns_mount_attach(struct ns *ns, const uint8_t id[DDIO_GROUP_ID_LEN], struct ns_mount **mount,
		    bool *known);
/* It has told its opens and locks. */
void ns_mount_told(struct ns *ns, struct ns_mount *mount);
/* One connection less. */
void ns_mount_detach(struct ns *ns, struct ns_mount *mount);
/* It ends: nothing is open there any more. */
int ns_mount_end(struct ns *ns, struct ns_mount *mount);
/* How long mounts of before a restart may yet take; 0: all is told. */
uint64_t ns_grace(const struct ns *ns);
uint64_t ns_timeout(const struct ns *ns);
/* -ESTALE; -ENOENT for an orphan, but @again. */
int ns_open_file(struct ns *ns, struct ns_mount *mount, uint64_t ino, bool again,
		 struct inode *inode);
int ns_release(struct ns *ns, struct ns_mount *mount, uint64_t ino, struct ns_left *left);

#endif /* DDIO_NS_H */
