/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages as structures of the host, and the functions that turn them into
 * the bytes of wire.h and back.  Pure.
 *
 * Encoding: ddio_put_X(buf, cap, x) returns the length written, or -EMSGSIZE if
 * @cap is too small; with @buf NULL, the length that it needs.
 * Decoding: ddio_get_X(buf, len, x) checks every length, count and value and
 * returns 0 or -EPROTO (malformed), -EMSGSIZE (beyond a limit), -EINVAL (a value makes no
 * sense), -ENOMEM.  Pointers in @x point into @buf unless said otherwise; nothing is
 * allocated except where a _free function is named.
 */
#ifndef DDIO_PROTO_H
#define DDIO_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ddio/dist.h>
#include "map/kin.h"
#include "proto/wire.h"

struct ddio_msg {
	uint16_t version;
	uint16_t opcode;
	uint32_t flags;
	uint32_t status;
	uint64_t tag;
	uint64_t length;
};

void ddio_put_header(uint8_t buf[DDIO_WIRE_HEADER_LEN], const struct ddio_msg *msg);
/* Checks magic (-EPROTO), version (-EPROTONOSUPPORT), then ddio_msg_check(). */
int ddio_get_header(const uint8_t buf[DDIO_WIRE_HEADER_LEN], struct ddio_msg *msg);

/* Return constant strings; "unknown" for any other number. */
const char *ddio_opcode_name(uint32_t opcode);
const char *status_name(uint32_t status);
/* Returns one line for people. */
const char *ddio_status_text(uint32_t status);
/* status.c: the one place where the two number spaces meet. */
int ddio_status_to_errno(uint32_t status); /* 0 or negative errno */
uint32_t ddio_status_from_errno(int err);  /* takes 0 or negative errno */
/* Returns the largest payload of an opcode in one direction; 0 if it is not known. */
uint64_t ddio_opcode_limit(uint32_t opcode, bool reply);
/* Returns true if the payload is a fixed record plus file data. */
bool opcode_is_bulk(uint32_t opcode, bool reply);
/* Returns the length of the fixed record in front of bulk. */
size_t ddio_opcode_bulk_prefix(uint32_t opcode, bool reply);
/* Returns the same for one message: a reply that reports an error carries a text instead of bulk. */
bool ddio_msg_is_bulk(const struct ddio_msg *msg);
/* Checks a header's values as ddio_get_header() does, but for magic and version: -EPROTO (no such
 * message, status in a request, bulk shorter than its fixed record), -EOPNOTSUPP (opcode or flag
 * not known), -EMSGSIZE.  Senders use it, too. */
int ddio_msg_check(const struct ddio_msg *msg);
/* The payload of a reply whose status is an error: at most DDIO_MAX_TEXT - 1 bytes, no NUL. */
int ddio_get_text(const void *buf, size_t len, char text[DDIO_MAX_TEXT]);

enum ddio_role {
	DDIO_ROLE_CLIENT = 1,
	DDIO_ROLE_PEER = 2,
	DDIO_ROLE_ADMIN = 3,
	DDIO_ROLE_BROKER = 4, /* the connection carries others */
};

struct ddio_msg_hello {
	uint16_t min_version, max_version;
	uint32_t role;
	uint32_t options, features; /* offered: DDIO_OPTION_*, DDIO_FEATURE_* */
	uint32_t reactor;	    /* which reactor of the node the connector wants */
	uint32_t rank;		    /* role PEER: the connector's rank */
	uint8_t nonce[DDIO_NONCE_LEN];
	/* role PEER: the group; role CLIENT: the session, or 0: see ddio_hello_session_set() */
	uint8_t group[DDIO_GROUP_ID_LEN];
	char cluster[DDIO_MAX_NAME + 1]; /* may be empty */
};

/* Says that this is connection number @number of a client's session. */
void ddio_hello_session_set(struct ddio_msg_hello *x, uint64_t session, uint64_t number);
void ddio_hello_session_get(const struct ddio_msg_hello *x, uint64_t *session, uint64_t *number);

struct ddio_msg_challenge {
	uint16_t version;
	uint16_t keyed; /* 1: proofs are required */
	uint32_t options, features;
	uint8_t nonce[DDIO_NONCE_LEN];
	uint8_t proof[DDIO_PROOF_LEN];
};

struct ddio_msg_proof {
	uint8_t proof[DDIO_PROOF_LEN];
};

/* Flags of a disk's identity. */
#define DDIO_DISK_FORGETS 0x1u /* it loses its data when it is closed */
#define DDIO_DISK_KNOWN 0x2u   /* the name space knows it in this life */
#define DDIO_DISK_REPLACE 0x4u /* FS_DISKS: somebody has said that it is to be accepted as it is */
#define DDIO_DISK_FLAGS (DDIO_DISK_FORGETS | DDIO_DISK_KNOWN | DDIO_DISK_REPLACE)

#define DDIO_UUID_LEN 16

/* A life is an ordinal number above so many random bits, which tell apart two that follow the same one. */
#define DDIO_LIFE_RANDOM 40

/* So many lives are remembered in which a disk did not hear that the name space has met it. */
#define DDIO_LIVES 8

/**
 * struct ddio_disk_id - which disk it is, and of which time
 * @disk: number in the cluster
 * @life: begins with a start of the daemon; no two are alike, later ones are greater
 * @n, @before: the lives in which the name space may have met it last, oldest first: the last one in which the disk
 *	heard so, and those that have begun since
 * @names: life of the name space that last knew it, or 0; @change: and that one's last change that it heard of
 * @lost: a file with a lower number that has no object here may have lost it
 * @seal: of a node, or of the name space, by the key that they alone have where users are told apart; else zeros
 */
struct ddio_disk_id {
	uint32_t disk;
	uint32_t flags;
	uint8_t uuid[DDIO_UUID_LEN];
	uint64_t life;
	uint32_t n;
	uint64_t before[DDIO_LIVES];
	uint64_t names, change;
	uint64_t lost;
	uint8_t seal[DDIO_MAC_LEN];
};

#define DDIO_DISKS_NAMES 0x1u /* FS_DISKS: the name space is to be accepted as it is */

/**
 * struct ddio_msg_disk_ids - disks of one node
 * @names: life of the name space; 0 if the sender does not serve it
 * @change: FS_DISKS' reply, DISKS_KNOWN: its last change that is durable
 * @ids: allocated by ddio_get_disk_ids(): ddio_disks_free()
 */
struct ddio_msg_disk_ids {
	uint32_t flags;
	uint32_t n;
	uint64_t names, change;
	struct ddio_disk_id *ids;
};

void ddio_msg_disk_ids_free(struct ddio_msg_disk_ids *x);

/**
 * struct ddio_msg_tags - OWED, and its reply: requests of a connection
 * @tags: @n of them, ascending; allocated by ddio_get_tags(): ddio_msg_tags_free()
 */
struct ddio_msg_tags {
	uint32_t n;
	uint64_t *tags;
};

void ddio_msg_tags_free(struct ddio_msg_tags *x);

/* So many incarnations of a node are remembered that ended in order. */
#define DDIO_ENDS 16

/**
 * struct ddio_ends - incarnations of a node that ended in order: nothing is lost of what a disk, or the name space, was
 *	given in them
 * @known: they are recorded, and whatever is not among them did not end so, or is older than all of them
 * @n, @boot: the last ones, the latest first
 */
struct ddio_ends {
	bool known;
	uint32_t n;
	uint64_t boot[DDIO_ENDS];
};

struct ddio_msg_welcome {
	uint32_t node;	    /* number of the node in the configuration */
	uint32_t nreactors; /* reactors of the node; disk d of the node lives on one of them */
	uint32_t reactor;   /* the one this connection ended on */
	uint32_t ndisks;    /* disks of the node */
	uint64_t boot;	    /* differs after every start of the daemon */
	struct ddio_welcome_disk {
		uint32_t disk; /* number in the cluster */
		uint32_t reactor;
		uint32_t sector;
		uint32_t reserved;
		uint64_t size;
		uint64_t peak;	      /* bytes a second of the disk's own time, 0 unknown */
		uint64_t scale_ppm;   /* time scale in millionths, 1000000 = life size */
	} * disks;		      /* allocated by ddio_get_welcome(): ddio_welcome_free() */
	struct ddio_msg_disk_ids ids; /* from reactor 0 of a node; else none */
	struct ddio_ends names_ends;  /* of the name space */
	struct ddio_ends *ends; /* of each of @ids; allocated as @disks is; NULL: none is told */
	char name[DDIO_MAX_NAME + 1];
};

struct ddio_msg_refuse {
	uint32_t status;
	char text[DDIO_MAX_TEXT];
};

enum ddio_layout {
	DDIO_LAYOUT_CONTIGUOUS_W = 0,
	DDIO_LAYOUT_RANDOM_BLOCKS_W = 1,
	DDIO_LAYOUT_RANDOM_TRACKS_W = 2,
	DDIO_LAYOUT_MAX_W = 3,
};

/**
 * struct ddio_file_ref - all that an I/O processor must know of a file to serve it
 * @id: never used twice
 * @seed: of the random layouts
 * @block: bytes of a file block, a power of two times 512 up to DDIO_MAX_BLOCK
 * @layout: enum ddio_layout
 * File block b lies on the stripe's disk b mod ndisks, as block b / ndisks of the object there.
 */
struct ddio_file_ref {
	uint64_t id;
	uint64_t seed;
	uint32_t block;
	uint32_t layout;
};

struct ddio_file_record {
	struct ddio_file_ref ref;
	uint64_t size;
	uint64_t ctime_ns, mtime_ns;
	uint32_t dying; /* 1: removal under way */
	uint32_t ndisks;
	uint32_t *disks; /* numbers in the cluster, stripe order; allocated by the decoder */
	char name[DDIO_MAX_NAME + 1];
};

void ddio_file_record_free(struct ddio_file_record *rec);

/* Names are paths from the root; uid and gid are the owner's. */
struct ddio_msg_ns_create {
	uint32_t flags; /* DDIO_NS_EXCL, DDIO_NS_DIR */
	uint32_t mode;	/* permissions */
	uint32_t uid, gid;
	struct ddio_file_record rec; /* id 0, times 0, no name; seed 0 lets the server choose */
	char path[DDIO_MAX_PATH + 1];
};
#define DDIO_NS_EXCL 0x1u
#define DDIO_NS_DIR 0x2u /* a directory; its name must be new, its stripe has no meaning */

struct ddio_msg_ns_name { /* LOOKUP; REMOVE (by id: an orphan).  The id counts if the path is empty */
	uint64_t id;
	char path[DDIO_MAX_PATH + 1];
};

struct ddio_msg_ns_epoch { /* EPOCH, COMMIT, DECIDED and their replies */
	uint64_t id;	   /* of the file */
	uint64_t epoch; /* not 0 but in EPOCH, and in its reply if there is an epoch to be settled */
	uint64_t settled; /* EPOCH: that every disk has settled; reply: that must be settled first; else 0 */
	uint64_t size;	/* COMMIT: where the write ends; replies: of the file */
	uint32_t flags; /* DDIO_EPOCH_* */
	uint32_t reserved;
};

/* Times the timeout: an epoch that nobody decides for so long is given up by nodes, and members know that it is. */
#define DDIO_EPOCH_PATIENCE 16

/* Flags of epochs. */
#define DDIO_EPOCH_GIVE_UP 0x1u	  /* DECIDED, COMMIT_FILES: if it is still open it is not to be */
#define DDIO_EPOCH_OPEN 0x2u	  /* its reply: not decided yet */
#define DDIO_EPOCH_COMMITTED 0x4u /* its reply; without both it is not, and never will be */
#define DDIO_EPOCH_MAX (UINT64_C(1) << 61)

/**
 * struct ddio_msg_ns_epochs - COMMIT_FILES and its reply: epochs of files that have one decision
 * @n: 1 to DDIO_EPOCH_FILES
 * @flags: DDIO_EPOCH_GIVE_UP, or 0
 * @epochs: as in COMMIT and its reply, by number of the file; allocated by ddio_get_ns_epochs(): ddio_msg_ns_epochs_free()
 */
struct ddio_msg_ns_epochs {
	uint32_t n, flags;
	struct ddio_msg_ns_epoch *epochs;
};

void ddio_msg_ns_epochs_free(struct ddio_msg_ns_epochs *x);

struct ddio_msg_ns_size { /* EXTEND, SET_SIZE, REMOVE_DONE (size unused) */
	uint64_t id;
	uint64_t size;
};

struct ddio_msg_ns_clone { /* CLONED; reply: the record */
	uint64_t id;	   /* of the clone */
	uint64_t size;
	uint32_t flags;		      /* DDIO_CLONE_* */
	uint32_t uid, gid;	      /* whose it will be; not with SNAP */
	char path[DDIO_MAX_PATH + 1]; /* its name; with SNAP that of the snapshot */
};
#define DDIO_CLONE_GIVE_UP 0x1u /* it gets no name, and whoever asks removes its objects */
#define DDIO_CLONE_SNAP 0x2u	/* it is a snapshot of the file that it is a clone of */
#define DDIO_CLONE_FROZEN 0x4u	/* with SNAP: its objects are frozen, and so it is */
#define DDIO_SNAP_DIR ".snaps"	/* below the root: directories named after the files' numbers */

struct ddio_msg_ns_list { /* request: files after @after, at most max */
	uint32_t max;
	uint32_t flags; /* DDIO_NS_ALL */
	uint64_t after_id;
	char dir[DDIO_MAX_PATH + 1];
	char after[DDIO_MAX_NAME + 1];
};
#define DDIO_NS_ALL 0x1u /* every file by number (@after_id), dying ones too, without names */

struct ddio_msg_ns_listing { /* reply */
	uint32_t n, more;
	struct ddio_file_record *recs; /* allocated: ddio_ns_listing_free() */
};

#define DDIO_OBJ_LEN 48 /* of the record below, in front of a question */
/* The fixed record of OBJ_READ, OBJ_WRITE (prefix of bulk), OBJ_TRUNCATE, OBJ_RESERVE, ... */
struct ddio_msg_obj {
	struct ddio_file_ref file;
	uint32_t disk;	 /* number in the cluster */
	uint32_t flags;	 /* DDIO_OBJ_* */
	uint64_t offset; /* byte in the object (EXTENTS, LIST: cursor) */
	uint64_t len;	 /* bytes (RESERVE: blocks; EXTENTS, LIST: most entries) */
	uint64_t stream; /* the reader's number; on the wire only with DDIO_OBJ_STREAM */
};
#define DDIO_OBJ_NO_PREFETCH 0x1u
#define DDIO_OBJ_ALL 0x2u    /* SYNC, DROP_CACHE: every file, every disk of the reactor */
#define DDIO_OBJ_REPAIR 0x4u /* FSCK: repair what can be repaired */
#define DDIO_OBJ_ZERO 0x8u   /* ALLOCATE: written bytes read as zeros, too */
/* READ: one of the reads that the client has given one number, such as those of an open file: the
 * cache reads ahead along sequential ones, not as in the papers. */
#define DDIO_OBJ_STREAM 0x10u
#define DDIO_OBJ_COMMIT \
	0x40u /* SETTLE: what the epoch has written becomes the file's; else it is dropped */
#define DDIO_OBJ_DURABLE 0x80u /* SETTLE: answered when that is recorded */
#define DDIO_OBJ_DROP 0x20u    /* FSCK, with REPAIR: what was lost reads as zeros from now on */
/* FSCK with this as disk: the records of the name space, on the node that serves it. */
#define DDIO_FSCK_NAMES UINT32_MAX

struct ddio_msg_obj_data {  /* fixed record of the OBJ_READ reply */
	uint64_t len;	    /* bytes of data that follow; holes are sent as zeros */
	uint32_t hit;	    /* 1: the data came from the cache */
	uint32_t disk_reqs; /* disk requests that the read caused */
};

struct ddio_wire_extent { /* EXTENTS reply: array */
	uint64_t block;	  /* first block in the object */
	uint64_t start;	  /* byte on the disk */
	uint64_t count;	  /* blocks */
	uint32_t flags;	  /* DDIO_EXTENT_* */
};
#define DDIO_EXTENT_UNWRITTEN 0x1u /* has space, reads as zeros */
struct ddio_msg_extents {
	uint32_t n, more;
	struct ddio_wire_extent *ext; /* allocated: free() */
};
struct ddio_msg_obj_list { /* LIST reply */
	uint32_t n, more;
	uint64_t *ids; /* allocated: free() */
};

struct ddio_msg_fsck { /* FSCK reply */
	uint64_t objects, extents, blocks, free_bytes, problems, repaired;
	char text[DDIO_MAX_TEXT]; /* the first problem */
};

struct ddio_msg_attach {
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint32_t rank, size;
	uint32_t handle; /* the member's own number for the group, echoed in DATA, WANT, DONE */
	uint32_t reserved;
};

/* Memory that goes with a crowd. */
struct crowd_held;

/* What a member gives with its description: bytes that are not the crowd's, in the order of the file. */
struct ddio_carried {
	uint32_t rank, len;
	const void *bytes;
};

/**
 * struct ddio_crowd - what the members from rank @first on want, as families; see crowd.h
 * @kind: enum ddio_part_kind; of all members' descriptions
 * @n: families
 * @entries: in the descriptions of all members together
 * @spread: DDIO_CROWD_*
 * @lo, @hi: bounds of what the members want that may spread it, or do; @hi 0: nothing
 * @carries: every member takes its part of a read with the verdict, and gives here what it writes
 * @carried: that, ascending by rank, of those that have any; @ncarried: their number
 */
struct ddio_crowd {
	uint32_t first, nmembers;
	uint32_t kind;
	uint32_t n, room;
	struct ddio_kin *kin;
	uint64_t entries;
	uint64_t lo, hi;
	uint32_t spread;
	bool carries;
	uint32_t ncarried;
	struct ddio_carried *carried;
	struct crowd_held *held;
};
/* The most bytes that all members' data have in a crowd. */
#define DDIO_CROWD_CARRIED (64u << 10)
#define DDIO_CROWD_MAY 0x1u    /* every member can tell I/O processors itself what it wants */
#define DDIO_CROWD_SPREAD 0x2u /* some are to: ddio_part_spread() of what stands for them */

/* The members' parts: one PART_ARRAY for all; else one for every member, or with FAMILIES @crowd. */
struct ddio_msg_coll_start {
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint64_t op; /* number of the collective in its group, from 1 */
	uint32_t flags;
	uint32_t nprocs;
	uint32_t buffers; /* per disk; 0: the daemon's default */
	uint32_t reserved;
	uint64_t timeout_ns;
	uint64_t file_size; /* at the start: a read asks for nothing beyond it */
	uint64_t epoch;	    /* ATOMIC: not 0 */
	struct ddio_file_record file;
	uint32_t nparts;	 /* 1 for an array; else nprocs; 0 with FAMILIES */
	struct ddio_part *parts; /* allocated with what they name: ddio_coll_start_free() */
	struct ddio_array array; /* parts[0].array points here */
	struct ddio_crowd crowd; /* of all members; owned */
};
#define DDIO_COLL_WRITE 0x1u
#define DDIO_COLL_SORT 0x2u	 /* presort by place on the disk (DDs) */
#define DDIO_COLL_ROTATE 0x4u	 /* start each disk's list at another block in file order */
#define DDIO_COLL_SYNC 0x8u	 /* durable before DONE */
#define DDIO_COLL_NO_BATCH 0x10u /* one message flushed at a time, as in TR94-226 */
#define DDIO_COLL_SATF 0x20u	 /* with SORT: shortest access time first, where disks know it */
#define DDIO_COLL_SHORT 0x40u	 /* a read: nothing at or beyond file_size is wanted */
#define DDIO_COLL_OVERLAP \
	0x80u /* bytes named more than once are the first's: lowest rank, then place */
#define DDIO_COLL_FAMILIES 0x100u /* the parts are a crowd */
#define DDIO_COLL_NO_SHARE 0x200u /* nothing goes through shared buffers */
#define DDIO_COLL_NEED \
	0x400u /* who has nothing at a reactor need not be attached to it, and hears no COLL_DONE of success */
#define DDIO_COLL_ATOMIC \
	0x800u /* with WRITE and SYNC: nothing of it is the file's before the epoch is decided */
#define DDIO_COLL_TELL 0x1000u /* who had something at a reactor hears of its success, too */
void ddio_coll_start_free(struct ddio_msg_coll_start *start);

struct ddio_msg_coll_data { /* prefix of COLL_DATA and COLL_PIECE */
	uint64_t op;
	uint64_t block; /* file block; the bytes are those of the member in it, clipped to bounds */
	uint32_t handle; /* COLL_DATA: the member's; COLL_PIECE: its rank */
	uint32_t disk;
	uint8_t group[DDIO_GROUP_ID_LEN];
};

struct ddio_msg_coll_want {
	uint64_t op;
	uint32_t handle;
	uint32_t n; /* 1 to DDIO_MAX_BATCH */
	struct ddio_want {
		uint64_t block;
		uint32_t disk;
		uint32_t reserved;
	} * want; /* allocated: free() */
};

struct ddio_msg_coll_done {
	uint64_t op;
	uint32_t handle;
	uint32_t status;
	uint32_t reactor;
	uint32_t lost_rank;		  /* MEMBER_LOST: the member's; else ~0 */
	uint64_t bytes_needed;		  /* by this reactor, distinct bytes */
	uint64_t disk_read, disk_written; /* bytes of disk traffic */
	uint64_t disk_requests;
	uint64_t messages;     /* to and from members */
	uint64_t cache_blocks; /* blocks taken from the cache because they were dirty */
	uint64_t wait_disk_ns, wait_members_ns;
	uint64_t elapsed_ns;
	uint64_t buffers;   /* block buffers used */
	uint64_t scattered; /* bytes of this member that went through the joint */
	char text[DDIO_MAX_TEXT];
};

struct ddio_msg_coll_abort {
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint64_t op;
	uint32_t status;
	uint32_t rank;
};

/* A mailbox on the sender's machine, and the token that a letter must carry to be believed. */
struct ddio_msg_joint {
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint8_t token[DDIO_TOKEN_LEN];
	char name[DDIO_MAX_MAILBOX];
};

struct ddio_msg_coll_join { /* COLL_JOIN, COLL_GO */
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint64_t op;
};

struct ddio_msg_coll_step { /* COLL_TELL, COLL_READY */
	uint64_t op;
	uint32_t handle; /* the member's */
	uint32_t reserved;
};

/* What a member wants that concerns one I/O processor. */
struct ddio_msg_coll_told {
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint64_t op;
	struct ddio_crowd crowd; /* of one member, a list; owned */
};
void ddio_coll_told_free(struct ddio_msg_coll_told *told);

/* As for a joint: where memory is to be sent to through which messages will go. */
struct ddio_msg_memory {
	uint8_t token[DDIO_TOKEN_LEN];
	char name[DDIO_MAX_MAILBOX];
};

/* As for a joint: asks for the buffers of the group at this reactor for reading, or for writing. */
struct ddio_msg_share {
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint8_t token[DDIO_TOKEN_LEN];
	uint32_t writing; /* 0 or 1 */
	uint32_t reserved;
	char name[DDIO_MAX_MAILBOX];
};

struct ddio_msg_share_taken {
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint32_t writing;
	uint32_t reserved;
};

/* A stream begins whose number, not 0, is none of those under way: to a reactor of a node of the cluster, as a broker is told. */
struct ddio_msg_mux_open {
	uint32_t id;
	uint32_t node;
	uint32_t reactor;
	uint32_t reserved;
};

/* In front of bytes of the stream; MUX_WINDOW: so many more bytes, 1 to DDIO_MUX_WINDOW, may come. */
struct ddio_msg_mux_data {
	uint32_t id;
	uint32_t reserved;
};

struct ddio_msg_mux_window {
	uint32_t id;
	uint32_t bytes;
};

/* In MUX_PARTS, in front of @bytes bytes of the stream; one part after the other, to the payload's end. */
struct ddio_msg_mux_part {
	uint32_t id;
	uint32_t bytes;
};

/* The sender's last message of the stream. */
struct ddio_msg_mux_end {
	uint32_t id;
	uint32_t status; /* OK: all that was written has been sent */
};

/* Asks for the showcase of a disk's cache; of a mailbox of the one who asks. */
struct ddio_msg_show {
	uint8_t token[DDIO_TOKEN_LEN];
	uint32_t disk; /* number in the cluster */
	uint32_t reserved;
	char name[DDIO_MAX_MAILBOX];
};

/* Blocks, or their messages, in shared buffers. */
struct ddio_msg_coll_slots {
	uint64_t op;
	uint32_t handle;
	uint32_t n; /* 1 to DDIO_MAX_BATCH */
	struct ddio_slot_at {
		uint64_t block;
		uint64_t offset; /* in the buffers: of the block's first byte; PACKED: of the message's */
		uint32_t disk;
		uint32_t len; /* of the member's message */
		uint32_t slot;
		uint32_t flags;
	} * at; /* allocated: free() */
};
#define DDIO_SLOT_PACKED 0x1u /* a write: the message is wanted as it would be sent, not in place */

struct ddio_msg_coll_copied {
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint64_t op;
	uint32_t rank;
	uint32_t n; /* 1 to DDIO_MAX_BATCH */
	struct ddio_copied {
		uint64_t block;
		uint32_t disk;
		uint32_t slot;
	} * copied; /* allocated: free() */
};

/* STATUS reply: node, then disks. */
struct ddio_disk_status {
	uint32_t disk, reactor;
	char name[DDIO_MAX_NAME + 1];
	char engine[32];
	uint64_t size, free;
	uint64_t reads, writes, read_bytes, write_bytes, errors;
	uint64_t cache_hits, cache_misses, prefetches, prefetch_used, prefetch_wasted;
	uint64_t cache_blocks, cache_dirty, cache_bytes;
	uint64_t queue, max_queue;
	uint64_t seeks, seek_ns, rotation_ns, buffer_hits, bus_wait_ns, busy_ns;
	uint64_t buffers,
		max_buffers; /* collective block buffers in use, most ever per collective */
	uint64_t objects;
	uint64_t scrub_mismatches,
		scrub_unread; /* blocks of the scrub under way, or the last one */
};
struct ddio_msg_status {
	uint32_t node, nreactors;
	uint64_t boot, uptime_ns;
	uint64_t collectives, requests, connections, refused;
	uint64_t memory_bytes; /* buffers and caches that the daemon accounts for */
	char name[DDIO_MAX_NAME + 1];
	uint32_t ndisks;
	struct ddio_disk_status *disks; /* allocated: ddio_status_free() */
};
void ddio_status_free(struct ddio_msg_status *st);

/**
 * struct ddio_bound_status - one bound of a node
 * @limit: of one holder; @now: in use by all; @most: that one ever had; @hits: how often somebody was held to it
 */
struct ddio_bound_status {
	char name[32];
	uint64_t limit, now, most, hits;
};

struct ddio_msg_bounds {
	uint32_t n;
	struct ddio_bound_status *bound; /* allocated: free() */
};

struct ddio_msg_job {
	char name[DDIO_MAX_JOB + 1];
};

/**
 * struct ddio_msg_user - whose connection this is
 * @kind: enum ddio_user_kind; @cred: @len bytes in the payload, 1 to DDIO_MAX_CREDENTIAL
 */
struct ddio_msg_user {
	uint32_t kind;
	uint32_t len;
	const void *cred;
};
enum ddio_user_kind {
	DDIO_USER_MUNGE = 1,  /* a credential of munge, whose payload is the connection's tie */
	DDIO_USER_SERVER = 2, /* a daemon: a MAC of the tie, by the key that daemons share */
};

/**
 * struct ddio_msg_grant - what a user may do with a file, until when; GRANT and RENEW
 * @rights: DDIO_GRANT_*
 * @uid: whose it is
 * @until_ns: since 1970
 * @mac: of all this, by the key that daemons share
 */
struct ddio_msg_grant {
	uint64_t file;
	uint32_t rights;
	uint32_t uid;
	uint64_t until_ns;
	uint8_t mac[DDIO_MAC_LEN];
};
#define DDIO_GRANT_READ 0x1u
#define DDIO_GRANT_WRITE 0x2u
#define DDIO_GRANT_REMOVE 0x4u /* its last name is gone: its objects */
#define DDIO_GRANT_RIGHTS (DDIO_GRANT_READ | DDIO_GRANT_WRITE | DDIO_GRANT_REMOVE)
#define DDIO_GRANT_LEN 56
#define DDIO_GRANT_SIGNED 24
/* Of each connection both ends remember so many grants, that of a file at its number modulo this. */
#define DDIO_GRANT_PLACES 16u

/**
 * struct ddio_job_status - what a job has asked a node for
 * @name: "": connections that have named none
 * @connections: now
 * @requests: but for collectives; @read_bytes, @write_bytes: by them, through the cache
 * @collectives: parts of reactors of them; @coll_read_bytes, @coll_write_bytes: distinct bytes
 * @told: how often it has said that something from the node did not match its checksum
 */
struct ddio_job_status {
	char name[DDIO_MAX_JOB + 1];
	uint64_t connections, requests, read_bytes, write_bytes;
	uint64_t collectives, coll_read_bytes, coll_write_bytes;
	uint64_t told;
};

struct ddio_msg_jobs {
	uint32_t n;
	struct ddio_job_status *job; /* allocated: free() */
};

/**
 * struct ddio_msg_wrong - what a client got from a reactor and did not match its checksum, since it was told last
 * @flags: DDIO_WRONG_*
 * @count: messages
 * @disk, @file, @block: PLACE: what the last one had of which object: its block @block
 */
struct ddio_msg_wrong {
	uint32_t flags, disk;
	uint64_t file, block, count;
};
#define DDIO_WRONG_PLACE 0x1u

/**
 * struct ddio_msg_scrub_ask - what a scrub of a disk is to do
 * @flags: DDIO_SCRUB_ASK_*; neither BEGIN nor END: only tell
 * @rate: BEGIN: bytes a second; 0: as many as the disk gives while nobody else uses it
 */
struct ddio_msg_scrub_ask {
	uint32_t disk, flags;
	uint64_t rate;
};
#define DDIO_SCRUB_ASK_BEGIN 0x1u
#define DDIO_SCRUB_ASK_END 0x2u
#define DDIO_SCRUB_ASK_LACKING 0x4u /* BEGIN: look only at blocks that lack a checksum */

/**
 * struct ddio_msg_scrub - how far it is
 * @flags: DDIO_SCRUB_RUNS
 * @begun: when this pass, or the last one, did, nanoseconds since 1970; 0: never
 * @ended: when the last one that came to its end did, 0: never
 * @used: bytes of the disk that are taken; @done: read by this pass
 * @bad: checksums that differed; @unread: blocks that could not be read; @given: checksums made for blocks that had none
 * @rate: bytes a second, 0: no limit
 */
struct ddio_msg_scrub {
	uint32_t flags;
	uint64_t begun, ended, used, done, bad, unread, given, rate;
};
#define DDIO_SCRUB_RUNS 0x1u

/**
 * struct ddio_msg_trace_ask - what is to be recorded, or told of it
 * @action: enum ddio_trace_action
 * @most: BEGIN: how many collectives; of each reactor, those that begin first
 * @op: BEGIN: none of a lower number within its group
 * @job, @file: BEGIN: whose, and of which file; "": of any
 * @reactor, @from: READ: from which event of which reactor on
 */
struct ddio_msg_trace_ask {
	uint32_t action, most;
	uint32_t reactor, from;
	uint64_t op;
	char job[DDIO_MAX_JOB + 1];
	char file[DDIO_MAX_NAME + 1];
};
#define DDIO_TRACE_COLLS 16u /* @most at most */

enum ddio_trace_action {
	DDIO_TRACE_BEGIN = 1,
	DDIO_TRACE_READ = 2,
	DDIO_TRACE_END = 3,
};

enum ddio_trace_kind {
	DDIO_TRACE_STATE = 1, /* the collective: @what is enum ddio_trace_state */
	DDIO_TRACE_SLOT = 2,  /* a slot: @what is enum ddio_trace_slot; @place: the block */
	DDIO_TRACE_ASK = 3, /* write, a slot: @what is enum ddio_trace_pieces; @place: the block */
	DDIO_TRACE_DISK =
		4, /* a request begins; @what: 0 read, 1 write; @place: byte of the disk */
	DDIO_TRACE_DISK_END = 5, /* it ends, well or not */
	DDIO_TRACE_SENT = 6,	 /* to @rank; @what: opcode; @place: the block, or how many */
	DDIO_TRACE_CAME = 7,	 /* from @rank; the same */
};

enum ddio_trace_state { /* of a collective on a reactor */
			DDIO_TRACE_PLANNING,
			DDIO_TRACE_DOUBTING,
			DDIO_TRACE_RUNNING,
			DDIO_TRACE_COMMITTING,
			DDIO_TRACE_STOPPING,
			DDIO_TRACE_RELEASING,
			DDIO_TRACE_OVER,
			DDIO_TRACE_STATES
};

enum ddio_trace_slot { /* of a slot */
		       DDIO_TRACE_IDLE,
		       DDIO_TRACE_LOCKING,
		       DDIO_TRACE_FEEDING,
		       DDIO_TRACE_READING,
		       DDIO_TRACE_RECORDING,
		       DDIO_TRACE_WRITING,
		       DDIO_TRACE_SENDING,
		       DDIO_TRACE_SLOTS
};

enum ddio_trace_pieces { /* of a slot's next block */
			 DDIO_TRACE_NONE,
			 DDIO_TRACE_TAKEN,
			 DDIO_TRACE_ASKED,
			 DDIO_TRACE_READY,
			 DDIO_TRACE_PIECES
};

/**
 * struct ddio_trace_event - something that happened to a collective on a reactor
 * @ns: when, by the node's clock
 * @len: bytes of the block, or of the message's data
 * @slot: DDIO_TRACE_NO_SLOT: the block goes past the slots; of a message: its way, enum conn_way
 * @coll: which of the reactor's collectives
 */
struct ddio_trace_event {
	uint64_t ns, place;
	uint32_t len, rank, disk;
	uint16_t slot, kind, what, coll;
};
#define DDIO_TRACE_NO_SLOT 0xffffu

/**
 * struct ddio_trace_coll - a collective of which a reactor has recorded something
 * @op: its number within the group
 * @status: how it ended; the counters are those of COLL_DONE; both once it is over
 */
struct ddio_trace_coll {
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint64_t op;
	uint32_t nprocs, block, flags, status;
	uint64_t bytes_needed, disk_requests, disk_read, disk_written, messages;
	uint64_t wait_disk_ns, wait_members_ns;
	char job[DDIO_MAX_JOB + 1];
	char file[DDIO_MAX_NAME + 1];
};
#define DDIO_TRACE_WRITE 0x1u
#define DDIO_TRACE_ENDED 0x2u

/**
 * struct ddio_msg_trace - what a reactor has recorded
 * @now: the node's clock
 * @nreactors: of the node
 * @total: events; @lost: others, for which there was no room
 * @n: of them, from the one on that was asked for
 */
struct ddio_msg_trace {
	uint64_t now, lost;
	uint32_t nreactors, ncolls, total, n;
	struct ddio_trace_coll *coll;	/* allocated: ddio_trace_free() */
	struct ddio_trace_event *event; /* allocated */
};
#define DDIO_TRACE_PAGE 1024u /* @n at most */
void ddio_trace_free(struct ddio_msg_trace *x);

/* Adds an incarnation as the latest; the oldest one goes if there are too many. */
void ddio_ends_add(struct ddio_ends *ends, uint64_t boot);
bool ddio_ends_has(const struct ddio_ends *ends, uint64_t boot);
void ddio_welcome_free(struct ddio_msg_welcome *w);
void ddio_ns_listing_free(struct ddio_msg_ns_listing *l);

struct ddio_msg_group_join {
	uint8_t group[DDIO_GROUP_ID_LEN]; /* all zero: the rendezvous decides */
	uint32_t rank, size;
	char addr[DDIO_MAX_ADDR];
};
struct ddio_group_addr {
	uint32_t rank;
	char addr[DDIO_MAX_ADDR];
};
/* The addresses of some or all members of a group. */
struct ddio_msg_group_table {
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint32_t size, n;
	struct ddio_group_addr *entry; /* ascending by rank; allocated: free() */
};

/* FAN_IN and FAN_OUT: a step of a barrier-like operation in a group. */
struct ddio_msg_fan {
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint64_t seq;	  /* number of the step in the group */
	uint32_t kind;	  /* an enum of the compute processes */
	uint32_t rank;	  /* sender */
	uint32_t status;  /* agreed or proposed verdict */
	uint32_t blame;	  /* rank or node that the verdict is about; ~0: none */
	uint64_t len;	  /* of data */
	const void *data; /* points into the payload */
	char text[DDIO_MAX_TEXT];
};

struct ddio_msg_exchange { /* prefix of EXCHANGE */
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint64_t op;
	uint64_t lo, hi; /* range of the file; its message follows */
	uint32_t rank;	 /* sender */
	uint32_t reserved;
};

enum ddio_counter_action {
	DDIO_COUNTER_ADD = 1,
	DDIO_COUNTER_SET = 2,
	DDIO_COUNTER_MAX = 3,
};

struct ddio_msg_counter { /* COUNTER_IN and COUNTER_OUT */
	uint8_t group[DDIO_GROUP_ID_LEN];
	uint64_t counter; /* number of the turn that made it */
	uint64_t number;  /* of the request, from 1 for each rank */
	uint64_t value;	  /* IN: to be added, or set; OUT: what it was before; signed */
	uint32_t rank;	  /* who asks */
	uint32_t action;  /* enum ddio_counter_action */
	uint32_t status;  /* OUT: OK, RANGE or STALE */
	uint32_t reserved;
};

/* Encodes a member's part as bytes of its own, for fan-in. */
ssize_t ddio_put_part(void *buf, size_t cap, const struct ddio_part *part);
/* Allocates what the part names: ddio_part_free(). @used: bytes consumed. */
int ddio_get_part(const void *buf, size_t len, struct ddio_part *part, size_t *used);
void ddio_part_free(struct ddio_part *part);
ssize_t ddio_put_record(void *buf, size_t cap, const struct ddio_file_record *rec);
int ddio_get_record(const void *buf, size_t len, struct ddio_file_record *rec, size_t *used);

#define DDIO_PROTO_CODEC(name, type)                                          \
	ssize_t ddio_put_##name(void *buf, size_t cap, const struct type *x); \
	int ddio_get_##name(const void *buf, size_t len, struct type *x)

DDIO_PROTO_CODEC(hello, ddio_msg_hello);
DDIO_PROTO_CODEC(challenge, ddio_msg_challenge);
DDIO_PROTO_CODEC(proof, ddio_msg_proof);
DDIO_PROTO_CODEC(welcome, ddio_msg_welcome);
DDIO_PROTO_CODEC(disk_ids, ddio_msg_disk_ids);
DDIO_PROTO_CODEC(tags, ddio_msg_tags);
DDIO_PROTO_CODEC(refuse, ddio_msg_refuse);
DDIO_PROTO_CODEC(ns_create, ddio_msg_ns_create);
DDIO_PROTO_CODEC(ns_name, ddio_msg_ns_name);
DDIO_PROTO_CODEC(ns_size, ddio_msg_ns_size);
DDIO_PROTO_CODEC(ns_epoch, ddio_msg_ns_epoch);
DDIO_PROTO_CODEC(ns_epochs, ddio_msg_ns_epochs);
DDIO_PROTO_CODEC(ns_clone, ddio_msg_ns_clone);
DDIO_PROTO_CODEC(ns_list, ddio_msg_ns_list);
DDIO_PROTO_CODEC(ns_listing, ddio_msg_ns_listing);
DDIO_PROTO_CODEC(obj, ddio_msg_obj);
DDIO_PROTO_CODEC(obj_data, ddio_msg_obj_data);
DDIO_PROTO_CODEC(extents, ddio_msg_extents);
DDIO_PROTO_CODEC(obj_list, ddio_msg_obj_list);
DDIO_PROTO_CODEC(fsck, ddio_msg_fsck);
DDIO_PROTO_CODEC(attach, ddio_msg_attach);
DDIO_PROTO_CODEC(coll_start, ddio_msg_coll_start);
DDIO_PROTO_CODEC(coll_data, ddio_msg_coll_data);
DDIO_PROTO_CODEC(coll_want, ddio_msg_coll_want);
DDIO_PROTO_CODEC(coll_done, ddio_msg_coll_done);
DDIO_PROTO_CODEC(coll_abort, ddio_msg_coll_abort);
DDIO_PROTO_CODEC(joint, ddio_msg_joint);
DDIO_PROTO_CODEC(coll_join, ddio_msg_coll_join);
DDIO_PROTO_CODEC(coll_step, ddio_msg_coll_step);
DDIO_PROTO_CODEC(coll_told, ddio_msg_coll_told);
DDIO_PROTO_CODEC(memory, ddio_msg_memory);
DDIO_PROTO_CODEC(share, ddio_msg_share);
DDIO_PROTO_CODEC(share_taken, ddio_msg_share_taken);
DDIO_PROTO_CODEC(show, ddio_msg_show);
DDIO_PROTO_CODEC(mux_open, ddio_msg_mux_open);
DDIO_PROTO_CODEC(mux_data, ddio_msg_mux_data);
DDIO_PROTO_CODEC(mux_window, ddio_msg_mux_window);
DDIO_PROTO_CODEC(mux_part, ddio_msg_mux_part);
DDIO_PROTO_CODEC(mux_end, ddio_msg_mux_end);
DDIO_PROTO_CODEC(coll_slots, ddio_msg_coll_slots);
DDIO_PROTO_CODEC(coll_copied, ddio_msg_coll_copied);
DDIO_PROTO_CODEC(status, ddio_msg_status);
DDIO_PROTO_CODEC(bounds, ddio_msg_bounds);
DDIO_PROTO_CODEC(user, ddio_msg_user);
DDIO_PROTO_CODEC(grant, ddio_msg_grant);
DDIO_PROTO_CODEC(job, ddio_msg_job);
DDIO_PROTO_CODEC(jobs, ddio_msg_jobs);
DDIO_PROTO_CODEC(wrong, ddio_msg_wrong);
DDIO_PROTO_CODEC(scrub_ask, ddio_msg_scrub_ask);
DDIO_PROTO_CODEC(scrub, ddio_msg_scrub);
DDIO_PROTO_CODEC(trace_ask, ddio_msg_trace_ask);
DDIO_PROTO_CODEC(trace, ddio_msg_trace);
DDIO_PROTO_CODEC(group_join, ddio_msg_group_join);
DDIO_PROTO_CODEC(group_table, ddio_msg_group_table);
DDIO_PROTO_CODEC(fan, ddio_msg_fan);
/* All of it but the data, which follow. */
ssize_t ddio_put_fan_head(void *buf, size_t cap, const struct ddio_msg_fan *x);
DDIO_PROTO_CODEC(exchange, ddio_msg_exchange);
DDIO_PROTO_CODEC(counter, ddio_msg_counter);

/* Returns true if @block can be the size of a file block. */
bool ddio_block_ok(uint32_t block);
/* Returns true if @mode is one of the seven types and permissions, and nothing else. */
bool ddio_mode_ok(uint32_t mode);

#include "proto/proto_fs.h"

#endif /* DDIO_PROTO_H */
