// SPDX-License-Identifier: GPL-2.0-only
/*
 * Users that the node tells apart.  Mallory has the key of the cluster, and asks for everything that Alice has: each
 * message that a node handles has a row, or is among those that say nothing and change nothing of another user's.
 */
#include "tests/unit/iop/server/users_world.h"

/*
 * Every message
 */
struct user_row {
	uint16_t opcode;
	ssize_t (*put)(uint8_t *buf, size_t cap, const struct users *u);
	bool disk;  /* to the reactor of disk 0 */
	bool shown; /* anybody may ask this who may look into the directory */
};

#define OBJ .file = { .id = u->at, .seed = 1, .block = 4096 }, .len = 512
#define OBJ_ROW(op) ROW(op, obj, ddio_msg_obj, OBJ)

ROW(NS_CREATE, ns_create, ddio_msg_ns_create, .path = "pub/mine", .uid = ALICE,
    .rec = { .ref = { .block = 4096 }, .ndisks = 1, .disks = (uint32_t[]){ 0 } })
ROW(NS_LOOKUP, ns_name, ddio_msg_ns_name, .path = "home/secret")
ROW(NS_REMOVE, ns_name, ddio_msg_ns_name, .path = "sticky/hers")
ROW(NS_REMOVE_DONE, ns_size, ddio_msg_ns_size, .id = u->at)
ROW(NS_EXTEND, ns_size, ddio_msg_ns_size, .id = u->at, .size = 4096)
ROW(NS_SET_SIZE, ns_size, ddio_msg_ns_size, .id = u->at, .size = 1)
ROW(NS_LIST, ns_list, ddio_msg_ns_list, .max = 9, .dir = "home")
ROW(NS_EPOCH, ns_epoch, ddio_msg_ns_epoch, .id = u->at)
ROW(NS_COMMIT, ns_epoch, ddio_msg_ns_epoch, .id = u->at, .epoch = 1)
ROW(NS_DECIDED, ns_epoch, ddio_msg_ns_epoch, .id = u->at, .epoch = 1)
ROW(NS_COMMIT_FILES, ns_epochs, ddio_msg_ns_epochs, .n = 1,
    .epochs = &(struct ddio_msg_ns_epoch){ .id = u->at, .epoch = 1 })
ROW(NS_CLONE, ns_size, ddio_msg_ns_size, .id = u->at)
ROW(NS_CLONED, ns_clone, ddio_msg_ns_clone, .id = u->at, .path = "pub/clone")
ROW(NS_ADOPT, record, ddio_file_record, .ref = { .id = u->at, .block = 4096 }, .ndisks = 1,
    .disks = (uint32_t[]){ 0 })
ROW(FS_LOOKUP, fs_name, ddio_msg_fs_name, .parent = u->dir, .name = "own")
ROW(FS_GETATTR, fs_ino, ddio_msg_fs_ino, .ino = u->at)
ROW(FS_SETATTR, fs_setattr, ddio_msg_fs_setattr, .ino = u->at, .mask = DDIO_FS_SET_MODE,
    .mode = 0777)
ROW(FS_MAKE, fs_make, ddio_msg_fs_make, .parent = u->dir, .mode = S_IFREG | 0666, .name = "new")
ROW(FS_LINK, fs_link, ddio_msg_fs_link, .ino = u->at, .parent = u->sticky, .name = "link")
ROW(FS_UNLINK, fs_name, ddio_msg_fs_name, .parent = u->dir, .name = "own")
ROW(FS_RENAME, fs_rename, ddio_msg_fs_rename, .parent = u->dir, .new_parent = u->sticky,
    .name = "own", .new_name = "taken")
ROW(FS_READLINK, fs_ino, ddio_msg_fs_ino, .ino = u->at)
ROW(FS_READDIR, fs_readdir, ddio_msg_fs_readdir, .ino = u->dir, .max = 9)
ROW(FS_GETXATTR, fs_xattr, ddio_msg_fs_xattr, .ino = u->at, .name = "user.a")
ROW(FS_SETXATTR, fs_xattr, ddio_msg_fs_xattr, .ino = u->at, .name = "user.a", .len = 1,
    .value = "x")
ROW(FS_LISTXATTR, fs_ino, ddio_msg_fs_ino, .ino = u->at)
ROW(FS_REMOVEXATTR, fs_xattr, ddio_msg_fs_xattr, .ino = u->at, .name = "user.a")
ROW(FS_OPEN, fs_open, ddio_msg_fs_open, .ino = u->at, .flags = DDIO_FS_OPEN_LOOK)
ROW(FS_RELEASE, fs_ino, ddio_msg_fs_ino, .ino = u->at)
ROW(FS_WROTE, fs_wrote, ddio_msg_fs_wrote, .ino = u->at, .end = 100)
ROW(FS_APPEND, fs_append, ddio_msg_fs_append, .ino = u->at, .len = 10)
ROW(FS_ALLOC, fs_alloc, ddio_msg_fs_alloc, .ino = u->at, .change = 1, .alloc = 4096)
ROW(FS_LOCK_TEST, fs_lock, ddio_msg_fs_lock, .ino = u->at, .end = 9, .type = 1)
ROW(FS_LOCK_SET, fs_lock, ddio_msg_fs_lock, .ino = u->at, .end = 9, .type = 2)
ROW(FS_UNLOCK_OWNER, fs_owner, ddio_msg_fs_owner, .ino = u->at, .owner = 1)
ROW(FS_ORPHANS, fs_readdir, ddio_msg_fs_readdir, .ino = 1, .max = 9)
ROW(FS_GONE, fs_ino, ddio_msg_fs_ino, .ino = u->at)
ROW(FS_LEASE, fs_lease, ddio_msg_fs_lease, .ino = u->at)
ROW(FS_DISKS, disk_ids, ddio_msg_disk_ids, .flags = DDIO_DISKS_NAMES)
OBJ_ROW(OBJ_READ)
OBJ_ROW(OBJ_WRITE)
OBJ_ROW(OBJ_SYNC)
OBJ_ROW(OBJ_REMOVE)
OBJ_ROW(OBJ_TRUNCATE)
OBJ_ROW(OBJ_EXTENTS)
OBJ_ROW(OBJ_RESERVE)
OBJ_ROW(OBJ_STAT)
OBJ_ROW(OBJ_PUNCH)
OBJ_ROW(OBJ_ALLOCATE)
OBJ_ROW(DROP_CACHE)
ROW(OBJ_SETTLE, obj, ddio_msg_obj, .file = { .id = u->at, .seed = 1, .block = 4096 }, .offset = 1)
ROW(OBJ_HOLD, obj, ddio_msg_obj, .file = { .id = u->at, .seed = 1, .block = 4096 }, .offset = 1,
    .len = 1)
ROW(OBJ_CLONE, obj_clone, ddio_msg_obj_clone, .to = { .id = u->at, .seed = 1, .block = 4096 },
    .from = { .id = u->all, .seed = 1, .block = 4096 }, .hold = 1)
ROW(OBJ_MEND, obj_mend, ddio_msg_obj_mend, .file = { .id = u->at, .seed = 1, .block = 4096 })
ROW(OBJ_LIST, obj, ddio_msg_obj, .len = 9)
ROW(OBJ_WHOSE, obj, ddio_msg_obj, .file = { .id = u->at, .block = 4096 })
ROW(FSCK, obj, ddio_msg_obj, .disk = DDIO_FSCK_NAMES)
ROW(OBJ_COPY, obj_copy, ddio_msg_obj_copy, .from = { .id = u->at, .seed = 1, .block = 4096 },
    .to = { .id = u->all, .seed = 1, .block = 4096 }, .len = 512)
ROW(SCRUB, scrub_ask, ddio_msg_scrub_ask, .disk = 0)
ROW(SHOW, show, ddio_msg_show, .disk = 0, .name = "x")
ROW(TRACE, trace_ask, ddio_msg_trace_ask, .action = DDIO_TRACE_BEGIN, .most = 4)

/* The number of the file comes first. */
static ssize_t row_OBJ_QUERY(uint8_t *buf, size_t cap, const struct users *u)
{
	const struct ddio_msg_obj x = { OBJ };

	return ddio_put_obj(buf, cap, &x);
}

#define NAMES(op)                                       \
	{                                               \
		.opcode = DDIO_OP_##op, .put = row_##op \
	}
#define SHOWN(op)                                                      \
	{                                                              \
		.opcode = DDIO_OP_##op, .put = row_##op, .shown = true \
	}
#define DISK(op)                                                      \
	{                                                             \
		.opcode = DDIO_OP_##op, .put = row_##op, .disk = true \
	}
static const struct user_row rows[] = {
	NAMES(NS_CREATE),    NAMES(NS_LOOKUP),
	NAMES(NS_REMOVE),    NAMES(NS_REMOVE_DONE),
	NAMES(NS_EXTEND),    NAMES(NS_SET_SIZE),
	NAMES(NS_LIST),	     NAMES(NS_EPOCH),
	NAMES(NS_COMMIT),    NAMES(NS_COMMIT_FILES),
	NAMES(NS_DECIDED),   NAMES(NS_CLONE),
	NAMES(NS_CLONED),    SHOWN(FS_LOOKUP),
	SHOWN(FS_GETATTR),   NAMES(FS_SETATTR),
	NAMES(FS_MAKE),	     NAMES(FS_LINK),
	NAMES(FS_UNLINK),    NAMES(FS_RENAME),
	SHOWN(FS_READLINK),  SHOWN(FS_READDIR),
	NAMES(FS_GETXATTR),  NAMES(FS_SETXATTR),
	SHOWN(FS_LISTXATTR), NAMES(FS_REMOVEXATTR),
	NAMES(FS_OPEN),	     NAMES(FS_RELEASE),
	NAMES(FS_WROTE),     NAMES(FS_APPEND),
	NAMES(FS_ALLOC),     NAMES(FS_LOCK_TEST),
	NAMES(FS_LOCK_SET),  NAMES(FS_UNLOCK_OWNER),
	NAMES(FS_ORPHANS),   NAMES(FS_GONE),
	NAMES(FS_LEASE),     NAMES(FS_DISKS),
	NAMES(TRACE),	     DISK(OBJ_READ),
	DISK(OBJ_WRITE),     DISK(OBJ_SYNC),
	DISK(OBJ_REMOVE),    DISK(OBJ_TRUNCATE),
	DISK(OBJ_EXTENTS),   DISK(OBJ_RESERVE),
	DISK(OBJ_STAT),	     DISK(OBJ_PUNCH),
	DISK(OBJ_ALLOCATE),  DISK(DROP_CACHE),
	DISK(OBJ_SETTLE),    DISK(OBJ_HOLD),
	DISK(OBJ_CLONE),     DISK(OBJ_LIST),
	DISK(FSCK),	     DISK(OBJ_COPY),
	DISK(SCRUB),	     DISK(SHOW),
	NAMES(NS_ADOPT),     DISK(OBJ_WHOSE),
	DISK(OBJ_MEND),	     DISK(OBJ_QUERY),
};

static bool has_row(uint16_t opcode)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].opcode == opcode)
			return true;
	for (i = 0; i < sizeof(for_anybody) / sizeof(for_anybody[0]); i++)
		if (for_anybody[i] == opcode)
			return true;
	return false;
}

static uint32_t send_row(const struct user_row *row, struct sc *names, struct sc *disk,
			 const struct users *u)
{
	static const uint8_t data[512] = { 1 };
	bool bulk = row->opcode == DDIO_OP_OBJ_WRITE;
	uint8_t buf[4096];
	ssize_t len = row->put(buf, sizeof(buf), u);

	CU_ASSERT_FATAL(len >= 0);
	return sc_call(row->disk ? disk : names, row->opcode, buf, (size_t)len, bulk ? data : NULL,
		       bulk ? sizeof(data) : 0);
}

static bool refused(uint32_t status)
{
	return status == DDIO_ST_PERMISSION || status == DDIO_ST_NOT_PERMITTED ||
	       status == DDIO_ST_STALE;
}

static void every_opcode(const struct users *u)
{
	uint16_t opcode;

	for (opcode = 0; opcode < SERVER_OPCODES; opcode++)
		if (server_op_find(server_of(u->sw->iop), opcode) && !has_row(opcode)) {
			CU_FAIL("an opcode without a row");
			fprintf(stderr, "%s\n", ddio_opcode_name(opcode));
		}
}

/* @shown: the file is one that Mallory may look up, but not open. */
static void every_row(struct users *u, bool shown)
{
	struct sc *nobody = sc_new(u->sw, 0), *nobody_disk = sc_new(u->sw, sw_reactor(u->sw, 0));
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool open = shown && rows[i].shown;
		uint32_t status = send_row(&rows[i], u->mallory, u->mallory_disk, u);

		if (refused(status) == open) {
			CU_FAIL("another user's");
			fprintf(stderr, "%s: %u\n", ddio_opcode_name(rows[i].opcode), status);
		}
		CU_ASSERT_EQUAL(send_row(&rows[i], nobody, nobody_disk, u), DDIO_ST_PERMISSION);
	}
	sc_free(nobody);
	sc_free(nobody_disk);
}

static void every_message(void)
{
	struct users *u = users_new();
	struct sc *root_disk = as(u->sw, sw_reactor(u->sw, 0), ROOT, 0);
	size_t i;

	every_opcode(u);
	/* A grant for a file that is open to all is of no use for others. */
	CU_ASSERT_EQUAL(look_up(u->mallory, "pub/all"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->mallory->grant.rights, DDIO_GRANT_READ);
	show(u->mallory_disk, &u->mallory->grant);
	u->at = u->hidden;
	u->dir = u->home;
	every_row(u, false);
	/* Its number alone says nothing, and nothing more than its name once that has been looked up. */
	u->at = u->own;
	u->dir = u->pub;
	CU_ASSERT_EQUAL(send_row(&rows[0], u->mallory, u->mallory_disk, u), DDIO_ST_PERMISSION);
	every_row(u, true);
	/* The same are good for something: root is not refused. */
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CU_ASSERT_NOT_EQUAL(send_row(&rows[i], u->root, root_disk, u), DDIO_ST_PERMISSION);
	sc_free(root_disk);
	users_free(u);
}

/*
 * Names
 */
static void paths(void)
{
	struct users *u = users_new();

	CU_ASSERT_EQUAL(look_up(u->mallory, "home/secret"), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(look_up(u->mallory, "home/none"), DDIO_ST_PERMISSION);
	/* To know that a file is there is no permission to read it. */
	CU_ASSERT_EQUAL(look_up(u->mallory, "pub/own"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->mallory->grant.rights, 0);
	CU_ASSERT_EQUAL(look_up(u->mallory, "pub/team"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->mallory->grant.rights, 0);
	CU_ASSERT_EQUAL(look_up(u->alice, "home/secret"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->alice->grant.rights, DDIO_GRANT_READ | DDIO_GRANT_WRITE);
	CU_ASSERT_EQUAL(u->alice->grant.uid, ALICE);
	CU_ASSERT_EQUAL(u->alice->grant.file, u->secret);
	CU_ASSERT_EQUAL(look_up(u->root, "home/secret"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->root->grants, 0);
	users_free(u);
}

/* A file that a mount has shown is found by its directory's number and its name there, if the user may come there. */
static uint32_t by_way(struct sc *c, uint64_t dir, const char *name)
{
	struct ddio_msg_ns_name x = { .id = dir };

	snprintf(x.path, sizeof(x.path), "%s", name);
	memset(&c->grant, 0, sizeof(c->grant));
	return SC_CALL(c, NS_LOOKUP, ns_name, &x);
}

static void ways(void)
{
	struct users *u = users_new();
	uint64_t deep = make(u, u->home, "deep", S_IFDIR | 0777, ALICE);
	char longest[DDIO_MAX_NAME + 2];

	CU_ASSERT_NOT_EQUAL(make(u, deep, "in", S_IFREG | 0644, ALICE), 0);
	CU_ASSERT_EQUAL(by_way(u->mallory, u->pub, "all"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->mallory->grant.file, u->all);
	CU_ASSERT_EQUAL(u->mallory->grant.rights, DDIO_GRANT_READ);
	CU_ASSERT_EQUAL(by_way(u->mallory, u->pub, "own"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->mallory->grant.rights, 0);
	CU_ASSERT_EQUAL(by_way(u->mallory, u->home, "secret"), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(by_way(u->mallory, deep, "in"), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(by_way(u->alice, deep, "in"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->alice->grant.rights, DDIO_GRANT_READ | DDIO_GRANT_WRITE);
	CU_ASSERT_EQUAL(by_way(u->root, deep, "in"), DDIO_ST_OK);
	/* It is one name, of a file, in a directory. */
	CU_ASSERT_EQUAL(by_way(u->alice, u->home, "deep/in"), DDIO_ST_NOT_FOUND);
	CU_ASSERT_EQUAL(by_way(u->alice, deep, ".."), DDIO_ST_IS_DIR);
	CU_ASSERT_EQUAL(by_way(u->alice, u->own, "in"), DDIO_ST_NOT_FOUND);
	memset(longest, 'n', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	CU_ASSERT_NOT_EQUAL(by_way(u->alice, deep, longest), DDIO_ST_OK);
	users_free(u);
}

static void groups_and_lists(void)
{
	struct users *u = users_new();
	struct sc *staff = as(u->sw, 0, 3000, STAFF);
	/* user 3000 may not even though others may, group 60 may write */
	static const uint8_t list[] = { 2,    0, 0,   0,    1,	 0,    6,   0,	 255, 255, 255,
					255,  2, 0,   0,    0,	 0xb8, 0xb, 0,	 0,   4,   0,
					4,    0, 255, 255,  255, 255,  8,   0,	 6,   0,   60,
					0,    0, 0,   0x10, 0,	 6,    0,   255, 255, 255, 255,
					0x20, 0, 4,   0,    255, 255,  255, 255 };
	struct ddio_msg_fs_xattr x = {
		.ino = u->all, .name = "system.posix_acl_access", .len = sizeof(list), .value = list
	};

	CU_ASSERT_EQUAL(look_up(staff, "pub/team"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(staff->grant.rights, DDIO_GRANT_READ);
	CU_ASSERT_EQUAL(look_up(staff, "pub/all"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(staff->grant.rights, DDIO_GRANT_READ);
	CU_ASSERT_EQUAL(SC_CALL(u->root, FS_SETXATTR, fs_xattr, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL(look_up(staff, "pub/all"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(staff->grant.rights, 0);
	CU_ASSERT_EQUAL(look_up(u->mallory, "pub/all"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->mallory->grant.rights, DDIO_GRANT_READ | DDIO_GRANT_WRITE);
	sc_free(staff);
	users_free(u);
}

static uint32_t create(struct sc *c, const char *path, uint32_t mode, uint32_t uid)
{
	struct ddio_msg_ns_create x = {
		.uid = uid,
		.gid = STAFF,
		.mode = mode,
		.flags = DDIO_NS_EXCL,
		.rec = { .ref = { .block = 4096 }, .ndisks = 1, .disks = (uint32_t[]){ 0 } }
	};

	snprintf(x.path, sizeof(x.path), "%s", path);
	memset(&c->grant, 0, sizeof(c->grant));
	return SC_CALL(c, NS_CREATE, ns_create, &x);
}

/* Whoever makes a file owns it, whatever it says, and may use it at once. */
static void creation(void)
{
	struct users *u = users_new();
	struct ddio_msg_fs_ino x;
	struct ddio_msg_fs_attr out;

	CU_ASSERT_EQUAL(create(u->mallory, "pub/new", 0666, MALLORY), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(create(u->mallory, "home/new", 0666, MALLORY), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(create(u->mallory, "sticky/new", 0400, ALICE), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->mallory->grant.rights, DDIO_GRANT_READ | DDIO_GRANT_WRITE);
	x.ino = u->mallory->grant.file;
	CU_ASSERT_EQUAL(SC_CALL(u->root, FS_GETATTR, fs_ino, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_get_fs_attr(u->root->data, u->root->len, &out), 0);
	CU_ASSERT_EQUAL(out.attr.uid, MALLORY);
	CU_ASSERT_EQUAL(out.attr.gid, MALLORY);
	CU_ASSERT_EQUAL(look_up(u->mallory, "sticky/new"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->mallory->grant.rights, DDIO_GRANT_READ);
	/* She is in the group; others' files in a sticky directory stay. */
	CU_ASSERT_EQUAL(create(u->alice, "pub/staff", 0600, ALICE), DDIO_ST_OK);
	x.ino = u->alice->grant.file;
	CU_ASSERT_EQUAL(SC_CALL(u->root, FS_GETATTR, fs_ino, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_get_fs_attr(u->root->data, u->root->len, &out), 0);
	CU_ASSERT_EQUAL(out.attr.gid, STAFF);
	users_free(u);
}

static void removal(void)
{
	struct users *u = users_new();
	struct ddio_msg_ns_name x = { .path = "sticky/hers" };
	struct ddio_msg_ns_size done = { .id = u->hers };
	struct ddio_msg_obj obj = sc_obj(u->hers, 0, 0, 0);

	CU_ASSERT_EQUAL(SC_CALL(u->mallory, NS_REMOVE, ns_name, &x), DDIO_ST_NOT_PERMITTED);
	x = (struct ddio_msg_ns_name){ .id = u->own };
	CU_ASSERT_EQUAL(SC_CALL(u->mallory, NS_REMOVE, ns_name, &x), DDIO_ST_PERMISSION);
	x = (struct ddio_msg_ns_name){ .path = "sticky/hers" };
	CU_ASSERT_EQUAL(look_up(u->alice, "sticky/hers"), DDIO_ST_OK);
	show(u->alice_disk, &u->alice->grant);
	CU_ASSERT_EQUAL(sc_object(u->alice_disk, DDIO_OP_OBJ_REMOVE, &obj), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(SC_CALL(u->alice, NS_REMOVE, ns_name, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->alice->grant.rights, DDIO_GRANT_REMOVE);
	show(u->alice_disk, &u->alice->grant);
	CU_ASSERT_NOT_EQUAL(sc_object(u->alice_disk, DDIO_OP_OBJ_REMOVE, &obj), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(SC_CALL(u->mallory, NS_REMOVE_DONE, ns_size, &done), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(SC_CALL(u->alice, NS_REMOVE_DONE, ns_size, &done), DDIO_ST_OK);
	users_free(u);
}

/*
 * Grants
 */
static uint32_t write_own(struct users *u, struct sc *c)
{
	static const uint8_t data[512] = { 1 };

	return sc_write(c, u->own, 0, 0, data, sizeof(data));
}

static void grants(void)
{
	struct users *u = users_new();
	struct ddio_msg_grant right, wrong;

	CU_ASSERT_EQUAL(write_own(u, u->alice_disk), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(look_up(u->alice, "pub/own"), DDIO_ST_OK);
	right = u->alice->grant;
	show(u->alice_disk, &right);
	CU_ASSERT_EQUAL(write_own(u, u->alice_disk), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_read(u->alice_disk, u->own, 0, 0, 512), DDIO_ST_OK);
	/* Another's is of no use, whoever says whose it is; nor is one that was changed. */
	show(u->mallory_disk, &right);
	CU_ASSERT_EQUAL(write_own(u, u->mallory_disk), DDIO_ST_PERMISSION);
	wrong = right;
	wrong.uid = MALLORY;
	show(u->mallory_disk, &wrong);
	CU_ASSERT_EQUAL(write_own(u, u->mallory_disk), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(look_up(u->mallory, "pub/all"), DDIO_ST_OK);
	wrong = u->mallory->grant;
	wrong.rights |= DDIO_GRANT_WRITE;
	wrong.file = u->own;
	show(u->mallory_disk, &wrong);
	CU_ASSERT_EQUAL(write_own(u, u->mallory_disk), DDIO_ST_PERMISSION);
	/* To read is not to write. */
	show(u->mallory_disk, &u->mallory->grant);
	CU_ASSERT_EQUAL(sc_read(u->mallory_disk, u->all, 0, 0, 512), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_write(u->mallory_disk, u->all, 0, 0, &right, sizeof(right)),
			DDIO_ST_PERMISSION);
	users_free(u);
}

static uint32_t mode_of(struct users *u, uint64_t ino)
{
	struct ddio_msg_fs_ino x = { .ino = ino };
	struct ddio_msg_fs_attr out = { .attr.mode = 0 };

	CU_ASSERT_EQUAL(SC_CALL(u->root, FS_GETATTR, fs_ino, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_get_fs_attr(u->root->data, u->root->len, &out), 0);
	return out.attr.mode & 07777;
}

/* A program of Alice's, which runs as she, and which @mode says others may write. */
static uint64_t arm(struct users *u, uint32_t mode)
{
	const struct ddio_msg_fs_setattr set = { .ino = u->all,
						 .mask = DDIO_FS_SET_MODE,
						 .mode = mode };
	struct ddio_msg_fs_xattr x = {
		.ino = u->all, .len = 1, .value = "x", .name = "security.capability"
	};

	CU_ASSERT_EQUAL(SC_CALL(u->root, FS_SETATTR, fs_setattr, &set), DDIO_ST_OK);
	CU_ASSERT_EQUAL(SC_CALL(u->root, FS_SETXATTR, fs_xattr, &x), DDIO_ST_OK);
	return u->all;
}

static bool can_do_more(struct users *u, uint64_t ino)
{
	struct ddio_msg_fs_xattr x = { .ino = ino, .name = "security.capability" };

	return SC_CALL(u->root, FS_GETXATTR, fs_xattr, &x) == DDIO_ST_OK;
}

/* Whoever may write a program and does not own it gets no right to do so as long as it runs as somebody else. */
static void disarmed(void)
{
	struct users *u = users_new();
	uint64_t ino = arm(u, 06777);

	CU_ASSERT_EQUAL(look_up(u->alice, "pub/all"), DDIO_ST_OK);
	CU_ASSERT(u->alice->grant.rights & DDIO_GRANT_WRITE);
	CU_ASSERT_EQUAL(mode_of(u, ino), 06777);
	CU_ASSERT(can_do_more(u, ino));
	CU_ASSERT_EQUAL(look_up(u->mallory, "pub/all"), DDIO_ST_OK);
	CU_ASSERT(u->mallory->grant.rights & DDIO_GRANT_WRITE);
	CU_ASSERT_EQUAL(mode_of(u, ino), 0777);
	CU_ASSERT(!can_do_more(u, ino));
	/* Who may only read it disarms nothing. */
	arm(u, 06755);
	CU_ASSERT_EQUAL(look_up(u->mallory, "pub/all"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->mallory->grant.rights, DDIO_GRANT_READ);
	CU_ASSERT_EQUAL(mode_of(u, ino), 06755);
	CU_ASSERT(can_do_more(u, ino));
	users_free(u);
}

static void expiry(void)
{
	struct users *u = users_new();
	struct ddio_msg_grant old;

	CU_ASSERT_EQUAL(look_up(u->alice, "pub/own"), DDIO_ST_OK);
	old = u->alice->grant;
	show(u->alice_disk, &old);
	sw_run(u->sw, 59000 * MS);
	CU_ASSERT_EQUAL(write_own(u, u->alice_disk), DDIO_ST_OK);
	sw_run(u->sw, 1100 * MS);
	CU_ASSERT_EQUAL(write_own(u, u->alice_disk), DDIO_ST_PERMISSION);
	show(u->alice_disk, &old);
	CU_ASSERT_EQUAL(write_own(u, u->alice_disk), DDIO_ST_PERMISSION);
	/* It is renewed for as long as the mode says so, not for others, and not long after. */
	CU_ASSERT_EQUAL(SC_CALL(u->mallory, RENEW, grant, &old), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(SC_CALL(u->alice, RENEW, grant, &old), DDIO_ST_OK);
	show(u->alice_disk, &u->alice->grant);
	CU_ASSERT_EQUAL(write_own(u, u->alice_disk), DDIO_ST_OK);
	sw_run(u->sw, 60000 * MS);
	CU_ASSERT_EQUAL(SC_CALL(u->alice, RENEW, grant, &old), DDIO_ST_PERMISSION);
	users_free(u);
}

/* A mode that has changed is heard of with the renewal. */
static void revoked(void)
{
	struct users *u = users_new();
	struct ddio_msg_fs_setattr x = { .ino = u->own, .mask = DDIO_FS_SET_MODE, .mode = 0400 };
	uint32_t before;

	CU_ASSERT_EQUAL(look_up(u->alice, "pub/own"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(SC_CALL(u->root, FS_SETATTR, fs_setattr, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL(SC_CALL(u->alice, RENEW, grant, &u->alice->grant), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->alice->grant.rights, DDIO_GRANT_READ);
	x.mode = 0;
	before = u->alice->grants;
	CU_ASSERT_EQUAL(SC_CALL(u->root, FS_SETATTR, fs_setattr, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL(SC_CALL(u->alice, RENEW, grant, &u->alice->grant), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->alice->grants, before);
	users_free(u);
}

/*
 * Who somebody is
 */
static void replays(void)
{
	struct users *u = users_new();
	struct sc *first = sc_new(u->sw, 0), *second = sc_new(u->sw, 0);
	struct ddio_msg_ns_name x = { .path = "pub/all" };
	char cred[100];

	/* Alice's credential of her own connection, on Mallory's. */
	cred_for(first, ALICE, STAFF, cred);
	say_text(second, DDIO_USER_MUNGE, cred, (uint32_t)strlen(cred));
	CU_ASSERT_EQUAL(SC_CALL(second, NS_LOOKUP, ns_name, &x), DDIO_ST_PERMISSION);
	CU_ASSERT_PTR_NOT_NULL(strstr(second->text, "not for this connection"));
	/* Somebody cannot become another. */
	cred_for(u->mallory, ALICE, STAFF, cred);
	say_text(u->mallory, DDIO_USER_MUNGE, cred, (uint32_t)strlen(cred));
	sw_run(u->sw, 100 * MS);
	CU_ASSERT_TRUE(u->mallory->closed);
	sc_free(first);
	sc_free(second);
	users_free(u);
}

static void malformed(void)
{
	struct users *u = users_new();
	struct sc *c = sc_new(u->sw, 0);
	uint8_t mac[DDIO_MAC_LEN] = { 0 };

	say_text(c, DDIO_USER_MUNGE, "1000\0 1000", 10);
	CU_ASSERT_EQUAL(look_up(c, "pub/all"), DDIO_ST_PERMISSION);
	sc_free(c);
	c = sc_new(u->sw, 0);
	say_text(c, DDIO_USER_SERVER, mac, sizeof(mac));
	CU_ASSERT_EQUAL(look_up(c, "home/secret"), DDIO_ST_PERMISSION);
	sc_free(c);
	users_free(u);
}

static void servers(void)
{
	struct users *u = users_new();
	struct sc *c = sc_new(u->sw, 0);
	uint8_t mac[DDIO_MAC_LEN];

	CU_ASSERT_TRUE(server_sign(&u->sw->iop->servers_key, ddio_conn_tie(c->conn), mac));
	say_text(c, DDIO_USER_SERVER, mac, sizeof(mac));
	CU_ASSERT_EQUAL(look_up(c, "home/secret"), DDIO_ST_OK);
	sc_free(c);
	/* The proof of another connection. */
	c = sc_new(u->sw, 0);
	say_text(c, DDIO_USER_SERVER, mac, sizeof(mac));
	CU_ASSERT_EQUAL(look_up(c, "home/secret"), DDIO_ST_PERMISSION);
	sc_free(c);
	users_free(u);
}

/* One whose client says who it is and goes at once. */
static void gone_meanwhile(void)
{
	struct users *u = users_new();
	int i;

	for (i = 0; i < 3; i++) {
		struct sc *c = as(u->sw, 0, ALICE, STAFF);

		if (i)
			sw_run(u->sw, (uint64_t)i * 20000);
		sc_free(c);
	}
	CU_ASSERT_EQUAL(look_up(u->alice, "pub/own"), DDIO_ST_OK);
	users_free(u);
}

/*
 * Groups
 */
static uint32_t attach(struct sc *c, uint32_t rank)
{
	struct ddio_msg_attach x = { .group = { 1 }, .rank = rank, .size = 2 };

	return SC_CALL(c, ATTACH, attach, &x);
}

static void others_group(void)
{
	struct users *u = users_new();

	CU_ASSERT_EQUAL(attach(u->alice, 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(attach(u->mallory, 1), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(attach(u->mallory, 0), DDIO_ST_PERMISSION);
	users_free(u);
}

static void start(struct sc *c, uint64_t op, uint64_t file, bool write)
{
	static const struct ddio_extent whole = { .offset = 0, .len = 4096 };
	static const struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &whole };
	const struct ddio_msg_coll_start x = {
		.group = { 2 },
		.op = op,
		.flags = write ? DDIO_COLL_WRITE : 0,
		.nprocs = 1,
		.file_size = 4096,
		.file = { .ref = { .id = file, .seed = 1, .block = 4096 },
			  .ndisks = 1,
			  .disks = (uint32_t[]){ 0 } },
		.nparts = 1,
		.parts = (struct ddio_part *)&part,
	};
	static uint8_t buf[4096];
	struct ddio_msg msg = { .opcode = DDIO_OP_COLL_START };
	ssize_t len = ddio_put_coll_start(buf, sizeof(buf), &x);
	uint32_t want = c->dones + 1;
	int i;

	CU_ASSERT_FATAL(len > 0);
	CU_ASSERT_EQUAL(ddio_conn_send(c->conn, &msg, buf, (size_t)len, NULL, 0, NULL), 0);
	for (i = 0; i < 1000 && c->dones < want && !c->closed; i++)
		sw_run(c->sw, MS);
	CU_ASSERT_EQUAL(c->dones, want);
}

static void collectives(void)
{
	struct users *u = users_new();
	struct ddio_msg_attach x = { .group = { 2 }, .size = 1 };

	CU_ASSERT_EQUAL(SC_CALL(u->mallory, ATTACH, attach, &x), DDIO_ST_OK);
	start(u->mallory, 1, u->own, false);
	CU_ASSERT_EQUAL(u->mallory->done_status, DDIO_ST_PERMISSION);
	start(u->mallory, 2, u->own, true);
	CU_ASSERT_EQUAL(u->mallory->done_status, DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(look_up(u->mallory, "pub/all"), DDIO_ST_OK);
	start(u->mallory, 3, u->all, true);
	CU_ASSERT_EQUAL(u->mallory->done_status, DDIO_ST_PERMISSION);
	users_free(u);
}

static const struct ut_case cases[] = {
	{ "every message", every_message },
	{ "paths", paths },
	{ "ways", ways },
	{ "groups and lists", groups_and_lists },
	{ "creation", creation },
	{ "removal", removal },
	{ "grants", grants },
	{ "disarmed", disarmed },
	{ "expiry", expiry },
	{ "revoked", revoked },
	{ "replays", replays },
	{ "malformed", malformed },
	{ "servers", servers },
	{ "gone meanwhile", gone_meanwhile },
	{ "another's group", others_group },
	{ "collectives", collectives },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "users", cases } };

	return ut_run("test_iop_server_users", suites, 1);
}
