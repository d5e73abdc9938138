// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mounts of users: what Alice may do with what is hers, by numbers of inodes, and where the others' edges are.
 */
#include "tests/unit/iop/server/users_world.h"

static uint64_t looked(struct sc *c, uint64_t dir, const char *name, uint32_t *status)
{
	struct ddio_msg_fs_name x = { .parent = dir };
	struct ddio_msg_fs_attr out = { .attr = { .ino = 0 } };

	snprintf(x.name, sizeof(x.name), "%s", name);
	*status = SC_CALL(c, FS_LOOKUP, fs_name, &x);
	if (*status)
		return 0;
	CU_ASSERT_EQUAL(ddio_get_fs_attr(c->data, c->len, &out), 0);
	return out.attr.ino;
}

static uint32_t lookup(struct sc *c, uint64_t dir, const char *name)
{
	uint32_t status;

	looked(c, dir, name, &status);
	return status;
}

static uint32_t getattr(struct sc *c, uint64_t ino)
{
	struct ddio_msg_fs_ino x = { .ino = ino };

	return SC_CALL(c, FS_GETATTR, fs_ino, &x);
}

static uint32_t attach(struct sc *c, uint8_t id)
{
	struct ddio_msg_fs_attach x = { .mount = { id }, .flags = DDIO_FS_ATTACH_TOLD };

	return SC_CALL(c, FS_ATTACH, fs_attach, &x);
}

static uint32_t open_file(struct sc *c, uint64_t ino, uint32_t flags)
{
	struct ddio_msg_fs_open x = { .ino = ino, .flags = flags };

	memset(&c->grant, 0, sizeof(c->grant));
	return SC_CALL(c, FS_OPEN, fs_open, &x);
}

static uint32_t make_in(struct sc *c, uint64_t dir, const char *name, uint32_t mode, uint32_t flags,
			struct ddio_fs_attr *attr)
{
	struct ddio_msg_fs_make x = {
		.parent = dir, .mode = mode, .uid = ALICE, .gid = STAFF, .flags = flags
	};
	struct ddio_msg_fs_opened out;
	uint32_t status;

	snprintf(x.name, sizeof(x.name), "%s", name);
	memset(&c->grant, 0, sizeof(c->grant));
	status = SC_CALL(c, FS_MAKE, fs_make, &x);
	if (!status && attr) {
		CU_ASSERT_EQUAL(ddio_get_fs_opened(c->data, c->len, &out), 0);
		*attr = out.attr;
		ddio_fs_opened_free(&out);
	}
	return status;
}

static uint32_t set(struct sc *c, uint64_t ino, uint32_t mask, uint32_t value)
{
	struct ddio_msg_fs_setattr x = {
		.ino = ino, .mask = mask, .mode = value, .uid = value, .gid = value, .size = value
	};

	return SC_CALL(c, FS_SETATTR, fs_setattr, &x);
}

static uint32_t set_xattr(struct sc *c, uint64_t ino, const char *name)
{
	struct ddio_msg_fs_xattr x = { .ino = ino, .len = 1, .value = "x" };

	snprintf(x.name, sizeof(x.name), "%s", name);
	return SC_CALL(c, FS_SETXATTR, fs_xattr, &x);
}

static uint32_t rename_to(struct sc *c, uint64_t from, const char *name, uint64_t to,
			  const char *new_name)
{
	struct ddio_msg_fs_rename x = { .parent = from, .new_parent = to };

	snprintf(x.name, sizeof(x.name), "%s", name);
	snprintf(x.new_name, sizeof(x.new_name), "%s", new_name);
	return SC_CALL(c, FS_RENAME, fs_rename, &x);
}

static uint32_t unlink_in(struct sc *c, uint64_t dir, const char *name, uint32_t flags)
{
	struct ddio_msg_fs_name x = { .parent = dir, .flags = flags };

	snprintf(x.name, sizeof(x.name), "%s", name);
	memset(&c->grant, 0, sizeof(c->grant));
	return SC_CALL(c, FS_UNLINK, fs_name, &x);
}

static uint32_t link_to(struct sc *c, uint64_t ino, uint64_t dir, const char *name)
{
	struct ddio_msg_fs_link x = { .ino = ino, .parent = dir };

	snprintf(x.name, sizeof(x.name), "%s", name);
	return SC_CALL(c, FS_LINK, fs_link, &x);
}

static uint32_t wrote(struct sc *c, uint64_t ino, uint64_t end)
{
	struct ddio_msg_fs_wrote x = { .ino = ino,
				       .end = end,
				       .flags = DDIO_FS_WROTE_DATA | DDIO_FS_WROTE_TIMES };

	return SC_CALL(c, FS_WROTE, fs_wrote, &x);
}

/* What a mount does with a file of its user's, from its name to its end. */
static void own_file(void)
{
	struct users *u = users_new();
	struct ddio_msg_fs_append app = { .len = 10 };
	struct ddio_msg_fs_lease lease = { 0 };
	struct ddio_msg_fs_ino ino;
	struct ddio_msg_obj obj;
	struct ddio_fs_attr attr;
	uint32_t status;

	CU_ASSERT_EQUAL(attach(u->alice, 7), DDIO_ST_OK);
	CU_ASSERT_EQUAL(looked(u->alice, DDIO_FS_ROOT, "home", &status), u->home);
	CU_ASSERT_EQUAL(make_in(u->alice, u->home, "new", S_IFREG | 0400, DDIO_FS_MAKE_OPEN, &attr),
			DDIO_ST_OK);
	CU_ASSERT_EQUAL(attr.uid, ALICE);
	CU_ASSERT_EQUAL(attr.gid, STAFF);
	/* Whoever makes it may write it, also when it has been opened once more. */
	CU_ASSERT_EQUAL(u->alice->grant.rights, DDIO_GRANT_READ | DDIO_GRANT_WRITE);
	show(u->alice_disk, &u->alice->grant);
	CU_ASSERT_EQUAL(open_file(u->alice, attr.ino, DDIO_FS_OPEN_LOOK), DDIO_ST_OK);
	CU_ASSERT_EQUAL(wrote(u->alice, attr.ino, 100), DDIO_ST_OK);
	app.ino = lease.ino = ino.ino = attr.ino;
	CU_ASSERT_EQUAL(SC_CALL(u->alice, FS_APPEND, fs_append, &app), DDIO_ST_OK);
	CU_ASSERT_EQUAL(SC_CALL(u->alice, FS_LEASE, fs_lease, &lease), DDIO_ST_OK);
	CU_ASSERT_EQUAL(sc_write(u->alice_disk, attr.ino, 0, 0, &app, sizeof(app)), DDIO_ST_OK);
	CU_ASSERT_EQUAL(set(u->alice, attr.ino, DDIO_FS_SET_SIZE, 50), DDIO_ST_OK);
	CU_ASSERT_EQUAL(set(u->alice, attr.ino, DDIO_FS_SET_MODE, 0640), DDIO_ST_OK);
	CU_ASSERT_EQUAL(set_xattr(u->alice, attr.ino, "user.a"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(link_to(u->alice, attr.ino, u->sticky, "linked"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(rename_to(u->alice, u->home, "new", u->pub, "newer"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(unlink_in(u->alice, u->sticky, "linked", 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(unlink_in(u->alice, u->pub, "newer", 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(getattr(u->alice, attr.ino), DDIO_ST_OK);
	/* The last of it, with the right to remove what is left. */
	CU_ASSERT_EQUAL(SC_CALL(u->mallory, FS_RELEASE, fs_ino, &ino), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(SC_CALL(u->alice, FS_RELEASE, fs_ino, &ino), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->alice->grant.file, attr.ino);
	CU_ASSERT_EQUAL(u->alice->grant.rights, DDIO_GRANT_REMOVE);
	show(u->alice_disk, &u->alice->grant);
	obj = sc_obj(attr.ino, 0, 0, 0);
	CU_ASSERT_NOT_EQUAL(sc_object(u->alice_disk, DDIO_OP_OBJ_REMOVE, &obj), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(SC_CALL(u->mallory, FS_GONE, fs_ino, &ino), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(SC_CALL(u->alice, FS_GONE, fs_ino, &ino), DDIO_ST_OK);
	users_free(u);
}

/* Nobody comes to an inode by its number alone; a while after the way was gone it is to be gone again. */
static void numbers(void)
{
	struct users *u = users_new();

	CU_ASSERT_EQUAL(getattr(u->mallory, u->all), DDIO_ST_STALE);
	CU_ASSERT_EQUAL(lookup(u->mallory, u->pub, "all"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(getattr(u->mallory, u->all), DDIO_ST_OK);
	sw_run(u->sw, 59000 * MS);
	CU_ASSERT_EQUAL(getattr(u->mallory, u->all), DDIO_ST_OK);
	sw_run(u->sw, 61000 * MS);
	CU_ASSERT_EQUAL(getattr(u->mallory, u->all), DDIO_ST_STALE);
	CU_ASSERT_EQUAL(lookup(u->mallory, u->pub, "all"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(getattr(u->mallory, u->all), DDIO_ST_OK);
	/* On another connection nothing has been shown. */
	CU_ASSERT_EQUAL(getattr(u->alice, u->all), DDIO_ST_STALE);
	users_free(u);
}

/* A directory is come to from the root, whatever was shown before. */
static void directories(void)
{
	struct users *u = users_new();
	struct ddio_msg_fs_readdir list = { .max = 9, .flags = DDIO_FS_READDIR_PLUS };
	uint64_t deep = make(u, u->home, "deep", S_IFDIR | 0777, ALICE);

	CU_ASSERT_EQUAL(getattr(u->mallory, u->home), DDIO_ST_OK);
	CU_ASSERT_EQUAL(getattr(u->mallory, deep), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(make_in(u->mallory, deep, "x", S_IFREG | 0666, 0, NULL),
			DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(lookup(u->mallory, deep, ".."), DDIO_ST_PERMISSION);
	list.ino = deep;
	CU_ASSERT_EQUAL(SC_CALL(u->mallory, FS_READDIR, fs_readdir, &list), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(SC_CALL(u->alice, FS_READDIR, fs_readdir, &list), DDIO_ST_OK);
	CU_ASSERT_EQUAL(set(u->root, u->home, DDIO_FS_SET_MODE, 0711), DDIO_ST_OK);
	CU_ASSERT_EQUAL(getattr(u->mallory, deep), DDIO_ST_OK);
	CU_ASSERT_EQUAL(SC_CALL(u->mallory, FS_READDIR, fs_readdir, &list), DDIO_ST_OK);
	CU_ASSERT_EQUAL(set(u->root, u->home, DDIO_FS_SET_MODE, 0700), DDIO_ST_OK);
	CU_ASSERT_EQUAL(getattr(u->mallory, deep), DDIO_ST_PERMISSION);
	/* What a listing has shown has been shown. */
	list.ino = u->pub;
	CU_ASSERT_EQUAL(getattr(u->mallory, u->team), DDIO_ST_STALE);
	CU_ASSERT_EQUAL(SC_CALL(u->mallory, FS_READDIR, fs_readdir, &list), DDIO_ST_OK);
	CU_ASSERT_EQUAL(getattr(u->mallory, u->team), DDIO_ST_OK);
	users_free(u);
}

/* Deeper than a path can be: not by its number. */
static void abyss(void)
{
	struct users *u = users_new();
	uint64_t at = u->pub, limit = u->sw->iop->reactors[0].bounds.at[BOUND_NAMES].limit, i;

	for (i = 2; i < limit; i++)
		at = make(u, at, "d", S_IFDIR | 0755, ALICE);
	CU_ASSERT_EQUAL(getattr(u->mallory, at), DDIO_ST_OK);
	at = make(u, at, "d", S_IFDIR | 0755, ALICE);
	at = make(u, at, "d", S_IFDIR | 0755, ALICE);
	CU_ASSERT_EQUAL(getattr(u->mallory, at), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(getattr(u->root, at), DDIO_ST_OK);
	users_free(u);
}

static void attributes(void)
{
	struct users *u = users_new();

	CU_ASSERT_EQUAL(lookup(u->mallory, u->sticky, "hers"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(lookup(u->alice, u->sticky, "hers"), DDIO_ST_OK);
	/* Everybody may write it: cut it, and say that it was written now; not more. */
	CU_ASSERT_EQUAL(set(u->mallory, u->hers, DDIO_FS_SET_SIZE, 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(set(u->mallory, u->hers, DDIO_FS_SET_MTIME_NOW, 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(set(u->mallory, u->hers, DDIO_FS_SET_ATIME, 0), DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(set(u->mallory, u->hers, DDIO_FS_SET_MODE, 0777), DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(set(u->mallory, u->hers, DDIO_FS_SET_UID, MALLORY), DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(set(u->mallory, u->hers, DDIO_FS_SET_GID, 60), DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(set(u->mallory, u->hers, DDIO_FS_SET_SIZE | DDIO_FS_SET_MODE, 0),
			DDIO_ST_NOT_PERMITTED);
	/* She may not give it away, nor to a group that she is not in. */
	CU_ASSERT_EQUAL(set(u->alice, u->hers, DDIO_FS_SET_ATIME, 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(set(u->alice, u->hers, DDIO_FS_SET_UID, MALLORY), DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(set(u->alice, u->hers, DDIO_FS_SET_GID, 60), DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(set(u->alice, u->hers, DDIO_FS_SET_GID, STAFF), DDIO_ST_OK);
	CU_ASSERT_EQUAL(set(u->alice, u->hers, DDIO_FS_SET_MODE, 02755), DDIO_ST_OK);
	CU_ASSERT_EQUAL(set(u->root, u->hers, DDIO_FS_SET_GID, 60), DDIO_ST_OK);
	CU_ASSERT_EQUAL(set(u->alice, u->hers, DDIO_FS_SET_MODE, 02755), DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(set(u->alice, u->hers, DDIO_FS_SET_MODE, 04755), DDIO_ST_OK);
	users_free(u);
}

static void extended(void)
{
	struct users *u = users_new();
	struct ddio_msg_fs_xattr get = { .ino = u->hers, .name = "trusted.a" };
	uint64_t open = make(u, DDIO_FS_ROOT, "open", S_IFDIR | 0777, ALICE);

	CU_ASSERT_EQUAL(lookup(u->mallory, u->sticky, "hers"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(set_xattr(u->root, u->hers, "trusted.a"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(SC_CALL(u->root, FS_GETXATTR, fs_xattr, &get), DDIO_ST_OK);
	CU_ASSERT_NOT_EQUAL(SC_CALL(u->mallory, FS_GETXATTR, fs_xattr, &get), DDIO_ST_OK);
	CU_ASSERT_EQUAL(set_xattr(u->mallory, u->hers, "user.a"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(set_xattr(u->mallory, u->hers, "trusted.a"), DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(set_xattr(u->mallory, u->hers, "security.capability"),
			DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(set_xattr(u->mallory, u->hers, "system.posix_acl_access"),
			DDIO_ST_NOT_PERMITTED);
	/* How files are spread is for the owner, whoever else may write. */
	CU_ASSERT_EQUAL(set_xattr(u->mallory, u->hers, "ddio.stripe"), DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(set_xattr(u->mallory, open, "ddio.disks"), DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(set_xattr(u->alice, open, "ddio.disks"), DDIO_ST_INVALID);
	CU_ASSERT_EQUAL(set_xattr(u->root, open, "ddio.disks"), DDIO_ST_INVALID);
	/* A directory in which everybody may write is no place for everybody's attributes. */
	CU_ASSERT_EQUAL(set_xattr(u->mallory, u->sticky, "user.a"), DDIO_ST_NOT_PERMITTED);
	users_free(u);
}

static void names(void)
{
	struct users *u = users_new();
	uint64_t open = make(u, DDIO_FS_ROOT, "open", S_IFDIR | 0777, ALICE);
	uint64_t dir = make(u, open, "dir", S_IFDIR | 0755, ALICE);
	struct ddio_fs_attr attr;

	CU_ASSERT_EQUAL(make(u, open, "file", S_IFREG | 0600, ALICE) != 0, true);
	/* A sticky directory keeps what is another's, also from being replaced. */
	CU_ASSERT_EQUAL(make_in(u->mallory, u->sticky, "mine", S_IFREG | 0666, 0, &attr),
			DDIO_ST_OK);
	CU_ASSERT_EQUAL(attr.uid, MALLORY);
	CU_ASSERT_EQUAL(attr.gid, MALLORY);
	CU_ASSERT_EQUAL(unlink_in(u->mallory, u->sticky, "hers", 0), DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(rename_to(u->mallory, u->sticky, "mine", u->sticky, "hers"),
			DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(rename_to(u->mallory, u->sticky, "hers", open, "hers"),
			DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(rename_to(u->mallory, u->sticky, "mine", u->pub, "mine"),
			DDIO_ST_PERMISSION);
	/* A directory of another's may be renamed, but not get another parent. */
	CU_ASSERT_EQUAL(rename_to(u->mallory, open, "dir", open, "dir2"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(rename_to(u->mallory, open, "dir2", u->sticky, "dir"), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(getattr(u->mallory, dir), DDIO_ST_OK);
	CU_ASSERT_EQUAL(unlink_in(u->mallory, open, "file", 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(unlink_in(u->mallory, open, "file", 0), DDIO_ST_NOT_FOUND);
	CU_ASSERT_EQUAL(unlink_in(u->mallory, open, "dir2", DDIO_FS_UNLINK_DIR), DDIO_ST_OK);
	/* Links to what one may not write would keep it for ever. */
	CU_ASSERT_EQUAL(lookup(u->mallory, u->pub, "all"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(link_to(u->mallory, u->all, u->sticky, "l"), DDIO_ST_NOT_PERMITTED);
	CU_ASSERT_EQUAL(lookup(u->mallory, u->sticky, "hers"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(link_to(u->mallory, u->hers, u->sticky, "l"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(make_in(u->mallory, u->sticky, "null", S_IFCHR | 0666, 0, NULL),
			DDIO_ST_NOT_PERMITTED);
	users_free(u);
}

static void opening(void)
{
	struct users *u = users_new();
	struct sc *other;
	uint64_t shut;

	CU_ASSERT_EQUAL(attach(u->mallory, 8), DDIO_ST_OK);
	CU_ASSERT_EQUAL(lookup(u->mallory, u->pub, "own"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(open_file(u->mallory, u->own, 0), DDIO_ST_PERMISSION);
	/* To make what is there already is to open it. */
	shut = make(u, u->sticky, "shut", S_IFREG | 0600, ALICE);
	CU_ASSERT_EQUAL(make_in(u->mallory, u->sticky, "shut", S_IFREG | 0666, DDIO_FS_MAKE_OPEN,
				NULL),
			DDIO_ST_PERMISSION);
	/* It has not been open before, either. */
	CU_ASSERT_EQUAL(open_file(u->mallory, shut, DDIO_FS_OPEN_AGAIN), DDIO_ST_STALE);
	CU_ASSERT_EQUAL(lookup(u->mallory, u->pub, "all"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(open_file(u->mallory, u->all, 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(u->mallory->grant.rights, DDIO_GRANT_READ);
	CU_ASSERT_EQUAL(wrote(u->mallory, u->all, 10), DDIO_ST_PERMISSION);
	/* On a new connection the grant says that it was open, even one that has expired. */
	sw_run(u->sw, 200000 * MS);
	other = as(u->sw, 0, MALLORY, 60);
	CU_ASSERT_EQUAL(attach(other, 9), DDIO_ST_OK);
	CU_ASSERT_EQUAL(open_file(other, u->all, DDIO_FS_OPEN_AGAIN), DDIO_ST_STALE);
	show(other, &u->mallory->grant);
	CU_ASSERT_EQUAL(open_file(other, u->all, DDIO_FS_OPEN_AGAIN), DDIO_ST_OK);
	CU_ASSERT_EQUAL(getattr(other, u->all), DDIO_ST_OK);
	sc_free(other);
	users_free(u);
}

/* A mount is one user's, whoever learns its name; who is nobody has none. */
static void mounts(void)
{
	struct users *u = users_new();
	struct sc *stranger = as(u->sw, 0, NOBODY, NOBODY);
	struct sc *again = as(u->sw, 0, ALICE, STAFF);

	CU_ASSERT_EQUAL(attach(u->root, 5), DDIO_ST_OK);
	CU_ASSERT_EQUAL(attach(u->mallory, 5), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(attach(u->alice, 7), DDIO_ST_OK);
	CU_ASSERT_EQUAL(attach(u->mallory, 7), DDIO_ST_PERMISSION);
	CU_ASSERT_EQUAL(attach(u->mallory, 8), DDIO_ST_OK);
	CU_ASSERT_EQUAL(attach(again, 7), DDIO_ST_OK);
	CU_ASSERT_EQUAL(attach(stranger, 9), DDIO_ST_PERMISSION);
	/* What one connection of a mount has open, the others may ask about. */
	CU_ASSERT_EQUAL(getattr(again, u->own), DDIO_ST_STALE);
	CU_ASSERT_EQUAL(lookup(u->alice, u->pub, "own"), DDIO_ST_OK);
	CU_ASSERT_EQUAL(open_file(u->alice, u->own, 0), DDIO_ST_OK);
	CU_ASSERT_EQUAL(getattr(again, u->own), DDIO_ST_OK);
	sc_free(stranger);
	sc_free(again);
	users_free(u);
}

static const struct ut_case cases[] = {
	{ "a file of one's own", own_file },
	{ "numbers", numbers },
	{ "directories", directories },
	{ "deeper than paths", abyss },
	{ "attributes", attributes },
	{ "extended attributes", extended },
	{ "names", names },
	{ "opening", opening },
	{ "mounts", mounts },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "users' mounts", cases } };

	return ut_run("test_iop_server_users_fs", suites, 1);
}
