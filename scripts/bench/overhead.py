"""What the tool itself costs: seconds per probe, to start, and for --help, beside `git bisect run`.

    scripts/bench/overhead [--runs 10] [--steps 1024]

A package with as many releases as there are steps lies on a package index on localhost; building is `true` and the
script compares two numbers, so that what is measured is the tool. `git bisect run` searches as many commits, with a
script as cheap. One run of each goes before, so that what is measured is a second use: Python keeps the compiled
modules, as it does unless PYTHONDONTWRITEBYTECODE is set, which is unset here. The goals: 0.15 s per probe (median),
0.5 s to start, 0.25 s for `bisector --help`.
"""

import argparse
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.local_index import LocalIndex  # noqa: E402

BISECTOR = [sys.executable, "-m", "bisector"]


def bisector_run(index: LocalIndex, steps: int, culprit: int, directory: Path) -> tuple[float, list[float]]:
    """Seconds to the first build, and those between one new candidate and the next."""
    script = directory / "smoke.sh"
    script.write_text(f'#!/bin/sh\n[ "${{PIN_WIDGET%%.*}}" -lt {culprit} ]\n')
    script.chmod(0o755)
    run = directory / "run"
    command = [*BISECTOR, "run", "--pin", f"widget=0.0..{steps}.0", "--env", "command", "--build-command", "true"]
    began = datetime.now(UTC)
    subprocess.run(
        [*command, "--smoke", str(script), "--index-url", index.url, "--run-dir", str(run), "-q"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    rows = sqlite3.connect(run / "journal.sqlite").execute("SELECT started FROM builds ORDER BY number").fetchall()
    starts = [datetime.fromisoformat(row[0]) for row in rows]
    return (starts[0] - began).total_seconds(), [(later - sooner).total_seconds() for sooner, later in pairwise(starts)]


def git_bisect_run(steps: int, culprit: int, directory: Path) -> tuple[float, int]:
    """Seconds that `git bisect run` takes in all, and how many commits it ran the script on."""
    repository = directory / "repository"
    commits = "".join(
        f"commit refs/heads/main\ncommitter a <a@example.org> {1_700_000_000 + number} +0000\ndata 1\nc"
        f"\nM 644 inline n\ndata {len(str(number))}\n{number}\n"
        for number in range(steps + 1)
    )
    git = ["git", "-C", str(repository)]
    subprocess.run(["git", "init", "-q", "-b", "main", str(repository)], check=True)
    subprocess.run([*git, "fast-import", "--quiet"], input=commits.encode(), check=True)
    subprocess.run([*git, "checkout", "-q", "main"], check=True)
    subprocess.run([*git, "bisect", "start", "main", f"main~{steps}"], check=True, capture_output=True)
    script = ["sh", "-c", f"echo x >>../ran; [ $(cat n) -lt {culprit} ]"]
    began = time.monotonic()
    subprocess.run([*git, "bisect", "run", *script], check=True, capture_output=True)
    return time.monotonic() - began, len((directory / "ran").read_text().split())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--steps", type=int, default=1024)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    helps = []
    for _ in range(11):
        began = time.monotonic()
        subprocess.run([*BISECTOR, "--help"], cwd=ROOT, check=True, capture_output=True)
        helps.append(time.monotonic() - began)
    del helps[0]
    starts, probes, git_seconds = [], [], []
    with LocalIndex() as index, tempfile.TemporaryDirectory() as scratch:
        os.environ["XDG_CACHE_HOME"] = f"{scratch}/cache"
        for number in range(options.steps + 1):
            index.add("widget", f"{number}.0")
        (Path(scratch) / "first").mkdir()
        bisector_run(index, options.steps, 1, Path(scratch) / "first")
        for number in range(options.runs):
            culprit = 1 + (number * options.steps) // options.runs
            directory = Path(scratch) / str(number)
            directory.mkdir()
            start, between = bisector_run(index, options.steps, culprit, directory)
            starts.append(start)
            probes += between
            seconds, ran = git_bisect_run(options.steps, culprit, directory)
            git_seconds.append(seconds / ran)
    print(f"{options.runs} runs over {options.steps} steps; medians in seconds")
    print(f"{'bisector --help':44} {statistics.median(helps):6.3f}   goal 0.25")
    print(f"{'bisector run, to the first build':44} {statistics.median(starts):6.3f}   goal 0.50")
    print(f"{f'bisector run, per probe ({len(probes)} probes)':44} {statistics.median(probes):6.3f}   goal 0.15")
    print(f"{'git bisect run, per commit':44} {statistics.median(git_seconds):6.3f}")


if __name__ == "__main__":
    main()
