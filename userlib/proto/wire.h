/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The wire format, and nothing else.  All integers are little-endian.  Every
 * message is a header of 32 bytes and a payload of header.length bytes; the
 * payload is a fixed record named after the opcode and, where said, a tail.
 *
 * History: 1 the first; 2 has all that was optional in it.
 */
#ifndef DDIO_WIRE_H
#define DDIO_WIRE_H

#define DDIO_WIRE_MAGIC 0x4f494444u /* "DDIO" */
#define DDIO_WIRE_VERSION 2
#define DDIO_WIRE_MIN_VERSION 2
/*
 * What a connection does only if both ends want it, as they are configured and where they are: the connector offers bits,
 * the acceptor confirms some.
 */
#define DDIO_OPTION_SUMS 0x1u	/* after a message follows its checksum */
#define DDIO_OPTION_MEMORY 0x2u /* it may go through memory: MEMORY, MOVED */
#define DDIO_OPTION_USERS 0x4u	/* it has users: USER, GRANT, RENEW */
/*
 * What was added to this version since: bits that the connector offers and the acceptor confirms.  Codecs alone ask for
 * them: see CODEC_GROWN().
 */
#define DDIO_WIRE_FEATURES 0u

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
	DDIO_OP_WELCOME = 4,   /* acceptor: its identity; all other messages may follow */
	DDIO_OP_REFUSE = 5,    /* either: status and a text; the connection ends */

	/* any I/O processor */
	DDIO_OP_PING = 16,
	DDIO_OP_STATUS = 17, /* reply: node and disk counters */
	DDIO_OP_BOUNDS = 19, /* reply: what clients may take, and have taken */
	DDIO_OP_ENDED = 18,  /* its last message: all that it was given is durable; no reply */

	DDIO_OP_DISKS_KNOWN = 20, /* to reactor 0: the name space knows these disks of yours */
	DDIO_OP_OWED = 21,	  /* reply: to which of these requests no answer will come */
	DDIO_OP_SCRUB = 22,	  /* look through a disk; reply: how far that is */

	DDIO_OP_JOB = 23,   /* what comes from here on is this job's; no reply */
	DDIO_OP_JOBS = 24,  /* reply: what each job has asked for */
	DDIO_OP_TRACE = 25, /* to reactor 0: record collectives, or reply: what was recorded */

	/* anybody on the same machine */
	DDIO_OP_MEMORY = 26, /* connector: let messages go through memory; reply: it was sent */
	DDIO_OP_MOVED = 27,  /* the sender's next messages go through the memory */
	DDIO_OP_USER = 28,   /* whose connection this is; no reply */
	DDIO_OP_GRANT = 29,  /* either way: what the user may do with a file; no reply */
	DDIO_OP_RENEW = 30,  /* to the name space: a newer grant, which comes before the reply */

	/* let me look at cached blocks of the disk, if this is one machine */
	DDIO_OP_SHOW = 31,

	/* the I/O processor that serves the name space */
	DDIO_OP_NS_CREATE = 32,
	DDIO_OP_NS_LOOKUP = 33,
	DDIO_OP_NS_REMOVE = 34,	     /* marks as dying; reply: the record */
	DDIO_OP_NS_REMOVE_DONE = 35, /* all objects are gone: forget the file */
	DDIO_OP_NS_EXTEND = 36,	     /* size = max(size, given), mtime */
	DDIO_OP_NS_SET_SIZE = 37,
	DDIO_OP_NS_LIST = 38,
	DDIO_OP_NS_EPOCH =
		39, /* an epoch of a file begins; reply: its number, and the file's size */
	DDIO_OP_NS_COMMIT = 40,	 /* the epoch is decided: what was written under it is the file's */
	DDIO_OP_NS_DECIDED = 41, /* how was the epoch decided? */
	DDIO_OP_NS_CLONE =
		42, /* a clone of a file begins; reply: the record of a file without a name */
	DDIO_OP_NS_CLONED = 43, /* it gets its name, or is given up */
	DDIO_OP_NS_COMMIT_FILES =
		44, /* epochs of several files are decided together, or given up */
	DDIO_OP_NS_ADOPT =
		45, /* objects get a file again, in /lost+found; reply: its record, with its name */

	/* objects: a file's share on one disk; the traditional path */
	DDIO_OP_OBJ_READ = 48,	/* reply: bulk */
	DDIO_OP_OBJ_WRITE = 49, /* bulk */
	DDIO_OP_OBJ_SYNC =
		50, /* the file is durable on this reactor's disks, and the records of the disk named */
	DDIO_OP_OBJ_REMOVE = 51,
	DDIO_OP_OBJ_TRUNCATE = 52,
	DDIO_OP_OBJ_EXTENTS = 53,
	DDIO_OP_OBJ_LIST = 54,
	DDIO_OP_OBJ_RESERVE = 55, /* allocate those of blocks [0, n) that are not yet allocated */
	DDIO_OP_DROP_CACHE = 56,  /* write back and forget cached blocks: for measurements */
	DDIO_OP_FSCK = 57,	  /* check one disk's records */
	DDIO_OP_OBJ_QUERY = 58,	  /* which records match, and what is made of them */
	DDIO_OP_OBJ_WHOSE = 59,	  /* reply: the file of the object, whose number is known */

	/* collectives */
	DDIO_OP_ATTACH = 64, /* this connection belongs to rank r of group g */
	DDIO_OP_DETACH = 65,
	DDIO_OP_COLL_START = 66, /* one member to reactor 0 of each I/O processor; no reply */
	DDIO_OP_COLL_DATA = 67,	 /* Memput, to a member: bulk */
	DDIO_OP_COLL_WANT = 68,	 /* Memget, to a member: a list of blocks */
	DDIO_OP_COLL_PIECE = 69, /* the member's answer, one a block: bulk */
	DDIO_OP_COLL_DONE = 70,	 /* each reactor with disks of the file, to each member */
	DDIO_OP_COLL_ABORT = 71, /* a member gives up; the I/O processor tells all others */
	DDIO_OP_JOINT = 72,	 /* to reactor 0: send the group's joint, if this is one machine */
	DDIO_OP_COLL_JOIN = 73,	 /* to reactor 0: for this operation my memory is in the joint */
	DDIO_OP_COLL_AGAIN = 74, /* as COLL_START, told as what differs from earlier ones */
	/* descriptions that members spread */
	DDIO_OP_COLL_TELL = 75,	 /* to a member: tell me what concerns me of your description */
	DDIO_OP_COLL_TOLD = 76,	 /* its answer, told as what differs from earlier ones */
	DDIO_OP_COLL_READY = 77, /* to the member that asked: all have told, and nothing is wrong */
	DDIO_OP_COLL_GO = 78,	 /* from it: all I/O processors are ready */

	/* buffers that an I/O processor shares with members on its machine */
	DDIO_OP_SHARE = 80,	  /* send the group's buffers, if this is one machine */
	DDIO_OP_SHARE_TAKEN = 81, /* they have come: blocks may be moved through them */
	DDIO_OP_COLL_SLOTS =
		82, /* to a member: blocks that lie, or are to be put, in the buffers */
	DDIO_OP_COLL_COPIED = 83, /* its answer: its bytes of these blocks have been copied */

	/* streams that a connection carries; either way, no replies */
	DDIO_OP_MUX_OPEN = 84,	 /* a stream begins */
	DDIO_OP_MUX_DATA = 85,	 /* some of its bytes: bulk */
	DDIO_OP_MUX_WINDOW = 86, /* so many more may be sent */
	DDIO_OP_MUX_END = 87,	 /* its last message from this end */
	DDIO_OP_MUX_LEAVE = 88,	 /* from a broker: open no more, and end these when you can */
	DDIO_OP_MUX_PARTS = 89,	 /* some bytes of each of several */

	/* the file system: to the name space's I/O processor, see Documentation/filesystem.rst */
	DDIO_OP_FS_ATTACH = 128, /* this connection belongs to mount m */
	DDIO_OP_FS_LOOKUP = 129,
	DDIO_OP_FS_GETATTR = 130,
	DDIO_OP_FS_SETATTR = 131,
	DDIO_OP_FS_MAKE = 132, /* mkdir, mknod, symlink, create (and open) */
	DDIO_OP_FS_LINK = 133,
	DDIO_OP_FS_UNLINK = 134, /* and rmdir */
	DDIO_OP_FS_RENAME = 135,
	DDIO_OP_FS_READLINK = 136,
	DDIO_OP_FS_READDIR = 137,
	DDIO_OP_FS_GETXATTR = 138,
	DDIO_OP_FS_SETXATTR = 139,
	DDIO_OP_FS_LISTXATTR = 140,
	DDIO_OP_FS_REMOVEXATTR = 141,
	DDIO_OP_FS_OPEN = 142, /* reply: attributes and the file's record */
	DDIO_OP_FS_RELEASE = 143,
	DDIO_OP_FS_WROTE = 144,	 /* size at least this, times now */
	DDIO_OP_FS_APPEND = 145, /* reply: the offset */
	DDIO_OP_FS_ALLOC = 146,	 /* bytes on disks, as counted at this change */
	DDIO_OP_FS_SYNC = 147,	 /* every change so far is durable */
	DDIO_OP_FS_SPACE = 148,	 /* inodes */
	DDIO_OP_FS_LOCK_TEST = 149,
	DDIO_OP_FS_LOCK_SET = 150,
	DDIO_OP_FS_LOCK_CANCEL = 151,
	DDIO_OP_FS_UNLOCK_OWNER = 152,
	DDIO_OP_FS_ORPHANS = 153, /* reply: inodes whose data have not been removed */
	DDIO_OP_FS_GONE = 154,	  /* all objects of an orphan are gone: forget the inode */
	DDIO_OP_FS_DETACH = 155,  /* the mount ends: its opens and locks are released */
	DDIO_OP_FS_DISKS = 156,	  /* a node's disks, as they are; reply: as they are known now */
	DDIO_OP_FS_LEASE = 157,	  /* a mount wants the lease of an inode that it has open */
	DDIO_OP_FS_RECALL =
		158, /* reply, when there are some: leases that the mount is to return */

	/* objects, for the file system */
	DDIO_OP_OBJ_STAT = 160,	    /* reply: allocated bytes */
	DDIO_OP_OBJ_PUNCH = 161,    /* a range reads as zeros and takes no space */
	DDIO_OP_OBJ_ALLOCATE = 162, /* a range gets space that stays; holes in it read as zeros */
	DDIO_OP_OBJ_COPY = 163,	    /* a range of one object into another on the same disk */
	DDIO_OP_OBJ_SETTLE = 164,   /* the epoch was decided: on all disks of the reactor */
	DDIO_OP_OBJ_HOLD = 165,	    /* nobody may use the file for a while */
	DDIO_OP_OBJ_CLONE = 166,    /* all of a held object's blocks are those of a new one, too */
	DDIO_OP_OBJ_MEND = 167,	    /* some of its blocks lie side by side again */
	DDIO_OP_DISK_SPACE = 168,   /* reply: how much of a disk is free, in how many ranges */
	DDIO_OP_WRONG = 173,	    /* what came from you did not match its checksum; no reply */

	/* between compute processes */
	DDIO_OP_GROUP_JOIN = 96,  /* to rank 0: my rank and address */
	DDIO_OP_GROUP_TABLE = 97, /* from rank 0: addresses of rank 0 and of neighbours */
	DDIO_OP_FAN_IN = 98,	  /* towards rank 0 of the tree */
	DDIO_OP_FAN_OUT = 99,	  /* from it */
	DDIO_OP_GROUP_ABORT = 100,
	DDIO_OP_EXCHANGE = 101,	   /* two-phase permutation: bulk */
	DDIO_OP_COUNTER_IN = 102,  /* towards rank 0 of the tree: a request to a shared counter */
	DDIO_OP_COUNTER_OUT = 103, /* from it: the answer */
	DDIO_OP_FAN_AGAIN = 104,   /* as FAN_IN, its data told as what differs from earlier ones */
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
	DDIO_ST_INVALID = 5,	 /* invalid value */
	DDIO_ST_TOO_BIG = 6,	 /* beyond a limit */
	DDIO_ST_NO_MEMORY = 7,
	DDIO_ST_NOT_FOUND = 8,
	DDIO_ST_EXISTS = 9,
	DDIO_ST_NO_SPACE = 10,
	DDIO_ST_IO = 11, /* a disk failed */
	DDIO_ST_BUSY = 12,
	DDIO_ST_STALE = 13,	  /* the file was removed, or is striped differently */
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
	DDIO_ST_NO_DATA = 24,  /* beyond the end of the file; no such attribute */
	DDIO_ST_NOT_EMPTY = 25,
	DDIO_ST_NOT_DIR = 26,
	DDIO_ST_IS_DIR = 27,
	DDIO_ST_CROSS = 28, /* from one file system into another */
	DDIO_ST_LINKS = 29, /* too many links */
	DDIO_ST_NAME_LONG = 30,
	DDIO_ST_NOT_PERMITTED = 31,
	DDIO_ST_AGAIN = 32, /* locked by somebody else */
	DDIO_ST_DEADLOCK = 33,
	DDIO_ST_INTERRUPTED = 34,
	DDIO_ST_LOOP = 35,
	DDIO_ST_NO_PLACE = 36,	   /* seeking: no data or hole from there on */
	DDIO_ST_SMALL_BUFFER = 37, /* a value does not fit */
	DDIO_ST_READ_ONLY = 38,
	DDIO_ST_QUOTA = 39,
	DDIO_ST_NO_LOCKS = 40, /* too many locks */
	DDIO_ST_MAX = 41
};

/* Limits, checked before anything is allocated. */
#define DDIO_MAX_NAME 255
#define DDIO_MAX_PATH 4095	    /* paths in libddio */
#define DDIO_MAX_DISKS 65536u	    /* in a stripe */
#define DDIO_MAX_MEMBERS (1u << 20) /* of a group */
#define DDIO_MIN_BLOCK 512u
#define DDIO_MAX_BLOCK (16u << 20)
#define DDIO_MAX_TEXT 512	  /* error texts */
#define DDIO_MAX_ADDR 128	  /* "host:port" */
#define DDIO_MAX_BULK (32u << 20) /* data of one message */
#define DDIO_MAX_PAYLOAD \
	(256u << 20) /* COLL_START, COLL_AGAIN, COLL_TOLD, FAN_IN, FAN_AGAIN, FAN_OUT */
#define DDIO_MAX_SMALL (1u << 20)      /* any other payload without bulk */
#define DDIO_MAX_BATCH 4096u	       /* entries of a list in one message */
#define DDIO_MAX_MUX_DATA (64u << 10)  /* bytes of one MUX_DATA */
#define DDIO_MAX_MUX_PARTS (64u << 10) /* payload of one MUX_PARTS */
#define DDIO_MUX_WINDOW (256u << 10)   /* bytes of a stream that may be on their way, or unread */
#define DDIO_MUX_STREAMS 4096u /* of one connection, those included that one end has ended */
#define DDIO_MAX_FILE (1ull << 62)
#define DDIO_NONCE_LEN 32
#define DDIO_PROOF_LEN 32
#define DDIO_GROUP_ID_LEN 16
#define DDIO_MAX_JOB 63	    /* name of a job */
#define DDIO_MAX_MAILBOX 64 /* name of a socket of one machine */
#define DDIO_TOKEN_LEN 16
#define DDIO_MAX_CREDENTIAL 4096u /* what vouches for a user */
#define DDIO_MAC_LEN 32

#endif /* DDIO_WIRE_H */
