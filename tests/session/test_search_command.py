"""What a search may be told, as typed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.local_index import LocalIndex


def run(directory: Path, index: LocalIndex, script: str, *options: str) -> tuple[int, dict[str, Any], str]:
    """Exit code, the JSON document, and standard error of `bisector run` over widget and gadget, releases 0 to 16."""
    for name in ("widget", "gadget"):
        for number in range(17):
            index.add(name, str(number))
    path = directory / "smoke.sh"
    path.write_text("#!/bin/sh\n" + script + "\n")
    path.chmod(0o755)
    return replay(directory, "--smoke", str(path), "--build-command", "true", "--index-url", index.url, *options)


def replay(directory: Path, *options: str) -> tuple[int, dict[str, Any], str]:
    """The same without a script of its own."""
    command = [sys.executable, "-m", "bisector", "run", *options, "--format", "json", "-q"]
    variables = {**os.environ, "XDG_STATE_HOME": str(directory / "state"), "XDG_CACHE_HOME": str(directory / "cache")}
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def test_a_measured_limit_and_a_record_judged_anew(tmp_path: Path, local_index: LocalIndex) -> None:
    script = 'if [ "$PIN_WIDGET" -lt 9 ]; then echo "tokens_per_second: 100"; else echo "tokens_per_second: 80"; fi'
    pins = ("--pin", "widget=0..16", "--metric", "tokens_per_second", "--regress", "-10%", "--suspect", "widget=9")
    code, result, _ = run(tmp_path, local_index, script, *pins)
    assert code == 0
    assert (result["culprit"]["old"], result["culprit"]["new"]) == ("8", "9")
    assert result["metric"]["limit"] == 90.0
    assert result["builds"] == 4
    code, again, _ = replay(tmp_path, "--replay", result["run_directory"], "--confidence", "0.95")
    assert code == 0
    assert again["culprit"] == result["culprit"]
    code, other, _ = replay(tmp_path, "--replay", result["run_id"], "--metric", "tokens_per_second>=70")
    assert code == 3
    assert "next would be widget=16 (bad end again)" in other["summary"]  # five passes do not yet clear the bad end
    code, _, said = replay(tmp_path, "--replay", result["run_id"], "--workers", "2")
    assert code == 2
    assert "--workers" in said


def test_the_fix_of_two_breakages_needs_both_pins(tmp_path: Path, local_index: LocalIndex) -> None:
    script = '[ "$PIN_WIDGET" -ge 5 ] && [ "$PIN_GADGET" -ge 9 ]'
    pins = ("--pin", "widget=0..16", "--pin", "gadget=0..16", "--first-good", "--all")
    code, result, _ = run(tmp_path, local_index, script, *pins)
    assert code == 0
    assert result["sought"] == "first-good"
    found = [result["culprit"], *result["further_culprits"]]
    assert {(each["pin"], each["old"], each["new"]) for each in found} == {("widget", "4", "5"), ("gadget", "8", "9")}
