#!/usr/bin/python3
"""Unfriendly surroundings: closed and full standard streams, resource limits, strange names, no /proc."""

import errno
import itertools
import json
import os
import resource
import shutil
import signal
import subprocess
import unittest

import harness
from harness import Case, LONG, MiB, SANITIZED, main, rounds, tally, transposed
from sandbox import deny, seccomp_works


class Environment(Case):
    def setUp(self):
        super().setUp()
        self.array = self.noise((200, 300), "f8")
        self.save("a.npy", self.array)

    def made(self, name="b.npy"):
        self.assert_same(self.load(name), transposed(self.array))
        os.unlink(self.path(name))
        self.assertEqual([n for n in os.listdir(self.dir) if "xorder" in n], [])

    def shell(self, script):
        """Runs it with $XORDER; returns its exit code."""
        return subprocess.run(["sh", "-c", script], cwd=self.dir, env={**os.environ, "XORDER": harness.XORDER},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=harness.TIMEOUT, check=False).returncode

    def test_standard_input_is_not_touched(self):
        self.assertEqual(self.shell("$XORDER transpose a.npy b.npy <&-"), 0)
        self.made()

    def test_nowhere_to_complain(self):
        """A run that has done what it should has succeeded, also if nobody can read so."""
        for streams, options in self.few(itertools.product(["2>&-", "2>/dev/full", ">&- 2>&-", "<&- >&- 2>&-"],
                                                           ["", "--progress bar", "-q"]), 4):
            with self.subTest(streams=streams, options=options):
                self.assertEqual(self.shell(f"$XORDER transpose a.npy b.npy {options} {streams}"), 0)
                self.made()
                self.assertEqual(self.shell(f"$XORDER transpose missing.npy b.npy {options} {streams}"), 2)

    def test_notes_are_printed_unless_quiet(self):
        if os.statvfs(self.dir).f_fsid == 0:
            self.skipTest("this file system has no id, so its profile is named after its source")
        cache = self.path("cache")
        os.makedirs(os.path.join(cache, "xorder"))
        self.write(f"cache/xorder/disk-{os.statvfs(self.dir).f_fsid:016x}.json", "{")
        env = {**os.environ, "XDG_CACHE_HOME": cache}
        for dry_run in [[], ["--dry-run"]]:
            command = ("transpose", "a.npy", "b.npy", "--force", *dry_run)
            self.assertRegex(self.ok(*command, env=env).stderr, "note: .*not a device profile")
            self.assertEqual(self.ok(*command, "-q", env=env).stderr, "")

    def test_reports_that_cannot_be_written(self):
        for command in ["transpose a.npy c.npy --dry-run", "info a.npy",
                        "info a.npy --json", "show gray --bits 4", "show gray --bits 4 --json", "--help", "transpose --help", "--version"]:
            for stream in self.few([">&-", ">/dev/full"], 1):
                with self.subTest(command=command, stream=stream):
                    self.assertEqual(self.shell(f"$XORDER {command} {stream}"), 1)

    def test_a_report_that_is_lost_has_an_exit_code_of_its_own(self):
        for stream in [">&-", ">/dev/full"]:
            with self.subTest(stream=stream):
                self.assertEqual(self.shell(f"$XORDER transpose a.npy b.npy --json {stream} 2>errors"), 3)
                self.assertRegex(self.bytes_of("errors").decode(),
                                 r"\Axorder: b\.npy: is complete, but the report could not be written[^\n]*\n\Z")
                os.unlink(self.path("errors"))
                self.made()

    def test_pipes_that_nobody_reads(self):
        """What is complete is said to be so; whoever wants only a part of a text, like head, hears nothing."""
        reader, closed = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, closed)
        lost = self.run_xorder("transpose", "a.npy", "b.npy", "--json", stdout=closed)
        self.assertEqual((lost.returncode, lost.stderr),
                         (3, "xorder: b.npy: is complete, but the report could not be written to standard output\n"))
        self.made()
        self.assertEqual(self.run_xorder("transpose", "a.npy", "b.npy", "--progress", "bar", stderr=closed).returncode, 0)
        self.made()
        for command in [("transpose", "--help"), ("info", "a.npy"), ("transpose", "a.npy", "b.npy", "--dry-run")]:
            cut = self.run_xorder(*command, stdout=closed)
            self.assertEqual((cut.returncode, cut.stderr), (-signal.SIGPIPE, ""))

    def test_whatever_a_command_has_made(self):
        """Pages and drawings are files like OUT: they are complete, and only the report is lost."""
        self.ok("transpose", "a.npy", "b.npy", "--trace", "trace", "--force")
        self.ok("bench", "cache", "--size", "64KiB", "--rounds", 1, "--json", "results", "-q")
        os.unlink(self.path("b.npy"))
        for command, made in self.few([
                ("report trace --html made", ["made"]), ("report trace --html made --json", ["made"]),
                ("schedule mesh --size 4 --svg made --json", ["made"]), ("schedule mesh --size 4 --messages made --json", ["made"]),
                ("schedule mesh --size 4 --svg made --messages also --json", ["made", "also"]),
                ("show gray --bits 4 --svg made --json", ["made"]), ("bench compare results results --html made", ["made"]),
                ("bench cache --size 64KiB --rounds 1 --html made", ["made"]),
                ("bench cache --size 64KiB --rounds 1 --json made --html also", ["made", "also"])], 4):
            self.assertEqual(self.shell(f"$XORDER {command}"), 0)
            # Benchmarks say when they began, and how long they took.
            expected = [self.bytes_of(name) if "bench" not in command else b"" for name in made]
            for name in made:
                os.unlink(self.path(name))
            for stream in self.few([">&-", ">/dev/full"], 1):
                with self.subTest(command=command, stream=stream):
                    self.assertEqual(self.shell(f"$XORDER {command} {stream} 2>errors"), 3)
                    names = " and ".join(made) + (": is" if len(made) == 1 else ": are")
                    self.assertRegex(self.bytes_of("errors").decode(),
                                     rf"\Axorder: {names} complete, but the report could not be written[^\n]*\n\Z")
                    for name, content in zip(made, expected):
                        self.assertTrue(self.bytes_of(name).startswith(content) and self.bytes_of(name))
                        os.unlink(self.path(name))

    def test_both_files_or_none(self):
        self.write("there", "precious")
        self.refused("schedule", "mesh", "--size", 4, "--svg", "made", "--messages", "there", says="there: exists")

    def test_control_characters_in_names(self):
        """They are shown, not obeyed."""
        for name in self.few(["\x1b[31mred", "bell\a", "c1\u009b2J", "delete\x7f", "two\nlines", b"eight-bit-\x9b2J"], 2):
            path = os.path.join(os.fsencode(self.dir), name if isinstance(name, bytes) else name.encode())
            with self.subTest(name=name):
                for args in [("transpose", name, "b.npy"), ("info", name), ("show", "--matrix", name), (name,),
                             ("transpose", "a.npy", name, "--" + str(name))]:
                    line = self.refused(*args).encode(errors="surrogateescape")[:-1]
                    self.assertNotRegex(line, rb"[\x00-\x1f\x7f]|\xc2[\x80-\x9f]|[^\xc2]\x9b")
                shutil.copy(self.path("a.npy"), path)
                for text in [self.ok("transpose", name, "b.npy", "--force").stderr, self.ok("info", name).stdout,
                             self.ok("transpose", "a.npy", os.fsdecode(path) + ".npy", "--force").stderr]:
                    self.assertNotRegex(text.encode(errors="surrogateescape"), rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
                os.unlink(path)
                os.unlink(path + b".npy")

    def test_file_size_limit(self):
        limits = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        self.refused("transpose", "a.npy", "b.npy", says=["needs 484096 bytes", "100000 bytes"], preexec_fn=limits)
        tally(1, "file sizes allowed (RLIMIT_FSIZE)")

    @unittest.skipIf(SANITIZED, "sanitizers need descriptors of their own")
    def test_few_file_descriptors(self):
        """Any number either does or is said to be too small."""
        for number in self.few([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 20], 3):
            for engine in ["direct", "mapped"]:
                with self.subTest(number=number, engine=engine):
                    result = self.run_xorder("transpose", "a.npy", "b.npy", "--io", engine, "-q",
                                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (number, number)))
                    self.assertNotIn("forbidden", result.stderr)
                    if result.returncode == 0:
                        self.made()
                    elif result.returncode != 127:  # not even the libraries could be loaded
                        self.assertIn(result.returncode, [1, 2], result.stderr)
                        self.assertIn("Too many open files", result.stderr)
                        self.assertEqual(os.listdir(self.dir), ["a.npy"])
                tally(1, "numbers of open files allowed (RLIMIT_NOFILE)")

    @unittest.skipIf(SANITIZED, "sanitizers need descriptors of their own")
    def test_fewest_file_descriptors(self):
        result = self.run_xorder("transpose", "a.npy", "b.npy", timeout=10,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)))
        self.assertIn(result.returncode, [1, 2, 127])

    @unittest.skipIf(SANITIZED, "sanitizers reserve address space of their own")
    def test_little_address_space(self):
        for size in self.few([25, 30, 40, 50, 100, 200, 400], 3):
            for engine in ["direct", "mapped"]:
                with self.subTest(size=size, engine=engine):
                    result = self.run_xorder(
                        "transpose", "a.npy", "b.npy", "--io", engine, "--memory", "16MiB", "-q", timeout=10,
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size * MiB, size * MiB)))
                    if result.returncode == 0:
                        self.made()
                    else:
                        self.assertEqual(result.returncode, 1, result.stderr)
                        self.assertRegex(result.stderr, r"\Axorder: [^\n]+\n\Z")
                        self.assertEqual(os.listdir(self.dir), ["a.npy"])
                tally(1, "amounts of address space allowed (RLIMIT_AS)")

    @unittest.skipIf(SANITIZED, "sanitizers reserve address space of their own")
    def test_fewer_processors_are_advised_where_there_are_some(self):
        self.save("large.npy", self.noise((512, 1024), "f8"))
        advice = {}
        for options in [(), ("--schedule", "rounds", "--processors", "16")]:
            errors, wanted = [], "try a smaller --memory" + (", or fewer --processors\n" if options else "\n")
            for size in self.random.permutation([25, 30, 35, 40, 50, 60, 80, 100]).tolist():
                if not LONG and any("out of memory" in error and error.endswith(wanted) for error in errors):
                    break
                limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (size * MiB, size * MiB))
                errors.append(self.run_xorder(*(["machine"] if options else []), "transpose", "large.npy", "b.npy", "--memory", "64MiB", "-f", *options, preexec_fn=limit).stderr)
            advice[options] = {error.split("; ")[-1] for error in errors if "out of memory" in error}
        if not all(advice.values()):
            self.skipTest("no such limit lets the program begin and its buffers fail")
        self.assertEqual(advice.pop(()), {"try a smaller --memory\n"})
        # A library's thread does not know the options.
        self.assertIn("try a smaller --memory, or fewer --processors\n", *advice.values())

    @unittest.skipIf(SANITIZED, "sanitizers have threads of their own")
    @unittest.skipIf(os.geteuid() != 0, "needs a user who has no other processes")
    def test_few_threads(self):
        os.chmod(self.dir, 0o777)
        shutil.copy(harness.XORDER, self.path("program"))
        self.addCleanup(setattr, harness, "XORDER", harness.XORDER)
        harness.XORDER = self.path("program")
        for number in self.few(range(1, 9), 2):
            for engine in ["direct", "mapped"]:
                with self.subTest(number=number, engine=engine):

                    def limit(number=number):
                        resource.setrlimit(resource.RLIMIT_NPROC, (number, number))
                        os.setuid(54321)

                    self.ok("transpose", "a.npy", "b.npy", "--io", engine, "-q", preexec_fn=limit)
                    self.made()
                tally(1, "numbers of threads allowed (RLIMIT_NPROC)")

    @unittest.skipIf(os.geteuid() != 0, "needs two users")
    def test_what_belongs_to_others_in_a_sticky_directory(self):
        os.chmod(self.dir, 0o1777)
        self.write("b.npy", b"old")
        shutil.copy(harness.XORDER, self.path("program"))
        self.addCleanup(setattr, harness, "XORDER", harness.XORDER)
        harness.XORDER = self.path("program")
        self.refused("transpose", "a.npy", "b.npy", "--force", "--dry-run", preexec_fn=lambda: os.setuid(54321),
                     says="belongs to another user")
        self.assertEqual(self.bytes_of("b.npy"), b"old")

    @unittest.skipIf(SANITIZED, "sanitizers need more")
    def test_little_stack(self):
        """With less than 32 KiB the dynamic linker may crash before the program begins."""
        self.assertEqual(self.shell("ulimit -s 32; $XORDER transpose a.npy b.npy 2>errors"), 2)
        self.assertIn("the stack is too small", self.bytes_of("errors").decode())
        os.unlink(self.path("errors"))
        self.assertEqual(self.shell("ulimit -s 128; $XORDER transpose a.npy b.npy"), 0)
        self.made()

    def test_strange_names(self):
        for name in self.few(["with blanks", "\u00fcn\u00ef \u2603", "line\nbreak", "quote's\"", "-dash", "tab\t", "\x1b[31m", "a" * 255,
                              "*?[", "{0}", "%s", "#$&;|<>"], 4):
            with self.subTest(name=name):
                target = "./" + name if name.startswith("-") else name
                self.ok("transpose", "a.npy", target)
                self.refused("transpose", "a.npy", target, says="exists")
                self.assertEqual(self.json("info", target)["path"], target)
                os.rename(self.path(name), self.path("b.npy"))
                self.made()
        self.ok("transpose", "--", "a.npy", "-b.npy")
        self.made("-b.npy")

    def test_names_that_are_commands(self):
        for name in ["info", "transpose", "show"]:
            self.ok("transpose", "a.npy", name)
            self.assertEqual(self.json("info", name)["shape"], [300, 200])
            os.rename(self.path(name), self.path("b.npy"))
            self.made()

    def test_names_that_are_no_text(self):
        self.ok("transpose", "a.npy", b"\xff\xfe.npy")
        os.rename(os.fsencode(self.dir) + b"/\xff\xfe.npy", self.path("b.npy"))
        self.made()

    def test_names_that_are_no_text_in_json(self):
        os.rename(self.path("a.npy"), os.fsencode(self.dir) + b"/\xff\xfe.npy")
        self.assertEqual(self.json("info", b"\xff\xfe.npy")["path"], "\ufffd\ufffd.npy")
        with open(os.fsencode(self.dir) + b"/\xff", "w") as device:
            device.write('{"points": [[4096, 1, 1]]}')
        plan = self.json("transpose", b"\xff\xfe.npy", "b.npy", "--dry-run", "--io", "direct", "--device", b"\xff")
        self.assertEqual(plan["device"], "\ufffd")

    @unittest.skipIf(SANITIZED, "sanitizers need /proc")
    def test_without_proc(self):
        hidden = "mount --make-rprivate / 2>/dev/null; umount -l /proc && test ! -e /proc/self"
        if subprocess.run(["unshare", "-m", "sh", "-c", hidden], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("mount namespaces are not permitted")
        for engine in ["direct", "mapped", "auto"]:
            command = f"$XORDER transpose a.npy b.npy --io {engine} --memory 64MiB"
            self.assertEqual(self.shell(f"unshare -m sh -c '{hidden}; {command}'"), 0)
            self.made()

    def test_sparse_input(self):
        with open(self.path("a.raw"), "wb") as file:
            file.truncate(20 * MiB)
        self.ok("transpose", "a.raw", "b.raw", "--dtype", "u1", "--shape", "2048,10240", "--io", "direct")
        self.assertEqual(self.bytes_of("b.raw"), bytes(20 * MiB))

    @unittest.skipUnless(seccomp_works(), "seccomp filters cannot be installed here")
    def test_poll_is_forbidden(self):
        for engine in ["direct", "mapped"]:
            with self.subTest(engine=engine):
                self.ok("transpose", "a.npy", "b.npy", "--io", engine, preexec_fn=deny(poll=errno.EPERM, ppoll=errno.EPERM))
                self.made()

    @unittest.skipIf(SANITIZED, "sanitizers end when they cannot unmap their own memory")
    @unittest.skipUnless(seccomp_works(), "seccomp filters cannot be installed here")
    def test_nothing_can_be_unmapped(self):
        for engine in ["direct", "mapped"]:
            for threads in [1, 16]:  # of which the C library would give some stacks back
                with self.subTest(engine=engine, threads=threads):
                    self.ok("transpose", "a.npy", "b.npy", "--io", engine, "--threads", threads,
                            preexec_fn=deny(munmap=errno.EPERM))
                    self.made()

    @unittest.skipUnless(seccomp_works(), "seccomp filters cannot be installed here")
    def test_calls_that_are_put_off_for_ever(self):
        """They are given up, EAGAIN after ten seconds without progress."""
        runs = []
        # Each tries again and again, which takes seconds of a processor.
        for engine, denied in self.few([("mapped", {"preadv": errno.EAGAIN}), ("mapped", {"preadv": errno.EINTR}),
                                        ("direct", {"preadv": errno.EAGAIN, "io_uring_setup": errno.EPERM}),
                                        ("direct", {"io_uring_enter": errno.EAGAIN}), ("direct", {"io_uring_enter": errno.EINTR})], 1):
            command = [harness.XORDER, "transpose", "a.npy", f"{len(runs)}.npy", "--io", engine]
            runs.append(subprocess.Popen(command, cwd=self.dir, stderr=subprocess.PIPE, text=True, preexec_fn=deny(**denied)))
        for number, run in enumerate(runs):
            _, said = run.communicate(timeout=harness.TIMEOUT)
            self.assertEqual(run.returncode, 1, said)
            self.assertRegex(said, r"\Axorder: [^\n]*(Resource temporarily unavailable|Interrupted system call)[^\n]*\n\Z")
            self.assertFalse(os.path.exists(self.path(f"{number}.npy")))

    def test_two_runs_at_once(self):
        """To the same output: both succeed with --force, one of them without it."""
        for force in rounds(3, 10) * ["--force"] + [""]:
            processes = [subprocess.Popen([harness.XORDER, "transpose", "a.npy", "b.npy", "-q", *filter(None, [force])],
                                          cwd=self.dir, stderr=subprocess.DEVNULL) for _ in range(2)]
            codes = [process.wait(harness.TIMEOUT) for process in processes]
            if force:
                self.assertEqual(codes, [0, 0])
            else:
                self.assertEqual(sum(code == 0 for code in codes), 1, codes)
            self.made()


if __name__ == "__main__":
    main()
