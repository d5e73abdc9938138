// SPDX-License-Identifier: GPL-2.0-only
/* Round trips and refusals of every codec, headers, status numbers. */
#include <errno.h>
#include "tests/fuzz/codecs.h"
#include "tests/unit/ut.h"

enum { ROUNDS = 200 };

/* Encode into memory of exactly the right length, so that a sanitizer sees every byte beyond. */
static uint8_t *encode(const struct codec *c, const void *x, size_t *len)
{
	ssize_t n = c->put(NULL, 0, x);
	uint8_t *buf;

	if (n <= 0)
		return NULL;
	buf = malloc(n);
	if (!buf || c->put(buf, n, x) != n) {
		free(buf);
		return NULL;
	}
	*len = n;
	return buf;
}

static void round_trip(const struct codec *c, struct rnd *r)
{
	union any_message in, out;
	uint8_t *first, *second;
	size_t len = 0, again = 0;

	memset(&in, 0, sizeof(in));
	memset(&out, 0xa5, sizeof(out));
	c->gen(r, &in);
	first = encode(c, &in, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(first);
	CU_ASSERT_EQUAL_FATAL(c->get(first, len, &out), 0);
	second = encode(c, &out, &again);
	CU_ASSERT_PTR_NOT_NULL_FATAL(second);
	CU_ASSERT_EQUAL(len, again);
	CU_ASSERT(len == again && !memcmp(first, second, len));
	free(first);
	free(second);
	c->free(&out);
	c->free(&in);
}

static void test_round_trips(void)
{
	struct rnd r = { 12345 };
	size_t i;
	int k;

	for (i = 0; i < NCODECS; i++)
		for (k = 0; k < ROUNDS; k++)
			round_trip(&codecs[i], &r);
}

static void cut_short(const struct codec *c, struct rnd *r)
{
	union any_message in, out;
	uint8_t *whole, *part;
	size_t len = 0, n;

	memset(&in, 0, sizeof(in));
	c->gen(r, &in);
	whole = encode(c, &in, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
	for (n = 0; n <= len + 1; n++) {
		part = calloc(1, n ? n : 1);
		CU_ASSERT_PTR_NOT_NULL_FATAL(part);
		memcpy(part, whole, n < len ? n : len);
		if (n < len)
			CU_ASSERT_EQUAL(c->put(part, n, &in), -EMSGSIZE);
		memcpy(part, whole, n < len ? n : len);
		if (n == len) {
			CU_ASSERT_EQUAL_FATAL(c->get(part, n, &out), 0);
			c->free(&out);
		} else {
			CU_ASSERT_NOT_EQUAL(c->get(part, n, &out), 0);
		}
		free(part);
	}
	free(whole);
	c->free(&in);
}

static void test_every_length(void)
{
	struct rnd r = { 777 };
	size_t i;
	int k;

	for (i = 0; i < NCODECS; i++)
		for (k = 0; k < 3; k++)
			cut_short(&codecs[i], &r);
}

/* One byte changed anywhere: refused, or a message that encodes to these very bytes. */
static void flip_bytes(const struct codec *c, struct rnd *r)
{
	union any_message in, out;
	uint8_t *whole, *again;
	size_t len = 0, n = 0, i;

	memset(&in, 0, sizeof(in));
	c->gen(r, &in);
	whole = encode(c, &in, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(whole);
	for (i = 0; i < len; i++) {
		uint8_t old = whole[i];

		whole[i] = (uint8_t)rnd_u64(r);
		if (!c->get(whole, len, &out)) {
			again = encode(c, &out, &n);
			CU_ASSERT(again && n == len && !memcmp(again, whole, len));
			free(again);
			c->free(&out);
		}
		whole[i] = old;
	}
	free(whole);
	c->free(&in);
}

static void test_flipped_bytes(void)
{
	struct rnd r = { 4242 };
	size_t i;
	int k;

	for (i = 0; i < NCODECS; i++)
		for (k = 0; k < 5; k++)
			flip_bytes(&codecs[i], &r);
}

/* Encode @x with @name's codec and say what decoding makes of it. */
static int judge(const char *name, const void *x)
{
	const struct codec *c = codec_find(name);
	union any_message out;
	size_t len = 0;
	uint8_t *buf = encode(c, x, &len);
	int err;

	if (!buf)
		return 1;
	err = c->get(buf, len, &out);
	if (!err)
		c->free(&out);
	free(buf);
	return err;
}

static struct ddio_file_record good_record(uint32_t *disks, uint32_t n)
{
	struct ddio_file_record rec = {
		.ref = { .id = 7, .block = 8192 },
		.size = 1000,
		.ndisks = n,
		.disks = disks,
		.name = "matrix",
	};
	uint32_t i;

	for (i = 0; i < n; i++)
		disks[i] = i;
	return rec;
}

static void test_record_values(void)
{
	static const uint32_t bad_blocks[] = { 0, 1, 256, 511, 513, 1536, 32u << 20, 0x80000000u };
	static uint32_t disks[DDIO_MAX_DISKS + 1];
	struct ddio_file_record rec = good_record(disks, 4);
	size_t i;

	CU_ASSERT_EQUAL(judge("record", &rec), 0);
	for (i = 0; i < sizeof(bad_blocks) / sizeof(bad_blocks[0]); i++) {
		rec.ref.block = bad_blocks[i];
		CU_ASSERT_EQUAL(judge("record", &rec), -EINVAL);
	}
	for (rec.ref.block = DDIO_MIN_BLOCK; rec.ref.block <= DDIO_MAX_BLOCK; rec.ref.block *= 2)
		CU_ASSERT_EQUAL(judge("record", &rec), 0);
	rec = good_record(disks, 4);
	rec.ref.layout = DDIO_LAYOUT_MAX_W;
	CU_ASSERT_EQUAL(judge("record", &rec), -EINVAL);
	rec = good_record(disks, 4);
	rec.ref.id = 0;
	CU_ASSERT_EQUAL(judge("record", &rec), -EINVAL);
	rec = good_record(disks, 4);
	rec.dying = 2;
	CU_ASSERT_EQUAL(judge("record", &rec), -EINVAL);
	rec = good_record(disks, 4);
	rec.size = DDIO_MAX_FILE;
	CU_ASSERT_EQUAL(judge("record", &rec), 0);
	rec.size++;
	CU_ASSERT_EQUAL(judge("record", &rec), -EMSGSIZE);
}

static void test_record_stripe(void)
{
	static uint32_t disks[DDIO_MAX_DISKS + 1];
	struct ddio_file_record rec = good_record(disks, 0);

	CU_ASSERT_EQUAL(judge("record", &rec), -EINVAL);
	rec = good_record(disks, 5);
	disks[4] = disks[1];
	CU_ASSERT_EQUAL(judge("record", &rec), -EINVAL);
	rec = good_record(disks, 1000);
	CU_ASSERT_EQUAL(judge("record", &rec), 0);
	disks[999] = 3;
	CU_ASSERT_EQUAL(judge("record", &rec), -EINVAL);
	rec = good_record(disks, DDIO_MAX_DISKS);
	CU_ASSERT_EQUAL(judge("record", &rec), 0);
	rec = good_record(disks, DDIO_MAX_DISKS + 1);
	CU_ASSERT_EQUAL(judge("record", &rec), -EMSGSIZE);
}

static void test_create_values(void)
{
	uint32_t disks[4];
	struct ddio_msg_ns_create x = { .rec = good_record(disks, 4) };

	CU_ASSERT_EQUAL(judge("ns_create", &x), -EINVAL); /* has an id */
	x.rec.ref.id = 0;
	CU_ASSERT_EQUAL(judge("ns_create", &x), 0);
	x.flags = DDIO_NS_EXCL << 1;
	CU_ASSERT_EQUAL(judge("ns_create", &x), -EPROTO);
	x.flags = DDIO_NS_EXCL;
	x.rec.mtime_ns = 1;
	CU_ASSERT_EQUAL(judge("ns_create", &x), -EINVAL);
	x.rec.mtime_ns = 0;
	x.rec.name[0] = '\0';
	CU_ASSERT_EQUAL(judge("ns_create", &x), -EINVAL);
}

static void test_strings(void)
{
	struct ddio_msg_ns_name x = { .id = 1 }, y;
	uint8_t buf[512] = { 0 };
	ssize_t n;

	memset(x.name, 'n', DDIO_MAX_NAME);
	n = ddio_put_ns_name(buf, sizeof(buf), &x);
	CU_ASSERT_EQUAL(n, 8 + 2 + DDIO_MAX_NAME);
	CU_ASSERT_EQUAL(ddio_get_ns_name(buf, n, &y), 0);
	CU_ASSERT_STRING_EQUAL(y.name, x.name);
	buf[20] = 0; /* NUL inside */
	CU_ASSERT_EQUAL(ddio_get_ns_name(buf, n, &y), -EPROTO);
	buf[8] = 0; /* length 256 */
	buf[9] = 1;
	CU_ASSERT_EQUAL(ddio_get_ns_name(buf, 8 + 2 + 256, &y), -EMSGSIZE);
	memset(x.name, 'n', sizeof(x.name)); /* not terminated at all */
	CU_ASSERT_EQUAL(ddio_put_ns_name(buf, sizeof(buf), &x), n);
	memset(&x, 0, sizeof(x));
	CU_ASSERT_EQUAL(judge("ns_name", &x), -EINVAL);
}

static void test_hello_values(void)
{
	struct ddio_msg_hello x = { .min_version = 1, .max_version = 1, .role = DDIO_ROLE_CLIENT };

	CU_ASSERT_EQUAL(judge("hello", &x), 0);
	x.min_version = 2;
	CU_ASSERT_EQUAL(judge("hello", &x), -EINVAL);
	x.min_version = 0;
	CU_ASSERT_EQUAL(judge("hello", &x), -EINVAL);
	x.min_version = 1;
	x.role = 0;
	CU_ASSERT_EQUAL(judge("hello", &x), -EINVAL);
	x.role = 4;
	CU_ASSERT_EQUAL(judge("hello", &x), -EINVAL);
	x.role = DDIO_ROLE_PEER;
	x.rank = DDIO_MAX_MEMBERS;
	CU_ASSERT_EQUAL(judge("hello", &x), -EMSGSIZE);
}

static void test_welcome_values(void)
{
	struct ddio_welcome_disk d = { .sector = 512 };
	struct ddio_msg_welcome x = { .nreactors = 2, .ndisks = 1, .disks = &d };

	CU_ASSERT_EQUAL(judge("welcome", &x), 0);
	d.reactor = 2;
	CU_ASSERT_EQUAL(judge("welcome", &x), -EINVAL);
	d.reactor = 0;
	d.sector = 1000;
	CU_ASSERT_EQUAL(judge("welcome", &x), -EINVAL);
	d.sector = 0;
	CU_ASSERT_EQUAL(judge("welcome", &x), -EINVAL);
	d.sector = 512;
	d.reserved = 1;
	CU_ASSERT_EQUAL(judge("welcome", &x), -EPROTO);
	d.reserved = 0;
	x.reactor = 2;
	CU_ASSERT_EQUAL(judge("welcome", &x), -EINVAL);
	x = (struct ddio_msg_welcome){ .node = 3 };
	CU_ASSERT_EQUAL(judge("welcome", &x), 0);
}

static void test_obj_values(void)
{
	struct ddio_msg_obj x = { .file = { .id = 1, .block = 512 } };
	struct ddio_msg_obj_data d = { .len = DDIO_MAX_BULK };
	struct ddio_wire_extent e = { .count = 1 };
	struct ddio_msg_extents xs = { .n = 1, .ext = &e };
	uint64_t id = 0;
	struct ddio_msg_obj_list l = { .n = 1, .ids = &id };

	CU_ASSERT_EQUAL(judge("obj", &x), 0);
	x.file.block = 0;
	CU_ASSERT_EQUAL(judge("obj", &x), -EINVAL);
	x.file.id = 0; /* no file at all */
	CU_ASSERT_EQUAL(judge("obj", &x), 0);
	x.flags = DDIO_OBJ_REPAIR << 1;
	CU_ASSERT_EQUAL(judge("obj", &x), -EPROTO);
	x.flags = 0;
	x.offset = DDIO_MAX_FILE;
	CU_ASSERT_EQUAL(judge("obj", &x), 0);
	x.len = 1;
	CU_ASSERT_EQUAL(judge("obj", &x), -EMSGSIZE);
	x.offset = UINT64_MAX;
	CU_ASSERT_EQUAL(judge("obj", &x), -EMSGSIZE);
	CU_ASSERT_EQUAL(judge("obj_data", &d), 0);
	d.len++;
	CU_ASSERT_EQUAL(judge("obj_data", &d), -EMSGSIZE);
	d.len = 0;
	d.hit = 2;
	CU_ASSERT_EQUAL(judge("obj_data", &d), -EINVAL);
	CU_ASSERT_EQUAL(judge("extents", &xs), 0);
	e.count = 0;
	CU_ASSERT_EQUAL(judge("extents", &xs), -EINVAL);
	e.count = 1;
	xs.more = 2;
	CU_ASSERT_EQUAL(judge("extents", &xs), -EINVAL);
	CU_ASSERT_EQUAL(judge("obj_list", &l), -EINVAL);
}

static void test_parts(void)
{
	struct ddio_array a = { .elem_size = 8, .ndims = 1, .dim = { { .size = 10 } } };
	struct ddio_strided s = { .len = 8, .nlevels = 1, .level = { { 4, 16 } } };
	struct ddio_extent e = { .offset = DDIO_MAX_FILE, .len = 0 };
	struct ddio_part p = { .kind = DDIO_PART_ARRAY, .array = &a };

	CU_ASSERT_EQUAL(judge("part", &p), 0);
	a.elem_size = 0;
	CU_ASSERT_EQUAL(judge("part", &p), -EINVAL);
	a.elem_size = 8;
	a.ndims = 0;
	CU_ASSERT_EQUAL(judge("part", &p), -EINVAL);
	a.ndims = DDIO_MAX_DIMS + 1;
	CU_ASSERT_EQUAL(judge("part", &p), -EINVAL);
	a.ndims = 1;
	a.reserved = 1;
	CU_ASSERT_EQUAL(judge("part", &p), -EPROTO);
	a.reserved = 0;
	a.dim[0].dist = DDIO_ALL + 1;
	CU_ASSERT_EQUAL(judge("part", &p), -EINVAL);
	a.dim[0].dist = DDIO_ALL;
	a.dim[0].reserved = 1;
	CU_ASSERT_EQUAL(judge("part", &p), -EPROTO);
	p = (struct ddio_part){ .kind = DDIO_PART_STRIDED, .n = 1, .strided = &s };
	CU_ASSERT_EQUAL(judge("part", &p), 0);
	s.level[0].stride = -1;
	CU_ASSERT_EQUAL(judge("part", &p), -EINVAL);
	s.level[0].stride = 16;
	s.level[0].count = 0;
	CU_ASSERT_EQUAL(judge("part", &p), -EINVAL);
	s.nlevels = DDIO_MAX_DIMS + 1;
	CU_ASSERT_EQUAL(judge("part", &p), -EINVAL);
	p = (struct ddio_part){ .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	CU_ASSERT_EQUAL(judge("part", &p), 0);
	e.len = 1;
	CU_ASSERT_EQUAL(judge("part", &p), -EMSGSIZE);
	p = (struct ddio_part){ .kind = 4 };
	CU_ASSERT_EQUAL(judge("part", &p), -EINVAL);
	p = (struct ddio_part){ .kind = DDIO_PART_LIST, .reserved = 1 };
	CU_ASSERT_EQUAL(judge("part", &p), -EPROTO);
}

static void test_coll_start(void)
{
	uint32_t disks[2];
	struct ddio_array a = { .elem_size = 8, .ndims = 1, .dim = { { .size = 10 } } };
	struct ddio_extent e = { 0, 1 };
	struct ddio_part p[3] = { { .kind = DDIO_PART_ARRAY, .array = &a } };
	struct ddio_msg_coll_start x = {
		.op = 1, .nprocs = 3, .file = good_record(disks, 2), .nparts = 1, .parts = p
	};

	CU_ASSERT_EQUAL(judge("coll_start", &x), 0);
	x.op = 0;
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EINVAL);
	x.op = 1;
	x.flags = DDIO_COLL_NO_BATCH << 1;
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EPROTO);
	x.flags = 0;
	x.nprocs = 0;
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EINVAL);
	x.nprocs = DDIO_MAX_MEMBERS + 1;
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EMSGSIZE);
	x.nprocs = 3;
	x.nparts = 2;
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EINVAL);
	x.nparts = 3;
	p[1] = p[2] = p[0]; /* one array too many */
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EINVAL);
	p[0] = p[1] = (struct ddio_part){ .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	p[2] = (struct ddio_part){ .kind = DDIO_PART_STRIDED }; /* empty: either kind */
	CU_ASSERT_EQUAL(judge("coll_start", &x), 0);
	p[2] = (struct ddio_part){ .kind = DDIO_PART_ARRAY, .array = &a };
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EINVAL);
	x.nparts = 1; /* a list for one of three */
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EINVAL);
}

static void test_coll_values(void)
{
	struct ddio_msg_coll_data d = { .op = 1, .block = DDIO_MAX_FILE / DDIO_MIN_BLOCK };
	struct ddio_want one = { 0 };
	struct ddio_msg_coll_want w = { .op = 1, .n = 1, .want = &one };
	struct ddio_msg_coll_done done = { .op = 1 };
	struct ddio_msg_coll_abort abort_msg = { .status = DDIO_ST_CANCELLED };

	CU_ASSERT_EQUAL(judge("coll_data", &d), 0);
	d.block++;
	CU_ASSERT_EQUAL(judge("coll_data", &d), -EMSGSIZE);
	d = (struct ddio_msg_coll_data){ .op = 0 };
	CU_ASSERT_EQUAL(judge("coll_data", &d), -EINVAL);
	CU_ASSERT_EQUAL(judge("coll_want", &w), 0);
	w.n = 0;
	CU_ASSERT_EQUAL(judge("coll_want", &w), -EINVAL);
	w.n = 1;
	one.reserved = 1;
	CU_ASSERT_EQUAL(judge("coll_want", &w), -EPROTO);
	CU_ASSERT_EQUAL(judge("coll_done", &done), 0);
	done.status = DDIO_ST_MAX;
	CU_ASSERT_EQUAL(judge("coll_done", &done), -EINVAL);
	CU_ASSERT_EQUAL(judge("coll_abort", &abort_msg), 0);
	abort_msg.status = DDIO_ST_OK;
	CU_ASSERT_EQUAL(judge("coll_abort", &abort_msg), -EINVAL);
}

static void test_group_values(void)
{
	struct ddio_msg_attach at = { .rank = 3, .size = 4 };
	struct ddio_msg_exchange x = { .lo = 5, .hi = 5 };
	struct ddio_msg_fan fan = { .rank = 1 };

	CU_ASSERT_EQUAL(judge("attach", &at), 0);
	at.rank = 4;
	CU_ASSERT_EQUAL(judge("attach", &at), -EINVAL);
	at.size = DDIO_MAX_MEMBERS + 1;
	CU_ASSERT_EQUAL(judge("attach", &at), -EMSGSIZE);
	CU_ASSERT_EQUAL(judge("exchange", &x), 0);
	x.hi = 4;
	CU_ASSERT_EQUAL(judge("exchange", &x), -EINVAL);
	x.hi = DDIO_MAX_FILE + 1;
	CU_ASSERT_EQUAL(judge("exchange", &x), -EMSGSIZE);
	CU_ASSERT_EQUAL(judge("fan", &fan), 0);
	fan.status = DDIO_ST_MAX;
	CU_ASSERT_EQUAL(judge("fan", &fan), -EINVAL);
	fan.status = 0;
	fan.rank = DDIO_MAX_MEMBERS;
	CU_ASSERT_EQUAL(judge("fan", &fan), -EMSGSIZE);
}

/* A count that the payload cannot hold is refused as malformed, whatever it would cost. */
static void huge_count(const char *name, size_t at, uint32_t count)
{
	const struct codec *c = codec_find(name);
	struct rnd r = { 99 };
	union any_message in, out;
	size_t len = 0;
	uint8_t *buf;

	memset(&in, 0, sizeof(in));
	c->gen(&r, &in);
	buf = encode(c, &in, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(buf);
	memcpy(buf + at, &(uint32_t){ htole32(count) }, 4);
	CU_ASSERT_NOT_EQUAL(c->get(buf, len, &out), 0);
	free(buf);
	c->free(&in);
}

static void test_counts_against_length(void)
{
	static const uint32_t counts[] = { 4096, 65536, 1u << 20, 0x7fffffff, 0xffffffff };
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		huge_count("ns_listing", 0, counts[i]);
		huge_count("extents", 0, counts[i]);
		huge_count("obj_list", 0, counts[i]);
		huge_count("coll_want", 12, counts[i]);
		huge_count("group_table", 16, counts[i]);
		huge_count("welcome", 12, counts[i]);
		huge_count("record", 52, counts[i]);
		huge_count("status", 64, counts[i]);
	}
}

/*
 * Headers
 */
static int header_err(uint16_t opcode, uint32_t flags, uint32_t status, uint64_t length)
{
	const struct ddio_msg in = { DDIO_WIRE_VERSION, opcode, flags, status, 1, length };
	uint8_t buf[DDIO_WIRE_HEADER_LEN];
	struct ddio_msg out;

	ddio_put_header(buf, &in);
	return ddio_get_header(buf, &out);
}

static void test_header_bytes(void)
{
	static const uint8_t right[DDIO_WIRE_HEADER_LEN] = {
		'D', 'D', 'I',	'O',  1,    0,	  48,	0,    1,    0, 0, 0, 11, 0, 0, 0,
		8,   7,	  0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x05, 1, 0, 0, 0,	 0, 0, 0
	};
	const struct ddio_msg in = { 1,		 DDIO_OP_OBJ_READ,	DDIO_WIRE_REPLY,
				     DDIO_ST_IO, 0x1122334455660708ull, 0x105 };
	uint8_t buf[DDIO_WIRE_HEADER_LEN];
	struct ddio_msg out;

	ddio_put_header(buf, &in);
	CU_ASSERT_EQUAL(memcmp(buf, right, sizeof(buf)), 0);
	CU_ASSERT_EQUAL(ddio_get_header(buf, &out), 0);
	CU_ASSERT_EQUAL(out.version, in.version);
	CU_ASSERT_EQUAL(out.opcode, in.opcode);
	CU_ASSERT_EQUAL(out.flags, in.flags);
	CU_ASSERT_EQUAL(out.status, in.status);
	CU_ASSERT_EQUAL(out.tag, in.tag);
	CU_ASSERT_EQUAL(out.length, in.length);
	buf[0] ^= 1;
	CU_ASSERT_EQUAL(ddio_get_header(buf, &out), -EPROTO);
}

static void test_header_versions(void)
{
	struct ddio_msg in = { DDIO_WIRE_VERSION + 1, DDIO_OP_PING, 0, 0, 0, 0 }, out;
	uint8_t buf[DDIO_WIRE_HEADER_LEN];

	ddio_put_header(buf, &in);
	CU_ASSERT_EQUAL(ddio_get_header(buf, &out), -EPROTONOSUPPORT);
	in.version = 0;
	ddio_put_header(buf, &in);
	CU_ASSERT_EQUAL(ddio_get_header(buf, &out), -EPROTONOSUPPORT);
	in.version = DDIO_WIRE_VERSION + 1;
	in.opcode = DDIO_OP_HELLO; /* may come from the future */
	ddio_put_header(buf, &in);
	CU_ASSERT_EQUAL(ddio_get_header(buf, &out), 0);
	in.opcode = DDIO_OP_REFUSE;
	ddio_put_header(buf, &in);
	CU_ASSERT_EQUAL(ddio_get_header(buf, &out), 0);
}

static void test_header_limits(void)
{
	uint64_t limit;
	uint32_t op;
	int reply;

	for (op = 0; op < 300; op++) {
		for (reply = 0; reply < 2; reply++) {
			limit = ddio_opcode_limit(op, reply);
			if (!limit) {
				CU_ASSERT_NOT_EQUAL(header_err((uint16_t)op, reply, 0, 64), 0);
				continue;
			}
			CU_ASSERT_EQUAL(header_err((uint16_t)op, reply, 0, limit), 0);
			CU_ASSERT_EQUAL(header_err((uint16_t)op, reply, 0, limit + 1), -EMSGSIZE);
			CU_ASSERT_EQUAL(header_err((uint16_t)op, reply, 0, UINT64_MAX), -EMSGSIZE);
		}
	}
	CU_ASSERT_EQUAL(header_err(0, 0, 0, 0), -EOPNOTSUPP);
	CU_ASSERT_EQUAL(header_err(999, 0, 0, 0), -EOPNOTSUPP);
	CU_ASSERT_EQUAL(header_err(DDIO_OP_PING, 2, 0, 0), -EOPNOTSUPP);
	/* a request with a status; a reply to what has none; an error's text */
	CU_ASSERT_EQUAL(header_err(DDIO_OP_PING, 0, 5, 0), -EPROTO);
	CU_ASSERT_EQUAL(header_err(DDIO_OP_COLL_DONE, 0, 5, 0), 0);
	CU_ASSERT_EQUAL(header_err(DDIO_OP_COLL_START, DDIO_WIRE_REPLY, 0, 0), -EPROTO);
	CU_ASSERT_EQUAL(header_err(DDIO_OP_HELLO, DDIO_WIRE_REPLY, 0, 0), -EPROTO);
	CU_ASSERT_EQUAL(header_err(DDIO_OP_OBJ_READ, DDIO_WIRE_REPLY, 5, 0), 0);
	CU_ASSERT_EQUAL(header_err(DDIO_OP_OBJ_READ, DDIO_WIRE_REPLY, 5, DDIO_MAX_TEXT - 1), 0);
	CU_ASSERT_EQUAL(header_err(DDIO_OP_OBJ_READ, DDIO_WIRE_REPLY, 5, DDIO_MAX_TEXT), -EMSGSIZE);
}

/* The table of bulk prefixes and the codecs of the fixed records agree. */
static void test_bulk_prefixes(void)
{
	struct rnd r = { 31 };
	size_t i, bulks = 0;

	for (i = 0; i < 2 * NCARRIED; i++) {
		const struct carried *what = &carried[i / 2];
		const char *name = i & 1 ? what->reply : what->request;
		size_t prefix = ddio_opcode_bulk_prefix(what->opcode, i & 1);
		union any_message x;

		CU_ASSERT_EQUAL(ddio_opcode_is_bulk(what->opcode, i & 1), prefix != 0);
		if (!prefix)
			continue;
		memset(&x, 0, sizeof(x));
		codec_find(name)->gen(&r, &x);
		CU_ASSERT_EQUAL(codec_find(name)->put(NULL, 0, &x), (ssize_t)prefix);
		CU_ASSERT_EQUAL(header_err(what->opcode, i & 1, 0, prefix - 1), -EPROTO);
		CU_ASSERT_EQUAL(header_err(what->opcode, i & 1, 0, prefix), 0);
		CU_ASSERT_EQUAL(header_err(what->opcode, i & 1, 0, prefix + DDIO_MAX_BULK), 0);
		bulks++;
	}
	CU_ASSERT_EQUAL(bulks, 5);
	CU_ASSERT_FALSE(ddio_msg_is_bulk(&(struct ddio_msg){
		.opcode = DDIO_OP_OBJ_READ, .flags = DDIO_WIRE_REPLY, .status = DDIO_ST_IO }));
	CU_ASSERT_TRUE(ddio_msg_is_bulk(
		&(struct ddio_msg){ .opcode = DDIO_OP_OBJ_READ, .flags = DDIO_WIRE_REPLY }));
}

static void test_text(void)
{
	char long_text[DDIO_MAX_TEXT], text[DDIO_MAX_TEXT];

	memset(long_text, 'x', sizeof(long_text));
	CU_ASSERT_EQUAL(ddio_get_text(NULL, 0, text), 0);
	CU_ASSERT_STRING_EQUAL(text, "");
	CU_ASSERT_EQUAL(ddio_get_text("disk d3 failed", 14, text), 0);
	CU_ASSERT_STRING_EQUAL(text, "disk d3 failed");
	CU_ASSERT_EQUAL(ddio_get_text(long_text, DDIO_MAX_TEXT - 1, text), 0);
	CU_ASSERT_EQUAL(strlen(text), DDIO_MAX_TEXT - 1);
	CU_ASSERT_EQUAL(ddio_get_text(long_text, DDIO_MAX_TEXT, text), -EMSGSIZE);
	CU_ASSERT_EQUAL(ddio_get_text("a\0b", 3, text), -EPROTO);
}

/*
 * Names and status numbers
 */
static void test_names(void)
{
	uint32_t i, known = 0;

	for (i = 0; i < 200; i++)
		known += strcmp(ddio_opcode_name(i), "unknown") != 0;
	CU_ASSERT_EQUAL(known, NCARRIED);
	for (i = 0; i < NCARRIED; i++)
		CU_ASSERT_STRING_NOT_EQUAL(ddio_opcode_name(carried[i].opcode), "unknown");
	CU_ASSERT_STRING_EQUAL(ddio_opcode_name(DDIO_OP_COLL_PIECE), "COLL_PIECE");
	CU_ASSERT_STRING_EQUAL(ddio_opcode_name(UINT32_MAX), "unknown");
	CU_ASSERT_STRING_EQUAL(ddio_status_name(DDIO_ST_MEMBER_LOST), "MEMBER_LOST");
	CU_ASSERT_STRING_EQUAL(ddio_status_name(DDIO_ST_MAX), "unknown");
	CU_ASSERT_STRING_EQUAL(ddio_status_text(UINT32_MAX), "unknown");
}

static void test_status(void)
{
	uint32_t a, b;

	for (a = 0; a < DDIO_ST_MAX; a++) {
		CU_ASSERT_EQUAL(ddio_status_from_errno(ddio_status_to_errno(a)), a);
		CU_ASSERT(strlen(ddio_status_name(a)) > 0 && strlen(ddio_status_text(a)) > 0);
		for (b = 0; b < a; b++)
			CU_ASSERT_NOT_EQUAL(ddio_status_to_errno(a), ddio_status_to_errno(b));
	}
	CU_ASSERT_EQUAL(ddio_status_to_errno(DDIO_ST_OK), 0);
	CU_ASSERT_EQUAL(ddio_status_to_errno(DDIO_ST_MEMBER_LOST), -ECONNABORTED);
	CU_ASSERT_EQUAL(ddio_status_to_errno(DDIO_ST_NODE_LOST), -EHOSTDOWN);
	CU_ASSERT_EQUAL(ddio_status_to_errno(DDIO_ST_MISMATCH), -EBADE);
	CU_ASSERT_EQUAL(ddio_status_to_errno(DDIO_ST_OVERLAP), -EBADSLT);
	CU_ASSERT_EQUAL(ddio_status_to_errno(DDIO_ST_MAX), -EIO);
	CU_ASSERT_EQUAL(ddio_status_to_errno(UINT32_MAX), -EIO);
	CU_ASSERT_EQUAL(ddio_status_from_errno(-EXDEV), DDIO_ST_IO);
	CU_ASSERT_EQUAL(ddio_status_from_errno(-EMSGSIZE), DDIO_ST_TOO_BIG);
	CU_ASSERT_EQUAL(ddio_status_from_errno(-EOVERFLOW), DDIO_ST_RANGE);
	CU_ASSERT_EQUAL(ddio_status_from_errno(-EPERM), DDIO_ST_PERMISSION);
	/* a positive number is no error of ours */
	CU_ASSERT_EQUAL(ddio_status_from_errno(EINVAL), DDIO_ST_IO);
}

static const struct ut_case codec_cases[] = {
	{ "round trips", test_round_trips },
	{ "every length but the right one is refused", test_every_length },
	{ "flipped bytes are refused or understood", test_flipped_bytes },
	{ "counts against the payload's length", test_counts_against_length },
	{ "strings", test_strings },
	{ NULL, NULL },
};

static const struct ut_case value_cases[] = {
	{ "HELLO", test_hello_values },
	{ "WELCOME", test_welcome_values },
	{ "file records", test_record_values },
	{ "stripes", test_record_stripe },
	{ "NS_CREATE", test_create_values },
	{ "objects", test_obj_values },
	{ "parts", test_parts },
	{ "COLL_START", test_coll_start },
	{ "collective messages", test_coll_values },
	{ "group messages", test_group_values },
	{ NULL, NULL },
};

static const struct ut_case header_cases[] = {
	{ "bytes", test_header_bytes },	   { "versions", test_header_versions },
	{ "limits", test_header_limits },  { "bulk prefixes", test_bulk_prefixes },
	{ "error texts", test_text },	   { "names", test_names },
	{ "status numbers", test_status }, { NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "codecs", codec_cases },
		{ "values", value_cases },
		{ "headers", header_cases },
	};

	return ut_run("proto", suites, sizeof(suites) / sizeof(suites[0]));
}
