#!/usr/bin/python3
"""xorder schedule: the papers' numbers and tables, what --check and --json say, drawings, and what is refused."""

import json
import math
import re
import shlex
import xml.etree.ElementTree
from fractions import Fraction

from harness import LONG, SANITIZED, Case, main, np

EXAMPLES = [
    ("bmmc", "--by", "bitreverse", "--bits", 8, "--processors", 8, "--layout", "minor"),
    ("exchange", "--dimension", 3),
    ("exchange", "--dimension", 4, "--kind", "bitreverse"),
    ("exchange", "--dimension", 4, "--kind", "one-to-all"),
    ("exchange", "--dimension", 3, "--contents"),
    ("exchange", "--array", "array.txt"),
    ("bmmc", "--matrix", "matrix.txt", "--processors", 4, "--factors"),
    ("isotropic", "--tags", "tags.txt"),
    ("task", "--dimension", 3, "--packets", "packets.txt"),
    ("banded", "--dimension", 4, "--beta", 2),
    ("banded", "--dimension", 5, "--bandwidth", 7),
    ("banded", "--columns", 1000, "--processors", 16, "--bandwidth", 300),
    ("banded", "--dimension", 5, "--bandwidth", 7, "--method", "closed"),
    ("banded", "--dimension", 5, "--bandwidth", 11, "--assignment", "affine"),
    ("banded", "--dimension", 5, "--beta", 2, "--matrices", 2),
    ("banded", "--dimension", 5, "--beta", 2, "--matrices", 2, "--method", "closed"),
    ("banded", "--dimension", 6, "--beta", 1, "--matrices", 4, "--method", "closed"),
    ("mesh", "--size", 7),
    ("mesh", "--size", 6, "--routing", "xy"),
    ("mesh", "--size", 10, "--routing", "two-phase"),
    ("mesh", "--size", 8, "--routing", "recursive"),
    ("mesh", "--size", 9, "--torus"),
    ("mesh", "--size", 10, "--torus", "--routing", "xy"),
    ("aspc", "--dimension", 3),
    ("aspc", "--dimension", 4, "--half", "minus"),
    ("descend", "--dimension", 3, "--per-node", 8),
    ("descend", "--dimension", 2, "--per-node", 4, "--ascend"),
    ("plus-minus", "--dimension", 3, "--by", 1),
    ("plus-minus", "--dimension", 4, "--by", 0, "--half", "minus"),
    ("banded", "--dimension", 5, "--beta", "1,2,0"),
    ("banded", "--dimension", 4, "--beta", 2, "--task-matrix", 5),
    ("isotropic", "--tags", "tags.txt", "--task-matrix", 0),
    ("aspc", "--dimension", 3, "--contents"),
    ("descend", "--dimension", 2, "--per-node", 4, "--contents"),
    ("bmmc", "--by", "gray", "--bits", 6, "--processors", 4, "--layout", 1, "--indices"),
]
# No processors but one, no steps, no packets.
SMALLEST = [
    ("bmmc", "--by", "identity", "--bits", 0, "--processors", 1),
    ("bmmc", "--by", "gray", "--bits", 4, "--processors", 16),
    ("exchange", "--dimension", 0),
    ("banded", "--dimension", 0, "--beta", 0),
    ("banded", "--dimension", 3, "--beta", 3),
    ("mesh", "--size", 1),
    ("mesh", "--size", 1, "--routing", "xy"),
    ("mesh", "--size", 1, "--routing", "recursive"),
    ("mesh", "--size", 1, "--torus"),
    ("mesh", "--size", 2, "--torus"),
    ("aspc", "--dimension", 0),
    ("aspc", "--dimension", 1),
    ("plus-minus", "--dimension", 1, "--by", 0),
    ("exchange", "--dimension", 0, "--task-matrix", 0),
    ("bmmc", "--by", "identity", "--bits", 0, "--processors", 1, "--indices"),
    ("descend", "--dimension", 0, "--per-node", 1),
    ("descend", "--dimension", 0, "--per-node", 4),
]


def make_files(case):
    """What the examples read."""
    case.write("array.txt", "# Edelman's, rows exchanged\n1 7 6\n3 6 4\n5 3 7\n\n7 2 5\n")
    case.write("matrix.txt", "0001\n0010\n0100\n1000\nc 1100\n")
    case.write("packets.txt", "# node slot to node slot\n0 0 7 0\n1 0 6 2\n7 0 0 0\n5 1 5 1\n\n2 2 3 2 # near\n")
    case.write("tags.txt", "# 110 is dimensions 0 and 1\n110\n 0 1 1\n\n111\n000\n")


class Schedule(Case):
    in_memory = True

    def setUp(self):
        super().setUp()
        make_files(self)

    def report(self, *args):
        return self.json("schedule", *args)

    def test_checked(self):
        for args in self.few(EXAMPLES + SMALLEST, 16):
            with self.subTest(args=args):
                report = self.report(*args, "--check")
                self.assertEqual((report["conflicts"], report["complete"]), (0, True))
                self.assertGreaterEqual(report["steps"], report["lower_bound"])
                self.assertEqual(sum(report["step_crossings"]), report["crossings"])
                # In some rounds all chunks may stay, and in some steps of Hu's formula nothing is sent.
                busy = sum(count > 0 for count in report["step_crossings"])
                self.assertEqual(busy if "rounds" in report else len(report["step_crossings"]), report["steps"])
                self.assertIn("every message arrives", self.ok("schedule", *args, "--check").stdout)
                self.assertEqual(self.report(*args), report, "small ones are always checked")

    def numbers(self, *args):
        report = self.report(*args, "--check")
        return report["steps"], report["crossings"], report["lower_bound"]

    def test_golden_numbers(self):
        for d, steps, crossings in self.few([(1, 1, 2), (2, 2, 16), (3, 4, 96), (4, 8, 512), (5, 16, 2560), (6, 32, 12288)], 2):
            self.assertEqual(self.numbers("exchange", "--dimension", d), (steps, crossings, steps))
        for beta, crossings in self.few(enumerate([32, 80, 208, 512, 512]), 2):
            self.assertEqual(self.numbers("banded", "--dimension", 4, "--beta", beta)[1], crossings)
        for d, beta, k, steps in self.few([(2, 1, 2, 4), (4, 2, 2, 8), (7, 2, 3, 14)], 2):
            report = self.report("banded", "--dimension", d, "--beta", beta, "--matrices", k, "--method", "closed")
            self.assertEqual(report["steps_in_two_phases"], steps)
            self.assertEqual(report["steps_one_after_another"], k << beta)
            self.assertEqual(report["steps"], min(steps, k << beta))
        for n, steps in self.few(enumerate([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 6, 6, 6], 2), 6):
            self.assertEqual(self.report("mesh", "--size", n)["steps"], steps)
            self.assertEqual(self.report("mesh", "--size", n, "--routing", "xy")["steps"], steps + (n not in (2, 5, 8, 9, 11, 12, 15, 18, 19)))
            if n % 2 == 0:
                report = self.report("mesh", "--size", n, "--routing", "two-phase", "--check")
                self.assertEqual((report["steps"], sum(report["two_phases_of_the_paper"])), (steps, steps))
                self.assertEqual((report["conflicts"], report["ports_out"]), (0, 1))
            # A torus: a sixth of the side, and the bound for these sides, or one step more.
            report = self.report("mesh", "--size", n, "--torus", "--check")
            self.assertEqual((report["steps"], report["conflicts"], report["complete"]), ((n // 2 + 2) // 3, 0, True))
            self.assertLessEqual(report["steps"], report["lower_bound"] + 1)
            self.assertEqual(report["lower_bound"], self.report("mesh", "--size", n)["lower_bound_of_a_torus"])
        for k in self.few(range(1, 7), 2):
            report = self.report("mesh", "--size", 1 << k, "--routing", "recursive", "--check")
            self.assertEqual((report["steps"], report["one_port_steps"], report["conflicts"]), ((1 << k) - 1, (1 << k) - 1, 0))
        # The first even side for which the paper's two phases take a step too many.
        self.assertEqual([self.report("mesh", "--size", 38, "--routing", r)["steps"] for r in ("any", "two-phase")], [11, 12])
        for lg, steps in self.few(enumerate([12, 20, 32, 52, 88]), 2):
            report = self.report("descend", "--dimension", 3, "--per-node", 1 << lg)
            self.assertEqual(report["formula_steps"], steps)
            self.assertEqual(report["steps"], sum(count > 0 for count in report["step_crossings"]))
        self.assertEqual(self.report("descend", "--dimension", 3, "--per-node", 8)["steps"], 44)
        self.assertEqual([self.report("descend", "--dimension", 0, "--per-node", 4)[key] for key in ("steps", "messages")], [0, 0])
        self.assertEqual(self.report("aspc", "--dimension", 10)["steps"], 4)
        report = self.report("bmmc", "--by", "gray", "--bits", 8, "--processors", 8, "--layout", "minor")
        self.assertEqual((report["rank_gamma"], report["rounds"], report["messages"]), (1, 2, 14))

    def test_real_bands(self):
        """A bandwidth other than 2^(b+1) + 1: the bound of the real task, and nothing empty is sent."""
        for d, bandwidth, bound, crossings in [(7, 35, 19, 12312), (6, 35, 19, 6156), (5, 10, 6, None)]:
            report = self.report("banded", "--dimension", d, "--bandwidth", bandwidth, "--check")
            self.assertEqual((report["steps"], report["lower_bound"], report["conflicts"]), (bound, bound, 0))
            self.assertEqual(report["method"], "search")
            if crossings:
                self.assertEqual((report["messages"], report["crossings"]), (crossings, crossings))
            closed = self.report("banded", "--dimension", d, "--bandwidth", bandwidth, "--method", "closed", "--check")
            self.assertEqual(closed["steps"], report["closed_form_steps"])
            self.assertEqual((closed["lower_bound"], closed["crossings"]), (bound, report["crossings"]))
        text = self.ok("schedule", "banded", "--dimension", 7, "--bandwidth", 35).stdout
        self.assertRegex(text, r"(?m)^lower bound +19, reached$")

    def test_assignments(self):
        report = {}
        for assignment in ["gray", "binary", "affine"]:
            report[assignment] = self.report("banded", "--dimension", 7, "--bandwidth", 51, "--assignment", assignment, "--check")
            self.assertEqual(report[assignment]["lower_bound"], report["gray"][f"{assignment}_assignment_bound"])
            self.assertGreaterEqual(report[assignment]["lower_bound"], report["gray"]["any_assignment_bound"])
        self.assertLess(report["affine"]["steps"], report["gray"]["steps"])

    def test_several_matrices_are_never_slower_than_one_after_another(self):
        for d, beta, k in [(5, 2, 2), (6, 2, 3), (7, 3, 2), (4, 1, 4)]:
            report = self.report("banded", "--dimension", d, "--beta", beta, "--matrices", k, "--check")
            self.assertLessEqual(report["steps"], report["steps_one_after_another"])
            self.assertLess(report["steps"], report["steps_in_two_phases"])
            self.assertEqual(len(report["placement"]), k)
        report = self.report("banded", "--dimension", 6, "--bandwidth", 7, "--matrices", 2, "--check")
        self.assertEqual((report["conflicts"], report["complete"]), (0, True))

    def test_times_on_a_network(self):
        args = ("exchange", "--dimension", 4, "--message-bytes", 100, "--network-times")
        timing = self.report(*args, "5,2,0.5,one-port")["timing"]
        for switching in ["wormhole", "store_and_forward"]:  # all ports are always busy
            self.assertEqual(timing[switching], {"lock_step": 8 * 4 * 57, "asynchronous": 8 * 4 * 57})
        timing = self.report(*args, "5,2,0.5")["timing"]
        for switching in ["wormhole", "store_and_forward"]:
            self.assertEqual(timing[switching], {"lock_step": 8 * 57, "asynchronous": 8 * 57})
        self.assertRegex(self.ok("schedule", *args, "5,2,0.5,all-port").stdout, r"(?m)^wormhole +456 +456$")
        mesh = self.report("mesh", "--size", 12, "--network-times", "1,1,1", "--message-bytes", 64)["timing"]
        self.assertLess(mesh["wormhole"]["asynchronous"], mesh["store_and_forward"]["asynchronous"])
        for bad in ["1,2", "1,2,3,4", "1,2,x", "1,2,3,two-port", "1,2,3,", "1,2,3,one-port,4", "-1,2,3", "1,2,nan"]:
            self.refused("schedule", *args, bad, says="--network-times|time or size")
        self.assertEqual(self.report(*args[:3], "--message-bytes", "1KiB", "--network-times", "0,0,1")["timing"]["message_bytes"], 1024)
        for bad in ["0x8", "1e1", "-1"]:
            self.refused("schedule", *args[:3], "--message-bytes", bad, "--network-times", "1,1,1", says="--message-bytes")

    def test_contents(self):
        """Edelman's second figure, in binary as there: at first node v has v.0, v.1, ..; in the end 0.v, 1.v, .."""
        label = [f"{i:03b}" for i in range(8)]
        table = self.report("exchange", "--dimension", 3, "--contents")["table"]
        self.assertEqual(len(table["rows"]), 5 * 8)
        self.assertEqual(table["columns"], ["after", "slot"] + [f"node {v}" for v in label])
        for slot, s in enumerate(label):
            self.assertEqual(table["rows"][slot], ["start", s] + [f"{v}.{s}" for v in label])
            self.assertEqual(table["rows"][32 + slot], ["3", s] + [f"{s}.{v}" for v in label])
        # In step 0 node 0 sends over link 0 the word at 3 to node 1, which sends the one at 2.
        self.assertEqual((table["rows"][8 + 3][2], table["rows"][8 + 2][3]), ("001.010", "000.011"))
        text = self.ok("schedule", "exchange", "--dimension", 3, "--contents").stdout
        self.assertRegex(text, r"(?m)^ +1 +start +001 +000\.001 +001\.001 +010\.001 ")
        svg = self.svg("exchange", "--dimension", 3, "--contents")
        self.assertIn("after step 3", svg)
        # Each of 5 pictures has 64 words, and its nodes and perhaps its slots.
        for s in label:
            self.assertGreaterEqual(svg.count(f">{s}</text>"), 5 * (8 + 1))
        self.assertIn(">1</text>", self.svg("exchange", "--dimension", 1, "--contents"))
        self.assertNotIn(">0000</text>", self.svg("exchange", "--dimension", 4, "--contents"))  # no room
        self.refused("schedule", "exchange", "--dimension", 10, "--contents", says="more than 2000000 words")
        self.refused("schedule", "exchange", "--dimension", 6, "--contents", "--svg", "a.svg", says="can be seen")

    def test_contents_of_aspc_and_descend(self):
        """Hu's first figure: what lies in slot j of i crosses link phi_i(j), and in the end it is in slot j of i + 2^j."""
        def gray(x):
            return x ^ x >> 1

        def held(*args):
            """By (after, node, slot)."""
            table = self.report(*args, "--contents")["table"]
            return {(row[0], int(name[5:], 2), int(row[1], 2)): entry
                    for row in table["rows"] for name, entry in zip(table["columns"][2:], row[2:])}

        phi = ["01020102", "10201020", "22112211"]
        now = held("aspc", "--dimension", 3, "--half", "plus")
        for i in range(8):
            for j in range(3):
                word = f"{gray(i):03b}.{j:02b}"
                crossed = i ^ (2 << int(phi[j][i])) - 1
                for after, node in [("start", i), ("0", crossed), ("1", (i + (1 << j)) % 8)]:
                    self.assertEqual(now[after, gray(node), j], word)
        n, lg = 2, 2
        now = held("descend", "--dimension", n, "--per-node", 1 << lg)
        steps = 4 * (n + lg + 3)
        for node in range(1 << n):
            for slot in range((1 << lg) + 2 * n + 2):
                name = f"{node:02b}.{slot:04b}"
                scratch = slot >= 1 << lg
                self.assertEqual(now["start", node, slot], None if scratch else name)
                self.assertEqual(now[str(steps - 1), node, slot], None if scratch else f"{name}:{n + lg}")
        # Offset 0 does iteration 3 in the first round: i + 2 and i - 2 are the same, and what they have arrives as it is.
        self.assertEqual([now["2", gray(2), slot] for slot in (0, 5)], ["11.0000", "00.0000"])
        self.assertEqual([now["3", gray(2), slot] for slot in (0, 5)], ["11.0000:1", None])

    def test_node_0_is_marked(self):
        svg = self.svg("exchange", "--dimension", 3, "--contents")
        self.assertEqual((svg.count('class="node0"'), svg.count('fill="#cf4a1d"')), (5, 5 * 8))

    def test_plus_minus(self):
        for n in [1, 2, 5]:
            for b in self.few(range(n), 1):
                for half, slots in [("plus", 1), ("minus", 1), ("both", 2)]:
                    report = self.report("plus-minus", "--dimension", n, "--by", b, "--half", half)
                    steps = slots if n == 1 else 1 if b == 0 else 2
                    self.assertEqual([report[key] for key in ("steps", "lower_bound", "slots", "conflicts", "complete")], [steps, steps, slots, 0, True])
                    self.assertEqual(report["messages"], slots * (1 if b == 0 else 2) << n)

    def test_task_matrices(self):
        """T_t(s) of Varvarigos and Bertsekas: in the beginning the tags; in a step one crosses each dimension at most."""
        def matrices(*args):
            """By t: the dimensions that are left, and those that are crossed, by slot."""
            table = self.report(*args)["table"]
            every = {}
            for t, slot, *entries in table["rows"]:
                left = [entry is not None for entry in entries]
                every.setdefault(t, {})[slot] = (left, [entry == "*" for entry in entries])
            return every

        tags = ["110", "011", "111", "000"]
        for node in self.few(range(8), 2):  # isotropic: the same at all nodes
            every = matrices("isotropic", "--tags", "tags.txt", "--task-matrix", node)
            self.assertEqual({slot: left for slot, (left, _) in every[0].items()},
                             {slot: [c == "1" for c in tag] for slot, tag in enumerate(tags) if "1" in tag})
            for t in range(3):
                for slot, (left, crossed) in every[t].items():
                    self.assertLessEqual(sum(crossed), 1)
                    self.assertEqual(every[t + 1][slot][0], [a and not b for a, b in zip(left, crossed)])
                self.assertLessEqual(max(map(sum, zip(*(crossed for _, crossed in every[t].values())))), 1)
            self.assertFalse(any(any(left) for left, _ in every[3].values()))
        # A nearly isotropic one: 208 crossings in 4 steps, those of each step as the report says.
        for args in self.few([("banded", "--dimension", 4, "--beta", 2),
                              ("banded", "--dimension", 4, "--bandwidth", 6, "--method", "search")], 1):
            report = self.report(*args)
            left = [0] * (report["steps"] + 1)
            for node in range(16):
                for t, rows in matrices(*args, "--task-matrix", node).items():
                    left[t] += sum(sum(row) for row, _ in rows.values())
            self.assertEqual([a - b for a, b in zip(left, left[1:])], report["step_crossings"])
            self.assertEqual((left[0], left[-1]), (report["crossings"], 0))
        for says, *args in [("no node 16", *args, "--task-matrix", 16), ("for a task on a hypercube", "descend", "--dimension", 2, "--per-node", 2, "--task-matrix", 0),
                            ("excludes", *args, "--contents", "--task-matrix", 0)]:
            self.refused("schedule", *args, says=says)

    def test_layouts(self):
        """Cormen's first figure: processor k holds the indices that have k in the bits from f on."""
        n, p = 6, 2
        gray = np.arange(1 << n) ^ np.arange(1 << n) >> 1
        for f, name in [(n - p, "major"), (0, "minor"), (1, 1), (3, 3)]:
            rows = self.report("bmmc", "--by", "gray", "--bits", n, "--processors", 1 << p, "--layout", name, "--indices")["table"]["rows"]
            for when, content in [("before", np.arange(1 << n)), ("after", np.argsort(gray))]:
                held = np.array([row[2:] for row in rows if row[0] == when])
                for k in range(1 << p):
                    of_k = [x for x in range(1 << n) if x >> f & 3 == k]
                    self.assertEqual(held[:, k].tolist(), content[of_k].tolist(), (f, when, k))
        svg = self.svg("bmmc", "--by", "identity", "--bits", n, "--processors", 1 << p, "--layout", 2, "--indices")
        self.assertTrue(all(svg.count(f">{x}</text>") >= 2 for x in range(64)))
        self.refused("schedule", "bmmc", "--by", "gray", "--bits", 21, "--processors", 2, "--indices", says="at most 2\^20")

    def test_different_bands_at_once(self):
        for betas in [[1, 2], [2, 1, 0], [3, 1, 2], [2, 2]]:
            report = self.report("banded", "--dimension", 6, "--beta", ",".join(map(str, betas)))
            self.assertEqual((report["conflicts"], report["complete"], report["parameters"]["beta"]), (0, True, betas))
            self.assertEqual(report["steps_one_after_another"], sum(1 << beta for beta in betas))
            self.assertLess(report["steps"], report["steps_one_after_another"])
            self.assertGreaterEqual(report["steps"], report["lower_bound"])
        self.assertEqual(self.report("banded", "--dimension", 6, "--beta", "1,2,3")["steps"], 11)
        self.assertIn("matrix 2", self.svg("banded", "--dimension", 4, "--beta", "1,2,1"))
        self.refused("schedule", "banded", "--dimension", 6, "--beta", "1,2", "--matrices", 2, says="--matrices: not with a list")
        self.refused("schedule", "banded", "--dimension", 6, "--beta", "1,7", says="--beta is 7")

    def test_ring_links_of_several_bands(self):
        """As printed, d/b matrices at once take B = 2^(b+1) + 1 steps: 2^b, and 2^b + 1 for the rings. But with the printed placement,
        column c of matrix m at the Binary-Gray place rotated left by m b bits, some ring link has more packets."""
        def gray(x):
            return x ^ x >> 1

        for d, beta, load, ours in [*self.few([(3, 1, 3, 5), (5, 2, 8, 6), (6, 3, 8, 13), (7, 2, 10, 7), (7, 3, 15, 11), (8, 4, 16, 25),
                                                (9, 3, 16, 13)], 2), (9, 4, 32, 21)]:
            k, ring, n = d // beta, 1 << (d - beta), 1 << d
            on_link = {}
            for m in range(k):
                def node(c1, c2):
                    v = c1 << (d - beta) | gray(c2 % ring)
                    return (v << m * beta | v >> (d - m * beta)) % n if m else v
                for c2 in range(ring):
                    for i1 in range(1 << beta):  # packets for the row i1 of the next ring node come from c1 >= i1, and before from c1 <= i1
                        for to, packets in [(c2 + 1, (1 << beta) - i1), (c2 - 1, i1 + 1)]:
                            link = node(i1, c2), node(i1, to)
                            on_link[link] = on_link.get(link, 0) + packets
            self.assertEqual(max(on_link.values()), load, (d, beta))
            report = self.report("banded", "--dimension", d, "--beta", beta, "--matrices", k)
            self.assertEqual([report[key] for key in ("largest_ring_load", "steps_in_two_phases", "steps")], [load, (1 << beta) + load, ours])
        self.assertGreater(32, (1 << 4) + 1)  # of the last one

    def test_no_argument_by_link_weights_improves_the_bound_of_meshes(self):
        """Whatever the links weigh, the heaviest load of any routing, also one that divides blocks, is at least the blocks' distances
        divided by all weights. The least load is a linear program, and its optimum is T(N) before it is rounded."""
        try:
            from scipy.optimize import linprog
            from scipy.sparse import lil_matrix
        except ImportError:
            self.skipTest("SciPy is not installed (apt install python3-scipy)")

        def bound(n):  # as in THEORY
            return max(Fraction(n * n + 2 * k * n - k * (k + 2), 4 * (n + k)) for k in range(n % 2, n, 2))

        def by_one_turn(n):
            """Each block below the diagonal is divided between U_j and R_i."""
            blocks = [(i, j) for i in range(n) for j in range(i)]
            loads, fixed = np.zeros((2 * n, len(blocks) + 1)), np.zeros(2 * n)
            loads[:, -1] = -1
            for b, (i, j) in enumerate(blocks):
                loads[j, b], loads[n + i, b] = 1, -1
                fixed[n + i] -= 1
            return linprog([0] * len(blocks) + [1], A_ub=loads, b_ub=fixed, bounds=[(0, 1)] * len(blocks) + [(0, None)]).fun

        def by_any_paths(n):
            """A flow for each block below the diagonal, and its mirror image for the partner."""
            links = [link for i in range(n) for j in range(1, n) for a, b in [(i * n + j - 1, i * n + j), (j * n - n + i, j * n + i)]
                     for link in [(a, b), (b, a)]]
            blocks = [(i, j) for i in range(n) for j in range(i)]
            variables = len(blocks) * len(links) + 1
            balance, wanted = lil_matrix((len(blocks) * n * n, variables)), np.zeros(len(blocks) * n * n)
            loads = lil_matrix((len(links), variables))
            loads[:, -1] = -1
            for b, (i, j) in enumerate(blocks):
                for k, (v, w) in enumerate(links):
                    balance[b * n * n + v, b * len(links) + k] += 1
                    balance[b * n * n + w, b * len(links) + k] -= 1
                    loads[k, b * len(links) + k] += 1
                    loads[links.index((v % n * n + v // n, w % n * n + w // n)), b * len(links) + k] += 1
                wanted[b * n * n + i * n + j], wanted[b * n * n + j * n + i] = 1, -1
            return linprog([0] * (variables - 1) + [1], A_ub=loads.tocsr(), b_ub=np.zeros(len(links)), A_eq=balance.tocsr(), b_eq=wanted).fun

        for n in range(2, 13):
            self.assertAlmostEqual(by_one_turn(n), bound(n), 9)
            self.assertEqual(self.report("mesh", "--size", n)["lower_bound"], math.ceil(bound(n)))
        for n in range(2, 7):
            self.assertAlmostEqual(by_any_paths(n), bound(n), 9)

    def svg(self, *args):
        self.ok("schedule", *args, "--svg", "strip.svg", "--force")
        return self.bytes_of("strip.svg").decode()

    def test_arrays_of_ones_own(self):
        report = self.report("exchange", "--array", "array.txt", "--check")
        self.assertEqual([report[key] for key in ("words_cross_their_links", "words_of_a_row_differ", "columns_have_all_words_once")],
                         ["yes"] * 3)
        for d in [2, 3, 5]:  # as papers print it, too
            rows = self.report("exchange", "--dimension", d)["table"]["rows"]
            for form in ["d", f"0{d}b"]:
                self.write("table.txt", "".join(" ".join(format(word, form) for word in row) + "  # a step\n" for row in rows))
                self.assertEqual(self.report("exchange", "--array", "table.txt")["table"]["rows"], rows)
        self.write("mixed.txt", "011 110 4\n")
        self.refused("schedule", "exchange", "--array", "mixed.txt", says="below 8")
        self.write("wrong.txt", "3 6 4\n1 7 6\n7 2 5\n5 3 6\n")
        result = self.run_xorder("schedule", "exchange", "--array", "wrong.txt", "--check")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"columns have all words once +no: column 2 has 6 twice")
        self.assertIn("WRONG", result.stdout)
        unasked = self.run_xorder("schedule", "exchange", "--array", "wrong.txt")
        self.assertEqual((unasked.returncode, unasked.stdout, unasked.stderr), (1, result.stdout, result.stderr))
        self.assertNotIn("reached", unasked.stdout)

    def test_what_is_not_checked_claims_nothing(self):
        large = ("exchange", "--dimension", 11)
        text = self.ok("schedule", *large).stdout
        self.assertRegex(text, r"(?m)^lower bound +1024$")
        self.assertRegex(text, r"(?m)^checked +no; --check does it$")
        self.assertNotIn("conflicts", self.report(*large))
        text = self.ok("schedule", *large, "--check").stdout
        self.assertRegex(text, r"(?m)^lower bound +1024, reached$")
        self.assertRegex(text, r"(?m)^checked +every message arrives")

    def test_factors(self):
        """A = V W, from the table of rows that --factors prints."""
        factors = self.report("bmmc", "--matrix", "matrix.txt", "--processors", 4, "--factors")["factors"]
        number = {name: np.array([[int(c) for c in row] for row in rows]) for name, rows in factors.items()}
        a = np.array([[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]])
        self.assertEqual((number["V"] @ number["W"] % 2).tolist(), a.tolist())
        self.assertEqual((a @ number["T"] @ number["R"] @ number["Π"] % 2).tolist(), number["V"].tolist())
        self.assertIn("T, trailer", self.ok("schedule", "bmmc", "--matrix", "matrix.txt", "--processors", 2, "--factors").stdout)

    def test_one_to_all(self):
        for d, steps in self.few([(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 7), (6, 11), (7, 19), (8, 32), (9, 57)], 4):
            report = self.report("exchange", "--dimension", d, "--kind", "one-to-all", "--check")
            self.assertEqual((report["steps"], report["lower_bound"], report["conflicts"]), (steps, steps, 0))

    def test_ports(self):
        """THEORY: with XY routing some nodes of the diagonal send two messages in a step."""
        report = self.report("mesh", "--size", 8, "--routing", "xy", "--check")
        self.assertEqual((report["ports_out"], report["ports_in"]), (2, 2))
        self.assertLess(report["steps"], report["one_port_steps"])
        self.assertLessEqual(report["one_port_steps"], 2 * report["steps"])
        self.assertEqual(self.report("mesh", "--size", 8, "--check")["ports_out"], 1)
        # On a torus some nodes send the block that has stopped there, and their own.
        report = self.report("mesh", "--size", 15, "--torus", "--check")
        self.assertEqual([report[key] for key in ("steps", "ports_out", "ports_in", "one_port_steps")], [3, 2, 1, 4])
        report = self.report("exchange", "--dimension", 5, "--check")
        self.assertEqual((report["ports_out"], report["steps"], report["one_port_steps"]), (5, 16, 80))
        self.assertEqual(self.report("bmmc", "--by", "gray", "--bits", 8, "--processors", 8, "--check")["ports_in"], 1)
        self.assertRegex(self.ok("schedule", "exchange", "--dimension", 3, "--check").stdout, r"(?m)^ports +3: .*; 12 steps with one port$")

    def test_tables(self):
        text = self.ok("schedule", "exchange", "--dimension", 5).stdout
        rows = [list(map(int, line.split())) for line in text.splitlines() if re.fullmatch(r"( +\d+){6}", line)]
        self.assertEqual(len(rows), 16)
        self.assertEqual(rows[0], [0, 3, 6, 12, 24, 16])
        self.assertEqual(rows[15], [15, 29, 27, 23, 15, 31])
        table = self.report("aspc", "--dimension", 3, "--half", "plus")["table"]["rows"]
        phi = ["".join(str(row[j]) for row in table) for j in range(3)]
        self.assertEqual(phi, ["01020102", "10201020", "22112211"])

    def test_large(self):
        d = 16 if SANITIZED else 20
        text = self.ok("schedule", "exchange", "--dimension", d, "--json").stdout
        count = text.count("],[") + 1
        if not LONG:  # Python takes seconds for 10^7 numbers
            first, last = text.index('"rows":[[') + len('"rows":[['), text.rindex("],[")
            self.assertRegex(text[last:], r"\A\],\[(\d+,){%d}\d+\]\]\}\}\n\Z" % (d - 1))
            text = text[:first] + text[last + len("],["):]
        report = json.loads(text)
        self.assertEqual((report["steps"], report["crossings"]), (1 << (d - 1), d << (2 * d - 1)))
        self.assertEqual((count, len(report["table"]["rows"])), (1 << (d - 1), 1 << (d - 1) if LONG else 1))
        text = self.ok("schedule", "bmmc", "--by", "gray", "--bits", 62, "--processors", 1 << 20, "--json").stdout
        self.assertIn(f'"messages":{(1 << 20) - 2},', text)
        if LONG:
            self.assertEqual(json.loads(text)["messages"], (1 << 20) - 2)

    def test_drawings(self):
        for args in self.few(EXAMPLES + SMALLEST, 16):
            with self.subTest(args=args):
                self.assertEqual(self.ok("schedule", *args, "--svg", "a.svg", "--force").stdout, "")
                root = xml.etree.ElementTree.fromstring(self.bytes_of("a.svg"))
                self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertIn('"steps"', self.ok("schedule", "mesh", "--size", 3, "--svg", "b.svg", "--json").stdout)
        self.refused("schedule", "mesh", "--size", 3, "--svg", "b.svg", says="--force")

    def test_bad_input(self):
        self.write("ragged.txt", "110\n01\n")
        self.write("letters.txt", "1x0\n")
        self.write("long.txt", "1" * 21 + "\n")
        self.write("empty.txt", "# nothing\n")
        self.write("ragged_array.txt", "1 2 3\n1 2\n")
        self.write("letters_array.txt", "1 x\n")
        self.write("beyond.txt", "1 4\n")
        for says, *args in [
            ("at most|2\\^20", "exchange", "--dimension", 21),
            ("10\\^7.*--json", "exchange", "--dimension", 20),
            ("10\\^7.*--json", "aspc", "--dimension", 19),
            ("too many to check", "exchange", "--dimension", 15, "--check"),
            ("--dimension", "exchange", "--dimension", -1),
            ("--dimension", "exchange"),
            ("2\\^3 is no distance between 2\\^3 nodes", "plus-minus", "--dimension", 3, "--by", 3),
            ("--by is required", "plus-minus", "--dimension", 3),
            ("mirror", "exchange", "--dimension", 3, "--kind", "mirror"),
            ("power of two; the nearest are 4 and 8", "bmmc", "--by", "gray", "--bits", 8, "--processors", 6),
            ("2\\^3 elements", "bmmc", "--by", "gray", "--bits", 3, "--processors", 16),
            ("--processors", "bmmc", "--by", "gray", "--bits", 3, "--processors", -2),
            ("'grey'", "bmmc", "--by", "grey", "--bits", 3, "--processors", 2),
            ("layout 6", "bmmc", "--by", "gray", "--bits", 8, "--processors", 8, "--layout", 6),
            ("--layout", "bmmc", "--by", "gray", "--bits", 8, "--processors", 8, "--layout", "middle"),
            ("line 2: a tag of 2 bits", "isotropic", "--tags", "ragged.txt"),
            ("line 1", "isotropic", "--tags", "letters.txt"),
            ("at most 20", "isotropic", "--tags", "long.txt"),
            ("no tags", "isotropic", "--tags", "empty.txt"),
            ("No such file", "isotropic", "--tags", "missing.txt"),
            ("beta", "banded", "--dimension", 4, "--beta", 5),
            ("--bandwidth", "banded", "--dimension", 4),
            ("--bandwidth", "banded", "--dimension", 4, "--beta", 2, "--bandwidth", 5),
            ("bandwidth of 16", "banded", "--dimension", 4, "--bandwidth", 16),
            ("bandwidth of 1\\b", "banded", "--dimension", 4, "--bandwidth", 1),
            ("bandwidth of 64", "banded", "--columns", 64, "--processors", 16, "--bandwidth", 64),
            ("12.*power of two", "banded", "--columns", 64, "--processors", 12, "--bandwidth", 5),
            ("8 columns on 16", "banded", "--columns", 8, "--processors", 16, "--bandwidth", 5),
            ("--assignment gray only", "banded", "--dimension", 4, "--beta", 2, "--assignment", "binary", "--method", "closed"),
            ("one matrix", "banded", "--dimension", 4, "--beta", 2, "--assignment", "binary", "--matrices", 2),
            ("at most 2\\^13", "banded", "--dimension", 14, "--beta", 2, "--assignment", "affine"),
            ("too (large|many)", "banded", "--dimension", 20, "--bandwidth", 20, "--method", "search"),
            ("at most .* can be shown", "banded", "--dimension", 20, "--beta", 1, "--matrices", 20),
            ("PiB of memory", "descend", "--dimension", 20, "--per-node", 1 << 63),
            ("at most 10\\^7", "descend", "--dimension", 0, "--per-node", 1 << 24),
            ("--dimension or --array", "exchange", "--dimension", 3, "--array", "array.txt"),
            ("line 2: 2 words", "exchange", "--array", "ragged_array.txt"),
            ('"x" is not', "exchange", "--array", "letters_array.txt"),
            ("below 4", "exchange", "--array", "beyond.txt"),
            ("no words", "exchange", "--array", "empty.txt"),
            ("--kind transpose", "exchange", "--array", "array.txt", "--kind", "one-to-all"),
            ("at most 13", "exchange", "--dimension", 14, "--kind", "one-to-all"),
            ("--by with --bits, or --matrix", "bmmc", "--by", "gray", "--processors", 2),
            ("--by with --bits, or --matrix", "bmmc", "--matrix", "tags.txt", "--bits", 3, "--processors", 2),
            ("line 1: 3 numbers", "task", "--dimension", 3, "--packets", "ragged_array.txt"),
            ('"x" is not', "task", "--dimension", 3, "--packets", "letters_array.txt"),
            ("there are 3 slots and 4 nodes", "task", "--dimension", 2, "--packets", "packets.txt"),
            ("3 matrices", "banded", "--dimension", 4, "--beta", 2, "--matrices", 3),
            ("0 matrices", "banded", "--dimension", 4, "--beta", 2, "--matrices", 0),
            ("--size is 0", "mesh", "--size", 0),
            ("1024", "mesh", "--size", 1025),
            ("even side", "mesh", "--size", 9, "--routing", "two-phase"),
            ("power of two", "mesh", "--size", 12, "--routing", "recursive"),
            ("on a torus", "mesh", "--size", 8, "--routing", "two-phase", "--torus"),
            ("on a torus", "mesh", "--size", 8, "--routing", "recursive", "--torus"),
            ("a torus of 1025", "mesh", "--size", 1025, "--torus"),
            ("--size", "mesh", "--size", "nine"),
            ("power of two", "descend", "--dimension", 3, "--per-node", 6),
            ("takes 18 GiB of memory, of .* available, .* 2\\^31 × 4", "descend", "--dimension", 3, "--per-node", 1 << 31),
            ("takes 9 GiB of memory, of .* available", "descend", "--dimension", 2, "--per-node", 1 << 30),
            ("table of 2\\^28 × 1 entries, of which at most 10\\^7", "descend", "--dimension", 0, "--per-node", 1 << 28),
            ("36893488147419103232 is too large", "descend", "--dimension", 3, "--per-node", 1 << 65),
            ("18446744073709551616 is too large", "mesh", "--size", 1 << 64),
            ("18446744073709551616 is too large", "banded", "--dimension", 3, "--bandwidth", 1 << 64),
            ("--dimension.*99999999999 is too large", "exchange", "--dimension", 99999999999),
            ("10\\^8", "bmmc", "--by", "bitreverse", "--bits", 40, "--processors", 1 << 18, "--json"),
            ("can be seen", "exchange", "--dimension", 9, "--svg", "a.svg"),
            ("can be seen", "mesh", "--size", 41, "--svg", "a.svg"),
            ("(?i)subcommand",),
        ]:
            with self.subTest(args=args):
                self.refused("schedule", *args, says=says)

    def test_examples_of_the_help(self):
        text = self.ok("schedule", "--help").stdout
        examples = re.findall(r"^ +xorder (schedule .*)$", text, re.MULTILINE)
        self.assertGreaterEqual(len(examples), 5)
        for line in examples:
            self.ok(*shlex.split(line))
        for kind in ["bmmc", "exchange", "file", "isotropic", "task", "banded", "mesh", "aspc", "plus-minus", "descend"]:
            self.assertIn("--check", self.ok("schedule", kind, "--help").stdout)


if __name__ == "__main__":
    main()
