"""How long reading pins takes: a long Dockerfile, and every version of the Dockerfiles in a repository's history.

    scripts/bench/read.py [REPOSITORY]

Both processor time and time on the clock are printed, for a busy machine stretches the latter.
"""

import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from pins.files.dockerfile.read import read_dockerfile
from pins.files.read import kind_of

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


def timed(files: "list[tuple[str, bytes]]") -> tuple[float, float, int]:
    """Processor seconds, seconds on the clock, and pins found."""
    processor, clock = time.process_time(), time.perf_counter()
    found = sum(len(read_dockerfile(data, path).pins) for path, data in files)
    return time.process_time() - processor, time.perf_counter() - clock, found


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
    return [
        (path, subprocess.run([*git, "cat-file", "blob", blob], capture_output=True, check=True).stdout)
        for blob, path in wanted.items()
    ]


def main() -> None:
    """Print the times."""
    data = long_file(1000)
    timed([("warm", data)])
    processor, clock, found = timed([("Dockerfile", long_file(1001))])
    print(f"{data.count(bytes([10]))} lines: {processor:.3f} s processor, {clock:.3f} s clock, {found} pins")
    if len(sys.argv) > 1:
        files = history(sys.argv[1])
        processor, clock, found = timed(files)
        print(f"{len(files)} versions: {processor:.2f} s processor, {clock:.2f} s clock, {found} pins")


if __name__ == "__main__":
    main()
