// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks of a disk's file in which one bit is wrong, and what a reader gets of them.
 *
 *   wrong_bits make FILE BLOCK N     writes a file of N blocks, each of which says which it is
 *   wrong_bits flip IMAGE BLOCK SEED turns one bit in each of these blocks that lies in the image of a disk, and prints how
 *	many there are; once more with the same seed turns them back
 *   wrong_bits read FILE BLOCK N     reads block by block, and prints: how many are as they were written, how many are errors
 *	that name a checksum, a disk and the block, how many are other errors, and how many are wrong
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <ddio/ddio.h>

#define MARK UINT64_C(0x62f1d9a37c5be804)

static uint64_t next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static void fill(uint64_t *data, size_t block, uint64_t number)
{
	uint64_t s = MARK + number;
	size_t i;

	data[0] = MARK;
	data[1] = number;
	for (i = 2; i < block / sizeof(*data); i++)
		data[i] = next(&s);
}

static struct ddio_session *session;

static struct ddio_file *open_file(const char *name, unsigned int flags, size_t block)
{
	const struct ddio_striping striping = { .struct_size = sizeof(striping),
						.block_size = (uint32_t)block };
	struct ddio_file *file;

	if (ddio_connect(NULL, &session)) {
		fprintf(stderr, "%s\n", ddio_last_error(NULL));
		exit(1);
	}
	if (ddio_open(session, name, flags, &striping, &file)) {
		fprintf(stderr, "%s\n", ddio_last_error(session));
		exit(1);
	}
	return file;
}

static int make(const char *name, size_t block, uint64_t n)
{
	struct ddio_file *file = open_file(name, DDIO_CREATE | DDIO_TRUNCATE, block);
	uint64_t *data = malloc(block), i;

	for (i = 0; data && i < n; i++) {
		fill(data, block, i);
		if (ddio_pwrite(file, data, block, i * block) != (ssize_t)block)
			break;
	}
	free(data);
	if (i < n || ddio_sync(file)) {
		fprintf(stderr, "%s\n", ddio_last_error(session));
		return 1;
	}
	ddio_close(file);
	ddio_disconnect(session);
	return 0;
}

/* Returns true if a block of ours begins here, whichever bit of it is wrong. */
static bool begins(const uint8_t *at, uint64_t *number)
{
	uint64_t mark;

	memcpy(&mark, at, sizeof(mark));
	memcpy(number, at + sizeof(mark), sizeof(*number));
	return __builtin_popcountll(mark ^ MARK) < 2;
}

static int flip(const char *image, size_t block, uint64_t seed)
{
	int fd = open(image, O_RDWR);
	uint8_t *data = malloc(block);
	uint64_t n = 0, bit, s, number;
	struct stat st;
	off_t at;

	if (fd < 0 || !data || fstat(fd, &st)) {
		perror(image);
		return 1;
	}
	for (at = 4096; at + (off_t)block <= st.st_size; at += 512) {
		if (pread(fd, data, block, at) != (ssize_t)block || !begins(data, &number))
			continue;
		/* Not in the number, by which the place is drawn. */
		s = seed * MARK + (uint64_t)at;
		next(&s);
		bit = 128 + next(&s) % (block * 8 - 128);
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (pwrite(fd, data, block, at) != (ssize_t)block)
			return 1;
		at += (off_t)block - 512;
		n++;
	}
	printf("%llu\n", (unsigned long long)n);
	free(data);
	return close(fd);
}

static int read_all(const char *name, size_t block, uint64_t n)
{
	struct ddio_file *file = open_file(name, 0, block);
	uint64_t *data = malloc(block), *want = malloc(block), i;
	unsigned int fine = 0, named = 0, others = 0, wrong = 0;
	const char *text;
	ssize_t ret;

	for (i = 0; data && want && i < n; i++) {
		fill(want, block, i);
		memset(data, 0, block);
		ret = ddio_pread(file, data, block, i * block);
		if (ret == (ssize_t)block) {
			fine += !memcmp(data, want, block);
			wrong += !!memcmp(data, want, block);
			continue;
		}
		text = ddio_last_error(session);
		if (ret == -EIO && strstr(text, "does not match its checksum") &&
		    strstr(text, "disk ") && strstr(text, "block ") && strstr(text, "node "))
			named++;
		else if (!others++)
			fprintf(stderr, "block %llu: %lld: %s\n", (unsigned long long)i,
				(long long)ret, text);
	}
	printf("%u fine, %u named, %u other errors, %u wrong\n", fine, named, others, wrong);
	free(data);
	free(want);
	ddio_close(file);
	ddio_disconnect(session);
	return 0;
}

int main(int argc, char **argv)
{
	size_t block = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	uint64_t n = argc > 4 ? strtoull(argv[4], NULL, 0) : 0;

	if (!block || argc != 5)
		return 2;
	if (!strcmp(argv[1], "make"))
		return make(argv[2], block, n);
	if (!strcmp(argv[1], "flip"))
		return flip(argv[2], block, n);
	return strcmp(argv[1], "read") ? 2 : read_all(argv[2], block, n);
}
