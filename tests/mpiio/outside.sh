#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# outside.sh [SUITE...]: other people's tests of MPI-IO on ddio, and beside it.
#
#   romio   ROMIO's own           (source package mpich)     pnetcdf  PnetCDF's in C           (pnetcdf)
#   mpich   MPICH's test/mpi/io   (mpich)                    netcdf   NetCDF's parallel ones   (netcdf)
#   mpi4py  its test_io.py        (mpi4py, or from pip)      hdf5     HDF5's testpar           (hdf5)
#
# Each test runs with each MPI for which it can be built here, in four ways:
#
#   alone   on a file in memory, with the MPI's own functions
#   beside  the same with libddio_mpiio preloaded
#   mount   below a mount of ddio, with libddio_mpiio preloaded
#   prefix  with a name that begins with "ddio:", if the test takes a name
#
# Prints for each MPI and suite how many passed in each way, and each test whose outcome is not that of alone.  Fails if one of
# these failed.  Of the environment:
#
#   SOURCES=DIR   keeps the sources and does not fetch what is there; else they are below TMPDIR and removed
#   MPIS, WAYS    some of "mpich openmpi" and of the four;  ONLY=GLOB  tests by name
#   RANKS=4       at most;  BOUND=60  seconds for each test
#
# apt-get source wants deb-src lines.  Needs root and /dev/fuse, 1 GB below TMPDIR and 4 GB of memory.
set -u
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d "${TMPDIR:-/tmp}/ddio-outside.XXXXXX") || exit 2
trap 'rm -rf --one-file-system "$work"' EXIT
[ $# -gt 0 ] || set -- romio mpich mpi4py pnetcdf netcdf hdf5
export SOURCES=${SOURCES:-$work/sources} BIN=$work/bin MPIS=${MPIS:-mpich openmpi}
mkdir -p "$SOURCES" "$BIN"
make --no-print-directory -s all mpiio || exit 2
tests/mpiio/outside/build.sh "$@" || exit 2
unshare --net tests/own_network.sh tests/mpiio/outside/run.sh "$@"
