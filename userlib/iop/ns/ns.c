// SPDX-License-Identifier: LGPL-2.1-or-later
/* The name space: opening, numbers of inodes, changes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "iop/lmdb/value.h"
#include "iop/ns/priv.h"

static int read_meta(struct ns *ns, struct ns_meta *meta)
{
	const void *value;
	size_t len;
	int ret = kv_get(ns->kv, NS_META, NS_META_KEY, strlen(NS_META_KEY), &value, &len);

	return ret ? ret : ns_meta_get(value, len, meta);
}

/* Belongs to who runs the daemon. */
static void make_root(struct ns *ns, struct inode *root)
{
	memset(root, 0, sizeof(*root));
	root->ino = DDIO_FS_ROOT;
	root->mode = S_IFDIR | 0755;
	root->nlink = 2;
	root->uid = geteuid();
	root->gid = getegid();
	root->parent = DDIO_FS_ROOT;
	root->cookie = NS_COOKIE;
	ns_touch(ns, root, true);
	root->atime = root->btime = root->mtime;
}

/* What must be durable before the first request, and how many inodes there are. */
static int begin_records(struct lmdb *db, MDB_txn *txn, void *arg)
{
	struct ns *ns = arg;
	uint8_t key[NS_KEY_LEN], value[NS_META_MAX];
	MDB_val k = lmdb_val(NS_META_KEY, strlen(NS_META_KEY));
	MDB_val v = lmdb_val(value, ns_make_meta(ns, ns->limit, value));
	struct inode root;
	MDB_stat stat;
	int ret = mdb_put(txn, db->dbi[NS_META], &k, &v, 0);

	if (ret)
		return ret;
	make_root(ns, &root);
	ns_key(key, root.ino);
	k = lmdb_val(key, sizeof(key));
	v = lmdb_val(value, (size_t)ns_inode_put(value, sizeof(value), &root));
	ret = mdb_put(txn, db->dbi[NS_INODES], &k, &v, MDB_NOOVERWRITE);
	if (ret && ret != MDB_KEYEXIST)
		return ret;
	ret = ns_life_put(ns, db, txn);
	if (ret)
		return ret;
	ret = mdb_stat(txn, db->dbi[NS_INODES], &stat);
	ns->count = stat.ms_entries;
	return ret;
}

/* Begins after the numbers reserved before, which may have been given out. */
static int ns_start(struct ns *ns, const char *dir, char *err, size_t err_len)
{
	struct ns_meta meta = { .limit = NS_FIRST };
	int ret = read_meta(ns, &meta);

	if (ret == -EPROTONOSUPPORT)
		snprintf(err, err_len,
			 "name space in %s: it is of another version of ddio, and this one reads "
			 "version %d only; copy its files away with the version that made it, then "
			 "remove that directory to start afresh",
			 dir, NS_VERSION);
	else if (ret && ret != -ENOENT)
		snprintf(err, err_len, "name space in %s: %s", dir,
			 ret == -EUCLEAN ? "its record is damaged" : mdb_strerror(-ret));
	if (!ret && strcmp(meta.cluster, ns->cluster)) {
		snprintf(err, err_len, "name space in %s: found cluster %s, expected cluster %s",
			 dir, meta.cluster, ns->cluster);
		return -EMEDIUMTYPE;
	}
	if (ret && ret != -ENOENT)
		return ret;
	ns->next = meta.limit < NS_FIRST ? NS_FIRST : meta.limit;
	ns->limit = ns->next + NS_RESERVE;
	ret = ns_life_next(ns);
	if (!ret)
		ret = kv_direct(ns->kv, begin_records, ns);
	if (!ret)
		ret = ns_mounts_load(ns);
	if (!ret)
		ret = ns_disks_missing(ns);
	if (ret)
		snprintf(err, err_len, "name space in %s: cannot write: %s", dir,
			 mdb_strerror(-ret));
	return ret;
}

static bool record_intact(const char *db, const MDB_val *key, const MDB_val *value)
{
	/* Without it, numbers would be given out twice: nobody removes it, and ns_start() refuses it. */
	if (!strcmp(db, "meta"))
		return true;
	return value_record_intact(key, value);
}

static int open_kv(struct ns *ns, const struct ns_opts *opts, char *err, size_t err_len)
{
	const struct kv_opts kv = {
		.dir = opts->dir,
		.dbs = { [NS_META] = "meta",
			 [NS_INODES] = "inodes",
			 [NS_NAMES] = "names",
			 [NS_ORDER] = "order",
			 [NS_XATTRS] = "xattrs",
			 [NS_ORPHANS] = "orphans",
			 [NS_DONE] = "done",
			 [NS_MOUNTS] = "mounts",
			 [NS_DISKS] = "disks" },
		.map = NS_MAP,
		.reserve = opts->reserve,
		.sync = opts->sync,
		.repair = opts->repair,
		.intact = record_intact,
	};
	char why[400];
	int ret = kv_open(ns->env, &kv, &ns->kv, why, sizeof(why));

	if (ret)
		snprintf(err, err_len, "name space: %s", why);
	return ret;
}

int ns_open(struct ddio_env *env, const struct ns_opts *opts, struct ns **result, char *err,
	    size_t err_len)
{
	struct ns *ns = calloc(1, sizeof(*ns));
	int ret;

	*result = NULL;
	if (!ns) {
		snprintf(err, err_len, "name space: out of memory");
		return -ENOMEM;
	}
	ns->env = env;
	ns->block = opts->block;
	ns->ndisks = opts->ndisks;
	ns->accepted = calloc(ns->ndisks + 1ull, sizeof(*ns->accepted));
	if (!ns->accepted) {
		snprintf(err, err_len, "name space: out of memory");
		ret = -ENOMEM;
		goto free_ns;
	}
	ns->timeout_ns = opts->timeout_ns;
	ns->began = ddio_env_wall(env);
	ns->sync = opts->sync;
	if (opts->machine && opts->machine[0])
		ns->machine = ddio_hash_bytes(opts->machine, strlen(opts->machine));
	bounds_init(&ns->own);
	ns->bounds = opts->bounds ? opts->bounds : &ns->own;
	ddio_list_init(&ns->mounts);
	ddio_list_init(&ns->ending);
	ddio_list_init(&ns->condemned);
	ddio_list_init(&ns->silent);
	ddio_list_init(&ns->held_up);
	ddio_list_init(&ns->clones);
	snprintf(ns->cluster, sizeof(ns->cluster), "%s", opts->cluster);
	ret = open_kv(ns, opts, err, err_len);
	if (ret)
		goto free_ns;
	ret = ns_start(ns, opts->dir, err, err_len);
	if (ret)
		goto close_kv;
	*result = ns;
	return 0;

close_kv:
	ns_mounts_free(ns);
	free(ns->removed);
	kv_close(ns->kv);
free_ns:
	free(ns->accepted);
	free(ns);
	return ret;
}

void ns_close(struct ns *ns)
{
	if (!ns || bug_on(ns->reserve_active, "name space: closed during a commit"))
		return;
	ns_mounts_free(ns);
	free(ns->removed);
	kv_close(ns->kv);
	free(ns->accepted);
	free(ns);
}

void ns_commit(struct ns *ns, struct commit *commit)
{
	kv_commit(ns->kv, commit);
}

void ns_flush(struct ns *ns, struct commit *commit)
{
	kv_flush(ns->kv, commit);
}

struct lmdb_left ns_left(const struct ns *ns)
{
	return kv_left(ns->kv);
}

bool ns_full(const struct ns *ns)
{
	return kv_full(ns->kv);
}

uint64_t ns_changes(const struct ns *ns)
{
	return kv_changes(ns->kv);
}

bool ns_sync(const struct ns *ns)
{
	return ns->sync;
}

uint64_t ns_inodes(struct ns *ns)
{
	return ns->count;
}
