// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Before a transfer: gets the buffers that I/O processors on this machine share with the group.
 *
 * Each reactor is asked once per group and direction.  If buffers come, node and process are on one machine; the
 * reactor is told, and from then on this process copies its bytes of blocks from there, or to there.  If any of
 * this fails, the data go by messages.
 */
#include <stdlib.h>
#include <string.h>
#include "cp/coll/dd/priv.h"

static bool worth_it(const struct ddio_op *op)
{
	return op->session->conf->share && op->share >= op->session->transfers->share_min &&
	       !op->failed.status && !(op->flags & (DDIO_XFER_NO_SHARE | DDIO_XFER_NO_BATCH));
}

/* NULL: the reactor does not know of the group any more. */
static struct attach_share *share_of(const struct dd *dd, uint64_t lane)
{
	struct attach *at = attach_find(dd->op->group, dd->lanes[lane].lane);

	return at ? &at->share[dd->op->writing] : NULL;
}

/*
 * The second step: telling
 */
static void told(struct request_set *set)
{
	struct dd *dd = set->arg;

	op_prepared(dd->op);
}

static void taken_tell(struct dd *dd, uint32_t lane)
{
	struct ddio_msg_share_taken msg = { .writing = dd->op->writing };
	struct attach_share *share = share_of(dd, lane);
	uint8_t buf[64];
	ssize_t len;

	if (!share || !share->fresh)
		return;
	share->fresh = false;
	memcpy(msg.group, dd->op->group->id, sizeof(msg.group));
	len = ddio_put_share_taken(buf, sizeof(buf), &msg);
	if (len > 0)
		request_set_lane(&dd->joining, dd->lanes[lane].lane, DDIO_OP_SHARE_TAKEN, buf,
				 (size_t)len, lane);
}

/*
 * The first step: asking
 */
static void share_comes(struct request_set *set, uint64_t key, const struct reply *reply,
			struct error *error)
{
	const struct dd *dd = set->arg;
	struct attach_share *share = share_of(dd, key);

	(void)reply;
	(void)error;
	if (share && share->box && !share->mem)
		share->fresh = !ddio_shared_take(share->box, dd->op->writing, &share->mem);
}

/* What has not come by now never will. */
static void shares_known(struct request_set *set)
{
	struct dd *dd = set->arg;
	struct attach_share *share;
	uint32_t i;

	for (i = 0; i < dd->nlanes; i++) {
		share = share_of(dd, i);
		if (share)
			attach_box_close(&share->box);
	}
	request_set_begin(&dd->joining, dd->op->session, "share buffers", told, dd);
	for (i = 0; i < dd->nlanes; i++)
		taken_tell(dd, i);
	request_set_end(&dd->joining);
}

static void share_ask(struct dd *dd, uint32_t i)
{
	struct attach_share *share = share_of(dd, i);
	struct lane *lane = dd->lanes[i].lane;
	struct ddio_msg_share msg = { .writing = dd->op->writing };
	uint8_t buf[128];
	ssize_t len;

	if (!share || share->asked || !dd->lanes[i].owner || lane->state != LANE_READY)
		return;
	share->asked = true;
	share->box = calloc(1, sizeof(*share->box));
	if (!share->box || ddio_mailbox_open(dd->op->session->env, share->box)) {
		free(share->box);
		share->box = NULL;
		return;
	}
	memcpy(msg.group, dd->op->group->id, sizeof(msg.group));
	memcpy(msg.token, share->box->token, sizeof(msg.token));
	memcpy(msg.name, share->box->name, sizeof(msg.name));
	len = ddio_put_share(buf, sizeof(buf), &msg);
	if (len > 0)
		request_set_lane(&dd->joining, lane, DDIO_OP_SHARE, buf, (size_t)len, i);
}

void dd_share_begin(struct dd *dd)
{
	uint32_t i;

	if (!dd->lanes || !worth_it(dd->op)) {
		op_prepared(dd->op);
		return;
	}
	request_set_begin(&dd->joining, dd->op->session, "find the I/O processors on this machine",
			  shares_known, dd);
	dd->joining.reply = share_comes;
	for (i = 0; i < dd->nlanes; i++)
		share_ask(dd, i);
	request_set_end(&dd->joining);
}
