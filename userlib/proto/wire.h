/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The wire format, and nothing else.  All integers are little-endian.  Every
 * message is a header of 32 bytes and a payload of header.length bytes; the
 * payload is a fixed record named after the opcode and, where said, a tail.
 *
 * History: 1.0 the first.
 */
#ifndef DDIO_WIRE_H
#define DDIO_WIRE_H

#define DDIO_WIRE_MAGIC 0x4f494444u /* "DDIO" */
#define DDIO_WIRE_VERSION 1
#define DDIO_WIRE_MIN_VERSION 1
#define DDIO_WIRE_FEATURES 0ull /* optional features that this version knows */

/* Header: magic u32 @0, version u16 @4, opcode u16 @6, flags u32 @8, status u32 @12,
 * tag u64 @16, length u64 @24.  Only replies and COLL_DONE have a status. */
#define DDIO_WIRE_HEADER_LEN 32

#define DDIO_WIRE_REPLY 0x1u /* flags: answers the request of the same tag on this connection */
#define DDIO_WIRE_FLAGS (DDIO_WIRE_REPLY)

/*
 * Opcodes.  "bulk" marks those whose tail is file data, received straight
 * into place after the fixed record.
 */
enum ddio_opcode {
	/* the opening exchange, in this order */
	DDIO_OP_HELLO = 1,     /* connector: versions, role, nonce */
	DDIO_OP_CHALLENGE = 2, /* acceptor: version and features chosen, nonce, its proof */
	DDIO_OP_PROOF = 3,     /* connector: its proof */
	DDIO_OP_WELCOME = 4,   /* acceptor: who it is; everything else is allowed from here */
	DDIO_OP_REFUSE = 5,    /* either: status and a text; the connection ends */

	/* any I/O processor */
	DDIO_OP_PING = 16,
	DDIO_OP_STATUS = 17, /* reply: node and disk counters */

	/* the I/O processor that serves the name space */
	DDIO_OP_NS_CREATE = 32,
	DDIO_OP_NS_LOOKUP = 33,
	DDIO_OP_NS_REMOVE = 34,	     /* marks as dying; reply: the record */
	DDIO_OP_NS_REMOVE_DONE = 35, /* all objects are gone: forget it */
	DDIO_OP_NS_EXTEND = 36,	     /* size = max(size, given), mtime */
	DDIO_OP_NS_SET_SIZE = 37,
	DDIO_OP_NS_LIST = 38,

	/* objects: a file's share on one disk; the traditional path */
	DDIO_OP_OBJ_READ = 48,	/* reply: bulk */
	DDIO_OP_OBJ_WRITE = 49, /* bulk */
	DDIO_OP_OBJ_SYNC = 50,	/* cache, disk and records of this reactor are durable */
	DDIO_OP_OBJ_REMOVE = 51,
	DDIO_OP_OBJ_TRUNCATE = 52,
	DDIO_OP_OBJ_EXTENTS = 53,
	DDIO_OP_OBJ_LIST = 54,
	DDIO_OP_OBJ_RESERVE = 55, /* allocate blocks [0, n) as far as they are not */
	DDIO_OP_DROP_CACHE = 56,  /* write back and forget cached blocks: for measurements */
	DDIO_OP_FSCK = 57,	  /* check one disk's records */

	/* collectives */
	DDIO_OP_ATTACH = 64, /* this connection is rank r of group g */
	DDIO_OP_DETACH = 65,
	DDIO_OP_COLL_START = 66, /* one member to reactor 0 of each I/O processor; no reply */
	DDIO_OP_COLL_DATA = 67,	 /* Memput, to a member: bulk */
	DDIO_OP_COLL_WANT = 68,	 /* Memget, to a member: a list of blocks */
	DDIO_OP_COLL_PIECE = 69, /* the member's answer, one a block: bulk */
	DDIO_OP_COLL_DONE = 70,	 /* each reactor with disks of the file, to each member */
	DDIO_OP_COLL_ABORT = 71, /* a member gives up; the I/O processor tells all others */
	DDIO_OP_JOINT = 72,	 /* to reactor 0: send the group's joint, if this is one machine */
	DDIO_OP_COLL_JOIN = 73,	 /* to reactor 0: for this operation my memory is in the joint */

	/* between compute processes */
	DDIO_OP_GROUP_JOIN = 96,  /* to rank 0: my rank and address */
	DDIO_OP_GROUP_TABLE = 97, /* from rank 0: addresses of rank 0 and of neighbours */
	DDIO_OP_FAN_IN = 98,	  /* towards rank 0 of the tree */
	DDIO_OP_FAN_OUT = 99,	  /* from it */
	DDIO_OP_GROUP_ABORT = 100,
	DDIO_OP_EXCHANGE = 101, /* two-phase permutation: bulk */
};

/*
 * Status numbers.  Host errno values never leave a host; status.c maps both ways.
 */
enum ddio_status {
	DDIO_ST_OK = 0,
	DDIO_ST_PROTOCOL = 1,	 /* malformed message */
	DDIO_ST_VERSION = 2,	 /* no common version */
	DDIO_ST_AUTH = 3,	 /* key missing or wrong */
	DDIO_ST_UNSUPPORTED = 4, /* unknown opcode or flag */
	DDIO_ST_INVALID = 5,	 /* a value makes no sense */
	DDIO_ST_TOO_BIG = 6,	 /* beyond a limit */
	DDIO_ST_NO_MEMORY = 7,
	DDIO_ST_NOT_FOUND = 8,
	DDIO_ST_EXISTS = 9,
	DDIO_ST_NO_SPACE = 10,
	DDIO_ST_IO = 11, /* a disk failed */
	DDIO_ST_BUSY = 12,
	DDIO_ST_STALE = 13,	  /* the file is not what it was: removed, or striped otherwise */
	DDIO_ST_MISMATCH = 14,	  /* members disagree about a collective */
	DDIO_ST_MEMBER_LOST = 15, /* a compute process went away */
	DDIO_ST_NODE_LOST = 16,	  /* an I/O processor went away */
	DDIO_ST_TIMEOUT = 17,
	DDIO_ST_CANCELLED = 18,
	DDIO_ST_PERMISSION = 19,
	DDIO_ST_CORRUPT = 20,  /* records on disk contradict one another */
	DDIO_ST_SHUTDOWN = 21, /* the I/O processor is stopping */
	DDIO_ST_RANGE = 22,    /* beyond the largest file or number */
	DDIO_ST_OVERLAP = 23,  /* two members write the same byte */
	DDIO_ST_NO_DATA = 24,  /* beyond the end of the file */
	DDIO_ST_MAX = 25
};

/* Limits, checked before anything is allocated. */
#define DDIO_MAX_NAME 255
#define DDIO_MAX_DISKS 65536u	    /* in a stripe */
#define DDIO_MAX_MEMBERS (1u << 20) /* of a group */
#define DDIO_MIN_BLOCK 512u
#define DDIO_MAX_BLOCK (16u << 20)
#define DDIO_MAX_TEXT 512	      /* error texts */
#define DDIO_MAX_ADDR 128	      /* "host:port" */
#define DDIO_MAX_BULK (32u << 20)     /* data of one message */
#define DDIO_MAX_PAYLOAD (256u << 20) /* COLL_START, FAN_IN, FAN_OUT */
#define DDIO_MAX_SMALL (1u << 20)     /* of every other one without bulk */
#define DDIO_MAX_BATCH 4096u	      /* entries of a list in one message */
#define DDIO_MAX_FILE (1ull << 62)
#define DDIO_NONCE_LEN 32
#define DDIO_PROOF_LEN 32
#define DDIO_GROUP_ID_LEN 16
#define DDIO_MAX_MAILBOX 64 /* name of a socket of one machine */
#define DDIO_TOKEN_LEN 16

#endif /* DDIO_WIRE_H */
