// SPDX-License-Identifier: GPL-2.0-only
/* Numbers, sizes and times as text, and options in tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/opttab.h"
#include "base/units.h"
#include "../lib/ut.h"

struct reading {
	const char *text;
	uint64_t value;
};

typedef int (*parse_fn)(const char *text, uint64_t *value);

static void reads(parse_fn parse, const struct reading *good, const char *const *bad)
{
	uint64_t v;

	for (; good->text; good++) {
		v = 1;
		CU_ASSERT_EQUAL(parse(good->text, &v), 0);
		CU_ASSERT_EQUAL(v, good->value);
		if (v != good->value)
			printf("\n\"%s\" is %llu\n", good->text, (unsigned long long)v);
	}
	for (; *bad; bad++) {
		v = 7;
		CU_ASSERT_EQUAL(parse(*bad, &v), -EINVAL);
		CU_ASSERT_EQUAL(v, 7);
		if (v != 7)
			printf("\n\"%s\" is taken\n", *bad);
	}
}

static void sizes(void)
{
	static const struct reading good[] = {
		{ "0", 0 },
		{ "512", 512 },
		{ "64K", 65536 },
		{ "64k", 65536 },
		{ "1.5M", 1572864 },
		{ "1.5GiB", 3ull << 29 },
		{ "10MB", 10485760 },
		{ "10 MiB", 10485760 },
		{ "0.5K", 512 },
		{ ".5K", 512 },
		{ "1.K", 1024 },
		{ "1.1K", 1126 },
		{ "1.000000001G", 1073741825 },
		{ "3g", 3221225472 },
		{ "2TiB", 2199023255552 },
		{ "2P", 2ull << 50 },
		{ "7b", 7 },
		{ "1e3", 1000 },
		{ "1e3K", 1024000 },
		{ "25e-1M", 2621440 },
		{ "0x10", 16 },
		{ "0x1fK", 31744 },
		{ "0.00000000000000000000000000000001", 0 },
		{ "0e99", 0 },
		{ "0.1234567890123456789012345678901234567890e1", 1 },
		{ "18446744073709551615", UINT64_MAX },
		{ "0xffffffffffffffff", UINT64_MAX },
		{ "16777215T", 16777215ull << 40 },
		{ NULL, 0 },
	};
	static const char *const bad[] = { "",
					   "K",
					   ".",
					   ".K",
					   "-1",
					   "+1",
					   "1..5K",
					   "1 2",
					   "1KK",
					   "1Q",
					   "1e",
					   "e3",
					   "0x",
					   "0xg",
					   "0x1.8K",
					   "1e99",
					   "1e99999999999999999999",
					   "18446744073709551616",
					   "0x10000000000000000",
					   "16777216T",
					   "inf",
					   "nan",
					   " 1",
					   "1 K ",
					   "99999999999999999999999999999999999999999999",
					   NULL };

	reads(ddio_parse_size, good, bad);
}

static void times(void)
{
	static const struct reading good[] = {
		{ "0", 0 },
		{ "30", 30000000000 },
		{ "30s", 30000000000 },
		{ "1.5", 1500000000 },
		{ "500ms", 500000000 },
		{ "2 m", 120000000000 },
		{ "2min", 120000000000 },
		{ "2h", 7200000000000 },
		{ "1.5d", 129600000000000 },
		{ "0.0000000001s", 0 },
		{ "1e-3", 1000000 },
		{ NULL, 0 },
	};
	static const char *const bad[] = { "",	   "s",	   "-1",	 "1w", "1K",
					   "soon", "1e99", "307445735m", NULL };

	reads(parse_time, good, bad);
}

static void numbers(void)
{
	static const struct reading good[] = {
		{ "0", 0 },  { "010", 10 }, { "0x10", 16 }, { "18446744073709551615", UINT64_MAX },
		{ NULL, 0 },
	};
	static const char *const bad[] = { "",	 "-1", "+1", "1.0", "1e3",
					   "1K", "1 ", " 1", "x",   "18446744073709551616",
					   NULL };

	reads(parse_u64, good, bad);
}

static void printed_sizes_and_times_are_read_as_the_same(void)
{
	static const uint64_t sizes_of[] = { 0,	   1,	       1000,	   1024,
					     1536, 3ull << 29, 1ull << 50, 1ull << 62 };
	char text[40];
	uint64_t v;
	size_t i;

	for (i = 0; i < sizeof(sizes_of) / sizeof(sizes_of[0]); i++) {
		print_size(text, sizeof(text), sizes_of[i]);
		CU_ASSERT(!ddio_parse_size(text, &v) && v == sizes_of[i]);
	}
	print_size(text, sizeof(text), 65536);
	CU_ASSERT_STRING_EQUAL(text, "64K");
	print_time(text, sizeof(text), 1500000000);
	CU_ASSERT_STRING_EQUAL(text, "1500ms");
	print_time(text, sizeof(text), 30000000000);
	CU_ASSERT_STRING_EQUAL(text, "30s");
}

/**
 * struct values - one member of each type
 * @last: so that a member written too long is seen
 */
struct values {
	bool flag, on, given;
	const char *text;
	char *string, *list;
	unsigned int word;
	uint32_t u32, power;
	uint64_t u64, size, time;
	double number, seconds;
	uint64_t last;
};

static bool is_short(const char *text)
{
	return strlen(text) < 4;
}

#define AT(member) offsetof(struct values, member)
static const char *const words[] = { "none", "some", "all", NULL };
static const struct ddio_opt table[] = {
	DDIO_OPT("flag", 'f', OPT_FLAG, AT(flag), NULL, "a flag"),
	{ .name = "noflag", .type = OPT_UNFLAG, .offset = AT(flag) },
	{ .name = "on", .type = OPT_BOOL, .offset = AT(on) },
	{ .name = "text", .type = OPT_TEXT, .offset = AT(text), .arg = "FILE" },
	{ .name = "string",
	  .type = OPT_STRING,
	  .offset = AT(string),
	  .check = is_short,
	  .allowed = "less than 4 letters" },
	{ .name = "list", .type = OPT_LIST, .offset = AT(list) },
	{ .name = "word", .type = OPT_WORD, .offset = AT(word), .words = words },
	{ .name = "u32", .type = OPT_U32, .offset = AT(u32), .given = AT(given) },
	{ .name = "few", .type = OPT_U32, .offset = AT(u32), .min = 1, .max = 9 },
	{ .name = "u64", .type = OPT_U64, .offset = AT(u64) },
	{ .name = "size", .type = OPT_SIZE, .offset = AT(size) },
	{ .name = "cache", .type = OPT_SIZE, .offset = AT(size), .max = 0x1p40, .special = "paper" },
	{ .name = "power", .type = OPT_POWER, .offset = AT(power), .min = 512, .max = 0x1p24 },
	{ .name = "time", .type = OPT_TIME, .offset = AT(time), .min = 1e6, .max = 60e9 },
	{ .name = "seconds", .type = OPT_SECONDS, .offset = AT(seconds) },
	{ .name = "number", .type = OPT_DOUBLE, .offset = AT(number), .min = 0, .max = 1000 },
	{ .name = NULL },
};

static char why[200];

static int set(struct values *v, const char *name, const char *text)
{
	const struct ddio_opt *opt = ddio_opt_find(table, name);

	why[0] = '\0';
	CU_ASSERT_PTR_NOT_NULL_FATAL(opt);
	return ddio_opt_set(opt, text, v, why, sizeof(why));
}

static void every_type_goes_where_it_belongs(void)
{
	struct values v = { .last = 42 };

	CU_ASSERT(!set(&v, "flag", NULL) && v.flag);
	CU_ASSERT(!set(&v, "noflag", NULL) && !v.flag);
	CU_ASSERT(!set(&v, "on", "YES") && v.on && !set(&v, "on", "0") && !v.on);
	CU_ASSERT(!set(&v, "text", "there") && !strcmp(v.text, "there"));
	CU_ASSERT(!set(&v, "string", "a") && !set(&v, "string", "abc") && !strcmp(v.string, "abc"));
	CU_ASSERT(!set(&v, "list", "a,b") && !set(&v, "list", "c") && !strcmp(v.list, "a,b,c"));
	CU_ASSERT(!set(&v, "word", "all") && v.word == 2);
	CU_ASSERT(!v.given && !set(&v, "u32", "4294967295") && v.u32 == UINT32_MAX && v.given);
	CU_ASSERT(!set(&v, "u64", "18446744073709551615") && v.u64 == UINT64_MAX);
	CU_ASSERT(!set(&v, "size", "1.5K") && v.size == 1536);
	CU_ASSERT(!set(&v, "cache", "Paper") && v.size == UINT64_MAX);
	CU_ASSERT(!set(&v, "power", "16M") && v.power == 1 << 24);
	CU_ASSERT(!set(&v, "time", "1m") && v.time == 60000000000);
	CU_ASSERT(!set(&v, "seconds", "500ms") && v.seconds == 0.5);
	CU_ASSERT(!set(&v, "number", "2.5") && v.number == 2.5);
	CU_ASSERT_EQUAL(v.last, 42);
	free(v.string);
	free(v.list);
}

static void refused(const char *name, const char *text, const char *reason)
{
	struct values v = { .u32 = 5, .u64 = 5, .size = 5, .time = 5, .number = 5, .seconds = 5 };
	const struct values before = v;

	CU_ASSERT_EQUAL(set(&v, name, text), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, reason));
	if (!strstr(why, reason))
		printf("\n%s=%s: %s\n", name, text, why);
	CU_ASSERT(!memcmp(&v, &before, sizeof(v)));
}

static void what_will_not_do_is_refused_and_nothing_changes(void)
{
	refused("on", "maybe", "allowed are yes and no");
	refused("string", "abcd", "allowed is less than 4 letters");
	refused("word", "much", "allowed are none, some, all");
	refused("u32", "4294967296", "allowed are whole numbers");
	refused("few", "10", "allowed are whole numbers from 1 to 9");
	refused("few", "0", "allowed are whole numbers from 1 to 9");
	refused("size", "9223372036854775808", "allowed are sizes, with K, M, G or T");
	refused("cache", "2T", "allowed are the word paper and sizes from 0 to 1T");
	refused("cache", "papers", "the word paper");
	refused("power", "3K", "allowed are powers of two from 512 to 16M");
	refused("power", "0", "powers of two");
	refused("time", "0", "allowed are times from 1ms to 60s, with ms, s or m");
	refused("seconds", "1e10", "allowed are times");
	refused("seconds", "-1", "allowed are times");
	refused("number", "nan", "allowed are numbers from 0 to 1000");
	refused("number", "1e4", "allowed are numbers from 0 to 1000");
	CU_ASSERT_PTR_NULL(ddio_opt_find(table, "nothing"));
	CU_ASSERT_PTR_NULL(ddio_opt_find(NULL, "flag"));
}

static const char *limits(const char *name)
{
	ddio_opt_limits(ddio_opt_find(table, name), why, sizeof(why));
	return why;
}

static void limits_are_said_in_a_few_words(void)
{
	CU_ASSERT_STRING_EQUAL(limits("flag"), "");
	CU_ASSERT_STRING_EQUAL(limits("on"), "yes or no");
	CU_ASSERT_STRING_EQUAL(limits("text"), "FILE");
	CU_ASSERT_STRING_EQUAL(limits("word"), "none, some, all");
	CU_ASSERT_STRING_EQUAL(limits("few"), "1 to 9");
	CU_ASSERT_STRING_EQUAL(limits("cache"), "paper or 0 to 1T");
	CU_ASSERT_STRING_EQUAL(limits("power"), "512 to 16M");
	CU_ASSERT_STRING_EQUAL(limits("time"), "1ms to 60s");
}

int main(void)
{
	static const struct ut_case unit_cases[] = {
		{ "sizes", sizes },
		{ "times", times },
		{ "numbers", numbers },
		{ "printed sizes and times are read as the same",
		  printed_sizes_and_times_are_read_as_the_same },
		{ NULL, NULL },
	};
	static const struct ut_case table_cases[] = {
		{ "every type goes where it belongs", every_type_goes_where_it_belongs },
		{ "what will not do is refused and nothing changes",
		  what_will_not_do_is_refused_and_nothing_changes },
		{ "limits are said in a few words", limits_are_said_in_a_few_words },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "units", unit_cases },
						  { "options", table_cases } };

	return ut_run("test_opttab", suites, 2);
}
