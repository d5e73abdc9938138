/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the name server of fs_fake.h knows: inodes and names in tables, no more than it takes to test the
 * file system's client, and a function for each request that reads or changes them.  Nothing here sends
 * or receives.
 */
#ifndef DDIO_TEST_FS_FAKE_TREE_H
#define DDIO_TEST_FS_FAKE_TREE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "conn/conn.h"

enum { FAKE_INODES = 1024, FAKE_NAMES = 256, FAKE_DONE = 256, FAKE_LOCKS = 16, FAKE_CONNS = 8 };

/* Not an assertion of CUnit: the server may run on a thread of its own. */
#define FAKE_ASSERT(what)                                                                         \
	do {                                                                                      \
		if (!(what)) {                                                                    \
			fprintf(stderr, "%s:%d: names: not so: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

struct fake_inode {
	struct ddio_fs_attr attr;
	struct ddio_file_record rec;
	uint32_t disks[16];
	bool used, bare, open, orphan;
};

struct fake_name {
	uint64_t parent, ino;
	char name[DDIO_MAX_NAME + 1];
};

/* The reply to a numbered request. */
struct fake_done {
	uint64_t seq;
	uint32_t status;
	size_t len;
	uint8_t payload[512];
};

struct fake_names;

struct fake_conn {
	struct fake_names *k;
	struct ddio_conn *conn;
	bool attached;
};

/**
 * struct fake_names - the name server
 * @lose_at: the connection is lost at the message of this number (1 is the first); @late: after it was
 *	carried out, otherwise before
 * @reborn_at: the server restarts at that message
 * @messages: messages so far; @executed: changes carried out; @repeated: replies from memory; @changes: the number of the
 *	last change that was answered
 * @known: the server knows what the mount has open
 * @mute: replies carry no attributes of directories, except to requests for them
 * @hold: the reply to the next request with this opcode is @held until fake_let_go()
 * @lose: the next request with this opcode is carried out, and its reply lost; @lost: how many were
 * @gone: inodes reported as gone
 */
struct fake_names {
	struct ddio_env *env;
	struct ddio_listener *listener;
	struct fake_conn conns[FAKE_CONNS];
	const char *name, *addr;
	uint32_t node, ndisks;
	uint32_t block;
	uint64_t forks, boot, change, next;
	bool known, late, deaf, mute;
	uint64_t lose_at, reborn_at, messages, executed, repeated, upto;
	uint32_t attaches, detaches, told, gone, releases, synced;
	uint64_t changes;
	struct fake_inode inode[FAKE_INODES];
	struct fake_name names[FAKE_NAMES];
	struct fake_done done[FAKE_DONE];
	struct ddio_msg_fs_lock lock[2 * FAKE_LOCKS];
	struct {
		struct ddio_msg msg;
		struct fake_conn *c;
		struct ddio_msg_fs_lock lock;
	} waiting;
	uint16_t hold, lose;
	uint32_t lost;
	struct {
		struct ddio_msg msg;
		struct fake_conn *c;
		uint32_t status;
		size_t len;
		uint8_t buf[512];
	} held;
	uint32_t count[256];
	struct ddio_post rebirth;
};

/* A reply being made. */
struct fake_answer {
	uint32_t status;
	ssize_t len;
	uint8_t buf[16384];
};

#define FAKE_PUT(a, codec, x) ((a)->len = ddio_put_##codec((a)->buf, sizeof((a)->buf), (x)))

static inline struct fake_inode *fake_inode(struct fake_names *k, uint64_t ino)
{
	return ino && ino < FAKE_INODES && k->inode[ino].used ? &k->inode[ino] : NULL;
}

static inline struct fake_name *fake_find(struct fake_names *k, uint64_t parent, const char *name)
{
	int i;

	for (i = 0; i < FAKE_NAMES; i++)
		if (k->names[i].parent == parent && !strcmp(k->names[i].name, name))
			return &k->names[i];
	return NULL;
}

static inline void fake_changed(struct fake_names *k, struct fake_inode *n)
{
	uint64_t now = ddio_env_wall(k->env);

	n->attr.change = ++k->change;
	n->attr.ctime.tv_sec = (time_t)(now / 1000000000);
	n->attr.ctime.tv_nsec = (long)(now % 1000000000);
	n->attr.alloc = S_ISREG(n->attr.mode) && !n->bare ? DDIO_FS_ALLOC_UNKNOWN : 0;
}

static inline struct fake_inode *fake_new(struct fake_names *k, uint32_t mode)
{
	struct fake_inode *n = &k->inode[k->next];
	uint32_t i;

	FAKE_ASSERT(k->next < FAKE_INODES);
	memset(n, 0, sizeof(*n));
	n->used = true;
	n->bare = true;
	n->attr.ino = k->next++;
	n->attr.mode = mode;
	n->attr.nlink = 1;
	if (S_ISREG(mode)) {
		n->attr.block = k->block;
		n->attr.ndisks = k->ndisks;
		n->rec.ref.id = n->attr.ino;
		n->rec.ref.block = k->block;
		n->rec.ndisks = k->ndisks;
		n->rec.disks = n->disks;
		for (i = 0; i < k->ndisks; i++)
			n->disks[i] = i;
	}
	fake_changed(k, n);
	return n;
}

static inline void fake_name_add(struct fake_names *k, uint64_t parent, const char *name,
				 uint64_t ino)
{
	struct fake_name *e = fake_find(k, 0, "");

	FAKE_ASSERT(e != NULL);
	e->parent = parent;
	e->ino = ino;
	strcpy(e->name, name);
}

static inline void fake_attr(struct fake_answer *a, const struct fake_inode *n)
{
	struct ddio_msg_fs_attr x = { .attr = n->attr };

	FAKE_PUT(a, fs_attr, &x);
}

static inline void fake_opened(struct fake_answer *a, const struct fake_inode *n, uint32_t flags)
{
	struct ddio_msg_fs_opened x = { .flags = flags, .attr = n->attr, .rec = n->rec };

	if (S_ISREG(n->attr.mode))
		x.flags |= DDIO_FS_OPENED_RECORD;
	if (n->bare)
		x.flags |= DDIO_FS_OPENED_BARE;
	x.rec.size = n->attr.size;
	FAKE_PUT(a, fs_opened, &x);
}

/* The inode has neither a name nor an opening: reports it for removal. */
static inline void fake_listing(struct fake_answer *a, struct fake_inode *n)
{
	struct ddio_msg_ns_listing x = { 0 };

	if (n && n->orphan && !n->open) {
		x.n = 1;
		x.recs = &n->rec;
	}
	FAKE_PUT(a, ns_listing, &x);
}

static inline void fake_make(struct fake_names *k, const void *p, size_t len, struct fake_answer *a)
{
	static struct ddio_msg_fs_make x;
	struct fake_name *e;
	struct fake_inode *n;

	FAKE_ASSERT(!ddio_get_fs_make(p, len, &x));
	e = fake_find(k, x.parent, x.name);
	if (e && (x.flags & DDIO_FS_MAKE_EXCL)) {
		a->status = DDIO_ST_EXISTS;
		return;
	}
	n = e ? fake_inode(k, e->ino) : fake_new(k, x.mode);
	if (!e)
		fake_name_add(k, x.parent, x.name, n->attr.ino);
	if (x.flags & DDIO_FS_MAKE_OPEN)
		n->open = true;
	fake_opened(a, n, e ? 0 : DDIO_FS_OPENED_MADE);
}

static inline void fake_unlink(struct fake_names *k, const void *p, size_t len,
			       struct fake_answer *a)
{
	struct ddio_msg_fs_unlinked out = { .flags = 0 };
	struct ddio_msg_fs_name x;
	struct fake_name *e;
	struct fake_inode *n;

	FAKE_ASSERT(!ddio_get_fs_name(p, len, &x));
	e = fake_find(k, x.parent, x.name);
	if (!e) {
		a->status = DDIO_ST_NOT_FOUND;
		return;
	}
	n = fake_inode(k, e->ino);
	memset(e, 0, sizeof(*e));
	if (!--n->attr.nlink)
		n->orphan = true;
	fake_changed(k, n);
	if (n->orphan && !n->open && S_ISREG(n->attr.mode)) {
		out.flags = DDIO_FS_UNLINKED_LEFT;
		out.rec = n->rec;
	}
	FAKE_PUT(a, fs_unlinked, &out);
}

static inline void fake_link(struct fake_names *k, const void *p, size_t len, struct fake_answer *a)
{
	struct ddio_msg_fs_link x;

	FAKE_ASSERT(!ddio_get_fs_link(p, len, &x));
	if (fake_find(k, x.parent, x.name)) {
		a->status = DDIO_ST_EXISTS;
		return;
	}
	fake_name_add(k, x.parent, x.name, x.ino);
	k->inode[x.ino].attr.nlink++;
	fake_changed(k, &k->inode[x.ino]);
	fake_attr(a, &k->inode[x.ino]);
}

static inline void fake_rename(struct fake_names *k, const void *p, size_t len,
			       struct fake_answer *a)
{
	struct ddio_msg_fs_rename x;
	struct fake_name *e, *t;
	struct fake_inode *n = NULL;

	FAKE_ASSERT(!ddio_get_fs_rename(p, len, &x));
	e = fake_find(k, x.parent, x.name);
	t = fake_find(k, x.new_parent, x.new_name);
	if (!e) {
		a->status = DDIO_ST_NOT_FOUND;
		return;
	}
	if (t) {
		n = fake_inode(k, t->ino);
		n->orphan = !--n->attr.nlink;
		memset(t, 0, sizeof(*t));
	}
	e->parent = x.new_parent;
	strcpy(e->name, x.new_name);
	fake_listing(a, n);
}

static inline void fake_append(struct fake_names *k, const void *p, size_t len,
			       struct fake_answer *a)
{
	struct ddio_msg_fs_append x;
	struct ddio_msg_fs_place place;
	struct fake_inode *n;

	FAKE_ASSERT(!ddio_get_fs_append(p, len, &x));
	n = fake_inode(k, x.ino);
	FAKE_ASSERT(n != NULL);
	FAKE_ASSERT(!n->bare);
	place.offset = n->attr.size;
	n->attr.size += x.len;
	fake_changed(k, n);
	place.attr = n->attr;
	FAKE_PUT(a, fs_place, &place);
}

static inline void fake_lookup(struct fake_names *k, const void *p, size_t len,
			       struct fake_answer *a)
{
	struct ddio_msg_fs_name x;
	struct fake_name *e;

	FAKE_ASSERT(!ddio_get_fs_name(p, len, &x));
	e = fake_find(k, x.parent, x.name);
	if (e)
		fake_attr(a, fake_inode(k, e->ino));
	else
		a->status = DDIO_ST_NOT_FOUND;
}

static inline void fake_setattr(struct fake_names *k, const void *p, size_t len,
				struct fake_answer *a)
{
	struct ddio_msg_fs_setattr x;
	struct fake_inode *n;

	FAKE_ASSERT(!ddio_get_fs_setattr(p, len, &x));
	n = fake_inode(k, x.ino);
	if (!n) {
		a->status = DDIO_ST_NOT_FOUND;
		return;
	}
	if (x.mask & DDIO_FS_SET_MODE)
		n->attr.mode = (n->attr.mode & S_IFMT) | (x.mode & 07777);
	if (x.mask & DDIO_FS_SET_SIZE)
		n->attr.size = x.size;
	if (x.mask & DDIO_FS_SET_MTIME)
		n->attr.mtime = x.mtime;
	fake_changed(k, n);
	fake_attr(a, n);
}

static inline void fake_wrote(struct fake_names *k, const void *p, size_t len,
			      struct fake_answer *a)
{
	struct ddio_msg_fs_wrote x;
	struct fake_inode *n;

	FAKE_ASSERT(!ddio_get_fs_wrote(p, len, &x));
	n = fake_inode(k, x.ino);
	if (!n) {
		a->status = DDIO_ST_NOT_FOUND;
		return;
	}
	k->synced += x.sync;
	if (x.flags & DDIO_FS_WROTE_DATA)
		n->bare = false;
	if (x.end > n->attr.size)
		n->attr.size = x.end;
	fake_changed(k, n);
	if (x.flags & DDIO_FS_WROTE_TIMES)
		n->attr.mtime = n->attr.ctime;
	fake_attr(a, n);
}

static inline void fake_readdir(struct fake_names *k, const void *p, size_t len,
				struct fake_answer *a)
{
	static struct ddio_fs_dirent ents[FAKE_NAMES];
	struct ddio_msg_fs_entries x = { .ents = ents };
	struct ddio_msg_fs_readdir r;
	uint64_t i;

	FAKE_ASSERT(!ddio_get_fs_readdir(p, len, &r));
	x.plus = r.flags & DDIO_FS_READDIR_PLUS ? 1 : 0;
	for (i = r.cookie; i < FAKE_NAMES && x.n < r.max; i++) {
		if (k->names[i].parent != r.ino)
			continue;
		ents[x.n].cookie = i + 1;
		ents[x.n].name = k->names[i].name;
		ents[x.n++].attr = fake_inode(k, k->names[i].ino)->attr;
	}
	x.more = i < FAKE_NAMES;
	FAKE_PUT(a, fs_entries, &x);
}

static inline void fake_open(struct fake_names *k, const void *p, size_t len, struct fake_answer *a)
{
	struct ddio_msg_fs_open x;
	struct fake_inode *n;

	FAKE_ASSERT(!ddio_get_fs_open(p, len, &x));
	n = fake_inode(k, x.ino);
	if (!n) {
		a->status = DDIO_ST_NOT_FOUND;
		return;
	}
	if (!(x.flags & DDIO_FS_OPEN_LOOK))
		n->open = true;
	if (x.flags & DDIO_FS_OPEN_AGAIN)
		k->told++;
	fake_opened(a, n, 0);
}

static inline void fake_orphans(struct fake_names *k, struct fake_answer *a)
{
	static struct ddio_file_record recs[FAKE_INODES];
	struct ddio_msg_ns_listing x = { .recs = recs };
	uint64_t i;

	for (i = 0; i < FAKE_INODES; i++)
		if (k->inode[i].used && k->inode[i].orphan && !k->inode[i].open)
			recs[x.n++] = k->inode[i].rec;
	FAKE_PUT(a, ns_listing, &x);
}

static inline void fake_ino(struct fake_names *k, uint16_t opcode, const void *p, size_t len,
			    struct fake_answer *a)
{
	struct ddio_msg_fs_ino x;
	struct fake_inode *n;

	FAKE_ASSERT(!ddio_get_fs_ino(p, len, &x));
	n = fake_inode(k, x.ino);
	if (!n) {
		a->status = DDIO_ST_NOT_FOUND;
	} else if (opcode == DDIO_OP_FS_GETATTR) {
		fake_attr(a, n);
	} else if (opcode == DDIO_OP_FS_RELEASE) {
		n->open = false;
		k->releases++;
		fake_listing(a, n);
	} else {
		FAKE_ASSERT(n->orphan && !n->open);
		n->used = false;
		k->gone++;
	}
}

static inline void fake_alloc(struct fake_names *k, const void *p, size_t len,
			      struct fake_answer *a)
{
	struct ddio_msg_fs_alloc x;
	struct fake_inode *n;

	FAKE_ASSERT(!ddio_get_fs_alloc(p, len, &x));
	n = fake_inode(k, x.ino);
	FAKE_ASSERT(n != NULL);
	if (n->attr.change == x.change)
		n->attr.alloc = x.alloc;
	fake_attr(a, n);
}

#endif /* DDIO_TEST_FS_FAKE_TREE_H */
