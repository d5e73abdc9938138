// SPDX-License-Identifier: GPL-2.0-only
/*
 * ddio sim --faults --mounts: what files may hold.  A file grows by words, each of which names process, file, place and the
 * loss before which it was written.  What was synced stays.  What was not may be gone, or zero, once an
 * I/O processor has lost its memory; and a sync that says nothing of it leaves nothing out.
 */
#include <errno.h>
#include <string.h>
#include "mounts.h"

#define MAGIC 0xda7aull

uint32_t mount_losses(const struct faults *f)
{
	uint32_t n = f->ns_losses, i;

	for (i = 0; i < f->conf.disks; i++)
		n += f->losses[i];
	return n;
}

static uint64_t word_of(const struct mounter *m, const struct mount_file *file, uint32_t i)
{
	return MAGIC << 48 | (uint64_t)(m->cp->rank & 0xf) << 44 |
	       (uint64_t)(file->serial & 0xfff) << 32 |
	       (uint64_t)(mount_losses(m->cp->f) & 0xffff) << 16 | i;
}

/* Whether it is a word of the file.  Where it was put is not asked: appends go behind a size that a loss may have changed. */
static bool word_own(const struct mounter *m, const struct mount_file *file, uint64_t word)
{
	return word >> 32 == word_of(m, file, 0) >> 32;
}

struct mount_file *mount_file_of(struct mounter *m, uint64_t ino)
{
	uint32_t i;

	for (i = 0; i < MOUNT_FILES; i++)
		if (m->file[i].ino == ino)
			return &m->file[i];
	return NULL;
}

static void file_close(struct mounter *m, struct mount_file *file)
{
	if (file->open)
		mount_close_file(m, file->open);
	file->open = NULL;
}

void mount_file_new(struct mounter *m, uint64_t ino, struct ddio_fs_file *open, uint32_t losses)
{
	struct mount_file *file = NULL;
	uint32_t i;

	for (i = 0; i < MOUNT_FILES && !file; i++)
		if (!m->file[i].ino || !mount_named(m, m->file[i].ino))
			file = &m->file[i];
	if (!file) {
		mount_violated(m, "cp%u has too many files", m->cp->rank);
		return;
	}
	file_close(m, file);
	memset(file, 0, sizeof(*file));
	file->ino = ino;
	file->open = open;
	file->serial = ++m->serial;
	file->losses = losses;
}

static bool file_shaky(const struct mounter *m, const struct mount_file *file)
{
	return file->unsure || file->losses != mount_losses(m->cp->f);
}

/* Checks word @i of those read, and takes it for what is there. */
static bool word_good(struct mounter *m, struct mount_file *file, uint32_t i, uint64_t word)
{
	if (i < file->n && (word == file->word[i] || (!file->word[i] && word_own(m, file, word))))
		return true;
	if (i < file->hard || !file_shaky(m, file))
		return false;
	/* A size that was lost may come back: the mount tells it again. */
	return !word || word_own(m, file, word);
}

/* Checks what was read, and with @adopt takes it for what is there. */
static void file_check(struct mounter *m, struct mount_file *file, const uint64_t *word,
		       uint64_t len, bool adopt)
{
	bool shaky = file_shaky(m, file);
	uint32_t i, n = (uint32_t)(len / 8), most = shaky ? MOUNT_WORDS : file->n;

	if (len % 8 || n > most || n < file->hard || (!shaky && n != file->n)) {
		mount_violated(m, "cp%u: file %u has %llu bytes: %u words were written, %u synced",
			       m->cp->rank, file->serial, (unsigned long long)len, file->n,
			       file->hard);
		return;
	}
	for (i = 0; i < n; i++) {
		if (!word_good(m, file, i, word[i])) {
			mount_violated(
				m, "cp%u: word %u of file %u is %016llx, expected version %016llx",
				m->cp->rank, i, file->serial, (unsigned long long)word[i],
				i < file->n ? (unsigned long long)file->word[i] : 0ull);
			return;
		}
	}
	if (!adopt)
		return;
	memcpy(file->word, word, n * sizeof(*word));
	file->n = n;
}

/* Reads all of it.  Return: bytes, or UINT64_MAX if it could not be read. */
static uint64_t file_load(struct mounter *m, struct mount_file *file, uint64_t *word)
{
	int err = mount_read(m, file->open, word, (MOUNT_WORDS + 1) * sizeof(*word));

	if (!err)
		return m->value;
	/* Only a file that the loss has taken cannot be read. */
	if (m->losses == m->cp->f->ns_losses)
		mount_violated(m, "cp%u: read of file %u: %s", m->cp->rank, file->serial,
			       strerror(-err));
	return UINT64_MAX;
}

bool mount_file_read(struct mounter *m, struct mount_file *file)
{
	uint64_t word[MOUNT_WORDS + 1], len;
	uint32_t before = mount_losses(m->cp->f);

	len = file_load(m, file, word);
	if (len != UINT64_MAX && before == mount_losses(m->cp->f))
		file_check(m, file, word, len, file_shaky(m, file));
	return len != UINT64_MAX;
}

void mount_file_append(struct mounter *m, struct mount_file *file, uint32_t words)
{
	uint64_t word[MOUNT_WORDS];
	uint32_t before, i;
	int err;

	/* After a loss the file may be shorter, or gone: so what is there is looked at first. */
	if (file_shaky(m, file) && !mount_file_read(m, file))
		return;
	before = mount_losses(m->cp->f);
	if (file->n + words > MOUNT_WORDS)
		return;
	for (i = 0; i < words; i++)
		word[i] = word_of(m, file, file->n + i);
	err = mount_append(m, file->open, word, words * sizeof(*word));
	if (before != mount_losses(m->cp->f)) {
		file->unsure = true;
		return;
	}
	if (err || m->value != words * sizeof(*word)) {
		mount_violated(m, "cp%u: append to file %u: %s, %llu bytes", m->cp->rank,
			       file->serial, strerror(-err), (unsigned long long)m->value);
		return;
	}
	memcpy(file->word + file->n, word, words * sizeof(*word));
	file->n += words;
}

struct mount_file *mount_file_ready(struct mounter *m, uint64_t ino)
{
	struct mount_file *file = mount_file_of(m, ino);
	uint32_t before = m->cp->f->ns_losses;
	int err;

	if (!file) { /* made by a call that a loss came upon */
		mount_file_new(m, ino, NULL, 0);
		file = mount_file_of(m, ino);
	}
	if (!file || file->open)
		return file;
	err = mount_open_file(m, ino, &file->open);
	file->anew = true;
	if (!err)
		return file;
	if (before == m->cp->f->ns_losses && before == m->losses)
		mount_violated(m, "cp%u: open of file %u: %s", m->cp->rank, file->serial,
			       strerror(-err));
	return NULL;
}

/* What a sync has said holds: all is there, or it has said that it is not. */
static void synced_check(struct mounter *m, struct mount_file *file, bool said)
{
	uint64_t word[MOUNT_WORDS + 1], len;
	uint32_t before = mount_losses(m->cp->f), was = file->losses;

	if (!said && !file->unsure && !file->anew)
		file->losses = before;
	len = file_load(m, file, word);
	if (before != mount_losses(m->cp->f) || len == UINT64_MAX) {
		file->losses = was;
		return;
	}
	file_check(m, file, word, len, true);
	file->unsure = file->anew = false;
	file->losses = before;
	if (!said)
		file->hard = file->n;
}

void mount_file_sync(struct mounter *m, struct mount_file *file)
{
	uint32_t before = mount_losses(m->cp->f);
	/* Silence alone loses nothing, since nobody else changes the file. */
	bool may = file_shaky(m, file);
	int err = mount_sync(m, file->open);

	if (before != mount_losses(m->cp->f)) {
		/* Whether it has said so is not known. */
		file->unsure = true;
		return;
	}
	if (err && (!may || err != -EIO) && m->losses == m->cp->f->ns_losses)
		mount_violated(m, "cp%u: fsync of file %u: %s, and nothing was lost", m->cp->rank,
			       file->serial, strerror(-err));
	else if (!err || err == -EIO) {
		/* What it says may be a size that was not told before an I/O processor went. */
		file->unsure |= err != 0;
		synced_check(m, file, err);
	}
}

void mount_files_close(struct mounter *m)
{
	uint32_t i;

	for (i = 0; i < MOUNT_FILES; i++)
		file_close(m, &m->file[i]);
}
