// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leases: one mount decides a file's size and times alone, and nobody sees less than what has been answered.  Messages
 * take a millisecond, and what the other mount does begins a little later each time.
 */
#include "tests/unit/cp/fs/fs_lessees.h"

/* Under the lease neither writes nor attributes after them ask the name server. */
static void asks_nobody(void)
{
	struct ddio_fs_attr attr;
	struct lessees p;
	uint64_t before;
	int i;

	lease_begin(&p, 1, 0);
	/* The first answer says how many bytes there are on disks. */
	FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
	before = names_requests(&p);
	for (i = 0; i < PIECES; i++) {
		put(&p);
		FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
		CU_ASSERT_EQUAL(p.m->r.attr.size, p.at);
		CU_ASSERT_EQUAL(p.m->r.attr.alloc, (p.at + BLOCK - 1) / BLOCK * BLOCK);
	}
	FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, 0);
	FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
	CU_ASSERT_EQUAL(names_requests(&p), before);
	/* What was told is the time then, and stays. */
	attr = p.m->r.attr;
	ddio_sim_run_for(p.w.dw, 2 * FS_SEC);
	FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
	CU_ASSERT_EQUAL(p.m->r.attr.size, p.at);
	CU_ASSERT_EQUAL(p.m->r.attr.alloc, attr.alloc);
	CU_ASSERT_EQUAL(p.m->r.attr.mtime.tv_sec, attr.mtime.tv_sec);
	CU_ASSERT_EQUAL(p.m->r.attr.mtime.tv_nsec, attr.mtime.tv_nsec);
	lease_finish(&p);
}

/* A sync under the lease tells the name server of a write at most once in some milliseconds, unless it must. */
static void sync_asks_nobody(void)
{
	struct ddio_fs_attr mode = { .mode = 0600 };
	struct timespec mtime;
	struct lessees p;
	uint64_t before;
	int i;

	lease_begin(&p, 12, 0);
	fast(&p);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, 0);
	FS_OK(p.m, ddio_fs_sync, p.a);
	before = names_requests(&p);
	for (i = 0; i < 3; i++) {
		FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, 0);
		FS_OK(p.m, ddio_fs_sync, p.a);
	}
	CU_ASSERT_EQUAL(names_requests(&p), before);
	/* A size is always told, and so is another change. */
	put(&p);
	FS_OK(p.m, ddio_fs_sync, p.a);
	CU_ASSERT_EQUAL(names_requests(&p), before + 1);
	FS_OK(p.m, ddio_fs_setattr, p.m->fs, p.ino, DDIO_FS_SET_MODE, &mode);
	FS_OK(p.m, ddio_fs_sync, p.a);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, 0);
	FS_OK(p.m, ddio_fs_sync, p.a);
	CU_ASSERT(names_requests(&p) >= before + 3);
	/* After 4 ms the time is. */
	before = names_requests(&p);
	ddio_sim_run_for(p.w.dw, 5 * FS_MS);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, 0);
	FS_OK(p.m, ddio_fs_sync, p.a);
	CU_ASSERT_EQUAL(names_requests(&p), before + 1);
	/* What was not told yet is, when the other mount asks. */
	ddio_sim_run_for(p.w.dw, FS_MS);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, 0);
	FS_OK(p.m, ddio_fs_sync, p.a);
	CU_ASSERT_EQUAL(names_requests(&p), before + 1);
	FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
	mtime = p.m->r.attr.mtime;
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	CU_ASSERT(p.n->r.attr.mtime.tv_sec == mtime.tv_sec &&
		  p.n->r.attr.mtime.tv_nsec == mtime.tv_nsec);
	lease_finish(&p);
}

/* A lease that was given back and came again begins anew: meanwhile others may have looked. */
static void sync_under_another_lease(void)
{
	struct lessees p;
	uint64_t change;
	int i;

	lease_begin(&p, 13, 0);
	fast(&p);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, 0);
	FS_OK(p.m, ddio_fs_sync, p.a);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	CU_ASSERT_EQUAL(leases_now(&p), 0);
	ddio_sim_run_for(p.w.dw, 2 * FS_SEC);
	for (i = 0; i < 3; i++)
		FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, 0);
	ddio_sim_run_for(p.w.dw, FS_MS);
	CU_ASSERT_EQUAL(leases_now(&p), 1);
	p.a->inode->lease.durable = p.a->inode->lease.mtime;
	change = p.a->inode->change;
	FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, 0);
	FS_OK(p.m, ddio_fs_sync, p.a);
	CU_ASSERT(p.a->inode->change > change);
	lease_finish(&p);
}

/* A write that began before the lease came, and ended after it, has its time. */
static void written_before(void)
{
	struct ddio_fs_attr before;
	struct lessees p;

	lease_begin(&p, 11, 0);
	FS_OK(p.m, ddio_fs_flush, p.a);
	/* The other mount takes the lease away; a second later it is asked for again. */
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	ddio_sim_run_for(p.w.dw, 10 * FS_MS);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, 0);
	FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
	before = p.m->r.attr;
	ddio_sim_run_for(p.w.dw, 3 * FS_SEC);
	CU_ASSERT_EQUAL(leases_now(&p), 0);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, 0);
	ddio_sim_run_for(p.w.dw, 10 * FS_MS);
	CU_ASSERT_EQUAL(leases_now(&p), 1);
	FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
	CU_ASSERT(p.m->r.attr.mtime.tv_sec > before.mtime.tv_sec);
	lease_finish(&p);
}

/* The same in a file with holes, whose bytes on disks have been counted. */
static void sparse_asks_nobody(void)
{
	struct ddio_fs_attr attr;
	struct lessees p;
	uint64_t before;
	int i;

	lease_begin(&p, 8, 0);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, 1, 20 * BLOCK);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, 0);
	FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
	CU_ASSERT_EQUAL(p.m->r.attr.alloc, 2 * BLOCK);
	/* The name server is told how many they are. */
	ddio_sim_run_for(p.w.dw, 10 * FS_MS);
	before = names_requests(&p);
	for (i = 0; i < PIECES; i++) {
		FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, i);
		FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
		CU_ASSERT_EQUAL(p.m->r.attr.alloc, 2 * BLOCK);
		CU_ASSERT_EQUAL(p.m->r.attr.size, 20 * BLOCK + 1);
	}
	CU_ASSERT_EQUAL(names_requests(&p), before);
	/* Other blocks count, and so does what becomes a hole. */
	FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, 5 * BLOCK);
	FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
	CU_ASSERT_EQUAL(p.m->r.attr.alloc, 3 * BLOCK);
	FS_OK(p.m, ddio_fs_allocate, p.a, 3, 0, BLOCK);
	FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
	CU_ASSERT_EQUAL(p.m->r.attr.alloc, 2 * BLOCK);
	attr.size = BLOCK;
	FS_OK(p.m, ddio_fs_setattr, p.m->fs, p.ino, DDIO_FS_SET_SIZE, &attr);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, PIECE, 0);
	FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
	CU_ASSERT_EQUAL(p.m->r.attr.alloc, BLOCK);
	CU_ASSERT_EQUAL(p.m->r.attr.size, BLOCK);
	lease_finish(&p);
}

/* The same of appends. */
static void appends_ask_nobody(void)
{
	struct lessees p;
	uint64_t before;
	int i;

	lease_begin(&p, 2, O_APPEND);
	before = names_requests(&p);
	for (i = 0; i < PIECES; i++)
		put(&p);
	CU_ASSERT_EQUAL(names_requests(&p), before);
	open_b(&p, O_RDONLY);
	check_b(&p);
	lease_finish(&p);
}

/* What changed elsewhere in this mount shows in the attributes. */
static void changes_show(void)
{
	struct ddio_fs_attr mode = { .mode = 0600 };
	struct lessees p;

	lease_begin(&p, 3, 0);
	put(&p);
	FS_OK(p.m, ddio_fs_setattr, p.m->fs, p.ino, DDIO_FS_SET_MODE, &mode);
	put(&p);
	FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
	CU_ASSERT_EQUAL(p.m->r.attr.mode & 07777, 0600);
	put(&p);
	FS_OK(p.m, ddio_fs_unlink, p.m->fs, DDIO_FS_ROOT, "a");
	put(&p);
	FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
	CU_ASSERT_EQUAL(p.m->r.attr.nlink, 0);
	CU_ASSERT_EQUAL(p.m->r.attr.size, p.at);
	lease_finish(&p);
}

static void stat_by_name(struct lessees *p, struct fsc_result *r)
{
	ddio_fs_lookup(p->n->fs, DDIO_FS_ROOT, "a", fsc_wait_done, r);
}

/* At any moment of a write the other mount sees all that had been answered when it asked. */
static void seen_at(uint64_t delay, void (*ask)(struct lessees *p, struct fsc_result *r), int flags)
{
	struct fsc_result asking;
	struct lessees p;

	lease_begin(&p, 4, flags);
	put(&p);
	fsc_wait_init(&asking, p.n->fs);
	fsc_wait_begin(&asking);
	fsc_wait_begin(&p.m->r);
	ddio_fs_write(p.a, p.want + p.at, PIECE, p.at, fsc_wait_done, &p.m->r);
	ddio_sim_run_for(p.w.dw, delay);
	CU_ASSERT(!p.m->r.calls || !p.m->r.err);
	if (p.m->r.calls)
		p.at += PIECE;
	ask(&p, &asking);
	ddio_sim_run_for(p.w.dw, FS_SEC / 2);
	CU_ASSERT(asking.calls == 1 && !asking.err);
	CU_ASSERT(asking.attr.size >= p.at && asking.attr.size <= p.at + PIECE);
	CU_ASSERT(p.m->r.calls && !p.m->r.err);
	p.at = 6 * PIECE;
	open_b(&p, O_RDONLY);
	check_b(&p);
	lease_finish(&p);
}

static void seen_at_any_moment(void)
{
	uint64_t delay;

	for (delay = 0; delay < 5 * FS_MS; delay += FS_MS / 4 * ut_stride(4)) {
		seen_at(delay, stat_by_number, 0);
		seen_at(delay, stat_by_name, 0);
		seen_at(delay, stat_by_number, O_APPEND);
	}
}

/* A cut by the other mount comes before a write or after it, and is not undone. */
static void cut_at(uint64_t delay)
{
	struct ddio_fs_attr cut = { .size = 10 };
	struct fsc_result cutting;
	struct lessees p;
	uint64_t size;
	uint8_t buf[sizeof(p.want)];

	lease_begin(&p, 5, 0);
	fsc_wait_init(&cutting, p.n->fs);
	fsc_wait_begin(&cutting);
	fsc_wait_begin(&p.m->r);
	ddio_fs_write(p.a, p.want + p.at, PIECE, p.at, fsc_wait_done, &p.m->r);
	ddio_sim_run_for(p.w.dw, delay);
	ddio_fs_setattr(p.n->fs, p.ino, DDIO_FS_SET_SIZE, &cut, fsc_wait_done, &cutting);
	ddio_sim_run_for(p.w.dw, 3 * FS_SEC);
	CU_ASSERT(cutting.calls == 1 && !cutting.err);
	CU_ASSERT(p.m->r.calls && !p.m->r.err);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	size = p.n->r.attr.size;
	CU_ASSERT(size == 10 || size == p.at + PIECE);
	FS_OK(p.n, ddio_fs_file_open, p.n->fs, p.ino, O_RDONLY, &p.b);
	FS_OK(p.n, ddio_fs_read, p.b, buf, sizeof(buf), 0);
	CU_ASSERT_EQUAL(p.n->r.value, size);
	if (size > 10)
		CU_ASSERT_EQUAL(memcmp(buf + p.at, p.want + p.at, PIECE), 0);
	FS_OK(p.m, ddio_fs_sync, p.a);
	lease_finish(&p);
}

static void cut_at_any_moment(void)
{
	uint64_t delay;

	for (delay = 0; delay < 8 * FS_MS; delay += FS_MS / 4 * ut_stride(4))
		cut_at(delay);
}

/* Two mounts append; a third eye reads only what was appended, never a byte that nobody wrote. */
static void no_gap_as(uint32_t flags)
{
	static uint8_t buf[8192];
	struct fsc_result one, two;
	struct lessees p;
	uint32_t i, n = 0;
	uint64_t k;

	lease_begin_as(&p, 6, flags, O_APPEND);
	open_b(&p, O_RDWR | O_APPEND);
	memset(p.want, 'x', sizeof(p.want));
	fsc_wait_init(&one, p.m->fs);
	fsc_wait_init(&two, p.n->fs);
	fsc_wait_begin(&one);
	fsc_wait_begin(&two);
	one.calls = two.calls = 1;
	for (i = 0; i < 200; i++) {
		if (one.calls) {
			fsc_wait_begin(&one);
			ddio_fs_write(p.a, p.want, 7, 0, fsc_wait_done, &one);
			n++;
		}
		if (two.calls) {
			fsc_wait_begin(&two);
			ddio_fs_write(p.b, p.want, 9, 0, fsc_wait_done, &two);
			n++;
		}
		ddio_sim_run_for(p.w.dw, FS_MS * (i % 5));
		FS_OK(p.n, ddio_fs_read, p.b, buf, sizeof(buf), p.at);
		for (k = 0; k < p.n->r.value && buf[k] == 'x'; k++)
			;
		CU_ASSERT_EQUAL(k, p.n->r.value);
	}
	ddio_sim_run_for(p.w.dw, FS_SEC);
	CU_ASSERT(one.calls && !one.err && two.calls && !two.err);
	CU_ASSERT(n > 20);
	lease_finish(&p);
}

static void no_gap(void)
{
	no_gap_as(0);
	no_gap_as(DDIO_FS_PROMPT);
}

/* A disk that becomes full under a lease: what was refused is not there, and nothing that was answered is lost. */
static void full_disk(int flags)
{
	struct ddio_fs_file *fill;
	struct lessees p;
	uint64_t left, len;
	uint64_t before;
	int err = 0, i;

	lease_begin(&p, 9, flags);
	fill = fs_create(p.n, "fill", O_RDWR);
	for (left = 0, len = 1 << 22; len >= BLOCK; len /= 2)
		while (!FSC_WAIT(&p.n->r, ddio_fs_allocate, fill, 0, left, len))
			left += len;
	CU_ASSERT_EQUAL(leases_now(&p), 1);
	/* The last block has room for some. */
	for (i = 0; i < PIECES && !err; i++) {
		before = p.at;
		err = FSC_WAIT(&p.m->r, ddio_fs_write, p.a, p.want + p.at, PIECE, p.at);
		if (!err)
			p.at += p.m->r.value;
	}
	CU_ASSERT_EQUAL(err, -ENOSPC);
	CU_ASSERT_EQUAL(before, p.at);
	CU_ASSERT(p.at >= BLOCK - PIECE);
	FS_OK(p.m, ddio_fs_getattr, p.m->fs, p.ino);
	CU_ASSERT_EQUAL(p.m->r.attr.size, p.at);
	open_b(&p, O_RDONLY);
	check_b(&p);
	FS_OK(p.n, ddio_fs_file_close, fill);
	FS_OK(p.n, ddio_fs_unlink, p.n->fs, DDIO_FS_ROOT, "fill");
	ddio_sim_run_for(p.w.dw, 3 * FS_SEC);
	put(&p);
	check_b(&p);
	FS_OK(p.m, ddio_fs_sync, p.a);
	lease_finish(&p);
}

static void full_disks(void)
{
	full_disk(0);
	full_disk(O_APPEND);
}

static uint64_t data_requests(const struct lessees *p)
{
	uint64_t n = 0;
	uint32_t i, k;

	for (i = 0; i < FS_NODES; i++)
		for (k = 0; k < FS_NODE_REACTORS; k++)
			n += p->w.node[i].iop->reactors[k].requests;
	return n;
}

/* A new file of @writes pieces, one after the other, closed.  Returns the requests to the name server; *@data: to disks. */
static uint64_t new_file(struct lessees *p, int writes, uint64_t *data)
{
	uint64_t names = names_requests(p), before = data_requests(p);
	char name[16];
	int i;

	snprintf(name, sizeof(name), "w%d", writes);
	p->b = fs_create(p->m, name, O_RDWR);
	for (i = 0; i < writes; i++)
		FS_OK(p->m, ddio_fs_write, p->b, p->want, PIECE, (uint64_t)i * PIECE);
	FS_OK(p->m, ddio_fs_flush, p->b);
	FS_OK(p->m, ddio_fs_file_close, p->b);
	p->b = NULL;
	*data = data_requests(p) - before;
	return names_requests(p) - names;
}

/*
 * A new file costs its name server a request to make it and one to close it; with data, one before the first goes to a disk, and
 * one that tells the size; with more writes, one for the lease, and two that tell what was written without it, and under it
 * (filesystem.rst, "New files").
 */
static void new_files(void)
{
	static const int writes[] = { 0, 1, 2, 4, 8 };
	static const uint64_t names[] = { 2, 4, 6, 7, 7 };
	struct lessees p;
	uint64_t data;
	size_t i;

	lease_begin(&p, 18, 0);
	fast(&p);
	for (i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		CU_ASSERT_EQUAL(new_file(&p, writes[i], &data), names[i]);
		CU_ASSERT_EQUAL(data, (uint64_t)writes[i]);
	}
	lease_finish(&p);
}

/*
 * What a program waits for that copies a tree of small files: four requests to the name server and one
 * to a disk for each, and one request to remove it; its data go behind the answer.
 */
static void small_files(void)
{
	enum { FILES = 20 };
	uint64_t names, data;
	struct lessees p;
	char name[16];
	int i;

	lease_begin(&p, 17, 0);
	fast(&p);
	names = names_requests(&p);
	data = data_requests(&p);
	for (i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		p.b = fs_create(p.m, name, O_RDWR);
		FS_OK(p.m, ddio_fs_write, p.b, p.want, PIECE, 0);
		FS_OK(p.m, ddio_fs_flush, p.b);
		FS_OK(p.m, ddio_fs_file_close, p.b);
	}
	p.b = NULL;
	CU_ASSERT(names_requests(&p) - names <= 4 * FILES);
	CU_ASSERT_EQUAL(data_requests(&p) - data, FILES);
	ddio_sim_run_for(p.w.dw, 2 * FS_SEC);
	names = names_requests(&p);
	data = data_requests(&p);
	for (i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		FS_OK(p.m, ddio_fs_unlink, p.m->fs, DDIO_FS_ROOT, name);
	}
	CU_ASSERT_EQUAL(names_requests(&p) - names, FILES);
	CU_ASSERT_EQUAL(data_requests(&p), data);
	ddio_sim_run_for(p.w.dw, 5 * FS_SEC);
	CU_ASSERT(names_requests(&p) - names <= 3 * FILES);
	CU_ASSERT(data_requests(&p) - data <= FS_DISKS * FILES);
	lease_finish(&p);
}

static const struct ut_case cases[] = {
	{ "asks nobody", asks_nobody },
	{ "sync asks nobody", sync_asks_nobody },
	{ "sync under another lease", sync_under_another_lease },
	{ "written before", written_before },
	{ "sparse asks nobody", sparse_asks_nobody },
	{ "appends ask nobody", appends_ask_nobody },
	{ "changes show", changes_show },
	{ "seen at any moment", seen_at_any_moment },
	{ "cut at any moment", cut_at_any_moment },
	{ "no gap", no_gap },
	{ "small files", small_files },
	{ "new files", new_files },
	{ "full disks", full_disks },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs lease", cases } };

	return ut_run("fs_lease", suites, 1);
}
