"""Computations on files that combine elements 2^b apart."""
from __future__ import annotations

import ctypes
import operator
from ctypes import byref, c_void_p
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._arrays import File, Path, in_file, is_path
from ._files import Job, Progress, options, teller
from ._library import Handle, StepFunction, path_bytes
from ._moves import Size, Source

Step = Callable[[int, int, Any, Any, Any, Any], Any]


def _job(maker: str, before: Sequence[Any], sources: Sequence[Source], dst: Path, memory: Size, threads: Optional[int],
         overwrite: bool, tmpdir: Optional[Path], io: str, resumable: bool = False,
         several: bool = False) -> Tuple[Job, List[File]]:
    """`before` are the library's arguments before the inputs, or make them of the first file."""
    if not is_path(dst):
        raise TypeError(f"dst is a {type(dst).__name__}, not a path")
    settings = options(memory, threads, overwrite, tmpdir, io, resumable)
    files = [in_file(src, "src", "this is for files; NumPy does it in memory") for src in sources]
    pointers = [file.layout.pointer for file in files]
    given: List[Any] = list(pointers)
    if several:
        given = [(c_void_p * len(pointers))(*[pointer.value for pointer in pointers])]
    target = path_bytes(dst)
    paths = (target, *(file.path for file in files))
    return Job(Handle(maker, *before, *given, target, byref(settings), paths=paths), paths, bool(resumable)), files


def scan(src: Source, dst: Path, op: str = "sum", *, memory: Size = None, threads: Optional[int] = None,
         overwrite: bool = False, progress: Progress = False, tmpdir: Optional[Path] = None,
         io: str = "auto", resumable: bool = False) -> Dict[str, Any]:
    """`numpy.cumsum` of a file, or another accumulation: element i becomes that of elements 0 to i.

    Parameters
    ----------
    src : path, Raw or numpy.ndarray
        The numbers, in a file, without gaps in C order: a view of a mapped file will do.
    dst : path
        The new file, with one axis and the type of `src`.
    op : {'sum', 'prod', 'min', 'max', 'xor'}, optional
        Integers wrap around; 'sum' and 'max' of bools are `or`. Floating-point numbers are not added in NumPy's order.
    memory, threads, overwrite, progress, tmpdir, io, resumable
        As for `transpose`.

    Returns
    -------
    dict
        The report of the run.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> np.save('a.npy', np.arange(6))
    >>> report = xorder.scan('a.npy', 'b.npy')
    >>> np.load('b.npy')
    array([ 0,  1,  3,  6, 10, 15])
    """
    if not isinstance(op, str) or "\0" in op:
        raise TypeError(f"op is {op!r}, not the name of an operation")
    return _job("job_scan", [op.encode()], [src], dst, memory, threads, overwrite, tmpdir, io, resumable)[0].run(progress)


def shift(src: Source, dst: Path, by: int, *, memory: Size = None, threads: Optional[int] = None, overwrite: bool = False,
          progress: Progress = False, tmpdir: Optional[Path] = None, io: str = "auto",
          resumable: bool = False) -> Dict[str, Any]:
    """`numpy.roll` of a file: element i, counted in C order, goes to i + by, and the last ones to the beginning.

    Parameters
    ----------
    src : path, Raw or numpy.ndarray
        The array, in a file, without gaps in C order.
    dst : path
        The new file, with the shape and type of `src`.
    by : int
        How far; negative: towards the beginning.
    memory, threads, overwrite, progress, tmpdir, io, resumable
        As for `transpose`.

    Returns
    -------
    dict
        The report of the run.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> np.save('a.npy', np.arange(5))
    >>> report = xorder.shift('a.npy', 'b.npy', 2)
    >>> np.load('b.npy')
    array([3, 4, 0, 1, 2])
    """
    distance = operator.index(by)
    if not -(1 << 63) <= distance < 1 << 63:
        raise ValueError(f"by is {distance}, which is more than any file has")
    return _job("job_shift", [distance], [src], dst, memory, threads, overwrite, tmpdir, io, resumable)[0].run(progress)


def merge(src: Source, dst: Path, *, memory: Size = None, threads: Optional[int] = None, overwrite: bool = False,
          progress: Progress = False, tmpdir: Optional[Path] = None, io: str = "auto",
          resumable: bool = False) -> Dict[str, Any]:
    """Merge two sorted halves of 2^n numbers into one sorted file.

    Parameters
    ----------
    src : path, Raw or numpy.ndarray
        The numbers, in a file, without gaps in C order. Both halves are in ascending order, without NaN.
    dst : path
        The new file, with one axis.
    memory, threads, overwrite, progress, tmpdir, io, resumable
        As for `transpose`.

    Returns
    -------
    dict
        The report of the run.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> np.save('a.npy', np.array([1, 4, 5, 8, 2, 3, 6, 7]))
    >>> report = xorder.merge('a.npy', 'b.npy')
    >>> np.load('b.npy')
    array([1, 2, 3, 4, 5, 6, 7, 8])
    """
    return _job("job_merge", [], [src], dst, memory, threads, overwrite, tmpdir, io, resumable)[0].run(progress)


def tridiagonal(a: Source, b: Source, c: Source, d: Source, dst: Path, *, memory: Size = None,
                threads: Optional[int] = None, overwrite: bool = False, progress: Progress = False,
                tmpdir: Optional[Path] = None, io: str = "auto", resumable: bool = False) -> Dict[str, Any]:
    """Solve a tridiagonal system of 2^n rows: a[i] x[i-1] + b[i] x[i] + c[i] x[i+1] = d[i].

    Parameters
    ----------
    a, b, c, d : path, Raw or numpy.ndarray
        The diagonals below, on and above, and the right side, in files, all f4 or all f8. a[0] and the last of c do not
        matter. There is no pivoting, which diagonally dominant matrices do not need.
    dst : path
        The new file, for x.
    memory, threads, overwrite, progress, tmpdir, io, resumable
        As for `transpose`.

    Returns
    -------
    dict
        The report of the run.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> for name, row in [('a', [0, 1, 1, 1]), ('b', [4] * 4), ('c', [1, 1, 1, 0]), ('d', [5, 6, 6, 5])]:
    ...     np.save(name + '.npy', np.array(row, float))
    >>> report = xorder.tridiagonal('a.npy', 'b.npy', 'c.npy', 'd.npy', 'x.npy')
    >>> np.load('x.npy').round(12)
    array([1., 1., 1., 1.])
    """
    job, _ = _job("job_tridiagonal", [], [a, b, c, d], dst, memory, threads, overwrite, tmpdir, io, resumable, several=True)
    return job.run(progress)


def descend(src: Source, dst: Path, step: Step, *, ascends: bool = False, memory: Size = None,
            threads: Optional[int] = None, overwrite: bool = False, progress: Progress = False,
            tmpdir: Optional[Path] = None, io: str = "auto") -> Dict[str, Any]:
    """Compute a[i] = f(b, i, a[i], a[i + 2^b], a[i - 2^b]) for b from n - 1 down to 0, on the 2^n elements of a file.

    Parameters
    ----------
    src : path, Raw or numpy.ndarray
        The array, in a file, without gaps in C order.
    dst : path
        The new file, with the shape and type of `src`.
    step : callable
        step(b, first, x, plus, minus, out) writes to the array `out` what becomes of the elements `x` from index `first`
        on; `plus` and `minus` are those 2^b behind and before them, modulo their number. It keeps none of the arrays. The
        library's threads call it, for one block after another, and for some elements twice.
    ascends : bool, optional
        From b = 0 up.
    memory, threads, overwrite, progress, tmpdir, io
        As for `transpose`.

    Returns
    -------
    dict
        The report of the run.

    Notes
    -----
    The file is read and written twice, more with little memory, once if it is small. An exception of `step` ends the run and
    leaves nothing behind.

    Examples
    --------
    Prefix sums: nothing is 2^b before the first 2^b elements.

    >>> import numpy as np, xorder
    >>> def add(b, first, x, plus, minus, out):
    ...     out[:] = x + np.where(np.arange(first, first + len(x)) >> b == 0, 0, minus)
    >>> np.save('a.npy', np.arange(8))
    >>> report = xorder.descend('a.npy', 'b.npy', add, ascends=True)
    >>> np.load('b.npy')
    array([ 0,  1,  3,  6, 10, 15, 21, 28])
    """
    if not callable(step):
        raise TypeError("step is not callable")
    failures: List[BaseException] = []
    tell = teller(progress)
    dtype = np.dtype("V1")

    def array(place: int, count: int, writeable: bool = False) -> Any:
        there: Any = (ctypes.c_char * (count * dtype.itemsize)).from_address(place)
        elements = np.frombuffer(there, dtype)
        elements.flags.writeable = writeable
        return elements

    def checked(b: int, first: int, count: int, x: int, plus: int, minus: int, out: int, _: Any) -> int:
        try:
            step(b, first, array(x, count), array(plus, count), array(minus, count), array(out, count, True))
            return 0
        except BaseException as error:  # which ctypes would lose
            failures.append(error)
            return 1

    def told(done: int, total: int) -> None:
        if failures:
            raise failures[0]
        if tell:
            tell(done, total)

    function = StepFunction(checked)
    job, files = _job("job_compute", [bool(ascends), function, None], [src], dst, memory, threads, overwrite, tmpdir, io)
    dtype = files[0].dtype
    try:
        return job.run(told)
    except KeyboardInterrupt:  # as the library calls the end of a run
        if failures:
            raise failures[0] from None
        raise
