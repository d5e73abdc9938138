/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The queue in front of one disk.  The next request is the waiting one whose place comes next in the sweep
 * (CSCAN), or the one that came first; a bounded number are at the disk.  Belongs to one reactor.
 */
#ifndef DDIO_QUEUE_H
#define DDIO_QUEUE_H

#include "env/disk/disk.h"
#include "env/env.h"

/**
 * struct queue_req - one request; the caller owns the memory until @done
 * @op, @offset, @len, @buf, @durable: as in struct ddio_disk_req, of any length
 * @later: wait for the next sweep even if this one has yet to pass: reading ahead must not keep the arm
 *	in one place forever
 * @done: from the loop; 0 or -errno
 * The rest is the queue's.
 */
struct queue_req {
	enum ddio_disk_op op;
	uint64_t offset;
	uint64_t len;
	void *buf;
	bool later, durable;
	void (*done)(struct queue_req *req, int status);
	struct queue *queue;
	uint64_t seq;
	uint64_t moved;
	struct queue_req *child, *sibling;
	struct ddio_disk_req at_disk;
};

/**
 * struct queue - the queue of one disk
 * @depth: most requests at the disk
 * @fcfs: first come, first served
 * @running: requests at the disk
 * @waiting: requests in the heaps
 * @max: most requests queued at once
 * @seq: number of the next request; of two with the same place the earlier one goes first
 * @head: place that the sweep has reached
 * @sweep, @next: heaps of waiting requests, from @head on and before it
 * @submitted: a request has been submitted to the disk since the last queue_commit()
 */
struct queue {
	struct ddio_env *env;
	struct ddio_disk *disk;
	uint32_t depth;
	bool fcfs;
	uint32_t running;
	uint64_t waiting;
	uint64_t max;
	uint64_t seq;
	uint64_t head;
	struct queue_req *sweep, *next;
	bool submitted;
};

void queue_init(struct queue *queue, struct ddio_env *env, struct ddio_disk *disk, uint32_t depth,
		bool fcfs);
void queue_push(struct queue *queue, struct queue_req *req);
/* Starts what has been pushed so far. */
void queue_commit(struct queue *queue);
/* Returns the number of requests, waiting or at the disk. */
uint64_t queue_length(const struct queue *queue);

#endif /* DDIO_QUEUE_H */
