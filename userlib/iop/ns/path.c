// SPDX-License-Identifier: LGPL-2.1-or-later
/* Paths from the root, as libddio names files, and listings of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/ns/priv.h"

enum { LINKS_FOLLOWED = 40, PATH_ROOM = 2 * (DDIO_MAX_PATH + 1) };

/* Leaves room for the other fields of a listing's payload. */
#define LISTING_MAX (DDIO_MAX_SMALL - 4096)

/**
 * struct path_walk - the state of a walk along a path
 * @who: who goes there, or NULL
 * @dir: the directory reached
 * @links, @names: how many were followed and looked up
 * @rest: the rest of the path, in @buf; @name: the next name
 */
struct path_walk {
	struct ns *ns;
	const struct ddio_who *who;
	uint64_t dir;
	uint32_t links;
	uint64_t names;
	char *rest, buf[PATH_ROOM];
	char name[DDIO_MAX_NAME + 1];
};

/* Takes the next name off @rest.  Returns 1, 0 at the end, -ENAMETOOLONG, or -ELOOP: there were too many. */
static int walk_part(struct path_walk *w)
{
	size_t skip = strspn(w->rest, "/"), len = strcspn(w->rest + skip, "/");

	if (!len)
		return 0;
	if (len > DDIO_MAX_NAME)
		return -ENAMETOOLONG;
	if (!bound_spend(&w->ns->bounds->at[BOUND_NAMES], &w->names))
		return -ELOOP;
	memcpy(w->name, w->rest + skip, len);
	w->name[len] = '\0';
	w->rest += skip + len;
	w->rest += strspn(w->rest, "/");
	return 1;
}

static int walk_link(struct path_walk *w, const char *target)
{
	size_t n = strlen(target), rest = strlen(w->rest);

	if (w->links++ == LINKS_FOLLOWED)
		return -ELOOP;
	if (n + 1 + rest > DDIO_MAX_PATH)
		return -ENAMETOOLONG;
	memmove(w->buf + n + 1, w->rest, rest + 1);
	memcpy(w->buf, target, n);
	w->buf[n] = '/';
	w->rest = w->buf;
	if (target[0] == '/')
		w->dir = DDIO_FS_ROOT;
	return 0;
}

static int walk_begin(struct ns *ns, const struct ddio_who *who, const char *path,
		      struct path_walk **w)
{
	if (strlen(path) > DDIO_MAX_PATH)
		return -ENAMETOOLONG;
	*w = calloc(1, sizeof(**w));
	if (!*w)
		return -ENOMEM;
	(*w)->ns = ns;
	(*w)->who = who;
	(*w)->dir = DDIO_FS_ROOT;
	(*w)->rest = strcpy((*w)->buf, path);
	return 0;
}

/* Goes on by one name, into @in. */
static int walk_step(struct path_walk *w, struct inode *in)
{
	int ret = ns_may_dir(w->ns, w->who, w->dir, NS_MAY_SEARCH);

	if (!ret)
		ret = ns_lookup(w->ns, w->dir, w->name, in);
	if (ret)
		return ret;
	if (S_ISLNK(in->mode)) {
		ret = walk_link(w, in->target);
		inode_free(in);
		return ret;
	}
	if (w->rest[0] && !S_ISDIR(in->mode)) {
		inode_free(in);
		return -ENOTDIR;
	}
	w->dir = in->ino;
	return 0;
}

int ns_walk(struct ns *ns, const struct ddio_who *who, const char *path, struct inode *in)
{
	struct path_walk *w;
	int part, ret = walk_begin(ns, who, path, &w);

	memset(in, 0, sizeof(*in));
	if (ret)
		return ret;
	while (!ret && (part = walk_part(w)) != 0) {
		inode_free(in);
		ret = part < 0 ? part : walk_step(w, in);
	}
	if (!ret && !in->ino)
		ret = ns_load_dir(ns, w->dir, in);
	free(w);
	return ret;
}

int ns_walk_parent(struct ns *ns, const struct ddio_who *who, const char *path, uint64_t *parent,
		   char *name)
{
	struct inode in = { .ino = 0 };
	struct path_walk *w;
	int part, ret = walk_begin(ns, who, path, &w);

	if (ret)
		return ret;
	while ((part = walk_part(w)) > 0 && w->rest[0] && !ret) {
		ret = walk_step(w, &in);
		inode_free(&in);
	}
	if (!ret && part <= 0)
		ret = part ? part : -EINVAL;
	if (!ret) {
		*parent = w->dir;
		strcpy(name, w->name);
	}
	free(w);
	return ret;
}

/*
 * Listings: collects names first, since nothing else may be read during a walk over them.  @last: the last name that was
 * looked at.
 */
struct page {
	struct ns_entry *e;
	uint32_t n;
	bool more;
	char last[DDIO_MAX_NAME + 1];
};

static int page_names(struct ns *ns, uint64_t dir, const char *after, uint32_t max,
		      struct page *page)
{
	uint8_t key[NS_NAME_KEY_MAX];
	size_t len = ns_name_key(key, dir, after);
	char name[DDIO_MAX_NAME + 1];
	uint64_t looks = 0;
	struct kv_cursor c;
	uint64_t of;
	int ret;

	for (ret = kv_first(&c, ns->kv, NS_NAMES, key, len); !ret; ret = kv_next(&c)) {
		struct ns_entry *e = &page->e[page->n];

		if (ns_name_key_get(c.key, c.key_len, &of, name) || of != dir)
			break;
		if (!strcmp(name, after))
			continue;
		if (page->n == max || !bound_spend(&ns->bounds->at[BOUND_LISTED], &looks)) {
			page->more = true;
			break;
		}
		strcpy(page->last, name);
		if (ns_entry_get(c.key, c.key_len, c.value, c.len, false, e) ||
		    (!S_ISREG(e->type) && !S_ISDIR(e->type)))
			continue;
		strcpy(e->name, name);
		page->n++;
	}
	kv_cursor_close(&c);
	return ret == -ENOENT ? 0 : ret;
}

int ns_dir_record(const struct inode *in, struct ddio_file_record *rec)
{
	struct inode like = *in;

	like.stripe = (struct stripe){ .block = DDIO_MIN_BLOCK, .ndisks = 1 };
	like.size = 0;
	return inode_record(&like, rec);
}

static int page_record(struct ns *ns, const struct ns_entry *e, struct ddio_file_record *rec)
{
	struct inode in;
	int ret = ns_load(ns, e->ino, &in);

	if (ret)
		return ret;
	if (S_ISREG(in.mode))
		ret = inode_record(&in, rec);
	else
		ret = S_ISDIR(in.mode) ? ns_dir_record(&in, rec) : -ENOENT;
	inode_free(&in);
	if (!ret) {
		memcpy(rec->name, e->name, sizeof(rec->name));
		if (S_ISDIR(e->type) && strlen(rec->name) < DDIO_MAX_NAME)
			strcat(rec->name, "/");
	}
	return ret;
}

static int page_records(struct ns *ns, const struct page *page, struct ddio_msg_ns_listing *out)
{
	size_t len = 0;
	uint32_t i;
	int ret;

	out->more = page->more;
	for (i = 0; i < page->n; i++) {
		struct ddio_file_record *rec = &out->recs[out->n];

		ret = page_record(ns, &page->e[i], rec);
		if (ret == -ENOENT || ret == -ESTALE || ret == -EUCLEAN)
			continue;
		if (ret)
			return ret;
		len += (size_t)ddio_put_record(NULL, 0, rec);
		/* Drop the file that makes the page too long, unless it is the only one. */
		if (len > LISTING_MAX && out->n) {
			ddio_file_record_free(rec);
			out->more = 1;
			return 0;
		}
		out->n++;
	}
	return 0;
}

static int list_dir(struct ns *ns, uint64_t dir, const char *after, uint32_t max,
		    struct ddio_msg_ns_listing *out, char *next)
{
	char from[DDIO_MAX_NAME + 1];
	struct page page = { .n = 0 };
	size_t n = strlen(after);
	int ret = -ENOMEM;

	memcpy(from, after, n + 1);
	if (n && from[n - 1] == '/')
		from[n - 1] = '\0';
	page.e = calloc(max + 1, sizeof(*page.e));
	out->recs = calloc(max, sizeof(*out->recs));
	if (page.e && out->recs)
		ret = page_names(ns, dir, from, max, &page);
	if (!ret)
		ret = page_records(ns, &page, out);
	strcpy(next, page.last);
	free(page.e);
	return ret;
}

int ns_list(struct ns *ns, const struct ddio_who *who, const char *dir, const char *after,
	    uint32_t max, struct ddio_msg_ns_listing *out, char *next)
{
	struct inode in;
	int ret;

	memset(out, 0, sizeof(*out));
	if (strlen(after) > DDIO_MAX_NAME)
		return -EINVAL;
	if (!max || max > DDIO_MAX_BATCH)
		max = DDIO_MAX_BATCH;
	ret = ns_walk(ns, who, dir, &in);
	if (!ret && !S_ISDIR(in.mode))
		ret = -ENOTDIR;
	if (!ret)
		ret = ns_may(ns, who, &in, NS_MAY_READ | NS_MAY_SEARCH);
	if (!ret)
		ret = list_dir(ns, in.ino, after, max, out, next);
	inode_free(&in);
	if (ret) {
		ddio_ns_listing_free(out);
		memset(out, 0, sizeof(*out));
	}
	return ret;
}

/* Adds the inode under the cursor if it is a regular file.  Returns 0, 1: it is not, or -errno. */
static int add_inode(const struct kv_cursor *c, struct ddio_file_record *rec)
{
	struct inode in;
	uint64_t ino;
	int ret;

	if (!ns_key_get(c->key, c->key_len, &ino) || ns_inode_get(ino, c->value, c->len, &in))
		return 1;
	ret = S_ISREG(in.mode) ? inode_record(&in, rec) : 1;
	inode_free(&in);
	return ret;
}

static int list_inodes(struct ns *ns, uint64_t after, uint32_t max, struct ddio_msg_ns_listing *out,
		       uint64_t *next)
{
	uint8_t key[NS_KEY_LEN];
	uint64_t looks = 0;
	struct kv_cursor c;
	size_t len = 0;
	int ret, added;

	ns_key(key, after + 1);
	for (ret = kv_first(&c, ns->kv, NS_INODES, key, sizeof(key)); !ret; ret = kv_next(&c)) {
		if (out->n == max || (out->n && len > LISTING_MAX / 2) ||
		    !bound_spend(&ns->bounds->at[BOUND_LISTED], &looks)) {
			out->more = 1;
			break;
		}
		ns_key_get(c.key, c.key_len, next);
		added = add_inode(&c, &out->recs[out->n]);
		if (added < 0) {
			ret = added;
			break;
		}
		if (!added)
			len += (size_t)ddio_put_record(NULL, 0, &out->recs[out->n++]);
	}
	kv_cursor_close(&c);
	return ret == -ENOENT ? 0 : ret;
}

int ns_list_all(struct ns *ns, uint64_t after, uint32_t max, struct ddio_msg_ns_listing *out,
		uint64_t *next)
{
	int ret;

	memset(out, 0, sizeof(*out));
	if (!max || max > DDIO_MAX_BATCH)
		max = DDIO_MAX_BATCH;
	out->recs = calloc(max, sizeof(*out->recs));
	if (!out->recs)
		return -ENOMEM;
	ret = list_inodes(ns, after, max, out, next);
	if (ret) {
		ddio_ns_listing_free(out);
		memset(out, 0, sizeof(*out));
	}
	return ret;
}
