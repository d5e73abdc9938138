// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Deals rows of a block out to all processes at once.
 *
 * In a row, the indices of the outer axes are fixed, and with them the outer
 * coordinates of every process that owns a piece of it.  A row is whole
 * cycles, where every process has the same number of pieces at the same
 * distance, and a ragged rest at both ends.  In the whole cycles neighbouring
 * processes are served together: a load takes a piece for each of them, a
 * store writes several pieces of one.
 */
#include <string.h>
#include "map/copy.h"
#include "map/deal.h"

#define TILE_BYTES 16384
#define TILE_CYCLES 8
#define CACHE_LINE 64
#define ROW_MIN 512
#define GROUP_MAX 4

typedef uint64_t pair64 __attribute__((vector_size(16)));
typedef uint32_t quad32 __attribute__((vector_size(16)));

/**
 * struct row - one row of the current box
 * @rank: of the process at coordinate 0 of the innermost axis
 * @weight: where a process's bytes of the row begin in its share, and
 * @origin: where its message begins there, both in units of its bytes of a row
 * @split: messages begin inside this row
 */
struct row {
	char *block; /* index 0 of the innermost axis; that may lie before the block */
	uint64_t rank;
	uint64_t weight;
	uint64_t origin;
	bool split;
};

bool deal_suits(const struct ddio_map_layout *layout)
{
	const struct ddio_axis *axis = &layout->axis[layout->naxes - 1];

	return axis->owners > 1 && axis->k < CACHE_LINE && axis->count >= ROW_MIN;
}

uint64_t deal_tile_size(const struct ddio_map_layout *layout)
{
	uint64_t cycles = TILE_CYCLES * layout->axis[layout->naxes - 1].cycle;

	return cycles > TILE_BYTES ? cycles : TILE_BYTES;
}

static pair64 load_pair(const char *p)
{
	pair64 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static quad32 load_quad(const char *p)
{
	quad32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static void store_pair(char *p, pair64 v)
{
	memcpy(p, &v, sizeof(v));
}

static void store_quad(char *p, quad32 v)
{
	memcpy(p, &v, sizeof(v));
}

/* Gathers two pieces of 8 bytes from each of @n rows of @stride bytes, two rows at a time. */
static void gather_8(char *const *msg, char *row, uint64_t stride, uint64_t n)
{
	char *m0 = msg[0];
	char *m1 = msg[1];
	uint64_t i;

	for (i = 0; i + 2 <= n; i += 2) {
		pair64 a = load_pair(row);
		pair64 b = load_pair(row + stride);

		store_pair(m0 + 8 * i, (pair64){ a[0], b[0] });
		store_pair(m1 + 8 * i, (pair64){ a[1], b[1] });
		row += 2 * stride;
	}
	if (i < n) {
		memcpy(m0 + 8 * i, row, 8);
		memcpy(m1 + 8 * i, row + 8, 8);
	}
}

static void scatter_8(char *const *msg, char *row, uint64_t stride, uint64_t n)
{
	const char *m0 = msg[0];
	const char *m1 = msg[1];
	uint64_t i;

	for (i = 0; i + 2 <= n; i += 2) {
		pair64 a = load_pair(m0 + 8 * i);
		pair64 b = load_pair(m1 + 8 * i);

		store_pair(row, (pair64){ a[0], b[0] });
		store_pair(row + stride, (pair64){ a[1], b[1] });
		row += 2 * stride;
	}
	if (i < n) {
		memcpy(row, m0 + 8 * i, 8);
		memcpy(row + 8, m1 + 8 * i, 8);
	}
}

/* Transposes a square of four by four. */
static inline void turn_4(quad32 *v)
{
	quad32 low01 = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
	quad32 low23 = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
	quad32 high01 = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
	quad32 high23 = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);

	v[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
	v[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
	v[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
	v[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

/* Gathers four pieces of 4 bytes from each of @n rows, four rows at a time. */
static void gather_4(char *const *msg, char *row, uint64_t stride, uint64_t n)
{
	uint64_t i;
	int p;

	for (i = 0; i + 4 <= n; i += 4) {
		quad32 v[4] = { load_quad(row), load_quad(row + stride),
				load_quad(row + 2 * stride), load_quad(row + 3 * stride) };

		turn_4(v);
		for (p = 0; p < 4; p++)
			store_quad(msg[p] + 4 * i, v[p]);
		row += 4 * stride;
	}
	for (; i < n; i++) {
		for (p = 0; p < 4; p++)
			memcpy(msg[p] + 4 * i, row + 4 * p, 4);
		row += stride;
	}
}

static void scatter_4(char *const *msg, char *row, uint64_t stride, uint64_t n)
{
	uint64_t i;
	int p;

	for (i = 0; i + 4 <= n; i += 4) {
		quad32 v[4] = { load_quad(msg[0] + 4 * i), load_quad(msg[1] + 4 * i),
				load_quad(msg[2] + 4 * i), load_quad(msg[3] + 4 * i) };

		turn_4(v);
		for (p = 0; p < 4; p++)
			store_quad(row + p * stride, v[p]);
		row += 4 * stride;
	}
	for (; i < n; i++) {
		for (p = 0; p < 4; p++)
			memcpy(row + 4 * p, msg[p] + 4 * i, 4);
		row += stride;
	}
}

/*
 * Returns where local index @local of coordinate @p of the row lies in its message; NULL:
 * skipped.
 */
static char *row_message(const struct deal *deal, const struct row *row, uint64_t p, uint64_t local)
{
	uint32_t last = deal->layout->naxes - 1;
	const struct ddio_axis *axis = &deal->layout->axis[last];
	char *msg = deal->msg[row->rank + p * axis->rank_stride];
	uint64_t off = local;

	if (!msg)
		return NULL;
	if (row->weight != row->origin)
		off += ddio_axis_local(axis, p) * (row->weight - row->origin);
	if (row->split)
		off -= axis_owned(axis, p, deal->origin.full[last], deal->origin.rem[last]);
	return msg + off;
}

/* Deals indices [lo, hi), piece by piece. */
static void row_deal_ragged(const struct deal *deal, const struct row *row, uint64_t lo,
			    uint64_t hi)
{
	const struct ddio_axis *axis = &deal->layout->axis[deal->layout->naxes - 1];
	uint64_t cycle, p, skip;

	if (lo >= hi)
		return;
	cycle = lo / axis->cycle;
	p = lo % axis->cycle / axis->k;
	skip = lo % axis->cycle % axis->k;
	while (lo < hi) {
		uint64_t len = axis->k - skip < hi - lo ? axis->k - skip : hi - lo;
		char *msg = row_message(deal, row, p, cycle * axis->k + skip);

		if (msg && deal->gather)
			memcpy(msg, row->block + lo, len);
		else if (msg)
			memcpy(row->block + lo, msg, len);
		lo += len;
		skip = 0;
		if (++p == axis->owners) {
			p = 0;
			cycle++;
		}
	}
}

/* Finds the messages of the processes from @p on that can be served together.  Returns how many. */
static uint32_t row_group(const struct deal *deal, const struct row *row, uint64_t p,
			  uint64_t local, char **msg)
{
	const struct ddio_axis *axis = &deal->layout->axis[deal->layout->naxes - 1];
	uint32_t want = axis->k == 8 ? 2 : axis->k == 4 ? 4 : 1;
	uint32_t i;

	if (want > axis->owners - p)
		want = 1;
	for (i = 0; i < want; i++) {
		msg[i] = row_message(deal, row, p + i, local);
		if (!msg[i])
			return 1;
	}
	return want;
}

/* Deals whole cycles [from, to). */
static void row_deal_cycles(const struct deal *deal, const struct row *row, uint64_t from,
			    uint64_t to)
{
	const struct ddio_axis *axis = &deal->layout->axis[deal->layout->naxes - 1];
	char *block = row->block + from * axis->cycle;
	uint64_t k = axis->k;
	uint64_t n = to - from;
	char *msg[GROUP_MAX];
	uint64_t p;
	uint32_t group;

	for (p = 0; p < axis->owners; p += group, block += group * k) {
		group = row_group(deal, row, p, from * k, msg);
		if (group == 2)
			(deal->gather ? gather_8 : scatter_8)(msg, block, axis->cycle, n);
		else if (group == 4)
			(deal->gather ? gather_4 : scatter_4)(msg, block, axis->cycle, n);
		else if (msg[0] && deal->gather)
			copy_row(msg[0], k, block, axis->cycle, k, n);
		else if (msg[0])
			copy_row(block, axis->cycle, msg[0], k, k, n);
	}
}

/* Deals indices [lo, hi) of a row. */
static void row_deal(const struct deal *deal, const struct row *row, uint64_t lo, uint64_t hi)
{
	const struct ddio_axis *axis = &deal->layout->axis[deal->layout->naxes - 1];
	uint64_t from = (lo + axis->cycle - 1) / axis->cycle;
	uint64_t to = hi / axis->cycle;

	if (from >= to) {
		row_deal_ragged(deal, row, lo, hi);
		return;
	}
	row_deal_ragged(deal, row, lo, from * axis->cycle);
	row_deal_cycles(deal, row, from, to);
	row_deal_ragged(deal, row, to * axis->cycle, hi);
}

/* Sets @row to the one at the outer indices @idx. */
static void row_init(struct row *row, const struct deal *deal, const uint64_t *idx)
{
	const struct ddio_map_layout *layout = deal->layout;
	uint64_t file = layout->nest.off - deal->block_off;
	uint64_t weight = 1;
	uint32_t d;

	row->rank = 0;
	row->weight = 0;
	row->origin = 0;
	row->split = true;
	for (d = layout->naxes - 1; d-- > 0;) {
		const struct ddio_axis *axis = &layout->axis[d];
		uint64_t full = idx[d] / axis->cycle;
		uint64_t rem = idx[d] % axis->cycle;
		uint64_t p = rem / axis->k;

		if (!axis_owns(axis, p, deal->origin.rem[d])) {
			row->origin = 0;
			row->split = false;
		}
		row->origin +=
			weight * axis_owned(axis, p, deal->origin.full[d], deal->origin.rem[d]);
		row->weight += weight * axis_owned(axis, p, full, rem);
		weight *= ddio_axis_local(axis, p);
		row->rank += p * axis->rank_stride;
		file += idx[d] * layout->nest.dim[d].stride;
	}
	row->block = deal->block + file;
}

/* Deals the row for the lowest rank and for every replica that gets it. */
static void row_deal_replicas(const struct deal *deal, struct row *row, uint32_t i, uint64_t lo,
			      uint64_t hi)
{
	const struct replica *replica = &deal->layout->replica[i];
	uint64_t rank = row->rank;
	uint64_t n;

	if (i == deal->layout->nreplicas || !deal->gather) {
		row_deal(deal, row, lo, hi);
		return;
	}
	for (n = 0; n < replica->procs; n++) {
		row->rank = rank + n * replica->rank_stride;
		row_deal_replicas(deal, row, i + 1, lo, hi);
	}
	row->rank = rank;
}

/* Steps to the next outer indices of a box.  Returns false after the last. */
static bool box_step(uint64_t *idx, const uint64_t *lo, const uint64_t *hi, uint32_t outer)
{
	while (outer-- > 0) {
		if (++idx[outer] < hi[outer])
			return true;
		idx[outer] = lo[outer];
	}
	return false;
}

void deal_tile(const struct deal *deal, uint64_t lo, uint64_t hi)
{
	const struct nest *nest = &deal->layout->nest;
	uint64_t from[NEST_DIMS], to[NEST_DIMS];
	uint64_t box_lo[NEST_DIMS], box_hi[NEST_DIMS];
	uint64_t idx[NEST_DIMS];
	uint32_t last = nest->ndims - 1;
	struct boxes boxes;
	struct row row;

	nest_locate(nest, lo, from);
	nest_locate(nest, hi, to);
	boxes_init(&boxes, nest, from, to);
	while (boxes_next(&boxes, box_lo, box_hi)) {
		memcpy(idx, box_lo, sizeof(idx));
		do {
			row_init(&row, deal, idx);
			row_deal_replicas(deal, &row, 0, box_lo[last], box_hi[last]);
		} while (box_step(idx, box_lo, box_hi, last));
	}
}
