// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A block comes into a buffer: its lock is waited for, it is read where it lies then, or copied from the cache, and the lock
 * is given back before anybody looks at it.  So whoever holds a lock waits for a disk request and nothing else.
 */
#include <errno.h>
#include <string.h>
#include "iop/query/priv.h"

int query_slots_init(struct iop_query *query)
{
	struct reactor *reactor = query->queries->disk->reactor;
	int i;

	for (i = 0; i < QUERY_SLOTS; i++) {
		query->slot[i].query = query;
		query->slot[i].buf = ddio_env_alloc(reactor->env, query_block_size(query));
		if (!query->slot[i].buf)
			return -ENOMEM;
		reactor->memory += query_block_size(query);
	}
	return 0;
}

void query_slots_free(struct iop_query *query)
{
	struct reactor *reactor = query->queries->disk->reactor;
	int i;

	for (i = 0; i < QUERY_SLOTS; i++) {
		if (!query->slot[i].buf)
			continue;
		ddio_env_free(reactor->env, query->slot[i].buf, query_block_size(query));
		query->slot[i].buf = NULL;
		reactor->memory -= query_block_size(query);
	}
}

static void slot_fail(struct query_slot *slot, int err, const char *what)
{
	struct iop_query *query = slot->query;
	uint32_t status = ddio_status_from_errno(err);

	slot->state = QSLOT_IDLE;
	query_fail(query, status, "disk %s: file %llu, block %llu of its part there: %s: %s",
		   query->queries->disk->name, (unsigned long long)query->msg.obj.file.id,
		   (unsigned long long)query_block(query, slot->at), what,
		   ddio_status_text(status));
}

static void slot_unlock(struct query_slot *slot)
{
	if (slot->query->obj)
		cache_unlock(slot->query->queries->disk->cache, &slot->lock, false);
}

static void slot_ready(struct query_slot *slot)
{
	slot->state = QSLOT_READY;
	query_kick(slot->query->queries);
}

static void mismatch(struct query_slot *slot)
{
	struct iop_query *query = slot->query;
	const struct iop_disk *disk = query->queries->disk;

	slot->state = QSLOT_IDLE;
	query_fail(query, DDIO_ST_IO,
		   "node %s, disk %s: block %llu of the part of file %llu there does not match "
		   "its checksum",
		   iop_node_name(disk->reactor->iop), disk->name,
		   (unsigned long long)query_block(query, slot->at),
		   (unsigned long long)query->msg.obj.file.id);
}

static void slot_read(struct ddio_disk_req *io)
{
	struct query_slot *slot = io->arg;
	struct iop_query *query = slot->query;
	int err = io->status;

	if (!err)
		err = object_check(query->obj, query_block(query, slot->at), slot->buf);
	slot_unlock(slot);
	if (err == -EBADMSG)
		mismatch(slot);
	else if (err)
		slot_fail(slot, err, "reading");
	else
		slot_ready(slot);
	query_kick(query->queries);
}

static void slot_submit(struct query_slot *slot, uint64_t start)
{
	struct iop_query *query = slot->query;
	struct ddio_disk *disk = query->queries->disk->disk;

	slot->state = QSLOT_READING;
	slot->io = (struct ddio_disk_req){ .op = DDIO_DISK_READ,
					   .offset = start,
					   .len = query_block_size(query),
					   .buf = slot->buf,
					   .done = slot_read,
					   .arg = slot };
	query->disk_reqs++;
	ddio_env_charge(query_env(query), DDIO_WORK_DISK, 1);
	ddio_disk_submit(disk, &slot->io);
	ddio_disk_commit(disk);
}

static void slot_locked(struct query_slot *slot)
{
	struct iop_query *query = slot->query;
	uint64_t start, run;
	bool written = false;

	if (slot->lock.status) {
		slot_unlock(slot);
		slot_fail(slot, slot->lock.status, "reading the rest of cached");
		return;
	}
	if (query->obj && !slot->lock.dirty &&
	    object_lookup(query->obj, query_block(query, slot->at), &start, &run, &written) &&
	    written) {
		slot_submit(slot, start);
		return;
	}
	if (slot->lock.dirty)
		memcpy(slot->buf, slot->lock.dirty, query_block_size(query));
	else
		memset(slot->buf, 0, query_block_size(query));
	ddio_env_charge(query_env(query), DDIO_WORK_COPY, query_block_size(query));
	slot_unlock(slot);
	slot_ready(slot);
}

static void slot_granted(struct block_lock *lock)
{
	struct query_slot *slot = lock->arg;

	slot_locked(slot);
	query_kick(slot->query->queries);
}

static void slot_take(struct query_slot *slot)
{
	struct iop_query *query = slot->query;

	slot->at = query->place[query->next++].block;
	slot->state = QSLOT_LOCKING;
	slot->lock = (struct block_lock){ .obj = query->obj,
					  .block = query_block(query, slot->at),
					  .granted = slot_granted,
					  .arg = slot };
	/* Without an object nobody else can be using the block. */
	if (!query->obj || cache_lock(query->queries->disk->cache, &slot->lock))
		slot_locked(slot);
}

void query_slots_fill(struct iop_query *query)
{
	int i;

	for (i = 0; i < QUERY_SLOTS; i++)
		if (query->slot[i].state == QSLOT_IDLE && !query->ending && !query->full &&
		    query->next < query->nplaces)
			slot_take(&query->slot[i]);
}

bool query_slots_stop(struct iop_query *query)
{
	bool waits = false;
	int i;

	for (i = 0; i < QUERY_SLOTS; i++) {
		struct query_slot *slot = &query->slot[i];

		if (slot->state == QSLOT_LOCKING) {
			cache_lock_cancel(query->queries->disk->cache, &slot->lock);
			slot->state = QSLOT_IDLE;
		}
		waits |= slot->state == QSLOT_READING;
	}
	return !waits;
}
