// SPDX-License-Identifier: LGPL-2.1-or-later
/* What of the names is not known to be durable, see unsynced.h. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/names/names.h"

/**
 * struct fsc_mark - an inode that was changed
 * @clock: the last change; @lost: it may be lost, and nobody has been told
 */
struct fsc_mark {
	struct ddio_hash_node node;
	struct ddio_list order;
	uint64_t ino, clock;
	bool lost;
};

void fsc_unsynced_init(struct fsc_unsynced *u)
{
	memset(u, 0, sizeof(*u));
	ddio_list_init(&u->order);
}

void fsc_unsynced_free(struct fsc_unsynced *u)
{
	struct ddio_hash_walk walk;
	struct fsc_mark *mark;

	ddio_hash_for_each(mark, &walk, &u->marks, node)
		free(mark);
	ddio_hash_fini(&u->marks);
}

static struct fsc_mark *mark_find(const struct fsc_unsynced *u, uint64_t ino)
{
	return ddio_hash_entry(ddio_hash_find(&u->marks, ino), struct fsc_mark, node);
}

static struct fsc_mark *mark_make(struct fsc_unsynced *u, uint64_t ino)
{
	struct fsc_mark *mark = mark_find(u, ino);

	if (mark)
		return mark;
	mark = calloc(1, sizeof(*mark));
	if (!mark)
		return NULL;
	mark->ino = ino;
	ddio_list_init(&mark->order);
	ddio_hash_add(&u->marks, &mark->node, ino);
	u->nfresh++;
	return mark;
}

static void mark_free(struct fsc_unsynced *u, struct fsc_mark *mark)
{
	u->nfresh -= !mark->lost;
	ddio_list_del(&mark->order);
	ddio_hash_del(&u->marks, &mark->node);
	free(mark);
}

void fsc_unsynced_add(struct fsc_unsynced *u, uint64_t ino)
{
	struct fsc_mark *mark = mark_make(u, ino);

	if (!mark) {
		u->unnamed = u->clock;
		return;
	}
	mark->clock = u->clock;
	/* One that is lost stays so until somebody has been told. */
	if (mark->lost)
		return;
	ddio_list_del(&mark->order);
	ddio_list_add(&mark->order, &u->order);
}

/* Where inodes stand in what is sent: one or two numbers of 8 bytes; 0: none. */
struct ino_places {
	uint8_t first, second;
};

static struct ino_places places_of(uint16_t opcode)
{
	switch (opcode) {
	case DDIO_OP_FS_SETATTR:
	case DDIO_OP_FS_WROTE:
	case DDIO_OP_FS_ALLOC:
		return (struct ino_places){ 1, 0 };
	case DDIO_OP_FS_MAKE:
	case DDIO_OP_FS_UNLINK:
	case DDIO_OP_FS_APPEND:
	case DDIO_OP_FS_SETXATTR:
	case DDIO_OP_FS_REMOVEXATTR:
		return (struct ino_places){ 3, 0 };
	case DDIO_OP_FS_LINK:
	case DDIO_OP_FS_RENAME:
		return (struct ino_places){ 3, 4 };
	default:
		return (struct ino_places){ 0, 0 };
	}
}

static uint64_t number_at(const void *data, size_t len, size_t at)
{
	uint64_t v;

	if (!data || at + sizeof(v) > len)
		return 0;
	memcpy(&v, (const uint8_t *)data + at, sizeof(v));
	return le64toh(v);
}

static void add_at(struct fsc_unsynced *u, const void *data, size_t len, size_t at)
{
	uint64_t ino = number_at(data, len, at);

	if (ino)
		fsc_unsynced_add(u, ino);
}

void fsc_unsynced_changed(struct fsc_unsynced *u, const struct fsc_ask *ask,
			  const struct reply *reply)
{
	struct ino_places p = places_of(ask->opcode);

	if (!p.first)
		return;
	u->clock++;
	add_at(u, ask->fixed, ask->len, 8 * (p.first - 1));
	if (p.second)
		add_at(u, ask->fixed, ask->len, 8 * (p.second - 1));
	/* Flags, and the attributes of what was made, which begin with its number. */
	if (ask->opcode == DDIO_OP_FS_MAKE)
		add_at(u, reply->payload, reply->len, sizeof(uint32_t));
	/* What was renamed is not named by anybody. */
	if (ask->opcode == DDIO_OP_FS_RENAME)
		u->unnamed = u->clock;
}

void fsc_unsynced_durable(struct fsc_unsynced *u, uint64_t clock)
{
	struct fsc_mark *mark;

	while (!ddio_list_empty(&u->order)) {
		mark = ddio_list_first(&u->order, struct fsc_mark, order);
		if (mark->clock > clock)
			break;
		mark_free(u, mark);
	}
	if (u->unnamed <= clock)
		u->unnamed = 0;
}

bool fsc_unsynced_any(const struct fsc_unsynced *u, uint64_t clock)
{
	const struct fsc_mark *mark;

	if (u->unnamed && u->unnamed <= clock)
		return true;
	if (ddio_list_empty(&u->order))
		return false;
	mark = ddio_list_first(&u->order, struct fsc_mark, order);
	return mark->clock <= clock;
}

void fsc_unsynced_lost(struct fsc_unsynced *u)
{
	struct fsc_mark *mark;

	u->losses++;
	u->unnamed = 0;
	u->nfresh = 0;
	while (!ddio_list_empty(&u->order)) {
		mark = ddio_list_first(&u->order, struct fsc_mark, order);
		ddio_list_del(&mark->order);
		mark->lost = true;
	}
}

bool fsc_unsynced_tell(struct fsc_unsynced *u, uint64_t ino)
{
	struct fsc_mark *mark = ino ? mark_find(u, ino) : NULL;
	bool lost = ino ? mark && mark->lost : u->told != u->losses;

	if (!ino)
		u->told = u->losses;
	else if (lost)
		mark_free(u, mark);
	return lost;
}
