// SPDX-License-Identifier: GPL-2.0-only
#include "tests/mpiio/views/memory.h"
#include <stdlib.h>
#include <string.h>

void mem_begin(struct mem_side *m, const struct random_type *type, int64_t count)
{
	int64_t high, i;

	m->type = type;
	m->count = (int)count;
	m->bytes = count * type->size;
	random_type_bounds(type, count, &m->low, &high);
	if (m->low > 0)
		m->low = 0;
	m->room = high - m->low;
	m->place = malloc(m->bytes * sizeof(*m->place));
	m->buf = malloc(m->room);
	if (!m->place || !m->buf)
		abort();
	random_type_places(type, 0, m->bytes, m->place);
	for (i = 0; i < m->bytes; i++)
		m->place[i] -= m->low;
	memset(m->buf, 0xee, m->room);
}

void *mem_origin(const struct mem_side *m)
{
	return m->buf - m->low;
}

void mem_end(struct mem_side *m)
{
	free(m->place);
	free(m->buf);
}

bool mem_distinct(const struct mem_side *m)
{
	unsigned char *used = calloc(1, m->room);
	bool distinct = true;
	int64_t i;

	for (i = 0; i < m->bytes && distinct; i++)
		distinct = !used[m->place[i]]++;
	free(used);
	return distinct;
}

/* Pieces side by side in descending order: Open MPI takes vector(N, 1, -1) for contiguous. */
static bool descends(const struct random_type *t)
{
	int i;

	for (i = 1; i < t->n; i++) {
		if (t->piece[i].at + t->piece[i].len == t->piece[i - 1].at)
			return true;
	}
	return false;
}

static enum pack_verdict packed_as(const struct mem_side *m)
{
	unsigned char *packed = malloc(m->bytes);
	enum pack_verdict verdict = PACK_RIGHT;
	int n = 0;
	int64_t i;

	if (!packed)
		abort();
	if (MPI_Pack(mem_origin(m), m->count, m->type->mpi, packed, (int)m->bytes, &n,
		     MPI_COMM_SELF) ||
	    n != m->bytes)
		verdict = PACK_WRONG_SIZE;
	for (i = 0; i < m->bytes && verdict == PACK_RIGHT; i++) {
		if (packed[i] != m->buf[m->place[i]])
			verdict = PACK_WRONG_ORDER;
	}
	free(packed);
	return verdict;
}

enum pack_verdict pack_compare(const struct random_type *t, uint64_t seed)
{
	enum pack_verdict verdict = PACK_NOT_ASKED;
	struct mem_side m;

	mem_begin(&m, t, 2);
	tst_fill(m.buf, m.room, seed, 0);
	if (!TST_OPEN_MPI || (!descends(t) && mem_distinct(&m)))
		verdict = packed_as(&m);
	mem_end(&m);
	return verdict;
}
