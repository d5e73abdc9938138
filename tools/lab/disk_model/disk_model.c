// SPDX-License-Identifier: GPL-2.0-only
/*
 * ddio disk-model: compares the emulated HP 97560 with traces and known figures.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tools/common/cmd.h"
#include "tools/lab/disk_model/disk_model.h"

struct disk_model_values {
	const char *policy;
	const char *plot;
	const char *generate;
	uint32_t count;
	uint32_t sectors;
	uint64_t think_us;
	uint64_t seed;
	bool csv;
};

#define AT(member) offsetof(struct disk_model_values, member)

static const struct ddio_opt options[] = {
	DDIO_OPT("policy", 'p', OPT_TEXT, AT(policy), "NAME",
		 "default, write-through or immediate-report"),
	DDIO_OPT("plot", 0, OPT_TEXT, AT(plot), "FILE.png", "draw the cumulative distributions"),
	DDIO_OPT("csv", 0, OPT_FLAG, AT(csv), NULL, "print comma-separated values"),
	DDIO_OPT("generate", 'g', OPT_TEXT, AT(generate), "PATTERN",
		 "generate a trace and print it"),
	DDIO_OPT("count", 'n', OPT_U32, AT(count), "N", "requests of that trace (1000)"),
	DDIO_OPT("sectors", 0, OPT_U32, AT(sectors), "N", "sectors of a request (16)"),
	DDIO_OPT("think", 0, OPT_U64, AT(think_us), "US", "host's time between requests (0)"),
	DDIO_OPT("seed", 0, OPT_U64, AT(seed), "N", "seed of the choices (1)"),
	{ 0 },
};

const struct opt_cmd opts_disk_model = {
	.program = "ddio",
	.name = "disk-model",
	.args = "[TRACE.csv...]",
	.summary = "Compare the emulated HP 97560 with traces or with known figures.",
	.opts = options,
	.min_args = 0,
	.max_args = -1,
};

static int usage_error(const char *format, const char *what)
{
	fprintf(stderr, "ddio disk-model: ");
	fprintf(stderr, format, what);
	fprintf(stderr, "\nTry 'ddio disk-model --help'.\n");
	return EXIT_USAGE;
}

static double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static void geometry_print(const struct hp97560_params *p)
{
	uint64_t sectors = hp97560_capacity(p);
	uint32_t i;

	printf("HP 97560: %u cylinders, %u heads, %u sectors of %d bytes a track\n", p->cylinders,
	       p->heads, p->track_sectors, HP97560_SECTOR_BYTES);
	printf("data (cylinder:head)  ");
	for (i = 0; i < p->n_regions; i++)
		printf(" %u:%u-%u:%u", p->regions[i].first_cyl, p->regions[i].first_head,
		       p->regions[i].last_cyl, p->regions[i].last_head);
	printf("\ncapacity               %llu sectors, %llu bytes\n", (unsigned long long)sectors,
	       (unsigned long long)sectors * HP97560_SECTOR_BYTES);
	printf("revolution             %.6f ms (%u in %.0f s)\n", ms(p->period_ns) / p->revolutions,
	       p->revolutions, ms(p->period_ns) / 1e3);
	printf("skew                   %u sectors a track, %u a cylinder\n", p->track_skew,
	       p->cyl_skew);
	printf("seek of d cylinders    %.2f + %.3f sqrt(d) ms to %u, %.2f + %.3f d ms beyond\n",
	       ms(p->short_seek_ns), ms(p->short_seek_sqrt_ns), p->short_seek_max,
	       ms(p->long_seek_ns), ms(p->long_seek_cyl_ns));
	printf("head switch, overhead  %.1f ms, %.1f ms a command\n", ms(p->head_switch_ns),
	       ms(p->overhead_ns));
	printf("bus                    %.4f ms a sector\n", ms(p->bus_sector_ns));
	printf("buffer                 %u sectors, %u of them for unwritten data\n\n",
	       p->buffer_sectors, p->dirty_sectors);
}

/* Returns whether the model is within the figure's tolerance. */
static bool figure_print(const struct disk_figure *f, bool csv)
{
	double value = f->measure();
	double error = value / f->expected - 1;
	bool good = fabs(error) <= f->tolerance;

	if (csv)
		printf("%s,%s,%.4f,%.4f,%.6f,%.6f,%s\n", f->name, f->unit, f->expected, value,
		       error, f->tolerance, good ? "yes" : "no");
	else
		printf("%-40s %9.4f %9.4f %-4s  %+7.3f %%%s%s%s\n", f->what, f->expected, value,
		       f->unit, 100 * error, f->papers ? "  " : "", f->papers ? f->papers : "",
		       good ? "" : "  out of tolerance");
	return good;
}

static int figures_print(bool csv)
{
	const struct disk_figure *f;
	struct hp97560_params p;
	int failed = 0;

	if (csv) {
		printf("name,unit,expected,model,error,tolerance,good\n");
	} else {
		hp97560_params_default(&p);
		geometry_print(&p);
		printf("%-40s %9s %9s       %9s  %s\n", "", "expected", "model", "error", "papers");
	}
	for (f = disk_figures; f->name; f++)
		failed += !figure_print(f, csv);
	return failed ? EXIT_FAILED : EXIT_OK;
}

static int generate(const struct disk_model_values *v, const struct hp97560_params *p)
{
	struct trace_spec spec = {
		.pattern = v->generate,
		.count = v->count,
		.sectors = v->sectors,
		.think_ns = v->think_us * 1000,
		.seed = v->seed,
	};
	struct disk_trace trace;
	size_t i;
	int err;

	if (v->think_us > HP97560_TIME_MAX / 1000)
		return usage_error("%s is too long", "--think");
	err = trace_generate(&trace, &spec, p);
	if (err == -EINVAL && v->count && v->sectors) {
		fprintf(stderr, "ddio disk-model: there is no pattern '%s'; give one of",
			v->generate);
		for (i = 0; trace_patterns[i]; i++)
			fprintf(stderr, " %s", trace_patterns[i]);
		fputc('\n', stderr);
		return EXIT_USAGE;
	}
	if (err == -EINVAL)
		return usage_error("%s must not be 0", v->count ? "--sectors" : "--count");
	if (err)
		return cmd_fail("disk-model", err, "cannot generate '%s'", v->generate);
	trace_write(&trace, stdout);
	trace_release(&trace);
	return EXIT_OK;
}

/* Prints a name as a field of comma-separated values. */
static void csv_name_print(const char *name)
{
	const char *quote = strpbrk(name, ",\"\r\n") ? "\"" : "";

	fputs(quote, stdout);
	for (; *name; name++) {
		if (*name == '"')
			putchar('"');
		putchar(*name);
	}
	fputs(quote, stdout);
}

static void comparison_csv(const struct comparison *c, const char *name)
{
	csv_name_print(name);
	printf(",%zu,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", c->n, c->trace_mean_ms,
	       c->model_mean_ms, c->error_mean_ms, c->error_mean_ms / c->trace_mean_ms,
	       c->error_median_ms, c->demerit, c->close);
}

static void comparisons_csv(const struct comparison *c, char **names, size_t n)
{
	size_t i;

	printf("trace,requests,trace_mean_ms,model_mean_ms,mean_error_ms,mean_error_share,"
	       "median_absolute_error_ms,demerit,share_within_0.02_ms\n");
	for (i = 0; i < n; i++)
		comparison_csv(&c[i], names[i]);
}

static void comparison_print(const struct comparison *c, const char *name, int width)
{
	printf("%-*s %8zu %9.4f %9.4f %+9.4f %+8.2f %% %9.4f %7.2f %% %7.2f %%\n", width, name,
	       c->n, c->trace_mean_ms, c->model_mean_ms, c->error_mean_ms,
	       100 * c->error_mean_ms / c->trace_mean_ms, c->error_median_ms, 100 * c->demerit,
	       100 * c->close);
}

static void comparisons_print(const struct comparison *c, char **names, size_t n)
{
	static const char line[] = "%-*s %8s %9s %9s %20s %9s %9s %9s\n";
	int width = 5;
	size_t i;

	for (i = 0; i < n; i++)
		if (strlen(names[i]) > (size_t)width && strlen(names[i]) < 200)
			width = (int)strlen(names[i]);
	printf(line, width, "", "", "trace", "model", "mean", "median", "demerit", "within");
	printf(line, width, "trace", "requests", "mean, ms", "mean, ms", "error, ms", "|e|, ms",
	       "figure", "0.02 ms");
	for (i = 0; i < n; i++)
		comparison_print(&c[i], names[i], width);
}

static int compare_one(struct comparison *c, const char *path, const struct hp97560_params *p)
{
	struct trace_error error;
	struct disk_trace trace;
	int err = trace_load(&trace, path, &error);

	if (!err) {
		err = trace_compare(c, &trace, p, &error);
		trace_release(&trace);
	}
	if (err && error.line)
		fprintf(stderr, "ddio disk-model: %s:%zu: %s\n", path, error.line, error.what);
	else if (err)
		fprintf(stderr, "ddio disk-model: %s: %s\n", path,
			error.what[0] ? error.what : strerror(-err));
	return err;
}

static int compare(const struct disk_model_values *v, const struct hp97560_params *p, char **names,
		   size_t n)
{
	struct comparison *c = calloc(n, sizeof(*c));
	int ret = EXIT_OK;
	size_t i, done;

	if (!c)
		return cmd_fail("disk-model", -ENOMEM, "cannot compare");
	for (done = 0; done < n; done++)
		if (compare_one(&c[done], names[done], p))
			break;
	if (done < n)
		ret = EXIT_FAILED;
	if (done && v->csv)
		comparisons_csv(c, names, done);
	else if (done)
		comparisons_print(c, names, done);
	if (ret == EXIT_OK && v->plot && comparison_plot(c, (const char *const *)names, n, v->plot))
		ret = EXIT_FAILED;
	for (i = 0; i < done; i++)
		comparison_release(&c[i]);
	free(c);
	return ret;
}

int cmd_disk_model(int argc, char **argv)
{
	struct disk_model_values v = {
		.policy = "default", .count = 1000, .sectors = 16, .seed = 1
	};
	int err = opt_parse(&opts_disk_model, &v, &argc, &argv);
	struct hp97560_params p;

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	hp97560_params_default(&p);
	if (disk_policy(&p, v.policy))
		return usage_error("there is no policy '%s'", v.policy);
	if (v.generate && argc)
		return usage_error("%s takes no trace", "--generate");
	if (v.plot && !argc)
		return usage_error("%s needs a trace", "--plot");
	if (v.generate)
		return generate(&v, &p);
	if (!argc)
		return figures_print(v.csv);
	return compare(&v, &p, argv, (size_t)argc);
}
