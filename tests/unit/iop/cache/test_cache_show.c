// SPDX-License-Identifier: GPL-2.0-only
/* When a cached block ceases to be shown: a viewer that copies it at that moment must notice. */
#include "tests/unit/lib/ut.h"
#include "cache_world.h"
#include "env/local/showcase_priv.h"

#define BLOCK 4096u

struct shown {
	struct cache_world *w;
	struct object *obj;
	struct ddio_viewer *viewer;
	struct ddio_shared *memory;
};

static void done(struct cache_io *io, int status)
{
	*(int *)io->arg = status;
}

static void move(struct shown *s, bool write, int byte)
{
	static uint8_t buf[BLOCK];
	int status = 1;
	struct cache_io io = {
		.obj = s->obj, .len = BLOCK / 2, .buf = buf, .done = done, .arg = &status
	};

	memset(buf, byte, sizeof(buf));
	if (write)
		cache_write(s->w->cache, &io);
	else
		cache_read(s->w->cache, &io);
	world_run(s->w);
	CU_ASSERT_EQUAL(status, 0);
}

/* Returns the first byte of the block, -1: it is not shown. */
static int look(const struct shown *s)
{
	const struct ddio_file_ref *ref = &world_obj(s->obj)->ref;
	struct ddio_show_key key = { ref->id, ref->seed, 0, ref->block, ref->layout };
	uint8_t byte;

	return viewer_read(s->viewer, &key, 0, &byte, 1) ? byte : -1;
}

/* Returns the number of times that anything was shown or hidden. */
static uint64_t turns(const struct shown *s)
{
	const struct show_head *head = ddio_shared_mem(s->memory);
	const struct show_line *line = show_lines(ddio_shared_mem(s->memory));
	uint64_t i, n = 0;

	for (i = 0; i < head->lines; i++)
		n += atomic_load(&line[i].turn);
	return n;
}

static void shown_new(struct shown *s)
{
	struct cache_opts opts = { .bytes = 8 * BLOCK, .depth = 1 };
	struct ddio_mailbox box;

	s->w = world_new(&opts);
	s->obj = world_object(1, BLOCK);
	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(&s->w->env, &box), 0);
	CU_ASSERT_EQUAL_FATAL(cache_show_to(s->w->cache, box.name, box.token), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_viewer_new(&box, &s->viewer), 0);
	CU_ASSERT_EQUAL_FATAL(cache_show_to(s->w->cache, box.name, box.token), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_shared_take(&box, false, &s->memory), 0);
	ddio_mailbox_close(&box);
	move(s, true, 3);
	CU_ASSERT_EQUAL(look(s), 3);
}

static void shown_free(struct shown *s)
{
	world_flush(s->w, NULL, true);
	world_free(s->w);
	CU_ASSERT_EQUAL(look(s), -1);
	viewer_free(s->viewer);
	ddio_shared_free(s->memory);
	free(s->obj);
}

/* A read changes nothing, a write ends what was shown before it. */
static void a_write(void)
{
	struct shown s;
	uint64_t n;

	shown_new(&s);
	n = turns(&s);
	move(&s, false, 0);
	CU_ASSERT_EQUAL(turns(&s), n);
	move(&s, true, 4);
	CU_ASSERT_EQUAL(turns(&s), n + 2);
	CU_ASSERT_EQUAL(look(&s), 4);
	shown_free(&s);
}

/* A collective may put bytes into a block that it has locked. */
static void a_lock(void)
{
	struct block_lock lock = { 0 };
	struct shown s;

	shown_new(&s);
	lock.obj = s.obj;
	CU_ASSERT_FATAL(cache_lock(s.w->cache, &lock));
	CU_ASSERT_EQUAL(look(&s), -1);
	cache_unlock(s.w->cache, &lock, false);
	move(&s, false, 0);
	CU_ASSERT_EQUAL(look(&s), 3);
	shown_free(&s);
}

static void flushed(struct cache_flush *flush, int status)
{
	*(int *)flush->arg = status;
}

/* One that is being written back goes on being shown, but not when it is discarded meanwhile. */
static void a_discard(void)
{
	int status = 1;
	struct cache_flush flush = { .done = flushed, .arg = &status };
	struct shown s;

	shown_new(&s);
	cache_flush(s.w->cache, &flush);
	world_posts(s.w);
	CU_ASSERT_FATAL(s.w->n_at_disk > 0);
	CU_ASSERT_EQUAL(look(&s), 3);
	cache_discard(s.w->cache, s.obj, 0, 1);
	CU_ASSERT_EQUAL(look(&s), -1);
	world_run(s.w);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(look(&s), -1);
	shown_free(&s);
}

/* The papers' caches, and memory that is registered with the kernel, are not shown. */
static void not_shown(void)
{
	struct cache_opts opts = { .paper = true, .depth = 1 };
	struct cache_world *w = world_new(&opts);
	uint8_t token[MAILBOX_TOKEN] = { 0 };

	CU_ASSERT_EQUAL(cache_show_to(w->cache, "x", token), -EOPNOTSUPP);
	world_free(w);
}

static const struct ut_case cases[] = {
	{ "a write", a_write },
	{ "a lock", a_lock },
	{ "a discard", a_discard },
	{ "the papers' cache", not_shown },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "show", cases } };

	return ut_run("cache_show", suites, 1);
}
