// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stopping a node.  Each reactor goes through the stages of enum
 * server_stop_stage on its own, looking every few milliseconds whether the next can begin;
 * reactor 0 waits for all.
 */
#include <errno.h>
#include <string.h>
#include "iop/server/priv.h"

/* How long clients have to read their last replies. */
#define STOP_PATIENCE_NS 1000000000ull

static void stop_enter(struct server_reactor *sr, enum server_stop_stage stage)
{
	sr->stage = stage;
	sr->deadline = ddio_env_now(sr->reactor->env) + STOP_PATIENCE_NS;
}

static bool stop_late(const struct server_reactor *sr)
{
	return ddio_env_now(sr->reactor->env) >= sr->deadline;
}

/*
 * The last write back
 */
static void stop_disk_end(struct server_stop_part *part, int err)
{
	if (err)
		ddio_env_log(part->sr->reactor->env, DDIO_LOG_ERR,
			     "disk %s: cannot record its last changes: %s", part->disk->name,
			     strerror(-err));
	part->lost |= err;
	part->sr->lost |= part->lost;
	part->sr->writes--;
}

static void stop_recorded(struct commit *commit, int err)
{
	stop_disk_end(commit->arg, err);
}

/* That all is durable is recorded when it is, and with nothing else. */
static void stop_committed(struct commit *commit, int err)
{
	struct server_stop_part *part = commit->arg;

	if (!err && !part->lost)
		err = store_end_note(part->disk->store, part->sr->server->iop.boot);
	if (err || part->lost) {
		stop_disk_end(part, err);
		return;
	}
	part->commit.done = stop_recorded;
	store_commit(part->disk->store, &part->commit);
}

static void stop_flushed(struct cache_flush *flush, int status)
{
	struct server_stop_part *part = flush->arg;

	if (status)
		ddio_env_log(part->sr->reactor->env, DDIO_LOG_ERR,
			     "disk %s: cannot write back, data is lost: %s", part->disk->name,
			     strerror(-status));
	part->lost = status;
	part->commit.done = stop_committed;
	part->commit.arg = part;
	store_settle(part->disk->store, true);
	store_commit(part->disk->store, &part->commit);
}

static void stop_names_end(struct commit *commit, int err)
{
	struct server_reactor *sr = commit->arg;

	if (err)
		ddio_env_log(sr->reactor->env, DDIO_LOG_ERR,
			     "name space: cannot record its last changes: %s", strerror(-err));
	sr->lost |= err;
	sr->writes--;
}

static void stop_names_committed(struct commit *commit, int err)
{
	struct server_reactor *sr = commit->arg;
	struct ddio_iop *iop = &sr->server->iop;

	if (!err)
		err = ns_ending(iop->ns, iop->boot);
	commit->done = stop_names_end;
	if (err)
		stop_names_end(commit, err);
	else
		ns_commit(iop->ns, commit);
}

static void stop_write(struct server_reactor *sr)
{
	struct reactor *reactor = sr->reactor;
	uint32_t i;

	stop_enter(sr, SERVER_WRITING);
	for (i = 0; i < reactor->ndisks; i++) {
		struct server_stop_part *part = &sr->parts[i];

		part->sr = sr;
		part->disk = &reactor->disks[i];
		part->flush.done = stop_flushed;
		part->flush.arg = part;
		sr->writes++;
		cache_flush(part->disk->cache, &part->flush);
	}
	if (reactor->index || !reactor->iop->ns)
		return;
	sr->ns_commit.done = stop_names_committed;
	sr->ns_commit.arg = sr;
	sr->writes++;
	ns_commit(reactor->iop->ns, &sr->ns_commit);
}

/*
 * From stage to stage
 */
void server_ended_say(struct server_reactor *sr)
{
	struct ddio_msg msg = { .opcode = DDIO_OP_ENDED };
	struct client *client;

	ddio_list_for_each_entry(client, &sr->reactor->clients, link)
		/* A client that is not told assumes the worst. */
		if (server_client_of(client)->role == DDIO_ROLE_CLIENT)
			ddio_conn_send(client->conn, &msg, NULL, 0, NULL, 0, NULL);
}

static void stop_say(struct server_reactor *sr)
{
	stop_enter(sr, SERVER_SAYING);
	if (!sr->lost)
		server_ended_say(sr);
}

static void stop_all_stopped(void *arg)
{
	struct server *server = arg;

	if (--server->running)
		return;
	if (server->iop.ns)
		ns_close(server->iop.ns);
	server->iop.ns = NULL;
	if (server->on_stopped)
		server->on_stopped(server->arg);
}

static bool clients_silent(const struct reactor *reactor)
{
	const struct client *client;

	ddio_list_for_each_entry(client, &reactor->clients, link)
		if (ddio_conn_queued(client->conn))
			return false;
	return true;
}

static bool caches_idle(const struct reactor *reactor)
{
	uint32_t i;

	for (i = 0; i < reactor->ndisks; i++)
		if (!cache_idle(reactor->disks[i].cache))
			return false;
	return true;
}

static void stop_ending(struct server_reactor *sr)
{
	if (server_services_idle(sr->reactor) && !sr->serving)
		stop_write(sr);
	else if (stop_late(sr))
		server_clients_close(sr->reactor);
}

static void stop_closing(struct server_reactor *sr)
{
	struct reactor *reactor = sr->reactor;

	if (sr->serving || !server_services_idle(reactor) || !caches_idle(reactor))
		return;
	server_tell_reactor_exit(reactor);
	server_disks_close(reactor);
	server_bufs_free(reactor);
	server_requests_free(reactor);
	stop_enter(sr, SERVER_STOPPED);
	sr->stopped.fn = stop_all_stopped;
	sr->stopped.arg = sr->server;
	ddio_env_post(sr->server->iop.reactors[0].env, &sr->stopped);
}

static void stop_step(void *arg);

static void stop_wait(struct server_reactor *sr)
{
	struct ddio_env *env = sr->reactor->env;

	sr->timer.fn = stop_step;
	sr->timer.arg = sr;
	if (!ddio_timer_arm(env, &sr->timer, ddio_env_now(env) + SERVER_POLL_NS))
		return;
	sr->post.fn = stop_step;
	ddio_env_post(env, &sr->post);
}

static void stop_step(void *arg)
{
	struct server_reactor *sr = arg;

	switch (sr->stage) {
	case SERVER_ENDING:
		stop_ending(sr);
		break;
	case SERVER_WRITING:
		if (!sr->writes)
			stop_say(sr);
		break;
	case SERVER_SAYING:
		if (!clients_silent(sr->reactor) && !stop_late(sr))
			break;
		server_clients_close(sr->reactor);
		stop_enter(sr, SERVER_CLOSING);
		break;
	case SERVER_CLOSING:
		stop_closing(sr);
		break;
	default:
		break;
	}
	if (sr->stage != SERVER_STOPPED)
		stop_wait(sr);
}

static void stop_begin(void *arg)
{
	struct server_reactor *sr = arg;

	sr->reactor->stopping = true;
	server_opening_close(sr->reactor);
	server_write_back_never(sr->reactor);
	server_tell_reactor_stop(sr->reactor);
	stop_enter(sr, SERVER_ENDING);
	stop_step(sr);
}

void server_stop(struct ddio_iop *iop)
{
	struct server *server = server_of(iop);
	uint32_t i;

	if (server->stopping)
		return;
	server->stopping = true;
	iop->reactors[0].stopping = true;
	ddio_listener_close(server->listener);
	server->listener = NULL;
	for (i = 0; i < iop->nreactors; i++) {
		struct server_reactor *sr = &server->per[i];

		sr->post.fn = stop_begin;
		sr->post.arg = sr;
		ddio_env_post(iop->reactors[i].env, &sr->post);
	}
}
