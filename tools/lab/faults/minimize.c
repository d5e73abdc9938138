// SPDX-License-Identifier: GPL-2.0-only
/*
 * ddio sim --faults --minimize: the shortest schedule with which a seed still fails, as a story.
 *
 * Rounds and faults are left out, many at a time, then fewer, down to one by one, as long as the same rule is violated: a
 * reason's numbers may differ, its words may not.  Each try is a run of its own, in a process of its own.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tools/common/cmd.h"
#include "faults.h"
#include "minimize.h"

#define REAL_SECONDS 300

/**
 * struct faults_search - the state of the search
 * @skip: what the shortest schedule so far leaves out
 * @result: of the last run, shared with its process
 * @why: the words of the reason that is looked for
 * @last: the round in which the shortest schedule fails
 */
struct faults_search {
	struct faults_spec spec;
	struct faults_skip skip;
	struct faults_result *result;
	char why[sizeof(((struct faults_result *)0)->why)];
	uint32_t runs, last;
};

/* Copies the words of a reason: letters and blanks, up to the first bracket, without names of processes. */
static void words_of(const char *why, char *to)
{
	for (; *why && *why != '('; why++)
		if (!isdigit((unsigned char)*why) &&
		    !(isxdigit((unsigned char)*why) && isdigit((unsigned char)why[1])))
			*to++ = *why;
	*to = '\0';
}

static bool run_fails(struct faults_search *s, const struct faults_skip *skip, bool story)
{
	struct faults_spec spec = s->spec;
	int status = -1;
	pid_t pid;

	spec.skip = skip;
	spec.story = story;
	memset(s->result, 0, sizeof(*s->result));
	s->runs++;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(REAL_SECONDS);
		exit(faults_run(&spec, s->result) ? EXIT_FAILED : EXIT_OK);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFSIGNALED(status))
		snprintf(s->result->why, sizeof(s->result->why), "signal: %s",
			 strsignal(WTERMSIG(status)));
	return status;
}

static bool fails_alike(struct faults_search *s, const struct faults_skip *skip)
{
	char why[sizeof(s->why)];

	if (!run_fails(s, skip, false) || s->result->last > s->last)
		return false;
	words_of(s->result->why, why);
	return !strcmp(why, s->why);
}

/* Leaves out @n of a mask from @first on, if the run still fails alike. */
static bool try_without(struct faults_search *s, bool faults, uint32_t first, uint32_t n)
{
	struct faults_skip skip = s->skip;
	bool *mask = faults ? skip.fault : skip.round, any = false;
	uint32_t i;

	for (i = first; i < first + n && i < FAULTS_SKIP; i++) {
		any |= !mask[i];
		mask[i] = true;
	}
	if (!any || !fails_alike(s, &skip))
		return false;
	s->skip = skip;
	s->last = s->result->last;
	return true;
}

/* Leaves out whatever can be of the first @n.  Returns whether anything could. */
static bool shrink(struct faults_search *s, bool faults, uint32_t n)
{
	uint32_t step, i;
	bool any = false;

	for (step = n; step; step /= 2)
		for (i = 0; i < n; i += step)
			any |= try_without(s, faults, i, step);
	return any;
}

static uint32_t kept(const bool *mask, uint32_t n)
{
	uint32_t i, count = 0;

	for (i = 0; i < n; i++)
		count += !mask[i];
	return count;
}

static void search(struct faults_search *s)
{
	uint32_t rounds = s->result->last + 1, faults = s->result->faults;
	uint32_t before = s->result->last;
	bool more = true;

	s->last = s->result->last;
	if (rounds > FAULTS_SKIP)
		rounds = FAULTS_SKIP;
	if (faults > FAULTS_SKIP)
		faults = FAULTS_SKIP;
	while (more) {
		more = shrink(s, true, faults);
		more |= shrink(s, false, rounds);
	}
	rounds = s->last + 1;
	printf("seed %llu: %u of %u rounds and %u of %u faults are left, after %u runs\n",
	       (unsigned long long)s->spec.seed, kept(s->skip.round, rounds) - 1, before,
	       kept(s->skip.fault, faults), faults, s->runs);
	run_fails(s, &s->skip, true);
	printf("violated in %s\n", s->result->why);
}

int faults_minimize(const struct faults_spec *spec)
{
	struct faults_search s = { .spec = *spec };
	int ret = EXIT_FAILED;

	s.spec.verbose = false;
	s.result = mmap(NULL, sizeof(*s.result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (s.result == MAP_FAILED)
		return cmd_fail("sim", -ENOMEM, "cannot get memory");
	if (run_fails(&s, NULL, false)) {
		words_of(s.result->why, s.why);
		search(&s);
	} else {
		printf("seed %llu passes: there is nothing to minimize\n",
		       (unsigned long long)spec->seed);
		ret = EXIT_OK;
	}
	munmap(s.result, sizeof(*s.result));
	return ret;
}
