// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dropping the kernel's pages of a file.  That waits for pages that are being read, so it is done neither
 * on a thread that takes requests nor on one that brings replies, but on threads of its own, made as needed.
 */
#include <errno.h>
#include <stdlib.h>
#include "ddiofs.h"

#define MAX_THREADS 8

/**
 * struct drops - requests whose inode's pages are to be dropped
 * @idle: threads that wait for @more
 */
struct drops {
	struct fuse_session *se;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct request *first, **last;
	pthread_t threads[MAX_THREADS];
	unsigned int nthreads, idle;
	bool stop;
};

static void *drops_run(void *arg)
{
	struct drops *d = arg;
	struct request *r;

	pthread_mutex_lock(&d->lock);
	for (;;) {
		while (!d->first && !d->stop) {
			d->idle++;
			pthread_cond_wait(&d->more, &d->lock);
			d->idle--;
		}
		r = d->first;
		if (!r)
			break;
		d->first = r->next;
		if (!d->first)
			d->last = &d->first;
		pthread_mutex_unlock(&d->lock);
		fuse_lowlevel_notify_inval_inode(d->se, nodeid_of(r->m, r->ino), 0, 0);
		r->dropped(r);
		pthread_mutex_lock(&d->lock);
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

struct drops *drops_new(struct fuse_session *se)
{
	struct drops *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->se = se;
	d->last = &d->first;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->more, NULL);
	if (!pthread_create(&d->threads[0], NULL, drops_run, d)) {
		d->nthreads = 1;
		return d;
	}
	drops_free(d);
	return NULL;
}

void pages_drop(struct drops *d, struct request *r, void (*then)(struct request *r))
{
	r->dropped = then;
	r->next = NULL;
	pthread_mutex_lock(&d->lock);
	*d->last = r;
	d->last = &r->next;
	if (!d->idle && d->nthreads < MAX_THREADS &&
	    !pthread_create(&d->threads[d->nthreads], NULL, drops_run, d))
		d->nthreads++;
	pthread_cond_signal(&d->more);
	pthread_mutex_unlock(&d->lock);
}

static void doubted_dropped(struct request *r)
{
	free(r);
}

void pages_doubted(void *mount, uint64_t ino)
{
	struct mount *m = mount;
	struct request *r = m->drops ? calloc(1, sizeof(*r)) : NULL;

	if (!r)
		return;
	r->m = m;
	r->ino = ino;
	pages_drop(m->drops, r, doubted_dropped);
}

void drops_free(struct drops *d)
{
	unsigned int i;

	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->stop = true;
	pthread_cond_broadcast(&d->more);
	pthread_mutex_unlock(&d->lock);
	for (i = 0; i < d->nthreads; i++)
		pthread_join(d->threads[i], NULL);
	pthread_cond_destroy(&d->more);
	pthread_mutex_destroy(&d->lock);
	free(d);
}
