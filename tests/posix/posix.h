/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The POSIX tests: cases are scripts of one line, run in a directory of their own.
 *
 *	statement; statement; ...
 *	statement:  [PROCESS:|PROCESS&] [USER:] [ERRNO] operation [argument...]
 *
 * PROCESS is B or C (else the first one), "&": do not wait for it, "join B" does.  USER is 1, 2 or
 * 3: uid and gid 10001, 10002, and 10001 with 10002 as further group; else who runs the tests.  With an ERRNO the
 * operation has to fail with it, else it has to succeed.  "#0" to "#9" are open files of the process;
 * "{n255}" is a name of 255 bytes, "{p5000}" a path of so many.
 */
#ifndef POSIX_H
#define POSIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define PX_FDS 10
#define PX_WORDS 32
#define PX_MARKS 8
#define PX_USER 10000

/* What an operation returns if its result is not what the script says; p->why tells. */
#define PX_WRONG (-2)

struct px_mark {
	char path[64];
	struct stat st;
};

/**
 * struct px - a process that runs statements
 * @why: what is wrong
 * @umask: as set by the script
 */
struct px {
	int fd[PX_FDS];
	struct px_mark mark[PX_MARKS];
	unsigned int nmarks;
	char why[512];
};

/* Returns 0 or more, -1 with errno, PX_WRONG. */
typedef long (*px_run)(struct px *p, int argc, char **argv);

struct px_op {
	const char *name;
	int min; /* arguments */
	px_run run;
};

extern const struct px_op px_ops_names[], px_ops_attr[], px_ops_data[], px_ops_check[],
	px_ops_lock[];

/* Flags of a case. */
#define PX_ROOT 0x1u /* for root only; scripts with users are without saying so */

/* A case is a script, or a function that gives NULL or what is wrong. */
struct px_case {
	const char *name;
	const char *script;
	const char *(*run)(void);
	unsigned int flags;
};

#define PX(name, script)              \
	{                             \
		name, script, NULL, 0 \
	}
#define PX_BY_ROOT(name, script)            \
	{                                   \
		name, script, NULL, PX_ROOT \
	}
#define PX_CODE(name, run)         \
	{                          \
		name, NULL, run, 0 \
	}
#define PX_CODE_BY_ROOT(name, run)       \
	{                                \
		name, NULL, run, PX_ROOT \
	}
#define PX_END                      \
	{                           \
		NULL, NULL, NULL, 0 \
	}

struct px_group {
	const char *name;
	const struct px_case *cases;
};

extern const struct px_case px_cases_open[], px_cases_names[], px_cases_link[], px_cases_rename[],
	px_cases_mode[], px_cases_owner[], px_cases_times[], px_cases_data[], px_cases_space[],
	px_cases_xattr[], px_cases_acl[], px_cases_lock[], px_cases_dirs[], px_cases_programs[],
	px_cases_random[], px_cases_calls[], px_cases_odd[];

/* script.c: NULL or what is wrong. @other: directory in which B and C work; NULL: the same. */
const char *px_script_run(const char *script, const char *other);
bool px_script_wants_root(const char *script);
__attribute__((format(printf, 2, 3))) long px_wrong(struct px *p, const char *fmt, ...);
/* How many times as long as on an idle machine what may hang is waited for: $DDIO_PATIENCE, 1 to 100. */
int px_patience(void);
/* The descriptor that "#n" names, else -1. */
int px_fd(const struct px *p, const char *word);
/* Bits that the words between commas name. */
struct px_bit {
	const char *name;
	int bits;
};
int px_bits(struct px *p, const struct px_bit *table, const char *text, int *bits);
int px_errno_of(const char *name);
const char *px_errno_name(int err);

/* defects.c: all combinations of operations and paths that cannot be; calls @each. */
void px_defects_each(void (*each)(void *arg, const struct px_case *c), void *arg);

#endif /* POSIX_H */
