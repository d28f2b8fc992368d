"""Every test runs in a folder of its own, and with a generator whose seed is printed: XORDER_TEST_SEED repeats a run."""
import os
import pathlib
import shutil
import signal
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "python"))
os.environ["PYTHONPATH"] = sys.path[0]  # for spawned processes
os.environ.pop("GLIBC_TUNABLES", None)  # as in cli/harness.py
signal.signal(signal.SIGINT, signal.default_int_handler)  # which nohup, and shells for jobs in the background, have switched off
LONG = int(os.environ.get("XORDER_TEST_LONG") or 0)
SEED = int(os.environ.get("XORDER_TEST_SEED") or np.random.SeedSequence().entropy % (1 << 32))


def pytest_addoption(parser):
    parser.addoption("--views", type=int, default=500 if LONG else 120, help="random views to compare with NumPy")


def pytest_report_header():
    return f"XORDER_TEST_SEED={SEED}"


@pytest.fixture
def few(rng):
    """Some of these, chosen at random; all of them in the long form, as XORDER_TEST_LONG=1 says."""
    def chosen(cases, count):
        cases = list(cases)
        return cases if LONG else [cases[i] for i in sorted(rng.choice(len(cases), count, replace=False))]

    return chosen


@pytest.fixture
def rng():
    return np.random.default_rng(SEED)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    shutil.rmtree(tmp_path)
