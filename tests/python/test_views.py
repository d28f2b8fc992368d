"""Views of all kinds, in files and in memory, against NumPy."""
import mmap
import os
import pathlib
import subprocess
import sys
from multiprocessing import shared_memory

import numpy as np
import pytest
import xorder
from random_views import random_array, random_place, random_view, same
from xorder import _files, _memory


def stored(rng, array):
    """The array in a file, mapped: as .npy, or raw at any offset."""
    for name in ("a.npy", "a.bin"):
        if os.path.exists(name):
            os.unlink(name)
    mode = str(rng.choice(["r", "r+"]))
    if array.size == 0 or rng.random() < 0.5:
        np.save("a.npy", array)
        return np.load("a.npy", mmap_mode=mode)
    offset, order = int(rng.integers(0, 70)), "F" if array.flags.f_contiguous else "C"
    with open("a.bin", "wb") as file:
        file.write(bytes(offset) + array.tobytes(order))
    return np.memmap("a.bin", array.dtype, mode, offset, array.shape, order)


def random_axes(rng, view):
    return [int(axis) - view.ndim * int(rng.integers(2)) for axis in rng.permutation(view.ndim)]


def test_random_views(rng, request, monkeypatch):
    read = 0
    for number in range(request.config.getoption("--views")):
        # All engines, of small arrays too.
        monkeypatch.setattr(_memory, "SMALL", int(rng.choice([0, 1 << 16])))
        monkeypatch.setattr(_files, "SLAB", int(rng.choice([100, 1000, 1 << 20])))
        array = random_array(rng)
        in_file = rng.random() < 0.5
        view = random_view(rng, stored(rng, array) if in_file else array)
        axes = random_axes(rng, view)
        about = f"view {number}: {array.dtype} {array.shape}, {view.dtype} {view.shape} {view.strides}, axes {axes}"

        assert same(xorder.ascontiguousarray(view), np.ascontiguousarray(view)), about
        assert same(xorder.transpose(view, axes=axes), view.transpose(axes)), about
        expected = view.transpose(axes)
        whole, part = random_place(rng, expected)
        filled = whole.copy()
        out, filled[part] = whole[part], expected
        assert xorder.transpose(view, out, axes) is out and same(whole, filled), f"{about}, to {out.strides}"
        if number % 2:
            if os.path.exists("b.npy"):
                os.unlink("b.npy")
            xorder.save("b.npy", view)
            assert same(np.load("b.npy"), view), about
            read += in_file and view.size > 0
            xorder.transpose("b.npy", "c.bin", axes, overwrite=True)
            assert same(np.fromfile("c.bin", view.dtype).reshape(expected.shape), expected), about
            assert os.listdir(".").count("b.npy") == 1 and len(os.listdir(".")) <= 4, about
    assert read > request.config.getoption("--views") // 10


def test_from_the_file(rng):
    """Views of maps go from file to file; arrays in memory do not."""
    a = rng.random((50, 60))
    np.save("a.npy", a)
    m = np.load("a.npy", mmap_mode="r")
    for view in [m, m.T, m[::-2, 5:50:3], m[3:], np.asarray(m)[7], m.reshape(5, 10, 60)[:, ::2], m[:, None, ::-1]]:
        job = xorder.plan(view, "b.npy", range(view.ndim))
        assert job.bytes == view.nbytes
        assert "reads" in job.run() and same(np.load("b.npy"), view)
        os.unlink("b.npy")
    for memory in [a, a.T, m * 2]:
        with pytest.raises(TypeError, match="in memory"):
            xorder.plan(memory, "b.npy")


def test_dirty_maps_are_flushed():
    np.save("a.npy", np.zeros((1000, 100)))
    m = np.load("a.npy", mmap_mode="r+")
    for value in range(5):
        m[...] = value
        assert "reads" in xorder.save("b.npy", m.T[::-1], overwrite=True)
        assert (np.load("b.npy") == value).all()


def test_private_maps_are_refused():
    np.save("a.npy", np.zeros(10))
    m = np.load("a.npy", mmap_mode="c")
    m[0] = 1
    with pytest.raises(ValueError, match="a.npy: is mapped with mode 'c'"):
        xorder.save("b.npy", m[::2])
    assert same(xorder.transpose(m), m)  # in memory it is an array like any other


def test_unlinked_and_replaced_files():
    """A file that has lost its name is read as memory."""
    np.save("a.npy", np.arange(100.))
    m = np.load("a.npy", mmap_mode="r")
    os.unlink("a.npy")
    assert "reads" not in xorder.save("b.npy", m[::-1]) and same(np.load("b.npy"), m[::-1])
    np.save("a.npy", np.zeros(100))
    assert "reads" not in xorder.save("c.npy", m) and same(np.load("c.npy"), m)
    os.unlink("a.npy")
    os.mkfifo("a.npy")
    assert "reads" not in xorder.save("d.npy", m)


def test_overlapping_views():
    """As NumPy makes them; they are written like arrays in memory."""
    np.save("a.npy", np.arange(100.))
    m = np.load("a.npy", mmap_mode="r")
    for view in [np.broadcast_to(m, (3, 100)), np.lib.stride_tricks.sliding_window_view(m, 5),
                 np.lib.stride_tricks.as_strided(m, (5, 6), (8, 16))]:
        xorder.save("b.npy", view, overwrite=True)
        assert same(np.load("b.npy"), view)
        assert same(xorder.ascontiguousarray(view), view)
        assert same(xorder.transpose(view), view.T)


def test_other_maps():
    """Of a file that mmap has opened, of shared memory, and of none."""
    a = np.arange(1000.)
    a.tofile("a.raw")
    with open("a.raw", "r+b") as file:
        mapped = np.frombuffer(mmap.mmap(file.fileno(), 0))
    mapped[5] = 7
    assert "reads" in xorder.save("b.npy", mapped[::-3]) and same(np.load("b.npy"), mapped[::-3])
    anonymous = np.frombuffer(mmap.mmap(-1, 8000))
    private = np.frombuffer(mmap.mmap(-1, 8000, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    for memory in [anonymous, private]:
        assert "reads" not in xorder.save("b.npy", memory, overwrite=True)
        assert same(np.load("b.npy"), memory)
    shared = shared_memory.SharedMemory(create=True, size=8000)
    try:
        array = np.ndarray((10, 100), "f8", shared.buf)
        array[:] = a.reshape(10, 100)
        xorder.save("b.npy", array.T, overwrite=True)
        assert same(np.load("b.npy"), array.T)
        del array
    finally:
        shared.close()
        shared.unlink()


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_subclasses_and_names(rng):
    matrix = np.matrix(rng.random((1, 300)))
    record = np.zeros((20, 30), [("größe", "f4"), ("名", "u2")]).view(np.recarray)
    record["名"] = rng.integers(0, 100, record.shape)
    for array in [matrix, record]:
        expected = np.asarray(array).T
        assert same(xorder.transpose(array), expected)
        assert same(np.asarray(xorder.transpose(array, out=np.zeros(expected.shape, array.dtype))), expected)
        xorder.transpose(array, "b.npy", overwrite=True)
        assert same(np.load("b.npy"), expected.view(np.ndarray).astype(np.load("b.npy").dtype))
        xorder.save("c.npy", np.load("b.npy", mmap_mode="r")[::-1], overwrite=True)
        assert same(np.load("c.npy"), np.load("b.npy")[::-1])
        assert xorder.transpose_in_place(array.copy()).shape == expected.shape
    many = np.zeros(3, [(f"field{i}", "<f4") for i in range(3000)])
    xorder.save("d.npy", many)
    xorder.save("e.npy", np.load("d.npy", mmap_mode="r", max_header_size=1 << 20)[::-1])
    assert np.load("e.npy", max_header_size=1 << 20).dtype == many.dtype


def test_raw(rng):
    a = rng.random((20, 30)).astype("f4")
    with open("a.raw", "wb") as file:
        file.write(b"head" + a.tobytes() + b"and more")
    np.asfortranarray(a).T.tofile("f.raw")
    raw = xorder.Raw("a.raw", "f4", (20, 30), 4)
    xorder.transpose(raw, "b.npy")
    assert same(np.load("b.npy"), a.T)
    assert same(xorder.transpose(raw), a.T) and same(xorder.open(raw), a)
    assert same(xorder.transpose(xorder.Raw("f.raw", "f4", (20, 30), order="F"), axes=(0, 1)), a)
    assert same(xorder.flip(xorder.Raw("a.raw", "f4", (10, 30), 4, (240, 4)), axis=0), a[18::-2])
    xorder.flip(xorder.Raw("f.raw", "f4", (20,), 4, (4,)), "c")
    assert same(np.load("c"), np.fromfile("f.raw", "f4")[20:0:-1])
    assert xorder.open(xorder.Raw("f.raw", "f8")).shape == (300,)
    for wrong, message in [(xorder.Raw("a.raw", "f4", (21, 31), 4), "bytes"), (xorder.Raw("a.raw", "f4"), None),
                           (xorder.Raw("f.raw", "f4", (20, 30), 4), "bytes"), (xorder.Raw("f.raw", "f4", (2, 2), 0, (4,)), "strides"),
                           (xorder.Raw("f.raw", "f4", (2,), -4), "negative"), (xorder.Raw("f.raw", "f4", order="A"), "order"),
                           (xorder.Raw("f.raw", "V0"), "no bytes"), (xorder.Raw("f.raw", "f4", (2, 3), 0, (4, 4)), "overlap")]:
        if message:
            with pytest.raises(ValueError, match=message):
                xorder.transpose(wrong, "d.npy")
    with pytest.raises(TypeError):
        xorder.transpose(xorder.Raw("f.raw", "O"), "d.npy")
    with pytest.raises(FileNotFoundError):
        xorder.transpose(xorder.Raw("nowhere", "f4", (2,)))
    assert not os.path.exists("d.npy")


def test_permutations(rng):
    """Maps of files, arrays and views give the same, and what NumPy's indices say."""
    a = rng.integers(0, 1000, (8, 16))
    np.save("a.npy", a)
    m = np.load("a.npy", mmap_mode="r")
    reversal = [int(f"{x:07b}"[::-1], 2) for x in range(128)]
    expected = a.reshape(-1)[reversal].reshape(8, 16)
    along = a[:, [int(f"{x:04b}"[::-1], 2) for x in range(16)]]
    for src in ["a.npy", a, m, np.asfortranarray(a)]:
        assert same(xorder.bitreverse(src), expected)
        assert same(xorder.bitreverse(src, axis=-1), along)
        xorder.bitreverse(src, "b.npy", axis=1, overwrite=True)
        assert same(np.load("b.npy"), along)
        out = np.empty_like(a, order="F")
        assert xorder.permute(src, out, by="gray^-1 * gray") is out and same(out, a)
        matrix = np.eye(7, dtype=int)[::-1]
        assert same(xorder.permute(src, by=matrix), expected)
        assert same(xorder.permute(src, by=np.eye(7), complement=127), a[::-1, ::-1])
        xorder.permute(src, "b.npy", by=np.eye(7, dtype=bool), complement=127, overwrite=True)
        assert same(np.load("b.npy"), a[::-1, ::-1])
    assert same(xorder.bitreverse(m[:, ::4]), a[:, ::4].reshape(-1)[[int(f"{x:05b}"[::-1], 2) for x in range(32)]].reshape(8, 4))
    xorder.bitreverse(m[::-2, ::-4], "b.npy", overwrite=True)
    assert same(np.load("b.npy"), xorder.bitreverse(a[::-2, ::-4].copy()))
    assert same(xorder.flip(m, axis=(0, 1)), a[::-1, ::-1]) and same(xorder.flip("a.npy"), a[::-1, ::-1])
    for wrong in ["", "turn", "gray *", "shuffle(", "\0", np.eye(6), np.ones((7, 7)), [[2]], np.eye(7) * 0.5]:
        with pytest.raises(ValueError):
            xorder.permute(a, by=wrong)
    with pytest.raises(ValueError, match="not a power of two"):
        xorder.bitreverse(a[:7])
    with pytest.raises(ValueError, match="out of bounds"):
        xorder.bitreverse(a, axis=2)
    with pytest.raises(ValueError):
        xorder.permute(a, by=np.eye(7), complement=128)
    with pytest.raises(TypeError):
        xorder.permute(a, by=None)


def test_containers(rng):
    """FILE:NAME, mapped and transposed. The header is as the command line's tests write it."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
    import containers
    volume = rng.random((4, 5, 6)).astype(">f4")
    image = containers.fits_unit(volume, ("XTENSION", "IMAGE"), PCOUNT=0, GCOUNT=1, EXTNAME="SCI")
    with open("cube.fits", "wb") as file:
        file.write(containers.fits(None) + image)
    with open("scan.nii", "wb") as file:
        file.write(containers.nifti(volume))
    expected = xorder.open("cube.fits:SCI")
    assert same(expected, volume)
    xorder.transpose("cube.fits:SCI", "b.npy", (2, 0, 1))
    assert same(np.load("b.npy"), volume.transpose(2, 0, 1))
    assert xorder.info("cube.fits:SCI")["format"] == "fits"
    scan = xorder.open("scan.nii:data")
    assert same(xorder.transpose("scan.nii:data"), scan.T)
    xorder.save("c.npy", scan[1:, ::-1])
    assert same(np.load("c.npy"), scan[1:, ::-1])
    with pytest.raises(ValueError, match="NAME|no array|there is|SCI"):
        xorder.open("cube.fits:NONE")


@pytest.mark.skipif("XORDER" not in os.environ, reason="XORDER names no program")
def test_trace():
    np.save("a.npy", np.zeros((50, 60)))
    subprocess.run([os.environ["XORDER"], "transpose", "a.npy", "b.npy", "--trace", "run.trace", "-q"], check=True)
    records, run = xorder.load_trace("run.trace")
    assert records["bytes"][records["write"]].sum() >= 24000 and "files" in run
    with pytest.raises(ValueError, match="not a trace"):
        xorder.load_trace("a.npy")
    with pytest.raises(FileNotFoundError):
        xorder.load_trace("nowhere")
