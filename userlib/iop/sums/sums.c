// SPDX-License-Identifier: LGPL-2.1-or-later
/* The sums of a disk: made when blocks are written, compared when they are read; see sums.h. */
#include <errno.h>
#include <string.h>
#include "base/crc32c.h"
#include "iop/sums/priv.h"

void sums_init(struct sums *sums, struct lmdb *db, int which, bool on)
{
	memset(sums, 0, sizeof(*sums));
	sums->db = db;
	sums->which = which;
	sums->on = on;
	sums->seq = 1;
	sums->tick = 1;
	ddio_list_init(&sums->clean);
	ddio_list_init(&sums->due);
	ddio_list_init(&sums->late);
}

static bool any_of(const uint64_t map[SUMS_WORDS], const struct sums_at *at)
{
	uint32_t i;

	for (i = 0; i < at->n; i++)
		if (sums_bit(map, at->first + i))
			return true;
	return false;
}

static void set_all(uint64_t map[SUMS_WORDS], const struct sums_at *at, bool on)
{
	uint32_t i;

	for (i = 0; i < at->n; i++)
		sums_bit_set(map, at->first + i, on);
}

/* Returns true if a record may say something of the block that a write makes wrong. */
static bool recorded(const struct sums_group *group, const struct sums_at *at)
{
	return any_of(group->rec.have, at) && !any_of(group->fresh, at);
}

/* Has the group recorded as in doubt, if it has not been.  Returns true if it is recorded. */
static bool open_group(struct sums *sums, struct sums_group *group)
{
	if (!group->open) {
		group->open = true;
		group->opened = sums->seq;
		sums_group_busy(sums, group, true);
	}
	return group->opened <= sums->done;
}

int sums_write_begin(struct sums *sums, const struct sums_block *b, bool fresh)
{
	const struct sums_at at = sums_at(b);
	struct sums_group *group;
	int ret;

	if (!sums->on)
		return 0;
	ret = sums_get(sums, b->id, at.number, &group);
	if (ret)
		return ret;
	if (!fresh && recorded(group, &at) && !open_group(sums, group))
		return 1;
	set_all(group->moving, &at, true);
	group->writing++;
	group->touched = sums->tick;
	return 0;
}

bool sums_open_ahead(struct sums *sums, const struct sums_block *b)
{
	const struct sums_at at = sums_at(b);
	struct sums_group *group;

	/* Without memory it is done when the block is written. */
	if (!sums->on || sums_pressed(sums) || sums_get(sums, b->id, at.number, &group) ||
	    !recorded(group, &at))
		return false;
	group->touched = sums->tick;
	return !open_group(sums, group);
}

static void sum_set(struct sums_group *group, uint32_t i, const uint32_t *sum)
{
	sums_bit_set(group->rec.have, i, sum);
	sums_bit_set(group->rec.doubt, i, false);
	group->rec.sum[i] = sum ? *sum : 0;
}

/* Ends a write; NULL: the group has been forgotten with its object, and maybe another one made. */
static struct sums_group *write_ended(struct sums *sums, const struct sums_block *b, bool due)
{
	const struct sums_at at = sums_at(b);
	struct sums_group *group = sums->on ? sums_find(sums, b->id, at.number) : NULL;

	if (!group || !any_of(group->moving, &at))
		return NULL;
	group->writing--;
	group->touched = sums->tick;
	set_all(group->moving, &at, false);
	if (due)
		set_all(group->fresh, &at, true);
	return group;
}

/* Chunk @i of the block. */
static uint32_t sum_of(const struct sums_at *at, const struct sums_data *data, uint32_t i)
{
	if (data->made)
		return data->made[i];
	return ddio_crc32c(0, (const uint8_t *)data->bytes + (size_t)i * at->len, at->len);
}

void sums_write_end(struct sums *sums, const struct sums_block *b, const struct sums_data *data,
		    bool due)
{
	const struct sums_at at = sums_at(b);
	struct sums_group *group = write_ended(sums, b, due);
	uint32_t i, sum;

	if (!group)
		return;
	for (i = 0; i < at.n; i++) {
		if (data)
			sum = sum_of(&at, data, i);
		sum_set(group, at.first + i, data ? &sum : NULL);
	}
	sums_group_busy(sums, group, due);
}

void sums_write_none(struct sums *sums, const struct sums_block *b)
{
	(void)write_ended(sums, b, false);
}

void sums_write_told(struct sums *sums, const struct sums_block *b, uint32_t sum, bool due)
{
	struct sums_group *group = write_ended(sums, b, due);

	if (!group)
		return;
	sum_set(group, sums_at(b).first, &sum);
	sums_group_busy(sums, group, due);
}

/* Compares one chunk: 0 or -EBADMSG.  What is in doubt is taken for what is newer. */
static int check_chunk(struct sums *sums, struct sums_group *group, uint32_t i, uint32_t sum)
{
	bool doubt = sums_bit(group->rec.doubt, i), same = group->rec.sum[i] == sum;

	if (!sums_bit(group->rec.have, i))
		return 0;
	sums->count.checked++;
	if (!same && !doubt) {
		sums->count.bad++;
		return -EBADMSG;
	}
	if (doubt) {
		sums->count.adopted += !same;
		sum_set(group, i, &sum);
		sums_group_busy(sums, group, false);
	}
	return 0;
}

int sums_check(struct sums *sums, const struct sums_block *b, const struct sums_data *data,
	       uint32_t *chunk)
{
	const struct sums_at at = sums_at(b);
	struct sums_group *group;
	uint32_t i;
	int ret = sums->on ? sums_get(sums, b->id, at.number, &group) : 0;

	if (ret || !sums->on || !any_of(group->rec.have, &at))
		return ret;
	for (i = 0; i < at.n && !ret; i++) {
		*chunk = i;
		ret = check_chunk(sums, group, at.first + i, sum_of(&at, data, i));
	}
	return ret;
}

int sums_give(struct sums *sums, const struct sums_block *b, const void *data)
{
	const struct sums_at at = sums_at(b);
	struct sums_group *group;
	uint32_t i, sum;
	int ret = sums->on ? sums_get(sums, b->id, at.number, &group) : 0;

	if (ret || !sums->on)
		return ret;
	for (i = 0; i < at.n; i++) {
		if (sums_bit(group->rec.have, at.first + i))
			continue;
		sum = ddio_crc32c(0, (const uint8_t *)data + (size_t)i * at.len, at.len);
		sum_set(group, at.first + i, &sum);
		ret++;
	}
	if (ret)
		sums_group_busy(sums, group, false);
	return ret;
}

int sums_move(struct sums *sums, const struct sums_block *from, const struct sums_block *to)
{
	const struct sums_at at = sums_at(from), there = sums_at(to);
	struct sums_group *group, *target;
	uint32_t i;
	int ret = sums->on ? sums_get(sums, from->id, at.number, &group) : 0;

	if (!ret && sums->on)
		ret = sums_get(sums, to->id, there.number, &target);
	if (ret || !sums->on)
		return ret;
	for (i = 0; i < at.n; i++) {
		uint32_t chunk = at.first + i;

		sum_set(target, there.first + i,
			sums_bit(group->rec.have, chunk) ? &group->rec.sum[chunk] : NULL);
		sums_bit_set(target->rec.doubt, there.first + i, sums_bit(group->rec.doubt, chunk));
		sums_bit_set(target->fresh, there.first + i, false);
	}
	/* Until the next commit the record of @from says that its sum is not in doubt: nothing may be written before. */
	if (target->open)
		target->opened = sums->seq;
	sums_group_busy(sums, target, true);
	return 0;
}

bool sums_lack(struct sums *sums, const struct sums_block *b)
{
	const struct sums_at at = sums_at(b);
	struct sums_group *group;
	uint32_t i;

	if (!sums->on || sums_get(sums, b->id, at.number, &group))
		return false;
	for (i = at.first; i < at.first + at.n; i++)
		if (!sums_bit(group->rec.have, i))
			return true;
	return false;
}

bool sums_known(struct sums *sums, const struct sums_block *b)
{
	const struct sums_at at = sums_at(b);
	struct sums_group *group;
	uint32_t i;

	if (!sums->on || sums_get(sums, b->id, at.number, &group))
		return true;
	for (i = at.first; i < at.first + at.n; i++)
		if (!sums_bit(group->rec.have, i) || sums_bit(group->rec.doubt, i))
			return false;
	return true;
}

void sums_fini(struct sums *sums)
{
	struct ddio_hash_walk walk;
	struct sums_group *group;

	ddio_hash_for_each(group, &walk, &sums->groups, node)
		sums_group_free(sums, group);
	ddio_hash_fini(&sums->groups);
	ddio_hash_fini(&sums->objects);
	sums_sealed_free(sums);
}

void sums_settle(struct sums *sums, uint64_t age, uint64_t most)
{
	struct sums_group *group, *tmp;

	ddio_list_for_each_entry_safe(group, tmp, &sums->late, link) {
		if (sums->nbusy - sums_ndue(sums) <= most)
			break;
		if (group->writing || sums->tick - group->touched < age)
			continue;
		group->open = false;
		sums_group_busy(sums, group, true);
	}
	sums->tick += age > 0;
}

bool sums_unsettled(const struct sums *sums)
{
	return sums->nbusy;
}

bool sums_pressed(const struct sums *sums)
{
	return sums->nbusy > SUMS_BUSY;
}

bool sums_due(const struct sums *sums)
{
	return !ddio_list_empty(&sums->due);
}

uint64_t sums_ndue(const struct sums *sums)
{
	return sums->ndue;
}
