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
/* What a journal grows by, in advance. */
#define ROOM_STEP (64u << 10)
/* With so many zeros a record may end. */
#define ZEROS_MAX 16

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

static int open_one(const char *dir, const char *name)
{
	char path[4096];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static void durable_read(struct kv_journal *j)
{
	uint8_t buf[KV_DURABLE_LEN];
	struct ddio_rd r = ddio_rd_begin(buf, sizeof(buf));
	uint64_t seq;

	if (pread(j->durable_fd, buf, sizeof(buf), 0) != sizeof(buf))
		return;
	seq = ddio_rd_u64(&r);
	if (ddio_rd_u32(&r) == ddio_crc32c(0, buf, 8))
		j->durable = seq;
}

void kv_journal_durable(struct kv_journal *j, struct ddio_env *env, uint64_t seq)
{
	uint8_t buf[KV_DURABLE_LEN];
	struct ddio_wr w = ddio_wr_begin(buf, sizeof(buf));

	if (seq == j->durable)
		return;
	ddio_wr_u64(&w, seq);
	ddio_wr_u32(&w, ddio_crc32c(0, buf, 8));
	if (pwrite(j->durable_fd, buf, sizeof(buf), 0) != sizeof(buf))
		return;
	/* Somebody has accepted that there is less: a loss of power must not bring back what was said before. */
	if (seq < j->durable)
		ddio_env_flush_file(env, j->durable_fd);
	j->durable = seq;
}

int kv_journal_open(struct kv_journal *j, const char *dir)
{
	static const char *const names[] = { "journal.0", "journal.1", "durable" };
	int i;

	*j = (struct kv_journal){ .fd = { -1, -1 }, .durable_fd = -1 };
	for (i = 0; i < 3; i++) {
		int fd = open_one(dir, names[i]);

		if (fd < 0) {
			kv_journal_close(j);
			return fd;
		}
		*(i < 2 ? &j->fd[i] : &j->durable_fd) = fd;
	}
	durable_read(j);
	return 0;
}

void kv_journal_close(struct kv_journal *j)
{
	int i;

	for (i = 0; i < 2; i++)
		if (j->fd[i] >= 0)
			close(j->fd[i]);
	if (j->durable_fd >= 0)
		close(j->durable_fd);
	free(j->buf);
	*j = (struct kv_journal){ .fd = { -1, -1 }, .durable_fd = -1 };
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
	size_t len, end, at, total; /* behind @end are zeros only */
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
	for (rd->end = rd->len; rd->end && !rd->buf[rd->end - 1]; rd->end--)
		;
	return 0;
}

/* Returns how many bytes there are from @at on, without the zeros that may belong to a record or not. */
static size_t left_at(const struct replay_file *rd, size_t at)
{
	return rd->end > at ? rd->end - at : 0;
}

/* Of a file's last record only the length may be damaged: the CRC then fits all that is left. */
static bool length_damaged(struct replay_file *rd)
{
	size_t left = left_at(rd, rd->at), most = left + ZEROS_MAX;
	struct ddio_rd r = ddio_rd_begin(rd->buf + rd->at, left);
	uint32_t crc, is;

	ddio_rd_u32(&r);
	crc = ddio_rd_u32(&r);
	rd->seq = ddio_rd_u64(&r);
	if (r.err || !r.left || r.left > KV_JOURNAL_MAX - ZEROS_MAX)
		return false;
	if (most > rd->len - rd->at)
		most = rd->len - rd->at;
	is = ddio_crc32c(0, rd->buf + rd->at + 8, left - 8);
	for (rd->total = left; is != crc && rd->total < most; rd->total++)
		is = ddio_crc32c(is, rd->buf + rd->at + rd->total, 1);
	return is == crc;
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
static bool whole_but_wrong(const struct replay_file *rd, size_t left)
{
	struct ddio_rd r = ddio_rd_begin(rd->buf + rd->at, left);
	uint64_t total = (uint64_t)ddio_rd_u32(&r) + KV_JOURNAL_HEAD;

	return left > KV_JOURNAL_HEAD && total >= left && total <= left + ZEROS_MAX &&
	       total <= rd->len - rd->at;
}

/* Looks at what replaying has left of a file: counts its bytes, and the whole records among them. */
static void count_rest(struct kv_journal *j, const struct replay_file *rd)
{
	size_t at = rd->at, left = left_at(rd, at), total;
	uint64_t seq;

	j->torn += left;
	if (whole_but_wrong(rd, left))
		j->beyond++;
	while (left_at(rd, at) >= KV_JOURNAL_HEAD) {
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

static int put_zeros(int fd, uint64_t at, uint64_t end)
{
	static const uint8_t zeros[ROOM_STEP];
	ssize_t n;

	while (at < end) {
		n = pwrite(fd, zeros, end - at < ROOM_STEP ? end - at : ROOM_STEP, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += (uint64_t)n;
	}
	return 0;
}

/* Has a record of @len bytes find room in front of the file's end.  It need not: the file then grows with it. */
static void record_ahead(struct kv_journal *j, size_t len)
{
	uint64_t want = j->size[j->at] + len, room = j->room[j->at];

	if (want <= room || want > KV_JOURNAL_KEEP || j->size[j->at] > room)
		return;
	want = (want + ROOM_STEP - 1) / ROOM_STEP * ROOM_STEP;
	if (!put_zeros(j->fd[j->at], room, want))
		j->room[j->at] = want;
}

/* What is there of a record that could not be written is cut off. */
static void record_undo(struct kv_journal *j)
{
	uint64_t size = j->size[j->at];

	if (ftruncate(j->fd[j->at], (off_t)size))
		j->broken[j->at] = true;
	else if (j->room[j->at] > size)
		j->room[j->at] = size;
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
	record_ahead(j, len);
	do {
		n = pwrite(j->fd[j->at], j->buf, len, (off_t)j->size[j->at]);
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)len) {
		j->size[j->at] += len;
		j->fresh[j->at] = true;
		j->seq++;
		return 0;
	}
	err = n < 0 ? -errno : -ENOSPC;
	if (n > 0)
		record_undo(j);
	return err;
}

void kv_journal_turn(struct kv_journal *j)
{
	if (!j->size[!j->at] && !j->broken[!j->at])
		j->at = !j->at;
}

/* Makes zeros of the records, or, if there is more than that in the file, cuts it. */
static int clear(struct kv_journal *j, int which)
{
	uint64_t size = j->size[which];

	if (j->room[which] && size <= j->room[which] && !j->broken[which] &&
	    !put_zeros(j->fd[which], 0, size))
		return 0;
	j->room[which] = 0;
	return ftruncate(j->fd[which], 0) ? -errno : 0;
}

int kv_journal_empty(struct kv_journal *j, int which)
{
	int err = clear(j, which);

	if (err)
		return err;
	j->size[which] = 0;
	j->broken[which] = false;
	j->fresh[which] = false;
	atomic_store(&j->unsure[which], false);
	return 0;
}

uint8_t kv_journal_fresh(const struct kv_journal *j)
{
	return (uint8_t)(j->fresh[0] | j->fresh[1] << 1);
}

void kv_journal_flushing(struct kv_journal *j)
{
	j->fresh[0] = false;
	j->fresh[1] = false;
}

bool kv_journal_unsure(const struct kv_journal *j)
{
	return atomic_load(&j->unsure[0]) || atomic_load(&j->unsure[1]);
}

int kv_journal_flush(struct kv_journal *j, struct ddio_env *env, uint8_t which)
{
	int i, ret, err = 0;

	for (i = 0; i < 2; i++) {
		ret = which >> i & 1 ? ddio_env_flush_file(env, j->fd[i]) : 0;
		if (!ret)
			continue;
		err = ret;
		/* The kernel says it only once. */
		atomic_store(&j->unsure[i], true);
	}
	return err;
}

int kv_journal_sync(struct kv_journal *j, struct ddio_env *env)
{
	return kv_journal_unsure(j) ? -EIO : kv_journal_flush(j, env, 3);
}
