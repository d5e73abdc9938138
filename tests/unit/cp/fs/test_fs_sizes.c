// SPDX-License-Identifier: GPL-2.0-only
/*
 * What two mounts make of a file's size, at every moment at which one may come between the steps of the other:
 * messages take a millisecond, and the second call begins a little later each time.
 */
#include "tests/unit/cp/fs/fs_world.h"
#include "userlib/cp/fs/inode/inode.h"

enum { BLOCK = 1024, LEN = 6 * BLOCK + 11, AT = 2 * BLOCK + 100, MORE = 10, SHORT = 10 };

/* Two mounts that have the file "a" open. */
struct sharers {
	struct fs_world w;
	struct fs_mount *m, *n;
	struct ddio_fs_file *a, *b;
	uint64_t ino;
	uint8_t want[LEN];
};

static void pair_begin(struct sharers *p, uint64_t seed, uint32_t flags, int open_flags)
{
	struct ddio_sim_link net;
	uint32_t i, k;

	fs_world_make(&p->w, true, seed, BLOCK, 3000);
	p->m = fs_mount(&p->w, 0, flags);
	p->n = fs_mount(&p->w, 1, flags);
	p->a = fs_create(p->m, "a", O_RDWR | open_flags);
	p->ino = p->m->r.attr.ino;
	p->b = NULL;
	FS_OK(p->n, ddio_fs_file_open, p->n->fs, p->ino, O_RDWR | open_flags, &p->b);
	fs_fill(p->want, LEN, seed, 0);
	ddio_sim_link_default(&net);
	net.latency_ns = FS_MS;
	for (i = 0; i < 2; i++)
		for (k = 0; k < FS_REACTORS; k++)
			ddio_sim_set_link(p->w.mount[i].env[k], &net);
}

static void pair_end(struct sharers *p)
{
	FS_OK(p->m, ddio_fs_file_close, p->a);
	FS_OK(p->n, ddio_fs_file_close, p->b);
	fs_world_end(&p->w);
}

static uint64_t size_seen(struct sharers *p, struct fs_mount *m)
{
	FS_OK(m, ddio_fs_getattr, m->fs, p->ino);
	return m->r.attr.size;
}

/* What was written inside the file's end before it was cut is told later, and does not undo the cut. */
static void told_late(void)
{
	struct ddio_fs_attr cut = { .size = SHORT };
	struct sharers p;

	pair_begin(&p, 1, 0, 0);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, LEN, 0);
	FS_OK(p.m, ddio_fs_write, p.a, p.want + AT, MORE, AT);
	FS_OK(p.n, ddio_fs_setattr, p.n->fs, p.ino, DDIO_FS_SET_SIZE, &cut);
	CU_ASSERT_EQUAL(size_seen(&p, p.n), SHORT);
	ddio_sim_run_for(p.w.dw, 3 * FS_SEC);
	CU_ASSERT_EQUAL(size_seen(&p, p.n), SHORT);
	FS_OK(p.m, ddio_fs_flush, p.a);
	FS_OK(p.m, ddio_fs_sync, p.a);
	CU_ASSERT_EQUAL(size_seen(&p, p.n), SHORT);
	CU_ASSERT_EQUAL(size_seen(&p, p.m), SHORT);
	pair_end(&p);
}

/* What is written after the cut by a mount that does not know of it is in the file. */
static void cut_before(void)
{
	struct ddio_fs_attr cut = { .size = SHORT };
	uint8_t buf[LEN];
	struct sharers p;

	pair_begin(&p, 2, 0, 0);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, LEN, 0);
	FS_OK(p.n, ddio_fs_setattr, p.n->fs, p.ino, DDIO_FS_SET_SIZE, &cut);
	FS_OK(p.m, ddio_fs_write, p.a, p.want + AT, MORE, AT);
	CU_ASSERT_EQUAL(size_seen(&p, p.n), AT + MORE);
	FS_OK(p.n, ddio_fs_read, p.b, buf, LEN, 0);
	CU_ASSERT_EQUAL(p.n->r.value, AT + MORE);
	CU_ASSERT_EQUAL(memcmp(buf + AT, p.want + AT, MORE), 0);
	pair_end(&p);
}

/* With DDIO_FS_PROMPT the other mount sees a write's time as soon as the write has been answered. */
static void told_at_once(void)
{
	uint64_t change;
	struct sharers p;

	pair_begin(&p, 3, DDIO_FS_PROMPT, 0);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, LEN, 0);
	size_seen(&p, p.n);
	change = p.n->r.attr.change;
	FS_OK(p.m, ddio_fs_write, p.a, p.want + AT, MORE, AT);
	size_seen(&p, p.n);
	CU_ASSERT_NOT_EQUAL(p.n->r.attr.change, change);
	pair_end(&p);
}

/* With DDIO_FS_PROMPT a read ends where the other mount has cut the file, and sees what it has written since. */
static void read_to_the_end(void)
{
	const uint64_t sizes[] = { SHORT, 0, 3 * BLOCK, LEN };
	struct ddio_fs_attr cut = { .size = 0 };
	uint8_t buf[LEN];
	struct sharers p;
	uint32_t i;

	pair_begin(&p, 4, DDIO_FS_PROMPT, 0);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, LEN, 0);
	FS_OK(p.n, ddio_fs_read, p.b, buf, LEN, 0);
	CU_ASSERT_EQUAL(p.n->r.value, LEN);
	for (i = 0; i < 4; i++) {
		cut.size = sizes[i] < 3 * BLOCK ? sizes[i] : 0;
		FS_OK(p.m, ddio_fs_setattr, p.m->fs, p.ino, DDIO_FS_SET_SIZE, &cut);
		if (sizes[i] > cut.size)
			FS_OK(p.m, ddio_fs_write, p.a, p.want, sizes[i], 0);
		FS_OK(p.n, ddio_fs_read, p.b, buf, LEN, 0);
		CU_ASSERT_EQUAL(p.n->r.value, sizes[i]);
		CU_ASSERT_EQUAL(memcmp(buf, p.want, sizes[i]), 0);
	}
	pair_end(&p);
}

/* The write is before the cut, or after it and then there with all of its bytes. */
static void check_either(struct sharers *p, uint64_t delay)
{
	uint64_t fails = CU_get_number_of_failures(), size = size_seen(p, p->n);
	uint8_t buf[LEN] = { 0 };
	uint32_t i;

	CU_ASSERT(size == SHORT || size == AT + MORE);
	FS_OK(p->n, ddio_fs_read, p->b, buf, LEN, 0);
	CU_ASSERT_EQUAL(p->n->r.value, size);
	CU_ASSERT_EQUAL(memcmp(buf, p->want, SHORT), 0);
	for (i = SHORT; i < AT && i < size; i++)
		if (buf[i])
			break;
	CU_ASSERT(i == AT || i == size);
	if (size > SHORT)
		CU_ASSERT_EQUAL(memcmp(buf + AT, p->want + AT, MORE), 0);
	if (CU_get_number_of_failures() != fails)
		fprintf(stderr, "delay %lld us: size %llu\n", (long long)delay / 1000,
			(unsigned long long)size);
}

static void wrote_start(void *arg, const struct ddio_fs_reply *reply)
{
	CU_ASSERT(!reply->err);
	*(bool *)arg = true;
}

/* Writes what the cut takes; with @beside a moment after bytes that it leaves, so that both share answers. */
static void race_write(struct sharers *p, bool beside, bool *start)
{
	*start = !beside;
	if (beside)
		ddio_fs_write(p->a, p->want, SHORT, 0, wrote_start, start);
	ddio_fs_write(p->a, p->want + AT, MORE, AT, fsc_wait_done, &p->m->r);
}

/* @delay: by how much the cut begins after the write, which is begun first if that is not negative. */
static void race(int64_t delay, uint32_t flags, bool beside)
{
	struct ddio_fs_attr cut = { .size = SHORT };
	struct fsc_result cutting;
	struct sharers p;
	bool start;

	pair_begin(&p, 4, flags, 0);
	FS_OK(p.m, ddio_fs_write, p.a, p.want, LEN, 0);
	fsc_wait_init(&cutting, p.n->fs);
	fsc_wait_begin(&cutting);
	fsc_wait_begin(&p.m->r);
	if (delay >= 0)
		race_write(&p, beside, &start);
	ddio_sim_run_for(p.w.dw, (uint64_t)(delay < 0 ? -delay : delay));
	ddio_fs_setattr(p.n->fs, p.ino, DDIO_FS_SET_SIZE, &cut, fsc_wait_done, &cutting);
	if (delay < 0) {
		ddio_sim_run_for(p.w.dw, (uint64_t)-delay);
		race_write(&p, beside, &start);
	}
	ddio_sim_run_for(p.w.dw, 3 * FS_SEC);
	CU_ASSERT(cutting.calls == 1 && !cutting.err);
	CU_ASSERT(start && p.m->r.calls && !p.m->r.err);
	check_either(&p, (uint64_t)delay);
	pair_end(&p);
}

static void cut_at_any_moment(void)
{
	const int64_t most = 12 * (int64_t)FS_MS, step = (int64_t)FS_MS / 4 * ut_stride(6);
	int64_t delay;

	for (delay = -most; delay <= most; delay += step) {
		race(delay, 0, false);
		race(delay, 0, true);
		race(delay, DDIO_FS_PROMPT, false);
		race(delay, DDIO_FS_PROMPT, true);
	}
}

/*
 * Appends
 */

/* Fills the disks, so that not even one block is left. */
static void fill_disks(struct sharers *p, struct ddio_fs_file *hog)
{
	static uint8_t big[64 * BLOCK];
	uint64_t at = 0, i;

	while (!FSC_WAIT(&p->m->r, ddio_fs_write, hog, big, sizeof(big), at))
		at += sizeof(big);
	CU_ASSERT_EQUAL(p->m->r.err, -ENOSPC);
	for (i = 0; i < 300; i++)
		FSC_WAIT(&p->m->r, ddio_fs_write, hog, big, BLOCK, at + i * BLOCK);
}

/* The mounts ask the name server for the place of each append, as if it granted no leases. */
static void without_leases(struct sharers *p)
{
	atomic_store(&p->m->fs->leasing, false);
	atomic_store(&p->n->fs->leasing, false);
}

/* A full disk refuses appends, and the file is as it was; what is appended later follows what was there. */
static void failed_append_with(bool leases)
{
	static uint8_t data[20 * BLOCK], buf[20 * BLOCK];
	struct ddio_fs_file *hog;
	struct sharers p;
	int i;

	memset(data, 'x', sizeof(data));
	pair_begin(&p, 8, 0, O_APPEND);
	if (!leases)
		without_leases(&p);
	FS_OK(p.m, ddio_fs_write, p.a, "12345", 5, 0);
	hog = fs_create(p.m, "hog", O_RDWR);
	fill_disks(&p, hog);
	for (i = 0; i < 3; i++) {
		FS_ERR(p.m, -ENOSPC, ddio_fs_write, p.a, data, sizeof(data), 0);
		FS_ERR(p.n, -ENOSPC, ddio_fs_write, p.b, data, sizeof(data), 0);
	}
	CU_ASSERT_EQUAL(size_seen(&p, p.m), 5);
	CU_ASSERT_EQUAL(size_seen(&p, p.n), 5);
	FS_OK(p.m, ddio_fs_file_close, hog);
	FS_OK(p.m, ddio_fs_unlink, p.m->fs, DDIO_FS_ROOT, "hog");
	ddio_sim_run_for(p.w.dw, 3 * FS_SEC);
	FS_OK(p.n, ddio_fs_write, p.b, data, sizeof(data), 0);
	CU_ASSERT_EQUAL(size_seen(&p, p.m), 5 + sizeof(data));
	FS_OK(p.m, ddio_fs_read, p.a, buf, sizeof(buf), 5);
	CU_ASSERT_EQUAL(memcmp(buf, data, sizeof(data)), 0);
	pair_end(&p);
}

static void failed_append(void)
{
	failed_append_with(true);
	failed_append_with(false);
}

/* Another mount appends what fits, at any moment of an append that fails: it stays, at the end. */
static void failed_beside(bool leases)
{
	static uint8_t data[20 * BLOCK], buf[64];
	struct ddio_fs_file *hog;
	struct fsc_result other;
	uint64_t delay, size;
	struct sharers p;

	memset(data, 'x', sizeof(data));
	for (delay = 0; delay < 16 * FS_MS; delay += FS_MS / 2 * ut_stride(8)) {
		pair_begin(&p, 9, 0, O_APPEND);
		if (!leases)
			without_leases(&p);
		FS_OK(p.m, ddio_fs_write, p.a, "12345", 5, 0);
		hog = fs_create(p.m, "hog", O_RDWR);
		fill_disks(&p, hog);
		FS_OK(p.m, ddio_fs_file_close, hog);
		fsc_wait_init(&other, p.n->fs);
		fsc_wait_begin(&other);
		fsc_wait_begin(&p.m->r);
		ddio_fs_write(p.a, data, sizeof(data), 0, fsc_wait_done, &p.m->r);
		ddio_sim_run_for(p.w.dw, delay);
		ddio_fs_write(p.b, "67890", 5, 0, fsc_wait_done, &other);
		ddio_sim_run_for(p.w.dw, 5 * FS_SEC);
		CU_ASSERT_EQUAL(p.m->r.err, -ENOSPC);
		CU_ASSERT(other.calls == 1);
		size = size_seen(&p, p.n);
		if (!other.err) {
			CU_ASSERT(size == 10 || size == 10 + sizeof(data));
			FS_OK(p.n, ddio_fs_read, p.b, buf, 5, size - 5);
			CU_ASSERT_EQUAL(memcmp(buf, "67890", 5), 0);
		} else {
			CU_ASSERT(size == 5 || size == 5 + sizeof(data));
		}
		pair_end(&p);
	}
}

static void failed_beside_another(void)
{
	failed_beside(true);
	failed_beside(false);
}

static const struct ut_case cases[] = {
	{ "told late", told_late },
	{ "cut before", cut_before },
	{ "told at once", told_at_once },
	{ "read to the end", read_to_the_end },
	{ "cut at any moment", cut_at_any_moment },
	{ "failed append", failed_append },
	{ "failed beside another", failed_beside_another },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs sizes", cases } };

	return ut_run("fs_sizes", suites, 1);
}
