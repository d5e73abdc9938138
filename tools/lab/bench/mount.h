/* SPDX-License-Identifier: GPL-2.0-only */
/* ddio bench --mount: directories of mounts, measured in turn. */
#ifndef DDIO_BENCH_MOUNT_H
#define DDIO_BENCH_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct mount_job - what is done to a directory, and where
 * @dir: scratch directory below the one that is measured
 * @size: bytes of the file; @request: bytes of a request
 * @jobs: threads, where several work at a time
 * @files: how many are made, looked at and removed
 * @seconds: of what has no end of its own
 */
struct mount_job {
	char dir[4096];
	uint64_t size, request;
	uint32_t jobs, files;
	double seconds;
};

/**
 * struct mount_work - one thing that is measured
 * @run: the rate, or a negative errno
 * @data: about file data; else about names
 */
struct mount_work {
	const char *name, *unit;
	double (*run)(const struct mount_job *job);
	bool data;
};

extern const struct mount_work mount_data_works[], mount_name_works[];

double mount_now(void);
/* A thread for each job, all at once: @fn gets its number.  Return: seconds, or a negative errno. */
double mount_threads(const struct mount_job *job,
		     int (*fn)(const struct mount_job *job, uint32_t me, void *arg), void *arg);
/* The kernel forgets attributes and names, as far as it can be told to. */
void mount_forget(const struct mount_job *job);

struct bench_values;
int bench_mount(const struct bench_values *v);

#endif /* DDIO_BENCH_MOUNT_H */
