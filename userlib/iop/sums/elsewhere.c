// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sums that others compare: of blocks that go past us, whose mover compares them with what we tell, or tells what they are; and of
 * bytes in memory, which messages bring and take away.
 */
#include <errno.h>
#include "base/crc32c.h"
#include "iop/sums/priv.h"

static uint32_t count_of(const uint64_t map[SUMS_WORDS], const struct sums_at *at)
{
	uint32_t i, n = 0;

	for (i = 0; i < at->n; i++)
		n += sums_bit(map, at->first + i);
	return n;
}

int sums_whole(struct sums *sums, const struct sums_block *b, uint32_t *sum)
{
	const struct sums_at at = sums_at(b);
	struct sums_group *group;
	uint32_t have, i;
	int ret = sums->on ? sums_get(sums, b->id, at.number, &group) : 0;

	if (ret || !sums->on)
		return ret;
	have = count_of(group->rec.have, &at);
	if (!have)
		return 0;
	if (have < at.n || count_of(group->rec.doubt, &at))
		return -EAGAIN;
	*sum = group->rec.sum[at.first];
	for (i = 1; i < at.n; i++)
		*sum = ddio_crc32c_join(*sum, group->rec.sum[at.first + i], at.len);
	return 1;
}

/* Returns true if all of the chunks have sums that are not in doubt; then *@sum is that of all of them. */
static bool sum_of(const struct sums_group *group, uint32_t first, uint32_t n, uint32_t len,
		   uint32_t *sum)
{
	uint32_t i;

	*sum = 0;
	for (i = first; i < first + n; i++) {
		if (!sums_bit(group->rec.have, i) || sums_bit(group->rec.doubt, i))
			return false;
		*sum = ddio_crc32c_join(*sum, group->rec.sum[i], len);
	}
	return n;
}

bool sums_range(const struct sums *sums, const struct sums_block *b, uint32_t from, uint32_t to,
		uint32_t *sum)
{
	const struct sums_at at = sums_at(b);
	const struct sums_group *group;

	if (!sums->on || from % at.len || to % at.len)
		return false;
	group = sums_find(sums, b->id, at.number);
	return group && sum_of(group, at.first + from / at.len, (to - from) / at.len, at.len, sum);
}

bool sums_prove(struct sums *sums, const struct sums_block *b, uint32_t expected)
{
	const struct sums_at at = sums_at(b);
	struct sums_group *group = sums->on ? sums_find(sums, b->id, at.number) : NULL;
	uint32_t sum, i;

	if (!group || !sum_of(group, at.first, at.n, at.len, &sum) || sum == expected)
		return true;
	sums->count.bad++;
	for (i = at.first; i < at.first + at.n; i++)
		group->rec.sum[i] = ~group->rec.sum[i];
	return false;
}

void sums_compared(struct sums *sums, const struct sums_block *b, bool same)
{
	sums->count.checked += sums_chunks(b->bs);
	sums->count.bad += !same;
}
