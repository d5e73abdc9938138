// SPDX-License-Identifier: GPL-2.0-only
/* Requests of mounts as they arrive over a connection. */
#include <errno.h>
#include "conn/conn_priv.h"
#include "iop/kv/priv.h"
#include "iop/ns/priv.h"
#include "tests/unit/iop/server/server_world.h"

static struct ddio_msg_fs_attached attached;

static uint32_t attach(struct sc *c, uint8_t id, uint32_t flags)
{
	struct ddio_msg_fs_attach x = { .mount = { id }, .flags = flags };
	uint32_t status = SC_CALL(c, FS_ATTACH, fs_attach, &x);

	if (!status)
		CU_ASSERT_EQUAL(ddio_get_fs_attached(c->data, c->len, &attached), 0);
	return status;
}

static struct sc *mount(struct sw *sw, uint8_t id)
{
	struct sc *c = sc_new(sw, 0);

	CU_ASSERT_EQUAL(attach(c, id, DDIO_FS_ATTACH_TOLD), DDIO_ST_OK);
	return c;
}

static uint32_t make(struct sc *c, uint64_t parent, const char *name, uint32_t mode, uint32_t flags,
		     struct ddio_msg_fs_opened *out)
{
	struct ddio_msg_fs_make x = { .parent = parent, .mode = mode, .flags = flags };
	uint32_t status;

	snprintf(x.name, sizeof(x.name), "%s", name);
	if (S_ISLNK(mode))
		strcpy(x.target, "over/there");
	status = SC_CALL(c, FS_MAKE, fs_make, &x);
	memset(out, 0, sizeof(*out));
	if (!status)
		CU_ASSERT_EQUAL(ddio_get_fs_opened(c->data, c->len, out), 0);
	ddio_fs_opened_free(out);
	return status;
}

/* Returns how many records of files to be removed there are. */
static uint32_t left(struct sc *c)
{
	struct ddio_msg_ns_listing l;
	uint32_t n;

	CU_ASSERT_EQUAL_FATAL(ddio_get_ns_listing(c->data, c->len, &l), 0);
	n = l.n;
	ddio_ns_listing_free(&l);
	return n;
}

/* The same in the reply to the mount that removed a name. */
static bool unlinked_left(struct sc *c)
{
	struct ddio_msg_fs_unlinked x;

	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_unlinked(c->data, c->len, &x), 0);
	ddio_fs_unlinked_free(&x);
	return x.flags & DDIO_FS_UNLINKED_LEFT;
}

/* The attributes in the reply to a change of the directory are those that it has. */
static void check_dir(struct sc *c, const struct ddio_fs_attr *dir)
{
	struct ddio_msg_fs_ino ino = { .ino = dir->ino };
	struct ddio_msg_fs_attr x;

	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_GETATTR, fs_ino, &ino), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_attr(c->data, c->len, &x), 0);
	CU_ASSERT_EQUAL(memcmp(&x.attr, dir, sizeof(*dir)), 0);
}

/* Each reply has the directory's present attributes; one from memory, or of a failure, has not. */
static void directories_in_answers(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = mount(sw, 1);
	struct ddio_msg_fs_make x = { .seq = { 1, 0 },
				      .parent = DDIO_FS_ROOT,
				      .mode = S_IFDIR | 0700,
				      .flags = DDIO_FS_MAKE_EXCL,
				      .name = "s" };
	struct ddio_msg_fs_name name = {
		.seq = { 2, 1 }, .parent = DDIO_FS_ROOT, .flags = DDIO_FS_UNLINK_DIR, .name = "s"
	};
	struct ddio_msg_fs_unlinked gone;
	struct ddio_msg_fs_opened made;
	int round;

	CU_ASSERT_EQUAL(make(c, DDIO_FS_ROOT, "f", S_IFREG | 0600, DDIO_FS_MAKE_OPEN, &made),
			DDIO_ST_OK);
	CU_ASSERT(made.flags & DDIO_FS_OPENED_DIR && made.dir.ino == DDIO_FS_ROOT);
	check_dir(c, &made.dir);
	/* there already */
	CU_ASSERT_EQUAL(make(c, DDIO_FS_ROOT, "f", S_IFREG | 0600, 0, &made), DDIO_ST_OK);
	CU_ASSERT(made.flags & DDIO_FS_OPENED_DIR && !(made.flags & DDIO_FS_OPENED_MADE));
	check_dir(c, &made.dir);
	for (round = 0; round < 2; round++) {
		CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_MAKE, fs_make, &x), DDIO_ST_OK);
		CU_ASSERT_EQUAL_FATAL(ddio_get_fs_opened(c->data, c->len, &made), 0);
		ddio_fs_opened_free(&made);
		CU_ASSERT_EQUAL(!!(made.flags & DDIO_FS_OPENED_DIR), !round);
		if (!round)
			check_dir(c, &made.dir);
		CU_ASSERT_EQUAL(made.dir.nlink, round ? 0 : 3);
	}
	for (round = 0; round < 2; round++) {
		CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_UNLINK, fs_name, &name), DDIO_ST_OK);
		CU_ASSERT_EQUAL_FATAL(ddio_get_fs_unlinked(c->data, c->len, &gone), 0);
		ddio_fs_unlinked_free(&gone);
		CU_ASSERT_EQUAL(gone.flags, round ? 0 : DDIO_FS_UNLINKED_DIR);
		if (!round)
			check_dir(c, &gone.dir);
		CU_ASSERT_EQUAL(gone.dir.nlink, round ? 0 : 2);
	}
	sc_free(c);
	sw_free(sw);
}

static void names_and_attributes(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = mount(sw, 1);
	struct ddio_msg_fs_name name = { .parent = DDIO_FS_ROOT, .name = "d" };
	struct ddio_msg_fs_ino ino = { .ino = DDIO_FS_ROOT };
	struct ddio_msg_fs_setattr set = { .mask = DDIO_FS_SET_MODE, .mode = 0700 };
	struct ddio_msg_fs_readdir rd = { .ino = DDIO_FS_ROOT,
					  .max = 100,
					  .flags = DDIO_FS_READDIR_PLUS };
	struct ddio_msg_fs_rename rn = {
		.parent = DDIO_FS_ROOT, .new_parent = DDIO_FS_ROOT, .name = "d", .new_name = "e"
	};
	struct ddio_msg_fs_entries out;
	struct ddio_msg_fs_opened made;
	struct ddio_msg_fs_target target;
	struct ddio_msg_fs_attr attr;
	struct ddio_msg_fs_space space;
	struct ddio_msg_fs_xattr xattr = { .name = "user.a" };

	CU_ASSERT_EQUAL(make(c, DDIO_FS_ROOT, "d", S_IFDIR | 0755, 0, &made), DDIO_ST_OK);
	CU_ASSERT_EQUAL(made.flags, DDIO_FS_OPENED_MADE | DDIO_FS_OPENED_DIR);
	CU_ASSERT_EQUAL(make(c, DDIO_FS_ROOT, "d", S_IFDIR | 0755, 0, &made), DDIO_ST_EXISTS);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_LOOKUP, fs_name, &name), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_attr(c->data, c->len, &attr), 0);
	set.ino = attr.attr.ino;
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_SETATTR, fs_setattr, &set), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_attr(c->data, c->len, &attr), 0);
	CU_ASSERT_EQUAL(attr.attr.mode, S_IFDIR | 0700);
	CU_ASSERT_EQUAL(SC_CALL(c, FS_GETATTR, fs_ino, &ino), DDIO_ST_OK);
	ino.ino = 999999;
	CU_ASSERT_EQUAL(SC_CALL(c, FS_GETATTR, fs_ino, &ino), DDIO_ST_STALE);
	CU_ASSERT_EQUAL(make(c, set.ino, "l", S_IFLNK | 0777, 0, &made), DDIO_ST_OK);
	ino.ino = made.attr.ino;
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_READLINK, fs_ino, &ino), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_target(c->data, c->len, &target), 0);
	CU_ASSERT_STRING_EQUAL(target.target, "over/there");
	name.flags = DDIO_FS_UNLINK_DIR;
	CU_ASSERT_EQUAL(SC_CALL(c, FS_UNLINK, fs_name, &name), DDIO_ST_NOT_EMPTY);
	CU_ASSERT_EQUAL(SC_CALL(c, FS_RENAME, fs_rename, &rn), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_READDIR, fs_readdir, &rd), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_entries(c->data, c->len, &out), 0);
	CU_ASSERT_EQUAL_FATAL(out.n, 3);
	CU_ASSERT_STRING_EQUAL(out.ents[2].name, "e");
	CU_ASSERT_EQUAL(out.ents[2].attr.mode, S_IFDIR | 0700);
	CU_ASSERT(out.ents[2].bare);
	free(out.ents);
	xattr.ino = set.ino;
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_SETXATTR, fs_xattr, &xattr), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_READDIR, fs_readdir, &rd), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_entries(c->data, c->len, &out), 0);
	CU_ASSERT_FALSE(out.ents[2].bare);
	free(out.ents);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_REMOVEXATTR, fs_xattr, &xattr), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_READDIR, fs_readdir, &rd), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_entries(c->data, c->len, &out), 0);
	CU_ASSERT(out.ents[2].bare);
	free(out.ents);
	CU_ASSERT_EQUAL_FATAL(sc_call(c, DDIO_OP_FS_SPACE, NULL, 0, NULL, 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_get_fs_space(c->data, c->len, &space), 0);
	CU_ASSERT_EQUAL(space.inodes, 3);
	sc_free(c);
	sw_free(sw);
}

static void open_files_and_removal(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *a = mount(sw, 1), *b = mount(sw, 2), *none = sc_new(sw, 0);
	struct ddio_msg_fs_name name = { .parent = DDIO_FS_ROOT, .name = "f" };
	struct ddio_msg_fs_wrote wrote = { .end = 100, .flags = DDIO_FS_WROTE_DATA };
	struct ddio_msg_fs_opened made;
	struct ddio_msg_fs_open open = { .flags = 0 };
	struct ddio_msg_fs_ino ino;
	struct ddio_msg_fs_readdir all = { .ino = 1, .max = 10 };

	CU_ASSERT_EQUAL(make(none, DDIO_FS_ROOT, "f", S_IFREG | 0600, DDIO_FS_MAKE_OPEN, &made),
			DDIO_ST_INVALID);
	CU_ASSERT_EQUAL(make(a, DDIO_FS_ROOT, "f", S_IFREG | 0600, DDIO_FS_MAKE_OPEN, &made),
			DDIO_ST_OK);
	CU_ASSERT_EQUAL(made.flags, DDIO_FS_OPENED_MADE | DDIO_FS_OPENED_RECORD |
					    DDIO_FS_OPENED_BARE | DDIO_FS_OPENED_DIR);
	ino.ino = wrote.ino = open.ino = made.attr.ino;
	CU_ASSERT_EQUAL(SC_CALL(b, FS_OPEN, fs_open, &open), DDIO_ST_OK);
	CU_ASSERT_EQUAL(SC_CALL(a, FS_WROTE, fs_wrote, &wrote), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(a, FS_UNLINK, fs_name, &name), DDIO_ST_OK);
	CU_ASSERT_FALSE(unlinked_left(a));
	CU_ASSERT_EQUAL_FATAL(SC_CALL(a, FS_RELEASE, fs_ino, &ino), DDIO_ST_OK);
	CU_ASSERT_EQUAL(left(a), 0);
	/* the other's connection ends, and it does not come back */
	sc_free(b);
	sw_run(sw, 1000 * MS);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(a, FS_ORPHANS, fs_readdir, &all), DDIO_ST_OK);
	CU_ASSERT_EQUAL(left(a), 0);
	CU_ASSERT_EQUAL(SC_CALL(a, FS_GONE, fs_ino, &ino), DDIO_ST_BUSY);
	sw_run(sw, 3000 * MS);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(a, FS_ORPHANS, fs_readdir, &all), DDIO_ST_OK);
	CU_ASSERT_EQUAL(left(a), 1);
	CU_ASSERT_EQUAL(SC_CALL(a, FS_GONE, fs_ino, &ino), DDIO_ST_OK);
	CU_ASSERT_EQUAL(SC_CALL(a, FS_GONE, fs_ino, &ino), DDIO_ST_OK);
	CU_ASSERT_EQUAL(SC_CALL(a, FS_GETATTR, fs_ino, &ino), DDIO_ST_STALE);
	sc_free(a);
	sc_free(none);
	sw_free(sw);
}

/* Returns true if all changes are in LMDB, or in a journal that has been flushed. */
static bool durable(const struct sw *sw)
{
	const struct kv *kv = sw->iop->ns->kv;

	return kv_clean(kv) || (!kv_journal_fresh(&kv->journal) && !kv->flush.active);
}

/* Makes a file with data and removes its name.  Returns true if it is durable, when that is answered, that it has none. */
static bool unlinked_durably(struct sw *sw, struct sc *c)
{
	struct ddio_msg_fs_name name = { .parent = DDIO_FS_ROOT, .name = "f" };
	struct ddio_msg_fs_wrote wrote = { .end = 100, .flags = DDIO_FS_WROTE_DATA };
	struct ddio_msg_fs_opened made;

	CU_ASSERT_EQUAL(make(c, DDIO_FS_ROOT, "f", S_IFREG | 0600, 0, &made), DDIO_ST_OK);
	wrote.ino = made.attr.ino;
	CU_ASSERT_EQUAL(SC_CALL(c, FS_WROTE, fs_wrote, &wrote), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(c, FS_UNLINK, fs_name, &name), DDIO_ST_OK);
	CU_ASSERT_TRUE(unlinked_left(c));
	return durable(sw);
}

/* An unlink is answered before it is durable: a client syncs before it removes data. */
static void unlink_and_durability(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = mount(sw, 1);
	const struct ddio_msg_obj all = { .flags = DDIO_OBJ_ALL };

	CU_ASSERT_FALSE(unlinked_durably(sw, c));
	CU_ASSERT_EQUAL(sc_call(c, DDIO_OP_FS_SYNC, NULL, 0, NULL, 0), DDIO_ST_OK);
	CU_ASSERT_TRUE(durable(sw));
	/* What a check reads is in LMDB. */
	CU_ASSERT_FALSE(kv_clean(sw->iop->ns->kv));
	CU_ASSERT_EQUAL(SC_CALL(c, OBJ_SYNC, obj, &all), DDIO_ST_OK);
	CU_ASSERT_TRUE(kv_clean(sw->iop->ns->kv));
	sc_free(c);
	sw_free(sw);
}

static void attached_and_lives(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = mount(sw, 1);

	CU_ASSERT_EQUAL(attached.life, ns_life(sw->iop->ns));
	CU_ASSERT_EQUAL(attached.lost, 0);
	sc_free(c);
	sw_free(sw);
}

static void set_lock(struct sc *c, uint64_t owner, uint32_t type, uint32_t flags, uint64_t id)
{
	struct ddio_msg_fs_lock x = { .ino = 77,
				      .id = id,
				      .end = UINT64_MAX,
				      .owner = owner,
				      .pid = 5,
				      .type = type,
				      .flags = flags };
	uint8_t buf[128];

	sc_send(c, DDIO_OP_FS_LOCK_SET, buf, ddio_put_fs_lock(buf, sizeof(buf), &x), NULL, 0);
}

static uint32_t lock_now(struct sc *c, uint64_t owner, uint32_t type, uint32_t flags)
{
	uint32_t want = c->replies + 1;

	set_lock(c, owner, type, flags, 0);
	return sc_wait(c, want) ? c->status : UINT32_MAX;
}

static void locks_wait_and_are_cancelled(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *a = mount(sw, 1), *b = mount(sw, 2), *c = mount(sw, 3);
	struct ddio_msg_fs_lock x = { .ino = 77, .end = 5, .type = DDIO_FS_LOCK_READ };
	struct ddio_msg_fs_ino id = { .ino = 41 };
	uint32_t i;

	CU_ASSERT_EQUAL(lock_now(a, 1, DDIO_FS_LOCK_WRITE, 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(lock_now(b, 1, DDIO_FS_LOCK_READ, 0), DDIO_ST_AGAIN);
	CU_ASSERT_EQUAL(lock_now(b, 1, DDIO_FS_LOCK_WRITE, DDIO_FS_LOCK_FLOCK), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(b, FS_LOCK_TEST, fs_lock, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL(ddio_get_fs_lock(b->data, b->len, &x), 0);
	CU_ASSERT(x.type == DDIO_FS_LOCK_WRITE && x.flags == DDIO_FS_LOCK_OTHER && x.pid == 5);
	set_lock(b, 1, DDIO_FS_LOCK_READ, DDIO_FS_LOCK_WAIT, 41);
	set_lock(c, 1, DDIO_FS_LOCK_READ, DDIO_FS_LOCK_WAIT, 41);
	sw_run(sw, 500 * MS);
	i = b->replies;
	/* more that wait than may be served at once: others still come through */
	for (id.ino = 100; id.ino < 400; id.ino++)
		set_lock(b, id.ino, DDIO_FS_LOCK_READ, DDIO_FS_LOCK_WAIT, id.ino);
	CU_ASSERT_EQUAL(sc_call(b, DDIO_OP_PING, NULL, 0, NULL, 0), DDIO_ST_OK);
	id.ino = 41;
	CU_ASSERT_EQUAL(b->replies, i + 1);
	{
		uint8_t buf[64];
		ssize_t len = ddio_put_fs_ino(buf, sizeof(buf), &id);

		sc_send(b, DDIO_OP_FS_LOCK_CANCEL, buf, (size_t)len, NULL, 0);
		CU_ASSERT(sc_wait(b, i + 3));
		CU_ASSERT_EQUAL(b->failures, 2);
	}
	/* a mount ends properly: its locks go to the requests that wait */
	CU_ASSERT_EQUAL(sc_call(a, DDIO_OP_FS_DETACH, NULL, 0, NULL, 0), DDIO_ST_OK);
	CU_ASSERT(sc_wait(b, i + 303));
	CU_ASSERT_EQUAL(b->failures, 2);
	CU_ASSERT_EQUAL(c->status, DDIO_ST_OK);
	CU_ASSERT_EQUAL(lock_now(a, 1, DDIO_FS_LOCK_READ, 0), DDIO_ST_INVALID);
	/* a waiting client that is cut off waits no more; stopping ends the others */
	set_lock(b, 9, DDIO_FS_LOCK_WRITE, DDIO_FS_LOCK_WAIT, 7);
	set_lock(c, 9, DDIO_FS_LOCK_WRITE, DDIO_FS_LOCK_WAIT, 8);
	sw_run(sw, 10 * MS);
	sc_free(b);
	sw_run(sw, 10 * MS);
	i = c->replies;
	sw_stop(sw);
	CU_ASSERT_EQUAL(c->replies, i + 1);
	CU_ASSERT_EQUAL(c->status, DDIO_ST_SHUTDOWN);
	sc_free(a);
	sc_free(c);
	sw_free(sw);
}

static void a_restart_asks_for_everything_again(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *a = mount(sw, 1), *b;
	struct ddio_msg_fs_make x = { .seq = { 1, 0 },
				      .parent = DDIO_FS_ROOT,
				      .mode = S_IFREG | 0600,
				      .flags = DDIO_FS_MAKE_EXCL,
				      .name = "f" };
	struct ddio_msg_fs_opened first, again;
	uint64_t boot = attached.boot;

	CU_ASSERT_EQUAL(attached.known, 0);
	CU_ASSERT_EQUAL_FATAL(SC_CALL(a, FS_MAKE, fs_make, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_opened(a->data, a->len, &first), 0);
	ddio_fs_opened_free(&first);
	CU_ASSERT_EQUAL(lock_now(a, 1, DDIO_FS_LOCK_WRITE, 0), DDIO_ST_OK);
	sc_free(a);
	sw_restart(sw);
	a = sc_new(sw, 0);
	CU_ASSERT_EQUAL(attach(a, 1, 0), DDIO_ST_OK);
	CU_ASSERT(attached.known == 0 && attached.boot != boot && attached.grace_ns > 0);
	CU_ASSERT_EQUAL(attach(a, 2, 0), DDIO_ST_INVALID); /* it is another's */
	CU_ASSERT_EQUAL_FATAL(SC_CALL(a, FS_MAKE, fs_make, &x), DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fs_opened(a->data, a->len, &again), 0);
	ddio_fs_opened_free(&again);
	CU_ASSERT_EQUAL(first.attr.ino, again.attr.ino);
	/* another mount's lock waits until all have told theirs */
	b = mount(sw, 2);
	set_lock(b, 1, DDIO_FS_LOCK_READ, 0, 0);
	sw_run(sw, 100 * MS);
	CU_ASSERT_EQUAL(b->replies, 1);
	CU_ASSERT_EQUAL(lock_now(a, 1, DDIO_FS_LOCK_WRITE, DDIO_FS_LOCK_AGAIN), DDIO_ST_OK);
	CU_ASSERT_EQUAL(attach(a, 1, DDIO_FS_ATTACH_TOLD), DDIO_ST_OK);
	CU_ASSERT_EQUAL(attached.grace_ns, 0);
	CU_ASSERT(sc_wait(b, 2));
	CU_ASSERT_EQUAL(b->status, DDIO_ST_AGAIN);
	sc_free(a);
	sc_free(b);
	sw_free(sw);
}

static void bad_messages_are_refused(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = mount(sw, 1), *other = sc_new(sw, 1);
	struct ddio_msg_fs_ino ino = { .ino = DDIO_FS_ROOT };
	uint8_t zero[8] = { 0 };

	CU_ASSERT_EQUAL(sc_call(c, DDIO_OP_FS_GETATTR, zero, 8, NULL, 0), DDIO_ST_INVALID);
	CU_ASSERT_EQUAL(SC_CALL(other, FS_GETATTR, fs_ino, &ino), DDIO_ST_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(other->text, "reactor 0"));
	CU_ASSERT_EQUAL(sc_call(c, DDIO_OP_FS_GETATTR, zero, 7, NULL, 0), UINT32_MAX);
	CU_ASSERT_TRUE(c->closed);
	sc_free(c);
	sc_free(other);
	sw_free(sw);
}

static void send_check(struct sc *c)
{
	const struct ddio_msg_obj obj = { .disk = DDIO_FSCK_NAMES };
	uint8_t buf[256];
	ssize_t len = ddio_put_obj(buf, sizeof(buf), &obj);

	CU_ASSERT_FATAL(len > 0);
	sc_send(c, DDIO_OP_FSCK, buf, (size_t)len, NULL, 0);
}

/* Who asks while records are checked is answered; a second check waits, and goes on when the first one is given up. */
static void others_are_served_during_a_check(void)
{
	struct sw *sw = sw_new(NULL);
	struct sc *c = mount(sw, 1), *gone = sc_new(sw, 0), *other = sc_new(sw, 0);
	struct ddio_msg_fs_opened opened;
	struct ddio_msg_fsck check;
	uint32_t asked;
	char name[16];
	int i;

	for (i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		CU_ASSERT_EQUAL_FATAL(make(c, DDIO_FS_ROOT, name, S_IFREG | 0644, 0, &opened), 0);
	}
	/* They are committed by themselves. */
	sw_run(sw, 3000 * MS);
	asked = c->replies;
	send_check(gone);
	send_check(other);
	send_check(c);
	sc_send(c, DDIO_OP_PING, NULL, 0, NULL, 0);
	ddio_conn_close(gone->conn, false);
	CU_ASSERT(sc_wait(c, asked + 1));
	CU_ASSERT(sc_wait(c, asked + 2));
	CU_ASSERT_EQUAL(c->opcode, DDIO_OP_FSCK);
	CU_ASSERT_EQUAL(c->status, DDIO_ST_OK);
	CU_ASSERT_EQUAL_FATAL(ddio_get_fsck(c->data, c->len, &check), 0);
	CU_ASSERT_EQUAL(check.objects, 600);
	CU_ASSERT_EQUAL(check.problems, 0);
	CU_ASSERT(sc_wait(other, 1));
	CU_ASSERT_EQUAL(other->status, DDIO_ST_OK);
	free(gone);
	sc_free(other);
	sc_free(c);
	sw_free(sw);
}

static const struct ut_case cases[] = {
	{ "names and attributes", names_and_attributes },
	{ "directories in answers", directories_in_answers },
	{ "open files and removal", open_files_and_removal },
	{ "unlink and durability", unlink_and_durability },
	{ "attached, with lives", attached_and_lives },
	{ "locks", locks_wait_and_are_cancelled },
	{ "a restart", a_restart_asks_for_everything_again },
	{ "others during a check", others_are_served_during_a_check },
	{ "bad messages", bad_messages_are_refused },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "mounts", cases } };

	return ut_run("iop_server_fs", suites, 1);
}
