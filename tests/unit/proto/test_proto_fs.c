// SPDX-License-Identifier: GPL-2.0-only
/* What each message of the file system may say: values at their limits and beyond. */
#include <sys/stat.h>
#include "tests/unit/proto/proto_ut.h"

static const struct ddio_fs_attr file_attr = {
	.ino = 7,
	.mode = S_IFREG | 0644,
	.nlink = 1,
	.block = 4096,
	.ndisks = 3,
	.size = 100,
};

static const struct ddio_fs_attr dir_attr = {
	.ino = 1,
	.mode = S_IFDIR | 0755,
	.nlink = 2,
};

static void test_names(void)
{
	struct ddio_msg_fs_name x = { .parent = 1, .name = "a" };

	CU_ASSERT_EQUAL(judge("fs_name", &x), 0);
	x.name[0] = '\0';
	CU_ASSERT_EQUAL(judge("fs_name", &x), -EINVAL);
	strcpy(x.name, "a/b");
	CU_ASSERT_EQUAL(judge("fs_name", &x), -EINVAL);
	memset(x.name, 'n', DDIO_MAX_NAME);
	x.name[DDIO_MAX_NAME] = '\0';
	CU_ASSERT_EQUAL(judge("fs_name", &x), 0);
	x.flags = 2;
	CU_ASSERT_EQUAL(judge("fs_name", &x), -EPROTO);
	x.flags = 0;
	x.parent = 0;
	CU_ASSERT_EQUAL(judge("fs_name", &x), -EINVAL);
}

static void test_sequence(void)
{
	struct ddio_msg_fs_link x = { .ino = 2, .parent = 1, .name = "a" };

	CU_ASSERT_EQUAL(judge("fs_link", &x), 0);
	x.seq.upto = 9; /* without a number of its own it still may say so */
	CU_ASSERT_EQUAL(judge("fs_link", &x), 0);
	x.seq.seq = 10;
	CU_ASSERT_EQUAL(judge("fs_link", &x), 0);
	x.seq.upto = 10;
	CU_ASSERT_EQUAL(judge("fs_link", &x), -EINVAL);
}

static void test_attributes(void)
{
	struct ddio_msg_fs_attr x = { .attr = file_attr };

	CU_ASSERT_EQUAL(judge("fs_attr", &x), 0);
	x.attr.mode = S_IFDIR | 0755;
	CU_ASSERT_EQUAL(judge("fs_attr", &x), -EINVAL); /* no stripe there */
	x.attr.block = x.attr.ndisks = 0;
	CU_ASSERT_EQUAL(judge("fs_attr", &x), 0);
	x.attr.mode = 0755;
	CU_ASSERT_EQUAL(judge("fs_attr", &x), -EINVAL);
	x.attr.mode = S_IFDIR | 01000000;
	CU_ASSERT_EQUAL(judge("fs_attr", &x), -EINVAL);
	x.attr = file_attr;
	x.attr.block = 1000;
	CU_ASSERT_EQUAL(judge("fs_attr", &x), -EINVAL);
	x.attr = file_attr;
	x.attr.ndisks = DDIO_MAX_DISKS + 1;
	CU_ASSERT_EQUAL(judge("fs_attr", &x), -EMSGSIZE);
	x.attr = file_attr;
	x.attr.size = DDIO_MAX_FILE + 1;
	CU_ASSERT_EQUAL(judge("fs_attr", &x), -EMSGSIZE);
	x.attr = file_attr;
	x.attr.mtime.tv_sec = -5; /* before 1970 */
	x.attr.mtime.tv_nsec = 999999999;
	CU_ASSERT_EQUAL(judge("fs_attr", &x), 0);
	x.attr.mtime.tv_nsec++;
	CU_ASSERT_EQUAL(judge("fs_attr", &x), -EINVAL);
	x.attr = file_attr;
	x.attr.ino = 0;
	CU_ASSERT_EQUAL(judge("fs_attr", &x), -EINVAL);
}

static void test_making(void)
{
	struct ddio_msg_fs_make x = { .parent = 1, .mode = S_IFLNK | 0777, .name = "l" };

	CU_ASSERT_EQUAL(judge("fs_make", &x), -EINVAL); /* no target */
	memset(x.target, 't', DDIO_FS_TARGET_MAX);
	CU_ASSERT_EQUAL(judge("fs_make", &x), 0);
	x.mode = S_IFREG | 0644;
	CU_ASSERT_EQUAL(judge("fs_make", &x), -EINVAL);
	x.target[0] = '\0';
	x.flags = DDIO_FS_MAKE_OPEN | DDIO_FS_MAKE_EXCL;
	CU_ASSERT_EQUAL(judge("fs_make", &x), 0);
	x.mode = S_IFDIR | 0755;
	CU_ASSERT_EQUAL(judge("fs_make", &x), -EINVAL);
	x.flags = 4;
	CU_ASSERT_EQUAL(judge("fs_make", &x), -EPROTO);
	x.flags = 0;
	x.umask = 01000;
	CU_ASSERT_EQUAL(judge("fs_make", &x), -EINVAL);
}

static void test_made(void)
{
	struct ddio_msg_fs_opened x = { .flags = DDIO_FS_OPENED_MADE | DDIO_FS_OPENED_DIR,
					.attr = file_attr,
					.dir = dir_attr };

	CU_ASSERT_EQUAL(judge("fs_opened", &x), 0);
	x.dir = file_attr;
	CU_ASSERT_EQUAL(judge("fs_opened", &x), -EINVAL);
	x.flags = DDIO_FS_OPENED_MADE;
	CU_ASSERT_EQUAL(judge("fs_opened", &x), 0);
	x.flags = 16;
	CU_ASSERT_EQUAL(judge("fs_opened", &x), -EPROTO);
}

static void test_unlinked(void)
{
	struct ddio_msg_fs_unlinked x = { .flags = DDIO_FS_UNLINKED_DIR, .dir = dir_attr };
	uint32_t disks[] = { 0, 1 };

	CU_ASSERT_EQUAL(judge("fs_unlinked", &x), 0);
	x.flags |= DDIO_FS_UNLINKED_LEFT;
	CU_ASSERT_EQUAL(judge("fs_unlinked", &x), -EINVAL);
	x.rec.ref = (struct ddio_file_ref){ .id = 7, .block = 4096 };
	x.rec.ndisks = 2;
	x.rec.disks = disks;
	CU_ASSERT_EQUAL(judge("fs_unlinked", &x), 0);
	x.dir.ino = 0;
	CU_ASSERT_EQUAL(judge("fs_unlinked", &x), -EINVAL);
	x.dir = file_attr;
	CU_ASSERT_EQUAL(judge("fs_unlinked", &x), -EINVAL);
	x.flags = DDIO_FS_UNLINKED_LEFT;
	CU_ASSERT_EQUAL(judge("fs_unlinked", &x), 0);
	x.flags = 0;
	CU_ASSERT_EQUAL(judge("fs_unlinked", &x), 0);
	x.flags = 4;
	CU_ASSERT_EQUAL(judge("fs_unlinked", &x), -EPROTO);
}

static void test_rename(void)
{
	struct ddio_msg_fs_rename x = { .parent = 1, .new_parent = 1, .name = "a", .new_name = "b" };

	CU_ASSERT_EQUAL(judge("fs_rename", &x), 0);
	x.flags = DDIO_FS_RENAME_NOREPLACE | DDIO_FS_RENAME_EXCHANGE;
	CU_ASSERT_EQUAL(judge("fs_rename", &x), -EINVAL);
	x.flags = DDIO_FS_RENAME_WHITEOUT | DDIO_FS_RENAME_EXCHANGE;
	CU_ASSERT_EQUAL(judge("fs_rename", &x), -EINVAL);
	x.flags = DDIO_FS_RENAME_WHITEOUT | DDIO_FS_RENAME_NOREPLACE;
	CU_ASSERT_EQUAL(judge("fs_rename", &x), 0);
	x.flags = 8;
	CU_ASSERT_EQUAL(judge("fs_rename", &x), -EPROTO);
}

static void test_listing(void)
{
	struct ddio_fs_dirent e = { .cookie = 3, .name = "a", .attr = file_attr };
	struct ddio_msg_fs_entries x = { .n = 1, .more = 1, .plus = 1, .ents = &e };
	struct ddio_msg_fs_readdir rd = { .ino = 1, .max = DDIO_MAX_BATCH };

	CU_ASSERT_EQUAL(judge("fs_entries", &x), 0);
	e.name = "a/b";
	CU_ASSERT_EQUAL(judge("fs_entries", &x), -EINVAL);
	e.name = "";
	CU_ASSERT_EQUAL(judge("fs_entries", &x), -EINVAL);
	e.name = "a";
	e.attr.mode = 0;
	CU_ASSERT_EQUAL(judge("fs_entries", &x), -EINVAL);
	x.plus = 0;
	CU_ASSERT_EQUAL(judge("fs_entries", &x), -EINVAL);
	e.attr.mode = file_attr.mode;
	x.plus = 2;
	CU_ASSERT_EQUAL(judge("fs_entries", &x), -EINVAL);
	x.plus = 0;
	x.n = 0;
	CU_ASSERT_EQUAL(judge("fs_entries", &x), 0);
	x.more = 2;
	CU_ASSERT_EQUAL(judge("fs_entries", &x), -EINVAL);
	CU_ASSERT_EQUAL(judge("fs_readdir", &rd), 0);
	rd.max++;
	CU_ASSERT_EQUAL(judge("fs_readdir", &rd), -EMSGSIZE);
	rd.max = 0;
	CU_ASSERT_EQUAL(judge("fs_readdir", &rd), -EINVAL);
}

static void test_xattrs(void)
{
	static uint8_t value[DDIO_FS_XATTR_MAX + 1];
	struct ddio_msg_fs_xattr x = { .ino = 1, .name = "user.a", .value = value };
	struct ddio_msg_fs_value v = { .data = value, .len = DDIO_FS_XATTR_MAX };

	x.len = DDIO_FS_XATTR_MAX;
	CU_ASSERT_EQUAL(judge("fs_xattr", &x), 0);
	x.len++;
	CU_ASSERT_EQUAL(judge("fs_xattr", &x), -EMSGSIZE);
	x.len = 0;
	x.flags = DDIO_FS_XATTR_CREATE | DDIO_FS_XATTR_REPLACE;
	CU_ASSERT_EQUAL(judge("fs_xattr", &x), -EINVAL);
	x.flags = 16;
	CU_ASSERT_EQUAL(judge("fs_xattr", &x), -EPROTO);
	x.flags = 0;
	x.name[0] = '\0';
	CU_ASSERT_EQUAL(judge("fs_xattr", &x), -EINVAL);
	CU_ASSERT_EQUAL(judge("fs_value", &v), 0);
	v.len++;
	CU_ASSERT_EQUAL(judge("fs_value", &v), -EMSGSIZE);
}

static void test_mounts(void)
{
	struct ddio_msg_fs_attach x = { .mount = { 0 } };
	struct ddio_msg_fs_attached y = { .known = 2 };

	CU_ASSERT_EQUAL(judge("fs_attach", &x), -EINVAL);
	x.mount[15] = 1;
	CU_ASSERT_EQUAL(judge("fs_attach", &x), 0);
	x.flags = 2;
	CU_ASSERT_EQUAL(judge("fs_attach", &x), -EPROTO);
	CU_ASSERT_EQUAL(judge("fs_attached", &y), -EINVAL);
	y = (struct ddio_msg_fs_attached){ .life = 7, .lost = DDIO_FS_LOST_ALL };
	CU_ASSERT_EQUAL(judge("fs_attached", &y), 0);
	y.lost++;
	CU_ASSERT_EQUAL(judge("fs_attached", &y), -EPROTO);
}

static void test_locks(void)
{
	struct ddio_msg_fs_lock x = { .ino = 1, .start = 5, .end = 5 };

	CU_ASSERT_EQUAL(judge("fs_lock", &x), 0);
	x.end = 4;
	CU_ASSERT_EQUAL(judge("fs_lock", &x), -EINVAL);
	x.end = UINT64_MAX;
	x.type = DDIO_FS_LOCK_MAX;
	CU_ASSERT_EQUAL(judge("fs_lock", &x), -EINVAL);
	x.type = DDIO_FS_LOCK_WRITE;
	x.flags = DDIO_FS_LOCK_WAIT; /* nothing to cancel it by */
	CU_ASSERT_EQUAL(judge("fs_lock", &x), -EINVAL);
	x.id = 1;
	CU_ASSERT_EQUAL(judge("fs_lock", &x), 0);
	x.flags = 16;
	CU_ASSERT_EQUAL(judge("fs_lock", &x), -EPROTO);
}

static void test_data(void)
{
	struct ddio_msg_fs_append ap = { .ino = 1 };
	struct ddio_msg_fs_wrote wr = { .ino = 1, .end = DDIO_MAX_FILE + 1 };
	struct ddio_msg_obj_copy cp = { .from = { .id = 1, .block = 512 },
					.to = { .id = 2, .block = 512 },
					.len = DDIO_MAX_BULK };

	CU_ASSERT_EQUAL(judge("fs_append", &ap), -EINVAL);
	ap.len = 1;
	CU_ASSERT_EQUAL(judge("fs_append", &ap), 0);
	CU_ASSERT_EQUAL(judge("fs_wrote", &wr), -EMSGSIZE);
	CU_ASSERT_EQUAL(judge("obj_copy", &cp), 0);
	cp.to_offset = DDIO_MAX_FILE - cp.len + 1;
	CU_ASSERT_EQUAL(judge("obj_copy", &cp), -EMSGSIZE);
	cp.to_offset = 0;
	cp.len++;
	CU_ASSERT_EQUAL(judge("obj_copy", &cp), -EMSGSIZE);
	cp.len = 0;
	CU_ASSERT_EQUAL(judge("obj_copy", &cp), -EINVAL);
	cp.len = 1;
	cp.to.id = 0;
	CU_ASSERT_EQUAL(judge("obj_copy", &cp), -EINVAL);
}

static const struct ut_case cases[] = {
	{ "names", test_names },
	{ "sequence numbers", test_sequence },
	{ "attributes", test_attributes },
	{ "FS_MAKE", test_making },
	{ "what was made", test_made },
	{ "what was removed", test_unlinked },
	{ "FS_RENAME", test_rename },
	{ "listings", test_listing },
	{ "extended attributes", test_xattrs },
	{ "mounts", test_mounts },
	{ "locks", test_locks },
	{ "data", test_data },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "values", cases } };

	return ut_run("proto_fs", suites, sizeof(suites) / sizeof(suites[0]));
}
