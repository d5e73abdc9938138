// SPDX-License-Identifier: GPL-2.0-only
/* What each message may say: values at their limits and beyond. */
#include "tests/unit/lib/ut_hex.h"
#include "tests/unit/proto/proto_ut.h"

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
	struct ddio_msg_ns_create x = { .rec = good_record(disks, 4), .path = "dir/matrix" };

	x.rec.name[0] = '\0';
	CU_ASSERT_EQUAL(judge("ns_create", &x), -EINVAL); /* has an id */
	x.rec.ref.id = 0;
	CU_ASSERT_EQUAL(judge("ns_create", &x), 0);
	x.flags = DDIO_NS_DIR;
	CU_ASSERT_EQUAL(judge("ns_create", &x), 0);
	x.flags = DDIO_NS_DIR << 1;
	CU_ASSERT_EQUAL(judge("ns_create", &x), -EPROTO);
	x.flags = DDIO_NS_EXCL;
	x.rec.mtime_ns = 1;
	CU_ASSERT_EQUAL(judge("ns_create", &x), -EINVAL);
	x.rec.mtime_ns = 0;
	x.mode = 01000;
	CU_ASSERT_EQUAL(judge("ns_create", &x), -EINVAL);
	x.mode = 0777;
	CU_ASSERT_EQUAL(judge("ns_create", &x), 0);
	x.rec.name[0] = 'a'; /* it is the path that counts */
	CU_ASSERT_EQUAL(judge("ns_create", &x), -EINVAL);
	x.rec.name[0] = '\0';
	x.path[0] = '\0';
	CU_ASSERT_EQUAL(judge("ns_create", &x), -EINVAL);
}

static void test_strings(void)
{
	struct ddio_msg_ns_name x = { .id = 1 }, y;
	uint8_t buf[8192] = { 0 };
	ssize_t n;

	memset(x.path, 'n', DDIO_MAX_PATH);
	n = ddio_put_ns_name(buf, sizeof(buf), &x);
	CU_ASSERT_EQUAL(n, 8 + 2 + DDIO_MAX_PATH);
	CU_ASSERT_EQUAL(ddio_get_ns_name(buf, n, &y), 0);
	CU_ASSERT_STRING_EQUAL(y.path, x.path);
	buf[20] = 0; /* NUL inside */
	CU_ASSERT_EQUAL(ddio_get_ns_name(buf, n, &y), -EPROTO);
	buf[8] = 0; /* length 4096 */
	buf[9] = 16;
	CU_ASSERT_EQUAL(ddio_get_ns_name(buf, 8 + 2 + 4096, &y), -EMSGSIZE);
	memset(x.path, 'n', sizeof(x.path)); /* not terminated at all */
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
	x.role = 5;
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
	x.names_ends = (struct ddio_ends){ .known = true, .n = DDIO_ENDS };
	CU_ASSERT_EQUAL(judge("welcome", &x), -EINVAL);
	memset(x.names_ends.boot, 1, sizeof(x.names_ends.boot));
	CU_ASSERT_EQUAL(judge("welcome", &x), 0);
	x.names_ends.known = false;
	CU_ASSERT_EQUAL(judge("welcome", &x), -EINVAL);
}

static void test_obj_values(void)
{
	struct ddio_msg_obj x = { .file = { .id = 1, .block = 512 } }, twin;
	uint8_t buf[64];
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
	x.flags = DDIO_OBJ_DURABLE << 1;
	CU_ASSERT_EQUAL(judge("obj", &x), -EPROTO);
	x.flags = 0;
	x.offset = DDIO_MAX_FILE;
	CU_ASSERT_EQUAL(judge("obj", &x), 0);
	x.len = 1;
	CU_ASSERT_EQUAL(judge("obj", &x), -EMSGSIZE);
	x.offset = UINT64_MAX;
	CU_ASSERT_EQUAL(judge("obj", &x), -EMSGSIZE);
	/* The number of a stream is there only if the flag says so. */
	x = (struct ddio_msg_obj){ .flags = DDIO_OBJ_STREAM, .stream = 77 };
	CU_ASSERT_EQUAL(judge("obj", &x), 0);
	CU_ASSERT_EQUAL(ddio_put_obj(buf, sizeof(buf), &x), 56);
	CU_ASSERT_EQUAL(ddio_get_obj(buf, 48, &twin), -EPROTO);
	CU_ASSERT_EQUAL(ddio_get_obj(buf, 56, &twin), 0);
	CU_ASSERT_EQUAL(twin.stream, 77);
	x.flags = 0;
	CU_ASSERT_EQUAL(ddio_put_obj(buf, sizeof(buf), &x), 48);
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
	struct ddio_tree_node node = { .kind = DDIO_TREE_LEAF, .n = 1 };
	struct ddio_tree tree = { 1, &node, 0, NULL };
	struct ddio_view v = { .tree = &tree, .len = 1 };

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
	p = (struct ddio_part){ .kind = DDIO_PART_VIEW, .n = 1, .view = &v };
	CU_ASSERT_EQUAL(judge("part", &p), 0);
	node.kind = 4;
	CU_ASSERT_EQUAL(judge("part", &p), -EINVAL);
	node = (struct ddio_tree_node){ .kind = DDIO_TREE_LEAF, .reserved = 1 };
	CU_ASSERT_EQUAL(judge("part", &p), -EPROTO);
	node.reserved = 0;
	v.offset = DDIO_MAX_FILE + 1;
	CU_ASSERT_EQUAL(judge("part", &p), -EMSGSIZE);
	v.offset = 0;
	v.len = DDIO_MAX_FILE + 1;
	CU_ASSERT_EQUAL(judge("part", &p), -EMSGSIZE);
	p = (struct ddio_part){ .kind = 5 };
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
	x.flags = DDIO_COLL_NEED << 1;
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EPROTO);
	x.flags = DDIO_COLL_SHORT;
	CU_ASSERT_EQUAL(judge("coll_start", &x), 0);
	x.flags = DDIO_COLL_SHORT | DDIO_COLL_WRITE;
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

static void test_families(void)
{
	static uint32_t disks[DDIO_MAX_DISKS];
	struct ddio_view v[2] = { { .offset = 1 }, { .offset = 2 } };
	struct ddio_part p[2] = { { .kind = DDIO_PART_VIEW, .n = 1, .view = v },
				  { .kind = DDIO_PART_VIEW } };
	struct ddio_kin kin[2] = { { .part = &p[0], .rows = { 1, 0, { { .count = 3 } } } },
				   { .part = &p[1] } };
	struct ddio_msg_coll_start x = { .op = 1,
					 .flags = DDIO_COLL_FAMILIES,
					 .nprocs = 4,
					 .file = good_record(disks, 2),
					 .crowd = { .kind = DDIO_PART_VIEW, .n = 2, .kin = kin } };
	uint32_t i;

	CU_ASSERT_EQUAL(judge("coll_start", &x), 0);
	p[0].n = 2;
	CU_ASSERT_EQUAL(judge("coll_start", &x), 0);
	x.crowd.first = 1;
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EINVAL);
	x.crowd.first = 0;
	x.crowd.kind = DDIO_PART_ARRAY;
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EINVAL);
	x.crowd.kind = DDIO_PART_VIEW;
	kin[0].rows.level[0].count = 4;
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EINVAL);
	kin[0].rows.level[0].count = 2;
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EINVAL);
	x.nprocs = 2;
	kin[0].rows.level[0].count = 1;
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EINVAL);
	kin[0].rows.nlevels = 0;
	CU_ASSERT_EQUAL(judge("coll_start", &x), 0);
	x.crowd.n = 0;
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EINVAL);
	x.crowd.n = 2;
	kin[1].rows.nlevels = 4; /* 2^80 members */
	for (i = 0; i < 4; i++)
		kin[1].rows.level[i].count = DDIO_MAX_MEMBERS;
	CU_ASSERT_EQUAL(judge("coll_start", &x), -EMSGSIZE);
}

/* A short message does not make a reader work for a day: entries of all members count. */
static void test_crowd_entries(void)
{
	static struct ddio_extent e[32];
	struct ddio_part p = { .kind = DDIO_PART_LIST, .n = 16, .list = e };
	struct ddio_kin kin = { .part = &p,
				.rows = { 1, 0, { { .count = DDIO_MAX_MEMBERS, .offset = 8 } } } };
	struct ddio_crowd crowd = { .kind = DDIO_PART_LIST, .n = 1, .kin = &kin };

	CU_ASSERT_EQUAL(judge("crowd", &crowd), 0);
	p.n = 17;
	CU_ASSERT_EQUAL(judge("crowd", &crowd), -E2BIG);
}

/* What could be said in two ways is refused in the longer one. */
static void test_crowd_forms(void)
{
	static const struct {
		const char *bytes;
		int err;
	} tries[] = {
		{ "00 03 01 00 01 02 01", 0 },
		{ "8000 03 01 00 01 02 01", -EPROTO },		       /* a zero at the end */
		{ "00 03 01 00 01 ffffffffffffffffff02 01", -EPROTO }, /* 65 bits */
		{ "00 03 02 00 01 02 01 10 02", 0 },		       /* the same, 1 on */
		{ "00 03 02 00 01 02 01 00 01 04 01", -EPROTO },       /* that in full */
		{ "00 03 01 10 02", -EINVAL },			       /* as which? */
		{ "00 03 01 08 01 02 01", -EINVAL },		       /* a list has no skip */
		{ "00 04 01 09 02 00 00 01 00 00 00", -EPROTO },       /* no skip after all */
		{ "00 04 01 00 01 04 00 00 00", -EPROTO },	       /* of a view, too */
		{ "00 04 01 00 01 08 00 00 00", -EPROTO },	       /* no extent */
		{ "00 04 01 00 01 02 00 00", -EINVAL },		       /* the tree of which? */
		{ "00 04 01 00 02 01 00 01 01 00 01 08 01 00 01 01 00 01 08", -EPROTO },
		{ "00 04 01 00 02 01 00 01 01 00 01 08 02 00 01", 0 },
		{ "00 04 02 00 00 10 02 00", -EPROTO }, /* nothing, but elsewhere */
	};
	struct ddio_crowd crowd;
	uint8_t *buf;
	size_t i, len;

	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		buf = ut_hex(tries[i].bytes, &len);
		CU_ASSERT_EQUAL(ddio_get_crowd(buf, len, &crowd), tries[i].err);
		ddio_crowd_free(&crowd);
		free(buf);
	}
}

static void test_coll_values(void)
{
	struct ddio_msg_coll_data d = { .op = 1, .block = DDIO_MAX_FILE / DDIO_MIN_BLOCK };
	struct ddio_want one = { 0 };
	struct ddio_msg_coll_want w = { .op = 1, .n = 1, .want = &one };
	struct ddio_msg_coll_done done = { .op = 1 };
	struct ddio_msg_coll_abort abort_msg = { .status = DDIO_ST_CANCELLED };
	struct ddio_msg_joint joint = { .name = "x" };
	struct ddio_msg_coll_join join = { .op = 1 };

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
	CU_ASSERT_EQUAL(judge("joint", &joint), 0);
	joint.name[0] = '\0';
	CU_ASSERT_EQUAL(judge("joint", &joint), -EINVAL);
	CU_ASSERT_EQUAL(judge("coll_join", &join), 0);
	join.op = 0;
	CU_ASSERT_EQUAL(judge("coll_join", &join), -EINVAL);
}

static void test_mux_values(void)
{
	struct ddio_msg_mux_open open = { .id = UINT32_MAX };
	struct ddio_msg_mux_data data = { .id = 1 };
	struct ddio_msg_mux_window window = { .id = 1, .bytes = DDIO_MUX_WINDOW };
	struct ddio_msg_mux_part part = { .id = 1, .bytes = DDIO_MAX_MUX_PARTS };
	struct ddio_msg_mux_end end = { .id = 1, .status = DDIO_ST_MAX - 1 };

	CU_ASSERT_EQUAL(judge("mux_open", &open), 0);
	open.id = 0;
	CU_ASSERT_EQUAL(judge("mux_open", &open), -EINVAL);
	CU_ASSERT_EQUAL(judge("mux_data", &data), 0);
	data.id = 0;
	CU_ASSERT_EQUAL(judge("mux_data", &data), -EINVAL);
	CU_ASSERT_EQUAL(judge("mux_window", &window), 0);
	window.bytes++;
	CU_ASSERT_EQUAL(judge("mux_window", &window), -EMSGSIZE);
	window.bytes = 0;
	CU_ASSERT_EQUAL(judge("mux_window", &window), -EINVAL);
	CU_ASSERT_EQUAL(judge("mux_part", &part), 0);
	part.bytes++;
	CU_ASSERT_EQUAL(judge("mux_part", &part), -EMSGSIZE);
	part.bytes = 0;
	CU_ASSERT_EQUAL(judge("mux_part", &part), -EINVAL);
	CU_ASSERT_EQUAL(judge("mux_end", &end), 0);
	end.status++;
	CU_ASSERT_EQUAL(judge("mux_end", &end), -EINVAL);
}

static void test_share_values(void)
{
	struct ddio_msg_share share = { .writing = 1, .name = "x" };
	struct ddio_msg_memory memory = { .name = "x" };
	struct ddio_msg_share_taken taken = { .writing = 1 };
	struct ddio_msg_show show = { .disk = UINT32_MAX, .name = "x" };
	struct ddio_slot_at at = { .len = DDIO_MAX_BLOCK, .flags = DDIO_SLOT_PACKED };
	struct ddio_msg_coll_slots slots = { .op = 1, .n = 1, .at = &at };
	struct ddio_copied one = { .block = DDIO_MAX_FILE / DDIO_MIN_BLOCK };
	struct ddio_msg_coll_copied copied = { .op = 1, .n = 1, .copied = &one };

	CU_ASSERT_EQUAL(judge("share", &share), 0);
	share.writing = 2;
	CU_ASSERT_EQUAL(judge("share", &share), -EINVAL);
	share = (struct ddio_msg_share){ .name = "" };
	CU_ASSERT_EQUAL(judge("share", &share), -EINVAL);
	CU_ASSERT_EQUAL(judge("show", &show), 0);
	show.name[0] = '\0';
	CU_ASSERT_EQUAL(judge("show", &show), -EINVAL);
	CU_ASSERT_EQUAL(judge("share_taken", &taken), 0);
	CU_ASSERT_EQUAL(judge("memory", &memory), 0);
	memory.name[0] = '\0';
	CU_ASSERT_EQUAL(judge("memory", &memory), -EINVAL);
	taken.writing = 2;
	CU_ASSERT_EQUAL(judge("share_taken", &taken), -EINVAL);
	CU_ASSERT_EQUAL(judge("coll_slots", &slots), 0);
	at.flags = 2;
	CU_ASSERT_EQUAL(judge("coll_slots", &slots), -EPROTO);
	at = (struct ddio_slot_at){ .len = DDIO_MAX_BLOCK + 1 };
	CU_ASSERT_EQUAL(judge("coll_slots", &slots), -EMSGSIZE);
	at.len = 0;
	CU_ASSERT_EQUAL(judge("coll_slots", &slots), -EINVAL);
	slots.n = 0;
	CU_ASSERT_EQUAL(judge("coll_slots", &slots), -EINVAL);
	CU_ASSERT_EQUAL(judge("coll_copied", &copied), 0);
	one.block++;
	CU_ASSERT_EQUAL(judge("coll_copied", &copied), -EMSGSIZE);
	copied.n = 0;
	CU_ASSERT_EQUAL(judge("coll_copied", &copied), -EINVAL);
}

static void test_group_values(void)
{
	struct ddio_msg_attach at = { .rank = 3, .size = 4 };
	struct ddio_msg_exchange x = { .lo = 5, .hi = 5 };
	struct ddio_msg_fan fan = { .rank = 1 };
	struct ddio_msg_counter counter = { .action = DDIO_COUNTER_SET };

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
	CU_ASSERT_EQUAL(judge("counter", &counter), 0);
	counter.action = DDIO_COUNTER_MAX;
	CU_ASSERT_EQUAL(judge("counter", &counter), -EINVAL);
	counter.action = 0;
	CU_ASSERT_EQUAL(judge("counter", &counter), -EINVAL);
	counter.action = DDIO_COUNTER_ADD;
	counter.status = DDIO_ST_MAX;
	CU_ASSERT_EQUAL(judge("counter", &counter), -EINVAL);
	counter.status = DDIO_ST_RANGE;
	counter.rank = DDIO_MAX_MEMBERS;
	CU_ASSERT_EQUAL(judge("counter", &counter), -EMSGSIZE);
}

static const struct ut_case value_cases[] = {
	{ "strings", test_strings },
	{ "HELLO", test_hello_values },
	{ "WELCOME", test_welcome_values },
	{ "file records", test_record_values },
	{ "stripes", test_record_stripe },
	{ "NS_CREATE", test_create_values },
	{ "objects", test_obj_values },
	{ "parts", test_parts },
	{ "families", test_families },
	{ "crowd_entries", test_crowd_entries },
	{ "crowd_forms", test_crowd_forms },
	{ "COLL_START", test_coll_start },
	{ "collective messages", test_coll_values },
	{ "shared buffers", test_share_values },
	{ "streams that are carried", test_mux_values },
	{ "group messages", test_group_values },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "values", value_cases },
	};

	return ut_run("proto_values", suites, sizeof(suites) / sizeof(suites[0]));
}
