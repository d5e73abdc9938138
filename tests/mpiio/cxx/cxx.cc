// SPDX-License-Identifier: GPL-2.0-only
// cxx [--ddio] FILE: MPI-IO by the C++ functions, which were in MPI up to version 2.2 and which both MPIs still have.
#include <mpi.h>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

static int rank, ranks, passed, failed;
static std::string name;

// What went wrong is thrown: by a check, or by the functions of files.  Debian's Open MPI throws nothing: errors are in a variable.
struct wrong {
	std::string what;
};

static void need(bool cond, const char *what)
{
	if (!cond)
		throw wrong{ what };
}

static void tried(const char *what, void (*run)())
{
	std::string said;
	int mine, all;

	try {
		run();
	} catch (const wrong &w) {
		said = w.what;
	} catch (MPI::Exception &e) {
		said = e.Get_error_string();
	}
	mine = !said.empty();
	if (mine)
		std::printf("# rank %d: %s\n", rank, said.c_str());
	std::fflush(stdout);
	MPI::COMM_WORLD.Allreduce(&mine, &all, 1, MPI::INT, MPI::MAX);
	(all ? failed : passed)++;
	if (!rank)
		std::printf("%s - cxx/%s%s\n", all ? "not ok" : "ok", what, all ? ": see above" : "");
}

static MPI::File create(const char *suffix)
{
	std::string path = name + suffix;

	if (!rank) {
		try {
			MPI::File::Delete(path.c_str(), MPI::INFO_NULL);
		} catch (MPI::Exception &) {
		}
	}
	MPI::COMM_WORLD.Barrier();
	return MPI::File::Open(MPI::COMM_WORLD, path.c_str(), MPI::MODE_CREATE | MPI::MODE_RDWR,
			       MPI::INFO_NULL);
}

static void sync(MPI::File &f)
{
	f.Sync();
	MPI::COMM_WORLD.Barrier();
	f.Sync();
}

static void pieces()
{
	MPI::File f = create(".pieces");
	std::vector<double> v(100, rank + 0.5), back(100);
	int other = (rank + 1) % ranks;
	MPI::Status status;

	f.Write_at_all(800 * rank, v.data(), 100, MPI::DOUBLE, status);
	need(status.Get_count(MPI::DOUBLE) == 100, "the count written");
	sync(f);
	need(f.Get_size() == 800 * ranks, "the size");
	need(f.Get_amode() == (MPI::MODE_CREATE | MPI::MODE_RDWR), "the mode");
	f.Read_at(800 * other, back.data(), 100, MPI::DOUBLE, status);
	need(status.Get_count(MPI::DOUBLE) == 100 && back[99] == other + 0.5, "what is read");
	/* MPI::SEEK_SET is not what the C functions of Open MPI know. */
	f.Seek(800 * other, MPI_SEEK_SET);
	f.Read_all(back.data(), 100, MPI::DOUBLE);
	need(back[0] == other + 0.5, "what is read together");
	need(f.Get_position() == 800 * other + 800, "the position");
	f.Close();
	need(f == MPI::FILE_NULL, "the handle after Close()");
}

static void views()
{
	MPI::File f = create(".views");
	MPI::Datatype every = MPI::INT.Create_resized(0, 4 * ranks), etype, filetype;
	std::vector<int> v(50, 7 + rank), all(50 * ranks, -1);
	char rep[MPI::MAX_DATAREP_STRING];
	MPI::Offset disp = -1;

	every.Commit();
	f.Set_view(4 * rank, MPI::INT, every, "native", MPI::INFO_NULL);
	f.Write_all(v.data(), 50, MPI::INT);
	f.Get_view(disp, etype, filetype, rep);
#ifndef OPEN_MPI /* which does not tell it */
	need(disp == 4 * rank, "the displacement");
#endif
	need(!std::strcmp(rep, "native"), "the representation");
	sync(f);
	f.Set_view(0, MPI::INT, MPI::INT, "native", MPI::INFO_NULL);
	f.Read_at_all(0, all.data(), 50 * ranks, MPI::INT);
	for (int i = 0; i < 50 * ranks; i++)
		need(all[i] == 7 + i % ranks, "what is read");
	every.Free();
	f.Close();
}

static void requests()
{
	MPI::File f = create(".requests");
	int v[10], back[10];
	MPI::Request r[10];
	MPI::Status s[10];

	for (int i = 0; i < 10; i++) {
		v[i] = 10 * rank + i;
		r[i] = f.Iwrite_at(4 * (10 * rank + i), &v[i], 1, MPI::INT);
	}
	MPI::Request::Waitall(10, r, s);
	need(s[9].Get_count(MPI::INT) == 1, "the count of a request");
	f.Read_at_all_begin(40 * rank, back, 10, MPI::INT);
	f.Read_at_all_end(back);
	need(!std::memcmp(v, back, sizeof(v)), "what is read");
	f.Close();
}

static void pointers()
{
	MPI::File f = create(".pointers");
	std::vector<int> all(ranks, -1);

	f.Write_ordered(&rank, 1, MPI::INT);
	sync(f);
	need(f.Get_position_shared() == 4 * ranks, "the shared pointer");
	f.Read_at_all(0, all.data(), ranks, MPI::INT);
	for (int i = 0; i < ranks; i++)
		need(all[i] == i, "the order");
	f.Set_atomicity(true);
	need(f.Get_atomicity(), "atomic mode");
	f.Close();
}

static int class_of_missing()
{
	try {
		MPI::File::Open(MPI::COMM_WORLD, (name + ".none").c_str(), MPI::MODE_RDONLY,
				MPI::INFO_NULL);
	} catch (MPI::Exception &e) {
		return e.Get_error_class();
	}
#ifdef OPEN_MPI
	return MPI::Get_error_class(MPI::mpi_errno);
#else
	return MPI::SUCCESS;
#endif
}

static void errors()
{
	need(class_of_missing() == MPI::ERR_NO_SUCH_FILE, "the class of the error");
}

int main(int argc, char **argv)
{
	MPI::Init(argc, argv);
	rank = MPI::COMM_WORLD.Get_rank();
	ranks = MPI::COMM_WORLD.Get_size();
	name = argc > 1 ? argv[argc - 1] : "cxx";
	MPI::FILE_NULL.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
	tried("pieces", pieces);
	tried("views", views);
	tried("requests", requests);
	tried("pointers", pointers);
	tried("errors", errors);
	if (!rank)
		std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	MPI::Finalize();
	return failed > 0;
}
