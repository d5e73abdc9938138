// SPDX-License-Identifier: GPL-2.0-only
/* Broken invariants: what is logged, and when the process stops. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/bug.h"
#include "sim/sim.h"
#include "../lib/ut.h"

/**
 * struct notebook - what a log was told
 * @lines: how many lines
 * @last: the last of them
 */
struct notebook {
	int lines;
	char last[512];
};

static void note(void *arg, const char *line)
{
	struct notebook *book = arg;

	book->lines++;
	snprintf(book->last, sizeof(book->last), "%s", line);
}

/* Return: the signal that ended a child that ran @fn, 0 if it exited. */
static int signal_of(void (*fn)(void))
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		signal(SIGABRT, SIG_DFL);
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		fn();
		_exit(0);
	}
	CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void a_bug_is_one_line_that_names_its_place(void)
{
	struct notebook book = { 0 };
	int here;

	ddio_bug_set_log(note, &book);
	ddio_bug_set_fatal(false);
	here = __LINE__ + 1;
	CU_ASSERT_TRUE(bug_on(1 + 1 == 2, "disk %s: %d in flight", "d0", 3));
	CU_ASSERT_EQUAL(book.lines, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(book.last, "test_bug.c:"));
	CU_ASSERT_EQUAL(atoi(strstr(book.last, ".c:") + 3), here);
	CU_ASSERT_PTR_NOT_NULL(strstr(book.last, ": disk d0: 3 in flight"));
	ddio_bug_set_log(NULL, NULL);
}

static void what_holds_is_not_told(void)
{
	struct notebook book = { 0 };
	int asked = 0;

	ddio_bug_set_log(note, &book);
	CU_ASSERT_FALSE(bug_on(asked++, "never"));
	CU_ASSERT_EQUAL(asked, 1);
	CU_ASSERT_EQUAL(book.lines, 0);
	ddio_bug_set_log(NULL, NULL);
}

static void long_text_is_cut(void)
{
	struct notebook book = { 0 };
	char text[4096];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ddio_bug_set_log(note, &book);
	ddio_bug_set_fatal(false);
	CU_ASSERT_TRUE(bug_on(true, "%s", text));
	CU_ASSERT_EQUAL(book.lines, 1);
	CU_ASSERT(strlen(book.last) > 300);
	ddio_bug_set_log(NULL, NULL);
}

static void goes_on(void)
{
	ddio_bug_set_fatal(false);
	ddio_bug("here", 1, "a bug");
}

static void stops(void)
{
	ddio_bug_set_fatal(true);
	ddio_bug("here", 1, "a bug");
}

static void stops_in_a_simulated_world(void)
{
	struct ddio_sim *sim;

	ddio_bug_set_fatal(false);
	sim = ddio_sim_new(1);
	ddio_bug("here", 1, "a bug");
	ddio_sim_free(sim);
}

static void it_stops_the_process_where_that_is_wanted(void)
{
	CU_ASSERT_EQUAL(signal_of(goes_on), 0);
	CU_ASSERT_EQUAL(signal_of(stops), SIGABRT);
	CU_ASSERT_EQUAL(signal_of(stops_in_a_simulated_world), SIGABRT);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "a bug is one line that names its place",
		  a_bug_is_one_line_that_names_its_place },
		{ "what holds is not told", what_holds_is_not_told },
		{ "long text is cut", long_text_is_cut },
		{ "it stops the process where that is wanted",
		  it_stops_the_process_where_that_is_wanted },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "bug", cases } };

	return ut_run("test_bug", suites, 1);
}
