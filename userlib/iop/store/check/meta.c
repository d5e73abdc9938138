// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What else is known of the disk as a whole: its lives, its scrub, the daemon's orderly ends.  The daemon has it in memory, as it
 * was read or as it would be if there were no record; a damaged one becomes that.
 */
#include <errno.h>
#include <string.h>
#include "iop/lmdb/value.h"
#include "iop/store/check/check.h"

static bool life_intact(const MDB_val *v)
{
	struct rec_life rec;

	return !rec_life_get(v->mv_data, v->mv_size, &rec);
}

static bool scrub_intact(const MDB_val *v)
{
	struct rec_scrub rec;

	return !rec_scrub_get(v->mv_data, v->mv_size, &rec);
}

static bool ends_intact(const MDB_val *v)
{
	struct ddio_ends rec;

	return !rec_ends_get(v->mv_data, v->mv_size, &rec);
}

static size_t life_known(const struct store *store, uint8_t *value)
{
	rec_life_put(value, &store->life);
	return REC_LIFE_LEN;
}

static size_t scrub_known(const struct store *store, uint8_t *value)
{
	rec_scrub_put(value, &store->scrub);
	return REC_SCRUB_LEN;
}

static size_t ends_known(const struct store *store, uint8_t *value)
{
	rec_ends_put(value, &store->ends);
	return REC_ENDS_LEN;
}

static const struct meta_record {
	const char *key, *what;
	bool (*intact)(const MDB_val *v);
	size_t (*known)(const struct store *store, uint8_t *value);
} meta_records[] = {
	{ STORE_LIFE_KEY, "lives", life_intact, life_known },
	{ STORE_SCRUB_KEY, "scrub", scrub_intact, scrub_known },
	{ STORE_ENDS_KEY, "orderly ends", ends_intact, ends_known },
};

static bool is_key(const MDB_val *key, const char *name)
{
	return key->mv_size == strlen(name) && !memcmp(key->mv_data, name, key->mv_size);
}

static int meta_damaged(struct store_check *check, const MDB_val *key, const struct meta_record *m)
{
	struct bad_key *bad;
	int ret;

	check_report(check, "the record of its %s is damaged", m->what);
	ret = check_note_bad(check, STORE_META, key);
	if (ret)
		return ret;
	bad = check_last_bad(check);
	bad->fixed_len = bad->len;
	memcpy(bad->fixed, bad->key, bad->len);
	bad->value_len = m->known(check->store, bad->value);
	return 0;
}

/* A daemon of another version may have records that this one does not know, and understands them if they are whole. */
static int meta_unknown(struct store_check *check, const MDB_val *key, const MDB_val *val)
{
	struct bad_key *bad;
	int ret;

	if (value_record_intact(key, val))
		return 0;
	check_report(check, "a record of the disk that this version does not know is damaged");
	ret = check_note_bad(check, STORE_META, key);
	if (ret)
		return ret;
	bad = check_last_bad(check);
	if (!check_correct(bad, val)) {
		bad->value_len = 0;
		check_leave(check);
	}
	return 0;
}

int check_meta(struct store_check *check, const MDB_val *key, const MDB_val *val)
{
	size_t i;

	/* That one has a pass of its own. */
	if (is_key(key, STORE_LABEL_KEY))
		return 0;
	for (i = 0; i < sizeof(meta_records) / sizeof(meta_records[0]); i++)
		if (is_key(key, meta_records[i].key))
			return meta_records[i].intact(val)
				       ? 0
				       : meta_damaged(check, key, &meta_records[i]);
	return meta_unknown(check, key, val);
}
