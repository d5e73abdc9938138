// SPDX-License-Identifier: LGPL-2.1-or-later
/* Disk streams, the wrapper's part: which slot is whose, and the counters. */
#include <errno.h>
#include <stdlib.h>
#include "base/bug.h"
#include "env/disk/priv.h"

bool ddio_disk_stream_fresh(const struct ddio_disk_stream *stream,
			    const struct ddio_disk_block *block)
{
	return !disk_written_since(stream->disk, block->offset, stream->spec.len, stream->opened);
}

static bool spec_is_valid(const struct ddio_disk *disk, const struct ddio_disk_stream_spec *spec)
{
	const struct ddio_disk_info *info = &disk->info;

	return (spec->op == DDIO_DISK_READ || spec->op == DDIO_DISK_WRITE) && spec->slots &&
	       spec->len && spec->len <= info->max_len && !(spec->len % info->sector) &&
	       spec->mem && !((uintptr_t)spec->mem % info->align) && spec->stride >= spec->len &&
	       !(spec->stride % info->align);
}

/**
 * ddio_disk_stream_open - give a disk a whole list of blocks
 * @disk: an open disk
 * @spec: what to do; copied
 * @stream: filled in
 * Return: 0, -EINVAL for a bad @spec, -ENOMEM, or the engine's error.
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
	if (disk_writes_watch(disk))
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
