# SPDX-License-Identifier: LGPL-2.1-or-later
"""Groups: the processes that make collective requests together; over MPI, an address, or by fork()."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import pickle
import signal
import socket
import sys
import traceback
from typing import Any, Callable, Iterator, TypeVar

from . import _abi
from ._handle import Handle, Root
from .file import File, Striping, open_opts
from .session import Session, connect

T = TypeVar("T")
Broadcast = Callable[["memoryview"], None]


class Counter(Handle):
    """A number that the members of a group share; each adds to it whenever it likes."""

    _free = "ddio_counter_free"

    def add(self, delta: int = 1) -> int:
        """Adds and returns what the value was before."""
        before = ctypes.c_int64()
        self._call("ddio_counter_add", delta, ctypes.byref(before))
        return before.value

    def get(self) -> int:
        """Returns the value."""
        value = ctypes.c_int64()
        self._call("ddio_counter_get", ctypes.byref(value))
        return value.value

    def set(self, value: int) -> None:
        """Gives it another value."""
        self._call("ddio_counter_set", value)


class Group(Handle):
    """The processes that make collective requests together; all members make the same calls in the same order."""

    _free = "ddio_group_free"

    def __init__(self, root: Root, handle: ctypes.c_void_p) -> None:
        super().__init__(root, handle)
        self.rank: int = self._call("ddio_group_rank")
        self.size: int = self._call("ddio_group_size")

    @property
    def handle(self) -> ctypes.c_void_p:
        """The C handle, while the group has not been closed."""
        if self._handle is None:
            raise ValueError("this group has been closed")
        return self._handle

    def barrier(self) -> None:
        """Returns when every member has called it; collective."""
        self._call("ddio_group_barrier")

    @contextlib.contextmanager
    def epoch(self) -> Iterator[None]:
        """Atomic writes (Flag.ATOMIC) of the group in this "with" are in all of their files at its end, or, also after an
        exception, in none; collective."""
        self._call("ddio_epoch_begin")
        try:
            yield
        except BaseException:
            with contextlib.suppress(OSError):
                self._call("ddio_epoch_abort")
            raise
        self._call("ddio_epoch_commit")

    def set_patient(self) -> None:
        """Makes later calls wait for late members as long as they live; collective."""
        self._call("ddio_group_set_patient")

    def split(self, color: int, key: int = 0) -> Group | None:
        """Divides the group by colors, in the order of keys; None for a negative color; collective."""
        made = self._make("ddio_group_split", color, key)
        return Group(self._root, made) if made else None

    def counter(self, initial: int = 0) -> Counter:
        """Makes a counter; collective."""
        return Counter(self._root, self._make("ddio_counter_create", initial))

    def open(self, name: str, mode: str = "r", *, striping: Striping | None = None, permissions: int = 0o644) -> File:
        """Opens a file on every member, as Session.open() does; collective."""
        opts = open_opts(mode, permissions, striping)
        return File(self._root, self._make("ddio_open_all_with", os.fsencode(name), ctypes.byref(opts)), name)


def at_address(session: Session, rank: int, size: int, address: str) -> Group:
    """Forms a group whose members meet at "host:port", where rank 0 listens."""
    return Group(session._root, session._make("ddio_group_create", rank, size, address.encode()))


def over_broadcast(session: Session, rank: int, size: int, broadcast: Broadcast, listen: str | None = None) -> Group:
    """Forms a group whose members meet through a broadcast.

    broadcast: called with a buffer, which rank 0 sends and the others fill; as often on every member.
    listen: this process's address for the others; None: the one that its I/O processors see.
    """
    failed: list[BaseException] = []

    def bcast(_arg: int | None, buf: int | None, size: int, _root: int) -> int:
        try:
            if size:
                broadcast(memoryview((ctypes.c_char * size).from_address(buf or 0)).cast("B"))
        except BaseException as e:
            failed.append(e)
            return -errno.EIO
        return 0

    try:
        made = session._make("ddio_group_create_bcast", rank, size, _abi.BCAST_FN(bcast), None,
                             None if listen is None else listen.encode())
    except OSError as e:
        if failed:
            raise failed[0] from e
        raise
    return Group(session._root, made)


def over_mpi(session: Session, comm: Any, listen: str | None = None) -> Group:
    """Forms a group of the processes of a communicator of mpi4py, with its ranks."""

    def broadcast(buf: memoryview) -> None:
        comm.Bcast(buf, root=0)

    return over_broadcast(session, comm.Get_rank(), comm.Get_size(), broadcast, listen)


def _send_all(socks: list[socket.socket], buf: memoryview) -> None:
    for s in socks:
        s.sendall(buf)


def _fill(sock: socket.socket, buf: memoryview) -> None:
    while len(buf):
        n = sock.recv_into(buf)
        if not n:
            raise ConnectionAbortedError(errno.ECONNABORTED, "rank 0 has gone while the group was formed")
        buf = buf[n:]


def _member(rank: int, size: int, broadcast: Broadcast, fn: Callable[..., T], args: tuple[Any, ...],
            conf: str | os.PathLike[str] | None) -> T:
    with connect(conf) as session:
        return fn(over_broadcast(session, rank, size, broadcast, "127.0.0.1"), *args)


def _run_child(rank: int, size: int, broadcast: Broadcast, out: socket.socket, fn: Callable[..., Any],
               args: tuple[Any, ...], conf: str | os.PathLike[str] | None) -> None:
    """Runs a member and sends its pickled result, or its exception; does not return."""
    try:
        answer = (True, _member(rank, size, broadcast, fn, args, conf))
    except BaseException as e:
        traceback.print_exc()
        answer = (False, f"{type(e).__name__}: {e}")
    try:
        data = pickle.dumps(answer)
    except Exception as e:
        data = pickle.dumps((False, f"the result cannot be pickled: {e}"))
    try:
        out.sendall(data)
        out.close()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _result_of(rank: int, pid: int, sock: socket.socket) -> Any:
    parts = []
    while got := sock.recv(1 << 16):
        parts.append(got)
    sock.close()
    _, status = os.waitpid(pid, 0)
    if not parts:
        raise ChildProcessError(f"rank {rank} ended with status {os.waitstatus_to_exitcode(status)}")
    fine, result = pickle.loads(b"".join(parts))
    if not fine:
        raise ChildProcessError(f"rank {rank}: {result}")
    return result


def fork(size: int, fn: Callable[..., T], *args: Any, conf: str | os.PathLike[str] | None = None) -> list[T]:
    """Forks a group of processes on this machine, runs fn(group, *args) in each, and returns their results by rank.

    Each process has a session of its own.  Raises ChildProcessError with what each rank that failed said.  What fn returns
    is pickled.  As with any fork(), call it while no other thread runs.
    """
    if size < 1:
        raise ValueError("a group has at least one member")
    # To each member what rank 0 broadcasts, from each member its result.
    news = [socket.socketpair() for _ in range(size)]
    results = [socket.socketpair() for _ in range(size)]
    sys.stdout.flush()
    sys.stderr.flush()
    pids: list[int] = []
    try:
        for rank in range(size):
            pid = os.fork()
            if pid == 0:
                hear, out = _ends_of(rank, news, results)
                _run_child(rank, size, hear, out, fn, args, conf)
            pids.append(pid)
    finally:
        for s in [s for pair in news for s in pair] + [theirs for _, theirs in results]:
            s.close()
        if len(pids) < size:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
    return _gather(pids, [ours for ours, _ in results])


_Pairs = list[tuple[socket.socket, socket.socket]]


def _ends_of(rank: int, news: _Pairs, results: _Pairs) -> tuple[Broadcast, socket.socket]:
    """Returns a member's broadcast and the socket for its result, and closes what belongs to others."""
    senders, mine, out = [s for s, _ in news[1:]], news[rank][1], results[rank][1]
    keep = [out, *(senders if rank == 0 else [mine])]
    for s in [s for pair in news + results for s in pair]:
        if s not in keep:
            s.close()
    return (lambda buf: _send_all(senders, buf)) if rank == 0 else (lambda buf: _fill(mine, buf)), out


def _gather(pids: list[int], socks: list[socket.socket]) -> list[Any]:
    """Waits for every process; raises what those that failed said."""
    found: list[Any] = []
    failed: list[str] = []
    for rank, (pid, sock) in enumerate(zip(pids, socks)):
        try:
            found.append(_result_of(rank, pid, sock))
        except ChildProcessError as e:
            failed.append(str(e))
    if failed:
        raise ChildProcessError("\n".join(failed))
    return found
