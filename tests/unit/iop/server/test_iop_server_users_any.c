// SPDX-License-Identifier: GPL-2.0-only
/*
 * Users that the node tells apart, and what the rows of test_iop_server_users.c leave: every opcode is somebody's, and what anybody
 * may send does nothing to Alice's files, group, locks and memory, and tells nothing of them, whatever it names.
 */
#include "proto/crowd.h"
#include "proto/past/past.h"
#include "tests/unit/iop/server/users_world.h"

/*
 * Every opcode
 */
/* Of the opening, and of memory through which messages go, which every connection handles below users. */
static const uint16_t of_connections[] = { DDIO_OP_HELLO,   DDIO_OP_CHALLENGE, DDIO_OP_PROOF,
					   DDIO_OP_WELCOME, DDIO_OP_REFUSE,    DDIO_OP_MEMORY,
					   DDIO_OP_MOVED };

/* Sent by nodes to members of groups, and by members to one another (test_cp_users.c). */
static const uint16_t of_members[] = { DDIO_OP_ENDED,	   DDIO_OP_COLL_DATA,  DDIO_OP_COLL_WANT,
				       DDIO_OP_COLL_DONE,  DDIO_OP_COLL_TELL,  DDIO_OP_COLL_READY,
				       DDIO_OP_COLL_SLOTS, DDIO_OP_GROUP_JOIN, DDIO_OP_GROUP_TABLE,
				       DDIO_OP_FAN_IN,	   DDIO_OP_FAN_OUT,    DDIO_OP_GROUP_ABORT,
				       DDIO_OP_EXCHANGE,   DDIO_OP_COUNTER_IN, DDIO_OP_COUNTER_OUT,
				       DDIO_OP_FAN_AGAIN,  DDIO_OP_MUX_OPEN,   DDIO_OP_MUX_DATA,
				       DDIO_OP_MUX_WINDOW, DDIO_OP_MUX_END,    DDIO_OP_MUX_LEAVE,
				       DDIO_OP_MUX_PARTS };

static bool among(uint16_t opcode, const uint16_t *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i] == opcode)
			return true;
	return false;
}
#define AMONG(opcode, list) among(opcode, list, sizeof(list) / sizeof((list)[0]))

static bool is_known(uint16_t opcode)
{
	return strcmp(ddio_opcode_name(opcode), "unknown") != 0;
}

static void every_opcode(void)
{
	struct users *u = users_new();
	uint32_t opcode, known = 0;

	for (opcode = 0; opcode <= UINT16_MAX; opcode++) {
		bool served = server_op_find(server_of(u->sw->iop), (uint16_t)opcode);
		int homes = served + AMONG((uint16_t)opcode, of_connections) +
			    AMONG((uint16_t)opcode, of_members);

		known += is_known((uint16_t)opcode);
		if (homes == is_known((uint16_t)opcode))
			continue;
		CU_FAIL("an opcode that belongs to none, or to two");
		fprintf(stderr, "%u %s\n", opcode, ddio_opcode_name(opcode));
	}
	CU_ASSERT(known > 100);
	users_free(u);
}

/* A node takes none of those that are not for it. */
static void not_for_nodes(void)
{
	static const uint8_t junk[64] = { 1 };
	struct users *u = users_new();
	size_t i;

	for (i = 0; i < sizeof(of_members) / sizeof(of_members[0]); i++) {
		struct sc *c = as(u->sw, 0, MALLORY, 60);
		struct ddio_msg msg = { .opcode = of_members[i], .length = sizeof(junk) };
		struct iovec rest;
		size_t prefix = ddio_opcode_bulk_prefix(msg.opcode, false);

		prefix = prefix ? prefix : sizeof(junk);
		rest = (struct iovec){ (void *)(junk + prefix), sizeof(junk) - prefix };
		CU_ASSERT_EQUAL(ddio_conn_send(c->conn, &msg, junk, prefix, &rest, rest.iov_len > 0,
					       NULL),
				0);
		sw_run(u->sw, 20 * MS);
		CU_ASSERT(c->closed || (c->replies && c->status));
		sc_free(c);
	}
	CU_ASSERT_EQUAL(look_up(u->alice, "pub/own"), DDIO_ST_OK);
	users_free(u);
}

/*
 * Anybody's
 */
#define HER_GROUP    \
	{            \
		7, 7 \
	}
#define HER_MOUNT \
	{         \
		8 \
	}
#define MAILBOX .name = "mailbox", .token = { 1 }

struct any_row {
	uint16_t opcode;
	ssize_t (*put)(uint8_t *buf, size_t cap, const struct users *u);
	bool answered; /* the reply may be one of success */
	bool unknown;  /* even to one who is not vouched for */
	bool waits;    /* it may come later */
};

static ssize_t row_empty(uint8_t *buf, size_t cap, const struct users *u)
{
	(void)buf;
	(void)cap;
	(void)u;
	return 0;
}

ROW(DISK_SPACE, obj, ddio_msg_obj, .disk = 0)
ROW(DISKS_KNOWN, disk_ids, ddio_msg_disk_ids, .flags = 0)
ROW(OWED, tags, ddio_msg_tags, .n = 2, .tags = (uint64_t[]){ 1, 2 })
ROW(JOB, job, ddio_msg_job, .name = "hers")
ROW(WRONG, wrong, ddio_msg_wrong, .flags = DDIO_WRONG_PLACE, .file = u->own, .count = UINT64_MAX)
ROW(USER, user, ddio_msg_user, .kind = DDIO_USER_MUNGE, .len = 9, .cred = "1000 1000")
ROW(GRANT, grant, ddio_msg_grant, .file = u->own, .rights = DDIO_GRANT_RIGHTS, .uid = MALLORY,
    .until_ns = UINT64_MAX)
ROW(RENEW, grant, ddio_msg_grant, .file = u->own, .rights = DDIO_GRANT_RIGHTS, .uid = MALLORY,
    .until_ns = UINT64_MAX)
ROW(FS_ATTACH, fs_attach, ddio_msg_fs_attach, .mount = HER_MOUNT)
ROW(FS_LOCK_CANCEL, fs_ino, ddio_msg_fs_ino, .ino = u->own)
ROW(ATTACH, attach, ddio_msg_attach, .group = HER_GROUP, .size = 1)
ROW(DETACH, attach, ddio_msg_attach, .group = HER_GROUP, .size = 1)
ROW(COLL_ABORT, coll_abort, ddio_msg_coll_abort, .group = HER_GROUP, .op = 1,
    .status = DDIO_ST_CANCELLED)
ROW(JOINT, joint, ddio_msg_joint, .group = HER_GROUP, MAILBOX)
ROW(COLL_JOIN, coll_join, ddio_msg_coll_join, .group = HER_GROUP, .op = 1)
ROW(COLL_GO, coll_join, ddio_msg_coll_join, .group = HER_GROUP, .op = 1)
ROW(SHARE, share, ddio_msg_share, .group = HER_GROUP, MAILBOX, .writing = 1)
ROW(SHARE_TAKEN, share_taken, ddio_msg_share_taken, .group = HER_GROUP, .writing = 1)
ROW(COLL_COPIED, coll_copied, ddio_msg_coll_copied, .group = HER_GROUP, .op = 1, .n = 1,
    .copied = (struct ddio_copied[]){ { .block = 0 } })
ROW(COLL_PIECE, coll_data, ddio_msg_coll_data, .group = HER_GROUP, .op = 1)

static const struct ddio_extent whole = { .offset = 0, .len = 4096 };
static const struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &whole };

static ssize_t put_start(uint8_t *buf, size_t cap, uint64_t file, uint64_t op)
{
	const struct ddio_msg_coll_start x = {
		.group = HER_GROUP,
		.op = op,
		.flags = DDIO_COLL_WRITE,
		.nprocs = 1,
		.file_size = 4096,
		.file = { .ref = { .id = file, .seed = 1, .block = 4096 },
			  .ndisks = 1,
			  .disks = (uint32_t[]){ 0 } },
		.nparts = 1,
		.parts = (struct ddio_part *)&part,
	};

	return ddio_put_coll_start(buf, cap, &x);
}

static ssize_t row_COLL_START(uint8_t *buf, size_t cap, const struct users *u)
{
	return put_start(buf, cap, u->own, 2);
}

/* Puts @data, of which nothing is remembered. */
static ssize_t put_anew(uint8_t *buf, size_t cap, const uint8_t *data, ssize_t len)
{
	struct ddio_past past = { .n = 0 };
	struct ddio_past_code code;

	CU_ASSERT_FATAL(len > 0);
	ddio_past_put(&past, data, (size_t)len, &code);
	CU_ASSERT_FATAL(code.whole && code.len + (size_t)len <= cap);
	memcpy(buf, code.bytes, code.len);
	memcpy(buf + code.len, data, (size_t)len);
	ddio_past_clear(&past);
	return (ssize_t)code.len + len;
}

static ssize_t row_COLL_AGAIN(uint8_t *buf, size_t cap, const struct users *u)
{
	uint8_t start[2048];

	return put_anew(buf, cap, start, put_start(start, sizeof(start), u->own, 2));
}

static ssize_t row_COLL_TOLD(uint8_t *buf, size_t cap, const struct users *u)
{
	struct ddio_msg_coll_told x = { .group = HER_GROUP, .op = 1 };
	uint8_t told[2048];
	ssize_t len;

	(void)u;
	CU_ASSERT_EQUAL_FATAL(ddio_crowd_one(&x.crowd, 0, &part), 0);
	len = ddio_put_coll_told(told, sizeof(told), &x);
	ddio_crowd_free(&x.crowd);
	return put_anew(buf, cap, told, len);
}

#define ANY(op, ...)                                                 \
	{                                                            \
		.opcode = DDIO_OP_##op, .put = row_##op, __VA_ARGS__ \
	}
#define EMPTY(op, ...)                                                \
	{                                                             \
		.opcode = DDIO_OP_##op, .put = row_empty, __VA_ARGS__ \
	}
static const struct any_row rows[] = {
	EMPTY(PING, .answered = true, .unknown = true),
	EMPTY(STATUS, .answered = true),
	EMPTY(BOUNDS, .answered = true),
	EMPTY(JOBS, .answered = true),
	EMPTY(FS_RECALL, .answered = true, .waits = true),
	EMPTY(FS_SYNC, .answered = true),
	EMPTY(FS_SPACE, .answered = true),
	EMPTY(FS_DETACH, .answered = true),
	ANY(DISK_SPACE, .answered = true),
	ANY(DISKS_KNOWN),
	ANY(OWED, .answered = true, .unknown = true),
	ANY(JOB),
	ANY(WRONG),
	ANY(USER),
	ANY(GRANT),
	ANY(RENEW),
	ANY(FS_ATTACH),
	ANY(FS_LOCK_CANCEL, .answered = true),
	ANY(ATTACH),
	ANY(DETACH),
	ANY(COLL_START),
	ANY(COLL_AGAIN),
	ANY(COLL_TOLD),
	ANY(COLL_GO),
	ANY(COLL_PIECE),
	ANY(COLL_ABORT),
	ANY(JOINT),
	ANY(COLL_JOIN),
	ANY(SHARE),
	ANY(SHARE_TAKEN),
	ANY(COLL_COPIED),
};

/**
 * struct hers - Alice in the midst of her work
 * @root_disk: a connection of root's to the reactor of disk 0, which is @disk
 * @at: hers to each reactor, of the same group
 */
struct hers {
	struct users *u;
	struct sc *root_disk, *at[SW_REACTORS];
	uint32_t disk;
};

static uint32_t attach(struct sc *c, uint8_t a, uint8_t b)
{
	struct ddio_msg_attach x = { .group = { a, b }, .size = 1 };

	return SC_CALL(c, ATTACH, attach, &x);
}

static uint32_t mounts(struct sc *c, uint8_t id)
{
	struct ddio_msg_fs_attach x = { .mount = { id }, .flags = DDIO_FS_ATTACH_TOLD };

	return SC_CALL(c, FS_ATTACH, fs_attach, &x);
}

/* She holds a lock by her mount, and writes a file collectively, as a group of one, who is asked for its bytes. */
static void hers_begin(struct hers *h)
{
	struct users *u = h->u = users_new();
	struct ddio_msg_fs_lock lock = { .ino = u->own, .end = 9, .owner = 1, .type = 2 };
	struct ddio_msg start = { .opcode = DDIO_OP_COLL_START };
	uint8_t buf[4096];
	ssize_t len;
	uint32_t i;

	h->disk = sw_reactor(u->sw, 0);
	h->root_disk = as(u->sw, h->disk, ROOT, 0);
	CU_ASSERT_EQUAL(mounts(u->root, 9), DDIO_ST_OK);
	CU_ASSERT_EQUAL(mounts(u->alice, 8), DDIO_ST_OK);
	CU_ASSERT_EQUAL(look_up(u->alice, "pub/own"), DDIO_ST_OK);
	show(u->alice, &u->alice->grant);
	CU_ASSERT_EQUAL(SC_CALL(u->alice, FS_LOCK_SET, fs_lock, &lock), DDIO_ST_OK);
	for (i = 0; i < SW_REACTORS; i++) {
		h->at[i] = i ? as(u->sw, i, ALICE, STAFF) : u->alice;
		CU_ASSERT_EQUAL(attach(h->at[i], 7, 7), DDIO_ST_OK);
	}
	show(h->at[h->disk], &u->alice->grant);
	len = put_start(buf, sizeof(buf), u->own, 1);
	CU_ASSERT_EQUAL(ddio_conn_send(u->alice->conn, &start, buf, (size_t)len, NULL, 0, NULL), 0);
	sw_run(u->sw, 5 * MS);
	CU_ASSERT_EQUAL(h->at[h->disk]->wants, 1);
}

/* Nothing of that has changed: she sends her bytes, and they are the file's. */
static void hers_end(struct hers *h)
{
	struct ddio_msg_coll_data x = { .group = HER_GROUP, .op = 1 };
	struct users *u = h->u;
	struct ddio_msg_fs_lock lock = { .ino = u->own, .end = 9, .owner = 2, .type = 2 };
	struct ddio_msg msg = { .opcode = DDIO_OP_COLL_PIECE };
	struct sc *c = h->at[h->disk];
	uint8_t prefix[64], data[4096];
	struct iovec bytes = { data, sizeof(data) };
	ssize_t len = ddio_put_coll_data(prefix, sizeof(prefix), &x);
	uint32_t i;

	memset(data, 0xa1, sizeof(data));
	CU_ASSERT_EQUAL(c->dones, 0);
	msg.length = (uint64_t)len + sizeof(data);
	CU_ASSERT_EQUAL(ddio_conn_send(c->conn, &msg, prefix, (size_t)len, &bytes, 1, NULL), 0);
	sw_run(u->sw, 20 * MS);
	CU_ASSERT_EQUAL(c->dones, 1);
	CU_ASSERT_EQUAL(c->done_status, DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_read(h->root_disk, u->own, 0, 0, 4096), DDIO_ST_OK);
	CU_ASSERT(sw_all(h->root_disk->bulk, 4096, 0xa1));
	CU_ASSERT_EQUAL(SC_CALL(u->root, FS_LOCK_TEST, fs_lock, &lock), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_get_fs_lock(u->root->data, u->root->len, &lock), 0);
	CU_ASSERT_EQUAL(lock.type, 2);
	CU_ASSERT_EQUAL(look_up(u->alice, "pub/own"), DDIO_ST_OK);
	for (i = 1; i < SW_REACTORS; i++)
		sc_free(h->at[i]);
	sc_free(h->root_disk);
	users_free(u);
}

/* What is told in full names no file. */
static bool tells(const struct sc *c)
{
	static const char *const names[] = { "secret", "own", "hers", "home" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (memmem(c->data, c->len, names[i], strlen(names[i])))
			return true;
	return false;
}

static void row_send(const struct any_row *row, struct sc *c, const struct users *u)
{
	static const uint8_t bulk[4096];
	struct ddio_msg msg = { .opcode = row->opcode, .tag = ++c->tags };
	bool is_bulk = ddio_opcode_bulk_prefix(row->opcode, false);
	struct iovec iov = { (void *)bulk, sizeof(bulk) };
	uint8_t buf[4096];
	ssize_t len = row->put(buf, sizeof(buf), u);

	CU_ASSERT_FATAL(len >= 0);
	msg.length = (uint64_t)len + (is_bulk ? sizeof(bulk) : 0);
	CU_ASSERT_EQUAL(ddio_conn_send(c->conn, &msg, buf, (size_t)len, &iov, is_bulk, NULL), 0);
	sw_run(u->sw, 20 * MS);
}

/* To a reactor, by somebody who has nothing there; who has a group, and a mount; and who is not vouched for. */
enum { LONELY, MEMBER, UNKNOWN, KINDS };

static void row_try(const struct any_row *row, uint32_t reactor, int kind)
{
	bool replies = ddio_opcode_limit(row->opcode, true);
	struct hers h;
	struct sc *c;
	bool ok;

	hers_begin(&h);
	c = kind == UNKNOWN ? sc_new(h.u->sw, reactor) : as(h.u->sw, reactor, MALLORY, 60);
	if (kind == MEMBER)
		CU_ASSERT_EQUAL(attach(c, 6, 6), DDIO_ST_OK);
	if (kind == MEMBER && !reactor)
		CU_ASSERT_EQUAL(mounts(c, 5), DDIO_ST_OK);
	c->replies = 0;
	row_send(row, c, h.u);
	ok = replies ? c->closed || c->replies == 1 || row->waits : !c->replies;
	if (c->replies && !c->status)
		ok = ok && row->answered && (row->unknown || kind != UNKNOWN);
	if (!ok || c->grants || tells(c)) {
		CU_FAIL("another user's, or a wrong answer");
		fprintf(stderr, "%s: kind %d, reactor %u: closed %d, %u replies, status %u\n",
			ddio_opcode_name(row->opcode), kind, reactor, c->closed, c->replies,
			c->status);
	}
	sc_free(c);
	hers_end(&h);
}

static void anybodys(void)
{
	uint32_t reactor;
	size_t i;
	int kind;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (reactor = 0; reactor < SW_REACTORS; reactor++)
			for (kind = 0; kind < KINDS; kind++)
				row_try(&rows[i], reactor, kind);
}

/* Each that needs no row there has one here. */
static void every_row(void)
{
	size_t i, k, n = sizeof(for_anybody) / sizeof(for_anybody[0]);

	CU_ASSERT_EQUAL(sizeof(rows) / sizeof(rows[0]), n);
	for (i = 0; i < n; i++) {
		for (k = 0; k < n && rows[k].opcode != for_anybody[i]; k++)
			;
		if (k < n)
			continue;
		CU_FAIL("an opcode without a row");
		fprintf(stderr, "%s\n", ddio_opcode_name(for_anybody[i]));
	}
}

/*
 * Identities of disks, which clients carry: of a user's nothing counts but what is sealed.
 */
static uint64_t carried_change;

static uint32_t carry(struct sc *c, uint16_t opcode, const struct ddio_disk_id *id, uint64_t names)
{
	struct ddio_msg_disk_ids x = {
		.names = names,
		.change = opcode == DDIO_OP_DISKS_KNOWN ? carried_change : 0,
		.n = 1,
		.ids = (struct ddio_disk_id *)id,
	};
	uint8_t buf[512];
	ssize_t len = ddio_put_disk_ids(buf, sizeof(buf), &x);

	CU_ASSERT_FATAL(len > 0);
	return sc_call(c, opcode, buf, (size_t)len, NULL, 0);
}

/* What the reply says of the disk. */
static struct ddio_disk_id carried(const struct sc *c, uint64_t *names)
{
	struct ddio_disk_id id = { .disk = 0 };
	struct ddio_msg_disk_ids x;

	CU_ASSERT_EQUAL_FATAL(ddio_get_disk_ids(c->data, c->len, &x), 0);
	CU_ASSERT_EQUAL(x.flags, 0);
	CU_ASSERT_EQUAL_FATAL(x.n, 1);
	id = x.ids[0];
	*names = x.names;
	carried_change = x.change;
	ddio_msg_disk_ids_free(&x);
	return id;
}

/* A user may come to a node before root does: what it says of its disks is sealed, and so is the name space's answer. */
static void carried_on(void)
{
	struct users *u = users_new();
	const struct ddio_key *key = &u->sw->iop->servers_key;
	struct ddio_disk_id id = u->mallory->first_disk;
	uint64_t names;

	CU_ASSERT_TRUE(disk_genuine(key, &id));
	CU_ASSERT_EQUAL(carry(u->mallory, DDIO_OP_FS_DISKS, &id, 0), DDIO_ST_OK);
	id = carried(u->mallory, &names);
	CU_ASSERT_EQUAL(names, ns_life(u->sw->iop->ns));
	CU_ASSERT_EQUAL(carry(u->mallory, DDIO_OP_DISKS_KNOWN, &id, names), DDIO_ST_OK);
	CU_ASSERT_EQUAL(iop_disk_id(u->sw->iop, id.disk)->names, names);
	/* Once more, with what the node says after that. */
	id = carried(u->mallory, &names);
	CU_ASSERT_TRUE(disk_genuine(key, &id));
	CU_ASSERT_EQUAL(id.names, ns_life(u->sw->iop->ns));
	CU_ASSERT_TRUE(id.flags & DDIO_DISK_KNOWN);
	CU_ASSERT_EQUAL(carry(u->mallory, DDIO_OP_FS_DISKS, &id, 0), DDIO_ST_OK);
	/* That the disk is to be accepted as it is, is root's to say. */
	id.flags |= DDIO_DISK_REPLACE;
	CU_ASSERT_EQUAL(carry(u->mallory, DDIO_OP_FS_DISKS, &id, 0), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(carry(u->root, DDIO_OP_FS_DISKS, &id, 0), DDIO_ST_OK);
	users_free(u);
}

/* What a liar makes of an identity: number @i of them; returns false if there are no more. */
static bool lie(struct ddio_disk_id *id, int i)
{
	const uint64_t later = UINT64_C(1) << DDIO_LIFE_RANDOM;

	switch (i) {
	case 0: /* the next life of the disk */
		id->before[0] = id->life;
		id->n = 1;
		id->life += later;
		return true;
	case 1:
		id->uuid[DDIO_UUID_LEN - 1] ^= 1;
		return true;
	case 2:
		id->lost++;
		return true;
	case 3:
		id->names += later;
		return true;
	case 4:
		id->flags ^= DDIO_DISK_FORGETS;
		return true;
	case 5:
		id->disk++;
		return true;
	case 6:
		id->change++;
		return true;
	default:
		return false;
	}
}

/* Whatever Mallory says of a disk, it is the same one to the others. */
static void forged(void)
{
	struct users *u = users_new();
	const struct ddio_key *key = &u->sw->iop->servers_key;
	const struct ddio_disk_id right = u->mallory->first_disk;
	uint64_t names = ns_life(u->sw->iop->ns);
	struct ddio_disk_id id, met = right;
	int i;

	carried_change = 0;
	disk_met_seal(key, &met, names, 0);
	for (i = 0; id = right, lie(&id, i); i++) {
		CU_ASSERT_EQUAL(carry(u->mallory, DDIO_OP_FS_DISKS, &id, 0), DDIO_ST_PERMISSION);
		CU_ASSERT_EQUAL(carry(u->mallory, DDIO_OP_FS_DISKS, &id, 0), DDIO_ST_PERMISSION);
		id = met;
		lie(&id, i);
		CU_ASSERT_NOT_EQUAL(carry(u->mallory, DDIO_OP_DISKS_KNOWN, &id, names), DDIO_ST_OK);
		CU_ASSERT_EQUAL(carry(u->root, DDIO_OP_FS_DISKS, &right, 0), DDIO_ST_OK);
	}
	CU_ASSERT_EQUAL(i, 7);
	/* The one's seal is not the other's, nor is that of another life of the name space. */
	CU_ASSERT_EQUAL(carry(u->mallory, DDIO_OP_FS_DISKS, &met, 0), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(carry(u->mallory, DDIO_OP_DISKS_KNOWN, &right, names), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(carry(u->mallory, DDIO_OP_DISKS_KNOWN, &met, names + 1),
			DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(carry(u->mallory, DDIO_OP_DISKS_KNOWN, &met, names), DDIO_ST_OK);
	users_free(u);
}

/* No user has a disk say for ever that it has lost what it has not; the name space may, by whomever it is carried, and root. */
static void no_losses(void)
{
	struct users *u = users_new();
	const struct ddio_disk_id *mine = iop_disk_id(u->sw->iop, 0);
	uint64_t names = mine->names + 1, lost = mine->lost;
	struct ddio_disk_id id = *mine;

	id.lost = lost + 1;
	CU_ASSERT_EQUAL(carry(u->mallory, DDIO_OP_DISKS_KNOWN, &id, names), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(mine->lost, lost);
	CU_ASSERT_EQUAL(carry(u->root, DDIO_OP_DISKS_KNOWN, &id, names), DDIO_ST_OK);
	CU_ASSERT_EQUAL(mine->lost, lost + 1);
	id = *mine;
	id.lost = lost + 2;
	carried_change = 0;
	disk_met_seal(&u->sw->iop->servers_key, &id, names, 0);
	CU_ASSERT_EQUAL(carry(u->mallory, DDIO_OP_DISKS_KNOWN, &id, names), DDIO_ST_OK);
	CU_ASSERT_EQUAL(mine->lost, lost + 2);
	users_free(u);
}

static const struct ut_case cases[] = {
	{ "every opcode", every_opcode }, { "not for nodes", not_for_nodes },
	{ "every row", every_row },	  { "anybody's", anybodys },
	{ "carried on", carried_on },	  { "forged", forged },
	{ "no losses", no_losses },	  { NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "users", cases } };

	return ut_run("test_iop_server_users_any", suites, 1);
}
