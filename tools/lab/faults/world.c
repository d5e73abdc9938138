// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cluster of a run with faults.  Like sim/world.c, this file puts private parts of the
 * library together.
 *
 * An I/O processor that dies leaves an orphan: cut off from all others, with copies of its disks and
 * the files of its records, it is stopped in order, which frees its memory and tests that it can
 * be stopped.  Its successor gets the disks as they were after the loss, and a copy of the records
 * as of that moment: LMDB's last commit and the journals.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "conf/conf.h"
#include "cp/coll/op.h"
#include "cp/cp.h"
#include "env/disk/disk.h"
#include "run.h"
#include "iop/iop.h"
#include "tools/common/local.h"
#include "sim/sim.h"

#define SLOTS 64
#define SLICE_NS (500 * FAULTS_MS)

/**
 * struct daemon - one life of an I/O processor
 */
struct daemon {
	struct daemon *next;
	uint32_t nenvs;
	struct ddio_env *env[FAULTS_DISKS];
	struct ddio_iop *iop;
	struct ddio_post stop;
	uint32_t node;
	char machine[16]; /* which run of it */
	bool orphan, stopped;
};

/**
 * struct cp_life - one life of a compute process
 */
struct cp_life {
	struct cp_life *next;
	struct ddio_env *env;
	struct faults_cp *cp;
	struct ddio_gate *gate;
};

struct timer_slot {
	struct ddio_timer timer;
	void (*fn)(struct faults *f, uint32_t slot);
	struct faults *f;
	uint32_t number;
};

/* Whose disk it is, for its callback. */
struct disk_slot {
	struct faults *f;
	uint32_t number;
};

struct faults_world {
	char dir[64];
	int home;
	struct ddio_sim *sim;
	struct ddio_conf *conf;
	struct ddio_key key;
	struct ddio_env *fate;
	struct timer_slot slot[SLOTS];
	struct daemon *daemon[FAULTS_IOPS], *orphans, *ended;
	struct cp_life *program[FAULTS_CPS], *old;
	struct ddio_env *machine[FAULTS_CPS]; /* with brokers: who is where */
	struct ddio_sim_medium *medium[FAULTS_DISKS];
	struct disk_slot disk[FAULTS_DISKS];
	const struct faults_script *script;
	struct ddio_gate *gate;
	uint32_t deaths, runs[FAULTS_IOPS];
};

uint64_t faults_now(const struct faults *f)
{
	return ddio_sim_elapsed(f->world->sim);
}

/*
 * Building
 */

/* Paths are relative: names in messages must not differ from run to run. */
static int world_dir(struct faults_world *w)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(w->dir, sizeof(w->dir), "%.40s/ddio-sim.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	w->home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->home < 0)
		return -errno;
	if (!mkdtemp(w->dir)) {
		w->dir[0] = '\0';
		return -errno;
	}
	return chdir(w->dir) ? -errno : 0;
}

static void print_conf(const struct faults_conf *c, bool brokers, FILE *out)
{
	uint32_t i;

	fprintf(out,
		"[cluster]\nname = faults\nnamespace = io0\nblock = %u\ntimeout = %ums\n"
		"scrub = %s\nscrub_rate = 0\nbroker = %s\n",
		c->block, FAULTS_TIMEOUT_MS, c->scrubbed ? "300ms" : "0s",
		brokers ? "always" : "never");
	for (i = 0; i < c->iops; i++)
		fprintf(out,
			"[node io%u]\naddress = 127.0.0.1:%u\nmeta = io%u\nsync_io = yes\n"
			"cache = %u\nbuffers = %u\nreactors = %u\ncscan = %s\ninstall = %s\n",
			i, 7400 + i, i, c->cache, c->buffers, c->reactors, c->cscan ? "yes" : "no",
			c->install ? "yes" : "no");
	for (i = 0; i < c->disks; i++) {
		fprintf(out, "[disk d%u]\nnode = io%u\nengine = %s\npath = d%u\nsize = %llu\n", i,
			c->node[i], c->emulated ? "hp97560" : "mem", i,
			(unsigned long long)c->disk_size);
		if (!c->emulated)
			fprintf(out, "options = delay_us=%llu%s\n",
				(unsigned long long)c->disk_delay_us,
				c->streamed ? ",stream=yes" : "");
		else if (c->streamed)
			fprintf(out, "options = stream=yes\n");
	}
}

static int world_conf(struct faults *f)
{
	char *text = NULL, err[600] = "";
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int ret = -ENOMEM;

	if (!out)
		return ret;
	print_conf(&f->conf, f->spec.per_machine, out);
	if (!fclose(out))
		ret = ddio_conf_parse("faults", text, len, &f->world->conf, err, sizeof(err));
	if (ret)
		faults_violated(f, "configuration: %s", err);
	if (f->spec.verbose)
		fputs(text, stderr);
	free(text);
	return ret;
}

static struct ddio_env *world_env(struct faults *f, const char *kind, uint32_t n)
{
	struct ddio_env *env;
	char name[40];

	snprintf(name, sizeof(name), "%s%u", kind, n);
	env = ddio_sim_env(f->world->sim, name);
	if (!env)
		abort();
	return env;
}

static int world_media(struct faults *f)
{
	char path[16];
	uint32_t i;

	for (i = 0; i < f->conf.disks; i++) {
		snprintf(path, sizeof(path), "d%u", i);
		f->world->medium[i] = ddio_sim_medium_new(f->world->sim, path, f->conf.disk_size);
		if (!f->world->medium[i])
			return -ENOMEM;
	}
	return 0;
}

int faults_world_new(struct faults *f)
{
	struct faults_world *w = f->world = calloc(1, sizeof(*w));
	char err[600] = "";
	uint32_t i;
	int ret;

	if (!w)
		return -ENOMEM;
	w->home = -1;
	w->sim = ddio_sim_new(f->spec.seed);
	if (!w->sim)
		return -ENOMEM;
	ddio_sim_verbose(w->sim, f->spec.verbose);
	ddio_sim_trace_on(w->sim);
	f->now = faults_now;
	w->fate = world_env(f, "fate", 0);
	for (i = 0; f->spec.per_machine && i < f->conf.cps; i += f->spec.per_machine)
		w->machine[i / f->spec.per_machine] = world_env(f, "machine", i);
	ret = world_dir(w);
	if (!ret)
		ret = world_conf(f);
	if (!ret)
		ret = world_media(f);
	for (i = 0; i < f->conf.iops && !ret; i++) {
		ret = faults_iop_start(f, i, err, sizeof(err));
		if (ret)
			faults_violated(f, "io%u does not start: %s", i, err);
	}
	return ret;
}

/*
 * I/O processors
 */
bool faults_iop_up(const struct faults *f, uint32_t iop)
{
	return f->world->daemon[iop];
}

static void daemon_stopped(void *arg)
{
	struct daemon *d = arg;

	d->stopped = true;
}

/* Returns whether an earlier life still has the disks: until it has stopped. */
static bool still_stopping(const struct faults_world *w, uint32_t iop)
{
	const struct daemon *d;

	for (d = w->orphans; d; d = d->next)
		if (d->node == iop && !d->orphan && !d->stopped)
			return true;
	return false;
}

int faults_iop_start(struct faults *f, uint32_t iop, char *err, size_t err_len)
{
	struct faults_world *w = f->world;
	struct daemon *d = calloc(1, sizeof(*d));
	struct ddio_iop_opts opts = {
		.conf = w->conf, .node = iop, .key = &w->key, .on_stopped = daemon_stopped, .arg = d
	};
	uint32_t k;
	int ret;

	if (!d)
		return -ENOMEM;
	if (still_stopping(w, iop)) {
		free(d);
		return -EBUSY;
	}
	d->node = iop;
	snprintf(d->machine, sizeof(d->machine), "run%u", w->runs[iop]);
	opts.machine = d->machine;
	d->nenvs = ddio_iop_reactors(w->conf, iop, f->conf.reactors);
	for (k = 0; k < d->nenvs; k++) {
		d->env[k] = world_env(f, "io", iop);
		ddio_sim_set_offload(d->env[k], f->conf.offload_ns);
	}
	opts.nreactors = d->nenvs;
	opts.envs = d->env;
	ret = ddio_iop_start(&opts, &d->iop, err, err_len);
	if (ret) {
		free(d);
		return ret;
	}
	w->daemon[iop] = d;
	return 0;
}

static void daemon_stop(void *arg)
{
	struct daemon *d = arg;

	ddio_iop_stop(d->iop);
}

static void daemon_end(struct faults *f, struct daemon *d)
{
	d->stop.fn = daemon_stop;
	d->stop.arg = d;
	ddio_env_post(d->env[0], &d->stop);
	d->next = f->world->orphans;
	f->world->orphans = d;
}

/* The machine's memory held what nobody had flushed of the name space's journals: of a thousand sectors @lose are gone. */
static void journals_lose(struct faults *f, const char *dead, const char *live, uint32_t lose)
{
	char from[60], to[60];
	int64_t lost;
	int i;

	for (i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s/ns/journal.%d", dead, i);
		snprintf(to, sizeof(to), "%s/ns/journal.%d", live, i);
		lost = ddio_sim_file_crash(f->world->sim, from, to, lose);
		if (lost < 0 && lost != -ENOENT)
			faults_violated(f, "cannot change %s: %s", to, strerror((int)-lost));
		else if (lost > 0)
			faults_say(f, "%s loses %lld sectors", to, (long long)lost);
	}
}

static void records_crash(struct faults *f, uint32_t iop, uint32_t lose)
{
	char live[16], dead[32];

	snprintf(live, sizeof(live), "io%u", iop);
	snprintf(dead, sizeof(dead), "dead%u", f->world->deaths++);
	if (rename(live, dead) || faults_copy_records(dead, live))
		faults_violated(f, "cannot copy the records of io%u: %s", iop, strerror(errno));
	else if (lose)
		journals_lose(f, dead, live, lose);
}

void faults_iop_crash(struct faults *f, uint32_t iop, uint32_t lose)
{
	struct daemon *d = f->world->daemon[iop];
	int64_t lost;
	uint32_t k;

	f->world->daemon[iop] = NULL;
	f->world->runs[iop] += lose > 0;
	for (k = 0; k < f->conf.disks; k++) {
		if (f->conf.node[k] != iop)
			continue;
		lost = ddio_sim_medium_crash(f->world->medium[k], lose);
		if (lost)
			faults_say(f, "d%u loses %lld sectors", k, (long long)lost);
	}
	records_crash(f, iop, lose);
	for (k = 0; k < d->nenvs; k++) {
		ddio_sim_orphan(d->env[k]);
		ddio_sim_fail_offload(d->env[k], false);
	}
	d->orphan = true;
	daemon_end(f, d);
}

/* Stops it in order: it keeps its disks until it has stopped. */
void faults_iop_stop(struct faults *f, uint32_t iop)
{
	struct daemon *d = f->world->daemon[iop];

	f->world->daemon[iop] = NULL;
	daemon_end(f, d);
}

static void daemons_free(struct faults *f)
{
	struct daemon **at = &f->world->orphans, *d;

	while ((d = *at)) {
		if (!d->stopped) {
			at = &d->next;
			continue;
		}
		*at = d->next;
		ddio_iop_free(d->iop);
		free(d);
	}
}

/*
 * Compute processes
 */
static void gate_open(struct faults *f, struct cp_life *p)
{
	struct ddio_gate *gate = f->world->gate;

	f->world->gate = NULL;
	if (gate)
		ddio_gate_open(p->env, gate);
}

/* Waits until all have arrived; the last one ends the round. */
static void program_meet(struct faults *f, struct cp_life *p)
{
	struct ddio_gate here;

	if (++f->arrived == f->conf.cps) {
		f->arrived = 0;
		f->world->script->all_met(f);
		gate_open(f, p);
		return;
	}
	if (!f->world->gate) {
		ddio_gate_init(&here);
		f->world->gate = &here;
	}
	ddio_gate_wait(p->env, f->world->gate, 0);
}

static void program_main(void *arg);

static int program_begin(struct faults *f, uint32_t rank)
{
	struct cp_life *p = calloc(1, sizeof(*p));
	struct faults_cp *cp = &f->cp[rank];

	if (!p)
		return -ENOMEM;
	p->cp = cp;
	p->env = world_env(f, "cp", rank);
	if (f->spec.per_machine)
		ddio_sim_place(p->env, f->world->machine[rank / f->spec.per_machine]);
	p->next = f->world->old;
	f->world->old = p;
	f->world->program[rank] = p;
	cp->f = f;
	cp->rank = rank;
	cp->life++;
	cp->dead = false;
	return ddio_sim_spawn(p->env, program_main, p);
}

static void program_main(void *arg)
{
	struct cp_life *p = arg;
	struct faults_cp *cp = p->cp;
	struct faults *f = cp->f;

	for (;;) {
		program_meet(f, p);
		if (f->round.op == OP_OVER || f->result->why[0])
			break;
		f->world->script->round(cp);
		if (cp->dead)
			break;
	}
	f->world->script->end(cp);
	if (cp->dead && program_begin(f, cp->rank))
		abort();
}

struct ddio_env *faults_env(const struct faults_cp *cp)
{
	return cp->f->world->program[cp->rank]->env;
}

int faults_connect(struct faults_cp *cp)
{
	struct faults_world *w = cp->f->world;

	int err = ddio_session_new_env(w->program[cp->rank]->env, w->conf, &w->key, &cp->session);

	if (!err && cp->f->conf.spread && cp->rank % 4 != 3)
		cp->session->transfers->spread_min = 1;
	/* With every other seed I/O processors are asked by several members, as in larger systems. */
	if (!err && cp->f->spec.seed & 1)
		cp->session->transfers->ask_alone = 1;
	return err;
}

void faults_sleep(struct faults_cp *cp, uint64_t ns)
{
	ddio_sim_sleep(cp->f->world->program[cp->rank]->env, ns);
}

bool faults_cp_kill(struct faults *f, uint32_t rank)
{
	if (f->world->script->dies && !f->world->script->dies(&f->cp[rank]))
		return false;
	f->cp[rank].dead = f->cp[rank].was_dead = true;
	ddio_sim_orphan(f->world->program[rank]->env);
	return true;
}

/*
 * Running
 */
static void watch(struct faults *f)
{
	uint32_t r;

	for (r = 0; r < f->conf.cps; r++) {
		const struct faults_cp *cp = &f->cp[r];

		if (cp->in_call && faults_now(f) - cp->in_call > FAULTS_BOUND_NS)
			faults_violated(f, "cp%u hangs in %s for more than %llu s", r, cp->what,
					(unsigned long long)(FAULTS_BOUND_NS / 1000000000));
	}
}

int faults_world_run(struct faults *f, const struct faults_script *script)
{
	uint64_t until = 0;
	uint32_t r;
	int ret = 0;

	f->world->script = script;
	for (r = 0; r < f->conf.cps && !ret; r++)
		ret = program_begin(f, r);
	while (!ret && !f->result->why[0]) {
		until += SLICE_NS;
		ddio_sim_limit(f->world->sim, until);
		ret = ddio_sim_run(f->world->sim);
		daemons_free(f);
		watch(f);
		if (!ret)
			break;
		if (ret == -EDEADLK)
			faults_violated(f, "everything waits, and nothing will happen");
		if (ret == -ETIME)
			ret = 0;
	}
	/* No disk here changes a bit by itself; but one whose flush has failed has older ones. */
	if (!f->forgot && ddio_sim_logged(f->world->sim, "does not match its checksum"))
		faults_violated(f, "a block is said to be wrong that is not: a false alarm");
	f->result->trace = ddio_sim_trace(f->world->sim);
	f->result->events = ddio_sim_events(f->world->sim);
	f->result->virtual_ns = ddio_sim_elapsed(f->world->sim);
	return ret;
}

static void slot_fired(void *arg)
{
	struct timer_slot *slot = arg;

	slot->fn(slot->f, slot->number);
}

void faults_after(struct faults *f, uint32_t n, uint64_t ns,
		  void (*fn)(struct faults *f, uint32_t slot))
{
	struct timer_slot *slot = &f->world->slot[n];

	slot->fn = fn;
	slot->f = f;
	slot->number = n;
	slot->timer.fn = slot_fired;
	slot->timer.arg = slot;
	ddio_timer_arm(f->world->fate, &slot->timer, ddio_env_now(f->world->fate) + ns);
}

/*
 * Network and disks
 */
static void env_net(struct ddio_env *env, enum faults_net what, uint64_t arg)
{
	struct ddio_sim_link link;

	ddio_sim_link_default(&link);
	switch (what) {
	case NET_BREAK:
		ddio_sim_break(env);
		return;
	case NET_CUT:
		ddio_sim_cut(env);
		return;
	case NET_STALL:
		link.stall_after = 1 + arg % 5000;
		break;
	case NET_SLOW:
		link.latency_ns = arg / 4;
		link.jitter_ns = arg;
		link.chop = 1 + arg % 3000;
		link.window = 2000 + arg % 50000;
		break;
	default:
		ddio_sim_rejoin(env);
	}
	ddio_sim_set_link(env, &link);
}

void faults_net(struct faults *f, uint32_t proc, enum faults_net what, uint64_t arg)
{
	struct daemon *d;
	uint32_t k;

	if (proc >= f->conf.iops) {
		if (!f->cp[proc - f->conf.iops].dead)
			env_net(f->world->program[proc - f->conf.iops]->env, what, arg);
		return;
	}
	d = f->world->daemon[proc];
	for (k = 0; d && k < d->nenvs; k++)
		env_net(d->env[k], what, arg);
}

static uint32_t disk_ops(uint32_t ops)
{
	return (ops & FAULTS_READS ? 1u << DDIO_DISK_READ : 0) |
	       (ops & FAULTS_WRITES ? 1u << DDIO_DISK_WRITE : 0) |
	       (ops & FAULTS_FLUSHES ? 1u << DDIO_DISK_FLUSH : 0);
}

static void disk_forgot(void *arg)
{
	struct disk_slot *d = arg;

	faults_say(d->f, "d%u has lost what it was to flush", d->number);
	d->f->forgot = true;
	faults_dues_forgot(d->f, d->number);
	faults_disk_lost(d->f, d->number);
}

void faults_disk(struct faults *f, uint32_t disk, const struct faults_disk *how)
{
	struct disk_slot *d = &f->world->disk[disk];
	struct ddio_sim_medium_faults m = { .delay_ns = how->delay_ns,
					    .jitter_ns = how->jitter_ns,
					    .bad_first = how->bad_first,
					    .bad_end = how->bad_end,
					    .bad_next = how->bad_next,
					    .bad_ops = disk_ops(how->bad_ops),
					    .no_flush = f->spec.plant == PLANT_FLUSH,
					    .forgot = disk_forgot,
					    .arg = d };

	d->f = f;
	d->number = disk;
	ddio_sim_medium_set(f->world->medium[disk], &m);
}

void faults_records(struct faults *f, uint32_t iop, bool bad)
{
	struct daemon *d = f->world->daemon[iop];
	uint32_t k;

	for (k = 0; d && k < d->nenvs; k++)
		ddio_sim_fail_offload(d->env[k], bad);
}

bool faults_disk_stopped(struct faults *f, uint32_t disk)
{
	return ddio_sim_medium_flush_failed(f->world->medium[disk]);
}

/*
 * The end
 */
void faults_world_free(struct faults *f)
{
	struct faults_world *w = f->world;
	struct cp_life *p;
	uint32_t i;

	if (!w)
		return;
	for (i = 0; w->sim && i < f->conf.iops; i++)
		if (w->daemon[i])
			faults_iop_stop(f, i);
	if (w->sim)
		ddio_sim_run_for(w->sim, 2 * FAULTS_BOUND_NS);
	daemons_free(f);
	if (w->orphans)
		faults_violated(f, "an I/O processor that was to stop has not");
	while ((p = w->old)) {
		w->old = p->next;
		free(p);
	}
	ddio_sim_free(w->sim);
	ddio_conf_free(w->conf);
	if (w->home >= 0) {
		if (!fchdir(w->home) && w->dir[0])
			local_remove_tree(w->dir);
		close(w->home);
	}
	free(w);
	f->world = NULL;
}
