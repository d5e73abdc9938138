// SPDX-License-Identifier: GPL-2.0-only
/* Makes the experiment from the options of ddio bench. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/units.h"
#include "opts.h"
#include "tools/common/cmd.h"

static const struct ddio_opt bench_opts[] = {
	BENCH_OPTS,
	DDIO_OPT("reactors", 0, OPT_U32, BENCH_AT(reactors), "N",
		 "reactors of each I/O processor (as many as disks)"),
	DDIO_OPT("conf", 'c', OPT_TEXT, BENCH_AT(conf), "FILE",
		 "use this cluster instead of starting one"),
	DDIO_OPT("file", 'f', OPT_TEXT, BENCH_AT(file), "NAME", "use this file of the cluster"),
	DDIO_OPT("reference", 0, OPT_TEXT, BENCH_AT(reference), "FILE",
		 "a local copy of that file, to compare with"),
	DDIO_OPT("limits", 0, OPT_FLAG, BENCH_AT(limits), NULL,
		 "measure this machine's memcpy and loopback TCP, too"),
	DDIO_OPT("mount", 0, OPT_TEXT, BENCH_AT(mount), "DIR,...",
		 "measure directories of mounts instead, the first against the others"),
	DDIO_OPT(
		"works", 0, OPT_TEXT, BENCH_AT(works), "LIST",
		"with --mount: data, names, daily, or beginnings of names as in ddio-bench(1) (all)"),
	DDIO_OPT("mount-size", 0, OPT_SIZE, BENCH_AT(mount_size), "SIZE",
		 "with --mount: size of the file (256M)"),
	DDIO_OPT("request", 0, OPT_SIZE, BENCH_AT(request), "SIZE",
		 "with --mount: size of a sequential request (1M)"),
	DDIO_OPT("jobs", 0, OPT_U32, BENCH_AT(jobs), "N",
		 "with --mount: threads for small reads and names (8)"),
	DDIO_OPT("files", 0, OPT_U32, BENCH_AT(files), "N",
		 "with --mount: files that are made, copied, listed, removed (4000)"),
	DDIO_OPT("seconds", 0, OPT_DOUBLE, BENCH_AT(seconds), "N",
		 "with --mount: duration of small reads and writes (2)"),
	DDIO_OPT("rounds", 0, OPT_U32, BENCH_AT(rounds), "N",
		 "with --mount: rounds; medians are printed (5)"),
	{ 0 },
};

const struct opt_cmd opts_bench = {
	"ddio",	    "bench",
	NULL,	    "Measure collective I/O (patterns, records, layouts, methods), or mounts.",
	bench_opts, 0,
	0
};

void bench_defaults(struct bench_values *v)
{
	*v = (struct bench_values){ .patterns = "all",
				    .records = "8,8192",
				    .methods = "tc,2p,dd,dds",
				    .layouts = "contiguous",
				    .engine = "hp97560",
				    .cps = 16,
				    .iops = 16,
				    .disks = 1,
				    .trials = 1,
				    .seed = 1,
				    .size = 10 << 20,
				    .block = 8192,
				    .offset = UINT64_MAX,
				    .mount_size = 256 << 20,
				    .request = 1 << 20,
				    .jobs = 8,
				    .files = 4000,
				    .rounds = 5,
				    .seconds = 2 };
}

static const char *const method_names[] = { "default", "tc", "2p", "dd", "dds" };
static const char *const layout_names[] = { "contiguous", "random-blocks", "random-tracks" };

const char *bench_method_name(uint32_t method)
{
	static const char *const shown[] = { "default", "TC", "2P", "DD", "DDs" };

	return shown[method];
}

const char *bench_layout_name(uint32_t layout)
{
	return layout_names[layout];
}

/* Calls @fn for each word of a comma-separated list. */
static int each_word(const char *list, int (*fn)(void *arg, const char *word, size_t len),
		     void *arg)
{
	size_t len;
	int err = 0;

	while (*list && !err) {
		len = strcspn(list, ",");
		err = fn(arg, list, len);
		list += len;
		if (*list)
			list++;
	}
	return err;
}

static bool word_is(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(word, name, len);
}

static int bad_word(const char *what, const char *word, size_t len)
{
	cmd_fail("bench", 0, "%s does not take '%.*s'", what, (int)len, word);
	return -EINVAL;
}

static void add_pattern(struct bench_spec *s, uint32_t pattern)
{
	uint32_t i;

	for (i = 0; i < s->npatterns; i++)
		if (s->patterns[i] == pattern)
			return;
	if (s->npatterns < sizeof(s->patterns) / sizeof(s->patterns[0]))
		s->patterns[s->npatterns++] = pattern;
}

/* "write" leaves out wa, as the papers do: every process would write the same bytes. */
static void add_all(struct bench_spec *s, bool write)
{
	uint32_t i;

	for (i = write ? 1 : 0; i < bench_npatterns; i++)
		add_pattern(s, 2 * i + write);
}

static int pattern_word(void *arg, const char *word, size_t len)
{
	struct bench_spec *s = arg;
	bool write;
	int n;

	if (word_is(word, len, "all") || word_is(word, len, "read"))
		add_all(s, false);
	if (word_is(word, len, "all") || word_is(word, len, "write"))
		add_all(s, true);
	if (word_is(word, len, "all") || word_is(word, len, "read") || word_is(word, len, "write"))
		return 0;
	n = bench_pattern_find(word, len, &write);
	if (n < 0)
		return bad_word("--patterns", word, len);
	add_pattern(s, 2 * (uint32_t)n + write);
	return 0;
}

static int record_word(void *arg, const char *word, size_t len)
{
	struct bench_spec *s = arg;
	char text[24];
	uint64_t v;

	snprintf(text, sizeof(text), "%.*s", (int)(len < 23 ? len : 23), word);
	if (ddio_parse_size(text, &v) || !v || v > (1u << 30) || s->nrecords == BENCH_MAX_RECORDS)
		return bad_word("--records", word, len);
	s->records[s->nrecords++] = (uint32_t)v;
	return 0;
}

static int method_word(void *arg, const char *word, size_t len)
{
	struct bench_spec *s = arg;
	uint32_t i;

	for (i = 1; i < 5; i++)
		if (word_is(word, len, method_names[i]) && s->nmethods < 4) {
			s->methods[s->nmethods++] = i;
			return 0;
		}
	return bad_word("--methods", word, len);
}

static int layout_word(void *arg, const char *word, size_t len)
{
	struct bench_spec *s = arg;
	uint32_t i;

	for (i = 0; i < 3; i++)
		if (word_is(word, len, layout_names[i]) && s->nlayouts < 3) {
			s->layouts[s->nlayouts++] = i;
			return 0;
		}
	return bad_word("--layouts", word, len);
}

/* Return: where the data of a NumPy file begin; 0 for any other file. */
static uint64_t npy_offset(const uint8_t *p, uint64_t size)
{
	uint64_t n;

	if (size < 12 || memcmp(p, "\x93NUMPY", 6))
		return 0;
	n = p[6] == 1 ? 10 + (p[8] | (uint64_t)p[9] << 8)
		      : 12 + (p[8] | (uint64_t)p[9] << 8 | (uint64_t)p[10] << 16 |
			      (uint64_t)p[11] << 24);
	return n <= size ? n : 0;
}

/* splitmix64 of the word's number: no two words of a file alike. */
static void make_content(uint8_t *p, uint64_t size, uint64_t seed)
{
	uint64_t i, z;

	for (i = 0; i < size / 8; i++) {
		z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
		z ^= z >> 31;
		memcpy(p + 8 * i, &z, 8);
	}
	for (i = size / 8 * 8; i < size; i++)
		p[i] = (uint8_t)(seed + i);
}

static int reference_map(const struct bench_values *v, struct bench_spec *s)
{
	struct stat st;
	void *p;
	int fd;

	if (!v->reference) {
		p = mmap(NULL, v->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return cmd_fail("bench", -errno, "--size"), -ENOMEM;
		make_content(p, v->size, v->seed);
		s->reference = p;
		s->size = v->size;
		return 0;
	}
	fd = open(v->reference, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size) {
		cmd_fail("bench", errno ? -errno : -EINVAL, "%s", v->reference);
		if (fd >= 0)
			close(fd);
		return -EINVAL;
	}
	s->size = (uint64_t)st.st_size;
	p = mmap(NULL, s->size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return cmd_fail("bench", -errno, "%s", v->reference), -ENOMEM;
	s->reference = p;
	return 0;
}

/* Records larger than the data leave nothing to measure; a tiny file is moved byte by byte. */
static void fit_records(struct bench_spec *s)
{
	uint64_t bytes = s->size - s->offset;
	uint32_t i, n = 0;

	for (i = 0; i < s->nrecords; i++)
		if (s->records[i] <= bytes)
			s->records[n++] = s->records[i];
	if (!n)
		s->records[n++] = 1;
	s->nrecords = n;
	s->cover = bench_cover(s->records, n, bytes);
	while (!s->cover && s->nrecords > 1)
		s->cover = bench_cover(s->records, --s->nrecords, bytes);
}

static int check_values(const struct bench_values *v, uint32_t max_cps)
{
	const char *bad = NULL;

	if (!v->cps || v->cps > max_cps) {
		cmd_fail("bench", 0, "--cps takes 1 to %u", max_cps);
		return -EINVAL;
	}
	if (!v->iops || v->iops > 1024 || !v->disks || v->disks > 256)
		bad = "--iops takes 1 to 1024, --disks 1 to 256";
	else if (!v->trials || v->trials > 1000)
		bad = "--trials takes 1 to 1000";
	else if (v->block < 512 || v->block > DDIO_MAX_BLOCK_SIZE || v->block & (v->block - 1))
		bad = "--block-size takes a power of two from 512 to 16M";
	else if (!v->size)
		bad = "--size takes at least 1";
	else if (v->file && (!v->conf || !v->reference))
		bad = "--file needs --conf and --reference";
	else if (v->csv && v->json)
		bad = "give --csv or --json, not both";
	if (!bad)
		return 0;
	cmd_fail("bench", 0, "%s", bad);
	return -EINVAL;
}

/* Two-phase I/O is nothing without a group. */
static int check_alone(const struct bench_spec *s)
{
	uint32_t i;

	for (i = 0; s->alone && i < s->nmethods; i++)
		if (s->methods[i] == DDIO_METHOD_2P) {
			cmd_fail("bench", 0, "--alone takes the methods tc, dd and dds");
			return -EINVAL;
		}
	return 0;
}

static int parse_lists(const struct bench_values *v, struct bench_spec *s)
{
	int err = each_word(v->patterns, pattern_word, s);

	if (!err)
		err = each_word(v->records, record_word, s);
	if (!err)
		err = each_word(v->methods, method_word, s);
	if (!err)
		err = each_word(v->layouts, layout_word, s);
	if (!err && (!s->npatterns || !s->nrecords || !s->nmethods || !s->nlayouts)) {
		cmd_fail("bench", 0, "there is nothing to measure: a list is empty");
		err = -EINVAL;
	}
	return err ? err : check_alone(s);
}

int bench_spec_make(struct bench_values *v, uint32_t max_cps, struct bench_spec *s)
{
	int err = check_values(v, max_cps);

	*s = (struct bench_spec){ .conf = v->conf,
				  .file = v->file,
				  .trace = v->trace,
				  .cps = v->cps,
				  .iops = v->iops,
				  .disks = v->disks,
				  .trials = v->trials,
				  .block = v->block,
				  .seed = v->seed,
				  .outstanding = v->outstanding,
				  .verify = !v->no_verify,
				  .paper = v->paper,
				  .progress = !v->quiet,
				  .engine = v->engine,
				  .engine_options = v->disk_options };
	if (v->rotate)
		s->xfer_flags |= DDIO_XFER_ROTATE;
	s->calls = v->calls;
	s->alone = v->alone;
	s->until_last = v->until_last;
	if (v->satf)
		s->xfer_flags |= DDIO_XFER_SATF;
	if (v->no_batch)
		s->xfer_flags |= DDIO_XFER_NO_BATCH;
	if (v->atomic)
		s->xfer_flags |= DDIO_XFER_ATOMIC;
	if (v->sync)
		s->xfer_flags |= DDIO_XFER_SYNC;
	if (v->no_scatter)
		s->xfer_flags |= DDIO_XFER_NO_SCATTER;
	if (v->no_share)
		s->xfer_flags |= DDIO_XFER_NO_SHARE;
	if (!err)
		err = parse_lists(v, s);
	if (!err)
		err = reference_map(v, s);
	if (err)
		return err;
	s->offset = v->offset == UINT64_MAX ? npy_offset(s->reference, s->size) : v->offset;
	if (s->offset >= s->size) {
		cmd_fail("bench", 0, "--offset must lie within the file");
		return -EINVAL;
	}
	if (!strcmp(v->engine, "mem") && !v->disk_size)
		v->disk_size = (s->size / (v->iops * v->disks) + (64 << 20)) / v->block * v->block;
	fit_records(s);
	return 0;
}

void bench_spec_free(struct bench_spec *s)
{
	if (s->reference)
		munmap((void *)(uintptr_t)s->reference, s->size);
}
