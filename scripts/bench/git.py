"""How fast a search over very many commits begins, and what each of its steps costs.

    scripts/bench/git [--commits 100000] [--files 200] [--culprit 0.7]

A repository with as many commits between the ends as asked for (every fifth is a merge of a side branch of three) is
made by `git fast-import`; nothing is built and the script looks for a word in a file, so that what is measured is the
tool. The same is done through a path and through a URL (`file://`: a clone of commits and trees is fetched, as from a
server), for the first and the second run. The goal: the first build starts in under 3 s through a path, and through a
URL once it is fetched. The processor time of a whole run is printed too, since a busy machine stretches the rest.
"""

import argparse
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIDE = 3
EVERY = 5


def stream(commits: int, files: int, culprit: int) -> Iterator[bytes]:
    """A history for `git fast-import`: `commits` on the line, and the sides that are merged into it."""
    yield b"blob\nmark :1\ndata 5\ngood\n\nblob\nmark :2\ndata 4\nbad\n\n"
    mark, line = 3, 0
    for number in range(commits):
        side = 0
        if number % EVERY == EVERY - 1 and line:
            for step in range(SIDE):
                yield commit(mark, side or line, 0, f"side {number}.{step}", number, b"")
                side, mark = mark, mark + 1
        change = b"M 100644 :%d state\n" % (2 if number >= culprit else 1)
        change += b"M 100644 inline dir%d/file%d\ndata %d\n%d\n" % (
            *(number % 20, number % files, len(str(number)) + 1, number),
        )
        yield commit(mark, line, side, f"change {number}", number, change)
        line, mark = mark, mark + 1
    yield b"reset refs/heads/main\nfrom :%d\n\ndone\n" % line


def commit(mark: int, parent: int, merged: int, subject: str, number: int, change: bytes) -> bytes:
    """One commit; the parent's tree with a change."""
    text = subject.encode() + b"\n"
    who = b"A <a@example.org> %d +0000\n" % (1_500_000_000 + 60 * number)
    parts = [b"commit refs/heads/main\nmark :%d\nauthor %scommitter %sdata %d\n%s" % (mark, who, who, len(text), text)]
    parts += [b"from :%d\n" % parent] if parent else []
    parts += [b"merge :%d\n" % merged] if merged else []
    return b"".join([*parts, change, b"\n"])


def make(directory: Path, commits: int, files: int, culprit: int) -> None:
    """The repository."""
    subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", str(directory)], check=True)
    with subprocess.Popen(
        ["git", "-C", str(directory), "fast-import", "--quiet", "--done", "--force"], stdin=subprocess.PIPE
    ) as importer:
        assert importer.stdin is not None
        for part in stream(commits, files, culprit):
            importer.stdin.write(part)
    for name in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        subprocess.run(["git", "-C", str(directory), "config", name, "true"], check=True)


def measure(address: str, good: str, directory: Path) -> tuple[float, list[float], float, str]:
    """Seconds to the first build, between candidates, of processor time; and the subject of what is blamed."""
    script = directory / "smoke.sh"
    script.write_text('#!/bin/sh\ngrep -q good "$CHECKOUT/state"\n')
    script.chmod(0o755)
    run = Path(tempfile.mkdtemp(dir=directory)) / "run"
    variables = {**os.environ, "XDG_CACHE_HOME": str(directory / "cache")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.time()
    done = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "bisector",
                "run",
                "--repo",
                f"pin={address}",
                "--pin",
                f"pin={good}..main",
            ),
            *("--build-command", "true", "--smoke", str(script), "--run-dir", str(run), "-q", "--repeat", "1"),
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        env=variables,
    )
    rows = sqlite3.connect(run / "journal.sqlite").execute("SELECT started FROM builds ORDER BY number").fetchall()
    starts = [datetime.fromisoformat(row[0]).timestamp() for row in rows]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    change = next(line.strip() for line in done.stdout.splitlines() if line.strip().startswith("Change"))
    return starts[0] - began, [later - sooner for sooner, later in pairwise(starts)], used, change


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commits", type=int, default=100_000)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--culprit", type=float, default=0.7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bisector-git-") as name:
        directory = Path(name)
        source = directory / "source"
        make(source, options.commits, options.files, int(options.commits * options.culprit))
        print(f"{options.commits} commits on the first-parent line")
        first = subprocess.run(
            ["git", "-C", str(source), "rev-list", "--first-parent", "--reverse", "main"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\n", 1)[0]
        for address in (str(source), source.as_uri()):
            for which in ("first", "second"):
                start, between, used, change = measure(address, first, directory)
                each = sum(between) / len(between)
                kind = "URL" if "://" in address else "path"
                print(
                    f"{kind:5} {which:7} first build after {start:5.2f} s, {each:5.2f} s a candidate,"
                    f" {used:5.2f} s of processor time for {len(between) + 1} candidates; {change}",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
