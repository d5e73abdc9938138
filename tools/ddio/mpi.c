// SPDX-License-Identifier: GPL-2.0-only
/* ddio mpi: runs a program with libddio_mpiio in front of its MPI. */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ddio.h"

#define LIBRARY "libddio_mpiio.so"

static const struct ddio_opt mpi_opts[] = { { 0 } };
const struct opt_cmd opts_mpi = { "ddio",
				  "mpi",
				  "PROGRAM [ARGUMENT...]",
				  "Run an MPI program, or its launcher, with MPI-IO on ddio.",
				  mpi_opts,
				  1,
				  -1 };

/* The library lies beside this program, where both were built, or in the lib of the same prefix. */
static bool library_find(char path[PATH_MAX])
{
	static const char *const places[] = { LIBRARY, "../lib/" LIBRARY };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *dir;
	size_t i;

	if (n < 0)
		return false;
	self[n] = '\0';
	dir = dirname(self);
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if ((size_t)snprintf(path, PATH_MAX, "%s/%s", dir, places[i]) < PATH_MAX &&
		    !access(path, R_OK))
			return true;
	return false;
}

static int preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *all;
	int ret;

	if (!others || !*others)
		return setenv("LD_PRELOAD", library, 1) ? -errno : 0;
	if (asprintf(&all, "%s:%s", library, others) < 0)
		return -ENOMEM;
	ret = setenv("LD_PRELOAD", all, 1) ? -errno : 0;
	free(all);
	return ret;
}

/* Options behind the program's name are the program's. */
int cmd_mpi(int argc, char **argv)
{
	char path[PATH_MAX];
	int rc;

	if (argc < 2 || argv[1][0] == '-') {
		rc = argc > 1 && !strcmp(argv[1], "--") && argc > 2
			     ? 0
			     : opt_parse(&opts_mpi, NULL, &argc, &argv);
		if (rc)
			return rc > 0 ? EXIT_OK : EXIT_USAGE;
		argv++;
	}
	if (!library_find(path))
		return cmd_fail("mpi", 0, "%s is not installed", LIBRARY);
	rc = preload(path);
	if (rc)
		return cmd_fail("mpi", rc, "cannot set LD_PRELOAD");
	execvp(argv[1], argv + 1);
	return cmd_fail("mpi", -errno, "cannot run %s", argv[1]);
}
