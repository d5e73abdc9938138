/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cluster as a file system, for those who serve one to others: a mount, a gateway.
 * Inodes instead of names, requests that do not wait, any number under way.
 *
 * Threads: every call may be made by any thread at any time.  A request ends in one call of
 * its ddio_fs_done, on a progress thread of the library, which must not be held up: no
 * call from there may wait.  It never comes from inside the call that made the request, unless
 * there is no memory for it (-ENOMEM).
 *
 * Inodes are numbered for ever: no number is given out twice.  The root is DDIO_FS_ROOT.
 */
#ifndef DDIO_FS_H
#define DDIO_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <ddio/ddio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define DDIO_FS_ROOT 1ull
#define DDIO_FS_NAME_MAX 255
#define DDIO_FS_TARGET_MAX 4095	      /* of a symbolic link */
#define DDIO_FS_XATTR_MAX (64u << 10) /* bytes of a value, and of a list of names */

struct ddio_fs;
struct ddio_fs_file;

/**
 * struct ddio_fs_opts - how to serve a file system
 * @struct_size: sizeof(struct ddio_fs_opts)
 * @flags: DDIO_FS_HARD
 * @conf: as in struct ddio_connect_opts
 * @timeout_ms: bound on any lack of progress, after which a request fails (or, DDIO_FS_HARD, is
 *	made again until it succeeds); 0: the configuration's
 * @threads: progress threads; file data are spread over them; 0: chosen
 * @log: a line for the operator, from any thread; may be NULL
 */
struct ddio_fs_opts {
	size_t struct_size;
	uint32_t flags;
	uint32_t timeout_ms;
	const char *conf;
	uint32_t threads;
	uint32_t reserved;
	void (*log)(void *arg, int level, const char *line);
	void *log_arg;
};
#define DDIO_FS_HARD 0x1u /* an I/O processor that is away is waited for */

/* @err: one line.  Blocks.  Return: 0 or -errno. */
int ddio_fs_open(const struct ddio_fs_opts *opts, struct ddio_fs **fs, char *err, size_t err_len);
/* Ends all requests that are under way (-ESHUTDOWN) and all files, then blocks until nothing is left.
 * Not from a progress thread. */
void ddio_fs_close(struct ddio_fs *fs);

/**
 * ddio_fs_serve - take requests of others on a progress thread
 * @fs: whose
 * @fd: where they come from: a FUSE device, a socket; stays the caller's, and open until ddio_fs_serve_end()
 * @fn: called on the thread that asks the name space, whenever @fd can be read or is in error: takes what
 *	is there without waiting, makes requests of it, and returns.  false: it is not to be called any more
 * @arg: for @fn
 * Nobody has to be woken between somebody's request and what is asked of the cluster for it, which is most of
 * the time that a name takes.  One descriptor at a time.  Not from a progress thread.
 * Return: 0, -EBUSY, or another -errno.
 */
int ddio_fs_serve(struct ddio_fs *fs, int fd, bool (*fn)(void *arg), void *arg);
/* Waits until @fn has returned for the last time; also if it was the one to end it.  Not from a progress thread. */
void ddio_fs_serve_end(struct ddio_fs *fs);

/**
 * struct ddio_fs_attr - an inode
 * @change: differs whenever the inode's data or attributes may have changed
 * @alloc: bytes that it takes up on disks; DDIO_FS_ALLOC_UNKNOWN if nobody has counted since the last change
 * @block: bytes of a file block, 0 if it is no regular file
 * @ndisks: of the stripe
 */
struct ddio_fs_attr {
	uint64_t ino;
	uint64_t size;
	uint64_t alloc;
	uint64_t change;
	uint64_t rdev;
	struct timespec atime, mtime, ctime, btime;
	uint32_t mode;
	uint32_t nlink;
	uint32_t uid, gid;
	uint32_t block;
	uint32_t ndisks;
};
#define DDIO_FS_ALLOC_UNKNOWN UINT64_MAX

/**
 * struct ddio_fs_reply - how a request ended; valid during the call
 * @err: 0 or -errno
 * @attr: of what was asked for, made or changed, where the request says so
 * @data, @len: bytes, where the request says so
 * @value: a number, where the request says so
 * @text: of an error: one line
 * @age_ns: how long ago the answer came that @attr are of; not 0 only after ddio_fs_getattr_within()
 */
struct ddio_fs_reply {
	int err;
	const struct ddio_fs_attr *attr;
	const void *data;
	size_t len;
	uint64_t value;
	const char *text;
	uint64_t age_ns;
};

typedef void (*ddio_fs_done)(void *arg, const struct ddio_fs_reply *reply);

/*
 * Names.  Each gives @attr, but for unlink, rmdir and rename.
 */
void ddio_fs_lookup(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		    void *arg);

/**
 * struct ddio_fs_new - what is made
 * @mode: type and permissions; a default ACL of the parent decides over @umask
 * @rdev: of a device
 * @target: of a symbolic link
 */
struct ddio_fs_new {
	uint32_t mode;
	uint32_t umask;
	uint32_t uid, gid;
	uint64_t rdev;
	const char *target;
};
/* -EEXIST if there is something of that name. */
void ddio_fs_make(struct ddio_fs *fs, uint64_t parent, const char *name,
		  const struct ddio_fs_new *make, ddio_fs_done done, void *arg);
void ddio_fs_link(struct ddio_fs *fs, uint64_t ino, uint64_t parent, const char *name,
		  ddio_fs_done done, void *arg);
void ddio_fs_unlink(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		    void *arg);
void ddio_fs_rmdir(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		   void *arg);
/* @flags: RENAME_NOREPLACE, RENAME_EXCHANGE of renameat2(2). */
void ddio_fs_rename(struct ddio_fs *fs, uint64_t parent, const char *name, uint64_t new_parent,
		    const char *new_name, uint32_t flags, ddio_fs_done done, void *arg);
/* @data, @len: the target, with a terminating zero behind it that does not count. */
void ddio_fs_readlink(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg);

/**
 * struct ddio_fs_dirent - one entry of a directory
 * @cookie: where the entries behind this one begin
 * @attr: all of it with @plus, else ino and the type in mode
 */
struct ddio_fs_dirent {
	uint64_t cookie;
	const char *name;
	struct ddio_fs_attr attr;
};
/*
 * Entries behind @cookie (0: from the beginning, with "." and ".."), at most @max.  @data: array of
 * struct ddio_fs_dirent; @len: how many; 0 at the end.  A cookie stays good whatever is added and
 * removed; what is there all the time comes exactly once.
 */
void ddio_fs_readdir(struct ddio_fs *fs, uint64_t ino, uint64_t cookie, uint32_t max, bool plus,
		     ddio_fs_done done, void *arg);

/*
 * Attributes.
 */
/* Gives @attr, with @alloc known. */
void ddio_fs_getattr(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg);
/**
 * ddio_fs_getattr_within() - attributes that may be a little old
 * @fs: the file system
 * @ino: the inode
 * @max_age_ns: they must be less old than this; 0: as they are now
 * @done: told when they are there
 * @arg: passed to @done
 *
 * As ddio_fs_getattr(), but attributes of a directory that came with the answer to a change in it are good
 * enough, as long as they are less than @max_age_ns old.  Gives @attr and @age_ns.  They contain every change that
 * was made by @fs and has been answered; changes by others within @age_ns may be missing.
 */
void ddio_fs_getattr_within(struct ddio_fs *fs, uint64_t ino, uint64_t max_age_ns,
			    ddio_fs_done done, void *arg);

#define DDIO_FS_SET_MODE 0x1u
#define DDIO_FS_SET_UID 0x2u
#define DDIO_FS_SET_GID 0x4u
#define DDIO_FS_SET_SIZE 0x8u
#define DDIO_FS_SET_ATIME 0x10u
#define DDIO_FS_SET_MTIME 0x20u
#define DDIO_FS_SET_ATIME_NOW 0x40u
#define DDIO_FS_SET_MTIME_NOW 0x80u
#define DDIO_FS_SET_CTIME 0x100u
/* Setuid and setgid bits go, as for a write by nobody special; of regular files only. */
#define DDIO_FS_KILL_SUID 0x200u
/* Accessed now, by reading: neither ctime nor change. */
#define DDIO_FS_SET_ATIME_READ 0x400u
/* Those of @attr that @mask names; gives @attr. */
void ddio_fs_setattr(struct ddio_fs *fs, uint64_t ino, uint32_t mask,
		     const struct ddio_fs_attr *attr, ddio_fs_done done, void *arg);

/*
 * Extended attributes.  Names begin with "user.", "trusted.", "security." or "system.posix_acl_";
 * an ACL and the mode are kept in step.  Besides, "ddio.stripe" (block size), "ddio.layout" and
 * "ddio.disks" say how a file is spread and how new files of a directory will be; they can be set for a
 * directory, and for a file that has never had data.
 */
/* @data, @len: the value.  -ENODATA. */
void ddio_fs_getxattr(struct ddio_fs *fs, uint64_t ino, const char *name, ddio_fs_done done,
		      void *arg);
/* @flags: XATTR_CREATE, XATTR_REPLACE.  @kill_sgid: with an ACL: as chmod by nobody special. */
void ddio_fs_setxattr(struct ddio_fs *fs, uint64_t ino, const char *name, const void *value,
		      size_t len, uint32_t flags, bool kill_sgid, ddio_fs_done done, void *arg);
/* @data, @len: names, each with a zero behind it. */
void ddio_fs_listxattr(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg);
void ddio_fs_removexattr(struct ddio_fs *fs, uint64_t ino, const char *name, ddio_fs_done done,
			 void *arg);

/**
 * struct ddio_fs_space - the whole cluster
 * @unit: bytes of @blocks and @free
 */
struct ddio_fs_space {
	uint64_t unit, blocks, free;
	uint64_t inodes;
};
/* @data: struct ddio_fs_space. */
void ddio_fs_space(struct ddio_fs *fs, ddio_fs_done done, void *arg);

/*
 * Regular files that are open.  While a file is open anywhere its data stay, linked or not.
 */

/* @flags: O_ACCMODE, O_TRUNC, O_APPEND of open(2).  Gives @attr as it is now and *file. */
void ddio_fs_file_open(struct ddio_fs *fs, uint64_t ino, int flags, struct ddio_fs_file **file,
		       ddio_fs_done done, void *arg);
/* Makes and opens in one; without O_EXCL what is there already is opened.  @value: 1 if it was made. */
void ddio_fs_file_create(struct ddio_fs *fs, uint64_t parent, const char *name, int flags,
			 const struct ddio_fs_new *make, struct ddio_fs_file **file,
			 ddio_fs_done done, void *arg);
/* @value: bytes, fewer only at the end of the file.  @buf stays the library's until then. */
void ddio_fs_read(struct ddio_fs_file *file, void *buf, size_t len, uint64_t offset,
		  ddio_fs_done done, void *arg);
/* @value: bytes.  Of a file opened with O_APPEND @offset does not matter: each write is put behind
 * everybody's. */
void ddio_fs_write(struct ddio_fs_file *file, const void *buf, size_t len, uint64_t offset,
		   ddio_fs_done done, void *arg);
/* What was written has been taken by the I/O processors, and others who ask see size and times. */
void ddio_fs_flush(struct ddio_fs_file *file, ddio_fs_done done, void *arg);
/* Data, attributes and name are durable.  -EIO if an I/O processor has lost what was written. */
void ddio_fs_sync(struct ddio_fs_file *file, ddio_fs_done done, void *arg);
/* Every change of names and attributes so far is durable. */
void ddio_fs_sync_names(struct ddio_fs *fs, ddio_fs_done done, void *arg);
/* @mode: FALLOC_FL_* of fallocate(2): KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE. */
void ddio_fs_allocate(struct ddio_fs_file *file, int mode, uint64_t offset, uint64_t len,
		      ddio_fs_done done, void *arg);
/* @whence: SEEK_DATA, SEEK_HOLE.  @value: where.  -ENXIO. */
void ddio_fs_seek(struct ddio_fs_file *file, uint64_t offset, int whence, ddio_fs_done done,
		  void *arg);
/* @value: bytes; the I/O processors move what lies on the same disks of both. */
void ddio_fs_copy(struct ddio_fs_file *from, uint64_t from_offset, struct ddio_fs_file *to,
		  uint64_t to_offset, size_t len, ddio_fs_done done, void *arg);
/*
 * No request on @file may be under way.  One is over as soon as its @done has been called: then @file may be
 * closed, from inside of that call or by another thread while it has not returned.  @done is the last that is
 * heard of @file.
 */
void ddio_fs_file_close(struct ddio_fs_file *file, ddio_fs_done done, void *arg);

/*
 * Locks across mounts.
 */

/**
 * struct ddio_fs_lock - a lock of fcntl(2) or flock(2)
 * @type: F_RDLCK, F_WRLCK, F_UNLCK
 * @flock: of the whole file, independent of those of fcntl(2)
 * @start, @end: bytes, @end included; UINT64_MAX: to the end of the file
 * @owner: of the caller's choice; of other mounts' owners different in any case
 * @pid: for those who ask who holds a lock
 */
struct ddio_fs_lock {
	uint32_t type;
	bool flock;
	uint64_t start, end;
	uint64_t owner;
	uint32_t pid;
};
/* @data: struct ddio_fs_lock: one that stands in the way, or with type F_UNLCK.  Its pid is 0 if it
 * is of another mount. */
void ddio_fs_lock_test(struct ddio_fs_file *file, const struct ddio_fs_lock *lock,
		       ddio_fs_done done, void *arg);
/*
 * @wait: until it can be had; *id (not NULL then) is good for ddio_fs_lock_cancel() until @done.
 * -EAGAIN, -EDEADLK, -EINTR (cancelled).
 */
void ddio_fs_lock_set(struct ddio_fs_file *file, const struct ddio_fs_lock *lock, bool wait,
		      uint64_t *id, ddio_fs_done done, void *arg);
void ddio_fs_lock_cancel(struct ddio_fs *fs, uint64_t id);
/* The locks of fcntl(2) of an owner that closes the file. */
void ddio_fs_unlock_owner(struct ddio_fs_file *file, uint64_t owner, ddio_fs_done done, void *arg);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* DDIO_FS_H */
