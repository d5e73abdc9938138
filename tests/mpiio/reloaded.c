// SPDX-License-Identifier: GPL-2.0-only
/*
 * reloaded LIBRARY FILE: a plug-in of the program brings LIBRARY in and is unloaded again, three times, once with FILE open.  What
 * was written each time is read the next time; the rest of the program goes on and ends as ever.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { N = 5000, TIMES = 3 };

static int rank;

/* The library's own, not the one that the program is linked to. */
static struct {
	__typeof__(&MPI_File_open) open;
	__typeof__(&MPI_File_close) close;
	__typeof__(&MPI_File_write_at_all) write_at_all;
	__typeof__(&MPI_File_read_at_all) read_at_all;
} its;

static void *load(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		printf("%s\n", dlerror());
		return NULL;
	}
	*(void **)&its.open = dlsym(handle, "MPI_File_open");
	*(void **)&its.close = dlsym(handle, "MPI_File_close");
	*(void **)&its.write_at_all = dlsym(handle, "MPI_File_write_at_all");
	*(void **)&its.read_at_all = dlsym(handle, "MPI_File_read_at_all");
	return handle;
}

static int use(const char *name, int time)
{
	char buf[N], want[N];
	MPI_Offset at = (MPI_Offset)rank * N;
	MPI_File fh;
	int bad = 0;

	if (its.open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh))
		return 1;
	if (time) {
		memset(want, time, sizeof(want));
		bad |= its.read_at_all(fh, at, buf, N, MPI_BYTE, MPI_STATUS_IGNORE) ||
		       memcmp(buf, want, N);
	}
	memset(buf, time + 1, sizeof(buf));
	bad |= its.write_at_all(fh, at, buf, N, MPI_BYTE, MPI_STATUS_IGNORE);
	/* The last time it stays open. */
	return time < TIMES - 1 ? bad | its.close(&fh) : bad;
}

int main(int argc, char **argv)
{
	int i, bad = 0, all;
	void *handle;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (i = 0; argc == 3 && i < TIMES && !bad; i++) {
		handle = load(argv[1]);
		bad = !handle || use(argv[2], i);
		if (handle)
			dlclose(handle);
		/* What runs on by itself has time to. */
		usleep(200000);
	}
	MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (!rank)
		printf("%s\n", all || i < TIMES ? "failed" : "reloaded");
	MPI_Finalize();
	return all || i < TIMES;
}
