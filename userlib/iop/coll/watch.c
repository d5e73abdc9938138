// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Time limits.  A timer of each collective looks for members that owe a piece and do not send it, for
 * connections whose output does not move, and for disks that do not end their requests.
 */
#include <errno.h>
#include <stdio.h>
#include "iop/coll/priv.h"

#define WATCH_CHECKS 4 /* within the timeout */
#define WATCH_MIN_NS 1000000ull
#define WATCH_DEFAULT_NS 30000000000ull
/* A client may wish for so many times the node's own time limit, and a piece may be under way for so many times that. */
#define WATCH_TIMES 16

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void arm(struct coll *coll, uint64_t now)
{
	uint64_t step = later(coll->timeout_ns / WATCH_CHECKS, 1);

	if (ddio_timer_arm(coll->reactor->env, &coll->timer, now + step))
		coll_fail_memory(coll);
}

/* Returns true if the connection has had output for too long and none of it has moved. */
static bool output_stuck(struct coll *coll, struct coll_member *m, uint64_t now)
{
	uint64_t tx = ddio_conn_last_tx(m->client->conn);
	bool queued = ddio_conn_queued(m->client->conn);

	if (queued)
		m->tx_queued = now;
	if (!queued || tx != m->tx_seen) {
		m->tx_seen = tx;
		m->tx_since = now;
		return false;
	}
	return now - m->tx_since >= coll->timeout_ns;
}

/*
 * Returns true if the piece is late.  While the question may still be on its way, the output is watched instead.  One that
 * is coming may be slow, but not for ever: its block is locked, and others wait for it.
 */
static bool piece_late(const struct coll_slot *slot, const struct coll_part *part,
		       const struct coll_member *m, uint64_t now)
{
	uint64_t since = later(later(slot->asked, m->tx_queued), m->piece_ns);
	uint64_t limit = slot->disk->coll->timeout_ns;

	if (part->owed == OWED_COMING && now - since < limit * WATCH_TIMES)
		since = later(since, ddio_conn_last_rx(m->client->conn));
	return now - since >= limit;
}

static void member_late(struct coll *coll, struct coll_member *m, const char *what)
{
	char why[DDIO_MAX_TEXT];
	struct client *client = m->client;

	snprintf(why, sizeof(why), "rank %u of %u has not %s for %llu ms", m->rank,
		 coll->group->size, what, (unsigned long long)(coll->timeout_ns / 1000000));
	coll_fail_here(coll, DDIO_ST_TIMEOUT, m->rank, "%s (%s)", why,
		       ddio_conn_peer(client->conn));
	client_end(client, why);
}

static void check_output(struct coll *coll, uint64_t now)
{
	struct coll_member *m;
	uint32_t r;

	for (r = 0; r < coll->group->size; r++) {
		m = coll_group_member(coll->group, r);
		if (m && output_stuck(coll, m, now))
			member_late(coll, m, "received anything");
	}
}

/* The first member that is late ends the collective, so there is no second. */
static void check_owed(struct coll_slot *slot, uint64_t now)
{
	struct coll *coll = slot->disk->coll;
	uint32_t i;

	for (i = 0; i < slot->nparts && coll->state == COLL_RUNNING; i++) {
		struct coll_part *part = &slot->part[i];
		struct coll_member *m;

		if (part->owed == OWED_HERE || !(part->shared || coll_writes(coll)))
			continue;
		m = coll_group_member(coll->group, part->rank);
		if (m && piece_late(slot, part, m, now))
			member_late(coll, m,
				    part->shared ? "copied what it was told of"
						 : "sent what was asked of it");
	}
}

static uint64_t disk_limit(const struct coll_disk *cd)
{
	double scale = ddio_disk_info(cd->disk->disk)->time_scale;

	return scale > 1 ? (uint64_t)(cd->coll->timeout_ns * scale) : cd->coll->timeout_ns;
}

static void list_late(struct coll_disk *cd, unsigned long long ms)
{
	coll_fail_here(cd->coll, DDIO_ST_IO, COLL_NOBODY,
		       "disk %s: list of file \"%s\": no answer for %llu ms", cd->disk->name,
		       cd->coll->req->start.file.name, ms);
}

/* The members are told at once, since the request may never end; the buffers stay until it does. */
static void check_disk(struct coll_slot *slot, uint64_t now)
{
	struct coll_disk *cd = slot->disk;
	struct coll *coll = cd->coll;
	const char *file = coll->req->start.file.name;
	uint64_t since = later(slot->since, cd->progress_ns);
	unsigned long long ms = (now - since) / 1000000;

	if (now - since < disk_limit(cd))
		return;
	if (slot->state == SLOT_FEEDING)
		list_late(cd, ms);
	else
		coll_fail_here(coll, DDIO_ST_IO, COLL_NOBODY,
			       "disk %s: block %llu of file \"%s\" (byte %llu): no answer for "
			       "%llu ms",
			       cd->disk->name, (unsigned long long)slot->at.file_block, file,
			       (unsigned long long)slot->at.lo, ms);
	coll_tell(coll);
}

/* If a member has left the joint, its connection should have said so by now. */
static void check_scatter(struct coll_disk *cd, uint64_t now)
{
	struct coll *coll = cd->coll;

	if (coll_scatter_orphaned(cd)) {
		coll_fail_here(coll, DDIO_ST_MEMBER_LOST, COLL_NOBODY,
			       "a member on this machine has withdrawn its memory");
	} else if (coll_scatter_busy(cd) && now - cd->progress_ns >= disk_limit(cd)) {
		list_late(cd, (now - cd->progress_ns) / 1000000);
		coll_tell(coll);
	}
}

static void check_slot(struct coll_slot *slot, uint64_t now)
{
	if (slot_waits(slot))
		check_owed(slot, now);
	if (slot->state != SLOT_IDLE && slot->state != SLOT_SENDING)
		check_disk(slot, now);
}

static void watch(void *arg)
{
	struct coll *coll = arg;
	uint64_t now = ddio_env_now(coll->reactor->env);
	uint32_t d, s;

	check_output(coll, now);
	for (d = 0; d < coll->ndisks; d++) {
		check_scatter(&coll->disk[d], now);
		for (s = 0; s < coll->disk[d].nslots; s++)
			check_slot(&coll->disk[d].slot[s], now);
	}
	arm(coll, now);
}

uint64_t coll_time_limit(const struct reactor *reactor, const struct coll_req *req)
{
	uint64_t own = reactor->iop->conf->timeout_ns;
	uint64_t wish = req->start.timeout_ns;

	if (!own)
		own = WATCH_DEFAULT_NS;
	if (!wish)
		wish = own;
	if (wish > own * WATCH_TIMES)
		wish = own * WATCH_TIMES;
	return later(wish, WATCH_MIN_NS);
}

void coll_watch_begin(struct coll *coll)
{
	uint64_t now = coll->begin_ns;
	struct coll_member *m;
	uint32_t r;

	coll->timeout_ns = coll_time_limit(coll->reactor, coll->req);
	for (r = 0; r < coll->group->size; r++) {
		m = coll_group_member(coll->group, r);
		if (m)
			m->tx_since = now;
	}
	coll->timer.fn = watch;
	coll->timer.arg = coll;
	arm(coll, now);
}

void coll_watch_end(struct coll *coll)
{
	ddio_timer_cancel(coll->reactor->env, &coll->timer);
}
