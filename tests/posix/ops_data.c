// SPDX-License-Identifier: GPL-2.0-only
/* Operations on data. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include "posix.h"

static int64_t number(const char *text)
{
	char *end;
	int64_t n = strtoll(text, &end, 0);

	switch (*end) {
	case 'k':
		return n << 10;
	case 'm':
		return n << 20;
	case 'g':
		return n << 30;
	case 't':
		return n << 40;
	}
	return n;
}

/* write #N TEXT */
static long op_write(struct px *p, int argc, char **argv)
{
	ssize_t n = write(px_fd(p, argv[1]), argv[2], strlen(argv[2]));

	(void)argc;
	return n < 0 || n == (ssize_t)strlen(argv[2]) ? n : px_wrong(p, "%zd bytes", n);
}

/* pwrite #N OFFSET TEXT */
static long op_pwrite(struct px *p, int argc, char **argv)
{
	ssize_t n = pwrite(px_fd(p, argv[1]), argv[3], strlen(argv[3]), number(argv[2]));

	(void)argc;
	return n < 0 || n == (ssize_t)strlen(argv[3]) ? n : px_wrong(p, "%zd bytes", n);
}

static char pattern_at(uint64_t at)
{
	return (char)(at * 131 + (at >> 8) * 17 + (at >> 20) + 1);
}

/* fill #N OFFSET LENGTH: with a pattern that depends on the place */
static long op_fill(struct px *p, int argc, char **argv)
{
	uint64_t at = (uint64_t)number(argv[2]), end = at + (uint64_t)number(argv[3]), i;
	static char buf[65536];
	ssize_t n;

	(void)argc;
	while (at < end) {
		size_t len = end - at < sizeof(buf) ? end - at : sizeof(buf);

		for (i = 0; i < len; i++)
			buf[i] = pattern_at(at + i);
		n = pwrite(px_fd(p, argv[1]), buf, len, (off_t)at);
		if (n <= 0)
			return -1;
		at += (uint64_t)n;
	}
	return 0;
}

/* Compares with the pattern, or with zeros. */
static long compare(struct px *p, char **argv, bool zeros)
{
	uint64_t at = (uint64_t)number(argv[2]), end = at + (uint64_t)number(argv[3]), i;
	static char buf[65536];
	ssize_t n;

	while (at < end) {
		size_t len = end - at < sizeof(buf) ? end - at : sizeof(buf);

		n = pread(px_fd(p, argv[1]), buf, len, (off_t)at);
		if (n < 0)
			return -1;
		if (!n)
			return px_wrong(p, "the file ends at %llu", (unsigned long long)at);
		for (i = 0; i < (uint64_t)n; i++)
			if (buf[i] != (zeros ? 0 : pattern_at(at + i)))
				return px_wrong(p, "wrong byte at %llu",
						(unsigned long long)(at + i));
		at += (uint64_t)n;
	}
	return 0;
}

static long op_filled(struct px *p, int argc, char **argv)
{
	(void)argc;
	return compare(p, argv, false);
}

static long op_zeros(struct px *p, int argc, char **argv)
{
	(void)argc;
	return compare(p, argv, true);
}

static long text_compare(struct px *p, const char *buf, ssize_t n, const char *want)
{
	if (n < 0)
		return -1;
	if (!strcmp(want, "-"))
		want = "";
	if ((size_t)n != strlen(want) || memcmp(buf, want, (size_t)n))
		return px_wrong(p, "\"%.*s\" is read", (int)n, buf);
	return 0;
}

/* read #N COUNT TEXT */
static long op_read(struct px *p, int argc, char **argv)
{
	char buf[4096];

	(void)argc;
	return text_compare(p, buf, read(px_fd(p, argv[1]), buf, (size_t)number(argv[2])), argv[3]);
}

/* pread #N OFFSET COUNT TEXT */
static long op_pread(struct px *p, int argc, char **argv)
{
	char buf[4096];
	ssize_t n = pread(px_fd(p, argv[1]), buf, (size_t)number(argv[3]), number(argv[2]));

	(void)argc;
	return text_compare(p, buf, n, argv[4]);
}

/* content PATH TEXT: all of it */
static long op_content(struct px *p, int argc, char **argv)
{
	int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	char buf[4096];
	ssize_t n;

	(void)argc;
	if (fd < 0)
		return -1;
	n = read(fd, buf, sizeof(buf));
	close(fd);
	return text_compare(p, buf, n, argv[2]);
}

/* writev #N TEXT TEXT...; preadv checks nothing that read does not */
static long op_writev(struct px *p, int argc, char **argv)
{
	struct iovec iov[PX_WORDS];
	size_t sum = 0;
	ssize_t n;
	int i;

	for (i = 2; i < argc; i++) {
		iov[i - 2] = (struct iovec){ argv[i], strlen(argv[i]) };
		sum += strlen(argv[i]);
	}
	n = writev(px_fd(p, argv[1]), iov, argc - 2);
	return n < 0 || (size_t)n == sum ? n : px_wrong(p, "%zd bytes", n);
}

static const struct px_bit whences[] = {
	{ "set", SEEK_SET },   { "cur", SEEK_CUR }, { "end", SEEK_END }, { "data", SEEK_DATA },
	{ "hole", SEEK_HOLE }, { "bad", 77 },	    { NULL, 0 }
};

/* lseek #N OFFSET WHENCE [RESULT] */
static long op_lseek(struct px *p, int argc, char **argv)
{
	int whence;
	off_t at;

	if (px_bits(p, whences, argv[3], &whence))
		return PX_WRONG;
	at = lseek(px_fd(p, argv[1]), number(argv[2]), whence);
	if (at < 0)
		return -1;
	if (argc > 4 && at != number(argv[4]))
		return px_wrong(p, "it is %lld", (long long)at);
	return 0;
}

/* data_in #N FROM TO: SEEK_DATA from FROM finds something in [FROM, TO) or nothing if TO is 0 */
static long op_data_in(struct px *p, int argc, char **argv)
{
	off_t from = number(argv[2]), to = number(argv[3]), at;

	(void)argc;
	at = lseek(px_fd(p, argv[1]), from, SEEK_DATA);
	if (at < 0)
		return -1;
	return at >= from && at < to ? 0 : px_wrong(p, "data at %lld", (long long)at);
}

/* truncate PATH|#N SIZE */
static long op_truncate(struct px *p, int argc, char **argv)
{
	(void)argc;
	return argv[1][0] == '#' ? ftruncate(px_fd(p, argv[1]), number(argv[2]))
				 : truncate(argv[1], number(argv[2]));
}

static const struct px_bit fallocs[] = { { "alloc", 0 },
					 { "keep", FALLOC_FL_KEEP_SIZE },
					 { "punch", FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE },
					 { "punch_only", FALLOC_FL_PUNCH_HOLE },
					 { "zero", FALLOC_FL_ZERO_RANGE },
					 { "bad", 0x800 },
					 { NULL, 0 } };

/* fallocate #N MODE OFFSET LENGTH */
static long op_fallocate(struct px *p, int argc, char **argv)
{
	int mode;

	(void)argc;
	if (px_bits(p, fallocs, argv[2], &mode))
		return PX_WRONG;
	return fallocate(px_fd(p, argv[1]), mode, number(argv[3]), number(argv[4]));
}

static long op_fsync(struct px *p, int argc, char **argv)
{
	(void)argc;
	return strcmp(argv[0], "fdatasync") ? fsync(px_fd(p, argv[1]))
					    : fdatasync(px_fd(p, argv[1]));
}

/* forget PATH: what the kernel has of it in memory */
static long op_forget(struct px *p, int argc, char **argv)
{
	int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	long ret;

	(void)p;
	(void)argc;
	if (fd < 0)
		return -1;
	ret = fsync(fd);
	if (!ret)
		errno = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	return ret || errno ? -1 : 0;
}

/* copy #FROM OFFSET #TO OFFSET LENGTH [RESULT] */
static long op_copy(struct px *p, int argc, char **argv)
{
	loff_t from = number(argv[2]), to = number(argv[4]);
	size_t left = (size_t)number(argv[5]), sum = 0;
	ssize_t n;

	do {
		n = copy_file_range(px_fd(p, argv[1]), &from, px_fd(p, argv[3]), &to, left - sum,
				    0);
		if (n < 0)
			return -1;
		sum += (size_t)n;
	} while (n && sum < left);
	if (sum != (size_t)number(argc > 6 ? argv[6] : argv[5]))
		return px_wrong(p, "%zu bytes", sum);
	return 0;
}

/* mmap_write #N OFFSET TEXT */
static long op_mmap_write(struct px *p, int argc, char **argv)
{
	off_t at = number(argv[2]), base = at & ~(off_t)4095;
	size_t len = (size_t)(at - base) + strlen(argv[3]);
	char *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, px_fd(p, argv[1]), base);
	long ret;

	(void)argc;
	if (map == MAP_FAILED)
		return -1;
	memcpy(map + (at - base), argv[3], strlen(argv[3]));
	ret = msync(map, len, MS_SYNC);
	munmap(map, len);
	return ret;
}

/* mmap_read #N OFFSET TEXT */
static long op_mmap_read(struct px *p, int argc, char **argv)
{
	off_t at = number(argv[2]), base = at & ~(off_t)4095;
	size_t len = (size_t)(at - base) + strlen(argv[3]);
	char *map = mmap(NULL, len, PROT_READ, MAP_PRIVATE, px_fd(p, argv[1]), base);
	long ret;

	(void)argc;
	if (map == MAP_FAILED)
		return -1;
	ret = text_compare(p, map + (at - base), (ssize_t)strlen(argv[3]), argv[3]);
	munmap(map, len);
	return ret;
}

const struct px_op px_ops_data[] = {
	{ "write", 2, op_write },	  { "pwrite", 3, op_pwrite },
	{ "fill", 3, op_fill },		  { "filled", 3, op_filled },
	{ "zeros", 3, op_zeros },	  { "read", 3, op_read },
	{ "pread", 4, op_pread },	  { "content", 2, op_content },
	{ "writev", 2, op_writev },	  { "lseek", 3, op_lseek },
	{ "data_in", 3, op_data_in },	  { "truncate", 2, op_truncate },
	{ "fallocate", 4, op_fallocate }, { "fsync", 1, op_fsync },
	{ "fdatasync", 1, op_fsync },	  { "forget", 1, op_forget },
	{ "copy", 5, op_copy },		  { "mmap_write", 3, op_mmap_write },
	{ "mmap_read", 3, op_mmap_read }, { NULL, 0, NULL }
};
