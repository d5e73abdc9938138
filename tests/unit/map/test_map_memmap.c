// SPDX-License-Identifier: GPL-2.0-only
/* The memory side against its twin: where each byte of each share lies. */
#include "map_gen.h"

#define CASES 2500
#define MAX_STRIDED 64

static uint64_t seed;

/**
 * struct memory_twin - where the bytes of one share lie
 * @mem: memory offset by share offset
 * @span: one past the last
 */
struct memory_twin {
	uint64_t *mem;
	uint64_t n;
	uint64_t span;
};

static void memory_init(struct memory_twin *m, uint64_t size)
{
	m->mem = malloc((size + 1) * sizeof(*m->mem));
	if (!m->mem)
		abort();
	m->n = 0;
	m->span = 0;
}

static void memory_append(struct memory_twin *m, uint64_t mem)
{
	m->mem[m->n++] = mem;
	if (mem + 1 > m->span)
		m->span = mem + 1;
}

/* A local array with room around the share. */
static void gen_ghosts(struct twin_rng *rng, const struct ddio_array *array,
		       const struct gen_dim *dim, uint64_t rank, struct ddio_memory *memory,
		       struct memory_twin *m)
{
	uint64_t coord[DDIO_MAX_DIMS], own[DDIO_MAX_DIMS], idx[DDIO_MAX_DIMS] = { 0 };
	uint64_t at, i;
	bool some = m->mem != NULL;
	uint32_t d;

	gen_coords(dim, array->ndims, rank, coord);
	memory->ndims = array->ndims;
	for (d = 0; d < array->ndims; d++) {
		own[d] = 0;
		for (i = 0; i < dim[d].count; i++)
			own[d] += gen_owns(&dim[d], coord[d], i);
		memory->start[d] = twin_chance(rng, 50) ? 0 : twin_pick(rng, 0, 3);
		memory->size[d] = memory->start[d] + own[d];
		memory->size[d] += twin_chance(rng, 50) ? 0 : twin_pick(rng, 0, 3);
		some &= own[d] > 0;
	}
	do {
		at = 0;
		for (d = 0; d < array->ndims; d++)
			at = at * memory->size[d] + memory->start[d] + idx[d];
		for (i = 0; some && i < array->elem_size; i++)
			memory_append(m, at * array->elem_size + i);
		for (d = array->ndims; d-- > 0;) {
			if (++idx[d] < own[d])
				break;
			idx[d] = 0;
		}
	} while (some && d != UINT32_MAX);
}

/* One strided piece of memory of at most @room bytes, on bytes that no other takes. */
static uint64_t gen_memory_piece(struct twin_rng *rng, struct ddio_strided *s, uint64_t room,
				 uint64_t *next)
{
	uint64_t extent, size;
	uint32_t d;

	memset(s, 0, sizeof(*s));
	s->len = extent = size = twin_pick(rng, 1, room < 12 ? room : 12);
	s->offset = *next + twin_pick(rng, 0, 5);
	for (d = 2; d-- > 0;) {
		uint64_t count = twin_pick(rng, 1, 4);
		uint64_t stride = extent + twin_pick(rng, 0, 5);

		if (size * count > room || twin_chance(rng, 30))
			count = 1;
		s->level[d].count = count;
		s->level[d].stride = (int64_t)stride;
		extent += (count - 1) * stride;
		size *= count;
		if (twin_chance(rng, 30)) { /* backwards */
			s->offset += (count - 1) * stride;
			s->level[d].stride = -(int64_t)stride;
		}
	}
	s->nlevels = 2;
	*next += extent + 5;
	return size;
}

static void memory_expand(struct memory_twin *m, const struct ddio_strided *s)
{
	uint64_t i, j, b;

	for (i = 0; i < s->level[0].count; i++)
		for (j = 0; j < s->level[1].count; j++)
			for (b = 0; b < s->len; b++)
				memory_append(m, s->offset + i * (uint64_t)s->level[0].stride +
							 j * (uint64_t)s->level[1].stride + b);
}

static void gen_strided(struct twin_rng *rng, struct ddio_strided *s, uint64_t size,
			struct ddio_memory *memory, struct memory_twin *m)
{
	uint64_t next = 0;
	uint64_t left = size;
	uint64_t i, j;

	memory->strided = s;
	if (twin_chance(rng, 20)) /* an empty one is no error */
		s[memory->nstrided++] = (struct ddio_strided){ .offset = 1 };
	while (left && memory->nstrided < MAX_STRIDED - 1)
		left -= gen_memory_piece(rng, &s[memory->nstrided++], left, &next);
	if (left)
		s[memory->nstrided++] = (struct ddio_strided){
			.offset = next, .len = left, .nlevels = 2, .level = { { 1, 0 }, { 1, 0 } }
		};
	for (i = twin_chance(rng, 50) ? memory->nstrided : 0; i > 1; i--) {
		struct ddio_strided swap = s[i - 1];

		j = twin_pick(rng, 0, i - 1);
		s[i - 1] = s[j];
		s[j] = swap;
	}
	for (i = 0; i < memory->nstrided; i++)
		if (s[i].len)
			memory_expand(m, &s[i]);
}

struct piece_walk {
	uint64_t *mem; /* by message offset */
	uint64_t n;
	uint64_t last;
	uint64_t faults;
};

static int walk_piece(void *arg, const struct mem_piece *piece)
{
	struct piece_walk *w = arg;
	uint64_t idx[2 * DDIO_MAX_DIMS + 2] = { 0 };
	uint64_t msg, mem, b;
	uint32_t d;

	w->faults += !piece->len || piece->msg_off < w->last;
	w->last = piece->msg_off;
	do {
		msg = piece->msg_off;
		mem = piece->mem_off;
		for (d = 0; d < piece->nlevels; d++) {
			msg += idx[d] * piece->level[d].msg_stride;
			mem += idx[d] * (uint64_t)piece->level[d].mem_stride;
		}
		for (b = 0; b < piece->len; b++) {
			if (msg + b >= w->n || w->mem[msg + b] != TWIN_NONE)
				w->faults++;
			else
				w->mem[msg + b] = mem + b;
		}
		for (d = piece->nlevels; d-- > 0;) {
			if (++idx[d] < piece->level[d].count)
				break;
			idx[d] = 0;
		}
	} while (d != UINT32_MAX);
	return 0;
}

/* The memory offset of each byte of the message, in order; returns their number. */
static uint64_t expect_message(const struct map_twin *t, const struct memory_twin *m, uint32_t proc,
			       uint64_t lo, uint64_t hi, uint64_t *mem)
{
	uint64_t n = 0;
	uint64_t f;

	for (f = lo; f < hi && f < t->bytes; f++)
		if (twin_at(t, proc, f) != TWIN_NONE)
			mem[n++] = m->mem[twin_at(t, proc, f)];
	return n;
}

static uint64_t check_copies(const struct ddio_memmap *memmap, const struct memory_twin *m,
			     const uint64_t *want, uint64_t n, uint64_t lo, uint64_t hi,
			     bool writing)
{
	unsigned char *msg = malloc(n + !n);
	unsigned char *mem = malloc(m->span + !m->span);
	unsigned char *twin = malloc(m->span + !m->span);
	uint64_t faults = 0;
	uint64_t i;

	if (!msg || !mem || !twin)
		abort();
	for (i = 0; i < m->span; i++)
		mem[i] = twin_byte(3, i);
	ddio_memmap_pack(memmap, lo, hi, writing, msg, mem);
	for (i = 0; i < n; i++)
		faults += msg[i] != twin_byte(3, want[i]);
	if (!writing) {
		memset(mem, 0, m->span);
		memset(twin, 0, m->span);
		for (i = 0; i < n; i++) {
			msg[i] = twin_byte(5, i);
			twin[want[i]] = msg[i];
		}
		ddio_memmap_unpack(memmap, lo, hi, msg, mem);
		faults += m->span && memcmp(mem, twin, m->span) != 0;
	}
	free(msg);
	free(mem);
	free(twin);
	return faults;
}

static uint64_t check_range(const struct map_twin *t, const struct ddio_memmap *memmap,
			    const struct memory_twin *m, uint32_t proc, uint64_t lo, uint64_t hi,
			    bool writing)
{
	uint64_t *want = malloc((m->n + 1) * sizeof(*want));
	uint64_t *got = malloc((m->n + 1) * sizeof(*got));
	struct piece_walk w = { .mem = got };
	uint64_t mem_off, len, i;
	bool contiguous = true;
	uint64_t faults;

	if (!want || !got)
		abort();
	w.n = expect_message(t, m, proc, lo, hi, want);
	if (writing && !t->delivers[proc])
		w.n = 0;
	for (i = 0; i < w.n; i++) {
		got[i] = TWIN_NONE;
		contiguous &= want[i] == want[0] + i;
	}
	w.faults += !!memmap_pieces(memmap, lo, hi, writing, walk_piece, &w);
	for (i = 0; i < w.n; i++)
		w.faults += got[i] != want[i];
	if (ddio_memmap_contiguous(memmap, lo, hi, writing, &mem_off, &len))
		w.faults += !contiguous || len != w.n || (w.n && mem_off != want[0]);
	else
		w.faults += contiguous;
	faults = w.faults + check_copies(memmap, m, want, w.n, lo, hi, writing);
	free(want);
	free(got);
	return faults;
}

static uint64_t check_place(struct twin_rng *rng, const struct map_twin *t,
			    const struct ddio_map *map, uint32_t proc,
			    const struct ddio_memory *memory, const struct memory_twin *m)
{
	struct ddio_memmap *memmap = NULL;
	const char *why = "";
	uint64_t span = 1;
	uint64_t faults, lo, hi;
	int rc = ddio_memmap_new(map, proc, memory, &memmap, &span, &why);
	int i;

	if (rc) {
		printf("%s\n", why);
		return 1;
	}
	faults = span != m->span;
	for (i = 0; i < 4; i++) {
		twin_range(t, rng, &lo, &hi);
		faults += check_range(t, memmap, m, proc, lo, hi, i & 1);
	}
	ddio_memmap_free(memmap);
	return faults;
}

/* One process of the map, with one kind of memory; @array may be NULL. */
static uint64_t check_memory(struct twin_rng *rng, const struct map_twin *t,
			     const struct ddio_map *map, const struct ddio_array *array,
			     const struct gen_dim *dim)
{
	struct ddio_strided strided[MAX_STRIDED];
	struct ddio_memory memory = { 0 };
	uint32_t proc = twin_pick(rng, 0, t->nprocs - 1);
	uint64_t kind = twin_pick(rng, 0, 2);
	struct memory_twin m;
	uint64_t faults, i, grid = 1;

	memory_init(&m, t->size[proc]);
	for (i = 0; array && i < array->ndims; i++)
		grid *= dim[i].procs;
	if (kind == 0 || (kind == 1 && (!array || proc >= grid))) {
		for (i = 0; i < t->size[proc]; i++)
			memory_append(&m, i);
		kind = 0;
	} else if (kind == 1) {
		gen_ghosts(rng, array, dim, proc, &memory, &m);
	} else {
		gen_strided(rng, strided, t->size[proc], &memory, &m);
	}
	faults = check_place(rng, t, map, proc, kind ? &memory : NULL, &m);
	free(m.mem);
	return faults;
}

static void test_arrays(void)
{
	struct gen_dim dim[DDIO_MAX_DIMS];
	struct ddio_array array;
	struct map_twin t;
	uint64_t n;

	for (n = 0; n < CASES; n++) {
		struct twin_rng rng = { seed + n * 1000003 };
		struct ddio_map *map = NULL;
		uint64_t faults;

		gen_array(&rng, &array, dim, &t, 150);
		CU_ASSERT_EQUAL_FATAL(ddio_map_new_array(&array, t.nprocs, &map, NULL), 0);
		faults = check_memory(&rng, &t, map, &array, dim);
		twin_clip(&t, map, &rng);
		faults += check_memory(&rng, &t, map, &array, dim);
		CU_ASSERT_EQUAL(faults, 0);
		if (faults)
			printf("case %" PRIu64 "\n", n);
		ddio_map_free(map);
		twin_destroy(&t);
	}
}

static void test_parts(void)
{
	struct gen_parts *g = malloc(sizeof(*g));
	struct map_twin t;
	uint64_t n;

	for (n = 0; g && n < CASES; n++) {
		struct twin_rng rng = { seed + n * 1000003 };
		struct ddio_map *map = NULL;
		uint64_t faults = 0;

		memset(g, 0, sizeof(*g));
		if (gen_parts(&rng, g, &t)) {
			CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(g->part, g->nprocs, &map, NULL),
					      0);
			faults = check_memory(&rng, &t, map, NULL, NULL);
			twin_clip(&t, map, &rng);
			faults += check_memory(&rng, &t, map, NULL, NULL);
			ddio_map_free(map);
		}
		CU_ASSERT_EQUAL(faults, 0);
		if (faults)
			printf("case %" PRIu64 "\n", n);
		twin_destroy(&t);
	}
	free(g);
}

struct memmap_refusal {
	const char *why;
	uint32_t proc;
	int rc;
	struct ddio_memory memory;
};

/* The share is 3 x 4 elements of 8 bytes, for rank 0 of 2; rank 2 has none. */
static void test_refused(void)
{
	static const struct ddio_strided short_one = { .len = 90 };
	static const struct ddio_strided long_one = { .len = 97 };
	static const struct ddio_strided below = {
		.offset = 10, .len = 8, .nlevels = 1, .level = { { 12, -8 } }
	};
	static const struct ddio_strided far = {
		.offset = 10, .len = 8, .nlevels = 1, .level = { { 12, INT64_MAX / 8 } }
	};
	static const struct ddio_strided twice = { .len = 8, .nlevels = 1, .level = { { 12, 0 } } };
	static const struct memmap_refusal refusals[] = {
		{ "proc is not below the number of processes", 3, -EINVAL, { 0 } },
		{ "memory.kind is unknown, or set beside memory.ndims", 0, -EINVAL, { .kind = 2 } },
		{ "memory.ndims is not that of the array", 0, -EINVAL, { .ndims = 1 } },
		{ "memory.nstrided is set beside memory.ndims",
		  0,
		  -EINVAL,
		  { .ndims = 2, .nstrided = 1 } },
		{ "memory.size: the local share does not fit from start on",
		  0,
		  -EINVAL,
		  { .ndims = 2, .size = { 3, 4 }, .start = { 0, 1 } } },
		{ "memory.size: the local share does not fit from start on",
		  2,
		  -EINVAL,
		  { .ndims = 2, .size = { 3, 4 }, .start = { 4, 0 } } },
		{ "memory.size: the local array is larger than 2^63 bytes",
		  0,
		  -EOVERFLOW,
		  { .ndims = 2, .size = { UINT64_C(1) << 40, UINT64_C(1) << 20 } } },
		{ "memory.strided is missing", 0, -EINVAL, { .nstrided = 1 } },
		{ "memory.nstrided is too large",
		  0,
		  -EINVAL,
		  { .nstrided = UINT64_MAX, .strided = &short_one } },
		{ "memory.strided has fewer bytes than the share", 0, -EINVAL, { 0 } },
		{ "memory.strided has fewer bytes than the share",
		  0,
		  -EINVAL,
		  { .nstrided = 1, .strided = &short_one } },
		{ "memory.strided has more bytes than the share",
		  0,
		  -EINVAL,
		  { .nstrided = 1, .strided = &long_one } },
		{ "memory.strided reaches below the buffer",
		  0,
		  -EINVAL,
		  { .nstrided = 1, .strided = &below } },
		{ "strided: its last byte is beyond 2^63",
		  0,
		  -EOVERFLOW,
		  { .nstrided = 1, .strided = &far } },
		{ "strided.level.stride is 0: a byte is named twice",
		  0,
		  -EINVAL,
		  { .nstrided = 1, .strided = &twice } },
	};
	struct ddio_array array = { .elem_size = 8,
				    .ndims = 2,
				    .dim = { { .size = 3 },
					     { .size = 8, .dist = DDIO_BLOCK, .procs = 2 } } };
	struct ddio_map *map = NULL;
	size_t i;

	CU_ASSERT_EQUAL_FATAL(ddio_map_new_array(&array, 3, &map, NULL), 0);
	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct memmap_refusal *r = &refusals[i];
		struct ddio_memmap *memmap = NULL;
		const char *why = "";
		uint64_t span;

		CU_ASSERT_EQUAL(ddio_memmap_new(map, r->proc, &r->memory, &memmap, &span, &why),
				r->rc);
		CU_ASSERT_STRING_EQUAL(why, r->why);
		CU_ASSERT_PTR_NULL(memmap);
	}
	ddio_map_free(map);
}

/* A description of ghost cells means nothing where there is no array. */
static void test_refused_for_parts(void)
{
	struct ddio_extent list = { 100, 10 };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &list };
	struct ddio_memory memory = { .ndims = 1, .size = { 10 } };
	struct ddio_memmap *memmap = NULL;
	struct ddio_map *map = NULL;
	const char *why = "";
	uint64_t span;

	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(&part, 1, &map, NULL), 0);
	CU_ASSERT_EQUAL(ddio_memmap_new(map, 0, &memory, &memmap, &span, &why), -EINVAL);
	CU_ASSERT_STRING_EQUAL(why, "memory.ndims is set, but the file's part is no array");
	ddio_map_free(map);
}

static int stop_at_second(void *arg, const struct mem_piece *piece)
{
	(void)piece;
	return ++*(int *)arg == 2 ? -ECANCELED : 0;
}

/* What a callback returns ends the walk and is its result. */
static void test_stopped(void)
{
	struct ddio_array array = { .elem_size = 1, .ndims = 1, .dim = { { .size = 100 } } };
	struct ddio_strided strided[3] = { { .offset = 0, .len = 10 },
					   { .offset = 20, .len = 10 },
					   { .offset = 40, .len = 80 } };
	struct ddio_memory memory = { .nstrided = 3, .strided = strided };
	struct ddio_memmap *memmap = NULL;
	struct ddio_map *map = NULL;
	uint64_t span;
	int calls = 0;

	CU_ASSERT_EQUAL_FATAL(ddio_map_new_array(&array, 1, &map, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_memmap_new(map, 0, &memory, &memmap, &span, NULL), 0);
	CU_ASSERT_EQUAL(span, 120);
	CU_ASSERT_EQUAL(memmap_pieces(memmap, 0, 100, false, stop_at_second, &calls), -ECANCELED);
	CU_ASSERT_EQUAL(calls, 2);
	ddio_memmap_free(memmap);
	ddio_memmap_free(NULL);
	ddio_map_free(map);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "memory of random arrays agrees with the twin", test_arrays },
		{ "memory of random parts agrees with the twin", test_parts },
		{ "refused, and why", test_refused },
		{ "refused for parts", test_refused_for_parts },
		{ "a walk can be stopped", test_stopped },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "memory", cases } };

	seed = twin_seed("test_map_memmap");
	return ut_run("test_map_memmap", suites, 1);
}
