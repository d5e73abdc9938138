/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A nest: bytes that lie in nested strides, addressed in closed form.
 *
 * The last dimension counts bytes one by one and has stride 1; the others are
 * repetitions, outermost first.  The bytes have a linear order, that of the
 * indices (the last varies fastest): it is the order of a share.  In a file a
 * nest is *monotone*: a later byte has a higher address, so that an address
 * can be turned into an index.  In memory it need not be; strides then are
 * two's complement.
 */
#ifndef DDIO_MAP_NEST_H
#define DDIO_MAP_NEST_H

#include <stdbool.h>
#include <stdint.h>
#include <ddio/dist.h>

#define NEST_DIMS (DDIO_MAX_DIMS + 1)

/**
 * struct nest_dim - one dimension
 * @count: indices
 * @stride: address distance of two neighbours
 * @weight: linear distance of two neighbours: bytes in all inner dimensions
 */
struct nest_dim {
	uint64_t count;
	uint64_t stride;
	uint64_t weight;
};

struct nest {
	uint64_t off;
	uint32_t ndims;
	struct nest_dim dim[NEST_DIMS];
};

/* Drops and merges dimensions where the bytes stay the same; sets the weights. */
void nest_simplify(struct nest *nest);

bool nest_monotone(const struct nest *nest);

static inline uint64_t nest_size(const struct nest *nest)
{
	return nest->dim[0].count * nest->dim[0].weight;
}

/* Returns one past the last byte of a monotone nest, which must not be empty. */
uint64_t nest_end(const struct nest *nest);

/*
 * Finds the index of the first byte of a monotone nest at or after address @x.
 * Each index is below its count, but for the end, which is (count, 0, ..., 0).
 */
void nest_locate(const struct nest *nest, uint64_t x, uint64_t *idx);

/* Finds the index of the byte at linear position @pos; the end as above. */
void nest_seek(const struct nest *nest, uint64_t pos, uint64_t *idx);

static inline uint64_t nest_rank(const struct nest *nest, const uint64_t *idx)
{
	uint64_t sum = 0;
	uint32_t d;

	for (d = 0; d < nest->ndims; d++)
		sum += idx[d] * nest->dim[d].weight;
	return sum;
}

static inline uint64_t nest_addr(const struct nest *nest, const uint64_t *idx)
{
	uint64_t sum = nest->off;
	uint32_t d;

	for (d = 0; d < nest->ndims; d++)
		sum += idx[d] * nest->dim[d].stride;
	return sum;
}

/* Returns how many bytes of a monotone nest lie below address @x. */
uint64_t nest_below(const struct nest *nest, uint64_t x);

/* Finds the first contiguous range at or after @from.  Returns false if there is none. */
bool nest_next(const struct nest *nest, uint64_t from, uint64_t *start, uint64_t *end);

/**
 * struct boxes - a walk over the bytes from one index to another, as boxes
 *
 * An interval of the linear order of N dimensions is at most 2N - 1 boxes:
 * what is left of the first row, of the first plane and so on, then whole
 * outermost indices, then the beginning of the last ones.
 */
struct boxes {
	const struct nest *nest;
	const uint64_t *from;
	const uint64_t *to;
	uint32_t split;
	uint32_t level;
	uint32_t first;
	int phase;
};

/* @from and @to: as nest_locate() makes them; they must outlive the walk */
void boxes_init(struct boxes *boxes, const struct nest *nest, const uint64_t *from,
		const uint64_t *to);

/* Finds the next box [lo, hi) in linear order.  Returns false after the last. */
bool boxes_next(struct boxes *boxes, uint64_t *lo, uint64_t *hi);

/**
 * struct stack - levels of a run under construction, innermost first
 *
 * Two addresses run side by side, @a and @b: file and share, or message and
 * memory.  Levels are pushed from the inside out and merge where they can, so
 * that runs are few and pieces long.
 */
struct stack {
	uint64_t len;
	uint32_t n;
	struct stack_level {
		uint64_t count;
		uint64_t a;
		uint64_t b;
	} level[2 * DDIO_MAX_DIMS + 2];
};

static inline void stack_push(struct stack *st, uint64_t count, uint64_t a, uint64_t b)
{
	struct stack_level *top = &st->level[st->n];

	if (count == 1)
		return;
	if (!st->n && a == st->len && b == st->len) {
		st->len *= count;
		return;
	}
	if (st->n && a == top[-1].count * top[-1].a && b == top[-1].count * top[-1].b) {
		top[-1].count *= count;
		return;
	}
	top->count = count;
	top->a = a;
	top->b = b;
	st->n++;
}

/* Pushes the levels of one box of a nest: @a advances by the nest's strides, @b by its weights. */
void stack_box(struct stack *st, const struct nest *nest, const uint64_t *lo, const uint64_t *hi);

#endif /* DDIO_MAP_NEST_H */
