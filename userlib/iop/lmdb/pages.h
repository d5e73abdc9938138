/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks the file of an LMDB environment before it is used.  LMDB trusts its file: it follows any number in it,
 * out of the map if need be, and the process dies.  This reads every page that LMDB could reach with pread(2), and
 * finds what no intact file has: pages outside the file or used twice, nodes outside their page, keys out
 * of order, counts that differ, a meta page that is not the last one.
 */
#ifndef DDIO_LMDB_PAGES_H
#define DDIO_LMDB_PAGES_H

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGES_NAME_LEN 120

/**
 * struct pages_records - asks to look at the records, too
 * @intact: returns whether a record of database @db is as it was written; NULL: nobody looks
 * @damaged: how many are not; @first: the name of the first of them
 */
struct pages_records {
	bool (*intact)(const void *arg, const char *db, const MDB_val *key, const MDB_val *value);
	const void *arg;
	uint64_t damaged;
	char first[PAGES_NAME_LEN];
};

/*
 * Checks the file at @path.  @found: what is wrong, one line.  Returns 0, also if there is no file yet; -EUCLEAN:
 * it is damaged; or -errno.
 */
int lmdb_pages_check(const char *path, struct pages_records *records, char *found, size_t len);

#endif /* DDIO_LMDB_PAGES_H */
