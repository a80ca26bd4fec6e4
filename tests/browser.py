"""Opens a page in a real browser without a screen: what it logs, what it asks for, how it looks, and what axe says."""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import pytest

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
needs_browser = pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")
THEMES = {"light": 1, "dark": 0}
"""What the reader's system asks for, as the browser numbers it."""
_SAID = "axe found: "


@dataclass(frozen=True)
class Opened:
    """What became of a page.

    Attributes:
        picture: a screenshot (PNG).
        console: what was logged, errors above all.
        requested: addresses that the page itself asked for, beside its own.
    """

    picture: Path
    console: tuple[str, ...]
    requested: frozenset[str]


def opened(page: Path, directory: Path, theme: str = "light") -> Opened:
    """Open a page from a file; `directory` takes the picture, the log and the browser's profile."""
    log, picture = directory / "net.json", directory / f"{page.stem}-{theme}.png"
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
         "--disable-component-update", "--enable-logging=stderr", f"--log-net-log={log}", "--window-size=1200,1600",
         f"--blink-settings=preferredColorScheme={THEMES[theme]}", f"--user-data-dir={directory / 'profile'}",
         "--virtual-time-budget=20000", f"--screenshot={picture}", page.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    console = tuple(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return Opened(picture, console, _asked_for(log, page))


def _asked_for(log: Path, page: Path) -> frozenset[str]:
    """Addresses of requests that a page began; the browser's own have no origin."""
    asked = set()
    for line in log.read_text(encoding="utf-8").splitlines():
        if '"initiator"' in line:
            parameters = json.loads(line.strip().rstrip(",").removesuffix("],"))["params"]
            if parameters["initiator"] != "not an origin":
                asked.add(parameters["url"])
    return frozenset(asked - {page.as_uri()})


def violations(page: Path, directory: Path, theme: str = "light") -> list[str]:
    """What axe (the accessibility checker) has against a page, as "rule: element"; its script is added to a copy."""
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    without_policy = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    assert without_policy != text
    script = (
        "axe.run().then(found => console.log("
        f"{json.dumps(_SAID)} + JSON.stringify(found.violations.flatMap("
        "each => each.nodes.map(node => each.id + ': ' + node.html.slice(0, 200))))))"
    )
    copy = directory / f"axe-{page.name}"
    copy.write_text(without_policy.replace("</body>", f"<script>{axe}</script><script>{script}</script></body>"))
    said = [line for line in opened(copy, directory, theme).console if _SAID in line]
    assert len(said) == 1, "axe did not run to its end"
    found: list[str] = json.loads(re.sub(r'", source: .*$', "", said[0].split(_SAID, 1)[1]))
    return found
