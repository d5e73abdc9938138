// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Passes over a disk: one begins when somebody asks for it, or by itself so long after the last one, and goes from where the
 * last one was cut off to the end of the disk, and on from its front.  How far it is becomes a record now and then, and a
 * start of the node goes on there.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/scrub/priv.h"
#include "iop/scrub/service.h"

#define NOTE_NS 10000000000ull	 /* between two records of how far it is */
#define RESUME_NS 10000000000ull /* from the start of the node to where it goes on */
#define LOOK_NS 3600000000000ull /* between two looks at whether a pass is due */
#define CHECKED_NS 100000000ull	 /* between two looks at whether a check of records has ended */
#define PRESSED_NS 20000000ull	 /* the same for sums to be recorded */
#define MEMORY_NS 1000000000ull	 /* before it asks for memory again */

static bool runs(const struct scrub *s)
{
	return s->kept.flags & REC_SCRUB_RUNS;
}

static const struct ddio_conf *conf_of(const struct scrub *s)
{
	return s->disk->reactor->iop->conf;
}

void scrub_say(struct scrub *s, const char *fmt, ...)
{
	char text[DDIO_MAX_TEXT];
	va_list ap;

	if (s->lines > SCRUB_LINES)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (s->lines++ < SCRUB_LINES)
		ddio_env_log(scrub_env(s), DDIO_LOG_ERR, "%s", text);
	else
		ddio_env_log(
			scrub_env(s), DDIO_LOG_ERR,
			"disk %s: more blocks are wrong; the scrub only counts them from here on",
			s->disk->name);
}

static void go(void *arg)
{
	scrub_go(arg);
}

void scrub_turn(struct scrub *s)
{
	s->state = SCRUB_TURNING;
	s->post.fn = go;
	s->post.arg = s;
	ddio_env_post(scrub_env(s), &s->post);
}

void scrub_rest(struct scrub *s, uint64_t ns)
{
	s->timer.fn = go;
	s->timer.arg = s;
	s->state = SCRUB_RESTING;
	/* What has been ended meanwhile has no reason to wait. */
	if (s->ending || !runs(s))
		ns = 0;
	if (!ns || ddio_timer_arm(scrub_env(s), &s->timer, ddio_env_now(scrub_env(s)) + ns))
		scrub_turn(s);
}

/*
 * Records
 */
static void note(struct scrub *s);

static void noted(struct commit *commit, int err)
{
	struct scrub *s = commit->arg;
	const struct rec_scrub *k = &s->kept, *last = store_scrub(s->disk->store);

	s->noting = false;
	/* It may have ended meanwhile. */
	if (!err && !runs(s) &&
	    (last->flags != k->flags || last->at != k->at || last->ended != k->ended))
		note(s);
}

/* Has it recorded how far the scrub is, and the sums that it has given. */
static void note(struct scrub *s)
{
	s->noted_ns = ddio_env_now(scrub_env(s));
	if (s->noting || s->ending || store_scrub_note(s->disk->store, &s->kept))
		return;
	s->noting = true;
	s->note = (struct commit){ .done = noted, .arg = s };
	store_settle(s->disk->store, false);
	store_commit(s->disk->store, &s->note);
}

/*
 * Passes
 */
static void look(void *arg);

/* Waits until the next pass may be due. */
static void idle(struct scrub *s)
{
	uint64_t most = conf_of(s)->scrub_ns;

	scrub_list_drop(s);
	scrub_buf_free(s);
	s->state = SCRUB_IDLE;
	s->timer.fn = look;
	s->timer.arg = s;
	if (!most || s->ending || !conf_of(s)->checksums)
		return;
	/* Without memory for a timer no pass begins by itself any more. */
	(void)ddio_timer_arm(scrub_env(s), &s->timer,
			     ddio_env_now(scrub_env(s)) + (most < LOOK_NS ? most : LOOK_NS));
}

static void pass_new(struct scrub *s)
{
	struct rec_scrub *k = &s->kept;

	*k = (struct rec_scrub){ .flags = REC_SCRUB_RUNS | (k->at ? REC_SCRUB_WRAPS : 0),
				 .begun = ddio_env_wall(scrub_env(s)),
				 .ended = k->ended,
				 .at = k->at,
				 .until = k->at };
	s->lines = 0;
	s->single = 0;
}

static void pass_begin(struct scrub *s, const char *why)
{
	struct rec_scrub *k = &s->kept;

	/* One that is under way goes on for a whole round. */
	if (runs(s)) {
		k->until = k->at;
		k->done = 0;
		k->flags |= k->at ? REC_SCRUB_WRAPS : 0;
	} else {
		pass_new(s);
		ddio_env_log(scrub_env(s), DDIO_LOG_INFO, "disk %s: a scrub begins, %s",
			     s->disk->name, why);
	}
	note(s);
}

static void pass_end(struct scrub *s)
{
	struct rec_scrub *k = &s->kept;
	bool fine = !k->bad && !k->unread;

	k->flags = 0;
	k->at = 0;
	k->until = 0;
	k->ended = ddio_env_wall(scrub_env(s));
	ddio_env_log(scrub_env(s), fine ? DDIO_LOG_INFO : DDIO_LOG_ERR,
		     "disk %s: a scrub has ended: %" PRIu64 " bytes read, %" PRIu64
		     " mismatches, %" PRIu64 " blocks that cannot be read, %" PRIu64
		     " checksums made for blocks that had none",
		     s->disk->name, k->done, k->bad, k->unread, k->given);
	idle(s);
	note(s);
}

static void begin_by_itself(struct scrub *s)
{
	s->pace.rate = conf_of(s)->scrub_rate;
	s->pace.yields = true;
	s->lacking = false;
	pace_reset(&s->pace);
}

/* A clock that was put back makes no pass late by more than the time between two. */
static bool due(const struct scrub *s)
{
	uint64_t now = ddio_env_wall(scrub_env(s)), begun = s->kept.begun;

	return begun > now || now - begun >= conf_of(s)->scrub_ns;
}

static void look(void *arg)
{
	struct scrub *s = arg;

	if (!s->kept.begun) {
		/* The time runs from the first start. */
		s->kept.begun = ddio_env_wall(scrub_env(s)) - LOOK_NS;
		if (!due(s))
			note(s);
	}
	if (!due(s)) {
		idle(s);
		return;
	}
	begin_by_itself(s);
	pass_begin(s, "since the last one was some time ago");
	scrub_turn(s);
}

/* All of the portion has been looked through. */
static void go_further(struct scrub *s)
{
	if (!s->last) {
		scrub_list(s);
		return;
	}
	scrub_list_drop(s);
	if (!(s->kept.flags & REC_SCRUB_WRAPS)) {
		pass_end(s);
		return;
	}
	s->kept.flags &= ~REC_SCRUB_WRAPS;
	s->kept.at = 0;
	scrub_turn(s);
}

/* Returns how long it has to wait for others, or 0. */
static uint64_t held_up(struct scrub *s)
{
	/* A repair is written only if nothing has been committed since its check began. */
	if (!ddio_list_empty(&s->disk->reactor->checks))
		return CHECKED_NS;
	return store_pressed(s->disk->store) ? PRESSED_NS : 0;
}

void scrub_go(struct scrub *s)
{
	uint64_t wait;

	if (s->ending || !runs(s)) {
		idle(s);
		return;
	}
	wait = held_up(s);
	if (wait) {
		scrub_rest(s, wait);
		return;
	}
	if (ddio_env_now(scrub_env(s)) - s->noted_ns >= NOTE_NS)
		note(s);
	switch (scrub_run(s)) {
	case RUN_BEGUN:
		break;
	case RUN_TURN:
		scrub_turn(s);
		break;
	case RUN_NO_MEMORY:
		scrub_rest(s, MEMORY_NS);
		break;
	case RUN_NO_PLACE:
		go_further(s);
	}
}

/* Ends its waiting, if it waits, for a timer, a lock or records. */
static void wake(struct scrub *s)
{
	if (s->state == SCRUB_LOCKING || s->state == SCRUB_FETCHING)
		scrub_run_cancel(s);
	else if (s->state != SCRUB_RESTING && s->state != SCRUB_IDLE)
		return;
	ddio_timer_cancel(scrub_env(s), &s->timer);
	scrub_turn(s);
}

/*
 * Requests
 */
static void begin_asked(struct scrub *s, const struct ddio_msg_scrub_ask *x)
{
	bool lacking = x->flags & DDIO_SCRUB_ASK_LACKING;

	s->lacking = lacking && (s->lacking || !runs(s));
	s->pace.rate = x->rate;
	s->pace.yields = !x->rate;
	if (!runs(s))
		pace_reset(&s->pace);
	pass_begin(s, "as somebody has asked for it");
	wake(s);
}

static void end_asked(struct scrub *s)
{
	if (!runs(s))
		return;
	/* The next one begins where this one was. */
	s->kept.flags = 0;
	s->kept.until = 0;
	ddio_env_log(scrub_env(s), DDIO_LOG_INFO, "disk %s: the scrub was stopped", s->disk->name);
	wake(s);
	note(s);
}

static void answer(struct server_request *req, const struct scrub *s)
{
	const struct rec_scrub *k = &s->kept;
	struct ddio_msg_scrub x = {
		.flags = runs(s) ? DDIO_SCRUB_RUNS : 0,
		.begun = k->begun,
		.ended = k->ended,
		.used = ddio_disk_info(s->disk->disk)->size - store_free_bytes(s->disk->store),
		.done = k->done,
		.bad = k->bad,
		.unread = k->unread,
		.given = k->given,
		.rate = s->pace.rate,
	};

	SERVER_REPLY(req, scrub, &x);
}

static int serve_scrub(struct server_request *req, const void *payload)
{
	struct ddio_msg_scrub_ask x;
	struct iop_disk *disk;
	int err = ddio_get_scrub_ask(payload, req->msg.length, &x);

	if (err)
		return server_fail_decode(req, err, "SCRUB");
	disk = reactor_disk(req->reactor, x.disk);
	if (!disk || !disk->scrub) {
		server_fail(req, DDIO_ST_NOT_FOUND, "disk %u is not of this reactor", x.disk);
		return 0;
	}
	if (!req->reactor->iop->conf->checksums && x.flags & DDIO_SCRUB_ASK_BEGIN) {
		server_fail(req, DDIO_ST_UNSUPPORTED,
			    "disk %s: the cluster has no checksums to compare with", disk->name);
		return 0;
	}
	if (x.flags & DDIO_SCRUB_ASK_BEGIN)
		begin_asked(disk->scrub, &x);
	else if (x.flags & DDIO_SCRUB_ASK_END)
		end_asked(disk->scrub);
	answer(req, disk->scrub);
	return 0;
}

/*
 * Nodes
 */
static void disk_start(struct iop_disk *disk)
{
	struct scrub *s = calloc(1, sizeof(*s));
	uint64_t wait;

	disk->scrub = s;
	if (!s)
		return;
	s->disk = disk;
	s->pace.disk = disk;
	s->kept = *store_scrub(disk->store);
	queue_init(&s->queue, disk->reactor->env, disk->disk, 1, false);
	if (!runs(s) || !disk->reactor->iop->conf->checksums) {
		idle(s);
		return;
	}
	begin_by_itself(s);
	wait = conf_of(s)->scrub_ns;
	scrub_rest(s, wait && wait < RESUME_NS ? wait : RESUME_NS);
}

static void scrub_node_start(struct ddio_iop *iop)
{
	uint32_t i, k;

	for (i = 0; i < iop->nreactors; i++)
		for (k = 0; k < iop->reactors[i].ndisks; k++)
			disk_start(&iop->reactors[i].disks[k]);
}

static void scrub_reactor_stop(struct reactor *reactor)
{
	struct scrub *s;
	uint32_t i;

	for (i = 0; i < reactor->ndisks; i++) {
		s = reactor->disks[i].scrub;
		if (!s)
			continue;
		s->ending = true;
		/* The last commit records it. */
		if (runs(s))
			(void)store_scrub_note(s->disk->store, &s->kept);
		wake(s);
	}
}

static bool scrub_reactor_idle(const struct reactor *reactor)
{
	const struct scrub *s;
	uint32_t i;

	for (i = 0; i < reactor->ndisks; i++) {
		s = reactor->disks[i].scrub;
		if (s && (s->state != SCRUB_IDLE || s->noting))
			return false;
	}
	return true;
}

static void scrub_disk_close(struct iop_disk *disk)
{
	struct scrub *s = disk->scrub;

	disk->scrub = NULL;
	if (!s)
		return;
	ddio_timer_cancel(scrub_env(s), &s->timer);
	scrub_list_drop(s);
	scrub_buf_free(s);
	free(s);
}

static const struct server_op handled[] = {
	{ .opcode = DDIO_OP_SCRUB, .role = DDIO_ROLE_CLIENT, .serve = serve_scrub },
};

const struct server_service scrub_service = {
	.ops = handled,
	.nops = sizeof(handled) / sizeof(handled[0]),
	.node_start = scrub_node_start,
	.reactor_stop = scrub_reactor_stop,
	.reactor_idle = scrub_reactor_idle,
	.disk_close = scrub_disk_close,
};
