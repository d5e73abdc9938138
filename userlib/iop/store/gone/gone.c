// SPDX-License-Identifier: LGPL-2.1-or-later
/* Numbers of files that were removed lately; see gone.h. */
#include <stdlib.h>
#include "base/hash.h"
#include "iop/store/gone/gone.h"

/**
 * struct gone - a file that was removed
 * @at: when
 */
struct gone {
	struct ddio_hash_node node; /* struct gones.hash, by number */
	uint64_t at;
};

/**
 * struct gones - the last ones
 * @ring: @n so far, the next in place of the oldest
 */
struct gones {
	struct ddio_hash hash;
	uint64_t n;
	struct gone ring[GONE_MOST];
};

static struct gone *gone_find(const struct gones *gones, uint64_t id)
{
	return ddio_hash_entry(ddio_hash_find(&gones->hash, id), struct gone, node);
}

static struct gone *gone_new(struct gones *gones, uint64_t id)
{
	struct gone *gone = &gones->ring[gones->n % GONE_MOST];

	if (gones->n++ >= GONE_MOST)
		ddio_hash_del(&gones->hash, &gone->node);
	ddio_hash_add(&gones->hash, &gone->node, id);
	return gone;
}

void gones_add(struct gones **gones, uint64_t id, uint64_t now)
{
	struct gone *gone;

	if (!*gones)
		*gones = calloc(1, sizeof(**gones));
	if (!*gones)
		return;
	gone = gone_find(*gones, id);
	if (!gone)
		gone = gone_new(*gones, id);
	gone->at = now;
}

bool gones_has(const struct gones *gones, uint64_t id, uint64_t now)
{
	const struct gone *gone = gones ? gone_find(gones, id) : NULL;

	return gone && now - gone->at < GONE_NS;
}

void gones_free(struct gones *gones)
{
	if (gones)
		ddio_hash_fini(&gones->hash);
	free(gones);
}
