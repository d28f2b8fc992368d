"""Arrays in memory."""
from __future__ import annotations

import functools
import operator
from ctypes import c_int, c_int64, c_void_p
from typing import Any, Callable, Optional, Sequence, Tuple

import numpy as np

from ._arrays import checked_array, is_nested, share_bytes
from ._library import Handle, check, library
from ._permutations import Map, by_axes, by_map, checked_axes

SMALL = 1 << 15  # with fewer bytes NumPy is as fast
_PLAIN = 16 << 20

_execute = library.xorder_plan_execute


def checked_threads(threads: Optional[int]) -> int:
    """0 for None."""
    if threads is None:
        return 0
    if not 1 <= operator.index(threads) <= 1024:
        raise ValueError(f"{threads} threads; expected 1 to 1024, or None")
    return threads


def checked_out(out: Any, shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    checked_array(out, "out")
    if out.shape != tuple(shape):
        raise ValueError(f"out has the shape {out.shape}; expected {tuple(shape)}")
    if out.dtype != dtype:
        raise TypeError(f"out has the type {out.dtype}; expected {dtype}")
    if not out.flags.writeable:
        raise ValueError("out cannot be written")
    return out  # type: ignore[no-any-return]


def _place(array: np.ndarray[Any, Any]) -> int:
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


class Bound:
    """A plan with its arrays. Calling it permutes the one into the other. Made by `Plan.bind`."""

    __slots__ = ("_call", "_held")

    def __init__(self, plan: Plan, a: np.ndarray[Any, Any], out: np.ndarray[Any, Any], threads: int) -> None:
        self._held = (plan, a, out)
        self._call: Callable[[], int] = functools.partial(
            _execute, plan._made.pointer, c_void_p(_place(a)), c_void_p(_place(out)), c_int(threads))

    def __call__(self) -> None:
        if status := self._call():
            check(status)


class Plan:
    """A permutation of arrays in memory, prepared once and performed any number of times.

    Parameters
    ----------
    shape : tuple of int
        The shape of the arrays to be permuted.
    dtype : dtype
        Their type.
    axes : sequence of int, optional
        As for `numpy.transpose`. Default: the axes are reversed.
    by : str or matrix, optional
        A map of the index bits instead, as for `permute`.
    complement, axis : int, optional
        As for `permute`.

    Attributes
    ----------
    shape, out_shape : tuple of int
        The shapes before and after.
    dtype : numpy.dtype
        The type.

    Notes
    -----
    Immutable: any number of threads may use a plan at the same time, each with its own `out`. Python's other threads run
    during the call.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> plan = xorder.Plan((2, 3), 'f4')
    >>> plan(np.arange(6, dtype='f4').reshape(2, 3))
    array([[0., 3.],
           [1., 4.],
           [2., 5.]], dtype=float32)
    >>> reversal = xorder.Plan((8,), 'u1', by='bitreverse')
    >>> reversal(np.arange(8, dtype='u1'))
    array([0, 4, 2, 6, 1, 5, 3, 7], dtype=uint8)
    """

    __slots__ = ("shape", "out_shape", "dtype", "_made", "_given")

    def __init__(self, shape: Sequence[int], dtype: Any, axes: Optional[Sequence[int]] = None, *,
                 by: Optional[Map] = None, complement: int = 0, axis: Optional[int] = None) -> None:
        self.shape = tuple(map(operator.index, shape))
        self.dtype = np.dtype(dtype)
        if self.dtype.hasobject:
            raise TypeError(f"elements of type {self.dtype} hold Python objects, which cannot be moved")
        if any(extent < 0 for extent in self.shape):
            raise ValueError("negative dimensions are not allowed")
        if by is None:
            if axis is not None or complement:
                raise TypeError("axis and complement need by=")
            order = checked_axes(axes, len(self.shape))
            what = by_axes(self.shape, order, self.dtype.itemsize)
            self.out_shape = tuple(self.shape[i] for i in order)
        else:
            if axes is not None:
                raise TypeError("axes= and by= exclude each other")
            what = by_map(self.shape, by, complement, axis, self.dtype.itemsize)
            self.out_shape = self.shape
        self._made = Handle("plan_create", what.pointer)
        self._given = (axes, by, complement, axis)

    def __reduce__(self) -> Any:  # for other processes
        axes, by, complement, axis = self._given
        return functools.partial(Plan, by=by, complement=complement, axis=axis), (self.shape, self.dtype, axes)

    def _checked(self, a: Any, what: str) -> np.ndarray[Any, Any]:
        checked_array(a, what)
        if a.shape != self.shape:
            raise ValueError(f"{what} has the shape {a.shape}; the plan is for {self.shape}")
        if a.dtype != self.dtype:
            raise TypeError(f"{what} has the type {a.dtype}; the plan is for {self.dtype}")
        if not a.flags.c_contiguous:
            raise ValueError(f"{what} is not C-contiguous; xorder.transpose() takes any view")
        return a  # type: ignore[no-any-return]

    def _checked_pair(self, a: Any, out: Any) -> None:
        self._checked(a, "a")
        if not checked_out(out, self.out_shape, self.dtype).flags.c_contiguous:
            raise ValueError("out is not C-contiguous")
        if share_bytes(a, out):
            raise ValueError("a and out overlap")

    def __call__(self, a: np.ndarray[Any, Any], out: Optional[np.ndarray[Any, Any]] = None, *,
                 threads: Optional[int] = None) -> np.ndarray[Any, Any]:
        """Permute `a` into `out`, or into a new array, and return that.

        Parameters
        ----------
        a : numpy.ndarray
            C-contiguous, of the plan's shape and type.
        out : numpy.ndarray, optional
            C-contiguous, of the plan's out_shape and type. It may not overlap `a`.
        threads : int, optional
            Default: one for each processor.

        Returns
        -------
        numpy.ndarray
            `out`, or the new array.
        """
        if out is None:
            self._checked(a, "a")
            out = np.empty(self.out_shape, self.dtype)
        else:
            self._checked_pair(a, out)
        self.run(a, out, checked_threads(threads))
        return out

    def run(self, a: np.ndarray[Any, Any], out: np.ndarray[Any, Any], threads: int = 0) -> None:
        """Permute arrays that fit: they are not checked.

        Parameters
        ----------
        a, out : numpy.ndarray
            As for a call of the plan. If they are not so, the process may crash.
        threads : int, optional
            0: one for each processor.
        """
        if status := _execute(self._made.pointer, _place(a), _place(out), threads):
            check(status)

    def bind(self, a: np.ndarray[Any, Any], out: np.ndarray[Any, Any], *, threads: Optional[int] = None) -> Bound:
        """Hold both arrays: the result, called without arguments, permutes `a` into `out`.

        The arrays are checked once, so a call costs little more than that of a C function.

        Examples
        --------
        >>> import numpy as np, xorder
        >>> a, b = np.arange(6).reshape(2, 3), np.empty((3, 2), int)
        >>> move = xorder.Plan(a.shape, a.dtype).bind(a, b)
        >>> move()
        >>> b[2]
        array([2, 5])
        """
        self._checked_pair(a, out)
        return Bound(self, a, out, checked_threads(threads))

    def in_place(self, a: np.ndarray[Any, Any], *, threads: Optional[int] = None) -> np.ndarray[Any, Any]:
        """Permute `a` in place.

        Parameters
        ----------
        a : numpy.ndarray
            C-contiguous, of the plan's shape and type, and writeable.
        threads : int, optional
            Default: one for each processor.

        Returns
        -------
        numpy.ndarray
            The same memory in its new shape.
        """
        self._checked(a, "a")
        if not a.flags.writeable:
            raise ValueError("a cannot be written")
        check(library.xorder_plan_execute_in_place(self._made.pointer, _place(a), checked_threads(threads)))
        return np.asarray(a).reshape(self.out_shape)

    def __repr__(self) -> str:
        text = library.xorder_plan_text(self._made.pointer).decode()
        return f"<xorder.Plan {self.shape} to {self.out_shape}, {self.dtype}: {text}>"


# ---- Any view


@functools.lru_cache(256)
def _plan(shape: Tuple[int, ...], strides: Tuple[int, ...], out_strides: Tuple[int, ...], itemsize: int) -> Optional[Handle]:
    """None where elements overlap, which NumPy can move."""
    if itemsize == 0 or not (is_nested(shape, strides, itemsize) and is_nested(shape, out_strides, itemsize)):
        return None
    rank = len(shape)
    what = by_axes(tuple(shape), range(rank), itemsize)  # lives until the plan is made
    return Handle("plan_create_strided", what.pointer, (c_int64 * rank)(*strides), (c_int64 * rank)(*out_strides))


def fill(out: np.ndarray[Any, Any], view: np.ndarray[Any, Any], threads: int = 0) -> None:
    """out[...] = view, of the same shape and type, not overlapping."""
    plan = None if view.nbytes < SMALL else _plan(view.shape, view.strides, out.strides, view.itemsize)
    if plan is None:
        np.copyto(out, view)
    elif status := _execute(plan.pointer, _place(view), _place(out), threads):
        check(status)


def is_plain(src: Any, out: Any) -> bool:
    """Whether they are arrays in memory of which the target owns its own, so that they overlap only if their addresses do,
    and that are small enough for checks to take as long as the rest."""
    if type(src) is not np.ndarray or type(out) is not np.ndarray or src.nbytes >= _PLAIN:
        return False
    owner = out if out.base is None else out.base
    return (type(owner) is np.ndarray and owner.base is None and out.dtype == src.dtype and not src.dtype.hasobject
            and out.flags.writeable and not np.may_share_memory(src, out))


def ascontiguousarray(a: Any, *, threads: Optional[int] = None) -> np.ndarray[Any, Any]:
    """`numpy.ascontiguousarray`, faster: the elements of any view in C order.

    Parameters
    ----------
    a : array_like
        The array. One that is C-contiguous is returned as it is.
    threads : int, optional
        Default: one for each processor.

    Returns
    -------
    numpy.ndarray
        C-contiguous, of at least one axis, and of the same type.

    Notes
    -----
    Every element is read once and written once, also of sliced and flipped views. Views whose elements overlap, such as
    those of broadcast_to(), are left to NumPy.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> xorder.ascontiguousarray(np.arange(6).reshape(2, 3).T).flags.c_contiguous
    True
    """
    view = checked_array(np.asarray(a) if not isinstance(a, np.ma.MaskedArray) else a, "a")
    count = checked_threads(threads)
    if view.nbytes < SMALL or view.flags.c_contiguous:
        return np.ascontiguousarray(view)
    out = np.empty(view.shape, view.dtype)
    fill(out, view, count)
    return out


def filled(view: np.ndarray[Any, Any], out: Optional[np.ndarray[Any, Any]], threads: int) -> np.ndarray[Any, Any]:
    """The view in C order, in `out` or a new array."""
    if out is None:
        out = np.empty(view.shape, view.dtype)
    else:
        checked_out(out, view.shape, view.dtype)
        if share_bytes(view, out):
            raise ValueError("src and out overlap; transpose_in_place() permutes an array in place")
    if view.size:
        fill(out, view, threads)
    return out


@functools.lru_cache(64, typed=True)
def _known_plan(shape: Tuple[int, ...], dtype: np.dtype[Any], by: str, axis: Optional[int]) -> Plan:
    return Plan(shape, dtype, by=by, axis=axis)


def plan_of_map(a: np.ndarray[Any, Any], by: Map, complement: int, axis: Optional[int]) -> Plan:
    if isinstance(by, str) and not complement and a.dtype.fields is None:
        return _known_plan(a.shape, a.dtype, by, axis)
    return Plan(a.shape, a.dtype, by=by, complement=complement, axis=axis)


def mapped(a: np.ndarray[Any, Any], out: Optional[np.ndarray[Any, Any]], by: Map, complement: int,
           axis: Optional[int], threads: int) -> np.ndarray[Any, Any]:
    """The array, of any strides, by a map of index bits."""
    plan = plan_of_map(a, by, complement, axis)
    if out is not None:
        checked_out(out, a.shape, a.dtype)
        if share_bytes(a, out):
            raise ValueError("src and out overlap; Plan.in_place() permutes an array in place")
    if not a.flags.c_contiguous:
        a = filled(a, None, threads)
    if out is None or out.flags.c_contiguous:
        return plan(a, out, threads=threads or None)
    np.copyto(out, plan(a, threads=threads or None))
    return out
