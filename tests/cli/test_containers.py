#!/usr/bin/python3
"""Arrays in FITS, NetCDF, NIfTI and ENVI files: those of our own writers, and those of the usual packages, if they are
installed (Debian: python3-astropy, python3-netcdf4, python3-scipy, python3-nibabel, python3-spectral)."""

import gzip
import importlib
import itertools
import os
import shutil
import warnings

import containers
from harness import Case, main, np, transposed

TYPES = ["u1", "i1", "i2", "i4", "f4", "f8", "u2", "u4", "i8", "u8"]


class ContainerCase(Case):
    in_memory = True

    def transposes(self, name, array, *options, axes=None):
        """The default order of the axes, or `axes`; the array is what NumPy has for it."""
        self.ok("transpose", name, "out", "--force", "-q", *options)
        os.rename(self.path("out"), self.path("out.npy"))
        self.assert_same(self.load("out.npy"), transposed(np.asarray(array, order="C"), axes), name)

    def module(self, name):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return importlib.import_module(name)
        except ImportError:
            self.skipTest(f"{name} is not installed")

    def typed(self, shape, dtype):
        """Numbers that packages do not change: no NaNs."""
        return np.nan_to_num(self.noise(shape, dtype), posinf=0, neginf=0) if dtype[-2] in "fc" else self.noise(shape, dtype)


class Fits(ContainerCase):
    def test_units(self):
        arrays = [None, *(self.noise((3, 4, 5)[i % 3:], f">{dtype}") for i, dtype in enumerate(containers.BITPIX))]
        self.write("a.fits", containers.fits(*arrays))
        for number, array in enumerate(arrays[1:], 1):
            self.transposes(f"a.fits:{number}", array)
        self.assertEqual([a["usable"] for a in self.json("info", "a.fits")["arrays"]], [False] + [True] * len(arrays[1:]))
        self.refused("info", "a.fits:0", says="a.fits:0: it has no data")
        self.refused("transpose", "a.fits", "b.npy", says=r"a\.fits: has \d arrays; name one, as a\.fits:NAME: 1, 2, 3")
        self.refused("transpose", "a.fits:9", "b.npy", says="has no array 9; it has 1, 2, 3")

    def test_one_array_needs_no_name(self):
        array = self.noise((33, 65), ">f4")
        self.write("a.fits", containers.fits(array))
        for name in ["a.fits", "a.fits:0"]:
            for engine in ["direct", "mapped"]:
                self.transposes(name, array, "--io", engine)
        os.rename(self.path("a.fits"), self.path("a.dat"))  # known by its content
        self.transposes("a.dat", array)

    def test_names(self):
        self.write("a.fits", containers.fits(None, *[self.noise((2, 3), ">i2")] * 2) + containers.fits_unit(
            self.noise((4, 5), ">f8"), ("XTENSION", "IMAGE"), PCOUNT=0, GCOUNT=1, EXTNAME="SCI"))
        self.assertEqual(self.json("info", "a.fits:SCI")["shape"], [4, 5])
        self.assertEqual(self.json("info", "a.fits:SCI,1")["offset"], self.json("info", "a.fits:3")["offset"])
        self.assertEqual(self.json("info", "a.fits:3", "--select", "0, ::-1")["shape"], [5])
        self.assertRegex(self.ok("info", "a.fits").stdout, r"array   3 \(SCI\): '>f8' \(4, 5\); C order, offset \d+, contiguous\n")

    def test_scales_are_noted(self):
        array = self.noise((4, 6), ">i2")
        self.write("a.fits", containers.fits_unit(array, ("SIMPLE", True), BZERO=32768))
        note = "a.fits: its numbers stand for unsigned ones, BZERO = 32768 less; they are moved as they are stored"
        self.assertIn(note, self.ok("transpose", "a.fits", "b.npy").stderr)
        self.assert_same(self.load("b.npy"), transposed(array))
        self.assertIn(note, self.json("transpose", "a.fits", "c.npy", "-q")["note"])
        # Of many files once.
        shutil.copy(self.path("a.fits"), self.path("d.fits"))
        shutil.copy(self.path("a.fits"), self.path("e.fits"))
        stderr = self.ok("transpose", "a.fits", "d.fits", "e.fits", "stack.npy", "--stack", 0).stderr
        self.assertEqual(stderr.count(note.removeprefix("a.fits")), 1)
        self.assertIn("a.fits and 2 other files: its numbers", stderr)

    def test_as_a_raw_file(self):
        array = self.noise((4, 6), ">i2")
        self.write("a.fits", containers.fits(array)[:2880 + 48])
        raw = ("--dtype", ">i2", "--shape", "4,6", "--offset", "2880")
        self.ok("transpose", "a.fits", "b.npy", *raw)
        self.assert_same(self.load("b.npy"), transposed(array))
        self.refused("transpose", "a.fits:0", "c.npy", *raw, says="a.fits:0: there is no such file, and a.fits is to be read as a raw file")
        self.refused("transpose", "a.fits", "c.npy", "--offset", "2880", says=r"a\.fits: its header \(fits\) says what it holds.*--dtype")

    def test_an_array_in_a_file_is_no_output(self):
        self.write("a.fits", containers.fits(self.noise((4, 6), ">i2")))
        for name in ["a.fits:0", "new.fits:SCI", "a.nc:tas"]:
            self.refused("transpose", "a.fits", name, says=f"{name}: names an array in .*, which is not written")
        self.ok("transpose", "a.fits", "a:b.npy")

    def test_outputs_are_npy_unless_they_are_raw(self):
        array = self.noise((4, 6), ">i2")
        self.write("a.fits", containers.fits(array))
        self.ok("transpose", "a.fits", "b.raw")
        self.assertEqual(self.bytes_of("b.raw"), transposed(array).tobytes())
        self.refused("transpose", "a.fits", "b.fits", says="FITS file, which is not written")

    def test_other_files_have_no_names(self):
        self.save("a.npy", np.zeros((2, 3)))
        self.refused("info", "a.npy:x", says="a.npy:x: there is no such file, and a.npy is an .npy file, which has no arrays with names")
        self.refused("info", "b.npy:x", says="b.npy:x: ")
        self.save("a.npy:x", np.zeros((5, 6)))
        self.assertEqual(self.json("info", "a.npy:x", "--dtype", "f8")["shape"], [30])

    def test_astropy(self):
        fits = self.module("astropy.io.fits")
        arrays = {f"A{i}": self.typed((3, 4, 5)[i % 3:], dtype) for i, dtype in
                  enumerate(["u1", ">i2", ">i4", ">i8", ">f4", ">f8"])}
        table = fits.BinTableHDU.from_columns([fits.Column("x", "D", array=np.arange(3.0))], name="TABLE")
        unsigned = np.arange(12, dtype="u2").reshape(3, 4)
        fits.HDUList([fits.PrimaryHDU(), *(fits.ImageHDU(array, name=name) for name, array in arrays.items()), table,
                      fits.CompImageHDU(np.arange(100, dtype="i4").reshape(10, 10), name="PRESSED"),
                      fits.ImageHDU(unsigned, name="UNSIGNED")]).writeto(self.path("a.fits"))
        for name, array in arrays.items():
            self.transposes(f"a.fits:{name}", array)
        self.refused("info", "a.fits:TABLE", says="a binary table")
        self.refused("info", "a.fits:PRESSED", says="a compressed image; in Python: .*astropy")
        self.assertIn("unsigned", self.json("info", "a.fits:UNSIGNED")["note"])
        self.transposes("a.fits:UNSIGNED", (unsigned.astype("i4") - 32768).astype(">i2"))


class NetCdf(ContainerCase):
    def variables(self, types, records):
        made = {"lat": (("lat",), self.noise((4,), ">f8")), "lon": (("lon",), self.noise((5,), ">f4")),
                "one": ((), self.noise((), "i1"))}
        for dtype in types:
            dtype = dtype if dtype in ["u1", "i1"] else f">{dtype}"
            made[f"fixed {dtype}"] = (("lat", "lon"), self.noise((4, 5), dtype))
        for i in range(records):
            made[f"record{i}"] = (("time", "lat", "lon")[:3 - i], self.noise((3, 4, 5)[:3 - i], [">f4", ">i2", "i1"][i]))
        return made

    def test_variables(self):
        for version in [1, 2, 5]:
            for records in [0, 1, 2, 3]:
                variables = self.variables(TYPES if version == 5 else TYPES[1:6], records)
                self.write("a.nc", containers.netcdf(variables, version))
                strided = {f"record{i}" for i in range(records) if records > 1}
                listed = {a["name"]: a for a in self.json("info", "a.nc")["arrays"]}
                for name in self.few(self.some(variables), 3):
                    dims, array = variables[name]
                    with self.subTest(version=version, records=records, name=name):
                        self.assertEqual((listed[name]["axes"], listed[name]["shape"]), (list(dims), list(array.shape)))
                        self.assertEqual(listed[name]["storage"], "strided" if name in strided else "contiguous")
                        self.transposes(f"a.nc:{name}", array)

    def test_axes_have_names(self):
        array = self.noise((3, 4, 5), ">i2")
        self.write("a.nc", containers.netcdf({"t": (("time", "lat", "lon"), array)}))
        self.transposes("a.nc", array, "--axes", "lon,time,lat", axes=(2, 0, 1))
        self.transposes("a.nc", array, "--axes", "lon,0,-2", axes=(2, 0, 1))
        self.refused("transpose", "a.nc", "b.npy", "--axes", "lon,lat,x",
                     says="--axes: 'x' is not a whole number; the file's axes are time, lat, lon")
        self.write("a.nc", containers.netcdf({"t": (("n", "n"), array[0, :4, :4])}))
        self.refused("transpose", "a.nc", "b.npy", "--axes", "n,n", says="several axes are named n")

    def test_netcdf4(self):
        netcdf = self.module("netCDF4")
        for kind in ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]:
            types = TYPES if kind.endswith("DATA") else TYPES[1:6]
            with netcdf.Dataset(self.path("a.nc"), "w", format=kind) as file:
                file.createDimension("time", None)
                file.createDimension("x", 3)
                arrays = {f"{dtype} {axes}": self.typed((5, 3)[2 - axes:], f">{dtype}") for dtype in types for axes in [1, 2]}
                for name, array in arrays.items():
                    variable = file.createVariable(name, array.dtype.str[1:], ("time", "x")[2 - array.ndim:])
                    variable.set_auto_maskandscale(False)
                    variable[:] = array
                file["i2 2"].scale_factor = 0.5
            for name in self.few(arrays, 5):
                self.transposes(f"a.nc:{name}", arrays[name])
            self.assertIn("scale_factor", self.json("info", "a.nc:i2 2")["note"])

    def test_scipy(self):
        io = self.module("scipy.io")
        for version in [1, 2]:
            for records in [1, 2]:
                with io.netcdf_file(self.path("a.nc"), "w", version=version) as file:
                    file.createDimension("time", None)
                    file.createDimension("x", 3)
                    arrays = {f"r{i}": self.typed((4, 3), dtype) for i, dtype in enumerate([">i2", ">f4"][:records])}
                    arrays["x"] = self.typed((3,), ">f8")
                    for name, array in arrays.items():
                        file.createVariable(name, array.dtype, ("time", "x") if name != "x" else ("x",))[:] = array
                for name, array in arrays.items():
                    self.transposes(f"a.nc:{name}", array)


class Nifti(ContainerCase):
    def test_single_files(self):
        for version in [1, 2]:
            for dtype in self.few(self.some(containers.NIFTI_TYPES), 4):
                for order in "<>":
                    array = self.noise((3, 4, 5), np.dtype(dtype).newbyteorder(order))
                    self.write("a.nii", containers.nifti(array, version, extension=bytes(range(32))))
                    self.transposes("a.nii", array)
        self.assertEqual(self.json("info", "a.nii:data")["order"], "Fortran")
        self.write("a.nii", containers.nifti(array, slope=0.5))
        self.assertIn("scl_slope = 0.5", self.ok("transpose", "a.nii", "b.npy").stderr)

    def test_pairs(self):
        array = self.noise((6, 5, 4, 3), ">f4")
        for version in [1, 2]:
            header, data = containers.nifti(array, version, pair=True)
            self.write("a.hdr", header)
            self.write("a.img", data)
            for name in ["a.img", "a.hdr", "a.img:data"]:
                self.transposes(name, array)
        os.unlink(self.path("a.img"))
        self.refused("info", "a.hdr", says="a.hdr: is only a header; its data should lie beside it.* with .img")

    def test_compressed_ones_are_refused(self):
        self.write("a.nii.gz", gzip.compress(containers.nifti(self.noise((2, 3), "<i2"))))
        self.refused("info", "a.nii.gz", says="a gzip file; decompress it")

    def test_nibabel(self):
        nibabel = self.module("nibabel")
        for kind, suffix in [(nibabel.Nifti1Image, ".nii"), (nibabel.Nifti2Image, ".nii"), (nibabel.Nifti1Pair, ".img")]:
            for dtype in ["u1", "<i2", "<f4", "<f8", "<i4", "<c8"]:
                array = self.typed((4, 5, 6), dtype)
                nibabel.save(kind(array, np.eye(4), dtype=array.dtype), self.path("a" + suffix))
                self.transposes("a" + suffix, nibabel.load(self.path("a" + suffix)).dataobj.get_unscaled())
                self.assert_same(transposed(self.load("out.npy")), array)


class Envi(ContainerCase):
    def test_interleaves_types_and_names(self):
        for dtype in self.few(self.some(containers.ENVI_TYPES), 4):
            for order, interleave, offset, name, header in [("<", "bsq", 0, "x.img", "x.hdr"), (">", "bil", 10, "x.dat", "x.hdr"),
                                                            ("<", "bip", 4096, "x", "x.hdr"), (">", "bsq", 1, "x.img", "x.img.hdr")]:
                array = self.noise((3, 4, 5), np.dtype(dtype).newbyteorder(order))
                self.write(header, containers.envi(array, interleave, offset))
                self.write(name, bytes(offset) + array.tobytes())
                for given in [name, header, name + ":data"]:
                    self.transposes(given, array)
                os.unlink(self.path(name))
                os.unlink(self.path(header))

    def test_axes_have_names(self):
        array = self.noise((3, 4, 5), "<u2")
        self.write("x.hdr", containers.envi(array, "bil"))
        self.save("x.img", array)
        self.transposes("x.img", array, "--axes", "lines,samples,bands", axes=(0, 2, 1))
        self.transposes("x.img", array, "--axes", "bands,lines,samples", axes=(1, 0, 2))
        self.assertIn("axes    lines, bands, samples\n", self.ok("info", "x.img:data").stdout)
        self.ok("transpose", "x.img", "kept.npy", "--select", "::-1", "--axes", "lines,samples,bands")
        self.assert_same(self.load("kept.npy"), np.ascontiguousarray(array[::-1].transpose(0, 2, 1)))
        self.refused("transpose", "x.img", "b.npy", "--select", "0", "--axes", "lines,samples", says="'lines' is not a whole number")

    def test_a_header_beside_out_is_noted(self):
        array = self.noise((3, 4, 5), "<u2")
        self.save("a.npy", array)
        self.write("x.hdr", containers.envi(array, "bil"))
        self.assertIn("x.hdr: lies beside x.raw, and will be taken for its header", self.ok("transpose", "a.npy", "x.raw").stderr)
        self.assertNotIn("lies beside", self.ok("transpose", "a.npy", "y.raw").stderr)
        self.assertNotIn("lies beside", self.ok("transpose", "a.npy", "x.npy").stderr)

    def raster(self, dtype="<u2", interleave="bil"):
        """A raster x.img with a header that says much."""
        array = self.noise((3, 4, 5), dtype)
        self.write("x.hdr", containers.envi(array, interleave) + "MAP INFO = {UTM, 1, 1,\n 5}\nWavelength = {1, 2,\n 3, 4}\ngain = 2")
        self.save("x.img", array)
        return array

    def test_raw_outputs_have_headers(self):
        for interleave, names in [("bsq", ("bands", "lines", "samples")), ("bil", ("lines", "bands", "samples")),
                                  ("bip", ("lines", "samples", "bands"))]:
            array = self.raster(self.random.choice(["<u2", ">f4", "<c16", "|u1"]), interleave)
            outputs = [("b.bsq", []), ("b.raw", ["--byte-order", "big"]), ("b.img", ["--out-order", "F"])]
            every = list(itertools.product(itertools.permutations(names), outputs))
            for i in self.few(range(len(every)), 5):
                axes, (name, options) = every[i]
                order = axes[::-1] if options[:1] == ["--out-order"] else axes
                said = self.ok("transpose", "x.img", name, "--axes", ",".join(axes), *options, "--force")
                self.assertEqual(said.stderr.count("note"), 0, said.stderr)
                info = self.json("info", name + ":data")
                self.assertEqual((info["format"], info["rest"]), ("envi", 0))
                # The slower of the two axes of a band is called lines.
                self.assertEqual([axis if axis == "bands" else "place" for axis in order],
                                 [axis if axis == "bands" else "place" for axis in info["axes"]])
                self.assertLess(info["axes"].index("lines"), info["axes"].index("samples"))
                self.ok("transpose", name, "back.npy", "--axes", "0,1,2", "--force")
                back = self.load("back.npy")
                expected = array.transpose([names.index(axis) for axis in order])
                if "big" in options:
                    self.assertEqual(back.dtype, array.dtype.newbyteorder(">"))
                    expected = expected.astype(back.dtype)
                self.assert_same(back, np.ascontiguousarray(expected))
                header = self.bytes_of("b.hdr").decode("ascii")
                self.assertIn("description = {\n  samples = 7, by\n  a test}\n", header)
                self.assertTrue(header.endswith("Wavelength = {1, 2,\n 3, 4}\ngain = 2\n"), header)
                self.assertEqual("MAP INFO = {UTM, 1, 1,\n 5}\n" in header, order.index("lines") < order.index("samples"))

    def test_virtual_processors_write_headers_too(self):
        array = self.noise((4, 8, 16), "<u2")
        self.write("x.hdr", containers.envi(array, "bil"))
        self.save("x.img", array)
        self.ok("transpose", "x.img", "a.raw")
        self.ok("machine", "transpose", "x.img", "b.raw", "--schedule", "rounds")
        self.assertEqual(self.bytes_of("a.hdr"), self.bytes_of("b.hdr"))

    def test_headers_say_only_what_is_still_true(self):
        array = self.raster()
        for options, places, bands in [
                (["--select", ":, 1:, :"], True, False), (["--select", ":, ::-1"], True, False), (["--select", "1:"], False, True),
                (["--select", "..., ::-1"], False, True)]:
            self.ok("transpose", "x.img", "b.raw", "--axes", "0,1,2", *options, "--force")
            header = self.bytes_of("b.hdr").decode("ascii")
            self.assertEqual(("MAP INFO" in header, "Wavelength" in header, "band names" in header), (places, bands, bands))
            self.ok("verify", "transpose", "x.img", "b.raw", "--axes", "0,1,2", *options)
        self.ok("bitreverse", "x.img", "b.raw", "--axis", "1", "--force")  # the bands
        header = self.bytes_of("b.hdr").decode("ascii")
        self.assertEqual(("MAP INFO" in header, "Wavelength" in header, "gain" in header), (True, False, True))
        self.ok("transpose", "b.raw", "back.npy", "--axes", "0,1,2")
        self.assert_same(self.load("back.npy"), np.ascontiguousarray(array[:, [0, 2, 1, 3]]))

    def test_results_without_headers(self):
        self.raster()
        for options in [["--select", "0"], ["--out-shape", "60"], ["--axes", "0,1,2", "--out-shape", "4,5,3"]]:
            said = self.ok("transpose", "x.img", "b.raw", *options, "--force")
            self.assertRegex(said.stderr, "note: .*no ENVI header, since it is not known which axes are lines, samples and bands")
        self.ok("transpose", "x.img", "b.npy")
        self.assertFalse(os.path.exists(self.path("b.hdr")))

    def test_the_header_of_out_is_refused_where_it_exists(self):
        self.raster()
        self.refused("transpose", "x.img", "x.raw", says="x.hdr: ")
        self.refused("transpose", "x.img", "x.raw", "--force", says="x.hdr: is the same file as the input x.hdr")
        self.write("b.hdr", "mine")
        self.refused("transpose", "x.img", "b.raw", says="b.hdr: exists")
        self.ok("transpose", "x.img", "b.raw", "--force")
        os.unlink(self.path("b.raw"))
        self.ok("transpose", "x.img", "b.raw")  # the header says the same: a run that was killed may have left it
        os.unlink(self.path("b.hdr"))
        self.refused("transpose", "x.img", "b.raw", says="b.raw: exists")
        self.assertFalse(os.path.exists(self.path("b.hdr")))
        self.ok("transpose", "x.img", "c.raw", "--dry-run")
        self.assertFalse(os.path.exists(self.path("c.hdr")))

    def test_json_tells_the_layout(self):
        self.raster()
        for more in [[], ["--dry-run"]]:
            told = self.json("transpose", "x.img", "b.npy", "--select", "::-1", *more, "--force")["inputs"]
            self.assertEqual([(one["path"], one["format"], one["shape"], one["strides"], one["offset"], one["axes"]) for one in told],
                             [("x.img", "envi", [3, 4, 5], [-40, 10, 2], 80, ["lines", "bands", "samples"])])

    def test_headers_without_their_files(self):
        array = self.noise((3, 4, 5), "<u2")
        self.write("x.hdr", containers.envi(array, "bil"))
        self.refused("info", "x.hdr", says="x.hdr: is only a header; its data should lie beside it")
        self.save("x.img", array)
        self.save("x.dat", array)
        self.refused("info", "x.hdr", says="x.hdr: is a header of x.img or of x.dat; name the file with the data")
        self.transposes("x.dat", array)
        self.write("x.img", array.tobytes()[:-1])
        self.refused("info", "x.img:data", says="x.img:data: truncated: it takes 120 bytes from byte 0 on, the file has 119")
        self.write("x.hdr", "ENVI\nsamples = 3\n")
        self.refused("info", "x.img", says="x.hdr: corrupt ENVI header: there is no 'data type'")
        self.ok("transpose", "x.dat", "y.npy", "--dtype", "u1")  # whoever gives a type means a raw file
        self.write("x.hdr", "no header\n")
        self.refused("info", "x.img", says="x.img: not an .npy file; for a raw file give its dtype and shape")

    def test_headers_are_not_overwritten(self):
        array = self.noise((3, 4, 5), "<u2")
        self.write("x.txt", containers.envi(array, "bil"))
        os.link(self.path("x.txt"), self.path("x.hdr"))
        self.save("x.img", array)
        self.refused("transpose", "x.img", "x.txt", "--force", says="x.txt: is the same file as the input x.hdr")
        self.refused("transpose", "x.img", "b.npy", "--force", "--trace", "x.txt", says="the same file")

    def test_spectral(self):
        envi = self.module("spectral.io.envi")
        array = self.typed((4, 5, 3), "<f4")  # lines, samples, bands
        for interleave, axes in [("bsq", (2, 0, 1)), ("bil", (0, 2, 1)), ("bip", (0, 1, 2))]:
            envi.save_image(self.path("x.hdr"), array, dtype=array.dtype, interleave=interleave, ext="img", force=True)
            self.transposes("x.img", np.transpose(array, axes))


if __name__ == "__main__":
    main()
