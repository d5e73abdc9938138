// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Asks the name space about epochs that this reactor's disks have prepared: at a start at once, and when a member's
 * connection ends; later, once in a timeout.  Rank 0 of a group settles its epochs itself, so that this happens only
 * if it has died, or could not reach this node.  As long as one is open, its file is held here.  An epoch that nobody
 * decides for DDIO_EPOCH_PATIENCE times as long is given up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "env/lines.h"
#include "iop/epoch/epochs.h"
#include "iop/store/epoch.h"

/* Parts of the timeout after which a name space that could not be asked is asked again. */
#define RETRY 6
/* Most epochs that are asked about on one connection: a member may have DDIO_EPOCH_FILES on each of 16 disks. */
#define ASK_MOST 1024

/**
 * struct epoch_asked - one that is asked about
 */
struct epoch_asked {
	struct store *store;
	uint64_t epoch, file;
};

/**
 * struct epoch_asker - a reactor's
 * @timer: for the next questions, at @due
 * @key, @tls: of the connection; copied on reactor 0, whose they are
 * @fetch, @connect: posts to reactor 0 and back; @posted: one is under way
 * @list: what is asked about, @at of @n
 * @stopping: nothing is asked any more
 */
struct epoch_asker {
	struct reactor *reactor;
	struct ddio_timer timer;
	uint64_t due;
	struct ddio_conn *conn;
	struct ddio_key key;
	struct ddio_tls *tls;
	struct ddio_post fetch, connect;
	bool posted, stopping;
	struct epoch_asked list[ASK_MOST];
	uint32_t n, at;
};

static struct ddio_env *env_of(const struct epoch_asker *a)
{
	return a->reactor->env;
}

static uint64_t timeout_of(const struct epoch_asker *a)
{
	return a->reactor->iop->conf->timeout_ns;
}

static void round_begin(void *arg);

/* Asks in @delay nanoseconds, or sooner if that is due already. */
static void ask_in(struct epoch_asker *a, uint64_t delay)
{
	uint64_t at = ddio_env_now(env_of(a)) + delay;

	if (a->stopping || a->conn || a->posted)
		return;
	if (ddio_timer_armed(&a->timer) && a->due <= at)
		return;
	a->due = at;
	a->timer.fn = round_begin;
	a->timer.arg = a;
	/* Without memory for a timer it is asked when something else is prepared. */
	(void)ddio_timer_arm(env_of(a), &a->timer, at);
}

/* Lists the epochs that wait for their decision. */
static void list_make(struct epoch_asker *a)
{
	struct store_epoch *e;
	struct store *store;
	uint32_t d;

	a->n = a->at = 0;
	for (d = 0; d < a->reactor->ndisks; d++) {
		store = a->reactor->disks[d].store;
		for (e = store_epoch_next(store, NULL); e; e = store_epoch_next(store, e)) {
			const struct store_epoch_look look = store_epoch_look(e);

			if (look.since == UINT64_MAX || look.ending || a->n == ASK_MOST)
				continue;
			a->list[a->n++] = (struct epoch_asked){ store, look.epoch, look.file };
		}
	}
}

static void hang_up(struct epoch_asker *a)
{
	if (a->conn)
		ddio_conn_close(a->conn, false);
	a->conn = NULL;
	ddio_tls_free(a->tls);
	a->tls = NULL;
	explicit_bzero(&a->key, sizeof(a->key));
}

static void round_end(struct epoch_asker *a, uint64_t delay)
{
	hang_up(a);
	list_make(a);
	if (a->n)
		ask_in(a, delay);
}

/* Asks about the next epoch that is still there. */
static void ask_next(struct epoch_asker *a)
{
	struct ddio_msg msg = { .opcode = DDIO_OP_NS_DECIDED };
	struct ddio_msg_ns_epoch x = { .flags = 0 };
	struct store_epoch *e = NULL;
	uint8_t buf[64];
	ssize_t len;

	for (; a->at < a->n && !e; a->at += !e) {
		const struct epoch_asked *asked = &a->list[a->at];

		e = store_epoch_find(asked->store, asked->epoch, asked->file);
		x.id = asked->file;
		x.epoch = asked->epoch;
	}
	if (!e) {
		round_end(a, timeout_of(a));
		return;
	}
	if (ddio_env_now(env_of(a)) - store_epoch_look(e).since >
	    DDIO_EPOCH_PATIENCE * timeout_of(a))
		x.flags = DDIO_EPOCH_GIVE_UP;
	msg.tag = a->at + 1;
	len = ddio_put_ns_epoch(buf, sizeof(buf), &x);
	if (len < 0 || ddio_conn_send(a->conn, &msg, buf, (size_t)len, NULL, 0, NULL))
		round_end(a, timeout_of(a) / RETRY);
}

/* Does as the name space has answered. */
static void answered(const struct epoch_asked *asked, uint32_t flags)
{
	struct store_epoch *e = store_epoch_find(asked->store, asked->epoch, asked->file);

	if (e && !(flags & DDIO_EPOCH_OPEN))
		store_epoch_end(e, flags & DDIO_EPOCH_COMMITTED, NULL);
}

static int link_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct epoch_asker *a = ctx;
	struct ddio_msg_ns_epoch x;

	if (!(msg->flags & DDIO_WIRE_REPLY)) {
		if (msg->opcode == DDIO_OP_PING)
			return ddio_conn_reply(a->conn, msg, DDIO_ST_OK, NULL, 0);
		return 0;
	}
	if (msg->tag != a->at + 1 || a->at >= a->n)
		return -EPROTO;
	if (!msg->status) {
		int err = ddio_get_ns_epoch(payload, msg->length, &x);

		if (err || x.epoch != a->list[a->at].epoch)
			return -EPROTO;
		answered(&a->list[a->at], x.flags);
	}
	a->at++;
	ask_next(a);
	return 0;
}

static void link_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct epoch_asker *a = ctx;

	(void)welcome;
	server_show(&a->reactor->iop->servers_key, a->conn);
	ask_next(a);
}

static void link_closed(void *ctx, int err, const char *why)
{
	struct epoch_asker *a = ctx;

	(void)err;
	ddio_env_log_caused(env_of(a), DDIO_LOG_WARN,
			    "the name space cannot be asked about an atomic write: %s", why);
	round_end(a, timeout_of(a) / RETRY);
}

static const struct ddio_conn_ops link_ops = {
	.ready = link_ready,
	.message = link_message,
	.closed = link_closed,
};

static void link_connect(void *arg)
{
	struct epoch_asker *a = arg;
	const struct ddio_conf *conf = a->reactor->iop->conf;
	const struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT };
	struct ddio_conn_opts opts = { .key = &a->key,
				       .cluster = conf->cluster,
				       .handshake_ns = conf->timeout_ns,
				       .unsummed = conf->wire_checksums == DDIO_CONF_SUMS_NO,
				       .users = a->reactor->iop->users };
	int err = 0;

	a->posted = false;
	if (a->stopping)
		return;
	if (conf->tls)
		err = ddio_conn_tls_new(&a->key, conf->kernel_tls, &a->tls);
	opts.tls = a->tls;
	if (!err)
		err = ddio_conn_connect(env_of(a), conf->nodes[conf->ns_node].address, &hello,
					&opts, &link_ops, a, &a->conn);
	if (!err)
		return;
	a->conn = NULL;
	round_end(a, timeout_of(a) / RETRY);
}

/* On reactor 0, where the keys may change. */
static void key_fetch(void *arg)
{
	struct epoch_asker *a = arg;

	a->key = a->reactor->iop->key;
	ddio_env_post(env_of(a), &a->connect);
}

static void round_begin(void *arg)
{
	struct epoch_asker *a = arg;

	list_make(a);
	if (!a->n || a->stopping)
		return;
	a->posted = true;
	ddio_env_post(a->reactor->iop->reactors[0].env, &a->fetch);
}

void epochs_watch(struct reactor *reactor)
{
	if (reactor->asker)
		ask_in(reactor->asker, timeout_of(reactor->asker));
}

/* Whoever should settle it may have died: asks soon. */
static void epochs_ask_soon(struct reactor *reactor)
{
	struct epoch_asker *a = reactor->asker;

	if (!a)
		return;
	list_make(a);
	if (a->n)
		ask_in(a, 0);
}

/*
 * What the service is told
 */
static void epoch_reactor_init(struct reactor *reactor)
{
	struct epoch_asker *a = calloc(1, sizeof(*a));

	reactor->asker = a;
	if (!a)
		return;
	a->reactor = reactor;
	a->fetch = (struct ddio_post){ .fn = key_fetch, .arg = a };
	a->connect = (struct ddio_post){ .fn = link_connect, .arg = a };
}

static void epoch_node_start(struct ddio_iop *iop)
{
	uint32_t i;

	for (i = 0; i < iop->nreactors; i++)
		epochs_ask_soon(&iop->reactors[i]);
}

static void epoch_reactor_stop(struct reactor *reactor)
{
	struct epoch_asker *a = reactor->asker;

	if (!a)
		return;
	a->stopping = true;
	ddio_timer_cancel(env_of(a), &a->timer);
	hang_up(a);
}

static bool epoch_reactor_idle(const struct reactor *reactor)
{
	return !reactor->asker || !reactor->asker->posted;
}

static void epoch_reactor_exit(struct reactor *reactor)
{
	/* One whose node did not start was not stopped. */
	epoch_reactor_stop(reactor);
	free(reactor->asker);
	reactor->asker = NULL;
}

static void epoch_client_gone(struct client *client)
{
	/* Not one of those that only ask. */
	if (!ddio_list_empty(&client->members))
		epochs_ask_soon(client->reactor);
}

const struct server_service epoch_service = {
	.node_start = epoch_node_start,
	.reactor_init = epoch_reactor_init,
	.reactor_stop = epoch_reactor_stop,
	.reactor_idle = epoch_reactor_idle,
	.reactor_exit = epoch_reactor_exit,
	.client_gone = epoch_client_gone,
};
