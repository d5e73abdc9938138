/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Corrects records of which one bit is wrong.  Pure. */
#ifndef DDIO_LMDB_CORRECT_H
#define DDIO_LMDB_CORRECT_H

#include <lmdb.h>
#include <stdbool.h>

/* Longer values are not corrected: every bit is tried. */
#define CORRECT_MAX 2048

/**
 * value_correct - find the only bit that may be wrong in a damaged record
 * @key, @value: copies of the record; changed in place if that makes it intact, else left as they are
 * Return: true if there is such a bit.  A CRC-32C leaves no doubt in records of this size: any two that it takes for
 * intact differ in more than two bits.
 */
bool value_correct(MDB_val *key, MDB_val *value);

#endif /* DDIO_LMDB_CORRECT_H */
