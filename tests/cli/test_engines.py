#!/usr/bin/python3
"""All ways to reach the files give the same bytes: direct, mapped, without io_uring, without O_DIRECT; and so do
plans of many tiles and of several passes."""

import errno
import json
import os
import unittest

from harness import (Case, LARGE_ENGINES, LONG, MiB, affine_map, bit_reversed, main, matrix_text, moved, random_columns,
                     transposed)
from sandbox import accepts_o_direct, forbid, seccomp_works

SECCOMP = seccomp_works()


class Engines(Case):
    def test_names_of_engines(self):
        self.save("a.npy", self.noise((100, 200), "f8"))
        direct = self.json("transpose", "a.npy", "b.npy", "--io", "direct")
        self.assertNotEqual(direct["queue"], "mapped")
        self.assertEqual(direct["access"], "direct" if accepts_o_direct(self.dir) else "buffered")
        mapped = self.json("transpose", "a.npy", "c.npy", "--io", "mapped")
        self.assertEqual((mapped["queue"], mapped["access"]), ("mapped", "mapped"))
        self.assertEqual(self.json("transpose", "a.npy", "d.npy")["queue"], "mapped")  # a small file
        self.assertEqual(self.bytes_of("b.npy"), self.bytes_of("c.npy"))
        self.assertEqual(self.bytes_of("b.npy"), self.bytes_of("d.npy"))

    def run_on_cases(self, *options, **more):
        """Yields the report of each run, after its result was compared."""
        for shape, dtype, offset in self.few([((3, 5), "u1", 0), ((257, 1023), "f8", 0), ((501, 499), "V7", 13),
                                              ((64, 64, 64), "c16", 4096), ((1, 100_003), "V3", 1), ((0, 4), "f8", 5)], 3):
            with self.subTest(shape=shape, dtype=dtype, offset=offset):
                array = self.noise(shape, dtype)
                self.write("a.raw", self.random.bytes(offset) + array.tobytes())
                raw = ("--dtype", dtype, "--shape", ",".join(map(str, shape)), "--offset", offset)
                for target in ["b.raw", "b.npy"]:  # whose data begins at 0 and at 4096
                    yield self.json("transpose", "a.raw", target, *raw, "--force", *options, **more)
                    self.assertTrue(self.bytes_of(target).endswith(transposed(array).tobytes()))

    def test_odd_cases_with_each_engine(self):
        for engine in ["auto", "direct", "mapped"]:
            for threads in self.few([1, 3], 1):
                for _ in self.run_on_cases("--io", engine, "--threads", threads):
                    pass

    @unittest.skipUnless(SECCOMP, "seccomp filters cannot be installed here")
    def test_io_uring_forbidden(self):
        for error in self.few([errno.EPERM, errno.ENOSYS], 1):
            for report in self.run_on_cases("--io", "direct", preexec_fn=forbid(io_uring=error)):
                self.assertEqual(report["queue"], "threads")

    @unittest.skipUnless(SECCOMP, "seccomp filters cannot be installed here")
    def test_o_direct_refused(self):
        for report in self.run_on_cases("--io", "direct", preexec_fn=forbid(o_direct=True)):
            self.assertEqual(report["access"], "buffered")

    @unittest.skipUnless(SECCOMP, "seccomp filters cannot be installed here")
    def test_neither(self):
        for report in self.run_on_cases("--io", "direct", preexec_fn=forbid(io_uring=errno.EPERM, o_direct=True)):
            self.assertEqual((report["queue"], report["access"]), ("threads", "buffered"))

    @unittest.skipUnless(SECCOMP, "seccomp filters cannot be installed here")
    def test_fallbacks_are_said_unless_quiet(self):
        self.save("a.npy", self.noise((100, 200), "f8"))
        command = ("transpose", "a.npy", "b.npy", "--force", "--io", "direct")
        filters = {"direct access": forbid(o_direct=True)}
        if accepts_o_direct(self.dir):
            filters["io_uring.*(seccomp=unconfined|kernel.io_uring_disabled)"] = forbid(io_uring=errno.EPERM)
        for what, apply in filters.items():
            self.assertRegex(self.ok(*command, preexec_fn=apply).stderr, f"note: .*{what}")
            self.assertEqual(self.ok(*command, "-q", preexec_fn=apply).stderr, "")

    def test_input_and_output_on_different_file_systems(self):
        if not os.access("/dev/shm", os.W_OK):
            self.skipTest("no /dev/shm")
        array = self.noise((300, 500), "f8")
        there = Case.__new__(Engines)  # a second directory, in memory
        Case.__init__(there, "test_names_of_engines")
        there.in_memory = True
        there.setUp()
        self.addCleanup(there.doCleanups)
        self.save("a.npy", array)
        for engine in ["direct", "mapped"]:
            self.ok("transpose", "a.npy", there.path("b.npy"), "--io", engine, "--force")
            self.ok("transpose", there.path("b.npy"), "c.npy", "--io", engine, "--force")
            self.assert_same(there.load("b.npy"), transposed(array), engine)
            self.assert_same(self.load("c.npy"), array, engine)
        # Within a file system in memory io_uring would only hand each transfer to a thread of the kernel's.
        report = there.json("transpose", "b.npy", "c.npy", "--io", "direct")
        self.assertEqual(report["queue"], "threads")
        self.assert_same(there.load("c.npy"), array)


class ManyTiles(Case):
    def test_small_memory(self):
        """About 40 MiB through 16 MiB."""
        for shape, dtype in self.few([((2203, 2187), "f8"), ((7003, 6007), "u1"), ((99, 19, 1999), "V12")], 1):
            array = self.noise(shape, dtype)
            self.save("a.npy", array)
            expected = transposed(array)
            for engine in LARGE_ENGINES:
                with self.subTest(shape=shape, dtype=dtype, engine=engine):
                    self.ok("transpose", "a.npy", "b.npy", "--memory", "16MiB", "--io", engine, "--force")
                    self.assert_same(self.load("b.npy"), expected)

    @unittest.skipUnless(SECCOMP, "seccomp filters cannot be installed here")
    def test_small_memory_and_fallbacks(self):
        array = self.noise((3001, 2003), "f8")
        self.save("a.npy", array)
        expected = transposed(array)
        for apply in self.few([forbid(io_uring=errno.EPERM), forbid(o_direct=True)], 1):
            self.ok("transpose", "a.npy", "b.npy", "--memory", "16MiB", "--io", "direct", "--force", preexec_fn=apply)
            self.assert_same(self.load("b.npy"), expected)

    def test_all_thread_counts(self):
        array = self.noise((2003, 3001), "f4")
        self.save("a.npy", array)
        expected = transposed(array)
        for threads in self.few([1, 2, 3, 8, 64], 2):
            self.ok("transpose", "a.npy", "b.npy", "--memory", "16MiB", "--io", "direct", "--threads", threads, "--force")
            self.assert_same(self.load("b.npy"), expected, threads)


class SeveralPasses(Case):
    """On a disk with expensive requests, where moving everything twice is cheaper than small blocks."""

    hdd = ("--device", "hdd", "--memory", "16MiB")

    def check(self, expected, *command):
        os.mkdir(self.path("scratch"))
        for options in self.sample([*(("--io", engine) for engine in LARGE_ENGINES),
                                    ("--io", "direct", "--tmpdir", "scratch", "--threads", "1")], 2 if LONG else 1):
            with self.subTest(options=options):
                plan = self.json(*command, "b.raw", "--force", *options, "--dry-run")
                self.assertGreater(plan["passes"], 1)
                report = self.json(*command, "b.raw", "--force", *options)
                self.assertEqual(report["passes"], plan["passes"])
                self.assertTrue(self.bytes_of("b.raw") == expected.tobytes())
                self.assertEqual(os.listdir(self.path("scratch")), [])

    def test_random_matrix(self):
        n = 24
        columns = random_columns(self.random, n)
        array = self.noise((1 << n,), "f4")
        self.write("matrix.txt", matrix_text(columns, 0x5A5A5A))
        self.save("a.npy", array)
        self.check(moved(array, affine_map(columns, 0x5A5A5A)), "permute", "a.npy", "--matrix", "matrix.txt", *self.hdd)

    def test_bit_reversal(self):
        array = self.noise((1 << 24,), "f4")
        self.save("a.npy", array)
        self.check(bit_reversed(array), "bitreverse", "a.npy", *self.hdd)

    def test_odd_extents(self):
        for shape, axes in self.few([((6003, 2345), (1, 0)), ((3, 2310, 2001), (0, 2, 1)),
                                     ((45, 70, 33, 105), (3, 1, 2, 0))], 1):
            with self.subTest(shape=shape):
                array = self.noise(shape, "f4")
                self.save("a.npy", array)
                self.check(transposed(array, axes), "transpose", "a.npy", "--axes", ",".join(map(str, axes)), *self.hdd)
                os.remove(self.path("b.raw"))
                os.rmdir(self.path("scratch"))

    def test_device_of_ones_own(self):
        """A disk with a price for requests such that even a small file is worth several passes."""
        self.write("device.json", json.dumps({"name": "tape", "depth": 2, "points": [
            [4096, 1e3, 1e3], [65536, 16e3, 16e3], [MiB, 256e3, 256e3], [16 * MiB, 1e8, 1e8]]}))
        array = self.noise((2048, 4096), "f8")
        self.write("a.raw", bytes(100) + array.tobytes())
        command = ("transpose", "a.raw", "--dtype", "f8", "--shape", "2048,4096", "--offset", "100",
                   "--device", "device.json", "--memory", "16MiB")
        self.assertEqual(self.json(*command, "b.raw", "--dry-run")["device"], "tape")
        self.check(transposed(array), *command)


if __name__ == "__main__":
    main()
