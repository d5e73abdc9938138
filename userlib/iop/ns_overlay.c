// SPDX-License-Identifier: LGPL-2.1-or-later
/* Files that have changed since they were last durable, by identifier and by name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns_priv.h"

int ddio_file_record_copy(struct ddio_file_record *to, const struct ddio_file_record *from)
{
	uint32_t *disks = NULL;

	if (from->ndisks) {
		disks = malloc(from->ndisks * sizeof(*disks));
		if (!disks)
			return -ENOMEM;
		memcpy(disks, from->disks, from->ndisks * sizeof(*disks));
	}
	*to = *from;
	to->disks = disks;
	return 0;
}

static size_t id_at(const struct ddio_ns *ns, uint64_t id)
{
	size_t low = 0, high = ns->by_id.n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (ns->by_id.v[mid]->rec.ref.id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct ddio_ns_entry *ddio_ns_entry_find(const struct ddio_ns *ns, uint64_t id)
{
	size_t at = id_at(ns, id);

	return at < ns->by_id.n && ns->by_id.v[at]->rec.ref.id == id ? ns->by_id.v[at] : NULL;
}

static bool name_before(const struct ddio_file_record *rec, const char *name, uint64_t id)
{
	int order = strcmp(rec->name, name);

	return order < 0 || (!order && rec->ref.id < id);
}

size_t ddio_ns_entry_at(const struct ddio_ns *ns, const char *name, uint64_t id)
{
	size_t low = 0, high = ns->by_name.n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (name_before(&ns->by_name.v[mid]->rec, name, id))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int index_reserve(struct ddio_ns_index *index)
{
	size_t cap = index->cap ? index->cap * 2 : 16;
	struct ddio_ns_entry **v;

	if (index->n < index->cap)
		return 0;
	v = realloc(index->v, cap * sizeof(*v));
	if (!v)
		return -ENOMEM;
	index->v = v;
	index->cap = cap;
	return 0;
}

static void index_insert(struct ddio_ns_index *index, size_t at, struct ddio_ns_entry *entry)
{
	memmove(&index->v[at + 1], &index->v[at], (index->n - at) * sizeof(*index->v));
	index->v[at] = entry;
	index->n++;
}

struct ddio_ns_entry *ddio_ns_entry_make(struct ddio_ns *ns, const struct ddio_file_record *rec)
{
	struct ddio_ns_entry *entry = ddio_ns_entry_find(ns, rec->ref.id);

	if (entry)
		return entry;
	if (index_reserve(&ns->by_id) || index_reserve(&ns->by_name))
		return NULL;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	if (ddio_file_record_copy(&entry->rec, rec)) {
		free(entry);
		return NULL;
	}
	index_insert(&ns->by_id, id_at(ns, rec->ref.id), entry);
	index_insert(&ns->by_name, ddio_ns_entry_at(ns, rec->name, rec->ref.id), entry);
	return entry;
}

void ddio_ns_entry_dirty(struct ddio_ns *ns, struct ddio_ns_entry *entry)
{
	if (!entry->dirty)
		ns->ndirty++;
	entry->dirty = true;
}

static bool entry_is_clean(const struct ddio_ns_entry *entry)
{
	return !entry->dirty && !entry->sealed;
}

static void index_clean(struct ddio_ns_index *index)
{
	size_t i, to = 0;

	for (i = 0; i < index->n; i++)
		if (!entry_is_clean(index->v[i]))
			index->v[to++] = index->v[i];
	index->n = to;
}

static void entry_free(struct ddio_ns_entry *entry)
{
	ddio_file_record_free(&entry->rec);
	free(entry);
}

void ddio_ns_overlay_clean(struct ddio_ns *ns)
{
	struct ddio_ns_index *index = &ns->by_id;
	size_t i, to = 0;

	index_clean(&ns->by_name);
	for (i = 0; i < index->n; i++) {
		if (entry_is_clean(index->v[i]))
			entry_free(index->v[i]);
		else
			index->v[to++] = index->v[i];
	}
	index->n = to;
}

void ddio_ns_overlay_fini(struct ddio_ns *ns)
{
	size_t i;

	for (i = 0; i < ns->by_id.n; i++)
		entry_free(ns->by_id.v[i]);
	free(ns->by_id.v);
	free(ns->by_name.v);
}
