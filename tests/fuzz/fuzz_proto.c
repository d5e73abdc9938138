// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing of header and codecs.  Input: a header and a payload.  Whatever is
 * accepted must encode to the very bytes that were decoded, and no input may
 * make a decoder hold more than a small multiple of its length.
 */
#include <sanitizer/allocator_interface.h>
#include "proto/past/past.h"
#include "tests/fuzz/codecs.h"

/* A table of addresses, two bytes each at least, is the worst. */
enum { TIMES = 80, SLACK = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void try_header(const uint8_t *data)
{
	uint8_t again[DDIO_WIRE_HEADER_LEN];
	struct ddio_msg msg;

	if (ddio_get_header(data, &msg))
		return;
	ddio_put_header(again, &msg);
	check(!memcmp(again, data, sizeof(again)));
	check(ddio_opcode_name(msg.opcode)[0] != 'u');
	check(msg.length <= ddio_opcode_limit(msg.opcode, msg.flags & DDIO_WIRE_REPLY));
	check(!ddio_msg_is_bulk(&msg) ||
	      msg.length >= ddio_opcode_bulk_prefix(msg.opcode, msg.flags & DDIO_WIRE_REPLY));
}

static void try_codec(const struct codec *c, const uint8_t *data, size_t size)
{
	size_t before = __sanitizer_get_current_allocated_bytes(), held;
	union any_message x;
	uint8_t *again;
	int err;

	memset(&x, 0xa5, sizeof(x));
	err = c->get(data, size, &x);
	held = __sanitizer_get_current_allocated_bytes() - before;
	check(held <= (err ? 0 : TIMES * size + SLACK));
	if (err)
		return;
	check(c->put(NULL, 0, &x) == (ssize_t)size);
	again = malloc(size);
	check(again && c->put(again, size, &x) == (ssize_t)size && !memcmp(again, data, size));
	free(again);
	c->free(&x);
}

/* Sends what was read on to another end; returns whether that reads the same. */
static bool passed_on(struct ddio_past *from, struct ddio_past *to, const void *data, size_t len)
{
	struct ddio_past_code code;
	const void *got;
	uint8_t *buf;
	size_t n;
	bool same;

	ddio_past_put(from, data, len, &code);
	buf = malloc(code.len + len);
	check(buf);
	memcpy(buf, code.bytes, code.len);
	if (code.whole && len)
		memcpy(buf + code.len, data, len);
	same = !ddio_past_get(to, buf, code.len + (code.whole ? len : 0), &got, &n) && n == len &&
	       (!len || !memcmp(got, data, len));
	free(buf);
	return same;
}

/* A stream of messages as what differs, a byte of length before each. */
static void try_past(const uint8_t *data, size_t size)
{
	size_t before = __sanitizer_get_current_allocated_bytes(), n, len, held;
	struct ddio_past past = { 0 }, from = { 0 }, to = { 0 };
	const void *got;

	for (; size; data += n, size -= n) {
		n = data[0];
		data++;
		size--;
		n = n < size ? n : size;
		if (ddio_past_get(&past, data, n, &got, &len))
			continue;
		check(len <= DDIO_PAST_BYTES + n);
		held = __sanitizer_get_current_allocated_bytes() - before;
		check(held <= 6 * DDIO_PAST_BYTES + SLACK && past.n <= DDIO_PAST_ENTRIES);
		check(passed_on(&from, &to, got, len));
	}
	ddio_past_clear(&past);
	ddio_past_clear(&from);
	ddio_past_clear(&to);
	check(__sanitizer_get_current_allocated_bytes() == before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *payload = data + DDIO_WIRE_HEADER_LEN;
	const struct codec *c;
	struct ddio_msg msg;
	size_t len, prefix, i;
	bool reply;

	if (size < DDIO_WIRE_HEADER_LEN)
		return 0;
	try_header(data);
	ddio_get_header(data, &msg); /* fills in the values even if they are refused */
	reply = msg.flags & DDIO_WIRE_REPLY;
	len = size - DDIO_WIRE_HEADER_LEN;
	prefix = ddio_opcode_bulk_prefix(msg.opcode, reply);
	if (prefix && len > prefix)
		len = prefix;
	for (i = 0; i < NCARRIED; i++) {
		c = codec_find(reply ? carried[i].reply : carried[i].request);
		if (carried[i].opcode == msg.opcode && c)
			try_codec(c, payload, len);
	}
	if (msg.opcode == DDIO_OP_COLL_AGAIN || msg.opcode == DDIO_OP_COLL_TOLD)
		try_past(payload, len);
	if (msg.opcode == DDIO_OP_PING) /* no message of its own */
		try_codec(codec_find("part"), payload, len);
	return 0;
}
