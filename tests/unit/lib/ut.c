// SPDX-License-Identifier: GPL-2.0-only
/*
 * CU_get_error() stays 0 when an assertion fails, so the verdict is made from the counts.
 */
#include <fnmatch.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/lib/ut.h"

static unsigned int ut_skipped;
static int ut_argc;
static char **ut_argv;

/*
 * glibc gives constructors the arguments of main(), which no test needs otherwise.  Memory that was
 * freed stays with the process (32 MB is the highest threshold that glibc takes): thousands of worlds come
 * and go, each with the same buffers.
 */
__attribute__((constructor)) static void ut_begin(int argc, char **argv)
{
	ut_argc = argc;
	ut_argv = argv;
	mallopt(M_MMAP_THRESHOLD, 1 << 25);
	mallopt(M_TRIM_THRESHOLD, 1 << 28);
}

static bool ut_listing(void)
{
	return ut_argc > 1 && !strcmp(ut_argv[1], "--list");
}

static bool ut_wanted(const char *suite, const char *name)
{
	char both[256];
	int i;

	snprintf(both, sizeof(both), "%s: %s", suite, name);
	for (i = 1; i < ut_argc; i++)
		if (!fnmatch(ut_argv[i], name, 0) || !fnmatch(ut_argv[i], both, 0))
			return true;
	return ut_argc < 2;
}

/* Return: 0; -1 if CUnit has no memory. */
static int ut_add(const struct ut_suite *suite, const char *how, CU_InitializeFunc init)
{
	const struct ut_case *c;
	CU_pSuite s = NULL;
	char name[128];

	snprintf(name, sizeof(name), "%s%s", suite->name, how);
	for (c = suite->cases; c->name; c++) {
		if (ut_listing()) {
			printf("%s: %s\n", name, c->name);
			continue;
		}
		if (!ut_wanted(name, c->name))
			continue;
		if (!s)
			s = CU_add_suite(name, init, NULL);
		if (!s || !CU_add_test(s, c->name, c->run))
			return -1;
	}
	return 0;
}

static int ut_verdict(const char *name)
{
	unsigned int run, failed;

	CU_basic_set_mode(CU_BRM_NORMAL);
	CU_basic_run_tests();
	run = CU_get_number_of_tests_run();
	failed = CU_get_number_of_tests_failed();
	if (!run)
		fprintf(stderr, "%s: no case has such a name; --list prints them\n", name);
	if (CU_get_number_of_suites_failed() || !run)
		failed++;
	printf("%s: %u passed, %u failed, %u skipped\n", name, run > failed ? run - failed : 0,
	       failed, ut_skipped);
	return failed ? 1 : 0;
}

int ut_run_ways(const char *name, const struct ut_suite *suites, size_t n,
		const struct ut_way *ways, size_t nways)
{
	size_t i, w;
	int ret;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 1;
	for (i = 0; i < n; i++)
		if (ut_add(&suites[i], "", NULL))
			return 1;
	for (w = 0; w < nways; w++)
		for (i = 0; i < n; i++)
			if (ut_add(&suites[i], ways[w].how, ways[w].init))
				return 1;
	ret = ut_listing() ? 0 : ut_verdict(name);
	CU_cleanup_registry();
	return ret;
}

int ut_run_again(const char *name, const struct ut_suite *suites, size_t n, const char *how,
		 CU_InitializeFunc init)
{
	const struct ut_way way = { how, init };

	return ut_run_ways(name, suites, n, &way, 1);
}

int ut_run(const char *name, const struct ut_suite *suites, size_t n)
{
	return ut_run_ways(name, suites, n, NULL, 0);
}

void ut_skip(const char *why)
{
	printf("skipped: %s\n", why);
	ut_skipped++;
}

/* What DDIO_UT_SHARE is with make quick, where sweeps take their whole stride. */
#define UT_QUICK 20

static unsigned int ut_share(void)
{
	const char *share = getenv("DDIO_UT_SHARE");
	int n = share ? atoi(share) : 1;

	return n < 1 ? 1 : n > UT_QUICK ? UT_QUICK : (unsigned int)n;
}

unsigned int ut_rounds(unsigned int n)
{
	return n < ut_share() ? 1 : n / ut_share();
}

unsigned int ut_stride(unsigned int n)
{
	return ut_share() == 1 ? 1 : (n * ut_share() + UT_QUICK - 1) / UT_QUICK;
}
