"""Build the wheel and the source distribution so that anyone can build the same bytes again.

    scripts/distributions [--output dist] [--revision HEAD]

What is built is a commit, laid out afresh in a directory of its own, so that nothing that lies about in a checkout gets
in. It is built twice: in two directories, with files of other ages, another umask, time zone and hash seed. Where the
two differ, nothing is written, and the exit code is 1. The time that both carry is that of the commit. The wheel is
built from the source distribution, which so shows that it is complete.

Equal bytes need an equal hatchling, whose version the wheel tells (`Generator`).
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

from uv import find_uv_bin

ROOT = Path(__file__).resolve().parent.parent
EPOCH_OF_ZIP = 315532800
"""1980-01-01, the first time that a wheel can carry."""
CIRCUMSTANCES: tuple[dict[str, str], ...] = (
    {"TZ": "UTC", "PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8"},
    {"TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "2", "LC_ALL": "C"},
)
UMASKS = (0o022, 0o077)
AGES = (0, 400_000_000)
"""Seconds since 1970 that the files of each build are from."""


def main() -> int:
    arguments = _arguments()
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(max(_committed(arguments.revision), EPOCH_OF_ZIP))}
    with tempfile.TemporaryDirectory(prefix="bisector-distributions-") as scratch:
        built = []
        for number, circumstances in enumerate(CIRCUMSTANCES):
            place = Path(scratch) / ("first" if number == 0 else "another place/below") / "bisector"
            place.mkdir(parents=True)
            lay_commit(arguments.revision, place)
            built.append(build(place, environment | circumstances, UMASKS[number], AGES[number]))
        first, second = built
        if first != second:
            differing = sorted(name for name in first | second if first.get(name) != second.get(name))
            print(f"two builds differ in {', '.join(differing)}; nothing is written", file=sys.stderr)
            return 1
        arguments.output.mkdir(parents=True, exist_ok=True)
        for name, content in sorted(first.items()):
            (arguments.output / name).write_bytes(content)
            print(f"{hashlib.sha256(content).hexdigest()}  {arguments.output / name}")
    return 0


def lay_commit(revision: str, place: Path) -> None:
    """The tree of a commit."""
    archive = place.parent / "tree.tar"
    _git("archive", "--format=tar", f"--output={archive}", "--end-of-options", revision)
    with tarfile.open(archive) as tar:
        tar.extractall(place, filter="data")


def build(place: Path, environment: Mapping[str, str], umask: int, age: int) -> dict[str, bytes]:
    """The content of each distribution, by its name."""
    for path in place.rglob("*"):
        if path.is_file():
            path.chmod(0o644 & ~umask)
            os.utime(path, (age, age))
    output = place.parent / "built"
    subprocess.run(
        [find_uv_bin(), "build", "--quiet", f"--out-dir={output}", "--python", sys.executable, str(place)],
        env=environment,
        umask=umask,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    return {path.name: path.read_bytes() for path in output.iterdir() if path.suffix in {".whl", ".gz"}}


def _committed(revision: str) -> int:
    """When a commit was made, in seconds since 1970."""
    return int(_git("show", "--no-patch", "--format=%ct", "--end-of-options", revision))


def _git(*arguments: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True).stdout


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="where the two are written (dist)")
    parser.add_argument("--revision", default="HEAD", help="the commit that is built (HEAD)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
