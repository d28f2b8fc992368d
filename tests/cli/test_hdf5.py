#!/usr/bin/python3
"""Datasets of HDF5 and NetCDF-4 files, written by h5py and netCDF4 (Debian: python3-h5py, python3-netcdf4)."""

import os
import shutil
import subprocess
import sys

from harness import LONG, XORDER, Case, main, np, rounds, transposed

try:
    import h5py
except ImportError:
    print("SKIPPED: these tests need h5py (apt install python3-h5py)")
    sys.exit(77)
HELPER = os.path.join(os.path.dirname(XORDER), "..", "..", "libexec", "xorder-hdf5")
if not os.path.exists(HELPER):
    print("SKIPPED: xorder was built without libhdf5 (apt install libhdf5-dev)")
    sys.exit(77)

NUMBERS = [f"{order}{kind}" for order in "<>" for kind in ["i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]]
NESTED = np.dtype([("a", "<i2"), ("b", [("x", ">f8"), ("y", "<f4", (2, 3))]), ("it's \\ é", "S3")])
PADDED = np.dtype({"names": ["late", "early"], "formats": ["<u2", "<f8"], "offsets": [12, 2], "itemsize": 17})
TYPES = [*NUMBERS, "i1", "u1", "?", "S5", "V7", "<f16", NESTED, PADDED, np.dtype("i1,f8", align=True)]


class Hdf5(Case):
    in_memory = True

    def datum(self, shape, dtype):
        array = self.noise(shape, dtype)
        return array.view("u1") % 2 == 1 if array.dtype == bool else array

    def file(self, name="a.h5", mode="a", **options):
        return h5py.File(self.path(name), mode, **options)

    def arrays(self, name="a.h5"):
        return {array["name"]: array for array in self.json("info", name)["arrays"]}

    def transposes(self, name, array, *options, axes=None):
        self.ok("transpose", name, "out.npy", "--force", "-q", *options)
        self.assert_same(self.load("out.npy"), transposed(np.asarray(array, order="C"), axes), name)

    def test_types_and_shapes(self):
        written = {}
        with self.file() as file:
            for i, dtype in enumerate(TYPES * 2):
                shape = tuple(self.random.integers(1, 7, self.random.integers(0, 5)))
                array = self.datum(shape, dtype)
                if array.dtype.kind == "V" and shape == ():
                    array = array.reshape(1)
                written[f"/g{i % 3}/h/{i}"] = array
                file[f"g{i % 3}/h/{i}"] = array
            file["g0/empty"] = written["/g0/empty"] = np.zeros((3, 0), "f8")
        listed = self.arrays()
        content = self.bytes_of("a.h5")
        self.assertEqual(set(listed), set(written))
        for name, array in written.items():
            dtype = array.dtype
            with self.subTest(name=name, dtype=dtype):
                found = listed[name]
                self.assertEqual(found["shape"], list(array.shape))
                self.assertEqual(found["descr"], "[('', '|V2'), ('early', '<f8'), ('', '|V2'), ('late', '<u2'), ('', '|V3')]"
                                 if dtype == PADDED else repr(np.lib.format.dtype_to_descr(array.dtype)))
                stored = np.ndarray(array.shape, dtype, content, found["offset"] if array.size else 0)
                for field in dtype.names or [None]:
                    self.assertEqual((stored[field] if field else stored).tobytes(), (array[field] if field else array).tobytes())
        for name in self.few(sorted(set(written) - {"/g0/empty"}), 4):
            if written[name].dtype != PADDED:  # whose gaps are as libhdf5 left them
                self.transposes(f"a.h5:{name}", written[name])

    def test_other_types(self):
        enumeration = h5py.enum_dtype({"RED": 1, "GREEN": 300}, ">i2")
        times = np.arange("2000", "2012", dtype="M8[Y]").astype("<M8[us]")
        with self.file() as file:
            file.create_dataset("enum", data=np.array([[1, 300]], ">i2"), dtype=enumeration)
            file.create_dataset("time", data=times.astype(h5py.opaque_dtype(times.dtype)))
            array = np.arange(120, dtype=">f4").reshape(2, 4, 3, 5)
            file.create_dataset("array", (2, 4), dtype=np.dtype((">f4", (3, 5))))[...] = array
        self.transposes("a.h5:enum", np.array([[1, 300]], ">i2"))
        self.transposes("a.h5:time", times)
        self.transposes("a.h5:array", array)

    def test_names(self):
        array, other = self.noise((3, 5), "<f4"), self.noise((5, 4), "<f8")
        with self.file() as file:
            file["entry/data"] = array
        for name in ["a.h5", "a.h5:/entry/data", "a.h5:entry/data"]:
            self.transposes(name, array)
        with self.file() as file:
            file["entry/ö b:c"] = other
            file["hard"] = file["entry/data"]
            file["soft"] = h5py.SoftLink("/entry/data")
            file["dangling"] = h5py.SoftLink("/nowhere")
            file["out"] = h5py.ExternalLink("b.h5", "/x")
            file["entry/up"] = file["/"]
        for name in ["a.h5:hard", "a.h5:/soft"]:
            self.transposes(name, array)
        self.transposes("a.h5:/entry/ö b:c", other)
        self.assertEqual(set(self.arrays()), {"/entry/data", "/entry/ö b:c", "/out"})
        self.refused("info", "a.h5:out", says="a.h5:out: a link to another file; name that file")
        self.refused("transpose", "a.h5", "b.npy", says="a.h5: has 2 arrays; name one, as a.h5:NAME: /entry/data")
        self.refused("transpose", "a.h5:data", "b.npy", says="has no array data; it has /entry/data")

    def test_user_blocks_and_versions(self):
        array = self.noise((30, 50), "<i4")
        for number, (block, versions) in enumerate([(0, "earliest"), (512, "latest"), (2048, ("earliest", "v110"))]):
            name = f"{number}.dat"
            with self.file(name, "w", userblock_size=block, libver=versions) as file:
                file["x/y"] = array
            self.transposes(name, array)

    def test_what_is_not_contiguous(self):
        array = np.arange(1000.0).reshape(10, 100)
        with self.file() as file:
            file.create_dataset("chunked", data=array, chunks=(5, 10), maxshape=(None, 100))
            file.create_dataset("gzip", data=array, compression="gzip")
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_layout(h5py.h5d.COMPACT)
            h5py.h5d.create(file.id, b"compact", h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple((10,)), properties).write(
                h5py.h5s.ALL, h5py.h5s.ALL, array[0, :10].copy())
            file.create_dataset("outside", data=array, external=[(self.path("a.dat"), 0, 8000)])
            layout = h5py.VirtualLayout((10, 100), "f8")
            layout[:] = h5py.VirtualSource(self.path("a.h5"), "chunked", (10, 100))
            file.create_virtual_dataset("virtual", layout)
        good = {"chunked", "gzip", "compact", "outside", "virtual"}
        with self.file() as file:
            file.create_dataset("text", data=["a", "bc"], dtype=h5py.string_dtype())
            file.create_dataset("vlen", (2,), dtype=h5py.vlen_dtype("i4"))
            file.create_dataset("in a field", (2,), dtype=[("a", "i4"), ("b", h5py.string_dtype())])
            file.create_dataset("reference", (2,), dtype=h5py.ref_dtype)
            file.create_dataset("null", data=h5py.Empty("f4"))
            file.create_dataset("unwritten", (2, 3))
        advice = "h5repack -l CONTI IN OUT"
        found = self.arrays()
        for name, storage, says in [
                ("chunked", "chunked", f"in chunks; make it contiguous: {advice}"), ("gzip", "compressed", f"in compressed chunks; .*{advice}"),
                ("compact", "compact", f"in its header .*{advice}"), ("outside", "external", f"in other files; .*{advice}"),
                ("virtual", "virtual", f"is virtual.*{advice}"), ("text", "contiguous", "strings have variable lengths; in Python: "),
                ("vlen", "contiguous", "sequences of variable lengths"), ("in a field", "contiguous", "strings have variable lengths"),
                ("reference", "contiguous", "references"), ("null", "none", "it has no data"), ("unwritten", "none", "nothing was written to it")]:
            listed = found["/" + name]
            self.assertEqual((listed["usable"], listed["storage"]), (False, storage))
            self.assertRegex(listed["note"], says)
            if LONG or self.random.integers(2):
                self.refused("transpose", f"a.h5:{name}", "b.npy", says=f"a.h5:{name}: .*{says}")
        self.refused("transpose", "a.h5", "b.npy", says="a.h5: has no array that can be read; /chunked: it is stored in chunks")
        if shutil.which("h5repack") is None:
            self.skipTest("h5repack is not installed (hdf5-tools)")
        subprocess.run(["h5repack", "-l", "CONTI", "a.h5", "b.h5"], cwd=self.dir, check=True)
        for name in self.few(sorted(good), 2):
            self.transposes(f"b.h5:{name}", array[0, :10] if name == "compact" else array)

    def test_netcdf4(self):
        try:
            import netCDF4
        except ImportError:
            self.skipTest("netCDF4 is not installed")
        with netCDF4.Dataset(self.path("a.nc"), "w") as file:
            for name, extent in [("time", None), ("lat", 3), ("lon", 4), ("month", 12)]:
                file.createDimension(name, extent)
            array, packed = self.noise((12, 3, 4), ">i4"), self.noise((3, 4), "<i2")
            for name, dtype, dims, value in [("tas", ">i4", ("month", "lat", "lon"), array), ("packed", "<i2", ("lat", "lon"), packed),
                                             ("lat", "<f8", ("lat",), np.arange(3.0)), ("series", "<f4", ("time", "lat"), np.ones((2, 3)))]:
                group = file.createGroup("sub") if name == "packed" else file
                variable = group.createVariable(name, dtype, dims, endian="big" if dtype[0] == ">" else "little", contiguous="time" not in dims)
                variable.set_auto_maskandscale(False)
                variable[:] = value
            file["sub/packed"].scale_factor = 0.5
        self.transposes("a.nc:tas", array, "--axes", "lon,month,lat", axes=(2, 0, 1))
        self.transposes("a.nc:sub/packed", packed)
        listed = self.arrays("a.nc")
        self.assertEqual(listed["/lat"]["axes"], ["lat"])
        self.assertEqual(listed["/sub/packed"]["axes"], ["lat", "lon"])
        self.assertIn("(scale_factor)", listed["/sub/packed"]["note"])
        self.assertFalse(listed["/series"]["usable"])
        if shutil.which("h5repack") is not None:
            subprocess.run(["h5repack", "-l", "CONTI", "a.nc", "b.nc"], cwd=self.dir, check=True)
            self.transposes("b.nc:series", np.ones((2, 3), "<f4"))
            self.transposes("b.nc:tas", array)

    def dataset(self, name, path):
        """A dataset of a new file: its values, and that it is as it should be."""
        with self.file(name, "r") as file:
            dataset = file[path]
            offset, size = dataset.id.get_offset(), os.path.getsize(self.path(name))
            if dataset.size > 0:
                self.assertEqual(offset + dataset.size * dataset.dtype.itemsize, size)
            if size - (offset or 0) >= 4096:
                self.assertEqual(offset % 4096, 0)
            self.assertEqual((dataset.chunks, dataset.compression, dataset.maxshape), (None, None, dataset.shape))
            return dataset[()]

    def test_outputs(self):
        for dtype in self.few([*self.some(NUMBERS), "i1", "u1", "?", "S5", "V7", "<f16", NESTED, np.dtype("i1,f8", align=True), "<M8[us]"], 7):
            shape = tuple(self.random.integers(1, 9, self.random.integers(1, 4)))
            array = self.datum(shape, dtype)
            self.save("a.npy", array)
            self.ok("transpose", "a.npy", "b.h5:/g/x", "-q", "--force")
            self.assert_same(np.asarray(self.dataset("b.h5", "g/x")), transposed(array), f"{dtype} {shape}")
            self.transposes("b.h5", transposed(array))
        large = self.noise((300, 500), ">f4")
        self.save("a.npy", large)
        for options in [("--io", "direct"), ("--io", "mapped"), ("--resumable",)]:
            self.ok("transpose", "a.npy", "b.hdf5:x", "-q", "--force", *options)
            self.assert_same(self.dataset("b.hdf5", "x"), transposed(large))
        self.save("e.npy", large[:0])
        self.ok("transpose", "e.npy", "e.h5")
        self.assertEqual(self.dataset("e.h5", "data").shape, (500, 0))
        self.save("s.raw", self.noise(256, "<f8"))
        self.ok("bitreverse", "s.raw", "s.h5", "--dtype", "f8")
        self.ok("bitreverse", "s.h5", "s2.raw")
        self.assertEqual(self.bytes_of("s2.raw"), self.bytes_of("s.raw"))

    def test_outputs_that_cannot_be(self):
        self.save("a.npy", np.zeros((3, 4)))
        self.save("u.npy", np.array([["ä", "bc"]]))
        self.ok("transpose", "a.npy", "b.h5:x")
        self.refused("transpose", "a.npy", "b.h5:y", says="b.h5")
        self.refused("transpose", "b.h5:x", "b.h5:y", "--force", says="b.h5: is the same file")
        self.refused("transpose", "u.npy", "c.h5", says=r"c.h5:/data: HDF5 has no type for <U2")
        self.refused("transpose", "a.npy", "c.h5:/", says=r"c.h5:/: libhdf5: ")
        self.refused("transpose", "a.npy", "c.h5:x", says="xorder-hdf5, which is not here", env={**os.environ, "XORDER_HDF5": ""})
        self.refused("transpose", "a.npy", "no/c.h5:x", says="no")

    def test_attributes_and_scales(self):
        array = np.array(self.random.integers(1, 3, (2, 3, 4)), ">i2")
        colours = h5py.enum_dtype({"A": 1, "B": 2}, ">i2")
        with self.file() as file:
            dataset = file.create_dataset("g/tas", data=array, dtype=colours, fillvalue=2)
            dataset.attrs.update({"units": "K", "list": ["a", "bcd"], "none": h5py.Empty("f4"), "to": file["g"].ref,
                                  "_Netcdf4Coordinates": np.arange(3, dtype="i4"), "_Netcdf4Dimid": np.int32(0)})
            for i, name in enumerate("tyx"):
                file[name] = np.arange(array.shape[i]) * 1.5
                file[name].make_scale(name)
                file[name].attrs["_Netcdf4Dimid"] = np.int32(i)
                dataset.dims[i].attach_scale(file[name])
                dataset.dims[i].label = "label of " + name
        result = self.ok("transpose", "a.h5:g/tas", "b.h5", "--axes", "2,0,1")
        self.assertIn('attributes or dimension scales that were not copied: "to"', result.stderr)
        self.assert_same(self.dataset("b.h5", "g/tas"), transposed(array, (2, 0, 1)))
        self.ok("verify", "transpose", "a.h5:g/tas", "b.h5:g/tas", "--axes", "2,0,1")  # b.h5 has scales, too
        with self.file("b.h5", "r") as file:
            dataset = file["g/tas"]
            self.assertEqual(h5py.check_enum_dtype(dataset.dtype), {"A": 1, "B": 2})
            self.assertEqual((dataset.attrs["units"], list(dataset.attrs["list"]), dataset.fillvalue), ("K", ["a", "bcd"], 2))
            self.assertEqual(list(dataset.attrs["_Netcdf4Coordinates"]), [2, 0, 1])
            self.assertEqual(dataset.attrs["_Netcdf4Dimid"], 2)
            self.assertEqual([dim.label for dim in dataset.dims], ["label of x", "label of t", "label of y"])
            for dim, name, extent in zip(dataset.dims, "xty", (4, 2, 3)):
                self.assertEqual(list(dim.keys()), [name])
                np.testing.assert_array_equal(dim[0], np.arange(extent) * 1.5)
            self.assertNotIn("to", dataset.attrs)
        for options in [("--select", "::-1"), ("--select", ":, 1:"), ("--select", "0")]:
            self.ok("transpose", "a.h5:g/tas", "c.h5:/x", "--force", *options)
            with self.file("c.h5", "r") as file:
                self.assertEqual((list(file), file["x"].attrs["units"]), (["x"], "K"))
        self.ok("transpose", "a.h5:g/tas", "c.h5:/x", "--force", "--byte-order", "little")
        self.assert_same(self.dataset("c.h5", "x"), transposed(array.astype("<i2")))

    def test_netcdf4_goes_round(self):
        try:
            import netCDF4
        except ImportError:
            self.skipTest("netCDF4 is not installed")
        with netCDF4.Dataset(self.path("a.nc"), "w") as file:
            for name, extent in [("t", 2), ("y", 3), ("x", 4)]:
                file.createDimension(name, extent)
            file.createVariable("y", "<f8", ("y",))[:] = [1, 2, 3]
            array = self.noise((2, 3, 4), "<i4")
            variable = file.createVariable("tas", "<i4", ("t", "y", "x"))
            variable.set_auto_maskandscale(False)
            variable[:] = array
            variable.units = "K"
        self.ok("transpose", "a.nc:tas", "b.nc4", "--axes", "x,t,y")
        with netCDF4.Dataset(self.path("b.nc4")) as file:
            file["tas"].set_auto_maskandscale(False)
            self.assertEqual((file["tas"].dimensions, file["tas"].units), (("x", "t", "y"), "K"))
            self.assert_same(file["tas"][:], transposed(array, (2, 0, 1)))
            self.assertEqual(list(file["y"][:]), [1, 2, 3])

    def test_a_file_that_is_being_written(self):
        with self.file("a.h5", "w") as file:
            file["x"] = np.arange(5)
            file.flush()
            self.transposes("a.h5", np.arange(5))

    def test_damaged_files(self):
        """Refused in one line, or read within the file."""
        with self.file() as file:
            for i in range(4):
                file[f"g{i % 2}/{i}"] = self.noise((i, 5), [("a", "<i4"), ("b", ">f8", (2,))])
            file["g0"].attrs["text"] = "of any length"
            file["g0/0"].dims[0].label = "x"
        content = self.bytes_of("a.h5")
        for _ in self.some(range(rounds(18, 60))):
            damaged = bytearray(content)
            if self.random.random() < 0.2:
                del damaged[self.random.integers(8, len(content)):]
            for _ in range(self.random.integers(0, 6)):
                at = self.random.integers(8, len(damaged)) if len(damaged) > 8 else 0
                damaged[at:at + 1] = [self.random.choice([0, 255, 127, 1, self.random.integers(256)])] if at else b""
            self.write("b.h5", bytes(damaged))
            result = self.run_xorder("info", "b.h5", "--json")
            self.assertIn(result.returncode, (0, 2), result.stderr)
            if result.returncode == 2:
                self.assertRegex(result.stderr, r"\Axorder: b.h5: [^\n]+\n\Z")
        self.write("b.h5", content[:2000])
        self.refused("info", "b.h5", says="b.h5: damaged: libhdf5: .*truncated")

    def test_a_program_that_fails(self):
        """What stands for xorder-hdf5 dies, says nothing, says too much, or is not there."""
        with self.file() as file:
            file["x"] = np.arange(5)
        scripts = [("kill -SEGV $$", r"libhdf5 ended by signal 11 \(Segmentation fault\)"), ("exit 3", "xorder-hdf5 described it wrongly"),
                             ("echo '{\"arrays\": [{\"name\": 3}]}'", "described it wrongly"), ("exec yes", "more than 60 seconds or gave more than"),
                             ("echo '{\"error\": \"a\\nb\"}'", "described it wrongly")]
        for script, says in self.few(scripts, 2):
            self.write("fake", f"#!/bin/sh\n{script}\n")
            os.chmod(self.path("fake"), 0o700)
            self.refused("info", "a.h5", says=f"a.h5: .*{says}", env={**os.environ, "XORDER_HDF5": self.path("fake")})
        self.refused("info", "a.h5", says="a.h5: cannot run /none: No such file", env={**os.environ, "XORDER_HDF5": "/none"})
        none = {**os.environ, "XORDER_HDF5": ""}
        for name in ["a.h5", "a.h5:/x"]:
            self.refused("info", name, says="a.h5: is an HDF5 file; it is read by xorder-hdf5, which is not here .*libhdf5-dev.*h5dump .*--offset", env=none)
        self.ok("info", "a.h5", "--dtype", "u1", env=none)

    def test_it_is_found_beside_the_program_only(self):
        with self.file() as file:
            file["x"] = np.arange(5)
        shutil.copy(XORDER, self.path("xorder"))
        result = subprocess.run([self.path("xorder"), "info", "a.h5"], cwd=self.dir, capture_output=True, text=True, check=False)
        self.assertIn("xorder-hdf5, which is not here", result.stderr)
        os.makedirs(self.path("new/bin"))
        os.makedirs(self.path("new/libexec"))
        os.rename(self.path("xorder"), self.path("new/bin/xorder"))
        shutil.copy(HELPER, self.path("new/libexec"))
        subprocess.run([self.path("new/bin/xorder"), "info", "a.h5"], cwd=self.dir, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
