/* SPDX-License-Identifier: GPL-2.0-only */
/* ddio bench: pattern x record size x layout x method, measured. */
#ifndef TOOLS_BENCH_H
#define TOOLS_BENCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <ddio/ddio.h>

#define BENCH_MAX_RECORDS 8
#define BENCH_MAX_RUNS 65536

/**
 * struct bench_pattern - one access pattern of TR94-226, Table 2
 * @name: letters after the r or w
 * @dims: 1 or 2; @dist: enum ddio_dist of each
 */
struct bench_pattern {
	const char *name;
	uint32_t dims;
	uint32_t dist[2];
};

extern const struct bench_pattern bench_patterns[];
extern const uint32_t bench_npatterns;
/* Return: the number of the pattern "rbb", "wc" and so on, or -ENOENT; @write is set by its first letter. */
int bench_pattern_find(const char *name, size_t len, bool *write);

/**
 * bench_array - a pattern as an array
 * @bytes: of data in the file from @offset on, see bench_cover()
 * Rows and columns as in the papers: 1024 columns of 8-byte records, 32 of 8192-byte ones.
 * Return: bytes that the array covers.
 */
uint64_t bench_array(const struct bench_pattern *p, uint32_t record, uint64_t offset,
		     uint64_t bytes, uint32_t cps, struct ddio_array *array);

/* Return: the largest part of @bytes that consists of whole rows of every record size. */
uint64_t bench_cover(const uint32_t *records, uint32_t n, uint64_t bytes);

/**
 * bench_share - walk a process's share element by element
 * Computes what the library's map does, but shares no code with it.  Calls @fn with runs of elements
 * that are contiguous in the file, in the order of the share.
 */
typedef void (*bench_share_fn)(void *arg, uint64_t file_off, uint64_t share_off, uint64_t len);
void bench_share(const struct ddio_array *array, uint32_t rank, bench_share_fn fn, void *arg);

/* Describes a process's share by itself, for a transfer without a group.  Return: bytes in it; 0: it has none. */
uint64_t bench_strided(const struct ddio_array *array, uint32_t rank, struct ddio_strided *strided);

/**
 * struct bench_spec - the experiment, read-only once it runs
 * @reference: the file's contents at first, in shared memory; @size: its length; the arrays are the
 *	@cover bytes from @offset on
 * @alone: each process makes a transfer of its own, and the last to end ends the time
 * @until_last: the time goes from the first process that begins to the last whose call returns, not from rank 0 to rank 0
 * @skew_ns: before a measured transfer each process computes for at most this long, drawn from the seed
 */
struct bench_spec {
	const char *conf;
	const char *file;
	uint32_t cps, iops, disks;
	uint32_t nrecords, records[BENCH_MAX_RECORDS];
	uint32_t npatterns, patterns[64]; /* number * 2 + write */
	uint32_t nmethods, methods[4];
	uint32_t nlayouts, layouts[3];
	uint32_t trials;
	uint32_t xfer_flags, outstanding;
	uint64_t block;
	uint64_t size, offset, cover;
	uint64_t seed;
	uint64_t skew_ns;
	bool verify, paper, progress, calls, alone, until_last;
	const uint8_t *reference;
	const char *engine, *engine_options;
	const char *cache_text;
	const char *trace; /* name of the file that a trace goes to, or NULL */
};

/* One measured transfer; rank 0 writes it into shared memory. */
struct bench_run {
	uint32_t pattern, record, method, layout, trial; /* pattern: number * 2 + write */
	uint32_t verified;
	uint32_t left,
		left_barriers; /* of the IOPs' CPUs to a computation, 100000: all; 0: not known */
	uint64_t bytes;
	uint64_t elapsed_ns; /* of the disks' time: real time over the time scale */
	struct ddio_report report;
};

/**
 * struct bench_shared - what the processes share
 * @done: runs finished; @total: runs planned
 * @failed: 1 after the first failure, whose text is kept
 * @began: when the first process began the transfer that is measured, 0: none has; @returned: when the last returned from it
 */
struct bench_shared {
	volatile uint64_t done;
	uint64_t total;
	_Atomic uint32_t failed;
	_Atomic uint64_t began, returned;
	char what[80];
	char error[1024];
	double scale;
	char kernel[160], engine[32];
	uint32_t nruns;
	struct bench_run runs[];
};

/**
 * struct bench_world - where a compute process runs: real or simulated
 * @connect: opens its session; ddio_last_error() has the reason of a failure
 * @meet: forms the group of all processes
 * @now: returns monotonic time in nanoseconds
 * @compute: lets time pass for an application's arithmetic; NULL where it takes its own time
 * @watch: tells that a measured transfer begins (@begin) or has ended; puts what was seen into @run;
 *	called by rank 0; may be NULL
 * @arg: passed to these
 */
struct bench_run;
struct bench_world {
	int (*connect)(void *arg, struct ddio_session **session);
	int (*meet)(void *arg, struct ddio_session *session, struct ddio_group **group);
	uint64_t (*now)(void *arg);
	void (*compute)(void *arg, uint64_t ns);
	void (*watch)(void *arg, bool begin, struct bench_run *run);
	void *arg;
};

/* A compute process: returns its exit code. */
int bench_cp(const struct bench_spec *spec, struct bench_shared *sh, uint32_t rank,
	     const struct bench_world *world);

/* Return: memory for the results of all runs, shared with processes forked later; NULL: too many. */
struct bench_shared *bench_shared_new(const struct bench_spec *spec);
void bench_shared_free(const struct bench_spec *spec, struct bench_shared *sh);

enum bench_format { BENCH_TEXT, BENCH_CSV, BENCH_JSON };
void bench_print(FILE *out, enum bench_format format, const struct bench_spec *spec,
		 const struct bench_shared *sh);
/* Draws the results as bars, by gnuplot. */
int bench_plot(const char *path, const struct bench_spec *spec, const struct bench_shared *sh);

/* One line of results: the trials of one configuration. */
struct bench_cell {
	uint32_t n;
	double median, min, max; /* MB/s */
	const struct bench_run *first;
};
bool bench_cell(const struct bench_spec *spec, const struct bench_shared *sh, uint32_t pattern,
		uint32_t record, uint32_t layout, uint32_t method, struct bench_cell *cell);
const char *bench_method_name(uint32_t method);
const char *bench_layout_name(uint32_t layout);
void bench_pattern_name(uint32_t pattern, char name[8]);

/* Return: the figure of TR94-226, Table 3 or 4, normalised for ra; 0 if there is none. */
double bench_paper(uint32_t pattern, uint32_t record, uint32_t layout, uint32_t method);

/* Measures this machine's memcpy and loopback TCP, in bytes per second.  Return: 0 or -errno. */
int bench_limits(double *memcpy_rate, double *tcp_rate);

struct opt_cmd;
/* ddio bench. */
int cmd_bench(int argc, char **argv);
extern const struct opt_cmd opts_bench;

#endif /* TOOLS_BENCH_H */
