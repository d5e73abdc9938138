/* SPDX-License-Identifier: GPL-2.0-only */
/* What fsload's operations are, what they change, and how they are done. */
#ifndef FSLOAD_OPS_H
#define FSLOAD_OPS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <unistd.h>
#include "tests/helpers/fsload_model.h"

#define DIRS 3
#define OPEN_FILES 4096

enum kind {
	CREATE,
	WRITE,
	TRUNC,
	PUNCH,
	ZERO,
	ALLOC,
	COPY,
	FSYNC,
	RENAME,
	LINK,
	UNLINK,
	MAKEDIR,
	RMDIR,
	SYMLINK,
	SYNCNAMES,
	READ,
	KINDS
};

/* How often each of them is drawn. */
static const unsigned int weight[KINDS] = { 20, 60, 8, 8, 6, 6, 6, 20, 10, 3, 8, 3, 2, 2, 6, 30 };

/**
 * struct op - one operation
 * @n: its number; of CREATE also the file's
 * @a, @b: names
 * @off, @len, @at: bytes; COPY: from @off of a to @at of b
 */
struct op {
	unsigned int n;
	int kind, a, b;
	uint32_t off, len, at;
};

/**
 * struct proc - one process's part
 * @loses: what was not fsync'ed may be lost while it runs
 * @names: now; @past: what they may be after a crash, the last one as they are now
 */
struct proc {
	char dir[4000];
	int log;
	bool loses;
	uint64_t rand;
	struct names names, *past;
	size_t npast, cap;
	struct file *file[OPEN_FILES];
};

static inline uint32_t draw(struct proc *p, uint32_t n)
{
	p->rand = p->rand * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(p->rand >> 33) % n;
}

/* Fills in bytes that tell which operation wrote them, and where; never zero. */
static inline uint8_t byte_of(unsigned int n, uint32_t at)
{
	uint32_t x = (n * 2654435761u) ^ (at * 40503u) ^ (at >> 9);

	return (uint8_t)(1 + (x ^ x >> 15) % 255);
}

static inline const uint8_t *bytes_of(const struct op *op)
{
	static uint8_t buf[FILE_MAX];
	uint32_t i;

	for (i = 0; i < op->len; i++)
		buf[i] = byte_of(op->n, op->off + i);
	return buf;
}

static inline const char *path_of(const struct proc *p, int name)
{
	static char path[2][4100];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/d%d/n%d", p->dir, name % DIRS, name);
	return path[turn];
}

static inline struct file *file_of(const struct proc *p, int name)
{
	int what = p->names.what[name];

	return what > 0 ? p->file[what % OPEN_FILES] : NULL;
}

/*
 * What an operation that ended well has changed; one that may not have ended, too
 */
static inline void names_note(struct proc *p)
{
	if (p->npast == p->cap) {
		p->cap = p->cap ? 2 * p->cap : 64;
		p->past = need(realloc(p->past, p->cap * sizeof(*p->past)));
	}
	p->past[p->npast++] = p->names;
}

static inline void names_synced(struct proc *p)
{
	p->past[0] = p->names;
	p->npast = 1;
}

static inline void names_apply(struct proc *p, const struct op *op)
{
	int *what = p->names.what;

	switch (op->kind) {
	case CREATE:
		what[op->a] = (int)op->n;
		file_free(p->file[op->n % OPEN_FILES]);
		p->file[op->n % OPEN_FILES] = file_new();
		break;
	case RENAME:
		what[op->b] = what[op->a];
		what[op->a] = NAME_NONE;
		break;
	case LINK:
		what[op->b] = what[op->a];
		break;
	case UNLINK:
	case RMDIR:
		what[op->a] = NAME_NONE;
		break;
	case MAKEDIR:
		what[op->a] = NAME_DIR;
		break;
	case SYMLINK:
		what[op->a] = NAME_LINK;
		break;
	default:
		return;
	}
	names_note(p);
}

static inline uint32_t max_of(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline void copy_apply(struct proc *p, const struct op *op, struct file *f)
{
	struct file *from = file_of(p, op->a);
	bool vague = p->loses && file_doubtful(from, op->off, op->off + op->len);

	file_change(f, op->at, op->at + op->len, from->live + op->off,
		    max_of(f->live_size, op->at + op->len))
		->vague = vague;
}

static inline void data_apply(struct proc *p, const struct op *op)
{
	struct file *f = file_of(p, op->kind == COPY ? op->b : op->a);
	uint32_t end = op->off + op->len;

	switch (op->kind) {
	case WRITE:
		file_change(f, op->off, end, bytes_of(op), max_of(f->live_size, end));
		break;
	case TRUNC:
		file_truncate(f, op->off);
		break;
	case PUNCH:
		file_change(f, op->off, end, NULL, f->live_size);
		break;
	case ZERO:
		file_change(f, op->off, end, NULL, max_of(f->live_size, end));
		break;
	case ALLOC:
		file_change(f, 0, 0, NULL, max_of(f->live_size, end));
		break;
	case COPY:
		copy_apply(p, op, f);
		break;
	}
}

/* @err: 0, an errno, or -1: nobody knows */
static inline void apply(struct proc *p, const struct op *op, int err)
{
	struct file *f = file_of(p, op->kind == COPY ? op->b : op->a);

	if (op->kind == FSYNC || op->kind == SYNCNAMES) {
		if (op->kind == SYNCNAMES && !err)
			names_synced(p);
		else if (op->kind == FSYNC && err >= 0)
			file_synced(f, err > 0);
		return;
	}
	if (err == ENOSPC) {
		/* Perhaps a part of it. */
		if (f && op->kind == COPY)
			memset(f->unknown + op->at, 1, op->len);
		else if (f && op->kind != TRUNC)
			memset(f->unknown + op->off, 1, op->len);
		return;
	}
	names_apply(p, op);
	data_apply(p, op);
}

/*
 * Drawing an operation that makes sense
 */
static inline bool op_fits(const struct proc *p, const struct op *op)
{
	const int *what = p->names.what;
	int a = what[op->a], b = what[op->b];

	switch (op->kind) {
	case CREATE:
	case MAKEDIR:
	case SYMLINK:
		return a == NAME_NONE;
	case RENAME:
		return op->a != op->b && a != NAME_NONE && a != b &&
		       (b == NAME_NONE || (a != NAME_DIR && b != NAME_DIR));
	case LINK:
		return a > 0 && b == NAME_NONE && op->a != op->b;
	case UNLINK:
		return a > 0 || a == NAME_LINK;
	case RMDIR:
		return a == NAME_DIR;
	case COPY:
		return a > 0 && b > 0 && a != b && file_of(p, op->a)->live_size > 1;
	case SYNCNAMES:
		return true;
	default:
		return a > 0;
	}
}

static inline int kind_draw(struct proc *p)
{
	uint32_t sum = 0, at;
	int k;

	for (k = 0; k < KINDS; k++)
		sum += weight[k];
	at = draw(p, sum);
	for (k = 0; at >= weight[k]; k++)
		at -= weight[k];
	return k;
}

static inline void range_draw(struct proc *p, struct op *op)
{
	struct file *f = file_of(p, op->a);

	op->len = 1 + draw(p, draw(p, 4) ? 9000 : FILE_MAX / 2);
	if (!draw(p, 3))
		op->len = (op->len + 4095) / 4096 * 4096;
	op->off = draw(p, FILE_MAX - op->len + 1);
	if (f && !draw(p, 3) && f->live_size + op->len <= FILE_MAX)
		op->off = f->live_size;
	if (op->kind == COPY) {
		op->off = draw(p, f->live_size);
		if (op->len > f->live_size - op->off)
			op->len = f->live_size - op->off;
		op->at = draw(p, FILE_MAX - op->len + 1);
	}
}

static inline struct op op_draw(struct proc *p, unsigned int n)
{
	struct op op = { .n = n };

	do {
		op.kind = kind_draw(p);
		op.a = (int)draw(p, NAMES);
		op.b = (int)draw(p, NAMES);
	} while (!op_fits(p, &op));
	range_draw(p, &op);
	return op;
}

/*
 * Doing it
 */
static inline int result(long ret)
{
	return ret < 0 ? errno : 0;
}

static inline int sync_names(const struct proc *p)
{
	char path[4100];
	int i, fd, err = 0;

	for (i = -1; i < DIRS && !err; i++) {
		if (i < 0)
			snprintf(path, sizeof(path), "%s", p->dir);
		else
			snprintf(path, sizeof(path), "%s/d%d", p->dir, i);
		fd = open(path, O_RDONLY | O_DIRECTORY);
		if (fd < 0)
			return errno;
		err = result(fsync(fd));
		close(fd);
	}
	return err;
}

static inline int write_all(int fd, const uint8_t *buf, uint32_t len, uint32_t off)
{
	ssize_t n;

	for (; len; len -= (uint32_t)n, off += (uint32_t)n, buf += n) {
		n = pwrite(fd, buf, len, off);
		if (n < 0)
			return errno;
	}
	return 0;
}

static inline int copy_all(int fd, const struct proc *p, const struct op *op)
{
	int from = open(path_of(p, op->a), O_RDONLY), err = 0;
	loff_t off = op->off, at = op->at;
	uint32_t left = op->len;
	ssize_t n;

	if (from < 0)
		return errno;
	while (left && !err) {
		n = copy_file_range(from, &off, fd, &at, left, 0);
		if (n > 0)
			left -= (uint32_t)n;
		else
			err = n ? errno : EIO;
	}
	close(from);
	return err;
}

/* EBADMSG: what was read is not what was written. */
static inline int read_check(int fd, const struct file *f, bool loses)
{
	static uint8_t buf[FILE_MAX + 1];
	ssize_t n = 0, k;
	uint32_t i;

	do {
		k = pread(fd, buf + n, sizeof(buf) - (size_t)n, n);
		if (k < 0)
			return errno;
		n += k;
	} while (k);
	if (n != f->live_size) {
		fprintf(stderr, "fsload: %zd bytes where %u are\n", n, f->live_size);
		return EBADMSG;
	}
	for (i = 0; i < n; i++) {
		if (buf[i] == f->live[i] || f->unknown[i])
			continue;
		if (loses && byte_possible(f, i, buf[i]))
			continue;
		fprintf(stderr, "fsload: byte %u is %02x, not %02x\n", i, buf[i], f->live[i]);
		return EBADMSG;
	}
	return 0;
}

/* A close that the nodes have not answered in time says so; the next one of the file tells how it ended. */
static inline int close_told(int fd, const char *path)
{
	int err = result(close(fd)), tries = 0;

	for (; err == ETIMEDOUT && tries < 600; tries++) {
		usleep(100000);
		fd = open(path, O_RDONLY);
		if (fd < 0)
			return errno;
		err = result(close(fd));
	}
	return err;
}

static inline int on_file(const struct proc *p, const struct op *op)
{
	const char *path = path_of(p, op->kind == COPY ? op->b : op->a);
	int fd = open(path, op->kind == READ ? O_RDONLY : O_RDWR), closed;
	int err = fd < 0 ? errno : 0;

	if (err)
		return err;
	switch (op->kind) {
	case WRITE:
		err = write_all(fd, bytes_of(op), op->len, op->off);
		break;
	case TRUNC:
		err = result(ftruncate(fd, op->off));
		break;
	case PUNCH:
		err = result(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, op->off,
				       op->len));
		break;
	case ZERO:
		err = result(fallocate(fd, FALLOC_FL_ZERO_RANGE, op->off, op->len));
		break;
	case ALLOC:
		err = result(fallocate(fd, 0, op->off, op->len));
		break;
	case COPY:
		err = copy_all(fd, p, op);
		break;
	case FSYNC:
		err = result(op->n % 2 ? fsync(fd) : fdatasync(fd));
		break;
	case READ:
		err = read_check(fd, file_of(p, op->a), p->loses);
		break;
	}
	closed = close_told(fd, path);
	return err ? err : closed;
}

static inline int perform(const struct proc *p, const struct op *op)
{
	const char *a = path_of(p, op->a), *b = path_of(p, op->b);
	int fd;

	switch (op->kind) {
	case CREATE:
		fd = open(a, O_RDWR | O_CREAT | O_EXCL, 0600);
		return fd < 0 ? errno : close_told(fd, a);
	case RENAME:
		return result(rename(a, b));
	case LINK:
		return result(link(a, b));
	case UNLINK:
		return result(unlink(a));
	case MAKEDIR:
		return result(mkdir(a, 0700));
	case RMDIR:
		return result(rmdir(a));
	case SYMLINK:
		return result(symlink("nowhere", a));
	case SYNCNAMES:
		return sync_names(p);
	default:
		return on_file(p, op);
	}
}

#endif /* FSLOAD_OPS_H */
