// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What members say that they have copied, from shared buffers or to them.  The member's word is taken for it: it
 * gets, or writes, wrong bytes of its own if it lies, as it could by sending them.
 */
#include <errno.h>
#include <stdlib.h>
#include "env/lines.h"
#include "iop/coll/priv.h"

static struct coll_disk *find_disk(struct coll *coll, uint32_t number)
{
	uint32_t d;

	for (d = 0; d < coll->ndisks; d++)
		if (coll->disk[d].disk->number == number)
			return &coll->disk[d];
	return NULL;
}

/* Returns the slot if members were told of that block in it; else NULL. */
static struct coll_slot *find_slot(struct coll *coll, const struct ddio_copied *copied)
{
	struct coll_disk *cd = find_disk(coll, copied->disk);
	struct coll_slot *slot;
	uint64_t block;

	if (!cd || copied->slot >= cd->nslots)
		return NULL;
	slot = &cd->slot[copied->slot];
	block = coll_writes(coll) ? slot->next.file_block : slot->at.file_block;
	return slot_waits(slot) && block == copied->block ? slot : NULL;
}

static int refused(const struct client *client, const struct ddio_msg_coll_copied *x,
		   const char *why)
{
	ddio_env_log_caused(client->reactor->env, DDIO_LOG_WARN,
			    "%s: copies for collective %llu: %s", ddio_conn_peer(client->conn),
			    (unsigned long long)x->op, why);
	return -EPROTO;
}

static int copied_one(struct client *client, struct coll *coll, struct coll_member *m,
		      const struct ddio_msg_coll_copied *x, const struct ddio_copied *copied)
{
	struct coll_slot *slot = find_slot(coll, copied);
	struct coll_part *part = slot ? slot_part(slot, x->rank) : NULL;

	if (!part || !part->shared || part->owed != OWED_ASKED)
		return refused(client, x, "it was not told of such a block");
	part->owed = OWED_HERE;
	/* Only what it owed counts as a sign of life: others wait for the block. */
	m->piece_ns = ddio_env_now(client->reactor->env);
	if (!--slot->owed)
		coll->ops->copied(slot);
	return 0;
}

static int copied_all(struct client *client, struct coll *coll, struct coll_member *m,
		      const struct ddio_msg_coll_copied *x)
{
	uint32_t i;
	int err = 0;

	coll->done.messages++;
	SLOT_TRACE_MESSAGE(coll, DDIO_TRACE_CAME, COLL_COPIED, x->rank, x->n, 0);
	for (i = 0; i < x->n && !err && coll->state == COLL_RUNNING; i++)
		err = copied_one(client, coll, m, x, &x->copied[i]);
	for (i = 0; i < coll->ndisks && !err && coll->state == COLL_RUNNING; i++)
		coll->ops->go(&coll->disk[i]);
	return err;
}

static int copied_take(struct client *client, const struct ddio_msg_coll_copied *x)
{
	struct coll_member *m = coll_client_member(client, x->group);
	struct coll *coll;

	if (!m || x->rank != m->rank)
		return refused(client, x, "the sender is another rank, or no member of the group");
	if (x->op > m->group->last_op)
		return refused(client, x, "no such operation has begun");
	coll = coll_find(m->group, x->op);
	return coll && coll->state < COLL_STOPPING ? copied_all(client, coll, m, x) : 0;
}

/**
 * coll_copied - handle what a member has copied
 * @client: the connection
 * @msg: COLL_COPIED; not replied to
 * @payload: struct ddio_msg_coll_copied
 */
int coll_copied(struct client *client, const struct ddio_msg *msg, const void *payload)
{
	struct ddio_msg_coll_copied x;
	int err;

	err = ddio_get_coll_copied(payload, msg->length, &x);
	if (err)
		return err;
	err = copied_take(client, &x);
	free(x.copied);
	return err;
}
