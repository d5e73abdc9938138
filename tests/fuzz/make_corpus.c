// SPDX-License-Identifier: GPL-2.0-only
/*
 * make_corpus FUZZER DIRECTORY: seeds for a fuzzer, one file per opcode and
 * direction, with random valid contents.  Fuzzers it does not know get none.
 */
#include <stdio.h>
#include "tests/fuzz/codecs.h"

enum { ROOM = 1 << 20, BULK = 300 };

static uint8_t buf[ROOM];

static int write_seed(const char *dir, const char *name, int k, size_t len)
{
	char path[4096];
	FILE *f;
	int bad;

	snprintf(path, sizeof(path), "%s/%s-%d", dir, name, k);
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		return -1;
	}
	bad = fwrite(buf, 1, len, f) != len;
	bad |= fclose(f) != 0;
	if (bad)
		perror(path);
	return bad ? -1 : 0;
}

/* Writes one message to @p.  Return: its length. */
static size_t make_message(struct rnd *r, uint8_t *p, const struct carried *what, bool reply)
{
	const struct codec *c = codec_find(reply ? what->reply : what->request);
	struct ddio_msg msg = { .version = DDIO_WIRE_VERSION,
				.opcode = what->opcode,
				.flags = reply ? DDIO_WIRE_REPLY : 0,
				.tag = rnd_below(r, 64) };
	uint8_t *payload = p + DDIO_WIRE_HEADER_LEN;
	union any_message x;

	if (c) {
		memset(&x, 0, sizeof(x));
		c->gen(r, &x);
		msg.length = c->put(payload, ROOM / 4, &x);
		c->free(&x);
	}
	if (ddio_msg_is_bulk(&msg)) {
		rnd_bytes(r, payload + msg.length, BULK);
		msg.length += BULK;
	}
	ddio_put_header(p, &msg);
	return DDIO_WIRE_HEADER_LEN + msg.length;
}

static int proto_seeds(struct rnd *r, const char *dir)
{
	char name[64];
	size_t i, len;
	int reply, err = 0;

	for (i = 0; i < NCARRIED; i++) {
		for (reply = 0; reply < 2; reply++) {
			if (reply && !carried[i].reply)
				continue;
			len = make_message(r, buf, &carried[i], reply);
			snprintf(name, sizeof(name), "%s%s", ddio_opcode_name(carried[i].opcode),
				 reply ? "-reply" : "");
			err |= write_seed(dir, name, 0, len);
		}
	}
	return err;
}

/* Conversations: the option byte, an opening exchange if it says so, some messages. */
static int conn_seeds(struct rnd *r, const char *dir)
{
	size_t len, j, k;
	int i, err = 0;

	for (i = 0; i < 64; i++) {
		buf[0] = (uint8_t)(i * 4 + (i & 3));
		len = 1;
		for (j = 0; j < 6; j++) {
			k = buf[0] & 1 ? 5 + rnd_below(r, NCARRIED - 5) : j;
			if (k >= NCARRIED || (!(buf[0] & 1) && k > 4))
				break;
			len += make_message(r, buf + len, &carried[k],
					    carried[k].reply && rnd_below(r, 2));
		}
		err |= write_seed(dir, "talk", i, len);
	}
	return err;
}

/* Makes programs of random bytes, longer than those that the fuzzer begins with. */
static int server_seeds(struct rnd *r, const char *dir)
{
	size_t len;
	int i, err = 0;

	for (i = 0; i < 48; i++) {
		len = 20 + rnd_below(r, 600);
		rnd_bytes(r, buf, len);
		err |= write_seed(dir, "program", i, len);
	}
	return err;
}

/* A few bytes of one stream, and of another. */
static size_t parts_message(struct rnd *r, uint8_t *p)
{
	struct ddio_msg msg = { .version = DDIO_WIRE_VERSION, .opcode = DDIO_OP_MUX_PARTS };
	struct ddio_msg_mux_part part;
	uint8_t *at = p + DDIO_WIRE_HEADER_LEN;
	uint32_t i;

	for (i = 0; i < 3; i++) {
		part.id = 1 + (uint32_t)rnd_below(r, 2);
		part.bytes = 1 + (uint32_t)rnd_below(r, BULK);
		at += ddio_put_mux_part(at, 8, &part);
		rnd_bytes(r, at, part.bytes);
		at += part.bytes;
	}
	msg.length = (size_t)(at - p) - DDIO_WIRE_HEADER_LEN;
	ddio_put_header(p, &msg);
	return DDIO_WIRE_HEADER_LEN + msg.length;
}

/* The option byte, then messages of a mux about a few streams, after an opening exchange that the fuzzer makes. */
static int mux_seeds(struct rnd *r, const char *dir)
{
	size_t len, j, first = 0;
	int i, err = 0;

	while (carried[first].opcode != DDIO_OP_MUX_OPEN)
		first++;
	for (i = 0; i < 64; i++) {
		buf[0] = (uint8_t)i;
		len = 1;
		for (j = 0; j < 12; j++) {
			size_t at = len;

			if (j > 2 && !rnd_below(r, 4)) {
				len += parts_message(r, buf + len);
				continue;
			}
			len += make_message(r, buf + len,
					    &carried[first + (j ? rnd_below(r, 4) : 0)], false);
			/* Few numbers, so that most are known. */
			memset(buf + at + DDIO_WIRE_HEADER_LEN, 0, 4);
			buf[at + DDIO_WIRE_HEADER_LEN] = (uint8_t)(1 + rnd_below(r, 2));
		}
		err |= write_seed(dir, "streams", i, len);
	}
	return err;
}

int main(int argc, char **argv)
{
	struct rnd r = { 20260101 };

	if (argc != 3) {
		fprintf(stderr, "usage: make_corpus FUZZER DIRECTORY\n");
		return 2;
	}
	if (!strcmp(argv[1], "fuzz_proto"))
		return proto_seeds(&r, argv[2]) ? 1 : 0;
	if (!strcmp(argv[1], "fuzz_conn"))
		return conn_seeds(&r, argv[2]) ? 1 : 0;
	if (!strcmp(argv[1], "fuzz_mux"))
		return mux_seeds(&r, argv[2]) ? 1 : 0;
	if (!strcmp(argv[1], "fuzz_server"))
		return server_seeds(&r, argv[2]) ? 1 : 0;
	return 0;
}
