/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The name space of the cluster, on the node that serves it: inodes, directories, attributes,
 * what is open.  See Documentation/filesystem.rst.  Belongs to reactor 0.
 *
 * A function that changes something changes all of it or nothing, and what it has changed survives the
 * death of the process when it returns; ddio_ns_commit() says when it survives that of the machine.
 * An inode that is not there is -ESTALE by its number, -ENOENT by its name.
 */
#ifndef DDIO_NS_H
#define DDIO_NS_H

#include <sys/stat.h>
#include "iop/store/store.h"

struct ddio_ns;
struct ddio_ns_mount;

/**
 * struct ddio_ns_opts - what to open
 * @block, @ndisks: stripe of files whose directory does not say otherwise: over disks 0 to ndisks - 1
 * @timeout_ns: a mount that is away for longer is lost
 */
struct ddio_ns_opts {
	const char *dir;
	const char *cluster;
	bool sync;
	uint32_t block, ndisks;
	uint64_t timeout_ns;
};

int ddio_ns_open(struct ddio_env *env, const struct ddio_ns_opts *opts, struct ddio_ns **ns,
		 char *err, size_t err_len);
/* Commit last and wait for it: creating files may begin a commit on its own. */
void ddio_ns_close(struct ddio_ns *ns);
void ddio_ns_commit(struct ddio_ns *ns, struct ddio_commit *commit);
/* So much waits to be committed that whoever made it should wait, too. */
bool ddio_ns_full(const struct ddio_ns *ns);
/* A repair is -EBUSY while changes wait to be committed. */
int ddio_ns_check(struct ddio_ns *ns, bool repair, struct ddio_msg_fsck *result);
/* Do commits reach stable storage? */
bool ddio_ns_sync(const struct ddio_ns *ns);
uint64_t ddio_ns_inodes(struct ddio_ns *ns);

/**
 * struct ddio_stripe - how a file is spread, or (of a directory) those made in it will be
 * @block: of a directory 0: as usual; @ndisks likewise
 * @disks: NULL: 0 to ndisks - 1
 */
struct ddio_stripe {
	uint64_t seed;
	uint32_t block, layout, ndisks;
	uint32_t *disks;
};

/**
 * struct ddio_inode - an inode in memory; ddio_inode_free()
 * @alloc: bytes on disks as counted when the change was @alloc_change
 * @parent, @entries, @cookie: of a directory: where its name is, how many it has, the next one's cookie
 * @target: of a symbolic link
 */
struct ddio_inode {
	uint64_t ino;
	uint32_t mode, nlink, uid, gid;
	uint32_t flags; /* DDIO_INODE_* */
	uint64_t rdev, size, alloc, alloc_change, change;
	struct timespec atime, mtime, ctime, btime;
	struct ddio_stripe stripe;
	uint64_t parent, entries, cookie;
	char *target;
};
#define DDIO_INODE_DATA 0x1u /* has, or may have, objects */

void ddio_inode_free(struct ddio_inode *inode);
void ddio_inode_attr(const struct ddio_inode *inode, struct ddio_fs_attr *attr);
/* Of a regular file; allocates: ddio_file_record_free().  0 or -ENOMEM. */
int ddio_inode_record(const struct ddio_inode *inode, struct ddio_file_record *rec);
static inline bool ddio_inode_is(const struct ddio_inode *inode, uint32_t type)
{
	return (inode->mode & 0170000u) == type;
}

/**
 * struct ddio_ns_left - an inode that is gone, but for its objects
 * @any: there is one: its objects are to be removed
 */
struct ddio_ns_left {
	bool any;
	struct ddio_file_record rec;
};

/**
 * struct ddio_ns_who - who asks for a change
 * @mount: NULL: nobody who would ask again
 */
struct ddio_ns_who {
	struct ddio_ns_mount *mount;
	struct ddio_fs_seq seq;
};

/* ns_inode.c, ns_attr.c; inodes that are given back are to be freed, whatever is returned. */
int ddio_ns_inode(struct ddio_ns *ns, uint64_t ino, struct ddio_inode *inode);
/* The same; of what was no file and has been removed lately as it was then, with no name. */
int ddio_ns_getattr(struct ddio_ns *ns, uint64_t ino, struct ddio_inode *inode);
int ddio_ns_setattr(struct ddio_ns *ns, const struct ddio_msg_fs_setattr *x,
		    struct ddio_inode *inode);
int ddio_ns_wrote(struct ddio_ns *ns, const struct ddio_msg_fs_wrote *x, struct ddio_inode *inode);
int ddio_ns_append(struct ddio_ns *ns, struct ddio_ns_mount *mount,
		   const struct ddio_msg_fs_append *x, uint64_t *offset, struct ddio_inode *inode);
int ddio_ns_alloc(struct ddio_ns *ns, const struct ddio_msg_fs_alloc *x, struct ddio_inode *inode);

/* ns_dir.c */
int ddio_ns_lookup(struct ddio_ns *ns, uint64_t parent, const char *name, struct ddio_inode *inode);
/* Allocates @out->ents: free().  No more than @bytes of message. */
int ddio_ns_readdir(struct ddio_ns *ns, const struct ddio_msg_fs_readdir *x, size_t bytes,
		    struct ddio_msg_fs_entries *out);

/*
 * ns_make.c.  @stripe: of a regular file, or NULL: as its directory says.  @dir: the directory's
 * attributes after that, unless it fails; no number: not known, as it was made before.  May be NULL.
 */
int ddio_ns_make(struct ddio_ns *ns, struct ddio_ns_mount *mount, const struct ddio_msg_fs_make *x,
		 const struct ddio_stripe *stripe, struct ddio_inode *inode, bool *made,
		 struct ddio_fs_attr *dir);
int ddio_ns_link(struct ddio_ns *ns, struct ddio_ns_mount *mount, const struct ddio_msg_fs_link *x,
		 struct ddio_inode *inode);

/* ns_remove.c.  @dir: as in ddio_ns_make(). */
int ddio_ns_unlink(struct ddio_ns *ns, struct ddio_ns_mount *mount,
		   const struct ddio_msg_fs_name *x, struct ddio_ns_left *left,
		   struct ddio_fs_attr *dir);
/* Those that nobody has open, behind @after. */
int ddio_ns_orphans(struct ddio_ns *ns, uint64_t after, uint32_t max,
		    struct ddio_msg_ns_listing *out);
/* -EBUSY: it has a name, or is open. */
int ddio_ns_gone(struct ddio_ns *ns, uint64_t ino);

/* ns_rename.c */
int ddio_ns_rename(struct ddio_ns *ns, struct ddio_ns_mount *mount,
		   const struct ddio_msg_fs_rename *x, struct ddio_ns_left *left);

/* ns_xattr.c.  *value: free(). */
int ddio_ns_getxattr(struct ddio_ns *ns, uint64_t ino, const char *name, uint8_t **value,
		     uint32_t *len);
int ddio_ns_setxattr(struct ddio_ns *ns, struct ddio_ns_mount *mount,
		     const struct ddio_msg_fs_xattr *x, struct ddio_inode *inode);
int ddio_ns_removexattr(struct ddio_ns *ns, struct ddio_ns_mount *mount,
			const struct ddio_msg_fs_xattr *x, struct ddio_inode *inode);
int ddio_ns_listxattr(struct ddio_ns *ns, uint64_t ino, uint8_t **names, uint32_t *len);

/*
 * ns_path.c: names as libddio knows them: paths from the root.  A link's target is followed.
 */
int ddio_ns_walk(struct ddio_ns *ns, const char *path, struct ddio_inode *inode);
/* The directory that the last name of @path is in; @name: DDIO_MAX_NAME + 1 bytes. */
int ddio_ns_walk_parent(struct ddio_ns *ns, const char *path, uint64_t *parent, char *name);
/* Directories have no stripe: what stands there has no meaning. */
int ddio_ns_dir_record(const struct ddio_inode *in, struct ddio_file_record *rec);
/* Files of a directory in order of names; a directory's name ends with a slash. */
int ddio_ns_list(struct ddio_ns *ns, const char *dir, const char *after, uint32_t max,
		 struct ddio_msg_ns_listing *out);
/* All regular files by number, orphans too; without names. */
int ddio_ns_list_all(struct ddio_ns *ns, uint64_t after, uint32_t max,
		     struct ddio_msg_ns_listing *out);

/*
 * ns_mount.c: who has what open.
 */

/**
 * struct ddio_ns_mount_ops - what else hangs on a mount
 * @lost: it is, before it is freed: its locks go
 */
struct ddio_ns_mount_ops {
	void (*lost)(void *ctx, struct ddio_ns_mount *mount);
	/* every mount of before has come back, or its time is over */
	void (*settled)(void *ctx);
};
bool ddio_ns_mount_is(const struct ddio_ns_mount *mount, const uint8_t id[DDIO_GROUP_ID_LEN]);
/* Is it open, or may a mount of before a restart yet say so? */
bool ddio_ns_in_use(const struct ddio_ns *ns, uint64_t ino);
void ddio_ns_mount_watch(struct ddio_ns *ns, const struct ddio_ns_mount_ops *ops, void *ctx);
/* One more connection of it. @known: it was there.  Return: 0 or -errno. */
int ddio_ns_mount_attach(struct ddio_ns *ns, const uint8_t id[DDIO_GROUP_ID_LEN],
			 struct ddio_ns_mount **mount, bool *known);
/* It has told its opens and locks. */
void ddio_ns_mount_told(struct ddio_ns *ns, struct ddio_ns_mount *mount);
/* One connection less. */
void ddio_ns_mount_detach(struct ddio_ns *ns, struct ddio_ns_mount *mount);
/* It ends: nothing is open there any more. */
int ddio_ns_mount_end(struct ddio_ns *ns, struct ddio_ns_mount *mount);
/* How long mounts of before a restart may yet take; 0: all is told. */
uint64_t ddio_ns_grace(const struct ddio_ns *ns);
uint64_t ddio_ns_timeout(const struct ddio_ns *ns);
/* -ESTALE; -ENOENT for an orphan, but @again. */
int ddio_ns_open_file(struct ddio_ns *ns, struct ddio_ns_mount *mount, uint64_t ino, bool again,
		      struct ddio_inode *inode);
int ddio_ns_release(struct ddio_ns *ns, struct ddio_ns_mount *mount, uint64_t ino,
		    struct ddio_ns_left *left);

#endif /* DDIO_NS_H */
