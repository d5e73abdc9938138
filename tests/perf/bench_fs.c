// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file system's library by itself, without a mount: what <ddio/fs.h> gives on one machine.
 *
 *   bench_fs [SECONDS [DEPTH]]      of each measurement; requests under way. Default: 2 32
 *   bench_fs --conf FILE ...        on that cluster; else on one of three nodes with memory disks in this
 *				     process, whose name space is on disk as it would be
 *
 * Prints lookups, creates (and unlinks) a second with one and with DEPTH requests under way, 4 KB reads
 * at random of what the I/O processors have cached, and MB (2^20 bytes) a second of sequential writes and
 * reads by requests of 1 MB; and processor time for each request, of this process and so, without
 * --conf, of both sides.
 */
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include "tests/unit/cp/fs/fs_wait.h"
#include "tests/unit/cp/fs/fs_real.h"

enum { FILE_BYTES = 64 << 20, SMALL = 4096, BIG = 1 << 20, DEPTH_MAX = 256 };

struct fs_bench;

/* One of the requests under way. */
struct lane_of_work {
	struct fs_bench *b;
	uint32_t me;
	uint64_t n, rand;
	uint8_t *buf;
	struct ddio_fs_file *file;
	char name[32];
	int step;
};

struct fs_bench {
	struct ddio_fs *fs;
	struct ddio_fs_file *file;
	struct fsc_result r;
	double seconds, until;
	uint32_t depth;
	atomic_uint running;
	atomic_ulong done;
	atomic_ulong next;
	struct ddio_gate over;
	void (*go)(struct lane_of_work *l);
	struct lane_of_work lane[DEPTH_MAX];
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double cpu(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
	       (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
}

static void lane_next(struct lane_of_work *l)
{
	struct fs_bench *b = l->b;

	if (now() < b->until) {
		b->go(l);
	} else if (atomic_fetch_sub(&b->running, 1) == 1) {
		ddio_gate_open(b->r.env, &b->over);
	}
}

static void lane_check(const struct ddio_fs_reply *reply)
{
	if (!reply->err)
		return;
	fprintf(stderr, "bench_fs: %s\n", reply->text);
	exit(1);
}

static void lane_done(void *arg, const struct ddio_fs_reply *reply)
{
	struct lane_of_work *l = arg;

	lane_check(reply);
	atomic_fetch_add(&l->b->done, 1);
	lane_next(l);
}

static uint64_t lane_random(struct lane_of_work *l)
{
	l->rand = l->rand * 6364136223846793005ull + 1442695040888963407ull;
	return l->rand >> 33;
}

static void run(struct fs_bench *b, const char *what, uint32_t depth, uint64_t bytes,
		void (*go)(struct lane_of_work *l))
{
	double t, c;
	uint32_t i;

	b->go = go;
	atomic_store(&b->done, 0);
	atomic_store(&b->next, 0);
	atomic_store(&b->running, depth);
	ddio_gate_init(&b->over);
	t = now();
	c = cpu();
	b->until = t + b->seconds;
	for (i = 0; i < depth; i++)
		lane_next(&b->lane[i]);
	ddio_gate_wait(b->r.env, &b->over, 0);
	t = now() - t;
	c = cpu() - c;
	if (bytes)
		printf("%-28s depth %3u  %9.1f MB/s", what, depth,
		       (double)atomic_load(&b->done) * (double)bytes / t / 1048576);
	else
		printf("%-28s depth %3u  %9.0f /s  ", what, depth,
		       (double)atomic_load(&b->done) / t);
	printf("  %7.2f us of processor each\n", c / (double)atomic_load(&b->done) * 1e6);
	fflush(stdout);
}

/*
 * What is measured
 */
static void go_lookup(struct lane_of_work *l)
{
	ddio_fs_lookup(l->b->fs, DDIO_FS_ROOT, "data", lane_done, l);
}

static void go_read_small(struct lane_of_work *l)
{
	uint64_t at = lane_random(l) % (FILE_BYTES / SMALL) * SMALL;

	ddio_fs_read(l->b->file, l->buf, SMALL, at, lane_done, l);
}

static void go_read_big(struct lane_of_work *l)
{
	uint64_t at = atomic_fetch_add(&l->b->next, 1) % (FILE_BYTES / BIG) * BIG;

	ddio_fs_read(l->b->file, l->buf, BIG, at, lane_done, l);
}

static void go_write_big(struct lane_of_work *l)
{
	uint64_t at = atomic_fetch_add(&l->b->next, 1) % (FILE_BYTES / BIG) * BIG;

	ddio_fs_write(l->b->file, l->buf, BIG, at, lane_done, l);
}

static void made_one(void *arg, const struct ddio_fs_reply *reply);

static void go_create(struct lane_of_work *l)
{
	const struct ddio_fs_new make = { .mode = S_IFREG | 0644 };

	l->step = 0;
	snprintf(l->name, sizeof(l->name), "c%u.%lu", l->me, (unsigned long)l->n++);
	ddio_fs_file_create(l->b->fs, DDIO_FS_ROOT, l->name, O_RDWR | O_EXCL, &make, &l->file,
			    made_one, l);
}

/* Makes, closes and removes files. */
static void made_one(void *arg, const struct ddio_fs_reply *reply)
{
	struct lane_of_work *l = arg;

	lane_check(reply);
	l->step++;
	if (l->step == 1)
		ddio_fs_file_close(l->file, made_one, l);
	else if (l->step == 2)
		ddio_fs_unlink(l->b->fs, DDIO_FS_ROOT, l->name, made_one, l);
	else
		lane_done(l, reply);
}

static void bench_all(struct fs_bench *b)
{
	const struct ddio_fs_new make = { .mode = S_IFREG | 0644 };
	uint32_t d = b->depth, i;

	for (i = 0; i < DEPTH_MAX; i++) {
		b->lane[i] = (struct lane_of_work){ .b = b, .me = i, .rand = i * 7919 + 1 };
		b->lane[i].buf = calloc(1, BIG);
	}
	if (FSC_WAIT(&b->r, ddio_fs_file_create, b->fs, DDIO_FS_ROOT, "data", O_RDWR, &make,
		     &b->file))
		real_die(b->r.text);
	run(b, "write 1 MB, longer and again", 8, BIG, go_write_big);
	run(b, "read 1 MB, in order", 1, BIG, go_read_big);
	run(b, "read 1 MB, in order", 8, BIG, go_read_big);
	run(b, "read 4 KB, at random", 1, 0, go_read_small);
	run(b, "read 4 KB, at random", d, 0, go_read_small);
	run(b, "lookup", 1, 0, go_lookup);
	run(b, "lookup", d, 0, go_lookup);
	run(b, "create, close and unlink", 1, 0, go_create);
	run(b, "create, close and unlink", d, 0, go_create);
	if (FSC_WAIT(&b->r, ddio_fs_file_close, b->file) ||
	    FSC_WAIT(&b->r, ddio_fs_unlink, b->fs, DDIO_FS_ROOT, "data"))
		real_die(b->r.text);
	for (i = 0; i < DEPTH_MAX; i++)
		free(b->lane[i].buf);
}

int main(int argc, char **argv)
{
	struct ddio_fs_opts opts = { .struct_size = sizeof(opts) };
	static struct real_cluster c;
	static struct fs_bench b;
	char err[600];

	if (argc > 2 && !strcmp(argv[1], "--conf")) {
		opts.conf = argv[2];
		argv += 2;
		argc -= 2;
	} else {
		real_begin(&c, false, 65536, "256M");
		opts.conf = c.conf_path;
	}
	b.seconds = argc > 1 ? atof(argv[1]) : 2;
	b.depth = argc > 2 ? (uint32_t)atoi(argv[2]) : 32;
	if (b.seconds <= 0 || !b.depth || b.depth > DEPTH_MAX) {
		fprintf(stderr, "bench_fs: SECONDS more than 0, DEPTH 1 to %d\n", DEPTH_MAX);
		return 2;
	}
	if (getenv("DDIO_THREADS"))
		opts.threads = (uint32_t)atoi(getenv("DDIO_THREADS"));
	if (ddio_fs_open(&opts, &b.fs, err, sizeof(err))) {
		fprintf(stderr, "bench_fs: %s\n", err);
		return 1;
	}
	fsc_wait_init(&b.r, b.fs);
	bench_all(&b);
	ddio_fs_close(b.fs);
	if (c.conf)
		real_end(&c);
	return 0;
}
