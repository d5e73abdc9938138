// SPDX-License-Identifier: GPL-2.0-only
/* The groups of users that munge vouches for: tables of this program's own, however long, and those that cannot be read. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include "munge/munge.h"
#include "tests/unit/lib/ut.h"
#include "tools/ddiod/vouch.h"

enum { ALICE = 1000, STAFF = 50 };

/* What the tables say: @room bytes are needed for the account; groups grow by @grows between two looks. */
static struct {
	int err, groups, grows;
	size_t room;
	bool unknown;
} tables;

int ddio_munge_check(const char *cred, const void *data, size_t len, uid_t *uid, gid_t *gid,
		     char *why, size_t why_len)
{
	(void)cred;
	(void)data;
	(void)len;
	(void)why;
	(void)why_len;
	*uid = ALICE;
	*gid = STAFF;
	return 0;
}

int getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t len, struct passwd **found)
{
	*found = NULL;
	if (tables.err || uid != ALICE)
		return tables.err;
	if (len < tables.room)
		return ERANGE;
	strcpy(buf, "alice");
	pw->pw_name = buf;
	*found = tables.unknown ? NULL : pw;
	return 0;
}

int getgrouplist(const char *name, gid_t gid, gid_t *groups, int *n)
{
	int had = *n, i;

	CU_ASSERT_STRING_EQUAL(name, "alice");
	CU_ASSERT_EQUAL(gid, STAFF);
	*n = tables.groups;
	tables.groups += tables.grows;
	tables.grows = 0;
	for (i = 0; i < *n && i < had; i++)
		groups[i] = (gid_t)i;
	return *n <= had ? *n : -1;
}

/* Return: how many groups there are, or -errno. */
static int64_t look(size_t room, int groups, int grows)
{
	struct ddio_vouch_job job = { .cred = "" };
	uint32_t i;

	tables.room = room;
	tables.groups = groups;
	tables.grows = grows;
	munge_vouch(&job);
	for (i = 0; i < job.who.ngroups; i++)
		CU_ASSERT_EQUAL(job.who.groups[i], i);
	free(job.who.groups);
	if (job.err)
		CU_ASSERT_PTR_NOT_NULL(strstr(job.why, "user 1000"));
	return job.err ? job.err : (int64_t)job.who.ngroups;
}

static void test_long(void)
{
	CU_ASSERT_EQUAL(look(100, 3, 0), 3);
	CU_ASSERT_EQUAL(look(100000, 3, 0), 3);
	CU_ASSERT_EQUAL(look(100, 1000, 0), 1000);
	CU_ASSERT_EQUAL(look(100, 1000, 500), 1500);
	CU_ASSERT_EQUAL(look(100, WHO_GROUPS_MAX, 0), WHO_GROUPS_MAX);
}

/* With fewer groups than there are nobody is let in. */
static void test_refused(void)
{
	CU_ASSERT_EQUAL(look(100, WHO_GROUPS_MAX + 1, 0), -E2BIG);
	CU_ASSERT_EQUAL(look((size_t)1 << 30, 3, 0), -ERANGE);
	tables.err = EIO;
	CU_ASSERT_EQUAL(look(100, 3, 0), -EIO);
	tables.err = 0;
}

static void test_no_account(void)
{
	tables.err = ENOENT;
	CU_ASSERT_EQUAL(look(100, 3, 0), 0);
	tables.err = 0;
	tables.unknown = true;
	CU_ASSERT_EQUAL(look(100, 3, 0), 0);
	tables.unknown = false;
}

static const struct ut_case cases[] = {
	{ "long tables", test_long },
	{ "tables that cannot be read", test_refused },
	{ "no account", test_no_account },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "groups of users", cases } };

	return ut_run("test_ddiod_vouch", suites, 1);
}
