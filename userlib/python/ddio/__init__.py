# SPDX-License-Identifier: LGPL-2.1-or-later
"""Disk-directed I/O from Python: NumPy arrays in and out of a ddio cluster, by one process or by a group together.

    import ddio

    def columns(group):
        with group.open("matrix.npy") as f:
            return f.read(f.npy((ddio.NONE, ddio.CYCLIC)), group=group)

    shares = ddio.fork(16, columns)

connect() begins a session; over_mpi(), at_address() and fork() form groups; File.read() and File.write() move arrays,
with start_read() and start_write() while the program goes on (or awaits them).  File.query() asks which records match.  Array, Strided and Extents say which
part of a file a process wants.  What goes wrong is an OSError with the text of libddio, which names node, disk, file and
byte.  The library is libddio.so.0, or what $DDIO_LIBRARY names.
"""

from . import _abi
from .distribution import ALL, BLOCK, CYCLIC, NONE, Array, Dist, Extents, Part, Strided
from .file import File, Layout, Placement, Stat, Striping
from .group import Counter, Group, at_address, fork, over_broadcast, over_mpi
from .query import Deal, Found, Reduce, Reduced
from .session import Node, Session, connect
from .transfer import Flag, Method, Operation, Report

__version__: str = _abi.lib.ddio_version().decode()

__all__ = ["ALL", "BLOCK", "CYCLIC", "NONE", "Array", "Counter", "Deal", "Dist", "Extents", "File", "Flag", "Found",
           "Group", "Layout", "Method", "Node", "Operation", "Part", "Placement", "Reduce", "Reduced", "Report",
           "Session", "Stat", "Strided", "Striping", "at_address", "connect", "fork", "over_broadcast", "over_mpi"]
