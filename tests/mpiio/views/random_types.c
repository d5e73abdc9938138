// SPDX-License-Identifier: GPL-2.0-only
/*
 * random_types FILE [NTYPES] [SEED]: makes random types, has the library take them apart, and compares each byte of what it
 * makes of them with a walk of the test's own: of the tree, of a view by it that has been put on the wire and read there, and
 * of memory, which is packed and unpacked as transfers do it, and packed by MPI_Pack().  No file is opened.
 */
#include "tests/mpiio/views/memory.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "map/map.h"
#include "map/view.h"
#include "mpiio/core/view.h"
#include "mpiio/data/data.h"
#include "proto/crowd.h"

enum { BATCH = 2000, COUNT_MAX = 3 };

/* Of the batch: types that have each property; packs_asked, packs_wrong: by MPI_Pack(), in all. */
static struct {
	unsigned long nested, holes, backward, twice, views;
} tally;
static unsigned long packs_asked, packs_wrong;
static uint64_t seed, number;

static void complain(const char *what, const struct random_type *t)
{
	tst_fail("seed %llu type %llu: %.70s: %.230s", (unsigned long long)seed,
		 (unsigned long long)number, what, t->text);
}

static void expect(bool good, const char *what, const struct random_type *t)
{
	if (!good)
		complain(what, t);
}

/* The tree has the type's bytes in the type's order. */
static void check_tree(const struct random_type *t, const struct mpiio_shape *s)
{
	uint64_t root = s->nnodes - 1, at = 0;
	int64_t low, high;
	int i;

	random_type_bounds(t, 1, &low, &high);
	expect(shape_low(s) == low, "the lowest byte", t);
	expect(!shape_depth_check(s, 60), "the tree is too deep", t);
	for (i = 0; i < t->n; i++) {
		const struct type_piece *p = &t->piece[i];

		expect(shape_byte(s, root, at) == p->at, "a piece's first byte", t);
		at += (uint64_t)p->len;
		expect(shape_byte(s, root, at - 1) == p->at + p->len - 1, "a piece's last byte", t);
	}
}

/* Each byte of a view and its place. */
struct view_places {
	const int64_t *place;
	uint64_t n, bytes;
	bool same;
};

static int take_piece(void *arg, const struct stack *st, uint64_t addr, uint64_t pos)
{
	struct view_places *w = arg;
	uint64_t i;

	w->same &= !st->n && pos == w->bytes && pos + st->len <= w->n;
	for (i = 0; i < st->len && w->same; i++)
		w->same = w->place[pos + i] == (int64_t)(addr + i);
	w->bytes += st->len;
	return !w->same;
}

static bool view_has(const struct ddio_view *v, const int64_t *place)
{
	struct view_places w = { .place = place, .n = v->len, .same = true };
	struct view_reader reader = { 0 };
	struct tree_part part;
	const char *why = "";
	int ret = view_read(&reader, v, &part, &why);

	if (!ret)
		tree_part_walk(&part, 0, tree_part_size(&part), 0, take_piece, &w);
	view_reader_end(&reader);
	return !ret && w.same && w.bytes == v->len;
}

/* As one that is member @number of its group tells it to the nodes, and as they read it. */
static bool through_the_wire(const struct ddio_view *v, const int64_t *place)
{
	struct ddio_part part = { .kind = DDIO_PART_VIEW, .n = 1, .view = v }, got;
	uint32_t rank = (uint32_t)number % 5000;
	struct kin_room room = { 0 };
	struct ddio_crowd out, in;
	uint8_t buf[16384];
	ssize_t len;
	bool same;

	if (ddio_crowd_one(&out, rank, &part))
		return false;
	len = ddio_put_crowd(buf, sizeof(buf), &out);
	ddio_crowd_free(&out);
	if (len < 0 || ddio_get_crowd(buf, (size_t)len, &in))
		return false;
	same = in.first == rank && in.nmembers == 1 && in.n == 1 &&
	       !kin_part(&in.kin[0], 0, &room, &got) && got.kind == DDIO_PART_VIEW && got.n == 1 &&
	       view_has(&got.view[0], place);
	ddio_crowd_free(&in);
	free(room.entries);
	return same;
}

/* Bytes somewhere in a few repetitions of the type, which begins so far on that none lies below 0. */
static void check_view(const struct random_type *t, struct mpiio_view *v, struct mpiio_rand *r)
{
	uint64_t from = tst_rand(r, 2 * (uint64_t)t->size), i;
	uint64_t n = 1 + tst_rand(r, 2 * (uint64_t)t->size);
	int64_t *place = malloc(n * sizeof(*place)), low, high;
	struct ddio_tree tree;
	struct ddio_view part;

	if (!place)
		abort();
	random_type_bounds(t, 1, &low, &high);
	v->disp = tst_rand(r, 1000) + (uint64_t)(low < 0 ? -low : 0);
	v->extent = (uint64_t)t->extent;
	random_type_places(t, (int64_t)from, (int64_t)n, place);
	for (i = 0; i < n; i++)
		place[i] += (int64_t)v->disp;
	expect(view_byte(v, from) == place[0], "a byte of the view", t);
	view_part(v, from, n, &tree, &part);
	expect(view_has(&part, place), "a part of the view", t);
	expect(through_the_wire(&part, place), "a part of the view, told to another", t);
	free(place);
}

/* How many whole etypes begin below a size: that many places of first bytes. */
static void check_positions(const struct random_type *t, const struct mpiio_view *v,
			    struct mpiio_rand *r)
{
	uint64_t size = v->disp + tst_rand(r, 3 * (uint64_t)t->extent), n, want = 0;
	int64_t *place;

	n = 4 * (uint64_t)t->size;
	place = malloc(n * sizeof(*place));
	if (!place)
		abort();
	random_type_places(t, 0, (int64_t)n, place);
	while (want * v->etype < n && (uint64_t)place[want * v->etype] + v->disp < size)
		want++;
	expect(view_positions(v, size) == want, "positions below a size", t);
	free(place);
}

/* Whether the type may be that of a file, which this program decides by its pieces. */
static bool may_be_in_file(const struct random_type *t)
{
	int i;

	for (i = 1; i < t->n; i++) {
		if (t->piece[i].at < t->piece[i - 1].at + t->piece[i - 1].len)
			return false;
	}
	return t->piece[0].at >= 0;
}

/* The bytes that the library gathers from memory, and where it scatters them. */
static void check_moved(const struct mem_side *m, const struct mpiio_memory *lib,
			const struct ddio_memmap *memmap, bool distinct)
{
	unsigned char *data = malloc(lib->len), *want = malloc(m->room);
	int64_t i;

	if (!data || !want)
		abort();
	ddio_memmap_pack(memmap, 0, lib->len, true, data, lib->buf);
	for (i = 0; i < m->bytes && data[i] == m->buf[m->place[i]]; i++)
		;
	expect(i == m->bytes, "memory, gathered", m->type);
	memcpy(want, m->buf, m->room);
	for (i = 0; i < m->bytes; i++)
		want[m->place[i]] = data[i] = tst_byte(seed + 1, (uint64_t)i);
	ddio_memmap_unpack(memmap, 0, lib->len, data, lib->buf);
	expect(!distinct || !memcmp(want, m->buf, m->room), "memory, scattered", m->type);
	free(data);
	free(want);
}

/* Nothing is moved where that would be beyond the data. */
static void check_gathered(const struct mem_side *m, const struct mpiio_memory *lib, bool distinct)
{
	struct ddio_extent all = { 0, lib->len };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &all };
	struct ddio_memmap *memmap = NULL;
	struct ddio_map *map = NULL;
	const unsigned char *from = lib->buf;
	const char *why = "";
	uint64_t span = 0;

	if (ddio_map_new_parts(&part, 1, &map, &why))
		abort();
	if (ddio_memmap_new(map, 0, lib->packed ? NULL : &lib->memory, &memmap, &span, &why))
		complain(why, m->type);
	else if (from >= m->buf && from + span <= m->buf + m->room)
		check_moved(m, lib, memmap, distinct);
	else
		complain("memory beyond the data", m->type);
	ddio_memmap_free(memmap);
	ddio_map_free(map);
}

static void check_memory(const struct random_type *t, struct mpiio_rand *r)
{
	struct mpiio_memory lib;
	struct mem_side m;
	unsigned char *packed;
	bool distinct;
	int64_t i;

	mem_begin(&m, t, 1 + (int64_t)tst_rand(r, COUNT_MAX));
	distinct = mem_distinct(&m);
	tally.twice += !distinct;
	tst_fill(m.buf, m.room, seed, 0);
	packed = malloc(m.bytes);
	if (!packed || memory_of(mem_origin(&m), m.count, t->mpi, &lib))
		abort();
	expect(lib.len == (uint64_t)m.bytes, "the bytes in memory", t);
	check_gathered(&m, &lib, distinct);
	tst_fill(m.buf, m.room, seed, 0);
	memory_pack(&lib, packed);
	for (i = 0; i < m.bytes && packed[i] == m.buf[m.place[i]]; i++)
		;
	expect(i == m.bytes, "memory, packed", t);
	memory_drop(&lib);
	free(packed);
	mem_end(&m);
}

static void check_pack(const struct random_type *t)
{
	enum pack_verdict verdict = pack_compare(t, seed);

	packs_asked += verdict != PACK_NOT_ASKED;
	/* Two elements that lie within each other: Open MPI 4.1 takes some for sorted. */
	if (verdict == PACK_WRONG_ORDER && TST_OPEN_MPI)
		packs_wrong++;
	else
		expect(verdict == PACK_RIGHT || verdict == PACK_NOT_ASKED, "MPI_Pack", t);
}

static void count(const struct random_type *t, const struct mpiio_shape *s, bool in_file)
{
	int64_t low, high;

	random_type_bounds(t, 1, &low, &high);
	tally.nested += !shape_depth_check(s, 60) && shape_depth_check(s, 3) == -E2BIG;
	tally.holes += t->n > 1;
	tally.backward += !in_file;
	tally.views += in_file && t->n > 1;
}

static void check_type(const struct random_type *t, const struct type_rules *rules,
		       struct mpiio_rand *r)
{
	struct mpiio_view v = { .etype = (uint64_t)rules->bytes };
	bool in_file = may_be_in_file(t);

	if (type_shape(t->mpi, &v.shape)) {
		complain("the library refuses it", t);
		return;
	}
	expect(shape_bytes(&v.shape) == (uint64_t)t->size, "its size", t);
	if (shape_bytes(&v.shape) == (uint64_t)t->size) {
		check_tree(t, &v.shape);
		expect(!shape_in_order(&v.shape, false) == in_file, "whether a file may have it",
		       t);
		check_view(t, &v, r);
		if (rules->file)
			check_positions(t, &v, r);
		check_memory(t, r);
		check_pack(t);
	}
	count(t, &v.shape, in_file);
	view_drop(&v);
}

static void one_type(void)
{
	static const struct type_rules basics[] = { { MPI_BYTE, 1, false },
						    { MPI_SHORT, 2, false },
						    { MPI_INT, 4, false },
						    { MPI_DOUBLE, 8, false } };
	struct mpiio_rand r = { seed ^ number << 20 };
	struct type_rules rules = basics[tst_rand(&r, 4)];
	struct random_type t;

	rules.file = tst_rand(&r, 2);
	random_type_make(&t, &r, &rules, TYPE_LEVELS);
	check_type(&t, &rules, &r);
	random_type_free(&t);
	number++;
}

static void batch(unsigned long n)
{
	char name[64];
	unsigned long i;

	memset(&tally, 0, sizeof(tally));
	snprintf(name, sizeof(name), "types/%llu", (unsigned long long)number);
	tst_case(name);
	for (i = 0; i < n; i++)
		one_type();
	/* The types are what they are meant to be. */
	CHECK(n < BATCH || (tally.nested > n / 5 && tally.holes > n / 3 && tally.backward > n / 8 &&
			    tally.twice > n / 20 && tally.views > n / 6),
	      "of %lu types %lu nested, %lu holes, %lu backward, %lu twice, %lu views", n,
	      tally.nested, tally.holes, tally.backward, tally.twice, tally.views);
	tst_case_end();
}

int main(int argc, char **argv)
{
	int i = tst_begin(argc, argv);
	unsigned long types = i < argc ? strtoul(argv[i], NULL, 0) : 3000;

	tst.strict = true;
	seed = i + 1 < argc ? strtoull(argv[i + 1], NULL, 0) : 1;
	for (; types; types -= types < BATCH ? types : BATCH)
		batch(types < BATCH ? types : BATCH);
	if (!tst.rank)
		printf("# seed %llu: %llu types, %lu asked of MPI_Pack, %lu that it has wrong\n",
		       (unsigned long long)seed, (unsigned long long)number, packs_asked,
		       packs_wrong);
	return tst_finish();
}
