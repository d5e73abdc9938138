// SPDX-License-Identifier: GPL-2.0-only
/* Which files the kernel may have names of, and the names that lead to directories. */
#include <stdio.h>
#include <string.h>
#include "fuse/ddiofs.h"
#include "tests/unit/lib/ut.h"

#define SECOND 1000000000ull
/* When no request that was made by a name of the past second can still be on its way. */
#define LATER (7 * SECOND)

enum { DIR = 2, FILE_A = 100, FILE_B = 101 };

static struct known_set *k;

static uint64_t name(const char *text)
{
	return known_name(DIR, text);
}

static void given(const char *text, uint64_t ino, uint64_t now)
{
	known_given(k, name(text), ino, now, SECOND);
}

static void names_are_counted(void)
{
	k = known_new();
	/* Of what it never heard of, it does not know. */
	CU_ASSERT(known_may(k, FILE_A, SECOND));
	CU_ASSERT(!known_nameless(k, FILE_A));
	given("a", FILE_A, SECOND);
	given("a", FILE_A, SECOND);
	given("b", FILE_A, SECOND);
	known_lost(k, name("a"));
	known_lost(k, name("a"));
	known_lost(k, name("c"));
	CU_ASSERT(known_may(k, FILE_A, SECOND));
	known_lost(k, name("b"));
	CU_ASSERT(!known_may(k, FILE_A, SECOND));
	CU_ASSERT(known_nameless(k, FILE_A));
	given("b", FILE_A, SECOND);
	CU_ASSERT(!known_nameless(k, FILE_A));
	known_free(k);
}

/* A name that is another file's now is no longer the first one's. */
static void names_are_replaced(void)
{
	k = known_new();
	given("a", FILE_A, SECOND);
	given("a", FILE_B, SECOND);
	CU_ASSERT(known_nameless(k, FILE_A));
	known_moved(k, name("a"), name("b"), false);
	known_lost(k, name("a"));
	CU_ASSERT(known_may(k, FILE_B, SECOND));
	given("c", FILE_A, SECOND);
	known_moved(k, name("c"), name("b"), true);
	known_lost(k, name("b"));
	CU_ASSERT(known_nameless(k, FILE_A));
	CU_ASSERT(known_may(k, FILE_B, SECOND));
	given("a", FILE_A, SECOND);
	known_moved(k, name("a"), name("c"), false);
	CU_ASSERT(known_nameless(k, FILE_B));
	CU_ASSERT(known_may(k, FILE_A, SECOND));
	known_free(k);
}

/* Old names do not count for ever, and one that is lost late is not counted twice. */
static void names_grow_old(void)
{
	k = known_new();
	given("a", FILE_A, SECOND);
	CU_ASSERT(known_may(k, FILE_A, SECOND * 3 / 2));
	CU_ASSERT(!known_may(k, FILE_A, LATER + SECOND));
	/* It may have been opened by the name before that, and the request was late. */
	CU_ASSERT(!known_nameless(k, FILE_A));
	given("b", FILE_A, LATER + SECOND);
	known_lost(k, name("a"));
	CU_ASSERT(known_may(k, FILE_A, LATER + SECOND));
	known_free(k);
}

/* However many there are, none that the kernel may have is taken for lost. */
static void many_names(void)
{
	char text[32];
	uint64_t i;

	k = known_new();
	for (i = 1; i < 200000; i++) {
		snprintf(text, sizeof(text), "f%llu", (unsigned long long)i);
		given(text, i, SECOND);
		CU_ASSERT(known_may(k, i, SECOND));
	}
	for (i = 1; i < 200000; i += 2) {
		snprintf(text, sizeof(text), "f%llu", (unsigned long long)i);
		known_lost(k, name(text));
	}
	for (i = 2; i < 200000; i += 2)
		CU_ASSERT_FALSE(known_nameless(k, i));
	known_free(k);
}

static void paths(void)
{
	char path[32];

	k = known_new();
	CU_ASSERT_EQUAL(known_path(k, 1, 7, "x", path, sizeof(path)), 0);
	CU_ASSERT_EQUAL(known_path(k, 7, 7, "x", path, sizeof(path)), 2);
	known_dir(k, 1, "up", 6);
	known_dir(k, 6, "down", 7);
	CU_ASSERT_EQUAL(known_path(k, 1, 7, "x", path, sizeof(path)), 10);
	CU_ASSERT(!memcmp(path, "up\0down\0x", 10));
	CU_ASSERT_EQUAL(known_path(k, 1, 7, "x", path, 9), 0);
	/* In a circle, which another mount's renames may make of what was heard. */
	known_dir(k, 7, "round", 6);
	CU_ASSERT_EQUAL(known_path(k, 1, 7, "x", path, sizeof(path)), 0);
	/* What was renamed here is not known by its old name. */
	known_dir(k, 1, "up", 6);
	known_given(k, known_name(1, "up"), 6, SECOND, SECOND);
	known_moved(k, known_name(1, "up"), known_name(1, "other"), false);
	CU_ASSERT_EQUAL(known_path(k, 1, 7, "x", path, sizeof(path)), 0);
	known_free(k);
}

static const struct ut_case cases[] = {
	{ "names are counted", names_are_counted },
	{ "names are replaced", names_are_replaced },
	{ "names grow old", names_grow_old },
	{ "many names", many_names },
	{ "paths", paths },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "mount known", cases } };

	return ut_run("mount_known", suites, 1);
}
