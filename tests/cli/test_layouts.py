#!/usr/bin/python3
"""Arrays that do not simply fill a file, against NumPy: strides, orders, selections, reshapes, fields, byte orders, and
how the output is stored."""

import itertools
import os
import re
import shlex

from harness import Case, LARGE_ENGINES, SANITIZED, affine_map, bits_map, main, matrix_text, np, random_columns, rounds

TYPES = ["u1", "<u2", ">i2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c16", "S3", "<U2", ">U2", "V5", ">M8[s]", "<m8[ns]", "V40"]
RECORDS = [np.dtype([("a", "<i2"), ("b", ">f8"), ("c", "u1")]),
           np.dtype([("a", "u1"), ("b", [("c", "<u4"), ("d", ">c8", (2,))]), ("e", "S3")]),
           np.dtype([("a", "u1"), ("b", "<f8"), ("c", ">u2", (2, 3))], align=True)]


def own_bytes(dtype, order=None):
    """The bytes of an element that its output has, as offsets in the stored element."""
    if dtype.subdtype:
        base, shape = dtype.subdtype
        return [i * base.itemsize + b for i in range(int(np.prod(shape))) for b in own_bytes(base, order)]
    if dtype.fields:
        result = list(range(dtype.itemsize))  # with what lies between the fields
        for field, offset, *_ in dtype.fields.values():
            result[offset:offset + field.itemsize] = [offset + b for b in own_bytes(field, order)]
        return result
    size = {"c": dtype.itemsize // 2, "U": 4, "S": 1, "V": 1}.get(dtype.kind, dtype.itemsize)
    if not order or dtype == dtype.newbyteorder(order):
        return list(range(dtype.itemsize))
    return [i + b for i in range(0, dtype.itemsize, size) for b in reversed(range(size))]


class Layout:
    """An array in a file: for each element where its bytes are, and the options that say so."""

    def __init__(self, random):
        self.random = random
        self.options = []

    def integer(self, low, high):
        return int(self.random.integers(low, high + 1))

    def extents(self, most):
        rank = self.integer(0, most)
        return [self.integer(0 if self.integer(0, 20) == 0 else 1, 9 if rank > 2 else 40) for _ in range(rank)]

    def positions(self, extents, strides, offset):
        places = np.full(extents, offset, np.int64)
        for axis, (extent, stride) in enumerate(zip(extents, strides)):
            places += (np.arange(extent, dtype=np.int64) * stride).reshape([-1 if i == axis else 1 for i in range(len(extents))])
        return places

    def raw(self, dtype):
        """A raw file with gaps, axes in any order, backwards; or contiguous."""
        extents, offset = self.extents(6), self.integer(0, 1) * self.integer(0, 5000)
        self.dtype, self.bytes = dtype, own_bytes(dtype)
        self.options += ["--dtype", dtype.str,
                         f"--shape={','.join(map(str, extents)) or '()'}"]
        if self.integer(0, 3) == 0:
            order = "CF"[self.integer(0, 1)]
            self.places = np.empty(extents, np.int64, order)
            strides = [s // 8 * dtype.itemsize for s in self.places.strides]
            self.places[...] = self.positions(extents, strides, offset)
            end = offset + self.places.size * dtype.itemsize
            self.options += ["--offset", offset, "--order", order]
        else:
            strides, reached, begin = [0] * len(extents), dtype.itemsize, offset
            for axis in self.random.permutation(len(extents)):
                gap = self.integer(0, 1) * self.integer(0, 2 ** self.integer(0, 9 if 0 < np.prod(extents) < 3000 else 2))
                strides[axis] = reached + gap
                reached += max(extents[axis] - 1, 0) * strides[axis]
                if self.integer(0, 3) == 0 and extents[axis] > 0:
                    offset += (extents[axis] - 1) * strides[axis]
                    strides[axis] *= -1
            self.places = self.positions(extents, strides, offset)
            end = begin + reached if self.places.size else offset
            self.options += ["--offset", offset, f"--strides={','.join(map(str, strides)) or '()'}"]
        rest = self.integer(0, 2) == 0 and self.integer(1, 5000)
        if rest:
            self.options.append("--ignore-rest")
        self.content = self.random.bytes(end + rest)
        self.name = "a.raw"

    def npy(self, dtype, save):
        extents = self.extents(4)
        array = np.frombuffer(self.random.bytes(int(np.prod(extents)) * dtype.itemsize), dtype).reshape(extents)
        array = np.array(array, order="CF"[self.integer(0, 1)])
        self.content, self.view = save(array), array
        self.name = "a.npy"
        header = len(self.content) - array.nbytes
        self.dtype, self.bytes = dtype, own_bytes(dtype)
        self.places = np.empty(extents, np.int64, "F" if array.flags.fnc else "C")
        self.places[...] = self.positions(extents, array.strides, header)
        if self.integer(0, 3) == 0:
            self.content += self.random.bytes(self.integer(1, 100))

    def field(self):
        names = list(self.dtype.names)
        if self.integer(0, 1):
            path = []
            while self.dtype.names:
                path.append(str(self.random.choice(self.dtype.names)))
                field, offset = self.dtype.fields[path[-1]][:2]
                base, shape = field.subdtype or (field, ())
                inner = np.ndarray(shape, base, b"\0" * max(field.itemsize, 1)).strides
                self.places = np.stack([self.places + offset + int(sum(i * s for i, s in zip(at, inner)))
                                        for at in itertools.product(*map(range, shape))], -1).reshape(self.places.shape + shape)
                self.dtype, self.view = base, self.view[path[-1]]
            self.bytes = own_bytes(self.dtype)
            self.options += ["--field", ".".join(path)]
        else:
            chosen = [str(n) for n in self.random.permutation(names)[:self.integer(2, len(names))]]
            self.bytes = [self.dtype.fields[n][1] + b for n in chosen for b in own_bytes(self.dtype[n])]
            self.dtype, self.view = np.dtype([(n, self.dtype[n]) for n in chosen]), self.view[chosen]
            self.options += ["--field", ",".join(chosen)]

    def reshape(self):
        extents = list(self.places.shape)
        if len(extents) < 2 or not self.places.size:
            shape = [*extents, 1]
        else:
            i = self.integer(0, len(extents) - 2)
            shape = extents[:i] + [extents[i] * extents[i + 1]] + extents[i + 2:]
            if self.integer(0, 1):
                shape[i] = -1
        if np.may_share_memory(self.view.reshape(shape, order="A"), self.view):  # otherwise NumPy copies, and xorder refuses
            self.places = self.places.reshape(shape, order="F" if self.view.flags.fnc else "C")
            self.options += [f"--shape={','.join(map(str, shape))}"]

    def select(self, twos):
        """Any indices, or slices of 2^k."""
        indices = []
        for extent in self.places.shape:
            kind = self.integer(0, 5)
            if kind == 0 and extent > 0:
                indices.append(self.integer(-extent, extent - 1))
            elif twos:
                count = 1 << self.integer(0, max(extent.bit_length() - 1, 0)) if extent else 0
                step = self.integer(1, max((extent - 1) // max(count - 1, 1), 1))
                start = self.integer(0, max(extent - 1 - (count - 1) * step, 0)) if extent else 0
                stop = start + (count - 1) * step + 1 if count else 0
                if self.integer(0, 1) and count:
                    start, stop, step = stop - 1, start - 1 if start else None, -step
                indices.append(slice(start, stop, step))
            else:
                pick = lambda: None if self.integer(0, 1) else self.integer(-extent - 2, extent + 2)
                step = self.integer(-3, 3)
                indices.append(slice(pick(), pick(), step or None))
        def text(i):
            if not isinstance(i, slice):
                return str(i)
            return ":".join("" if e is None else str(e) for e in ([i.start, i.stop] if i.step is None else [i.start, i.stop, i.step]))
        words = [text(i) for i in indices]
        if not twos and len(indices) > 1 and self.integer(0, 2) == 0:
            cut = self.integer(0, len(indices) - 1)
            indices[cut], words[cut] = slice(None), "..."
        if words:
            self.options.append(f"--select={', '.join(words)}")
            self.places = self.places[tuple(indices)]

    def byte_order(self):
        name, order = [("little", "<"), ("big", ">"), ("native", "=")][self.integer(0, 2)]
        self.options += ["--byte-order", name]
        turned = own_bytes(self.dtype, order)
        self.bytes = [self.bytes[b] for b in turned]
        self.dtype = self.dtype.newbyteorder(order)

    def elements(self):
        """As an array of opaque elements."""
        data = np.frombuffer(self.content, "u1")
        size = len(self.bytes)
        places = self.places[..., np.newaxis] + np.array(self.bytes, np.int64)
        return np.ascontiguousarray(data[places]).reshape(-1).view(f"V{size}").reshape(self.places.shape)


class RandomLayouts(Case):
    in_memory = True

    def layout(self):
        layout = Layout(self.random)
        twos = bool(self.random.integers(2))
        if self.random.integers(2):
            layout.raw(np.dtype(str(self.random.choice(TYPES))))
        else:
            dtype = RECORDS[self.random.integers(3)] if self.random.integers(2) else np.dtype(str(self.random.choice(TYPES)))
            layout.npy(dtype, self.as_npy)
            if dtype.names and self.random.integers(3):
                layout.field()
            if self.random.integers(3) == 0:
                layout.reshape()
        if twos or self.random.integers(2):
            layout.select(twos)
        if self.random.integers(3) == 0:
            layout.byte_order()
        return layout, twos and layout.places.size > 0

    def as_npy(self, array):
        self.save("a.npy", array)
        return self.bytes_of("a.npy")

    def command(self, array, twos):
        """What to do with it, and what comes of it."""
        rank, kind = array.ndim, self.random.integers(4)
        if twos and kind == 0 and array.size > 1:
            n = array.size.bit_length() - 1
            columns, complement = random_columns(self.random, n), int(self.random.integers(array.size))
            self.write("m.txt", matrix_text(columns, complement))
            result = np.empty(array.size, array.dtype)
            result[affine_map(columns, complement)] = array.reshape(-1)
            return ["permute"], ["--matrix", "m.txt"], result.reshape(array.shape)
        if twos and kind == 1 and rank > 0:
            axis = int(self.random.integers(rank))
            n = array.shape[axis].bit_length() - 1
            result = np.empty(array.shape, array.dtype)
            np.moveaxis(result, axis, 0)[bits_map(range(n - 1, -1, -1))] = np.moveaxis(array, axis, 0)
            return ["bitreverse"], [f"--axis={axis}"], result
        axes = [int(a) for a in self.random.permutation(rank)]
        options = [f"--axes={','.join(map(str, axes))}"] if axes else []
        return ["transpose"], options, array.transpose(axes)

    def test_random(self):
        count = rounds(30 if SANITIZED else 75, 2000)
        for case in range(count):
            layout, twos = self.layout()
            self.write(layout.name, layout.content)
            command, options, expected = self.command(layout.elements(), twos)
            order = "C"
            if self.random.integers(4) == 0:
                order = "CF"[self.random.integers(2)]
                options += ["--out-order", order]
            if self.random.integers(4) == 0 and order == "C":
                options += ["--out-shape=-1" if expected.size else "--out-shape=0,3"]
                expected = expected.reshape(-1 if expected.size else (0, 3))
            if self.random.integers(3) == 0:
                options += ["--npy-header", "compact"]
            out = ["b.npy", "b.raw"][self.random.integers(2)]
            options += ["--io", ["auto", "direct", "mapped"][self.random.integers(3)], "--memory", "16MiB"]
            with self.subTest(case=case, options=layout.options + options, command=command):
                self.ok(*command, layout.name, out, *layout.options, *options, "--force", "-q")
                data = expected.tobytes(order)
                self.assertTrue(self.bytes_of(out).endswith(data))
                if out == "b.raw":
                    self.assertEqual(os.path.getsize(self.path(out)), len(data))
                else:
                    loaded = self.load(out)
                    self.assertEqual(loaded.dtype, layout.dtype)
                    self.assertEqual(loaded.shape, expected.shape)
                    self.assertEqual(loaded.flags.fnc, order == "F" and np.asfortranarray(expected).flags.fnc)
                    header = os.path.getsize(self.path(out)) - len(data)
                    self.assertTrue(header <= 512 if "compact" in options or not data else header % 4096 == 0)


class LargeLayouts(Case):
    """Many tiles and groups, on a disk."""

    def check(self, options, expected, engine="direct"):
        self.ok("transpose", "a.raw", "b.npy", *options, "--memory", "16MiB", "--io", engine, "--force", "-q")
        self.assert_same(self.load("b.npy"), np.ascontiguousarray(expected), (options, engine))

    def test_padded_rows_crops_and_flips(self):
        rows, columns, pitch, offset = 3000, 1100, 1200, 777
        data = self.noise((offset + rows * pitch * 8 + 99,))
        self.save("a.raw", data)
        array = np.ndarray((rows, columns), "<f8", data.data, offset, (pitch * 8, 8))
        options = ("--dtype", "f8", f"--shape={rows},{columns}", f"--offset={offset}", f"--strides={pitch * 8},8")
        for engine in self.few(LARGE_ENGINES, 1):
            self.check(options, array.T, engine)
            self.check((*options, "--select", "::-1, ::-1"), array[::-1, ::-1].T, engine)
        cases = [(("--select", "100:-100, 1000:10:-1"), lambda: array[100:-100, 1000:10:-1].T),
                 (("--select", "::7, ::3", "--axes", "0,1"), lambda: array[::7, ::3]),
                 (("--select", "::500"), lambda: array[::500].T), (("--byte-order", "big"), lambda: array.T.astype(">f8"))]
        for others, expected in self.few(cases, 2):
            self.check((*options, *others), expected())
        for step in self.few([3000, 4097, 16384], 1):  # one byte in many, in order
            self.check(("--dtype", "u1", "--select", f"::{step}"), data.view("u1")[::step])

    def test_sparse_selections(self):
        """One byte of each 16 KiB."""
        data = self.noise((1500, 16384))
        self.save("a.raw", data)
        for engine in self.few(LARGE_ENGINES, 1):
            self.check(("--dtype", "u1", "--shape", "50,30,16384", "--select", ":, ::-1, 77"),
                       data.reshape(50, 30, 16384)[:, ::-1, 77].T, engine)

    def test_several_passes(self):
        """Only the first reads the gaps."""
        data = self.noise((4100, 4104), "<u2")
        self.save("a.raw", data)
        options = ("--dtype", "u2", "--shape", "4100,4104", "--select", "2:-2, 4:-4", "--device", "hdd")
        self.check((*options, "--byte-order", "big"), data[2:-2, 4:-4].T.astype(">u2"))
        self.ok("bitreverse", "a.raw", "b.npy", "--dtype", "u2", "--shape", "4100,4104", "--select", ":4096, 4099:3:-1", "--axis", 0,
                "--memory", "16MiB", "--device", "hdd", "--io", "direct", "--force")
        self.assert_same(self.load("b.npy"), np.ascontiguousarray(data[:4096, 4099:3:-1][bits_map(range(11, -1, -1))]))

    def test_fortran_order_out(self):
        array = self.noise((700, 900, 3), "<f4")
        self.save("a.npy", array)
        self.ok("transpose", "a.npy", "b.npy", "--axes", "0,1,2", "--out-order", "F", "--memory", "16MiB")
        result = self.load("b.npy")
        self.assertTrue(result.flags.f_contiguous)
        self.assert_same(result, array)
        self.ok("transpose", "b.npy", "c.npy", "--axes", "0,1,2", "--npy-header", "compact")
        self.assertEqual(self.bytes_of("c.npy"), self.bytes_of("a.npy"))


class Info(Case):
    in_memory = True

    def test_info_tells_the_layout(self):
        self.save("a.raw", self.noise((1000,)))
        options = ("a.raw", "--dtype", "f4", "--shape", "10,10", "--strides=-80,4", "--offset", 760, "--ignore-rest")
        told = self.json("info", *options, "--select", "::-1, 2")
        self.assertEqual((told["order"], told["strides"], told["shape"], told["offset"], told["bytes"]), ("strided", [80], [10], 48, 40))
        self.assertIn("strides (-80, 4)", self.ok("info", *options).stdout)
        self.assertEqual(self.json("info", "a.raw", "--dtype", "u1", "--shape", "10,100", "--order", "F")["order"], "Fortran")
        self.assertEqual(self.json("info", "a.raw", "--dtype", "u1", "--shape", "10,90", "--ignore-rest")["rest"], 100)
        self.assertNotIn("left out", self.ok("transpose", "a.raw", "b.raw", "--dtype", "u1", "--shape", "10,90", "--ignore-rest", "--force").stderr)


class SeveralFiles(Case):
    """Against numpy.stack and numpy.concatenate."""

    in_memory = True

    def parts(self, count, shape, dtype="<u4", ragged=None, fortran=False):
        arrays = []
        for i in range(count):
            extents = list(shape)
            if ragged is not None:
                extents[ragged] = int(self.random.integers(0, 5))
            array = self.noise(extents, dtype)
            arrays.append(np.asfortranarray(array) if fortran else array)
            self.save(f"in{i}.npy", arrays[-1])
        return arrays, [f"in{i}.npy" for i in range(count)]

    def check(self, names, expected, *options, command="transpose"):
        self.ok(command, *names, "out.npy", *options, "--force", "-q")
        self.assert_same(self.load("out.npy"), np.ascontiguousarray(expected), (names, options))

    def test_stacked(self):
        for engine in ["auto", "direct", "mapped"]:
            for fortran in [False, True]:
                arrays, names = self.parts(5, (6, 7, 3), fortran=fortran)
                for k in self.few([0, 1, 3, -1], 1):
                    axes = [int(a) for a in self.random.permutation(4)]
                    self.check(names, np.stack(arrays, k).transpose(axes), f"--stack={k}", f"--axes={','.join(map(str, axes))}", "--io", engine)
        self.check(names, np.stack([a[::-1, 2:] for a in arrays]).T, "--stack", 0, "--select", "::-1, 2:")
        self.check(names[:1], np.stack(arrays[:1]).T, "--stack", 0)

    def test_concatenated(self):
        for fortran in [False, True]:
            slowest = 2 if fortran else 0
            for k in [0, 1, 2, -2]:
                arrays, names = self.parts(4, (6, 7, 3), fortran=fortran, ragged=k if k == slowest else None)
                for axes in self.few([(2, 1, 0), (0, 1, 2), (1, 0, 2), (2, 0, 1)], 1):
                    whole = np.concatenate(arrays, k).transpose(axes)
                    options = (f"--concatenate={k}", f"--axes={','.join(map(str, axes))}")
                    self.check(names, whole, *options)
                    self.ok("transpose", *names, "out.npy", *options, "--out-order", "F", "--force", "-q")
                    out = self.load("out.npy")
                    self.assertTrue(out.flags.f_contiguous)
                    self.assert_same(np.ascontiguousarray(out), np.ascontiguousarray(whole), options)

    def test_empty_files(self):
        arrays = [self.noise((rows, 7), "<u4") for rows in [0, 0, 5, 0]]
        for i, array in enumerate(arrays):
            self.save(f"in{i}.npy", array)
        for engine in ["direct", "mapped"]:
            self.check([f"in{i}.npy" for i in range(4)], arrays[2].T, "--concatenate", 0, "--io", engine)

    def test_maps(self):
        arrays, names = self.parts(4, (8, 16))
        whole = np.concatenate(arrays, 1)
        self.check(names, whole.reshape(-1)[::-1].reshape(whole.shape), "--concatenate", 1, "--by", "reverse", command="permute")
        self.check(names, np.concatenate(arrays)[bits_map(range(4, -1, -1))], "--concatenate", 0, "--axis", 0, command="bitreverse")
        self.check(names, np.stack(arrays)[:, bits_map(range(2, -1, -1))], "--stack", 0, "--axis", 1, command="bitreverse")
        self.refused("bitreverse", *names, "b.npy", "--concatenate", 1, "--axis", 1, says="--concatenate")

    def test_padded_raw_files(self):
        rows = self.noise((3, 40, 50), "<f8")
        for i, part in enumerate(rows):
            self.save(f"in{i}.raw", part)
        self.check([f"in{i}.raw" for i in range(3)], rows[:, :, :44].transpose(2, 0, 1), "--stack", 0, "--axes", "2,0,1", "--dtype", "f8",
                   "--shape", "40,44", "--strides", "400,8")

    def test_names_from_a_list(self):
        arrays, names = self.parts(300, (4, 5))
        self.write("list", "\n".join(names[1:]) + "\n\n")
        self.check([names[0]], np.stack(arrays).T, "--stack", 0, "--files-from", "list")
        self.write("list", "\r\n".join(names))
        self.check([], np.stack(arrays).T, "--stack", 0, "--files-from", "list")
        self.refused("transpose", "out.npy", "--files-from", "list", says=["list", "--stack"])
        self.refused("transpose", "--files-from", "list", "--stack", 0, says="OUT")
        self.write("list.txt", "in0.npy\0junk\n")
        self.refused("transpose", "b.npy", "--files-from", "list.txt", "--stack", 0, says="list.txt: is not a list of files")
        self.write("list.txt", "\n".join(names))
        self.refused("transpose", "list.txt", "--files-from", "list.txt", "--stack", 0, "--force", says="list.txt: is the same file as the input")
        self.refused("transpose", "b.npy", "--files-from", "list.txt", "--stack", 0, "--force", "--trace", "list.txt", says="list.txt")
        self.assertEqual(self.bytes_of("list.txt").decode(), "\n".join(names))

    def test_files_that_do_not_fit(self):
        arrays, names = self.parts(3, (4, 5))
        self.save("type.npy", self.noise((4, 5), "<f4"))
        self.save("shape.npy", self.noise((4, 6), "<u4"))
        self.save("order.npy", np.asfortranarray(self.noise((4, 5), "<u4")))
        for other, says in [("type.npy", "type is '<f4', that of in0.npy '<u4'"), ("shape.npy", r"shape is \(4, 6\), that of in0.npy \(4, 5\)"),
                            ("order.npy", r"axes lie in the order \(1, 0\), that of in0.npy \(0, 1\)")]:
            self.refused("transpose", *names, other, "b.npy", "--stack", 0, says=[other, says])
        self.refused("transpose", *names, "b.npy", "--stack", 3, says="--stack: there is no axis 3")
        self.refused("transpose", *names, "b.npy", "--stack", 0, "--concatenate", 0, says="--stack|--concatenate")
        self.refused("transpose", *names, "b.npy", says="--stack or --concatenate")
        self.refused("transpose", names[0], names[1], names[0], "--stack", 0, "--force", says="in0.npy")

    def test_many_tiles(self):
        arrays = [self.noise((500, 1200), "<f8") for _ in range(6)]
        for i, array in enumerate(arrays):
            self.save(f"in{i}.npy", array)
        names = [f"in{i}.npy" for i in range(6)]
        for engine in self.few(["direct", "mapped"], 1):
            self.check(names, np.concatenate(arrays).T, "--concatenate", 0, "--memory", "16MiB", "--io", engine)
        self.check(names, np.stack(arrays).transpose(2, 0, 1), "--stack", 0, "--axes", "2,0,1", "--memory", "16MiB", "--io", "direct")


class Recipes(Case):
    """What docs/recipes.md says of any array in any file."""

    in_memory = True

    def test_recipes(self):
        with open(os.path.join(os.path.dirname(__file__), "../../docs/recipes.md"), encoding="utf-8") as file:
            section = file.read().partition("## Any array in any file")[2].partition("\n## ")[0]
        recipes = dict(re.findall(r"(?m)^\| (.*?) \| `xorder (.*)` \|$", section))
        a, image = self.noise((64, 64), "<f8"), self.noise((48, 64, 3))
        days, projections = self.noise((2, 20, 30), "<f4"), self.noise((20, 10, 30), "<f4")
        raw, padded, framed = self.noise((8, 128), "<f8"), self.noise((30, 64), "<f8"), self.noise((512 + 8 * 1500 + 100,))
        records = self.noise((100,), [("t", "<u4"), ("x", ">f8"), ("y", ">f8")])
        for name, array in {"a.npy": a, "image.npy": image, "monday.npy": days[0], "tuesday.npy": days[1], "projections.npy": projections,
                            "a.raw": raw, "padded.raw": padded, "framed.raw": framed, "records.npy": records}.items():
            self.save(name, array)
        self.write("days.txt", "monday.npy\ntuesday.npy\n")
        packed = np.empty(100, [("y", ">f8"), ("t", "<u4")])
        packed["y"], packed["t"] = records["y"], records["t"]
        little = np.empty(100, [("t", "<u4"), ("x", "<f8"), ("y", "<f8")])
        for name in "txy":
            little[name].view("V4" if name == "t" else "V8")[...] = (records[name] if name == "t" else records[name].byteswap().view("<f8")).view(
                "V4" if name == "t" else "V8")
        expected = {
            "--ignore-rest": framed[512:-100].view("<f8").reshape(30, 50).T, "--strides": padded[:, :60].T, "--order F": raw.T, "--out-order F": a,
            "10:40, 8:56": image[10:40, 8:56], "'::-1'": image[::-1], "':, ::-1'": np.rot90(image), "':, :, ::-1'": image[:, :, ::-1],
            "image.npy b.npy --axes 2,0,1": image.transpose(2, 0, 1), "':, :, 1'": image[:, :, 1], "projections.npy": projections.transpose(1, 0, 2),
            "--out-shape": a.reshape(4, 16, 4, 16).transpose(0, 2, 1, 3).reshape(16, 16, 16), "--field x": records["x"], "--field y,t": packed,
            "--byte-order little": little, "--stack": np.stack(days).T, "--concatenate": np.concatenate(days).T, "compact": a.T,
            "--split": image.transpose(2, 0, 1)}
        for job, command in recipes.items():
            with self.subTest(job=job, command=command):
                found = [key for key in expected if key in command]
                self.assertEqual(len(found), 1)
                split = "--split" in command
                self.ok(*shlex.split(command), *([] if split else ["--force"]))
                result = np.stack([self.load(f"plane.{i:02}.npy") for i in range(3)]) if split else self.load("b.npy")
                self.assert_same(result, np.ascontiguousarray(expected.pop(found[0])))
        self.assertEqual(expected, {})


class Refusals(Case):
    """As NumPy's, before there is an output."""

    in_memory = True

    def setUp(self):
        super().setUp()
        self.save("a.npy", self.noise((4, 6), "<f8"))
        self.save("a.raw", self.noise((1000,)))
        self.save("records.npy", self.noise((10,), [("x", "<f4"), ("y", ">i2")]))
        self.write("m.npy", b"\x93NUMPY\1\0v\0" + b"{'descr': '<g2', 'fortran_order': False, 'shape': (4,), }".ljust(117) + b"\n" + bytes(8))

    def test_selections(self):
        for text, says in {"4": "index 4 is out of bounds for axis 0 with size 4", "0,0,0": "too many indices", "...,...": "single ellipsis",
                           "::0": "slice step cannot be zero", "a": "'a' is not", "1:2:3:4": "is not", "None": "'None' is not", "1.0": "is not",
                           ",": "is not"}.items():
            self.refused("transpose", "a.npy", "b.npy", "--select", text, says=["--select: ", says])

    def test_shapes(self):
        self.refused("transpose", "a.npy", "b.npy", "--shape", "5,5", says=["a.npy", r"cannot reshape array of size 24 into shape \(5,5\)"])
        self.refused("transpose", "a.npy", "b.npy", "--shape=-1,5", says=r"cannot reshape array of size 24 into shape \(-1,5\)")
        self.refused("transpose", "a.npy", "b.npy", "--out-shape", "5,5", says=["--out-shape", "cannot reshape"])
        self.refused("transpose", "a.npy", "b.npy", "--out-shape", "8,3", "--out-order", "F", says="C order")
        self.ok("transpose", "a.npy", "b.npy", "--out-shape", "24", "--out-order", "F")
        self.assert_same(self.load("b.npy"), self.load("a.npy").T.reshape(24))

    def test_strides(self):
        for shape, strides, says in [("10,10", "100,4", "ends at byte 1008|ends at byte 944"), ("9,30", "100,4", "overlap"), ("10,10", "0,8", "overlap"),
                                     ("10,10", "80", "1 strides"), ("10,-1", "80,8", "no extent can be -1"), ("10,10", "80,x", "--strides"),
                                     ("10", "-8", "begins 72 bytes before"), ("2,2", "8,16,8", "3 strides")]:
            if says.startswith("ends"):
                shape, says = "11,10", "ends at byte 1040"
            self.refused("transpose", "a.raw", "b.raw", "--dtype", "f4", "--shape", shape, f"--strides={strides}", says=["a.raw|--strides", says])
        self.refused("transpose", "a.raw", "b.raw", "--dtype", "u1", "--shape", "10,10", "--strides", "10,1", says=["a.raw", "--ignore-rest"])
        self.refused("transpose", "a.raw", "b.raw", "--dtype", "u1", "--shape", "10,99", says=["1000", "990", "--ignore-rest"])
        self.refused("transpose", "a.raw", "b.raw", "--dtype", "u1", "--shape", "10,100", "--order", "f", says="--order: 'f' is neither C nor F")

    def test_fields_and_byte_orders(self):
        self.refused("transpose", "a.npy", "b.npy", "--field", "x", says=["a.npy: --field", "no fields"])
        self.refused("transpose", "records.npy", "b.npy", "--field", "z", says="there is no field .z.; there are 'x', 'y'")
        self.refused("transpose", "records.npy", "b.npy", "--field", "x,x", says="named")
        self.refused("transpose", "m.npy", "b.npy", "--byte-order", "big", says=["m.npy: --byte-order", "<g2"])

    def test_others_need_elements_that_follow_each_other(self):
        for command in [("descend", "scan"), ("machine", "transpose", "--schedule", "exchange"), ("transpose", "--banded", "1,1")]:
            self.save("c.npy", self.noise((8, 6) if "--banded" in command else (8, 8), "<f8"))
            select = ":, ::2" if "--banded" in command else "::2"
            self.refused(*command, "c.npy", "b.npy", "--select", select, says=["c.npy", "follow each other"])


if __name__ == "__main__":
    main()
