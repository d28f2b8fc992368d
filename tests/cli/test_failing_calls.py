#!/usr/bin/python3
"""Calls of the operating system that fail, once or for ever, under every engine: OUT is exact, or one line says why there
is none. It neither hangs nor aborts."""

import errno
import os
import subprocess

from harness import LONG, Case, main, np, rounds, tally

CALLS = {
    "open": [errno.EIO, errno.EINTR, errno.ENOMEM, errno.EMFILE],
    "read": [errno.EIO, errno.EINTR, errno.EAGAIN, errno.ENOMEM, 0],
    "write": [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EINTR, errno.EAGAIN, 0],
    "io_uring_submit,io_uring_submit_and_wait": [errno.EINTR, errno.EAGAIN, errno.EBUSY, errno.ENOMEM],
    "__io_uring_get_cqe": [errno.EINTR, errno.EAGAIN],
    "fallocate,ftruncate": [errno.ENOSPC, errno.EDQUOT, errno.EINTR, errno.EIO, errno.EOPNOTSUPP],
    "mmap": [errno.ENOMEM, errno.EAGAIN],
    "madvise": [errno.ENOMEM, errno.EAGAIN, errno.EINTR, errno.EFAULT],
    "fsync,sync_file_range": [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EINTR],
    "linkat,renameat,renameat2,unlinkat,flock": [errno.EIO, errno.EINTR, errno.ENOSPC, errno.EDQUOT],
    "pthread_create": [errno.EAGAIN],
    "malloc": [errno.ENOMEM],
}
SMALL = ("--threads", 4, "--memory", "16MiB", "-q")
RUNS = [("transpose", "matrix.npy", "out.npy", "--io", "direct"),
        ("transpose", "matrix.npy", "out.npy", "--io", "mapped"),
        ("transpose", "matrix.npy", "out.npy", "--verify"),
        ("transpose", "matrix.npy", "out.npy", "--resumable"),
        ("bitreverse", "numbers.npy", "out.npy"),
        ("transpose", "band.npy", "out.npy", "--banded", "10,10"),
        ("descend", "scan", "numbers.npy", "out.npy"),
        ("descend", "shift", "numbers.npy", "out.npy", "--by", 77, "--resumable"),
        ("machine", "transpose", "matrix.npy", "out.npy", "--schedule", "rounds"),
        ("machine", "transpose", "matrix.npy", "out.npy", "--schedule", "exchange"),
        ("machine", "transpose", "matrix.npy", "out.npy", "--schedule", "mesh"),
        ("machine", "transpose", "band.npy", "out.npy", "--banded", "10,10", "--schedule", "banded"),
        ("machine", "run", "schedule.jsonl", "numbers.npy", "out.npy", "--network", "hypercube:1"),
        ("machine", "descend", "scan", "numbers.npy", "out.npy", "--schedule", "aspc"),
        ("machine", "descend", "shift", "numbers.npy", "out.npy", "--by", 77, "--schedule", "pipelined")]


class FailingCalls(Case):
    in_memory = True
    calls = [calls for calls in CALLS if "io_uring" not in calls]

    def setUp(self):
        super().setUp()
        self.save("matrix.npy", self.noise((64, 128), "f8"))
        self.save("numbers.npy", self.noise((1 << 13,), "i8"))
        self.save("band.npy", self.noise((500, 21), "f8"))
        self.write("schedule.jsonl", '{"step":0,"from":[0,0],"to":[1,0]}\n{"step":0,"from":[1,0],"to":[0,0]}\n')
        self.before = sorted(os.listdir(self.dir))

    def check(self, args, calls, errors, most):
        """A run in which one of the calls fails, or that and all later ones."""
        at = str(self.random.integers(1, most + 1))
        error = int(self.random.choice(errors))
        # EAGAIN for ever is given up after ten seconds (test_environment.py).
        if self.random.integers(2) and (error != errno.EAGAIN or LONG and self.random.integers(10) == 0):
            at += "+"
        with self.subTest(args=args, calls=calls, at=at, error=errno.errorcode.get(error, "short")):
            try:
                result = self.fails_at(at, *args, *SMALL, **{"in": calls, "with": error})
            except subprocess.TimeoutExpired:
                self.fail("it hangs")
            made = sorted(set(os.listdir(self.dir)) - {*self.before, "fail_at.c.so"})
            contents = [self.bytes_of(name) for name in made]
            for name in made:
                os.unlink(self.path(name))
            if result.returncode == 0:
                if "unlinkat" in calls and "--resumable" in args and made[0] == ".out.npy.xorder-journal":
                    del made[0], contents[0]  # it could not be removed; the next command says that OUT is complete
                self.assertEqual(made, ["out.npy"], result.stderr)
                self.assertTrue(contents == [self.expected])
            else:
                self.assertIn(result.returncode, [1, 2], result.stderr)
                self.assertRegex(result.stderr, r"\Axorder: [^\n]+\n\Z")
                # A folder may fail to be synced when OUT has its name.
                self.assertTrue("out.npy" not in made or self.expected in contents)
                if "unlinkat" not in calls and "--resumable" not in args:
                    self.assertLessEqual(set(made), {"out.npy"})

    def test_any_call_may_fail(self):
        for args in RUNS if LONG else self.sample(RUNS, 6):
            self.ok(*args, *SMALL)
            self.expected = self.bytes_of("out.npy")
            os.unlink(self.path("out.npy"))
            for calls in self.few(self.calls, 1):
                counted = self.fails_at(1 << 40, *args, *SMALL, **{"in": calls, "with": 1, "count": 1})
                os.unlink(self.path("out.npy"))
                most = int(counted.stderr.split()[-2])
                if not most:
                    continue
                for _ in range(rounds(2, 20)):
                    self.check(args, calls, CALLS[calls], most)
                tally(rounds(2, 20), f"failing calls of the system: {calls}, once or for ever, for each engine")


class OnDisk(FailingCalls):
    """Files in memory are not read by io_uring."""

    in_memory = False
    calls = [calls for calls in CALLS if "io_uring" in calls]


if __name__ == "__main__":
    main()
