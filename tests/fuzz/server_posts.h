/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests of a mount that are made of the fuzzer's bytes; part of fuzz_server.c. */
#ifndef DDIO_TEST_SERVER_POSTS_H
#define DDIO_TEST_SERVER_POSTS_H

#include <string.h>
#include <sys/stat.h>
#include <ddio/fs.h>
#include "conn/conn.h"
#include "proto/proto_fs.h"

#define SMALL 65536

enum {
	INODES = 24,
	FIRST_INODE = 16,
	BLOCK = 4096,
	DATA_MAX = 3 * BLOCK,
};

/**
 * struct fuzz_mount - one connection, as a mount has it
 * @sent, @answered: requests; @waits: those for locks, which need not be answered
 */
struct fuzz_mount {
	struct ddio_conn *conn;
	bool ready, closed;
	uint32_t sent, answered, waits;
	uint32_t status;
	uint8_t reply[SMALL];
	size_t len;
	uint8_t bulk[DDIO_MAX_SMALL];
	struct iovec iov;
};

struct fuzz_reader {
	const uint8_t *at, *end;
};

/* Sends a request; a length below 0 is one that cannot be encoded. */
static void post(struct fuzz_mount *m, uint16_t opcode, const void *fixed, ssize_t len,
		 const void *bulk, size_t bulk_len);

static uint64_t seq_last;

static uint8_t take(struct fuzz_reader *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

static uint64_t take_ino(struct fuzz_reader *in)
{
	uint8_t b = take(in);

	return b < 64	  ? DDIO_FS_ROOT
	       : b == 255 ? UINT64_MAX / 3
			  : FIRST_INODE + (uint64_t)(b % INODES);
}

static uint64_t take_size(struct fuzz_reader *in)
{
	uint8_t b = take(in);

	return b == 255 ? 1ull << 61 : b == 254 ? 1ull << 40 : (uint64_t)b * 1021;
}

static void take_name(struct fuzz_reader *in, char *name)
{
	uint8_t b = take(in);

	memset(name, 0, DDIO_MAX_NAME + 1);
	if (b == 255)
		memset(name, 'x', DDIO_MAX_NAME);
	else if (b > 250)
		strcpy(name, b & 1 ? "." : "..");
	else
		name[0] = (char)('a' + b % 8);
}

static void take_seq(struct fuzz_reader *in, struct ddio_fs_seq *seq)
{
	uint8_t b = take(in);

	/* Some are made again. */
	if (b < 128)
		return;
	if (b < 240)
		seq_last++;
	seq->seq = seq_last;
	seq->upto = seq_last > 5 ? seq_last - 5 : 0;
}

static uint32_t take_mode(struct fuzz_reader *in)
{
	static const uint32_t types[] = { S_IFREG, S_IFREG, S_IFDIR, S_IFDIR,
					  S_IFLNK, S_IFIFO, S_IFBLK, S_IFSOCK };
	uint8_t b = take(in);

	return types[b % 8] | (uint32_t)b << 4;
}

#define POST(m, op, codec, x)                                           \
	do {                                                            \
		ssize_t len_ = ddio_put_##codec(buf, sizeof(buf), (x)); \
		post((m), DDIO_OP_##op, buf, len_, NULL, 0);            \
	} while (0)

static uint8_t buf[SMALL];

static void post_make(struct fuzz_mount *m, struct fuzz_reader *in)
{
	struct ddio_msg_fs_make x = { .uid = 1 };

	take_seq(in, &x.seq);
	x.parent = take_ino(in);
	x.mode = take_mode(in);
	take_name(in, x.name);
	x.flags = take(in) & 3;
	if (S_ISLNK(x.mode))
		strcpy(x.target, "target");
	POST(m, FS_MAKE, fs_make, &x);
}

static void post_name(struct fuzz_mount *m, struct fuzz_reader *in, bool unlink)
{
	struct ddio_msg_fs_name x = { .flags = 0 };

	if (unlink)
		take_seq(in, &x.seq);
	x.parent = take_ino(in);
	take_name(in, x.name);
	x.flags = unlink ? take(in) & DDIO_FS_UNLINK_DIR : 0;
	if (unlink)
		POST(m, FS_UNLINK, fs_name, &x);
	else
		POST(m, FS_LOOKUP, fs_name, &x);
}

static void post_link(struct fuzz_mount *m, struct fuzz_reader *in)
{
	struct ddio_msg_fs_link x = { .ino = 0 };

	take_seq(in, &x.seq);
	x.ino = take_ino(in);
	x.parent = take_ino(in);
	take_name(in, x.name);
	POST(m, FS_LINK, fs_link, &x);
}

static void post_rename(struct fuzz_mount *m, struct fuzz_reader *in)
{
	struct ddio_msg_fs_rename x = { .flags = 0 };

	take_seq(in, &x.seq);
	x.parent = take_ino(in);
	x.new_parent = take_ino(in);
	take_name(in, x.name);
	take_name(in, x.new_name);
	x.flags = take(in) & 3;
	POST(m, FS_RENAME, fs_rename, &x);
}

static void post_setattr(struct fuzz_mount *m, struct fuzz_reader *in)
{
	struct ddio_msg_fs_setattr x = { .ino = take_ino(in) };

	x.mask = take(in) | (uint32_t)take(in) << 8;
	x.mode = take_mode(in);
	x.uid = take(in);
	x.size = take_size(in);
	x.atime.tv_sec = take(in);
	POST(m, FS_SETATTR, fs_setattr, &x);
}

static void post_xattr(struct fuzz_mount *m, struct fuzz_reader *in)
{
	static const char *const names[] = { "user.a",
					     "user.b",
					     "ddio.stripe",
					     "ddio.disks",
					     "ddio.layout",
					     "system.posix_acl_access",
					     "system.posix_acl_default",
					     "trusted.x" };
	static const char *const values[] = { "64K", "0-1", "1", "random-blocks", "contiguous", "" };
	struct ddio_msg_fs_xattr x = { .flags = 0 };
	const char *value;
	uint8_t op;

	take_seq(in, &x.seq);
	x.ino = take_ino(in);
	strcpy(x.name, names[take(in) % 8]);
	op = take(in) % 4;
	x.flags = op > 1 ? take(in) & 7 : 0;
	if (op > 1) {
		value = values[take(in) % 6];
		x.value = value;
		x.len = (uint32_t)strlen(value);
		if (take(in) & 1) {
			x.value = in->at;
			x.len = (uint32_t)(in->end - in->at < 60 ? in->end - in->at : 60);
		}
		POST(m, FS_SETXATTR, fs_xattr, &x);
	} else if (op) {
		POST(m, FS_REMOVEXATTR, fs_xattr, &x);
	} else {
		POST(m, FS_GETXATTR, fs_xattr, &x);
	}
}

/* Posts requests that name an inode and little else. */
static void post_ino(struct fuzz_mount *m, struct fuzz_reader *in)
{
	static const uint16_t ops[] = { DDIO_OP_FS_GETATTR,   DDIO_OP_FS_READLINK,
					DDIO_OP_FS_LISTXATTR, DDIO_OP_FS_RELEASE,
					DDIO_OP_FS_GONE,      DDIO_OP_FS_LOCK_CANCEL };
	uint8_t op = take(in) % 6;
	struct ddio_msg_fs_ino x = { .ino = take_ino(in) };

	post(m, ops[op], buf, ddio_put_fs_ino(buf, sizeof(buf), &x), NULL, 0);
}

static void post_open(struct fuzz_mount *m, struct fuzz_reader *in)
{
	struct ddio_msg_fs_open x = { .ino = take_ino(in), .flags = take(in) & 3 };

	POST(m, FS_OPEN, fs_open, &x);
}

static void post_data(struct fuzz_mount *m, struct fuzz_reader *in)
{
	struct ddio_msg_fs_wrote wrote = { .ino = take_ino(in) };
	struct ddio_msg_fs_append append = { .len = 1 };
	struct ddio_msg_fs_alloc alloc = { .alloc = 4096 };

	wrote.flags = take(in) & 7;
	wrote.end = take_size(in);
	append.ino = wrote.ino;
	append.len += wrote.end;
	alloc.ino = wrote.ino;
	alloc.change = take(in);
	switch (take(in) % 4) {
	case 0:
		take_seq(in, &append.seq);
		POST(m, FS_APPEND, fs_append, &append);
		break;
	case 1:
		POST(m, FS_ALLOC, fs_alloc, &alloc);
		break;
	default:
		POST(m, FS_WROTE, fs_wrote, &wrote);
	}
}

static void post_list(struct fuzz_mount *m, struct fuzz_reader *in)
{
	struct ddio_msg_fs_readdir x = { .ino = take_ino(in) };

	x.cookie = take(in);
	x.max = 1u + take(in);
	x.flags = take(in) & 1;
	if (take(in) & 1)
		POST(m, FS_READDIR, fs_readdir, &x);
	else
		POST(m, FS_ORPHANS, fs_readdir, &x);
}

static void post_lock(struct fuzz_mount *m, struct fuzz_reader *in)
{
	struct ddio_msg_fs_lock x = { .ino = take_ino(in), .id = take(in) % 4 };
	struct ddio_msg_fs_owner owner = { .ino = x.ino };

	x.start = take(in);
	x.end = x.start + take_size(in);
	x.owner = take(in) % 3;
	owner.owner = x.owner;
	x.type = take(in) % 3;
	x.flags = take(in) & 7;
	switch (take(in) % 4) {
	case 0:
		POST(m, FS_LOCK_TEST, fs_lock, &x);
		break;
	case 1:
		POST(m, FS_UNLOCK_OWNER, fs_owner, &owner);
		break;
	default:
		m->waits++;
		POST(m, FS_LOCK_SET, fs_lock, &x);
	}
}

static void post_nothing(struct fuzz_mount *m, struct fuzz_reader *in)
{
	post(m, take(in) & 1 ? DDIO_OP_FS_SYNC : DDIO_OP_FS_SPACE, NULL, 0, NULL, 0);
}

static void post_object(struct fuzz_mount *m, struct fuzz_reader *in)
{
	static const uint16_t ops[] = {
		DDIO_OP_OBJ_WRITE,    DDIO_OP_OBJ_WRITE, DDIO_OP_OBJ_READ,     DDIO_OP_OBJ_SYNC,
		DDIO_OP_OBJ_TRUNCATE, DDIO_OP_OBJ_PUNCH, DDIO_OP_OBJ_ALLOCATE, DDIO_OP_OBJ_REMOVE,
		DDIO_OP_OBJ_EXTENTS,  DDIO_OP_OBJ_LIST,	 DDIO_OP_OBJ_STAT,     DDIO_OP_OBJ_RESERVE
	};
	static const uint8_t zeros[DATA_MAX];
	uint16_t op = ops[take(in) % 12];
	struct ddio_msg_obj x = { .file = { .id = take_ino(in), .seed = 1, .block = BLOCK } };

	x.disk = take(in) % 3;
	x.offset = take_size(in);
	x.len = 1 + take_size(in);
	x.flags = take(in) & DDIO_OBJ_ZERO;
	x.file.layout = take(in) & 1;
	if (op == DDIO_OP_OBJ_WRITE || op == DDIO_OP_OBJ_READ)
		x.len %= DATA_MAX;
	if (op == DDIO_OP_OBJ_READ && !(x.len = x.len ? x.len : 1))
		return;
	post(m, op, buf, ddio_put_obj(buf, sizeof(buf), &x), zeros,
	     op == DDIO_OP_OBJ_WRITE ? x.len : 0);
}

static void post_copy(struct fuzz_mount *m, struct fuzz_reader *in)
{
	struct ddio_msg_obj_copy x = { .from = { .id = take_ino(in), .seed = 1, .block = BLOCK } };

	x.to = (struct ddio_file_ref){ .id = take_ino(in), .seed = 1, .block = BLOCK };
	x.disk = take(in) % 3;
	x.from_offset = take_size(in);
	x.to_offset = take_size(in);
	x.len = take_size(in);
	POST(m, OBJ_COPY, obj_copy, &x);
}

/* Clones, with holds that last for a while, of few numbers. */
static void post_clone(struct fuzz_mount *m, struct fuzz_reader *in)
{
	struct ddio_msg_obj_clone x = { .from = { .id = take_ino(in), .seed = 1, .block = BLOCK } };
	struct ddio_msg_obj hold = { .file = x.from };
	struct ddio_msg_ns_clone named = { .id = take_ino(in), .path = "clone" };
	const struct ddio_msg_ns_size begin = { .id = x.from.id };

	x.to = (struct ddio_file_ref){ .id = named.id, .seed = 1, .block = BLOCK };
	x.disk = hold.disk = take(in) % 3;
	x.hold = hold.offset = 1 + take(in) % 2;
	hold.len = take(in);
	x.len = named.size = take_size(in);
	switch (take(in) % 4) {
	case 0:
		POST(m, OBJ_HOLD, obj, &hold);
		break;
	case 1:
		if (x.to.id != x.from.id)
			POST(m, OBJ_CLONE, obj_clone, &x);
		break;
	case 2:
		POST(m, NS_CLONE, ns_size, &begin);
		break;
	default:
		named.flags = take(in) & DDIO_CLONE_SNAP;
		POST(m, NS_CLONED, ns_clone, &named);
	}
}

/* Has a part of some file mended. */
static void post_mend(struct fuzz_mount *m, struct fuzz_reader *in)
{
	struct ddio_msg_obj_mend x = { .file = { .id = take_ino(in), .seed = 1, .block = BLOCK } };
	const struct ddio_msg_obj space = { .disk = x.disk };

	x.disk = take(in) % 3;
	x.at = take_size(in);
	x.longest = take_size(in);
	x.rate = (uint64_t)take(in) << 20;
	if (take(in) & 1)
		POST(m, OBJ_MEND, obj_mend, &x);
	else
		POST(m, DISK_SPACE, obj, &space);
}

/* Posts any bytes. */
static void post_raw(struct fuzz_mount *m, struct fuzz_reader *in)
{
	uint16_t opcode = take(in) & 1 ? DDIO_OP_FS_ATTACH + take(in) % 34
				       : DDIO_OP_OBJ_READ + take(in) % 16;
	size_t len = take(in), left = (size_t)(in->end - in->at);
	struct ddio_msg msg = { .opcode = opcode };

	len = len < left ? len : left;
	msg.length = len;
	/* What no sender could send is for another fuzzer. */
	if (ddio_msg_check(&msg) || ddio_opcode_bulk_prefix(opcode, false))
		return;
	m->waits++;
	post(m, opcode, in->at, (ssize_t)len, NULL, 0);
	in->at += len;
}

static void one(struct fuzz_mount *m, struct fuzz_reader *in)
{
	switch (take(in) % 20) {
	case 0 ... 3:
		post_make(m, in);
		break;
	case 4:
		post_name(m, in, false);
		break;
	case 5 ... 6:
		post_name(m, in, true);
		break;
	case 7:
		post_link(m, in);
		break;
	case 8 ... 9:
		post_rename(m, in);
		break;
	case 10:
		post_setattr(m, in);
		break;
	case 11:
		post_xattr(m, in);
		break;
	case 12:
		post_ino(m, in);
		break;
	case 13:
		post_open(m, in);
		break;
	case 14:
		post_data(m, in);
		break;
	case 15:
		post_list(m, in);
		break;
	case 16:
		post_lock(m, in);
		break;
	case 17:
		post_object(m, in);
		break;
	case 18:
		switch (take(in) % 3) {
		case 0:
			post_clone(m, in);
			break;
		case 1:
			post_copy(m, in);
			break;
		default:
			post_mend(m, in);
		}
		break;
	default:
		if (take(in) & 1)
			post_raw(m, in);
		else
			post_nothing(m, in);
	}
}

#endif /* DDIO_TEST_SERVER_POSTS_H */
