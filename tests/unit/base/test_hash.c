// SPDX-License-Identifier: GPL-2.0-only
/* The hash table: against an array, with keys that collide, and while nodes leave. */
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "../lib/ut.h"

struct entry {
	uint64_t key;
	const char *name;
	bool in;
	unsigned int seen;
	struct ddio_hash_node node;
};

static struct entry *find(const struct ddio_hash *hash, uint64_t key)
{
	return ddio_hash_entry(ddio_hash_find(hash, key), struct entry, node);
}

static void an_empty_table_has_nothing(void)
{
	struct ddio_hash hash = { 0 };
	struct ddio_hash_walk walk;

	CU_ASSERT_PTR_NULL(ddio_hash_find(&hash, 0));
	CU_ASSERT_PTR_NULL(ddio_hash_find(&hash, UINT64_MAX));
	CU_ASSERT_PTR_NULL(ddio_hash_first(&hash, &walk));
	CU_ASSERT_PTR_NULL(ddio_hash_next(&hash, &walk));
	ddio_hash_fini(&hash);
}

static void every_number_is_a_key(void)
{
	static const uint64_t keys[] = { 0, 1, UINT64_MAX, 1ULL << 63, 0x100000000ULL };
	enum { N = sizeof(keys) / sizeof(keys[0]) };
	struct entry entry[N];
	struct ddio_hash hash = { 0 };
	size_t i;

	for (i = 0; i < N; i++)
		ddio_hash_add(&hash, &entry[i].node, keys[i]);
	for (i = 0; i < N; i++)
		CU_ASSERT_PTR_EQUAL(find(&hash, keys[i]), &entry[i]);
	CU_ASSERT_PTR_NULL(find(&hash, 2));
	ddio_hash_fini(&hash);
}

static void it_does_what_an_array_does(void)
{
	enum { N = 5000, STEPS = 60000 };
	struct entry *entry = calloc(N, sizeof(*entry));
	struct ddio_hash hash = { 0 };
	uint64_t seed = 1, i, wrong = 0;
	size_t n = 0, step;

	CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
	for (step = 0; step < STEPS; step++) {
		i = ddio_rand_below(&seed, N);
		if (entry[i].in)
			ddio_hash_del(&hash, &entry[i].node);
		else
			ddio_hash_add(&hash, &entry[i].node, i << 12);
		entry[i].in = !entry[i].in;
		n += entry[i].in ? 1 : -1;
		wrong += hash.n != n;
		i = ddio_rand_below(&seed, N);
		wrong += find(&hash, i << 12) != (entry[i].in ? &entry[i] : NULL);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	ddio_hash_fini(&hash);
	free(entry);
}

static void nodes_with_the_same_key_are_all_found(void)
{
	struct entry entry[7] = { 0 }, *at;
	struct ddio_hash hash = { 0 };
	size_t i, n = 0;

	for (i = 0; i < 7; i++)
		ddio_hash_add(&hash, &entry[i].node, i % 2);
	ddio_hash_for_each_match(at, &hash, 1, node) {
		CU_ASSERT_EQUAL((at - entry) % 2, 1);
		at->seen++;
		n++;
	}
	CU_ASSERT_EQUAL(n, 3);
	CU_ASSERT(entry[1].seen == 1 && entry[3].seen == 1 && entry[5].seen == 1);
	ddio_hash_del(&hash, &entry[3].node);
	n = 0;
	ddio_hash_for_each_match(at, &hash, 1, node)
		n++;
	CU_ASSERT_EQUAL(n, 2);
	ddio_hash_fini(&hash);
}

static void bytes_are_keys_by_their_digest(void)
{
	static const char *const names[] = { "", "a", "b", "ab", "ba", "12345678", "123456789" };
	enum { N = sizeof(names) / sizeof(names[0]) };
	struct entry entry[N], *at;
	struct ddio_hash hash = { 0 };
	size_t i, found;

	for (i = 0; i < N; i++) {
		entry[i].name = names[i];
		ddio_hash_add(&hash, &entry[i].node, ddio_hash_bytes(names[i], strlen(names[i])));
	}
	for (i = 0; i < N; i++) {
		found = 0;
		ddio_hash_for_each_match(at, &hash, ddio_hash_bytes(names[i], strlen(names[i])),
					 node)
			found += !strcmp(at->name, names[i]);
		CU_ASSERT_EQUAL(found, 1);
	}
	CU_ASSERT_NOT_EQUAL(ddio_hash_bytes("a\0", 2), ddio_hash_bytes("a", 1));
	CU_ASSERT_NOT_EQUAL(ddio_hash_pair(1, 2), ddio_hash_pair(2, 1));
	ddio_hash_fini(&hash);
}

static void a_walk_meets_each_node_once_though_nodes_leave(void)
{
	enum { N = 1000 };
	struct entry *entry = calloc(N, sizeof(*entry)), *at;
	struct ddio_hash hash = { 0 };
	struct ddio_hash_walk walk;
	size_t i, wrong = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
	for (i = 0; i < N; i++)
		ddio_hash_add(&hash, &entry[i].node, i % (N / 2));
	ddio_hash_for_each(at, &walk, &hash, node) {
		at->seen++;
		if ((at - entry) % 3)
			ddio_hash_del(&hash, &at->node);
	}
	ddio_hash_for_each(at, &walk, &hash, node)
		at->seen++;
	for (i = 0; i < N; i++)
		wrong += entry[i].seen != (i % 3 ? 1 : 2);
	CU_ASSERT_EQUAL(wrong, 0);
	/* To its end, freeing. */
	ddio_hash_for_each(at, &walk, &hash, node) {
		ddio_hash_del(&hash, &at->node);
		memset(at, 0xff, sizeof(*at));
	}
	CU_ASSERT_EQUAL(hash.n, 0);
	ddio_hash_fini(&hash);
	free(entry);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "an empty table has nothing", an_empty_table_has_nothing },
		{ "every number is a key", every_number_is_a_key },
		{ "it does what an array does", it_does_what_an_array_does },
		{ "nodes with the same key are all found", nodes_with_the_same_key_are_all_found },
		{ "bytes are keys by their digest", bytes_are_keys_by_their_digest },
		{ "a walk meets each node once though nodes leave",
		  a_walk_meets_each_node_once_though_nodes_leave },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "hash", cases } };

	return ut_run("test_hash", suites, 1);
}
