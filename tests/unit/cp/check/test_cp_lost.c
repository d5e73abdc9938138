// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects that belong to no file: a repair gives them back in /lost+found if they can only be those of one whole file, spread as
 * files are by default; else it names them, and they stay.
 */
#include "tests/unit/cp/cp_world.h"
#include "cp/node/session.h"
#include "iop/ns/priv.h"

enum { SIZE = sizeof(struct ddio_striping), DISKS = 4, BLOCK = 1024, BLOCKS = 11 };

/* What the checks say, line by line. */
struct said {
	char text[8192];
	size_t len;
};

static void say(void *arg, const char *line)
{
	struct said *said = arg;

	said->len += (size_t)snprintf(said->text + said->len, sizeof(said->text) - said->len,
				      "%s\n", line);
}

static void fill(uint8_t *buf)
{
	uint32_t i;

	for (i = 0; i < BLOCKS * BLOCK; i++)
		buf[i] = (uint8_t)(i * 7 + i / BLOCK + 1);
}

/* Makes a file of @blocks blocks from block @at on; returns its number. */
static uint64_t make_file(struct cp_proc *p, const char *name, const struct ddio_striping *striping,
			  uint32_t at, uint32_t blocks)
{
	struct ddio_file *f = NULL;
	uint8_t buf[BLOCKS * BLOCK];
	uint64_t id;

	fill(buf);
	CP_OK(p, ddio_open(p->session, name, DDIO_CREATE, striping, &f));
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, blocks * BLOCK, at * BLOCK), blocks * BLOCK);
	CP_OK(p, ddio_sync(f));
	id = f->rec.ref.id;
	ddio_close(f);
	return id;
}

/* The name space forgets the file, as if it were put back from a backup. */
static void forget(struct cp_proc *p, const char *name)
{
	struct ns *ns = p->w->node[0].iop->ns;
	struct inode root, in;
	struct ns_entry e;

	CU_ASSERT_EQUAL_FATAL(ns_load_dir(ns, DDIO_FS_ROOT, &root), 0);
	CU_ASSERT_EQUAL_FATAL(ns_find(ns, DDIO_FS_ROOT, name, &e), 0);
	CU_ASSERT_EQUAL_FATAL(ns_load(ns, e.ino, &in), 0);
	ns_begin(ns);
	CU_ASSERT_EQUAL(ns_leave(ns, &root, name, e.cookie), 0);
	CU_ASSERT_EQUAL(ns_store(ns, &root), 0);
	CU_ASSERT_EQUAL(ns_end(ns, ns_delete(ns, &in)), 0);
	inode_free(&in);
	inode_free(&root);
}

static struct ddio_check_result check(struct cp_proc *p, int how, struct said *said)
{
	struct ddio_check_result result;

	*said = (struct said){ .len = 0 };
	CP_OK(p, ddio_check(p->session, how, say, said, &result));
	return result;
}

/* The file is there again under @path, with what it had. */
static void same(struct cp_proc *p, const char *path, uint32_t blocks)
{
	uint8_t want[BLOCKS * BLOCK], buf[BLOCKS * BLOCK];
	struct ddio_file *f = NULL;
	struct ddio_file_stat st;

	fill(want);
	CP_OK(p, ddio_open(p->session, path, 0, NULL, &f));
	if (!f)
		return;
	CP_OK(p, ddio_fstat(f, &st));
	CU_ASSERT_EQUAL(st.size, blocks * BLOCK);
	CU_ASSERT_EQUAL(ddio_pread(f, buf, blocks * BLOCK, 0), blocks * BLOCK);
	CU_ASSERT_EQUAL(memcmp(buf, want, blocks * BLOCK), 0);
	ddio_close(f);
}

static void clean(struct cp_proc *p)
{
	struct ddio_check_result r;
	struct said said;

	r = check(p, DDIO_CHECK_REPAIR, &said);
	CU_ASSERT_EQUAL(r.problems, 0);
	CU_ASSERT_EQUAL(r.orphans, 0);
	CU_ASSERT_STRING_EQUAL(said.text, "");
}

static void whole_files(struct cp_proc *p)
{
	static const uint32_t sizes[] = { BLOCKS, 8, 3, 1 };
	struct ddio_check_result r;
	char path[64], line[100];
	struct said said;
	uint64_t id;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		id = make_file(p, "f", NULL, 0, sizes[i]);
		forget(p, "f");
		r = check(p, 0, &said);
		CU_ASSERT_EQUAL(r.problems, 0);
		CU_ASSERT_EQUAL(r.orphans, sizes[i] < DISKS ? sizes[i] : DISKS);
		r = check(p, DDIO_CHECK_REPAIR, &said);
		CU_ASSERT_EQUAL(r.problems, 1);
		CU_ASSERT_EQUAL(r.repaired, 1);
		CU_ASSERT_EQUAL(r.orphans, 0);
		CU_ASSERT_EQUAL(r.files, i + 1);
		snprintf(path, sizeof(path), "lost+found/#%d", (int)id);
		snprintf(line, sizeof(line), "file %d: given back as /%s: %u bytes", (int)id, path,
			 sizes[i] * BLOCK);
		CU_ASSERT_PTR_NOT_NULL(strstr(said.text, line));
		same(p, path, sizes[i]);
		clean(p);
	}
}

/* A repair keeps them, for this reason, and again the next time; whoever wants to drops them. */
static void stays(struct cp_proc *p, uint64_t orphans, const char *why)
{
	struct ddio_check_result r;
	struct said said;
	int i;

	for (i = 0; i < 2; i++) {
		r = check(p, DDIO_CHECK_REPAIR, &said);
		CU_ASSERT_EQUAL(r.problems, 0);
		CU_ASSERT_EQUAL(r.orphans, orphans);
		CU_ASSERT_PTR_NOT_NULL(strstr(said.text, why));
		CU_ASSERT_PTR_NOT_NULL(strstr(said.text, "kept as it is"));
		if (!strstr(said.text, why))
			fprintf(stderr, "'%s' does not say '%s'\n", said.text, why);
	}
}

static void dropped(struct cp_proc *p)
{
	struct said said;

	check(p, DDIO_CHECK_REPAIR | DDIO_CHECK_DROP, &said);
	CU_ASSERT_PTR_NOT_NULL(strstr(said.text, ": removed"));
	clean(p);
}

/* Two disks of four, in either order; one that is not the first; with a hole in front, or at the end of an object. */
static void spread_otherwise(struct cp_proc *p)
{
	const uint32_t two[] = { 0, 1 }, turned[] = { 3, 1 }, last[] = { 3 };
	const struct ddio_striping some[] = {
		{ .struct_size = SIZE, .disks = two, .ndisks = 2 },
		{ .struct_size = SIZE, .disks = turned, .ndisks = 2 },
		{ .struct_size = SIZE, .disks = last, .ndisks = 1 },
	};
	size_t i;

	for (i = 0; i < 3; i++) {
		make_file(p, "f", &some[i], 0, 8);
		forget(p, "f");
		stays(p, some[i].ndisks, "nothing tells over which disks it is spread");
		dropped(p);
	}
	make_file(p, "f", NULL, 2, 1);
	forget(p, "f");
	stays(p, 1, "nothing tells over which disks it is spread");
	dropped(p);
	make_file(p, "f", NULL, 0, 5);
	make_file(p, "f", NULL, 9, 1);
	forget(p, "f");
	stays(p, 4, "nothing tells over which disks it is spread");
	dropped(p);
}

/* One request to a disk about an object. */
struct one {
	struct session_call call;
	struct node_request request;
	uint16_t opcode;
	struct ddio_msg_obj obj;
};

static void one_got(struct node_request *request, const struct reply *reply)
{
	struct one *one = request->arg;
	struct error error;

	error_clear(&error);
	if (reply->status)
		reply_error(&error, reply, "test");
	call_end(&one->call, &error);
}

static void one_run(struct session_call *call)
{
	struct one *one = ddio_container_of(call, struct one, call);

	request_init(&one->request, one->opcode, one_got, one);
	CU_ASSERT_EQUAL(request_put(&one->request, obj, &one->obj), 0);
	request_disk(call->session, one->obj.disk, &one->request);
}

static int ask_disk(struct cp_proc *p, uint16_t opcode, const struct ddio_msg_obj *obj)
{
	struct one one = { .opcode = opcode, .obj = *obj };

	return call_run(p->session, &one.call, one_run);
}

/* One object is of another time: its number is the same, its seed is not. */
static void of_two_times(struct cp_proc *p)
{
	struct ddio_msg_obj obj = {
		.file = { .id = make_file(p, "f", NULL, 0, 8), .seed = 99, .block = BLOCK },
		.disk = 1
	};

	forget(p, "f");
	obj.flags = DDIO_OBJ_REPAIR; /* whatever its seed is */
	CP_OK(p, ask_disk(p, DDIO_OP_OBJ_REMOVE, &obj));
	obj.len = 2;
	CP_OK(p, ask_disk(p, DDIO_OP_OBJ_RESERVE, &obj));
	stays(p, 4, "its objects are not of one time");
	CP_OK(p, ask_disk(p, DDIO_OP_OBJ_REMOVE, &obj));
	stays(p, 3, "nothing tells over which disks it is spread");
	dropped(p);
}

/* Nodes tell what their disks have lost when somebody connects. */
static void connect_anew(struct cp_proc *p, struct cp_proc *q)
{
	*q = *p;
	CU_ASSERT_EQUAL_FATAL(ddio_session_new_env(p->env, p->w->conf, &p->w->key, &q->session), 0);
}

/* What a disk forgot with the one that was there before: a short file may have been a long one. */
static void disk_was_replaced(struct cp_proc *p)
{
	uint64_t *lost = &iop_disk_id(p->w->node[3 % p->w->p.nodes].iop, 3)->lost;
	uint64_t file = make_file(p, "f", NULL, 0, 3);
	struct ddio_check_result r;
	struct said said;
	struct cp_proc q;
	char path[64];

	forget(p, "f");
	*lost = file + 1;
	connect_anew(p, &q);
	stays(&q, 3, "a part of it may be lost with a disk that was replaced");
	ddio_disconnect(q.session);
	/* The disk that was lost is there again. */
	*lost = file;
	connect_anew(p, &q);
	r = check(&q, DDIO_CHECK_REPAIR, &said);
	CU_ASSERT_EQUAL(r.repaired, 1);
	snprintf(path, sizeof(path), "lost+found/#%d", (int)file);
	same(&q, path, 3);
	ddio_disconnect(q.session);
	*lost = 0;
	clean(p);
}

/* What the name space refuses is said, and stays. */
static void number_unknown(struct cp_proc *p)
{
	struct ns *ns = p->w->node[0].iop->ns;
	const struct ddio_msg_obj obj = {
		.file = { .id = ns->limit + 9, .seed = 1, .block = BLOCK }, .len = 1
	};

	CP_OK(p, ask_disk(p, DDIO_OP_OBJ_RESERVE, &obj));
	stays(p, 1, "never gave the number");
	dropped(p);
}

static void orphans(struct cp_proc *p)
{
	whole_files(p);
	spread_otherwise(p);
	of_two_times(p);
	disk_was_replaced(p);
	number_unknown(p);
}

static void test_orphans(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1, .disks = DISKS, .block = BLOCK });
	CU_ASSERT_EQUAL(cp_run(&w, orphans, NULL), 0);
	cp_world_end(&w);
}

/* Connects by a configuration that has all disks but the last. */
static void connect_without_last(struct cp_proc *p, struct cp_proc *q, struct ddio_conf *less)
{
	*q = *p;
	*less = *p->w->conf;
	less->ndisks--;
	CU_ASSERT_EQUAL_FATAL(ddio_session_new_env(p->env, less, &p->w->key, &q->session), 0);
}

static void says(const struct said *said, const char *text)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(said->text, text));
	if (!strstr(said->text, text))
		fprintf(stderr, "'%s' does not say '%s'\n", said->text, text);
}

/* A check names the files that lie there, and a repair goes on to what can be repaired. */
static void disk_is_missing(struct cp_proc *p)
{
	const uint32_t first[] = { 0 };
	const struct ddio_striping here = { .struct_size = SIZE, .disks = first, .ndisks = 1 };
	struct ddio_check_result r;
	struct ddio_file *f = NULL;
	uint64_t far, nameless;
	struct ddio_conf less;
	struct said said;
	struct cp_proc q;
	char line[200];
	int how;

	CP_OK(p, ddio_mkdir(p->session, "a", 0755));
	CP_OK(p, ddio_mkdir(p->session, "a/b", 0755));
	far = make_file(p, "a/b/far", NULL, 0, 8);
	make_file(p, "a/here", &here, 0, 2);
	nameless = make_file(p, "nameless", NULL, 0, 8);
	connect_without_last(p, &q, &less);
	CU_ASSERT_EQUAL(cp_note(&q, ddio_open(q.session, "a/b/far", 0, NULL, &f)), -ESTALE);
	CU_ASSERT_PTR_NOT_NULL(strstr(q.text, "disk number 3, but the configuration has only 3"));
	CU_ASSERT(ddio_remove(q.session, "nameless") != 0);
	make_file(p, "lost", &here, 0, 2);
	forget(p, "lost");
	for (how = 0; how <= 1; how++) {
		r = check(&q, how ? DDIO_CHECK_REPAIR : 0, &said);
		CU_ASSERT_EQUAL(r.problems, 2);
		CU_ASSERT_EQUAL(r.repaired, 0);
		CU_ASSERT_EQUAL(r.nameless, 1);
		snprintf(line, sizeof(line), "/a/b/far (file %d): it lies on disk number 3",
			 (int)far);
		says(&said, line);
		snprintf(line, sizeof(line), "file %d, which has no name: it lies on disk number 3",
			 (int)nameless);
		says(&said, line);
		CU_ASSERT_PTR_NULL(strstr(said.text, "here"));
	}
	ddio_disconnect(q.session);
	r = check(p, DDIO_CHECK_REPAIR, &said);
	CU_ASSERT_EQUAL(r.nameless, 0);
	dropped(p);
	same(p, "a/b/far", 8);
}

/* A disk was replaced: the files that may have lost something are named by their paths. */
static void paths_of_lost(struct cp_proc *p)
{
	uint64_t *lost = &iop_disk_id(p->w->node[3 % p->w->p.nodes].iop, 3)->lost;
	struct ddio_msg_obj obj = { .disk = 3, .flags = DDIO_OBJ_REPAIR };
	struct ddio_check_result r;
	struct said said;
	struct cp_proc q;
	char line[200];

	CP_OK(p, ddio_mkdir(p->session, "d", 0755));
	obj.file = (struct ddio_file_ref){ .id = make_file(p, "d/f", NULL, 0, 8), .block = BLOCK };
	CP_OK(p, ask_disk(p, DDIO_OP_OBJ_REMOVE, &obj));
	*lost = obj.file.id + 1;
	connect_anew(p, &q);
	r = check(&q, 0, &said);
	CU_ASSERT_EQUAL(r.problems, 1);
	snprintf(line, sizeof(line), "/d/f (file %d): what it had on disk d3 may be lost",
		 (int)obj.file.id);
	says(&said, line);
	ddio_disconnect(q.session);
	*lost = 0;
}

static void missing(struct cp_proc *p)
{
	disk_is_missing(p);
	paths_of_lost(p);
}

static void test_paths(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1, .disks = DISKS, .block = BLOCK });
	CU_ASSERT_EQUAL(cp_run(&w, missing, NULL), 0);
	cp_world_end(&w);
}

static int first_place(void *arg, const struct ddio_placement *place)
{
	*(struct ddio_placement *)arg = *place;
	return 1;
}

/* A part of a block is written, and the rest of it cannot be read: a repair tells of it, and repairs what it can. */
static void unreadable(struct cp_proc *p)
{
	const uint32_t first[] = { 0 };
	const struct ddio_striping here = { .struct_size = SIZE, .disks = first, .ndisks = 1 };
	struct ddio_sim_medium_faults bad = { .bad_first = 0 };
	struct ddio_placement place = { .start = 0 };
	struct ddio_check_result r;
	struct ddio_file *f = NULL;
	struct said said;
	int i;

	make_file(p, "f", &here, 0, 3);
	make_file(p, "g", NULL, 0, 8);
	forget(p, "g");
	CP_OK(p, ddio_open(p->session, "f", 0, NULL, &f));
	CP_OK(p, ddio_drop_cache(f));
	CU_ASSERT_EQUAL(ddio_layout(f, first_place, &place), 1);
	bad.bad_first = place.start;
	bad.bad_end = place.start + BLOCK;
	ddio_sim_medium_set(p->w->medium[place.disk], &bad);
	CU_ASSERT_EQUAL(ddio_pwrite(f, "x", 1, 7), 1);
	for (i = 0; i < 2; i++) {
		r = check(p, DDIO_CHECK_REPAIR, &said);
		CU_ASSERT_EQUAL(r.problems, r.repaired + 1);
		CU_ASSERT_EQUAL(r.orphans, 0);
		says(&said, "disk d0");
		says(&said, "stays in memory");
	}
	/* Whoever syncs the file is told all the same. */
	CU_ASSERT_EQUAL(ddio_sync(f), -EIO);
	bad.bad_end = bad.bad_first;
	ddio_sim_medium_set(p->w->medium[place.disk], &bad);
	CP_OK(p, ddio_sync(f));
	clean(p);
	ddio_close(f);
}

static int scrub_look(void *arg, const struct ddio_scrub_state *st)
{
	*(int *)arg += st->running != 0;
	return 0;
}

static void scrub(struct cp_proc *p)
{
	int running = 0;

	CP_OK(p, ddio_scrub(p->session, DDIO_SCRUB_START, 0, scrub_look, &running));
	do {
		running = 0;
		ddio_sim_sleep(p->env, CP_SEC);
		CP_OK(p, ddio_scrub(p->session, DDIO_SCRUB_LOOK, 0, scrub_look, &running));
	} while (running);
}

/* What a scrub has found wrong is a problem of each check, until the next scrub finds nothing. */
static void scrubbed(struct cp_proc *p)
{
	const uint32_t first[] = { 1 };
	const struct ddio_striping there = { .struct_size = SIZE, .disks = first, .ndisks = 1 };
	struct ddio_sim_medium_faults bad = { .bad_first = 0 };
	struct ddio_placement place = { .start = 0 };
	struct ddio_check_result r;
	struct ddio_file *f = NULL;
	struct said said;

	make_file(p, "s", &there, 0, 3);
	CP_OK(p, ddio_open(p->session, "s", 0, NULL, &f));
	CP_OK(p, ddio_drop_cache(f));
	CU_ASSERT_EQUAL(ddio_layout(f, first_place, &place), 1);
	scrub(p);
	clean(p);
	bad.bad_first = place.start;
	bad.bad_end = place.start + BLOCK;
	ddio_sim_medium_set(p->w->medium[place.disk], &bad);
	scrub(p);
	r = check(p, 0, &said);
	CU_ASSERT_EQUAL(r.problems, 1);
	says(&said,
	     "node io1, disk d1: when it was last looked through, 0 checksums did not match, and 1 ");
	bad.bad_end = bad.bad_first;
	ddio_sim_medium_set(p->w->medium[place.disk], &bad);
	scrub(p);
	clean(p);
	ddio_close(f);
}

static void unreadable_blocks(struct cp_proc *p)
{
	unreadable(p);
	scrubbed(p);
}

static void test_unreadable(void)
{
	struct cp_world w;

	cp_world_begin(
		&w,
		&(struct cp_params){
			.procs = 1, .disks = DISKS, .block = BLOCK, .lasts = true, .media = true });
	CU_ASSERT_EQUAL(cp_run(&w, unreadable_blocks, NULL), 0);
	cp_world_end(&w);
}

int main(void)
{
	static const struct ut_case cases[] = { { "orphans", test_orphans },
						{ "files on missing disks", test_paths },
						{ "a block that cannot be read", test_unreadable },
						{ .name = NULL } };
	const struct ut_suite suites[] = { { "lost and found", cases } };

	return ut_run("cp_lost", suites, 1);
}
