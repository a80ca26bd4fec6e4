"""What an interpreter is, and which wheel tags and environment markers follow from it."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.tags import Tag, compatible_tags, cpython_tags, generic_tags, mac_platforms
from packaging.version import Version


@dataclass(frozen=True)
class Facts:
    """What an interpreter says of itself: what `pins.sources.target` asks it."""

    implementation: str
    version: tuple[int, int, int, str, int]
    platform: str
    glibc: str
    host: str
    mac: tuple[str, str]
    is_32_bit: bool
    free_threaded: bool
    debug: bool
    abi: tuple[str, ...]

    @property
    def python(self) -> Version:
        """Its version, such as 3.11.7 or 3.14.0rc1."""
        stage = {"alpha": "a", "beta": "b", "candidate": "rc"}.get(self.version[3], "")
        return Version(".".join(map(str, self.version[:3])) + (f"{stage}{self.version[4]}" if stage else ""))


def described_facts(python: str, platform: str, glibc: str) -> Facts:
    """An ordinary CPython that is not at hand; the arguments are those of `described_target`."""
    major, minor, micro = [*map(int, python.split(".")), 0][:3]
    return Facts(
        implementation="cpython",
        version=(major, minor, micro, "final", 0),
        platform=platform,
        glibc=f"glibc {glibc}" if platform.startswith("linux") else "",
        host="",
        mac=("", ""),
        is_32_bit=False,
        free_threaded=False,
        debug=False,
        abi=(),
    )


def markers_of(facts: Facts) -> dict[str, str]:
    """The value of every environment marker of PEP 508; of the kernel's release and version, nothing is said."""
    system, _, machine = facts.platform.partition("-")
    if system.startswith("macosx"):
        machine = facts.mac[1]
    names = {
        "linux": ("posix", "linux", "Linux"),
        "macosx": ("posix", "darwin", "Darwin"),
        "win": ("nt", "win32", "Windows"),
        "win32": ("nt", "win32", "Windows"),
    }
    os_name, sys_platform, platform_system = names.get(system, ("posix", system, system.title()))
    if os_name == "nt":
        machine = {"amd64": "AMD64", "arm64": "ARM64"}.get(machine, "x86")
    full = str(facts.python)
    implementations = {"cpython": "CPython", "pypy": "PyPy"}
    return {
        "implementation_name": facts.implementation,
        "implementation_version": full,
        "os_name": os_name,
        "platform_machine": machine,
        "platform_python_implementation": implementations.get(facts.implementation, facts.implementation),
        "platform_release": "",
        "platform_system": platform_system,
        "platform_version": "",
        "python_full_version": full,
        "python_version": ".".join(map(str, facts.version[:2])),
        "sys_platform": sys_platform,
    }


def tags_of(facts: Facts) -> Iterator[Tag]:
    """Every wheel tag that it takes, the most specific first."""
    platforms = list(_platforms(facts))
    version = facts.version[:2]
    nodot = "".join(map(str, version))
    if facts.implementation == "cpython":
        interpreter = f"cp{nodot}"
        yield from cpython_tags(version, _cpython_abis(facts), platforms)
    else:
        interpreter = {"pypy": "pp"}.get(facts.implementation, facts.implementation) + nodot
        # pypy311-pp73-x86_64-linux-gnu: what names the platform is no part of the ABI.
        abis = ["_".join(facts.abi[0].split("-")[:2])] if facts.abi else []
        yield from generic_tags(interpreter, abis, platforms)
    yield from compatible_tags(version, interpreter, platforms)


def _cpython_abis(facts: Facts) -> list[str]:
    nodot = "".join(map(str, facts.version[:2]))
    threads = "t" if facts.free_threaded else ""
    memory = "m" if facts.version[:2] < (3, 8) else ""
    if facts.debug:  # from 3.8 on, a debug build loads ordinary modules as well
        return [f"cp{nodot}{threads}d{memory}", *([f"cp{nodot}{threads}"] if not memory else [])]
    return [f"cp{nodot}{threads}{memory}"]


def _platforms(facts: Facts) -> Iterator[str]:
    own = facts.platform.replace("-", "_").replace(".", "_")
    if facts.platform.startswith("macosx"):
        major, minor, *_ = [*map(int, facts.mac[0].split(".")), 0]
        yield from mac_platforms((major, minor), facts.mac[1])
        return
    if not own.startswith("linux_"):
        yield own
        return
    architecture = own.removeprefix("linux_")
    if facts.is_32_bit:
        architecture = {"x86_64": "i686", "aarch64": "armv8l"}.get(architecture, architecture)
    for name in {"armv8l": ("armv8l", "armv7l")}.get(architecture, (architecture,)):
        yield f"linux_{name}"
        yield from _manylinux(name, facts.glibc)
        if "musl" in facts.host:
            yield from _musllinux(name)


def _manylinux(architecture: str, glibc: str) -> Iterator[str]:
    """Platform tags of PEP 600 and its predecessors, for a C library such as "glibc 2.36"."""
    match = re.match(r"glibc 2\.(\d+)", glibc)
    if not match:
        return
    oldest = 5 if architecture in ("x86_64", "i686") else 17
    older_names = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}
    for minor in range(int(match[1]), oldest - 1, -1):
        yield f"manylinux_2_{minor}_{architecture}"
        if minor in older_names:
            yield f"{older_names[minor]}_{architecture}"


def _musllinux(architecture: str) -> Iterator[str]:
    """Platform tags of PEP 656; the version is what the loader says when started without a program."""
    try:
        loader = f"/lib/ld-musl-{architecture}.so.1"
        ended = subprocess.run(
            [loader], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    match = re.search(r"^Version (\d+)\.(\d+)", ended.stderr, flags=re.MULTILINE)
    if match:
        for minor in range(int(match[2]), -1, -1):
            yield f"musllinux_{match[1]}_{minor}_{architecture}"
