"""libxorder.so.0 by ctypes: its functions with their types, its objects, and its failures as exceptions."""
from __future__ import annotations

import ctypes
import errno
import os
import pathlib
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any, Iterable

_NAME = "libxorder.so.0"


def _find() -> str:
    """$XORDER_LIBRARY; beside this file, as in a wheel; in the prefix that the module was installed to; or wherever the
    loader finds it."""
    if chosen := os.environ.get("XORDER_LIBRARY"):
        return chosen
    here = pathlib.Path(__file__).resolve().parent
    places = [here]
    if here.parent.parent.name.startswith("python"):  # <prefix>/lib/python3/dist-packages/xorder
        lib = here.parent.parent.parent
        places += [lib, *sorted(lib.glob("*-linux-*")), lib.parent / "lib64"]
    return next((str(place / _NAME) for place in places if (place / _NAME).exists()), _NAME)


class Options(ctypes.Structure):
    """xorder_options."""

    _fields_ = [("size", c_size_t), ("memory", c_uint64), ("threads", c_int), ("access", c_int), ("overwrite", c_int),
                ("reserved", c_int), ("scratch_directory", c_char_p), ("device", c_char_p), ("resumable", c_int)]


class Progress(ctypes.Structure):
    """xorder_progress."""

    _fields_ = [("bytes_done", c_uint64), ("bytes_total", c_uint64), ("pass_", c_int), ("passes", c_int)]


class Difference(ctypes.Structure):
    """xorder_difference."""

    _fields_ = [("first_byte", c_uint64), ("end_byte", c_uint64), ("first_element", c_uint64), ("end_element", c_uint64)]


class Message(ctypes.Structure):
    """xorder_message."""

    _fields_ = [("from_node", c_uint64), ("from_slot", c_uint64), ("to_node", c_uint64), ("to_slot", c_uint64),
                ("via", c_uint64), ("links", c_uint64)]


ProgressFunction = ctypes.CFUNCTYPE(c_int, POINTER(Progress), c_void_p)
StepFunction = ctypes.CFUNCTYPE(c_int, c_int, c_uint64, c_uint64, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)

try:
    library = ctypes.CDLL(_find())
except OSError as _error:
    raise ImportError(f"{_error}; install xorder, or set XORDER_LIBRARY to the path of {_NAME}") from None

_OUT, _NUMBERS, _TEXT = POINTER(c_void_p), POINTER(c_uint64), (c_char_p, c_size_t, POINTER(c_size_t))
for _name, _result, _arguments in [
        ("last_error", c_char_p, []),
        ("last_error_path", c_char_p, []),
        ("last_errno", c_int, []),
        ("version_string", c_char_p, []),
        ("permutation_axes", c_int, [_OUT, c_int, _NUMBERS, POINTER(c_int), c_uint64]),
        ("permutation_bmmc", c_int, [_OUT, c_int, _NUMBERS, c_uint64, c_uint64]),
        ("permutation_expression", c_int, [_OUT, c_char_p, c_int, c_uint64]),
        ("permutation_along_axis", c_int, [_OUT, c_void_p, c_int, _NUMBERS, c_int]),
        ("permutation_json", c_int, [c_void_p, c_uint64, c_uint64, *_TEXT]),
        ("permutation_svg", c_int, [c_void_p, c_char_p, c_uint64, *_TEXT]),
        ("permutation_free", None, [c_void_p]),
        ("plan_create", c_int, [_OUT, c_void_p]),
        ("plan_create_strided", c_int, [_OUT, c_void_p, POINTER(c_int64), POINTER(c_int64)]),
        ("plan_execute", c_int, [c_void_p, c_void_p, c_void_p, c_int]),
        ("plan_execute_in_place", c_int, [c_void_p, c_void_p, c_int]),
        ("plan_text", c_char_p, [c_void_p]),
        ("plan_free", None, [c_void_p]),
        ("layout_open", c_int, [_OUT, c_char_p]),
        ("layout_strided", c_int, [_OUT, c_char_p, c_uint64, c_char_p, c_int, _NUMBERS, POINTER(c_int64)]),
        ("layout_json", c_char_p, [c_void_p]),
        ("layout_path", c_char_p, [c_void_p]),
        ("layout_free", None, [c_void_p]),
        ("output_format", c_int, [c_char_p, POINTER(c_int)]),
        ("job_layout", c_int, [_OUT, c_void_p, c_void_p, c_char_p, POINTER(Options)]),
        ("job_layout_raw", c_int, [_OUT, c_void_p, c_void_p, c_char_p, c_uint64, c_int, POINTER(Options)]),
        ("job_into", c_int, [_OUT, c_void_p, c_void_p, c_char_p, c_uint64, POINTER(Options)]),
        ("job_joined", c_int, [_OUT, c_void_p, c_int, c_int, POINTER(c_void_p), c_size_t, c_char_p, POINTER(Options)]),
        ("job_compute", c_int, [_OUT, c_int, StepFunction, c_void_p, c_void_p, c_char_p, POINTER(Options)]),
        ("job_scan", c_int, [_OUT, c_char_p, c_void_p, c_char_p, POINTER(Options)]),
        ("job_shift", c_int, [_OUT, c_int64, c_void_p, c_char_p, POINTER(Options)]),
        ("job_merge", c_int, [_OUT, c_void_p, c_char_p, POINTER(Options)]),
        ("job_tridiagonal", c_int, [_OUT, POINTER(c_void_p), c_char_p, POINTER(Options)]),
        ("job_in_place", c_int, [_OUT, c_void_p, c_void_p, POINTER(Options)]),
        ("job_resume", c_int, [_OUT, c_char_p]),
        ("job_roll_back", c_int, [_OUT, c_char_p]),
        ("job_plan_text", c_char_p, [c_void_p]),
        ("job_plan_json", c_char_p, [c_void_p]),
        ("job_run", c_int, [c_void_p, ProgressFunction, c_void_p]),
        ("job_report_json", c_char_p, [c_void_p]),
        ("job_note", c_char_p, [c_void_p]),
        ("job_free", None, [c_void_p]),
        ("schedule_create", c_int, [_OUT, c_int, c_int, c_uint64]),
        ("schedule_search", c_int, [_OUT, c_int, c_uint64, _NUMBERS, c_size_t]),
        ("schedule_read", c_int, [_OUT, c_char_p, c_char_p, c_int, c_uint64, c_int]),
        ("schedule_json", c_char_p, [c_void_p]),
        ("schedule_messages", c_int, [c_void_p, c_uint64, POINTER(Message), c_size_t, POINTER(c_size_t)]),
        ("schedule_paths", c_int, [c_void_p, c_uint64, _NUMBERS, c_size_t, POINTER(c_size_t)]),
        ("schedule_check", c_int, [c_void_p, POINTER(c_char_p)]),
        ("schedule_svg", c_int, [c_void_p, c_char_p, *_TEXT]),
        ("schedule_free", None, [c_void_p]),
        ("journal_json", c_int, [c_char_p, *_TEXT]),
        ("journal_discard", c_int, [c_char_p]),
        ("checksum", c_int, [c_char_p, POINTER(Options), ProgressFunction, c_void_p, *_TEXT]),
        ("checksum_compare", c_int, [c_char_p, c_char_p, c_char_p, POINTER(Options), ProgressFunction, c_void_p,
                                     POINTER(Difference), c_size_t, POINTER(c_size_t)]),
        ("verify", c_int, [c_void_p, c_void_p, c_void_p, POINTER(Options), ProgressFunction, c_void_p,
                           POINTER(Difference), c_size_t, POINTER(c_size_t)]),
]:
    _function = getattr(library, "xorder_" + _name)
    _function.restype, _function.argtypes = _result, _arguments

_ARGUMENT, _INPUT, _IO, _CANCELLED, _MEMORY = -1, -2, -3, -4, -5


def failure(status: int, paths: Iterable[bytes] = ()) -> BaseException:
    """The exception for this thread's last failed call. `paths` are those that its message may begin with."""
    text, code = library.xorder_last_error(), library.xorder_last_errno()
    named = library.xorder_last_error_path() or next((path for path in paths if text.startswith(path + b": ")), None)
    message = text.decode(errors="replace")
    if status == _MEMORY:
        return MemoryError(message)
    if status == _CANCELLED:
        return KeyboardInterrupt()
    if status == _IO or (status == _INPUT and code != 0):
        if named is None:
            return OSError(code, message) if code else OSError(message)
        reason, name = text.removeprefix(named + b": ").decode(errors="replace"), os.fsdecode(named)
        return OSError(code or errno.EIO, reason, name)
    return (ValueError if status in (_ARGUMENT, _INPUT) else RuntimeError)(message)


def check(status: int, *paths: bytes) -> None:
    """Raises the exception for a status that is not 0."""
    if status != 0:
        raise failure(status, paths)


def text_of(function: str, *arguments: Any, paths: Iterable[bytes] = ()) -> str:
    """What xorder_`function`() tells."""
    room, length = 1 << 12, c_size_t()
    while True:
        text = ctypes.create_string_buffer(room)
        check(getattr(library, "xorder_" + function)(*arguments, text, room, byref(length)), *paths)
        if length.value < room:
            return text.value.decode(errors="replace")
        room = length.value + 1


class Handle:
    """An object of the library, made by xorder_`maker`() and freed with the last reference to it."""

    __slots__ = ("pointer", "_free", "__weakref__")

    def __init__(self, maker: str, *arguments: Any, paths: Iterable[bytes] = ()) -> None:
        self._free = getattr(library, f"xorder_{maker.partition('_')[0]}_free")
        self.pointer = c_void_p()
        check(getattr(library, "xorder_" + maker)(byref(self.pointer), *arguments), *paths)

    def __del__(self) -> None:
        self._free(self.pointer)


def numbers(values: Iterable[int]) -> Any:
    """An array of uint64_t."""
    values = tuple(values)
    return (c_uint64 * len(values))(*values)


def path_bytes(path: Any) -> bytes:
    """A path as the library takes it."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError("embedded null byte")
    return name
