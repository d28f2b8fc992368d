#!/usr/bin/python3
"""xorder-mpi --parts: each rank has a file with a part of the array; together they make what xorder makes of the whole."""

import json
import os
import resource
import signal
import subprocess
import time
import unittest

import numpy as np

from harness import LONG, MiB, SANITIZED, main, matrix_text, random_columns
from mpi_harness import MpiCase
from sandbox import forbid, seccomp_works
from test_json import documented


class PartsCase(MpiCase):
    def save_parts(self, array, ranks, pattern="part.%r.npy"):
        for rank, part in enumerate(np.split(array, ranks, array.ndim - 1 if array.flags.fnc else 0)):
            self.save(pattern.replace("%r", str(rank)), part)

    def expect_whole(self, ranks, whole, pattern="out.%r.npy"):
        """The parts, one after the other, are the whole file."""
        parts = [self.path(pattern.replace("%r", str(rank))) for rank in range(ranks)]
        if whole.endswith(".npy"):
            parts, expected = [np.load(part) for part in parts], self.load(whole)
            self.assertEqual(len({part.shape for part in parts}), 1)
            self.assert_same(np.concatenate(parts), expected)
        else:
            self.assertTrue(b"".join(self.bytes_of(part) for part in parts) == self.bytes_of(whole))


class Bytes(PartsCase):
    def test_random_maps(self):
        for ranks, n, dtype in self.sample([(16, 20, "u4"), (4, 22, "u2"), (1, 20, "u1"), (2, 21, "V3"), (8, 20, "V16"), (4, 6, "c16"),
                                            (4, 4, "V2097152")], 7 if LONG else 1):
            columns, complement = random_columns(self.random, n), int(self.random.integers(1 << n))
            self.write("A.txt", matrix_text(columns, complement))
            array = self.noise((1 << n,), dtype)
            self.save("whole.npy", array)
            self.save_parts(array, ranks)
            self.ok("permute", "whole.npy", "expected.npy", "--matrix", "A.txt", "--force")
            self.mpi_ok(ranks, "permute", "part.%r.npy", "out.%r.npy", "--parts", "--matrix", "A.txt", "--force",
                        "--memory", "16MiB")
            with self.subTest(ranks=ranks, n=n, dtype=dtype):
                self.expect_whole(ranks, "expected.npy")

    def test_the_other_commands(self):
        array = self.noise((64, 32, 512), "u2")
        self.save("whole.npy", array)
        self.save_parts(array, 4)
        self.save("whole.raw", array)
        self.save_parts(array, 4, "part.%r.raw")
        for command in self.few([("transpose",), ("permute", "--by", "identity"), ("transpose", "--axes", "1,0,2"), ("bitreverse",),
                                 ("bitreverse", "--axis", "0"), ("permute", "--by", "reverse"), ("permute", "--axis", "1", "--by", "gray")], 1):
            name, *options = command
            options += ["--force", "--memory", "16MiB"]
            self.ok(name, "whole.npy", "expected.npy", *options)
            self.mpi_ok(4, name, "part.%r.npy", "out.%r.npy", "--parts", *options)
            self.expect_whole(4, "expected.npy")
        raw = ["--dtype", "u2", "--by", "morton(2)*xor(5)", "--force"]
        self.ok("permute", "whole.raw", "expected.raw", *raw)
        self.mpi_ok(4, "permute", "part.%r.raw", "out.%r.raw", "--parts", *raw)
        self.expect_whole(4, "expected.raw", "out.%r.raw")

    def test_fortran_order(self):
        array = np.asfortranarray(self.noise((128, 64, 256), "u1"))
        self.save("whole.npy", array)
        self.save_parts(array, 2)
        for command in self.few([("transpose",), ("permute", "--by", "bitreverse")], 1):
            name, *options = command
            self.ok(name, "whole.npy", "expected.npy", "--force", *options)
            self.mpi_ok(2, name, "part.%r.npy", "out.%r.npy", "--parts", "--force", *options)
            self.expect_whole(2, "expected.npy")

    def test_the_plan_is_what_runs(self):
        array = self.noise((1 << 23,), "u2")
        self.save("whole.npy", array)
        self.save_parts(array, 4)
        for by in self.few(["bitreverse", "reverse", "rotate(5)", "identity"], 1):
            # A busy disk may be taken for one whose seeks are slow, in one of the two.
            command = ("permute", "part.%r.npy", "out.%r.npy", "--parts", "--by", by, "--memory", "16MiB", "--device", "ssd", "--force", "--json")
            text, _ = self.mpi_ok(4, *command[:-1], "--dry-run")
            plan = json.loads(self.mpi_ok(4, *command, "--dry-run")[0])
            report = json.loads(self.mpi_ok(4, *command)[0])
            self.ok("permute", "whole.npy", "expected.npy", "--by", by, "--force")
            self.expect_whole(4, "expected.npy")
            self.assertEqual(report["bytes"], 16 * MiB)
            traffic = documented()["Report"][1] - {"timing"}  # no --network-times
            self.assertEqual(set(plan), documented()["Plan"][0] | traffic)
            for key in ["bytes", "passes", "bytes_written", "memory", *traffic]:
                self.assertEqual(plan[key], report[key], key)
            self.assertGreaterEqual(report["bytes_read"], plan["bytes_read"])
            self.assertIn(f"{report['messages']} messages of ", text)
            self.assertLessEqual(plan["planned_memory"], 16 * MiB)
            moved = np.arange(1 << 23)  # where they are, by their places in the result
            self.save("places.npy", moved)
            self.ok("permute", "places.npy", "moved.npy", "--by", by, "--force")
            changed = int(np.count_nonzero(self.load("moved.npy") >> 21 != moved >> 21))
            self.assertEqual(report["bytes_moved"], 2 * changed, by)
            if not SANITIZED:
                self.assertLess(report["peak_memory"], (16 + 40) * MiB)

    def test_layouts(self):
        n, p = 18, 2
        array = self.noise((1 << n,), "u4")
        self.save("whole.npy", array)
        self.ok("permute", "whole.npy", "expected.npy", "--by", "gray^-1 * rotate(7) * xor(5)")
        expected, index = self.load("expected.npy"), np.arange(1 << n)
        for layout, f in self.few([("minor", 0), ("major", n - p), ("3", 3), ("9", 9), (str(n - p), n - p)], 1):
            for rank in range(1 << p):
                self.save(f"part.{rank}.npy", array[(index >> f) % (1 << p) == rank])
            self.mpi_ok(1 << p, "permute", "part.%r.npy", "out.%r.npy", "--parts", "--by", "gray^-1 * rotate(7) * xor(5)",
                        "--layout", layout, "--force")
            for rank in range(1 << p):
                self.assert_same(self.load(f"out.{rank}.npy"), expected[(index >> f) % (1 << p) == rank])

    def test_several_tiles_in_two_passes(self):
        array = self.noise((1 << 25,), "u1")
        self.save("whole.raw", array)
        self.save_parts(array, 4, "part.%r.raw")
        options = ("--dtype", "u1", "--by", "gray^-1 * bitreverse", "--memory", "16MiB", "--device", "hdd")
        self.ok("permute", "whole.raw", "expected.raw", *options)
        out, error = self.mpi_ok(4, "permute", "part.%r.raw", "out.%r.raw", "--parts", *options, "--json", "--progress", "bar")
        report = json.loads(out)
        self.assertGreater(report["passes"], 1)
        self.assertEqual(report["bytes_written"], report["passes"] * 32 * MiB)
        self.assertIn(" of 32 MiB ", error)  # one bar, of the whole array
        self.assertNotRegex(error, r"-\d")
        self.expect_whole(4, "expected.raw", "out.%r.raw")
        self.assertFalse([name for name in os.listdir(self.dir) if name.startswith(".")])

    def test_one_report(self):
        self.save_parts(self.noise((1 << 16,), "f8"), 4)
        out, error = self.mpi_ok(4, "permute", "part.%r.npy", "out.%r.npy", "--parts", "--by", "bitreverse")
        self.assertEqual(out, "")
        self.assertRegex(error, r"\Aout\.%r\.npy: 512 KiB in .*, 1 pass, .*\n"
                                r"4 ranks, \d+ rounds?: \d+ messages, 384 KiB sent\n\Z")

    def test_replaces(self):
        self.save_parts(self.noise((1 << 10,), "f8"), 2)
        self.write("out.1.npy", "old")
        self.mpi_ok(2, "permute", "part.%r.npy", "out.%r.npy", "--parts", "--by", "reverse", "--force")
        self.assert_same(self.load("out.1.npy"), self.load("part.0.npy")[::-1].copy())


class Refusals(PartsCase):
    def test_another_matrix_on_one_rank(self):
        self.save_parts(self.noise((4,), "f8"), 2)
        os.mkdir(self.path("other"))
        self.write("matrix.txt", "01\n10\n")
        self.write("other/matrix.txt", "01\n11\n")
        command = ("permute", self.path("part.%r.npy"), self.path("out.%r.npy"), "--parts", "--matrix", "matrix.txt")
        self.mpi_fails((1, [], command), (1, ["--wdir", self.path("other")], command),
                       says="rank 1 on .*: the permutation is not the one of rank 0")

    def refused(self, ranks, *arguments, says):
        return self.mpi_fails((ranks, [], arguments), says=says)

    def test_names(self):
        self.save_parts(self.noise((1 << 10,), "f8"), 2)
        by = ("--parts", "--by", "reverse")
        for names, says in self.few([(("part.0.npy", "out.%r.npy"), "part.0.npy"), (("part.%r.npy", "out.npy"), "out.npy")], 1):
            self.refused(2, "permute", *names, *by, says=f"^xorder-mpi: {says}: .*%r")
        self.refused(4, "permute", "part.%r.npy", "out.%r.npy", *by, says=r"rank [23] on .*: part\.[23]\.npy: cannot be read")
        self.write("out.1.npy", "")
        self.refused(2, "permute", "part.%r.npy", "out.%r.npy", *by, says=r"rank 1 on .*: out\.1\.npy: exists")
        self.refused(2, "permute", "part.%r.npy", "part.%r.npy", *by, "--force", says="is the same file as the input")

    def test_outputs_of_their_own(self):
        self.save_parts(self.noise((1 << 10,), "f8"), 2)
        for link in ["way0", "way1"]:
            os.symlink(".", self.path(link))
        command = ("permute", "part.%r.npy", "--parts", "--by", "reverse", "--force")
        # Both ranks refuse; whichever message comes first is shown.
        self.refused(2, *command[:2], "way%r/out.npy", *command[2:],
                     says="way(0/out.npy: is the same file as the output of rank 1|1/out.npy: is the same file as the output of rank 0)")
        os.symlink("part.1.npy", self.path("out.0.npy"))
        self.refused(2, *command[:2], "out.%r.npy", *command[2:], says=r"rank 0 on .*: out\.0\.npy: is the same file as the input of rank 1")

    def test_parts_that_do_not_go_together(self):
        command = ("permute", "part.%r.npy", "out.%r.npy", "--parts", "--by", "reverse")
        array = self.noise((4, 256), "f8")
        for other in self.few([self.noise((512,), "f8"), self.noise((256,), "f4"), self.noise((1, 256), "f8")], 1):
            self.save_parts(array.reshape(-1), 4)
            self.save("part.2.npy", other)
            self.refused(4, *command, says=r"rank 2 on .*: part\.2\.npy: holds .*, that of rank 0 .*256")

    def test_numbers_of_ranks_and_shapes(self):
        self.save_parts(self.noise((3 << 8,), "f8"), 3)
        for command in self.few([("permute", "--by", "reverse"), ("transpose",)], 1):
            self.refused(3, command[0], "part.%r.npy", "out.%r.npy", "--parts", *command[1:],
                         says="processes must be a power of two, not 3; use 2, or put the array into one file")
        for shape, ranks, command, says in self.few([
                ((3 << 8,), 2, ("permute", "--by", "reverse"), "768, .*512 and 1024"),
                ((8, 24), 4, ("transpose",), "powers of two; other shapes need one file"),
                ((8, 2), 4, ("transpose",), "2 coordinates, too few for 4 parts"), ((4, 0), 2, ("transpose",), "powers of two")], 2):
            self.save_parts(self.noise(shape, "f8"), ranks)
            self.refused(ranks, command[0], "part.%r.npy", "out.%r.npy", "--parts", *command[1:], says=says)

    def test_options(self):
        self.save_parts(self.noise((1 << 10,), "f8"), 2)
        command = ("permute", "part.%r.npy", "out.%r.npy", "--by", "reverse")
        for options, says in self.few([
                ((), "part.%r.npy: cannot be read"), (("--parts", "--io", "mapped"), "mapped|cannot map"), (("--parts", "--trace", "t"), "--trace"),
                (("--layout", "minor"), "--layout.*--parts"), (("--parts", "--layout", "11"), "layout 11: .* bit 0 to 9"),
                (("--parts", "--layout", "-1"), "layout -1: .* bit 0 to 9")], 3):
            self.refused(2, *command, *options, says=says)
        self.mpi_fails((1, [], (*command, "--parts")), (1, [], (*command, "--parts", "--memory", "1GiB")),
                       says="rank 1 was given different arguments")

    def test_a_full_disk(self):
        self.save_parts(self.noise((1 << 22,), "f8"), 2)
        for rank in range(2):
            os.mkdir(self.path(f"disk{rank}"))
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "xorder-test", self.path("disk1")],
                                               stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("cannot mount a small file system here")
        self.addCleanup(subprocess.run, ["umount", self.path("disk1")], check=True)
        self.refused(2, "permute", "part.%r.npy", "disk%r/out.npy", "--parts", "--by", "reverse",
                     says=r"rank 1 on .*: disk1: no room for out\.npy: .*16 MiB.*2 MiB")


@unittest.skipIf(SANITIZED, "takes gigabytes")
class Ends(PartsCase):
    """Runs that end while they move data."""

    def begin(self, part_bytes=256 * MiB, ranks=4, preexec_fn=None):
        """Returns the launcher's process and the ranks' numbers as soon as data are moving."""
        for rank in range(ranks):
            with open(self.path(f"part.{rank}.raw"), "wb") as file:
                file.truncate(part_bytes)
        process = self.start((ranks, [], ("permute", "part.%r.raw", "out.%r.raw", "--parts", "--dtype", "u2",
                                          "--by", "bitreverse", "--memory", "16MiB")), preexec_fn=preexec_fn)
        directory = os.path.realpath(self.dir)

        def making_output():
            """Outputs have no names here; somebody has them open."""
            for name in os.listdir("/proc"):
                try:
                    links = [os.readlink(f"/proc/{name}/fd/{fd}") for fd in os.listdir(f"/proc/{name}/fd")] if name.isdigit() else []
                except OSError:
                    continue
                if any(link.startswith(directory) and link.endswith("(deleted)") for link in links):
                    return True
            return any(name.startswith(".out") for name in os.listdir(self.dir))

        self.until(process, making_output)
        time.sleep(0.3)
        return process, self.ranks_of(process, ranks)

    def inputs(self, ranks=4):
        return [f"part.{rank}.raw" for rank in range(ranks)]

    def test_a_rank_is_killed(self):
        for victim in self.few([0, 2], 1):
            process, ranks = self.begin()
            os.kill(ranks[victim], signal.SIGKILL)
            _, error, _ = self.ended(process)
            self.assertIn(f"process rank {victim} ", error)
            self.assertEqual(sorted(os.listdir(self.dir)), self.inputs())

    def test_interrupted(self):
        process, _ = self.begin()
        process.send_signal(signal.SIGINT)
        self.ended(process)
        self.assertEqual(sorted(os.listdir(self.dir)), self.inputs())

    @unittest.skipUnless(seccomp_works(), "cannot forbid system calls here")
    def test_without_nameless_files(self):
        process, _ = self.begin(preexec_fn=forbid(nameless=True))
        process.send_signal(signal.SIGINT)
        self.ended(process)
        self.assertEqual(sorted(os.listdir(self.dir)), self.inputs())
        process, ranks = self.begin(preexec_fn=forbid(nameless=True))
        for number in [process.pid, *ranks]:
            os.kill(number, signal.SIGKILL)
        process.communicate()
        left = sorted(name for name in os.listdir(self.dir) if name.startswith("."))
        self.assertEqual(len(left), 4)
        self.save_parts(self.noise((1 << 10,), "f8"), 4)
        _, error = self.mpi_ok(4, "permute", "part.%r.npy", "out.%r.raw", "--parts", "--by", "reverse")
        for rank in range(4):
            self.assertIn(f"note: rank {rank}: {left[rank]} is left by a killed run, or by one still writing "
                          f"out.{rank}.raw; to remove it: rm {left[rank]}\n", error)

    def test_the_disk_fails_one_rank(self):
        process, ranks = self.begin()
        resource.prlimit(ranks[1], resource.RLIMIT_FSIZE, (MiB, MiB))  # from now on it cannot write behind this
        _, error, said = self.ended(process)
        self.assertRegex(said, r"^xorder-mpi: rank 1 on .*: (out\.1\.raw|scratch file): write at byte \d+: File too large$")
        self.assertEqual(process.returncode, 1, error)
        self.assertEqual(sorted(os.listdir(self.dir)), self.inputs())

    def test_a_part_is_changed(self):
        process, _ = self.begin(128 * MiB)
        with open(self.path("part.3.raw"), "r+b") as file:
            file.write(b"new")
        out, error, said = self.finish(process)
        self.assertRegex(said, r"rank 3 on .*: part\.3\.raw: the file was changed while it was being read")
        self.assertEqual(process.returncode, 1, error)
        self.assertEqual(sorted(os.listdir(self.dir)), self.inputs())

    def test_one_output_cannot_be_named(self):
        process, _ = self.begin(128 * MiB)
        self.write("out.2.raw", "somebody else's")
        out, error, said = self.finish(process)
        self.assertRegex(said, r"rank 2 on .*: out\.2\.raw: .*exists")
        self.assertEqual(process.returncode, 1, error)
        self.assertEqual(sorted(os.listdir(self.dir)), ["out.2.raw", *self.inputs()])


if __name__ == "__main__":
    main()
