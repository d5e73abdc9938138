// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The simulated world: media, which outlive the processes that use them.
 *
 * A disk's contents are an image: the bytes as its user reads them, and the bytes as they were at the
 * last flush.  A crash gives the medium a new image, a mixture of the two, and leaves the old image to
 * the dead process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sim/priv.h"

#define SECTOR 512u

/**
 * struct sim_image - the bytes
 * @base: the engine's view
 * @medium: the medium that it belongs to; NULL: its user is dead
 * @now: as read
 * @stable: as of the last flush
 * @dirty: for each sector, whether @now and @stable may differ; its number is in @list then
 * @list, @ndirty: those sectors
 * @flying, @nflying, @cap: writes that were submitted and have not ended
 */
struct sim_image {
	struct ddio_medium base;
	struct ddio_sim_medium *medium;
	uint8_t *now, *stable;
	uint8_t *dirty;
	uint32_t *list, ndirty;
	const struct ddio_disk_req **flying;
	uint32_t nflying, cap;
};

/**
 * struct ddio_sim_medium - one medium
 * @link: in the world's list
 * @image: what it holds
 * @open: a disk uses it
 * @flush_failed: see ddio_sim_medium_flush_failed()
 */
struct ddio_sim_medium {
	struct ddio_sim *sim;
	struct ddio_list link;
	char *path;
	struct ddio_sim_medium_faults how;
	struct sim_image *image;
	bool open, flush_failed;
};

static struct sim_image *image_of(struct ddio_medium *base)
{
	return ddio_container_of(base, struct sim_image, base);
}

static void image_free(struct sim_image *image)
{
	if (!image)
		return;
	free(image->now);
	free(image->stable);
	free(image->dirty);
	free(image->list);
	free(image->flying);
	free(image);
}

static void flying_add(struct sim_image *image, const struct ddio_disk_req *req)
{
	const struct ddio_disk_req **more;

	if (image->nflying == image->cap) {
		image->cap = image->cap ? 2 * image->cap : 16;
		more = realloc(image->flying, image->cap * sizeof(*more));
		if (!more)
			abort();
		image->flying = more;
	}
	image->flying[image->nflying++] = req;
}

static void flying_del(struct sim_image *image, const struct ddio_disk_req *req)
{
	uint32_t i;

	for (i = 0; i < image->nflying && image->flying[i] != req; i++)
		;
	if (i < image->nflying)
		image->flying[i] = image->flying[--image->nflying];
}

static uint64_t image_begun(struct ddio_medium *base, const struct ddio_disk_req *req)
{
	struct sim_image *image = image_of(base);
	const struct ddio_sim_medium_faults *how;

	if (req->op == DDIO_DISK_WRITE)
		flying_add(image, req);
	if (!image->medium)
		return 0;
	how = &image->medium->how;
	return how->delay_ns +
	       (how->jitter_ns ? sim_random(image->medium->sim) % (how->jitter_ns + 1) : 0);
}

static void image_write(struct sim_image *image, const struct ddio_disk_req *req)
{
	uint32_t s = req->offset / SECTOR, end = (req->offset + req->len) / SECTOR;

	memcpy(image->now + req->offset, req->buf, req->len);
	for (; s < end; s++) {
		if (image->dirty[s])
			continue;
		image->dirty[s] = 1;
		image->list[image->ndirty++] = s;
	}
}

/* Copies the dirty sectors, after which none is dirty. */
static void image_settle(struct sim_image *image, uint8_t *to, const uint8_t *from)
{
	uint32_t i, s;

	for (i = 0; i < image->ndirty; i++) {
		s = image->list[i];
		image->dirty[s] = 0;
		memcpy(to + s * SECTOR, from + s * SECTOR, SECTOR);
	}
	image->ndirty = 0;
}

static void image_flush(struct sim_image *image)
{
	image_settle(image, image->stable, image->now);
}

/* A flush that fails loses what it was to keep, if anything: there is nothing dirty to be flushed next time. */
static void image_forget(struct sim_image *image)
{
	const struct ddio_sim_medium_faults *how = &image->medium->how;
	bool lost = image->ndirty;

	image_settle(image, image->now, image->stable);
	image->medium->flush_failed = true;
	if (lost && how->forgot)
		how->forgot(how->arg);
}

static int image_fault(struct sim_image *image, const struct ddio_disk_req *req)
{
	struct ddio_sim_medium_faults *how = image->medium ? &image->medium->how : NULL;

	if (!how)
		return 0;
	if (how->bad_next && (!how->bad_ops || how->bad_ops >> req->op & 1)) {
		how->bad_next--;
		if (req->op == DDIO_DISK_FLUSH)
			image_forget(image);
		return -EIO;
	}
	return req->op != DDIO_DISK_FLUSH && req->offset < how->bad_end &&
			       req->offset + req->len > how->bad_first
		       ? -EIO
		       : 0;
}

static int image_transfer(struct ddio_medium *base, const struct ddio_disk_req *req)
{
	struct sim_image *image = image_of(base);
	int ret;

	flying_del(image, req);
	ret = image_fault(image, req);
	if (ret)
		return ret;
	if (req->op == DDIO_DISK_READ)
		memcpy(req->buf, image->now + req->offset, req->len);
	else if (req->op == DDIO_DISK_WRITE)
		image_write(image, req);
	else if (!image->medium || !image->medium->how.no_flush)
		image_flush(image);
	return 0;
}

static void image_close(struct ddio_medium *base)
{
	struct sim_image *image = image_of(base);

	if (image->medium)
		image->medium->open = false;
	else
		image_free(image);
}

static const struct ddio_medium_ops image_ops = {
	.begun = image_begun,
	.transfer = image_transfer,
	.close = image_close,
};

static struct sim_image *image_new(struct ddio_sim_medium *medium, uint64_t size)
{
	struct sim_image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->base.ops = &image_ops;
	image->base.size = size;
	image->medium = medium;
	image->now = calloc(1, size);
	image->stable = calloc(1, size);
	image->dirty = calloc(1, size / SECTOR + 1);
	image->list = calloc(size / SECTOR + 1, sizeof(*image->list));
	if (image->now && image->stable && image->dirty && image->list)
		return image;
	image_free(image);
	return NULL;
}

struct ddio_sim_medium *ddio_sim_medium_new(struct ddio_sim *sim, const char *path, uint64_t size)
{
	struct ddio_sim_medium *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->sim = sim;
	m->path = strdup(path);
	m->image = image_new(m, size / SECTOR * SECTOR);
	if (!m->path || !m->image) {
		image_free(m->image);
		free(m->path);
		free(m);
		return NULL;
	}
	ddio_list_add(&m->link, &sim->media);
	return m;
}

void ddio_sim_medium_set(struct ddio_sim_medium *medium, const struct ddio_sim_medium_faults *how)
{
	medium->how = *how;
}

bool ddio_sim_medium_flush_failed(struct ddio_sim_medium *medium)
{
	bool failed = medium->flush_failed;

	medium->flush_failed = false;
	return failed;
}

/* Applies a write that was cut off: each of its sectors may have been written or not. */
static void crash_flying(struct ddio_sim_medium *m, const struct ddio_disk_req *req)
{
	uint64_t at;

	for (at = 0; at < req->len; at += SECTOR)
		if (sim_random(m->sim) >> 63)
			memcpy(m->image->stable + req->offset + at, (uint8_t *)req->buf + at,
			       SECTOR);
}

int64_t ddio_sim_medium_crash(struct ddio_sim_medium *m, uint32_t lose)
{
	struct sim_image *old = m->image, *image = image_new(m, old->base.size);
	int64_t lost = 0;
	uint32_t i, s;

	if (!image)
		return -ENOMEM;
	m->image = image;
	memcpy(image->stable, old->stable, old->base.size);
	for (i = 0; i < old->ndirty; i++) {
		s = old->list[i];
		if (sim_random(m->sim) % 1000 < lose)
			lost++;
		else
			memcpy(image->stable + s * SECTOR, old->now + s * SECTOR, SECTOR);
	}
	for (i = 0; i < old->nflying; i++)
		crash_flying(m, old->flying[i]);
	memcpy(image->now, image->stable, old->base.size);
	if (m->open)
		old->medium = NULL;
	else
		image_free(old);
	m->open = false;
	return lost;
}

struct ddio_medium *sim_medium_open(struct ddio_env *env, const char *path)
{
	struct ddio_sim_medium *m;

	ddio_list_for_each_entry(m, &sim_proc_of(env)->sim->media, link) {
		if (strcmp(m->path, path))
			continue;
		if (m->open)
			abort();
		m->open = true;
		return &m->image->base;
	}
	return NULL;
}

void sim_media_free(struct ddio_sim *sim)
{
	struct ddio_sim_medium *m, *tmp;

	ddio_list_for_each_entry_safe(m, tmp, &sim->media, link) {
		ddio_list_del(&m->link);
		image_free(m->image);
		free(m->path);
		free(m);
	}
}
