// SPDX-License-Identifier: GPL-2.0-only
/*
 * How soon a name server answers one client, and what others may do to it meanwhile.
 *
 *   bench_prompt probe DIR SECONDS
 *	looks 200 times a second at a file of DIR, and makes and removes one every tenth time.  Prints how many requests
 *	were answered, and their median, 99th percentile and maximum in ms.
 *   bench_prompt locks DIR LOCKS WAITERS
 *	until killed: takes so many locks of single bytes of a file and gives them back, while as many
 *	processes wait for a lock of another.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS 5000000
#define FILES 100
#define SAMPLES_MAX 100000

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void sleep_until(uint64_t at)
{
	struct timespec ts = { (time_t)(at / 1000000000), (long)(at % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int make(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	return fd < 0 ? -1 : close(fd);
}

/* One request, or two: 0 or -1. */
static int ask(const char *dir, uint64_t k)
{
	char path[4200];
	struct stat st;

	if (k % 10 == 9) {
		snprintf(path, sizeof(path), "%s/made%llu", dir, (unsigned long long)k);
		return make(path) || unlink(path) ? -1 : 0;
	}
	snprintf(path, sizeof(path), "%s/f%llu", dir, (unsigned long long)(k % FILES));
	return stat(path, &st);
}

static int probe(const char *dir, double seconds)
{
	static uint64_t took[SAMPLES_MAX];
	uint64_t begin, end, n = 0, k;
	char path[4200];

	for (k = 0; k < FILES; k++) {
		snprintf(path, sizeof(path), "%s/f%llu", dir, (unsigned long long)k);
		if (make(path))
			return -1;
	}
	begin = now_ns();
	end = begin + (uint64_t)(seconds * 1e9);
	while (now_ns() < end && n < SAMPLES_MAX) {
		uint64_t at = now_ns();

		if (ask(dir, n))
			return -1;
		took[n] = now_ns() - at;
		sleep_until(at + (took[n] > PERIOD_NS ? took[n] : PERIOD_NS));
		n++;
	}
	if (!n)
		return -1;
	qsort(took, n, sizeof(*took), by_value);
	printf("%llu %.2f %.2f %.2f\n", (unsigned long long)n, (double)took[n / 2] / 1e6,
	       (double)took[n * 99 / 100] / 1e6, (double)took[n - 1] / 1e6);
	return 0;
}

static int lock(int fd, short type, long at, int cmd)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 };

	return fcntl(fd, cmd, &l);
}

static int open_file(const char *dir, const char *name)
{
	char path[4200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return open(path, O_CREAT | O_RDWR, 0600);
}

/* Waits for a lock that is never given back. */
static void wait_for(const char *dir)
{
	int fd = open_file(dir, "held");

	lock(fd, F_WRLCK, 0, F_OFD_SETLKW);
	_exit(1);
}

static int locks(const char *dir, long n, long waiters)
{
	int fd = open_file(dir, "locked"), held = open_file(dir, "held");
	long i;

	if (fd < 0 || held < 0 || lock(held, F_WRLCK, 0, F_OFD_SETLK))
		return -1;
	for (i = 0; i < waiters; i++)
		if (!fork())
			wait_for(dir);
	for (;;) {
		for (i = 0; i < n; i++)
			if (lock(fd, F_WRLCK, 2 * i, F_OFD_SETLK))
				return -1;
		for (i = 0; i < n; i++)
			if (lock(fd, F_UNLCK, 2 * i, F_OFD_SETLK))
				return -1;
	}
}

int main(int argc, char **argv)
{
	int err = 1;

	if (argc == 4 && !strcmp(argv[1], "probe")) {
		err = probe(argv[2], atof(argv[3]));
	} else if (argc == 5 && !strcmp(argv[1], "locks")) {
		err = locks(argv[2], atol(argv[3]), atol(argv[4]));
	} else {
		fprintf(stderr,
			"usage: bench_prompt probe DIR SECONDS | locks DIR LOCKS WAITERS\n");
		return 2;
	}
	if (err)
		perror("bench_prompt");
	return err ? 1 : 0;
}
