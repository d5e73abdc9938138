// SPDX-License-Identifier: GPL-2.0-only
/* Disks with a plain twin, and random lists over them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/twin.h"
#include "lib/world.h"

#define KT_PAGE 4096U
#define KT_CHUNK (4U << 20)

static int64_t kt_differ(const unsigned char *a, const unsigned char *b, uint64_t length)
{
	uint64_t i;

	if (!memcmp(a, b, length))
		return -1;
	for (i = 0; a[i] == b[i]; i++)
		;
	return i;
}

static int kt_all(int fd, unsigned char *p, uint64_t length, uint64_t at, bool writing)
{
	uint64_t done;
	ssize_t n;

	for (done = 0; done < length; done += n) {
		size_t want = length - done < KT_CHUNK ? length - done : KT_CHUNK;

		n = writing ? pwrite(fd, p + done, want, at + done)
			    : pread(fd, p + done, want, at + done);
		if (n <= 0)
			return n ? -errno : -EIO;
	}
	return 0;
}

int kt_twin_init(struct kt_twin *twin, const struct kt_dev *dev, int ctx, struct kt_rng *rng)
{
	struct ddio_disk_add arg = { .size = sizeof(arg) };
	int err;

	memset(twin, 0, sizeof(*twin));
	twin->dev = dev;
	twin->direct = open(dev->path, O_RDWR | O_DIRECT | O_CLOEXEC);
	twin->cached = open(dev->path, O_RDWR | O_CLOEXEC);
	twin->ref = kt_memory(dev->bytes);
	twin->bounce = kt_memory(dev->bytes);
	if (twin->direct < 0 || twin->cached < 0 || !twin->ref || !twin->bounce)
		return -errno;
	arg.fd = twin->cached;
	err = kt_call(ctx, DDIO_DISK_ADD, &arg);
	if (err)
		return err;
	twin->id = arg.out_disk;
	twin->align = arg.out_align;
	kt_fill(rng, twin->ref, dev->bytes);
	return kt_all(twin->direct, twin->ref, dev->bytes, 0, true);
}

void kt_twin_fini(struct kt_twin *twin)
{
	if (twin->ref)
		munmap(twin->ref, twin->dev->bytes);
	if (twin->bounce)
		munmap(twin->bounce, twin->dev->bytes);
	close(twin->direct);
	close(twin->cached);
}

int64_t kt_twin_check(const struct kt_twin *twin, bool direct)
{
	if (kt_all(direct ? twin->direct : twin->cached, twin->bounce, twin->dev->bytes, 0, false))
		return 0;
	return kt_differ(twin->ref, twin->bounce, twin->dev->bytes);
}

int kt_twin_scribble(struct kt_twin *twin, struct kt_rng *rng, unsigned int writes, bool direct)
{
	uint64_t sectors = twin->dev->bytes / twin->dev->logical;
	uint64_t at, length;
	int err = 0;

	while (writes-- && !err) {
		at = kt_below(rng, sectors);
		length = 1 + kt_below(rng, sectors - at < 64 ? sectors - at : 64);
		at *= twin->dev->logical;
		length *= twin->dev->logical;
		kt_fill(rng, twin->ref + at, length);
		memcpy(twin->bounce, twin->ref + at, length);
		err = kt_all(direct ? twin->direct : twin->cached, twin->bounce, length, at, true);
	}
	return err;
}

int kt_place_init(struct kt_place *place, int ctx, uint64_t length, uint32_t skew, uint32_t flags)
{
	unsigned char *p = kt_memory(length + KT_PAGE);

	place->expect = kt_memory(length);
	if (!p || !place->expect)
		return -ENOMEM;
	place->memory = p + skew;
	place->length = length;
	return kt_buffer_add(ctx, place->memory, length, flags, &place->id);
}

void kt_place_fill(struct kt_place *place, struct kt_rng *rng)
{
	kt_fill(rng, place->memory, place->length);
	memcpy(place->expect, place->memory, place->length);
}

int64_t kt_place_check(const struct kt_place *place)
{
	return kt_differ(place->expect, place->memory, place->length);
}

static uint64_t kt_up(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

/* Returns a length in sectors; short ones as often as long ones. */
static uint32_t kt_length(struct kt_rng *rng, const struct kt_shape *shape, uint32_t logical)
{
	uint64_t most = shape->longest / logical ? shape->longest / logical : 1;
	uint64_t limit = 1;

	while (limit < most && kt_below(rng, 4))
		limit *= 2;
	return (1 + kt_below(rng, limit < most ? limit : most)) * logical;
}

/* Returns where a block of @length goes on the disk: after the last one of that disk, or anywhere. */
static bool kt_offset(struct kt_rng *rng, const struct kt_shape *shape, struct kt_twin *twin,
		      uint64_t *cursor, uint32_t length, __u64 *offset)
{
	uint32_t logical = twin->dev->logical;
	uint64_t sectors = twin->dev->bytes / logical;

	if (!shape->apart) {
		*offset = kt_below(rng, sectors - length / logical + 1) * logical;
		return true;
	}
	if (!shape->dense || !kt_below(rng, 16))
		*cursor +=
			kt_below(rng, 2 * sectors * shape->nr_twins / shape->nr + 2) / 2 * logical;
	if (*cursor + length > twin->dev->bytes)
		return false;
	*offset = *cursor;
	*cursor += length;
	return true;
}

struct kt_cursors {
	uint64_t disk[64];
	uint64_t place[16];
};

static bool kt_one(struct kt_list *list, const struct kt_shape *shape, struct kt_rng *rng,
		   struct kt_cursors *c)
{
	unsigned int t = kt_below(rng, shape->nr_twins), p = kt_below(rng, shape->nr_places);
	struct kt_twin *twin = &shape->twin[t];
	struct kt_place *place = &shape->place[p];
	struct ddio_block *b = &list->block[list->nr];
	uint64_t skew = kt_ptr(place->memory) % KT_PAGE;
	uint64_t where;

	memset(b, 0, sizeof(*b));
	b->length = kt_length(rng, shape, twin->dev->logical);
	/* Aligned as memory, not as an offset. */
	where = kt_up(c->place[p] + skew, twin->align) - skew;
	if (!shape->dense && kt_below(rng, 2))
		where += kt_below(rng, 4) * kt_up(512, twin->align);
	if (where + b->length > place->length)
		return false;
	if (!kt_offset(rng, shape, twin, &c->disk[t], b->length, &b->offset))
		return false;
	b->where = where;
	b->disk = twin->id;
	b->buffer = place->id;
	c->place[p] = where + b->length;
	list->twin[list->nr] = t;
	list->place[list->nr] = p;
	list->nr++;
	return true;
}

/* A Fisher-Yates shuffle of three arrays at once. */
static void kt_list_shuffle(struct kt_list *list, struct kt_rng *rng)
{
	struct ddio_block b;
	uint64_t i, j;
	uint16_t t;

	for (i = list->nr; i > 1; i--) {
		j = kt_below(rng, i);
		b = list->block[i - 1];
		list->block[i - 1] = list->block[j];
		list->block[j] = b;
		t = list->twin[i - 1];
		list->twin[i - 1] = list->twin[j];
		list->twin[j] = t;
		t = list->place[i - 1];
		list->place[i - 1] = list->place[j];
		list->place[j] = t;
	}
}

int kt_list_random(struct kt_list *list, const struct kt_shape *shape, struct kt_rng *rng)
{
	struct kt_cursors cursors = { .disk = { 0 } };
	uint64_t tries;

	memset(list, 0, sizeof(*list));
	list->block = calloc(shape->nr, sizeof(*list->block));
	list->twin = calloc(shape->nr, sizeof(*list->twin));
	list->place = calloc(shape->nr, sizeof(*list->place));
	list->status = calloc(shape->nr, sizeof(*list->status));
	if (!list->block || !list->twin || !list->place || !list->status)
		return -ENOMEM;
	for (tries = 0; list->nr < shape->nr && tries < 4 * shape->nr + 64; tries++)
		kt_one(list, shape, rng, &cursors);
	if (!list->nr)
		return -ERANGE;
	kt_list_shuffle(list, rng);
	memset(list->status, 0x55, list->nr * sizeof(*list->status));
	return 0;
}

void kt_list_free(struct kt_list *list)
{
	free(list->block);
	free(list->twin);
	free(list->place);
	free(list->status);
}

void kt_list_expect(const struct kt_list *list, const struct kt_shape *shape, uint64_t i,
		    uint32_t op)
{
	const struct ddio_block *b = &list->block[i];
	unsigned char *disk = shape->twin[list->twin[i]].ref + b->offset;
	struct kt_place *place = &shape->place[list->place[i]];

	if (op == DDIO_READ)
		memcpy(place->expect + b->where, disk, b->length);
	else
		memcpy(disk, place->memory + b->where, b->length);
}

void kt_list_expect_all(const struct kt_list *list, const struct kt_shape *shape, uint32_t op)
{
	uint64_t i;

	for (i = 0; i < list->nr; i++)
		kt_list_expect(list, shape, i, op);
}

static void kt_list_take(const struct kt_list *list, const struct kt_shape *shape, uint64_t i,
			 uint32_t op)
{
	const struct ddio_block *b = &list->block[i];
	struct kt_twin *twin = &shape->twin[list->twin[i]];
	struct kt_place *place = &shape->place[list->place[i]];

	if (op == DDIO_READ)
		memcpy(place->expect + b->where, place->memory + b->where, b->length);
	else if (!kt_all(twin->direct, twin->bounce, b->length, b->offset, false))
		memcpy(twin->ref + b->offset, twin->bounce, b->length);
}

void kt_list_expect_status(const struct kt_list *list, const struct kt_shape *shape, uint32_t op,
			   struct kt_tally *tally)
{
	uint64_t i;

	memset(tally, 0, sizeof(*tally));
	for (i = 0; i < list->nr; i++) {
		switch (list->status[i]) {
		case 0:
			tally->ok++;
			kt_list_expect(list, shape, i, op);
			break;
		case -ECANCELED:
			tally->canceled++;
			break;
		case 0x55555555:
			tally->undone++;
			break;
		default:
			tally->failed++;
			kt_list_take(list, shape, i, op);
		}
	}
}
