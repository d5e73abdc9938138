/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cluster as a file system, for programs that serve one to others: a mount, a gateway.
 * Inodes instead of names, requests that do not wait, any number of them under way.
 *
 * Threads: any thread may make any call at any time.  A request ends in exactly one call of its
 * ddio_fs_done, on a progress thread of the library, which must not be held up: nothing called from
 * there may wait.  That call never comes from inside the one that made the request, unless there is
 * no memory for it (-ENOMEM).
 *
 * Errors: requests report them in struct ddio_fs_reply, with the meaning that the system call of the
 * same purpose gives them; -EIO also if an I/O processor does not answer within the timeout, -ESTALE if
 * an inode is gone that was open, -ESHUTDOWN while the file system is being closed.
 *
 * The number of an inode is never given out twice.  The root is DDIO_FS_ROOT.
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

/*
 * In the flags of a request: -ESTALE, and nothing is done, if the inode has no name any more, though it may be open.  For
 * whoever has come to it by a name that was looked up a while ago, and which another inode may have now.
 */
#define DDIO_FS_NAMED 0x40000000

struct ddio_fs;
struct ddio_fs_file;

/**
 * struct ddio_fs_opts - how to serve a file system
 * @struct_size: sizeof(struct ddio_fs_opts)
 * @flags: DDIO_FS_HARD, DDIO_FS_PROMPT
 * @timeout_ms: milliseconds without any progress after which a request fails (with DDIO_FS_HARD: is
 *	repeated until it succeeds); 0: the configuration's
 * @conf: as in struct ddio_connect_opts
 * @threads: progress threads, over which file data are spread; 0: chosen by the library
 * @reserved: must be 0
 * @log: called by any thread with a line for the operator and its syslog(3) level; may be NULL
 * @log_arg: for @log
 * @names_lost: called by any thread when the name server may have lost names, sizes or
 *	attributes that this file system has changed: what was cached of them is to be forgotten; may be NULL
 * @data_doubted: called by any thread when others may have changed data of the inode though this file system had locked
 *	them: what was cached of them is to be forgotten; may be NULL
 * @names_lost_arg: for @names_lost and @data_doubted
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
	void (*names_lost)(void *arg);
	void *names_lost_arg;
	void (*data_doubted)(void *arg, uint64_t ino);
};
#define DDIO_FS_HARD 0x1u /* wait for an I/O processor that does not answer, however long */
/* tell the name server of every write before it is answered, also of one inside the file's end */
#define DDIO_FS_PROMPT 0x2u

/**
 * ddio_fs_open - opens a cluster as a file system; blocks
 * @opts: how
 * @fs: receives the file system, which ddio_fs_close() closes
 * @err: receives one line about a failure
 * @err_len: bytes at @err
 *
 * Return: 0 or a negative errno.
 */
int ddio_fs_open(const struct ddio_fs_opts *opts, struct ddio_fs **fs, char *err, size_t err_len);

/**
 * ddio_fs_close - closes a file system; blocks
 * @fs: the file system
 *
 * Ends all requests that are under way with -ESHUTDOWN, and all files, and returns when nothing is
 * left.  Must not be called on a progress thread.
 */
void ddio_fs_close(struct ddio_fs *fs);

/**
 * ddio_fs_serve - takes others' requests on a progress thread
 * @fs: the file system
 * @fd: where they come from, a FUSE device or a socket; stays the caller's, and open until
 *	ddio_fs_serve_end()
 * @fn: called on the thread that talks to the name server whenever @fd is readable or in error: takes
 *	what is there without waiting, makes requests of it, and returns; false: do not call again
 * @arg: for @fn
 *
 * Saves the wake-up of a thread between a request and what is asked of the cluster for it, which is
 * most of the time that a request about a name takes.  One descriptor at a time.  Must not be called
 * on a progress thread.
 *
 * Return: 0; -EBUSY: a descriptor is being served; or another negative errno.
 */
int ddio_fs_serve(struct ddio_fs *fs, int fd, bool (*fn)(void *arg), void *arg);

/**
 * ddio_fs_serve_end - ends ddio_fs_serve()
 * @fs: the file system
 *
 * Returns when its function has returned for the last time.  Must not be called on a progress thread.
 */
void ddio_fs_serve_end(struct ddio_fs *fs);

/**
 * struct ddio_fs_attr - the attributes of an inode
 * @ino: its number
 * @size: bytes
 * @alloc: bytes that it occupies on disks; DDIO_FS_ALLOC_UNKNOWN if not counted since the last change
 * @change: differs whenever the inode's data or attributes may have changed
 * @rdev: of a device
 * @atime: time of the last access
 * @mtime: time of the last change of data
 * @ctime: time of the last change of attributes
 * @btime: time of its creation
 * @mode: type and permissions
 * @nlink: names
 * @uid: owner
 * @gid: owning group
 * @block: bytes of a file block; 0 unless it is a regular file
 * @ndisks: disks of its stripe
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
 * struct ddio_fs_reply - how a request ended; valid only during the call of ddio_fs_done
 * @err: 0 or a negative errno
 * @attr: attributes of what was looked up, made or changed, where the request gives them
 * @data: bytes or records, where the request gives them
 * @len: bytes or records at @data
 * @value: a number, where the request gives one
 * @text: one line about an error
 * @age_ns: nanoseconds since @attr came; not 0 only after ddio_fs_getattr_within() and
 *	ddio_fs_lookup_within()
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

/**
 * typedef ddio_fs_done - hears how a request ended
 * @arg: as given with the request
 * @reply: the result, valid during the call
 */
typedef void (*ddio_fs_done)(void *arg, const struct ddio_fs_reply *reply);

/*
 * Names.
 */

/**
 * ddio_fs_lookup - finds a name in a directory
 * @fs: the file system
 * @parent: the directory's inode
 * @name: 1 to DDIO_FS_NAME_MAX bytes without a slash
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @attr; -ENOENT.
 */
void ddio_fs_lookup(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		    void *arg);

/**
 * ddio_fs_lookup_within - finds a name that may be slightly out of date
 * @fs: the file system
 * @parent: the directory's inode
 * @name: 1 to DDIO_FS_NAME_MAX bytes without a slash
 * @max_age_ns: nanoseconds below which the answer's age must be; 0: as it is now
 * @done: called with the reply
 * @arg: for @done
 *
 * As ddio_fs_lookup(), but where several names of a directory are looked up one after another, the directory is listed,
 * and what the listing said will do while it is younger than @max_age_ns, and than a second.  Gives @attr and @age_ns;
 * -ENOENT is never old.  They contain every change made through @fs that has been answered; others' changes
 * within @age_ns may be missing.
 */
void ddio_fs_lookup_within(struct ddio_fs *fs, uint64_t parent, const char *name,
			   uint64_t max_age_ns, ddio_fs_done done, void *arg);

/**
 * struct ddio_fs_new - an inode to be made
 * @mode: type and permissions
 * @umask: permissions taken away, unless the parent has a default ACL, which then decides
 * @uid: owner
 * @gid: owning group
 * @rdev: of a device
 * @target: of a symbolic link, at most DDIO_FS_TARGET_MAX bytes
 */
struct ddio_fs_new {
	uint32_t mode;
	uint32_t umask;
	uint32_t uid, gid;
	uint64_t rdev;
	const char *target;
};

/**
 * ddio_fs_make - makes an inode of any type and its first name
 * @fs: the file system
 * @parent: the directory's inode
 * @name: 1 to DDIO_FS_NAME_MAX bytes without a slash
 * @make: what to make
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @attr; -EEXIST.
 */
void ddio_fs_make(struct ddio_fs *fs, uint64_t parent, const char *name,
		  const struct ddio_fs_new *make, ddio_fs_done done, void *arg);

/**
 * ddio_fs_link - gives an inode another name
 * @fs: the file system
 * @ino: number of the inode
 * @parent: the directory's inode
 * @name: 1 to DDIO_FS_NAME_MAX bytes without a slash
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @attr.
 */
void ddio_fs_link(struct ddio_fs *fs, uint64_t ino, uint64_t parent, const char *name,
		  ddio_fs_done done, void *arg);

/**
 * ddio_fs_unlink - removes a name that is not a directory's
 * @fs: the file system
 * @parent: the directory's inode
 * @name: 1 to DDIO_FS_NAME_MAX bytes without a slash
 * @done: called with the reply
 * @arg: for @done
 *
 * The inode goes with its last name, or when it is no longer open.
 */
void ddio_fs_unlink(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		    void *arg);

/**
 * ddio_fs_rmdir - removes an empty directory
 * @fs: the file system
 * @parent: the directory's inode
 * @name: 1 to DDIO_FS_NAME_MAX bytes without a slash
 * @done: called with the reply
 * @arg: for @done
 */
void ddio_fs_rmdir(struct ddio_fs *fs, uint64_t parent, const char *name, ddio_fs_done done,
		   void *arg);

/**
 * ddio_fs_rename - renames
 * @fs: the file system
 * @parent: the directory's inode
 * @name: 1 to DDIO_FS_NAME_MAX bytes without a slash
 * @new_parent: the inode of the directory of the new name
 * @new_name: the new name
 * @flags: RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_WHITEOUT of renameat2(2)
 * @done: called with the reply
 * @arg: for @done
 */
void ddio_fs_rename(struct ddio_fs *fs, uint64_t parent, const char *name, uint64_t new_parent,
		    const char *new_name, uint32_t flags, ddio_fs_done done, void *arg);

/**
 * ddio_fs_readlink - reads a symbolic link
 * @fs: the file system
 * @ino: number of the inode
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @data, @len: the target; a zero byte that @len does not count follows it.
 */
void ddio_fs_readlink(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg);

/**
 * struct ddio_fs_dirent - an entry of a directory
 * @cookie: stands for the position behind this entry
 * @name: zero-terminated
 * @attr: complete if ddio_fs_readdir() was asked for @plus, else only ino and the type in mode
 * @bare: the inode has no extended attributes, ACLs included; false also if that is not known; with @plus only
 */
struct ddio_fs_dirent {
	uint64_t cookie;
	const char *name;
	struct ddio_fs_attr attr;
	bool bare;
};

/**
 * ddio_fs_readdir - lists a directory
 * @fs: the file system
 * @ino: the directory's inode
 * @cookie: 0: from the beginning, with "." and ".."; else that of the last entry seen
 * @max: entries at most; 0: only ".", with the cookie of the entry that was made last
 * @plus: complete attributes
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @data, an array of @len struct ddio_fs_dirent, and @value: 1 if there are more after them; @len is 0 at
 * the end.  An entry that was made later has a greater cookie, except that one renamed in its directory keeps its
 * own: a listing that stops at the cookie that was the last when it began ends, whatever is made meanwhile.  A cookie stays valid
 * whatever is added and removed; an entry that exists throughout comes exactly once.
 */
void ddio_fs_readdir(struct ddio_fs *fs, uint64_t ino, uint64_t cookie, uint32_t max, bool plus,
		     ddio_fs_done done, void *arg);

/*
 * Attributes.
 */

/**
 * ddio_fs_getattr - reads an inode's attributes as they are now
 * @fs: the file system
 * @ino: number of the inode
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @attr, with its alloc counted.
 */
void ddio_fs_getattr(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg);

/**
 * ddio_fs_getattr_within - reads attributes that may be slightly out of date
 * @fs: the file system
 * @ino: number of the inode
 * @max_age_ns: nanoseconds below which their age must be; 0: as they are now
 * @done: called with the reply
 * @arg: for @done
 *
 * As ddio_fs_getattr(), but attributes of a directory that came with the reply to a change in it will
 * do while they are younger than @max_age_ns.  Gives @attr and @age_ns.  They contain every change
 * made through @fs that has been answered; others' changes within @age_ns may be missing.
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
/* Clears the setuid and setgid bits of a regular file, as an unprivileged write does. */
#define DDIO_FS_KILL_SUID 0x200u
/* A read happened now: changes neither ctime nor change. */
#define DDIO_FS_SET_ATIME_READ 0x400u
#define DDIO_FS_SET_NAMED 0x800u /* as DDIO_FS_NAMED */

/**
 * ddio_fs_setattr - changes attributes
 * @fs: the file system
 * @ino: number of the inode
 * @mask: DDIO_FS_SET_*, DDIO_FS_KILL_SUID: what to change
 * @attr: the new values of what @mask names
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @attr.
 */
void ddio_fs_setattr(struct ddio_fs *fs, uint64_t ino, uint32_t mask,
		     const struct ddio_fs_attr *attr, ddio_fs_done done, void *arg);

/*
 * Extended attributes.  Names begin with "user.", "trusted.", "security." or "system.posix_acl_";
 * an ACL and the mode are kept in step.  In addition "ddio.stripe" (bytes of a block), "ddio.layout" and
 * "ddio.disks" tell how a file is spread, and how new files of a directory will be; they can be set on a
 * directory, and on a file that has never had data.
 */

/**
 * ddio_fs_getxattr - reads an extended attribute
 * @fs: the file system
 * @ino: number of the inode
 * @name: of the attribute
 * @flags: 0 or DDIO_FS_NAMED
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @data, @len: the value; -ENODATA.
 */
void ddio_fs_getxattr(struct ddio_fs *fs, uint64_t ino, const char *name, uint32_t flags,
		      ddio_fs_done done, void *arg);

/**
 * ddio_fs_setxattr - sets an extended attribute
 * @fs: the file system
 * @ino: number of the inode
 * @name: of the attribute
 * @value: its new value
 * @len: bytes at @value, at most DDIO_FS_XATTR_MAX
 * @flags: XATTR_CREATE, XATTR_REPLACE; DDIO_FS_NAMED
 * @kill_sgid: an ACL clears the setgid bit, as an unprivileged chmod does
 * @done: called with the reply
 * @arg: for @done
 */
void ddio_fs_setxattr(struct ddio_fs *fs, uint64_t ino, const char *name, const void *value,
		      size_t len, uint32_t flags, bool kill_sgid, ddio_fs_done done, void *arg);

/**
 * ddio_fs_listxattr - lists the names of extended attributes
 * @fs: the file system
 * @ino: number of the inode
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @data, @len: the names, each followed by a zero byte.
 */
void ddio_fs_listxattr(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg);

/**
 * ddio_fs_removexattr - removes an extended attribute
 * @fs: the file system
 * @ino: number of the inode
 * @name: of the attribute
 * @flags: 0 or DDIO_FS_NAMED
 * @done: called with the reply
 * @arg: for @done
 *
 * -ENODATA.
 */
void ddio_fs_removexattr(struct ddio_fs *fs, uint64_t ino, const char *name, uint32_t flags,
			 ddio_fs_done done, void *arg);

/**
 * struct ddio_fs_space - space of the whole cluster
 * @unit: bytes that @blocks and @free count in
 * @blocks: in all
 * @free: of these
 * @inodes: in use
 */
struct ddio_fs_space {
	uint64_t unit, blocks, free;
	uint64_t inodes;
};

/**
 * ddio_fs_space - asks how much space there is
 * @fs: the file system
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @data: a struct ddio_fs_space.
 */
void ddio_fs_space(struct ddio_fs *fs, ddio_fs_done done, void *arg);

/*
 * Regular files that are open.  While a file is open anywhere its data stay, linked or not.
 */

/**
 * ddio_fs_file_open - opens a regular file
 * @fs: the file system
 * @ino: number of the inode
 * @flags: O_ACCMODE, O_TRUNC, O_APPEND of open(2); DDIO_FS_NAMED
 * @file: receives the file before @done is called; ddio_fs_file_close() closes it
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @attr as it is now.
 */
void ddio_fs_file_open(struct ddio_fs *fs, uint64_t ino, int flags, struct ddio_fs_file **file,
		       ddio_fs_done done, void *arg);

/**
 * ddio_fs_file_create - makes a regular file and opens it, in one step
 * @fs: the file system
 * @parent: the directory's inode
 * @name: 1 to DDIO_FS_NAME_MAX bytes without a slash
 * @flags: as for ddio_fs_file_open(), and O_EXCL: fail with -EEXIST if the file exists; without it an
 *	existing file is opened
 * @make: the file to make
 * @file: receives the file before @done is called; ddio_fs_file_close() closes it
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @attr, and @value: 1 if the file was made, else 0.
 */
void ddio_fs_file_create(struct ddio_fs *fs, uint64_t parent, const char *name, int flags,
			 const struct ddio_fs_new *make, struct ddio_fs_file **file,
			 ddio_fs_done done, void *arg);

/**
 * ddio_fs_read - reads from a file
 * @file: the open file
 * @buf: where to; the library's until @done is called
 * @len: bytes
 * @offset: first byte of the file
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @value: bytes read, fewer than @len only at the end of the file.
 */
void ddio_fs_read(struct ddio_fs_file *file, void *buf, size_t len, uint64_t offset,
		  ddio_fs_done done, void *arg);

/**
 * ddio_fs_read_near - reads what a node on this machine has in its memory
 * @file: the open file
 * @buf: where to; its contents are undefined if nothing is read
 * @len: bytes
 * @offset: first byte of the file
 *
 * Asks nobody and waits for nothing.  With the configuration's "share = no" nothing is read in this way.
 *
 * Return: @len, or 0: ddio_fs_read() has to be used.
 */
size_t ddio_fs_read_near(struct ddio_fs_file *file, void *buf, size_t len, uint64_t offset);

/**
 * ddio_fs_write - writes to a file
 * @file: the open file
 * @buf: where from; the library's until @done is called
 * @len: bytes
 * @offset: first byte of the file; of no account with O_APPEND, where each write goes behind
 *	everybody's last
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @value: bytes written.
 */
void ddio_fs_write(struct ddio_fs_file *file, const void *buf, size_t len, uint64_t offset,
		   ddio_fs_done done, void *arg);

/**
 * ddio_fs_flush - hands everything written to the I/O processors
 * @file: the open file
 * @done: called with the reply
 * @arg: for @done
 *
 * Afterwards other clients see data, size and times.
 */
void ddio_fs_flush(struct ddio_fs_file *file, ddio_fs_done done, void *arg);

/**
 * ddio_fs_sync - makes a file's data, attributes and name durable
 * @file: the open file
 * @done: called with the reply
 * @arg: for @done
 *
 * -EIO, once, if an I/O processor has lost what was written, or the name server changes of the file.
 */
void ddio_fs_sync(struct ddio_fs_file *file, ddio_fs_done done, void *arg);

/**
 * ddio_fs_sync_names - makes all changes of names and attributes so far durable
 * @fs: the file system
 * @done: called with the reply
 * @arg: for @done
 *
 * -EIO, once, if the name server has lost any of them.
 */
void ddio_fs_sync_names(struct ddio_fs *fs, ddio_fs_done done, void *arg);

/**
 * ddio_fs_sync_dir - makes a directory's entries and attributes durable
 * @fs: the file system
 * @ino: the directory
 * @done: called with the reply
 * @arg: for @done
 *
 * -EIO if the name server has lost changes of this directory and nobody has been told.
 */
void ddio_fs_sync_dir(struct ddio_fs *fs, uint64_t ino, ddio_fs_done done, void *arg);

/**
 * ddio_fs_dir_seen - what an opening of a directory begins with, for ddio_fs_sync_opened()
 * @fs: the file system
 *
 * Return: a number
 */
uint64_t ddio_fs_dir_seen(const struct ddio_fs *fs);

/**
 * ddio_fs_sync_opened - like ddio_fs_sync_dir(), for one of several openings of a directory
 * @fs: the file system
 * @ino: the directory
 * @seen: what ddio_fs_dir_seen() returned when it was opened; the caller's, there until @done, and changed
 * @done: called with the reply
 * @arg: for @done
 *
 * -EIO, once for each opening that is older than a loss, and for the first one that asks afterwards.
 */
void ddio_fs_sync_opened(struct ddio_fs *fs, uint64_t ino, uint64_t *seen, ddio_fs_done done,
			 void *arg);

/**
 * ddio_fs_allocate - allocates or frees a range of a file
 * @file: the open file
 * @mode: FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE, FALLOC_FL_ZERO_RANGE of fallocate(2)
 * @offset: first byte
 * @len: bytes
 * @done: called with the reply
 * @arg: for @done
 */
void ddio_fs_allocate(struct ddio_fs_file *file, int mode, uint64_t offset, uint64_t len,
		      ddio_fs_done done, void *arg);

/**
 * ddio_fs_seek - finds data or a hole
 * @file: the open file
 * @offset: where to begin
 * @whence: SEEK_DATA or SEEK_HOLE
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @value: the offset found; -ENXIO.
 */
void ddio_fs_seek(struct ddio_fs_file *file, uint64_t offset, int whence, ddio_fs_done done,
		  void *arg);

/**
 * ddio_fs_copy - copies bytes from file to file
 * @from: the source
 * @from_offset: first byte of the source
 * @to: the target
 * @to_offset: first byte of the target
 * @len: bytes
 * @done: called with the reply
 * @arg: for @done
 *
 * Each I/O processor copies by itself what lies on the same disk of both files.  Gives @value: bytes
 * copied, which may be fewer than @len.
 */
void ddio_fs_copy(struct ddio_fs_file *from, uint64_t from_offset, struct ddio_fs_file *to,
		  uint64_t to_offset, size_t len, ddio_fs_done done, void *arg);

/**
 * ddio_fs_file_close - closes a file
 * @file: the file, on which no request may be under way
 * @done: called with the reply
 * @arg: for @done
 *
 * A request is over as soon as its @done has been called: then @file may be closed, from inside that
 * call, or by another thread before that call returns.
 */
void ddio_fs_file_close(struct ddio_fs_file *file, ddio_fs_done done, void *arg);

/*
 * Locks across mounts.
 */

/**
 * struct ddio_fs_lock - a lock of fcntl(2) or flock(2)
 * @type: F_RDLCK, F_WRLCK, F_UNLCK
 * @flock: a lock of flock(2): of the whole file, independent of those of fcntl(2)
 * @start: first byte
 * @end: last byte; UINT64_MAX: to the end of the file
 * @owner: any number; owners of different mounts are different whatever their numbers
 * @pid: reported to whoever asks which process holds the lock
 */
struct ddio_fs_lock {
	uint32_t type;
	bool flock;
	uint64_t start, end;
	uint64_t owner;
	uint32_t pid;
};

/**
 * ddio_fs_lock_test - asks whether a lock is free
 * @file: the open file
 * @lock: the lock
 * @done: called with the reply
 * @arg: for @done
 *
 * Gives @data: a struct ddio_fs_lock, one that conflicts (its pid is 0 if it belongs to another mount),
 * or one of type F_UNLCK if none does.
 */
void ddio_fs_lock_test(struct ddio_fs_file *file, const struct ddio_fs_lock *lock,
		       ddio_fs_done done, void *arg);

/**
 * ddio_fs_lock_set - takes or releases a lock
 * @file: the open file
 * @lock: the lock
 * @wait: wait until it is free
 * @id: receives a number for ddio_fs_lock_cancel(), valid until @done is called; may be NULL unless
 *	@wait
 * @done: called with the reply
 * @arg: for @done
 *
 * -EAGAIN: it is held by another owner; -EDEADLK: waiting would never end; -EINTR: cancelled.
 */
void ddio_fs_lock_set(struct ddio_fs_file *file, const struct ddio_fs_lock *lock, bool wait,
		      uint64_t *id, ddio_fs_done done, void *arg);

/**
 * ddio_fs_lock_cancel - stops waiting for a lock
 * @fs: the file system
 * @id: from ddio_fs_lock_set(); of no effect if that has ended
 */
void ddio_fs_lock_cancel(struct ddio_fs *fs, uint64_t id);

/**
 * ddio_fs_unlock_owner - releases the fcntl(2) locks of an owner that closes the file
 * @file: the open file
 * @owner: the owner
 * @done: called with the reply
 * @arg: for @done
 */
void ddio_fs_unlock_owner(struct ddio_fs_file *file, uint64_t owner, ddio_fs_done done, void *arg);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* DDIO_FS_H */
