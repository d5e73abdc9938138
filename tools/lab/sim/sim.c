// SPDX-License-Identifier: GPL-2.0-only
/* ddio sim: the measurements of ddio bench in virtual time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/rand.h"
#include "tools/lab/bench/opts.h"
#include "tools/common/cmd.h"
#include "tools/common/progress.h"
#include "tools/lab/faults/many.h"
#include "sim.h"
#include "world.h"

/* The options in common come first, so that their offsets are the same. */
struct sim_values {
	struct bench_values bench;
	const char *machine, *network, *costs;
	uint32_t columns, rows, jitter_us, skew_us;
	uint32_t per_machine;
	bool verbose, stats, watch, prompt, phases, faults, power, mounts, epochs, brokers, first,
		minimize;
	uint32_t seeds, jobs, rounds;
	const char *plant;
};

#define SIM_AT(member) offsetof(struct sim_values, member)

static const struct ddio_opt sim_opts[] = {
	BENCH_OPTS,
	DDIO_OPT("machine", 'M', OPT_TEXT, SIM_AT(machine), "NAME",
		 "machine that CPU work is charged for: 1994, free (1994)"),
	DDIO_OPT("cost", 0, OPT_TEXT, SIM_AT(costs), "LIST",
		 "other costs than the machine's, in ns: cache=12000,memput=5000+5"),
	DDIO_OPT("network", 'N', OPT_TEXT, SIM_AT(network), "NAME",
		 "network: torus, switched, ideal (torus)"),
	DDIO_OPT("columns", 0, OPT_U32, SIM_AT(columns), "N",
		 "columns of the torus (6, or more if needed)"),
	DDIO_OPT("rows", 0, OPT_U32, SIM_AT(rows), "N", "rows of the torus (6, or more if needed)"),
	DDIO_OPT("prompt", 0, OPT_FLAG, SIM_AT(prompt), NULL,
		 "each answer leaves before the next request is looked at, as by threads"),
	DDIO_OPT("phases", 0, OPT_FLAG, SIM_AT(phases), NULL,
		 "emulated disks begin at angles of their own, by the seed"),
	DDIO_OPT("jitter", 0, OPT_U32, SIM_AT(jitter_us), "US",
		 "at most this is added at random to each message's time (0)"),
	DDIO_OPT("skew", 0, OPT_U32, SIM_AT(skew_us), "US",
		 "each process comes to a measured transfer late, by at most this, at random (0)"),
	DDIO_OPT("cpu-left", 0, OPT_FLAG, SIM_AT(watch), NULL,
		 "print in CSV how much CPU time I/O leaves to a computation"),
	DDIO_OPT("stats", 0, OPT_FLAG, SIM_AT(stats), NULL,
		 "print on standard error what the simulation took"),
	DDIO_OPT("faults", 0, OPT_FLAG, SIM_AT(faults), NULL,
		 "measure nothing; check a workload under faults by a model"),
	DDIO_OPT("seeds", 0, OPT_U32, SIM_AT(seeds), "N",
		 "with --faults: number of seeds, from --seed on (1)"),
	DDIO_OPT("jobs", 'j', OPT_U32, SIM_AT(jobs), "N",
		 "with --faults: runs at a time (one for each processor)"),
	DDIO_OPT("rounds", 0, OPT_U32, SIM_AT(rounds), "N",
		 "with --faults: rounds of work (chosen by the seed)"),
	DDIO_OPT("plant", 0, OPT_TEXT, SIM_AT(plant), "NAME",
		 "with --faults: a bug that must be found: flush, byte, verdict, hang"),
	DDIO_OPT("power", 0, OPT_FLAG, SIM_AT(power), NULL,
		 "with --faults: nothing breaks but the power, of one node or of all"),
	DDIO_OPT("epochs", 0, OPT_FLAG, SIM_AT(epochs), NULL,
		 "with --faults: files are written together, in one epoch"),
	DDIO_OPT("mounts", 0, OPT_FLAG, SIM_AT(mounts), NULL,
		 "with --faults: processes have mounts, and the model knows names"),
	DDIO_OPT(
		"per-machine", 0, OPT_U32, SIM_AT(per_machine), "N",
		"compute processes of each machine, which have one interface to the network (1; --faults --brokers: 3)"),
	DDIO_OPT("brokers", 0, OPT_FLAG, SIM_AT(brokers), NULL,
		 "processes of a machine reach I/O processors through a broker"),
	DDIO_OPT("first", 0, OPT_FLAG, SIM_AT(first), NULL,
		 "with --faults: end at the first seed that fails"),
	DDIO_OPT("minimize", 0, OPT_FLAG, SIM_AT(minimize), NULL,
		 "with --faults: tell the shortest schedule with which --seed fails"),
	DDIO_OPT("verbose", 'v', OPT_FLAG, SIM_AT(verbose), NULL,
		 "print the daemons' log on standard error"),
	{ 0 },
};

const struct opt_cmd opts_sim = {
	"ddio",	  "sim", NULL, "Measure collective I/O in virtual time, or test under faults.",
	sim_opts, 0,	 0
};

struct sim_run {
	const struct bench_spec *spec;
	struct bench_shared *sh;
	struct progress progress;
};

static int run_cp(struct sim_cp *cp)
{
	struct sim_run *run = cp->arg;
	struct bench_world world = sim_cp_world(cp);

	return bench_cp(run->spec, run->sh, cp->rank, &world) ? -ECHILD : 0;
}

static void tick(void *arg)
{
	struct sim_run *run = arg;

	progress_step(&run->progress, run->sh->done, run->sh->what);
}

static void print_stats(const struct sim_world *world)
{
	struct sim_world_stats st;

	sim_world_stats(world, &st);
	fprintf(stderr,
		"virtual %.3f s, %llu events, %llu messages, %llu bytes, %.3f s waiting for links, "
		"CPU %.3f s of CPs, %.3f s of IOPs; %llu entries sorted, %llu runs; %llu connections; %llu bytes of memory\n",
		st.virtual_ns / 1e9, (unsigned long long)st.events, (unsigned long long)st.messages,
		(unsigned long long)st.bytes, st.net_wait_ns / 1e9, st.cp_busy_ns / 1e9,
		st.iop_busy_ns / 1e9, (unsigned long long)st.sorted, (unsigned long long)st.runs,
		(unsigned long long)st.streams, (unsigned long long)st.memory);
}

static int simulate(const struct sim_values *v, const struct bench_spec *spec,
		    struct bench_shared *sh)
{
	const struct bench_values *b = &v->bench;
	struct sim_world_spec ws = { .local = { .iops = b->iops,
						.disks = b->disks,
						.engine = b->engine,
						.options = b->disk_options,
						.disk_size = b->disk_size,
						.shared_bus = b->shared_bus,
						.cache = b->cache,
						.block = b->block,
						.buffers = b->buffers,
						.fcfs = b->fcfs,
						.late_ahead = b->late_ahead,
						.phases = v->phases ? ddio_rand_mix(b->seed) | 1
								    : 0,
						.no_write_back = true,
						.reactors = 1 },
				     .cps = b->cps,
				     .machine = v->machine,
				     .network = v->network,
				     .costs = v->costs,
				     .columns = v->columns,
				     .rows = v->rows,
				     .per_machine = v->per_machine,
				     .brokers = v->brokers,
				     .jitter_ns = v->jitter_us * 1000ull,
				     .seed = b->seed,
				     .verbose = v->verbose,
				     .watch = v->watch,
				     .prompt = v->prompt };
	struct sim_run run = { .spec = spec, .sh = sh };
	struct sim_world *world;
	char text[600];
	int err = sim_world_new(&ws, &world, text, sizeof(text));

	if (err)
		return cmd_fail("sim", 0, "%s", text), err;
	snprintf(sh->kernel, sizeof(sh->kernel), "simulated %s, %s", v->machine, v->network);
	progress_begin(&run.progress, "sim", sh->total, spec->progress);
	err = sim_world_run(world, run_cp, &run, tick);
	progress_end(&run.progress);
	if (err)
		cmd_fail("sim", sh->failed ? 0 : err, "%s", sh->failed ? sh->error : "cannot run");
	if (v->stats)
		print_stats(world);
	sim_world_free(world);
	return err;
}

static int sim_all(struct sim_values *v)
{
	struct bench_spec spec;
	struct bench_shared *sh;
	int err = bench_spec_make(&v->bench, BENCH_MAX_CPS_VIRTUAL, &spec);

	if (err)
		return err;
	spec.skew_ns = v->skew_us * 1000ull;
	sh = bench_shared_new(&spec);
	if (!sh) {
		cmd_fail("sim", 0, "too many runs: at most %d", BENCH_MAX_RUNS);
		bench_spec_free(&spec);
		return -E2BIG;
	}
	err = simulate(v, &spec, sh);
	if (!err)
		err = bench_write("sim", &v->bench, &spec, sh);
	bench_shared_free(&spec, sh);
	bench_spec_free(&spec);
	return err;
}

int cmd_sim(int argc, char **argv)
{
	struct sim_values v = { .machine = "1994", .network = "torus", .seeds = 1 };
	int err;

	bench_defaults(&v.bench);
	err = opt_parse(&opts_sim, &v, &argc, &argv);
	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (v.faults)
		return faults_many(&(struct faults_many){ .seed = v.bench.seed,
							  .seeds = v.seeds,
							  .jobs = v.jobs,
							  .rounds = v.rounds,
							  .plant = v.plant,
							  .power = v.power,
							  .mounts = v.mounts,
							  .brokers = v.brokers,
							  .per_machine = v.per_machine,
							  .atomic = v.bench.atomic,
							  .epochs = v.epochs,
							  .first = v.first,
							  .minimize = v.minimize,
							  .verbose = v.verbose });
	err = sim_all(&v);
	return err == -EINVAL ? EXIT_USAGE : err ? EXIT_FAILED : EXIT_OK;
}
