"""Shared by the measuring scripts: processes under a memory limit, cold files, checked outputs, results."""
import copy
import datetime
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import threading
import time

import numpy as np

MIB = 1 << 20
GIB = 1 << 30
PROJECT = pathlib.Path(__file__).resolve().parent.parent
SPOTS = 1000


class Failure(Exception):
    """A run that failed, or whose output is wrong."""


# -- The memory limit ---------------------------------------------------------------------------------------------------


class Cgroup:
    """A memory cgroup for one run: the limit, the peak and the OOM kills.

    The peak that the kernel records misses nothing, but includes the kernel's own memory, so it bounds resident + cache
    from above; sampling bounds it from below.
    """

    def __init__(self, limit):
        self.version, parent = self.find()
        self.path = parent / f"xorder-bench-{os.getpid()}"
        try:
            if self.version == 2 and "memory" not in (parent / "cgroup.subtree_control").read_text().split():
                (parent / "cgroup.subtree_control").write_text("+memory")
            self.path.mkdir()
            if self.version == 1:
                self.write("memory.limit_in_bytes", limit)
                self.write_if_there("memory.memsw.limit_in_bytes", limit)
            else:
                self.write("memory.max", limit)
                self.write_if_there("memory.swap.max", 0)
        except OSError as error:
            sys.exit(f"no memory cgroup could be made here: {error}")
        self.sampled = 0
        self.done = threading.Event()
        self.sampler = threading.Thread(target=self.sample, daemon=True)
        self.sampler.start()

    @staticmethod
    def find():
        """The version of the hierarchy that has the memory controller, and its root."""
        for line in pathlib.Path("/proc/mounts").read_text().splitlines():
            _, where, kind, options, *_ = line.split()
            if kind == "cgroup" and "memory" in options.split(","):
                return 1, pathlib.Path(where)
            if kind == "cgroup2" and "memory" in (pathlib.Path(where) / "cgroup.controllers").read_text().split():
                return 2, pathlib.Path(where)
        sys.exit("this system has no memory cgroups")

    def write(self, name, value):
        (self.path / name).write_text(str(value))

    def write_if_there(self, name, value):
        if (self.path / name).exists():
            self.write(name, value)

    def fields(self, name):
        lines = (self.path / name).read_text().splitlines()
        return {key: int(value) for key, value in (line.split()[:2] for line in lines)}

    def sample(self):
        """Records the largest resident + cache seen."""
        names = ("rss", "cache") if self.version == 1 else ("anon", "file")
        while not self.done.wait(0.02):
            stat = self.fields("memory.stat")
            self.sampled = max(self.sampled, sum(stat[name] for name in names))

    def command(self, words):
        """A command that enters the group and then executes `words`."""
        return ["/bin/sh", "-c", 'echo $$ >"$0" && exec "$@"', str(self.path / "cgroup.procs"), *words]

    def close(self):
        """Removes the group. Returns its peak and sampled bytes, and how many processes the limit killed."""
        self.done.set()
        self.sampler.join()
        if self.version == 1:
            peak = int((self.path / "memory.max_usage_in_bytes").read_text())
            kills = self.fields("memory.oom_control").get("oom_kill", 0)
        else:
            has_peak = (self.path / "memory.peak").exists()  # since Linux 5.19
            peak = int((self.path / "memory.peak").read_text()) if has_peak else self.sampled
            kills = self.fields("memory.events")["oom_kill"]
        self.write_if_there("memory.force_empty", 0)
        for _ in range(50):
            try:
                self.path.rmdir()
                break
            except OSError:
                time.sleep(0.1)
        return {"peak": peak, "resident_and_cache": self.sampled, "oom_kills": kills}


# -- Files --------------------------------------------------------------------------------------------------------------


def make_cold(path):
    """Writes a file back, drops it from memory, and checks that it is gone."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    cached = subprocess.run(["fincore", "--noheadings", "--bytes", "--output", "RES", path],
                            capture_output=True, text=True, check=True)
    if int(cached.stdout) > MIB:
        raise Failure(f"{path}: {int(cached.stdout)} bytes remain in memory")


def make_warm(path):
    with open(path, "rb") as file:
        while file.read(8 * MIB):
            pass


def have_memory(nbytes):
    """Touches free memory, so that a run does not pay for the host's handing it to a virtual machine."""
    np.ones(nbytes // 8, "u8")


def remove(path):
    """Removes a file and lets the file system finish, so that the next run does not pay for it."""
    pathlib.Path(path).unlink(missing_ok=True)
    os.sync()
    time.sleep(0.5)


def data_offset(path):
    """Where the elements of a file begin: after the header of an .npy file, otherwise at 0."""
    return np.load(path, mmap_mode="r").offset if str(path).endswith(".npy") else 0


def make_random(path, size):
    generator = np.random.Generator(np.random.SFC64(2024))
    with open(path, "wb") as file:
        for begin in range(0, size, 64 * MIB):
            generator.integers(0, 1 << 64, min(64 * MIB, size - begin) // 8, dtype="u8").tofile(file)


# -- Where elements go, written down independently of xorder -------------------------------------------------------------


def transposed(rows, columns):
    return lambda x: (x % columns) * rows + x // columns


def bit_reversed(bits):
    return lambda x: int(format(x, f"0{bits}b")[::-1], 2)


class RandomBmmc:
    """y = A x ^ c of `bits` bits, from a fixed seed; columns[i] is A times the unit vector i."""

    def __init__(self, bits):
        generator = random.Random(29)
        self.bits = bits
        while True:
            self.columns = [generator.getrandbits(bits) for _ in range(bits)]
            if self.rank() == bits:
                break
        self.complement = generator.getrandbits(bits)

    def rank(self):
        basis = []
        for vector in self.columns:
            for other in basis:
                vector = min(vector, vector ^ other)
            if vector:
                basis.append(vector)
        return len(basis)

    def __call__(self, x):
        y = self.complement
        for i, column in enumerate(self.columns):
            if x >> i & 1:
                y ^= column
        return y

    def write(self, path):
        """The matrix as xorder reads it: one line per target bit, least significant first, and the complement."""
        lines = ["".join(str(column >> row & 1) for column in self.columns) for row in range(self.bits)]
        lines.append("c " + "".join(str(self.complement >> row & 1) for row in range(self.bits)))
        pathlib.Path(path).write_text("\n".join(lines) + "\n")


def check_spots(source, target, elements, width, place):
    """Checks that random elements, the first and the last ones of `source` are at their `place` in `target`."""
    source_offset, target_offset = data_offset(source), data_offset(target)
    wanted = target_offset + elements * width
    if os.stat(target).st_size != wanted:
        raise Failure(f"{target}: {os.stat(target).st_size} bytes instead of {wanted}")
    spots = [0, 1, elements // 2, elements - 2, elements - 1]
    spots += [random.randrange(elements) for _ in range(SPOTS)]
    with open(source, "rb") as before, open(target, "rb") as after:
        for x in spots:
            y = place(x)
            value = os.pread(before.fileno(), width, source_offset + x * width)
            if os.pread(after.fileno(), width, target_offset + y * width) != value:
                raise Failure(f"{target}: element {y} is not element {x} of {source}")


# -- Results, as `xorder bench` writes them; `xorder bench draw` and `compare` read them ----------------------------------


STARTED = datetime.datetime.now(datetime.timezone.utc)


def axis(label="", unit="number", logarithmic=False):
    return {"label": label, "unit": unit, "logarithmic": logarithmic}


SECONDS = axis("time", "seconds")


def figure(name, caption, series, rows=(), x=axis(), values=SECONDS):
    """`series`: by name, a list of (x or the number of a row, samples). Points without samples are left out."""
    def point(place, samples):
        middle, third = statistics.median(samples), len(samples) // 3
        low, high = np.quantile(samples, [0.25, 0.75])
        drift = statistics.median(samples[-third:]) / statistics.median(samples[:third]) - 1 if third else 0
        return {"x": place, "median": middle, "spread": (high - low) / 2 / middle if middle else 0, "drift": drift,
                "samples": samples}

    return {"id": name, "caption": caption, "x": x, "values": values, "rows": list(rows), "computed": False,
            "series": [{"name": each, "points": [point(place, list(map(float, samples))) for place, samples in points if samples]}
                       for each, points in series.items() if any(samples for _, samples in points)]}


def rows_table(caption, columns, rows):
    return {"caption": caption, "columns": columns, "rows": [[str(cell) for cell in row] for row in rows]}


def host(directory):
    models = [line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
              if line.startswith("model name")]
    system = subprocess.run(["stat", "--file-system", "--format=%T", str(directory)], capture_output=True, text=True)
    return {"caches": [], "disk": None, "file_system": system.stdout.strip() or None, "huge_pages": None,
            "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
            "memory": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
            "processor": models[0] if models else platform.machine(), "processors": os.cpu_count()}


def write_results(path, benchmark, directory, rounds, figures, tables=()):
    results = {"benchmark": benchmark, "command": " ".join(["bench/" + benchmark, *sys.argv[1:]]),
               "started": STARTED.strftime("%Y-%m-%dT%H:%M:%SZ"), "host": host(directory),
               "seconds": (datetime.datetime.now(datetime.timezone.utc) - STARTED).total_seconds(), "rounds": rounds, "others": 0,
               "stolen": 0, "warnings": [], "figures": figures, "tables": list(tables)}
    pathlib.Path(path).write_text(json.dumps(results, ensure_ascii=False) + "\n")


# -- The runs -----------------------------------------------------------------------------------------------------------


class Case:
    """One thing to measure: `words(out)` is its command line, `place(x)` is where element x ends up.

    A case that is not `limited` may use all of the machine's memory, as a user's run may, and none of it is touched
    beforehand.
    """

    def __init__(self, name, what, source, out, nbytes, width, place, words, limited=True):
        self.limited = limited
        self.name, self.what, self.source, self.out = name, what, source, out
        self.nbytes, self.width, self.place, self.words = nbytes, width, place, words
        self.runs = []

    def measure(self, limit):
        """One run under the limit, from a cold cache; appends the measurements to `runs`."""
        remove(self.out)
        make_cold(self.source)
        if self.limited:
            have_memory(limit)
        group = Cgroup(limit if self.limited else os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        try:
            begin = time.monotonic()
            process = subprocess.run(group.command(self.words(self.out)), capture_output=True, text=True)
            seconds = time.monotonic() - begin
        finally:
            memory = group.close()
        run = {"seconds": seconds, **memory}
        if process.returncode != 0:
            last = (process.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise Failure(f"exit code {process.returncode}, {run['oom_kills']} OOM kills: {last}")
        if process.stdout.startswith("{"):
            run["report"] = json.loads(process.stdout)
        self.check(run)
        self.runs.append(run)

    def check(self, run):
        make_cold(self.out)
        check_spots(self.source, self.out, self.nbytes // self.width, self.width, self.place)

    def seconds(self):
        return statistics.median(run["seconds"] for run in self.runs)

    def per_byte(self):
        return self.seconds() / self.nbytes


def add_before(cases, program, before):
    """Lets an older program do what `program` does: each of its cases gets a twin, `case.before`."""
    for case in cases:
        case.before = None
        if before and case.words and case.words(case.out)[0] == str(program):
            case.before = copy.copy(case)
            case.before.runs, case.before.what = [], f"{case.what}, before"
            case.before.words = lambda out, words=case.words: [str(before), *words(out)[1:]]


def in_turn(cases, repetition):
    """The cases in an order in which none is always first or always follows the same one. A case and its twin take turns to
    be first, because the second one comes after files that were just deleted."""
    turn = repetition % len(cases) if cases else 0
    for case in cases[turn:] + cases[:turn]:
        yield from [case, case.before][::-1 if repetition % 2 else 1] if case.before else [case]


def before_table(cases):
    """Medians of both programs. The newer one is slower where its median is above the older one's slowest run."""
    pairs = [(case, case.before) for case in cases if case.before and case.before.runs and case.runs]
    if pairs:
        print(f"\n{'':50} {'now':>8} {'before':>8} {'ratio':>6}  slowest before")
    for now, before in pairs:
        slowest = max(run["seconds"] for run in before.runs)
        print(f"{now.what:50} {now.seconds():8.2f} {before.seconds():8.2f} {now.seconds() / before.seconds():6.2f}  {slowest:.2f}"
              f"{'  SLOWER' if now.seconds() > slowest else ''}")


def before_option(parser):
    parser.add_argument("--before", type=pathlib.Path, metavar="FILE",
                        help="an older program, which does everything that xorder does, in turn with it")
