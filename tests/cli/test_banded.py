#!/usr/bin/python3
"""xorder transpose --banded against the transposition of the dense matrix and SciPy's definition of band storage."""

import os

from harness import Case, LARGE_ENGINES, MiB, SANITIZED, main, np, rounds


def dense_places(n, lower, upper, cyclic):
    """For each place [j, k] of the order `columns`: the row of the matrix, or -1 if the place is unused."""
    j, k = np.indices((n, lower + upper + 1))
    row = j + k - upper
    return row % n if cyclic else np.where((row >= 0) & (row < n), row, -1)


def stored(dense, lower, upper, cyclic, unused=None):
    """The matrix in the order `columns`; `unused` has what unused places hold."""
    n = len(dense)
    rows = dense_places(n, lower, upper, cyclic)
    columns = np.arange(n)[:, None]
    result = dense[np.maximum(rows, 0), columns]
    empty = np.zeros_like(result) if unused is None else unused
    result[rows < 0] = empty[rows < 0]
    return result


def stored_by_row(dense, lower, upper, cyclic, unused):
    """The matrix in the order `rows`, from its definition: [i, k] is a[i, i - KL + k]."""
    n, width = len(dense), lower + upper + 1
    result = unused.copy()
    for i in range(n):
        for k in range(width):
            j = i - lower + k
            if cyclic or 0 <= j < n:
                result[i, k] = dense[i, j % n]
    return result


def scipy_ab(dense, lower, upper):
    """SciPy's definition as its documentation has it: ab[u + i - j, j] == a[i, j]."""
    n = len(dense)
    ab = np.zeros((lower + upper + 1, n), dense.dtype)
    for i in range(n):
        for j in range(max(0, i - lower), min(n, i + upper + 1)):
            ab[upper + i - j, j] = dense[i, j]
    return ab


ORDERS = ["columns", "rows", "diagonals", "row-diagonals"]


class Banded(Case):
    in_memory = True

    def check(self, n, lower, upper, *options, cyclic=False, order="columns", dtype="f8", suffix=".npy"):
        dense = self.noise((n, n), dtype)
        shape = (n, lower + upper + 1)
        given = stored(dense, lower, upper, cyclic, unused=self.noise(shape, dtype))
        expected = stored(dense.T, upper, lower, cyclic)
        if "row" in order:
            given = stored_by_row(dense, lower, upper, cyclic, self.noise(shape, dtype))
            expected = stored_by_row(dense.T, upper, lower, cyclic, np.zeros_like(given))
        if "diagonals" in order:
            given, expected = given.T.copy(), expected.T.copy()
        self.save("a" + suffix, given)
        if suffix != ".npy":
            options += ("--dtype", dtype, "--shape", ",".join(map(str, given.shape)))
        if cyclic:
            options += ("--cyclic",)
        if order != "columns" or self.random.integers(2):
            options += ("--band-order", order)
        self.ok("transpose", "a" + suffix, "b" + suffix, "--force", "-q", "--banded", f"{lower},{upper}", *options)
        result = self.load("b.npy") if suffix == ".npy" else np.fromfile(self.path("b" + suffix), dtype).reshape(expected.shape)
        self.assert_same(result, expected, (n, lower, upper, cyclic, order, dtype, options))
        self.assertEqual(sorted(os.listdir(self.dir)), sorted(["a" + suffix, "b" + suffix]))
        os.unlink(self.path("a" + suffix))
        os.unlink(self.path("b" + suffix))

    def bandwidths(self, n):
        width = int(self.random.integers(1, max(n, 2)))
        lower = int(self.random.integers(0, width))
        return lower, width - 1 - lower

    def test_bands_of_small_matrices(self):
        bands = [(n, lower, upper, cyclic, order) for n in range(1, 6) for lower in range(max(n - 1, 1))
                 for upper in range(max(n - 1, 1) - lower) for cyclic in [False, True] for order in ORDERS]
        for n, lower, upper, cyclic, order in self.sample(bands, rounds(14, 48)):
            with self.subTest(n=n, lower=lower, upper=upper, cyclic=cyclic, order=order):
                self.check(n, lower, upper, cyclic=cyclic, order=order, dtype="u2")

    def test_random_bands(self):
        for _ in range(rounds(7, 20)):
            n = int(self.random.integers(1, 700))
            lower, upper = self.bandwidths(n)
            with self.subTest(n=n, lower=lower, upper=upper):
                self.check(n, lower, upper, "--io", self.random.choice(["auto", "direct", "mapped"]),
                           cyclic=bool(self.random.integers(2)), order=self.random.choice(ORDERS),
                           dtype=self.random.choice(["u1", "f2", "V3", "f4", "f8", "V12", "c16", "V24", "V100"]),
                           suffix=self.random.choice([".npy", ".raw"]))

    def test_narrow_bands_of_long_matrices(self):
        for lower, upper in self.few([(0, 0), (1, 1), (0, 2), (16, 16)], 2):
            with self.subTest(lower=lower, upper=upper):
                n = 20011
                given = self.noise((n, lower + upper + 1), "u4")
                self.save("a.npy", given)
                self.ok("transpose", "a.npy", "b.npy", "--force", "-q", "--cyclic", "--banded", f"{lower},{upper}")
                k = np.arange(lower + upper + 1)[::-1]
                source = (np.arange(n)[:, None] - k + upper) % n
                self.assert_same(self.load("b.npy"), given[source, k], (lower, upper))

    def test_is_scipys_band_storage(self):
        for n, lower, upper in self.few([(1, 0, 0), (6, 1, 2), (7, 3, 0), (8, 0, 6), (9, 6, 1)], 2):
            dense = self.noise((n, n), "u8")
            self.save("ab.npy", scipy_ab(dense, lower, upper))
            self.ok("transpose", "ab.npy", "t.npy", "--banded", f"{lower},{upper}", "--band-order", "diagonals",
                    "--force", "-q")
            self.assert_same(self.load("t.npy"), scipy_ab(dense.T, upper, lower))

    def test_by_column_becomes_by_row(self):
        dense = self.noise((50, 50), "f4")
        self.save("a.npy", stored(dense, 3, 7, False))
        self.ok("transpose", "a.npy", "b.npy", "--banded", "3,7", "-q")
        self.assert_same(self.load("b.npy"), stored_by_row(dense, 3, 7, False, np.zeros((50, 11), "f4")))

    def test_unused_corners_become_zeros(self):
        self.save("a.npy", np.full((3, 4), np.nan))
        self.ok("transpose", "a.npy", "b.npy", "--banded", "1,1", "--band-order", "diagonals", "-q")
        result = np.isnan(self.load("b.npy"))
        self.assertEqual(result.tolist(), [[False, True, True, True], [True] * 4, [True, True, True, False]])

    def test_twice_is_the_same(self):
        self.save("a.npy", self.noise((500, 41), "f4"))
        self.ok("transpose", "a.npy", "b.npy", "--banded", "17,23", "--cyclic", "-q")
        self.ok("transpose", "b.npy", "c.npy", "--banded", "23,17", "--cyclic", "-q")
        self.assert_same(self.load("c.npy"), self.load("a.npy"))

    def test_a_raw_file_with_an_offset(self):
        given = self.noise((100, 5), "f4")
        self.write("a.raw", b"0123456" + given.tobytes())
        self.ok("transpose", "a.raw", "b.raw", "--banded", "2,2", "--cyclic", "--dtype", "f4", "--shape", "100,5",
                "--offset", "7", "-q", "--io", "direct")
        source = (np.arange(100)[:, None] + 2 - np.arange(5)[::-1]) % 100
        expected = given[source, np.arange(5)[::-1]]
        self.assertEqual(self.bytes_of("b.raw"), expected.tobytes())

    def test_reports(self):
        self.save("a.npy", self.noise((1000, 9), "f8"))
        options = ("a.npy", "b.npy", "--banded", "4,4")
        plan = self.json("transpose", *options, "--dry-run")
        self.assertEqual(plan["bytes"], 72000)
        self.assertEqual(plan["passes"], 1)
        self.assertEqual(plan["scratch_bytes"], 0)
        self.assertLessEqual(plan["planned_memory"], plan["memory"])
        text = self.ok("transpose", *options, "--dry-run").stdout
        self.assertRegex(text, "1000 x 1000")
        self.assertEqual(os.listdir(self.dir), ["a.npy"])
        report = self.json("transpose", *options)
        self.assertEqual((report["bytes"], report["passes"]), (72000, 1))
        self.assertEqual(report["bytes_written"], 72000)


class Several(Case):
    """Several matrices in one file or in one each, by the tile engine and by the schedule."""

    in_memory = True

    def check(self, n, bands, order, cyclic, dtype, *options):
        """`bands` are (KL, KU); an axis counts them if all are equally wide."""
        given, expected = [], []
        for lower, upper in bands:
            dense, noise = self.noise((n, n), dtype), self.noise((n, lower + upper + 1), dtype)
            if "row" in order:
                given.append(stored_by_row(dense, lower, upper, cyclic, noise))
                expected.append(stored_by_row(dense.T, upper, lower, cyclic, np.zeros_like(noise)))
            else:
                given.append(stored(dense, lower, upper, cyclic, unused=noise))
                expected.append(stored(dense.T, upper, lower, cyclic))
            if "diagonals" in order:
                given[-1], expected[-1] = given[-1].T, expected[-1].T
        one_shape = len({a.shape for a in given}) == 1
        together = np.stack if one_shape else lambda arrays: np.concatenate([a.ravel() for a in arrays])
        self.save("a.npy", np.ascontiguousarray(together(given)))
        if len(set(bands)) == 1 and (len(bands) == 1 or self.random.integers(2)):
            said = ["--banded", "%d,%d" % bands[0], "--matrices", len(bands)]
        else:
            said = [word for band in bands for word in ("--banded", "%d,%d" % band)]
        said += ["--band-order", order] + (["--cyclic"] if cyclic else [])
        report = self.json(*self.command(options), "a.npy", "b.npy", "--force", *said, *options)
        self.assert_same(self.load("b.npy"), together(expected), (n, bands, order, cyclic, dtype, options))
        if len(bands) > 1:
            self.check_a_file_each(given, bands, order, cyclic, options)
        return report

    def command(self, options):
        return ["machine", "transpose"] if "--schedule" in options else ["transpose"]

    def check_a_file_each(self, matrices, bands, order, cyclic, options):
        """OUT is that of the one file, b.npy, byte for byte."""
        once = len(set(bands)) == 1 and self.random.integers(2)
        said = [word for band in (bands[:1] if once else bands) for word in ("--banded", "%d,%d" % band)]
        said += ["--band-order", order] + (["--cyclic"] if cyclic else [])
        suffix, offset = str(self.random.choice([".npy", ".raw"])), int(self.random.choice([0, 7, 4096, 5000]))
        names = [f"{i}{suffix}" for i in range(len(matrices))]
        for name, matrix in zip(names, matrices):
            if suffix == ".npy":
                self.save(name, np.ascontiguousarray(matrix))
            else:
                self.write(name, bytes(offset) + matrix.tobytes())
        if suffix == ".raw":
            shapes = {matrix.shape for matrix in matrices}
            said += ["--dtype", matrices[0].dtype.str, "--offset", offset]
            said += ["--shape", "%d,%d" % shapes.pop()] if len(shapes) == 1 else []
        self.ok(*self.command(options), names[0], *said, *names[1:], *options, f"c{suffix}", "--force", "-q")
        one = self.bytes_of("b.npy") if suffix == ".npy" else self.load("b.npy").tobytes()
        self.assertTrue(self.bytes_of(f"c{suffix}") == one, (names, said, options))

    def test_any_bands(self):
        for _ in range(rounds(7, 20)):
            n = int(self.random.integers(2, 80))
            bands = []
            for _ in range(int(self.random.integers(1, 6))):
                width = int(self.random.integers(1, n))
                lower = int(self.random.integers(0, width))
                bands.append((lower, width - 1 - lower))
            if self.random.integers(2):
                bands = bands[:1] * len(bands)
            order = str(self.random.choice(ORDERS))
            options = ["--memory", str(self.random.choice(["16MiB", "100MiB"])), "--io", str(self.random.choice(["direct", "mapped"]))]
            if "diagonals" not in order and self.random.integers(3):
                options += ["--schedule", "banded", "--processors", 1 << int(self.random.integers(0, min(n.bit_length(), 6)))]
            with self.subTest(n=n, bands=bands, order=order, options=options):
                self.check(n, bands, order, bool(self.random.integers(2)), self.random.choice(["u1", "f4", "V3", "c16"]), *options)

    def test_steps_are_those_of_the_schedule(self):
        # One column on each processor, as `schedule banded --matrices` has it.
        for d, beta, k in self.few([(4, 1, 3), (5, 2, 2), (6, 1, 2)], 1):
            shown = self.json("schedule", "banded", "--dimension", d, "--beta", beta, "--matrices", k)
            report = self.check(1 << d, [(1 << beta, 1 << beta)] * k, "columns", True, "f8", "--schedule", "banded", "--processors", 1 << d)
            self.assertEqual(report["steps"], shown["steps"])
            self.assertEqual(report["messages"], shown["messages"])
            self.assertLess(report["steps"], k << beta)

    def test_plans_say_how(self):
        self.save("a.npy", self.noise((2, 32, 9)))
        options = ("transpose", "a.npy", "b.npy", "--banded", "4,4", "--matrices", 2, "--cyclic", "--dry-run")
        text = self.ok("machine", *options, "--schedule", "banded", "--processors", 32).stdout
        self.assertRegex(text, r"of each of 2 matrices")
        self.assertRegex(text, r"search, 6 steps \(one after another: 8\)")
        self.assertRegex(self.ok(*options).stdout, "2 times the transposition of a 32 x 32 cyclic band")
        self.assertEqual(self.json(*options)["bytes"], 2 * 32 * 9)
        self.assertEqual(os.listdir(self.dir), ["a.npy"])

    def test_one_in_an_axis_of_one(self):
        given = self.noise((1, 30, 5))
        self.save("a.npy", given)
        self.ok("transpose", "a.npy", "b.npy", "--banded", "2,2", "--cyclic", "--matrices", 1, "-q")
        self.ok("machine", "transpose", "b.npy", "c.npy", "--banded", "2,2", "--cyclic", "--matrices", 1, "-q", "--schedule", "banded")
        self.assert_same(self.load("c.npy"), given)

    def test_refusals(self):
        self.save("a.npy", self.noise((3, 20, 5)))
        self.save("flat.npy", self.noise(20 * 8))
        for options, says in [(("2,2",), r"3, 20, 5.* is not \(N, KL\+KU\+1\)"), (("2,2", "--matrices", 2), "does not begin with --matrices 2"),
                              (("2,3", "--matrices", 3), r"is not \(3, N, KL\+KU\+1\).*are 6"), (("2,2", "--matrices", 0), "--matrices"),
                              (("2,2", "--matrices", "x"), "--matrices"), (("2,2", "--banded", "3,1"), r"is not \(2, N, KL\+KU\+1\)"),
                              (("2,2", "--banded", "1,3", "--matrices", 3), "use --matrices or several --banded, not both"), (("2,2", "--banded", "1,1"), r"N\*8"),
                              (("11,10", "--matrices", 3), "are 22"), (("2,2", "--matrices", 3, "--axes", "0,1"), "--axes"),
                              (("2,2", "--matrices", 3, "--band-order", "diagonals"), r"\(3, KL\+KU\+1, N\)"),
                              (("2,2", "--matrices", 3, "--schedule", "banded", "--processors", 32), "20 columns")]:
            with self.subTest(options=options):
                self.refused(*self.command(options), "a.npy", "out.npy", "--banded", *options, says=says)
        self.refused("transpose", "flat.npy", "out.npy", "--banded", "1,1", "--banded", "1,2", says=r"N\*7")
        self.refused("transpose", "flat.npy", "out.npy", "--banded", "0,0", "--banded", "3,3", "--banded", "4,4", "--banded", "7,7", says="not narrower")
        self.refused("transpose", "a.npy", "out.npy", "--matrices", "3", says="--banded")


class Files(Case):
    """Several IN, apart from their data."""

    in_memory = True

    def setUp(self):
        super().setUp()
        self.save("wide.npy", self.noise((20, 7), "f8"))
        self.save("narrow.npy", self.noise((20, 4), "f8"))
        self.both = ("transpose", "wide.npy", "narrow.npy", "t.npy", "--banded", "3,3", "--banded", "1,2")

    def test_shapes_of_the_output(self):
        self.ok(*self.both, "-q")
        self.assertEqual(self.load("t.npy").shape, (20 * 11,))
        self.ok("transpose", "wide.npy", "wide.npy", "wide.npy", "t.npy", "--banded", "3,3", "--force", "-q")
        result = self.load("t.npy")
        self.assertEqual(result.shape, (3, 20, 7))
        self.assert_same(result[0], result[2])
        self.ok("transpose", "wide.npy", "wide.npy", "t.raw", "--banded", "3,3", "-q")
        self.assertEqual(self.bytes_of("t.raw"), result[:2].tobytes())

    def test_reports(self):
        for schedule in [(), ("--schedule", "banded", "--processors", 4, "--network-times", "1,0,0")]:
            before = self.listing()
            both = (*(["machine"] if schedule else []), *self.both, *schedule)
            plan = self.json(*both, "--dry-run")
            self.assertEqual(plan["bytes"], 20 * 11 * 8)
            text = self.ok(*both, "--dry-run").stdout
            self.assertRegex(text, "of each of 2 matrices" if schedule else r"3 \+ 1 \+ 3 diagonals[^~]*1 \+ 1 \+ 2 diagonals")
            self.assertEqual(self.listing(), before)
            report = self.json(*both, "--trace", "run.trace", "--progress", "bar")
            self.assertEqual(report["bytes"], plan["bytes"])
            if schedule:
                self.assertEqual((report["messages"], report["timing"]), (plan["messages"], plan["timing"]))
            shown = self.ok("report", "run.trace").stdout
            for name in ["wide.npy", "narrow.npy", "t.npy"]:
                self.assertIn(name, shown)
            for name in ["t.npy", "run.trace"]:
                os.unlink(self.path(name))

    def test_refusals(self):
        self.save("long.npy", self.noise((21, 4), "f8"))
        self.save("words.npy", self.noise((20, 4), "f4"))
        self.save("fortran.npy", np.asfortranarray(self.noise((20, 4), "f8")))
        self.write("a.raw", bytes(20 * 7 * 8))
        self.write("b.raw", bytes(20 * 4 * 8))
        self.write("c.raw", bytes(21 * 8))
        wide, raw = ("--banded", "3,3"), ("--dtype", "f8")
        differ = (*wide, "--banded", "1,2")
        for files, options, says in [
                ("wide narrow", (), "3 files are named.*--banded"), ("wide missing", (), "3 files are named"),
                ("wide narrow", ("--axes", "1,0"), "3 files are named"), ("wide narrow", ("--schedule", "mesh"), "3 files are named"),
                ("wide missing", differ, r"missing\.npy: .*No such"), ("wide narrow", (*differ, "--axes", "1,0"), "--axes"),
                ("wide narrow", (*differ, "--schedule", "rounds"), "--schedule rounds"),
                ("wide wide", (*wide, "--matrices", 2), "--matrices: takes one IN"),
                ("wide narrow", wide, r"narrow\.npy.*20, 4.*are 7"), ("narrow wide", differ, r"narrow\.npy.*20, 4.*are 7"),
                ("wide narrow narrow", differ, "--banded: given 2 times for 3 files"), ("wide narrow", (*differ, *wide), "3 times for 2 files"),
                ("wide long", differ, r"long\.npy.* 21 x 21.*wide\.npy 20 x 20"), ("wide words", differ, r"words\.npy.*<f4.*wide\.npy.*<f8"),
                ("wide fortran", differ, r"fortran\.npy.*Fortran"), ("wide narrow", (*differ, "--band-order", "diagonals"), r"wide\.npy"),
                ("wide narrow", (*differ, *raw), r"wide\.npy"),
                ("a.raw b.raw", (*differ, *raw, "--shape", "20,7"), r"b\.raw.*640"), ("a.raw c.raw", (*differ, *raw), r"c\.raw.*21.*N\*4"),
                ("b.raw a.raw", (*differ, *raw, "--cyclic"), r"b\.raw.*80.*N\*7"), ("a.raw a.raw", (*wide, *raw), r"a\.raw.*140.*are 7"),
                ("wide wide", ("--banded", "10,10", "--banded", "3,3"), "are 21")]:
            names = [name if "." in name else name + ".npy" for name in files.split()]
            with self.subTest(files=files, options=options):
                machine = ["machine"] if "--schedule" in options else []
                self.refused(*machine, "transpose", *names, "out.npy", *options, says=says)
        for output in ["wide.npy", "narrow.npy"]:
            with self.subTest(output=output):
                self.refused("transpose", "wide.npy", "narrow.npy", output, *differ, "--force", says=f"the same file as the input {output}")
                self.refused(*self.both, "--trace", output, "--force", says=output)
        for names, says in [(("", "wide.npy", "out.npy"), "IN.*empty"), (("wide.npy", "", "out.npy"), "empty"),
                            (("wide.npy", "narrow.npy", ""), "output.*empty"), (("wide.npy", "narrow.npy", "", "out.npy"), "input.*empty")]:
            self.refused("transpose", *names, *differ, says=says)

    def test_bad_names_are_said_as_for_one(self):
        self.refused("transpose", *self.both[4:], says=r"IN.* is required \(see xorder transpose --help\)")
        self.refused("transpose", "wide.npy", *self.both[4:], says="OUT is required")


class BadInput(Case):
    in_memory = True

    def setUp(self):
        super().setUp()
        self.save("a.npy", self.noise((8, 5)))
        self.save("a.raw", self.noise((40,)))
        self.save("cube.npy", self.noise((2, 3, 4)))
        self.save("square.npy", self.noise((5, 5)))
        self.save("wide.npy", self.noise((5, 8)))
        self.save("none.npy", self.noise((0, 1)))

    def bad(self, name, banded, *options, says):
        self.refused("transpose", name, "out.npy", "--banded", banded, *options, says=says)

    def test_malformed_bandwidths(self):
        for text in self.few(["4", "2,2,2", "x,2", "2;2", "-1,5", "2,-2", "1.5,2", ",", "2,", "99999999999999999999,1"], 4):
            with self.subTest(text=text):
                self.refused("transpose", "a.npy", "out.npy", f"--banded={text}", says="--banded")

    def test_shapes_that_do_not_match(self):
        self.bad("a.npy", "2,3", says=[r"8, 5", r"2 \+ 3 \+ 1 diagonals are 6"])
        self.bad("a.npy", "2,2", "--band-order", "diagonals", says=[r"8, 5", "5"])
        self.bad("cube.npy", "1,2", says="2, 3, 4")
        self.bad("a.raw", "2,2", "--dtype", "u1", says="40")

    def test_bands_wider_than_the_matrix(self):
        self.bad("wide.npy", "4,3", says=[r"4 \+ 3 \+ 1 diagonals", "5 x 5"])
        self.bad("a.npy", "4,3", "--band-order", "diagonals", says=["4 . 3 . 1 diagonals", "5 x 5"])
        self.bad("none.npy", "0,0", says="0 x 0")
        self.bad("square.npy", "2,2", says=["2 . 2 . 1 diagonals", "5 x 5"])

    def test_fortran_order(self):
        self.save("fortran.npy", np.asfortranarray(self.noise((8, 5))))
        self.bad("fortran.npy", "2,2", says="Fortran")

    def test_options_that_do_not_go_together(self):
        self.bad("a.npy", "2,2", "--axes", "1,0", says="--axes")
        self.refused("machine", "transpose", "a.npy", "out.npy", "--banded", "2,2", "--schedule", "rounds", says="--schedule")
        self.bad("a.npy", "2,2", "--band-order", "upwards", says="--band-order")
        for option in [("--cyclic",), ("--band-order", "columns")]:
            self.refused("transpose", "a.npy", "out.npy", *option, says="--banded")

    def test_common_ones(self):
        self.bad("a.npy", "2,2", "--memory", "1MiB", says="memory")
        self.bad("missing.npy", "2,2", says="missing.npy")
        self.write("old.npy", "precious")
        self.refused("transpose", "a.npy", "old.npy", "--banded", "2,2", says="old.npy")


class Large(Case):
    """Files larger than the memory, on a disk."""

    def check(self, n, lower, upper, dtype, order, engine, cyclic):
        """Returns the report of the run, after its result was compared."""
        shape = (n, lower + upper + 1) if order == "columns" else (lower + upper + 1, n)
        given = self.noise(shape, dtype)
        self.save("a.npy", given)
        records = given if order == "columns" else given.T
        expected = np.empty(records.shape, dtype)
        for k in range(lower + upper + 1):  # the diagonals, each moved by its distance from the main one
            expected[:, k] = np.roll(records[:, lower + upper - k], lower - k)
            if not cyclic:
                expected[slice(lower - k) if k < lower else slice(n + lower - k, n), k] = np.zeros((), dtype)
        expected = np.ascontiguousarray(expected if order == "columns" else expected.T)
        report = self.json("transpose", "a.npy", "b.npy", "--force", "--banded", f"{lower},{upper}", "--memory", "16MiB",
                           "--band-order", order, "--io", engine, *(["--cyclic"] if cyclic else []))
        self.assert_same(self.load("b.npy"), expected)
        return report

    def test_bands_of_all_widths(self):
        for n, lower, upper, dtype in self.few([(2500, 900, 800, "f8"), (130003, 16, 16, "f8"), (6007, 6000, 0, "u1"),
                                                (5000, 700, 1400, "V3"), (5000000, 2, 1, "u1")], 3):
            order, engine, cyclic = (self.sample(all_of_them, 1)[0]
                                     for all_of_them in [["columns", "diagonals"], LARGE_ENGINES, [False, True]])
            with self.subTest(n=n, lower=lower, upper=upper, order=order, engine=engine, cyclic=cyclic):
                report = self.check(n, lower, upper, dtype, order, engine, cyclic)
                # Runs of a few KiB in so little memory: what surrounds them in their blocks counts.
                self.assertLess(report["bytes_read"], 3 * report["bytes"])
                if not SANITIZED:
                    self.assertLess(report["peak_memory"], 60 * MiB)


if __name__ == "__main__":
    main()
