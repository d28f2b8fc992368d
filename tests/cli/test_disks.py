#!/usr/bin/python3
"""Small file systems, full ones, and disks that fail: OUT is complete or as before, and one line says why."""

import os
import shutil
import subprocess
import time
import unittest

import harness
from harness import LARGE_ENGINES, LONG, MiB, Stopping, bits_map, main, np, rounds, tally, transposed


class Files(Stopping):
    """With file systems of their own."""

    def mounted(self, kind, size, *options):
        """Mounts a new one as the folder of its name; returns the bytes that are free."""
        image, folder = self.path(kind + ".image"), self.path(kind)
        if os.path.exists(image):
            subprocess.run(["umount", folder], check=True)
            os.unlink(image)
        with open(image, "wb") as file:
            file.truncate(size)
        make = shutil.which("mkfs." + kind, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if make is None:
            self.skipTest(f"no mkfs.{kind} here")
        if not os.path.exists(folder):
            os.mkdir(folder)
            self.addCleanup(subprocess.run, ["umount", folder], check=False)
        for command in [[make, "-q", *options, image], ["mount", "-o", "loop", image, folder]]:
            if os.geteuid() != 0 or subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
                self.skipTest("mounting is not permitted, or there is no " + kind)
        status = os.statvfs(folder)
        return status.f_bavail * status.f_frsize


@unittest.skipIf(harness.SANITIZED, "the system decides, not our code")
class SmallFileSystems(Files):
    """Made in a file: of some MiB, so that outputs about as large as what is free fail in all ways."""

    parts = [0.15, 0.6, 0.98, 0.995, 0.999, 1.02]

    def check(self, kind, size, *options, parts):
        """Returns the exit codes of the mapped runs."""
        free = self.mounted(kind, size, *options)
        codes = set()
        for part in parts:
            shape = (40, int(free * part) // (40 << 10))
            array = self.noise(shape, "V1024")
            self.save("a.raw", array)
            for io in ["direct", "mapped"]:
                command = ("transpose", "a.raw", f"{kind}/b.raw", "--dtype", "V1024", "--shape", f"40,{shape[1]}",
                           "--memory", "16MiB", "--io", io)
                # A file system that has been full may not have all of its room again at once.
                self.assertEqual(self.mounted(kind, size, *options), free)
                left = os.listdir(self.path(kind))
                with self.subTest(kind=kind, part=part, io=io):
                    needed = array.nbytes
                    if part < 1:
                        needed += self.json(*command, "--dry-run")["scratch_bytes"]
                    result = self.run_xorder(*command, "-q")
                    if io == "mapped":
                        codes.add(result.returncode)
                    if needed > free:
                        self.assertEqual(result.returncode, 2, result.stderr)
                    if needed < free / 2:
                        self.assertEqual(result.returncode, 0, result.stderr)
                    if result.returncode == 0:
                        self.assertTrue(self.bytes_of(f"{kind}/b.raw") == transposed(array).tobytes())
                        left.append("b.raw")
                    else:
                        says = {1: "No space left on device|the disk failed or is full", 2: f"no room for ((?:{kind}/)?b.raw|scratch)"}
                        self.assertRegex(result.stderr, rf"\Axorder: [^\n]*({says[result.returncode]})[^\n]*\n\Z")
                    self.assertEqual(sorted(os.listdir(self.path(kind))), sorted(left))
                    tally(1, f"outputs about as large as what is free, {kind}")
        return codes

    def test_a_full_disk(self):
        """A tmpfs, which says beforehand how much room it has."""
        os.mkdir(self.path("small"))
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "xorder-test", self.path("small")],
                                               stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("mounting is not permitted")
        self.addCleanup(subprocess.run, ["umount", self.path("small")], check=False)
        self.save("big.npy", self.noise((1000, 1000), "f4"))
        for engine in ["direct", "mapped"]:
            self.refused("transpose", "big.npy", "small/b.npy", "--io", engine,
                         says=["small.*no room", r"needs 400\d{4} bytes", "2097152 bytes.* free"])
            planned = self.ok("transpose", "big.npy", "small/b.npy", "--io", engine, "--dry-run")
            self.assertRegex(planned.stderr, r"\Axorder: note: [^\n]*small: no room for b\.npy: needs 400\d{4} bytes[^\n]*\n\Z")
            self.assertIn("pass", planned.stdout)
            self.assertEqual(os.listdir(self.path("small")), [])
        self.write("small/b.npy", "precious")
        self.refused("transpose", "big.npy", "small/b.npy", "--force", says="no room")
        self.refused("transpose", "big.npy", "small/b.npy", "--dry-run", says="exists")
        # A plan of three passes needs two scratch files, for which there is no room. One pass needs none.
        self.write("device", '{"points": [[4096, 100, 100], [16777216, 1e9, 1e9]]}')
        array = self.noise((1 << 25,), "u1")
        self.save("long.npy", array)
        command = ("bitreverse", "long.npy", "b.npy", "--memory", "16MiB", "--device", "device")
        self.assertEqual(self.json(*command, "--dry-run")["scratch_bytes"], 2 << 25)
        self.assertEqual(self.json(*command, "--dry-run", "--tmpdir", "small")["scratch_bytes"], 0)
        said = self.ok(*command, "--tmpdir", "small").stderr
        self.assertRegex(said, r"no room for 64 MiB of scratch files; with them the run would take about [0-9.]+ (s|min|h|days) instead of [0-9.]+ (s|min|h|days)")
        upper, lower = (bits_map(range(n - 1, -1, -1)) for n in (12, 13))
        self.assertTrue((self.load("b.npy").reshape(1 << 13, 1 << 12) == array.reshape(1 << 12, 1 << 13)[np.ix_(upper, lower)].T).all())
        # Schedules cannot do without.
        self.refused("machine", "bitreverse", "long.npy", "c.npy", "--memory", "16MiB", "--schedule", "rounds", "--tmpdir",
                     "small", says=["small.*no room.*scratch", "needs 33554432 bytes", "free"])

    def test_btrfs(self):
        """It reserves room for each page once more when a mapping of it is written to."""
        self.assertIn(1, self.check("btrfs", 128 * MiB, parts=self.parts))

    def test_ext2(self):
        """It reserves nothing. So the scratch file must not count on the room that OUT will need."""
        self.check("ext2", 64 * MiB, "-m", "0", parts=self.few(self.parts, 2))

    @unittest.skipUnless(LONG, "the long form")
    def test_ext4(self):
        self.check("ext4", 64 * MiB, "-m", "0", parts=self.parts)

    @unittest.skipUnless(LONG, "the long form")
    def test_xfs(self):
        self.check("xfs", 320 * MiB, parts=self.parts)


@unittest.skipIf(harness.SANITIZED, "the system decides, not our code")
class Disks(Files):
    """File systems that fill up, and disks that fail, while a run goes on."""

    def check_filled(self, kind, size, times=1):
        """Somebody else takes all room. OUT is exact or absent."""
        array = self.noise((128, 2048), "V64")
        self.save("a.raw", array)
        for how in self.sample([("--io", "direct"), ("--io", "mapped"), ("--resumable",), ("--device", "hdd")], 4 if LONG else 1):
            for _ in range(times):
                with self.subTest(kind=kind, how=how):
                    self.mounted(kind, size)
                    process = self.start(f"{kind}/b.raw", *how, rows=128)
                    with open(self.path(f"{kind}/full"), "wb") as file:
                        at = 0
                        for bytes_ in [64 * MiB, 4 * MiB, 256 << 10, 16 << 10, 4096]:
                            try:
                                while True:
                                    os.posix_fallocate(file.fileno(), at, bytes_)
                                    at += bytes_
                            except OSError:
                                pass
                    code, message = self.end(process)
                    if code == 0:
                        self.assertTrue(self.bytes_of(f"{kind}/b.raw") == transposed(array).tobytes())
                    else:
                        self.assertIn(code, [1, 2], message)
                        self.assertRegex(message, r"xorder: [^\n]*(No space left on device|the disk failed or is full|no room for)[^\n]*\n\Z")
                        self.assertFalse(os.path.exists(self.path(f"{kind}/b.raw")))
                    tally(1, f"a file system that fills up during the run, {kind}")

    def test_ext4_filled_meanwhile(self):
        self.check_filled("ext4", 64 * MiB, rounds(1, 5))

    @unittest.skipUnless(LONG, "the long form: on a full btrfs each write takes a fraction of a second")
    def test_others_filled_meanwhile(self):
        self.check_filled("xfs", 320 * MiB, rounds(1, 5))
        self.check_filled("btrfs", 128 * MiB)

    def test_a_disk_that_ends_under_the_input(self):
        """The file below a loop device is cut off: reads fail, and mapped pages are not there."""
        for engine in LARGE_ENGINES if LONG else self.sample(LARGE_ENGINES, 1):
            for _ in range(rounds(1, 10)):
                self.mounted("ext4", 96 * MiB)
                with open(self.path("ext4/a.raw"), "wb") as file:
                    file.write(self.noise((64 * MiB,)).tobytes())
                    os.fsync(file.fileno())
                self.write("old.raw", "precious")
                process = self.start("old.raw", "--io", engine, source="ext4/a.raw", rows=512)
                with open(self.path("ext4/a.raw"), "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                os.truncate(self.path("ext4.image"), int(self.random.integers(1, 60)) * MiB)
                code, message = self.end(process)
                self.assertEqual(code, 1, message)
                self.assertRegex(message, r"xorder: [^\n]*(Input/output error|cut|disk)[^\n]*\n\Z")
                self.assertEqual(self.bytes_of("old.raw"), b"precious")
        tally(rounds(1, 10) * len(LARGE_ENGINES), "a loop device that ends under the input (EIO, SIGBUS)")

    def test_times_in_whole_seconds(self):
        """As in ext4 with inodes of 128 bytes. A change within the second in which the file was made would not be seen."""
        self.mounted("ext4", 512 * MiB, "-I", "128")
        source = self.path("ext4/a.raw")
        time.sleep(1 - time.time() % 1)
        with open(source, "wb") as file:
            file.truncate(256 * MiB)
        before = os.stat(source)
        self.assertEqual(before.st_ctime_ns % 10**9, 0)
        process = self.start("new.raw", source="ext4/a.raw")
        with open(source, "r+b") as file:
            file.write(b"x")
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        code, message = self.end(process)
        self.assertEqual(code, 1, message)
        self.assertRegex(message, r"a\.raw: the file was changed")


if __name__ == "__main__":
    main()
