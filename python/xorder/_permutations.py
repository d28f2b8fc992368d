"""Permutations: axes in another order, and maps of index bits."""
from __future__ import annotations

import math
import operator
from ctypes import c_int
from typing import Any, Optional, Sequence, Tuple, Union

import numpy as np

from ._library import Handle, numbers

Shape = Tuple[int, ...]
Map = Union[str, "np.ndarray[Any, Any]", Sequence[Sequence[int]]]


def checked_axes(axes: Optional[Sequence[int]], rank: int) -> Tuple[int, ...]:
    """The axes counted from 0, as numpy.transpose() takes them; None reverses them."""
    if axes is None:
        return tuple(reversed(range(rank)))
    given = tuple(operator.index(axis) for axis in axes)
    counted = tuple(axis + rank if axis < 0 else axis for axis in given)
    if sorted(counted) != list(range(rank)):
        raise ValueError(f"axes {given} are not a permutation of the {rank} axes of the array")
    return counted


def by_axes(shape: Shape, axes: Sequence[int], itemsize: int) -> Handle:
    """numpy.transpose(a, axes), of axes that are counted from 0."""
    return Handle("permutation_axes", len(shape), numbers(shape), (c_int * len(shape))(*axes), itemsize)


def _bits(count: int, what: str) -> int:
    if count <= 0 or count & (count - 1):
        raise ValueError(f"{what} is {count}, which is not a power of two")
    return count.bit_length() - 1


def by_map(shape: Shape, by: Map, complement: int, axis: Optional[int], itemsize: int) -> Handle:
    """Element x goes to A x ^ complement, of all elements or along one axis."""
    if axis is None:
        n = _bits(math.prod(shape), "the number of elements")
    else:
        axis = operator.index(axis)
        if not -len(shape) <= axis < len(shape):
            raise ValueError(f"axis {axis} is out of bounds for array of dimension {len(shape)}")
        n = _bits(shape[axis], f"the extent of axis {axis}")
    if isinstance(by, str):
        if complement:
            raise ValueError("an expression has its complement in it, as in 'xor(5) * gray'")
        if "\0" in by:
            raise ValueError("embedded null character")
        flat = Handle("permutation_expression", by.encode(), n, itemsize)
    else:
        matrix = np.asarray(by)
        if matrix.shape != (n, n) or not np.isin(matrix, (0, 1)).all():
            raise ValueError(f"by is neither an expression nor a matrix of {n} x {n} zeros and ones")
        complement = operator.index(complement)
        if not 0 <= complement < 1 << n:
            raise ValueError(f"the complement {complement} is not a number of {n} bits")
        columns = [sum(1 << i for i in range(n) if matrix[i, j]) for j in range(n)]
        flat = Handle("permutation_bmmc", n, numbers(columns), complement, itemsize)
    if axis is None:
        return flat
    return Handle("permutation_along_axis", flat.pointer, len(shape), numbers(shape), axis)
