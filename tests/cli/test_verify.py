#!/usr/bin/python3
"""xorder verify and --verify: right results are called right whoever made them, and every damage is found."""

import json
import os

import containers
from harness import LONG, SANITIZED, Case, MiB, main, np, rounds, tally

TYPES = ["u1", "<i2", "V3", "<f4", "V5", "<f8", ">f8", "V12", "<c16", "V24", "S70"]


GOLDEN = ["# XXH3 (xxh128sum) of each MiB of 1048589 bytes", "548afdead5807c893f215d834183510b", "3369efb776ef0a92207728aa9e6675c2"]


class Verify(Case):
    in_memory = True

    def wrong(self, *args):
        """OUT is different. Returns the ranges of bytes in which it says that it is."""
        line = self.refused("verify", *args, code=1, says="are not those of the result")
        result = self.run_xorder("verify", *args, "--json")
        self.assertEqual((result.returncode, result.stderr), (1, line))
        report = json.loads(result.stdout)
        self.assertFalse(report["equal"])
        self.assertIn(f"bytes {report['differences'][0]['first_byte']} to", line)
        return [(d["first_byte"], d["end_byte"]) for d in report["differences"]]

    def test_results_of_numpy(self):
        for dtype in self.few(TYPES, 4):
            shape = [int(e) for e in self.random.integers(1, 9, self.random.integers(0, 5))]
            a = self.noise(shape, dtype)
            axes = [int(i) for i in self.random.permutation(len(shape))]
            options = [f"--axes={','.join(map(str, axes))}"] if axes else []
            for order in "CF":
                np.save(self.path("a.npy"), np.asarray(a, order=order))
                np.save(self.path("b.npy"), np.transpose(np.asarray(a, order=order), axes))  # often in Fortran order
                np.save(self.path("c.npy"), np.ascontiguousarray(np.transpose(a, axes)).reshape(np.transpose(a, axes).shape))
                for result in ["b.npy", "c.npy"]:
                    self.ok("verify", "transpose", "a.npy", result, *options)
            if a.size:
                np.transpose(a, axes).tofile(self.path("b.raw"))
                self.ok("verify", "transpose", "a.npy", "b.raw", *options)

    def test_maps(self):
        a = self.noise((8, 64), "<f4")
        self.save("a.npy", a)
        reversed_bits = [int(f"{i:06b}"[::-1], 2) for i in range(64)]
        np.save(self.path("b.npy"), a[:, reversed_bits])
        np.save(self.path("f.npy"), np.asfortranarray(a[:, reversed_bits]))
        for result in ["b.npy", "f.npy"]:
            self.ok("verify", "bitreverse", "a.npy", result)
        np.save(self.path("c.npy"), a.reshape(-1)[::-1].reshape(8, 64))
        self.ok("verify", "permute", "a.npy", "c.npy", "--by", "reverse")
        np.save(self.path("c.npy"), np.asfortranarray(a.reshape(-1)[::-1].reshape(8, 64)))
        self.ok("verify", "permute", "a.npy", "c.npy", "--by", "reverse")
        self.assertEqual(self.wrong("permute", "a.npy", "c.npy", "--by", "gray")[0][1], os.path.getsize(self.path("c.npy")))

    def test_inputs_of_any_layout(self):
        a = self.noise((20, 30), "<f8")
        self.save("a.npy", a)
        self.save("b.npy", a[::-2, 3:].T.copy())
        self.ok("verify", "transpose", "a.npy", "b.npy", "--select=::-2,3:")
        self.save("b.npy", a.T.astype(">f8"))
        self.ok("verify", "transpose", "a.npy", "b.npy", "--byte-order", "big")
        self.save("b.npy", a.T.reshape(3, 200))
        self.ok("verify", "transpose", "a.npy", "b.npy", "--out-shape", "3,-1")
        a.tofile(self.path("f.raw"))
        self.ok("verify", "transpose", "a.npy", "f.raw", "--out-order", "F")
        self.write("padded.raw", b"".join(row.tobytes() + b"....." for row in a))
        self.save("b.npy", a.T.copy())
        self.ok("verify", "transpose", "padded.raw", "b.npy", "--dtype", "f8", "--shape", "20,30", "--strides", "245,8")
        b = self.noise((20, 30), "<f8")
        self.save("second.npy", b)
        self.save("b.npy", np.concatenate([a, b], 1).T.copy())
        self.ok("verify", "transpose", "a.npy", "second.npy", "b.npy", "--concatenate", "1")
        self.save("b.npy", np.stack([a, b]).T.copy())
        self.ok("verify", "transpose", "a.npy", "second.npy", "b.npy", "--stack", "0")
        self.wrong("transpose", "second.npy", "a.npy", "b.npy", "--stack", "0")
        records = np.zeros(50, [("x", "<u2"), ("y", "<f4")])
        records["y"] = self.random.random(50)
        self.save("r.npy", records)
        self.save("b.npy", records["y"].copy())
        self.ok("verify", "transpose", "r.npy", "b.npy", "--field", "y")
        self.write("cube.fits", containers.fits(None, a.T.astype(">f8")))
        self.ok("verify", "transpose", "a.npy", "cube.fits:1", "--byte-order", "big")

    def test_damage_is_found_where_it_is(self):
        damaged = 0
        for i, dtype in enumerate(self.some(TYPES * rounds(1, 90))):
            size = np.dtype(dtype).itemsize
            a = self.noise((int(self.random.integers(100, 300)), 64 * (1 + i % 3)), dtype)
            self.save("a.npy", a)
            command = [("transpose",), ("bitreverse", "--axis", "1"), ("permute", "--by", "gray", "--axis", "1")][i % 3]
            if i % 3:
                a = a[:, :64]
                self.save("a.npy", a)
            name = ["b.npy", "b.raw"][i % 2]
            self.ok(command[0], "a.npy", name, *command[1:], "--verify", "--force")
            arguments = [command[0], "a.npy", name, *command[1:]]
            self.ok("verify", *arguments)
            right = np.frombuffer(self.bytes_of(name), "u1")
            offset = len(right) - a.nbytes
            wrong = right.copy()
            data = wrong[offset:].reshape(-1, size)
            length = int(self.random.integers(1, len(data) // 3))
            x, y = (int(self.random.integers(0, len(data) // 2 - length)) if len(data) // 2 > length else 0 for _ in range(2))
            y += len(data) // 2
            if i % 5 == 0:
                data[y, 0] ^= 1 << int(self.random.integers(0, 8))
            elif i % 5 == 1:
                data[[x, y]] = data[[y, x]]
            elif i % 5 == 2:
                data[x:x + length] = 0
            elif i % 5 == 3:
                data[y:y + length] = data[x:x + length][:len(data) - y]
            else:
                data[x:x + length] = np.roll(data[x:x + length], 1, 0)
            self.write(name, wrong.tobytes())
            changed = np.flatnonzero(wrong != right)
            if not changed.size:
                continue
            ranges = self.wrong(*arguments)
            for first, end in ranges:
                self.assertTrue(((first <= changed) & (changed < end)).any())
            for at in changed[[0, -1]]:
                self.assertTrue(any(first <= at < end for first, end in ranges), (at, ranges))
            damaged += 1
        tally(damaged, "flips, swaps, zeroed, stale and duplicated blocks of OUT, found where they are")

    def test_what_does_not_fit_is_refused(self):
        a = self.random.random((4, 6))
        self.save("a.npy", a)
        for b, says in [(a, r"shape is \(4, 6\), that of the result \(6, 4\)"),
                        (a.T.astype("<f4"), "type is '<f4', that of the result '<f8'"),
                        (a.T.astype(">f8"), "type is '>f8'"), (a.T[:5].copy(), r"shape is \(5, 4\)"), (a.T.reshape(24), "shape")]:
            self.save("b.npy", b)
            self.refused("verify", "transpose", "a.npy", "b.npy", says=says)
        self.write("b.raw", bytes(191))
        self.refused("verify", "transpose", "a.npy", "b.raw", says="191")
        self.write("b.raw", bytes(193))
        self.refused("verify", "transpose", "a.npy", "b.raw", says="193")
        self.refused("verify", "transpose", "a.npy", "none.npy", says="none.npy: .*[Nn]o such file")
        self.save("b.npy", a.T.copy())
        self.refused("verify", "transpose", "a.npy", "b.npy", "--out-order", "F", says="its order is C, that of the result F")
        self.refused("verify", "transpose", "a.npy", "b.npy", "--banded", "1,1", "--shape", "8,3", says="--banded: .*checks reorderings")
        self.refused("verify", "transpose", "a.npy", "b.npy", "--force", says="unknown option --force")
        self.refused("verify", "permute", "a.npy", "b.npy", says="needs --by")
        self.refused("verify", "scan", "a.npy", "b.npy", says="'scan' is not a command; the commands are: transpose")
        self.refused("verify", "transpose", "a.npy", "b.npy", "--memory", "1MiB", says="too little")

    def test_small_arrays_and_reports(self):
        for a in [np.empty((0, 4)), np.array(5.0), np.array([7], "u1")]:
            self.save("a.npy", a)
            self.save("b.npy", a.T)
            report = self.json("verify", "transpose", "a.npy", "b.npy")
            self.assertEqual((report["equal"], report["bytes"], report["differences"]), (True, a.nbytes, []))
            self.ok("transpose", "a.npy", "c.npy", "--verify", "--force")
        self.assertRegex(self.ok("verify", "transpose", "a.npy", "b.npy").stderr, r"\Ab\.npy: is right, 1 B ")
        self.assertEqual(self.ok("verify", "transpose", "a.npy", "b.npy", "-q").stderr, "")

    def test_the_command_may_stand_behind_the_files(self):
        a = self.noise((4, 5, 6), "<f4")
        self.save("a.npy", a)
        self.save("b.npy", a.transpose(2, 0, 1).copy())
        self.ok("verify", "a.npy", "b.npy", "transpose", "--axes", "2,0,1")
        self.wrong("a.npy", "b.npy", "transpose", "--axes", "0,1,2", "--out-shape", "6,4,5")

    def test_a_run_with_verify(self):
        a = self.noise((1000, 301), "<f8")
        self.save("a.npy", a)
        for access in ["direct", "mapped"]:
            report = self.json("transpose", "a.npy", "b.npy", "--verify", "--force", "--io", access)
            self.assert_same(self.load("b.npy"), a.T)
            self.assertGreaterEqual(report["bytes_read"], 2 * a.nbytes)
        self.ok("transpose", "a.npy", "c.npy", "--verify", "--select=::-2,:", "--out-order", "F")
        self.assert_same(np.ascontiguousarray(self.load("c.npy")), np.ascontiguousarray(a[::-2].T))
        self.refused("transpose", "a.npy", "d.npy", "--verify", "--resumable", says="verify it afterwards")
        self.refused("transpose", "a.npy", "d.npy", "--verify", "--banded", "100,200", "--band-order", "rows", says="--verify: not with --banded")


class Checksums(Case):
    """Pieces of 1 MiB have hashes."""

    def setUp(self):
        super().setUp()
        self.noise((3 * MiB + 13,), "u1").tofile(self.path("a.raw"))
        self.command = ("transpose", "a.raw", "b.raw", "--dtype", "u1", "--shape", f"{3 * MiB + 13},1")
        self.ok(*self.command, "--checksum", "b.sums")

    def damaged(self, *pieces):
        line = self.refused("verify", "b.raw", "--checksum", "b.sums", code=1, says=f"b.raw: bytes {pieces[0][0]} to")
        result = self.run_xorder("verify", "b.raw", "--checksum", "b.sums", "--json")
        self.assertEqual((result.returncode, result.stderr), (1, line))
        report = json.loads(result.stdout)
        self.assertFalse(report["equal"])
        self.assertEqual([(d["first_byte"], d["end_byte"]) for d in report["differences"]], list(pieces))

    def test_what_xxh128sum_prints(self):
        with open(self.path("c.raw"), "wb") as file:
            file.write(bytes(i * i * 7 % 251 for i in range(MiB + 13)))
        self.ok("transpose", "c.raw", "d.raw", "--dtype", "u1", "--shape", f"1,{MiB + 13}", "--checksum", "d.sums")
        with open(self.path("d.sums"), encoding="ascii") as file:
            self.assertEqual(file.read().splitlines(), GOLDEN)
        self.ok("verify", "d.raw", "--checksum", "d.sums")

    def test_decay_is_found_and_placed(self):
        good = self.bytes_of("b.raw")
        self.assertRegex(self.ok("verify", "b.raw", "--checksum", "b.sums").stderr, "b.raw: is what it was, 3 MiB read")
        self.assertEqual(self.ok("verify", "b.raw", "--checksum", "b.sums", "-q").stderr, "")
        for at in self.few([0, MiB - 1, 3 * MiB + 12, int(self.random.integers(len(good)))], 2):
            bad = bytearray(good)
            bad[at] ^= 1 << int(self.random.integers(8))
            with open(self.path("b.raw"), "wb") as file:
                file.write(bad)
            begin = at // MiB * MiB
            self.damaged((begin, min(begin + MiB, len(good))))
        swapped = good[MiB:2 * MiB] + good[:MiB] + good[2 * MiB:]
        with open(self.path("b.raw"), "wb") as file:
            file.write(swapped)
        self.damaged((0, 2 * MiB))
        for size in self.few([3 * MiB + 12, 3 * MiB, 5 * MiB, 0], 2):
            with open(self.path("b.raw"), "wb") as file:
                file.write(good)
                file.truncate(size)
            self.refused("verify", "b.raw", "--checksum", "b.sums", code=1, says=f"has {size} bytes; it had {len(good)}")

    def test_every_kind_of_output(self):
        a = self.noise((600, 600), "f8")  # almost 3 MiB
        self.save("a.npy", a)
        self.save("in.npy", a)
        for name, *options in [("c.npy", ), ("d.npy", "--verify"), ("e.npy", "--resumable"), ("f.npy", "--trace", "f.json")]:
            self.ok("transpose", "a.npy", name, "--checksum", name + ".sums", *options)
            self.ok("verify", name, "--checksum", name + ".sums")
        self.ok("transpose", "--in-place", "in.npy", "--checksum", "in.sums")
        self.assert_same(self.load("in.npy"), a.T)
        self.ok("verify", "in.npy", "--checksum", "in.sums")
        self.ok("transpose", "a.npy", "c.npy", "--select=:0,:", "--force", "--checksum", "c.npy.sums")  # empty
        self.ok("verify", "c.npy", "--checksum", "c.npy.sums")
        self.ok("transpose", "a.npy", "g.npy", "--checksum", "g.sums", "--dry-run")
        self.assertFalse(os.path.exists(self.path("g.sums")))

    def test_refusals(self):
        says = {"b.sums": "b.sums: exists", "b2.raw": "--checksum: b2.raw is the file of OUT", "a.raw": "a.raw: is the same file as the input"}
        for name, text in says.items():
            options = [] if name == "b.sums" else ["--force"]
            self.refused("transpose", "a.raw", "b2.raw", *self.command[3:], "--checksum", name, *options, says=text)
        self.refused("transpose", "a.raw", "b.%d.raw", "--dtype", "u1", "--shape", f"{3 * MiB + 13},1", "--axes", "1,0", "--split", "0", "--checksum", "c.sums",
                     says="--checksum: is of one file")
        self.refused("verify", "b.raw", says="'b.raw' is not a command; .* or OUT and --checksum FILE")
        self.refused("verify", says="expected one of transpose")
        self.refused("verify", "no.raw", "--checksum", "b.sums", says="no.raw: .*No such file")
        with open(self.path("b.sums"), encoding="ascii") as file:
            lines = file.read().splitlines()
        bad = [(1, lines[1][:-1]), (2, lines[2] + "0"), (3, "g" + lines[3][1:]), (0, lines[0] + " "), (0, ""), (4, ""),
               (0, lines[0].replace("3145741", "-1")), (0, lines[0].replace("3145741", "3145741000"))]
        for at, text in self.few(bad, 4):
            with open(self.path("bad.sums"), "w", encoding="ascii") as file:
                file.write("\n".join(lines[:at] + [text] + lines[at + 1:]) + "\n")
            self.refused("verify", "b.raw", "--checksum", "bad.sums", says=r"bad.sums: line \d: ")
        open(self.path("bad.sums"), "w", encoding="ascii").close()
        self.refused("verify", "b.raw", "--checksum", "bad.sums", says="bad.sums: line 0")


class Memory(Case):
    def test_memory_is_bounded(self):
        size = 48 * MiB if SANITIZED else 192 * MiB if LONG else 96 * MiB
        a = self.noise((size >> 14, 1 << 14), "u1")
        self.save("a.npy", a)
        for order in self.few("FC", 1):  # in Fortran order the bytes are the same
            self.save("b.npy", np.asarray(a.T, order=order))
            report = self.json("verify", "transpose", "a.npy", "b.npy", "--memory", "16MiB")
            if not SANITIZED:
                self.assertLess(report["peak_memory"], 56 * MiB)


if __name__ == "__main__":
    main()
