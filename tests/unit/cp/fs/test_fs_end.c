// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a mount that dies, or is taken for dead, has put beyond a file's end.  Another mount makes the file longer, in each way that
 * there is: bytes that nobody has written, as far as it could see, are zeros; and what a mount that lives was answered stays.
 */
#include "tests/unit/cp/fs/fs_lessees.h"

enum { OLD = 700, FAR = 9 * BLOCK };

/* How the other mount makes the file longer, to FAR bytes. */
enum longer_how { CUT, ALLOCATE, WRITE, COPY, HOWS };

static void longer(struct lessees *p, enum longer_how how)
{
	static const struct ddio_fs_attr far = { .size = FAR };
	struct ddio_fs_file *from;

	if (how == CUT) {
		FS_OK(p->n, ddio_fs_setattr, p->n->fs, p->ino, DDIO_FS_SET_SIZE, &far);
		return;
	}
	FS_OK(p->n, ddio_fs_file_open, p->n->fs, p->ino, O_RDWR, &p->b);
	if (how == ALLOCATE) {
		FS_OK(p->n, ddio_fs_allocate, p->b, 0, 0, FAR);
	} else if (how == COPY) {
		from = fs_create(p->n, "from", O_RDWR);
		FS_OK(p->n, ddio_fs_write, from, p->want, PIECE, FAR - PIECE);
		FS_OK(p->n, ddio_fs_copy, from, FAR - PIECE, p->b, FAR - PIECE, PIECE);
		FS_OK(p->n, ddio_fs_file_close, from);
	} else {
		FS_OK(p->n, ddio_fs_write, p->b, p->want, PIECE, FAR - PIECE);
	}
	FS_OK(p->n, ddio_fs_file_close, p->b);
	p->b = NULL;
}

/* Bytes from @size on are zeros, but for those that longer() has written. */
static void look(struct lessees *p, enum longer_how how, uint64_t size)
{
	static uint8_t buf[FAR + 1];
	uint64_t end = how == CUT || how == ALLOCATE ? FAR : FAR - PIECE, i, old = 0;

	FS_OK(p->n, ddio_fs_file_open, p->n->fs, p->ino, O_RDONLY, &p->b);
	FS_OK(p->n, ddio_fs_read, p->b, buf, sizeof(buf), 0);
	CU_ASSERT_EQUAL(p->n->r.value, FAR);
	CU_ASSERT_EQUAL(memcmp(buf, p->want, size < OLD ? size : OLD), 0);
	for (i = size; i < end; i++)
		old += buf[i] != 0;
	CU_ASSERT_EQUAL(old, 0);
	if (end < FAR)
		CU_ASSERT_EQUAL(memcmp(buf + end, p->want, PIECE), 0);
	FS_OK(p->n, ddio_fs_file_close, p->b);
	p->b = NULL;
}

static void mount_dies(struct fs_mount *m)
{
	uint32_t k;

	for (k = 0; k < FS_REACTORS; k++)
		ddio_sim_orphan(m->env[k]);
}

static void end(struct lessees *p)
{
	ddio_sim_run_for(p->w.dw, 60 * FS_SEC);
	p->a = NULL;
	fs_world_end(&p->w);
}

/* A file of OLD bytes that are told and synced; then bytes are put behind them, and the mount dies @at ns later. */
static void dies_at(enum longer_how how, int flags, bool leased, uint64_t at)
{
	static uint8_t more[6 * BLOCK];
	struct lessees p;
	uint64_t size;

	if (leased) {
		lease_begin(&p, 30, flags);
	} else {
		lease_begin(&p, 30, 0);
		FS_OK(p.m, ddio_fs_file_close, p.a);
		p.a = fs_create(p.m, "b", O_RDWR | flags);
		p.ino = p.m->r.attr.ino;
		p.at = 0;
	}
	FS_OK(p.m, ddio_fs_write, p.a, p.want + p.at, OLD - p.at, p.at);
	FS_OK(p.m, ddio_fs_sync, p.a);
	memset(more, 'N', sizeof(more));
	fsc_wait_begin(&p.m->r);
	ddio_fs_write(p.a, more, sizeof(more), OLD, fsc_wait_done, &p.m->r);
	ddio_sim_run_for(p.w.dw, at);
	mount_dies(p.m);
	ddio_sim_run_for(p.w.dw, FS_SEC);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	size = p.n->r.attr.size;
	CU_ASSERT(size == OLD || size == OLD + sizeof(more));
	if (size == OLD) {
		longer(&p, how);
		look(&p, how, OLD);
	}
	end(&p);
}

static void dies(void)
{
	uint64_t at;
	int how;

	for (how = 0; how < HOWS; how++)
		for (at = FS_MS / 2; at < 12 * FS_MS; at += FS_MS * ut_stride(3) / 2) {
			dies_at(how, 0, true, at);
			dies_at(how, O_APPEND, true, at);
			dies_at(how, 0, false, at);
		}
}

/* The file "b", of OLD bytes that are synced, and of which nobody has the lease. */
static void begin_b(struct lessees *p, uint64_t seed, uint32_t flags)
{
	lease_begin_as(p, seed, flags, flags & DDIO_FS_PROMPT ? O_APPEND : 0);
	FS_OK(p->m, ddio_fs_file_close, p->a);
	p->a = fs_create(p->m, "b", O_RDWR);
	p->ino = p->m->r.attr.ino;
	p->at = 0;
	FS_OK(p->m, ddio_fs_write, p->a, p->want, OLD, 0);
	FS_OK(p->m, ddio_fs_sync, p->a);
}

/* Returns how many bytes of [@from, @end) are not @byte. */
static uint64_t others(struct lessees *p, uint8_t byte, uint64_t from, uint64_t end)
{
	static uint8_t buf[1 << 16];
	uint64_t i, n = 0;

	FS_OK(p->n, ddio_fs_file_open, p->n->fs, p->ino, O_RDONLY, &p->b);
	FS_OK(p->n, ddio_fs_read, p->b, buf, end - from, from);
	CU_ASSERT_EQUAL(p->n->r.value, end - from);
	for (i = 0; i < end - from; i++)
		n += buf[i] != byte;
	FS_OK(p->n, ddio_fs_file_close, p->b);
	p->b = NULL;
	return n;
}

/* A mount that is cut off while it writes there is taken for dead, the other one cuts its bytes off, and then it comes back. */
static void comes_back_at(uint64_t at)
{
	const struct ddio_fs_attr far = { .size = FAR };
	static uint8_t more[6 * BLOCK];
	struct ddio_sim_link net;
	struct lessees p;
	uint32_t k, i;

	begin_b(&p, 31, DDIO_FS_HARD);
	memset(more, 'M', sizeof(more));
	fsc_wait_begin(&p.m->r);
	ddio_fs_write(p.a, more, sizeof(more), OLD, fsc_wait_done, &p.m->r);
	ddio_sim_run_for(p.w.dw, at);
	ddio_sim_link_default(&net);
	net.latency_ns = 20 * FS_SEC;
	for (k = 0; k < FS_REACTORS; k++) {
		ddio_sim_set_link(p.m->env[k], &net);
		for (i = 0; i < 8; i++)
			ddio_sim_break(p.m->env[k]);
	}
	ddio_sim_run_for(p.w.dw, FS_SEC);
	FS_OK(p.n, ddio_fs_setattr, p.n->fs, p.ino, DDIO_FS_SET_SIZE, &far);
	slow(&p);
	ddio_sim_run_for(p.w.dw, 120 * FS_SEC);
	CU_ASSERT(p.m->r.calls);
	CU_ASSERT_EQUAL(p.m->r.err, 0);
	CU_ASSERT_EQUAL(others(&p, 'M', OLD, OLD + sizeof(more)), 0);
	CU_ASSERT_EQUAL(others(&p, 0, OLD + sizeof(more), FAR), 0);
	FS_OK(p.m, ddio_fs_file_close, p.a);
	p.a = NULL;
	fs_world_end(&p.w);
}

static void comes_back(void)
{
	uint64_t at;

	for (at = FS_MS / 2; at < 12 * FS_MS; at += FS_MS * ut_stride(4) / 4)
		comes_back_at(at);
}

/* The name server dies as well: who makes the file longer waits until all mounts of before have had their time. */
static bool names_die_at(uint64_t at)
{
	static uint8_t more[6 * BLOCK];
	struct lessees p;
	struct fs_node dead;
	uint32_t k;
	bool told;

	begin_b(&p, 32, 0);
	memset(more, 'N', sizeof(more));
	fsc_wait_begin(&p.m->r);
	ddio_fs_write(p.a, more, sizeof(more), OLD, fsc_wait_done, &p.m->r);
	ddio_sim_run_for(p.w.dw, at);
	mount_dies(p.m);
	dead = p.w.names_node;
	for (k = 0; k < FS_NODE_REACTORS; k++)
		ddio_sim_orphan(dead.env[k]);
	fs_node_stop(&dead);
	ddio_sim_run_for(p.w.dw, FS_SEC);
	fs_node_begin(&p.w, &p.w.names_node);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	told = p.n->r.attr.size != OLD;
	if (!told) {
		longer(&p, WRITE);
		look(&p, WRITE, OLD);
	}
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	ddio_iop_free(dead.iop);
	end(&p);
	return !told;
}

static void names_die(void)
{
	uint32_t n = 0;
	uint64_t at;

	for (at = FS_MS / 4; at < 6 * FS_MS; at += FS_MS / 4)
		n += names_die_at(at);
	CU_ASSERT(n > 2);
}

/* The name server dies, and begins anew. */
static void restart(struct lessees *p, struct fs_node *dead)
{
	uint32_t k;

	*dead = p->w.names_node;
	for (k = 0; k < FS_NODE_REACTORS; k++) {
		ddio_sim_orphan(dead->env[k]);
		ddio_sim_break(p->m->env[k]);
	}
	fs_node_stop(dead);
	ddio_sim_run_for(p->w.dw, 60 * FS_MS);
	fs_node_begin(&p->w, &p->w.names_node);
}

/*
 * The other mount makes the file longer while one that lives writes there: nothing of that is cut off, not even if the name server
 * has begun anew and does not know yet what the mount has open.
 */
static void writer_lives_at(bool anew, uint64_t at)
{
	const struct ddio_fs_attr far = { .size = FAR };
	static uint8_t more[6 * BLOCK];
	struct ddio_sim_link net;
	struct fs_node dead;
	struct lessees p;
	uint32_t k;

	/* It takes no leases. */
	begin_b(&p, 34, DDIO_FS_HARD | DDIO_FS_PROMPT);
	/* Its messages take so long that all of what the other does comes between two of them. */
	fast(&p);
	ddio_sim_link_default(&net);
	net.latency_ns = 10 * FS_MS;
	for (k = 0; k < FS_REACTORS; k++)
		ddio_sim_set_link(p.m->env[k], &net);
	memset(more, 'M', sizeof(more));
	fsc_wait_begin(&p.m->r);
	ddio_fs_write(p.a, more, sizeof(more), OLD, fsc_wait_done, &p.m->r);
	ddio_sim_run_for(p.w.dw, at);
	if (anew)
		restart(&p, &dead);
	FS_OK(p.n, ddio_fs_setattr, p.n->fs, p.ino, DDIO_FS_SET_SIZE, &far);
	ddio_sim_run_for(p.w.dw, 120 * FS_SEC);
	if (anew)
		ddio_iop_free(dead.iop);
	CU_ASSERT(p.m->r.calls);
	CU_ASSERT_EQUAL(p.m->r.err, 0);
	CU_ASSERT_EQUAL(others(&p, 'M', OLD, OLD + sizeof(more)), 0);
	FS_OK(p.m, ddio_fs_file_close, p.a);
	p.a = NULL;
	fs_world_end(&p.w);
}

static void writer_lives(void)
{
	uint64_t at;

	for (at = FS_MS; at < 60 * FS_MS; at += 2 * FS_MS) {
		writer_lives_at(false, at);
		writer_lives_at(true, at);
	}
}

enum { WRITES = 6 };

/**
 * struct beyond - writes that leave gaps, by both mounts
 */
struct beyond {
	struct fsc_result r[2 * WRITES + 1];
	uint8_t data[2 * WRITES][PIECE];
};

/* Where write @i goes: each is behind all before, with a gap. */
static uint64_t beyond_at(uint32_t i)
{
	return OLD + 3 * BLOCK * (i + 1) / 2;
}

/*
 * Both mounts, which live, write beyond the end at once, and one of them makes the file longer without writing: nothing that was
 * answered is missing, and what nobody has written is zeros.  @together: the second mount has the file open from the beginning.
 */
static void both_live(bool together, uint64_t delay)
{
	const struct ddio_fs_attr far = { .size = beyond_at(2 * WRITES) };
	static struct beyond b;
	struct lessees p;
	uint32_t i;

	begin_b(&p, 33, 0);
	if (together)
		FS_OK(p.n, ddio_fs_file_open, p.n->fs, p.ino, O_RDWR, &p.b);
	for (i = 0; i <= 2 * WRITES; i++) {
		struct fs_mount *m = together && i % 2 ? p.n : p.m;

		fsc_wait_init(&b.r[i], m->fs);
		fsc_wait_begin(&b.r[i]);
		if (i == 2 * WRITES) {
			ddio_fs_setattr(p.n->fs, p.ino, DDIO_FS_SET_SIZE, &far, fsc_wait_done,
					&b.r[i]);
			break;
		}
		memset(b.data[i], (int)i + 1, PIECE);
		ddio_fs_write(together && i % 2 ? p.b : p.a, b.data[i], PIECE, beyond_at(i),
			      fsc_wait_done, &b.r[i]);
		ddio_sim_run_for(p.w.dw, delay);
	}
	ddio_sim_run_for(p.w.dw, 30 * FS_SEC);
	if (p.b)
		FS_OK(p.n, ddio_fs_file_close, p.b);
	p.b = NULL;
	for (i = 0; i <= 2 * WRITES; i++) {
		CU_ASSERT_EQUAL(b.r[i].calls, 1);
		CU_ASSERT_EQUAL(b.r[i].err, 0);
	}
	for (i = 0; i < 2 * WRITES; i++) {
		CU_ASSERT_EQUAL(others(&p, (uint8_t)(i + 1), beyond_at(i), beyond_at(i) + PIECE),
				0);
		CU_ASSERT_EQUAL(others(&p, 0, beyond_at(i) + PIECE, beyond_at(i + 1)), 0);
	}
	FS_OK(p.m, ddio_fs_file_close, p.a);
	p.a = NULL;
	fs_world_end(&p.w);
}

static void live(void)
{
	uint64_t delay;

	for (delay = 0; delay < 8 * FS_MS; delay += FS_MS * ut_stride(6) / 6) {
		both_live(false, delay);
		both_live(true, delay);
	}
}

static const struct ut_case cases[] = {
	{ "dies when it has written there", dies },
	{ "is taken for dead, and comes back", comes_back },
	{ "the name server dies, too", names_die },
	{ "the writer lives", writer_lives },
	{ "both mounts live", live },
	{ .name = NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs end", cases } };

	return ut_run("fs_end", suites, 1);
}
