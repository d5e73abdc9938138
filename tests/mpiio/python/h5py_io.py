#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# h5py_io.py [--ddio] FILE: a dataset written by blocks of rows and read by columns, by h5py.
import sys
from mpi4py import MPI
import h5py
import numpy

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
name = sys.argv[-1] + ".h5py"
rows, cols = 10 * ranks, 6 * ranks
whole = numpy.arange(rows * cols, dtype="f8").reshape(rows, cols)
passed = failed = 0


def case(what, **kw):
	global passed, failed
	said = None
	if not h5py.get_config().mpi:
		said = "h5py is not built for MPI"
	else:
		said = round_trip(**kw)
	said = [s for s in comm.allgather(said) if s]
	passed, failed = passed + (not said), failed + bool(said)
	if rank == 0:
		print("%s - h5py/%s%s" % ("not ok" if said else "ok", what, ": " + said[0] if said else ""), flush=True)


def round_trip(**kw):
	mine = slice(10 * rank, 10 * (rank + 1))
	with h5py.File(name, "w", driver="mpio", comm=comm) as f:
		d = f.create_dataset("matrix", (rows, cols), "f8", **kw)
		with d.collective:
			d[mine] = whole[mine]
		f.attrs["ranks"] = ranks
	with h5py.File(name, "r", driver="mpio", comm=comm) as f:
		d = f["matrix"]
		with d.collective:
			if not (d[:, rank::ranks] == whole[:, rank::ranks]).all():
				return "rank %d: columns differ" % rank
		if not (d[rank, :] == whole[rank, :]).all():
			return "rank %d: a row differs" % rank
		if f.attrs["ranks"] != ranks:
			return "rank %d: the attribute differs" % rank
	return None


case("contiguous")
case("chunked", chunks=(4, 5))
if rank == 0:
	print("%d passed, %d failed, 0 skipped" % (passed, failed), flush=True)
sys.exit(failed > 0)
