// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A matrix of doubles is written by all processes together, each holding a
 * block of rows, and read back by all, each taking every fourth column.
 *
 *	hello_collective CONF ADDRESS [PROCESSES]
 *
 * CONF is the cluster's configuration; at ADDRESS ("127.0.0.1:7600") the
 * processes meet.  Exits with 0 if every element arrived.
 */
#include <ddio/ddio.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 512, COLS = 1024 };

/* Describes an array, row-major in the file, that is dealt out by the first dimension or the second. */
static struct ddio_array matrix(uint32_t procs, int by_rows)
{
	struct ddio_array a = { .elem_size = sizeof(double), .ndims = 2 };

	a.dim[0].size = ROWS;
	a.dim[1].size = COLS;
	if (by_rows) {
		a.dim[0].dist = DDIO_BLOCK;
		a.dim[0].procs = procs;
	} else {
		a.dim[1].dist = DDIO_CYCLIC;
		a.dim[1].procs = procs;
	}
	return a;
}

static int fail(const struct ddio_session *session, const char *what)
{
	fprintf(stderr, "hello_collective: %s: %s\n", what, ddio_last_error(session));
	return 1;
}

/* The share of a process, in row-major order of its own rows and columns. */
static double *share_new(const struct ddio_array *a, uint32_t procs, uint32_t rank,
			 uint64_t count[DDIO_MAX_DIMS])
{
	if (ddio_array_local(a, procs, rank, count))
		return NULL;
	return calloc(count[0] * count[1] + 1, sizeof(double));
}

static int write_rows(struct ddio_session *session, struct ddio_group *group,
		      struct ddio_file *file)
{
	uint32_t rank = ddio_group_rank(group), procs = ddio_group_size(group);
	struct ddio_array array = matrix(procs, 1);
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part };
	uint64_t count[DDIO_MAX_DIMS], i, first = (uint64_t)rank * ((ROWS + procs - 1) / procs);
	double *rows = share_new(&array, procs, rank, count);
	int err;

	if (!rows)
		return 1;
	for (i = 0; i < count[0] * count[1]; i++)
		rows[i] = (double)(first * COLS + i);
	t.buf = rows;
	t.flags = DDIO_XFER_SYNC;
	err = ddio_write_all(file, group, &t);
	free(rows);
	return err ? fail(session, "write") : 0;
}

static int read_columns(struct ddio_session *session, struct ddio_group *group,
			struct ddio_file *file)
{
	uint32_t rank = ddio_group_rank(group), procs = ddio_group_size(group);
	struct ddio_array array = matrix(procs, 0);
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };
	struct ddio_report report = { .struct_size = sizeof(report) };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .report = &report };
	uint64_t count[DDIO_MAX_DIMS], r, c, wrong = 0;
	double *cols = share_new(&array, procs, rank, count);
	int err;

	if (!cols)
		return 1;
	t.buf = cols;
	err = ddio_read_all(file, group, &t);
	if (err) {
		free(cols);
		return fail(session, "read");
	}
	for (r = 0; r < count[0]; r++)
		for (c = 0; c < count[1]; c++)
			wrong += cols[r * count[1] + c] != (double)(r * COLS + c * procs + rank);
	free(cols);
	printf("rank %u: %llu doubles, %llu wrong; %u I/O processors got %llu requests\n", rank,
	       (unsigned long long)(count[0] * count[1]), (unsigned long long)wrong, report.iops,
	       (unsigned long long)report.requests);
	return wrong != 0;
}

static int member(const char *conf, const char *address, uint32_t rank, uint32_t procs)
{
	struct ddio_connect_opts opts = { .struct_size = sizeof(opts), .conf = conf };
	struct ddio_session *session;
	struct ddio_group *group;
	struct ddio_file *file;
	int ret = 1;

	if (ddio_connect(&opts, &session))
		return fail(NULL, "connect");
	if (ddio_group_create(session, rank, procs, address, &group))
		fail(session, "group");
	else if (ddio_open_all(group, "hello", DDIO_CREATE | DDIO_TRUNCATE, NULL, &file))
		fail(session, "open");
	else
		ret = write_rows(session, group, file) || read_columns(session, group, file);
	ddio_disconnect(session);
	return ret;
}

int main(int argc, char **argv)
{
	uint32_t procs = argc > 3 ? (uint32_t)atoi(argv[3]) : 4, rank;
	int status, ret = 0;

	if (argc < 3 || !procs) {
		fprintf(stderr, "usage: hello_collective CONF ADDRESS [PROCESSES]\n");
		return 2;
	}
	/* Each process has a session of its own: first fork, then connect. */
	for (rank = 0; rank < procs; rank++)
		if (!fork())
			exit(member(argv[1], argv[2], rank, procs));
	for (rank = 0; rank < procs; rank++)
		if (wait(&status) < 0 || status)
			ret = 1;
	return ret;
}
