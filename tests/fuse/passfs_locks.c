// SPDX-License-Identifier: GPL-2.0-only
/* Locks: a list of those held and a list of those waited for, searched from the beginning. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include "passfs.h"

struct lock {
	struct lock *next;
	uint64_t ino, id;
	struct ddio_fs_lock l;
	ddio_fs_done done;
	void *arg;
};

static bool meets(const struct ddio_fs_lock *a, const struct ddio_fs_lock *b)
{
	return a->flock == b->flock && a->start <= b->end && b->start <= a->end;
}

/* Returns the lowest of the locks that are in the way, or NULL. */
static struct lock *conflict(struct ddio_fs *fs, uint64_t ino, const struct ddio_fs_lock *l)
{
	struct lock *h, *lowest = NULL;

	for (h = passfs(fs)->held; h; h = h->next)
		if (h->ino == ino && h->l.owner != l->owner && meets(&h->l, l) &&
		    (h->l.type == F_WRLCK || l->type == F_WRLCK) &&
		    (!lowest || h->l.start < lowest->l.start))
			lowest = h;
	return lowest;
}

static void hold(struct ddio_fs *fs, uint64_t ino, const struct ddio_fs_lock *l)
{
	struct lock *n = calloc(1, sizeof(*n));

	if (!n)
		abort();
	n->ino = ino;
	n->l = *l;
	n->next = passfs(fs)->held;
	passfs(fs)->held = n;
}

/* Merges @l with locks of the same owner and type that overlap or touch it. */
static void join(struct ddio_fs *fs, uint64_t ino, struct ddio_fs_lock *l)
{
	struct lock **at = &passfs(fs)->held, *h;

	while ((h = *at)) {
		if (h->ino != ino || h->l.owner != l->owner || h->l.type != l->type ||
		    h->l.flock != l->flock || (l->end != UINT64_MAX && h->l.start > l->end + 1) ||
		    (h->l.end != UINT64_MAX && l->start > h->l.end + 1)) {
			at = &h->next;
			continue;
		}
		*at = h->next;
		if (h->l.start < l->start)
			l->start = h->l.start;
		if (h->l.end > l->end)
			l->end = h->l.end;
		free(h);
		at = &passfs(fs)->held;
	}
}

/* Takes the range away from what the owner holds, then gives it the new type. */
static void put(struct ddio_fs *fs, uint64_t ino, const struct ddio_fs_lock *l)
{
	struct lock **at = &passfs(fs)->held, *h;
	struct ddio_fs_lock rest, whole = *l;

	while ((h = *at)) {
		if (h->ino != ino || h->l.owner != l->owner || !meets(&h->l, l)) {
			at = &h->next;
			continue;
		}
		*at = h->next;
		rest = h->l;
		if (rest.start < l->start) {
			rest.end = l->start - 1;
			hold(fs, ino, &rest);
			if (at == &passfs(fs)->held)
				at = &passfs(fs)->held->next;
		}
		rest = h->l;
		if (rest.end > l->end) {
			rest.start = l->end + 1;
			hold(fs, ino, &rest);
			if (at == &passfs(fs)->held)
				at = &passfs(fs)->held->next;
		}
		free(h);
	}
	if (l->type == F_UNLCK)
		return;
	join(fs, ino, &whole);
	hold(fs, ino, &whole);
}

static void retry(struct ddio_fs *fs)
{
	struct lock **at = &passfs(fs)->waiting, *w;

	while ((w = *at)) {
		if (conflict(fs, w->ino, &w->l)) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		put(fs, w->ino, &w->l);
		answer_err(fs, w->done, w->arg, 0);
		free(w);
		at = &passfs(fs)->waiting;
	}
}

/* Returns true if @owner would wait for itself, through those that @holder waits for. */
static bool deadlock(struct ddio_fs *fs, uint64_t holder, uint64_t owner, int depth)
{
	struct lock *w, *h;

	if (holder == owner)
		return true;
	for (w = passfs(fs)->waiting; w && depth < 16; w = w->next) {
		if (w->l.owner != holder || w->l.flock)
			continue;
		h = conflict(fs, w->ino, &w->l);
		if (h && deadlock(fs, h->l.owner, owner, depth + 1))
			return true;
	}
	return false;
}

void ddio_fs_lock_test(struct ddio_fs_file *file, const struct ddio_fs_lock *lock,
		       ddio_fs_done done, void *arg)
{
	struct ddio_fs *fs = passfs_file(file)->fs;
	struct answer *a = answer_new(done, arg);
	struct ddio_fs_lock *found = malloc(sizeof(*found));
	struct lock *h;

	if (!found)
		abort();
	pthread_mutex_lock(&passfs(fs)->locks_lock);
	h = conflict(fs, passfs_file(file)->ino, lock);
	*found = h ? h->l : *lock;
	if (!h)
		found->type = F_UNLCK;
	pthread_mutex_unlock(&passfs(fs)->locks_lock);
	a->data = found;
	a->reply.data = found;
	a->reply.len = sizeof(*found);
	answer_give(fs, a);
}

static void wait_for(struct ddio_fs *fs, uint64_t ino, const struct ddio_fs_lock *lock,
		     ddio_fs_done done, void *arg)
{
	struct lock *w = calloc(1, sizeof(*w)), **at = &passfs(fs)->waiting;

	if (!w)
		abort();
	*w = (struct lock){
		.ino = ino, .id = passfs(fs)->last_id, .l = *lock, .done = done, .arg = arg
	};
	while (*at)
		at = &(*at)->next;
	*at = w;
}

void ddio_fs_lock_set(struct ddio_fs_file *file, const struct ddio_fs_lock *lock, bool wait,
		      uint64_t *id, ddio_fs_done done, void *arg)
{
	struct ddio_fs *fs = passfs_file(file)->fs;
	struct lock *h;

	pthread_mutex_lock(&passfs(fs)->locks_lock);
	if (wait)
		*id = ++passfs(fs)->last_id;
	h = lock->type == F_UNLCK ? NULL : conflict(fs, passfs_file(file)->ino, lock);
	if (!h) {
		put(fs, passfs_file(file)->ino, lock);
		retry(fs);
		answer_err(fs, done, arg, 0);
	} else if (!wait) {
		answer_err(fs, done, arg, -EAGAIN);
	} else if (!lock->flock && deadlock(fs, h->l.owner, lock->owner, 0)) {
		answer_err(fs, done, arg, -EDEADLK);
	} else {
		wait_for(fs, passfs_file(file)->ino, lock, done, arg);
	}
	pthread_mutex_unlock(&passfs(fs)->locks_lock);
}

static void cancel(struct ddio_fs *fs, uint64_t id, bool all, int err)
{
	struct lock **at = &passfs(fs)->waiting, *w;

	pthread_mutex_lock(&passfs(fs)->locks_lock);
	while ((w = *at)) {
		if (!all && w->id != id) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		answer_err(fs, w->done, w->arg, err);
		free(w);
	}
	pthread_mutex_unlock(&passfs(fs)->locks_lock);
}

void ddio_fs_lock_cancel(struct ddio_fs *fs, uint64_t id)
{
	cancel(fs, id, false, -EINTR);
}

void locks_end(struct ddio_fs *fs)
{
	struct lock *h;

	cancel(fs, 0, true, -ESHUTDOWN);
	while ((h = passfs(fs)->held)) {
		passfs(fs)->held = h->next;
		free(h);
	}
}

void ddio_fs_unlock_owner(struct ddio_fs_file *file, uint64_t owner, ddio_fs_done done, void *arg)
{
	const struct ddio_fs_lock none = { .type = F_UNLCK, .end = UINT64_MAX, .owner = owner };

	ddio_fs_lock_set(file, &none, false, NULL, done, arg);
}
