// SPDX-License-Identifier: GPL-2.0-only
/* Files and independent access, by one process or several, against real I/O processors. */
#include "tests/unit/cp/cp_world.h"

static void small_file(struct cp_proc *p)
{
	struct ddio_file *f = NULL;
	struct ddio_file_stat st;
	char buf[64];

	CP_OK(p, ddio_open(p->session, "a", DDIO_CREATE, NULL, &f));
	if (!f)
		return;
	CU_ASSERT_EQUAL(ddio_pread(f, buf, sizeof(buf), 0), 0);
	CU_ASSERT_EQUAL(ddio_pwrite(f, "hello", 5, 0), 5);
	memset(buf, 0, sizeof(buf));
	CU_ASSERT_EQUAL(ddio_pread(f, buf, sizeof(buf), 0), 5);
	CU_ASSERT_STRING_EQUAL(buf, "hello");
	CU_ASSERT_EQUAL(ddio_pread(f, buf, 2, 3), 2);
	CU_ASSERT_EQUAL(ddio_pread(f, buf, 2, 5), 0);
	CP_OK(p, ddio_fstat(f, &st));
	CU_ASSERT_EQUAL(st.size, 5);
	CU_ASSERT_EQUAL(st.block_size, 1024);
	CU_ASSERT_EQUAL(st.ndisks, 4);
	CP_OK(p, ddio_sync(f));
	CP_OK(p, ddio_drop_cache(f));
	ddio_close(f);
	CP_OK(p, ddio_stat(p->session, "a", &st));
	CU_ASSERT_EQUAL(st.size, 5);
	CP_OK(p, ddio_remove(p->session, "a"));
	CU_ASSERT_EQUAL(ddio_stat(p->session, "a", &st), -ENOENT);
	CU_ASSERT_STRING_EQUAL(ddio_last_error(p->session),
			       "node io0: file \"a\": no such file or object");
	CU_ASSERT_EQUAL(ddio_remove(p->session, "a"), -ENOENT);
	/* The text is there until another call fails. */
	CP_OK(p, ddio_open(p->session, "b", DDIO_CREATE, NULL, &f));
	ddio_close(f);
	CU_ASSERT_PTR_NOT_NULL(strstr(ddio_last_error(p->session), "\"a\""));
}

static void a_small_file(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1 });
	CU_ASSERT_EQUAL(cp_run(&w, small_file, NULL), 0);
	cp_world_end(&w);
}

/* Compares random ranges with an image in memory. */
static void ranges(struct cp_proc *p)
{
	enum { SIZE = 200000 };
	uint8_t *image = calloc(1, SIZE), *buf = malloc(SIZE);
	struct ddio_file *f = NULL;
	uint64_t rnd = 12345, size = 0;
	int i;

	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	for (i = 0; i < 200 && f; i++) {
		uint64_t at, len, k;
		ssize_t n;

		rnd = rnd * 6364136223846793005ull + 1442695040888963407ull;
		at = (rnd >> 33) % SIZE;
		len = (rnd >> 13) % (i % 3 ? 3000 : SIZE) + 1;
		if (at + len > SIZE)
			len = SIZE - at;
		if (rnd >> 60 & 1) {
			for (k = 0; k < len; k++)
				image[at + k] = buf[k] = cp_byte(i, k);
			n = ddio_pwrite(f, buf, len, at);
			CU_ASSERT_EQUAL(n, (ssize_t)len);
			if (at + len > size)
				size = at + len;
			continue;
		}
		memset(buf, 0xee, len);
		n = ddio_pread(f, buf, len, at);
		k = at >= size ? 0 : at + len > size ? size - at : len;
		CU_ASSERT_EQUAL(n, (ssize_t)k);
		CU_ASSERT_EQUAL(memcmp(buf, image + at, k), 0);
	}
	ddio_close(f);
	free(image);
	free(buf);
}

static void any_range(void)
{
	static const uint32_t blocks[] = { 512, 1024, 65536 };
	struct cp_world w;
	size_t i;

	for (i = 0; i < 3; i++) {
		cp_world_begin(&w, &(struct cp_params){ .procs = 1, .block = blocks[i] });
		CU_ASSERT_EQUAL(cp_run(&w, ranges, NULL), 0);
		cp_world_end(&w);
	}
}

static void sizes(struct cp_proc *p)
{
	enum { LEN = 10000 };
	struct ddio_file *f = NULL;
	uint8_t buf[LEN], zero[LEN] = { 0 };
	struct ddio_file_stat st;

	memset(buf, 1, LEN);
	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE | DDIO_EXCL, NULL, &f));
	CU_ASSERT_EQUAL(ddio_open(p->session, "f", DDIO_CREATE | DDIO_EXCL, NULL, &f), -EEXIST);
	CU_ASSERT_PTR_NULL(f);
	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, LEN, 0), LEN);
	CP_OK(p, ddio_set_size(f, 1500));
	CU_ASSERT_EQUAL(ddio_pread(f, buf, LEN, 0), 1500);
	CP_OK(p, ddio_set_size(f, LEN));
	CU_ASSERT_EQUAL(ddio_pread(f, buf, LEN, 0), LEN);
	CU_ASSERT_EQUAL(buf[1499], 1);
	CU_ASSERT_EQUAL(memcmp(buf + 1500, zero, LEN - 1500), 0);
	ddio_close(f);
	CP_OK(p, ddio_open(p->session, "f", DDIO_TRUNCATE, NULL, &f));
	CP_OK(p, ddio_fstat(f, &st));
	CU_ASSERT_EQUAL(st.size, 0);
	CU_ASSERT_EQUAL(ddio_set_size(f, (1ull << 62) + 1), -EFBIG);
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, 1, 1ull << 62), -EFBIG);
	CU_ASSERT_EQUAL(ddio_pread(f, NULL, 1, 0), -EINVAL);
	CU_ASSERT_EQUAL(ddio_pread(f, NULL, 0, 0), 0);
	ddio_close(f);
}

/* One process has it open and knows its size; another one cuts it, then removes it. */
static void cut_elsewhere(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	uint8_t buf[5000];

	memset(buf, 1, sizeof(buf));
	CP_OK(p, ddio_open_all(g, "c", DDIO_CREATE, NULL, &f));
	if (!p->rank)
		CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 0), sizeof(buf));
	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT_EQUAL(ddio_pread(f, buf, sizeof(buf), 0), sizeof(buf));
	CP_OK(p, ddio_group_barrier(g));
	if (p->rank)
		CP_OK(p, ddio_set_size(f, 700));
	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT_EQUAL(ddio_pread(f, buf, sizeof(buf), 0), 700);
	CU_ASSERT_EQUAL(ddio_pread(f, buf, 100, 3000), 0);
	CP_OK(p, ddio_group_barrier(g));
	if (p->rank)
		CP_OK(p, ddio_remove(p->session, "c"));
	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT_EQUAL(ddio_pread(f, buf, 100, 0), -ESTALE);
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, 100, 5000), -ESTALE);
	CU_ASSERT_EQUAL(ddio_set_size(f, 9000), -ESTALE);
	ddio_close(f);
	ddio_group_free(g);
}

static void cut_by_another(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 2 });
	CU_ASSERT_EQUAL(cp_run(&w, cut_elsewhere, NULL), 0);
	cp_world_end(&w);
}

/* Replaces the node by a new incarnation; @unheard: no process hears how the old one ended. */
static void node_anew(struct cp_proc *p, uint32_t i, bool unheard)
{
	struct cp_node *node = &p->w->node[i];
	uint32_t k;

	for (k = 0; unheard && k < CP_REACTORS; k++)
		ddio_sim_cut(node->env[k]);
	node->stop.fn = cp_stop_post;
	node->stop.arg = node;
	ddio_env_post(node->env[0], &node->stop);
	ddio_sim_sleep(p->env, 10 * CP_SEC);
	for (k = 0; unheard && k < CP_REACTORS; k++)
		ddio_sim_rejoin(node->env[k]);
	ddio_iop_free(node->iop);
	cp_node_begin(p->w, i);
}

/*
 * Between a write and the sync its node is another one: which has what was written if the one before has said so,
 * and else may not.
 */
static void sync_after_restart(struct cp_proc *p)
{
	struct ddio_file *f = NULL;
	uint8_t buf[5000] = { 1 };

	CP_OK(p, ddio_open(p->session, "r", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 0), sizeof(buf));
	CP_OK(p, ddio_sync(f));
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 0), sizeof(buf));
	node_anew(p, 1, false);
	CP_OK(p, ddio_sync(f));
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 0), sizeof(buf));
	node_anew(p, 1, true);
	CU_ASSERT_EQUAL(cp_note(p, ddio_sync(f)), -EHOSTDOWN);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "node io1 was restarted"));
	CP_OK(p, ddio_sync(f));
	/* That the first one of two has ended in order says nothing of what the second one was given. */
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 0), sizeof(buf));
	node_anew(p, 1, false);
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 0), sizeof(buf));
	node_anew(p, 1, true);
	CU_ASSERT_EQUAL(ddio_sync(f), -EHOSTDOWN);
	CP_OK(p, ddio_sync(f));
	ddio_close(f);
}

static void restarted_before_the_sync(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1, .lasts = true });
	CU_ASSERT_EQUAL(cp_run(&w, sync_after_restart, NULL), 0);
	cp_world_end(&w);
}

/* The name server holds no data of the file, but its name and its size. */
static void names_after_restart(struct cp_proc *p)
{
	const uint32_t disk = 1;
	const struct ddio_striping st = { .struct_size = sizeof(st), .ndisks = 1, .disks = &disk };
	struct ddio_file *f = NULL, *seen = NULL;
	uint8_t buf[500] = { 1 };

	CP_OK(p, ddio_open(p->session, "n", DDIO_CREATE, &st, &f));
	node_anew(p, 0, true);
	CU_ASSERT_EQUAL(cp_note(p, ddio_sync(f)), -EHOSTDOWN);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "node io0 was restarted"));
	CP_OK(p, ddio_sync(f));
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 0), sizeof(buf));
	node_anew(p, 0, false);
	CP_OK(p, ddio_sync(f));
	CP_OK(p, ddio_set_size(f, 100));
	node_anew(p, 0, true);
	CU_ASSERT_EQUAL(ddio_sync(f), -EHOSTDOWN);
	CP_OK(p, ddio_set_size(f, 200));
	node_anew(p, 0, false);
	CP_OK(p, ddio_set_size(f, 100));
	node_anew(p, 0, true);
	CU_ASSERT_EQUAL(ddio_sync(f), -EHOSTDOWN);
	/* Who has changed nothing has nothing to lose. */
	CP_OK(p, ddio_open(p->session, "n", 0, NULL, &seen));
	CU_ASSERT_EQUAL(ddio_pread(seen, buf, sizeof(buf), 0), 100);
	CU_ASSERT_EQUAL(ddio_pread(seen, buf, 50, 0), 50);
	CP_OK(p, ddio_sync(seen));
	node_anew(p, 0, true);
	CP_OK(p, ddio_sync(seen));
	ddio_close(seen);
	CP_OK(p, ddio_open(p->session, "n", DDIO_TRUNCATE, NULL, &seen));
	node_anew(p, 0, true);
	CU_ASSERT_EQUAL(ddio_sync(seen), -EHOSTDOWN);
	ddio_close(seen);
	ddio_close(f);
}

static void names_restarted_before_the_sync(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1, .lasts = true });
	CU_ASSERT_EQUAL(cp_run(&w, names_after_restart, NULL), 0);
	cp_world_end(&w);
}

static void answers_take(struct cp_proc *p, uint32_t node, uint64_t ns)
{
	struct ddio_sim_link link;
	uint32_t k;

	ddio_sim_link_default(&link);
	if (ns)
		link.latency_ns = ns;
	for (k = 0; k < CP_REACTORS; k++)
		ddio_sim_set_link(p->w->node[node].env[k], &link);
}

/* Meanwhile io1 has answered, and io0 has not. */
static void io1_dies(void *arg)
{
	struct cp_proc *p = arg;

	ddio_sim_sleep(p->env, CP_SEC);
	node_anew(p, 1, true);
}

static void io1_dies_and_is_known(void *arg)
{
	struct cp_proc *p = arg;
	struct ddio_file *f = p->w->arg;
	uint8_t byte;

	io1_dies(arg);
	CU_ASSERT_EQUAL(ddio_pread(f, &byte, 1, 1024), 1);
}

static void io1_is_cut_off(void *arg)
{
	struct cp_proc *p = arg;
	uint32_t k;

	ddio_sim_sleep(p->env, CP_SEC);
	for (k = 0; k < CP_REACTORS; k++)
		ddio_sim_cut(p->w->node[1].env[k]);
	ddio_sim_sleep(p->env, CP_SEC);
	for (k = 0; k < CP_REACTORS; k++)
		ddio_sim_rejoin(p->w->node[1].env[k]);
}

/* A node is lost while the same call waits for another one. */
static void lost_meanwhile(struct cp_proc *p)
{
	static void (*const meanwhile[])(void *arg) = { io1_dies, io1_dies_and_is_known };
	struct ddio_file *f = NULL, *other = NULL;
	uint8_t buf[4096] = { 1 };
	char name[2] = "m";
	uint32_t i;

	CP_OK(p, ddio_open(p->session, "other", DDIO_CREATE, NULL, &other));
	p->w->arg = other;
	for (i = 0; i < 3; i++, name[0]++) {
		CP_OK(p, ddio_open(p->session, name, DDIO_CREATE, NULL, &f));
		/* All are connected. */
		CU_ASSERT_EQUAL(ddio_pwrite(other, buf, sizeof(buf), 0), sizeof(buf));
		if (i < 2) {
			answers_take(p, 0, 12 * CP_SEC);
			ddio_sim_spawn(p->env, meanwhile[i], p);
			CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 0), sizeof(buf));
			answers_take(p, 0, 0);
		} else {
			CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 0), sizeof(buf));
			node_anew(p, 1, true);
			answers_take(p, 0, 12 * CP_SEC);
			ddio_sim_spawn(p->env, io1_is_cut_off, p);
		}
		CU_ASSERT_EQUAL(ddio_sync(f), -EHOSTDOWN);
		answers_take(p, 0, 0);
		ddio_close(f);
	}
	ddio_close(other);
}

static void node_lost_during_a_call(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1, .lasts = true, .timeout_ms = 100000 });
	CU_ASSERT_EQUAL(cp_run(&w, lost_meanwhile, NULL), 0);
	cp_world_end(&w);
}

static void growing_and_shrinking(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1 });
	CU_ASSERT_EQUAL(cp_run(&w, sizes, NULL), 0);
	cp_world_end(&w);
}

static int count_name(void *arg, const char *name, const struct ddio_file_stat *st)
{
	int *n = arg;
	char want[32];

	snprintf(want, sizeof(want), "f%03d", (*n)++);
	CU_ASSERT_STRING_EQUAL(name, want);
	CU_ASSERT(st->id > 0);
	return *n == 1000 ? 42 : 0;
}

static void listing(struct cp_proc *p)
{
	struct ddio_file *f;
	char name[32];
	int i, n = 0;

	for (i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "f%03d", i);
		CP_OK(p, ddio_open(p->session, name, DDIO_CREATE, NULL, &f));
		ddio_close(f);
	}
	CP_OK(p, ddio_list(p->session, NULL, count_name, &n));
	CU_ASSERT_EQUAL(n, 300);
	n = 999;
	CU_ASSERT_EQUAL(ddio_list(p->session, NULL, NULL, &n), -EINVAL);
}

static void more_names_than_a_page(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1 });
	CU_ASSERT_EQUAL(cp_run(&w, listing, NULL), 0);
	cp_world_end(&w);
}

struct placed {
	uint64_t blocks;
	uint32_t disks[2];
	uint64_t seen;
};

static int place_one(void *arg, const struct ddio_placement *pl)
{
	struct placed *pd = arg;
	uint64_t k;

	pd->blocks += pl->count;
	for (k = 0; k < pl->count; k++) {
		uint64_t b = pl->block + 2 * k;

		CU_ASSERT_EQUAL(pd->disks[b % 2], pl->disk);
		CU_ASSERT(b < 64 && !(pd->seen >> b & 1));
		pd->seen |= 1ull << b;
	}
	return 0;
}

static void striping(struct cp_proc *p)
{
	const uint32_t disks[2] = { 3, 1 };
	struct ddio_striping st = { .struct_size = sizeof(st),
				    .block_size = 2048,
				    .layout = DDIO_RANDOM_BLOCKS,
				    .seed = 5,
				    .ndisks = 2,
				    .disks = disks,
				    .reserve = 40000 };
	struct placed pd = { .disks = { 3, 1 } };
	struct ddio_file *f = NULL;
	struct ddio_file_stat fs;

	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, &st, &f));
	CU_ASSERT_EQUAL(ddio_file_disk(f, 0), 3);
	CU_ASSERT_EQUAL(ddio_file_disk(f, 1), 1);
	CU_ASSERT_EQUAL(ddio_file_disk(f, 2), -EINVAL);
	CP_OK(p, ddio_fstat(f, &fs));
	CU_ASSERT_EQUAL(fs.size, 0);
	CU_ASSERT_EQUAL(fs.layout, DDIO_RANDOM_BLOCKS);
	CU_ASSERT_EQUAL(fs.seed, 5);
	CP_OK(p, ddio_layout(f, place_one, &pd));
	CU_ASSERT_EQUAL(pd.blocks, 20);
	ddio_close(f);
	st.block_size = 1000;
	CU_ASSERT_EQUAL(ddio_open(p->session, "g", DDIO_CREATE, &st, &f), -EINVAL);
	st.block_size = 0;
	st.ndisks = 9;
	CU_ASSERT_EQUAL(ddio_open(p->session, "g", DDIO_CREATE, &st, &f), -EINVAL);
	st.ndisks = 2;
	st.struct_size = 3;
	CU_ASSERT_EQUAL(ddio_open(p->session, "g", DDIO_CREATE, &st, &f), -EINVAL);
	CU_ASSERT_EQUAL(ddio_open(p->session, "", DDIO_CREATE, NULL, &f), -EINVAL);
	CU_ASSERT_EQUAL(ddio_open(p->session, "x", 1u << 9, NULL, &f), -EINVAL);
}

/* Every file has a seed of its own, by which its objects are told from those of another one of its number. */
static void seeds(struct cp_proc *p)
{
	struct ddio_file_stat fs = { .seed = 0 };
	struct ddio_file *f = NULL;
	uint64_t first = 0;
	int i;

	for (i = 0; i < 2; i++) {
		CP_OK(p, ddio_open(p->session, i ? "t" : "s", DDIO_CREATE, NULL, &f));
		CP_OK(p, ddio_fstat(f, &fs));
		CU_ASSERT_NOT_EQUAL(fs.seed, first);
		first = fs.seed;
		ddio_close(f);
	}
}

/* A node comes back without its data: each read fails, and none gives zeros. */
static void read_while_they_meet(struct cp_proc *p)
{
	struct ddio_strided piece = { .len = 512 };
	struct ddio_part part = { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &piece };
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .part = &part,
				   .method = DDIO_METHOD_TC };
	uint8_t buf[2][512] = { { 1 } };
	struct ddio_file *f = NULL;
	struct ddio_sim_link slow;
	struct ddio_op *op[2];
	char name[16];
	int i, k;

	/* What the name space answers takes its time: the second request comes before it, and after it. */
	ddio_sim_link_default(&slow);
	slow.latency_ns = 10 * CP_MS;
	ddio_sim_set_link(p->w->node[0].env[0], &slow);
	for (i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		CP_OK(p, ddio_open(p->session, name, DDIO_CREATE, NULL, &f));
		for (k = 0; k < 4; k++)
			CU_ASSERT_EQUAL(ddio_pwrite(f, buf[0], 512, k * 1024), 512);
		CP_OK(p, ddio_sync(f));
		node_anew(p, 1, false);
		for (k = 0; k < 2; k++) {
			piece.offset = 1024 * (1 + 2 * k);
			t.buf = buf[k];
			CP_OK(p, ddio_start_read(f, &t, &op[k]));
			ddio_sim_sleep(p->env, i * 4 * CP_MS);
		}
		for (k = 0; k < 2; k++)
			CU_ASSERT_EQUAL(ddio_wait(op[k]), -EIO);
		ddio_close(f);
	}
}

/*
 * A node comes back without its data while its reactor 1 is being connected to, and while it is not yet known that
 * the connection with reactor 0 is gone: the former must not be used before the latter has met the name space.
 */
static void read_by_another_door(struct cp_proc *p)
{
	struct cp_node *node = &p->w->node[1];
	struct ddio_strided piece = { .offset = 3 * 1024, .len = 512 };
	struct ddio_part part = { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &piece };
	uint8_t buf[512] = { 1 };
	struct ddio_transfer t = {
		.struct_size = sizeof(t), .part = &part, .buf = buf, .method = DDIO_METHOD_TC
	};
	struct ddio_sim_link link;
	struct ddio_file *f = NULL;
	struct ddio_op *op;

	CP_OK(p, ddio_open(p->session, "door", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 1024), sizeof(buf));
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 3 * 1024), sizeof(buf));
	CP_OK(p, ddio_sync(f));
	ddio_sim_cut(node->env[1]);
	ddio_sim_rejoin(node->env[1]);
	ddio_sim_sleep(p->env, CP_MS);
	CP_OK(p, ddio_start_read(f, &t, &op));
	/* It has asked for the size; what is sent from now on takes long. */
	ddio_sim_sleep(p->env, CP_MS / 1000);
	ddio_sim_link_default(&link);
	link.latency_ns = 3 * CP_SEC;
	ddio_sim_set_link(p->env, &link);
	ddio_sim_sleep(p->env, CP_MS);
	ddio_sim_link_default(&link);
	ddio_sim_set_link(p->env, &link);
	ddio_sim_cut(node->env[0]);
	node->stop.fn = cp_stop_post;
	node->stop.arg = node;
	ddio_env_post(node->env[0], &node->stop);
	ddio_sim_sleep(p->env, 2 * CP_SEC);
	ddio_iop_free(node->iop);
	cp_node_begin(p->w, 1);
	CU_ASSERT_EQUAL(cp_note(p, ddio_wait(op)), -EHOSTDOWN);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "was restarted"));
	CU_ASSERT_EQUAL(ddio_pread(f, buf, sizeof(buf), 3 * 1024), -EIO);
	ddio_close(f);
}

/* A node is restarted, and its reactor 0 was not heard to end: the first request to another one finds that out. */
static void read_past_a_silent_end(struct cp_proc *p)
{
	struct cp_node *node = &p->w->node[1];
	struct ddio_sim_link silent;
	uint8_t buf[512] = { 1 };
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open(p->session, "silent", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 1024), sizeof(buf));
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 3 * 1024), sizeof(buf));
	CP_OK(p, ddio_sync(f));
	ddio_sim_link_default(&silent);
	silent.stall_after = 1;
	ddio_sim_set_link(node->env[0], &silent);
	node_anew(p, 1, false);
	CU_ASSERT_EQUAL(ddio_pread(f, buf, sizeof(buf), 3 * 1024), -EHOSTDOWN);
	CU_ASSERT_PTR_NOT_NULL(strstr(ddio_last_error(p->session), "was restarted"));
	CU_ASSERT_EQUAL(ddio_pread(f, buf, sizeof(buf), 3 * 1024), sizeof(buf));
	ddio_close(f);
}

static void every_file_has_a_seed(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1 });
	CU_ASSERT_EQUAL(cp_run(&w, seeds, NULL), 0);
	cp_world_end(&w);
}

static void nothing_before_they_have_met(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1 });
	CU_ASSERT_EQUAL(cp_run(&w, read_while_they_meet, NULL), 0);
	cp_world_end(&w);
}

static void nor_by_another_door(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1 });
	CU_ASSERT_EQUAL(cp_run(&w, read_by_another_door, NULL), 0);
	cp_world_end(&w);
}

static void a_silent_end(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1, .lasts = true });
	CU_ASSERT_EQUAL(cp_run(&w, read_past_a_silent_end, NULL), 0);
	cp_world_end(&w);
}

static void striping_as_asked(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1 });
	CU_ASSERT_EQUAL(cp_run(&w, striping, NULL), 0);
	cp_world_end(&w);
}

/* Strided and listed, by one process. */
static void strided(struct cp_proc *p)
{
	enum { LEN = 50000 };
	struct ddio_strided sd = {
		.offset = 10, .len = 7, .nlevels = 2, .level = { { 100, 300 }, { 4, 20 } }
	};
	struct ddio_extent list[3] = { { 9000, 100 }, { 5, 10 }, { 3000, 4000 } };
	struct ddio_part part = { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &sd };
	struct ddio_report report = { .struct_size = sizeof(report) };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .report = &report };
	uint8_t *image = malloc(LEN), *buf = malloc(LEN);
	struct ddio_file *f = NULL;
	uint64_t i, j, n = 0, k;
	uint32_t m;

	for (i = 0; i < LEN; i++)
		image[i] = cp_byte(1, i);
	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL(ddio_pwrite(f, image, LEN, 0), LEN);
	t.buf = buf;
	for (m = DDIO_METHOD_DEFAULT; m <= DDIO_METHOD_DDS; m++) {
		t.method = m;
		t.part = &part;
		part = (struct ddio_part){ .kind = DDIO_PART_STRIDED, .n = 1, .strided = &sd };
		memset(buf, 0xee, LEN);
		CP_OK(p, ddio_read(f, &t));
		CU_ASSERT_EQUAL(report.bytes_share, 2800);
		CU_ASSERT_EQUAL(report.method, m ? m : (uint32_t)DDIO_METHOD_DDS);
		n = 0;
		for (i = 0; i < 100; i++)
			for (j = 0; j < 4; j++)
				for (k = 0; k < 7; k++)
					CU_ASSERT_FATAL(buf[n++] ==
							image[10 + 300 * i + 20 * j + k]);
		CU_ASSERT_EQUAL(buf[n], 0xee);
		part = (struct ddio_part){ .kind = DDIO_PART_LIST, .n = 3, .list = list };
		memset(buf, 0xee, LEN);
		for (i = 0; i < 4110; i++)
			buf[i] = cp_byte(50 + m, i);
		CP_OK(p, ddio_write(f, &t));
		for (n = i = 0; i < 3; i++)
			for (k = 0; k < list[i].len; k++)
				image[list[i].offset + k] = buf[n++];
		memset(buf, 0, LEN);
		CU_ASSERT_EQUAL(ddio_pread(f, buf, LEN, 0), LEN);
		CU_ASSERT_EQUAL(memcmp(buf, image, LEN), 0);
	}
	list[0].offset = LEN;
	CU_ASSERT_EQUAL(ddio_read(f, &t), -ENODATA);
	CU_ASSERT_PTR_NOT_NULL(strstr(ddio_last_error(p->session), "50000"));
	list[0].offset = 6;
	CU_ASSERT_EQUAL(ddio_read(f, &t), -EINVAL);
	part.n = 0;
	t.buf = NULL;
	CP_OK(p, ddio_read(f, &t));
	CP_OK(p, ddio_write(f, &t));
	ddio_close(f);
	free(image);
	free(buf);
}

static void strided_and_listed(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1 });
	CU_ASSERT_EQUAL(cp_run(&w, strided, NULL), 0);
	cp_world_end(&w);
}

/* One process cuts the file, another one's knowledge of its size is old. */
static void stale(struct cp_proc *p)
{
	struct ddio_file *f = NULL;
	struct ddio_group *g = cp_group(p);
	struct ddio_file_stat st;
	char buf[100] = "xyz";

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	if (!p->rank)
		CU_ASSERT_EQUAL(ddio_pwrite(f, buf, 100, 0), 100);
	CP_OK(p, ddio_group_barrier(g));
	if (p->rank)
		CU_ASSERT_EQUAL(ddio_pread(f, buf, 100, 0), 100);
	CP_OK(p, ddio_group_barrier(g));
	if (!p->rank)
		CP_OK(p, ddio_set_size(f, 0));
	CP_OK(p, ddio_group_barrier(g));
	if (p->rank)
		CU_ASSERT_EQUAL(ddio_pwrite(f, "abc", 3, 10), 3);
	CP_OK(p, ddio_group_barrier(g));
	CP_OK(p, ddio_fstat(f, &st));
	CU_ASSERT_EQUAL(st.size, 13);
	if (!p->rank) {
		CU_ASSERT_EQUAL(ddio_pread(f, buf, 100, 0), 13);
		CU_ASSERT_EQUAL(memcmp(buf, "\0\0\0\0\0\0\0\0\0\0abc", 13), 0);
	}
	ddio_close(f);
	ddio_group_free(g);
}

static void sizes_that_others_change(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 2 });
	CU_ASSERT_EQUAL(cp_run(&w, stale, NULL), 0);
	cp_world_end(&w);
}

/*
 * Removed by one process while others read it: these read what was there, or hear that it was removed.
 */
enum { GONE_LEN = 65536, GONE_BYTE = 0x5a, GONE_TRIES = 40 };

static bool all_there(const uint8_t *buf, size_t len)
{
	while (len && buf[len - 1] == GONE_BYTE)
		len--;
	return !len;
}

/* Reads it by itself until it cannot. */
static void read_gone(struct cp_proc *p, struct ddio_file *f)
{
	static uint8_t buf[GONE_LEN];
	ssize_t ret;

	while ((ret = ddio_pread(f, buf, GONE_LEN, 0)) == GONE_LEN)
		CU_ASSERT(all_there(buf, GONE_LEN));
	CU_ASSERT_EQUAL(cp_note(p, (int)ret), -ESTALE);
}

static void going(struct cp_proc *p)
{
	const struct ddio_sim_link slow = { .latency_ns = 20000,
					    .jitter_ns = 2 * CP_MS,
					    .window = 1 << 20 };
	const uint32_t *round = p->w->arg;
	struct ddio_extent e = { 0, GONE_LEN };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .part = &part,
				   .method = DDIO_METHOD_DDS };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	struct ddio_op *op = NULL;
	uint8_t *buf = malloc(GONE_LEN);
	int ret;

	memset(buf, GONE_BYTE, GONE_LEN);
	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	if (!p->rank)
		CU_ASSERT_EQUAL(ddio_pwrite(f, buf, GONE_LEN, 0), GONE_LEN);
	CP_OK(p, ddio_group_barrier(g));
	ddio_sim_set_link(p->env, &slow);
	t.buf = buf;
	memset(buf, 0, GONE_LEN);
	CP_OK(p, ddio_start_read_all(f, g, &t, &op));
	ddio_sim_sleep(p->env, *round * CP_MS / 4);
	if (p->rank == 2)
		CP_OK(p, ddio_remove(p->session, "f"));
	else
		read_gone(p, f);
	ret = cp_note(p, ddio_wait(op));
	CU_ASSERT(ret == -ESTALE || (!ret && all_there(buf, GONE_LEN)));
	free(buf);
	ddio_close(f);
	ddio_group_free(g);
}

static void read_while_it_goes(void)
{
	struct cp_world w;
	uint32_t round;

	for (round = 0; round < ut_rounds(GONE_TRIES); round++) {
		cp_world_begin(&w, &(struct cp_params){ .procs = 3, .seed = round });
		CU_ASSERT_EQUAL(cp_run(&w, going, &round), 0);
		cp_world_end(&w);
	}
}

static const struct ut_case cases[] = {
	{ "read while it is removed", read_while_it_goes },
	{ "cut by another process", cut_by_another },
	{ "restarted before the sync", restarted_before_the_sync },
	{ "names restarted before the sync", names_restarted_before_the_sync },
	{ "node lost during a call", node_lost_during_a_call },
	{ "a small file", a_small_file },
	{ "any range", any_range },
	{ "growing and shrinking", growing_and_shrinking },
	{ "more names than a page", more_names_than_a_page },
	{ "striping as asked", striping_as_asked },
	{ "a seed for every file", every_file_has_a_seed },
	{ "nothing before disks and name space have met", nothing_before_they_have_met },
	{ "a node that ends unheard", a_silent_end },
	{ "nor by another reactor that was being connected to", nor_by_another_door },
	{ "strided and listed", strided_and_listed },
	{ "sizes that others change", sizes_that_others_change },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "files", cases } };

	return ut_run("cp_files", suites, 1);
}
