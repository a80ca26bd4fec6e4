"""How long the hazard check takes: a long Dockerfile, and the Dockerfiles of repositories.

    scripts/bench/check.py [REPOSITORY...]

Of each repository every Dockerfile of HEAD and of its history is checked, at most 300 in all, spread evenly. Processor
time and time on the clock are printed, for a busy machine stretches the latter.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from read import history, long_file

from pins.hazards.check import check
from pins.hazards.gather import subject
from pins.hazards.table import chosen


def timed(files: "list[tuple[str, bytes]]") -> tuple[float, float, int]:
    """Processor seconds, seconds on the clock, and findings."""
    rules = chosen((), ())
    processor, clock = time.process_time(), time.perf_counter()
    found = sum(len(check([subject(data, path)], rules)) for path, data in files)
    return time.process_time() - processor, time.perf_counter() - clock, found


def main() -> None:
    """Print the times."""
    timed([("Dockerfile", long_file(200))])
    data = long_file(1001)
    processor, clock, found = timed([("Dockerfile", data)])
    print(f"{data.count(bytes([10]))} lines: {processor:.3f} s processor, {clock:.3f} s clock, {found} findings")
    files = [file for repository in sys.argv[1:] for file in history(repository)]
    if files:
        some = files[:: max(1, len(files) // 300)][:300]
        processor, clock, found = timed(some)
        print(f"{len(some)} files: {processor:.2f} s processor, {clock:.2f} s clock, {found} findings")


if __name__ == "__main__":
    main()
