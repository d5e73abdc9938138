// SPDX-License-Identifier: LGPL-2.1-or-later
/* Groups of sums in memory: found, loaded, kept for a while, dropped. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "iop/sums/priv.h"

struct sums_at sums_at(const struct sums_block *b)
{
	uint32_t n = sums_chunks(b->bs);
	uint64_t chunk = b->block * n;

	return (struct sums_at){
		.number = chunk / SUMS_GROUP,
		.first = chunk % SUMS_GROUP,
		.n = n,
		.len = sums_chunk(b->bs),
	};
}

struct sums_group *sums_find(const struct sums *sums, uint64_t id, uint64_t number)
{
	struct sums_group *group;

	ddio_hash_for_each_match(group, &sums->groups, ddio_hash_pair(id, number), node)
		if (group->rec.id == id && group->rec.number == number)
			return group;
	return NULL;
}

static struct sums_of *find_of(const struct sums *sums, uint64_t id)
{
	return ddio_hash_entry(ddio_hash_find(&sums->objects, id), struct sums_of, node);
}

/* Finds or makes what holds the groups of an object; NULL: no memory. */
static struct sums_of *get_of(struct sums *sums, uint64_t id)
{
	struct sums_of *of = find_of(sums, id);

	if (of)
		return of;
	of = calloc(1, sizeof(*of));
	if (!of)
		return NULL;
	ddio_list_init(&of->groups);
	ddio_hash_add(&sums->objects, &of->node, id);
	return of;
}

static void put_of(struct sums *sums, struct sums_of *of)
{
	if (!ddio_list_empty(&of->groups))
		return;
	ddio_hash_del(&sums->objects, &of->node);
	free(of);
}

void sums_forget(struct sums *sums, uint64_t id)
{
	struct sums_of *of;

	for (of = find_of(sums, id); of; of = find_of(sums, id))
		sums_group_free(sums, ddio_list_first(&of->groups, struct sums_group, of_link));
}

void sums_group_free(struct sums *sums, struct sums_group *group)
{
	ddio_hash_del(&sums->groups, &group->node);
	ddio_list_del(&group->of_link);
	put_of(sums, group->of);
	ddio_list_del(&group->link);
	sums->ndue -= group->due;
	if (group->busy)
		sums->nbusy--;
	else
		sums->nclean--;
	free(group);
}

void sums_shrink(struct sums *sums)
{
	struct sums_group *group, *tmp;

	if (sums->nclean <= SUMS_KEEP)
		return;
	ddio_list_for_each_entry_safe(group, tmp, &sums->clean, link) {
		if (sums->nclean <= SUMS_KEEP)
			return;
		if (!group->writing && !group->sealed)
			sums_group_free(sums, group);
	}
}

void sums_group_busy(struct sums *sums, struct sums_group *group, bool due)
{
	if (!group->busy) {
		group->busy = true;
		sums->nclean--;
		sums->nbusy++;
	}
	sums->ndue += due && !group->due;
	group->due |= due;
	ddio_list_del(&group->link);
	ddio_list_add(&group->link, group->due ? &sums->due : &sums->late);
}

void sums_group_clean(struct sums *sums, struct sums_group *group)
{
	sums->ndue -= group->due;
	group->due = false;
	if (group->busy) {
		group->busy = false;
		sums->nbusy--;
		sums->nclean++;
	}
	ddio_list_del(&group->link);
	ddio_list_add(&group->link, &sums->clean);
}

/* Reads the record of a new group; one that is damaged tells nothing, and is a finding of the check. */
static int load(struct sums *sums, struct sums_group *group)
{
	uint64_t id = group->rec.id, number = group->rec.number;
	uint8_t key[REC_SUMS_KEY_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v;
	int ret = lmdb_read_begin(sums->db);

	if (ret)
		return ret;
	rec_sums_key(key, id, number);
	ret = lmdb_errno(mdb_get(sums->db->read, sums->db->dbi[sums->which], &k, &v));
	if (!ret)
		ret = rec_sums_get(key, sizeof(key), v.mv_data, v.mv_size, &group->rec);
	lmdb_read_end(sums->db);
	if (ret != -EUCLEAN)
		return ret == -ENOENT ? 0 : ret;
	memset(&group->rec, 0, sizeof(group->rec));
	group->rec.id = id;
	group->rec.number = number;
	return 0;
}

uint64_t sums_bytes(const struct sums *sums)
{
	return sums->groups.n * sizeof(struct sums_group);
}

int sums_get(struct sums *sums, uint64_t id, uint64_t number, struct sums_group **result)
{
	struct sums_group *group = sums_find(sums, id, number);
	int ret;

	*result = group;
	if (group && !group->busy) {
		ddio_list_del(&group->link);
		ddio_list_add(&group->link, &sums->clean);
	}
	if (group)
		return 0;
	group = calloc(1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->rec.id = id;
	group->rec.number = number;
	ret = load(sums, group);
	sums_shrink(sums);
	if (!ret)
		group->of = get_of(sums, id);
	if (!group->of) {
		free(group);
		return ret ? ret : -ENOMEM;
	}
	ddio_list_add(&group->of_link, &group->of->groups);
	ddio_hash_add(&sums->groups, &group->node, ddio_hash_pair(id, number));
	ddio_list_add(&group->link, &sums->clean);
	sums->nclean++;
	*result = group;
	return 0;
}

int sums_ready(struct sums *sums, const struct sums_block *b, uint64_t count)
{
	const struct sums_block last = { b->id, b->block + count - 1, b->bs };
	uint64_t number = sums_at(b).number, end = sums_at(&last).number;
	struct sums_group *group;
	int ret = 0;

	for (; sums->on && number <= end && !ret; number++)
		ret = sums_get(sums, b->id, number, &group);
	return ret;
}
