// SPDX-License-Identifier: GPL-2.0-only
/* ddio query: asks about the records of a file. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ddio/ddio.h>
#include "ddio.h"
#include "query/args.h"

#define PRINT_BYTES (64u << 20) /* of fields that are fetched at a time */
#define PRINT_RECORDS (1u << 20)

struct query_values {
	const char *conf;
	uint64_t record, origin, first, records;
	char *field, *sum, *min, *max, *histogram, *print;
	const char *where, *output;
	char *deal;
	uint32_t procs;
	bool count;
};

static const struct ddio_opt query_opts[] = {
	DDIO_OPT("conf", 'c', OPT_TEXT, offsetof(struct query_values, conf), "FILE",
		 "the cluster's configuration ($DDIO_CONF)"),
	{ .name = "record",
	  .letter = 'r',
	  .type = OPT_SIZE,
	  .offset = offsetof(struct query_values, record),
	  .arg = "BYTES",
	  .help = "the length of a record",
	  .min = 1,
	  .max = DDIO_QUERY_RECORD_MAX,
	  .required = true },
	DDIO_OPT("origin", 'o', OPT_SIZE, offsetof(struct query_values, origin), "BYTES",
		 "where record 0 begins; default 0"),
	DDIO_OPT("field", 'f', OPT_LIST, offsetof(struct query_values, field), "NAME=OFFSET:TYPE",
		 "a field: s8 to s64, u8 to u64, f32, f64, with \"be\" behind it if its first byte "
		 "is the highest; or b and a number of bytes"),
	DDIO_OPT("where", 'w', OPT_TEXT, offsetof(struct query_values, where), "CONDITION",
		 "only records for which this is true"),
	DDIO_OPT("first", 0, OPT_U64, offsetof(struct query_values, first), "N",
		 "begin with this record; default 0"),
	DDIO_OPT("records", 'n', OPT_U64, offsetof(struct query_values, records), "N",
		 "look at so many; default all"),
	DDIO_OPT("count", 0, OPT_FLAG, offsetof(struct query_values, count), NULL,
		 "how many records match"),
	DDIO_OPT("sum", 0, OPT_LIST, offsetof(struct query_values, sum), "NAME",
		 "the sum of a field"),
	DDIO_OPT("min", 0, OPT_LIST, offsetof(struct query_values, min), "NAME", "its least value"),
	DDIO_OPT("max", 0, OPT_LIST, offsetof(struct query_values, max), "NAME",
		 "its greatest value"),
	DDIO_OPT("histogram", 0, OPT_LIST, offsetof(struct query_values, histogram),
		 "NAME:BOUND,...", "how many values lie between these bounds"),
	DDIO_OPT("print", 'p', OPT_LIST, offsetof(struct query_values, print), "NAME,...",
		 "a line for each record that matches: its number, and these fields"),
	{ .name = "procs",
	  .type = OPT_U32,
	  .offset = offsetof(struct query_values, procs),
	  .arg = "N",
	  .help = "so many processes ask together, and each gets records of its own",
	  .min = 1,
	  .max = DDIO_QUERY_MEMBERS_MAX },
	DDIO_OPT("deal", 'd', OPT_LIST, offsetof(struct query_values, deal), "HOW",
		 "which are whose: \"number\" (equal parts of the file), NAME (by a hash of the field) "
		 "or NAME:BOUND,... (by ranges of its values)"),
	DDIO_OPT("output", 0, OPT_TEXT, offsetof(struct query_values, output), "PREFIX",
		 "each process prints into PREFIX.0, PREFIX.1, ..."),
	{ 0 },
};

const struct opt_cmd opts_query = { "ddio",	"query", "FILE", "Ask about the records of a file.",
				    query_opts, 1,	 1 };

/* Ends with a message; returns EXIT_USAGE. */
static int wrong(const char *text)
{
	fprintf(stderr, "ddio query: %s\n", text);
	return EXIT_USAGE;
}

/* Makes the question of the options: 0 or EXIT_USAGE. */
static int question(struct query_args *a, const struct query_values *v)
{
	char why[256] = "", number[] = "number";
	int err;

	a->q.record = (uint32_t)v->record;
	a->q.origin = v->origin;
	err = args_fields(a, v->field, why, sizeof(why));
	if (!err && v->where)
		err = args_where(a, v->where, why, sizeof(why));
	if (!err)
		err = args_reduce(a, DDIO_QUERY_SUM, v->sum, why, sizeof(why));
	if (!err)
		err = args_reduce(a, DDIO_QUERY_MIN, v->min, why, sizeof(why));
	if (!err)
		err = args_reduce(a, DDIO_QUERY_MAX, v->max, why, sizeof(why));
	if (!err)
		err = args_histograms(a, v->histogram, why, sizeof(why));
	if (!err)
		err = args_print(a, v->print, why, sizeof(why));
	if (!err)
		err = args_deal(a, v->deal ? v->deal : number, why, sizeof(why));
	if (err)
		return wrong(why);
	if (!v->procs ? v->deal || v->output : !v->print != !v->output)
		return wrong(v->procs ? "with --procs, --print and --output go together"
				      : "--deal and --output need --procs");
	if (!v->count && !a->q.nreduce && !v->print)
		return wrong(
			"nothing is asked: give --count, --sum, --min, --max, --histogram or --print");
	return 0;
}

/*
 * What is made of all
 */
static int show_made(struct ddio_file *f, const struct query_args *a, const struct query_values *v)
{
	struct ddio_query_value value[DDIO_QUERY_REDUCE_MAX] = { 0 };
	struct ddio_query_result r = {
		.struct_size = sizeof(r), .first = v->first, .records = v->records, .value = value
	};
	struct ddio_query q = a->q;
	uint32_t i;
	int err = 0;

	q.noutput = 0;
	for (i = 0; i < q.nreduce && !err; i++)
		if (q.reduce[i].kind == DDIO_QUERY_HISTOGRAM) {
			value[i].bin = calloc(q.reduce[i].nbounds + 1, sizeof(*value[i].bin));
			err = value[i].bin ? 0 : -ENOMEM;
		}
	if (!err)
		err = ddio_query(f, &q, &r);
	if (!err && v->count)
		printf("count\t%" PRIu64 "\n", r.matched);
	for (i = 0; i < q.nreduce; i++) {
		if (!err)
			args_show_value(a, i, &value[i]);
		free(value[i].bin);
	}
	return err;
}

/*
 * The records
 */
struct printing {
	struct ddio_file *f;
	struct ddio_query q;
	const struct query_args *a;
	uint64_t at, end, step, room;
	uint32_t out;
	uint64_t *index;
	uint8_t *buf;
};

/* Asks for the next records, fewer of them if too many match; prints those that do. */
static int print_step(struct printing *p)
{
	struct ddio_query_result r = { .struct_size = sizeof(r),
				       .first = p->at,
				       .records = p->step < p->end - p->at ? p->step
									   : p->end - p->at,
				       .room = p->room,
				       .index = p->index,
				       .buf = p->buf };
	uint64_t asked = r.records, i;
	int err = ddio_query(p->f, &p->q, &r);

	if (err == -ERANGE && asked > 1) {
		p->step = asked / 2;
		return 0;
	}
	if (err)
		return err;
	for (i = 0; i < r.matched; i++)
		args_show_record(p->a, p->index[i], p->buf + i * p->out);
	p->at += asked;
	if (r.matched < p->room / 4 && p->step < UINT64_MAX / 2)
		p->step *= 2;
	return ferror(stdout) ? -EIO : 0;
}

static int print_all(struct ddio_file *f, const struct query_args *a, const struct query_values *v)
{
	struct printing p = { .f = f, .q = a->q, .a = a, .at = v->first, .out = args_out(a) };
	struct ddio_file_stat st;
	int err = ddio_fstat(f, &st);

	if (err)
		return err;
	p.q.nreduce = 0;
	p.end = st.size > p.q.origin ? (st.size - p.q.origin) / p.q.record : 0;
	if (v->records < p.end - (p.at < p.end ? p.at : p.end))
		p.end = p.at + v->records;
	p.step = p.end;
	p.room = PRINT_BYTES / (p.out + 8);
	if (p.room > PRINT_RECORDS)
		p.room = PRINT_RECORDS;
	p.index = malloc(p.room * sizeof(*p.index));
	p.buf = malloc(p.room * p.out + 1);
	if (!p.index || !p.buf)
		err = -ENOMEM;
	while (!err && p.at < p.end)
		err = print_step(&p);
	free(p.index);
	free(p.buf);
	return err;
}

static int ask(struct ddio_session *s, const char *name, const struct query_args *a,
	       const struct query_values *v)
{
	struct ddio_file *f;
	int err = ddio_open(s, name, 0, NULL, &f);

	if (err)
		return err;
	if (v->count || a->q.nreduce)
		err = show_made(f, a, v);
	if (!err && v->print)
		err = print_all(f, a, v);
	ddio_close(f);
	return err;
}

static void values_free(struct query_values *v)
{
	free(v->field);
	free(v->sum);
	free(v->min);
	free(v->max);
	free(v->histogram);
	free(v->print);
	free(v->deal);
}

static int ask_alone(const struct query_values *v, const struct query_args *a, const char *conf,
		     const char *name)
{
	struct ddio_session *s = cmd_connect("query", conf);
	int err;

	if (!s)
		return EXIT_FAILED;
	err = ask(s, name, a, v);
	if (err)
		cmd_fail_session("query", s, err, name);
	ddio_disconnect(s);
	return err ? EXIT_FAILED : EXIT_OK;
}

static int query_run(const struct query_values *v, const char *file)
{
	char space[2 * PATH_MAX], conf[PATH_MAX];
	struct query_args a = { 0 };
	struct query_crowd crowd = { .a = &a,
				     .procs = v->procs,
				     .first = v->first,
				     .records = v->records,
				     .count = v->count,
				     .prefix = v->output };
	int ret;

	if (!v->record)
		return wrong("give the length of a record: --record BYTES (-r)");
	args_init(&a);
	ret = question(&a, v);
	if (!ret) {
		crowd.name = cmd_mounted(file, space, conf);
		crowd.conf = v->conf ? v->conf : conf[0] ? conf : NULL;
		ret = v->procs ? crowd_ask(&crowd) : ask_alone(v, &a, crowd.conf, crowd.name);
	}
	args_free(&a);
	return ret;
}

int cmd_query(int argc, char **argv)
{
	struct query_values v = { .records = UINT64_MAX };
	int err = opt_parse(&opts_query, &v, &argc, &argv), ret;

	ret = err > 0 ? EXIT_OK : EXIT_USAGE;
	if (!err)
		ret = query_run(&v, argv[0]);
	values_free(&v);
	return ret;
}
