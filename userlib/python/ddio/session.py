# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sessions with a cluster: names, nodes, groups."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from types import TracebackType

from . import _abi
from ._handle import Handle, Root
from .file import File, Stat, Striping, open_opts, stat_of


@dataclass(frozen=True)
class Node:
    """A node's state; where error is not 0 the rest is unknown, and reason says why."""

    name: str
    address: str
    error: int
    reason: str
    reactors: int
    disks: int
    uptime_ns: int
    collectives: int
    requests: int
    connections: int
    refused: int
    memory_bytes: int


def _node_of(c: _abi.NodeState) -> Node:
    return Node(c.name.decode(), c.address.decode(), c.error, c.reason.decode(), c.nreactors, c.ndisks, c.uptime_ns,
                c.collectives, c.requests, c.connections, c.refused, c.memory_bytes)


class Session(Handle):
    """A session with a cluster; connect() begins it, close() or the end of a with statement ends it.

    It belongs to the process that began it, not to those that this process forks.  Several threads may use it.
    """

    def __init__(self, conf: str | os.PathLike[str] | None = None, timeout: float = 0) -> None:
        opts = _abi.ConnectOpts(struct_size=ctypes.sizeof(_abi.ConnectOpts), timeout_ms=int(timeout * 1000),
                                conf=None if conf is None else os.fsencode(conf))
        made = ctypes.c_void_p()
        err = _abi.lib.ddio_connect(ctypes.byref(opts), ctypes.byref(made))
        if err:
            raise _abi.error(err)
        super().__init__(Root(made), made)

    def close(self) -> None:
        """Ends the session and whatever was made from it; transfers that are under way are cancelled."""
        if self._handle is not None:
            self._root.end()
            self._handle = None

    def open(self, name: str, mode: str = "r", *, striping: Striping | None = None, permissions: int = 0o644) -> File:
        """Opens a file for reading and writing.

        mode: "r" it exists, "a" it is made if need be, "w" it is made or emptied, "x" it is made and did not exist.
        striping, permissions: of a new file.
        """
        opts = open_opts(mode, permissions, striping)
        return File(self._root, self._make("ddio_open_with", os.fsencode(name), ctypes.byref(opts)), name)

    def stat(self, name: str) -> Stat:
        """Looks a file up."""
        st = _abi.FileStat()
        self._call("ddio_stat", os.fsencode(name), ctypes.byref(st))
        return stat_of(st)

    def listdir(self, name: str | None = None) -> dict[str, Stat | None]:
        """Returns the entries of a directory (None: the root) by name; a directory's ends with a slash and has no Stat."""
        found: dict[str, Stat | None] = {}

        def take(entry: bytes, st: ctypes._Pointer[_abi.FileStat]) -> None:
            text = os.fsdecode(entry)
            found[text] = None if text.endswith("/") else stat_of(st[0])

        self._walk("ddio_list", _abi.LIST_FN, take, None if name is None else os.fsencode(name))
        return found

    def mkdir(self, name: str, permissions: int = 0o755) -> None:
        """Makes a directory."""
        self._call("ddio_mkdir", os.fsencode(name), permissions)

    def remove(self, name: str) -> None:
        """Removes a file, or an empty directory."""
        self._call("ddio_remove", os.fsencode(name))

    def nodes(self) -> list[Node]:
        """Asks every node for its state."""
        found: list[Node] = []
        self._walk("ddio_nodes", _abi.NODES_FN, lambda st: found.append(_node_of(st[0])))
        return found

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def connect(conf: str | os.PathLike[str] | None = None, timeout: float = 0) -> Session:
    """Begins a session with the cluster of a configuration.

    conf: None: $DDIO_CONF, else ddio-cluster/ddio.conf in the current directory, else
    /etc/ddio/ddio.conf; see ddio.conf(5).
    timeout: seconds without any progress after which a call fails; 0: the configuration's.
    """
    return Session(conf, timeout)
