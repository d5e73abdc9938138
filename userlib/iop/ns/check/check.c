// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks that the records of the name space are consistent: reads every inode, then compares every name
 * with them, then the counts in inodes with the names found.  A repair drops records that are malformed
 * or belong to nothing, and enters readable inodes without a name into /lost+found.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/check/check.h"

static int check_inode(struct ns_check *c, const MDB_val *k, const MDB_val *v)
{
	struct inode in;
	struct seen_inode *s;
	uint64_t ino = 0;
	int ret = -EUCLEAN;

	if (ns_key_get(k->mv_data, k->mv_size, &ino))
		ret = ns_inode_get(ino, v->mv_data, v->mv_size, &in);
	if (ret == -ENOMEM)
		return ret;
	if (ino >= c->above)
		c->above = ino + 1;
	if (ret) {
		check_problem(c, "the record of inode %" PRIu64 " is damaged", ino);
		return check_drop(c, NS_INODES, k);
	}
	s = check_see(c, ino);
	if (s) {
		s->type = in.mode & S_IFMT;
		s->nlink = in.nlink;
		s->parent = in.parent;
		s->entries = in.entries;
		s->cookie = in.cookie;
		c->result->objects += S_ISREG(in.mode);
	}
	inode_free(&in);
	return s ? 0 : -ENOMEM;
}

static int check_root(struct ns_check *c)
{
	struct inode root = { .ino = DDIO_FS_ROOT,
			      .mode = S_IFDIR | 0755,
			      .nlink = 2,
			      .parent = DDIO_FS_ROOT,
			      .cookie = NS_COOKIE };
	struct seen_inode *s = check_seen(c, DDIO_FS_ROOT);

	if (s && S_ISDIR(s->type))
		return 0;
	check_problem(c, "the root directory is missing");
	if (!s)
		s = check_see(c, DDIO_FS_ROOT);
	if (!s)
		return -ENOMEM;
	s->type = S_IFDIR;
	s->nlink = 2;
	s->parent = DDIO_FS_ROOT;
	s->entries = 0;
	s->cookie = NS_COOKIE;
	ns_touch(c->ns, &root, true);
	return check_put_inode(c, &root);
}

static int check_meta(struct ns_check *c)
{
	struct ns_meta meta = { .limit = 0 };
	MDB_val v;
	int ret = check_get(c, NS_META, NS_META_KEY, strlen(NS_META_KEY), &v);

	if (!ret)
		ret = ns_meta_get(v.mv_data, v.mv_size, &meta);
	if (ret || strcmp(meta.cluster, c->ns->cluster))
		check_problem(c, "the record of cluster and inode numbers is %s",
			      ret == -ENOENT ? "missing"
			      : ret	     ? "damaged"
					     : "another cluster's");
	else if (meta.limit < c->above || c->ns->next < c->above)
		check_problem(c, "inode number %" PRIu64 " is in use, but would be allocated again",
			      c->above - 1);
	return 0;
}

static int mend_meta(struct ns_check *c)
{
	struct ns_meta meta = { .limit = c->ns->limit };
	uint8_t value[NS_META_MAX];

	if (meta.limit < c->above + NS_RESERVE)
		meta.limit = c->above + NS_RESERVE;
	memcpy(meta.cluster, c->ns->cluster, sizeof(meta.cluster));
	return kv_map_set(&c->fixes, NS_META, NS_META_KEY, strlen(NS_META_KEY), value,
			  ns_meta_put(value, &meta));
}

static int mend(struct ns_check *c)
{
	const struct kv_node *node;
	int ret = mend_meta(c);

	for (node = c->fixes.head[0]; node && !ret; node = node->next[0]) {
		MDB_val k = lmdb_val(kv_node_key(node), node->key_len);
		MDB_val v = lmdb_val(node->value, node->len);

		if (node->value)
			ret = mdb_put(c->txn, c->db->dbi[node->db], &k, &v, 0);
		else
			ret = mdb_del(c->txn, c->db->dbi[node->db], &k, NULL);
		if (ret == MDB_NOTFOUND)
			ret = 0;
	}
	return ret;
}

static void check_clear(struct ns_check *c)
{
	struct seen_inode *s, *tmp;

	kv_map_clear(&c->fixes);
	ddio_list_for_each_entry_safe(s, tmp, &c->seen, link)
		free(s);
	ddio_list_init(&c->seen);
	ddio_hash_fini(&c->index);
	c->above = NS_FIRST;
	memset(c->result, 0, sizeof(*c->result));
}

/* Runs the whole check; may be called again with a larger map. */
static int check_run(struct lmdb *db, MDB_txn *txn, void *arg)
{
	struct ns_check *c = arg;
	int ret;

	check_clear(c);
	c->db = db;
	c->txn = txn;
	ret = check_each(c, NS_INODES, check_inode);
	if (!ret)
		ret = check_root(c);
	if (!ret)
		ret = ns_check_names(c);
	if (!ret)
		ret = check_meta(c);
	if (!ret)
		ret = check_tree(c);
	if (ret || !c->repair || !c->result->problems)
		return ret;
	ret = mend(c);
	if (!ret)
		c->result->repaired = c->result->problems;
	return ret;
}

/* Brings memory in line with the repaired records. */
static void mended(struct ns *ns, const struct ns_check *c)
{
	if (ns->next < c->above)
		ns->next = c->above;
	if (ns->limit < c->above + NS_RESERVE)
		ns->limit = c->above + NS_RESERVE;
	ns->reserving = ns->limit;
	ns->count = c->index.n;
}

int ns_check(struct ns *ns, bool repair, struct ddio_msg_fsck *result)
{
	struct ns_check c = { .ns = ns, .repair = repair, .result = result };
	struct ddio_msg_fsck kept;
	int ret;

	kv_map_init(&c.fixes);
	ddio_list_init(&c.seen);
	if (repair)
		ret = kv_direct(ns->kv, check_run, &c);
	else
		ret = kv_direct_read(ns->kv, check_run, &c);
	if (!ret && result->repaired)
		mended(ns, &c);
	kept = *result;
	check_clear(&c);
	*result = kept;
	return ret;
}
