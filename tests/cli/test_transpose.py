#!/usr/bin/python3
"""xorder transpose against numpy.transpose."""

import itertools

from harness import Case, LARGE_ENGINES, MiB, main, np, rounds, transposed


class Checks(Case):
    def check(self, array, axes=None, *options, source="a.npy", target="b.npy"):
        self.save(source, array)
        if axes is not None:
            # Attached, as a list that begins with a negative number could be taken for an option.
            options += ("--axes=" + ",".join(map(str, axes)),)
        self.ok("transpose", source, target, "--force", "-q", *options)
        self.assert_same(self.load(target), transposed(array, axes), (array.shape, array.dtype, axes, options))


class Transpose(Checks):
    in_memory = True

    def test_degenerate_shapes(self):
        for shape in self.few([(), (1,), (5,), (1, 1), (1, 9), (9, 1), (0,), (0, 3), (3, 0), (0, 0), (2, 0, 3),
                               (1, 1, 1, 1), (1, 7, 1, 5, 1), (2,) * 12, (3,) * 7], 5):
            with self.subTest(shape=shape):
                self.check(self.noise(shape, "u2"))

    def test_matrices_of_all_element_sizes(self):
        for size in self.few([*range(1, 18), 24, 31, 32, 33, 48, 64, 100, 128, 255, 256, 257, 1000, 4095, 4096, 4097], 10):
            with self.subTest(size=size):
                self.check(self.noise((37, 29), f"V{size}"))

    def test_shapes_around_powers_of_two(self):
        for rows, columns in self.few(itertools.product([31, 32, 33], [63, 64, 65, 511]), 4):
            with self.subTest(shape=(rows, columns)):
                self.check(self.noise((rows, columns), "f4"))

    def test_all_orders_of_four_axes(self):
        array = self.noise((3, 4, 5, 7), "u2")
        for axes in self.few(itertools.permutations(range(4)), 8):
            with self.subTest(axes=axes):
                self.check(array, axes)

    def test_negative_axes(self):
        array = self.noise((3, 4, 5), "u4")
        for axes in [(-1, -2, -3), (-2, 0, -1), (2, -3, 1)]:
            self.check(array, axes)
        # Not attached, too.
        self.save("a.npy", array)
        self.ok("transpose", "a.npy", "c.npy", "--axes", "-1,-3,-2")
        self.assert_same(self.load("c.npy"), transposed(array, (2, 0, 1)))

    def test_spellings_of_axes(self):
        array = self.noise((3, 4), "u1")
        self.save("a.npy", array)
        for axes in ["1,0", "(1,0)", "1, 0", "(1, 0)", "1,0,"]:
            self.ok("transpose", "a.npy", "b.npy", "--axes", axes, "--force")
            self.assert_same(self.load("b.npy"), transposed(array), axes)

    def test_identity_is_a_copy(self):
        self.check(self.noise((130, 70, 3), "c8"), (0, 1, 2))

    def test_fortran_order(self):
        for shape, axes in [((40, 30), None), ((40, 30), (0, 1)), ((5, 6, 7), (1, 2, 0)), ((64, 64), None)]:
            with self.subTest(shape=shape, axes=axes):
                self.check(np.asfortranarray(self.noise(shape, "f8")), axes)

    def test_fortran_order_takes_one_pass(self):
        self.save("a.npy", np.asfortranarray(self.noise((300, 200), "f8")))
        self.assertEqual(self.json("transpose", "a.npy", "b.npy")["passes"], 1)


class TransposeOnDisk(Checks):
    def test_many_tiles(self):
        for shape, dtype in self.few([((2201, 1999), "f8"), ((4096, 8192), "u1"), ((157, 231, 479), "u2"), ((4, 2000, 4, 300), "f4")], 2):
            array = self.noise(shape, dtype)
            self.save("a.npy", array)
            expected = transposed(array)
            for engine in self.few(LARGE_ENGINES, 1):
                with self.subTest(shape=shape, engine=engine):
                    self.ok("transpose", "a.npy", "b.npy", "--force", "-q", "--memory", "16MiB", "--io", engine)
                    self.assert_same(self.load("b.npy"), expected)

    def test_twice_is_the_identity(self):
        array = self.noise((1023, 2049), "V12")
        self.save("a.npy", array)
        self.ok("transpose", "a.npy", "b.npy", "--io", "direct", "--memory", "16MiB")
        self.ok("transpose", "b.npy", "c.npy", "--io", LARGE_ENGINES[-1], "--memory", "16MiB")
        self.assert_same(self.load("c.npy"), array)

    def test_random(self):
        for _ in self.some(range(rounds(16, 40))):
            extents = [int(e) for e in self.random.integers(1, 12, self.random.integers(1, 7))]
            extents[self.random.integers(len(extents))] = int(self.random.integers(1, 300))
            size = int(self.random.choice([1, 2, 3, 4, 8, 16, 20]))
            array = self.noise(extents, f"V{size}")
            if self.random.integers(2):
                array = np.asfortranarray(array)
            axes = [int(a) for a in self.random.permutation(len(extents))]
            engine = str(self.random.choice(["auto", "direct", "mapped"]))
            with self.subTest(extents=extents, size=size, axes=axes, engine=engine):
                self.check(array, axes, "--io", engine, "--threads", int(self.random.integers(1, 4)))

    def test_large_elements(self):
        # Larger than a tile's block, and than what is left of the memory for one.
        for size in self.few([100_000, MiB + 1, 3 * MiB], 2):
            with self.subTest(size=size):
                self.check(self.noise((5, 3), f"V{size}"), None, "--memory", "16MiB", "--io", "direct")


if __name__ == "__main__":
    main()
