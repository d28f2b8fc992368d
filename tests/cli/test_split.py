#!/usr/bin/python3
"""--split: one file for each index of an axis of the result, all of them whole, or none."""

import itertools
import os
import resource
import signal
import subprocess
import unittest

import sandbox
from harness import Case, LARGE_ENGINES, LONG, MiB, SANITIZED, Stopping, main, np, rounds

FEW = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


class Split(Case):
    def slices(self, whole, axis, name, order="C"):
        """Checks each file against NumPy's slice; removes them."""
        for i in range(whole.shape[axis]):
            part = np.moveaxis(whole, axis, 0)[i:i + 1]
            part = part.reshape(part.shape[1:])
            path = name % i
            if path.endswith(".npy"):
                loaded = self.load(path)
                self.assert_same(np.ascontiguousarray(loaded), np.ascontiguousarray(part), path)
                self.assertTrue(loaded.flags.f_contiguous if order == "F" else loaded.flags.c_contiguous)
            else:
                self.assertTrue(self.bytes_of(path) == part.tobytes(order), path)
            os.unlink(self.path(path))

    def check(self, array, axes, axis, name, *options, order="C", **others):
        self.save("a.npy", array)
        self.ok("transpose", "a.npy", name, f"--axes={','.join(map(str, axes))}", f"--split={axis}", "--out-order", order, "-q", *options, **others)
        self.slices(array.transpose(axes), axis, name, order)
        self.assertEqual(os.listdir(self.dir), ["a.npy"])


class Random(Split):
    def check_random(self, count):
        for case in range(count):
            rank = int(self.random.integers(1, 5))
            shape = [int(self.random.integers(1, 60 if rank < 3 else 12)) for _ in range(rank)]
            if self.random.integers(8) == 0:
                shape[self.random.integers(rank)] = 0
            axes = [int(a) for a in self.random.permutation(rank)]
            axis = int(self.random.integers(rank))
            if shape[axes[axis]] == 0:
                continue
            dtype = str(self.random.choice(["u1", "<u2", ">f8", "V3", "V40", "V4096"]))
            name = str(self.random.choice(["out.%04d.npy", "%d.raw", "100%%.%02d.bin", "x%00d.npy"]))
            options = ["--io", ["auto", "direct", "mapped"][self.random.integers(3)], "--memory", "16MiB"]
            if self.random.integers(2):
                options += ["--npy-header", "compact"]
            axis -= rank * int(self.random.integers(2))
            few = None if SANITIZED or self.random.integers(3) else FEW
            for left in os.listdir(self.dir):
                os.unlink(self.path(left))
            with self.subTest(case=case, shape=shape, axes=axes, axis=axis, dtype=dtype, name=name, options=options, few=few):
                self.check(self.noise(shape, dtype), axes, axis, name, *options, order="CF"[self.random.integers(2)], preexec_fn=few)


class Laws(Random):
    in_memory = True

    def test_random(self):
        self.check_random(rounds(10, 10 if SANITIZED else 25))

    def test_maps_and_reshapes(self):
        array = self.noise((64, 64), "<u4")
        self.save("a.npy", array)
        self.ok("permute", "a.npy", "%d.npy", "--by", "reverse", "--split", "1", "-q")
        self.slices(array.reshape(-1)[::-1].reshape(64, 64), 1, "%d.npy")
        self.ok("bitreverse", "a.npy", "%d.npy", "--axis", "0", "--split", "0", "-q")
        self.slices(array[[int(f"{i:06b}"[::-1], 2) for i in range(64)]], 0, "%d.npy")
        for shape, axis in self.few([((16, 4, 64), 0), ((16, 4, 64), 1), ((2, 32, 8, 8), 2), ((4096,), 0), ((512, 8), 1)], 2):
            self.ok("transpose", "a.npy", "%d.npy", f"--out-shape={','.join(map(str, shape))}", "--split", axis, "-q")
            self.slices(array.T.reshape(shape), axis, "%d.npy")
        odd = self.noise((6, 35))
        self.save("a.npy", odd)
        self.ok("transpose", "a.npy", "%d.npy", "--axes", "0,1", "--out-shape", "3,2,7,5", "--split", 2, "--out-order", "F", "-q")
        self.slices(odd.reshape(3, 2, 7, 5), 2, "%d.npy", "F")
        self.ok("transpose", "a.npy", "%d.npy", "--out-shape", "7,10,3", "--split", 1, "-q")
        self.slices(odd.T.reshape(7, 10, 3), 1, "%d.npy")
        self.refused("transpose", "a.npy", "%d.npy", "--out-shape", "10,21", "--split", 1, says="only split along the first")

    @unittest.skipIf(SANITIZED, "sanitizers need descriptors of their own")
    def test_thousands(self):
        count = 2500 if LONG else 1100
        array = self.noise((count, 20), "<f8")
        self.check(array, (0, 1), 0, "%05d.npy")
        before = self.json("transpose", "a.npy", "b.npy")["peak_memory"]
        report = self.json("transpose", "a.npy", "%05d.npy", "--split", "1", preexec_fn=FEW)
        self.assertEqual(report["output_files"], count)
        self.assertLess(report["peak_memory"], before + 16 * MiB)

    def test_it_is_the_inverse_of_stack(self):
        self.save("a.npy", self.noise((9, 50, 31), "<f4"))
        for axis, order in self.sample([(axis, order) for axis in range(3) for order in "CF"], 2):
            self.ok("transpose", "a.npy", "first.%d.npy", "--split", axis, "--out-order", order, "-q")
            names = [f"first.{i}.npy" for i in range((31, 50, 9)[axis])]
            self.ok("transpose", *names, "second.%d.npy", "--stack", axis, "--axes", "0,1,2", "--split", axis, "--out-order", order, "-q")
            for name in names:
                self.assertEqual(self.bytes_of(name), self.bytes_of(name.replace("first", "second")))
                os.unlink(self.path(name.replace("first", "second")))
            self.ok("transpose", *names, "b.npy", "--stack", axis, "--axes", "0,1,2", "--force", "-q")
            self.assert_same(self.load("b.npy"), np.ascontiguousarray(self.load("a.npy").T))
            for name in names:
                os.unlink(self.path(name))

    def test_fields_and_byte_orders(self):
        records = np.zeros((5, 7), [("x", ">f8"), ("y", "<u2")])
        records["x"], records["y"] = self.random.random((5, 7)), self.random.integers(0, 1 << 16, (5, 7))
        self.save("a.npy", records)
        self.ok("transpose", "a.npy", "x%d.npy", "--field", "x", "--byte-order", "little", "--split", "0", "-q")
        self.slices(records["x"].astype("<f8").T, 0, "x%d.npy")


class OnDisk(Random):
    def test_random(self):
        self.check_random(rounds(3, 6))

    def test_many_tiles(self):
        """Pieces that are whole blocks and pieces that are not, in many tiles and in two passes."""
        cases = [((60, 401, 339), (0, 1, 2), 1), ((512, 32, 1024), (2, 1, 0), 1), ((1 << 14, 700), (1, 0), 0), ((70, 300, 401), (2, 0, 1), 2)]
        every = itertools.product(cases, LARGE_ENGINES, ["ssd", "hdd"])
        for (shape, axes, axis), engine, device in self.sample(every, 5 if LONG else 2):
            with self.subTest(shape=shape, axis=axis, engine=engine, device=device):
                self.check(self.noise(shape), axes, axis, "out.%03d.npy", "--memory", "16MiB", "--io", engine, "--device", device,
                           order="CF"[self.random.integers(2)])

    @unittest.skipIf(SANITIZED, "sanitizers need descriptors of their own")
    def test_descriptors_are_no_limit(self):
        for engine in self.few(["direct", "mapped"], 1):
            self.check(self.noise((500, 20, 99)), (1, 2, 0), 2, "out.%04d.npy", "--io", engine, "--memory", "16MiB", preexec_fn=FEW)


class Refusals(Split):
    in_memory = True

    def setUp(self):
        super().setUp()
        self.save("a.npy", self.noise((4, 6), "<f8"))

    def test_patterns(self):
        for name in self.few(["b.npy", "%d%d.npy", "%3d.npy", "%s.npy", "%.npy", "%d/b.npy", "%%d.npy", "%ld.npy"], 4):
            self.refused("transpose", "a.npy", name, "--split", 0, says="one %d or %0Nd in the name of the file")
        self.refused("transpose", "a.npy", "b.%d.h5", "--split", 0, says="HDF5")
        self.refused("transpose", "a.npy", "x" * 253 + "%04d", "--split", 0, says="the file system allows 255")
        self.refused("transpose", "a.npy", "missing/%d.npy", "--split", 0, says="missing.*No such")

    def test_axes(self):
        self.refused("transpose", "a.npy", "%d.npy", "--split", 2, says="--split: there is no axis 2")
        self.refused("transpose", "a.npy", "%d.npy", "--split", -3, says="--split: there is no axis -3")
        self.refused("transpose", "a.npy", "%d.npy", "--split", "x", says="--split")
        self.save("0.npy", np.zeros((0, 3)))
        self.refused("transpose", "0.npy", "b.%d.npy", "--axes", "0,1", "--split", 0, says="the axis to split has 0 places")
        self.ok("transpose", "0.npy", "b.%d.npy", "--axes", "0,1", "--split", 1)
        self.slices(np.zeros((0, 3)), 1, "b.%d.npy")
        self.save("0.npy", np.array(1.0))
        self.refused("transpose", "0.npy", "b.%d.npy", "--split", 0, says="--split: there is no axis 0")
        with open(self.path("a.raw"), "wb") as file:
            file.truncate(100_001)
        self.refused("transpose", "a.raw", "b.%d.raw", "--dtype", "u1", "--split", 0, says="100001 places.*expected 1 to 100000")

    def test_others_cannot(self):
        self.refused("transpose", "a.npy", "%d.npy", "--split", 0, "--force", says="--force: not with --split")
        self.save("b.npy", self.noise((8, 8), "<f8"))
        self.refused("machine", "transpose", "b.npy", "%d.npy", "--schedule", "exchange", "--split", 0, says="--split: not by virtual processors")
        self.save("ab.npy", self.noise((100, 4), "<f8"))
        self.refused("transpose", "ab.npy", "%d.npy", "--banded", "1,2", "--split", 0, says="--split.*not with --banded")
        self.refused("descend", "scan", "b.npy", "%d.npy", "--split", 0, says="--split")

    def test_files_that_exist(self):
        self.write("out.3.npy", "precious")
        self.refused("transpose", "a.npy", "out.%d.npy", "--split", 0, says=["out.3.npy exists, of the 6 that are to be made", "remove"])
        self.refused("transpose", "a.npy", "out.%d.npy", "--split", 0, "--dry-run", says="out.3.npy exists")
        os.symlink("nowhere", self.path("out.5.npy"))
        says = self.refused("transpose", "a.npy", "out.%d.npy", "--split", 0, says="out.3.npy and 1 more file up to out.5.npy exist")
        self.assertNotIn("--force", says)
        self.ok("transpose", "a.npy", "out.%d.npy", "--split", 0, "--select", ":, :3", "-q")
        self.assertEqual(self.bytes_of("out.3.npy"), b"precious")

    def test_plans(self):
        before = self.listing()
        plan = self.json("transpose", "a.npy", "out.%03d.npy", "--split", 0, "--dry-run")
        self.assertEqual((plan["output_files"], plan["bytes"]), (6, 192))
        self.assertEqual(self.json("transpose", "a.npy", "b.npy", "--dry-run")["output_files"], 1)
        text = self.ok("transpose", "a.npy", "out.%03d.npy", "--split", 0, "--dry-run").stdout
        self.assertIn("output: 6 files of 4.031 KiB, out.000.npy to out.005.npy\n", text)
        self.assertEqual(self.listing(), before)
        self.assertRegex(self.ok("transpose", "a.npy", "out.%03d.npy", "--split", 0).stderr, r"\Aout\.%03d\.npy \(6 files\): 192 B in ")

    def test_traces(self):
        self.ok("transpose", "a.npy", "out.%d.npy", "--split", 0, "--trace", "t", "-q")
        files = self.json("report", "t")["files"]
        self.assertLessEqual({f"{name}.npy" for name in ["a", *(f"out.{i}" for i in range(6))]}, {file["path"] for file in files})


class Failures(Split, Stopping):
    """All of the files, or none; whatever happens."""

    def start(self, output, **options):
        with open(self.path("a.raw"), "wb") as file:
            file.truncate(32 * MiB)
        return self.begun("transpose", "a.raw", output, "--dtype", "V64", "--shape", "8192,64", "--split", 0, "--bwlimit", "100MiB", **options)

    def test_a_name_is_taken_meanwhile(self):
        for few in [None] if SANITIZED else [None, FEW]:
            process = self.start("out.%02d.raw", preexec_fn=few)
            self.write("out.40.raw", "somebody else's")
            code, message = self.end(process)
            self.assertEqual((code, message), (1, "xorder: out.40.raw: someone else created it during the run; the result of this run is discarded\n"))
            self.assertEqual(self.bytes_of("out.40.raw"), b"somebody else's")
            self.assertEqual(sorted(os.listdir(self.dir)), ["a.raw", "out.40.raw"])
            os.unlink(self.path("out.40.raw"))

    def test_the_directory_is_renamed_meanwhile(self):
        os.mkdir(self.path("d"))
        process = self.start("d/%d.raw")
        os.rename(self.path("d"), self.path("e"))
        code, message = self.end(process)
        self.assertEqual((code, message), (1, f"xorder: d/0.raw: is complete, but not there: d was moved during the run; it is {os.path.realpath(self.dir)}/e/0.raw\n"))
        self.assertEqual(len(os.listdir(self.path("e"))), 64)

    def test_interrupted(self):
        for few in [None] if SANITIZED else [None, FEW]:
            process = self.start("%d.raw", preexec_fn=few)
            process.send_signal(signal.SIGINT)
            code, message = self.end(process)
            self.assertEqual((code, message), (-signal.SIGINT, "xorder: interrupted\n"))
            self.assertEqual(os.listdir(self.dir), ["a.raw"])

    @unittest.skipIf(SANITIZED, "sanitizers need descriptors of their own")
    def test_killed(self):
        process = self.start("out.%02d.raw", preexec_fn=FEW)
        process.kill()
        self.end(process)
        left = sorted(set(os.listdir(self.dir)) - {"a.raw"})
        self.assertEqual(len(left), 64)
        said = self.ok("transpose", "a.raw", "out.%02d.raw", "--dtype", "V64", "--shape", "8192,64", "--split", "0", "--dry-run").stderr
        self.assertRegex(said, r"note: \.out\.%02d\.raw\.xorder-\d+-\d+ and 63 files like it are left by killed runs, or by one still writing "
                               r"out\.%02d\.raw; to remove them: rm [^\n]+\*\n")
        subprocess.run(said.partition("to remove them: ")[2].splitlines()[0], shell=True, cwd=self.dir, check=True)
        self.assertEqual(os.listdir(self.dir), ["a.raw"])

    def test_a_full_disk(self):
        os.mkdir(self.path("small"))
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,nr_inodes=50", "xorder-test", self.path("small")],
                                               stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("mounting is not permitted")
        self.addCleanup(subprocess.run, ["umount", self.path("small")], check=False)
        self.save("a.npy", self.noise((100, 1000)))
        for engine in ["direct", "mapped"]:
            self.refused("transpose", "a.npy", "small/%d.npy", "--axes", "0,1", "--split", 0, "--io", engine, says="small.*No space left")
            self.assertEqual(os.listdir(self.path("small")), [])
        self.save("a.npy", self.noise((100, 100_000)))
        self.refused("transpose", "a.npy", "small/%d.npy", "--axes", "0,1", "--split", 0, says=["small: no room for %d.npy", "needs 10409600 bytes"])
        self.save("a.npy", self.noise((20, 100_000)))
        self.ok("transpose", "a.npy", "small/%d.npy", "--axes", "0,1", "--split", 0, "-q")
        self.assertEqual(len(os.listdir(self.path("small"))), 20)

    def test_without_nameless_files(self):
        if not sandbox.seccomp_works():
            self.skipTest("no seccomp")
        self.check(self.noise((20, 3000)), (0, 1), 0, "%d.npy", preexec_fn=sandbox.forbid(nameless=True))


if __name__ == "__main__":
    main()
