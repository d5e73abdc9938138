// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory for a disk's slots: of the buffers that are shared with members, or if these have no room, of the reactor's own. */
#include "iop/coll/core/pool.h"
#include "iop/coll/slot/slot.h"

void *coll_disk_memory(struct coll_disk *cd, struct share_area *area)
{
	size_t len = cd->stride * cd->nslots;
	void *buf = NULL;

	if (cd->coll->share)
		buf = coll_share_get(cd->coll->share, len, area);
	return buf ? buf : coll_buffer_get(cd->coll->reactor, len);
}

void coll_disk_memory_free(struct coll_disk *cd, void *buf, struct share_area *area)
{
	if (area->len)
		coll_share_put(area);
	else
		coll_buffer_put(cd->coll->reactor, buf, cd->stride * cd->nslots);
}
