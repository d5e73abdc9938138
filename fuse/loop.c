// SPDX-License-Identifier: GPL-2.0-only
/*
 * Taking requests, and what libfuse does not do by itself:
 *
 * The message that carries a large write is kept until it is written, without a copy; the thread goes on
 * with another.
 *
 * What libfuse 3.14 does not know but kernels do is negotiated beside it: the answer to INIT and to open
 * is changed on its way out, flags of requests are read from the message.  It is that the kernel leaves
 * setuid bits to us (else each write(2) asks for an extended attribute first), that direct writes go in
 * parallel, and shared mappings of files without pages.
 */
#include <errno.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>
#include "ddiofs.h"

/* Newer than the headers of 6.1. */
#define INIT_DIRECT_IO_ALLOW_MMAP (1ull << 36)

#define MAX_THREADS 64
#define MAX_SPARE 64
#define REQUEST_BYTES (1u << 20)
/* Of the kernel, for a file that is read in order: some blocks of every disk, where there are many. */
#define AHEAD_BYTES (4u << 20)
#define BACKGROUND 128

#define NR_CLASSES 3
static const size_t class_size[NR_CLASSES] = { 16u << 10, 128u << 10, REQUEST_BYTES };

struct spares {
	void *mem[MAX_SPARE];
	unsigned int n;
};

/**
 * struct buffers - what is kept to be used again, and the threads
 * @messages: as large as libfuse makes them
 * @end: descriptor to be written to when the last thread ends
 */
struct buffers {
	pthread_mutex_t lock;
	struct spares messages;
	struct spares classes[NR_CLASSES];
	pthread_t threads[MAX_THREADS];
	unsigned int nthreads, running;
	int end;
};

/**
 * struct worker - a thread that takes requests
 * @taken: the message belongs to a handler now
 * @init: the message is INIT, which offers @offered
 */
struct worker {
	struct mount *m;
	struct fuse_buf message;
	bool taken, init;
	uint64_t offered;
};

static __thread struct worker *self;
static __thread uint32_t open_extra;

static void *spare_get(struct buffers *b, struct spares *s)
{
	void *mem = NULL;

	pthread_mutex_lock(&b->lock);
	if (s->n)
		mem = s->mem[--s->n];
	pthread_mutex_unlock(&b->lock);
	return mem;
}

static void spare_put(struct buffers *b, struct spares *s, void *mem)
{
	pthread_mutex_lock(&b->lock);
	if (s->n < MAX_SPARE) {
		s->mem[s->n++] = mem;
		mem = NULL;
	}
	pthread_mutex_unlock(&b->lock);
	free(mem);
}

static int class_of(size_t len)
{
	int i;

	for (i = 0; i < NR_CLASSES; i++)
		if (len <= class_size[i])
			return i;
	return -1;
}

void *buffer_get(struct mount *m, size_t len)
{
	int c = class_of(len);
	void *buf = c < 0 ? NULL : spare_get(m->buffers, &m->buffers->classes[c]);

	if (buf)
		return buf;
	return aligned_alloc(4096, c < 0 ? (len + 4095) & ~(size_t)4095 : class_size[c]);
}

void buffer_put(struct mount *m, void *buf, size_t len)
{
	int c = class_of(len);

	if (c < 0)
		free(buf);
	else
		spare_put(m->buffers, &m->buffers->classes[c], buf);
}

void *message_take(void)
{
	self->taken = true;
	return self->message.mem;
}

void message_free(struct mount *m, void *mem)
{
	spare_put(m->buffers, &m->buffers->messages, mem);
}

static const void *message_arg(size_t need)
{
	const struct fuse_in_header *in = self->message.mem;

	return self->message.size < sizeof(*in) + need ? NULL : in + 1;
}

bool message_kills(void)
{
	const struct fuse_in_header *in = self->message.mem;
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

/*
 * Beside libfuse
 */
static void look_at_init(struct worker *w)
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

static void patch_init(struct worker *w, struct fuse_init_out *out)
{
	const uint64_t wanted = FUSE_HANDLE_KILLPRIV_V2 | INIT_DIRECT_IO_ALLOW_MMAP;
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
	if (count == 2 && !head->error && self && self->init &&
	    iov[1].iov_len >= sizeof(struct fuse_init_out)) {
		patch_init(self, iov[1].iov_base);
	} else if (count == 2 && !head->error && open_extra && iov[1].iov_len >= sizeof(*open)) {
		/* Of a create, it stands behind the entry. */
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
	conn->congestion_threshold = BACKGROUND * 3 / 4;
	conn->time_gran = 1;
	want(conn, FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_PARALLEL_DIROPS, true);
	want(conn, FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_DONT_MASK, true);
	/* With it the kernel checks permissions, whatever was asked for. */
	want(conn, FUSE_CAP_POSIX_ACL, !m->o->no_permissions);
	want(conn, FUSE_CAP_POSIX_LOCKS | FUSE_CAP_FLOCK_LOCKS | FUSE_CAP_EXPORT_SUPPORT, true);
	want(conn, FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO, true);
	want(conn, FUSE_CAP_CACHE_SYMLINKS, m->o->cache == CACHE_ALWAYS);
	want(conn, FUSE_CAP_WRITEBACK_CACHE, m->o->cache == CACHE_ALWAYS);
	/* Nothing that is read or written is in a pipe or a file. */
	want(conn, FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE, false);
	/* Opening decides; between, a write of our own must not cost us our pages. */
	want(conn, FUSE_CAP_AUTO_INVAL_DATA, false);
	want(conn, FUSE_CAP_EXPLICIT_INVAL_DATA | FUSE_CAP_HANDLE_KILLPRIV, false);
	/* Neither is opening to be left out: it is what the name space counts. */
	want(conn, FUSE_CAP_NO_OPENDIR_SUPPORT, false);
}

/* The kernel reads 128 KB ahead of programs unless it is told otherwise, which root only may do. */
static void read_ahead_set(const struct mount *m)
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

/*
 * The threads
 */
static void thread_ended(struct mount *m)
{
	struct buffers *b = m->buffers;
	uint64_t one = 1;
	bool last;

	pthread_mutex_lock(&b->lock);
	last = !--b->running;
	pthread_mutex_unlock(&b->lock);
	if (last && write(b->end, &one, sizeof(one)) < 0)
		abort();
}

static void *loop_run(void *arg)
{
	struct worker w = { .m = arg };
	struct fuse_session *se = w.m->se;
	int n;

	self = &w;
	while (!fuse_session_exited(se)) {
		if (!w.message.mem)
			w.message.mem = spare_get(w.m->buffers, &w.m->buffers->messages);
		n = fuse_session_receive_buf(se, &w.message);
		if (n == -EINTR || n == -EAGAIN)
			continue;
		if (n <= 0)
			break;
		look_at_init(&w);
		fuse_session_process_buf(se, &w.message);
		if (w.init)
			read_ahead_set(w.m);
		if (w.taken)
			w.message.mem = NULL;
		w.taken = false;
	}
	free(w.message.mem);
	fuse_session_exit(se);
	thread_ended(w.m);
	return NULL;
}

int loop_prepare(struct mount *m)
{
	static const struct fuse_custom_io io = { .writev = io_writev, .read = io_read };

	m->buffers = calloc(1, sizeof(*m->buffers));
	if (!m->buffers)
		return -ENOMEM;
	pthread_mutex_init(&m->buffers->lock, NULL);
	return fuse_session_custom_io(m->se, &io, fuse_session_fd(m->se)) ? -EINVAL : 0;
}

static void on_wake(int sig)
{
	(void)sig;
}

int loop_start(struct mount *m, unsigned int threads, int end)
{
	struct sigaction wake = { .sa_handler = on_wake };
	struct buffers *b = m->buffers;
	int err = 0;

	/* Without SA_RESTART: it ends a read. */
	sigaction(SIGUSR1, &wake, NULL);
	b->end = end;
	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	pthread_mutex_lock(&b->lock);
	while (!err && b->nthreads < threads) {
		err = pthread_create(&b->threads[b->nthreads], NULL, loop_run, m);
		if (!err)
			b->nthreads++;
	}
	b->running = b->nthreads;
	pthread_mutex_unlock(&b->lock);
	return b->nthreads ? 0 : -err;
}

static void spares_free(struct spares *s)
{
	while (s->n)
		free(s->mem[--s->n]);
}

void loop_join(struct mount *m)
{
	struct buffers *b = m->buffers;
	struct timespec until;
	unsigned int i;

	for (i = 0; i < b->nthreads; i++) {
		/* A thread may be about to read: so until it has heard it. */
		do {
			pthread_kill(b->threads[i], SIGUSR1);
			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_nsec += 20000000;
			if (until.tv_nsec >= 1000000000) {
				until.tv_sec++;
				until.tv_nsec -= 1000000000;
			}
		} while (pthread_timedjoin_np(b->threads[i], NULL, &until));
	}
	b->nthreads = 0;
}

void buffers_free(struct mount *m)
{
	struct buffers *b = m->buffers;
	int i;

	if (!b)
		return;
	spares_free(&b->messages);
	for (i = 0; i < NR_CLASSES; i++)
		spares_free(&b->classes[i]);
	pthread_mutex_destroy(&b->lock);
	free(b);
	m->buffers = NULL;
}
