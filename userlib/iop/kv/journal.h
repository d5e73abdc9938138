/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two journals of changes, so that one can be emptied when what it tells has been committed while
 * the other one grows.  A record is one request's changes, written by one write(2).
 *
 * Record: length of what follows the head u32, CRC-32C of number and that u32, number u64; then for each
 * change: 1 put or 0 delete u8, database u8, length of the key u16, of the value u32, key, value.
 * Little-endian.  Numbers count without a gap over both journals.
 */
#ifndef DDIO_KV_JOURNAL_H
#define DDIO_KV_JOURNAL_H

#include "iop/kv/map.h"

#define KV_JOURNAL_HEAD 16
#define KV_JOURNAL_MAX (64u << 20) /* bytes of a record */
#define KV_KEY_MAX 500

/**
 * struct kv_journal - both of them
 * @at: the one that is written to
 * @size: bytes of whole records
 * @seq: number of the last record
 * @buf: the last record, kept for its room
 * @broken: its end could not be cut off after a failure: nothing may follow there
 */
struct kv_journal {
	int fd[2];
	int at;
	uint64_t size[2];
	uint64_t seq;
	uint8_t *buf;
	size_t cap;
	bool broken[2];
};

/* In a directory that is there.  Return: 0 or -errno. */
int kv_journal_open(struct kv_journal *j, const char *dir);
void kv_journal_close(struct kv_journal *j);
/**
 * kv_journal_replay - what happened behind a record
 * @after: number of the last one that is known; those behind it come in order, up to the first
 *	that is not whole or missing
 * @map: takes their changes
 * Return: 0 or -errno; @j->seq is the last one.
 */
int kv_journal_replay(struct kv_journal *j, uint64_t after, struct kv_map *map);
/* All changes of @map as one record.  Return: 0 or -errno, with nothing written. */
int kv_journal_append(struct kv_journal *j, const struct kv_map *map);
/* Turns to the other one if that is empty.  A broken one is turned away from by itself. */
void kv_journal_turn(struct kv_journal *j);
/* What the other one tells is committed. */
int kv_journal_empty(struct kv_journal *j, int which);
/* Blocking: the files are on stable storage as they are. */
int kv_journal_sync(struct kv_journal *j);

/*
 * The bytes of a record; pure.
 */
struct kv_op {
	uint8_t db;
	bool put;
	uint16_t key_len;
	uint32_t len;
	const uint8_t *key, *value;
};
/* The number and length of the record at @buf: 0, or -EUCLEAN if it is not whole. */
int kv_record_head(const uint8_t *buf, size_t len, uint64_t *seq, size_t *total);
/* The next change at *@at behind the head: 0, -ENOENT at the end, -EUCLEAN. */
int kv_record_next(const uint8_t *buf, size_t total, size_t *at, struct kv_op *op);

#endif /* DDIO_KV_JOURNAL_H */
