// SPDX-License-Identifier: GPL-2.0-only
/*
 * opens PATH...: tries to open each to read, to write, with CREATE and with CREATE and EXCL, by all ranks together, and to remove
 * it by rank 0, which prints a line for each path: five words, "ok" or the class of the error, "differs" if ranks differ.  The
 * texts of errors go to stderr.
 */
#include <mpi.h>
#include <stdio.h>

static const int modes[] = { MPI_MODE_RDONLY, MPI_MODE_RDWR, MPI_MODE_RDWR | MPI_MODE_CREATE,
			     MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL };

static const char *word(int rc)
{
	static char said[16], text[MPI_MAX_ERROR_STRING];
	int class = MPI_SUCCESS, len;

	if (rc != MPI_SUCCESS)
		MPI_Error_class(rc, &class);
	if (rc != MPI_SUCCESS && MPI_Error_string(rc, text, &len) == MPI_SUCCESS)
		fprintf(stderr, "%s\n", text);
	if (class == MPI_ERR_ACCESS)
		return "ACCESS";
	if (class == MPI_ERR_NO_SUCH_FILE)
		return "NO_SUCH_FILE";
	if (class == MPI_ERR_FILE_EXISTS)
		return "FILE_EXISTS";
	if (class == MPI_ERR_IO)
		return "IO";
	snprintf(said, sizeof(said), class == MPI_SUCCESS ? "ok" : "%d", class);
	return said;
}

static const char *try_open(const char *path, int mode)
{
	int class = 0, least, most, rc;
	MPI_File fh;

	rc = MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &fh);
	if (rc != MPI_SUCCESS)
		MPI_Error_class(rc, &class);
	MPI_Allreduce(&class, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	MPI_Allreduce(&class, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (rc == MPI_SUCCESS && least == most)
		MPI_File_close(&fh);
	return least == most ? word(rc) : "differs";
}

int main(int argc, char **argv)
{
	unsigned int m;
	int i, rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (i = 1; i < argc; i++) {
		for (m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
			const char *said = try_open(argv[i], modes[m]);

			if (!rank)
				printf("%s ", said);
		}
		if (!rank)
			printf("%s\n", word(MPI_File_delete(argv[i], MPI_INFO_NULL)));
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
