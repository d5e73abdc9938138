// SPDX-License-Identifier: GPL-2.0-only
/*
 * Taking requests.  The library's thread that asks the name server takes them itself, so that no other
 * thread has to be woken; when it finds many requests, or large ones to copy, helpers take some.  The
 * message of a large write is kept until it is written, without a copy; its worker goes on with another.
 */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>
#include "ddiofs.h"
#include "loop.h"

/* Which function takes which request. */
const struct fuse_lowlevel_ops mount_ops = {
	.init = loop_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.readlink = op_readlink,
	.mknod = op_mknod,
	.mkdir = op_mkdir,
	.unlink = op_unlink,
	.rmdir = op_rmdir,
	.symlink = op_symlink,
	.rename = op_rename,
	.link = op_link,
	.open = op_open,
	.read = op_read,
	.write = op_write,
	.flush = op_flush,
	.release = op_release,
	.fsync = op_fsync,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.releasedir = op_releasedir,
	.fsyncdir = op_fsyncdir,
	.statfs = op_statfs,
	.setxattr = op_setxattr,
	.getxattr = op_getxattr,
	.listxattr = op_listxattr,
	.removexattr = op_removexattr,
	.create = op_create,
	.getlk = op_getlk,
	.setlk = op_setlk,
	.flock = op_flock,
	.fallocate = op_fallocate,
	.lseek = op_lseek,
	.copy_file_range = op_copy,
};

#define MAX_HELPERS 64
/* Requests taken before the thread does something else, and bytes of a large one. */
#define TURN 8
#define LARGE (64u << 10)

/**
 * struct loop - all that take requests
 * @server: the library's thread
 * @call: helpers wait for it; @resting: how many do
 * @end: event descriptor, written to when the mount is gone
 */
struct loop {
	struct loop_worker server;
	struct loop_worker helper[MAX_HELPERS];
	pthread_t thread[MAX_HELPERS];
	unsigned int nhelpers;
	sem_t call;
	atomic_int resting;
	atomic_bool stop;
	bool serving;
	int end;
};

/* Handles one message and returns its length; 0: there is none, or the mount is gone. */
static size_t worker_take(struct loop_worker *w)
{
	struct fuse_session *se = w->m->se;
	int n;

	if (!w->message.mem)
		w->message.mem = message_get(w->m);
	do {
		n = fuse_session_receive_buf(se, &w->message);
	} while (n == -EINTR);
	if (n <= 0) {
		if (n != -EAGAIN)
			fuse_session_exit(se);
		return 0;
	}
	worker_self = w;
	init_look(w);
	interrupt_look(w);
	fuse_session_process_buf(se, &w->message);
	if (w->init)
		read_ahead_set(w->m);
	if (w->taken)
		w->message.mem = NULL;
	w->taken = w->init = false;
	worker_self = NULL;
	return (size_t)n;
}

/* Wakes a helper, if one rests. */
static void helper_call(struct loop *l)
{
	int n = atomic_load(&l->resting);

	while (n > 0)
		if (atomic_compare_exchange_weak(&l->resting, &n, n - 1)) {
			sem_post(&l->call);
			return;
		}
}

static void *helper_run(void *arg)
{
	struct loop_worker *w = arg;
	struct loop *l = w->m->loop;

	for (;;) {
		atomic_fetch_add(&l->resting, 1);
		while (sem_wait(&l->call))
			;
		if (atomic_load(&l->stop))
			return NULL;
		while (worker_take(w))
			;
	}
}

static bool serve(void *arg)
{
	struct mount *m = arg;
	struct loop *l = m->loop;
	uint64_t one = 1;
	size_t size = 1;
	int i;

	for (i = 0; i < TURN && size; i++) {
		size = worker_take(&l->server);
		if (size >= LARGE)
			helper_call(l);
	}
	if (size)
		helper_call(l);
	if (!fuse_session_exited(m->se))
		return true;
	if (write(l->end, &one, sizeof(one)) < 0)
		abort();
	return false;
}

int loop_prepare(struct mount *m)
{
	int fd = fuse_session_fd(m->se), flags = fcntl(fd, F_GETFL);

	m->buffers = buffers_new();
	if (!m->buffers)
		return -ENOMEM;
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	return session_io_set(m);
}

static int helpers_start(struct loop *l, unsigned int n)
{
	int err = 0;

	while (!err && l->nhelpers < n && l->nhelpers < MAX_HELPERS) {
		l->helper[l->nhelpers].m = l->server.m;
		err = pthread_create(&l->thread[l->nhelpers], NULL, helper_run,
				     &l->helper[l->nhelpers]);
		if (!err)
			l->nhelpers++;
	}
	return -err;
}

int loop_start(struct mount *m, unsigned int helpers, int end)
{
	struct loop *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	sem_init(&l->call, 0, 0);
	l->server.m = m;
	l->end = end;
	m->loop = l;
	err = helpers_start(l, helpers);
	if (!err)
		err = ddio_fs_serve(m->fs, fuse_session_fd(m->se), serve, m);
	l->serving = !err;
	return err;
}

void loop_end(struct mount *m)
{
	struct loop *l = m->loop;
	unsigned int i;

	if (!l)
		return;
	if (l->serving)
		ddio_fs_serve_end(m->fs);
	atomic_store(&l->stop, true);
	for (i = 0; i < l->nhelpers; i++)
		sem_post(&l->call);
	for (i = 0; i < l->nhelpers; i++) {
		pthread_join(l->thread[i], NULL);
		free(l->helper[i].message.mem);
	}
	free(l->server.message.mem);
	sem_destroy(&l->call);
	free(l);
	m->loop = NULL;
}
