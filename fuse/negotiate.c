// SPDX-License-Identifier: GPL-2.0-only
/*
 * What kernels know and libfuse 3.14 does not: that we clear setuid bits (otherwise the kernel asks for an
 * extended attribute before each write(2)), that direct writes run in parallel, that files without
 * cached pages may be mapped shared, and that all names are to be looked up again.  So the replies to
 * INIT and to open are changed on their way out, flags of requests are read from the message, and the
 * last is written by ourselves.
 */
#include <errno.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>
#include "ddiofs.h"
#include "loop.h"

/* Missing in the headers of Linux 6.1. */
#define INIT_DIRECT_IO_ALLOW_MMAP (1ull << 36)

/* The same of Linux 6.16: each name that the kernel has was found in an epoch, which is over. */
#define NOTIFY_INC_EPOCH 8

/* The kernel's read-ahead: some blocks of every disk even if there are many. */
#define AHEAD_BYTES (4u << 20)
/*
 * Requests that no program waits for: those that read ahead stop at the first number, and others, which a process waits for when it
 * ends, have room beyond.
 */
#define CONGESTED 96
#define BACKGROUND 1024

static __thread uint32_t open_extra;

static const void *message_arg(size_t need)
{
	const struct fuse_in_header *in = worker_self->message.mem;

	return worker_self->message.size < sizeof(*in) + need ? NULL : in + 1;
}

bool message_kills(void)
{
	const struct fuse_in_header *in = worker_self->message.mem;
	const struct fuse_write_in *w;
	const struct fuse_setattr_in *s;
	const struct fuse_open_in *o;

	switch (in->opcode) {
	case FUSE_WRITE:
		w = message_arg(sizeof(*w));
		return w && w->write_flags & FUSE_WRITE_KILL_SUIDGID;
	case FUSE_SETATTR:
		s = message_arg(sizeof(*s));
		return s && s->valid & FATTR_KILL_SUIDGID;
	case FUSE_OPEN:
		o = message_arg(sizeof(*o));
		return o && o->open_flags & FUSE_OPEN_KILL_SUIDGID;
	}
	return false;
}

uint64_t message_unique(fuse_req_t req)
{
	const struct fuse_in_header *in = worker_self->message.mem;

	(void)req;
	return in->unique;
}

void interrupt_look(const struct loop_worker *w)
{
	const struct fuse_in_header *in = w->message.mem;
	const struct fuse_interrupt_in *arg = (const void *)(in + 1);

	if (w->message.size >= sizeof(*in) + sizeof(*arg) && in->opcode == FUSE_INTERRUPT)
		late_interrupted(w->m, arg->unique);
}

/* The kernel refuses whichever of two answers comes later. */
void reply_early(const struct mount *m, uint64_t unique, int err, uint32_t written)
{
	struct fuse_write_out out = { .size = written };
	struct fuse_out_header head = { .len = sizeof(head), .error = err, .unique = unique };
	struct iovec iov[] = { { &head, sizeof(head) }, { &out, sizeof(out) } };

	if (!err)
		head.len += sizeof(out);
	if (writev(fuse_session_fd(m->se), iov, err ? 1 : 2) < 0)
		return;
}

void init_look(struct loop_worker *w)
{
	const struct fuse_in_header *in = w->message.mem;
	const struct fuse_init_in *arg = (const void *)(in + 1);

	w->init = w->message.size >= sizeof(*in) && in->opcode == FUSE_INIT;
	w->offered = 0;
	if (!w->init || w->message.size < sizeof(*in) + 16)
		return;
	w->offered = arg->flags;
	if (arg->flags & FUSE_INIT_EXT && w->message.size >= sizeof(*in) + sizeof(*arg))
		w->offered |= (uint64_t)arg->flags2 << 32;
}

static void patch_init(struct loop_worker *w, struct fuse_init_out *out)
{
	const uint64_t maps = w->m->o->no_shared_maps ? 0 : INIT_DIRECT_IO_ALLOW_MMAP;
	const uint64_t wanted = FUSE_HANDLE_KILLPRIV_V2 | maps;
	uint64_t flags = w->offered & wanted;

	if (flags >> 32)
		flags |= FUSE_INIT_EXT;
	out->flags |= (uint32_t)flags;
	out->flags2 |= (uint32_t)(flags >> 32);
	w->m->killpriv = flags & FUSE_HANDLE_KILLPRIV_V2;
}

static ssize_t io_writev(int fd, struct iovec *iov, int count, void *userdata)
{
	const struct fuse_out_header *head = iov[0].iov_base;
	struct fuse_open_out *open;

	(void)userdata;
	if (count == 2 && !head->error && worker_self && worker_self->init &&
	    iov[1].iov_len >= sizeof(struct fuse_init_out)) {
		patch_init(worker_self, iov[1].iov_base);
	} else if (count == 2 && !head->error && open_extra && iov[1].iov_len >= sizeof(*open)) {
		/* In the reply to a create it comes after the entry. */
		open = (void *)((char *)iov[1].iov_base + iov[1].iov_len - sizeof(*open));
		open->open_flags |= open_extra;
	}
	return writev(fd, iov, count);
}

static ssize_t io_read(int fd, void *buf, size_t len, void *userdata)
{
	(void)userdata;
	return read(fd, buf, len);
}

int reply_open_parallel(fuse_req_t req, const struct fuse_entry_param *e,
			const struct fuse_file_info *fi)
{
	int err;

	open_extra = FOPEN_PARALLEL_DIRECT_WRITES;
	err = e ? fuse_reply_create(req, e, fi) : fuse_reply_open(req, fi);
	open_extra = 0;
	return err;
}

static void want(struct fuse_conn_info *conn, unsigned int flag, bool on)
{
	if (on)
		conn->want |= conn->capable & flag;
	else
		conn->want &= ~flag;
}

void loop_init(void *userdata, struct fuse_conn_info *conn)
{
	const struct mount *m = userdata;

	conn->max_write = REQUEST_BYTES;
	conn->max_readahead = AHEAD_BYTES;
	conn->max_background = BACKGROUND;
	conn->congestion_threshold = CONGESTED;
	conn->time_gran = 1;
	want(conn, FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_PARALLEL_DIROPS, true);
	want(conn, FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_DONT_MASK, true);
	/* With this flag the kernel checks permissions, whatever the mount options say. */
	want(conn, FUSE_CAP_POSIX_ACL, !m->o->no_permissions);
	want(conn, FUSE_CAP_POSIX_LOCKS | FUSE_CAP_FLOCK_LOCKS | FUSE_CAP_EXPORT_SUPPORT, true);
	want(conn, FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO, true);
	want(conn, FUSE_CAP_CACHE_SYMLINKS, m->o->cache == CACHE_ALWAYS);
	want(conn, FUSE_CAP_WRITEBACK_CACHE, m->o->cache == CACHE_ALWAYS);
	/* Data come from memory and go to memory: splicing would only cost. */
	want(conn, FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE, false);
	/* Pages are dropped when a file is opened; between, our own writes must not drop them. */
	want(conn, FUSE_CAP_AUTO_INVAL_DATA, false);
	want(conn, FUSE_CAP_EXPLICIT_INVAL_DATA | FUSE_CAP_HANDLE_KILLPRIV, false);
	/* The kernel must not leave out opening: the name server counts openings. */
	want(conn, FUSE_CAP_NO_OPENDIR_SUPPORT, false);
}

/* The kernel reads 128 KB ahead unless it is told otherwise, which only root may do. */
void read_ahead_set(const struct mount *m)
{
	char path[80];
	struct statx st;
	FILE *f;

	if (statx(AT_FDCWD, m->o->dir, AT_STATX_DONT_SYNC, STATX_TYPE, &st))
		return;
	snprintf(path, sizeof(path), "/sys/class/bdi/%u:%u/read_ahead_kb", st.stx_dev_major,
		 st.stx_dev_minor);
	f = fopen(path, "we");
	if (!f)
		return;
	fprintf(f, "%u\n", AHEAD_BYTES >> 10);
	fclose(f);
}

int session_io_set(struct mount *m)
{
	static const struct fuse_custom_io io = { .writev = io_writev, .read = io_read };

	return fuse_session_custom_io(m->se, &io, fuse_session_fd(m->se)) ? -EINVAL : 0;
}

/* Older kernels refuse it, and go on with the names for as long as they were told. */
void names_forget(void *mount)
{
	const struct mount *m = mount;
	const struct fuse_out_header out = { .len = sizeof(out), .error = NOTIFY_INC_EPOCH };

	if (m->se && write(fuse_session_fd(m->se), &out, sizeof(out)) < 0)
		return;
}
