/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ddiofs: the cluster as a mount.
 *
 * A handler turns a request of the kernel into one of the library and returns; the library's reply, on
 * one of its progress threads, answers the kernel.  So no thread waits, and one thread takes the requests
 * of any number of programs, with helpers if there are many.  The kernel knows an inode by the name
 * server's number (1 for the mount's directory), so that nothing needs to be remembered from lookup to
 * forget.
 *
 *	main.c		the command line, signals
 *	options.c	mount options
 *	session.c	from the cluster to a mount, and back
 *	loop.c		takes requests, by a table of operations
 *	attrs.c, names.c, dirs.c, files.c, data.c, locks.c
 *			the operations
 *	negotiate.c	what libfuse does not negotiate
 *	owners.c	lock owners that a handle has
 *	drop.c		dropping the kernel's pages, which may have to wait
 *	request.c	from a request to its reply
 *	late.c		replies before the end, where somebody would wait for too long
 *	caller.c	the process that makes a request
 *	again.c		threads that were told ESTALE, and what is kept open for them
 *	known.c		which files the kernel may have names of
 *	seen.c		which state of a file the kernel's pages show
 *	marks.c		what was ever done to an inode, so that closing it may cost no request
 *	buffers.c	memory for messages and for what is read
 *
 * Each of these calls only those after it in this list.
 */
#ifndef DDIOFS_H
#define DDIOFS_H

#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdatomic.h>
#include <ddio/fs.h>
#include "options.h"

struct again_set;
struct known_set;
struct late_file;
struct request;
struct seen;
struct drops;
struct marks;
struct buffers;
struct loop;

/* So many threads are known of which a close took too long. */
enum { LATE_CLOSERS = 16 };

/**
 * struct late_closer - a thread of which a close took too long
 * @since: when the first one did; @spent: nanoseconds of all
 */
struct late_closer {
	pid_t pid;
	uint64_t since, spent;
};

/**
 * struct late_set - what is late, see late.c; under struct mount.lock
 * @all: requests under way, by their all and link
 * @files, @nfiles: files of which a request was answered that is not over, or has failed
 * @kept: bytes of pages that are answered and not written
 * @stuck: some of them, or others that wait, are old
 * @look_at: when @thread looks again; 0: it does now
 */
struct late_set {
	struct request *all;
	struct late_file *files;
	atomic_uint nfiles;
	size_t kept;
	bool stuck, runs, stop;
	struct late_closer closer[LATE_CLOSERS];
	uint64_t look_at;
	pthread_t thread;
	pthread_cond_t more;
};

/**
 * struct mount - one mount
 * @root: inode number of the mount's directory
 * @killpriv: the kernel leaves it to us to clear setuid and setgid bits
 * @special: counts changes of mode that set such bits
 * @atimes: counts times of access that programs have set
 * @under_way: requests that are not over, and releases; @idle: there are none; under @lock
 * @handles, @dirs: open files, and directories; under @lock
 */
struct mount {
	const struct mount_opts *o;
	struct ddio_fs *fs;
	struct fuse_session *se;
	uint64_t root;
	bool killpriv;
	atomic_uint special, atimes;
	struct again_set *again;
	struct known_set *known;
	struct seen *seen;
	struct drops *drops;
	struct marks *marks;
	struct buffers *buffers;
	struct loop *loop;
	struct late_set late;
	pthread_mutex_t lock;
	pthread_cond_t idle;
	uint64_t under_way;
	struct handle *handles;
	struct dir_handle *dirs;
};

/**
 * struct handle - an open file
 * @next, @link: in mount.handles: the next handle, and what points to this one
 * @uses: one for the kernel, until it releases the file, and one for each request that is not over; without any @over is called
 * @flock: the owner @flock_owner of a lock of flock(2) goes with the file
 * @flags: of open(2)
 * @direct: the kernel caches no pages
 * @special: mount.special when the file was last known to have no setuid or setgid bit; UINT_MAX: it may
 *	have one
 * @keeps_atime: reading changes the time of access, if @stale_atime or if mount.atimes is no longer @atimes
 * @owner: @nowners owners of locks of fcntl(2) that were set through this handle, see owners.c; under @lock
 */
struct handle {
	struct mount *m;
	struct handle *next, **link;
	struct ddio_fs_file *file;
	atomic_uint uses;
	void (*over)(struct handle *h);
	uint64_t flock_owner;
	bool flock;
	uint64_t ino;
	int flags;
	bool direct, keeps_atime;
	atomic_uint special, atimes;
	atomic_bool stale_atime;
	pthread_mutex_t lock;
	uint64_t *owner;
	unsigned int nowners;
};

/* Kinds of request, for late.c: changes the data of a file; has pages of the kernel's. */
enum { LATE_CHANGES = 1, LATE_PAGE = 2 };

/**
 * enum again_state - what a thread was told ESTALE for, and what it has done since
 * @AGAIN_LOOKED: a lookup in the inode; @AGAIN_LOOKED_TWICE: and one more
 * @AGAIN_ASKED: another request by the inode; @AGAIN_ASKED_LOOKED: and a lookup in it since
 */
enum again_state {
	AGAIN_NONE,
	AGAIN_LOOKED,
	AGAIN_LOOKED_TWICE,
	AGAIN_ASKED,
	AGAIN_ASKED_LOOKED,
};

/**
 * struct again_was - what came before a request by an inode, if its thread was told ESTALE
 * @state: of the same inode
 * @kept: the inode was looked up since, and is kept open until this
 */
struct again_was {
	enum again_state state;
	bool kept;
};

/**
 * struct request - a request of the kernel that is not over
 * @next: in the queue of drops, or behind those that hold the file; @dropped: what is called after the drop
 * @all, @link: in late_set.all: the next request, and what points to this one
 * @unique: the kernel's number of it; @pid: the thread that waits, 0 if it is not known; @began: when
 * @at, @kind, @go: the file that it reads or changes, LATE_*, and what is called when it may
 * @late: the file that it holds; @kept: bytes of pages that are kept for it
 * @deadline: when it is answered at the latest; 0: never
 * @answered: by late.c; @waits: behind others; @interrupted: a signal came
 * @told: its error is lost if the kernel does not get it
 * @held: open files that it uses, as does the handle @h
 * @ino: the inode's number at the name server, if there is an inode
 * @again: what the same thread has asked before
 * @names: what it is about, in @buf: a name, in directory @parent
 * @known, @new_known: names that it takes away, or moves, by known_name()
 * @h: the handle that the request is about, or makes
 * @fi: what the kernel says of a file that it opens, and what it is told
 * @file: being opened, to be kept for a thread that was told ESTALE; @tries: how often so far
 * @attr: attributes to be set
 * @buf: @len bytes, freed with the request, to the message buffers if @message
 * @name: of an extended attribute, in @buf
 * @written: bytes that were written; @sync: they must become durable
 */
struct request {
	struct request *next, *all, **link;
	void (*dropped)(struct request *r);
	uint64_t unique, began, at, deadline;
	pid_t pid;
	atomic_uint kind;
	void (*go)(struct request *r);
	struct late_file *late;
	size_t kept;
	atomic_bool answered;
	bool waits, interrupted, told;
	struct handle *held[2];
	fuse_req_t req;
	struct mount *m;
	struct again_was again;
	uint64_t ino, parent, known, new_known;
	struct handle *h;
	struct ddio_fs_file *file;
	unsigned int tries;
	struct fuse_file_info fi;
	struct ddio_fs_attr attr;
	void *buf;
	const void *data;
	const char *name;
	size_t len, written;
	off_t off;
	bool message, plus, sync, names;
	int err, whence;
	uint64_t owner, xattr_changes;
	uint32_t mask;
};

extern const struct fuse_lowlevel_ops mount_ops;

/* Returns nanoseconds of the monotonic clock. */
static inline uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static inline struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

/* Returns nanoseconds of a time for which the kernel caches something; if it does not, that must be current. */
static inline uint64_t cached_ns(double s)
{
	return s < 1e9 ? (uint64_t)(s * 1e9) : UINT64_MAX;
}

/* request.c */
struct mount *mount_of(fuse_req_t req);
/* Returns NULL if there is no memory; the kernel has been told so then. */
struct request *request_new(fuse_req_t req, fuse_ino_t ino);
/* The same for a request that the kernel makes while it goes along a path. */
struct request *request_walk(fuse_req_t req, fuse_ino_t ino);
void request_free(struct request *r);
/*
 * Replies to the kernel and frees the request; @err is 0 or -errno.  A thread is told -ESTALE only once of an inode that
 * is gone: if it has not come to it by a name, it is told -ENOENT then.
 */
void request_end(struct request *r, int err);
/* The same for an open.  Returns true if the thread was told ESTALE for it already, or if the directory was removed here. */
void request_end_open(struct request *r, int err);
bool request_opens_again(const struct request *r);
/* Returns true if the kernel may have come to the inode by a name that is another inode's now. */
bool request_named(const struct request *r);
/* Copies a name that is needed beyond the handler, and its directory: 0 or -ENOMEM. */
int request_keep_name(struct request *r, uint64_t parent, const char *name);
/* The kernel is given an entry of directory @parent. */
void name_given(struct mount *m, uint64_t parent, const char *name,
		const struct ddio_fs_attr *attr);
/* The library's reply to requests that give nothing, attributes, an entry. */
void request_done(void *arg, const struct ddio_fs_reply *reply);
void request_done_attr(void *arg, const struct ddio_fs_reply *reply);
void request_done_entry(void *arg, const struct ddio_fs_reply *reply);
/* Keeps an open file until the request is over; the second one of a copy is only kept, the first is its handle. */
void request_hold(struct request *r, struct handle *h);
void handle_put(struct handle *h);
/* Something is under way, or over, that requests_drain() waits for. */
void mount_hold(struct mount *m);
void mount_put(struct mount *m);
/* Waits until every request is over, or @ms have passed. */
void requests_drain(struct mount *m, unsigned int ms);

uint64_t ino_of(const struct mount *m, fuse_ino_t ino);
fuse_ino_t nodeid_of(const struct mount *m, uint64_t ino);
void entry_fill(const struct mount *m, const struct ddio_fs_attr *attr, struct fuse_entry_param *e);
/* Checks a name for what the name server cannot store: 0 or an errno. */
int name_check(const char *name);

/* Operations, by file. */
void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n);
void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets);
void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev);
void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name);
void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name);
void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name);
void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name);
void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
	       const char *new_name, unsigned int flags);
void op_readlink(fuse_req_t req, fuse_ino_t ino);

void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi);
void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);

void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int to_set,
		struct fuse_file_info *fi);
void op_statfs(fuse_req_t req, fuse_ino_t ino);
void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void op_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
		 int flags);
void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);
void op_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name);

void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
	       struct fuse_file_info *fi);
void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);

void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void op_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
	      struct fuse_file_info *fi);
void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t len,
		  struct fuse_file_info *fi);
void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence, struct fuse_file_info *fi);
void op_copy(fuse_req_t req, fuse_ino_t ino_in, off_t off_in, struct fuse_file_info *fi_in,
	     fuse_ino_t ino_out, off_t off_out, struct fuse_file_info *fi_out, size_t len,
	     int flags);

void op_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock);
void op_setlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock,
	      int sleep);
void op_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int op);

/* files.c: frees handles that no one will close, since the mount has ended. */
void handles_free(struct mount *m);
/* The same of directories. */
void dirs_free(struct mount *m);

/* late.c */
/* Begins to look at requests: 0 or -errno. */
int late_begin(struct mount *m);
void late_end(struct mount *m);
/* One look, as of clock_ns(). */
void late_look(struct mount *m);
/* A request is under way, or over; with the mount's lock.  late_remove() returns requests for late_ready(), without the lock. */
void late_add(struct request *r);
struct request *late_remove(struct request *r);
void late_ready(struct request *ready);
/* Calls @go when the request may look at or change the file: nothing that was answered changes it any more.  @kind: LATE_* */
void late_start(struct request *r, uint64_t ino, unsigned int kind, void (*go)(struct request *r));
/* Returns true if something that was answered changes the file. */
bool late_is_busy(struct mount *m, uint64_t ino);
/* The request is a close, which may not take long. */
void late_close_begins(struct request *r);
/* Notes an error that the kernel was not told. */
void late_failed(struct mount *m, uint64_t ino, int err);
/* Returns it, once. */
int late_error(struct mount *m, uint64_t ino);
/* A signal has come to the thread that waits for this request. */
void late_interrupted(struct mount *m, uint64_t unique);

/* owners.c */
int owners_add(struct handle *h, uint64_t owner);
void owners_remove(struct handle *h, uint64_t owner);
/* Removes one of the owners that are left; returns false if there is none. */
bool owners_take(struct handle *h, uint64_t *owner);

/* again.c; @pid: of the request, 0 if it is not known */
struct again_set *again_new(void);
/* Closes what is kept; due before the file system ends. */
void again_end(struct again_set *a);
void again_free(struct again_set *a);
/* A lookup in the inode; another request by it; an open, also of a name in it, which a thread may be told ESTALE only once. */
enum again_by { AGAIN_LOOKUP, AGAIN_REQUEST, AGAIN_OPEN };
/* Notes that the thread is about to be told ESTALE because of inode @ino. */
void again_mark(struct again_set *a, pid_t pid, uint64_t ino, enum again_by by);
/* The thread makes a request by the inode that is no part of going along a path.  Return: what there was before it. */
struct again_was again_over(struct again_set *a, pid_t pid, uint64_t ino);
/* The thread looks a name up in a directory. */
void again_looks(struct again_set *a, pid_t pid, uint64_t parent);
/* It has heard that there is none. */
void again_lacks(struct again_set *a, pid_t pid);
/* Returns true if it has done so before, or made a request, and was told that the directory is gone. */
bool again_looked(struct again_set *a, pid_t pid, uint64_t parent);
/* Returns true if the thread was told ESTALE lately. */
bool again_is(struct again_set *a, pid_t pid);
/* The same; for an open. */
bool again_is_opening(struct again_set *a, pid_t pid);
/* Keeps the file open for the thread, if it was told ESTALE; closes it if not, and what was kept before. */
void again_keep(struct again_set *a, pid_t pid, struct ddio_fs_file *file, uint64_t ino);
/* The thread has what it wanted. */
void again_done(struct again_set *a, pid_t pid);

/* known.c; @now: of the monotonic clock, as clock_ns() has it */
struct known_set *known_new(void);
void known_free(struct known_set *k);
/* Returns what stands for a name in a directory; never 0. */
uint64_t known_name(uint64_t parent, const char *name);
/* The kernel is given a name of the inode, which it keeps for @lasts nanoseconds. */
void known_given(struct known_set *k, uint64_t name, uint64_t ino, uint64_t now, uint64_t lasts);
/* The kernel has the name no more, or hears that another inode has it. */
void known_lost(struct known_set *k, uint64_t name);
/* The kernel has renamed. */
void known_moved(struct known_set *k, uint64_t from, uint64_t to, bool exchange);
/* Returns true if the kernel was given names of the inode, and has none of them any more. */
bool known_nameless(struct known_set *k, uint64_t ino);
/* Returns true if the kernel may make a request by a name of the inode. */
bool known_may(struct known_set *k, uint64_t ino, uint64_t now);
/* The kernel is given an entry that is a directory. */
void known_dir(struct known_set *k, uint64_t parent, const char *name, uint64_t ino);
/*
 * Writes the names that lead from directory @top to @ino as the kernel was given them, and then @last, each ended by a
 * zero, at @path.  Returns their length, or 0 if they are not known, or take more than @len bytes.
 */
size_t known_path(struct known_set *k, uint64_t top, uint64_t ino, const char *last, char *path,
		  size_t len);

/* caller.c */
/* Returns true if the process that makes the request is in the group. */
bool caller_in_group(const struct request *r, gid_t gid);

/* seen.c */
struct seen *seen_new(void);
void seen_free(struct seen *seen);
/* Notes that the kernel is given these attributes; @cached: it may keep them for a while. */
void seen_attr(struct seen *seen, const struct ddio_fs_attr *attr, bool cached);
/**
 * seen_open - note that a file is opened
 * @seen: the table
 * @ino: the file
 * @change: its change count
 * @attr_stale: set to whether the kernel may have attributes with another change count
 * Return: true if the kernel's pages, should it have any, show this state of the file
 */
bool seen_open(struct seen *seen, uint64_t ino, uint64_t change, bool *attr_stale);
/* Notes that a program has written up to @end, so that the kernel believes the file to be as long at least. */
void seen_grew(struct seen *seen, uint64_t ino, uint64_t end);
/* Returns true if the kernel takes the file to have this size. */
bool seen_size_is(struct seen *seen, uint64_t ino, uint64_t size);
/* Returns how often this mount has changed extended attributes: to be asked for before a listing is. */
uint64_t seen_xattr_changes(struct seen *seen);
/* Notes that this mount begins, or has ended, to change extended attributes. */
void seen_xattr_changed(struct seen *seen, uint64_t ino);
/*
 * Notes that an inode has no extended attributes, if this mount has not changed any since @changes was returned.
 * @until: how long it may be told, in nanoseconds of the monotonic clock
 */
void seen_bare(struct seen *seen, const struct ddio_fs_attr *attr, uint64_t changes,
	       uint64_t until);
/* Returns true if the inode has no extended attributes; false also if that is not known. */
bool seen_is_bare(struct seen *seen, uint64_t ino, uint64_t now);
/* Returns the bit of an attribute that the kernel asks for by itself, 0 of all others. */
uint32_t seen_lack_of(const char *name);
/* Notes that an inode lacks an attribute, if this mount has not changed any since @changes was returned. */
void seen_lacks(struct seen *seen, uint64_t ino, uint32_t lack, uint64_t changes, uint64_t now);
/*
 * Returns true if the inode lacks the attribute; false also if that is not known, was noted @max_age nanoseconds ago, or
 * before the kernel was given the file's present change count.
 */
bool seen_is_lacking(struct seen *seen, uint64_t ino, uint32_t lack, uint64_t now,
		     uint64_t max_age);
/* Notes that this mount removed a directory. */
void seen_gone(struct seen *seen, uint64_t ino);
/* Returns true if this mount removed the directory; false also if that was forgotten. */
bool seen_is_gone(struct seen *seen, uint64_t ino);

/* marks.c */
enum { MARK_WRITTEN = 1, MARK_LOCKED = 2 };
struct marks *marks_new(void);
void marks_free(struct marks *marks);
/* Due before the request that the mark stands for. */
void marks_set(struct marks *marks, uint64_t ino, unsigned char mark);
/* Returns true if one of the marks was set, and sometimes if none was. */
bool marks_has(struct marks *marks, uint64_t ino, unsigned char mark);

/* drop.c */
struct drops *drops_new(struct fuse_session *se);
void drops_free(struct drops *drops);
/* Has the kernel write back and drop the inode's pages, and drop its attributes; then calls @then. */
void pages_drop(struct drops *drops, struct request *r, void (*then)(struct request *r));
/* What the kernel keeps of the data of an inode may be old; ddio_fs_opts.data_doubted. */
void pages_doubted(void *mount, uint64_t ino);

/* loop.c */
/* Due before loop_start(): 0 or -errno. */
int loop_prepare(struct mount *m);
/* Begins to take requests; @end becomes readable when the mount is gone.  Returns 0 or -errno. */
int loop_start(struct mount *m, unsigned int helpers, int end);
/* Stops taking requests. */
void loop_end(struct mount *m);

/* negotiate.c */
void loop_init(void *userdata, struct fuse_conn_info *conn);
/* Returns true if the message being handled asks to clear setuid and setgid bits, which libfuse does not pass on. */
bool message_kills(void);
/* Returns the kernel's number of the message being handled, which is @req. */
uint64_t message_unique(fuse_req_t req);
/* Answers a request of which libfuse has yet to answer; @written: of a write without an error. */
void reply_early(const struct mount *m, uint64_t unique, int err, uint32_t written);
/* Has the kernel look all names of a struct mount up again, and with them attributes. */
void names_forget(void *mount);
/* Replies to an open, or with @e to a create, of a file whose direct writes may run in parallel. */
int reply_open_parallel(fuse_req_t req, const struct fuse_entry_param *e,
			const struct fuse_file_info *fi);

/* buffers.c */
struct buffers *buffers_new(void);
void buffers_free(struct buffers *buffers);
/* Frees buffers that nobody needed since the last call.  Return: whether there were any. */
bool buffers_trim(struct buffers *buffers);
/* Takes the message that is being handled; the caller gives it back with message_free(). */
void *message_take(void);
void message_free(struct mount *m, void *mem);
/* Returns a buffer for what is read; NULL: no memory. */
void *buffer_get(struct mount *m, size_t len);
void buffer_put(struct mount *m, void *buf, size_t len);

#endif /* DDIOFS_H */
