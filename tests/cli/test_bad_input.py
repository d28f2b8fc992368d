#!/usr/bin/python3
"""Bad input is refused with exit code 2 and one line that says what is wrong and where, before any output exists; an
output that existed is untouched."""

import bz2
import gzip
import json
import lzma
import math
import os
import shutil
import socket
import struct
import zipfile

import harness
from harness import Case, main, np, rounds, tally


def npy(descr="'<f8'", shape="(2, 3)", order="False", version=(1, 0), data=48, header=None, length=None, end=""):
    """The bytes of an .npy file, damaged as one likes."""
    if header is None:
        header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {end}}}"
    header = header if isinstance(header, bytes) else header.encode("latin1")
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    size = struct.pack("<H" if version[0] == 1 else "<I", len(header) if length is None else length)
    return b"\x93NUMPY" + bytes(version) + size + header + bytes(data)


class BadInput(Case):
    in_memory = True

    def setUp(self):
        super().setUp()
        self.save("a.npy", np.arange(24.0).reshape(4, 6))
        self.save("b.npy", np.arange(32.0).reshape(2, 16))
        self.write("a.raw", bytes(1000))
        self.write("old.npy", "precious")

    def bad(self, *args, says=(), **options):
        """Refused, with an old output or without one; with sanitizers, where a launch takes long, one call in four. `says`
        includes what names the place: a path, an option."""
        outputs = [("out.npy",), ("old.npy", "--force")]
        for output in self.sample(outputs, int(not harness.SANITIZED or self.random.integers(4) == 0)):
            with self.subTest(args=args, output=output):
                try:
                    self.refused(*args, *output, says=says, **options)
                except AssertionError:  # what was wrongly made must not confuse the next
                    if os.path.exists(self.path("out.npy")):
                        os.unlink(self.path("out.npy"))
                    raise

    def test_wrong_usage(self):
        cases = [((), ["subcommand", r"\(see xorder --help\)"]), (("frobnicate",), ["'frobnicate'", "transpose", r"\(see xorder --help\)"]),
                 (("schedule", "frob"), ["'frob'", "exchange", r"\(see xorder schedule --help\)"]),
                 (("descend",), r"\(see xorder descend --help\)"), (("descend", "frob", "a", "b"), ["'frob'", "scan"]),
                 (("descend", "scan"), r"\(see xorder descend scan --help\)"), (("transpose",), r"\(see xorder transpose --help\)"),
                 (("transpose",), "IN"),
                 (("transpose", "a.npy"), "OUT"), (("transpose", "a.npy", "b.npy", "c.npy"), "3 files are named.* one IN; .*--banded"),
                 (("bitreverse", "a.npy", "b.npy", "c.npy"), r"c\.npy"),
                 (("transpose", "a.npy", "out", "--frobnicate"), r"unknown option --frobnicate \(see"),
                 (("--memory", "1G", "transpose", "a.npy", "out"), "unknown option --memory; options follow the name of a command"),
                 (("machin", "transpose", "a.npy", "out"), "'machin' is not a command; the commands are: transpose"),
                 (("machine", "x", "transpose", "a.npy", "out"), r"'x' is not a command; .*\(see xorder machine --help"),
                 (("transpose", "-m.npy", "out"), r"unknown option -m\.npy; .*\./-m\.npy \(see"),
                 (("bitreverse", "a.npy", "out", "-m", "1"), "unknown option -m;"),
                 (("transpose", "--", "-m.npy"), "OUT"), (("transpose", "--", "-m.npy", "out"), r"-m\.npy: cannot be read: No such file"),
                 (("transpose", "a.npy", "out", "--axis", "1"), "--axis"),
                 (("transpose", "a.npy", "out", "--memory"), "--memory"),
                 (("transpose", "a.npy", "out", "--memory", "1G", "--memory", "2G"), "--memory"),
                 (("permute", "a.npy", "out"), "--by.*--matrix"),
                 (("permute", "a.npy", "out", "--by", "gray", "--matrix", "m"), "--matrix"),
                 (("info",), "FILE"), (("show",), "EXPR"), (("show", "gray"), "--bits")]
        for args, says in self.few(cases, 10):
            with self.subTest(args=args):
                self.refused(*args, says=says)

    def test_lists_with_blanks(self):
        for args in self.few([("transpose", "a.raw", "out", "--dtype", "u1", "--shape", "10", "100"),
                              ("transpose", "--dtype", "u1", "--shape", "10", "100", "a.raw", "out"),
                              ("transpose", "--axes", "1", "0", "a.npy", "out"), ("transpose", "a.npy", "out", "--axes", "1", "-2"),
                              ("bitreverse", "a.raw", "out", "--dtype", "u1", "--shape", "1000,", "1"),
                              ("info", "a.raw", "--dtype", "u1", "--shape", "10", "100")], 2):
            with self.subTest(args=args):
                self.refused(*args, says=["'(0|1|-2|100)' is one word too many", "--shape 12,7", r"\(see xorder \w+ --help\)"])

    def test_values_out_of_range(self):
        for option, values, says in [
                ("--threads", ["0", "-1", "1025", "1.5", "many", "99999999999999999999"], "--threads"),
                ("--io", ["fast", ""], "--io"), ("--progress", ["yes", ""], "--progress"),
                ("--device", ["floppy", ""], "--device"), ("--device", ["a.raw"], "a.raw"),
                ("--axes", ["0", "0,0", "0,1,2", "a,b", "1.0,0", ",", "99999999999,0"], "axes"),
                ("--axes", ["0,2", "0,-3", "-3,0"], "no axis -?[23]")]:
            for value in self.few(values, -(-len(values) // 3)):
                self.bad("transpose", "a.npy", option, value, says=says)
        for value in self.few(["2", "-3", "x", "1.0", "99999999999"], 2):
            self.bad("bitreverse", "b.npy", "--axis", value, says="axis")
            self.bad("permute", "b.npy", "--by", "gray", "--axis", value, says="axis")

    def test_empty_values(self):
        """As scripts give them whose variable is not set."""
        for option in self.few(["--memory", "--threads", "--tmpdir", "--axes"], 2):
            self.bad("transpose", "a.npy", option, "", says=option)
        for option in ["--dtype", "--shape", "--offset"]:
            self.bad("transpose", "a.raw", *(() if option == "--dtype" else ("--dtype", "u1")), option, "", says=option)
        self.bad("bitreverse", "b.npy", "--axis", "", says="axis")
        self.bad("permute", "b.npy", "--by", "gray", "--axis", "", says="axis")
        for command, options in {
                ("info", "a.raw"): ["--dtype", "--shape", "--offset"],
                ("show", "gray", "--bits", "4"): ["--matrix", "--block", "--memory", "--svg"],
                ("schedule", "bmmc", "--by", "gray", "--bits", "4", "--processors", "4"): ["--layout", "--svg"],
                ("schedule", "isotropic"): ["--tags"], ("schedule", "exchange", "--dimension", "2"): ["--kind"],
                ("schedule", "banded"): ["--dimension", "--beta", "--bandwidth", "--columns", "--processors"]}.items():
            for option in self.few(options, 1):
                self.refused(*command, option, "", says=f"{option}: ")

    def test_numbers_are_decimal(self):
        cases = [(("show", "gray", "--bits", "010"), "bits", 10), (("show", "gray", "--bits", "08"), "bits", 8),
                 (("show", "gray", "--bits", "5", "--block", "016"), "block", 16), (("schedule", "mesh", "--size", "011"), "nodes", 121),
                 (("schedule", "exchange", "--dimension", "03"), "nodes", 8),
                 (("schedule", "descend", "--dimension", "2", "--per-node", "010", "--ascend"), None, None),
                 (("schedule", "bmmc", "--by", "gray", "--bits", "08", "--processors", "010"), None, None)]
        for args, key, value in self.few(cases, 3):
            result = self.run_xorder(*args, "--json")
            if key is None:  # ten is no power of two, and eight is one
                self.assertEqual(result.returncode, 2, args)
            else:
                self.assertEqual(json.loads(result.stdout)[key], value, args)
        for option in self.few([("--bits", "0x8"), ("--bits", "0b1"), ("--bits", "1e1"), ("--bits", "-8"), ("--bits", "8.0")], 2):
            self.refused("show", "gray", *option, says=option[0])
        self.refused("schedule", "mesh", "--size", "-8", says="--size")

    def test_scratch_directories(self):
        for value, says in {"missing": "No such file", "a.raw": "Not a directory"}.items():
            self.bad("transpose", "a.npy", "--tmpdir", value, says=[value, "scratch", says])
            self.bad("transpose", "a.npy", "--tmpdir", value, "--dry-run", says=value)

    def test_devices_that_are_no_files(self):
        os.mkfifo(self.path("fifo"))
        for name, says in {".": "directory", "fifo": "FIFO", "/dev/zero": "device"}.items():
            self.bad("transpose", "a.npy", "--device", name, says=["--device", name, says], timeout=10)
            self.refused("schedule", "isotropic", "--tags", name, says=[name, says], timeout=10)
            self.refused("show", "--matrix", name, says=[name, says], timeout=10)
        self.write("huge", bytes((1 << 20) + 1))
        self.bad("transpose", "a.npy", "--device", "huge", says=["huge", "1048577", "1048576"])
        self.refused("schedule", "isotropic", "--tags", "huge", says=["huge", "1048577"])

    def test_memory(self):
        for value in self.few(["lots", "1e400", "nan", "inf", "0x1000000000", "64 MiB x", "MiB", "1GiBB", "--", "+"], 3):
            self.bad("transpose", "a.npy", "--memory", value, says="--memory")
        for value in self.few(["1073741824.5", "1.5.5GiB", "5.GiB", "."], 1):
            self.bad("transpose", "a.npy", "--memory", value, says="--memory")
        good = {"0.1GiB": 107374182, ".05G": 53687091, " 62.5 MiB ": 65536000, "64.0m": 64 << 20, "0.02GB": 20_000_000, "16777217": 16777217,
                "16mib": 16 << 20, "16m": 16 << 20, "16MIB": 16 << 20, "17mb": 17_000_000, "17Mb": 17_000_000,
                "0.1gib": 107374182, "20000 kib": 20000 << 10}
        for value, memory in self.few(good.items(), 4):
            self.assertEqual(self.json("transpose", "a.npy", "x.npy", "--dry-run", "--memory", value)["memory"], memory)
        for value in self.few(["0", "-5", "-2GiB", "0MiB"], 2):
            self.bad("transpose", "a.npy", "--memory", value, says=["--memory", "zero|negative"])
        for value in self.few(["1", "1KiB", "16777215", "15MiB"], 2):
            self.bad("transpose", "a.npy", "--memory", value, says=["memory", "16 ?MiB"])
        self.bad("transpose", "a.npy", "--memory", "16777215", says=["16777215 bytes", "16777216 bytes"])
        for value in self.few(["8EiB", "99999999999999999999999"], 1):
            self.bad("transpose", "a.npy", "--memory", value, says=["--memory", "large"])

    def test_inputs_that_are_no_files(self):
        os.mkfifo(self.path("fifo"))
        with socket.socket(socket.AF_UNIX) as listener:
            here = os.getcwd()
            os.chdir(self.dir)  # as names of sockets must be short
            listener.bind("socket")
            os.chdir(here)
        os.symlink("nowhere", self.path("dangling"))
        os.symlink("circle", self.path("circle"))
        cases = {"missing.npy": "No such file", ".": "directory", "fifo": "FIFO", "socket": "socket", "/dev/zero": "device",
                 "dangling": "No such file", "circle": "symbolic links", "a.npy/x": "Not a directory", "x" * 300: "too long", "-": "not on pipes"}
        for name, says in self.few(cases.items(), 5):
            self.bad("transpose", name, "--dtype", "u1", says=[name.replace(".", r"\."), says])
            with self.subTest(info=name):
                self.refused("info", name, "--dtype", "u1", says=says)
        self.bad("transpose", "", says="empty")

    def test_unreadable_input(self):
        if os.geteuid() != 0:
            os.chmod(self.path("a.npy"), 0)
            self.bad("transpose", "a.npy", says=[r"a\.npy", "Permission denied"])
            return
        # To the superuser nothing is unreadable, and another user may not be able to reach the program.
        os.chmod(self.dir, 0o777)
        os.chmod(self.path("a.npy"), 0)
        shutil.copy(harness.XORDER, self.path("xorder"))
        self.addCleanup(setattr, harness, "XORDER", harness.XORDER)
        harness.XORDER = self.path("xorder")
        self.bad("transpose", "a.npy", says=[r"a\.npy", "Permission denied"], user=65534, group=65534)

    def test_sizes_that_do_not_fit(self):
        raw = ("transpose", "a.raw", "--dtype")
        cases = [(("u1", "--shape", "10,101"), (1000, 1010)), (("u1", "--shape", "10,99"), (1000, 990)),
                 (("f8", "--shape", "25,5", "--offset", "1"), (1000, 1001)), (("V3",), (1000, 3)), (("u1", "--offset", "1001"), (1000, 1001)),
                 (("f8", "--shape", "0,5"), (1000, 0)), (("V2147483647",), (1000, 2147483647))]
        for args, numbers in self.few(cases, 4):
            self.bad(*raw, *args, says=[r"a\.raw", *(rf"\b{n}\b" for n in numbers)])

    def test_offsets(self):
        for offset in ["-8", "x", "18446744073709551616", "1e3"]:
            self.bad("transpose", "a.raw", "--dtype", "u1", "--offset", offset, says="--offset")

    def test_offsets_are_whole_numbers_from_0_on(self):
        for offset in self.few(["1.5", "0.9", "1.0", "1.5B", "0.1KiB", "1.0001KB", ".", "1.", "1.2.3K", "9223372036854775808", "8EiB"], 4):
            self.bad("transpose", "a.raw", "--dtype", "u1", "--offset", offset, says="--offset")
        self.bad("transpose", "a.raw", "--dtype", "u1", "--offset", 2**53 + 1, says=[r"a\.raw", str(2**53 + 1), "1000"])
        for offset in self.few(["0", "00", "0KiB", " 0 ", "0.0K"], 2):
            self.ok("transpose", "a.raw", "out.raw", "--dtype", "u1", "--offset", offset, "--force")
        # Whose place is said, as nothing is there.
        places = {str(2**63 - 1): 2**63 - 1, "1.5GiB": 3 << 29, "0.0625K": 64, ".001MB": 1000, "0.57KB": 570, "1.25 EiB": 5 << 58,
                  "7.999999999999999999EB": 8 * 10**18 - 1}
        for offset, place in self.few(places.items(), 4):
            if place > 1000:
                self.bad("transpose", "a.raw", "--dtype", "u1", "--offset", offset, says=[r"a\.raw", rf"\b{place}\b", "1000"])
            else:
                self.assertEqual(self.json("info", "a.raw", "--dtype", "u1", "--offset", offset)["offset"], place)

    def test_raw_files_need_a_dtype_and_npy_files_have_one(self):
        self.bad("transpose", "a.raw", says=[r"a\.raw", "--dtype"])
        self.bad("transpose", "a.raw", "--shape", "10,100", says=[r"a\.raw", "--dtype"])
        for option in [("--dtype", "f8"), ("--order", "F"), ("--strides", "48,8"), ("--offset", "128")]:
            self.bad("transpose", "a.npy", *option, says=[r"a\.npy", "--dtype"])

    def test_one_thing_is_not_said_in_the_plural(self):
        self.write("one", "1")
        self.write("line", "10\n")
        self.write("row", "1\n")
        self.write("packet", "0\n")
        cases = [(("info", "one", "--dtype", "u1", "--offset", "2"), "the file's 1 byte$"),
                 (("info", "one", "--dtype", "u2"), "the file has 1 byte, .* 2 bytes"),
                 (("info", "one", "--dtype", "u1", "--shape", "2"), "the file has 1 byte, .* 1 byte × shape"),
                 (("show", "--matrix", "line"), "1 row and 2 columns"),
                 (("show", "--matrix", "row", "--bits", "2"), "the matrix has 1 row, "),
                 (("permute", "a.npy", "out", "--matrix", "row", "--axis", "0"), "is for 1 bit, "),
                 (("show", "morton(2)", "--bits", "1"), "the index has 1 bit, "),
                 (("schedule", "task", "--dimension", "2", "--packets", "packet"), "line 1: 1 number;")]
        for args, says in self.few(cases, 4):
            self.refused(*args, says=says)
        self.write("packet", "0 0 1 0\n")
        self.assertIn("\n1 packet on 2^2 nodes", self.ok("schedule", "task", "--dimension", "2", "--packets", "packet").stdout)
        self.ok("transpose", "a.raw", "b.raw", "--dtype", "f8", "--shape", "25,5", "--io", "direct", "--trace", "trace")
        self.assertRegex(self.ok("report", "trace").stdout, r"written +1000 B in 1 request of ")
        self.write("tags", "01\n")
        self.assertIn("\n1 packet per node", self.ok("schedule", "isotropic", "--tags", "tags").stdout)

    def test_files_of_known_formats(self):
        """They are called by their names, with a way to their arrays; whoever gives a type means a raw file."""
        def at(offset, magic):
            return bytes(offset) + magic + bytes(3000)

        with zipfile.ZipFile(self.path("empty.zip"), "w"):
            pass
        np.savez(self.path("k.npz"), x=np.zeros(4))
        hdf5 = b"\x89HDF\r\n\x1a\n"
        others = [
            (self.bytes_of("k.npz"), r": is a zip archive, as \.npz files are; unzip it and use the \.npy files in it$"),
            (self.bytes_of("empty.zip"), "zip archive"), (gzip.compress(b"a" * 99), "a gzip file; decompress it: gunzip -k$"),
            (bz2.compress(b"a"), "a bzip2 file"), (lzma.compress(b"a"), "an xz file"), (at(0, b"\x28\xb5\x2f\xfd"), "a Zstandard file"),
            *((at(0, magic), "a TIFF file; .*tifffile.*--offset") for magic in [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"]),
            (at(0, b"PAR1"), r"a Parquet file; .*pyarrow[^-]*$"), (at(0, b"MATLAB 5.0 MAT-file, Platform"), r"a MATLAB file; .*loadmat[^-]*$")]
        self.write("k.raw", "")
        for content, says in self.few(others, 5):
            for name in self.few(["k.raw", "k"], 1):
                self.write(name, content)
                self.refused("info", name, says=[f"{name}: is ", says])
                self.refused("info", name, "--shape", "2,2", says=says)
                self.assertEqual(self.json("info", name, "--dtype", "u1")["shape"], [len(content)])
            self.write("k", content)
            self.bad("transpose", "k", says=says)
        os.unlink(self.path("k.raw"))
        known = [  # those that are read: with a header that makes no sense, and as raw files
                 *((at(0, b"CDF" + version), "k: has no array that can be read") for version in [b"\1", b"\2", b"\5"]),
                 (at(0, b"SIMPLE  =                    T"), "k: HDU 0: truncated"),
                 (at(344, b"n+1\0"), "k: corrupt NIfTI header: its size is neither"), (at(344, b"ni1\0"), "k: is only a header"),
                 (at(0, b"ENVI\n"), "k: is only a header"),
                 *((at(offset, hdf5), "k: damaged: libhdf5: |k: is an HDF5 file; .*h5dump .*--offset") for offset in [0, 512, 1024, 2048])]
        for content, says in self.few(known, 5):
            self.write("k", content)
            self.refused("info", "k:0", says=says)
            self.bad("transpose", "k", says=says)
            self.assertEqual(self.json("info", "k", "--dtype", "u1")["shape"], [len(content)])
        for content in self.few([at(1, hdf5), at(343, b"n+1\0"), b"PK", b"", b"II*", hdf5[:-1], at(4096, hdf5)], 3):
            self.write("k", content)
            self.refused("info", "k", says="k: not an .npy file; for a raw file give its dtype and shape")

    def test_names_of_formats_that_are_not_written(self):
        """Said before anything else, so that nobody waits for it."""
        for suffix in self.few("npz zip gz tgz bz2 xz zst nc cdf fits fit fts tif tiff parquet mat nii hdr zarr TIFF".split(), 10):
            name = f"out.{suffix}"
            says = rf"{name}: \.{suffix} means an? .*which is not written; a name may end in \.npy, \.raw, \.bin, \.dat,"
            for args in self.few([("transpose", "a.npy"), ("transpose", "missing"), ("transpose", "a.raw", "--dtype", "u1"),
                                  ("bitreverse", "b.npy"), ("permute", "b.npy", "--by", "gray"), ("descend", "scan", "b.npy")], 2):
                self.refused(*args, name, says=says)
        self.refused("transpose", "a.npy", "a.npy.gz", says="gzip")
        for name in self.few(["out.h5x", "out", "h5", "out.h5.x", ".h5"], 2):  # these mean nothing
            self.ok("transpose", "a.npy", name)
            os.unlink(self.path(name))

    def test_shapes(self):
        for shape in self.few(["9223372036854775808", "4294967296,4294967296", "3037000500,3037000500", "2," * 62 + "2"], 2):
            self.bad("transpose", "a.raw", "--dtype", "u1", "--shape", shape, says="2\\^63")
        self.bad("transpose", "a.raw", "--dtype", "V1000000", "--shape", "9300000000000", says="2\\^63")
        for shape in self.few(["-1,-1", "-1,2,-1", "10,-100", "10,-2", "-", "ten", "10x", "x100", "10xx100", "10X100", ",", "10,,100", "1.0",
                               "18446744073709551616"], 5):
            self.bad("transpose", "a.raw", "--dtype", "u1", "--shape", shape, says="--shape")

    def test_shapes_that_no_extent_completes(self):
        for dtype, shape in [("u1", "3,-1"), ("f8", "2,-1"), ("u1", "0,-1"), ("u1", "1001,-1"), ("u1", "-1,9223372036854775807")]:
            self.bad("transpose", "a.raw", "--dtype", dtype, "--shape", shape, says=[r"a\.raw", r"\b1000\b", "-1"])
        self.bad("transpose", "a.raw", "--dtype", "f8", "--shape", "-1,9223372036854775807", says="2\\^63")
        self.bad("transpose", "a.npy", "--shape", "-1,7", says=[r"a\.npy: --shape: cannot reshape", "-1,7"])

    def test_shapes_that_numpy_has_not(self):
        self.write("empty", "")
        for shape in ["18446744073709551615,0", "9223372036854775808,0", "0,4294967296,4294967296"]:
            self.bad("transpose", "empty", "--dtype", "u1", "--shape", shape, says="2\\^63")
        self.ok("transpose", "empty", "out.npy", "--dtype", "u1", "--shape", "0,4294967296,2147483647")
        self.assertEqual(self.load("out.npy").shape, (2147483647, 4294967296, 0))
        os.unlink(self.path("out.npy"))
        self.write("one", "1")
        self.bad("transpose", "one", "--dtype", "u1", "--shape", "1," * 65, says="64")

    def test_sizes_at_the_limits(self):
        """Where 31, 32, 63 and 64 bits end, rank 0, 64 and 65: what NumPy could have is planned for, and all else is refused."""
        edges = [2**bits + by for bits in (31, 32, 63, 64) for by in (-1, 0, 1)]
        for _ in range(rounds(6, 400)):
            rank = int(self.random.choice([0, 1, 2, 3, 64, 65]))
            shape = [1] * rank
            for axis in self.random.integers(0, max(rank, 1), min(rank, 3)):
                shape[axis] = int(self.random.choice([0, 1, 2, 3, *edges * 2]))
            width = int(self.random.choice([1, 3, 8, 4096, 2**31 - 1]))
            text = ",".join(map(str, shape)) if shape else "()"
            fits = rank <= 64 and math.prod(max(e, 1) for e in shape) * width < 2**63
            size = math.prod(shape) * width
            header = npy(f"'|V{width}'", str(tuple(shape)), data=0)
            for name, content, layout in [("s.npy", header, ()), ("s.raw", b"", ("--dtype", f"V{width}", "--shape", text))]:
                with self.subTest(name=name, shape=text, width=width):
                    self.write(name, content)
                    if fits:
                        try:
                            os.truncate(self.path(name), len(content) + size)
                        except (OSError, OverflowError):
                            continue  # more than this file system has
                        self.assertEqual(self.json("info", name, *layout)["bytes"], size)
                        self.assertEqual(self.json("transpose", name, "out.raw", *layout, "--dry-run")["bytes"], size)
                    else:
                        for command in ("info",), ("transpose", "--dry-run"):
                            self.refused(*command, name, *layout, *(["out.npy"] if len(command) > 1 else []), says=r"2\^63|at most 64|too large")
                    os.unlink(self.path(name))
        tally(2 * rounds(6, 400), "shapes and sizes at 2^31, 2^32, 2^63, 2^64 and of rank 0, 64, 65, raw and .npy")

    def test_dtypes(self):
        for dtype in self.few(["f9", "<f1", "float65", ">float64", "u3", "doubles", "<", "f8,f8", "M8[fortnight]", "S-1", "'f8'"], 4):
            self.bad("transpose", "a.raw", "--dtype", dtype, says=["u1 .*f8 .*c16.*float64"])
        for dtype in self.few(["O", "O8", "|O"], 1):
            self.bad("transpose", "a.raw", "--dtype", dtype, says="objects")
        for dtype in self.few(["V0", "S0", "U0", "S", "str"], 2):
            self.bad("transpose", "a.raw", "--dtype", dtype, says="no bytes")
        for dtype in self.few(["V2147483648", "U1000000000", "V99999999999999999999"], 1):
            self.bad("transpose", "a.raw", "--dtype", dtype, says="2147483647")

    def test_not_powers_of_two(self):
        for args, says in [(("bitreverse", "a.npy"), ["axis 1 is 6", "4 and 8"]),
                           (("permute", "a.npy", "--by", "gray"), ["24", "16 and 32"]),
                           (("permute", "a.npy", "--by", "gray", "--axis", "-1"), ["axis 1 is 6", "4 and 8"]),
                           (("bitreverse", "a.raw", "--dtype", "u1"), ["axis 0 is 1000", "512 and 1024"]),
                           (("permute", "a.raw", "--by", "reverse", "--dtype", "u8"), ["125", "64 and 128"])]:
            self.bad(*args, says=says)
        self.write("empty", "")
        self.bad("bitreverse", "empty", "--dtype", "u1", says=["axis 0 is 0"])
        self.save("scalar.npy", np.array(5.0))
        self.bad("bitreverse", "scalar.npy", says="axis")

    def test_expressions(self):
        cases = {"frob": "character 1.*frob.*identity.*bitreverse.*morton", "": "--by", " ": "name",
                 "gray *": "character 7", "gray gray": "character 6", "(gray": "\\)", "gray^": "number", "gray^18446744073709551616": r"2\^64",
                 "transpose(2,2)": "sum.*5", "transpose(5)": "transpose", "morton(2)": "multiple of 2", "morton(0)": "morton",
                 "xor(32)": "5 bits", "xor(-1)": "xor", "xor(0x)": "xor|number", "bits(0,1,2,3)": "5 numbers.*4",
                 "bits(0,1,2,3,3)": "3", "bits(0,1,2,3,5)": "5", "rotate": "rotate", "rotate(x)": "character 8",
                 "gray(1)": "gray", "(" * 200 + "gray" + ")" * 200: "nested", "gray*" * 3000 + "gray": "characters",
                 "\u00e9": "character 1"}
        for text, says in self.few(cases.items(), 9):
            self.bad("permute", "b.npy", "--by", text, says=says)
            if text:
                self.refused("show", text, "--bits", "5", says=says)

    def test_matrices(self):
        cases = {"11000\n11000\n00100\n00010\n00001\n": "singular.*rank is 4.*5", "": "rows",
                 "10\n01\n": "2 bits.*2\\^5", "10\n0\n": "line 2", "10\n02\n": "line 2, column 2", "10\n01\n11\n": "line 3",
                 "100\n010\n": "2 rows and 3 columns", "10\n01\nc 111\n": "line 3", "10\n01\nc 10\nc 01\n": "line 4",
                 "c 10\n": "line 1", "0" * 70: "column 63", "x": "line 1, column 1"}
        for text, says in self.few(cases.items(), 5):
            self.write("matrix", text)
            self.bad("permute", "b.npy", "--matrix", "matrix", says=["matrix", says])
        for name, says in self.few({"missing": "No such", ".": "directory", "/dev/zero": "device", "-": "pipes"}.items(), 2):
            self.bad("permute", "b.npy", "--matrix", name, says=[name, says])
        with open(self.path("huge"), "wb") as file:
            file.truncate(1 << 30)
        self.bad("permute", "b.npy", "--matrix", "huge", says=["huge", str(1 << 30)])

    def test_binary_files_for_text(self):
        """The message is whole and shows what the file begins with."""
        for option in [("task", "--dimension", "2", "--packets"), ("exchange", "--array")]:
            self.refused("schedule", *option, "a.npy", says=r'a\.npy: line 1: "\\x93NUMPY\\x01\\x00.*" is not a whole number$')

    def test_matrices_may_begin_with_a_byte_order_mark(self):
        self.write("matrix", b"\xef\xbb\xbf010\n100\n001\n")
        self.assertEqual(self.json("show", "--matrix", "matrix")["columns"], [2, 1, 4])
        self.write("tags", b"\xef\xbb\xbf01\n11\n")
        self.ok("schedule", "isotropic", "--tags", "tags", "--check")

    def test_npy_headers(self):
        fine = npy()
        cases = {
            fine[:6]: "truncated", fine[:8]: "truncated", fine[:9]: "truncated", fine[:50]: "truncated.*128.*50",
            fine[:-1]: "176.*175", npy(version=(0, 1)): "version 0.1",
            npy(version=(4, 0)): "version 4.0", npy(version=(1, 5)): "version 1.5", npy("'|O'"): "objects",
            npy("[('a', '<f8'), ('b', '|O')]"): "objects", npy("[('a', [('b', '|O', (2,))])]"): "objects",
            npy("'f9'"): "f9", npy("'|V0'"): "no bytes", npy("'f8' * 2"): "corrupt", npy("5"): ".",
            npy(shape="(2, -3)"): "negative", npy(shape="[2, 3]"): "tuple", npy(shape="(2, 3.0)"): "3.0",
            npy(shape="(True, 3)"): "True", npy(shape="(4611686018427387904, 4)"): "2\\^63",
            npy(shape="(9999999999999999999999, 0)", data=0): "2\\^63", npy(shape="(1, " * 50 + ")" * 50): ".",
            npy(shape="(" + "1, " * 65 + ")", data=8): "64", npy(order="1"): "fortran_order", npy(end="'x': 1"): "'x'",
            npy(header="{}"): "descr", npy(header=""): "corrupt",
            npy(header="[" * 30000): "nested", npy(header="{" + "'a': " * 9): "corrupt", npy(length=65535): "65545.*176",
            npy(version=(2, 0), length=2**32 - 1): "at most 1048576", npy(version=(2, 0), length=0): "corrupt",
            npy(header="{'descr': '<f8', 'shape': (2, 3)}"): "fortran_order", npy(end="\0"): "corrupt",
            npy("[('\xff', '<f8')]", version=(3, 0)): "UTF-8", npy(version=(2, 0), end=" " * (2 << 20)): "1048576"}
        for content, says in self.few(cases.items(), 12):
            self.write("bad.npy", content)
            self.bad("transpose", "bad.npy", says=["bad.npy" if "O" not in says else "", says])
            self.refused("info", "bad.npy", says=says)

    def test_headers_are_never_evaluated(self):
        for field in ["descr", "shape", "order"]:
            self.write("bad.npy", npy(**{field: "__import__('os').system('touch evaluated')"}))
            self.bad("transpose", "bad.npy", says=[r"bad\.npy", "corrupt"])
        self.assertFalse(os.path.exists(self.path("evaluated")))

    def test_device_profiles(self):
        cases = ["", "{}", "[]", "{\"points\": []}", '{"points": [[0, 1, 1]]}', '{"points": [[4096, -1, 1]]}',
                 '{"points": [[4096, 1, 0]]}', '{"points": [[4096, 1]]}', '{"points": [["4096", 1, 1]]}',
                 '{"points": [[8192, 1, 1], [4096, 1, 1]]}', '{"depth": 0, "points": [[4096, 1, 1]]}',
                 '{"depth": 1e9, "points": [[4096, 1, 1]]}', "[" * 100000]
        for text in self.few(cases, 5):
            self.write("device", text)
            self.bad("transpose", "a.npy", "--device", "device", says="device")

    def test_device_profiles_that_say_two_things(self):
        for text, key in [('{"points": [[4096, 1, 1]], "points": [[4096, 2, 2]]}', "points"),
                          ('{"name": "a", "points": [[4096, 1, 1]], "name": "a"}', "name"),
                          ('{"depth": 1, "points": [[4096, 1, 1], {"x": 1, "x": 2}], "depth": 1}', "x")]:
            self.write("device", text)
            self.bad("transpose", "a.npy", "--device", "device", says=f'device: the key "{key}" is there twice')
        # The same key in two objects is no repetition.
        self.write("device", '{"points": [[4096, 1, 1], {"x": 1}, {"x": 2}]}')
        self.bad("transpose", "a.npy", "--device", "device", says="a point must be")

    def test_device_profiles_of_impossible_values(self):
        for text, says in [('{"name": 5, "points": [[4096, 1, 1]]}', "name must be a text"),
                           ('{"name": null, "points": [[4096, 1, 1]]}', "name must be a text"),
                           ('{"points": [[4096, 1e-300, 1]]}', "at least 1"),
                           ('{"points": [[4096, 1, 1, 0.5]]}', "at least 1"),
                           ('{"points": [[18446744073709551615, 1, 1]]}', "at least 1")]:
            self.write("device", text)
            self.bad("transpose", "a.npy", "--device", "device", says=says)


if __name__ == "__main__":
    main()
