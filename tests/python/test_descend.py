"""Computations on files, against NumPy."""
import os
import threading

import numpy as np
import pytest
import xorder
from random_views import same


def test_scan(rng):
    for dtype, count in [("i4", 1000), (">u2", 1 << 12), ("f8", 777), ("?", 50)]:
        a = (rng.random(count) * 100 - 50).astype(dtype).reshape(-1, 1 if count % 2 else 2)
        np.save("a.npy", a)
        for op, function in [("sum", np.add), ("min", np.minimum), ("max", np.maximum)]:
            flat = a.reshape(-1)
            expected = function.accumulate(flat.astype("f8" if dtype == "f8" else "i8")).astype(a.dtype)
            xorder.scan("a.npy", "b.npy", op, overwrite=True)
            result = np.load("b.npy")
            assert result.dtype == a.dtype and np.allclose(result.astype(float), expected.astype(float)), (dtype, op)
    np.save("a.npy", rng.integers(0, 1 << 20, (30, 40)))
    m = np.load("a.npy", mmap_mode="r")
    xorder.scan(m[3:7], "c.npy", op="xor")
    assert same(np.load("c.npy"), np.bitwise_xor.accumulate(m[3:7].reshape(-1)))


def test_a_scan_goes_on(rng):
    """An interrupted run keeps what is finished; the same call goes on, another one is refused."""
    a = rng.integers(0, 100, 1 << 22)
    np.save("a.npy", a)

    def stop(done, total):
        if done >= total // 2:  # one pass of two
            raise RuntimeError("enough")

    for _ in range(50):  # it is told so often that nearly every run is stopped before its end
        with pytest.raises(RuntimeError, match="enough"):
            xorder.scan("a.npy", "b.npy", memory="16MiB", resumable=True, overwrite=True, progress=stop)
        if not os.path.exists("b.npy"):
            break
    assert 0 < xorder.status("b.npy")["bytes_done"]
    with pytest.raises(ValueError, match="the same job"):
        xorder.resume("b.npy")
    with pytest.raises(ValueError, match="makes something else"):
        xorder.scan("a.npy", "b.npy", "max", memory="16MiB", resumable=True)
    xorder.scan("a.npy", "b.npy", memory="16MiB", resumable=True)
    assert same(np.load("b.npy"), np.cumsum(a))


def test_shift(rng):
    for a in [rng.random((7, 9)), rng.integers(0, 100, 64).astype("u1"), np.array(["ab", "cd", "ef"], "S2")]:
        np.save("a.npy", a)
        for by in [0, 1, -1, 5, a.size, -3 * a.size - 2, 1 << 40]:
            xorder.shift("a.npy", "b.npy", by, overwrite=True)
            assert same(np.load("b.npy"), np.roll(a.reshape(-1), by % a.size).reshape(a.shape)), by


def test_merge_and_tridiagonal(rng):
    a = np.concatenate([np.sort(rng.random(1 << 11)), np.sort(rng.random(1 << 11))])
    np.save("a.npy", a)
    xorder.merge("a.npy", "b.npy")
    assert same(np.load("b.npy"), np.sort(a))
    rows = rng.random((4, 1 << 10))
    rows[1] += 3
    np.save("rows.npy", rows)
    m = np.load("rows.npy", mmap_mode="r")
    xorder.tridiagonal(m[0], m[1], m[2], m[3], "x.npy", memory="16MiB", progress=lambda done, total: None)
    x = np.load("x.npy")
    right = rows[1] * x
    right[1:] += rows[0, 1:] * x[:-1]
    right[:-1] += rows[2, :-1] * x[1:]
    assert np.allclose(right, rows[3])


def test_descend(rng):
    a = rng.random(1 << 14)
    np.save("a.npy", a.reshape(128, 128))
    for ascends in [False, True]:
        threads = set()

        def step(b, first, x, plus, minus, out):
            threads.add(threading.get_ident())
            assert len(x) == len(plus) == len(minus) == len(out) and out.flags.writeable and not x.flags.writeable
            out[:] = 0.5 * x + plus * (b + 1) - minus / (1 + np.arange(first, first + len(x)))

        xorder.descend("a.npy", "b.npy", step, ascends=ascends, overwrite=True)
        expected = a
        for b in range(14) if ascends else reversed(range(14)):
            expected = 0.5 * expected + np.roll(expected, -(1 << b)) * (b + 1) - np.roll(expected, 1 << b) / (1 + np.arange(1 << 14))
        assert np.allclose(np.load("b.npy").reshape(-1), expected) and threading.get_ident() not in threads
    rows = np.zeros(16, [("t", "u4"), ("x", "f8")])
    rows["t"] = np.arange(16)
    np.save("c.npy", rows)

    def older(b, first, x, plus, minus, out):
        out[:] = x
        out["x"] += minus["t"]

    xorder.descend("c.npy", "d.npy", older)
    assert np.load("d.npy")["x"].sum() == 4 * np.arange(16).sum()


class Wrong(Exception):
    pass


def test_exceptions_of_steps(rng):
    """They come out as they are, of small and of large files, and nothing is left."""
    for lg in [4, 20]:
        np.save("a.npy", np.zeros(1 << lg))

        def step(b, first, x, plus, minus, out):
            out[:] = x
            if b == 2:
                raise Wrong(b)

        with pytest.raises(Wrong):
            xorder.descend("a.npy", "b.npy", step, memory="16MiB")
        assert os.listdir(".") == ["a.npy"]


def test_errors(rng):
    np.save("a.npy", rng.random((30, 40)))
    m = np.load("a.npy", mmap_mode="r")
    np.save("noise.npy", rng.random(64))
    for call, kind, says in [
            (lambda: xorder.scan("a.npy", "b.npy", "mean"), ValueError, "mean"),
            (lambda: xorder.scan("a.npy", "b.npy", "xor"), ValueError, "xor"),
            (lambda: xorder.scan("a.npy", "b.npy", 7), TypeError, "op is 7"),
            (lambda: xorder.scan(m.T, "b.npy"), ValueError, "order|follow"),
            (lambda: xorder.scan(np.zeros(8), "b.npy"), TypeError, "in memory"),
            (lambda: xorder.scan("a.npy", np.zeros(1200)), TypeError, "not a path"),
            (lambda: xorder.shift("a.npy", "b.npy", 0.5), TypeError, "float"),
            (lambda: xorder.shift("a.npy", "b.npy", 1 << 70), ValueError, "more than any file"),
            (lambda: xorder.shift(m[::2], "b.npy", 1), ValueError, "follow each other"),
            (lambda: xorder.merge("a.npy", "b.npy"), ValueError, "the number of elements"),
            (lambda: xorder.merge("noise.npy", "b.npy"), ValueError, "noise.npy"),
            (lambda: xorder.tridiagonal("noise.npy", "noise.npy", "a.npy", "a.npy", "b.npy"), ValueError, "its shape"),
            (lambda: xorder.descend("noise.npy", "b.npy", None), TypeError, "not callable"),
            (lambda: xorder.descend("noise.npy", "a.npy", print), FileExistsError, "exists"),
            (lambda: xorder.descend("noise.npy", "noise.npy", print, overwrite=True), ValueError, "same file"),
            (lambda: xorder.scan("nowhere.npy", "b.npy"), FileNotFoundError, "nowhere.npy")]:
        with pytest.raises(kind, match=says):
            call()
    assert sorted(os.listdir(".")) == ["a.npy", "noise.npy"]
