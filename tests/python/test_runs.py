"""Runs from file to file: options, progress, interrupts, errors, threads and processes."""
import errno
import multiprocessing
import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest
import xorder
from random_views import same


@pytest.fixture
def a(rng):
    array = rng.random((300, 400))
    np.save("a.npy", array)
    return array


def test_options(a):
    os.mkdir("scratch")
    for options in [{}, {"memory": "16MiB"}, {"memory": 1 << 25}, {"memory": " 0.5 g "}, {"threads": 1}, {"io": "mapped"},
                    {"io": "direct"}, {"tmpdir": "scratch"}, {"progress": lambda done, total: None}]:
        report = xorder.transpose("a.npy", "b.npy", overwrite=True, **options)
        assert same(np.load("b.npy"), a.T) and report["bytes"] == a.nbytes
    xorder.transpose(b"a.npy", os.fspath("b.raw"))
    assert same(np.fromfile("b.raw"), a.T.reshape(-1))
    for options, kind in [({"memory": "1MiB"}, ValueError), ({"memory": "lots"}, ValueError), ({"memory": "5iB"}, ValueError),
                          ({"memory": 0}, ValueError), ({"memory": -1}, ValueError), ({"memory": 1.5}, TypeError),
                          ({"threads": 0}, ValueError), ({"threads": 5000}, ValueError), ({"io": "fast"}, ValueError),
                          ({"tmpdir": "nowhere"}, FileNotFoundError), ({"progress": 7}, TypeError)]:
        with pytest.raises(kind):
            xorder.transpose("a.npy", "c.npy", **options)
        assert not os.path.exists("c.npy")


def test_plan(a):
    job = xorder.plan("a.npy", "b.npy", (1, 0), memory="16MiB")
    assert (job.passes, job.bytes) == (1, a.nbytes) and job.seconds > 0 and 0 < job.memory <= 16 << 20
    assert "pass" in repr(job) and not os.path.exists("b.npy")
    assert job.run()["passes"] == 1
    with pytest.raises(FileExistsError):
        job.run()
    np.save("d.npy", a[:256])
    assert xorder.plan("d.npy", "c.npy", by="reverse", axis=0).bytes == a[:256].nbytes
    with pytest.raises(TypeError):
        xorder.plan("a.npy", "c.npy", (0, 1), by="gray")
    with pytest.raises(TypeError):
        xorder.plan("a.npy", "c.npy", axis=0)
    with pytest.raises(TypeError):
        xorder.plan("a.npy", None)


def test_errors(a):
    os.mkdir("closed")
    with open("there.raw", "wb"):
        pass
    cases = [
        (lambda: xorder.transpose("nowhere.npy", "b.npy"), FileNotFoundError, errno.ENOENT, "nowhere.npy"),
        (lambda: xorder.transpose("nowhere.npy"), FileNotFoundError, errno.ENOENT, "nowhere.npy"),
        (lambda: xorder.transpose("a.npy", "nowhere/b.npy"), FileNotFoundError, errno.ENOENT, None),
        (lambda: xorder.save("a.npy", a), FileExistsError, errno.EEXIST, "a.npy"),
        (lambda: xorder.transpose("a.npy", "a.npy"), (FileExistsError, ValueError), None, None),
        (lambda: xorder.save("nowhere/b.npy", a), FileNotFoundError, errno.ENOENT, None),
        (lambda: xorder.transpose(".", "b.npy"), (OSError, ValueError), None, None),
        (lambda: xorder.transpose("a.npy", "b.tif"), ValueError, None, None),
        (lambda: xorder.save("b.tif", a), ValueError, None, None),
        (lambda: xorder.transpose("a.npy", "b\0.npy"), ValueError, None, None),
        (lambda: xorder.transpose("a\0.npy", "b.npy"), ValueError, None, None),
        (lambda: xorder.transpose("a.npy", 7), TypeError, None, None),
        (lambda: xorder.transpose("a.npy", xorder.Raw("b.raw", "f4")), TypeError, None, None),
        (lambda: xorder.transpose(a, xorder.Raw("b.raw", "f4")), TypeError, None, None),
        (lambda: xorder.transpose("a.npy", xorder.Raw("b.raw", "f8", (300, 400))), ValueError, None, None),
        (lambda: xorder.transpose("a.npy", xorder.Raw("b.raw", "f8", strides=(8, 3200))), ValueError, None, None),
        (lambda: xorder.transpose("a.npy", xorder.Raw("b.raw", "f8", offset=-1)), ValueError, None, None),
        (lambda: xorder.transpose("a.npy", xorder.Raw("b.raw", "f8", order="A")), ValueError, None, None),
        (lambda: xorder.transpose("a.npy", xorder.Raw("b.npy", "f8")), ValueError, None, None),
        (lambda: xorder.transpose(a, xorder.Raw("b.npy", "f8")), ValueError, None, None),
        (lambda: xorder.transpose(a, xorder.Raw("b.tif", "f8")), ValueError, None, None),
        (lambda: xorder.transpose("a.npy", xorder.Raw("b.tif", "f8")), ValueError, None, None),
        (lambda: xorder.save("b.h5", a), ValueError, None, None),
        (lambda: xorder.save("b.h5:/x", a), ValueError, None, None),
        (lambda: xorder.transpose("a.npy", xorder.Raw("there.raw", "f8", offset=8)), FileExistsError, errno.EEXIST, "there.raw"),
        (lambda: xorder.save(xorder.Raw("b.raw", "f8"), ["a.npy", "a.npy"], stack=0), TypeError, None, None),
        (lambda: xorder.save(a, a), TypeError, None, None),
        (lambda: xorder.open(a), TypeError, None, None),
        (lambda: xorder.transpose("a.npy", "b.npy", (0,)), ValueError, None, None),
        (lambda: xorder.bitreverse("a.npy", "b.npy"), ValueError, None, None),
    ]
    before = sorted(os.listdir("."))
    for number, (call, kind, code, name) in enumerate(cases):
        with pytest.raises(kind) as raised:
            call()
        if code is not None:
            assert raised.value.errno == code, number
        if name is not None:
            assert raised.value.filename == name, number
        assert sorted(os.listdir(".")) == before, number
    if os.geteuid() != 0:
        os.chmod("closed", 0o500)
        with pytest.raises(PermissionError):
            xorder.transpose("a.npy", "closed/b.npy")


def test_a_file_that_shrinks(a):
    job = xorder.plan("a.npy", "b.npy")
    os.truncate("a.npy", 1000)
    with pytest.raises(OSError) as raised:
        job.run()
    assert raised.value.filename == "a.npy" and os.listdir(".") == ["a.npy"]


def test_a_full_disk(a):
    job_bytes = a.nbytes
    import resource
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (job_bytes // 2, limit[1]))
    try:
        for src in ["a.npy", a]:
            with pytest.raises(OSError) as raised:
                xorder.transpose(src, "b.npy")
            assert raised.value.errno == errno.EFBIG, raised.value
            assert os.listdir(".") == ["a.npy"]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)


def test_progress(a):
    for src in ["a.npy", a]:
        seen = []
        xorder.transpose(src, "b.npy", overwrite=True, progress=lambda done, total: seen.append((done, total, threading.get_ident())))
        assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
        assert seen[-1][0] == seen[-1][1] and {thread for _, _, thread in seen} == {threading.get_ident()}


class Stop(Exception):
    pass


@pytest.mark.parametrize("kind", [Stop, KeyboardInterrupt, SystemExit])
def test_exceptions_of_progress(kind):
    """They come out as they are, and nothing is left."""
    with open("a.raw", "wb") as file:
        file.truncate(64 << 20)
    raw = xorder.Raw("a.raw", "f8", (1 << 10, 1 << 13))

    def stop(done, total):
        raise kind("enough")

    with pytest.raises(kind):
        xorder.transpose(raw, "b.npy", memory="16MiB", progress=stop)
    # A run may be done before it is asked for the first time; its output is then complete.
    assert set(os.listdir(".")) <= {"a.raw", "b.npy"}
    with pytest.raises(kind):
        xorder.save("c.npy", xorder.open(raw) + 1, progress=stop)
    assert "c.npy" not in os.listdir(".") and set(os.listdir(".")) <= {"a.raw", "b.npy"}


def test_interrupts():
    """Control-C while the library works: KeyboardInterrupt, and the output is absent or complete."""
    with open("a.raw", "wb") as file:
        file.truncate(128 << 20)
    raw = xorder.Raw("a.raw", "f4", (1 << 12, 1 << 13))
    main = threading.main_thread().ident
    absent = 0
    for number in range(4):
        def interrupt(delay=number * 0.02):
            while not any(thread.name == "xorder" for thread in threading.enumerate()):
                time.sleep(0.001)
            time.sleep(delay)
            signal.pthread_kill(main, signal.SIGINT)

        killer = threading.Thread(target=interrupt)
        killer.start()
        with pytest.raises(KeyboardInterrupt):
            xorder.transpose(raw, "b.npy", memory="16MiB")
            killer.join()
        killer.join()
        while any(thread.name == "xorder" for thread in threading.enumerate()):  # one that never began may still be ending
            time.sleep(0.01)
        assert set(os.listdir(".")) <= {"a.raw", "b.npy"}
        if os.path.exists("b.npy"):
            assert np.load("b.npy", mmap_mode="r").shape == (1 << 13, 1 << 12)
            os.unlink("b.npy")
        else:
            absent += 1
    print(f"{absent} of 4 were interrupted in time")


def test_notes_are_warnings():
    np.save("a.npy", np.zeros((4, 5)))
    with open("a.npy", "ab") as file:
        file.write(b"behind")
    with pytest.warns(xorder.Note, match="6 bytes behind the array are left out") as warned:
        xorder.transpose("a.npy", "b.npy")
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(xorder.Note):
            xorder.transpose("a.npy", "c.npy")
    assert np.load("c.npy").shape == (5, 4)  # it was complete by then


def test_overwriting(a):
    np.save("b.npy", np.zeros(3))
    os.chmod("b.npy", 0o640)
    for src in ["a.npy", a]:
        xorder.transpose(src, "b.npy", overwrite=True)
        assert same(np.load("b.npy"), a.T) and os.stat("b.npy").st_mode & 0o777 == 0o640
    os.symlink("b.npy", "link.npy")
    xorder.save("link.npy", a, overwrite=True)
    assert os.path.islink("link.npy") and same(np.load("b.npy"), a)


def test_other_suffixes(a):
    xorder.save("b.dat", a.T)
    assert same(np.fromfile("b.dat"), a.T.reshape(-1))
    xorder.save("b", a.T)
    assert same(np.load("b"), a.T)


def test_raw_targets(a):
    """From a file and from memory, with room for a header, in both orders, under any name."""
    m = np.load("a.npy", mmap_mode="r")
    for number, src in enumerate([a, m, "a.npy", xorder.Raw("a.npy", "f8", (300, 400), 128)]):
        for order in "CF":
            dst = xorder.Raw(f"b{number}{order}.img", "f8", offset=700, order=order)
            xorder.transpose(src, dst)
            assert open(dst.path, "rb").read() == bytes(700) + a.T.tobytes(order), (number, order)
            described = xorder.Raw(dst.path, "f8", (400, 300), 700, order=order)
            assert same(xorder.open(described), a.T) and xorder.verify("a.npy", described)
            xorder.flip(src, xorder.Raw(dst.path, "f8", (300, 400)), overwrite=True)
            assert same(np.fromfile(dst.path).reshape(a.shape), a[::-1, ::-1])
    assert xorder.plan(m[::2], xorder.Raw("c.tif", "f8", (400, 150), 4096), resumable=True).run()["bytes"] == a.nbytes // 2
    assert same(np.fromfile("c.tif", offset=4096).reshape(400, 150), a[::2].T)
    xorder.save(xorder.Raw("d", "f8", order="F"), m[:, :256])
    assert open("d", "rb").read() == a[:, :256].tobytes("F")
    xorder.permute(xorder.Raw("d", "f8", (300, 256), order="F"), xorder.Raw("e", "f8", order="F"), by="bitreverse", axis=1)
    assert same(xorder.open(xorder.Raw("e", "f8", (300, 256), order="F")), xorder.bitreverse(a[:, :256], axis=1))


# ---- Threads and processes


def transposed(rows):
    """In memory and from file to file. Returns whether it is right."""
    array = np.arange(rows * 300.).reshape(rows, 300)
    name = f"p{os.getpid()}-{threading.get_ident()}-{rows}"
    np.save(name + ".npy", array)
    xorder.save(name + ".out", np.load(name + ".npy", mmap_mode="r").T, threads=2)
    right = same(np.load(name + ".out"), array.T) and same(xorder.transpose(array, threads=2), array.T)
    os.unlink(name + ".npy")
    os.unlink(name + ".out")
    return right


def test_threads():
    plan = xorder.Plan((500, 300), "f8")
    source = np.arange(500 * 300.).reshape(500, 300)
    right = []

    def work(number):
        out = np.empty((300, 500))
        for _ in range(20):
            out[...] = 0
            plan(source, out, threads=2)
            right.append(same(out, source.T))
        right.append(transposed(500 + number))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(right) == 42 and all(right)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method):
    assert transposed(400)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(transposed, [400, 401, 402, 403]).get(120) == [True] * 4
