#!/usr/bin/python3
"""Every kind of schedule as its messages tell it, replayed without xorder: what was promised has arrived."""

import io
import json

import replay
from harness import Case, affine_map, bits_map, main, np


def gray(x):
    return x ^ x >> 1


class Replay(Case):
    in_memory = True

    def replayed(self, *args, network="hypercube", side=None, **computation):
        """What replay.py finds, and the report; the numbers of both agree."""
        report = self.json("schedule", *args, "--messages", "m.jsonl", "--force")
        text = self.bytes_of("m.jsonl").decode()
        self.assertEqual(report["network"], network)
        messages = [json.loads(line) for line in text.splitlines()]
        moving = [m for m in messages if len(m.get("path", [])) > 1]
        self.assertEqual((len(moving), sum(len(m["path"]) - 1 for m in moving)), (report["messages"], report["crossings"]))
        self.assertTrue(all(m["step"] < len(report["step_crossings"]) for m in messages))
        content, reads = replay.replay(io.StringIO(text), network, side, **computation)
        return content, reads, report

    def expect(self, args, goals, **network):
        """`goals`: {source place: target place}; each must have arrived."""
        content, _, _ = self.replayed(*args, **network)
        for source, target in goals.items():
            self.assertEqual(content.get(target, target), source, args)

    def test_exchange(self):
        for d in range(6):
            n = 1 << d
            self.expect(("exchange", "--dimension", d), {(v, s): (s, v) for v in range(n) for s in range(n)})
            reverse = bits_map(range(2 * d - 1, -1, -1)) if d else [0]
            goals = {(x >> d, x % n): (int(y) >> d, int(y) % n) for x, y in enumerate(reverse)}
            self.expect(("exchange", "--dimension", d, "--kind", "bitreverse"), goals)

    def test_one_to_all(self):
        for d in range(7):
            self.expect(("exchange", "--dimension", d, "--kind", "one-to-all"), {(0, v): (v, 0) for v in range(1, 1 << d)})

    def test_arrays_of_ones_own(self):
        """The closed form's array, with its rows in another order and its dimensions renamed, does the same task."""
        for d in range(1, 6):
            rows = np.array(self.json("schedule", "exchange", "--dimension", d)["table"]["rows"])
            rows, order = self.random.permutation(rows), self.random.permutation(d)
            renamed = np.zeros_like(rows)
            for j, k in enumerate(order):
                renamed |= (rows[:, order] >> k & 1) << j  # column j was k, and so was bit j
            self.write("array.txt", "".join(" ".join(map(str, row)) + "\n" for row in renamed))
            n = 1 << d
            self.expect(("exchange", "--array", "array.txt"), {(v, s): (s, v) for v in range(n) for s in range(n)})
            self.write("array.txt", "".join(" ".join(map(str, row)) + "\n" for row in rows))
            reverse = bits_map(range(2 * d - 1, -1, -1))
            goals = {(x >> d, x % n): (int(y) >> d, int(y) % n) for x, y in enumerate(reverse)}
            self.expect(("exchange", "--array", "array.txt", "--kind", "bitreverse"), goals)

    def test_isotropic(self):
        tags = ["110", "011", "111", "000", "001"]
        self.write("tags.txt", "\n".join(tags))
        numbers = [int(tag[::-1], 2) for tag in tags]
        goals = {(v, r): (v ^ t, r) for v in range(8) for r, t in enumerate(numbers)}
        self.expect(("isotropic", "--tags", "tags.txt"), goals)

    def test_any_task(self):
        for d in range(5):
            places = [(v, s) for v in range(1 << d) for s in range(3)]
            order = self.random.permutation(len(places))
            goals = {places[i]: places[int(j)] for i, j in enumerate(order)
                     if places[i][0] != places[int(j)][0] and self.random.integers(4)}
            self.write("packets.txt", "".join(f"{a} {b} {c} {e}\n" for (a, b), (c, e) in goals.items()))
            self.expect(("task", "--dimension", d, "--packets", "packets.txt"), goals)

    def band_goals(self, d, below, above, node, first=0):
        """a[i, c] from slot i - c + below of c's node into slot i - c + above of i's, where i - c is now the
        negative one."""
        n = 1 << d
        return {(node(c), first + o + below): (node((c + o) % n), first + above - o)
                for c in range(n) for o in range(-below, above + 1) if o}

    def gray_node(self, d, beta):
        return lambda c: (c % (1 << beta)) << (d - beta) | gray(c >> beta)

    def test_banded(self):
        for d, beta in [(3, 0), (3, 1), (4, 2), (5, 3)]:  # the closed form
            goals = self.band_goals(d, 1 << beta, 1 << beta, self.gray_node(d, beta))
            self.expect(("banded", "--dimension", d, "--beta", beta), goals)
        for d, bandwidth in [(4, 6), (5, 11), (5, 22), (6, 35), (7, 20)]:  # by search
            below, above = (bandwidth - 1) // 2, bandwidth // 2
            beta = (above - 1).bit_length()
            goals = self.band_goals(d, below, above, self.gray_node(d, beta))
            self.expect(("banded", "--dimension", d, "--bandwidth", bandwidth, "--method", "search"), goals)
            goals = self.band_goals(d, below, above, lambda c: c)
            self.expect(("banded", "--dimension", d, "--bandwidth", bandwidth, "--assignment", "binary"), goals)

    def test_several_bands(self):
        for d, beta, k in [(5, 2, 2), (6, 2, 3), (5, 1, 5)]:
            args = ("banded", "--dimension", d, "--beta", beta, "--matrices", k)
            placement = self.json("schedule", *args)["placement"]
            goals, reach = {}, 1 << beta
            for m, p in enumerate(placement):
                node = affine_map(p["columns"], p["constant"])
                goals |= self.band_goals(d, reach, reach, lambda c, node=node: int(node[c]), m * (2 * reach + 1))
            self.expect(args, goals)

    def test_mesh(self):
        for n in range(1, 10):
            goals = {(v, 0): (v % n * n + v // n, 0) for v in range(n * n)}
            for routing in ["any", "xy"] + ["two-phase"] * (n % 2 == 0) + ["recursive"] * (n & (n - 1) == 0):
                self.expect(("mesh", "--size", n, "--routing", routing), goals, network="mesh", side=n)
            for routing in ["any", "xy"]:
                self.expect(("mesh", "--size", n, "--torus", "--routing", routing), goals, network="torus", side=n)

    def test_links_around_a_torus(self):
        """They are used, and a mesh does not have them."""
        self.ok("schedule", "mesh", "--size", 5, "--torus", "--messages", "m.jsonl", "--force")
        text = self.bytes_of("m.jsonl").decode()
        replay.replay(io.StringIO(text), "torus", 5)
        with self.assertRaisesRegex(ValueError, "no link"):
            replay.replay(io.StringIO(text), "mesh", 5)
        for a, b in [((0, 0), (2, 0)), ((0, 0), (4, 4)), ((1, 4), (2, 0)), ((3, 3), (3, 3))]:
            self.assertFalse(replay.neighbours("torus", a[0] * 5 + a[1], b[0] * 5 + b[1], 5))

    def test_aspc(self):
        for n in range(5):
            nodes = 1 << n
            goals = {}
            for i in range(nodes):
                for j in range(n):
                    goals[gray(i), j] = (gray((i + (1 << j)) % nodes), j)
                    goals[gray(i), n + j] = (gray((i - (1 << j)) % nodes), n + j)
            self.expect(("aspc", "--dimension", n), goals)

    def test_plus_minus(self):
        for n in range(1, 5):
            for b in range(n):
                goals = {}
                for i in range(1 << n):
                    goals[gray(i), 0] = (gray((i + (1 << b)) % (1 << n)), 0)
                    goals[gray(i), 1] = (gray((i - (1 << b)) % (1 << n)), 1)
                self.expect(("plus-minus", "--dimension", n, "--by", b), goals)

    def test_bmmc(self):
        """Every processor sends a chunk to each processor for which it has elements, and one chunk to each."""
        for by, permutation in [("bitreverse", bits_map(range(7, -1, -1))), ("gray", [gray(x) for x in range(256)])]:
            content, _, report = self.replayed("bmmc", "--by", by, "--bits", 8, "--processors", 8, network="crossbar")
            wanted = {(x >> 5, int(y) >> 5) for x, y in enumerate(permutation)}
            sent = [(content.get((k, s), (k, s))[0], k) for k in range(8) for s in range(report["slots"])]
            self.assertEqual(sorted(sent), sorted(wanted))

    def test_descend(self):
        """In the last step of each round every node has what its iterations need from i - 2^j and i + 2^j."""
        n, v = 3, 4
        table = self.json("schedule", "descend", "--dimension", n, "--per-node", v)["table"]
        _, reads, _ = self.replayed("descend", "--dimension", n, "--per-node", v, f=lambda b, x, plus, minus: x)
        steps = dict(reads)
        for number, row in enumerate(table["rows"]):
            arrived = {}
            for step in range(4 * number, 4 * number + 4):
                arrived |= steps.get(step, {})
            for j in range(n):
                offset = row[n - 1 - j]
                if offset is None:
                    continue
                for i in range(1 << n):
                    below, above = gray((i - (1 << j)) % (1 << n)), gray((i + (1 << j)) % (1 << n))
                    self.assertEqual(arrived[gray(i), v + j], (below, offset))
                    self.assertEqual(arrived[gray(i), v + n + j], (above, offset))

    def test_descend_computes(self):
        """The updates make what the definition does, of numbers and a function that tells its operands apart."""
        def f(b, x, plus, minus):
            return (x * 0x9E3779B97F4A7C15 + plus * 0xC2B2AE3D27D4EB4F + (minus << 7 ^ minus >> 3) + b) % (1 << 64)

        for n, lg in [(0, 0), (0, 3), (1, 0), (1, 2), (2, 1), (3, 0), (3, 3), (4, 2)]:
            lg_m = n + lg
            a = [int(x) for x in self.random.integers(0, 1 << 62, 1 << lg_m)]
            start = {(gray(x >> lg), x % (1 << lg)): a[x] for x in range(1 << lg_m)}
            for order in [[], ["--ascend"]]:
                args = ("descend", "--dimension", n, "--per-node", 1 << lg, *order)
                content, _, _ = self.replayed(*args, first=lambda place: start.get(place, 0xDEAD), f=f)
                expected = a
                for b in range(lg_m) if order else reversed(range(lg_m)):
                    expected = [f(b, x, expected[(i + (1 << b)) % len(a)], expected[i - (1 << b)]) for i, x in enumerate(expected)]
                self.assertEqual([content.get(place, start[place]) for place in start], expected, args)
                updates = [line for line in self.bytes_of("m.jsonl").splitlines() if b'"update"' in line]
                self.assertEqual(len(updates), lg_m << lg_m)
        self.refused("schedule", "descend", "--dimension", 0, "--per-node", 1 << 18, "--messages", "large.jsonl", says="4718592 updates; at most 2097152")
        self.refused("schedule", "file", "m.jsonl", "--network", "hypercube:4", says="is an update; a schedule that computes cannot be read back")

    def test_what_breaks_a_rule_is_found(self):
        good = '{"step":0,"from":[0,0],"to":[1,0],"path":[0,1]}\n'
        replay.replay(io.StringIO(good), "hypercube")
        for bad in ['{"step":0,"from":[0,1],"to":[1,1],"path":[0,1]}', '{"step":0,"from":[2,1],"to":[1,1],"path":[2,1]}',
                    '{"step":0,"from":[3,0],"to":[1,0],"path":[3,1]}', '{"step":0,"from":[3,0],"to":[1,1],"path":[3,2]}']:
            with self.assertRaises(ValueError):
                replay.replay(io.StringIO(good + bad), "hypercube")
        update = '{"step":0,"update":[1,0],"plus":[1,0],"minus":[1,1],"b":0}\n'
        replay.replay(io.StringIO(good + update), "hypercube")
        for bad in [update, update.replace("[1,1]", "[0,1]").replace('"update":[1,0]', '"update":[1,2]')]:
            with self.assertRaises(ValueError):
                replay.replay(io.StringIO(good + update + bad), "hypercube")

    def test_too_many_and_existing_files(self):
        # Few messages with long paths are long as well.
        self.refused("schedule", "mesh", "--size", 1024, "--messages", "m.jsonl", says="715827200 links; at most", timeout=30)
        self.refused("schedule", "exchange", "--dimension", 10, "--messages", "m.jsonl", says="at most 2097152 over")
        self.ok("schedule", "exchange", "--dimension", 2, "--messages", "m.jsonl")
        self.refused("schedule", "exchange", "--dimension", 2, "--messages", "m.jsonl", says="--force")


if __name__ == "__main__":
    main()
