/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A whole cluster in virtual time: I/O processors of userlib/iop, and compute
 * processes that run the library as their programs would, each in a coroutine.
 */
#ifndef DDIO_TEST_CP_WORLD_H
#define DDIO_TEST_CP_WORLD_H

#include <errno.h>
#include <ddio/ddio.h>
#include "cp/cp.h"
#include "cp/coll/op.h"
#include "cp/group/group.h"
#include "env/disk/engine.h"
#include "iop/iop.h"
#include "iop/server/reactor.h"
#include "sim/sim.h"
#include "tests/unit/iop/store/ut_store.h"

#define CP_SEC 1000000000ull
#define CP_MS 1000000ull

/* A test that has more defines it. */
#ifndef CP_PROCS
#define CP_PROCS 26
#endif

enum { CP_NODES = 4, CP_REACTORS = 2, CP_DISKS = 8, CP_GONE = 8 };

/*
 * All processes share one machine, and buffers however little is moved, but for every fourth compute process; and the
 * I/O processors of an array are asked by several.
 */
static bool cp_local;

static inline int cp_local_on(void)
{
	cp_local = true;
	return 0;
}

/* Every suite twice: on several machines, and on one. */
static inline int cp_ut_run(const char *name, const struct ut_suite *suites, size_t n)
{
	return ut_run_again(name, suites, n, ", one machine", cp_local_on);
}

/* What a cluster is like; zeros are defaults. */
struct cp_params {
	uint64_t seed;
	uint32_t nodes, disks, reactors, procs;
	uint32_t block;
	const char *options; /* of the disks */
	const char *disk_size;
	uint64_t timeout_ms;
	bool keyed;
	bool deep;	    /* groups have binomial trees, however small they are */
	bool lasts;	    /* the disks keep their data when their node ends */
	const char *engine; /* of the disks, else mem */
	bool sync;	    /* nodes flush */
	bool media; /* and their disks can lose what was not flushed; with lasts, see dd/cp_power.h */
	const char *host;    /* of the nodes' addresses, else 127.0.0.1 */
	const char *cluster; /* lines of the cluster's section */
	ddio_vouch_fn vouch; /* knows users */
	session_same_fn same;
	session_vouch_fn user; /* vouches for those of processes */
};

struct cp_node {
	struct ddio_env *env[CP_REACTORS];
	struct ddio_iop *iop;
	struct ddio_post stop;
	bool stopped, dead;
};

struct cp_world;

/* One compute process. */
struct cp_proc {
	struct cp_world *w;
	uint32_t rank;
	struct ddio_env *env;
	struct ddio_session *session;
	void (*fn)(struct cp_proc *p);
	bool killed;
	int ret;
	char text[DDIO_MAX_TEXT];
};

struct cp_world {
	struct cp_params p;
	char top[200];
	struct ddio_sim *dw;
	struct ddio_conf *conf;
	struct ddio_key key;
	struct cp_node node[CP_NODES];
	struct cp_proc proc[CP_PROCS];
	struct ddio_sim_medium *medium[CP_DISKS];
	struct cp_node gone[CP_GONE]; /* nodes that have died */
	uint32_t ngone;
	void *arg;
};

static inline void cp_conf(struct cp_world *w)
{
	char text[8192], err[600];
	uint32_t i;
	int n;

	n = snprintf(text, sizeof(text), "[cluster]\nname = ut\nblock = %u\ntimeout = %llums\n%s",
		     w->p.block, (unsigned long long)w->p.timeout_ms,
		     w->p.cluster ? w->p.cluster : "");
	for (i = 0; i < w->p.nodes; i++)
		n += snprintf(text + n, sizeof(text) - n,
			      "[node io%u]\naddress = %s:%u\nmeta = %s/io%u\n"
			      "sync_io = %s\nbuffers = 2\n",
			      i, w->p.host ? w->p.host : "127.0.0.1", 7400 + i, w->top, i,
			      w->p.sync ? "yes" : "no");
	for (i = 0; i < w->p.disks; i++) {
		n += snprintf(text + n, sizeof(text) - n,
			      "[disk d%u]\nnode = io%u\nengine = %s\nsize = %s\n%s%s%s", i,
			      i % w->p.nodes, w->p.engine ? w->p.engine : "mem", w->p.disk_size,
			      w->p.options ? "options = " : "", w->p.options ? w->p.options : "",
			      w->p.options ? "\n" : "");
		if (w->p.lasts)
			n += snprintf(text + n, sizeof(text) - n, "path = %s/d%u.img\n", w->top, i);
	}
	if (ddio_conf_parse("ut", text, n, &w->conf, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		abort();
	}
}

static inline void cp_node_begin(struct cp_world *w, uint32_t i)
{
	static const struct ddio_key servers_key = { .len = 32, .bytes = { 1, 2, 3 } };
	struct cp_node *node = &w->node[i];
	struct ddio_iop_opts opts = { .conf = w->conf,
				      .node = i,
				      .nreactors = w->p.reactors,
				      .envs = node->env,
				      .servers_key = &servers_key,
				      .vouch = w->p.vouch,
				      .key = &w->key };
	char err[600], name[32];
	uint32_t k;

	for (k = 0; k < w->p.reactors; k++) {
		snprintf(name, sizeof(name), "io%u.%u", i, k);
		node->env[k] = ddio_sim_env(w->dw, name);
		if (cp_local)
			sim_local(node->env[k]);
	}
	if (ddio_iop_start(&opts, &node->iop, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		abort();
	}
	for (k = 0; cp_local && k < w->p.reactors; k++)
		node->iop->reactors[k].share_min = 1;
}

static inline void cp_media(struct cp_world *w)
{
	char path[256];
	uint32_t i;

	for (i = 0; w->p.media && i < w->p.disks; i++) {
		snprintf(path, sizeof(path), "%s/d%u.img", w->top, i);
		w->medium[i] = ddio_sim_medium_new(w->dw, path, w->conf->disks[i].size);
		if (!w->medium[i])
			abort();
	}
}

static inline void cp_world_begin(struct cp_world *w, const struct cp_params *p)
{
	uint32_t i;

	memset(w, 0, sizeof(*w));
	w->p = *p;
	w->p.nodes = p->nodes ? p->nodes : 2;
	w->p.disks = p->disks ? p->disks : 4;
	w->p.reactors = p->reactors ? p->reactors : 2;
	w->p.procs = p->procs ? p->procs : 4;
	w->p.block = p->block ? p->block : 1024;
	w->p.disk_size = p->disk_size ? p->disk_size : "16M";
	w->p.timeout_ms = p->timeout_ms ? p->timeout_ms : 30000;
	if (p->keyed) {
		w->key.len = 32;
		memset(w->key.bytes, 7, 32);
	}
	ut_temp_dir(w->top, sizeof(w->top));
	w->dw = ddio_sim_new(p->seed + 1);
	cp_conf(w);
	cp_media(w);
	for (i = 0; i < w->p.nodes; i++)
		cp_node_begin(w, i);
}

static inline void cp_proc_main(void *arg)
{
	struct cp_proc *p = arg;

	p->fn(p);
}

/* Has every process run @fn, beginning now; returns when all have ended. */
static inline int cp_run(struct cp_world *w, void (*fn)(struct cp_proc *p), void *arg)
{
	char name[32];
	uint32_t r;

	w->arg = arg;
	for (r = 0; r < w->p.procs; r++) {
		struct cp_proc *p = &w->proc[r];

		if (!p->env) {
			snprintf(name, sizeof(name), "cp%u", r);
			p->w = w;
			p->rank = r;
			p->env = ddio_sim_env(w->dw, name);
			if (cp_local && r % 4 != 3)
				sim_local(p->env);
			if (ddio_session_new_env(p->env, w->conf, &w->key, &p->session))
				abort();
			p->session->vouch = w->p.user;
			p->session->same_user = w->p.same;
			if (w->p.deep)
				p->session->groups->flat_most = 0;
			if (cp_local) {
				p->session->transfers->share_min = 1;
				p->session->transfers->ask_alone = 1;
			}
		}
		p->fn = fn;
		p->ret = 0;
		p->text[0] = '\0';
		if (!p->killed)
			ddio_sim_spawn(p->env, cp_proc_main, p);
	}
	r = ddio_sim_run(w->dw);
	if (r)
		fprintf(stderr, "world: %s\n", strerror(-(int)r));
	return (int)r;
}

/* The call of a process whose result is to be looked at later. */
static inline int cp_note(struct cp_proc *p, int ret)
{
	p->ret = ret;
	snprintf(p->text, sizeof(p->text), "%s", ddio_last_error(p->session));
	return ret;
}

static inline void cp_end_main(void *arg)
{
	struct cp_proc *p = arg;

	ddio_disconnect(p->session);
	p->session = NULL;
}

static inline void cp_stop_post(void *arg)
{
	struct cp_node *node = arg;

	ddio_iop_stop(node->iop);
}

/* Stops a node that nobody asks anything, in good order; cp_node_begin() starts it again. */
static inline void cp_node_end(struct cp_world *w, uint32_t i)
{
	w->node[i].stop.fn = cp_stop_post;
	w->node[i].stop.arg = &w->node[i];
	ddio_env_post(w->node[i].env[0], &w->node[i].stop);
	ddio_sim_run_for(w->dw, 10 * CP_SEC);
	CU_ASSERT_PTR_NULL(w->node[i].iop->reactors[0].disks[0].store);
	ddio_iop_free(w->node[i].iop);
	w->node[i].iop = NULL;
}

static inline void cp_world_end(struct cp_world *w)
{
	uint32_t i;

	for (i = 0; i < w->p.procs; i++)
		if (w->proc[i].session && !w->proc[i].killed)
			ddio_sim_spawn(w->proc[i].env, cp_end_main, &w->proc[i]);
	CU_ASSERT_EQUAL(ddio_sim_run(w->dw), 0);
	for (i = 0; i < w->p.nodes; i++) {
		if (w->node[i].dead)
			continue;
		w->node[i].stop.fn = cp_stop_post;
		w->node[i].stop.arg = &w->node[i];
		ddio_env_post(w->node[i].env[0], &w->node[i].stop);
	}
	ddio_sim_run_for(w->dw, 60 * CP_SEC);
	for (i = 0; i < w->p.nodes; i++)
		if (!w->node[i].dead)
			ddio_iop_free(w->node[i].iop);
	for (i = 0; i < w->ngone; i++)
		ddio_iop_free(w->gone[i].iop);
	ddio_sim_free(w->dw);
	ddio_conf_free(w->conf);
	ut_remove_tree(w->top);
}

/*
 * No two ways of the first @procs processes and of the nodes take the same time, and what a node has a thread do takes a time of
 * its own: so few events come at one moment.
 */
static inline void cp_spread_out(struct cp_world *w, uint32_t procs)
{
	struct ddio_sim_link link;
	uint32_t i, k;

	ddio_sim_link_default(&link);
	for (i = 0; i < procs; i++) {
		link.latency_ns = 20000 + 1700 * i;
		ddio_sim_set_link(w->proc[i].env, &link);
	}
	for (i = 0; i < w->p.nodes; i++)
		for (k = 0; k < w->p.reactors; k++) {
			link.latency_ns = 27000 + 2300 * (i * w->p.reactors + k);
			ddio_sim_set_link(w->node[i].env[k], &link);
			ddio_sim_set_offload(w->node[i].env[k], 40000);
		}
}

/* Nobody frees the memory of a process that was killed: the sanitizer, if there is one, counts no leaks of such a world. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static inline void cp_leaks_allowed(bool allowed)
{
	if (allowed && __lsan_disable)
		__lsan_disable();
	else if (!allowed && __lsan_enable)
		__lsan_enable();
}

/* Returns the byte at @off of what @seed names. */
static inline uint8_t cp_byte(uint64_t seed, uint64_t off)
{
	uint64_t x = (off + 1) * 0x9e3779b97f4a7c15ull ^ (seed + 1) * 0xbf58476d1ce4e5b9ull;

	return (uint8_t)(x >> 56);
}

/* Forms the group of all processes, at an address. */
static inline struct ddio_group *cp_group(struct cp_proc *p)
{
	struct ddio_group *g = NULL;

	if (cp_note(p,
		    ddio_group_create(p->session, p->rank, p->w->p.procs, "127.0.0.1:9000", &g))) {
		CU_FAIL("group");
		fprintf(stderr, "rank %u: %s\n", p->rank, p->text);
	}
	return g;
}

#define CP_OK(p, call)                                                                           \
	do {                                                                                     \
		int ret_ = cp_note(p, call);                                                     \
		if (ret_) {                                                                      \
			CU_FAIL("" #call);                                                       \
			fprintf(stderr, "%s:%d rank %u: %d %s\n", __FILE__, __LINE__, (p)->rank, \
				ret_, (p)->text);                                                \
		}                                                                                \
	} while (0)

#endif /* DDIO_TEST_CP_WORLD_H */
