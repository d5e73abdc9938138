// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks the records that must belong to an inode. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "iop/ns/check/check.h"

/* Checks the record by cookie that belongs to a name; -ENOENT: there is none, or another name's. */
static int order_matches(struct ns_check *c, uint64_t dir, const char *name,
			 const struct ns_entry *e)
{
	uint8_t key[NS_ORDER_KEY_LEN];
	struct ns_entry o;
	MDB_val v;
	int ret;

	ns_order_key(key, dir, e->cookie);
	ret = check_get(c, NS_ORDER, key, sizeof(key), &v);
	if (ret)
		return ret;
	if (ns_entry_get(key, sizeof(key), v.mv_data, v.mv_size, true, &o) ||
	    strcmp(o.name, name) || o.ino != e->ino || o.type != e->type || o.cookie != e->cookie)
		return -ENOENT;
	return 0;
}

/* Counts a good name for its directory and its inode. */
static void name_counts(struct seen_inode *dir, struct seen_inode *s, const struct ns_entry *e)
{
	s->links++;
	s->in = dir->ino;
	s->place = e->cookie;
	dir->children++;
	dir->subdirs += S_ISDIR(s->type);
	if (e->cookie >= dir->top)
		dir->top = e->cookie + 1;
}

static int name_order(struct ns_check *c, struct seen_inode *dir, struct seen_inode *s,
		      const char *name, struct ns_entry *e)
{
	bool type_ok = e->type == s->type;
	int ret = order_matches(c, dir->ino, name, e);

	if (ret && ret != -ENOENT)
		return ret;
	if (!type_ok)
		check_problem(c, "the entry '%s' has another type than inode %" PRIu64, name,
			      s->ino);
	else if (ret)
		check_problem(c, "the entry '%s' has no record by cookie", name);
	if (type_ok && !ret)
		return 0;
	e->type = s->type;
	if (ret) {
		/* After all others: the cookie may be another entry's. */
		e->cookie = (dir->cookie > dir->top ? dir->cookie : dir->top);
		if (e->cookie < NS_COOKIE)
			e->cookie = NS_COOKIE;
		dir->cookie = e->cookie + 1;
		dir->top = e->cookie + 1;
		dir->fix = true;
	}
	return check_put_entry(c, dir->ino, name, e);
}

int check_name(struct ns_check *c, const MDB_val *k, const MDB_val *v)
{
	char name[DDIO_MAX_NAME + 1];
	struct seen_inode *dir, *s;
	struct ns_entry e;
	uint64_t in;
	int ret = ns_name_key_get(k->mv_data, k->mv_size, &in, name);

	if (ret || ns_entry_get(k->mv_data, k->mv_size, v->mv_data, v->mv_size, false, &e) ||
	    strchr(name, '/') || ns_is_dot(name)) {
		check_problem(c, "the entry '%s' is damaged", name);
		return check_drop(c, NS_NAMES, k);
	}
	dir = check_seen(c, in);
	s = check_seen(c, e.ino);
	if (!dir || !S_ISDIR(dir->type)) {
		check_problem(c, "the directory of the name '%s' does not exist", name);
		return check_drop(c, NS_NAMES, k);
	}
	if (!s || s->ino == DDIO_FS_ROOT) {
		check_problem(c, "the name '%s' has no inode", name);
		return check_drop(c, NS_NAMES, k);
	}
	if (S_ISDIR(s->type) && s->links) {
		check_problem(c, "directory %" PRIu64 " has a second name '%s'", s->ino, name);
		return check_drop(c, NS_NAMES, k);
	}
	ret = name_order(c, dir, s, name, &e);
	name_counts(dir, s, &e);
	return ret;
}

int check_order(struct ns_check *c, const MDB_val *k, const MDB_val *v)
{
	uint8_t key[NS_NAME_KEY_MAX];
	struct ns_entry o, e;
	uint64_t dir, cookie;
	MDB_val name;
	size_t len;
	int ret;

	if (!ns_order_key_get(k->mv_data, k->mv_size, &dir, &cookie) ||
	    ns_entry_get(k->mv_data, k->mv_size, v->mv_data, v->mv_size, true, &o)) {
		/* If there is a name to it, that has been reported. */
		check_problem(c, "the record of an entry by cookie is damaged");
		goto drop;
	}
	len = ns_name_key(key, dir, o.name);
	ret = check_get_fixed(c, NS_NAMES, key, len, &name);
	if (ret && ret != -ENOENT)
		return ret;
	if (!ret && !ns_entry_get(key, len, name.mv_data, name.mv_size, false, &e) &&
	    e.cookie == cookie && e.ino == o.ino)
		return 0;
	check_problem(c, "'%s' has a record by cookie in directory %" PRIu64 ", but none by name",
		      o.name, dir);
drop:
	/* The repair may put another record there. */
	return kv_map_find(&c->fixes, NS_ORDER, k->mv_data, k->mv_size)
		       ? 0
		       : check_drop(c, NS_ORDER, k);
}

int check_xattr(struct ns_check *c, const MDB_val *k, const MDB_val *v)
{
	char name[DDIO_MAX_NAME + 1];
	const uint8_t *data;
	size_t len;
	uint64_t ino;

	if (!ns_name_key_get(k->mv_data, k->mv_size, &ino, name) && check_seen(c, ino) &&
	    !ns_bytes_get(k->mv_data, k->mv_size, v->mv_data, v->mv_size, &data, &len))
		return 0;
	check_problem(c, "an extended attribute '%s' is damaged or has no inode", name);
	return check_drop(c, NS_XATTRS, k);
}

int check_orphan(struct ns_check *c, const MDB_val *k, const MDB_val *v)
{
	struct seen_inode *s = NULL;
	uint64_t ino;

	(void)v;
	if (ns_key_get(k->mv_data, k->mv_size, &ino))
		s = check_seen(c, ino);
	if (s && !s->links) {
		s->orphan = true;
		return 0;
	}
	check_problem(c, "a file is recorded as an orphan that %s",
		      s ? "has a name" : "does not exist");
	return check_drop(c, NS_ORPHANS, k);
}

int check_done(struct ns_check *c, const MDB_val *k, const MDB_val *v)
{
	uint64_t result;

	if (k->mv_size == NS_DONE_KEY_LEN &&
	    !ns_result_get(k->mv_data, k->mv_size, v->mv_data, v->mv_size, &result))
		return 0;
	check_problem(c, "the result of a mount's request is damaged");
	return check_drop(c, NS_DONE, k);
}

int check_mount(struct ns_check *c, const MDB_val *k, const MDB_val *v)
{
	(void)v;
	if (k->mv_size == DDIO_GROUP_ID_LEN)
		return 0;
	check_problem(c, "the record of a mount is damaged");
	return check_drop(c, NS_MOUNTS, k);
}
