# SPDX-License-Identifier: GPL-2.0-only
"""Shares of arrays, by what libddio says and by the package's own indices; no cluster is needed."""

import itertools
import unittest

import numpy as np

import ddio
from ddio import ALL, BLOCK, CYCLIC, NONE


def random_array(rnd):
    ndims = int(rnd.integers(1, 4))
    shape = [int(n) for n in rnd.integers(0, 12, ndims)]
    dist, grid = [], []
    for n in shape:
        p = int(rnd.integers(1, 4))
        d = [NONE, BLOCK, CYCLIC, ALL, CYCLIC(int(rnd.integers(1, 4)))][rnd.integers(0, 5)]
        dist.append(d)
        grid.append(1 if d is NONE else p)
    section = [slice(int(rnd.integers(0, n + 1)), None, int(rnd.integers(1, 3))) for n in shape]
    return ddio.Array(shape, "i4", dist, grid, section=section, order="CF"[rnd.integers(0, 2)])


class Distributions(unittest.TestCase):
    def test_random(self):
        """2,000 random arrays: indices have the shape that libddio says, and are each element once"""
        rnd = np.random.default_rng(7)
        for _ in range(2000):
            a = random_array(rnd)
            nprocs = int(np.prod(a.grid)) + int(rnd.integers(0, 2))
            seen = np.zeros(a.shape, int)
            copies = int(np.prod([p for d, p in zip(a.dist, a.grid) if d is ALL]))
            for rank in range(nprocs):
                indices = a.indices(nprocs, rank)
                local = a.local_shape(nprocs, rank)
                self.assertEqual(tuple(len(i) for i in indices), local, a)
                seen[np.ix_(*indices)] += 1
            wanted = seen[tuple(slice(s, s + n * t, t) for s, n, t in a.section)]
            self.assertTrue((wanted == copies).all(), a)
            self.assertEqual(seen.sum(), copies * wanted.size, a)

    def test_figure(self):
        """the examples of distributions.rst"""
        def owners(d, n=10, p=3):
            a = ddio.Array(n, "i4", d, p)
            return [[r for r in range(p) if i in a.indices(p, r)[0]] for i in range(n)]
        self.assertEqual([o[0] for o in owners(BLOCK)], [0, 0, 0, 0, 1, 1, 1, 1, 2, 2])
        self.assertEqual([o[0] for o in owners(BLOCK(5))], [0] * 5 + [1] * 5)
        self.assertEqual([o[0] for o in owners(CYCLIC)], [0, 1, 2, 0, 1, 2, 0, 1, 2, 0])
        self.assertEqual([o[0] for o in owners(CYCLIC(2))], [0, 0, 1, 1, 2, 2, 0, 0, 1, 1])
        self.assertEqual(owners(ALL), [[0, 1, 2]] * 10)

    def test_ellipsis(self):
        """a section with '...' is NumPy's"""
        whole = np.zeros((5, 6, 7, 8), "u1")
        for s in (np.s_[...], np.s_[..., 2:5], np.s_[1:3, ...], np.s_[1:3, ..., ::2], np.s_[:, 1:2, ..., 3:, :], np.s_[2:]):
            self.assertEqual(ddio.Array(whole.shape, "u1", section=s).local_shape(1, 0), whole[s].shape, s)
        with self.assertRaisesRegex(ValueError, "one '...'"):
            ddio.Array((3, 3), section=(..., slice(1), ...))
        with self.assertRaisesRegex(TypeError, "slices"):
            ddio.Array((3, 3), section=np.s_[1, :])

    def test_no_dimension(self):
        """an array without a dimension has one element, which the first process has"""
        a = ddio.Array((), "f8")
        self.assertEqual((a.shape, a.local_shape(1, 0), a.local_shape(3, 1)), ((), (), (0,)))
        self.assertEqual(a.describe(1).dim[0].size, 1)

    def test_whole_group(self):
        """without a grid all processes are in the one dimension that is spread"""
        a = ddio.Array((4, 9), "f8", (NONE, CYCLIC))
        self.assertEqual(a.local_shape(3, 0), (4, 3))
        self.assertEqual(a.local_shape(9, 8), (4, 1))

    def test_refused(self):
        """what no array can be is a ValueError that says why"""
        for text, make in [
            ("grid=", lambda: ddio.Array((4, 4), "f8", (BLOCK, BLOCK)).local_shape(4, 0)),
            ("more than 3 processes", lambda: ddio.Array((4, 4), "f8", (BLOCK, BLOCK), (2, 2)).local_shape(3, 0)),
            ("up to 8", lambda: ddio.Array((2,) * 9, "f8")),
            ("cannot lie in a file", lambda: ddio.Array(3, object)),
            ("positive steps", lambda: ddio.Array(3, "f8", section=slice(None, None, -1))),
            ("2 slices for 1", lambda: ddio.Array(3, "f8", section=(slice(1), slice(1)))),
            ("dist has 2 entries", lambda: ddio.Array((3, 3, 3), "f8", (BLOCK, BLOCK))),
            ("order", lambda: ddio.Array(3, order="K")),
            ("negative", lambda: ddio.Array(-3)),
            ("negative", lambda: ddio.Array(3, offset=-1)),
            ("at least one element", lambda: BLOCK(0)),
            ("", lambda: ddio.Array(10, "f8", BLOCK(2), 3).local_shape(3, 0)),
            ("negative", lambda: ddio.Extents([(-1, 2)])),
            ("at most 8", lambda: ddio.Strided(0, 1, ((1, 1),) * 9).describe()),
        ]:
            with self.assertRaisesRegex(ValueError, text):
                make()
        with self.assertRaisesRegex(TypeError, "no length"):
            NONE(3)

    def test_parts(self):
        """strides and lists know their bytes"""
        self.assertEqual(ddio.Strided(5, 8, ((3, 100), (2, 16))).bytes, 48)
        self.assertEqual(ddio.Extents([(0, 3), (100, 4)]).bytes, 7)
        self.assertEqual(ddio.Extents([]).bytes, 0)
        self.assertEqual(list(itertools.chain(ddio.Strided(0, 0).levels)), [])
