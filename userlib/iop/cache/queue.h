/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The queue in front of one disk: of the requests that wait, the one whose
 * place comes next in the sweep goes first (CSCAN), or the one that came first,
 * and at most so many are at the disk.  Belongs to one reactor.
 */
#ifndef DDIO_QUEUE_H
#define DDIO_QUEUE_H

#include "env/env.h"

/**
 * struct ddio_queue_req - one request; the caller owns the memory until @done
 * @op, @offset, @len, @buf: as in struct ddio_disk_req, of any length
 * @later: in the next sweep, even if this one has yet to come by: so that whoever reads ahead cannot hold
 *	the arm where he is for ever
 * @done: from the loop; 0 or -errno
 * The rest is the queue's.
 */
struct ddio_queue_req {
	enum ddio_disk_op op;
	uint64_t offset;
	uint64_t len;
	void *buf;
	bool later;
	void (*done)(struct ddio_queue_req *req, int status);
	struct ddio_queue *queue;
	uint64_t seq;
	uint64_t moved;
	struct ddio_queue_req *child, *sibling;
	struct ddio_disk_req at_disk;
};

/**
 * struct ddio_queue - the queue of one disk
 * @depth: most requests at the disk
 * @fcfs: first come, first served
 * @running: requests at the disk
 * @waiting: requests in the heaps
 * @max: most that were here at once
 * @seq: number of the next request; among equal places the earlier one goes first
 * @head: where the sweep has come to
 * @sweep, @next: heaps of what waits, from @head on and behind it
 * @submitted: something was given to the disk since the last ddio_queue_commit()
 */
struct ddio_queue {
	struct ddio_env *env;
	struct ddio_disk *disk;
	uint32_t depth;
	bool fcfs;
	uint32_t running;
	uint64_t waiting;
	uint64_t max;
	uint64_t seq;
	uint64_t head;
	struct ddio_queue_req *sweep, *next;
	bool submitted;
};

void ddio_queue_init(struct ddio_queue *queue, struct ddio_env *env, struct ddio_disk *disk,
		     uint32_t depth, bool fcfs);
void ddio_queue_push(struct ddio_queue *queue, struct ddio_queue_req *req);
/* What was pushed so far starts now. */
void ddio_queue_commit(struct ddio_queue *queue);
/* Requests here, waiting or at the disk. */
uint64_t ddio_queue_length(const struct ddio_queue *queue);

#endif /* DDIO_QUEUE_H */
