// SPDX-License-Identifier: GPL-2.0-only
/*
 * posix DIR [--other DIR] [--only GLOB] [--not GLOB] [--jobs N] [--list] [--verbose]: runs the cases in DIR, each
 * in a process and a directory of its own, N at a time.  --other: the same directory by another mount, in which the second and third
 * processes of cases work.
 */
#include <errno.h>
#include <fnmatch.h>
#include <ftw.h>
#include <getopt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "posix.h"

#define CASE_SECONDS 60

static const struct px_group groups[] = {
	{ "open", px_cases_open },     { "names", px_cases_names },
	{ "link", px_cases_link },     { "rename", px_cases_rename },
	{ "mode", px_cases_mode },     { "owner", px_cases_owner },
	{ "times", px_cases_times },   { "data", px_cases_data },
	{ "space", px_cases_space },   { "xattr", px_cases_xattr },
	{ "acl", px_cases_acl },       { "lock", px_cases_lock },
	{ "dirs", px_cases_dirs },     { "programs", px_cases_programs },
	{ "random", px_cases_random }, { "calls", px_cases_calls },
	{ "odd", px_cases_odd },
};

#define MAX_CASES 4096
#define MAX_JOBS 16

/* What the jobs have in common. */
struct tally {
	atomic_bool taken[MAX_CASES];
	atomic_uint passed, failed, skipped;
};

struct session {
	const char *only, *without, *group;
	char dir[2048], other[2048];
	bool list, verbose;
	unsigned int n, jobs;
	struct tally *tally;
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) && errno != ENOENT ? -1 : 0;
}

static void case_child(const struct session *s, const struct px_case *c, const char *sub, int out)
{
	char here[4200], there[4200];
	const char *said;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm((unsigned int)(CASE_SECONDS * px_patience()));
	umask(0);
	snprintf(here, sizeof(here), "%s/%s", s->dir, sub);
	snprintf(there, sizeof(there), "%s/%s", s->other, sub);
	if (chdir(here))
		said = "cannot change to the case's directory";
	else
		said = c->run ? c->run() : px_script_run(c->script, s->other[0] ? there : NULL);
	if (said && write(out, said, strlen(said)) < 0)
		_exit(2);
	_exit(said ? 1 : 0);
}

/* Runs a case; @said: what is wrong, or empty. */
static void case_run(const struct session *s, const struct px_case *c, char *said, size_t size)
{
	char path[4200], sub[64];
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	snprintf(sub, sizeof(sub), "px-%d-%u", (int)getpid(), s->n);
	snprintf(path, sizeof(path), "%s/%s", s->dir, sub);
	snprintf(said, size, "cannot begin: %.500s", path);
	if (mkdir(path, 0777) || chmod(path, 0777) || pipe(fds))
		return;
	pid = fork();
	if (!pid) {
		close(fds[0]);
		case_child(s, c, sub, fds[1]);
	}
	close(fds[1]);
	n = read(fds[0], said, size - 1);
	close(fds[0]);
	said[n > 0 ? n : 0] = 0;
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		snprintf(said, size, "ended by signal %d", WTERMSIG(status));
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) && !said[0])
		snprintf(said, size, "cannot be removed: %s", strerror(errno));
}

static void case_each(void *arg, const struct px_case *c)
{
	struct session *s = arg;
	char name[256], said[1024];

	snprintf(name, sizeof(name), "%s/%s", s->group, c->name);
	if ((s->only && fnmatch(s->only, name, FNM_EXTMATCH)) ||
	    (s->without && !fnmatch(s->without, name, FNM_EXTMATCH)))
		return;
	if (s->list) {
		puts(name);
		return;
	}
	if (++s->n >= MAX_CASES || atomic_exchange(&s->tally->taken[s->n], true))
		return;
	if (geteuid() && (c->flags & PX_ROOT || px_script_wants_root(c->script))) {
		atomic_fetch_add(&s->tally->skipped, 1);
		return;
	}
	case_run(s, c, said, sizeof(said));
	if (said[0]) {
		atomic_fetch_add(&s->tally->failed, 1);
		printf("FAILED: %s: %s\n", name, said);
	} else {
		atomic_fetch_add(&s->tally->passed, 1);
		if (s->verbose)
			printf("ok: %s\n", name);
	}
	fflush(stdout);
}

static void all_run(struct session *s)
{
	const struct px_case *c;
	size_t i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		s->group = groups[i].name;
		for (c = groups[i].cases; c->name; c++)
			case_each(s, c);
	}
	s->group = "path";
	px_defects_each(case_each, s);
}

/* Every job goes through all cases and runs those that none has taken. */
static void jobs_run(struct session *s)
{
	unsigned int i;
	int status;

	fflush(stdout);
	for (i = 1; i < s->jobs; i++) {
		if (fork())
			continue;
		all_run(s);
		exit(0);
	}
	all_run(s);
	while (wait(&status) > 0)
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			atomic_fetch_add(&s->tally->failed, 1);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "other", 1, NULL, 'O' }, { "only", 1, NULL, 'o' }, { "not", 1, NULL, 'n' },
		{ "jobs", 1, NULL, 'j' },  { "list", 0, NULL, 'l' }, { "verbose", 0, NULL, 'v' },
		{ NULL, 0, NULL, 0 }
	};
	struct session s = { 0 };
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'O':
			snprintf(s.other, sizeof(s.other), "%s", optarg);
			break;
		case 'o':
			s.only = optarg;
			break;
		case 'n':
			s.without = optarg;
			break;
		case 'j':
			s.jobs = (unsigned int)atoi(optarg);
			break;
		case 'l':
			s.list = true;
			break;
		case 'v':
			s.verbose = true;
			break;
		default:
			return 2;
		}
	}
	if (!s.list && (optind + 1 != argc || !realpath(argv[optind], s.dir))) {
		fprintf(stderr, "posix: a directory is needed\n");
		return 2;
	}
	s.tally = mmap(NULL, sizeof(*s.tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (s.tally == MAP_FAILED || s.jobs > MAX_JOBS)
		return 2;
	jobs_run(&s);
	if (s.list)
		return 0;
	printf("%u passed, %u failed, %u skipped\n", s.tally->passed, s.tally->failed,
	       s.tally->skipped);
	return s.tally->failed || !s.tally->passed ? 1 : 0;
}
