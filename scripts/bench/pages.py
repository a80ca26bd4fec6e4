"""How long the HTML pages take to open in Chromium: 1,000 pins to suggest for, 1,000 findings, 500 probes.

    scripts/bench/pages.py [ROUNDS]

Each page stands in a frame of another page, which logs how long it took from asking for it until it was drawn; the best
and the middle of some rounds are printed, with what making the page took, for a busy machine stretches all of them.
"""

import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bisector.report import render
from pins.hazards.check import check
from pins.hazards.gather import subject
from pins.hazards.table import chosen
from pins.model import Pin, PinKind
from pins.report.hazards_document import check_document
from pins.report.html import render_html
from pins.report.suggest_document import suggest_document
from pins.suggest.model import (
    Certainty,
    Kept,
    Option,
    Reason,
    State,
    Suggestion,
    SuggestionKind,
    SuggestReport,
    VersionState,
)
from tests.browser import CHROMIUM
from tests.report.test_report_narrowing import large

PINS, VERSIONS = 1_000, 60
_FRAME = """<!doctype html><title>frame</title><iframe style="width:1200px;height:900px"></iframe><script>
const frame = document.querySelector("iframe"), begun = performance.now();
frame.onload = () => requestAnimationFrame(() => requestAnimationFrame(
  () => console.log("drawn after " + (performance.now() - begun))));
frame.src = "PAGE";
</script>"""


def suggestions() -> str:
    """A report on 1,000 pins, every tenth of them to be changed, each with a window of 60 versions."""
    versions = tuple(
        VersionState(f"1.{n}.0", State.EXCLUDED if n > 50 else State.ALLOWED, "newer than 1.51.0" if n > 50 else "")
        for n in range(VERSIONS)
    )
    changed = tuple(
        Suggestion(
            Pin(f"package-{n}", PinKind.PACKAGE, None, "Dockerfile", n),
            "open (now 1.59.0)", "<1.51.0", "below 1.51.0", SuggestionKind.CAP, Certainty.DECLARED,
            f"Cap package-{n} below 1.51.0: another requires it",
            (Reason("another requires it", f"Dockerfile:{n}"),) * 3,
            (Option("<1.51.0", SuggestionKind.CAP, "keeps out what broke"),),
            versions=versions, review=date(2026, 9, 1),
        )
        for n in range(0, PINS, 10)
    )  # fmt: skip
    kept = tuple(
        Kept(f"package-{n}", n, "1.50.0", "what it gives now is inside its window", "1.0.0 to 1.50.0", versions)
        for n in range(PINS)
        if n % 10
    )
    return render_html(suggest_document(SuggestReport("Dockerfile", "Cap 100 packages", changed, kept)))


def findings() -> str:
    """A check of a file with 1,000 findings."""
    text = "FROM ubuntu:22.04\n" + "".join(f"RUN pip install package-{n}>=4\n" for n in range(PINS))
    hazards = check([subject(text.encode(), "Dockerfile")], chosen((), ()))
    return render_html(check_document(hazards, 1))


def opening(page: Path, directory: Path) -> float:
    """Seconds from asking for a page until it is drawn."""
    frame = directory / "frame.html"
    frame.write_text(_FRAME.replace("PAGE", page.as_uri()), encoding="utf-8")
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
         "--enable-logging=stderr", f"--user-data-dir={directory / 'profile'}", "--timeout=30000",
         f"--screenshot={directory / 'frame.png'}", frame.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    found = re.search(r"drawn after ([\d.]+)", done.stderr)
    return float(found.group(1)) / 1000 if found else float("nan")


def main() -> None:
    """Print the times."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    makers: dict[str, Callable[[], str]] = {
        "suggest, 1,000 pins": suggestions,
        "check, 1,000 findings": findings,
        "bisect, 500 probes": lambda: render(large(), "html"),
    }
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for what, make in makers.items():
            begun = time.process_time()
            page = directory / "page.html"
            page.write_text(make(), encoding="utf-8")
            made = time.process_time() - begun
            times = [opening(page, directory) for _ in range(rounds)]
            size = page.stat().st_size / 1024
            print(
                f"{what}: made in {made:.2f} s processor, {size:,.0f} KiB, opens in {min(times):.2f} s at best,"
                f" {statistics.median(times):.2f} s in the middle of {rounds}"
            )


if __name__ == "__main__":
    main()
