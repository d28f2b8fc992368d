#!/usr/bin/python3
"""Laws of permutations through files, for random shapes, types, orders, offsets, engines and memories."""

from harness import Case, LARGE_ENGINES, affine_map, main, matrix_text, moved, np, random_columns, rounds, transposed


class Laws(Case):
    def raw_or_npy(self, name, array):
        """Saves it in one of the ways in which xorder can read it; returns the arguments."""
        if self.random.integers(2):
            if self.random.integers(2):
                array = np.asfortranarray(array)
            self.save(name + ".npy", array)
            return [name + ".npy"]
        offset = int(self.random.choice([0, 1, 80, 512, 4095, 4096, 5000]))
        self.write(name + ".raw", self.random.bytes(offset) + array.tobytes())
        return [name + ".raw", "--dtype", f"V{array.itemsize}", "--shape", ",".join(map(str, array.shape)), "--offset", offset]

    def how(self, large=False):
        return ["--io", self.random.choice(LARGE_ENGINES if large else ["auto", "direct", "mapped"]), "--threads", self.random.integers(1, 5),
                "--memory", self.random.choice(["16MiB", "17000000", "64MiB", "1GiB"]),
                "--device", self.random.choice(["ssd", "hdd"]), "--force", "-q"]

    def array(self, limit):
        """Any shape, of elements of any size, of at most about `limit` bytes."""
        size = int(self.random.choice([1, 1, 2, 3, 4, 5, 8, 8, 12, 16, 24, 37, 256, 4096]))
        shape, rest = [], limit // size
        for _ in range(self.random.integers(1, 6)):
            shape.append(int(np.exp(self.random.uniform(0, np.log(max(rest, 1.01))))))
            rest = max(rest // shape[-1], 1)
        return self.noise([int(e) for e in self.random.permutation(shape)], f"V{size}")

    def test_any_transposition_and_its_inverse(self):
        for round_ in range(rounds(14, 40)):
            large = round_ % 4 == 0
            array = self.array(1 << 24 if large else 1 << 16)
            axes = self.random.permutation(array.ndim)
            there, back = self.how(large), self.how(large)
            with self.subTest(shape=array.shape, size=array.itemsize, axes=axes.tolist(), there=there, back=back):
                source = self.raw_or_npy("a", array)
                self.ok("transpose", *source, "b.npy", "--axes", ",".join(map(str, axes)), *there)
                self.assert_same(self.load("b.npy"), transposed(array, axes))
                self.ok("transpose", "b.npy", "c.npy", "--axes", ",".join(map(str, axes.argsort())), *back)
                self.assert_same(self.load("c.npy"), array)

    def test_any_matrix_and_its_inverse(self):
        for round_ in range(rounds(10, 30)):
            large = round_ % 5 == 0
            n = 21 if large else int(self.random.integers(1, 14))
            size = int(self.random.choice([1, 2, 3, 4, 8, 16]))
            array = self.noise((1 << n,), f"V{size}")
            columns, complement = random_columns(self.random, n), int(self.random.integers(1 << n))
            target = affine_map(columns, complement)
            # The inverse map's columns are where it sends the unit vectors.
            inverse = target.argsort()
            inverse_columns = [int(inverse[1 << j] ^ inverse[0]) for j in range(n)]
            self.write("m", matrix_text(columns, complement))
            self.write("i", matrix_text(inverse_columns, int(inverse[0])))
            there, back = self.how(large), self.how(large)
            with self.subTest(columns=columns, complement=complement, size=size, there=there, back=back):
                self.ok("permute", *self.raw_or_npy("a", array), "b.npy", "--matrix", "m", *there)
                self.assert_same(self.load("b.npy"), moved(array, target))
                self.ok("permute", "b.npy", "c.npy", "--matrix", "i", *back)
                self.assert_same(self.load("c.npy"), array)

    def test_composition(self):
        """First p, then q, through files is q * p in one go."""
        names = ["gray", "bitreverse", "reverse", "shuffle", "rotate(3)", "morton(2)", "xor(0x155)", "transpose(4,8)", "unshuffle^-1"]
        for _ in range(rounds(6, 15)):
            array = self.noise((1 << 12,), f"V{int(self.random.choice([1, 2, 4, 6, 8]))}")
            p, q = self.random.choice(names, 2)
            how = [self.how() for _ in range(3)]
            with self.subTest(p=p, q=q, how=how):
                source = self.raw_or_npy("a", array)
                self.ok("permute", *source, "p.npy", "--by", p, *how[0])
                self.ok("permute", "p.npy", "qp.npy", "--by", q, *how[1])
                self.ok("permute", *source, "once.npy", "--by", f"{q} * {p}", *how[2])
                self.assertEqual(self.bytes_of("qp.npy"), self.bytes_of("once.npy"))

    def test_transpositions_compose(self):
        for _ in range(rounds(4, 10)):
            array = self.array(1 << 18)
            first, second = self.random.permutation(array.ndim), self.random.permutation(array.ndim)
            how = [self.how() for _ in range(3)]
            with self.subTest(shape=array.shape, first=first.tolist(), second=second.tolist(), how=how):
                source = self.raw_or_npy("a", array)
                self.ok("transpose", *source, "b.npy", "--axes", ",".join(map(str, first)), *how[0])
                self.ok("transpose", "b.npy", "c.npy", "--axes", ",".join(map(str, second)), *how[1])
                self.ok("transpose", *source, "d.npy", "--axes", ",".join(map(str, first[second])), *how[2])
                self.assertEqual(self.bytes_of("c.npy"), self.bytes_of("d.npy"))

    def test_batches_are_independent(self):
        """Along an axis each row is treated as if it were alone."""
        for expression in self.few(["bitreverse", "gray^-1", "reverse", "morton(2)"], 2):
            array = self.noise((7, 1 << 10), "u2")
            self.save("a.npy", array)
            self.ok("permute", "a.npy", "b.npy", "--by", expression, "--axis", "1", *self.how())
            for row, result in zip(array, self.load("b.npy")):
                self.save("row.npy", row)
                self.ok("permute", "row.npy", "moved.npy", "--by", expression, *self.how())
                self.assert_same(result, self.load("moved.npy"))


if __name__ == "__main__":
    main()
