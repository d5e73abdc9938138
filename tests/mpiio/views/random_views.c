// SPDX-License-Identifier: GPL-2.0-only
/*
 * random_views [--ddio] FILE [NTYPES] [SEED]: in each round every rank has a random view and random
 * types in memory.  All write, each its own bytes; all read back, together and alone; and rank 0 looks at
 * the file as a string of bytes, where what no view showed must be as it was.
 */
#include "tests/mpiio/views/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REGION = 1 << 18, DATA_MAX = 12000, BATCH = 50, TYPES_A_ROUND = 3 };

/* What a rank does in a round. */
struct view_round {
	uint64_t number;
	struct type_rules rules;
	bool interleaved, usable;
	int way;
	struct random_type file, mem, back;
	/* The view, and where in it, in bytes of data. */
	int64_t disp, from, bytes;
	int64_t end;
};

static uint64_t seed;
static MPI_File fh, raw;
static unsigned char *model, *mask, *all_masks, *seen;
static unsigned long types_tried, rounds_refused, packs_wrong;

/* The first complaint names what brings it back. */
static void complain(const struct view_round *v, const char *what, const char *type)
{
	tst_fail("seed %llu round %llu way %d: %.90s: %.230s", (unsigned long long)seed,
		 (unsigned long long)v->number, v->way, what, type);
}

static void must(const struct view_round *v, int rc, const char *what, const char *type)
{
	char said[MPI_MAX_ERROR_STRING + 1] = "";
	char why[90];
	int len;

	if (rc == MPI_SUCCESS)
		return;
	MPI_Error_string(rc, said, &len);
	snprintf(why, sizeof(why), "%s: %.60s", what, said);
	complain(v, why, type);
}

/* No byte of memory is named twice by as many entries as make so many bytes. */
static bool is_distinct(const struct random_type *t, int64_t bytes)
{
	struct mem_side m;
	bool distinct;

	mem_begin(&m, t, bytes / t->size);
	distinct = m.bytes && mem_distinct(&m);
	mem_end(&m);
	return distinct;
}

static void compare_pack(const struct view_round *v, const struct random_type *t)
{
	switch (pack_compare(t, seed)) {
	case PACK_WRONG_ORDER:
		/* Two elements that lie within each other: Open MPI 4.1 takes some for sorted. */
		if (TST_OPEN_MPI)
			packs_wrong++;
		else
			complain(v, "MPI_Pack has another order", t->text);
		break;
	case PACK_WRONG_SIZE:
		complain(v, "MPI_Pack fails, or has another size", t->text);
		break;
	default:
		break;
	}
}

static unsigned char value(const struct view_round *v, int64_t at)
{
	return tst_byte(seed * 1000003 + v->number, (uint64_t)at);
}

/* Where bytes [from, from + bytes) of the view are in the file. */
static int64_t *file_places(const struct view_round *v, int64_t from, int64_t bytes)
{
	int64_t *place = malloc(bytes * sizeof(*place)), i;

	if (!place)
		abort();
	random_type_places(&v->file, from, bytes, place);
	for (i = 0; i < bytes; i++)
		place[i] += v->disp;
	return place;
}

static int write_by(const struct view_round *v, const struct mem_side *m)
{
	MPI_Offset at = v->from / v->rules.bytes;
	const void *buf = mem_origin(m);
	MPI_Datatype t = m->type->mpi;
	MPI_Request r;
	int rc;

	switch (v->way) {
	case 0:
		rc = MPI_File_seek(fh, at, MPI_SEEK_SET);
		return rc ? rc : MPI_File_write_all(fh, buf, m->count, t, MPI_STATUS_IGNORE);
	case 1:
		rc = MPI_File_write_at_all_begin(fh, at, buf, m->count, t);
		return rc ? rc : MPI_File_write_at_all_end(fh, buf, MPI_STATUS_IGNORE);
	case 2:
		rc = MPI_File_iwrite_at_all(fh, at, buf, m->count, t, &r);
		return rc ? rc : MPI_Wait(&r, MPI_STATUS_IGNORE);
	case 3:
		return MPI_File_write_at(fh, at, buf, m->count, t, MPI_STATUS_IGNORE);
	default:
		return MPI_File_write_at_all(fh, at, buf, m->count, t, MPI_STATUS_IGNORE);
	}
}

static void write_out(const struct view_round *v)
{
	int64_t *place = file_places(v, v->from, v->bytes), i;
	struct mem_side m;

	mem_begin(&m, &v->mem, v->bytes / v->mem.size);
	for (i = 0; i < m.bytes; i++) {
		m.buf[m.place[i]] = value(v, place[i]);
		mask[place[i]] = 1;
	}
	/* Memory that is named twice has only one value; such a type only repeats what is there. */
	for (i = 0; i < m.bytes; i++)
		seen[place[i]] = m.buf[m.place[i]];
	must(v, write_by(v, &m), "write", v->mem.text);
	mem_end(&m);
	free(place);
}

static void check_read(const struct view_round *v, const struct mem_side *m, const char *how,
		       const char *type)
{
	int64_t *place = file_places(v, v->from, m->bytes), i;
	unsigned char *want = malloc(m->room);

	memset(want, 0xee, m->room);
	for (i = 0; i < m->bytes; i++)
		want[m->place[i]] = seen[place[i]];
	if (memcmp(want, m->buf, m->room))
		complain(v, how, type);
	free(want);
	free(place);
}

/* By another type in memory, as much as it divides; all ranks together or each alone. */
static void read_back(const struct view_round *v, bool together)
{
	const struct random_type *t = &v->back;
	MPI_Offset at = v->from / v->rules.bytes;
	struct mem_side m;
	int rc, n = -1;
	MPI_Status status;

	mem_begin(&m, t, v->bytes / t->size);
	if (together)
		rc = MPI_File_read_at_all(fh, at, mem_origin(&m), m.count, t->mpi, &status);
	else
		rc = MPI_File_read_at(fh, at, mem_origin(&m), m.count, t->mpi, &status);
	must(v, rc, "read", t->text);
	if (rc == MPI_SUCCESS) {
		MPI_Get_count(&status, t->mpi, &n);
		if (n != m.count)
			complain(v, "read: another count", t->text);
		check_read(v, &m, together ? "view read together" : "view read alone",
			   v->file.text);
	}
	mem_end(&m);
}

/* Rank 0 compares the whole region with its model. */
static void look(const struct view_round *v, int64_t end)
{
	int64_t i;
	int rc;

	MPI_Reduce(mask, all_masks, (int)end, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
	MPI_Reduce(seen, tst.rank ? NULL : seen + REGION, (int)end, MPI_BYTE, MPI_BOR, 0,
		   MPI_COMM_WORLD);
	if (tst.rank)
		return;
	for (i = 0; i < end; i++) {
		if (all_masks[i])
			model[i] = seen[REGION + i];
	}
	rc = MPI_File_read_at(raw, 0, seen, (int)end, MPI_BYTE, MPI_STATUS_IGNORE);
	must(v, rc, "raw read", "");
	for (i = 0; i < end; i++) {
		if (seen[i] == model[i])
			continue;
		complain(v,
			 all_masks[i] ? "file: a byte is not what was written"
				      : "file: a byte between was changed",
			 v->file.text);
		memcpy(model, seen, end);
		return;
	}
}

/* The ranks' tiles side by side, or all tiles of a rank in a part of its own. */
static void lay_out(struct view_round *v, struct mpiio_rand *common)
{
	int64_t low, high, before = 0, all;

	v->disp = v->rules.bytes * (int64_t)tst_rand(common, 40) + (int64_t)tst_rand(common, 9);
	random_type_bounds(&v->file, 1, &low, &high);
	if (v->interleaved) {
		MPI_Exscan(&high, &before, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
		MPI_Allreduce(&high, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
		random_type_resize(&v->file, all + v->rules.bytes * (int64_t)tst_rand(common, 4));
		v->disp += tst.rank ? before : 0;
	} else {
		v->disp += (int64_t)tst.rank * (REGION / tst.size);
	}
}

/*
 * Without --ddio wild types are for MPI_Pack alone.  The MPIs' own I/O goes astray in types in memory whose
 * pieces are not in ascending order, begin below zero, or are named twice; MPICH's (4.0.2) in nested ones,
 * in memory and in files, too, where it writes beyond the buffer or never returns (mpich#7169).
 */
static int own_levels(int levels)
{
	return tst.strict || TST_OPEN_MPI ? TYPE_LEVELS : levels;
}

static void make_memory(struct random_type *t, const struct view_round *v, struct mpiio_rand *r,
			int levels)
{
	struct type_rules rules = v->rules;

	if (!tst.strict) {
		random_type_make(t, r, &rules, levels);
		compare_pack(v, t);
		random_type_free(t);
		rules.file = true;
		levels = levels < own_levels(0) ? levels : own_levels(0);
	}
	random_type_make(t, r, &rules, levels);
	compare_pack(v, t);
}

/* A type that can be read into. */
static void choose_back(struct view_round *v, struct mpiio_rand *r)
{
	int tries;

	for (tries = 8; tries >= 0; tries--) {
		make_memory(&v->back, v, r, tries ? TYPE_LEVELS : 0);
		if (is_distinct(&v->back, v->bytes))
			break;
		random_type_free(&v->back);
	}
}

/* How much goes where; true on all ranks if it is within the rank's room. */
static bool choose_part(struct view_round *v, struct mpiio_rand *r)
{
	int64_t count = 1 + (int64_t)tst_rand(r, 1 + 2 * v->file.size / v->mem.size), low, high;
	int64_t room = v->interleaved ? REGION : (int64_t)(tst.rank + 1) * (REGION / tst.size);

	v->bytes = count * v->mem.size;
	v->from = v->rules.bytes * (int64_t)tst_rand(r, 1 + v->file.size / v->rules.bytes);
	random_type_bounds(&v->file, (v->from + v->bytes + v->file.size - 1) / v->file.size, &low,
			   &high);
	v->end = v->disp + high;
	v->usable = v->bytes <= DATA_MAX && v->end <= room;
	if (!tst_all(v->usable))
		return false;
	choose_back(v, r);
	return true;
}

static void choose_types(struct view_round *v, struct mpiio_rand *common, struct mpiio_rand *r)
{
	static const struct type_rules basics[] = { { MPI_BYTE, 1, false },
						    { MPI_SHORT, 2, false },
						    { MPI_INT, 4, false },
						    { MPI_DOUBLE, 8, false } };
	struct type_rules rules;

	v->rules = basics[tst_rand(common, 4)];
	v->interleaved = tst_rand(common, 2);
	v->way = (int)tst_rand(common, 6);
	rules = v->rules;
	rules.file = true;
	random_type_make(&v->file, r, &rules, own_levels(1));
	make_memory(&v->mem, v, r, TYPE_LEVELS);
	compare_pack(v, &v->file);
}

/* For whoever looks for the cause of a failure: MPIIO_TRACE=ROUND prints what each rank does in it. */
static void trace(const struct view_round *v)
{
	const char *which = getenv("MPIIO_TRACE");

	if (!which || strtoull(which, NULL, 0) != v->number)
		return;
	fprintf(stderr, "# rank %d: from %lld on, way %d: %lld bytes from byte %lld of %s\n",
		tst.rank, (long long)v->disp, v->way, (long long)v->bytes, (long long)v->from,
		v->file.text);
	fprintf(stderr, "# rank %d: extent %lld; written from %s\n", tst.rank,
		(long long)v->file.extent, v->mem.text);
	fprintf(stderr, "# rank %d: read into %s, %d pieces, %lld bytes, lb %lld, extent %lld\n",
		tst.rank, v->back.text, v->back.n, (long long)v->back.size, (long long)v->back.lb,
		(long long)v->back.extent);
}

static void transfer(const struct view_round *v)
{
	int64_t end = v->end;

	trace(v);

	MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
	memset(mask, 0, end);
	memset(seen, 0, end);
	must(v,
	     MPI_File_set_view(fh, v->disp, v->rules.basic, v->file.mpi, "native", MPI_INFO_NULL),
	     "set_view", v->file.text);
	write_out(v);
	tst_sync(fh);
	read_back(v, true);
	read_back(v, false);
	OK(MPI_File_sync(raw));
	look(v, end);
	tst_barrier();
}

static void one_round(uint64_t number)
{
	struct mpiio_rand common = { seed ^ number << 20 };
	struct mpiio_rand mine = { (seed + 77) ^ (number << 20 | (uint64_t)(tst.rank + 1) << 52) };
	struct view_round v = { .number = number };

	choose_types(&v, &common, &mine);
	lay_out(&v, &common);
	if (choose_part(&v, &mine)) {
		transfer(&v);
		random_type_free(&v.back);
		types_tried += TYPES_A_ROUND * tst.size;
	} else {
		rounds_refused++;
	}
	random_type_free(&v.file);
	random_type_free(&v.mem);
}

static void begin(void)
{
	model = malloc(REGION);
	mask = malloc(REGION);
	all_masks = malloc(REGION);
	seen = malloc(2 * REGION);
	if (!model || !mask || !all_masks || !seen)
		abort();
	tst_fill(model, REGION, seed, 0);
	fh = tst_create("");
	if (fh == MPI_FILE_NULL)
		return;
	if (!tst.rank)
		OK(MPI_File_write_at(fh, 0, model, REGION, MPI_BYTE, MPI_STATUS_IGNORE));
	tst_sync(fh);
	raw = tst_open(tst_file(""), MPI_MODE_RDWR);
}

static void batches(unsigned long types)
{
	uint64_t number = 0;
	char name[64];
	int i;

	while (types_tried < types) {
		snprintf(name, sizeof(name), "views/%llu", (unsigned long long)number);
		tst_case(name);
		for (i = 0; i < BATCH; i++)
			one_round(number++);
		if (!tst_case_end())
			break;
	}
}

int main(int argc, char **argv)
{
	int i = tst_begin(argc, argv);
	unsigned long types = i < argc ? strtoul(argv[i], NULL, 0) : 3000;

	seed = i + 1 < argc ? strtoull(argv[i + 1], NULL, 0) : 1;
	tst_case("views/files");
	begin();
	if (tst_case_end() && raw != MPI_FILE_NULL) {
		batches(types);
		tst_case("views/close");
		tst_close(&raw);
		tst_close(&fh);
		tst_case_end();
	}
	if (!tst.rank)
		printf("# seed %llu: %lu types, %lu rounds left out, %lu that MPI_Pack has wrong\n",
		       (unsigned long long)seed, types_tried, rounds_refused, packs_wrong);
	free(model);
	free(mask);
	free(all_masks);
	free(seen);
	return tst_finish();
}
