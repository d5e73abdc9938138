// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots that nobody can change.  Each message that a node handles either has a row, and is refused, or is among those that
 * change nothing of what a file has.
 */
#include "iop/server/priv.h"
#include "tests/unit/iop/server/server_world.h"

enum { HOLD = 5, SIZE = 8192 };

/**
 * struct frozen - a node with a file and its snapshot, which has a block on disk 0, and nothing on disk 1
 * @names, @disk: connections to the name space and to the reactors of these disks
 */
struct frozen {
	struct sw *sw;
	struct sc *names, *disk[2];
	struct ddio_file_ref file, snap;
};

struct frozen_row {
	uint16_t opcode;
	ssize_t (*put)(uint8_t *buf, size_t cap, const struct frozen *f, uint32_t disk);
	bool disk;
};

#define ROW_AS(fn, codec, type, ...)                                                         \
	static ssize_t fn(uint8_t *buf, size_t cap, const struct frozen *f, uint32_t number) \
	{                                                                                    \
		const struct type x = { __VA_ARGS__ };                                       \
                                                                                             \
		(void)number;                                                                \
		return ddio_put_##codec(buf, cap, &x);                                       \
	}
#define ROW(op, codec, type, ...) ROW_AS(row_##op, codec, type, __VA_ARGS__)
#define OBJ_ROW(op, ...) ROW(op, obj, ddio_msg_obj, .file = f->snap, .disk = number, __VA_ARGS__)

ROW(NS_EXTEND, ns_size, ddio_msg_ns_size, .id = f->snap.id, .size = 2 * SIZE)
ROW(NS_SET_SIZE, ns_size, ddio_msg_ns_size, .id = f->snap.id, .size = 1)
ROW(NS_EPOCH, ns_epoch, ddio_msg_ns_epoch, .id = f->snap.id)
ROW(FS_SETATTR, fs_setattr, ddio_msg_fs_setattr, .ino = f->snap.id, .mask = DDIO_FS_SET_SIZE)
ROW_AS(row_mode, fs_setattr, ddio_msg_fs_setattr, .ino = f->snap.id, .mask = DDIO_FS_SET_MODE,
       .mode = 0666)
ROW(FS_SETXATTR, fs_xattr, ddio_msg_fs_xattr, .ino = f->snap.id, .name = "user.a", .len = 1,
    .value = "x")
ROW(FS_REMOVEXATTR, fs_xattr, ddio_msg_fs_xattr, .ino = f->snap.id, .name = "user.a")
ROW(FS_WROTE, fs_wrote, ddio_msg_fs_wrote, .ino = f->snap.id, .end = 2 * SIZE)
ROW_AS(row_times, fs_wrote, ddio_msg_fs_wrote, .ino = f->snap.id, .flags = DDIO_FS_WROTE_TIMES)
ROW(FS_APPEND, fs_append, ddio_msg_fs_append, .ino = f->snap.id, .len = 10)
OBJ_ROW(OBJ_WRITE, .len = 512)
OBJ_ROW(OBJ_TRUNCATE, .len = 512)
OBJ_ROW(OBJ_RESERVE, .len = 2)
OBJ_ROW(OBJ_PUNCH, .len = SIZE)
OBJ_ROW(OBJ_ALLOCATE, .len = SIZE)
ROW(OBJ_COPY, obj_copy, ddio_msg_obj_copy, .from = f->file, .to = f->snap, .disk = number,
    .len = 512)

#define NAMES(op)                                       \
	{                                               \
		.opcode = DDIO_OP_##op, .put = row_##op \
	}
#define DISK(op)                                                      \
	{                                                             \
		.opcode = DDIO_OP_##op, .put = row_##op, .disk = true \
	}
static const struct frozen_row rows[] = {
	NAMES(NS_EXTEND),
	NAMES(NS_SET_SIZE),
	NAMES(NS_EPOCH),
	NAMES(FS_SETATTR),
	NAMES(FS_SETXATTR),
	NAMES(FS_REMOVEXATTR),
	NAMES(FS_WROTE),
	NAMES(FS_APPEND),
	DISK(OBJ_WRITE),
	DISK(OBJ_TRUNCATE),
	DISK(OBJ_RESERVE),
	DISK(OBJ_PUNCH),
	DISK(OBJ_ALLOCATE),
	DISK(OBJ_COPY),
	{ .opcode = DDIO_OP_FS_SETATTR, .put = row_mode },
	{ .opcode = DDIO_OP_FS_WROTE, .put = row_times },
};

/*
 * What reads, is about names alone, or about something else; what removes a file without a name; what decides an epoch, which has to
 * be open, or settles it; what makes a new object (CLONE); what moves blocks (MEND), or repairs records.  The collectives, and
 * ddio_mend(), have tests of their own.
 */
static const uint16_t others[] = {
	DDIO_OP_PING,
	DDIO_OP_STATUS,
	DDIO_OP_BOUNDS,
	DDIO_OP_JOBS,
	DDIO_OP_SHOW,
	DDIO_OP_JOB,
	DDIO_OP_WRONG,
	DDIO_OP_OWED,
	DDIO_OP_DISKS_KNOWN,
	DDIO_OP_FS_DISKS,
	DDIO_OP_NS_CREATE,
	DDIO_OP_NS_LOOKUP,
	DDIO_OP_NS_REMOVE,
	DDIO_OP_NS_LIST,
	DDIO_OP_NS_REMOVE_DONE,
	DDIO_OP_NS_COMMIT,
	DDIO_OP_NS_COMMIT_FILES,
	DDIO_OP_NS_DECIDED,
	DDIO_OP_NS_CLONE,
	DDIO_OP_NS_CLONED,
	DDIO_OP_NS_ADOPT,
	DDIO_OP_FS_ATTACH,
	DDIO_OP_FS_DETACH,
	DDIO_OP_FS_LOOKUP,
	DDIO_OP_FS_GETATTR,
	DDIO_OP_FS_MAKE,
	DDIO_OP_FS_LINK,
	DDIO_OP_FS_UNLINK,
	DDIO_OP_FS_RENAME,
	DDIO_OP_FS_READLINK,
	DDIO_OP_FS_READDIR,
	DDIO_OP_FS_GETXATTR,
	DDIO_OP_FS_LISTXATTR,
	DDIO_OP_FS_OPEN,
	DDIO_OP_FS_RELEASE,
	DDIO_OP_FS_ALLOC,
	DDIO_OP_FS_LEASE,
	DDIO_OP_FS_RECALL,
	DDIO_OP_FS_SYNC,
	DDIO_OP_FS_SPACE,
	DDIO_OP_FS_ORPHANS,
	DDIO_OP_FS_GONE,
	DDIO_OP_FS_LOCK_TEST,
	DDIO_OP_FS_LOCK_SET,
	DDIO_OP_FS_LOCK_CANCEL,
	DDIO_OP_OBJ_READ,
	DDIO_OP_FS_UNLOCK_OWNER,
	DDIO_OP_OBJ_SYNC,
	DDIO_OP_OBJ_REMOVE,
	DDIO_OP_OBJ_EXTENTS,
	DDIO_OP_OBJ_LIST,
	DDIO_OP_OBJ_WHOSE,
	DDIO_OP_OBJ_STAT,
	DDIO_OP_OBJ_SETTLE,
	DDIO_OP_DROP_CACHE,
	DDIO_OP_OBJ_HOLD,
	DDIO_OP_OBJ_CLONE,
	DDIO_OP_OBJ_MEND,
	DDIO_OP_DISK_SPACE,
	DDIO_OP_OBJ_QUERY,
	DDIO_OP_FSCK,
	DDIO_OP_SCRUB,
	DDIO_OP_TRACE,
	DDIO_OP_USER,
	DDIO_OP_GRANT,
	DDIO_OP_RENEW,
	DDIO_OP_ATTACH,
	DDIO_OP_DETACH,
	DDIO_OP_COLL_START,
	DDIO_OP_COLL_AGAIN,
	DDIO_OP_COLL_TOLD,
	DDIO_OP_COLL_GO,
	DDIO_OP_COLL_PIECE,
	DDIO_OP_COLL_ABORT,
	DDIO_OP_JOINT,
	DDIO_OP_COLL_JOIN,
	DDIO_OP_SHARE,
	DDIO_OP_SHARE_TAKEN,
	DDIO_OP_COLL_COPIED,
	DDIO_OP_MEMORY,
};

static bool has_row(uint16_t opcode)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].opcode == opcode)
			return true;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i] == opcode)
			return true;
	return false;
}

static void test_every_opcode(void)
{
	struct sw *sw = sw_new(NULL);
	uint16_t opcode;

	for (opcode = 0; opcode < SERVER_OPCODES; opcode++)
		if (server_op_find(server_of(sw->iop), opcode) && !has_row(opcode)) {
			CU_FAIL("an opcode without a row: does it change what a file has?");
			fprintf(stderr, "%s\n", ddio_opcode_name(opcode));
		}
	sw_free(sw);
}

static void connect_all(struct frozen *f)
{
	f->names = sc_new(f->sw, 0);
	f->disk[0] = sc_new(f->sw, sw_reactor(f->sw, 0));
	f->disk[1] = sc_new(f->sw, sw_reactor(f->sw, 1));
}

static void disconnect_all(struct frozen *f)
{
	sc_free(f->names);
	sc_free(f->disk[0]);
	sc_free(f->disk[1]);
}

static void make_file(struct frozen *f)
{
	static const uint8_t data[512] = { 1, 2, 3 };
	struct ddio_msg_fs_make x = { .parent = DDIO_FS_ROOT, .mode = S_IFREG | 0666, .name = "f" };
	struct ddio_msg_fs_opened out;
	struct ddio_msg_obj obj = { .len = sizeof(data) };
	uint8_t buf[64];
	ssize_t len;

	CU_ASSERT_EQUAL_FATAL(SC_CALL(f->names, FS_MAKE, fs_make, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_opened(f->names->data, f->names->len, &out), 0);
	f->file = out.rec.ref;
	ddio_fs_opened_free(&out);
	obj.file = f->file;
	len = ddio_put_obj(buf, sizeof(buf), &obj);
	CU_ASSERT_EQUAL(sc_call(f->disk[0], DDIO_OP_OBJ_WRITE, buf, (size_t)len, data,
				sizeof(data)),
			DDIO_ST_OK);
}

static void freeze_on(struct frozen *f, uint32_t disk)
{
	const struct ddio_msg_obj hold = {
		.file = f->file, .disk = disk, .offset = HOLD, .len = 900
	};
	const struct ddio_msg_obj_clone x = { .to = f->snap,
					      .from = f->file,
					      .disk = disk,
					      .flags = DDIO_OBJ_CLONE_FREEZE,
					      .hold = HOLD,
					      .len = SIZE };

	CU_ASSERT_EQUAL(SC_CALL(f->disk[disk], OBJ_HOLD, obj, &hold), DDIO_ST_OK);
	CU_ASSERT_EQUAL(SC_CALL(f->disk[disk], OBJ_CLONE, obj_clone, &x), DDIO_ST_OK);
}

static void make_snap(struct frozen *f)
{
	const struct ddio_msg_ns_size of = { .id = f->file.id };
	struct ddio_msg_ns_clone as = { .size = SIZE,
					.flags = DDIO_CLONE_SNAP | DDIO_CLONE_FROZEN,
					.path = "s" };
	struct ddio_file_record rec;

	CU_ASSERT_EQUAL_FATAL(SC_CALL(f->names, NS_CLONE, ns_size, &of), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_record(f->names->data, f->names->len, &rec, NULL), 0);
	f->snap = rec.ref;
	ddio_file_record_free(&rec);
	freeze_on(f, 0);
	freeze_on(f, 1);
	as.id = f->snap.id;
	CU_ASSERT_EQUAL_FATAL(SC_CALL(f->names, NS_CLONED, ns_clone, &as), DDIO_ST_OK);
}

static struct frozen *frozen_new(void)
{
	struct frozen *f = calloc(1, sizeof(*f));

	f->sw = sw_new(NULL);
	connect_all(f);
	make_file(f);
	make_snap(f);
	return f;
}

static void frozen_free(struct frozen *f)
{
	disconnect_all(f);
	sw_free(f->sw);
	free(f);
}

static void send_row(const struct frozen_row *row, struct frozen *f, uint32_t disk)
{
	static const uint8_t data[512] = { 9 };
	bool bulk = row->opcode == DDIO_OP_OBJ_WRITE;
	uint8_t buf[4096];
	ssize_t len = row->put(buf, sizeof(buf), f, disk);
	uint32_t status;

	CU_ASSERT_FATAL(len >= 0);
	status = sc_call(row->disk ? f->disk[disk] : f->names, row->opcode, buf, (size_t)len,
			 bulk ? data : NULL, bulk ? sizeof(data) : 0);
	if (status == DDIO_ST_READ_ONLY)
		return;
	CU_FAIL("a snapshot that can be changed");
	fprintf(stderr, "%s, disk %u: %s\n", ddio_opcode_name(row->opcode), disk,
		ddio_status_text(status));
}

/* Also where the file had nothing: what is missing there must not be made. */
static void every_row(struct frozen *f)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		send_row(&rows[i], f, 0);
		if (rows[i].disk)
			send_row(&rows[i], f, 1);
	}
}

static uint32_t remove_on(struct frozen *f, uint32_t disk)
{
	const struct ddio_msg_obj x = { .file = f->snap, .disk = disk };

	return SC_CALL(f->disk[disk], OBJ_REMOVE, obj, &x);
}

static void test_rows(void)
{
	struct frozen *f = frozen_new();
	struct ddio_msg_obj_clone again;
	struct ddio_msg_obj write;

	every_row(f);
	disconnect_all(f);
	sw_restart(f->sw);
	connect_all(f);
	every_row(f);
	/* It is not made anew by another clone either. */
	again = (struct ddio_msg_obj_clone){ .to = f->snap, .from = f->file, .hold = HOLD };
	write = (struct ddio_msg_obj){ .file = f->file, .offset = HOLD, .len = 900 };
	CU_ASSERT_EQUAL(SC_CALL(f->disk[0], OBJ_HOLD, obj, &write), DDIO_ST_OK);
	CU_ASSERT_EQUAL(SC_CALL(f->disk[0], OBJ_CLONE, obj_clone, &again), DDIO_ST_INVALID);
	frozen_free(f);
}

static uint64_t number_of(struct frozen *f, uint64_t dir, const char *name)
{
	struct ddio_msg_fs_name x = { .parent = dir };
	struct ddio_msg_fs_attr out = { .attr.ino = 0 };

	snprintf(x.name, sizeof(x.name), "%s", name);
	CU_ASSERT_EQUAL(SC_CALL(f->names, FS_LOOKUP, fs_name, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_attr(f->names->data, f->names->len, &out), 0);
	return out.attr.ino;
}

/* Its name goes as any other's, and then the objects. */
static void test_removal(void)
{
	struct frozen *f = frozen_new();
	struct ddio_msg_fs_rename to = { .new_parent = DDIO_FS_ROOT, .name = "s", .new_name = "t" };
	const struct ddio_msg_ns_name x = { .path = "t" };
	char name[24];

	snprintf(name, sizeof(name), "%llu", (unsigned long long)f->file.id);
	to.parent = number_of(f, number_of(f, DDIO_FS_ROOT, DDIO_SNAP_DIR), name);
	CU_ASSERT_EQUAL(SC_CALL(f->names, FS_RENAME, fs_rename, &to), DDIO_ST_OK);
	every_row(f);
	CU_ASSERT_EQUAL(SC_CALL(f->names, NS_REMOVE, ns_name, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL(remove_on(f, 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(remove_on(f, 1), DDIO_ST_OK);
	frozen_free(f);
}

/*
 * Whoever holds a file again and again: others have most of its time.
 */
static void hold_send(struct frozen *f, uint64_t number, uint64_t ms)
{
	const struct ddio_msg_obj hold = { .file = f->file, .offset = number, .len = ms };
	uint8_t buf[64];
	ssize_t len = ddio_put_obj(buf, sizeof(buf), &hold);

	sc_send(f->disk[1], DDIO_OP_OBJ_HOLD, buf, (size_t)len, NULL, 0);
}

static void again_and_again(void)
{
	const uint64_t second = 1000000000;
	struct frozen f = { .sw = sw_new("") };
	struct ddio_msg_obj read;
	uint64_t begun, now, waited = 0, most = 0, i;
	struct sc *other;

	connect_all(&f);
	make_file(&f);
	sc_free(f.disk[1]);
	f.disk[1] = sc_new(f.sw, sw_reactor(f.sw, 0));
	other = sc_new(f.sw, sw_reactor(f.sw, 0));
	read = (struct ddio_msg_obj){ .file = f.file, .len = 512 };
	begun = ddio_env_now(f.sw->client);
	for (i = 0; i < 200; i++) {
		uint64_t from;

		hold_send(&f, i + 1, 100000);
		sw_run(f.sw, 50000000);
		from = ddio_env_now(f.sw->client);
		CU_ASSERT_EQUAL(SC_CALL(other, OBJ_READ, obj, &read), DDIO_ST_OK);
		now = ddio_env_now(f.sw->client);
		waited += now - from;
		most = now - from > most ? now - from : most;
	}
	now = ddio_env_now(f.sw->client) - begun;
	CU_ASSERT(now > 10 * second);
	CU_ASSERT(most > second / 10);
	CU_ASSERT(waited < now / 3);
	sc_free(other);
	disconnect_all(&f);
	sw_free(f.sw);
}

static const struct ut_case cases[] = {
	{ "held again and again", again_and_again },
	{ "every opcode has a row", test_every_opcode },
	{ "every message that writes is refused, also after a restart", test_rows },
	{ "it is renamed and removed as any other", test_removal },
	{ .name = NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "frozen", cases } };

	return ut_run("test_iop_server_frozen", suites, 1);
}
