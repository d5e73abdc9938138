// SPDX-License-Identifier: GPL-2.0-only
/* ddio bench: options, the cluster, the processes, the results. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "mount.h"
#include "spec.h"
#include "tools/common/cmd.h"
#include "tools/common/progress.h"
#include "procs.h"

struct bench_job {
	const struct bench_spec *spec;
	struct bench_shared *sh;
	struct progress progress;
};

static int process(void *arg, uint32_t rank, const struct bench_world *world)
{
	struct bench_job *job = arg;

	return bench_cp(job->spec, job->sh, rank, world);
}

static void show_progress(void *arg)
{
	struct bench_job *job = arg;
	char what[sizeof(job->sh->what)];

	memcpy(what, (const void *)job->sh->what, sizeof(what));
	what[sizeof(what) - 1] = 0;
	progress_step(&job->progress, job->sh->done, what);
}

static int run_processes(const struct bench_spec *spec, struct bench_shared *sh)
{
	struct bench_job job = { .spec = spec, .sh = sh };
	struct procs ps = { .n = spec->cps,
			    .conf = spec->conf,
			    .fn = process,
			    .tick = show_progress,
			    .arg = &job,
			    .failed = &sh->failed,
			    .error = sh->error,
			    .error_len = sizeof(sh->error) };
	int err;

	progress_begin(&job.progress, "bench", sh->total, spec->progress);
	err = procs_run(&ps);
	progress_end(&job.progress);
	return err;
}

static int cluster_start(const struct bench_values *v, struct procs_cluster *c)
{
	struct local_spec spec = { .iops = v->iops,
				   .disks = v->disks,
				   .engine = v->engine,
				   .options = v->disk_options,
				   .disk_size = v->disk_size,
				   .files = !strcmp(v->engine, "aio"),
				   .key = true,
				   .no_write_back = true,
				   .shared_bus = v->shared_bus,
				   .cache = v->cache,
				   .block = v->block,
				   .buffers = v->buffers,
				   .reactors = v->reactors };

	return procs_cluster_start("bench", &spec, c);
}

static int bench_all(struct bench_values *v)
{
	struct procs_cluster c = { .n = 0 };
	struct bench_spec spec;
	struct bench_shared *sh;
	int err = bench_spec_make(v, BENCH_MAX_CPS, &spec);

	if (err)
		return err;
	sh = bench_shared_new(&spec);
	if (!sh)
		return cmd_fail("bench", 0, "too many runs: at most %d", BENCH_MAX_RUNS), -E2BIG;
	if (!v->conf) {
		err = cluster_start(v, &c);
		spec.conf = c.conf;
	}
	if (!err)
		err = run_processes(&spec, sh);
	procs_cluster_stop(&c);
	if (err) {
		if (err == -EINTR)
			cmd_fail("bench", 0, "interrupted");
		else
			cmd_fail("bench", sh->failed ? 0 : err, "%s",
				 sh->failed ? sh->error : "cannot run");
	} else {
		err = bench_write("bench", v, &spec, sh);
	}
	bench_shared_free(&spec, sh);
	bench_spec_free(&spec);
	return err;
}

int cmd_bench(int argc, char **argv)
{
	struct bench_values v;
	int err;

	bench_defaults(&v);
	err = opt_parse(&opts_bench, &v, &argc, &argv);
	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	procs_catch_signals();
	err = v.mount ? bench_mount(&v) : bench_all(&v);
	return err == -EINVAL ? EXIT_USAGE : err ? EXIT_FAILED : EXIT_OK;
}
