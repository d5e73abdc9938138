// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Disk streams of the ddio kernel module: the list goes to the kernel in windows, each in one
 * call, and slots go to and fro through the ring.
 *
 * A window is over when its last event has come, and in a reading window the kernel posts that only
 * when all slots were released; so the next window starts with all slots free.  Windows are long
 * enough for the pause between two of them not to matter.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "env/disk/kmod.h"

#define WINDOW_MAX 65536u
#define WINDOW_FIRST 256u
#define NO_BLOCK UINT64_MAX

/**
 * struct kmod_stream - a disk stream
 * @user: gets its events
 * @kenv: the context; a reference
 * @buffer, @offset: of the first slot, as the kernel knows it
 * @collective, @first_slot: the window's in the kernel
 * @running: the kernel has the window; @stopped: it was cancelled there
 * @block: the window's list, @n of @cap
 * @begun: how many of these have gone to the disk, when reading
 * @written: by slot: the block that is being written from it, or NO_BLOCK
 * @last: this is the last window
 * @post: does what must come from the loop
 * @dying: to be freed by @post
 */
struct kmod_stream {
	struct ddio_disk_stream base;
	struct kuser user;
	struct kenv *kenv;
	uint32_t buffer;
	uint64_t offset;
	uint32_t collective, first_slot;
	bool running, stopped, last, posted, dying;
	struct ddio_disk_block *block;
	uint32_t n, cap, begun;
	struct ddio_post post;
	uint64_t written[];
};

static struct kmod_stream *stream_of(struct ddio_disk_stream *base)
{
	return ddio_container_of(base, struct kmod_stream, base);
}

static bool reads(const struct kmod_stream *s)
{
	return s->base.spec.op == DDIO_DISK_READ;
}

static void stream_later(struct kmod_stream *s)
{
	if (s->posted)
		return;
	s->posted = true;
	ddio_env_post(s->base.disk->env, &s->post);
}

/*
 * Windows
 */
static int window_reserve(struct kmod_stream *s)
{
	uint32_t cap = s->cap ? s->cap * 4 : WINDOW_FIRST;
	struct ddio_disk_block *block;

	if (s->n < s->cap)
		return 0;
	block = realloc(s->block, cap * sizeof(*block));
	if (!block)
		return -ENOMEM;
	s->block = block;
	s->cap = cap;
	return 0;
}

static int window_fill(struct kmod_stream *s)
{
	s->n = 0;
	s->begun = 0;
	while (s->n < WINDOW_MAX) {
		/* Without more memory the window is shorter. */
		if (window_reserve(s))
			return s->n ? 0 : -ENOMEM;
		if (!disk_stream_next(&s->base, &s->block[s->n])) {
			s->last = true;
			return 0;
		}
		s->n++;
	}
	return 0;
}

static struct ddio_block *window_list(const struct kmod_stream *s)
{
	struct ddio_block *list = calloc(s->n, sizeof(*list));
	uint32_t i;

	for (i = 0; list && i < s->n; i++) {
		list[i].offset = s->block[i].offset;
		list[i].length = s->base.spec.len;
		list[i].disk = kmod_of(s->base.disk)->id;
	}
	return list;
}

static int window_submit(struct kmod_stream *s)
{
	const struct ddio_disk_stream_spec *spec = &s->base.spec;
	struct ddio_block *list = window_list(s);
	struct ddio_submit submit = {
		.flags = DDIO_SUBMIT_ORDERED | DDIO_SUBMIT_FORGET,
		.op = reads(s) ? DDIO_READ : DDIO_WRITE,
		.delivery = DDIO_STREAM,
		.blocks = (uintptr_t)list,
		.nr_blocks = s->n,
		.depth = spec->slots,
		.slot_buffer = s->buffer,
		.slot_offset = s->offset,
		.slot_length = spec->stride,
		.joint_fd = -1,
		.user_data = (uintptr_t)&s->user,
	};
	uint32_t i;
	int err;

	if (!list)
		return -ENOMEM;
	err = ddio_kdev_submit(&s->kenv->kdev, &submit);
	free(list);
	if (err)
		return err;
	s->collective = submit.out_collective;
	s->first_slot = submit.out_first_slot;
	s->running = true;
	for (i = 0; i < spec->slots; i++)
		s->written[i] = NO_BLOCK;
	for (; reads(s) && s->begun < s->n && s->begun < spec->slots; s->begun++)
		disk_stream_begun(&s->base);
	return 0;
}

/* From the loop: starts the next window, or ends the stream. */
static void stream_run(void *arg)
{
	struct kmod_stream *s = arg;
	int err = 0;

	s->posted = false;
	if (s->dying) {
		free(s);
		return;
	}
	if (s->running || s->base.ended)
		return;
	if (!s->n && !s->last)
		err = window_fill(s);
	if (!err && s->n && !s->base.error && !s->base.cancelled)
		err = window_submit(s);
	else if (!err)
		s->n = 0;
	if (err == -EBUSY) {
		/* The ring is full of other streams' slots, or still of the last window's. */
		stream_later(s);
		return;
	}
	if (err && !s->base.error)
		s->base.error = err;
	if (!s->running)
		disk_stream_ended(&s->base);
}

/*
 * Events
 */
static void slot_event(struct kmod_stream *s, const struct ddio_event *event)
{
	uint32_t slot = event->slot - s->first_slot;

	if (slot >= s->base.spec.slots || event->index >= s->n || s->base.cancelled)
		return;
	s->written[slot] = event->index;
	disk_stream_slot(&s->base, slot, &s->block[event->index], event->status);
}

static void block_event(struct kmod_stream *s, const struct ddio_event *event)
{
	uint32_t slot;

	for (slot = 0; slot < s->base.spec.slots; slot++)
		if (s->written[slot] == event->index)
			break;
	/* Slots that never reached the user, or that it still holds, end with the stream. */
	if (slot == s->base.spec.slots || s->base.slot[slot].held)
		return;
	s->written[slot] = NO_BLOCK;
	disk_stream_wrote(&s->base, slot, event->status);
}

static void stream_event(struct kuser *user, const struct ddio_event *event)
{
	struct kmod_stream *s = ddio_container_of(user, struct kmod_stream, user);

	if (event->kind == DDIO_EVENT_DONE) {
		s->running = false;
		s->n = 0;
		if (event->status && !s->base.error)
			s->base.error = event->status;
		stream_run(s);
		return;
	}
	if (event->kind == DDIO_EVENT_SLOT)
		slot_event(s, event);
	else if (event->kind == DDIO_EVENT_BLOCK)
		block_event(s, event);
	/* The kernel does not know of an injected error. */
	if (s->base.error && !s->stopped && !s->base.cancelled) {
		s->stopped = true;
		ddio_kdev_cancel(&s->kenv->kdev, s->collective);
	}
}

/*
 * The engine's part
 */
static void user_free(struct kuser *user)
{
	ddio_list_del(&user->link);
}

static struct ddio_disk_stream *stream_alloc(const struct ddio_disk_stream_spec *spec)
{
	struct kmod_stream *s = calloc(1, sizeof(*s) + spec->slots * sizeof(s->written[0]));

	return s ? &s->base : NULL;
}

static int stream_begin(struct ddio_disk_stream *base)
{
	struct kmod_stream *s = stream_of(base);
	const struct ddio_disk_stream_spec *spec = &base->spec;
	int err;

	s->kenv = kmod_of(base->disk)->kenv;
	s->post.fn = stream_run;
	s->post.arg = s;
	s->user.event = stream_event;
	s->user.free = user_free;
	ddio_list_init(&s->user.link);
	if (spec->slots > DDIO_DEPTH_MAX || spec->stride > UINT32_MAX ||
	    !kenv_find(s->kenv, spec->mem, spec->stride * spec->slots, &s->buffer, &s->offset))
		return -EOPNOTSUPP;
	err = window_fill(s);
	if (!err && s->n)
		err = window_submit(s);
	else if (!err)
		stream_later(s);
	if (!err)
		ddio_list_add(&s->user.link, &s->kenv->users);
	return err;
}

static void stream_release(struct ddio_disk_stream *base, uint32_t slot)
{
	struct kmod_stream *s = stream_of(base);

	if (!s->running || base->cancelled)
		return;
	if (reads(s) && s->begun < s->n) {
		s->begun++;
		disk_stream_begun(base);
	}
	ddio_kdev_release(&s->kenv->kdev, s->collective, s->first_slot + slot);
}

static void stream_cancel(struct ddio_disk_stream *base)
{
	struct kmod_stream *s = stream_of(base);

	if (s->running)
		ddio_kdev_cancel(&s->kenv->kdev, s->collective);
	else
		stream_later(s);
}

static void stream_free(struct ddio_disk_stream *base)
{
	struct kmod_stream *s = stream_of(base);

	ddio_list_del(&s->user.link);
	free(s->block);
	s->dying = s->posted;
	if (!s->dying)
		free(s);
}

const struct disk_stream_engine disk_stream_kmod = {
	.alloc = stream_alloc,
	.begin = stream_begin,
	.release = stream_release,
	.cancel = stream_cancel,
	.free = stream_free,
};
