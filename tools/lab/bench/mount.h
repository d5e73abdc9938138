/* SPDX-License-Identifier: GPL-2.0-only */
/* ddio bench --mount: directories of mounts, measured in turn. */
#ifndef TOOLS_BENCH_MOUNT_H
#define TOOLS_BENCH_MOUNT_H

#include <stdint.h>

/**
 * struct mount_job - the works on one directory
 * @dir: scratch directory in the one that is measured
 * @size: bytes of the file; @request: bytes of a request
 * @jobs: threads, where several work at a time
 * @files: how many are created, looked up and removed
 * @seconds: duration of works that have no end of their own
 */
struct mount_job {
	char dir[4096];
	uint64_t size, request;
	uint32_t jobs, files;
	double seconds;
};

/**
 * struct mount_work - one thing that is measured
 * @run: measures it; returns the rate, or a negative errno
 * @group: data: file data; names; daily: what a person does
 */
struct mount_work {
	const char *name, *unit;
	double (*run)(const struct mount_job *job);
	const char *group;
};

extern const struct mount_work mount_data_works[], mount_name_works[], mount_daily_works[];

double mount_now(void);
/* Has the kernel forget what it knows of names and attributes, or lets that expire. */
void mount_forget(const struct mount_job *job);
/* Runs @fn in a thread for each job, all at once, with the thread's number.  Return: seconds, or a negative errno. */
double mount_threads(const struct mount_job *job,
		     int (*fn)(const struct mount_job *job, uint32_t me, void *arg), void *arg);

struct bench_values;
int bench_mount(const struct bench_values *v);

#endif /* TOOLS_BENCH_MOUNT_H */
