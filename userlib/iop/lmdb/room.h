/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Room in the file system ahead of LMDB, so that what is full can be emptied. */
#ifndef DDIO_LMDB_ROOM_H
#define DDIO_LMDB_ROOM_H

#include <errno.h>
#include "env/env.h"
#include "iop/lmdb/env.h"

/* What is kept for removals and starts: some transactions that change a few records each. */
#define LMDB_RESERVE (1u << 20)

/* After lmdb_open(): lengthens the file by @reserve, if it can. */
void lmdb_room_begin(struct lmdb *db, uint64_t reserve);
/*
 * Returns false if the file system is too full for records that take @bytes more in transactions to come, beside
 * the reserve.  On the reactor; no read may be under way.
 */
bool lmdb_room(struct lmdb *db, uint64_t bytes);
/* Remembers the last answer and logs a lack of room, not more than now and then.  Returns @room. */
bool lmdb_room_tell(struct lmdb *db, bool room, struct ddio_env *env);

/**
 * struct lmdb_left - what records take
 * @used: bytes; @free: how many more the file system has; @refused: how often there was no room
 */
struct lmdb_left {
	uint64_t used, free, refused;
};
/* Asks the file system. */
struct lmdb_left lmdb_left(const struct lmdb *db);

/*
 * Returns true if a transaction may have failed for want of room: LMDB calls a write cut short EIO.  It does no harm to
 * try again what failed for another reason: a new transaction writes all of its pages.
 */
static inline bool lmdb_no_room(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EIO;
}

#endif /* DDIO_LMDB_ROOM_H */
