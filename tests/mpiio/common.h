/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the MPI-IO programs share.  They know nothing of the project: each takes a file's name and must
 * pass with any MPI library's own I/O on a local file, too.
 *
 * A program is a table of cases.  All ranks run the same cases; a case never returns in the middle
 * because of a check that failed, so that all ranks make the same collective calls.  At its end the
 * lowest rank's first complaint, if any, is what rank 0 prints.
 */
#ifndef TESTS_MPIIO_COMMON_H
#define TESTS_MPIIO_COMMON_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mpiio_case {
	const char *name;
	void (*run)(void);
};

/*
 * path: what names of files begin with; strict: checks what the MPI libraries' own I/O gets wrong or
 * leaves out, too (--ddio); threads: they may call MPI at any time (--threads, if the MPI can do that).
 */
struct mpiio_test {
	const char *path;
	bool strict, threads;
	int rank, size;
	unsigned int passed, failed, skipped;
};

extern struct mpiio_test tst;

#ifdef OPEN_MPI
#define TST_OPEN_MPI true
#else
#define TST_OPEN_MPI false
#endif

/* PROGRAM [--ddio] [--threads] [--list] [--only PREFIX] FILE [ARGUMENT...]; returns the index of the first ARGUMENT. */
int tst_begin(int argc, char **argv);
void tst_run(const struct mpiio_case *cases, size_t n);
/* Begins and ends a case that no table has. */
void tst_case(const char *name);
bool tst_case_end(void);
int tst_finish(void);

/* Complains in this rank; only the first complaint of a case counts. */
void tst_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* All ranks: the rest of the case does not apply. */
void tst_skip(const char *why);
/* True on all ranks if it is on each. */
bool tst_all(bool mine);

#define CHECK(cond, ...)                       \
	do {                                   \
		if (!(cond))                   \
			tst_fail(__VA_ARGS__); \
	} while (0)
#define OK(call) tst_ok((call), #call)
/* The call fails, and its error is of one of the classes. */
#define FAILS(call, ...)                                       \
	tst_class((call), #call, (const int[]){ __VA_ARGS__ }, \
		  sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))

bool tst_ok(int rc, const char *call);
bool tst_class(int rc, const char *call, const int *classes, size_t n);

/* A file's name: the argument FILE and a suffix, good until the fourth call from here. */
const char *tst_file(const char *suffix);
/* All ranks: deletes it if it exists. */
void tst_remove(const char *name);
/* All ranks: MPI_FILE_NULL on all, and a complaint, if it failed on any. */
MPI_File tst_open(const char *name, int amode);
/* A new and empty file, for reading and writing. */
MPI_File tst_create(const char *suffix);
void tst_close(MPI_File *fh);
/* What any rank has written is seen by all. */
void tst_sync(MPI_File fh);
/*
 * After a collective write a rank sees its own bytes.  In Open MPI's own, from three ranks on, calls
 * return before that: without --ddio this is tst_sync().
 */
void tst_settle(MPI_File fh);
void tst_barrier(void);

/* The byte that belongs at an offset of a file whose contents have this seed. */
static inline unsigned char tst_byte(uint64_t seed, uint64_t at)
{
	uint64_t x = (at + 1) * 0x9e3779b97f4a7c15u ^ (seed + 1) * 0xc2b2ae3d27d4eb4fu;

	return (unsigned char)(x >> 56 ^ x >> 29);
}

void tst_fill(void *buf, size_t n, uint64_t seed, uint64_t at);
void tst_same(const void *buf, size_t n, uint64_t seed, uint64_t at, const char *what);
void tst_bytes(const void *buf, const void *want, size_t n, const char *what);
void tst_zeros(const void *buf, size_t n, const char *what);
/* That many entries of the type have been transferred. */
void tst_count(const MPI_Status *status, MPI_Datatype type, int want, const char *what);
/* Rank 0 looks at a file without MPI, unless its name is one that only MPI knows ("ddio:NAME"). */
void tst_look(const char *name, const void *want, size_t n);

/* A generator that gives the same numbers everywhere. */
struct mpiio_rand {
	uint64_t state;
};

uint64_t tst_rand(struct mpiio_rand *r, uint64_t below);

#endif
