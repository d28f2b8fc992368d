#!/usr/bin/python3
"""Whatever happens, OUT is complete or as before, and nothing else is left behind."""

import itertools
import os
import shutil
import signal
import stat
import subprocess
import time
import unittest

import harness
from harness import Case, LARGE_ENGINES, LONG, MiB, bits_map, main, np, rounds, tally, transposed


class Outputs(Case):
    def setUp(self):
        super().setUp()
        self.array = self.noise((30, 40), "f8")
        self.save("a.npy", self.array)

    def test_existing_output(self):
        self.write("b.npy", "precious")
        self.refused("transpose", "a.npy", "b.npy", says=[r"b\.npy", "exists", "--force"])
        self.assertEqual(self.bytes_of("b.npy"), b"precious")
        self.ok("transpose", "a.npy", "b.npy", "--force")
        self.assert_same(self.load("b.npy"), transposed(self.array))

    def test_permissions(self):
        for engine in self.few(["direct", "mapped"], 1):
            os.chmod(self.path("a.npy"), 0o666)
            for mask in [0o022, 0o077, 0o002]:
                self.ok("transpose", "a.npy", "new.npy", "--io", engine, umask=mask)
                self.assertEqual(stat.S_IMODE(os.stat(self.path("new.npy")).st_mode), 0o666 & ~mask)
                os.unlink(self.path("new.npy"))
            for mode in [0o600, 0o640, 0o444]:  # a private input makes a private output
                os.chmod(self.path("a.npy"), mode)
                self.ok("transpose", "a.npy", "new.npy", "--io", engine, umask=0o002)
                self.assertEqual(stat.S_IMODE(os.stat(self.path("new.npy")).st_mode), 0o600 | mode & 0o066)
                os.unlink(self.path("new.npy"))
            os.chmod(self.path("a.npy"), 0o666)
            for mode in [0o600, 0o644, 0o640, 0o444, 0o777]:
                self.write("b.npy", "old")
                os.chmod(self.path("b.npy"), mode)
                self.ok("transpose", "a.npy", "b.npy", "--force", "--io", engine)
                self.assertEqual(stat.S_IMODE(os.stat(self.path("b.npy")).st_mode), mode)
                os.unlink(self.path("b.npy"))

    def test_only_the_output_appears(self):
        for engine in ["direct", "mapped"]:
            self.ok("transpose", "a.npy", "b.npy", "--force", "--io", engine)
            self.assertEqual(sorted(os.listdir(self.dir)), ["a.npy", "b.npy"])

    def test_what_killed_runs_have_left_is_named(self):
        """But not removed: the process may be in another container, or on another machine."""
        left = ".b.npy.xorder-4194305-0"  # of no process
        self.write(left, "complete but for its name")
        said = self.ok("transpose", "a.npy", "b.npy").stderr
        self.assertIn(f"note: {left} is left by a killed run, or by one still writing b.npy; to remove it: rm {left}\n", said)
        self.assertEqual(self.ok("transpose", "a.npy", "b.npy", "--force", "-q").stderr, "")
        self.assertNotIn("left behind", self.ok("transpose", "a.npy", "c.npy").stderr)
        self.assertEqual(self.bytes_of(left), b"complete but for its name")

    def test_the_input_is_not_written(self):
        os.chmod(self.path("a.npy"), 0o444)
        before = self.listing()
        self.ok("transpose", "a.npy", "b.npy")
        after = self.listing()
        for path, what in before.items():
            if path != os.fsencode(self.dir):
                self.assertEqual(after[path], what)

    def test_same_file(self):
        os.symlink("a.npy", self.path("symbolic.npy"))
        os.link(self.path("a.npy"), self.path("hard.npy"))
        os.mkdir(self.path("folder"))
        os.symlink("..", self.path("folder/up"))
        names = ["a.npy", "./a.npy", "folder/../a.npy", "folder/up/a.npy", "symbolic.npy", "hard.npy", self.path("a.npy")]
        for source in names:
            for target in self.sample(names, 2 if LONG else 1):
                with self.subTest(source=source, target=target):
                    self.refused("transpose", source, target, "--force", says="same file")
        self.assert_same(self.load("a.npy"), self.array)

    def test_text_files_that_were_read(self):
        """A matrix or a profile is an input, too."""
        matrix = "\n".join("".join("01"[i == j] for j in range(16)) for i in range(16))
        profile = '{"points": [[4096, 1e9, 1e9]]}'
        self.save("flat.npy", np.arange(1 << 16))
        self.write("matrix", matrix)
        self.write("profile", profile)
        os.symlink("matrix", self.path("link"))
        command = ("permute", "flat.npy", "--force", "--matrix", "matrix", "--device", "profile")
        for name in ["matrix", "./matrix", "link", "profile"]:
            self.refused(*command[:2], name, *command[2:], says=f"{name}: is the same file as the input")
            self.refused(*command[:2], "out.npy", *command[2:], "--trace", name, says=f"{name}: is the same file as the input")
        for name, content in [("matrix", matrix), ("profile", profile)]:
            with open(self.path(name)) as file:
                self.assertEqual(file.read(), content)

    def test_output_through_symbolic_links(self):
        os.mkdir(self.path("folder"))
        os.symlink("folder/real.npy", self.path("link.npy"))
        os.symlink("folder", self.path("shortcut"))
        self.ok("transpose", "a.npy", "link.npy")  # dangling: makes what it points at
        self.assertTrue(os.path.islink(self.path("link.npy")))
        self.refused("transpose", "a.npy", "link.npy", says="exists")
        self.ok("transpose", "a.npy", "link.npy", "--force")
        self.assertTrue(os.path.islink(self.path("link.npy")))
        self.assert_same(self.load("folder/real.npy"), transposed(self.array))
        self.ok("transpose", "a.npy", "shortcut/other.npy")
        self.assertEqual(sorted(os.listdir(self.path("folder"))), ["other.npy", "real.npy"])

    def test_hard_links_of_an_old_output_keep_its_content(self):
        self.write("b.npy", "precious")
        os.link(self.path("b.npy"), self.path("backup"))
        self.ok("transpose", "a.npy", "b.npy", "--force")
        self.assertEqual(self.bytes_of("backup"), b"precious")

    def test_outputs_that_cannot_be(self):
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("fifo"))
        os.symlink("circle", self.path("circle"))
        for name, says in {"folder": "directory", "folder/": "directory", ".": "directory", "missing/b.npy": "missing.*No such",
                           "a.npy/b.npy": "Not a directory", "fifo": "is a FIFO, not a regular file; name a file",
                           "/dev/null": "is a character device, not a regular file; name a file",
                           "-": "not on pipes", "": "empty", "x" * 256: "255", "circle": "symbolic links"}.items():
            for force in self.few([(), ("--force",)], 1):
                with self.subTest(name=name, force=force):
                    self.refused("transpose", "a.npy", name, *force, says=says)

    def test_open_files_as_outputs(self):
        """Whatever they lead to, it would not receive the data: a new file takes its name at the end."""
        os.symlink("/dev/stdout", self.path("link"))
        self.write("there", "precious")
        for name in ["/dev/stdout", "/dev/stderr", "/dev/fd/1", "/proc/self/fd/1", "link"]:
            commands = [("transpose", "a.npy", name), ("show", "gray", "--bits", 4, "--svg", name)]
            for command, force in self.few(itertools.product(commands, [(), ("--force",)]), 1):
                with self.subTest(command=command, force=force):
                    self.refused(*command, *force, says=["is open already", "name one"])
        for force in [(), ("--force",)]:
            with open(self.path("there"), "ab") as out:
                self.assertEqual(self.run_xorder("transpose", "a.npy", "/dev/stdout", *force, stdout=out).returncode, 2)
            self.assertEqual(self.bytes_of("there"), b"precious")

    def test_read_only_directory(self):
        os.mkdir(self.path("folder"), 0o555)
        options = {}
        if os.geteuid() == 0:  # whom permissions do not stop, and others may not be able to reach the program
            os.chmod(self.dir, 0o755)
            shutil.copy(harness.XORDER, self.path("xorder"))
            self.addCleanup(setattr, harness, "XORDER", harness.XORDER)
            harness.XORDER = self.path("xorder")
            options = {"user": 65534, "group": 65534}
        self.refused("transpose", "a.npy", "folder/b.npy", says=["folder", "Permission denied"], **options)

    def test_scratch_files_lie_beside_the_file_that_a_link_leads_to(self):
        """The link's own folder need not be writable."""
        for name in ["links", "folder"]:
            os.mkdir(self.path(name))
        os.symlink("../folder/c.npy", self.path("links/b.npy"))
        os.chmod(self.path("links"), 0o555)
        self.addCleanup(os.chmod, self.path("links"), 0o755)
        options = {}
        if os.geteuid() == 0:  # who may write everywhere
            os.chmod(self.dir, 0o755)
            os.chmod(self.path("folder"), 0o777)
            shutil.copy(harness.XORDER, self.path("xorder"))
            self.addCleanup(setattr, harness, "XORDER", harness.XORDER)
            harness.XORDER = self.path("xorder")
            options = {"user": 65534, "group": 65534}
        self.ok("transpose", "a.npy", "links/b.npy", **options)
        self.assert_same(self.load("folder/c.npy"), transposed(self.load("a.npy")))
        self.assertEqual(os.listdir(self.path("folder")), ["c.npy"])

    def test_a_full_disk(self):
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
        self.assertRegex(said, r"no room for 64 MiB of scratch files; with them the run would take about [0-9.]+ s instead of [0-9.]+ s")
        upper, lower = (bits_map(range(n - 1, -1, -1)) for n in (12, 13))
        self.assertTrue((self.load("b.npy").reshape(1 << 13, 1 << 12) == array.reshape(1 << 12, 1 << 13)[np.ix_(upper, lower)].T).all())
        # Schedules cannot do without.
        self.refused("machine", "bitreverse", "long.npy", "c.npy", "--memory", "16MiB", "--schedule", "rounds", "--tmpdir",
                     "small", says=["small.*no room.*scratch", "needs 33554432 bytes", "free"])


class Files(Case):
    """With file systems of their own, and runs that take seconds."""

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

    def start(self, output, *options, force=True, source="a.raw", rows=2048):
        """Returns a running process, stopped in the middle of the work."""
        process = subprocess.Popen(  # so that we come first on a busy machine
            ["nice", "-n", "3", harness.XORDER, "transpose", source, output, "--dtype", "V64", "--shape", f"{rows},2048",
             "--memory", "16MiB", "--progress", "bar", *(["--force"] if force else []), *options],
            cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stderr.read(1), b"\r")  # the progress bar
        process.send_signal(signal.SIGSTOP)
        return process

    def end(self, process):
        process.send_signal(signal.SIGCONT)
        errors = process.stderr.read().decode()
        return process.wait(harness.TIMEOUT), errors.split("\r")[-1]


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


@unittest.skipIf(harness.SANITIZED, "the same code as without")
class AnyMoment(Case):
    """What happens to a run of a tenth of a second, or to its input, at any moment of it: OUT is exact or absent."""

    in_memory = not LONG

    def setUp(self):
        super().setUp()
        self.old, self.new = self.noise((512, 512), "V64"), self.noise((512, 512), "V64")
        self.results = [transposed(self.old).tobytes(), transposed(self.new).tobytes()]
        self.write("slow.json", '{"points": [[4096, 2e5, 2e5]]}')
        self.begin().communicate()
        begin = time.monotonic()
        self.begin().communicate()
        self.lasts = time.monotonic() - begin

    def begin(self, *options):
        self.save("a.raw", self.old)
        for name in os.listdir(self.dir):
            if "b.raw" in name:
                os.unlink(self.path(name))
        return subprocess.Popen([harness.XORDER, "transpose", "a.raw", "b.raw", "--dtype", "V64", "--shape", "512,512", "--memory", "16MiB", *options],
                                cwd=self.dir, stderr=subprocess.PIPE, env={**os.environ, "XDG_CACHE_HOME": os.devnull})

    def stopped(self):
        """A run with some engine that has been stopped at some moment, also before it begins or after it has ended."""
        options = [("--io", "direct"), ("--io", "mapped"), ("--resumable", "--device", "slow.json"), ("--device", "hdd")][int(self.random.integers(4))]
        process = self.begin("-q", *options)
        time.sleep(self.random.uniform(0, 1.1 * self.lasts))
        process.send_signal(signal.SIGSTOP)
        return process, options

    def end(self, process):
        process.send_signal(signal.SIGCONT)
        begin = time.monotonic()
        message = process.communicate(timeout=harness.TIMEOUT)[1].decode()
        return process.returncode, message, time.monotonic() - begin

    def check_output(self, code, message):
        """It is exact, of the input as it was or as it is, if the run says so, and otherwise not there."""
        self.assertEqual(os.path.exists(self.path("b.raw")), code == 0, message)
        if code == 0:
            self.assertIn(self.bytes_of("b.raw"), self.results)
        else:
            self.assertIn(code, [1, 2], message)
            self.assertRegex(message, r"\Axorder: [^\n]+\n\Z")

    def test_stopped_for_a_while(self):
        for _ in range(rounds(1, 50)):
            process, options = self.stopped()
            with self.subTest(options=options):
                code, message, _ = self.end(process)
                self.assertEqual((code, self.bytes_of("b.raw")), (0, self.results[0]), message)
        tally(rounds(1, 50), "SIGSTOP, then SIGCONT")

    def test_signals(self):
        slowest = 0
        for _ in range(rounds(2, 150)):
            process, options = self.stopped()
            sent = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP][int(self.random.integers(3))]
            with self.subTest(options=options, sent=sent):
                process.send_signal(sent)
                code, message, took = self.end(process)
                slowest = max(slowest, took)
                self.assertIn(code, [0, -sent], message)
                if ".b.raw.xorder-journal" in os.listdir(self.dir):
                    self.assertIn("--resumable", options)
                    self.ok("resume", "b.raw")
                    code = 0
                self.assertEqual([name for name in os.listdir(self.dir) if ".xorder-" in name], [])
                self.assertEqual(os.path.exists(self.path("b.raw")), code == 0)
                if code == 0:
                    self.assertEqual(self.bytes_of("b.raw"), self.results[0])
        tally(rounds(2, 150), f"SIGINT, SIGTERM and SIGHUP; the slowest was gone after {slowest:.2f} s")

    def check_change(self, what, change):
        for _ in range(rounds(1, 20)):
            process, options = self.stopped()
            with self.subTest(options=options):
                change(os.stat(self.path("a.raw")))
                code, message, _ = self.end(process)
                self.check_output(code, message)
        tally(rounds(1, 20), f"inputs {what} during the run")

    def test_truncated(self):
        self.check_change("cut off", lambda _: os.truncate(self.path("a.raw"), int(self.random.integers(16 * MiB))))

    def test_grown(self):
        self.check_change("grown", lambda _: os.truncate(self.path("a.raw"), 16 * MiB + int(self.random.integers(1, MiB))))

    def test_replaced(self):
        def change(_):
            self.save("c.raw", self.new)
            os.rename(self.path("c.raw"), self.path("a.raw"))

        self.check_change("replaced", change)

    def test_modified(self):
        def change(before):
            with open(self.path("a.raw"), "r+b") as file:
                file.write(self.new.tobytes())
            os.utime(self.path("a.raw"), ns=(before.st_atime_ns, before.st_mtime_ns))

        self.check_change("modified, with their time set back,", change)


class Interruptions(Files):
    """Of runs that take seconds, when they have begun to move data."""

    def setUp(self):
        super().setUp()
        with open(self.path("a.raw"), "wb") as file:
            file.truncate(256 * MiB)  # nobody looks at the content
        self.write("old.raw", "precious")
        self.before = self.listing()

    def check_signal(self, number):
        """The run is terminated by the signal, after it has cleaned up if the signal lets it."""
        for options in [*(("--io", engine) for engine in LARGE_ENGINES), ("--io", "direct", "--device", "hdd")]:
            for output in self.sample(["new.raw", "old.raw"], 1):
                with self.subTest(output=output, options=options):
                    process = self.start(output, *options)
                    process.send_signal(number)
                    begin = time.monotonic()
                    ended, message = self.end(process)
                    self.assertEqual(ended, -number, message)
                    self.assertEqual(self.listing(), self.before)
                    if number != signal.SIGKILL:
                        self.assertEqual(message, "xorder: interrupted\n")
                        self.assertLess(time.monotonic() - begin, 60)

    def test_control_c(self):
        self.check_signal(signal.SIGINT)

    def test_terminate(self):
        self.check_signal(signal.SIGTERM)

    def test_terminate_twice(self):
        """As `timeout` does, whose second signal comes at once."""
        for pause in self.few([0, 0.02, 0.2], 1):
            with self.subTest(pause=pause):
                process = self.start("old.raw")
                process.send_signal(signal.SIGTERM)
                process.send_signal(signal.SIGCONT)
                time.sleep(pause)
                process.send_signal(signal.SIGTERM)
                code, message = self.end(process)
                self.assertEqual((code, message), (-signal.SIGTERM, "xorder: interrupted\n"))
                self.assertEqual(self.listing(), self.before)

    def test_a_shell_stops_its_loop(self):
        """It goes on with the next command if the program caught ctrl-C and then exits as usual, with whatever code."""
        loop = ('for i in 1 2 3; do "$0" transpose a.raw new.raw --dtype V64 --shape 2048,2048 --memory 16MiB --device hdd '
                '--progress bar -f; done; echo went on')
        shell = subprocess.Popen(["bash", "-c", loop, harness.XORDER], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 start_new_session=True)
        self.addCleanup(shell.kill)
        self.assertEqual(shell.stderr.read(1), b"\r")  # the progress bar
        os.killpg(shell.pid, signal.SIGINT)
        out, error = shell.communicate(timeout=harness.TIMEOUT)
        self.assertEqual((shell.returncode, out), (-signal.SIGINT, b""), error)
        self.assertEqual(error.count(b"interrupted"), 1, error)
        self.assertEqual(self.listing(), self.before)

    def test_timeout(self):
        result = subprocess.run(["timeout", "0.3", harness.XORDER, "transpose", "a.raw", "new.raw", "--dtype", "u1", "--shape",
                                 "16384,16384", "--memory", "16MiB", "--device", "hdd"],
                                cwd=self.dir, stderr=subprocess.PIPE, check=False)
        if result.returncode == 0:
            self.skipTest("the run was faster")
        self.assertEqual(result.returncode, 124)
        self.assertIn(result.stderr, [b"xorder: interrupted\n", b""])  # nothing before the program has begun
        self.assertEqual(self.listing(), self.before)

    def test_hang_up(self):
        self.check_signal(signal.SIGHUP)

    def test_kill(self):
        """Nothing is left even then, as the output has no name before it is complete."""
        if not hasattr(os, "O_TMPFILE"):
            self.skipTest("no O_TMPFILE")
        try:
            os.close(os.open(self.dir, os.O_TMPFILE | os.O_RDWR))
        except OSError:
            self.skipTest("this file system has no nameless files")
        self.check_signal(signal.SIGKILL)

    def test_output_made_meanwhile(self):
        process = self.start("new.raw", force=False)
        self.write("new.raw", "somebody else's")
        code, message = self.end(process)
        self.assertEqual(code, 1, message)
        self.assertEqual(message, "xorder: new.raw: someone else created it during the run; the result of this run is discarded: File exists "
                                  "(--force replaces it)\n")
        self.assertEqual(self.bytes_of("new.raw"), b"somebody else's")
        self.assertEqual(sorted(os.listdir(self.dir)), ["a.raw", "new.raw", "old.raw"])

    def check_change(self, change, *options):
        process = self.start("old.raw", *options)
        change()
        code, message = self.end(process)
        self.assertEqual(code, 1, message)
        # Where the mapped file is cut the line comes from a signal handler, behind what is left of the progress bar.
        self.assertRegex(message, r"xorder: [^\n]+\n\Z")
        self.assertEqual(self.bytes_of("old.raw"), b"precious")
        self.assertEqual(sorted(os.listdir(self.dir)), ["a.raw", "old.raw"])
        return message

    def test_input_written_meanwhile(self):
        def change():
            with open(self.path("a.raw"), "r+b") as file:
                file.write(b"x")

        for engine in self.few(LARGE_ENGINES, 1):
            self.assertRegex(self.check_change(change, "--io", engine), r"a\.raw.*changed")

    def test_input_replaced_by_an_older_one_meanwhile(self):
        """cp -p sets the time of the file that it writes into to that of the one that it reads."""
        with open(self.path("b.raw"), "wb") as file:
            file.truncate(256 * MiB)
            file.write(b"x")
        os.utime(self.path("a.raw"), ns=(10**18, 10**18))
        os.utime(self.path("b.raw"), ns=(10**18, 10**18))

        def change():
            subprocess.run(["cp", "-p", "--sparse=always", self.path("b.raw"), self.path("a.raw")], check=True)
            os.unlink(self.path("b.raw"))

        self.assertRegex(self.check_change(change), r"a\.raw: the file was changed .*its ctime.*link, rename")

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

    def test_output_directory_renamed_meanwhile(self):
        os.mkdir(self.path("d"))
        process = self.start("d/b.raw")
        os.rename(self.path("d"), self.path("e"))
        code, message = self.end(process)
        self.assertEqual(code, 1, message)
        self.assertEqual(message, f"xorder: d/b.raw: is complete, but not there: d was moved during the run; it is {os.path.realpath(self.dir)}/e/b.raw\n")
        self.assertEqual(os.stat(self.path("e/b.raw")).st_size, 256 * MiB)

    def test_input_grown_or_cut_meanwhile(self):
        for engine, size in self.few(itertools.product(LARGE_ENGINES, [257 * MiB, 50 * MiB, 0]), 2):
            with self.subTest(engine=engine, size=size):
                os.truncate(self.path("a.raw"), 256 * MiB)
                self.check_change(lambda size=size: os.truncate(self.path("a.raw"), size), "--io", engine)

    def test_output_made_by_another_meanwhile(self):
        """Without --force it must survive; with it, the last one wins."""
        os.unlink(self.path("old.raw"))
        process = subprocess.Popen(
            [harness.XORDER, "transpose", "a.raw", "new.raw", "--dtype", "V64", "--shape", "2048,2048",
             "--memory", "16MiB", "--progress", "bar"], cwd=self.dir, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.assertEqual(process.stderr.read(1), b"\r")
        self.write("new.raw", "of another")
        code, message = self.end(process)
        self.assertEqual(code, 1, message)
        self.assertRegex(message, r"new\.raw.*exists")
        self.assertEqual(self.bytes_of("new.raw"), b"of another")
        self.assertEqual(sorted(os.listdir(self.dir)), ["a.raw", "new.raw"])


if __name__ == "__main__":
    main()
