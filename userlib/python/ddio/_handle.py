# SPDX-License-Identifier: LGPL-2.1-or-later
"""What sessions, groups, files and counters have in common: a C handle that is used only while it is valid."""

from __future__ import annotations

import ctypes
import os
import threading
from types import TracebackType
from typing import Any, Callable, TypeVar

from . import _abi

Self = TypeVar("Self", bound="Handle")


class Root:
    """A session's C handle, how many threads are in a call on it, and what unfinished operations need."""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self.handle: ctypes.c_void_p | None = handle
        self.pid = os.getpid()
        # The collector, or a signal's handler, may end a handle in the middle of what this thread does under it.
        self.lock = threading.RLock()
        self.calls = 0
        self.kept: dict[int, Any] = {}

    def check(self) -> None:
        """Raises ValueError in a process that has come by the session through fork()."""
        if self.pid != os.getpid():
            raise ValueError("a session belongs to the process that connected it: fork first, then connect")

    def __enter__(self) -> None:
        self.check()
        with self.lock:
            if self.handle is None:
                raise ValueError("the session has been closed")
            self.calls += 1

    def __exit__(self, *_: Any) -> None:
        with self.lock:
            self.calls -= 1

    def end(self) -> None:
        """Ends the session.  Its unfinished operations are cancelled, and their memory is Python's again."""
        if self.pid != os.getpid():
            return
        with self.lock:
            if self.handle is None:
                return
            if self.calls:
                raise RuntimeError("another thread is in a call of this session")
            handle, self.handle = self.handle, None
        _abi.lib.ddio_disconnect(handle)
        self.kept.clear()


class Handle:
    """A C handle that was made from a session."""

    _free: str = ""

    def __init__(self, root: Root, handle: ctypes.c_void_p) -> None:
        self._root = root
        self._handle: ctypes.c_void_p | None = handle

    def _call(self, function: str, *args: Any) -> int:
        """Calls the C function with this handle and raises what it returns as an OSError."""
        with self._root:
            if self._handle is None:
                raise ValueError(f"this {type(self).__name__.lower()} has been closed")
            result: int = getattr(_abi.lib, function)(self._handle, *args)
            if result < 0:
                raise _abi.error(result, self._root.handle)
            return result

    def _make(self, function: str, *args: Any) -> ctypes.c_void_p:
        """Calls a C function whose last argument receives a new handle."""
        made = ctypes.c_void_p()
        self._call(function, *args, ctypes.byref(made))
        return made

    def _walk(self, function: str, fn_type: Any, take: Callable[..., None], *args: Any) -> None:
        """Calls a C function that calls back for each entry; an exception of take() ends the walk."""
        failed: list[BaseException] = []

        def entry(_arg: Any, *got: Any) -> int:
            try:
                take(*got)
            except BaseException as e:
                failed.append(e)
                return 1
            return 0

        self._call(function, *args, fn_type(entry), None)
        if failed:
            raise failed[0]

    def close(self) -> None:
        """Frees it, if that has not been done; the session's end does it, too."""
        if self._handle is None:
            return
        try:
            with self._root:
                handle, self._handle = self._handle, None
                getattr(_abi.lib, self._free)(handle)
        except ValueError:
            self._handle = None

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
