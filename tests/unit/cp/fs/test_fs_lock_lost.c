// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mount that is cut off while it has a lock, of fcntl(2) or flock(2): another one gets the lock, writes, and unlocks or
 * does not.  The first neither reads nor writes on the word of the lost lock, whether it is cut off from all or from the
 * name server alone, and hears of it at its next call on the file, until it unlocks or closes the file.
 */
#include "tests/unit/cp/fs/fs_lessees.h"

enum { TIMEOUT_MS = 3000, OWNER = 5 };

/**
 * struct robbed - mount 0 has a lock, and gets cut off
 * @ino: of a file whose data are moved by reactor 1, which has no connection to the name server
 * @doubted: how often mount 0 was told that what is cached of the file may be old
 */
struct robbed {
	struct fs_world w;
	struct fs_mount *m, *n;
	struct ddio_fs_file *a, *b;
	struct ddio_fs_lock lock;
	uint64_t ino;
};

static void robbed_begin(struct robbed *p, bool flock, uint32_t flags)
{
	char name[8];
	int i;

	memset(p, 0, sizeof(*p));
	fs_world_make(&p->w, true, 3, BLOCK, TIMEOUT_MS);
	p->m = fs_mount(&p->w, 0, flags);
	p->n = fs_mount(&p->w, 1, 0);
	FS_OK(p->m, ddio_fs_setxattr, p->m->fs, DDIO_FS_ROOT, "ddio.disks", "0-3", 3, 0, false);
	for (i = 0; i < 8 && (!p->a || p->a->inode->r->index != 1); i++) {
		snprintf(name, sizeof(name), "f%d", i);
		p->a = fs_create(p->m, name, O_RDWR);
		p->ino = p->m->r.attr.ino;
	}
	CU_ASSERT_EQUAL_FATAL(p->a->inode->r->index, 1);
	FS_OK(p->m, ddio_fs_write, p->a, "aaaa", 4, 0);
	FS_OK(p->m, ddio_fs_sync, p->a);
	FS_OK(p->n, ddio_fs_file_open, p->n->fs, p->ino, O_RDWR, &p->b);
	p->lock = (struct ddio_fs_lock){
		.type = F_WRLCK, .flock = flock, .end = UINT64_MAX, .owner = OWNER
	};
	FS_OK(p->m, ddio_fs_lock_set, p->a, &p->lock, false, NULL);
	FS_OK(p->m, ddio_fs_write, p->a, "bbbb", 4, 0);
}

static void robbed_end(struct robbed *p)
{
	FS_OK(p->n, ddio_fs_file_close, p->b);
	fs_world_end(&p->w);
}

/**
 * struct cut_way - what happens to mount 0
 * @flock: the lock is one of flock(2)
 * @all: it is cut off from all nodes, else from the name server alone
 * @silent: what it sends is late, else its connections break
 * @unlocks: the other mount has unlocked before it comes back
 */
struct cut_way {
	bool flock, all, silent, unlocks;
};

static void cut(struct robbed *p, const struct cut_way *way, bool off)
{
	struct ddio_sim_link net;
	uint32_t k;

	ddio_sim_link_default(&net);
	if (off)
		net.latency_ns = 20 * FS_SEC;
	for (k = 0; k < (way->all ? FS_REACTORS : 1); k++) {
		if (way->silent)
			ddio_sim_set_link(p->m->env[k], &net);
		else if (off)
			ddio_sim_cut(p->m->env[k]);
		else
			ddio_sim_rejoin(p->m->env[k]);
	}
}

/* The other mount gets the lock when the timeout is over, and not much later. */
static void rob(struct robbed *p)
{
	uint64_t begin = ddio_env_now(p->n->env[0]), took;

	FS_OK(p->n, ddio_fs_lock_set, p->b, &p->lock, true, NULL);
	took = ddio_env_now(p->n->env[0]) - begin;
	CU_ASSERT(took <= TIMEOUT_MS * FS_MS * 3 / 2);
	FS_OK(p->n, ddio_fs_write, p->b, "cccc", 4, 0);
}

static void unlock(struct robbed *p, struct fs_mount *m, struct ddio_fs_file *file, int err)
{
	struct ddio_fs_lock none = p->lock;

	none.type = F_UNLCK;
	FS_ERR(m, err, ddio_fs_lock_set, file, &none, false, NULL);
}

/* What the owner of the lost lock does fails, whatever it is, and changes nothing. */
static void all_fails(struct robbed *p)
{
	struct ddio_fs_attr size = { .size = 1 };
	char buf[4];

	FS_ERR(p->m, -EIO, ddio_fs_write, p->a, "dddd", 4, 0);
	FS_ERR(p->m, -EIO, ddio_fs_read, p->a, buf, 4, 0);
	FS_ERR(p->m, -EIO, ddio_fs_sync, p->a);
	FS_ERR(p->m, -EIO, ddio_fs_allocate, p->a, 0, 0, 10);
	FS_ERR(p->m, -EIO, ddio_fs_copy, p->a, 0, p->a, 100, 4);
	FS_ERR(p->m, -EIO, ddio_fs_seek, p->a, 0, SEEK_DATA);
	FS_ERR(p->m, -EIO, ddio_fs_setattr, p->m->fs, p->ino, DDIO_FS_SET_SIZE, &size);
	FS_ERR(p->m, -EIO, ddio_fs_lock_set, p->a, &p->lock, false, NULL);
	FS_OK(p->n, ddio_fs_read, p->b, buf, 4, 0);
	CU_ASSERT_EQUAL(memcmp(buf, "cccc", 4), 0);
}

static void robbed(const struct cut_way *way)
{
	struct robbed p;
	char buf[4];

	robbed_begin(&p, way->flock, 0);
	cut(&p, way, true);
	rob(&p);
	/* Still cut off: it cannot know, and does not believe. */
	CU_ASSERT(FSC_WAIT(&p.m->r, ddio_fs_write, p.a, "dddd", 4, 0));
	CU_ASSERT(FSC_WAIT(&p.m->r, ddio_fs_read, p.a, buf, 4, 0));
	if (way->unlocks)
		unlock(&p, p.n, p.b, 0);
	cut(&p, way, false);
	/* What was late comes now, too. */
	ddio_sim_run_for(p.w.dw, 30 * FS_SEC);
	CU_ASSERT(p.m->doubted >= 1);
	all_fails(&p);
	unlock(&p, p.m, p.a, -EIO);
	/* That was the end of it. */
	unlock(&p, p.m, p.a, 0);
	FS_OK(p.m, ddio_fs_read, p.a, buf, 4, 0);
	CU_ASSERT_EQUAL(memcmp(buf, "cccc", 4), 0);
	if (!way->unlocks)
		unlock(&p, p.n, p.b, 0);
	FS_OK(p.m, ddio_fs_lock_set, p.a, &p.lock, false, NULL);
	FS_OK(p.m, ddio_fs_write, p.a, "eeee", 4, 0);
	FS_OK(p.m, ddio_fs_file_close, p.a);
	robbed_end(&p);
}

static void test_robbed(void)
{
	int i;

	for (i = 0; i < 16; i++)
		robbed(&(struct cut_way){ i & 1, i & 2, i & 4, i & 8 });
}

/* A close of the file by the owner of the lock ends it as well, and says so. */
static void test_closed(void)
{
	const struct cut_way way = { .all = true };
	struct robbed p;

	robbed_begin(&p, false, 0);
	cut(&p, &way, true);
	rob(&p);
	cut(&p, &way, false);
	ddio_sim_run_for(p.w.dw, 5 * FS_SEC);
	FS_ERR(p.m, -EIO, ddio_fs_unlock_owner, p.a, OWNER);
	FS_OK(p.m, ddio_fs_write, p.a, "eeee", 4, 0);
	FS_OK(p.m, ddio_fs_file_close, p.a);
	robbed_end(&p);
}

/* The name server does not answer for long, and nobody can have got the lock: a hard mount waits, and has it still. */
static void test_kept(void)
{
	struct fs_node dead;
	struct robbed p;
	char buf[4];
	uint32_t k;

	robbed_begin(&p, false, DDIO_FS_HARD);
	FS_OK(p.n, ddio_fs_file_close, p.b);
	fs_unmount(p.n);
	dead = p.w.names_node;
	for (k = 0; k < FS_NODE_REACTORS; k++)
		ddio_sim_orphan(dead.env[k]);
	fs_node_stop(&dead);
	ddio_sim_run_for(p.w.dw, 60 * FS_SEC);
	ddio_iop_free(dead.iop);
	fsc_wait_begin(&p.m->r);
	p.m->r.calls = 0;
	ddio_fs_write(p.a, "ffff", 4, 0, fsc_wait_done, &p.m->r);
	ddio_sim_run_for(p.w.dw, 20 * FS_SEC);
	CU_ASSERT_EQUAL(p.m->r.calls, 0);
	fs_node_begin(&p.w, &p.w.names_node);
	ddio_sim_run_for(p.w.dw, 20 * FS_SEC);
	CU_ASSERT(p.m->r.calls == 1 && !p.m->r.err);
	FS_OK(p.m, ddio_fs_read, p.a, buf, 4, 0);
	CU_ASSERT_EQUAL(memcmp(buf, "ffff", 4), 0);
	unlock(&p, p.m, p.a, 0);
	FS_OK(p.m, ddio_fs_file_close, p.a);
	fs_world_end(&p.w);
}

static const struct ut_case cases[] = {
	{ "a lock that another mount has had", test_robbed },
	{ "the loser closes the file", test_closed },
	{ "a lock that nobody can have had", test_kept },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "lost locks", cases } };

	return ut_run("fs_lock_lost", suites, 1);
}
