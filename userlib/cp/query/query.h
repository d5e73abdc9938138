/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Questions about records, asked of the I/O processors.
 *
 *   job.c     a question about a range of records: window after window
 *   window.c  a window: a request to each disk, as often as its answers have no room for all
 *   answer.c  what an answer says, checked
 *   pieces.c  records whose fragments come from several disks
 *   found.c   the records that match
 *   query.c   ddio_query()
 *   all.c     ddio_query_all()
 */
#ifndef DDIO_CP_QUERY_H
#define DDIO_CP_QUERY_H

#include "base/hash.h"
#include "cp/file/file.h"
#include "cp/group/group.h"
#include "cp/node/lane.h"
#include "proto/query/query.h"
#include "query/query.h"

/**
 * struct query_found - records that match, as they come
 * @room: for so many; @over: there were more; @all: how many have come
 * @keeps: their numbers or fields are wanted; @numbered: their numbers are
 * @out: bytes of each, at @buf
 * @entry: @n of them: number and place in @buf, with memory for @cap; NULL: the @n from @first on
 */
struct query_found {
	bool keeps, numbered, over;
	uint64_t room, n, cap, all, first;
	uint32_t out;
	uint8_t *buf;
	struct found_entry {
		uint64_t record, at;
	} * entry;
};

/**
 * struct query_pieces - records of which some fragments have come
 * @packed, @shape: the question as it is about their used bytes alone
 * @records: struct query_piece, by number
 */
struct query_pieces {
	struct ddio_query packed;
	struct ddio_query_field *field;
	struct ddio_query_shape shape;
	struct ddio_hash records;
};

struct query_job;

/**
 * struct query_disk - a disk's part of the window
 * @want: blocks that are asked about and not done, a bit each; @left: how many
 * @part, @part_next: as in the next request
 * @counts: no record was asked for in the last one
 */
struct query_disk {
	struct query_job *job;
	struct node_request request;
	uint32_t stripe;
	uint8_t want[DDIO_QUERY_BLOCKS_MAX / 8];
	uint32_t left;
	uint32_t part;
	uint64_t part_next;
	bool counts;
};

/**
 * struct query_dealing - a question that all members of a group ask
 * @deal: NULL: one process asks
 * @number: the group's turn
 */
struct query_dealing {
	const struct ddio_query_deal *deal;
	const struct ddio_group *group;
	uint64_t number;
};

/**
 * struct query_job - one question about records [@first, @end), on the reactor
 * @file, @shape, @first, @end, @found, @dealing, @done, @arg: the user's; the question in @shape has been checked
 * @accs: what is made of the records that match
 * @window: the file's block at which the window begins, a multiple of the disks; @per: its blocks of each disk, at most @most
 * @disk: of each of the stripe
 * @busy: disks that have not ended the window, and one more while it begins
 * @beginning: the window is being begun; @over: it has ended
 * @disk_reqs: that the question took
 */
struct query_job {
	struct ddio_file *file;
	const struct ddio_query_shape *shape;
	uint64_t first, end;
	struct query_found found;
	struct query_dealing dealing;
	void (*done)(struct query_job *job);
	void *arg;
	struct ddio_query_accs accs;
	struct query_pieces pieces;
	struct error error;
	uint64_t window;
	uint32_t most, per;
	struct query_disk *disk;
	uint32_t busy;
	bool beginning, over;
	uint64_t disk_reqs;
};

/* job.c */
/* Ends in done(), maybe before it returns; query_job_free() follows then. */
void query_job_begin(struct query_job *job);
void query_job_free(struct query_job *job);
/* window.c, when all disks are done with the window. */
void query_window_done(struct query_job *job);
void query_job_fail(struct query_job *job, int err, const char *why);

/* window.c */
void query_window_begin(struct query_job *job);
/* Returns where a block of the disk's window begins in the file. */
uint64_t query_window_lo(const struct query_disk *d, uint32_t block);

/* answer.c */
/* Takes an answer: 0, -EPROTO or -ENOMEM. */
int query_answer(struct query_disk *d, const void *payload, size_t len);

/* pieces.c */
int query_pieces_init(struct query_job *job);
void query_pieces_free(struct query_pieces *pieces);
/* Takes a fragment of @len bytes, which bytes [lo, hi) of the file have of a record; looks at the record if it is whole. */
int query_piece(struct query_job *job, uint64_t record, uint64_t lo, uint64_t hi,
		const uint8_t *from, uint32_t len);

/* query.c */
/* Checks the question and the room for what comes of it: 0, or -errno with @why one line. */
int query_check(const struct ddio_query *query, const struct ddio_query_deal *deal,
		uint32_t members, const struct ddio_query_result *result,
		struct ddio_query_shape *shape, const char **why);

/* all.c */
extern const struct group_user query_group_user;

/* found.c */
/* Returns where the fields of a record go; *@ret 0 and NULL: there is no room, which is noted, or nothing is kept. */
uint8_t *query_found_add(struct query_found *found, uint64_t record, int *ret);
/* Of a question that looks at nothing: @n records from @first on have come, and no others come. */
void query_found_run(struct query_found *found, uint64_t first, uint64_t n);
/* Puts them in the order of their numbers, which become @index, if there is one: 0 or -ENOMEM. */
int query_found_sort(struct query_found *found, uint64_t *index);

#endif /* DDIO_CP_QUERY_H */
