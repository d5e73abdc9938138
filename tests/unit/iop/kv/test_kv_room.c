// SPDX-License-Identifier: GPL-2.0-only
/* Room for records where the file system below has none: what waits to be committed is not what is missing. */
#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include "iop/kv/priv.h"
#include "tests/unit/iop/store/ut_store.h"

enum { VALUE = 1000, SECOND = 1000000000 };

/* The file system is full from now on. */
static bool nothing_left;

/* Both stand in the place of the C library's. */
int fallocate(int fd, int mode, off_t offset, off_t len)
{
	(void)mode;
	if (nothing_left) {
		errno = ENOSPC;
		return -1;
	}
	return posix_fallocate(fd, offset, len) ? -1 : 0;
}

int fstatvfs(int fd, struct statvfs *st)
{
	(void)fd;
	*st = (struct statvfs){ .f_bsize = 4096, .f_frsize = 4096 };
	st->f_bavail = nothing_left ? 0 : 1u << 20;
	return 0;
}

struct room_world {
	char top[200], dir[260], err[500];
	struct ddio_sim *sim;
	struct kv *kv;
	uint32_t waited;
};

static void open_it(struct room_world *w)
{
	const struct kv_opts opts = {
		.dbs = { "a" }, .map = 16 << 20, .reserve = 64 << 10, .dir = w->dir
	};

	if (kv_open(ddio_sim_env(w->sim, "io0"), &opts, &w->kv, w->err, sizeof(w->err)))
		abort();
}

static void begin(struct room_world *w)
{
	nothing_left = false;
	w->waited = 0;
	ut_temp_dir(w->top, sizeof(w->top));
	snprintf(w->dir, sizeof(w->dir), "%s/kv", w->top);
	w->sim = ddio_sim_new(1);
	open_it(w);
}

static void end(struct room_world *w)
{
	ddio_sim_run_for(w->sim, SECOND);
	kv_close(w->kv);
	ddio_sim_free(w->sim);
	ut_remove_tree(w->top);
}

/* As the name server does: who changes something waits for a commit where kv_full() says so. */
static int change(struct room_world *w, uint32_t key, bool add)
{
	static const uint8_t value[VALUE] = { 1 };
	int ret;

	kv_begin(w->kv);
	if (add)
		kv_adds(w->kv);
	ret = add ? kv_put(w->kv, 0, &key, sizeof(key), value, VALUE)
		  : kv_del(w->kv, 0, &key, sizeof(key));
	CU_ASSERT_EQUAL(ret, 0);
	ret = kv_end(w->kv);
	if (!ret && kv_full(w->kv)) {
		w->waited++;
		kv_commit(w->kv, NULL);
		ddio_sim_run_for(w->sim, SECOND / 100);
	}
	return ret;
}

/* Returns how many records there is room for, after those below @from. */
static uint32_t fill(struct room_world *w, uint32_t from)
{
	uint32_t n = from;

	while (n < 100000 && !change(w, n, true))
		n++;
	return n - from;
}

/* Nobody is told of a lack of room that a commit ends. */
static void test_waits(void)
{
	struct room_world w;
	uint32_t i, n;

	begin(&w);
	for (i = 0; i < 2000; i++)
		CU_ASSERT_EQUAL(change(&w, i, true), 0);
	CU_ASSERT_EQUAL(w.waited, 0);
	nothing_left = true;
	n = 2000 + fill(&w, 2000);
	CU_ASSERT(w.waited > 0);
	CU_ASSERT_EQUAL(kv_left(w.kv).refused, 1);
	ddio_sim_run_for(w.sim, SECOND);
	CU_ASSERT(fill(&w, n) < 20);
	end(&w);
}

/* What has been removed makes room at once, also if nothing was short before. */
static void test_removed(void)
{
	struct room_world w;
	uint32_t i, n = 0, more;

	begin(&w);
	nothing_left = true;
	do {
		more = fill(&w, n);
		n += more;
		ddio_sim_run_for(w.sim, SECOND);
	} while (more);
	CU_ASSERT(n > 20);
	/* As after a start. */
	w.kv->db.space.tight = false;
	w.kv->db.space.refused = 0;
	for (i = 0; i < n; i++)
		CU_ASSERT_EQUAL(change(&w, i, false), 0);
	for (i = 0; i < n / 2; i++)
		CU_ASSERT_EQUAL(change(&w, i, true), 0);
	CU_ASSERT_EQUAL(kv_left(w.kv).refused, 0);
	end(&w);
}

static const struct ut_case cases[] = {
	{ "a commit makes room", test_waits },
	{ "so does a removal", test_removed },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "kv_room", cases } };

	return ut_run("kv_room", suites, 1);
}
