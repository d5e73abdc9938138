// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Clones of files.  The name space makes a file without a name; every disk holds the source, so that for a moment nobody uses
 * it; in that moment its size is asked for, and then each disk gives all of its blocks to the new file as well; at last that gets
 * its name.  If anything fails, or this process dies, it has none, and is removed.
 *
 * Others wait while the source is held.  So the first try is short, and each one that follows takes twice as long.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "cp/file/file.h"

/* Tries, and the part of the timeout for which the first one holds the file. */
enum { TRIES = 4, FIRST = 16 };
/* Between tries. */
#define CLONE_AGAIN_NS 20000000u

/**
 * struct clone_call - a clone that is being made
 * @to: the new file, without a name
 * @hold: number of the holds, 0: there are none
 * @tries: so far; @until: how long it waits for others that clone the same file
 */
struct clone_call {
	struct session_call call;
	struct ddio_file *file, *to;
	const char *name;
	uint32_t flags;
	uint64_t hold;
	uint32_t tries;
	uint64_t until;
	struct node_request request;
	struct request_set set;
	struct size_job size;
	struct ddio_timer timer;
	struct error error;
};

static void begin(struct clone_call *cc);

static void clone_over(struct clone_call *cc)
{
	if (cc->to)
		file_put(cc->to);
	call_end(&cc->call, &cc->error);
}

static void set_begin(struct clone_call *cc, void (*done)(struct request_set *set))
{
	request_set_begin(&cc->set, cc->call.session, cc->file->rec.name, done, cc);
}

/* Asks the name server.  Returns false if it cannot be asked. */
#define NAMES_ASK(cc, opcode, codec, x, fn)                                           \
	({                                                                            \
		int err_;                                                             \
                                                                                      \
		request_init(&(cc)->request, opcode, fn, cc);                         \
		err_ = request_put(&(cc)->request, codec, x);                         \
		if (err_)                                                             \
			error_set(&(cc)->error, err_, "%s: %s", (cc)->file->rec.name, \
				  strerror(-err_));                                   \
		else                                                                  \
			request_names((cc)->call.session, &(cc)->request);            \
		!err_;                                                                \
	})

static void again(void *arg)
{
	begin(arg);
}

/* Begins anew after a while, or fails as it has failed. */
static void again_later(struct clone_call *cc)
{
	struct ddio_env *env = cc->call.session->env;

	cc->timer.fn = again;
	cc->timer.arg = cc;
	if (ddio_timer_arm(env, &cc->timer, ddio_env_now(env) + CLONE_AGAIN_NS))
		clone_over(cc);
}

/*
 * Giving up
 */
static bool worth_a_try(const struct clone_call *cc)
{
	return (cc->error.status == DDIO_ST_BUSY || cc->error.status == DDIO_ST_CANCELLED) &&
	       cc->tries < TRIES;
}

static void forgotten(struct node_request *request, const struct reply *reply)
{
	struct clone_call *cc = request->arg;

	(void)reply;
	file_put(cc->to);
	cc->to = NULL;
	if (worth_a_try(cc))
		again_later(cc);
	else
		clone_over(cc);
}

static void objects_gone(struct request_set *set)
{
	struct clone_call *cc = set->arg;
	const struct ddio_msg_ns_size x = { .id = cc->to->rec.ref.id };

	if (set->error.status || !NAMES_ASK(cc, DDIO_OP_NS_REMOVE_DONE, ns_size, &x, forgotten))
		clone_over(cc);
}

/* If the name server does not say that it has no name, it is left to whoever looks for files without one. */
static void given_up(struct node_request *request, const struct reply *reply)
{
	struct clone_call *cc = request->arg;
	struct ddio_msg_obj obj = { .file = cc->to->rec.ref };
	uint32_t i;

	if (reply->status) {
		clone_over(cc);
		return;
	}
	set_begin(cc, objects_gone);
	cc->set.missing_ok = true;
	for (i = 0; i < cc->to->rec.ndisks; i++) {
		obj.disk = cc->to->rec.disks[i];
		request_set_disk(&cc->set, DDIO_OP_OBJ_REMOVE, &obj, i);
	}
	request_set_end(&cc->set);
}

static void released(struct request_set *set)
{
	struct clone_call *cc = set->arg;
	const struct ddio_msg_ns_clone x = { .id = cc->to->rec.ref.id,
					     .flags = DDIO_CLONE_GIVE_UP };

	if (!NAMES_ASK(cc, DDIO_OP_NS_CLONED, ns_clone, &x, given_up))
		clone_over(cc);
}

/* Sends the same to all disks: holds the file for @ms milliseconds, or no longer. */
static void holds_ask(struct clone_call *cc, uint64_t ms, void (*done)(struct request_set *set))
{
	const struct ddio_file_record *rec = &cc->file->rec;
	struct ddio_msg_obj obj = { .file = rec->ref, .offset = cc->hold, .len = ms };
	uint32_t i;

	set_begin(cc, done);
	for (i = 0; i < rec->ndisks; i++) {
		obj.disk = rec->disks[i];
		request_set_disk(&cc->set, DDIO_OP_OBJ_HOLD, &obj, i);
	}
	request_set_end(&cc->set);
}

/* A disk that cannot be told ends its hold by itself. */
static void give_up(struct clone_call *cc)
{
	holds_ask(cc, 0, released);
}

/*
 * Its name
 */
static void named(struct node_request *request, const struct reply *reply)
{
	struct clone_call *cc = request->arg;

	if (reply->status) {
		reply_error(&cc->error, reply, cc->name);
		give_up(cc);
	} else {
		clone_over(cc);
	}
}

static void shared(struct request_set *set)
{
	struct clone_call *cc = set->arg;
	struct ddio_msg_ns_clone x = { .id = cc->to->rec.ref.id,
				       .size = cc->size.size,
				       .flags = cc->flags,
				       .uid = geteuid(),
				       .gid = getegid() };

	cc->error = set->error;
	strcpy(x.path, cc->name);
	if (cc->error.status || !NAMES_ASK(cc, DDIO_OP_NS_CLONED, ns_clone, &x, named))
		give_up(cc);
}

/*
 * Its blocks
 */
static void share(struct size_job *job)
{
	struct clone_call *cc = job->arg;
	const struct ddio_file_record *rec = &cc->file->rec;
	struct ddio_msg_obj_clone x = { .to = cc->to->rec.ref, .from = rec->ref, .hold = cc->hold };
	uint8_t buf[128];
	ssize_t len;
	uint32_t i;

	cc->error = job->error;
	if (cc->error.status) {
		give_up(cc);
		return;
	}
	if (cc->flags & DDIO_CLONE_SNAP)
		x.flags = DDIO_OBJ_CLONE_FREEZE;
	set_begin(cc, shared);
	for (i = 0; i < rec->ndisks; i++) {
		x.disk = rec->disks[i];
		x.len = file_object_size(rec, i, job->size);
		len = ddio_put_obj_clone(buf, sizeof(buf), &x);
		if (len < 0)
			request_set_fail(&cc->set, (int)len, strerror((int)-len));
		else
			request_set_any(&cc->set, DDIO_OP_OBJ_CLONE, x.disk, buf, (size_t)len, i);
	}
	request_set_end(&cc->set);
}

/* Every disk holds it: nobody can change the size but those who began before and have had no answer yet. */
static void held(struct request_set *set)
{
	struct clone_call *cc = set->arg;

	cc->error = set->error;
	if (cc->error.status) {
		give_up(cc);
		return;
	}
	cc->size = (struct size_job){ .file = cc->file, .done = share, .arg = cc };
	size_ask(&cc->size);
}

static void hold(struct clone_call *cc)
{
	struct ddio_session *s = cc->call.session;

	ddio_env_random(s->env, &cc->hold, sizeof(cc->hold));
	cc->hold = cc->hold % (DDIO_MAX_FILE / 2) + 1;
	holds_ask(cc, (s->timeout_ns << cc->tries++) / FIRST / 1000000 + 1, held);
}

static bool alike(const struct ddio_file_record *a, const struct ddio_file_record *b)
{
	return a->ref.block == b->ref.block && a->ndisks == b->ndisks &&
	       !memcmp(a->disks, b->disks, a->ndisks * sizeof(*a->disks));
}

static void begun(struct node_request *request, const struct reply *reply)
{
	struct clone_call *cc = request->arg;
	struct ddio_file_record rec;
	int err;

	if (reply->status) {
		reply_error(&cc->error, reply, cc->file->rec.name);
		if (reply->status == DDIO_ST_NOT_FOUND)
			error_status(&cc->error, DDIO_ST_STALE, "%s was removed",
				     cc->file->rec.name);
		if (reply->status == DDIO_ST_BUSY &&
		    ddio_env_now(cc->call.session->env) < cc->until)
			again_later(cc);
		else
			clone_over(cc);
		return;
	}
	err = ddio_get_record(reply->payload, reply->len, &rec, NULL);
	if (!err)
		cc->to = file_new(cc->call.session, &rec);
	if (err || !cc->to) {
		reply_malformed(&cc->error, err ? err : -ENOMEM, cc->file->rec.name);
		clone_over(cc);
	} else if (!alike(&cc->file->rec, &cc->to->rec)) {
		reply_malformed(&cc->error, -EPROTO, cc->file->rec.name);
		give_up(cc);
	} else {
		hold(cc);
	}
}

static void begin(struct clone_call *cc)
{
	const struct ddio_msg_ns_size x = { .id = cc->file->rec.ref.id };

	error_clear(&cc->error);
	if (!NAMES_ASK(cc, DDIO_OP_NS_CLONE, ns_size, &x, begun))
		clone_over(cc);
}

static void clone_run(struct session_call *call)
{
	struct clone_call *cc = ddio_container_of(call, struct clone_call, call);

	cc->until = ddio_env_now(call->session->env) + 2 * call->session->timeout_ns;
	begin(cc);
}

int ddio_clone(struct ddio_file *file, const char *name)
{
	struct clone_call cc = { .file = file, .name = name };

	if (!file)
		return -EINVAL;
	if (!file_name_ok(name))
		return session_fail(file->session, -EINVAL, FILE_NAME_BYTES, DDIO_MAX_PATH);
	return call_run(file->session, &cc.call, clone_run);
}

int ddio_snap(struct ddio_file *file, const char *name)
{
	struct clone_call cc = { .file = file,
				 .name = name,
				 .flags = DDIO_CLONE_SNAP | DDIO_CLONE_FROZEN };

	if (!file)
		return -EINVAL;
	if (!file_name_ok(name) || strlen(name) > DDIO_MAX_NAME || strchr(name, '/'))
		return session_fail(file->session, -EINVAL,
				    "the name of a snapshot has 1 to %d bytes, and no slash",
				    DDIO_MAX_NAME);
	return call_run(file->session, &cc.call, clone_run);
}
