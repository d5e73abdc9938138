// SPDX-License-Identifier: GPL-2.0-only
/*
 * speed FILE RECORD BYTES PATTERNS [HINT=VALUE...]: how fast an MPI program writes and reads an array of records in the papers'
 * distributions (TOCS 1997, section 4: ALL, NONE, BLOCK, CYCLIC in each dimension; 1,024 columns of 8 bytes, or 32 of others),
 * by collective calls.  The file is there already, and what is written overwrites it.  Rank 0 prints a line for each of the
 * PATTERNS, "rb,wbc": "wbc write MB/s"; for a read two, "rb cold MB/s", when the kernel's pages of the file have been dropped,
 * and "rb hot MB/s", when the same has just been read.  With SPEED_LIMIT=SECONDS in the environment a pattern that has taken
 * so long is given up, and all that follow: "rb slow SECONDS".  With SPEED_INDIVIDUAL set each process makes its calls by itself.
 */
#include "tests/mpiio/speed.h"
#include <signal.h>

/* Dimensions of the array: of one, or of two as the papers' matrices have them. */
static void shape_of(long records, int record, int ndims, int *sizes)
{
	int columns = ndims == 1 ? 1 : record == 8 ? 1024 : 32;

	sizes[0] = (int)(records / columns);
	sizes[1] = columns;
}

static int how_of(char c)
{
	return c == 'b'	  ? MPI_DISTRIBUTE_BLOCK
	       : c == 'c' ? MPI_DISTRIBUTE_CYCLIC
			  : MPI_DISTRIBUTE_NONE;
}

/* All that there is, or nothing. */
static MPI_Datatype whole_of(long bytes)
{
	MPI_Datatype whole;

	MPI_Type_contiguous((int)bytes, MPI_BYTE, &whole);
	MPI_Type_commit(&whole);
	return whole;
}

static int is_none(const char *pattern)
{
	return strspn(pattern, "n") == strlen(pattern);
}

static MPI_Datatype part_of(const char *pattern, int record, long bytes)
{
	int ndims = (int)strlen(pattern), sizes[2], how[2], args[2], grid[2], i;
	MPI_Datatype element, part;

	if (*pattern == 'a' || is_none(pattern))
		return whole_of(*pattern == 'a' || !rank ? bytes : 0);
	shape_of(bytes / record, record, ndims, sizes);
	for (i = 0; i < ndims; i++) {
		how[i] = how_of(pattern[i]);
		args[i] = MPI_DISTRIBUTE_DFLT_DARG;
		grid[i] = how[i] == MPI_DISTRIBUTE_NONE ? 1 : 0;
	}
	MPI_Dims_create(nprocs, ndims, grid);
	MPI_Type_contiguous(record, MPI_BYTE, &element);
	MPI_Type_create_darray(nprocs, rank, ndims, sizes, how, args, grid, MPI_ORDER_C, element,
			       &part);
	MPI_Type_commit(&part);
	MPI_Type_free(&element);
	return part;
}

static void must(int code, const char *what)
{
	char text[MPI_MAX_ERROR_STRING];
	int len;

	if (code == MPI_SUCCESS)
		return;
	MPI_Error_string(code, text, &len);
	fprintf(stderr, "speed: %s: %s\n", what, text);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

struct speed_call {
	MPI_File file;
	const char *name;
	char *buf;
	int n, write, individual;
};

static void call(void *arg)
{
	int (*const write[])(MPI_File, MPI_Offset, const void *, int, MPI_Datatype,
			     MPI_Status *) = { MPI_File_write_at_all, MPI_File_write_at };
	int (*const read[])(MPI_File, MPI_Offset, void *, int, MPI_Datatype,
			    MPI_Status *) = { MPI_File_read_at_all, MPI_File_read_at };
	const struct speed_call *c = arg;
	int k = c->individual;

	must(c->write ? write[k](c->file, 0, c->buf, c->n, MPI_BYTE, MPI_STATUS_IGNORE)
		      : read[k](c->file, 0, c->buf, c->n, MPI_BYTE, MPI_STATUS_IGNORE),
	     c->write ? "write" : "read");
}

static void chill(void *arg)
{
	const struct speed_call *c = arg;

	must(MPI_File_sync(c->file), "sync");
	speed_drop_pages(c->name);
}

/* Writes all that this process writes when all write everything: one does. */
static void fill(struct speed_call *c, const char *pattern)
{
	int n = c->n;

	c->write = 1;
	if (pattern[1] == 'a' && rank)
		c->n = 0;
	call(c);
	c->n = n;
	c->write = *pattern == 'w';
}

/* The first write makes the file, and the first call of each kind what the MPI keeps: neither is counted. */
static void measure(struct speed_call *c, const char *pattern, int record, long bytes)
{
	MPI_Datatype part = part_of(pattern + 1, record, bytes);
	MPI_Offset size = 0;

	MPI_Type_size(part, &c->n);
	c->buf = malloc((size_t)c->n + 1);
	if (!c->buf)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(c->buf, rank + 1, (size_t)c->n);
	must(MPI_File_set_view(c->file, 0, MPI_BYTE, c->n ? part : MPI_BYTE, "native",
			       MPI_INFO_NULL),
	     "view");
	MPI_File_get_size(c->file, &size);
	if (*pattern == 'w' || size < bytes)
		fill(c, pattern);
	c->write = *pattern == 'w';
	if (c->write) {
		speed_say(pattern, "write", (double)bytes, speed_timed(NULL, call, c));
	} else {
		call(c);
		speed_say(pattern, "cold", (double)bytes, speed_timed(chill, call, c));
		speed_say(pattern, "hot", (double)bytes, speed_timed(NULL, call, c));
	}
	free(c->buf);
	MPI_Type_free(&part);
}

static char slow[64];

/* Only what a handler of signals may: the launcher ends the others. */
static void give_up(int sig)
{
	(void)sig;
	if (write(STDOUT_FILENO, slow, strlen(slow)) < 0)
		_exit(2);
	_exit(3);
}

static void limit(const char *pattern)
{
	const char *text = getenv("SPEED_LIMIT");
	unsigned int seconds = text ? (unsigned int)atoi(text) : 0;

	if (!seconds || rank)
		return;
	snprintf(slow, sizeof(slow), "%.8s slow %u\n", pattern, seconds);
	signal(SIGALRM, give_up);
	alarm(seconds);
}

int main(int argc, char **argv)
{
	struct speed_call c = { 0 };
	MPI_Info info;
	char *pattern;

	speed_begin(&argc, &argv);
	if (argc < 5) {
		fprintf(stderr, "usage: speed FILE RECORD BYTES PATTERNS [HINT=VALUE...]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	info = speed_hints(argc, argv, 5);
	c.name = argv[1];
	c.individual = !!getenv("SPEED_INDIVIDUAL");
	must(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &c.file),
	     argv[1]);
	for (pattern = strtok(argv[4], ","); pattern; pattern = strtok(NULL, ",")) {
		limit(pattern);
		measure(&c, pattern, atoi(argv[2]), atol(argv[3]));
	}
	alarm(0);
	MPI_File_close(&c.file);
	MPI_Info_free(&info);
	MPI_Finalize();
	return 0;
}
