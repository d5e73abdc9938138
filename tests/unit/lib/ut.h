/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The runner of all unit programs.  A program takes --list, and the names of cases:
 *
 *	test_store 'a record*' 'check: *'	only cases whose name, or "suite: name", matches
 */
#ifndef DDIO_UT_H
#define DDIO_UT_H

#include <CUnit/Basic.h>
#include <stddef.h>
#include <stdio.h>

struct ut_case {
	const char *name;
	CU_TestFunc run;
};

struct ut_suite {
	const char *name;
	const struct ut_case *cases; /* ends with a NULL name */
};

/**
 * ut_run - run suites and print the one line that the harness counts
 * Return: 0 if every chosen test ran and passed, else 1.
 */
int ut_run(const char *name, const struct ut_suite *suites, size_t n);

/**
 * ut_run_again - run suites, and run them once more in another way
 * @how: added to the names of the suites the second time
 * @init: called before each suite of the second time
 * Return: 0 if every chosen test ran and passed, else 1.
 */
int ut_run_again(const char *name, const struct ut_suite *suites, size_t n, const char *how,
		 CU_InitializeFunc init);

/* A way to run suites, as ut_run_again() has it. */
struct ut_way {
	const char *how;
	CU_InitializeFunc init;
};

/* Runs suites, and once more in each of the ways. */
int ut_run_ways(const char *name, const struct ut_suite *suites, size_t n,
		const struct ut_way *ways, size_t nways);

/**
 * ut_skip - counts something that this machine cannot run, and says why
 * @why: what it lacks
 */
void ut_skip(const char *why);

/**
 * ut_rounds - how many rounds a random test has
 * Return: @n; where DDIO_UT_SHARE is a number (6 with make check, 20 with make quick), that part of it, at least one.
 */
unsigned int ut_rounds(unsigned int n);

/**
 * ut_stride - the step with which a sweep goes over its cases
 * Return: 1, which is every case; with make quick @n, and with make check three tenths of that, rounded up.
 */
unsigned int ut_stride(unsigned int n);

#endif /* DDIO_UT_H */
