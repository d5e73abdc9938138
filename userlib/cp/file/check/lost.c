// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files that cannot be read whole, and their paths.  An inode does not know its names, so the whole tree is walked, but only if
 * there is such a file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cp/file/check/check.h"
#include "cp/node/identity.h"

/**
 * struct path_search - a walk over all directories
 * @dirs: paths of those that have not been listed, the root's is ""; @n, @cap: how many they are, and may be
 * @dir: the one that is being listed
 */
struct path_search {
	struct cluster_check *check;
	char **dirs, *dir;
	size_t n, cap;
};

/* Notes that a file cannot be read whole. */
static int note_lost(struct cluster_check *c, uint64_t id, uint32_t disk, enum lost_why why)
{
	if (c->nlost == c->lost_cap) {
		size_t cap = c->lost_cap ? 2 * c->lost_cap : 64;
		struct lost_file *p = realloc(c->lost, cap * sizeof(*p));

		if (!p)
			return session_fail(c->session, -ENOMEM, "check: out of memory");
		c->lost = p;
		c->lost_cap = cap;
	}
	c->lost[c->nlost++] = (struct lost_file){ .id = id, .disk = disk, .why = why };
	/* Damaged records are problems of their disk, and have been counted there. */
	c->result->problems += why != LOST_DAMAGED;
	return 0;
}

static void tell(struct cluster_check *c, struct lost_file *lost, const char *dir, const char *name)
{
	const struct ddio_conf *conf = c->session->conf;
	const char *disk = lost->disk < conf->ndisks ? conf->disks[lost->disk].name : NULL;
	char what[DDIO_MAX_PATH + DDIO_MAX_NAME + 64];

	if (name)
		snprintf(what, sizeof(what), "%s/%s (file %" PRIu64 ")", dir, name, lost->id);
	else
		snprintf(what, sizeof(what), "file %" PRIu64 ", which has no name", lost->id);
	lost->told = true;
	switch (lost->why) {
	case LOST_REPLACED:
		check_tell(c,
			   "%s: what it had on disk %s may be lost with the disk that was there "
			   "before: restore it from a backup",
			   what, disk);
		break;
	case LOST_DAMAGED:
		check_tell(c, "%s: records of it on disk %s are damaged: restore it from a backup",
			   what, disk);
		break;
	case LOST_MISSING:
		check_tell(c,
			   "%s: it lies on disk number %" PRIu32
			   ", but the configuration has only %" PRIu32
			   " disks: put the missing one back into the configuration",
			   what, lost->disk, conf->ndisks);
	}
}

static int by_id(const void *a, const void *b)
{
	const struct lost_file *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->disk < y->disk ? -1 : x->disk > y->disk;
}

/* Tells all about the file, if it is one of them, by one of its names. */
static void tell_all(struct cluster_check *c, uint64_t id, const char *dir, const char *name)
{
	size_t low = 0, high = c->nlost, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (c->lost[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < c->nlost && c->lost[low].id == id; low++)
		tell(c, &c->lost[low], dir, name);
}

/* Adds directory @name of @w->dir, or the root. */
static int add_dir(struct path_search *w, const char *name)
{
	char path[DDIO_MAX_PATH + DDIO_MAX_NAME + 2] = "";
	void *p;

	if (w->n == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 64;
		p = realloc(w->dirs, w->cap * sizeof(*w->dirs));
		if (!p)
			return -ENOMEM;
		w->dirs = p;
	}
	if (name)
		snprintf(path, sizeof(path), "%s/%.*s", w->dir, (int)strlen(name) - 1, name);
	w->dirs[w->n] = strdup(path);
	return w->dirs[w->n++] ? 0 : -ENOMEM;
}

static int entry(void *arg, const char *name, const struct ddio_file_stat *st)
{
	struct path_search *w = arg;

	if (name[strlen(name) - 1] == '/')
		return add_dir(w, name);
	tell_all(w->check, st->id, w->dir, name);
	return 0;
}

/* A directory that cannot be listed has been told of by the name server's own check. */
static int walk(struct path_search *w)
{
	int err = add_dir(w, NULL);

	while (w->n && !err) {
		w->dir = w->dirs[--w->n];
		if (ddio_list(w->check->session, w->dir, entry, w) == -ENOMEM)
			err = -ENOMEM;
		free(w->dir);
	}
	while (w->n)
		free(w->dirs[--w->n]);
	free(w->dirs);
	return err;
}

int check_tell_lost(struct cluster_check *c)
{
	struct path_search w = { .check = c };
	size_t i;

	if (!c->nlost)
		return 0;
	qsort(c->lost, c->nlost, sizeof(*c->lost), by_id);
	if (walk(&w))
		return session_fail(c->session, -ENOMEM, "check: out of memory");
	for (i = 0; i < c->nlost; i++)
		if (!c->lost[i].told)
			tell(c, &c->lost[i], NULL, NULL);
	return 0;
}

/* Asks a disk some of whose records are damaged. */
static int ask_damaged(struct cluster_check *c, const struct found_file *n, uint32_t disk)
{
	struct check_ask a = { .obj = { .file = n->ref, .disk = disk } };
	int err = check_ask(c, &a, DDIO_OP_OBJ_STAT);

	if (err != -EUCLEAN && err != -EIO)
		return err == -ENOENT || err == -ESTALE ? 0 : err;
	return note_lost(c, n->ref.id, disk, LOST_DAMAGED);
}

static bool is_found(const struct cluster_check *c, uint64_t id, uint32_t disk)
{
	const struct found_object key = { id, disk };

	return c->nfound &&
	       bsearch(&key, c->found, c->nfound, sizeof(key), check_by_id_disk) != NULL;
}

/* Looks for what a file may have lost with one of its disks. */
static int match_disk(struct cluster_check *c, const struct found_file *n, uint32_t i)
{
	uint32_t disk = n->disks[i];

	if (c->bad_disks[disk])
		return ask_damaged(c, n, disk);
	if (i < n->nused && n->ref.id < identity_lost(c->session, disk) &&
	    !is_found(c, n->ref.id, disk))
		return note_lost(c, n->ref.id, disk, LOST_REPLACED);
	return 0;
}

bool check_misses_disk(const struct cluster_check *c, const struct found_file *n, uint32_t *disk)
{
	uint32_t i;

	for (i = 0; i < n->ndisks; i++) {
		*disk = n->disks[i];
		if (*disk >= c->session->conf->ndisks)
			return true;
	}
	return false;
}

int check_match_file(struct cluster_check *c, const struct found_file *n)
{
	uint32_t i, disk;
	int err = 0;

	if (check_misses_disk(c, n, &disk))
		return note_lost(c, n->ref.id, disk, LOST_MISSING);
	for (i = 0; i < n->ndisks && !n->dying && !err; i++)
		err = match_disk(c, n, i);
	return err;
}
