# SPDX-License-Identifier: LGPL-2.1-or-later
"""What part of a file a process wants: arrays over a grid of processes, strides, lists of extents."""

from __future__ import annotations

import ctypes
import math
import os
from dataclasses import dataclass, replace
from typing import Any, Iterable, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _abi


@dataclass(frozen=True)
class Dist:
    """How one dimension is spread over the processes: NONE, BLOCK, CYCLIC or ALL.

    BLOCK(k) and CYCLIC(k) have pieces of k elements; without k they are as long as one piece for each process takes,
    and 1.
    """

    kind: int
    name: str
    k: int = 0

    def __call__(self, k: int) -> Dist:
        if self.name not in ("BLOCK", "CYCLIC"):
            raise TypeError(f"{self.name} has no length of pieces")
        if k < 1:
            raise ValueError("a piece has at least one element")
        return replace(self, k=k)

    def __repr__(self) -> str:
        return f"{self.name}({self.k})" if self.k else self.name


NONE = Dist(0, "NONE")
BLOCK = Dist(1, "BLOCK")
CYCLIC = Dist(2, "CYCLIC")
ALL = Dist(3, "ALL")

Section = Any  # slice | EllipsisType | Sequence[slice | EllipsisType] | None, of which Python 3.9 has no name for the second


def _section(section: Section, shape: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """Returns start, count and stride of each dimension."""
    if section is None:
        section = ()
    slices: list[Any] = [section] if isinstance(section, slice) or section is ... else list(section)
    if slices.count(...) > 1:
        raise ValueError("a section has one '...' only")
    if ... in slices:
        at = slices.index(...)
        slices[at:at + 1] = [slice(None)] * (len(shape) - len(slices) + 1)
    if not all(isinstance(s, slice) for s in slices):
        raise TypeError("a section has slices and '...' only: a[2:3] keeps the dimension that a[2] would take away")
    if len(slices) > len(shape):
        raise ValueError(f"{len(slices)} slices for {len(shape)} dimensions")
    slices += [slice(None)] * (len(shape) - len(slices))
    out = []
    for s, n in zip(slices, shape):
        r = range(*s.indices(n))
        if r.step < 1:
            raise ValueError("a section has positive steps only")
        out.append((r.start if len(r) else 0, len(r), r.step if len(r) > 1 else 1))
    return out


class Array:
    """An array in a file, or a section of it, spread over the processes of a group (HPF's distributions).

    shape, dtype: of the whole array, as it lies in the file.
    dist: for each dimension NONE, BLOCK, CYCLIC or ALL; one for all dimensions is not repeated: Array((8, 8), "f8",
        BLOCK) spreads rows, and the other dimension is NONE.
    grid: processes in each dimension; None: all of the group in the only dimension that is not NONE.
    offset: byte of the file at which the first element lies.
    section: slices with positive steps and a '...', as in a[2:10, ..., ::2]; what is spread is the section, as if it were an array.
    order: "C", or "F" for a file in Fortran's order, in which the first dimension varies fastest, of the grid as well.

    Raises ValueError for what no array can be.
    """

    def __init__(self, shape: int | Sequence[int], dtype: npt.DTypeLike = np.float64,
                 dist: Dist | Sequence[Dist] = NONE, grid: int | Sequence[int] | None = None, *,
                 offset: int = 0, section: Section = None, order: str = "C") -> None:
        self.shape = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        if len(self.shape) > _abi.MAX_DIMS:
            raise ValueError(f"an array has up to {_abi.MAX_DIMS} dimensions")
        if self.dtype.itemsize < 1 or self.dtype.hasobject:
            raise ValueError(f"elements of {self.dtype} cannot lie in a file")
        if order not in ("C", "F"):
            raise ValueError('order is "C" or "F"')
        # One element without a dimension lies in the file as one with one.
        self._shape = self.shape or (1,)
        if offset < 0 or min(self._shape) < 0:
            raise ValueError("offset and shape cannot be negative")
        self.order = order
        self.offset = offset
        self.dist = self._each(dist, Dist, NONE, "dist")
        self.grid = None if grid is None else self._each(grid, int, 1, "grid")
        self.section = _section(section, self.shape) if self.shape else [(0, 1, 1)]

    def _each(self, given: Any, kind: type, rest: Any, what: str) -> tuple[Any, ...]:
        each = (given,) if isinstance(given, kind) else tuple(given)
        if len(each) == 1:
            each += (rest,) * (len(self._shape) - 1)
        if len(each) != len(self._shape):
            raise ValueError(f"{what} has {len(each)} entries for {len(self._shape)} dimensions")
        return each

    def __repr__(self) -> str:
        return f"Array({self.shape}, {self.dtype.str!r}, {self.dist}, grid={self.grid})"

    def _grid(self, nprocs: int) -> tuple[int, ...]:
        if self.grid is not None:
            if math.prod(self.grid) > nprocs:
                raise ValueError(f"a grid of {self.grid} needs more than {nprocs} processes")
            return self.grid
        spread = [i for i, d in enumerate(self.dist) if d.kind != NONE.kind]
        if len(spread) > 1:
            raise ValueError("say by grid= how many processes each dimension has")
        return tuple(nprocs if i in spread else 1 for i in range(len(self._shape)))

    def describe(self, nprocs: int) -> _abi.Array:
        """Returns the description that libddio understands (struct ddio_array)."""
        a = _abi.Array(file_offset=self.offset, elem_size=self.dtype.itemsize, ndims=len(self._shape))
        dims = list(zip(self._shape, self.section, self._grid(nprocs), self.dist))
        if self.order == "F":
            dims.reverse()
        for d, (size, (start, count, stride), procs, dist) in zip(a.dim, dims):
            d.size, d.start, d.count, d.stride = size, start, count, stride
            d.procs, d.k, d.dist = procs, dist.k, dist.kind
        return a

    def local_shape(self, nprocs: int, rank: int) -> tuple[int, ...]:
        """Returns the shape of a process's share; does no I/O."""
        a = self.describe(nprocs)
        size, why = ctypes.c_uint64(), ctypes.c_char_p()
        err = _abi.lib.ddio_array_share(ctypes.byref(a), nprocs, rank, ctypes.byref(size), ctypes.byref(why))
        if err:
            raise ValueError((why.value or b"").decode() or os.strerror(-err))
        counts = (ctypes.c_uint64 * _abi.MAX_DIMS)()
        _abi.lib.ddio_array_local(ctypes.byref(a), nprocs, rank, counts)
        if 0 in counts[:len(self._shape)]:
            # An empty share is empty in every dimension there, and has the others' extents in NumPy.
            return tuple(len(i) for i in self.indices(nprocs, rank))
        if not self.shape:
            return ()
        local = tuple(counts[:len(self._shape)])
        return local[::-1] if self.order == "F" else local

    def indices(self, nprocs: int, rank: int) -> tuple[npt.NDArray[np.intp], ...]:
        """Returns the indices of the process's share in each dimension of the whole array.

        whole[np.ix_(*array.indices(n, rank))] is the share.
        """
        grid = self._grid(nprocs)
        if rank >= math.prod(grid):
            return tuple(np.empty(0, np.intp) for _ in self._shape)
        where = np.unravel_index(rank, grid, order="F" if self.order == "F" else "C")
        return tuple(start + stride * _owned(count, procs, int(me), dist) for (start, count, stride), procs, me, dist
                     in zip(self.section, grid, where, self.dist))


def _owned(count: int, procs: int, me: int, dist: Dist) -> npt.NDArray[np.intp]:
    """Returns which of count elements the process me of procs has."""
    all_of_them = np.arange(count, dtype=np.intp)
    if dist.kind in (NONE.kind, ALL.kind):
        return all_of_them
    if dist.kind == BLOCK.kind:
        k = dist.k or max(1, -(-count // procs))
        return all_of_them[me * k:(me + 1) * k]
    mine: npt.NDArray[np.bool_] = all_of_them // (dist.k or 1) % procs == me
    return all_of_them[mine]


@dataclass(frozen=True)
class Strided:
    """Pieces of length bytes, nested-strided: levels has (count, stride in bytes), the outermost first."""

    offset: int
    length: int
    levels: tuple[tuple[int, int], ...] = ()

    @property
    def bytes(self) -> int:
        """How many bytes all pieces have."""
        return self.length * math.prod(n for n, _ in self.levels)

    def describe(self) -> _abi.Strided:
        """Returns the description that libddio understands (struct ddio_strided)."""
        if len(self.levels) > _abi.MAX_DIMS:
            raise ValueError(f"at most {_abi.MAX_DIMS} levels")
        if min((self.offset, self.length, *(n for n, _ in self.levels))) < 0:
            raise ValueError("offset, length and counts cannot be negative")
        s = _abi.Strided(offset=self.offset, len=self.length, nlevels=len(self.levels))
        for level, (count, stride) in zip(s.level, self.levels):
            level.count, level.stride = count, stride
        return s


class Extents:
    """A list of contiguous pieces: (offset, length) in bytes."""

    def __init__(self, extents: Iterable[tuple[int, int]]) -> None:
        self.extents = [(int(o), int(n)) for o, n in extents]
        if any(o < 0 or n < 0 for o, n in self.extents):
            raise ValueError("offsets and lengths cannot be negative")

    @property
    def bytes(self) -> int:
        """How many bytes all pieces have."""
        return sum(n for _, n in self.extents)


Part = Union[Array, Strided, Sequence[Strided], Extents]
