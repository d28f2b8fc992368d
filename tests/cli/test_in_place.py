#!/usr/bin/python3
"""--in-place: a file is reordered within itself; resume and rollback after any death; refusals."""

import itertools
import os
import signal
import subprocess
import time
import unittest

import harness
from harness import Case, LONG, XORDER, bit_reversed, main, moved, np, rotation, rounds, tally


class InPlaceCase(Case):
    def kept(self):
        return sorted(name for name in os.listdir(self.dir) if ".xorder-" in name)

    def reorder(self, name, array, *words, expected):
        self.save(name, array)
        inode = os.stat(self.path(name)).st_ino
        self.ok(words[0], "--in-place", name, *words[1:], "-q")
        self.assertEqual(os.stat(self.path(name)).st_ino, inode)
        self.assertEqual(self.kept(), [])
        result = self.load(name) if name.endswith(".npy") else np.fromfile(self.path(name), array.dtype).reshape(array.shape)
        self.assert_same(result, expected, words)

    def check_results(self, count):
        """That many of these cases; all in the long form."""
        square, cube, uncommon = self.noise((301, 301), "f8"), self.noise((20, 30, 20), "u1"), self.noise((9, 5, 9, 9), "u2")
        line, rows = self.noise((1 << 14,), "c16"), self.noise((7, 256, 3), "f4")
        uneven, mixed, large = self.noise((613, 3, 571), "V9"), self.noise((1 << 18,), "V32"), self.noise((200, 200), "V512")
        cases = [
            ("a.npy", square, ["transpose"], square.T),
            ("a.npy", np.asfortranarray(square), ["transpose"], np.asfortranarray(square.T)),
            ("a.raw", square, ["transpose", "--dtype", "f8", "--shape", "301,301"], square.T),
            ("a.npy", cube, ["transpose"], cube.T),
            ("a.npy", uncommon, ["transpose", "--axes", "2,1,3,0"], uncommon.transpose(2, 1, 3, 0)),
            ("a.npy", line, ["bitreverse"], bit_reversed(line)),
            ("a.npy", rows, ["bitreverse", "--axis", "1"], bit_reversed(rows, 1)),
            ("a.npy", rows, ["permute", "--by", "reverse", "--axis", "1"], rows[:, ::-1]),
            ("a.npy", line, ["permute", "--by", "shuffle"], moved(line, rotation(14, 1))),
            *(("a.npy", empty, ["transpose"], empty.T) for empty in (np.zeros((0, 0)), np.zeros((1, 1)), np.array(3.5)))]
        for wide in (self.noise((30, 20), "f8"), self.noise((1, 9), "f8"), np.zeros((7, 0))):
            cases += [("a.npy", wide, ["transpose"], wide.T), ("a.npy", np.asfortranarray(wide), ["transpose"], np.asfortranarray(wide.T))]
        several_passes = [
            ("a.npy", uneven, ["transpose", "--axes", "2,1,0", "--memory", "16MiB"], uneven.transpose(2, 1, 0)),
            ("a.npy", uneven, ["transpose", "--axes", "1,2,0", "--memory", "16MiB"], uneven.transpose(1, 2, 0)),
            ("a.npy", mixed, ["permute", "--by", "bitreverse * shuffle", "--memory", "16MiB"], bit_reversed(moved(mixed, rotation(18, 1)))),
            ("a.npy", large, ["transpose", "--memory", "16MiB"], large.T)]
        for name, array, words, expected in [*self.few(cases, count), *self.few(several_passes, 1)]:
            self.reorder(name, array, *words, expected=expected)


class OnDisk(InPlaceCase):
    def test_what_it_makes(self):
        self.check_results(3)


class InPlace(InPlaceCase):
    in_memory = True

    def test_what_it_makes(self):
        self.check_results(8)

    def test_what_lies_around_the_array_stays(self):
        data = self.noise((100_000,))
        array = data[333:333 + 80_000].view("f8").reshape(100, 100)
        self.write("a.bin", data.tobytes())
        self.ok("transpose", "--in-place", "a.bin", "--dtype", "f8", "--shape", "100,100", "--offset", "333", "--ignore-rest")
        self.assertEqual(self.bytes_of("a.bin"), data[:333].tobytes() + array.T.tobytes() + data[80_333:].tobytes())

    def large(self, shape=(200, 200), kind="V512"):
        """Many batches of tiles in 16 MiB; .npy headers of NumPy, so that nothing is aligned."""
        array = self.noise(shape, kind)
        self.save("a.npy", array)
        return array, ["transpose", "--in-place", "a.npy", "--memory", "16MiB", "-q"]

    def check_end(self, array, at):
        """Resumes or rolls back, perhaps killed again, until the file is whole."""
        for _ in range(100):
            if ".a.npy.xorder-journal" not in self.kept():
                break
            command = ["resume", "rollback"][int(self.random.integers(2))]
            died = self.dies_at(int(self.random.integers(1, 40)), command, "a.npy") if self.random.integers(2) else self.run_xorder(command, "a.npy")
            self.assertIn(died.returncode, (0, -signal.SIGKILL), died.stderr)
            if died.returncode == 0:
                self.assert_same(self.load("a.npy"), np.ascontiguousarray(array.T) if command == "resume" else array, (command, at))
                self.assertEqual(self.kept(), [])
        result = self.load("a.npy")
        self.assertTrue(result.tobytes() in (array.tobytes(), array.T.tobytes()), at)

    def test_killed_before_any_operation(self):
        """Each fsync, rename, unlink, .. is once the last thing that the run does not do."""
        self.killed_before_operations()

    def test_killed_in_any_pass(self):
        self.killed_before_operations((571, 613), "V24")

    def killed_before_operations(self, *array_of):
        step = 1 if LONG else 40 if array_of else 60
        for at in itertools.count(int(self.random.integers(1, step + 1)), step):
            array, words = self.large(*array_of)
            died = self.dies_at(at, *words)
            if died.returncode == 0:
                self.assertGreater(at, 15, "the operations are not counted")
                tally(at // step, "SIGKILL before an fsync, rename, unlink, .. in place, then resume or rollback, killed as well")
                break
            self.assertEqual(died.returncode, -signal.SIGKILL, died.stderr)
            self.check_end(array, at)
            for name in self.kept():  # nothing was moved, or all was
                os.unlink(self.path(name))

    def test_killed_at_any_moment(self):
        array, words = self.large()
        begin = time.time()
        self.ok(*words)
        lasts = time.time() - begin
        for _ in range(rounds(1, 200)):
            array, words = self.large()
            process = subprocess.Popen([XORDER, *words], cwd=self.dir, env={**os.environ, "XDG_CACHE_HOME": os.devnull})
            time.sleep(self.random.uniform(0, lasts))
            process.kill()
            process.wait()
            self.check_end(array, "a moment")
            for name in self.kept():
                os.unlink(self.path(name))
        tally(rounds(1, 200), "SIGKILL at any moment in place, then resume or rollback, killed as well")

    def slowed(self, sent=signal.SIGKILL):
        """A run that has been stopped when it was half done."""
        array, words = self.large()
        words = [*words[:-1], "--bwlimit", "30MiB"]
        process = subprocess.Popen([XORDER, *words], cwd=self.dir, stderr=subprocess.PIPE, env={**os.environ, "XDG_CACHE_HOME": os.devnull})
        end = time.time() + harness.TIMEOUT
        while time.time() < end and process.poll() is None:
            status = self.run_xorder("status", "a.npy", "--json")
            if status.returncode == 0 and '"bytes_done":0,' not in status.stdout:
                break
            time.sleep(0.03)
        if sent == signal.SIGSTOP:
            process.send_signal(sent)
            return array, words, process
        process.send_signal(sent)
        said = process.communicate()[1].decode()
        self.assertEqual(process.returncode, -sent, said)
        return array, words, said

    def test_a_half_done_file(self):
        array, words, _ = self.slowed()
        status = self.json("status", "a.npy")
        self.assertTrue(status["in_place"])
        self.assertFalse(status["running"] or status["complete"])
        self.assertRegex(self.ok("status", "a.npy").stdout, "`xorder resume` finishes it, `xorder rollback` restores it")
        half = "a.npy: is half done in place: `xorder resume a.npy` finishes it, `xorder rollback a.npy` restores it"
        self.refused(*words, says=half)
        self.refused("discard", "a.npy", says=half)
        self.refused("transpose", "a.npy", "b.npy", says=half)
        self.save("c.npy", array)
        self.refused("transpose", "c.npy", "a.npy", "--force", says=half)
        self.refused("verify", "transpose", "c.npy", "a.npy", says=half)
        os.rename(self.path("a.npy"), self.path("d.npy"))
        self.save("a.npy", array)
        self.refused("resume", "a.npy", says="is another file than the one that is half done")
        os.rename(self.path("d.npy"), self.path("a.npy"))
        journal = self.bytes_of(".a.npy.xorder-journal")
        self.write(".a.npy.xorder-journal", journal[:100] + b"x" + journal[101:])
        for command in ("resume", "rollback"):
            self.refused(command, "a.npy", says="the journal is damaged")
        for others in (("transpose", "a.npy", "b.npy"), ("verify", "transpose", "a.npy", "c.npy")):
            self.refused(*others, says="a.npy: may be half done in place: .*the journal is damaged; to begin again, remove it")
        self.write(".a.npy.xorder-journal", journal)
        result = subprocess.run([XORDER, "rollback", self.path("a.npy"), ], cwd="/", capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"a.npy: the rest of [\d.]+ MiB in [\d.]+ s, 1 pass")
        self.assert_same(self.load("a.npy"), array)
        self.assertEqual(self.kept(), [])
        for command, says in (("resume", "nothing to resume"), ("rollback", "nothing to roll back"), ("status", "nothing to show")):
            self.refused(command, "a.npy", says=says)

    def test_ctrl_c(self):
        array, _, said = self.slowed(signal.SIGINT)
        self.assertRegex(said, "a.npy: is half done in place: `xorder resume a.npy` finishes it, `xorder rollback a.npy` restores it")
        self.assertRegex(said, "xorder: interrupted\n$")
        self.ok("resume", "a.npy")
        self.assert_same(self.load("a.npy"), np.ascontiguousarray(array.T))

    def test_a_live_run_is_left_alone(self):
        array, words, process = self.slowed(signal.SIGSTOP)
        try:
            self.assertTrue(self.json("status", "a.npy")["running"])
            for command in ("resume", "rollback"):
                self.assertRegex(self.run_xorder(command, "a.npy").stderr, "its run is still going on")
            self.assertEqual(self.run_xorder(*words).returncode, 2)
        finally:
            process.send_signal(signal.SIGCONT)
        self.assertEqual(process.wait(), 0, process.stderr.read())
        process.stderr.close()
        self.assert_same(self.load("a.npy"), np.ascontiguousarray(array.T))

    def test_the_undo_area(self):
        array, words = self.large()
        os.mkdir(self.path("tmp"))
        plan = self.ok(*words, "--tmpdir", "tmp", "--dry-run").stdout
        self.assertRegex(plan, r"undo area of \d.* in tmp\n")
        figures = self.json(*words[:-1], "--dry-run")
        self.assertLessEqual(figures["scratch_bytes"], 16 << 20)
        self.assertLess(figures["bytes_written"], array.nbytes * 2.6)
        self.assert_same(self.load("a.npy"), array)
        self.assertEqual(self.dies_at(25, *words, "--tmpdir", "tmp").returncode, -signal.SIGKILL)
        self.assertEqual(len(os.listdir(self.path("tmp"))), 1)
        self.ok("resume", "a.npy")
        self.assertEqual(os.listdir(self.path("tmp")), [])
        self.assert_same(self.load("a.npy"), np.ascontiguousarray(array.T))

    def test_refusals(self):
        square = self.noise((64, 64), "f8")
        self.save("a.npy", square)
        self.write("a.fits", "SIMPLE")
        with open(self.path("wide.raw"), "wb") as wide:
            wide.truncate(70_001 * 10_007 * 8)
        self.refused("transpose", "--in-place", "wide.raw", "--dtype", "f8", "--shape", "70001,10007", "--memory", "16MiB",
                     says=r"cannot be done in place with 16 MiB of memory: it takes \d+ MiB; or name another file as OUT")
        self.refused("transpose", "--in-place", "a.npy", "b.npy", says="b.npy: not with --in-place")
        self.refused("transpose", "--in-place", "missing.npy", says="missing.npy")
        self.refused("transpose", "a.npy", says="OUT")
        for words in self.few([["--select", ":5"], ["--out-shape", "4096"], ["--byte-order", "big"], ["--split", "0"], ["--force"], ["--resumable"],
                               ["--verify"], ["--out-order", "F"], ["--stack", "0"], ["--npy-header", "compact"], ["--banded", "1,1"]], 4):
            self.refused("transpose", "--in-place", "a.npy", *words, says=f"{words[0]}: not with --in-place")
        self.refused("transpose", "--in-place", "a.npy", "--io", "mapped", says="use direct access")
        self.refused("machine", "transpose", "--in-place", "a.npy", says="--in-place")
        self.refused("descend", "scan", "--in-place", "a.npy", says="--in-place")
        if os.geteuid() != 0:
            os.chmod(self.path("a.npy"), 0o444)
            self.refused("transpose", "--in-place", "a.npy", says="a.npy: cannot be written")


if __name__ == "__main__":
    main()
