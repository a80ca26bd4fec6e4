"""Run every measurement beside this file, one after the other, and keep what each printed.

    scripts/bench/all [--into DIRECTORY] [--only NAME ...] [--list]

Each goes to DIRECTORY/NAME.txt (default: benchmarks in the current directory), below a heading that says when, on what
machine, under what load and with what command it was made: what docs/performance.md is written from. Take it on a
machine that has nothing else to do. What needs an engine, Chromium, clones or much time is run as far as the machine
has it; one that fails is said, and the others are run all the same (exit code 1).
"""

import argparse
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

BENCH = Path(__file__).resolve().parent
COMMANDS: Mapping[str, Sequence[Sequence[str]]] = {
    "overhead": [[]],
    "search": [[]],
    "against_peers": [["--every"]],
    "parallel": [[]],
    "git": [[]],
    "windows": [[]],
    "metadata": [[]],
    "read": [[]],
    "check": [[]],
    "pages": [[]],
    "drift": [[]],
    "images": [["--planted", "git"], ["--planted", "package", "--reuse"]],
    "cases": [["--markdown", "docs/cases.md"]],
}
"""What each is called with; the figures of docs/performance.md are those of these calls."""


def heading(words: Sequence[str]) -> str:
    """When, where and how something was measured."""
    load = " ".join(f"{each:.2f}" for each in os.getloadavg())
    return (
        f"$ {shlex.join(words)}\n"
        f"# {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {os.cpu_count()} processors, {platform.platform()},"
        f" Python {platform.python_version()}, load {load}\n"
    )


def measured(name: str, options: Sequence[str], file: Path) -> bool:
    """Run one measurement and append what it printed; says whether it ended well."""
    shown = [f"scripts/bench/{name}", *options]
    started = time.monotonic()
    print(shlex.join(shown), end=" ... ", flush=True)
    with file.open("a", encoding="utf-8") as kept:
        kept.write(heading(shown))
        kept.flush()
        done = subprocess.run(
            [sys.executable, str(BENCH / f"{name}.py"), *options],
            stdout=kept,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=BENCH.parents[1],
        )
        kept.write(f"# exit code {done.returncode}, {time.monotonic() - started:.0f} s\n\n")
    print(f"exit code {done.returncode}, {time.monotonic() - started:.0f} s: {file}", flush=True)
    return done.returncode == 0


def main() -> int:
    """Run all, or some."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=Path("benchmarks"), metavar="DIRECTORY")
    parser.add_argument("--only", nargs="+", choices=sorted(COMMANDS), default=list(COMMANDS), metavar="NAME")
    parser.add_argument("--list", action="store_true", help="print the commands, and run none")
    options = parser.parse_args()
    calls = [(name, each) for name in options.only for each in COMMANDS[name]]
    if options.list:
        print("\n".join(shlex.join([f"scripts/bench/{name}", *each]) for name, each in calls))
        return 0
    into = options.into.absolute()
    into.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        (into / f"{name}.txt").unlink(missing_ok=True)
    ended = [measured(name, each, into / f"{name}.txt") for name, each in calls]
    return 0 if all(ended) else 1


if __name__ == "__main__":
    sys.exit(main())
