#!/usr/bin/python3
"""xorder-mpi: several processes make the file that xorder makes; one that fails ends all, and nothing is left behind."""

import json
import os
import re
import resource
import signal
import unittest

import numpy as np

from harness import MiB, SANITIZED, main
from mpi_harness import MpiCase


class Bytes(MpiCase):
    def test_the_same_as_xorder(self):
        self.save("matrix.npy", self.noise((1201, 1503), "f8"))
        self.save("cube.npy", np.asfortranarray(self.noise((61, 40, 173), "V3")))
        self.save("signal.npy", self.noise((1 << 20,), "c16"))
        self.save("bytes.raw", self.noise((1 << 22,)))
        for all_ranks, command in self.few([
                ((1, 2, 3, 8), ("transpose", "matrix.npy", "out.npy")),
                ((2, 4), ("transpose", "cube.npy", "out.raw", "--axes", "1,2,0")),
                ((3,), ("bitreverse", "signal.npy", "out.npy")),
                ((4, 8), ("permute", "signal.npy", "out.npy", "--by", "gray^-1 * bitreverse")),
                ((3,), ("permute", "bytes.raw", "out.raw", "--dtype", "u1", "--by", "morton(2)*xor(77)"))], 2):
            options = ("--memory", "16MiB", "--force")
            self.ok(*command, *options)
            expected = self.bytes_of(command[2])
            for ranks in self.few(all_ranks, 1):
                os.unlink(self.path(command[2]))
                self.mpi_ok(ranks, *command, *options)
                self.assertTrue(self.bytes_of(command[2]) == expected, f"{ranks} ranks: {command}")
        self.assertFalse([name for name in os.listdir(self.dir) if name.startswith(".")])

    def test_several_passes(self):
        self.save("a.raw", self.noise((8192, 4096)))
        options = ("--dtype", "u1", "--shape", "8192,4096", "--memory", "16MiB", "--device", "hdd")
        self.ok("transpose", "a.raw", "b.raw", *options)
        out, error = self.mpi_ok(3, "transpose", "a.raw", "c.raw", *options, "--json", "--progress", "bar")
        self.assertTrue(self.bytes_of("b.raw") == self.bytes_of("c.raw"))
        report = json.loads(out)
        self.assertGreater(report["passes"], 1)
        self.assertEqual(report["bytes_written"], 32 * MiB * report["passes"])
        self.assertGreaterEqual(report["bytes_read"], 32 * MiB * report["passes"])
        self.assertIn(" of 32 MiB ", error)  # one bar, of the whole file
        self.assertEqual(sorted(os.listdir(self.dir)), ["a.raw", "b.raw", "c.raw"])

    def test_nothing_to_do(self):
        for array in self.few([np.empty((0, 7)), np.array(5.0), self.noise((3, 5), "u1")], 1):
            self.save("a.npy", array)
            self.mpi_ok(4, "transpose", "a.npy", "b.npy", "--force", "-q")
            self.assert_same(self.load("b.npy"), np.ascontiguousarray(array.T).reshape(array.T.shape))

    def test_one_report(self):
        self.save("a.npy", self.noise((300, 400), "f8"))
        out, error = self.mpi_ok(3, "transpose", "a.npy", "b.npy")
        self.assertEqual(out, "")
        self.assertRegex(error, r"\Ab\.npy: 937\.5 KiB in .*\n\Z")
        out, error = self.mpi_ok(3, "transpose", "a.npy", "b.npy", "--dry-run", "--json", "--force")
        self.assertEqual((json.loads(out)["bytes"], error), (960000, ""))
        out, error = self.mpi_ok(2, "--version")
        self.assertRegex(out, r"\A\d+\.\d+\.\d+\n\Z")


class Failures(MpiCase):
    def setUp(self):
        super().setUp()
        self.save("a.npy", self.noise((300, 400), "f8"))

    def test_all_say_the_same(self):
        self.write("there.npy", "")
        for arguments, says in self.few([(("transpose", "nowhere.npy", "b.npy"), "^xorder-mpi: nowhere.npy: "),
                                         (("transpose", "a.npy", "there.npy"), "^xorder-mpi: there.npy: exists .--force"),
                                         (("transpose", "a.npy", "b.npy", "--io", "mapped"), "cannot map"),
                                         (("transpose", "a.npy", "b.npy", "--schedule", "mesh"), "--schedule"),
                                         (("descend", "a.npy", "b.npy"), "is not a command")], 2):
            self.mpi_fails((3, [], arguments), says=says)

    def test_other_arguments(self):
        self.mpi_fails((2, [], ("transpose", "a.npy", "b.npy")), (1, [], ("transpose", "a.npy", "c.npy")),
                       says="rank 2 was given different arguments")

    def test_one_rank_sees_something_else(self):
        command = ("transpose", "a.npy", "b.npy")
        os.mkdir(self.path("other"))
        elsewhere = (1, ["--wdir", self.path("other")], command)
        self.mpi_fails((2, [], command), elsewhere, says="rank 2 on .*: a.npy: cannot be read")
        self.save("other/a.npy", self.noise((300, 500), "f8"))
        self.mpi_fails((2, [], command), elsewhere, says="rank 2 on .*: a.npy: is not the file")

    def test_one_rank_has_another_matrix(self):
        """One file of this name in each rank's working directory, but not the same one."""
        os.mkdir(self.path("other"))
        self.write("matrix.txt", "01\n10\n")
        self.write("other/matrix.txt", "01\n11\n")
        self.save("four.npy", self.noise((4,), "f8"))
        command = ("permute", self.path("four.npy"), self.path("b.npy"), "--matrix", "matrix.txt")
        elsewhere = (1, ["--wdir", self.path("other")], command)
        self.mpi_fails((2, [], command), elsewhere, says="rank 2 on .*: the permutation is not the one of rank 0")

    def test_one_rank_may_not_write_so_much(self):
        with open(self.path("a.raw"), "wb") as file:
            file.truncate(64 * MiB)
        command = ("transpose", "a.raw", "b.raw", "--dtype", "u1", "--shape", "8192,8192")
        limited = ["bash", "-c", 'ulimit -f 32768; exec "$0" "$@"']  # 32 MiB
        self.mpi_fails((2, [], command), (1, limited, command), says="rank 2 on .*ulimit -f")


@unittest.skipIf(SANITIZED, "takes gigabytes")
class Ends(MpiCase):
    """Runs that end while they move data."""

    def begin(self, ranks):
        """Returns the launcher's process and the ranks' numbers as soon as the output is under way."""
        if not os.path.exists(self.path("a.raw")):
            with open(self.path("a.raw"), "wb") as file:
                file.truncate(2048 * MiB)
        process = self.start((ranks, [], ("transpose", "a.raw", "b.raw", "--dtype", "u2", "--shape", "32768,32768",
                                          "--memory", "16MiB")))
        self.until(process, lambda: any(name.startswith(".b.raw.") for name in os.listdir(self.dir)))
        numbers = self.ranks_of(process, ranks)
        # Ranks write only after all of them have opened the scratch file, which then has no name any more.
        self.until(process, lambda: all(self.written(number) > MiB for number in numbers))
        return process, numbers

    @staticmethod
    def written(process):
        """The bytes that a process has had written to disks."""
        with open(f"/proc/{process}/io", encoding="ascii") as file:
            return int(re.search(r"(?m)^write_bytes: (\d+)$", file.read())[1])

    def test_a_rank_is_killed(self):
        for victim in self.few([0, 2], 1):
            process, ranks = self.begin(3)
            os.kill(ranks[victim], signal.SIGKILL)
            _, error, _ = self.ended(process)
            self.assertIn(f"process rank {victim} ", error)
            self.assertEqual(os.listdir(self.dir), ["a.raw"])

    def test_interrupted(self):
        for which in self.few([signal.SIGINT, signal.SIGTERM], 1):
            process, _ = self.begin(2)
            process.send_signal(which)
            self.ended(process)
            self.assertEqual(os.listdir(self.dir), ["a.raw"])

    def test_the_disk_fails_one_rank(self):
        process, ranks = self.begin(3)
        resource.prlimit(ranks[1], resource.RLIMIT_FSIZE, (MiB, MiB))  # from now on it cannot write behind this
        _, error, said = self.ended(process)
        self.assertRegex(said, r"^xorder-mpi: rank 1 on .*: (b\.raw|scratch file): write at byte \d+: File too large$")
        self.assertEqual(process.returncode, 1, error)
        self.assertEqual(os.listdir(self.dir), ["a.raw"])

    def test_all_are_killed(self):
        process, ranks = self.begin(2)
        for number in [process.pid, *ranks]:
            os.kill(number, signal.SIGKILL)
        process.communicate()
        left = [name for name in os.listdir(self.dir) if name != "a.raw"]
        self.assertEqual(len(left), 1)
        self.save("a.npy", self.noise((30, 40), "f8"))
        _, error = self.mpi_ok(2, "transpose", "a.npy", "b.raw")
        self.assertIn(f"note: {left[0]} is left by a killed run, or by one still writing", error)
        self.assertIn(f"rm {left[0]}", error)
        _, error = self.mpi_ok(2, "transpose", "a.npy", "b.raw", "--force", "-q")
        self.assertNotIn("is left by a killed run", error)


if __name__ == "__main__":
    main()
