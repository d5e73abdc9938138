// SPDX-License-Identifier: GPL-2.0-only
/* The reference traces, one test each; and the reader of traces. */
#include <math.h>
#include <unistd.h>
#include "tools/lab/disk_model/trace.c"
#include "tools/lab/disk_model/replay.c"
#include "tools/lab/disk_model/generate.c"
#include "tests/unit/lib/ut.h"

#define CLOSE_SHARE 0.988
#define MEAN_SHARE 0.01
#define DATA "tests/data/hp97560/"
#define HEADER "issue_time_ns,op,lba,sectors,completion_ns\n"

/* policy, trace, share of the requests that must agree */
#define TRACES(X)                                                          \
	X(write_through, "write-through", backward_read_8k, CLOSE_SHARE)   \
	X(write_through, "write-through", mixed_runs_67r, CLOSE_SHARE)     \
	X(write_through, "write-through", rand_read_8k, CLOSE_SHARE)       \
	X(write_through, "write-through", rand_write_8k, 1.0)              \
	X(write_through, "write-through", seq_read_1sector, 1.0)           \
	X(write_through, "write-through", seq_read_8k, 1.0)                \
	X(write_through, "write-through", seq_read_8k_think1ms, 1.0)       \
	X(write_through, "write-through", seq_write_8k, 1.0)               \
	X(write_through, "write-through", sorted80_read_8k, CLOSE_SHARE)   \
	X(write_through, "write-through", stride_read_16k, 1.0)            \
	X(immediate_report, "immediate-report", rand_read_8k, CLOSE_SHARE) \
	X(immediate_report, "immediate-report", rand_write_8k, 1.0)        \
	X(immediate_report, "immediate-report", sorted80_write_8k, 1.0)    \
	X(immediate_report, "immediate-report", stride_write_16k, 1.0)

static void trace_test(const char *policy, const char *path, double share)
{
	struct hp97560_params p;
	struct trace_error error;
	struct comparison c;
	struct disk_trace t;

	hp97560_params_default(&p);
	CU_ASSERT_EQUAL_FATAL(disk_policy(&p, policy), 0);
	CU_ASSERT_EQUAL_FATAL(trace_load(&t, path, &error), 0);
	CU_ASSERT_EQUAL_FATAL(trace_compare(&c, &t, &p, &error), 0);
	CU_ASSERT_EQUAL(c.n, t.n);
	CU_ASSERT(c.close >= share);
	CU_ASSERT(fabs(c.error_mean_ms) <= MEAN_SHARE * c.trace_mean_ms);
	CU_ASSERT(c.error_median_ms < 0.001);
	comparison_release(&c);
	trace_release(&t);
}

#define TEST(policy, folder, name, share)                                \
	static void policy##_##name(void)                                \
	{                                                                \
		trace_test(folder, DATA folder "/" #name ".csv", share); \
	}
TRACES(TEST)

#define CASE(policy, folder, name, share) { folder " " #name, policy##_##name },
static const struct ut_case trace_cases[] = { TRACES(CASE){ NULL, NULL } };

/* A text must be refused in a line, for a reason. */
static void refused(const char *text, size_t line, const char *why)
{
	struct trace_error error;
	struct disk_trace t;
	char *exact = malloc(strlen(text) + 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(exact);
	memcpy(exact, text, strlen(text));
	CU_ASSERT_EQUAL(trace_parse(&t, exact, strlen(text), &error), -EINVAL);
	CU_ASSERT_EQUAL(error.line, line);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.what, why));
	CU_ASSERT_PTR_NULL(t.requests);
	free(exact);
}

static void parser_names_what_is_wrong(void)
{
	refused("", 0, "no request");
	refused(HEADER, 0, "no request");
	refused("issue,op\n0,R,0,1,5\n", 1, "the first line is not");
	refused(HEADER "0,R,0,1,5\n\n", 3, "empty line");
	refused(HEADER "0,R,0,1\n", 2, "no field after 'sectors'");
	refused(HEADER "0\n", 2, "no field after 'issue_time_ns'");
	refused(HEADER "0,R,0,1,5,6\n", 2, "more fields");
	refused(HEADER "0,X,0,1,5\n", 2, "neither R nor W");
	refused(HEADER "0,RW,0,1,5\n", 2, "neither R nor W");
	refused(HEADER "0,R,0,0,5\n", 2, "'sectors' is 0");
	refused(HEADER "0,R,0,4294967296,5\n", 2, "'sectors' is above 4294967295");
	refused(HEADER "0,R,18446744073709551616,1,5\n", 2, "'lba' is above");
	refused(HEADER "-1,R,0,1,5\n", 2, "'issue_time_ns' is not a decimal number");
	refused(HEADER "0,R, 0,1,5\n", 2, "'lba' is not a decimal number");
	refused(HEADER "0,R,,1,5\n", 2, "'lba' is empty");
	refused(HEADER "0,R,0,1,\n", 2, "'completion_ns' is empty");
	refused(HEADER "5,R,0,1,5\n", 2, "not after 'issue_time_ns'");
	refused(HEADER "5,R,0,1,9\n4,R,0,1,9\n", 3, "before that of the line above");
	refused(HEADER "0,R,0,1,9300000000000000000\n", 2, "'completion_ns' is above");
}

static void parser_accepts_line_ends(void)
{
	static const char text[] = "issue_time_ns,op,lba,sectors,completion_ns\r\n"
				   "0,W,18446744073709551615,4294967295,5\r\n1,R,0,1,6";
	struct trace_error error;
	struct disk_trace t;

	CU_ASSERT_EQUAL_FATAL(trace_parse(&t, text, strlen(text), &error), 0);
	CU_ASSERT_EQUAL_FATAL(t.n, 2);
	CU_ASSERT_EQUAL(t.requests[0].op, HP97560_WRITE);
	CU_ASSERT_EQUAL(t.requests[0].lba, UINT64_MAX);
	CU_ASSERT_EQUAL(t.requests[0].sectors, UINT32_MAX);
	CU_ASSERT_EQUAL(t.requests[1].done_ns, 6);
	trace_release(&t);
}

/* Any prefix and any flipped byte of a good text either parses or names a line. */
static void parser_survives_damage(void)
{
	static const char text[] = HEADER "0,R,1,16,500\n600,W,30,8,700\n800,R,5,1,900\n";
	size_t i, length = strlen(text);
	struct trace_error error;
	struct disk_trace t;
	uint64_t seed = 3;
	char *copy;

	for (i = 0; i < 20000; i++) {
		size_t n = i < length ? i : 1 + ddio_rand_below(&seed, length);

		copy = malloc(n + 1);
		CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
		memcpy(copy, text, n);
		if (i >= length)
			copy[ddio_rand_below(&seed, n)] = (char)ddio_rand_below(&seed, 256);
		if (trace_parse(&t, copy, n, &error))
			CU_ASSERT(error.what[0] && error.line <= 4);
		trace_release(&t);
		free(copy);
	}
}

static void loading_reports_files(void)
{
	struct trace_error error;
	struct disk_trace t;

	CU_ASSERT_EQUAL(trace_load(&t, DATA "no such trace", &error), -ENOENT);
	CU_ASSERT(error.line == 0 && error.what[0]);
	CU_ASSERT_EQUAL(trace_load(&t, DATA, &error), -EISDIR);
}

static void replay_names_the_request_beyond_the_drive(void)
{
	struct trace_request requests[2] = {
		{ .issue_ns = 0, .done_ns = 5, .lba = 0, .sectors = 1 },
		{ .issue_ns = 5, .done_ns = 9, .lba = 2647079, .sectors = 2 },
	};
	struct disk_trace t = { .requests = requests, .n = 2 };
	struct trace_error error;
	struct comparison c;
	struct hp97560_params p;

	hp97560_params_default(&p);
	CU_ASSERT_EQUAL(trace_compare(&c, &t, &p, &error), -ERANGE);
	CU_ASSERT_EQUAL(error.line, 3);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.what, "2647080"));
	requests[1].lba--;
	CU_ASSERT_EQUAL(trace_compare(&c, &t, &p, &error), 0);
	comparison_release(&c);
}

/* What the model made up it replays without any difference, under every policy. */
static void generated_traces_replay_exactly(void)
{
	struct trace_spec spec = { .count = 300, .sectors = 16, .seed = 5 };
	struct trace_error error;
	struct comparison c;
	struct hp97560_params p;
	struct disk_trace t;
	size_t i, j;

	hp97560_params_default(&p);
	for (i = 0; trace_patterns[i]; i++) {
		spec.pattern = trace_patterns[i];
		spec.think_ns = i * 300000;
		for (j = 0; j < sizeof(policies) / sizeof(policies[0]); j++) {
			CU_ASSERT_EQUAL(disk_policy(&p, policies[j].name), 0);
			CU_ASSERT_EQUAL_FATAL(trace_generate(&t, &spec, &p), 0);
			CU_ASSERT_EQUAL_FATAL(trace_compare(&c, &t, &p, &error), 0);
			CU_ASSERT(c.close == 1 && c.demerit == 0 && c.error_median_ms == 0);
			comparison_release(&c);
			trace_release(&t);
		}
	}
}

static void generator_refuses(void)
{
	struct trace_spec spec = { .pattern = "mixed", .count = 1, .sectors = 16 };
	struct hp97560_params p;
	struct disk_trace t;

	hp97560_params_default(&p);
	CU_ASSERT_EQUAL(disk_policy(&p, "nothing"), -EINVAL);
	spec.count = 0;
	CU_ASSERT_EQUAL(trace_generate(&t, &spec, &p), -EINVAL);
	spec.count = 1;
	spec.sectors = 0;
	CU_ASSERT_EQUAL(trace_generate(&t, &spec, &p), -EINVAL);
	spec.sectors = 2647081;
	CU_ASSERT_EQUAL(trace_generate(&t, &spec, &p), -ERANGE);
	spec.sectors = 1323540;
	CU_ASSERT_EQUAL(trace_generate(&t, &spec, &p), -ERANGE);
	spec.pattern = "sequential-read";
	spec.count = 2;
	CU_ASSERT_EQUAL(trace_generate(&t, &spec, &p), 0);
	trace_release(&t);
	spec.count = 3;
	CU_ASSERT_EQUAL(trace_generate(&t, &spec, &p), -ERANGE);
	spec.pattern = "sequential";
	CU_ASSERT_EQUAL(trace_generate(&t, &spec, &p), -EINVAL);
}

static void writing_and_parsing_are_inverse(void)
{
	struct trace_spec spec = { .pattern = "mixed", .count = 50, .sectors = 3, .seed = 9 };
	struct trace_error error;
	struct disk_trace t, again;
	struct hp97560_params p;
	char *text = NULL;
	size_t length = 0;
	FILE *f = open_memstream(&text, &length);

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	hp97560_params_default(&p);
	CU_ASSERT_EQUAL_FATAL(trace_generate(&t, &spec, &p), 0);
	trace_write(&t, f);
	fclose(f);
	CU_ASSERT_EQUAL_FATAL(trace_parse(&again, text, length, &error), 0);
	CU_ASSERT_EQUAL_FATAL(again.n, t.n);
	CU_ASSERT_EQUAL(memcmp(again.requests, t.requests, t.n * sizeof(t.requests[0])), 0);
	trace_release(&t);
	trace_release(&again);
	free(text);
}

/* Distances by hand: 1 ms earlier on one request of four of 10 ms each. */
static void comparison_by_hand(void)
{
	double difference[4];
	struct comparison c = { .n = 4 };
	double trace_ms[4] = { 10, 12, 8, 10 };
	double model_ms[4] = { 10, 12, 8.01, 9 };

	c.trace_ms = trace_ms;
	c.model_ms = model_ms;
	compare_pairs(&c, difference);
	CU_ASSERT_DOUBLE_EQUAL(c.trace_mean_ms, 10, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(c.error_mean_ms, -0.2475, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(c.error_median_ms, 0.005, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(c.close, 0.75, 1e-9);
	compare_distributions(&c);
	/* sorted: 8, 10, 10, 12 beside 8.01, 9, 10, 12 */
	CU_ASSERT_DOUBLE_EQUAL(c.demerit, sqrt((1 + 0.0001) / 4) / 10, 1e-9);
}

static const struct ut_case parser_cases[] = {
	{ "the parser names line and fault", parser_names_what_is_wrong },
	{ "the parser accepts CRLF and a missing last line end", parser_accepts_line_ends },
	{ "the parser survives damage", parser_survives_damage },
	{ "loading reports missing files and folders", loading_reports_files },
	{ "writing and parsing are inverse", writing_and_parsing_are_inverse },
	{ NULL, NULL },
};

static const struct ut_case replay_cases[] = {
	{ "a request beyond the drive is named", replay_names_the_request_beyond_the_drive },
	{ "generated traces replay exactly", generated_traces_replay_exactly },
	{ "the generator refuses what cannot be", generator_refuses },
	{ "the comparison, by hand", comparison_by_hand },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = {
		{ "traces", trace_cases },
		{ "parser", parser_cases },
		{ "replay", replay_cases },
	};

	return ut_run("hp97560_traces", suites, sizeof(suites) / sizeof(suites[0]));
}
