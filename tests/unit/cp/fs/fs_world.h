/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file system in virtual time: I/O processors of userlib/iop that have the disks, a name server, and the
 * client with several reactors.  A test is a plain function: while it waits, the world goes on.
 */
#ifndef DDIO_TEST_FS_WORLD_H
#define DDIO_TEST_FS_WORLD_H

#include <fcntl.h>
#include <ddio/fs.h>
#include "tests/unit/cp/fs/fs_wait.h"
#include "cp/cp.h"
#include "iop/iop.h"
#include "iop/server/reactor.h"
#include "sim/sim.h"
#include "tests/unit/cp/fs/fs_fake.h"
#include "tests/unit/lib/ut.h"
#include "tests/unit/iop/store/ut_store.h"

#define FS_SEC 1000000000ull
#define FS_MS 1000000ull

enum { FS_NODES = 2, FS_NODE_REACTORS = 2, FS_DISKS = 4, FS_REACTORS = 2, FS_MOUNTS = 2 };

struct fs_node {
	struct ddio_env *env[FS_NODE_REACTORS];
	uint32_t number;
	const char *machine; /* struct ddio_iop_opts.machine */
	struct ddio_iop *iop;
	struct ddio_post stop;
};

struct fs_mount {
	struct ddio_env *env[FS_REACTORS];
	struct ddio_session *session[FS_REACTORS];
	struct ddio_fs *fs;
	struct fsc_result r;
	uint32_t names_lost, doubted; /* how often it was told so */
};

struct fs_world {
	char top[200];
	struct ddio_sim *dw;
	struct ddio_conf *conf;
	bool real; /* the name server is an I/O processor, not the fake */
	struct fake_names names;
	struct fs_node node[FS_NODES], names_node;
	struct fs_mount mount[FS_MOUNTS];
	uint64_t seed;
};

static inline void fs_conf(struct fs_world *w, uint32_t block, uint32_t timeout_ms)
{
	char text[4096], err[600];
	uint32_t i;
	int n;

	n = snprintf(text, sizeof(text),
		     "[cluster]\nname = ut\nblock = %u\ntimeout = %ums\nnamespace = names\n"
		     "[node names]\naddress = 127.0.0.1:7400\nmeta = %s/names\nsync_io = no\n",
		     block, timeout_ms, w->top);
	for (i = 0; i < FS_NODES; i++)
		n += snprintf(text + n, sizeof(text) - n,
			      "[node io%u]\naddress = 127.0.0.1:%u\nmeta = %s/io%u\n"
			      "sync_io = no\n",
			      i, 7401 + i, w->top, i);
	for (i = 0; i < FS_DISKS; i++)
		n += snprintf(text + n, sizeof(text) - n,
			      "[disk d%u]\nnode = io%u\nengine = mem\nsize = 4M\n", i,
			      i % FS_NODES);
	/* Every node needs a disk; the fake name server does not use its one. */
	snprintf(text + n, sizeof(text) - n, "[disk dn]\nnode = names\nengine = mem\nsize = 4M\n");
	n = (int)strlen(text);
	if (ddio_conf_parse("ut", text, n, &w->conf, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		abort();
	}
}

static inline void fs_node_begin(struct fs_world *w, struct fs_node *node)
{
	struct ddio_iop_opts opts = { .conf = w->conf,
				      .node = node->number,
				      .nreactors = FS_NODE_REACTORS,
				      .machine = node->machine,
				      .envs = node->env };
	char err[600], name[32];
	uint32_t k;

	for (k = 0; k < FS_NODE_REACTORS; k++) {
		snprintf(name, sizeof(name), "n%u.%u", node->number, k);
		node->env[k] = ddio_sim_env(w->dw, name);
	}
	if (ddio_iop_start(&opts, &node->iop, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		abort();
	}
}

static inline void fs_world_make(struct fs_world *w, bool real, uint64_t seed, uint32_t block,
				 uint32_t timeout_ms)
{
	uint32_t i;

	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->real = real;
	ut_temp_dir(w->top, sizeof(w->top));
	w->dw = ddio_sim_new(seed + 1);
	fs_conf(w, block, timeout_ms);
	w->names.name = "names";
	w->names.addr = "127.0.0.1:7400";
	if (real)
		fs_node_begin(w, &w->names_node);
	else
		fake_begin(&w->names, ddio_sim_env(w->dw, "names"), FS_DISKS, block);
	for (i = 0; i < FS_NODES; i++) {
		w->node[i].number = i + 1;
		fs_node_begin(w, &w->node[i]);
	}
}

/* A world with the fake name server. */
static inline void fs_world_begin(struct fs_world *w, uint64_t seed, uint32_t block,
				  uint32_t timeout_ms)
{
	fs_world_make(w, false, seed, block, timeout_ms);
}

static inline void fs_names_lost(void *arg)
{
	struct fs_mount *mount = arg;

	mount->names_lost++;
}

static inline void fs_data_doubted(void *arg, uint64_t ino)
{
	struct fs_mount *mount = arg;

	(void)ino;
	mount->doubted++;
}

/* Returns the result of ddio_fsc_new(). */
static inline int fs_mount_try(struct fs_world *w, uint32_t m, uint32_t flags, char *err,
			       size_t len)
{
	struct fs_mount *mount = &w->mount[m];
	struct ddio_fs_opts opts = { .struct_size = sizeof(opts),
				     .flags = flags,
				     .names_lost = fs_names_lost,
				     .names_lost_arg = mount,
				     .data_doubted = fs_data_doubted };
	char name[32];
	uint32_t i;
	int ret;

	for (i = 0; i < FS_REACTORS; i++) {
		snprintf(name, sizeof(name), "m%u.%u", m, i);
		mount->env[i] = ddio_sim_env(w->dw, name);
		CU_ASSERT_EQUAL_FATAL(
			ddio_session_new_env(mount->env[i], w->conf, NULL, &mount->session[i]), 0);
	}
	ret = ddio_fsc_new(mount->session, FS_REACTORS, &opts, &mount->fs, err, len);
	if (ret) {
		for (i = 0; i < FS_REACTORS; i++)
			ddio_disconnect(mount->session[i]);
		mount->fs = NULL;
		return ret;
	}
	fsc_wait_init(&mount->r, mount->fs);
	return 0;
}

static inline struct fs_mount *fs_mount(struct fs_world *w, uint32_t m, uint32_t flags)
{
	char err[600] = "";

	if (fs_mount_try(w, m, flags, err, sizeof(err))) {
		fprintf(stderr, "mount: %s\n", err);
		abort();
	}
	return &w->mount[m];
}

/**
 * struct fs_stop - a thread of a process that is stopped for a while
 */
struct fs_stop {
	struct ddio_post post;
	struct ddio_env *env;
	uint64_t ms;
};

static inline void fs_stand_still(void *arg)
{
	const struct fs_stop *stop = arg;

	ddio_env_charge(stop->env, DDIO_WORK_SWITCH, stop->ms);
}

/* From now on nothing but to be stopped costs time. */
static inline void fs_stopping(struct fs_world *w)
{
	static const struct ddio_sim_machine stopping = {
		.name = "stopping",
		.cost = { [DDIO_WORK_SWITCH] = { .unit_ps = FS_MS * 1000 } },
	};

	ddio_sim_set_machine(w->dw, &stopping);
}

/* Stops all threads of a mount. */
static inline void fs_mount_stop(struct fs_mount *m, struct fs_stop stop[FS_REACTORS], uint64_t ms)
{
	uint32_t k;

	for (k = 0; k < FS_REACTORS; k++) {
		stop[k] = (struct fs_stop){ { .fn = fs_stand_still, .arg = &stop[k] },
					    m->env[k],
					    ms };
		ddio_env_post(stop[k].env, &stop[k].post);
	}
}

static inline void fs_unmount(struct fs_mount *m)
{
	ddio_fs_close(m->fs);
	m->fs = NULL;
}

static inline void fs_stop_post(void *arg)
{
	ddio_iop_stop(((struct fs_node *)arg)->iop);
}

static inline void fs_node_stop(struct fs_node *node)
{
	node->stop.fn = fs_stop_post;
	node->stop.arg = node;
	ddio_env_post(node->env[0], &node->stop);
}

static inline void fs_world_end(struct fs_world *w)
{
	uint32_t i;

	for (i = 0; i < FS_MOUNTS; i++)
		if (w->mount[i].fs)
			fs_unmount(&w->mount[i]);
	if (w->real)
		fs_node_stop(&w->names_node);
	else
		fake_stop(&w->names);
	for (i = 0; i < FS_NODES; i++)
		fs_node_stop(&w->node[i]);
	ddio_sim_run_for(w->dw, 60 * FS_SEC);
	for (i = 0; i < FS_NODES; i++)
		ddio_iop_free(w->node[i].iop);
	if (w->real)
		ddio_iop_free(w->names_node.iop);
	ddio_sim_free(w->dw);
	ddio_conf_free(w->conf);
	ut_remove_tree(w->top);
}

static inline uint64_t fs_node_objects(const struct fs_node *node)
{
	uint64_t ids[64], n = 0;
	uint32_t r, d;

	for (r = 0; r < node->iop->nreactors; r++)
		for (d = 0; d < node->iop->reactors[r].ndisks; d++)
			n += store_list(node->iop->reactors[r].disks[d].store, 0, ids, 64);
	return n;
}

/* Counts bytes on all disks. */
static inline uint64_t fs_objects(const struct fs_world *w)
{
	uint64_t n = w->real ? fs_node_objects(&w->names_node) : 0;
	uint32_t i;

	for (i = 0; i < FS_NODES; i++)
		n += fs_node_objects(&w->node[i]);
	return n;
}

/* Returns the byte at @off of the contents that @seed names. */
static inline uint8_t fs_byte(uint64_t seed, uint64_t off)
{
	uint64_t x = (off + 1) * 0x9e3779b97f4a7c15ull ^ (seed + 1) * 0xbf58476d1ce4e5b9ull;

	return (uint8_t)(x >> 56);
}

static inline void fs_fill(uint8_t *buf, size_t len, uint64_t seed, uint64_t off)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = fs_byte(seed, off + i);
}

#define FS_OK(m, call, ...)                                                                   \
	do {                                                                                  \
		int err_ = FSC_WAIT(&(m)->r, call, __VA_ARGS__);                              \
		if (err_) {                                                                   \
			CU_FAIL("" #call);                                                    \
			fprintf(stderr, "%s:%d " #call ": %d %s\n", __FILE__, __LINE__, err_, \
				(m)->r.text);                                                 \
		}                                                                             \
	} while (0)

#define FS_ERR(m, want, call, ...) CU_ASSERT_EQUAL(FSC_WAIT(&(m)->r, call, __VA_ARGS__), want)

static inline struct ddio_fs_file *fs_create(struct fs_mount *m, const char *name, int flags)
{
	struct ddio_fs_new make = { .mode = S_IFREG | 0644 };
	struct ddio_fs_file *file = NULL;

	FS_OK(m, ddio_fs_file_create, m->fs, DDIO_FS_ROOT, name, flags, &make, &file);
	return file;
}

#endif /* DDIO_TEST_FS_WORLD_H */
