"""Ours against JAX-Toolbox's triage and `git bisect run`, on the same simulated histories.

    scripts/bench/against_peers [--trials 40] [--every] [--seed 1] [--jax-toolbox PATH_OR_URL]

Histories in which the script never errs: six pins with 64 versions each whose dates do not interleave, the pin that is
named first being the oldest or the newest; one pin whose versions around the culprit do not build; one pin of which
every other version does not build. Counted are different builds to the answer, failed ones and both ends included:
`git bisect` takes the ends on trust, and gets two more. Both peers are themselves: git runs `git bisect run` in a
repository with a commit for each step (somebody has lined the pins up for it), and of JAX-Toolbox (Apache License 2.0)
`version_search` is called as it is, from a clone; without one, that column is left out, and said to be.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from search_others import triage_logic
from search_pins import pins_of, trial
from search_scenarios import irreducible, search

from bisector.space import chain_through

JAX_TOOLBOX = "https://github.com/NVIDIA/JAX-Toolbox.git"
PINS, VERSIONS = 6, 64
STEPS = 1000
AROUND = 80
"""Versions in the broken range around the culprit."""
_START = datetime(2026, 1, 1)


@dataclass(frozen=True)
class History:
    """One case: the steps of a chain through all pins, which of them is bad first, and which do not build.

    Attributes:
        pins: how many.
        versions: of each pin.
        culprit: the first bad candidate of the chain, from 1.
        broken: candidates that do not build.
        newest_first: whether the versions of the first pin are the newest.
    """

    pins: int
    versions: int
    culprit: int
    broken: frozenset[int] = frozenset()
    newest_first: bool = False

    @property
    def steps(self) -> int:
        """Of the chain."""
        return self.pins * (self.versions - 1)


@dataclass(frozen=True)
class Answer:
    """What one search said.

    Attributes:
        builds: to the answer.
        beyond: further ones, of the swap test.
        lower, upper: the culprit is one of the steps between these candidates.
    """

    builds: int
    beyond: int
    lower: int | None
    upper: int | None


Method = Callable[[History], Answer]


def ours(history: History) -> Answer:
    """The engine along a chain, and behind it the swap test where several pins move."""
    if history.pins == 1:
        found = search(history.steps, history.culprit, set(history.broken))
        return Answer(found.builds, 0, found.conclusion.lower, found.conclusion.upper)
    axes = pins_of(history.pins, history.versions)
    pin, version = divmod(history.culprit - 1, history.versions - 1)
    name = axes[pin].pin
    outcome = trial(axes, [{name: version + 1}], 0.0, 0.0, str(history))
    chain = chain_through(axes, [[axis] for axis in axes])
    named = [(pin, str(value)) for pin, value in (outcome.named or {}).items()]
    moved = [[(move.pin, move.new) for move in chain.moves(upper)] for upper in range(1, chain.steps + 1)]
    upper = moved.index(named) + 1 if named in moved else None
    return Answer(outcome.builds, outcome.builds_of_swap, None if upper is None else upper - 1, upper)


def jax_toolbox(triage: Path) -> Method:
    """`version_search` of JAX-Toolbox, with as many packages as there are pins."""
    logic, logger = triage_logic(triage)

    def find(history: History) -> Answer:
        built: set[tuple[int, ...]] = set()
        bad_pin, bad_version = divmod(history.culprit - 1, history.versions - 1)
        names = [f"pin{number}" for number in range(history.pins)]

        def build_and_test(*, versions: dict[str, str], **_: object) -> Any:
            vector = tuple(int(versions[name]) for name in names)
            built.add(vector)
            fails = vector[bad_pin] > bad_version
            builds = history.pins > 1 or vector[0] not in history.broken
            outcomes = logic.TestExecutionOutcome
            return logic.TestResult(
                build_stdouterr="",
                host_output_directory=Path(),
                result=outcomes.TEST_YIELDED_RESULTS if builds else outcomes.BUILD_FAILURE,
                stdouterr="",
                metrics={"exit_code": int(fails)} if builds else {},
                time=0.0,
            )

        blocks = range(history.pins)[::-1] if history.newest_first else range(history.pins)
        versions = OrderedDict(
            (name, [(str(v), _START + timedelta(days=block * history.versions + v)) for v in range(history.versions)])
            for block, name in zip(blocks, names, strict=True)
        )
        summary, _, _ = logic.version_search(
            versions=versions, build_and_test=build_and_test, logger=logger, skip_precondition_checks=False
        )
        named = next(name for name in names if f"{name}_bad" in summary)
        first = names.index(named) * (history.versions - 1)
        lower = first + int(summary[f"{named}_good"].split(",")[0])
        upper = first + int(summary[f"{named}_bad"].split(",")[-1])
        return Answer(len(built), 0, lower, upper)

    return find


def git_bisect(directory: Path) -> Method:
    """`git bisect run` in a repository with one commit for each candidate of the chain."""
    repositories: dict[int, tuple[Path, list[str]]] = {}

    def find(history: History) -> Answer:
        if history.steps not in repositories:
            repositories[history.steps] = _repository(directory / str(history.steps), history.steps)
        repository, commits = repositories[history.steps]
        log = directory / "tried"
        log.write_text("")
        script = directory / "script.sh"
        script.write_text(
            f'#!/bin/sh\nread n < candidate\necho "$n" >> "{log}"\ncase " {_spaced(history.broken)} " in *" $n "*) exit'
            f' 125;; esac\n[ "$n" -lt {history.culprit} ]\n'
        )
        script.chmod(0o755)
        _git(repository, "bisect", "start", commits[-1], commits[0])
        said = _git(repository, "bisect", "run", str(script), check=False)
        _git(repository, "bisect", "reset")
        tried = set(log.read_text().split())
        named = re.findall(r"^([0-9a-f]{40})(?: is the first|$)", said, re.MULTILINE)
        places = sorted(commits.index(commit) for commit in named)
        return Answer(len(tried) + 2, 0, places[0] - 1 if places else None, places[-1] if places else None)

    return find


def _spaced(numbers: frozenset[int]) -> str:
    return " ".join(map(str, sorted(numbers)))


def _repository(directory: Path, steps: int) -> tuple[Path, list[str]]:
    directory.mkdir(parents=True)
    _git(directory, "init", "--quiet", "--initial-branch=main")
    stream = []
    for number in range(steps + 1):
        content, person = f"{number}\n", f"A <a@example.org> {1_700_000_000 + number} +0000"
        stream.append(
            f"commit refs/heads/main\ncommitter {person}\ndata 2\n{number % 10}\n"
            f"M 100644 inline candidate\ndata {len(content)}\n{content}"
        )
    subprocess.run(
        ["git", "-C", str(directory), "fast-import", "--quiet"], input="".join(stream), text=True, check=True
    )
    _git(directory, "checkout", "--quiet", "main")
    return directory, _git(directory, "rev-list", "--reverse", "main").split()


def _git(directory: Path, *arguments: str, check: bool = True) -> str:
    variables = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", "-C", str(directory), *arguments], capture_output=True, text=True, check=check, env=variables
    )
    return done.stdout


def oldest_first(rng: random.Random) -> History:
    """Six pins whose dates do not interleave, any step of any pin."""
    return History(PINS, VERSIONS, rng.randrange(1, PINS * (VERSIONS - 1) + 1))


def newest_first(rng: random.Random) -> History:
    """The same with the newest pin named first."""
    return replace(oldest_first(rng), newest_first=True)


def around(rng: random.Random) -> History:
    """A broken range with the culprit somewhere in it."""
    first = rng.randrange(1, STEPS - AROUND)
    return History(1, STEPS + 1, rng.randrange(first, first + AROUND + 1), frozenset(range(first, first + AROUND)))


def alternating(rng: random.Random) -> History:
    """Every other version does not build; the ends do."""
    parity = rng.randrange(2)
    return History(1, STEPS + 1, rng.randrange(1, STEPS + 1), frozenset(v for v in range(1, STEPS) if v % 2 == parity))


HISTORIES: dict[str, Callable[[random.Random], History]] = {
    f"{PINS} pins x {VERSIONS}, dates apart, oldest first": oldest_first,
    f"{PINS} pins x {VERSIONS}, dates apart, newest first": newest_first,
    f"{AROUND} broken of {STEPS}, around the culprit": around,
    f"every other one of {STEPS} broken": alternating,
}


def print_row(case: str, name: str, histories: list[History], method: Method) -> None:
    """One line of the table."""
    rows = []
    for history in histories:
        try:
            answer = method(history)
        except Exception as error:  # a peer's own; what it named is nothing
            print(f"    {name} ended with {type(error).__name__}: {error}", file=sys.stderr)
            answer = Answer(0, 0, None, None)
        least = irreducible(history.culprit, set(history.broken))
        inside = (
            answer.lower is not None and answer.upper is not None and answer.lower < history.culprit <= answer.upper
        )
        width = (answer.upper or 0) - (answer.lower or 0)
        rows.append((answer.builds, answer.beyond, width, inside, (answer.lower, answer.upper) == least))
    builds, beyond, width, inside, exact = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    most = max(row[0] for row in rows)
    print(
        f"{case:42s} {name:22s} {builds:7.1f} {most:5d} {beyond:6.1f} {100 * inside:8.0f}% {width:7.1f}"
        f" {100 * exact:6.0f}%",
        flush=True,
    )


@contextmanager
def triage_of(source: str) -> Iterator[Path | None]:
    """The directory of JAX-Toolbox's triage, out of a checkout, a clone or a URL; None where it is not there."""
    with tempfile.TemporaryDirectory() as room:
        directory = Path(source)
        if (directory / "jax_toolbox_triage").is_dir():
            yield directory
            return
        if "://" in source:
            directory = Path(room) / "clone"
            command = ["git", "clone", "--quiet", "--bare", "--depth=1", "--", source, str(directory)]
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, env={**os.environ, "GIT_TERMINAL_PROMPT": "0"}
            )
            if done.returncode:
                said = done.stderr.strip().splitlines() or ["git failed"]
                print(f"JAX-Toolbox is left out: it cannot be fetched here: {said[-1]}")
                yield None
                return
        archive = subprocess.run(
            ["git", "-C", str(directory), "archive", "HEAD", ".github/triage"], capture_output=True, check=False
        )
        if archive.returncode:
            print(f"JAX-Toolbox is left out: {source} has no .github/triage")
            yield None
            return
        with tarfile.open(fileobj=BytesIO(archive.stdout)) as packed:
            packed.extractall(room, filter="data")
        yield Path(room) / ".github" / "triage"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=40, help="histories of each kind (default 40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", action="store_true", help="of several pins, every step once")
    parser.add_argument("--jax-toolbox", default=JAX_TOOLBOX, metavar="PATH_OR_URL", help="a clone or a checkout")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as room, triage_of(arguments.jax_toolbox) as triage:
        methods: dict[str, Method] = {"bisector": ours, "git bisect run": git_bisect(Path(room))}
        if triage is not None:
            methods["JAX-Toolbox triage"] = jax_toolbox(triage)
        print(f"Builds to the answer, both ends included; {arguments.trials} histories a kind, seed {arguments.seed}")
        print(f"{'history':42s} {'':22s}  builds  most   swap    inside   width   exact")
        for case, draw in HISTORIES.items():
            rng = random.Random(f"{arguments.seed} {case}")
            histories = [draw(rng) for _ in range(arguments.trials)]
            if arguments.every and histories[0].pins > 1:
                histories = [replace(histories[0], culprit=number + 1) for number in range(histories[0].steps)]
            for name, method in methods.items():
                print_row(case, name, histories, method)
    print("swap: builds of the swap test, beyond those. inside: the culprit lies in what was named, width: how many")
    print("steps that is, exact: what was named is the narrowest that what builds can tell.")


if __name__ == "__main__":
    main()
