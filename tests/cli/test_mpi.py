#!/usr/bin/python3
"""xorder-mpi: several processes make the file that xorder makes; one that fails ends all, and nothing is left behind.

XORDER_MPI is the program, MPIEXEC the launcher; both are needed, besides what harness.py says.
"""

import json
import os
import re
import resource
import signal
import subprocess
import time
import unittest

import numpy as np

from harness import Case, MiB, SANITIZED, TIMEOUT, main

PROGRAM = os.path.abspath(os.environ.get("XORDER_MPI", "xorder-mpi"))
MPIEXEC = os.environ.get("MPIEXEC", "mpiexec")
ENVIRONMENT = {
    **os.environ, "XDG_CACHE_HOME": os.devnull,
    # As root, with more ranks than processors; not for other MPIs, which ignore it.
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1",
    "ASAN_OPTIONS": "detect_leaks=0",  # OpenMPI never frees some of what it allocates
}


class MpiCase(Case):
    def start(self, *ranks):
        """Each of `ranks` is (number of ranks, words before the program, its arguments)."""
        command = [MPIEXEC]
        for count, before, arguments in ranks:
            command += [":"] if len(command) > 1 else []
            command += ["-n", str(count), *before, PROGRAM, *(str(argument) for argument in arguments)]
        return subprocess.Popen(command, cwd=self.dir, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def finish(self, process):
        """What it has printed, and what xorder-mpi itself has said: one line at most."""
        out, error = process.communicate(timeout=TIMEOUT)
        said = re.findall(r"(?m)^xorder-mpi: (?!note: ).*$", error)
        self.assertLessEqual(len(said), 1, error)
        return out, error, said[0] if said else ""

    def mpi_ok(self, ranks, *arguments):
        process = self.start((ranks, [], arguments))
        out, error, _ = self.finish(process)
        self.assertEqual(process.returncode, 0, f"{ranks} ranks, {arguments}: {error}")
        return out, error

    def mpi_fails(self, *ranks, code=2, says=()):
        before = self.listing()
        process = self.start(*ranks)
        out, error, said = self.finish(process)
        self.assertEqual(process.returncode, code, error)
        self.assertEqual(out, "")
        for pattern in [says] if isinstance(says, str) else says:
            self.assertRegex(said, pattern)
        self.assertEqual(self.listing(), before)
        return said


class Bytes(MpiCase):
    def test_the_same_as_xorder(self):
        self.save("matrix.npy", self.noise((1201, 1503), "f8"))
        self.save("cube.npy", np.asfortranarray(self.noise((61, 40, 173), "V3")))
        self.save("signal.npy", self.noise((1 << 20,), "c16"))
        self.save("bytes.raw", self.noise((1 << 22,)))
        for all_ranks, command in [
                ((1, 2, 3, 8), ("transpose", "matrix.npy", "out.npy")),
                ((2, 4), ("transpose", "cube.npy", "out.raw", "--axes", "1,2,0")),
                ((3,), ("bitreverse", "signal.npy", "out.npy")),
                ((4, 8), ("permute", "signal.npy", "out.npy", "--by", "gray^-1 * bitreverse")),
                ((3,), ("permute", "bytes.raw", "out.raw", "--dtype", "u1", "--by", "morton(2)*xor(77)"))]:
            options = ("--memory", "16MiB", "--force")
            self.ok(*command, *options)
            expected = self.bytes_of(command[2])
            for ranks in all_ranks:
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
        for array in [np.empty((0, 7)), np.array(5.0), self.noise((3, 5), "u1")]:
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
        for arguments, says in [(("transpose", "nowhere.npy", "b.npy"), "^xorder-mpi: nowhere.npy: "),
                                (("transpose", "a.npy", "there.npy"), "^xorder-mpi: there.npy: exists .--force"),
                                (("transpose", "a.npy", "b.npy", "--io", "mapped"), "cannot map"),
                                (("transpose", "a.npy", "b.npy", "--schedule", "mesh"), "--schedule"),
                                (("descend", "a.npy", "b.npy"), "no command")]:
            self.mpi_fails((3, [], arguments), says=says)

    def test_other_arguments(self):
        self.mpi_fails((2, [], ("transpose", "a.npy", "b.npy")), (1, [], ("transpose", "a.npy", "c.npy")),
                       says="rank 2 was given other arguments")

    def test_one_rank_sees_something_else(self):
        command = ("transpose", "a.npy", "b.npy")
        os.mkdir(self.path("other"))
        elsewhere = (1, ["--wdir", self.path("other")], command)
        self.mpi_fails((2, [], command), elsewhere, says="rank 2 on .*: a.npy: cannot be read")
        self.save("other/a.npy", self.noise((300, 500), "f8"))
        self.mpi_fails((2, [], command), elsewhere, says="rank 2 on .*: a.npy: is another file")

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
        until = time.monotonic() + 30
        while not any(name.startswith(".b.raw.") for name in os.listdir(self.dir)):
            self.assertLess(time.monotonic(), until)
            self.assertIsNone(process.poll(), "it is done before it can be stopped")
            time.sleep(0.01)
        time.sleep(0.2)
        numbers = {}
        for name in os.listdir("/proc"):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    found = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", file.read())
                with open(f"/proc/{name}/stat") as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
            except (OSError, ValueError):
                continue
            if found and parent == process.pid:
                numbers[int(found[1])] = int(name)
        self.assertEqual(sorted(numbers), list(range(ranks)))
        self.assertIsNone(process.poll())
        return process, [numbers[rank] for rank in range(ranks)]

    def ended(self, process):
        began = time.monotonic()
        result = self.finish(process)
        self.assertLess(time.monotonic() - began, 10)
        self.assertNotEqual(process.returncode, 0)
        return result

    def test_a_rank_is_killed(self):
        for victim in [0, 2]:
            process, ranks = self.begin(3)
            os.kill(ranks[victim], signal.SIGKILL)
            _, error, _ = self.ended(process)
            self.assertIn(f"process rank {victim} ", error)
            self.assertEqual(os.listdir(self.dir), ["a.raw"])

    def test_interrupted(self):
        for which in [signal.SIGINT, signal.SIGTERM]:
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
        self.assertIn(f"note: {left[0]} is left of a run that was killed", error)
        self.assertIn(f"rm '{left[0]}'", error)


if __name__ == "__main__":
    main()
