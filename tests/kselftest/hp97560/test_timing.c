// SPDX-License-Identifier: GPL-2.0-only
/* needs: tools/lab/disk_model/trace.c tools/lab/disk_model/replay.c kmod/shared/hp97560_*.c */
/* libs: -lm */
/*
 * The reference traces on real disks, in closed loop with the traces' think times, beside what
 * the model says when it is told the same times of submission.  All at once, a disk each.
 *
 *   test_timing [TRACE ...]     paths of traces, below DDIO_TRACES
 *
 * DDIO_TRACES=dir, default tests/data/hp97560 of the tree around; DDIO_REQUESTS=n of each at
 * most; DDIO_VERBOSE=1 prints every request.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lib/kt.h"
#include "tools/lab/disk_model/disk_model.h"

#define SECTOR HP97560_SECTOR_BYTES
#define MEDIAN_MS 0.2
#define MEAN_SHARE 0.02

/* A machine whose sleeps of a millisecond end this late cannot tell. */
#define LATE_NS 50000
#define LATE_SLEEPS 400

/* A place far from where any trace begins, and time enough to read ahead from there. */
#define PROLOGUE_LBA 2000000
#define PROLOGUE_SECTORS 16
#define PROLOGUE_REST_NS 300000000ULL

/**
 * struct timed_run - a trace on a disk
 * @path: of the trace
 * @name: policy and trace
 * @trace: requests
 * @dev: disk
 * @fd: the same, past the page cache
 * @epoch_ns: when the model's clock was 0
 * @buffer: for any request
 * @model: the drive
 * @took_ms: service times as measured
 * @model_ms: as the model has them
 * @error_ms: absolute differences
 * @virtual_ms: mean of the model without a real disk
 * @err: what went wrong
 */
struct timed_run {
	const char *path;
	char name[64];
	struct disk_trace trace;
	struct kt_dev *dev;
	int fd;
	uint64_t epoch_ns;
	void *buffer;
	struct hp97560_disk model;
	double *took_ms;
	double *model_ms;
	double *error_ms;
	double virtual_ms;
	int err;
	pthread_t thread;
};

static void sleep_until(uint64_t ns)
{
	struct timespec t = { .tv_sec = ns / KT_SECOND, .tv_nsec = ns % KT_SECOND };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void priority_take(void)
{
	struct sched_param priority = { .sched_priority = 10 };

	pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
}

/* Returns the lateness that one sleep in twenty reaches. */
static double lateness_ns(void)
{
	double late[LATE_SLEEPS];
	size_t i;

	for (i = 0; i < LATE_SLEEPS; i++) {
		uint64_t end = kt_now() + 1000000;

		sleep_until(end);
		late[i] = (double)(kt_now() - end);
	}
	qsort(late, LATE_SLEEPS, sizeof(late[0]), ascending);
	return late[LATE_SLEEPS * 19 / 20];
}

static void *lateness_thread(void *arg)
{
	priority_take();
	*(double *)arg = lateness_ns();
	return NULL;
}

/* Skips where other machines on the same processors, or emulation, make time run unevenly. */
static void lateness_check(void)
{
	pthread_t thread;
	double late = 0;

	if (pthread_create(&thread, NULL, lateness_thread, &late))
		exit(1);
	pthread_join(thread, NULL);
	if (late > LATE_NS)
		kt_skip_all("one sleep in twenty ends %.0f us late here, more than %d", late / 1000,
			    LATE_NS / 1000);
	printf("# one sleep in twenty ends %.1f us late or more\n", late / 1000);
}

/* The policy is the name of the trace's folder. */
static void name_take(struct timed_run *r, char *policy, size_t size)
{
	const char *file = strrchr(r->path, '/');
	const char *folder = file;

	while (folder > r->path && folder[-1] != '/')
		folder--;
	snprintf(policy, size, "%.*s", (int)(file - folder), folder);
	snprintf(r->name, sizeof(r->name), "%s %.*s", policy, (int)(strlen(file + 1) - 4),
		 file + 1);
}

static int epoch_read(struct timed_run *r)
{
	char text[32];
	int err =
		kt_read(text, sizeof(text), "/sys/kernel/config/hp97560/%s/epoch_ns", r->dev->name);

	r->epoch_ns = strtoull(text, NULL, 10);
	return err;
}

static int disk_make(struct timed_run *r, const struct hp97560_params *p)
{
	char more[80];

	snprintf(more, sizeof(more), "immediate_report=%d bus_overlap=%d", p->immediate_report,
		 p->bus_overlap);
	r->dev = kt_dev_hp97560(more);
	if (!r->dev)
		return -errno;
	r->fd = open(r->dev->path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (r->fd < 0)
		return -errno;
	return epoch_read(r);
}

static int memory_make(struct timed_run *r)
{
	size_t i, most = PROLOGUE_SECTORS;

	for (i = 0; i < r->trace.n; i++)
		if (r->trace.requests[i].sectors > most)
			most = r->trace.requests[i].sectors;
	r->took_ms = calloc(r->trace.n, sizeof(double));
	r->model_ms = calloc(r->trace.n, sizeof(double));
	r->error_ms = calloc(r->trace.n, sizeof(double));
	if (!r->took_ms || !r->model_ms || !r->error_ms ||
	    posix_memalign(&r->buffer, 4096, most * SECTOR))
		return -ENOMEM;
	memset(r->buffer, 0x5a, most * SECTOR);
	return 0;
}

static int run_prepare(struct timed_run *r)
{
	uint64_t limit = kt_env("DDIO_REQUESTS", 0);
	struct trace_error error = { .line = 0 };
	struct comparison c;
	struct hp97560_params p;
	char policy[32];
	int err = trace_load(&r->trace, r->path, &error);

	if (err) {
		printf("# %s: line %zu: %s\n", r->path, error.line, error.what);
		return err;
	}
	if (limit && r->trace.n > limit)
		r->trace.n = limit;
	name_take(r, policy, sizeof(policy));
	hp97560_params_default(&p);
	err = disk_policy(&p, policy);
	if (!err)
		err = trace_compare(&c, &r->trace, &p, &error);
	if (err)
		return err;
	r->virtual_ms = c.model_mean_ms;
	comparison_release(&c);
	hp97560_init(&r->model, &p, NULL);
	err = memory_make(r);
	return err ? err : disk_make(r, &p);
}

/* Makes one request, of the disk and of the model.  Return: when it ended, or 0. */
static uint64_t request_do(struct timed_run *r, const struct trace_request *q, double *took_ms,
			   double *model_ms)
{
	size_t length = (size_t)q->sectors * SECTOR;
	struct hp97560_result result;
	uint64_t begin = kt_now(), end;
	ssize_t n;

	if (q->op == HP97560_READ)
		n = pread(r->fd, r->buffer, length, (off_t)q->lba * SECTOR);
	else
		n = pwrite(r->fd, r->buffer, length, (off_t)q->lba * SECTOR);
	end = kt_now();
	if (n != (ssize_t)length)
		r->err = n < 0 ? -errno : -EIO;
	else
		r->err = hp97560_submit(&r->model, q->op, q->lba, q->sectors, begin - r->epoch_ns,
					&result);
	if (r->err)
		return 0;
	*took_ms = (double)(end - begin) / 1e6;
	*model_ms = (double)(result.done_ns + r->epoch_ns - begin) / 1e6;
	return end;
}

/* The disk was read when it was made; from here on drive and model are in the same state. */
static uint64_t prologue(struct timed_run *r)
{
	struct trace_request q = {
		.op = HP97560_READ,
		.lba = PROLOGUE_LBA,
		.sectors = PROLOGUE_SECTORS,
	};
	double took_ms, model_ms;
	uint64_t end = request_do(r, &q, &took_ms, &model_ms);

	sleep_until(end + PROLOGUE_REST_NS);
	return kt_now();
}

static void *run_thread(void *arg)
{
	struct timed_run *r = arg;
	uint64_t end, trace_end = 0;
	size_t i;

	priority_take();
	end = prologue(r);
	for (i = 0; i < r->trace.n && !r->err; i++) {
		const struct trace_request *q = &r->trace.requests[i];

		if (q->issue_ns > trace_end)
			sleep_until(end + q->issue_ns - trace_end);
		end = request_do(r, q, &r->took_ms[i], &r->model_ms[i]);
		trace_end = q->done_ns;
		r->error_ms[i] = fabs(r->took_ms[i] - r->model_ms[i]);
	}
	return NULL;
}

static void requests_print(const struct timed_run *r)
{
	size_t i;

	for (i = 0; i < r->trace.n; i++)
		printf("# %s %zu: %.4f ms, model %.4f ms\n", r->name, i, r->took_ms[i],
		       r->model_ms[i]);
}

/* Return: whether the trace is as it has to be. */
static bool run_report(struct timed_run *r, size_t number)
{
	double took = 0, model = 0, median, p99;
	size_t i, n = r->trace.n;
	bool good;

	if (r->err) {
		printf("# %s: %s\nnot ok %zu %s\n", r->path, strerror(-r->err), number, r->name);
		return false;
	}
	if (kt_env("DDIO_VERBOSE", 0))
		requests_print(r);
	for (i = 0; i < n; i++) {
		took += r->took_ms[i] / n;
		model += r->model_ms[i] / n;
	}
	qsort(r->error_ms, n, sizeof(double), ascending);
	median = r->error_ms[n / 2];
	p99 = r->error_ms[n * 99 / 100];
	good = median < MEDIAN_MS && fabs(took / model - 1) < MEAN_SHARE;
	/* Of a part of a trace the long way from the prologue is too large a share. */
	if (!kt_env("DDIO_REQUESTS", 0))
		good = good && fabs(took / r->virtual_ms - 1) < MEAN_SHARE;
	printf("# %s: %zu requests, error median %.4f ms, 99 %% %.4f ms, most %.4f ms\n", r->name,
	       n, median, p99, r->error_ms[n - 1]);
	printf("# %s: mean %.4f ms, model %.4f ms (%+.2f %%), model alone %.4f ms (%+.2f %%)\n",
	       r->name, took, model, (took / model - 1) * 100, r->virtual_ms,
	       (took / r->virtual_ms - 1) * 100);
	printf("%sok %zu %s\n", good ? "" : "not ", number, r->name);
	return good;
}

static void glob_traces(glob_t *found)
{
	const char *dir = getenv("DDIO_TRACES");
	char pattern[256];

	snprintf(pattern, sizeof(pattern), "%s/*/*.csv", dir ? dir : "../../tests/data/hp97560");
	if (glob(pattern, 0, NULL, found))
		kt_skip_all("no traces match %s", pattern);
}

static void traces_take(int argc, char **argv, glob_t *found)
{
	if (argc > 1) {
		found->gl_pathv = argv + 1;
		found->gl_pathc = argc - 1;
	} else {
		glob_traces(found);
	}
}

static void runs_prepare(struct timed_run *runs, const glob_t *found)
{
	size_t i;

	for (i = 0; i < found->gl_pathc; i++) {
		runs[i].path = found->gl_pathv[i];
		runs[i].fd = -1;
		runs[i].err = run_prepare(&runs[i]);
		if (runs[i].err && !runs[i].dev)
			kt_skip_all("no disk for %s: %s", runs[i].path, strerror(-runs[i].err));
	}
}

int main(int argc, char **argv)
{
	struct timed_run *runs;
	bool good = true;
	glob_t found;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	traces_take(argc, argv, &found);
	if (geteuid())
		kt_skip_all("only root may make disks");
	runs = calloc(found.gl_pathc, sizeof(*runs));
	if (!runs)
		return 1;
	lateness_check();
	kt_devs_begin();
	atexit(kt_devs_free);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	runs_prepare(runs, &found);
	printf("TAP version 13\n1..%zu\n", found.gl_pathc);
	for (i = 0; i < found.gl_pathc; i++)
		if (!runs[i].err && pthread_create(&runs[i].thread, NULL, run_thread, &runs[i]))
			runs[i].err = -EAGAIN;
	for (i = 0; i < found.gl_pathc; i++) {
		if (runs[i].thread)
			pthread_join(runs[i].thread, NULL);
		good &= run_report(&runs[i], i + 1);
		close(runs[i].fd);
	}
	return good ? 0 : 1;
}
