// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps a ledger of what a file system has promised, and holds it to that.
 *
 *   vow run DIR LEDGER SEED
 *	makes DIR, works in it, and notes in LEDGER what it is about to do and which fsync's have returned 0.  It goes on
 *	whatever fails; a file of which something has failed is left alone.  It ends when it is killed.
 *   vow check DIR LEDGER
 *	an fsync'ed file is there, with at least the bytes that it had then, none of them zero; names are as
 *	at the last fsync of the directory, or as an operation since has made them; no other name is there.
 *
 * LEDGER is to be on a file system that does not lose anything.  A line is a letter, a file's number and a number:
 *
 *   B  the directory is there, for ever
 *   c  create		w  write up to this size	o  write all of it again, as this version
 *   t  cut to this size	r  rename	u  unlink	(each before it is done)
 *   k  the last one has succeeded
 *   x  something of this file has failed
 *   F  fsync of the file has succeeded; its size
 *   D  fsync of the directory has succeeded
 *   E  fsync of the directory has failed: what was to become of names is unknown
 *
 * Status: 0, 1 a promise was broken, 2 bad usage.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 4096
#define OPEN 12
#define SIZE_MAX_FILE (192u << 10)

/* What a file may be called. */
enum state { NONE, FIRST, SECOND, GONE };

/**
 * struct vow_file - what is known of a file
 * @now: its name, if nothing is lost; @may: a bit for each state that may be found
 * @size: if nothing is lost; @synced: as many bytes must be there; @max: so many may be
 * @version: if nothing is lost; @oldest: that may be found
 * @failed: nothing is promised any more, beyond what was
 */
struct vow_file {
	enum state now;
	uint32_t may, size, synced, max, version, oldest;
	bool failed;
	int fd;
};

static struct vow_file files[FILES];
static char base[4000];
static int ledger = -1;
static uint64_t drawn;

static uint8_t byte_of(uint32_t k, uint32_t version, uint32_t at)
{
	uint32_t x = k * 2654435761u ^ version * 2246822519u ^ at * 40503u ^ at >> 9;

	return (uint8_t)(1 + (x ^ x >> 15) % 255);
}

static const char *path_of(uint32_t k, enum state state)
{
	static char path[2][4100];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%c%u", base, state == FIRST ? 'n' : 'r', k);
	return path[turn];
}

static uint32_t max_of(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Takes note of one line; used by both. */
static void learn(char what, uint32_t k, uint32_t n)
{
	static enum state next;
	static uint32_t of;
	struct vow_file *f = &files[k % FILES];
	uint32_t i;

	if (strchr("cruwot", what)) {
		next = what == 'c' ? FIRST : what == 'r' ? SECOND : what == 'u' ? GONE : f->now;
		of = k;
		f->may |= 1u << next;
	}
	switch (what) {
	case 'w':
		f->size = max_of(f->size, n);
		f->max = max_of(f->max, n);
		break;
	case 't':
		f->size = n;
		f->synced = f->synced < n ? f->synced : n;
		break;
	case 'o':
		f->version = n;
		break;
	case 'k':
		files[of % FILES].now = next;
		break;
	case 'x':
		f->failed = true;
		break;
	case 'F':
		f->synced = n;
		f->max = n;
		f->oldest = f->version;
		f->may &= ~(1u << NONE);
		break;
	case 'D':
		for (i = 0; i < FILES; i++)
			if (!files[i].failed)
				files[i].may = 1u << files[i].now;
		break;
	case 'E':
		for (i = 0; i < FILES; i++)
			if (files[i].may & (files[i].may - 1))
				files[i].failed = true;
		break;
	}
}

static void note(char what, uint32_t k, uint32_t n)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "%c %u %u\n", what, k, n);

	if (write(ledger, line, (size_t)len) != len) {
		perror("vow: the ledger");
		exit(2);
	}
	learn(what, k, n);
}

static uint32_t draw(uint32_t n)
{
	drawn = drawn * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(drawn >> 33) % n;
}

/* Writes bytes [@from, @to) of the present version. */
static int put(const struct vow_file *f, uint32_t k, uint32_t from, uint32_t to)
{
	static uint8_t buf[SIZE_MAX_FILE];
	uint32_t i;

	for (i = from; i < to; i++)
		buf[i] = byte_of(k, f->version, i);
	while (from < to) {
		ssize_t n = pwrite(f->fd, buf + from, to - from, from);

		if (n <= 0)
			return -1;
		from += (uint32_t)n;
	}
	return 0;
}

static int grow(struct vow_file *f, uint32_t k)
{
	uint32_t from = f->size, to = from + 1 + draw(draw(3) ? 5000 : 70000);

	if (to > SIZE_MAX_FILE)
		return 0;
	note('w', k, to);
	return put(f, k, from, to);
}

static int again(struct vow_file *f, uint32_t k)
{
	if (f->version == 6)
		return 0;
	note('o', k, f->version + 1);
	return put(f, k, 0, f->size);
}

static int cut(struct vow_file *f, uint32_t k)
{
	uint32_t to = draw(f->size + 1);

	note('t', k, to);
	return ftruncate(f->fd, to);
}

static int sync_file(struct vow_file *f, uint32_t k)
{
	if (draw(2) ? fsync(f->fd) : fdatasync(f->fd))
		return -1;
	note('F', k, f->size);
	return 0;
}

/* As a data base keeps its log: a write, a sync, and again. */
static int keep_log(struct vow_file *f, uint32_t k)
{
	uint32_t n, from, to;

	for (n = 3 + draw(8); n; n--) {
		from = f->size;
		to = from + 1 + draw(5000);
		if (to > SIZE_MAX_FILE)
			return 0;
		note('w', k, to);
		if (put(f, k, from, to) || sync_file(f, k))
			return -1;
	}
	return 0;
}

static int create(struct vow_file *f, uint32_t k)
{
	note('c', k, 0);
	f->fd = open(path_of(k, FIRST), O_RDWR | O_CREAT | O_EXCL, 0600);
	return f->fd < 0 ? -1 : 0;
}

static int move(const struct vow_file *f, uint32_t k)
{
	if (f->now != FIRST)
		return 0;
	note('r', k, 0);
	return rename(path_of(k, FIRST), path_of(k, SECOND));
}

static int drop(const struct vow_file *f, uint32_t k)
{
	note('u', k, 0);
	return unlink(path_of(k, f->now));
}

static int operate(struct vow_file *f, uint32_t k)
{
	switch (draw(13)) {
	case 12:
		return keep_log(f, k);
	case 0:
		return move(f, k);
	case 1:
		return drop(f, k);
	case 2:
		return again(f, k);
	case 3:
		return cut(f, k);
	case 4:
	case 5:
	case 6:
		return sync_file(f, k);
	default:
		return grow(f, k);
	}
}

static void sync_names(int dir)
{
	if (fsync(dir))
		note('E', 0, 0);
	else
		note('D', 0, 0);
}

/* One operation on a file; one that is not to be used any more makes place for another. */
static void step(uint32_t *slot, uint32_t *made)
{
	struct vow_file *f = &files[*slot];
	int err;

	if (!*slot || f->failed || f->now == GONE) {
		if (*slot && f->fd >= 0)
			close(f->fd);
		*slot = ++*made;
		f = &files[*slot];
		err = create(f, *slot);
	} else {
		err = operate(f, *slot);
	}
	note(err ? 'x' : 'k', *slot, 0);
}

static int make_dir(void)
{
	char parent[4100];
	int fd, err;

	snprintf(parent, sizeof(parent), "%s/..", base);
	if (mkdir(base, 0700))
		return -1;
	fd = open(parent, O_RDONLY | O_DIRECTORY);
	err = fd < 0 ? -1 : fsync(fd);
	close(fd);
	return err;
}

static int run(uint64_t seed)
{
	uint32_t slot[OPEN] = { 0 }, made = 0;
	int dir;

	drawn = (seed + 1) * 7919;
	if (make_dir())
		return 0;
	dir = open(base, O_RDONLY | O_DIRECTORY);
	if (dir < 0)
		return 0;
	note('B', 0, 0);
	while (made < FILES - 1)
		if (draw(10))
			step(&slot[draw(OPEN)], &made);
		else
			sync_names(dir);
	return 0;
}

static int broken(uint32_t k, const char *text, uint32_t a, uint32_t b)
{
	const struct vow_file *f = &files[k];

	printf("%s: file %u: %s (%u, %u); states %x, %u bytes synced, %u at most, versions %u to %u\n",
	       base, k, text, a, b, f->may, f->synced, f->max, f->oldest, f->version);
	return 1;
}

static int check_bytes(uint32_t k, const uint8_t *buf, uint32_t len)
{
	const struct vow_file *f = &files[k];
	uint32_t i, v;

	for (i = 0; i < len; i++) {
		if (!buf[i] && i >= f->synced)
			continue;
		for (v = f->oldest; v <= f->version && buf[i] != byte_of(k, v, i); v++)
			;
		if (v > f->version)
			return broken(k, "this byte is wrong", i, buf[i]);
	}
	return 0;
}

static int check_file(uint32_t k, enum state state)
{
	static uint8_t buf[SIZE_MAX_FILE + 1];
	int fd = open(path_of(k, state), O_RDONLY);
	uint32_t len = 0;
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && len < sizeof(buf)) {
		n = read(fd, buf + len, sizeof(buf) - len);
		len += n > 0 ? (uint32_t)n : 0;
	}
	if (n < 0)
		return broken(k, strerror(errno), len, 0);
	close(fd);
	if (len < files[k].synced || len > files[k].max)
		return broken(k, "this size is wrong", len, 0);
	return check_bytes(k, buf, len);
}

static int check_one(uint32_t k)
{
	struct stat st;
	bool first = !lstat(path_of(k, FIRST), &st), second = !lstat(path_of(k, SECOND), &st);
	uint32_t absent = files[k].may & (1u << NONE | 1u << GONE);

	if (first && second)
		return broken(k, "it has two names", 0, 0);
	if (!first && !second)
		return absent ? 0 : broken(k, "it is gone", 0, 0);
	if (!(files[k].may >> (first ? FIRST : SECOND) & 1))
		return broken(k, "this name is wrong", first, second);
	return check_file(k, first ? FIRST : SECOND);
}

/* Checks that no name is there that was not made. */
static int check_names(void)
{
	DIR *d = opendir(base);
	struct dirent *e;
	int bad = !d;

	while (d && (e = readdir(d))) {
		uint32_t k = (uint32_t)strtoul(e->d_name + 1, NULL, 10);

		if (e->d_name[0] == '.')
			continue;
		if (!strchr("nr", e->d_name[0]) || !k || k >= FILES || files[k].may == 1u << NONE) {
			printf("%s: %s was never made\n", base, e->d_name);
			bad = 1;
		}
	}
	if (d)
		closedir(d);
	else
		printf("%s: %s\n", base, strerror(errno));
	return bad;
}

static int check(FILE *in)
{
	uint32_t k, n, synced = 0;
	bool there = false;
	int bad = 0;
	char what;

	while (fscanf(in, " %c %u %u", &what, &k, &n) == 3) {
		there = there || what == 'B';
		synced += what == 'F' || what == 'D';
		learn(what, k, n);
	}
	for (k = 1; k < FILES && there; k++)
		if (files[k].may != 1u << NONE)
			bad |= check_one(k);
	if (there)
		bad |= check_names();
	printf("%u promises: %s\n", synced, bad ? "BROKEN" : "kept");
	return bad;
}

int main(int argc, char **argv)
{
	bool runs = argc == 5 && !strcmp(argv[1], "run");
	FILE *in;
	int i;

	if (!runs && (argc != 4 || strcmp(argv[1], "check"))) {
		fprintf(stderr, "usage: vow run DIR LEDGER SEED | vow check DIR LEDGER\n");
		return 2;
	}
	snprintf(base, sizeof(base), "%s", argv[2]);
	for (i = 0; i < FILES; i++)
		files[i] = (struct vow_file){ .may = 1u << NONE, .fd = -1 };
	if (!runs) {
		in = fopen(argv[3], "r");
		return in ? check(in) : 2;
	}
	ledger = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	return ledger < 0 ? 2 : run(strtoull(argv[4], NULL, 0));
}
