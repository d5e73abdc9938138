#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# mpi4py_io.py [--ddio] FILE: MPI-IO by mpi4py.
import sys
from array import array
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
passed = failed = 0
name = sys.argv[-1] + ".py"


def case(run):
	"""Runs a case; a complaint of any rank is one of all."""
	global passed, failed
	said = None
	try:
		run()
	except (AssertionError, MPI.Exception) as e:
		said = "rank %d: %s" % (rank, e)
	said = [s for s in comm.allgather(said) if s]
	passed, failed = passed + (not said), failed + bool(said)
	if rank == 0:
		print("%s - mpi4py/%s%s" % ("not ok" if said else "ok", run.__name__, ": " + said[0] if said else ""), flush=True)


def create():
	if rank == 0:
		try:
			MPI.File.Delete(name)
		except MPI.Exception:
			pass
	comm.Barrier()
	return MPI.File.Open(comm, name, MPI.MODE_CREATE | MPI.MODE_RDWR)


def sync(fh):
	fh.Sync()
	comm.Barrier()
	fh.Sync()


def explicit():
	fh = create()
	fh.Write_at_all(8 * 100 * rank, array("d", [1000.0 * rank + i for i in range(100)]))
	sync(fh)
	other = (rank + 1) % ranks
	back = array("d", bytes(800))
	status = MPI.Status()
	fh.Read_at_all(8 * 100 * other, back, status)
	assert status.Get_count(MPI.DOUBLE) == 100, "count %d" % status.Get_count(MPI.DOUBLE)
	assert list(back) == [1000.0 * other + i for i in range(100)], "contents"
	assert fh.Get_size() == 800 * ranks, "size %d" % fh.Get_size()
	fh.Close()


def view():
	fh = create()
	every = MPI.INT.Create_resized(0, 4 * ranks).Commit()
	fh.Set_view(4 * rank, MPI.INT, every)
	fh.Write_all(array("i", range(rank, 50 * ranks, ranks)))
	sync(fh)
	fh.Set_view(0, MPI.INT, MPI.INT)
	back = array("i", bytes(200 * ranks))
	fh.Read_at_all(0, back)
	assert list(back) == list(range(50 * ranks)), "contents"
	every.Free()
	fh.Close()


def requests():
	fh = create()
	MPI.Request.Waitall([fh.Iwrite_at(400 * rank + 40 * i, array("i", [rank] * 10)) for i in range(10)])
	back = array("i", bytes(400))
	fh.Iread_at(400 * rank, back).Wait()
	assert list(back) == [rank] * 100, "contents"
	fh.Close()


def ordered():
	fh = create()
	fh.Write_ordered(array("i", [rank] * (rank + 1)))
	sync(fh)
	back = array("i", bytes(2 * ranks * (ranks + 1)))
	fh.Read_at_all(0, back)
	assert list(back) == [r for r in range(ranks) for _ in range(r + 1)], "contents"
	fh.Close()


def missing():
	try:
		MPI.File.Open(comm, name + ".none", MPI.MODE_RDONLY)
		raise AssertionError("a missing file was opened")
	except MPI.Exception as e:
		assert e.Get_error_class() == MPI.ERR_NO_SUCH_FILE, "class %d" % e.Get_error_class()


def datarep():
	"""Bytes are turned around in the file; the MPIs' own I/O has no such thing."""
	def turn(to, source):
		to[:] = bytes(255 - b for b in source)

	def read(buf, datatype, count, file, position):
		turn(memoryview(buf)[position:position + count], memoryview(file)[:count])

	def write(buf, datatype, count, file, position):
		turn(memoryview(file)[:count], memoryview(buf)[position:position + count])

	MPI.Register_datarep("python_turned", read, write, lambda datatype: 1)
	fh = create()
	fh.Set_view(0, MPI.BYTE, MPI.BYTE, "python_turned")
	mine = bytes(range(rank, rank + 50))
	fh.Write_at_all(50 * rank, mine)
	sync(fh)
	back = bytearray(50)
	fh.Read_at_all(50 * rank, back)
	assert back == mine, "what is read"
	fh.Set_view(0, MPI.BYTE, MPI.BYTE)
	fh.Read_at_all(50 * rank, back)
	assert back == bytes(255 - b for b in mine), "what is in the file"
	fh.Close()


for c in explicit, view, requests, ordered, missing:
	case(c)
if "--ddio" in sys.argv:
	case(datarep)
if rank == 0:
	print("%d passed, %d failed, 0 skipped" % (passed, failed), flush=True)
sys.exit(failed > 0)
