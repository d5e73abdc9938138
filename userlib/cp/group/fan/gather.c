// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the members contribute to a step: compared, gathered, and made shorter where its kind can do that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/group/fan/priv.h"

/* Bounds what is gathered, so that the message has room for the rest. */
#define GATHER_MAX (DDIO_MAX_PAYLOAD - (64u << 10))

void fan_blame(struct fan *fan, uint32_t status, uint32_t rank, const char *text)
{
	if (!error_yields(fan->why ? fan->why->status : 0, fan->why_rank, status, rank))
		return;
	fan_why_set(fan, status, text);
	fan->why_rank = rank;
}

void fan_compare(struct fan *fan, uint32_t rank, uint32_t kind, const void *data, size_t len)
{
	char text[DDIO_MAX_TEXT];

	if (!fan->compare) {
		fan->compare = malloc(len ? len : 1);
		if (!fan->compare) {
			fan_blame(fan, DDIO_ST_NO_MEMORY, rank, "out of memory");
			return;
		}
		if (len)
			memcpy(fan->compare, data, len);
		fan->compare_len = len;
		fan->compare_rank = rank;
		fan->kind = kind;
		return;
	}
	if (kind == fan->kind && len == fan->compare_len &&
	    (!len || !memcmp(data, fan->compare, len)))
		return;
	if (kind != fan->kind && !fan_kinds_alike(fan->group, kind, fan->kind))
		snprintf(text, sizeof(text), "rank %u calls %s, rank %u %s", fan->compare_rank,
			 fan_kind_name(fan->group, fan->kind), rank,
			 fan_kind_name(fan->group, kind));
	else
		fan_explain(fan->group, kind, fan->compare_rank, fan->compare, fan->compare_len,
			    rank, data, len, text);
	fan_blame(fan, DDIO_ST_MISMATCH, rank, text);
}

/* Of so much fresh memory costs more than what is put into it. */
#define GATHER_SPARE (16u << 10)

/* The first of much is the last step's, if that had so much. */
static bool gather_grow(struct fan *fan, size_t need)
{
	size_t cap = fan->gather_cap ? fan->gather_cap : 256;
	uint8_t *gather = NULL;

	if (!fan->gather && need >= GATHER_SPARE)
		gather = ddio_env_spare_get(fan->group->session->env, DDIO_ENV_SPARE_GATHER, need,
					    &cap);
	if (!gather) {
		while (cap < need)
			cap *= 2;
		gather = realloc(fan->gather, cap);
	}
	if (!gather)
		return false;
	fan->gather = gather;
	fan->gather_cap = cap;
	return true;
}

static void *gather_room(struct fan *fan, size_t len)
{
	if (len > GATHER_MAX || fan->gather_len > GATHER_MAX - len)
		return NULL;
	/* Also for none at all there is a place. */
	if ((!fan->gather || fan->gather_len + len > fan->gather_cap) &&
	    !gather_grow(fan, fan->gather_len + len + 1))
		return NULL;
	fan->gather_len += len;
	return fan->gather + fan->gather_len - len;
}

void fan_gather(struct fan *fan, uint32_t rank, const void *data, size_t len)
{
	uint8_t *room = gather_room(fan, len);

	if (room)
		memcpy(room, data, len);
	else
		fan_blame(fan, DDIO_ST_TOO_BIG, rank,
			  "the descriptions of all members together are too long");
}

void fan_gather_own(struct fan *fan, const void *data, size_t len)
{
	size_t head = fan_join_of(fan) ? 0 : 8;
	uint8_t *room;

	if (!len)
		return;
	room = len < GATHER_MAX ? gather_room(fan, len + head) : NULL;
	if (!room) {
		fan_blame(fan, DDIO_ST_TOO_BIG, fan->group->rank,
			  "the descriptions of all members together are too long");
		return;
	}
	if (head) {
		bytes_put32(room, fan->group->rank);
		bytes_put32(room + 4, (uint32_t)len);
	}
	memcpy(room + head, data, len);
}

void fan_join(struct fan *fan)
{
	void *(*join)(struct ddio_group *, const void *, size_t, size_t *) = fan_join_of(fan);
	size_t len;
	void *joined;

	if (!join || fan->why)
		return;
	joined = join(fan->group, fan->gather, fan->gather_len, &len);
	if (!joined)
		return;
	free(fan->gather);
	fan->gather = joined;
	fan->gather_len = len;
	fan->gather_cap = len;
}

const void *fan_gathered_all(const struct fan *fan, size_t *len)
{
	*len = fan->gather_len;
	return fan->gather;
}

bool fan_gathered(const struct fan *fan, size_t *at, uint32_t *rank, const void **data, size_t *len)
{
	size_t left = fan->gather_len - *at;

	if (left < 8)
		return false;
	*rank = bytes_get32(fan->gather + *at);
	*len = bytes_get32(fan->gather + *at + 4);
	if (*len > left - 8)
		return false;
	*data = fan->gather + *at + 8;
	*at += *len + 8;
	return true;
}
