// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whatever becomes of one of the files of nodes that were killed: what was acknowledged is read as it was, or refused with
 * a text that names the place, and a check finds that something is wrong.
 */
#include "tests/unit/cp/check/damage_files.h"
#include "tests/unit/cp/cp_world.h"
#include "conn/conn.h"
#include "cp/node/session.h"

enum { ROUNDS = 500, NODES = 2, DISKS = 3, FILES = 16, BLOCK = 1024, LONGEST = 24 * BLOCK };

/* What was acknowledged of a file; @seed 0: it was removed, or never made. */
struct promised {
	char name[24];
	uint32_t seed, len;
};

/**
 * struct damage_world - a cluster whose files lie in a directory
 * @base: the directory, in which these are: @top what runs; @old, @killed copies, of an earlier time and of when the nodes
 *	were killed
 * @known: what was acknowledged
 * @err: of what was refused; @names: how many names were listed
 * @wrong: something is an error, and a check has to find it
 */
struct damage_world {
	char base[200];
	const char *top, *old, *killed;
	struct cp_world w;
	struct cp_proc p;
	struct promised known[FILES];
	uint64_t rand;
	char err[600];
	uint32_t names, starts;
	bool wrong, found;
	char what[300];
	unsigned int refused, errors, right;
};

static uint32_t bad; /* rounds in which a bystander was told wrongly */

static void tell(const struct damage_world *d, const char *how)
{
	CU_FAIL("damage");
	if (bad++ < 20)
		fprintf(stderr, "%s: %s\n", d->what, how);
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) == EOF || fclose(f) || chmod(path, 0600))
		abort();
}

static void write_conf(struct damage_world *d)
{
	char text[4096], path[300];
	int i, n;

	n = snprintf(text, sizeof(text),
		     "[cluster]\nname = demo\nblock = %u\ntimeout = 2s\nscrub = 0\n"
		     "key_file = %s/key\n",
		     BLOCK, d->top);
	for (i = 0; i < NODES; i++)
		n += snprintf(text + n, sizeof(text) - n,
			      "[node io%d]\naddress = 127.0.0.1:%d\nmeta = %s/io%d\nbuffers = 2\n",
			      i, 7400 + i, d->top, i);
	for (i = 0; i < DISKS; i++)
		n += snprintf(text + n, sizeof(text) - n,
			      "[disk d%d]\nnode = io%d\nengine = mem\nsize = 512K\npath = "
			      "%s/d%d.img\n",
			      i, i % NODES, d->top, i);
	snprintf(path, sizeof(path), "%s/ddio.conf", d->top);
	write_text(path, text);
	snprintf(path, sizeof(path), "%s/key", d->top);
	write_text(path, "0123456789abcdef0123456789abcdef\n");
}

/* Return: 0, or that something was refused by a text in @d->err. */
static int node_begin(struct damage_world *d, uint32_t i)
{
	static const struct ddio_key servers_key = { .len = 32, .bytes = { 1, 2, 3 } };
	struct cp_node *node = &d->w.node[i];
	struct ddio_iop_opts opts = { .conf = d->w.conf,
				      .node = i,
				      .nreactors = 1,
				      .envs = node->env,
				      .servers_key = &servers_key,
				      .key = &d->w.key };
	char name[16];

	snprintf(name, sizeof(name), "io%u", i);
	node->env[0] = ddio_sim_env(d->w.dw, name);
	return ddio_iop_start(&opts, &node->iop, d->err, sizeof(d->err));
}

static void node_end(struct damage_world *d, uint32_t i)
{
	struct cp_node *node = &d->w.node[i];

	if (!node->iop)
		return;
	node->stop.fn = cp_stop_post;
	node->stop.arg = node;
	ddio_env_post(node->env[0], &node->stop);
	ddio_sim_run_for(d->w.dw, 20 * CP_SEC);
	ddio_iop_free(node->iop);
	node->iop = NULL;
}

/* Starts the cluster of @d->top.  Return: 0, or that a file was refused: then @d->err has the text, and nothing runs. */
static int begin(struct damage_world *d)
{
	struct ddio_key mine;
	char path[300];
	uint32_t i;
	int ret;

	memset(&d->w, 0, sizeof(d->w));
	memset(&d->p, 0, sizeof(d->p));
	d->err[0] = '\0';
	snprintf(path, sizeof(path), "%s/ddio.conf", d->top);
	ret = ddio_conf_load(path, &d->w.conf, d->err, sizeof(d->err));
	if (ret)
		return ret;
	d->w.dw = ddio_sim_new(++d->starts);
	d->w.p.nodes = d->w.conf->nnodes;
	snprintf(path, sizeof(path), "%s/key", d->top);
	ret = ddio_key_load(path, false, &d->w.key, d->err, sizeof(d->err));
	snprintf(path, sizeof(path), "%s/key", d->killed);
	if (ddio_key_load(path, false, &mine, path, sizeof(path)))
		mine = d->w.key;
	for (i = 0; i < d->w.conf->nnodes && !ret; i++)
		ret = node_begin(d, i);
	if (ret) {
		while (i--)
			node_end(d, i);
		ddio_sim_free(d->w.dw);
		ddio_conf_free(d->w.conf);
		return ret;
	}
	d->p.w = &d->w;
	d->p.env = ddio_sim_env(d->w.dw, "cp");
	if (ddio_session_new_env(d->p.env, d->w.conf, &mine, &d->p.session))
		abort();
	return 0;
}

static void end_main(void *arg)
{
	struct cp_proc *p = arg;

	ddio_disconnect(p->session);
}

static void end(struct damage_world *d)
{
	uint32_t i;

	ddio_sim_spawn(d->p.env, end_main, &d->p);
	CU_ASSERT_EQUAL(ddio_sim_run(d->w.dw), 0);
	for (i = 0; i < d->w.p.nodes; i++)
		node_end(d, i);
	ddio_sim_free(d->w.dw);
	ddio_conf_free(d->w.conf);
}

static void run(struct damage_world *d, void (*fn)(void *arg))
{
	ddio_sim_spawn(d->p.env, fn, d);
	CU_ASSERT_EQUAL(ddio_sim_run(d->w.dw), 0);
}

static void fill(uint8_t *buf, const struct promised *k)
{
	uint32_t i;

	for (i = 0; i < k->len; i++)
		buf[i] = cp_byte(k->seed, i);
}

/* Writes file @i, as long as it will be, and waits until that is durable. */
static void put(struct damage_world *d, int i, uint32_t seed)
{
	struct promised *k = &d->known[i];
	struct ddio_file *f = NULL;
	uint8_t buf[LONGEST];

	snprintf(k->name, sizeof(k->name), "%sfile%d", i % 3 ? "" : "dir/", i);
	k->seed = seed;
	k->len = (uint32_t)(i * 1531 % LONGEST);
	fill(buf, k);
	CP_OK(&d->p, ddio_open(d->p.session, k->name, DDIO_CREATE, NULL, &f));
	if (k->len)
		CU_ASSERT_EQUAL(ddio_pwrite(f, buf, k->len, 0), k->len);
	CP_OK(&d->p, ddio_sync(f));
	ddio_close(f);
}

static void drop(struct damage_world *d, int i)
{
	CP_OK(&d->p, ddio_remove(d->p.session, d->known[i].name));
	d->known[i].seed = 0;
}

static void first_half(void *arg)
{
	struct damage_world *d = arg;
	int i;

	CP_OK(&d->p, ddio_mkdir(d->p.session, "dir", 0755));
	for (i = 0; i < FILES * 2 / 3; i++)
		put(d, i, 100 + i);
}

static void second_half(void *arg)
{
	struct damage_world *d = arg;
	int i;

	for (i = 1; i < 6; i++)
		drop(d, i);
	for (i = 4; i < 13; i++)
		put(d, i, 200 + i);
	/* Until then the sums of what was written again in place are in doubt (store.rst, Checksums). */
	ddio_sim_sleep(d->p.env, 15 * CP_SEC);
	for (i = 13; i < FILES; i++)
		put(d, i, 300 + i);
	drop(d, FILES - 1);
	drop(d, 7);
	put(d, 2, 402);
}

/* Nothing is damaged. */
static void begin_sound(struct damage_world *d)
{
	int ret = begin(d);

	if (ret)
		fprintf(stderr, "%s\n", d->err);
	CU_ASSERT_EQUAL_FATAL(ret, 0);
}

/* Some work, a restart in order, some more work, and a kill. */
static void world_begin(struct damage_world *d)
{
	*d = (struct damage_world){ .top = "now", .old = "old", .killed = "killed", .rand = 11 };
	ut_temp_dir(d->base, sizeof(d->base));
	/* Whatever a path becomes, what is made lies below. */
	if (chdir(d->base))
		abort();
	mkdir(d->top, 0700);
	write_conf(d);
	begin_sound(d);
	run(d, first_half);
	damage_copy(d->top, d->old);
	end(d);
	begin_sound(d);
	run(d, second_half);
	damage_copy(d->top, d->killed);
	end(d);
}

static void world_end(struct damage_world *d)
{
	if (chdir("/"))
		abort();
	ut_remove_tree(d->base);
}

/* An error that names a place: a file or directory of records, a disk, a node, a file's number, or a line. */
static bool names_place(const char *text)
{
	static const char *const places[] = { "disk d", "node io", "object ", "ddio.conf",   "key",
					      "disk 0", "disk 1",  "disk 2",  "disk number " };
	size_t i;

	if (strstr(text, "now/"))
		return true;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strstr(text, places[i]))
			return true;
	return false;
}

/* A call on @name has failed. */
static void failed(struct damage_world *d, const char *name, int err)
{
	const char *text = ddio_last_error(d->p.session);
	char how[900];

	d->wrong = true;
	if (err != -ENOENT && names_place(text))
		return;
	snprintf(how, sizeof(how), "%s: %s: %.500s", name, strerror(-err), text);
	tell(d, how);
}

static void read_one(struct damage_world *d, const struct promised *k)
{
	uint8_t want[LONGEST], got[LONGEST];
	struct ddio_file *f = NULL;
	struct ddio_file_stat st;
	ssize_t n;
	int ret = ddio_open(d->p.session, k->name, 0, NULL, &f);

	if (ret) {
		if (k->seed || ret != -ENOENT)
			failed(d, k->name, ret);
		return;
	}
	if (!k->seed) {
		tell(d, "a removed file is there again");
		ddio_close(f);
		return;
	}
	fill(want, k);
	ret = ddio_fstat(f, &st);
	if (ret)
		failed(d, k->name, ret);
	else if (st.size != k->len)
		tell(d, "a file has another size");
	n = ddio_pread(f, got, sizeof(got), 0);
	if (n < 0)
		failed(d, k->name, (int)n);
	else if ((size_t)n != k->len || memcmp(got, want, k->len))
		tell(d, "wrong bytes");
	ddio_close(f);
}

static int one_name(void *arg, const char *name, const struct ddio_file_stat *st)
{
	struct damage_world *d = arg;

	(void)st;
	d->names += name[strlen(name) - 1] != '/';
	return 0;
}

static void list(struct damage_world *d)
{
	uint32_t want = 0, i;
	int ret;

	for (i = 0; i < FILES; i++)
		want += d->known[i].seed != 0;
	d->names = 0;
	ret = ddio_list(d->p.session, NULL, one_name, d);
	if (!ret)
		ret = ddio_list(d->p.session, "dir", one_name, d);
	if (ret)
		failed(d, "list", ret);
	else if (d->names != want)
		tell(d, "other names than there were");
}

static void line(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

static void look(void *arg)
{
	struct ddio_check_result r = { 0 };
	struct damage_world *d = arg;
	int i, ret;

	d->wrong = false;
	list(d);
	for (i = 0; i < FILES; i++)
		read_one(d, &d->known[i]);
	ret = ddio_check(d->p.session, 0, line, NULL, &r);
	if (ret && !names_place(ddio_last_error(d->p.session)))
		failed(d, "check", ret);
	d->found = ret || r.problems > r.repaired;
}

/* What a round damages. */
struct damage_kind {
	const char *file;   /* below the top */
	uint64_t from, end; /* bytes of it, end 0: up to the last one that is not zero */
	bool text;	    /* it is lines */
	bool data;	    /* it is what files hold, which a check does not read */
};

static void round_of(struct damage_world *d, const struct damage_kind *kind)
{
	char path[300], old[300];
	struct damage one = { .path = path,
			      .old = old,
			      .from = kind->from,
			      .end = kind->end,
			      .text = kind->text,
			      .rand = &d->rand };

	ut_remove_tree(d->top);
	damage_copy(d->killed, d->top);
	snprintf(path, sizeof(path), "%s/%s", d->top, kind->file);
	snprintf(old, sizeof(old), "%s/%s", d->old, kind->file);
	damage_do(&one);
	snprintf(d->what, sizeof(d->what), "%s, %s", kind->file, one.what);
	if (getenv("DDIO_UT_SAY"))
		fprintf(stderr, "%s\n", d->what);
	if (begin(d)) {
		if (!names_place(d->err))
			tell(d, d->err);
		d->refused++;
		return;
	}
	run(d, look);
	if (d->w.conf->ndisks < DISKS && !ddio_sim_logged(d->w.dw, ", which it knows, is missing"))
		tell(d, "the name server does not say that a disk is missing");
	if (d->wrong && !d->found && !kind->data)
		tell(d, "the check finds nothing");
	d->errors += d->wrong;
	d->right += !d->wrong;
	end(d);
}

static void rounds(const struct damage_kind *kinds, size_t nkinds)
{
	unsigned int i, n = ut_rounds(ROUNDS);
	struct damage_world d;

	bad = 0;
	world_begin(&d);
	for (i = 0; i < n; i++)
		round_of(&d, &kinds[ddio_rand_below(&d.rand, nkinds)]);
	if (getenv("DDIO_UT_SAY"))
		fprintf(stderr, "%u refused, %u with errors, %u right, %u wrong\n", d.refused,
			d.errors, d.right, bad);
	CU_ASSERT_EQUAL(bad, 0);
	world_end(&d);
}

#define ROUNDS_OF(...)                                                      \
	do {                                                                \
		static const struct damage_kind kinds_[] = { __VA_ARGS__ }; \
		rounds(kinds_, sizeof(kinds_) / sizeof(kinds_[0]));         \
	} while (0)

static void test_none(void)
{
	struct damage_world d;

	bad = 0;
	world_begin(&d);
	ut_remove_tree(d.top);
	damage_copy(d.killed, d.top);
	begin_sound(&d);
	run(&d, look);
	CU_ASSERT(!d.wrong && !d.found);
	end(&d);
	world_end(&d);
}

static void test_names(void)
{
	ROUNDS_OF({ .file = "io0/ns/data.mdb" });
}

static void test_records(void)
{
	ROUNDS_OF({ .file = "io0/d0/data.mdb" }, { .file = "io1/d1/data.mdb" });
}

static void test_journals(void)
{
	ROUNDS_OF({ .file = "io0/ns/journal.0" }, { .file = "io0/ns/journal.1" },
		  { .file = "io0/ns/durable" });
}

static void test_label(void)
{
	ROUNDS_OF({ .file = "d1.img", .end = 568 }, { .file = "d0.img", .end = 4096 });
}

static void test_image(void)
{
	ROUNDS_OF({ .file = "d0.img", .from = 4096, .data = true },
		  { .file = "d1.img", .from = 4096, .data = true });
}

static void test_key(void)
{
	ROUNDS_OF({ .file = "key" });
}

static void test_conf(void)
{
	ROUNDS_OF({ .file = "ddio.conf", .text = true });
}

static const struct ut_case cases[] = {
	{ "nothing", test_none },
	{ "records of disks", test_records },
	{ "records of the names", test_names },
	{ "journals of the names", test_journals },
	{ "labels", test_label },
	{ "images", test_image },
	{ "keys", test_key },
	{ "configurations", test_conf },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "damage", cases } };

	return ut_run("test_cp_damage", suites, 1);
}
