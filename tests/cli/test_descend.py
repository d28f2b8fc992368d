#!/usr/bin/python3
"""xorder descend against NumPy: shift, scan, merge, tridiagonal."""

import os
import re
import resource
import signal
import subprocess
import time

import harness
from harness import Case, LONG, MiB, SANITIZED, main, np, rounds

OPERATIONS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum, "xor": np.bitwise_xor}
INTEGERS = ["u1", "i1", "<u2", ">i2", "<i4", ">u4", "<i8", ">u8"]


def thomas(a, b, c, d):
    """Elimination row by row, in doubles."""
    n = len(b)
    a, b, c, d = (np.array(x, "f8").tolist() for x in (a, b, c, d))
    for i in range(1, n):
        factor = a[i] / b[i - 1]
        b[i] -= factor * c[i - 1]
        d[i] -= factor * d[i - 1]
    x = [0.0] * n
    x[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return np.array(x)


class Descend(Case):
    in_memory = True

    def small_integers(self, count, low, high, dtype):
        return self.random.integers(low, high, count).astype(dtype)


class Shift(Descend):
    def check(self, array, by, *options):
        self.save("a.npy", array)
        self.ok("descend", "shift", "a.npy", "b.npy", f"--by={by}", "--force", "-q", *options)
        plain = array.view(f"V{array.itemsize}")
        self.assert_same(self.load("b.npy"), np.roll(plain, int(by) % max(array.size, 1)).view(array.dtype), (array.shape, by, options))

    def test_every_size_and_distance(self):
        for n in self.few(range(14), 4):
            for by in self.sample([0, 1, -1, 1 << n, int(self.random.integers(-1 << 40, 1 << 40))], 2):
                self.check(self.noise(1 << n, "u4"), by)

    def test_any_number(self):
        for count in self.few([0, 1, 3, 5, 127, 1000, 65537, 2 * MiB + 1], 3):
            distances = [0, 1, -1, count // 2, 10**30 + 7, -10**25, int(self.random.integers(-1 << 40, 1 << 40))]
            for by in self.sample(distances, 3):
                dtype = str(self.random.choice(["u1", ">f8", "V3", "V5"]))
                self.check(self.noise(count, dtype), by, "--io", self.random.choice(["auto", "direct", "mapped"]), "--memory", "16MiB")
        self.check(self.noise((5, 7, 3), "<f4"), -40)
        self.save("a.npy", np.asfortranarray(self.noise((3, 5), "f4")))
        self.refused("descend", "shift", "a.npy", "b.npy", "--by", 1, says="Fortran")

    def test_every_type(self):
        types = ["u1", "V3", "S7", "<U2", ">f8", "c16", "M8[s]", "?", [("x", "u1"), ("y", "<f4", (2,))], "V4100"]
        for i in self.few(range(len(types)), 4):
            self.check(self.noise(1 << 8, types[i]), -77)

    def test_processors(self):
        for processors in [1, 2, 8, 64, 4096]:
            self.check(self.noise(1 << 12, "u2"), 1234, "--processors", processors)

    def test_distances_beyond_64_bits(self):
        array = self.noise(1 << 10, "u2")
        for by in [10**30 + 7, -10**30, 2**64 - 1, -2**64 - 5]:
            self.save("a.npy", array)
            self.ok("descend", "shift", "a.npy", "b.npy", "--by", by, "--force")
            self.assert_same(self.load("b.npy"), np.roll(array, by % 1024))

    def test_axes_stay(self):
        self.check(self.noise((4, 8, 2), "f4"), 5)
        self.save("a.npy", np.asfortranarray(self.noise((4, 8), "f4")))
        self.refused("descend", "shift", "a.npy", "b.npy", "--by", 1, says="Fortran")

    def test_raw(self):
        array = self.noise(1 << 10, "V3")
        self.write("a.raw", b"head" + array.tobytes())
        self.ok("descend", "shift", "a.raw", "b.raw", "--by", "-3", "--dtype", "V3", "--offset", 4)
        self.assertEqual(self.bytes_of("b.raw"), np.roll(array, -3).tobytes())

    def test_bad_distances(self):
        self.save("a.npy", np.zeros(4))
        for by in ["x", "1.5", "", "1e3", "--"]:
            self.refused("descend", "shift", "a.npy", "b.npy", f"--by={by}", says="--by")
        self.refused("descend", "shift", "a.npy", "b.npy", says="--by")


class Scan(Descend):
    def check(self, array, operation, *options):
        self.save("a.npy", array)
        self.ok("descend", "scan", "a.npy", "b.npy", "--op", operation, "--force", "-q", *options)
        expected = OPERATIONS[operation].accumulate(array.astype(array.dtype.newbyteorder("=")), dtype=array.dtype.newbyteorder("="))
        result = self.load("b.npy")
        self.assertEqual(result.dtype, array.dtype)
        if array.dtype.kind in "fc" and operation in ("sum", "prod"):
            np.testing.assert_allclose(result, expected, 1e-4 if array.itemsize <= array.dtype.alignment * 2 and
                                       array.dtype.char in "fF" else 1e-11)
        else:
            np.testing.assert_array_equal(result, expected, f"{array.dtype} {operation}")

    def test_integers_wrap(self):
        for dtype in INTEGERS:
            for operation in self.sample(OPERATIONS, 3 if LONG else 1):
                self.check(self.noise(1 << 11, dtype) | np.dtype(dtype).type(operation == "prod"), operation)

    def test_any_number(self):
        # In memory the unit tests do any number.
        for count in self.few([0, 1, 3, 5, 127, 1000, 4099, 65537, *(int(n) for n in self.random.integers(0, 1 << 17, 6))], 5):
            for engine in self.sample(["auto", "direct", "mapped"], 2 if LONG else 1):
                options = ["--io", engine]
                if self.random.integers(2):
                    options += ["--processors", 1 << int(self.random.integers(0, max(count - 1, 0).bit_length() + 1))]
                operation = str(self.random.choice(list(OPERATIONS)))
                self.check(self.noise(count, str(self.random.choice(INTEGERS))), operation, *options)
        for dtype in ["<f4", ">f8"]:
            self.check((self.random.random(1001) + 0.5).astype(dtype), "sum")
        array = self.random.random(777) < 0.99
        self.save("a.npy", array)
        self.ok("descend", "scan", "a.npy", "b.npy", "--op", "prod", "--force")
        self.assert_same(self.load("b.npy"), np.logical_and.accumulate(array))
        self.assert_same(self.load("a.npy"), array)

    def test_any_number_larger_than_memory(self):
        for count in self.sample([9_000_001, (1 << 23) + 1], 1):
            array = self.noise(count, "<u8")
            self.save("a.npy", array)
            expected = np.cumsum(array)
            for options in self.few([("--memory", "16MiB", "--io", "direct"), ("--memory", "20MiB", "--io", "mapped"),
                                     ("--memory", "64MiB", "--processors", 4096)], 1):
                plan = self.json("descend", "scan", "a.npy", "b.npy", *options, "--force", "--dry-run")
                self.assertEqual((plan["bytes"], plan["bytes_written"] % (8 * count)), (8 * count, 0))
                self.ok("descend", "scan", "a.npy", "b.npy", *options, "--force", "-q")
                self.assertTrue((self.load("b.npy") == expected).all(), options)

    def test_floats(self):
        for dtype in ["<f4", ">f4", "<f8", ">f8"]:
            for n in self.few([0, 1, 5, 12], 2):
                numbers = self.random.random(1 << n) + 0.5
                cases = [("sum", numbers), ("prod", numbers ** 0.01), ("min", numbers - 1), ("max", numbers - 1)]
                for operation, array in [cases[i] for i in self.sample(range(4), 2 if LONG else 1)]:
                    self.check(array.astype(dtype), operation)

    def test_nan_is_passed_on(self):
        array = self.random.random(1 << 10)
        array[[300, 500]] = np.nan
        array[10] = np.inf
        for operation in ["min", "max"]:
            self.check(array, operation)

    def test_complex(self):
        for dtype in ["<c8", "<c16", ">c16"]:
            numbers = np.exp(2j * np.pi * self.random.random(1 << 10))
            self.check((numbers + 2).astype(dtype), "sum")
            self.check(numbers.astype(dtype), "prod")
            self.save("a.npy", numbers.astype(dtype))
            self.refused("descend", "scan", "a.npy", "c.npy", "--op", "max", says="max")

    def test_bool(self):
        for array in [self.random.random(256) < 0.01, self.random.random(256) < 0.99]:
            self.save("a.npy", array)
            for operation, ufunc in self.few([("sum", np.logical_or), ("prod", np.logical_and), ("min", np.logical_and),
                                              ("max", np.logical_or), ("xor", np.logical_xor)], 3):
                self.ok("descend", "scan", "a.npy", "b.npy", "--op", operation, "--force")
                self.assert_same(self.load("b.npy"), ufunc.accumulate(array), operation)

    def test_one_axis(self):
        array = self.noise((4, 16), "u4")
        self.save("a.npy", array)
        self.ok("descend", "scan", "a.npy", "b.npy")
        self.assert_same(self.load("b.npy"), np.cumsum(array, dtype="u4"))

    def test_other_types(self):
        for dtype in ["S4", "V8", "M8[s]", "f2", "f16", [("x", "f8")]]:
            self.save("a.npy", self.noise(4, dtype))
            self.refused("descend", "scan", "a.npy", "b.npy", says="sum")
        self.save("a.npy", np.zeros(4))
        self.refused("descend", "scan", "a.npy", "b.npy", "--op", "xor", says="xor")
        self.refused("descend", "scan", "a.npy", "b.npy", "--op", "mean", says="mean")

    def test_the_same_bytes_however_it_is_cut(self):
        self.save("a.npy", self.random.random(1 << 15))
        self.ok("descend", "scan", "a.npy", "b.npy")
        for engine in ["direct", "mapped"]:
            for processors in self.few([1, 2, 16, 512, 1 << 15], 2):
                self.ok("descend", "scan", "a.npy", "c.npy", "--force", "--io", engine, "--processors", processors)
                self.assertEqual(self.bytes_of("b.npy"), self.bytes_of("c.npy"), (engine, processors))


class Merge(Descend):
    def halves(self, array):
        half = max(array.size // 2, 1)
        return np.concatenate([np.sort(array[:half]), np.sort(array[half:])])

    def test_numbers(self):
        for dtype in INTEGERS + ["<f4", ">f8", "?"]:
            for n in self.sample([0, 1, 2, 3, 7, 13], 2 if LONG else 1):
                array = self.halves(self.small_integers(1 << n, 0, 100, dtype))
                self.save("a.npy", array)
                self.ok("descend", "merge", "a.npy", "b.npy", "--force", "-q", "--processors", 1 << n // 2)
                self.assert_same(self.load("b.npy"), np.sort(array).astype(array.dtype), (dtype, n))

    def test_unsorted(self):
        for at in [1, 100, 511, 513, 800, 1023]:
            for processors in self.few([1, 4, 32], 1):
                array = np.concatenate([np.arange(512), np.arange(512)]).astype("i4")
                array[at] = -1
                self.save("a.npy", array)
                self.refused("descend", "merge", "a.npy", "b.npy", "--processors", processors, says=[r"a\.npy", rf"\b{at}\b"])
        self.save("a.npy", np.arange(1024)[::-1].copy())
        self.refused("descend", "merge", "a.npy", "b.npy", says=r"\b1\b")

    def test_unsorted_where_parts_meet(self):
        """Each part that is read is sorted."""
        half = 1 << 21
        array = np.tile(np.arange(half, dtype="i4"), 2)
        for options in self.few([(), ("--memory", "16MiB", "--io", "direct")], 1):
            for at in [half // 2, half * 3 // 2]:
                broken = array.copy()
                broken[at:at + half // 2] -= half
                self.save("a.npy", broken)
                self.refused("descend", "merge", "a.npy", "b.npy", *options, says=[r"a\.npy", rf"\b{at}\b"])
            self.save("a.npy", array)
            self.ok("descend", "merge", "a.npy", "b.npy", "-q", *options)
            self.assert_same(self.load("b.npy"), np.sort(array))
            os.unlink(self.path("b.npy"))

    def test_nan(self):
        for at in [0, 3, 4, 7]:
            array = np.arange(8.0)
            array[at] = np.nan
            self.save("a.npy", array)
            self.refused("descend", "merge", "a.npy", "b.npy", says=["NaN", rf"position {at}\b"])

    def test_other_types(self):
        for dtype in ["S4", "c8", "f2"]:
            self.save("a.npy", self.noise(4, dtype))
            self.refused("descend", "merge", "a.npy", "b.npy", says="merge")


class Tridiagonal(Descend):
    def system(self, count, dtype="f8", dominance=1.1):
        a, c, d = (self.random.random(count) * 2 - 1 for _ in range(3))
        b = (np.abs(a) + np.abs(c)) * dominance * np.where(self.random.random(count) < 0.5, -1, 1) + 1e-3
        return [x.astype(dtype) for x in (a, b, c, d)]

    def solve(self, system, *options, extension="npy"):
        names = [f"{name}.{extension}" for name in "abcd"]
        for name, array in zip(names, system):
            self.save(name, array)
        self.ok("descend", "tridiagonal", *names, f"x.{extension}", "--force", "-q", *options)
        return self.load("x.npy") if extension == "npy" else np.fromfile(self.path("x.raw"), system[3].dtype)

    def residual(self, system, x):
        a, b, c, d = (s.astype("f8") for s in system)
        x = x.astype("f8")
        left = b * x
        left[1:] += a[1:] * x[:-1]
        left[:-1] += c[:-1] * x[1:]
        size = np.max(np.abs(b)) * np.max(np.abs(x)) + np.max(np.abs(d))
        return np.max(np.abs(left - d)) / size

    def test_against_elimination(self):
        for n in self.few(range(14), 5):
            for dtype, tolerance in self.sample([("<f8", 1e-10), (">f8", 1e-10), ("<f4", 1e-4)], 1):
                system = self.system(1 << n, dtype)
                x = self.solve(system, "--processors", 1 << n // 2)
                self.assertEqual((x.dtype, x.shape), (np.dtype(dtype), (1 << n,)))
                self.assertLessEqual(self.residual(system, x), tolerance)
                expected = thomas(*system)
                self.assertLessEqual(np.max(np.abs(x - expected)), 1000 * tolerance * np.max(np.abs(expected)), (n, dtype))

    def test_second_differences(self):
        one = np.ones(1 << 12)
        system = [-one, 2 * one, -one, self.random.random(1 << 12)]
        self.assertLessEqual(self.residual(system, self.solve(system)), 1e-10)

    def test_corners_are_not_used(self):
        system = self.system(64)
        expected = self.solve(system)
        for corner in [np.nan, np.inf, 1e300]:
            system[0][0] = system[2][-1] = corner
            self.assert_same(self.solve(system), expected)

    def test_raw_and_cuts(self):
        system = self.system(1 << 12)
        expected = self.solve(system)
        for processors in self.few([1, 2, 16, 1 << 12], 2):
            for engine in ["direct", "mapped"]:
                x = self.solve(system, "--dtype", "f8", "--processors", processors, "--io", engine, extension="raw")
                self.assert_same(x, expected, processors)

    def test_zero_pivots(self):
        for row in [0, 7, 63]:
            system = self.system(64)
            system[1][row] = 0
            for name, array in zip("abcd", system):
                self.save(name + ".npy", array)
            for processors in self.few([1, 8], 1):
                self.refused("descend", "tridiagonal", "a.npy", "b.npy", "c.npy", "d.npy", "x.npy", "--processors", processors,
                             says=["pivot", rf"row {row}\b"])
        one = np.ones(16)  # singular, though no number is zero: rows 0 and 1 alike
        for name, array in zip("abcd", [one, one, one * (np.arange(16) == 0), one]):
            self.save(name + ".npy", array)
        self.refused("descend", "tridiagonal", "a.npy", "b.npy", "c.npy", "d.npy", "x.npy", says=["pivot", r"row 0\b"])

    def test_numbers_that_are_not_finite(self):
        for which, name in enumerate("abcd"):
            for bad in self.few([np.nan, np.inf], 1):
                system = self.system(64)
                system[which][5] = bad
                for other, array in zip("abcd", system):
                    self.save(other + ".npy", array)
                self.refused("descend", "tridiagonal", "a.npy", "b.npy", "c.npy", "d.npy", "x.npy",
                             says=[rf"{name}\.npy", r"row 5\b", "finite"])

    def test_inputs_that_differ(self):
        for name, array in zip("abcd", self.system(64)):
            self.save(name + ".npy", array)
        self.save("short.npy", np.ones(32))
        self.save("single.npy", np.ones(64, "f4"))
        self.save("whole.npy", np.ones(64, "i8"))
        self.refused("descend", "tridiagonal", "a.npy", "b.npy", "short.npy", "d.npy", "x.npy", says=["64", "32"])
        self.refused("descend", "tridiagonal", "a.npy", "b.npy", "single.npy", "d.npy", "x.npy", says="f4")
        self.save("square.npy", np.ones((8, 8)))
        self.refused("descend", "tridiagonal", "a.npy", "b.npy", "square.npy", "d.npy", "x.npy", says=["8, 8", "64"])
        self.refused("descend", "tridiagonal", "a.npy", "b.npy", "whole.npy", "d.npy", "x.npy", says="i8")
        self.refused("descend", "tridiagonal", "a.npy", "b.npy", "c.npy", "missing.npy", "x.npy", says="missing")


class Common(Descend):
    def test_counts(self):
        self.save("a.npy", np.zeros(12))
        self.save("empty.npy", np.zeros(0))
        for command in [("descend", "merge"), ("machine", "descend", "shift", "--by", 1), ("machine", "descend", "scan")]:
            kind = command.index("descend") + 2
            options = [*command[kind:], *(["--schedule", "aspc"] if command[0] == "machine" else [])]
            self.refused(*command[:kind], "a.npy", "b.npy", *options, says=["12", r"\b8\b", r"\b16\b"])
            self.refused(*command[:kind], "empty.npy", "b.npy", *options, says=["0", r"\b1\b"])
        self.refused("descend", "shift", "a.npy", "b.npy", "--by", 1, "--processors", 4, says="--processors: only for 2.n elements")

    def test_processors(self):
        self.save("a.npy", np.zeros(64))
        for processors in ["3", "0", "128", "-2", "x", "4,4"]:
            self.refused("descend", "scan", "a.npy", "b.npy", f"--processors={processors}", says="processors")

    def test_reports_and_plans(self):
        self.save("a.npy", np.ones(1 << 12))
        plan = self.json("descend", "scan", "a.npy", "b.npy", "--dry-run", "--processors", 16)
        text = self.ok("descend", "scan", "a.npy", "b.npy", "--dry-run", "--processors", 16)
        self.assertFalse(os.path.exists(self.path("b.npy")))
        self.assertEqual((plan["passes"], plan["bytes"], plan["bytes_read"], plan["bytes_written"], plan["scratch_bytes"]),
                         (2, 1 << 15, 1 << 16, 1 << 16, 0))
        self.assertRegex(text.stdout, r"16 virtual processors")
        self.assertRegex(text.stdout, rf"= {4 * (12 + 256 - 1)} steps")
        report = self.json("descend", "scan", "a.npy", "b.npy", "--processors", 16, "-q")
        self.assertEqual((report["passes"], report["bytes"], report["bytes_written"]), (2, 1 << 15, 1 << 16))
        self.assertGreaterEqual(report["bytes_read"], 1 << 16)
        self.assertGreater(report["peak_memory"], MiB)
        self.assertEqual(sorted(os.listdir(self.dir)), ["a.npy", "b.npy"])

    def test_outputs(self):
        self.save("a.npy", np.ones(8))
        self.write("b.npy", "old")
        self.refused("descend", "scan", "a.npy", "b.npy", says="exists")
        self.refused("descend", "scan", "a.npy", "a.npy", "--force", says=r"a\.npy")
        self.ok("descend", "scan", "a.npy", "b.npy", "--force")
        self.refused("descend", says="descend")
        self.refused("descend", "sort", "a.npy", "c.npy")


class Scheduled(Descend):
    """Hu's schedules on the machine of virtual processors: the same bytes, and what THEORY counts."""

    def test_every_command(self):
        for _ in range(rounds(2, 5)):
            n = int(self.random.integers(0, 11))
            options = ["--schedule", self.random.choice(["aspc", "pipelined"])]
            if self.random.integers(4):
                options += ["--processors", 1 << int(self.random.integers(0, n + 1))]
            self.save("a.npy", self.random.integers(-99, 99, 1 << n).astype(self.random.choice(["<f8", ">f4", "<i2", "u8"])))
            halves = np.sort(self.random.integers(0, 99, (2, 1 << n >> 1)).astype("i4")).reshape(-1) if n else np.zeros(1)
            self.save("halves.npy", halves)
            for name in "bcd":
                self.save(f"{name}.npy", self.random.random(1 << n) + (4 if name == "b" else 0))
            with self.subTest(n=n, options=options):
                for words in [("shift", "a.npy", "--by", "-5"), ("scan", "a.npy"), ("scan", "a.npy", "--op", "max"),
                              ("merge", "halves.npy"), ("tridiagonal", "c.npy", "b.npy", "c.npy", "d.npy")]:
                    command, inputs = words[0], [word for word in words[1:] if word.endswith(".npy")]
                    rest = list(words[1 + len(inputs):])
                    self.ok("descend", command, *inputs, "sweeps.npy", *rest, "--force", "-q")
                    self.ok("machine", "descend", command, *inputs, "out.npy", *rest, "--force", "-q", *options)
                    self.assert_same(self.load("out.npy"), self.load("sweeps.npy"), words)

    def test_steps(self):
        self.save("a.npy", np.arange(1 << 7, dtype="f8"))
        for processors, steps in [(8, 88), (1, 4 * (7 + 128 - 1)), (128, 28)]:
            report = self.json("machine", "descend", "scan", "a.npy", "b.npy", "--force", "--schedule", "pipelined",
                               "--processors", processors)
            self.assertEqual((report["schedule"], report["processors"], report["steps"]), ("pipelined", processors, steps))
            self.assertEqual(report["bytes_moved"], 8 * report["messages"])
        # Sums need what comes before them only: two links, and one from neighbours; within blocks 1, 2, 4 and 8 elements of the one before.
        report = self.json("machine", "descend", "scan", "a.npy", "b.npy", "--force", "--schedule", "aspc", "--processors", 8)
        self.assertEqual((report["schedule"], report["processors"], report["steps"], report["messages"]), ("aspc", 8, 5 + 4, 40 + 32))
        self.assertEqual(report["bytes_moved"], 16 * 8 * 40 + 8 * 8 * 15)

    def test_times_on_a_network(self):
        """Those of Hu's schedule, if it runs as a whole; and a run's are those that the plan said."""
        for name in "bcd":
            self.save(f"{name}.npy", self.random.random(1 << 9) + (4 if name == "b" else 0))
        solve = ("machine", "descend", "tridiagonal", "c.npy", "b.npy", "c.npy", "d.npy", "x.npy", "--force", "--network-times", "3,1,2,one-port")
        for lg in self.few([0, 3, 6], 2):
            timing = self.json(*solve, "--schedule", "pipelined", "--processors", 1 << lg)["timing"]
            once = self.json("schedule", "descend", "--dimension", lg, "--per-node", 1 << 9 - lg, "--ascend", "--network-times",
                             "3,1,2,one-port", "--message-bytes", 32)["timing"]
            self.assertEqual(timing["runs"], 1)
            for switching in ["wormhole", "store_and_forward"]:
                self.assertEqual(timing[switching], once[switching])
            aspc = (*solve, "--schedule", "aspc", "--processors", 1 << lg)
            self.assertEqual(self.json(*aspc, "--dry-run")["timing"], self.json(*aspc)["timing"])

    def test_a_power_of_two_moves_blocks_once(self):
        """The functions PM2I."""
        array = self.noise(1 << 12, "f8")
        self.save("a.npy", array)
        for b in self.few(range(12), 5):
            sign = int(self.random.choice([1, -1]))
            report = self.json("machine", "descend", "shift", "a.npy", "b.npy", "--force", f"--by={sign << b}", "--schedule", "aspc",
                               "--processors", 64)
            self.assert_same(self.load("b.npy"), np.roll(array, sign << b), (sign, b))
            self.assertEqual((report["passes"], report["steps"]), (1, 1 if b <= 6 else 2))
            self.assertEqual(report["bytes_moved"], 64 * 8 * (1 << b if b < 6 else 64 * report["steps"]))

    def test_plans(self):
        with open(self.path("a.raw"), "wb") as file:
            file.truncate(1 << 31)  # a sparse file
        for schedule in ["aspc", "pipelined"]:
            plan = self.ok("machine", "descend", "scan", "a.raw", "b.raw", "--dtype", "f8", "--memory", "250MiB", "--dry-run", "--schedule", schedule)
            self.assertRegex(plan.stdout, rf"schedule {schedule}: \d+ steps?")
            figures = self.json("machine", "descend", "scan", "a.raw", "b.raw", "--dtype", "f8", "--memory", "250MiB", "--dry-run", "--schedule", schedule)
            self.assertEqual((figures["passes"], figures["bytes_read"], figures["scratch_bytes"]), (2, 1 << 32, 0))
            self.assertLessEqual(figures["planned_memory"], 250 * MiB)

    def test_the_memory_that_a_refusal_names_does(self):
        """Records so large that those on their way are more than the array."""
        array = self.noise(16, f"V{1 << 20}")
        self.save("a.raw", array)
        for schedule in self.few(["aspc", "pipelined"], 1):
            command = ("machine", "descend", "shift", "a.raw", "b.raw", "--dtype", "V1048576", "--by", 11, "--schedule", schedule, "--force")
            line = self.refused(*command, "--memory", "16MiB", says=r"need more memory; \d+ MiB would do")
            enough = int(re.search(r"memory; (\d+) MiB", line)[1])
            self.refused(*command, "--memory", f"{enough - 2}MiB", says="would do")
            for io in self.few(["auto", "direct", "mapped"], 1):
                report = self.json(*command, "--memory", f"{enough}MiB", "--io", io)
                self.assertEqual(self.bytes_of("b.raw"), np.roll(array, 11).tobytes())
                if not SANITIZED:
                    self.assertLessEqual(report["peak_memory"], (enough + 40) * MiB)

    def test_refused(self):
        self.save("a.npy", self.noise(1 << 4, "f8"))
        for schedule in ["aspc", "pipelined"]:
            for processors, says in [(3, "3 virtual processors: a power of two"),
                                     (32, "32 virtual processors are too many for 16 elements")]:
                self.refused("machine", "descend", "shift", "a.npy", "b.npy", "--by", 1, "--schedule", schedule,
                             "--processors", processors, says=says)
        self.save("unsorted.npy", np.array([1, 0, 2, 3], "f8"))
        self.refused("machine", "descend", "merge", "unsorted.npy", "b.npy", "--schedule", "pipelined", says="unsorted.npy")
        with open(self.path("huge.raw"), "wb") as file:
            file.truncate(1 << 32)  # a sparse file
        began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        for schedule in ["aspc", "pipelined"]:
            self.refused("machine", "descend", "scan", "huge.raw", "b.raw", "--dtype", "u1", "--schedule", schedule, "--memory", "16MiB",
                         "--processors", 1 << 16, "--dry-run", says=["65536 processors", "memory", "fit$"])
            self.refused("machine", "descend", "scan", "huge.raw", "b.raw", "--dtype", "u1", "--schedule", schedule,
                         "--processors", 1 << 21, "--dry-run", says=[r"2\^20"])
        if not SANITIZED:
            self.assertLessEqual(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, max(began, 64 << 10))  # KiB


class OnDisk(Case):
    COUNT = 1 << (21 if harness.SANITIZED else 22)

    def test_larger_than_memory(self):
        numbers = self.random.integers(-1000, 1000, self.COUNT).astype("f8")  # sums are exact
        self.save("a.npy", numbers)
        for engine in self.few(["direct", "mapped"], 1):
            report = self.json("descend", "scan", "a.npy", "b.npy", "--memory", "16MiB", "--io", engine, "--force")
            self.assert_same(self.load("b.npy"), np.cumsum(numbers))
            if not harness.SANITIZED:
                self.assertEqual(report["passes"], 2)
                self.assertLess(report["peak_memory"], (16 + 40) * MiB)
        for schedule in self.few(["aspc", "pipelined"], 1):
            report = self.json("machine", "descend", "scan", "a.npy", "c.npy", "--memory", "16MiB", "--schedule", schedule, "--force")
            self.assertEqual(self.bytes_of("b.npy"), self.bytes_of("c.npy"), schedule)
            if not harness.SANITIZED:
                self.assertLess(report["peak_memory"], (16 + 40) * MiB)
        os.unlink(self.path("c.npy"))
        for command in self.few(["shift", "merge"], 1):
            if command == "shift":
                self.ok("descend", "shift", "a.npy", "b.npy", "--memory", "16MiB", "--by", -12345, "--force")
                self.assert_same(self.load("b.npy"), np.roll(numbers, -12345))
            else:
                halves = np.sort(numbers.reshape(2, -1)).reshape(-1)
                self.save("a.npy", halves)
                self.ok("descend", "merge", "a.npy", "b.npy", "--memory", "16MiB", "--force")
                self.assert_same(self.load("b.npy"), np.sort(halves))

    def test_large_systems(self):
        count = self.COUNT // 4
        x = self.random.random(count)
        a, c = (self.random.random(count) for _ in range(2))
        b = a + c + 1
        a[0] = c[-1] = 0
        d = a * np.roll(x, 1) + b * x + c * np.roll(x, -1)
        for name, array in zip("abcd", (a, b, c, d)):
            self.save(name + ".npy", array)
        self.ok("descend", "tridiagonal", "a.npy", "b.npy", "c.npy", "d.npy", "x.npy", "--memory", "16MiB")
        np.testing.assert_allclose(self.load("x.npy"), x, 1e-9, 1e-12)
        self.assertEqual(sorted(os.listdir(self.dir)), ["a.npy", "b.npy", "c.npy", "d.npy", "x.npy"])

    def test_interrupted(self):
        self.save("a.npy", np.ones(self.COUNT))
        for delay in [0.05, 0.2, 0.4]:
            process = subprocess.Popen([harness.XORDER, "descend", "scan", "a.npy", "b.npy", "--memory", "16MiB", "--io", "direct"],
                                       cwd=self.dir, stderr=subprocess.PIPE)
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=harness.TIMEOUT)
            if process.returncode in [0, -signal.SIGINT] and os.path.exists(self.path("b.npy")):  # it was through
                self.assert_same(self.load("b.npy"), np.arange(1, self.COUNT + 1, dtype="f8"))
                os.unlink(self.path("b.npy"))
                continue
            self.assertEqual(process.returncode, -signal.SIGINT)
            # Nothing if there was nothing to stop yet. On a busy disk a note may come first: it seems to spin.
            told = [line for line in stderr.splitlines() if b"seeks are slow" not in line]
            self.assertIn(told, [[], [b"xorder: interrupted"]])
            self.assertEqual(os.listdir(self.dir), ["a.npy"])


if __name__ == "__main__":
    main()
