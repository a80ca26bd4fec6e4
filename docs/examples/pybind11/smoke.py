"""Pass an object from a module that was compiled long ago to one that is compiled now.

In August 2026 models such as Kimi stopped loading in container images whose Dockerfiles had not changed. AITER compiles
its kernels when they are first used, against the pybind11 that is installed then; the tensors that they take come from
a wheel that was compiled earlier, against another. Modules share their C++ types through pybind11's internals, and only
when both have the same version of these. pybind11 3.1.0 raised it from 11 to 12: since then the new module says that it
has never heard of the old one's type.

This script is the smoke test for that. It runs in two kinds of candidates:

  in a virtual environment, with the headers of the old pybind11 beside the new one
    bisector run --pin pybind11=3.0.0..3.1.0 --with pybind11-global==3.0.4 --smoke docs/examples/pybind11/smoke.py

  in a container image that brings the old module along: see the Dockerfile beside this file

It needs g++ and the headers of Python.
"""

import importlib
import subprocess
import sys
import sysconfig
from pathlib import Path

import pybind11

KERNEL = """
#include <pybind11/pybind11.h>
struct Tensor { long numel; };
PYBIND11_MODULE(kernel, module) { module.def("doubled", [](const Tensor &tensor) { return 2 * tensor.numel; }); }
"""


def compile_module(name: str, source: str, headers: Path) -> None:
    """Compile one module into the working directory, which is empty and this run's own."""
    Path(f"{name}.cpp").write_text(source)
    includes = [f"-I{headers}", f"-I{sysconfig.get_paths()['include']}"]
    target = name + sysconfig.get_config_var("EXT_SUFFIX")
    options = ["-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", "-w"]
    subprocess.run(["g++", *options, *includes, f"{name}.cpp", "-o", target], check=True)


sys.path.insert(0, str(Path.cwd()))

try:
    import tensor_wheel
except ImportError:
    # No image with the wheel in it: make it now, from the headers that pybind11-global puts into the environment.
    old = next(file for file in Path(sys.prefix).rglob("pybind11.h") if "site-packages" not in file.parts)
    compile_module("tensor_wheel", Path(__file__).with_name("wheel.cpp").read_text(), old.parent.parent)
    tensor_wheel = importlib.import_module("tensor_wheel")

compile_module("kernel", KERNEL, Path(pybind11.get_include()))
kernel = importlib.import_module("kernel")

print(f"pybind11 {pybind11.__version__}")
assert kernel.doubled(tensor_wheel.Tensor(21)) == 42
