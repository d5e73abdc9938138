// SPDX-License-Identifier: GPL-2.0-only
/*
 * ddio sim --faults over one seed or many, each in a process of its own, so that a crash is only a
 * failed seed.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tools/common/cmd.h"
#include "faults.h"
#include "many.h"
#include "minimize.h"

#define REAL_SECONDS 300 /* bound on the real time of one run */
#define JOBS 64

/**
 * struct faults_job - the process that runs a seed
 * @pid: 0: none
 */
struct faults_job {
	pid_t pid;
	uint64_t seed;
	struct faults_result *result;
};

/**
 * struct total - sums over all runs
 */
struct total {
	uint32_t passed, failed;
	uint64_t calls, calls_failed, events, kinds[FAULTS_KINDS];
	uint32_t longest_ms;
	uint32_t rounds[OP_OVER], rounds_failed[OP_OVER];
};

static const char *const plants[PLANTS] = { "none", "flush", "byte", "verdict", "hang" };
static const char *const kinds[FAULTS_KINDS] = {
	"power cut",	      "kill",	     "stop",	    "process killed",
	"connections broken", "cut off",     "stall",	    "slow net",
	"slow disk",	      "bad sectors", "disk errors", "commit errors",
};

static const char *const ops[OP_OVER] = {
	"form",	    "collective", "two collectives", "independent", "sync",	 "drop",
	"set size", "remove",	  "barrier",	     "pause",	    "power cut", "read back",
	"mixed",    "fsck",	  "epoch",	     "clone",
};

static int plant_of(const char *name)
{
	int i;

	for (i = 0; i < PLANTS; i++)
		if (!strcmp(name, plants[i]))
			return i;
	return -EINVAL;
}

/* Of the seeds that nobody says more of, one in eight has brokers, of two to four processes each. */
static uint32_t per_machine_of(const struct faults_many *many, uint64_t seed)
{
	bool plain = !many->power && !many->atomic && !many->epochs && !many->mounts;

	if (many->brokers)
		return many->per_machine ? many->per_machine : 3;
	return plain && seed % 8 == 3 ? 2 + (uint32_t)(seed / 8 % 3) : 0;
}

static struct faults_spec spec_of(const struct faults_many *many, int plant, uint64_t seed)
{
	return (struct faults_spec){ .seed = seed,
				     .plant = plant,
				     .rounds = many->rounds,
				     .power = many->power,
				     .mounts = many->mounts,
				     .per_machine = per_machine_of(many, seed),
				     .atomic = many->atomic,
				     .epochs = many->epochs,
				     .verbose = many->verbose };
}

static void job_start(struct faults_job *job, const struct faults_many *many, int plant,
		      uint64_t seed)
{
	struct faults_spec spec = spec_of(many, plant, seed);

	memset(job->result, 0, sizeof(*job->result));
	job->seed = seed;
	fflush(stdout);
	job->pid = fork();
	if (job->pid)
		return;
	/* LMDB's large tables, of which little is used, come as zeros from the kernel each time: nobody has to write them. */
	mallopt(M_MMAP_THRESHOLD, 512 << 10);
	alarm(REAL_SECONDS);
	if (faults_run(&spec, job->result))
		_exit(EXIT_FAILED);
	exit(EXIT_OK);
}

static void total_add(struct total *t, const struct faults_result *res)
{
	uint32_t i;

	t->calls += res->calls;
	t->calls_failed += res->failed;
	t->events += res->events;
	if (res->longest_ms > t->longest_ms)
		t->longest_ms = res->longest_ms;
	for (i = 0; i < FAULTS_KINDS; i++)
		t->kinds[i] += res->kinds[i];
	for (i = 0; i < OP_OVER; i++) {
		t->rounds[i] += res->rounds[i];
		t->rounds_failed[i] += res->rounds_failed[i];
	}
}

static void job_ended(struct faults_job *job, int status, struct total *t, bool alone)
{
	const struct faults_result *res = job->result;

	total_add(t, res);
	if (!status) {
		t->passed++;
		if (alone)
			printf("seed %llu: trace %016llx, %llu events, %.3f s of virtual time\n",
			       (unsigned long long)job->seed, (unsigned long long)res->trace,
			       (unsigned long long)res->events, res->virtual_ns / 1e9);
	} else {
		t->failed++;
		if (WIFSIGNALED(status))
			printf("seed %llu: signal %d (%s)\n", (unsigned long long)job->seed,
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
		else
			printf("seed %llu: %s\n", (unsigned long long)job->seed,
			       res->why[0] ? res->why : "crashed");
	}
	job->pid = 0;
}

static void job_wait(struct faults_job *jobs, uint32_t n, struct total *t, bool alone)
{
	int status;
	pid_t pid = waitpid(-1, &status, 0);
	uint32_t i;

	for (i = 0; i < n; i++)
		if (pid > 0 && jobs[i].pid == pid)
			job_ended(&jobs[i], status, t, alone);
}

static void print_total(const struct total *t)
{
	uint32_t i;

	printf("%llu calls, %llu of them failed, the longest took %u ms; %llu events\n",
	       (unsigned long long)t->calls, (unsigned long long)t->calls_failed, t->longest_ms,
	       (unsigned long long)t->events);
	for (i = 0; i < FAULTS_KINDS; i++)
		printf("%s%s: %llu", i ? ", " : "", kinds[i], (unsigned long long)t->kinds[i]);
	printf("\nrounds, and how many of them failed");
	for (i = 0; i < OP_OVER; i++)
		printf("%s %s: %u, %u", i ? "," : ":", ops[i], t->rounds[i], t->rounds_failed[i]);
	printf("\n%u passed, %u failed\n", t->passed, t->failed);
}

/* Runs the seeds, as many at a time as there are jobs. */
static void seeds_run(const struct faults_many *many, int plant, struct faults_job *jobs,
		      uint32_t n, struct total *t)
{
	uint32_t i, seeds = many->seeds, begun;

	for (begun = 0; begun < seeds || t->passed + t->failed < begun;) {
		if (many->first && t->failed)
			seeds = begun;
		for (i = 0; i < n && jobs[i].pid; i++)
			;
		if (i == n || begun >= seeds) {
			job_wait(jobs, n, t, many->seeds == 1);
			continue;
		}
		job_start(&jobs[i], many, plant, many->seed + begun++);
		if (jobs[i].pid < 0) {
			jobs[i].pid = 0;
			t->failed++;
		}
	}
}

int faults_many(const struct faults_many *many)
{
	uint32_t n = many->jobs ? many->jobs : (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), i;
	int plant = many->plant ? plant_of(many->plant) : PLANT_NONE;
	struct faults_result *res;
	struct faults_job jobs[JOBS] = { 0 };
	struct total t = { 0 };

	if (plant < 0 || !many->seeds) {
		cmd_fail("sim", 0, "%s",
			 plant < 0 ? "--plant takes flush, byte, verdict or hang"
				   : "--seeds takes at least 1");
		return EXIT_USAGE;
	}
	if (many->minimize) {
		struct faults_spec spec = spec_of(many, plant, many->seed);

		return faults_minimize(&spec);
	}
	if (n > JOBS)
		n = JOBS;
	res = mmap(NULL, n * sizeof(*res), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		   0);
	if (res == MAP_FAILED)
		return cmd_fail("sim", -errno, "cannot get memory");
	for (i = 0; i < n; i++)
		jobs[i].result = &res[i];
	seeds_run(many, plant, jobs, n, &t);
	if (many->seeds > 1)
		print_total(&t);
	munmap(res, n * sizeof(*res));
	return t.failed ? EXIT_FAILED : EXIT_OK;
}
