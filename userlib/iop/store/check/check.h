/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DDIO_STORE_CHECK_H
#define DDIO_STORE_CHECK_H

#include "iop/lmdb/walk.h"
#include "iop/store/priv.h"

/**
 * struct found - a well-formed extent
 */
struct found {
	uint64_t start, len; /* bytes */
	uint64_t id, block;
	uint32_t bs;
	bool dropped;
};

/**
 * struct bad_key - a record to be deleted
 * @fixed_len, @value_len: in its place goes this one, if any
 */
struct bad_key {
	int db;
	size_t len, fixed_len, value_len;
	uint8_t key[512], fixed[REC_EXTENT_KEY_LEN], value[REC_ENDS_LEN];
};

/**
 * struct place_fix - a place that is to be recorded otherwise
 * @more: how many more owners than one it has
 */
struct place_fix {
	uint64_t start, len, more;
};

struct place_fixes {
	struct place_fix *v;
	size_t n, cap;
};

/**
 * struct lost_gap - between two extents there was one or more that cannot be read
 * @after, @before: the extents; count 0: there is none
 * @bad: the object that the first of those that cannot be read would be of, by its key
 */
struct lost_gap {
	struct rec_extent after, before;
	uint64_t bad;
	bool open;
};

/**
 * struct gap_mark - an object within a gap, which may have lost something there
 */
struct gap_mark {
	size_t gap;
	uint64_t id;
};

/**
 * struct store_check - a check under way
 * @walk: reads the records
 * @pass, @at: what it is at: a pass, and of one over extents or free space how far it has come
 * @err: why it has ended, or 0
 * @found: all good extents: a heap, the last one on top, then in the order of places
 * @last_id, @last_end: of the last good one that was read: its object, and the block behind it
 * @unsorted: how many are in the heap
 * @behind: the end of the last extent before @at that is not dropped
 * @last: of the extents at which the pass over overlaps has looked, that which reaches furthest and is not dropped
 * @sharing: places may have more owners than one: records say so, or the label
 * @owners: how many more they have, as the extents say; @said: as records say, of which what is right is taken out
 * @said_end: end of the last record of these
 * @recorded: free space that is recorded, of which what is right is taken out
 * @bad: records that a repair deletes or replaces
 * @read: the last extent that can be read
 * @gaps: where extents cannot be read; the last one is open until the next that can
 * @marks: what a repair marks, in that order; those of the first @gap_at gaps are there
 * @sums_id, @sums_bs: the object of the last sums that were read, and the bytes of its blocks; 0: there is none
 * @shadows: the objects of what is pending, @nshadows of them
 * @not_free, @to_free: space that is recorded as free and is not, or is and is not recorded; @counts: places whose owners are
 *	counted wrongly, @count_bad: records of that are damaged
 * @hit: objects in memory may not be as records are repaired; @taken: space that memory has given to others than its owners
 * @mending: it writes what it has found, and has come to @fixed; the last transaction was its own, or that which it has read,
 *	@txn; @refreshed: objects in memory are as their repaired records
 * @kept: problems that a repair leaves; @heads: of these, damaged records of objects
 */
struct store_check {
	struct store *store;
	struct lmdb_walk walk;
	enum store_repair repair;
	size_t pass;
	uint64_t at;
	int err;
	struct ddio_msg_fsck result;
	struct found *found, *last;
	size_t nfound, cap_found, unsorted;
	uint64_t last_id, last_end, behind;
	struct ranges recorded;
	bool sharing;
	uint64_t said_end;
	struct shares owners, said;
	struct bad_key *bad;
	size_t nbad, cap_bad;
	struct rec_extent read;
	struct lost_gap *gaps;
	size_t ngaps, cap_gaps;
	struct gap_mark *marks;
	size_t nmarks, cap_marks, gap_at;
	uint64_t *shadows;
	size_t nshadows, cap_shadows;
	struct place_fixes not_free, to_free, counts;
	bool count_bad, mending, refreshed;
	struct ranges hit, taken;
	size_t fixed;
	uint64_t txn;
	uint64_t kept, heads;
	uint64_t sums_id;
	uint32_t sums_bs;
};

/*
 * core.c
 */
/* Logs what is wrong, and counts it; the first text is told to whoever has asked for the check. */
void check_report(struct store_check *check, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Makes room for one more; 0 or -ENOMEM. */
int check_grow(void **v, size_t *cap, size_t n, size_t size);
/* Notes a record that a repair deletes, or replaces by what the caller fills in; 0 or -ENOMEM. */
int check_note_bad(struct store_check *check, int db, const MDB_val *key);
/* Returns the record that was noted last. */
struct bad_key *check_last_bad(struct store_check *check);
/* Tries to correct a damaged record that has been noted in @bad.  Returns true if there is one that may stand there. */
bool check_correct(struct bad_key *bad, const MDB_val *val);
/* What was noted last stays as it is, unless it is to be dropped. */
void check_leave(struct store_check *check);
/* Objects [first, last] in memory may not be what the repaired records say; 0 or -ENOMEM. */
int check_note_hit(struct store_check *check, uint64_t first, uint64_t last);
/* Has a record replaced by one that says that its object has lost something at @block. */
void check_lose(struct bad_key *bad, uint64_t id, uint64_t block);

/*
 * records.c: a record of one of the databases; 0 or -errno.
 */
int check_pending(struct store_check *check, const MDB_val *key, const MDB_val *val);
int check_object(struct store_check *check, const MDB_val *key, const MDB_val *val);
int check_extent(struct store_check *check, const MDB_val *key, const MDB_val *val);
int check_sums(struct store_check *check, const MDB_val *key, const MDB_val *val);

/* meta.c: a record of what is known of the disk as a whole, but for the label; 0 or -errno. */
int check_meta(struct store_check *check, const MDB_val *key, const MDB_val *val);

/* A pass is over. */
#define PASS_OVER 1

/* gaps.c: one step of the pass that finds the objects within gaps: 0, PASS_OVER or -errno. */
int check_gaps(struct store_check *check);

/*
 * places.c: takes a well-formed extent; records of how many objects have a place, and of free space; and one step each of
 * the passes that sort extents by place, look for those that overlap, and compare owners and free space with the records:
 * 0, PASS_OVER or -errno.
 */
int check_place(struct store_check *check, const struct found *found);
int check_shared(struct store_check *check, const MDB_val *key, const MDB_val *val);
int check_free(struct store_check *check, const MDB_val *key, const MDB_val *val);
int check_sort_begin(struct store_check *check);
int check_sort_one(struct store_check *check);
int check_overlap(struct store_check *check);
int check_owners(struct store_check *check);
int check_gap(struct store_check *check);
int check_rest(struct store_check *check);

/*
 * mend.c
 */
/* What the check has read is the latest: it can be repaired.  0, or -EBUSY. */
int check_mend_begin(struct store_check *check);
/*
 * Writes some of what the check has found, in a transaction, and brings memory in line.  Returns 1 if there is more, 0, -EBUSY
 * if something else has changed meanwhile, or an errno.
 */
int check_mend_some(struct store_check *check);
/* Brings objects in memory in line with what was repaired. */
int check_mend_end(struct store_check *check);

#endif /* DDIO_STORE_CHECK_H */
