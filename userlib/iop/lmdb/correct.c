// SPDX-License-Identifier: LGPL-2.1-or-later
#include "iop/lmdb/correct.h"
#include "iop/lmdb/value.h"

static bool correct_in(MDB_val *part, const MDB_val *key, const MDB_val *value)
{
	uint8_t *bytes = part->mv_data;
	size_t bit;

	for (bit = 0; bit < 8 * part->mv_size; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (value_record_intact(key, value))
			return true;
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	return false;
}

bool value_correct(MDB_val *key, MDB_val *value)
{
	if (value->mv_size > CORRECT_MAX)
		return false;
	return correct_in(key, key, value) || correct_in(value, key, value);
}
