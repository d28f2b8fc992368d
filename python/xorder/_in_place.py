"""Arrays and files that are permuted in place, and runs that go on."""
from __future__ import annotations

import json
from ctypes import byref
from typing import Any, Dict, Optional, Sequence, Union

import numpy as np

from ._arrays import Path, Raw, checked_array, is_path, source
from ._files import Job, Progress, options
from ._library import Handle, check, library, path_bytes, text_of
from ._memory import Plan
from ._moves import Size, task_of
from ._permutations import Map

Place = Union[Path, Raw, "np.ndarray[Any, Any]"]


def _in_place(a: Place, axes: Optional[Sequence[int]], by: Optional[Map], complement: int, axis: Optional[int],
              memory: Size, threads: Optional[int], progress: Progress, tmpdir: Optional[Path]) -> Any:
    if not is_path(a) and not isinstance(a, Raw):
        array = checked_array(a, "a")
        if memory is not None or tmpdir is not None or progress:
            raise TypeError("memory, progress and tmpdir are for files")
        return Plan(array.shape, array.dtype, axes, by=by, complement=complement, axis=axis).in_place(array, threads=threads)
    settings = options(memory, threads, False, tmpdir, "auto")
    file: Any = source(a)
    permutation, _ = task_of(axes, by, complement, axis).of(file.shape, file.itemsize)
    made = Handle("job_in_place", permutation.pointer, file.layout.pointer, byref(settings), paths=[file.path])
    return Job(made, (file.path,), True).run(progress)


def transpose_in_place(a: Place, axes: Optional[Sequence[int]] = None, *, memory: Size = None,
                       threads: Optional[int] = None, progress: Progress = False, tmpdir: Optional[Path] = None) -> Any:
    """Store the axes of an array in another order, in the same memory or within its file.

    Parameters
    ----------
    a : numpy.ndarray, path or Raw
        An array that is C-contiguous and writeable; or an .npy or raw file. A map of a file is an array in
        memory: give the path, so that the run can be killed without harm.
    axes : sequence of int, optional
        As for `numpy.transpose`. Default: the axes are reversed.
    memory, threads, progress
        As for `transpose`; in memory only `threads`.
    tmpdir : path, optional
        Directory for the undo area of a file. Default: that of the file.

    Returns
    -------
    numpy.ndarray or dict
        The same memory in its new shape: `a` keeps its shape, and shows the elements in the new order. Or the report of
        the run, for a file.

    Raises
    ------
    ValueError
        A file is half done, or there is too little memory.
    TypeError, OSError
        As for `transpose`.

    Notes
    -----
    In memory, square transpositions and batches of small arrays need a few MiB beside the array; those of other matrices,
    and three axes reversed, mostly 1/64 of it and a few MiB for each thread; others, a second array for the time of the
    call. A file needs an undo area of at most 1 GiB beside it; its header changes with the shape. If its run is killed or interrupted, the file may be half
    done: a note says so, `resume` finishes it, and `rollback` restores it.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> a = np.arange(6).reshape(2, 3)
    >>> xorder.transpose_in_place(a)
    array([[0, 3],
           [1, 4],
           [2, 5]])
    >>> np.save('a.npy', np.arange(6).reshape(2, 3))
    >>> report = xorder.transpose_in_place('a.npy')
    >>> np.load('a.npy')
    array([[0, 3],
           [1, 4],
           [2, 5]])
    """
    return _in_place(a, axes, None, 0, None, memory, threads, progress, tmpdir)


def permute_in_place(a: Place, *, by: Map, complement: int = 0, axis: Optional[int] = None, memory: Size = None,
                     threads: Optional[int] = None, progress: Progress = False, tmpdir: Optional[Path] = None) -> Any:
    """Send element x, of 2^n, to A x ^ c, in the same memory or within its file.

    Parameters
    ----------
    a : numpy.ndarray, path or Raw
        An array that is C-contiguous and writeable; or an .npy or raw file. In files, involutions such as bit reversal take
        one pass, other maps mostly two or three.
    by, complement, axis
        As for `permute`.
    memory, threads, progress, tmpdir
        As for `transpose_in_place`.

    Returns
    -------
    numpy.ndarray or dict
        As for `transpose_in_place`.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> xorder.permute_in_place(np.arange(8), by='bitreverse')
    array([0, 4, 2, 6, 1, 5, 3, 7])
    """
    if by is None:
        raise TypeError("by is None; expected an expression or a matrix")
    return _in_place(a, None, by, complement, axis, memory, threads, progress, tmpdir)


def resume(path: Path, *, progress: Progress = False) -> Dict[str, Any]:
    """Go on with a run that was killed or interrupted, whoever began it, Python or the program.

    Parameters
    ----------
    path : path
        The output of a run with ``resumable=True`` or `--resumable`; or a file that was left half done in place.
    progress : callable or bool, optional
        As for `transpose`.

    Returns
    -------
    dict
        The report of the run.

    Raises
    ------
    ValueError
        There is no such run, or it is still going on; or its input has changed since.

    Notes
    -----
    What was finished is not done again. The options are those of the run. `status` shows how far it is, and `discard`
    removes its files.
    """
    name = path_bytes(path)
    return Job(Handle("job_resume", name, paths=[name]), (name,), True).run(progress)


def status(path: Path) -> Dict[str, Any]:
    """How far a run has come that has not ended, also while it is going on in another process.

    Parameters
    ----------
    path : path
        As for `resume`.

    Returns
    -------
    dict
        As `xorder status --json` prints it: 'running', 'complete', 'in_place', 'bytes_done', 'bytes_total' and others.

    Raises
    ------
    ValueError
        There is no such run.
    """
    name = path_bytes(path)
    found: Dict[str, Any] = json.loads(text_of("journal_json", name, paths=[name]))
    return found


def discard(path: Path) -> None:
    """Remove the files of a run with ``resumable=True`` or `--resumable` that has not ended.

    Parameters
    ----------
    path : path
        Its output.

    Raises
    ------
    ValueError
        There is no such run, it is still going on, or it is one in place, which `resume` finishes and `rollback` undoes.
    """
    name = path_bytes(path)
    check(library.xorder_journal_discard(name), name)


def rollback(path: Path, *, progress: Progress = False) -> Dict[str, Any]:
    """Restore a file that a run in place has left half done, whoever began it, Python or the program.

    Parameters
    ----------
    path : path
        The file.
    progress : callable or bool, optional
        As for `transpose`.

    Returns
    -------
    dict
        The report of the run.

    Raises
    ------
    ValueError
        The file is not half done, or a run is still going on.

    Notes
    -----
    This may be killed, too, and begun again.
    """
    name = path_bytes(path)
    return Job(Handle("job_roll_back", name, paths=[name]), (name,), True).run(progress)
