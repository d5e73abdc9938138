/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A channel: bytes that go one way through memory that two processes share.  Each end believes its own place only; what
 * the other says of its place is checked, so that whatever stands in the memory costs nothing but the bytes.
 */
#ifndef DDIO_ENV_CHANNEL_H
#define DDIO_ENV_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Bytes of a channel's data, a power of two; of what the two ends tell each other. */
#define CHANNEL_DATA (128u << 10)
#define CHANNEL_HEAD 128u

/**
 * struct channel_end - what one end tells the other, in the shared memory
 * @at: bytes moved so far
 * @asleep: it waits for the other to move some, and wants to be woken; who wakes it clears this
 * @base: who puts: which byte lies at the beginning of the data
 */
struct channel_end {
	_Alignas(64) _Atomic uint64_t at;
	_Atomic uint32_t asleep;
	_Atomic uint64_t base;
};

/**
 * struct channel - one process's view of a channel
 * @mine, @other: in the shared memory
 * @data: there, too
 * @at: bytes moved by this end so far
 * @base: see struct channel_end.  A channel that is empty begins anew at the beginning of its data, so that short messages touch
 *	little memory, and always the same
 * @puts: this end puts bytes in, the other gets them out
 */
struct channel {
	struct channel_end *mine, *other;
	uint8_t *data;
	uint64_t at, base;
	bool puts;
};

/* @head: CHANNEL_HEAD bytes of zeros, @data: CHANNEL_DATA bytes, in the shared memory. */
void channel_init(struct channel *channel, void *head, void *data, bool puts);
/* Returns how many bytes this end can move now, or -EPROTO if the other end's place is impossible. */
ssize_t channel_ready(const struct channel *channel);
/* Move what is possible.  Return: bytes, -EAGAIN: none now, or -EPROTO. */
ssize_t channel_put(struct channel *channel, const struct iovec *iov, int n);
ssize_t channel_get(struct channel *channel, const struct iovec *iov, int n);
/* After one of these: returns true if the other end sleeps and is to be woken. */
bool channel_wakes(const struct channel *channel);
/*
 * This end is going to sleep until the other moves bytes.  It must look once more before it does, by channel_ready(), after
 * a fence that orders all memory.
 */
void channel_doze(const struct channel *channel);
void channel_rise(const struct channel *channel);

#endif /* DDIO_ENV_CHANNEL_H */
