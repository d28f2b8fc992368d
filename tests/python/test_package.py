"""The documentation's examples, types, and the package as it is installed."""
import doctest
import importlib.util
import os
import pathlib
import pkgutil
import subprocess
import sys

import pytest
import xorder

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODULES = ["xorder"] + [f"xorder.{found.name}" for found in pkgutil.iter_modules(xorder.__path__)]


def test_examples(folder, monkeypatch):
    tried = 0
    for name in MODULES:
        for test in doctest.DocTestFinder().find(importlib.import_module(name)):
            place = folder / test.name
            place.mkdir()
            monkeypatch.chdir(place)
            result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
            assert result.failed == 0, test.name
            tried += result.attempted
    assert tried > 40


def test_everything_public_is_documented():
    for name in xorder.__all__:
        assert (getattr(xorder, name).__doc__ or "").strip(), name


def test_types():
    pytest.importorskip("mypy", reason="mypy is not installed")
    result = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, ROOT / "python/xorder"],
                            capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@pytest.mark.skipif("XORDER_LIBRARY" not in os.environ, reason="XORDER_LIBRARY names no library, so pip would build one")
def test_pip(folder):
    """pip install from a checkout, into an environment that sees only Debian's packages."""
    for module in ("venv", "pip", "setuptools", "wheel"):  # not imported: pip and setuptools change what the other finds
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    python = folder / "env/bin/python"
    for command in [[sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", folder / "env"],
                    [python, "-m", "pip", "--quiet", "install", "--no-build-isolation", "--no-index", "--no-deps", ROOT]]:
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, f"{command}: {result.stdout[-2000:]}{result.stderr[-2000:]}"
    del environment["XORDER_LIBRARY"]  # it has its own
    program = "import xorder, numpy as np; print(xorder.__file__, xorder.transpose(np.eye(3, 2)).shape)"
    result = subprocess.run([python, "-c", program], env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0 and str(folder / "env") in result.stdout and "(2, 3)" in result.stdout, result.stderr
    wheel, = folder.glob("env/lib/python*/site-packages/xorder-*.dist-info/WHEEL")
    assert "Tag: py3-none-linux_" in wheel.read_text()  # for every Python, of this machine
    assert list(folder.glob("env/lib/python*/site-packages/xorder/py.typed"))
