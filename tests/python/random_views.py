"""Random views of arrays, as NumPy makes them."""
import numpy as np

TYPES = ["?", "i1", "u2", ">i4", "<u8", "f2", "f4", ">f8", "g", "c8", "c16", "S3", "S7", "U2", "V5", "V24", "M8[ms]", "m8[D]",
         [("a", "<i4"), ("b", ">f8")], {"names": ["p", "q"], "formats": ["u1", "<f4"], "offsets": [0, 4], "itemsize": 12}]


def random_array(rng, most=4000):
    """Bytes of any values, of any type and shape, in either order. Comparisons are of bytes: see same()."""
    rank = int(rng.integers(0, 7))
    shape, left = [], most
    for _ in range(rank):
        extent = int(rng.integers(1, max(2, min(int(left ** 0.6), 40) + 1)))
        shape.append(0 if rng.random() < 0.01 else extent)
        left //= max(extent, 1)
    rng.shuffle(shape)
    dtype = np.dtype(TYPES[rng.integers(len(TYPES))])
    count = int(np.prod(shape, dtype=int))
    if dtype.char == "?":
        array = rng.integers(0, 2, count).astype("?").reshape(shape)
    elif dtype.char == "U":  # code points
        array = rng.integers(1, 5000, count * 2).astype("<u4").view("<U2").reshape(shape)
    else:
        array = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).reshape(shape)
    return np.asfortranarray(array) if rng.random() < 0.3 else array


def random_view(rng, view):
    """Slices, steps and signs, other orders of the axes, fields, one index or one axis more or less, reshapes."""
    for _ in range(rng.integers(0, 5)):
        kind = rng.integers(6)
        if kind == 0:
            view = view.transpose(rng.permutation(view.ndim))
        elif kind == 1 and view.ndim:
            index = []
            for extent in view.shape:
                start, stop = sorted(int(i) for i in rng.integers(0, extent + 1, 2))
                step = int(rng.choice([1, 1, 2, 3]))
                index.append(slice(start, stop, step) if rng.random() < 0.6 else slice(None, None, -step))
            view = view[tuple(index)]
        elif kind == 2 and view.ndim and view.size:
            axis = int(rng.integers(view.ndim))
            view = view[(slice(None),) * axis + (int(rng.integers(view.shape[axis])), ...)]
        elif kind == 3 and view.ndim < 7:
            view = np.expand_dims(view, int(rng.integers(view.ndim + 1)))
        elif kind == 4 and view.dtype.names:
            view = view[view.dtype.names[int(rng.integers(2))]]
        elif kind == 5 and view.ndim > 1:
            flat = view.reshape((-1,) + view.shape[2:]) if view.size else view
            view = flat if np.may_share_memory(flat, view) else view
    return view


def random_place(rng, array):
    """A larger array, without gaps or in the other order, and the index of a part that has this array's shape and type."""
    index, shape = [], []
    for extent in array.shape:
        step, before, behind = (int(number) for number in rng.choice([1, 1, 2], 1).tolist() + rng.integers(0, 3, 2).tolist())
        stop = before + step * extent
        shape.append(stop + behind)
        forwards = rng.random() < 0.7
        index.append(slice(before, stop, step) if forwards or before < step else slice(stop - step, before - step, -step))
    if rng.random() < 0.3:
        index, shape = [slice(None)] * array.ndim, array.shape
    whole = np.ndarray(shape, array.dtype, bytearray(b"\xa5" * max(int(np.prod(shape, dtype=int)) * array.itemsize, 1)),
                       order=str(rng.choice(["C", "F"])))
    return whole, (*index, ...)


def same(one, other):
    """Equal types, shapes and bytes: of NaNs too, but not of what lies between fields, which NumPy may leave behind."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.names:
        return all(one[name].tobytes() == other[name].tobytes() for name in one.dtype.names)
    return one.tobytes() == other.tobytes()
