/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests to several disks of an inode at once, each made until it is answered. */
#ifndef DDIO_CP_FS_DATA_H
#define DDIO_CP_FS_DATA_H

#include "cp/fs/inode/inode.h"

struct fsc_set;

/**
 * struct fsc_piece - one request to one disk
 * @i: of the stripe
 * @obj: offset and len are the user's to fill, the rest is filled in
 * @to, @to_i, @to_offset: OBJ_COPY: the other object, and of which disk of its stripe
 * @iov, @niov: data to be written, or the place for those that are read; @one for a single one
 */
struct fsc_piece {
	struct node_request request;
	struct fsc_wait wait;
	struct fsc_set *set;
	uint32_t i;
	uint16_t opcode;
	struct ddio_msg_obj obj;
	const struct ddio_file_ref *to;
	uint32_t to_i;
	uint64_t to_offset;
	struct iovec *iov;
	int niov;
	struct iovec one;
};

/**
 * struct fsc_set - the caller owns the memory until @done
 * @piece, @n: those of a set that was made by fsc_set_alloc()
 * @missing_ok: an object that is not there is as good as done
 * @once: nothing is made again
 * @pins: whose data are changed: it is noted which life of each node has taken them
 * @reply: of each success; may be NULL
 * @done: everything is answered, and nothing refers to the data any more; maybe inside
 */
struct fsc_set {
	struct fsc_reactor *r;
	const struct ddio_file_record *rec;
	struct fsc_piece *piece;
	uint32_t n;
	uint32_t left;
	bool missing_ok, once;
	struct fsc_inode *pins;
	struct fsc_error error;
	void (*reply)(struct fsc_set *set, struct fsc_piece *piece, const struct reply *reply);
	void (*done)(struct fsc_set *set);
};

/* Bytes of disk @i's object that hold the file's bytes [0, end). */
uint64_t fsc_share(const struct ddio_file_record *rec, uint32_t i, uint64_t end);

/* Everything but @reply, @missing_ok and @pins. */
void fsc_set_init(struct fsc_set *set, struct fsc_reactor *r, const struct ddio_file_record *rec,
		  void (*done)(struct fsc_set *set));
/* Zeroed pieces: 0 or -ENOMEM. */
int fsc_set_alloc(struct fsc_set *set, uint32_t n);
void fsc_set_free(struct fsc_set *set);
/* Between these two pieces are sent; done() comes in the second one or later. */
void fsc_set_begin(struct fsc_set *set);
void fsc_piece_send(struct fsc_set *set, struct fsc_piece *piece);
void fsc_set_end(struct fsc_set *set);
/*
 * One request to each disk that has a part of the file's bytes [@from, @to), with that part;
 * @all: to every disk, even so.  For OBJ_TRUNCATE the length is where the object ends.
 */
void fsc_set_range(struct fsc_set *set, uint16_t opcode, uint32_t flags, uint64_t from, uint64_t to,
		   bool all);

/*
 * Data of a file.
 */

/**
 * struct fsc_io - reading or writing contiguous bytes
 * @single: the piece where one is enough
 */
struct fsc_io {
	struct fsc_set set;
	struct fsc_inode *inode;
	bool writing;
	uint64_t stream;
	uint8_t *buf;
	uint64_t at, end;
	uint64_t from, upto; /* the part that is under way */
	struct fsc_piece single;
	void (*done)(struct fsc_io *io);
};

/* @io: inode, writing, stream, buf, at, end and done are filled in.  The result is in set.error. */
void fsc_io_begin(struct fsc_io *io);

#endif /* DDIO_CP_FS_DATA_H */
