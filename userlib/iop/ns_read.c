// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finding and listing files: what has changed in memory overrides the records. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns_priv.h"

/* Room for the other fields of a listing's payload. */
#define LISTING_MAX (DDIO_MAX_SMALL - 4096)

/* Within a read transaction. */
static int read_file(struct ddio_ns *ns, uint64_t id, struct ddio_file_record *rec)
{
	uint8_t key[DDIO_NS_KEY_LEN];
	MDB_val k = ddio_lmdb_val(key, sizeof(key)), v;
	int ret;

	ddio_ns_key(key, id);
	ret = ddio_lmdb_errno(mdb_get(ns->db.read, ns->db.dbi[DDIO_NS_FILES], &k, &v));
	if (!ret)
		ret = ddio_ns_file_get(k.mv_data, k.mv_size, v.mv_data, v.mv_size, rec);
	if (ret == -EUCLEAN)
		ddio_env_log(ns->env, DDIO_LOG_ERR,
			     "name space: the record of file %" PRIu64 " is damaged; check it", id);
	return ret;
}

int ddio_ns_find_id(struct ddio_ns *ns, uint64_t id, struct ddio_file_record *rec)
{
	const struct ddio_ns_entry *entry = ddio_ns_entry_find(ns, id);
	int ret;

	if (entry)
		return entry->deleted ? -ENOENT : ddio_file_record_copy(rec, &entry->rec);
	ret = ddio_lmdb_read_begin(&ns->db);
	if (ret)
		return ret;
	ret = read_file(ns, id, rec);
	ddio_lmdb_read_end(&ns->db);
	return ret;
}

static struct ddio_ns_entry *find_entry(const struct ddio_ns *ns, const char *name, bool dying)
{
	struct ddio_ns_entry *entry;
	size_t at;

	for (at = ddio_ns_entry_at(ns, name, 0); at < ns->by_name.n; at++) {
		entry = ns->by_name.v[at];
		if (strcmp(entry->rec.name, name))
			break;
		if (!entry->deleted && !!entry->rec.dying == dying)
			return entry;
	}
	return NULL;
}

/* The file that a key of the names belongs to, if nothing in memory overrides it. */
static int file_of_key(struct ddio_ns *ns, const MDB_val *key, const char *name, bool dying,
		       struct ddio_file_record *rec)
{
	char found[DDIO_MAX_NAME + 1];
	uint64_t id;
	int ret;

	if (ddio_ns_name_get(key->mv_data, key->mv_size, found, &id) || strcmp(found, name))
		return -ENODATA;
	if (ddio_ns_entry_find(ns, id))
		return -ENOENT;
	ret = read_file(ns, id, rec);
	if (ret || !!rec->dying == dying)
		return ret;
	ddio_file_record_free(rec);
	return -ENOENT;
}

static int find_record(struct ddio_ns *ns, const char *name, bool dying,
		       struct ddio_file_record *rec)
{
	uint8_t key[DDIO_NS_NAME_KEY_MAX];
	MDB_val k = ddio_lmdb_val(key, ddio_ns_name_key(key, name, 0)), v;
	MDB_cursor *cursor;
	int ret;

	ret = ddio_lmdb_errno(mdb_cursor_open(ns->db.read, ns->db.dbi[DDIO_NS_NAMES], &cursor));
	if (ret)
		return ret;
	ret = ddio_lmdb_errno(mdb_cursor_get(cursor, &k, &v, MDB_SET_RANGE));
	if (!ret)
		ret = file_of_key(ns, &k, name, dying, rec);
	while (ret == -ENOENT && !mdb_cursor_get(cursor, &k, &v, MDB_NEXT))
		ret = file_of_key(ns, &k, name, dying, rec);
	mdb_cursor_close(cursor);
	return ret == -ENODATA ? -ENOENT : ret;
}

int ddio_ns_find_name(struct ddio_ns *ns, const char *name, bool dying,
		      struct ddio_file_record *rec)
{
	const struct ddio_ns_entry *entry = find_entry(ns, name, dying);
	int ret;

	if (entry)
		return ddio_file_record_copy(rec, &entry->rec);
	ret = ddio_lmdb_read_begin(&ns->db);
	if (ret)
		return ret;
	ret = find_record(ns, name, dying, rec);
	ddio_lmdb_read_end(&ns->db);
	return ret;
}

/**
 * struct walk - through overlay and records at once, by name and identifier
 * @at: next entry of by_name
 * @more: @name and @id are the next of the records
 */
struct walk {
	struct ddio_ns *ns;
	MDB_cursor *cursor;
	size_t at;
	bool more;
	char name[DDIO_MAX_NAME + 1];
	uint64_t id;
};

static void walk_entry(struct walk *walk)
{
	const struct ddio_ns_index *index = &walk->ns->by_name;

	while (walk->at < index->n && index->v[walk->at]->deleted)
		walk->at++;
}

static void walk_record(struct walk *walk, MDB_val *key, MDB_cursor_op op)
{
	MDB_val v;

	for (walk->more = false; !mdb_cursor_get(walk->cursor, key, &v, op); op = MDB_NEXT) {
		if (ddio_ns_name_get(key->mv_data, key->mv_size, walk->name, &walk->id))
			continue;
		if (ddio_ns_entry_find(walk->ns, walk->id))
			continue;
		walk->more = true;
		return;
	}
}

/* Behind all files of the name @after. */
static int walk_begin(struct walk *walk, struct ddio_ns *ns, const char *after)
{
	uint8_t key[DDIO_NS_NAME_KEY_MAX];
	MDB_val k = ddio_lmdb_val(key, ddio_ns_name_key(key, after, UINT64_MAX));
	int ret;

	walk->ns = ns;
	ret = ddio_lmdb_errno(
		mdb_cursor_open(ns->db.read, ns->db.dbi[DDIO_NS_NAMES], &walk->cursor));
	if (ret)
		return ret;
	walk->at = ddio_ns_entry_at(ns, after, UINT64_MAX);
	walk_entry(walk);
	walk_record(walk, &k, MDB_SET_RANGE);
	return 0;
}

static bool walk_end(const struct walk *walk)
{
	return !walk->more && walk->at == walk->ns->by_name.n;
}

/* Copies the next file and goes on behind it. */
static int walk_next(struct walk *walk, struct ddio_file_record *rec)
{
	struct ddio_ns *ns = walk->ns;
	struct ddio_file_record *entry = NULL;
	MDB_val k;
	int order, ret;

	if (walk->at < ns->by_name.n)
		entry = &ns->by_name.v[walk->at]->rec;
	order = !walk->more ? -1 : !entry ? 1 : strcmp(entry->name, walk->name);
	if (entry && (order < 0 || (!order && entry->ref.id < walk->id))) {
		ret = ddio_file_record_copy(rec, entry);
		walk->at++;
		walk_entry(walk);
		return ret;
	}
	ret = read_file(ns, walk->id, rec);
	walk_record(walk, &k, MDB_NEXT);
	return ret;
}

/* A page does not end between files of one name, since the next one begins behind the name. */
static void cut_back(struct ddio_msg_ns_listing *out, const struct walk *walk)
{
	const char *next = walk->more ? walk->name : NULL;
	const char *last = out->recs[out->n - 1].name;
	uint32_t n = out->n;

	if (walk->at < walk->ns->by_name.n &&
	    (!next || strcmp(walk->ns->by_name.v[walk->at]->rec.name, next) < 0))
		next = walk->ns->by_name.v[walk->at]->rec.name;
	if (!next || strcmp(next, last))
		return;
	while (n && !strcmp(out->recs[n - 1].name, last))
		n--;
	if (!n)
		return;
	while (out->n > n)
		ddio_file_record_free(&out->recs[--out->n]);
}

static int list_page(struct walk *walk, uint32_t max, struct ddio_msg_ns_listing *out)
{
	struct ddio_file_record *rec;
	ssize_t len = 0;
	int ret;

	while (out->n < max && !walk_end(walk) && len < (ssize_t)LISTING_MAX) {
		rec = &out->recs[out->n];
		ret = walk_next(walk, rec);
		if (ret == -ENOENT || ret == -EUCLEAN)
			continue;
		if (ret)
			return ret;
		len += ddio_put_record(NULL, 0, rec);
		out->n++;
		/* A page that is full goes without its last file, unless it is all. */
		if (len > (ssize_t)LISTING_MAX && out->n > 1) {
			ddio_file_record_free(&out->recs[--out->n]);
			out->more = 1;
			return 0;
		}
	}
	out->more = !walk_end(walk);
	if (out->more && out->n)
		cut_back(out, walk);
	return 0;
}

int ddio_ns_list(struct ddio_ns *ns, const char *after, uint32_t max,
		 struct ddio_msg_ns_listing *out)
{
	struct walk walk = { .ns = NULL };
	int ret;

	memset(out, 0, sizeof(*out));
	if (strlen(after) > DDIO_MAX_NAME)
		return -EINVAL;
	if (!max || max > DDIO_MAX_BATCH)
		max = DDIO_MAX_BATCH;
	out->recs = calloc(max, sizeof(*out->recs));
	if (!out->recs)
		return -ENOMEM;
	ret = ddio_lmdb_read_begin(&ns->db);
	if (!ret) {
		ret = walk_begin(&walk, ns, after);
		if (!ret) {
			ret = list_page(&walk, max, out);
			mdb_cursor_close(walk.cursor);
		}
		ddio_lmdb_read_end(&ns->db);
	}
	if (ret) {
		ddio_ns_listing_free(out);
		memset(out, 0, sizeof(*out));
	}
	return ret;
}
