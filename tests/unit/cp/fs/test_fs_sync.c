// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sync tells the name server of the writes before it in the same message, whose answer says that all is durable; one
 * that does not know that gets two.  The name server loses its power at every moment of it.
 */
#include <errno.h>
#include "conn/conn_priv.h"
#include "cp/node/lane.h"
#include "cp/node/session.h"
#include "cp/fs/data/file.h"
#include "cp/fs/inode/inode.h"
#include "tests/unit/cp/fs/fs_power.h"

/* Stands in the place of the C library's: of the name server's journals, "image" has what the last flush has left. */
int fdatasync(int fd)
{
	char link[32], path[300], to[300], *names;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	names = strstr(path, "/names/ns/journal.");
	if (!names)
		return 0;
	snprintf(to, sizeof(to), "%.*s/image%s", (int)(names - path), path, names + 6);
	if (!access(to, F_OK))
		ut_copy_file(path, to);
	return 0;
}

/* LMDB's file has what its last commit has left. */
static void image_committed(const struct power *p)
{
	char a[400], b[400];

	snprintf(a, sizeof(a), "%s/names/ns/data.mdb", p->w.top);
	snprintf(b, sizeof(b), "%s/image/ns/data.mdb", p->w.top);
	ut_copy_file(a, b);
}

static void append(struct power *p, struct fs_mount *m)
{
	uint8_t buf[LEN] = { 2 };

	FS_OK(m, ddio_fs_write, p->a, buf, LEN, 0);
}

static uint64_t size_of(struct power *p, struct fs_mount *m)
{
	FS_OK(m, ddio_fs_lookup, m->fs, p->d[0], "a");
	return m->r.attr.size;
}

/* What a sync was told is durable is there without a commit. */
static void in_the_journal(void)
{
	struct ddio_fs_attr mode = { .mode = 0600 };
	struct power p;
	struct fs_mount *m = power_begin(&p, 21);

	image(&p);
	append(&p, m);
	FS_OK(m, ddio_fs_sync, p.a);
	image_committed(&p);
	die(&p, "image", "second");
	CU_ASSERT_EQUAL(size_of(&p, m), 2 * LEN);
	FS_OK(m, ddio_fs_sync, p.a);
	/* A change that comes afterwards is lost. */
	image(&p);
	append(&p, m);
	FS_OK(m, ddio_fs_sync, p.a);
	FS_OK(m, ddio_fs_setattr, m->fs, p.ino, DDIO_FS_SET_MODE, &mode);
	image_committed(&p);
	die(&p, "image", "third");
	CU_ASSERT_EQUAL(size_of(&p, m), 3 * LEN);
	CU_ASSERT_EQUAL(m->r.attr.mode & 0777, 0644);
	FS_ERR(m, -EIO, ddio_fs_sync, p.a);
	FS_OK(m, ddio_fs_sync, p.a);
	power_end(&p);
}

/* The message that syncs what was written since says what was lost before, to each opening once. */
static void told_by_the_same_message(void)
{
	struct power p;
	struct fs_mount *m = power_begin(&p, 22);
	struct ddio_fs_file *second;

	FS_OK(m, ddio_fs_file_open, m->fs, p.ino, O_RDWR | O_APPEND, &second);
	image(&p);
	append(&p, m);
	FS_OK(m, ddio_fs_flush, p.a);
	die(&p, "image", "second");
	append(&p, m);
	FS_ERR(m, -EIO, ddio_fs_sync, p.a);
	append(&p, m);
	FS_OK(m, ddio_fs_sync, p.a);
	append(&p, m);
	FS_ERR(m, -EIO, ddio_fs_sync, second);
	FS_OK(m, ddio_fs_sync, second);
	FS_OK(m, ddio_fs_file_close, second);
	power_end(&p);
}

/* Power is lost @ns after a sync has begun, at any moment between the change, its flush and the answer. */
static void lost_after(uint64_t ns)
{
	struct fsc_result sync;
	struct power p;
	struct fs_mount *m = power_begin(&p, 23);
	uint64_t size;

	ddio_sim_set_offload(p.w.names_node.env[0], FS_SEC / 500);
	image(&p);
	append(&p, m);
	fsc_wait_init(&sync, m->fs);
	fsc_wait_begin(&sync);
	ddio_fs_sync(p.a, fsc_wait_done, &sync);
	ddio_sim_run_for(p.w.dw, ns);
	image_committed(&p);
	die(&p, "image", "second");
	ddio_sim_run_for(p.w.dw, 20 * FS_SEC);
	CU_ASSERT_EQUAL_FATAL(sync.calls, 1);
	CU_ASSERT(sync.err == 0 || sync.err == -EIO);
	size = size_of(&p, m);
	CU_ASSERT(sync.err || size == 2 * LEN);
	FS_OK(m, ddio_fs_sync, p.a);
	image_committed(&p);
	die(&p, "image", "third");
	CU_ASSERT_EQUAL(size_of(&p, m), size);
	power_end(&p);
}

static void lost_at_any_moment(void)
{
	uint32_t i, n = ut_rounds(60);

	for (i = 0; i < n; i++)
		lost_after((uint64_t)i * (FS_SEC / 250) / n);
}

/*
 * Counting messages
 */
struct counted {
	uint32_t wrote, sync, synced;
};

static struct counted counts(const struct fs_world *w)
{
	return (struct counted){ w->names.count[DDIO_OP_FS_WROTE], w->names.count[DDIO_OP_FS_SYNC],
				 w->names.synced };
}

/* Since @from: FS_WROTE, those of them that sync, FS_SYNC. */
static void counts_are(const struct fs_world *w, const struct counted *from, uint32_t wrote,
		       uint32_t synced, uint32_t sync)
{
	const struct counted now = counts(w);

	CU_ASSERT_EQUAL(now.wrote - from->wrote, wrote);
	CU_ASSERT_EQUAL(now.synced - from->synced, synced);
	CU_ASSERT_EQUAL(now.sync - from->sync, sync);
}

static struct ddio_fs_file *written(struct fs_world *w, uint32_t flags)
{
	struct fs_mount *m;
	struct ddio_fs_file *a;

	fs_world_begin(w, 24, BLOCK, 3000);
	m = fs_mount(w, 0, flags);
	a = fs_create(m, "a", O_RDWR);
	FS_OK(m, ddio_fs_write, a, "first", 5, 0);
	FS_OK(m, ddio_fs_sync, a);
	FS_OK(m, ddio_fs_write, a, "second", 6, 0);
	FS_OK(m, ddio_fs_write, a, "third", 5, 0);
	return a;
}

/*
 * One message with writes to tell, also when its answer is lost with the connection; without any, none, or FS_SYNC if another
 * change of the file is unsynced, or one of a name that may be its own.
 */
static void one_message(void)
{
	struct fs_world w;
	struct ddio_fs_file *a = written(&w, DDIO_FS_HARD);
	struct fs_mount *m = &w.mount[0];
	struct counted from = counts(&w);
	struct ddio_fs_attr mode = { .mode = 0600 };

	FS_OK(m, ddio_fs_sync, a);
	counts_are(&w, &from, 1, 1, 0);
	FS_OK(m, ddio_fs_sync, a);
	counts_are(&w, &from, 1, 1, 0);
	FS_OK(m, ddio_fs_setattr, m->fs, a->inode->ino, DDIO_FS_SET_MODE, &mode);
	FS_OK(m, ddio_fs_sync, a);
	counts_are(&w, &from, 1, 1, 1);
	FS_OK(m, ddio_fs_rename, m->fs, DDIO_FS_ROOT, "a", DDIO_FS_ROOT, "b", 0);
	FS_OK(m, ddio_fs_sync, a);
	counts_are(&w, &from, 1, 1, 2);
	FS_OK(m, ddio_fs_sync, a);
	counts_are(&w, &from, 1, 1, 2);
	FS_OK(m, ddio_fs_write, a, "fourth", 6, 0);
	from = counts(&w);
	w.names.lose = DDIO_OP_FS_WROTE;
	FS_OK(m, ddio_fs_sync, a);
	counts_are(&w, &from, 2, 2, 0);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

/* A flush and a sync that come while a report is on its way: the flush is not answered by one that waits for the disk. */
static void others_do_not_wait(void)
{
	struct fs_world w;
	struct ddio_fs_file *a = written(&w, 0);
	struct fs_mount *m = &w.mount[0];
	struct fsc_result sync, flush;
	struct counted from;

	fsc_wait_init(&sync, m->fs);
	fsc_wait_init(&flush, m->fs);
	w.names.hold = DDIO_OP_FS_WROTE;
	fsc_wait_begin(&flush);
	ddio_fs_flush(a, fsc_wait_done, &flush);
	ddio_sim_run_for(w.dw, FS_SEC / 10);
	FS_OK(m, ddio_fs_write, a, "x", 1, 0);
	from = counts(&w);
	fsc_wait_begin(&sync);
	ddio_fs_sync(a, fsc_wait_done, &sync);
	ddio_fs_flush(a, fsc_wait_done, &flush);
	fake_let_go(&w.names);
	ddio_sim_run_for(w.dw, FS_SEC / 10);
	CU_ASSERT(sync.calls == 1 && !sync.err);
	counts_are(&w, &from, 1, 0, 1);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

static const struct ut_case cases[] = {
	{ "in the journal", in_the_journal },
	{ "told by the same message", told_by_the_same_message },
	{ "power is lost at any moment", lost_at_any_moment },
	{ "one message", one_message },
	{ "others do not wait", others_do_not_wait },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs sync", cases } };

	return ut_run("fs_sync", suites, 1);
}
