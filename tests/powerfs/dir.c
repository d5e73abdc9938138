// SPDX-License-Identifier: GPL-2.0-only
/* A directory's names, and what they were when it was synced. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "powerfs.h"

static struct pfs_entry *entry_new(const char *name, uint64_t node, bool more)
{
	struct pfs_entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	snprintf(e->name, sizeof(e->name), "%s", name);
	e->node = node;
	e->more = more;
	return e;
}

static void list_free(struct pfs_entry **list)
{
	struct pfs_entry *e;

	while ((e = *list)) {
		*list = e->next;
		free(e);
	}
}

static struct pfs_entry **place_of(struct pfs_entry **list, const char *name)
{
	while (*list && strcmp((*list)->name, name))
		list = &(*list)->next;
	return list;
}

static int list_set(struct pfs_entry **list, const char *name, uint64_t node)
{
	struct pfs_entry **at = place_of(list, name), *e = *at;

	if (e && !node) {
		*at = e->next;
		free(e);
	} else if (e) {
		e->node = node;
	} else if (node) {
		*at = entry_new(name, node, false);
		return *at ? 0 : ENOMEM;
	}
	return 0;
}

void dir_init(struct pfs_dir *d)
{
	*d = (struct pfs_dir){ .now = NULL };
	d->last = &d->changes;
}

void dir_free(struct pfs_dir *d)
{
	list_free(&d->now);
	list_free(&d->kept);
	list_free(&d->changes);
	d->last = &d->changes;
}

uint64_t dir_find(const struct pfs_dir *d, const char *name)
{
	struct pfs_entry *now = d->now;
	const struct pfs_entry *e = *place_of(&now, name);

	return e ? e->node : 0;
}

int dir_set(struct pfs_dir *d, const char *name, uint64_t node, bool more)
{
	struct pfs_entry *change = entry_new(name, node, more);
	int err = change ? list_set(&d->now, name, node) : ENOMEM;

	if (err) {
		free(change);
		return err;
	}
	*d->last = change;
	d->last = &change->next;
	return 0;
}

static void changes_forget(struct pfs_dir *d)
{
	list_free(&d->changes);
	d->last = &d->changes;
}

void dir_sync(struct pfs_dir *d)
{
	const struct pfs_entry *e;

	for (e = d->changes; e; e = e->next)
		list_set(&d->kept, e->name, e->node);
	changes_forget(d);
}

/* The first of the changes are kept, as many as @fate says. */
void dir_lose(struct pfs_dir *d, struct pfs_fate *fate)
{
	const struct pfs_entry *e;
	uint32_t n = 1, left;
	bool joined = false;

	for (e = d->changes; e; e = e->next)
		n++;
	left = fate_draw(fate, n);
	for (e = d->changes; e && (left || joined); e = e->next) {
		list_set(&d->kept, e->name, e->node);
		joined = e->more;
		left -= left > 0;
	}
	changes_forget(d);
	list_free(&d->now);
	for (e = d->kept; e; e = e->next)
		list_set(&d->now, e->name, e->node);
}
