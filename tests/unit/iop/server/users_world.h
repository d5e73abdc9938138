/* SPDX-License-Identifier: GPL-2.0-only */
/* A node that tells users apart, with files of Alice's, and connections of several users. */
#ifndef DDIO_USERS_WORLD_H
#define DDIO_USERS_WORLD_H

#include "iop/server/priv.h"
#include "iop/user/user.h"
#include "tests/unit/iop/server/server_world.h"

enum { ROOT = 0, ALICE = 1000, MALLORY = 2000, STAFF = 50, NOBODY = 65534 };

#define LINES "users = munge\nservers_key = /none\ngrant_time = 60s\n"

/*
 * Vouching: a credential is "UID GID GROUP TIE", and comes to be known some time later.
 */
static void fake_vouch(struct ddio_vouch_job *job)
{
	unsigned int uid, gid, group;
	char tie[17] = "", right[17];
	int i;

	for (i = 0; i < 8; i++)
		snprintf(right + 2 * i, 3, "%02x", job->tie[i]);
	if (sscanf(job->cred, "%u %u %u %16s", &uid, &gid, &group, tie) != 4 ||
	    strcmp(tie, right)) {
		job->err = -EACCES;
		snprintf(job->why, sizeof(job->why), "munge: not for this connection");
	} else {
		job->who = (struct ddio_who){ .uid = uid, .gid = gid, .ngroups = 1 };
		job->who.groups = calloc(1, sizeof(*job->who.groups));
		job->who.groups[0] = group;
	}
}

static inline void say_text(struct sc *c, uint32_t kind, const void *cred, uint32_t len)
{
	struct ddio_msg_user x = { .kind = kind, .len = len, .cred = cred };
	struct ddio_msg msg = { .opcode = DDIO_OP_USER };
	uint8_t buf[256];
	ssize_t n = ddio_put_user(buf, sizeof(buf), &x);

	CU_ASSERT_FATAL(n > 0);
	CU_ASSERT_EQUAL(ddio_conn_send(c->conn, &msg, buf, (size_t)n, NULL, 0, NULL), 0);
}

static inline void cred_for(const struct sc *c, uint32_t uid, uint32_t group, char cred[100])
{
	const uint8_t *tie = ddio_conn_tie(c->conn);
	int n = snprintf(cred, 100, "%u %u %u ", uid, uid, group), i;

	for (i = 0; i < 8; i++)
		n += snprintf(cred + n, 100 - (size_t)n, "%02x", tie[i]);
}

/* A connection of this user; @group: another group of that user. */
static inline struct sc *as(struct sw *sw, uint32_t reactor, uint32_t uid, uint32_t group)
{
	struct sc *c = sc_new(sw, reactor);
	char cred[100];

	cred_for(c, uid, group, cred);
	say_text(c, DDIO_USER_MUNGE, cred, (uint32_t)strlen(cred));
	return c;
}

/* Shows a grant on another connection. */
static inline void show(struct sc *c, const struct ddio_msg_grant *grant)
{
	struct ddio_msg msg = { .opcode = DDIO_OP_GRANT };
	uint8_t buf[DDIO_GRANT_LEN];

	CU_ASSERT_EQUAL(ddio_put_grant(buf, sizeof(buf), grant), sizeof(buf));
	CU_ASSERT_EQUAL(ddio_conn_send(c->conn, &msg, buf, sizeof(buf), NULL, 0, NULL), 0);
}

/**
 * struct users - a node with Alice's files: home/ (0700) has "secret" and "own" (0644), pub/ (0755) has "own" (0600), "team" (0640,
 * of the group STAFF) and "all" (0644), sticky/ (01777) has "hers"
 * @root, @alice, @mallory: to the name space; @alice_disk, @mallory_disk: to the reactor of disk 0
 * @hidden: home/own
 * @at, @dir: the file that rows are about, by the name "own" in its directory
 */
struct users {
	struct sw *sw;
	struct sc *root, *alice, *mallory, *alice_disk, *mallory_disk;
	uint64_t home, pub, sticky, secret, own, team, all, hers;
	uint64_t hidden, at, dir;
};

static inline uint64_t make(struct users *u, uint64_t dir, const char *name, uint32_t mode,
			    uint32_t gid)
{
	struct ddio_msg_fs_make x = { .parent = dir, .mode = mode, .uid = ALICE, .gid = gid };
	struct ddio_msg_fs_opened out;

	snprintf(x.name, sizeof(x.name), "%s", name);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(u->root, FS_MAKE, fs_make, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_opened(u->root->data, u->root->len, &out), 0);
	ddio_fs_opened_free(&out);
	return out.attr.ino;
}

static inline struct users *users_new(void)
{
	struct users *u = calloc(1, sizeof(*u));
	uint32_t reactor;

	sw_cluster = LINES;
	sw_vouch = fake_vouch;
	u->sw = sw_new(NULL);
	reactor = sw_reactor(u->sw, 0);
	u->root = as(u->sw, 0, ROOT, 0);
	u->alice = as(u->sw, 0, ALICE, STAFF);
	u->mallory = as(u->sw, 0, MALLORY, 60);
	u->alice_disk = as(u->sw, reactor, ALICE, STAFF);
	u->mallory_disk = as(u->sw, reactor, MALLORY, 60);
	u->home = make(u, DDIO_FS_ROOT, "home", S_IFDIR | 0700, ALICE);
	u->secret = make(u, u->home, "secret", S_IFREG | 0644, ALICE);
	u->hidden = make(u, u->home, "own", S_IFREG | 0644, ALICE);
	u->pub = make(u, DDIO_FS_ROOT, "pub", S_IFDIR | 0755, ALICE);
	u->own = make(u, u->pub, "own", S_IFREG | 0600, ALICE);
	u->team = make(u, u->pub, "team", S_IFREG | 0640, STAFF);
	u->all = make(u, u->pub, "all", S_IFREG | 0644, ALICE);
	u->sticky = make(u, DDIO_FS_ROOT, "sticky", S_IFDIR | 01777, ALICE);
	u->hers = make(u, u->sticky, "hers", S_IFREG | 0666, ALICE);
	return u;
}

static inline void users_free(struct users *u)
{
	sc_free(u->root);
	sc_free(u->alice);
	sc_free(u->mallory);
	sc_free(u->alice_disk);
	sc_free(u->mallory_disk);
	sw_free(u->sw);
	free(u);
	sw_cluster = NULL;
	sw_vouch = NULL;
}

/* Looks a path up; the grant that comes with that, if any, is in c->grant. */
static inline uint32_t look_up(struct sc *c, const char *path)
{
	struct ddio_msg_ns_name x = { .id = 0 };

	snprintf(x.path, sizeof(x.path), "%s", path);
	memset(&c->grant, 0, sizeof(c->grant));
	return SC_CALL(c, NS_LOOKUP, ns_name, &x);
}

/* row_NAME() puts such a message into a buffer; @u is there for what it names. */
#define ROW(op, codec, type, ...)                                                \
	static ssize_t row_##op(uint8_t *buf, size_t cap, const struct users *u) \
	{                                                                        \
		const struct type x = { __VA_ARGS__ };                           \
                                                                                 \
		(void)u;                                                         \
		return ddio_put_##codec(buf, cap, &x);                           \
	}

/*
 * What any user may send: these tell of no file and change none (PING to JOBS), are about what the connection itself has
 * (OWED to FS_LOCK_CANCEL; RECALL: its leases), or are taken from members of a group only, all of whom are one user's; see
 * test_iop_server_users_any.c.
 */
static const uint16_t for_anybody[] = {
	DDIO_OP_DISK_SPACE, DDIO_OP_PING,	 DDIO_OP_STATUS,      DDIO_OP_BOUNDS,
	DDIO_OP_JOBS,	    DDIO_OP_DISKS_KNOWN, DDIO_OP_OWED,	      DDIO_OP_JOB,
	DDIO_OP_WRONG,	    DDIO_OP_USER,	 DDIO_OP_GRANT,	      DDIO_OP_RENEW,
	DDIO_OP_FS_ATTACH,  DDIO_OP_FS_DETACH,	 DDIO_OP_ATTACH,      DDIO_OP_DETACH,
	DDIO_OP_COLL_START, DDIO_OP_COLL_AGAIN,	 DDIO_OP_COLL_TOLD,   DDIO_OP_COLL_GO,
	DDIO_OP_COLL_PIECE, DDIO_OP_COLL_ABORT,	 DDIO_OP_JOINT,	      DDIO_OP_COLL_JOIN,
	DDIO_OP_SHARE,	    DDIO_OP_SHARE_TAKEN, DDIO_OP_COLL_COPIED, DDIO_OP_FS_LOCK_CANCEL,
	DDIO_OP_FS_RECALL,  DDIO_OP_FS_SYNC,	 DDIO_OP_FS_SPACE
};

#endif /* DDIO_USERS_WORLD_H */
