// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks that everything is under the root, and that inodes count their names correctly. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/check/check.h"

static int load(struct ns_check *c, uint64_t ino, struct inode *in)
{
	uint8_t key[NS_KEY_LEN];
	MDB_val v;
	int ret;

	ns_key(key, ino);
	ret = check_get_fixed(c, NS_INODES, key, sizeof(key), &v);
	return ret ? ret : ns_inode_get(ino, v.mv_data, v.mv_size, in);
}

static int make_found_dir(struct ns_check *c, uint64_t ino)
{
	struct inode in = { .ino = ino,
			    .mode = S_IFDIR | 0700,
			    .nlink = 2,
			    .parent = DDIO_FS_ROOT,
			    .cookie = NS_COOKIE };

	ns_touch(c->ns, &in, true);
	in.atime = in.btime = in.mtime;
	return check_put_inode(c, &in);
}

/* Adds an entry to a directory. */
static int add_entry(struct ns_check *c, uint64_t dir_ino, const char *name, uint64_t ino)
{
	struct seen_inode *dir = check_seen(c, dir_ino), *s = check_seen(c, ino);
	struct ns_entry e = { .ino = ino, .type = s->type };

	e.cookie = dir->cookie > dir->top ? dir->cookie : dir->top;
	if (e.cookie < NS_COOKIE)
		e.cookie = NS_COOKIE;
	dir->cookie = dir->top = e.cookie + 1;
	dir->children++;
	dir->subdirs += S_ISDIR(s->type);
	dir->fix = true;
	s->links++;
	s->in = dir_ino;
	s->fix = true;
	return check_put_entry(c, dir_ino, name, &e);
}

/* Finds or makes /lost+found; the root stands in if the name is not a directory's. */
static int found_dir(struct ns_check *c, uint64_t *ino)
{
	uint8_t key[NS_NAME_KEY_MAX];
	size_t len = ns_name_key(key, DDIO_FS_ROOT, CHECK_LOST_FOUND);
	struct ns_entry e = { .ino = 0 };
	struct seen_inode *s;
	MDB_val v;
	int ret = check_get_fixed(c, NS_NAMES, key, len, &v);

	if (!ret)
		ret = ns_entry_get(key, len, v.mv_data, v.mv_size, false, &e);
	if (!ret) {
		*ino = S_ISDIR(e.type) ? e.ino : DDIO_FS_ROOT;
		return 0;
	}
	*ino = c->above > c->ns->next ? c->above : c->ns->next;
	c->above = *ino + 1;
	s = check_see(c, *ino);
	if (!s)
		return -ENOMEM;
	s->type = S_IFDIR;
	s->nlink = 2;
	s->parent = DDIO_FS_ROOT;
	s->cookie = NS_COOKIE;
	s->state = SEEN_GOOD;
	ret = make_found_dir(c, *ino);
	return ret ? ret : add_entry(c, DDIO_FS_ROOT, CHECK_LOST_FOUND, *ino);
}

/* Gives a readable inode without a name one. */
static int find_lost(struct ns_check *c, uint64_t ino)
{
	char name[32];
	uint64_t dir;
	int ret;

	if (!c->repair)
		return 0;
	ret = found_dir(c, &dir);
	if (ret)
		return ret;
	snprintf(name, sizeof(name), "#%" PRIu64, ino);
	return add_entry(c, dir, name, ino);
}

/* Takes the name of one directory of a circle away: it is then found like others without one. */
static int cut_circle(struct ns_check *c, struct seen_inode *s)
{
	struct seen_inode *dir = check_seen(c, s->in);
	uint8_t key[NS_ORDER_KEY_LEN], name_key[NS_NAME_KEY_MAX];
	struct ns_entry e;
	MDB_val k, v;
	int ret;

	ns_order_key(key, s->in, s->place);
	ret = check_get_fixed(c, NS_ORDER, key, sizeof(key), &v);
	if (!ret && ns_entry_get(key, sizeof(key), v.mv_data, v.mv_size, true, &e))
		ret = -EUCLEAN;
	k = lmdb_val(key, sizeof(key));
	if (!ret)
		ret = check_drop(c, NS_ORDER, &k);
	if (!ret) {
		k = lmdb_val(name_key, ns_name_key(name_key, s->in, e.name));
		ret = check_drop(c, NS_NAMES, &k);
	}
	dir->children--;
	dir->subdirs--;
	dir->fix = true;
	s->links = 0;
	return ret;
}

/* What the way up from a directory has come to, with @c->climb: the way is then gone once more to give all on it that state. */
static int settle_from(struct ns_check *c, struct seen_inode *s, int state)
{
	c->verdict = state;
	c->climb = s;
	return CHECK_MORE;
}

/* Goes one directory up from @s. */
static int climb(struct ns_check *c, struct seen_inode *s)
{
	struct seen_inode *at = c->climb;

	if (!at || at->state == SEEN_LOST)
		return settle_from(c, s, SEEN_LOST);
	if (at->state == SEEN_GOOD)
		return settle_from(c, s, SEEN_GOOD);
	if (at->state == SEEN_ON_PATH) {
		c->circle = at;
		return settle_from(c, s, c->repair ? SEEN_GOOD : SEEN_LOST);
	}
	if (at->ino == DDIO_FS_ROOT || !at->links) {
		at->state = at->ino == DDIO_FS_ROOT ? SEEN_GOOD : SEEN_LOST;
		return settle_from(c, s, at->state);
	}
	at->state = SEEN_ON_PATH;
	c->climb = check_seen(c, at->in);
	return CHECK_MORE;
}

static int circle_found(struct ns_check *c)
{
	struct seen_inode *s = c->circle;
	int ret;

	c->circle = NULL;
	check_problem(c, "directory %" PRIu64 " lies within itself", s->ino);
	if (!c->repair)
		return 0;
	ret = cut_circle(c, s);
	return ret ? ret : find_lost(c, s->ino);
}

/* Gives one directory more of the way up its state. */
static int settle(struct ns_check *c)
{
	struct seen_inode *at = c->climb;

	if (at && at->state == SEEN_ON_PATH) {
		at->state = c->verdict;
		c->climb = check_seen(c, at->in);
		return CHECK_MORE;
	}
	c->verdict = SEEN_UNKNOWN;
	c->climb = NULL;
	return c->circle ? circle_found(c) : 0;
}

int check_reach(struct ns_check *c, struct seen_inode *s)
{
	if (!S_ISDIR(s->type))
		return 0;
	if (c->verdict != SEEN_UNKNOWN)
		return settle(c);
	if (!c->climb) {
		if (s->state != SEEN_UNKNOWN)
			return 0;
		c->climb = s;
	}
	return climb(c, s);
}

int check_nameless(struct ns_check *c, struct seen_inode *s)
{
	uint8_t key[NS_KEY_LEN], value[NS_BYTES_EXTRA];

	if (s->ino == DDIO_FS_ROOT || s->links)
		return 0;
	if (!S_ISDIR(s->type) && s->orphan && !s->nlink)
		return 0;
	if (!S_ISDIR(s->type) && (s->orphan || !s->nlink)) {
		check_problem(c, "inode %" PRIu64 " is half removed", s->ino);
		s->fix = true;
		ns_key(key, s->ino);
		ns_bytes_put(value, key, sizeof(key), NULL, 0);
		return kv_map_set(&c->fixes, NS_ORPHANS, key, sizeof(key), value, sizeof(value));
	}
	check_problem(c, "%s %" PRIu64 " has no name", S_ISDIR(s->type) ? "directory" : "inode",
		      s->ino);
	return find_lost(c, s->ino);
}

static uint32_t right_nlink(const struct seen_inode *s)
{
	return S_ISDIR(s->type) ? 2 + s->subdirs : s->links;
}

int check_counts(struct ns_check *c, struct seen_inode *s)
{
	uint64_t up = s->ino == DDIO_FS_ROOT ? DDIO_FS_ROOT : s->in;
	bool dir = S_ISDIR(s->type), fixed = s->fix;
	struct inode in;
	int ret;

	if (!fixed && s->nlink != right_nlink(s))
		check_problem(c, "inode %" PRIu64 " counts %u links, but has %u", s->ino, s->nlink,
			      right_nlink(s));
	else if (!fixed && dir && s->entries != s->children)
		check_problem(c,
			      "directory %" PRIu64 " counts %" PRIu64 " entries, but has %" PRIu64,
			      s->ino, s->entries, s->children);
	else if (!fixed && dir && s->parent != up && (s->links || s->ino == DDIO_FS_ROOT))
		check_problem(c, "directory %" PRIu64 " has the wrong parent", s->ino);
	else if (!fixed && dir && s->cookie < s->top)
		check_problem(c, "directory %" PRIu64 " would give two entries the same cookie",
			      s->ino);
	else if (!fixed)
		return 0;
	if (!c->repair)
		return 0;
	ret = load(c, s->ino, &in);
	if (ret)
		return ret;
	in.nlink = right_nlink(s);
	if (dir) {
		in.entries = s->children;
		in.parent = up;
		in.cookie = s->cookie > s->top ? s->cookie : s->top;
		if (in.cookie < NS_COOKIE)
			in.cookie = NS_COOKIE;
	}
	ret = check_put_inode(c, &in);
	inode_free(&in);
	return ret;
}
