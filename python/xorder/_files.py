"""Runs from file to file, and arrays in memory that become files."""
from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import operator
import os
import re
import secrets
import threading
from ctypes import byref, c_int
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import numpy as np

from ._arrays import File, Path, Raw, new_raw, npy_format, refuse_half_done, warn
from ._library import Handle, Options, ProgressFunction, check, failure, library, path_bytes
from ._memory import checked_threads, fill

Progress = Union[bool, Callable[[int, int], Any]]

SLAB = 8 << 20  # what is written at a time of an array in memory

_ACCESS = {"auto": 0, "direct": 1, "mapped": 2}
_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def size(given: Union[int, str, None]) -> int:
    """Bytes, as a number or as the program's options take them: '2GiB', '512 MiB', '1.5G'. 0 for None."""
    if given is None:
        return 0
    if isinstance(given, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)(b?)\s*", given, re.IGNORECASE)
        if found is None or (found[3] and not found[2]):
            raise ValueError(f"memory is {given!r}, not a size such as '512MiB' or '2GiB'")
        bytes_ = int(float(found[1]) * 1024 ** _UNITS[found[2].lower()])
    else:
        bytes_ = operator.index(given)
    if not 0 < bytes_ < 1 << 63:
        raise ValueError(f"memory is {given!r}; expected at least 16 MiB")
    return bytes_


def options(memory: Union[int, str, None], threads: Optional[int], overwrite: bool, tmpdir: Optional[Path],
            io: str, resumable: bool = False) -> Options:
    if io not in _ACCESS:
        raise ValueError(f"io is {io!r}, none of 'auto', 'direct', 'mapped'")
    return Options(size=ctypes.sizeof(Options), memory=size(memory), threads=checked_threads(threads), access=_ACCESS[io],
                   overwrite=bool(overwrite), scratch_directory=None if tmpdir is None else path_bytes(tmpdir),
                   resumable=bool(resumable))


class _Bar:
    """tqdm's, in bytes."""

    def __init__(self) -> None:
        from tqdm.auto import tqdm  # type: ignore[import]

        self._bar = tqdm(unit="B", unit_scale=True, unit_divisor=1024)

    def __call__(self, done: int, total: int) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)
        if done == total:
            self._bar.close()


def teller(progress: Progress) -> Optional[Callable[[int, int], Any]]:
    if progress is True:
        return _Bar()
    if progress is False or progress is None:
        return None
    if not callable(progress):
        raise TypeError("progress is neither a bool nor callable")
    return progress


def apart(call: Callable[[Any], Any], paths: Tuple[bytes, ...], tell: Optional[Callable[[int, int], Any]]) -> None:
    """Makes a call of the library that takes a progress function, and raises what it fails with. It runs in a thread of
    its own: this one stays in Python, where signals are handled and exceptions are not lost."""
    at, stop, ended = [0, 0], False, threading.Event()
    begun = threading.Lock()  # held by the thread that works, or by this one if that must not begin
    failures: List[BaseException] = []

    def tick(progress: Any, _: Any) -> int:
        at[:] = progress[0].bytes_done, progress[0].bytes_total
        return stop

    callback = ProgressFunction(tick)

    def work() -> None:
        if not begun.acquire(blocking=False):
            return
        try:
            if status := call(callback):
                failures.append(failure(status, paths))
        finally:
            ended.set()

    worker = threading.Thread(target=work, name="xorder")
    try:
        worker.start()
        while not ended.wait(0.05 if tell else None):
            if tell and at[1]:
                tell(*at)
        if tell and at[1] and not failures:
            tell(*at)
    except BaseException:
        stop = True
        while not begun.acquire(blocking=False) and not ended.is_set():
            with contextlib.suppress(BaseException):  # one interrupt more
                ended.wait()
        raise
    finally:
        if ended.is_set():
            worker.join()
    if failures:
        raise failures[0]


class Job:
    """A permutation of files that is ready to run. Made by `plan`; nothing has been written.

    Attributes
    ----------
    passes : int
        How often all data are read and written.
    bytes : int
        The size of the data.
    memory : int
        Bytes of memory that the run will take.
    seconds : float
        Its predicted time.
    details : dict
        All of the plan, as docs/json.md lists it.
    """

    def __init__(self, made: Handle, paths: Tuple[bytes, ...], goes_on: bool) -> None:
        self._made, self._paths, self._goes_on = made, paths, goes_on
        self._busy = threading.Lock()
        self.details: Dict[str, Any] = json.loads(library.xorder_job_plan_json(self._made.pointer))
        self.passes: int = self.details["passes"]
        self.bytes: int = self.details["bytes"]
        self.memory: int = self.details["planned_memory"]
        self.seconds: float = self.details["predicted_seconds"]

    def __repr__(self) -> str:
        return library.xorder_job_plan_text(self._made.pointer).decode(errors="replace").rstrip("\n")  # type: ignore[no-any-return]

    def run(self, progress: Progress = False) -> Dict[str, Any]:
        """Move the data.

        Parameters
        ----------
        progress : callable or bool, optional
            progress(done, total), in bytes, is called about 20 times per second. True shows a bar of tqdm.

        Returns
        -------
        dict
            The report, as docs/json.md lists it.

        Notes
        -----
        An exception of `progress`, and an interrupt, end the run and leave nothing behind; but what a resumable run has
        begun stays, and one in place leaves the file half done: see `resume` and `rollback`.
        """
        tell = teller(progress)
        with self._busy:
            try:
                apart(lambda callback: library.xorder_job_run(self._made.pointer, callback, None), self._paths, tell)
            except BaseException:
                if self._goes_on:
                    warn(self._note())
                raise
            report: Dict[str, Any] = json.loads(library.xorder_job_report_json(self._made.pointer))
            note = self._note()
        warn(note)
        return report

    def _note(self) -> str:
        return library.xorder_job_note(self._made.pointer).decode(errors="replace")  # type: ignore[no-any-return]


def job_of(file: File, permutation: Handle, shape: Tuple[int, ...], dst: Union[Path, Raw], settings: Options) -> Job:
    """The job that makes a file, with a result of this shape."""
    target = path_bytes(dst.path if isinstance(dst, Raw) else dst)
    paths = (target, file.path)
    maker, more = ("job_layout_raw", new_raw(dst, shape, file.dtype)) if isinstance(dst, Raw) else ("job_layout", ())
    made = Handle(maker, permutation.pointer, file.layout.pointer, target, *more, byref(settings), paths=paths)
    return Job(made, paths, bool(settings.resumable))


def has_header(dst: Path) -> bool:
    """Whether a new file of this name is .npy. Raises ValueError for names of other formats."""
    npy = c_int()
    check(library.xorder_output_format(path_bytes(dst), byref(npy)))
    return npy.value != 0


def npy_header(dtype: np.dtype[Any], shape: Tuple[int, ...]) -> bytes:
    text = repr({"descr": npy_format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}).encode()
    version = 3 if not text.isascii() else 2 if len(text) > 65000 else 1
    width = 2 if version == 1 else 4
    text += b" " * (-(8 + width + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(width, "little") + text


def _give_name(made: str, target: str, overwrite: bool) -> None:
    if overwrite:
        os.replace(made, target)
    else:
        try:
            os.link(made, target)  # fails if somebody else has made one meanwhile
        except PermissionError:  # a file system without links
            os.rename(made, target)
        else:
            os.unlink(made)
    directory = os.open(os.path.dirname(target) or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def write_array(view: np.ndarray[Any, Any], dst: Union[Path, Raw], overwrite: bool, threads: int,
                progress: Progress) -> Dict[str, Any]:
    """An array in memory becomes a file, by slabs. The file has no name before it is complete."""
    tell, name = teller(progress), os.fsdecode(path_bytes(dst.path if isinstance(dst, Raw) else dst))
    if isinstance(dst, Raw):
        offset, fortran = new_raw(dst, view.shape, view.dtype)
        if name.lower().endswith(".npy"):
            raise ValueError(f"{name}: a file of that name has a header of its own; a raw one ends in .raw, .bin or .dat")
        if not offset:
            has_header(name)  # raises for the names of formats
        view, header = view.T if fortran else view, bytes(offset)
    else:
        header = npy_header(view.dtype, view.shape) if has_header(name) else b""
    if os.path.lexists(name) and not overwrite:
        raise FileExistsError(errno.EEXIST, "exists", name)
    refuse_half_done(os.fsencode(name))
    if os.path.exists(name) and not os.path.isfile(name):
        raise ValueError(f"{name}: is not a regular file")
    shape = view.shape
    long: Any = (*(slice(None) if extent != 1 else 0 for extent in shape), ...)
    view = view[long]
    view = view if view.ndim else view.reshape(1)
    target = os.path.realpath(name) if overwrite else name
    made = os.path.join(os.path.dirname(target), f".{os.path.basename(target)[:64]}.{secrets.token_hex(4)}")
    try:
        with open(made, "xb", buffering=0) as file:
            def put(data: memoryview) -> None:
                while data:
                    data = data[file.write(data):]

            put(memoryview(header))
            row = max(view.nbytes // max(view.shape[0], 1), 1)
            step, done = max(SLAB // row, 64 // max(view.itemsize, 1), 1), 0
            for begin in range(0, view.shape[0], step):
                part = np.empty(view[begin:begin + step].shape, view.dtype)
                fill(part, view[begin:begin + step], threads)
                put(part.reshape(-1).view(np.uint8).data)
                done += part.nbytes
                if tell:
                    tell(done, view.nbytes)
            if os.path.exists(target):
                os.fchmod(file.fileno(), os.stat(target).st_mode & 0o777)
            os.fsync(file.fileno())
        _give_name(made, target, overwrite)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(made)
        raise
    return {"bytes": view.nbytes, "passes": 1, "note": ""}
