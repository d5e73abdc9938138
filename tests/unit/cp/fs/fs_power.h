/* SPDX-License-Identifier: GPL-2.0-only */
/* A file system whose name server dies, alone or with its machine, while mounts live on. */
#ifndef FS_POWER_H
#define FS_POWER_H

#include <sys/stat.h>
#include "tests/unit/cp/fs/fs_world.h"

enum { BLOCK = 1024, LEN = 100, DEATHS = 4 };

/**
 * struct power - the world, and name servers that have died in it
 */
struct power {
	struct fs_world w;
	struct fs_node dead[DEATHS];
	uint32_t ndead;
	uint64_t d[2];
	struct ddio_fs_file *a;
	uint64_t ino;
};

static inline void copy_names(const struct fs_world *w, const char *from, const char *to)
{
	static const char *const files[] = { "data.mdb", "journal.0", "journal.1" };
	char a[400], b[400];
	uint32_t i;

	for (i = 0; i < 3; i++) {
		snprintf(a, sizeof(a), "%s/%s/ns/%s", w->top, from, files[i]);
		snprintf(b, sizeof(b), "%s/%s/ns/%s", w->top, to, files[i]);
		ut_copy_file(a, b);
	}
}

static inline void make_dirs(const struct fs_world *w, const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", w->top, name);
	mkdir(path, 0700);
	strcat(path, "/ns");
	mkdir(path, 0700);
}

/* What the disk would have now if the machine lost its power. */
static inline void image(struct power *p)
{
	make_dirs(&p->w, "image");
	copy_names(&p->w, "names", "image");
}

/* The name server dies; the next one begins with @from, on the run @machine of its machine. */
static inline void die(struct power *p, const char *from, const char *machine)
{
	struct fs_world *w = &p->w;
	struct fs_node *dead = &p->dead[p->ndead++];
	char live[300], gone[300];
	uint32_t k;

	snprintf(live, sizeof(live), "%s/names", w->top);
	snprintf(gone, sizeof(gone), "%s/dead%u", w->top, p->ndead);
	CU_ASSERT_EQUAL_FATAL(rename(live, gone), 0);
	make_dirs(w, "names");
	copy_names(w, from ? from : strrchr(gone, '/') + 1, "names");
	*dead = w->names_node;
	for (k = 0; k < FS_NODE_REACTORS; k++)
		ddio_sim_orphan(dead->env[k]);
	fs_node_stop(dead);
	w->names_node.machine = machine;
	fs_node_begin(w, &w->names_node);
	ddio_sim_run_for(w->dw, 10 * FS_SEC);
}

static inline void stop_and_start(struct power *p, const char *machine)
{
	struct fs_world *w = &p->w;

	fs_node_stop(&w->names_node);
	ddio_sim_run_for(w->dw, 10 * FS_SEC);
	ddio_iop_free(w->names_node.iop);
	w->names_node.machine = machine;
	fs_node_begin(w, &w->names_node);
	ddio_sim_run_for(w->dw, 10 * FS_SEC);
}

/* A file and two directories, all durable.  Data lie on disks of other nodes than the name server. */
static inline struct fs_mount *power_begin(struct power *p, uint64_t seed)
{
	struct ddio_fs_new dir = { .mode = S_IFDIR | 0755 };
	struct ddio_fs_new make = { .mode = S_IFREG | 0644 };
	uint8_t buf[LEN] = { 1 };
	struct fs_mount *m;

	memset(p, 0, sizeof(*p));
	fs_world_make(&p->w, true, seed, BLOCK, 3000);
	p->w.conf->nodes[0].sync_io = true;
	stop_and_start(p, "first");
	m = fs_mount(&p->w, 0, DDIO_FS_HARD);
	fs_mount(&p->w, 1, DDIO_FS_HARD);
	FS_OK(m, ddio_fs_setxattr, m->fs, DDIO_FS_ROOT, "ddio.disks", "0-3", 3, 0, false);
	FS_OK(m, ddio_fs_make, m->fs, DDIO_FS_ROOT, "d0", &dir);
	p->d[0] = m->r.attr.ino;
	FS_OK(m, ddio_fs_make, m->fs, DDIO_FS_ROOT, "d1", &dir);
	p->d[1] = m->r.attr.ino;
	FS_OK(m, ddio_fs_file_create, m->fs, p->d[0], "a", O_RDWR | O_APPEND, &make, &p->a);
	p->ino = m->r.attr.ino;
	FS_OK(m, ddio_fs_write, p->a, buf, LEN, 0);
	FS_OK(m, ddio_fs_sync, p->a);
	return m;
}

static inline void power_end(struct power *p)
{
	uint32_t i;

	FS_OK(&p->w.mount[0], ddio_fs_file_close, p->a);
	ddio_sim_run_for(p->w.dw, 60 * FS_SEC);
	for (i = 0; i < p->ndead; i++)
		ddio_iop_free(p->dead[i].iop);
	fs_world_end(&p->w);
}

#endif /* FS_POWER_H */
