// SPDX-License-Identifier: LGPL-2.1-or-later
/* Files that somebody holds on this disk, in memory only, without an epoch. */
#include "iop/store/epoch.h"
#include "iop/store/priv.h"

bool store_hold_free(const struct store *store, uint64_t file, struct store_wait *wait)
{
	struct store_hold *hold;

	ddio_list_for_each_entry(hold, &store->holds, link) {
		if (hold->file != file)
			continue;
		if (wait)
			ddio_list_add(&wait->link, &hold->waits);
		return false;
	}
	return true;
}

void store_hold_begin(struct store *store, uint64_t file, struct store_hold *hold)
{
	hold->file = file;
	ddio_list_init(&hold->waits);
	ddio_list_add(&hold->link, &store->holds);
}

void store_hold_end(struct store_hold *hold)
{
	struct ddio_list all;
	struct store_wait *wait;

	ddio_list_del(&hold->link);
	ddio_list_init(&all);
	ddio_list_splice(&hold->waits, &all);
	while (!ddio_list_empty(&all)) {
		wait = ddio_list_first(&all, struct store_wait, link);
		ddio_list_del(&wait->link);
		wait->done(wait);
	}
}

struct store_hold *store_hold_next(const struct store *store, const struct store_hold *hold)
{
	const struct ddio_list *next = hold ? hold->link.next : store->holds.next;

	return next == &store->holds ? NULL : ddio_list_entry(next, struct store_hold, link);
}

bool object_alone(const struct object *obj)
{
	return obj->refs == 1;
}
