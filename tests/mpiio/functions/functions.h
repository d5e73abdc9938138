/* SPDX-License-Identifier: GPL-2.0-only */
/* Every MPI_File_* function, by subject. */
#ifndef TESTS_MPIIO_FUNCTIONS_H
#define TESTS_MPIIO_FUNCTIONS_H

#include "tests/mpiio/common.h"

#define CASES(table) tst_run(table, sizeof(table) / sizeof((table)[0]))

/* behind.c: a view in which ranks take turns by pieces of so many bytes */
void turns_view(MPI_File fh, int piece);

void open_cases(void);
void individual_cases(void);
void memory_cases(void);
void collective_cases(void);
void nonblocking_cases(void);
void pending_cases(void);
void orders_cases(void);
void shared_cases(void);
void atomic_cases(void);
void behind_cases(void);
void whole_cases(void);
void sizes_cases(void);
void views_cases(void);
void datarep_cases(void);
void arrays_cases(void);
void info_cases(void);
void errors_cases(void);
void large_cases(void);
void lives_cases(void);
void hostile_cases(void);
void ranks_cases(void);
void differ_cases(void);
void threads_cases(void);
void threads_one_cases(void);

#endif
