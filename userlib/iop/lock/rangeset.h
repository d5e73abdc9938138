/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets of ranges, which may overlap, embedded in what they are ranges of: a treap by their starts that knows of each
 * subtree its highest end and whether all of it is one owner's.  What takes part in a query is found in logarithmic time,
 * also among any number of ranges of an owner who does not count.  Nothing is allocated.
 */
#ifndef DDIO_RANGESET_H
#define DDIO_RANGESET_H

#include <stdint.h>

/**
 * struct range - one range; the caller sets @start, @end and @who before it adds it, and then leaves them alone
 * @start, @end: its first and its last byte
 * @who: whose it is, not NULL
 * @seq: order among ranges with the same start: that in which they were added
 * @last: highest end in the subtree
 * @all: @who of all ranges in the subtree, or NULL if there are several
 */
struct range {
	struct range *left, *right;
	uint64_t start, end;
	const void *who;
	uint64_t seq, last;
	const void *all;
};

/**
 * struct rangeset - a set; all zero is an empty one
 * @added: ranges that were ever added
 */
struct rangeset {
	struct range *root;
	uint64_t added;
};

/**
 * struct range_query - a question to a set
 * @from, @to: what is found has a byte of these
 * @but: and is not this owner's; NULL: anybody's
 * @looked: ranges that were looked at, counted up
 */
struct range_query {
	uint64_t from, to;
	const void *but;
	uint64_t looked;
};

void rangeset_add(struct rangeset *set, struct range *range);
void rangeset_del(struct rangeset *set, struct range *range);

/* Return the first range, by its start, that @query asks for, or the first behind @range, which is in the set; or NULL. */
struct range *rangeset_first(const struct rangeset *set, struct range_query *query);
struct range *rangeset_next(const struct rangeset *set, const struct range *range,
			    struct range_query *query);

#endif /* DDIO_RANGESET_H */
