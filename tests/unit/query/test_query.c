// SPDX-License-Identifier: GPL-2.0-only
/* Questions about records, by themselves: sums of floating numbers, conditions as text, which records lie where. */
#include <errno.h>
#include <stdio.h>
#include "query/query.h"
#include "tests/unit/lib/ut.h"
#include "tests/unit/query/query_twin.h"

/*
 * Sums
 */
static double any_double(uint64_t *seed)
{
	uint64_t bits;
	double v;

	switch (twin_rnd(seed, 4)) {
	case 0: /* any but the greatest, whose sums would be infinite */
		bits = twin_rnd(seed, 1ull << 42) << 22 | twin_rnd(seed, 1u << 22);
		bits &= ~(1ull << 62 | 1ull << 61);
		memcpy(&v, &bits, sizeof(v));
		return v;
	case 1: /* below the least normal one */
		return (double)twin_rnd(seed, 1u << 30) * 0x1p-1074 * (twin_rnd(seed, 2) ? 1 : -1);
	case 2:
		return ldexp((double)twin_rnd(seed, 1ull << 40), (int)twin_rnd(seed, 200) - 100);
	default:
		return (double)twin_rnd(seed, 2000) - 1000;
	}
}

static void sums(void)
{
	enum { MOST = 300 };
	uint64_t seed = 5, n, i;
	double v[MOST];
	int round;

	for (round = 0; round < 3000; round++) {
		struct query_exact e = { 0 }, back = { 0 }, half = { 0 };
		uint8_t buf[EXACT_LEN];
		struct twin_sum twin = { 0 };
		double is, expected;

		n = 1 + twin_rnd(&seed, MOST);
		for (i = 0; i < n; i++) {
			/* Half of them take away what others have added. */
			v[i] = i % 2 && twin_rnd(&seed, 2) ? -v[i - 1] : any_double(&seed);
			twin_sum_add(&twin, v[i]);
			exact_add(&e, v[i]);
		}
		expected = twin_sum_take(&twin);
		for (i = n; i--;)
			exact_add(i % 3 ? &back : &half, v[i]);
		exact_put(&half, buf);
		CU_ASSERT_EQUAL(exact_merge(&back, buf), 0);
		is = exact_sum(&e);
		CU_ASSERT(is == expected);
		CU_ASSERT(exact_sum(&back) == expected);
		CU_ASSERT(exact_sum(&e) == is); /* taking it changes nothing */
	}
}

/* Halfway between two numbers, far smaller ones decide; without any, the even one is taken. */
static void rounded_sums(void)
{
	struct query_exact e = { 0 };

	exact_add(&e, 1);
	exact_add(&e, 0x1p-53);
	CU_ASSERT(exact_sum(&e) == 1);
	exact_add(&e, 0x1p-1074);
	CU_ASSERT(exact_sum(&e) == 1 + 0x1p-52);
	exact_add(&e, -0x1p-1073);
	CU_ASSERT(exact_sum(&e) == 1);
	exact_add(&e, 0x1p-1074);
	exact_add(&e, 0x1p-52);
	CU_ASSERT(exact_sum(&e) == 1 + 0x1p-51);
	exact_add(&e, -2 - 0x1p-51);
	CU_ASSERT(exact_sum(&e) == -1);
}

static void infinite_sums(void)
{
	struct query_exact e = { 0 };
	uint8_t buf[EXACT_LEN];
	int i;

	for (i = 0; i < 4; i++)
		exact_add(&e, 0x1.fffffffffffffp1023);
	CU_ASSERT(exact_sum(&e) == INFINITY); /* too large for a double */
	for (i = 0; i < 3; i++)
		exact_add(&e, -0x1.fffffffffffffp1023);
	CU_ASSERT(exact_sum(&e) == 0x1.fffffffffffffp1023);
	exact_add(&e, -INFINITY);
	CU_ASSERT(exact_sum(&e) == -INFINITY);
	exact_add(&e, INFINITY);
	CU_ASSERT(isnan(exact_sum(&e)));
	exact_put(&e, buf);
	buf[EXACT_LEN - 4] |= 4;
	CU_ASSERT_EQUAL(exact_merge(&e, buf), -EPROTO);
}

/*
 * Conditions
 */
static const struct ddio_query_field fields[] = {
	{ .name = "i", .offset = 0, .type = DDIO_QUERY_S8 },
	{ .name = "u", .offset = 1, .type = DDIO_QUERY_U8 },
	{ .name = "f", .offset = 4, .type = DDIO_QUERY_F32 },
	{ .name = "raw", .offset = 0, .len = 3, .type = DDIO_QUERY_BYTES },
};

/* Returns whether a record with these values matches; -errno if the text is no condition. */
static int matches(const char *text, int8_t i, uint8_t u, float f, char *err)
{
	struct ddio_query_step step[20];
	struct ddio_query q = {
		.struct_size = sizeof(q), .record = 8, .nfields = 4, .field = fields, .where = step
	};
	uint8_t record[8] = { (uint8_t)i, u };
	struct ddio_query_shape shape;
	const char *why;
	int n = ddio_query_parse(text, fields, 4, step, 20, err, 100);

	if (n < 0)
		return n;
	memcpy(record + 4, &f, sizeof(f));
	q.nsteps = (uint32_t)n;
	CU_ASSERT_EQUAL_FATAL(ddio_query_shape(&q, &shape, &why), 0);
	return ddio_query_matches(&shape, record + shape.lo);
}

static void conditions(void)
{
	static const struct {
		const char *text;
		int8_t i;
		uint8_t u;
		float f;
		bool match;
	} cases[] = {
		{ "i = -3", -3, 0, 0, true },
		{ "i == -3", -3, 0, 0, true },
		{ "i != -3", -3, 0, 0, false },
		{ "u<300", 0, 255, 0, true },
		{ "u >= 0xff", 0, 255, 0, true },
		{ "u > 255", 0, 255, 0, false },
		{ " f <= 1.5e0 ", 0, 0, 1.5f, true },
		{ "f > -inf", 0, 0, -1e30f, true },
		{ "f = nan", 0, 0, NAN, false },
		{ "f != nan", 0, 0, NAN, true },
		{ "f < 1 or f >= 1", 0, 0, NAN, false },
		{ "not f < 1", 0, 0, NAN, true },
		/* "not" before "and" before "or" */
		{ "i = 1 or u = 2 and f = 3", 1, 0, 0, true },
		{ "(i = 1 or u = 2) and f = 3", 1, 0, 0, false },
		{ "not i = 1 and u = 2", 0, 2, 0, true },
		{ "not (i = 1 and u = 2)", 1, 0, 0, true },
		{ "not not i = 1", 1, 0, 0, true },
		{ "((((i=1))))and(u=2)", 1, 2, 0, true },
		{ "i = 1 and u = 2 and f = 3 or not (f = 0 or i = 1)", 1, 2, 0, false },
	};
	char err[100];
	size_t k;

	for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		int ret = matches(cases[k].text, cases[k].i, cases[k].u, cases[k].f, err);

		CU_ASSERT_EQUAL(ret, cases[k].match);
		if (ret != cases[k].match)
			printf("\"%s\": %d\n", cases[k].text, ret);
	}
}

static void no_conditions(void)
{
	static const struct {
		const char *text, *err;
	} cases[] = {
		{ "", "at character 1: the condition ends too soon" },
		{ "  ", "ends too soon" },
		{ "i", "at character 2: one of" },
		{ "i =", "a number is expected" },
		{ "i = x", "field 'i'" },
		{ "i = 1.5", "at character 6: the number goes on strangely" },
		{ "u = -1", "field 'u'" },
		{ "u = 99999999999999999999", "field 'u'" },
		{ "raw = 1", "field 'raw' is no number" },
		{ "x = 1", "at character 1: there is no field 'x'" },
		{ "i = 1 u = 2", "at character 7: 'and', 'or' or the end" },
		{ "i = 1 and", "ends too soon" },
		{ "and i = 1", "there is no field 'and'" },
		{ "(i = 1", "a ( is not closed" },
		{ "i = 1)", "there is no ( for this )" },
		{ "()", "a field is expected" },
		{ "1 = i", "a field is expected" },
		{ "i = 1 or\n", "ends too soon" },
	};
	char err[100], deep[400];
	size_t k;

	for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		CU_ASSERT_EQUAL(matches(cases[k].text, 0, 0, 0, err), -EINVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(err, cases[k].err));
		if (!strstr(err, cases[k].err))
			printf("\"%s\": %s\n", cases[k].text, err);
	}
	memset(deep, '(', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	CU_ASSERT_EQUAL(matches(deep, 0, 0, 0, err), -E2BIG);
	deep[0] = '\0';
	for (k = 0; k < 21; k++)
		strcat(deep, k ? " or i = 1" : "i = 1");
	CU_ASSERT_EQUAL(matches(deep, 0, 0, 0, err), -E2BIG);
}

/*
 * Questions that are none
 */
static void no_questions(void)
{
	static const uint32_t outside = 4;
	static const union ddio_query_number down[] = { { .f = 2 }, { .f = 1 } };
	static const union ddio_query_number nan_bound[] = { { .f = NAN } };
	struct ddio_query_step step[3] = { { .op = DDIO_QUERY_EQ } };
	struct ddio_query_field f[4];
	struct ddio_query_reduce reduce = {
		.kind = DDIO_QUERY_HISTOGRAM, .field = 2, .nbounds = 2, .bound = down
	};
	struct ddio_query q = {
		.struct_size = sizeof(q), .record = 8, .nfields = 4, .field = f, .where = step
	};
	struct ddio_query_shape shape;
	const char *why;

#define IS(err, change)                                                   \
	do {                                                              \
		struct ddio_query was = q;                                \
		memcpy(f, fields, sizeof(f));                             \
		change;                                                   \
		CU_ASSERT_EQUAL(ddio_query_shape(&q, &shape, &why), err); \
		q = was;                                                  \
	} while (0)
	IS(0, (void)0);
	IS(-EINVAL, q.record = 0);
	IS(-EINVAL, q.record = DDIO_QUERY_RECORD_MAX + 1);
	IS(-EINVAL, q.record = 7); /* field 2 reaches beyond it */
	IS(-EINVAL, q.origin = 1ull << 62);
	IS(-E2BIG, q.nfields = DDIO_QUERY_FIELDS_MAX + 1);
	IS(-EINVAL, f[0].type = 11);
	IS(-EINVAL, f[0].flags = 2);
	IS(-EINVAL, f[0].len = 2);
	IS(-EINVAL, f[3].len = 0);
	IS(-EINVAL, f[3].len = UINT32_MAX);
	IS(-EINVAL, f[0].offset = UINT32_MAX);
	IS(0, q.nsteps = 1);
	IS(-E2BIG, q.nsteps = DDIO_QUERY_STEPS_MAX + 1);
	IS(-EINVAL, q.nsteps = 1; step[0].field = 3); /* bytes */
	step[0].field = 0;
	IS(-EINVAL, q.nsteps = 2; step[1].op = DDIO_QUERY_AND);
	IS(-EINVAL, q.nsteps = 2; step[1].op = DDIO_QUERY_EQ); /* leaves two */
	IS(-EINVAL, q.nsteps = 2; step[1].op = 10);
	IS(-EINVAL, q.nreduce = 1; q.reduce = &reduce);
	IS(-EINVAL, q.nreduce = 1; q.reduce = &reduce; reduce.nbounds = 1;
	   reduce.bound = nan_bound);
	IS(-E2BIG, q.nreduce = 1; q.reduce = &reduce; reduce.nbounds = UINT32_MAX);
	IS(-EINVAL, q.nreduce = 1; q.reduce = &reduce; reduce.nbounds = 0);
	IS(-EINVAL, q.nreduce = 1; q.reduce = &reduce; reduce.kind = 5);
	IS(-EINVAL, q.noutput = 1; q.output = &outside);
#undef IS
}

/*
 * Places: each record of a range is whole in one block, or in pieces in several, byte by byte.
 */
static void places(void)
{
	uint64_t seed = 99, lo, i, k;
	int round;

	for (round = 0; round < 300; round++) {
		uint32_t bs = 1u << (3 + twin_rnd(&seed, 6));
		struct twin_question t;
		struct ddio_query_shape s;
		const char *why;
		uint64_t n, *used;

		twin_question(&t, &seed, 1000);
		CU_ASSERT_EQUAL_FATAL(ddio_query_shape(&t.q, &s, &why), 0);
		if (!s.used)
			continue;
		n = 1 + twin_rnd(&seed, 40);
		used = calloc(n, sizeof(*used));
		for (lo = 0; lo < ddio_query_at(&s, n); lo += bs) {
			struct ddio_query_range r;

			ddio_query_range(&s, 0, n, lo, lo + bs, &r);
			CU_ASSERT(r.whole - r.first <= 1 && r.end - r.whole_end <= 1);
			for (i = 0; i < n; i++) {
				uint32_t len = ddio_query_fragment_len(&s, i, lo, lo + bs);
				bool whole = i >= r.whole && i < r.whole_end;

				CU_ASSERT(!whole || len == s.used);
				CU_ASSERT(!len || (i >= r.first && i < r.end));
				used[i] += len;
			}
		}
		for (k = 0; k < n; k++)
			CU_ASSERT_EQUAL(used[k], s.used);
		free(used);
	}
}

static void deltas(void)
{
	uint8_t buf[QUERY_DELTA_MAX];
	uint64_t seed = 3, v, got;
	uint32_t n, i;

	for (i = 0; i < 1000; i++) {
		v = i < 3 ? (uint64_t)i - 1 : twin_rnd(&seed, 1ull << 41) >> twin_rnd(&seed, 41);
		n = ddio_query_delta_put(buf, v);
		CU_ASSERT_EQUAL(ddio_query_delta_get(buf, n, &got), n);
		CU_ASSERT_EQUAL(got, v);
		CU_ASSERT_EQUAL(ddio_query_delta_get(buf, n - 1, &got), 0);
	}
	memset(buf, 0xff, sizeof(buf));
	CU_ASSERT_EQUAL(ddio_query_delta_get(buf, sizeof(buf), &got), 0);
}

/*
 * Many records at once
 */

/* Every batch of every question has the bits that its records have one by one. */
static void batches(void)
{
	enum { BYTES = 1 << 16 };
	uint8_t *image = malloc(BYTES);
	uint64_t seed = 9, bits, some = 0, i;
	struct ddio_query_shape shape;
	struct twin_question t;
	const char *why;
	int round;

	for (i = 0; i < BYTES; i++)
		image[i] =
			(uint8_t)(twin_rnd(&seed, 3) ? twin_rnd(&seed, 4) : twin_rnd(&seed, 256));
	for (round = 0; round < 4000; round++) {
		uint32_t n, k;

		twin_question(&t, &seed, BYTES);
		CU_ASSERT_EQUAL_FATAL(ddio_query_shape(&t.q, &shape, &why), 0);
		n = BYTES / t.q.record < DDIO_QUERY_BATCH ? BYTES / t.q.record : DDIO_QUERY_BATCH;
		n = n > 1 ? 1 + (uint32_t)twin_rnd(&seed, n) : 1;
		bits = ddio_query_matches_batch(&shape, image + shape.lo, n);
		CU_ASSERT(n == 64 || !(bits >> n));
		for (k = 0; k < n; k++)
			CU_ASSERT_EQUAL(bits >> k & 1,
					ddio_query_matches(&shape, image + shape.lo +
									   (size_t)k * t.q.record));
		some += bits && bits + 1;
	}
	CU_ASSERT(some > 500);
	free(image);
}

/* As deep as it may be. */
static void deepest(void)
{
	struct ddio_query_step step[2 * DDIO_QUERY_DEPTH_MAX - 1];
	struct ddio_query_field field = { .type = DDIO_QUERY_U8 };
	struct ddio_query q = { .struct_size = sizeof(q),
				.record = 1,
				.nfields = 1,
				.field = &field,
				.nsteps = 2 * DDIO_QUERY_DEPTH_MAX - 1,
				.where = step };
	struct ddio_query_shape shape;
	uint8_t byte[64];
	const char *why;
	uint32_t i;

	for (i = 0; i < q.nsteps; i++)
		step[i] = (struct ddio_query_step){ .op = i < DDIO_QUERY_DEPTH_MAX ? DDIO_QUERY_EQ
										   : DDIO_QUERY_OR,
						    .value.u = i };
	for (i = 0; i < 64; i++)
		byte[i] = (uint8_t)(i * 3);
	CU_ASSERT_EQUAL_FATAL(ddio_query_shape(&q, &shape, &why), 0);
	for (i = 0; i < 64; i++)
		CU_ASSERT_EQUAL(ddio_query_matches_batch(&shape, byte, 64) >> i & 1,
				byte[i] < DDIO_QUERY_DEPTH_MAX);
}

/*
 * Columns
 */
static uint64_t column_number(uint64_t *seed, uint32_t len, int kind)
{
	uint64_t v = twin_rnd(seed, 1ull << 32) << 32 | twin_rnd(seed, 1ull << 32);

	v = kind == 0 ? 77 : kind == 1 ? 1000000 + v % 10 : kind == 2 ? v : v % 1000;
	return len < 8 ? v & ((1ull << 8 * len) - 1) : v;
}

static void columns(void)
{
	enum { MOST = 100 };
	uint8_t buf[DDIO_QUERY_COLUMN_HEAD + 8 * MOST];
	uint64_t seed = 3, v[MOST], back[MOST];
	uint32_t n, len, i;
	size_t put, cut;
	int round;

	for (round = 0; round < 4000; round++) {
		n = 1 + (uint32_t)twin_rnd(&seed, MOST);
		len = 1u << twin_rnd(&seed, 4);
		for (i = 0; i < n; i++)
			v[i] = column_number(&seed, len, round % 4);
		put = ddio_query_column_put(buf, v, n, len);
		CU_ASSERT(put <= 1 + (size_t)n * len);
		if (round % 4 == 1 && len == 8)
			CU_ASSERT(put <= 1 + 3 + (n * 4 + 7) / 8);
		CU_ASSERT_EQUAL(ddio_query_column_get(buf, put, back, n, len), put);
		CU_ASSERT_EQUAL(memcmp(v, back, n * sizeof(*v)), 0);
		cut = twin_rnd(&seed, put);
		CU_ASSERT_EQUAL(ddio_query_column_get(buf, cut, back, n, len), 0);
		/* Whatever comes, no number has more bytes than its field. */
		buf[twin_rnd(&seed, put)] ^= (uint8_t)(1u << twin_rnd(&seed, 8));
		if (!ddio_query_column_get(buf, put, back, n, len))
			continue;
		for (i = 0; i < n && len < 8; i++)
			CU_ASSERT_EQUAL(back[i] >> 8 * len, 0);
	}
}

/* The order of their bits is that of the numbers, and they come back. */
static void field_bits(void)
{
	uint64_t seed = 8;
	int round;

	for (round = 0; round < 4000; round++) {
		struct ddio_query_field f = { .type = 1 + (uint32_t)twin_rnd(&seed, 10),
					      .flags = (uint32_t)twin_rnd(&seed, 2) };
		uint8_t a[8], b[8], back[8];
		uint32_t len = twin_len(&f), i;
		uint64_t x, y;

		for (i = 0; i < len; i++) {
			a[i] = (uint8_t)twin_rnd(&seed, 256);
			b[i] = (uint8_t)twin_rnd(&seed, 256);
		}
		x = ddio_query_field_bits(&f, a);
		y = ddio_query_field_bits(&f, b);
		ddio_query_field_unbits(&f, x, back);
		CU_ASSERT_EQUAL(memcmp(a, back, len), 0);
		if (!twin_float(&f))
			CU_ASSERT_EQUAL(x < y, twin_compare(DDIO_QUERY_LT, &f, twin_load(&f, a),
							    twin_load(&f, b)));
	}
}

static const struct ut_case cases[] = {
	{ "many records at once", batches },
	{ "as deep as it may be", deepest },
	{ "columns", columns },
	{ "bits of fields", field_bits },
	{ "sums of floating numbers", sums },
	{ "sums that are rounded", rounded_sums },
	{ "sums that are infinite", infinite_sums },
	{ "conditions", conditions },
	{ "texts that are no conditions", no_conditions },
	{ "questions that contradict themselves", no_questions },
	{ "which records lie where", places },
	{ "differences of numbers", deltas },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "query", cases } };

	return ut_run("test_query", suites, 1);
}
