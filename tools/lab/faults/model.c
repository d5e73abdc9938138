// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a file may hold.  A cell's value names the file, the cell and the version, so that a
 * wrong value shows where it comes from.
 */
#include <stdio.h>
#include <string.h>
#include "run.h"

#define MAGIC 0xdd10ull

uint64_t faults_value(const struct faults_file *f, uint32_t index, uint32_t cell, uint32_t version)
{
	return version ? MAGIC << 48 | (uint64_t)(index * 64 + f->gen % 64) << 40 |
				 (uint64_t)cell << 16 | version
		       : 0;
}

static void set_clear(struct faults_set *set)
{
	set->n = 0;
	set->any = false;
}

static bool set_has(const struct faults_set *set, uint32_t version)
{
	uint32_t i;

	for (i = 0; i < set->n; i++)
		if (set->v[i] == version)
			return true;
	return set->any;
}

static void set_add(struct faults_set *set, uint32_t version)
{
	if (set_has(set, version))
		return;
	if (set->n < FAULTS_VALUES)
		set->v[set->n++] = (uint16_t)version;
	else
		set->any = true;
}

static void sizes_add(struct faults_sizes *sizes, uint64_t size)
{
	if (faults_size_may(sizes, size))
		return;
	if (sizes->n < FAULTS_VALUES)
		sizes->v[sizes->n++] = size;
	else
		sizes->any = true;
}

void faults_file_begin(struct faults_file *f, uint64_t id)
{
	uint32_t i;

	f->id = id;
	f->gen++;
	f->version = 0;
	f->durable = false;
	f->state = FILE_THERE;
	memset(&f->seen, 0, sizeof(f->seen));
	memset(&f->stable, 0, sizeof(f->stable));
	sizes_add(&f->seen, 0);
	sizes_add(&f->stable, 0);
	for (i = 0; i < f->cells; i++) {
		f->cell[i].atomic = 0;
		set_clear(&f->cell[i].seen);
		set_clear(&f->cell[i].stable);
		set_add(&f->cell[i].seen, 0);
		set_add(&f->cell[i].stable, 0);
	}
}

uint32_t faults_file_disk(const struct faults_file *f, uint32_t cell)
{
	return f->disk[cell * FAULTS_CELL / f->block % f->ndisks];
}

void faults_cell_wrote(struct faults_cell *cell, uint32_t version, bool sure, bool durable)
{
	cell->atomic = 0;
	if (durable)
		set_clear(&cell->stable);
	set_add(&cell->stable, version);
	if (sure)
		set_clear(&cell->seen);
	set_add(&cell->seen, version);
}

static void set_remove(struct faults_set *set, uint32_t version)
{
	uint32_t i, n = 0;

	for (i = 0; i < set->n; i++)
		if (set->v[i] != version)
			set->v[n++] = set->v[i];
	set->n = (uint8_t)n;
}

void faults_file_decided(struct faults_file *f, uint32_t version, bool there)
{
	uint32_t i;

	for (i = 0; i < f->cells; i++) {
		struct faults_cell *cell = &f->cell[i];

		if (cell->atomic != version)
			continue;
		if (there) {
			faults_cell_wrote(cell, version, true, true);
			continue;
		}
		set_remove(&cell->seen, version);
		set_remove(&cell->stable, version);
		cell->atomic = 0;
	}
}

bool faults_cell_unsynced(const struct faults_cell *cell)
{
	return memcmp(&cell->seen, &cell->stable, sizeof(cell->seen));
}

void faults_cell_crash(struct faults_cell *cell)
{
	cell->seen = cell->stable;
}

void faults_cell_sync(struct faults_cell *cell)
{
	cell->stable = cell->seen;
}

bool faults_cell_may(const struct faults_file *f, uint32_t index, uint32_t cell, uint64_t value)
{
	uint32_t version = value & 0xffff;

	return value == faults_value(f, index, cell, version) && version <= f->version &&
	       set_has(&f->cell[cell].seen, version);
}

const char *faults_cell_text(const struct faults_cell *cell, char *text, size_t len)
{
	size_t at = 0;
	uint32_t i;

	*text = '\0';
	for (i = 0; i < cell->seen.n && at < len; i++)
		at += snprintf(text + at, len - at, "%s%u", i ? " or " : "", cell->seen.v[i]);
	return text;
}

static void sizes_change(struct faults_sizes *sizes, uint64_t to, bool exact, bool sure)
{
	struct faults_sizes old = *sizes;
	uint32_t i;

	if (sure) {
		sizes->n = 0;
		/* A set that was too large to list stays unknown until the value is certain. */
		sizes->any = old.any && !exact;
		if (exact)
			sizes_add(sizes, to);
	}
	for (i = 0; i < old.n; i++)
		sizes_add(sizes, exact || old.v[i] < to ? to : old.v[i]);
}

void faults_size_change(struct faults_file *f, uint64_t to, bool exact, bool sure)
{
	sizes_change(&f->seen, to, exact, sure);
	/* Until it is synced it may or may not be lost. */
	sizes_change(&f->stable, to, exact, false);
}

bool faults_size_may(const struct faults_sizes *sizes, uint64_t size)
{
	uint32_t i;

	for (i = 0; i < sizes->n; i++)
		if (sizes->v[i] == size)
			return true;
	return sizes->any;
}

uint64_t faults_size_least(const struct faults_sizes *sizes)
{
	uint64_t least = UINT64_MAX;
	uint32_t i;

	for (i = 0; i < sizes->n; i++)
		if (sizes->v[i] < least)
			least = sizes->v[i];
	return sizes->any ? 0 : least;
}

uint64_t faults_size_most(const struct faults_sizes *sizes)
{
	uint64_t most = 0;
	uint32_t i;

	for (i = 0; i < sizes->n; i++)
		if (sizes->v[i] > most)
			most = sizes->v[i];
	return sizes->any ? UINT64_MAX : most;
}
