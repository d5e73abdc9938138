// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes what can be checked after a crash, and checks it.
 *
 *   scribe write SEED LEDGER   until something fails (the daemons are killed under it):
 *	picks a file and a region of versions, writes it by a collective of one or by
 *	independent requests, syncs, and then notes in LEDGER: "file version" with "begin"
 *	before and "done" after the sync was acknowledged
 *   scribe check LEDGER        after the restart: every word of every file carries a version
 *	not older than the last acknowledged one, nor newer than the last begun, or (never
 *	acknowledged) is zero
 *   scribe cut LEDGER   the same after the writer was killed, too: where the bytes of its last write end, a word may
 *	begin with some of the version begun last and go on with an older one
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <ddio/ddio.h>

#define FILES 6
#define WORDS 24576 /* 192 KB: 6 blocks of 32 KB */
#define BLOCK 32768

static uint64_t word(uint32_t file, uint32_t version, uint32_t i)
{
	return (uint64_t)version << 40 | (uint64_t)(file + 1) << 32 | i;
}

static uint64_t next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/* @cut: the writer was killed */
struct ledger {
	uint32_t begun[FILES], done[FILES];
	bool cut;
};

static void ledger_read(const char *path, struct ledger *l)
{
	char what[16];
	unsigned int f, v;
	FILE *in = fopen(path, "r");

	memset(l, 0, sizeof(*l));
	if (!in)
		return;
	while (fscanf(in, "%15s %u %u", what, &f, &v) == 3) {
		if (f >= FILES)
			continue;
		if (!strcmp(what, "begin"))
			l->begun[f] = v;
		if (!strcmp(what, "done"))
			l->done[f] = v;
	}
	fclose(in);
}

static void note(int fd, const char *what, uint32_t f, uint32_t v)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%s %u %u\n", what, f, v);

	if (write(fd, line, (size_t)n) != n)
		exit(3);
}

static int write_version(struct ddio_session *s, struct ddio_group *g, uint32_t f, uint32_t v,
			 uint64_t *buf, uint64_t how)
{
	struct ddio_striping st = { .struct_size = sizeof(st), .block_size = BLOCK };
	struct ddio_array a = { .elem_size = 8, .ndims = 1 };
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .n = 1, .array = &a };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = buf };
	struct ddio_file *file;
	char name[32];
	uint32_t i;
	ssize_t n = 0;
	int err;

	snprintf(name, sizeof(name), "scribe.%u", f);
	for (i = 0; i < WORDS; i++)
		buf[i] = word(f, v, i);
	a.dim[0].size = WORDS;
	err = ddio_open(s, name, DDIO_CREATE, &st, &file);
	if (err)
		return err;
	if (how % 3 == 0) {
		t.flags = DDIO_XFER_SYNC;
		err = ddio_write_all(file, g, &t);
	} else if (how % 3 == 1) {
		err = ddio_write_all(file, g, &t);
	} else {
		uint64_t at = 0, step = 1000 + how % 40000;

		while (at < WORDS * 8 && n >= 0) {
			uint64_t len = WORDS * 8 - at < step ? WORDS * 8 - at : step;

			n = ddio_pwrite(file, (char *)buf + at, len, at);
			at += len;
		}
		err = n < 0 ? (int)n : 0;
	}
	if (!err)
		err = ddio_sync(file);
	ddio_close(file);
	return err;
}

static int scribe(uint64_t seed, const char *path)
{
	struct ddio_connect_opts o = { .struct_size = sizeof(o), .timeout_ms = 4000 };
	uint64_t *buf = malloc(WORDS * 8), rnd = seed * 0x9e3779b97f4a7c15ull + 1;
	struct ddio_session *s = NULL;
	struct ddio_group *g;
	struct ledger l;
	FILE *f = fopen(path, "a");
	int err;

	ledger_read(path, &l);
	if (!f || !buf)
		return 2;
	err = ddio_connect(&o, &s);
	if (!err)
		err = ddio_group_create(s, 0, 1, "127.0.0.1:0", &g);
	while (!err) {
		uint32_t n = (uint32_t)(next(&rnd) % FILES);

		note(fileno(f), "begin", n, ++l.begun[n]);
		err = write_version(s, g, n, l.begun[n], buf, next(&rnd) >> 8);
		if (!err)
			note(fileno(f), "done", n, l.begun[n]);
	}
	printf("stopped: %d %s\n", err, s ? ddio_last_error(s) : "");
	ddio_disconnect(s);
	fclose(f);
	free(buf);
	return 0;
}

/* Returns true if a write that was not acknowledged ended within the word. */
static bool torn(const struct ledger *l, uint32_t f, uint32_t i, uint64_t found)
{
	uint64_t last = word(f, l->begun[f], i), old, mask;
	uint32_t v, bytes;

	for (v = l->done[f]; v < l->begun[f]; v++) {
		old = v ? word(f, v, i) : 0;
		for (bytes = 1; bytes < 8; bytes++) {
			mask = (1ull << 8 * bytes) - 1;
			if (found == ((last & mask) | (old & ~mask)))
				return true;
		}
	}
	return false;
}

static int check_file(struct ddio_session *s, uint32_t f, const struct ledger *l, uint64_t *buf)
{
	struct ddio_file *file;
	uint32_t i, bad = 0;
	char name[32];
	ssize_t n;
	int err;

	snprintf(name, sizeof(name), "scribe.%u", f);
	err = ddio_open(s, name, 0, NULL, &file);
	if (err == -ENOENT && !l->done[f])
		return 0;
	if (err) {
		printf("%s: %s\n", name, ddio_last_error(s));
		return 1;
	}
	memset(buf, 0, WORDS * 8);
	n = ddio_pread(file, buf, WORDS * 8, 0);
	if (n < 0 || (l->done[f] && n != WORDS * 8)) {
		printf("%s: read %zd: %s\n", name, n, n < 0 ? ddio_last_error(s) : "short");
		bad = 1;
	}
	for (i = 0; i < WORDS && !bad; i++) {
		uint32_t v = (uint32_t)(buf[i] >> 40);

		if (!buf[i] && !l->done[f])
			continue;
		if ((buf[i] != word(f, v, i) || v < l->done[f] || v > l->begun[f]) &&
		    !(l->cut && torn(l, f, i, buf[i]))) {
			printf("%s: word %u is %016llx; version %u acknowledged, %u begun\n", name,
			       i, (unsigned long long)buf[i], l->done[f], l->begun[f]);
			bad = 1;
		}
	}
	ddio_close(file);
	return (int)bad;
}

static int check(const char *path, bool cut)
{
	struct ddio_connect_opts o = { .struct_size = sizeof(o), .timeout_ms = 20000 };
	uint64_t *buf = malloc(WORDS * 8);
	struct ddio_session *s = NULL;
	struct ledger l;
	uint32_t f, acked = 0;
	int bad = 0;

	ledger_read(path, &l);
	l.cut = cut;
	if (!buf || ddio_connect(&o, &s)) {
		printf("cannot connect: %s\n", ddio_last_error(NULL));
		return 1;
	}
	for (f = 0; f < FILES; f++) {
		bad |= check_file(s, f, &l, buf);
		acked += l.done[f];
	}
	printf("%u writes acknowledged so far: %s\n", acked, bad ? "DAMAGED" : "all there");
	ddio_disconnect(s);
	free(buf);
	return bad;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "write"))
		return scribe(strtoull(argv[2], NULL, 0), argv[3]);
	if (argc == 3 && (!strcmp(argv[1], "check") || !strcmp(argv[1], "cut")))
		return check(argv[2], argv[1][1] == 'u');
	fprintf(stderr,
		"usage: scribe write SEED LEDGER | scribe check LEDGER | scribe cut LEDGER\n");
	return 2;
}
