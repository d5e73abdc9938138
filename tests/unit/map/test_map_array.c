// SPDX-License-Identifier: GPL-2.0-only
/* Distributed arrays against their twin, made element by element. */
#include "map_gen.h"

#define CASES 3000
#define LONG_CASES 400

static uint64_t seed;

static void print_case(uint64_t n, const struct ddio_array *array, uint32_t nprocs)
{
	uint32_t d;

	printf("case %" PRIu64 ": nprocs %u offset %" PRIu64 " elem %" PRIu64 "\n", n, nprocs,
	       array->file_offset, array->elem_size);
	for (d = 0; d < array->ndims; d++) {
		const struct ddio_dim *dim = &array->dim[d];

		printf("  size %" PRIu64 " start %" PRIu64 " count %" PRIu64 " stride %" PRIu64
		       " dist %u k %" PRIu64 " procs %" PRIu64 "\n",
		       dim->size, dim->start, dim->count, dim->stride, dim->dist, dim->k,
		       dim->procs);
	}
}

static void check_case(uint64_t n, struct twin_rng *rng, const struct ddio_array *array,
		       struct map_twin *t)
{
	struct ddio_map *map = NULL;
	const char *why = NULL;
	uint64_t faults;
	int rc = ddio_map_new_array(array, t->nprocs, &map, &why);

	CU_ASSERT_EQUAL(rc, 0);
	if (rc) {
		printf("%s\n", why);
		print_case(n, array, t->nprocs);
		return;
	}
	faults = twin_check_map(t, map, rng, false);
	CU_ASSERT_EQUAL(faults, 0);
	if (faults)
		print_case(n, array, t->nprocs);
	ddio_map_free(map);
}

static void test_random(void)
{
	struct gen_dim dim[DDIO_MAX_DIMS];
	struct ddio_array array;
	struct twin_rng rng;
	struct map_twin t;
	uint64_t n;

	for (n = 0; n < ut_rounds(CASES); n++) {
		rng.state = seed + n * 1000003;
		gen_array(&rng, &array, dim, &t, 150);
		check_case(n, &rng, &array, &t);
		twin_destroy(&t);
	}
}

/*
 * Rows that are long and dealt in small pieces take another path through pack
 * and unpack, and blocks larger than a tile a third.
 */
static void test_dealt(void)
{
	struct gen_dim dim[2];
	struct ddio_array array;
	struct twin_rng rng;
	struct map_twin t;
	uint64_t n;
	uint32_t d;

	for (n = 0; n < ut_rounds(LONG_CASES); n++) {
		uint64_t grid = 1;
		uint64_t total = 1;

		rng.state = seed + n * 1000033;
		memset(&array, 0, sizeof(array));
		array.ndims = 2;
		array.elem_size = UINT64_C(1) << twin_pick(&rng, 0, 5);
		array.file_offset = twin_pick(&rng, 0, 9);
		for (d = 0; d < 2; d++) {
			bool last = d == 1;

			gen_dim(&rng, &dim[d], 5, 3);
			if (last) {
				dim[d].size = (512 + twin_pick(&rng, 0, 2000)) / array.elem_size;
				dim[d].size += n % 20 ? 0 : 40000 / array.elem_size;
				dim[d].start = 0;
				dim[d].count = dim[d].size;
				dim[d].stride = 1;
				dim[d].dist = DDIO_CYCLIC;
				dim[d].procs = twin_pick(&rng, 2, 7);
				dim[d].k = twin_pick(&rng, 1, 3);
			}
			gen_describe(&rng, &dim[d], &array.dim[d]);
			total *= dim[d].size;
			grid *= dim[d].procs;
		}
		twin_init(&t, grid, array.file_offset + total * array.elem_size);
		for (d = 0; d < grid; d++)
			gen_share(&t, &array, dim, d);
		check_case(n, &rng, &array, &t);
		twin_destroy(&t);
	}
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "random arrays agree with the twin", test_random },
		{ "long rows of small pieces agree with the twin", test_dealt },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "arrays", cases } };

	seed = twin_seed("test_map_array");
	return ut_run("test_map_array", suites, 1);
}
