// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Disk streams made of ordinary requests: for engines that have none of their own, and
 * the reference for those that have.
 */
#include <errno.h>
#include <stdlib.h>
#include "env/disk/priv.h"

struct plain;

/**
 * struct plain_slot - a slot
 * @at_disk: @req is under way
 */
struct plain_slot {
	struct plain *plain;
	uint32_t number;
	bool at_disk;
	struct ddio_disk_block block;
	struct ddio_disk_req req;
};

/**
 * struct plain - a disk stream
 * @busy: requests under way
 * @drained: the list has no more blocks
 * @post: does what must come from the loop
 * @dying: to be freed by @post
 */
struct plain {
	struct ddio_disk_stream base;
	uint32_t busy;
	bool drained, posted, dying;
	struct ddio_post post;
	struct plain_slot slot[];
};

static struct plain *plain_of(struct ddio_disk_stream *base)
{
	return ddio_container_of(base, struct plain, base);
}

static void plain_later(struct plain *p)
{
	if (p->posted)
		return;
	p->posted = true;
	ddio_env_post(p->base.disk->env, &p->post);
}

static bool plain_over(const struct plain *p)
{
	if (p->busy || p->base.ended)
		return false;
	if (p->base.cancelled || p->base.error)
		return true;
	return p->drained && !p->base.nheld;
}

/* Last: the stream may be gone afterwards. */
static void plain_check(struct plain *p)
{
	if (plain_over(p))
		plain_later(p);
}

static void plain_submit(struct plain *p, struct plain_slot *slot)
{
	slot->at_disk = true;
	slot->req.offset = slot->block.offset;
	p->busy++;
	ddio_disk_submit(p->base.disk, &slot->req);
}

/* Gives a free slot to the disk, or to the user, for the next block. */
static void plain_feed(struct plain *p, struct plain_slot *slot)
{
	if (p->drained)
		return;
	if (!disk_stream_next(&p->base, &slot->block))
		p->drained = true;
	else if (p->base.spec.op == DDIO_DISK_READ)
		plain_submit(p, slot);
	else
		disk_stream_slot(&p->base, slot->number, &slot->block, 0);
}

static void plain_done(struct ddio_disk_req *req)
{
	struct plain_slot *slot = req->arg;
	struct plain *p = slot->plain;

	slot->at_disk = false;
	p->busy--;
	if (p->base.spec.op == DDIO_DISK_READ) {
		disk_stream_slot(&p->base, slot->number, &slot->block, req->status);
	} else {
		disk_stream_wrote(&p->base, slot->number, req->status);
		plain_feed(p, slot);
	}
	plain_check(p);
}

/* From the loop: starts a writing stream, or ends a stream. */
static void plain_run(void *arg)
{
	struct plain *p = arg;
	uint32_t i;

	p->posted = false;
	if (p->dying) {
		free(p);
		return;
	}
	for (i = 0; p->base.spec.op == DDIO_DISK_WRITE && i < p->base.spec.slots; i++)
		if (!p->slot[i].at_disk && !p->base.slot[i].held)
			plain_feed(p, &p->slot[i]);
	if (plain_over(p))
		disk_stream_ended(&p->base);
}

static struct ddio_disk_stream *plain_alloc(const struct ddio_disk_stream_spec *spec)
{
	struct plain *p = calloc(1, sizeof(*p) + spec->slots * sizeof(p->slot[0]));

	return p ? &p->base : NULL;
}

static int plain_begin(struct ddio_disk_stream *base)
{
	struct plain *p = plain_of(base);
	uint32_t i;

	p->post.fn = plain_run;
	p->post.arg = p;
	for (i = 0; i < base->spec.slots; i++) {
		struct plain_slot *slot = &p->slot[i];

		slot->plain = p;
		slot->number = i;
		slot->req.op = base->spec.op;
		slot->req.len = base->spec.len;
		slot->req.buf = (uint8_t *)base->spec.mem + i * base->spec.stride;
		slot->req.done = plain_done;
		slot->req.arg = slot;
		if (base->spec.op == DDIO_DISK_READ)
			plain_feed(p, slot);
	}
	ddio_disk_commit(base->disk);
	if (base->spec.op == DDIO_DISK_WRITE || p->drained)
		plain_later(p);
	return 0;
}

static void plain_release(struct ddio_disk_stream *base, uint32_t number)
{
	struct plain *p = plain_of(base);
	struct plain_slot *slot = &p->slot[number];

	if (base->spec.op == DDIO_DISK_READ)
		plain_feed(p, slot);
	else if (!base->cancelled && !base->error)
		plain_submit(p, slot);
	ddio_disk_commit(base->disk);
	plain_check(p);
}

static void plain_cancel(struct ddio_disk_stream *base)
{
	plain_check(plain_of(base));
}

static void plain_free(struct ddio_disk_stream *base)
{
	struct plain *p = plain_of(base);

	p->dying = p->posted;
	if (!p->dying)
		free(p);
}

const struct disk_stream_engine disk_stream_plain = {
	.requests = true,
	.alloc = plain_alloc,
	.begin = plain_begin,
	.release = plain_release,
	.cancel = plain_cancel,
	.free = plain_free,
};
