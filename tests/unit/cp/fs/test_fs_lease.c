// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leases: one mount decides a file's size and times alone, and nobody sees less than what has been answered.  Messages
 * take a millisecond, and what the other mount does begins a little later each time.
 */
#include "cp/fs/data/file.h"
#include "cp/fs/inode/inode.h"
#include "tests/unit/cp/fs/fs_world.h"

enum { BLOCK = 1024, PIECE = 100, PIECES = 12 };

/* Two mounts; the first one has the file "a" open, and, after lease_begin(), its lease. */
struct lessees {
	struct fs_world w;
	struct fs_mount *m, *n;
	struct ddio_fs_file *a, *b;
	uint64_t ino, at;
	uint8_t want[PIECE * (PIECES + 8)];
};

static uint64_t names_requests(const struct lessees *p)
{
	return p->w.names_node.iop->reactors[0].requests;
}

static uint64_t leases_now(const struct lessees *p)
{
	return p->w.names_node.iop->leases.files.n;
}

static void slow(struct lessees *p)
{
	struct ddio_sim_link net;
	uint32_t i, k;

	ddio_sim_link_default(&net);
	net.latency_ns = FS_MS;
	for (i = 0; i < 2; i++)
		for (k = 0; k < FS_REACTORS; k++)
			ddio_sim_set_link(p->w.mount[i].env[k], &net);
}

/* Messages take no time again. */
static void fast(struct lessees *p)
{
	struct ddio_sim_link net;
	uint32_t i, k;

	ddio_sim_link_default(&net);
	for (i = 0; i < 2; i++)
		for (k = 0; k < FS_REACTORS; k++)
			ddio_sim_set_link(p->w.mount[i].env[k], &net);
}

static void put(struct lessees *p)
{
	FS_OK(p->m, ddio_fs_write, p->a, p->want + p->at, PIECE, p->at);
	p->at += PIECE;
}

/* Has the mount meet all nodes, which asks the name server, too. */
static void warm_up(struct lessees *p)
{
	static const uint8_t zeros[16 * BLOCK];
	struct ddio_fs_file *file = fs_create(p->m, "warm", O_RDWR);

	FS_OK(p->m, ddio_fs_write, file, zeros, sizeof(zeros), 0);
	FS_OK(p->m, ddio_fs_file_close, file);
}

/* Creates a file, and writes until the mount has its lease. */
static void lease_take(struct lessees *p, const char *name, int flags)
{
	int i;

	p->at = 0;
	p->a = fs_create(p->m, name, O_RDWR | flags);
	p->ino = p->m->r.attr.ino;
	slow(p);
	for (i = 0; i < 4; i++) {
		put(p);
		ddio_sim_run_for(p->w.dw, 10 * FS_MS);
	}
	CU_ASSERT_EQUAL(leases_now(p), 1);
}

static void lease_begin_as(struct lessees *p, uint64_t seed, uint32_t mount, int flags)
{
	memset(p, 0, sizeof(*p));
	fs_world_make(&p->w, true, seed, BLOCK, 3000);
	p->m = fs_mount(&p->w, 0, mount);
	p->n = fs_mount(&p->w, 1, 0);
	/* Data lie on disks of other nodes than the name server. */
	FS_OK(p->m, ddio_fs_setxattr, p->m->fs, DDIO_FS_ROOT, "ddio.disks", "0-3", 3, 0, false);
	fs_fill(p->want, sizeof(p->want), seed, 0);
	warm_up(p);
	lease_take(p, "a", flags);
}

static void lease_begin(struct lessees *p, uint64_t seed, int flags)
{
	lease_begin_as(p, seed, 0, flags);
}

static void lease_finish(struct lessees *p)
{
	if (p->a)
		FS_OK(p->m, ddio_fs_file_close, p->a);
	if (p->b)
		FS_OK(p->n, ddio_fs_file_close, p->b);
	CU_ASSERT_EQUAL(leases_now(p), 0);
	fs_world_end(&p->w);
}

static void open_b(struct lessees *p, int flags)
{
	FS_OK(p->n, ddio_fs_file_open, p->n->fs, p->ino, flags, &p->b);
	CU_ASSERT_EQUAL(p->n->r.attr.size, p->at);
}

static void check_b(struct lessees *p)
{
	static uint8_t buf[sizeof(p->want)];

	FS_OK(p->n, ddio_fs_read, p->b, buf, sizeof(buf), 0);
	CU_ASSERT_EQUAL(p->n->r.value, p->at);
	CU_ASSERT_EQUAL(memcmp(buf, p->want, p->at), 0);
}

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

static void stat_by_number(struct lessees *p, struct fsc_result *r)
{
	ddio_fs_getattr(p->n->fs, p->ino, fsc_wait_done, r);
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

/* The name server dies at any moment of writes under the lease: nothing that was answered is missing, and no sync fails. */
static void restart_at(uint64_t delay, int flags)
{
	struct lessees p;
	struct fs_node dead;
	uint32_t k;
	int i;

	lease_begin_as(&p, 10, DDIO_FS_HARD, flags);
	put(&p);
	fsc_wait_begin(&p.m->r);
	ddio_fs_write(p.a, p.want + p.at, PIECE, p.at, fsc_wait_done, &p.m->r);
	ddio_sim_run_for(p.w.dw, delay);
	dead = p.w.names_node;
	for (k = 0; k < FS_NODE_REACTORS; k++)
		ddio_sim_orphan(dead.env[k]);
	fs_node_stop(&dead);
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	ddio_iop_free(dead.iop);
	fs_node_begin(&p.w, &p.w.names_node);
	ddio_sim_run_for(p.w.dw, 20 * FS_SEC);
	CU_ASSERT(p.m->r.calls && !p.m->r.err);
	p.at += PIECE;
	FS_OK(p.m, ddio_fs_sync, p.a);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	CU_ASSERT_EQUAL(p.n->r.attr.size, p.at);
	for (i = 0; i < 4; i++)
		put(&p);
	open_b(&p, O_RDONLY);
	check_b(&p);
	lease_finish(&p);
}

static void restart_at_any_moment(void)
{
	uint64_t delay;

	for (delay = 0; delay < 4 * FS_MS; delay += FS_MS / 2 * ut_stride(4)) {
		restart_at(delay, 0);
		restart_at(delay, O_APPEND);
	}
}

/* A holder that is cut off keeps the others waiting for the timeout, not longer, and does not undo what they did. */
static void cut_off(bool change)
{
	struct ddio_fs_attr cut = { .size = 10 };
	struct ddio_sim_link net;
	struct fsc_result other;
	struct lessees p;
	uint64_t begin;
	int err;

	lease_begin_as(&p, 7, DDIO_FS_HARD, 0);
	put(&p);
	ddio_sim_link_default(&net);
	net.latency_ns = 20 * FS_SEC;
	ddio_sim_set_link(p.w.mount[0].env[0], &net);
	ddio_sim_set_link(p.w.mount[0].env[1], &net);
	fsc_wait_init(&other, p.n->fs);
	fsc_wait_begin(&other);
	begin = ddio_env_now(p.w.mount[1].env[0]);
	if (change)
		ddio_fs_setattr(p.n->fs, p.ino, DDIO_FS_SET_SIZE, &cut, fsc_wait_done, &other);
	else
		stat_by_number(&p, &other);
	while (!other.calls && ddio_env_now(p.w.mount[1].env[0]) - begin < 30 * FS_SEC)
		ddio_sim_run_for(p.w.dw, 100 * FS_MS);
	CU_ASSERT(other.calls && !other.err);
	CU_ASSERT(ddio_env_now(p.w.mount[1].env[0]) - begin < 8 * FS_SEC);
	slow(&p);
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	err = FSC_WAIT(&p.m->r, ddio_fs_sync, p.a);
	CU_ASSERT_EQUAL(err, change ? -EIO : 0);
	FS_OK(p.m, ddio_fs_sync, p.a);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	CU_ASSERT_EQUAL(p.n->r.attr.size, change ? 10 : p.at);
	lease_finish(&p);
}

static void holder_cut_off(void)
{
	cut_off(true);
	cut_off(false);
}

/*
 * A mount is stopped for a while, @delay after its last write.  Somebody else looks at the file meanwhile, if @other, and
 * nobody changes it: so all is told when it goes on, and no sync fails.
 */
static void stopped_at(uint64_t delay, uint64_t ms, bool other)
{
	struct fs_stop stop[FS_REACTORS];
	struct fsc_result asking;
	struct lessees p;

	lease_begin(&p, 14, 0);
	/* The next file's data are moved by the thread that has the connection to the name server. */
	FS_OK(p.m, ddio_fs_file_close, p.a);
	lease_take(&p, "b", 0);
	CU_ASSERT_EQUAL(p.a->inode->r->index, 0);
	fs_stopping(&p.w);
	ddio_sim_run_for(p.w.dw, delay);
	put(&p);
	fs_mount_stop(p.m, stop, ms);
	ddio_sim_run_for(p.w.dw, FS_MS);
	fsc_wait_init(&asking, p.n->fs);
	fsc_wait_begin(&asking);
	if (other)
		stat_by_number(&p, &asking);
	/* It is the first thing that the mount takes up, before it has read what has come, and before its timers. */
	FS_OK(p.m, ddio_fs_sync, p.a);
	ddio_sim_run_for(p.w.dw, 4 * FS_SEC);
	CU_ASSERT(!other || (asking.calls == 1 && !asking.err));
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	CU_ASSERT_EQUAL(p.n->r.attr.size, p.at);
	put(&p);
	FS_OK(p.m, ddio_fs_sync, p.a);
	open_b(&p, O_RDONLY);
	check_b(&p);
	lease_finish(&p);
}

static void stopped_at_any_moment(void)
{
	static const uint64_t ms[] = { 2500, 3500, 30000 };
	uint64_t delay;
	size_t i;

	for (delay = 0; delay < 2 * FS_SEC; delay += 50 * FS_MS * ut_stride(4))
		for (i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
			stopped_at(delay, ms[i], false);
			stopped_at(delay, ms[i], true);
		}
}

static void net_set(struct lessees *p, uint64_t latency_ns)
{
	struct ddio_sim_link net;
	uint32_t k;

	ddio_sim_link_default(&net);
	net.latency_ns = latency_ns;
	for (k = 0; k < FS_REACTORS; k++)
		ddio_sim_set_link(p->w.mount[0].env[k], &net);
}

/* What a mount itself does to a file whose lease it has, or had. */
static void own_rename(struct lessees *p)
{
	FS_OK(p->m, ddio_fs_rename, p->m->fs, DDIO_FS_ROOT, "a", DDIO_FS_ROOT, "c", 0);
}

static void own_exchange(struct lessees *p)
{
	FS_OK(p->m, ddio_fs_rename, p->m->fs, DDIO_FS_ROOT, "a", DDIO_FS_ROOT, "warm",
	      DDIO_FS_RENAME_EXCHANGE);
}

static void own_link(struct lessees *p)
{
	FS_OK(p->m, ddio_fs_link, p->m->fs, p->ino, DDIO_FS_ROOT, "c");
}

static void own_unlink(struct lessees *p)
{
	own_link(p);
	FS_OK(p->m, ddio_fs_unlink, p->m->fs, DDIO_FS_ROOT, "c");
}

static void own_xattr(struct lessees *p)
{
	FS_OK(p->m, ddio_fs_setxattr, p->m->fs, p->ino, "user.x", "1", 1, 0, false);
}

static void own_none(struct lessees *p)
{
	(void)p;
}

static void (*const own[])(struct lessees *p) = { own_none, own_rename, own_exchange,
						  own_link, own_unlink, own_xattr };

/* What another mount does when the lease is void. */
enum others { OTHER_LOOKS, OTHER_RENAMES, OTHER_CUTS, OTHER_DATES, OTHERS };

static void other_begin(struct lessees *p, enum others what, struct fsc_result *r)
{
	static const struct ddio_fs_attr set = { .size = 10, .mtime = { 1, 2 } };

	fsc_wait_init(r, p->n->fs);
	fsc_wait_begin(r);
	switch (what) {
	case OTHER_RENAMES:
		ddio_fs_rename(p->n->fs, DDIO_FS_ROOT, "a", DDIO_FS_ROOT, "d", 0, fsc_wait_done, r);
		break;
	case OTHER_CUTS:
		ddio_fs_setattr(p->n->fs, p->ino, DDIO_FS_SET_SIZE, &set, fsc_wait_done, r);
		break;
	case OTHER_DATES:
		ddio_fs_setattr(p->n->fs, p->ino, DDIO_FS_SET_MTIME, &set, fsc_wait_done, r);
		break;
	default:
		stat_by_number(p, r);
	}
}

static void cut_off_until(struct lessees *p, const struct fsc_result *other)
{
	uint64_t begin = ddio_env_now(p->w.mount[1].env[0]);

	while (!other->calls && ddio_env_now(p->w.mount[1].env[0]) - begin < 30 * FS_SEC)
		ddio_sim_run_for(p->w.dw, 100 * FS_MS);
	CU_ASSERT(other->calls && !other->err);
}

/*
 * The holder changes the file otherwise, before it is cut off and (@late) after that: these are its own changes, and all that
 * it wrote is there, unless somebody else has changed data or times meanwhile.
 */
static void changed_by_itself(void (*change)(struct lessees *p), bool late, enum others what)
{
	bool undone = what == OTHER_CUTS || what == OTHER_DATES;
	struct fsc_result other;
	struct lessees p;

	lease_begin_as(&p, 15, DDIO_FS_HARD, O_APPEND);
	put(&p);
	FS_OK(p.m, ddio_fs_sync, p.a);
	if (!late)
		change(&p);
	put(&p);
	net_set(&p, 20 * FS_SEC);
	other_begin(&p, what, &other);
	cut_off_until(&p, &other);
	slow(&p);
	if (late)
		change(&p);
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	FS_ERR(p.m, undone ? -EIO : 0, ddio_fs_sync, p.a);
	FS_OK(p.m, ddio_fs_sync, p.a);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	if (what == OTHER_CUTS)
		CU_ASSERT_EQUAL(p.n->r.attr.size, 10);
	if (what == OTHER_DATES)
		CU_ASSERT_EQUAL(p.n->r.attr.mtime.tv_sec, 1);
	if (!undone) {
		open_b(&p, O_RDONLY);
		check_b(&p);
	}
	lease_finish(&p);
}

static void changed_by_the_holder(void)
{
	size_t i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		changed_by_itself(own[i], false, OTHER_LOOKS);
		changed_by_itself(own[i], true, OTHER_LOOKS);
	}
	for (i = 0; i < OTHERS; i++) {
		changed_by_itself(own_none, false, i);
		changed_by_itself(own_xattr, false, i);
		changed_by_itself(own_xattr, true, i);
	}
}

/* Whatever the name server sends from now on takes so long. */
static void answers_take(struct lessees *p, uint64_t ns)
{
	struct ddio_sim_link net;
	uint32_t k;

	ddio_sim_link_default(&net);
	net.latency_ns = ns;
	for (k = 0; k < FS_NODE_REACTORS; k++)
		ddio_sim_set_link(p->w.names_node.env[k], &net);
}

/* The name server's answers to the first mount are lost, which hears of it again after @away. */
static void answers_lost(struct lessees *p, uint64_t away)
{
	uint32_t k;

	for (k = 0; k < FS_REACTORS; k++)
		ddio_sim_cut(p->w.mount[0].env[k]);
	answers_take(p, 0);
	ddio_sim_run_for(p->w.dw, away);
	for (k = 0; k < FS_REACTORS; k++)
		ddio_sim_rejoin(p->w.mount[0].env[k]);
}

/*
 * The answer to what a mount tells is lost, or (@recalled) the one to its returning the lease; it was told nevertheless, and is
 * told again without harm.
 */
static void answer_lost(bool recalled, uint64_t away)
{
	struct fsc_result asking, syncing;
	struct lessees p;

	lease_begin_as(&p, 16, DDIO_FS_HARD, O_APPEND);
	put(&p);
	fsc_wait_init(&asking, p.n->fs);
	fsc_wait_begin(&asking);
	fsc_wait_init(&syncing, p.m->fs);
	fsc_wait_begin(&syncing);
	if (recalled) {
		stat_by_number(&p, &asking);
		ddio_sim_run_for(p.w.dw, 3 * FS_MS / 2);
		answers_take(&p, 20 * FS_SEC);
	} else {
		answers_take(&p, 20 * FS_SEC);
		ddio_fs_sync(p.a, fsc_wait_done, &syncing);
	}
	ddio_sim_run_for(p.w.dw, 2 * FS_MS);
	CU_ASSERT_EQUAL(leases_now(&p), recalled ? 0 : 1);
	CU_ASSERT(!syncing.calls && !asking.calls);
	answers_lost(&p, away);
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	/* The other mount, which is not hard, may have been too long without an answer. */
	CU_ASSERT(recalled ? asking.calls : syncing.calls && !syncing.err);
	FS_OK(p.m, ddio_fs_sync, p.a);
	open_b(&p, O_RDONLY);
	check_b(&p);
	lease_finish(&p);
}

/*
 * The answer to what a mount tells as it returns the lease is lost, and another one has set the time before it is told again:
 * that is answered as it was the first time, and undoes nothing.
 */
static void answer_lost_and_changed(void)
{
	struct fsc_result other;
	struct lessees p;

	lease_begin_as(&p, 16, DDIO_FS_HARD, O_APPEND);
	put(&p);
	other_begin(&p, OTHER_DATES, &other);
	ddio_sim_run_for(p.w.dw, 3 * FS_MS / 2);
	answers_take(&p, 20 * FS_SEC);
	ddio_sim_run_for(p.w.dw, 2 * FS_MS);
	CU_ASSERT_EQUAL(leases_now(&p), 0);
	CU_ASSERT(!other.calls);
	answers_lost(&p, 10 * FS_MS);
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	CU_ASSERT(other.calls);
	FS_OK(p.m, ddio_fs_sync, p.a);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	CU_ASSERT_EQUAL(p.n->r.attr.size, p.at);
	CU_ASSERT_EQUAL(p.n->r.attr.mtime.tv_sec, 1);
	lease_finish(&p);
}

static void answers_are_lost(void)
{
	answer_lost(false, 10 * FS_MS);
	answer_lost(false, 10 * FS_SEC);
	answer_lost(true, 10 * FS_MS);
	answer_lost(true, 10 * FS_SEC);
	answer_lost_and_changed();
}

/* However long a mount goes on writing, what it has been answered is told within a second, so that its death takes no more. */
static void told_within_a_second(int flags)
{
	enum { PUTS = 16, STEP = 150 };
	uint64_t answered[PUTS];
	struct lessees p;
	int i;

	lease_begin_as(&p, 8, DDIO_FS_HARD, flags);
	for (i = 0; i < PUTS; i++) {
		put(&p);
		answered[i] = p.at;
		ddio_sim_run_for(p.w.dw, STEP * FS_MS);
	}
	/* As good as dead. */
	net_set(&p, 30 * FS_SEC);
	ddio_sim_run_for(p.w.dw, 8 * FS_SEC);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	CU_ASSERT(p.n->r.attr.size >= answered[PUTS - 1 - 1200 / STEP]);
	CU_ASSERT(p.n->r.attr.size <= p.at);
	slow(&p);
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	FS_OK(p.m, ddio_fs_sync, p.a);
	lease_finish(&p);
}

static void dies_while_it_writes(void)
{
	told_within_a_second(0);
	told_within_a_second(O_APPEND);
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
	{ "restart at any moment", restart_at_any_moment },
	{ "holder cut off", holder_cut_off },
	{ "stopped at any moment", stopped_at_any_moment },
	{ "changed by the holder", changed_by_the_holder },
	{ "answers are lost", answers_are_lost },
	{ "small files", small_files },
	{ "dies while it writes", dies_while_it_writes },
	{ "full disks", full_disks },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs lease", cases } };

	return ut_run("fs_lease", suites, 1);
}
