/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages of the file system as structures of the host; included by proto.h, whose rules hold here
 * too.  Attributes and entries of directories are those of the library's interface.
 */
#ifndef DDIO_PROTO_FS_H
#define DDIO_PROTO_FS_H

#include <ddio/fs.h>
#include "proto/proto.h"

/**
 * struct ddio_fs_seq - marks a request that must not be carried out twice
 * @seq: counts such requests of a mount, from 1; repeated after a lost connection, the request has
 *	the same number and gets the same answer.  0: it will not be repeated
 * @upto: every answer up to this one has arrived
 */
struct ddio_fs_seq {
	uint64_t seq, upto;
};

/* FS_ATTACH: this connection is one of a mount's.  A mount without one counts as absent. */
struct ddio_msg_fs_attach {
	uint8_t mount[DDIO_GROUP_ID_LEN]; /* random, not all 0 */
	uint32_t flags;			  /* DDIO_FS_ATTACH_* */
	uint64_t life; /* the name space's, to which it attached last, or 0: what follows is of it */
	uint64_t answered,
		durable; /* the last change that it was answered, and that it was told is durable */
};
#define DDIO_FS_LOST_ANSWERED 0x1u /* a change that was answered */
#define DDIO_FS_LOST_DURABLE 0x2u  /* one that was said to be durable */
#define DDIO_FS_LOST_ALL (DDIO_FS_LOST_ANSWERED | DDIO_FS_LOST_DURABLE)
#define DDIO_FS_ATTACH_TOLD 0x1u /* all open files and locks have been reported again */

struct ddio_msg_fs_attached {
	uint64_t boot;	   /* as in WELCOME */
	uint64_t grace_ns; /* time that is left for mounts to report their opens and locks again */
	uint64_t timeout_ns; /* a mount away for longer loses its opens and locks */
	uint32_t known;	     /* 1: this mount's opens and locks are known; 0: it must report them */
	uint32_t lost;	     /* DDIO_FS_LOST_*: what is lost of what this mount was answered */
	uint64_t life;	     /* the name space's, see struct ddio_disk_id */
};

/*
 * A success of these requests, which change what a mount may sync, ends with the number of the last change that the name
 * space has made.  ddio_get_change() takes it off: -EPROTO if it is missing.
 */
#define DDIO_CHANGE_LEN 8
bool ddio_opcode_numbered(uint32_t opcode);
void ddio_put_change(uint8_t buf[DDIO_CHANGE_LEN], uint64_t change);
int ddio_get_change(const void *payload, size_t *len, uint64_t *change);

/* GETATTR, READLINK, LISTXATTR, RELEASE, GONE; LOCK_CANCEL: the id of the request that waits. */
struct ddio_msg_fs_ino {
	uint64_t ino;
};

/* A name is 1 to DDIO_MAX_NAME bytes without '/'. */
struct ddio_msg_fs_name { /* LOOKUP; UNLINK */
	struct ddio_fs_seq seq;
	uint64_t parent;
	uint32_t flags; /* DDIO_FS_UNLINK_DIR */
	char name[DDIO_MAX_NAME + 1];
};
#define DDIO_FS_UNLINK_DIR 0x1u /* rmdir */

struct ddio_msg_fs_attr { /* reply to many */
	struct ddio_fs_attr attr;
};

struct ddio_msg_fs_setattr { /* fields that @mask does not name have no meaning */
	uint64_t ino;
	uint32_t mask; /* DDIO_FS_SET_*, DDIO_FS_KILL_SUID */
	uint32_t mode, uid, gid;
	uint64_t size;
	struct timespec atime, mtime, ctime;
};

struct ddio_msg_fs_make {
	struct ddio_fs_seq seq;
	uint64_t parent;
	uint32_t flags; /* DDIO_FS_MAKE_* */
	uint32_t mode, umask;
	uint32_t uid, gid;
	uint64_t rdev;
	char name[DDIO_MAX_NAME + 1];
	char target[DDIO_FS_TARGET_MAX + 1]; /* of a symbolic link, else empty */
};
#define DDIO_FS_MAKE_EXCL 0x1u /* else an existing regular file of that name is accepted */
#define DDIO_FS_MAKE_OPEN 0x2u /* open the file, too; regular files only */

struct ddio_msg_fs_open {
	uint64_t ino;
	uint32_t flags; /* DDIO_FS_OPEN_* */
};
#define DDIO_FS_OPEN_AGAIN 0x1u /* reported again: it was open before */
#define DDIO_FS_OPEN_LOOK 0x2u	/* do not open: attributes and record only, also of an orphan */

/* Reply to MAKE and OPEN. */
struct ddio_msg_fs_opened {
	uint32_t flags; /* DDIO_FS_OPENED_* */
	struct ddio_fs_attr attr;
	struct ddio_fs_attr dir;     /* if OPENED_DIR: the parent's, after the file was made */
	struct ddio_file_record rec; /* if OPENED_RECORD; ddio_fs_opened_free() */
};
#define DDIO_FS_OPENED_MADE 0x1u
#define DDIO_FS_OPENED_RECORD 0x2u /* a regular file: @rec */
/* The file never had data: FS_WROTE with DDIO_FS_WROTE_DATA must come before the first byte or
 * block goes to a disk. */
#define DDIO_FS_OPENED_BARE 0x4u
#define DDIO_FS_OPENED_DIR 0x8u /* MAKE: @dir */
void ddio_fs_opened_free(struct ddio_msg_fs_opened *x);

/* Reply to UNLINK. */
struct ddio_msg_fs_unlinked {
	uint32_t flags;		     /* DDIO_FS_UNLINKED_* */
	struct ddio_fs_attr dir;     /* if UNLINKED_DIR: the parent's, after the removal */
	struct ddio_file_record rec; /* if UNLINKED_LEFT; ddio_fs_unlinked_free() */
};
#define DDIO_FS_UNLINKED_DIR 0x1u
#define DDIO_FS_UNLINKED_LEFT 0x2u /* the client must remove the objects of @rec */
void ddio_fs_unlinked_free(struct ddio_msg_fs_unlinked *x);

struct ddio_msg_fs_link {
	struct ddio_fs_seq seq;
	uint64_t ino, parent;
	char name[DDIO_MAX_NAME + 1];
};

struct ddio_msg_fs_rename {
	struct ddio_fs_seq seq;
	uint64_t parent, new_parent;
	uint32_t flags; /* DDIO_FS_RENAME_* */
	char name[DDIO_MAX_NAME + 1];
	char new_name[DDIO_MAX_NAME + 1];
};
#define DDIO_FS_RENAME_NOREPLACE 0x1u
#define DDIO_FS_RENAME_EXCHANGE 0x2u
#define DDIO_FS_RENAME_WHITEOUT 0x4u

struct ddio_msg_fs_target { /* READLINK reply: 1 to DDIO_FS_TARGET_MAX bytes */
	char target[DDIO_FS_TARGET_MAX + 1];
};

struct ddio_msg_fs_readdir { /* ORPHANS: inodes whose numbers are above @cookie */
	uint64_t ino;
	uint64_t cookie;
	uint32_t max;
	uint32_t flags; /* DDIO_FS_READDIR_*, not both */
};
#define DDIO_FS_READDIR_PLUS 0x1u
#define DDIO_FS_READDIR_LAST 0x2u /* only ".", with the cookie of the entry that was made last */

struct ddio_msg_fs_entries { /* READDIR reply */
	uint32_t n, more;    /* more: 0 if the directory ends here */
	uint32_t plus; /* 1: whole attributes, and whether there are extended ones; 0: ino and type */
	struct ddio_fs_dirent *ents; /* one allocation, names included: free() */
};

struct ddio_msg_fs_xattr { /* GETXATTR (no value), SETXATTR, REMOVEXATTR (no value) */
	struct ddio_fs_seq seq;
	uint64_t ino;
	uint32_t flags; /* DDIO_FS_XATTR_* */
	uint32_t len;	/* at most DDIO_FS_XATTR_MAX */
	char name[DDIO_MAX_NAME + 1];
	const void *value; /* points into the payload */
};
#define DDIO_FS_XATTR_CREATE 0x1u
#define DDIO_FS_XATTR_REPLACE 0x2u
#define DDIO_FS_XATTR_KILL_SGID 0x4u
#define DDIO_FS_XATTR_NAMED 0x8u /* -ESTALE if the inode has no name */

struct ddio_msg_fs_value { /* reply: GETXATTR: a value; LISTXATTR: names, each ended by a zero */
	uint32_t len;
	const void *data; /* points into the payload */
};

struct ddio_msg_fs_wrote {
	uint64_t ino;
	uint64_t end;	       /* the size is at least this */
	uint32_t flags;	       /* DDIO_FS_WROTE_* */
	uint64_t lease, since; /* if LEASED */
	struct timespec mtime; /* if LEASED */
	uint64_t base;	       /* 0: not said */
	bool sync;	       /* the answer waits until all changes so far are durable */
};
#define DDIO_FS_WROTE_DATA 0x1u	     /* has, or is about to have, data on its disks */
#define DDIO_FS_WROTE_TIMES 0x2u     /* modified now */
#define DDIO_FS_WROTE_KILL_SUID 0x4u /* as DDIO_FS_KILL_SUID */
/*
 * Written under @lease, last at @mtime; refused (CANCELLED) if the mount does not hold that any more, the
 * inode has changed since the attributes with the change @since, and somebody else may have changed its data
 */
#define DDIO_FS_WROTE_LEASED 0x8u
#define DDIO_FS_WROTE_RETURN 0x10u /* LEASED: the lease is given back with this */

struct ddio_msg_fs_lease {
	uint64_t ino;
	uint32_t flags; /* DDIO_FS_LEASE_* */
};
#define DDIO_FS_LEASE_ALONE 0x1u /* not if another mount has the inode open, or the lease */

struct ddio_msg_fs_leased { /* LEASE reply */
	uint64_t lease;	    /* its number; 0: the mount does not get it */
	struct ddio_fs_attr attr;
};

struct ddio_fs_recall {
	uint64_t ino, lease;
};

struct ddio_msg_fs_recalled { /* RECALL reply */
	uint32_t n;
	struct ddio_fs_recall *leases; /* ddio_fs_recalled_free() */
};
#define DDIO_FS_RECALLED_MAX 1024u
void ddio_fs_recalled_free(struct ddio_msg_fs_recalled *x);

struct ddio_msg_fs_append {
	struct ddio_fs_seq seq;
	uint64_t ino;
	uint64_t len; /* more than 0 */
};

struct ddio_msg_fs_place { /* APPEND reply: where the bytes go, and the attributes afterwards */
	uint64_t offset;
	struct ddio_fs_attr attr;
};

struct ddio_msg_fs_alloc { /* ignored if @change is no longer the latest; reply: attributes */
	uint64_t ino;
	uint64_t change;
	uint64_t alloc;
};

struct ddio_msg_fs_space { /* SPACE reply */
	uint64_t inodes;
};

enum ddio_fs_lock_type {
	DDIO_FS_LOCK_NONE = 0, /* SET: unlock */
	DDIO_FS_LOCK_READ = 1,
	DDIO_FS_LOCK_WRITE = 2,
	DDIO_FS_LOCK_MAX = 3,
};

struct ddio_msg_fs_lock { /* LOCK_TEST and its reply, LOCK_SET */
	uint64_t ino;
	uint64_t id;	     /* SET with WAIT: chosen by the mount, for LOCK_CANCEL */
	uint64_t start, end; /* bytes, the last included */
	uint64_t owner;
	uint32_t pid;
	uint32_t type;	/* enum ddio_fs_lock_type */
	uint32_t flags; /* DDIO_FS_LOCK_* */
};
#define DDIO_FS_LOCK_FLOCK 0x1u
#define DDIO_FS_LOCK_WAIT 0x2u	/* the reply comes when the lock is granted */
#define DDIO_FS_LOCK_AGAIN 0x4u /* reported again: it was held before */
#define DDIO_FS_LOCK_OTHER 0x8u /* TEST reply: another mount holds it */
/* With an inode's number: a lock of its own; while it is held, APPEND is refused (AGAIN). */
#define DDIO_FS_LOCK_END (1ull << 63)

struct ddio_msg_fs_owner { /* UNLOCK_OWNER: releases the owner's locks of fcntl(2) */
	uint64_t ino;
	uint64_t owner;
};

/*
 * Some replies name inodes that have neither a name nor an opener any more (RENAME, RELEASE: none
 * or
 * one; ORPHANS: several).  They are struct ddio_msg_ns_listing with empty names; UNLINK has a
 * reply of its own.  The client removes the objects on all disks, then sends GONE.
 */

struct ddio_msg_obj_stat { /* OBJ_STAT reply */
	uint64_t alloc;	   /* bytes of allocated blocks */
	uint64_t end;	   /* first byte after the last allocated block */
};

struct ddio_msg_obj_copy { /* reply: struct ddio_msg_obj_data with the length copied */
	struct ddio_file_ref from, to;
	uint32_t disk;
	uint32_t flags;
	uint64_t from_offset, to_offset; /* bytes in the objects */
	uint64_t len;			 /* at most DDIO_MAX_BULK */
};

struct ddio_msg_obj_clone {
	struct ddio_file_ref to; /* new: it has no blocks on the disk */
	struct ddio_file_ref from;
	uint32_t disk;
	uint32_t flags; /* DDIO_OBJ_CLONE_FREEZE */
	uint64_t hold;	/* of @from, by OBJ_HOLD */
	uint64_t len;	/* bytes of the object: what lies behind is left out */
};
#define DDIO_OBJ_CLONE_FREEZE \
	0x1u /* nothing is to change the new object but its removal; feature FROZEN */

struct ddio_msg_obj_mend {
	struct ddio_file_ref file;
	uint32_t disk;
	uint32_t reserved;
	uint64_t at;	  /* the block of the object to go on with */
	uint64_t longest; /* extents of so many bytes stay where they are; 0: none for that */
	uint64_t rate;	  /* bytes a second; 0: as many as others leave */
};

struct ddio_msg_mended { /* OBJ_MEND reply */
	uint32_t flags;	 /* DDIO_MENDED_* */
	uint32_t reserved;
	uint64_t at;	/* where to go on */
	uint64_t moved; /* bytes */
	uint64_t shared, reserved_blocks,
		space; /* extents that stay apart: see struct store_mend */
	uint64_t bad;  /* blocks that do not match their checksums, or cannot be read */
};
#define DDIO_MENDED_ALL 0x1u   /* the object's end is reached */
#define DDIO_MENDED_WAITS 0x2u /* another file has its turn: nothing was done */
#define DDIO_MENDED_BUSY 0x4u  /* others use the blocks at @at */

struct ddio_msg_disk_space { /* DISK_SPACE reply: bytes, but for @ranges */
	uint64_t free, ranges, longest;
	uint64_t shared; /* what files would take besides if each had its own blocks */
};

#define DDIO_FS_CODEC(name, type)                                             \
	ssize_t ddio_put_##name(void *buf, size_t cap, const struct type *x); \
	int ddio_get_##name(const void *buf, size_t len, struct type *x)

DDIO_FS_CODEC(fs_attach, ddio_msg_fs_attach);
DDIO_FS_CODEC(fs_attached, ddio_msg_fs_attached);
DDIO_FS_CODEC(fs_ino, ddio_msg_fs_ino);
DDIO_FS_CODEC(fs_name, ddio_msg_fs_name);
DDIO_FS_CODEC(fs_attr, ddio_msg_fs_attr);
DDIO_FS_CODEC(fs_setattr, ddio_msg_fs_setattr);
DDIO_FS_CODEC(fs_make, ddio_msg_fs_make);
DDIO_FS_CODEC(fs_open, ddio_msg_fs_open);
DDIO_FS_CODEC(fs_opened, ddio_msg_fs_opened);
DDIO_FS_CODEC(fs_unlinked, ddio_msg_fs_unlinked);
DDIO_FS_CODEC(fs_link, ddio_msg_fs_link);
DDIO_FS_CODEC(fs_rename, ddio_msg_fs_rename);
DDIO_FS_CODEC(fs_target, ddio_msg_fs_target);
DDIO_FS_CODEC(fs_readdir, ddio_msg_fs_readdir);
DDIO_FS_CODEC(fs_entries, ddio_msg_fs_entries);
DDIO_FS_CODEC(fs_xattr, ddio_msg_fs_xattr);
DDIO_FS_CODEC(fs_value, ddio_msg_fs_value);
DDIO_FS_CODEC(fs_wrote, ddio_msg_fs_wrote);
DDIO_FS_CODEC(fs_lease, ddio_msg_fs_lease);
DDIO_FS_CODEC(fs_leased, ddio_msg_fs_leased);
DDIO_FS_CODEC(fs_recalled, ddio_msg_fs_recalled);
DDIO_FS_CODEC(fs_append, ddio_msg_fs_append);
DDIO_FS_CODEC(fs_place, ddio_msg_fs_place);
DDIO_FS_CODEC(fs_alloc, ddio_msg_fs_alloc);
DDIO_FS_CODEC(fs_space, ddio_msg_fs_space);
DDIO_FS_CODEC(fs_lock, ddio_msg_fs_lock);
DDIO_FS_CODEC(fs_owner, ddio_msg_fs_owner);
DDIO_FS_CODEC(obj_stat, ddio_msg_obj_stat);
DDIO_FS_CODEC(obj_copy, ddio_msg_obj_copy);
DDIO_FS_CODEC(obj_clone, ddio_msg_obj_clone);
DDIO_FS_CODEC(obj_mend, ddio_msg_obj_mend);
DDIO_FS_CODEC(mended, ddio_msg_mended);
DDIO_FS_CODEC(disk_space, ddio_msg_disk_space);

#undef DDIO_FS_CODEC

#endif /* DDIO_PROTO_FS_H */
