"""Arrays that are filled where they lie in a file: datasets of h5py, and large arrays that are mapped."""
from __future__ import annotations

import os
from ctypes import byref
from typing import Any, Optional, Union

import numpy as np

from ._arrays import File, byte_range, file_of, has_place, place_of_dataset, type_text
from ._files import SLAB, Job, Progress
from ._library import Handle, Options
from ._memory import checked_out, fill

_LARGE = 64 << 20  # bytes of a map from which on its pages had better not all become dirty
_SIEVE = 64 << 10  # that HDF5 keeps of a file in memory, if nobody has said otherwise


def _job(file: File, task: Any, path: bytes, offset: int, settings: Options) -> Job:
    permutation, _ = task.of(file.shape, file.itemsize)
    paths = (path, file.path)
    made = Handle("job_into", permutation.pointer, file.layout.pointer, path, offset, byref(settings), paths=paths)
    return Job(made, paths, False)


def _same_file(one: bytes, other: bytes) -> bool:
    return os.path.samefile(os.fsdecode(one), os.fsdecode(other))


def job_into_map(given: Union[File, np.ndarray[Any, Any]], task: Any, out: np.ndarray[Any, Any], settings: Options) -> Optional[Job]:
    """The job that fills a large array through its file. None if it is small, or can only be filled through the map."""
    if out.nbytes < _LARGE or not out.flags.c_contiguous or not out.flags.writeable:
        return None
    try:
        file = file_of(given) if isinstance(given, np.ndarray) else given
        place = file_of(out)
        if file is None or place is None or _same_file(file.path, place.path):
            return None
        checked_out(out, task.of(file.shape, file.itemsize)[1], file.dtype)
        return _job(file, task, place.path, place.info["offset"], settings)
    except (PermissionError, ValueError, TypeError):  # a private map, a file of others; what is wrong is told below
        return None


def _is_kept_in_memory(dataset: Any) -> bool:
    """Whether HDF5 may keep more of the file in memory than is known here."""
    strategy = dataset.file.id.get_create_plist().get_file_space_strategy()[0]
    return bool(strategy == 1 or dataset.file.id.get_access_plist().get_sieve_buf_size() > _SIEVE)  # 1: pages


def fill_dataset(found: Union[File, np.ndarray[Any, Any]], task: Any, dataset: Any, settings: Options,
                 progress: Progress) -> Any:
    """From file to file if the input is in another file, else through memory. Returns the dataset."""
    if not dataset:
        raise ValueError("the dataset is closed")
    name = f"{dataset.file.filename}:{dataset.name}"
    if dataset.file.mode == "r":
        raise ValueError(f"{name}: its file is open for reading only")
    shape = task.of(found.shape, found.dtype.itemsize)[1]
    if dataset.shape != shape:
        raise ValueError(f"{name}: has the shape {dataset.shape}; expected {shape}")
    type_text(dataset.dtype)
    if dataset.dtype != found.dtype:
        raise TypeError(f"{name}: has the type {dataset.dtype}; expected {found.dtype}")
    if dataset.size == 0:
        return dataset
    if has_place(dataset) is False:
        dataset[(0,) * dataset.ndim] = np.zeros((), dataset.dtype)[()]  # finds it one
    path, offset = place_of_dataset(dataset)
    dataset.file.flush()  # it may be shorter yet
    if isinstance(found, np.ndarray):
        found = file_of(found) or found
    through_memory = dataset.nbytes <= SLAB or _is_kept_in_memory(dataset)
    if isinstance(found, File) and _same_file(found.path, path):
        begin, end = (found.info["offset"] + at for at in byte_range(found.shape, found.info["strides"], found.itemsize))
        if begin < offset + dataset.nbytes and offset < end:
            raise ValueError(f"{name}: src and out overlap")
        through_memory = True
    if through_memory or not isinstance(found, File):
        _through_memory(found.array() if isinstance(found, File) else found, task, dataset, settings.threads)
        return dataset
    _job(found, task, path, offset, settings).run(progress)
    # Of what HDF5 keeps in memory, reads at places that are further apart than that cannot both be old.
    for index in ((extent - 1 for extent in shape), (0 for _ in shape)):
        dataset[tuple(index)]
    return dataset


def _through_memory(array: np.ndarray[Any, Any], task: Any, dataset: Any, threads: int) -> None:
    if task.by is not None or array.ndim == 0:
        dataset[...] = task.in_memory(array, None, threads)
        return
    turned = array.transpose(task.order(array.ndim))
    step = max(SLAB // max(turned.nbytes // len(turned), 1), 1)
    for begin in range(0, len(turned), step):
        part = np.empty(turned[begin:begin + step].shape, turned.dtype)
        fill(part, turned[begin:begin + step], threads)
        dataset[begin:begin + step] = part
