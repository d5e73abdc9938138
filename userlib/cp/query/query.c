// SPDX-License-Identifier: LGPL-2.1-or-later
/* ddio_query(): the file's size, the question, and the size again, since another process may have cut the file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/query/query.h"

struct query_call {
	struct session_call call;
	struct query_job job;
	struct ddio_query_shape shape;
	struct ddio_query_result *result;
	struct size_job size;
	uint64_t records;
};

static void query_over(struct query_call *qc)
{
	call_end(&qc->call, &qc->job.error);
}

/* Of a question that looks at nothing: every record matches. */
static void all_match(struct query_call *qc)
{
	struct query_job *job = &qc->job;

	job->accs.matched = job->end - job->first;
	query_found_run(&job->found, job->first, job->accs.matched);
}

static void sized_again(struct size_job *size)
{
	struct query_call *qc = size->arg;
	struct query_job *job = &qc->job;

	error_first(&job->error, &size->error);
	if (!job->error.status && ddio_query_records(qc->shape.q, size->size) < job->end)
		query_job_fail(job, -ENODATA, "the file was cut meanwhile");
	query_over(qc);
}

static void asked(struct query_job *job)
{
	struct query_call *qc = job->arg;

	if (!job->error.status && !qc->shape.used)
		all_match(qc);
	if (job->error.status) {
		query_over(qc);
		return;
	}
	qc->size.done = sized_again;
	size_ask(&qc->size);
}

static void sized(struct size_job *size)
{
	struct query_call *qc = size->arg;
	struct query_job *job = &qc->job;
	uint64_t records = ddio_query_records(qc->shape.q, size->size);

	job->error = size->error;
	if (job->error.status) {
		query_over(qc);
		return;
	}
	job->first = qc->result->first < records ? qc->result->first : records;
	qc->records = records - job->first;
	if (qc->records > qc->result->records)
		qc->records = qc->result->records;
	job->end = job->first + qc->records;
	query_job_begin(job);
}

static void query_run(struct session_call *call)
{
	struct query_call *qc = ddio_container_of(call, struct query_call, call);

	qc->size.file = qc->job.file;
	qc->size.arg = qc;
	qc->size.done = sized;
	size_ask(&qc->size);
}

int query_check(const struct ddio_query *query, const struct ddio_query_deal *deal,
		uint32_t members, const struct ddio_query_result *result,
		struct ddio_query_shape *shape, const char **why)
{
	uint32_t i;
	int err;

	*why = "query or result is NULL, or its struct_size is wrong";
	if (!query || query->struct_size != sizeof(*query) || !result ||
	    result->struct_size != sizeof(*result))
		return -EINVAL;
	err = ddio_query_shape_dealt(query, deal, members, shape, why);
	if (err)
		return err;
	*why = "no room for values, or for fields";
	if ((query->nreduce && !result->value) || (shape->out && result->room && !result->buf))
		return -EINVAL;
	*why = "no room for a histogram";
	for (i = 0; i < query->nreduce; i++)
		if (query->reduce[i].kind == DDIO_QUERY_HISTOGRAM && !result->value[i].bin)
			return -EINVAL;
	return 0;
}

/* Application's thread: hands out what was found. */
static int query_take(struct query_call *qc)
{
	struct ddio_query_result *result = qc->result;
	struct query_job *job = &qc->job;
	int err;

	if (job->found.over) {
		result->matched = job->accs.matched;
		return session_fail(job->file->session, -ERANGE,
				    "query of %s: %llu records match, there is room for %llu",
				    job->file->rec.name, (unsigned long long)job->accs.matched,
				    (unsigned long long)result->room);
	}
	err = query_found_sort(&job->found, result->index);
	if (err)
		return session_fail(job->file->session, err, "query of %s: out of memory",
				    job->file->rec.name);
	result->matched = job->accs.matched;
	result->records = qc->records;
	ddio_query_accs_result(&job->accs, result->value);
	return 0;
}

int ddio_query(struct ddio_file *file, const struct ddio_query *query,
	       struct ddio_query_result *result)
{
	struct query_call *qc;
	const char *why;
	int err;

	if (!file)
		return -EINVAL;
	qc = calloc(1, sizeof(*qc));
	if (!qc)
		return session_fail(file->session, -ENOMEM, "out of memory");
	err = query_check(query, NULL, 0, result, &qc->shape, &why);
	if (err) {
		session_fail(file->session, err, "query of %s: %s", file->rec.name, why);
	} else {
		qc->result = result;
		qc->job = (struct query_job){
			.file = file,
			.shape = &qc->shape,
			.found = { .keeps = result->index || qc->shape.out,
				   .numbered = result->index,
				   .room = result->room,
				   .out = qc->shape.out,
				   .buf = result->buf },
			.done = asked,
			.arg = qc,
		};
		err = call_run(file->session, &qc->call, query_run);
		if (!err)
			err = query_take(qc);
		query_job_free(&qc->job);
	}
	free(qc);
	return err;
}
