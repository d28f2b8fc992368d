"""The rest of pyproject.toml: the version, and libxorder.so.0, which goes beside the module.

CMake builds the library, in build/python, unless XORDER_LIBRARY names one that is built already.
"""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent
HEADER = (ROOT / "include/xorder.h").read_text()


class WithLibrary(build_py):
    def run(self):
        super().run()
        library = os.environ.get("XORDER_LIBRARY")
        if not library:
            build = ROOT / "build/python"
            subprocess.run(["cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DXORDER_TESTS=OFF",
                            "-DXORDER_UNITE=ON"], check=True)
            subprocess.run(["cmake", "--build", build, "--target", "xorder_shared", "--parallel", str(os.cpu_count())], check=True)
            library = build / "libxorder.so.0"
        shutil.copy(library, pathlib.Path(self.build_lib) / "xorder/libxorder.so.0")


class OnePlatform(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(version=".".join(re.search(rf"XORDER_VERSION_{part} (\d+)", HEADER)[1] for part in ("MAJOR", "MINOR", "PATCH")),
      cmdclass={"build_py": WithLibrary, "bdist_wheel": OnePlatform})
