#!/usr/bin/python3
"""Few threads: control groups that allow no more."""

import unittest

from harness import Case, SANITIZED, main, np, transposed
from sandbox import TaskGroup


@unittest.skipIf(SANITIZED, "sanitizers start threads of their own")
class Threads(Case):
    """Containers allow few. As many as there may be do the work, the main thread alone if need be."""

    def limited(self, most, *args):
        try:
            group = TaskGroup(most)
        except OSError as error:
            self.skipTest(f"task cgroups cannot be made here: {error}")
        try:
            return self.ok(*args, "--force", preexec_fn=group.enter).stderr
        finally:
            group.remove()

    def test_few_are_enough(self):
        matrix = self.noise((512, 1024), "f8")
        self.save("matrix.npy", matrix)
        numbers = self.noise((1 << 19,), "i8")
        self.save("numbers.npy", numbers)
        band = self.noise((20_000, 21), "f8")
        self.save("band.npy", band)
        self.ok("transpose", "band.npy", "expected-band.npy", "--banded", "10,10")
        self.ok("bitreverse", "numbers.npy", "expected-bits.npy")
        results = {"matrix": transposed(matrix), "numbers": np.cumsum(numbers), "band": self.load("expected-band.npy"),
                   "bits": self.load("expected-bits.npy")}
        small = ("--memory", "16MiB")
        runs = [("matrix", "transpose", "matrix.npy", "out.npy", *small),
                ("matrix", "transpose", "matrix.npy", "out.npy", *small, "--threads", 64),
                ("matrix", "transpose", "matrix.npy", "out.npy", *small, "--io", "mapped", "--threads", 64),
                ("matrix", "transpose", "matrix.npy", "out.npy", *small, "--io", "direct"),
                ("matrix", "machine", "transpose", "matrix.npy", "out.npy", "--schedule", "rounds"),
                ("bits", "machine", "bitreverse", "numbers.npy", "out.npy", "--schedule", "exchange"),
                ("band", "transpose", "band.npy", "out.npy", "--banded", "10,10"),
                ("band", "transpose", "band.npy", "out.npy", "--banded", "10,10", "--io", "mapped"),
                ("numbers", "descend", "scan", "numbers.npy", "out.npy", *small),
                ("numbers", "machine", "descend", "scan", "numbers.npy", "out.npy", *small, "--schedule", "aspc"),
                ("numbers", "machine", "descend", "scan", "numbers.npy", "out.npy", "--schedule", "pipelined")]
        for expected, *args in runs:
            for most in self.sample([1, 3, 8, 14], 2):
                with self.subTest(most=most, args=args):
                    said = self.limited(most, *args)
                    self.assert_same(self.load("out.npy"), results[expected])
                    if 64 in args:
                        self.assertRegex(said, r"the system allows \d+ of 64 threads")


if __name__ == "__main__":
    main()
