// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The way to the name server.  The first request on a connection says whose it is (FS_ATTACH).  If the
 * name server knows nothing of this mount, because it was restarted, it is told again what is open and
 * locked.  Requests wait until that is done, and are made again if the connection was lost before
 * their answer.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/core/job.h"
#include "cp/fs/names/ahead.h"
#include "cp/fs/names/dirattr.h"
#include "cp/fs/names/names.h"
#include "cp/fs/names/recall.h"

/* So many inodes changed and not synced: the name server is asked to sync them. */
#define UNSYNCED_MANY 8192

static struct fsc_reactor *names_reactor(struct ddio_fs *fs)
{
	return &fs->reactor[0];
}

static uint32_t names_node(const struct ddio_fs *fs)
{
	return fs->reactor[0].session->conf->ns_node;
}

/*
 * Requests
 */
void fsc_ask_init(struct fsc_ask *ask, struct fsc_reactor *home, uint16_t opcode, void *fixed,
		  size_t len, void (*done)(struct fsc_ask *ask))
{
	memset(ask, 0, sizeof(*ask));
	ddio_list_init(&ask->link);
	ddio_list_init(&ask->order);
	ask->home = home;
	ask->opcode = opcode;
	ask->fixed = fixed;
	ask->len = len;
	ask->done = done;
}

static void ask_home(void *arg)
{
	struct fsc_ask *ask = arg;

	ask->done(ask);
}

static void ask_end(struct fsc_ask *ask)
{
	ddio_list_del(&ask->order);
	if (!ask->home->index) {
		ask->done(ask);
		return;
	}
	ask->post.fn = ask_home;
	ask->post.arg = ask;
	ddio_env_post(ask->home->env, &ask->post);
}

static void ask_send(struct fsc_ask *ask);
static void names_up(struct ddio_fs *fs);
static void names_rest(struct ddio_fs *fs);

static void names_answered(struct fsc_ask *ask, const struct reply *reply);

static void names_heard(struct ddio_fs *fs, uint64_t sent)
{
	if (sent <= atomic_load(&fs->heard))
		return;
	atomic_store(&fs->heard, sent);
	atomic_store(&fs->mute, false);
}

/* Returns true if a request may change attributes of an inode, other than by writing. */
static bool is_meta(uint16_t opcode)
{
	switch (opcode) {
	case DDIO_OP_FS_SETATTR:
	case DDIO_OP_FS_LINK:
	case DDIO_OP_FS_UNLINK:
	case DDIO_OP_FS_RENAME:
	case DDIO_OP_FS_SETXATTR:
	case DDIO_OP_FS_REMOVEXATTR:
		return true;
	default:
		return false;
	}
}

/* Takes the number of a change off the reply.  Returns false if it is missing. */
static bool take_change(struct fsc_ask *ask, struct reply *reply)
{
	struct fsc_names *names = ask->home->fs->names;
	uint64_t change;

	if (!ddio_opcode_numbered(ask->opcode))
		return true;
	if (ddio_get_change(reply->payload, &reply->len, &change))
		return false;
	if (change > names->change)
		names->change = change;
	return true;
}

static void ask_succeeded(struct fsc_ask *ask, struct reply reply)
{
	struct ddio_fs *fs = ask->home->fs;

	ask->cancelled = false;
	fsc_node_answered(names_reactor(fs), names_node(fs));
	if (!take_change(ask, &reply)) {
		fsc_ask_malformed(ask);
	} else {
		names_answered(ask, &reply);
		if (ask->take)
			ask->take(ask, &reply);
	}
	ask_end(ask);
}

static void ask_replied(struct node_request *request, const struct reply *reply)
{
	struct fsc_ask *ask = request->arg;
	struct ddio_fs *fs = ask->home->fs;

	fsc_dirattr_replied(ask, reply->status);
	fsc_ahead_note(ask);
	if (is_meta(ask->opcode))
		atomic_fetch_add(&fs->meta, 1);
	if (!fsc_status_unanswered(reply->status))
		names_heard(fs, ask->sent_ns);
	if (!reply->status) {
		ask_succeeded(ask, *reply);
	} else if (!ask->cancelled && fsc_status_unanswered(reply->status) &&
		   fsc_node_retry(names_reactor(fs), names_node(fs))) {
		/* If the connection is still there, the name server is shutting down: try later. */
		ddio_list_add(&ask->link, &fs->names->held);
		if (fs->names->state == FSC_READY)
			names_rest(fs);
		else
			names_up(fs);
	} else {
		ask->cancelled = ask->cancelled && fsc_status_unanswered(reply->status);
		if (ask->cancelled)
			fsc_error_set(&ask->error, -EINTR, "cancelled");
		fsc_error_reply(&ask->error, reply);
		ask_end(ask);
	}
}

/* Writes the request's number, and the number up to which every request has been answered. */
static void ask_number(struct fsc_ask *ask)
{
	struct fsc_names *names = ask->home->fs->names;
	uint64_t v[2];

	if (!ask->seq) {
		ask->seq = ++names->seq;
		ddio_list_add(&ask->order, &names->order);
	}
	v[0] = htole64(ask->seq);
	v[1] = htole64(ddio_list_first(&names->order, struct fsc_ask, order)->seq - 1);
	memcpy(ask->fixed, v, sizeof(v));
}

static void ask_send(struct fsc_ask *ask)
{
	struct ddio_fs *fs = ask->home->fs;

	if (ask->numbered)
		ask_number(ask);
	ask->answered = fs->names->unsynced.clock;
	ask->change = fs->names->change;
	ask->sent_ns = ddio_env_now(names_reactor(fs)->env);
	if (is_meta(ask->opcode))
		atomic_fetch_add(&fs->meta, 1);
	ask->meta = atomic_load(&fs->meta);
	fsc_dirattr_sent(ask);
	fsc_ahead_note(ask);
	request_init(&ask->request, ask->opcode, ask_replied, ask);
	ask->request.fixed = ask->fixed;
	ask->request.fixed_len = ask->len;
	request_names(names_reactor(fs)->session, &ask->request);
}

/* A sync of an inode of which nothing is unsynced.  That something was lost earlier is said all the same. */
static bool ask_needless(const struct fsc_ask *ask)
{
	return ask->sole && !fsc_unsynced_has(&ask->home->fs->names->unsynced, ask->sole);
}

static void ask_begin(void *arg)
{
	const struct reply none = { 0 };
	struct fsc_ask *ask = arg;
	struct ddio_fs *fs = ask->home->fs;

	if (fsc_closing(fs)) {
		fsc_error_set(&ask->error, -ESHUTDOWN, FSC_CLOSING);
		ask_end(ask);
	} else if (ask_needless(ask)) {
		ask->take(ask, &none);
		ask_end(ask);
	} else if (fs->names->state == FSC_READY) {
		ask_send(ask);
	} else {
		ddio_list_add(&ask->link, &fs->names->held);
		names_up(fs);
	}
}

void fsc_ask(struct fsc_ask *ask)
{
	if (!ask->home->index) {
		ask_begin(ask);
		return;
	}
	ask->post.fn = ask_begin;
	ask->post.arg = ask;
	ddio_env_post(names_reactor(ask->home->fs)->env, &ask->post);
}

void fsc_ask_malformed(struct fsc_ask *ask)
{
	fsc_error_set(&ask->error, -EIO, "malformed reply from the name server");
}

bool fsc_ask_cancel(struct fsc_ask *ask)
{
	ask->cancelled = true;
	if (ddio_list_empty(&ask->link))
		return false;
	ddio_list_del(&ask->link);
	fsc_error_set(&ask->error, -EINTR, "cancelled");
	ask_end(ask);
	return true;
}

/*
 * What is not known to be durable
 */
struct quiet_sync {
	struct fsc_job job;
	struct fsc_ask ask;
};

static void quiet_synced(struct fsc_ask *ask)
{
	struct quiet_sync *qs = ddio_container_of(ask, struct quiet_sync, ask);

	qs->job.fs->names->syncing = false;
	fsc_error_free(&ask->error);
	fsc_job_drop(&qs->job);
}

/* Has everything synced if a change up to @clock is not.  Nobody waits for it: the next beat tries again. */
static void names_sync_quietly(struct ddio_fs *fs, uint64_t clock)
{
	struct fsc_names *names = fs->names;
	struct quiet_sync *qs;

	if (names->syncing || names->state != FSC_READY ||
	    !fsc_unsynced_any(&names->unsynced, clock))
		return;
	qs = fsc_job_new_quiet(fs, sizeof(*qs));
	if (!qs)
		return;
	names->syncing = true;
	fsc_ask_init(&qs->ask, names_reactor(fs), DDIO_OP_FS_SYNC, NULL, 0, quiet_synced);
	fsc_ask(&qs->ask);
}

bool fsc_ask_synced(const struct fsc_ask *ask)
{
	return ask->opcode == DDIO_OP_FS_SYNC || ask->durable;
}

static void names_answered(struct fsc_ask *ask, const struct reply *reply)
{
	struct ddio_fs *fs = ask->home->fs;
	struct fsc_unsynced *u = &fs->names->unsynced;

	if (fsc_ask_synced(ask)) {
		fsc_unsynced_durable(u, ask->answered);
		if (ask->change > fs->names->durable)
			fs->names->durable = ask->change;
	} else {
		fsc_unsynced_changed(u, ask, reply);
	}
	if (u->nfresh >= UNSYNCED_MANY)
		names_sync_quietly(fs, u->clock);
}

bool fsc_ask_lost(struct fsc_ask *ask, uint64_t ino, uint64_t *seen)
{
	return fsc_unsynced_tell(&ask->home->fs->names->unsynced, ino, seen);
}

void fsc_ask_losses(struct fsc_ask *ask, uint64_t ino, uint64_t *seen)
{
	if (fsc_ask_lost(ask, ino, seen))
		fsc_error_set(
			&ask->error, -EIO,
			"the name server has lost changes of names, sizes and attributes: those "
			"that were not synced may be among them");
}

/* What the name server has lost is told by the next sync of each inode that was changed, or of any that is open. */
static void names_lost(struct ddio_fs *fs, uint32_t lost)
{
	struct fsc_unsynced *u = &fs->names->unsynced;
	bool durable = lost & DDIO_FS_LOST_DURABLE;

	if (!durable && !fsc_unsynced_any(u, UINT64_MAX))
		return;
	fsc_log(fs, DDIO_LOG_WARN,
		"the name server has lost changes of names, sizes and attributes%s",
		durable ? " that were durable" : " that were not synced");
	if (u->unnamed || durable)
		fs->names->ops->unnamed_lost(fs);
	fsc_unsynced_lost(u);
	if (durable)
		fsc_unsynced_forget(u);
	if (fs->names_lost)
		fs->names_lost(fs->names_lost_arg);
}

/* What a life of the name space has found when it began is durable. */
static void names_compare(struct ddio_fs *fs, const struct ddio_msg_fs_attached *x)
{
	struct fsc_names *names = fs->names;

	if (names->life && x->lost)
		names_lost(fs, x->lost);
	if (names->life != x->life)
		names->change = names->durable = 0;
	names->boot = x->boot;
	names->life = x->life;
}

/*
 * Attaching
 */
static void names_fail(struct ddio_fs *fs, int err, const char *text)
{
	struct fsc_names *names = fs->names;
	struct fsc_error error = { 0 };
	struct ddio_list held;
	struct fsc_ask *ask;

	ddio_list_init(&held);
	ddio_list_splice(&names->held, &held);
	while (!ddio_list_empty(&held)) {
		ask = ddio_list_first(&held, struct fsc_ask, link);
		ddio_list_del(&ask->link);
		fsc_error_set(&ask->error, err, text);
		ask_end(ask);
	}
	if (names->starting) {
		names->starting = false;
		fsc_error_set(&error, err, text);
		names->ops->started(fs, &error);
		fsc_error_free(&error);
	}
}

static void names_ready(struct ddio_fs *fs)
{
	const struct fsc_error none = { 0 };
	struct fsc_names *names = fs->names;
	struct fsc_ask *ask;

	fsc_dirattr_lost(fs);
	fsc_ahead_lost(fs);
	names->state = FSC_READY;
	names->retry.tries = 0;
	names->attached_once = true;
	fsc_recall_listen(fs);
	names->ops->beat(fs);
	if (names->starting) {
		names->starting = false;
		names->ops->started(fs, &none);
	}
	while (names->state == FSC_READY && !ddio_list_empty(&names->held)) {
		ask = ddio_list_first(&names->held, struct fsc_ask, link);
		ddio_list_del(&ask->link);
		ask_send(ask);
	}
}

static void names_attach(struct ddio_fs *fs, uint32_t flags);

static void names_rested(struct fsc_retry *retry)
{
	struct ddio_fs *fs = retry->r->fs;

	fs->names->resting = false;
	if (fsc_closing(fs))
		names_fail(fs, -ESHUTDOWN, FSC_CLOSING);
	else
		names_up(fs);
}

/* Returns true if a request waits for the name server, or it must be told something as soon as it is back. */
static bool names_wanted(const struct fsc_names *names)
{
	return !ddio_list_empty(&names->held) || !ddio_list_empty(&names->opens) ||
	       !ddio_list_empty(&names->locks) || names->starting;
}

static void names_rest(struct ddio_fs *fs)
{
	struct fsc_names *names = fs->names;

	names->state = FSC_DETACHED;
	if (names->resting || fsc_closing(fs) || !names_wanted(names))
		return;
	names->resting = true;
	fsc_retry_later(names_reactor(fs), &names->retry, names_rested);
}

/* A first attach fails after the timeout even on a hard mount. */
static bool names_overdue(struct ddio_fs *fs)
{
	return fsc_node_silent(names_reactor(fs), names_node(fs)) >= fs->timeout_ns;
}

static void names_refused(struct ddio_fs *fs, const struct reply *reply)
{
	struct fsc_error error = { 0 };

	fsc_error_reply(&error, reply);
	if (!fsc_status_unanswered(reply->status) ||
	    !fsc_node_retry(names_reactor(fs), names_node(fs)) ||
	    (fs->names->starting && names_overdue(fs)))
		names_fail(fs, fsc_closing(fs) ? -ESHUTDOWN : error.err, error.text);
	fsc_error_free(&error);
	names_rest(fs);
}

static void names_attached(struct node_request *request, const struct reply *reply)
{
	struct ddio_fs *fs = request->arg;
	struct fsc_names *names = fs->names;
	struct reply bad = { .status = DDIO_ST_PROTOCOL };
	struct ddio_msg_fs_attached x;

	if (reply->status) {
		names_refused(fs, reply);
		return;
	}
	if (ddio_get_fs_attached(reply->payload, reply->len, &x)) {
		names_refused(fs, &bad);
		return;
	}
	fsc_node_answered(names_reactor(fs), names_node(fs));
	names_compare(fs, &x);
	atomic_store(&fs->names_timeout_ns,
		     x.timeout_ns < fs->timeout_ns ? x.timeout_ns : fs->timeout_ns);
	if (names->state == FSC_TELLING || x.known) {
		names_ready(fs);
		return;
	}
	if (names->attached_once)
		fsc_log(fs, DDIO_LOG_INFO,
			"the name server was restarted: telling it again which files are open and which locks are held");
	names->state = FSC_TELLING;
	names->ops->tell_again(fs);
}

static void names_attach(struct ddio_fs *fs, uint32_t flags)
{
	struct fsc_names *names = fs->names;
	struct ddio_msg_fs_attach x = { .flags = flags,
					.life = names->life,
					.answered = names->change,
					.durable = names->durable };
	struct node_request *request = &names->request;
	ssize_t len;

	memcpy(x.mount, names->mount, sizeof(x.mount));
	request_init(request, DDIO_OP_FS_ATTACH, names_attached, fs);
	len = ddio_put_fs_attach(request->inl, sizeof(request->inl), &x);
	request->fixed = request->inl;
	request->fixed_len = (size_t)len;
	request_names(names_reactor(fs)->session, request);
}

static void names_up(struct ddio_fs *fs)
{
	struct fsc_names *names = fs->names;

	if (names->state != FSC_DETACHED || names->resting || names->leaving)
		return;
	names->state = FSC_ATTACHING;
	names_attach(fs, 0);
}

void fsc_names_told(struct ddio_fs *fs, bool lost)
{
	if (lost)
		names_rest(fs);
	else
		names_attach(fs, DDIO_FS_ATTACH_TOLD);
}

void fsc_names_lost(struct ddio_fs *fs)
{
	struct fsc_names *names = fs->names;

	fsc_dirattr_lost(fs);
	fsc_ahead_lost(fs);
	if (!fsc_closing(fs))
		names->ops->down(fs);
	/* If an attach is under way it ends by itself, and rests then. */
	if (!fsc_closing(fs) && names->state == FSC_READY)
		names_rest(fs);
}

/*
 * The pulse finds out that the name server is gone while there are no requests to it.
 */
static void names_pong(struct node_request *request, const struct reply *reply)
{
	struct ddio_fs *fs = request->arg;

	if (!reply->status)
		names_heard(fs, fs->names->pinged);
	fs->names->pinging = false;
}

static void names_beat(void *arg)
{
	struct ddio_fs *fs = arg;
	struct fsc_names *names = fs->names;
	struct fsc_reactor *r = names_reactor(fs);

	if ((names->pinging || names->state != FSC_READY) && !atomic_exchange(&fs->mute, true))
		names->ops->mute(fs);
	if (names->state == FSC_READY && !names->pinging && names_wanted(names)) {
		names->pinging = true;
		names->pinged = ddio_env_now(r->env);
		request_init(&names->ping, DDIO_OP_PING, names_pong, fs);
		request_names(r->session, &names->ping);
	}
	fsc_recall_listen(fs);
	names->ops->beat(fs);
	fsc_ahead_trim(fs);
	names_sync_quietly(fs, names->beaten);
	names->beaten = names->unsynced.clock;
	ddio_timer_arm(r->env, &names->beat, ddio_env_now(r->env) + fs->timeout_ns / 3);
}

int fsc_names_new(struct ddio_fs *fs, const struct fsc_names_ops *ops)
{
	struct fsc_names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	names->ops = ops;
	names->starting = true;
	ddio_list_init(&names->held);
	ddio_list_init(&names->order);
	ddio_list_init(&names->opens);
	ddio_list_init(&names->locks);
	fsc_unsynced_init(&names->unsynced);
	names->beat.fn = names_beat;
	names->beat.arg = fs;
	fs->names = names;
	return 0;
}

void fsc_names_free(struct ddio_fs *fs)
{
	if (fs->names)
		fsc_unsynced_free(&fs->names->unsynced);
	free(fs->names);
}

void fsc_names_begin(struct ddio_fs *fs)
{
	ddio_env_random(names_reactor(fs)->env, fs->names->mount, sizeof(fs->names->mount));
	fs->names->mount[0] |= 1;
	names_up(fs);
	ddio_timer_arm(names_reactor(fs)->env, &fs->names->beat,
		       ddio_env_now(names_reactor(fs)->env) + fs->timeout_ns / 3);
}

static void names_left(struct node_request *request, const struct reply *reply)
{
	struct ddio_fs *fs = request->arg;

	(void)reply;
	fs->names->left = true;
}

void fsc_names_leave(struct ddio_fs *fs)
{
	struct fsc_names *names = fs->names;

	if (names->state != FSC_READY) {
		names->left = true;
		return;
	}
	names->leaving = true;
	request_init(&names->request, DDIO_OP_FS_DETACH, names_left, fs);
	request_names(names_reactor(fs)->session, &names->request);
}

void fsc_names_end(struct ddio_fs *fs)
{
	ddio_timer_cancel(names_reactor(fs)->env, &fs->names->beat);
	names_fail(fs, -ESHUTDOWN, FSC_CLOSING);
}
