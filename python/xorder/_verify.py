"""Whether a file holds what it should."""
from __future__ import annotations

import os
from ctypes import byref, c_size_t, create_string_buffer
from typing import List, NamedTuple, Optional, Sequence, Tuple

from . import _library
from ._arrays import Path, in_file
from ._files import Progress, apart, options, teller
from ._library import library, path_bytes
from ._moves import Size, Source, task_of
from ._permutations import Map

_MOST_DIFFERENCES = 2048  # that xorder_verify() tells apart


class Difference(NamedTuple):
    """A part of a file in which something differs, up to the byte and the element before the ends."""

    first_byte: int
    end_byte: int
    first_element: int
    end_element: int


class Verdict:
    """Whether a file holds what a permutation makes of another. It is true if it does. Made by `verify`.

    Attributes
    ----------
    differences : list of Difference
        Where it does not, as places in the file. Elements count in the order of the file.
    """

    def __init__(self, name: str, differences: List[Difference]) -> None:
        self.differences = differences
        self._name = name

    def __bool__(self) -> bool:
        return not self.differences

    def __repr__(self) -> str:
        if not self.differences:
            return f"{self._name}: is right"
        places = [f"bytes {d.first_byte} to {d.end_byte - 1} (elements {d.first_element} to {d.end_element - 1})"
                  for d in self.differences[:4]]
        more = len(self.differences) - len(places)
        return f"{self._name}: not as it should be: {', '.join(places)}{f' and {more} more places' if more else ''}"


def verify(src: Source, result: Source, axes: Optional[Sequence[int]] = None, *, by: Optional[Map] = None,
           complement: int = 0, axis: Optional[int] = None, memory: Size = None, threads: Optional[int] = None,
           progress: Progress = False) -> Verdict:
    """Whether one file holds what `transpose` or `permute` makes of another, whoever has made it.

    Parameters
    ----------
    src : path, Raw or numpy.ndarray
        What was to be permuted, in a file: a view of a mapped file will do.
    result : path, Raw or numpy.ndarray
        What should have become of it. Its elements follow each other in the file, in C or Fortran order.
    axes : sequence of int, optional
        As for `transpose`. Default: the axes are reversed; ``range(ndim)`` tells whether the elements are the same.
    by, complement, axis
        As for `permute`, instead.
    memory, threads, progress
        As for `transpose`.

    Returns
    -------
    Verdict
        True if `result` is right; else its `differences` say where it is not.

    Raises
    ------
    ValueError
        `result` has another type or shape, or gaps.
    TypeError
        An array is in memory.
    OSError
        From the system; or a file has changed meanwhile.

    Notes
    -----
    Each file is read once, past the page cache where the file system allows that. They are compared by sums in which
    every element counts with its place, so 16 MiB of memory suffice; a difference goes unnoticed with a probability of at
    most 2**-62.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> a = np.arange(2000.).reshape(40, 50)
    >>> np.save('a.npy', a)
    >>> np.save('b.npy', a.T)
    >>> xorder.verify('a.npy', 'b.npy')
    b.npy: is right
    >>> bool(xorder.verify('b.npy', 'b.npy', (0, 1)))
    True
    >>> b = np.load('b.npy', mmap_mode='r+')
    >>> b[30, 30] += 1
    >>> xorder.verify('a.npy', b).differences
    [Difference(first_byte=8320, end_byte=12416, first_element=1024, end_element=1536)]
    """
    task = task_of(axes, by, complement, axis)
    settings = options(memory, threads, False, None, "auto")
    given, made = (in_file(array, what, "compare such arrays by numpy.array_equal")
                   for array, what in ((src, "src"), (result, "result")))
    permutation, _ = task.of(given.shape, given.itemsize)
    count, found = c_size_t(), (_library.Difference * _MOST_DIFFERENCES)()
    apart(lambda callback: library.xorder_verify(permutation.pointer, given.layout.pointer, made.layout.pointer,
                                                 byref(settings), callback, None, found, len(found), byref(count)),
          (given.path, made.path), teller(progress))
    return Verdict(os.fsdecode(made.path), [Difference(d.first_byte, d.end_byte, d.first_element, d.end_element)
                                            for d in found[:count.value]])


def checksum(path: Path, *, memory: Size = None, threads: Optional[int] = None, progress: Progress = False) -> str:
    """Hashes of a file, by which `decay` finds later whether and where it has changed.

    Parameters
    ----------
    path : path
        Any file. It is read once, past the page cache where the file system allows that.
    memory, threads, progress
        As for `transpose`.

    Returns
    -------
    str
        The text that `xorder transpose --checksum FILE` writes: a line for each MiB. Keep it in a file.

    Examples
    --------
    >>> import numpy as np, pathlib, xorder
    >>> np.save('a.npy', np.arange(1000))
    >>> _ = pathlib.Path('a.sums').write_text(xorder.checksum('a.npy'))
    >>> xorder.decay('a.npy', 'a.sums')
    []
    >>> np.load('a.npy', mmap_mode='r+')[7] = 0
    >>> xorder.decay('a.npy', 'a.sums')
    [(0, 8128)]
    """
    name, settings = path_bytes(path), options(memory, threads, False, None, "auto")
    length, room = c_size_t(), 0
    while length.value >= room:  # the second time only if the file has grown meanwhile
        room = 101 + 33 * ((os.stat(path).st_size >> 20) + 2)
        text = create_string_buffer(room)
        apart(lambda callback: library.xorder_checksum(name, byref(settings), callback, None, text, room, byref(length)),
              (name,), teller(progress))
    return text.value.decode()


def decay(path: Path, kept: Path, *, memory: Size = None, threads: Optional[int] = None,
          progress: Progress = False) -> List[Tuple[int, int]]:
    """Where a file is not what it was.

    Parameters
    ----------
    path : path
        The file.
    kept : path
        A file with what `checksum` or `--checksum` has made of it then.
    memory, threads, progress
        As for `transpose`.

    Returns
    -------
    list of (int, int)
        Ranges of bytes in which it differs, up to the byte before the second number, in whole MiB but for the end of the
        longer file; empty if it does not.

    Raises
    ------
    ValueError
        `kept` is not what `checksum` makes.
    """
    name, settings = path_bytes(path), options(memory, threads, False, None, "auto")
    kept_name = path_bytes(kept)
    with open(kept, "rb") as file:
        text = file.read()
    if b"\0" in text:
        raise ValueError(f"{os.fsdecode(kept)}: is no checksum")
    room = text.count(b"\n") + 2
    count, found = c_size_t(), (_library.Difference * room)()
    apart(lambda callback: library.xorder_checksum_compare(name, text, kept_name, byref(settings), callback, None,
                                                           found, room, byref(count)),
          (name, kept_name), teller(progress))
    return [(d.first_byte, d.end_byte) for d in found[:count.value]]
