// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include "env/local/channel.h"

_Static_assert(2 * sizeof(struct channel_end) == CHANNEL_HEAD, "both ends");

void channel_init(struct channel *ch, void *head, void *data, bool puts)
{
	struct channel_end *end = head;

	ch->mine = &end[!puts];
	ch->other = &end[puts];
	ch->data = data;
	ch->at = ch->base = 0;
	ch->puts = puts;
}

ssize_t channel_ready(const struct channel *ch)
{
	uint64_t other = atomic_load_explicit(&ch->other->at, memory_order_acquire);
	/* Bytes that have been put in and not got out. */
	uint64_t within = ch->puts ? ch->at - other : other - ch->at;

	if (within > CHANNEL_DATA)
		return -EPROTO;
	return (ssize_t)(ch->puts ? CHANNEL_DATA - within : within);
}

/* Copies @len bytes between @mem and the data from this end's place on. */
static void channel_copy(const struct channel *ch, uint64_t at, uint8_t *mem, size_t len)
{
	size_t off = (at - ch->base) % CHANNEL_DATA, part;

	for (; len; len -= part, mem += part, off = 0) {
		part = len < CHANNEL_DATA - off ? len : CHANNEL_DATA - off;
		if (ch->puts)
			memcpy(ch->data + off, mem, part);
		else
			memcpy(mem, ch->data + off, part);
	}
}

/*
 * The base changes only while there are no bytes within, and before the first that comes then: who sees a byte sees where
 * it lies.
 */
static void channel_rebase(struct channel *ch, ssize_t ready)
{
	if (!ch->puts) {
		ch->base = atomic_load_explicit(&ch->other->base, memory_order_relaxed);
	} else if (ready == (ssize_t)CHANNEL_DATA) {
		ch->base = ch->at;
		atomic_store_explicit(&ch->mine->base, ch->base, memory_order_relaxed);
	}
}

static ssize_t channel_move(struct channel *ch, const struct iovec *iov, int n)
{
	ssize_t left = channel_ready(ch);
	uint64_t at = ch->at;
	size_t part;
	int i;

	if (left <= 0)
		return left ? left : -EAGAIN;
	channel_rebase(ch, left);
	for (i = 0; i < n && left; i++, left -= (ssize_t)part, at += part) {
		part = iov[i].iov_len < (size_t)left ? iov[i].iov_len : (size_t)left;
		channel_copy(ch, at, iov[i].iov_base, part);
	}
	left = (ssize_t)(at - ch->at);
	ch->at = at;
	atomic_store_explicit(&ch->mine->at, at, memory_order_release);
	return left;
}

ssize_t channel_put(struct channel *ch, const struct iovec *iov, int n)
{
	return channel_move(ch, iov, n);
}

ssize_t channel_get(struct channel *ch, const struct iovec *iov, int n)
{
	return channel_move(ch, iov, n);
}

bool channel_wakes(const struct channel *ch)
{
	atomic_thread_fence(memory_order_seq_cst);
	/* Who waits for room waits for much: a little at a time would cost as many wake-ups. */
	if (!ch->puts && channel_ready(ch) > (ssize_t)CHANNEL_DATA / 2)
		return false;
	return atomic_load_explicit(&ch->other->asleep, memory_order_relaxed) &&
	       atomic_exchange(&ch->other->asleep, 0);
}

void channel_doze(const struct channel *ch)
{
	atomic_store_explicit(&ch->mine->asleep, 1, memory_order_relaxed);
}

void channel_rise(const struct channel *ch)
{
	atomic_store_explicit(&ch->mine->asleep, 0, memory_order_relaxed);
}
