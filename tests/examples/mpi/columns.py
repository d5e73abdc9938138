#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""columns.py FILE: each process writes every n-th column of a matrix in an HDF5 file, and all read it back by rows.

    ddio mpi mpiexec -n 4 python3 columns.py /mnt/data/matrix.h5

Nothing in it is ddio's: h5py, built for MPI, calls HDF5, and that calls MPI's file functions.
"""
import sys

import h5py
import numpy
from mpi4py import MPI

ROWS, COLUMNS = 128, 192
comm = MPI.COMM_WORLD
whole = numpy.add.outer(numpy.arange(ROWS) * 1000.0, numpy.arange(COLUMNS))

with h5py.File(sys.argv[1], "w", driver="mpio", comm=comm) as f:
    matrix = f.create_dataset("matrix", (ROWS, COLUMNS), dtype="f8")
    with matrix.collective:
        matrix[:, comm.rank :: comm.size] = whole[:, comm.rank :: comm.size]

with h5py.File(sys.argv[1], "r", driver="mpio", comm=comm) as f:
    share = slice(ROWS * comm.rank // comm.size, ROWS * (comm.rank + 1) // comm.size)
    with f["matrix"].collective:
        mine = f["matrix"][share, :]
    wrong = comm.allreduce(int((mine != whole[share, :]).sum()))

if comm.rank == 0:
    print(f"{ROWS} x {COLUMNS} doubles written and read, {wrong} wrong")
