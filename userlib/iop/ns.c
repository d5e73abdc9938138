// SPDX-License-Identifier: LGPL-2.1-or-later
/* The name space: opening, and what can be done with a file's name and record. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns_priv.h"

static int read_meta(struct ddio_ns *ns, struct ddio_ns_meta *meta)
{
	MDB_val k = ddio_lmdb_val(DDIO_NS_META_KEY, strlen(DDIO_NS_META_KEY)), v;
	int ret = ddio_lmdb_read_begin(&ns->db);

	if (ret)
		return ret;
	ret = ddio_lmdb_errno(mdb_get(ns->db.read, ns->db.dbi[DDIO_NS_META], &k, &v));
	if (!ret)
		ret = ddio_ns_meta_get(v.mv_data, v.mv_size, meta);
	ddio_lmdb_read_end(&ns->db);
	return ret;
}

static int write_limit(MDB_txn *txn, void *arg)
{
	struct ddio_ns *ns = arg;

	return ddio_ns_write_meta(ns, txn, ns->limit);
}

/* What was reserved before may have been given out: begins behind it. */
static int ns_begin(struct ddio_ns *ns, const char *dir, char *err, size_t err_len)
{
	struct ddio_ns_meta meta = { .limit = 1 };
	int ret = read_meta(ns, &meta);

	if (ret && ret != -ENOENT)
		snprintf(err, err_len, "name space in %s: %s", dir,
			 ret == -EUCLEAN ? "its record is damaged" : mdb_strerror(-ret));
	if (!ret && strcmp(meta.cluster, ns->cluster)) {
		snprintf(err, err_len, "name space in %s: found cluster %s, expected cluster %s",
			 dir, meta.cluster, ns->cluster);
		return -EMEDIUMTYPE;
	}
	if (ret && ret != -ENOENT)
		return ret;
	ns->next = meta.limit;
	ns->limit = ns->next + DDIO_NS_RESERVE;
	ret = ddio_lmdb_write(&ns->db, write_limit, ns);
	if (ret)
		snprintf(err, err_len, "name space in %s: cannot write: %s", dir,
			 mdb_strerror(-ret));
	return ret;
}

int ddio_ns_open(struct ddio_env *env, const char *dir, const char *cluster, bool sync,
		 struct ddio_ns **result, char *err, size_t err_len)
{
	const struct ddio_lmdb_opts opts = {
		.dir = dir,
		.dbs = { [DDIO_NS_META] = "meta", [DDIO_NS_FILES] = "files", [DDIO_NS_NAMES] = "names" },
		.map = DDIO_NS_MAP,
		.sync = sync,
	};
	struct ddio_ns *ns = calloc(1, sizeof(*ns));
	char why[400];
	int ret;

	*result = NULL;
	if (!ns) {
		snprintf(err, err_len, "name space: out of memory");
		return -ENOMEM;
	}
	ns->env = env;
	snprintf(ns->cluster, sizeof(ns->cluster), "%s", cluster);
	ret = ddio_lmdb_open(&ns->db, &opts, why, sizeof(why));
	if (ret) {
		snprintf(err, err_len, "name space: %s", why);
		goto free_ns;
	}
	ret = ns_begin(ns, dir, err, err_len);
	if (ret)
		goto close_db;
	ddio_committer_init(&ns->committer, env, &ns->db, NULL, &ddio_ns_committer_ops, ns);
	*result = ns;
	return 0;

close_db:
	ddio_lmdb_close(&ns->db);
free_ns:
	free(ns);
	return ret;
}

void ddio_ns_close(struct ddio_ns *ns)
{
	if (!ns)
		return;
	if (ns->committer.active) {
		/* The worker is at it: rather lose the memory. */
		ddio_env_log(ns->env, DDIO_LOG_ERR, "name space: closed during a commit");
		return;
	}
	ddio_ns_overlay_fini(ns);
	ddio_lmdb_close(&ns->db);
	free(ns);
}

/* Directories are to come: no slash, nor what would mean one of them. */
static bool name_ok(const char *name)
{
	size_t len = strnlen(name, DDIO_MAX_NAME + 1);

	if (!len || len > DDIO_MAX_NAME || !strcmp(name, ".") || !strcmp(name, ".."))
		return false;
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == '/' || *name == 0x7f)
			return false;
	return true;
}

static bool record_ok(const struct ddio_file_record *rec)
{
	uint32_t block = rec->ref.block;

	return name_ok(rec->name) && block >= DDIO_MIN_BLOCK && block <= DDIO_MAX_BLOCK &&
	       !(block & (block - 1)) && rec->ref.layout < DDIO_LAYOUT_MAX_W && rec->ndisks &&
	       rec->ndisks <= DDIO_MAX_DISKS && rec->size <= DDIO_MAX_FILE;
}

static int take_id(struct ddio_ns *ns, uint64_t *id)
{
	if (ns->limit - ns->next < DDIO_NS_RESERVE / 2 && !ns->committer.active)
		ddio_ns_commit(ns, NULL);
	if (ns->next == ns->limit)
		return -EAGAIN;
	*id = ns->next++;
	return 0;
}

int ddio_ns_create(struct ddio_ns *ns, struct ddio_file_record *rec)
{
	struct ddio_file_record other, made = *rec;
	struct ddio_ns_entry *entry;
	int ret;

	if (!record_ok(rec))
		return -EINVAL;
	ret = ddio_ns_find_name(ns, rec->name, false, &other);
	if (!ret) {
		ddio_file_record_free(&other);
		return -EEXIST;
	}
	if (ret != -ENOENT)
		return ret;
	ret = take_id(ns, &made.ref.id);
	if (ret)
		return ret;
	while (!made.ref.seed)
		ddio_env_random(ns->env, &made.ref.seed, sizeof(made.ref.seed));
	made.ctime_ns = ddio_env_wall(ns->env);
	made.mtime_ns = made.ctime_ns;
	made.dying = 0;
	entry = ddio_ns_entry_make(ns, &made);
	if (!entry)
		return -ENOMEM;
	ddio_ns_entry_dirty(ns, entry);
	*rec = made;
	return 0;
}

int ddio_ns_lookup(struct ddio_ns *ns, const char *name, uint64_t id, struct ddio_file_record *rec)
{
	int ret;

	memset(rec, 0, sizeof(*rec));
	if (name)
		return ddio_ns_find_name(ns, name, false, rec);
	ret = ddio_ns_find_id(ns, id, rec);
	if (ret || !rec->dying)
		return ret;
	ddio_file_record_free(rec);
	memset(rec, 0, sizeof(*rec));
	return -ENOENT;
}

int ddio_ns_remove(struct ddio_ns *ns, const char *name, struct ddio_file_record *rec)
{
	struct ddio_ns_entry *entry;
	int ret;

	memset(rec, 0, sizeof(*rec));
	ret = ddio_ns_find_name(ns, name, false, rec);
	if (ret == -ENOENT)
		return ddio_ns_find_name(ns, name, true, rec);
	if (ret)
		return ret;
	entry = ddio_ns_entry_make(ns, rec);
	if (!entry) {
		ddio_file_record_free(rec);
		memset(rec, 0, sizeof(*rec));
		return -ENOMEM;
	}
	entry->rec.dying = 1;
	rec->dying = 1;
	ddio_ns_entry_dirty(ns, entry);
	return 0;
}

/* The entry of a file that is there, made if need be. */
static int entry_get(struct ddio_ns *ns, uint64_t id, struct ddio_ns_entry **entry)
{
	struct ddio_file_record rec;
	int ret;

	*entry = ddio_ns_entry_find(ns, id);
	if (*entry)
		return (*entry)->deleted ? -ENOENT : 0;
	ret = ddio_ns_find_id(ns, id, &rec);
	if (ret)
		return ret;
	*entry = ddio_ns_entry_make(ns, &rec);
	ddio_file_record_free(&rec);
	return *entry ? 0 : -ENOMEM;
}

/* Return: 0, -ENOENT, -EBUSY (it is not dying), -ENOMEM. */
int ddio_ns_remove_done(struct ddio_ns *ns, uint64_t id)
{
	struct ddio_ns_entry *entry;
	int ret = entry_get(ns, id, &entry);

	if (ret)
		return ret;
	if (!entry->rec.dying)
		return -EBUSY;
	entry->deleted = true;
	ddio_ns_entry_dirty(ns, entry);
	return 0;
}

int ddio_ns_set_size(struct ddio_ns *ns, uint64_t id, uint64_t size, bool exact)
{
	struct ddio_ns_entry *entry;
	int ret;

	if (size > DDIO_MAX_FILE)
		return -EFBIG;
	ret = entry_get(ns, id, &entry);
	if (ret)
		return ret;
	if (entry->rec.dying)
		return -ENOENT;
	if (!exact && size <= entry->rec.size)
		return 0;
	entry->rec.size = size;
	entry->rec.mtime_ns = ddio_env_wall(ns->env);
	ddio_ns_entry_dirty(ns, entry);
	return 0;
}
