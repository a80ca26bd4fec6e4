"""The reports of every verdict, held word for word.

After an intended change: `BISECTOR_UPDATE_GOLDEN=1 pytest tests/report`, then read the difference.
"""

import os
from pathlib import Path

import pytest

from bisector.report import render
from bisector.report.outline import tool_version
from tests.example_results import EXAMPLES

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("suffix", ["text", "md"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_report_reads_as_agreed(name: str, suffix: str) -> None:
    shown = render(EXAMPLES[name], suffix).replace(f"bisector {tool_version()},", "bisector VERSION,")
    path = GOLDEN / f"{name}.{suffix}"
    if os.environ.get("BISECTOR_UPDATE_GOLDEN"):
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")


def test_no_golden_file_is_left_over() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {f"{name}.{s}" for name in EXAMPLES for s in ("text", "md")}
