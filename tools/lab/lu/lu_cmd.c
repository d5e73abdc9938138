// SPDX-License-Identifier: GPL-2.0-only
/* ddio lu: the command; it runs on a cluster of its own, on another one, or in virtual time. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "tools/common/cmd.h"
#include "tools/common/version.h"
#include "lu.h"
#include "tools/lab/bench/procs.h"
#include "tools/lab/sim/world.h"

struct lu_values {
	uint32_t n, slab, cps, iops, outstanding;
	uint64_t block, cache, disk_size, seed;
	double flop_ns;
	const char *method, *layout, *engine, *disk_options, *conf, *machine, *matrix, *result;
	bool sim, fcfs, late_ahead, install, prompt, no_batch, csv, csv_header;
};

#define LU_AT(member) offsetof(struct lu_values, member)

static const struct ddio_opt lu_opts[] = {
	DDIO_OPT("order", 'N', OPT_U32, LU_AT(n), "N", "rows and columns of the matrix (1024)"),
	DDIO_OPT("slab", 's', OPT_U32, LU_AT(slab), "N", "columns that a process holds (16)"),
	DDIO_OPT("method", 'm', OPT_TEXT, LU_AT(method), "NAME", "method: tc, dd, dds (dds)"),
	DDIO_OPT("layout", 'l', OPT_TEXT, LU_AT(layout), "NAME",
		 "layout: contiguous, random-blocks (contiguous)"),
	DDIO_OPT("block-size", 'b', OPT_SIZE, LU_AT(block), "SIZE", "file-system block (4K)"),
	DDIO_OPT("cps", 'n', OPT_U32, LU_AT(cps), "N", "compute processes (8)"),
	DDIO_OPT("iops", 'i', OPT_U32, LU_AT(iops), "N", "I/O processors, with a disk each (8)"),
	DDIO_OPT("cache", 0, OPT_SIZE, LU_AT(cache), "SIZE",
		 "block cache of each disk (two blocks for each process)"),
	DDIO_OPT("engine", 'e', OPT_TEXT, LU_AT(engine), "NAME",
		 "disk engine: hp97560, mem, aio (hp97560)"),
	DDIO_OPT("disk-options", 'o', OPT_TEXT, LU_AT(disk_options), "LIST",
		 "options of the engine, see ddio-disk-engines(7)"),
	DDIO_OPT("disk-size", 0, OPT_SIZE, LU_AT(disk_size), "SIZE",
		 "size of a disk (mem: what the file needs; aio: 8G)"),
	DDIO_OPT("seed", 0, OPT_U64, LU_AT(seed), "N", "seed of the matrix and the layout (1)"),
	DDIO_OPT("conf", 'c', OPT_TEXT, LU_AT(conf), "FILE",
		 "use this cluster instead of starting one"),
	DDIO_OPT("sim", 0, OPT_FLAG, LU_AT(sim), NULL, "run in virtual time"),
	DDIO_OPT("machine", 'M', OPT_TEXT, LU_AT(machine), "NAME",
		 "in virtual time, the machine charged for: 1994, free (1994)"),
	DDIO_OPT("flop-ns", 0, OPT_DOUBLE, LU_AT(flop_ns), "NS",
		 "in virtual time, the cost of an arithmetic operation (600)"),
	DDIO_OPT("fcfs", 0, OPT_FLAG, LU_AT(fcfs), NULL,
		 "disk queues are first come, first served, not CSCAN"),
	DDIO_OPT("late-ahead", 0, OPT_FLAG, LU_AT(late_ahead), NULL,
		 "read ahead once a read has ended, not along with it"),
	DDIO_OPT("install", 0, OPT_FLAG, LU_AT(install), NULL,
		 "caches read a block before part of it is written"),
	DDIO_OPT("prompt", 0, OPT_FLAG, LU_AT(prompt), NULL,
		 "in virtual time, each answer leaves before the next request is looked at"),
	DDIO_OPT("no-batch", 0, OPT_FLAG, LU_AT(no_batch), NULL,
		 "charge a Memput or Memget for each piece, one block at a time"),
	DDIO_OPT("matrix", 0, OPT_TEXT, LU_AT(matrix), "FILE",
		 "write the matrix to this file: floats by column"),
	DDIO_OPT("result", 0, OPT_TEXT, LU_AT(result), "FILE", "write L and U to this file"),
	DDIO_OPT("csv-header", 0, OPT_FLAG, LU_AT(csv_header), NULL,
		 "run nothing, print the names of the columns"),
	DDIO_OPT("csv", 0, OPT_FLAG, LU_AT(csv), NULL, "print one comma-separated line"),
	{ 0 },
};

const struct opt_cmd opts_lu = {
	"ddio",	 "lu", NULL, "Decompose a matrix larger than memory and check the result.",
	lu_opts, 0,    0
};

struct lu_job {
	const struct lu_spec *spec;
	struct lu_shared *sh;
	float *result; /* shared with the processes; NULL if it is not wanted */
	uint64_t result_bytes;
};

static int lu_bad(const char *text)
{
	cmd_fail("lu", 0, "%s", text);
	return -EINVAL;
}

static int lu_spec_make(const struct lu_values *v, struct lu_spec *s)
{
	static const char *const methods[] = { "", "tc", "", "dd", "dds" };
	static const char *const layouts[] = { "contiguous", "random-blocks", "random-tracks" };
	uint32_t i;

	*s = (struct lu_spec){ .n = v->n,
			       .slab = v->slab,
			       .cps = v->cps,
			       .layout = UINT32_MAX,
			       .xfer_flags = v->no_batch ? DDIO_XFER_NO_BATCH : 0,
			       .block = v->block,
			       .seed = v->seed,
			       .flop_ns = v->flop_ns,
			       .name = "lu.matrix" };
	for (i = DDIO_METHOD_TC; i <= DDIO_METHOD_DDS; i++)
		if (*methods[i] && !strcmp(v->method, methods[i]))
			s->method = i;
	for (i = 0; i < 3; i++)
		if (!strcmp(v->layout, layouts[i]))
			s->layout = i;
	if (!s->method)
		return lu_bad("--method takes tc, dd or dds");
	if (s->layout == UINT32_MAX)
		return lu_bad("--layout takes contiguous, random-blocks or random-tracks");
	if (!v->n || v->n > LU_MAX_N || !v->slab || v->slab > LU_MAX_N)
		return lu_bad("--order and --slab take 1 to 16384");
	if (!v->cps || v->cps > 4096 || !v->iops || v->iops > 4096)
		return lu_bad("--cps and --iops take 1 to 4096");
	if (v->block < 512 || v->block > DDIO_MAX_BLOCK_SIZE || (v->block & (v->block - 1)))
		return lu_bad("--block-size takes a power of two, at least 512");
	if (!(v->flop_ns >= 0 && v->flop_ns < 1e9))
		return lu_bad("--flop-ns takes 0 to 1e9");
	return 0;
}

static int process(void *arg, uint32_t rank, const struct bench_world *world)
{
	struct lu_job *job = arg;

	return lu_cp(job->spec, job->sh, rank, world, rank ? NULL : job->result);
}

static struct local_spec lu_local(const struct lu_values *v)
{
	return (struct local_spec){ .iops = v->iops,
				    .disks = 1,
				    .engine = v->engine,
				    .options = v->disk_options,
				    .disk_size = v->disk_size,
				    .files = !v->sim && !strcmp(v->engine, "aio"),
				    .key = !v->sim,
				    .cache = v->cache ? v->cache : 2 * v->cps * v->block,
				    .fcfs = v->fcfs,
				    .late_ahead = v->late_ahead,
				    .no_write_back = true,
				    .install = v->install,
				    .reactors = v->sim };
}

static int lu_real(const struct lu_values *v, struct lu_job *job)
{
	struct local_spec local = lu_local(v);
	struct procs_cluster c = { .n = 0 };
	struct procs ps = { .n = v->cps,
			    .conf = v->conf ? v->conf : c.conf,
			    .fn = process,
			    .arg = job,
			    .failed = &job->sh->failed,
			    .error = job->sh->error,
			    .error_len = sizeof(job->sh->error) };
	int err = v->conf ? 0 : procs_cluster_start("lu", &local, &c);

	if (!err)
		err = procs_run(&ps);
	procs_cluster_stop(&c);
	return err;
}

static int sim_process(struct sim_cp *cp)
{
	struct bench_world world = sim_cp_world(cp);

	return process(cp->arg, cp->rank, &world) ? -ECHILD : 0;
}

static int lu_sim(const struct lu_values *v, struct lu_job *job)
{
	struct sim_world_spec ws = { .local = lu_local(v),
				     .cps = v->cps,
				     .machine = v->machine,
				     .network = "torus",
				     .prompt = v->prompt,
				     .seed = v->seed };
	struct sim_world *world;
	char text[600];
	int err = sim_world_new(&ws, &world, text, sizeof(text));

	if (err)
		return cmd_fail("lu", 0, "%s", text), err;
	err = sim_world_run(world, sim_process, job, NULL);
	sim_world_free(world);
	return err;
}

static int lu_write(const char *path, const float *a, uint64_t bytes)
{
	FILE *f = path ? fopen(path, "w") : NULL;
	int err = 0;

	if (!path)
		return 0;
	if (!f)
		return cmd_fail("lu", -errno, "%s", path), -EIO;
	if (fwrite(a, 1, bytes, f) != bytes)
		err = -EIO;
	if (fclose(f) || err)
		return cmd_fail("lu", -errno, "%s", path), -EIO;
	return 0;
}

static void lu_print(const struct lu_values *v, const struct lu_spec *s, const struct lu_shared *sh)
{
	const double mb = 1 << 20;

	if (v->csv) {
		printf("%s,%u,%llu,%s,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f,%.2f,%llu,%.2g\n",
		       bench_layout_name(s->layout), s->slab, (unsigned long long)s->block,
		       bench_method_name(s->method), sh->app_read / mb, sh->app_write / mb,
		       (sh->app_read + sh->app_write) / mb, sh->disk_read / mb, sh->disk_write / mb,
		       (sh->disk_read + sh->disk_write) / mb, sh->elapsed_ns / 1e9,
		       (unsigned long long)sh->wrong, sh->residual);
		return;
	}
	printf("%u x %u floats, %u processes with %u columns each, %u I/O processors\n", s->n, s->n,
	       s->cps, s->slab, v->iops);
	printf("%s, blocks of %llu, %s, %s\n", bench_layout_name(s->layout),
	       (unsigned long long)s->block, bench_method_name(s->method),
	       v->sim ? v->machine : "real time");
	printf("application: %.1f MB read, %.1f MB written\n", sh->app_read / mb,
	       sh->app_write / mb);
	printf("disk traffic: %.1f MB read, %.1f MB written\n", sh->disk_read / mb,
	       sh->disk_write / mb);
	printf("%.2f s, %.3g operations\n", sh->elapsed_ns / 1e9, (double)sh->flops);
	printf("%llu elements differ from the decomposition in memory; |A - L U| at most %.2g of "
	       "|A|\n",
	       (unsigned long long)sh->wrong, sh->residual);
}

static int lu_run(const struct lu_values *v, struct lu_job *job)
{
	int err = v->sim ? lu_sim(v, job) : lu_real(v, job);

	if (err) {
		if (err != -EINVAL)
			cmd_fail("lu", job->sh->failed ? 0 : err, "%s",
				 job->sh->failed ? job->sh->error : "cannot run");
		return err;
	}
	lu_print(v, job->spec, job->sh);
	err = lu_write(v->result, job->result, job->result_bytes);
	if (!err && job->result) {
		lu_matrix(job->spec->seed, job->spec->n, job->result);
		err = lu_write(v->matrix, job->result, job->result_bytes);
	}
	if (!err && job->sh->wrong)
		return cmd_fail("lu", 0, "WRONG RESULT"), -EILSEQ;
	return err;
}

static int lu_all(const struct lu_values *v)
{
	struct lu_spec spec;
	struct lu_job job = { .spec = &spec };
	int err = lu_spec_make(v, &spec);

	if (err)
		return err;
	job.sh = lu_shared_new(&spec);
	if (!job.sh)
		return -ENOMEM;
	job.result_bytes = (uint64_t)v->n * v->n * sizeof(float);
	if (v->matrix || v->result) {
		job.result = mmap(NULL, job.result_bytes, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (job.result == MAP_FAILED)
			job.result = NULL;
	}
	if ((v->matrix || v->result) && !job.result) {
		cmd_fail("lu", -ENOMEM, "result");
		err = -ENOMEM;
	} else
		err = lu_run(v, &job);
	if (job.result)
		munmap(job.result, job.result_bytes);
	lu_shared_free(job.sh);
	return err;
}

static void lu_print_header(const struct lu_values *v)
{
	printf("# ddio %s (%s), %s, engine %s\n", tool_version, tool_commit,
	       v->sim ? v->machine : "real time", v->engine);
	printf("# %u compute processes, %u I/O processors with a disk each, %u x %u floats\n",
	       v->cps, v->iops, v->n, v->n);
	printf("# seed %llu, %.0f ns an operation of the arithmetic; MB = 2^20\n",
	       (unsigned long long)v->seed, v->flop_ns);
	printf("layout,slab_cols,block_bytes,method,app_read_mb,app_write_mb,app_total_mb,"
	       "disk_read_mb,disk_write_mb,disk_total_mb,seconds,wrong,residual\n");
}

int cmd_lu(int argc, char **argv)
{
	struct lu_values v = { .n = 1024,
			       .slab = 16,
			       .cps = 8,
			       .iops = 8,
			       .block = 4096,
			       .seed = 1,
			       .flop_ns = 600,
			       .method = "dds",
			       .layout = "contiguous",
			       .engine = "hp97560",
			       .machine = "1994" };
	int err = opt_parse(&opts_lu, &v, &argc, &argv);

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (v.csv_header) {
		lu_print_header(&v);
		return EXIT_OK;
	}
	procs_catch_signals();
	err = lu_all(&v);
	return err == -EINVAL ? EXIT_USAGE : err ? EXIT_FAILED : EXIT_OK;
}
