/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Questions about the records of a file, which the I/O processors answer: which records match, what some of their fields
 * are, and sums, extremes and histograms of them.  Conventions are those of ddio.h, which includes this.
 *
 * A question is data.  Record i begins at byte origin + i * record of the file; only whole records count.
 */
#ifndef DDIO_QUERY_H
#define DDIO_QUERY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

struct ddio_file;
struct ddio_group;

#define DDIO_QUERY_RECORD_MAX (1u << 30) /* bytes of a record */
#define DDIO_QUERY_FIELDS_MAX 64u
#define DDIO_QUERY_STEPS_MAX 256u
#define DDIO_QUERY_DEPTH_MAX 64u
#define DDIO_QUERY_REDUCE_MAX 16u
#define DDIO_QUERY_BOUNDS_MAX 4096u  /* of all histograms together */
#define DDIO_QUERY_OWNERS_MAX 4096u  /* of a distribution */
#define DDIO_QUERY_MEMBERS_MAX 1024u /* of a group among which records are dealt out */
#define DDIO_QUERY_BYTES_MAX \
	16384u /* of a record that its question looks at, and of those that it returns */

/**
 * enum ddio_query_type - what a field is
 * @DDIO_QUERY_BYTES: bytes without a meaning: they can only be returned
 * @DDIO_QUERY_S8: a signed integer of 8 bits
 * @DDIO_QUERY_S16: of 16 bits
 * @DDIO_QUERY_S32: of 32 bits
 * @DDIO_QUERY_S64: of 64 bits
 * @DDIO_QUERY_U8: an unsigned integer of 8 bits
 * @DDIO_QUERY_U16: of 16 bits
 * @DDIO_QUERY_U32: of 32 bits
 * @DDIO_QUERY_U64: of 64 bits
 * @DDIO_QUERY_F32: a floating number of 32 bits (IEEE 754)
 * @DDIO_QUERY_F64: of 64 bits
 */
enum ddio_query_type {
	DDIO_QUERY_BYTES = 0,
	DDIO_QUERY_S8 = 1,
	DDIO_QUERY_S16 = 2,
	DDIO_QUERY_S32 = 3,
	DDIO_QUERY_S64 = 4,
	DDIO_QUERY_U8 = 5,
	DDIO_QUERY_U16 = 6,
	DDIO_QUERY_U32 = 7,
	DDIO_QUERY_U64 = 8,
	DDIO_QUERY_F32 = 9,
	DDIO_QUERY_F64 = 10,
};

#define DDIO_QUERY_BIG 0x1u /* flag of a field: the most significant byte comes first */

/**
 * struct ddio_query_field - bytes of each record
 * @name: for ddio_query_parse(); NULL: none
 * @offset: byte of the record
 * @len: DDIO_QUERY_BYTES: how many bytes; otherwise the type's length, or 0
 * @type: enum ddio_query_type
 * @flags: DDIO_QUERY_BIG or 0
 */
struct ddio_query_field {
	const char *name;
	uint32_t offset, len;
	uint32_t type, flags;
};

/**
 * union ddio_query_number - a number of the kind that its field is
 * @s: signed integers
 * @u: unsigned ones
 * @f: floating numbers
 */
union ddio_query_number {
	int64_t s;
	uint64_t u;
	double f;
};

/**
 * enum ddio_query_op - a step of a condition
 * @DDIO_QUERY_EQ: puts field = value on the stack
 * @DDIO_QUERY_NE: field is not value; of NaN this alone is true
 * @DDIO_QUERY_LT: field < value
 * @DDIO_QUERY_LE: field <= value
 * @DDIO_QUERY_GT: field > value
 * @DDIO_QUERY_GE: field >= value
 * @DDIO_QUERY_AND: takes two from the stack, puts one there
 * @DDIO_QUERY_OR: the same
 * @DDIO_QUERY_NOT: turns the topmost one round
 */
enum ddio_query_op {
	DDIO_QUERY_EQ = 1,
	DDIO_QUERY_NE = 2,
	DDIO_QUERY_LT = 3,
	DDIO_QUERY_LE = 4,
	DDIO_QUERY_GT = 5,
	DDIO_QUERY_GE = 6,
	DDIO_QUERY_AND = 7,
	DDIO_QUERY_OR = 8,
	DDIO_QUERY_NOT = 9,
};

/**
 * struct ddio_query_step - one step of a condition
 * @op: enum ddio_query_op
 * @field: of a comparison: index of its field
 * @value: of a comparison: what the field is compared with
 */
struct ddio_query_step {
	uint32_t op, field;
	union ddio_query_number value;
};

/**
 * enum ddio_query_kind - what is made of a field of all records that match
 * @DDIO_QUERY_SUM: exact: integers have 128 bits; floating numbers are rounded once, at the end, in whatever order they come
 * @DDIO_QUERY_MIN: the least
 * @DDIO_QUERY_MAX: the greatest
 * @DDIO_QUERY_HISTOGRAM: how many lie below the first bound, from each to the next, and at or above the last
 *
 * NaN is counted apart and takes part in none of them.
 */
enum ddio_query_kind {
	DDIO_QUERY_SUM = 1,
	DDIO_QUERY_MIN = 2,
	DDIO_QUERY_MAX = 3,
	DDIO_QUERY_HISTOGRAM = 4,
};

/**
 * struct ddio_query_reduce - one thing that is made of a field
 * @kind: enum ddio_query_kind
 * @field: its index
 * @nbounds: DDIO_QUERY_HISTOGRAM: at least 1; otherwise 0
 * @bound: these, ascending
 */
struct ddio_query_reduce {
	uint32_t kind, field, nbounds;
	const union ddio_query_number *bound;
};

/**
 * struct ddio_query - a question
 * @struct_size: sizeof(struct ddio_query), so that it can grow
 * @origin: byte of the file at which record 0 begins
 * @record: bytes of a record
 * @nfields: fields
 * @field: these
 * @nsteps: steps of the condition; 0: every record matches
 * @where: these, in the order in which they are taken; they leave one on the stack
 * @nreduce: what is made of all records that match
 * @reduce: these
 * @noutput: fields of each record that matches that are returned
 * @output: their indices, in the order in which they are returned, without gaps
 */
struct ddio_query {
	size_t struct_size;
	uint64_t origin;
	uint32_t record;
	uint32_t nfields;
	const struct ddio_query_field *field;
	uint32_t nsteps;
	const struct ddio_query_step *where;
	uint32_t nreduce;
	const struct ddio_query_reduce *reduce;
	uint32_t noutput;
	const uint32_t *output;
};

/**
 * struct ddio_query_value - what was made of a field
 * @count: values, without NaN
 * @nans: values that were NaN
 * @value: the least, the greatest, or the sum of floating numbers; of integers the lower 64 bits of the sum.  Undefined if
 *	@count is 0
 * @high: the upper 64 bits of the sum of integers, signed for signed fields
 * @bin: histogram: the caller's memory for nbounds + 1 counts
 */
struct ddio_query_value {
	uint64_t count, nans;
	union ddio_query_number value;
	int64_t high;
	uint64_t *bin;
};

/**
 * struct ddio_query_result - what is asked of, and what came of it
 * @struct_size: sizeof(struct ddio_query_result), so that it can grow
 * @first: the first record that is looked at
 * @records: how many are; UINT64_MAX: all behind it, too.  Becomes how many there were
 * @matched: becomes how many of these match
 * @value: room for one for each of the question's @nreduce; only @bin need be set
 * @room: records for which there is room in @index and @buf
 * @index: becomes the numbers of the records that match, ascending; NULL: they are not returned
 * @buf: becomes their fields, one record after the other; may be NULL if the question has no @noutput
 * @mine: ddio_query_all(): becomes how many of the records that match are this member's
 */
struct ddio_query_result {
	size_t struct_size;
	uint64_t first, records;
	uint64_t matched;
	struct ddio_query_value *value;
	uint64_t room;
	uint64_t *index;
	void *buf;
	uint64_t mine;
};

/**
 * enum ddio_query_dealing - how records that match are dealt out to the members of a group
 * @DDIO_QUERY_BY_NUMBER: each has a part of the file, of as many records as the others'
 * @DDIO_QUERY_BY_RANGE: by ranges of a field's values: below the first bound, from each to the next, and at or above the last
 * @DDIO_QUERY_BY_HASH: equal values of a field go to the same member
 */
enum ddio_query_dealing {
	DDIO_QUERY_BY_NUMBER = 0,
	DDIO_QUERY_BY_RANGE = 1,
	DDIO_QUERY_BY_HASH = 2,
};

/**
 * struct ddio_query_deal - a distribution by value
 * @struct_size: sizeof(struct ddio_query_deal), so that it can grow
 * @kind: enum ddio_query_dealing
 * @field: index of the field, a number, by which it goes; 0 with DDIO_QUERY_BY_NUMBER
 * @nbounds: DDIO_QUERY_BY_RANGE: at least 1; otherwise 0
 * @bound: these, ascending; NaN goes where what is above all of them goes
 * @nowners: entries of the table; 0: range i is that of rank i, and a hash is one of all ranks
 * @owner: ranks: of each of the @nbounds + 1 ranges; or, of a hash, as many as are wanted, of which it picks one
 */
struct ddio_query_deal {
	size_t struct_size;
	uint32_t kind, field;
	uint32_t nbounds;
	const union ddio_query_number *bound;
	uint32_t nowners;
	const uint32_t *owner;
};

/**
 * ddio_query - ask about the records of a file
 * @file: the file
 * @query: what is asked
 * @result: of which records, and what came of it; unchanged on failure, but for -ERANGE
 *
 * The I/O processors look at the blocks as the disks bring them, and send only what is asked for; of a record whose
 * fields lie on several disks they send these fields to the caller, who looks at them.  The file may be written
 * meanwhile: each block is looked at once, as it is then.
 *
 * Return: 0; -EINVAL: the question contradicts itself; -E2BIG: it is beyond a limit; -ERANGE: more records match than there is
 * room for, @result->matched says how many, and nothing else was returned; -ENODATA: the file was cut meanwhile; or another negative errno.
 */
int ddio_query(struct ddio_file *file, const struct ddio_query *query,
	       struct ddio_query_result *result);

/**
 * ddio_query_all - ask about the records of a file, all members of a group together
 * @file: the file
 * @group: the group; every member must call with the same question, distribution, and @result->first and records, and each
 *	asks for records, or none does
 * @query: what is asked
 * @deal: which member gets which of the records that match; NULL: DDIO_QUERY_BY_NUMBER
 * @result: as of ddio_query(), but that @room, @index and @buf are of this member's records alone, and @matched and @value of all
 *	members'
 *
 * Each block is read and looked at once, and its records go from there to their members.
 *
 * Return: as of ddio_query(), the same on all members; -E2BIG also: the group has more than DDIO_QUERY_MEMBERS_MAX members; -ERANGE:
 * some member has not enough room, and @result->mine says how many this one needs
 */
int ddio_query_all(struct ddio_file *file, struct ddio_group *group, const struct ddio_query *query,
		   const struct ddio_query_deal *deal, struct ddio_query_result *result);

/**
 * ddio_query_parse - make the steps of a condition from text
 * @text: such as "energy > 1.5 and not (type = 3 or type = 4)"
 * @field: the fields that it may name
 * @nfields: how many
 * @step: room for the steps
 * @room: for so many
 * @err: on failure one line that says what is wrong, and where
 * @err_len: size of @err
 *
 * Comparisons are =, ==, !=, <, <=, > and >= of a field with a number (decimal, with an exponent, hexadecimal, "inf", or
 * "nan"); "not" binds more tightly than "and", and that more than "or".
 *
 * Return: how many steps there are; -EINVAL; or -E2BIG: more than @room, or nested too deeply.
 */
int ddio_query_parse(const char *text, const struct ddio_query_field *field, uint32_t nfields,
		     struct ddio_query_step *step, uint32_t room, char *err, size_t err_len);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* DDIO_QUERY_H */
