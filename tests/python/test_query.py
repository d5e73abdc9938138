# SPDX-License-Identifier: GPL-2.0-only
"""Questions about records, against a running cluster, $DDIO_CONF: answers are compared with NumPy's."""

import io
import math
import unittest

import numpy as np

import ddio
from ddio import Deal, Reduce

RECORD = np.dtype([("id", "<u8"), ("energy", "<f8"), ("kind", "u1"), ("tag", "S7"), ("big", ">i4"), ("place", "<f4", (2,)),
                   ("small", "<i2")])
N = 20_000


def records():
    rng = np.random.default_rng(7)
    a = np.zeros(N, RECORD)
    a["id"] = rng.integers(2**63, 2**64, N, dtype="u8")
    a["energy"] = rng.standard_normal(N) * 10.0 ** rng.integers(-200, 200, N)
    a["energy"][::97] = np.nan
    a["kind"] = rng.integers(0, 5, N)
    a["tag"] = [f"t{i % 1000}".encode() for i in range(N)]
    a["big"] = rng.integers(-2**31, 2**31, N)
    a["place"] = rng.random((N, 2))
    a["small"] = rng.integers(-100, 100, N)
    return a


def ask(group, deal):
    with group.open("records") as f:
        found = f.query(RECORD, "kind < 4", ("id", "small"), index=True, reduce=[Reduce.sum("small")], group=group, deal=deal)
    return found.matched, found.values[0].value, found.index.tolist(), found.data.tolist()


class Query(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = records()
        cls.session = ddio.connect()
        cls.file = cls.session.open("records", "w")
        cls.file.pwrite(cls.all.tobytes(), 0)

    @classmethod
    def tearDownClass(cls):
        cls.file.close()
        cls.session.close()

    def same(self, found, where, fields):
        self.assertEqual((found.records, found.matched), (N, int(where.sum())))
        self.assertTrue((found.index == np.flatnonzero(where)).all())
        for name in fields:
            self.assertEqual(found.data[name].tobytes(), self.all[name][where].tobytes(), name)

    def test_select(self):
        """fields of the records that match, more of them than there was room for at first"""
        fields = ("tag", "big", "energy", "place")
        found = self.file.query(RECORD, "kind = 1 or big < -1000000000", fields, index=True)
        self.same(found, (self.all["kind"] == 1) | (self.all["big"] < -10**9), fields)
        self.assertEqual(found.data.dtype.names, fields)
        self.assertGreater(found.matched, 4096)
        self.assertFalse(found.values)

    def test_none(self):
        """no record matches, every record matches, none is looked at"""
        found = self.file.query(RECORD, "kind = 77", ("id",), index=True, reduce=[Reduce.max("id")])
        self.assertEqual((found.matched, found.data.size, found.index.size), (0, 0, 0))
        self.assertEqual((found.values[0].count, found.values[0].value), (0, None))
        self.assertEqual(self.file.query(RECORD).matched, N)
        self.assertEqual(self.file.query(RECORD, count=0).records, 0)

    def test_sums(self):
        """sums are exact, whatever their order; extremes; NaN counts apart"""
        where = self.all["kind"] != 3
        mine = self.all[where]
        found = self.file.query(RECORD, "not kind = 3", reduce=[
            Reduce.sum("id"), Reduce.sum("big"), Reduce.sum("energy"), Reduce.min("energy"), Reduce.max("small"),
            Reduce.min("big")])
        real = mine["energy"][~np.isnan(mine["energy"])]
        self.assertEqual([v.value for v in found.values],
                         [sum(map(int, mine["id"])), sum(map(int, mine["big"])), math.fsum(real), real.min(),
                          int(mine["small"].max()), int(mine["big"].min())])
        self.assertEqual((found.values[2].count, found.values[2].nans), (real.size, mine.size - real.size))
        self.assertIsNone(found.data)
        self.assertIsNone(found.index)

    def test_histogram(self):
        """histograms of integers and of floating numbers"""
        bounds = {"small": [-50, 0, 75], "energy": [-1e10, -1.5, 0, 1e-100, 2.5]}
        found = self.file.query(RECORD, reduce=[Reduce.histogram(n, b) for n, b in bounds.items()])
        for value, (name, b) in zip(found.values, bounds.items()):
            real = self.all[name][~np.isnan(self.all[name])]
            bins = np.bincount(np.searchsorted(b, real, side="right"), minlength=len(b) + 1)
            self.assertEqual(value.bins.tolist(), bins.tolist(), name)
            self.assertIsNone(value.value)

    def test_range(self):
        """some records, and those behind a head"""
        found = self.file.query(RECORD, "", ("id",), first=N - 5, count=3, index=True)
        self.assertEqual(found.index.tolist(), [N - 5, N - 4, N - 3])
        self.assertEqual(found.data["id"].tolist(), self.all["id"][N - 5:N - 2].tolist())
        found = self.file.query(RECORD, "", ("id",), origin=RECORD.itemsize * 10, count=1)
        self.assertEqual(found.data["id"].tolist(), self.all["id"][10:11].tolist())

    def test_plain(self):
        """plain numbers, and the elements of a file of np.save()"""
        numbers = np.arange(-500, 500, dtype=">i2")
        saved = io.BytesIO()
        np.save(saved, numbers)
        with self.session.open("numbers.npy", "w") as f:
            f.pwrite(saved.getvalue(), 0)
            f.pwrite(b"\xff" * 64, len(saved.getvalue()))
            found = f.query(f.npy(), "value >= 490", ("value",), index=True, reduce=[Reduce.sum("value")])
            self.assertEqual(found.records, 1000)
            self.assertEqual(found.index.tolist(), list(range(990, 1000)))
            self.assertEqual(found.data["value"].tolist(), list(range(490, 500)))
            self.assertEqual(found.values[0].value, sum(range(490, 500)))
            self.assertEqual(f.query(f.npy(), first=2000).records, 0)

    def test_group(self):
        """a group asks together, and records are dealt out by their number, by ranges of values, and by hash"""
        where = np.flatnonzero(self.all["kind"] < 4)
        small = self.all["small"]
        owner = np.searchsorted([-30, 40], small, side="right")
        deals = [(None, None), (Deal.by_range("small", [-30, 40]), owner),
                 (Deal.by_range("small", [-30, 40], owners=[2, 0, 0]), np.array([2, 0, 0])[owner]),
                 (Deal.by_hash("kind", owners=[1]), np.ones(N, int)), (Deal.by_hash("small"), None)]
        for deal, owners in deals:
            got = ddio.fork(3, ask, deal)
            for rank, (matched, total, index, data) in enumerate(got):
                self.assertEqual((matched, total), (where.size, int(small[where].sum())))
                self.assertEqual(data, self.all[["id", "small"]][index].tolist())
                if owners is not None:
                    self.assertEqual(index, [i for i in where if owners[i] == rank], deal)
            self.assertEqual(sorted(sum((g[2] for g in got), [])), where.tolist())
            if deal and deal.kind == 2:
                values = [set(small[g[2]] if deal.field == "small" else []) for g in got]
                self.assertFalse(values[0] & values[1] | values[0] & values[2] | values[1] & values[2])

    def test_wrong(self):
        """questions that say nothing are refused before anything moves"""
        for wrong in (dict(where="nothing = 1"), dict(where="kind ="), dict(select=("nothing",)),
                      dict(reduce=[Reduce.sum("nothing")]), dict(reduce=[Reduce.histogram("small", [0.5])]),
                      dict(reduce=[Reduce.histogram("kind", [-1])])):
            with self.assertRaises(ValueError, msg=wrong):
                self.file.query(RECORD, **wrong)
        for wrong in (dict(where="tag = 1"), dict(reduce=[Reduce.sum("place")]),
                      dict(reduce=[Reduce.histogram("small", [1, 1])])):
            with self.assertRaises((ValueError, OSError), msg=wrong):
                self.file.query(RECORD, **wrong)
