#!/usr/bin/python3
"""The shared library by way of Python's foreign functions, against NumPy. Argument: the library."""

import ctypes
import multiprocessing
import os
import pathlib
import random
import signal
import sys
import tempfile
import time

import numpy as np

library = ctypes.CDLL(sys.argv[1])
library.xorder_last_error.restype = ctypes.c_char_p
library.xorder_job_plan_text.restype = ctypes.c_char_p
library.xorder_job_plan_text.argtypes = [ctypes.c_void_p]
library.xorder_permutation_free.argtypes = [ctypes.c_void_p]
library.xorder_plan_free.argtypes = [ctypes.c_void_p]
library.xorder_job_free.argtypes = [ctypes.c_void_p]


class Progress(ctypes.Structure):
    _fields_ = [("bytes_done", ctypes.c_uint64), ("bytes_total", ctypes.c_uint64), ("pass", ctypes.c_int), ("passes", ctypes.c_int)]


PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Progress), ctypes.c_void_p)


def call(function, *arguments):
    status = getattr(library, function)(*arguments)
    assert status == 0, f"{function}: {status}: {library.xorder_last_error().decode()}"


def transposition(array, axes):
    handle = ctypes.c_void_p()
    shape = (ctypes.c_uint64 * array.ndim)(*array.shape)
    call("xorder_permutation_axes", ctypes.byref(handle), array.ndim, shape, (ctypes.c_int * array.ndim)(*axes),
         ctypes.c_uint64(array.itemsize))
    return handle


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("memory", ctypes.c_uint64), ("threads", ctypes.c_int), ("access", ctypes.c_int),
                ("overwrite", ctypes.c_int), ("reserved", ctypes.c_int), ("scratch_directory", ctypes.c_char_p), ("device", ctypes.c_char_p)]


def transposed(rows):
    """In memory and from file to file, by four threads. Returns whether it is right."""
    array = np.arange(rows * 1024.).reshape(rows, 1024)
    made, reordering, result = ctypes.c_void_p(), transposition(array, (1, 0)), np.empty((1024, rows))
    call("xorder_plan_create", ctypes.byref(made), reordering)
    call("xorder_plan_execute", made, array.ctypes.data_as(ctypes.c_void_p), result.ctypes.data_as(ctypes.c_void_p), 4)
    library.xorder_plan_free(made)
    right = np.array_equal(result, array.T)
    with tempfile.TemporaryDirectory() as folder:
        a, b = pathlib.Path(folder) / "a.npy", pathlib.Path(folder) / "b.npy"
        np.save(a, array)
        job, options = ctypes.c_void_p(), Options(size=ctypes.sizeof(Options), threads=4)
        call("xorder_job_npy", ctypes.byref(job), reordering, bytes(a), bytes(b), ctypes.byref(options))
        call("xorder_job_run", job, None, None)
        library.xorder_job_free(job)
        right &= np.array_equal(np.load(b), array.T)
    library.xorder_permutation_free(reordering)
    return right


def in_children():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(transposed, [512, 513, 514, 515]).get(60) == [True] * 4


def truncated(folder, seconds):
    """Jobs with mapped access, whose input is cut off and restored again and again, at random moments, by a child."""
    a, b = pathlib.Path(folder) / "cut.raw", pathlib.Path(folder) / "out.raw"
    array = np.arange(1 << 20)
    array.tofile(a)
    cutter = os.fork()
    if cutter == 0:
        while os.getppid() == parent:
            os.truncate(a, random.randrange(0, array.nbytes))
            time.sleep(random.random() / 100)
            os.truncate(a, array.nbytes)
            time.sleep(random.random() / 20)
        os._exit(0)
    options = Options(size=ctypes.sizeof(Options), memory=16 << 20, access=2, overwrite=1)
    reordering = transposition(array.reshape(1024, 1024), (1, 0))
    codes, end = [], time.monotonic() + seconds
    while time.monotonic() < end or len(codes) < 20:
        job = ctypes.c_void_p()
        status = library.xorder_job_raw(ctypes.byref(job), reordering, bytes(a), ctypes.c_uint64(0), bytes(b), ctypes.c_uint64(0),
                                        ctypes.byref(options))
        if status == 0:
            status = library.xorder_job_run(job, None, None)
            library.xorder_job_free(job)
        codes.append(status)
    os.kill(cutter, signal.SIGKILL)
    os.waitpid(cutter, 0)
    library.xorder_permutation_free(reordering)
    assert set(codes) <= {0, -2, -3}, codes


parent = os.getpid()
in_children()
assert transposed(512)
in_children()
with tempfile.TemporaryDirectory() as folder:
    truncated(folder, float(os.environ.get("XORDER_TEST_SECONDS") or 2))

source = np.random.default_rng(1).random((40, 50, 60))
axes = (2, 0, 1)
permutation = transposition(source, axes)

plan = ctypes.c_void_p()
target = np.empty([source.shape[axis] for axis in axes])
call("xorder_plan_create", ctypes.byref(plan), permutation)
call("xorder_plan_execute", plan, source.ctypes.data_as(ctypes.c_void_p), target.ctypes.data_as(ctypes.c_void_p), 2)
assert np.array_equal(target, source.transpose(axes))
library.xorder_plan_free(plan)

with tempfile.TemporaryDirectory() as folder:
    a, b = pathlib.Path(folder) / "a.npy", pathlib.Path(folder) / "b.npy"
    np.save(a, source)
    job = ctypes.c_void_p()
    call("xorder_job_npy", ctypes.byref(job), permutation, bytes(a), bytes(b), None)
    assert b"1 pass" in library.xorder_job_plan_text(job)

    status = library.xorder_job_run(job, PROGRESS(lambda progress, user: 1), None)
    assert (status, library.xorder_last_error()) == (-4, b"interrupted"), status
    assert not b.exists()

    seen = []
    call("xorder_job_run", job, PROGRESS(lambda progress, user: seen.append(progress[0].bytes_done) or 0), None)
    assert seen == sorted(seen) and seen[-1] == 2 * source.nbytes, seen
    assert np.array_equal(np.load(b), source.transpose(axes))
    library.xorder_job_free(job)

library.xorder_permutation_free(permutation)
