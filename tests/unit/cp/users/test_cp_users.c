// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs of several users: what a collective open gives to every member, grants that are renewed while a file is open, and
 * what becomes of them when the name server comes and goes.
 */
#include "iop/ns/ns.h"
#include "tests/unit/lib/ut.h"
#include "tests/unit/cp/cp_world.h"

enum { ALICE = 1000, MALLORY = 2000, LEN = 64 << 10 };

/* Processes from this rank on are Mallory's. */
static uint32_t mallory_from;
static uint32_t vouched;

/* A credential is the number of the user; the tie is looked at in the tests of the server. */
static void fake_vouch(struct ddio_vouch_job *job)
{
	job->who = (struct ddio_who){ .uid = (uint32_t)atoi(job->cred), .gid = 1 };
}

static struct cp_world *world;

static int fake_user(const struct ddio_session *session, const void *data, size_t len, char *cred,
		     size_t cap, char *why, size_t why_len)
{
	uint32_t i;

	(void)data;
	(void)len;
	(void)why;
	(void)why_len;
	for (i = 0; i < world->p.procs && world->proc[i].session != session; i++)
		;
	vouched++;
	snprintf(cred, cap, "%u", i < mallory_from ? ALICE : MALLORY);
	return 0;
}

/* Whose it is, is what the credential says. */
static bool fake_same(const struct ddio_session *session, const char *cred, const void *data,
		      size_t len)
{
	char own[16], why[64];

	vouched--;
	fake_user(session, data, len, own, sizeof(own), why, sizeof(why));
	return !strcmp(own, cred);
}

/* The root directory is open to all. */
static void root_open(struct ns *ns)
{
	struct ddio_msg_fs_setattr x = { .ino = DDIO_FS_ROOT,
					 .mask = DDIO_FS_SET_MODE,
					 .mode = 0777 };
	struct inode inode;

	CU_ASSERT_EQUAL(ns_setattr(ns, NULL, &x, &inode), 0);
	inode_free(&inode);
}

static void users_begin(struct cp_world *w, uint32_t procs, uint32_t mallory)
{
	const struct cp_params p = { .procs = procs,
				     .vouch = fake_vouch,
				     .user = fake_user,
				     .same = fake_same,
				     .cluster = "users = munge\nservers_key = /none\n"
						"grant_time = 10s\n" };

	world = w;
	mallory_from = mallory;
	vouched = 0;
	cp_world_begin(w, &p);
	root_open(w->node[0].iop->ns);
}

/* A part of the file for each rank, and its place in memory. */
static struct ddio_transfer transfer(uint32_t rank, uint32_t method)
{
	static uint8_t data[CP_PROCS][LEN];
	static struct ddio_extent extents[CP_PROCS];
	static struct ddio_part parts[CP_PROCS];

	extents[rank] = (struct ddio_extent){ .offset = (uint64_t)rank * LEN, .len = LEN };
	parts[rank] = (struct ddio_part){ .kind = DDIO_PART_LIST, .n = 1, .list = &extents[rank] };
	return (struct ddio_transfer){ .struct_size = sizeof(struct ddio_transfer),
				       .part = &parts[rank],
				       .buf = data[rank],
				       .method = method };
}

static void all_write(struct cp_proc *p, struct ddio_file *f, struct ddio_group *g)
{
	static const uint32_t methods[] = { DDIO_METHOD_TC, DDIO_METHOD_2P, DDIO_METHOD_DD,
					    DDIO_METHOD_DDS };
	size_t i;

	for (i = 0; i < 4; i++) {
		struct ddio_transfer t = transfer(p->rank, methods[i]);

		CP_OK(p, ddio_write_all(f, g, &t));
		CP_OK(p, ddio_read_all(f, g, &t));
	}
}

/* Rank 0 opens for all; each shows a grant of its own, by every method, and several lives of a grant later, too. */
static void together_main(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	all_write(p, f, g);
	ddio_sim_sleep(p->env, 35 * CP_SEC);
	all_write(p, f, g);
	ddio_close(f);
	ddio_group_free(g);
}

static void together(void)
{
	struct cp_world w;

	users_begin(&w, 4, 99);
	CU_ASSERT_EQUAL(cp_run(&w, together_main, NULL), 0);
	CU_ASSERT(vouched >= 4);
	cp_world_end(&w);
}

/* Alice makes a file that all may read; Mallory does. */
static void apart_main(struct cp_proc *p)
{
	struct ddio_transfer t = transfer(0, DDIO_METHOD_DD);
	struct ddio_file *f = NULL;

	if (p->rank)
		ddio_sim_sleep(p->env, CP_SEC);
	CP_OK(p, ddio_open(p->session, "g", p->rank ? 0 : DDIO_CREATE, NULL, &f));
	if (p->rank) {
		CU_ASSERT_EQUAL(ddio_read(f, &t), 0);
		CU_ASSERT_EQUAL(ddio_write(f, &t), -EACCES);
		CU_ASSERT_EQUAL(ddio_set_size(f, 1), -EACCES);
		CU_ASSERT_EQUAL(ddio_remove(p->session, "none"), -ENOENT);
	} else {
		CP_OK(p, ddio_write(f, &t));
		CP_OK(p, ddio_sync(f));
		ddio_sim_sleep(p->env, 3 * CP_SEC);
	}
	ddio_close(f);
	if (!p->rank)
		CP_OK(p, ddio_remove(p->session, "g"));
}

static void apart(void)
{
	struct cp_world w;

	users_begin(&w, 2, 1);
	CU_ASSERT_EQUAL(cp_run(&w, apart_main, NULL), 0);
	cp_world_end(&w);
}

/* Nobody vouches for these processes. */
static void unknown_main(struct cp_proc *p)
{
	struct ddio_file *f = NULL;

	p->session->vouch = NULL;
	CU_ASSERT_EQUAL(cp_note(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f)), -EACCES);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "nobody vouches"));
}

static void unknown(void)
{
	struct cp_world w;

	users_begin(&w, 1, 1);
	CU_ASSERT_EQUAL(cp_run(&w, unknown_main, NULL), 0);
	cp_world_end(&w);
}

/*
 * Groups that meet at an address, which anybody may know.  Mallory is the last process
 */
static int meet(struct cp_proc *p, uint32_t rank, uint32_t size)
{
	struct ddio_group *g = NULL;
	int err = cp_note(p, ddio_group_create(p->session, rank, size, "127.0.0.1:9000", &g));

	if (!err)
		CP_OK(p, ddio_group_barrier(g));
	ddio_group_free(g);
	return err;
}

/* She comes as rank 1 before that does, and again: the others meet all the same. */
static void guest_main(struct cp_proc *p)
{
	if (p->rank == 2) {
		CU_ASSERT_EQUAL(meet(p, 1, 2), -EACCES);
		CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "another user's"));
		CU_ASSERT_EQUAL(meet(p, 1, 2), -EACCES);
		return;
	}
	if (p->rank)
		ddio_sim_sleep(p->env, 2 * CP_SEC);
	CP_OK(p, meet(p, p->rank, 2));
}

static void another_guest(void)
{
	struct cp_world w;

	users_begin(&w, 3, 2);
	CU_ASSERT_EQUAL(cp_run(&w, guest_main, NULL), 0);
	cp_world_end(&w);
}

static bool anybody(const struct ddio_session *session, const char *cred, const void *data,
		    size_t len)
{
	(void)session;
	(void)cred;
	(void)data;
	(void)len;
	return true;
}

/* She waits where Alice's rank 0 is to be, and takes everybody: nobody stays. */
static void host_main(struct cp_proc *p)
{
	if (p->rank) {
		p->session->same_user = anybody;
		CU_ASSERT_NOT_EQUAL(meet(p, 0, 2), 0);
		return;
	}
	CU_ASSERT_EQUAL(meet(p, 1, 2), -EACCES);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "it is another user's"));
}

static void another_host(void)
{
	struct cp_world w;

	users_begin(&w, 2, 1);
	CU_ASSERT_EQUAL(cp_run(&w, host_main, NULL), 0);
	cp_world_end(&w);
}

/* By messages that she makes up she is not let in either: without a credential, and with two. */
static int say_nothing(const struct ddio_session *session, const void *data, size_t len, char *cred,
		       size_t cap, char *why, size_t why_len)
{
	snprintf(cred, cap, "%d", MALLORY);
	(void)session;
	(void)data;
	(void)len;
	(void)why;
	(void)why_len;
	return 0;
}

static void liar_main(struct cp_proc *p)
{
	if (!p->rank) {
		CU_ASSERT_EQUAL(meet(p, 0, 2), -ETIMEDOUT);
		return;
	}
	p->session->vouch = say_nothing;
	CU_ASSERT_EQUAL(meet(p, 1, 2), -EACCES);
	p->session->vouch = NULL;
	CU_ASSERT_EQUAL(meet(p, 1, 2), -EACCES);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "nobody vouches"));
}

static void liars(void)
{
	struct cp_world w;

	users_begin(&w, 2, 99);
	CU_ASSERT_EQUAL(cp_run(&w, liar_main, NULL), 0);
	cp_world_end(&w);
}

/*
 * By the way to a file: its directory's number, and its name there
 */
static struct {
	uint64_t dir, file, shut, hidden;
} way;

static uint64_t file_made(struct ns *ns, uint64_t parent, const char *name, uint32_t mode)
{
	struct ddio_msg_fs_make x = {
		.parent = parent, .mode = mode, .uid = ALICE, .gid = 1, .flags = DDIO_FS_MAKE_EXCL
	};
	const struct stripe stripe = {
		.seed = 1, .block = 1024, .ndisks = 1, .disks = (uint32_t[]){ 0 }
	};
	struct inode in;
	uint64_t ino;
	bool made;

	snprintf(x.name, sizeof(x.name), "%s", name);
	CU_ASSERT_EQUAL_FATAL(
		ns_make(ns, NULL, &x, S_ISDIR(mode) ? NULL : &stripe, &in, &made, NULL), 0);
	ino = in.ino;
	inode_free(&in);
	return ino;
}

static void ways_make(struct ns *ns)
{
	uint64_t closed = file_made(ns, DDIO_FS_ROOT, "closed", S_IFDIR | 0700);

	way.dir = file_made(ns, DDIO_FS_ROOT, "dir", S_IFDIR | 0755);
	way.file = file_made(ns, way.dir, "f", S_IFREG | 0644);
	/* Open itself, but below one that is not. */
	way.shut = file_made(ns, closed, "open", S_IFDIR | 0777);
	way.hidden = file_made(ns, way.shut, "f", S_IFREG | 0666);
}

static struct ddio_open_opts way_to(uint64_t dir, uint64_t file)
{
	return (struct ddio_open_opts){ .struct_size = sizeof(struct ddio_open_opts),
					.id = file,
					.dir = dir };
}

static int way_open(struct cp_proc *p, uint64_t dir, const char *name, uint64_t file)
{
	struct ddio_open_opts o = way_to(dir, file);
	struct ddio_file *f = NULL;
	int err = ddio_open_with(p->session, name, &o, &f);

	ddio_close(f);
	return err;
}

/* All of Alice's. */
static void way_all_main(struct cp_proc *p)
{
	struct ddio_open_opts o = way_to(way.dir, way.file);
	struct ns *ns = world->node[0].iop->ns;
	const struct ddio_msg_fs_rename moved = { .parent = DDIO_FS_ROOT,
						  .new_parent = DDIO_FS_ROOT,
						  .name = "dir",
						  .new_name = "moved" };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	struct ns_left left;

	CU_ASSERT_EQUAL(way_open(p, 0, NULL, way.file), -EACCES);
	CP_OK(p, ddio_open_all_with(g, "f", &o, &f));
	all_write(p, f, g);
	ddio_close(f);
	/* Its number is the same wherever it is. */
	if (!p->rank)
		CU_ASSERT_EQUAL(ns_rename(ns, NULL, &moved, NULL, &left), 0);
	CP_OK(p, ddio_group_barrier(g));
	CP_OK(p, ddio_open_all_with(g, "f", &o, &f));
	all_write(p, f, g);
	ddio_close(f);
	o = way_to(way.shut, way.hidden);
	CP_OK(p, ddio_open_all_with(g, "f", &o, &f));
	ddio_close(f);
	o.dir += p->rank == 1;
	CU_ASSERT_EQUAL(ddio_open_all_with(g, "f", &o, &f), -EBADE);
	ddio_group_free(g);
}

static void way_all(void)
{
	struct cp_world w;

	users_begin(&w, 3, 99);
	ways_make(w.node[0].iop->ns);
	CU_ASSERT_EQUAL(cp_run(&w, way_all_main, NULL), 0);
	cp_world_end(&w);
}

/*
 * The last two are Mallory's when they come to the name server, and may not enter the directory: all hear of it, and go on
 * together; nobody has the file, and nobody waits.
 */
static void way_refused_main(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_group_barrier(g));
	mallory_from = 2;
	CU_ASSERT_EQUAL(cp_note(p, ddio_open_all(g, "closed/open/f", 0, NULL, &f)), -EACCES);
	CU_ASSERT_PTR_NULL(f);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "rank 2: "));
	CP_OK(p, ddio_group_barrier(g));
	CP_OK(p, ddio_open_all(g, "dir/f", 0, NULL, &f));
	ddio_close(f);
	ddio_group_free(g);
}

static void way_refused(void)
{
	struct cp_world w;

	users_begin(&w, 4, 99);
	ways_make(w.node[0].iop->ns);
	CU_ASSERT_EQUAL(cp_run(&w, way_refused_main, NULL), 0);
	cp_world_end(&w);
}

/* Mallory knows every number, and tries names that are none. */
static void way_hostile_main(struct cp_proc *p)
{
	struct ddio_open_opts o = way_to(way.dir, way.file);
	struct ddio_file *f = NULL;
	char buf[8] = "";
	uint64_t n;

	CU_ASSERT_EQUAL(way_open(p, way.shut, "f", way.hidden), -EACCES);
	CU_ASSERT_EQUAL(way_open(p, 0, NULL, way.hidden), -EACCES);
	CU_ASSERT_EQUAL(way_open(p, way.dir, "f", way.hidden), -ESTALE);
	CU_ASSERT_EQUAL(way_open(p, way.dir, "none", way.file), -ENOENT);
	CU_ASSERT_EQUAL(way_open(p, way.dir, "../closed", way.file), -EINVAL);
	CU_ASSERT_EQUAL(way_open(p, way.dir, "..", DDIO_FS_ROOT), -EISDIR);
	CU_ASSERT_EQUAL(way_open(p, way.file, "f", way.file), -ENOENT);
	for (n = 2; n < way.hidden + 9; n++)
		CU_ASSERT_NOT_EQUAL(way_open(p, n, "f", way.hidden), 0);
	CP_OK(p, ddio_open_with(p->session, "f", &o, &f));
	CU_ASSERT_EQUAL(ddio_pread(f, buf, sizeof(buf), 0), 0);
	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 0), -EACCES);
	ddio_close(f);
	/* A way needs a name, and what it leads to; programs of 0.1.0 know none. */
	o.id = 0;
	CU_ASSERT_EQUAL(ddio_open_with(p->session, "f", &o, &f), -EINVAL);
	o = way_to(way.dir, way.file);
	CU_ASSERT_EQUAL(ddio_open_with(p->session, NULL, &o, &f), -EINVAL);
	o.struct_size = offsetof(struct ddio_open_opts, dir);
	CU_ASSERT_EQUAL(ddio_open_with(p->session, "f", &o, &f), -EINVAL);
	o.id = 0;
	CP_OK(p, ddio_open_with(p->session, "dir/f", &o, &f));
	ddio_close(f);
}

static void way_hostile(void)
{
	struct cp_world w;

	users_begin(&w, 1, 0);
	ways_make(w.node[0].iop->ns);
	CU_ASSERT_EQUAL(cp_run(&w, way_hostile_main, NULL), 0);
	cp_world_end(&w);
}

/* The file is taken away before all have found it: then another has its name, or none. */
static void way_gone_main(struct cp_proc *p)
{
	struct ns *ns = world->node[0].iop->ns;
	const struct ddio_msg_fs_name x = { .parent = way.dir, .name = "f" };
	struct ns_left left;

	CP_OK(p, way_open(p, way.dir, "f", way.file));
	CU_ASSERT_EQUAL(ns_unlink(ns, NULL, &x, &left, NULL), 0);
	ddio_file_record_free(&left.rec);
	CU_ASSERT_EQUAL(way_open(p, way.dir, "f", way.file), -ENOENT);
	file_made(ns, way.dir, "f", S_IFREG | 0666);
	CU_ASSERT_EQUAL(way_open(p, way.dir, "f", way.file), -ESTALE);
}

static void way_gone(void)
{
	struct cp_world w;

	users_begin(&w, 1, 99);
	ways_make(w.node[0].iop->ns);
	CU_ASSERT_EQUAL(cp_run(&w, way_gone_main, NULL), 0);
	cp_world_end(&w);
}

/*
 * A munged that has stopped: what needs it fails at the timeout, and at once once it goes on.
 */
static void silent_main(struct cp_proc *p)
{
	uint64_t begun = ddio_env_now(p->env);
	struct ddio_file *f;

	sim_answer_never(p->env, true);
	CU_ASSERT_EQUAL(ddio_open(p->session, "f", DDIO_CREATE, NULL, &f), -EHOSTDOWN);
	CU_ASSERT_PTR_NOT_NULL(strstr(ddio_last_error(p->session), "munge has not answered"));
	CU_ASSERT(ddio_env_now(p->env) - begun < 2 * p->session->timeout_ns);
	sim_answer_never(p->env, false);
	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	ddio_close(f);
}

static void silent(void)
{
	struct cp_world w;

	users_begin(&w, 1, 99);
	CU_ASSERT_EQUAL(cp_run(&w, silent_main, NULL), 0);
	cp_world_end(&w);
}

/* Neither side of a meeting waits for longer: the first that is not answered is the guest, or rank 0. */
static void silent_meet_main(struct cp_proc *p)
{
	uint64_t begun = ddio_env_now(p->env);

	sim_answer_never(p->env, p->rank == (uint32_t)(uintptr_t)p->w->arg);
	CU_ASSERT_EQUAL(meet(p, p->rank, 2), -ETIMEDOUT);
	CU_ASSERT(ddio_env_now(p->env) - begun < 3 * p->session->timeout_ns);
	sim_answer_never(p->env, false);
	CP_OK(p, meet(p, p->rank, 2));
}

static void silent_meet(void)
{
	struct cp_world w;
	uintptr_t rank;

	for (rank = 0; rank < 2; rank++) {
		users_begin(&w, 2, 99);
		CU_ASSERT_EQUAL(cp_run(&w, silent_meet_main, (void *)rank), 0);
		cp_world_end(&w);
	}
}

/* A session ends while it is asked about its user. */
static void silent_end_main(struct cp_proc *p)
{
	struct ddio_file *f;

	sim_answer_never(p->env, true);
	p->session->timeout_ns = CP_SEC / 10;
	CU_ASSERT_EQUAL(ddio_open(p->session, "f", DDIO_CREATE, NULL, &f), -EHOSTDOWN);
}

static void silent_end(void)
{
	struct cp_world w;

	users_begin(&w, 1, 99);
	CU_ASSERT_EQUAL(cp_run(&w, silent_end_main, NULL), 0);
	cp_world_end(&w);
}

static const struct ut_case cases[] = {
	{ "nobody answers", silent },
	{ "nobody answers who meet", silent_meet },
	{ "nobody answers until the end", silent_end },
	{ "a guest of another user", another_guest },
	{ "rank 0 of another user", another_host },
	{ "guests that nobody knows", liars },
	{ "by the way", way_all },
	{ "some are refused", way_refused },
	{ "by numbers that are guessed", way_hostile },
	{ "gone meanwhile", way_gone },
	{ "together", together },
	{ "apart", apart },
	{ "unknown", unknown },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "users", cases } };

	return cp_ut_run("test_cp_users", suites, 1);
}
