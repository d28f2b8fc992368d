#!/usr/bin/python3
"""--resumable: a run that was killed goes on, and what it makes is exact; resume, status and discard."""

import itertools
import json
import os
import re
import signal
import subprocess
import time
import unittest

import harness
from harness import Case, LONG, XORDER, bit_reversed, main, np, rounds, tally


class Resume(Case):
    in_memory = True
    # Requests of 4 KiB are as good as any, and so slow that a checkpoint follows a checkpoint.
    slow = '{"points": [[4096, 2e5, 2e5]]}'

    def setUp(self):
        super().setUp()
        self.write("slow.json", self.slow)
        self.write("long.json", '{"points": [[4096, 1e3, 1e3], [1048576, 2e6, 2e6]]}')

    def kept(self):
        """What lies beside the files that the test has made."""
        return sorted(name for name in os.listdir(self.dir) if ".xorder-" in name)

    def run_and_kill(self, args, after):
        process = subprocess.Popen([XORDER, *args], cwd=self.dir, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env={**os.environ, "XDG_CACHE_HOME": os.devnull})
        time.sleep(after)
        process.kill()
        process.communicate()
        return process.returncode

    def stop_behind_a_checkpoint(self, args, sent=signal.SIGKILL):
        """Returns what the run has said."""
        process = subprocess.Popen([XORDER, *args], cwd=self.dir, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env={**os.environ, "XDG_CACHE_HOME": os.devnull})
        end = time.time() + harness.TIMEOUT
        while time.time() < end and process.poll() is None:
            journal = self.path(".b.npy.xorder-journal")
            if os.path.exists(journal) and b'"bytes_done":0,' not in self.bytes_of(journal):
                break
            time.sleep(0.02)
        process.send_signal(sent)
        said = process.communicate()[1].decode()
        self.assertEqual(process.returncode, -sent, f"it had ended already: {said}")
        return said

    def resume_until_done(self, args, kill=lambda: None):
        """Goes on, killed or not, until the run has ended."""
        for _ in range(200):
            moment = kill()
            command = ["resume", "b.npy"] if self.random.integers(2) else list(args)
            if moment is not None:
                self.run_and_kill(command, moment)
            else:
                result = self.run_xorder(*command)
                if result.returncode == 0:
                    return
                self.assertRegex(result.stderr, "nothing to resume|b.npy: exists")  # no journal yet, or no more
                if os.path.exists(self.path("b.npy")):
                    return
                self.ok(*args)
                return
            if os.path.exists(self.path("b.npy")) and not self.kept():
                return
        self.fail("it does not come to an end")

    def cases(self):
        """Command lines and what they make: one pass whose tiles share blocks or do not, more passes, a selection."""
        odd = self.noise((93, 83), "V512")
        even = self.noise((64, 128), "V512")
        signal_ = self.noise((1 << 23,), "u2")  # in four passes, by two scratch files
        wide = self.noise((180, 90), "V512")
        return [("odd.npy", odd, ["transpose"], odd.T), ("even.npy", even, ["transpose"], even.T),
                ("wide.npy", wide, ["transpose", "--select", "::-2, 3:"], wide[::-2, 3:].T),
                ("signal.npy", signal_, ["bitreverse", "--memory", "16MiB", "--device", "long.json"], bit_reversed(signal_))]

    def prepared(self, name, array, words):
        self.save(name, array)
        device = [] if "--device" in words else ["--device", "slow.json"]
        return [words[0], name, "b.npy", *words[1:], *device, "--resumable", "-q"]

    def test_killed_at_any_moment(self):
        for name, array, words, expected in self.cases():
            args = self.prepared(name, array, words)
            begin = time.time()
            self.ok(*args)
            lasts = time.time() - begin
            for _ in range(rounds(1, 50)):
                os.unlink(self.path("b.npy"))
                kills = int(self.random.integers(1, 5))
                self.run_and_kill(args, self.random.uniform(0, lasts))
                moments = itertools.chain((self.random.uniform(0, lasts) for _ in range(kills)), itertools.repeat(None))
                self.resume_until_done(args, lambda: next(moments))
                self.assert_same(self.load("b.npy"), np.ascontiguousarray(expected), name)
                self.assertEqual(self.kept(), [])
            os.unlink(self.path("b.npy"))
            tally(rounds(1, 50), "SIGKILL at any moment with --resumable, up to 5 times a run")

    def test_killed_before_any_operation(self):
        """Each fsync, rename, unlink, .. is once the last thing that the run does not do; then the next run goes on."""
        for name, array, words, expected in self.cases():
            args = self.prepared(name, array, words)
            step = 1 if LONG else 8 if name == "even.npy" else 24
            for at in itertools.count(int(self.random.integers(1, step + 1)), step):
                died = self.dies_at(at, *args)
                complete = os.path.exists(self.path("b.npy"))
                if died.returncode == 0:
                    self.assertGreater(at, 15, "the operations are not counted")
                    tally(at // step, "SIGKILL before an fsync, rename, unlink, .. with --resumable")
                    break
                self.assertEqual(died.returncode, -signal.SIGKILL, died.stderr)
                if complete:  # it has its name, and was exact before
                    self.assert_same(self.load("b.npy"), np.ascontiguousarray(expected), (name, at))
                self.resume_until_done(args)
                self.assert_same(self.load("b.npy"), np.ascontiguousarray(expected), (name, at))
                self.assertEqual(self.kept(), [], (name, at))
                os.unlink(self.path("b.npy"))
            os.unlink(self.path("b.npy"))

    def test_scratch_files_of_outputs_with_equal_names(self):
        os.mkdir(self.path("scratch"))
        arrays = {}
        for folder in ["x", "y"]:
            os.mkdir(self.path(folder))
            arrays[folder] = self.noise((1 << 23,), "u2")
            self.save(f"{folder}/a.npy", arrays[folder])
            for at in range(30, 0, -1):  # the last operation before which it has scratch files and a journal
                before = os.listdir(self.path("scratch"))
                self.dies_at(at, "bitreverse", f"{folder}/a.npy", f"{folder}/b.npy", "--memory", "16MiB", "--device", "long.json",
                             "--tmpdir", "scratch", "--resumable", "-q", "--force")
                if self.run_xorder("status", f"{folder}/b.npy").returncode == 0 and len(os.listdir(self.path("scratch"))) > len(before):
                    break
        self.assertEqual(len(os.listdir(self.path("scratch"))), 4)
        for folder, array in arrays.items():
            self.ok("resume", f"{folder}/b.npy")
            self.assert_same(self.load(f"{folder}/b.npy"), bit_reversed(array))
        self.assertEqual(os.listdir(self.path("scratch")), [])

    def test_killed_where_a_header_belongs_to_the_output(self):
        array = self.noise((20, 30, 40))
        self.save("in.img", array)
        self.write("in.hdr", "ENVI\nbands = 20\nlines = 30\nsamples = 40\ndata type = 1\ninterleave = bsq\n")
        args = ["transpose", "in.img", "b.raw", "--resumable", "-q"]
        step = 1 if LONG else 3
        for at in itertools.count(int(self.random.integers(1, step + 1)), step):
            died = self.dies_at(at, *args)
            if died.returncode == 0:
                self.assertGreater(at, 5, "the operations are not counted")
                break
            again = self.run_xorder(*args)
            if again.returncode != 0:
                self.assertRegex(again.stderr, "b.raw: exists", at)
            self.ok("verify", "transpose", "in.img", "b.raw", "-q")
            self.assertIn("interleave = bip", self.bytes_of("b.hdr").decode())
            for name in ["b.raw", "b.hdr"]:
                os.unlink(self.path(name))

    def lasting(self):
        """A run of a second that takes little time of a processor."""
        array = self.noise((200, 200), "V512")
        return array, self.prepared("a.npy", array, ["transpose", "--memory", "16MiB", "--bwlimit", "40MiB"])

    def stopped(self, sent=signal.SIGKILL):
        array, args = self.lasting()
        args.remove("-q")
        return array, args, self.stop_behind_a_checkpoint(args, sent)

    def test_what_is_finished_is_not_done_again(self):
        array, _, _ = self.stopped()
        self.assertLessEqual({".b.npy.xorder-journal", ".b.npy.xorder-output"}, set(self.kept()))  # and a new journal
        done = self.json("status", "b.npy")
        self.assertFalse(done["running"])
        self.assertGreater(done["bytes_done"], 0)
        self.assertRegex(self.ok("status", "b.npy").stdout, "nothing is running: `xorder resume` goes on")
        result = subprocess.run([XORDER, "resume", self.path("b.npy")], cwd="/", capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, "went on after [0-9]+ of [0-9]+ bytes")
        self.assert_same(self.load("b.npy"), np.ascontiguousarray(array.T))
        self.assertEqual(self.kept(), [])
        self.refused("resume", "b.npy", says="b.npy: nothing to resume")

    def test_less_is_read_and_written_after_it(self):
        array, args, _ = self.stopped()
        done = self.json("status", "b.npy")["bytes_done"]
        rest = self.json(*args)
        self.assert_same(self.load("b.npy"), np.ascontiguousarray(array.T))
        whole = self.json(*args, "--force")
        self.assertLess(rest["bytes_written"], whole["bytes_written"] - done / 3)

    def test_ctrl_c(self):
        _, _, said = self.stopped(signal.SIGINT)
        self.assertRegex(said, "`xorder resume b.npy` goes on")
        self.ok("discard", "b.npy")
        self.assertEqual(self.kept(), [])

    def test_ctrl_c_before_the_first_checkpoint(self):
        array = self.noise((512, 512), "f8")
        self.save("a.npy", array)
        process = subprocess.Popen([XORDER, "transpose", "a.npy", "b.npy", "--resumable", "--bwlimit", "2MiB"], cwd=self.dir,
                                   stderr=subprocess.PIPE, env={**os.environ, "XDG_CACHE_HOME": os.devnull})
        while not os.path.exists(self.path(".b.npy.xorder-journal")) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1].decode()
        self.assertEqual(process.returncode, -signal.SIGINT, said)
        self.assertRegex(said, "`xorder resume b.npy` goes on, `xorder discard b.npy` removes its files")
        self.assertEqual(self.kept(), [".b.npy.xorder-journal", ".b.npy.xorder-output"])
        self.assertEqual(self.json("status", "b.npy")["bytes_done"], 0)
        self.ok("resume", "b.npy")
        self.assert_same(self.load("b.npy"), np.ascontiguousarray(array.T))
        self.assertEqual(self.kept(), [])

    def test_what_a_limit_of_bandwidth_makes_slow_has_checkpoints(self):
        with open(self.path("a.raw"), "wb") as file:
            file.truncate(128 << 20)
        self.write("fast.json", '{"points": [[65536, 1e9, 1e9]]}')
        words = ["transpose", "a.raw", "b.npy", "--dtype", "f8", "--shape", "4096,4096", "--memory", "16MiB", "--device", "fast.json"]
        said = self.stop_behind_a_checkpoint([*words, "--resumable", "--bwlimit", "11MiB"], signal.SIGINT)  # of 23 s
        self.assertRegex(said, "`xorder resume b.npy` goes on")
        done = self.json("status", "b.npy")["bytes_done"]
        self.assertGreater(done, 80 << 20)
        self.assertLess(done, 160 << 20)

    def test_a_live_run_is_left_alone(self):
        array, args = self.lasting()
        process = subprocess.Popen([XORDER, *args], cwd=self.dir, stderr=subprocess.PIPE,
                                   env={**os.environ, "XDG_CACHE_HOME": os.devnull})
        try:
            while not os.path.exists(self.path(".b.npy.xorder-journal")) and process.poll() is None:
                pass
            process.send_signal(signal.SIGSTOP)
            self.assertTrue(self.json("status", "b.npy")["running"])
            for words in (args, ["resume", "b.npy"], ["discard", "b.npy"]):
                result = self.run_xorder(*words)
                self.assertEqual(result.returncode, 2, words)
                self.assertRegex(result.stderr, "still going on")
        finally:
            process.send_signal(signal.SIGCONT)
        self.assertEqual(process.wait(), 0, process.stderr.read())
        process.stderr.close()
        self.assert_same(self.load("b.npy"), np.ascontiguousarray(array.T))
        self.assertEqual(self.kept(), [])

    def test_refusals(self):
        array, args, _ = self.stopped()
        self.refused(*args, "--axes", "0,1", says="it makes something else; `xorder discard b.npy` removes it")
        os.utime(self.path("a.npy"))
        self.refused(*args, says="a.npy is another file or has changed since")
        self.refused("resume", "b.npy", says="a.npy is another file or has changed since")
        journal = self.path(".b.npy.xorder-journal")
        with open(journal, "rb") as file:
            text = file.read()
        for at in self.random.integers(0, len(text), rounds(5, 20)):
            with open(journal, "wb") as file:
                file.write(text[:at] + bytes([text[at] ^ 1]) + text[at + 1:])
            self.refused("resume", "b.npy", says="journal is damaged|another version|begin again")
            self.refused(*args, says="journal is damaged|another version|begin again")
        for size in self.few((0, 1, len(text) // 2, len(text) - 1), 2):
            with open(journal, "wb") as file:
                file.write(text[:size])
            self.refused("resume", "b.npy", says="the journal is damaged")
        self.ok("transpose", "a.npy", "c.npy")
        os.rename(journal, self.path(".c.npy.xorder-journal"))
        self.ok("transpose", "a.npy", "c.npy", "--force")  # it is not its concern
        os.unlink(self.path(".c.npy.xorder-journal"))
        os.unlink(self.path("c.npy"))
        with open(journal, "wb") as file:
            file.write(text)
        os.unlink(self.path(".b.npy.xorder-output"))  # then it begins again
        self.ok(*args)
        self.assert_same(self.load("b.npy"), np.ascontiguousarray(array.T))
        self.assertEqual(self.kept(), [])
        for command in ("resume", "status", "discard"):
            self.refused(command, "b.npy", says="nothing to")

    def other_work(self):
        """Command lines of the other engines: passes of each kind, by one scratch file, two, and none."""
        def banded(array, upper):  # (N, B) by columns
            made = np.zeros_like(array)
            n, width = array.shape
            for k in range(width):
                shift = upper - k
                first, last = max(0, shift), min(n, n + shift)
                made[first - shift:last - shift, width - 1 - k] = array[first:last, k]
            return made
        self.write("halves.jsonl", '{"step":0,"from":[0,0],"to":[1,0]}\n{"step":0,"from":[1,0],"to":[0,0]}\n')
        strips = self.noise((28000, 61), "V32")
        few = self.noise((1 << 23,), "i4")
        matrix = self.noise((512, 512), "V128")
        return [("strips.npy", strips, ["transpose", "strips.npy", "b.npy", "--banded", "20,40"], lambda: banded(strips, 40)),
                ("few.npy", few, ["descend", "scan", "few.npy", "b.npy", "--op", "sum"], lambda: np.cumsum(few, dtype="i4")),
                ("few.npy", few, ["descend", "shift", "few.npy", "b.npy", "--by", "2777777"], lambda: np.roll(few, 2777777)),
                ("few.npy", few, ["machine", "bitreverse", "few.npy", "b.npy", "--schedule", "rounds", "--layout", "3"], lambda: bit_reversed(few)),
                ("few.npy", few, ["machine", "run", "halves.jsonl", "few.npy", "b.npy", "--network", "hypercube:1"], lambda: np.roll(few, 1 << 22)),
                ("strips.npy", strips, ["machine", "transpose", "strips.npy", "b.npy", "--banded", "20,40", "--schedule", "banded"],
                 lambda: banded(strips, 40)),
                ("matrix.npy", matrix, ["machine", "transpose", "matrix.npy", "b.npy", "--schedule", "mesh"], lambda: matrix.T.copy()),
                ("matrix.npy", matrix, ["machine", "transpose", "matrix.npy", "b.npy", "--schedule", "exchange"], lambda: matrix.T.copy())]

    def test_other_engines_go_on(self):
        went_on = 0
        cases = self.other_work()
        for case in range(len(cases)) if LONG else self.random.permutation(len(cases))[:1]:
            name, array, words, made = cases[case]
            self.save(name, array)
            expected = made()
            args = [*words, "--memory", "16MiB", "--device", "slow.json", "--resumable", "-q"]
            at = killed = 0
            while True:
                at += int(self.random.integers(1, 6 if LONG else 12 + 2 * at))
                died = self.dies_at(at, *args)
                if died.returncode == 0:
                    self.assert_same(self.load("b.npy"), expected, words)
                    self.assertGreater(at, 15, "the operations are not counted")
                    break
                self.assertEqual(died.returncode, -signal.SIGKILL, died.stderr)
                killed += 1
                if not os.path.exists(self.path("b.npy")):
                    status = self.run_xorder("status", "b.npy", "--json")
                    went_on += status.returncode == 0 and json.loads(status.stdout)["bytes_done"] > 0
                if not os.path.exists(self.path("b.npy")) or self.kept():
                    self.resume_until_done(args)
                self.assert_same(self.load("b.npy"), expected, (words, at))
                self.assertEqual(self.kept(), [], (words, at))
                os.unlink(self.path("b.npy"))
            tally(killed, "SIGKILL before an fsync, rename, unlink, .. of bands, sweeps and virtual processors")
            os.unlink(self.path("b.npy"))
        if LONG:  # the few of the short form may all die before the first checkpoint
            self.assertGreater(went_on, 0)

    def test_other_work_is_not_gone_on_with(self):
        few = self.noise((1 << 23,), "i4")
        self.save("few.npy", few)
        more = ["few.npy", "b.npy", "--device", "slow.json", "-q", "--resumable"]
        scan = ["descend", "scan", *more, "--op", "sum", "--memory", "20MiB"]
        self.stop_behind_a_checkpoint(scan)
        self.refused("descend", "scan", *more, "--op", "max", "--memory", "20MiB", says="it makes something else")
        self.refused("machine", "bitreverse", *more, "--schedule", "rounds", says="it makes something else")
        self.refused("bitreverse", *more, says="it makes something else")
        self.ok(*scan[:-1], "1GiB", "--threads", "1")
        self.assert_same(self.load("b.npy"), np.cumsum(few, dtype="i4"))

    def test_a_merge_checks_all_of_its_input(self):
        halves = np.sort(self.noise((2, 1 << 22), "i4")).reshape(-1)
        halves[1000], halves[1001] = halves[1001] + 1, halves[1000]
        self.save("halves.npy", halves)
        args = ["descend", "merge", "halves.npy", "b.npy", "--memory", "16MiB", "--device", "slow.json", "--resumable", "-q"]
        at = 0
        while self.dies_at(at := at + 1, *args).returncode == -signal.SIGKILL:
            self.assertFalse(os.path.exists(self.path("b.npy")))
        self.refused(*args, says="its halves are not both sorted; the first violation is at position 1001")
        self.assertEqual(self.kept(), [])

    def test_an_unfinished_run_is_mentioned(self):
        array, args, _ = self.stopped()
        args.remove("--resumable")
        said = self.ok(*args).stderr
        self.assertRegex(said, re.escape("b.npy: an earlier run is not finished: `xorder resume b.npy` goes on"))
        self.assert_same(self.load("b.npy"), np.ascontiguousarray(array.T))

    def test_an_output_is_replaced_only_at_the_end(self):
        self.save("b.npy", np.arange(3))
        array, args, _ = self.stopped_with_force()
        self.assert_same(self.load("b.npy"), np.arange(3))
        self.ok(*args)
        self.assert_same(self.load("b.npy"), np.ascontiguousarray(array.T))

    def stopped_with_force(self):
        array, args = self.lasting()
        args.append("--force")
        return array, args, self.stop_behind_a_checkpoint(args)


if __name__ == "__main__":
    main()
