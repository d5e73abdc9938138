// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast a block is spread over the messages of all processes, and back.
 *
 * The file is walked block by block and all processes of a block are served
 * before the next.  "warm": the block was just touched, as it is when a disk
 * or the network has delivered it, and messages go to buffers used over and
 * over.  "cold": the whole file is walked from memory into whole shares.
 * Prints lines "name value GB/s", medians; GB is 10^9 bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "map/map.h"

#define FILE_BYTES ((uint64_t)64 << 20)
#define REPEATS 9
#define MAX_PROCS 16

struct pack_bench {
	char *file;
	char *share;
	struct ddio_map *map;
	uint32_t nprocs;
	uint64_t block;
	bool warm;
	volatile uint64_t sink;
};

enum action { PACK, UNPACK, COPY, NACTIONS };

static const char *const action_name[NACTIONS] = { "pack", "unpack", "memcpy" };

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void touch(struct pack_bench *b, const char *p, uint64_t n)
{
	uint64_t sum = 0;
	uint64_t i;

	for (i = 0; i < n; i += 64)
		sum += (unsigned char)p[i];
	b->sink += sum;
}

static void act(const struct pack_bench *b, enum action action, uint64_t off, char *const *msg)
{
	char *block = b->file + off;

	switch (action) {
	case PACK:
		ddio_map_pack(b->map, off, off + b->block, block, (void *const *)msg);
		break;
	case UNPACK:
		ddio_map_unpack(b->map, off, off + b->block, block, (const void *const *)msg);
		break;
	default:
		memcpy(msg[0], block, b->block);
	}
}

/* Walks over the file once; returns the nanoseconds spent in the action. */
static uint64_t walk(struct pack_bench *b, enum action action)
{
	uint64_t share = FILE_BYTES / b->nprocs;
	uint64_t piece = b->block / b->nprocs;
	char *msg[MAX_PROCS];
	uint64_t spent = 0;
	uint64_t off, t;
	uint32_t p;

	for (off = 0; off < FILE_BYTES; off += b->block) {
		for (p = 0; p < b->nprocs; p++)
			msg[p] = b->warm ? b->share + p * piece
					 : b->share + p * share + off / b->nprocs;
		if (action == COPY)
			msg[0] = b->warm ? b->share : b->share + off;
		if (b->warm)
			touch(b, b->file + off, b->block);
		t = now_ns();
		act(b, action, off, msg);
		spent += now_ns() - t;
	}
	return spent;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void measure(struct pack_bench *b, uint64_t elem)
{
	uint64_t ns[NACTIONS][REPEATS];
	int a, r;

	/* The actions take turns, so that a noisy moment hits all of them. */
	for (r = 0; r < REPEATS; r++)
		for (a = 0; a < NACTIONS; a++)
			ns[a][r] = walk(b, a);
	for (a = 0; a < NACTIONS; a++) {
		qsort(ns[a], REPEATS, sizeof(ns[a][0]), compare);
		printf("%s_len%" PRIu64 "_stride%" PRIu64 "_procs%u_block%" PRIu64
		       "k_%s %.2f GB/s\n",
		       action_name[a], elem, elem * b->nprocs, b->nprocs, b->block >> 10,
		       b->warm ? "warm" : "cold", (double)FILE_BYTES / (double)ns[a][REPEATS / 2]);
	}
}

static int run(struct pack_bench *b, uint64_t elem, uint32_t nprocs, uint64_t block)
{
	struct ddio_array array = { .elem_size = elem, .ndims = 1 };
	const char *why;

	array.dim[0].size = FILE_BYTES / elem;
	array.dim[0].procs = nprocs;
	array.dim[0].dist = DDIO_CYCLIC;
	if (ddio_map_new_array(&array, nprocs, &b->map, &why)) {
		fprintf(stderr, "bench_pack: %s\n", why);
		return 1;
	}
	b->nprocs = nprocs;
	b->block = block;
	for (int warm = 1; warm >= 0; warm--) {
		b->warm = warm;
		measure(b, elem);
	}
	ddio_map_free(b->map);
	return 0;
}

int main(void)
{
	static const uint64_t elems[] = { 8, 1, 2, 4, 16, 32 };
	struct pack_bench b = { 0 };
	int rc = 0;

	b.file = malloc(FILE_BYTES);
	b.share = malloc(FILE_BYTES);
	if (!b.file || !b.share)
		return 1;
	memset(b.file, 1, FILE_BYTES);
	memset(b.share, 2, FILE_BYTES);
	printf("# %" PRIu64 " MiB file, median of %d walks\n", FILE_BYTES >> 20, REPEATS);
	for (size_t i = 0; i < sizeof(elems) / sizeof(elems[0]); i++)
		for (uint32_t nprocs = 16; nprocs >= 4; nprocs /= 4)
			for (uint64_t block = 8192; block <= 1 << 20; block *= 128)
				rc |= run(&b, elems[i], nprocs, block);
	free(b.share);
	free(b.file);
	return rc;
}
