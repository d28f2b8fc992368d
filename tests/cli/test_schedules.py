#!/usr/bin/python3
"""xorder machine transpose, bitreverse and permute: the same bytes as the tile engine."""

import unittest

from harness import (Case, LARGE_ENGINES, MiB, SANITIZED, affine_map, bit_reversed, main, matrix_text, moved, np,
                     random_columns, rotation, rounds, transposed)


class Schedules(Case):
    def check(self, command, array, expected, *options):
        self.save("a.npy", array)
        return self.check_run(command, array, expected, *options)

    def check_run(self, command, array, expected, *options):
        """Of a.npy, which has the array."""
        report = self.json("machine", command, "a.npy", "b.npy", "--force", *options)
        self.assert_same(self.load("b.npy"), expected, (command, array.shape, array.dtype, options))
        return report

    def powers(self, most):
        return [int(k) for k in self.random.integers(0, most + 1, 2)]

    def size(self):
        return int(self.random.choice([1, 2, 3, 4, 8, 16, 24]))

    def timed(self, network, *args):
        """What a run says of the times on this network, as the plan says it before."""
        plan = self.json(*args, "--network-times", network, "--dry-run", "--force")
        report = self.json(*args, "--network-times", network, "--force")
        for key in ["schedule", "processors", "steps", "messages", "crossings", "bytes_moved", "timing"]:
            self.assertEqual(plan[key], report[key], (args, key))
        return report["timing"]

    def expect_times(self, timing, schedule, message_bytes, times=1):
        """As often the time that xorder schedule says for messages of this size."""
        network = ",".join([*(str(timing[key]) for key in ["startup", "per_hop", "per_byte"]), timing["ports"] + "-port"])
        once = self.json("schedule", *schedule, "--network-times", network, "--message-bytes", message_bytes)["timing"]
        for switching in ["wormhole", "store_and_forward"]:
            for mode in ["lock_step", "asynchronous"]:
                self.assertAlmostEqual(timing[switching][mode], times * once[switching][mode],
                                       delta=1e-9 * timing[switching][mode], msg=(schedule, switching, mode))


class SmallFiles(Schedules):
    in_memory = True

    def test_rounds_do_every_bmmc_permutation(self):
        for _ in range(rounds(6, 20)):
            n = int(self.random.integers(0, 13))
            p = int(self.random.integers(0, n + 1))
            array = self.noise(1 << n, f"V{self.size()}")
            columns, complement = random_columns(self.random, n), int(self.random.integers(0, 1 << n))
            self.write("m.txt", matrix_text(columns, complement))
            layout = str(self.random.choice(["major", "minor", str(self.random.integers(0, n - p + 1))]))
            with self.subTest(n=n, p=p, layout=layout):
                if n == 0:
                    self.check("bitreverse", array, array, "--schedule", "rounds", "--processors", 1)
                    continue
                self.check("permute", array, moved(array, affine_map(columns, complement)), "--matrix", "m.txt",
                           "--schedule", "rounds", "--processors", 1 << p, "--layout", layout)

    def test_rounds_of_batches_axes_and_fortran_order(self):
        array = self.noise((4, 8, 16), "f4")
        self.check("transpose", array, transposed(array, (1, 2, 0)), "--axes", "1,2,0", "--schedule", "rounds")
        self.check("bitreverse", array, bit_reversed(array, 1), "--axis", "1", "--schedule", "rounds", "--processors", 4)
        fortran = np.asfortranarray(self.noise((32, 16), "f8"))
        self.check("bitreverse", fortran, bit_reversed(np.ascontiguousarray(fortran)), "--schedule", "rounds")

    def test_exchange_transposes(self):
        for _ in range(rounds(5, 16)):
            r, c = self.powers(8)
            if min(r, c) == 0:
                continue
            array = self.noise((1 << r, 1 << c), f"V{self.size()}")
            d = int(self.random.integers(0, min(r, c) + 1))
            with self.subTest(r=r, c=c, d=d):
                self.check("transpose", array, transposed(array), "--schedule", "exchange", "--processors", 1 << d)
        array = self.noise(1 << 9, "u2")
        self.check("permute", array, moved(array, rotation(9, 4)), "--by", "transpose(4,5)", "--schedule", "exchange")

    def test_exchange_reverses_bits(self):
        for n, d in [(0, 0), (1, 0), *self.sample([(n, d) for n in range(2, 13) for d in range(n // 2 + 1)], rounds(3, 14))]:
            with self.subTest(n=n, d=d):
                array = self.noise(1 << n, f"V{self.size()}")
                self.check("bitreverse", array, bit_reversed(array), "--schedule", "exchange", "--processors", 1 << d)

    def test_mesh_transposes_any_matrix(self):
        for _ in range(rounds(6, 20)):
            rows, columns = (int(e) for e in self.random.integers(2, 300, 2))
            side = int(self.random.integers(1, min(rows, columns, 12) + 1))
            array = self.noise((rows, columns), f"V{self.size()}")
            with self.subTest(shape=array.shape, dtype=array.dtype, side=side):
                self.check("transpose", array, transposed(array), "--schedule", "mesh", "--processors", side * side,
                           *(["--torus"] if self.random.integers(2) else []))

    def test_bands(self):
        for _ in range(rounds(4, 12)):
            n = int(self.random.integers(2, 200))
            lower = int(self.random.integers(0, n - 1))
            upper = int(self.random.integers(0, min(n - 1 - lower, 20)))
            options = ["--banded", f"{lower},{upper}", "--band-order", str(self.random.choice(["columns", "rows"]))]
            options += ["--cyclic"] if self.random.integers(2) else []
            array = self.noise((n, lower + upper + 1), f"V{self.size()}")
            self.save("a.npy", array)
            self.ok("transpose", "a.npy", "tiles.npy", "--force", *options)
            processors = 1 << int(self.random.integers(0, n.bit_length()))
            with self.subTest(n=n, options=options, processors=processors):
                self.check("transpose", array, self.load("tiles.npy"), *options, "--schedule", "banded", "--processors", processors)

    def test_raw_files_with_offsets(self):
        array = self.noise((64, 128), "f4")
        self.write("a.raw", b"x" * 133 + array.tobytes())
        for schedule in ["rounds", "exchange", "mesh"]:
            self.ok("machine", "transpose", "a.raw", "b.raw", "--force", "--dtype", "f4", "--shape", "64,128", "--offset", 133,
                    "--schedule", schedule)
            self.assertEqual(self.bytes_of("b.raw"), transposed(array).tobytes(), schedule)

    def test_reports_say_what_crossed_the_network(self):
        array = self.noise((64, 64), "f8")
        report = self.check("transpose", array, transposed(array), "--schedule", "exchange", "--processors", 32)
        # THEORY: 2^(d-1) steps, d 2^(2d-1) crossings; here a slot holds 2 x 2 elements.
        self.assertEqual([report[key] for key in ("schedule", "processors", "steps", "messages", "crossings", "bytes_moved")],
                         ["exchange", 32, 16, 2560, 2560, 2560 * 32])
        report = self.check("transpose", array, transposed(array), "--schedule", "rounds", "--processors", 8)
        # 2^3 rounds of 8 chunks, of which 8 stay.
        self.assertEqual([report[key] for key in ("steps", "messages", "bytes_moved")], [8, 56, 56 * 512])
        report = self.check("transpose", array, transposed(array), "--schedule", "mesh", "--processors", 49)
        self.assertEqual([report[key] for key in ("processors", "steps", "messages")], [49, 2, 42])
        with_xy = self.check("transpose", array, transposed(array), "--schedule", "mesh", "--processors", 49, "--routing", "xy")
        self.assertEqual(with_xy["steps"], report["steps"] + 1)
        self.check("transpose", array, transposed(array), "--schedule", "mesh", "--processors", 36, "--routing", "two-phase")
        torus = self.check("transpose", array, transposed(array), "--schedule", "mesh", "--processors", 256, "--torus")
        # 15 blocks that do not stay in each row; those with 6 < k <= 8, on both sides, stop once on their way.
        self.assertEqual([torus[key] for key in ("schedule", "steps", "messages")], ["mesh", 3, 16 * (15 + 3)])
        self.assertEqual(torus["crossings"], self.json("schedule", "mesh", "--size", 16, "--torus")["crossings"])
        with_xy = self.check("transpose", array, transposed(array), "--schedule", "mesh", "--processors", 256, "--torus",
                             "--routing", "xy")
        self.assertEqual(with_xy["steps"], torus["steps"] + 1)
        recursive = self.check("transpose", array, transposed(array), "--schedule", "mesh", "--processors", 64, "--routing", "recursive")
        # Half of the blocks change their quarter in each of three steps of quartering.
        self.assertEqual([recursive[key] for key in ("steps", "messages")], [7, 3 * 32])
        self.refused("machine", "transpose", "a.npy", "b.npy", "--schedule", "rounds", "--routing", "xy", says="mesh")
        self.refused("machine", "transpose", "a.npy", "b.npy", "--schedule", "exchange", "--torus", says="mesh")
        self.refused("machine", "transpose", "a.npy", "b.npy", "--force", "--schedule", "mesh", "--torus", "--routing", "two-phase", says="on a torus")
        self.refused("machine", "transpose", "a.npy", "b.npy", "--force", "--schedule", "mesh", "--processors", 49, "--routing", "recursive",
                     says="power of two")
        self.refused("machine", "transpose", "a.npy", "b.npy", "--force", "--schedule", "mesh", "--processors", 49, "--routing", "two-phase",
                     says="even side")
        text = self.ok("machine", "transpose", "a.npy", "c.npy", "--schedule", "mesh").stderr
        self.assertRegex(text, r"schedule mesh on 16 virtual processors: 1 steps?, 12 messages")

    def test_times_on_a_network(self):
        """Those of the schedule, for messages of the size that these have."""
        lg = int(self.random.integers(4, 7))
        self.save("a.npy", self.noise((1 << lg, 1 << lg), "f8"))
        array = 8 << 2 * lg
        network = ",".join([*(str(x) for x in self.random.integers(0, 10, 3)), str(self.random.choice(["one-port", "all-port"]))])
        run = ("machine", "transpose", "a.npy", "b.npy", "--schedule")
        for d in self.few([0, 1, 4], 1):
            exchange = self.timed(network, *run, "exchange", "--processors", 1 << d)
            self.assertEqual(exchange["runs"], 1)
            self.expect_times(exchange, ("exchange", "--dimension", d), array >> 2 * d)
            rounds = self.timed(network, *run, "rounds", "--processors", 1 << d)
            self.expect_times(rounds, ("bmmc", "--by", f"transpose({lg},{lg})", "--bits", 2 * lg, "--processors", 1 << d),
                              array >> 2 * d)
        for side in [1, 2, 8]:
            for routing in self.few(["any", "xy", "two-phase"], 1) if side > 1 else ["any"]:
                mesh = self.timed(network, *run, "mesh", "--processors", side * side, "--routing", routing)
                self.expect_times(mesh, ("mesh", "--size", side, "--routing", routing), array // side**2)
        # One column for each node of a band that is cyclic.
        self.save("band.npy", self.noise((32, 9), "f8"))
        band = self.timed("3,1,2,one-port", "machine", "transpose", "band.npy", "b.npy", "--banded", "4,4", "--cyclic", "--schedule", "banded",
                          "--processors", 32)
        self.expect_times(band, ("banded", "--dimension", 5, "--beta", 2), 8)
        text = self.ok("machine", "transpose", "a.npy", "b.npy", "--force", "--schedule", "mesh", "--network-times", "1,0,0").stderr
        self.assertIn("time with all ports, 1 run of the schedule: store and forward 1 in lock step, 1 asynchronously; wormhole 1 and 1\n", text)

    def test_bad_networks(self):
        self.save("a.npy", self.noise((64, 64), "f8"))
        for bad in self.few(["1,2", "1,2,3,4", "1,2,x", "1,2,3,two-port", "-1,2,3", "1,2,nan", "inf,1,1"], 3):
            self.refused("machine", "transpose", "a.npy", "b.npy", "--schedule", "mesh", "--network-times", bad, says="--network-times|time or size")
            self.refused("machine", "descend", "scan", "a.npy", "b.npy", "--schedule", "aspc", "--network-times", bad, says="--network-times|time or size")

    def test_the_old_name_of_times(self):
        """--network once meant them."""
        self.save("a.npy", self.noise((64, 64), "f8"))
        for command in [("machine", "transpose", "a.npy", "b.npy", "--schedule", "mesh"), ("schedule", "exchange", "--dimension", 2),
                        ("machine", "descend", "scan", "a.npy", "b.npy", "--schedule", "aspc")]:
            self.refused(*command, "--network", "5,2,0.5,one-port", says="times are --network-times 5,2,0.5,one-port$")
            self.refused(*command, "--network=hypercube:4", says="times are --network-times STARTUP,PER_HOP,PER_BYTE$")
            self.assertNotIn("--network ", self.ok(*command[:2], "--help").stdout)

    def test_dry_runs_touch_nothing(self):
        self.save("a.npy", self.noise((64, 64), "f8"))
        before = self.listing()
        for schedule, passes in [("rounds", 2), ("exchange", 2), ("mesh", 2)]:
            plan = self.json("machine", "transpose", "a.npy", "b.npy", "--schedule", schedule, "--dry-run")
            self.assertEqual((plan["passes"], plan["bytes"]), (passes, 64 * 64 * 8))
            text = self.ok("machine", "transpose", "a.npy", "b.npy", "--schedule", schedule, "--dry-run").stdout
            self.assertIn("virtual processors", text)
            self.assertIn(f"{plan['scratch_bytes'] >> 10} KiB of scratch disk", text.splitlines()[0])
        self.assertEqual(self.listing(), before)


class LargerThanMemory(Schedules):
    """Many groups of blocks and many stripes."""

    def test_transposition(self):
        shape = (1024, 2048) if SANITIZED else (1024, 4096)
        array = self.noise(shape, "f8")
        expected = transposed(array)
        self.save("a.npy", array)
        for schedule in self.few(["rounds", "exchange", "mesh"], 1):
            for engine in self.few(LARGE_ENGINES, 1):
                with self.subTest(schedule=schedule, engine=engine):
                    report = self.check_run("transpose", array, expected, "--schedule", schedule, "--memory", "16MiB",
                                            "--io", engine)
                    # So little memory may make the tile engine's part two passes by itself.
                    self.assertIn(report["passes"], [2] if schedule == "rounds" else [2, 3])
                    self.assertEqual(report["bytes_written"], report["passes"] * array.nbytes)

    def test_times_of_many_runs(self):
        """Each stripe or group takes the time of the schedule; bytes are as many in many stripes as in one."""
        self.save("a.npy", self.noise((1024, 2048), "f8"))
        args = ("machine", "transpose", "a.npy", "b.npy", "--memory", "16MiB", "--schedule")
        kinds = {"exchange": (("exchange", "--dimension", 4), MiB // 16), "mesh": (("mesh", "--size", 4), MiB)}
        for schedule in self.few(kinds, 1):
            kind, slot = kinds[schedule]
            starts = self.timed("1,0,0", *args, schedule, "--processors", 16)
            self.assertGreater(starts["runs"], 1, schedule)
            self.expect_times(starts, kind, 1, starts["runs"])
            self.expect_times(self.timed("0,0,1", *args, schedule, "--processors", 16), kind, slot)
        # Only the processors of a group receive, so each group takes as long as all of them.
        rounds = self.timed("1,0,1", *args, "rounds", "--processors", 16)
        self.assertGreater(rounds["runs"], 1)
        once = self.json("schedule", "bmmc", "--by", "transpose(10,11)", "--bits", 21, "--processors", 16, "--network-times", "1,0,1",
                         "--message-bytes", MiB // 16)["timing"]
        for switching in ["wormhole", "store_and_forward"]:
            self.assertEqual(rounds[switching]["lock_step"], rounds["runs"] * once[switching]["lock_step"])

    def test_the_default_number_of_processors_fits(self):
        """As many as it takes for their blocks to fit, while they leave room for blocks themselves."""
        def peak(lg, *options):  # of 8 KiB × 2^lg
            with open(self.path("a.raw"), "wb") as file:
                file.truncate(8192 << lg)
            plan = self.json("machine", "transpose", "a.raw", "b.raw", "--dtype", "f8", "--memory", "16MiB", "--dry-run", *options)
            return plan["planned_memory"]

        for lg in self.sample(range(8, 18), rounds(2, 4)):
            for schedule in ["rounds", "exchange", "mesh"]:
                self.assertLessEqual(peak(lg, "--shape", f"1024,{1 << lg}", "--schedule", schedule), 16 * MiB, (lg, schedule))
        for lg in self.sample(range(8, 16), rounds(2, 4)):  # above, a hypercube of 256 nodes is too much for 16 MiB itself
            self.assertLessEqual(peak(lg, "--shape", f"{16 << lg},64", "--banded", "32,31", "--schedule", "banded"), 16 * MiB, lg)

    def test_a_mesh_of_odd_blocks(self):
        array = self.noise((2003, 3001), "f4")
        expected = transposed(array)
        self.save("a.npy", array)
        for side in self.few([1, 3, 7], 1):
            self.check_run("transpose", array, expected, "--schedule", "mesh", "--processors", side * side,
                           "--memory", "16MiB", *self.sample([[], ["--torus"]], 1)[0])

    def test_rows_that_are_longer_than_a_stripe(self):
        for shape in self.few([(1 << 17, 16), (16, 1 << 17), (1 << 18, 8)], 1):
            array = self.noise(shape, "f8")
            expected = transposed(array)
            self.save("a.npy", array)
            for schedule in ["exchange", "mesh"]:
                self.check_run("transpose", array, expected, "--schedule", schedule, "--memory", "16MiB")

    def test_bit_reversal(self):
        n = 20 if SANITIZED else 22
        array = self.noise(1 << n, "f8")
        expected = bit_reversed(array)
        self.save("a.npy", array)
        for options in self.few([("exchange", "--processors", self.random.choice([16, 64])),
                                 *self.sample([("rounds",), ("rounds", "--processors", 64, "--layout", "minor")], 1)], 1):
            with self.subTest(options=options):
                self.check_run("bitreverse", array, expected, "--memory", "16MiB", "--schedule", *options)


class Spelling(Case):
    in_memory = True

    def test_the_old_spelling_names_the_new_one(self):
        """The commands without `machine` once had these options."""
        self.save("a.npy", self.noise((64, 32), "f8"))
        for command in [*self.few([("transpose", "a.npy", "b.npy"), ("bitreverse", "a.npy", "b.npy"),
                                   ("permute", "a.npy", "b.npy", "--by", "gray")], 1),
                        *self.few([("descend", "scan", "a.npy", "b.npy"), ("descend", "shift", "a.npy", "b.npy", "--by", "3")], 1)]:
            descend = command[0] == "descend"
            name = " ".join(command[:1 + descend])
            for old in [("--schedule", "aspc" if descend else "rounds"), ("--network-times", "1,2,3"), ("--network-times=1,2,3",),
                        *([] if descend else [("--processors", "4"), ("--layout", "minor")])]:
                self.assertEqual(self.refused(*command, *old),
                                 f"xorder: {old[0]} is for virtual processors: xorder machine {' '.join(command + old)} "
                                 f"(see xorder machine {name} --help)\n")
            new = ("--schedule", "aspc" if descend else "rounds", "--processors", "4", "--network-times", "1,2,3")
            self.ok("machine", *command, *new, "--force")
        for old in ["--torus", "--routing=xy"]:
            self.refused("transpose", "a.npy", "b.npy", old, says=f"xorder machine transpose a.npy b.npy {old}")
        self.ok("descend", "scan", "a.npy", "b.npy", "--processors", 16, "--force")  # of the sweeps
        self.refused("machine", "transpose", "a.npy", "b.npy", "--schedule", "tiles", says="tiles not in")
        self.refused("transpose", "a.npy", "b.npy", "--scheduled", says="unknown option --scheduled")


class Refused(Schedules):
    in_memory = True

    def setUp(self):
        super().setUp()
        self.save("a.npy", self.noise((64, 32), "f8"))
        self.save("odd.npy", self.noise((63, 32), "f8"))

    def test_numbers_of_processors(self):
        for schedule in ["rounds", "exchange"]:
            for number in [3, 48, (1 << 62) + 1]:
                self.refused("machine", "transpose", "a.npy", "b.npy", "--schedule", schedule, "--processors", number,
                             says=[str(number), "power of two"])
        self.refused("machine", "transpose", "a.npy", "b.npy", "--schedule", "rounds", "--processors", 4096, says=["4096", "2048 elements"])
        self.refused("machine", "transpose", "a.npy", "b.npy", "--schedule", "exchange", "--processors", 64, says=["64", "32 rows"])
        self.refused("machine", "transpose", "a.npy", "b.npy", "--schedule", "mesh", "--processors", 8, says=["8", "square", "4 or 9"])
        self.refused("machine", "transpose", "a.npy", "b.npy", "--schedule", "mesh", "--processors", 33 * 33, says=["33", "32 rows"])
        for number in ["-4", "x", "1.5", "", 0, 1 << 63, 10**23]:
            self.refused("machine", "transpose", "a.npy", "b.npy", "--schedule", "rounds", "--processors", number, says="processors")

    def test_what_a_schedule_cannot_do(self):
        self.refused("machine", "permute", "a.npy", "b.npy", "--by", "gray", "--schedule", "exchange", says=["transposition and bit reversal", "rounds"])
        self.refused("machine", "bitreverse", "a.npy", "b.npy", "--axis", "1", "--schedule", "exchange", says=["batch", "rounds"])
        self.refused("machine", "permute", "a.npy", "b.npy", "--by", "gray", "--schedule", "mesh", says=["matrices", "rounds"])
        self.refused("machine", "transpose", "odd.npy", "b.npy", "--schedule", "exchange", says=["powers of two", "mesh"])
        self.refused("machine", "transpose", "odd.npy", "b.npy", "--schedule", "rounds", says=["powers of two", "mesh"])
        self.refused("machine", "transpose", "a.npy", "b.npy", "--schedule", "banded", says=["schedule", "--banded"])
        self.refused("machine", "bitreverse", "a.npy", "b.npy", "--schedule", "banded", says=["schedule", "--banded"])
        band = ["--banded", "15,16"]
        self.refused("machine", "transpose", "a.npy", "b.npy", *band, "--schedule", "rounds", says=["bands", "banded"])
        self.refused("machine", "transpose", "a.npy", "b.npy", *band, "--schedule", "banded", "--processors", 128, says=["128", "64 columns"])
        self.save("diagonals.npy", np.zeros((5, 64)))
        self.refused("machine", "transpose", "diagonals.npy", "b.npy", "--banded", "2,2", "--band-order", "diagonals", "--schedule", "banded",
                     says=["order of columns", "tiles"])
        self.save("empty.npy", np.zeros((0, 4)))
        self.refused("machine", "transpose", "empty.npy", "b.npy", "--schedule", "mesh", says="no elements")

    def test_layouts(self):
        self.refused("machine", "permute", "a.npy", "b.npy", "--by", "gray", "--schedule", "rounds", "--processors", 1 << 11, "--layout", 3,
                     says="layout 3: the processor number has all 11 bits of an index: only layout 0 fits")
        for layout in ["8", "-1", "x"]:
            self.refused("machine", "transpose", "a.npy", "b.npy", "--schedule", "rounds", "--processors", 16, "--layout", layout, says="layout")
        self.refused("machine", "transpose", "a.npy", "b.npy", "--schedule", "exchange", "--layout", "minor", says=["layout", "rounds"])
        self.refused("machine", "transpose", "a.npy", "b.npy", "--processors", 4, says="--schedule is required")

    def test_processors_that_take_too_much_memory_themselves(self):
        self.save("bytes.npy", self.noise((1024, 1024)))
        for schedule, number in [("exchange", 256), ("mesh", 256 * 256), ("rounds", 1 << 16), ("rounds", 1024)]:
            self.refused("machine", "transpose", "bytes.npy", "b.npy", "--schedule", schedule, "--processors", number, "--memory", "16MiB",
                         says=[str(number), "fewer processors or more memory"])

    def test_too_little_memory(self):
        self.save("large.npy", np.zeros((1024, 2 * MiB // 1024), "f8"))
        self.refused("machine", "transpose", "large.npy", "b.npy", "--schedule", "rounds", "--processors", 1, "--memory", "16MiB",
                     says=["block", "more processors or more memory"])


if __name__ == "__main__":
    main()
