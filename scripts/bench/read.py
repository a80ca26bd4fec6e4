"""How long reading pins takes, beside Go's own Dockerfile parser, which only splits a file into instructions.

    scripts/bench/read.py [REPOSITORY...]

A Dockerfile of 1,000 lines, then for each REPOSITORY every version of every Dockerfile in its history. The least of
some runs is given, processor time first: a busy machine stretches the time on the clock, and still the other one by a
third or so. The targets of the project: 1,000 lines in 0.1 s, the history of radixark/miles in 15 s.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from pins.command_line import collect_garbage_seldom
from pins.files.dockerfile.read import read_dockerfile
from pins.files.dockerfile.syntax import split_dockerfile
from pins.files.read import kind_of
from pins.files.shell.syntax import parse_shell

STAGE = """\
# a component
ARG W{n}_BRANCH="v1.{n}" # as of 08/18
ARG W{n}_REPO=https://git.example/acme/w{n}.git
FROM base AS build_{n}
ARG W{n}_BRANCH
ARG W{n}_REPO
ENV FOO{n}_VERSION=${{W{n}_BRANCH#v}}
RUN --mount=type=cache,target=/root/.cache \\
    git clone --recursive ${{W{n}_REPO}} w{n} \\
    && cd w{n} && git checkout ${{W{n}_BRANCH}} \\
    # a comment
    && if [ "$USE_X" = "1" ]; then \\
           export X=1; \\
       fi \\
    && pip install -r requirements.txt 'cmake<4' foo{n}==1.{n} "bar>=1,<2" \\
    && python3 setup.py bdist_wheel --dist-dir=dist
RUN curl -fsSL https://h.example/v1.{n}/foo-1.{n}.tar.gz | tar xz
RUN apt-get update && apt-get install -y libfoo=1.{n}-1 vim
RUN mkdir -p /app/install && cp dist/*.whl /app/install

"""


Files = Sequence[tuple[str, bytes]]


def read_all(files: Files) -> int:
    """Our reading; gives the number of pins."""
    return sum(len(read_dockerfile(data, path).pins) for path, data in files)


def split_all(files: Files) -> int:
    """Our splitting alone; gives the number of instructions."""
    return sum(len(split_dockerfile(data).instructions) for _, data in files)


def split_all_with_go(files: Files) -> int:
    """Go's parser; gives the number of instructions of the files that it takes."""
    import dockerfile

    count = 0
    for _, data in files:
        try:
            count += len(dockerfile.parse_string(data.decode("utf-8", "replace")))
        except dockerfile.GoParseError:
            continue
    return count


WAYS: tuple[tuple[str, str, Callable[[Files], int]], ...] = (
    ("pins of all stages", "pins", read_all),
    ("our splitting alone", "instructions", split_all),
    ("Go's splitting alone", "instructions", split_all_with_go),
)


def timed(work: Callable[[Files], int], files: Files, times: int) -> tuple[float, float, int]:
    """The least processor time and time on the clock of some runs, and what the work gives."""
    found, processors, clocks = 0, [], []
    for _ in range(times):
        parse_shell.cache_clear()  # the versions of a file share text: only within one run
        processor, clock = time.process_time(), time.perf_counter()
        found = work(files)
        processors.append(time.process_time() - processor)
        clocks.append(time.perf_counter() - clock)
    return min(processors), min(clocks), found


def compare(title: str, files: Files, times: int) -> None:
    """Print a row for each way."""
    print(f"\n{title}")
    for name, unit, work in WAYS:
        try:
            processor, clock, found = timed(work, files, times)
        except ImportError:
            print(f"  {name:<22}not measured: the package `dockerfile` is not installed")
            continue
        print(f"  {name:<22}{processor:9.3f} s processor {clock:9.3f} s clock   {found} {unit}")


def long_file(lines: int) -> bytes:
    """A Dockerfile of about that many lines."""
    parts = ["FROM acme/os:9 AS base\n"]
    while sum(part.count("\n") for part in parts) < lines:
        parts.append(STAGE.format(n=len(parts)))
    return "".join(parts).encode()


def history(repository: str) -> list[tuple[str, bytes]]:
    """Every distinct version of every Dockerfile."""
    git = ["git", "-C", repository]
    listed = subprocess.run(
        [*git, "log", "--all", "-m", "--raw", "--no-abbrev", "--no-renames", "--format="],
        capture_output=True,
        text=True,
        errors="replace",
        check=True,
    ).stdout
    wanted: dict[str, str] = {}
    for line in listed.splitlines():
        meta, _, path = line.partition("\t")
        fields = meta.split()
        if len(fields) > 3 and fields[1].startswith("100") and kind_of(path) == "dockerfile":
            wanted.setdefault(fields[3], path)
    output = subprocess.run(
        [*git, "cat-file", "--batch"], input="".join(f"{b}\n" for b in wanted).encode(), capture_output=True, check=True
    ).stdout
    versions: list[tuple[str, bytes]] = []
    position = 0
    for path in wanted.values():
        end = output.index(b"\n", position)
        head = output[position:end].split()
        position = end + 1
        if len(head) == 3:  # a snapshot may lack large files
            versions.append((path, output[position : position + int(head[2])]))
            position += int(head[2]) + 1
    return versions


def main() -> None:
    """Print the times."""
    collect_garbage_seldom()  # as the command does
    data = long_file(1000)
    read_all([("Dockerfile", data)])  # imports and compiled expressions
    compare(f"{data.count(bytes([10]))} lines, {len(data) / 1024:.0f} KiB", [("Dockerfile", data)], times=5)
    for repository in sys.argv[1:]:
        files = history(repository)
        size = sum(len(data) for _, data in files) / 2**20
        compare(f"{len(files)} versions of Dockerfiles in {repository}, {size:.1f} MiB", files, times=2)


if __name__ == "__main__":
    main()
