# SPDX-License-Identifier: GPL-2.0-only
"""The package against a running cluster, $DDIO_CONF: bytes are compared with NumPy's own indexing."""

import asyncio
import contextlib
import errno
import gc
import io
import os
import tempfile
import threading
import time
import unittest

import numpy as np

import ddio
from ddio import ALL, BLOCK, CYCLIC, NONE, Flag, Method

WHOLE = np.arange(24 * 36, dtype="f8").reshape(24, 36)


def put(name, data):
    with ddio.connect() as s, s.open(name, "w") as f:
        f.pwrite(np.ascontiguousarray(data), 0)


def is_share(got, whole, a, group):
    return bool((got == whole[np.ix_(*a.indices(group.size, group.rank))]).all())


def read_share(group, name, a, method):
    report = ddio.Report()
    with group.open(name) as f:
        got = f.read(a, group=group, method=method, report=report)
    return is_share(got, WHOLE, a, group), report.bytes_share == got.nbytes, report.method


def write_share(group, name, a):
    share = np.ascontiguousarray(WHOLE[np.ix_(*a.indices(group.size, group.rank))])
    with group.open(name, "w") as f:
        f.write(a, np.asfortranarray(share), group=group, flags=Flag.SYNC)
    return group.rank


def write_epoch(group, fail):
    a = ddio.Array(WHOLE.shape, "f8", (BLOCK, NONE), (2, 1))
    share = np.ascontiguousarray(WHOLE[np.ix_(*a.indices(group.size, group.rank))])
    with group.open("e0", "w") as f, group.open("e1", "w") as g:
        try:
            with group.epoch():
                f.write(a, share, group=group, flags=Flag.ATOMIC)
                g.write(a, share, group=group, flags=Flag.ATOMIC)
                if fail:
                    raise KeyError("not now")
        except KeyError:
            pass
        group.barrier()
        return f.stat().size, g.stat().size


class Collective(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        put("whole", WHOLE)

    def test_read(self):
        """every method reads each member's share"""
        a = ddio.Array(WHOLE.shape, "f8", (BLOCK, CYCLIC), (2, 2))
        for method in (Method.TC, Method.TWO_PHASE, Method.DD, Method.DDS):
            got = ddio.fork(4, read_share, "whole", a, method)
            self.assertEqual(got, [(True, True, method)] * 4)

    def test_patterns(self):
        """all distributions of two dimensions, by 1 to 5 processes, sections included"""
        for dist, grid in [((NONE, NONE), (1, 1)), ((BLOCK, NONE), (5, 1)), ((NONE, CYCLIC(2)), (1, 3)),
                           ((ALL, NONE), (2, 1)), ((CYCLIC, BLOCK), (2, 2)), ((CYCLIC(5), CYCLIC), (1, 4))]:
            for section in (None, (slice(3, 20, 2), slice(1, None, 3)), (slice(4, 4), slice(None))):
                a = ddio.Array(WHOLE.shape, "f8", dist, grid, section=section)
                got = ddio.fork(grid[0] * grid[1], read_share, "whole", a, Method.DEFAULT)
                self.assertTrue(all(g[0] for g in got), a)

    def test_write(self):
        """what members write in any order of memory is the whole"""
        a = ddio.Array(WHOLE.shape, "f8", (CYCLIC, BLOCK), (3, 2))
        self.assertEqual(ddio.fork(6, write_share, "written", a), list(range(6)))
        with ddio.connect() as s, s.open("written") as f:
            self.assertTrue((f.read(ddio.Array(WHOLE.shape)) == WHOLE).all())

    def test_epoch(self):
        """two files that are written in an epoch are there together, or not"""
        self.assertEqual(ddio.fork(2, write_epoch, True), [(0, 0)] * 2)
        self.assertEqual(ddio.fork(2, write_epoch, False), [(WHOLE.nbytes, WHOLE.nbytes)] * 2)

    def test_npy_versions(self):
        """every version of the format, an array without a dimension, names in UTF-8"""
        fields = np.dtype([("\u00e4", "<f4"), ("\u4e2d", ">i8")])
        for version, a in (((1, 0), np.arange(6.0).reshape(2, 3)), ((2, 0), np.asfortranarray(np.arange(6.0).reshape(2, 3))),
                           ((3, 0), np.zeros((4, 2), fields)), ((3, 0), np.array(3.5)), (None, np.array(4))):
            saved = io.BytesIO()
            np.lib.format.write_array(saved, a, version=version)
            put("v.npy", np.frombuffer(saved.getvalue(), np.uint8))
            with ddio.connect() as s, s.open("v.npy") as f:
                got = f.read(f.npy())
                self.assertEqual((got.shape, got.dtype, got.tobytes("A")), (a.shape, a.dtype, a.tobytes("A")), version)

    def test_collected(self):
        """a handle that is collected in the middle of a call of its session does not wait for itself"""
        def collect(session, name):
            f = session.open(name)
            with session._root.lock:
                f.__del__()
        put("c", np.zeros(8, np.uint8))
        with ddio.connect() as s:
            t = threading.Thread(target=collect, args=(s, "c"), daemon=True)
            t.start()
            t.join(20)
            self.assertFalse(t.is_alive())

    def test_npy(self):
        """a file of np.save() describes itself, in either order"""
        for order in "CF":
            saved = io.BytesIO()
            np.save(saved, np.array(WHOLE, order=order))
            put("m.npy", np.frombuffer(saved.getvalue(), np.uint8))
            self.assertEqual(ddio.fork(3, read_npy), [True] * 3)

    def test_member_fails(self):
        """a member's exception names its rank, and the others end"""
        with self.assertRaisesRegex(ChildProcessError, "rank 2: ValueError: no"):
            ddio.fork(3, refuse)

    def test_member_dies(self):
        """a member that dies is a ConnectionAbortedError for the others"""
        with self.assertRaisesRegex(ChildProcessError, "rank 1 ended with status 7"):
            ddio.fork(3, die)

    def test_disagree(self):
        """members that differ get the same error"""
        self.assertEqual(ddio.fork(2, disagree), [errno.EBADE] * 2)

    def test_counter_split(self):
        """a counter gives each number once; a split makes groups of its own"""
        got = ddio.fork(4, count)
        self.assertEqual(sorted(x for numbers, _, _ in got for x in numbers), list(range(5, 45)))
        self.assertEqual([g[1:] for g in got], [(1, 2), (0, 2), (0, 1), (None, None)])

    def test_async(self):
        """awaited operations overlap, and a cancelled task leaves its transfer whole"""
        self.assertEqual(ddio.fork(2, awaits), [True] * 2)


    def test_given_up(self):
        """a coroutine that gives up waiting for a late member, and a fork meanwhile, leave the operation whole"""
        with tempfile.TemporaryDirectory() as d:
            self.assertEqual(ddio.fork(2, give_up, os.path.join(d, "go")), [True] * 2)


async def give_up_waiting(op):
    for _ in range(100):
        try:
            await asyncio.wait_for(_await(op), 0.005)
        except (asyncio.TimeoutError, TimeoutError):
            continue
        return False
    return not op.done()


def refuses_in_child(op):
    pid = os.fork()
    if pid == 0:
        code = 0
        for use in (op.wait, op.done):
            try:
                use()
                code = 1
            except ValueError as e:
                code |= 0 if "fork first" in str(e) else 2
        os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


def give_up(group, go):
    a = ddio.Array(WHOLE.shape, "f8", (NONE, CYCLIC))
    with group.open("whole") as f:
        if group.rank:
            while not os.path.exists(go):
                time.sleep(0.01)
            return is_share(f.read(a, group=group), WHOLE, a, group)
        op = f.start_read(a, group=group)
        right = asyncio.run(give_up_waiting(op)) and threading.active_count() < 10 and refuses_in_child(op)
        with open(go, "w", encoding="ascii"):
            pass
        return right and is_share(asyncio.run(_await(op)), WHOLE, a, group)


def read_npy(group):
    with group.open("m.npy") as f:
        a = f.npy((NONE, CYCLIC))
        return is_share(f.read(a, group=group), WHOLE, a, group)


def refuse(group):
    if group.rank == 2:
        raise ValueError("no")
    try:
        group.barrier()
    except ConnectionAbortedError:
        pass


def die(group):
    if group.rank == 1:
        os._exit(7)
    try:
        group.barrier()
    except ConnectionAbortedError:
        return True
    raise AssertionError("a barrier without all members")


def disagree(group):
    with group.open("whole") as f:
        try:
            f.read(ddio.Array((4, 4 + group.rank), "f8"), group=group)
        except OSError as e:
            return e.errno
    return 0


def count(group):
    c = group.counter(5)
    numbers = [c.add() for _ in range(10)]
    group.barrier()
    assert c.get() == 45
    group.barrier()
    sub = group.split([1, 1, 2, -1][group.rank], -group.rank)
    if sub is None:
        return numbers, None, None
    sub.barrier()
    return numbers, sub.rank, sub.size


async def read_twice(group, f, a):
    ops = [f.start_read(a, group=group) for _ in range(8)]
    first = asyncio.ensure_future(_await(ops[0]))
    await asyncio.sleep(0)
    first.cancel()
    got = [await op for op in ops[1:]] + list(await asyncio.gather(ops[0], ops[0]))
    return all(is_share(g, WHOLE, a, group) for g in got) and all(op.done() for op in ops)


async def _await(op):
    return await op


def awaits(group):
    a = ddio.Array(WHOLE.shape, "f8", (NONE, CYCLIC))
    with group.open("whole") as f:
        return asyncio.run(read_twice(group, f, a))


class Alone(unittest.TestCase):
    def setUp(self):
        self.s = ddio.connect()
        self.addCleanup(self.s.close)

    def test_bytes(self):
        """bytes go to and fro, short at the end of the file"""
        with self.s.open("bytes", "w") as f:
            self.assertEqual(f.pwrite(b"0123456789", 5), 10)
            self.assertEqual(f.pread(100, 3), b"\0\x000123456789")
            self.assertEqual((f.pread(3, 15), f.pread(0, 0), f.size), (b"", b"", 15))
            f.truncate(7)
            f.allocate(0, 100)
            self.assertEqual(f.pread(100, 5), b"01" + bytes(93))
            buf = bytearray(4)
            self.assertEqual((f.readinto(buf, 5), bytes(buf)), (4, b"01\0\0"))
            with self.assertRaises(ValueError):
                f.readinto(b"read-only", 0)
            f.sync()
            f.drop_cache()

    def test_memory(self):
        """arrays of any strides are read into and written from; nothing beside them changes"""
        put("whole", WHOLE)
        a = ddio.Array(WHOLE.shape)
        with self.s.open("whole") as f:
            big = np.full((50, 80), -1.0)
            for view in (big[1:25, 2:38], big[47:23:-1, 40:76], big[1:49:2, 1:73:2], big[:36, :24].T,
                         big[23::-1, 35::-1]):
                big[...] = -1
                self.assertEqual(view.shape, WHOLE.shape)
                self.assertTrue(f.read(a, view) is view)
                self.assertTrue((view == WHOLE).all())
                self.assertEqual((big == -1).sum(), big.size - WHOLE.size)
                with self.s.open("copy", "w") as c:
                    c.write(a, view)
                    self.assertTrue((c.read(a) == WHOLE).all())
            with self.s.open("copy", "w") as c:
                c.write(a, np.broadcast_to(np.float64(3), WHOLE.shape))
                self.assertTrue((c.read(a) == 3).all())

    def test_pieces(self):
        """strides and lists, with a dtype of the caller's"""
        put("whole", WHOLE)
        flat = WHOLE.ravel()
        with self.s.open("whole") as f:
            got = f.read(ddio.Strided(16, 8, ((10, 36 * 8),)), dtype="f8")
            self.assertEqual(got.tolist(), flat[2::36][:10].tolist())
            got = f.read([ddio.Strided(0, 8), ddio.Strided(800, 8)], dtype="f8")
            self.assertEqual(got.tolist(), [flat[0], flat[100]])
            got = f.read(ddio.Extents([(0, 16), (80, 8)]), dtype="f8")
            self.assertEqual(got.tolist(), flat[[0, 1, 10]].tolist())
            self.assertEqual(f.read(ddio.Extents([])).size, 0)
            f.write(ddio.Extents([(8, 8), (24, 8)]), np.array([-1.0, -2.0]))
            self.assertEqual(f.read(ddio.Array(4)).tolist(), [0, -1, 2, -2])
            with self.assertRaisesRegex(ValueError, "not a whole number"):
                f.read(ddio.Extents([(0, 3)]), dtype="f8")
            report = ddio.Report()
            end = ddio.Extents([(WHOLE.nbytes - 8, 16)])
            with self.assertRaises(OSError) as e:
                f.read(end)
            self.assertEqual(e.exception.errno, errno.ENODATA)
            f.read(end, flags=Flag.SHORT, report=report)
            self.assertEqual(report.bytes_moved, 8)

    def test_wrong_memory(self):
        """arrays that are no share of the part are refused before anything moves"""
        put("whole", WHOLE)
        a = ddio.Array(WHOLE.shape)
        frozen = np.empty(WHOLE.shape)
        frozen.flags.writeable = False
        with self.s.open("whole") as f:
            for text, out in [("shape", np.empty((36, 24))), ("has float32", np.empty(WHOLE.shape, "f4")),
                              ("has >f8", np.empty(WHOLE.shape, ">f8")), ("read-only", frozen)]:
                with self.assertRaisesRegex(ValueError, text):
                    f.read(a, out)
            with self.assertRaisesRegex(ValueError, "bytes"):
                f.write(ddio.Extents([(0, 9)]), np.zeros(1))

    def test_names(self):
        """files and directories; errors are Python's own, with libddio's text"""
        self.s.mkdir("d")
        with self.s.open("d/f", "x", striping=ddio.Striping(block_size=4096, disks=[1, 0]), permissions=0o600) as f:
            self.assertEqual((f.disks(), f.stat().block_size), ([1, 0], 4096))
            f.pwrite(bytes(20000), 0)
            f.sync()
            self.assertEqual(sum(p.count for p in f.layout()), 5)
        self.assertEqual(self.s.stat("d/f").size, 20000)
        self.assertEqual(list(self.s.listdir("d")), ["f"])
        self.assertIsNone(self.s.listdir()["d/"])
        with self.assertRaises(FileExistsError):
            self.s.open("d/f", "x")
        with self.assertRaisesRegex(FileNotFoundError, "nothing"):
            self.s.open("nothing")
        with self.assertRaises(OSError):
            self.s.remove("d")
        with self.assertRaisesRegex(ValueError, "mode"):
            self.s.open("d/f", "rb")
        self.s.remove("d/f")
        self.s.remove("d")
        self.assertEqual([n.error for n in self.s.nodes()], [0] * len(self.s.nodes()))

    def test_clones(self):
        """a clone and a snapshot keep what the file had"""
        with self.s.open("cloned", "w") as f:
            f.pwrite(b"before", 0)
            f.clone("clone")
            f.snap("then")
            f.pwrite(b"behind", 0)
            with self.assertRaises(FileExistsError):
                f.clone("clone")
            with self.assertRaisesRegex(OSError, "no slash"):
                f.snap("a/b")
        (number,) = self.s.listdir(".snaps")
        for name in ("clone", f".snaps/{number}then"):
            with self.s.open(name) as f:
                self.assertEqual(f.pread(100, 0), b"before")

    def test_callback_raises(self):
        """an exception in the midst of a walk comes out of it"""
        with self.assertRaises(ZeroDivisionError):
            self.s._walk("ddio_nodes", ddio._abi.NODES_FN, lambda st: 1 / 0)

    def test_locks(self):
        """a range is one thread's at a time"""
        def other(out):
            try:
                with f.lock(0, 10, wait=False):
                    out.append(None)
            except BlockingIOError as e:
                out.append(e.errno)
        with self.s.open("locked", "a") as f:
            out = []
            with f.lock(5, 5):
                for _ in range(2):
                    t = threading.Thread(target=other, args=(out,))
                    t.start()
                    t.join()
                    if len(out) == 1:
                        self.assertEqual(out, [errno.EAGAIN])
                        break
            t = threading.Thread(target=other, args=(out,))
            t.start()
            t.join()
            self.assertEqual(out, [errno.EAGAIN, None])

    def test_asynchronous(self):
        """an operation's result can be asked for more than once, also by threads at a time"""
        put("whole", WHOLE)
        with self.s.open("whole") as f:
            op = f.start_read(ddio.Array(WHOLE.shape))
            got = []
            threads = [threading.Thread(target=lambda: got.append(op.wait())) for _ in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertTrue(op.done() and all(g is op.wait() for g in got) and len(got) == 4)
            bad = f.start_read(ddio.Extents([(WHOLE.nbytes, 8)]))
            for _ in range(2):
                with self.assertRaises(OSError):
                    bad.wait()

    def test_awaited_after_fork(self):
        """a process that has awaited forks, and its child awaits on a session of its own"""
        put("whole", WHOLE)
        with self.s.open("whole") as f:
            asyncio.run(_await(f.start_read(ddio.Array(WHOLE.shape))))
        self.assertEqual(ddio.fork(2, awaits), [True] * 2)

    def test_forgotten(self):
        """memory of operations that nobody waits for stays until the session ends"""
        put("whole", WHOLE)
        f = self.s.open("whole")
        for _ in range(50):
            f.start_read(ddio.Array(WHOLE.shape))
        gc.collect()
        self.assertEqual(len(self.s._root.kept), 50)
        root = self.s._root
        self.s.close()
        self.assertEqual(len(root.kept), 0)

    def test_closed(self):
        """what has been closed, or belongs to another process, says so"""
        f = self.s.open("closed", "w")
        op = f.start_write(ddio.Extents([(0, 8)]), np.zeros(8, np.uint8))
        op.wait()
        f.close()
        f.close()
        with self.assertRaisesRegex(ValueError, "file has been closed"):
            f.size
        g = self.s.open("closed")
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                g.size
            except ValueError as e:
                code = 0 if "fork first" in str(e) else 2
            del g
            self.s.close()
            os._exit(code)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(g.size, 8)
        self.s.close()
        for use in (lambda: g.size, lambda: self.s.stat("bytes")):
            with self.assertRaisesRegex(ValueError, "closed"):
                use()
        g.close()

    def test_close_in_call(self):
        """a session is not ended under a thread that is in a call of it"""
        with self.s.open("busy", "a") as f, contextlib.ExitStack() as held:
            held.enter_context(f.lock())
            with ddio.connect() as other:
                g = other.open("busy")
                entered = threading.Event()

                def waits():
                    entered.set()
                    with g.lock():
                        pass
                t = threading.Thread(target=waits)
                t.start()
                entered.wait()
                while other._root.calls == 0 and t.is_alive():
                    pass
                with self.assertRaisesRegex(RuntimeError, "another thread"):
                    other.close()
                held.close()
                t.join()

    def test_no_cluster(self):
        """a configuration that is not there is a FileNotFoundError that names it"""
        with self.assertRaisesRegex(FileNotFoundError, "/nowhere"):
            ddio.connect("/nowhere/ddio.conf")

    def test_no_member(self):
        """groups need members"""
        with self.assertRaises(ValueError):
            ddio.fork(0, refuse)
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            ddio.over_broadcast(self.s, 0, 2, lambda buf: 1 / 0)

    def test_lambda_result(self):
        """a result that cannot be pickled is an error of that rank"""
        with self.assertRaisesRegex(ChildProcessError, "rank 0: the result cannot be pickled"):
            ddio.fork(1, lambda group: (lambda: 1))
