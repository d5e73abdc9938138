// SPDX-License-Identifier: GPL-2.0-only
/*
 * ddio bench --mount: rounds over directories, and their results.  In each round every directory has its
 * turn at every work, in the given order and the reverse order alternately, so that disturbances of the
 * machine hit all of them; ratios are taken within a round.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "mount.h"
#include "spec.h"
#include "tools/common/cmd.h"
#include "tools/common/progress.h"
#include "procs.h"

#define MAX_DIRS 8
#define MAX_WORKS 32

struct mount_run {
	const struct bench_values *v;
	struct mount_job job[MAX_DIRS];
	const char *name[MAX_DIRS];
	const struct mount_work *work[MAX_WORKS];
	uint32_t ndirs, nworks, trials;
	double *rate; /* [trial][work][dir] */
	struct progress progress;
};

static double *rate_at(struct mount_run *r, uint32_t trial, uint32_t work, uint32_t dir)
{
	return &r->rate[(trial * r->nworks + work) * r->ndirs + dir];
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Median, least and greatest of a work's rates in a directory, or of their ratios to those of directory @to if it is not -1. */
static double median(struct mount_run *r, uint32_t work, uint32_t dir, int to, double *lo,
		     double *hi)
{
	double v[BENCH_MAX_ROUNDS];
	uint32_t i, n = r->trials;

	for (i = 0; i < n; i++)
		v[i] = *rate_at(r, i, work, dir) /
		       (to < 0 ? 1 : *rate_at(r, i, work, (uint32_t)to));
	qsort(v, n, sizeof(*v), ascending);
	*lo = v[0];
	*hi = v[n - 1];
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/*
 * Output
 */
static void print_text(struct mount_run *r, FILE *f)
{
	double lo, hi, m;
	uint32_t w, d;

	fprintf(f,
		"ddio bench --mount: requests of %llu bytes, file of %llu bytes, %u jobs, %u files\n"
		"medians of %u rounds; ratio: first to this one, with the least and greatest of the rounds\n",
		(unsigned long long)r->job[0].request, (unsigned long long)r->job[0].size,
		r->job[0].jobs, r->job[0].files, r->trials);
	for (w = 0; w < r->nworks; w++)
		for (d = 0; d < r->ndirs; d++) {
			m = median(r, w, d, -1, &lo, &hi);
			fprintf(f, "%-26s %10.0f %-5s %-20s", d ? "" : r->work[w]->name, m,
				r->work[w]->unit, r->name[d]);
			if (d) {
				m = median(r, w, 0, (int)d, &lo, &hi);
				fprintf(f, " ratio %.2f (%.2f to %.2f)", m, lo, hi);
			}
			fprintf(f, "\n");
		}
}

static void print_csv(struct mount_run *r, FILE *f)
{
	uint32_t t, w, d;

	fprintf(f, "round,work,unit,directory,rate\n");
	for (t = 0; t < r->trials; t++)
		for (w = 0; w < r->nworks; w++)
			for (d = 0; d < r->ndirs; d++)
				fprintf(f, "%u,\"%s\",%s,%s,%.1f\n", t + 1, r->work[w]->name,
					r->work[w]->unit, r->name[d], *rate_at(r, t, w, d));
}

static int print(struct mount_run *r)
{
	FILE *f = r->v->output ? fopen(r->v->output, "w") : stdout;
	int err;

	if (!f) {
		err = -errno;
		cmd_fail("bench", err, "%s", r->v->output);
		return err;
	}
	if (r->v->csv)
		print_csv(r, f);
	else
		print_text(r, f);
	err = fflush(f) ? -errno : 0;
	if (f != stdout)
		fclose(f);
	return err;
}

/*
 * Measuring
 */
static int turn(struct mount_run *r, uint32_t trial, uint32_t work, uint32_t dir)
{
	double *rate = rate_at(r, trial, work, dir);

	progress_step(&r->progress, (trial * r->nworks + work) * r->ndirs, r->work[work]->name);
	*rate = r->work[work]->run(&r->job[dir]);
	if (*rate >= 0)
		return procs_interrupted() ? -EINTR : 0;
	cmd_fail("bench", (int)*rate, "%s: %s", r->name[dir], r->work[work]->name);
	return (int)*rate;
}

static int rounds(struct mount_run *r)
{
	uint32_t t, w, d;
	int err = 0;

	progress_begin(&r->progress, "bench", r->trials * r->nworks * r->ndirs, !r->v->quiet);
	for (t = 0; t < r->trials; t++)
		for (w = 0; w < r->nworks; w++)
			for (d = 0; d < r->ndirs && !err; d++)
				err = turn(r, t, w, t % 2 ? r->ndirs - 1 - d : d);
	progress_end(&r->progress);
	return err;
}

/* Returns whether the list names a work: by its group, or the beginning of its name; no list names all. */
static bool work_wanted(const struct mount_work *work, const char *list)
{
	const char *word = list;
	size_t len;

	for (; word && *word; word += len + (word[len] == ',')) {
		len = strcspn(word, ",");
		if (!strncmp(word, work->group, len) || !strncmp(word, work->name, len))
			return true;
	}
	return !list;
}

static void works_add(struct mount_run *r, const struct mount_work *work)
{
	for (; work->name; work++)
		if (work_wanted(work, r->v->works))
			r->work[r->nworks++] = work;
}

static int dirs_make(struct mount_run *r, const struct mount_job *like, char *list)
{
	char *dir, *save = NULL;
	struct mount_job *job;

	for (dir = strtok_r(list, ",", &save); dir; dir = strtok_r(NULL, ",", &save)) {
		if (r->ndirs == MAX_DIRS) {
			cmd_fail("bench", 0, "--mount takes at most %d directories", MAX_DIRS);
			return -EINVAL;
		}
		job = &r->job[r->ndirs];
		*job = *like;
		snprintf(job->dir, sizeof(job->dir), "%s/ddio-bench.XXXXXX", dir);
		if (!mkdtemp(job->dir)) {
			cmd_fail("bench", -errno, "%s", dir);
			return -errno;
		}
		r->name[r->ndirs++] = dir;
	}
	return r->ndirs ? 0 : -EINVAL;
}

/* Removes what a failed measurement has left behind. */
static void dirs_remove(struct mount_run *r)
{
	char path[sizeof(r->job[0].dir) + 8];
	uint32_t d;

	for (d = 0; d < r->ndirs; d++) {
		snprintf(path, sizeof(path), "%s/data", r->job[d].dir);
		unlink(path);
		if (rmdir(r->job[d].dir))
			cmd_fail("bench", -errno, "%s", r->job[d].dir);
	}
}

static int values_check(const struct bench_values *v)
{
	if (!v->rounds || v->rounds > BENCH_MAX_ROUNDS)
		return cmd_fail("bench", 0, "--rounds takes 1 to %d", BENCH_MAX_ROUNDS), -EINVAL;
	if (!v->jobs || v->jobs > 1024 || v->files < v->jobs)
		return cmd_fail("bench", 0, "--jobs takes 1 to 1024, --files at least as many"),
		       -EINVAL;
	if (!v->request || v->request % 4096 || v->request > 1u << 30 || !v->mount_size ||
	    v->mount_size % v->request)
		return cmd_fail(
			       "bench", 0,
			       "--request takes a multiple of 4K, --mount-size a multiple of that"),
		       -EINVAL;
	return 0;
}

int bench_mount(const struct bench_values *v)
{
	const struct mount_job like = { .size = v->mount_size,
					.request = v->request,
					.jobs = v->jobs,
					.files = v->files,
					.seconds = v->seconds };
	struct mount_run r = { .v = v, .trials = v->rounds };
	char *list;
	int err = values_check(v);

	if (err)
		return err;
	works_add(&r, mount_data_works);
	works_add(&r, mount_name_works);
	works_add(&r, mount_daily_works);
	if (!r.nworks)
		return cmd_fail("bench", 0, "--works does not take '%s'", v->works), -EINVAL;
	list = strdup(v->mount);
	r.rate = calloc((size_t)MAX_DIRS * r.nworks * r.trials, sizeof(*r.rate));
	err = list && r.rate ? dirs_make(&r, &like, list) : -ENOMEM;
	if (!err)
		err = rounds(&r);
	dirs_remove(&r);
	if (!err)
		err = print(&r);
	free(r.rate);
	free(list);
	return err;
}
