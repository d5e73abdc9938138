// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that the nodes do not answer in time.
 *
 * The kernel lets a process go when its request has an answer, and not before: a process that is killed stays until
 * then, and one that closes a file, to exit or to run a program, cannot even be killed.  So a thread looks at the requests
 * under way, and answers some of them early:
 *
 *	any request of a process that is being killed: EINTR, which nobody sees;
 *	a close whose time is over: ETIMEDOUT;
 *	a write of pages by the kernel: success.  The pages are kept here, and no fsync or close says so much.
 *
 * The request goes on at the library.  The kernel refuses the later answer (ENOENT).  A request that changes data then holds
 * its file: requests that read, change, sync or close the file wait for its end, so that no old bytes are read, and none
 * overwrite newer ones.  If it fails, the next fsync or close of the file tells its error.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "ddiofs.h"

#define MS 1000000ull
/* A killed process, and pages, wait for so long; and the thread between two looks, while requests are under way and else. */
#define PATIENCE_NS (300 * MS)
#define LOOK_NS (200 * MS)
#define IDLE_NS (500 * MS)
/*
 * All closes of a thread within a while take so long together: each may take three quarters of what is left.  A thread
 * that exits has no more than the patience above.
 */
#define CLOSES_NS (1900 * MS)
#define WHILE_NS (10000 * MS)
/* Bytes of pages that are kept; each takes a buffer. */
#define KEEP_MAX (256u << 20)
#define KEEP_MIN (16u << 10)
/* Files of which an error has not been told. */
enum { UNTOLD_MAX = 4096 };

/**
 * struct late_file - a file of which a request was answered that is not over, or has failed
 * @busy: requests that change its data
 * @err: what one of them ended with
 * @first, @last: those that wait, by struct request.next
 */
struct late_file {
	struct late_file *next;
	uint64_t ino;
	unsigned int busy;
	int err;
	struct request *first, **last;
};

/*
 * Files; with the mount's lock
 */
static struct late_file **late_at(struct mount *m, uint64_t ino)
{
	struct late_file **at = &m->late.files;

	while (*at && (*at)->ino != ino)
		at = &(*at)->next;
	return at;
}

static void late_drop(struct mount *m, struct late_file **at)
{
	struct late_file *l = *at;

	*at = l->next;
	free(l);
	atomic_fetch_sub(&m->late.nfiles, 1);
}

/* Forgets the error that has been untold for longest, if there are too many. */
static void late_bound(struct mount *m)
{
	struct late_file **at = &m->late.files, **oldest = NULL;

	if (atomic_load(&m->late.nfiles) < UNTOLD_MAX)
		return;
	for (; *at; at = &(*at)->next)
		if (!(*at)->busy)
			oldest = at;
	if (oldest)
		late_drop(m, oldest);
}

/* Returns NULL if there is no memory. */
static struct late_file *late_get(struct mount *m, uint64_t ino)
{
	struct late_file *l = *late_at(m, ino);

	if (l)
		return l;
	late_bound(m);
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->ino = ino;
	l->last = &l->first;
	l->next = m->late.files;
	m->late.files = l;
	atomic_fetch_add(&m->late.nfiles, 1);
	return l;
}

static void late_put(struct mount *m, struct late_file *l)
{
	if (!l->busy && !l->err)
		late_drop(m, late_at(m, l->ino));
}

/* The request has been answered and is not over: it holds its file.  False: no memory. */
static bool late_hold(struct request *r)
{
	struct late_file *l = late_get(r->m, r->at);

	if (l) {
		l->busy++;
		r->late = l;
	}
	return l;
}

/* Returns those that nobody holds up any more, by @next. */
static struct request *late_pop(struct late_file *l)
{
	struct request *ready = NULL, **last = &ready, *r;

	while (!l->busy && l->first) {
		r = l->first;
		l->first = r->next;
		if (!l->first)
			l->last = &l->first;
		r->next = NULL;
		r->waits = false;
		*last = r;
		last = &r->next;
		if (atomic_load(&r->answered) && atomic_load(&r->kind) & LATE_CHANGES) {
			l->busy++;
			r->late = l;
		}
	}
	return ready;
}

/* Waits behind those that hold the file. */
static void late_queue(struct mount *m, struct request *r)
{
	struct late_file *l = *late_at(m, r->at);

	r->next = NULL;
	*l->last = r;
	l->last = &r->next;
}

/*
 * Requests
 */
void late_add(struct request *r)
{
	struct mount *m = r->m;

	r->all = m->late.all;
	r->link = &m->late.all;
	if (r->all)
		r->all->link = &r->all;
	m->late.all = r;
}

struct request *late_remove(struct request *r)
{
	struct mount *m = r->m;
	struct request *ready = NULL;
	struct late_file *l = r->late;

	*r->link = r->all;
	if (r->all)
		r->all->link = r->link;
	m->late.kept -= r->kept;
	if (!l)
		return NULL;
	l->busy--;
	ready = late_pop(l);
	late_put(m, l);
	return ready;
}

void late_ready(struct request *ready)
{
	struct request *next;

	for (; ready; ready = next) {
		next = ready->next;
		ready->go(ready);
	}
}

/* Has pages answered, if there is room to keep them; with the lock. */
static bool page_keep(struct request *r)
{
	size_t cost = r->len > KEEP_MIN ? r->len : KEEP_MIN;

	if (r->m->late.kept + cost > KEEP_MAX)
		return false;
	r->kept = cost;
	r->m->late.kept += cost;
	return true;
}

/* The request is answered before it is over; with the lock.  False: it cannot be. */
static bool answer_early(struct request *r)
{
	unsigned int kind = atomic_load(&r->kind);

	/* One that waits holds its file when its turn comes. */
	if (kind & LATE_CHANGES && !r->waits && !r->late && !late_hold(r))
		return false;
	atomic_store(&r->answered, true);
	return true;
}

static bool page_early(struct request *r)
{
	if (!page_keep(r))
		return false;
	if (answer_early(r))
		return true;
	r->m->late.kept -= r->kept;
	r->kept = 0;
	return false;
}

/* Begins, or waits, among requests that are late; with the lock, which it releases. */
static void late_start_among(struct request *r)
{
	const struct late_file *l = *late_at(r->m, r->at);
	bool waits = l && l->busy, page = atomic_load(&r->kind) & LATE_PAGE, early;
	struct mount *m = r->m;
	uint64_t unique = r->unique;
	uint32_t len = (uint32_t)r->len;

	r->waits = waits;
	/* Other pages have waited for long: these would, too. */
	early = page && m->late.stuck && page_early(r);
	if (!early && atomic_load(&r->answered))
		answer_early(r);
	if (waits)
		late_queue(m, r);
	pthread_mutex_unlock(&m->lock);
	/* One that waits may be over by now. */
	if (early)
		reply_early(m, unique, 0, len);
	if (!waits)
		r->go(r);
}

void late_start(struct request *r, uint64_t ino, unsigned int kind, void (*go)(struct request *r))
{
	struct mount *m = r->m;

	r->at = ino;
	r->go = go;
	atomic_store(&r->kind, kind);
	if (!atomic_load(&m->late.nfiles) && !atomic_load(&r->answered)) {
		go(r);
		return;
	}
	pthread_mutex_lock(&m->lock);
	late_start_among(r);
}

bool late_is_busy(struct mount *m, uint64_t ino)
{
	const struct late_file *l;
	bool busy;

	if (!atomic_load(&m->late.nfiles))
		return false;
	pthread_mutex_lock(&m->lock);
	l = *late_at(m, ino);
	busy = l && l->busy;
	pthread_mutex_unlock(&m->lock);
	return busy;
}

void late_failed(struct mount *m, uint64_t ino, int err)
{
	struct late_file *l;

	pthread_mutex_lock(&m->lock);
	l = late_get(m, ino);
	if (l && !l->err)
		l->err = err;
	pthread_mutex_unlock(&m->lock);
}

int late_error(struct mount *m, uint64_t ino)
{
	struct late_file *l;
	int err = 0;

	if (!atomic_load(&m->late.nfiles))
		return 0;
	pthread_mutex_lock(&m->lock);
	l = *late_at(m, ino);
	if (l) {
		err = l->err;
		l->err = 0;
		late_put(m, l);
	}
	pthread_mutex_unlock(&m->lock);
	return err;
}

/*
 * Threads
 */
/* Returns the bits of a line of /proc/PID/status, such as "SigPnd:". */
static uint64_t status_bits(const char *text, const char *key)
{
	const char *line = strstr(text, key);

	return line ? strtoull(line + strlen(key), NULL, 16) : 0;
}

/*
 * Returns true if the thread is gone, exits, which takes its memory first, or cannot but exit.  Only this file of /proc: others
 * wait while the thread runs a program.  A thread of which nothing can be learnt, since /proc hides it, or no descriptor is
 * free, lives as long as a signal could reach it, and none has: @interrupted.
 */
static bool is_dying(pid_t pid, bool interrupted)
{
	const uint64_t killed = 1ull << (SIGKILL - 1);
	char path[40], text[4096];
	ssize_t len = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (len <= 0)
		return interrupted || (kill(pid, 0) && errno == ESRCH);
	text[len] = 0;
	return !strstr(text, "\nVmSize:") ||
	       (status_bits(text, "\nSigPnd:") | status_bits(text, "\nShdPnd:")) & killed;
}

/*
 * Closes
 */
static struct late_closer *closer_of(struct mount *m, pid_t pid, uint64_t now)
{
	struct late_closer *c;

	for (c = m->late.closer; c < &m->late.closer[LATE_CLOSERS]; c++)
		if (c->since && c->pid == pid && now - c->since < WHILE_NS)
			return c;
	return NULL;
}

/* The thread has waited so long without success; forgets the one that began first. */
static void closer_spent(struct mount *m, pid_t pid, uint64_t now, uint64_t ns)
{
	struct late_closer *c = closer_of(m, pid, now), *one;

	if (!c) {
		c = m->late.closer;
		for (one = c; one < &m->late.closer[LATE_CLOSERS]; one++)
			if (one->since < c->since)
				c = one;
		*c = (struct late_closer){ .pid = pid, .since = now };
	}
	c->spent += ns;
}

void late_close_begins(struct request *r)
{
	struct mount *m = r->m;
	const struct late_closer *c;
	uint64_t left = CLOSES_NS;
	bool again;

	pthread_mutex_lock(&m->lock);
	again = closer_of(m, r->pid, r->began);
	pthread_mutex_unlock(&m->lock);
	if (again && r->pid && is_dying(r->pid, false))
		left = 0;
	pthread_mutex_lock(&m->lock);
	c = closer_of(m, r->pid, r->began);
	if (c)
		left = c->spent < left ? left - c->spent : 0;
	r->deadline = r->began + left / 4 * 3;
	if (m->late.runs && r->deadline < m->late.look_at)
		pthread_cond_signal(&m->late.more);
	pthread_mutex_unlock(&m->lock);
}

/*
 * Looking
 */
void late_interrupted(struct mount *m, uint64_t unique)
{
	struct request *r;

	pthread_mutex_lock(&m->lock);
	for (r = m->late.all; r; r = r->all)
		if (r->unique == unique)
			r->interrupted = true;
	pthread_mutex_unlock(&m->lock);
}

/**
 * struct candidate - a request that is to be answered, if nothing else is found
 * @pid: the thread that must be dying; 0: none
 * @interrupted: a signal has come for it
 * @err, @len: the answer
 */
struct candidate {
	uint64_t unique;
	pid_t pid;
	bool interrupted;
	int err;
	uint32_t len;
};

/* Returns true if the request is to be answered now, perhaps; with the lock. */
static bool is_candidate(const struct request *r, uint64_t now, struct candidate *c)
{
	bool old = now - r->began >= PATIENCE_NS;

	*c = (struct candidate){ .unique = r->unique, .interrupted = r->interrupted };
	if (atomic_load(&r->answered) || !r->unique)
		return false;
	if (r->deadline) {
		c->err = -ETIMEDOUT;
		c->pid = now < r->deadline ? r->pid : 0;
		return now >= r->deadline || (old && r->pid);
	}
	if (atomic_load(&r->kind) & LATE_PAGE) {
		c->len = (uint32_t)r->len;
		return old || r->m->late.stuck;
	}
	c->err = -EINTR;
	c->pid = r->pid;
	return old && (r->pid || r->interrupted);
}

/* Pages that were answered, and have been under way for long. */
static bool is_stuck(const struct request *r, uint64_t now)
{
	return atomic_load(&r->kind) & LATE_PAGE && now - r->began >= PATIENCE_NS;
}

static void answer(struct mount *m, const struct candidate *c, uint64_t now)
{
	bool early = false;
	struct request *r;

	if (c->pid && !is_dying(c->pid, c->interrupted))
		return;
	pthread_mutex_lock(&m->lock);
	for (r = m->late.all; r && r->unique != c->unique; r = r->all)
		;
	if (r && r->deadline)
		closer_spent(m, r->pid, r->began, now - r->began);
	if (r && !atomic_load(&r->answered))
		early = c->err ? answer_early(r) : page_early(r);
	pthread_mutex_unlock(&m->lock);
	if (early)
		reply_early(m, c->unique, c->err, c->len);
}

void late_look(struct mount *m)
{
	struct candidate *list = NULL;
	uint64_t now, n = 0, i;
	struct request *r;

	pthread_mutex_lock(&m->lock);
	/* No request of the list began later. */
	now = clock_ns();
	m->late.stuck = false;
	for (r = m->late.all; r; r = r->all)
		m->late.stuck |= is_stuck(r, now);
	if (m->under_way)
		list = malloc(m->under_way * sizeof(*list));
	for (r = list ? m->late.all : NULL; r; r = r->all)
		n += is_candidate(r, now, &list[n]);
	pthread_mutex_unlock(&m->lock);
	for (i = 0; i < n; i++)
		answer(m, &list[i], now);
	free(list);
}

/* Returns when to look again; with the lock. */
static uint64_t look_next(const struct mount *m)
{
	uint64_t next = clock_ns() + (m->under_way ? LOOK_NS : IDLE_NS);
	const struct request *r;

	for (r = m->late.all; r; r = r->all)
		if (r->deadline && r->deadline < next && !atomic_load(&r->answered))
			next = r->deadline;
	return next;
}

static void *late_run(void *arg)
{
	struct mount *m = arg;
	struct timespec until;

	pthread_mutex_lock(&m->lock);
	while (!m->late.stop) {
		m->late.look_at = look_next(m);
		until.tv_sec = (time_t)(m->late.look_at / 1000000000ull);
		until.tv_nsec = (long)(m->late.look_at % 1000000000ull);
		pthread_cond_timedwait(&m->late.more, &m->lock, &until);
		m->late.look_at = 0;
		pthread_mutex_unlock(&m->lock);
		late_look(m);
		pthread_mutex_lock(&m->lock);
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

int late_begin(struct mount *m)
{
	pthread_condattr_t attr;
	int err;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&m->late.more, &attr);
	pthread_condattr_destroy(&attr);
	err = -pthread_create(&m->late.thread, NULL, late_run, m);
	m->late.runs = !err;
	if (err)
		pthread_cond_destroy(&m->late.more);
	return err;
}

void late_end(struct mount *m)
{
	if (m->late.runs) {
		pthread_mutex_lock(&m->lock);
		m->late.stop = true;
		pthread_cond_signal(&m->late.more);
		pthread_mutex_unlock(&m->lock);
		pthread_join(m->late.thread, NULL);
		pthread_cond_destroy(&m->late.more);
		m->late.runs = false;
	}
	while (m->late.files)
		late_drop(m, &m->late.files);
}
