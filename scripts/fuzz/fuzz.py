"""Fuzz the readers, led by coverage or by structure, for as long as asked; what is found is kept by its kind.

    pip install atheris                                     # in the environment that runs this, with the project's own
    scripts/fuzz/fuzz.py --seconds 3600 --work DIR [--seeds REPOSITORY...] [TARGET...]
    scripts/fuzz/fuzz.py --random --seconds 3600 --work DIR [TARGET...]

The time is dealt to the targets in turn, a slice each, until it is over. Inputs that reach new code stay in DIR/corpus
from one time to the next; a finding is the shortest input that failed in one way, in DIR/findings, with its trace. An
input that takes more than two seconds of processor time is a finding as well. `--random` needs no atheris: hypothesis
makes inputs of the tokens and of seeds that it cuts, joins, repeats and damages.
"""

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]
LONGEST = 4096
PATIENCE = 2.0
"""Seconds of processor time that one input of at most LONGEST bytes may take."""


class TooSlowError(BaseException):
    """An input took longer than any should; no reader catches this one."""


def _alarm(_number: int, _frame: FrameType | None) -> None:
    raise TooSlowError


class Findings:
    """What has failed, each kind once, by its shortest input."""

    def __init__(self, directory: Path, target: str) -> None:
        self.directory = directory
        self.target = target
        self.executions = 0
        directory.mkdir(parents=True, exist_ok=True)
        signal.signal(signal.SIGVTALRM, _alarm)

    def trying(self, run: Callable[[bytes], None], data: bytes) -> None:
        """Run one input; whatever it raises is kept."""
        self.executions += 1
        signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
        try:
            run(data)
        except (Exception, TooSlowError) as error:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            self._keep(error, data)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def _keep(self, error: BaseException, data: bytes) -> None:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if str(ROOT) in f.filename]
        frames = frames[-1:] if isinstance(error, TooSlowError) else frames[-2:]
        kind = type(error).__name__ + "".join(f"|{Path(f.filename).name}:{f.name}" for f in frames)
        if isinstance(error, AssertionError):
            kind += f"|{frames[-1].lineno if frames else 0}"
        name = f"{self.target}-{hashlib.sha256(kind.encode()).hexdigest()[:8]}"
        kept = self.directory / f"{name}.input"
        if kept.exists() and kept.stat().st_size <= len(data):
            return
        kept.write_bytes(data)
        trace = "".join(traceback.format_exception(error))
        (self.directory / f"{name}.txt").write_text(f"{kind}\n{trace[-6000:]}", errors="backslashreplace")
        print(f"{self.target}: {kind}: {str(error)[:160]!r}", file=sys.stderr, flush=True)

    def count(self, corpus: int) -> None:
        """Add how many inputs were tried to the record of all."""
        with (self.directory.parent / "executions.tsv").open("a") as record:
            record.write(f"{time.time():.0f}\t{self.target}\t{self.executions}\t{corpus}\n")


def led_by_coverage(name: str, seconds: int, work: Path) -> None:
    """One slice of one target, in this process; atheris ends it."""
    import atheris

    with atheris.instrument_imports(include=["pins", "bisector", "targets"]):
        from targets import BY_NAME
    target = BY_NAME[name]
    findings = Findings(work / "findings", name)
    corpus, tokens = work / "corpus" / name, work / f"{name}.dict"
    corpus.mkdir(parents=True, exist_ok=True)
    escaped = ("".join(f"\\x{byte:02x}" for byte in token.encode()) for token in target.tokens if token)
    tokens.write_text("".join(f'"{token}"\n' for token in escaped))
    until = time.monotonic() + seconds - 0.5

    def once(data: bytes) -> None:
        findings.trying(target.run, data)
        if time.monotonic() > until:  # libFuzzer ends without a word to Python
            findings.count(len(list(corpus.iterdir())))
            os._exit(0)

    given = [str(place) for place in (work / "seeds" / name,) if place.is_dir()]
    atheris.Setup(
        [
            sys.argv[0],
            f"-max_total_time={seconds + 60}",
            f"-max_len={LONGEST}",
            f"-dict={tokens}",
            "-timeout=120",
            "-rss_limit_mb=3000",
            "-verbosity=0",
            str(corpus),
            *given,
        ],
        once,
    )
    atheris.Fuzz()


def led_by_structure(name: str, seconds: int, work: Path) -> None:
    """One slice of one target with inputs that hypothesis makes of tokens and seeds."""
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st
    from targets import BY_NAME

    target = BY_NAME[name]
    findings = Findings(work / "findings", name)
    places = [path for place in ("seeds", "corpus") for path in sorted((work / place / name).glob("*"))]
    seeds = [path.read_bytes()[:LONGEST] for path in random.sample(places, min(len(places), 200))] or [b""]
    pieces = st.one_of(
        st.sampled_from([token.encode() for token in target.tokens] or [b""]),
        st.sampled_from([line for text in seeds for line in text.splitlines(keepends=True)] or [b"\n"]),
        st.binary(max_size=4),
        st.text(max_size=4).map(lambda text: text.encode("utf-8", "surrogatepass")),
    )
    built = st.lists(pieces, max_size=30).map(b"".join)
    cut = st.builds(
        lambda text, at, length, put, times: (text[: (k := at % (len(text) + 1))] + put * times + text[k + length :])[
            :LONGEST
        ],
        st.sampled_from(seeds),
        st.integers(0, LONGEST),
        st.integers(0, 60),
        pieces,
        st.sampled_from([1, 1, 1, 2, 50]),
    )
    until = time.monotonic() + seconds

    while time.monotonic() < until:

        @seed(random.getrandbits(60))
        @settings(
            max_examples=400,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(st.one_of(built, cut, cut, st.tuples(cut, built).map(b"".join)))
        def once(data: bytes) -> None:
            if time.monotonic() < until:
                findings.trying(target.run, data)

        once()
    findings.count(len(places))


def seeds_of(repositories: list[str], work: Path, most: int = 150) -> None:
    """Files of bare repositories that fit a target, at most so many each, spread over all of them."""
    import fnmatch

    from targets import TARGETS

    for target in TARGETS:
        place = work / "seeds" / target.name
        place.mkdir(parents=True, exist_ok=True)
        for repository in repositories if target.seeds else []:
            listed = subprocess.run(
                ["git", "-C", repository, "ls-tree", "-r", "-l", "-z", "HEAD"], capture_output=True, check=False
            ).stdout.decode(errors="replace")
            fitting = [
                entry.partition("\t")[0].split()[2]
                for entry in listed.split("\0")
                if "\t" in entry
                and entry.partition("\t")[0].split()[3].isdigit()
                and int(entry.partition("\t")[0].split()[3]) <= LONGEST
                and any(fnmatch.fnmatch(entry.partition("\t")[2].rpartition("/")[2], glob) for glob in target.seeds)
            ]
            for blob in fitting[:: max(1, len(fitting) // max(1, most // len(repositories)))]:
                read = subprocess.run(
                    ["git", "-C", repository, "cat-file", "blob", blob], capture_output=True, check=False
                )
                if read.returncode == 0:
                    (place / blob).write_bytes(read.stdout)


def _turns(names: list[str]) -> Iterator[str]:
    while True:
        yield from names


def main() -> None:
    """Deal the time to the targets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="of targets.py; all")
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--slice", type=int, default=60, help="seconds that a target has at a time")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seeds", nargs="*", default=[], metavar="REPOSITORY", help="bare or other git directories")
    parser.add_argument("--random", action="store_true")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        (led_by_structure if given.random else led_by_coverage)(given.one, given.seconds, given.work)
        return
    from targets import BY_NAME  # not before: what is imported already is not led by coverage

    if given.seeds:
        seeds_of(given.seeds, given.work)
    until = time.monotonic() + given.seconds
    for name in _turns(given.targets or list(BY_NAME)):
        left = int(until - time.monotonic())
        if left <= 5:
            return
        command = [sys.executable, __file__, "--one", name, "--work", str(given.work)]
        command += ["--seconds", str(min(given.slice, left)), *(["--random"] if given.random else [])]
        subprocess.run(command, check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})


if __name__ == "__main__":
    main()
