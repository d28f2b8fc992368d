"""Arrays in files: what a path, a description or a view of a mapped file stands for."""
from __future__ import annotations

import ast
import dataclasses
import json
import math
import mmap
import operator
import os
import stat
import sys
import warnings
from ctypes import byref, c_int64, c_size_t, create_string_buffer
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._library import Handle, library, numbers, path_bytes

Path = Union[str, bytes, "os.PathLike[Any]"]
npy_format: Any = np.lib.format  # which has no types


class Note(UserWarning):
    """What a run or a file should be known for: a request that could not be met, or a scale in a header."""


def warn(note: str) -> None:
    """A note, which points at the first line outside this package."""
    if not note:
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        frame, level = frame.f_back, level + 1
    warnings.warn(note, Note, level)


@dataclasses.dataclass(frozen=True)
class Raw:
    """An array in a file that does not say what it holds; or, as a target, a new file without a header.

    Parameters
    ----------
    path : path
        The file.
    dtype : dtype
        The type of an element.
    shape : tuple of int, optional
        The extents. Default: one axis with all elements of the file; of a new file, those of the result.
    offset : int, optional
        Where the element with all indices 0 begins, in bytes. A new file has zeros before it.
    strides : tuple of int, optional
        Bytes from one element to the next along each axis; negative ones go backwards. Default: no gaps. New
        files have none.
    order : {'C', 'F'}, optional
        How the axes lie without strides.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> np.arange(6, dtype='<i4').tofile('a.raw')
    >>> xorder.transpose(xorder.Raw('a.raw', '<i4', (2, 3)))
    array([[0, 3],
           [1, 4],
           [2, 5]], dtype=int32)
    """

    path: Path
    dtype: Any
    shape: Optional[Sequence[int]] = None
    offset: int = 0
    strides: Optional[Sequence[int]] = None
    order: str = "C"


def type_text(dtype: np.dtype[Any]) -> bytes:
    """A type as the header of an .npy file has it."""
    if dtype.hasobject:
        raise TypeError(f"elements of type {dtype} hold Python objects, which cannot be moved")
    if dtype.fields is None:
        return dtype.str.encode()
    return repr(npy_format.dtype_to_descr(dtype)).encode()


def refuse_half_done(path: bytes) -> None:
    """Raises ValueError if a run in place has left the file half done."""
    text, length = create_string_buffer(1 << 16), c_size_t()
    if library.xorder_journal_json(path, text, len(text), byref(length)) == 0 and b'"in_place":true' in text.value:
        raise ValueError(f"{os.fsdecode(path)}: is half done in place: `resume` finishes it, `rollback` restores it")


class File:
    """An array in a file. `view` is the array in memory that it was found by, if there is one."""

    def __init__(self, layout: Handle, view: Optional[np.ndarray[Any, Any]] = None) -> None:
        self.layout, self.view = layout, view
        self.info: Dict[str, Any] = json.loads(library.xorder_layout_json(layout.pointer))
        self.shape: Tuple[int, ...] = tuple(self.info["shape"])
        self.itemsize: int = self.info["element_bytes"]
        self.path: bytes = library.xorder_layout_path(layout.pointer)

    @property
    def dtype(self) -> np.dtype[Any]:
        return npy_format.descr_to_dtype(ast.literal_eval(self.info["descr"]))  # type: ignore[no-any-return]

    def array(self) -> np.ndarray[Any, Any]:
        """It in memory: the view, or the mapped file, which cannot be written."""
        if self.view is not None:
            return self.view
        warn(self.info.get("note", ""))
        refuse_half_done(self.path)
        shape, strides, offset, dtype = self.shape, self.info["strides"], self.info["offset"], self.dtype
        if 0 in shape:
            empty = np.empty(shape, dtype)
            empty.flags.writeable = False
            return empty
        path, order = os.fsdecode(self.path), self.info["order"]
        if order != "strided":
            return np.memmap(path, dtype, "r", offset, shape, order[0])
        begin, end = byte_range(shape, strides, self.itemsize)
        mapped = np.memmap(path, np.uint8, "r", offset + begin, (end - begin,))
        return np.ndarray(shape, dtype, mapped, -begin, strides)


def byte_range(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> Tuple[int, int]:
    """From the first to behind the last byte, counted from the element with all indices 0."""
    far = [stride * (extent - 1) for stride, extent in zip(strides, shape)]
    return sum(step for step in far if step < 0), sum(step for step in far if step > 0) + itemsize


def strided(path: Path, offset: int, dtype: np.dtype[Any], shape: Sequence[int], strides: Sequence[int]) -> Handle:
    name, count = path_bytes(path), len(shape)
    if offset < 0 or any(extent < 0 for extent in shape):
        raise ValueError(f"an array of shape {tuple(shape)} at offset {offset}: neither can be negative")
    return Handle("layout_strided", name, offset, type_text(dtype), count, numbers(shape),
                  (c_int64 * count)(*strides), paths=[name])


def raw_file(raw: Raw) -> File:
    dtype = np.dtype(raw.dtype)
    if raw.order not in ("C", "F"):
        raise ValueError(f"order is {raw.order!r}, neither 'C' nor 'F'")
    if dtype.itemsize == 0:
        raise ValueError(f"elements of type {dtype} have no bytes")
    offset = operator.index(raw.offset)
    if raw.shape is None:
        rest = os.stat(raw.path).st_size - offset
        if raw.strides is not None or rest % dtype.itemsize:
            raise ValueError(f"{os.fsdecode(raw.path)}: {rest} bytes from offset {offset} on are no whole number of "
                             f"{dtype.itemsize}-byte elements" if raw.strides is None else "strides need a shape")
        shape: Tuple[int, ...] = (rest // dtype.itemsize,)
    else:
        shape = tuple(operator.index(extent) for extent in raw.shape)
    if raw.strides is not None:
        strides = [operator.index(stride) for stride in raw.strides]
        if len(strides) != len(shape):
            raise ValueError(f"{len(strides)} strides for an array of {len(shape)} axes")
    else:
        strides, step = [0] * len(shape), dtype.itemsize
        for axis in range(len(shape)) if raw.order == "F" else reversed(range(len(shape))):
            strides[axis] = step
            step *= max(shape[axis], 1)
    return File(strided(raw.path, offset, dtype, shape, strides))


# ---- Views of mapped files


class _Mapping(NamedTuple):
    """A line of /proc/self/maps."""

    begin: int
    end: int
    access: str
    offset: int
    identity: Tuple[str, str]  # device and inode
    path: str


def _mapping_at(address: int) -> Optional[_Mapping]:
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            begin, _, rest = line.partition("-")
            if int(begin, 16) > address:
                break
            fields = rest.split(None, 5)
            if address < int(fields[0], 16):
                path = fields[5].rstrip("\n") if len(fields) > 5 else ""
                return _Mapping(int(begin, 16), int(fields[0], 16), fields[1], int(fields[2], 16),
                                (fields[3], fields[4]), path)
    return None


def _address(array: np.ndarray[Any, Any]) -> int:
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


def _mapped_by(view: np.ndarray[Any, Any]) -> Tuple[Optional[mmap.mmap], Optional[Path]]:
    """The map that an array lies in, and the file's path as far as numpy.memmap knows it."""
    base: Any = view
    path: Optional[Path] = None
    while not isinstance(base, mmap.mmap):
        if isinstance(base, np.ndarray):
            path = path or getattr(base, "filename", None)
            base = base.base
        elif isinstance(base, memoryview):
            base = base.obj
        else:
            return None, None
    return base, path


def _is_file(path: Path, identity: Tuple[str, str]) -> bool:
    """Whether a path still leads to the file that is mapped. Both are seen as mapped, because some file systems show
    other numbers to stat()."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        with mmap.mmap(descriptor, 1, prot=mmap.PROT_READ) as probe:
            probed = np.frombuffer(probe, np.uint8)
            found = _mapping_at(_address(probed))
            del probed
        return found is not None and found.identity == identity
    except (OSError, ValueError):  # cut off
        return False
    finally:
        os.close(descriptor)


def is_nested(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Whether a step along each axis passes by all that the axes with shorter steps reach, so that nothing overlaps."""
    reached = itemsize
    for stride, extent in sorted((abs(stride), extent) for stride, extent in zip(strides, shape) if extent != 1):
        if stride < reached:
            return False
        reached += stride * (extent - 1)
    return True


def file_of(view: np.ndarray[Any, Any]) -> Optional[File]:
    """The file that a view is mapped from, if it can be read from there: None if it is memory, or of a file that has no
    name any more, or if its elements overlap."""
    base, path = _mapped_by(view)
    if base is None or view.size == 0 or view.itemsize == 0 or not is_nested(view.shape, view.strides, view.itemsize):
        return None
    mapping = _mapping_at(_address(view))
    if mapping is None or mapping.identity[1] == "0":
        return None
    path = path or mapping.path
    if mapping.access[3] == "p":
        raise ValueError(f"{os.fsdecode(path)}: is mapped with mode 'c': changes are not in the file; use mode 'r', or "
                         "a copy in memory")
    if not _is_file(path, mapping.identity):
        return None
    if "w" in mapping.access:
        base.flush()
    return File(strided(path, mapping.offset + _address(view) - mapping.begin, view.dtype, view.shape, view.strides),
                view)


def share_bytes(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays overlap, be it as maps of one file at different addresses. Arrays in memory may interleave."""
    if np.may_share_memory(one, other, 1000):
        return True
    if one.size == 0 or other.size == 0 or _mapped_by(one)[0] is None or _mapped_by(other)[0] is None:
        return False
    places: List[Tuple[Tuple[str, str], int, int]] = []
    for array in (one, other):
        mapping = _mapping_at(_address(array))
        if mapping is None or mapping.access[3] == "p":
            return False
        begin, end = byte_range(array.shape, array.strides, array.itemsize)
        at = mapping.offset + _address(array) - mapping.begin
        places.append((mapping.identity, at + begin, at + end))
    (file, begin, end), (other_file, other_begin, other_end) = places
    return file == other_file and begin < other_end and other_begin < end


def checked_array(array: Any, what: str = "src") -> np.ndarray[Any, Any]:
    """An array whose elements can be moved."""
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{what} is a {type(array).__name__}, neither a path nor an array of NumPy's nor an xorder.Raw")
    if array.dtype.hasobject:
        raise TypeError(f"{what} has elements of type {array.dtype}: Python objects cannot be moved")
    return array


def is_path(given: Any) -> bool:
    return isinstance(given, (str, bytes, os.PathLike))


def new_raw(raw: Raw, shape: Tuple[int, ...], dtype: np.dtype[Any]) -> Tuple[int, bool]:
    """Where the data of a new file begin, and whether they are in Fortran order."""
    if raw.strides is not None:
        raise ValueError("a new file has no gaps: give order= instead of strides=")
    if raw.order not in ("C", "F"):
        raise ValueError(f"order is {raw.order!r}, neither 'C' nor 'F'")
    if np.dtype(raw.dtype) != dtype:
        raise TypeError(f"dst has the type {np.dtype(raw.dtype)}; expected {dtype}")
    if raw.shape is not None and tuple(raw.shape) != shape:
        raise ValueError(f"dst has the shape {tuple(raw.shape)}; expected {shape}")
    offset = operator.index(raw.offset)
    if not 0 <= offset < 1 << 63:
        raise ValueError(f"dst has its data at {offset}, which no file has")
    return offset, raw.order == "F"


def is_dataset(src: Any) -> bool:
    h5py = sys.modules.get("h5py")  # who has a dataset has imported it
    return h5py is not None and isinstance(src, h5py.Dataset)


def _dataset_file(dataset: Any) -> Union[File, np.ndarray[Any, Any]]:
    """The array of a contiguous h5py.Dataset, where it lies in its file."""
    if not dataset:
        raise ValueError("the dataset is closed")
    type_text(dataset.dtype)
    if dataset.size == 0:
        return np.empty(dataset.shape or (0,), dataset.dtype)
    path, offset = place_of_dataset(dataset)
    if dataset.file.mode != "r":
        dataset.file.flush()
    return raw_file(Raw(path, dataset.dtype, dataset.shape, offset))


def has_place(dataset: Any) -> Optional[bool]:
    """Whether the data of a contiguous dataset lie anywhere yet; None for others."""
    layout, made = sys.modules["h5py"].h5d.CONTIGUOUS, dataset.id.get_create_plist()
    if made.get_layout() != layout or made.get_external_count():
        return None
    offset = dataset.id.get_offset()
    return offset is not None and offset >= dataset.file.userblock_size


def place_of_dataset(dataset: Any) -> Tuple[bytes, int]:
    """The file and the offset of its data. Raises ValueError unless they follow each other there as h5py shows them."""
    file, name = dataset.file, f"{dataset.file.filename}:{dataset.name}"
    if not has_place(dataset) or file.driver not in ("sec2", "stdio"):
        advice = ": `h5repack -l CONTI IN OUT` makes it so" if dataset.chunks else ""
        raise ValueError(f"{name}: is not contiguous in a file of its name{advice}")
    if dataset.dtype.subdtype is not None:
        raise ValueError(f"{name}: its elements are arrays")
    if sys.modules["h5py"].h5t.py_create(dataset.dtype, logical=True) != dataset.id.get_type():
        raise ValueError(f"{name}: its numbers are not stored as {dataset.dtype}, as h5py reads them")
    try:
        here = os.stat(file.filename)
    except OSError:
        here = None
    if here is None or (file.driver == "sec2" and not os.path.samestat(here, os.fstat(file.id.get_vfd_handle()))):
        raise ValueError(f"{name}: the file that is open does not have this name any more, seen from here")
    return path_bytes(file.filename), dataset.id.get_offset()


def source(src: Any) -> Union[File, np.ndarray[Any, Any]]:
    """What is to be moved: an array in a file, or an array, which may be a view of a mapped file."""
    if is_path(src):
        name = path_bytes(src)
        return File(Handle("layout_open", name, paths=[name]))
    if is_dataset(src):
        return _dataset_file(src)
    return raw_file(src) if isinstance(src, Raw) else np.asarray(checked_array(src))


def in_file(src: Any, what: str, otherwise: str) -> File:
    """The array in a file that is meant; `otherwise` says what there is for arrays in memory."""
    found = source(src)
    file = found if isinstance(found, File) else file_of(found)
    if file is None:
        raise TypeError(f"{what} is an array in memory; {otherwise}")
    return file


def info(path: Path) -> Dict[str, Any]:
    """What a file holds.

    Parameters
    ----------
    path : path
        A file that says what it holds, or FILE:NAME for one of its arrays.

    Returns
    -------
    dict
        As `xorder info --json` prints it: 'dtype', 'shape', 'strides', 'order', 'offset' and others.

    Raises
    ------
    ValueError
        There is no array, or there are several, whose names it lists.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> np.save('a.npy', np.zeros((2, 3)))
    >>> found = xorder.info('a.npy')
    >>> found['dtype'], found['shape'], found['offset']
    ('<f8', [2, 3], 128)
    """
    name = path_bytes(path)
    return File(Handle("layout_open", name, paths=[name])).info


def open_array(path: Union[Path, Raw]) -> np.ndarray[Any, Any]:
    """Map an array of a file, which is not read yet and cannot be written.

    Parameters
    ----------
    path : path or Raw
        A file that says what it holds, FILE:NAME for one of its arrays, or a description.

    Returns
    -------
    numpy.memmap or numpy.ndarray
        A memmap; for arrays with gaps an array over one.

    Examples
    --------
    >>> import numpy as np, xorder
    >>> np.save('a.npy', np.arange(6).reshape(2, 3))
    >>> xorder.open('a.npy')[1]
    memmap([3, 4, 5])
    """
    found = source(path)
    if not isinstance(found, File):
        raise TypeError("expected a path or an xorder.Raw")
    return found.array()


def load_trace(path: Path) -> Tuple[np.ndarray[Any, Any], Dict[str, Any]]:
    """Read what `xorder --trace` has recorded.

    Parameters
    ----------
    path : path
        The trace.

    Returns
    -------
    records : numpy.ndarray
        A structured array with a record for each transfer; docs/benchmarks.md lists its fields.
    run : dict
        The files, the plan and the report.

    Raises
    ------
    ValueError
        The file is not a trace.
    """
    try:
        mapped = np.load(path, mmap_mode="r")
        with open(path, "rb") as file:
            end = file.seek(-8, os.SEEK_END)
            length = int.from_bytes(file.read(8), "little")
            begin = end - length
            if begin < math.prod(mapped.shape) * 32 or "begin" not in mapped.dtype.names:
                raise ValueError
            file.seek(begin)
            run: Dict[str, Any] = json.loads(file.read(length))
    except (ValueError, TypeError, AttributeError, EOFError):
        raise ValueError(f"{os.fsdecode(path)}: is not a trace; `xorder transpose IN OUT --trace FILE` writes one") from None
    return np.array(mapped), run


def load_bench(path: Path) -> Tuple[np.ndarray[Any, Any], Dict[str, Any]]:
    """Read what `xorder bench --json` has written.

    Parameters
    ----------
    path : path
        The results.

    Returns
    -------
    samples : numpy.ndarray
        A structured array with a record for each sample: 'figure' and 'series', which are names, 'x', 'round' and
        'value'. 'x' is the number of a row where the figure has rows.
    results : dict
        All of them, as docs/json.md lists them: also 'host', 'warnings', and for each figure its axes and rows.

    Raises
    ------
    ValueError
        The file has no results.
    """
    try:
        with open(path, encoding="utf-8") as file:
            results: Dict[str, Any] = json.load(file)
        records = [(str(figure["id"]), str(series["name"]), point["x"], number, value)
                   for figure in results["figures"] for series in figure["series"] for point in series["points"]
                   for number, value in enumerate(point["samples"])]
        names = [f"U{max([1, *(len(str(record[i])) for record in records)])}" for i in (0, 1)]
        samples = np.array(records, [("figure", names[0]), ("series", names[1]), ("x", "f8"), ("round", "i8"), ("value", "f8")])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise ValueError(f"{os.fsdecode(path)}: has no results; `xorder bench memory --json FILE` writes such") from None
    return samples, results
