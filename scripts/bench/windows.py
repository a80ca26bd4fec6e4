"""All windows of six packages beside one `uv pip compile`, and beside one for each version.

    scripts/bench/windows [--runs 5] [--versions 40] [--universe torch] [--latency 0 20 50]

An index on localhost, a process of its own, holds the frozen universe (tests/resolve/universes). Each run of either
tool is a new process; cold means an empty cache, warm the cache of the run before. One call per version is measured on
some of the versions, spread evenly, and multiplied. Medians of the runs, processor seconds besides; a busy machine
stretches all of them alike. The index waits for each of the latencies before every answer, as one in a network does:
one call per version is measured without it only.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from uv import find_uv_bin

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.resolve.frozen import GLIBC, PLATFORM, FrozenUniverse, frozen  # noqa: E402

SERVE = """
import sys
sys.path.insert(0, {root!r})
from tests.resolve.frozen import FrozenIndex, frozen
with FrozenIndex(frozen({name!r})) as index:
    print(index.url, flush=True)
    for line in sys.stdin:
        index.delay(float(line)) if float(line) else index.recover()
        print("so be it", flush=True)
"""


@dataclass(frozen=True)
class Measured:
    """One process."""

    seconds: float
    processor: float
    megabytes: float
    output: str
    said: str


def measure(command: list[str], environment: dict[str, str]) -> Measured:
    """Run a command and say what it took; its peak memory too."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as said:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=said, env=environment, cwd=ROOT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said.seek(0)
        texts = output.read(), said.read()
    if process.returncode != 0:
        raise SystemExit(f"{command[:4]} ended with {process.returncode}: {texts[1][-800:]}")
    return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, *texts)


def environment_with(cache: str) -> dict[str, str]:
    """Nothing of the caller's settings of indexes; caches of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("UV_", "PIP_"))}
    return {
        **kept,
        "XDG_CACHE_HOME": cache,
        "UV_CACHE_DIR": f"{cache}/uv",
        "UV_NO_CONFIG": "1",
        "PIP_CONFIG_FILE": os.devnull,
    }


def ours(universe: FrozenUniverse, url: str) -> list[str]:
    """Our command."""
    asked = [f"--require={text}" for text in universe.requirements]
    where = ["--index-url", url, "--python", universe.python, "--platform", PLATFORM]
    return [sys.executable, "-m", "pins", "windows", *asked, *where, "--format", "json", "-v"]


def uv(universe: FrozenUniverse, url: str, file: str, *more: str) -> list[str]:
    """One resolution by uv."""
    platform = f"x86_64-manylinux_{GLIBC.replace('.', '_')}"
    where = [
        "--python",
        sys.executable,
        "--default-index",
        url,
        "--python-version",
        universe.python,
        "--python-platform",
        platform,
    ]
    return [find_uv_bin(), "pip", "compile", "--quiet", *where, *more, file]


Run = Callable[[dict[str, str]], Measured]


def alternating(commands: Sequence[Run], runs: int) -> list[tuple[list[Measured], list[Measured]]]:
    """For each command its cold runs, each with a cache of its own, and the warm ones behind them.

    The commands take turns, so that whatever else the machine does falls on all of them.
    """
    found: list[tuple[list[Measured], list[Measured]]] = [([], []) for _ in commands]
    for _ in range(runs):
        for run, (cold, warm) in zip(commands, found, strict=True):
            with tempfile.TemporaryDirectory() as cache:
                environment = environment_with(cache)
                cold.append(run(environment))
                warm.append(run(environment))
    return found


def median(measured: list[Measured]) -> tuple[float, float]:
    """Seconds on the clock, and of the processor."""
    return statistics.median(m.seconds for m in measured), statistics.median(m.processor for m in measured)


def per_version(universe: FrozenUniverse, url: str, sample: int, file: str) -> tuple[int, float, float]:
    """How many versions there are, and what one call for each takes, cold and warm (by some of them)."""
    names = set(universe.requirements)
    versions = [(name, version) for name, version, yanked, _ in universe.releases if name in names and not yanked]
    chosen = versions[:: max(1, len(versions) // sample)]
    cold, warm = [], []
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as kept:
        bound = Path(directory) / "constraints.txt"
        for name, version in chosen:
            bound.write_text(f"{name}=={version}\n")
            command = uv(universe, url, file, "--constraint", str(bound))
            with tempfile.TemporaryDirectory() as cache:
                cold.append(measure(command, environment_with(cache)).seconds)
            measure(command, environment_with(kept))
            warm.append(measure(command, environment_with(kept)).seconds)
    return len(versions), statistics.mean(cold) * len(versions), statistics.mean(warm) * len(versions)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--universe", default="torch")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--versions", type=int, default=40, help="0 leaves one call per version out")
    parser.add_argument("--latency", type=float, nargs="+", default=[0.0], metavar="MS")
    arguments = parser.parse_args()
    universe = frozen(arguments.universe)
    serving = [sys.executable, "-c", SERVE.format(root=str(ROOT), name=arguments.universe)]
    with (
        subprocess.Popen(serving, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
        tempfile.TemporaryDirectory() as directory,
    ):
        assert server.stdout is not None
        assert server.stdin is not None
        url = server.stdout.readline().strip()
        file = Path(directory) / "requirements.in"
        file.write_text("\n".join(universe.requirements) + "\n")
        one = uv(universe, url, str(file))
        commands: list[Run] = [
            lambda environment: measure(one, environment),
            lambda environment: measure(ours(universe, url), environment),
        ]
        alternating(commands, 1)  # the index makes its answers
        load = os.getloadavg()[0]
        for latency in arguments.latency:
            print(latency / 1000, file=server.stdin, flush=True)
            server.stdout.readline()
            (uv_cold, uv_warm), (our_cold, our_warm) = alternating(commands, arguments.runs)
            print(f"{f'{latency:g} ms an answer':34}{'cold':>16}{'warm':>16}   seconds on the clock (processor)")
            for title, cold, warm in (("one uv pip compile", uv_cold, uv_warm), ("all windows", our_cold, our_warm)):
                print(f"{title:34}" + "".join(f"{s:9.2f} ({p:4.2f})" for s, p in (median(cold), median(warm))))
            for word, mine, theirs in (("cold", our_cold, uv_cold), ("warm", our_warm, uv_warm)):
                clock, processor = (a / b for a, b in zip(median(mine), median(theirs), strict=True))
                print(f"{word}: {clock:.2f} times one uv call ({processor:.2f} of the processor)")
            if not latency and arguments.versions:
                count, *every = per_version(universe, url, arguments.versions, str(file))
                print(f"{f'one uv pip compile for each of {count}':34}" + "".join(f"{s:9.1f}       " for s in every))
                for word, mine, all_of_them in zip(("cold", "warm"), (our_cold, our_warm), every, strict=True):
                    print(f"{word}: {all_of_them / median(mine)[0]:.0f} times faster than one per version")
        server.stdin.close()
    windows = json.loads(our_warm[-1].output)["packages"]
    print(f"{our_warm[-1].said.strip().splitlines()[-1]}; {sum(len(w['versions']) for w in windows)} versions inside")
    print(f"memory: {max(m.megabytes for m in our_cold + our_warm):.0f} MB; load of the machine at first {load:.1f}")


if __name__ == "__main__":
    main()
