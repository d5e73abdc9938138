// SPDX-License-Identifier: GPL-2.0-only
/* functions [--ddio] [--threads] [--list] [--only PREFIX] FILE: see functions.h */
#include "tests/mpiio/functions/functions.h"

int main(int argc, char **argv)
{
	tst_begin(argc, argv);
	open_cases();
	individual_cases();
	memory_cases();
	collective_cases();
	nonblocking_cases();
	pending_cases();
	orders_cases();
	shared_cases();
	atomic_cases();
	behind_cases();
	whole_cases();
	sizes_cases();
	views_cases();
	datarep_cases();
	arrays_cases();
	info_cases();
	errors_cases();
	large_cases();
	lives_cases();
	hostile_cases();
	ranks_cases();
	differ_cases();
	threads_one_cases();
	threads_cases();
	return tst_finish();
}
