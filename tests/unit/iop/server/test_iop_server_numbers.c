// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every number of every message at its ends: 0, 1, 2^31, 2^32 - 1, 2^63 - 1, 2^64 - 1, and the numbers of a file and a
 * directory that exist, one at a time and several at once.  The node lives, answers others in time, and holds no more memory
 * than its bounds say.
 */
#include <malloc.h>
#include "tests/fuzz/codecs.h"
#include "tests/unit/iop/server/server_world.h"

/* A request of somebody else is answered within this; what hostile requests hold may be that much. */
#define ANSWER_MS 100
#define HELD_MAX (128ull << 20)

enum { BASE_MAX = 2048, SWEPT = 120 };

/**
 * struct hostile - a client that has the key, and means no good
 * @c: its connection, of mount @id; @good: another's
 * @file, @dir: inodes that exist
 */
struct hostile {
	struct sw *sw;
	struct sc *c, *good;
	uint64_t file, dir, rand;
	size_t before;
	uint32_t sent, lost, refused;
};

static size_t held(void)
{
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void hostile_connect(struct hostile *h)
{
	struct ddio_msg_fs_attach x = { .mount = { 7 }, .flags = DDIO_FS_ATTACH_TOLD };
	uint8_t buf[64];
	ssize_t len = ddio_put_fs_attach(buf, sizeof(buf), &x);

	h->c = sc_new(h->sw, 0);
	sc_send(h->c, DDIO_OP_FS_ATTACH, buf, (size_t)len, NULL, 0);
	sw_run(h->sw, MS);
}

/* Somebody else asks. */
static void ask_others(struct hostile *h)
{
	struct ddio_msg_fs_ino root = { .ino = DDIO_FS_ROOT };
	uint32_t i, want = h->good->replies + 1;
	uint8_t buf[16];
	ssize_t len = ddio_put_fs_ino(buf, sizeof(buf), &root);

	sc_send(h->good, DDIO_OP_FS_GETATTR, buf, (size_t)len, NULL, 0);
	for (i = 0; i < ANSWER_MS && h->good->replies < want; i++)
		sw_run(h->sw, MS);
	CU_ASSERT_FATAL(h->good->replies == want && !h->good->closed);
	CU_ASSERT_EQUAL(h->good->status, DDIO_ST_OK);
	CU_ASSERT_FATAL(held() < h->before + HELD_MAX);
}

/* What the sender itself refuses, since the opcode may not have so much, need not be sent. */
static void say(struct hostile *h, uint16_t opcode, const uint8_t *bytes, size_t len)
{
	struct ddio_msg msg = { .opcode = opcode };

	if (h->c->closed) {
		sc_free(h->c);
		h->lost++;
		hostile_connect(h);
	}
	msg.tag = ++h->c->tags;
	h->refused += ddio_conn_send(h->c->conn, &msg, bytes, len, NULL, 0, NULL) != 0;
	sw_run(h->sw, MS / 20);
	/* Nothing tries to allocate as much as a number says. */
	CU_ASSERT_NOT_EQUAL(h->c->status, DDIO_ST_NO_MEMORY);
	if (!(++h->sent % 128))
		ask_others(h);
}

static void put_le(uint8_t *at, uint64_t v, size_t len)
{
	while (len--) {
		*at++ = (uint8_t)v;
		v >>= 8;
	}
}

/* Sends a message with each four and each eight bytes of its beginning at the ends of numbers. */
static void sweep(struct hostile *h, uint16_t opcode, const uint8_t *bytes, size_t len,
		  unsigned int stride)
{
	static const uint32_t ends32[] = { 0, 1, 1u << 31, UINT32_MAX };
	const uint64_t ends64[] = { (1ull << 62) - 1,  1ull << 62, INT64_MAX, UINT64_MAX,
				    UINT64_MAX - 4095, h->file,	   h->dir };
	uint8_t *copy = malloc(len + 1);
	size_t at, v;

	for (at = ddio_rand_below(&h->rand, stride); at + 4 <= len && at < SWEPT; at += stride) {
		for (v = 0; v < sizeof(ends32) / sizeof(ends32[0]); v++) {
			memcpy(copy, bytes, len);
			put_le(copy + at, ends32[v], 4);
			say(h, opcode, copy, len);
		}
		for (v = 0; at + 8 <= len && v < sizeof(ends64) / sizeof(ends64[0]); v++) {
			memcpy(copy, bytes, len);
			put_le(copy + at, ends64[v], 8);
			say(h, opcode, copy, len);
		}
	}
	free(copy);
}

/* Sends it with several numbers at their ends. */
static void several(struct hostile *h, uint16_t opcode, const uint8_t *bytes, size_t len)
{
	const uint64_t ends[] = { 0,	     1,		 1ull << 31, UINT32_MAX, 1ull << 62,
				  INT64_MAX, UINT64_MAX, h->file,    h->dir,	 4096 };
	uint8_t *copy = malloc(len + 1);
	unsigned int i, n;

	for (i = 0; i < ut_rounds(100) && len >= 8; i++) {
		memcpy(copy, bytes, len);
		for (n = 0; n < 3; n++)
			put_le(copy + ddio_rand_below(&h->rand,
						      (len < SWEPT ? len : SWEPT) / 4 - 1) *
					       4,
			       ends[ddio_rand_below(&h->rand, sizeof(ends) / sizeof(ends[0]))],
			       ddio_rand_below(&h->rand, 2) ? 4 : 8);
		say(h, opcode, copy, len);
	}
	free(copy);
}

static void attack(struct hostile *h, uint16_t opcode, const uint8_t *bytes, size_t len)
{
	say(h, opcode, bytes, len);
	sweep(h, opcode, bytes, len, ut_stride(8) > 1 ? 8 : 4);
	several(h, opcode, bytes, len);
}

#define ATTACK(h, op, codec, type, ...)                                   \
	do {                                                              \
		struct type x_ = { __VA_ARGS__ };                         \
		uint8_t buf_[BASE_MAX];                                   \
		ssize_t len_ = ddio_put_##codec(buf_, sizeof(buf_), &x_); \
                                                                          \
		CU_ASSERT_FATAL(len_ >= 0);                               \
		attack(h, DDIO_OP_##op, buf_, (size_t)len_);              \
	} while (0)

static struct hostile *hostile_new(void)
{
	struct hostile *h = calloc(1, sizeof(*h));
	struct ddio_msg_fs_make dir = { .parent = DDIO_FS_ROOT,
					.mode = S_IFDIR | 0755,
					.name = "di" };
	struct ddio_msg_fs_make file = { .parent = DDIO_FS_ROOT,
					 .mode = S_IFREG | 0644,
					 .name = "fi" };
	struct ddio_msg_fs_opened made;
	struct ddio_msg_fs_attach attach = { .mount = { 9 }, .flags = DDIO_FS_ATTACH_TOLD };

	h->sw = sw_new(NULL);
	h->rand = 3;
	h->good = sc_new(h->sw, 0);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(h->good, FS_ATTACH, fs_attach, &attach), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(h->good, FS_MAKE, fs_make, &dir), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_opened(h->good->data, h->good->len, &made), 0);
	h->dir = made.attr.ino;
	ddio_fs_opened_free(&made);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(h->good, FS_MAKE, fs_make, &file), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_opened(h->good->data, h->good->len, &made), 0);
	h->file = made.attr.ino;
	ddio_fs_opened_free(&made);
	hostile_connect(h);
	h->before = held();
	return h;
}

static void hostile_free(struct hostile *h)
{
	struct ddio_msg_obj names = { .disk = DDIO_FSCK_NAMES };
	struct ddio_msg_fsck fsck;

	CU_ASSERT(h->refused < h->sent / 10);
	ask_others(h);
	sc_free(h->c);
	sw_run(h->sw, 10000 * MS);
	CU_ASSERT_EQUAL(sc_object(h->good, DDIO_OP_FSCK, &names), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_get_fsck(h->good->data, h->good->len, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	sc_free(h->good);
	sw_free(h->sw);
	free(h);
}

static void names(void)
{
	struct hostile *h = hostile_new();
	uint64_t file = h->file, dir = h->dir;

	ATTACK(h, FS_LOOKUP, fs_name, ddio_msg_fs_name, .parent = DDIO_FS_ROOT, .name = "fi");
	ATTACK(h, FS_GETATTR, fs_ino, ddio_msg_fs_ino, .ino = file);
	ATTACK(h, FS_SETATTR, fs_setattr, ddio_msg_fs_setattr, .ino = file, .mask = 8,
	       .size = 4096);
	ATTACK(h, FS_MAKE, fs_make, ddio_msg_fs_make, .seq = { 1, 0 }, .parent = dir,
	       .mode = S_IFREG | 0600, .name = "newf");
	ATTACK(h, FS_LINK, fs_link, ddio_msg_fs_link, .seq = { 2, 1 }, .ino = file, .parent = dir,
	       .name = "link");
	ATTACK(h, FS_RENAME, fs_rename, ddio_msg_fs_rename, .seq = { 3, 2 }, .parent = dir,
	       .new_parent = dir, .name = "link", .new_name = "moved1");
	ATTACK(h, FS_UNLINK, fs_name, ddio_msg_fs_name, .seq = { 4, 3 }, .parent = dir,
	       .name = "newf");
	ATTACK(h, FS_READLINK, fs_ino, ddio_msg_fs_ino, .ino = file);
	ATTACK(h, FS_READDIR, fs_readdir, ddio_msg_fs_readdir, .ino = DDIO_FS_ROOT, .max = 100);
	ATTACK(h, FS_ORPHANS, fs_readdir, ddio_msg_fs_readdir, .ino = 1, .max = 100);
	ATTACK(h, FS_SETXATTR, fs_xattr, ddio_msg_fs_xattr, .seq = { 5, 4 }, .ino = file, .len = 4,
	       .name = "user.a", .value = "abcd");
	ATTACK(h, FS_GETXATTR, fs_xattr, ddio_msg_fs_xattr, .ino = file, .name = "user.a");
	ATTACK(h, FS_LISTXATTR, fs_ino, ddio_msg_fs_ino, .ino = file);
	ATTACK(h, FS_REMOVEXATTR, fs_xattr, ddio_msg_fs_xattr, .seq = { 6, 5 }, .ino = file,
	       .name = "user.a");
	ATTACK(h, NS_LIST, ns_list, ddio_msg_ns_list, .max = 10, .dir = "di");
	ATTACK(h, NS_LOOKUP, ns_name, ddio_msg_ns_name, .path = "di/newf");
	ATTACK(h, NS_EXTEND, ns_size, ddio_msg_ns_size, .id = file, .size = 100);
	ATTACK(h, NS_SET_SIZE, ns_size, ddio_msg_ns_size, .id = file, .size = 100);
	hostile_free(h);
}

static void files(void)
{
	struct hostile *h = hostile_new();
	uint64_t file = h->file;

	ATTACK(h, FS_OPEN, fs_open, ddio_msg_fs_open, .ino = file);
	ATTACK(h, FS_WROTE, fs_wrote, ddio_msg_fs_wrote, .ino = file, .end = 100,
	       .flags = DDIO_FS_WROTE_DATA, .base = 1);
	ATTACK(h, FS_APPEND, fs_append, ddio_msg_fs_append, .seq = { 1, 0 }, .ino = file,
	       .len = 10);
	ATTACK(h, FS_ALLOC, fs_alloc, ddio_msg_fs_alloc, .ino = file, .change = 1, .alloc = 4096);
	ATTACK(h, FS_LOCK_TEST, fs_lock, ddio_msg_fs_lock, .ino = file, .end = 9, .type = 1);
	ATTACK(h, FS_LOCK_SET, fs_lock, ddio_msg_fs_lock, .ino = file, .end = 9, .type = 2);
	ATTACK(h, FS_LOCK_SET, fs_lock, ddio_msg_fs_lock, .ino = file, .id = 1, .end = 99,
	       .owner = 2, .type = 2, .flags = DDIO_FS_LOCK_WAIT);
	ATTACK(h, FS_LOCK_CANCEL, fs_ino, ddio_msg_fs_ino, .ino = 1);
	ATTACK(h, FS_UNLOCK_OWNER, fs_owner, ddio_msg_fs_owner, .ino = file, .owner = 2);
	ATTACK(h, FS_RELEASE, fs_ino, ddio_msg_fs_ino, .ino = file);
	ATTACK(h, FS_GONE, fs_ino, ddio_msg_fs_ino, .ino = 99);
	hostile_free(h);
}

static void objects(void)
{
	static const uint16_t ops[] = {
		DDIO_OP_OBJ_READ, DDIO_OP_OBJ_SYNC,    DDIO_OP_OBJ_TRUNCATE, DDIO_OP_OBJ_EXTENTS,
		DDIO_OP_OBJ_LIST, DDIO_OP_OBJ_RESERVE, DDIO_OP_OBJ_PUNCH,    DDIO_OP_OBJ_ALLOCATE,
		DDIO_OP_OBJ_STAT, DDIO_OP_OBJ_REMOVE,  DDIO_OP_DROP_CACHE,   DDIO_OP_FSCK,
		DDIO_OP_OBJ_WRITE
	};
	struct hostile *h = hostile_new();
	struct ddio_msg_obj_copy copy = { .len = 4096, .to_offset = 8192 };
	uint8_t data[8192] = { 1 }, buf[200];
	uint32_t disk = 0;
	size_t i;

	while (sw_reactor(h->sw, disk))
		disk++;
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		/* One that was removed is not written again. */
		const uint64_t file = h->file + i;
		struct ddio_msg_obj obj = sc_obj(file, disk, 0, 4096);

		CU_ASSERT_EQUAL(sc_write(h->good, file, disk, 0, data, sizeof(data)), 0);
		attack(h, ops[i], buf, (size_t)ddio_put_obj(buf, sizeof(buf), &obj));
	}
	copy.disk = disk;
	copy.from = copy.to = sc_obj(h->file, disk, 0, 0).file;
	attack(h, DDIO_OP_OBJ_COPY, buf, (size_t)ddio_put_obj_copy(buf, sizeof(buf), &copy));
	hostile_free(h);
}

/* What the table above leaves out, and all others, as the fuzzers make them. */
static void all(void)
{
	struct hostile *h = hostile_new();
	struct rnd r = { .x = 77 };
	union any_message *x = malloc(sizeof(*x));
	const struct codec *codec;
	uint8_t *buf;
	ssize_t len;
	size_t i;

	for (i = 0; i < NCARRIED; i++) {
		codec = codec_find(carried[i].request);
		if (!codec)
			continue;
		memset(x, 0, sizeof(*x));
		codec->gen(&r, x);
		len = codec->put(NULL, 0, x);
		CU_ASSERT_FATAL(len >= 0);
		buf = malloc((size_t)len + 1);
		codec->put(buf, (size_t)len, x);
		attack(h, carried[i].opcode, buf, (size_t)len);
		free(buf);
		codec->free(x);
	}
	CU_ASSERT(h->lost > 0);
	free(x);
	hostile_free(h);
}

static const struct ut_case cases[] = {
	{ "names", names },
	{ "files", files },
	{ "objects", objects },
	{ "all messages", all },
	{ 0 },
};

int main(void)
{
	const struct ut_suite suites[] = { { "numbers", cases } };

	return ut_run("iop_server_numbers", suites, 1);
}
