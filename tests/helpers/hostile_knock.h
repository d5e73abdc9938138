/* SPDX-License-Identifier: GPL-2.0-only */
/* What somebody says who has no key; part of hostile.c. */
#ifndef DDIO_TEST_HOSTILE_KNOCK_H
#define DDIO_TEST_HOSTILE_KNOCK_H

#include <unistd.h>
#include "env/addr.h"
#include "tests/helpers/hostile_say.h"

/**
 * struct knocker - one who has no key
 * @fd: -1: none
 * @left: so many turns it still has
 * @said, @came: connections, bytes that were said
 */
struct knocker {
	struct rnd rnd;
	int fd;
	uint32_t left;
	uint64_t said, came;
};

static size_t header_put(struct rnd *r, uint8_t *at, uint16_t opcode, size_t len)
{
	struct ddio_msg msg = {
		.version = DDIO_WIRE_VERSION, .opcode = opcode, .tag = rnd_u64(r), .length = len
	};

	ddio_put_header(at, &msg);
	return DDIO_WIRE_HEADER_LEN;
}

/* A message with a header that tells the truth, or does not. */
static size_t knock_message(struct rnd *r, uint8_t *at, size_t max)
{
	const struct carried *kind = &carried[rnd_below(r, NCARRIED)];
	size_t len = compose(r, kind, false), told = len;

	if (len > max - DDIO_WIRE_HEADER_LEN)
		len = max - DDIO_WIRE_HEADER_LEN;
	if (!rnd_below(r, 3))
		told = rnd_below(r, 2) ? rnd_u64(r) >> rnd_below(r, 64) : DDIO_MAX_BULK;
	header_put(r, at, kind->opcode, told);
	memcpy(at + DDIO_WIRE_HEADER_LEN, said, len);
	return DDIO_WIRE_HEADER_LEN + len;
}

/* An opening as it should be, and the proof of a key that is none. */
static size_t knock_opening(struct rnd *r, const char *cluster, uint8_t *at, size_t max)
{
	struct ddio_msg_hello hello = { .min_version = DDIO_WIRE_VERSION,
					.max_version = DDIO_WIRE_VERSION,
					.role = 1 + (uint32_t)rnd_below(r, 4),
					.options = (uint32_t)rnd_u64(r),
					.features = (uint32_t)rnd_u64(r),
					.reactor = (uint32_t)rnd_below(r, 4) };
	size_t len;

	snprintf(hello.cluster, sizeof(hello.cluster), "%s", cluster);
	rnd_bytes(r, hello.nonce, sizeof(hello.nonce));
	len = (size_t)ddio_put_hello(at + DDIO_WIRE_HEADER_LEN, max - DDIO_WIRE_HEADER_LEN, &hello);
	len += header_put(r, at, DDIO_OP_HELLO, len);
	if (rnd_below(r, 4)) {
		len += header_put(r, at + len, DDIO_OP_PROOF, DDIO_PROOF_LEN);
		rnd_bytes(r, at + len, DDIO_PROOF_LEN);
		len += DDIO_PROOF_LEN;
	}
	return len;
}

static size_t knock_junk(struct rnd *r, uint8_t *at)
{
	size_t len = rnd_below(r, 4096);

	rnd_bytes(r, at, len);
	return len;
}

static void knocker_come(struct knocker *k, const struct addrinfo *to)
{
	k->fd = socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (k->fd < 0)
		return;
	if (connect(k->fd, to->ai_addr, to->ai_addrlen) && errno != EINPROGRESS) {
		close(k->fd);
		k->fd = -1;
		return;
	}
	k->came++;
	k->left = (uint32_t)rnd_below(&k->rnd, 50);
}

static void knocker_go(struct knocker *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

/* Says something more, or leaves; some stay and say nothing. */
static void knocker_turn(struct knocker *k, const struct addrinfo *to, const char *cluster)
{
	static uint8_t out[SAID_MAX + 4096];
	struct rnd *r = &k->rnd;
	size_t len;
	ssize_t n;

	if (k->fd < 0) {
		knocker_come(k, to);
		return;
	}
	if (!k->left--) {
		knocker_go(k);
		return;
	}
	switch (rnd_below(r, 4)) {
	case 0:
		len = knock_opening(r, cluster, out, sizeof(out));
		break;
	case 1:
		len = knock_message(r, out, sizeof(out));
		break;
	case 2:
		len = knock_junk(r, out);
		break;
	default:
		return;
	}
	n = send(k->fd, out, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n > 0)
		k->said += (uint64_t)n;
	else if (n < 0 && errno != EAGAIN && errno != ENOTCONN)
		knocker_go(k);
}

#endif /* DDIO_TEST_HOSTILE_KNOCK_H */
