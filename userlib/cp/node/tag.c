// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tags of requests. */
#include <errno.h>
#include <stdlib.h>
#include "cp/node/request.h"

static int tags_grow(struct lane *lane)
{
	uint32_t n = lane->ntags ? lane->ntags * 2 : 2, i;
	struct lane_tag *tags;

	tags = realloc(lane->tags, n * sizeof(*tags));
	if (!tags)
		return -ENOMEM;
	lane->tags = tags;
	for (i = n; i-- > lane->ntags;) {
		tags[i] = (struct lane_tag){ .next = lane->free_tag };
		lane->free_tag = i;
	}
	lane->ntags = n;
	return 0;
}

uint64_t tag_of(const struct lane *lane, uint32_t i)
{
	return (uint64_t)lane->tags[i].gen << 32 | (i + 1);
}

int tag_take(struct lane *lane, struct node_request *request, uint64_t *tag)
{
	struct ddio_env *env = lane->node->session->env;
	struct lane_tag *entry;
	uint32_t i;

	if (lane->free_tag == UINT32_MAX && tags_grow(lane))
		return -ENOMEM;
	i = lane->free_tag;
	entry = &lane->tags[i];
	lane->free_tag = entry->next;
	entry->busy = true;
	entry->request = request;
	entry->gen++;
	entry->since = ddio_env_now(env);
	ddio_env_await_service(env, entry->since);
	lane->owing++;
	request->tag = i;
	*tag = tag_of(lane, i);
	return 0;
}

void tag_put(struct lane *lane, uint32_t i)
{
	struct lane_tag *entry = &lane->tags[i];

	entry->busy = false;
	entry->request = NULL;
	entry->next = lane->free_tag;
	lane->free_tag = i;
	lane->owing--;
}

struct lane_tag *tag_find(struct lane *lane, uint64_t tag)
{
	uint32_t i = (uint32_t)tag - 1;

	if (i >= lane->ntags || !lane->tags[i].busy || lane->tags[i].gen != tag >> 32)
		return NULL;
	return &lane->tags[i];
}
