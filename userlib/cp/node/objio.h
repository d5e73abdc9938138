/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Object requests to all disks of a file, with a window for each disk: the
 * traditional path.  A source, the user's, says what the next request is.
 */
#ifndef DDIO_CP_OBJIO_H
#define DDIO_CP_OBJIO_H

#include "cp/node/lane.h"

/* Requests outstanding per disk and compute process, as in TOCS 1997. */
#define OBJIO_WINDOW 4
#define OBJIO_WINDOW_MAX 64u

struct objio;

/**
 * struct objreq - one request: contiguous bytes of one object
 * @i: of the stripe
 * @obj: the source fills in offset and len
 * @iov, @niov: memory; @iov_one is room for a single piece; @iov_alloc, if set, is freed
 * @bounce: if set, memory that is not the user's, freed; io->take() copies out of it what was read
 * @key: the source's
 */
struct objreq {
	struct node_request request;
	struct ddio_list link;
	struct objio *io;
	uint32_t i;
	struct ddio_msg_obj obj;
	struct iovec *iov, *iov_alloc;
	int niov;
	struct iovec iov_one;
	void *bounce;
	uint64_t key;
};

/**
 * struct objio - the requests of one transfer
 * @rec: outlives the transfer
 * @window: outstanding requests of each disk at most; 0: OBJIO_WINDOW
 * @next: fills in the next request to disk req->i of the stripe: 1, or 0 if there are no more,
 *	or -errno
 * @take: called for a request with @bounce that was read; may be NULL
 * @done: called when nothing is outstanding; @error is the result
 * @disk: of each disk: its outstanding requests, and whether there are no more to come
 * @requests, @disk_reqs, @bytes: of requests that succeeded
 * @most: outstanding on one disk, ever
 */
struct objio {
	struct ddio_session *session;
	const struct ddio_file_record *rec;
	bool writing;
	uint32_t window;
	int (*next)(struct objio *io, struct objreq *req);
	void (*take)(struct objio *io, struct objreq *req);
	void (*done)(struct objio *io);
	void *arg;
	struct error error;
	struct objio_disk {
		uint32_t outstanding;
		bool ended;
	} * disk;
	uint32_t open, outstanding, busy;
	bool over, stopping;
	struct ddio_list active, idle;
	uint64_t requests, disk_reqs, bytes;
	uint32_t most;
};

/* Ends in done(), maybe before it returns. */
void objio_begin(struct objio *io);
/* From done(): begins once more, from where next() is now; counts go on. */
void objio_again(struct objio *io);
/* Cancels; ends in done() when no request refers to memory any more, maybe before it returns. */
void objio_stop(struct objio *io, const struct error *error);
void objio_free(struct objio *io);

#endif /* DDIO_CP_OBJIO_H */
