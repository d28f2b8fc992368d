"""Permutations: every function takes paths and arrays alike."""
from __future__ import annotations

import contextlib
import operator
import resource
from ctypes import byref, c_void_p
from typing import Any, Iterator, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import File, Path, Raw, checked_array, file_of, in_file, is_dataset, is_path, source
from ._files import Job, Progress, job_of, options, write_array
from ._into import fill_dataset, job_into_map
from ._library import Handle, Options, path_bytes
from ._memory import checked_threads, fill, filled, is_plain, mapped, plan_of_map
from ._permutations import Map, by_axes, by_map, checked_axes

Source = Union[Path, Raw, "np.ndarray[Any, Any]"]
NewFile = Union[Path, Raw]
Target = Union[Path, Raw, "np.ndarray[Any, Any]", None]
Size = Union[int, str, None]

_USUAL = (None, None, None, "auto", False)  # small arrays are moved before anything else is looked at


class _Task:
    """A permutation of any array: by axes, or by a map."""

    def __init__(self, axes: Optional[Sequence[int]] = None, by: Optional[Map] = None, complement: int = 0,
                 axis: Optional[int] = None, kept: bool = False) -> None:
        self.axes, self.by, self.complement, self.axis, self.kept = axes, by, complement, axis, kept

    def order(self, rank: int) -> Tuple[int, ...]:
        return tuple(range(rank)) if self.kept else checked_axes(self.axes, rank)

    def of(self, shape: Tuple[int, ...], itemsize: int) -> Tuple[Handle, Tuple[int, ...]]:
        """The permutation of such an array, and the shape of the result."""
        if self.by is not None:
            return by_map(shape, self.by, self.complement, self.axis, itemsize), shape
        order = self.order(len(shape))
        return by_axes(shape, order, itemsize), tuple(shape[axis] for axis in order)

    def in_memory(self, array: np.ndarray[Any, Any], out: Optional[np.ndarray[Any, Any]],
                  threads: int) -> np.ndarray[Any, Any]:
        if self.by is not None:
            return mapped(array, out, self.by, self.complement, self.axis, threads)
        return filled(array.transpose(self.order(array.ndim)), out, threads)


def task_of(axes: Optional[Sequence[int]], by: Optional[Map], complement: int, axis: Optional[int]) -> _Task:
    if by is not None and axes is not None:
        raise TypeError("axes= and by= exclude each other")
    if by is None and (axis is not None or complement):
        raise TypeError("axis and complement need by=")
    return _Task(axes, by, complement, axis)


def checked_target(dst: Any, what: str, others: str = "") -> None:
    if not is_path(dst) and not isinstance(dst, Raw):
        raise TypeError(f"{what} is a {type(dst).__name__}, neither a path nor an xorder.Raw{others}")


def _perform(task: _Task, src: Source, dst: Target, out: Optional[np.ndarray[Any, Any]], memory: Size,
             threads: Optional[int], overwrite: bool, progress: Progress, tmpdir: Optional[Path], io: str, resumable: bool) -> Any:
    if out is not None:
        if dst is not None:
            raise TypeError("dst and out mean the same; give one")
        dst = out if is_dataset(out) else checked_array(out, "out")
    if is_dataset(dst):
        if resumable:
            raise TypeError("resumable=True is for runs that make a file")
        return fill_dataset(source(src), task, dst, options(memory, threads, overwrite, tmpdir, io), progress)
    if dst is None or isinstance(dst, np.ndarray):
        if resumable:
            raise TypeError("resumable=True is for runs from file to file")
        settings = options(memory, threads, overwrite, tmpdir, io)
        given = source(src)
        if dst is not None and (job := job_into_map(given, task, dst, settings)):
            job.run(progress)
            return dst
        return task.in_memory(given.array() if isinstance(given, File) else given, dst, checked_threads(threads))
    checked_target(dst, "dst", ", nor an array of NumPy's nor None")
    settings = options(memory, threads, overwrite, tmpdir, io, resumable)
    found = source(src)
    if isinstance(found, np.ndarray):
        file = file_of(found)
        if file is None:
            if resumable:
                raise TypeError("src is an array in memory; resumable=True is for runs from file to file")
            count = checked_threads(threads)
            moved = found.transpose(task.order(found.ndim)) if task.by is None else task.in_memory(found, None, count)
            return write_array(moved, dst, overwrite, count, progress)
        found = file
    return job_of(found, *task.of(found.shape, found.itemsize), dst, settings).run(progress)


def transpose(src: Source, dst: Target = None, axes: Optional[Sequence[int]] = None, *,
              out: Optional[np.ndarray[Any, Any]] = None, memory: Size = None, threads: Optional[int] = None,
              overwrite: bool = False, progress: Progress = False, tmpdir: Optional[Path] = None,
              io: str = "auto", resumable: bool = False) -> Any:
    """`numpy.transpose`, stored in C order, of arrays larger than memory too.

    Parameters
    ----------
    src : path, Raw, numpy.ndarray or h5py.Dataset
        The array. A path may be FILE:NAME, for an array in a FITS, NetCDF, HDF5, NIfTI or ENVI file. A dataset must be
        contiguous; its file is flushed first. A view of a mapped file
        (`numpy.memmap`, `numpy.load` with mmap_mode) is recognised, and read from the file as far as `dst` is one.
    dst : path, Raw, numpy.ndarray or h5py.Dataset, optional
        A new file, .npy unless its name ends in .raw, .bin or .dat; a new file without a header, whose data begin at the
        `offset` of the Raw, in its `order`; or an array or dataset of the result's shape and type, which is filled. A
        dataset, and a large map of a file, are filled through their files if `src` is in another one; what they hold is
        undefined if that fails. Default: a new array.
    axes : sequence of int, optional
        Axis i of the result is axis axes[i] of `src`. Default: the axes are reversed.
    out : numpy.ndarray or h5py.Dataset, optional
        The same as `dst`, for an array or dataset.
    memory : int or str, optional
        The most memory to use from file to file, such as '2GiB'. Default: half of what is available.
    threads : int, optional
        Default: one for each processor.
    overwrite : bool, optional
        Whether a file may be replaced, when the new one is complete.
    progress : callable or bool, optional
        progress(done, total), in bytes, is called about 20 times per second from file to file. True shows a bar of tqdm.
    tmpdir : path, optional
        Directory for scratch files. Default: that of `dst`.
    io : {'auto', 'direct', 'mapped'}, optional
        How files are accessed.
    resumable : bool, optional
        Whether the run can go on if it is killed or interrupted: by `resume`, or by the same call. What it has finished
        stays beside `dst` and in `tmpdir` until then. From file to file only.

    Returns
    -------
    numpy.ndarray or dict
        The array; or the report of the run, if `dst` is a file.

    Raises
    ------
    ValueError
        `src`, `axes` or an option cannot be used as it is; the arrays overlap.
    TypeError
        The elements are Python objects; `dst` has another type of elements.
    FileExistsError, FileNotFoundError, OSError
        From the system, with errno and filename.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> np.save('a.npy', np.arange(6.).reshape(2, 3))
    >>> report = xorder.transpose('a.npy', 'b.npy')
    >>> np.load('b.npy')
    array([[0., 3.],
           [1., 4.],
           [2., 5.]])
    >>> xorder.transpose(np.arange(6).reshape(2, 3))
    array([[0, 3],
           [1, 4],
           [2, 5]])
    """
    if (dst is None and (memory, threads, tmpdir, io, resumable) == _USUAL and (axes is None or type(axes) in (tuple, list))
            and is_plain(src, out)):
        try:
            turned = src.transpose(axes)  # type: ignore[union-attr]
        except ValueError:
            pass  # told below
        else:
            if turned.shape == out.shape:  # type: ignore[union-attr]
                fill(out, turned)  # type: ignore[arg-type]
                return out
    return _perform(_Task(axes), src, dst, out, memory, threads, overwrite, progress, tmpdir, io, resumable)


def permute(src: Source, dst: Target = None, *, by: Map, complement: int = 0, axis: Optional[int] = None,
            out: Optional[np.ndarray[Any, Any]] = None, memory: Size = None, threads: Optional[int] = None,
            overwrite: bool = False, progress: Progress = False, tmpdir: Optional[Path] = None,
            io: str = "auto", resumable: bool = False) -> Any:
    """Send element x, of 2^n, to A x ^ c: every permutation that is linear in the bits of an index.

    Parameters
    ----------
    src, dst, out, memory, threads, overwrite, progress, tmpdir, io, resumable
        As for `transpose`. The result has the shape of `src`.
    by : str or matrix
        An expression, such as 'gray^-1 * bitreverse', of which the right factor acts first; its names are identity,
        reverse, bitreverse, gray, transpose(lgR,lgC), shuffle, unshuffle, rotate(k), morton(d), bits(i,j,..) and xor(c).
        Or A as n x n zeros and ones: row = target bit, column = source bit, least significant first.
    complement : int, optional
        c, with a matrix.
    axis : int, optional
        Permute along this axis, at every place of the others. Default: all elements, counted in C order.

    Returns
    -------
    numpy.ndarray or dict
        As for `transpose`.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> xorder.permute(np.arange(8), by='gray')
    array([0, 1, 3, 2, 7, 6, 4, 5])
    >>> xorder.permute(np.arange(4), by=[[0, 1], [1, 0]], complement=1)
    array([2, 0, 3, 1])
    """
    if by is None:
        raise TypeError("by is None; expected an expression or a matrix")
    if (dst is None and (memory, threads, tmpdir, io, resumable) == _USUAL and is_plain(src, out)
            and src.shape == out.shape and src.flags.c_contiguous and out.flags.c_contiguous):  # type: ignore[union-attr]
        plan_of_map(src, by, complement, axis).run(src, out)  # type: ignore[arg-type]
        return out
    return _perform(_Task(by=by, complement=complement, axis=axis), src, dst, out, memory, threads, overwrite, progress,
                    tmpdir, io, resumable)


def bitreverse(src: Source, dst: Target = None, *, axis: Optional[int] = None,
               out: Optional[np.ndarray[Any, Any]] = None, memory: Size = None, threads: Optional[int] = None,
               overwrite: bool = False, progress: Progress = False, tmpdir: Optional[Path] = None,
               io: str = "auto", resumable: bool = False) -> Any:
    """Reverse the bits of every index, as an FFT of 2^n elements needs it.

    Parameters
    ----------
    src, dst, out, memory, threads, overwrite, progress, tmpdir, io, resumable
        As for `transpose`. The result has the shape of `src`.
    axis : int, optional
        Permute along this axis. Default: all elements, counted in C order.

    Returns
    -------
    numpy.ndarray or dict
        As for `transpose`.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> xorder.bitreverse(np.arange(8))
    array([0, 4, 2, 6, 1, 5, 3, 7])
    """
    return permute(src, dst, by="bitreverse", axis=axis, out=out, memory=memory, threads=threads, overwrite=overwrite,
                   progress=progress, tmpdir=tmpdir, io=io, resumable=resumable)


def flip(src: Source, dst: Target = None, axis: Union[int, Sequence[int], None] = None, *,
         out: Optional[np.ndarray[Any, Any]] = None, memory: Size = None, threads: Optional[int] = None,
         overwrite: bool = False, progress: Progress = False, tmpdir: Optional[Path] = None, io: str = "auto",
         resumable: bool = False) -> Any:
    """`numpy.flip`: the elements backwards along some axes.

    Parameters
    ----------
    src, dst, out, memory, threads, overwrite, progress, tmpdir, io, resumable
        As for `transpose`. The result has the shape of `src`.
    axis : int or sequence of int, optional
        The axes. Default: all.

    Returns
    -------
    numpy.ndarray or dict
        As for `transpose`.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> xorder.flip(np.arange(6).reshape(2, 3), axis=1)
    array([[2, 1, 0],
           [5, 4, 3]])
    """
    found = source(src)
    array = found.array() if isinstance(found, File) else found
    flipped = np.flip(array, axis if axis is None or isinstance(axis, int) else tuple(axis))
    flipped = flipped if array.ndim else array  # NumPy makes a number of it
    return _perform(_Task(kept=True), flipped, dst, out, memory, threads, overwrite, progress, tmpdir, io, resumable)


@contextlib.contextmanager
def _many_files(count: int) -> Iterator[None]:
    """Each takes a few descriptors. Where the process may not have so many at once, but could allow itself, it does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = hard if hard != resource.RLIM_INFINITY else 1 << 20
    raised = soft != resource.RLIM_INFINITY and soft < min(100 + 5 * count, most)
    if raised:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        yield
    finally:
        if raised:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _joined(path: Path, arrays: Sequence[Source], stacked: bool, axis: int, settings: Options) -> Job:
    files = [in_file(array, f"arrays[{number}]", "join such arrays by NumPy") for number, array in enumerate(arrays)]
    if not files:
        raise ValueError("there are no arrays to join")
    shape = list(next((file for file in files if 0 not in file.shape), files[0]).shape)
    axis, places = operator.index(axis), len(shape) + stacked
    if not -places <= axis < places:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {places}")
    if stacked:
        shape.insert(axis % places, len(files))
    else:
        shape[axis] = sum(file.shape[axis] for file in files if len(file.shape) == places)
    permutation = by_axes(tuple(shape), range(places), files[0].itemsize)
    layouts = (c_void_p * len(files))(*(file.layout.pointer.value for file in files))
    target = path_bytes(path)
    paths = (target, *(file.path for file in files))
    made = Handle("job_joined", permutation.pointer, stacked, axis, layouts, len(files), target, byref(settings),
                  paths=paths)
    return Job(made, paths, bool(settings.resumable))


def save(path: NewFile, array: Union[Source, Sequence[Source]], *, stack: Optional[int] = None,
         concatenate: Optional[int] = None, memory: Size = None, threads: Optional[int] = None, overwrite: bool = False,
         progress: Progress = False, tmpdir: Optional[Path] = None, io: str = "auto", resumable: bool = False) -> Any:
    """`numpy.save` of views of files that are larger than memory.

    Parameters
    ----------
    path : path or Raw
        The new file; as `dst` of `transpose`. Unlike `numpy.save` this appends nothing to its name, and replaces a file
        only with `overwrite`.
    array : numpy.ndarray, path or Raw; or a sequence of them
        The array. A view of a mapped file, be it transposed, sliced, flipped or reshaped, is never loaded: it is
        recognised by its file, offset and strides, and goes from file to file. If the map can be written it is flushed
        first. With `stack` or `concatenate`, several arrays, all in files, which may be the same file.
    stack : int, optional
        Join several arrays along a new axis with this number in the result, as `numpy.stack`.
    concatenate : int, optional
        Join them along this axis, as `numpy.concatenate`. They have one type and one order in their files, and other
        extents along this axis only if it is the slowest in each file.
    memory, threads, overwrite, progress, tmpdir, io, resumable
        As for `transpose`.

    Returns
    -------
    dict
        The report of the run.

    Raises
    ------
    ValueError
        The map is a private one (mode 'c'); several arrays do not fit together.
    TypeError, OSError
        As for `transpose`.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> np.save('a.npy', np.arange(12).reshape(3, 4))
    >>> m = np.load('a.npy', mmap_mode='r')
    >>> report = xorder.save('b.npy', m[::-1, 1:3].T)
    >>> np.load('b.npy')
    array([[ 9,  5,  1],
           [10,  6,  2]])
    >>> report = xorder.save('c.npy', [m[0], m[2]], stack=1)
    >>> np.load('c.npy').T
    array([[ 0,  1,  2,  3],
           [ 8,  9, 10, 11]])
    """
    checked_target(path, "path")
    given: Any = array
    axis: Any = concatenate if stack is None else stack
    several = isinstance(given, (list, tuple))
    if stack is None and concatenate is None:
        if several:
            raise TypeError("several arrays need stack= or concatenate=")
        return _perform(_Task(kept=True), given, path, None, memory, threads, overwrite, progress, tmpdir, io, resumable)
    if stack is not None and concatenate is not None:
        raise TypeError("stack= and concatenate= exclude each other")
    if not several:
        raise TypeError("stack= and concatenate= need a list of arrays")
    if isinstance(path, Raw):
        raise TypeError("path is an xorder.Raw, which is for one array; stack= and concatenate= need a path")
    settings = options(memory, threads, overwrite, tmpdir, io, resumable)
    with _many_files(len(given)):
        return _joined(path, given, stack is not None, axis, settings).run(progress)


def plan(src: Source, dst: NewFile, axes: Optional[Sequence[int]] = None, *, by: Optional[Map] = None, complement: int = 0,
         axis: Optional[int] = None, memory: Size = None, threads: Optional[int] = None, overwrite: bool = False,
         tmpdir: Optional[Path] = None, io: str = "auto", resumable: bool = False) -> Job:
    """What a run would do: its passes, memory and time. Nothing is written.

    Parameters
    ----------
    src : path, Raw or numpy.ndarray
        The array, in a file: a view of a mapped file will do.
    dst : path or Raw
        The new file.
    axes : sequence of int, optional
        As for `transpose`.
    by, complement, axis
        As for `permute`, instead.
    memory, threads, overwrite, tmpdir, io, resumable
        As for `transpose`.

    Returns
    -------
    Job
        The plan. Its run() moves the data.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> np.save('a.npy', np.zeros((200, 300)))
    >>> job = xorder.plan('a.npy', 'b.npy', memory='64MiB')
    >>> job.passes, job.bytes
    (1, 480000)
    >>> job.run()['bytes']
    480000
    """
    task = task_of(axes, by, complement, axis)
    checked_target(dst, "dst")
    settings = options(memory, threads, overwrite, tmpdir, io, resumable)
    found = in_file(src, "src", "a plan is for files, and Plan for arrays")
    return job_of(found, *task.of(found.shape, found.itemsize), dst, settings)
