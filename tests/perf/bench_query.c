// SPDX-License-Identifier: GPL-2.0-only
/*
 * A question about records beside a program that reads all of the file and looks at the records itself, by turns.
 *
 *   bench_query [MEGABYTES [ROUNDS]]     Default: 256 5; the cluster is that of $DDIO_CONF
 *
 * The file has numbers of 8 bytes, of which one in a hundred is below the limit.  Each round asks for these numbers, and reads
 * all of them in pieces of 16 MB and picks the same; both must find as many.  Printed are the medians in milliseconds, and the
 * median, least and greatest of how many times as long as the question the reading took.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ddio/ddio.h>

enum { PIECE = 16 << 20, ROUNDS_MAX = 99, LIMIT = 10, OF = 1000 };

static uint64_t *found, *piece;
static uint64_t room;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void die(struct ddio_session *s, const char *what)
{
	fprintf(stderr, "bench_query: %s: %s\n", what, s ? ddio_last_error(s) : "no cluster");
	exit(1);
}

static void fill(struct ddio_session *s, struct ddio_file *f, uint64_t bytes)
{
	uint64_t at, i, x = 1;

	for (at = 0; at < bytes; at += PIECE) {
		for (i = 0; i < PIECE / 8; i++) {
			x = x * 6364136223846793005ull + 1442695040888963407ull;
			piece[i] = (x >> 33) % OF;
		}
		if (ddio_pwrite(f, piece, PIECE, at) != PIECE)
			die(s, "write");
	}
	if (ddio_sync(f) || ddio_drop_cache(f))
		die(s, "sync");
}

static uint64_t ask(struct ddio_session *s, struct ddio_file *f)
{
	static const struct ddio_query_field field = { .type = DDIO_QUERY_U64 };
	static const struct ddio_query_step step = { .op = DDIO_QUERY_LT, .value.u = LIMIT };
	static const uint32_t output[] = { 0 };
	struct ddio_query q = { .struct_size = sizeof(q),
				.record = 8,
				.nfields = 1,
				.field = &field,
				.nsteps = 1,
				.where = &step,
				.noutput = 1,
				.output = output };
	struct ddio_query_result r = {
		.struct_size = sizeof(r), .records = UINT64_MAX, .room = room, .buf = found
	};

	if (ddio_query(f, &q, &r))
		die(s, "query");
	return r.matched;
}

static uint64_t read_all(struct ddio_session *s, struct ddio_file *f, uint64_t bytes)
{
	uint64_t at, i, n = 0;

	for (at = 0; at < bytes; at += PIECE) {
		if (ddio_pread(f, piece, PIECE, at) != PIECE)
			die(s, "read");
		for (i = 0; i < PIECE / 8; i++)
			if (piece[i] < LIMIT)
				found[n++] = piece[i];
	}
	return n;
}

static void rounds(struct ddio_session *s, struct ddio_file *f, uint64_t bytes, int n)
{
	double asked[ROUNDS_MAX], read[ROUNDS_MAX], ratio[ROUNDS_MAX], t0, t1;
	int i;

	for (i = 0; i < n; i++) {
		uint64_t a, b;

		t0 = now_ms();
		a = ask(s, f);
		t1 = now_ms();
		b = read_all(s, f, bytes);
		asked[i] = t1 - t0;
		read[i] = now_ms() - t1;
		ratio[i] = read[i] / asked[i];
		if (a != b)
			die(s, "the two have not found as many");
	}
	qsort(asked, (size_t)n, sizeof(double), order);
	qsort(read, (size_t)n, sizeof(double), order);
	qsort(ratio, (size_t)n, sizeof(double), order);
	printf("query %.1f ms, read and look %.1f ms, ratio %.2f (%.2f to %.2f)\n", asked[n / 2],
	       read[n / 2], ratio[n / 2], ratio[0], ratio[n - 1]);
}

int main(int argc, char **argv)
{
	uint64_t bytes = (argc > 1 ? strtoull(argv[1], NULL, 0) : 256) << 20;
	int n = argc > 2 ? atoi(argv[2]) : 5;
	struct ddio_session *s = NULL;
	struct ddio_file *f;

	room = bytes / 8 / 50 + 1000;
	found = malloc(room * 8);
	piece = malloc(PIECE);
	if (bytes < PIECE || bytes % PIECE || n < 1 || n > ROUNDS_MAX || !found || !piece)
		return 2;
	if (ddio_connect(NULL, &s))
		die(NULL, "connect");
	if (ddio_open(s, "bench_query", DDIO_CREATE, NULL, &f))
		die(s, "open");
	fill(s, f, bytes);
	rounds(s, f, bytes, n);
	ddio_close(f);
	ddio_remove(s, "bench_query");
	ddio_disconnect(s);
	free(found);
	free(piece);
	return 0;
}
