// SPDX-License-Identifier: GPL-2.0-only
/*
 * What goes wrong while the file system's client is at work: connections are lost at every message, before
 * or after it was carried out; the name server restarts; nodes do not answer, for a while or for ever; the file
 * system ends in the middle.  Every request gets exactly one reply, and nothing is done twice.
 */
#include "tests/unit/cp/fs/fs_world.h"
#include "iop/server/priv.h"
#include "userlib/cp/fs/inode/inode.h"

enum { BLOCK = 1024, LEN = 6 * BLOCK + 11 };

/* All kinds of requests, one after another, and what must be true afterwards. */
static void a_day(struct fs_world *w, struct fs_mount *m)
{
	struct ddio_fs_new dir = { .mode = S_IFDIR | 0755 };
	struct ddio_fs_lock lock = { .type = F_WRLCK, .end = 9, .owner = 5 };
	struct ddio_fs_file *a, *b, *c = NULL;
	uint8_t buf[LEN], want[LEN];
	uint64_t ino, i;

	a = fs_create(m, "a", O_RDWR | O_EXCL);
	if (!a)
		return;
	ino = m->r.attr.ino;
	b = fs_create(m, "b", O_RDWR | O_APPEND | O_EXCL);
	if (!b)
		return;
	FS_OK(m, ddio_fs_make, m->fs, DDIO_FS_ROOT, "d", &dir);
	fs_fill(want, LEN, 1, 0);
	FS_OK(m, ddio_fs_write, a, want, LEN, 0);
	FS_OK(m, ddio_fs_lock_set, a, &lock, false, NULL);
	for (i = 0; i < 5; i++)
		FS_OK(m, ddio_fs_write, b, want + 100 * i, 100, 0);
	FS_OK(m, ddio_fs_link, m->fs, ino, DDIO_FS_ROOT, "l");
	CU_ASSERT_EQUAL(m->r.attr.nlink, 2);
	FS_OK(m, ddio_fs_rename, m->fs, DDIO_FS_ROOT, "l", DDIO_FS_ROOT, "n", 0);
	memset(buf, 0, LEN);
	FS_OK(m, ddio_fs_read, a, buf, LEN, 0);
	CU_ASSERT_EQUAL(m->r.value, LEN);
	CU_ASSERT_EQUAL(memcmp(buf, want, LEN), 0);
	FS_OK(m, ddio_fs_sync, a);
	FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "a");
	FS_OK(m, ddio_fs_getattr, m->fs, ino);
	CU_ASSERT_EQUAL(m->r.attr.nlink, 1);
	CU_ASSERT_EQUAL(m->r.attr.size, LEN);
	FS_OK(m, ddio_fs_file_open, m->fs, ino, O_RDONLY, &c);
	FS_OK(m, ddio_fs_unlink, m->fs, DDIO_FS_ROOT, "n");
	if (c)
		FS_OK(m, ddio_fs_file_close, c);
	FS_OK(m, ddio_fs_read, a, buf, LEN, 0);
	CU_ASSERT_EQUAL(memcmp(buf, want, LEN), 0);
	FS_OK(m, ddio_fs_file_close, a);
	FS_OK(m, ddio_fs_read, b, buf, LEN, 0);
	CU_ASSERT_EQUAL(m->r.value, 500);
	CU_ASSERT_EQUAL(memcmp(buf, want, 500), 0);
	FS_OK(m, ddio_fs_file_close, b);
	CU_ASSERT_EQUAL(w->names.inode[ino].open, false);
}

/* Checks what the name server has seen of it. */
static void the_evening(struct fs_world *w)
{
	ddio_sim_run_for(w->dw, 5 * FS_SEC);
	CU_ASSERT_EQUAL(w->names.executed, 3 + 1 + 1 + 2 + 5);
	CU_ASSERT_EQUAL(w->names.gone, 1);
	CU_ASSERT(!w->names.inode[2].used);
	CU_ASSERT_EQUAL(w->names.inode[3].attr.size, 500);
}

enum fault_how { BEFORE, AFTER, REBORN, HOWS };

static bool lost_at(uint64_t n, enum fault_how how)
{
	struct fs_world w;
	struct fs_mount *m;
	uint32_t calls;
	bool reached;

	fs_world_begin(&w, n, BLOCK, 3000);
	w.names.lose_at = n;
	w.names.late = how == AFTER;
	w.names.reborn_at = how == REBORN ? n : 0;
	m = fs_mount(&w, 0, 0);
	a_day(&w, m);
	calls = m->r.calls;
	reached = w.names.messages >= n;
	if (!reached)
		CU_ASSERT_EQUAL(w.names.repeated, 0);
	the_evening(&w);
	/* No call ended twice. */
	CU_ASSERT_EQUAL(m->r.calls, calls);
	fs_world_end(&w);
	return reached;
}

static void every_message(enum fault_how how)
{
	uint64_t n, fails;

	for (n = 1; n < 500; n += ut_stride(4)) {
		fails = CU_get_number_of_failures();
		if (!lost_at(n, how))
			break;
		if (CU_get_number_of_failures() != fails) {
			fprintf(stderr, "at message %llu, how %d\n", (unsigned long long)n, how);
			break;
		}
	}
	CU_ASSERT(n > 25 && n < 500);
}

static void lost_before(void)
{
	every_message(BEFORE);
}

static void lost_after(void)
{
	every_message(AFTER);
}

static void started_anew(void)
{
	every_message(REBORN);
}

/* Connections to the disks break in the middle of messages. */
static void disks_lost(void)
{
	struct ddio_sim_link net;
	struct fs_world w;
	struct fs_mount *m;
	uint64_t at, fails;
	uint32_t k;

	for (at = 1; at < 9000; at += 97 * ut_stride(6)) {
		fails = CU_get_number_of_failures();
		fs_world_begin(&w, at, BLOCK, 3000);
		m = fs_mount(&w, 0, 0);
		ddio_sim_link_default(&net);
		net.break_after = at;
		k = at % 4;
		ddio_sim_set_link(at & 1 ? w.node[k / 2].env[k % 2] : m->env[k % 2], &net);
		a_day(&w, m);
		the_evening(&w);
		fs_world_end(&w);
		if (CU_get_number_of_failures() != fails) {
			fprintf(stderr, "at byte %llu\n", (unsigned long long)at);
			break;
		}
	}
}

/* A node with data never answers again: after the timeout requests for its data fail, and no others. */
static void node_dead(void)
{
	struct ddio_fs_file *a;
	struct fs_world w;
	struct fs_mount *m;
	uint8_t buf[BLOCK] = { 1 };
	uint64_t t, i;

	fs_world_begin(&w, 1, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	a = fs_create(m, "a", O_RDWR);
	for (i = 0; i < 4; i++)
		FS_OK(m, ddio_fs_write, a, buf, BLOCK, i * BLOCK);
	for (i = 0; i < FS_NODE_REACTORS; i++)
		ddio_sim_cut(w.node[0].env[i]);
	t = ddio_sim_elapsed(w.dw);
	FS_ERR(m, -EIO, ddio_fs_read, a, buf, BLOCK, 0);
	CU_ASSERT(ddio_sim_elapsed(w.dw) - t >= 2900 * FS_MS);
	CU_ASSERT(ddio_sim_elapsed(w.dw) - t <= 5 * FS_SEC);
	CU_ASSERT(m->r.text[0] != '\0');
	FS_OK(m, ddio_fs_read, a, buf, BLOCK, BLOCK);
	/* It is known to be away: no second wait. */
	t = ddio_sim_elapsed(w.dw);
	FS_ERR(m, -EIO, ddio_fs_write, a, buf, BLOCK, 2 * BLOCK);
	CU_ASSERT(ddio_sim_elapsed(w.dw) - t <= FS_SEC);
	FS_OK(m, ddio_fs_getattr, m->fs, 2);
	CU_ASSERT_EQUAL(m->r.attr.size, 4 * BLOCK);
	/* Back: all is well. */
	for (i = 0; i < FS_NODE_REACTORS; i++)
		ddio_sim_rejoin(w.node[0].env[i]);
	FS_OK(m, ddio_fs_read, a, buf, BLOCK, 0);
	FS_OK(m, ddio_fs_write, a, buf, BLOCK, 2 * BLOCK);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

/*
 * A node does not answer while the mount is stopped for much longer than the timeout, and a moment longer:
 * the mount's own stop is none of the node's silence, so that nothing fails.  A node that stays away
 * is given up after as much time as ever.
 */
static void stopped_while_a_node_is_away(bool names, bool back)
{
	struct fs_stop stop[FS_REACTORS];
	struct ddio_fs_file *a;
	struct fs_node *node;
	struct fs_world w;
	struct fs_mount *m;
	uint8_t buf[BLOCK] = { 1 };
	uint64_t t, i;
	uint32_t calls;

	fs_world_make(&w, true, 5, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	FS_OK(m, ddio_fs_setxattr, m->fs, DDIO_FS_ROOT, "ddio.disks", "0", 1, 0, false);
	a = fs_create(m, "a", O_RDWR);
	FS_OK(m, ddio_fs_write, a, buf, BLOCK, 0);
	fs_stopping(&w);
	node = names ? &w.names_node : &w.node[0];
	for (i = 0; i < FS_NODE_REACTORS; i++)
		ddio_sim_cut(node->env[i]);
	calls = m->r.calls;
	fsc_wait_begin(&m->r);
	if (names)
		ddio_fs_lookup(m->fs, DDIO_FS_ROOT, "a", fsc_wait_done, &m->r);
	else
		ddio_fs_read(a, buf, BLOCK, 0, fsc_wait_done, &m->r);
	ddio_sim_run_for(w.dw, 100 * FS_MS);
	fs_mount_stop(m, stop, 60000);
	ddio_sim_run_for(w.dw, FS_MS);
	CU_ASSERT_EQUAL(m->r.calls, calls);
	t = ddio_sim_elapsed(w.dw);
	/* The mount goes on, and finds the node still away. */
	if (back)
		ddio_sim_run_for(w.dw, 60 * FS_SEC + FS_SEC / 2);
	for (i = 0; back && i < FS_NODE_REACTORS; i++)
		ddio_sim_rejoin(node->env[i]);
	ddio_gate_wait(m->r.env, &m->r.gate, 0);
	CU_ASSERT_EQUAL(m->r.err, back ? 0 : -EIO);
	CU_ASSERT(back || ddio_sim_elapsed(w.dw) - t <= 65 * FS_SEC);
	for (i = 0; !back && i < FS_NODE_REACTORS; i++)
		ddio_sim_rejoin(node->env[i]);
	ddio_sim_run_for(w.dw, 10 * FS_SEC);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

static void stopped_while_away(void)
{
	stopped_while_a_node_is_away(false, true);
	stopped_while_a_node_is_away(true, true);
	stopped_while_a_node_is_away(false, false);
	stopped_while_a_node_is_away(true, false);
}

/* With DDIO_FS_HARD there is no error; the request ends when the node is back. */
static void node_away(void)
{
	struct ddio_fs_file *a;
	struct fsc_result r;
	struct fs_world w;
	struct fs_mount *m;
	uint8_t buf[4 * BLOCK], want[4 * BLOCK];
	uint32_t i;

	fs_world_begin(&w, 2, BLOCK, 3000);
	m = fs_mount(&w, 0, DDIO_FS_HARD);
	fsc_wait_init(&r, m->fs);
	a = fs_create(m, "a", O_RDWR);
	fs_fill(want, sizeof(want), 3, 0);
	for (i = 0; i < FS_NODE_REACTORS; i++)
		ddio_sim_cut(w.node[1].env[i]);
	fsc_wait_begin(&r);
	ddio_fs_write(a, want, sizeof(want), 0, fsc_wait_done, &r);
	ddio_sim_run_for(w.dw, 100 * FS_SEC);
	CU_ASSERT_EQUAL(r.calls, 0);
	for (i = 0; i < FS_NODE_REACTORS; i++)
		ddio_sim_rejoin(w.node[1].env[i]);
	ddio_sim_run_for(w.dw, 5 * FS_SEC);
	CU_ASSERT_EQUAL(r.calls, 1);
	CU_ASSERT_EQUAL(r.err, 0);
	FS_OK(m, ddio_fs_read, a, buf, sizeof(buf), 0);
	CU_ASSERT_EQUAL(memcmp(buf, want, sizeof(buf)), 0);
	/* The same for names. */
	fake_stop(&w.names);
	fsc_wait_begin(&r);
	ddio_fs_lookup(m->fs, DDIO_FS_ROOT, "a", fsc_wait_done, &r);
	ddio_sim_run_for(w.dw, 100 * FS_SEC);
	CU_ASSERT_EQUAL(r.calls, 1);
	fake_listen(&w.names);
	ddio_sim_run_for(w.dw, 5 * FS_SEC);
	CU_ASSERT_EQUAL(r.calls, 2);
	CU_ASSERT_EQUAL(r.err, 0);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

/* The name server does not answer for a while: requests fail after the timeout, and succeed later. */
static void names_dead(void)
{
	struct ddio_fs_file *a;
	struct fs_world w;
	struct fs_mount *m;
	char err[600] = "";
	uint8_t buf[10] = { 0 };
	uint64_t t;

	fs_world_begin(&w, 3, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	a = fs_create(m, "a", O_RDWR);
	FS_OK(m, ddio_fs_write, a, buf, 10, 0);
	fake_stop(&w.names);
	t = ddio_sim_elapsed(w.dw);
	FS_ERR(m, -EIO, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "a");
	CU_ASSERT(ddio_sim_elapsed(w.dw) - t >= 2900 * FS_MS);
	CU_ASSERT(ddio_sim_elapsed(w.dw) - t <= 5 * FS_SEC);
	t = ddio_sim_elapsed(w.dw);
	FS_ERR(m, -EIO, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "a");
	CU_ASSERT(ddio_sim_elapsed(w.dw) - t <= 2 * FS_SEC);
	t = ddio_sim_elapsed(w.dw);
	CU_ASSERT_EQUAL(fs_mount_try(&w, 1, DDIO_FS_HARD, err, sizeof(err)), -EIO);
	CU_ASSERT(ddio_sim_elapsed(w.dw) - t <= 5 * FS_SEC);
	err[0] = '\0';
	CU_ASSERT_EQUAL(fs_mount_try(&w, 1, 0, err, sizeof(err)), -EIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(err, "names"));
	fake_listen(&w.names);
	ddio_sim_run_for(w.dw, 2 * FS_SEC);
	FS_OK(m, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "a");
	FS_OK(m, ddio_fs_file_close, a);
	/* It is there but does not answer. */
	w.names.deaf = true;
	t = ddio_sim_elapsed(w.dw);
	FS_ERR(m, -EIO, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "a");
	CU_ASSERT(ddio_sim_elapsed(w.dw) - t <= 8 * FS_SEC);
	w.names.deaf = false;
	ddio_sim_run_for(w.dw, 4 * FS_SEC);
	FS_OK(m, ddio_fs_lookup, m->fs, DDIO_FS_ROOT, "a");
	fs_world_end(&w);
}

/* A restarted name server is told what is open and locked even if there are no requests. */
static void told_again(void)
{
	struct ddio_fs_lock lock = { .type = F_RDLCK, .end = 9, .owner = 5 };
	struct ddio_fs_file *a, *b;
	struct fs_world w;
	struct fs_mount *m;

	fs_world_begin(&w, 4, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	a = fs_create(m, "a", O_RDWR);
	b = fs_create(m, "b", O_RDWR);
	FS_OK(m, ddio_fs_lock_set, a, &lock, false, NULL);
	FS_OK(m, ddio_fs_file_close, b);
	fake_reborn(&w.names);
	ddio_sim_run_for(w.dw, 3 * FS_SEC);
	CU_ASSERT_EQUAL(w.names.told, 2);
	CU_ASSERT(w.names.known);
	CU_ASSERT(w.names.inode[2].open);
	CU_ASSERT(!w.names.inode[3].open);
	CU_ASSERT_EQUAL(w.names.lock[2].type, DDIO_FS_LOCK_READ);
	/* A file that is gone meanwhile: whoever has it open gets an error. */
	fake_stop(&w.names);
	w.names.inode[2].used = false;
	w.names.known = false;
	fake_listen(&w.names);
	ddio_sim_run_for(w.dw, 3 * FS_SEC);
	FS_ERR(m, -ESTALE, ddio_fs_write, a, "x", 1, 0);
	w.names.inode[2].used = true;
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

/* The file system ends while requests are under way: each of them ends, once. */
static void ends_amid(void)
{
	struct ddio_fs_file *a;
	struct fsc_result r[40];
	struct fs_world w;
	struct fs_mount *m;
	uint8_t buf[8 * BLOCK] = { 0 };
	uint64_t step, i;
	bool cut;

	for (step = 0; step < 24; step++) {
		cut = step % 3 == 0;
		fs_world_begin(&w, step, BLOCK, 3000);
		m = fs_mount(&w, 0, step & 1 ? DDIO_FS_HARD : 0);
		a = fs_create(m, "a", O_RDWR);
		FS_OK(m, ddio_fs_write, a, buf, sizeof(buf), 0);
		if (cut)
			ddio_sim_cut(w.node[0].env[0]);
		if (step % 4 == 1)
			fake_stop(&w.names);
		for (i = 0; i < 40; i++) {
			fsc_wait_init(&r[i], m->fs);
			fsc_wait_begin(&r[i]);
			if (i % 4 == 0)
				ddio_fs_read(a, buf, sizeof(buf), 0, fsc_wait_done, &r[i]);
			else if (i % 4 == 1)
				ddio_fs_lookup(m->fs, DDIO_FS_ROOT, "a", fsc_wait_done, &r[i]);
			else if (i % 4 == 2)
				ddio_fs_write(a, buf, 100, i * 500, fsc_wait_done, &r[i]);
			else
				ddio_fs_getattr(m->fs, 2, fsc_wait_done, &r[i]);
		}
		ddio_sim_run_for(w.dw, step * 3000);
		fs_unmount(m);
		for (i = 0; i < 40; i++) {
			CU_ASSERT_EQUAL(r[i].calls, 1);
			CU_ASSERT(!r[i].err || r[i].err == -ESHUTDOWN);
		}
		fs_world_end(&w);
	}
}

static void node_cut(struct fs_world *w, uint32_t node, bool away)
{
	uint32_t i;

	for (i = 0; i < FS_NODE_REACTORS; i++) {
		if (away)
			ddio_sim_cut(w->node[node].env[i]);
		else
			ddio_sim_rejoin(w->node[node].env[i]);
	}
}

/* A read asks for its data and for the size at once: both fail, and the caller gets one of the texts. */
static void all_dead(void)
{
	struct ddio_fs_file *a;
	struct fs_world w;
	struct fs_mount *m;
	uint8_t buf[6 * BLOCK] = { 1 };

	fs_world_begin(&w, 10, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	a = fs_create(m, "a", O_RDWR);
	FS_OK(m, ddio_fs_write, a, buf, 4 * BLOCK, 0);
	node_cut(&w, 0, true);
	node_cut(&w, 1, true);
	FS_ERR(m, -EIO, ddio_fs_read, a, buf, 2 * BLOCK, 0);
	/* The nodes are known to be away now, so the data fail first; the size was asked for a moment ago. */
	FS_OK(m, ddio_fs_read, a, buf, BLOCK, 4 * BLOCK);
	fake_stop(&w.names);
	FS_ERR(m, -EIO, ddio_fs_read, a, buf, sizeof(buf), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(m->r.text, "node io"));
	node_cut(&w, 0, false);
	node_cut(&w, 1, false);
	fake_listen(&w.names);
	ddio_sim_run_for(w.dw, 2 * FS_SEC);
	FS_OK(m, ddio_fs_read, a, buf, sizeof(buf), 0);
	CU_ASSERT_EQUAL(m->r.value, 4 * BLOCK);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

/* Stops a node for so long that connections to it are given up; to others it is another incarnation then. */
static void node_reborn(struct fs_world *w, struct fs_mount *m, struct ddio_fs_file *a,
			uint32_t node)
{
	uint8_t buf[BLOCK];
	struct fsc_result r;

	fsc_wait_init(&r, m->fs);
	fsc_wait_begin(&r);
	node_cut(w, node, true);
	ddio_fs_read(a, buf, BLOCK, (node + 2) * BLOCK, fsc_wait_done, &r);
	ddio_sim_run_for(w->dw, 10 * FS_SEC);
	CU_ASSERT_EQUAL(r.calls, 0);
	w->node[node].iop->boot++;
	node_cut(w, node, false);
	ddio_sim_run_for(w->dw, 5 * FS_SEC);
	CU_ASSERT_EQUAL(r.calls, 1);
}

/* One node takes its part of a write and restarts before the other one answers: what it took is lost. */
static void reborn_amid_a_write(void)
{
	struct ddio_fs_file *a;
	struct fsc_result r;
	struct fs_world w;
	struct fs_mount *m;
	uint8_t buf[4 * BLOCK] = { 1 };

	fs_world_begin(&w, 5, BLOCK, 3000);
	m = fs_mount(&w, 0, DDIO_FS_HARD);
	a = fs_create(m, "a", O_RDWR);
	FS_OK(m, ddio_fs_write, a, buf, sizeof(buf), 0);
	FS_OK(m, ddio_fs_sync, a);
	fsc_wait_init(&r, m->fs);
	fsc_wait_begin(&r);
	node_cut(&w, 1, true);
	ddio_fs_write(a, buf, 2 * BLOCK, 0, fsc_wait_done, &r);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_EQUAL(r.calls, 0);
	node_reborn(&w, m, a, 0);
	CU_ASSERT_EQUAL(r.calls, 0);
	node_cut(&w, 1, false);
	ddio_sim_run_for(w.dw, 5 * FS_SEC);
	CU_ASSERT_EQUAL(r.calls, 1);
	CU_ASSERT_EQUAL(r.err, 0);
	FS_ERR(m, -EIO, ddio_fs_sync, a);
	FS_OK(m, ddio_fs_sync, a);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

/* A node that has lost something answers a sync, and is down again when the other one answers. */
static void reborn_amid_a_sync(void)
{
	struct ddio_fs_file *a;
	struct fsc_result r, r2;
	struct fs_world w;
	struct fs_mount *m;
	uint8_t buf[4 * BLOCK] = { 1 };

	fs_world_begin(&w, 6, BLOCK, 3000);
	m = fs_mount(&w, 0, DDIO_FS_HARD);
	a = fs_create(m, "a", O_RDWR);
	FS_OK(m, ddio_fs_write, a, buf, sizeof(buf), 0);
	node_reborn(&w, m, a, 0);
	fsc_wait_init(&r, m->fs);
	fsc_wait_begin(&r);
	fsc_wait_init(&r2, m->fs);
	fsc_wait_begin(&r2);
	node_cut(&w, 1, true);
	ddio_fs_sync(a, fsc_wait_done, &r);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT_EQUAL(r.calls, 0);
	node_cut(&w, 0, true);
	ddio_fs_read(a, buf, BLOCK, 0, fsc_wait_done, &r2);
	ddio_sim_run_for(w.dw, 10 * FS_SEC);
	node_cut(&w, 1, false);
	ddio_sim_run_for(w.dw, 5 * FS_SEC);
	CU_ASSERT_EQUAL(r.calls, 1);
	CU_ASSERT_EQUAL(r.err, -EIO);
	node_cut(&w, 0, false);
	ddio_sim_run_for(w.dw, 5 * FS_SEC);
	CU_ASSERT_EQUAL(r2.calls, 1);
	FS_OK(m, ddio_fs_sync, a);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

static void ended_post(void *arg)
{
	server_ended_say(arg);
}

/* At its shutdown it says that nothing is lost; what a later incarnation took is another matter. */
static void node_ended(struct fs_world *w, struct fs_mount *m, struct ddio_fs_file *a,
		       uint32_t node)
{
	struct server *server = server_of(w->node[node].iop);
	struct ddio_post post[FS_NODE_REACTORS];
	uint32_t i;

	for (i = 0; i < FS_NODE_REACTORS; i++) {
		post[i] = (struct ddio_post){ .fn = ended_post, .arg = &server->per[i] };
		ddio_env_post(w->node[node].env[i], &post[i]);
	}
	ddio_sim_run_for(w->dw, FS_SEC);
	node_reborn(w, m, a, node);
}

static void ended_in_order(void)
{
	struct ddio_fs_file *a;
	struct fs_world w;
	struct fs_mount *m;
	uint8_t buf[4 * BLOCK] = { 1 };

	fs_world_begin(&w, 9, BLOCK, 3000);
	m = fs_mount(&w, 0, DDIO_FS_HARD);
	a = fs_create(m, "a", O_RDWR);
	FS_OK(m, ddio_fs_write, a, buf, sizeof(buf), 0);
	node_ended(&w, m, a, 0);
	FS_OK(m, ddio_fs_sync, a);
	/* Several times, and each node. */
	FS_OK(m, ddio_fs_write, a, buf, sizeof(buf), 0);
	node_ended(&w, m, a, 1);
	node_ended(&w, m, a, 0);
	node_ended(&w, m, a, 1);
	FS_OK(m, ddio_fs_sync, a);
	/* The incarnation that took the write counts, not the one before. */
	node_ended(&w, m, a, 0);
	FS_OK(m, ddio_fs_write, a, buf, sizeof(buf), 0);
	node_reborn(&w, m, a, 0);
	FS_ERR(m, -EIO, ddio_fs_sync, a);
	FS_OK(m, ddio_fs_sync, a);
	/* The first of two that took writes has kept them, the second has not. */
	FS_OK(m, ddio_fs_write, a, buf, sizeof(buf), 0);
	node_ended(&w, m, a, 0);
	FS_OK(m, ddio_fs_write, a, buf, sizeof(buf), 0);
	node_reborn(&w, m, a, 0);
	FS_ERR(m, -EIO, ddio_fs_sync, a);
	FS_OK(m, ddio_fs_sync, a);
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

/* What one sync is still making durable is not durable for the next one. */
static void a_sync_amid_a_sync(void)
{
	struct fsc_result r[5];
	struct ddio_fs_file *a;
	struct fs_world w;
	struct fs_mount *m;
	uint8_t buf[4 * BLOCK] = { 1 };
	uint32_t i;

	fs_world_begin(&w, 8, BLOCK, 3000);
	m = fs_mount(&w, 0, DDIO_FS_HARD);
	a = fs_create(m, "a", O_RDWR);
	FS_OK(m, ddio_fs_write, a, buf, sizeof(buf), 0);
	node_cut(&w, 1, true);
	for (i = 0; i < 5; i++) {
		fsc_wait_init(&r[i], m->fs);
		fsc_wait_begin(&r[i]);
		ddio_fs_sync(a, fsc_wait_done, &r[i]);
		ddio_sim_run_for(w.dw, FS_SEC);
	}
	for (i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(r[i].calls, 0);
	node_cut(&w, 1, false);
	ddio_sim_run_for(w.dw, 5 * FS_SEC);
	for (i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(r[i].calls, 1);
		CU_ASSERT_EQUAL(r[i].err, 0);
	}
	FS_OK(m, ddio_fs_file_close, a);
	fs_world_end(&w);
}

/* Asks something else every quarter of a second, so that the connection is never silent; until @r, or @ns are over. */
static void busy_until(struct fs_world *w, struct fs_mount *m, const struct fsc_result *r,
		       uint64_t ns)
{
	uint64_t t = ddio_sim_elapsed(w->dw);

	while (!r->calls && ddio_sim_elapsed(w->dw) - t < ns) {
		FS_OK(m, ddio_fs_getattr, m->fs, DDIO_FS_ROOT);
		ddio_sim_run_for(w->dw, FS_SEC / 4);
	}
}

/*
 * One answer is lost, the connection lives, and others get theirs.  It is noticed within the timeout, and the change
 * is asked for again, not made again.
 */
static void answer_lost(void)
{
	static const struct ddio_fs_new dir = { .mode = S_IFDIR | 0755 };
	struct fsc_result r;
	struct fs_world w;
	struct fs_mount *m;
	uint32_t hard, attaches;

	for (hard = 0; hard < 2; hard++) {
		fs_world_begin(&w, 4, BLOCK, 3000);
		m = fs_mount(&w, 0, hard ? DDIO_FS_HARD : 0);
		fsc_wait_init(&r, m->fs);
		fsc_wait_begin(&r);
		attaches = w.names.attaches;
		w.names.lose = DDIO_OP_FS_MAKE;
		ddio_fs_make(m->fs, DDIO_FS_ROOT, "a", &dir, fsc_wait_done, &r);
		busy_until(&w, m, &r, 3 * FS_SEC);
		CU_ASSERT_EQUAL(w.names.lost, 1);
		CU_ASSERT_EQUAL(r.calls, 1);
		CU_ASSERT_EQUAL(r.err, 0);
		CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_MAKE], 2);
		CU_ASSERT_EQUAL(w.names.executed, 1);
		CU_ASSERT_EQUAL(w.names.repeated, 1);
		CU_ASSERT_EQUAL(w.names.attaches, attaches + 1);
		fs_world_end(&w);
	}
}

/* What takes ten times the timeout is asked about, and neither repeated nor ended. */
static void answer_late(void)
{
	static const struct ddio_fs_new dir = { .mode = S_IFDIR | 0755 };
	struct fsc_result r;
	struct fs_world w;
	struct fs_mount *m;
	uint32_t attaches;

	fs_world_begin(&w, 4, BLOCK, 3000);
	m = fs_mount(&w, 0, 0);
	fsc_wait_init(&r, m->fs);
	fsc_wait_begin(&r);
	attaches = w.names.attaches;
	w.names.hold = DDIO_OP_FS_MAKE;
	ddio_fs_make(m->fs, DDIO_FS_ROOT, "a", &dir, fsc_wait_done, &r);
	busy_until(&w, m, &r, 30 * FS_SEC);
	CU_ASSERT_EQUAL(r.calls, 0);
	CU_ASSERT(w.names.count[DDIO_OP_OWED] >= 10 && w.names.count[DDIO_OP_OWED] <= 30);
	fake_let_go(&w.names);
	ddio_sim_run_for(w.dw, FS_SEC);
	CU_ASSERT(r.calls == 1 && !r.err);
	CU_ASSERT_EQUAL(w.names.count[DDIO_OP_FS_MAKE], 1);
	CU_ASSERT_EQUAL(w.names.attaches, attaches);
	fs_world_end(&w);
}

static const struct ut_case cases[] = {
	{ "an answer is lost", answer_lost },
	{ "an answer is late", answer_late },
	{ "lost before it was done", lost_before },
	{ "lost after it was done", lost_after },
	{ "started anew", started_anew },
	{ "connections to disks lost", disks_lost },
	{ "node dead", node_dead },
	{ "stopped while a node does not answer", stopped_while_away },
	{ "node away", node_away },
	{ "names dead", names_dead },
	{ "all dead", all_dead },
	{ "told again", told_again },
	{ "ends amid", ends_amid },
	{ "reborn amid a write", reborn_amid_a_write },
	{ "reborn amid a sync", reborn_amid_a_sync },
	{ "ended in order", ended_in_order },
	{ "a sync amid a sync", a_sync_amid_a_sync },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs faults", cases } };

	return ut_run("fs_faults", suites, 1);
}
