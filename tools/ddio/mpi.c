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

/* Launchers, by the names that they have behind all links. */
static const struct {
	const char *launcher, *mpi;
} launchers[] = {
	{ "mpiexec.hydra", "mpich" },	 { "mpiexec.mpich", "mpich" },
	{ "mpirun.mpich", "mpich" },	 { "mpiexec.gforker", "mpich" },
	{ "orterun", "openmpi" },	 { "prterun", "openmpi" },
	{ "mpirun.openmpi", "openmpi" }, { "mpiexec.openmpi", "openmpi" },
};

static const char *const mpis[] = { "mpich", "openmpi" };

/* Which of the directories of PATH has the program; copies the path behind all links. */
static bool program_find(const char *program, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH"), *end;
	char at[PATH_MAX];

	if (strchr(program, '/'))
		return realpath(program, path);
	for (; dirs && *dirs; dirs = *end ? end + 1 : end) {
		end = strchrnul(dirs, ':');
		if ((size_t)snprintf(at, sizeof(at), "%.*s/%s", (int)(end - dirs), dirs, program) <
			    sizeof(at) &&
		    !access(at, X_OK))
			return realpath(at, path);
	}
	return false;
}

/* Returns the MPI whose launcher the program is, or NULL. */
static const char *mpi_of(const char *program)
{
	char path[PATH_MAX];
	const char *name;
	size_t i;

	if (!program_find(program, path))
		return NULL;
	name = strrchr(path, '/') + 1;
	for (i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (!strcmp(name, launchers[i].launcher))
			return launchers[i].mpi;
	return NULL;
}

static bool backend_is_there(const char *library, const char *mpi)
{
	char path[PATH_MAX];

	return (size_t)snprintf(path, sizeof(path), "%.*s/ddio-mpiio/%s.so",
				(int)(strrchr(library, '/') - library), library,
				mpi) < sizeof(path) &&
	       !access(path, R_OK);
}

/* Without a back end for the MPI at hand the program would run without ddio.  Returns an exit status. */
static int backend_check(const char *library, const char *program)
{
	const char *mpi = mpi_of(program);
	size_t i, there = 0;

	for (i = 0; i < sizeof(mpis) / sizeof(mpis[0]); i++)
		there += backend_is_there(library, mpis[i]);
	if (mpi ? backend_is_there(library, mpi) : there)
		return EXIT_OK;
	return cmd_fail(
		"mpi", 0,
		"there is no back end for %s: install libddio-mpiio-%s, or build ddio where %s",
		mpi ? mpi : "any MPI", mpi ? mpi : "mpich or libddio-mpiio-openmpi",
		!mpi			? "mpicc.mpich or mpicc.openmpi is"
		: !strcmp(mpi, "mpich") ? "mpicc.mpich is (Debian: libmpich-dev)"
					: "mpicc.openmpi is (Debian: libopenmpi-dev)");
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
	rc = backend_check(path, argv[1]);
	if (rc)
		return rc;
	rc = preload(path);
	if (rc)
		return cmd_fail("mpi", rc, "cannot set LD_PRELOAD");
	execvp(argv[1], argv + 1);
	return cmd_fail("mpi", -errno, "cannot run %s", argv[1]);
}
