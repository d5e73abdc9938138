/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A name server that does what a test wants: it loses connections before or after it has carried out a
 * request, restarts, and knows by their numbers the requests that must not be carried out twice.  Here are
 * its connections, locks and restarts; what it knows of names is in fs_fake_tree.h.  Data lie on real I/O
 * processors.
 */
#ifndef DDIO_TEST_FS_FAKE_H
#define DDIO_TEST_FS_FAKE_H

#include <errno.h>
#include <string.h>
#include "tests/unit/cp/fs/fs_fake_tree.h"

/* Marks directories as changed.  A reply carries one of them, unless the reply is repeated from memory. */
static inline void fake_dir(struct fake_names *k, uint16_t opcode, const void *p,
			    struct fake_answer *a)
{
	struct ddio_msg_fs_opened made;
	struct ddio_msg_fs_unlinked gone;
	struct fake_inode *dir, *to;
	uint64_t parent[2];

	memcpy(parent, (const uint8_t *)p + 16, sizeof(parent));
	dir = fake_inode(k, parent[opcode == DDIO_OP_FS_LINK]);
	if (a->status || !dir || opcode == DDIO_OP_FS_APPEND)
		return;
	fake_changed(k, dir);
	to = opcode == DDIO_OP_FS_RENAME ? fake_inode(k, parent[1]) : NULL;
	if (to && to != dir)
		fake_changed(k, to);
	if (k->mute)
		return;
	if (opcode == DDIO_OP_FS_MAKE) {
		FAKE_ASSERT(!ddio_get_fs_opened(a->buf, (size_t)a->len, &made));
		made.flags |= DDIO_FS_OPENED_DIR;
		made.dir = dir->attr;
		FAKE_PUT(a, fs_opened, &made);
		ddio_fs_opened_free(&made);
	} else if (opcode == DDIO_OP_FS_UNLINK) {
		FAKE_ASSERT(!ddio_get_fs_unlinked(a->buf, (size_t)a->len, &gone));
		gone.flags |= DDIO_FS_UNLINKED_DIR;
		gone.dir = dir->attr;
		FAKE_PUT(a, fs_unlinked, &gone);
		ddio_fs_unlinked_free(&gone);
	}
}

/* A numbered request is carried out once. */
static inline void fake_numbered(struct fake_names *k, uint16_t opcode, const void *p, size_t len,
				 struct fake_answer *a)
{
	uint64_t seq, upto;
	struct fake_done *d = NULL;
	uint32_t i;

	memcpy(&seq, p, 8);
	memcpy(&upto, (const uint8_t *)p + 8, 8);
	FAKE_ASSERT(seq > 0);
	FAKE_ASSERT(upto < seq);
	/* A request that the client said was answered must not come again. */
	FAKE_ASSERT(seq > k->upto);
	if (upto > k->upto)
		k->upto = upto;
	for (i = 0; i < FAKE_DONE; i++) {
		if (k->done[i].seq <= k->upto)
			d = &k->done[i];
		if (k->done[i].seq != seq)
			continue;
		k->repeated++;
		a->status = k->done[i].status;
		a->len = (ssize_t)k->done[i].len;
		memcpy(a->buf, k->done[i].payload, k->done[i].len);
		return;
	}
	k->executed++;
	if (opcode == DDIO_OP_FS_MAKE)
		fake_make(k, p, len, a);
	else if (opcode == DDIO_OP_FS_UNLINK)
		fake_unlink(k, p, len, a);
	else if (opcode == DDIO_OP_FS_LINK)
		fake_link(k, p, len, a);
	else if (opcode == DDIO_OP_FS_RENAME)
		fake_rename(k, p, len, a);
	else if (opcode == DDIO_OP_FS_APPEND)
		fake_append(k, p, len, a);
	else
		a->status = DDIO_ST_UNSUPPORTED;
	FAKE_ASSERT(d && a->len <= 512);
	d->seq = seq;
	d->status = a->status;
	d->len = (size_t)a->len;
	memcpy(d->payload, a->buf, d->len);
	fake_dir(k, opcode, p, a);
}

/* Locks of whole files only, one for each file: enough to wait for one. */
static inline void fake_lock_set(struct fake_conn *c, const struct ddio_msg *msg, const void *p,
				 struct fake_answer *a)
{
	struct fake_names *k = c->k;
	struct ddio_msg_fs_lock x, *l;

	FAKE_ASSERT(!ddio_get_fs_lock(p, msg->length, &x));
	l = &k->lock[x.ino % FAKE_LOCKS + (x.ino & DDIO_FS_LOCK_END ? FAKE_LOCKS : 0)];
	if (x.flags & DDIO_FS_LOCK_AGAIN)
		k->told++;
	if (l->type != DDIO_FS_LOCK_NONE && l->owner != x.owner && x.type != DDIO_FS_LOCK_NONE) {
		if (!(x.flags & DDIO_FS_LOCK_WAIT)) {
			a->status = DDIO_ST_AGAIN;
			return;
		}
		k->waiting.msg = *msg;
		k->waiting.c = c;
		k->waiting.lock = x;
		a->len = -1;
		return;
	}
	if (x.type != DDIO_FS_LOCK_NONE || l->owner == x.owner)
		*l = x;
	if (x.type == DDIO_FS_LOCK_NONE && k->waiting.c) {
		*l = k->waiting.lock;
		if (k->waiting.c->conn)
			ddio_conn_reply(k->waiting.c->conn, &k->waiting.msg, 0, NULL, 0);
		k->waiting.c = NULL;
	}
}

static inline void fake_cancel(struct fake_names *k)
{
	if (k->waiting.c && k->waiting.c->conn)
		ddio_conn_reply(k->waiting.c->conn, &k->waiting.msg, DDIO_ST_INTERRUPTED, NULL, 0);
	k->waiting.c = NULL;
}

static inline uint64_t fake_life(const struct fake_names *k)
{
	return ((k->boot - k->forks) << DDIO_LIFE_RANDOM) + k->forks;
}

/* Every disk is the right one. */
static inline void fake_disks(const struct fake_names *k, const void *p, size_t len,
			      struct fake_answer *a)
{
	struct ddio_msg_disk_ids x;
	uint32_t i;

	FAKE_ASSERT(!ddio_get_disk_ids(p, len, &x));
	x.names = fake_life(k);
	for (i = 0; i < x.n; i++)
		x.ids[i].flags |= DDIO_DISK_KNOWN;
	FAKE_PUT(a, disk_ids, &x);
	ddio_msg_disk_ids_free(&x);
}

static inline void fake_attach(struct fake_conn *c, const void *p, size_t len,
			       struct fake_answer *a)
{
	struct fake_names *k = c->k;
	struct ddio_msg_fs_attach x;
	struct ddio_msg_fs_attached y = { .boot = k->boot, .life = fake_life(k) };

	FAKE_ASSERT(!ddio_get_fs_attach(p, len, &x));
	/* The life that it was answered in is none of this name space. */
	if (x.life != y.life && x.life >> DDIO_LIFE_RANDOM >= y.life >> DDIO_LIFE_RANDOM)
		y.lost = DDIO_FS_LOST_ANSWERED;
	k->attaches++;
	if (x.flags & DDIO_FS_ATTACH_TOLD)
		k->known = true;
	y.known = k->known;
	c->attached = true;
	FAKE_PUT(a, fs_attached, &y);
}

/* Says which requests it knows nothing of: all but those that it holds, on this connection. */
static inline void fake_owed(struct fake_conn *c, const void *p, size_t len, struct fake_answer *a)
{
	struct fake_names *k = c->k;
	struct ddio_msg_tags x;
	uint32_t i, n = 0;

	FAKE_ASSERT(!ddio_get_tags(p, len, &x));
	for (i = 0; i < x.n; i++)
		if (!(k->held.c == c && k->held.msg.tag == x.tags[i]) &&
		    !(k->waiting.c == c && k->waiting.msg.tag == x.tags[i]))
			x.tags[n++] = x.tags[i];
	x.n = n;
	FAKE_PUT(a, tags, &x);
	ddio_msg_tags_free(&x);
}

static inline void fake_serve(struct fake_conn *c, const struct ddio_msg *msg, const void *p,
			      struct fake_answer *a)
{
	struct ddio_msg_fs_space space = { .inodes = 7 };
	struct fake_names *k = c->k;
	size_t len = msg->length;

	k->count[msg->opcode & 255]++;
	if (msg->opcode > DDIO_OP_FS_ATTACH && msg->opcode < DDIO_OP_OBJ_STAT &&
	    msg->opcode != DDIO_OP_FS_DISKS)
		FAKE_ASSERT(c->attached);
	switch (msg->opcode) {
	case DDIO_OP_FS_ATTACH:
		fake_attach(c, p, len, a);
		break;
	case DDIO_OP_FS_DISKS:
		fake_disks(k, p, len, a);
		break;
	case DDIO_OP_FS_LOOKUP:
		fake_lookup(k, p, len, a);
		break;
	case DDIO_OP_FS_GETATTR:
	case DDIO_OP_FS_RELEASE:
	case DDIO_OP_FS_GONE:
		fake_ino(k, msg->opcode, p, len, a);
		break;
	case DDIO_OP_FS_SETATTR:
		fake_setattr(k, p, len, a);
		break;
	case DDIO_OP_FS_OPEN:
		fake_open(k, p, len, a);
		break;
	case DDIO_OP_FS_WROTE:
		fake_wrote(k, p, len, a);
		break;
	case DDIO_OP_FS_READDIR:
		fake_readdir(k, p, len, a);
		break;
	case DDIO_OP_FS_ALLOC:
		fake_alloc(k, p, len, a);
		break;
	case DDIO_OP_FS_ORPHANS:
		fake_orphans(k, a);
		break;
	case DDIO_OP_FS_SPACE:
		FAKE_PUT(a, fs_space, &space);
		break;
	case DDIO_OP_FS_LOCK_SET:
		fake_lock_set(c, msg, p, a);
		break;
	case DDIO_OP_FS_LOCK_CANCEL:
		fake_cancel(k);
		break;
	case DDIO_OP_FS_MAKE:
	case DDIO_OP_FS_UNLINK:
	case DDIO_OP_FS_LINK:
	case DDIO_OP_FS_RENAME:
	case DDIO_OP_FS_APPEND:
		fake_numbered(k, msg->opcode, p, len, a);
		break;
	case DDIO_OP_OWED:
		fake_owed(c, p, len, a);
		break;
	case DDIO_OP_FS_DETACH:
		k->detaches++;
		break;
	case DDIO_OP_FS_UNLOCK_OWNER:
	case DDIO_OP_FS_SYNC:
	case DDIO_OP_OBJ_SYNC:
	case DDIO_OP_PING:
	default:
		break;
	}
}

/*
 * Connections
 */
static inline void fake_conn_end(struct fake_conn *c)
{
	if (c->conn)
		ddio_conn_close(c->conn, false);
	c->conn = NULL;
	if (c->k->waiting.c == c)
		c->k->waiting.c = NULL;
}

static inline void fake_hello(void *ctx, const struct ddio_msg_hello *hello)
{
	struct fake_conn *c = ctx;
	struct ddio_msg_welcome w = { .node = c->k->node, .nreactors = 1, .boot = c->k->boot };

	(void)hello;
	strcpy(w.name, c->k->name);
	ddio_conn_welcome(c->conn, &w);
}

static inline void fake_rebirth(void *arg);

/* Other requests may be answered before a held one. */
static inline void fake_hold(struct fake_conn *c, const struct ddio_msg *msg, struct fake_answer *a)
{
	struct fake_names *k = c->k;

	FAKE_ASSERT(!k->held.c && a->len >= 0 && a->len <= 512);
	k->hold = 0;
	k->held.msg = *msg;
	k->held.c = c;
	k->held.status = a->status;
	k->held.len = a->status ? 0 : (size_t)a->len;
	memcpy(k->held.buf, a->buf, k->held.len);
	a->len = -1;
}

static inline void fake_let_go(struct fake_names *k)
{
	FAKE_ASSERT(k->held.c && k->held.c->conn);
	ddio_conn_reply(k->held.c->conn, &k->held.msg, k->held.status, k->held.buf, k->held.len);
	k->held.c = NULL;
}

static inline int fake_message(void *ctx, const struct ddio_msg *msg, const void *payload)
{
	struct fake_conn *c = ctx;
	struct fake_names *k = c->k;
	static struct fake_answer a;
	bool lose = ++k->messages == k->lose_at;

	if (k->messages == k->reborn_at) {
		k->rebirth.fn = fake_rebirth;
		k->rebirth.arg = k;
		ddio_env_post(k->env, &k->rebirth);
	}
	if (lose && !k->late)
		return -ECONNRESET;
	if (k->deaf)
		return 0;
	a.status = 0;
	a.len = 0;
	fake_serve(c, msg, payload, &a);
	if (a.len >= 0 && !a.status && ddio_opcode_numbered(msg->opcode)) {
		ddio_put_change(a.buf + a.len, ++k->changes);
		a.len += DDIO_CHANGE_LEN;
	}
	if (lose)
		return -ECONNRESET;
	if (msg->opcode == k->lose) {
		k->lose = 0;
		k->lost++;
		a.len = -1;
	}
	if (msg->opcode == k->hold)
		fake_hold(c, msg, &a);
	if (a.len >= 0)
		ddio_conn_reply(c->conn, msg, a.status, a.buf, a.status ? 0 : (size_t)a.len);
	return 0;
}

static inline void fake_closed(void *ctx, int err, const char *why)
{
	(void)err;
	(void)why;
	fake_conn_end(ctx);
}

static const struct ddio_conn_ops fake_ops = {
	.hello = fake_hello,
	.message = fake_message,
	.closed = fake_closed,
};

static inline void fake_accept(void *ctx, struct ddio_stream *stream)
{
	struct ddio_conn_opts opts = { .cluster = "ut" };
	struct fake_names *k = ctx;
	int i;

	for (i = 0; i < FAKE_CONNS && k->conns[i].conn; i++)
		;
	FAKE_ASSERT(i < FAKE_CONNS);
	k->conns[i] = (struct fake_conn){ .k = k };
	FAKE_ASSERT(!ddio_conn_accept(k->env, stream, &opts, &fake_ops, &k->conns[i],
				      &k->conns[i].conn));
}

static inline void fake_listen(struct fake_names *k)
{
	FAKE_ASSERT(!(ddio_listen(k->env, k->addr, fake_accept, k, &k->listener)));
}

static inline void fake_hang_up(struct fake_names *k)
{
	int i;

	for (i = 0; i < FAKE_CONNS; i++)
		if (k->conns[i].conn)
			fake_conn_end(&k->conns[i]);
}

static inline void fake_stop(struct fake_names *k)
{
	fake_hang_up(k);
	if (k->listener)
		ddio_listener_close(k->listener);
	k->listener = NULL;
}

/* Another mount attaches, whose numbers start over; the old one did not say that it ended. */
static inline void fake_stranger(struct fake_names *k)
{
	memset(k->done, 0, sizeof(k->done));
	k->upto = 0;
	k->known = false;
}

/* Restarts: what was open or locked is forgotten, changes are not. */
static inline void fake_reborn(struct fake_names *k)
{
	int i;

	fake_stop(k);
	k->boot++;
	k->known = false;
	for (i = 0; i < FAKE_INODES; i++)
		k->inode[i].open = false;
	memset(k->lock, 0, sizeof(k->lock));
	fake_listen(k);
}

/* Its records are put back from the time before its last life. */
static inline void fake_forked(struct fake_names *k)
{
	k->forks++;
	fake_reborn(k);
}

static inline void fake_rebirth(void *arg)
{
	fake_reborn(arg);
}

static inline void fake_begin(struct fake_names *k, struct ddio_env *env, uint32_t ndisks,
			      uint32_t block)
{
	k->env = env;
	k->ndisks = ndisks;
	k->block = block;
	k->boot = 1;
	k->next = DDIO_FS_ROOT;
	fake_new(k, S_IFDIR | 0755);
	fake_listen(k);
}

#endif /* DDIO_TEST_FS_FAKE_H */
