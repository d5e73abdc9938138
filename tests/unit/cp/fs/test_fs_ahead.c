// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names looked up ahead: how many requests a walk over a directory costs, and that nobody gets what is outdated by what
 * the same client did or was told.
 */
#include "base/rand.h"
#include "cp/fs/names/ahead.h"
#include "tests/unit/cp/fs/fs_world.h"

enum { BLOCK = 1024, FILES = 100, MANY = 1000 };

static uint32_t asked(const struct fs_world *w)
{
	return w->names.count[DDIO_OP_FS_LOOKUP & 255] + w->names.count[DDIO_OP_FS_READDIR & 255];
}

static uint64_t make(struct fs_mount *m, uint64_t parent, const char *name, uint32_t mode)
{
	struct ddio_fs_new new = { .mode = mode };

	FS_OK(m, ddio_fs_make, m->fs, parent, name, &new);
	return m->r.attr.ino;
}

static const char *name_of(uint32_t i)
{
	static char name[16];

	snprintf(name, sizeof(name), "f%u", i);
	return name;
}

static uint64_t dir_make(struct fs_mount *m, const char *name, uint32_t files)
{
	uint64_t dir = make(m, DDIO_FS_ROOT, name, S_IFDIR | 0755);
	uint32_t i;

	for (i = 0; i < files; i++)
		make(m, dir, name_of(i), S_IFREG | 0644);
	return dir;
}

/* Looks a name up, and compares with what @other is told now.  Returns true if it came from a listing. */
static bool look_beside(struct fs_mount *m, struct fs_mount *other, uint64_t dir, const char *name)
{
	struct fsc_result first;
	int err;

	err = FSC_WAIT(&m->r, ddio_fs_lookup_within, m->fs, dir, name, FS_SEC);
	first = m->r;
	CU_ASSERT_EQUAL(FSC_WAIT(&other->r, ddio_fs_lookup, other->fs, dir, name), err);
	CU_ASSERT(err || !memcmp(&first.attr, &other->r.attr, sizeof(first.attr)));
	return first.age;
}

static bool look(struct fs_mount *m, uint64_t dir, const char *name)
{
	return look_beside(m, m, dir, name);
}

/* Looks all files up without comparing.  Returns how many came from a listing. */
static uint32_t walk(struct fs_mount *m, uint64_t dir, uint32_t files, uint64_t max_age)
{
	uint32_t i, ahead = 0;

	for (i = 0; i < files; i++) {
		FS_OK(m, ddio_fs_lookup_within, m->fs, dir, name_of(i), max_age);
		ahead += m->r.age > 0;
		CU_ASSERT(!m->r.age || m->r.age < max_age);
	}
	return ahead;
}

static void requests_of_a_walk(void)
{
	struct fs_world w;
	struct fs_mount *m;
	uint64_t dir;
	uint32_t before;

	fs_world_begin(&w, 1, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	dir = dir_make(m, "d", FILES);
	before = asked(&w);
	CU_ASSERT_EQUAL(walk(m, dir, FILES, 0), 0);
	CU_ASSERT_EQUAL(asked(&w) - before, FILES);
	before = asked(&w);
	CU_ASSERT(walk(m, dir, FILES, FS_SEC) >= FILES - 10);
	CU_ASSERT(asked(&w) - before <= 10);
	/* a second later all of it is old */
	ddio_sim_run_for(w.dw, FS_SEC);
	before = asked(&w);
	walk(m, dir, 1, FS_SEC);
	CU_ASSERT_EQUAL(asked(&w) - before, 1);
	fs_world_end(&w);
}

/* Names that are looked up because they are about to be made, or here and there, have nothing listed. */
static void what_is_not_listed(void)
{
	struct fs_world w;
	struct fs_mount *m;
	uint32_t i;

	fs_world_begin(&w, 1, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	for (i = 0; i < 50; i++) {
		FS_ERR(m, -ENOENT, ddio_fs_lookup_within, m->fs, DDIO_FS_ROOT, name_of(i), FS_SEC);
		make(m, DDIO_FS_ROOT, name_of(i), S_IFREG | 0644);
	}
	for (i = 0; i < 50; i++) {
		FS_OK(m, ddio_fs_lookup_within, m->fs, DDIO_FS_ROOT, "f1", FS_SEC);
		ddio_sim_run_for(w.dw, FS_SEC / 2);
	}
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_READDIR & 255], 0);
	fs_world_end(&w);
}

/* A directory whose names go before it is listed on: the rest has none, whatever was told of it. */
static void an_empty_listing(void)
{
	enum { SECOND = 150, FIRST = 120 };
	struct fs_mount *a, *b;
	struct fs_world w;
	uint64_t dir;
	uint32_t i;

	fs_world_make(&w, true, 1, BLOCK, 3000);
	a = fs_mount(&w, 0, 0);
	b = fs_mount(&w, 1, 0);
	dir = dir_make(a, "d", SECOND);
	CU_ASSERT(walk(a, dir, FIRST, FS_SEC) > FIRST - 10);
	for (i = 0; i < SECOND; i++)
		FS_OK(b, ddio_fs_unlink, b->fs, dir, name_of(i));
	for (i = FIRST + 20; i < SECOND; i++)
		FS_ERR(a, -ENOENT, ddio_fs_lookup_within, a->fs, dir, name_of(i), FS_SEC);
	fs_world_end(&w);
}

/* A large directory is listed bit by bit, each as soon as the last was used. */
static void a_large_directory(void)
{
	struct fs_world w;
	struct fs_mount *m;
	uint64_t dir;

	fs_world_make(&w, true, 1, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	dir = dir_make(m, "d", MANY);
	CU_ASSERT(walk(m, dir, MANY, FS_SEC) > MANY - 40);
	fs_world_end(&w);
}

/* Listings that were of no use make the mount wary; then it begins late, and goes on all the same. */
static void after_listings_of_no_use(void)
{
	struct fs_world w;
	struct fs_mount *m;
	uint64_t dir;
	uint32_t i;

	fs_world_make(&w, true, 1, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	dir = dir_make(m, "d", MANY);
	for (i = 4; i <= 64; i *= 2) {
		walk(m, dir, i + 2, FS_SEC);
		ddio_sim_run_for(w.dw, 2 * FS_SEC);
	}
	CU_ASSERT(walk(m, dir, MANY, FS_SEC) > MANY - 150);
	fs_world_end(&w);
}

/* Files that this client wrote and closed, as cp -r does before git status. */
static void files_written_here(void)
{
	struct ddio_fs_new new = { .mode = S_IFREG | 0644 };
	struct ddio_fs_file *file;
	struct fs_world w;
	struct fs_mount *m;
	uint64_t dir;
	uint32_t i;

	fs_world_make(&w, true, 1, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	dir = make(m, DDIO_FS_ROOT, "d", S_IFDIR | 0755);
	for (i = 0; i < FILES; i++) {
		FS_OK(m, ddio_fs_file_create, m->fs, dir, name_of(i), O_RDWR, &new, &file);
		FS_OK(m, ddio_fs_write, file, "data", 4, 0);
		FS_OK(m, ddio_fs_file_close, file);
	}
	CU_ASSERT(walk(m, dir, FILES, FS_SEC) >= FILES - 10);
	for (i = 0; i < FILES; i++)
		look(m, dir, name_of(i));
	fs_world_end(&w);
}

/* What this client changes, in a directory that is listed already. */
static void what_takes_them_out(void)
{
	const struct ddio_fs_attr attr = { .mode = 0600 };
	struct ddio_fs_file *file;
	struct fs_world w;
	struct fs_mount *m;
	uint64_t dir, ino;

	fs_world_make(&w, true, 1, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	dir = dir_make(m, "d", FILES);
	FS_OK(m, ddio_fs_link, m->fs, m->r.attr.ino, dir, "second");
	CU_ASSERT(walk(m, dir, 50, FS_SEC) > 40);
	FS_OK(m, ddio_fs_lookup, m->fs, dir, "f60");
	ino = m->r.attr.ino;
	FS_OK(m, ddio_fs_setattr, m->fs, ino, DDIO_FS_SET_MODE, &attr);
	CU_ASSERT_FALSE(look(m, dir, "f60"));
	FS_OK(m, ddio_fs_unlink, m->fs, dir, "f61");
	CU_ASSERT_FALSE(look(m, dir, "f61"));
	make(m, dir, "f61", S_IFREG | 0644);
	CU_ASSERT_FALSE(look(m, dir, "f61"));
	FS_OK(m, ddio_fs_lookup, m->fs, dir, "f62");
	FS_OK(m, ddio_fs_file_open, m->fs, m->r.attr.ino, O_RDWR, &file);
	FS_OK(m, ddio_fs_write, file, "x", 1, 0);
	CU_ASSERT_FALSE(look(m, dir, "f62"));
	FS_OK(m, ddio_fs_file_close, file);
	CU_ASSERT_FALSE(look(m, dir, "f62"));
	FS_OK(m, ddio_fs_unlink, m->fs, dir, "second");
	CU_ASSERT_FALSE(look(m, dir, "f99"));
	CU_ASSERT(look(m, dir, "f63"));
	FS_OK(m, ddio_fs_rename, m->fs, dir, "f64", dir, "f65", 0);
	CU_ASSERT_FALSE(look(m, dir, "f64"));
	CU_ASSERT_FALSE(look(m, dir, "f65"));
	fs_world_end(&w);
}

/* Another mount's changes: the names may be old for a second, but never older than what was told before. */
static void two_mounts(void)
{
	struct ddio_fs_attr attr = { .mode = 0600 };
	struct fs_mount *a, *b;
	struct fs_world w;
	uint64_t dir, ino;

	fs_world_make(&w, true, 1, BLOCK, 3000);
	a = fs_mount(&w, 0, 0);
	b = fs_mount(&w, 1, 0);
	dir = dir_make(a, "d", FILES);
	CU_ASSERT(walk(a, dir, 50, FS_SEC) > 40);
	FS_OK(b, ddio_fs_lookup, b->fs, dir, "f70");
	ino = b->r.attr.ino;
	FS_OK(b, ddio_fs_setattr, b->fs, ino, DDIO_FS_SET_MODE, &attr);
	FS_OK(a, ddio_fs_lookup_within, a->fs, dir, "f70", FS_SEC);
	CU_ASSERT(a->r.age && (a->r.attr.mode & 0777) == 0644);
	FS_OK(a, ddio_fs_getattr, a->fs, ino);
	CU_ASSERT_FALSE(look(a, dir, "f70"));
	FS_OK(b, ddio_fs_unlink, b->fs, dir, "f71");
	FS_OK(a, ddio_fs_lookup_within, a->fs, dir, "f71", FS_SEC);
	FS_ERR(a, -ENOENT, ddio_fs_lookup_within, a->fs, dir, "f71", 0);
	ddio_sim_run_for(w.dw, FS_SEC);
	FS_ERR(a, -ENOENT, ddio_fs_lookup_within, a->fs, dir, "f71", FS_SEC);
	fs_world_end(&w);
}

/*
 * Many requests at a time, at random
 */
struct ahead_crowd {
	struct fs_world w;
	struct fs_mount *m, *other;
	uint64_t seed, dir[2];
};

static void some_request(struct ahead_crowd *c, struct fsc_result *r)
{
	const struct ddio_fs_new file = { .mode = S_IFREG | 0644 };
	const struct ddio_fs_attr attr = { .mode = 0600 + (uint32_t)ddio_rand_below(&c->seed, 8),
					   .size = ddio_rand_below(&c->seed, 9) };
	uint64_t dir = c->dir[ddio_rand_below(&c->seed, 2)],
		 to = c->dir[ddio_rand_below(&c->seed, 2)];
	const char *name = name_of((uint32_t)ddio_rand_below(&c->seed, 30));
	uint64_t ino = c->dir[0] + 1 + ddio_rand_below(&c->seed, 80);
	struct ddio_fs *fs = c->m->fs;
	char new_name[16];

	snprintf(new_name, sizeof(new_name), "f%u", (uint32_t)ddio_rand_below(&c->seed, 30));
	switch (ddio_rand_below(&c->seed, 40)) {
	case 0:
		ddio_fs_make(fs, dir, name, &file, fsc_wait_done, r);
		break;
	case 1:
		ddio_fs_unlink(fs, dir, name, fsc_wait_done, r);
		break;
	case 2:
		ddio_fs_rename(fs, dir, name, to, new_name, 0, fsc_wait_done, r);
		break;
	case 3:
		ddio_fs_link(fs, ino, dir, name, fsc_wait_done, r);
		break;
	case 4:
		ddio_fs_setattr(fs, ino, DDIO_FS_SET_MODE, &attr, fsc_wait_done, r);
		break;
	case 5:
		ddio_fs_setattr(fs, ino, DDIO_FS_SET_SIZE, &attr, fsc_wait_done, r);
		break;
	case 6:
		ddio_fs_setxattr(fs, ino, "user.a", "b", 1, 0, false, fsc_wait_done, r);
		break;
	default:
		ddio_fs_lookup_within(fs, dir, name, FS_SEC, fsc_wait_done, r);
		break;
	}
}

static void crowd_round(struct ahead_crowd *c, uint32_t *ahead)
{
	uint32_t n = 1 + (uint32_t)ddio_rand_below(&c->seed, 6), i;
	struct fsc_result r[6];

	for (i = 0; i < n; i++) {
		fsc_wait_init(&r[i], c->m->fs);
		fsc_wait_begin(&r[i]);
		some_request(c, &r[i]);
	}
	for (i = 0; i < n; i++)
		ddio_gate_wait(r[i].env, &r[i].gate, 0);
	for (i = 0; i < 30; i++)
		*ahead += look_beside(c->m, c->other, c->dir[i & 1], name_of(i));
}

static void nobody_gets_what_is_old(void)
{
	uint32_t ahead = 0, round, seed;
	struct ahead_crowd c;

	for (seed = 0; seed < 4; seed++) {
		c.seed = seed;
		fs_world_make(&c.w, true, seed, BLOCK, 3000);
		c.m = fs_mount(&c.w, 0, 0);
		c.other = fs_mount(&c.w, 1, 0);
		c.dir[0] = dir_make(c.m, "a", 30);
		c.dir[1] = dir_make(c.m, "b", 30);
		for (round = 0; round < 300; round++)
			crowd_round(&c, &ahead);
		fs_world_end(&c.w);
	}
	CU_ASSERT(ahead > 300);
}

static const struct ut_case fake_cases[] = {
	{ "requests of a walk", requests_of_a_walk },
	{ "what is not listed", what_is_not_listed },
	{ NULL, NULL },
};

static const struct ut_case real_cases[] = {
	{ "an empty listing", an_empty_listing },
	{ "a large directory", a_large_directory },
	{ "after listings of no use", after_listings_of_no_use },
	{ "files written here", files_written_here },
	{ "what takes them out", what_takes_them_out },
	{ "two mounts", two_mounts },
	{ "nobody gets what is old", nobody_gets_what_is_old },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "by itself", fake_cases },
						  { "with a name space", real_cases } };

	return ut_run("fs_ahead", suites, 2);
}
