// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A disk's block list as one feed, where its engine does best with that: the disk has the whole list and fills, or
 * empties, the slots' block buffers by itself.
 */
#include "iop/coll/slot/slot.h"

int feed_open(struct coll_disk *cd, enum ddio_disk_op op, const struct ddio_disk_stream_ops *ops)
{
	struct ddio_disk_stream_spec spec = {
		.op = op,
		.slots = cd->nslots,
		.len = cd->coll->block_size,
		.mem = cd->bufs,
		.stride = cd->stride,
		.ops = ops,
		.ctx = cd,
	};
	int err = ddio_disk_stream_open(cd->disk->disk, &spec, &cd->feed.stream);

	if (err)
		cd->feed.stream = NULL;
	else
		cd->coll->io++;
	return err;
}

void feed_over(struct coll_disk *cd)
{
	ddio_disk_stream_close(cd->feed.stream);
	cd->feed.stream = NULL;
	cd->source = &by_request;
	cd->coll->io--;
	coll_kick(cd->coll);
}
