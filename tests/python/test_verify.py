"""Whether a file is right, whoever made it."""
import os
import subprocess

import numpy as np
import pytest
import xorder
from random_views import TYPES, random_array, random_view
from test_views import random_axes, stored
from xorder import _library, _verify


def test_against_numpy(rng, request):
    """Right of what NumPy makes, and wrong where a bit has changed."""
    tried = 0
    for number in range(request.config.getoption("--views") // 5):
        view = random_view(rng, stored(rng, random_array(rng)))
        if view.size == 0 or view.dtype == np.dtype(TYPES[-1]):  # NumPy does not copy what lies between its fields
            continue
        axes = random_axes(rng, view)
        expected = view.transpose(axes)
        np.save("b.npy", expected if rng.random() < 0.5 else np.array(expected, order="C"))
        try:
            verdict = xorder.verify(view, "b.npy", axes)
        except TypeError as error:  # a view whose elements overlap
            assert "in memory" in str(error)
            continue
        assert verdict and verdict.differences == [], (number, view.dtype, view.shape, view.strides, axes)
        tried += 1
        made = xorder.info("b.npy")
        place = made["offset"] + int(rng.integers(view.nbytes))
        with open("b.npy", "r+b") as file:
            file.seek(place)
            bits = file.read(1)[0] ^ 1 << int(rng.integers(8))
            file.seek(place)
            file.write(bytes([bits]))
        verdict = xorder.verify(view, "b.npy", axes)
        assert not verdict and len(verdict.differences) == 1, number
        found, = verdict.differences
        assert found.first_byte <= place < found.end_byte and 0 < found.end_byte - found.first_byte <= 4096 + 8
        element = (place - made["offset"]) // view.itemsize
        assert found.first_element <= element < found.end_element
        os.unlink("b.npy")
    assert tried > request.config.getoption("--views") // 25


def test_maps(rng):
    a = rng.random((8, 16))
    np.save("a.npy", a)
    xorder.permute("a.npy", "b.npy", by="gray", axis=1)
    assert xorder.verify("a.npy", "b.npy", by="gray", axis=1) and not xorder.verify("a.npy", "b.npy", by="gray")
    xorder.permute("a.npy", "c.raw", by=np.eye(7), complement=5)
    raw = xorder.Raw("c.raw", "f8", (8, 16))
    assert xorder.verify(xorder.open("a.npy"), raw, by=np.eye(7), complement=5)
    assert xorder.verify("a.npy", xorder.open(raw), by=np.eye(7), complement=5)
    verdict = xorder.verify("a.npy", raw, by=np.eye(7), complement=7)
    assert not verdict and "c.raw: not as it should be: bytes 0 to 1023 (elements 0 to 127)" == repr(verdict)


def test_many_places(rng):
    """Every other region, as far as they are told apart."""
    a = rng.random((4096, 1024))
    np.save("a.npy", a)
    a.reshape(-1, 1024)[::2, 7] += 1
    np.save("b.npy", a)
    seen = []
    verdict = xorder.verify("a.npy", "b.npy", (0, 1), memory="16MiB", progress=lambda done, total: seen.append((done, total)))
    assert len(verdict.differences) == 2048 and "and 2044 more places" in repr(verdict)
    assert seen[-1] == (2 * a.nbytes, 2 * a.nbytes)


def test_errors(rng):
    a = rng.random((20, 30))
    np.save("a.npy", a)
    np.save("b.npy", a.T.astype("f4"))
    np.save("c.npy", a.T)
    m = np.load("c.npy", mmap_mode="r")
    for call, kind, says in [(lambda: xorder.verify("a.npy", "b.npy"), ValueError, "its type is '<f4'"),
                             (lambda: xorder.verify("a.npy", "a.npy"), ValueError, "its shape is"),
                             (lambda: xorder.verify(m[::2, ::2].T, m[::2, ::2]), ValueError, "must follow each other"),
                             (lambda: xorder.verify(a, "c.npy"), TypeError, "src is an array in memory"),
                             (lambda: xorder.verify("a.npy", a.T.copy()), TypeError, "result is an array in memory"),
                             (lambda: xorder.verify("a.npy", "c.npy", (1, 0), by="gray"), TypeError, "exclude"),
                             (lambda: xorder.verify("a.npy", "c.npy", axis=1), TypeError, "need by="),
                             (lambda: xorder.verify("a.npy", "c.npy", (1, 1)), ValueError, "permutation"),
                             (lambda: xorder.verify("a.npy", "c.npy", memory="1MiB"), ValueError, "memory"),
                             (lambda: xorder.verify("a.npy", "nowhere.npy"), FileNotFoundError, "nowhere.npy")]:
        with pytest.raises(kind, match=says):
            call()

    def stop(done, total):
        raise InterruptedError("enough")

    with pytest.raises(InterruptedError):
        xorder.verify("a.npy", "c.npy", progress=stop)
    assert xorder.verify("a.npy", "c.npy")


def test_decay(rng, monkeypatch):
    """Checksums are those of the program, and find each MiB that has changed."""
    data = rng.bytes(3 << 20 | 5)
    with open("a.bin", "wb") as file:
        file.write(data)
    seen = []
    text = xorder.checksum("a.bin", progress=lambda *at: seen.append(at))
    assert text.count("\n") == 5 and seen[-1] == (len(data), len(data))
    with open("a.sums", "w", encoding="utf-8") as file:
        file.write(text)
    if "XORDER" in os.environ:
        assert subprocess.run([os.environ["XORDER"], "verify", "a.bin", "--checksum", "a.sums"], check=False).returncode == 0
    assert xorder.decay("a.bin", "a.sums") == []
    for place in sorted(int(p) for p in rng.integers(len(data), size=8)) + [len(data) - 1]:
        with open("a.bin", "r+b") as file:
            file.seek(place)
            file.write(bytes([data[place] ^ 1]))
            mib = place >> 20
            file.flush()
            assert xorder.decay("a.bin", "a.sums") == [(mib << 20, min(mib + 1 << 20, len(data)))], place
            file.seek(place)
            file.write(data[place:place + 1])
    with open("a.bin", "ab") as file:
        file.write(b"more")
    assert xorder.decay("a.bin", "a.sums")
    open("empty", "wb").close()
    with open("empty.sums", "w", encoding="utf-8") as file:
        file.write(xorder.checksum("empty"))
    assert xorder.decay("empty", "empty.sums") == []
    for wrong, says in [(b"no\n", "line 1"), (b"\0", "is no checksum")]:
        with open("wrong", "wb") as file:
            file.write(wrong)
        with pytest.raises(ValueError, match=f"wrong: .*{says}|wrong: is no"):
            xorder.decay("a.bin", "wrong")
    with pytest.raises(FileNotFoundError):
        xorder.checksum("missing")
    touch = _library.ProgressFunction(lambda *_: os.utime("a.bin") or 0)
    with monkeypatch.context() as patch, pytest.raises(OSError, match="changed while") as changed:
        patch.setattr(_verify, "apart", lambda call, paths, _: _library.check(call(touch), *paths))
        xorder.checksum("a.bin")
    assert changed.value.filename == "a.bin"
    asked, real = [], os.stat
    with monkeypatch.context() as patch:  # it grows after it was first looked at
        patch.setattr(os, "stat", lambda path: asked.append(path) or real("empty" if len(asked) == 1 else path))
        assert xorder.checksum("a.bin").count("\n") == 5 and len(asked) == 2
    with pytest.raises(FileNotFoundError):
        xorder.decay("a.bin", "missing")
