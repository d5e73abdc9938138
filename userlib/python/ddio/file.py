# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files: bytes, arrays, collective transfers, durability, locks."""

from __future__ import annotations

import ast
import contextlib
import ctypes
import enum
import errno
import io
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from . import _abi
from ._handle import Handle, Root
from .distribution import NONE, Array, Dist, Part
from .query import Deal, Found, Question, Reduce, Result, dtype_of_records
from .transfer import Call, Data, Flag, Method, Operation, Report, share_new

if TYPE_CHECKING:
    from .group import Group


class Layout(enum.IntEnum):
    """Where the blocks of a file lie on a disk."""

    CONTIGUOUS = 0
    RANDOM_BLOCKS = 1
    RANDOM_TRACKS = 2


@dataclass(frozen=True)
class Striping:
    """How a new file is spread; block_size 0 is the cluster's, disks without entries are all."""

    block_size: int = 0
    disks: Sequence[int] = ()
    layout: Layout = Layout.CONTIGUOUS
    seed: int = 0
    reserve: int = 0

    def describe(self) -> _abi.Striping:
        """Returns the description that libddio understands (struct ddio_striping)."""
        disks = (ctypes.c_uint32 * len(self.disks))(*self.disks)
        return _abi.Striping(struct_size=ctypes.sizeof(_abi.Striping), block_size=self.block_size,
                             layout=int(self.layout), seed=self.seed, ndisks=len(self.disks), disks=disks,
                             reserve=self.reserve)


@dataclass(frozen=True)
class Stat:
    """What is known of a file; times in nanoseconds since 1970."""

    id: int
    size: int
    ctime_ns: int
    mtime_ns: int
    block_size: int
    layout: Layout
    seed: int
    ndisks: int


def stat_of(c: _abi.FileStat) -> Stat:
    return Stat(c.id, c.size, c.ctime_ns, c.mtime_ns, c.block_size, Layout(c.layout), c.seed, c.ndisks)


@dataclass(frozen=True)
class Placement:
    """One extent of a file: count blocks from block on, of a file on n disks every nth, at byte start of a disk."""

    disk: int
    block: int
    start: int
    count: int


_CREATE, _EXCL, _TRUNCATE = 0x1, 0x2, 0x4
_MODES = {"r": 0, "a": _CREATE, "w": _CREATE | _TRUNCATE, "x": _CREATE | _EXCL}


def open_opts(mode: str, permissions: int, striping: Striping | None) -> Any:
    """Returns struct ddio_open_opts for a mode."""
    if mode not in _MODES:
        raise ValueError(f"mode is one of {', '.join(_MODES)}")
    opts = _abi.OpenOpts(struct_size=ctypes.sizeof(_abi.OpenOpts), flags=_MODES[mode], mode=permissions)
    if striping is not None:
        opts.striping = ctypes.pointer(striping.describe())
    return opts


class File(Handle):
    """An open file.  Session.open() and Group.open() make it; all methods without a group are this process's own."""

    _free = "ddio_close"

    def __init__(self, root: Root, handle: ctypes.c_void_p, name: str) -> None:
        super().__init__(root, handle)
        self.name = name

    # Bytes

    def pread(self, size: int, offset: int) -> bytes:
        """Returns the bytes from offset on, fewer than size only at the end of the file."""
        out = np.empty(size, np.uint8)
        return out[:self.readinto(out, offset)].tobytes()

    def readinto(self, buffer: Any, offset: int) -> int:
        """Reads into a buffer and returns how many bytes there were."""
        a = np.frombuffer(buffer, np.uint8) if not isinstance(buffer, np.ndarray) else buffer
        if not (a.flags.writeable and a.flags.c_contiguous):
            raise ValueError("the buffer must be writable and contiguous")
        return self._call("ddio_pread", a.ctypes.data, a.nbytes, offset)

    def pwrite(self, data: Any, offset: int) -> int:
        """Writes a buffer's bytes, which are durable after sync(), and returns how many there are."""
        a = np.ascontiguousarray(data if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8))
        return self._call("ddio_pwrite", a.ctypes.data, a.nbytes, offset)

    # What is known of it

    def stat(self) -> Stat:
        """Asks for size and times."""
        st = _abi.FileStat()
        self._call("ddio_fstat", ctypes.byref(st))
        return stat_of(st)

    @property
    def size(self) -> int:
        """Bytes, asked for each time."""
        return self.stat().size

    def truncate(self, size: int) -> None:
        """Cuts or extends the file; what is added reads as zeros."""
        self._call("ddio_set_size", size)

    def allocate(self, offset: int, size: int) -> None:
        """Gives space to a range, so that later writes to it need none."""
        self._call("ddio_allocate", offset, size)

    def clone(self, name: str) -> None:
        """Makes a clone, which shares its blocks with this file until one of the two is written; its name must be new."""
        self._call("ddio_clone", os.fsencode(name))

    def snap(self, name: str) -> None:
        """Makes a snapshot: a clone without permission to write, with the name .snaps/NUMBER OF THE FILE/name."""
        self._call("ddio_snap", os.fsencode(name))

    def sync(self) -> None:
        """Returns when everything that anybody wrote before is durable."""
        self._call("ddio_sync")

    def drop_cache(self) -> None:
        """Empties the I/O processors' caches of the file, after writing back what is dirty."""
        self._call("ddio_drop_cache")

    def disks(self) -> list[int]:
        """Returns the numbers of the file's disks in stripe order."""
        return [self._call("ddio_file_disk", i) for i in range(self.stat().ndisks)]

    def layout(self) -> list[Placement]:
        """Returns where each block lies."""
        found: list[Placement] = []
        self._walk("ddio_layout", _abi.LAYOUT_FN,
                   lambda p: found.append(Placement(p[0].disk, p[0].block, p[0].start, p[0].count)))
        return found

    @contextlib.contextmanager
    def lock(self, offset: int = 0, size: int = 0, *, shared: bool = False, wait: bool = True) -> Iterator[None]:
        """Locks a range (size 0: to the end) for this thread in a with statement; BlockingIOError if wait is False and
        somebody else has it.  Locks are advice, those of fcntl(2) below a mount."""
        self._call("ddio_lock", offset, size, (0x1 if shared else 0x2) | (0 if wait else 0x4))
        try:
            yield
        finally:
            self._call("ddio_unlock", offset, size)

    # Arrays

    def npy(self, dist: Dist | Sequence[Dist] = NONE, grid: int | Sequence[int] | None = None) -> Array:
        """Returns the array of a file in NumPy's format, as np.save() or "ddio import matrix.npy" leave it."""
        npy: Any = np.lib.format
        head = io.BytesIO(self.pread(1 << 16, 0))
        version = npy.read_magic(head)
        if version not in ((1, 0), (2, 0), (3, 0)):
            raise ValueError(f"{self.name}: version {version} of the npy format is not known")
        if version == (3, 0):
            # Of version 2 but for its letters, and NumPy has no function for it.
            text = head.read(int.from_bytes(head.read(4), "little")).decode()
            said = ast.literal_eval(text)
            shape, fortran, dtype = said["shape"], said["fortran_order"], npy.descr_to_dtype(said["descr"])
        else:
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, fortran, dtype = read(head)
        return Array(shape, dtype, dist, grid, offset=head.tell(), order="F" if fortran else "C")

    def _ask(self, question: Question, result: Result, group: Group | None) -> bool:
        """Asks; False if more records match than there is room for, here or at another member of the group."""
        try:
            if group is None:
                self._call("ddio_query", ctypes.byref(question.c), ctypes.byref(result.c))
            else:
                deal = question.deal and ctypes.byref(question.deal)
                self._call("ddio_query_all", group.handle, ctypes.byref(question.c), deal, ctypes.byref(result.c))
        except OSError as e:
            if e.errno != errno.ERANGE:
                raise
            return False
        return True

    def query(self, records: npt.DTypeLike | Array, where: str = "", select: Sequence[str] = (), *,
              reduce: Sequence[Reduce] = (), index: bool = False, first: int = 0, count: int | None = None,
              origin: int = 0, group: Group | None = None, deal: Deal | None = None) -> Found:
        """Asks the I/O processors which records match; only what is asked for is sent.

        records: the dtype of a record, whose fields have the names that where and select use; that of plain numbers has
            the field "value".  Or an array, whole: its elements are the records, as in f.query(f.npy(), ...).
        where: as in "energy > 1.5 and not (type = 3 or type = 4)"; "": every record matches.
        select: fields of those that match, which Found.data has; index: whether Found.index has their numbers.
        reduce: sums, extremes and histograms of fields of those that match, which Found.values has in this order.
        first, count: the records that are looked at; origin: byte of the file at which record 0 begins.

        group: all its members ask the same, each block is looked at once, and each member gets its part of the records: a part
            of the file, or, with deal, those whose values are its own; values are of all.

        Raises ValueError for a question that says nothing, OSError with libddio's text otherwise.
        """
        if isinstance(records, Array):
            origin += records.offset
            most = max(math.prod(records.shape) - first, 0)
            count = most if count is None else min(count, most)
            records = records.dtype
        question = Question(dtype_of_records(np.dtype(records)), where, select, reduce, origin, deal)
        room = 4096 if select or index else 0
        for _ in range(8):
            result = question.result(first, count, room, index)
            if self._ask(question, result, group):
                return result.found(group is not None)
            room = max(room, result.wanted(group is not None) * 9 // 8)
        raise OSError(errno.ERANGE, "more records match each time: the file grows faster than it is read", self.name)

    def _prepare(self, group: Group | None, part: Part, data: Data | None, writes: bool, dtype: npt.DTypeLike,
                 method: Method, flags: Flag, outstanding: int, report: Report | None) -> Call:
        nprocs, rank = (1, 0) if group is None else (group.size, group.rank)
        if data is None:
            data = share_new(part, dtype, nprocs, rank)
        return Call(part, data, nprocs, rank, writes, method, flags, outstanding, report)

    def _now(self, function: str, group: Group | None, call: Call) -> Data:
        try:
            if group is None:
                self._call(function, ctypes.byref(call.c))
            else:
                self._call(function + "_all", group.handle, ctypes.byref(call.c))
        finally:
            call.over()
        return call.data

    def _later(self, function: str, group: Group | None, call: Call) -> Operation:
        if group is None:
            made = self._make(function, ctypes.byref(call.c))
        else:
            made = self._make(function + "_all", group.handle, ctypes.byref(call.c))
        return Operation(self._root, made, call)

    def read(self, part: Part, out: Data | None = None, *, group: Group | None = None, dtype: npt.DTypeLike = np.uint8,
             method: Method = Method.DEFAULT, flags: Flag = Flag.NONE, outstanding: int = 0,
             report: Report | None = None) -> Data:
        """Reads this process's share of a part of the file and returns it.

        group: all its members call, each for its own share: one disk-directed request.  None: this process alone.
        out: where to, of any strides; None: a new array.  dtype: of a new one for a Strided or Extents.
        flags: with Flag.SHORT the end of the file may come before that of the part; report.bytes_moved has what was read.

        Raises OSError with libddio's text; in a group the same on all members.
        """
        return self._now("ddio_read", group,
                         self._prepare(group, part, out, False, dtype, method, flags, outstanding, report))

    def write(self, part: Part, data: Data, *, group: Group | None = None, method: Method = Method.DEFAULT,
              flags: Flag = Flag.NONE, outstanding: int = 0, report: Report | None = None) -> None:
        """Writes this process's share of a part of the file, from an array of any strides."""
        self._now("ddio_write", group,
                  self._prepare(group, part, data, True, None, method, flags, outstanding, report))

    def start_read(self, part: Part, out: Data | None = None, *, group: Group | None = None,
                   dtype: npt.DTypeLike = np.uint8, method: Method = Method.DEFAULT, flags: Flag = Flag.NONE,
                   outstanding: int = 0, report: Report | None = None) -> Operation:
        """Starts read() and returns at once."""
        return self._later("ddio_start_read", group,
                           self._prepare(group, part, out, False, dtype, method, flags, outstanding, report))

    def start_write(self, part: Part, data: Data, *, group: Group | None = None, method: Method = Method.DEFAULT,
                    flags: Flag = Flag.NONE, outstanding: int = 0, report: Report | None = None) -> Operation:
        """Starts write() and returns at once; the array may not be changed until the operation has been waited for."""
        return self._later("ddio_start_write", group,
                           self._prepare(group, part, data, True, None, method, flags, outstanding, report))
