"""What the end-to-end tests share: a directory of their own, running xorder, reference permutations, laws' randomness.

Each test module is a program: XORDER=build/release/tools/xorder/xorder tests/cli/test_transpose.py [-v] [Class.test]
Random tests print their seed; XORDER_TEST_SEED=<it> runs them again. XORDER_TEST_LONG=1 is the long form of some tests,
which tools/soak runs. TMPDIR says where their files go.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import zlib

try:
    import numpy as np
except ImportError:
    print("SKIPPED: these tests need NumPy (apt install python3-numpy)")
    sys.exit(77)  # CTest's SKIP_RETURN_CODE

MiB = 1 << 20
XORDER = os.path.abspath(os.environ.get("XORDER", "xorder"))
SEED = int(os.environ.get("XORDER_TEST_SEED") or int.from_bytes(os.urandom(4), "little"))
LONG = int(os.environ.get("XORDER_TEST_LONG") or 0)
os.environ.pop("GLIBC_TUNABLES", None)  # it is for NumPy here (CONTRIBUTING.md); xorder runs as users run it


for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:  # by nohup, or a shell for jobs in the background: so would be those of runs
        signal.signal(number, signal.SIG_DFL)


def rounds(few, many):
    """How often a test does what it does: `few` times, or `many` in the long form (twice as many if XORDER_TEST_LONG is 2)."""
    return LONG * many or few


def tally(count, what):
    """Says in the long form how many faults of a kind were met as they should; tools/soak adds them up."""
    if LONG:
        print(f"TALLY {count} {what}", flush=True)


def _sanitized():
    with open(XORDER, "rb") as program:
        content = program.read()
    return b"__asan_init" in content, b"__tsan_init" in content


_ADDRESS, _THREAD = _sanitized()
SANITIZED = _ADDRESS or _THREAD  # then it needs much more time and memory
if _ADDRESS:  # looking for leaks takes a third of each launch; the unit tests look for them
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
# For tests of many megabytes: the thread sanitizer makes each of thousands of mappings a matter of milliseconds.
LARGE_ENGINES = ["direct"] if _THREAD else ["direct", "mapped"]
TIMEOUT = 600 if SANITIZED else 180


def main():
    print(f"XORDER_TEST_SEED={SEED}", flush=True)
    unittest.main()


class Case(unittest.TestCase):
    """A test in an empty directory, which is the current one of the commands that it runs."""

    # Tests of hundreds of tiny files need not wait for a disk to sync each; they go through tmpfs, buffered.
    in_memory = False

    def setUp(self):
        memory = "/dev/shm"
        self.dir = tempfile.mkdtemp(prefix="xorder-test-",
                                    dir=memory if self.in_memory and os.access(memory, os.W_OK) else None)
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        # Of its own, so that a test does the same whether it runs alone or after others.
        self.random = np.random.default_rng([SEED, zlib.crc32(self.id().encode())])

    def path(self, name):
        return os.path.join(self.dir, name)

    def some(self, cases):
        """All cases, or a random third of them where sanitizers make each launch of the program slow."""
        cases = list(cases)
        return self.sample(cases, -(-len(cases) // 3)) if SANITIZED else cases

    def sample(self, cases, count):
        """That many of them, chosen at random, where the unit tests try all or each case takes long."""
        cases = list(cases)
        return [cases[i] for i in sorted(self.random.choice(len(cases), count, replace=False))]

    def few(self, cases, count):
        """As sample, but all of them in the long form."""
        return list(cases) if LONG else self.sample(cases, count)

    def shim(self, source):
        """The library made of a C file beside this one, to be loaded before the program's own."""
        compiler = shutil.which("cc")
        if not compiler or SANITIZED:
            self.skipTest("needs a C compiler, and a program without sanitizers")
        library = self.path(source + ".so")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, os.path.join(os.path.dirname(os.path.abspath(__file__)), source), "-ldl"],
                       check=True)
        return library

    def fails_at(self, at, *args, **options):
        """Runs xorder, of which call number `at` fails; fail_at.c has the options."""
        if not hasattr(self, "failing"):
            self.failing = self.shim("fail_at.c")
        faults = {f"XORDER_FAILS_{name.upper()}": str(value) for name, value in options.items()}
        return self.run_xorder(*args, timeout=min(TIMEOUT, 30), env={
            **os.environ, "XDG_CACHE_HOME": os.devnull, "LD_PRELOAD": self.failing, "XORDER_FAILS_AT": str(at), **faults})

    def dies_at(self, at, *args):
        """Runs xorder, which dies before its operation on files number `at`."""
        return self.fails_at(at, *args)

    def bytes_of(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def save(self, name, array):
        """As .npy or, by its name, as raw bytes in C order."""
        if name.endswith(".npy"):
            np.save(self.path(name), array)
        else:
            array.tofile(self.path(name))

    def load(self, name):
        return np.load(self.path(name))

    def noise(self, shape, dtype="u1"):
        """Random bytes as an array; every element is as good as another, xorder never looks into them."""
        dtype = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(self.random.bytes(count * dtype.itemsize), dtype, count).reshape(shape)

    def listing(self):
        """Everything in the directory, with what tells whether it was touched."""
        found = {}
        for folder, _, names in os.walk(os.fsencode(self.dir)):
            for path in [folder] + [os.path.join(folder, name) for name in names]:
                status = os.lstat(path)
                stamp = () if path == folder else (status.st_size, status.st_mtime_ns)
                found[path] = (status.st_ino, status.st_mode, *stamp)
        return found

    def run_xorder(self, *args, **options):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                   "timeout": TIMEOUT, **options}
        # Plans must not depend on what the user's cache directory knows of this disk.
        options.setdefault("env", {**os.environ, "XDG_CACHE_HOME": os.devnull})
        command = [XORDER, *(arg if isinstance(arg, bytes) else str(arg) for arg in args)]
        result = subprocess.run(command, cwd=self.dir, check=False, **options)
        for name in ("stdout", "stderr"):
            if getattr(result, name) is not None:
                setattr(result, name, getattr(result, name).decode(errors="surrogateescape"))
        return result

    def ok(self, *args, **options):
        """Runs it; it must succeed. Returns what it did."""
        result = self.run_xorder(*args, **options)
        self.assertEqual(result.returncode, 0, f"{args}: {result.stderr}")
        return result

    def json(self, *args, **options):
        return json.loads(self.ok(*args, "--json", **options).stdout)

    def refused(self, *args, says=(), code=2, **options):
        """Runs it; it must fail with that code and one line on standard error, in which each of the regular
        expressions `says` is found, and leave the directory as it was. Returns the line."""
        before = self.listing()
        result = self.run_xorder(*args, **options)
        self.assertEqual(result.returncode, code, f"{args}: {result.stderr}")
        self.assertEqual(result.stdout, "", args)
        self.assertRegex(result.stderr, r"\Axorder: [^\n]+\n\Z", args)
        for pattern in [says] if isinstance(says, str) else says:
            self.assertRegex(result.stderr, pattern, args)
        self.assertEqual(self.listing(), before, args)
        return result.stderr

    def assert_same(self, result, expected, message=""):
        """The same type, shape and bytes (NaNs and padding too)."""
        self.assertEqual(result.dtype, expected.dtype, message)
        self.assertEqual(result.shape, expected.shape, message)
        self.assertTrue(result.tobytes() == expected.tobytes(), f"the data differs: {message}")


class Stopping(Case):
    """Tests of what happens in the middle of runs that take seconds."""

    def begun(self, *args, **options):
        """Returns a running process, stopped in the middle of the work."""
        process = subprocess.Popen(  # so that we come first on a busy machine
            ["nice", "-n", "3", XORDER, *map(str, args), "--memory", "16MiB", "--progress", "bar"],
            cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        while process.stderr.read(1) not in [b"\r", b""]:  # behind notes comes the bar
            pass
        process.send_signal(signal.SIGSTOP)
        return process

    def start(self, output, *options, force=True, source="a.raw", rows=2048):
        """A transposition of 128 KiB a row, begun."""
        return self.begun("transpose", source, output, "--dtype", "V64", "--shape", f"{rows},2048", *(["--force"] if force else []), *options)

    def end(self, process):
        """Lets it go on. Returns its exit code, and what it says last."""
        process.send_signal(signal.SIGCONT)
        errors = process.stderr.read().decode()
        return process.wait(TIMEOUT), errors.split("\r")[-1]


# Reference permutations. A map is the array of all targets: element x goes to position map[x].

def index(n):
    return np.arange(1 << n, dtype=np.int64)


def bits_map(sources):
    """Target bit i is source bit sources[i]."""
    columns = [0] * len(sources)
    for target, source in enumerate(sources):
        columns[source] |= 1 << target
    return affine_map(columns)


def affine_map(columns, complement=0):
    """x goes to A x ^ c, with the columns of A as numbers."""
    y = np.array([complement], np.int64)
    for column in columns:  # the upper half of an index's range differs from the lower one in its highest bit
        y = np.concatenate([y, y ^ column])
    return y


def random_columns(random, n):
    """The columns of a random nonsingular matrix: elementary operations on the identity."""
    columns = [1 << int(i) for i in random.permutation(n)]
    for _ in range(n * n if n > 1 else 0):  # after 4n of them, 1 in 300 is still sparse enough to need fewer passes
        i, j = random.choice(n, 2, replace=False)
        columns[i] ^= columns[j]
    return columns


def matrix_text(columns, complement=None):
    n = len(columns)
    lines = ["".join(str(column >> row & 1) for column in columns) for row in range(n)]
    if complement is not None:
        lines.append("c " + "".join(str(complement >> row & 1) for row in range(n)))
    return "\n".join(lines) + "\n"


def moved(array, target, axis=None):
    """The array with element x at target[x], of the flat index or along an axis."""
    dtype, array = array.dtype, array.view(f"V{array.itemsize}")
    result = np.empty(array.shape, array.dtype)
    if axis is None:
        result.reshape(-1)[target] = array.reshape(-1)
    else:
        np.moveaxis(result, axis, 0)[target] = np.moveaxis(array, axis, 0)
    return result.view(dtype)


def bit_reversed(array, axis=-1):
    n = array.shape[axis].bit_length() - 1
    return moved(array, bits_map(range(n - 1, -1, -1)), axis)


def transposed(array, axes=None):
    # As plain bytes: NumPy does not copy the padding of structured elements.
    plain = np.transpose(array.view(f"V{array.itemsize}"), axes).copy(order="C")
    return plain.view(array.dtype)


def rotation(n, k):
    """Source bit i goes to target bit (i + k) mod n. transpose(lgR, lgC) is rotation(n, lgR)."""
    return bits_map([(target - k) % n for target in range(n)])


def morton(n, dimensions):
    """Bit i of the k-th dimension from the end goes to bit i * dimensions + k."""
    each = n // dimensions
    return bits_map([target % dimensions * each + target // dimensions for target in range(n)])


NAMED_MAPS = {  # of n bits, n >= 1
    "identity": index,
    "bitreverse": lambda n: bits_map(range(n - 1, -1, -1)),
    "reverse": lambda n: index(n)[::-1],
    "gray": lambda n: index(n) ^ index(n) >> 1,
    "shuffle": lambda n: rotation(n, 1),
    "unshuffle": lambda n: rotation(n, -1),
}
