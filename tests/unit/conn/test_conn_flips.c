// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bit is turned on the wire between processes and I/O processors, or between processes: whatever was to be moved is moved
 * right, or the call fails.
 */
#include "tests/unit/cp/cp_world.h"

enum { BYTES = 40000, MOST = 6000, MEMBERS = 4, ELEMS = 4000 };

static uint64_t mix(uint64_t x)
{
	x = (x + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
	return x ^ x >> 31;
}

/* Has the process turn a bit of one of the next @within bytes that it sends; 0: of none. */
static void flip(struct ddio_env *env, uint64_t x, uint64_t within)
{
	struct ddio_sim_link net;

	ddio_sim_link_default(&net);
	net.flip_after = within ? 1 + x % within : 0;
	ddio_sim_set_link(env, &net);
}

static struct ddio_env *any_env(struct cp_proc *p, uint64_t x)
{
	struct cp_node *node = &p->w->node[x / 4 % p->w->p.nodes];

	if (x % 2)
		return p->w->proc[x / 4 % p->w->p.procs].env;
	return node->env[x / 2 % p->w->p.reactors];
}

static uint64_t noticed(const struct cp_proc *p)
{
	return ddio_sim_logged(p->w->dw, p->w->conf->tls ? "changed on its way"
							 : "does not match its checksum");
}

/**
 * struct flip_piece - what is moved in a round
 */
struct flip_piece {
	uint64_t at, len;
	uint8_t *data;
};

/* Writes until it succeeds, so that it is known what the file has. */
static void write_again(struct cp_proc *p, struct ddio_file *f, const struct flip_piece *x)
{
	int tries;

	for (tries = 0; tries < 20; tries++)
		if (ddio_pwrite(f, x->data, x->len, x->at) == (ssize_t)x->len)
			return;
	CU_FAIL("a file cannot be written any more");
	fprintf(stderr, "%s\n", ddio_last_error(p->session));
}

static void one_piece(struct cp_proc *p, struct ddio_file *f, uint8_t *image, uint64_t n)
{
	uint8_t buf[MOST];
	struct flip_piece x = { .at = mix(n) % (BYTES - MOST),
				.len = 1 + mix(n + 1) % (MOST - 1),
				.data = image };
	bool writing = mix(n + 2) % 2;
	ssize_t ret;
	uint64_t i;

	x.data += x.at;
	flip(any_env(p, mix(n + 3)), mix(n + 4), x.len / 2 + 100);
	if (writing) {
		for (i = 0; i < x.len; i++)
			x.data[i] = cp_byte(n, i);
		ret = ddio_pwrite(f, x.data, x.len, x.at);
	} else {
		ret = ddio_pread(f, buf, x.len, x.at);
		CU_ASSERT(ret != (ssize_t)x.len || !memcmp(buf, x.data, x.len));
	}
	for (i = 0; i < 4 * p->w->p.nodes; i++)
		flip(any_env(p, i * 2), 0, 0);
	flip(p->env, 0, 0);
	if (writing && ret != (ssize_t)x.len)
		write_again(p, f, &x);
}

static void pieces(struct cp_proc *p)
{
	uint8_t *image = calloc(1, BYTES), *buf = malloc(BYTES);
	struct ddio_file *f = NULL;
	uint64_t n, flips = *(uint64_t *)p->w->arg;

	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL_FATAL(ddio_pwrite(f, image, BYTES, 0), BYTES);
	ddio_sim_limit(p->w->dw, UINT64_MAX / 2);
	/* Some are of bytes that are not sent in the round. */
	for (n = 0; noticed(p) < flips && n < 8 * flips; n++)
		one_piece(p, f, image, 16 * n);
	CU_ASSERT_EQUAL(ddio_pread(f, buf, BYTES, 0), BYTES);
	CU_ASSERT_EQUAL(memcmp(buf, image, BYTES), 0);
	CU_ASSERT(noticed(p) >= flips);
	ddio_close(f);
	free(image);
	free(buf);
}

static uint64_t counted_as(const struct cp_world *w, enum bound_id id)
{
	uint64_t n = 0;
	uint32_t i, k;

	for (i = 0; i < w->p.nodes; i++)
		for (k = 0; k < w->p.reactors; k++)
			n += w->node[i].iop->reactors[k].bounds.at[id].hits;
	return n;
}

/* What the nodes have counted of messages that came to them. */
static uint64_t counted(const struct cp_world *w)
{
	return counted_as(w, BOUND_WRONG_WIRE);
}

/* Moves pieces until @flips bits were turned and noticed. */
static void move_pieces(const char *cluster, uint64_t flips)
{
	const struct cp_params params = {
		.procs = 1, .keyed = true, .timeout_ms = 500, .cluster = cluster
	};
	struct cp_world w;

	cp_world_begin(&w, &params);
	CU_ASSERT_EQUAL(cp_run(&w, pieces, &flips), 0);
	/* Bits are turned as often on the one way as on the other; and nodes are told of the other. */
	if (!w.conf->tls)
		CU_ASSERT(counted_as(&w, BOUND_WRONG_TOLD) > flips / 8);
	if (!w.conf->tls)
		CU_ASSERT(counted(&w) > flips / 4 && counted(&w) < 3 * flips / 4 + 1);
	cp_world_end(&w);
}

static void test_pieces(void)
{
	move_pieces("wire_checksums = always\n", ut_rounds(10000));
}

/* Here it is the records that are not believed; test_env_tls turns more bits. */
static void test_pieces_tls(void)
{
	move_pieces("security = tls\nkey_file = /key\n", ut_rounds(1000));
}

/*
 * Collectives
 */
static uint64_t share_byte(uint64_t rank, uint64_t i)
{
	return cp_byte(11, (i / 8 * MEMBERS + rank) * 8 + i % 8);
}

static int transfer(struct cp_proc *p, struct ddio_file *f, struct ddio_group *g, bool writing,
		    uint32_t method)
{
	struct ddio_array array = {
		.elem_size = 8,
		.ndims = 1,
		.dim = { { .size = ELEMS, .dist = DDIO_CYCLIC, .procs = MEMBERS, .k = 1 } }
	};
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };
	uint8_t buf[ELEMS / MEMBERS * 8];
	struct ddio_transfer t = {
		.struct_size = sizeof(t), .method = method, .part = &part, .buf = buf
	};
	uint64_t i;
	int ret;

	for (i = 0; i < sizeof(buf); i++)
		buf[i] = writing ? (uint8_t)share_byte(p->rank, i) : 0;
	ret = writing ? ddio_write_all(f, g, &t) : ddio_read_all(f, g, &t);
	for (i = 0; i < sizeof(buf) && !writing && !ret; i++)
		if (buf[i] != (uint8_t)share_byte(p->rank, i))
			break;
	CU_ASSERT(writing || ret || i == sizeof(buf));
	return ret;
}

/* Returns a group and the file that it works on; NULL: it was hit. */
static struct ddio_group *members(struct cp_proc *p, const char *addr, struct ddio_file **f)
{
	struct ddio_group *g = NULL;

	*f = NULL;
	if (ddio_group_create(p->session, p->rank, MEMBERS, addr, &g))
		return NULL;
	if (!ddio_open_all(g, "f", DDIO_CREATE, NULL, f))
		return g;
	ddio_group_free(g);
	return NULL;
}

static void collective(struct cp_proc *p)
{
	uint64_t n = *(uint64_t *)p->w->arg, x = mix(n + 7);
	struct ddio_file *f;
	struct ddio_group *g = members(p, "127.0.0.1:9000", &f);
	uint32_t method = DDIO_METHOD_TC + x % 4;
	int i, ret;

	CU_ASSERT_PTR_NOT_NULL_FATAL(g);
	/* The second of them writes the same bytes. */
	for (i = 0; i < 3; i++) {
		if (!p->rank && i)
			flip(any_env(p, mix(n + (uint64_t)i)), mix(n + 9), 3000);
		ret = transfer(p, f, g, i < 2, method);
		if (!i)
			CU_ASSERT_EQUAL_FATAL(ret, 0);
		if (ret)
			break;
	}
	ddio_close(f);
	ddio_group_free(g);
}

/* Whatever became of the second write, its bytes are the first one's, too. */
static void read_back(struct cp_proc *p)
{
	struct ddio_file *f;
	struct ddio_group *g = members(p, "127.0.0.1:9001", &f);

	CU_ASSERT_PTR_NOT_NULL_FATAL(g);
	CU_ASSERT_EQUAL(transfer(p, f, g, false, DDIO_METHOD_DDS), 0);
	ddio_close(f);
	ddio_group_free(g);
}

static void test_collectives(void)
{
	const struct cp_params params = { .procs = MEMBERS,
					  .keyed = true,
					  .timeout_ms = 500,
					  .cluster = "wire_checksums = always\n" };
	uint64_t n, rounds = ut_rounds(200), seen = 0;
	struct cp_world w;
	uint32_t i, k;

	for (n = 0; n < rounds; n++) {
		uint64_t seed = 32 * n;

		cp_world_begin(&w, &params);
		CU_ASSERT_EQUAL(cp_run(&w, collective, &seed), 0);
		for (i = 0; i < w.p.procs; i++)
			flip(w.proc[i].env, 0, 0);
		for (i = 0; i < w.p.nodes; i++)
			for (k = 0; k < w.p.reactors; k++)
				flip(w.node[i].env[k], 0, 0);
		CU_ASSERT_EQUAL(cp_run(&w, read_back, NULL), 0);
		seen += ddio_sim_logged(w.dw, "does not match its checksum");
		cp_world_end(&w);
	}
	CU_ASSERT(seen > rounds / 4);
}

/*
 * What a node has compared with its disk's checksum, and is altered before it has arrived
 */
enum { BLOCK = 1024, ALTERED = 16 * BLOCK };

struct altered {
	bool together;
	int ret;
	char text[DDIO_MAX_TEXT];
	uint8_t buf[ALTERED];
};

static struct altered altered;

static int altered_read(struct cp_proc *p, struct ddio_file *f, struct ddio_group *g)
{
	struct ddio_array array = { .elem_size = BLOCK,
				    .ndims = 1,
				    .dim = { { .size = ALTERED / BLOCK, .procs = 1 } } };
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };
	struct ddio_transfer t = { .struct_size = sizeof(t),
				   .method = DDIO_METHOD_DDS,
				   .part = &part,
				   .buf = altered.buf };

	if (altered.together)
		return cp_note(p, ddio_read_all(f, g, &t));
	return cp_note(p, (int)ddio_pread(f, altered.buf, ALTERED, 0));
}

static void altered_once(struct cp_proc *p)
{
	struct cp_node *node = &p->w->node[1];
	struct ddio_group *g = NULL;
	struct ddio_file *f = NULL;
	uint32_t k;

	memset(altered.buf, 7, ALTERED);
	CP_OK(p, ddio_group_create(p->session, 0, 1, "127.0.0.1:9000", &g));
	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	CU_ASSERT_EQUAL_FATAL(ddio_pwrite(f, altered.buf, ALTERED, 0), ALTERED);
	CP_OK(p, ddio_sync(f));
	CU_ASSERT(altered_read(p, f, g) >= 0);
	/* In the middle of a block, whatever stands before it. */
	for (k = 0; k < p->w->p.reactors; k++)
		flip(node->env[k], 699, 700);
	altered.ret = altered_read(p, f, g);
	snprintf(altered.text, sizeof(altered.text), "%s", p->text);
	for (k = 0; k < p->w->p.reactors; k++)
		flip(node->env[k], 0, 0);
	ddio_sim_sleep(p->env, CP_SEC);
	ddio_close(f);
	ddio_group_free(g);
}

/* The caller is told the place, and the node that it was told wrong. */
static void check_altered(bool together, const char *block)
{
	const struct cp_params params = { .procs = 1,
					  .block = BLOCK,
					  .cluster = "wire_checksums = always\n" };
	struct cp_world w;
	uint64_t told;

	memset(&altered, 0, sizeof(altered));
	altered.together = together;
	cp_world_begin(&w, &params);
	CU_ASSERT_EQUAL(cp_run(&w, altered_once, NULL), 0);
	told = counted_as(&w, BOUND_WRONG_TOLD);
	CU_ASSERT_EQUAL(altered.ret, -EIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(altered.text, "of f"));
	CU_ASSERT_PTR_NOT_NULL(strstr(altered.text, block));
	CU_ASSERT_PTR_NOT_NULL(strstr(altered.text, "disk d"));
	CU_ASSERT_PTR_NOT_NULL(strstr(altered.text, "node io1"));
	CU_ASSERT_PTR_NOT_NULL(strstr(altered.text, "checksum"));
	if (altered.ret != -EIO || !strstr(altered.text, block))
		fprintf(stderr, "%d %s\n", altered.ret, altered.text);
	/* Both reactors have altered something; what the second was to bring, nobody wanted any more. */
	CU_ASSERT(told == 1 || told == 2);
	CU_ASSERT_EQUAL(ddio_sim_logged(w.dw, "says that 1 messages from here"), told);
	CU_ASSERT_EQUAL(ddio_sim_logged(w.dw, ", the last one with block "), 1);
	CU_ASSERT_EQUAL(counted(&w), 0);
	cp_world_end(&w);
}

static void test_altered(void)
{
	check_altered(false, "block ");
}

static void test_altered_together(void)
{
	check_altered(true, "block ");
}

static const struct ut_case cases[] = {
	{ "altered behind the node: read", test_altered },
	{ "altered behind the node: collective", test_altered_together },
	{ "reads and writes", test_pieces },
	{ "reads and writes by TLS", test_pieces_tls },
	{ "collectives", test_collectives },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "flips", cases } };

	return ut_run("test_conn_flips", suites, 1);
}
