/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of store and name space share: a directory, a world, a disk in a file. */
#ifndef DDIO_UT_STORE_H
#define DDIO_UT_STORE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "env/disk/disk.h"
#include "env/env.h"
#include "iop/store/store.h"
#include "sim/sim.h"
#include "tests/unit/lib/ut.h"

#define MIB (1024ull * 1024)

/**
 * struct ut_store - one store and what it stands on
 * @top: a directory of its own; @recs: the records, @file: the disk's file in it
 * @err: what the last store_open() said
 */
struct ut_store {
	char top[200], recs[260], file[260];
	struct ddio_sim *world;
	struct ddio_env *env;
	struct ddio_disk *disk;
	struct store *store;
	struct store_opts opts;
	struct ddio_disk_spec spec;
	char err[600];
};

void ut_remove_tree(const char *path);
void ut_temp_dir(char *path, size_t len);
void ut_copy_file(const char *from, const char *to);
void ut_store_disk(struct ut_store *t);
int ut_store_open(struct ut_store *t);
void ut_store_close(struct ut_store *t);
/* @size: of the disk, which is a file that is mostly a hole. */
void ut_store_prepare(struct ut_store *t, uint64_t size);
/* Records and disk of @t as they are now, as after a crash; not opened yet. */
void ut_store_copy(struct ut_store *copy, const struct ut_store *t, uint64_t size);
/* A block's bytes in the disk's file. */
void ut_store_raw(const struct ut_store *t, uint64_t at, void *data, size_t len, bool write);
/* What a number stands for: @len bytes, by eights. */
void ut_stamp(uint8_t *data, size_t len, uint64_t stamp);
/* Whether the block has the bytes of its number, and its checksum says so; 0: whether it is a hole. */
bool ut_block_has(struct ut_store *t, struct object *obj, uint64_t block, uint64_t stamp);
void ut_store_begin(struct ut_store *t, uint64_t size);
void ut_store_end(struct ut_store *t);
int ut_store_reopen(struct ut_store *t);

/* A commit that is waited for. */
struct ut_commit {
	struct commit commit;
	struct ddio_gate gate;
	struct ddio_env *env;
	int err;
};

void ut_commit_init(struct ut_commit *c, struct ddio_env *env);
int ut_commit_wait(struct ut_commit *c);
int ut_store_commit(struct ut_store *t);
struct ddio_file_ref ut_ref(uint64_t id, uint32_t block, uint32_t layout);
struct object *ut_object(struct ut_store *t, uint64_t id, uint32_t block, uint32_t layout,
			 bool create);
/* Allocates and marks as written. */
int ut_fill(struct object *obj, uint64_t first, uint64_t count);
/* No problem found.  Return: free bytes of the records. */
uint64_t ut_store_clean(struct ut_store *t);

/* A whole check, for tests that want nothing else meanwhile. */
static inline int ut_store_check(struct store *store, enum store_repair repair,
				 struct ddio_msg_fsck *result)
{
	struct store_check *check;
	int ret = store_check_begin(store, repair, &check);

	if (ret)
		return ret;
	while (store_check_step(check, 1))
		;
	return store_check_end(check, result);
}

#endif /* DDIO_UT_STORE_H */
