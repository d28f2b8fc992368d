"""Datasets of h5py, which are read where they lie in the file."""
import os

import numpy as np
import pytest
import xorder
from random_views import same

h5py = pytest.importorskip("h5py", reason="h5py is not installed")


@pytest.mark.parametrize("userblock", [0, 512])
def test_datasets(rng, userblock):
    a = rng.random((30, 40)).astype(">f4")
    rows = np.zeros(16, [("t", "<u4"), ("x", "<f8")])
    rows["t"] = np.arange(16)
    with h5py.File("a.h5", "w", userblock_size=userblock) as file:
        x = file.create_dataset("g/x", data=a)
        for turned in [xorder.transpose(x), xorder.transpose(x, out=np.empty((40, 30), ">f4"))]:
            assert same(turned, a.T)
        report = xorder.transpose(x, "b.npy")
        assert same(np.load("b.npy"), a.T) and "reads" in report and xorder.verify(x, "b.npy")
        x[3, 5] = 7  # what is not in the file yet
        xorder.flip(x, "c.npy", axis=0)
        assert same(np.load("c.npy"), x[()][::-1]) and np.load("c.npy")[26, 5] == 7
        xorder.save("d.npy", [x, x], stack=0)
        assert same(np.load("d.npy"), np.stack([x[()], x[()]]).astype(">f4"))
        for values in [rows, np.array([True, False]), rng.random(8) * 1j, np.float32(3), np.array([b"ab", b"cd"])]:
            dataset = file.create_dataset(f"y{len(file)}", data=values)
            assert same(xorder.transpose(dataset), np.asarray(values)), dataset
        assert xorder.transpose(file.create_dataset("none", (0, 4))).shape == (4, 0)
    with h5py.File("a.h5", "r") as file:
        assert "reads" in xorder.save("e.npy", file["g/x"]) and np.load("e.npy")[3, 5] == 7


def test_datasets_that_cannot_be_read(rng):
    a = rng.random((30, 40))
    with h5py.File("a.h5", "w") as file:
        chunked = file.create_dataset("chunked", data=a, chunks=(5, 5))
        late = file.create_dataset("late", (3, 4))
        texts = file.create_dataset("texts", data=np.array(["a", "b"], h5py.string_dtype()))
        outside = file.create_dataset("outside", (3, 4), "f8", external=[("data.bin", 0, 96)])
        kind = h5py.h5t.NATIVE_INT32.copy()
        kind.set_precision(12)
        odd = h5py.Dataset(h5py.h5d.create(file.id, b"odd", kind, h5py.h5s.create_simple((5,))))
        odd[...] = np.arange(5)
        for dataset, error, says in [(chunked, ValueError, "a.h5:/chunked: is not contiguous"), (late, ValueError, "not contiguous"),
                                     (outside, ValueError, "not contiguous"), (odd, ValueError, "not stored as"),
                                     (texts, TypeError, "Python objects")]:
            with pytest.raises(error, match=says):
                xorder.transpose(dataset, "b.npy")
            with pytest.raises(error, match=says):
                xorder.transpose(dataset)
    with pytest.raises(ValueError, match="the dataset is closed"):
        xorder.save("b.npy", chunked)
    with h5py.File("memory.h5", "w", driver="core", backing_store=False) as file:
        with pytest.raises(ValueError, match="not contiguous"):
            xorder.save("b.npy", file.create_dataset("x", data=a))
    assert not os.path.exists("b.npy")


def test_datasets_that_are_filled(rng, few):
    """From file to file, through memory, and what h5py shows afterwards is not what it kept in memory before."""
    a = rng.random((1100, 1000))  # more than is filled through memory
    np.save("a.npy", a)
    np.save("small.npy", a[:30, :40])
    with h5py.File("b.h5", "w") as file:
        late = file.create_dataset("late", (1000, 1100))
        assert late.dtype == "f4"
        whole = file.create_dataset("whole", (1000, 1100), "f8", data=np.zeros((1000, 1100)))
        small, one = file.create_dataset("small", (40, 30), "f8"), file.create_dataset("one", (), "f8")
        chunked = file.create_dataset("chunked", (40, 30), "f8", chunks=(8, 8))
        file.create_dataset("none", (0, 3), "f8")
        for place in few([(0, 0), (999, 1099), (500, 500)], 1):
            whole[place]  # h5py now keeps what is around it
            seen = []
            assert xorder.transpose("a.npy", out=whole, progress=lambda *at: seen.append(at), memory="16MiB") is whole
            assert whole[place] == a.T[place] and seen
            assert same(whole[()], a.T)
            whole[...] = 0
        whole[3, :] = 1  # not in the file yet
        xorder.flip(np.load("a.npy", mmap_mode="r").T, whole, axis=1)
        assert same(whole[()], a.T[:, ::-1])
        xorder.transpose(whole, a_out := np.empty_like(a))
        assert same(a_out, a.T[:, ::-1].T)
        again = file.create_dataset("again", (1100, 1000), "f8")
        xorder.transpose(whole, out=again)  # of the same file
        assert same(again[()], a_out)
        xorder.transpose(a, out=whole)  # from memory
        assert same(whole[()], a.T)
        xorder.transpose("small.npy", small)
        assert same(small[()], a[:30, :40].T)
        xorder.transpose(np.array(7.0), out=one)
        assert one[()] == 7
        x = rng.random(1 << 21)
        np.save("x.npy", x)
        reversed_ = file.create_dataset("reversed", x.shape, "f8")
        xorder.bitreverse("x.npy", out=reversed_)
        assert same(reversed_[()], xorder.bitreverse(x))
        assert xorder.transpose(np.empty((3, 0)), out=file["none"]) is not None
        for dataset, error, says in [(late, TypeError, "has the type float32"), (small, ValueError, r"b.h5:/small: has the shape \(40, 30\)"),
                                     (chunked, ValueError, "has the shape")]:
            with pytest.raises(error, match=says):
                xorder.transpose("a.npy", out=dataset)
        with pytest.raises(ValueError, match="is not contiguous"):
            xorder.transpose("small.npy", out=chunked)
        with pytest.raises(TypeError, match="resumable"):
            xorder.transpose("a.npy", out=whole, resumable=True)
        with pytest.raises(TypeError, match="dst and out mean the same"):
            xorder.transpose("a.npy", whole, out=whole)
        square = file.create_dataset("square", data=rng.random((1100, 1100)))
        for source in [square, xorder.open(xorder.Raw("b.h5", "f8", square.shape, square.id.get_offset()))]:
            with pytest.raises(ValueError, match="b.h5:/square: src and out overlap"):
                xorder.transpose(source, out=square)
    with pytest.raises(ValueError, match="the dataset is closed"):
        xorder.transpose("a.npy", out=whole)
    with h5py.File("b.h5", "r") as file:
        assert same(file["reversed"][()], xorder.bitreverse(x))
        with pytest.raises(ValueError, match="open for reading only"):
            xorder.transpose("a.npy", out=file["whole"])


def test_files_that_are_not_what_they_seem(rng, monkeypatch):
    """Another file of the name is neither read nor written; what HDF5 keeps in memory is seen; refusals change nothing."""
    a = rng.random((1500, 1000))
    np.save("a.npy", a)
    os.mkdir("other")
    with h5py.File("other/b.h5", "w") as file:
        file.create_dataset("d", data=np.zeros((1000, 1500)))
    with open("other/b.h5", "rb") as file:
        before = file.read()
    source = os.path.abspath("a.npy")
    with h5py.File("b.h5", "w") as file:
        d = file.create_dataset("d", (1000, 1500), "f8")
        monkeypatch.chdir("other")
        for call in [lambda: xorder.transpose(source, out=d), lambda: xorder.save("x.npy", d)]:
            with pytest.raises(ValueError, match="does not have this name any more"):
                call()
        monkeypatch.chdir("..")
        xorder.transpose("a.npy", out=d)
        assert same(d[()], a.T)
    with open("other/b.h5", "rb") as file:
        assert file.read() == before
    with h5py.File("pages.h5", "w", fs_strategy="page", fs_page_size=1 << 16, page_buf_size=32 << 20) as file:
        d = file.create_dataset("d", data=np.ones((1000, 1500)))
        assert [row.sum() for row in d]  # all of it is in memory now
        xorder.transpose("a.npy", out=d)
        assert same(d[()], a.T)
        d[0, 0] = 7
    with h5py.File("pages.h5", "r") as file:
        assert file["d"][0, 0] == 7 and same(file["d"][1:], a.T[1:])
    with h5py.File("c.h5", "w", userblock_size=512) as file:
        late = file.create_dataset("late", (4, 4), "f8")
        xorder.transpose(np.full((4, 4), 7.0), out=late)
        assert (late[()] == 7).all()
        layout = h5py.VirtualLayout((4, 4), "f8")
        layout[:] = h5py.VirtualSource(late)
        virtual = file.create_virtual_dataset("virtual", layout, fillvalue=1)
        pairs = file.create_dataset("pairs", (4,), np.dtype(("f4", (3,))))
        with pytest.raises(ValueError, match="is not contiguous"):
            xorder.transpose(np.zeros((4, 4)), out=virtual)
        assert (late[()] == 7).all()
        pairs[...] = np.ones((4, 3))
        with pytest.raises(ValueError, match="its elements are arrays"):
            xorder.transpose(pairs)
