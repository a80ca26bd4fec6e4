"""Run the real regressions of tests/cases through the command line, and print what each cost.

    scripts/bench/cases [--group A] [--only NAME ...] [--quick] [--jobs N] [--keep DIR] [--markdown docs/cases.md]

Group C bisects commits: PINS_HISTORIES names a directory of clones (`<owner>+<name>/repo`, or `<name>`).

For each case: the answer, whether it is right, builds (the swap test's apart), the bound ceil(log2 S) + 2 on S steps
(where the pin is a commit: on the S commits between the ends, those behind merges included, since it may be any),
runs of the script and seconds. Exit code 1 where an answer is wrong. `--markdown FILE` writes the table as a page too,
after each case. With `--jobs N`, N cases run beside one another, and each takes longer. With `--keep DIR`, runs lie
there, and those that have ended there are not repeated.
"""

import argparse
import json
import math
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bisector.model import short_text  # noqa: E402
from tests.real_cases import Case, load_cases  # noqa: E402


def run(case: Case, directory: Path) -> tuple[dict[str, Any] | None, str]:
    """The result document, or what went wrong. A run that has ended in this directory is not repeated."""
    program = [sys.executable, "-m", "bisector"]
    place = directory / case.name
    if (place / "journal.sqlite").is_file():
        command = [*program, "report", str(place), "--format", "json"]
    else:
        command = [*program, "run", *case.options(), "--format", "json", "-q", "--run-dir", str(place)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout), ""
    except json.JSONDecodeError:
        return None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"


def describe(result: dict[str, Any]) -> str:
    """The answer in one cell."""
    if result["verdict"] == "culprit":
        culprit = result["culprit"]
        return f"{culprit['pin']} {short_text(culprit['old'])} -> {short_text(culprit['new'])}"
    if result["verdict"] == "range":
        return "range " + ", ".join(f"{step['old']} -> {step['new']}" for step in result["range"])
    return str(result["verdict"])


@dataclass(frozen=True)
class Row:
    """What came of a case.

    Attributes:
        case: which.
        answer: the answer in one cell, or what went wrong.
        right: whether it is the known one.
        builds, bound, swap, runs: as printed; None where there was no result.
        seconds: of the whole run.
    """

    case: Case
    answer: str
    right: bool
    seconds: float = 0.0
    builds: int | None = None
    bound: int | None = None
    swap: int | None = None
    runs: int | None = None

    def line(self) -> str:
        """For the terminal."""
        counts = [self.builds, self.bound, self.swap, self.runs]
        cells = " ".join(f"{'' if n is None else n:>{w}}" for n, w in zip(counts, (6, 5, 4, 4), strict=True))
        right = "yes" if self.right else "NO"
        return f"{self.case.name:38} {self.answer[:46]:46} {right:5} {cells} {self.seconds:6.0f}"

    def markdown(self) -> str:
        """A line of docs/cases.md."""
        builds = "" if self.builds is None else f"{self.builds} + {self.swap}" if self.swap else f"{self.builds}"
        numbers = [builds, self.bound, self.runs, f"{self.seconds:.0f}"]
        cells = [f"[{self.case.name}](../tests/cases/{self.case.name}/case.json)", self.answer]
        cells += ["yes" if self.right else "**no**", *("" if n is None else str(n) for n in numbers)]
        return f"| {' | '.join(cells)} |"


def steps_of(case: Case, result: dict[str, Any]) -> int:
    """Between how many steps the search had to choose: of commits, all that one end holds and the other does not."""
    if case.group != "C":
        return int(result["chain_length"]) - 1
    [axis] = result["axes"]
    between = f"{axis['good']}...{axis['bad']}"
    command = ["git", "-C", str(case.repository), "rev-list", "--count", between]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def tried(case: Case, directory: Path) -> Row:
    """Run one case."""
    result, problem = run(case, directory)
    if result is None:
        return Row(case, problem, right=False)
    probes = [probe for probe in result["probes"] if probe["input_hash"] and probe["build_log"]]
    on_chain = sum(1 for probe in probes if probe["step"] is not None)
    bound = math.ceil(math.log2(steps_of(case, result))) + 2
    return Row(
        case,
        describe(result),
        case.right(result),
        result["seconds"],
        on_chain,
        bound,
        result["builds"] - on_chain,
        result["runs"],
    )


PAGE = """\
# Real regressions, and what came of each

{which} below `tests/cases` through the command line: {right} of {all} answers are right{left}. Written on
{date} by `{command}`, on {machine}.

`builds` are those of the search, both ends included, and behind a plus those of the swap test; `bound` is
ceil(log2 S) + 2 on S steps, or on the S commits between the ends, all sides counted; `runs` are those of the script,
confirming ones included; `s` is the whole run, with downloads kept from earlier runs and what else the machine had
to do. A case names its packages, its Python and its script; where the answer is a range, the versions in between cannot
be installed.

To run one: `scripts/bench/cases --only NAME`. Cases that begin with `git-` bisect commits, and need clones
(`PINS_HISTORIES`).

| case | answer | right | builds | bound | runs | s |
|---|---|---|---|---|---|---|
{rows}
"""


def page(rows: Sequence[Row], left_out: Sequence[str], *, chosen: bool) -> str:
    """docs/cases.md; `chosen`: only some cases were asked for."""
    names = ", ".join(left_out)
    return PAGE.format(
        which="The cases chosen" if chosen else "Every case",
        right=sum(row.right for row in rows),
        all=len(rows),
        left=f" (not run: {names})" if names else "",
        command=shlex.join(["scripts/bench/cases", *sys.argv[1:]]),
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        machine=f"{os.cpu_count()} processors, {platform.system()} {platform.machine()}, load {os.getloadavg()[1]:.1f}",
        rows="\n".join(row.markdown() for row in rows),
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", choices=["A", "B", "C"])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--quick", action="store_true", help="leave out those whose probes take over 5 s")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many cases run at a time")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where runs lie, and are kept")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there as well, as a page")
    options = parser.parse_args()
    chosen = bool(options.group or options.only or options.quick)
    rows: list[Row] = []
    left_out: list[str] = []
    print(f"{'case':38} {'answer':46} {'right':5} {'builds':>6} {'bound':>5} {'swap':>4} {'runs':>4} {'s':>6}")
    wanted: list[Case] = []
    for case in load_cases():
        if options.group not in (None, case.group) or (options.only and case.name not in options.only):
            continue
        if options.quick and case.seconds > 5:
            left_out.append(case.name)
        elif case.group == "C" and case.repository is None:
            left_out.append(case.name)
            print(f"{case.name:38} left out: PINS_HISTORIES names no directory with a clone of {case.facts['repo']}")
        else:
            wanted.append(case)
    with (
        tempfile.TemporaryDirectory(prefix="bisector-cases-") as temporary,
        ThreadPoolExecutor(options.jobs) as at_a_time,
    ):
        directory = (options.keep or Path(temporary)).absolute()
        for done in as_completed([at_a_time.submit(tried, case, directory) for case in wanted]):
            rows.append(done.result())
            rows.sort(key=lambda row: row.case.name)
            print(done.result().line(), flush=True)
            if options.markdown:  # after each: what has been run is there if the rest is interrupted
                options.markdown.write_text(page(rows, left_out, chosen=chosen), encoding="utf-8")
    return 0 if all(row.right for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
