// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions about records: any text as a condition; any bytes as a question, which is then asked about any bytes; and any
 * bytes as what others have made of records.
 */
#include <stdlib.h>
#include <string.h>
#include "proto/query/query.h"
#include "query/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 32, MAX = 1 << 16 };

static const struct ddio_query_field fields[] = {
	{ .name = "a", .offset = 0, .type = DDIO_QUERY_F64 },
	{ .name = "b.c", .offset = 3, .type = DDIO_QUERY_S16, .flags = DDIO_QUERY_BIG },
	{ .name = "_d", .offset = 8, .type = DDIO_QUERY_U64 },
	{ .name = "e", .offset = 1, .type = DDIO_QUERY_BYTES, .len = 5 },
};

/* What was read as a condition is one. */
static void condition(const uint8_t *data, size_t size)
{
	struct ddio_query_step step[STEPS];
	struct ddio_query q = {
		.struct_size = sizeof(q), .record = 16, .nfields = 4, .field = fields, .where = step
	};
	char err[100] = "", *text = strndup((const char *)data, size);
	uint8_t record[16] = { 1, 2, 3 };
	struct ddio_query_shape shape;
	const char *why;
	int n;

	if (!text)
		return;
	n = ddio_query_parse(text, fields, 4, step, STEPS, err, sizeof(err));
	if ((n < 0) != (*err != 0) || n > STEPS || strchr(err, '\n') || !n)
		abort();
	q.nsteps = n < 0 ? 0 : (uint32_t)n;
	if (ddio_query_shape(&q, &shape, &why))
		abort();
	ddio_query_matches(&shape, record + shape.lo);
	free(text);
}

/* Looks at records of what is left of the bytes, as an I/O processor does with a block. */
static void look(const struct ddio_query_shape *s, const uint8_t *data, size_t size, uint8_t *out)
{
	struct ddio_query_accs accs;
	struct ddio_query_range r;
	uint64_t lo = s->q->origin, i, bits = 0;
	uint8_t *made = malloc(ddio_query_accs_len(s));

	ddio_query_range(s, 0, ddio_query_records(s->q, DDIO_MAX_FILE), lo, lo + size, &r);
	if (r.first > r.whole || r.whole > r.whole_end || r.whole_end > r.end ||
	    r.end - r.whole_end > 1 || r.whole - r.first > 1)
		abort();
	if (!ddio_query_accs_init(&accs, s) && made) {
		for (i = r.whole; i < r.whole_end && i < r.whole + 1000; i++) {
			const uint8_t *span = data + (ddio_query_at(s, i) + s->lo - lo);

			if (!((i - r.whole) % DDIO_QUERY_BATCH))
				bits = ddio_query_matches_batch(
					s, span,
					r.whole_end - i < DDIO_QUERY_BATCH
						? (uint32_t)(r.whole_end - i)
						: DDIO_QUERY_BATCH);
			if (ddio_query_matches(s, span) !=
			    (bits >> (i - r.whole) % DDIO_QUERY_BATCH & 1))
				abort();
			if (!ddio_query_matches(s, span))
				continue;
			ddio_query_accs_add(&accs, s, span);
			ddio_query_output(s, span, out);
		}
		for (i = r.whole_end; i < r.end; i++)
			ddio_query_fragment_take(s, i, lo, lo + size, data, out);
		ddio_query_accs_put(&accs, made);
		if (ddio_query_accs_merge(&accs, made, ddio_query_accs_len(s)))
			abort();
		/* Any bytes: taken or not, but never more than were counted. */
		ddio_query_accs_merge(&accs, data, size);
	}
	ddio_query_accs_free(&accs);
	free(made);
}

/* Any bytes as a column: no number of it has more bytes than its field; and it can be written again. */
static void column(const uint8_t *data, size_t size)
{
	static uint64_t v[DDIO_QUERY_ITEM_MAX], back[DDIO_QUERY_ITEM_MAX];
	uint8_t buf[DDIO_QUERY_COLUMN_HEAD + 8 * DDIO_QUERY_ITEM_MAX];
	uint32_t n, len, i;
	size_t put;

	if (size < 2)
		return;
	n = 1 + data[0];
	len = 1u << (data[1] & 3);
	if (!ddio_query_column_get(data + 2, size - 2, v, n, len))
		return;
	for (i = 0; i < n && len < 8; i++)
		if (v[i] >> 8 * len)
			abort();
	put = ddio_query_column_put(buf, v, n, len);
	if (put > 1 + (size_t)n * len || ddio_query_column_get(buf, put, back, n, len) != put ||
	    memcmp(v, back, n * sizeof(*v)))
		abort();
}

static void question(const uint8_t *data, size_t size)
{
	struct ddio_query_shape shape;
	struct ddio_query_field *packed;
	struct ddio_msg_query x;
	const char *why = NULL;
	uint8_t *out;
	size_t len;
	int err;

	if (size < 2)
		return;
	len = (size_t)data[0] << 8 | data[1];
	data += 2;
	size -= 2;
	if (len > size || ddio_get_query(data, len, &x))
		return;
	err = ddio_query_shape(&x.q, &shape, &why);
	if (!err != !why)
		abort();
	out = malloc(2 * DDIO_QUERY_BYTES_MAX);
	if (!err && shape.used && out) {
		look(&shape, data + len, size - len, out);
		packed = ddio_query_packed(&shape);
		free(packed);
	}
	free(out);
	ddio_msg_query_free(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t v;

	if (!size || size > MAX)
		return 0;
	if (data[0] & 1)
		condition(data + 1, size - 1);
	else
		question(data + 1, size - 1);
	ddio_query_delta_get(data, size, &v);
	column(data, size);
	return 0;
}
