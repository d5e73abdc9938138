/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Epochs: blocks of a file that are written to new places, and become the file's together, or not at all.
 *
 * Until then they are those of another object, the file's shadow: as such they are allocated, written and recorded as any
 * others are.  From its begin to its end an epoch holds the file on this disk: store_fetch() waits.  So does who clones a file,
 * for a moment (hold.c).
 */
#ifndef DDIO_STORE_EPOCH_H
#define DDIO_STORE_EPOCH_H

#include "iop/store/store.h"

struct store_epoch;

/**
 * store_epoch_begin - hold a file for an epoch
 * @epoch: its number
 * @file: its object is made if it is missing
 * @e: the file's part of the epoch; valid until store_epoch_end()
 * Return: 0, -EBUSY (an epoch holds the file already), -ENOSPC (no room for records), -EROFS (the file is frozen) or
 * an error of store_get().
 */
int store_epoch_begin(struct store *store, uint64_t epoch, const struct ddio_file_ref *file,
		      struct store_epoch **e);
/* Returns the file's object, and the shadow; NULL before what a start has found was read. */
struct object *store_epoch_file(const struct store_epoch *e);
struct object *store_epoch_shadow(const struct store_epoch *e);
/* Returns true if nobody else uses the file's object. */
bool store_epoch_alone(const struct store_epoch *e);
/**
 * store_epoch_end - end the hold
 * @commit: the blocks become the file's; otherwise they are freed
 * @wait: told in a later turn, when it is so, in memory: the next commit records it; may be NULL.  Of one that is ending
 *	already, when it has.
 */
void store_epoch_end(struct store_epoch *e, bool commit, struct store_wait *wait);
/* Finds what is held: by epoch and file; the next one, the first behind NULL. */
struct store_epoch *store_epoch_find(const struct store *store, uint64_t epoch, uint64_t file);
struct store_epoch *store_epoch_next(const struct store *store, const struct store_epoch *e);

/**
 * struct store_epoch_look - what is known of one
 * @since: when it was prepared, by the clock of the store's env; UINT64_MAX: not yet
 * @ending: its end is under way
 * @blocks: that are pending; 0 if they have not been read yet
 */
struct store_epoch_look {
	uint64_t epoch, file, since, blocks;
	bool ending;
};

struct store_epoch_look store_epoch_look(const struct store_epoch *e);
/* All blocks of it are written and recorded: whether it ends well is for others to say. */
void store_epoch_prepared(struct store_epoch *e);

/**
 * struct store_hold - nobody finds the objects of a file on this disk, as during an epoch, but by store_get(); the caller owns
 *	the memory
 * @waits: struct store_wait: they want the file
 * @file: its number
 */
struct store_hold {
	struct ddio_list link, waits;
	uint64_t file;
};

/* Nobody else may hold the file, as store_fetch() has just said. */
void store_hold_begin(struct store *store, uint64_t file, struct store_hold *hold);
/* Whoever waits goes on, here. */
void store_hold_end(struct store_hold *hold);
/* Finds what is held without an epoch; the first behind NULL. */
struct store_hold *store_hold_next(const struct store *store, const struct store_hold *hold);
/* Returns true if nobody but the caller has the object. */
bool object_alone(const struct object *obj);

#endif /* DDIO_STORE_EPOCH_H */
