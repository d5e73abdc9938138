// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Epochs of several files.  From ddio_epoch_begin() on each atomic write of the group ends when it is prepared; its
 * own epoch stays open.  At the end rank 0 has all of them decided at once.  If a write has failed, or a member does not want it or has
 * died, all are given up; and if nobody can say so, the name space forgets them with rank 0's connection.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cp/epoch/epoch.h"
#include "cp/group/fan/fan.h"

enum { DO_BEGIN = 1, DO_END = 2 };
/* With the verdict come, of each file, its number and its size. */
enum { SIZE_LEN = 16 };

/**
 * struct epochs - of a group that has begun one
 * @which: the number of the turn in which it began
 * @failed: the first error; it can only be given up
 * @busy: writes that are under way
 * @since: its first write came then
 * @job: which files it has; at members other than rank 0 without numbers
 */
struct epochs {
	uint64_t which;
	struct error failed;
	uint32_t busy;
	uint64_t since;
	struct epochs_job job;
};

/**
 * struct epoch_call - its beginning, or its end
 * @commit: this member wants it decided well
 * @asking: rank 0 has asked the name server; @over: the step has ended
 */
struct epoch_call {
	struct session_call call;
	struct ddio_group *group;
	struct turn turn;
	struct node_request request;
	struct fan *fan;
	uint8_t what;
	bool commit, asking, over, decided;
	struct error error;
};

static struct epochs *epochs_of(struct ddio_group *group)
{
	return *group_state(group, &epoch_group_user);
}

/* Returns the group's epoch if it is still that one. */
static struct epochs *epochs_same(struct ddio_group *group, uint64_t which)
{
	struct epochs *es = epochs_of(group);

	return es && es->which == which ? es : NULL;
}

/*
 * Its writes
 */
static struct epoch_file *find(struct epochs *es, uint64_t id)
{
	uint32_t i = 0;

	while (i < es->job.n && es->job.file[i].file->rec.ref.id < id)
		i++;
	return &es->job.file[i];
}

static bool has(struct epochs *es, uint64_t id)
{
	const struct epoch_file *at = find(es, id);

	return at < es->job.file + es->job.n && at->file->rec.ref.id == id;
}

static void add(struct epochs *es, struct ddio_file *file)
{
	struct epoch_file *at = find(es, file->rec.ref.id), *end = es->job.file + es->job.n;

	if (!es->job.n)
		es->since = ddio_env_now(file->session->env);
	memmove(at + 1, at, (size_t)(end - at) * sizeof(*at));
	*at = (struct epoch_file){ .file = file };
	es->job.n++;
	file_get(file);
	file->undecided = true;
}

bool epochs_enter(struct ddio_group *group, struct ddio_file *file, uint64_t *which,
		  struct error *error)
{
	struct epochs *es = epochs_of(group);

	*which = es ? es->which : 0;
	if (!es)
		return true;
	es->busy++;
	if (has(es, file->rec.ref.id))
		error_set(error, -EBUSY, "%.200s: an epoch has one write of each file",
			  file->rec.name);
	else if (es->job.n == DDIO_EPOCH_FILES)
		error_set(error, -E2BIG, "%.200s: an epoch has at most %u files", file->rec.name,
			  DDIO_EPOCH_FILES);
	else
		add(es, file);
	return !error->status;
}

bool epochs_know(struct ddio_group *group, const struct ddio_file *file)
{
	struct epochs *es = epochs_of(group);

	return es && has(es, file->rec.ref.id);
}

bool epochs_have(struct ddio_group *group, const struct ddio_file *file)
{
	const struct ddio_session *s = group->session;
	struct epochs *es = epochs_of(group);

	return es && has(es, file->rec.ref.id) && !find(es, file->rec.ref.id)->failed &&
	       ddio_env_now(s->env) - es->since < DDIO_EPOCH_PATIENCE * s->timeout_ns;
}

/* What waited for the end of it, or for that of one of its files, can go on. */
static void tell_decided(struct ddio_group *group)
{
	const struct group_user *const *u;

	for (u = group_users(group); *u; u++)
		if ((*u)->decided)
			(*u)->decided(group);
}

void epochs_left(struct ddio_group *group, uint64_t which, const struct ddio_file *file,
		 const struct error *error)
{
	struct epochs *es = epochs_same(group, which);

	if (!es)
		return;
	es->busy--;
	error_first(&es->failed, error);
	if (!error->status || !file || !has(es, file->rec.ref.id))
		return;
	find(es, file->rec.ref.id)->failed = true;
	tell_decided(group);
}

bool epochs_keep(struct ddio_group *group, uint64_t which, struct epoch_job *job)
{
	struct epochs *es = epochs_same(group, which);
	struct epoch_file *at;

	if (!es || !has(es, job->file->rec.ref.id))
		return false;
	at = find(es, job->file->rec.ref.id);
	at->number = job->number;
	at->size = job->size;
	job->number = 0;
	return true;
}

/* Puts all files, but those of epochs that are to be decided.  */
static void put_some(struct epochs_job *job, bool all)
{
	uint32_t i, n = 0;

	for (i = 0; i < job->n; i++) {
		job->file[i].file->undecided = false;
		if (!all && job->file[i].number)
			job->file[n++] = job->file[i];
		else
			file_put(job->file[i].file);
	}
	job->n = n;
}

/*
 * Nobody waits for it
 */
static void dropped(struct epochs_job *job)
{
	struct epochs *es = ddio_container_of(job, struct epochs, job);

	put_some(job, true);
	free(es);
}

/* Takes it from the group. */
static void forget(struct ddio_group *group)
{
	*group_state(group, &epoch_group_user) = NULL;
	tell_decided(group);
}

/* Takes it from the group, and has it given up if it is not decided. */
static void drop(struct ddio_group *group)
{
	struct epochs *es = epochs_of(group);

	if (!es)
		return;
	forget(group);
	put_some(&es->job, false);
	es->job.done = dropped;
	epochs_abort(&es->job);
}

/*
 * Begin and end
 */
static void epoch_call_end(struct epoch_call *ec)
{
	turn_pass(&ec->turn);
	call_end(&ec->call, &ec->error);
}

static void aborted(struct epochs_job *job)
{
	struct epoch_call *ec = job->arg;

	dropped(job);
	epoch_call_end(ec);
}

/* All have heard how it ends; or it has begun. */
static void epoch_over(struct epoch_call *ec)
{
	struct epochs *es = epochs_of(ec->group);

	if (!es || (ec->what == DO_BEGIN && !ec->error.status)) {
		epoch_call_end(ec);
		return;
	}
	forget(ec->group);
	put_some(&es->job, ec->decided);
	es->job.done = aborted;
	es->job.arg = ec;
	epochs_abort(&es->job);
}

/* Makes it, at a member that may begin one. */
static void begin(struct epoch_call *ec)
{
	struct epochs *es = calloc(1, sizeof(*es));

	if (es) {
		es->job.session = ec->call.session;
		es->which = ec->turn.number;
	} else {
		error_set(&ec->error, -ENOMEM, "out of memory");
	}
	*group_state(ec->group, &epoch_group_user) = es;
}

static void sizes_learn(struct epochs *es, const uint8_t *data, size_t len)
{
	for (; es && len >= SIZE_LEN; data += SIZE_LEN, len -= SIZE_LEN)
		if (has(es, bytes_get64(data)))
			find(es, bytes_get64(data))->file->rec.size = bytes_get64(data + 8);
}

static void agreed(void *arg, const struct error *error, const void *data, size_t len)
{
	struct epoch_call *ec = arg;
	bool mine = error->status == DDIO_ST_CANCELLED && ec->what == DO_END && !ec->commit;

	ec->over = true;
	ec->fan = NULL;
	ec->error = *error;
	/* Who gives it up is told of no error. */
	if (mine)
		error_clear(&ec->error);
	if (!error->status && ec->what == DO_BEGIN)
		begin(ec);
	else if (!error->status)
		sizes_learn(epochs_of(ec->group), data, len);
	/* Members other than rank 0 have nothing to decide. */
	ec->decided |= !error->status;
	if (!ec->asking)
		epoch_over(ec);
}

/*
 * Rank 0
 */
static void release(struct epoch_call *ec, const struct error *error, const void *data, size_t len)
{
	ec->asking = false;
	if (ec->over)
		epoch_over(ec);
	else
		fan_release(ec->fan, error, data, len);
}

static void known(struct node_request *request, const struct reply *reply)
{
	struct error error;

	error_clear(&error);
	if (reply->status)
		reply_error(&error, reply, "an epoch of several files");
	release(request->arg, &error, NULL, 0);
}

/* The name server will decide it: if it cannot be reached, that is said before anything is written. */
static void begin_root(struct epoch_call *ec)
{
	request_init(&ec->request, DDIO_OP_PING, known, ec);
	request_names(ec->call.session, &ec->request);
}

static void committed(struct epochs_job *job)
{
	uint8_t data[DDIO_EPOCH_FILES * SIZE_LEN];
	struct epoch_call *ec = job->arg;
	struct error error = job->error;
	uint32_t i;

	/* Whatever came of it, it is not to be given up now. */
	ec->decided = true;
	if (job->unknown)
		error_status(&error, job->error.status,
			     "an epoch: it may or may not be in its files, in all alike: %.300s",
			     job->error.text);
	for (i = 0; i < job->n; i++) {
		bytes_put64(data + (size_t)i * SIZE_LEN, job->file[i].file->rec.ref.id);
		bytes_put64(data + (size_t)i * SIZE_LEN + 8, job->file[i].size);
	}
	release(ec, &error, data, error.status ? 0 : (size_t)job->n * SIZE_LEN);
}

static void epoch_root(void *arg, struct fan *fan)
{
	struct epoch_call *ec = arg;
	struct epochs *es = epochs_of(ec->group);

	ec->fan = fan;
	ec->asking = true;
	if (ec->what == DO_BEGIN) {
		begin_root(ec);
		return;
	}
	/* Of those that had no byte nothing has to be decided. */
	put_some(&es->job, false);
	es->job.done = committed;
	es->job.arg = ec;
	epochs_commit(&es->job);
}

/*
 * All members
 */
static void contribute(struct epoch_call *ec)
{
	const struct epochs *es = epochs_of(ec->group);
	uint32_t rank = ec->group->rank;

	if (ec->what == DO_BEGIN && es)
		error_set(&ec->error, -EBUSY, "rank %u: the group has an epoch already", rank);
	else if (ec->what == DO_BEGIN)
		return;
	else if (!es)
		error_set(&ec->error, -EINVAL, "rank %u: the group has no epoch", rank);
	else if (!ec->commit)
		error_status(&ec->error, DDIO_ST_CANCELLED, "rank %u has given the epoch up", rank);
	else if (es->failed.status)
		error_status(&ec->error, DDIO_ST_CANCELLED,
			     "the epoch was given up, since a write of it failed: %.300s",
			     es->failed.text);
	else if (es->busy)
		error_set(&ec->error, -EBUSY, "rank %u: a write of the epoch has not ended", rank);
}

static void epoch_begin_turn(struct turn *turn)
{
	struct epoch_call *ec = ddio_container_of(turn, struct epoch_call, turn);
	const struct fan_in in = { .kind = FAN_KIND_EPOCH,
				   .compare = &ec->what,
				   .compare_len = 1,
				   .error = &ec->error,
				   .root = epoch_root,
				   .done = agreed,
				   .arg = ec };

	contribute(ec);
	fan_begin(ec->group, turn->number, STEP_FIRST, &in);
}

static void epoch_run(struct session_call *call)
{
	struct epoch_call *ec = ddio_container_of(call, struct epoch_call, call);

	ec->turn.begin = epoch_begin_turn;
	turn_take(ec->group, &ec->turn);
}

static int epoch_call(struct ddio_group *group, uint8_t what, bool commit)
{
	struct epoch_call ec = { .group = group, .what = what, .commit = commit };

	return group ? call_run(group->session, &ec.call, epoch_run) : -EINVAL;
}

int ddio_epoch_begin(struct ddio_group *group)
{
	return epoch_call(group, DO_BEGIN, false);
}

int ddio_epoch_commit(struct ddio_group *group)
{
	return epoch_call(group, DO_END, true);
}

int ddio_epoch_abort(struct ddio_group *group)
{
	return epoch_call(group, DO_END, false);
}

static const struct step_kind epoch_kinds[] = {
	{ .kind = FAN_KIND_EPOCH, .name = "an epoch of several files" },
	{ .kind = 0 },
};

const struct group_user epoch_group_user = { .kinds = epoch_kinds, .closed = drop };
