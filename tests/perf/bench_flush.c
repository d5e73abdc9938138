// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the flushes of a write and fsync cost without anything around them: the least that a cluster on one file system
 * can take for it, beside a program that writes there by itself.
 *
 *   bench_flush [DIR [CALLS [ROUNDS]]]     Default: /var/tmp 200 5
 *
 * The ways, each on files of its own:
 *   file      4 KB through the page cache, and fsync: what a pass-through does
 *   disk      a block of 32 KB past the page cache, and fdatasync: an I/O processor's disk
 *   append    168 bytes appended, and fdatasync
 *   journal   168 bytes over zeros, and fdatasync: the name space's journal
 *   both      disk and journal at once, on two threads: a sync through a mount
 *   records   disk, and beside it 16 KB and fdatasync, then 4 KB O_DSYNC: the same, with a commit of LMDB for the journal
 *
 * Each round measures CALLS of each, in turns; what is printed are medians of the rounds' medians, in microseconds, and how
 * many times as long as "file" a round took, in the median with the least and the greatest.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	CALLS_MAX = 10000,
	ROUNDS_MAX = 99,
	BLOCK = 32768,
	PAGE = 4096,
	RECORD = 168,
	SPAN = 100,
	RECORDS_MAX = 1500,
	FILES = 6
};
enum { PLAIN, DISK, APPEND, JOURNAL, RECORDS, HEAD };
enum { WAYS = 6 };

static const char *const names[WAYS] = { "file", "disk", "append", "journal", "both", "records" };
static const char *const paths[FILES] = {
	"file", "disk", "append", "journal", "records", "records"
};
static const int modes[FILES] = { 0, O_DIRECT, O_APPEND, 0, 0, O_DSYNC };
static int fds[FILES];
static uint8_t *bytes;

/* A failure ends the program: its figures would mean nothing. */
static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "bench_flush: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void put(int which, size_t len, long at)
{
	must(pwrite(fds[which], bytes, len, at) == (ssize_t)len, paths[which]);
}

static void flush(int which)
{
	must(!(which == PLAIN ? fsync(fds[which]) : fdatasync(fds[which])), paths[which]);
}

static void *disk(void *arg)
{
	put(DISK, BLOCK, *(long *)arg % SPAN * BLOCK);
	flush(DISK);
	return NULL;
}

static void append(void)
{
	must(write(fds[APPEND], bytes, RECORD) == RECORD, paths[APPEND]);
	flush(APPEND);
}

static void journal(long i)
{
	put(JOURNAL, RECORD, i % RECORDS_MAX * RECORD);
	flush(JOURNAL);
}

static void records(long i)
{
	put(RECORDS, 4 * PAGE, (1 + i % SPAN) * 4 * PAGE);
	flush(RECORDS);
	put(HEAD, PAGE, 0);
}

static void beside_disk(int way, long i)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, disk, &i), "a thread");
	if (way == 4)
		journal(i);
	else
		records(i);
	pthread_join(thread, NULL);
}

static void once(int way, long i)
{
	switch (way) {
	case 0:
		put(PLAIN, PAGE, i % SPAN * PAGE);
		flush(PLAIN);
		break;
	case 1:
		disk(&i);
		break;
	case 2:
		append();
		break;
	case 3:
		journal(i);
		break;
	default:
		beside_disk(way, i);
	}
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, long n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

/* Files with all of their blocks, and nothing that is still to be written. */
static void make_files(const char *dir)
{
	char path[4200];
	long i, at;

	bytes = aligned_alloc(PAGE, BLOCK);
	must(bytes != NULL, "memory");
	memset(bytes, 1, BLOCK);
	for (i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, paths[i]);
		fds[i] = open(path, O_RDWR | O_CREAT | O_CLOEXEC | modes[i], 0600);
		must(fds[i] >= 0, path);
		for (at = 0; at < SPAN + 1 && i != APPEND && i != HEAD; at++)
			put((int)i, BLOCK, at * BLOCK);
		flush((int)i);
	}
}

static void remove_files(const char *dir)
{
	char path[4200];
	long i;

	for (i = 0; i < FILES - 1; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, paths[i]);
		unlink(path);
	}
	rmdir(dir);
}

static void measure(long calls, double us[WAYS])
{
	static double took[WAYS][CALLS_MAX];
	double began;
	long i;
	int way;

	for (i = 0; i < calls; i++)
		for (way = 0; way < WAYS; way++) {
			began = now_us();
			once(way, i);
			took[way][i] = now_us() - began;
		}
	for (way = 0; way < WAYS; way++)
		us[way] = median(took[way], calls);
}

static long number(const char *text, long most)
{
	long n = strtol(text, NULL, 10);

	if (n < 1 || n > most) {
		fprintf(stderr, "bench_flush: %s: 1 to %ld\n", text, most);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static double us[WAYS][ROUNDS_MAX], ratio[WAYS][ROUNDS_MAX], round[WAYS];
	long calls = argc > 2 ? number(argv[2], CALLS_MAX) : 200;
	long rounds = argc > 3 ? number(argv[3], ROUNDS_MAX) : 5, i;
	char dir[4100];
	double middle;
	int way;

	snprintf(dir, sizeof(dir), "%s/bench-flush.XXXXXX", argc > 1 ? argv[1] : "/var/tmp");
	must(mkdtemp(dir) != NULL, dir);
	make_files(dir);
	for (i = 0; i < rounds; i++) {
		measure(calls, round);
		for (way = 0; way < WAYS; way++) {
			us[way][i] = round[way];
			ratio[way][i] = round[way] / round[0];
		}
	}
	remove_files(dir);
	for (way = 0; way < WAYS; way++) {
		middle = median(ratio[way], rounds);
		printf("%-8s %6.0f us  %.2f (%.2f to %.2f)\n", names[way], median(us[way], rounds),
		       middle, ratio[way][0], ratio[way][rounds - 1]);
	}
	return 0;
}
