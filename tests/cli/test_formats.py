#!/usr/bin/python3
"""What is read and written: every dtype, .npy of all versions and orders, raw files at any offset."""

import os
import struct
import warnings

from harness import Case, main, np, transposed

DTYPES = [*"?bBhHiIlLqQefdgFDG", ">u2", ">i4", ">f2", ">f8", ">c16", ">c8", "S1", "S7", "S100", "U1", "U9", ">U3", "V1",
          "V24", "V1000", "M8", "M8[D]", "M8[25s]", "m8[ns]", ">M8[ms]", ">m8[Y]",
          [("x", "<f8"), ("y", ">i2")],
          [("a", "u1"), ("b", "<f4", (2, 3)), ("c", [("d", "S3"), ("e", "?")])],
          np.dtype([("a", "u1"), ("b", "<f8")], align=True),
          np.dtype({"names": ["p", "q"], "formats": ["<u2", "<f4"], "offsets": [1, 6], "itemsize": 13})]


class Npy(Case):
    in_memory = True

    def transposes(self, array, *options):
        self.save("a.npy", array)
        self.ok("transpose", "a.npy", "b.npy", "--force", "-q", *options)
        self.assert_same(self.load("b.npy"), transposed(array), (array.dtype, array.shape))

    def test_every_fixed_size_dtype(self):
        for dtype in self.some(self.few(DTYPES, 15)):
            with self.subTest(dtype=dtype):
                self.transposes(self.noise((7, 5), dtype))
                with open(self.path("b.npy"), "rb") as file:
                    np.lib.format.read_magic(file)
                    size, = struct.unpack("<H", file.read(2))
                    header = eval(file.read(size))  # of our own making
                descr = np.lib.format.dtype_to_descr(np.dtype(dtype))
                self.assertEqual(header, {"descr": descr, "fortran_order": False, "shape": (5, 7)})

    def test_names_beyond_ascii(self):
        for name in self.few(["\u00e9\u00ff", "\u2603 snow", "it's", 'a"b', "tab\tline\nend"], 2):
            with self.subTest(name=name), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that old versions of NumPy cannot read version 3
                self.transposes(self.noise((3, 2), [(name, "<f8")]))

    def test_types_that_only_others_know(self):
        """As ml_dtypes writes them. They are moved as they are, and their names stay."""
        for descr, size in [("<f1", 1), ("<g2", 2), (">E4", 4)]:
            array = self.noise((6, 7), f"V{size}")
            header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (6, 7), }}\n".encode()
            self.write("a.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + array.tobytes())
            self.ok("transpose", "a.npy", "b.npy", "--force")
            written = self.bytes_of("b.npy")
            self.assertIn(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (7, 6), }}".encode(), written)
            self.assertEqual(written[4096:], transposed(array).tobytes())
            info = self.json("info", "b.npy")
            self.assertEqual((info["descr"], info["dtype"]), (f"'{descr}'", f"|V{size}"))

    def test_bytes_behind_the_array(self):
        """np.load and mmap_mode do not mind them."""
        for shape, rest in [((16, 32), 12), ((256, 512), 5000)]:
            array = self.noise(shape, "<u4")
            self.save("a.npy", array)
            with open(self.path("a.npy"), "ab") as file:
                file.write(self.random.bytes(rest))
            note = f"a.npy: {rest} bytes behind the array are left out, as numpy.load does"
            for engine in self.few(["direct", "mapped"], 1):
                args = ("transpose", "a.npy", "b.npy", "--io", engine, "--force")
                self.assertIn(note, self.ok(*args).stderr)
                self.assert_same(self.load("b.npy"), transposed(np.load(self.path("a.npy"), mmap_mode="r")))
                self.assertIn(note, self.json(*args, "-q")["note"])
                self.assertIn(note, self.json(*args, "-q", "--dry-run")["note"])
            self.assertIn(note, self.ok("descend", "scan", "a.npy", "b.npy", "--force").stderr)
            self.assert_same(self.load("b.npy"), np.cumsum(array, dtype="<u4"))
        self.save("b.npy", array)
        self.assertNotIn("behind the array", self.ok("transpose", "b.npy", "c.npy").stderr)
        self.save("a.npy", array)
        with open(self.path("a.npy"), "ab") as file:
            file.write(b"x")
        self.assertEqual(self.json("info", "a.npy")["rest"], 1)
        self.assertIn("rest    1 byte behind the array", self.ok("info", "a.npy").stdout)
        self.write("a.raw", bytes(97))
        self.refused("transpose", "a.raw", "c.raw", "--dtype", "u4", "--shape", "4,6", says=["97", "96"])

    def test_spellings_of_headers(self):
        array = self.noise((3, 4), "<f8")
        for text in ["{'descr': 'float64', 'fortran_order': False, 'shape': (0x3, +4)}", "{'descr':'d','fortran_order':False,'shape':(3,4)} # made by hand",
                     "{# no axes\n'shape': (), 'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }"]:
            header = text.encode() + b"\n"
            self.write("a.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + array.tobytes())
            self.assert_same(self.load("a.npy"), array)
            self.ok("transpose", "a.npy", "b.npy", "--force")
            self.assert_same(self.load("b.npy"), transposed(array))

    def test_sixty_four_axes(self):
        """As many as NumPy 2 has; NumPy 1 reads 32."""
        array = self.noise((2, 3), "<u2")
        header = f"{{'descr': '<u2', 'fortran_order': False, 'shape': ({'1, ' * 62}2, 3), }}\n".encode()
        self.write("a.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + array.tobytes())
        self.ok("transpose", "a.npy", "b.npy")
        self.assertEqual(self.json("info", "b.npy")["shape"], [3, 2] + [1] * 62)
        self.assertTrue(self.bytes_of("b.npy").endswith(transposed(array).tobytes()))

    def test_big_elements(self):
        for size in [65536, 100_000, 100_001]:
            self.transposes(self.noise((4, 3), f"V{size}"))

    def test_both_orders(self):
        for shape in [(), (5,), (3, 4), (2, 3, 4), (1, 5), (0, 4)]:
            for order in self.few("CF", 1):
                self.transposes(np.asarray(self.noise(shape, "f4"), order=order))

    def test_empty_and_zero_dimensional(self):
        for shape in [(), (0,), (0, 0), (5, 0), (0, 3, 2)]:
            for engine in self.few(["auto", "direct", "mapped"], 1):
                with self.subTest(shape=shape, engine=engine):
                    self.transposes(self.noise(shape, "f8"), "--io", engine)
                    if shape:
                        self.assertEqual(np.load(self.path("b.npy"), mmap_mode="r").shape, shape[::-1])

    def test_versions_1_to_3(self):
        array = self.noise((6, 7), "<f4")
        for version in [(1, 0), (2, 0), (3, 0)]:
            with open(self.path("a.npy"), "wb") as file:
                np.lib.format.write_array(file, array, version)
            self.ok("transpose", "a.npy", "b.npy", "--force")
            self.assert_same(self.load("b.npy"), transposed(array), version)

    def test_data_starts_wherever_the_header_ends(self):
        """Headers of any length, as other programs write them: nothing asks for multiples of 64."""
        array = self.noise((33, 65), "<u4")
        for spaces in self.few([0, 1, 3, 50, 500, 4000, 5000, 60000], 5):
            header = "{'descr': '<u4', 'fortran_order': False, 'shape': (33, 65)}" + " " * spaces + "\n"
            self.write("a.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + array.tobytes())
            for engine in self.few(["direct", "mapped"], 1):
                self.ok("transpose", "a.npy", "b.npy", "--force", "--io", engine)
                self.assert_same(self.load("b.npy"), transposed(array), (spaces, engine))

    def test_outputs_can_be_mapped_at_4096(self):
        array = self.noise((50, 70), "f8")
        for engine in ["direct", "mapped"]:
            self.save("a.npy", array)
            self.ok("transpose", "a.npy", "b.npy", "--force", "--io", engine)
            self.assertEqual(os.path.getsize(self.path("b.npy")), 4096 + array.nbytes)
            self.assert_same(np.memmap(self.path("b.npy"), "f8", "r", 4096, (70, 50)), transposed(array))
            loaded = np.load(self.path("b.npy"), mmap_mode="r")
            self.assertEqual((loaded.offset, loaded.flags.c_contiguous), (4096, True))
            self.assert_same(loaded, transposed(array))

    def test_npy_is_known_by_its_content(self):
        self.save("a.npy", self.noise((3, 4), "u2"))
        os.rename(self.path("a.npy"), self.path("a.dat"))
        self.ok("transpose", "a.dat", "b.npy")
        self.assertEqual(self.load("b.npy").shape, (4, 3))

    def test_output_is_as_its_name_says(self):
        array = self.noise((3, 4), "<u2")
        self.save("a.npy", array)
        self.save("a.raw", array)
        raw_input = ("a.raw", "--dtype", "u2", "--shape", "3,4")
        for source in [("a.npy",), raw_input]:
            for name in self.few(["b.raw", "b.bin", "b.dat", "b.RAW", "b.Bin"], 2):
                self.ok("transpose", *source, name, "--force")
                self.assertEqual(self.bytes_of(name), transposed(array).tobytes(), name)
            self.ok("transpose", *source, "b.npy", "--force")
            self.assert_same(self.load("b.npy"), transposed(array))
        # Any other name: as the input.
        self.ok("transpose", *raw_input, "b")
        self.assertEqual(self.bytes_of("b"), transposed(array).tobytes())
        self.ok("transpose", "a.npy", "c")
        os.rename(self.path("c"), self.path("c.npy"))
        self.assert_same(self.load("c.npy"), transposed(array))

    def test_long_headers(self):
        for fields in self.few([100, 180, 205, 300], 2):
            dtype = np.dtype([(f"field_number_with_a_long_name_{i:04}", "<u2") for i in range(fields)])
            array = self.noise((5, 4), dtype)
            self.save("a.npy", array)
            self.ok("transpose", "a.npy", "b.npy", "--force")
            # NumPy wants to be told that a header of more than 10,000 characters is from a friend.
            friendly = {"max_header_size": 1 << 20} if fields == 300 else {}
            loaded = np.load(self.path("b.npy"), mmap_mode="r", **friendly)
            self.assert_same(loaded, transposed(array))
            self.assertEqual(loaded.offset % 64, 0)


class Raw(Case):
    in_memory = True

    def test_offsets(self):
        array = self.noise((41, 53), "<f8")
        for offset in self.some(self.few([0, 1, 7, 8, 511, 512, 4095, 4096, 4097, 100_001], 6)):
            self.write("a.raw", self.random.bytes(offset) + array.tobytes())
            for engine in self.few(["direct", "mapped"], 1):
                with self.subTest(offset=offset, engine=engine):
                    self.ok("transpose", "a.raw", "b.raw", "--dtype", "f8", "--shape", "41,53", "--offset", offset,
                            "--io", engine, "--force")
                    self.assertEqual(self.bytes_of("b.raw"), transposed(array).tobytes())

    def test_offset_with_a_unit(self):
        self.write("a.raw", bytes(4096) + b"ab")
        self.ok("bitreverse", "a.raw", "b.raw", "--dtype", "u1", "--offset", "4KiB")
        self.assertEqual(self.bytes_of("b.raw"), b"ab")

    def test_without_shape_there_is_one_axis(self):
        array = self.noise((32,), "V3")
        self.save("a.raw", array)
        self.ok("permute", "a.raw", "b.raw", "--by", "reverse", "--dtype", "V3")
        self.assertEqual(self.bytes_of("b.raw"), array[::-1].tobytes())

    def test_every_type_string(self):
        for text in self.some(self.few([
                "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "f16", "c8", "c16", "c32", "b1", "?", ">f8", "=i4", "|u1",
                "S5", "U2", "V24", "M8[D]", "m8[25s]", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                "float16", "float32", "float64", "complex64", "complex128"], 12)):
            with self.subTest(text=text):
                array = self.noise((4, 3), text)
                self.save("a.raw", array)
                self.ok("transpose", "a.raw", "b.npy", "--dtype", text, "--shape", "4,3", "--force")
                self.assert_same(self.load("b.npy"), transposed(array))

    def test_spellings_of_shapes(self):
        self.write("a.raw", bytes(range(12)))
        for shape in self.few(["3,4", "(3,4)", "(3, 4)", "3, 4", "3,4,"], 2):
            self.ok("transpose", "a.raw", "b.npy", "--dtype", "u1", "--shape", shape, "--force")
            self.assertEqual(self.load("b.npy").shape, (4, 3), shape)

    def test_one_extent_follows_from_the_size_of_the_file(self):
        """As numpy.reshape does."""
        self.write("a.raw", bytes(5 + 4 * 24))
        for shape in [(12, -1), (-1, 12), (-1,), (2, -1, 3), (1, 24, -1), (24, -1)]:
            for offset, dtype in self.few([(5, "u4"), (5, "V16"), (101, "u1")], 1):
                elements = (101 - offset) // np.dtype(dtype).itemsize
                text = ",".join(str(extent) for extent in shape)
                command = ("info", "a.raw", "--dtype", dtype, "--shape", text, "--offset", offset)
                try:
                    expected = np.empty(elements, dtype).reshape(shape).shape
                except ValueError:
                    self.refused(*command, says=[r"a\.raw", r"\b101\b", "-1"])
                else:
                    self.assertEqual(self.json(*command)["shape"], list(expected))
        array = self.noise((6, 35), "f4")
        self.save("a.raw", array)
        for shape in self.few(["(-1, 35)", "6x35", "-1x35", "(6 x 35)"], 2):
            self.ok("transpose", "a.raw", "c.npy", "--dtype", "f4", "--shape", shape, "--force")
            self.assert_same(self.load("c.npy"), transposed(array))


if __name__ == "__main__":
    main()
