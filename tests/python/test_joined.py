"""Several views of files become one array, as NumPy stacks and concatenates them."""
import os
import resource

import numpy as np
import pytest
import xorder
from random_views import same


def parts(rng, count, shape, fortran=False, ragged=None):
    arrays = []
    for number in range(count):
        extents = [int(rng.integers(1, 9)) if axis == ragged else extent for axis, extent in enumerate(shape)]
        array = rng.integers(0, 1 << 30, extents)
        arrays.append(np.asfortranarray(array) if fortran else array)
        np.save(f"in{number}.npy", arrays[-1])
    return arrays, [f"in{number}.npy" for number in range(count)]


def test_against_numpy(rng, few):
    for _ in few(range(8), 3):
        rank = int(rng.integers(1, 4))
        shape = [int(extent) for extent in rng.integers(1, 8, rank)]
        count = int(rng.integers(1, 5))
        arrays, names = parts(rng, count, shape, fortran=bool(rng.integers(2)))
        mapped = [np.load(name, mmap_mode="r") for name in names]
        index = tuple(slice(None, None, int(rng.choice([1, 1, -1, 2]))) for _ in shape)
        for axis in range(-rank - 1, rank + 1):
            xorder.save("b.npy", names, stack=axis, overwrite=True)
            assert same(np.load("b.npy"), np.stack(arrays, axis)), (shape, count, axis)
            xorder.save("b.npy", [m[index] for m in mapped], stack=axis, overwrite=True, memory="16MiB")
            assert same(np.load("b.npy"), np.stack([a[index] for a in arrays], axis)), (shape, count, axis, index)
        for axis in range(-rank, rank):
            xorder.save("b.npy", [m[index] for m in mapped], concatenate=axis, overwrite=True)
            assert same(np.load("b.npy"), np.concatenate([a[index] for a in arrays], axis)), (shape, count, axis, index)


def test_ragged(rng):
    arrays, names = parts(rng, 4, (5, 6, 7), ragged=0)
    xorder.save("b.npy", names, concatenate=0)
    assert same(np.load("b.npy"), np.concatenate(arrays))
    arrays, names = parts(rng, 4, (5, 6, 7), fortran=True, ragged=2)
    xorder.save("c.raw", tuple(names), concatenate=-1)
    assert same(np.fromfile("c.raw", int).reshape(5, 6, -1), np.concatenate(arrays, 2))
    np.save("in1.npy", np.zeros((0, 6, 7), int))
    np.save("in0.npy", np.ones((5, 6, 7), int))
    xorder.save("d.npy", ["in1.npy", "in0.npy"], concatenate=0)
    assert same(np.load("d.npy"), np.load("in0.npy"))


def test_parts_of_one_file(rng):
    a = rng.random((60, 50))
    np.save("a.npy", a)
    m = np.load("a.npy", mmap_mode="r")
    xorder.save("b.npy", [m[::2].T, m[1::2].T], concatenate=0)
    assert same(np.load("b.npy"), np.concatenate([a[::2].T, a[1::2].T]))
    report = xorder.save("c.npy", [m[0], m[59, ::-1], m[7]], stack=0, progress=lambda done, total: None)
    assert same(np.load("c.npy"), np.stack([a[0], a[59, ::-1], a[7]])) and report["bytes"] == 1200
    a.tofile("a.raw")
    xorder.save("d.npy", [xorder.Raw("a.raw", "f8", (50, 60)), m.reshape(50, 60)], stack=2, resumable=True)
    assert same(np.load("d.npy"), np.stack([a.reshape(50, 60)] * 2, 2))


def test_many(rng):
    """More than the process may have open by default."""
    a = rng.random((300, 40))
    for number, row in enumerate(a):
        np.save(f"row{number}.npy", row)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, limit[1]))
    try:
        xorder.save("b.npy", [f"row{number}.npy" for number in range(300)], stack=1)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 200
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
    assert same(np.load("b.npy"), a.T)


def test_errors(rng):
    arrays, names = parts(rng, 3, (4, 5))
    np.save("type.npy", rng.random((4, 5)))
    np.save("shape.npy", arrays[0][:, :3])
    np.save("order.npy", np.asfortranarray(arrays[0]))
    np.save("rank.npy", arrays[0][0])
    before = sorted(os.listdir("."))
    for array, options, kind, says in [
            (names, {}, TypeError, "need stack= or concatenate="),
            (names, {"stack": 0, "concatenate": 0}, TypeError, "exclude"),
            (names[0], {"stack": 0}, TypeError, "need a list"),
            ([], {"stack": 0}, ValueError, "no arrays"),
            (names, {"stack": 3}, ValueError, "axis 3 is out of bounds for array of dimension 3"),
            (names, {"concatenate": -3}, ValueError, "axis -3 is out of bounds"),
            (names, {"stack": 0.5}, TypeError, "float"),
            ([names[0], arrays[1]], {"stack": 0}, TypeError, r"arrays\[1\] is an array in memory"),
            ([*names, "type.npy"], {"stack": 0}, ValueError, "type.npy: its type is '<f8', that of in0.npy '<i8'"),
            ([*names, "shape.npy"], {"stack": 0}, ValueError, r"shape.npy: its shape is \(4, 3\)"),
            ([*names, "shape.npy"], {"concatenate": 1}, ValueError, r"shape.npy: its shape is \(4, 3\)"),
            ([*names, "rank.npy"], {"concatenate": 0}, ValueError, r"rank.npy: its shape is \(5\)"),
            ([*names, "order.npy"], {"concatenate": 0}, ValueError, "order.npy: its axes lie in the order"),
            ([*names, "nowhere.npy"], {"concatenate": 0}, FileNotFoundError, "nowhere.npy"),
            ([names[0], names[1]], {"stack": 0, "memory": "1MiB"}, ValueError, "memory")]:
        with pytest.raises(kind, match=says):
            xorder.save("b.npy", array, **options)
    with pytest.raises(FileExistsError):
        xorder.save("in0.npy", names[1:], stack=0)
    with pytest.raises(ValueError, match="same file"):
        xorder.save("in0.npy", names, stack=0, overwrite=True)
    assert sorted(os.listdir(".")) == before
