#!/usr/bin/python3
"""What --json says, of runs, plans, files and permutations."""

import json
import os
import re
import resource
import time
import unittest

import containers
from harness import (Case, MiB, NAMED_MAPS, affine_map, bits_map, index, main, matrix_text, morton, np, random_columns,
                     rotation, rounds)

RUN = {"passes": int, "queue": str, "bytes_read": int, "bytes_written": int, "seconds": (int, float), "peak_memory": int}
PLAN = {"passes": int, "tile_bytes": int, "source_block_bytes": int, "target_block_bytes": int,
        "predicted_seconds": (int, float)}


class Moving(Case):
    def check(self, report, fields):
        for name, kind in fields.items():
            self.assertIsInstance(report.get(name), kind, name)

    def test_reports(self):
        for array in [self.noise((256, 512), "f8"), np.empty((0, 4)), np.array(5.0)]:
            self.save("a.npy", array)
            for command in [("transpose",), ("permute", "--by", "gray"), ("bitreverse",)]:
                if array.size == 0 and command[0] == "permute" or array.ndim == 0 and command[0] == "bitreverse":
                    continue
                for engine in self.few(["direct", "mapped"], 1):
                    started = time.monotonic()
                    result = self.ok(command[0], "a.npy", "b.npy", *command[1:], "--json", "--force", "--io", engine, "-q")
                    passed = time.monotonic() - started
                    self.assertEqual(result.stderr, "")
                    report = json.loads(result.stdout)
                    self.check(report, RUN)
                    self.assertEqual(report["bytes"], array.nbytes)
                    self.assertGreaterEqual(report["bytes_read"], array.nbytes * report["passes"])
                    self.assertGreaterEqual(report["bytes_written"], array.nbytes * report["passes"])
                    self.assertLessEqual(report["seconds"], passed)
                    self.assertGreater(report["peak_memory"], MiB)

    def test_last_blocks_are_counted(self):
        self.save("a.npy", self.noise((3, 5), "f8"))
        self.assertEqual(self.json("transpose", "a.npy", "b.npy", "--io", "direct")["bytes_written"], 120)

    def test_standard_output_has_the_object_only(self):
        self.save("a.npy", self.noise((256, 512), "f8"))
        for options in [(), ("-q",), ("--progress", "bar"), ("--progress", "none")]:
            json.loads(self.ok("transpose", "a.npy", "b.npy", "--json", "--force", *options).stdout)
        self.refused("transpose", "a.npy", "b.npy", "--json", says="exists")

    def test_without_json_standard_output_is_empty(self):
        self.save("a.npy", self.noise((256, 512), "f8"))
        result = self.ok("transpose", "a.npy", "b.npy")
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"\Ab\.npy: 1 MiB in .*\n\Z")
        result = self.ok("transpose", "a.npy", "c.npy", "--quiet")
        self.assertEqual((result.stdout, result.stderr), ("", ""))

    def test_progress_counts_the_bytes_of_the_file(self):
        with open(self.path("a.raw"), "wb") as file:
            file.truncate(64 * MiB)
        bar = self.ok("transpose", "a.raw", "b.raw", "--dtype", "u1", "--shape", "8192,8192", "--memory", "16MiB",
                      "--device", "hdd", "--progress", "bar").stderr
        self.assertRegex(bar, r" of 64 MiB .* pass 1 of 2")
        self.assertNotIn("128 MiB", bar)

    def test_plans(self):
        with open(self.path("a.raw"), "wb") as file:
            file.truncate(512 * MiB)  # sparse, and not read
        raw = ("--dtype", "f8", "--shape", "8192,8192", "--memory", "64MiB")
        for device in ["ssd", "hdd"]:
            before = self.listing()
            plan = self.json("transpose", "a.raw", "b.raw", *raw, "--dry-run", "--device", device)
            text = self.ok("transpose", "a.raw", "b.raw", *raw, "--dry-run", "--device", device)
            self.assertEqual(self.listing(), before)
            self.check(plan, PLAN)
            self.assertEqual(plan["bytes"], 512 * MiB)
            self.assertLessEqual(plan["tile_bytes"], 64 * MiB)
            self.assertGreater(plan["predicted_seconds"], 0)
            self.assertLessEqual(plan["planned_memory"], (64 + 40) * MiB)
            self.assertEqual(len(plan["pass_list"]), plan["passes"])
            self.assertRegex(text.stdout, rf"\b{plan['passes']} pass")
            self.assertEqual(text.stderr, "")

    def test_plans_need_what_runs_need(self):
        self.save("a.npy", self.noise((4, 6), "f8"))
        self.write("b.npy", "old")
        self.refused("transpose", "a.npy", "b.npy", "--dry-run", says="exists")
        self.refused("transpose", "a.npy", "missing/b.npy", "--dry-run", says="missing")
        self.refused("bitreverse", "a.npy", "c.npy", "--dry-run", says="power of two")

    def test_empty_plans(self):
        self.save("a.npy", np.empty((0, 4)))
        plan = self.json("transpose", "a.npy", "b.npy", "--dry-run")
        self.check(plan, PLAN)
        self.assertEqual((plan["bytes"], plan["bytes_read"], plan["bytes_written"]), (0, 0, 0))


def documented():
    """The keys of each kind of object by docs/json.md: {heading of a table's section: [keys of its first table, of its second]}."""
    with open(os.path.join(os.path.dirname(__file__), "../../docs/json.md"), encoding="utf-8") as file:
        text = file.read()
    tables = {}
    for section in text.split("\n## ")[1:]:
        name = section.split("\n", 1)[0]
        tables[name] = [{key for row in re.findall(r"(?m)^\| (`.*?) \| (?:string|bytes|number|list|object|seconds|boolean) \|", table)
                         for key in re.findall(r"`(\w+)`", row)} for table in section.split("\n|---|---|---|\n")[1:]]
    return tables


class Schema(Case):
    """docs/json.md has every key, and every key is there."""

    def test_keys(self):
        keys = documented()
        self.save("a.npy", self.noise((64, 64), "f8"))
        for command in [("transpose",), ("bitreverse",), ("permute", "--by", "gray"), ("descend", "scan")]:
            run = (*command[:2], "a.npy", "b.npy") if command[0] == "descend" else (command[0], "a.npy", "b.npy", *command[1:])
            plan = self.json(*run, "--dry-run", "--force")
            self.assertEqual(set(plan), keys["Plan"][0], command)
            for each in plan["pass_list"]:
                self.assertEqual(set(each), {"tiles", "tile_bytes", "source_block_bytes", "target_block_bytes", "memory",
                                             "predicted_seconds"})
            self.assertEqual(set(self.json(*run, "--force")), keys["Report"][0], command)
        scheduled = ("machine", "transpose", "a.npy", "b.npy", "--force", "--schedule", "rounds")
        self.assertEqual(set(self.json(*scheduled)), keys["Report"][0] | keys["Report"][1] - {"timing"})
        timed = self.json(*scheduled, "--network-times", "1,1,1")
        self.assertEqual(set(timed), keys["Report"][0] | keys["Report"][1])
        self.assertEqual(set(timed["timing"]), {"startup", "per_hop", "per_byte", "ports", "runs", "wormhole", "store_and_forward"})
        self.assertEqual(set(self.json(*scheduled, "--dry-run", "--network-times", "1,1,1")), keys["Plan"][0] | keys["Report"][1])
        self.assertEqual(set(self.json("info", "a.npy")), keys["info"][0])
        self.write("a.fits", containers.fits(self.noise((4, 5), ">f4")))
        self.assertEqual(set(self.json("info", "a.fits:0")), keys["info"][0] | {"axes", "name", "note"})
        listed = self.json("info", "a.fits")
        self.assertEqual(set(listed), {"path", "format", "arrays"})
        self.assertEqual(set(listed["arrays"][0]), keys["info"][0] - {"path", "format", "rest"} | keys["info"][1])
        self.assertEqual(set(self.json("show", "gray", "--bits", 5)), keys["show"][0])
        self.assertEqual(set(self.json("show", "gray", "--bits", 5, "--block", 4)), keys["show"][0] | keys["show"][1])
        self.assertEqual(set(self.json("show", "gray", "--bits", 5, "--processors", 4)), keys["show"][0] | keys["show"][2])
        schedule = self.json("schedule", "exchange", "--dimension", 11)
        self.assertLessEqual(keys["schedule"][0], set(schedule))
        self.assertEqual(set(schedule["table"]), {"heading", "row", "columns", "rows"})
        checked = self.json("schedule", "exchange", "--dimension", 11, "--check")
        self.assertEqual(set(checked) - set(schedule), keys["schedule"][1])
        self.write("tags", "01\n11\n")
        self.write("packets", "0 0 1 0\n1 0 2 0\n")
        self.write("array", "1\n")
        more = set()
        for kind in [("exchange", "--dimension", 2, "--contents", "--network-times", "1,1,1"), ("exchange", "--array", "array"),
                     ("mesh", "--size", 4), ("mesh", "--size", 4, "--torus"), ("bmmc", "--by", "gray", "--bits", 4, "--processors", 4, "--factors"),
                     ("isotropic", "--tags", "tags"), ("task", "--dimension", 2, "--packets", "packets"), ("descend", "--dimension", 2, "--per-node", 2),
                     ("aspc", "--dimension", 2), ("banded", "--dimension", 4, "--beta", 1), ("banded", "--dimension", 7, "--bandwidth", 35),
                     ("banded", "--dimension", 5, "--beta", 2, "--matrices", 2)]:
            more |= set(self.json("schedule", *kind)) - keys["schedule"][0] - keys["schedule"][1]
        self.assertEqual(more, keys["schedule"][2])


class Info(Case):
    in_memory = True

    def test_npy(self):
        for array in [self.noise((3, 4, 5), "<f8"), np.asfortranarray(self.noise((3, 4), ">i2")), np.array(1j), np.empty((0, 7)),
                      self.noise((5,), [("x", "u1"), ("y", "<f4")])]:
            self.save("a.npy", array)
            info = self.json("info", "a.npy")
            fortran = array.ndim > 1 and not array.flags.c_contiguous
            descr = np.lib.format.dtype_to_descr(array.dtype)
            self.assertEqual(info, {"path": "a.npy", "format": "npy", "dtype": descr if isinstance(descr, str) else f"|V{array.itemsize}",
                                    "descr": repr(descr), "element_bytes": array.itemsize,
                                    "shape": list(array.shape), "order": "Fortran" if fortran else "C",
                                    "strides": list(array.strides) if array.size else [56, 8], "offset": os.path.getsize(self.path("a.npy")) - array.nbytes,
                                    "bytes": array.nbytes, "rest": 0})

    def test_raw(self):
        self.write("a.raw", bytes(100))
        self.assertEqual(self.json("info", "a.raw", "--dtype", "f8", "--shape", "3,4", "--offset", "4"),
                         {"path": "a.raw", "format": "raw", "dtype": "<f8", "descr": "'<f8'", "element_bytes": 8, "shape": [3, 4], "order": "C",
                          "strides": [32, 8], "offset": 4, "bytes": 96, "rest": 0})

    def test_names_that_a_terminal_would_obey(self):
        """JSON escapes controls below a blank; those of C1, and what else does not print, are escaped here."""
        names = ["c1\u009b2J", "delete\x7f", "bidi\u202e", "tag\U000e0041", b"\xff\xed\xa0\x80"]
        for name in [*self.few(names, 2), "\u00e9\u2603\U0001f600"]:
            path = os.fsencode(self.dir) + b"/" + (os.fsencode(name))
            np.save(path.decode(errors="surrogateescape"), np.zeros(3))
            os.rename(path + b".npy", path)
            text = self.ok("info", name, "--json").stdout
            said = json.loads(text)["path"]
            self.assertEqual(said, name) if isinstance(name, str) else self.assertEqual(set(said), {"\ufffd"})
            self.assertTrue(all(c.isprintable() for c in text[:-1]), ascii(text))
        self.assertIn("\u00e9\u2603\U0001f600", self.ok("info", "\u00e9\u2603\U0001f600", "--json").stdout)

    def test_types_are_taken_back(self):
        for dtype in self.few(["u1", ">i4", "c16", "b1", "f2", "S5", "U3", "V24", [("x", "u1"), ("y", "<f4")]], 3):
            self.save("a.npy", np.zeros((4, 6), dtype))
            info = self.json("info", "a.npy")
            raw = ("--dtype", info["dtype"], "--shape", ",".join(map(str, info["shape"])), "--offset", info["offset"])
            self.write("a.raw", self.bytes_of("a.npy")[1:])  # no .npy file any more
            again = self.json("info", "a.raw", *raw[:-1], info["offset"] - 1)
            for key in ["dtype", "element_bytes", "shape", "order", "bytes"]:
                self.assertEqual(again[key], info[key], (dtype, key))

    def test_shape_of_one_element(self):
        self.write("a.raw", bytes(8))
        for shape in ["()", " ( ) "]:
            self.assertEqual(self.json("info", "a.raw", "--dtype", "f8", "--shape", shape)["shape"], [])
        self.ok("transpose", "a.raw", "b.npy", "--dtype", "f8", "--shape", "()")
        self.assertEqual(self.load("b.npy").shape, ())

    def test_text_says_the_same(self):
        self.save("a.npy", np.zeros((3, 4)))
        text = self.ok("info", "a.npy").stdout
        for word in ["npy", "<f8", "(3, 4)", "C", "128", "96"]:
            self.assertIn(word, text)
        self.save("a.npy", np.zeros(84, "u1"))
        text = self.ok("info", "a.npy").stdout
        for word in ["'|u1' (1 byte)", "(84,)"]:
            self.assertIn(word, text)


class Show(Case):
    in_memory = True

    def check(self, target, n, *args):
        shown = self.json("show", *args)
        self.assertEqual(shown["bits"], n)
        self.assertEqual(affine_map(shown["columns"], shown["complement"]).tolist(), list(target))
        inverse = shown["inverse"]
        self.assertEqual(affine_map(inverse["columns"], inverse["complement"]).tolist(), np.argsort(target).tolist())
        self.assertEqual(len(shown["rank_gamma"]), n + 1)
        self.assertEqual(shown["rank_gamma"], [self.rank_gamma(shown["columns"], b) for b in range(n + 1)])
        return shown

    @staticmethod
    def rank_gamma(columns, b):
        """The rank of the rows from b up of the columns below b."""
        basis = []
        for column in (column >> b for column in columns[:b]):
            for other in basis:
                column = min(column, column ^ other)
            basis += [column] if column else []
        return len(basis)

    def test_expressions(self):
        for n in [1, 2, 7]:
            for name, target in self.few(NAMED_MAPS.items(), 2):
                self.check(target(n), n, name, "--bits", n)
        self.check([0], 0, "identity", "--bits", 0)
        self.check(rotation(7, 3), 7, "transpose(3,4)", "--bits", 7)
        self.check(rotation(7, -2), 7, "rotate(-2)", "--bits", 7)
        self.check(morton(6, 3), 6, "morton(3)", "--bits", 6)
        self.check(bits_map([2, 0, 1]), 3, "bits(2,0,1)", "--bits", 3)
        self.check(index(4) ^ 9, 4, "xor(0x9)", "--bits", 4)
        self.check(NAMED_MAPS["gray"](5)[NAMED_MAPS["reverse"](5)], 5, "gray * reverse", "--bits", 5)

    def test_matrices(self):
        for _ in range(rounds(2, 5)):
            n = int(self.random.integers(1, 11))
            columns, complement = random_columns(self.random, n), int(self.random.integers(1 << n))
            self.write("matrix.txt", matrix_text(columns, complement))
            shown = self.check(affine_map(columns, complement), n, "--matrix", "matrix.txt")
            self.assertEqual((shown["columns"], shown["complement"]), (columns, complement))

    def test_passes_and_factors(self):
        """As many passes as the formula says, whose product is the permutation."""
        for n, b, m in [(12, 3, 5), (12, 4, 5), (10, 2, 9), (9, 4, 6)]:
            for _ in range(rounds(1, 3)):
                columns = random_columns(self.random, n)
                self.write("matrix.txt", matrix_text(columns))
                shown = self.json("show", "--matrix", "matrix.txt", "--block", 1 << b, "--memory", 1 << m)
                self.assertEqual(shown["passes"], max(1, -(-self.rank_gamma(columns, b) // (m - b))))
                self.assertEqual(len(shown["factors"]), shown["passes"])
                product = index(n)
                for factor in shown["factors"]:  # in the order in which they are applied
                    product = affine_map(factor["columns"], factor["complement"])[product]
                self.assertEqual(product.tolist(), affine_map(columns).tolist())

    def test_factors_of_rounds(self):
        """A = V W and V = A T R Π, for indices whose top bits are the processor's; as xorder schedule bmmc prints them."""
        for n, processors, layout in self.few([(6, 4, "major"), (7, 8, "minor"), (8, 8, "3"), (5, 1, "major"), (5, 32, "minor"), (0, 1, "0")], 2):
            columns = random_columns(self.random, n)
            self.write("matrix.txt", matrix_text(columns) if n else "")
            what = ("--matrix", "matrix.txt") if n else ("identity", "--bits", 0)
            shown = self.json("show", *what, "--processors", processors, "--layout", layout)
            f, p = shown["layout"], processors.bit_length() - 1
            self.assertEqual(f, {"major": n - p, "minor": 0}.get(layout, f))
            self.assertEqual((shown["processors"], shown["rounds"]), (processors, 1 << self.rounds_rank(columns, f, p)))
            number = {name: np.array([[int(c) for c in row] for row in rows], int).reshape(n, n)
                      for name, rows in shown["round_factors"].items()}
            top = list(range(f)) + list(range(f + p, n)) + list(range(f, f + p))  # the processor's bits last
            a = np.array([[columns[j] >> i & 1 for j in top] for i in top], int).reshape(n, n)
            self.assertEqual((number["V"] @ number["W"] % 2).tolist(), a.tolist())
            self.assertEqual((a @ number["T"] @ number["R"] @ number["Π"] % 2).tolist(), number["V"].tolist())
            if n:
                schedule = ("schedule", "bmmc", "--matrix", "matrix.txt", "--processors", processors, "--layout", layout, "--factors")
                self.assertEqual(self.json(*schedule)["factors"], shown["round_factors"])
        text = self.ok("show", "gray", "--bits", 5, "--processors", 4).stdout
        self.assertIn("4 processors, whose numbers begin at index bit 3: 1 round; A = V W", text)
        for name in ["T, trailer", "R, reducer", "Π, swapper", "W, within the processors", "V, across them"]:
            self.assertIn(name, text)
        self.assertIn("Q A Q^-1 = V W", self.ok("show", "gray", "--bits", 5, "--processors", 4, "--layout", "minor").stdout)
        self.refused("show", "gray", "--bits", 5, "--layout", "minor", says="--layout needs --processors")
        self.refused("show", "gray", "--bits", 5, "--processors", 64, says="--processors is 64")
        self.refused("show", "gray", "--bits", 5, "--processors", 3, says="power of two")
        self.refused("show", "gray", "--bits", 5, "--processors", 4, "--layout", "4", says="4")

    def rounds_rank(self, columns, f, p):
        """The rank of the processor's rows of the other columns."""
        others = [column >> f & (1 << p) - 1 for j, column in enumerate(columns) if not f <= j < f + p]
        return self.rank_gamma([column << len(others) for column in others], len(others))

    def test_large(self):
        shown = self.json("show", "bitreverse * gray", "--bits", 62)
        self.assertEqual((shown["bits"], len(shown["columns"]), len(shown["rank_gamma"])), (62, 62, 63))
        for bits in ["63", "-1", "x", ""]:
            self.refused("show", "gray", "--bits", bits, says="--bits")

    def test_drawings_are_made_as_safely_as_outputs(self):
        self.write("matrix", matrix_text([1, 2, 4]))
        for name in ["matrix", "./matrix"]:
            self.refused("show", "--matrix", "matrix", "--svg", name, "--force", says="same file")
        os.link(self.path("matrix"), self.path("link"))
        self.refused("show", "--matrix", "matrix", "--svg", "link", "--force", says="same file")
        self.write("tags", "010\n")
        self.refused("schedule", "isotropic", "--tags", "tags", "--svg", "tags", "--force", says="same file")
        # What is behind a symbolic link is replaced, not the link, and keeps its permissions.
        self.write("real.svg", "old")
        os.chmod(self.path("real.svg"), 0o600)
        os.symlink("real.svg", self.path("link.svg"))
        self.ok("show", "gray", "--bits", 5, "--svg", "link.svg", "--force")
        self.assertTrue(os.path.islink(self.path("link.svg")))
        self.assertIn(b"<svg", self.bytes_of("real.svg"))
        self.assertEqual(os.stat(self.path("real.svg")).st_mode & 0o777, 0o600)

    def test_drawings_that_may_not_be_so_large(self):
        limits = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        self.refused("show", "gray", "--bits", 20, "--svg", "gray.svg", says="1000 bytes", preexec_fn=limits)

    def test_drawing(self):
        self.ok("show", "gray", "--bits", 5, "--svg", "gray.svg")
        self.assertRegex(self.bytes_of("gray.svg").decode(), r"\A(<\?xml[^>]*>\s*)?<svg[^>]*>")
        self.refused("show", "gray", "--bits", 5, "--svg", "gray.svg", says=[r"gray\.svg", "exists"])
        self.ok("show", "gray", "--bits", 6, "--svg", "gray.svg", "--force")
        self.refused("show", "gray", "--bits", 5, "--svg", "-", says="-")
        self.refused("show", "gray", "--bits", 5, "--svg", "missing/gray.svg", says="missing")


if __name__ == "__main__":
    main()
