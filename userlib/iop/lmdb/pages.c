// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "iop/lmdb/key.h"
#include "iop/lmdb/pages.h"
#include "iop/lmdb/pages_format.h"

/* The last page may lie beyond the file's end, if the transaction that took it gave it back: by no more than this. */
#define PAGES_BEYOND 65536

/**
 * struct pages - a check under way
 * @end: pages that the file has; @meta: the newer meta page
 * @taken: for each page up to the last one, whether something owns it
 * @big: room for a large value
 */
struct pages {
	int fd;
	size_t size;
	uint64_t end;
	struct page_meta meta;
	uint8_t *taken;
	uint8_t *big;
	size_t big_cap;
	struct pages_records *records;
	char *found;
	size_t found_len;
};

/**
 * struct pages_walk - the walk over one tree
 * @is: what the tree says of itself; @seen: what there was
 * @last: no key may be below it; @reached: one may be equal to it
 * @newest: the last key of the free tree
 */
struct pages_walk {
	struct pages *p;
	const char *name;
	struct page_tree is, seen;
	uint8_t last[PAGE_KEY_MAX];
	size_t last_len;
	bool any, reached;
	uint64_t newest;
	int (*record)(struct pages_walk *w, const MDB_val *key, const MDB_val *value,
		      uint16_t flags);
};

static int damaged(struct pages *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int damaged(struct pages *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->found, p->found_len, fmt, ap);
	va_end(ap);
	return -EUCLEAN;
}

static int read_at(struct pages *p, uint64_t at, void *buf, size_t len)
{
	size_t got = 0;
	ssize_t n;

	while (got < len) {
		n = pread(p->fd, (uint8_t *)buf + got, len - got, (off_t)(at + got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return damaged(p, "it ends at byte %" PRIu64, at + got);
		got += (size_t)n;
	}
	return 0;
}

/* Notes that pages [@first, @first + @n) have an owner. */
static int take(struct pages *p, uint64_t first, uint64_t n)
{
	uint64_t i;

	if (first < 2 || first > p->meta.last || n > p->meta.last - first + 1)
		return damaged(p, "page %" PRIu64 " does not exist", first);
	for (i = first; i < first + n; i++) {
		if (p->taken[i])
			return damaged(p, "page %" PRIu64 " has two owners", i);
		p->taken[i] = 1;
	}
	return 0;
}

static int compare(const struct pages_walk *w, const MDB_val *key)
{
	size_t len = key->mv_size < w->last_len ? key->mv_size : w->last_len;
	uint64_t a, b;
	int diff;

	if (w->is.flags & TREE_FREE_FLAGS) {
		memcpy(&a, key->mv_data, sizeof(a));
		memcpy(&b, w->last, sizeof(b));
		return a < b ? -1 : a > b;
	}
	diff = memcmp(key->mv_data, w->last, len);
	return diff ? diff : key->mv_size < w->last_len ? -1 : key->mv_size > w->last_len;
}

/* The next key of the walk; @bound: none itself, but one in a branch that the next one may be equal to. */
static int next_key(struct pages_walk *w, uint64_t page, const MDB_val *key, bool bound)
{
	int diff;

	if (!key->mv_size || key->mv_size > sizeof(w->last) ||
	    (w->is.flags & TREE_FREE_FLAGS && key->mv_size != sizeof(uint64_t)))
		return damaged(w->p, "page %" PRIu64 ": a key of %zu bytes", page, key->mv_size);
	diff = w->any ? compare(w, key) : 1;
	if (diff < 0 || (!diff && (bound || !w->reached)))
		return damaged(w->p, "page %" PRIu64 ": keys of %s are not in order", page,
			       w->name);
	memcpy(w->last, key->mv_data, key->mv_size);
	w->last_len = key->mv_size;
	w->any = true;
	w->reached = bound;
	return 0;
}

static size_t node_len(const struct page_node *node, uint16_t page_flags)
{
	size_t len = sizeof(*node) + node->key_len;

	if (page_flags == PAGE_LEAF && node->flags & NODE_BIG)
		len += sizeof(uint64_t);
	else if (page_flags == PAGE_LEAF)
		len += node->low | (size_t)node->high << 16;
	return len + (len & 1);
}

static int by_place(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

/* Nodes fill the page from @upper to its end, without gaps. */
static int check_nodes(struct pages *p, uint64_t number, const uint8_t *page)
{
	uint16_t places[PAGE_SIZE_MAX / 2];
	struct page_head head;
	struct page_node node;
	size_t i, n, at;

	memcpy(&head, page, sizeof(head));
	n = (head.lower - sizeof(head)) / sizeof(places[0]);
	memcpy(places, page + sizeof(head), n * sizeof(places[0]));
	qsort(places, n, sizeof(places[0]), by_place);
	at = head.upper;
	for (i = 0; i < n; i++) {
		if (places[i] != at || at + sizeof(node) > p->size)
			break;
		memcpy(&node, page + at, sizeof(node));
		at += node_len(&node, head.flags);
	}
	if (i < n || at != p->size)
		return damaged(p, "page %" PRIu64 ": its nodes do not fit", number);
	return 0;
}

static int check_page(struct pages_walk *w, uint64_t number, unsigned int level,
		      const uint8_t *page, struct page_head *head)
{
	uint16_t flags = level == w->is.depth ? PAGE_LEAF : PAGE_BRANCH;

	memcpy(head, page, sizeof(*head));
	if (head->number != number || head->flags != flags)
		return damaged(w->p, "page %" PRIu64 " is not one of %s", number, w->name);
	if (head->lower <= sizeof(*head) || head->lower & 1 || head->lower > head->upper ||
	    head->upper >= w->p->size)
		return damaged(w->p, "page %" PRIu64 ": its bounds are wrong", number);
	return check_nodes(w->p, number, page);
}

static int big_value(struct pages_walk *w, const uint8_t *where, MDB_val *value)
{
	struct pages *p = w->p;
	size_t need = (sizeof(struct page_head) - 1 + value->mv_size) / p->size + 1;
	struct page_head head;
	uint64_t first, n;
	int ret;

	memcpy(&first, where, sizeof(first));
	if (first >= p->end || need > p->end - first)
		return damaged(p, "page %" PRIu64 " of a value is not in the file", first);
	ret = read_at(p, first * p->size, &head, sizeof(head));
	if (ret)
		return ret;
	n = head.lower | (uint64_t)head.upper << 16;
	if (head.number != first || head.flags != PAGE_OVERFLOW || n < need)
		return damaged(p, "page %" PRIu64 " is not one of a value", first);
	w->seen.overflows += n;
	ret = take(p, first, n);
	if (ret)
		return ret;
	if (value->mv_size > p->big_cap) {
		free(p->big);
		p->big_cap = 0;
		p->big = malloc(value->mv_size);
		if (!p->big)
			return -ENOMEM;
		p->big_cap = value->mv_size;
	}
	value->mv_data = p->big;
	return read_at(p, first * p->size + sizeof(head), p->big, value->mv_size);
}

static int leaf_node(struct pages_walk *w, uint64_t page, const uint8_t *at)
{
	struct page_node node;
	MDB_val key, value;
	int ret;

	memcpy(&node, at, sizeof(node));
	key = (MDB_val){ .mv_size = node.key_len, .mv_data = (void *)(at + sizeof(node)) };
	value = (MDB_val){ .mv_size = node.low | (size_t)node.high << 16,
			   .mv_data = (void *)(at + sizeof(node) + node.key_len) };
	ret = next_key(w, page, &key, false);
	if (!ret && node.flags & NODE_BIG)
		ret = big_value(w, value.mv_data, &value);
	w->seen.entries++;
	return ret ? ret : w->record(w, &key, &value, node.flags & (uint16_t)~NODE_BIG);
}

static int walk_page(struct pages_walk *w, uint64_t number, unsigned int level);

static int branch_node(struct pages_walk *w, uint64_t page, const uint8_t *at, bool first,
		       unsigned int level)
{
	struct page_node node;
	MDB_val key;
	int ret = 0;

	memcpy(&node, at, sizeof(node));
	key = (MDB_val){ .mv_size = node.key_len, .mv_data = (void *)(at + sizeof(node)) };
	/* Nobody looks at the key of the first one. */
	if (!first)
		ret = next_key(w, page, &key, true);
	return ret ? ret
		   : walk_page(w, node.low | (uint64_t)node.high << 16 | (uint64_t)node.flags << 32,
			       level + 1);
}

static int walk_nodes(struct pages_walk *w, uint64_t number, unsigned int level,
		      const uint8_t *page)
{
	struct page_head head;
	uint16_t place;
	size_t at;
	int ret = check_page(w, number, level, page, &head);

	for (at = sizeof(head); at < head.lower && !ret; at += sizeof(place)) {
		memcpy(&place, page + at, sizeof(place));
		if (head.flags == PAGE_LEAF)
			ret = leaf_node(w, number, page + place);
		else
			ret = branch_node(w, number, page + place, at == sizeof(head), level);
	}
	if (head.flags == PAGE_LEAF)
		w->seen.leaves++;
	else
		w->seen.branches++;
	return ret;
}

static int walk_page(struct pages_walk *w, uint64_t number, unsigned int level)
{
	uint8_t *page;
	int ret = take(w->p, number, 1);

	if (ret)
		return ret;
	page = malloc(w->p->size);
	if (!page)
		return -ENOMEM;
	ret = read_at(w->p, number * w->p->size, page, w->p->size);
	if (!ret)
		ret = walk_nodes(w, number, level, page);
	free(page);
	return ret;
}

static int walk_tree(struct pages_walk *w)
{
	int ret = 0;

	if (w->is.depth > PAGE_DEPTH_MAX || (w->is.root == PAGE_NONE) != !w->is.depth)
		return damaged(w->p, "the root of %s is wrong", w->name);
	if (w->is.depth)
		ret = walk_page(w, w->is.root, 1);
	if (ret)
		return ret;
	if (w->is.branches != w->seen.branches || w->is.leaves != w->seen.leaves ||
	    w->is.overflows != w->seen.overflows || w->is.entries != w->seen.entries)
		return damaged(w->p,
			       "%s has %" PRIu64 " records in %" PRIu64 " pages, not %" PRIu64
			       " in %" PRIu64,
			       w->name, w->seen.entries, w->seen.leaves, w->is.entries,
			       w->is.leaves);
	return 0;
}

/* A record of the free tree: a count and that many numbers of pages, the highest first. */
static int free_record(struct pages_walk *w, const MDB_val *key, const MDB_val *value,
		       uint16_t flags)
{
	uint64_t n, page, above = UINT64_MAX, i;
	int ret = 0;

	memcpy(&w->newest, key->mv_data, sizeof(w->newest));
	if (flags || value->mv_size < sizeof(n) || w->newest > w->p->meta.txn)
		return damaged(w->p, "a record of free pages is wrong");
	memcpy(&n, value->mv_data, sizeof(n));
	if (n > value->mv_size / sizeof(n) - 1)
		return damaged(w->p, "a record of free pages is too short");
	for (i = 1; i <= n && !ret; i++) {
		memcpy(&page, (uint8_t *)value->mv_data + i * sizeof(page), sizeof(page));
		if (page >= above)
			return damaged(w->p, "free pages are not in order");
		above = page;
		ret = take(w->p, page, 1);
	}
	return ret;
}

static void note_record(struct pages_records *r, const char *db, const MDB_val *key)
{
	char hex[REC_KEY_HEX];

	if (r->damaged++)
		return;
	rec_key_hex(hex, key->mv_data, key->mv_size);
	snprintf(r->first, sizeof(r->first), "%s %s", db, hex);
}

static int user_record(struct pages_walk *w, const MDB_val *key, const MDB_val *value,
		       uint16_t flags)
{
	struct pages_records *r = w->p->records;

	if (flags)
		return damaged(w->p, "a record of %s is of another kind", w->name);
	if (r && r->intact && !r->intact(r->arg, w->name, key, value))
		note_record(r, w->name, key);
	return 0;
}

static int main_record(struct pages_walk *main, const MDB_val *key, const MDB_val *value,
		       uint16_t flags)
{
	struct pages_walk w = { .p = main->p, .record = user_record };
	char name[64];

	if (flags != NODE_TREE || value->mv_size != sizeof(w.is) || key->mv_size >= sizeof(name))
		return damaged(main->p, "what should be a database is not");
	snprintf(name, sizeof(name), "%.*s", (int)key->mv_size, (const char *)key->mv_data);
	w.name = name;
	memcpy(&w.is, value->mv_data, sizeof(w.is));
	if (w.is.flags || w.is.pad)
		return damaged(main->p, "database %s is of another kind", name);
	return walk_tree(&w);
}

/* Both meta pages are those of two transactions that followed each other; the later one counts. */
static int choose_meta(struct pages *p, const struct page_meta m[2])
{
	uint64_t a = m[0].txn, b = m[1].txn;

	if (m[0].free.pad != m[1].free.pad)
		return damaged(p, "the meta pages have different sizes of a page");
	if ((a || b) && ((a & 1) || !(b & 1) || (a > b ? a - b : b - a) != 1))
		return damaged(p, "the meta pages are of transactions %" PRIu64 " and %" PRIu64, a,
			       b);
	p->meta = m[a < b];
	if (p->meta.free.flags != TREE_FREE_FLAGS || p->meta.main.flags || p->meta.main.pad)
		return damaged(p, "the meta page is of another kind");
	if (p->meta.last < 1 || p->meta.last >= p->end + PAGES_BEYOND)
		return damaged(p, "its last page is %" PRIu64 ", but it has %" PRIu64, p->meta.last,
			       p->end);
	return 0;
}

static int read_meta(struct pages *p, unsigned int which, struct page_meta *meta)
{
	uint8_t buf[sizeof(struct page_head) + sizeof(*meta)];
	struct page_head head;
	int ret = read_at(p, which * p->size, buf, sizeof(buf));

	if (ret)
		return ret;
	memcpy(&head, buf, sizeof(head));
	memcpy(meta, buf + sizeof(head), sizeof(*meta));
	p->size = meta->free.pad;
	if (head.number != which || head.flags != PAGE_META || meta->magic != PAGE_MAGIC ||
	    meta->version != PAGE_VERSION || p->size < 512 || p->size > PAGE_SIZE_MAX ||
	    p->size & (p->size - 1))
		return damaged(p, "meta page %u is wrong", which);
	return 0;
}

/* Walks everything that can be reached from the newer meta page. */
static int check_trees(struct pages *p)
{
	struct pages_walk freed = {
		.p = p, .name = "free pages", .is = p->meta.free, .record = free_record
	};
	struct pages_walk main = {
		.p = p, .name = "databases", .is = p->meta.main, .record = main_record
	};
	int ret = walk_tree(&main);

	if (!ret)
		ret = walk_tree(&freed);
	if (ret)
		return ret;
	/* Each transaction but the first frees pages, under its number. */
	if (p->meta.txn > 1 && freed.newest != p->meta.txn)
		return damaged(p, "its last transaction is %" PRIu64 ", not %" PRIu64, freed.newest,
			       p->meta.txn);
	if (p->meta.last >= p->end && !p->taken[p->meta.last])
		return damaged(p, "its last page is %" PRIu64 ", but it has %" PRIu64, p->meta.last,
			       p->end);
	return 0;
}

static int check_file(struct pages *p)
{
	struct page_meta meta[2];
	struct stat st;
	int ret;

	if (fstat(p->fd, &st))
		return -errno;
	/* LMDB makes it. */
	if (!st.st_size)
		return 0;
	ret = read_meta(p, 0, &meta[0]);
	if (!ret)
		ret = read_meta(p, 1, &meta[1]);
	p->end = (uint64_t)st.st_size / (p->size ? p->size : 1);
	if (!ret)
		ret = choose_meta(p, meta);
	if (ret)
		return ret;
	p->taken = calloc(p->meta.last + 1, 1);
	return p->taken ? check_trees(p) : -ENOMEM;
}

int lmdb_pages_check(const char *path, struct pages_records *records, char *found, size_t len)
{
	struct pages p = { .records = records, .found = found, .found_len = len };
	int ret;

	p.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (p.fd < 0)
		ret = errno == ENOENT ? 0 : -errno;
	else
		ret = check_file(&p);
	if (ret && ret != -EUCLEAN)
		snprintf(found, len, "%s", strerror(-ret));
	if (p.fd >= 0)
		close(p.fd);
	free(p.taken);
	free(p.big);
	return ret;
}
