// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file system's client without memory: its n-th allocation fails, for every n of a run that does a bit
 * of everything.  Every request gets one reply, nothing is left in disorder, and the next run succeeds.  The
 * sources are compiled in here, with the allocator replaced.
 */
#include <errno.h>
#include "tests/unit/lib/ut_nomem.h"

#include "userlib/cp/fs/attr.c"
#include "userlib/cp/fs/core/core.c"
#include "userlib/cp/fs/core/error.c"
#include "userlib/cp/fs/core/job.c"
#include "userlib/cp/fs/core/retry.c"
#include "userlib/cp/fs/data/allocate.c"
#include "userlib/cp/fs/data/copy.c"
#include "userlib/cp/fs/data/cut.c"
#include "userlib/cp/fs/data/read.c"
#include "userlib/cp/fs/data/seek.c"
#include "userlib/cp/fs/data/sync.c"
#include "userlib/cp/fs/data/write.c"
#include "userlib/cp/fs/dir.c"
#include "userlib/cp/fs/disks/io.c"
#include "userlib/cp/fs/disks/set.c"
#include "userlib/cp/fs/entries.c"
#include "userlib/cp/fs/files.c"
#include "userlib/cp/fs/fs.c"
#include "userlib/cp/fs/inode/again.c"
#include "userlib/cp/fs/inode/inode.c"
#include "userlib/cp/fs/inode/locks.c"
#include "userlib/cp/fs/inode/open.c"
#include "userlib/cp/fs/inode/remove.c"
#include "userlib/cp/fs/inode/size.c"
#include "userlib/cp/fs/inode/wrote.c"
#include "userlib/cp/fs/lock.c"
#include "userlib/cp/fs/names/call.c"
#include "userlib/cp/fs/names/dirattr.c"
#include "userlib/cp/fs/names/names.c"
#include "userlib/cp/fs/serve.c"
#include "userlib/cp/fs/space.c"
#include "userlib/cp/fs/xattr.c"
#include "tests/unit/lib/ut_nomem_end.h"

#include "tests/unit/cp/fs/fs_world.h"

enum { BLOCK = 1024, LEN = 6 * BLOCK + 11 };

/* How many calls were made, and how many of them failed. */
static uint32_t made, failed;

#define TRY(m, call, ...)                                                                    \
	({                                                                                   \
		int err_ = FSC_WAIT(&(m)->r, call, __VA_ARGS__);                             \
		made++;                                                                      \
		failed += err_ != 0;                                                         \
		CU_ASSERT_EQUAL((m)->r.calls, made);                                         \
		if (err_ && err_ != -ENOMEM && err_ != -ENOENT && err_ != -EIO)              \
			fprintf(stderr, "%s:%d " #call " %d %s\n", __FILE__, __LINE__, err_, \
				(m)->r.text);                                                \
		CU_ASSERT(!err_ || err_ == -ENOMEM || err_ == -ENOENT || err_ == -EIO);      \
		err_;                                                                        \
	})

static void with_file(struct fs_mount *m, struct ddio_fs_file *a, struct ddio_fs_file *b)
{
	struct ddio_fs_lock lock = { .type = F_WRLCK, .end = 9, .owner = 5 };
	uint8_t buf[LEN] = { 0 }, want[LEN];
	bool written;

	fs_fill(want, LEN, 1, 0);
	written = !TRY(m, ddio_fs_write, a, want, LEN, 0);
	if (written && !TRY(m, ddio_fs_read, a, buf, LEN, 0))
		CU_ASSERT_EQUAL(memcmp(buf, want, LEN), 0);
	TRY(m, ddio_fs_write, b, want, 100, 0);
	if (written && !TRY(m, ddio_fs_copy, a, 0, b, 10, LEN) &&
	    !TRY(m, ddio_fs_read, b, buf, LEN, 10))
		CU_ASSERT_EQUAL(memcmp(buf, want, LEN), 0);
	if (written && !TRY(m, ddio_fs_copy, a, 0, b, 0, LEN) &&
	    !TRY(m, ddio_fs_read, b, buf, LEN, 0))
		CU_ASSERT_EQUAL(memcmp(buf, want, LEN), 0);
	if (!TRY(m, ddio_fs_lock_set, a, &lock, false, NULL))
		TRY(m, ddio_fs_unlock_owner, a, 5);
	TRY(m, ddio_fs_allocate, a, 0, 0, 20 * BLOCK);
	TRY(m, ddio_fs_seek, a, 0, SEEK_HOLE);
	TRY(m, ddio_fs_sync, a);
	TRY(m, ddio_fs_flush, a);
}

static void a_day(struct fs_mount *m)
{
	struct ddio_fs_new reg = { .mode = S_IFREG | 0644 };
	struct ddio_fs_attr attr = { .size = 100 };
	struct ddio_fs_file *a = NULL, *b = NULL;
	uint64_t ino;

	TRY(m, ddio_fs_file_create, m->fs, DDIO_FS_ROOT, "a", O_RDWR, &reg, &a);
	ino = m->r.attr.ino;
	TRY(m, ddio_fs_file_create, m->fs, DDIO_FS_ROOT, "b", O_RDWR, &reg, &b);
	if (a && b)
		with_file(m, a, b);
	TRY(m, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "a");
	TRY(m, ddio_fs_readdir, m->fs, DDIO_FS_ROOT, 0, 10, true);
	if (ino) {
		TRY(m, ddio_fs_getattr, m->fs, ino);
		TRY(m, ddio_fs_setattr, m->fs, ino, DDIO_FS_SET_SIZE, &attr);
	}
	TRY(m, ddio_fs_space, m->fs);
	TRY(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "a");
	if (a)
		TRY(m, ddio_fs_file_close, a);
	if (b)
		TRY(m, ddio_fs_file_close, b);
	TRY(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "b");
}

/* Returns true if there was an n-th allocation. */
static bool without(uint64_t n)
{
	struct fs_world w;
	struct fs_mount *m;
	bool reached;

	fs_world_begin(&w, n, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	made = failed = 0;
	nomem_failures = 0;
	nomem_countdown = n;
	a_day(m);
	ddio_sim_run_for(w.dw, 2 * FS_SEC);
	reached = nomem_failures > 0;
	nomem_countdown = 0;
	if (!reached)
		CU_ASSERT_EQUAL(failed, 0);
	failed = 0;
	/* What could not be removed may still be there. */
	FSC_WAIT(&m->r, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "a");
	FSC_WAIT(&m->r, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "b");
	made = m->r.calls;
	a_day(m);
	CU_ASSERT_EQUAL(failed, 0);
	fs_world_end(&w);
	return reached;
}

static void every_allocation(void)
{
	uint64_t n, fails;

	for (n = 1; n < 1000; n++) {
		fails = CU_get_number_of_failures();
		if (!without(n))
			break;
		if (CU_get_number_of_failures() != fails) {
			fprintf(stderr, "without allocation %llu\n", (unsigned long long)n);
			break;
		}
	}
	CU_ASSERT(n > 40 && n < 1000);
}

static const struct ut_case cases[] = {
	{ "every allocation", every_allocation },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs memory", cases } };

	return ut_run("fs_memory", suites, 1);
}
