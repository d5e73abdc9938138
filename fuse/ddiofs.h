/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ddiofs: the cluster as a mount.
 *
 * A handler turns a request of the kernel into one of the library and returns; the library's
 * answer, on one of its progress threads, answers the kernel.  So no thread waits, and one of them takes
 * requests for any number of programs, with helpers if there is much to take.  The kernel's number of an
 * inode is the name space's (that of the mount's directory is 1), so that nothing is remembered from lookup
 * to forget.
 *
 *	loop.c	   takes requests
 *	negotiate.c	   what libfuse does not negotiate
 *	buffers.c  memory of messages and of what is read
 *	request.c  what is between a request and its answer
 *	attrs.c, names.c, dirs.c, files.c, data.c, locks.c	   the operations
 *	owners.c   who holds locks by a handle
 *	seen.c	   which state of a file the kernel's pages are of
 *	drop.c	   dropping pages, which may have to wait
 *	marks.c	   what was ever done to an inode, so that closing it need not ask
 */
#ifndef DDIOFS_H
#define DDIOFS_H

#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdatomic.h>
#include <ddio/fs.h>
#include "options.h"

struct seen;
struct drops;
struct marks;
struct buffers;
struct loop;

/**
 * struct mount - one mount
 * @root: the name space's number of the mount's directory
 * @killpriv: the kernel leaves setuid and setgid bits to us
 * @special: counts changes of mode that set such bits
 * @atimes: counts times of access that were set
 * @under_way: requests that have not been answered
 * @handles: that are open; under @lock
 */
struct mount {
	const struct mount_opts *o;
	struct ddio_fs *fs;
	struct fuse_session *se;
	uint64_t root;
	bool killpriv;
	atomic_uint special, atimes;
	struct seen *seen;
	struct drops *drops;
	struct marks *marks;
	struct buffers *buffers;
	struct loop *loop;
	pthread_mutex_t lock;
	pthread_cond_t idle;
	uint64_t under_way;
	struct handle *handles;
};

/**
 * struct handle - an open file
 * @next, @link: in mount.handles: the next one, and what points here
 * @flags: of open(2)
 * @direct: past the kernel's pages
 * @special: the state of mount.special at which the file was known to have no setuid bit; UINT_MAX:
 *	it may have one
 * @keeps_atime: reading may have to change the time of access, and has to if @stale_atime or if some were
 *	set since @atimes
 * @owner: of fcntl(2)'s locks that were set by this handle, see owners.c; under @lock
 */
struct handle {
	struct mount *m;
	struct handle *next, **link;
	struct ddio_fs_file *file;
	uint64_t ino;
	int flags;
	bool direct, keeps_atime;
	atomic_uint special, atimes;
	atomic_bool stale_atime;
	pthread_mutex_t lock;
	uint64_t *owner;
	unsigned int nowners;
};

/**
 * struct request - what has been asked for and not been answered
 * @ino: the name space's number of the inode, if there is one
 * @h: handle that the request is about, or makes
 * @fi: what the kernel said of a file that it opens, or is told
 * @written: bytes of a write that has been done; @sync: and is to be durable
 * @buf: of @len bytes, freed with the request, to the message buffers if @message
 * @next, @dropped: in the queue of drops, and what comes behind it
 */
struct request {
	struct request *next;
	void (*dropped)(struct request *r);
	fuse_req_t req;
	struct mount *m;
	uint64_t ino;
	struct handle *h;
	struct fuse_file_info fi;
	void *buf;
	const void *data;
	size_t len, written;
	off_t off;
	bool message, plus, sync;
	int err, whence;
	uint64_t owner;
	uint32_t mask;
};

extern const struct fuse_lowlevel_ops mount_ops;

static inline struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

/* request.c */
struct mount *mount_of(fuse_req_t req);
/* NULL: there was no memory, and that has been answered. */
struct request *request_new(fuse_req_t req, fuse_ino_t ino);
void request_free(struct request *r);
/* Each answers and frees; @err is 0 or -errno. */
void request_end(struct request *r, int err);
/* @age_ns: how long they have been believed already. */
void request_end_attr(struct request *r, const struct ddio_fs_attr *attr, uint64_t age_ns);
void request_end_entry(struct request *r, const struct ddio_fs_attr *attr);
/* For requests that give nothing, attributes, an entry. */
void request_done(void *arg, const struct ddio_fs_reply *reply);
void request_done_attr(void *arg, const struct ddio_fs_reply *reply);
void request_done_entry(void *arg, const struct ddio_fs_reply *reply);
/* Until nothing is under way, or @ms have passed. */
void requests_drain(struct mount *m, unsigned int ms);

uint64_t ino_of(const struct mount *m, fuse_ino_t ino);
fuse_ino_t nodeid_of(const struct mount *m, uint64_t ino);
/* @timeout: for how long they may be believed. */
void attr_fill(const struct mount *m, const struct ddio_fs_attr *attr, struct stat *st,
	       double *timeout);
void entry_fill(const struct mount *m, const struct ddio_fs_attr *attr, struct fuse_entry_param *e);
/* Names that the name space cannot have are refused here: 0 or an errno. */
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

/* files.c: those that nobody will close, since the mount has ended. */
void handles_free(struct mount *m);

/* owners.c */
int owners_add(struct handle *h, uint64_t owner);
void owners_remove(struct handle *h, uint64_t owner);
/* One of those who are left, and removes it; false: nobody. */
bool owners_take(struct handle *h, uint64_t *owner);

/* seen.c */
struct seen *seen_new(void);
void seen_free(struct seen *seen);
/* Attributes of a file of this change go to the kernel. */
void seen_attr(struct seen *seen, uint64_t ino, uint64_t change);
/**
 * seen_open - a file is opened whose attributes now are of @change
 * @attr_stale: the kernel may have attributes of another change
 * Return: whether the kernel's pages, if it has any, are of this change.
 */
bool seen_open(struct seen *seen, uint64_t ino, uint64_t change, bool *attr_stale);
/* A directory that this mount has removed; false also if that was forgotten. */
void seen_gone(struct seen *seen, uint64_t ino);
bool seen_is_gone(struct seen *seen, uint64_t ino);

/* marks.c */
enum { MARK_WRITTEN = 1, MARK_LOCKED = 2 };
struct marks *marks_new(void);
void marks_free(struct marks *marks);
/* Before what is marked is asked for. */
void marks_set(struct marks *marks, uint64_t ino, unsigned char mark);
/* One of the marks; perhaps also without having been set. */
bool marks_has(struct marks *marks, uint64_t ino, unsigned char mark);

/* drop.c */
struct drops *drops_new(struct fuse_session *se);
void drops_free(struct drops *drops);
/* Has the kernel write and drop its pages of the request's inode, and drop its attributes; then @then. */
void pages_drop(struct drops *drops, struct request *r, void (*then)(struct request *r));

/* loop.c */
/* Before the loop. */
int loop_prepare(struct mount *m);
/* Takes requests until the mount is gone, with so many helpers; @end becomes readable then. */
int loop_start(struct mount *m, unsigned int helpers, int end);
/* Requests are not taken any more. */
void loop_end(struct mount *m);
/* The message that is being handled: kept by the caller, who gives it back by message_free(). */
void *message_take(void);

/* negotiate.c */
void loop_init(void *userdata, struct fuse_conn_info *conn);
/* Flags of the message that is being handled that libfuse does not pass on. */
bool message_kills(void);
/* A file is answered for whose direct writes need not wait for each other. */
int reply_open_parallel(fuse_req_t req, const struct fuse_entry_param *e,
			const struct fuse_file_info *fi);

/* buffers.c */
struct buffers *buffers_new(void);
void buffers_free(struct buffers *buffers);
void message_free(struct mount *m, void *mem);
/* Buffers for what is read. */
void *buffer_get(struct mount *m, size_t len);
void buffer_put(struct mount *m, void *buf, size_t len);

#endif /* DDIOFS_H */
