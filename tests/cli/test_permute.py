#!/usr/bin/python3
"""xorder permute against scatters in NumPy: expressions, matrices, and the laws of both."""

import itertools

from harness import (Case, LARGE_ENGINES, LONG, NAMED_MAPS, affine_map, bits_map, index, main, matrix_text, morton, moved, np,
                     random_columns, rotation, rounds)


class Permute(Case):
    in_memory = True

    def by(self, array, expression, *options):
        self.save("a.npy", array)
        self.ok("permute", "a.npy", "b.npy", "--by", expression, "--force", "-q", *options)
        return self.load("b.npy")

    def check(self, array, expression, target, axis=None, *options):
        if axis is not None:
            options += (f"--axis={axis}",)
        self.assert_same(self.by(array, expression, *options), moved(array, target, axis), (expression, array.shape, options))

    def test_names(self):
        for (name, target), n in self.few(itertools.product(NAMED_MAPS.items(), [1, 2, 5, 12]), 8):
            with self.subTest(name=name, n=n):
                self.check(self.noise((1 << n,), "u2"), name, target(n))

    def test_functions(self):
        array = self.noise((1 << 12,), "f4")
        self.check(array, "transpose(5,7)", rotation(12, 5))
        self.check(array, "transpose(0,12)", index(12))
        for k in self.few([0, 1, 5, 12, -3, 100], 2):
            self.check(array, f"rotate({k})", rotation(12, k))
        for d in self.few([1, 2, 3, 4, 6, 12], 2):
            self.check(array, f"morton({d})", morton(12, d))
        for c in self.few(["0x5", "5", "0b101"], 1):
            self.check(array, f"xor({c})", index(12) ^ 5)
        sources = [int(s) for s in self.random.permutation(12)]
        self.check(array, f"bits({','.join(map(str, sources))})", bits_map(sources))

    def test_morton_takes_no_array_for_another(self):
        """128 x 32 elements are as many as 64 x 64, but Z order of 64 x 64 is not theirs."""
        for array in self.few([self.noise((64, 64), "u1"), np.asfortranarray(self.noise((64, 64), "u1")), self.noise((1, 64, 64), "u1"),
                               self.noise((4096,), "u1"), self.noise((1, 4096), "u1")], 2):
            self.check(array, "morton(2)", morton(12, 2))
        for shape in [(128, 32), (16, 16, 16), (2, 2048), (4, 32, 32)]:
            self.save("a.npy", self.noise(shape, "u1"))
            for expression in self.few(["morton(2)", "morton(2)^-1", "gray*morton(2)"], 1):
                self.refused("permute", "a.npy", "c.npy", "--by", expression,
                             says=rf"morton\(d\): expected an array of one axis or of shape \(64, 64\), found \({shape[0]}, ")
        self.check(self.noise((16, 256), "u1"), "morton(2)", morton(8, 2), 1)

    def test_powers(self):
        array, gray = self.noise((1 << 10,), "u2"), NAMED_MAPS["gray"](10)
        self.check(array, "gray^2", gray[gray])
        self.check(array, "gray^-2", np.argsort(gray[gray]))
        self.check(array, "gray^0", index(10))
        self.check(array, "gray^15", np.argsort(gray))  # gray^16 is the identity of up to 16 bits
        both = gray[NAMED_MAPS["shuffle"](10)]
        self.check(array, "(gray*shuffle)^-3 * rotate(2)^5", np.argsort(both[both[both]]))

    def test_no_bits(self):
        for name in self.few(NAMED_MAPS, 3):
            self.check(self.noise((1,), "f8"), name, np.zeros(1, np.int64))
        self.check(self.noise((), "f8"), "gray", np.zeros(1, np.int64))

    def test_the_flat_index_of_any_shape(self):
        target = NAMED_MAPS["bitreverse"](12)
        for shape in self.few([(64, 64), (2, 2048), (4, 4, 4, 4, 16), (1, 4096, 1)], 2):
            self.check(self.noise(shape, "u4"), "bitreverse", target)
            # In Fortran order, too, the index is the one that NumPy counts in C order.
            self.check(np.asfortranarray(self.noise(shape, "u4")), "bitreverse", target)

    def test_axes(self):
        array = self.noise((5, 16, 3, 64), "u2")
        for axis, n in [(1, 4), (3, 6), (-1, 6), (-3, 4)]:
            for name in self.few(["gray", "reverse", "shuffle"], 1):
                self.check(array, name, NAMED_MAPS[name](n), axis)
        self.check(np.asfortranarray(array), "gray", NAMED_MAPS["gray"](4), 1)

    def test_composition_applies_the_right_one_first(self):
        n = 11
        names = list(NAMED_MAPS)
        for _ in self.some(range(rounds(5, 12))):
            f, g, h = (str(name) for name in self.random.choice(names, 3))
            array = self.noise((1 << n,), "u2")
            expected = moved(moved(moved(array, NAMED_MAPS[h](n)), NAMED_MAPS[g](n).argsort()), NAMED_MAPS[f](n))
            for expression in [f"{f} * {g}^-1 * {h}", f"({f}*{g}^-1)*{h}", f"({h}^-1 * {g} * {f}^-1)^-1"]:
                self.assert_same(self.by(array, expression), expected, expression)

    def test_inverse_undoes_through_files(self):
        array = self.noise((1 << 13,), "V6")
        expression = "gray * morton(13) * xor(0x123) * rotate(-3) * reverse"
        self.save("c.npy", self.by(array, expression))
        self.ok("permute", "c.npy", "d.npy", "--by", f"({expression})^-1")
        self.assert_same(self.load("d.npy"), array)

    def test_matrix_of_an_axis(self):
        columns = random_columns(self.random, 6)
        array = self.noise((3, 64, 5), "f8")
        self.write("matrix.txt", matrix_text(columns, 21))
        self.save("a.npy", array)
        self.ok("permute", "a.npy", "b.npy", "--matrix", "matrix.txt", "--axis", "1")
        self.assert_same(self.load("b.npy"), moved(array, affine_map(columns, 21), 1))

    def test_spellings_of_a_matrix(self):
        array = self.noise((8,), "u1")
        self.save("a.npy", array)
        # x0 goes to bit 1, x1 to 2, x2 to 0; then bit 0 is flipped.
        target = rotation(3, 1) ^ 1
        for text in ["001\n100\n010\nc 100\n", "001\n100\n010\nc 100", "0 0 1\n1 0 0\n0 1 0\nc 1 0 0\n",
                     "001\r\n100\r\n010\r\nc 100\r\n", "# a comment\n\n001\n100\n\n010\n# another\nc 100\n"]:
            self.write("matrix.txt", text)
            self.ok("permute", "a.npy", "b.npy", "--matrix", "matrix.txt", "--force")
            self.assert_same(self.load("b.npy"), moved(array, target), text)

    def test_transposition_is_the_command_transpose(self):
        self.save("a.npy", self.noise((128, 32), "c8"))
        self.ok("permute", "a.npy", "b.npy", "--by", "transpose(7,5)")
        self.ok("transpose", "a.npy", "c.npy")
        # permute keeps the shape, as it knows of no axes.
        self.assert_same(self.load("b.npy").reshape(32, 128), self.load("c.npy"))


class PermuteOnDisk(Case):
    def test_random_matrices(self):
        for _ in self.some(range(rounds(8, 15))):
            n = int(self.random.integers(1, 15))
            columns = random_columns(self.random, n)
            complement = int(self.random.integers(1 << n)) if self.random.integers(2) else None
            size = int(self.random.choice([1, 2, 3, 4, 8, 16, 40]))
            array = self.noise((1 << n,), f"V{size}")
            self.write("matrix.txt", matrix_text(columns, complement))
            self.save("a.npy", array)
            engine = str(self.random.choice(["auto", "direct", "mapped"]))
            self.ok("permute", "a.npy", "b.npy", "--matrix", "matrix.txt", "--force", "--io", engine)
            expected = moved(array, affine_map(columns, complement or 0))
            self.assert_same(self.load("b.npy"), expected, (columns, complement, size, engine))

    def test_many_tiles(self):
        n = 24 if LONG else 23
        columns = random_columns(self.random, n)
        self.write("matrix.txt", matrix_text(columns, 12345))
        array = self.noise((1 << n,), "u4")
        self.save("a.npy", array)
        expected = moved(array, affine_map(columns, 12345))
        for engine in self.few(LARGE_ENGINES, 1):
            self.ok("permute", "a.npy", "b.npy", "--matrix", "matrix.txt", "--memory", "16MiB", "--io", engine, "--force")
            self.assert_same(self.load("b.npy"), expected, (engine, columns))


if __name__ == "__main__":
    main()
