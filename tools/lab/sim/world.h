/* SPDX-License-Identifier: GPL-2.0-only */
/* A whole cluster in virtual time: the code of daemons and library in a simulated world. */
#ifndef TOOLS_SIM_WORLD_H
#define TOOLS_SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ddio/ddio.h>
#include "tools/lab/bench/bench.h"
#include "tools/common/local.h"

struct sim_world;

/**
 * struct sim_world_spec - what to build
 * @local: the cluster
 * @cps: compute processes
 * @machine, @network: names; @costs: what is changed of the machine, as for costs_change()
 * @columns, @rows: size of a torus; 0: that of the papers, or larger and square if there are more processors
 * @jitter_ns: at most this is added at random to the time that bytes take through the network
 * @seed: of everything random
 * @verbose: log lines to standard error
 * @per_machine: CPs on each machine, with one interface and a CPU each; 0 or 1: each has its own
 * @brokers: those of a machine reach I/O processors through one of them
 * @watch: record how much of the I/O processors' time measured transfers leave
 */
struct sim_world_spec {
	struct local_spec local;
	uint32_t cps;
	const char *machine, *network, *costs;
	uint32_t columns, rows;
	uint32_t per_machine;
	bool brokers;
	uint64_t jitter_ns, seed;
	bool verbose, watch, prompt;
};

/**
 * struct sim_cp - a compute process
 * @rank: 0 to cps - 1
 * @arg: the caller's
 */
struct sim_cp {
	struct sim_world *world;
	uint32_t rank;
	void *arg;
};

/* @err: one line saying what was wrong. */
int sim_world_new(const struct sim_world_spec *spec, struct sim_world **world, char *err,
		  size_t err_len);
/*
 * Every process runs @fn at once; @tick, if not NULL, is called now and then in real time.
 * Return: 0, the first nonzero that @fn returned, -EDEADLK or -ETIME.
 */
int sim_world_run(struct sim_world *world, int (*fn)(struct sim_cp *cp), void *arg,
		  void (*tick)(void *arg));
/* Stops the daemons in order and frees everything. */
void sim_world_free(struct sim_world *world);

/* Return: the world as a process sees it, for the benchmark. */
struct bench_world sim_cp_world(struct sim_cp *cp);

/**
 * struct sim_world_stats - what a simulation took
 * @virtual_ns: time that passed in the world
 * @events: handled
 * @messages, @bytes: through the network; @net_wait_ns: waiting for links
 * @cp_busy_ns, @iop_busy_ns: CPU time of all of them
 * @sorted, @runs: list entries that the I/O processors sorted, runs that they computed
 * @streams: connections between machines, the most at a time
 * @memory: largest memory of this program, in bytes
 */
struct sim_world_stats {
	uint64_t virtual_ns;
	uint64_t events;
	uint64_t messages, bytes, net_wait_ns;
	uint64_t cp_busy_ns, iop_busy_ns;
	uint64_t sorted, runs;
	uint64_t streams;
	uint64_t memory;
};

void sim_world_stats(const struct sim_world *world, struct sim_world_stats *stats);

#endif /* TOOLS_SIM_WORLD_H */
