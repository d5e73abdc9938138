// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * ddio_query_all(): the members agree that they ask the same.  If records are wanted each of them asks all disks, whose I/O
 * processors wait for all of them, look at each block once, and send each member its own records; otherwise rank 0 asks alone.  In the end
 * all leave with one verdict, and with what rank 0 was told of all records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cp/group/fan/fan.h"
#include "cp/query/query.h"

enum { COMPARE_WORDS = 3, CLAIM = 16 };

/**
 * struct query_all_call - one member's call
 * @records: of which it is about
 * @compare: what must be the same on all members
 * @claim: how many records were this member's, and how many it had no room for
 * @fan: at rank 0, the step under way
 * @sizing: rank 0 asks for the file's size; if the group breaks meanwhile, the call is @over once the answer is here, with @error
 * @asks: records are wanted
 */
struct query_all_call {
	struct session_call call;
	struct ddio_group *group;
	struct turn turn;
	struct query_job job;
	struct ddio_query_shape shape;
	struct ddio_query_deal by_number;
	struct ddio_query_result *result;
	struct size_job size;
	uint64_t records;
	uint8_t *compare;
	size_t compare_len;
	uint8_t claim[CLAIM];
	struct fan *fan;
	struct error error;
	bool sizing, over, asks;
};

static void all_over(struct query_all_call *ac, const struct error *error)
{
	turn_pass(&ac->turn);
	call_end(&ac->call, error);
}

/* Ends the call, at once or when the size has come. */
static void all_end(struct query_all_call *ac, const struct error *error)
{
	if (!ac->sizing) {
		all_over(ac, error);
		return;
	}
	ac->over = true;
	ac->error = *error;
}

static void all_size(struct query_all_call *ac, void (*done)(struct size_job *size))
{
	ac->size.file = ac->job.file;
	ac->size.arg = ac;
	ac->size.done = done;
	ac->sizing = true;
	size_ask(&ac->size);
}

/* The size has come: returns false if nobody waits for it any more. */
static bool all_go_on(struct query_all_call *ac)
{
	ac->sizing = false;
	if (!ac->over)
		return true;
	all_over(ac, &ac->error);
	return false;
}

/*
 * The end
 */
static void all_ended(void *arg, const struct error *error, const void *data, size_t len)
{
	struct query_all_call *ac = arg;
	struct error mine = *error;

	if (!error->status && ac->group->rank && ddio_query_accs_merge(&ac->job.accs, data, len))
		error_set(&mine, -EPROTO, "query of %.200s: a malformed result from rank 0",
			  ac->job.file->rec.name);
	all_end(ac, &mine);
}

/* Rank 0: tells all what was made of all records. */
static void all_tell(struct query_all_call *ac, struct error *error)
{
	size_t len = ddio_query_accs_len(&ac->shape);
	uint8_t *made = malloc(len);

	if (made)
		ddio_query_accs_put(&ac->job.accs, made);
	else
		error_set(error, -ENOMEM, "out of memory");
	/* Ends the call: @ac is gone after this. */
	fan_release(ac->fan, error, made, made ? len : 0);
	free(made);
}

static void all_sized_again(struct size_job *size)
{
	struct query_all_call *ac = size->arg;
	struct error error = size->error;

	if (!all_go_on(ac))
		return;
	if (!error.status && ddio_query_records(ac->shape.q, size->size) < ac->job.end)
		error_set(&error, -ENODATA, "query of %.200s: the file was cut meanwhile",
			  ac->job.file->rec.name);
	all_tell(ac, &error);
}

/* Adds up what the members got: it is as much as was counted, and each had room for its part. */
static void claims_check(struct query_all_call *ac, struct error *error)
{
	const char *name = ac->job.file->rec.name;
	uint64_t sum = 0;
	const void *data;
	uint32_t rank;
	size_t at = 0, len;

	while (fan_gathered(ac->fan, &at, &rank, &data, &len) && !error->status) {
		if (len != CLAIM)
			error_set(error, -EPROTO, "query of %.200s: a malformed claim", name);
		else if (bytes_get64((const uint8_t *)data + 8))
			error_set(error, -ERANGE,
				  "query of %.200s: %llu of the records that match are rank %u's, "
				  "which has not so much room",
				  name, (unsigned long long)bytes_get64(data), rank);
		else
			sum += bytes_get64(data);
	}
	if (!error->status && ac->asks && sum != ac->job.accs.matched)
		error_set(error, -EPROTO, "query of %.200s: records are missing", name);
}

static void all_end_root(void *arg, struct fan *fan)
{
	struct query_all_call *ac = arg;
	struct error error;

	error_clear(&error);
	ac->fan = fan;
	claims_check(ac, &error);
	if (error.status) {
		fan_release(fan, &error, NULL, 0);
		return;
	}
	all_size(ac, all_sized_again);
}

static void all_asked(struct query_job *job)
{
	struct query_all_call *ac = job->arg;
	const struct fan_in in = { .kind = FAN_KIND_QUERY_END,
				   .gather = ac->claim,
				   .gather_len = sizeof(ac->claim),
				   .error = &job->error,
				   .root = all_end_root,
				   .done = all_ended,
				   .arg = ac };

	bytes_put64(ac->claim, ac->asks ? job->found.all : 0);
	bytes_put64(ac->claim + 8, job->found.over);
	fan_begin(ac->group, ac->turn.number, STEP_LAST, &in);
}

/*
 * The question
 */

/* Of a question that looks at nothing every record matches: takes this member's, which are in one piece. */
static void all_match(struct query_all_call *ac)
{
	struct query_job *job = &ac->job;
	unsigned __int128 n = job->end - job->first;
	uint32_t size = ac->group->size, rank = ac->group->rank;
	uint64_t at = (uint64_t)((n * rank + size - 1) / size);
	uint64_t end = (uint64_t)((n * (rank + 1) + size - 1) / size);

	job->accs.matched = rank ? 0 : (uint64_t)n;
	if (ac->asks)
		query_found_run(&job->found, job->first + at, end - at);
}

static void all_looked(struct query_job *job)
{
	struct query_all_call *ac = job->arg;

	if (!job->error.status && !ac->shape.used)
		all_match(ac);
	all_asked(job);
}

static void all_started(void *arg, const struct error *error, const void *data, size_t len)
{
	struct query_all_call *ac = arg;
	struct query_job *job = &ac->job;
	uint64_t records = len == 8 ? bytes_get64(data) : 0;

	if (error->status) {
		all_end(ac, error);
		return;
	}
	job->first = ac->result->first < records ? ac->result->first : records;
	ac->records = records - job->first;
	if (ac->records > ac->result->records)
		ac->records = ac->result->records;
	job->end = job->first + ac->records;
	job->dealing.number = ac->turn.number;
	/* Nothing is to be dealt out: the others wait for what rank 0 is told. */
	if (!ac->asks && ac->group->rank)
		job->end = job->first;
	query_job_begin(job);
}

static void all_sized(struct size_job *size)
{
	struct query_all_call *ac = size->arg;
	uint8_t records[8];

	if (!all_go_on(ac))
		return;
	bytes_put64(records, ddio_query_records(ac->shape.q, size->size));
	fan_release(ac->fan, &size->error, records, sizeof(records));
}

static void all_root(void *arg, struct fan *fan)
{
	struct query_all_call *ac = arg;

	ac->fan = fan;
	all_size(ac, all_sized);
}

static void all_begin(struct turn *turn)
{
	struct query_all_call *ac = ddio_container_of(turn, struct query_all_call, turn);
	const struct fan_in in = { .kind = FAN_KIND_QUERY,
				   .compare = ac->compare,
				   .compare_len = ac->compare_len,
				   .error = &ac->error,
				   .root = all_root,
				   .done = all_started,
				   .arg = ac };

	fan_begin(ac->group, turn->number, STEP_FIRST, &in);
}

static void all_run(struct session_call *call)
{
	struct query_all_call *ac = ddio_container_of(call, struct query_all_call, call);

	ac->turn.begin = all_begin;
	turn_take(ac->group, &ac->turn);
}

/*
 * Application's thread
 */

/* Puts down what must be the same on all members: the question as the first of them would ask it about the first block. */
static int compare_make(struct query_all_call *ac)
{
	const struct ddio_file_record *rec = &ac->job.file->rec;
	struct ddio_msg_query x = { .obj = { .file = rec->ref, .len = rec->ref.block },
				    .flags = DDIO_QUERY_DEALT,
				    .ndisks = 1,
				    .part = DDIO_QUERY_NO_PART,
				    .nblocks = 1,
				    .want = "",
				    .q = *ac->shape.q,
				    .members = ac->group->size,
				    .deal = *ac->job.dealing.deal };
	ssize_t len = ddio_put_query(NULL, 0, &x);

	if (len < 0)
		return (int)len;
	ac->compare_len = 8 * COMPARE_WORDS + (size_t)len;
	ac->compare = malloc(ac->compare_len);
	if (!ac->compare)
		return -ENOMEM;
	bytes_put64(ac->compare, ac->result->first);
	bytes_put64(ac->compare + 8, ac->result->records);
	bytes_put64(ac->compare + 16, ac->asks);
	ddio_put_query(ac->compare + 8 * COMPARE_WORDS, (size_t)len, &x);
	return 0;
}

/* Checks the arguments; a member with wrong ones comes too: the others must not wait for it. */
static int all_check(struct query_all_call *ac, const struct ddio_query *query)
{
	const struct ddio_query_deal *deal = ac->job.dealing.deal;
	const char *why = "the distribution's struct_size is wrong";
	int err = deal->struct_size == sizeof(*deal) ? 0 : -EINVAL;

	if (!err)
		err = query_check(query, deal, ac->group->size, ac->result, &ac->shape, &why);
	if (!err && ac->group->session != ac->job.file->session) {
		why = "file and group are of different sessions";
		err = -EINVAL;
	}
	if (err)
		error_set(&ac->error, err, "rank %u: query of %.200s: %s", ac->group->rank,
			  ac->job.file->rec.name, why);
	return err;
}

/* Hands out what was found, also where somebody has not had room. */
static int all_take(struct query_all_call *ac, int err)
{
	struct ddio_query_result *result = ac->result;
	struct query_job *job = &ac->job;

	if (err && err != -ERANGE)
		return err;
	result->mine = ac->asks ? job->found.all : 0;
	if (err)
		return err;
	err = query_found_sort(&job->found, result->index);
	if (err)
		return session_fail(job->file->session, err, "query of %s: out of memory",
				    job->file->rec.name);
	result->matched = job->accs.matched;
	result->records = ac->records;
	ddio_query_accs_result(&job->accs, result->value);
	return 0;
}

/* Goes without a distribution if there is nothing to be dealt out. */
static int all_simplify(struct query_all_call *ac)
{
	const char *why;

	if (ac->asks)
		return 0;
	ac->job.dealing.deal = NULL;
	return ddio_query_shape(ac->shape.q, &ac->shape, &why);
}

static void all_prepare(struct query_all_call *ac)
{
	struct ddio_query_result *result = ac->result;

	ac->asks = result->index || (ac->shape.out && result->buf);
	ac->job.shape = &ac->shape;
	ac->job.done = all_looked;
	ac->job.arg = ac;
	ac->job.found = (struct query_found){ .keeps = ac->asks,
					      .numbered = ac->asks,
					      .room = result->room,
					      .out = ac->shape.out,
					      .buf = result->buf };
}

int ddio_query_all(struct ddio_file *file, struct ddio_group *group, const struct ddio_query *query,
		   const struct ddio_query_deal *deal, struct ddio_query_result *result)
{
	struct query_all_call *ac;
	int err;

	if (!file || !group)
		return -EINVAL;
	ac = calloc(1, sizeof(*ac));
	if (!ac)
		return session_fail(file->session, -ENOMEM, "out of memory");
	ac->group = group;
	ac->result = result;
	ac->by_number.struct_size = sizeof(ac->by_number);
	ac->job.file = file;
	ac->job.dealing.group = group;
	ac->job.dealing.deal = deal ? deal : &ac->by_number;
	if (!all_check(ac, query)) {
		all_prepare(ac);
		err = compare_make(ac);
		if (!err)
			err = all_simplify(ac);
		if (err)
			error_set(&ac->error, err, "rank %u: query of %.200s: %s", group->rank,
				  file->rec.name, strerror(-err));
	}
	err = call_run(group->session, &ac->call, all_run);
	err = all_take(ac, err);
	query_job_free(&ac->job);
	free(ac->compare);
	free(ac);
	return err;
}

static const struct step_kind query_kinds[] = { { .kind = FAN_KIND_QUERY, .name = "query" },
						{ .kind = FAN_KIND_QUERY_END,
						  .name = "end of a query" },
						{ .kind = 0 } };

const struct group_user query_group_user = { .kinds = query_kinds };
