// SPDX-License-Identifier: LGPL-2.1-or-later
/* The header of every message, and the table of what each opcode may carry. */
#include "proto/coder.h"
#include "proto/proto.h"

struct op_info {
	const char *name;
	uint64_t limit[2];  /* largest payload: request, reply; 0: there is no such message */
	uint32_t prefix[2]; /* fixed record in front of bulk; 0: no bulk */
};

enum {
	OPENING = 1024,
	OBJ = 48,
	OBJ_DATA = 16,
	COLL_DATA = 40,
	EXCHANGE = 48,
	MUX_DATA = 8,
};

/* A reply without contents may still be an error with a text. */
#define TEXT DDIO_MAX_TEXT
#define SMALL DDIO_MAX_SMALL
#define LARGE DDIO_MAX_PAYLOAD
#define PARTS DDIO_MAX_MUX_PARTS

#define OP(op, request, reply) [DDIO_OP_##op] = { .name = #op, .limit = { request, reply } }
#define BULK_OUT(op, fixed, reply)                                    \
	[DDIO_OP_##op] = { .name = #op,                               \
			   .limit = { fixed + DDIO_MAX_BULK, reply }, \
			   .prefix = { fixed, 0 } }
#define BULK_IN(op, request, fixed)                                     \
	[DDIO_OP_##op] = { .name = #op,                                 \
			   .limit = { request, fixed + DDIO_MAX_BULK }, \
			   .prefix = { 0, fixed } }

static const struct op_info ops[] = {
	OP(HELLO, OPENING, 0),
	OP(CHALLENGE, OPENING, 0),
	OP(PROOF, OPENING, 0),
	OP(WELCOME, SMALL, 0),
	OP(REFUSE, OPENING, 0),

	OP(PING, SMALL, SMALL),
	OP(STATUS, SMALL, SMALL),
	OP(ENDED, SMALL, 0),
	OP(BOUNDS, SMALL, SMALL),
	OP(DISKS_KNOWN, SMALL, SMALL),
	OP(OWED, SMALL, SMALL),
	OP(SCRUB, SMALL, SMALL),
	OP(JOB, SMALL, 0),
	OP(JOBS, SMALL, SMALL),
	OP(TRACE, SMALL, SMALL),
	OP(MEMORY, SMALL, SMALL),
	OP(MOVED, SMALL, 0),
	OP(USER, SMALL, 0),
	OP(GRANT, SMALL, 0),
	OP(RENEW, SMALL, SMALL),
	OP(SHOW, SMALL, SMALL),

	OP(NS_CREATE, SMALL, SMALL),
	OP(NS_LOOKUP, SMALL, SMALL),
	OP(NS_REMOVE, SMALL, SMALL),
	OP(NS_REMOVE_DONE, SMALL, SMALL),
	OP(NS_EXTEND, SMALL, SMALL),
	OP(NS_SET_SIZE, SMALL, SMALL),
	OP(NS_LIST, SMALL, SMALL),
	OP(NS_EPOCH, SMALL, SMALL),
	OP(NS_COMMIT, SMALL, SMALL),
	OP(NS_DECIDED, SMALL, SMALL),
	OP(NS_CLONE, SMALL, SMALL),
	OP(NS_CLONED, SMALL, SMALL),
	OP(NS_COMMIT_FILES, SMALL, SMALL),
	OP(NS_ADOPT, SMALL, SMALL),

	BULK_IN(OBJ_READ, SMALL, OBJ_DATA),
	BULK_OUT(OBJ_WRITE, OBJ, TEXT),
	OP(OBJ_SYNC, SMALL, SMALL),
	OP(OBJ_REMOVE, SMALL, SMALL),
	OP(OBJ_TRUNCATE, SMALL, SMALL),
	OP(OBJ_EXTENTS, SMALL, SMALL),
	OP(OBJ_LIST, SMALL, SMALL),
	OP(OBJ_RESERVE, SMALL, SMALL),
	OP(DROP_CACHE, SMALL, SMALL),
	OP(FSCK, SMALL, SMALL),
	OP(OBJ_QUERY, SMALL, SMALL),
	OP(OBJ_WHOSE, SMALL, SMALL),

	OP(ATTACH, SMALL, SMALL),
	OP(DETACH, SMALL, SMALL),
	OP(COLL_START, LARGE, 0),
	BULK_OUT(COLL_DATA, COLL_DATA, 0),
	OP(COLL_WANT, SMALL, 0),
	BULK_OUT(COLL_PIECE, COLL_DATA, 0),
	OP(COLL_DONE, SMALL, 0),
	OP(COLL_ABORT, SMALL, 0),
	OP(JOINT, SMALL, SMALL),
	OP(COLL_JOIN, SMALL, SMALL),
	OP(COLL_AGAIN, LARGE, 0),
	OP(COLL_TELL, SMALL, 0),
	OP(COLL_TOLD, LARGE, 0),
	OP(COLL_READY, SMALL, 0),
	OP(COLL_GO, SMALL, 0),
	OP(SHARE, SMALL, SMALL),
	OP(SHARE_TAKEN, SMALL, SMALL),
	OP(COLL_SLOTS, SMALL, 0),
	OP(COLL_COPIED, SMALL, 0),

	OP(MUX_OPEN, SMALL, 0),
	[DDIO_OP_MUX_DATA] = { .name = "MUX_DATA",
			       .limit = { MUX_DATA + DDIO_MAX_MUX_DATA, 0 },
			       .prefix = { MUX_DATA, 0 } },
	OP(MUX_WINDOW, SMALL, 0),
	OP(MUX_END, SMALL, 0),
	OP(MUX_LEAVE, SMALL, 0),
	OP(MUX_PARTS, PARTS, 0),

	OP(FS_ATTACH, SMALL, SMALL),
	OP(FS_LOOKUP, SMALL, SMALL),
	OP(FS_GETATTR, SMALL, SMALL),
	OP(FS_SETATTR, SMALL, SMALL),
	OP(FS_MAKE, SMALL, SMALL),
	OP(FS_LINK, SMALL, SMALL),
	OP(FS_UNLINK, SMALL, SMALL),
	OP(FS_RENAME, SMALL, SMALL),
	OP(FS_READLINK, SMALL, SMALL),
	OP(FS_READDIR, SMALL, SMALL),
	OP(FS_GETXATTR, SMALL, SMALL),
	OP(FS_SETXATTR, SMALL, SMALL),
	OP(FS_LISTXATTR, SMALL, SMALL),
	OP(FS_REMOVEXATTR, SMALL, SMALL),
	OP(FS_OPEN, SMALL, SMALL),
	OP(FS_RELEASE, SMALL, SMALL),
	OP(FS_WROTE, SMALL, SMALL),
	OP(FS_APPEND, SMALL, SMALL),
	OP(FS_ALLOC, SMALL, SMALL),
	OP(FS_SYNC, SMALL, SMALL),
	OP(FS_SPACE, SMALL, SMALL),
	OP(FS_LOCK_TEST, SMALL, SMALL),
	OP(FS_LOCK_SET, SMALL, SMALL),
	OP(FS_LOCK_CANCEL, SMALL, SMALL),
	OP(FS_UNLOCK_OWNER, SMALL, SMALL),
	OP(FS_ORPHANS, SMALL, SMALL),
	OP(FS_GONE, SMALL, SMALL),
	OP(FS_DETACH, SMALL, SMALL),
	OP(FS_DISKS, SMALL, SMALL),
	OP(FS_LEASE, SMALL, SMALL),
	OP(FS_RECALL, SMALL, SMALL),

	OP(OBJ_STAT, SMALL, SMALL),
	OP(OBJ_PUNCH, SMALL, SMALL),
	OP(OBJ_ALLOCATE, SMALL, SMALL),
	OP(OBJ_COPY, SMALL, SMALL),
	OP(OBJ_SETTLE, SMALL, SMALL),
	OP(OBJ_HOLD, SMALL, SMALL),
	OP(OBJ_CLONE, SMALL, SMALL),
	OP(OBJ_MEND, SMALL, SMALL),
	OP(DISK_SPACE, SMALL, SMALL),
	OP(WRONG, SMALL, 0),

	OP(GROUP_JOIN, SMALL, SMALL),
	OP(GROUP_TABLE, SMALL, 0),
	OP(FAN_IN, LARGE, 0),
	OP(FAN_OUT, LARGE, 0),
	OP(GROUP_ABORT, SMALL, 0),
	BULK_OUT(EXCHANGE, EXCHANGE, 0),
	OP(COUNTER_IN, SMALL, 0),
	OP(COUNTER_OUT, SMALL, 0),
	OP(FAN_AGAIN, LARGE, 0),
};

static const struct op_info *op_find(uint32_t opcode)
{
	if (opcode >= sizeof(ops) / sizeof(ops[0]) || !ops[opcode].name)
		return NULL;
	return &ops[opcode];
}

const char *ddio_opcode_name(uint32_t opcode)
{
	const struct op_info *op = op_find(opcode);

	return op ? op->name : "unknown";
}

uint64_t ddio_opcode_limit(uint32_t opcode, bool reply)
{
	const struct op_info *op = op_find(opcode);

	return op ? op->limit[reply] : 0;
}

bool opcode_is_bulk(uint32_t opcode, bool reply)
{
	return ddio_opcode_bulk_prefix(opcode, reply) != 0;
}

size_t ddio_opcode_bulk_prefix(uint32_t opcode, bool reply)
{
	const struct op_info *op = op_find(opcode);

	return op ? op->prefix[reply] : 0;
}

bool ddio_msg_is_bulk(const struct ddio_msg *msg)
{
	bool reply = msg->flags & DDIO_WIRE_REPLY;

	return !(reply && msg->status) && opcode_is_bulk(msg->opcode, reply);
}

static inline void code_header(struct ddio_coder *c, struct ddio_msg *msg, uint32_t *magic)
{
	code_u32(c, magic);
	code_u16(c, &msg->version);
	code_u16(c, &msg->opcode);
	code_u32(c, &msg->flags);
	code_u32(c, &msg->status);
	code_u64(c, &msg->tag);
	code_u64(c, &msg->length);
}

void ddio_put_header(uint8_t buf[DDIO_WIRE_HEADER_LEN], const struct ddio_msg *msg)
{
	struct ddio_coder c = coder_writing(buf, DDIO_WIRE_HEADER_LEN);
	uint32_t magic = DDIO_WIRE_MAGIC;

	code_header(&c, (struct ddio_msg *)msg, &magic);
}

/* HELLO and REFUSE come before a version is agreed on and carry the sender's. */
static bool version_ok(const struct ddio_msg *msg)
{
	if (msg->opcode == DDIO_OP_HELLO || msg->opcode == DDIO_OP_REFUSE)
		return msg->version != 0;
	return msg->version >= DDIO_WIRE_MIN_VERSION && msg->version <= DDIO_WIRE_VERSION;
}

int ddio_msg_check(const struct ddio_msg *msg)
{
	bool reply = msg->flags & DDIO_WIRE_REPLY;
	uint64_t limit;

	if (!op_find(msg->opcode) || msg->flags & ~DDIO_WIRE_FLAGS)
		return -EOPNOTSUPP;
	limit = ddio_opcode_limit(msg->opcode, reply);
	if (!limit || (msg->status && !reply && msg->opcode != DDIO_OP_COLL_DONE))
		return -EPROTO;
	if (reply && msg->status)
		limit = DDIO_MAX_TEXT - 1;
	if (msg->length > limit)
		return -EMSGSIZE;
	if (ddio_msg_is_bulk(msg) && msg->length < ddio_opcode_bulk_prefix(msg->opcode, reply))
		return -EPROTO;
	return 0;
}

int ddio_get_header(const uint8_t buf[DDIO_WIRE_HEADER_LEN], struct ddio_msg *msg)
{
	struct ddio_coder c = coder_reading(buf, DDIO_WIRE_HEADER_LEN);
	uint32_t magic;

	code_header(&c, msg, &magic);
	if (magic != DDIO_WIRE_MAGIC)
		return -EPROTO;
	if (!version_ok(msg))
		return -EPROTONOSUPPORT;
	return ddio_msg_check(msg);
}

int ddio_get_text(const void *buf, size_t len, char text[DDIO_MAX_TEXT])
{
	text[0] = '\0';
	if (len >= DDIO_MAX_TEXT)
		return -EMSGSIZE;
	if (!len)
		return 0;
	if (memchr(buf, 0, len))
		return -EPROTO;
	memcpy(text, buf, len);
	text[len] = '\0';
	return 0;
}
