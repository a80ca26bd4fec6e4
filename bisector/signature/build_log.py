"""Finds the line of a build log that says what went wrong.

The last line seldom does: builders end by saying that something failed. Most telling first; among lines of one sort
the first counts, since what follows it often follows *from* it.
"""

import re

# Configuration scripts compile what they expect not to compile.
_TRIAL = re.compile(r"_configtest|conftest|CMakeTmp|TryCompile|CMakeScratch|sanity check|meson-private")

# What pip, uv and distutils say when something below them failed.
_ABOVE = (
    r"(?!command |Command |could not compile|subprocess-|metadata-generation|legacy-install|Failed to build|failed )"
)

_SORTS: tuple[re.Pattern[str], ...] = (
    # g++, clang, nvcc, hipcc
    re.compile(r"^\s*\S+?(?::\d+|\(\d+\)).{0,6}?(?: fatal)? error\s?: .*"),
    # rustc; Cython, which names no error an error
    re.compile(r"^\s*error(?:\[E\d+\]): .*"),
    re.compile(r"^\s*\S+\.(?:pyx|pxd|pxi):\d+:\d+: .*"),
    re.compile(r"undefined reference to .*|undefined symbol: .*|cannot find -l\S+.*|multiple definition of .*"),
    re.compile(r"^\s*CMake Error\b.*"),
    re.compile(r"^\s*error in \S+ setup command: .*"),
    re.compile(r"No solution found.*|\bBecause .* depends on .*"),
    re.compile(r"Cannot install .* conflicting dependencies.*|No matching distribution found.*"),
    re.compile(r"^\s*E: .*|^fatal: .*|.*: command not found|.*\bsh: .*: not found|.*No space left on device.*"),
    re.compile(r"\b(?:fatal )?error: " + _ABOVE + r".*"),
    re.compile(r"^\s*ERROR: (?!Failed building|Failed to build|Could not build wheels|failed to solve|Exception:).*"),
    re.compile(r"^\s*(?!\S*(?:CalledProcess|Compile|Link|DistutilsExec)Error)(?:[\w.]*Error|[\w.]*Exception): .*"),
)


def error_line(lines: list[str]) -> str:
    """The line that says what went wrong, "" where none does."""
    for sort in _SORTS:
        for at, line in enumerate(lines):
            found = sort.search(line)
            if found and not _TRIAL.search(line):
                return _with_reason(found[0].strip(), lines[at + 1 : at + 4])
    return ""


def _with_reason(text: str, below: list[str]) -> str:
    """CMake says where first, and why below."""
    if not text.startswith("CMake Error") or not text.endswith(":"):
        return text
    return f"{text} {next((line.strip() for line in below if line.strip()), '')}".strip()
