// SPDX-License-Identifier: GPL-2.0-only
/*
 * histories [--seed N] [--seconds N] [--locks] [--durable] DIR DIR: processes on two mounts read and write slots of one file, and
 * what each saw has to be a history that one disk could have.
 *
 * A slot holds one value, repeated over all of it; slots lie across blocks.  Which values there are, and when writing them began and ended, is
 * kept in memory that the processes share.
 *
 * With --locks a slot is read and written under locks of fcntl(2), by anybody: who has the lock is alone (or
 * among readers), and reads the last value.  Without, each slot has one writer, and readers read whenever they
 * like (for mounts that keep nothing): no value older than the last whose writing had ended when the reading began, none newer
 * than the last whose writing had begun when it ended, and a slot goes from one value to the next, in order.
 *
 * With --durable servers may die meanwhile.  A value is written when it is durable (O_DSYNC), and written again as long
 * as that fails with EIO.  Until then a reader without a lock may see it, and an older one after it.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 24
#define SLOT_BYTES 5000u
#define WORDS (SLOT_BYTES / sizeof(uint64_t))
#define WORKERS 6
#define OPERATIONS 100 /* at least */

/**
 * struct slot - what is known of a slot
 * @begun: the last value whose writing has begun
 * @ended: the last one whose writing has ended
 * @writers, @readers: who is in, by the locks that they were given
 */
struct slot {
	atomic_ullong begun, ended;
	atomic_int writers, readers;
};

struct shared {
	struct slot slot[SLOTS];
	atomic_ullong operations;
	atomic_bool stop;
};

struct worker {
	struct shared *s;
	uint64_t random, seen[SLOTS];
	bool locks, durable;
	int fd, me;
};

static uint32_t random_next(struct worker *w, uint32_t below)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(w->random >> 33) % below;
}

__attribute__((format(printf, 3, 4))) static bool wrong(struct worker *w, uint32_t slot,
							const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printf("process %d, slot %u: %s\n", w->me, slot, text);
	fflush(stdout);
	atomic_store(&w->s->stop, true);
	return false;
}

/* The oldest and the newest value in it. */
static bool slot_read(struct worker *w, uint32_t i, uint64_t *first, uint64_t *last)
{
	uint64_t word[WORDS];
	unsigned int k;

	if (pread(w->fd, word, SLOT_BYTES, (off_t)i * SLOT_BYTES) != SLOT_BYTES)
		return wrong(w, i, "cannot be read: %s", strerror(errno));
	*first = *last = word[0];
	for (k = 1; k < WORDS; k++) {
		if (word[k] < *first)
			*first = word[k];
		if (word[k] > *last)
			*last = word[k];
	}
	return true;
}

static bool slot_write(struct worker *w, uint32_t i, uint64_t value)
{
	uint64_t word[WORDS];
	unsigned int k;

	for (k = 0; k < WORDS; k++)
		word[k] = value;
	while (pwrite(w->fd, word, SLOT_BYTES, (off_t)i * SLOT_BYTES) != SLOT_BYTES)
		if (!w->durable || errno != EIO)
			return wrong(w, i, "cannot be written: %s", strerror(errno));
	return true;
}

static bool lock(struct worker *w, uint32_t i, short type)
{
	struct flock l = { .l_type = type,
			   .l_whence = SEEK_SET,
			   .l_start = (off_t)i * SLOT_BYTES,
			   .l_len = SLOT_BYTES };

	if (fcntl(w->fd, F_SETLKW, &l))
		return wrong(w, i, "cannot be locked: %s", strerror(errno));
	return true;
}

static bool locked_check(struct worker *w, uint32_t i)
{
	uint64_t first, last, want = atomic_load(&w->s->slot[i].ended);

	if (!slot_read(w, i, &first, &last))
		return false;
	if (first != want || last != want)
		return wrong(w, i, "under the lock %llu to %llu is read, the last value is %llu",
			     (unsigned long long)first, (unsigned long long)last,
			     (unsigned long long)want);
	return true;
}

static bool locked_write(struct worker *w, uint32_t i)
{
	struct slot *s = &w->s->slot[i];
	uint64_t value;
	bool good;

	if (!lock(w, i, F_WRLCK))
		return false;
	if (atomic_fetch_add(&s->writers, 1) || atomic_load(&s->readers))
		return wrong(w, i, "a second has the write lock");
	good = random_next(w, 2) || locked_check(w, i);
	value = atomic_load(&s->ended) + 1;
	good = good && slot_write(w, i, value);
	atomic_store(&s->ended, value);
	atomic_fetch_sub(&s->writers, 1);
	return good && lock(w, i, F_UNLCK);
}

static bool locked_read(struct worker *w, uint32_t i)
{
	struct slot *s = &w->s->slot[i];
	bool good;

	if (!lock(w, i, F_RDLCK))
		return false;
	atomic_fetch_add(&s->readers, 1);
	if (atomic_load(&s->writers))
		return wrong(w, i, "a reader's lock beside a writer's");
	good = locked_check(w, i);
	atomic_fetch_sub(&s->readers, 1);
	return good && lock(w, i, F_UNLCK);
}

static bool free_write(struct worker *w, uint32_t i)
{
	struct slot *s = &w->s->slot[i];
	uint64_t value = atomic_load(&s->ended) + 1;

	atomic_store(&s->begun, value);
	if (!slot_write(w, i, value))
		return false;
	atomic_store(&s->ended, value);
	return true;
}

static bool free_read(struct worker *w, uint32_t i)
{
	struct slot *s = &w->s->slot[i];
	uint64_t least = atomic_load(&s->ended), most, first, last;

	if (!slot_read(w, i, &first, &last))
		return false;
	most = atomic_load(&s->begun);
	if (least < w->seen[i] && !w->durable)
		least = w->seen[i];
	if (first < least || last > most)
		return wrong(w, i, "%llu to %llu is read, where %llu to %llu can be",
			     (unsigned long long)first, (unsigned long long)last,
			     (unsigned long long)least, (unsigned long long)most);
	w->seen[i] = first;
	return true;
}

static bool step(struct worker *w)
{
	uint32_t i = random_next(w, SLOTS);

	atomic_fetch_add(&w->s->operations, 1);
	if (w->locks)
		return random_next(w, 2) ? locked_write(w, i) : locked_read(w, i);
	if (i % WORKERS == (uint32_t)w->me)
		return free_write(w, i);
	return free_read(w, i);
}

static int work(struct worker *w, const char *dir)
{
	char path[4096];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(path, sizeof(path), "%s/histories", dir);
	w->fd = open(path, O_RDWR | O_CLOEXEC | (w->durable ? O_DSYNC : 0));
	if (w->fd < 0) {
		wrong(w, 0, "%s: %s", path, strerror(errno));
		return 1;
	}
	while (!atomic_load(&w->s->stop))
		if (!step(w))
			return 1;
	return close(w->fd) ? 1 : 0;
}

static bool file_write(struct worker *w)
{
	uint32_t i;

	for (i = 0; i < SLOTS; i++)
		if (!slot_write(w, i, 0))
			return false;
	return !fsync(w->fd);
}

/* A daemon that is killed meanwhile takes along what was not synced, and the sync says so: then it is written again. */
static int file_make(struct shared *s, const char *dir, bool durable)
{
	struct worker w = { .s = s, .me = -1, .durable = durable };
	char path[4096];
	int tries = 0;
	bool ok;

	snprintf(path, sizeof(path), "%s/histories", dir);
	w.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (w.fd < 0)
		return -1;
	do
		ok = file_write(&w);
	while (!ok && durable && errno == EIO && ++tries < 20);
	return close(w.fd) || !ok ? -1 : 0;
}

/* Runs for the time given, and on until the history is long enough, but not for ever. */
static bool going_on(struct shared *s, int tenths, int asked)
{
	return tenths < asked || (atomic_load(&s->operations) < OPERATIONS && tenths < 600);
}

static int run(struct shared *s, char **dirs, uint64_t seed, unsigned int seconds, bool locks,
	       bool durable)
{
	pid_t pid[WORKERS];
	int i, status, bad = 0;

	for (i = 0; i < WORKERS; i++) {
		struct worker w = { .s = s,
				    .random = seed * 1000 + (uint64_t)i,
				    .locks = locks,
				    .durable = durable,
				    .me = i };

		pid[i] = fork();
		if (!pid[i])
			_exit(work(&w, dirs[i % 2]));
	}
	for (i = 0; going_on(s, i, (int)seconds * 10) && !atomic_load(&s->stop); i++)
		nanosleep(&(const struct timespec){ .tv_nsec = 100000000 }, NULL);
	atomic_store(&s->stop, true);
	for (i = 0; i < WORKERS; i++) {
		waitpid(pid[i], &status, 0);
		bad |= !WIFEXITED(status) || WEXITSTATUS(status);
	}
	return bad;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "seed", 1, NULL, 's' },
						 { "seconds", 1, NULL, 't' },
						 { "locks", 0, NULL, 'l' },
						 { "durable", 0, NULL, 'd' },
						 { NULL, 0, NULL, 0 } };
	unsigned int seconds = 10;
	struct shared *s;
	bool locks = false, durable = false;
	uint64_t seed = 1;
	int opt, bad;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (opt == 't')
			seconds = (unsigned int)atoi(optarg);
		else if (opt == 'l')
			locks = true;
		else if (opt == 'd')
			durable = true;
		else
			return 2;
	}
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (optind + 2 != argc || s == MAP_FAILED || file_make(s, argv[optind], durable)) {
		fprintf(stderr, "histories: two directories are needed: %s\n", strerror(errno));
		return 2;
	}
	bad = run(s, argv + optind, seed, seconds, locks, durable);
	printf("%llu operations by %d processes, seed %llu: %s\n",
	       (unsigned long long)atomic_load(&s->operations), WORKERS, (unsigned long long)seed,
	       bad ? "WRONG" : "one history");
	return bad || atomic_load(&s->operations) < OPERATIONS;
}
