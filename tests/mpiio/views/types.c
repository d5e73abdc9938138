// SPDX-License-Identifier: GPL-2.0-only
#include "tests/mpiio/views/types.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 3, ENTRIES = 4, PIECES_MAX = 600, SIZE_MAX_BYTES = 6000 };

/* Adds bytes to a type's pieces; those that continue the last piece become part of it. */
static void add_piece(struct random_type *t, int64_t at, int64_t len)
{
	struct type_piece *last = t->n ? &t->piece[t->n - 1] : NULL;

	t->size += len;
	if (last && last->at + last->len == at) {
		last->len += len;
		return;
	}
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 16;
		t->piece = realloc(t->piece, t->room * sizeof(*t->piece));
		if (!t->piece)
			abort();
	}
	t->piece[t->n++] = (struct type_piece){ at, len };
}

/* Adds "count" entries of another type, the first at a displacement. */
static void add_type(struct random_type *t, const struct random_type *c, int64_t at, int64_t count)
{
	int64_t k;
	int i;

	for (k = 0; k < count; k++) {
		for (i = 0; i < c->n; i++)
			add_piece(t, at + k * c->extent + c->piece[i].at, c->piece[i].len);
	}
}

static int64_t between(struct mpiio_rand *r, int64_t low, int64_t high)
{
	return low + (int64_t)tst_rand(r, (uint64_t)(high - low + 1));
}

/* The length of a block: now and then none. */
static int block(struct mpiio_rand *r)
{
	return tst_rand(r, 12) ? (int)between(r, 1, 3) : 0;
}

static int order(struct mpiio_rand *r)
{
	return tst_rand(r, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
}

typedef void wrap_fn(struct random_type *t, const struct random_type *c, struct mpiio_rand *r,
		     const struct type_rules *rules);

static void wrap_dup(struct random_type *t, const struct random_type *c, struct mpiio_rand *r,
		     const struct type_rules *rules)
{
	(void)r;
	(void)rules;
	MPI_Type_dup(c->mpi, &t->mpi);
	add_type(t, c, 0, 1);
	snprintf(t->text, TYPE_TEXT, "dup[%.300s]", c->text);
}

static void wrap_contiguous(struct random_type *t, const struct random_type *c,
			    struct mpiio_rand *r, const struct type_rules *rules)
{
	int n = (int)between(r, 1, 4);

	(void)rules;
	MPI_Type_contiguous(n, c->mpi, &t->mpi);
	add_type(t, c, 0, n);
	snprintf(t->text, TYPE_TEXT, "contiguous(%d)[%.280s]", n, c->text);
}

static void wrap_vector(struct random_type *t, const struct random_type *c, struct mpiio_rand *r,
			const struct type_rules *rules)
{
	int n = (int)between(r, 1, 4), len = block(r), i;
	int stride = (int)(rules->file ? between(r, len, len + 3) : between(r, -6, 6));

	MPI_Type_vector(n, len, stride, c->mpi, &t->mpi);
	for (i = 0; i < n; i++)
		add_type(t, c, i * stride * c->extent, len);
	snprintf(t->text, TYPE_TEXT, "vector(%d,%d,%d)[%.280s]", n, len, stride, c->text);
}

static void wrap_hvector(struct random_type *t, const struct random_type *c, struct mpiio_rand *r,
			 const struct type_rules *rules)
{
	int n = (int)between(r, 1, 4), len = block(r), i;
	int64_t stride, reach = len * c->extent;

	if (rules->file)
		stride = reach + rules->bytes * between(r, 0, 5);
	else
		stride = between(r, -2 * reach - 16, 2 * reach + 16);
	MPI_Type_create_hvector(n, len, stride, c->mpi, &t->mpi);
	for (i = 0; i < n; i++)
		add_type(t, c, i * stride, len);
	snprintf(t->text, TYPE_TEXT, "hvector(%d,%d,%lld)[%.260s]", n, len, (long long)stride,
		 c->text);
}

static void wrap_indexed(struct random_type *t, const struct random_type *c, struct mpiio_rand *r,
			 const struct type_rules *rules)
{
	int n = (int)between(r, 1, ENTRIES), i, len[ENTRIES], at[ENTRIES], next = 0;

	for (i = 0; i < n; i++) {
		len[i] = block(r);
		at[i] = (int)(rules->file ? next + between(r, 0, 3) : between(r, -9, 9));
		next = at[i] + len[i];
		add_type(t, c, at[i] * c->extent, len[i]);
	}
	MPI_Type_indexed(n, len, at, c->mpi, &t->mpi);
	snprintf(t->text, TYPE_TEXT, "indexed(%d:%d@%d..)[%.270s]", n, len[0], at[0], c->text);
}

static void wrap_hindexed(struct random_type *t, const struct random_type *c, struct mpiio_rand *r,
			  const struct type_rules *rules)
{
	int n = (int)between(r, 1, ENTRIES), i, len[ENTRIES];
	MPI_Aint at[ENTRIES], next = 0;

	for (i = 0; i < n; i++) {
		len[i] = block(r);
		at[i] = rules->file ? next + rules->bytes * between(r, 0, 4)
				    : between(r, -6 * c->extent, 6 * c->extent);
		next = at[i] + len[i] * c->extent;
		add_type(t, c, at[i], len[i]);
	}
	MPI_Type_create_hindexed(n, len, at, c->mpi, &t->mpi);
	snprintf(t->text, TYPE_TEXT, "hindexed(%d:%d@%lld..)[%.260s]", n, len[0], (long long)at[0],
		 c->text);
}

static void wrap_indexed_block(struct random_type *t, const struct random_type *c,
			       struct mpiio_rand *r, const struct type_rules *rules)
{
	int n = (int)between(r, 1, ENTRIES), len = (int)between(r, 1, 3), i, at[ENTRIES], next = 0;

	for (i = 0; i < n; i++) {
		at[i] = (int)(rules->file ? next + between(r, 0, 3) : between(r, -9, 9));
		next = at[i] + len;
		add_type(t, c, at[i] * c->extent, len);
	}
	MPI_Type_create_indexed_block(n, len, at, c->mpi, &t->mpi);
	snprintf(t->text, TYPE_TEXT, "indexed_block(%d,%d@%d..)[%.260s]", n, len, at[0], c->text);
}

static void wrap_hindexed_block(struct random_type *t, const struct random_type *c,
				struct mpiio_rand *r, const struct type_rules *rules)
{
	int n = (int)between(r, 1, ENTRIES), len = (int)between(r, 1, 3), i;
	MPI_Aint at[ENTRIES], next = 0;

	for (i = 0; i < n; i++) {
		at[i] = rules->file ? next + rules->bytes * between(r, 0, 4)
				    : between(r, -6 * c->extent, 6 * c->extent);
		next = at[i] + len * c->extent;
		add_type(t, c, at[i], len);
	}
	MPI_Type_create_hindexed_block(n, len, at, c->mpi, &t->mpi);
	snprintf(t->text, TYPE_TEXT, "hindexed_block(%d,%d@%lld..)[%.250s]", n, len,
		 (long long)at[0], c->text);
}

/* The entry and basic ones before and after it. */
static void wrap_struct(struct random_type *t, const struct random_type *c, struct mpiio_rand *r,
			const struct type_rules *rules)
{
	MPI_Datatype types[3] = { rules->basic, c->mpi, rules->basic };
	int len[3] = { block(r), (int)between(r, 1, 3), block(r) }, i;
	MPI_Aint at[3], next = 0, extent;
	struct type_piece basic = { 0, rules->bytes };
	struct random_type one = { .n = 1, .piece = &basic, .extent = rules->bytes };

	for (i = 0; i < 3; i++) {
		extent = i == 1 ? c->extent : rules->bytes;
		at[i] = rules->file ? next + rules->bytes * between(r, 0, 3)
				    : between(r, -3 * c->extent - 8, 3 * c->extent + 8);
		next = at[i] + len[i] * extent;
		/* Data may begin below the entry or reach beyond its extent, by its lower bound. */
		if (i == 1 && len[i])
			next += c->lb > 0 ? c->lb : 0;
		add_type(t, i == 1 ? c : &one, at[i], len[i]);
	}
	MPI_Type_create_struct(3, len, at, types, &t->mpi);
	snprintf(t->text, TYPE_TEXT, "struct(%d@%lld,%d@%lld,%d@%lld)[%.230s]", len[0],
		 (long long)at[0], len[1], (long long)at[1], len[2], (long long)at[2], c->text);
}

/* MPICH's own takes a lower bound for a place of data, and writes where there is no memory. */
static void wrap_resized(struct random_type *t, const struct random_type *c, struct mpiio_rand *r,
			 const struct type_rules *rules)
{
	int64_t low, high, lb, extent;

	random_type_bounds(c, 1, &low, &high);
	if (rules->file) {
		lb = tst_rand(r, 2) || !(tst.strict || TST_OPEN_MPI) ? 0 : low;
		extent = high - lb + rules->bytes * between(r, 0, 5);
	} else {
		lb = between(r, -16, 16);
		extent = between(r, 1, high - low + 16);
	}
	MPI_Type_create_resized(c->mpi, lb, extent, &t->mpi);
	add_type(t, c, 0, 1);
	snprintf(t->text, TYPE_TEXT, "resized(%lld,%lld)[%.260s]", (long long)lb, (long long)extent,
		 c->text);
}

/* The coordinates of a place in an array. */
static void coordinates(int ndims, const int *size, int how, int place, int *c)
{
	int i, d;

	for (i = 0; i < ndims; i++) {
		d = how == MPI_ORDER_C ? ndims - 1 - i : i;
		c[d] = place % size[d];
		place /= size[d];
	}
}

static void wrap_subarray(struct random_type *t, const struct random_type *c, struct mpiio_rand *r,
			  const struct type_rules *rules)
{
	int ndims = (int)between(r, 1, DIMS), how = order(r), all = 1, i, d, at[DIMS];
	int size[DIMS], sub[DIMS], start[DIMS];

	(void)rules;
	for (d = 0; d < ndims; d++) {
		size[d] = (int)between(r, 1, 4);
		sub[d] = (int)between(r, 1, size[d]);
		start[d] = (int)between(r, 0, size[d] - sub[d]);
		all *= size[d];
	}
	for (i = 0; i < all; i++) {
		coordinates(ndims, size, how, i, at);
		for (d = 0; d < ndims; d++) {
			if (at[d] < start[d] || at[d] >= start[d] + sub[d])
				break;
		}
		if (d == ndims)
			add_type(t, c, i * c->extent, 1);
	}
	MPI_Type_create_subarray(ndims, size, sub, start, how, c->mpi, &t->mpi);
	snprintf(t->text, TYPE_TEXT, "subarray(%d%s:%d/%d@%d..)[%.250s]", ndims,
		 how == MPI_ORDER_C ? "C" : "F", sub[0], size[0], start[0], c->text);
}

static int owner_in(int size, int dist, int arg, int procs, int at)
{
	if (dist == MPI_DISTRIBUTE_NONE)
		return 0;
	if (dist == MPI_DISTRIBUTE_BLOCK)
		return at / (arg == MPI_DISTRIBUTE_DFLT_DARG ? (size + procs - 1) / procs : arg);
	return at / (arg == MPI_DISTRIBUTE_DFLT_DARG ? 1 : arg) % procs;
}

static void wrap_darray(struct random_type *t, const struct random_type *c, struct mpiio_rand *r,
			const struct type_rules *rules)
{
	static const int dists[] = { MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK,
				     MPI_DISTRIBUTE_CYCLIC };
	int ndims = (int)between(r, 1, 2), how = order(r), all = 1, ranks = 1, i, d, rank, owner;
	int size[DIMS], dist[DIMS], arg[DIMS], procs[DIMS], at[DIMS];

	(void)rules;
	for (d = 0; d < ndims; d++) {
		dist[d] = dists[tst_rand(r, 3)];
		size[d] = (int)between(r, 2, 6);
		procs[d] = dist[d] == MPI_DISTRIBUTE_NONE ? 1 : (int)between(r, 1, 2);
		arg[d] = MPI_DISTRIBUTE_DFLT_DARG;
		if (dist[d] == MPI_DISTRIBUTE_CYCLIC && tst_rand(r, 2))
			arg[d] = (int)between(r, 1, 3);
		if (dist[d] == MPI_DISTRIBUTE_BLOCK && tst_rand(r, 2))
			arg[d] = (size[d] + procs[d] - 1) / procs[d] + (int)between(r, 0, 1);
		all *= size[d];
		ranks *= procs[d];
	}
	rank = (int)tst_rand(r, ranks);
	for (i = 0; i < all; i++) {
		coordinates(ndims, size, how, i, at);
		owner = 0;
		for (d = 0; d < ndims; d++)
			owner = owner * procs[d] +
				owner_in(size[d], dist[d], arg[d], procs[d], at[d]);
		if (owner == rank)
			add_type(t, c, i * c->extent, 1);
	}
	MPI_Type_create_darray(ranks, rank, ndims, size, dist, arg, procs, how, c->mpi, &t->mpi);
	snprintf(t->text, TYPE_TEXT, "darray(%d%s:rank %d of %d,size %d/%d)[%.230s]", ndims,
		 how == MPI_ORDER_C ? "C" : "F", rank, ranks, size[0], ndims > 1 ? size[1] : 1,
		 c->text);
}

static wrap_fn *const constructors[] = { wrap_dup,	     wrap_contiguous,	  wrap_vector,
					 wrap_hvector,	     wrap_indexed,	  wrap_hindexed,
					 wrap_indexed_block, wrap_hindexed_block, wrap_struct,
					 wrap_resized,	     wrap_subarray,	  wrap_darray };

enum { CONSTRUCTORS = sizeof(constructors) / sizeof(constructors[0]) };

static void ask_extent(struct random_type *t)
{
	MPI_Aint lb, extent;

	MPI_Type_get_extent(t->mpi, &lb, &extent);
	t->lb = lb;
	t->extent = extent;
}

static void make_basic(struct random_type *t, const struct type_rules *rules)
{
	char name[MPI_MAX_OBJECT_NAME] = "";
	int len;

	memset(t, 0, sizeof(*t));
	t->mpi = rules->basic;
	t->named = true;
	add_piece(t, 0, rules->bytes);
	ask_extent(t);
	MPI_Type_get_name(t->mpi, name, &len);
	snprintf(t->text, TYPE_TEXT, "%.40s", name);
}

/* Ascending, and so that the next entry begins after this one's data. */
static bool fits_a_file(const struct random_type *t)
{
	int i;

	for (i = 1; i < t->n; i++) {
		if (t->piece[i].at < t->piece[i - 1].at + t->piece[i - 1].len)
			return false;
	}
	return t->n && t->piece[0].at >= 0 && t->lb >= 0 &&
	       t->extent >= t->piece[t->n - 1].at + t->piece[t->n - 1].len - t->piece[0].at;
}

static bool usable(const struct random_type *t, const struct type_rules *rules)
{
	return t->size && t->size <= SIZE_MAX_BYTES && t->n <= PIECES_MAX && t->extent > 0 &&
	       (!rules->file || fits_a_file(t));
}

/* Puts another constructor around a type; leaves it as it is if what comes out is of no use. */
static void wrap(struct random_type *t, struct mpiio_rand *r, const struct type_rules *rules)
{
	struct random_type out = { 0 };

	constructors[tst_rand(r, CONSTRUCTORS)](&out, t, r, rules);
	ask_extent(&out);
	if (usable(&out, rules)) {
		random_type_free(t);
		*t = out;
	} else {
		random_type_free(&out);
	}
}

void random_type_make(struct random_type *t, struct mpiio_rand *r, const struct type_rules *rules,
		      int levels)
{
	int i, n = (int)between(r, 0, levels);

	make_basic(t, rules);
	for (i = 0; i < n; i++)
		wrap(t, r, rules);
	if (!t->named)
		MPI_Type_commit(&t->mpi);
}

void random_type_resize(struct random_type *t, int64_t extent)
{
	MPI_Datatype resized;

	MPI_Type_create_resized(t->mpi, 0, extent, &resized);
	MPI_Type_commit(&resized);
	if (!t->named)
		MPI_Type_free(&t->mpi);
	t->mpi = resized;
	t->named = false;
	ask_extent(t);
}

void random_type_free(struct random_type *t)
{
	if (!t->named)
		MPI_Type_free(&t->mpi);
	free(t->piece);
	memset(t, 0, sizeof(*t));
}

void random_type_bounds(const struct random_type *t, int64_t count, int64_t *low, int64_t *high)
{
	int64_t more = (count - 1) * t->extent;
	int i;

	*low = *high = t->piece[0].at;
	for (i = 0; i < t->n; i++) {
		int64_t end = t->piece[i].at + t->piece[i].len;

		*low = t->piece[i].at < *low ? t->piece[i].at : *low;
		*high = end > *high ? end : *high;
	}
	*high += more > 0 ? more : 0;
	*low += more < 0 ? more : 0;
}

void random_type_places(const struct random_type *t, int64_t from, int64_t n, int64_t *place)
{
	int64_t tile = from / t->size, skip = from % t->size, k = 0;
	int i;

	for (; k < n; tile++) {
		for (i = 0; i < t->n && k < n; i++) {
			for (; skip < t->piece[i].len && k < n; skip++)
				place[k++] = tile * t->extent + t->piece[i].at + skip;
			skip -= t->piece[i].len;
		}
		skip = 0;
	}
}
