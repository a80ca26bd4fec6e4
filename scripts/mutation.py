"""Change a package in small ways, one at a time, and say which changes no test notices.

    scripts/mutation pins/resolve tests/resolve --sample 150

Works in a copy of the checkout. First the tests run once, and it is noted which of them reaches which line; each change
is then tried on those alone, the fast ones first. With `--sample N`, N changes are drawn of all, always the same ones
for the same code and `--seed`. What survives is printed as `file:line  before  ->  after`: either a test is missing, or
the change makes no difference that anyone could see (docs/mutation.md says which).
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from coverage import CoverageData
from mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parent.parent
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-o", "addopts=")
LEFT_OUT = "not slow and not network and not docker and not ray"
SLOWER = 5.0
"""How much longer than usual tests may take before a change counts as noticed: it has made an endless loop, say."""
START = 20.0
"""Seconds for pytest itself to start."""
PLUGIN = """
import json, time
import coverage, pytest

seconds, failed = {}, set()

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    coverage.Coverage.current().switch_context(item.nodeid)
    started = time.monotonic()
    yield
    seconds[item.nodeid] = time.monotonic() - started

def pytest_runtest_logreport(report):
    if report.failed:
        failed.add(report.nodeid)

def pytest_sessionfinish():
    with open("reach.json", "w") as file:
        json.dump({test: taken for test, taken in seconds.items() if test not in failed}, file)
"""
"""Has coverage note which test reaches a line, and how long each takes; one that fails as it is can notice nothing."""


@dataclass(frozen=True)
class Reach:
    """Which tests reach which lines, and how long they take.

    Attributes:
        tests: by file (relative) and line, the node ids.
        seconds: by node id.
    """

    tests: dict[str, dict[int, list[str]]]
    seconds: dict[str, float]

    def of(self, file: str, mutant: Mutant) -> list[str]:
        """The tests that reach a change, the fast ones first."""
        lines = self.tests.get(file, {})
        found = {test for line in range(mutant.first, mutant.last + 1) for test in lines.get(line, ())}
        return sorted(found, key=lambda test: (self.seconds.get(test, 1.0), test))


def main() -> int:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="bisector-mutation-") as scratch:
        tree = Path(scratch) / "tree"
        copy_checkout(tree)
        reach = reached(tree, arguments.package, arguments.tests)
        drawn = draw(tree, arguments.package, arguments.sample, arguments.seed)
        counted: Counter[str] = Counter()
        deadline = time.monotonic() + arguments.minutes * 60
        for file, mutant in drawn:
            if time.monotonic() > deadline:
                counted["not tried, time was up"] += 1
                continue
            ending = tried(tree, file, mutant, reach)
            counted[ending] += 1
            if ending in {"survived", "not reached"}:
                print(f"{ending}: {file}:{mutant.first}  {mutant.before}  ->  {mutant.after}", flush=True)
    print(json.dumps({"package": arguments.package, "drawn": len(drawn), **counted}))
    return 0


def copy_checkout(tree: Path) -> None:
    """What git would take from the checkout."""
    listed = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)


def reached(tree: Path, package: str, tests: list[str]) -> Reach:
    """Run the tests once, unchanged, and note what each reaches."""
    settings, data, times = tree / "reach.toml", tree / "reach.data", tree / "reach.json"
    settings.write_text(f'[tool.coverage.run]\nsource = ["{tree / package}"]\n')
    (tree / "reach.py").write_text(PLUGIN)
    coverage = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", f"--data-file={data}"]
    words = [*coverage, *PYTEST[1:], "-p", "reach", "-m", LEFT_OUT, *tests]
    subprocess.run(words, cwd=tree, env=_environment(tree), check=False, stdout=sys.stderr)
    seconds: dict[str, float] = json.loads(times.read_text())
    read = CoverageData(str(data))
    read.read()
    found: dict[str, dict[int, list[str]]] = {}
    for measured in read.measured_files():
        by_line = read.contexts_by_lineno(measured)
        whole = sorted({test for contexts in by_line.values() for test in contexts if test in seconds})
        found[str(Path(measured).relative_to(tree))] = {
            line: [test for test in contexts if test in seconds] or whole  # what runs at import alone is seen by all
            for line, contexts in by_line.items()
        }
    return Reach(found, seconds)


def draw(tree: Path, package: str, sample: int, seed: int) -> list[tuple[str, Mutant]]:
    """The changes to try: all of them, or as many as asked for."""
    every = [
        (str(path.relative_to(tree)), mutant)
        for path in sorted((tree / package).rglob("*.py"))
        for mutant in mutants(path.read_text(encoding="utf-8"))
    ]
    print(f"{package}: {len(every)} changes", file=sys.stderr)
    return every if not sample else random.Random(seed).sample(every, min(sample, len(every)))


def tried(tree: Path, file: str, mutant: Mutant, reach: Reach) -> str:
    """How a change ends: "noticed", "survived", "endless", or "not reached" by any test."""
    tests = reach.of(file, mutant)
    if not tests:
        return "not reached"
    path = tree / file
    original = path.read_text(encoding="utf-8")
    path.write_text(mutant.source, encoding="utf-8")
    try:
        allowed = START + SLOWER * sum(reach.seconds.get(test, 1.0) for test in tests)
        words = [*PYTEST, "-x", "--no-header", "--tb=no", *tests]
        ended = subprocess.run(
            words,
            cwd=tree,
            env=_environment(tree),
            timeout=allowed,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return "endless"
    finally:
        path.write_text(original, encoding="utf-8")
    return "survived" if ended.returncode == 0 else "noticed"


def _environment(tree: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", help="a directory of modules, such as pins/resolve")
    parser.add_argument("tests", nargs="+", help="where its tests are")
    parser.add_argument("--sample", type=int, default=0, help="how many changes are drawn (all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60.0, help="when no further change is tried (60)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
