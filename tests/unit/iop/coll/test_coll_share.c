// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers that a reactor shares with members on its machine: who gets which, what goes through them, and members
 * that lie, say nothing, or die.  That every byte is right whatever the pattern is what the other programs of this
 * folder test, with members that share.
 */
#include <sys/mman.h>
#include "tests/unit/iop/coll/coll_fault.h"

static uint32_t slots_told(const struct fault *x, uint32_t rank)
{
	return m_op(&x->g->m[rank], x->op)->slots;
}

static void run_one(struct fault *x, uint32_t flags, uint32_t status)
{
	x->job.flags = flags;
	x->op = w_start(&x->job);
	CU_ASSERT_EQUAL(w_wait(x->g, x->op, 60 * SEC), status);
}

/* Members 0 to 2 share; member 3 does not.  Each has bytes in each of the blocks. */
static void test_who_shares(void)
{
	struct w_params p = { .seed = 3, .ndisks = 2, .nreactors = 2 };
	struct fault x;
	uint32_t r;

	fault_new(&x, &p, 0);
	run_one(&x, 0, DDIO_ST_OK);
	for (r = 0; r < 4; r++) {
		CU_ASSERT_EQUAL(slots_told(&x, r), r == 3 ? 0 : BLOCKS);
		CU_ASSERT_EQUAL(m_op(&x.g->m[r], x.op)->datas, r == 3 ? BLOCKS : 0);
	}
	CU_ASSERT_EQUAL(w_read_wrong(x.g, x.op, &x.f), 0);
	run_one(&x, DDIO_COLL_WRITE, DDIO_ST_OK);
	w_apply(&x.job, x.g->map[x.op % W_OPS]);
	for (r = 0; r < 4; r++) {
		CU_ASSERT_EQUAL(slots_told(&x, r), r == 3 ? 0 : BLOCKS);
		CU_ASSERT_EQUAL(m_op(&x.g->m[r], x.op)->wants, r == 3 ? BLOCKS : 0);
	}
	CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, x.f.rec.size), 0);
	fault_free(&x);
}

/* Not with the flags, nor for a member that wants too little. */
static void test_who_does_not(void)
{
	static const uint32_t flags[] = { DDIO_COLL_NO_SHARE, DDIO_COLL_NO_BATCH };
	struct w_params p = { .seed = 4, .ndisks = 2 };
	struct fault x;
	uint32_t i;

	fault_new(&x, &p, 0);
	for (i = 0; i < 2; i++) {
		run_one(&x, flags[i], DDIO_ST_OK);
		CU_ASSERT_EQUAL(slots_told(&x, 0), 0);
		run_one(&x, DDIO_COLL_WRITE | flags[i], DDIO_ST_OK);
		CU_ASSERT_EQUAL(slots_told(&x, 0), 0);
	}
	x.w->reactor[0].share_min = BLOCKS * BLOCK / 4;
	run_one(&x, 0, DDIO_ST_OK);
	CU_ASSERT_EQUAL(slots_told(&x, 0), BLOCKS);
	x.w->reactor[0].share_min++;
	run_one(&x, 0, DDIO_ST_OK);
	CU_ASSERT_EQUAL(slots_told(&x, 0), 0);
	fault_free(&x);
}

/* Returns the offset of the first byte that is not 0, or 64 KB. */
static size_t first_byte(const struct ddio_shared *shared)
{
	const uint8_t *mem = ddio_shared_mem(shared);
	size_t i;

	for (i = 0; i < 1u << 16 && !mem[i]; i++)
		;
	return i;
}

/* A member maps what it was sent: not to write to, and nothing of another group is in it. */
static void test_rights(void)
{
	struct w_params p = { .seed = 5, .ndisks = 2 };
	const struct ddio_shared *read_a, *read_b, *write_b;
	struct fault x;

	fault_new(&x, &p, 0);
	run_one(&x, 0, DDIO_ST_OK);
	read_a = x.g->m[0].lane[0].shared[0];
	read_b = x.other->m[0].lane[0].shared[0];
	write_b = x.other->m[0].lane[0].shared[1];
	CU_ASSERT(first_byte(read_a) < 1u << 16);
	CU_ASSERT_EQUAL(mprotect(ddio_shared_mem(read_a), 4096, PROT_READ | PROT_WRITE), -1);
	CU_ASSERT_EQUAL(mprotect(ddio_shared_mem(write_b), 4096, PROT_READ | PROT_WRITE), 0);
	CU_ASSERT_EQUAL(first_byte(read_b), 1u << 16);
	fault_free(&x);
}

/* Gives the file's grant to the user of member 0, for whom the node knows nothing else; 0: takes user and grant away. */
static void grant(struct fault *x, uint32_t rights)
{
	struct coll_group *g = coll_group_find(&x->w->reactor[0], x->g->id);
	struct client *client = coll_group_member(g, 0)->client;
	uint64_t file = x->f.rec.ref.id;

	user_free(client->user);
	client->user = rights ? user_new() : NULL;
	if (rights)
		client->user->grants[file % DDIO_GRANT_PLACES] = (struct iop_grant){
			.file = file, .until_ns = UINT64_MAX, .rights = rights
		};
	x->w->iop.users = rights;
}

/*
 * The bytes of a block that nobody sends come to the block's buffer before it is written.  A user who may not read the file does
 * not see them there.
 */
static void test_rights_to_file(void)
{
	struct w_params p = { .seed = 17, .ndisks = 2 };
	struct fault x;

	fault_new(&x, &p, 0);
	grant(&x, DDIO_GRANT_WRITE);
	run_one(&x, DDIO_COLL_WRITE, DDIO_ST_OK);
	w_apply(&x.job, x.g->map[x.op % W_OPS]);
	CU_ASSERT_EQUAL(slots_told(&x, 0), 0);
	CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, x.f.rec.size), 0);
	run_one(&x, 0, DDIO_ST_PERMISSION);
	grant(&x, DDIO_GRANT_WRITE | DDIO_GRANT_READ);
	run_one(&x, DDIO_COLL_WRITE, DDIO_ST_OK);
	CU_ASSERT_EQUAL(slots_told(&x, 0), BLOCKS);
	grant(&x, DDIO_GRANT_READ);
	run_one(&x, 0, DDIO_ST_OK);
	CU_ASSERT_EQUAL(slots_told(&x, 0), BLOCKS);
	grant(&x, 0);
	fault_free(&x);
}

static void test_refused(void)
{
	struct w_params p = { .seed = 6, .ndisks = 2 };
	struct w_lane *lane;
	struct fault x;

	fault_new(&x, &p, 0);
	lane = &x.g->m[3].lane[0];
	CU_ASSERT_EQUAL(m_share_taken(&x.g->m[0].lane[0], true), DDIO_ST_INVALID);
	memset(x.g->id, 1, sizeof(x.g->id));
	CU_ASSERT_EQUAL(m_share_ask(lane, false), DDIO_ST_INVALID);
	CU_ASSERT_EQUAL(m_share_taken(lane, false), DDIO_ST_INVALID);
	memset(x.g->id, 0x40, sizeof(x.g->id));
	x.w->conf.share = false;
	CU_ASSERT_EQUAL(m_share_ask(lane, false), DDIO_ST_UNSUPPORTED);
	x.w->conf.share = true;
	CU_ASSERT_EQUAL(m_share_ask(lane, false), DDIO_ST_OK);
	fault_free(&x);
}

/* A reactor has so many; a group that comes later gets its data in messages. */
static void test_many_groups(void)
{
	struct w_params p = { .seed = 7, .ndisks = 2 };
	struct coll_share *share[COLL_SHARES];
	struct w_group *g;
	struct fault x;
	uint32_t n = 0;

	fault_new(&x, &p, 0);
	while (!coll_share_new(&x.w->reactor[0], false, &share[n]))
		n++;
	CU_ASSERT_EQUAL(n, COLL_SHARES - 4); /* two groups have two each */
	w_shares = false;
	g = w_group_new(x.w, 1);
	w_shares = true;
	CU_ASSERT_EQUAL(m_share_ask(&g->m[0].lane[0], false), DDIO_ST_UNSUPPORTED);
	CU_ASSERT_EQUAL(x.w->reactor[0].nshares, COLL_SHARES);
	while (n--)
		coll_share_free(share[n]);
	fault_free(&x);
}

/* Areas are page by page, the lowest first, and never overlap; what does not fit is refused. */
static void test_areas(void)
{
	struct w_params p = { .seed = 8, .ndisks = 2 };
	struct share_area a[4] = { 0 };
	struct coll_share *share;
	struct fault x;
	uint64_t memory;
	uint8_t *base;

	fault_new(&x, &p, 0);
	memory = x.w->reactor[0].memory;
	CU_ASSERT_EQUAL_FATAL(coll_share_new(&x.w->reactor[0], true, &share), 0);
	base = coll_share_get(share, 1, &a[0]);
	CU_ASSERT_PTR_EQUAL(coll_share_get(share, 4097, &a[1]), base + 4096);
	CU_ASSERT_PTR_EQUAL(coll_share_get(share, 4096, &a[2]), base + 3 * 4096);
	CU_ASSERT_EQUAL(coll_share_offset(share, base + 4097), 4097);
	CU_ASSERT_EQUAL(x.w->reactor[0].memory - memory, 4 * 4096);
	coll_share_put(&a[1]);
	CU_ASSERT_PTR_EQUAL(coll_share_get(share, 3 * 4096, &a[3]), base + 4 * 4096);
	CU_ASSERT_PTR_EQUAL(coll_share_get(share, 2 * 4096, &a[1]), base + 4096);
	CU_ASSERT_PTR_NULL(coll_share_get(share, COLL_SHARE_BYTES - 7 * 4096 + 1, &a[0]));
	coll_share_put(&a[3]);
	CU_ASSERT_EQUAL(x.w->reactor[0].memory - memory, 7 * 4096);
	coll_share_free(share);
	CU_ASSERT_EQUAL(x.w->reactor[0].memory, memory);
	fault_free(&x);
}

/* There is no room for the collective's buffers: it takes memory of the reactor's own, and messages. */
static void test_no_room(void)
{
	struct w_params p = { .seed = 9, .ndisks = 2 };
	struct share_area all[2];
	struct fault x;
	int i;

	fault_new(&x, &p, 0);
	for (i = 0; i < 2; i++)
		CU_ASSERT_PTR_NOT_NULL(
			coll_share_get(coll_group_find(&x.w->reactor[0], x.g->id)->share[i],
				       COLL_SHARE_BYTES, &all[i]));
	run_one(&x, 0, DDIO_ST_OK);
	CU_ASSERT_EQUAL(slots_told(&x, 0), 0);
	CU_ASSERT_EQUAL(w_read_wrong(x.g, x.op, &x.f), 0);
	run_one(&x, DDIO_COLL_WRITE, DDIO_ST_OK);
	w_apply(&x.job, x.g->map[x.op % W_OPS]);
	CU_ASSERT_EQUAL(slots_told(&x, 0), 0);
	CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, x.f.rec.size), 0);
	for (i = 0; i < 2; i++)
		coll_share_put(&all[i]);
	fault_free(&x);
}

/* Member 1 says nothing: it is named, in time, and only its group is told. */
static void mute(uint32_t flags)
{
	struct w_params p = { .seed = 10, .ndisks = 2 };
	struct fault x;
	uint64_t t;

	fault_new(&x, &p, 0);
	x.g->m[1].mute = true;
	t = ddio_sim_elapsed(x.w->dw);
	run_one(&x, flags, DDIO_ST_TIMEOUT);
	t = ddio_sim_elapsed(x.w->dw) - t;
	CU_ASSERT(t >= TIMEOUT_MS * MS && t < TIMEOUT_MS * MS * 3 / 2);
	CU_ASSERT(says(&x, "rank 1 of 4 has not copied what it was told of"));
	fault_free(&x);
}

static void test_mute(void)
{
	mute(0);
	mute(DDIO_COLL_WRITE);
}

/* It is named in time, too, if it says again and again that it has copied for the operation before. */
static void test_repeats(void)
{
	struct w_params p = { .seed = 15, .ndisks = 2 };
	struct ddio_copied copied = { .disk = 1 };
	struct ddio_msg_coll_copied out = { .rank = 1, .n = 1, .copied = &copied };
	struct fault x;
	uint32_t i;

	fault_new(&x, &p, 0);
	run_one(&x, 0, DDIO_ST_OK);
	memcpy(out.group, x.g->id, sizeof(out.group));
	out.op = x.op;
	x.g->m[1].mute = true;
	x.op = w_start(&x.job);
	for (i = 0; i < 24; i++) {
		w_run(x.w, TIMEOUT_MS * MS / 8);
		if (!x.g->m[1].gone)
			m_copied(&x.g->m[1].lane[0], &out);
	}
	CU_ASSERT(x.g->m[1].gone);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_TIMEOUT);
	fault_free(&x);
}

/*
 * A collective has failed while a member may still be writing to its buffers: later ones do not use them, and no byte
 * that comes late is in the file.
 */
static void test_late_writer(void)
{
	struct w_params p = { .seed = 11, .ndisks = 2 };
	struct fault x;

	fault_new(&x, &p, 0);
	x.g->m[1].mute = true;
	x.job.flags = DDIO_COLL_WRITE;
	x.op = w_start(&x.job);
	w_run(x.w, 5 * MS);
	m_abort(&x.g->m[0], x.op, DDIO_ST_NO_MEMORY);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 60 * SEC), DDIO_ST_CANCELLED);
	CU_ASSERT_EQUAL(x.w->reactor[0].memory - x.w->reactor[0].spare_bytes > 0, true);
	x.g->m[1].mute = false;
	x.job.seed = 77;
	run_one(&x, DDIO_COLL_WRITE, DDIO_ST_OK);
	CU_ASSERT_EQUAL(slots_told(&x, 0), 0);
	w_apply(&x.job, x.g->map[x.op % W_OPS]);
	CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, x.f.rec.size), 0);
	run_one(&x, 0, DDIO_ST_OK);
	CU_ASSERT_EQUAL(slots_told(&x, 0), BLOCKS);
	CU_ASSERT_EQUAL(w_read_wrong(x.g, x.op, &x.f), 0);
	fault_free(&x);
}

/*
 * The same, and another collective had begun before that one failed, but it waits for records, and needs its buffers only
 * afterwards: they are not those that the member may still write to.
 */
static void test_late_writer_beside(void)
{
	struct w_params p = { .seed = 16, .ndisks = 1 };
	struct mem_store *s;
	struct fault x;
	uint64_t next;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	s = mem_store(x.w->disk[0].store);
	x.g->m[1].mute = true;
	x.op = w_start(&x.job);
	w_run(x.w, 5 * MS);
	CU_ASSERT_EQUAL(s->unread, 0);
	s->unread = 1;
	s->slow = true;
	x.job.seed = 78;
	next = w_start(&x.job);
	w_run(x.w, 5 * MS);
	CU_ASSERT_EQUAL(s->unread, 0);
	m_abort(&x.g->m[0], x.op, DDIO_ST_NO_MEMORY);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, 60 * SEC), DDIO_ST_CANCELLED);
	x.g->m[1].mute = false;
	ddio_env_post(s->env, &s->fetched);
	CU_ASSERT_EQUAL(w_wait(x.g, next, 60 * SEC), DDIO_ST_OK);
	x.op = next;
	CU_ASSERT_EQUAL(slots_told(&x, 0), 0);
	w_apply(&x.job, x.g->map[next % W_OPS]);
	CU_ASSERT_EQUAL(w_file_wrong(x.w, &x.f, x.f.rec.size), 0);
	fault_free(&x);
}

/* A member dies at any time: nobody waits for it, and nobody gets a wrong byte. */
static void test_killed(void)
{
	uint32_t n[2] = { 0 };
	uint64_t us;

	for (us = 0; us < 2500; us += 40) {
		n[0] += killed_at(us, DDIO_COLL_SORT);
		n[1] += killed_at(us, DDIO_COLL_WRITE);
	}
	printf("\n  %u reads and %u writes of 63 each were hit ", n[0], n[1]);
	CU_ASSERT(n[0] > 5);
	CU_ASSERT(n[1] > 5);
}

/* What a member may not say: its connection ends, and its group's operation. */
static void lie(int what, uint32_t flags)
{
	struct w_params p = { .seed = 12, .ndisks = 2 };
	struct ddio_copied copied[2] = { { .disk = 1 }, { .disk = 1 } };
	struct ddio_msg_coll_copied out = { .rank = 1, .n = 1, .copied = copied };
	struct fault x;

	fault_new(&x, &p, flags);
	x.g->m[1].mute = true;
	/* Whatever it says, the block waits for one more. */
	x.g->m[2].mute = true;
	x.op = w_start(&x.job);
	w_run(x.w, 5 * MS);
	memcpy(out.group, x.g->id, sizeof(out.group));
	out.op = x.op + (what == 0);
	out.rank += what == 1;
	copied[0].block += what == 2;
	copied[0].disk += 6 * (what == 3);
	copied[0].slot = what == 4 ? 1 : what == 5 ? UINT32_MAX : 0;
	out.n += what == 6; /* twice */
	m_copied(&x.g->m[1].lane[0], &out);
	w_run(x.w, 5 * MS);
	CU_ASSERT_EQUAL(x.g->m[1].gone, what < 7);
	if (what < 7)
		CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_MEMBER_LOST);
	fault_free(&x);
}

static void test_lies(void)
{
	int what;

	for (what = 0; what < 8; what++) {
		lie(what, 0);
		lie(what, DDIO_COLL_WRITE);
	}
}

/* A member that was given no buffers says that it has copied, or sends a piece that it was to copy. */
static void test_wrong_way(void)
{
	struct w_params p = { .seed = 13, .ndisks = 2 };
	struct ddio_copied copied = { .disk = 1 };
	struct ddio_msg_coll_copied out = { .rank = 3, .n = 1, .copied = &copied };
	struct ddio_msg_coll_data d = { .disk = 1, .handle = 1 };
	uint8_t data[BLOCK / 4] = { 0 };
	struct fault x;

	fault_new(&x, &p, DDIO_COLL_WRITE);
	x.g->m[1].mute = true;
	x.g->m[3].mute = true;
	x.op = w_start(&x.job);
	w_run(x.w, 5 * MS);
	memcpy(d.group, x.g->id, sizeof(d.group));
	d.op = x.op;
	m_piece_send(&x.g->m[1].lane[0], &d, data, sizeof(data));
	w_run(x.w, 5 * MS);
	CU_ASSERT(x.g->m[1].gone);
	CU_ASSERT_EQUAL(w_wait(x.g, x.op, SEC), DDIO_ST_MEMBER_LOST);
	fault_free(&x);

	fault_new(&x, &p, 0);
	x.g->m[1].mute = true;
	x.op = w_start(&x.job);
	w_run(x.w, 5 * MS);
	memcpy(out.group, x.g->id, sizeof(out.group));
	out.op = x.op;
	m_copied(&x.g->m[3].lane[0], &out);
	w_run(x.w, 5 * MS);
	CU_ASSERT(x.g->m[3].gone);
	fault_free(&x);
}

/* With as many slots as it likes, a message tells of several blocks. */
static void test_batches(void)
{
	struct w_params p = { .seed = 14, .ndisks = 2, .buffers = 12 };
	struct fault x;

	fault_new(&x, &p, 0);
	run_one(&x, 0, DDIO_ST_OK);
	CU_ASSERT_EQUAL(slots_told(&x, 0), BLOCKS);
	/* Three members, and each block of the fourth: told and answered at once. */
	CU_ASSERT_EQUAL(m_op(&x.g->m[0], x.op)->done[0].messages, 3 * 2 + BLOCKS);
	fault_free(&x);
}

static const struct ut_case cases[] = {
	{ "who shares", test_who_shares },
	{ "who does not", test_who_does_not },
	{ "what a member can do with them", test_rights },
	{ "who may not read the file", test_rights_to_file },
	{ "who gets none", test_refused },
	{ "many groups", test_many_groups },
	{ "areas", test_areas },
	{ "no room", test_no_room },
	{ "a member says nothing", test_mute },
	{ "a member repeats itself", test_repeats },
	{ "a member may still write", test_late_writer },
	{ "a member may still write, and another collective has begun", test_late_writer_beside },
	{ "a member dies", test_killed },
	{ "a member lies", test_lies },
	{ "a member takes the wrong way", test_wrong_way },
	{ "several blocks a message", test_batches },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "shared buffers", cases } };

	w_shares_on();
	return ut_run("test_coll_share", suites, 1);
}
