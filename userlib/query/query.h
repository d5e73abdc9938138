/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Questions about records, evaluated.  Pure: the I/O processors and the library both do it with this, see
 * Documentation/query.rst.
 *
 * The *span* of a question is the range of a record's bytes from the first to the last that any field of it has.  A record
 * whose span lies within one block is looked at where the block is.  Of any other, each block gives its *fragment*, the
 * used bytes that it has, and whoever has them all looks at them.
 */
#ifndef DDIO_QUERY_IMPL_H
#define DDIO_QUERY_IMPL_H

#include <stdbool.h>
#include <ddio/query.h>
#include "query/exact.h"

/**
 * struct query_run - used bytes of a record that are contiguous
 * @offset: in the record
 * @at: where they are when only used bytes are kept
 */
struct query_run {
	uint32_t offset, len, at;
};

/**
 * struct ddio_query_shape - what follows from a question
 * @q: the question, which must stay
 * @lo, @hi: its span
 * @run: its used bytes, ascending; @used of them in all
 * @out: bytes that are returned of a record
 * @load: of each field: how it is read
 */
struct ddio_query_shape {
	const struct ddio_query *q;
	uint32_t lo, hi;
	uint32_t nruns, used, out;
	struct query_run run[DDIO_QUERY_FIELDS_MAX];
	uint8_t load[DDIO_QUERY_FIELDS_MAX];
};

/*
 * shape.c
 */

/* Checks a question, and says what follows from it: 0, or -EINVAL or -E2BIG with @why one line. */
int ddio_query_shape(const struct ddio_query *q, struct ddio_query_shape *shape, const char **why);
/* The same of a question whose records are dealt out to @members. */
int ddio_query_shape_dealt(const struct ddio_query *q, const struct ddio_query_deal *deal,
			   uint32_t members, struct ddio_query_shape *shape, const char **why);
/* Checks what else a histogram needs, or nothing else has. */
int query_bounds_check(const struct ddio_query *q, const struct ddio_query_reduce *r,
		       const char **why);
/* Returns the length of a field's values. */
uint32_t ddio_query_field_len(const struct ddio_query_field *field);
/* Returns the fields as they lie where only used bytes are kept; freed by the caller; NULL without memory. */
struct ddio_query_field *ddio_query_packed(const struct ddio_query_shape *shape);

/*
 * place.c: records are [first, end), places are bytes of the file.
 */

/**
 * struct ddio_query_range - the records of which the span meets bytes [lo, hi) of the file
 * @first, @end: these
 * @whole, @whole_end: those of them whose span lies within; the others are fragments, of which there are two at most
 */
struct ddio_query_range {
	uint64_t first, end;
	uint64_t whole, whole_end;
};

/* Of records [first, end). */
void ddio_query_range(const struct ddio_query_shape *shape, uint64_t first, uint64_t end,
		      uint64_t lo, uint64_t hi, struct ddio_query_range *range);
/* Returns where a record begins. */
static inline uint64_t ddio_query_at(const struct ddio_query_shape *shape, uint64_t record)
{
	return shape->q->origin + record * shape->q->record;
}
/* Returns how many whole records a file of @size bytes has. */
uint64_t ddio_query_records(const struct ddio_query *q, uint64_t size);
/* Returns the bytes of a record's fragment in [lo, hi). */
uint32_t ddio_query_fragment_len(const struct ddio_query_shape *shape, uint64_t record, uint64_t lo,
				 uint64_t hi);
/* Copies a record's fragment out of @block, which is bytes [lo, hi); returns its length. */
uint32_t ddio_query_fragment_take(const struct ddio_query_shape *shape, uint64_t record,
				  uint64_t lo, uint64_t hi, const uint8_t *block, uint8_t *to);
/* Puts it among the used bytes of the record. */
void ddio_query_fragment_put(const struct ddio_query_shape *shape, uint64_t record, uint64_t lo,
			     uint64_t hi, const uint8_t *from, uint8_t *used);

/*
 * eval.c
 */

/* A record is given by its span: the first byte is byte @shape->lo of it.  Returns true if it matches. */
bool ddio_query_matches(const struct ddio_query_shape *shape, const uint8_t *span);
/* Copies the fields that are returned. */
void ddio_query_output(const struct ddio_query_shape *shape, const uint8_t *span, uint8_t *to);
/* Reads a field. */
union ddio_query_number ddio_query_load(const struct ddio_query_shape *shape, uint32_t field,
					const uint8_t *span);

/*
 * column.c
 */
#define DDIO_QUERY_BATCH 64u

/* Looks at @n records, at most DDIO_QUERY_BATCH, of which the first has @span: returns a bit for each, the lowest first: it matches. */
uint64_t ddio_query_matches_batch(const struct ddio_query_shape *shape, const uint8_t *span,
				  uint32_t n);

static inline bool ddio_query_is_float(uint32_t type)
{
	return type == DDIO_QUERY_F32 || type == DDIO_QUERY_F64;
}

static inline bool ddio_query_is_signed(uint32_t type)
{
	return type >= DDIO_QUERY_S8 && type <= DDIO_QUERY_S64;
}

/*
 * reduce.c
 */

/**
 * struct query_acc - what has been made of a field so far
 * @best: of MIN and MAX, if @count is not 0
 * @sum: of integers
 * @exact: of floating numbers, SUM only; @inf: which infinities were added
 * @bin: HISTOGRAM
 */
struct query_acc {
	uint64_t count, nans;
	union ddio_query_number best;
	unsigned __int128 sum;
	struct query_exact *exact;
	uint64_t *bin;
};

/**
 * struct ddio_query_accs - of a whole question
 * @matched: records that match
 */
struct ddio_query_accs {
	const struct ddio_query_shape *shape;
	uint64_t matched;
	struct query_acc acc[DDIO_QUERY_REDUCE_MAX];
};

/* Returns the number of bounds that are not above @v. */
uint32_t query_bin(const struct ddio_query_reduce *r, uint32_t type, union ddio_query_number v);
/* Return: 0 or -ENOMEM; ddio_query_accs_free() follows in either case. */
int ddio_query_accs_init(struct ddio_query_accs *accs, const struct ddio_query_shape *shape);
void ddio_query_accs_free(struct ddio_query_accs *accs);
/* Takes a record that matches.  @shape: how its fields lie: as in @accs, or with only used bytes kept. */
void ddio_query_accs_add(struct ddio_query_accs *accs, const struct ddio_query_shape *shape,
			 const uint8_t *span);
/* Returns the length of their encoding. */
size_t ddio_query_accs_len(const struct ddio_query_shape *shape);
/* Encodes them in that many bytes. */
void ddio_query_accs_put(struct ddio_query_accs *accs, uint8_t *buf);
/* Adds what was encoded: 0, or -EPROTO with nothing changed. */
int ddio_query_accs_merge(struct ddio_query_accs *accs, const uint8_t *buf, size_t len);
/* Fills in the results. */
void ddio_query_accs_result(struct ddio_query_accs *accs, struct ddio_query_value *value);

/*
 * deal.c
 */
int query_deal_check(const struct ddio_query *q, const struct ddio_query_deal *deal,
		     uint32_t members, const char **why);
/* Returns the member that gets a record: the @i-th of @n that are asked about. */
uint32_t ddio_query_owner(const struct ddio_query_shape *shape, const struct ddio_query_deal *deal,
			  uint32_t members, const uint8_t *span, uint64_t i, uint64_t n);

/*
 * entry.c: numbers in as many bytes as they need
 */

#define QUERY_DELTA_MAX 10u

/* Writes @v in 1 to QUERY_DELTA_MAX bytes; returns how many. */
uint32_t ddio_query_delta_put(uint8_t *to, uint64_t v);
/* Reads it; returns how many bytes it took, 0 if it is malformed. */
uint32_t ddio_query_delta_get(const uint8_t *from, size_t len, uint64_t *v);

/*
 * pack.c
 */
#define DDIO_QUERY_COLUMN_HEAD (1 + QUERY_DELTA_MAX)

/* Writes @n numbers, at least 1, of @len bytes, in DDIO_QUERY_COLUMN_HEAD + @n * @len bytes at most; returns how many. */
size_t ddio_query_column_put(uint8_t *to, const uint64_t *v, uint32_t n, uint32_t len);
/* Reads them; returns how many bytes they took, 0 if they are malformed. */
size_t ddio_query_column_get(const uint8_t *from, size_t left, uint64_t *v, uint32_t n,
			     uint32_t len);
/* Returns the bits of a field that is a number, so that their order is that of integers; and puts them back. */
uint64_t ddio_query_field_bits(const struct ddio_query_field *f, const uint8_t *p);
void ddio_query_field_unbits(const struct ddio_query_field *f, uint64_t v, uint8_t *p);

/*
 * parse.c
 */

/* Reads a number of the kind that a field of that type is: 0, with *@end behind it, or -EINVAL or -ENOMEM. */
int ddio_query_read_number(const char *text, uint32_t type, union ddio_query_number *v,
			   const char **end);

#endif /* DDIO_QUERY_IMPL_H */
