/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checksums of the blocks of a disk: a CRC-32C for each chunk, which is a block, or 64 KB of a larger one.  They are
 * kept in groups of 256 chunks of an object; a group is a record.  Belongs to one reactor.
 *
 * A block that is written anew changes in place, and its sum cannot change in the same instant.  So before the first such
 * write of a group, its record says that its blocks are in doubt (the group is open): a disk that differs from the sum
 * then holds something newer.  When nothing of it has been written for a while the group is settled: the sums are
 * recorded, and the doubt ends.  Until then the sums of such writes are in memory only.  A block that gets a new
 * place needs no doubt: it is recorded together with its sum, after it was written.
 */
#ifndef DDIO_SUMS_H
#define DDIO_SUMS_H

#include "base/hash.h"
#include "iop/lmdb/env.h"
#include "iop/sums/record.h"

#define SUMS_CHUNK 65536u

/* Most groups in memory that could be dropped, and that could not. */
#define SUMS_KEEP 2048u
#define SUMS_BUSY 8192u

/**
 * struct sums_block - a block of which sums are meant
 * @id: the object; @bs: bytes of its blocks; @block: number in it
 */
struct sums_block {
	uint64_t id, block;
	uint32_t bs;
};

/**
 * struct sums_data - what is in a block
 * @bytes: all of it
 * @made: NULL, or the sums of its chunks, by somebody who moved them
 */
struct sums_data {
	const void *bytes;
	const uint32_t *made;
};

/**
 * struct sums_count - what has been seen
 * @checked: chunks that were compared; @bad: that differed; @adopted: that differed, but were in doubt
 */
struct sums_count {
	uint64_t checked, bad, adopted;
};

/**
 * struct sums_sealed - groups as they are to be recorded
 * @doubt: all of them as in doubt as a whole
 */
struct sums_sealed {
	struct rec_sums *v;
	size_t n;
	bool doubt;
};

/**
 * struct sums - the sums of one disk
 * @db, @which: their records
 * @on: sums are made and compared
 * @groups: struct sums_group, by object and number; @objects: struct sums_of, by object
 * @clean: those that are as recorded, the one used last behind; @nclean
 * @due: those that the next commit must record; @ndue
 * @late: the others that differ from the record, or are open, the one written last behind; @nbusy: in @due and @late
 * @tick: counts sums_settle()
 * @seq: number of the next commit; @done: of the last one that has ended well
 * @sealed: what the commit under way records
 */
struct sums {
	struct lmdb *db;
	int which;
	bool on;
	struct ddio_hash groups, objects;
	struct ddio_list clean, due, late;
	uint64_t nclean, nbusy, ndue;
	uint64_t tick, seq, done;
	struct sums_sealed sealed;
	struct sums_count count;
};

void sums_init(struct sums *sums, struct lmdb *db, int which, bool on);
void sums_fini(struct sums *sums);

/**
 * sums_write_begin - tell that a block is about to be written at its place
 * @fresh: the place is new, and not recorded
 * Return: 0; 1: the next commit records that it is in doubt: then ask again; or -errno.  After 0 sums_write_end()
 * must follow.
 */
int sums_write_begin(struct sums *sums, const struct sums_block *b, bool fresh);
/* The block has @data, or NULL: not known.  @due: the next commit must record it. */
void sums_write_end(struct sums *sums, const struct sums_block *b, const struct sums_data *data,
		    bool due);
/* Nothing was written where the block is: it has the sum that it had. */
void sums_write_none(struct sums *sums, const struct sums_block *b);
/* Marks the group of the block as in doubt if it has to be, and is not: true if a commit is needed before it is. */
bool sums_open_ahead(struct sums *sums, const struct sums_block *b);
/* The same of a block of one chunk whose bytes went past us, and have @sum. */
void sums_write_told(struct sums *sums, const struct sums_block *b, uint32_t sum, bool due);
/* Compares the block, as the disk has it: 0, -EBADMSG, or -ENOMEM.  @chunk: of a bad one: its number in the block. */
int sums_check(struct sums *sums, const struct sums_block *b, const struct sums_data *data,
	       uint32_t *chunk);
/*
 * elsewhere.c: what the CRC-32C of the whole block has to be: 1 with *@sum; 0: nothing of it has a sum; -EAGAIN: only
 * sums_check() can say, for a part of it has none or is in doubt; or -ENOMEM.
 */
int sums_whole(struct sums *sums, const struct sums_block *b, uint32_t *sum);
/*
 * Returns true if bytes [@from, @to) of the block are whole chunks with sums that are in memory, and not in doubt: *@sum is what the
 * CRC-32C of these bytes has to be.
 */
bool sums_range(const struct sums *sums, const struct sums_block *b, uint32_t from, uint32_t to,
		uint32_t *sum);
/*
 * Compares the sums that a write has just given the block with that of the bytes that were to be written.  Returns false if they
 * differ: the bytes changed in memory, and now the block has sums that it cannot match until it is written again.
 */
bool sums_prove(struct sums *sums, const struct sums_block *b, uint32_t expected);
/* Counts a block that was compared with that. */
void sums_compared(struct sums *sums, const struct sums_block *b, bool same);
/* Gives chunks of the block that have no sum that of @data, as the disk has it: how many, or -ENOMEM. */
int sums_give(struct sums *sums, const struct sums_block *b, const void *data);
/* Returns true if a chunk of the block has no sum. */
bool sums_lack(struct sums *sums, const struct sums_block *b);
/* Returns true if each chunk of the block has a sum that is not in doubt. */
bool sums_known(struct sums *sums, const struct sums_block *b);
/* Has the groups of blocks [@b->block, @b->block + @count) in memory, so that sums_move() of them cannot fail: 0 or -errno. */
int sums_ready(struct sums *sums, const struct sums_block *b, uint64_t count);
/* The block of @to has become what that of @from is, at the same place: the next commit records its sums.  0 or -errno. */
int sums_move(struct sums *sums, const struct sums_block *from, const struct sums_block *to);
/* The object is gone. */
void sums_forget(struct sums *sums, uint64_t id);

/**
 * sums_settle - have the next commit end the doubt about groups that nothing is being written of
 * @age: those of which nothing has been written since so many calls with an @age ago; 0: all
 * @most: stop when no more than so many are left
 */
void sums_settle(struct sums *sums, uint64_t age, uint64_t most);
/* Returns the memory of the groups. */
uint64_t sums_bytes(const struct sums *sums);
/* Returns true if something is to be settled some day. */
bool sums_unsettled(const struct sums *sums);
/* Returns true if so much waits that a commit should not. */
bool sums_pressed(const struct sums *sums);
/* Returns true if the next commit must record something. */
bool sums_due(const struct sums *sums);
uint64_t sums_ndue(const struct sums *sums);

/*
 * Commits, see struct committer_ops.
 */
/* Sets aside what is due: 0, or -ENOMEM with nothing changed. */
int sums_seal(struct sums *sums);
/* In the worker: writes the groups [first, end) of what was set aside; @doubt: as in doubt.  Returns MDB_*. */
int sums_apply(const struct sums *sums, MDB_txn *txn, size_t first, size_t end, bool doubt);
void sums_ended(struct sums *sums, int err);
/* In the worker: drops the records of groups that lie within blocks [first, end) of the object.  Returns MDB_*. */
int sums_cut(const struct sums *sums, MDB_txn *txn, uint64_t id, uint32_t bs, uint64_t first,
	     uint64_t end);
/* Drops all records.  Blocks; for the start only. */
int sums_drop(struct sums *sums);

/* Bytes of a chunk of such blocks, and how many a block has. */
static inline uint32_t sums_chunk(uint32_t bs)
{
	return bs < SUMS_CHUNK ? bs : SUMS_CHUNK;
}

static inline uint32_t sums_chunks(uint32_t bs)
{
	return bs / sums_chunk(bs);
}

#endif /* DDIO_SUMS_H */
