"""Reorder arrays, in memory and in files larger than memory.

`transpose`, `permute`, `bitreverse` and `flip` take paths and arrays alike; `save` writes any view of a mapped file
without loading it. Files are moved by libxorder within a limit of memory, about as fast as the disk can copy them; a new
file is complete or absent.

>>> import numpy as np, xorder
>>> np.save('a.npy', np.arange(6).reshape(2, 3))
>>> report = xorder.transpose('a.npy', 'b.npy', memory='1GiB')
>>> np.load('b.npy').shape
(3, 2)
"""
from ._arrays import Note, Raw, info, load_bench, load_trace
from ._arrays import open_array as open
from ._descend import descend, merge, scan, shift, tridiagonal
from ._files import Job
from ._in_place import discard, permute_in_place, resume, rollback, status, transpose_in_place
from ._library import library as _lib
from ._memory import Plan, ascontiguousarray
from ._moves import bitreverse, flip, permute, plan, save, transpose
from ._schedule import Schedule, schedule
from ._show import Shown, show
from ._verify import Difference, Verdict, checksum, decay, verify

__version__: str = _lib.xorder_version_string().decode()
__all__ = ["Difference", "Job", "Note", "Plan", "Raw", "Schedule", "Shown", "Verdict", "ascontiguousarray",
           "bitreverse", "checksum", "decay", "descend", "discard", "flip", "info", "load_bench", "load_trace",
           "merge", "open", "permute", "permute_in_place", "plan", "resume", "rollback", "save", "scan", "schedule",
           "shift", "show", "status", "transpose", "transpose_in_place", "tridiagonal", "verify"]
