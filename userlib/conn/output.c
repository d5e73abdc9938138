// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The output queue.  Headers and fixed records are copied one after another into chunks, so that many
 * small messages are contiguous in one write; bulk is only referred to.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/crc32c.h"
#include "conn/conn_priv.h"

static struct conn_seg *seg_at(const struct conn_out *o, uint32_t i)
{
	return &o->ring[i & (o->cap - 1)];
}

/* Allocates at least *@n segments and sets *@n to how many, a power of two. */
static struct conn_seg *ring_new(struct ddio_env *env, uint32_t *n)
{
	struct conn_seg *ring = NULL;
	size_t len;

	if (*n > CONN_TX_RING)
		ring = ddio_env_spare_get(env, DDIO_ENV_SPARE_RING, *n * sizeof(*ring), &len);
	if (ring)
		*n = (uint32_t)(len / sizeof(*ring));
	else
		ring = malloc(*n * sizeof(*ring));
	return ring;
}

static int ring_reserve(struct ddio_conn *c, uint32_t n)
{
	struct conn_out *o = &c->out;
	uint32_t used = o->tail - o->head, cap = o->cap ? o->cap : CONN_TX_RING, i;
	struct conn_seg *ring;

	if (n <= o->cap - used)
		return 0;
	if (n > (UINT32_MAX >> 2) - used)
		return -ENOMEM;
	while (cap < used + n)
		cap *= 2;
	ring = ring_new(c->env, &cap);
	if (!ring)
		return -ENOMEM;
	for (i = o->head; i != o->tail; i++)
		ring[i & (cap - 1)] = *seg_at(o, i);
	free(o->ring);
	o->ring = ring;
	o->cap = cap;
	return 0;
}

static void chunk_recycle(struct conn_out *o, struct conn_chunk *chunk)
{
	if (chunk->cap == CONN_TX_CHUNK && !o->spare) {
		chunk->used = 0;
		o->spare = chunk;
	} else {
		free(chunk);
	}
}

static struct conn_chunk *chunk_new(size_t cap)
{
	struct conn_chunk *chunk = malloc(sizeof(*chunk) + cap);

	if (chunk) {
		chunk->cap = cap;
		chunk->used = 0;
		chunk->refs = 0;
	}
	return chunk;
}

/* Returns the size of the next current chunk. */
static size_t chunk_size(const struct conn_out *o, size_t len)
{
	size_t last = o->cur ? o->cur->cap : 0;

	if (len <= CONN_TX_FIRST && !last)
		return CONN_TX_FIRST;
	return len <= CONN_TX_SECOND && last <= CONN_TX_FIRST ? CONN_TX_SECOND : CONN_TX_CHUNK;
}

/* Returns a chunk with room for @len bytes: the current one, a new current one, or a separate one. */
static struct conn_chunk *chunk_for(struct ddio_conn *c, size_t len)
{
	struct conn_out *o = &c->out;
	struct conn_chunk *chunk = o->cur;
	size_t size;

	if (len > CONN_TX_CHUNK)
		return chunk_new(len);
	if (chunk && chunk->cap - chunk->used >= len)
		return chunk;
	chunk = o->spare;
	size = chunk_size(o, len);
	if (!chunk && size == CONN_TX_CHUNK)
		chunk = ddio_env_spare_get(c->env, DDIO_ENV_SPARE_CHUNK, size, &size);
	if (!chunk)
		chunk = chunk_new(size);
	if (!chunk)
		return NULL;
	o->spare = NULL;
	if (o->cur && !o->cur->refs)
		chunk_recycle(o, o->cur);
	o->cur = chunk;
	return chunk;
}

static void chunk_put(struct conn_out *o, struct conn_chunk *chunk)
{
	if (--chunk->refs)
		return;
	if (chunk == o->cur)
		chunk->used = 0;
	else
		chunk_recycle(o, chunk);
}

static void seg_push(struct conn_out *o, void *base, size_t len, struct conn_chunk *chunk)
{
	struct conn_seg *seg = seg_at(o, o->tail++);

	seg->base = base;
	seg->len = len;
	seg->chunk = chunk;
	seg->send = NULL;
	if (chunk) {
		chunk->refs++;
		o->copied += len;
	}
	o->queued += len;
}

/*
 * Appends copied bytes.  They only lengthen the last segment if that lies in the same chunk, since a
 * chunk is filled from front to back while anything lies in it.
 */
static void seg_push_copied(struct conn_out *o, struct conn_chunk *chunk, size_t len)
{
	uint8_t *at = chunk->data + chunk->used;
	struct conn_seg *last = o->tail == o->sent ? NULL : seg_at(o, o->tail - 1);

	chunk->used += len;
	if (last && last->chunk == chunk && !last->send) {
		last->len += len;
		o->queued += len;
		o->copied += len;
	} else {
		seg_push(o, at, len, chunk);
	}
}

static void put_sum(uint8_t *at, uint32_t sum)
{
	int i;

	for (i = 0; i < (int)CONN_SUM_LEN; i++)
		at[i] = (uint8_t)(sum >> 8 * i);
}

/* Adds a part of the bulk to the sum of what stands before it: its length only, if the sum of the bulk is known. */
static uint32_t sum_bulk(uint32_t sum, const struct iovec *part, const uint32_t *bulk)
{
	if (bulk)
		return ddio_crc32c_join(sum, 0, part->iov_len);
	return ddio_crc32c(sum, part->iov_base, part->iov_len);
}

bool ddio_conn_sums(const struct ddio_conn *c)
{
	return conn_sum_len(c, DDIO_OP_COLL_DATA, c->out.moved);
}

int conn_out_push(struct ddio_conn *c, const struct ddio_msg *msg, const void *fixed,
		  size_t fixed_len, const struct iovec *iov, int n, struct ddio_send *send,
		  const uint32_t *bulk)
{
	struct conn_out *o = &c->out;
	size_t sum_len = conn_sum_len(c, msg->opcode, o->moved);
	struct conn_chunk *chunk;
	uint32_t sum = 0;
	uint8_t *at;
	int i;

	if (ring_reserve(c, (uint32_t)n + 3))
		return -ENOMEM;
	chunk = chunk_for(c, DDIO_WIRE_HEADER_LEN + fixed_len + sum_len);
	if (!chunk)
		return -ENOMEM;
	at = chunk->data + chunk->used;
	ddio_put_header(at, msg);
	if (fixed_len)
		memcpy(at + DDIO_WIRE_HEADER_LEN, fixed, fixed_len);
	if (sum_len)
		sum = ddio_crc32c(0, at, DDIO_WIRE_HEADER_LEN + fixed_len);
	seg_push_copied(o, chunk, DDIO_WIRE_HEADER_LEN + fixed_len);
	for (i = 0; i < n; i++) {
		if (!iov[i].iov_len)
			continue;
		if (sum_len)
			sum = sum_bulk(sum, &iov[i], bulk);
		seg_push(o, iov[i].iov_base, iov[i].iov_len, NULL);
	}
	if (sum_len) {
		if (bulk)
			sum ^= *bulk;
		put_sum(chunk->data + chunk->used, sum);
		seg_push_copied(o, chunk, sum_len);
	}
	/* Without bulk, the copied bytes are the message's last. */
	if (send)
		seg_at(o, o->tail - 1)->send = send;
	if (o->queued > DDIO_CONN_HIGH)
		o->high = true;
	return 0;
}

static int gather(const struct conn_out *o, struct iovec *iov, size_t *total)
{
	uint32_t i;
	int n = 0;

	*total = 0;
	for (i = o->sent; i != o->tail && n < CONN_TX_IOV && *total < CONN_TX_BYTES; i++) {
		iov[n].iov_base = seg_at(o, i)->base;
		iov[n].iov_len = seg_at(o, i)->len;
		*total += iov[n++].iov_len;
	}
	return n;
}

static void advance(struct conn_out *o, size_t n)
{
	struct conn_seg *seg;

	o->queued -= n;
	while (n) {
		seg = seg_at(o, o->sent);
		if (seg->chunk)
			o->copied -= n < seg->len ? n : seg->len;
		if (n < seg->len) {
			seg->base += n;
			seg->len -= n;
			return;
		}
		n -= seg->len;
		if (seg->chunk)
			chunk_put(o, seg->chunk);
		seg->chunk = NULL;
		o->sent++;
	}
}

static void set_blocked(struct ddio_conn *c, bool blocked)
{
	if (c->out.blocked == blocked)
		return;
	c->out.blocked = blocked;
	ddio_stream_want_write(c->stream, blocked);
}

void conn_out_flush(struct ddio_conn *c)
{
	struct conn_out *o = &c->out;
	struct iovec iov[CONN_TX_IOV];
	size_t total;
	ssize_t n;

	while (o->sent != o->tail && !o->err) {
		n = gather(o, iov, &total);
		n = ddio_stream_writev(c->stream, iov, (int)n);
		if (n < 0 && n != -EAGAIN) {
			o->err = (int)n;
			break;
		}
		if (n > 0) {
			c->last_tx = ddio_env_now(c->env);
			advance(o, n);
		}
		if (n < 0 || (size_t)n < total) {
			set_blocked(c, true);
			return;
		}
	}
	set_blocked(c, false);
}

static void chunk_drop(struct ddio_env *env, struct conn_chunk *chunk)
{
	if (!chunk || chunk->cap != CONN_TX_CHUNK) {
		free(chunk);
		return;
	}
	chunk->used = 0;
	ddio_env_spare_put(env, DDIO_ENV_SPARE_CHUNK, chunk, CONN_TX_CHUNK);
}

/* Once all has left: gives small memory back to malloc(), large memory to the reactor for the next connection. */
static void out_idle(struct ddio_conn *c)
{
	struct conn_out *o = &c->out;

	if (o->head != o->tail || !o->ring)
		return;
	chunk_drop(c->env, o->cur);
	chunk_drop(c->env, o->spare);
	if (o->cap > CONN_TX_RING)
		ddio_env_spare_put(c->env, DDIO_ENV_SPARE_RING, o->ring, o->cap * sizeof(*o->ring));
	else
		free(o->ring);
	o->ring = NULL;
	o->cur = NULL;
	o->spare = NULL;
	o->cap = 0;
}

void conn_out_tell(struct ddio_conn *c, struct conn_frame *f)
{
	struct conn_out *o = &c->out;
	struct ddio_send *send;

	while (o->head != o->sent) {
		send = seg_at(o, o->head++)->send;
		if (!send)
			continue;
		if (send->done)
			send->done(send, 0);
		if (conn_dead(c, f))
			return;
	}
	out_idle(c);
	if (o->high && o->queued < CONN_LOW) {
		o->high = false;
		if (c->ops->drained)
			c->ops->drained(c->ctx);
	}
}

void conn_out_disown(struct ddio_conn *c)
{
	struct conn_out *o = &c->out;
	struct ddio_send *send;
	uint32_t i;

	for (i = o->head; i != o->tail; i++) {
		send = seg_at(o, i)->send;
		seg_at(o, i)->send = NULL;
		if (send && send->done)
			send->done(send, -ECANCELED);
	}
	o->head = o->sent;
}

/* A sender that is told cannot send again, since the state forbids it. */
void conn_out_cancel(struct ddio_conn *c, int err)
{
	struct conn_out *o = &c->out;
	struct conn_seg *seg;

	while (o->head != o->tail) {
		seg = seg_at(o, o->head);
		if (seg->chunk)
			chunk_put(o, seg->chunk);
		o->head++;
		if (!seg->send)
			continue;
		if (seg->send->done)
			seg->send->done(seg->send, err);
	}
	o->sent = o->tail;
	o->queued = 0;
	o->copied = 0;
}

void conn_out_free(struct ddio_conn *c)
{
	struct conn_out *o = &c->out;

	free(o->ring);
	free(o->cur);
	free(o->spare);
	memset(o, 0, sizeof(*o));
}
