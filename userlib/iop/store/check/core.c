// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the passes share: saying what is wrong, and noting what a repair is to do about it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "iop/lmdb/correct.h"
#include "iop/store/check/check.h"

void check_report(struct store_check *check, const char *fmt, ...)
{
	char text[DDIO_MAX_TEXT];
	va_list ap;
	int n;

	n = snprintf(text, sizeof(text), "disk %s: ", check->store->label.name);
	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	if (!check->result.problems++)
		memcpy(check->result.text, text, sizeof(text));
	ddio_env_log(check->store->env, DDIO_LOG_WARN, "%s", text);
}

int check_grow(void **v, size_t *cap, size_t n, size_t size)
{
	size_t want = *cap ? *cap * 2 : 64;
	void *grown;

	if (n < *cap)
		return 0;
	grown = realloc(*v, want * size);
	if (!grown)
		return -ENOMEM;
	*v = grown;
	*cap = want;
	return 0;
}

int check_note_bad(struct store_check *check, int db, const MDB_val *key)
{
	struct bad_key *bad;

	if (check_grow((void **)&check->bad, &check->cap_bad, check->nbad, sizeof(*check->bad)))
		return -ENOMEM;
	bad = &check->bad[check->nbad++];
	memset(bad, 0, sizeof(*bad));
	bad->db = db;
	bad->len = key->mv_size < sizeof(bad->key) ? key->mv_size : sizeof(bad->key);
	memcpy(bad->key, key->mv_data, bad->len);
	return 0;
}

struct bad_key *check_last_bad(struct store_check *check)
{
	return &check->bad[check->nbad - 1];
}

int check_note_hit(struct store_check *check, uint64_t first, uint64_t last)
{
	int ret;

	if (!check->repair)
		return 0;
	ret = ranges_remove(&check->hit, first, last - first + (last < UINT64_MAX));
	return ret ? ret : ranges_add(&check->hit, first, last - first + (last < UINT64_MAX));
}

void check_lose(struct bad_key *bad, uint64_t id, uint64_t block)
{
	const struct rec_extent rec = { .id = id, .block = block, .count = 1, .lost = true };

	rec_extent_key(bad->fixed, id, block);
	rec_extent_put(bad->value, &rec);
	bad->fixed_len = REC_EXTENT_KEY_LEN;
	bad->value_len = REC_EXTENT_LEN;
}

bool check_correct(struct bad_key *bad, const MDB_val *val)
{
	MDB_val k = lmdb_val(bad->fixed, bad->len), v = lmdb_val(bad->value, val->mv_size);

	if (bad->len > sizeof(bad->fixed) || val->mv_size > sizeof(bad->value))
		return false;
	memcpy(bad->fixed, bad->key, bad->len);
	memcpy(bad->value, val->mv_data, val->mv_size);
	if (!value_correct(&k, &v))
		return false;
	bad->fixed_len = bad->len;
	bad->value_len = val->mv_size;
	return true;
}

void check_leave(struct store_check *check)
{
	if (check->repair == STORE_DROP)
		return;
	check->nbad--;
	check->kept++;
}
