#!/usr/bin/python3
"""Signals to a run, and changes of its files, in the middle of it: OUT is complete or as before, and nothing else is left behind."""

import itertools
import os
import signal
import subprocess
import time
import unittest

import harness
from harness import Case, LARGE_ENGINES, LONG, MiB, Stopping, main, rounds, tally, transposed


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
                    code, message = 0, ""
                self.assertEqual([name for name in os.listdir(self.dir) if ".xorder-" in name], [])
                if os.path.exists(self.path("b.raw")):  # also where the signal ends the program when OUT is complete
                    self.assertEqual(self.bytes_of("b.raw"), self.results[0])
                    self.assertEqual(message, "")
                else:
                    self.assertNotEqual(code, 0)
        if LONG:  # a run beside other tests may have to wait for them
            self.assertLess(slowest, 2)
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


class Interruptions(Stopping):
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
