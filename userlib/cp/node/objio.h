/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stream of object requests to all disks of a file, with a window for each
 * disk: the traditional path.  Where the requests come from is its user's.
 */
#ifndef DDIO_CP_OBJIO_H
#define DDIO_CP_OBJIO_H

#include "cp/node/lane.h"

/* Requests outstanding per disk and compute process, as in TOCS 1997. */
#define DDIO_WINDOW 4
#define DDIO_WINDOW_MAX 64u

struct objio;

/**
 * struct objreq - one request: contiguous bytes of one object
 * @i: of the stripe
 * @obj: offset and len are the source's to fill, the rest is filled in
 * @iov, @niov: memory; @iov_one is there for a single one; @iov_alloc, if set, is freed
 * @bounce: if set, memory that is not the user's, freed; what was read is taken out of
 *	it by io->take
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
 * struct objio - the stream
 * @rec: outlives it
 * @window: requests to a disk that wait for an answer at a time; 0: DDIO_WINDOW
 * @next: the next request to disk @i of the stripe: 1 if there is one, 0 if there are no more,
 *	or -errno
 * @take: a request with @bounce was read; may be NULL
 * @done: nothing is under way any more; @error says how it went
 * @disk: outstanding requests of each; ended ones have no more
 * @requests, @disk_reqs, @bytes: what was done
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
	uint32_t most; /* outstanding on one disk, ever */
};

/* Ends, maybe inside, in done(). */
void objio_begin(struct objio *io);
/* Cancels: done() comes when no request refers to memory any more, maybe inside. */
void objio_stop(struct objio *io, const struct error *error);
void objio_free(struct objio *io);

#endif /* DDIO_CP_OBJIO_H */
