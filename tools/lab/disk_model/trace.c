// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes traces as text.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <inttypes.h>
#include "tools/lab/disk_model/disk_model.h"

#define TRACE_HEADER "issue_time_ns,op,lba,sectors,completion_ns"
#define TRACE_BYTES_MAX (1UL << 30)

/* The rest of a line, and where errors are put. */
struct cursor {
	const char *at;
	const char *end;
	struct trace_error *error;
};

__attribute__((format(printf, 2, 3))) static int complain(struct trace_error *error,
							  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->what, sizeof(error->what), format, args);
	va_end(args);
	return -EINVAL;
}

/* Cuts the next field off a line: up to a comma, or to the end for the last one. */
static int field_take(struct cursor *c, const char *name, bool last, const char **from, size_t *n)
{
	const char *comma = memchr(c->at, ',', (size_t)(c->end - c->at));

	if (last && comma)
		return complain(c->error, "more fields than the five of a request");
	if (!last && !comma)
		return complain(c->error, "no field after '%s'", name);
	*from = c->at;
	*n = (size_t)((last ? c->end : comma) - c->at);
	c->at = last ? c->end : comma + 1;
	return 0;
}

/* Reads a decimal number up to a limit: digits only. */
static int number_take(struct cursor *c, const char *name, bool last, uint64_t max, uint64_t *value)
{
	const char *s;
	size_t n, i;
	int err = field_take(c, name, last, &s, &n);

	if (err)
		return err;
	if (!n)
		return complain(c->error, "'%s' is empty", name);
	*value = 0;
	for (i = 0; i < n; i++) {
		unsigned int digit = (unsigned char)s[i] - (unsigned int)'0';

		if (digit > 9)
			return complain(c->error, "'%s' is not a decimal number", name);
		if (*value > (max - digit) / 10)
			return complain(c->error, "'%s' is above %" PRIu64, name, max);
		*value = *value * 10 + digit;
	}
	return 0;
}

static int op_take(struct cursor *c, enum hp97560_op *op)
{
	const char *s;
	size_t n;
	int err = field_take(c, "op", false, &s, &n);

	if (err)
		return err;
	if (n != 1 || (*s != 'R' && *s != 'W'))
		return complain(c->error, "'op' is neither R nor W");
	*op = *s == 'R' ? HP97560_READ : HP97560_WRITE;
	return 0;
}

static int request_parse(struct cursor *c, struct trace_request *r)
{
	uint64_t sectors;
	int err = number_take(c, "issue_time_ns", false, HP97560_TIME_MAX, &r->issue_ns);

	if (!err)
		err = op_take(c, &r->op);
	if (!err)
		err = number_take(c, "lba", false, UINT64_MAX, &r->lba);
	if (!err)
		err = number_take(c, "sectors", false, UINT32_MAX, &sectors);
	if (!err)
		err = number_take(c, "completion_ns", true, HP97560_TIME_MAX, &r->done_ns);
	if (err)
		return err;
	if (!sectors)
		return complain(c->error, "'sectors' is 0");
	if (r->done_ns <= r->issue_ns)
		return complain(c->error, "'completion_ns' is not after 'issue_time_ns'");
	r->sectors = (uint32_t)sectors;
	return 0;
}

static int trace_append(struct disk_trace *trace, size_t *room, const struct trace_request *r)
{
	struct trace_request *more;
	size_t want = *room ? *room * 2 : 256;

	if (trace->n == *room) {
		more = realloc(trace->requests, want * sizeof(*more));
		if (!more)
			return -ENOMEM;
		trace->requests = more;
		*room = want;
	}
	trace->requests[trace->n++] = *r;
	return 0;
}

static int line_parse(struct disk_trace *trace, size_t *room, struct cursor *c)
{
	struct trace_request r;
	int err;

	if (c->at < c->end && c->end[-1] == '\r')
		c->end--;
	if (c->error->line == 1) {
		if ((size_t)(c->end - c->at) == strlen(TRACE_HEADER) &&
		    !memcmp(c->at, TRACE_HEADER, strlen(TRACE_HEADER)))
			return 0;
		return complain(c->error, "the first line is not '%s'", TRACE_HEADER);
	}
	if (c->at == c->end)
		return complain(c->error, "empty line");
	err = request_parse(c, &r);
	if (err)
		return err;
	if (trace->n && r.issue_ns < trace->requests[trace->n - 1].issue_ns)
		return complain(c->error, "'issue_time_ns' is before that of the line above");
	return trace_append(trace, room, &r);
}

int trace_parse(struct disk_trace *trace, const char *text, size_t length,
		struct trace_error *error)
{
	const char *end = text + length;
	size_t room = 0;
	int err = 0;

	memset(trace, 0, sizeof(*trace));
	memset(error, 0, sizeof(*error));
	while (!err && text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		struct cursor c = { .at = text, .end = stop ? stop : end, .error = error };

		error->line++;
		err = line_parse(trace, &room, &c);
		text = stop ? stop + 1 : end;
	}
	if (!err && !trace->n) {
		error->line = 0;
		err = complain(error, "the trace has no requests");
	}
	if (err == -ENOMEM)
		complain(error, "out of memory");
	if (err)
		trace_release(trace);
	return err;
}

/* Reads a whole file into memory. */
static int file_slurp(FILE *f, char **text, size_t *length)
{
	size_t room = 0, got;
	char *more;

	*text = NULL;
	*length = 0;
	do {
		if (*length == room) {
			room = room ? room * 2 : 65536;
			more = room <= TRACE_BYTES_MAX ? realloc(*text, room) : NULL;
			if (!more)
				return room <= TRACE_BYTES_MAX ? -ENOMEM : -EFBIG;
			*text = more;
		}
		got = fread(*text + *length, 1, room - *length, f);
		*length += got;
	} while (got);
	return ferror(f) ? -errno : 0;
}

int trace_load(struct disk_trace *trace, const char *path, struct trace_error *error)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t length;
	int err;

	memset(trace, 0, sizeof(*trace));
	memset(error, 0, sizeof(*error));
	if (!f) {
		err = -errno;
		complain(error, "%s", strerror(-err));
		return err;
	}
	err = file_slurp(f, &text, &length);
	if (err)
		complain(error, "%s", strerror(-err));
	else
		err = trace_parse(trace, text, length, error);
	free(text);
	fclose(f);
	return err;
}

void trace_write(const struct disk_trace *trace, FILE *out)
{
	size_t i;

	fprintf(out, "%s\n", TRACE_HEADER);
	for (i = 0; i < trace->n; i++) {
		const struct trace_request *r = &trace->requests[i];

		fprintf(out, "%" PRIu64 ",%c,%" PRIu64 ",%" PRIu32 ",%" PRIu64 "\n", r->issue_ns,
			r->op == HP97560_READ ? 'R' : 'W', r->lba, r->sectors, r->done_ns);
	}
}

void trace_release(struct disk_trace *trace)
{
	free(trace->requests);
	memset(trace, 0, sizeof(*trace));
}
