// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Streams, the wrapper's part: who has which slot, the counters, and what was
 * written meanwhile.
 *
 * While a disk has streams, the beginning and the end of every write get a number,
 * and a table keeps the last one of each region of the disk; regions that share an
 * entry are taken for one another.  A block is fresh for a stream if its entries are
 * older than the stream.  The end counts too, since a write that began before the
 * stream may still be under way when the disk reads for it.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/bug.h"
#include "env/disk/priv.h"

#define REGION_SHIFT 13
#define REGIONS 1024u

void disk_write_note(struct ddio_disk *disk, uint64_t offset, uint64_t len)
{
	uint64_t first = offset >> REGION_SHIFT, n = ((offset + len - 1) >> REGION_SHIFT) - first;
	uint64_t i;

	if (!disk->streams)
		return;
	disk->write_seq++;
	for (i = 0; i <= n && i < REGIONS; i++)
		disk->write_table[(first + i) % REGIONS] = disk->write_seq;
}

bool ddio_disk_stream_fresh(const struct ddio_disk_stream *stream,
			    const struct ddio_disk_block *block)
{
	uint64_t first = block->offset >> REGION_SHIFT;
	uint64_t n = ((block->offset + stream->spec.len - 1) >> REGION_SHIFT) - first, i;

	for (i = 0; i <= n && i < REGIONS; i++)
		if (stream->disk->write_table[(first + i) % REGIONS] > stream->opened)
			return false;
	return true;
}

static bool spec_is_valid(const struct ddio_disk *disk, const struct ddio_disk_stream_spec *spec)
{
	const struct ddio_disk_info *info = &disk->info;

	return (spec->op == DDIO_DISK_READ || spec->op == DDIO_DISK_WRITE) && spec->slots &&
	       spec->len && spec->len <= info->max_len && !(spec->len % info->sector) &&
	       spec->mem && !((uintptr_t)spec->mem % info->align) && spec->stride >= spec->len &&
	       !(spec->stride % info->align);
}

static int table_make(struct ddio_disk *disk)
{
	if (!disk->write_table)
		disk->write_table = calloc(REGIONS, sizeof(*disk->write_table));
	return disk->write_table ? 0 : -ENOMEM;
}

/**
 * ddio_disk_stream_open - give a disk a whole list of blocks
 * @disk: an open disk
 * @spec: what to do; copied
 * @stream: filled in
 * Return: 0, -EINVAL for a @spec that will not do, -ENOMEM, or the engine's error.
 */
int ddio_disk_stream_open(struct ddio_disk *disk, const struct ddio_disk_stream_spec *spec,
			  struct ddio_disk_stream **stream)
{
	const struct disk_stream_engine *engine = disk->engine->stream;
	struct ddio_disk_stream *s;
	int ret = -ENOMEM;

	if (!engine)
		engine = &disk_stream_plain;
	if (!spec_is_valid(disk, spec))
		return -EINVAL;
	if (table_make(disk))
		return -ENOMEM;
	s = engine->alloc(spec);
	if (!s)
		return -ENOMEM;
	s->disk = disk;
	s->engine = engine;
	s->spec = *spec;
	s->opened = disk->write_seq;
	s->slot = calloc(spec->slots, sizeof(*s->slot));
	if (!s->slot)
		goto free_stream;
	disk->streams++;
	ret = engine->begin(s);
	if (ret)
		goto free_slots;
	*stream = s;
	return 0;

free_slots:
	disk->streams--;
	free(s->slot);
free_stream:
	engine->free(s);
	return ret;
}

void ddio_disk_stream_release(struct ddio_disk_stream *stream, uint32_t slot)
{
	struct ddio_disk *disk = stream->disk;

	if (bug_on(slot >= stream->spec.slots || !stream->slot[slot].held,
		   "disk %s: slot %u of a stream was released by a user that does not hold it",
		   disk->name, slot))
		return;
	stream->slot[slot].held = false;
	stream->nheld--;
	if (stream->spec.op == DDIO_DISK_WRITE && !stream->engine->requests) {
		disk_write_note(disk, stream->slot[slot].block.offset, stream->spec.len);
		disk_stream_begun(stream);
	}
	stream->engine->release(stream, slot);
}

void ddio_disk_stream_cancel(struct ddio_disk_stream *stream)
{
	if (stream->cancelled || stream->ended)
		return;
	stream->cancelled = true;
	stream->engine->cancel(stream);
}

void ddio_disk_stream_close(struct ddio_disk_stream *stream)
{
	struct ddio_disk *disk = stream->disk;

	/* The disk may write to the slots at any time: leaking the memory does less harm. */
	if (bug_on(!stream->ended, "disk %s: a stream was closed before its end", disk->name))
		return;
	disk->streams--;
	free(stream->slot);
	stream->engine->free(stream);
}

/*
 * For engines
 */
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
