// SPDX-License-Identifier: GPL-2.0-only
/*
 * A whole cluster in virtual time.  Like ddiod, this file puts private parts of the library together:
 * a world of userlib/sim, an I/O processor of userlib/iop for each node, and sessions of
 * userlib/cp for the compute processes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "conf/conf.h"
#include "cp/coll/op.h"
#include "cp/cp.h"
#include "cp/group/group.h"
#include "iop/iop.h"
#include "sim/sim.h"
#include "costs.h"
#include "ionode.h"
#include "world.h"

#define SLICE_NS 100000000ull	   /* of virtual time between two ticks */
#define STOP_NS 600000000000ull	   /* for the daemons to write back and end */
#define PAPERS_IOPS 16		   /* most I/O processors of the papers' machines */
#define LIMIT_NS 86400000000000ull /* of virtual time for one run */

/**
 * struct sim_iop - one I/O processor
 * @env: one a reactor
 * @iop: the daemon's core; NULL if it did not start
 * @stop: asks it to end
 */
struct sim_iop {
	struct ddio_env **env;
	uint32_t nreactors;
	struct ddio_iop *iop;
	struct ddio_post stop;
	bool stopped;
};

/**
 * struct world_proc - one compute process, kept from run to run
 */
struct world_proc {
	struct sim_cp cp;
	struct ddio_env *env;
	int (*fn)(struct sim_cp *cp);
	int ret;
};

struct sim_world {
	struct ionode *node; /* of each IOP, if they are watched */
	uint64_t watch_from;
	struct sim_world_spec spec;
	struct ddio_sim_machine machine;
	char dir[64];
	struct ddio_sim *sim;
	struct ddio_conf *conf;
	struct ddio_key key;
	struct sim_iop *iop;
	struct world_proc *proc;
};

static int world_dir(struct sim_world *w)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(w->dir, sizeof(w->dir), "%.40s/ddio-sim.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (mkdtemp(w->dir))
		return 0;
	w->dir[0] = '\0';
	return -errno;
}

static int world_conf(struct sim_world *w, char *err, size_t err_len)
{
	struct local_spec local = w->spec.local;
	uint16_t *port = calloc(local.iops, sizeof(*port));
	char *text = NULL;
	size_t len = 0;
	uint32_t i;
	int ret = -ENOMEM;
	FILE *f;

	local.dir = w->dir;
	local.no_sync = true;
	f = port ? open_memstream(&text, &len) : NULL;
	if (f) {
		for (i = 0; i < local.iops; i++)
			port[i] = (uint16_t)(7400 + i);
		local_print_conf(f, &local, port);
		if (!fclose(f))
			ret = ddio_conf_parse("simulated", text, len, &w->conf, err, err_len);
	}
	free(text);
	free(port);
	return ret;
}

/* Makes the torus as square as possible. */
static void world_torus(const struct sim_world *w, struct ddio_sim_net *net)
{
	uint32_t nodes = w->spec.cps + w->spec.local.iops;

	if (w->spec.columns && w->spec.rows) {
		net->columns = w->spec.columns;
		net->rows = w->spec.rows;
		return;
	}
	while (net->columns * net->rows < nodes) {
		if (net->columns <= net->rows)
			net->columns++;
		else
			net->rows++;
	}
}

static int world_net(struct sim_world *w, char *err, size_t err_len)
{
	struct ddio_sim_net net = ddio_sim_net_1994;

	if (!strcmp(w->spec.network, "ideal")) {
		net = (struct ddio_sim_net){ .kind = DDIO_SIM_NET_IDEAL };
	} else if (!strcmp(w->spec.network, "switched")) {
		net.kind = DDIO_SIM_NET_SWITCHED;
	} else if (strcmp(w->spec.network, "torus")) {
		snprintf(err, err_len, "no network '%s': torus, switched, ideal", w->spec.network);
		return -EINVAL;
	}
	if (net.kind == DDIO_SIM_NET_TORUS)
		world_torus(w, &net);
	return ddio_sim_set_net(w->sim, &net);
}

static int world_machine(struct sim_world *w, char *err, size_t err_len)
{
	const struct ddio_sim_machine *m = ddio_sim_machine_find(w->spec.machine);

	if (!m) {
		snprintf(err, err_len, "no machine '%s': 1994, free", w->spec.machine);
		return -EINVAL;
	}
	w->machine = *m;
	ddio_sim_set_machine(w->sim, &w->machine);
	return costs_change(&w->machine, w->spec.costs, err, err_len);
}

static struct ddio_env *world_env(struct sim_world *w, const char *kind, uint32_t n, uint32_t k,
				  struct ddio_env *host)
{
	struct ddio_sim_link link;
	struct ddio_env *env;
	char name[40];

	snprintf(name, sizeof(name), host ? "%s%u.%u" : "%s%u", kind, n, k);
	env = ddio_sim_env(w->sim, name);
	if (!env)
		return NULL;
	if (host)
		ddio_sim_share(env, host);
	ddio_sim_link_default(&link);
	link.latency_ns = 0; /* the network's model has it */
	link.jitter_ns = w->spec.jitter_ns;
	ddio_sim_set_link(env, &link);
	return env;
}

static void iop_stopped(void *arg)
{
	struct sim_iop *si = arg;

	si->stopped = true;
}

static int world_iop(struct sim_world *w, uint32_t n, char *err, size_t err_len)
{
	struct sim_iop *si = &w->iop[n];
	struct ddio_iop_opts opts = {
		.conf = w->conf, .node = n, .key = &w->key, .on_stopped = iop_stopped, .arg = si
	};
	uint32_t k;

	si->nreactors = ddio_iop_reactors(w->conf, n, 1);
	si->env = calloc(si->nreactors, sizeof(*si->env));
	if (!si->env)
		return -ENOMEM;
	for (k = 0; k < si->nreactors; k++) {
		si->env[k] = world_env(w, "io", n, k, k ? si->env[0] : NULL);
		if (!si->env[k])
			return -ENOMEM;
	}
	opts.nreactors = si->nreactors;
	opts.envs = si->env;
	return ddio_iop_start(&opts, &si->iop, err, err_len);
}

static int world_procs(struct sim_world *w)
{
	uint32_t r;

	for (r = 0; r < w->spec.cps; r++) {
		w->proc[r].cp.world = w;
		w->proc[r].cp.rank = r;
		w->proc[r].env = world_env(w, "cp", r, 0, NULL);
		if (!w->proc[r].env)
			return -ENOMEM;
		if (w->spec.per_machine)
			ddio_sim_place(w->proc[r].env, w->proc[r - r % w->spec.per_machine].env);
	}
	return 0;
}

static int world_build(struct sim_world *w, char *err, size_t err_len)
{
	uint32_t i;
	int ret = world_dir(w);

	if (!ret)
		ret = world_machine(w, err, err_len);
	if (!ret)
		ret = world_net(w, err, err_len);
	if (!ret)
		ret = world_conf(w, err, err_len);
	for (i = 0; i < w->spec.local.iops && !ret; i++)
		ret = world_iop(w, i, err, err_len);
	return ret ? ret : world_procs(w);
}

int sim_world_new(const struct sim_world_spec *spec, struct sim_world **world, char *err,
		  size_t err_len)
{
	struct sim_world *w = calloc(1, sizeof(*w));
	int ret = -ENOMEM;

	*err = '\0';
	if (w) {
		w->spec = *spec;
		w->iop = calloc(spec->local.iops, sizeof(*w->iop));
		w->proc = calloc(spec->cps, sizeof(*w->proc));
		if (spec->watch)
			w->node = calloc(spec->local.iops, sizeof(*w->node));
		w->sim = ddio_sim_new(spec->seed);
	}
	if (w && w->iop && w->proc && w->sim && (w->node || !spec->watch)) {
		ddio_sim_verbose(w->sim, spec->verbose);
		ddio_sim_prompt(w->sim, spec->prompt);
		ret = world_build(w, err, err_len);
	}
	if (ret) {
		if (!*err)
			snprintf(err, err_len, "%s", strerror(-ret));
		sim_world_free(w);
		w = NULL;
	}
	*world = w;
	return ret;
}

static void proc_main(void *arg)
{
	struct world_proc *p = arg;

	p->ret = p->fn(&p->cp);
}

int sim_world_run(struct sim_world *w, int (*fn)(struct sim_cp *cp), void *arg,
		  void (*tick)(void *arg))
{
	uint64_t end = ddio_sim_elapsed(w->sim) + LIMIT_NS, until = ddio_sim_elapsed(w->sim);
	uint32_t r;
	int ret = 0;

	for (r = 0; r < w->spec.cps && !ret; r++) {
		w->proc[r].fn = fn;
		w->proc[r].cp.arg = arg;
		ret = ddio_sim_spawn(w->proc[r].env, proc_main, &w->proc[r]);
	}
	while (!ret) {
		until += SLICE_NS;
		ddio_sim_limit(w->sim, until);
		ret = ddio_sim_run(w->sim);
		if (tick)
			tick(arg);
		if (ret != -ETIME || until >= end)
			break;
		ret = 0;
	}
	for (r = 0; r < w->spec.cps && !ret; r++)
		ret = w->proc[r].ret;
	return ret;
}

static void iop_stop(void *arg)
{
	struct sim_iop *si = arg;

	ddio_iop_stop(si->iop);
}

static void world_stop(struct sim_world *w)
{
	uint32_t i;

	for (i = 0; w->iop && i < w->spec.local.iops; i++) {
		if (!w->iop[i].iop)
			continue;
		w->iop[i].stop.fn = iop_stop;
		w->iop[i].stop.arg = &w->iop[i];
		ddio_env_post(w->iop[i].env[0], &w->iop[i].stop);
	}
	ddio_sim_run_for(w->sim, STOP_NS);
}

void sim_world_free(struct sim_world *w)
{
	uint32_t i;

	if (!w)
		return;
	if (w->sim)
		world_stop(w);
	for (i = 0; w->iop && i < w->spec.local.iops; i++) {
		if (w->iop[i].iop && w->iop[i].stopped)
			ddio_iop_free(w->iop[i].iop);
		free(w->iop[i].env);
	}
	ddio_sim_free(w->sim);
	ddio_conf_free(w->conf);
	if (w->dir[0])
		local_remove_tree(w->dir);
	for (i = 0; w->node && i < w->spec.local.iops; i++)
		ionode_free(&w->node[i]);
	free(w->node);
	free(w->iop);
	free(w->proc);
	free(w);
}

static int sim_cp_connect(struct sim_cp *cp, struct ddio_session **session)
{
	struct sim_world *w = cp->world;
	int err;

	w->conf->broker = w->spec.brokers ? DDIO_CONF_BROKER_ALWAYS : DDIO_CONF_BROKER_NEVER;
	err = ddio_session_new_env(w->proc[cp->rank].env, w->conf, &w->key, session);

	/* The papers' machines pass a word on along a tree, however few processes they have. */
	if (!err)
		(*session)->groups->flat_most = 0;
	/* And each of their I/O processors tells every process that it is done. */
	if (!err && w->conf->nnodes <= PAPERS_IOPS)
		(*session)->transfers->tell = true;
	return err;
}

static int sim_cp_meet(struct sim_cp *cp, struct ddio_session *session, struct ddio_group **group)
{
	return ddio_group_create(session, cp->rank, cp->world->spec.cps, "127.0.0.1:9000", group);
}

static uint64_t sim_cp_now(struct sim_cp *cp)
{
	return ddio_env_now(cp->world->proc[cp->rank].env);
}

static void sim_cp_compute(struct sim_cp *cp, uint64_t ns)
{
	ddio_sim_compute(cp->world->proc[cp->rank].env, ns);
}

static int cp_world_connect(void *arg, struct ddio_session **session)
{
	return sim_cp_connect(arg, session);
}

static int cp_world_meet(void *arg, struct ddio_session *session, struct ddio_group **group)
{
	return sim_cp_meet(arg, session, group);
}

static uint64_t cp_world_now(void *arg)
{
	return sim_cp_now(arg);
}

static void cp_world_compute(void *arg, uint64_t ns)
{
	sim_cp_compute(arg, ns);
}

static void node_worked(void *arg, uint64_t start, uint64_t ns)
{
	ionode_add(arg, start, ns);
}

static void watch_begin(struct sim_world *w)
{
	uint32_t i;

	w->watch_from = ddio_env_now(w->iop[0].env[0]);
	for (i = 0; i < w->spec.local.iops; i++) {
		ionode_clear(&w->node[i]);
		ddio_sim_watch(w->iop[i].env[0], node_worked, &w->node[i]);
	}
}

static void watch_end(struct sim_world *w, uint64_t now, struct bench_run *run)
{
	uint32_t i, n = w->spec.local.iops;
	int err = 0;

	for (i = 0; i < n; i++) {
		ddio_sim_watch(w->iop[i].env[0], NULL, NULL);
		err |= w->node[i].err;
	}
	if (err)
		return;
	run->left = ionode_left(w->node, n, w->watch_from, now);
	run->left_barriers = ionode_left_barriers(w->node, n, w->watch_from, now);
}

static void cp_world_watch(void *arg, bool begin, struct bench_run *run)
{
	struct sim_cp *cp = arg;

	if (begin)
		watch_begin(cp->world);
	else
		watch_end(cp->world, sim_cp_now(cp), run);
}

struct bench_world sim_cp_world(struct sim_cp *cp)
{
	return (struct bench_world){ .connect = cp_world_connect,
				     .meet = cp_world_meet,
				     .now = cp_world_now,
				     .compute = cp_world_compute,
				     .watch = cp->world->node ? cp_world_watch : NULL,
				     .arg = cp };
}

static void iop_stats(const struct sim_iop *si, struct sim_world_stats *st)
{
	uint32_t k;

	st->iop_busy_ns += ddio_sim_busy(si->env[0]);
	for (k = 0; k < si->nreactors; k++) {
		st->sorted += ddio_sim_charged(si->env[k], DDIO_WORK_SORT);
		st->runs += ddio_sim_charged(si->env[k], DDIO_WORK_RUNS) +
			    ddio_sim_charged(si->env[k], DDIO_WORK_PIECES);
	}
}

void sim_world_stats(const struct sim_world *w, struct sim_world_stats *st)
{
	struct rusage ru;
	struct ddio_sim_net_stats net;
	uint32_t i;

	ddio_sim_net_stats(w->sim, &net);
	*st = (struct sim_world_stats){ .virtual_ns = ddio_sim_elapsed(w->sim),
					.events = ddio_sim_events(w->sim),
					.messages = net.messages,
					.bytes = net.bytes,
					.net_wait_ns = net.wait_ns,
					.streams = net.streams };
	for (i = 0; i < w->spec.cps; i++)
		st->cp_busy_ns += ddio_sim_busy(w->proc[i].env);
	for (i = 0; i < w->spec.local.iops; i++)
		iop_stats(&w->iop[i], st);
	if (!getrusage(RUSAGE_SELF, &ru))
		st->memory = (uint64_t)ru.ru_maxrss << 10;
}
