// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Collective open: rank 0 opens, and the file's record goes to all with the verdict.  Where the cluster knows users each member then
 * looks for the file itself, and a second step tells all of them if somebody may not have it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cp/file/file.h"
#include "cp/group/fan/fan.h"
#include "cp/node/grants.h"

struct open_all_call {
	struct session_call call;
	struct ddio_group *group;
	struct turn turn;
	struct file_opening job;
	struct node_request request;
	struct fan *fan;
	bool opening; /* rank 0: the job is under way */
	bool over;    /* the group broke meanwhile, and the step with it */
	uint8_t *compare;
	size_t compare_len;
	struct error error;
	struct ddio_file *file;
};

static void open_all_end(struct open_all_call *oc)
{
	turn_pass(&oc->turn);
	call_end(&oc->call, &oc->error);
}

/* Its key is the same on all members: those that hear that a file is open count alike, in the same order. */
static int open_all_order(struct open_all_call *oc)
{
	oc->file->order = order_new(oc->group, oc->group->nopened);
	if (oc->file->order)
		return 0;
	file_put(oc->file);
	oc->file = NULL;
	return -ENOMEM;
}

static int open_all_record(struct open_all_call *oc, const void *data, size_t len)
{
	struct ddio_file_record rec;
	int err = ddio_get_record(data, len, &rec, NULL);

	if (err)
		return err;
	oc->file = file_new(oc->call.session, &rec);
	if (!oc->file)
		return -ENOMEM;
	incarnations_opened(oc->file, oc->job.flags);
	return open_all_order(oc);
}

/* Root is granted nothing, and needs nothing; who may do nothing with the file is refused later, as rank 0 is. */
static bool open_all_is(struct open_all_call *oc, const struct reply *reply)
{
	struct ddio_file_record rec;
	int err = ddio_get_record(reply->payload, reply->len, &rec, NULL);

	if (err) {
		reply_malformed(&oc->error, err, oc->job.name);
		return false;
	}
	if (rec.ref.id != oc->file->rec.ref.id)
		error_status(&oc->error, DDIO_ST_STALE, FILE_IS_ANOTHER, oc->job.name);
	ddio_file_record_free(&rec);
	return !oc->error.status;
}

static void open_all_told(void *arg, const struct error *error, const void *data, size_t len)
{
	struct open_all_call *oc = arg;

	(void)data;
	(void)len;
	if (error->status) {
		oc->error = *error;
		file_put(oc->file);
		oc->file = NULL;
	}
	open_all_end(oc);
}

/* The others must not begin what this member will not take part in. */
static void open_all_tell(struct open_all_call *oc)
{
	const struct fan_in in = {
		.kind = FAN_KIND_OPENED, .error = &oc->error, .done = open_all_told, .arg = oc
	};
	const struct error own = oc->error;

	if (own.status)
		error_status(&oc->error, own.status, "rank %u: %.400s", oc->group->rank, own.text);
	fan_begin(oc->group, oc->turn.number, STEP_LAST, &in);
}

static void open_all_found(struct node_request *request, const struct reply *reply)
{
	struct open_all_call *oc = request->arg;

	if (reply->status)
		reply_error(&oc->error, reply, oc->job.name);
	else if (open_all_is(oc, reply))
		oc->file->granted = grant_hold(oc->call.session, oc->file->rec.ref.id);
	open_all_tell(oc);
}

/* Rank 0 has opened the file for all, but each connection shows what its own session was granted. */
static int open_all_find(struct open_all_call *oc)
{
	int err;

	request_init(&oc->request, DDIO_OP_NS_LOOKUP, open_all_found, oc);
	err = file_opening_find(&oc->job, &oc->request);
	if (err)
		error_set(&oc->error, err, "%s: %s", oc->job.name, strerror(-err));
	else
		request_names(oc->call.session, &oc->request);
	return err;
}

static void open_all_agreed(void *arg, const struct error *error, const void *data, size_t len)
{
	struct open_all_call *oc = arg;
	int err;

	oc->error = *error;
	if (!error->status) {
		oc->group->nopened++;
		err = open_all_record(oc, data, len);
		if (err)
			error_set(&oc->error, err, "%s: %s", oc->job.name, strerror(-err));
	}
	oc->over = true;
	if (oc->opening)
		return;
	if (error->status || !ddio_conf_knows_users(oc->call.session->conf))
		open_all_end(oc);
	else if (!oc->file || grant_there(oc->call.session, oc->file->rec.ref.id) ||
		 open_all_find(oc))
		open_all_tell(oc);
}

static void open_all_opened(struct file_opening *job)
{
	struct open_all_call *oc = job->arg;
	struct error error = job->error;
	uint8_t *buf = NULL;
	ssize_t len = 0;

	oc->opening = false;
	if (oc->over) {
		ddio_file_record_free(&job->rec);
		open_all_end(oc);
		return;
	}
	if (!error.status) {
		len = ddio_put_record(NULL, 0, &job->rec);
		buf = len < 0 ? NULL : malloc((size_t)len);
		if (buf)
			ddio_put_record(buf, (size_t)len, &job->rec);
		else
			error_set(&error, -ENOMEM, "out of memory");
	}
	ddio_file_record_free(&job->rec);
	/* Ends the call: @oc is gone after this. */
	fan_release(oc->fan, &error, buf, (size_t)len);
	free(buf);
}

static void open_all_root(void *arg, struct fan *fan)
{
	struct open_all_call *oc = arg;

	oc->fan = fan;
	oc->opening = true;
	oc->job.done = open_all_opened;
	oc->job.arg = oc;
	file_open_begin(&oc->job);
}

static void open_all_begin(struct turn *turn)
{
	struct open_all_call *oc = ddio_container_of(turn, struct open_all_call, turn);
	const struct fan_in in = { .kind = FAN_KIND_OPEN,
				   .compare = oc->compare,
				   .compare_len = oc->compare_len,
				   .error = &oc->error,
				   .root = open_all_root,
				   .done = open_all_agreed,
				   .arg = oc };

	fan_begin(oc->group, turn->number, STEP_FIRST, &in);
}

static void open_all_run(struct session_call *call)
{
	struct open_all_call *oc = ddio_container_of(call, struct open_all_call, call);

	oc->turn.begin = open_all_begin;
	turn_take(oc->group, &oc->turn);
}

static void put_words(uint8_t *p, const uint64_t *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		bytes_put64(p + 8 * i, v[i]);
}

/* Encodes name, flags and striping, for comparison only; and what not every member may know of. */
static void open_all_compare(struct open_all_call *oc)
{
	const struct ddio_striping *st = oc->job.striping;
	uint32_t ndisks = st && st->disks ? st->ndisks : 0, i;
	size_t name = strlen(oc->job.name) + 1;
	size_t more = oc->job.dir ? 24 : oc->job.mode || oc->job.id ? 16 : 0;
	uint64_t words[6] = { oc->job.flags, !!st };

	if (st) {
		words[2] = (uint64_t)st->layout << 32 | st->block_size;
		words[3] = st->seed;
		words[4] = st->reserve;
		words[5] = st->ndisks;
	}
	oc->compare_len = name + sizeof(words) + 8 * (size_t)ndisks + more;
	oc->compare = malloc(oc->compare_len);
	if (!oc->compare) {
		error_set(&oc->error, -ENOMEM, "out of memory");
		return;
	}
	memcpy(oc->compare, oc->job.name, name);
	put_words(oc->compare + name, words, 6);
	for (i = 0; i < ndisks; i++) {
		words[0] = st->disks[i];
		put_words(oc->compare + name + sizeof(words) + 8 * i, words, 1);
	}
	words[0] = oc->job.mode;
	words[1] = oc->job.id;
	words[2] = oc->job.dir;
	if (more)
		put_words(oc->compare + oc->compare_len - more, words, more / 8);
}

/* A member with wrong arguments comes too: the others must not wait for it. */
static int open_all_call(struct open_all_call *oc, const char *why, struct ddio_file **file)
{
	const struct ddio_striping *st = oc->job.striping;
	int err;

	if (!why && st && st->ndisks > DDIO_MAX_DISKS)
		why = "too many disks";
	if (why)
		error_set(&oc->error, -EINVAL, "rank %u: a collective open: %s", oc->group->rank,
			  why);
	else
		open_all_compare(oc);
	if (file)
		*file = NULL;
	oc->job.session = oc->group->session;
	err = call_run(oc->group->session, &oc->call, open_all_run);
	free(oc->compare);
	if (file)
		*file = oc->file;
	return err;
}

int ddio_open_all(struct ddio_group *group, const char *name, unsigned int flags,
		  const struct ddio_striping *striping, struct ddio_file **file)
{
	struct open_all_call oc = { .group = group,
				    .job = { .name = name, .flags = flags, .striping = striping } };

	if (!group)
		return -EINVAL;
	return open_all_call(&oc, name && file ? NULL : "name or file is NULL", file);
}

int ddio_open_all_with(struct ddio_group *group, const char *name,
		       const struct ddio_open_opts *opts, struct ddio_file **file)
{
	struct open_all_call oc = { .group = group };
	const char *why = NULL;

	if (!group)
		return -EINVAL;
	if (!file || file_opening_take(&oc.job, name, opts))
		why = "file is NULL, struct_size is wrong, or not one of name and id, or no way";
	return open_all_call(&oc, why, file);
}

int ddio_file_awaited(const struct ddio_file *file)
{
	if (!file)
		return -EINVAL;
	return file->order ? file->order->awaited > file->order->last : 0;
}

int ddio_file_has_order(const struct ddio_file *file)
{
	if (!file)
		return -EINVAL;
	return file->order && order_has_key(file->order);
}

static void open_explain(uint32_t rank_a, const void *a, size_t a_len, uint32_t rank_b,
			 const void *b, size_t b_len, char text[DDIO_MAX_TEXT])
{
	snprintf(text, DDIO_MAX_TEXT,
		 "rank %u opens \"%.*s\", rank %u \"%.*s\", or with other flags or striping",
		 rank_a, (int)strnlen(a, a_len), (const char *)a, rank_b, (int)strnlen(b, b_len),
		 (const char *)b);
}

static const struct step_kind open_kinds[] = {
	{ .kind = FAN_KIND_OPEN, .name = "a collective open", .explain = open_explain },
	{ .kind = FAN_KIND_OPENED, .name = "a collective open, of which each member has its part" },
	{ .kind = 0 },
};

const struct group_user file_group_user = { .kinds = open_kinds };
