// SPDX-License-Identifier: GPL-2.0-only
/* Crowds: joined on the way up the members' tree, they are what the members said one by one. */
#include "base/rand.h"
#include "proto/crowd.h"
#include "tests/unit/proto/proto_ut.h"

#define MEMBERS 16384
#define MANY 4096

struct members {
	struct ddio_part part[MEMBERS];
	struct ddio_view view[MEMBERS];
	struct ddio_strided strided[MEMBERS];
	struct ddio_extent list[MEMBERS];
	uint8_t *blob[MEMBERS];
	size_t len[MEMBERS];
};

/* What came to rank 0 altogether, and the longest that any member sent. */
struct crowd_traffic {
	size_t root, sent;
};

static const struct ddio_tree_node node[] = {
	{ .kind = DDIO_TREE_LEAF, .n = 512 },
	{ .kind = DDIO_TREE_REPEAT, .n = 64, .stride = 64 * 512, .child = 0 },
};
static const struct ddio_tree tree = { 2, node, 0, NULL };
static const struct ddio_tree other = { 1, node, 0, NULL };

static struct members *members_new(void)
{
	struct members *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	return m;
}

/* Encodes what a member and those below it have gathered. */
static void send_up(struct members *m, uint32_t rank, const uint8_t *gathered, size_t len)
{
	struct ddio_crowd crowd;

	CU_ASSERT_EQUAL(ddio_crowd_join(gathered, len, &crowd), 0);
	m->len[rank] = (size_t)ddio_put_crowd(NULL, 0, &crowd);
	m->blob[rank] = malloc(m->len[rank]);
	ddio_put_crowd(m->blob[rank], m->len[rank], &crowd);
	ddio_crowd_free(&crowd);
}

/* Does what a member does: @top's children have bit k set, where top has none up to it; the last come first. */
static struct crowd_traffic gather(struct members *m, uint32_t n, uint32_t top,
				   struct ddio_crowd *whole)
{
	struct crowd_traffic t = { 0, 0 };
	uint64_t bit, last = top ? top & -top : UINT64_C(1) << 31;
	size_t len = 0, cap = 1 << 16;
	uint8_t *all = malloc(cap);
	struct ddio_crowd own;

	for (bit = last >> 1; bit; bit >>= 1) {
		uint32_t child = top | (uint32_t)bit;
		struct crowd_traffic below;

		if (child >= n)
			continue;
		below = gather(m, n, child, NULL);
		t.sent = below.sent > t.sent ? below.sent : t.sent;
		t.sent = m->len[child] > t.sent ? m->len[child] : t.sent;
		t.root += m->len[child];
		while (len + m->len[child] > cap - (1 << 10))
			all = realloc(all, cap *= 2);
		memcpy(all + len, m->blob[child], m->len[child]);
		len += m->len[child];
		free(m->blob[child]);
	}
	CU_ASSERT_EQUAL(ddio_crowd_one(&own, top, &m->part[top]), 0);
	len += (size_t)ddio_put_crowd(all + len, cap - len, &own);
	ddio_crowd_free(&own);
	if (!whole)
		send_up(m, top, all, len);
	CU_ASSERT(!whole || !ddio_crowd_join(all, len, whole));
	free(all);
	return t;
}

static bool view_same(const struct ddio_view *a, const struct ddio_view *b)
{
	return a->offset == b->offset && a->extent == b->extent && a->skip == b->skip &&
	       a->len == b->len && !a->tree == !b->tree &&
	       (!a->tree || a->tree->nnodes == b->tree->nnodes);
}

static bool strided_same(const struct ddio_strided *a, const struct ddio_strided *b)
{
	return a->offset == b->offset && a->len == b->len && a->nlevels == b->nlevels &&
	       !memcmp(a->level, b->level, a->nlevels * sizeof(a->level[0]));
}

static bool part_same(const struct ddio_part *a, const struct ddio_part *b)
{
	uint64_t i;
	bool same = a->kind == b->kind && a->n == b->n;

	for (i = 0; same && i < a->n; i++) {
		if (a->kind == DDIO_PART_VIEW)
			same = view_same(&a->view[i], &b->view[i]);
		else if (a->kind == DDIO_PART_STRIDED)
			same = strided_same(&a->strided[i], &b->strided[i]);
		else
			same = !memcmp(&a->list[i], &b->list[i], sizeof(a->list[i]));
	}
	return same;
}

/* Compares the crowd with the members, one by one. */
static void check(const struct members *m, uint32_t n, const struct ddio_crowd *crowd)
{
	struct kin_room room = { 0 };
	struct ddio_part part;
	uint32_t k, i, at = 0, bad = 0;

	CU_ASSERT_EQUAL_FATAL(crowd->nmembers, n);
	for (k = 0; k < crowd->n; k++)
		for (i = 0; i < kin_size(&crowd->kin[k]) && at < n; i++, at++)
			bad += kin_part(&crowd->kin[k], i, &room, &part) ||
			       !part_same(&part, &m->part[at]);
	CU_ASSERT_EQUAL(at, n);
	CU_ASSERT_EQUAL(bad, 0);
	free(room.entries);
}

/* Up the tree, at rank 0, and to the nodes.  Returns the bytes of the crowd that they get. */
static size_t there(struct members *m, uint32_t n, struct crowd_traffic *t)
{
	struct ddio_crowd crowd, got;
	uint8_t *buf;
	ssize_t len;

	*t = gather(m, n, 0, &crowd);
	check(m, n, &crowd);
	len = ddio_put_crowd(NULL, 0, &crowd);
	buf = malloc((size_t)len);
	CU_ASSERT_EQUAL(ddio_put_crowd(buf, (size_t)len, &crowd), len);
	CU_ASSERT_EQUAL(ddio_get_crowd(buf, (size_t)len, &got), 0);
	check(m, n, &got);
	ddio_crowd_free(&got);
	ddio_crowd_free(&crowd);
	free(buf);
	return (size_t)len;
}

/*
 * Regular decompositions, each of a grid as square as the members make it
 */
struct grid {
	uint32_t rows, cols;
};

static struct grid grid_of(uint32_t n)
{
	struct grid g = { 1, n };

	while (g.cols > g.rows && g.cols % 2 == 0 && g.cols / 2 >= 2 * g.rows)
		g = (struct grid){ 2 * g.rows, g.cols / 2 };
	return g;
}

static void view_put(struct members *m, uint32_t i, struct ddio_view view)
{
	m->view[i] = view;
	m->part[i] = (struct ddio_part){ .kind = DDIO_PART_VIEW, .n = 1, .view = &m->view[i] };
}

static void strided_put(struct members *m, uint32_t i, struct ddio_strided strided)
{
	m->strided[i] = strided;
	m->part[i] =
		(struct ddio_part){ .kind = DDIO_PART_STRIDED, .n = 1, .strided = &m->strided[i] };
}

static void blocks_list(struct members *m, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		m->list[i] = (struct ddio_extent){ i * UINT64_C(1048576), 1048576 };
		m->part[i] =
			(struct ddio_part){ .kind = DDIO_PART_LIST, .n = 1, .list = &m->list[i] };
	}
}

static void cyclic_strided(struct members *m, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		strided_put(m, i,
			    (struct ddio_strided){ .offset = 8 * i,
						   .len = 8,
						   .nlevels = 1,
						   .level = { { 131072, 8 * (int64_t)n } } });
}

static void block_cyclic_views(struct members *m, uint32_t n)
{
	static const struct ddio_tree_node leaf[] = { { .kind = DDIO_TREE_LEAF, .n = 4096 } };
	static const struct ddio_tree one = { 1, leaf, 0, NULL };
	uint32_t i;

	for (i = 0; i < n; i++)
		view_put(m, i,
			 (struct ddio_view){ &one, 4096 * (uint64_t)i, 4096 * (uint64_t)n, 0,
					     1 << 20 });
}

/* IO500's: 47,008 bytes of each, in turn. */
static void ior_hard(struct members *m, uint32_t n)
{
	static const struct ddio_tree_node leaf[] = { { .kind = DDIO_TREE_LEAF, .n = 47008 } };
	static const struct ddio_tree one = { 1, leaf, 0, NULL };
	uint32_t i;

	for (i = 0; i < n; i++)
		view_put(m, i,
			 (struct ddio_view){ &one, 47008 * (uint64_t)i, 47008 * (uint64_t)n, 0,
					     47008 * 1000 });
}

/* One view for all, and each has its own place in it. */
static void segmented_skip(struct members *m, uint32_t n)
{
	static const struct ddio_tree_node leaf[] = { { .kind = DDIO_TREE_LEAF, .n = 1 } };
	static const struct ddio_tree one = { 1, leaf, 0, NULL };
	uint32_t i;

	for (i = 0; i < n; i++)
		view_put(m, i,
			 (struct ddio_view){ &one, 4096, 1, UINT64_C(16777216) * i, 16777216 });
}

/* Subarrays of a matrix of 8-byte elements, 64 x 64 each; the ranks go along rows, or along columns. */
static void tiles(struct members *m, uint32_t n, bool fortran)
{
	struct grid g = grid_of(n);
	uint64_t row = g.cols * UINT64_C(512);
	const struct ddio_tree_node nodes[] = {
		{ .kind = DDIO_TREE_LEAF, .n = 512 },
		{ .kind = DDIO_TREE_REPEAT, .n = 64, .stride = (int64_t)row, .child = 0 },
	};
	static struct ddio_tree_node kept[2];
	static const struct ddio_tree tile = { 2, kept, 0, NULL };
	uint32_t i, r, c;

	memcpy(kept, nodes, sizeof(kept));
	for (i = 0; i < n; i++) {
		r = fortran ? i % g.rows : i / g.cols;
		c = fortran ? i / g.rows : i % g.cols;
		view_put(m, i,
			 (struct ddio_view){ &tile, r * 64 * row + c * 512, row * 64 * g.rows, 0,
					     64 * 512 });
	}
}

static void tiles_c(struct members *m, uint32_t n)
{
	tiles(m, n, false);
}

static void tiles_fortran(struct members *m, uint32_t n)
{
	tiles(m, n, true);
}

static void tiles_strided(struct members *m, uint32_t n)
{
	struct grid g = grid_of(n);
	uint64_t row = g.cols * UINT64_C(512);
	uint32_t i;

	for (i = 0; i < n; i++)
		strided_put(m, i,
			    (struct ddio_strided){ .offset = i / g.cols * 64 * row +
							     i % g.cols * UINT64_C(512),
						   .len = 512,
						   .nlevels = 1,
						   .level = { { 64, (int64_t)row } } });
}

/* Returns the bytes of the descriptions one by one. */
static size_t apart(const struct members *m, uint32_t n)
{
	size_t len = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		len += (size_t)ddio_put_part(NULL, 0, &m->part[i]);
	return len;
}

/* At 4 and at 4,096 members: bytes to each node, and to rank 0 altogether. */
static void test_regular(void)
{
	static const struct {
		const char *name;
		void (*make)(struct members *m, uint32_t n);
	} kinds[] = {
		{ "blocks, list", blocks_list },
		{ "cyclic, strided", cyclic_strided },
		{ "block-cyclic, view", block_cyclic_views },
		{ "ior-hard, view", ior_hard },
		{ "ior-segmented, one view", segmented_skip },
		{ "tiles, view", tiles_c },
		{ "tiles by columns, view", tiles_fortran },
		{ "tiles, strided", tiles_strided },
	};
	static const uint32_t sizes[] = { 4, 64, 4096, 16384 };
	struct members *m = members_new();
	struct crowd_traffic t;
	size_t k, s, len;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			kinds[k].make(m, sizes[s]);
			len = there(m, sizes[s], &t);
			printf("# %s, %u: %zu bytes, to rank 0 %zu, longest %zu; one by one %zu\n",
			       kinds[k].name, sizes[s], len, t.root, t.sent, apart(m, sizes[s]));
			CU_ASSERT(len <= 64);
			CU_ASSERT(t.sent <= 64);
			CU_ASSERT(t.root <= 512 || sizes[s] > MANY);
		}
	free(m);
}

/* Grids that are no powers of two: subtrees begin and end in the middle of rows. */
static void test_odd_grids(void)
{
	struct members *m = members_new();
	uint32_t cols, i, n = MANY - 1;
	struct crowd_traffic t;

	for (cols = 1; cols < 80; cols += cols < 12 ? 1 : 7) {
		for (i = 0; i < n; i++)
			view_put(m, i,
				 (struct ddio_view){ &tree,
						     i / cols * 64 * 512 * 100 + i % cols * 512,
						     1 << 30, 0, 64 * 512 });
		CU_ASSERT(there(m, n, &t) <= 128);
		CU_ASSERT(t.sent <= 160);
	}
	free(m);
}

/* Returns how many families the first @n members are, and has them joined up the tree, too. */
static uint32_t families(struct members *m, uint32_t n)
{
	struct ddio_crowd crowd;
	struct crowd_traffic t;
	uint32_t found;

	CU_ASSERT_EQUAL(crowd_of(&crowd, m->part, n), 0);
	found = crowd.n;
	check(m, n, &crowd);
	ddio_crowd_free(&crowd);
	there(m, n, &t);
	return found;
}

/* Each kind of difference parts a family. */
static void test_differences(void)
{
	struct members *m = members_new();
	struct ddio_tree_node nodes[] = { node[0], node[1] };
	struct ddio_tree copy = { 2, nodes, 0, NULL };
	uint32_t i;

	for (i = 0; i < 8; i++)
		view_put(m, i, (struct ddio_view){ &tree, 512 * i, 1 << 30, 0, 64 * 512 });
	m->view[4].tree = &copy;
	CU_ASSERT_EQUAL(families(m, 8), 1);
	nodes[0].stride = 77; /* of a leaf it means nothing */
	CU_ASSERT_EQUAL(families(m, 8), 1);
	nodes[1].n--;
	CU_ASSERT_EQUAL(families(m, 8), 3);
	m->view[4].tree = &other;
	CU_ASSERT_EQUAL(families(m, 8), 3);
	m->view[4].tree = &tree;
	m->view[4].len--;
	CU_ASSERT_EQUAL(families(m, 8), 3);
	m->view[4].len++;
	m->view[4].extent++;
	CU_ASSERT_EQUAL(families(m, 8), 3);
	m->view[4].extent--;
	m->view[4].skip++;
	CU_ASSERT_EQUAL(families(m, 8), 3);
	m->view[4].skip--;
	m->part[4].n = 0;
	CU_ASSERT_EQUAL(families(m, 8), 3);
	m->part[4].n = 1;
	CU_ASSERT_EQUAL(families(m, 8), 1);
	free(m);
}

static void random_member(struct members *m, uint64_t *rng, uint32_t i, uint32_t row,
			  uint32_t plane, uint32_t kind)
{
	uint64_t offset = i % row * 10 + i % plane / row * 1000 + i / plane * 77000;

	if (!ddio_rand_below(rng, 20))
		offset = ddio_rand_below(rng, 1 << 20);
	if (kind == DDIO_PART_VIEW)
		view_put(m, i,
			 (struct ddio_view){ ddio_rand_below(rng, 30) ? &tree : &other, offset,
					     1 << 20, i / row * 5,
					     ddio_rand_below(rng, 30) ? 5 : 0 });
	else if (kind == DDIO_PART_STRIDED)
		strided_put(
			m, i,
			(struct ddio_strided){
				offset, 8, 1, 0, { { ddio_rand_below(rng, 30) ? 3 : 4, 99 } } });
	else
		m->list[i] = (struct ddio_extent){ offset, ddio_rand_below(rng, 30) ? 8 : 0 };
	if (kind == DDIO_PART_LIST)
		m->part[i] = (struct ddio_part){ .kind = kind, .n = 1, .list = &m->list[i] };
	if (!ddio_rand_below(rng, 25))
		m->part[i].n = 0;
}

/* Nested rows of random lengths with mistakes in them, of any kind and number of members. */
static void test_random(void)
{
	static const uint32_t sizes[] = { 1, 2, 3, 7, 64, 200 };
	struct members *m = members_new();
	uint64_t rng = 17, round;
	struct crowd_traffic t;
	uint32_t i, n, row, plane, kind;

	for (round = 0; round < ut_rounds(1500); round++) {
		row = 1 + (uint32_t)ddio_rand_below(&rng, 9);
		plane = row * (1 + (uint32_t)ddio_rand_below(&rng, 5));
		kind = DDIO_PART_STRIDED + (uint32_t)ddio_rand_below(&rng, 3);
		n = round % 500 == 499 ? MANY : sizes[round % 6];
		for (i = 0; i < n; i++)
			random_member(m, &rng, i, row, plane, kind);
		there(m, n, &t);
	}
	free(m);
}

static size_t one_put(const struct members *m, uint32_t rank, uint8_t *buf)
{
	struct ddio_crowd crowd;
	ssize_t len;

	CU_ASSERT_EQUAL(ddio_crowd_one(&crowd, rank, &m->part[rank]), 0);
	len = ddio_put_crowd(buf, 64, &crowd);
	ddio_crowd_free(&crowd);
	return (size_t)len;
}

static int join(const uint8_t *buf, size_t len)
{
	struct ddio_crowd crowd;
	int err = ddio_crowd_join(buf, len, &crowd);

	ddio_crowd_free(&crowd);
	return err;
}

static size_t carrying_put(struct members *m, uint32_t rank, uint32_t len, uint8_t *buf)
{
	static const uint8_t bytes[DDIO_CROWD_CARRIED] = { 1, 2, 3 };
	struct ddio_carried own = { rank, len, bytes };
	struct ddio_crowd crowd;
	ssize_t n;

	CU_ASSERT_EQUAL(ddio_crowd_one(&crowd, rank, &m->part[rank]), 0);
	crowd.carries = true;
	crowd.ncarried = len > 0;
	crowd.carried = &own;
	n = ddio_put_crowd(NULL, 0, &crowd);
	if (n > 0)
		ddio_put_crowd(buf, (size_t)n, &crowd);
	ddio_crowd_free(&crowd);
	return n > 0 ? (size_t)n : 0;
}

/* All carry, if each does, and not too much together. */
static void test_carried(void)
{
	static uint8_t buf[2 * DDIO_CROWD_CARRIED];
	struct members *m = members_new();
	struct ddio_crowd crowd;
	size_t len = 0;

	blocks_list(m, 40);
	len += carrying_put(m, 2, 3, buf + len);
	CU_ASSERT(ddio_crowd_has_data(buf, len));
	len += carrying_put(m, 1, 0, buf + len);
	CU_ASSERT(!ddio_crowd_has_data(buf + len - 4, 4));
	len += carrying_put(m, 0, 2, buf + len);
	CU_ASSERT_EQUAL(ddio_crowd_join(buf, len, &crowd), 0);
	CU_ASSERT(crowd.carries && crowd.ncarried == 2);
	CU_ASSERT(crowd.carried[0].rank == 0 && crowd.carried[0].len == 2);
	CU_ASSERT(crowd.carried[1].rank == 2 && crowd.carried[1].len == 3);
	CU_ASSERT(!memcmp(crowd.carried[1].bytes, "\1\2\3", 3));
	ddio_crowd_free(&crowd);
	/* Another one's are too long for all. */
	CU_ASSERT_EQUAL(ddio_crowd_join(buf,
					len + carrying_put(m, 3, DDIO_CROWD_CARRIED - 4, buf + len),
					&crowd),
			0);
	CU_ASSERT(!crowd.carries && !crowd.ncarried && crowd.nmembers == 4);
	ddio_crowd_free(&crowd);
	CU_ASSERT_EQUAL(ddio_crowd_join(buf, len + one_put(m, 3, buf + len), &crowd), 0);
	CU_ASSERT(!crowd.carries && !crowd.ncarried && crowd.nmembers == 4);
	ddio_crowd_free(&crowd);
	/* Data of a member that is not there, of none, and longer than the message. */
	len = carrying_put(m, 2, 3, buf);
	buf[3] = 1;
	CU_ASSERT_EQUAL(ddio_get_crowd(buf, len, &crowd), -EINVAL);
	buf[3] = 0;
	buf[4] = 0;
	CU_ASSERT(ddio_get_crowd(buf, len, &crowd));
	buf[4] = 127;
	CU_ASSERT(ddio_get_crowd(buf, len, &crowd));
	free(m);
}

/* What children may not send: gaps, ranks twice, other kinds, too many, rubbish. */
static void test_bad_joins(void)
{
	struct members *m = members_new();
	uint8_t buf[4096];
	size_t len = 0;
	uint32_t i;

	blocks_list(m, 40);
	len += one_put(m, 2, buf + len);
	len += one_put(m, 1, buf + len);
	CU_ASSERT_EQUAL(join(buf, len), 0);
	len += one_put(m, 4, buf + len);
	CU_ASSERT_EQUAL(join(buf, len), -EINVAL);
	len += one_put(m, 3, buf + len);
	CU_ASSERT_EQUAL(join(buf, len), 0);
	len += one_put(m, 3, buf + len);
	CU_ASSERT_EQUAL(join(buf, len), -EINVAL);
	len = 0;
	len += one_put(m, 0, buf + len);
	m->part[1].kind = DDIO_PART_STRIDED;
	m->part[1].n = 0;
	len += one_put(m, 1, buf + len);
	CU_ASSERT_EQUAL(join(buf, len), -EINVAL);
	len = 0;
	CU_ASSERT_EQUAL(join(buf, len), 0); /* of nobody */
	for (i = 2; i < 36; i++)
		len += one_put(m, i, buf + len);
	CU_ASSERT_EQUAL(join(buf, len), -EPROTO); /* more than any tree has children */
	len = 1;
	CU_ASSERT_EQUAL(join(buf, len), -EPROTO);
	free(m);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "regular", test_regular },
		{ "odd_grids", test_odd_grids },
		{ "differences", test_differences },
		{ "random", test_random },
		{ "bad_joins", test_bad_joins },
		{ "carried", test_carried },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "crowds", cases } };

	return ut_run("test_proto_crowd", suites, 1);
}
