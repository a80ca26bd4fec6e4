"""Finds the line of a build log that says what went wrong.

The last line seldom does: builders end by saying that something failed. Most telling first; among lines of one sort
the first counts, since what follows it often follows *from* it.
"""

import re

# Configuration scripts compile what they expect not to compile.
_TRIAL = re.compile(r"_configtest|conftest|CMakeTmp|TryCompile|CMakeScratch|sanity check|meson-private")

_SORTS: tuple[re.Pattern[str], ...] = (
    # g++, clang, nvcc, hipcc, rustc, cython
    re.compile(r"(?P<text>(?:\bfatal )?\berror(?:\[E\d+\])?\s?: (?!command |Command |could not compile|subprocess).*)"),
    re.compile(
        r"(?P<text>undefined reference to .*|undefined symbol: .*|cannot find -l\S+.*|multiple definition of .*)"
    ),
    re.compile(r"^(?P<text>CMake Error\b.*)"),
    re.compile(r"^\s*(?P<text>error in \S+ setup command: .*)"),
    re.compile(
        r"(?P<text>(?:No solution found|Because .* depends on|ResolutionImpossible|No matching distribution found).*)"
    ),
    re.compile(r"^(?P<text>E: .*|fatal: .*|.*: command not found|.*: not found|.*No space left on device.*)"),
    re.compile(r"^\s*(?P<text>ERROR: (?!Failed building wheel|Could not build wheels|failed to solve).*)"),
    re.compile(r"^\s*(?P<text>(?:\S*Error|\S*Exception): .*)"),
)


def error_line(lines: list[str]) -> str:
    """The line that says what went wrong, "" where none does."""
    for sort in _SORTS:
        for at, line in enumerate(lines):
            found = sort.search(line)
            if found is None or _TRIAL.search(line):
                continue
            text = found["text"].strip()
            if text.startswith("CMake Error"):
                below = next((below.strip() for below in lines[at + 1 : at + 4] if below.strip()), "")
                return f"{text} {below}"
            return text
    return ""
