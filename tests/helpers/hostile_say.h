/* SPDX-License-Identifier: GPL-2.0-only */
/* What somebody says who has the key and means no good; part of hostile.c. */
#ifndef DDIO_TEST_HOSTILE_SAY_H
#define DDIO_TEST_HOSTILE_SAY_H

#include "tests/fuzz/codecs.h"
#include "tests/fuzz/server_posts.h"

enum { SAID_MAX = 1 << 17, DISKS = 4, GROUPS = 4, PROGRAM = 48, FAR = 256 * BLOCK };

static uint8_t said[SAID_MAX];
static const uint8_t zeros[SAID_MAX];

static uint64_t any_ino(struct rnd *r)
{
	return FIRST_INODE + rnd_below(r, INODES);
}

/* Members of a few groups, of few numbers, meet each other's collectives. */
static void any_group(struct rnd *r, uint8_t *group, uint64_t *op)
{
	memset(group, 1 + (int)rnd_below(r, GROUPS), DDIO_GROUP_ID_LEN);
	if (op)
		*op = 1 + rnd_below(r, 4);
}

static void any_start(struct rnd *r, struct ddio_msg_coll_start *x)
{
	uint32_t i;

	any_group(r, x->group, &x->op);
	x->file.ref = (struct ddio_file_ref){ .id = any_ino(r), .seed = 1, .block = BLOCK };
	for (i = 0; i < x->file.ndisks; i++)
		x->file.disks[i] = i;
	if (x->file.ndisks > DISKS)
		x->file.ndisks = DISKS;
}

/* Puts in what the daemon knows: its disks, inodes that are there, groups of which others are members. */
static void familiar(struct rnd *r, uint16_t opcode, union any_message *x)
{
	switch (opcode) {
	case DDIO_OP_ATTACH:
	case DDIO_OP_DETACH:
		any_group(r, x->attach.group, NULL);
		x->attach.size = 1 + (uint32_t)rnd_below(r, 4);
		x->attach.rank = (uint32_t)rnd_below(r, x->attach.size);
		break;
	case DDIO_OP_COLL_START:
		any_start(r, &x->coll_start);
		break;
	case DDIO_OP_COLL_PIECE:
		any_group(r, x->coll_data.group, &x->coll_data.op);
		x->coll_data.disk = (uint32_t)rnd_below(r, DISKS);
		break;
	case DDIO_OP_COLL_ABORT:
		any_group(r, x->coll_abort.group, &x->coll_abort.op);
		break;
	case DDIO_OP_COLL_JOIN:
		any_group(r, x->coll_join.group, &x->coll_join.op);
		break;
	case DDIO_OP_OBJ_READ ... DDIO_OP_OBJ_RESERVE:
		x->obj.file = (struct ddio_file_ref){ .id = any_ino(r), .seed = 1, .block = BLOCK };
		x->obj.disk = (uint32_t)rnd_below(r, DISKS);
		/* Who has the key may fill the disks, which others would notice. */
		x->obj.offset %= FAR;
		x->obj.len %= FAR;
		break;
	default:
		break;
	}
}

static void put_number(uint8_t *at, uint64_t v, size_t len)
{
	while (len--) {
		*at++ = (uint8_t)v;
		v >>= 8;
	}
}

/* Turns bits, puts a number at one of its ends, or says more or less than was meant.  Returns the length. */
static size_t damage(struct rnd *r, uint8_t *at, size_t len)
{
	static const uint64_t ends[] = {
		0,	    1,	  1ull << 31,	    UINT32_MAX, INT64_MAX,
		UINT64_MAX, 4096, (1ull << 62) - 1, 1ull << 62, UINT64_MAX - 4095
	};
	size_t i;

	switch (rnd_below(r, 6)) {
	case 0:
		for (i = rnd_below(r, 4); len && i < 4; i++)
			at[rnd_below(r, len)] ^= (uint8_t)(1u << rnd_below(r, 8));
		return len;
	case 1:
		i = rnd_below(r, 2) ? 4 : 8;
		if (len >= i)
			put_number(at + rnd_below(r, (len - i) / 4 + 1) * 4,
				   ends[rnd_below(r, sizeof(ends) / sizeof(ends[0]))], i);
		return len;
	case 2:
		return len ? rnd_below(r, len) : 0;
	case 3:
		i = rnd_below(r, 64);
		if (len + i <= SAID_MAX)
			rnd_bytes(r, at + len, i);
		return len + i <= SAID_MAX ? len + i : len;
	default:
		return len;
	}
}

/* Makes the payload of a message of some kind, or of any bytes. */
static size_t compose(struct rnd *r, const struct carried *kind, bool reply)
{
	const struct codec *c = codec_find(reply ? kind->reply : kind->request);
	union any_message x;
	ssize_t len;

	if (!c || !rnd_below(r, 16)) {
		len = (ssize_t)rnd_below(r, 300);
		rnd_bytes(r, said, (size_t)len);
		return (size_t)len;
	}
	memset(&x, 0, sizeof(x));
	c->gen(r, &x);
	if (!reply && rnd_below(r, 2))
		familiar(r, kind->opcode, &x);
	len = c->put(said, SAID_MAX - 64, &x);
	c->free(&x);
	return len < 0 ? 0 : damage(r, said, (size_t)len);
}

/* Says any message, as a request or as an answer that nobody has asked for. */
static void say_any(struct fuzz_mount *m, struct rnd *r)
{
	const struct carried *kind = &carried[rnd_below(r, NCARRIED)];
	struct ddio_msg msg = { .opcode = kind->opcode, .tag = rnd_below(r, 64) };
	size_t prefix, len, bulk = 0;
	struct iovec iov;

	if (!rnd_below(r, 16)) {
		msg.flags = DDIO_WIRE_REPLY;
		msg.status = (uint32_t)rnd_below(r, DDIO_ST_MAX + 2);
	}
	len = compose(r, kind, msg.flags);
	prefix = ddio_opcode_bulk_prefix(msg.opcode, msg.flags);
	if (prefix && !msg.status) {
		len = prefix;
		bulk = rnd_below(r, 2) ? rnd_below(r, 2 * BLOCK) : rnd_below(r, SAID_MAX);
	}
	msg.length = len + bulk;
	iov = (struct iovec){ (void *)zeros, bulk };
	if (!ddio_conn_send(m->conn, &msg, said, len, &iov, bulk ? 1 : 0, NULL))
		m->sent++;
}

/* Says what a mount says, of a few inodes and names. */
static void say_as_mount(struct fuzz_mount *m, struct rnd *r)
{
	uint8_t program[PROGRAM];
	struct fuzz_reader in = { program, program + sizeof(program) };

	rnd_bytes(r, program, sizeof(program));
	one(m, &in);
}

#endif /* DDIO_TEST_HOSTILE_SAY_H */
