"""Plans in memory, in place, and with threads."""
import pickle

import numpy as np
import pytest
import xorder
from random_views import same


def test_plans(rng):
    for _ in range(30):
        shape = tuple(int(extent) for extent in rng.integers(1, 9, rng.integers(0, 5)))
        dtype = np.dtype(str(rng.choice(["u1", "f4", "c16", "V3"])))
        a = np.frombuffer(rng.bytes(int(np.prod(shape, dtype=int)) * dtype.itemsize), dtype).reshape(shape)
        axes = tuple(int(axis) for axis in rng.permutation(len(shape)))
        plan = xorder.Plan(shape, dtype, axes)
        expected = np.ascontiguousarray(a.transpose(axes)).reshape(plan.out_shape)
        assert same(plan(a), expected) and same(pickle.loads(pickle.dumps(plan))(a), expected)
        out = np.empty(plan.out_shape, dtype)
        assert plan(a, out) is out and same(out, expected)
        out[...] = np.zeros((), dtype)
        bound = plan.bind(a, out)
        bound()
        assert same(out, expected)
        b = a.copy()
        assert same(plan.in_place(b), expected)
        assert same(xorder.transpose_in_place(a.copy(), axes), expected)
    assert "8" in repr(xorder.Plan((8, 8), "f8"))


def test_bound_arrays_stay():
    """Nobody else holds them."""
    bound = xorder.Plan((300, 200), "f8").bind(np.ones((300, 200)), out := np.zeros((200, 300)))
    for _ in range(10):
        np.empty((300, 200))[...] = 7
        bound()
        assert (out == 1).all()


def test_large(rng):
    """Past the caches, by several threads; also into a part of an array."""
    a = rng.integers(0, 1 << 40, (1500, 1200))
    for view in [a.T, a[:, 5:1100].T, a[::-1].T, a.reshape(30, 50, 1200)[::2, :, ::-1].transpose(2, 0, 1), a[::2, ::3]]:
        assert same(xorder.ascontiguousarray(view, threads=2), view)
        whole = np.full(tuple(2 * extent for extent in view.shape), -1)
        for part in [tuple(map(slice, view.shape)), (slice(None, None, -2),) * view.ndim]:
            whole[...] = -1
            xorder.transpose(view, out=whole[part], axes=range(view.ndim))
            assert same(whole[part], view) and (whole == -1).sum() == whole.size - view.size
    square = a[:1200].copy()
    assert same(xorder.transpose_in_place(square), a[:1200].T)


def test_parts_of_one_array(rng):
    """They interleave, but share no byte."""
    m = rng.random((300, 400))
    expected = m.copy()
    expected[:, 200:] = expected[:, 199::-1]
    xorder.transpose(m[:, 199::-1], out=m[:, 200:], axes=(0, 1))
    assert same(m, expected)
    with pytest.raises(ValueError, match="overlap"):
        xorder.transpose(m[:, :200], out=m[:, 199:399], axes=(0, 1))


def test_maps_of_one_file_overlap():
    np.save("a.npy", np.arange(40000.))
    one, other = np.load("a.npy", mmap_mode="r"), np.load("a.npy", mmap_mode="r+")
    with pytest.raises(ValueError, match="overlap"):
        xorder.transpose(one[:30000], out=other[10000:])
    xorder.transpose(one[:20000], out=other[20000:])
    assert same(one[20000:], one[:20000])


def test_out_may_be_a_map(rng):
    a = rng.random((300, 200))
    np.save("a.npy", a)
    out = np.lib.format.open_memmap("b.npy", "w+", a.dtype, (200, 300))
    assert xorder.transpose("a.npy", out=out) is out
    out.flush()
    assert same(np.load("b.npy"), a.T)


def test_large_maps_are_filled_through_their_files(rng, monkeypatch):
    """What was written to the map before is there, what comes is seen in it, and the limit of memory holds."""
    monkeypatch.setattr(xorder._into, "_LARGE", 1 << 20)
    a = rng.random((600, 500))
    np.save("a.npy", a)
    out = np.lib.format.open_memmap("b.npy", "w+", a.dtype, (2, 500, 600))
    out[:] = 3
    seen = []
    part = out[1]
    assert xorder.transpose("a.npy", out=part, memory="16MiB", progress=lambda *at: seen.append(at)) is part
    assert seen and same(part, a.T) and (out[0] == 3).all()
    assert same(np.load("b.npy")[1], a.T)
    xorder.transpose(np.load("a.npy", mmap_mode="r")[::-1], out[0])
    assert same(out[0], a[::-1].T)
    xorder.transpose(out[0], out=out[1].reshape(600, 500))  # within one file, as in memory
    assert same(out[1].reshape(600, 500), a[::-1])
    with pytest.raises(TypeError, match="has the type float64"):
        xorder.transpose(xorder.Raw("a.npy", "i8", (600, 500), 128), out=part)
    changed = np.load("a.npy", mmap_mode="c")  # what is not in its file can only be read in memory
    changed[3, 5] = 7
    assert xorder.transpose(changed, out=part)[5, 3] == 7
    private = np.load("b.npy", mmap_mode="c")[1]
    assert same(xorder.transpose("a.npy", out=private), a.T) and np.load("b.npy")[1][5, 3] == 7


@pytest.mark.parametrize("call", [
    lambda a, out: xorder.transpose(a, out),
    lambda a, out: xorder.Plan(a.shape, a.dtype)(a, out),
    lambda a, out: xorder.Plan(a.shape, a.dtype).bind(a, out),
    lambda a, out: xorder.bitreverse(a, out),
])
def test_out_is_checked(call):
    square = np.zeros((64, 64))
    read_only = np.zeros((64, 64))
    read_only.flags.writeable = False
    for out, kind in [(read_only, ValueError), (square, ValueError), (square[::-1], ValueError),
                      (np.zeros((64, 65)), ValueError), (np.zeros(64 * 64), ValueError), (np.zeros((64, 64), "f4"), TypeError),
                      (np.zeros((64, 64), ">f8"), TypeError), (np.zeros((64, 64), object), TypeError),
                      (np.ma.zeros((64, 64)), TypeError), (7, TypeError), ([[0.]], TypeError)]:
        with pytest.raises(kind):
            call(square, out)


def test_what_cannot_be_moved():
    objects = np.array([[object(), None]])
    for call in [xorder.transpose, xorder.ascontiguousarray, xorder.flip, xorder.transpose_in_place,
                 lambda a: xorder.save("b.npy", a), lambda a: xorder.Plan((1, 2), a.dtype)]:
        for bad in [objects, np.zeros(3, [("a", "O")])]:
            with pytest.raises(TypeError, match="Python objects"):
                call(bad)
    for bad in [None, 7, [[1, 2]], np.ma.zeros((2, 2)), np.float64(1)]:
        with pytest.raises(TypeError):
            xorder.transpose(bad)
    with pytest.raises(TypeError):
        xorder.ascontiguousarray(np.ma.zeros((2, 2)))
    assert same(xorder.ascontiguousarray([[1, 2]]), np.array([[1, 2]]))
    assert same(xorder.ascontiguousarray(5), np.ascontiguousarray(5))
    for axes in [(0,), (0, 0), (0, 2), (0, 1, 2), (-3, 0)]:
        with pytest.raises(ValueError, match="not a permutation"):
            xorder.transpose(np.zeros((2, 3)), axes=axes)
    with pytest.raises(TypeError):
        xorder.transpose(np.zeros((2, 3)), axes=(0.5, 1))
    with pytest.raises(TypeError):
        xorder.transpose(np.zeros((2, 3)), np.zeros((3, 2)), out=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="negative"):
        xorder.Plan((2, -3), "f8")
    with pytest.raises((ValueError, MemoryError, OverflowError)):
        xorder.Plan((1 << 40, 1 << 40), "f8")
    with pytest.raises(TypeError):
        xorder.Plan((4, 4), "f8", (0, 1), by="gray")
    with pytest.raises(TypeError):
        xorder.Plan((4, 4), "f8", axis=1)
    with pytest.raises(ValueError, match="threads"):
        xorder.transpose(np.zeros((2, 3)), threads=0)
    with pytest.raises(ValueError):
        xorder.transpose(np.zeros((2, 3)), threads=5000)
    fortran = np.zeros((4, 5), order="F")
    with pytest.raises(ValueError, match="C-contiguous"):
        xorder.transpose_in_place(fortran)
    frozen = np.zeros((4, 5))
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="written"):
        xorder.transpose_in_place(frozen)
    plan = xorder.Plan((4, 5), "f8")
    for bad, kind in [(np.zeros((5, 4)), ValueError), (np.zeros((4, 5), "f4"), TypeError), (fortran, ValueError), (None, TypeError)]:
        with pytest.raises(kind):
            plan(bad)


def test_nothing(rng):
    for shape in [(0,), (0, 3), (3, 0, 2), ()]:
        a = np.zeros(shape)
        assert same(xorder.transpose(a), a.T)
        assert same(xorder.ascontiguousarray(a), np.ascontiguousarray(a))
        assert same(xorder.Plan(shape, "f8")(a), a.T)
        assert same(xorder.flip(a), a)
        xorder.save("a.npy", a, overwrite=True)
        assert same(np.load("a.npy"), a)
        xorder.transpose("a.npy", "b.npy", overwrite=True, progress=lambda done, total: done / total)
        assert same(np.load("b.npy"), a.T)
        assert same(xorder.transpose("a.npy"), a.T)
        xorder.save("c.npy", np.load("a.npy", mmap_mode="r" if a.size else None), overwrite=True)
    with pytest.raises(ValueError):
        xorder.bitreverse(np.zeros(0))
