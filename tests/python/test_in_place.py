"""Files that are reordered in place, and runs that go on, begun by Python or by the program."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import xorder
from random_views import same
from xorder import _arrays, _files, _library, _moves

pytestmark = pytest.mark.filterwarnings("ignore::xorder.Note")  # how far the run was
needs_program = pytest.mark.skipif("XORDER" not in os.environ, reason="XORDER names no program")


def program(*words):
    return subprocess.run([os.environ["XORDER"], *words], capture_output=True, text=True, check=False)


def hidden():
    return [name for name in os.listdir(".") if ".xorder-" in name]


@contextlib.contextmanager
def ended(begins=0):
    """Runs end as by an interrupt when half is done, or when this pass begins: by a progress function in the library's
    thread, which is called often enough."""
    apart = _files.apart

    def interrupted(call, paths, tell):
        @_library.ProgressFunction
        def stop(progress, _):
            at = progress[0]
            return at.pass_ == begins if begins else 2 * at.bytes_done > at.bytes_total

        apart(lambda callback: call(stop), paths, tell)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(_files, "apart", interrupted)
        yield


def large(rng):
    """A square of large elements."""
    a = np.frombuffer(rng.bytes(200 * 200 * 512), "V512").reshape(200, 200)
    np.save("a.npy", a)
    return a


def half_done(rng):
    a = large(rng)
    with pytest.warns(xorder.Note, match="a.npy: is half done in place"), ended():
        xorder.transpose_in_place("a.npy", memory="16MiB")
    return a


def two_passes(rng):
    """A resumable job in two passes, on a disk on which only large requests are worth anything."""
    a = rng.integers(0, 1 << 30, 1 << 22).astype("u4")
    np.save("a.npy", a)
    with open("disk.json", "w") as file:
        file.write('{"points": [[1048576, 1e6, 1e6]]}')
    source = _arrays.source("a.npy")
    settings = _files.options("16MiB", None, False, None, "auto", True)
    settings.device = b"disk.json"
    return a, _files.job_of(source, *_moves.task_of(None, "bitreverse", 0, None).of(source.shape, 4), "b.npy", settings)


def killed(*words):
    """A run of the program that has finished something."""
    process = subprocess.Popen([os.environ["XORDER"], *words, "--memory", "16MiB", "--bwlimit", "40MiB", "-q"])
    end = time.time() + 120
    while time.time() < end and process.poll() is None:
        status = program("status", words[-1])
        if status.returncode == 0 and ": 0 B of" not in status.stdout:
            break
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL


def test_files(rng):
    a = rng.random((100, 100))
    np.save("a.npy", a)
    inode = os.stat("a.npy").st_ino
    report = xorder.transpose_in_place("a.npy", memory="16MiB", threads=2, tmpdir=".")
    assert same(np.load("a.npy"), a.T) and report["bytes"] == a.nbytes and os.stat("a.npy").st_ino == inode
    cube = rng.random((9, 5, 9)).astype("f4")
    with open("a.raw", "wb") as file:
        file.write(b"before" + cube.tobytes() + b"behind")
    xorder.transpose_in_place(xorder.Raw("a.raw", "f4", (9, 5, 9), 6), (2, 1, 0))
    assert open("a.raw", "rb").read() == b"before" + cube.transpose(2, 1, 0).tobytes() + b"behind"
    line = rng.integers(0, 1000, 1 << 12)
    np.save("a.npy", line)
    xorder.permute_in_place("a.npy", by="bitreverse")
    assert same(np.load("a.npy"), xorder.bitreverse(line))
    np.save("a.npy", line.reshape(64, 64))
    xorder.permute_in_place("a.npy", by="reverse", axis=-1)
    assert same(np.load("a.npy"), line.reshape(64, 64)[:, ::-1])
    assert same(xorder.permute_in_place(line.copy(), by=np.eye(12), complement=5), xorder.permute(line, by=np.eye(12), complement=5))
    fortran = np.asfortranarray(rng.random((40, 40)))
    np.save("a.npy", fortran)
    xorder.transpose_in_place("a.npy")
    assert same(np.load("a.npy"), fortran.T) and sorted(os.listdir(".")) == ["a.npy", "a.raw"]
    wide = np.frombuffer(rng.bytes(613 * 571 * 24), "V24").reshape(613, 571)
    np.save("a.npy", wide)
    assert xorder.transpose_in_place("a.npy", memory="16MiB")["bytes"] == wide.nbytes and same(np.load("a.npy"), wide.T)
    line = np.frombuffer(rng.bytes(1 << 23), "V32")
    np.save("a.npy", line)
    xorder.permute_in_place("a.npy", by="bitreverse * shuffle", memory="16MiB")
    assert same(np.load("a.npy"), xorder.permute(line, by="bitreverse * shuffle")) and sorted(os.listdir(".")) == ["a.npy", "a.raw"]


def test_errors(rng):
    np.save("a.npy", rng.random((20, 30)))
    np.save("b.npy", rng.random((30, 30)))
    a = np.zeros((3, 3))
    with open("b.fits", "wb"):
        pass
    for call, kind, says in [(lambda: xorder.permute_in_place("a.npy", by="gray"), ValueError, "power of two"),
                             (lambda: xorder.permute_in_place("a.npy", by=None), TypeError, "by is None"),
                             (lambda: xorder.transpose_in_place("b.npy", (0, 0)), ValueError, "not a permutation"),
                             (lambda: xorder.transpose_in_place("b.npy", memory="1MiB"), ValueError, "memory"),
                             (lambda: xorder.transpose_in_place("b.npy", tmpdir="nowhere"), FileNotFoundError, "nowhere"),
                             (lambda: xorder.transpose_in_place("nowhere.npy"), FileNotFoundError, "nowhere.npy"),
                             (lambda: xorder.transpose_in_place(a, memory="1GiB"), TypeError, "are for files"),
                             (lambda: xorder.transpose_in_place(a[::2, ::2]), ValueError, "C-contiguous"),
                             (lambda: xorder.transpose_in_place([[1]]), TypeError, "list"),
                             (lambda: xorder.resume("b.npy"), ValueError, "b.npy: nothing to resume"),
                             (lambda: xorder.rollback("b.npy"), ValueError, "b.npy: nothing to roll back"),
                             (lambda: xorder.resume("b\0.npy"), ValueError, "null byte")]:
        with pytest.raises(kind, match=says):
            call()
    assert sorted(os.listdir(".")) == ["a.npy", "b.fits", "b.npy"]


def test_resume_and_rollback(rng, few):
    for go_on in few([xorder.resume, xorder.rollback], 1):
        a = half_done(rng)
        for refused in [lambda: xorder.transpose_in_place("a.npy"), lambda: xorder.transpose("a.npy", "b.npy")]:
            with pytest.raises(ValueError, match="a.npy: is half done in place"):
                refused()
        os.mkdir("other")
        for name in ["a.npy", *hidden()]:  # all of it may have been moved
            if "undo" not in name:
                os.rename(name, "other/" + name)
        seen = []
        go_on("other/a.npy", progress=lambda done, total: seen.append(done))
        assert seen == sorted(seen) and os.listdir("other") == ["a.npy"] and os.listdir(".") == ["other"]
        assert same(np.load("other/a.npy"), a.T if go_on is xorder.resume else a)
        os.unlink("other/a.npy")
        os.rmdir("other")


def test_resumable(rng, few):
    """A run that is interrupted leaves what it has finished, and goes on with it: by resume(), and by the same job."""
    for again in few([False, True], 1):
        a, job = two_passes(rng)
        with pytest.warns(xorder.Note, match="`xorder resume b.npy` goes on"), ended(2):
            job.run()
        assert not os.path.exists("b.npy") and hidden()
        with pytest.raises(ValueError, match="not in place"):
            xorder.rollback("b.npy")
        report = job.run() if again else xorder.resume("b.npy")
        assert same(np.load("b.npy"), xorder.bitreverse(a)) and report["passes"] == 2
        assert sorted(os.listdir(".")) == ["a.npy", "b.npy", "disk.json"]
        os.unlink("b.npy")
    a, job = two_passes(rng)
    with pytest.warns(xorder.Note), ended(2):
        job.run()
    np.save("a.npy", a)
    with pytest.raises(ValueError, match="a.npy is another file or has changed since"):
        xorder.resume("b.npy")


def test_status_and_discard(rng):
    for nothing in [xorder.status, xorder.discard]:
        with pytest.raises(ValueError, match="b.npy: nothing to"):
            nothing("b.npy")
    _, job = two_passes(rng)
    with pytest.warns(xorder.Note), ended(2):
        job.run()
    found = xorder.status("b.npy")
    assert 0 < found["bytes_done"] < found["bytes_total"] and found["process"] == os.getpid()
    assert not found["running"] and not found["complete"] and not found["in_place"]
    xorder.discard("b.npy")
    assert sorted(os.listdir(".")) == ["a.npy", "disk.json"]
    half_done(rng)
    assert xorder.status("a.npy")["in_place"]
    for call in [lambda: xorder.transpose("a.npy"), lambda: xorder.open("a.npy"), lambda: xorder.flip("a.npy"),
                 lambda: xorder.transpose(np.zeros((2, 3)), "a.npy", overwrite=True)]:
        with pytest.raises(ValueError, match="a.npy: is half done in place"):
            call()
    with pytest.raises(ValueError, match="half done in place"):
        xorder.discard("a.npy")
    xorder.rollback("a.npy")


def test_resumable_options(rng):
    a = rng.random((30, 40))
    np.save("a.npy", a)
    xorder.transpose("a.npy", "b.npy", resumable=True)
    xorder.save("c.npy", np.load("a.npy", mmap_mode="r")[::2, ::-3].T, resumable=True)
    assert same(np.load("b.npy"), a.T) and same(np.load("c.npy"), a[::2, ::-3].T)
    for call in [lambda: xorder.transpose("a.npy", resumable=True), lambda: xorder.transpose(a, "d.npy", resumable=True),
                 lambda: xorder.flip("a.npy", out=np.empty_like(a), resumable=True)]:
        with pytest.raises(TypeError, match="from file to file"):
            call()
    assert sorted(os.listdir(".")) == ["a.npy", "b.npy", "c.npy"]


@pytest.mark.parametrize("order", ["C", "F"])
def test_everything_is_remembered(rng, order):
    """Views, other formats' arrays and several options: the journal has all that the job needs."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
    import containers
    a = rng.integers(0, 1 << 30, (1 << 11, 1 << 12)).astype(">f4" if order == "F" else ">i4")
    if order == "C":  # an image in a FITS file, and a result without a header
        with open("a.fits", "wb") as file:
            file.write(containers.fits(a))
        source, dst = _arrays.source("a.fits"), "b.raw"
    else:
        np.save("a.npy", np.asfortranarray(a))
        source, dst = _arrays.source(np.load("a.npy", mmap_mode="r")[:, ::-2]), "b.npy"
        source = _arrays.file_of(source)
    with open("disk.json", "w") as file:
        file.write('{"points": [[1048576, 1e6, 1e6]]}')
    os.mkdir("scratch")
    settings = _files.options("16MiB", 2, False, "scratch", "direct", True)
    settings.device = b"disk.json"
    job = _files.job_of(source, *_moves.task_of(None, "bitreverse", 0, None).of(source.shape, 4), dst, settings)
    expected = xorder.bitreverse(a if order == "C" else a[:, ::-2])
    assert job.passes > 1
    with pytest.warns(xorder.Note), ended(2):
        job.run()
    assert os.listdir("scratch")
    os.mkdir("elsewhere")
    os.chdir("elsewhere")
    xorder.resume("../" + dst)
    os.chdir("..")
    result = np.load(dst) if order == "F" else np.fromfile(dst, a.dtype).reshape(a.shape)
    assert same(result, expected) and not os.listdir("scratch") and not hidden()


@needs_program
def test_with_the_program(rng, few):
    """Each goes on with what the other has begun."""
    for command in few(["resume", "rollback"], 1):
        a = large(rng)
        killed("transpose", "--in-place", "a.npy")
        {"resume": xorder.resume, "rollback": xorder.rollback}[command]("a.npy")
        assert same(np.load("a.npy"), a.T if command == "resume" else a) and os.listdir(".") == ["a.npy"]
        a = half_done(rng)
        assert '"in_place":true' in program("status", "a.npy", "--json").stdout
        done = program(command, "a.npy")
        assert done.returncode == 0 and "a.npy: the rest of 19.53 MiB in " in done.stderr, done.stderr
        assert same(np.load("a.npy"), a.T if command == "resume" else a) and os.listdir(".") == ["a.npy"]
    a, job = two_passes(rng)
    with pytest.warns(xorder.Note), ended(2):
        job.run()
    done = program("resume", "b.npy")
    assert done.returncode == 0 and "2 passes" in done.stderr, done.stderr
    assert same(np.load("b.npy"), xorder.bitreverse(a)) and not hidden()
    os.unlink("b.npy")
    killed("bitreverse", "--resumable", "--device", "disk.json", "a.npy", "b.npy")
    xorder.resume("b.npy")
    assert same(np.load("b.npy"), xorder.bitreverse(a)) and not hidden()
