// SPDX-License-Identifier: GPL-2.0-only
/* Round trips and refusals of every codec, headers, status numbers. */
#include "tests/unit/proto/proto_ut.h"

enum { ROUNDS = 200 };

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

/* A message may end where something begins that may be left out: then these are its bytes. */
static void refused_or_whole(const struct codec *c, const uint8_t *part, size_t n)
{
	union any_message out;
	uint8_t *again;
	size_t len = 0;

	if (c->get(part, n, &out))
		return;
	CU_ASSERT(!strcmp(c->name, "welcome") || !strcmp(c->name, "fs_wrote"));
	again = encode(c, &out, &len);
	CU_ASSERT(again && len == n && !memcmp(again, part, n));
	free(again);
	c->free(&out);
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
			refused_or_whole(c, part, n);
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
		huge_count("fs_entries", 0, counts[i]);
		huge_count("fs_value", 0, counts[i]);
		huge_count("obj_list", 0, counts[i]);
		huge_count("coll_want", 12, counts[i]);
		huge_count("group_table", 20, counts[i]);
		huge_count("welcome", 12, counts[i]);
		huge_count("record", 52, counts[i]);
		huge_count("status", 64, counts[i]);
		huge_count("bounds", 0, counts[i]);
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
		'D', 'D', 'I',	'O',  2,    0,	  48,	0,    1,    0, 0, 0, 11, 0, 0, 0,
		8,   7,	  0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x05, 1, 0, 0, 0,	 0, 0, 0
	};
	const struct ddio_msg in = { DDIO_WIRE_VERSION, DDIO_OP_OBJ_READ,      DDIO_WIRE_REPLY,
				     DDIO_ST_IO,	0x1122334455660708ull, 0x105 };
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
	size_t i, bulk, bulks = 0;

	for (i = 0; i < 2 * NCARRIED; i++) {
		const struct carried *what = &carried[i / 2];
		const char *name = i & 1 ? what->reply : what->request;
		size_t prefix = ddio_opcode_bulk_prefix(what->opcode, i & 1);
		union any_message x;

		CU_ASSERT_EQUAL(opcode_is_bulk(what->opcode, i & 1), prefix != 0);
		if (!prefix)
			continue;
		memset(&x, 0, sizeof(x));
		codec_find(name)->gen(&r, &x);
		CU_ASSERT_EQUAL(codec_find(name)->put(NULL, 0, &x), (ssize_t)prefix);
		CU_ASSERT_EQUAL(header_err(what->opcode, i & 1, 0, prefix - 1), -EPROTO);
		CU_ASSERT_EQUAL(header_err(what->opcode, i & 1, 0, prefix), 0);
		bulk = what->opcode == DDIO_OP_MUX_DATA ? DDIO_MAX_MUX_DATA : DDIO_MAX_BULK;
		CU_ASSERT_EQUAL(header_err(what->opcode, i & 1, 0, prefix + bulk), 0);
		CU_ASSERT_EQUAL(header_err(what->opcode, i & 1, 0, prefix + bulk + 1), -EMSGSIZE);
		bulks++;
	}
	CU_ASSERT_EQUAL(bulks, 6);
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
	CU_ASSERT_STRING_EQUAL(status_name(DDIO_ST_MEMBER_LOST), "MEMBER_LOST");
	CU_ASSERT_STRING_EQUAL(status_name(DDIO_ST_MAX), "unknown");
	CU_ASSERT_STRING_EQUAL(ddio_status_text(UINT32_MAX), "unknown");
}

static void test_status(void)
{
	uint32_t a, b;

	for (a = 0; a < DDIO_ST_MAX; a++) {
		CU_ASSERT_EQUAL(ddio_status_from_errno(ddio_status_to_errno(a)), a);
		CU_ASSERT(strlen(status_name(a)) > 0 && strlen(ddio_status_text(a)) > 0);
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
	CU_ASSERT_EQUAL(ddio_status_from_errno(-EXDEV), DDIO_ST_CROSS);
	CU_ASSERT_EQUAL(ddio_status_from_errno(-ETXTBSY), DDIO_ST_IO);
	CU_ASSERT_EQUAL(ddio_status_from_errno(-EMSGSIZE), DDIO_ST_TOO_BIG);
	CU_ASSERT_EQUAL(ddio_status_from_errno(-EOVERFLOW), DDIO_ST_RANGE);
	CU_ASSERT_EQUAL(ddio_status_from_errno(-EPERM), DDIO_ST_NOT_PERMITTED);
	/* a positive number is no error of ours */
	CU_ASSERT_EQUAL(ddio_status_from_errno(EINVAL), DDIO_ST_IO);
}

/* Returns true if a row of a table of the document begins with these two columns. */
static bool row_in_document(FILE *doc, uint32_t number, const char *name)
{
	char line[256], word[64];
	unsigned int n;

	rewind(doc);
	while (fgets(line, sizeof(line), doc))
		if (sscanf(line, "%u %63s", &n, word) == 2 && n == number && !strcmp(word, name))
			return true;
	printf("not in the document: %u %s\n", number, name);
	return false;
}

static void test_document(void)
{
	FILE *doc = fopen("Documentation/protocol.rst", "r");
	uint32_t i;

	CU_ASSERT_PTR_NOT_NULL_FATAL(doc); /* tests run at the top of the tree */
	for (i = DDIO_OP_PING; i < 200; i++)
		if (ddio_opcode_limit(i, false))
			CU_ASSERT_TRUE(row_in_document(doc, i, ddio_opcode_name(i)));
	for (i = 0; i < DDIO_ST_MAX; i++)
		CU_ASSERT_TRUE(row_in_document(doc, i, status_name(i)));
	fclose(doc);
}

static const struct ut_case codec_cases[] = {
	{ "round trips", test_round_trips },
	{ "every length but the right one is refused", test_every_length },
	{ "flipped bytes are refused or understood", test_flipped_bytes },
	{ "counts against the payload's length", test_counts_against_length },
	{ NULL, NULL },
};

static const struct ut_case header_cases[] = {
	{ "bytes", test_header_bytes },	  { "versions", test_header_versions },
	{ "limits", test_header_limits }, { "bulk prefixes", test_bulk_prefixes },
	{ "error texts", test_text },	  { NULL, NULL },
};

static const struct ut_case number_cases[] = {
	{ "names", test_names },
	{ "status numbers", test_status },
	{ "the document has them all", test_document },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "codecs", codec_cases },
		{ "headers", header_cases },
		{ "numbers", number_cases },
	};

	return ut_run("proto", suites, sizeof(suites) / sizeof(suites[0]));
}
