// SPDX-License-Identifier: GPL-2.0-only
/* Disks whose every byte is known, and random lists of their blocks. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/rig.h"

#define KT_RIG_CHUNK (1U << 20)
#define KT_RIG_ALIGN 4096

static int kt_image_write(const struct kt_image *image)
{
	uint64_t done;
	ssize_t n;

	for (done = 0; done < image->length; done += n) {
		n = image->length - done < KT_RIG_CHUNK ? image->length - done : KT_RIG_CHUNK;
		n = pwrite(image->fd, image->bytes + done, n, done);
		if (n <= 0)
			return n ? -errno : -EIO;
	}
	return 0;
}

static int kt_image_init(struct kt_image *image, struct kt_rig *rig, const struct kt_dev *dev,
			 uint64_t length, struct kt_rng *rng)
{
	struct ddio_disk_add disk;
	int err;

	image->dev = dev;
	image->length = length;
	image->fd = open(dev->path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (image->fd < 0)
		return -errno;
	if (posix_memalign((void **)&image->bytes, KT_RIG_ALIGN, length))
		return -ENOMEM;
	kt_fill(rng, image->bytes, length);
	err = ddio_kdev_disk_add(&rig->kdev, image->fd, &disk);
	if (err)
		return err;
	image->id = disk.out_disk;
	return kt_image_write(image);
}

int kt_rig_init(struct kt_rig *rig, struct kt_dev *const *dev, uint32_t nr, uint64_t length,
		struct kt_rng *rng)
{
	int err;

	memset(rig, 0, sizeof(*rig));
	for (rig->nr = 0; rig->nr < nr; rig->nr++)
		rig->image[rig->nr].fd = -1;
	err = ddio_kdev_open(&rig->kdev, NULL);
	for (nr = 0; !err && nr < rig->nr; nr++)
		err = kt_image_init(&rig->image[nr], rig, dev[nr], length, rng);
	return err;
}

void kt_rig_fini(struct kt_rig *rig)
{
	uint32_t i;

	ddio_kdev_close(&rig->kdev);
	for (i = 0; i < rig->nr; i++) {
		if (rig->image[i].fd >= 0)
			close(rig->image[i].fd);
		free(rig->image[i].bytes);
	}
}

static bool kt_image_same(const struct kt_image *image, unsigned char *chunk)
{
	uint64_t done, n, i;

	for (done = 0; done < image->length; done += n) {
		n = image->length - done < KT_RIG_CHUNK ? image->length - done : KT_RIG_CHUNK;
		if (pread(image->fd, chunk, n, done) != (ssize_t)n) {
			printf("# %s cannot be read at %llu\n", image->dev->path,
			       (unsigned long long)done);
			return false;
		}
		if (!memcmp(chunk, image->bytes + done, n))
			continue;
		for (i = 0; chunk[i] == image->bytes[done + i]; i++)
			;
		printf("# %s differs first at %llu\n", image->dev->path,
		       (unsigned long long)(done + i));
		return false;
	}
	return true;
}

bool kt_rig_same(const struct kt_rig *rig)
{
	unsigned char *chunk;
	bool same = true;
	uint32_t i;

	if (posix_memalign((void **)&chunk, KT_RIG_ALIGN, KT_RIG_CHUNK))
		return false;
	for (i = 0; i < rig->nr; i++)
		same = kt_image_same(&rig->image[i], chunk) && same;
	free(chunk);
	return same;
}

unsigned char *kt_rig_at(const struct kt_rig *rig, const struct ddio_block *block)
{
	uint32_t i;

	for (i = 0; i < rig->nr; i++)
		if (rig->image[i].id == block->disk)
			return rig->image[i].bytes + block->offset;
	return NULL;
}

bool kt_rig_reload(struct kt_rig *rig)
{
	uint32_t i;

	for (i = 0; i < rig->nr; i++)
		if (pread(rig->image[i].fd, rig->image[i].bytes, rig->image[i].length, 0) !=
		    (ssize_t)rig->image[i].length)
			return false;
	return true;
}

/* The disk is divided into cells as long as the longest block; each block keeps to its own. */
static uint64_t kt_draw_cell(struct kt_rng *rng, uint8_t *taken, uint64_t cells)
{
	uint64_t cell;

	do {
		cell = kt_below(rng, cells);
	} while (taken[cell]);
	taken[cell] = 1;
	return cell;
}

bool kt_rig_draw(const struct kt_rig *rig, struct kt_rng *rng, const struct kt_draw *draw,
		 struct ddio_block *block)
{
	uint64_t per_disk = rig->image[0].length / draw->length_max, i, cell;
	uint64_t cells = per_disk * rig->nr;
	uint32_t sector, sectors, at;
	uint8_t *taken;

	if (draw->apart && draw->nr > cells / 2)
		return false;
	taken = calloc(1, cells);
	if (!taken)
		return false;
	memset(block, 0, draw->nr * sizeof(*block));
	for (i = 0; i < draw->nr; i++) {
		cell = draw->apart ? kt_draw_cell(rng, taken, cells) : kt_below(rng, cells);
		sector = rig->image[cell / per_disk].dev->logical;
		sectors = draw->length_max / sector;
		at = kt_below(rng, sectors);
		block[i].disk = rig->image[cell / per_disk].id;
		block[i].offset = cell % per_disk * draw->length_max + (uint64_t)at * sector;
		block[i].length = (1 + kt_below(rng, sectors - at)) * sector;
	}
	free(taken);
	return true;
}
