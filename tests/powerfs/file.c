// SPDX-License-Identifier: GPL-2.0-only
/* A file's bytes, and what they were when they were synced. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "powerfs.h"

#define SECTOR 512u
#define SECTORS 64u
#define CHUNK (SECTORS * SECTOR)

/**
 * struct pfs_chunk - sectors as they were
 * @saved: a bit for each that is here
 */
struct pfs_chunk {
	uint64_t saved;
	uint8_t bytes[CHUNK];
};

static uint64_t size_now(const struct pfs_file *f)
{
	struct stat st;

	return fstat(f->fd, &st) ? 0 : (uint64_t)st.st_size;
}

int file_open(struct pfs_file *f, int dir, const char *name, bool create)
{
	*f = (struct pfs_file){ .fd = openat(dir, name, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0),
					     0600) };
	if (f->fd < 0)
		return errno;
	f->size = size_now(f);
	f->cut = f->size;
	return 0;
}

static void forget(struct pfs_file *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		free(f->chunks[i]);
	free(f->chunks);
	f->chunks = NULL;
	f->n = 0;
}

void file_close(struct pfs_file *f)
{
	forget(f);
	close(f->fd);
}

static struct pfs_chunk *chunk_of(struct pfs_file *f, size_t i)
{
	struct pfs_chunk **more;

	if (i >= f->n) {
		more = realloc(f->chunks, (i + 1) * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + f->n, 0, (i + 1 - f->n) * sizeof(*more));
		f->chunks = more;
		f->n = i + 1;
	}
	if (!f->chunks[i])
		f->chunks[i] = calloc(1, sizeof(*f->chunks[i]));
	return f->chunks[i];
}

/* Saves sectors [@from, @to) of a chunk; what is behind the file's end is zeros. */
static int chunk_save(struct pfs_file *f, size_t i, uint32_t from, uint32_t to)
{
	struct pfs_chunk *c = chunk_of(f, i);
	uint8_t buf[CHUNK];
	ssize_t n;
	uint32_t s;

	if (!c)
		return ENOMEM;
	memset(buf, 0, sizeof(buf));
	n = pread(f->fd, buf, (to - from) * SECTOR, (off_t)(i * CHUNK + from * SECTOR));
	if (n < 0)
		return errno;
	for (s = from; s < to; s++) {
		if (c->saved >> s & 1)
			continue;
		memcpy(c->bytes + s * SECTOR, buf + (s - from) * SECTOR, SECTOR);
		c->saved |= UINT64_C(1) << s;
	}
	return 0;
}

int file_save(struct pfs_file *f, uint64_t off, uint64_t len)
{
	uint64_t at = off / SECTOR, end = (off + len + SECTOR - 1) / SECTOR;
	int err = 0;

	while (at < end && !err) {
		uint64_t next = (at / SECTORS + 1) * SECTORS;

		if (next > end)
			next = end;
		err = chunk_save(f, at / SECTORS, at % SECTORS, (uint32_t)(next - 1) % SECTORS + 1);
		at = next;
	}
	return err;
}

int file_truncate(struct pfs_file *f, uint64_t size)
{
	uint64_t now = size_now(f);
	int err = size < now ? file_save(f, size, now - size) : 0;

	if (!err && ftruncate(f->fd, (off_t)size))
		err = errno;
	if (!err && size < f->cut)
		f->cut = size;
	return err;
}

int file_sync(struct pfs_file *f)
{
	forget(f);
	f->size = size_now(f);
	f->cut = f->size;
	return 0;
}

/* Gives a sector back as it was; if the cut of the file is not lost, there are zeros behind it. */
static int sector_lose(struct pfs_file *f, const struct pfs_chunk *c, uint32_t s, uint64_t at,
		       uint64_t cut)
{
	uint8_t buf[SECTOR];
	uint64_t keep = cut <= at ? 0 : cut - at < SECTOR ? cut - at : SECTOR;

	memset(buf, 0, sizeof(buf));
	memcpy(buf, c->bytes + s * SECTOR, keep);
	return pwrite(f->fd, buf, SECTOR, (off_t)at) == SECTOR ? 0 : EIO;
}

/*
 * If the file was cut and that is lost, so is all that was written since: a file system does not give the old blocks
 * away before the cut is durable.
 */
int file_lose(struct pfs_file *f, struct pfs_fate *fate)
{
	bool resized = fate_draw(fate, 2), all = !resized && f->cut < f->size;
	uint64_t size = resized ? size_now(f) : f->size;
	uint64_t cut = resized && f->cut < f->size ? f->cut : UINT64_MAX;
	int err = 0;
	size_t i;
	uint32_t s;

	for (i = 0; i < f->n; i++) {
		const struct pfs_chunk *c = f->chunks[i];

		for (s = 0; c && s < SECTORS && !err; s++)
			if ((c->saved >> s & 1) && (fate_draw(fate, 256) >= fate->share || all))
				err = sector_lose(f, c, s, i * CHUNK + s * SECTOR, cut);
	}
	if (!err && ftruncate(f->fd, (off_t)size))
		err = errno;
	return err ? err : file_sync(f);
}
