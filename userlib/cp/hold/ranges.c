// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a session has locked. */
#include <stdlib.h>
#include "cp/hold/hold.h"

static void range_free(struct hold_range *range)
{
	ddio_list_del(&range->link);
	free(range);
}

static struct hold_range *spare_take(struct hold_ask *ask)
{
	uint32_t i = !ask->spare[0];
	struct hold_range *range = ask->spare[i];

	ask->spare[i] = NULL;
	return range;
}

/* Takes the bytes of @ask out of a range that has some of them. */
static void range_cut(struct hold_range *range, struct hold_ask *ask)
{
	struct hold_range *right;

	ask->lost |= range->lost;
	if (range->msg.start < ask->msg.start && range->msg.end > ask->msg.end) {
		right = spare_take(ask);
		*right = *range;
		right->msg.start = ask->msg.end + 1;
		ddio_list_push(&right->link, &range->link);
	}
	if (range->msg.start < ask->msg.start)
		range->msg.end = ask->msg.start - 1;
	else if (range->msg.end > ask->msg.end)
		range->msg.start = ask->msg.end + 1;
	else
		range_free(range);
}

void hold_ranges_apply(struct ddio_list *ranges, struct hold_ask *ask)
{
	const struct ddio_msg_fs_lock *msg = &ask->msg;
	struct hold_range *range, *tmp;

	ddio_list_for_each_entry_safe(range, tmp, ranges, link)
		if (range->msg.ino == msg->ino && range->msg.owner == msg->owner &&
		    range->msg.start <= msg->end && range->msg.end >= msg->start)
			range_cut(range, ask);
	if (msg->type == DDIO_FS_LOCK_NONE)
		return;
	range = spare_take(ask);
	*range = (struct hold_range){ .by = ask->by, .msg = *msg };
	range->msg.flags = 0;
	range->msg.id = 0;
	ddio_list_add(&range->link, ranges);
}

struct hold_range *hold_ranges_find(struct ddio_list *ranges, const void *by)
{
	struct hold_range *range;

	ddio_list_for_each_entry(range, ranges, link)
		if (by ? range->by == by : !range->told && !range->lost)
			return range;
	return NULL;
}

bool hold_ranges_any(const struct ddio_list *ranges)
{
	const struct hold_range *range;

	ddio_list_for_each_entry(range, ranges, link)
		if (!range->lost)
			return true;
	return false;
}

void hold_ranges_lose(struct ddio_list *ranges)
{
	struct hold_range *range;

	ddio_list_for_each_entry(range, ranges, link)
		range->lost = true;
}

bool hold_ranges_missed(const struct ddio_list *ranges, uint64_t ino)
{
	const struct hold_range *range;

	ddio_list_for_each_entry(range, ranges, link)
		if (range->lost && range->msg.ino == ino)
			return true;
	return false;
}

void hold_ranges_untell(struct ddio_list *ranges)
{
	struct hold_range *range;

	ddio_list_for_each_entry(range, ranges, link)
		range->told = false;
}

void hold_ranges_free(struct ddio_list *ranges)
{
	while (!ddio_list_empty(ranges))
		range_free(ddio_list_first(ranges, struct hold_range, link));
}
