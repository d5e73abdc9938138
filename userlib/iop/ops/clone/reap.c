// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Removes what is left of clones that stayed without a name, since whoever made them has gone or has given up: the name server does it
 * by itself, one file after the other and disk by disk, as a client that removes an orphan does.  It begins when a timeout has
 * passed: by then every hold is over that the clone's maker had, so no disk makes an object of it any more, and one that lives
 * has removed it itself.  What a node does not answer is tried again, after another timeout.
 *
 * A name server that starts does not know which clones were being made: it removes all files that have no name and no user, when those
 * who had files open have had their time to say so, and one timeout more.  A name must not come back after a loss of power without
 * its data, so that they have none is made durable first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "env/lines.h"
#include "iop/ops/clone/priv.h"
#include "iop/ns/ns.h"

/* Files that wait; more than that are left to whoever looks for files without a name. */
#define REAP_MOST 1024
/* Of those that a start finds, so many are listed at a time. */
#define REAP_LISTED 64

/**
 * struct clone_reaper - the name server's
 * @queue: @n files, by when they are @due
 * @rec: of the first of them, while @busy; @at: the disk of it that is being asked
 * @list_at: when files without a name are to be listed, from @after on; 0: they have been
 * @durable: that those that were listed have no name is being made so, while @flushing: none is begun
 * @conn, @tls: to the reactor @wanted of that disk's node; @patience: how long its answer is waited for
 * @stopping: nothing is begun any more
 */
struct clone_reaper {
	struct reactor *reactor;
	struct {
		uint64_t ino, due;
	} queue[REAP_MOST];
	uint32_t n, at, wanted;
	uint64_t list_at, after;
	struct commit durable;
	bool busy, flushing, stopping;
	struct ddio_file_record rec;
	struct ddio_conn *conn;
	struct ddio_tls *tls;
	struct ddio_timer timer, patience;
};

static void reap_turn(void *arg);
static void disk_ask(struct clone_reaper *r);

static void hang_up(struct clone_reaper *r)
{
	ddio_timer_cancel(r->reactor->env, &r->patience);
	if (r->conn)
		ddio_conn_close(r->conn, false);
	r->conn = NULL;
	ddio_tls_free(r->tls);
	r->tls = NULL;
}

static void file_over(struct clone_reaper *r)
{
	hang_up(r);
	if (r->busy)
		ddio_file_record_free(&r->rec);
	r->busy = false;
}

static void turn_at(struct clone_reaper *r, uint64_t at)
{
	if (r->stopping || r->busy || r->flushing || ddio_timer_armed(&r->timer))
		return;
	r->timer.fn = reap_turn;
	r->timer.arg = r;
	/* Without memory for a timer the next one that dies has both removed. */
	(void)ddio_timer_arm(r->reactor->env, &r->timer, at);
}

static uint64_t now(const struct clone_reaper *r)
{
	return ddio_env_now(r->reactor->env);
}

static uint64_t a_timeout_later(const struct clone_reaper *r)
{
	return now(r) + r->reactor->iop->conf->timeout_ns;
}

static void queue_add(struct clone_reaper *r, uint64_t ino, uint64_t due)
{
	if (r->n == REAP_MOST)
		return;
	r->queue[r->n].ino = ino;
	r->queue[r->n++].due = due;
}

static void queue_turn(struct clone_reaper *r)
{
	if (r->n || r->list_at)
		turn_at(r, r->n ? r->queue[0].due : r->list_at);
}

/* Takes the first out; @again: it is tried once more, later. */
static void queue_next(struct clone_reaper *r, bool again)
{
	uint64_t ino = r->queue[0].ino;

	file_over(r);
	memmove(r->queue, r->queue + 1, --r->n * sizeof(r->queue[0]));
	if (again)
		queue_add(r, ino, a_timeout_later(r));
	queue_turn(r);
}

void clone_reap(struct reactor *reactor, uint64_t ino)
{
	struct clone_reaper *r = reactor->reaper;

	if (!r || r->stopping)
		return;
	queue_add(r, ino, a_timeout_later(r));
	turn_at(r, r->queue[0].due);
}

static const struct ddio_conf_disk *disk_of(const struct clone_reaper *r)
{
	return &r->reactor->iop->conf->disks[r->rec.disks[r->at]];
}

static void disk_failed(struct clone_reaper *r)
{
	ddio_env_log(r->reactor->env, DDIO_LOG_INFO,
		     "disk %s cannot be asked to remove what is left of a clone: later",
		     disk_of(r)->name);
	queue_next(r, true);
}

/* Is there nothing left to be done, whatever else is wrong? */
static bool is_over(int err)
{
	return !err || err == -ESTALE || err == -EUCLEAN;
}

static void disk_done(struct clone_reaper *r)
{
	hang_up(r);
	if (++r->at < r->rec.ndisks)
		disk_ask(r);
	else
		queue_next(r, !is_over(ns_gone(r->reactor->iop->ns, r->queue[0].ino)));
}

static void answer_late(void *arg)
{
	disk_failed(arg);
}

static int link_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct clone_reaper *r = ctx;

	(void)payload;
	if (!(msg->flags & DDIO_WIRE_REPLY))
		return msg->opcode == DDIO_OP_PING
			       ? ddio_conn_reply(r->conn, msg, DDIO_ST_OK, NULL, 0)
			       : 0;
	if (!msg->status || msg->status == DDIO_ST_NOT_FOUND || msg->status == DDIO_ST_STALE)
		disk_done(r);
	else
		disk_failed(r);
	return 0;
}

static void link_connect(struct clone_reaper *r);

/* The node may be gone without a word, and others wait behind this file.  What it does in twice a timeout it also says. */
static int answer_wait(struct clone_reaper *r)
{
	r->patience.fn = answer_late;
	r->patience.arg = r;
	return ddio_timer_arm(r->reactor->env, &r->patience,
			      a_timeout_later(r) + r->reactor->iop->conf->timeout_ns);
}

static void object_remove_send(struct clone_reaper *r)
{
	const struct ddio_msg msg = { .opcode = DDIO_OP_OBJ_REMOVE, .tag = 1 };
	const struct ddio_msg_obj x = { .file = r->rec.ref, .disk = r->rec.disks[r->at] };
	uint8_t buf[DDIO_OBJ_LEN];
	ssize_t len = ddio_put_obj(buf, sizeof(buf), &x);

	server_show(&r->reactor->iop->servers_key, r->conn);
	if (len < 0 || ddio_conn_send(r->conn, &msg, buf, (size_t)len, NULL, 0, NULL) ||
	    answer_wait(r))
		disk_failed(r);
}

static void link_ready(void *ctx, const struct ddio_msg_welcome *welcome)
{
	struct clone_reaper *r = ctx;
	uint32_t i;

	for (i = 0; i < welcome->ndisks; i++)
		if (welcome->disks[i].disk == r->rec.disks[r->at])
			break;
	if (i == welcome->ndisks) {
		disk_failed(r);
	} else if (welcome->disks[i].reactor == welcome->reactor) {
		object_remove_send(r);
	} else if (r->wanted) {
		disk_failed(r);
	} else {
		r->wanted = welcome->disks[i].reactor;
		hang_up(r);
		link_connect(r);
	}
}

static void link_closed(void *ctx, int err, const char *why)
{
	(void)err;
	(void)why;
	disk_failed(ctx);
}

static const struct ddio_conn_ops link_ops = {
	.ready = link_ready,
	.message = link_message,
	.closed = link_closed,
};

static void link_connect(struct clone_reaper *r)
{
	const struct ddio_iop *iop = r->reactor->iop;
	const struct ddio_conf *conf = iop->conf;
	const struct ddio_msg_hello hello = { .role = DDIO_ROLE_CLIENT, .reactor = r->wanted };
	struct ddio_conn_opts opts = { .key = &iop->key,
				       .cluster = conf->cluster,
				       .handshake_ns = conf->timeout_ns,
				       .unsummed = conf->wire_checksums == DDIO_CONF_SUMS_NO,
				       .users = iop->users };
	int err = 0;

	if (conf->tls)
		err = ddio_conn_tls_new(&iop->key, conf->kernel_tls, &r->tls);
	opts.tls = r->tls;
	if (!err)
		err = ddio_conn_connect(r->reactor->env, conf->nodes[disk_of(r)->node].address,
					&hello, &opts, &link_ops, r, &r->conn);
	if (!err)
		return;
	r->conn = NULL;
	disk_failed(r);
}

static void disk_ask(struct clone_reaper *r)
{
	r->wanted = 0;
	if (r->rec.disks[r->at] < r->reactor->iop->conf->ndisks)
		link_connect(r);
	else
		queue_next(r, false);
}

/* Begins with the first file, if it still has no name: 0, 1: there is nothing to do, or -errno. */
static int file_begin(struct clone_reaper *r)
{
	struct ns *ns = r->reactor->iop->ns;
	struct inode inode;
	int err = ns_remove_begin(ns, r->queue[0].ino, &inode);

	if (!err)
		err = inode_record(&inode, &r->rec);
	if ((err && is_over(err)) || inode.nlink)
		err = 1;
	inode_free(&inode);
	return err;
}

/* Those that may get their names back are listed again, and with them whatever was queued meanwhile. */
static void listed_durable(struct commit *commit, int err)
{
	struct clone_reaper *r = commit->arg;

	r->flushing = false;
	if (err) {
		r->n = 0;
		r->after = 0;
		r->list_at = a_timeout_later(r);
	}
	queue_turn(r);
}

/* Puts the next files without a name into the queue, which is empty. */
static void list(struct clone_reaper *r)
{
	struct ddio_msg_ns_listing out = { .more = false };
	uint32_t i;
	uint64_t at;
	int err = -EIO;

	/* What has no name may have had one. */
	if (ns_refusal(r->reactor->iop->ns, &at) == NAMES_GOOD)
		err = ns_orphans(r->reactor->iop->ns, &r->after, REAP_LISTED, &out);
	r->list_at = err ? a_timeout_later(r) : out.more ? now(r) : 0;
	if (err)
		return;
	for (i = 0; i < out.n; i++)
		queue_add(r, out.recs[i].ref.id, now(r));
	ddio_ns_listing_free(&out);
	if (!r->n)
		return;
	r->flushing = true;
	r->durable = (struct commit){ .done = listed_durable, .arg = r };
	ns_flush(r->reactor->iop->ns, &r->durable);
}

static void reap_turn(void *arg)
{
	struct clone_reaper *r = arg;
	int err;

	if (r->stopping || r->busy || r->flushing)
		return;
	if (!r->n && r->list_at && r->list_at <= now(r))
		list(r);
	if (!r->n || r->flushing || r->queue[0].due > now(r)) {
		queue_turn(r);
		return;
	}
	err = file_begin(r);
	if (err) {
		queue_next(r, err < 0);
		return;
	}
	r->busy = true;
	r->at = 0;
	disk_ask(r);
}

/* Without memory all of it is left to whoever looks for files without a name. */
void clone_reaper_init(struct reactor *reactor)
{
	reactor->reaper = reactor->index ? NULL : calloc(1, sizeof(*reactor->reaper));
	if (reactor->reaper)
		reactor->reaper->reactor = reactor;
}

void clone_reaper_start(struct ddio_iop *iop)
{
	struct clone_reaper *r = iop->reactors[0].reaper;

	if (!r || !iop->ns)
		return;
	r->list_at = a_timeout_later(r) + ns_timeout(iop->ns);
	turn_at(r, r->list_at);
}

void clone_reaper_stop(struct reactor *reactor)
{
	struct clone_reaper *r = reactor->reaper;

	if (!r)
		return;
	r->stopping = true;
	ddio_timer_cancel(reactor->env, &r->timer);
	file_over(r);
}

bool clone_reaper_idle(const struct reactor *reactor)
{
	return !reactor->reaper || !reactor->reaper->flushing;
}

void clone_reaper_exit(struct reactor *reactor)
{
	/* One whose node did not start was not stopped. */
	clone_reaper_stop(reactor);
	free(reactor->reaper);
	reactor->reaper = NULL;
}
