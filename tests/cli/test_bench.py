#!/usr/bin/python3
"""xorder bench: what it prints, keeps and draws, that plans go by what it keeps, and comparing results."""

import fcntl
import json
import math
import os
import re
import signal
import statistics
import subprocess
import time
import xml.etree.ElementTree as ElementTree

import harness
from harness import LONG, SEED, Case, main
from test_json import documented


class BenchDisk(Case):
    quick = ("bench", "disk", "--size", "64MiB", "--rounds", "1")

    def setUp(self):
        super().setUp()
        self.env = {**os.environ, "XDG_CACHE_HOME": self.path("cache")}
        result = self.run_xorder("bench", "disk", "--size", "1PiB", "-q", ".")
        if "refuses direct access" in result.stderr or "in memory" in result.stderr:
            self.skipTest("no direct access here")

    def kept(self):
        folder = self.path("cache/xorder")
        return [os.path.join(folder, name) for name in os.listdir(folder)] if os.path.isdir(folder) else []

    def test_the_profile_is_kept_and_used_unless_it_is_damaged(self):
        self.save("a.npy", self.noise((64, 64), "f8"))
        plan = ("transpose", "a.npy", "b.npy", "--io", "direct", "--dry-run")
        usual = self.json(*plan, env=self.env)["device"]
        self.assertIn(usual, ["ssd", "tmpfs"])
        printed = self.ok(*self.quick, "--profile", "profile", env=self.env).stdout
        self.assertEqual(len(self.kept()), 1)
        self.assertIn(self.kept()[0], printed)
        profile = json.loads(self.bytes_of("profile"))
        with open(self.kept()[0], encoding="utf-8") as file:
            self.assertEqual(json.load(file), profile)
        self.assertEqual(self.json(*plan, env=self.env)["device"], profile["name"])
        self.assertEqual(self.json(*plan, "--device", "hdd", env=self.env)["device"], "hdd")
        for point in profile["points"]:
            self.assertEqual(len(point), 4)
            self.assertTrue(all(number > 0 for number in point))

        slow = {**profile, "points": [[4096, 1e5, 1e5, 1e5]]}
        with open(self.kept()[0], "w", encoding="utf-8") as file:
            json.dump(slow, file)
        self.save("big.npy", self.noise((1024, 1024), "f8"))
        doubted = r"note: it took [0-9.]+ s instead of the \d+ s predicted for .*made it fast, measure the disk again"
        self.assertRegex(self.ok("transpose", "big.npy", "b.npy", "--io", "direct", env=self.env).stderr, doubted)
        given = self.ok("transpose", "big.npy", "b.npy", "--io", "direct", "--force", "--device", self.kept()[0], env=self.env)
        self.assertNotIn("predicted", given.stderr)  # it is the user's own choice
        os.remove(self.path("b.npy"))

        with open(self.kept()[0], "w", encoding="utf-8") as file:
            file.write("{")
        result = self.ok("transpose", "a.npy", "b.npy", "--io", "direct", "--dry-run", env=self.env)
        self.assertRegex(result.stderr, r"note: \S+disk-[\w.-]+\.json: not a device profile.*using " + usual)
        self.assertIn("on " + usual, result.stdout)

    def test_what_is_not_to_be_kept_is_not(self):
        """And the profile is of the later rounds."""
        self.ok("bench", "disk", "--size", "64MiB", "--rounds", "2", "--no-keep", "--profile", "profile", "--json", "disk.json", "--html", "disk.html", "-q",
                env=self.env)
        page = "".join(ElementTree.fromstring(self.bytes_of("disk.html")).itertext())
        for words in ["both at once", "4 KiB", "measured twice"]:
            self.assertIn(words, page)
        self.assertEqual(self.kept(), [])
        self.save("a.npy", self.noise((64, 64), "f8"))
        self.ok("transpose", "a.npy", "b.npy", "--io", "direct", "--device", "profile")
        compared = self.ok("bench", "compare", "disk.json", "disk.json").stdout
        self.assertRegex(compared, r"(?s)\b18 the same.*\b9 the same")
        series, depths = [figure["series"] for figure in json.loads(self.bytes_of("disk.json"))["figures"]]
        self.assertEqual([[point["x"] for point in each["points"]] for each in series], [[4096 * 4**i for i in range(6)]] * 3)
        self.assertEqual([[point["x"] for point in each["points"]] for each in depths], [[1, 8, 32]] * 3)
        for row, point in enumerate(json.loads(self.bytes_of("profile"))["points"]):
            self.assertEqual(point[0], 4096 * 4**row)
            for value, each in zip(point[1:], series):
                settled = [statistics.median(at["samples"][1:]) for at in each["points"][: row + 1]]
                self.assertAlmostEqual(value / max(settled), 1)

    def test_bad_arguments(self):
        self.refused("bench", says="subcommand")
        self.refused("bench", "disk", "missing", says="missing")
        self.refused("bench", "disk", "--size", "1MiB", says="64 MiB")
        self.refused("bench", "disk", "--profile", "missing/profile", says="missing")
        self.refused("bench", "disk", "--size", "1PiB", "-q", says="room|free")


class Benchmarks(Case):
    small = {"cache": ("--size", "64KiB"), "memory": ("--size", "64KiB"), "files": ("--size", "16MiB"), "schedules": ("--size", "4MiB")}
    rounds = {"cache": 3, "memory": 1, "files": 1, "schedules": 1}
    # They measure for seconds: one of these three in a run of the tests, chosen by the seed, and all in the long form.
    others = ["memory", "files", "schedules"] if LONG else [["memory", "files", "schedules"][SEED % 3]]

    def measure(self, name, file="r.json", rounds=2, *more):
        self.ok("bench", name, *self.small[name], "--rounds", rounds, "--json", file, "--force", *more)
        return json.loads(self.bytes_of(file))

    runs = {}

    def run_once(self, name):
        """The results and the page of a run that several tests look at."""
        if name not in ["cache", *self.others]:
            self.skipTest(f"bench {name} has its turn with another seed")
        if name not in self.runs:
            before = os.listdir(self.dir)
            self.measure(name, "r.json", self.rounds[name], "--html", "r.html")
            made = {file: self.bytes_of(file) for file in set(os.listdir(self.dir)) - set(before)}
            self.assertEqual(set(made), {"r.html", "r.json"})  # nothing of its own is left
            for file in made:
                os.unlink(self.path(file))
            self.runs[name] = (made["r.json"], made["r.html"])
        results, page = self.runs[name]
        return json.loads(results), page

    def page(self, content):
        root = ElementTree.fromstring(content)
        return root.findall(".//{http://www.w3.org/2000/svg}svg"), "".join(root.itertext())

    def test_results(self):
        keys = documented()["bench"]
        for name in ["cache", *self.others]:
            rounds = self.rounds[name]
            results, page = self.run_once(name)
            self.assertEqual(set(results), keys[0])
            self.assertEqual((results["benchmark"], results["rounds"]), (name, rounds))
            self.assertEqual(set(results["host"]), keys[2])
            if name not in ("files", "schedules"):
                self.assertIsNone(results["host"]["disk"])
            figures, text = self.page(page)
            self.assertEqual(len(figures), len(results["figures"]))
            for figure, drawn in zip(results["figures"], figures):
                self.assertEqual(set(figure), keys[1])
                self.assertIn(figure["caption"], text)
                points = [point for series in figure["series"] for point in series["points"]]
                self.assertTrue(points)
                for point in points:
                    self.assertEqual(set(point), {"x", "median", "spread", "drift", "samples"})
                    self.assertEqual(len(point["samples"]), 1 if figure["computed"] else rounds)
                    self.assertEqual(point["median"], sorted(point["samples"])[len(point["samples"]) // 2])
                    if not figure["computed"]:
                        self.assertGreater(point["median"], 0)
                words = [node.text for node in drawn.iter("{http://www.w3.org/2000/svg}text")]
                for series in figure["series"]:
                    self.assertTrue(series["name"] in words or not series["name"], (series["name"], words))
                for row in figure["rows"]:
                    self.assertIn(row, words)
            self.assertNotRegex(page.decode(), r"(src|href)=|\bnan\b|\binf\b")

    def test_every_way_moves_the_file(self):
        table = self.run_once("files")[0]["tables"][0]
        self.assertEqual(table["columns"], ["", "passes", "read", "written", "requests"])
        rows = {row[0]: row[1:] for row in table["rows"]}
        self.assertEqual(set(rows), {"cp, synced", "xorder, no options", "the same order, direct", "tiles, direct", "tiles, mapped", "schedule rounds",
                                     "schedule exchange", "schedule mesh"})
        for way, (passes, read, written, _) in rows.items():
            for moved in [read, written]:  # a little is read twice where a tile ends within a block
                self.assertRegex(moved, r"^[\d.]+ MiB$", way)
                self.assertAlmostEqual(float(moved[:-4]) / (16 * int(passes)), 1, delta=0.05, msg=way)
        self.assertEqual(rows["the same order, direct"][0], "1")

    def started(self):
        """A benchmark of files that has begun, and its directory."""
        before = set(os.listdir(self.dir))
        process = subprocess.Popen([harness.XORDER, "bench", "files", "--size", "16MiB", "--rounds", "1000", "-q"], cwd=self.dir)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        while True:
            self.assertIsNone(process.poll())
            for name in set(os.listdir(self.dir)) - before:
                if os.path.exists(self.path(name + "/in.raw")):
                    return process, name
            time.sleep(0.01)

    def test_what_ends_before_it_is_done_leaves_nothing(self):
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            process, _ = self.started()
            process.send_signal(number)
            self.assertEqual(process.wait(harness.TIMEOUT), -number)
            self.assertEqual(os.listdir(self.dir), [])

    def test_the_next_run_removes_what_a_killed_one_has_left(self):
        names = []
        for _ in range(3):
            process, name = self.started()
            process.kill()
            process.wait()
            names.append(name)
        killed, foreign, used = names
        self.write(foreign + "/thesis.txt", "precious")
        self.write(killed + "/.out.raw.xorder-12-0", "half")
        lock = os.open(self.path(used), os.O_RDONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_SH)
        run = ("bench", "files", "--size", "1MiB", "--rounds", "1", "-q")
        self.ok(*run)
        self.assertEqual(set(os.listdir(self.dir)), set(names))  # they might have begun just now
        for name in names:
            os.utime(self.path(name), (0, 0))
        self.ok(*run)
        self.assertEqual(set(os.listdir(self.dir)), {foreign, used})
        self.assertEqual(os.listdir(self.path(foreign)), ["thesis.txt"])
        self.assertTrue(os.path.exists(self.path(used + "/in.raw")))

    def source_is_in_theory(self, caption):
        """A caption ends with its paper's authors, the beginning of its title, and its year, all as in docs/theory.md."""
        with open(os.path.join(os.path.dirname(__file__), "../../docs/theory.md"), encoding="utf-8") as file:
            sources = file.read().split("## Sources")[1].split("\n- ")[1:]
        authors, title, year = re.search(r' Source: (.+), "(.+)", (\d{4})\.$', caption).groups()
        found = [text for text in (" ".join(source.split()) for source in sources) if text.startswith(f'{authors}, "{title}')]
        self.assertEqual(len(found), 1, caption)
        self.assertRegex(found[0], rf"\b{year}\b")

    def test_the_papers_comparisons(self):
        self.ok("bench", "schedules", "--computed", "--json", "s.json", "--html", "s.html", "-q")
        results = json.loads(self.bytes_of("s.json"))
        self.assertEqual((results["rounds"], results["warnings"]), (0, []))
        figures, text = self.page(self.bytes_of("s.html"))
        self.assertEqual(len(figures), 9)
        self.assertIn("computed, not measured", text)
        self.assertNotIn("Measured", text)
        for figure, drawn in zip(results["figures"], figures):
            self.all_curves_are_seen(figure, drawn)
        for figure in results["figures"]:
            self.source_is_in_theory(figure["caption"])
        curves = {figure["id"]: {series["name"]: {point["x"]: point["median"] for point in series["points"]}
                                 for series in figure["series"]} for figure in results["figures"]}
        exchange = curves["exchange-steps"]
        for d in range(1, 21):
            self.assertEqual(exchange["all dimensions at once"][d], 2 ** (d - 1))
            self.assertEqual(exchange["one after the other"][d], d * 2 ** (d - 1))
            self.assertEqual(curves["exchange-links"]["all dimensions at once"][d], 1)
        bands = curves["bands"]
        for width, steps in bands["with search"].items():
            self.assertLessEqual(bands["bound for any places"][width], bands["bound"][width])
            self.assertLessEqual(bands["bound"][width], steps)
            self.assertLessEqual(steps, bands["closed form, 2^β"][width])
            self.assertLessEqual(bands["the same by H⁻¹"][width], bands["bound for any places"][width])
        self.assertEqual((bands["with search"][35], bands["closed form, 2^β"][35]), (19, 32))
        mesh = curves["mesh"]
        for side, steps in mesh["ours"].items():
            self.assertIn(mesh["ours, XY"][side], (steps, steps + 1))
            self.assertLess(mesh["(N − 1) / (2 + √2)"][side], steps)
            self.assertLessEqual(steps, mesh["two phases"].get(side, steps))
            self.assertLessEqual(mesh["torus, bound"][side], mesh["torus, ours"][side])
            self.assertLessEqual(mesh["torus, ours"][side], steps)
        self.assertEqual(mesh["recursive exchange"], {n: n - 1 for n in (2, 4, 8, 16, 32)})
        for per_node, steps in curves["descend"]["pipelined, descend"].items():
            self.assertEqual(steps, 4 * (6 + int(per_node).bit_length() - 1 + per_node - 1))
            self.assertEqual(curves["descend"]["direct"][per_node], (4 * 6 - 2) * per_node + per_node - 1)
        # The lower the rank, the fewer messages.
        rounds = curves["rounds-rank"]["rounds, 16 KiB each"]
        self.assertEqual(sorted(rounds.values()), [rounds[rank] for rank in sorted(rounds)])
        self.assertLess(rounds[1], curves["rounds-rank"]["all-to-all, 16 KiB each"][1])
        self.assertEqual(set(curves["rounds-layout"]["all-to-all"]), set(curves["rounds-layout"]["shuffle"]))
        # Chunks of one size are the same in both figures: 2^20 / 2^4.
        ratio = curves["rounds-rank"]["rounds, 1 MiB each"][4] / curves["rounds-rank"]["all-to-all, 1 MiB each"][4]
        self.assertAlmostEqual(curves["rounds-chunk"]["rounds, γ = 4"][2**16], ratio)

    def all_curves_are_seen(self, figure, drawn):
        """Every curve is drawn from its first point to its last; lines of one place have different turns, and each turn is there."""
        turns, sharers = {}, {}
        ends = {i: [] for i in range(len(figure["series"]))}
        for path in drawn.iter("{http://www.w3.org/2000/svg}path"):
            words = path.get("class").split()
            if words[0] != "line" or "h" in path.get("d"):  # "h": the legend's
                continue
            spots = [float(spot.split()[0]) for spot in path.get("d")[1:].split("L")]
            number = int(words[1][1:]) + (8 if "dashed" in words else 0)
            ends[number].append((spots[0], spots[-1]))
            turn = next((int(word[4:]) for word in words if word.startswith("turn")), 0)
            of = next((int(word[2:]) for word in words if re.fullmatch(r"of\d", word)), 1)
            turns.setdefault(path.get("d"), []).append(turn)
            sharers.setdefault((spots[0], spots[-1], of), []).append(turn)
        for same in turns.values():
            self.assertEqual(len(same), len(set(same)), figure["id"])
        for (_, _, of), places in sharers.items():
            self.assertEqual(sorted(places), sorted([*range(of)] * (len(places) // of)), figure["id"])
        frame = next(drawn.iter("{http://www.w3.org/2000/svg}rect"))
        left, width = float(frame.get("x")), float(frame.get("width"))
        x_of = [point["x"] for series in figure["series"] for point in series["points"]]
        scale = math.log if figure["x"]["logarithmic"] else float
        for i, series in enumerate(figure["series"]):
            # With a logarithmic axis points at 0 are not drawn.
            xs = sorted(point["x"] for point in series["points"] if point["median"] > 0 or not figure["values"]["logarithmic"])
            if len(xs) < 2:
                continue
            place = lambda x: left + width * (scale(x) - scale(min(x_of))) / (scale(max(x_of)) - scale(min(x_of)))
            stretches = sorted(ends[i])
            self.assertAlmostEqual(stretches[0][0], place(xs[0]), delta=0.2, msg=(figure["id"], series["name"]))
            self.assertAlmostEqual(stretches[-1][1], place(xs[-1]), delta=0.2, msg=(figure["id"], series["name"]))
            for one, next_one in zip(stretches, stretches[1:]):
                self.assertEqual(one[1], next_one[0])

    def test_schedules_run(self):
        results = self.run_once("schedules")[0]
        curves = {figure["id"]: {series["name"]: {point["x"]: point["median"] for point in series["points"]}
                                 for series in figure["series"]} for figure in results["figures"] if not figure["computed"]}
        self.assertEqual(set(curves), {"message-time", "message-bytes", "file-transposed", "file-reversed"})
        names = ["exchange", "rounds", "ASPC", "mesh", "banded, β = ⌊d / 2⌋"]
        self.assertEqual(list(curves["message-time"]), names)
        self.assertEqual(set(curves["message-time"]["mesh"]), {2, 4, 6, 8, 10, 12})
        sizes = {8 << 3 * i for i in range(6)}  # to 256 KiB
        for name in [*names, "two copies by memcpy"]:
            self.assertEqual(set(curves["message-bytes"][name]), sizes, name)
        for figure, by in [("file-transposed", ["rounds", "exchange", "mesh"]), ("file-reversed", ["rounds", "exchange"])]:
            self.assertEqual(list(curves[figure]), [f"{name}, on a network" for name in by] + ["tiles"] + by)
        for name, kind, shift in [("exchange", ("exchange", "--dimension", 4), 8), ("mesh", ("mesh", "--size", 4), 4),
                                  ("rounds", ("bmmc", "--by", "transpose(9,10)", "--bits", 19, "--processors", 16), 8)]:
            time = self.json("schedule", *kind, "--network-times", "2e-6,0,8e-11,one-port", "--message-bytes", 4 * harness.MiB >> shift)["timing"]
            self.assertAlmostEqual(curves["file-transposed"][f"{name}, on a network"][4], time["wormhole"]["asynchronous"], 12)
        self.assertIn(4, curves["file-reversed"]["rounds"])
        self.assertEqual(len(results["tables"][0]["rows"]), 6)

    def test_one_round_is_said_to_be_too_few(self):
        said = self.ok("bench", "cache", *self.small["cache"], "--rounds", 1, "--json", "r.json").stdout
        self.assertRegex(" ".join(json.loads(self.bytes_of("r.json"))["warnings"]), "measured once")
        self.assertIn("\n1 round in ", said)

    def test_comparing(self):
        a = self.run_once("memory")[0]
        self.write("a.json", json.dumps(a))
        b = json.loads(json.dumps(a))
        figure = b["figures"][0]
        for series in figure["series"]:
            for point in series["points"]:
                point["samples"] = [3 * sample for sample in point["samples"]]
        # Rows are found by name wherever they stand.
        last = len(figure["rows"]) - 1
        figure["rows"].reverse()
        for series in figure["series"]:
            for point in series["points"]:
                point["x"] = last - point["x"]
        self.write("b.json", json.dumps(b))
        text = self.ok("bench", "compare", "a.json", "b.json", "--html", "c.html").stdout
        first, rest = text.split("\n\n", 1)
        self.assertEqual(re.findall(r"(?m)^\d+ B +3 +3 +3$", first), re.findall(r"(?m)^\d+ B .*$", first))
        self.assertEqual(len(re.findall(r"(?m)^\d+ B ", first)), 5)
        self.assertNotIn(" 3 ", rest.split("The reference")[1])
        figures, words = self.page(self.bytes_of("c.html"))
        self.assertEqual(len(figures), len(a["figures"]))
        self.assertIn("B / A", words)
        self.write("d.json", json.dumps(self.run_once("cache")[0]))
        self.assertIn("stride", self.ok("bench", "draw", "d.json").stdout)
        self.ok("bench", "compare", "d.json", "d.json", "--html", "d.html")
        self.assertEqual(len(self.page(self.bytes_of("d.html"))[0]), 2 * 3)  # quotients, and both

    def test_drawing(self):
        """A page is what the benchmark drew itself; one figure is a picture, whatever else shows SVG; scripts of bench/ write the same."""
        results, page = self.run_once("cache")
        self.write("a.json", json.dumps(results))
        self.ok("bench", "draw", "a.json", "--html", "a.html", "--figure", "latency", "--svg", "a.svg")
        self.assertEqual(self.bytes_of("a.html"), page)
        picture = self.bytes_of("a.svg").decode()
        root = ElementTree.fromstring(picture)
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertNotIn("var(", picture)
        words = " ".join(root.itertext())
        for series in next(figure for figure in results["figures"] if figure["id"] == "latency")["series"]:
            self.assertIn(series["name"], words)
        self.assertIn("Dependent loads", words)
        self.refused("bench", "draw", "a.json", "--figure", "copies", "--svg", "b.svg", says="copy latency stride")
        self.refused("bench", "draw", "a.json", "--svg", "b.svg", says="--figure")
        self.refused("bench", "draw", "a.json", "--html", "a.json", "--force", says="same file")
        bench = os.path.join(os.path.dirname(__file__), "../../bench")
        for name, figures in [("figures", ["seconds", "peak", "resident", "warm"]), ("budgets", ["memory-4GiB", "sizes", "seconds", "predicted_seconds"])]:
            with open(os.path.join(bench, name + ".json"), encoding="utf-8") as file:
                made = json.load(file)
            self.assertEqual(set(made), documented()["bench"][0])
            for figure in figures:
                self.ok("bench", "draw", os.path.join(bench, name + ".json"), "--figure", figure, "--svg", "c.svg", "--force")
                drawn = ElementTree.fromstring(self.bytes_of("c.svg"))
                wanted = next(each for each in made["figures"] if each["id"] == figure)
                words = [node.text for node in drawn.iter("{http://www.w3.org/2000/svg}text")]
                for name_of_series in [*wanted["rows"], *(series["name"] for series in wanted["series"] if series["name"])]:
                    self.assertIn(name_of_series, words)

    def test_what_is_no_result_is_refused(self):
        good = self.run_once("cache")[0]
        self.write("a.json", json.dumps(good))
        compare = ("bench", "compare", "a.json", "b.json")
        self.refused(*compare, says="b.json: ")
        for content in ["", "[]", "{}", '{"benchmark": 3}', "\xff"]:
            self.write("b.json", content)
            self.refused(*compare, "--html", "c.html", says="b.json: is not a benchmark result")

        self.write("b.json", json.dumps(good)[:-1] + ', "rounds": 1}')
        self.refused(*compare, "--html", "c.html", says='b.json: the key "rounds" is there twice')

        def damage(change):
            bad = json.loads(json.dumps(good))
            change(bad)
            self.write("b.json", json.dumps(bad))
            self.refused(*compare, "--html", "c.html", says="b.json: is damaged")

        point = lambda bad: bad["figures"][0]["series"][0]["points"][0]
        for change in [lambda bad: bad.pop("figures"), lambda bad: bad.update(figures=3), lambda bad: point(bad).pop("samples"),
                       lambda bad: point(bad).update(samples=[]), lambda bad: point(bad).update(samples=["1"]),
                       lambda bad: point(bad).update(samples=[-1]), lambda bad: bad["figures"][0]["x"].update(unit="miles"),
                       lambda bad: bad["figures"][0].update(rows=["only one"])]:
            damage(change)
        other = dict(good, benchmark="memory")
        self.write("b.json", json.dumps(other))
        self.refused(*compare, says="bench cache.*bench memory")
        self.write("b.json", json.dumps(good))
        self.write("c.html", "old")
        self.refused(*compare, "--html", "c.html", says="exists")
        for page in ["a.json", "b.json", "./a.json", "./b.json"]:
            self.refused(*compare, "--html", page, "--force", says="same file")

    def test_bad_arguments(self):
        self.write("old", "old")
        self.refused("bench", "cache", "--json", "old", says="exists")
        for page in ["x", "./x"]:
            self.refused("bench", "cache", "--json", "x", "--html", page, says="is the file of --json; name another")
        self.refused("bench", "disk", "--json", "x", "--profile", "./x", says="--profile: ./x is the file of --json")
        self.refused("bench", "cache", "--html", "missing/x", says="missing")
        self.refused("bench", "cache", "--size", "1KiB", says="less than 64 KiB")
        self.refused("bench", "memory", "--size", "1PiB", says="available")
        self.refused("bench", "files", "--size", "1PiB", says="room|free")
        self.refused("bench", "files", "missing", says="missing")
        self.refused("bench", "memory", "--rounds", "0", says="--rounds")


if __name__ == "__main__":
    main()
