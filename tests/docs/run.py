#!/usr/bin/python3
"""Runs every command line and compiles every program that README.md, CONTRIBUTING.md, docs/ and bench/ show, and
resolves every path that they name.

Arguments: build folder, scratch folder. Code blocks marked `sh`, and `xorder ...` in backquotes in tables and text, are
command lines; blocks marked `cpp`, `c` and `fortran` are programs, and so are those marked `python`, which run in the order of
their document and in one folder. Lines that build or test xorder itself are not run again: their targets,
presets and files are checked to exist. Nor are benchmarks: they and their options are checked to exist."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
try:
    import h5py
except ImportError:
    h5py = None

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
import containers

BUILD, SCRATCH = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")),
             *sorted((ROOT / "bench").glob("*.md"))]
os.environ.pop("GLIBC_TUNABLES", None)  # as in harness.py
# As root, with more ranks than processors, which yield while they wait; for OpenMPI. `bench disk` keeps its hurried profile in the cache directory.
ENVIRONMENT = {**os.environ, "XDG_CACHE_HOME": str(SCRATCH / "cache"),
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}
failures = []


def check(right, where, what):
    if not right:
        failures.append(f"{where}: {what}")


def make_files(folder, command):
    """The input files of a command, small, by the names that the documents use for them."""
    random = np.random.default_rng(1)
    folder.mkdir()
    cube = "--axes 2,0,1" in command
    np.save(folder / "a.npy", random.random((8, 16, 4)) if cube else random.random((64, 64)))
    np.save(folder / "z.npy", random.random((64, 64)))
    np.save(folder / "ab.npy", random.random((4, 100)))
    np.save(folder / "rows.npy", random.random((100, 4)))
    np.save(folder / "bands.npy", random.random((4, 100, 7)))
    np.save(folder / "both.npy", random.random(100 * 7 + 100 * 4))
    np.save(folder / "wide.npy", random.random((100, 7)))
    np.save(folder / "narrow.npy", random.random((100, 4)))
    np.save(folder / "halves.npy", np.sort(random.random((2, 64))).reshape(-1))
    for name in ["sub", "super", "right"]:
        np.save(folder / f"{name}.npy", random.random(64))
    np.save(folder / "main.npy", random.random(64) + 4)
    np.save(folder / "image.npy", random.integers(0, 256, (48, 64, 3), "u1"))
    np.save(folder / "projections.npy", random.random((20, 10, 30)))
    np.save(folder / "records.npy", np.zeros(100, [("t", "<u4"), ("x", ">f8"), ("y", ">f8")]))
    for day in ["monday", "tuesday"]:
        np.save(folder / f"{day}.npy", random.random((20, 30)))
    (folder / "days.txt").write_text("monday.npy\ntuesday.npy\n")
    (folder / "padded.raw").write_bytes(random.bytes(512 * 30))
    (folder / "framed.raw").write_bytes(random.bytes(512 + 8 * 30 * 50 + 100))
    (folder / "signal.raw").write_bytes(random.bytes(16 * 256))
    volume = random.random((4, 5, 6)).astype(">f4")
    image = containers.fits_unit(volume, ("XTENSION", "IMAGE"), PCOUNT=0, GCOUNT=1, EXTNAME="SCI")
    (folder / "cube.fits").write_bytes(containers.fits(None) + image)
    (folder / "climate.nc").write_bytes(containers.netcdf({"tas": (("time", "lat", "lon"), volume), "lat": (("lat",), volume[0, :, 0])}))
    (folder / "scan.nii").write_bytes(containers.nifti(volume))
    (folder / "scene.hdr").write_text(containers.envi(volume, "bil"))
    volume.tofile(folder / "scene.img")
    if ".h5" in command:
        with h5py.File(folder / "scan.h5", "w") as file:
            file["entry/data"] = volume
    shape = re.search(r"--shape (\d+),(\d+)", command)
    with open(folder / "a.raw", "wb") as file:
        file.truncate(8 * int(shape[1]) * int(shape[2]) if shape else 8192)  # sparse
    if "xorder report" in command:
        subprocess.run([BUILD / "tools/xorder/xorder", "transpose", "a.npy", "traced.npy", "--trace", "run.trace", "-q"],
                       cwd=folder, check=True)
    for rank in range(8 if "--parts" in command else 0):
        np.save(folder / f"part.{rank}.npy", random.random((8, 64)))
    (folder / "A.txt").write_text("\n".join("".join("01"[i == 11 - j] for j in range(12)) for i in range(12)) + "\n")


ran = set()  # of what several documents show
LESS = {f"xorder bench {what}" for what in ("cache", "files", "schedules")}  # another line shows them with --html


def run(command, where):
    """A command of xorder's, in a folder of its own, once."""
    if command in ran or command in LESS or ".h5" in command and (h5py is None or not (BUILD / "libexec/xorder-hdf5").exists()):
        return
    ran.add(command)
    folder = SCRATCH / "run"
    shutil.rmtree(folder, ignore_errors=True)
    make_files(folder, command)
    for made in sorted(SCRATCH.glob("*/*.jsonl")):  # by a program of a document; this folder has none yet
        shutil.copy(made, folder)
    words = [word for word in shlex.split(command, comments=True)]
    large = "--shape 16384" in command  # its plan will do
    quick = []
    if re.match(r"xorder bench (cache|disk|memory|files|schedules)", command):
        quick = ["--size", "64MiB" if words[2] == "disk" else "1MiB", "--rounds", "1"]
    if "xorder bench draw bench/" in command:
        shutil.copytree(ROOT / "bench", folder / "bench")
        (folder / "docs").mkdir()
    if re.search(r"xorder bench (compare|draw before)", command):
        # One with the default number of rounds, which takes little time here only.
        for name, rounds in [("before.json", ["--rounds", "1"]), ("after.json", [])]:
            if not (SCRATCH / name).exists():
                subprocess.run([BUILD / "tools/xorder/xorder", "bench", "cache", "--size", "64KiB", *rounds, "--json", SCRATCH / name, "-q"],
                               check=True)
            shutil.copy(SCRATCH / name, folder)
    made = not {"transpose", "bitreverse", "permute", "descend"}.isdisjoint(words[:5])
    if made and "--force" not in words and "--in-place" not in words:
        outputs = [word for word in words[2:] if word.endswith((".npy", ".raw"))]
        for output in outputs[-1:]:
            (folder / output).unlink(missing_ok=True)
    program = [BUILD / "tools/xorder/xorder"]
    if words[1] == "verify":  # what it checks is made first
        making = ["transpose", "a.npy", *words[2:]] if "--checksum" in words else words[2:]
        subprocess.run([*program, *making], cwd=folder, capture_output=True, check=True)
    if words[0] == "mpirun":
        program = [*words[:3], BUILD / "tools/xorder-mpi/xorder-mpi"]
        if not program[-1].exists():  # without MPI
            return
    result = subprocess.run([*program, *words[len(program):], *(["--dry-run"] if large else []), *quick], cwd=folder, env=ENVIRONMENT,
                            capture_output=True, text=True, timeout=300, check=False)
    check(result.returncode == 0, where, f"{command}: {result.stderr.strip()}")


def look(command, where):
    """A command that builds or tests: what it names exists."""
    words = [word for word in shlex.split(command, comments=True) if not re.match(r"[A-Z_]+=", word)]
    if not words:
        return
    program = words[0]
    if "/" in program and not program.startswith("build/"):
        check(os.access(ROOT / program, os.X_OK), where, f"{program} cannot be run")
    presets = (ROOT / "CMakePresets.json").read_text()
    for option, value in zip(words, words[1:]):
        if option == "--preset":
            check(f'"name": "{value}"' in presets, where, f"no preset {value}")
        if option == "--target":
            targets = subprocess.run(["ninja", "-C", BUILD, "-t", "query", value], capture_output=True, check=False)
            check(targets.returncode == 0, where, f"no target {value}")
        if option == "-R":
            tests = subprocess.run(["ctest", "-N", "-R", value], cwd=BUILD, capture_output=True, text=True, check=False).stdout
            check("Total Tests: 0" not in tests, where, f"no test matches {value}")


def look_at_benchmark(words, where):
    """A script of bench/ or a program that is built from it: it has these options."""
    name = words[0].rsplit("/", 1)[-1]
    if words[0].startswith("build/"):
        sources = [ROOT / f"bench/{name}.cpp", ROOT / "tools/xorder/bench/command.cpp"]
        known = "".join(source.read_text() for source in sources if source.exists())
        check(sources[0].exists(), where, f"no benchmark {name}")
    else:
        result = subprocess.run([ROOT / words[0], "--help"], capture_output=True, text=True, check=False)
        known = result.stdout
        check(result.returncode == 0, where, f"{words[0]} --help: {result.stderr}")
    for word in words[1:]:
        check(not word.startswith("--") or word in known, where, f"{name} has no option {word}")


# By the language of a program: the language and library that CMake calls it, and the ending of its file's name.
LANGUAGES = {"cpp": ("CXX", "xorder", "cpp"), "c": ("C", "c", "c"), "mpi": ("C", "mpi", "c"),
             "fortran": ("Fortran", "fortran", "f90")}


def call(command, folder, where):
    """Whether it succeeds."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=ENVIRONMENT, timeout=300)
    check(result.returncode == 0, where, f"{command}:\n{result.stdout[-3000:]}{result.stderr[-1000:]}")
    return result.returncode == 0


def compile_programs(language, sources):
    """As one project against the installed tree, and runs each in a folder with a.npy. `sources` are (document, text)."""
    compiler, library, ending = LANGUAGES[language]
    folder = SCRATCH / language
    folder.mkdir()
    project = (f"cmake_minimum_required(VERSION 3.25)\nproject(programs LANGUAGES {compiler})\n"
               f"find_package(xorder REQUIRED{'' if language == 'cpp' else f' COMPONENTS {library}'})\n")
    for number, (where, source) in enumerate(sources):
        name = f"{where.stem}{number}"  # which messages of the compiler show
        (folder / f"{name}.{ending}").write_text(source)
        project += f"add_executable({name} {name}.{ending})\ntarget_link_libraries({name} PRIVATE xorder::{library})\n"
    (folder / "CMakeLists.txt").write_text(project)
    prefix = SCRATCH / "prefix"
    install = ["cmake", "--install", BUILD, "--prefix", prefix, "--component"]  # manual pages take most of the time of all
    if not ((prefix.exists() or all(call([*install, component], folder, language) for component in ("library", "dev", "mpi"))) and
            call(["cmake", "-G", "Ninja", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}"], folder, language) and
            call(["cmake", "--build", "build"], folder, language)):
        return
    for number, (where, source) in enumerate(sources):
        files = folder / f"files{number}"
        make_files(files, "")
        ran = call([*(["mpiexec", "-n", "3"] if language == "mpi" else []), folder / f"build/{where.stem}{number}"], files, where)
        if ran and "b.npy" in source:  # the others check their results themselves
            check(np.array_equal(np.load(files / "b.npy"), np.load(files / "a.npy").T), where, "the program's result is wrong")


def run_python(source, folder, where):
    """One of a document's programs; those before it have left their files in the folder."""
    folder.mkdir(exist_ok=True)
    settings = {"PYTHONPATH": str(ROOT / "python"), "XORDER_LIBRARY": str(BUILD / "libxorder.so.0"),
                "PATH": f"{BUILD / 'tools/xorder'}:{os.environ['PATH']}"}
    result = subprocess.run([sys.executable, "-B", "-"], input=source, cwd=folder, capture_output=True, text=True, check=False,
                            env={**ENVIRONMENT, **settings}, timeout=300)
    check(result.returncode == 0, where, f"{source}\n{result.stderr[-2000:]}")


LAYERS = [path.name for base in ("src", "include/xorder") for path in (ROOT / base).iterdir() if path.is_dir()]
FOLDERS = [path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith("build")]
SOURCES = {path.name for folder in ("bench", "include", "src", "tests", "tools") for path in (ROOT / folder).rglob("*.*")}


def unresolved(text, folder):
    """The files and folders that a text names and that do not exist: paths from the top or from `folder`, `layer/name`
    with or without an extension, and sources by their names alone."""
    names = re.findall(r"`([\w./-]+)`", text) + re.findall(r"[\w./-]+\.(?:[chp]pp|h|inc)\b", text)
    for name in sorted(set(names)):
        first, *rest = name.rstrip("/").split("/")
        if not rest and re.search(r"[a-z]\.([chp]pp|h|inc)$", name) and name not in SOURCES:
            yield name
        if rest and first in FOLDERS + LAYERS:
            places = [base / name for base in (ROOT, ROOT / "src", ROOT / "include", ROOT / "include/xorder", folder)]
            if not any(place.exists() or any(place.parent.glob(place.name + ".[ch]pp")) for place in places):
                yield name


shutil.rmtree(SCRATCH, ignore_errors=True)
SCRATCH.mkdir(parents=True)
commands = 0
scripts = 0
programs = {}  # by language: (document, text)
for document in DOCUMENTS:
    text = document.read_text()
    name = document.relative_to(ROOT)
    for command in re.findall(r"(?m)(?:^ {4}|`)(?:sudo )?((?:build/bench/)?bench/[a-z_]+ [^`\n]*)", text):
        commands += 1
        look_at_benchmark(command.split("  ")[0].split(), name)
    for language, block in re.findall(r"(?ms)^```(\w+)\n(.*?)^```", text):
        if "#include <xorder_mpi.h>" in block:
            language = "mpi"
            if not any(BUILD.glob("src/mpi/libxorder_mpi.so")):
                print(f"{name}: no MPI, so its program is not compiled")
                continue
        if language == "fortran" and not shutil.which("gfortran"):
            print(f"{name}: no gfortran, so its programs are not compiled")
        elif language in LANGUAGES and re.search(r"int main|(?m:^program )", block):
            programs.setdefault(language, []).append((name, block))
        elif language == "python":
            scripts += 1
            run_python(block, SCRATCH / document.stem, name)
        elif language == "sh":
            for line in block.replace("\\\n", " ").splitlines():
                commands += 1
                (run if line.startswith(("xorder ", "mpirun -n 8 xorder-mpi ")) else look)(line, name)
    prose = re.sub(r"(?ms)^```.*?^```", "", text)
    for command in re.findall(r"`((?:mpirun -n \d+ xorder-mpi|xorder) [a-z]+ [^`]*)`", prose):
        if "--help" not in command and ".." not in command and not re.search(r" [A-Z]{3,}\b", command):  # placeholders
            commands += 1
            run(command, name)
    for path in unresolved(prose, document.parent):
        check(False, name, f"names {path}, which does not exist")
    for target in re.findall(r"\]\(([^)#]+)\)", re.sub(r"`[^`\n]*`", "", prose)):
        check("://" in target or (document.parent / target).exists(), name, f"the link to {target} leads nowhere")

for language, sources in programs.items():
    compile_programs(language, sources)
shutil.rmtree(SCRATCH, ignore_errors=True)
count = scripts + sum(map(len, programs.values()))
print(f"{commands} commands and {count} programs of {len(DOCUMENTS)} documents")
print("\n".join(failures))
sys.exit(1 if failures or commands < 20 or count < 2 else 0)
