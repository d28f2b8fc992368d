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
