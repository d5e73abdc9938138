// SPDX-License-Identifier: GPL-2.0-only
/* What two ends remember of a stream: both the same, whatever is sent; and what a message costs that is like another. */
#include "tests/unit/lib/ut_nomem.h"

#include "userlib/proto/past/past.c"

#include <stdio.h>
#include "tests/fuzz/codecs_rnd.h"
#include "tests/unit/lib/ut.h"

static struct rnd rnd_new(void)
{
	const char *s = getenv("DDIO_SEED");
	struct rnd r = { s ? strtoull(s, NULL, 0) | 1 : 20261124 };

	printf("# DDIO_SEED=%llu\n", (unsigned long long)r.x);
	return r;
}

/* A stream from one end to the other. */
struct past_ends {
	struct ddio_past from, to;
};

/* Both ends have the same entries, in the same order, and no more than they may. */
static bool ends_agree(const struct past_ends *e)
{
	size_t bytes = 0;
	uint32_t i;

	if (e->from.n != e->to.n || e->from.n > DDIO_PAST_ENTRIES)
		return false;
	for (i = 0; i < e->from.n; i++) {
		const struct ddio_past_entry *a = &e->from.entry[i], *b = &e->to.entry[i];

		bytes += a->len;
		if (a->len != b->len || memcmp(a->data, b->data, a->len))
			return false;
	}
	return bytes == e->from.bytes && bytes == e->to.bytes && bytes <= DDIO_PAST_BYTES;
}

/* Encodes a message as it goes over the stream. */
static uint8_t *ends_put(struct past_ends *e, const void *data, size_t len, size_t *sent)
{
	struct ddio_past_code code;
	uint8_t *buf;

	ddio_past_put(&e->from, data, len, &code);
	*sent = code.len + (code.whole ? len : 0);
	buf = (malloc)(*sent); /* one that does not fail */
	memcpy(buf, code.bytes, code.len);
	if (code.whole && len)
		memcpy(buf + code.len, data, len);
	return buf;
}

/* Sends a message; returns the bytes that it cost. */
static size_t ends_send(struct past_ends *e, const void *data, size_t len)
{
	const void *got = NULL;
	size_t sent, got_len = 0;
	uint8_t *buf = ends_put(e, data, len, &sent);
	int err;

	err = ddio_past_get(&e->to, buf, sent, &got, &got_len);
	CU_ASSERT(err || (got_len == len && (!len || !memcmp(got, data, len))));
	free(buf);
	if (err) {
		CU_ASSERT(err == -ENOMEM && nomem_failures && !e->to.n);
		ddio_past_clear(&e->from); /* as after a step that failed */
		return sent;
	}
	/* Without memory at the writer the next message makes the reader forget. */
	CU_ASSERT(!e->from.n || ends_agree(e));
	return sent;
}

static void ends_free(struct past_ends *e)
{
	ddio_past_clear(&e->from);
	ddio_past_clear(&e->to);
}

/* The form of each kind of message, byte by byte. */
static void test_form(void)
{
	struct past_ends e = { 0 };
	size_t len;
	uint8_t *buf;

	buf = ends_put(&e, "abcdefgh", 8, &len);
	CU_ASSERT(len == 9 &&
		  !memcmp(buf, "\0abcdefgh", 9)); /* forget everything: this is the first */
	free(buf);
	buf = ends_put(&e, "12345", 5, &len);
	CU_ASSERT(len == 6 && !memcmp(buf, "\00112345", 6)); /* like no other */
	free(buf);
	buf = ends_put(&e, "abcdefgh", 8, &len);
	CU_ASSERT(len == 1 && buf[0] == 3); /* the last but one */
	free(buf);
	buf = ends_put(&e, "abcDEfgh", 8, &len);
	CU_ASSERT(len == 6 &&
		  !memcmp(buf, "\002\003\002\002DE", 6)); /* copy 3, leave out 2, insert 2 */
	free(buf);
	buf = ends_put(&e, "abcxfgh", 7, &len);
	CU_ASSERT(len == 5 && !memcmp(buf, "\002\003\002\001x", 5));
	free(buf);
	ends_free(&e);
}

/* A long message costs no more than where it differs. */
static void test_cost(void)
{
	struct past_ends e = { 0 };
	struct rnd r = rnd_new();
	uint8_t *data = malloc(100001), *other = malloc(50000);
	uint32_t i;

	rnd_bytes(&r, data, 100001);
	rnd_bytes(&r, other, 50000);
	CU_ASSERT_EQUAL(ends_send(&e, data, 100000), 100001);
	CU_ASSERT_EQUAL(ends_send(&e, data, 100000), 1);
	CU_ASSERT_EQUAL(ends_send(&e, other, 50000), 50001);
	/* By turns, each in a new form each time, which takes the place of the one before. */
	for (i = 0; i < 100; i++) {
		data[16] ^= 1;
		data[70000]++;
		CU_ASSERT(ends_send(&e, data, 100000 + i % 2) <= 20);
		other[i] ^= 1;
		CU_ASSERT(ends_send(&e, other, 50000) <= 8);
		CU_ASSERT_EQUAL(e.to.n, 2);
	}
	ends_free(&e);
	free(other);
	free(data);
}

/* Short ones are kept although they are alike, as long as there is room. */
static void test_turns(void)
{
	struct past_ends e = { 0 };
	uint8_t data[DDIO_PAST_ENTRIES + 1][60];
	uint32_t i, round;

	for (i = 0; i <= DDIO_PAST_ENTRIES; i++)
		memset(data[i], (int)(1 + i), 60);
	for (round = 0; round < 3; round++)
		for (i = 0; i < DDIO_PAST_ENTRIES; i++)
			CU_ASSERT(ends_send(&e, data[i], 60) == (round ? 1 : 61));
	CU_ASSERT_EQUAL(ends_send(&e, data[i], 60), 61); /* in the place of the first */
	CU_ASSERT_EQUAL(ends_send(&e, data[1], 60), 1);
	CU_ASSERT_EQUAL(ends_send(&e, data[0], 60), 61);
	ends_free(&e);
}

/* What is too long to be remembered is sent whole each time, and the others stay. */
static void test_long(void)
{
	struct past_ends e = { 0 };
	size_t len = DDIO_PAST_BYTES + 1;
	uint8_t *data = calloc(1, len);

	CU_ASSERT_EQUAL(ends_send(&e, data, len), len + 1);
	CU_ASSERT_EQUAL(ends_send(&e, "abc", 3), 4);
	memset(data, 1, len);
	CU_ASSERT_EQUAL(ends_send(&e, data, len), len + 1);
	CU_ASSERT_EQUAL(ends_send(&e, "abc", 3), 1);
	memset(data, 2, len);
	CU_ASSERT_EQUAL(ends_send(&e, data, len - 1),
			len); /* just not too long: takes the place of all */
	CU_ASSERT_EQUAL(e.to.n, 1);
	CU_ASSERT(ends_send(&e, data, len) <= 8); /* made of one that is not too long */
	CU_ASSERT_EQUAL(ends_send(&e, data, len - 1), 1);
	CU_ASSERT_EQUAL(ends_send(&e, "", 0), 1);
	ends_free(&e);
	free(data);
}

/* A message that is like an earlier one: some bytes changed, inserted or left out. */
static size_t change(struct rnd *r, uint8_t *data, size_t len, size_t cap)
{
	uint32_t n = (uint32_t)rnd_below(r, 6), i;
	size_t at, k;

	for (i = 0; i < n && len; i++) {
		at = rnd_below(r, len);
		k = rnd_below(r, 9);
		if (rnd_below(r, 3)) {
			data[at] = (uint8_t)rnd_u64(r);
		} else if (rnd_below(r, 2) && len + k <= cap) {
			memmove(data + at + k, data + at, len - at);
			rnd_bytes(r, data + at, k);
			len += k;
		} else if (k <= len - at) {
			memmove(data + at, data + at + k, len - at - k);
			len -= k;
		}
	}
	return len;
}

/* Whatever is sent, both ends remember the same; memory may be missing at either. */
static void test_random(void)
{
	enum { CAP = 3000, KINDS = 12 };
	static uint8_t data[KINDS][CAP];
	static const uint32_t small[] = { 0, 1, 50, 300 };
	size_t len[KINDS] = { 0 };
	struct past_ends e = { 0 };
	uint32_t i, k, n = ut_rounds(20000);
	struct rnd r = rnd_new();

	for (i = 0; i < n; i++) {
		k = (uint32_t)rnd_below(&r, KINDS);
		if (!rnd_below(&r, 20)) {
			len[k] = rnd_below(&r, 2) ? rnd_below(&r, CAP) : small[rnd_below(&r, 4)];
			rnd_bytes(&r, data[k], len[k]);
		} else if (rnd_below(&r, 2)) {
			len[k] = change(&r, data[k], len[k], CAP);
		}
		nomem_countdown = rnd_below(&r, 50) ? 0 : 1 + rnd_below(&r, 2);
		CU_ASSERT(ends_send(&e, data[k], len[k]) <= len[k] + 1);
		nomem_countdown = 0;
		if (!rnd_below(&r, 100)) /* after a step that failed */
			ddio_past_clear(&e.from);
	}
	ends_free(&e);
}

/* What the reader has no memory for is lost, and so is what is on its way to it then, until the writer begins anew. */
static void test_ahead(void)
{
	static const char *const text[] = { "one and one", "one and two", "one and one", "three" };
	struct past_ends e = { 0 };
	size_t sent[4], len;
	uint8_t *buf[4];
	const void *got;
	uint32_t i;

	ends_send(&e, text[0], strlen(text[0]));
	for (i = 0; i < 4; i++)
		buf[i] = ends_put(&e, text[i], strlen(text[i]), &sent[i]);
	CU_ASSERT_EQUAL(ddio_past_get(&e.to, buf[0], sent[0], &got, &len), 0);
	nomem_countdown = 1;
	for (i = 1; i < 4; i++)
		CU_ASSERT_EQUAL(ddio_past_get(&e.to, buf[i], sent[i], &got, &len), -ENOMEM);
	CU_ASSERT_EQUAL(nomem_countdown, 0);
	ddio_past_clear(&e.from); /* as after a step that failed */
	ends_send(&e, text[3], strlen(text[3]));
	CU_ASSERT_EQUAL(ends_send(&e, text[3], strlen(text[3])), 1);
	for (i = 0; i < 4; i++)
		free(buf[i]);
	ends_free(&e);
}

/* What is malformed is refused, and what stands nowhere is not read. */
static void test_hostile(void)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bad[] = {
		{ "", 0 },
		{ "\004", 1 },	   /* no such entry */
		{ "\x80", 1 },	   /* half a number */
		{ "\x82\x00", 2 }, /* a number with a zero at its end */
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10 },
		{ "\002\011\000\000", 4 },  /* copies more than there is */
		{ "\002\004\005\000", 4 },  /* leaves out more than there is */
		{ "\002\004\000\002a", 5 }, /* inserts more than there is */
		{ "\002\004", 2 },	    /* half a step */
		{ "\002\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\000\000", 13 },
		{ "\002\001\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\000", 13 },
	};
	struct past_ends e = { 0 };
	const void *data;
	size_t i, len;
	uint8_t *buf;

	ends_send(&e, "abcdefgh", 8);
	ends_send(&e, "12345678", 8);
	/* Steps that are longer than whole messages would be, from which no end would keep what was made. */
	for (i = DDIO_PAST_SCRIPT; i <= DDIO_PAST_SCRIPT + 1; i++) {
		struct ddio_past past = { 0 };
		uint8_t *script = calloc(1, i);

		CU_ASSERT_EQUAL(ddio_past_get(&past, "\0abc", 4, &data, &len), 0);
		memcpy(script, "\002\000\000", 3);
		script[3] = (uint8_t)((i - 5) | 0x80);
		script[4] = (uint8_t)((i - 5) >> 7);
		CU_ASSERT_EQUAL(ddio_past_get(&past, script, i, &data, &len),
				i > DDIO_PAST_SCRIPT ? -EPROTO : 0);
		ddio_past_clear(&past);
		free(script);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		buf = malloc(bad[i].len ? bad[i].len
					: 1); /* a sanitizer sees what is read beyond */
		memcpy(buf, bad[i].bytes, bad[i].len);
		CU_ASSERT_EQUAL(ddio_past_get(&e.to, buf, bad[i].len, &data, &len), -EPROTO);
		CU_ASSERT(ends_agree(&e));
		free(buf);
	}
	ends_free(&e);
}

/* Random bytes: an answer, and a bound on what is remembered. */
static void test_garbage(void)
{
	struct past_ends e = { 0 };
	uint8_t buf[64];
	uint32_t i, n = ut_rounds(100000);
	const void *data;
	size_t len, got;
	struct rnd r = rnd_new();
	int err;

	for (i = 0; i < n; i++) {
		len = rnd_below(&r, sizeof(buf));
		rnd_bytes(&r, buf, len);
		if (len)
			buf[0] %= 12;
		err = ddio_past_get(&e.to, buf, len, &data, &got);
		CU_ASSERT(!err || err == -EPROTO);
		CU_ASSERT(e.to.n <= DDIO_PAST_ENTRIES && e.to.bytes <= DDIO_PAST_BYTES);
	}
	ends_free(&e);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "form", test_form },
		{ "cost", test_cost },
		{ "by turns", test_turns },
		{ "too long", test_long },
		{ "random", test_random },
		{ "ahead", test_ahead },
		{ "hostile", test_hostile },
		{ "garbage", test_garbage },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "past", cases } };

	return ut_run("test_proto_past", suites, 1);
}
