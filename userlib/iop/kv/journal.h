/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two journals of changes: one can be emptied when its contents have been committed, while the other one
 * grows.  A record holds one request's changes and is written by one write(2).
 *
 * Behind the records are zeros, or the end of the file.  A journal keeps its length when it is emptied, and what it held
 * becomes zeros: to flush a file that has grown, most file systems write their own journal, too.
 *
 * A record: length of the body u32, CRC-32C of number and body u32, number u64; then the body, for each
 * change: 1 put or 0 delete u8, database u8, length of the key u16 and of the value u32, key, value.
 * Little-endian.  Record numbers run without gaps over both journals.
 *
 * A third file, "durable", says which change was the last one that was durable: number u64, its CRC-32C u32.  It is written
 * behind each flush, and not flushed itself: so what was flushed and is damaged later, or cut off, is not taken for what a loss
 * of power has kept from the disk.
 */
#ifndef DDIO_KV_JOURNAL_H
#define DDIO_KV_JOURNAL_H

#include <stdatomic.h>
#include "env/env.h"
#include "iop/kv/map.h"

#define KV_JOURNAL_HEAD 16
#define KV_JOURNAL_MAX (64u << 20) /* bytes of a record */
#define KV_DURABLE_LEN 12
#define KV_JOURNAL_KEEP (256u << 10) /* one that is longer is cut when it is emptied */
#define KV_KEY_MAX 500

/**
 * struct kv_journal - both journals
 * @durable_fd: of the third file; @durable: what it says, 0: nothing, or it is damaged
 * @at: the one being written
 * @size: bytes of whole records
 * @room: what is known to be zeros reaches from @size to here; 0: nothing is known
 * @seq: number of the last record
 * @buf: the last record, kept for its memory
 * @torn: bytes after the last record that was replayed; @beyond: whole records among them
 * @broken: a partial record at its end could not be cut off: nothing may be appended
 * @fresh: it has records that no flush was begun for
 * @unsure: a flush has failed: what it holds may be lost, whatever a later flush says, until it is emptied
 */
struct kv_journal {
	int fd[2], durable_fd;
	uint64_t durable;
	int at;
	uint64_t size[2], room[2];
	uint64_t torn, beyond;
	uint64_t seq;
	uint8_t *buf;
	size_t cap;
	bool broken[2], fresh[2];
	atomic_bool unsure[2];
};

/* The directory must exist.  Returns 0 or -errno. */
int kv_journal_open(struct kv_journal *j, const char *dir);
void kv_journal_close(struct kv_journal *j);
/**
 * kv_journal_replay - read the records after a given one
 * @after: number of the last record already known; those after it are replayed in order, up to the
 *	first that is missing or incomplete
 * @map: gets their changes
 * Return: 0 or -errno; @j->seq is the number of the last one.  What is cut off at the end was never answered:
 * @j->torn.  If there are whole records behind the break, something in the middle is damaged, or a loss of power has kept
 * it from the disk: @j->beyond.  It is damaged, or cut off, if more was durable: @j->durable.
 */
int kv_journal_replay(struct kv_journal *j, uint64_t after, struct kv_map *map);
/* Keeps what both journals hold under another name, "journal.N.damaged", and begins empty ones.  0 or -errno. */
int kv_journal_set_aside(struct kv_journal *j, const char *dir);
/* Appends all changes of @map as one record.  Returns 0, or -errno with nothing written. */
int kv_journal_append(struct kv_journal *j, const struct kv_map *map);
/* All up to change @seq is on stable storage: says so in the third file.  It need not succeed. */
void kv_journal_durable(struct kv_journal *j, struct ddio_env *env, uint64_t seq);
/* Switches to the other journal if that is empty.  Appending leaves a broken one by itself. */
void kv_journal_turn(struct kv_journal *j);
/* The contents of journal @which have been committed. */
int kv_journal_empty(struct kv_journal *j, int which);
/* Blocks until both files are on stable storage; fails if a flush has failed before. */
int kv_journal_sync(struct kv_journal *j, struct ddio_env *env);
/* Returns bits: the journals that have records for which no flush was begun. */
uint8_t kv_journal_fresh(const struct kv_journal *j);
/* A flush of all fresh ones begins. */
void kv_journal_flushing(struct kv_journal *j);
/* Blocks until the records of the journals @which are on stable storage.  Any thread. */
int kv_journal_flush(struct kv_journal *j, struct ddio_env *env, uint8_t which);
/* Returns true if records may be lost, since a flush has failed. */
bool kv_journal_unsure(const struct kv_journal *j);

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
/* Reads number and length of the record at @buf.  Returns 0, or -EUCLEAN if it is incomplete. */
int kv_record_head(const uint8_t *buf, size_t len, uint64_t *seq, size_t *total);
/* Reads the change at *@at and moves on.  Returns 0, -ENOENT at the end, or -EUCLEAN. */
int kv_record_next(const uint8_t *buf, size_t total, size_t *at, struct kv_op *op);

#endif /* DDIO_KV_JOURNAL_H */
