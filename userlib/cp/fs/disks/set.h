/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Request sets: requests to several disks of a file at once, each made again until it is answered. */
#ifndef DDIO_CP_FS_SET_H
#define DDIO_CP_FS_SET_H

#include "cp/fs/core/error.h"
#include "cp/fs/core/retry.h"

struct fsc_set;

/**
 * struct fsc_set_req - one request to one disk
 * @i: which disk of the file
 * @obj: offset, len and flags are the caller's to fill in, the rest is filled in when it is sent
 * @to, @to_i, @to_offset: OBJ_COPY: the other file, which of its disks, and where in that object
 * @iov, @niov: bytes to be written, or where those that are read go; @one serves where one is enough
 */
struct fsc_set_req {
	struct node_request request;
	struct fsc_retry retry;
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
 * struct fsc_set - a request set; the caller's memory until @done
 * @rec: the file
 * @req, @n: requests of a set that was made by fsc_set_alloc()
 * @missing_ok: an object that does not exist counts as done
 * @once: nothing is made again
 * @holder: for each disk of the file that changes, gets the incarnation of the disk's node that took the
 *	change, unless an earlier one is still due; NULL: nothing changes
 * @reply: called with each success; may be NULL
 * @done: everything is answered, and nothing refers to the caller's bytes any more; perhaps inside
 */
struct fsc_set {
	struct fsc_reactor *r;
	const struct ddio_file_record *rec;
	struct fsc_set_req *req;
	uint32_t n;
	uint32_t left;
	bool missing_ok, once;
	uint64_t *holder;
	struct fsc_error error;
	void (*reply)(struct fsc_set *set, struct fsc_set_req *req, const struct reply *reply);
	void (*done)(struct fsc_set *set);
};

/* Returns how many bytes of disk @i's object hold the file's bytes [0, end). */
uint64_t fsc_share(const struct ddio_file_record *rec, uint32_t i, uint64_t end);

/* Sets everything but @reply, @missing_ok, @once and @holder. */
void fsc_set_init(struct fsc_set *set, struct fsc_reactor *r, const struct ddio_file_record *rec,
		  void (*done)(struct fsc_set *set));
/* Allocates @n zeroed requests: 0 or -ENOMEM. */
int fsc_set_alloc(struct fsc_set *set, uint32_t n);
void fsc_set_free(struct fsc_set *set);
/* Requests are sent between begin and end; done() is called in end or later. */
void fsc_set_begin(struct fsc_set *set);
void fsc_set_send(struct fsc_set *set, struct fsc_set_req *req);
void fsc_set_end(struct fsc_set *set);
/*
 * Sends one request to each disk that has a part of the file's bytes [@from, @to), with that part;
 * @all: also to the other disks.  For OBJ_TRUNCATE the length is where the object will end.
 */
void fsc_set_range(struct fsc_set *set, uint16_t opcode, uint32_t flags, uint64_t from, uint64_t to,
		   bool all);

#endif /* DDIO_CP_FS_SET_H */
