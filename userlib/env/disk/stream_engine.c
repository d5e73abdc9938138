// SPDX-License-Identifier: LGPL-2.1-or-later
/* Disk streams: what the engines call. */
#include <errno.h>
#include "env/disk/priv.h"

bool disk_stream_next(struct ddio_disk_stream *stream, struct ddio_disk_block *block)
{
	return !stream->cancelled && !stream->error &&
	       stream->spec.ops->next(stream->spec.ctx, block);
}

void disk_stream_begun(struct ddio_disk_stream *stream)
{
	stream->in_flight++;
	disk_flight_begin(stream->disk, ddio_env_now(stream->disk->env));
}

/* Return: the block's status. */
static int stream_landed(struct ddio_disk_stream *stream, int status)
{
	struct ddio_disk *disk = stream->disk;
	int injected = disk_injected(disk, stream->spec.op);

	status = injected ? injected : status;
	if (stream->in_flight) {
		stream->in_flight--;
		disk_flight_end(disk, ddio_env_now(disk->env));
	}
	disk_count(disk, stream->spec.op, stream->spec.len, status);
	return status;
}

void disk_stream_slot(struct ddio_disk_stream *stream, uint32_t slot,
		      const struct ddio_disk_block *block, int status)
{
	if (stream->spec.op == DDIO_DISK_READ && !stream->engine->requests)
		status = stream_landed(stream, status);
	if (status && !stream->error)
		stream->error = status;
	stream->slot[slot].block = *block;
	stream->slot[slot].held = true;
	stream->nheld++;
	stream->spec.ops->slot(stream->spec.ctx, slot, &stream->slot[slot].block, status);
}

void disk_stream_wrote(struct ddio_disk_stream *stream, uint32_t slot, int status)
{
	struct ddio_disk_block *block = &stream->slot[slot].block;

	if (!stream->engine->requests) {
		status = stream_landed(stream, status);
		disk_write_note(stream->disk, block->offset, stream->spec.len);
	}
	if (status && !stream->error)
		stream->error = status;
	stream->spec.ops->wrote(stream->spec.ctx, slot, block, status);
}

void disk_stream_ended(struct ddio_disk_stream *stream)
{
	int status = stream->error ? stream->error : stream->cancelled ? -ECANCELED : 0;

	for (; stream->in_flight; stream->in_flight--)
		disk_flight_end(stream->disk, ddio_env_now(stream->disk->env));
	stream->ended = true;
	stream->spec.ops->ended(stream->spec.ctx, status);
}
