/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Goes through records as they were at one time, some in each turn of the reactor.  Pages that the records of that
 * time have are not used again meanwhile, so a walk should not rest.
 */
#ifndef DDIO_LMDB_WALK_H
#define DDIO_LMDB_WALK_H

#include "iop/lmdb/env.h"

/* Returns 0 or -errno; lmdb_walk_end() in any case. */
int lmdb_walk_begin(struct lmdb_walk *walk, struct lmdb *db);
void lmdb_walk_end(struct lmdb_walk *walk);
/*
 * Finds the next record of database @dbi, the first one after the end of another.  Returns 0; -ENOENT: that was the
 * last one; or -errno.
 */
int lmdb_walk_next(struct lmdb_walk *walk, MDB_dbi dbi, MDB_val *key, MDB_val *value);
/* Returns true if nothing has been committed since the walk began. */
bool lmdb_walk_newest(const struct lmdb_walk *walk);

#endif /* DDIO_LMDB_WALK_H */
