# SPDX-License-Identifier: LGPL-2.1-or-later
"""Transfers: where data lie in memory, what a transfer did, and operations that are under way."""

from __future__ import annotations

import asyncio
import ctypes
import enum
import math
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any, Generator, Sequence, cast

import numpy as np
import numpy.typing as npt

from . import _abi
from ._handle import Root
from .distribution import Array, Extents, Part, Strided

Data = npt.NDArray[Any]


class Method(enum.IntEnum):
    """How a transfer is made: traditional caching, two-phase, disk-directed, disk-directed with presort (DDS, the default).

    SMALL is only told in reports: a small array that went with the members' agreement.
    """

    DEFAULT = 0
    TC = 1
    TWO_PHASE = 2
    DD = 3
    DDS = 4
    SMALL = 5


class Flag(enum.IntFlag):
    """Flags of a transfer; ddio_transfer(3) describes them."""

    NONE = 0
    SYNC = 0x1
    ROTATE = 0x2
    NO_BATCH = 0x4
    SATF = 0x8
    NO_SCATTER = 0x10
    SHORT = 0x20
    OVERLAP = 0x40
    NO_SHARE = 0x80
    IN_TURN = 0x100
    ATOMIC = 0x200
    FILE_ORDER = 0x400


@dataclass
class Report:
    """What a transfer did: the members of struct ddio_report, filled when it is over."""

    method: Method = Method.DEFAULT
    sorted: bool = False
    bytes_share: int = 0
    bytes_needed: int = 0
    disk_read: int = 0
    disk_written: int = 0
    disk_requests: int = 0
    requests: int = 0
    messages: int = 0
    elapsed_ns: int = 0
    wait_join_ns: int = 0
    wait_io_ns: int = 0
    wait_end_ns: int = 0
    peak_share: int = 0
    buffers: int = 0
    iops: int = 0
    bytes_scattered: int = 0
    bytes_moved: int = 0
    bytes_shared: int = 0

    def fill(self, c: _abi.Report) -> None:
        """Takes over what libddio said."""
        for f in fields(self):
            setattr(self, f.name, getattr(c, f.name))
        self.method, self.sorted = Method(c.method), bool(c.sorted)


def _lowest(a: Data) -> int:
    """Returns the address of the array's lowest byte."""
    return int(a.ctypes.data) + sum((n - 1) * s for n, s in zip(a.shape, a.strides) if s < 0)


def _memory(a: Data) -> tuple[int, Any]:
    """Returns the address and, where the elements do not follow one another, their strides (struct ddio_memory)."""
    if a.size == 0 or a.flags.c_contiguous:
        return int(a.ctypes.data), None
    low = _lowest(a)
    strided = Strided(int(a.ctypes.data) - low, a.itemsize, tuple(zip(a.shape, a.strides))).describe()
    return low, _abi.Memory(nstrided=1, strided=ctypes.pointer(strided))


def _part(part: Part, nprocs: int) -> Any:
    """Returns the C description; what it points to lives as long as it does."""
    if isinstance(part, Array):
        return _abi.Part(kind=_abi.PART_ARRAY, array=ctypes.pointer(part.describe(nprocs)))
    if isinstance(part, Extents):
        n = len(part.extents)
        return _abi.Part(kind=_abi.PART_LIST, n=n, list=(_abi.Extent * n)(*[_abi.Extent(*e) for e in part.extents]))
    pieces = [part] if isinstance(part, Strided) else list(part)
    n = len(pieces)
    return _abi.Part(kind=_abi.PART_STRIDED, n=n, strided=(_abi.Strided * n)(*[p.describe() for p in pieces]))


def _bytes(part: Strided | Sequence[Strided] | Extents) -> int:
    return part.bytes if isinstance(part, (Strided, Extents)) else sum(p.bytes for p in part)


def share_new(part: Part, dtype: npt.DTypeLike, nprocs: int, rank: int) -> Data:
    """Returns an array without contents for a process's share."""
    if isinstance(part, Array):
        return np.empty(part.local_shape(nprocs, rank), part.dtype, order=cast(Any, part.order))
    kind: np.dtype[Any] = np.dtype(dtype)
    n = _bytes(part)
    if n % kind.itemsize:
        raise ValueError(f"{n} bytes are not a whole number of {kind}")
    return np.empty(n // kind.itemsize, kind)


def _fits(part: Part, data: Data, nprocs: int, rank: int) -> Data:
    """Returns the data in the order of the file, or raises ValueError if they are not a share of the part."""
    if not isinstance(part, Array):
        if data.nbytes != _bytes(part):
            raise ValueError(f"the array has {data.nbytes} bytes, the part {_bytes(part)}")
        return data
    want = part.local_shape(nprocs, rank)
    if data.dtype != part.dtype:
        raise ValueError(f"the array has {data.dtype}, the file {part.dtype}")
    if data.shape != want and not (data.size == 0 and math.prod(want) == 0):
        raise ValueError(f"the array has the shape {data.shape}, this process's share {want}")
    return data.T if part.order == "F" else data


class Call:
    """One transfer as C sees it, with everything that it points to."""

    def __init__(self, part: Part, data: Data, nprocs: int, rank: int, writes: bool, method: Method, flags: Flag,
                 outstanding: int, report: Report | None) -> None:
        self.data, self.report = data, report
        in_order = _fits(part, data, nprocs, rank)
        if writes:
            if any(s == 0 and n > 1 for n, s in zip(in_order.shape, in_order.strides)):
                in_order = np.ascontiguousarray(in_order)
        elif not data.flags.writeable:
            raise ValueError("the array to read into is read-only")
        self.in_order = in_order
        address, memory = _memory(in_order)
        self.c_report = _abi.Report(struct_size=ctypes.sizeof(_abi.Report))
        self.c = _abi.Transfer(struct_size=ctypes.sizeof(_abi.Transfer), part=ctypes.pointer(_part(part, nprocs)),
                               buf=address, method=int(method), flags=int(flags), outstanding=outstanding,
                               report=ctypes.pointer(self.c_report))
        if memory is not None:
            self.c.memory = ctypes.pointer(memory)

    def over(self) -> None:
        """Fills the report that the caller asked for."""
        if self.report is not None:
            self.report.fill(self.c_report)


_waiters: ThreadPoolExecutor | None = None


def _forget_waiters() -> None:
    global _waiters
    _waiters = None


# The threads are those of the process that made them.
os.register_at_fork(after_in_child=_forget_waiters)


def _waiting_threads() -> ThreadPoolExecutor:
    global _waiters
    if _waiters is None:
        _waiters = ThreadPoolExecutor(max_workers=256, thread_name_prefix="ddio-wait")
    return _waiters


class Operation:
    """A transfer that is under way: wait() for it, or await it.

    The array belongs to libddio until then.  Cancelling the task that awaits leaves the transfer as it is; only the
    session's end cancels it.
    """

    def __init__(self, root: Root, handle: ctypes.c_void_p, call: Call) -> None:
        self._root, self._handle, self._call = root, handle, call
        self._waits = threading.Lock()
        self._waiter: Future[Data] | None = None
        self._result: Data | BaseException | None = None
        root.kept[id(self)] = self

    def done(self) -> bool:
        """Tells whether wait() would return at once."""
        self._root.check()
        if not self._waits.acquire(blocking=False):
            return False
        try:
            if self._result is not None:
                return True
            with self._root:
                return bool(_abi.lib.ddio_test(self._handle) == 0)
        finally:
            self._waits.release()

    def wait(self) -> Data:
        """Waits for the end and returns the array, or raises what went wrong; the same each time it is called."""
        # After fork() the lock may be that of a thread that is not there.
        self._root.check()
        with self._waits:
            if self._result is None:
                self._result = self._wait()
            result = self._result
        if isinstance(result, BaseException):
            raise result
        return result

    def _wait(self) -> Data | BaseException:
        with self._root:
            err = _abi.lib.ddio_wait(self._handle)
            result: Data | BaseException = _abi.error(err, self._root.handle) if err else self._call.data
            self._call.over()
            self._root.kept.pop(id(self), None)
            return result

    def __await__(self) -> Generator[Any, None, Data]:
        self._root.check()
        # One thread waits, however often somebody begins to wait and gives up.
        if self._waiter is None:
            self._waiter = _waiting_threads().submit(self.wait)
        return asyncio.shield(asyncio.wrap_future(self._waiter)).__await__()
