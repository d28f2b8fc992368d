#!/usr/bin/python3
"""--trace and xorder report: what is recorded, what is said and drawn of it, and what is refused."""

import itertools
import json
import os
import re
import xml.etree.ElementTree as ElementTree

from harness import Case, LONG, MiB, main, np

RECORD = np.dtype([("begin", "<f8"), ("seconds", "<f4"), ("file", "<u2"), ("write", "?"), ("partial", "?"), ("offset", "<u8"),
                   ("bytes", "<u8")])
HEADER = 4096


def trace_bytes(records, description):
    """A trace as docs/benchmarks.md describes it."""
    text = ("{'descr': [('begin', '<f8'), ('seconds', '<f4'), ('file', '<u2'), ('write', '|b1'), ('partial', '|b1'), "
            f"('offset', '<u8'), ('bytes', '<u8')], 'fortran_order': False, 'shape': ({len(records)},), }}")
    head = b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little") + (text.ljust(HEADER - 11) + "\n").encode()
    return head + records.tobytes() + description + len(description).to_bytes(8, "little")


def described(content):
    """The records and the description of a trace."""
    length = int.from_bytes(content[-8:], "little")
    return (np.frombuffer(content[HEADER:-8 - length], RECORD), json.loads(content[-8 - length:-8]))


class Trace(Case):
    def test_has_what_the_report_says(self):
        self.save("a.npy", self.noise((1024, 1024), "f8"))
        commands = [("transpose",), ("machine", "transpose", "--schedule", "rounds"), ("permute", "--by", "gray"),
                    ("descend", "scan")]
        for engine, command in self.few(itertools.product(["direct", "mapped"], commands), 3):
            words = command[:2] if command[0] in ["descend", "machine"] else command[:1]
            report = self.json(*words, "a.npy", "b.npy", *command[len(words):], "--io", engine, "--trace", "t", "--force")
            records = np.load(self.path("t"))
            again, description = described(self.bytes_of("t"))
            self.assertEqual(records.dtype, RECORD)
            self.assertTrue(np.array_equal(records, again))
            del report["inputs"]  # the trace has a list of all files
            self.assertEqual(description["report"], report)
            written = records["write"]
            self.assertEqual(records["bytes"][~written].sum(), report["bytes_read"])
            # The header of b.npy is none of the data.
            self.assertEqual(records["bytes"][written].sum(), report["bytes_written"] + HEADER)
            self.assertEqual(len(records), report["reads"] + report["writes"] + 1)
            self.assertLess((records["begin"] + records["seconds"]).max(), description["seconds"] + 0.001)
            names = {os.path.basename(file["name"]) for file in description["files"]}
            self.assertEqual(names - {"scratch file"}, {"a.npy", "b.npy"})
            self.assertIn(f"--io {engine}", description["command"])

            told = self.json("report", "t")
            for key in ["bytes_read", "reads"]:
                self.assertEqual(told[key], report[key])
            self.assertEqual(told["bytes_written"], report["bytes_written"] + HEADER)
            self.assertEqual(sum(file["bytes_read"] for file in told["files"]), told["bytes_read"])

    def test_of_an_array_with_nothing_in_it(self):
        self.save("a.npy", np.empty((0, 4)))
        self.ok("transpose", "a.npy", "b.npy", "--trace", "t")
        records = np.load(self.path("t"))
        self.assertEqual(records.dtype, RECORD)
        self.assertEqual(records["bytes"].sum(), os.path.getsize(self.path("b.npy")))
        self.assertEqual(self.json("report", "t")["writes"], len(records))

    def test_must_be_a_file_of_its_own(self):
        self.save("a.npy", self.noise((8, 8), "f8"))
        self.write("old", "old")
        transpose = ("transpose", "a.npy", "b.npy")
        self.refused(*transpose, "--trace", "old", says="old: exists")
        self.refused(*transpose, "--trace", "b.npy", says="--trace: b.npy is the file of OUT")
        self.refused(*transpose, "--trace", "./b.npy", "--force", says="is the file of OUT")
        self.refused(*transpose, "--trace", "a.npy", "--force", says="same file as the input")
        self.refused(*transpose, "--trace", "missing/t", says="missing")
        self.refused(*transpose, "--trace", "t", "--dry-run", says="dry-run")
        self.ok(*transpose, "--trace", "old", "--force")

    def test_nothing_is_left_of_a_run_that_fails(self):
        self.save("a.npy", np.array([2.0, 1.0, 4.0, 3.0]))
        self.refused("descend", "merge", "a.npy", "b.npy", "--trace", "t", says="sorted")


class Report(Case):
    in_memory = True
    size = 1 << 30

    def synthetic(self, count, seconds=100.0):
        records = np.zeros(count, RECORD)
        records["seconds"] = 10 ** self.random.uniform(-5, -1, count)
        records["begin"] = self.random.uniform(0, seconds - 0.1, count)
        records["file"] = self.random.integers(0, 2, count)
        records["write"] = records["file"] == 1
        records["bytes"] = 65536
        records["offset"] = self.random.integers(0, self.size // 65536, count) * 65536
        return records

    def description(self, **others):
        files = [{"name": name, "bytes": self.size, "writable": name != "a"} for name in ["a", "<b> & c"]]
        return {"seconds": 100.0, "command": "xorder transpose <a> '\"&", "files": files, **others}

    def make(self, records, description=None):
        self.write("t", trace_bytes(records, json.dumps(self.description() if description is None else description).encode()))

    def page(self):
        self.ok("report", "t", "--html", "t.html", "--force")
        content = self.bytes_of("t.html")
        root = ElementTree.fromstring(content)  # it is XML, too
        return content, root, "".join(root.itertext())

    def test_a_page_of_many_records_is_small(self):
        records = self.synthetic(1_000_000 if LONG else 250_000)
        self.make(records)
        told = self.json("report", "t")
        self.assertEqual((told["reads"], told["writes"]), ((~records["write"]).sum(), records["write"].sum()))
        self.assertEqual(told["bytes_read"], 65536 * told["reads"])
        busy = records["seconds"].sum(dtype="f8")
        self.assertAlmostEqual(told["in_flight"], busy / 100, delta=busy * 1e-5)
        for kind, name in [(False, "read_latency"), (True, "write_latency")]:
            seconds = records["seconds"][records["write"] == kind]
            for key, part in [("median", 0.5), ("p90", 0.9), ("p99", 0.99)]:
                self.assertAlmostEqual(told[name][key] / np.quantile(seconds, part), 1, delta=0.03)
            self.assertEqual(told[name]["largest"], float(seconds.max()))
        content, root, text = self.page()
        self.assertLess(len(content), 2 * MiB)
        self.assertIn("<b> & c", text)
        self.assertIn("xorder transpose <a> '\"&", text)
        figures = root.findall(".//{http://www.w3.org/2000/svg}svg")
        self.assertEqual(len(figures), 5)  # two files, throughput, queue depth, latency
        for figure in figures:
            labels = [node.text for node in figure.iter("{http://www.w3.org/2000/svg}text")]
            self.assertTrue(any(label.startswith(("time (s)", "latency")) for label in labels), labels)
        self.assertNotRegex(content.decode(), r"(src|href)=|\bnan\b|\binf\b")  # self-contained, and all numbers are some

    def test_the_picture_shows_where_the_bytes_are(self):
        records = self.synthetic(1)
        records[0] = (50.0, 1e-3, 0, False, False, self.size // 2, 65536)
        self.make(records)
        cells = re.findall(r'<path d="M(\d+) (\d+)\.5h(\d+)" class="cells', self.page()[0].decode())
        grid = re.search(r"scale\(([\d.]+) -([\d.]+)\)", self.page()[0].decode())
        self.assertEqual(len(cells), 1)
        column, row, length = map(int, cells[0])
        self.assertEqual(length, 1)
        self.assertAlmostEqual(column * float(grid[1]) / (900 - 62 - 18), 0.5, delta=0.02)
        self.assertGreater(float(grid[2]), 0)
        self.assertGreater(row, 50)

    def test_a_description_that_says_two_things(self):
        self.write("t", trace_bytes(self.synthetic(1), json.dumps(self.description()).encode()[:-1] + b', "seconds": 1}'))
        self.refused("report", "t", says='t: the key "seconds" is there twice')

    def test_traces_with_nothing_in_them(self):
        for description in [self.description(), self.description(files=[])]:
            self.make(self.synthetic(0), description)
            self.assertEqual(self.json("report", "t")["reads"], 0)
            self.page()

    def test_unknown_facts_are_left_out(self):
        self.make(self.synthetic(10), self.description(host={"processor": 7, "caches": "?", "disk": []}, plan=[], report=None, command=3))
        self.page()

    def test_keys_are_documented(self):
        from test_json import documented
        self.make(self.synthetic(10))
        told = self.json("report", "t")
        keys = documented()["report"]
        self.assertEqual(set(told), keys[0])
        self.assertEqual(set(told["files"][0]), keys[1])

    def test_what_is_no_trace_is_refused(self):
        good = self.synthetic(3)
        self.make(good)
        whole = self.bytes_of("t")
        for content in self.few([b"", b"text", whole[:100], whole[:HEADER], whole[:-1], whole + b"x",
                                 whole[:HEADER] + whole[HEADER + 32:]], 3):
            self.write("t", content)
            self.refused("report", "t", says="is not a trace")
        np.save(self.path("t.npy"), np.zeros(1000))
        self.refused("report", "t.npy", says="is not a trace")
        for field, value in self.few([("begin", np.nan), ("begin", -1), ("seconds", np.inf), ("file", 2), ("begin", 200),
                                      ("bytes", 1 << 63)], 3):
            bad = good.copy()
            bad[field][1] = value
            self.make(bad)
            self.refused("report", "t", "--html", "t.html", says="damaged")
        for description in self.few([3, {}, self.description(seconds=0), self.description(seconds="1"), self.description(files=[{}]),
                                     self.description(files=[{"name": "a", "bytes": -1}])], 3):
            self.make(good, description)
            self.refused("report", "t", says="t: is damaged: its description")
        self.write("t", trace_bytes(good, b"{"))
        self.refused("report", "t", says="description")
        self.refused("report", "missing", says="missing")
        self.make(good)
        self.write("t.html", "old")
        self.refused("report", "t", "--html", "t.html", says="exists")
        self.refused("report", "t", "--html", "t", "--force", says="same file")


if __name__ == "__main__":
    main()
