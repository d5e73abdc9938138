# SPDX-License-Identifier: LGPL-2.1-or-later
"""Questions about the records of a file, which the I/O processors answer: which match, their fields, sums, histograms."""

from __future__ import annotations

import ctypes
import enum
import re
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np
import numpy.typing as npt

from . import _abi

_ALL = 2**64 - 1
_INTEGERS = {("i", 1): 1, ("i", 2): 2, ("i", 4): 3, ("i", 8): 4, ("u", 1): 5, ("u", 2): 6, ("u", 4): 7, ("u", 8): 8,
             ("b", 1): 5, ("M", 8): 4, ("m", 8): 4}
_FLOATS = {("f", 4): 9, ("f", 8): 10}
_LAST_SIGNED, _LAST_INTEGER = 4, 8
_BIG = 0x1


class Kind(enum.IntEnum):
    """What is made of a field of all records that match."""

    SUM = 1
    MIN = 2
    MAX = 3
    HISTOGRAM = 4


@dataclass(frozen=True)
class Reduce:
    """What is made of a field of all records that match: Reduce.sum("energy"), for instance."""

    kind: Kind
    field: str
    bounds: Sequence[float] = ()

    @classmethod
    def sum(cls, field: str) -> Reduce:
        """The sum: exact of integers, of floating numbers rounded once, in whatever order they come."""
        return cls(Kind.SUM, field)

    @classmethod
    def min(cls, field: str) -> Reduce:
        """The least value."""
        return cls(Kind.MIN, field)

    @classmethod
    def max(cls, field: str) -> Reduce:
        """The greatest value."""
        return cls(Kind.MAX, field)

    @classmethod
    def histogram(cls, field: str, bounds: Sequence[float]) -> Reduce:
        """How many lie below the first bound, from each to the next, and at or above the last; bounds ascend."""
        return cls(Kind.HISTOGRAM, field, bounds)


@dataclass(frozen=True)
class Deal:
    """Which member of a group gets which of the records that match: Deal.by_hash("kind"), for instance."""

    kind: int
    field: str
    bounds: Sequence[float] = ()
    owners: Sequence[int] = ()

    @classmethod
    def by_range(cls, field: str, bounds: Sequence[float], owners: Sequence[int] = ()) -> Deal:
        """Ranges of a field's values: below the first bound, from each to the next, and at or above the last.  owners: the
        ranks that have them; without, range i is that of rank i."""
        return cls(1, field, bounds, owners)

    @classmethod
    def by_hash(cls, field: str, owners: Sequence[int] = ()) -> Deal:
        """Records with equal values go to the same member, one of owners, or of all."""
        return cls(2, field, (), owners)


@dataclass(frozen=True)
class Reduced:
    """What was made of a field: of so many values, without NaN.  value is None if there are none, and for histograms."""

    count: int
    nans: int
    value: int | float | None
    bins: npt.NDArray[np.uint64] | None


@dataclass(frozen=True)
class Found:
    """The answer: of how many records there are, how many match; their numbers and fields, if they were asked for, and in a
    group of those that are this member's."""

    records: int
    matched: int
    index: npt.NDArray[np.uint64] | None
    data: npt.NDArray[Any] | None
    values: list[Reduced]


def dtype_of_records(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns a dtype with names: that of plain numbers has one field, "value"."""
    return dtype if dtype.names else np.dtype([("value", dtype)])


def _type(dtype: np.dtype[Any]) -> int:
    """Returns the library's type of a field; what is no number is bytes, which can only be returned."""
    kind = (dtype.kind, dtype.itemsize)
    return _INTEGERS.get(kind) or _FLOATS.get(kind) or 0


def _field(record: np.dtype[Any], name: str) -> _abi.QueryField:
    if record.fields is None or name not in record.fields:
        raise ValueError(f"records have no field {name!r}")
    dtype, offset = record.fields[name][:2]
    if not dtype.itemsize:
        raise ValueError(f"field {name!r} has no bytes")
    kind = _type(dtype)
    big = _BIG if kind and dtype.str.startswith(">") else 0
    return _abi.QueryField(name=name.encode(), offset=offset, len=dtype.itemsize, type=kind, flags=big)


def _number(field: _abi.QueryField, value: float) -> _abi.QueryNumber:
    if field.type > _LAST_INTEGER:
        return _abi.QueryNumber(f=value)
    least = -2**63 if field.type <= _LAST_SIGNED else 0
    if value != int(value) or not least <= value < least + 2**64:
        raise ValueError(f"{value} is no number that field {field.name.decode()!r} could be compared with")
    return _abi.QueryNumber(u=int(value) % 2**64)


class Question:
    """A question as the C library wants it; it keeps what the C structures point to."""

    def __init__(self, record: np.dtype[Any], where: str, select: Sequence[str], reduce: Sequence[Reduce],
                 origin: int, deal: Deal | None = None) -> None:
        words = re.findall(r"[A-Za-z_]\w*", where)
        wanted = [*select, *(r.field for r in reduce), *([deal.field] if deal else [])]
        used = [n for n in record.names or () if n in words or n in wanted]
        for name in wanted:
            _field(record, name)
        self._fields = (_abi.QueryField * len(used))(*(_field(record, n) for n in used))
        self._output = (ctypes.c_uint32 * len(select))(*map(used.index, select))
        self._kinds = list(reduce)
        self._bounds = [self._bounds_of(self._fields[used.index(r.field)], r) for r in reduce]
        self._reduce = (_abi.QueryReduce * len(reduce))(
            *(_abi.QueryReduce(kind=int(r.kind), field=used.index(r.field), nbounds=len(r.bounds), bound=b)
              for r, b in zip(reduce, self._bounds)))
        steps, n = self._parse(where)
        self.c = _abi.Query(struct_size=ctypes.sizeof(_abi.Query), origin=origin, record=record.itemsize,
                            nfields=len(used), field=self._fields, nsteps=n, where=steps, nreduce=len(reduce),
                            reduce=self._reduce, noutput=len(select), output=self._output)
        self.deal = None if deal is None else self._dealt(deal, used.index(deal.field))
        self.selected = np.dtype([(n, record[n]) for n in select])

    @staticmethod
    def _bounds_of(field: _abi.QueryField, reduce: Reduce) -> Any:
        return (_abi.QueryNumber * len(reduce.bounds))(*(_number(field, b) for b in reduce.bounds))

    def _dealt(self, deal: Deal, field: int) -> _abi.QueryDeal:
        bounds = (_abi.QueryNumber * len(deal.bounds))(*(_number(self._fields[field], b) for b in deal.bounds))
        owners = (ctypes.c_uint32 * len(deal.owners))(*deal.owners)
        return _abi.QueryDeal(struct_size=ctypes.sizeof(_abi.QueryDeal), kind=deal.kind, field=field,
                              nbounds=len(bounds), bound=bounds, nowners=len(owners), owner=owners)

    def _parse(self, where: str) -> tuple[Any, int]:
        steps = (_abi.QueryStep * _abi.QUERY_STEPS_MAX)()
        if not where.strip():
            return steps, 0
        said = ctypes.create_string_buffer(256)
        n = _abi.lib.ddio_query_parse(where.encode(), self._fields, len(self._fields), steps, len(steps), said, len(said))
        if n < 0:
            raise ValueError(f"where: {said.value.decode(errors='replace')}")
        return steps, n

    def result(self, first: int, count: int | None, room: int, index: bool) -> Result:
        """Returns room for an answer about count records from first on, of which so many may match."""
        return Result(self, first, count, room, index)

    def reduced(self, values: Any, bins: Sequence[npt.NDArray[np.uint64] | None]) -> list[Reduced]:
        """Returns what was made of fields, as Python's numbers."""
        return [Reduced(v.count, v.nans, self._value(r, v), b) for r, v, b in zip(self._reduce, values, bins)]

    def _value(self, reduce: _abi.QueryReduce, value: _abi.QueryValue) -> int | float | None:
        field = self._fields[reduce.field]
        if not value.count or reduce.kind == Kind.HISTOGRAM:
            return None
        if field.type > _LAST_INTEGER:
            return float(value.value.f)
        if reduce.kind == Kind.SUM:
            return (int(value.high) << 64) + int(value.value.u)
        return int(value.value.s if field.type <= _LAST_SIGNED else value.value.u)


class Result:
    """Room for an answer."""

    def __init__(self, question: Question, first: int, count: int | None, room: int, index: bool) -> None:
        self.question = question
        self.index = np.empty(room, np.uint64) if index else None
        self.data = np.empty(room, question.selected) if question.selected.names else None
        self.bins = [np.zeros(len(r.bounds) + 1, np.uint64) if r.kind == Kind.HISTOGRAM else None
                     for r in question._kinds]
        self._values = (_abi.QueryValue * len(self.bins))()
        for value, bins in zip(self._values, self.bins):
            if bins is not None:
                value.bin = bins.ctypes.data
        self.c = _abi.QueryResult(struct_size=ctypes.sizeof(_abi.QueryResult), first=first,
                                  records=_ALL if count is None else count, value=self._values, room=room,
                                  index=self.index.ctypes.data if self.index is not None else None,
                                  buf=self.data.ctypes.data if self.data is not None else None)

    def wanted(self, in_group: bool) -> int:
        """Returns how many records have come, or would have if there had been room."""
        return int(self.c.mine if in_group else self.c.matched)

    def found(self, in_group: bool) -> Found:
        """Returns what has come."""
        n = self.wanted(in_group)
        return Found(self.c.records, self.c.matched, None if self.index is None else self.index[:n],
                     None if self.data is None else self.data[:n], self.question.reduced(self._values, self.bins))
