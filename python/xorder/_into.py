"""Arrays that are filled where they lie in a file: datasets of h5py, and large arrays that are mapped."""
from __future__ import annotations

import os
from ctypes import byref
from typing import Any, Optional, Union

import numpy as np

from ._arrays import File, file_of, place_of_dataset, type_text
from ._files import SLAB, Job, Progress
from ._library import Handle, Options
from ._memory import checked_out, fill

_LARGE = 64 << 20  # bytes of a map from which on its pages had better not all become dirty


def _job(file: File, task: Any, path: bytes, offset: int, settings: Options) -> Optional[Job]:
    """None if the input is in the same file."""
    if os.path.samefile(file.path, path):
        return None
    permutation, _ = task.of(file.shape, file.itemsize)
    paths = (path, file.path)
    made = Handle("job_into", permutation.pointer, file.layout.pointer, path, offset, byref(settings), paths=paths)
    return Job(made, paths, False)


def job_into_map(file: File, task: Any, out: np.ndarray[Any, Any], settings: Options) -> Optional[Job]:
    """The job that fills a large array through its file. None if it is small, or had better be filled through the map."""
    if out.nbytes < _LARGE or not out.flags.c_contiguous:
        return None
    checked_out(out, task.of(file.shape, file.itemsize)[1], file.dtype)
    place = file_of(out)
    return None if place is None else _job(file, task, place.path, place.info["offset"], settings)


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
    if dataset.id.get_offset() is None and dataset.chunks is None and not dataset.id.get_create_plist().get_external_count():
        dataset[(0,) * dataset.ndim] = np.zeros((), dataset.dtype)[()]  # finds it a place
    path, offset = place_of_dataset(dataset)
    job = None
    if isinstance(found, np.ndarray):
        found = file_of(found) or found
    if isinstance(found, File) and dataset.nbytes > SLAB:
        dataset.file.flush()  # its file may be shorter yet
        job = _job(found, task, path, offset, settings)
    if job is None:
        _through_memory(found.array() if isinstance(found, File) else found, task, dataset, settings.threads)
        return dataset
    job.run(progress)
    # HDF5 keeps up to 64 KiB of the file in memory. Two that are further apart than that cannot both be old.
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
