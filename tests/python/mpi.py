# SPDX-License-Identifier: GPL-2.0-only
"""A group over mpi4py: each rank reads its columns of a file, and prints whether they are the right ones."""

import numpy as np
from mpi4py import MPI

import ddio

comm = MPI.COMM_WORLD
with ddio.connect() as session:
    group = ddio.over_mpi(session, comm)
    a = ddio.Array((24, 36), "f8", (ddio.NONE, ddio.CYCLIC))
    whole = np.arange(24 * 36, dtype="f8").reshape(24, 36)
    with group.open("over-mpi", "w") as f:
        f.write(a, whole[np.ix_(*a.indices(group.size, group.rank))], group=group)
        got = f.read(ddio.Array((24, 36), "f8", ddio.BLOCK), group=group)
    n = -(-24 // group.size)
    fine = group.rank == comm.rank and bool((got == whole[group.rank * n:(group.rank + 1) * n]).all())
fine = comm.gather(fine)
if comm.rank == 0:
    print(f"{fine.count(True)} of {len(fine)} ranks")
