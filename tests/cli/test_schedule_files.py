#!/usr/bin/python3
"""Schedules that users bring: xorder schedule file checks and shows them, xorder machine run moves files by them."""

import json
import xml.etree.ElementTree

from harness import MiB, Case, bit_reversed, main, np, transposed
from test_schedule import EXAMPLES, SMALLEST, make_files

TORI = [("mesh", "--size", 6, "--torus"), ("mesh", "--size", 7, "--torus")]


def lines(messages):
    """Messages (step, from, to[, path]) as a file has them."""
    return "".join(json.dumps({"step": m[0], "from": m[1], "to": m[2], **({"path": m[3]} if len(m) > 3 else {})}) + "\n" for m in messages)


def network_of(report):
    nodes, kind = report["nodes"], report["network"]
    return f"{kind}:{({'hypercube': nodes.bit_length() - 1, 'crossbar': nodes}).get(kind, round(nodes**0.5))}"


class Files(Case):
    in_memory = True

    def file(self, *args, network="hypercube:2"):
        return self.json("schedule", "file", "s.jsonl", "--network", network, *args)

    def faulty(self, *args, network="hypercube:2"):
        result = self.run_xorder("schedule", "file", "s.jsonl", "--network", network, *args)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertNotIn("reached", result.stdout)
        return result.stderr

    def test_every_schedule_is_read_back(self):
        make_files(self)
        for args in EXAMPLES + SMALLEST + TORI:
            with self.subTest(args=args):
                report = self.json("schedule", *args, "--messages", "s.jsonl", "--network-times", "5,2,0.5", "--force")
                own = ("--slots", max(report["slots"], 1), "--network-times", "5,2,0.5")
                if args[0] == "descend":  # a file with updates is not read back
                    continue
                again = self.file(*own, "--messages", "again.jsonl", "--force", network=network_of(report))
                self.assertEqual(self.bytes_of("again.jsonl"), self.bytes_of("s.jsonl"))
                for key in ["network", "nodes", "messages", "crossings", "links", "conflicts", "complete", "ports_in", "ports_out", "timing",
                            "step_crossings"]:
                    self.assertEqual(again[key], report[key], key)
                self.assertIsNone(again["lower_bound"])

    def test_tasks(self):
        self.write("packets.txt", "0 0 3 0\n3 0 0 0\n1 0 1 0\n")
        for made, task, bound in [(("exchange", "--dimension", 3), "transpose", 4), (("exchange", "--dimension", 3, "--kind", "bitreverse"), "bitreverse", 4),
                                  (("mesh", "--size", 9), "transpose", 3), (("mesh", "--size", 7, "--torus"), "transpose", 1),
                                  (("task", "--dimension", 2, "--packets", "packets.txt"), "packets.txt", 1)]:
            report = self.json("schedule", *made, "--messages", "s.jsonl", "--force")
            again = self.file("--task", task, network=network_of(report))
            self.assertEqual((again["lower_bound"], again["complete"], again["conflicts"]), (bound, True, 0))
            self.assertEqual(again["parameters"], {"file": "s.jsonl", "network": network_of(report), "task": task})
        self.ok("schedule", "exchange", "--dimension", 3, "--messages", "s.jsonl", "--force")
        self.assertRegex(self.ok("schedule", "file", "s.jsonl", "--network", "hypercube:3", "--task", "transpose").stdout, r"(?m)^lower bound +4, reached$")
        self.assertIn("what began in slot 1 of node 0 is not in slot 0 of node 4",
                      self.faulty("--task", "bitreverse", network="hypercube:3"))
        self.refused("schedule", "file", "s.jsonl", "--network", "hypercube:3", "--task", "none.txt", says="none.txt")
        self.refused("schedule", "file", "s.jsonl", "--network", "hypercube:3", "--task", "packets.txt", "--svg", "packets.txt", "--force", says="packets.txt")

    def test_without_a_task_only_links_are_checked(self):
        self.write("s.jsonl", lines([(0, [0, 0], [1, 0]), (0, [0, 0], [2, 0]), (1, [1, 0], [3, 1])]))
        text = self.ok("schedule", "file", "s.jsonl", "--network", "hypercube:2").stdout
        for line in [r"steps +2", r"lower bound +unknown without --task", r"checked +no link is used twice in a step; without --task nothing has to arrive"]:
            self.assertRegex(text, rf"(?m)^{line}$")
        self.assertEqual(self.file()["table"], {"heading": "how many messages cross each dimension", "row": "step", "columns": ["j=0", "j=1"],
                                                "rows": [[1, 1], [0, 1]]})
        table = self.file("--contents")["table"]  # what is sent stays as well
        self.assertEqual([row[2:] for row in table["rows"] if row[0] == "1"], [["00.0", "00.0", "00.0", "11.0"], ["00.1", "01.1", "10.1", "00.0"]])
        self.assertEqual(self.file("--slots", 3)["slots"], 3)

    def test_faults_name_step_link_and_messages(self):
        self.write("s.jsonl", lines([(0, [1, 0], [3, 0]), (4, [0, 0], [1, 0]), (4, [0, 1], [1, 1])]))
        self.assertEqual(self.faulty(), "xorder: file 's.jsonl' --network hypercube:2: step 4: the link from node 0 to 1 is used twice: "
                                        "by slot 0 of node 0 to slot 0 of node 1, and by slot 1 of node 0 to slot 1 of node 1\n")
        self.write("s.jsonl", lines([(0, [0, 0], [1, 0]), (0, [3, 0], [1, 0])]))
        self.assertIn("step 0: slot 0 of node 1 is overwritten before it was sent", self.faulty())
        self.write("s.jsonl", lines([(0, [0, 0], [4, 0], [0, 1, 4])]))
        self.refused("schedule", "file", "s.jsonl", "--network", "torus:4", says="s.jsonl: line 1: there is no link from node 1 to 4")

    def test_wrong_lines(self):
        good = '{"step":0,"from":[0,0],"to":[1,0]}\n\n'
        for line, says in [("{", "is not a JSON object"), ('{"step":0,"from":[0,0]}', "to is not"), ('{"step":0,"from":[0,0],"to":[4,0]}', "no node 4"),
                           ('{"step":0,"from":[0,0],"to":[3,0]}', "needs a path"), ('{"step":0,"from":[0,0],"to":[1,0],"via":1}', "expected step")]:
            self.write("s.jsonl", good + line)
            for command in [("schedule", "file", "s.jsonl"), ("machine", "run", "s.jsonl", "a.npy", "b.npy")]:
                self.save("a.npy", np.arange(8))
                self.refused(*command, "--network", "hypercube:2", says=["s.jsonl: line 3: ", says])
        self.write("s.jsonl", good)
        for network, says in [("hypercube", "is not hypercube:D, mesh:N, torus:N or crossbar:P"), ("ring:4", "is not hypercube:D"), ("mesh:0", "--network"),
                              ("crossbar:6", "power of two"), ("hypercube:21", "2\\^21"), ("torus:", "is not hypercube:D"),
                              ("1,2,3", "times are --network-times 1,2,3")]:
            self.refused("schedule", "file", "s.jsonl", "--network", network, says=says)
        self.refused("schedule", "file", "s.jsonl", says="--network is required")
        self.refused("schedule", "file", "s.jsonl", "--network", "mesh:3", "--task", "bitreverse", says="bit reversal")

    def test_drawings(self):
        self.write("s.jsonl", lines([(0, [0, 0], [2, 0], [0, 6, 7, 1, 2]), (0, [4, 0], [1, 0], [4, 5, 0, 1]), (1, [3, 0], [3, 1])]))
        self.ok("schedule", "file", "s.jsonl", "--network", "torus:6", "--svg", "a.svg")
        svg = self.bytes_of("a.svg").decode()
        xml.etree.ElementTree.fromstring(svg)
        self.assertEqual((svg.count('class="head0"'), svg.count('class="head1"')), (1, 1))
        self.assertNotIn("at least", svg)
        for network in ["hypercube:2", "crossbar:4"]:
            self.write("s.jsonl", lines([(0, [0, 0], [2, 0])]))
            self.ok("schedule", "file", "s.jsonl", "--network", network, "--svg", "a.svg", "--force")
            xml.etree.ElementTree.fromstring(self.bytes_of("a.svg").decode())


class Runs(Case):
    def transposed(self, array, d):
        """By the exchange among 2^d processors, each with 2^d slots."""
        n = 1 << d
        return np.ascontiguousarray(array.reshape(n, n, -1).transpose(1, 0, 2)).reshape(array.shape)

    def test_a_file_is_moved(self):
        self.ok("schedule", "exchange", "--dimension", 3, "--messages", "s.jsonl")
        for shape, dtype in [((64,), "u1"), ((16, 12), "<f8"), ((8, 8, 5), "V3")]:
            array = self.noise(shape, dtype)
            self.save("a.npy", array)
            report = self.json("machine", "run", "s.jsonl", "a.npy", "b.npy", "--network", "hypercube:3", "--force")
            self.assert_same(self.load("b.npy"), self.transposed(array, 3))
            self.assertEqual((report["schedule"], report["processors"], report["steps"], report["passes"]), ("file", 8, 4, 1))
            self.assertEqual((report["messages"], report["bytes_moved"]), (96, 96 * array.nbytes // 64))
        fortran = np.asfortranarray(self.noise((8, 16), "<f4"))
        self.save("a.npy", fortran)
        self.ok("machine", "run", "s.jsonl", "a.npy", "b.npy", "--network", "hypercube:3", "--force")
        result = self.load("b.npy")
        self.assertTrue(result.flags.f_contiguous)
        np.testing.assert_array_equal(result.ravel("K"), self.transposed(fortran.ravel("K"), 3))

    def test_what_no_message_replaces_stays(self):
        self.write("s.jsonl", lines([(0, [0, 0], [5, 1], [0, 1, 4, 5]), (1, [5, 1], [8, 0])]))
        array = self.noise((9, 3, 4), "<f4").copy()
        self.save("a.npy", array)
        self.ok("machine", "run", "s.jsonl", "a.npy", "b.npy", "--network", "mesh:3", "--slots", 3)
        array[5, 1] = array[8, 0] = array[0, 0]
        self.assert_same(self.load("b.npy"), array)

    def test_an_array_of_ones_own(self):
        """Edelman's with its rows in another order, and one dimension after the other."""
        for d in [1, 2, 4]:
            rows = self.random.permutation(np.array(self.json("schedule", "exchange", "--dimension", d)["table"]["rows"]))
            in_turn = [[w if k == j else 0 for k in range(d)] for j in range(d) for w in range(1 << d) if w >> j & 1]
            for words, processors in [(rows, ()), (in_turn, ("--processors", 1 << d))]:
                self.write("w.txt", "".join(" ".join(map(str, row)) + "\n" for row in words))
                options = ("--schedule", "exchange", "--array", "w.txt", "--memory", "16MiB", "--force", *processors)
                self.save("a.npy", matrix := self.noise((1 << d + 2, 1 << d), "<f8"))
                report = self.json("machine", "transpose", "a.npy", "b.npy", *options)
                self.assert_same(self.load("b.npy"), transposed(matrix))
                self.assertEqual([report[key] for key in ("processors", "steps", "messages")], [1 << d, len(words), d << 2 * d - 1])
                self.save("a.npy", line := self.noise((1 << 2 * d + 1,), "<f8"))
                self.ok("machine", "bitreverse", "a.npy", "b.npy", *options)
                self.assert_same(self.load("b.npy"), bit_reversed(line))
        self.save("a.npy", self.noise((64, 64), "<f8"))
        run = ("machine", "transpose", "a.npy", "b.npy", "--schedule")
        self.refused(*run, "exchange", "--array", "w.txt", "--processors", 8, "--force", says="4 columns is for 16 virtual processors, not for 8")
        self.refused(*run, "mesh", "--array", "w.txt", "--force", says="--array is for --schedule exchange")
        self.refused(*run[:3], "w.txt", *run[4:], "exchange", "--array", "w.txt", "--force", says="w.txt")
        self.write("w.txt", "3 6 4\n1 7 6\n7 2 5\n5 3 6\n")
        self.refused(*run, "exchange", "--array", "w.txt", "--force", says="the schedule has a fault: ", code=1)
        self.write("w.txt", "3 x\n")
        self.refused(*run, "exchange", "--array", "w.txt", "--force", says='w.txt: line 1: "x" is not')

    def test_large_files_in_stripes_and_times(self):
        self.ok("schedule", "exchange", "--dimension", 3, "--messages", "s.jsonl")
        array = self.noise((64, MiB), "u1")
        self.save("a.npy", array)
        for access in ["direct", "mapped"]:
            args = ("machine", "run", "s.jsonl", "a.npy", "b.npy", "--network", "hypercube:3", "--memory", "24MiB", "--io", access,
                    "--network-times", "5,2,0.5", "--force")
            plan, report = self.json(*args, "--dry-run"), self.json(*args)
            self.assert_same(self.load("b.npy"), self.transposed(array, 3), access)
            self.assertEqual(plan["timing"], report["timing"])
            self.assertGreater(report["timing"]["runs"], 1)
            self.assertEqual(report["bytes_moved"], 96 * MiB)

    def test_what_is_refused(self):
        self.ok("schedule", "exchange", "--dimension", 2, "--messages", "s.jsonl")
        self.save("a.npy", self.noise((15,), "<f8"))
        run = ("machine", "run", "s.jsonl", "a.npy", "b.npy", "--network")
        self.refused(*run, "hypercube:2", says="a.npy: 15 elements are not 4 blocks of 4 equal slots")
        self.save("a.npy", self.noise((32,), "<f8"))
        self.refused(*run, "hypercube:2", "--slots", 2, says="line 1: there is no slot 3; a node has 2")
        self.refused(*run, "hypercube:1", says="there is no node 2; the network has 2")
        self.refused(*run, "2,0,1", says="times are --network-times 2,0,1")
        self.refused("machine", "run", "s.jsonl", "a.npy", "s.jsonl", "--network", "hypercube:2", "--force", says="s.jsonl")
        self.write("s.jsonl", lines([(0, [0, 0], [1, 0]), (0, [0, 1], [1, 1])]))
        self.refused(*run, "hypercube:2", says="the schedule has a fault: step 0: the link from node 0 to 1 is used twice", code=1)
        self.save("a.npy", np.zeros((0, 4)))
        self.write("s.jsonl", "")
        self.refused(*run, "hypercube:2", says="0 elements are not")


if __name__ == "__main__":
    main()
