// SPDX-License-Identifier: LGPL-2.1-or-later
/* What of the names is not known to be durable, see unsynced.h. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include "cp/fs/names/names.h"

/* So many that somebody has been told of are remembered, for openings that have not. */
#define TOLD_MAX 8192

/**
 * struct fsc_mark - an inode that was changed
 * @order: in struct fsc_unsynced.order if @fresh: not known to be durable; in .told if @kept; else in no list
 * @clock: the last change
 * @lost, @told: events: a change may have been lost, and somebody was told for the first time; 0: not so
 */
struct fsc_mark {
	struct ddio_hash_node node;
	struct ddio_list order;
	uint64_t ino, clock, lost, told;
	bool fresh, kept;
};

void fsc_unsynced_init(struct fsc_unsynced *u)
{
	memset(u, 0, sizeof(*u));
	ddio_list_init(&u->order);
	ddio_list_init(&u->told);
	u->events = 1;
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
	return mark;
}

/* Takes it from the list that it is in. */
static void mark_unlist(struct fsc_unsynced *u, struct fsc_mark *mark)
{
	ddio_list_del(&mark->order);
	ddio_list_init(&mark->order);
	u->nfresh -= mark->fresh;
	u->ntold -= mark->kept;
	mark->fresh = false;
	mark->kept = false;
}

static void mark_free(struct fsc_unsynced *u, struct fsc_mark *mark)
{
	mark_unlist(u, mark);
	ddio_hash_del(&u->marks, &mark->node);
	free(mark);
}

/* It is durable, or lost: it stays as long as somebody may have to hear of a loss. */
static void mark_settle(struct fsc_unsynced *u, struct fsc_mark *mark)
{
	struct fsc_mark *oldest;

	mark_unlist(u, mark);
	if (!mark->lost) {
		mark_free(u, mark);
		return;
	}
	if (!mark->told)
		return;
	ddio_list_add(&mark->order, &u->told);
	mark->kept = true;
	if (++u->ntold <= TOLD_MAX)
		return;
	oldest = ddio_list_first(&u->told, struct fsc_mark, order);
	/* Who has not heard of it hears of what is forgotten. */
	if (u->forgotten < oldest->told)
		u->forgotten = oldest->told;
	mark_free(u, oldest);
}

void fsc_unsynced_add(struct fsc_unsynced *u, uint64_t ino)
{
	struct fsc_mark *mark = mark_make(u, ino);

	if (!mark) {
		u->unnamed = u->clock;
		return;
	}
	mark_unlist(u, mark);
	mark->clock = u->clock;
	mark->fresh = true;
	ddio_list_add(&mark->order, &u->order);
	u->nfresh++;
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

/* Where FS_UNLINK has its flags: behind three numbers. */
#define UNLINK_FLAGS 24

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

/* What was renamed is not named by anybody, nor is a file that has lost a name, unless that was its last one. */
static bool unnamed_change(const struct fsc_ask *ask, const struct reply *reply)
{
	uint32_t asked = 0, left = 0;

	if (ask->opcode != DDIO_OP_FS_UNLINK)
		return ask->opcode == DDIO_OP_FS_RENAME;
	if (ask->len >= UNLINK_FLAGS + sizeof(asked))
		memcpy(&asked, (const uint8_t *)ask->fixed + UNLINK_FLAGS, sizeof(asked));
	if (reply->len >= sizeof(left))
		memcpy(&left, reply->payload, sizeof(left));
	return !(le32toh(asked) & DDIO_FS_UNLINK_DIR) && !(le32toh(left) & DDIO_FS_UNLINKED_LEFT);
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
	if (unnamed_change(ask, reply))
		u->unnamed = u->clock;
}

void fsc_unsynced_durable(struct fsc_unsynced *u, uint64_t clock)
{
	struct fsc_mark *mark;

	while (!ddio_list_empty(&u->order)) {
		mark = ddio_list_first(&u->order, struct fsc_mark, order);
		if (mark->clock > clock)
			break;
		mark_settle(u, mark);
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

bool fsc_unsynced_has(const struct fsc_unsynced *u, uint64_t ino)
{
	const struct fsc_mark *mark = mark_find(u, ino);

	return u->unnamed || (mark && mark->fresh);
}

static uint64_t event_next(struct fsc_unsynced *u)
{
	return __atomic_add_fetch(&u->events, 1, __ATOMIC_RELAXED);
}

uint64_t fsc_unsynced_now(const struct fsc_unsynced *u)
{
	return __atomic_load_n(&u->events, __ATOMIC_RELAXED);
}

void fsc_unsynced_lost(struct fsc_unsynced *u)
{
	uint64_t event = event_next(u);
	struct fsc_mark *mark;

	u->losses++;
	u->unnamed = 0;
	while (!ddio_list_empty(&u->order)) {
		mark = ddio_list_first(&u->order, struct fsc_mark, order);
		mark->lost = event;
		mark->told = 0;
		mark_settle(u, mark);
	}
}

void fsc_unsynced_forget(struct fsc_unsynced *u)
{
	u->forgotten = event_next(u);
}

static bool tell_any(struct fsc_unsynced *u)
{
	bool lost = u->told_any != u->losses;

	u->told_any = u->losses;
	return lost;
}

static void mark_told(struct fsc_unsynced *u, struct fsc_mark *mark)
{
	bool fresh = mark->fresh;

	mark->told = event_next(u);
	if (!fresh)
		mark_settle(u, mark);
}

bool fsc_unsynced_tell(struct fsc_unsynced *u, uint64_t ino, uint64_t *seen)
{
	struct fsc_mark *mark = ino ? mark_find(u, ino) : NULL;
	uint64_t since = seen ? *seen : UINT64_MAX;
	bool lost;

	if (!ino)
		return tell_any(u);
	lost = mark && mark->lost &&
	       (!mark->told || (seen && (mark->lost > since || mark->told > since)));
	/* Only openings that are older than what was forgotten. */
	lost = lost || (seen && u->forgotten > since);
	if (mark && mark->lost && !mark->told)
		mark_told(u, mark);
	if (seen)
		*seen = fsc_unsynced_now(u);
	return lost;
}
