// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes back, after a while, what nobody has synced, so that a crash costs seconds and not everything since
 * the last sync.  The time runs from the first message after the previous write-back.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/server/priv.h"

#define LATE_MAX_NS 60000000000ull

/**
 * struct later - a write-back of all disks of a reactor
 * @pending: disks that are not done, and one more until all have begun
 */
struct later {
	struct server_reactor *sr;
	uint32_t pending;
	int err;
	struct later_part {
		struct later *later;
		struct iop_disk *disk;
		struct cache_flush flush;
		struct commit commit;
	} part[];
};

static bool dirty(const struct reactor *reactor)
{
	uint32_t i;

	for (i = 0; i < reactor->ndisks; i++)
		if (cache_dirty(reactor->disks[i].cache) || store_dirty(reactor->disks[i].store) ||
		    store_unsettled(reactor->disks[i].store))
			return true;
	return false;
}

/* At most the longest, or what is configured if that is longer. */
static uint64_t longer(uint64_t ns)
{
	if (ns >= LATE_MAX_NS)
		return ns;
	return ns < LATE_MAX_NS / 2 ? ns * 2 : LATE_MAX_NS;
}

static void later_one_less(struct later *later, int err)
{
	struct server_reactor *sr = later->sr;
	uint64_t normal = sr->reactor->iop->conf->nodes[sr->reactor->iop->node].write_back_ns;

	if (err)
		later->err = err;
	if (--later->pending)
		return;
	/* A failure has been logged; it is tried, and logged, less and less often. */
	sr->late_ns = later->err ? longer(sr->late_ns) : normal;
	free(later);
	sr->serving--;
	if (dirty(sr->reactor))
		server_write_back_later(sr->reactor);
}

static void later_committed(struct commit *commit, int err)
{
	struct later_part *part = commit->arg;

	later_one_less(part->later, err);
}

static void later_flushed(struct cache_flush *flush, int status)
{
	struct later_part *part = flush->arg;

	if (status)
		part->later->err = status;
	part->commit.done = later_committed;
	part->commit.arg = part;
	store_settle(part->disk->store, false);
	store_commit(part->disk->store, &part->commit);
}

/* Counts as a request being served, so that stopping waits for it. */
static void later_begin(struct server_reactor *sr)
{
	struct reactor *reactor = sr->reactor;
	struct later *later =
		calloc(1, sizeof(*later) + reactor->ndisks * sizeof(struct later_part));
	uint32_t i;

	if (!later) {
		server_write_back_later(reactor);
		return;
	}
	later->sr = sr;
	later->pending = 1;
	sr->serving++;
	for (i = 0; i < reactor->ndisks; i++) {
		struct later_part *part = &later->part[i];

		part->later = later;
		part->disk = &reactor->disks[i];
		part->flush.done = later_flushed;
		part->flush.arg = part;
		later->pending++;
		cache_flush(part->disk->cache, &part->flush);
	}
	later_one_less(later, 0);
}

static void later_due(void *arg)
{
	struct server_reactor *sr = arg;

	if (dirty(sr->reactor))
		later_begin(sr);
	else if (!server_services_idle(sr->reactor))
		server_write_back_later(sr->reactor);
}

void server_write_back_later(struct reactor *reactor)
{
	struct server_reactor *sr = server_reactor(reactor);
	uint64_t normal = reactor->iop->conf->nodes[reactor->iop->node].write_back_ns;

	if (!normal || reactor->stopping || ddio_timer_armed(&sr->later))
		return;
	if (!sr->late_ns)
		sr->late_ns = normal;
	sr->later.fn = later_due;
	sr->later.arg = sr;
	/* If there is no memory for a timer, the next message tries again. */
	(void)ddio_timer_arm(reactor->env, &sr->later, ddio_env_now(reactor->env) + sr->late_ns);
}

void server_write_back_never(struct reactor *reactor)
{
	ddio_timer_cancel(reactor->env, &server_reactor(reactor)->later);
}
