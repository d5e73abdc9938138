// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that were told ESTALE.  The kernel then looks the path up once more and makes the request again, but only
 * once: if the file is replaced again between the two, the program gets the error.  So whatever file such a
 * thread looks up is kept open for it until it has opened it, or a second has passed since it looked the first
 * one up; what is open lives on without a name.
 *
 * ESTALE is also the answer to a request by an inode that has lost its name, since the kernel may have come to it by a name
 * that is another inode's now.  A thread that asks the same once more, and has looked nothing up elsewhere, did not come
 * by a name, but by an open file (/proc/self/fd), or works in the directory.  Any other request says that the call is over.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "ddiofs.h"

enum { SLOTS = 1024, WAYS = 4 };
#define KEEP_NS 1000000000ull

/**
 * struct again_slot - a thread that was told ESTALE
 * @pid: its number; 0: the slot is free
 * @opening: it was an open that was told so
 * @told: of which inode; @state: and what came of it since
 * @fresh: it has only gone along paths since
 * @until: when it is no longer expected
 * @file: kept open for it, or NULL; @kept: its inode
 */
struct again_slot {
	pid_t pid;
	uint64_t until;
	uint64_t told, kept;
	struct ddio_fs_file *file;
	enum again_state state;
	bool opening, fresh;
};

/**
 * struct again_set - all of them
 * @kept: how many files are kept open
 * @used: some thread was told ESTALE; most never are
 * @unknown: until when threads are expected that have no number
 * @thread: closes files that no one came for, if it @runs
 */
struct again_set {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct again_slot slot[SLOTS];
	unsigned int kept;
	pthread_t thread;
	bool runs, stop;
	atomic_bool used;
	atomic_uint_fast64_t unknown;
};

struct again_set *again_new(void)
{
	struct again_set *a = calloc(1, sizeof(*a));
	pthread_condattr_t attr;

	if (!a)
		return NULL;
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->more, &attr);
	pthread_condattr_destroy(&attr);
	return a;
}

void again_end(struct again_set *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->more);
	pthread_mutex_unlock(&a->lock);
	if (a->runs)
		pthread_join(a->thread, NULL);
	a->runs = false;
}

void again_free(struct again_set *a)
{
	if (!a)
		return;
	pthread_cond_destroy(&a->more);
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static void closed(void *arg, const struct ddio_fs_reply *reply)
{
	(void)arg;
	(void)reply;
}

/* Frees the slot; its file is closed by the caller, without the lock. */
static struct ddio_fs_file *slot_empty(struct again_set *a, struct again_slot *s)
{
	struct ddio_fs_file *file = s->file;

	*s = (struct again_slot){ .pid = 0 };
	a->kept -= file != NULL;
	return file;
}

static struct again_slot *slot_find(struct again_set *a, pid_t pid)
{
	unsigned int i, at = (unsigned int)pid * WAYS % SLOTS;

	for (i = 0; pid && i < WAYS; i++)
		if (a->slot[at + i].pid == pid)
			return &a->slot[at + i];
	return NULL;
}

/* Returns the thread's slot, a free one, or that of the thread that came first. */
static struct again_slot *slot_get(struct again_set *a, pid_t pid)
{
	unsigned int i, at = (unsigned int)pid * WAYS % SLOTS;
	struct again_slot *s = slot_find(a, pid), *p;

	for (i = 0; !s && i < WAYS; i++)
		if (!a->slot[at + i].pid)
			s = &a->slot[at + i];
	if (s)
		return s;
	s = &a->slot[at];
	for (p = s + 1; p < &a->slot[at + WAYS]; p++)
		if (p->until < s->until)
			s = p;
	return s;
}

void again_mark(struct again_set *a, pid_t pid, uint64_t ino, enum again_by by)
{
	struct ddio_fs_file *file = NULL;
	struct again_slot *s;

	if (!pid) {
		atomic_store(&a->unknown, clock_ns() + KEEP_NS);
		return;
	}
	pthread_mutex_lock(&a->lock);
	s = slot_get(a, pid);
	if (s->pid != pid)
		file = slot_empty(a, s);
	s->pid = pid;
	s->opening |= by == AGAIN_OPEN;
	s->told = ino;
	s->state = by == AGAIN_LOOKUP ? AGAIN_LOOKED : AGAIN_ASKED;
	s->fresh = true;
	s->until = clock_ns() + KEEP_NS;
	pthread_mutex_unlock(&a->lock);
	atomic_store(&a->used, true);
	if (file)
		ddio_fs_file_close(file, closed, NULL);
}

static bool is_marked(struct again_set *a, pid_t pid, bool opening)
{
	struct again_slot *s;
	bool is;

	if (!pid || !atomic_load(&a->used))
		return false;
	pthread_mutex_lock(&a->lock);
	s = slot_find(a, pid);
	is = s && s->until > clock_ns() && (s->opening || !opening);
	pthread_mutex_unlock(&a->lock);
	return is;
}

bool again_is(struct again_set *a, pid_t pid)
{
	return pid ? is_marked(a, pid, false) : atomic_load(&a->unknown) > clock_ns();
}

/* Returns the slot of a thread that was told ESTALE lately, with the lock held, or NULL without. */
static struct again_slot *slot_lock(struct again_set *a, pid_t pid)
{
	struct again_slot *s;

	if (!pid || !atomic_load(&a->used))
		return NULL;
	pthread_mutex_lock(&a->lock);
	s = slot_find(a, pid);
	if (s && s->until > clock_ns())
		return s;
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

struct again_was again_over(struct again_set *a, pid_t pid, uint64_t ino)
{
	struct again_slot *s = slot_lock(a, pid);
	struct again_was was = { .state = AGAIN_NONE };

	if (!s)
		return was;
	if (s->told == ino)
		was.state = s->state;
	was.kept = s->fresh && s->file && s->kept == ino;
	s->state = AGAIN_NONE;
	s->fresh = false;
	pthread_mutex_unlock(&a->lock);
	return was;
}

void again_looks(struct again_set *a, pid_t pid, uint64_t parent)
{
	struct again_slot *s = slot_lock(a, pid);

	if (!s)
		return;
	if (s->told != parent)
		s->state = AGAIN_NONE;
	pthread_mutex_unlock(&a->lock);
}

void again_lacks(struct again_set *a, pid_t pid)
{
	struct again_slot *s = slot_lock(a, pid);

	if (!s)
		return;
	s->fresh = false;
	pthread_mutex_unlock(&a->lock);
}

bool again_looked(struct again_set *a, pid_t pid, uint64_t parent)
{
	struct again_slot *s = slot_lock(a, pid);
	bool again;

	if (!s)
		return false;
	again = s->told == parent && (s->state == AGAIN_LOOKED || s->state == AGAIN_ASKED);
	if (again)
		s->state = s->state == AGAIN_LOOKED ? AGAIN_LOOKED_TWICE : AGAIN_ASKED_LOOKED;
	else
		s->state = AGAIN_NONE;
	pthread_mutex_unlock(&a->lock);
	return again;
}

bool again_is_opening(struct again_set *a, pid_t pid)
{
	return is_marked(a, pid, true);
}

void again_done(struct again_set *a, pid_t pid)
{
	struct ddio_fs_file *file = NULL;
	struct again_slot *s;

	if (!pid || !atomic_load(&a->used))
		return;
	pthread_mutex_lock(&a->lock);
	s = slot_find(a, pid);
	if (s)
		file = slot_empty(a, s);
	pthread_mutex_unlock(&a->lock);
	if (file)
		ddio_fs_file_close(file, closed, NULL);
}

/* Closes one file whose time is over.  Returns false if there is none, with the time of the next in *@next. */
static bool expire_one(struct again_set *a, uint64_t *next)
{
	uint64_t now = clock_ns();
	struct ddio_fs_file *file;
	struct again_slot *s;

	*next = now + KEEP_NS;
	for (s = a->slot; s < &a->slot[SLOTS]; s++) {
		if (!s->file)
			continue;
		if (s->until > now && !a->stop) {
			*next = s->until < *next ? s->until : *next;
			continue;
		}
		file = slot_empty(a, s);
		pthread_mutex_unlock(&a->lock);
		ddio_fs_file_close(file, closed, NULL);
		pthread_mutex_lock(&a->lock);
		return true;
	}
	return false;
}

static void *again_run(void *arg)
{
	struct again_set *a = arg;
	struct timespec until;
	uint64_t next;

	pthread_mutex_lock(&a->lock);
	for (;;) {
		if (expire_one(a, &next))
			continue;
		if (a->stop)
			break;
		until.tv_sec = (time_t)(next / 1000000000ull);
		until.tv_nsec = (long)(next % 1000000000ull);
		if (a->kept)
			pthread_cond_timedwait(&a->more, &a->lock, &until);
		else
			pthread_cond_wait(&a->more, &a->lock);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

void again_keep(struct again_set *a, pid_t pid, struct ddio_fs_file *file, uint64_t ino)
{
	struct ddio_fs_file *before = file;
	struct again_slot *s;

	pthread_mutex_lock(&a->lock);
	if (!a->runs && !a->stop)
		a->runs = !pthread_create(&a->thread, NULL, again_run, a);
	s = slot_find(a, pid);
	if (s && a->runs && !a->stop) {
		before = s->file;
		s->file = file;
		s->kept = ino;
		/* Only once: a thread that goes on looking files up without opening them is not helped for ever. */
		if (!before)
			s->until = clock_ns() + KEEP_NS;
		a->kept += !before;
		pthread_cond_signal(&a->more);
	}
	pthread_mutex_unlock(&a->lock);
	if (before)
		ddio_fs_file_close(before, closed, NULL);
}
