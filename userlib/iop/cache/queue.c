// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CSCAN over two pairing heaps: one of the requests ahead of the sweep, one of those that it has passed;
 * when the first is empty they are swapped.  The requests are linked into the heaps themselves (base/heap
 * would need an array), so that nothing here can run out of memory.
 */
#include "iop/cache/queue.h"

static bool queue_before(const struct queue_req *a, const struct queue_req *b)
{
	if (a->queue->fcfs || a->offset == b->offset)
		return a->seq < b->seq;
	return a->offset < b->offset;
}

static struct queue_req *heap_meld(struct queue_req *a, struct queue_req *b)
{
	if (!a)
		return b;
	if (!b)
		return a;
	if (queue_before(b, a)) {
		struct queue_req *t = a;

		a = b;
		b = t;
	}
	b->sibling = a->child;
	a->child = b;
	return a;
}

/* Melds the pairs, last one first: the second pass of removing from a pairing heap. */
static struct queue_req *heap_meld_pairs(struct queue_req *pairs)
{
	struct queue_req *root = NULL, *rest;

	for (; pairs; pairs = rest) {
		rest = pairs->sibling;
		pairs->sibling = NULL;
		root = heap_meld(root, pairs);
	}
	return root;
}

/* Removes the root; @heap is not empty. */
static struct queue_req *heap_pop(struct queue_req **heap)
{
	struct queue_req *root = *heap, *a, *b, *rest, *pairs = NULL;

	for (a = root->child; a; a = rest) {
		b = a->sibling;
		rest = b ? b->sibling : NULL;
		a->sibling = NULL;
		if (b)
			b->sibling = NULL;
		a = heap_meld(a, b);
		a->sibling = pairs;
		pairs = a;
	}
	*heap = heap_meld_pairs(pairs);
	root->child = NULL;
	return root;
}

static void queue_done(struct ddio_disk_req *disk_req);

/* Submits the next part of a request: all of it, unless the disk takes only shorter ones. */
static void queue_submit(struct queue_req *req)
{
	struct queue *queue = req->queue;
	uint64_t most = ddio_disk_info(queue->disk)->max_len;
	uint64_t len = req->len - req->moved;

	if (most && len > most)
		len = most;
	req->at_disk = (struct ddio_disk_req){
		.op = req->op,
		.offset = req->offset + req->moved,
		.len = len,
		.buf = req->op == DDIO_DISK_FLUSH ? NULL : (uint8_t *)req->buf + req->moved,
		.durable = req->durable,
		.done = queue_done,
		.arg = req,
	};
	req->moved += len;
	queue->submitted = true;
	ddio_env_charge(queue->env, DDIO_WORK_DISK, 1);
	ddio_disk_submit(queue->disk, &req->at_disk);
}

static void queue_fill(struct queue *queue)
{
	while (queue->waiting && queue->running < queue->depth) {
		struct queue_req *req;

		if (!queue->sweep) {
			queue->sweep = queue->next;
			queue->next = NULL;
		}
		req = heap_pop(&queue->sweep);
		queue->waiting--;
		queue->running++;
		queue->head = req->offset;
		queue_submit(req);
	}
}

static void queue_done(struct ddio_disk_req *disk_req)
{
	struct queue_req *req = disk_req->arg;
	struct queue *queue = req->queue;

	if (!disk_req->status && req->moved < req->len) {
		queue_submit(req);
		queue_commit(queue);
		return;
	}
	queue->running--;
	queue_fill(queue);
	req->done(req, disk_req->status);
}

/**
 * queue_init - make an empty queue
 * @queue: to be initialised
 * @env: the reactor
 * @disk: gets the requests
 * @depth: most requests at the disk at once; 0 counts as 1
 * @fcfs: first come, first served, as in TR94-226
 */
void queue_init(struct queue *queue, struct ddio_env *env, struct ddio_disk *disk, uint32_t depth,
		bool fcfs)
{
	*queue = (struct queue){
		.env = env, .disk = disk, .depth = depth ? depth : 1, .fcfs = fcfs
	};
}

/**
 * queue_push - queue a request
 * @queue: where
 * @req: what; the caller's until its done()
 */
void queue_push(struct queue *queue, struct queue_req *req)
{
	bool ahead = queue->fcfs || (req->offset >= queue->head && !req->later);
	struct queue_req **heap = ahead ? &queue->sweep : &queue->next;

	req->queue = queue;
	req->seq = queue->seq++;
	req->moved = 0;
	req->child = NULL;
	req->sibling = NULL;
	*heap = heap_meld(*heap, req);
	queue->waiting++;
	if (queue_length(queue) > queue->max)
		queue->max = queue_length(queue);
	queue_fill(queue);
}

void queue_commit(struct queue *queue)
{
	if (!queue->submitted)
		return;
	queue->submitted = false;
	ddio_disk_commit(queue->disk);
}

uint64_t queue_length(const struct queue *queue)
{
	return queue->waiting + queue->running;
}
