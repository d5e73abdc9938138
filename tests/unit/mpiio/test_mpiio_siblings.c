// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which processes are those that the launcher has started here: among its other children, and those of the shell that has started it.
 * A shell, a launcher and ranks are this program again, each with an environment of its own.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "mpiio/stub/siblings.h"
#include "tests/unit/lib/ut.h"

enum { RANKS_MAX = 8 };

/**
 * struct family - what is started
 * @beside: children of the shell beside the launcher
 * @others: children of the launcher that are no ranks
 * @ranks: of this job; @say: how many there are, as their environment says; @foreign: of another job
 * @script: each is started by a script, which has the rank, too
 */
struct family {
	int beside, others, ranks, say, foreign, script;
};

/* What a rank says: who it is to the launcher, and which it knows. */
struct rank_says {
	int pid, ours, n, known[RANKS_MAX];
};

/* Each says that it is there, ranks go on when all are, all end with the test, ranks have said what they know. */
enum { UP, GO, END, SAID, PIPES };

static int fds[PIPES];

static void must(bool so)
{
	if (!so)
		_exit(3);
}

/* Starts this program as something else. */
static void start(const char *role, const char *family, const char *rank, const char *job)
{
	pid_t pid = fork();
	char text[100];

	must(pid >= 0);
	if (pid)
		return;
	if (rank) {
		setenv("OMPI_COMM_WORLD_RANK", rank, 1);
		setenv("PMIX_NAMESPACE", job, 1);
	}
	snprintf(text, sizeof(text), "%d %d %d %d", fds[UP], fds[GO], fds[END], fds[SAID]);
	execl("/proc/self/exe", "siblings", role, family, text, (char *)NULL);
	_exit(127);
}

static void be_shell(const struct family *f, const char *text)
{
	int i;

	for (i = 0; i < f->beside; i++)
		start("other", text, NULL, NULL);
	start("launcher", text, NULL, NULL);
}

static void be_launcher(const struct family *f, const char *text)
{
	char rank[16];
	int i;

	for (i = 0; i < f->others; i++)
		start("other", text, NULL, NULL);
	for (i = 0; i < f->ranks + f->foreign; i++) {
		snprintf(rank, sizeof(rank), "%d", i);
		start(f->script ? "script" : "rank", text, rank, i < f->ranks ? "this" : "that");
	}
}

static void be_script(const char *text)
{
	start("rank", text, getenv("OMPI_COMM_WORLD_RANK"), getenv("PMIX_NAMESPACE"));
}

/* Once all are there. */
static void be_rank(const struct family *f)
{
	struct rank_says says = { .pid = f->script ? getppid() : getpid(),
				  .ours = !strcmp(getenv("PMIX_NAMESPACE"), "this") };
	const struct mpiio_siblings *noted;
	char text[16], c;

	snprintf(text, sizeof(text), "%d", f->say);
	setenv("OMPI_COMM_WORLD_LOCAL_SIZE", text, 1);
	must(read(fds[GO], &c, 1) == 1);
	siblings_note();
	noted = siblings_noted();
	must(noted->n <= RANKS_MAX);
	says.n = (int)noted->n;
	if (says.n)
		memcpy(says.known, noted->pid, noted->n * sizeof(int));
	must(write(fds[SAID], &says, sizeof(says)) == sizeof(says));
}

/* In a process that was started: what it is, until the test ends it. */
static int be(char **argv)
{
	const char *role = argv[1], *text = argv[2];
	struct family f;
	char c = 0;

	must(sscanf(text, "%d %d %d %d %d %d", &f.beside, &f.others, &f.ranks, &f.say, &f.foreign,
		    &f.script) == 6);
	must(sscanf(argv[3], "%d %d %d %d", &fds[UP], &fds[GO], &fds[END], &fds[SAID]) == PIPES);
	if (!strcmp(role, "shell"))
		be_shell(&f, text);
	else if (!strcmp(role, "launcher"))
		be_launcher(&f, text);
	else if (!strcmp(role, "script"))
		be_script(text);
	must(write(fds[UP], &c, 1) == 1);
	if (!strcmp(role, "rank"))
		be_rank(&f);
	must(read(fds[END], &c, 1) == 0);
	while (wait(NULL) > 0)
		;
	return 0;
}

/* Makes a pipe: those that are started have its end @theirs. */
static int pipe_make(int which, int theirs)
{
	int end[2];

	CU_ASSERT_EQUAL_FATAL(pipe(end), 0);
	fds[which] = end[theirs];
	fcntl(end[!theirs], F_SETFD, FD_CLOEXEC);
	return end[!theirs];
}

/* Starts a family, and has all its ranks say what they know. */
static void family_ask(const struct family *f, struct rank_says *says)
{
	int up = pipe_make(UP, 1), go = pipe_make(GO, 0), end = pipe_make(END, 0);
	int said = pipe_make(SAID, 1), ranks = f->ranks + f->foreign, i;
	int all = 2 + f->beside + f->others + ranks * (1 + f->script);
	char text[100], c = 0;

	snprintf(text, sizeof(text), "%d %d %d %d %d %d", f->beside, f->others, f->ranks, f->say,
		 f->foreign, f->script);
	start("shell", text, NULL, NULL);
	for (i = 0; i < PIPES; i++)
		close(fds[i]);
	for (i = 0; i < all; i++)
		CU_ASSERT_EQUAL_FATAL(read(up, &c, 1), 1);
	for (i = 0; i < ranks; i++)
		CU_ASSERT_EQUAL_FATAL(write(go, &c, 1), 1);
	for (i = 0; i < ranks; i++)
		CU_ASSERT_EQUAL_FATAL(read(said, &says[i], sizeof(says[i])), sizeof(says[i]));
	close(end);
	CU_ASSERT(wait(NULL) > 0);
	close(up);
	close(go);
	close(said);
}

static bool knows(const struct rank_says *says, int pid)
{
	int i;

	for (i = 0; i < says->n; i++)
		if (says->known[i] == pid)
			return true;
	return false;
}

/* The ranks of this job know each other, or nobody. */
static void family_check(const struct family *f, bool known)
{
	struct rank_says says[RANKS_MAX] = { 0 };
	int n = f->ranks + f->foreign, i, k;

	family_ask(f, says);
	for (i = 0; i < n; i++) {
		if (!says[i].ours)
			continue;
		CU_ASSERT_EQUAL(says[i].n, known ? f->ranks : 0);
		for (k = 0; k < n; k++)
			if (known && says[k].ours)
				CU_ASSERT(knows(&says[i], says[k].pid));
	}
}

static void ranks_alone(void)
{
	family_check(&(struct family){ .ranks = 3, .say = 3 }, true);
	family_check(&(struct family){ .ranks = 3, .say = 3, .script = 1 }, true);
}

/* By which the launcher has started processes elsewhere. */
static void launcher_has_others(void)
{
	family_check(&(struct family){ .ranks = 2, .say = 2, .others = 1 }, true);
	family_check(&(struct family){ .ranks = 2, .say = 2, .others = 3, .script = 1 }, true);
}

/* As many as there are ranks, which come and go. */
static void shell_has_as_many(void)
{
	family_check(&(struct family){ .ranks = 2, .say = 2, .others = 1, .beside = 1 }, true);
	family_check(&(struct family){ .ranks = 2, .say = 3, .beside = 2 }, false);
	family_check(&(struct family){ .ranks = 2, .say = 3, .others = 1, .beside = 2 }, false);
}

static void another_job(void)
{
	family_check(&(struct family){ .ranks = 2, .say = 2, .foreign = 2 }, true);
	family_check(&(struct family){ .ranks = 2, .say = 3, .foreign = 1 }, false);
}

static const struct ut_case cases[] = {
	{ "ranks alone", ranks_alone },
	{ "the launcher has others", launcher_has_others },
	{ "the shell has as many", shell_has_as_many },
	{ "another job", another_job },
	{ 0 },
};

int main(int argc, char **argv)
{
	static const struct ut_suite suites[] = { { "siblings", cases } };

	if (argc == 4)
		return be(argv);
	return ut_run("mpiio_siblings", suites, 1);
}
