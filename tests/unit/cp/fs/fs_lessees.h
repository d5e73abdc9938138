/* SPDX-License-Identifier: GPL-2.0-only */
/* Two mounts of which one has the lease of a file, and the other looks, cuts and appends. */
#ifndef FS_LESSEES_H
#define FS_LESSEES_H

#include "cp/fs/data/file.h"
#include "cp/fs/inode/inode.h"
#include "tests/unit/cp/fs/fs_world.h"

enum { BLOCK = 1024, PIECE = 100, PIECES = 12 };

/* Two mounts; the first one has the file "a" open, and, after lease_begin(), its lease. */
struct lessees {
	struct fs_world w;
	struct fs_mount *m, *n;
	struct ddio_fs_file *a, *b;
	uint64_t ino, at;
	uint8_t want[PIECE * (PIECES + 8)];
};

static inline uint64_t names_requests(const struct lessees *p)
{
	return p->w.names_node.iop->reactors[0].requests;
}

static inline uint64_t leases_now(const struct lessees *p)
{
	return p->w.names_node.iop->leases.files.n;
}

static inline void slow(struct lessees *p)
{
	struct ddio_sim_link net;
	uint32_t i, k;

	ddio_sim_link_default(&net);
	net.latency_ns = FS_MS;
	for (i = 0; i < 2; i++)
		for (k = 0; k < FS_REACTORS; k++)
			ddio_sim_set_link(p->w.mount[i].env[k], &net);
}

/* Messages take no time again. */
static inline void fast(struct lessees *p)
{
	struct ddio_sim_link net;
	uint32_t i, k;

	ddio_sim_link_default(&net);
	for (i = 0; i < 2; i++)
		for (k = 0; k < FS_REACTORS; k++)
			ddio_sim_set_link(p->w.mount[i].env[k], &net);
}

static inline void put(struct lessees *p)
{
	FS_OK(p->m, ddio_fs_write, p->a, p->want + p->at, PIECE, p->at);
	p->at += PIECE;
}

/* Has the mount meet all nodes, which asks the name server, too. */
static inline void warm_up(struct lessees *p)
{
	static const uint8_t zeros[16 * BLOCK];
	struct ddio_fs_file *file = fs_create(p->m, "warm", O_RDWR);

	FS_OK(p->m, ddio_fs_write, file, zeros, sizeof(zeros), 0);
	FS_OK(p->m, ddio_fs_file_close, file);
}

/* Creates a file, and writes until the mount has its lease. */
static inline void lease_take(struct lessees *p, const char *name, int flags)
{
	int i;

	p->at = 0;
	p->a = fs_create(p->m, name, O_RDWR | flags);
	p->ino = p->m->r.attr.ino;
	slow(p);
	for (i = 0; i < 4; i++) {
		put(p);
		ddio_sim_run_for(p->w.dw, 10 * FS_MS);
	}
	CU_ASSERT_EQUAL(leases_now(p), 1);
}

static inline void lease_begin_as(struct lessees *p, uint64_t seed, uint32_t mount, int flags)
{
	memset(p, 0, sizeof(*p));
	fs_world_make(&p->w, true, seed, BLOCK, 3000);
	p->m = fs_mount(&p->w, 0, mount);
	p->n = fs_mount(&p->w, 1, 0);
	/* Data lie on disks of other nodes than the name server. */
	FS_OK(p->m, ddio_fs_setxattr, p->m->fs, DDIO_FS_ROOT, "ddio.disks", "0-3", 3, 0, false);
	fs_fill(p->want, sizeof(p->want), seed, 0);
	warm_up(p);
	lease_take(p, "a", flags);
}

static inline void lease_begin(struct lessees *p, uint64_t seed, int flags)
{
	lease_begin_as(p, seed, 0, flags);
}

static inline void lease_finish(struct lessees *p)
{
	if (p->a)
		FS_OK(p->m, ddio_fs_file_close, p->a);
	if (p->b)
		FS_OK(p->n, ddio_fs_file_close, p->b);
	CU_ASSERT_EQUAL(leases_now(p), 0);
	fs_world_end(&p->w);
}

static inline void open_b(struct lessees *p, int flags)
{
	FS_OK(p->n, ddio_fs_file_open, p->n->fs, p->ino, flags, &p->b);
	CU_ASSERT_EQUAL(p->n->r.attr.size, p->at);
}

static inline void check_b(struct lessees *p)
{
	static uint8_t buf[sizeof(p->want)];

	FS_OK(p->n, ddio_fs_read, p->b, buf, sizeof(buf), 0);
	CU_ASSERT_EQUAL(p->n->r.value, p->at);
	CU_ASSERT_EQUAL(memcmp(buf, p->want, p->at), 0);
}

static inline void stat_by_number(struct lessees *p, struct fsc_result *r)
{
	ddio_fs_getattr(p->n->fs, p->ino, fsc_wait_done, r);
}

#endif /* FS_LESSEES_H */
