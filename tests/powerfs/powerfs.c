// SPDX-License-Identifier: GPL-2.0-only
/*
 *   powerfs DIR MOUNTPOINT [SEED]
 *
 * Mounts what DIR holds, which only this program understands, and stays in the foreground.
 *
 * SIGUSR1 is the loss of power: what was not synced is gone, with SEED a part of it that the seed draws, and every
 * request fails with EIO from then on.  SIGTERM, then or before, unmounts and ends; without a loss of power all is
 * kept.  A new process has the power again: it also has an empty page cache, which knows nothing of what was lost.
 *
 * With POWERFS_SLOW in the environment, io_submit(2) waits until it has answered.
 *
 * Files are read and written through the kernel's page cache, so that they can be mapped, but without its write-back:
 * each write comes here at once.  What is stored into a shared mapping comes with msync() or whenever the kernel likes.
 */
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "powerfs.h"

/* Nobody else changes anything. */
#define FOR_EVER 86400.0

static struct pfs_disk disk;

static void attr_of(const struct pfs_node *node, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	if (S_ISREG(node->mode))
		fstat(node->file.fd, st);
	st->st_ino = node->ino;
	st->st_mode = node->mode;
	st->st_uid = node->uid;
	st->st_gid = node->gid;
	st->st_nlink = 1;
}

static void entry_of(const struct pfs_node *node, struct fuse_entry_param *e)
{
	*e = (struct fuse_entry_param){ .ino = node->ino,
					.attr_timeout = FOR_EVER,
					.entry_timeout = FOR_EVER };
	attr_of(node, &e->attr);
}

static void pfs_init(void *user, struct fuse_conn_info *conn)
{
	(void)user;
	if (getenv("POWERFS_SLOW"))
		conn->want &= ~(unsigned)FUSE_CAP_ASYNC_DIO;
}

static void pfs_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	const struct pfs_node *node =
		disk_node(&disk, dir_find(&disk_node(&disk, parent)->dir, name));
	struct fuse_entry_param e;

	if (!node) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	entry_of(node, &e);
	fuse_reply_entry(req, &e);
}

static void reply_attr(fuse_req_t req, const struct pfs_node *node)
{
	struct stat st;

	attr_of(node, &st);
	fuse_reply_attr(req, &st, FOR_EVER);
}

static void pfs_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)fi;
	reply_attr(req, disk_node(&disk, ino));
}

static void pfs_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int set,
			struct fuse_file_info *fi)
{
	struct pfs_node *node = disk_node(&disk, ino);
	int err = 0;

	(void)fi;
	if (set & FUSE_SET_ATTR_SIZE)
		err = file_truncate(&node->file, (uint64_t)st->st_size);
	if (set & FUSE_SET_ATTR_MODE)
		node->mode = (node->mode & S_IFMT) | (st->st_mode & ~S_IFMT);
	if (set & FUSE_SET_ATTR_UID)
		node->uid = st->st_uid;
	if (set & FUSE_SET_ATTR_GID)
		node->gid = st->st_gid;
	if (err)
		fuse_reply_err(req, err);
	else
		reply_attr(req, node);
}

static int make(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		struct fuse_entry_param *e)
{
	struct pfs_node *node;
	int err = disk_make(&disk, disk_node(&disk, parent), name, mode, &node);

	if (err)
		return err;
	node->uid = fuse_req_ctx(req)->uid;
	node->gid = fuse_req_ctx(req)->gid;
	entry_of(node, e);
	return 0;
}

static void pfs_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct fuse_entry_param e;
	int err = make(req, parent, name, S_IFDIR | (mode & ~S_IFMT), &e);

	if (err)
		fuse_reply_err(req, err);
	else
		fuse_reply_entry(req, &e);
}

static void pfs_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		       struct fuse_file_info *fi)
{
	struct fuse_entry_param e;
	int err = make(req, parent, name, S_IFREG | (mode & ~S_IFMT), &e);

	fi->keep_cache = 1;
	if (err)
		fuse_reply_err(req, err);
	else
		fuse_reply_create(req, &e, fi);
}

static void pfs_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	fuse_reply_err(req, dir_set(&disk_node(&disk, parent)->dir, name, 0, false));
}

static void pfs_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct pfs_dir *dir = &disk_node(&disk, parent)->dir;
	const struct pfs_node *node = disk_node(&disk, dir_find(dir, name));

	if (node && node->dir.now)
		fuse_reply_err(req, ENOTEMPTY);
	else
		fuse_reply_err(req, dir_set(dir, name, 0, false));
}

static void pfs_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent,
		       const char *newname, unsigned int flags)
{
	struct pfs_dir *from = &disk_node(&disk, parent)->dir,
		       *to = &disk_node(&disk, newparent)->dir;
	uint64_t node = dir_find(from, name);
	int err = flags ? EINVAL : 0;

	if (!err)
		err = dir_set(to, newname, node, from == to);
	if (!err)
		err = dir_set(from, name, 0, false);
	fuse_reply_err(req, err);
}

static void pfs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	fi->keep_cache = 1;
	fuse_reply_open(req, fi);
}

static void pfs_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		     struct fuse_file_info *fi)
{
	char *buf = malloc(size);
	ssize_t n = buf ? pread(disk_node(&disk, ino)->file.fd, buf, size, off) : -1;

	(void)fi;
	if (n < 0)
		fuse_reply_err(req, errno);
	else
		fuse_reply_buf(req, buf, (size_t)n);
	free(buf);
}

static void pfs_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
		      struct fuse_file_info *fi)
{
	struct pfs_file *f = &disk_node(&disk, ino)->file;
	int err = file_save(f, (uint64_t)off, size);
	ssize_t n = err ? -1 : pwrite(f->fd, buf, size, off);

	(void)fi;
	if (n < 0)
		fuse_reply_err(req, err ? err : errno);
	else
		fuse_reply_write(req, (size_t)n);
}

static void pfs_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t len,
			  struct fuse_file_info *fi)
{
	struct pfs_file *f = &disk_node(&disk, ino)->file;
	int err = 0;

	(void)fi;
	if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE))
		err = EOPNOTSUPP;
	else if (mode & FALLOC_FL_PUNCH_HOLE)
		err = file_save(f, (uint64_t)off, (uint64_t)len);
	if (!err && fallocate(f->fd, mode, off, len))
		err = errno;
	fuse_reply_err(req, err);
}

static void pfs_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	(void)datasync;
	(void)fi;
	fuse_reply_err(req, file_sync(&disk_node(&disk, ino)->file));
}

static void pfs_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	(void)datasync;
	(void)fi;
	dir_sync(&disk_node(&disk, ino)->dir);
	fuse_reply_err(req, 0);
}

/* @off: so many names have been read. */
static void pfs_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
			struct fuse_file_info *fi)
{
	const struct pfs_entry *e = disk_node(&disk, ino)->dir.now;
	char *buf = malloc(size);
	size_t used = 0;
	off_t n;

	(void)fi;
	if (!buf) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	for (n = 1; e; e = e->next, n++) {
		struct stat st;
		size_t len;

		if (n <= off)
			continue;
		attr_of(disk_node(&disk, e->node), &st);
		len = fuse_add_direntry(req, buf + used, size - used, e->name, &st, n);
		if (len > size - used)
			break;
		used += len;
	}
	fuse_reply_buf(req, buf, used);
	free(buf);
}

static void pfs_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st;

	(void)ino;
	if (fstatvfs(disk.fd, &st))
		fuse_reply_err(req, errno);
	else
		fuse_reply_statfs(req, &st);
}

static const struct fuse_lowlevel_ops ops = {
	.init = pfs_init,
	.lookup = pfs_lookup,
	.getattr = pfs_getattr,
	.setattr = pfs_setattr,
	.mkdir = pfs_mkdir,
	.create = pfs_create,
	.unlink = pfs_unlink,
	.rmdir = pfs_rmdir,
	.rename = pfs_rename,
	.open = pfs_open,
	.read = pfs_read,
	.write = pfs_write,
	.fallocate = pfs_fallocate,
	.fsync = pfs_fsync,
	.fsyncdir = pfs_fsyncdir,
	.readdir = pfs_readdir,
	.statfs = pfs_statfs,
};

/* Answers a request of a disk without power. */
static int refuse(struct fuse_session *se, const struct fuse_buf *buf)
{
	const struct fuse_in_header *in = buf->mem;
	const struct fuse_out_header out = { .len = sizeof(out),
					     .error = -EIO,
					     .unique = in->unique };

	if (in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET ||
	    in->opcode == FUSE_INTERRUPT)
		return 0;
	/* ENOENT: nobody waits for it any more. */
	return write(fuse_session_fd(se), &out, sizeof(out)) < 0 && errno != ENOENT ? errno : 0;
}

static int one_request(struct fuse_session *se, struct fuse_buf *buf, bool off)
{
	int n = fuse_session_receive_buf(se, buf);

	if (n == -EINTR || n == -EAGAIN)
		return 0;
	if (n <= 0) {
		fuse_session_exit(se);
		return -n;
	}
	if (off)
		return refuse(se, buf);
	fuse_session_process_buf(se, buf);
	return 0;
}

/* Serves until it is unmounted or told to end.  Returns 0 or an errno. */
static int serve(struct fuse_session *se, int signals, uint64_t seed)
{
	struct pollfd fds[2] = { { .fd = signals, .events = POLLIN },
				 { .fd = fuse_session_fd(se), .events = POLLIN } };
	struct fuse_buf buf = { .mem = NULL };
	struct signalfd_siginfo info;
	struct pfs_fate fate;
	bool off = false;
	int err = 0;

	fate_init(&fate, seed);
	while (!err && !fuse_session_exited(se)) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents && read(signals, &info, sizeof(info)) == sizeof(info)) {
			if (info.ssi_signo != SIGUSR1)
				break;
			err = off ? 0 : disk_lose(&disk, &fate);
			off = true;
		} else if (fds[1].revents) {
			err = one_request(se, &buf, off);
		}
	}
	free(buf.mem);
	return err;
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int run(struct fuse_args *args, const char *mountpoint, uint64_t seed)
{
	struct fuse_session *se = fuse_session_new(args, &ops, sizeof(ops), NULL);
	int signals = open_signals(), err = EINVAL;

	if (!se)
		return err;
	if (signals >= 0 && !fuse_session_mount(se, mountpoint)) {
		err = serve(se, signals, seed);
		fuse_session_unmount(se);
	}
	fuse_session_destroy(se);
	close(signals);
	return err;
}

int main(int argc, char **argv)
{
	char *fuse_argv[] = { argv[0], "-o", "fsname=powerfs,subtype=powerfs,default_permissions",
			      NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, fuse_argv);
	int err, ret;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: powerfs DIR MOUNTPOINT [SEED]\n");
		return 2;
	}
	err = disk_open(&disk, argv[1]);
	if (!err) {
		err = run(&args, argv[2], argc > 3 ? strtoull(argv[3], NULL, 0) : 0);
		ret = disk_close(&disk);
		err = err ? err : ret;
	}
	fuse_opt_free_args(&args);
	if (err)
		fprintf(stderr, "powerfs: %s: %s\n", argv[1], strerror(err));
	return err ? 1 : 0;
}
