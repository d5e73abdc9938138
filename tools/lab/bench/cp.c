// SPDX-License-Identifier: GPL-2.0-only
/*
 * A compute process of the benchmark.  All run the same loops in step; rank 0
 * measures the time.  The file holds the reference with every byte XORed
 * with a key that changes with each write, so that stale bytes show.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/rand.h"
#include "bench.h"
#include "tools/trace/trace.h"

#define COLD_NAME "bench.cold"

struct cp {
	const struct bench_spec *spec;
	struct bench_shared *sh;
	uint32_t rank;
	const struct bench_world *world;
	struct ddio_session *session;
	struct ddio_group *group;
	struct ddio_file *file;
	struct ddio_file *cold; /* rank 0's: one block on each disk */
	uint8_t *cold_buf;
	uint64_t cold_len;
	uint8_t *buf;
	uint64_t buf_len;
	uint8_t key;
	bool traced;
	uint64_t bad_at; /* file offset of the first wrong byte, or UINT64_MAX */
};

static uint64_t now_ns(const struct cp *cp)
{
	return cp->world->now(cp->world->arg);
}

static int cp_fail(struct cp *cp, int err, const char *what)
{
	const char *text = cp->session ? ddio_last_error(cp->session) : ddio_last_error(NULL);

	if (!atomic_exchange(&cp->sh->failed, 1))
		snprintf(cp->sh->error, sizeof(cp->sh->error), "process %u: %s: %s", cp->rank, what,
			 text && *text ? text : strerror(-err));
	return err;
}

static void xor_copy(uint8_t *to, const uint8_t *from, uint64_t len, uint8_t key)
{
	uint64_t i;

	for (i = 0; i < len; i++)
		to[i] = from[i] ^ key;
}

static void fill_run(void *arg, uint64_t file_off, uint64_t share_off, uint64_t len)
{
	struct cp *cp = arg;

	xor_copy(cp->buf + share_off, cp->spec->reference + file_off, len, cp->key);
}

static void check_run(void *arg, uint64_t file_off, uint64_t share_off, uint64_t len)
{
	struct cp *cp = arg;
	const uint8_t *want = cp->spec->reference + file_off, *got = cp->buf + share_off;
	uint64_t i;

	if (!cp->key && !memcmp(want, got, len))
		return;
	for (i = 0; i < len; i++)
		if ((uint8_t)(want[i] ^ cp->key) != got[i] && cp->bad_at == UINT64_MAX)
			cp->bad_at = file_off + i;
}

static int check_share(struct cp *cp, const struct ddio_array *a, const char *what)
{
	char text[160];

	cp->bad_at = UINT64_MAX;
	bench_share(a, cp->rank, check_run, cp);
	if (cp->bad_at == UINT64_MAX)
		return 0;
	snprintf(text, sizeof(text), "WRONG BYTE at offset %llu of the file after %s",
		 (unsigned long long)cp->bad_at, what);
	if (!atomic_exchange(&cp->sh->failed, 1))
		snprintf(cp->sh->error, sizeof(cp->sh->error), "process %u: %s", cp->rank, text);
	return -EILSEQ;
}

static int room(struct cp *cp, uint64_t bytes)
{
	void *p;

	if (bytes <= cp->buf_len)
		return 0;
	free(cp->buf);
	cp->buf = NULL;
	cp->buf_len = 0;
	if (posix_memalign(&p, 4096, bytes))
		return -ENOMEM;
	memset(p, 0, bytes);
	cp->buf = p;
	cp->buf_len = bytes;
	return 0;
}

static struct ddio_transfer transfer(const struct cp *cp, const struct ddio_part *part,
				     uint32_t method, struct ddio_report *report)
{
	bool in_turn = method == DDIO_METHOD_TC && cp->spec->calls;

	return (struct ddio_transfer){ .struct_size = sizeof(struct ddio_transfer),
				       .part = part,
				       .buf = cp->buf,
				       .method = method,
				       .flags = cp->spec->xfer_flags |
						(in_turn ? DDIO_XFER_IN_TURN : 0),
				       .outstanding = cp->spec->outstanding,
				       .report = report };
}

static int move(struct cp *cp, const struct ddio_array *a, bool write, uint32_t method,
		struct ddio_report *report)
{
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .n = 1, .array = a };
	struct ddio_transfer t = transfer(cp, &part, method, report);

	if (!write || (method != DDIO_METHOD_DD && method != DDIO_METHOD_DDS))
		t.flags &= ~DDIO_XFER_ATOMIC;
	return write ? ddio_write_all(cp->file, cp->group, &t)
		     : ddio_read_all(cp->file, cp->group, &t);
}

/* The process's share by itself: no other process hears of it, until all have theirs. */
static int move_alone(struct cp *cp, const struct ddio_array *a, bool write, uint32_t method,
		      struct ddio_report *report)
{
	struct ddio_strided strided;
	struct ddio_part part = { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &strided };
	struct ddio_transfer t = transfer(cp, &part, method, report);
	int err = 0;

	if (bench_strided(a, cp->rank, &strided))
		err = write ? ddio_write(cp->file, &t) : ddio_read(cp->file, &t);
	return err ? err : ddio_group_barrier(cp->group);
}

/* Lets the process come late, by an amount that the seed, the process and the number of the run draw. */
static void come_late(const struct cp *cp)
{
	const struct bench_spec *s = cp->spec;
	uint64_t draw = ddio_rand_mix(s->seed << 32 ^ cp->sh->done << 16 ^ cp->rank);

	if (s->skew_ns && cp->world->compute)
		cp->world->compute(cp->world->arg, draw % (s->skew_ns + 1));
}

/*
 * Makes caches cold, outside the measured time: those of the I/O processors, and the disks' own buffers by
 * reading a block of another file from each.
 */
static int settle(struct cp *cp)
{
	int err = cp->rank ? 0 : ddio_drop_cache(cp->file);
	ssize_t n = 0;

	if (!err && !cp->rank) {
		n = ddio_pread(cp->cold, cp->cold_buf, cp->cold_len, 0);
		err = n < 0 ? (int)n : ddio_drop_cache(cp->cold);
	}
	if (err)
		return cp_fail(cp, err, "drop cache");
	err = ddio_group_barrier(cp->group);
	return err ? cp_fail(cp, err, "barrier") : 0;
}

static void keep_first(_Atomic uint64_t *first, uint64_t at)
{
	uint64_t have = 0;

	while ((!have || at < have) && !atomic_compare_exchange_weak(first, &have, at))
		;
}

static void keep_last(_Atomic uint64_t *last, uint64_t at)
{
	uint64_t have = 0;

	while (at > have && !atomic_compare_exchange_weak(last, &have, at))
		;
}

/* All say when they began and returned.  Rank 0 reads that behind a barrier, and nobody begins again before the next one. */
static int until_last(struct cp *cp, uint64_t began, uint64_t *elapsed_ns)
{
	int err;

	keep_first(&cp->sh->began, began);
	keep_last(&cp->sh->returned, began + *elapsed_ns);
	err = ddio_group_barrier(cp->group);
	if (err || cp->rank)
		return err;
	*elapsed_ns = cp->sh->returned - cp->sh->began;
	cp->sh->began = 0;
	cp->sh->returned = 0;
	return 0;
}

/* The time of a traditional transfer includes outstanding write-behind and prefetches
 * (TOCS 1997, section 5). */
static int timed(struct cp *cp, const struct ddio_array *a, bool write, uint32_t method,
		 struct bench_run *run)
{
	uint64_t t0 = now_ns(cp), elapsed_ns;
	int err;

	run->report.struct_size = sizeof(run->report);
	if (!cp->rank && cp->world->watch)
		cp->world->watch(cp->world->arg, true, run);
	come_late(cp);
	err = (cp->spec->alone ? move_alone : move)(cp, a, write, method, &run->report);
	if (err)
		return err;
	if (!cp->rank && (method == DDIO_METHOD_TC || method == DDIO_METHOD_2P))
		err = ddio_drop_cache(cp->file);
	elapsed_ns = now_ns(cp) - t0;
	if (!err && cp->spec->until_last)
		err = until_last(cp, t0, &elapsed_ns);
	run->elapsed_ns = (uint64_t)((double)elapsed_ns / cp->sh->scale);
	if (!cp->rank && cp->world->watch)
		cp->world->watch(cp->world->arg, false, run);
	return err;
}

/* Reads the file again in another pattern and compares. */
static int verify_write(struct cp *cp, uint32_t record, const char *what)
{
	const struct bench_spec *s = cp->spec;
	bool w;
	int rb = bench_pattern_find("rb", 2, &w), err;
	struct ddio_array a;
	uint64_t bytes;

	bench_array(&bench_patterns[rb], record, s->offset, s->cover, s->cps, &a);
	err = ddio_array_share(&a, s->cps, cp->rank, &bytes, NULL);
	if (!err)
		err = room(cp, bytes);
	if (err)
		return cp_fail(cp, err, "verify");
	memset(cp->buf, 0xa5, bytes);
	err = move(cp, &a, false, DDIO_METHOD_DDS, NULL);
	return err ? cp_fail(cp, err, "read back") : check_share(cp, &a, what);
}

static void file_name(uint32_t layout, uint32_t trial, char name[64])
{
	snprintf(name, 64, "bench.%s.%u", bench_layout_name(layout), trial);
}

/* Returns true if this process has the next transfer traced. */
static bool traces(const struct cp *cp, uint32_t method)
{
	return cp->spec->trace && !cp->rank && !cp->traced &&
	       (method == DDIO_METHOD_DD || method == DDIO_METHOD_DDS);
}

/* Writes down what was recorded of the transfer: 0 or a negative errno, after a message. */
static int trace_out(struct cp *cp)
{
	struct trace_all t;
	int err = trace_fetch("trace", cp->session, false, &t);

	trace_end(cp->session);
	if (err)
		return err;
	err = trace_pick(&t, 1);
	if (!err)
		err = trace_save("trace", cp->spec->trace, &t);
	trace_all_free(&t);
	cp->traced = true;
	return err;
}

/* A measured transfer, traced if it is the one that is to be. */
static int measure(struct cp *cp, const struct ddio_array *a, uint32_t method,
		   struct bench_run *run)
{
	struct trace_want want = { .job = "", .most = 1 };
	bool trace = traces(cp, method);
	char name[64];
	int err = 0;

	file_name(run->layout, run->trial, name);
	want.file = cp->spec->file ? cp->spec->file : name;
	if (trace)
		err = trace_begin("trace", cp->session, &want);
	if (!err)
		err = timed(cp, a, run->pattern & 1, method, run);
	return trace && !err ? trace_out(cp) : err;
}

static int one_run(struct cp *cp, uint32_t pattern, uint32_t record, uint32_t method,
		   struct bench_run *run)
{
	const struct bench_spec *s = cp->spec;
	bool write = pattern & 1;
	struct ddio_array a;
	uint64_t bytes;
	char what[48], name[8];
	int err;

	bench_pattern_name(pattern, name);
	snprintf(what, sizeof(what), "%s %u %s", name, record, bench_method_name(method));
	if (!cp->rank)
		snprintf(cp->sh->what, sizeof(cp->sh->what), "%s %s",
			 bench_layout_name(run->layout), what);
	run->bytes =
		bench_array(&bench_patterns[pattern / 2], record, s->offset, s->cover, s->cps, &a);
	err = ddio_array_share(&a, s->cps, cp->rank, &bytes, NULL);
	if (!err)
		err = room(cp, bytes);
	if (err)
		return cp_fail(cp, err, what);
	if (write) {
		cp->key = (uint8_t)(cp->key + 0x3d);
		bench_share(&a, cp->rank, fill_run, cp);
	} else if (s->verify) {
		memset(cp->buf, 0x5a, bytes);
	}
	err = settle(cp);
	if (err)
		return err;
	err = measure(cp, &a, method, run);
	if (err)
		return cp_fail(cp, err, what);
	if (!s->verify)
		return 0;
	run->verified = 1;
	return write ? verify_write(cp, record, what) : check_share(cp, &a, what);
}

/* Bytes before and after the arrays are in no process's share: rank 0 writes them. */
static int write_edges(struct cp *cp)
{
	const struct bench_spec *s = cp->spec;
	uint64_t at = s->offset + s->cover;
	ssize_t n = ddio_pwrite(cp->file, s->reference, s->offset, 0);

	if (n >= 0 && at < s->size)
		n = ddio_pwrite(cp->file, s->reference + at, s->size - at, at);
	return n < 0 ? cp_fail(cp, (int)n, "write") : 0;
}

/* Writes the reference into the file as it is. */
static int store(struct cp *cp)
{
	const struct bench_spec *s = cp->spec;
	struct ddio_array a;
	uint64_t bytes;
	bool w;
	int err;

	cp->key = 0;
	if (!cp->rank) {
		err = write_edges(cp);
		if (err)
			return err;
	}
	bench_array(&bench_patterns[bench_pattern_find("rb", 2, &w)], 1, s->offset, s->cover,
		    s->cps, &a);
	err = ddio_array_share(&a, s->cps, cp->rank, &bytes, NULL);
	if (!err)
		err = room(cp, bytes);
	if (err)
		return cp_fail(cp, err, "store");
	bench_share(&a, cp->rank, fill_run, cp);
	err = move(cp, &a, true, DDIO_METHOD_DDS, NULL);
	return err ? cp_fail(cp, err, "store") : settle(cp);
}

/* Made after the file, so that it lies beyond it on the disks, and the disks' read-ahead from it does not reach the file. */
static int open_cold(struct cp *cp)
{
	const struct bench_spec *s = cp->spec;
	struct ddio_striping st = { .struct_size = sizeof(st), .block_size = (uint32_t)s->block };
	struct ddio_file_stat fs;
	ssize_t n;
	int err;

	if (cp->rank)
		return 0;
	err = ddio_open(cp->session, COLD_NAME, DDIO_CREATE | DDIO_TRUNCATE, &st, &cp->cold);
	if (!err)
		err = ddio_fstat(cp->cold, &fs);
	if (err)
		return cp_fail(cp, err, COLD_NAME);
	cp->cold_len = (uint64_t)fs.block_size * fs.ndisks;
	cp->cold_buf = calloc(1, cp->cold_len);
	n = cp->cold_buf ? ddio_pwrite(cp->cold, cp->cold_buf, cp->cold_len, 0) : -ENOMEM;
	return n < 0 ? cp_fail(cp, (int)n, COLD_NAME) : 0;
}

static int close_cold(struct cp *cp)
{
	int err;

	if (cp->rank)
		return 0;
	ddio_close(cp->cold);
	cp->cold = NULL;
	free(cp->cold_buf);
	cp->cold_buf = NULL;
	err = ddio_remove(cp->session, COLD_NAME);
	return err ? cp_fail(cp, err, COLD_NAME) : 0;
}

static int open_file(struct cp *cp, uint32_t layout, uint32_t trial)
{
	const struct bench_spec *s = cp->spec;
	struct ddio_striping st = { .struct_size = sizeof(st),
				    .block_size = (uint32_t)s->block,
				    .layout = layout,
				    .seed = s->seed + trial * 7919 + 1,
				    .reserve = s->size };
	char name[64];
	int err;

	if (s->file) {
		err = ddio_open_all(cp->group, s->file, 0, NULL, &cp->file);
		return err ? cp_fail(cp, err, s->file) : open_cold(cp);
	}
	file_name(layout, trial, name);
	err = ddio_open_all(cp->group, name, DDIO_CREATE | DDIO_EXCL, &st, &cp->file);
	if (err)
		return cp_fail(cp, err, name);
	err = open_cold(cp);
	return err ? err : store(cp);
}

static int close_file(struct cp *cp, uint32_t layout, uint32_t trial)
{
	char name[64];
	int err = 0;

	if (cp->spec->file && cp->key)
		err = store(cp);
	ddio_close(cp->file);
	cp->file = NULL;
	if (!err)
		err = close_cold(cp);
	if (err || cp->spec->file || cp->rank)
		return err;
	file_name(layout, trial, name);
	err = ddio_remove(cp->session, name);
	return err ? cp_fail(cp, err, name) : 0;
}

static int file_runs(struct cp *cp, uint32_t layout, uint32_t trial)
{
	const struct bench_spec *s = cp->spec;
	uint32_t r, p, m;
	int err = 0;

	for (r = 0; r < s->nrecords && !err; r++)
		for (p = 0; p < s->npatterns && !err; p++)
			for (m = 0; m < s->nmethods && !err; m++) {
				struct bench_run run = { .pattern = s->patterns[p],
							 .record = s->records[r],
							 .method = s->methods[m],
							 .layout = layout,
							 .trial = trial };

				err = one_run(cp, run.pattern, run.record, run.method, &run);
				if (!err && !cp->rank) {
					cp->sh->runs[cp->sh->nruns++] = run;
					cp->sh->done++;
				}
			}
	return err;
}

static int all_runs(struct cp *cp)
{
	const struct bench_spec *s = cp->spec;
	uint32_t l, t;
	int err = 0;

	for (l = 0; l < s->nlayouts && !err; l++)
		for (t = 0; t < s->trials && !err; t++) {
			err = open_file(cp, s->layouts[l], t);
			if (!err)
				err = file_runs(cp, s->layouts[l], t);
			if (!err)
				err = close_file(cp, s->layouts[l], t);
		}
	return err;
}

static int first_disk(void *arg, const struct ddio_disk_state *d)
{
	struct cp *cp = arg;

	snprintf(cp->sh->engine, sizeof(cp->sh->engine), "%s", d->engine);
	if (d->scale_ppm)
		cp->sh->scale = (double)d->scale_ppm / 1e6;
	return 1;
}

int bench_cp(const struct bench_spec *spec, struct bench_shared *sh, uint32_t rank,
	     const struct bench_world *world)
{
	struct cp cp = { .spec = spec, .sh = sh, .rank = rank, .world = world };
	int err = world->connect(world->arg, &cp.session);

	if (err) {
		cp_fail(&cp, err, "connect");
		return 1;
	}
	err = world->meet(world->arg, cp.session, &cp.group);
	if (err) {
		cp_fail(&cp, err, "group");
		goto out;
	}
	if (!rank) {
		err = ddio_disks(cp.session, first_disk, &cp);
		if (err < 0)
			cp_fail(&cp, err, "disks");
	}
	err = ddio_group_barrier(cp.group);
	if (err)
		cp_fail(&cp, err, "barrier");
	else
		err = all_runs(&cp);
out:
	ddio_disconnect(cp.session);
	free(cp.buf);
	return err ? 1 : 0;
}
