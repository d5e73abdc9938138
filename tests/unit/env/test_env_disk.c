// SPDX-License-Identifier: GPL-2.0-only
/* Every disk engine against a plain file, and the wrapper around all of them. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/crc32c.h"
#include "tests/unit/env/env_rig.h"

#define SIZE (4ULL << 20)
#define BATCH 24
#define SLOT 65536 /* bytes of buffer that a request of a batch has */

/*
 * The C library's open(), in front of it: as a file system that has no direct I/O.
 */
static bool refuse_direct;

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (refuse_direct && (flags & O_DIRECT)) {
		errno = EINVAL;
		return -1;
	}
	return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static char dir[256];
static char file_path[300];

/*
 * Against the twin
 */
struct disk_twin {
	struct env_rig rig;
	int fd;
	uint64_t seed, moved[2];
	uint8_t *bufs;
	struct ddio_disk_req reqs[BATCH];
};

static bool twin_overlaps(const struct disk_twin *t, unsigned int n, uint64_t offset, uint64_t len)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (t->reqs[i].len && offset < t->reqs[i].offset + t->reqs[i].len &&
		    t->reqs[i].offset < offset + len)
			return true;
	return false;
}

/* Requests of a batch do not overlap, since their order would not be defined. */
static void twin_choose(struct disk_twin *t, unsigned int n)
{
	struct ddio_disk_req *req = &t->reqs[n];
	uint32_t sector = ddio_disk_info(t->rig.disk)->sector;
	uint64_t i;

	memset(req, 0, sizeof(*req));
	req->buf = t->bufs + n * SLOT;
	if (rnd(&t->seed) % 16 == 0) {
		req->op = DDIO_DISK_FLUSH;
		return;
	}
	req->op = rnd(&t->seed) % 2 ? DDIO_DISK_READ : DDIO_DISK_WRITE;
	do {
		req->len = (1 + rnd(&t->seed) % (SLOT / sector)) * sector;
		req->offset = rnd(&t->seed) % ((SIZE - req->len) / sector + 1) * sector;
	} while (twin_overlaps(t, n, req->offset, req->len));
	for (i = 0; i < req->len; i += 8)
		*(uint64_t *)((uint8_t *)req->buf + i) = rnd(&t->seed);
	if (req->op == DDIO_DISK_WRITE)
		CU_ASSERT_EQUAL(pwrite(t->fd, req->buf, req->len, req->offset), (ssize_t)req->len);
}

static void twin_check(struct disk_twin *t, const struct ddio_disk_req *req)
{
	static uint8_t expect[SLOT];

	CU_ASSERT_EQUAL(req->status, 0);
	CU_ASSERT(req->done_ns >= req->submit_ns && req->submit_ns);
	t->moved[req->op == DDIO_DISK_WRITE] += req->len;
	if (req->op != DDIO_DISK_READ)
		return;
	CU_ASSERT_EQUAL(pread(t->fd, expect, req->len, req->offset), (ssize_t)req->len);
	CU_ASSERT_EQUAL(memcmp(expect, req->buf, req->len), 0);
}

static void twin_compare_all(struct disk_twin *t)
{
	static uint8_t expect[SLOT];
	uint64_t at;

	for (at = 0; at < SIZE; at += SLOT) {
		CU_ASSERT_EQUAL(rig_do(&t->rig, DDIO_DISK_READ, at, SLOT, t->bufs), 0);
		CU_ASSERT_EQUAL(pread(t->fd, expect, SLOT, at), SLOT);
		CU_ASSERT_EQUAL(memcmp(expect, t->bufs, SLOT), 0);
	}
}

static void twin_check_stats(struct disk_twin *t)
{
	struct ddio_disk_stats stats;

	ddio_disk_stats(t->rig.disk, &stats);
	CU_ASSERT_EQUAL(stats.read_bytes, t->moved[0]);
	CU_ASSERT_EQUAL(stats.write_bytes, t->moved[1]);
	CU_ASSERT_EQUAL(stats.errors, 0);
	CU_ASSERT_EQUAL(stats.in_flight, 0);
	CU_ASSERT(stats.max_in_flight > 1 && stats.max_in_flight <= BATCH);
	CU_ASSERT(stats.busy_ns > 0);
	CU_ASSERT(stats.flushes > 0);
}

static void twin_rounds(struct disk_twin *t, unsigned int rounds)
{
	unsigned int i, n;

	while (rounds--) {
		n = 1 + rnd(&t->seed) % BATCH;
		for (i = 0; i < n; i++)
			twin_choose(t, i);
		for (i = 0; i < n; i++) {
			rig_submit(&t->rig, &t->reqs[i]);
			if (rnd(&t->seed) % 8 == 0)
				ddio_disk_commit(t->rig.disk);
		}
		/* Without a commit it starts too, a little later. */
		rig_wait(&t->rig, rounds % 8);
		for (i = 0; i < n; i++)
			twin_check(t, &t->reqs[i]);
	}
}

/* A new disk is all zeros. */
static void twin_run(const struct ddio_disk_spec *spec, uint64_t seed, unsigned int rounds)
{
	FILE *file = tmpfile();
	struct disk_twin t = { .seed = seed };

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	t.fd = fileno(file);
	CU_ASSERT_EQUAL(ftruncate(t.fd, SIZE), 0);
	rig_begin(&t.rig);
	rig_open(&t.rig, spec);
	CU_ASSERT_EQUAL(ddio_disk_info(t.rig.disk)->size, SIZE);
	CU_ASSERT_STRING_EQUAL(ddio_disk_info(t.rig.disk)->engine, spec->engine);
	CU_ASSERT_STRING_EQUAL(ddio_disk_name(t.rig.disk), spec->name);
	t.bufs = ddio_env_alloc(t.rig.env, BATCH * SLOT);
	twin_rounds(&t, rounds);
	twin_check_stats(&t);
	twin_compare_all(&t);
	CU_ASSERT_EQUAL(t.rig.calls_in_submit, 0);
	if (spec->path) {
		/* What was written stays when the disk is opened again. */
		ddio_disk_close(t.rig.disk);
		rig_open(&t.rig, spec);
		twin_compare_all(&t);
	}
	ddio_env_free(t.rig.env, t.bufs, BATCH * SLOT);
	rig_end(&t.rig);
	fclose(file);
	if (spec->path)
		unlink(spec->path);
}

static void test_twin_mem(void)
{
	struct ddio_disk_spec spec = { .name = "m", .engine = "mem", .size = SIZE };

	twin_run(&spec, 1, 200);
	spec.options = "delay_us=50,huge=no";
	twin_run(&spec, 2, 50);
	spec.options = NULL;
	spec.path = file_path;
	spec.create = true;
	twin_run(&spec, 3, 100);
}

static void test_twin_aio(void)
{
	struct ddio_disk_spec spec = {
		.name = "a", .engine = "aio", .size = SIZE, .path = file_path, .create = true
	};

	twin_run(&spec, 4, 100);
	spec.options = "depth=1";
	twin_run(&spec, 5, 30);
	spec.options = "depth=3, direct=no";
	twin_run(&spec, 6, 50);
}

static void test_twin_hp97560(void)
{
	struct ddio_disk_spec spec = {
		.name = "h", .engine = "hp97560", .size = SIZE, .options = "time_scale=0"
	};

	twin_run(&spec, 7, 100);
	spec.options = "time_scale=0.0001,immediate_report=no,read_ahead=no,bus_overlap=yes";
	twin_run(&spec, 8, 50);
	spec.path = file_path;
	spec.create = true;
	twin_run(&spec, 9, 20);
}

/* Where O_DIRECT is refused the page cache serves, and the operator is told. */
static void test_aio_without_direct(void)
{
	struct ddio_disk_spec spec = {
		.name = "a", .engine = "aio", .size = SIZE, .path = file_path, .create = true
	};
	struct env_rig rig;

	refuse_direct = true;
	twin_run(&spec, 10, 50);
	rig_begin(&rig);
	rig_open(&rig, &spec);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.log, "disk a: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.log, "direct I/O is not possible"));
	CU_ASSERT_EQUAL(ddio_disk_info(rig.disk)->align, 1);
	refuse_direct = false;
	rig_end(&rig);
	unlink(file_path);
}

/*
 * The wrapper
 */
/* Engines whose disk can be a plain file: each is compared with a file above, and tried in what follows. */
static const char *const engines[] = { "mem", "aio", "hp97560" };
enum { ENGINES = sizeof(engines) / sizeof(engines[0]) };

static const struct ddio_disk_spec mem_spec = { .name = "m", .engine = "mem", .size = SIZE };

static void test_bad_requests(void)
{
	static uint8_t buf[4096] __attribute__((aligned(4096)));
	const struct ddio_disk_req bad[] = {
		{ .op = DDIO_DISK_READ, .offset = 0, .len = 0, .buf = buf },
		{ .op = DDIO_DISK_READ, .offset = 1, .len = 512, .buf = buf },
		{ .op = DDIO_DISK_READ, .offset = 0, .len = 511, .buf = buf },
		{ .op = DDIO_DISK_READ, .offset = SIZE, .len = 512, .buf = buf },
		{ .op = DDIO_DISK_WRITE, .offset = SIZE - 512, .len = 1024, .buf = buf },
		{ .op = DDIO_DISK_WRITE, .offset = UINT64_MAX - 511, .len = 512, .buf = buf },
		{ .op = DDIO_DISK_WRITE, .offset = 512, .len = UINT64_MAX - 511, .buf = buf },
		{ .op = DDIO_DISK_READ, .offset = 0, .len = 2ULL << 30, .buf = buf },
		{ .op = DDIO_DISK_READ, .offset = 0, .len = 512, .buf = NULL },
		{ .op = DDIO_DISK_FLUSH, .offset = 0, .len = 512, .buf = buf },
		{ .op = 77, .offset = 0, .len = 512, .buf = buf },
	};
	struct ddio_disk_req reqs[sizeof(bad) / sizeof(bad[0])];
	size_t i, n = sizeof(bad) / sizeof(bad[0]);
	struct ddio_disk_stats stats;
	struct env_rig rig;

	rig_begin(&rig);
	rig_open(&rig, &mem_spec);
	memcpy(reqs, bad, sizeof(bad));
	for (i = 0; i < n; i++)
		rig_submit(&rig, &reqs[i]);
	rig_wait(&rig, true);
	for (i = 0; i < n; i++)
		CU_ASSERT_EQUAL(reqs[i].status, -EINVAL);
	CU_ASSERT_EQUAL(rig.calls_in_submit, 0);
	ddio_disk_stats(rig.disk, &stats);
	CU_ASSERT_EQUAL(stats.errors, n);
	CU_ASSERT_EQUAL(stats.reads + stats.writes + stats.flushes, 0);
	CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_READ, SIZE - 512, 512, buf), 0);
	rig_end(&rig);
}

static void test_bad_alignment(void)
{
	struct ddio_disk_spec spec = {
		.name = "a", .engine = "aio", .size = SIZE, .path = file_path, .create = true
	};
	uint8_t *buf;
	struct env_rig rig;

	rig_begin(&rig);
	rig_open(&rig, &spec);
	buf = ddio_env_alloc(rig.env, 8192);
	if (ddio_disk_info(rig.disk)->align > 1)
		CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_READ, 0, 4096, buf + 1), -EINVAL);
	CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_READ, 0, 4096, buf), 0);
	ddio_env_free(rig.env, buf, 8192);
	rig_end(&rig);
	unlink(file_path);
}

/*
 * Checksums of what is moved
 */
#define SUMS_ROOM (DISK_SUMS * DDIO_DISK_SUM_LEN)

static void sums_are_true(const struct ddio_disk_sums *sums, const uint8_t *data, uint64_t len)
{
	uint64_t i, n;

	CU_ASSERT_EQUAL(sums->n, (len + DDIO_DISK_SUM_LEN - 1) / DDIO_DISK_SUM_LEN);
	for (i = 0; i < sums->n; i++, len -= n, data += n) {
		n = len < DDIO_DISK_SUM_LEN ? len : DDIO_DISK_SUM_LEN;
		CU_ASSERT_EQUAL(sums->sum[i], ddio_crc32c(0, data, n));
	}
}

/* Writes and reads @len bytes; @made: the engine makes the sums. */
static void sums_both_ways(struct env_rig *rig, uint64_t len, uint8_t *buf, bool made)
{
	struct ddio_disk_sums sums = { .n = 77 };
	struct ddio_disk_req req = {
		.op = DDIO_DISK_WRITE, .offset = 512, .len = len, .buf = buf, .sums = &sums
	};
	uint8_t *want = buf + SUMS_ROOM + 512;
	uint64_t seed = len, i;
	int way;

	for (i = 0; i < len; i += 8)
		*(uint64_t *)(want + i) = rnd(&seed);
	memcpy(buf, want, len);
	for (way = 0; way < 2; way++) {
		sums.n = 77;
		rig_submit(rig, &req);
		rig_wait(rig, true);
		CU_ASSERT_EQUAL(req.status, 0);
		CU_ASSERT_EQUAL(memcmp(buf, want, len), 0);
		if (made)
			sums_are_true(&sums, want, len);
		else
			CU_ASSERT_EQUAL(sums.n, 0);
		memset(buf, 0, len);
		req.op = DDIO_DISK_READ;
	}
}

/* What failed has none, and neither has what is more than there is room for. */
static void test_sums(void)
{
	static const uint64_t lens[] = { 512, 8192, 8704, 65024, 65536, 66048, SUMS_ROOM };
	struct ddio_disk_spec specs[] = {
		{ .name = "m", .engine = "mem", .size = SIZE },
		{ .name = "h", .engine = "hp97560", .size = SIZE, .options = "time_scale=0" },
		{ .name = "a", .engine = "aio", .size = SIZE, .path = file_path, .create = true },
	};
	uint8_t *buf = aligned_alloc(4096, 2 * SUMS_ROOM + 4096);
	struct ddio_disk_sums sums;
	struct ddio_disk_req req = { .op = DDIO_DISK_READ, .len = 512, .buf = buf, .sums = &sums };
	struct env_rig rig;
	unsigned int i, k;

	CU_ASSERT_PTR_NOT_NULL_FATAL(buf);
	for (i = 0; i < 3; i++) {
		rig_begin(&rig);
		rig_open(&rig, &specs[i]);
		for (k = 0; k < sizeof(lens) / sizeof(lens[0]); k++)
			sums_both_ways(&rig, lens[k], buf, i < 2);
		sums_both_ways(&rig, SUMS_ROOM + 512, buf, false);
		disk_inject(rig.disk, DDIO_DISK_READ, 1, -EIO);
		rig_submit(&rig, &req);
		rig_wait(&rig, true);
		CU_ASSERT_EQUAL(req.status, -EIO);
		CU_ASSERT_EQUAL(sums.n, 0);
		rig_end(&rig);
	}
	free(buf);
}

/* Changes a byte of @arg's first block again and again, as a process may that has the buffer mapped, too. */
static _Atomic bool scribbles;

static void *scribble(void *arg)
{
	_Atomic uint8_t *at = arg;
	uint8_t n = 0;

	while (atomic_load(&scribbles))
		atomic_store_explicit(at, ++n, memory_order_relaxed);
	return NULL;
}

/* Whatever becomes of a buffer while it is written, the checksums are those of what the disk has. */
static void test_sums_of_disk(void)
{
	enum { LEN = 8192, ROUNDS = 20000 };
	struct ddio_disk_spec spec = { .name = "m", .engine = "mem", .size = SIZE };
	uint8_t *buf = aligned_alloc(4096, LEN), *back = aligned_alloc(4096, LEN);
	struct ddio_disk_sums sums = { 0 };
	struct ddio_disk_req write = {
		.op = DDIO_DISK_WRITE, .len = LEN, .buf = buf, .sums = &sums
	};
	struct ddio_disk_req read = { .op = DDIO_DISK_READ, .len = LEN, .buf = back };
	uint32_t differ = 0, i;
	struct env_rig rig;
	pthread_t thread;

	CU_ASSERT_FATAL(buf && back);
	memset(buf, 0, LEN);
	rig_begin(&rig);
	rig_open(&rig, &spec);
	atomic_store(&scribbles, true);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, scribble, buf), 0);
	for (i = 0; i < ROUNDS; i++) {
		rig_submit(&rig, &write);
		rig_wait(&rig, true);
		rig_submit(&rig, &read);
		rig_wait(&rig, true);
		differ += sums.n != 1 || sums.sum[0] != ddio_crc32c(0, back, LEN);
	}
	atomic_store(&scribbles, false);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(differ, 0);
	rig_end(&rig);
	free(buf);
	free(back);
}

static void test_injection(void)
{
	static uint8_t buf[512];
	struct ddio_disk_stats stats;
	struct env_rig rig;
	int i;

	rig_begin(&rig);
	rig_open(&rig, &mem_spec);
	disk_inject(rig.disk, DDIO_DISK_READ, 2, -EIO);
	CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_WRITE, 0, 512, buf), 0);
	CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_READ, 0, 512, buf), -EIO);
	CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_FLUSH, 0, 0, NULL), 0);
	CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_READ, 0, 512, buf), -EIO);
	CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_READ, 0, 512, buf), 0);
	disk_inject(rig.disk, -1, 1, -ENOSPC);
	CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_FLUSH, 0, 0, NULL), -ENOSPC);
	CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_FLUSH, 0, 0, NULL), 0);
	ddio_disk_stats(rig.disk, &stats);
	CU_ASSERT_EQUAL(stats.errors, 3);
	CU_ASSERT_EQUAL(stats.read_bytes, 512);
	rig_end(&rig);

	rig_begin(&rig);
	rig_open(&rig,
		 &(struct ddio_disk_spec){
			 .name = "m", .engine = "mem", .size = SIZE, .options = "fail_after=5" });
	for (i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_READ, 0, 512, buf), i < 5 ? 0 : -EIO);
	rig_end(&rig);

	rig_begin(&rig);
	rig_open(&rig, &(struct ddio_disk_spec){ .name = "h",
						 .engine = "hp97560",
						 .options = "time_scale=0,bad_sector=1000" });
	CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_READ, 999 * 512, 512, buf), 0);
	CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_READ, 1000 * 512, 512, buf), -EIO);
	CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_READ, 1001 * 512, 512, buf), 0);
	CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_FLUSH, 0, 0, NULL), 0);
	rig_end(&rig);
}

/* Closed in the last request's callback, with the engine's own work still under way. */
static void closing_done(struct ddio_disk_req *req)
{
	struct env_rig *rig = req->arg;

	ddio_disk_close(rig->disk);
	rig->disk = NULL;
	real_stop(rig->env);
}

static void test_close_in_done(void)
{
	static uint8_t buf[4096] __attribute__((aligned(4096)));
	struct ddio_disk_spec spec = { .name = "x", .path = file_path, .create = true };
	struct ddio_disk_req req;
	struct env_rig rig;
	size_t i;

	for (i = 0; i <= ENGINES; i++) {
		spec.engine = engines[i % ENGINES];
		spec.size = SIZE;
		rig_begin(&rig);
		rig_open(&rig, &spec);
		req = (struct ddio_disk_req){ .len = i < ENGINES ? 4096 : 1, .buf = buf };
		req.done = closing_done;
		req.arg = &rig;
		ddio_disk_submit(rig.disk, &req);
		ddio_disk_commit(rig.disk);
		CU_ASSERT_EQUAL(real_run(rig.env), 0);
		CU_ASSERT_EQUAL(req.status, i < ENGINES ? 0 : -EINVAL);
		rig_end(&rig);
		unlink(file_path);
	}
}

static void test_bad_specs(void)
{
	static const struct {
		const char *engine, *options;
		uint64_t size;
		const char *what;
	} bad[] = {
		{ "memory", NULL, SIZE, "unknown engine \"memory\"; known are: mem aio hp97560" },
		{ "mem", NULL, 511, "needs a size" },
		{ "mem", "speed=3", SIZE, "unknown option \"speed\"" },
		{ "mem", "delay_us", SIZE, "\"delay_us\" is not name=value" },
		{ "mem", "delay_us=", SIZE,
		  "option delay_us does not take \"\": allowed are whole numbers" },
		{ "mem", "delay_us=-1", SIZE, "option delay_us does not take \"-1\"" },
		{ "mem", "delay_us=10us", SIZE, "allowed are whole numbers" },
		{ "mem", "delay_us=99999999999", SIZE, "whole numbers from 0 to 1000000000" },
		{ "mem", "huge=maybe", SIZE,
		  "option huge does not take \"maybe\": allowed are yes and no" },
		{ "mem", "delay_us=1,,huge=no", SIZE, "is not name=value" },
		{ "mem", "fail_after=x", SIZE, "option fail_after" },
		{ "mem", "fail_after=99999999999999999999", SIZE, "option fail_after" },
		{ "aio", NULL, SIZE, "needs a path" },
		{ "hp97560", "time_scale=nan", 0,
		  "option time_scale does not take \"nan\": allowed are numbers" },
		{ "hp97560", "time_scale=-1", 0, "allowed are numbers from 0 to 1000" },
		{ "hp97560", "time_scale=0.00001", 0, "option time_scale" },
		{ "hp97560", "slow=0.5", 0, "option slow" },
		{ "hp97560", "buffer_sectors=10,dirty_sectors=20", 0, "no drive can have" },
		{ "hp97560", NULL, 4ULL << 30, "an HP 97560 has" },
	};
	struct ddio_disk_spec spec = { .name = "bad-one" };
	struct env_rig rig;
	size_t i;

	rig_begin(&rig);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		spec.engine = bad[i].engine;
		spec.options = bad[i].options;
		spec.size = bad[i].size;
		expect_refusal(&rig, &spec, -EINVAL, bad[i].what);
	}
	rig_end(&rig);
}

static void test_default_size(void)
{
	static const struct ddio_disk_spec spec = { .name = "m", .engine = "mem" };
	struct env_rig rig;

	rig_begin(&rig);
	rig_open(&rig, &spec);
	CU_ASSERT_EQUAL(ddio_disk_info(rig.disk)->size, 1u << 30);
	rig_end(&rig);
}

/* Returns how many mappings of at least @size the kernel was asked to make of huge pages; -1: it does not say. */
static int huge_mappings(uint64_t size)
{
	FILE *smaps = fopen("/proc/self/smaps", "r");
	unsigned long from = 0, to = 0;
	bool told = false;
	char line[1000];
	int n = 0;

	while (smaps && fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			continue;
		if (strncmp(line, "VmFlags:", 8))
			continue;
		told = true;
		n += to - from >= size && strstr(line, " hg");
	}
	if (smaps)
		fclose(smaps);
	return told ? n : -1;
}

/* The first touch of 2 MB is one fault of the process, not 512: most of what a fresh disk in memory costs. */
static void test_huge(void)
{
	static const uint64_t size = 3ull << 30;
	struct ddio_disk_spec spec = { .name = "m", .engine = "mem", .size = size };
	int before = huge_mappings(size), n;
	struct env_rig rig;

	if (before < 0 || access("/sys/kernel/mm/transparent_hugepage", F_OK)) {
		ut_skip("this kernel has no huge pages for anonymous memory, or does not tell");
		return;
	}
	for (n = 0; n < 2; n++) {
		spec.options = n ? "huge=no" : NULL;
		rig_begin(&rig);
		rig_open(&rig, &spec);
		CU_ASSERT_EQUAL(huge_mappings(size), before + !n);
		rig_end(&rig);
	}
}

static void test_bad_paths(void)
{
	struct ddio_disk_spec spec = { .name = "bad-one", .path = file_path };
	struct env_rig rig;
	int fd;

	rig_begin(&rig);
	expect_refusal(&rig, &spec, -ENOENT, file_path);
	spec.path = dir;
	expect_refusal(&rig, &spec, -EISDIR, "directory");
	spec.path = "/dev/null";
	expect_refusal(&rig, &spec, -ENOTBLK, "neither a block device nor a regular file");
	spec.path = file_path;
	fd = open(file_path, O_RDWR | O_CREAT, 0600);
	expect_refusal(&rig, &spec, -ENOSPC, "has 0 bytes");
	CU_ASSERT_EQUAL(ftruncate(fd, 8192), 0);
	spec.size = SIZE;
	expect_refusal(&rig, &spec, -ENOSPC, "has 8192 bytes, but");
	close(fd);
	/* With a path and no engine: aio, of the file's own size. */
	spec.size = 0;
	rig_open(&rig, &spec);
	CU_ASSERT_STRING_EQUAL(ddio_disk_info(rig.disk)->engine, "aio");
	CU_ASSERT_EQUAL(ddio_disk_info(rig.disk)->size, 8192);
	rig_end(&rig);
	unlink(file_path);
}

/* A file that is shorter than its disk was cut off: it is not grown, and keeps what it has. */
static void test_short_file(void)
{
	struct ddio_disk_spec spec = {
		.name = "bad-one", .path = file_path, .size = SIZE, .create = true
	};
	struct env_rig rig;
	struct stat st;
	size_t i;

	rig_begin(&rig);
	for (i = 0; i < ENGINES; i++) {
		spec.engine = engines[i];
		rig_open(&rig, &spec);
		ddio_disk_close(rig.disk);
		rig.disk = NULL;
		CU_ASSERT_EQUAL(truncate(file_path, SIZE - 4096), 0);
		expect_refusal(&rig, &spec, -ENOSPC, "its end is missing");
		CU_ASSERT(!stat(file_path, &st) && st.st_size == SIZE - 4096);
		CU_ASSERT_EQUAL(truncate(file_path, 0), 0);
		rig_open(&rig, &spec);
		CU_ASSERT(!stat(file_path, &st) && st.st_size == SIZE);
		ddio_disk_close(rig.disk);
		rig.disk = NULL;
		unlink(file_path);
	}
	rig_end(&rig);
}

static void test_in_use(void)
{
	struct ddio_disk_spec spec = {
		.name = "first", .path = file_path, .size = SIZE, .create = true
	};
	struct env_rig rig;
	size_t i, j;

	for (i = 0; i < ENGINES; i++) {
		rig_begin(&rig);
		spec.name = "first";
		spec.engine = engines[i];
		rig_open(&rig, &spec);
		spec.name = "bad-one";
		for (j = 0; j < ENGINES; j++) {
			spec.engine = engines[j];
			expect_refusal(&rig, &spec, -EBUSY, "already in use");
		}
		ddio_disk_close(rig.disk);
		rig_open(&rig, &spec);
		rig_end(&rig);
		unlink(file_path);
	}
}

/* A file that is cut short under an open disk causes an error, not the end of the process. */
static void test_truncated_file(void)
{
	static uint8_t buf[4096] __attribute__((aligned(4096)));
	struct ddio_disk_spec spec = {
		.name = "cut", .path = file_path, .size = SIZE, .create = true
	};
	struct env_rig rig;
	size_t i;

	for (i = 0; i < ENGINES; i++) {
		spec.engine = engines[i];
		rig_begin(&rig);
		rig_open(&rig, &spec);
		CU_ASSERT_EQUAL(truncate(file_path, 8192), 0);
		CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_READ, 4096, 4096, buf), 0);
		CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_READ, 65536, 4096, buf), -EIO);
		rig_end(&rig);
		unlink(file_path);
	}
}

/* Before a loop runs: requests read what was written synchronously, and vice versa. */
static void test_sync(void)
{
	static uint8_t buf[4096] __attribute__((aligned(4096)));
	struct ddio_disk_spec spec = { .name = "s", .size = SIZE };
	struct env_rig rig;
	size_t i;

	for (i = 0; i < 2 * ENGINES; i++) {
		spec.engine = engines[i % ENGINES];
		spec.path = i < ENGINES ? file_path : NULL;
		spec.create = true;
		if (!spec.path && !strcmp(spec.engine, "aio"))
			continue; /* needs a path */
		rig_begin(&rig);
		rig_open(&rig, &spec);
		CU_ASSERT_EQUAL(ddio_disk_info(rig.disk)->forgets, i >= ENGINES);
		memset(buf, 'a' + i, sizeof(buf));
		CU_ASSERT_EQUAL(
			ddio_disk_rw_sync(rig.disk, DDIO_DISK_WRITE, 8192, buf, sizeof(buf)), 0);
		CU_ASSERT_EQUAL(ddio_disk_rw_sync(rig.disk, DDIO_DISK_FLUSH, 0, NULL, 0), 0);
		memset(buf, 0, sizeof(buf));
		CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_READ, 8192, sizeof(buf), buf), 0);
		CU_ASSERT(buf[0] == 'a' + i && buf[4095] == 'a' + i);
		CU_ASSERT_EQUAL(rig_do(&rig, DDIO_DISK_WRITE, 0, sizeof(buf), buf), 0);
		memset(buf, 0, sizeof(buf));
		CU_ASSERT_EQUAL(ddio_disk_rw_sync(rig.disk, DDIO_DISK_READ, 0, buf, sizeof(buf)),
				0);
		CU_ASSERT(buf[0] == 'a' + i && buf[4095] == 'a' + i);
		CU_ASSERT_EQUAL(ddio_disk_rw_sync(rig.disk, DDIO_DISK_READ, SIZE, buf, sizeof(buf)),
				-EINVAL);
		rig_end(&rig);
		unlink(file_path);
	}
}

static const struct ut_case cases[] = {
	{ "mem equals a file", test_twin_mem },
	{ "aio equals a file", test_twin_aio },
	{ "hp97560 equals a file", test_twin_hp97560 },
	{ "aio where O_DIRECT is refused", test_aio_without_direct },
	{ "bad requests end with EINVAL from the loop", test_bad_requests },
	{ "a buffer that is not aligned", test_bad_alignment },
	{ "checksums of what an engine moves with the processor", test_sums },
	{ "checksums of what the disk has", test_sums_of_disk },
	{ "fault injection", test_injection },
	{ "a disk closed by its last request", test_close_in_done },
	{ "bad engines, sizes and options", test_bad_specs },
	{ "memory without a size has a gigabyte", test_default_size },
	{ "memory in huge pages", test_huge },
	{ "bad paths", test_bad_paths },
	{ "a file that was cut short", test_short_file },
	{ "a disk that is in use", test_in_use },
	{ "synchronous access before the loop", test_sync },
	{ "a file that is cut short", test_truncated_file },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "env_disk", cases } };
	const char *tmp = getenv("TMPDIR");
	int ret;

	snprintf(dir, sizeof(dir), "%s/ddio-env-disk-XXXXXX", tmp ? tmp : "/var/tmp");
	if (!mkdtemp(dir)) {
		perror(dir);
		return 1;
	}
	snprintf(file_path, sizeof(file_path), "%s/disk", dir);
	ret = ut_run("env_disk", suites, 1);
	unlink(file_path);
	rmdir(dir);
	return ret;
}
