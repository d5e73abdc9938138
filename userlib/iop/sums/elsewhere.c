// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sums of blocks that go past us: whoever moves them compares them with what we tell, or tells what they are. */
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

void sums_compared(struct sums *sums, const struct sums_block *b, bool same)
{
	sums->count.checked += sums_chunks(b->bs);
	sums->count.bad += !same;
}
