// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An atomic write on one disk.  It holds the file there: whoever comes from now on waits (store_fetch()).  Then the cache writes
 * back and forgets what it has of the file, and when nobody is left who came before, the old bytes of blocks that are
 * written in part cannot change under it, and nobody has bytes in memory that it makes wrong.
 */
#include <errno.h>
#include "iop/coll/slot/slot.h"

/* Nothing says that another user of the file has gone. */
static void look_again(void *arg)
{
	struct coll_disk *cd = arg;

	cd->hold = HOLD_AGAIN;
	cd->coll->io--;
	coll_kick(cd->coll);
}

/* The collective's limit is on all that it waits for before it begins. */
static bool too_long(const struct coll_disk *cd)
{
	return ddio_env_now(cd->coll->reactor->env) - cd->coll->begin_ns > cd->coll->timeout_ns;
}

/* Others still use the file. */
static int wait_alone(struct coll_disk *cd)
{
	struct ddio_env *env = cd->coll->reactor->env;

	if (too_long(cd))
		return -EBUSY;
	cd->timer.fn = look_again;
	cd->timer.arg = cd;
	if (ddio_timer_arm(env, &cd->timer, ddio_env_now(env) + SERVER_POLL_NS))
		return -ENOMEM;
	cd->hold = HOLD_WAITS;
	cd->coll->io++;
	return 0;
}

static void flushed(struct cache_flush *flush, int status)
{
	struct coll_disk *cd = flush->arg;

	cd->coll->io--;
	cd->hold = HOLD_SHARED;
	if (status)
		coll_fail_disk(cd, NULL, status, "writing back");
	coll_kick(cd->coll);
}

static void flush(struct coll_disk *cd)
{
	cd->hold = HOLD_WAITS;
	cd->flush = (struct cache_flush){
		.obj = store_epoch_file(cd->epoch), .drop = true, .done = flushed, .arg = cd
	};
	cd->coll->io++;
	cache_flush(cd->disk->cache, &cd->flush);
}

static void fetched(struct store_wait *wait)
{
	struct coll_disk *cd = wait->arg;

	cd->hold = HOLD_NOT;
	cd->coll->io--;
	coll_kick(cd->coll);
}

/* Returns true if the file's object can be used now. */
static bool fetch(struct coll_disk *cd)
{
	if (cd->hold == HOLD_WAITS)
		return false;
	cd->wait = (struct store_wait){ .done = fetched, .arg = cd };
	ddio_list_init(&cd->wait.link);
	if (store_fetch(cd->disk->store, &cd->coll->req->start.file.ref, &cd->wait))
		return true;
	cd->hold = HOLD_WAITS;
	cd->coll->io++;
	return false;
}

static int begin(struct coll_disk *cd)
{
	const struct ddio_msg_coll_start *st = &cd->coll->req->start;
	int err;

	if (!fetch(cd))
		return 0;
	err = store_epoch_begin(cd->disk->store, st->epoch, &st->file.ref, &cd->epoch);
	if (!err)
		flush(cd);
	return err;
}

static int hold_on(struct coll_disk *cd)
{
	switch (cd->hold) {
	case HOLD_NOT:
		return begin(cd);
	case HOLD_AGAIN:
		/* Who used it may have left something in the cache. */
		flush(cd);
		return 0;
	case HOLD_SHARED:
		if (!store_epoch_alone(cd->epoch))
			return wait_alone(cd);
		cd->hold = HOLD_ALONE;
		return 1;
	case HOLD_WAITS:
		return 0;
	case HOLD_ALONE:
		break;
	}
	return 1;
}

int coll_hold(struct coll_disk *cd)
{
	return coll_req_flag(cd->coll->req, DDIO_COLL_ATOMIC) ? hold_on(cd) : fetch(cd);
}

void coll_hold_stop(struct coll_disk *cd)
{
	bool waits = !cd->epoch && cd->hold == HOLD_WAITS;

	if (waits)
		store_fetch_forget(&cd->wait);
	if (waits || ddio_timer_armed(&cd->timer)) {
		cd->hold = HOLD_NOT;
		cd->coll->io--;
	}
	ddio_timer_cancel(cd->coll->reactor->env, &cd->timer);
}

void coll_hold_end(struct coll_disk *cd)
{
	if (!cd->epoch)
		return;
	if (cd->coll->verdict.status)
		store_epoch_end(cd->epoch, false, NULL);
	else
		store_epoch_prepared(cd->epoch);
	cd->epoch = NULL;
}

struct object *coll_old(const struct coll_disk *cd)
{
	return cd->epoch ? store_epoch_file(cd->epoch) : cd->obj;
}
