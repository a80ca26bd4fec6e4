"""Real wheels and source distributions, made in memory: what `tests.local_index` serves."""

import base64
import gzip
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from itertools import product

from packaging.utils import canonicalize_name

BACKEND = """\
import pathlib, runpy, shutil

def get_requires_for_build_wheel(config_settings=None):
    return []

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    if pathlib.Path("setup.py").exists():
        runpy.run_path("setup.py", run_name="__main__")
    [wheel] = pathlib.Path("payload").iterdir()
    shutil.copy(wheel, wheel_directory)
    return wheel.name
"""


def file_name_part(name: str) -> str:
    """A project name as it stands in the names of wheels and source distributions."""
    return canonicalize_name(name).replace("-", "_")


def core_metadata(
    name: str,
    version: str,
    requires: Sequence[str] = (),
    requires_python: str | None = None,
    metadata_version: str = "2.2",
) -> bytes:
    """The METADATA file of a wheel, or the PKG-INFO of a source distribution."""
    lines = [f"Metadata-Version: {metadata_version}", f"Name: {name}", f"Version: {version}"]
    if requires_python is not None:
        lines.append(f"Requires-Python: {requires_python}")
    lines.extend(f"Requires-Dist: {requirement}" for requirement in requires)
    return ("\n".join(lines) + "\n").encode()


def make_wheel(
    name: str,
    version: str,
    *,
    requires: Sequence[str] = (),
    requires_python: str | None = None,
    tag: str = "py3-none-any",
    files: Mapping[str, str] | None = None,
) -> tuple[str, bytes]:
    """A wheel's file name and content; without `files` it holds one module that knows its version."""
    part = file_name_part(name)
    content = {path: text.encode() for path, text in (files or {}).items()}
    if not content:
        content[f"{part}.py"] = f'__version__ = "{version}"\n'.encode()
    distribution = f"{part}-{version}.dist-info"
    pythons, abis, platforms = (field.split(".") for field in tag.split("-"))
    wheel_lines = ["Wheel-Version: 1.0", "Generator: local-index"]
    wheel_lines.append(f"Root-Is-Purelib: {'true' if tag.endswith('-none-any') else 'false'}")
    wheel_lines.extend(f"Tag: {'-'.join(one)}" for one in product(pythons, abis, platforms))
    content[f"{distribution}/METADATA"] = core_metadata(name, version, requires, requires_python)
    content[f"{distribution}/WHEEL"] = ("\n".join(wheel_lines) + "\n").encode()
    record = [f"{path},sha256={_record_hash(body)},{len(body)}" for path, body in content.items()]
    record.append(f"{distribution}/RECORD,,")
    content[f"{distribution}/RECORD"] = ("\n".join(record) + "\n").encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, body in content.items():
            archive.writestr(zipfile.ZipInfo(path, date_time=(2020, 1, 1, 0, 0, 0)), body)
    return f"{part}-{version}-{tag}.whl", buffer.getvalue()


def make_sdist(
    name: str,
    version: str,
    *,
    requires: Sequence[str] = (),
    requires_python: str | None = None,
    files: Mapping[str, str] | None = None,
    setup_py: str | None = None,
    build_requires: Sequence[str] = (),
) -> tuple[str, bytes]:
    """A source distribution's file name and content.

    It carries its own build backend, so that nothing else is needed to build it. `setup_py` is run by that backend
    before the wheel is made: raise in it, and the distribution does not build. With it the metadata says that its
    requirements are dynamic, so that reading them needs the build as well.
    """
    stem = f"{file_name_part(name)}-{version}"
    wheel_name, wheel = make_wheel(name, version, requires=requires, requires_python=requires_python, files=files)
    requirements = ", ".join(f'"{requirement}"' for requirement in build_requires)
    members = {
        "PKG-INFO": core_metadata(name, version, requires, requires_python, "2.1" if setup_py is not None else "2.2"),
        "pyproject.toml": (
            f'[build-system]\nrequires = [{requirements}]\nbuild-backend = "backend"\nbackend-path = ["."]\n'.encode()
        ),
        "backend.py": BACKEND.encode(),
        f"payload/{wheel_name}": wheel,
    }
    if setup_py is not None:
        members["setup.py"] = setup_py.encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, body in members.items():
            member = tarfile.TarInfo(f"{stem}/{path}")
            member.size = len(body)
            member.mode = 0o644
            archive.addfile(member, io.BytesIO(body))
    return f"{stem}.tar.gz", gzip.compress(buffer.getvalue(), mtime=0)


def _record_hash(body: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
