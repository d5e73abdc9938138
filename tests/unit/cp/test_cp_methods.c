// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collective transfers of random descriptions by every method, byte by byte
 * against twins that were made element by element.
 */
#include "tests/unit/cp/cp_world.h"
#include "tests/unit/map/map_gen.h"
#include "tests/unit/map/tree_gen.h"

static const uint32_t methods[] = { DDIO_METHOD_TC, DDIO_METHOD_2P, DDIO_METHOD_DD, DDIO_METHOD_DDS,
				    DDIO_METHOD_DEFAULT };
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

/**
 * struct method_scene - what all processes of a run have in common
 * @image: the file as it should be
 * @parts: of every process; NULL: an array
 * @ghosts: the memory has a rim of one element around the share
 * @woven: the memory is as share_weave() says
 * @overlap: two processes name one byte
 * @small: reads that were small
 */
struct method_scene {
	struct map_twin t;
	const struct ddio_part *parts;
	struct ddio_array array;
	struct gen_dim dim[DDIO_MAX_DIMS];
	bool ghosts, woven, overlap;
	uint64_t seed;
	uint8_t *image;
	struct ddio_striping st;
	uint32_t disks[CP_DISKS];
	unsigned int faults, small;
};

/* A share in memory of its own, with what a process knows of it. */
struct share {
	struct ddio_part part;
	struct ddio_memory memory;
	struct ddio_view view;
	bool memoried;
	uint8_t *buf, *packed;
	uint64_t size, span;
	uint64_t count[DDIO_MAX_DIMS];
};

/*
 * Memory in which four bytes of the share lie in nine: the first three behind the fourth.
 */
static const struct ddio_tree_node weave_node[] = {
	{ .kind = DDIO_TREE_LEAF, .n = 3 },
	{ .kind = DDIO_TREE_LEAF, .n = 1 },
	{ .kind = DDIO_TREE_SEQUENCE, .n = 2 },
};
static const struct ddio_tree_child weave_child[] = { { 4, 0 }, { 0, 1 } };
static const struct ddio_tree weave = { 3, weave_node, 2, weave_child };

static void share_weave(struct share *s)
{
	s->view = (struct ddio_view){ .tree = &weave, .extent = 9, .len = s->size };
	s->memoried = true;
	s->memory.kind = DDIO_MEMORY_VIEW;
	s->memory.nstrided = 1;
	s->memory.view = &s->view;
	s->span = (s->size + 3) / 4 * 9;
}

static void share_begin(struct share *s, struct method_scene *sc, uint32_t rank)
{
	uint32_t d;

	memset(s, 0, sizeof(*s));
	s->size = rank < sc->t.nprocs ? sc->t.size[rank] : 0;
	s->span = s->size;
	if (sc->parts) {
		s->part = sc->parts[rank];
	} else {
		s->part.kind = DDIO_PART_ARRAY;
		s->part.array = &sc->array;
		CU_ASSERT_EQUAL(ddio_array_local(&sc->array, sc->t.nprocs, rank, s->count), 0);
	}
	if (sc->ghosts && !sc->parts) {
		s->memoried = true;
		s->memory.ndims = sc->array.ndims;
		s->span = sc->array.elem_size;
		for (d = 0; d < sc->array.ndims; d++) {
			s->memory.size[d] = s->count[d] + 1 + d % 2;
			s->memory.start[d] = 1;
			if (!s->size)
				s->memory.start[d] = 0;
			s->span *= s->memory.size[d];
		}
	}
	if (sc->woven)
		share_weave(s);
	s->buf = malloc(s->span + 1);
	s->packed = malloc(s->size + 1);
	memset(s->buf, 0xa5, s->span + 1);
}

static void share_end(struct share *s)
{
	free(s->buf);
	free(s->packed);
}

/* Returns where element @e of the packed share lies in memory, in elements. */
static uint64_t ghost_index(const struct share *s, uint64_t e)
{
	uint64_t idx[DDIO_MAX_DIMS], at = 0;
	uint32_t d;

	for (d = s->memory.ndims; d-- > 0;) {
		idx[d] = e % s->count[d];
		e /= s->count[d];
	}
	for (d = 0; d < s->memory.ndims; d++)
		at = at * s->memory.size[d] + s->memory.start[d] + idx[d];
	return at;
}

static uint64_t share_at(const struct share *s, const struct method_scene *sc, uint64_t off)
{
	uint64_t es = sc->array.elem_size;

	if (sc->woven)
		return off / 4 * 9 + (off % 4 < 3 ? 4 + off % 4 : 0);
	return s->memoried ? ghost_index(s, off / es) * es + off % es : off;
}

static void fill_image(struct method_scene *sc, struct share *s, uint32_t rank, uint64_t salt)
{
	uint64_t f, off;

	for (f = 0; f < sc->t.bytes; f++) {
		off = twin_at(&sc->t, rank, f);
		if (off != TWIN_NONE)
			s->buf[share_at(s, sc, off)] = cp_byte(salt, f);
	}
}

static void check_share(struct method_scene *sc, struct share *s, uint32_t rank)
{
	uint64_t f, off, i, mine = 0;
	uint8_t *want = malloc(s->span + 1);

	memset(want, 0xa5, s->span + 1);
	for (f = 0; f < sc->t.bytes; f++) {
		off = twin_at(&sc->t, rank, f);
		if (off == TWIN_NONE)
			continue;
		want[share_at(s, sc, off)] = sc->image[f];
		mine++;
	}
	for (i = 0; i <= s->span; i++)
		sc->faults += s->buf[i] != want[i];
	sc->faults += mine != s->size;
	free(want);
}

static void check_file(struct method_scene *sc, struct ddio_file *f)
{
	uint8_t *buf = malloc(sc->t.bytes + 1);
	ssize_t n = ddio_pread(f, buf, sc->t.bytes + 1, 0);

	sc->faults += n != (ssize_t)sc->t.bytes;
	if (n == (ssize_t)sc->t.bytes)
		sc->faults += !!memcmp(buf, sc->image, sc->t.bytes);
	free(buf);
}

/* Returns true if each member's description is short enough to come with its data. */
static bool parts_short(const struct method_scene *sc)
{
	struct ddio_crowd crowd;
	ssize_t len = 0;
	uint32_t r;

	for (r = 0; r < sc->t.nprocs && len <= 1024; r++) {
		CU_ASSERT_EQUAL(ddio_crowd_one(&crowd, r, &sc->parts[r]), 0);
		len = ddio_put_crowd(NULL, 0, &crowd);
		ddio_crowd_free(&crowd);
	}
	return len <= 1024;
}

/* Returns what the default method of a read is, without flags. */
static uint32_t default_method(const struct method_scene *sc)
{
	uint64_t f, lo = sc->t.bytes, hi = 0, wanted = 0, all = 0;
	uint32_t p;

	for (p = 0; p < sc->t.nprocs; p++)
		all += sc->t.size[p];
	for (f = 0; f < sc->t.bytes; f++) {
		if (!twin_wanted(&sc->t, f))
			continue;
		lo = f < lo ? f : lo;
		hi = f + 1;
		wanted++;
	}
	if (!wanted || all > 65536 || hi - lo > 65536 || (sc->parts && !parts_short(sc)))
		return DDIO_METHOD_DDS;
	return sc->parts || wanted == hi - lo ? DDIO_METHOD_SMALL : DDIO_METHOD_DDS;
}

/* Some members ask for one chunk after the other, and others need not know. */
static uint32_t turn_flag(const struct method_scene *sc, uint32_t method, uint32_t rank)
{
	return method == DDIO_METHOD_TC && (sc->seed >> 4 & 3) > (rank & 1) ? DDIO_XFER_IN_TURN : 0;
}

static void read_by(struct cp_proc *p, struct ddio_file *f, struct ddio_group *g, uint32_t method)
{
	struct method_scene *sc = p->w->arg;
	struct ddio_report report = { .struct_size = sizeof(report) };
	struct ddio_transfer t = { .struct_size = sizeof(t), .method = method, .report = &report };
	struct share s;

	share_begin(&s, sc, p->rank);
	t.part = &s.part;
	t.memory = s.memoried ? &s.memory : NULL;
	t.buf = s.span ? s.buf : NULL;
	t.flags = (method && sc->seed & 4 ? DDIO_XFER_ROTATE : 0) | turn_flag(sc, method, p->rank);
	CP_OK(p, ddio_read_all(f, g, &t));
	check_share(sc, &s, p->rank);
	CU_ASSERT_EQUAL(report.method, method ? method : default_method(sc));
	sc->small += !p->rank && report.method == DDIO_METHOD_SMALL;
	CU_ASSERT_EQUAL(report.bytes_share, s.size);
	share_end(&s);
}

static void write_by(struct cp_proc *p, struct ddio_file *f, struct ddio_group *g, uint32_t method)
{
	struct method_scene *sc = p->w->arg;
	struct ddio_transfer t = { .struct_size = sizeof(t), .method = method };
	uint64_t salt = sc->seed * 8 + method + 1, at;
	struct share s;
	int ret;

	share_begin(&s, sc, p->rank);
	fill_image(sc, &s, p->rank, salt);
	t.part = &s.part;
	t.memory = s.memoried ? &s.memory : NULL;
	t.buf = s.span ? s.buf : NULL;
	t.flags = (method && sc->seed & 8 ? DDIO_XFER_SYNC : 0) | turn_flag(sc, method, p->rank);
	ret = cp_note(p, ddio_write_all(f, g, &t));
	if (sc->overlap) {
		CU_ASSERT_EQUAL(ret, -EBADSLT);
		CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "both write byte"));
	} else {
		CU_ASSERT_EQUAL(ret, 0);
		if (ret)
			fprintf(stderr, "rank %u: %s\n", p->rank, p->text);
		if (!p->rank)
			for (at = 0; at < sc->t.bytes; at++)
				if (twin_wanted(&sc->t, at))
					sc->image[at] = cp_byte(salt, at);
	}
	CP_OK(p, ddio_group_barrier(g));
	if (!p->rank)
		check_file(sc, f);
	CP_OK(p, ddio_group_barrier(g));
	share_end(&s);
}

static void all_methods(struct cp_proc *p)
{
	struct method_scene *sc = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	size_t i;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, &sc->st, &f));
	if (!f)
		return;
	if (!p->rank)
		CU_ASSERT_EQUAL(ddio_pwrite(f, sc->image, sc->t.bytes, 0), (ssize_t)sc->t.bytes);
	for (i = 0; i < METHODS; i++) {
		read_by(p, f, g, methods[i]);
		write_by(p, f, g, methods[i]);
	}
	for (i = 0; i < METHODS; i++)
		read_by(p, f, g, methods[i]);
	ddio_close(f);
	ddio_group_free(g);
}

static void scene_run(struct method_scene *sc, struct twin_rng *rng)
{
	struct cp_params cp = { .seed = twin_rand(rng) >> 1,
				.procs = sc->t.nprocs,
				.nodes = twin_pick(rng, 1, CP_NODES),
				.reactors = twin_pick(rng, 1, 2) };
	struct cp_world w;
	uint64_t i;

	cp.disks = twin_pick(rng, cp.nodes, CP_DISKS);
	sc->seed = twin_rand(rng) >> 8;
	sc->image = malloc(sc->t.bytes + 1);
	for (i = 0; i < sc->t.bytes; i++)
		sc->image[i] = cp_byte(sc->seed, i);
	sc->st.struct_size = sizeof(sc->st);
	sc->st.block_size = 512u << twin_pick(rng, 0, 3);
	sc->st.layout = twin_pick(rng, 0, 2);
	sc->st.ndisks = twin_pick(rng, 1, cp.disks);
	sc->st.disks = sc->disks;
	for (i = 0; i < sc->st.ndisks; i++)
		sc->disks[i] = (i + sc->seed) % cp.disks;
	cp_world_begin(&w, &cp);
	CU_ASSERT_EQUAL(cp_run(&w, all_methods, sc), 0);
	cp_world_end(&w);
	CU_ASSERT_EQUAL(sc->faults, 0);
	free(sc->image);
	twin_destroy(&sc->t);
}

static struct twin_rng rng;

static void random_arrays(void)
{
	struct method_scene sc;
	unsigned int small = 0;
	int i;

	for (i = 0; i < (int)ut_rounds(40); i++) {
		uint64_t state = rng.state;

		memset(&sc, 0, sizeof(sc));
		gen_array(&rng, &sc.array, sc.dim, &sc.t, i % 4 ? 500 : 4000);
		sc.ghosts = i % 3 == 1;
		scene_run(&sc, &rng);
		small += sc.small;
		if (sc.faults)
			fprintf(stderr, "array %d, state %#llx: %u faults\n", i,
				(unsigned long long)state, sc.faults);
	}
	/* Few rounds may have none. */
	CU_ASSERT(small > 0 || ut_rounds(40) < 40);
}

static bool parts_overlap(const struct map_twin *t)
{
	uint64_t f, holders;
	uint32_t p;

	for (f = 0; f < t->bytes; f++) {
		for (holders = 0, p = 0; p < t->nprocs; p++)
			holders += twin_at(t, p, f) != TWIN_NONE;
		if (holders > 1)
			return true;
	}
	return false;
}

static void random_parts(void)
{
	struct gen_parts *parts = malloc(sizeof(*parts));
	struct method_scene sc;
	int i;

	for (i = 0; i < (int)ut_rounds(40); i++) {
		memset(parts, 0, sizeof(*parts));
		memset(&sc, 0, sizeof(sc));
		if (!gen_parts(&rng, parts, &sc.t)) {
			twin_destroy(&sc.t);
			continue;
		}
		sc.parts = parts->part;
		sc.overlap = parts_overlap(&sc.t);
		scene_run(&sc, &rng);
		if (sc.faults)
			fprintf(stderr, "parts %d: %u faults\n", i, sc.faults);
	}
	free(parts);
}

static void random_views(void)
{
	struct gen_views *views = malloc(sizeof(*views));
	struct method_scene sc;
	bool far;
	int i;

	for (i = 0; i < (int)ut_rounds(60); i++) {
		memset(&sc, 0, sizeof(sc));
		gen_views(&rng, views);
		if (gen_views_expand(views, &sc.t, &far) || far) {
			twin_destroy(&sc.t);
			continue;
		}
		sc.parts = views->part;
		sc.woven = i & 1;
		sc.overlap = parts_overlap(&sc.t);
		scene_run(&sc, &rng);
		if (sc.faults)
			fprintf(stderr, "views %d: %u faults\n", i, sc.faults);
	}
	free(views);
}

static const struct ut_case cases[] = {
	{ "random arrays", random_arrays },
	{ "random parts", random_parts },
	{ "random views", random_views },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "methods", cases } };

	rng.state = twin_seed("cp_methods");
	return cp_ut_run("cp_methods", suites, 1);
}
