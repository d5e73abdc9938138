// SPDX-License-Identifier: GPL-2.0-only
/* Attributes, extended attributes, access control lists, stripes. */
#include "iop/ns/acl.h"
#include "ut_ns.h"

static int setattr(struct nst *t, struct ddio_msg_fs_setattr x, struct ddio_fs_attr *attr)
{
	struct inode in;
	int ret = ns_setattr(t->ns, NULL, &x, &in);

	if (!ret)
		inode_attr(&in, attr);
	inode_free(&in);
	return ret;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static void test_setattr(void)
{
	const struct timespec old = { -1000000000, 5 };
	struct ddio_fs_attr a, b;
	struct nst t;
	uint64_t f, d;

	nst_begin(&t);
	f = nst_file(&t, NST_ROOT, "f");
	d = nst_mkdir(&t, NST_ROOT, "d");
	a = nst_attr(&t, f);
	ddio_sim_run_for(t.world, 5);
#define SET(...) setattr(&t, (struct ddio_msg_fs_setattr){ __VA_ARGS__ }, &b)
	CU_ASSERT_EQUAL(SET(.ino = f, .mask = DDIO_FS_SET_MODE, .mode = 06755), 0);
	CU_ASSERT_EQUAL(b.mode, S_IFREG | 06755);
	CU_ASSERT(b.change > a.change && !same_time(&a.ctime, &b.ctime));
	CU_ASSERT_TRUE(same_time(&a.mtime, &b.mtime));
	CU_ASSERT_EQUAL(SET(.ino = f, .mask = DDIO_FS_KILL_SUID), 0);
	CU_ASSERT_EQUAL(b.mode, S_IFREG | 0755);
	CU_ASSERT_EQUAL(
		SET(.ino = f, .mask = DDIO_FS_SET_UID | DDIO_FS_SET_GID, .uid = 1, .gid = 2), 0);
	CU_ASSERT(b.uid == 1 && b.gid == 2);
	CU_ASSERT_EQUAL(SET(.ino = f, .mask = DDIO_FS_SET_ATIME | DDIO_FS_SET_MTIME, .atime = old,
			    .mtime = old),
			0);
	CU_ASSERT(same_time(&b.atime, &old) && same_time(&b.mtime, &old));
	CU_ASSERT_EQUAL(SET(.ino = f, .mask = DDIO_FS_SET_ATIME_NOW), 0);
	CU_ASSERT(same_time(&b.atime, &b.ctime) && same_time(&b.mtime, &old));
	CU_ASSERT_EQUAL(SET(.ino = f, .mask = DDIO_FS_SET_SIZE, .size = 77), 0);
	CU_ASSERT(b.size == 77 && same_time(&b.mtime, &b.ctime));
	CU_ASSERT_EQUAL(SET(.ino = f, .mask = DDIO_FS_SET_SIZE, .size = DDIO_MAX_FILE + 1), -EFBIG);
	CU_ASSERT_EQUAL(SET(.ino = d, .mask = DDIO_FS_SET_SIZE, .size = 1), -EISDIR);
	CU_ASSERT_EQUAL(SET(.ino = 12345, .mask = DDIO_FS_SET_MODE), -ESTALE);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	a = nst_attr(&t, f);
	CU_ASSERT(a.size == 77 && a.uid == 1 && a.mode == (S_IFREG | 0755));
	nst_end(&t);
}

static void test_sizes(void)
{
	struct ddio_msg_fs_wrote wrote = { .end = 10 };
	struct ddio_msg_fs_alloc alloc = { .alloc = 4096 };
	struct inode in;
	struct ddio_fs_attr a;
	struct nst t;

	nst_begin(&t);
	wrote.ino = alloc.ino = nst_file(&t, NST_ROOT, "f");
	CU_ASSERT_EQUAL(ns_wrote(t.ns, NULL, &wrote, &in), 0);
	CU_ASSERT_EQUAL(in.size, 10);
	inode_free(&in);
	wrote.end = 5;
	wrote.flags = DDIO_FS_WROTE_DATA;
	CU_ASSERT_EQUAL(ns_wrote(t.ns, NULL, &wrote, &in), 0);
	CU_ASSERT(in.size == 10 && in.flags & INODE_DATA);
	inode_free(&in);
	a = nst_attr(&t, wrote.ino);
	CU_ASSERT_EQUAL(a.alloc, DDIO_FS_ALLOC_UNKNOWN);
	/* nothing new: nothing changes */
	CU_ASSERT_EQUAL(ns_wrote(t.ns, NULL, &wrote, &in), 0);
	CU_ASSERT_EQUAL(in.change, a.change);
	inode_free(&in);
	alloc.change = a.change - 1; /* counted too early */
	CU_ASSERT_EQUAL(ns_alloc(t.ns, &alloc, &in), 0);
	inode_free(&in);
	CU_ASSERT_EQUAL(nst_attr(&t, wrote.ino).alloc, DDIO_FS_ALLOC_UNKNOWN);
	alloc.change = a.change;
	CU_ASSERT_EQUAL(ns_alloc(t.ns, &alloc, &in), 0);
	inode_free(&in);
	CU_ASSERT_EQUAL(nst_attr(&t, wrote.ino).alloc, 4096);
	/* other attributes do not take it back, data do */
	CU_ASSERT_EQUAL(setattr(&t,
				(struct ddio_msg_fs_setattr){
					.ino = wrote.ino, .mask = DDIO_FS_SET_MODE, .mode = 0600 },
				&a),
			0);
	CU_ASSERT_EQUAL(a.alloc, 4096);
	CU_ASSERT_EQUAL(nst_data(&t, wrote.ino, 3), 0);
	CU_ASSERT_EQUAL(nst_attr(&t, wrote.ino).alloc, DDIO_FS_ALLOC_UNKNOWN);
	nst_end(&t);
}

/* Tells of a write up to @end, since the attributes with the change @base; returns the bytes on disks. */
static uint64_t told(struct nst *t, uint64_t ino, uint64_t end, uint64_t base)
{
	const struct ddio_msg_fs_wrote x = { .ino = ino,
					     .end = end,
					     .flags = DDIO_FS_WROTE_DATA | DDIO_FS_WROTE_TIMES,
					     .base = base };
	struct inode in;

	CU_ASSERT_EQUAL_FATAL(ns_wrote(t->ns, NULL, &x, &in), 0);
	inode_free(&in);
	return nst_attr(t, ino).alloc;
}

static uint64_t change_of(struct nst *t, uint64_t ino)
{
	return nst_attr(t, ino).change;
}

/* The bytes on disks of a file that is written without a gap are known without counting. */
static void test_whole(void)
{
	struct ddio_msg_fs_setattr cut = { .mask = DDIO_FS_SET_SIZE };
	uint64_t block, before, f;
	struct ddio_fs_attr a;
	struct inode in;
	struct nst t;

	nst_begin(&t);
	f = nst_file(&t, NST_ROOT, "f");
	block = nst_attr(&t, f).block;
	/* It has, or is about to have, data. */
	before = change_of(&t, f);
	CU_ASSERT_EQUAL(nst_data(&t, f, 0), 0);
	CU_ASSERT_EQUAL(nst_attr(&t, f).alloc, DDIO_FS_ALLOC_UNKNOWN);
	CU_ASSERT_EQUAL(told(&t, f, block + 1, before), DDIO_FS_ALLOC_UNKNOWN);
	nst_end(&t);

	nst_begin(&t);
	f = cut.ino = nst_file(&t, NST_ROOT, "f");
	CU_ASSERT_EQUAL(told(&t, f, block + 1, change_of(&t, f)), 2 * block);
	CU_ASSERT_EQUAL(told(&t, f, 10, change_of(&t, f)), 2 * block);
	/* Somebody else was there in between, or did not say. */
	before = change_of(&t, f);
	CU_ASSERT_EQUAL(told(&t, f, 3 * block, before - 1), DDIO_FS_ALLOC_UNKNOWN);
	CU_ASSERT_EQUAL(told(&t, f, 3 * block, change_of(&t, f)), DDIO_FS_ALLOC_UNKNOWN);
	/* Counted, with a hole: it is not known where it is. */
	CU_ASSERT_EQUAL(ns_alloc(t.ns,
				 &(struct ddio_msg_fs_alloc){
					 .ino = f, .change = change_of(&t, f), .alloc = 2 * block },
				 &in),
			0);
	inode_free(&in);
	CU_ASSERT_EQUAL(nst_attr(&t, f).alloc, 2 * block);
	CU_ASSERT_EQUAL(told(&t, f, 4 * block, change_of(&t, f)), DDIO_FS_ALLOC_UNKNOWN);
	/* Cut. */
	CU_ASSERT_EQUAL(setattr(&t, cut, &a), 0);
	CU_ASSERT(a.size == 0 && a.alloc == DDIO_FS_ALLOC_UNKNOWN);
	nst_end(&t);
}

static int setx(struct nst *t, uint64_t ino, const char *name, const void *value, size_t len,
		uint32_t flags)
{
	struct ddio_msg_fs_xattr x = {
		.ino = ino, .flags = flags, .len = (uint32_t)len, .value = value
	};
	struct inode in;
	int ret;

	snprintf(x.name, sizeof(x.name), "%s", name);
	ret = ns_setxattr(t->ns, NULL, &x, &in);
	inode_free(&in);
	return ret;
}

static int removex(struct nst *t, uint64_t ino, const char *name)
{
	struct ddio_msg_fs_xattr x = { .ino = ino };
	struct inode in;
	int ret;

	snprintf(x.name, sizeof(x.name), "%s", name);
	ret = ns_removexattr(t->ns, NULL, &x, &in);
	inode_free(&in);
	return ret;
}

/* The value as text, or what went wrong. */
static const char *getx(struct nst *t, uint64_t ino, const char *name)
{
	static char text[512];
	uint8_t *value;
	uint32_t len;
	int ret = ns_getxattr(t->ns, ino, name, &value, &len);

	memset(text, 0, sizeof(text));
	if (ret)
		snprintf(text, sizeof(text), "-%d", -ret);
	else
		memcpy(text, value, len < sizeof(text) ? len : sizeof(text) - 1);
	free(value);
	return text;
}

static void test_xattrs(void)
{
	static uint8_t large[DDIO_FS_XATTR_MAX];
	uint8_t *names;
	uint32_t len;
	struct nst t;
	uint64_t f;

	nst_begin(&t);
	f = nst_file(&t, NST_ROOT, "f");
	CU_ASSERT_EQUAL(setx(&t, f, "user.a", "one", 3, DDIO_FS_XATTR_REPLACE), -ENODATA);
	CU_ASSERT_EQUAL(setx(&t, f, "user.a", "one", 3, DDIO_FS_XATTR_CREATE), 0);
	CU_ASSERT_EQUAL(setx(&t, f, "user.a", "two", 3, DDIO_FS_XATTR_CREATE), -EEXIST);
	CU_ASSERT_EQUAL(setx(&t, f, "user.a", "three", 5, DDIO_FS_XATTR_REPLACE), 0);
	CU_ASSERT_STRING_EQUAL(getx(&t, f, "user.a"), "three");
	CU_ASSERT_EQUAL(setx(&t, f, "security.b", "", 0, 0), 0);
	CU_ASSERT_STRING_EQUAL(getx(&t, f, "security.b"), "");
	CU_ASSERT_EQUAL(setx(&t, f, "trusted.c", large, sizeof(large), 0), 0);
	CU_ASSERT_EQUAL(setx(&t, f, "system.other", "x", 1, 0), -EOPNOTSUPP);
	CU_ASSERT_EQUAL(setx(&t, f, "user.", "x", 1, 0), -EINVAL);
	CU_ASSERT_EQUAL(setx(&t, 999, "user.a", "x", 1, 0), -ESTALE);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(ns_listxattr(t.ns, f, &names, &len), 0);
	CU_ASSERT_EQUAL(len, 28);
	CU_ASSERT(len == 28 && !memcmp(names, "security.b\0trusted.c\0user.a", 28));
	free(names);
	CU_ASSERT_EQUAL(removex(&t, f, "user.a"), 0);
	CU_ASSERT_EQUAL(removex(&t, f, "user.a"), -ENODATA);
	CU_ASSERT_STRING_EQUAL(getx(&t, f, "user.a"), "-61");
	CU_ASSERT_EQUAL(nst_unlink(&t, NST_ROOT, "f"), 0);
	nst_clean(&t, 0); /* they went with it */
	nst_end(&t);
}

/* An inode has so many attributes, and names that one listing can show; those that it has can be changed. */
static void test_xattrs_bound(void)
{
	enum { FEW = 4, LONG = DDIO_FS_XATTR_MAX / (DDIO_MAX_NAME + 1) };
	char name[DDIO_MAX_NAME + 1];
	struct bound *b;
	uint8_t *names;
	uint32_t len, i;
	struct nst t;
	uint64_t f;

	nst_begin(&t);
	b = &t.ns->bounds->at[BOUND_XATTRS];
	f = nst_file(&t, NST_ROOT, "f");
	for (i = 0; i < LONG; i++) {
		snprintf(name, sizeof(name), "user.%0*u", DDIO_MAX_NAME - 5, i);
		CU_ASSERT_EQUAL(setx(&t, f, name, "x", 1, 0), 0);
	}
	CU_ASSERT_EQUAL(setx(&t, f, "user.a", "x", 1, 0), -ENOSPC);
	CU_ASSERT_EQUAL(ns_listxattr(t.ns, f, &names, &len), 0);
	CU_ASSERT_EQUAL(len, DDIO_FS_XATTR_MAX);
	free(names);
	b->limit = FEW;
	f = nst_file(&t, NST_ROOT, "g");
	for (i = 0; i < FEW; i++) {
		snprintf(name, sizeof(name), "user.%u", i);
		CU_ASSERT_EQUAL(setx(&t, f, name, "x", 1, 0), 0);
	}
	b->hits = 0;
	CU_ASSERT_EQUAL(setx(&t, f, "user.a", "x", 1, 0), -ENOSPC);
	CU_ASSERT_EQUAL(b->hits, 1);
	CU_ASSERT_EQUAL(setx(&t, f, "user.1", "y", 1, 0), 0);
	CU_ASSERT_EQUAL(removex(&t, f, "user.1"), 0);
	CU_ASSERT_EQUAL(setx(&t, f, "user.a", "x", 1, 0), 0);
	CU_ASSERT_EQUAL(b->most, LONG);
	nst_end(&t);
}

/* A list as the kernel has it. */
static size_t acl(uint8_t *value, const uint32_t (*e)[3], size_t n)
{
	size_t i;

	memcpy(value, "\2\0\0\0", 4);
	for (i = 0; i < n; i++) {
		value[4 + i * 8] = (uint8_t)e[i][0];
		value[5 + i * 8] = 0;
		value[6 + i * 8] = (uint8_t)e[i][1];
		value[7 + i * 8] = 0;
		memcpy(value + 8 + i * 8, &e[i][2], 4);
	}
	return 4 + n * 8;
}

static const uint32_t full[][3] = { { ACL_USER_OBJ, 7, 0 },
				    { ACL_USER, 6, 1000 },
				    { ACL_GROUP_OBJ, 5, 0 },
				    { ACL_MASK, 7, 0 },
				    { ACL_OTHER, 4, 0 } };
static const uint32_t plain[][3] = { { ACL_USER_OBJ, 6, 0 },
				     { ACL_GROUP_OBJ, 4, 0 },
				     { ACL_OTHER, 0, 0 } };

static void test_acl_values(void)
{
	uint8_t value[200];
	size_t len = acl(value, full, 5);
	struct acl *list;
	uint32_t mode = S_IFREG | 04000;

	CU_ASSERT_EQUAL_FATAL(acl_get(value, len, &list), 0);
	CU_ASSERT_FALSE(acl_to_mode(list, &mode));
	CU_ASSERT_EQUAL(mode, S_IFREG | 04774); /* the group's bits are the mask */
	acl_chmod(list, 0640);
	CU_ASSERT(list->e[0].perm == 6 && list->e[2].perm == 5 && list->e[3].perm == 4);
	free(list);
	CU_ASSERT_EQUAL(acl_get(value, len - 1, &list), -EINVAL);
	CU_ASSERT_EQUAL(acl_get(value, 4, &list), 0);
	CU_ASSERT_PTR_NULL(list);
	value[0] = 3;
	CU_ASSERT_EQUAL(acl_get(value, len, &list), -EOPNOTSUPP);
	value[0] = 2;
	value[6] = 8; /* permissions */
	CU_ASSERT_EQUAL(acl_get(value, len, &list), -EINVAL);
	value[6] = 7;
	CU_ASSERT_EQUAL(acl_get(value, len - 8, &list), -EINVAL); /* nothing for others */
	value[4] = ACL_USER;					  /* nothing for the owner */
	CU_ASSERT_EQUAL(acl_get(value, len, &list), -EINVAL);
	len = acl(value, full, 5);
	value[4 + 3 * 8] = ACL_GROUP; /* no mask */
	CU_ASSERT_EQUAL(acl_get(value, len, &list), -EINVAL);
	len = acl(value, plain, 3);
	CU_ASSERT_EQUAL_FATAL(acl_get(value, len, &list), 0);
	CU_ASSERT_TRUE(acl_to_mode(list, &mode));
	CU_ASSERT_EQUAL(mode, S_IFREG | 04640);
	free(list);
}

static void test_acls(void)
{
	struct ddio_fs_attr a;
	uint8_t value[200];
	uint64_t d, f, g;
	struct nst t;

	nst_begin(&t);
	d = nst_mkdir(&t, NST_ROOT, "d");
	f = nst_file(&t, NST_ROOT, "f");
	CU_ASSERT_EQUAL(setx(&t, f, ACL_ACCESS, value, acl(value, full, 5), 0), 0);
	CU_ASSERT_EQUAL(nst_attr(&t, f).mode, S_IFREG | 0774);
	CU_ASSERT_EQUAL(setattr(&t,
				(struct ddio_msg_fs_setattr){
					.ino = f, .mask = DDIO_FS_SET_MODE, .mode = 0700 },
				&a),
			0);
	CU_ASSERT_EQUAL(getx(&t, f, ACL_ACCESS)[4 + 3 * 8 + 2], 0); /* the mask follows */
	/* a list that says no more than the mode is none */
	CU_ASSERT_EQUAL(setx(&t, f, ACL_ACCESS, value, acl(value, plain, 3), 0), 0);
	CU_ASSERT_EQUAL(nst_attr(&t, f).mode, S_IFREG | 0640);
	CU_ASSERT_STRING_EQUAL(getx(&t, f, ACL_ACCESS), "-61");
	CU_ASSERT_EQUAL(setx(&t, f, ACL_DEFAULT, value, acl(value, plain, 3), 0), -EACCES);
	CU_ASSERT_EQUAL(setx(&t, f, ACL_ACCESS, "junk", 4, 0), -EOPNOTSUPP);
	/* what is made in a directory with a default list: no umask, both become less */
	CU_ASSERT_EQUAL(setx(&t, d, ACL_DEFAULT, value, acl(value, full, 5), 0), 0);
	CU_ASSERT_EQUAL(nst_attr(&t, d).mode, S_IFDIR | 0755);
	g = nst_make(&t, d, "g", S_IFREG | 0666);
	CU_ASSERT_EQUAL(nst_attr(&t, g).mode, S_IFREG | 0664);
	CU_ASSERT_EQUAL(getx(&t, g, ACL_ACCESS)[4 + 8 + 2], 6);
	CU_ASSERT_STRING_EQUAL(getx(&t, g, ACL_DEFAULT), "-61");
	g = nst_mkdir(&t, d, "e");
	CU_ASSERT_EQUAL(getx(&t, g, ACL_DEFAULT)[0], 2);
	CU_ASSERT_EQUAL(setx(&t, d, ACL_DEFAULT, "", 0, 0), 0);
	CU_ASSERT_STRING_EQUAL(getx(&t, d, ACL_DEFAULT), "-61");
	nst_clean(&t, 2);
	nst_end(&t);
}

static void test_stripes(void)
{
	static const char *const bad[] = { "",	 "0",	"-1", "1000", "32M", "4096x", "x",
					   "0-", "0,0", "6",  "3-1",  ",",   "0,",    "0-2,1" };
	struct inode in;
	uint64_t d, e, f;
	struct nst t;
	size_t i;

	nst_begin(&t);
	d = nst_mkdir(&t, NST_ROOT, "d");
	CU_ASSERT_STRING_EQUAL(getx(&t, d, "ddio.stripe"), "8192");
	CU_ASSERT_STRING_EQUAL(getx(&t, d, "ddio.disks"), "0-5");
	CU_ASSERT_STRING_EQUAL(getx(&t, d, "ddio.layout"), "contiguous");
	CU_ASSERT_EQUAL(setx(&t, d, "ddio.stripe", "64K", 3, 0), 0);
	CU_ASSERT_EQUAL(setx(&t, d, "ddio.disks", "4,1-2", 5, 0), 0);
	CU_ASSERT_EQUAL(setx(&t, d, "ddio.layout", "random-blocks", 13, 0), 0);
	e = nst_mkdir(&t, d, "e"); /* directories hand it on */
	f = nst_file(&t, e, "f");
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	CU_ASSERT_EQUAL(ns_inode(t.ns, f, &in), 0);
	CU_ASSERT(in.stripe.block == 65536 && in.stripe.ndisks == 3 && in.stripe.seed);
	CU_ASSERT(in.stripe.disks && in.stripe.disks[0] == 4 && in.stripe.disks[2] == 2);
	CU_ASSERT_EQUAL(in.stripe.layout, DDIO_LAYOUT_RANDOM_BLOCKS_W);
	inode_free(&in);
	CU_ASSERT_STRING_EQUAL(getx(&t, f, "ddio.disks"), "4,1-2");
	CU_ASSERT_STRING_EQUAL(getx(&t, f, "ddio.layout"), "random-blocks");
	/* a file's, as long as it has no data */
	CU_ASSERT_EQUAL(setx(&t, f, "ddio.disks", "0", 1, 0), 0);
	CU_ASSERT_STRING_EQUAL(getx(&t, f, "ddio.disks"), "0");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (strcmp(bad[i], "0"))
			CU_ASSERT_EQUAL(setx(&t, f, "ddio.disks", bad[i], strlen(bad[i]), 0),
					-EINVAL);
		CU_ASSERT_EQUAL(setx(&t, f, "ddio.stripe", bad[i], strlen(bad[i]), 0), -EINVAL);
		CU_ASSERT_EQUAL(setx(&t, f, "ddio.layout", bad[i], strlen(bad[i]), 0), -EINVAL);
	}
	CU_ASSERT_EQUAL(nst_data(&t, f, 1), 0);
	CU_ASSERT_EQUAL(setx(&t, f, "ddio.stripe", "4096", 4, 0), -EBUSY);
	CU_ASSERT_EQUAL(removex(&t, f, "ddio.stripe"), -EPERM);
	CU_ASSERT_EQUAL(removex(&t, d, "ddio.disks"), 0);
	CU_ASSERT_STRING_EQUAL(getx(&t, d, "ddio.disks"), "0-5");
	nst_clean(&t, 1);
	nst_end(&t);
}

/* What a mount tells by a lease, and was taken, is known again: its last ones, byte by byte, and not another mount's. */
static void test_tells(void)
{
	static const uint8_t ids[2][DDIO_GROUP_ID_LEN] = { { 1 }, { 2 } };
	static const struct inode none;
	struct ddio_msg_fs_wrote x = { .ino = 20,
				       .flags = DDIO_FS_WROTE_LEASED | DDIO_FS_WROTE_TIMES,
				       .lease = 7,
				       .mtime = { 5, 6 } },
				 y;
	struct ns_mount *m[2];
	struct nst t;
	bool known;
	int i;

	nst_begin(&t);
	for (i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(ns_mount_attach(t.ns, ids[i], &m[i], &known), 0);
	CU_ASSERT(!ns_tell_again(m[0], &none, &x));
	ns_tell_note(NULL, &x);
	for (i = 0; i < NS_TELLS + 2; i++) {
		x.end = 100 + (uint64_t)i;
		ns_tell_note(m[0], &x);
	}
	for (i = 0; i < NS_TELLS + 2; i++) {
		x.end = 100 + (uint64_t)i;
		CU_ASSERT_EQUAL(ns_tell_again(m[0], &none, &x), i >= 2);
		CU_ASSERT(!ns_tell_again(m[1], &none, &x));
	}
	y = x;
	y.mtime.tv_nsec++;
	CU_ASSERT(!ns_tell_again(m[0], &none, &y));
	y = x;
	y.lease++;
	CU_ASSERT(!ns_tell_again(m[0], &none, &y));
	/* Without a lease it is not asked for. */
	x.flags = DDIO_FS_WROTE_TIMES;
	ns_tell_note(m[1], &x);
	CU_ASSERT(!ns_tell_again(m[1], &none, &x));
	for (i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(nst_mount_end(&t, m[i]), 0);
	nst_end(&t);
}

/* Of each inode what the last few writers have told last is known over a restart, too. */
static void test_tells_restarted(void)
{
	enum { MOUNTS = INODE_PAST + 2 };
	struct ddio_msg_fs_wrote x[MOUNTS], first, last;
	uint8_t id[DDIO_GROUP_ID_LEN] = { 0 };
	struct ns_mount *m[MOUNTS];
	struct inode inode;
	struct nst t;
	bool known;
	int i;

	nst_begin(&t);
	first.ino = nst_make(&t, NST_ROOT, "f", S_IFREG | 0644);
	for (i = 0; i < MOUNTS; i++) {
		id[0] = (uint8_t)(i + 1);
		CU_ASSERT_EQUAL_FATAL(ns_mount_attach(t.ns, id, &m[i], &known), 0);
		x[i] = (struct ddio_msg_fs_wrote){ .ino = first.ino,
						   .flags = DDIO_FS_WROTE_LEASED |
							    DDIO_FS_WROTE_TIMES,
						   .end = 100 + (uint64_t)i,
						   .mtime = { i, 5 } };
	}
	first = x[MOUNTS - 1];
	first.end = 1;
	for (i = -1; i < MOUNTS; i++) {
		last = i < 0 ? first : x[i];
		CU_ASSERT_EQUAL(ns_wrote(t.ns, m[i < 0 ? MOUNTS - 1 : i], &last, &inode), 0);
		inode_free(&inode);
	}
	for (i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL_FATAL(ns_inode(t.ns, first.ino, &inode), 0);
		id[0] = 1;
		for (int k = 0; k < MOUNTS; k++, id[0]++) {
			CU_ASSERT_EQUAL_FATAL(ns_mount_attach(t.ns, id, &m[k], &known), 0);
			CU_ASSERT_EQUAL(ns_tell_again(m[k], &inode, &x[k]), k > 0);
			CU_ASSERT(!ns_tell_again(m[k], &inode, &x[(k + 1) % MOUNTS]));
		}
		CU_ASSERT(!ns_tell_again(m[MOUNTS - 1], &inode, &first));
		inode_free(&inode);
		CU_ASSERT_EQUAL_FATAL(nst_reopen(&t), 0);
	}
	nst_end(&t);
}

static int make_as(struct nst *t, uint64_t parent, const char *name, uint32_t mode, uint32_t uid)
{
	struct ddio_msg_fs_make x = {
		.parent = parent, .mode = mode, .uid = uid, .flags = DDIO_FS_MAKE_EXCL
	};
	struct inode in;
	bool made;
	int ret;

	snprintf(x.name, sizeof(x.name), "%s", name);
	ret = ns_make(t->ns, NULL, &x, NULL, &in, &made, NULL);
	inode_free(&in);
	return ret;
}

/* The directory of all snapshots can be root's only, and that of a file's belongs to the file's owner. */
static void test_snaps(void)
{
	const uint32_t owner = DDIO_FS_SET_UID | DDIO_FS_SET_GID;
	struct ddio_fs_attr a, b;
	uint64_t f, top, dir;
	char number[24];
	struct nst t;

	nst_begin(&t);
	CU_ASSERT_EQUAL(make_as(&t, NST_ROOT, ".snaps", S_IFDIR | 0755, 5), -EPERM);
	CU_ASSERT_EQUAL(make_as(&t, NST_ROOT, ".snaps", S_IFREG | 0644, 5), -EPERM);
	CU_ASSERT_EQUAL(nst_find(&t, NST_ROOT, ".snaps"), 0);
	CU_ASSERT_EQUAL(make_as(&t, NST_ROOT, "mine", S_IFDIR | 0755, 5), 0);
	CU_ASSERT_EQUAL(make_as(&t, NST_ROOT, "file", S_IFREG | 0755, 5), 0);
	CU_ASSERT_EQUAL(nst_rename(&t, NST_ROOT, "mine", NST_ROOT, ".snaps", 0), -EPERM);
	CU_ASSERT_EQUAL(nst_link(&t, nst_find(&t, NST_ROOT, "file"), NST_ROOT, ".snaps"), -EPERM);
	CU_ASSERT_EQUAL(make_as(&t, nst_find(&t, NST_ROOT, "mine"), ".snaps", S_IFDIR | 0755, 5),
			0);
	f = nst_file(&t, NST_ROOT, "f");
	snprintf(number, sizeof(number), "%llu", (unsigned long long)f);
	CU_ASSERT_EQUAL(SET(.ino = f, .mask = owner, .uid = 3, .gid = 4), 0);
	top = nst_mkdir(&t, NST_ROOT, ".snaps");
	CU_ASSERT(top);
	CU_ASSERT_EQUAL(SET(.ino = f, .mask = owner, .uid = 5, .gid = 6), 0);
	dir = nst_mkdir(&t, top, number);
	CU_ASSERT_EQUAL(SET(.ino = f, .mask = owner, .uid = 7, .gid = 8), 0);
	a = nst_attr(&t, dir);
	CU_ASSERT(a.uid == 7 && a.gid == 8);
	CU_ASSERT_EQUAL(SET(.ino = f, .mask = DDIO_FS_SET_GID, .gid = 9), 0);
	CU_ASSERT_EQUAL(nst_reopen(&t), 0);
	a = nst_attr(&t, dir);
	CU_ASSERT(a.uid == 7 && a.gid == 9);
	a = nst_attr(&t, top);
	CU_ASSERT(!a.uid);
	nst_end(&t);
}

static const struct ut_case cases[] = {
	{ "directories of snapshots", test_snaps },
	{ "told again", test_tells },
	{ "told again after a restart", test_tells_restarted },
	{ "attributes", test_setattr },
	{ "sizes and space", test_sizes },
	{ "files without holes", test_whole },
	{ "extended attributes", test_xattrs },
	{ "a bound on extended attributes", test_xattrs_bound },
	{ "lists as values", test_acl_values },
	{ "lists and modes", test_acls },
	{ "stripes", test_stripes },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "attributes", cases } };

	return ut_run("ns_attr", suites, 1);
}
