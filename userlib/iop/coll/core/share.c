// SPDX-License-Identifier: LGPL-2.1-or-later
/* Shared buffers: which ranges of them are in use. */
#include <errno.h>
#include <stdlib.h>
#include "iop/coll/core/share.h"

#define PAGE 4096ull

int coll_share_new(struct reactor *reactor, bool writable, struct coll_share **share)
{
	struct coll_share *s;
	int err;

	if (reactor->nshares == COLL_SHARES)
		return -EUSERS;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	err = ddio_shared_new(reactor->env, COLL_SHARE_BYTES, writable, &s->mem);
	if (err) {
		free(s);
		return err;
	}
	s->reactor = reactor;
	ddio_list_init(&s->areas);
	reactor->nshares++;
	*share = s;
	return 0;
}

void coll_share_free(struct coll_share *share)
{
	if (!share)
		return;
	share->reactor->nshares--;
	share->reactor->memory -= share->most;
	ddio_shared_free(share->mem);
	free(share);
}

/* Memory that was touched once stays the share's. */
static void share_count(struct coll_share *share, uint64_t end)
{
	if (end <= share->most)
		return;
	share->reactor->memory += end - share->most;
	share->most = end;
}

void *coll_share_get(struct coll_share *share, uint64_t len, struct share_area *area)
{
	struct share_area *next;
	uint64_t at = 0;

	/* A collective that has begun before may ask only now. */
	if (share->spoiled)
		return NULL;
	len = (len + PAGE - 1) / PAGE * PAGE;
	ddio_list_for_each_entry(next, &share->areas, link) {
		if (next->at - at >= len)
			break;
		at = next->at + next->len;
	}
	if (!len || len > COLL_SHARE_BYTES - at)
		return NULL;
	*area = (struct share_area){ .share = share, .at = at, .len = len };
	/* Before @next, or at the end. */
	ddio_list_add(&area->link, &next->link);
	share_count(share, at + len);
	return (uint8_t *)ddio_shared_mem(share->mem) + at;
}

void coll_share_put(struct share_area *area)
{
	if (!area->len)
		return;
	ddio_list_del(&area->link);
	area->len = 0;
}

uint64_t coll_share_offset(const struct coll_share *share, const void *at)
{
	return (uint64_t)((const uint8_t *)at - (const uint8_t *)ddio_shared_mem(share->mem));
}
