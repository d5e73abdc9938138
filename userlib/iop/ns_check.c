// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Are the records of the name space consistent?  Every file has its name, every
 * name its file, no name two living files, and no identifier may come again.  A
 * repair drops what is malformed, writes missing names, gives the younger of two
 * files of one name another name, and never drops a file that can be read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns_priv.h"

/* What a repair has to do: delete a key, or write (or delete) a file's records. */
struct remedy {
	int db;
	MDB_val key;
	struct ddio_ns_change *change;
};

struct check {
	struct ddio_ns *ns;
	MDB_txn *txn;
	bool repair;
	struct ddio_msg_fsck *result;
	struct remedy *remedies;
	size_t nremedies, cap;
	uint64_t above;			/* one more than the largest identifier */
	char living[DDIO_MAX_NAME + 1]; /* the last name with a living file */
};

static void problem(struct check *check, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void problem(struct check *check, const char *fmt, ...)
{
	char text[DDIO_MAX_TEXT] = "name space: ";
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - n, fmt, ap);
	va_end(ap);
	if (!check->result->problems++)
		memcpy(check->result->text, text, sizeof(text));
	ddio_env_log(check->ns->env, DDIO_LOG_WARN, "%s", text);
}

static struct remedy *remedy_new(struct check *check)
{
	size_t cap = check->cap ? check->cap * 2 : 16;
	struct remedy *grown;

	if (check->nremedies == check->cap) {
		grown = realloc(check->remedies, cap * sizeof(*grown));
		if (!grown)
			return NULL;
		check->remedies = grown;
		check->cap = cap;
	}
	grown = &check->remedies[check->nremedies++];
	memset(grown, 0, sizeof(*grown));
	return grown;
}

static int drop_key(struct check *check, int db, const MDB_val *key)
{
	struct remedy *remedy = remedy_new(check);

	if (!remedy)
		return -ENOMEM;
	remedy->db = db;
	remedy->key.mv_data = malloc(key->mv_size + 1);
	if (!remedy->key.mv_data)
		return -ENOMEM;
	remedy->key.mv_size = key->mv_size;
	memcpy(remedy->key.mv_data, key->mv_data, key->mv_size);
	return 0;
}

/* Have @rec and its name written. */
static int write_record(struct check *check, const struct ddio_file_record *rec)
{
	struct remedy *remedy = remedy_new(check);

	if (!remedy)
		return -ENOMEM;
	remedy->change = calloc(1, sizeof(*remedy->change));
	if (!remedy->change)
		return -ENOMEM;
	remedy->change->id = rec->ref.id;
	memcpy(remedy->change->name, rec->name, sizeof(rec->name));
	return ddio_ns_file_put(rec, &remedy->change->value, &remedy->change->len);
}

static void check_fini(struct check *check)
{
	size_t i;

	for (i = 0; i < check->nremedies; i++) {
		free(check->remedies[i].key.mv_data);
		if (check->remedies[i].change)
			free(check->remedies[i].change->value);
		free(check->remedies[i].change);
	}
	free(check->remedies);
	check->remedies = NULL;
	check->nremedies = 0;
	check->cap = 0;
}

static int each_record(struct check *check, int db,
		       int (*fn)(struct check *check, MDB_val *key, MDB_val *val))
{
	MDB_cursor *cursor;
	MDB_val k, v;
	int ret;

	ret = ddio_lmdb_errno(mdb_cursor_open(check->txn, check->ns->db.dbi[db], &cursor));
	if (ret)
		return ret;
	ret = ddio_lmdb_errno(mdb_cursor_get(cursor, &k, &v, MDB_FIRST));
	while (!ret) {
		ret = fn(check, &k, &v);
		if (!ret)
			ret = ddio_lmdb_errno(mdb_cursor_get(cursor, &k, &v, MDB_NEXT));
	}
	mdb_cursor_close(cursor);
	return ret == -ENOENT ? 0 : ret;
}

static int check_file(struct check *check, MDB_val *key, MDB_val *val)
{
	uint8_t name[DDIO_NS_NAME_KEY_MAX];
	struct ddio_file_record rec;
	MDB_val k, v;
	int ret;

	ret = ddio_ns_file_get(key->mv_data, key->mv_size, val->mv_data, val->mv_size, &rec);
	if (ret == -ENOMEM)
		return ret;
	if (ret) {
		problem(check, "the record of a file is damaged");
		return drop_key(check, DDIO_NS_FILES, key);
	}
	check->result->objects++;
	if (rec.ref.id >= check->above)
		check->above = rec.ref.id + 1;
	k = ddio_lmdb_val(name, ddio_ns_name_key(name, rec.name, rec.ref.id));
	ret = ddio_lmdb_errno(mdb_get(check->txn, check->ns->db.dbi[DDIO_NS_NAMES], &k, &v));
	if (ret == -ENOENT) {
		problem(check, "file %" PRIu64 " is not found by its name %s", rec.ref.id,
			rec.name);
		ret = write_record(check, &rec);
	}
	ddio_file_record_free(&rec);
	return ret;
}

/* The name is another living file's already. */
static int rename_twin(struct check *check, struct ddio_file_record *rec, const MDB_val *key)
{
	int ret;

	problem(check, "the files of name %s are more than one; %" PRIu64 " is one of them",
		rec->name, rec->ref.id);
	ret = drop_key(check, DDIO_NS_NAMES, key);
	if (ret)
		return ret;
	snprintf(rec->name, sizeof(rec->name), "%.200s~%" PRIu64, check->living, rec->ref.id);
	return write_record(check, rec);
}

static int check_name(struct check *check, MDB_val *key, MDB_val *val)
{
	struct ddio_file_record rec = { .ndisks = 0 };
	uint8_t id_key[DDIO_NS_KEY_LEN];
	MDB_val k = ddio_lmdb_val(id_key, sizeof(id_key)), v;
	char name[DDIO_MAX_NAME + 1];
	uint64_t id;
	int ret;

	(void)val;
	ret = ddio_ns_name_get(key->mv_data, key->mv_size, name, &id);
	if (!ret) {
		ddio_ns_key(id_key, id);
		ret = ddio_lmdb_errno(
			mdb_get(check->txn, check->ns->db.dbi[DDIO_NS_FILES], &k, &v));
	}
	if (!ret)
		ret = ddio_ns_file_get(k.mv_data, k.mv_size, v.mv_data, v.mv_size, &rec);
	if (ret && ret != -ENOENT && ret != -EUCLEAN)
		return ret;
	if (ret || strcmp(rec.name, name)) {
		problem(check, "the name '%s' is no file's", name);
		ret = drop_key(check, DDIO_NS_NAMES, key);
	} else if (!rec.dying) {
		if (!strcmp(check->living, name))
			ret = rename_twin(check, &rec, key);
		else
			memcpy(check->living, name, sizeof(name));
	}
	ddio_file_record_free(&rec);
	return ret;
}

static int check_meta(struct check *check)
{
	MDB_val k = ddio_lmdb_val(DDIO_NS_META_KEY, strlen(DDIO_NS_META_KEY)), v;
	struct ddio_ns_meta meta;
	int ret;

	ret = ddio_lmdb_errno(mdb_get(check->txn, check->ns->db.dbi[DDIO_NS_META], &k, &v));
	if (!ret)
		ret = ddio_ns_meta_get(v.mv_data, v.mv_size, &meta);
	if (ret || strcmp(meta.cluster, check->ns->cluster))
		problem(check, "the record of cluster and identifiers is %s",
			ret == -ENOENT ? "not there"
			: ret	       ? "damaged"
				       : "another cluster's");
	else if (meta.limit < check->above || check->ns->next < check->above)
		problem(check, "identifier %" PRIu64 " is in use, and would be given out again",
			check->above - 1);
	return 0;
}

static int mend(struct check *check)
{
	struct ddio_ns *ns = check->ns;
	uint64_t limit = ns->limit;
	size_t i;
	int ret = 0;

	for (i = 0; i < check->nremedies && !ret; i++) {
		struct remedy *remedy = &check->remedies[i];

		if (remedy->change) {
			ret = ddio_ns_write_file(ns, check->txn, remedy->change);
			continue;
		}
		ret = mdb_del(check->txn, ns->db.dbi[remedy->db], &remedy->key, NULL);
		if (ret == MDB_NOTFOUND)
			ret = 0;
	}
	if (limit < check->above + DDIO_NS_RESERVE)
		limit = check->above + DDIO_NS_RESERVE;
	return ret ? ret : ddio_ns_write_meta(ns, check->txn, limit);
}

static int check_run(MDB_txn *txn, void *arg)
{
	struct check *check = arg;
	int ret;

	check_fini(check);
	check->txn = txn;
	check->above = 0;
	check->living[0] = '\0';
	memset(check->result, 0, sizeof(*check->result));
	ret = each_record(check, DDIO_NS_FILES, check_file);
	if (!ret)
		ret = each_record(check, DDIO_NS_NAMES, check_name);
	if (!ret)
		ret = check_meta(check);
	if (ret || !check->repair || !check->result->problems)
		return ret;
	ret = mend(check);
	if (!ret)
		check->result->repaired = check->result->problems;
	return ret;
}

int ddio_ns_check(struct ddio_ns *ns, bool repair, struct ddio_msg_fsck *result)
{
	struct check check = { .ns = ns, .repair = repair, .result = result };
	int ret;

	if (!repair) {
		ret = ddio_lmdb_read_begin(&ns->db);
		if (ret)
			return ret;
		ret = check_run(ns->db.read, &check);
		ddio_lmdb_read_end(&ns->db);
	} else if (ns->ndirty || ns->committer.active) {
		return -EBUSY;
	} else {
		ret = ddio_lmdb_write(&ns->db, check_run, &check);
		if (!ret && result->repaired) {
			ddio_ns_overlay_clean(ns);
			if (ns->next < check.above)
				ns->next = check.above;
			if (ns->limit < check.above + DDIO_NS_RESERVE)
				ns->limit = check.above + DDIO_NS_RESERVE;
		}
	}
	check_fini(&check);
	return ret;
}
