// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Walks the runs of an array in a range of the file.
 *
 * The range is a few boxes.  In a box each axis gives, for each coordinate
 * that owns something there, up to three pieces: a partial cycle piece at the
 * head, whole ones at the distance of a cycle, a partial one at the tail.
 * The cross product over axes, from the innermost out, gives the runs; going
 * outward, the weight of an axis in the share is known when it is reached.
 */
#include "map/layout.h"

/* One axis of the current box. */
struct span {
	uint64_t lo, hi;
	uint64_t lo_cycle, lo_rem; /* of lo */
	uint64_t hi_cycle, hi_rem; /* of hi - 1 */
	uint64_t first, ncoords;   /* coordinates that own something, round-robin */
};

/* @count pieces of @len indices at the distance of a cycle */
struct pieces {
	uint64_t start;
	uint64_t local;
	uint64_t len;
	uint64_t count;
};

/* Sums over the axes walked so far, the inner ones. */
struct inner {
	uint64_t weight; /* bytes of the share for one index of the next axis */
	uint64_t below;	 /* bytes of the share before the origin */
	uint64_t file;
	uint64_t share;
	uint64_t rank;
};

struct layout_walk {
	const struct ddio_map_layout *layout;
	ddio_map_run_fn fn;
	void *arg;
	const uint64_t *coord; /* NULL: every process */
	uint32_t proc;
	bool writing;
	struct axis_mark origin;
	struct span span[NEST_DIMS];
	struct stack stack;
};

static void span_init(struct span *s, const struct ddio_axis *axis, uint64_t lo, uint64_t hi)
{
	uint64_t first, last;

	s->lo = lo;
	s->hi = hi;
	if (axis->owners == 1) {
		s->lo_cycle = 0;
		s->hi_cycle = 0;
		s->lo_rem = lo;
		s->hi_rem = hi - 1;
		s->first = 0;
		s->ncoords = 1;
		return;
	}
	s->lo_cycle = lo / axis->cycle;
	s->lo_rem = lo - s->lo_cycle * axis->cycle;
	s->hi_cycle = (hi - 1) / axis->cycle;
	s->hi_rem = hi - 1 - s->hi_cycle * axis->cycle;
	s->first = 0;
	s->ncoords = axis->owners;
	if (s->hi_cycle - s->lo_cycle > 1)
		return;
	first = s->lo_rem / axis->k;
	last = s->hi_rem / axis->k + (s->hi_cycle > s->lo_cycle ? axis->owners : 0);
	if (last - first + 1 < axis->owners) {
		s->first = first;
		s->ncoords = last - first + 1;
	}
}

/* Finds the pieces of coordinate @p, at most three.  Returns how many. */
static uint32_t span_cut(const struct span *s, const struct ddio_axis *axis, uint64_t p,
			 struct pieces *out)
{
	uint64_t at = p * axis->k;
	uint64_t first = s->lo_cycle + (s->lo_rem >= at + axis->k);
	uint64_t end = s->hi_cycle + (s->hi_rem >= at); /* one past the last cycle */
	uint64_t head, tail, skip;
	uint32_t n = 0;

	if (first >= end)
		return 0;
	head = first * axis->cycle + at;
	skip = s->lo > head ? s->lo - head : 0;
	tail = (end - 1) * axis->cycle + at;
	tail = s->hi - tail < axis->k ? s->hi - tail : axis->k;
	if (skip) {
		uint64_t len = (first + 1 == end ? tail : axis->k) - skip;

		out[n++] = (struct pieces){ head + skip, first * axis->k + skip, len, 1 };
		first++;
	}
	if (first >= end)
		return n;
	if (tail == axis->k) {
		out[n++] = (struct pieces){ first * axis->cycle + at, first * axis->k, axis->k,
					    end - first };
		return n;
	}
	end--;
	if (first < end)
		out[n++] = (struct pieces){ first * axis->cycle + at, first * axis->k, axis->k,
					    end - first };
	out[n++] = (struct pieces){ end * axis->cycle + at, end * axis->k, tail, 1 };
	return n;
}

/* Reports the run for its rank and for the replicas from the @i-th kind on. */
static int walk_replicas(struct layout_walk *w, struct ddio_map_run *run, uint32_t i)
{
	const struct replica *replica = &w->layout->replica[i];
	uint32_t proc = run->proc;
	uint64_t n;
	int rc = 0;

	if (i == w->layout->nreplicas)
		return w->fn(w->arg, run);
	for (n = 0; n < replica->procs && !rc; n++) {
		run->proc = proc + n * replica->rank_stride;
		rc = walk_replicas(w, run, i + 1);
	}
	run->proc = proc;
	return rc;
}

static int walk_emit(struct layout_walk *w, const struct inner *in)
{
	const struct stack *st = &w->stack;
	struct ddio_map_run run;
	uint32_t i;

	run.proc = in->rank;
	run.nlevels = st->n;
	run.file_off = w->layout->nest.off + in->file;
	run.share_off = in->share;
	run.msg_off = in->share - in->below;
	run.len = st->len;
	for (i = 0; i < st->n; i++) {
		const struct stack_level *level = &st->level[st->n - 1 - i];

		run.level[i].count = level->count;
		run.level[i].file_stride = level->a;
		run.level[i].share_stride = level->b;
	}
	if (w->coord) {
		run.proc = w->proc;
		return w->fn(w->arg, &run);
	}
	if (w->writing || !w->layout->nreplicas)
		return w->fn(w->arg, &run);
	return walk_replicas(w, &run, 0);
}

static int walk_axis(struct layout_walk *w, uint32_t naxes, const struct inner *in);

static int walk_coord(struct layout_walk *w, uint32_t d, uint64_t p, const struct inner *in)
{
	const struct ddio_axis *axis = &w->layout->axis[d];
	uint64_t stride = w->layout->nest.dim[d].stride;
	bool innermost = d + 1 == w->layout->naxes;
	struct stack *st = &w->stack;
	struct pieces pieces[3];
	uint32_t n = span_cut(&w->span[d], axis, p, pieces);
	uint64_t below = axis_owned(axis, p, w->origin.full[d], w->origin.rem[d]);
	struct inner out;
	uint32_t i;
	int rc = 0;

	out.rank = in->rank + p * axis->rank_stride;
	out.weight = in->weight * ddio_axis_local(axis, p);
	out.below = below * in->weight;
	if (axis_owns(axis, p, w->origin.rem[d]))
		out.below += in->below;
	for (i = 0; i < n && !rc; i++) {
		uint32_t top = st->n;
		uint64_t top_count = top ? st->level[top - 1].count : 0;
		uint64_t len = st->len;

		if (innermost)
			st->len = pieces[i].len;
		else
			stack_push(st, pieces[i].len, stride, in->weight);
		stack_push(st, pieces[i].count, axis->cycle * stride, axis->k * in->weight);
		out.file = in->file + pieces[i].start * stride;
		out.share = in->share + pieces[i].local * in->weight;
		rc = walk_axis(w, d, &out);
		st->n = top;
		st->len = len;
		if (top)
			st->level[top - 1].count = top_count;
	}
	return rc;
}

/* @naxes: axes still to walk, the outer ones */
static int walk_axis(struct layout_walk *w, uint32_t naxes, const struct inner *in)
{
	uint32_t d = naxes - 1;
	uint64_t owners, p, n;
	int rc = 0;

	if (!naxes)
		return walk_emit(w, in);
	if (w->coord)
		return walk_coord(w, d, w->coord[d], in);
	owners = w->layout->axis[d].owners;
	p = w->span[d].first;
	for (n = w->span[d].ncoords; n && !rc; n--) {
		rc = walk_coord(w, d, p, in);
		if (++p == owners)
			p = 0;
	}
	return rc;
}

static int walk_boxes(struct layout_walk *w, const struct map_range *range)
{
	static const struct inner outside = { .weight = 1 };
	const struct ddio_map_layout *layout = w->layout;
	uint64_t from[NEST_DIMS], to[NEST_DIMS];
	uint64_t lo[NEST_DIMS], hi[NEST_DIMS];
	struct boxes boxes;
	uint32_t d;
	int rc = 0;

	layout_mark(layout, range->origin, &w->origin);
	nest_locate(&layout->nest, range->lo, from);
	nest_locate(&layout->nest, range->hi, to);
	boxes_init(&boxes, &layout->nest, from, to);
	w->stack.n = 0;
	w->stack.len = 0;
	while (!rc && boxes_next(&boxes, lo, hi)) {
		for (d = 0; d < layout->naxes; d++)
			span_init(&w->span[d], &layout->axis[d], lo[d], hi[d]);
		rc = walk_axis(w, layout->naxes, &outside);
	}
	return rc;
}

int layout_runs(const struct ddio_map_layout *layout, const struct map_range *range,
		ddio_map_run_fn fn, void *arg)
{
	struct layout_walk w;

	if (layout->empty || range->lo >= range->hi)
		return 0;
	w.layout = layout;
	w.fn = fn;
	w.arg = arg;
	w.coord = NULL;
	w.proc = 0;
	w.writing = range->writing;
	return walk_boxes(&w, range);
}

int layout_runs_of(const struct ddio_map_layout *layout, uint32_t rank,
		   const struct map_range *range, ddio_map_run_fn fn, void *arg)
{
	uint64_t coord[NEST_DIMS];
	struct layout_walk w;

	if (range->lo >= range->hi || !layout_coords(layout, rank, coord))
		return 0;
	if (range->writing && !layout_delivers(layout, rank))
		return 0;
	w.layout = layout;
	w.fn = fn;
	w.arg = arg;
	w.coord = coord;
	w.proc = rank;
	w.writing = range->writing;
	return walk_boxes(&w, range);
}
