#!/usr/bin/python3
"""--memory bounds all that xorder uses, page cache included, under the limit of a control group; --bwlimit bounds its
transfers."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import harness
from harness import LONG, Case, MiB, SANITIZED, main, moved, np, rotation, tally, transposed
from sandbox import MemoryGroup, forbid, seccomp_works


class Limited(Case):
    def limited(self, limit, *args, before=None):
        """Runs it in a group of its own. Returns its report and the most memory that the group has used."""
        try:
            group = MemoryGroup(limit)
        except OSError as error:
            self.skipTest(f"memory cgroups cannot be made here: {error}")
        try:
            def prepare():
                group.enter()
                if before:
                    before()

            report = self.json(*args, preexec_fn=prepare)
            return report, group.peak()
        finally:
            group.remove()

    def evict(self, name):
        """So that reading the file is on the account of who reads it."""
        file = os.open(self.path(name), os.O_RDONLY)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


@unittest.skipIf(SANITIZED, "sanitizers take memory of their own")
class Memory(Limited):
    program = 40 * MiB  # what may come on top of --memory
    large = ""  # a directory

    def an_eighth_of_a_gibibyte(self):
        """One file for all tests, linked into this test's directory."""
        if not self.large:
            Memory.large = tempfile.mkdtemp(prefix="xorder-test-")
            self.addClassCleanup(shutil.rmtree, self.large, ignore_errors=True)
            block = self.noise((1 << 20,), "V8")
            with open(os.path.join(self.large, "a.raw"), "wb") as file:
                for shift in range(16):
                    file.write(np.roll(block, shift).tobytes())
        if not os.path.exists(self.path("a.raw")):
            os.link(os.path.join(self.large, "a.raw"), self.path("a.raw"))

    def check(self, limit, *options, **more):
        """128 MiB through 64 MiB."""
        self.an_eighth_of_a_gibibyte()
        self.evict("a.raw")
        report, peak = self.limited(limit, "transpose", "a.raw", "b.raw", "--dtype", "f8", "--shape", "4096,4096",
                                    "--memory", "64MiB", *options, **more)
        source = np.memmap(self.path("a.raw"), "V8", "r", shape=(4096, 4096))
        target = np.memmap(self.path("b.raw"), "V8", "r", shape=(4096, 4096))
        for begin in range(0, 4096, 1024):
            self.assertTrue(source[:, begin:begin + 1024].T.tobytes() == target[begin:begin + 1024].tobytes())
        self.assertLessEqual(report["peak_memory"], 64 * MiB + self.program)
        self.assertLessEqual(peak, 64 * MiB + self.program, report)

    def test_the_bound_is_kept(self):
        """Also without a limit near by that would make the kernel clean up."""
        for limit in [120 * MiB, 1024 * MiB]:
            for engine in self.few(["direct", "mapped"], 1):
                with self.subTest(limit=limit, engine=engine):
                    self.check(limit, "--io", engine, "--force")

    @unittest.skipUnless(seccomp_works(), "seccomp filters cannot be installed here")
    def test_buffered(self):
        self.check(1024 * MiB, "--io", "direct", before=forbid(o_direct=True))

    def test_several_passes(self):
        array = self.noise((1 << 23,), "f8")
        self.save("a.npy", array)
        self.evict("a.npy")
        report, peak = self.limited(200 * MiB, "permute", "a.npy", "b.npy", "--by", "transpose(11,12)", "--memory", "16MiB",
                                    "--device", "hdd", "--io", "direct", "--force")
        self.assertGreater(report["passes"], 1)
        self.assertLessEqual(peak, 16 * MiB + self.program, report)
        self.assert_same(self.load("b.npy"), moved(array, rotation(23, 11)))

    def test_odd_shapes(self):
        array = self.noise((2999, 3001), "f8")
        self.save("a.npy", array)
        for engine in self.few(["direct", "mapped"], 1):
            with self.subTest(engine=engine):
                self.evict("a.npy")
                report, peak = self.limited(200 * MiB, "transpose", "a.npy", "b.npy", "--memory", "16MiB", "--io", engine, "--force")
                self.assertLessEqual(peak, 16 * MiB + self.program, report)

    def test_many_virtual_processors(self):
        """What they take themselves is counted, and so are the messages between them, and mapped blocks with their page tables."""
        array = self.noise((2048, 2048), "f8")
        self.save("a.npy", array)
        schedules = [("rounds", "--processors", 256), ("exchange", "--processors", 32), ("mesh", "--processors", 256), ("rounds",), ("mesh",)]
        for options in self.few(schedules, 2):
            io = self.random.choice(["direct", "mapped"])
            with self.subTest(options=options, io=io):
                self.evict("a.npy")
                report, peak = self.limited(200 * MiB, "machine", "transpose", "a.npy", "b.npy", "--memory", "16MiB", "--force", "--io",
                                            io, "--schedule", *options)
                self.assertLessEqual(peak, 16 * MiB + self.program, report)

    def test_mapped_stripes(self):
        """Faults map pages around them, of ranges that belong to the stripe before."""
        self.an_eighth_of_a_gibibyte()
        self.evict("a.raw")
        report, peak = self.limited(1024 * MiB, "machine", "transpose", "a.raw", "b.raw", "--dtype", "f8", "--shape", "4096,4096",
                                    "--memory", "64MiB", "--io", "mapped", "--schedule", "exchange", "--processors", 16)
        self.assertLessEqual(peak, 64 * MiB + self.program, report)

    def test_descend_by_virtual_processors(self):
        """64 or 128 MiB of numbers, where the sweeps need blocks, and the processors' messages memory of their own."""
        numbers = np.tile(self.noise((1 << 20,), "i8"), 16 if LONG else 8)
        self.save("a.npy", numbers)
        expected = np.cumsum(numbers)
        for memory, schedule, io in self.sample([(16, "aspc", "direct"), (16, "pipelined", "mapped"), (64, "aspc", "mapped"),
                                                 (64, "pipelined", "direct")], 2 if LONG else 1):
            with self.subTest(memory=memory, schedule=schedule, io=io):
                self.evict("a.npy")
                report, peak = self.limited(200 * MiB, "machine", "descend", "scan", "a.npy", "b.npy", "--memory", f"{memory}MiB",
                                            "--force", "--schedule", schedule, "--io", io)
                self.assertLessEqual(peak, memory * MiB + self.program, report)
                self.assert_same(self.load("b.npy"), expected)

    def test_partial_pages(self):
        """Blocks that are written alone pass the page cache, and do not stay there."""
        runs = [("u1", (16384, 8192), ("--banded", "4095,4096")), ("f8", (2999, 3001), ("--schedule", "mesh", "--processors", 64)),
                ("u1", (8000, 8000), ("--schedule", "mesh", "--processors", 64)), ("u1", (8000, 8000), ()), ("V3", (1 << 23,), ("--schedule", "exchange"))]
        for dtype, shape, options in self.few(runs, 2):
            command = (["machine"] if "--schedule" in options else []) + ["bitreverse" if len(shape) == 1 else "transpose"]
            self.save("a.npy", self.noise(shape, dtype))
            for io in self.sample(["direct", "mapped"], 1):
                with self.subTest(options=options, io=io):
                    self.evict("a.npy")
                    report, peak = self.limited(200 * MiB, *command, "a.npy", "b.npy", "--memory", "16MiB", "--force", "--io", io, *options)
                    self.assertLessEqual(peak, 26 * MiB, report)
                    if "--banded" in options and io == "direct":  # columns are cut, so that runs are whole blocks
                        self.assertEqual(report["writes"], report["bytes"] // 4096)

    def test_an_output_in_memory_counts(self):
        if not os.access("/dev/shm", os.W_OK):
            self.skipTest("no /dev/shm")
        there = tempfile.mkdtemp(prefix="xorder-test-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, there, ignore_errors=True)
        self.save("a.npy", self.noise((2048, 4096), "f8"))
        out = os.path.join(there, "b.npy")
        report, _ = self.limited(120 * MiB, "transpose", "a.npy", out)
        self.assertEqual(report["memory"], 16 * MiB)
        self.assert_same(np.load(out), np.load(self.path("a.npy")).T)
        os.remove(out)
        try:
            group = MemoryGroup(48 * MiB)
        except OSError as error:
            self.skipTest(f"memory cgroups cannot be made here: {error}")
        self.addCleanup(group.remove)
        self.refused("transpose", "a.npy", out, says=r"no room for b.npy: needs \d+ bytes \(64 MiB\)", preexec_fn=group.enter)

    def test_the_default_respects_the_group(self):
        self.save("a.npy", self.noise((3000, 3000), "f8"))
        for options in [(), ("--memory", "10GiB")]:  # and more than there is is cut down
            self.evict("a.npy")
            report, peak = self.limited(80 * MiB, "transpose", "a.npy", "b.npy", "--force", *options)
            self.assertLessEqual(report["memory"], 40 * MiB)
            self.assertLessEqual(peak, 80 * MiB)


@unittest.skipUnless(LONG, "the long form")
class EightTimes(Limited):
    """768 MiB or more in a group of 96 MiB: exact, and nothing is killed."""

    def made(self, *args, name="a.raw", out="b.raw"):
        """Runs it with the memory that it chooses."""
        self.evict(name)
        report, peak = self.limited(96 * MiB, *args)
        self.assertLessEqual(peak, 96 * MiB, report)
        tally(1, "eight times as much data as the control group allows memory, 96 MiB")
        return self.path(out)

    def test_reorderings(self):
        self.write_noise("a.raw")
        for *words, options in [
                ("transpose", "12288,8192", "f8", ["--io", "direct"]), ("transpose", "12288,8192", "f8", ["--io", "mapped"]),
                ("transpose", "12288,8192", "f8", ["--resumable"]), ("transpose", "12288,8192", "f8", ["--verify"]),
                ("bitreverse", 1 << 27, "V6", []), ("bitreverse", 1 << 27, "V6", ["--device", "hdd"]),
                *(("machine transpose", "8192,8192", "V12", ["--schedule", s, "--io", io])
                  for s in ("rounds", "exchange", "mesh") for io in ("direct", "mapped"))]:
            command, shape, dtype = words
            with self.subTest(words=words, options=options):
                layout = ["--dtype", dtype, "--shape", shape]
                self.made(*command.split(), "a.raw", "b.raw", *layout, *options, "--force")
                self.ok("verify", command.split()[-1], "a.raw", "b.raw", *layout)

    def test_in_place(self):
        self.write_noise("a.raw")
        layout = ["--dtype", "V12", "--shape", "8192,8192"]
        shutil.copy(self.path("a.raw"), self.path("b.raw"))
        self.made("transpose", "--in-place", "b.raw", *layout, name="b.raw")
        self.ok("verify", "transpose", "a.raw", "b.raw", *layout)

    def test_bands_and_computations(self):
        """The same as with more memory. Computations by virtual processors take 2^n elements."""
        self.write_noise("a.raw", 1056 * MiB)
        band = ["transpose", "a.raw", "--dtype", "f8", "--shape", f"{96 * MiB // 21},21", "--banded", "10,10", "--ignore-rest"]
        scan = ["descend", "scan", "a.raw", "--dtype", "i8", "--shape", 128 * MiB, "--ignore-rest"]
        for words, runs in [(band, [["--io", "direct"], ["--io", "mapped"]]),
                            (scan, [["--io", "direct"], ["--io", "mapped"], ["--schedule", "aspc"], ["--schedule", "pipelined"]])]:
            self.ok(*words, "c.raw", "--force", "--memory", "1GiB")
            for options in runs:
                with self.subTest(words=words, options=options):
                    self.made(*(["machine"] if "--schedule" in options else []), *words, "b.raw", *options, "--force")
                    self.assertEqual(subprocess.run(["cmp", self.path("b.raw"), self.path("c.raw")], check=False).returncode, 0)

    def write_noise(self, name, size=768 * MiB):
        block = self.noise((48 * MiB,)).tobytes()
        with open(self.path(name), "wb") as file:
            for shift in range(size // len(block)):
                file.write(block[shift:] + block[:shift])


class Bandwidth(Case):
    def test_no_faster(self):
        array = self.noise((1 << 10, 1 << 10), "V8")
        self.save("a.raw", array)
        for options in [["--io", "direct"], ["--io", "mapped"], ["--trace", "run.trace"], ["--resumable"]]:
            with self.subTest(options=options):
                report = self.json("transpose", "a.raw", "b.raw", "--dtype", "V8", "--shape", "1024,1024", "--bwlimit", "32MiB",
                                   "--force", *options)
                self.assert_same(np.fromfile(self.path("b.raw"), "V8").reshape(1024, 1024), transposed(array))
                # The last transfer begins when the time of all before it is over; it has at most 2 MiB.
                self.assertGreater(report["seconds"], 14 / 32)

    def test_the_plan_says_how_long_it_takes(self):
        self.save("a.npy", self.noise((1 << 20,)))
        said = self.ok("transpose", "a.npy", "b.npy", "--bwlimit", "4KiB", "--dry-run").stderr
        self.assertIn("at 4 KiB/s its transfers of 2 MiB take 8.53 min", said)
        self.refused("transpose", "a.npy", "b.npy", "--bwlimit", "0", says="--bwlimit: ")

    def test_control_c_does_not_wait(self):
        self.save("a.npy", self.noise((1 << 22,), "V8"))
        for options in [["--io", "direct"], ["--io", "mapped"]]:
            before = self.listing()
            run = subprocess.Popen([harness.XORDER, "transpose", "a.npy", "b.npy", "--bwlimit", "1KiB", *options],
                                   cwd=self.dir, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
            self.addCleanup(run.wait)
            self.addCleanup(run.kill)
            self.assertIn(b"take 18.2 h", run.stderr.readline())
            time.sleep(0.2)
            run.send_signal(signal.SIGINT)
            self.assertTrue(run.communicate(timeout=harness.TIMEOUT)[1].endswith(b"xorder: interrupted\n"))
            self.assertEqual(run.returncode, -signal.SIGINT)
            self.assertEqual(self.listing(), before)


if __name__ == "__main__":
    main()
