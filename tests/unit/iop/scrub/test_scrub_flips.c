// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ten thousand wrong bits in the blocks of a cluster in virtual time: each is told to the reader of its block, with disk and block,
 * and found by a scrub; nothing wrong is delivered to anybody, and nothing is said of what is right.
 */
#include <fcntl.h>
#include <unistd.h>
#include "base/rand.h"
#include "tests/unit/cp/cp_world.h"

enum {
	BLOCK = 512,
	BLOCKS = 20000,
	FLIPS = 10000,
	BYTES = BLOCKS * BLOCK,
	LABEL = 4096,
	MEMBERS = 4
};
enum { UNTOUCHED = 0x5a };

/**
 * struct rot - what was done to the blocks of the file
 * @place: where each block lies: disk and byte
 * @bad: a bit of it is wrong
 * @named: bad blocks of which the reader was told disk and block; @silent: whose bytes were delivered
 * @wrong: bytes that nobody wrote, but somebody got; @alarms: errors for blocks without one
 */
struct rot {
	struct {
		uint32_t disk;
		off_t at;
	} place[BLOCKS];
	bool bad[BLOCKS];
	uint32_t named, silent, wrong, alarms;
	uint64_t found, errors;
};

static struct rot rot;

/* The byte at @off of the file: each block begins with its number. */
static uint8_t byte_of(uint64_t off)
{
	uint32_t block = (uint32_t)(off / BLOCK), k = off % BLOCK;

	if (k < 4)
		return (uint8_t)(block >> 8 * k);
	return k < 8 ? 0xd7 : cp_byte(3, off);
}

static struct ddio_file *open_file(struct cp_proc *p, const char *name)
{
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open(p->session, name, DDIO_CREATE, NULL, &f));
	return f;
}

static void make(struct cp_proc *p)
{
	uint8_t *data = malloc(BYTES);
	struct ddio_file *f = open_file(p, "rots");
	uint64_t i;

	for (i = 0; i < BYTES; i++)
		data[i] = byte_of(i);
	CP_OK(p, ddio_pwrite(f, data, BYTES, 0) == BYTES ? 0 : -EIO);
	CP_OK(p, ddio_sync(f));
	ddio_close(f);
	free(data);
}

static int open_image(const struct cp_world *w, uint32_t disk)
{
	char name[300];

	snprintf(name, sizeof(name), "%s/d%u.img", w->top, disk);
	return open(name, O_RDWR);
}

/* Finds the blocks on the disks; returns how many. */
static uint32_t find_places(const struct cp_world *w)
{
	uint32_t disk, block, mark, n = 0;
	uint8_t buf[BLOCK];
	off_t at;
	int fd;

	for (disk = 0; disk < w->p.disks; disk++) {
		fd = open_image(w, disk);
		for (at = LABEL; pread(fd, buf, BLOCK, at) == BLOCK; at += BLOCK) {
			memcpy(&block, buf, 4);
			memcpy(&mark, buf + 4, 4);
			if (mark != 0xd7d7d7d7 || block >= BLOCKS)
				continue;
			rot.place[block].disk = disk;
			rot.place[block].at = at;
			n++;
		}
		close(fd);
	}
	return n;
}

static void flip(const struct cp_world *w, uint32_t block, uint32_t bit)
{
	off_t at = rot.place[block].at + bit / 8;
	int fd = open_image(w, rot.place[block].disk);
	uint8_t byte;

	CU_ASSERT_EQUAL(pread(fd, &byte, 1, at), 1);
	byte ^= (uint8_t)(1 << bit % 8);
	CU_ASSERT_EQUAL(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

/* One bit each of blocks anywhere, while the nodes are down: nothing is in their caches afterwards. */
static void flip_all(struct cp_world *w, uint64_t seed)
{
	uint32_t n = 0, block, i;

	for (i = 0; i < w->p.nodes; i++)
		cp_node_end(w, i);
	while (n < FLIPS) {
		block = (uint32_t)ddio_rand_below(&seed, BLOCKS);
		if (rot.bad[block])
			continue;
		rot.bad[block] = true;
		flip(w, block, (uint32_t)ddio_rand_below(&seed, 8 * BLOCK));
		n++;
	}
	for (i = 0; i < w->p.nodes; i++)
		cp_node_begin(w, i);
}

static void look_at(const uint8_t *got, uint64_t off, uint64_t len, bool all)
{
	uint64_t i;

	for (i = 0; i < len; i++)
		rot.wrong += got[i] != byte_of(off + i) && (all || got[i] != UNTOUCHED);
}

/* An error of a block has to say where the block lies: how many of the file are before it on its disk. */
static void look_named(struct cp_proc *p, uint32_t block)
{
	const char *said = ddio_last_error(p->session);
	char where[64], which[64];

	snprintf(where, sizeof(where),
		 "node io%u, disk d%u: ", rot.place[block].disk % p->w->p.nodes,
		 rot.place[block].disk);
	snprintf(which, sizeof(which), "block %u of the part", block / p->w->p.disks);
	rot.named += strstr(said, where) && strstr(said, which) &&
		     strstr(said, "does not match its checksum");
}

static void read_one(struct cp_proc *p, struct ddio_file *f, uint32_t block)
{
	uint64_t off = (uint64_t)block * BLOCK;
	uint8_t buf[BLOCK];
	ssize_t n;

	memset(buf, UNTOUCHED, BLOCK);
	n = ddio_pread(f, buf, BLOCK, (off_t)off);
	if (n == BLOCK && !rot.bad[block]) {
		look_at(buf, off, BLOCK, true);
	} else if (n == -EIO && rot.bad[block]) {
		look_named(p, block);
		look_at(buf, off, BLOCK, false);
	} else {
		rot.silent += rot.bad[block];
		rot.alarms += !rot.bad[block];
	}
}

static void read_blocks(struct cp_proc *p)
{
	struct ddio_file *f = open_file(p, "rots");
	uint32_t i;

	for (i = p->rank; i < BLOCKS; i += MEMBERS)
		read_one(p, f, i);
	ddio_close(f);
}

/* Elements of 8 bytes, dealt out: each member gets some of every block. */
static void read_cyclic(struct cp_proc *p, struct ddio_file *f, struct ddio_group *g,
			uint32_t method)
{
	struct ddio_array array = { .elem_size = 8, .ndims = 1 };
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .method = method };
	uint64_t i, n = BYTES / 8 / MEMBERS;
	uint8_t *buf = malloc(n * 8);

	array.dim[0] =
		(struct ddio_dim){ .size = BYTES / 8, .dist = DDIO_CYCLIC, .procs = MEMBERS };
	memset(buf, UNTOUCHED, n * 8);
	t.buf = buf;
	CU_ASSERT_EQUAL(ddio_read_all(f, g, &t), -EIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(ddio_last_error(p->session), "does not match its checksum"));
	for (i = 0; i < n; i++)
		look_at(buf + i * 8, (i * MEMBERS + p->rank) * 8, 8, false);
	free(buf);
}

static void read_together(struct cp_proc *p)
{
	struct ddio_file *f = open_file(p, "rots");
	struct ddio_group *g = cp_group(p);
	uint32_t method;

	for (method = DDIO_METHOD_TC; method <= DDIO_METHOD_DDS; method++)
		read_cyclic(p, f, g, method);
	ddio_group_free(g);
	ddio_close(f);
}

static int add(void *arg, const struct ddio_scrub_state *st)
{
	*(bool *)arg |= st->running != 0;
	rot.found += st->mismatches;
	return 0;
}

static void scrub(struct cp_proc *p)
{
	int action = DDIO_SCRUB_START;
	bool running = true;
	uint32_t i;

	for (i = 0; running && i < 6000; i++) {
		running = false;
		rot.found = 0;
		CP_OK(p, ddio_scrub(p->session, action, 0, add, &running));
		action = DDIO_SCRUB_LOOK;
		ddio_sim_sleep(p->env, 100 * CP_MS);
	}
	CU_ASSERT(!running);
}

static int count_errors(void *arg, const struct ddio_disk_state *st)
{
	*(uint64_t *)arg += st->errors;
	return 0;
}

static void by_one(struct cp_proc *p)
{
	if (p->rank)
		return;
	if (!p->w->arg) {
		make(p);
		return;
	}
	scrub(p);
	CP_OK(p, ddio_disks(p->session, count_errors, &rot.errors));
}

static void check_found(uint32_t bad)
{
	CU_ASSERT_EQUAL(rot.named, bad);
	CU_ASSERT_EQUAL(rot.silent, 0);
	CU_ASSERT_EQUAL(rot.wrong, 0);
	CU_ASSERT_EQUAL(rot.alarms, 0);
	CU_ASSERT_EQUAL(rot.found, bad);
	if (rot.named != bad || rot.found != bad || rot.wrong)
		printf("%u of %u told, %llu found, %u not told, %u bytes wrong\n", rot.named, bad,
		       (unsigned long long)rot.found, rot.silent, rot.wrong);
}

static void test_flips(void)
{
	const struct cp_params params = { .procs = MEMBERS, .block = BLOCK, .lasts = true };
	struct cp_world w;

	memset(&rot, 0, sizeof(rot));
	cp_world_begin(&w, &params);
	CU_ASSERT_EQUAL(cp_run(&w, by_one, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(find_places(&w), BLOCKS);
	CU_ASSERT_EQUAL(cp_run(&w, read_blocks, NULL), 0);
	CU_ASSERT_EQUAL(cp_run(&w, by_one, &w), 0);
	check_found(0);
	CU_ASSERT_EQUAL(rot.errors, 0);
	flip_all(&w, 11);
	CU_ASSERT_EQUAL(cp_run(&w, read_blocks, NULL), 0);
	CU_ASSERT_EQUAL(cp_run(&w, read_together, NULL), 0);
	CU_ASSERT_EQUAL(cp_run(&w, by_one, &w), 0);
	check_found(FLIPS);
	CU_ASSERT(rot.errors >= 2 * FLIPS);
	cp_world_end(&w);
}

static const struct ut_case cases[] = {
	{ "ten thousand wrong bits are told, found, and not delivered", test_flips },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "scrub flips", cases } };

	return ut_run("test_scrub_flips", suites, 1);
}
