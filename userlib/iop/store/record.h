/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The records of the object store as bytes.  Keys are big-endian, so that they sort as numbers; values are
 * little-endian, begin with a version and end with a CRC-32C of key and value.  Pure; the readers accept
 * any bytes.
 */
#ifndef DDIO_STORE_RECORD_H
#define DDIO_STORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "iop/life/life.h"
#include "iop/lmdb/key.h"

#define REC_VERSION 1
#define REC_EXTENT_KEY_LEN 16
#define REC_OBJECT_LEN 24
#define REC_EXTENT_LEN 24
#define REC_FREE_LEN 16
#define REC_LIFE_LEN 120
#define REC_SCRUB_LEN 76
#define REC_ENDS_LEN 136
#define REC_PENDING_KEY_LEN 16
#define REC_PENDING_LEN 32
#define REC_SHARED_LEN 24

#define LABEL_SPACE 4096 /* bytes at the beginning of the disk */
#define LABEL_VERSION 3
#define LABEL_LEN 568
#define LABEL_TEXT 256
#define LABEL_FORGETS 0x1u /* the disk loses its data when it is closed */
#define LABEL_NEW 0x2u	   /* in the records only: the disk's label is about to be written */
#define LABEL_SHARED 0x4u  /* in the records only: there are places with more owners than one */
#define LABEL_FLAGS (LABEL_FORGETS | LABEL_NEW | LABEL_SHARED)

/**
 * struct label - the identity of a disk
 * The same label is at the beginning of the disk and in its records.
 */
struct label {
	uint32_t flags;
	uint32_t disk;
	uint64_t size;
	uint8_t uuid[16];
	char cluster[LABEL_TEXT];
	char name[LABEL_TEXT];
	uint64_t life;
};

/**
 * struct rec_life - of which time the records are
 * @names, @change, @lost: see struct ddio_disk_id
 */
struct rec_life {
	struct lives of;
	uint64_t names, change, lost;
};

/**
 * struct rec_scrub - how far the disk has been looked through
 * @flags: REC_SCRUB_*
 * @begun: when the last pass did, nanoseconds since 1970; @ended: when one last came to its end, 0: never
 * @at: the byte of the disk that comes next
 * @until: WRAPS: the pass goes on at the front of the disk, and ends here
 * @done: bytes that it has read; @bad: chunks that differed from their sums; @unread: blocks that could not be read;
 *	@given: chunks that got a sum
 */
struct rec_scrub {
	uint32_t flags;
	uint64_t begun, ended, at, until, done, bad, unread, given;
};
#define REC_SCRUB_RUNS 0x1u  /* a pass is under way */
#define REC_SCRUB_WRAPS 0x2u /* it began in the middle, and has not come to the disk's end */
#define REC_SCRUB_FLAGS (REC_SCRUB_RUNS | REC_SCRUB_WRAPS)

struct rec_object {
	uint64_t id;
	uint64_t seed;
	uint32_t block;
	uint32_t layout;
	bool frozen; /* nothing changes it but its removal */
};

struct rec_extent {
	uint64_t id;
	uint64_t block; /* first, of the object */
	uint64_t start; /* byte on the disk */
	uint64_t count; /* blocks */
	bool unwritten; /* they have a place, but read as zeros */
	bool lost; /* no extent: one of the object, here or further on, was damaged; nothing else counts */
};

struct rec_free {
	uint64_t start, len; /* bytes */
};

/**
 * struct rec_pending - what an epoch has written of a file is pending: neither the file's nor free
 * @epoch, @id: the epoch, and the file
 * @shadow: the object that has the blocks until they become the file's
 * @seed, @block, @layout: of the file
 */
struct rec_pending {
	uint64_t epoch, id, shadow, seed;
	uint32_t block, layout;
};

/**
 * struct rec_shared - extents of several objects, or several of one, have these bytes of the disk
 * @more: owners but one
 */
struct rec_shared {
	uint64_t start, len, more;
};

/* Objects from this number on are no file's: they have blocks that are pending. */
#define REC_SHADOW (UINT64_C(1) << 63)

void rec_extent_key(uint8_t key[REC_EXTENT_KEY_LEN], uint64_t id, uint64_t block);

void rec_label_put(uint8_t buf[LABEL_LEN], const struct label *label);
/* Returns 0, -ENOENT (all zeros), -EMEDIUMTYPE (not a label), -EUCLEAN (damaged) or
 * -EPROTONOSUPPORT (another version). */
int rec_label_get(const void *buf, size_t len, struct label *label);

#define STORE_LIFE_KEY "life"
void rec_life_put(uint8_t value[REC_LIFE_LEN], const struct rec_life *rec);
/* Returns 0 or -EUCLEAN. */
int rec_life_get(const void *value, size_t len, struct rec_life *rec);

#define STORE_SCRUB_KEY "scrub"
void rec_scrub_put(uint8_t value[REC_SCRUB_LEN], const struct rec_scrub *rec);
/* Returns 0 or -EUCLEAN. */
int rec_scrub_get(const void *value, size_t len, struct rec_scrub *rec);

/* Incarnations of the daemon, see struct ddio_ends; @known does not count. */
#define STORE_ENDS_KEY "ends"
struct ddio_ends;
void rec_ends_put(uint8_t value[REC_ENDS_LEN], const struct ddio_ends *rec);
/* Returns 0 or -EUCLEAN. */
int rec_ends_get(const void *value, size_t len, struct ddio_ends *rec);

/* The value goes with the key made of the same struct. */
void rec_object_put(uint8_t value[REC_OBJECT_LEN], const struct rec_object *rec);
void rec_extent_put(uint8_t value[REC_EXTENT_LEN], const struct rec_extent *rec);
void rec_free_put(uint8_t value[REC_FREE_LEN], const struct rec_free *rec);
void rec_pending_key(uint8_t key[REC_PENDING_KEY_LEN], uint64_t epoch, uint64_t id);
void rec_pending_put(uint8_t value[REC_PENDING_LEN], const struct rec_pending *rec);
void rec_shared_put(uint8_t value[REC_SHARED_LEN], const struct rec_shared *rec);

/* Returns 0, or -EUCLEAN for bytes that the functions above cannot have written. */
int rec_object_get(const void *key, size_t key_len, const void *value, size_t len,
		   struct rec_object *rec);
int rec_extent_get(const void *key, size_t key_len, const void *value, size_t len,
		   struct rec_extent *rec);
int rec_free_get(const void *key, size_t key_len, const void *value, size_t len,
		 struct rec_free *rec);
int rec_pending_get(const void *key, size_t key_len, const void *value, size_t len,
		    struct rec_pending *rec);
int rec_shared_get(const void *key, size_t key_len, const void *value, size_t len,
		   struct rec_shared *rec);
/* Returns true if @rec's blocks of @block bytes lie between the label and @size. */
bool rec_extent_within(const struct rec_extent *rec, uint32_t block, uint64_t size);

#endif /* DDIO_STORE_RECORD_H */
