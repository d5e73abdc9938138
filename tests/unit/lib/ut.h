/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The runner of all CUnit programs.  CU_get_error() stays 0 when an assertion
 * fails, so the verdict is made from the counts.
 */
#ifndef DDIO_UT_H
#define DDIO_UT_H

#include <stdio.h>
#include <CUnit/Basic.h>

struct ut_case {
	const char *name;
	CU_TestFunc run;
};

struct ut_suite {
	const char *name;
	const struct ut_case *cases; /* ends with a NULL name */
};

static inline int ut_add(const struct ut_suite *suite, const char *how, CU_InitializeFunc init)
{
	const struct ut_case *c;
	char name[128];
	CU_pSuite s;

	snprintf(name, sizeof(name), "%s%s", suite->name, how);
	s = CU_add_suite(name, init, NULL);
	if (!s)
		return -1;
	for (c = suite->cases; c->name; c++)
		if (!CU_add_test(s, c->name, c->run))
			return -1;
	return 0;
}

/**
 * ut_run_again - run suites, and run them once more in another way
 * @how: added to the names of the suites the second time, or NULL: there is none
 * @init: called before each suite of the second time
 * Return: 0 if every test of every suite ran and passed, else 1.
 */
static inline int ut_run_again(const char *name, const struct ut_suite *suites, size_t n,
			       const char *how, CU_InitializeFunc init)
{
	unsigned int run, failed;
	size_t i;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 1;
	for (i = 0; i < n; i++)
		if (ut_add(&suites[i], "", NULL))
			return 1;
	for (i = 0; how && i < n; i++)
		if (ut_add(&suites[i], how, init))
			return 1;
	CU_basic_set_mode(CU_BRM_NORMAL);
	CU_basic_run_tests();
	run = CU_get_number_of_tests_run();
	failed = CU_get_number_of_tests_failed();
	if (CU_get_number_of_suites_failed() || !run)
		failed++;
	CU_cleanup_registry();
	printf("%s: %u passed, %u failed\n", name, run > failed ? run - failed : 0, failed);
	return failed ? 1 : 0;
}

/**
 * ut_run - run suites and print the one line that the harness counts
 * Return: 0 if every test of every suite ran and passed, else 1.
 */
static inline int ut_run(const char *name, const struct ut_suite *suites, size_t n)
{
	return ut_run_again(name, suites, n, NULL, NULL);
}

#endif /* DDIO_UT_H */
