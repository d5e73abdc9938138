// SPDX-License-Identifier: GPL-2.0-only
/*
 * Syncs that are begun before they are asked for: when, how many for nothing, and what is told if one fails or its node
 * is lost.
 */
#include <errno.h>
#include "cp/fs/data/file.h"
#include "env/disk/disk.h"
#include "tests/unit/cp/fs/fs_world.h"

enum { BLOCK = 1024 };

/**
 * struct synced - a file that has been written and synced by turns
 * @node: of its first block
 */
struct synced {
	struct fs_world w;
	struct fs_mount *m;
	struct ddio_fs_file *a;
	uint32_t node;
};

static struct ddio_disk *disk_of(struct synced *s)
{
	uint32_t disk = s->a->inode->rec.disks[0], r, d;
	struct ddio_iop *iop;

	for (s->node = 0; s->node < FS_NODES; s->node++) {
		iop = s->w.node[s->node].iop;
		for (r = 0; r < iop->nreactors; r++)
			for (d = 0; d < iop->reactors[r].ndisks; d++)
				if (iop->reactors[r].disks[d].number == disk)
					return iop->reactors[r].disks[d].disk;
	}
	abort();
}

/* Of the disk that the file's first block is on. */
static uint64_t flushes(struct synced *s)
{
	struct ddio_disk_stats stats;

	ddio_disk_stats(disk_of(s), &stats);
	return stats.flushes;
}

static void write_one(struct synced *s, uint8_t byte)
{
	uint8_t buf[100];

	memset(buf, byte, sizeof(buf));
	FS_OK(s->m, ddio_fs_write, s->a, buf, sizeof(buf), 0);
}

/* Waits as long as a sync may take, and less than until a block is written without one. */
static void rest(struct synced *s)
{
	ddio_sim_run_for(s->w.dw, FS_SEC / 10);
}

/* Writes @n times and syncs: @early flushes have come after the writes, before the sync, and @all with that. */
static void burst(struct synced *s, uint32_t n, uint64_t early, uint64_t all)
{
	uint64_t before = flushes(s);
	uint32_t i;

	for (i = 0; i < n; i++)
		write_one(s, (uint8_t)(i + 1));
	rest(s);
	CU_ASSERT_EQUAL(flushes(s) - before, early);
	FS_OK(s->m, ddio_fs_sync, s->a);
	CU_ASSERT_EQUAL(flushes(s) - before, all);
}

static void node_cut(struct synced *s, bool away)
{
	uint32_t i;

	for (i = 0; i < FS_NODE_REACTORS; i++) {
		if (away)
			ddio_sim_cut(s->w.node[s->node].env[i]);
		else
			ddio_sim_rejoin(s->w.node[s->node].env[i]);
	}
}

static void sync_begin(struct synced *s, struct fsc_result *r)
{
	fsc_wait_init(r, s->m->fs);
	fsc_wait_begin(r);
	ddio_fs_sync(s->a, fsc_wait_done, r);
}

/* A file on which syncs are expected after each write. */
static void begin(struct synced *s, uint64_t seed, uint32_t flags)
{
	struct ddio_fs_file *other;

	fs_world_begin(&s->w, seed, BLOCK, 3000);
	s->m = fs_mount(&s->w, 0, flags);
	s->a = fs_create(s->m, "a", O_RDWR);
	/* Another number, so that reactor 0 moves its data. */
	if (s->a->inode->r != &s->m->fs->reactor[0]) {
		other = s->a;
		s->a = fs_create(s->m, "b", O_RDWR);
		FS_OK(s->m, ddio_fs_file_close, other);
	}
	CU_ASSERT_PTR_EQUAL_FATAL(s->a->inode->r, &s->m->fs->reactor[0]);
	/* The block gets its place, and the mount its lease. */
	write_one(s, 0);
	FS_OK(s->m, ddio_fs_sync, s->a);
	rest(s);
	burst(s, 5, 0, 1);
	burst(s, 1, 0, 1);
	burst(s, 1, 0, 1);
	burst(s, 1, 0, 1);
}

static void end(struct synced *s)
{
	FS_OK(s->m, ddio_fs_file_close, s->a);
	fs_world_end(&s->w);
}

/* After as many writes as three times before; it asks for nothing more then. */
static void a_habit(void)
{
	struct synced s;

	begin(&s, 31, 0);
	burst(&s, 1, 1, 1);
	burst(&s, 1, 1, 1);
	/* The node expects them, too, and has heard of one that nobody asked for. */
	burst(&s, 3, 2, 3);
	burst(&s, 3, 0, 1);
	burst(&s, 3, 0, 1);
	burst(&s, 3, 1, 1);
	burst(&s, 2, 0, 1);
	burst(&s, 0, 0, 0);
	end(&s);
}

/*
 * Whatever a program does, at most one of three syncs brings a flush for nothing; and the node's own expectation, which
 * counts these as syncs, as many again for each three that it has served.
 */
static void for_nothing(void)
{
	uint32_t i, k, usual = 1, n = ut_rounds(600);
	struct synced s;
	uint64_t before, flushed;

	begin(&s, 32, 0);
	before = flushes(&s);
	for (i = 0; i < n; i++) {
		for (k = 0; k < usual; k++)
			write_one(&s, 1);
		/* As bad as it can be: once more whenever a sync is expected. */
		if (s.a->inode->syncing) {
			write_one(&s, 2);
			usual = usual % 8 + 1;
		}
		FS_OK(s.m, ddio_fs_sync, s.a);
	}
	flushed = flushes(&s) - before;
	CU_ASSERT(flushed > n + n / 5);
	/* And some for what the disk records by itself. */
	CU_ASSERT(flushed <= n + n / 3 + (n + n / 3) / 3 + 4);
	end(&s);
}

/* Of files that another reactor moves only the node expects syncs. */
static void elsewhere(void)
{
	struct ddio_fs_file *first;
	struct synced s;

	begin(&s, 33, 0);
	first = s.a;
	s.a = fs_create(s.m, "c", O_RDWR);
	CU_ASSERT_PTR_NOT_EQUAL_FATAL(s.a->inode->r, &s.m->fs->reactor[0]);
	write_one(&s, 0);
	FS_OK(s.m, ddio_fs_sync, s.a);
	burst(&s, 1, 0, 1);
	burst(&s, 1, 0, 1);
	write_one(&s, 1);
	CU_ASSERT_FALSE(s.a->inode->syncing);
	FS_OK(s.m, ddio_fs_sync, s.a);
	burst(&s, 1, 1, 1);
	FS_OK(s.m, ddio_fs_file_close, first);
	end(&s);
}

/* The disk fails to flush: whoever waits for that is told, and so is whoever comes later. */
static void it_fails(void)
{
	struct fsc_result r;
	struct synced s;

	begin(&s, 34, 0);
	disk_inject(disk_of(&s), DDIO_DISK_FLUSH, 1, -EIO);
	write_one(&s, 1);
	CU_ASSERT(s.a->inode->syncing);
	sync_begin(&s, &r);
	rest(&s);
	CU_ASSERT(r.calls == 1 && r.err == -EIO);
	FS_ERR(s.m, -EIO, ddio_fs_sync, s.a);
	end(&s);
	begin(&s, 35, 0);
	disk_inject(disk_of(&s), DDIO_DISK_FLUSH, 1, -EIO);
	write_one(&s, 1);
	rest(&s);
	CU_ASSERT(!s.a->inode->syncing);
	FS_ERR(s.m, -EIO, ddio_fs_sync, s.a);
	end(&s);
}

/*
 * A block cannot be written, neither when the node begins nor when the mount asks: whoever waits for that is told; a later sync
 * writes it again, and says how that went.
 */
static void a_block_fails(void)
{
	struct ddio_disk_stats before, after;
	struct fsc_result r;
	struct synced s;

	begin(&s, 36, 0);
	disk_inject(disk_of(&s), DDIO_DISK_WRITE, 2, -EIO);
	write_one(&s, 1);
	sync_begin(&s, &r);
	rest(&s);
	CU_ASSERT(r.calls == 1 && r.err == -EIO);
	FS_OK(s.m, ddio_fs_sync, s.a);
	/* It is a habit again. */
	burst(&s, 1, 0, 1);
	burst(&s, 1, 0, 1);
	burst(&s, 1, 0, 1);
	disk_inject(disk_of(&s), DDIO_DISK_WRITE, 2, -EIO);
	write_one(&s, 1);
	rest(&s);
	ddio_disk_stats(disk_of(&s), &before);
	FS_OK(s.m, ddio_fs_sync, s.a);
	ddio_disk_stats(disk_of(&s), &after);
	CU_ASSERT_EQUAL(after.writes - before.writes, 1);
	CU_ASSERT_EQUAL(after.flushes - before.flushes, 1);
	end(&s);
}

/* The node is restarted after the write, before what was expected has reached it: the sync says so, once. */
static void node_lost(void)
{
	struct synced s;

	begin(&s, 37, DDIO_FS_HARD);
	disk_of(&s);
	write_one(&s, 1);
	node_cut(&s, true);
	ddio_sim_run_for(s.w.dw, 10 * FS_SEC);
	s.w.node[s.node].iop->boot++;
	node_cut(&s, false);
	ddio_sim_run_for(s.w.dw, 5 * FS_SEC);
	FS_ERR(s.m, -EIO, ddio_fs_sync, s.a);
	FS_OK(s.m, ddio_fs_sync, s.a);
	end(&s);
}

/* ... or after it: nothing is lost. */
static void node_lost_later(void)
{
	struct synced s;

	begin(&s, 38, DDIO_FS_HARD);
	disk_of(&s);
	write_one(&s, 1);
	rest(&s);
	CU_ASSERT(!s.a->inode->syncing);
	node_cut(&s, true);
	ddio_sim_run_for(s.w.dw, 10 * FS_SEC);
	s.w.node[s.node].iop->boot++;
	node_cut(&s, false);
	ddio_sim_run_for(s.w.dw, 5 * FS_SEC);
	FS_OK(s.m, ddio_fs_sync, s.a);
	end(&s);
}

/* A node that does not answer keeps a sync no longer than one timeout, and neither a close nor an unmount. */
static void node_silent(void)
{
	struct fsc_result r;
	struct synced s;

	begin(&s, 39, 0);
	disk_of(&s);
	write_one(&s, 1);
	node_cut(&s, true);
	sync_begin(&s, &r);
	ddio_sim_run_for(s.w.dw, 4 * FS_SEC);
	CU_ASSERT(r.calls == 1 && r.err == -EIO);
	end(&s);
	begin(&s, 40, DDIO_FS_HARD);
	disk_of(&s);
	write_one(&s, 1);
	node_cut(&s, true);
	FS_OK(s.m, ddio_fs_file_close, s.a);
	fs_unmount(s.m);
	node_cut(&s, false);
	fs_world_end(&s.w);
}

/* While it is under way the file's inode is remembered, though nobody has it open. */
static void closed_meanwhile(void)
{
	struct synced s;
	uint64_t ino;

	begin(&s, 41, DDIO_FS_HARD);
	disk_of(&s);
	ino = s.a->inode->ino;
	write_one(&s, 1);
	node_cut(&s, true);
	FS_OK(s.m, ddio_fs_file_close, s.a);
	ddio_sim_run_for(s.w.dw, 150 * FS_SEC);
	CU_ASSERT_PTR_NOT_NULL(fsc_inode_find(s.m->fs, ino));
	node_cut(&s, false);
	ddio_sim_run_for(s.w.dw, 150 * FS_SEC);
	CU_ASSERT_PTR_NULL(fsc_inode_find(s.m->fs, ino));
	fs_world_end(&s.w);
}

static const struct ut_case cases[] = {
	{ "a habit", a_habit },
	{ "for nothing", for_nothing },
	{ "on another reactor", elsewhere },
	{ "it fails", it_fails },
	{ "a block fails", a_block_fails },
	{ "a node is lost", node_lost },
	{ "a node is lost later", node_lost_later },
	{ "a node is silent", node_silent },
	{ "closed meanwhile", closed_meanwhile },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "fs expected", cases } };

	return ut_run("fs_expected", suites, 1);
}
