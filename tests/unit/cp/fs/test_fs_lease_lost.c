// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leases whose holder, or whose name server, dies, stands still or is cut off: what was answered is told once, late or again,
 * and undoes nothing that others have done.
 */
#include "tests/unit/cp/fs/fs_lessees.h"

/* The name server dies at any moment of writes under the lease: nothing that was answered is missing, and no sync fails. */
static void restart_at(uint64_t delay, int flags)
{
	struct lessees p;
	struct fs_node dead;
	uint32_t k;
	int i;

	lease_begin_as(&p, 10, DDIO_FS_HARD, flags);
	put(&p);
	fsc_wait_begin(&p.m->r);
	ddio_fs_write(p.a, p.want + p.at, PIECE, p.at, fsc_wait_done, &p.m->r);
	ddio_sim_run_for(p.w.dw, delay);
	dead = p.w.names_node;
	for (k = 0; k < FS_NODE_REACTORS; k++)
		ddio_sim_orphan(dead.env[k]);
	fs_node_stop(&dead);
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	ddio_iop_free(dead.iop);
	fs_node_begin(&p.w, &p.w.names_node);
	ddio_sim_run_for(p.w.dw, 20 * FS_SEC);
	CU_ASSERT(p.m->r.calls && !p.m->r.err);
	p.at += PIECE;
	FS_OK(p.m, ddio_fs_sync, p.a);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	CU_ASSERT_EQUAL(p.n->r.attr.size, p.at);
	for (i = 0; i < 4; i++)
		put(&p);
	open_b(&p, O_RDONLY);
	check_b(&p);
	lease_finish(&p);
}

static void restart_at_any_moment(void)
{
	uint64_t delay;

	for (delay = 0; delay < 4 * FS_MS; delay += FS_MS / 2 * ut_stride(4)) {
		restart_at(delay, 0);
		restart_at(delay, O_APPEND);
	}
}

/* A holder that is cut off keeps the others waiting for the timeout, not longer, and does not undo what they did. */
static void cut_off(bool change)
{
	struct ddio_fs_attr cut = { .size = 10 };
	struct ddio_sim_link net;
	struct fsc_result other;
	struct lessees p;
	uint64_t begin;
	int err;

	lease_begin_as(&p, 7, DDIO_FS_HARD, 0);
	put(&p);
	ddio_sim_link_default(&net);
	net.latency_ns = 20 * FS_SEC;
	ddio_sim_set_link(p.w.mount[0].env[0], &net);
	ddio_sim_set_link(p.w.mount[0].env[1], &net);
	fsc_wait_init(&other, p.n->fs);
	fsc_wait_begin(&other);
	begin = ddio_env_now(p.w.mount[1].env[0]);
	if (change)
		ddio_fs_setattr(p.n->fs, p.ino, DDIO_FS_SET_SIZE, &cut, fsc_wait_done, &other);
	else
		stat_by_number(&p, &other);
	while (!other.calls && ddio_env_now(p.w.mount[1].env[0]) - begin < 30 * FS_SEC)
		ddio_sim_run_for(p.w.dw, 100 * FS_MS);
	CU_ASSERT(other.calls && !other.err);
	CU_ASSERT(ddio_env_now(p.w.mount[1].env[0]) - begin < 8 * FS_SEC);
	slow(&p);
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	err = FSC_WAIT(&p.m->r, ddio_fs_sync, p.a);
	CU_ASSERT_EQUAL(err, change ? -EIO : 0);
	FS_OK(p.m, ddio_fs_sync, p.a);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	CU_ASSERT_EQUAL(p.n->r.attr.size, change ? 10 : p.at);
	lease_finish(&p);
}

static void holder_cut_off(void)
{
	cut_off(true);
	cut_off(false);
}

/*
 * A mount is stopped for a while, @delay after its last write.  Somebody else looks at the file meanwhile, if @other, and
 * nobody changes it: so all is told when it goes on, and no sync fails.
 */
static void stopped_at(uint64_t delay, uint64_t ms, bool other)
{
	struct fs_stop stop[FS_REACTORS];
	struct fsc_result asking;
	struct lessees p;

	lease_begin(&p, 14, 0);
	/* The next file's data are moved by the thread that has the connection to the name server. */
	FS_OK(p.m, ddio_fs_file_close, p.a);
	lease_take(&p, "b", 0);
	CU_ASSERT_EQUAL(p.a->inode->r->index, 0);
	fs_stopping(&p.w);
	ddio_sim_run_for(p.w.dw, delay);
	put(&p);
	fs_mount_stop(p.m, stop, ms);
	ddio_sim_run_for(p.w.dw, FS_MS);
	fsc_wait_init(&asking, p.n->fs);
	fsc_wait_begin(&asking);
	if (other)
		stat_by_number(&p, &asking);
	/* It is the first thing that the mount takes up, before it has read what has come, and before its timers. */
	FS_OK(p.m, ddio_fs_sync, p.a);
	ddio_sim_run_for(p.w.dw, 4 * FS_SEC);
	CU_ASSERT(!other || (asking.calls == 1 && !asking.err));
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	CU_ASSERT_EQUAL(p.n->r.attr.size, p.at);
	put(&p);
	FS_OK(p.m, ddio_fs_sync, p.a);
	open_b(&p, O_RDONLY);
	check_b(&p);
	lease_finish(&p);
}

static void stopped_at_any_moment(void)
{
	static const uint64_t ms[] = { 2500, 3500, 30000 };
	uint64_t delay;
	size_t i;

	for (delay = 0; delay < 2 * FS_SEC; delay += 50 * FS_MS * ut_stride(4))
		for (i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
			stopped_at(delay, ms[i], false);
			stopped_at(delay, ms[i], true);
		}
}

static void net_set(struct lessees *p, uint64_t latency_ns)
{
	struct ddio_sim_link net;
	uint32_t k;

	ddio_sim_link_default(&net);
	net.latency_ns = latency_ns;
	for (k = 0; k < FS_REACTORS; k++)
		ddio_sim_set_link(p->w.mount[0].env[k], &net);
}

/* What a mount itself does to a file whose lease it has, or had. */
static void own_rename(struct lessees *p)
{
	FS_OK(p->m, ddio_fs_rename, p->m->fs, DDIO_FS_ROOT, "a", DDIO_FS_ROOT, "c", 0);
}

static void own_exchange(struct lessees *p)
{
	FS_OK(p->m, ddio_fs_rename, p->m->fs, DDIO_FS_ROOT, "a", DDIO_FS_ROOT, "warm",
	      DDIO_FS_RENAME_EXCHANGE);
}

static void own_link(struct lessees *p)
{
	FS_OK(p->m, ddio_fs_link, p->m->fs, p->ino, DDIO_FS_ROOT, "c");
}

static void own_unlink(struct lessees *p)
{
	own_link(p);
	FS_OK(p->m, ddio_fs_unlink, p->m->fs, DDIO_FS_ROOT, "c");
}

static void own_xattr(struct lessees *p)
{
	FS_OK(p->m, ddio_fs_setxattr, p->m->fs, p->ino, "user.x", "1", 1, 0, false);
}

static void own_none(struct lessees *p)
{
	(void)p;
}

static void (*const own[])(struct lessees *p) = { own_none, own_rename, own_exchange,
						  own_link, own_unlink, own_xattr };

/* What another mount does when the lease is void. */
enum others { OTHER_LOOKS, OTHER_RENAMES, OTHER_CUTS, OTHER_DATES, OTHERS };

static void other_begin(struct lessees *p, enum others what, struct fsc_result *r)
{
	static const struct ddio_fs_attr set = { .size = 10, .mtime = { 1, 2 } };

	fsc_wait_init(r, p->n->fs);
	fsc_wait_begin(r);
	switch (what) {
	case OTHER_RENAMES:
		ddio_fs_rename(p->n->fs, DDIO_FS_ROOT, "a", DDIO_FS_ROOT, "d", 0, fsc_wait_done, r);
		break;
	case OTHER_CUTS:
		ddio_fs_setattr(p->n->fs, p->ino, DDIO_FS_SET_SIZE, &set, fsc_wait_done, r);
		break;
	case OTHER_DATES:
		ddio_fs_setattr(p->n->fs, p->ino, DDIO_FS_SET_MTIME, &set, fsc_wait_done, r);
		break;
	default:
		stat_by_number(p, r);
	}
}

static void cut_off_until(struct lessees *p, const struct fsc_result *other)
{
	uint64_t begin = ddio_env_now(p->w.mount[1].env[0]);

	while (!other->calls && ddio_env_now(p->w.mount[1].env[0]) - begin < 30 * FS_SEC)
		ddio_sim_run_for(p->w.dw, 100 * FS_MS);
	CU_ASSERT(other->calls && !other->err);
}

/*
 * The holder changes the file otherwise, before it is cut off and (@late) after that: these are its own changes, and all that
 * it wrote is there, unless somebody else has changed data or times meanwhile.
 */
static void changed_by_itself(void (*change)(struct lessees *p), bool late, enum others what)
{
	bool undone = what == OTHER_CUTS || what == OTHER_DATES;
	struct fsc_result other;
	struct lessees p;

	lease_begin_as(&p, 15, DDIO_FS_HARD, O_APPEND);
	put(&p);
	FS_OK(p.m, ddio_fs_sync, p.a);
	if (!late)
		change(&p);
	put(&p);
	net_set(&p, 20 * FS_SEC);
	other_begin(&p, what, &other);
	cut_off_until(&p, &other);
	slow(&p);
	if (late)
		change(&p);
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	FS_ERR(p.m, undone ? -EIO : 0, ddio_fs_sync, p.a);
	FS_OK(p.m, ddio_fs_sync, p.a);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	if (what == OTHER_CUTS)
		CU_ASSERT_EQUAL(p.n->r.attr.size, 10);
	if (what == OTHER_DATES)
		CU_ASSERT_EQUAL(p.n->r.attr.mtime.tv_sec, 1);
	if (!undone) {
		open_b(&p, O_RDONLY);
		check_b(&p);
	}
	lease_finish(&p);
}

static void changed_by_the_holder(void)
{
	size_t i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		changed_by_itself(own[i], false, OTHER_LOOKS);
		changed_by_itself(own[i], true, OTHER_LOOKS);
	}
	for (i = 0; i < OTHERS; i++) {
		changed_by_itself(own_none, false, i);
		changed_by_itself(own_xattr, false, i);
		changed_by_itself(own_xattr, true, i);
	}
}

/* Whatever the name server sends from now on takes so long. */
static void answers_take(struct lessees *p, uint64_t ns)
{
	struct ddio_sim_link net;
	uint32_t k;

	ddio_sim_link_default(&net);
	net.latency_ns = ns;
	for (k = 0; k < FS_NODE_REACTORS; k++)
		ddio_sim_set_link(p->w.names_node.env[k], &net);
}

/* The name server's answers to the first mount are lost, which hears of it again after @away. */
static void answers_lost(struct lessees *p, uint64_t away)
{
	uint32_t k;

	for (k = 0; k < FS_REACTORS; k++)
		ddio_sim_cut(p->w.mount[0].env[k]);
	answers_take(p, 0);
	ddio_sim_run_for(p->w.dw, away);
	for (k = 0; k < FS_REACTORS; k++)
		ddio_sim_rejoin(p->w.mount[0].env[k]);
}

/*
 * The answer to what a mount tells is lost, or (@recalled) the one to its returning the lease; it was told nevertheless, and is
 * told again without harm.
 */
static void answer_lost(bool recalled, uint64_t away)
{
	struct fsc_result asking, syncing;
	struct lessees p;

	lease_begin_as(&p, 16, DDIO_FS_HARD, O_APPEND);
	put(&p);
	fsc_wait_init(&asking, p.n->fs);
	fsc_wait_begin(&asking);
	fsc_wait_init(&syncing, p.m->fs);
	fsc_wait_begin(&syncing);
	if (recalled) {
		stat_by_number(&p, &asking);
		ddio_sim_run_for(p.w.dw, 3 * FS_MS / 2);
		answers_take(&p, 20 * FS_SEC);
	} else {
		answers_take(&p, 20 * FS_SEC);
		ddio_fs_sync(p.a, fsc_wait_done, &syncing);
	}
	ddio_sim_run_for(p.w.dw, 2 * FS_MS);
	CU_ASSERT_EQUAL(leases_now(&p), recalled ? 0 : 1);
	CU_ASSERT(!syncing.calls && !asking.calls);
	answers_lost(&p, away);
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	/* The other mount, which is not hard, may have been too long without an answer. */
	CU_ASSERT(recalled ? asking.calls : syncing.calls && !syncing.err);
	FS_OK(p.m, ddio_fs_sync, p.a);
	open_b(&p, O_RDONLY);
	check_b(&p);
	lease_finish(&p);
}

/*
 * The answer to what a mount tells as it returns the lease is lost, and another one has set the time before it is told again:
 * that is answered as it was the first time, and undoes nothing.
 */
static void answer_lost_and_changed(void)
{
	struct fsc_result other;
	struct lessees p;

	lease_begin_as(&p, 16, DDIO_FS_HARD, O_APPEND);
	put(&p);
	other_begin(&p, OTHER_DATES, &other);
	ddio_sim_run_for(p.w.dw, 3 * FS_MS / 2);
	answers_take(&p, 20 * FS_SEC);
	ddio_sim_run_for(p.w.dw, 2 * FS_MS);
	CU_ASSERT_EQUAL(leases_now(&p), 0);
	CU_ASSERT(!other.calls);
	answers_lost(&p, 10 * FS_MS);
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	CU_ASSERT(other.calls);
	FS_OK(p.m, ddio_fs_sync, p.a);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	CU_ASSERT_EQUAL(p.n->r.attr.size, p.at);
	CU_ASSERT_EQUAL(p.n->r.attr.mtime.tv_sec, 1);
	lease_finish(&p);
}

static void names_anew(struct lessees *p)
{
	struct fs_node dead = p->w.names_node;
	uint32_t k;

	for (k = 0; k < FS_NODE_REACTORS; k++)
		ddio_sim_orphan(dead.env[k]);
	fs_node_stop(&dead);
	ddio_sim_run_for(p->w.dw, 30 * FS_SEC);
	ddio_iop_free(dead.iop);
	fs_node_begin(&p->w, &p->w.names_node);
}

/* The same, and the name server dies before the first mount can tell it again: @first: before the other has set the time. */
static void answer_lost_over_a_restart(bool first)
{
	struct fsc_result other;
	struct lessees p;
	uint32_t k;

	lease_begin_as(&p, 16, DDIO_FS_HARD, O_APPEND);
	put(&p);
	other_begin(&p, first ? OTHER_LOOKS : OTHER_DATES, &other);
	ddio_sim_run_for(p.w.dw, 3 * FS_MS / 2);
	answers_take(&p, 20 * FS_SEC);
	ddio_sim_run_for(p.w.dw, 2 * FS_MS);
	CU_ASSERT_EQUAL(leases_now(&p), 0);
	for (k = 0; k < FS_REACTORS; k++)
		ddio_sim_cut(p.w.mount[0].env[k]);
	answers_take(&p, 0);
	ddio_sim_run_for(p.w.dw, 40 * FS_SEC);
	CU_ASSERT(other.calls);
	names_anew(&p);
	if (first) {
		ddio_sim_run_for(p.w.dw, 20 * FS_SEC);
		other_begin(&p, OTHER_DATES, &other);
		ddio_sim_run_for(p.w.dw, 40 * FS_SEC);
		CU_ASSERT(other.calls && !other.err);
		names_anew(&p);
	}
	for (k = 0; k < FS_REACTORS; k++)
		ddio_sim_rejoin(p.w.mount[0].env[k]);
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	FS_OK(p.m, ddio_fs_sync, p.a);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	CU_ASSERT_EQUAL(p.n->r.attr.size, p.at);
	CU_ASSERT_EQUAL(p.n->r.attr.mtime.tv_sec, 1);
	lease_finish(&p);
}

static void answers_are_lost_over_a_restart(void)
{
	answer_lost_over_a_restart(false);
	answer_lost_over_a_restart(true);
}

static void answers_are_lost(void)
{
	answer_lost(false, 10 * FS_MS);
	answer_lost(false, 10 * FS_SEC);
	answer_lost(true, 10 * FS_MS);
	answer_lost(true, 10 * FS_SEC);
	answer_lost_and_changed();
}

/* However long a mount goes on writing, what it has been answered is told within a second, so that its death takes no more. */
static void told_within_a_second(int flags)
{
	enum { PUTS = 16, STEP = 150 };
	uint64_t answered[PUTS];
	struct lessees p;
	int i;

	lease_begin_as(&p, 8, DDIO_FS_HARD, flags);
	for (i = 0; i < PUTS; i++) {
		put(&p);
		answered[i] = p.at;
		ddio_sim_run_for(p.w.dw, STEP * FS_MS);
	}
	/* As good as dead. */
	net_set(&p, 30 * FS_SEC);
	ddio_sim_run_for(p.w.dw, 8 * FS_SEC);
	FS_OK(p.n, ddio_fs_getattr, p.n->fs, p.ino);
	CU_ASSERT(p.n->r.attr.size >= answered[PUTS - 1 - 1200 / STEP]);
	CU_ASSERT(p.n->r.attr.size <= p.at);
	slow(&p);
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	FS_OK(p.m, ddio_fs_sync, p.a);
	lease_finish(&p);
}

static void dies_while_it_writes(void)
{
	told_within_a_second(0);
	told_within_a_second(O_APPEND);
}

static const struct ut_case cases[] = {
	{ "restart at any moment", restart_at_any_moment },
	{ "holder cut off", holder_cut_off },
	{ "stopped at any moment", stopped_at_any_moment },
	{ "changed by the holder", changed_by_the_holder },
	{ "answers are lost", answers_are_lost },
	{ "answers are lost over a restart", answers_are_lost_over_a_restart },
	{ "dies while it writes", dies_while_it_writes },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs lease lost", cases } };

	return ut_run("fs_lease_lost", suites, 1);
}
