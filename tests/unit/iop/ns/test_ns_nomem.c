// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation of the name space fails once.  Its sources are compiled in here, with the
 * allocator replaced.  Whatever fails says so, nothing leaks, and a change is made wholly or
 * not at all.
 */
#include "tests/unit/lib/ut_nomem.h"

#include "userlib/iop/ns/acl.c"
#include "userlib/iop/ns/check/adopt.c"
#include "userlib/iop/kv/kv.c"
#include "userlib/iop/kv/lmdb.c"
#include "userlib/iop/kv/commit.c"
#include "userlib/iop/kv/cursor.c"
#include "userlib/iop/kv/journal.c"
#include "userlib/iop/kv/map.c"
#include "userlib/iop/lmdb/committer.c"
#include "userlib/iop/lmdb/env.c"
#define ns_start ns_begin_records
#include "userlib/iop/ns/ns.c"
#undef ns_start
#include "userlib/iop/ns/mode.c"
#define kill_suid attr_kill_suid
#define grow attr_grow
#include "userlib/iop/ns/attr.c"
#undef grow
#include "userlib/iop/ns/dir.c"
#include "userlib/iop/ns/change.c"
#include "userlib/iop/ns/core.c"
#include "userlib/iop/ns/inode.c"
#include "userlib/iop/ns/make.c"
#include "userlib/iop/ns/mount.c"
#include "userlib/iop/ns/record.c"
#include "userlib/iop/ns/remove.c"
#define replace rename_replace
#include "userlib/iop/ns/rename.c"
#undef replace
#include "userlib/iop/ns/stripe.c"
#include "userlib/iop/ns/xattr.c"
#include "userlib/iop/ns/xattr_store.c"

#undef malloc
#undef calloc
#undef realloc
#undef strdup

#include "ut_ns.h"

enum { TRIES = 2000 };

static int first(int old, int ret)
{
	return old ? old : ret;
}

static int made(uint64_t ino, uint64_t *result)
{
	*result = ino;
	return ino ? 0 : -errno;
}

static int set(struct nst *t, uint64_t ino, const char *name, const char *value)
{
	struct ddio_msg_fs_xattr x = { .ino = ino, .value = value, .len = (uint32_t)strlen(value) };
	struct inode in;
	int ret;

	snprintf(x.name, sizeof(x.name), "%s", name);
	ret = ns_setxattr(t->ns, NULL, &x, &in);
	inode_free(&in);
	return ret;
}

/* Objects get back the file that they had. */
static int adopt_gone(struct nst *t, uint64_t ino)
{
	struct ddio_file_record rec = { .ref = { .id = ino, .seed = 7, .block = 4096 },
					.ndisks = 2,
					.disks = (uint32_t[]){ 0, 1 } };
	int ret = nst_unlink(t, NST_ROOT, "i");

	if (!ret)
		ret = nst_unlink(t, NST_ROOT, "h");
	if (!ret)
		ret = ns_gone(t->ns, ino);
	return ret ? ret : ns_adopt(t->ns, &rec);
}

static int use(struct nst *t)
{
	static const uint8_t id[DDIO_GROUP_ID_LEN] = { 7 };
	const struct ddio_msg_fs_readdir rd = { .ino = NST_ROOT,
						.max = 10,
						.flags = DDIO_FS_READDIR_PLUS };
	uint64_t d = 0, f = 0, l = 0, g = 0;
	struct ddio_msg_fs_entries out;
	struct ns_mount *m = NULL;
	struct inode in;
	bool known;
	int ret;

	ret = made(nst_mkdir(t, NST_ROOT, "d"), &d);
	ret = first(ret, ret ? ret : made(nst_file(t, d, "f"), &f));
	ret = first(ret, ret ? ret : made(nst_make(t, d, "l", S_IFLNK | 0777), &l));
	ret = first(ret, ret ? ret : set(t, d, "ddio.disks", "3,1"));
	ret = first(ret, ret ? ret : made(nst_file(t, d, "g"), &g));
	ret = first(ret, ret ? ret : set(t, g, "user.a", "value"));
	ret = first(ret, ret ? ret : nst_link(t, f, NST_ROOT, "h"));
	ret = first(ret, ret ? ret : nst_rename(t, d, "f", NST_ROOT, "i", 0));
	ret = first(ret, ret ? ret : nst_data(t, f, 10));
	if (!ret)
		ret = ns_mount_attach(t->ns, id, &m, &known);
	if (!ret) {
		ret = ns_open_file(t->ns, m, g, false, &in);
		inode_free(&in);
	}
	if (!ret) {
		ret = ns_readdir(t->ns, &rd, 1 << 16, &out);
		if (!ret)
			free(out.ents);
	}
	ret = first(ret, ret ? ret : nst_unlink(t, d, "g"));
	ret = first(ret, ret ? ret : adopt_gone(t, f));
	if (m)
		ret = first(ret, nst_mount_end(t, m));
	return first(ret, nst_commit(t));
}

/* A name space that had a failure is whole afterwards. */
static int attempt(void)
{
	struct ddio_msg_fsck fsck;
	unsigned long left;
	struct nst t;
	int ret;

	left = nomem_countdown;
	nomem_countdown = 0;
	nst_begin(&t);
	nomem_countdown = left;
	ret = use(&t);
	nomem_countdown = 0;
	CU_ASSERT_EQUAL(nst_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_ns_check(t.ns, false, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	if (fsck.problems)
		fprintf(stderr, "%s\n", fsck.text);
	nst_end(&t);
	return ret;
}

static void test_use(void)
{
	unsigned long n;
	int ret;

	for (n = 1; n < TRIES; n++) {
		nomem_failures = 0;
		nomem_countdown = n;
		ret = attempt();
		if (!nomem_failures) {
			CU_ASSERT_EQUAL(ret, 0);
			break;
		}
		CU_ASSERT(ret == -ENOMEM || !ret);
	}
	CU_ASSERT(n > 50 && n < TRIES);
}

static int open_attempt(struct nst *t)
{
	int ret = nst_open(t);

	if (ret)
		return ret;
	ns_close(t->ns);
	t->ns = NULL;
	return 0;
}

/* Opening with a journal to be replayed and a mount that was there. */
static void test_open(void)
{
	static const uint8_t id[DDIO_GROUP_ID_LEN] = { 7 };
	struct ns_mount *m;
	unsigned long n;
	struct nst t;
	bool known;
	int ret;

	for (n = 1; n < TRIES; n++) {
		nst_begin(&t);
		CU_ASSERT_NOT_EQUAL(nst_file(&t, NST_ROOT, "f"), 0);
		CU_ASSERT_EQUAL(ns_mount_attach(t.ns, id, &m, &known), 0);
		ns_close(t.ns);
		t.ns = NULL;
		nomem_failures = 0;
		nomem_countdown = n;
		ret = open_attempt(&t);
		nomem_countdown = 0;
		CU_ASSERT_EQUAL(ret, nomem_failures ? -ENOMEM : 0);
		CU_ASSERT_EQUAL_FATAL(nst_open(&t), 0);
		CU_ASSERT_NOT_EQUAL(nst_find(&t, NST_ROOT, "f"), 0);
		nst_end(&t);
		if (!nomem_failures)
			break;
	}
	CU_ASSERT(n > 5 && n < TRIES);
}

/* A listing of orphans that fails leaves out none of them when it is made again. */
static void test_orphans(void)
{
	struct ddio_msg_ns_listing out;
	unsigned long n;
	uint64_t after;
	struct nst t;
	int ret;

	for (n = 1; n < TRIES; n++) {
		nst_begin(&t);
		CU_ASSERT_EQUAL(nst_data(&t, nst_file(&t, NST_ROOT, "f"), 10), 0);
		CU_ASSERT_EQUAL(nst_data(&t, nst_file(&t, NST_ROOT, "g"), 10), 0);
		CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "f"), 0);
		CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "g"), 0);
		nomem_failures = 0;
		nomem_countdown = n;
		after = 0;
		ret = ns_orphans(t.ns, &after, 10, &out);
		nomem_countdown = 0;
		CU_ASSERT_EQUAL(ret, nomem_failures ? -ENOMEM : 0);
		if (ret)
			CU_ASSERT_EQUAL(ns_orphans(t.ns, &after, 10, &out), 0);
		CU_ASSERT_EQUAL(out.n, 2);
		ddio_ns_listing_free(&out);
		nst_end(&t);
		if (!nomem_failures)
			break;
	}
	CU_ASSERT(n > 2 && n < TRIES);
}

static const struct ut_case cases[] = {
	{ "use", test_use },
	{ "orphans", test_orphans },
	{ "opening", test_open },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "no memory", cases } };

	return ut_run("ns_nomem", suites, 1);
}
