#!/usr/bin/python3
"""xorder bitreverse against a gather in NumPy."""

from harness import Case, LARGE_ENGINES, bit_reversed, main, np


class Checks(Case):
    def check(self, array, axis=None, *options, source="a.npy", target="b.npy"):
        self.save(source, array)
        if axis is not None:
            options += (f"--axis={axis}",)
        self.ok("bitreverse", source, target, "--force", "-q", *options)
        expected = bit_reversed(array, -1 if axis is None else axis)
        self.assert_same(self.load(target), expected, (array.shape, array.dtype, axis, options))


class BitReverse(Checks):
    in_memory = True

    def test_every_number_of_bits(self):
        for n in self.some(range(19)):
            with self.subTest(n=n):
                self.check(self.noise((1 << n,), "u4"))

    def test_element_sizes(self):
        for size in self.some([1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 32, 33, 100, 4096, 5000]):
            with self.subTest(size=size):
                self.check(self.noise((1 << 9,), f"V{size}"))

    def test_axes_and_batches(self):
        array = self.noise((8, 5, 64, 3, 2), "u2")
        for axis in [0, 2, 4, -1, -3, -5]:
            with self.subTest(axis=axis):
                self.check(array, axis)
        self.check(self.noise((7, 1024), "f8"))
        self.check(self.noise((1024, 7), "f8"), 0)
        self.check(self.noise((3, 1, 5), "u1"), 1)

    def test_empty_batch(self):
        self.check(np.empty((0, 8), "f8"))
        self.check(np.empty((8, 0), "f8"), 0)

    def test_fortran_order(self):
        for axis in [0, 1, 2]:
            self.check(np.asfortranarray(self.noise((8, 16, 32), "u2")), axis)
        self.check(np.asfortranarray(self.noise((16, 33), "u2")), 0)


class BitReverseOnDisk(Checks):
    def test_many_tiles(self):
        for n, dtype in [(24, "u2"), (22, "f8"), (20, "c16"), (20, "V20")]:
            array = self.noise((1 << n,), dtype)
            self.save("a.npy", array)
            expected = bit_reversed(array)
            for engine in LARGE_ENGINES:
                with self.subTest(n=n, dtype=dtype, engine=engine):
                    self.ok("bitreverse", "a.npy", "b.npy", "--force", "-q", "--memory", "16MiB", "--io", engine)
                    self.assert_same(self.load("b.npy"), expected)

    def test_many_tiles_of_batches(self):
        self.check(self.noise((33, 1 << 16), "f8"), None, "--memory", "16MiB", "--io", "direct")
        self.check(self.noise((1 << 14, 171), "f8"), 0, "--memory", "16MiB", "--io", "direct")
        self.check(self.noise((11, 1 << 12, 101), "f4"), 1, "--memory", "16MiB", "--io", LARGE_ENGINES[-1])

    def test_twice_is_the_identity(self):
        array = self.noise((6, 1 << 15), "V6")
        self.save("a.npy", array)
        self.ok("bitreverse", "a.npy", "b.npy", "--io", "direct")
        self.ok("bitreverse", "b.npy", "c.npy", "--io", "mapped")
        self.assert_same(self.load("c.npy"), array)

    def test_random(self):
        for _ in self.some(range(25)):
            extents = [int(e) for e in self.random.integers(1, 9, self.random.integers(1, 5))]
            axis = int(self.random.integers(len(extents)))
            extents[axis] = 1 << int(self.random.integers(0, 13))
            size = int(self.random.choice([1, 2, 4, 6, 8, 16, 24]))
            array = self.noise(extents, f"V{size}")
            if self.random.integers(2):
                array = np.asfortranarray(array)
            engine = str(self.random.choice(["auto", "direct", "mapped"]))
            with self.subTest(extents=extents, size=size, axis=axis, engine=engine):
                self.check(array, axis, "--io", engine)


if __name__ == "__main__":
    main()
