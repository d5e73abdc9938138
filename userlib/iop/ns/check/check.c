// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks that the records of the name space are consistent: reads every inode, then compares every name
 * with them, then the counts in inodes with the names found.  A repair drops records that are malformed
 * or belong to nothing, and enters readable inodes without a name into /lost+found.
 *
 * It is done in steps, on the records as they were when it began.  A repair is one transaction, if nothing has changed
 * meanwhile: at the end, or as soon as it has much to do.  Then all is looked at again, since what was found until then is
 * what the rest depends on.
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
		c->result.objects += S_ISREG(in.mode);
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

static int mend(struct lmdb *db, MDB_txn *txn, void *arg)
{
	struct ns_check *c = arg;
	const struct kv_node *node;
	int ret = 0;

	for (node = c->fixes.head[0]; node && !ret; node = node->next[0]) {
		MDB_val k = lmdb_val(kv_node_key(node), node->key_len);
		MDB_val v = lmdb_val(node->value, node->len);

		if (node->value)
			ret = mdb_put(txn, db->dbi[node->db], &k, &v, 0);
		else
			ret = mdb_del(txn, db->dbi[node->db], &k, NULL);
		if (ret == MDB_NOTFOUND)
			ret = 0;
	}
	return ret;
}

/* What is done, in this order: with each record of a database, with each inode, or once. */
static const struct ns_check_pass {
	int db;
	int (*record)(struct ns_check *c, const MDB_val *k, const MDB_val *v);
	int (*inode)(struct ns_check *c, struct seen_inode *s);
	int (*once)(struct ns_check *c);
} passes[] = {
	{ .db = NS_INODES, .record = check_inode },
	{ .once = check_root },
	{ .db = NS_NAMES, .record = check_name },
	{ .db = NS_ORDER, .record = check_order },
	{ .db = NS_XATTRS, .record = check_xattr },
	{ .db = NS_ORPHANS, .record = check_orphan },
	{ .db = NS_DONE, .record = check_done },
	{ .db = NS_MOUNTS, .record = check_mount },
	{ .once = check_meta },
	{ .inode = check_reach },
	{ .inode = check_nameless },
	{ .inode = check_counts },
};
#define NR_PASSES (sizeof(passes) / sizeof(passes[0]))

/* Brings memory in line with the repaired records. */
static void mended(struct ns *ns, const struct ns_check *c)
{
	if (ns->next < c->above)
		ns->next = c->above;
	if (ns->limit < c->above + NS_RESERVE)
		ns->limit = c->above + NS_RESERVE;
	ns->reserving = ns->limit;
	/* Directories may have been found, or cut off. */
	ns->moves++;
	if (c->pass == NR_PASSES)
		ns->count = c->index.n;
}

static int repair(struct ns_check *c)
{
	int ret;

	if (!kv_walk_newest(c->ns->kv, &c->walk))
		return -EBUSY;
	ret = mend_meta(c);
	if (!ret)
		ret = kv_direct(c->ns->kv, mend, c);
	if (ret)
		return ret;
	mended(c->ns, c);
	c->result.repaired = c->result.problems;
	kv_map_clear(&c->fixes);
	return 0;
}

static int step_record(struct ns_check *c, const struct ns_check_pass *pass)
{
	MDB_val k, v;
	int ret = lmdb_walk_next(&c->walk, c->walk.db->dbi[pass->db], &k, &v);

	if (ret == -ENOENT)
		return CHECK_ENOUGH;
	return ret ? ret : pass->record(c, &k, &v);
}

static int step_inode(struct ns_check *c, const struct ns_check_pass *pass)
{
	int ret;

	if (c->at->next == &c->seen)
		return CHECK_ENOUGH;
	ret = pass->inode(c, ddio_list_entry(c->at->next, struct seen_inode, link));
	if (!ret)
		c->at = c->at->next;
	return ret;
}

/* Returns 0, CHECK_ENOUGH if the pass is over, or -errno. */
static int step(struct ns_check *c, const struct ns_check_pass *pass)
{
	int ret;

	if (pass->record)
		return step_record(c, pass);
	if (pass->inode)
		return step_inode(c, pass);
	ret = pass->once(c);
	return ret ? ret : CHECK_ENOUGH;
}

static void restart(struct ns_check *c)
{
	kv_map_clear(&c->fixes);
	check_see_none(c);
	/* Growing in steps would have all of them moved in one. */
	ddio_hash_room(&c->index, c->ns->count);
	c->above = NS_FIRST;
	c->pass = 0;
	c->at = &c->seen;
	c->result.problems = c->before;
	c->result.repaired = c->before;
	c->result.objects = 0;
	c->err = kv_walk_begin(c->ns->kv, &c->walk);
}

int ns_check_begin(struct ns *ns, bool repair, struct ns_check **check)
{
	struct ns_check *c;

	*check = NULL;
	if (repair && !kv_clean(ns->kv))
		return -EBUSY;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->ns = ns;
	c->repair = repair;
	kv_map_init(&c->fixes);
	ddio_list_init(&c->seen);
	restart(c);
	*check = c;
	return 0;
}

static bool much_to_do(const struct ns_check *c)
{
	return c->fixes.n >= c->ns->bounds->at[BOUND_FIXES].limit && c->rounds < CHECK_ROUNDS;
}

static void over(struct ns_check *c)
{
	c->over = true;
	check_see_none(c);
}

/* Repairs what has been found; begins again if that was not all. */
static void turn_over(struct ns_check *c)
{
	bound_seen(&c->ns->bounds->at[BOUND_FIXES], c->fixes.n);
	if (much_to_do(c))
		c->ns->bounds->at[BOUND_FIXES].hits++;
	if (!c->err && c->repair && c->result.problems > c->before)
		c->err = repair(c);
	if (c->err || !c->repair || c->pass == NR_PASSES) {
		over(c);
		return;
	}
	c->before = c->result.problems;
	c->rounds++;
	lmdb_walk_end(&c->walk);
	restart(c);
}

/* Returns how many steps are left. */
static uint32_t look(struct ns_check *c, uint32_t steps)
{
	int ret;

	if (!c->walk.txn && !c->err) {
		lmdb_walk_end(&c->walk);
		restart(c);
	}
	for (; steps && !c->err && c->pass < NR_PASSES && !much_to_do(c); steps--) {
		ret = step(c, &passes[c->pass]);
		if (ret < 0)
			c->err = ret;
		if (ret != CHECK_ENOUGH)
			continue;
		c->pass++;
		c->at = &c->seen;
	}
	if (c->err || c->pass == NR_PASSES || much_to_do(c))
		turn_over(c);
	return steps;
}

bool ns_check_step(struct ns_check *c, uint32_t steps)
{
	if (!c->over)
		steps = look(c, steps);
	while (c->over && steps && check_free_some(c))
		steps--;
	return !c->over || c->waste;
}

void ns_check_give_up(struct ns_check *c)
{
	if (!c->err)
		c->err = -ECANCELED;
	over(c);
}

int ns_check_end(struct ns_check *c, struct ddio_msg_fsck *result)
{
	int ret = c->err;

	if (!ret && result)
		*result = c->result;
	lmdb_walk_end(&c->walk);
	kv_map_clear(&c->fixes);
	check_see_none(c);
	while (check_free_some(c))
		;
	free(c);
	return ret;
}
