// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of directories that came with replies: when they save a request, and when not.  Whatever is done
 * through the same client, and in whatever order replies arrive, no call gets outdated attributes.
 */
#include <sys/xattr.h>
#include "base/rand.h"
#include "cp/fs/names/dirattr.h"
#include "tests/unit/cp/fs/fs_world.h"
#include "userlib/cp/fs/inode/inode.h"

enum { BLOCK = 1024, DIRS = 6 };

static uint32_t asked(const struct fs_world *w)
{
	return w->names.count[DDIO_OP_FS_GETATTR & 255];
}

/* Checks that attributes are right, and whether the name server was asked for them. */
static void see(struct fs_world *w, struct fs_mount *m, uint64_t ino, uint64_t max_age, bool kept)
{
	uint32_t before = asked(w);

	FS_OK(m, ddio_fs_getattr_within, m->fs, ino, max_age);
	CU_ASSERT_EQUAL(asked(w) - before, !kept);
	CU_ASSERT_EQUAL(memcmp(&m->r.attr, &w->names.inode[ino].attr, sizeof(m->r.attr)), 0);
	CU_ASSERT(kept ? m->r.age < max_age : !m->r.age);
}

static uint64_t make(struct fs_mount *m, uint64_t parent, const char *name, uint32_t mode)
{
	struct ddio_fs_new new = { .mode = mode };

	FS_OK(m, ddio_fs_make, m->fs, parent, name, &new);
	return m->r.attr.ino;
}

static void ages(void)
{
	struct fs_world w;
	struct fs_mount *m;
	struct ddio_fs_file *file;
	uint32_t before;

	fs_world_begin(&w, 1, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, false);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, false); /* asking alone keeps nothing */
	make(m, DDIO_FS_ROOT, "d", S_IFDIR | 0755);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, true);
	see(&w, m, DDIO_FS_ROOT, 0, false);
	before = asked(&w);
	FS_OK(m, ddio_fs_getattr, m->fs, DDIO_FS_ROOT);
	CU_ASSERT_EQUAL(asked(&w), before + 1);
	ddio_sim_run_for(w.dw, 400 * FS_MS);
	see(&w, m, DDIO_FS_ROOT, 400 * FS_MS, false);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, true);
	CU_ASSERT(m->r.age >= 400 * FS_MS);
	ddio_sim_run_for(w.dw, 600 * FS_MS);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, false);
	see(&w, m, DDIO_FS_ROOT, UINT64_MAX, true);
	FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "d");
	see(&w, m, DDIO_FS_ROOT, FS_SEC, true);
	CU_ASSERT(m->r.age < 100 * FS_MS);
	ddio_sim_run_for(w.dw, FS_SEC);
	file = fs_create(m, "f", O_RDWR | O_EXCL);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, true);
	FS_OK(m, ddio_fs_file_close, file);
	fs_world_end(&w);
}

/*
 * Changes while the root directory's attributes are kept
 */
struct dirattr_scene {
	struct fs_world *w;
	struct fs_mount *m;
	struct ddio_fs_file *file;
	uint64_t ino, dir;
};

static void do_chmod(struct dirattr_scene *s)
{
	const struct ddio_fs_attr attr = { .mode = 0700 };

	FS_OK(s->m, ddio_fs_setattr, s->m->fs, DDIO_FS_ROOT, DDIO_FS_SET_MODE, &attr);
}

static void do_chmod_file(struct dirattr_scene *s)
{
	const struct ddio_fs_attr attr = { .mode = 0600 };

	FS_OK(s->m, ddio_fs_setattr, s->m->fs, s->ino, DDIO_FS_SET_MODE, &attr);
}

static void do_setxattr(struct dirattr_scene *s)
{
	FS_OK(s->m, ddio_fs_setxattr, s->m->fs, DDIO_FS_ROOT, "user.a", "b", 1, 0, false);
}

static void do_stripe(struct dirattr_scene *s)
{
	FS_OK(s->m, ddio_fs_setxattr, s->m->fs, DDIO_FS_ROOT, "ddio.stripe", "1K", 2, 0, false);
}

static void do_removexattr(struct dirattr_scene *s)
{
	FS_OK(s->m, ddio_fs_removexattr, s->m->fs, DDIO_FS_ROOT, "user.a", 0);
}

static void do_link(struct dirattr_scene *s)
{
	FS_OK(s->m, ddio_fs_link, s->m->fs, s->ino, DDIO_FS_ROOT, "l");
}

static void do_rename_in(struct dirattr_scene *s)
{
	FS_OK(s->m, ddio_fs_rename, s->m->fs, s->dir, "g", DDIO_FS_ROOT, "g", 0);
}

static void do_rename_out(struct dirattr_scene *s)
{
	FS_OK(s->m, ddio_fs_rename, s->m->fs, DDIO_FS_ROOT, "f", s->dir, "h", 0);
}

static void do_rmdir_elsewhere(struct dirattr_scene *s)
{
	FS_OK(s->m, ddio_fs_rmdir, s->m->fs, s->dir, "sub");
}

static void do_make_in_vain(struct dirattr_scene *s)
{
	const struct ddio_fs_new new = { .mode = S_IFDIR | 0700 };

	FS_ERR(s->m, -EEXIST, ddio_fs_make, s->m->fs, DDIO_FS_ROOT, "d", &new);
}

static void do_unlink_in_vain(struct dirattr_scene *s)
{
	FS_ERR(s->m, -ENOENT, ddio_fs_unlink, s->m->fs, DDIO_FS_ROOT, "none");
}

static void do_rmdir_in_vain(struct dirattr_scene *s)
{
	FS_ERR(s->m, -ENOENT, ddio_fs_rmdir, s->m->fs, s->dir, "none");
}

static void do_rename_in_vain(struct dirattr_scene *s)
{
	FS_ERR(s->m, -ENOENT, ddio_fs_rename, s->m->fs, s->dir, "x", s->dir, "y", 0);
}

static void do_make_untold(struct dirattr_scene *s)
{
	s->w->names.mute = true;
	make(s->m, DDIO_FS_ROOT, "new", S_IFDIR | 0755);
}

static void do_unlink_untold(struct dirattr_scene *s)
{
	s->w->names.mute = true;
	FS_OK(s->m, ddio_fs_unlink, s->m->fs, DDIO_FS_ROOT, "f");
}

/* The change is made but its reply is lost: the repeated one carries no attributes. */
static void do_make_twice(struct dirattr_scene *s)
{
	s->w->names.late = true;
	s->w->names.lose_at = s->w->names.messages + 1;
	make(s->m, DDIO_FS_ROOT, "new", S_IFDIR | 0755);
	CU_ASSERT_EQUAL(s->w->names.repeated, 1);
}

static void do_lose_connection(struct dirattr_scene *s)
{
	fake_hang_up(&s->w->names);
	ddio_sim_run_for(s->w->dw, FS_SEC);
}

static void do_restart(struct dirattr_scene *s)
{
	fake_reborn(&s->w->names);
	ddio_sim_run_for(s->w->dw, FS_SEC);
}

static void do_make(struct dirattr_scene *s)
{
	make(s->m, DDIO_FS_ROOT, "new", S_IFDIR | 0755);
}

static void do_rmdir(struct dirattr_scene *s)
{
	FS_OK(s->m, ddio_fs_rmdir, s->m->fs, DDIO_FS_ROOT, "empty");
}

static void do_elsewhere(struct dirattr_scene *s)
{
	make(s->m, s->dir, "new", S_IFREG | 0644);
	FS_OK(s->m, ddio_fs_unlink, s->m->fs, s->dir, "new");
	FS_OK(s->m, ddio_fs_link, s->m->fs, s->ino, s->dir, "l");
}

static void do_look(struct dirattr_scene *s)
{
	struct ddio_fs_file *file;
	char buf[BLOCK] = "";

	FS_OK(s->m, ddio_fs_lookup, s->m->fs, DDIO_FS_ROOT, "f");
	FS_OK(s->m, ddio_fs_readdir, s->m->fs, DDIO_FS_ROOT, 0, 10, true);
	FS_OK(s->m, ddio_fs_file_open, s->m->fs, s->ino, O_RDWR, &file);
	FS_OK(s->m, ddio_fs_write, file, buf, sizeof(buf), 0);
	FS_OK(s->m, ddio_fs_sync, file);
	FS_OK(s->m, ddio_fs_file_close, file);
	FS_OK(s->m, ddio_fs_space, s->m->fs);
}

static const struct {
	void (*fn)(struct dirattr_scene *s);
	bool kept;
} deeds[] = {
	{ do_chmod, false },	     { do_setxattr, false },
	{ do_stripe, false },	     { do_removexattr, false },
	{ do_link, false },	     { do_rename_in, false },
	{ do_rename_out, false },    { do_rmdir_elsewhere, false },
	{ do_make_in_vain, false },  { do_unlink_in_vain, false },
	{ do_rmdir_in_vain, false }, { do_rename_in_vain, false },
	{ do_make_untold, false },   { do_unlink_untold, false },
	{ do_make_twice, false },    { do_lose_connection, false },
	{ do_restart, false },	     { do_make, true },
	{ do_rmdir, true },	     { do_elsewhere, true },
	{ do_chmod_file, true },     { do_look, true },
};

static void deed(size_t i)
{
	struct fs_world w;
	struct dirattr_scene s = { .w = &w };

	fs_world_begin(&w, i, BLOCK, 3000);
	s.m = fs_mount(&w, 0, 0);
	s.dir = make(s.m, DDIO_FS_ROOT, "d", S_IFDIR | 0755);
	make(s.m, s.dir, "g", S_IFREG | 0644);
	make(s.m, s.dir, "sub", S_IFDIR | 0755);
	make(s.m, DDIO_FS_ROOT, "empty", S_IFDIR | 0755);
	s.ino = make(s.m, DDIO_FS_ROOT, "f", S_IFREG | 0644);
	see(&w, s.m, DDIO_FS_ROOT, 60 * FS_SEC, true);
	see(&w, s.m, s.dir, 60 * FS_SEC, true);
	deeds[i].fn(&s);
	see(&w, s.m, DDIO_FS_ROOT, 60 * FS_SEC, deeds[i].kept);
	fs_world_end(&w);
}

static void what_drops_them(void)
{
	size_t i;

	for (i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++)
		deed(i);
}

/*
 * Late replies
 */
static void late_begin(struct fs_world *w, struct fs_mount **m, struct fsc_result *r)
{
	fs_world_begin(w, 1, BLOCK, 3000);
	*m = fs_mount(w, 0, 0);
	fsc_wait_init(r, (*m)->fs);
	fsc_wait_begin(r);
	w->names.hold = DDIO_OP_FS_MAKE;
}

static void late_end(struct fs_world *w, struct fsc_result *r)
{
	CU_ASSERT_EQUAL(r->calls, 0);
	fake_let_go(&w->names);
	ddio_sim_run_for(w->dw, 10 * FS_MS);
	CU_ASSERT(r->calls == 1 && !r->err);
}

static const struct ddio_fs_new new_dir = { .mode = S_IFDIR | 0755 };

static void a_later_change_is_answered_first(void)
{
	struct fs_world w;
	struct fs_mount *m;
	struct fsc_result r;

	late_begin(&w, &m, &r);
	ddio_fs_make(m->fs, DDIO_FS_ROOT, "a", &new_dir, fsc_wait_done, &r);
	make(m, DDIO_FS_ROOT, "b", S_IFDIR | 0755);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, true);
	late_end(&w, &r);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, true);
	fs_world_end(&w);
}

static void dropped_first(bool all)
{
	const struct ddio_fs_attr attr = { .mode = 0700 };
	struct fs_world w;
	struct fs_mount *m;
	struct fsc_result r;

	late_begin(&w, &m, &r);
	ddio_fs_make(m->fs, DDIO_FS_ROOT, "a", &new_dir, fsc_wait_done, &r);
	if (all)
		FS_OK(m, ddio_fs_rename, m->fs, DDIO_FS_ROOT, "a", DDIO_FS_ROOT, "b", 0);
	else
		FS_OK(m, ddio_fs_setattr, m->fs, DDIO_FS_ROOT, DDIO_FS_SET_MODE, &attr);
	late_end(&w, &r);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, false);
	make(m, DDIO_FS_ROOT, "c", S_IFDIR | 0755);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, true);
	fs_world_end(&w);
}

static void what_dropped_them_is_answered_first(void)
{
	dropped_first(false);
	dropped_first(true);
}

/* Another directory has used the slot meanwhile. */
static void another_directory_is_answered_first(void)
{
	struct fs_world w;
	struct fs_mount *m;
	struct fsc_result r;
	uint64_t other;
	char name[16];
	int i;

	fs_world_begin(&w, 1, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	for (i = 0; i < FSC_DIRATTR_SLOTS; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		other = make(m, DDIO_FS_ROOT, name, S_IFDIR | 0755);
	}
	CU_ASSERT_EQUAL(other % FSC_DIRATTR_SLOTS, DDIO_FS_ROOT % FSC_DIRATTR_SLOTS);
	fsc_wait_init(&r, m->fs);
	fsc_wait_begin(&r);
	w.names.hold = DDIO_OP_FS_MAKE;
	ddio_fs_make(m->fs, DDIO_FS_ROOT, "a", &new_dir, fsc_wait_done, &r);
	make(m, DDIO_FS_ROOT, "b", S_IFDIR | 0755);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, true);
	make(m, other, "c", S_IFDIR | 0755);
	see(&w, m, other, FS_SEC, true);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, false);
	late_end(&w, &r);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, false);
	fs_world_end(&w);
}

static void a_removed_directory_does_not_come_back(void)
{
	struct fs_world w;
	struct fs_mount *m;
	struct fsc_result r;
	uint64_t d;

	fs_world_begin(&w, 1, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	d = make(m, DDIO_FS_ROOT, "d", S_IFDIR | 0755);
	fsc_wait_init(&r, m->fs);
	fsc_wait_begin(&r);
	w.names.hold = DDIO_OP_FS_MAKE;
	ddio_fs_make(m->fs, d, "a", &new_dir, fsc_wait_done, &r);
	FS_OK(m, ddio_fs_rmdir, m->fs, d, "a");
	see(&w, m, d, FS_SEC, true);
	FS_OK(m, ddio_fs_rmdir, m->fs, DDIO_FS_ROOT, "d");
	see(&w, m, d, FS_SEC, false);
	late_end(&w, &r);
	see(&w, m, d, FS_SEC, false);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, true);
	fs_world_end(&w);
}

/* Another mount has changed the directory: once that was seen, the old state is not seen again. */
static void time_goes_forward(void)
{
	struct fs_world w;
	struct fs_mount *m;
	struct fake_inode *root = &w.names.inode[DDIO_FS_ROOT], old;
	uint64_t d;

	fs_world_begin(&w, 1, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	d = make(m, DDIO_FS_ROOT, "d", S_IFDIR | 0755);
	old = *root;
	fake_changed(&w.names, root);
	FS_OK(m, ddio_fs_getattr_within, m->fs, DDIO_FS_ROOT, FS_SEC);
	CU_ASSERT_EQUAL(m->r.attr.change, old.attr.change);
	FS_OK(m, ddio_fs_getattr, m->fs, DDIO_FS_ROOT);
	see(&w, m, DDIO_FS_ROOT, FS_SEC, true);
	make(m, d, "x", S_IFDIR | 0755);
	fake_changed(&w.names, &w.names.inode[d]);
	FS_OK(m, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "d");
	see(&w, m, d, FS_SEC, true);
	fake_changed(&w.names, &w.names.inode[d]);
	FS_OK(m, ddio_fs_readdir, m->fs, DDIO_FS_ROOT, 0, 10, false);
	FS_OK(m, ddio_fs_getattr_within, m->fs, d, FS_SEC);
	CU_ASSERT_NOT_EQUAL(m->r.attr.change, w.names.inode[d].attr.change);
	FS_OK(m, ddio_fs_readdir, m->fs, DDIO_FS_ROOT, 0, 10, true);
	see(&w, m, d, FS_SEC, true);
	/* its removal is seen, too */
	w.names.inode[d].used = false;
	FS_ERR(m, -ENOENT, ddio_fs_getattr, m->fs, d);
	FS_ERR(m, -ENOENT, ddio_fs_getattr_within, m->fs, d, FS_SEC);
	fs_world_end(&w);
}

/*
 * The real name server, many requests at a time, at random
 */
struct dirattr_crowd {
	struct fs_world w;
	struct fs_mount *m;
	uint64_t seed, dir[DIRS];
};

static const char *some_name(struct dirattr_crowd *c)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };

	return names[ddio_rand_below(&c->seed, 5)];
}

static uint64_t some_dir(struct dirattr_crowd *c)
{
	return c->dir[ddio_rand_below(&c->seed, DIRS)];
}

static void some_request(struct dirattr_crowd *c, struct fsc_result *r)
{
	const struct ddio_fs_new file = { .mode = S_IFREG | 0644 };
	const struct ddio_fs_attr attr = { .mode = 0700 + (uint32_t)ddio_rand_below(&c->seed, 8) };
	struct ddio_fs *fs = c->m->fs;
	uint64_t dir = some_dir(c), to = some_dir(c);
	const char *name = some_name(c), *new_name = some_name(c);

	switch (ddio_rand_below(&c->seed, 12)) {
	case 0:
	case 1:
	case 2:
		ddio_fs_make(fs, dir, name, &file, fsc_wait_done, r);
		break;
	case 3:
	case 4:
		ddio_fs_make(fs, dir, name, &new_dir, fsc_wait_done, r);
		break;
	case 5:
	case 6:
		ddio_fs_unlink(fs, dir, name, fsc_wait_done, r);
		break;
	case 7:
		ddio_fs_rmdir(fs, dir, name, fsc_wait_done, r);
		break;
	case 8:
		ddio_fs_rename(fs, dir, name, to, new_name, ddio_rand_below(&c->seed, 2) ? 2 : 0,
			       fsc_wait_done, r);
		break;
	case 9:
		ddio_fs_setattr(fs, dir, DDIO_FS_SET_MODE, &attr, fsc_wait_done, r);
		break;
	case 10:
		ddio_fs_setxattr(fs, dir, "user.a", "b", 1, 0, false, fsc_wait_done, r);
		break;
	default:
		ddio_fs_getattr_within(fs, dir, UINT64_MAX, fsc_wait_done, r);
		break;
	}
}

static void crowd_round(struct dirattr_crowd *c, uint32_t *kept)
{
	struct fsc_result r[6];
	struct ddio_fs_attr attr;
	uint32_t n = 1 + (uint32_t)ddio_rand_below(&c->seed, 6), i;

	for (i = 0; i < n; i++) {
		fsc_wait_init(&r[i], c->m->fs);
		fsc_wait_begin(&r[i]);
		some_request(c, &r[i]);
	}
	for (i = 0; i < n; i++)
		ddio_gate_wait(r[i].env, &r[i].gate, 0);
	for (i = 0; i < DIRS; i++) {
		FS_OK(c->m, ddio_fs_getattr_within, c->m->fs, c->dir[i], UINT64_MAX);
		attr = c->m->r.attr;
		*kept += c->m->r.age > 0;
		FS_OK(c->m, ddio_fs_getattr, c->m->fs, c->dir[i]);
		CU_ASSERT_EQUAL(memcmp(&attr, &c->m->r.attr, sizeof(attr)), 0);
	}
}

static void nobody_gets_what_is_old(void)
{
	uint32_t kept = 0, round, seed, i;
	struct dirattr_crowd c;
	char name[16];

	for (seed = 0; seed < 4; seed++) {
		c.seed = seed;
		fs_world_make(&c.w, true, seed, BLOCK, 3000);
		c.m = fs_mount(&c.w, 0, 0);
		c.dir[0] = DDIO_FS_ROOT;
		for (i = 1; i < DIRS; i++) {
			snprintf(name, sizeof(name), "dir%u", i);
			c.dir[i] = make(c.m, c.dir[i / 2], name, S_IFDIR | 0755);
		}
		for (round = 0; round < 400; round++)
			crowd_round(&c, &kept);
		fs_world_end(&c.w);
	}
	CU_ASSERT(kept > 300);
}

/* Another mount's changes are seen as soon as what is kept is too old. */
static void two_mounts(void)
{
	struct fs_mount *a, *b;
	struct fs_world w;
	uint64_t change;

	fs_world_make(&w, true, 1, BLOCK, 3000);
	a = fs_mount(&w, 0, 0);
	b = fs_mount(&w, 1, 0);
	make(a, DDIO_FS_ROOT, "a", S_IFDIR | 0755);
	make(b, DDIO_FS_ROOT, "b", S_IFDIR | 0755);
	FS_OK(b, ddio_fs_getattr_within, b->fs, DDIO_FS_ROOT, FS_SEC);
	CU_ASSERT_EQUAL(b->r.attr.nlink, 4);
	change = b->r.attr.change;
	FS_OK(a, ddio_fs_getattr_within, a->fs, DDIO_FS_ROOT, FS_SEC);
	CU_ASSERT_EQUAL(a->r.attr.nlink, 3);
	ddio_sim_run_for(w.dw, FS_SEC);
	FS_OK(a, ddio_fs_getattr_within, a->fs, DDIO_FS_ROOT, FS_SEC);
	CU_ASSERT(a->r.attr.nlink == 4 && a->r.attr.change == change && !a->r.age);
	fs_world_end(&w);
}

static const struct ut_case fake_cases[] = {
	{ "ages", ages },
	{ "what drops them", what_drops_them },
	{ "a later change is answered first", a_later_change_is_answered_first },
	{ "what dropped them is answered first", what_dropped_them_is_answered_first },
	{ "another directory is answered first", another_directory_is_answered_first },
	{ "a removed directory does not come back", a_removed_directory_does_not_come_back },
	{ "time goes forward", time_goes_forward },
	{ NULL, NULL },
};

static const struct ut_case real_cases[] = {
	{ "nobody gets what is old", nobody_gets_what_is_old },
	{ "two mounts", two_mounts },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "by itself", fake_cases },
						  { "with a name space", real_cases } };

	return ut_run("fs_dirattr", suites, 2);
}
