// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/crc32c.h"
#include "iop/kv/journal.h"
#include "proto/cursor.h"

enum { OP_HEAD = 8 };

int kv_record_head(const uint8_t *buf, size_t len, uint64_t *seq, size_t *total)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);
	uint32_t body = ddio_rd_u32(&r), crc = ddio_rd_u32(&r);

	*seq = ddio_rd_u64(&r);
	if (r.err || body > r.left || body > KV_JOURNAL_MAX)
		return -EUCLEAN;
	if (crc != ddio_crc32c(0, buf + 8, 8 + body))
		return -EUCLEAN;
	*total = KV_JOURNAL_HEAD + body;
	return 0;
}

int kv_record_next(const uint8_t *buf, size_t total, size_t *at, struct kv_op *op)
{
	struct ddio_rd r = ddio_rd_begin(buf + *at, total - *at);
	uint8_t head[2];

	if (!r.left)
		return -ENOENT;
	ddio_rd_bytes(&r, head, sizeof(head));
	op->put = head[0];
	op->db = head[1];
	op->key_len = ddio_rd_u16(&r);
	op->len = ddio_rd_u32(&r);
	op->key = ddio_rd_room(&r, op->key_len);
	op->value = ddio_rd_room(&r, op->len);
	if (r.err || head[0] > 1 || !op->key_len || op->key_len > KV_KEY_MAX ||
	    (!op->put && op->len))
		return -EUCLEAN;
	*at = total - r.left;
	return 0;
}

static int open_one(const char *dir, int which)
{
	char path[4096];
	int fd;

	if (snprintf(path, sizeof(path), "%s/journal.%d", dir, which) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0600);
	return fd < 0 ? -errno : fd;
}

int kv_journal_open(struct kv_journal *j, const char *dir)
{
	int i;

	*j = (struct kv_journal){ .fd = { -1, -1 } };
	for (i = 0; i < 2; i++) {
		int fd = open_one(dir, i);

		if (fd < 0) {
			kv_journal_close(j);
			return fd;
		}
		j->fd[i] = fd;
	}
	return 0;
}

void kv_journal_close(struct kv_journal *j)
{
	int i;

	for (i = 0; i < 2; i++)
		if (j->fd[i] >= 0)
			close(j->fd[i]);
	free(j->buf);
	*j = (struct kv_journal){ .fd = { -1, -1 } };
}

int kv_journal_set_aside(struct kv_journal *j, const char *dir)
{
	char path[4096], aside[4096 + 16];
	int i;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/journal.%d", dir, i);
		snprintf(aside, sizeof(aside), "%s.damaged", path);
		if (rename(path, aside))
			return -errno;
	}
	kv_journal_close(j);
	return kv_journal_open(j, dir);
}

/*
 * Replaying: both files are in memory; the next record is in one or the other.
 */
struct replay_file {
	uint8_t *buf;
	size_t len, at, total;
	uint64_t seq;
	bool any; /* there is a complete record at @at */
};

static int reader_load(struct replay_file *rd, int fd)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	rd->buf = malloc(st.st_size ? (size_t)st.st_size : 1);
	if (!rd->buf)
		return -ENOMEM;
	while (rd->len < (size_t)st.st_size) {
		n = pread(fd, rd->buf + rd->len, (size_t)st.st_size - rd->len, (off_t)rd->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		rd->len += (size_t)n;
	}
	return 0;
}

/* Of a file's last record only the length may be damaged: the CRC then fits all that is left. */
static bool length_damaged(struct replay_file *rd)
{
	size_t left = rd->len - rd->at;
	struct ddio_rd r = ddio_rd_begin(rd->buf + rd->at, left);
	uint32_t crc;

	ddio_rd_u32(&r);
	crc = ddio_rd_u32(&r);
	rd->seq = ddio_rd_u64(&r);
	rd->total = left;
	return !r.err && r.left && r.left <= KV_JOURNAL_MAX &&
	       crc == ddio_crc32c(0, rd->buf + rd->at + 8, left - 8);
}

/* Finds the next complete record after number @after. */
static void reader_find(struct replay_file *rd, uint64_t after)
{
	rd->any = false;
	while (!kv_record_head(rd->buf + rd->at, rd->len - rd->at, &rd->seq, &rd->total) ||
	       length_damaged(rd)) {
		if (rd->seq > after) {
			rd->any = true;
			return;
		}
		rd->at += rd->total;
	}
}

static int replay_record(const struct replay_file *rd, struct kv_map *map)
{
	const uint8_t *buf = rd->buf + rd->at;
	size_t at = KV_JOURNAL_HEAD;
	struct kv_op op;
	int ret;

	while (!(ret = kv_record_next(buf, rd->total, &at, &op))) {
		ret = kv_map_set(map, op.db, op.key, op.key_len, op.put ? op.value : NULL, op.len);
		if (ret)
			return ret;
	}
	return ret == -ENOENT ? 0 : ret;
}

static int replay_all(struct replay_file rd[2], uint64_t *seq, struct kv_map *map)
{
	int i, ret;

	for (;;) {
		for (i = 0; i < 2; i++)
			reader_find(&rd[i], *seq);
		for (i = 0; i < 2; i++)
			if (rd[i].any && rd[i].seq == *seq + 1)
				break;
		if (i == 2)
			return 0;
		ret = replay_record(&rd[i], map);
		if (ret)
			return ret;
		++*seq;
	}
}

/* Could a record behind number @after begin here?  Cheap; its CRC decides. */
static bool plausible(const uint8_t *buf, size_t len, uint64_t after)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);
	uint32_t body = ddio_rd_u32(&r);
	uint64_t seq;

	ddio_rd_u32(&r);
	seq = ddio_rd_u64(&r);
	return !r.err && body <= r.left && seq > after && seq - after <= len;
}

/* A record whose bytes are all there was written whole: it is not the torn end of a file. */
static bool whole_but_wrong(const uint8_t *buf, size_t len)
{
	struct ddio_rd r = ddio_rd_begin(buf, len);

	return ddio_rd_u32(&r) == len - KV_JOURNAL_HEAD;
}

/* Looks at what replaying has left of a file: counts its bytes, and the whole records among them. */
static void count_rest(struct kv_journal *j, const struct replay_file *rd)
{
	size_t at = rd->at, total;
	uint64_t seq;

	j->torn += rd->len - at;
	if (rd->len - at > KV_JOURNAL_HEAD && whole_but_wrong(rd->buf + at, rd->len - at))
		j->beyond++;
	while (rd->len - at >= KV_JOURNAL_HEAD) {
		if (plausible(rd->buf + at, rd->len - at, j->seq) &&
		    !kv_record_head(rd->buf + at, rd->len - at, &seq, &total)) {
			j->beyond++;
			at += total;
		} else {
			at++;
		}
	}
}

int kv_journal_replay(struct kv_journal *j, uint64_t after, struct kv_map *map)
{
	struct replay_file rd[2] = { { .buf = NULL } };
	int i, ret = 0;

	j->seq = after;
	for (i = 0; i < 2 && !ret; i++)
		ret = reader_load(&rd[i], j->fd[i]);
	if (!ret)
		ret = replay_all(rd, &j->seq, map);
	for (i = 0; i < 2 && !ret; i++)
		count_rest(j, &rd[i]);
	for (i = 0; i < 2; i++)
		free(rd[i].buf);
	return ret;
}

static int record_room(struct kv_journal *j, const struct kv_map *map)
{
	/* In memory a change takes at least as much. */
	size_t need = KV_JOURNAL_HEAD + map->bytes;
	uint8_t *buf;

	if (need > KV_JOURNAL_MAX)
		return -E2BIG;
	if (need <= j->cap)
		return 0;
	buf = realloc(j->buf, need + need / 2);
	if (!buf)
		return -ENOMEM;
	j->buf = buf;
	j->cap = need + need / 2;
	return 0;
}

static size_t record_put(struct kv_journal *j, const struct kv_map *map)
{
	struct ddio_wr w = ddio_wr_begin(j->buf, j->cap), head;
	const struct kv_node *node;

	ddio_wr_room(&w, 8);
	ddio_wr_u64(&w, j->seq + 1);
	for (node = map->head[0]; node; node = node->next[0]) {
		const uint8_t op[2] = { node->value != NULL, node->db };

		ddio_wr_bytes(&w, op, sizeof(op));
		ddio_wr_u16(&w, node->key_len);
		ddio_wr_u32(&w, node->len);
		ddio_wr_bytes(&w, kv_node_key(node), node->key_len);
		ddio_wr_bytes(&w, node->value, node->len);
	}
	head = ddio_wr_begin(j->buf, 8);
	ddio_wr_u32(&head, (uint32_t)(w.len - KV_JOURNAL_HEAD));
	ddio_wr_u32(&head, ddio_crc32c(0, j->buf + 8, w.len - 8));
	return w.len;
}

int kv_journal_append(struct kv_journal *j, const struct kv_map *map)
{
	int err = record_room(j, map);
	size_t len;
	ssize_t n;

	_Static_assert(sizeof(struct kv_node) >= OP_HEAD, "a record's size is estimated by it");
	if (err)
		return err;
	if (j->broken[j->at])
		kv_journal_turn(j);
	if (j->broken[j->at])
		return -EIO;
	len = record_put(j, map);
	do {
		n = write(j->fd[j->at], j->buf, len);
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)len) {
		j->size[j->at] += len;
		j->fresh[j->at] = true;
		j->seq++;
		return 0;
	}
	err = n < 0 ? -errno : -ENOSPC;
	if (n > 0 && ftruncate(j->fd[j->at], (off_t)j->size[j->at]))
		j->broken[j->at] = true;
	return err;
}

void kv_journal_turn(struct kv_journal *j)
{
	if (!j->size[!j->at] && !j->broken[!j->at])
		j->at = !j->at;
}

int kv_journal_empty(struct kv_journal *j, int which)
{
	if (ftruncate(j->fd[which], 0))
		return -errno;
	j->size[which] = 0;
	j->broken[which] = false;
	j->fresh[which] = false;
	j->flushing[which] = 0;
	j->flushed[which] = 0;
	atomic_store(&j->unsure[which], false);
	return 0;
}

uint8_t kv_journal_fresh(const struct kv_journal *j)
{
	return (uint8_t)(j->fresh[0] | j->fresh[1] << 1);
}

void kv_journal_flushing(struct kv_journal *j)
{
	int i;

	for (i = 0; i < 2; i++) {
		j->fresh[i] = false;
		j->flushing[i] = j->size[i];
	}
}

void kv_journal_flushed(struct kv_journal *j)
{
	j->flushed[0] = j->flushing[0];
	j->flushed[1] = j->flushing[1];
}

bool kv_journal_unsure(const struct kv_journal *j)
{
	return atomic_load(&j->unsure[0]) || atomic_load(&j->unsure[1]);
}

static int flush_each(struct kv_journal *j, uint8_t which, int (*flush)(int fd))
{
	int i, err = 0;

	for (i = 0; i < 2; i++) {
		if (!(which >> i & 1) || !flush(j->fd[i]))
			continue;
		err = -errno;
		/* The kernel says it only once. */
		atomic_store(&j->unsure[i], true);
	}
	return err;
}

int kv_journal_flush(struct kv_journal *j, uint8_t which)
{
	return flush_each(j, which, fdatasync);
}

int kv_journal_sync(struct kv_journal *j)
{
	return kv_journal_unsure(j) ? -EIO : flush_each(j, 3, fsync);
}
