# SPDX-License-Identifier: LGPL-2.1-or-later
"""The C interface of libddio: structures and functions, as include/ddio declares them.

tests/python/test_abi.py compares sizes and offsets with what the compiler makes of the headers.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_ssize_t
from ctypes import c_uint, c_uint32, c_uint64, c_void_p
from typing import Any

MAX_DIMS = 8


class Dim(ctypes.Structure):
    c_name = "ddio_dim"
    _fields_ = [
        ("size", c_uint64),
        ("start", c_uint64),
        ("count", c_uint64),
        ("stride", c_uint64),
        ("procs", c_uint64),
        ("k", c_uint64),
        ("dist", c_uint32),
        ("reserved", c_uint32),
    ]


class Array(ctypes.Structure):
    c_name = "ddio_array"
    _fields_ = [
        ("file_offset", c_uint64),
        ("elem_size", c_uint64),
        ("ndims", c_uint32),
        ("reserved", c_uint32),
        ("dim", Dim * MAX_DIMS),
    ]


class Level(ctypes.Structure):
    c_name = "ddio_level"
    _fields_ = [("count", c_uint64), ("stride", c_int64)]


class Strided(ctypes.Structure):
    c_name = "ddio_strided"
    _fields_ = [
        ("offset", c_uint64),
        ("len", c_uint64),
        ("nlevels", c_uint32),
        ("reserved", c_uint32),
        ("level", Level * MAX_DIMS),
    ]


class Extent(ctypes.Structure):
    c_name = "ddio_extent"
    _fields_ = [("offset", c_uint64), ("len", c_uint64)]


PART_ARRAY, PART_STRIDED, PART_LIST = 1, 2, 3


class Part(ctypes.Structure):
    c_name = "ddio_part"
    _fields_ = [
        ("kind", c_uint32),
        ("reserved", c_uint32),
        ("n", c_uint64),
        ("array", POINTER(Array)),
        ("strided", POINTER(Strided)),
        ("list", POINTER(Extent)),
    ]


class Memory(ctypes.Structure):
    c_name = "ddio_memory"
    _fields_ = [
        ("ndims", c_uint32),
        ("kind", c_uint32),
        ("size", c_uint64 * MAX_DIMS),
        ("start", c_uint64 * MAX_DIMS),
        ("nstrided", c_uint64),
        ("strided", POINTER(Strided)),
    ]


class Report(ctypes.Structure):
    c_name = "ddio_report"
    _fields_ = [
        ("struct_size", c_size_t),
        ("method", c_uint32),
        ("sorted", c_uint32),
        ("bytes_share", c_uint64),
        ("bytes_needed", c_uint64),
        ("disk_read", c_uint64),
        ("disk_written", c_uint64),
        ("disk_requests", c_uint64),
        ("requests", c_uint64),
        ("messages", c_uint64),
        ("elapsed_ns", c_uint64),
        ("wait_join_ns", c_uint64),
        ("wait_io_ns", c_uint64),
        ("wait_end_ns", c_uint64),
        ("peak_share", c_uint32),
        ("buffers", c_uint32),
        ("iops", c_uint32),
        ("reserved", c_uint32),
        ("bytes_scattered", c_uint64),
        ("bytes_moved", c_uint64),
        ("bytes_shared", c_uint64),
    ]


class Transfer(ctypes.Structure):
    c_name = "ddio_transfer"
    _fields_ = [
        ("struct_size", c_size_t),
        ("part", POINTER(Part)),
        ("memory", POINTER(Memory)),
        ("buf", c_void_p),
        ("method", c_uint32),
        ("flags", c_uint32),
        ("outstanding", c_uint32),
        ("reserved", c_uint32),
        ("report", POINTER(Report)),
    ]


class ConnectOpts(ctypes.Structure):
    c_name = "ddio_connect_opts"
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint32),
        ("timeout_ms", c_uint32),
        ("conf", c_char_p),
    ]


class Striping(ctypes.Structure):
    c_name = "ddio_striping"
    _fields_ = [
        ("struct_size", c_size_t),
        ("block_size", c_uint32),
        ("layout", c_uint32),
        ("seed", c_uint64),
        ("ndisks", c_uint32),
        ("reserved", c_uint32),
        ("disks", POINTER(c_uint32)),
        ("reserve", c_uint64),
    ]


class OpenOpts(ctypes.Structure):
    c_name = "ddio_open_opts"
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint32),
        ("mode", c_uint32),
        ("id", c_uint64),
        ("striping", POINTER(Striping)),
        ("dir", c_uint64),
    ]


class FileStat(ctypes.Structure):
    c_name = "ddio_file_stat"
    _fields_ = [
        ("id", c_uint64),
        ("size", c_uint64),
        ("ctime_ns", c_uint64),
        ("mtime_ns", c_uint64),
        ("block_size", c_uint32),
        ("layout", c_uint32),
        ("seed", c_uint64),
        ("ndisks", c_uint32),
        ("reserved", c_uint32),
    ]


class Placement(ctypes.Structure):
    c_name = "ddio_placement"
    _fields_ = [
        ("disk", c_uint32),
        ("reserved", c_uint32),
        ("block", c_uint64),
        ("start", c_uint64),
        ("count", c_uint64),
    ]


class NodeState(ctypes.Structure):
    c_name = "ddio_node_state"
    _fields_ = [
        ("name", c_char * 256),
        ("address", c_char * 128),
        ("reason", c_char * 512),
        ("error", c_int),
        ("nreactors", c_uint32),
        ("ndisks", c_uint32),
        ("uptime_ns", c_uint64),
        ("collectives", c_uint64),
        ("requests", c_uint64),
        ("connections", c_uint64),
        ("refused", c_uint64),
        ("memory_bytes", c_uint64),
    ]


QUERY_STEPS_MAX = 256


class QueryField(ctypes.Structure):
    c_name = "ddio_query_field"
    _fields_ = [
        ("name", c_char_p),
        ("offset", c_uint32),
        ("len", c_uint32),
        ("type", c_uint32),
        ("flags", c_uint32),
    ]


class QueryNumber(ctypes.Union):
    _fields_ = [("s", c_int64), ("u", c_uint64), ("f", c_double)]


class QueryStep(ctypes.Structure):
    c_name = "ddio_query_step"
    _fields_ = [("op", c_uint32), ("field", c_uint32), ("value", QueryNumber)]


class QueryReduce(ctypes.Structure):
    c_name = "ddio_query_reduce"
    _fields_ = [
        ("kind", c_uint32),
        ("field", c_uint32),
        ("nbounds", c_uint32),
        ("bound", POINTER(QueryNumber)),
    ]


class Query(ctypes.Structure):
    c_name = "ddio_query"
    _fields_ = [
        ("struct_size", c_size_t),
        ("origin", c_uint64),
        ("record", c_uint32),
        ("nfields", c_uint32),
        ("field", POINTER(QueryField)),
        ("nsteps", c_uint32),
        ("where", POINTER(QueryStep)),
        ("nreduce", c_uint32),
        ("reduce", POINTER(QueryReduce)),
        ("noutput", c_uint32),
        ("output", POINTER(c_uint32)),
    ]


class QueryDeal(ctypes.Structure):
    c_name = "ddio_query_deal"
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_uint32),
        ("field", c_uint32),
        ("nbounds", c_uint32),
        ("bound", POINTER(QueryNumber)),
        ("nowners", c_uint32),
        ("owner", POINTER(c_uint32)),
    ]


class QueryValue(ctypes.Structure):
    c_name = "ddio_query_value"
    _fields_ = [
        ("count", c_uint64),
        ("nans", c_uint64),
        ("value", QueryNumber),
        ("high", c_int64),
        ("bin", c_void_p),
    ]


class QueryResult(ctypes.Structure):
    c_name = "ddio_query_result"
    _fields_ = [
        ("struct_size", c_size_t),
        ("first", c_uint64),
        ("records", c_uint64),
        ("matched", c_uint64),
        ("value", POINTER(QueryValue)),
        ("room", c_uint64),
        ("index", c_void_p),
        ("buf", c_void_p),
        ("mine", c_uint64),
    ]


STRUCTURES = [Dim, Array, Level, Strided, Extent, Part, Memory, Report, Transfer, ConnectOpts, Striping,
              OpenOpts, FileStat, Placement, NodeState, QueryField, QueryStep, QueryReduce, Query, QueryDeal, QueryValue,
              QueryResult]

BCAST_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, c_uint32)
LIST_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, POINTER(FileStat))
LAYOUT_FN = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Placement))
NODES_FN = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(NodeState))

_HANDLE = c_void_p
_RESULT = POINTER(c_void_p)

# name: (result, arguments)
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "ddio_version": (c_char_p, []),
    "ddio_connect": (c_int, [POINTER(ConnectOpts), _RESULT]),
    "ddio_disconnect": (None, [_HANDLE]),
    "ddio_last_error": (c_char_p, [_HANDLE]),
    "ddio_nodes": (c_int, [_HANDLE, NODES_FN, c_void_p]),
    "ddio_group_create": (c_int, [_HANDLE, c_uint32, c_uint32, c_char_p, _RESULT]),
    "ddio_group_create_bcast": (c_int, [_HANDLE, c_uint32, c_uint32, BCAST_FN, c_void_p, c_char_p, _RESULT]),
    "ddio_group_split": (c_int, [_HANDLE, c_int, c_int, _RESULT]),
    "ddio_group_barrier": (c_int, [_HANDLE]),
    "ddio_epoch_begin": (c_int, [_HANDLE]),
    "ddio_epoch_commit": (c_int, [_HANDLE]),
    "ddio_epoch_abort": (c_int, [_HANDLE]),
    "ddio_group_set_patient": (c_int, [_HANDLE]),
    "ddio_group_rank": (c_uint32, [_HANDLE]),
    "ddio_group_size": (c_uint32, [_HANDLE]),
    "ddio_group_free": (None, [_HANDLE]),
    "ddio_counter_create": (c_int, [_HANDLE, c_int64, _RESULT]),
    "ddio_counter_add": (c_int, [_HANDLE, c_int64, POINTER(c_int64)]),
    "ddio_counter_get": (c_int, [_HANDLE, POINTER(c_int64)]),
    "ddio_counter_set": (c_int, [_HANDLE, c_int64]),
    "ddio_counter_free": (None, [_HANDLE]),
    "ddio_open_with": (c_int, [_HANDLE, c_char_p, POINTER(OpenOpts), _RESULT]),
    "ddio_open_all_with": (c_int, [_HANDLE, c_char_p, POINTER(OpenOpts), _RESULT]),
    "ddio_close": (None, [_HANDLE]),
    "ddio_remove": (c_int, [_HANDLE, c_char_p]),
    "ddio_clone": (c_int, [_HANDLE, c_char_p]),
    "ddio_snap": (c_int, [_HANDLE, c_char_p]),
    "ddio_mkdir": (c_int, [_HANDLE, c_char_p, c_uint]),
    "ddio_stat": (c_int, [_HANDLE, c_char_p, POINTER(FileStat)]),
    "ddio_list": (c_int, [_HANDLE, c_char_p, LIST_FN, c_void_p]),
    "ddio_fstat": (c_int, [_HANDLE, POINTER(FileStat)]),
    "ddio_file_disk": (c_int64, [_HANDLE, c_uint32]),
    "ddio_set_size": (c_int, [_HANDLE, c_uint64]),
    "ddio_allocate": (c_int, [_HANDLE, c_uint64, c_uint64]),
    "ddio_sync": (c_int, [_HANDLE]),
    "ddio_drop_cache": (c_int, [_HANDLE]),
    "ddio_layout": (c_int, [_HANDLE, LAYOUT_FN, c_void_p]),
    "ddio_pread": (c_ssize_t, [_HANDLE, c_void_p, c_size_t, c_uint64]),
    "ddio_pwrite": (c_ssize_t, [_HANDLE, c_void_p, c_size_t, c_uint64]),
    "ddio_read_all": (c_int, [_HANDLE, _HANDLE, POINTER(Transfer)]),
    "ddio_write_all": (c_int, [_HANDLE, _HANDLE, POINTER(Transfer)]),
    "ddio_start_read_all": (c_int, [_HANDLE, _HANDLE, POINTER(Transfer), _RESULT]),
    "ddio_start_write_all": (c_int, [_HANDLE, _HANDLE, POINTER(Transfer), _RESULT]),
    "ddio_read": (c_int, [_HANDLE, POINTER(Transfer)]),
    "ddio_write": (c_int, [_HANDLE, POINTER(Transfer)]),
    "ddio_start_read": (c_int, [_HANDLE, POINTER(Transfer), _RESULT]),
    "ddio_start_write": (c_int, [_HANDLE, POINTER(Transfer), _RESULT]),
    "ddio_test": (c_int, [_HANDLE]),
    "ddio_wait": (c_int, [_HANDLE]),
    "ddio_lock": (c_int, [_HANDLE, c_uint64, c_uint64, c_uint]),
    "ddio_unlock": (c_int, [_HANDLE, c_uint64, c_uint64]),
    "ddio_query": (c_int, [_HANDLE, POINTER(Query), POINTER(QueryResult)]),
    "ddio_query_all": (c_int, [_HANDLE, _HANDLE, POINTER(Query), POINTER(QueryDeal), POINTER(QueryResult)]),
    "ddio_query_parse": (c_int, [c_char_p, POINTER(QueryField), c_uint32, POINTER(QueryStep), c_uint32, c_char_p,
                                 c_size_t]),
    "ddio_array_share": (c_int, [POINTER(Array), c_uint32, c_uint32, POINTER(c_uint64), POINTER(c_char_p)]),
    "ddio_array_local": (c_int, [POINTER(Array), c_uint32, c_uint32, POINTER(c_uint64)]),
}


def _load() -> Any:
    path = os.environ.get("DDIO_LIBRARY", "libddio.so.0")
    try:
        found = ctypes.CDLL(path)
    except OSError as e:
        raise ImportError(f"ddio needs libddio, which is not in this package: {e}; install it (Debian package libddio0, or "
                          "\"make install\"), or set DDIO_LIBRARY to its path") from e
    for name, (result, arguments) in FUNCTIONS.items():
        try:
            function = getattr(found, name)
        except AttributeError as e:
            raise ImportError(f"{path} is of another version of ddio: it has no {name}()") from e
        function.restype = result
        function.argtypes = arguments
    return found


lib = _load()


def error(err: int, session: Any = None, name: str | None = None) -> OSError:
    """Returns the exception for a negative errno: a subclass of OSError, as the errno demands, with libddio's text."""
    text = (lib.ddio_last_error(session) or b"").decode(errors="replace")
    return OSError(-err, text or os.strerror(-err), name)
