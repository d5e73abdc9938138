// SPDX-License-Identifier: GPL-2.0-only
/* The daemon's log, and that a broken invariant is reported there. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "tests/unit/lib/ut.h"
#include "tools/ddiod/ddiod.h"

/* Fills @text with the file's bytes, and removes it. */
static void log_read(const char *path, char *text, size_t len)
{
	FILE *f = fopen(path, "r");

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	text[fread(text, 1, len - 1, f)] = '\0';
	fclose(f);
	unlink(path);
}

static void test_bug(void)
{
	char path[] = "/tmp/test_ddiod_log.XXXXXX", text[1024];
	struct ddiod d = { .log_fd = -1, .opts = { .log_file = path, .node = "io0" } };
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
	CU_ASSERT_EQUAL_FATAL(log_open(&d), 0);
	log_bugs(&d);
	ddio_bug_set_fatal(false);
	CU_ASSERT_TRUE(bug_on(true, "disk %s: impossible", "d0"));
	ddio_bug_set_log(NULL, NULL);
	close(d.log_fd);
	log_read(path, text, sizeof(text));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(text, " io0 error: bug at tests/unit/tools/test_ddiod_log.c:"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, ": disk d0: impossible\n"));
}

static const struct ut_case cases[] = {
	{ "a bug is logged", test_bug },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "log of the daemon", cases } };

	return ut_run("ddiod_log", suites, 1);
}
