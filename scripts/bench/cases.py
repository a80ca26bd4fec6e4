"""Run the real regressions of tests/cases through the command line, and print what each cost.

    scripts/bench/cases [--group A] [--only NAME ...] [--quick]

Group C bisects commits: PINS_HISTORIES names a directory of clones (`<owner>+<name>/repo`, or `<name>`).

For each case: the answer, whether it is right, builds (the swap test's apart), the bound ceil(log2 S) + 2 on S steps,
runs of the script and seconds. Exit code 1 where an answer is wrong.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bisector.model import short_text  # noqa: E402
from tests.real_cases import Case, load_cases  # noqa: E402


def run(case: Case, directory: str) -> tuple[dict[str, Any] | None, float, str]:
    """The result document, the seconds it took, and what went wrong."""
    command = [sys.executable, "-m", "bisector", "run", *case.options(), "--format", "json", "-q"]
    started = time.monotonic()
    done = subprocess.run(
        [*command, "--run-dir", f"{directory}/{case.name}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    seconds = time.monotonic() - started
    try:
        return json.loads(done.stdout), seconds, ""
    except json.JSONDecodeError:
        return None, seconds, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"


def describe(result: dict[str, Any]) -> str:
    """The answer in one cell."""
    if result["verdict"] == "culprit":
        culprit = result["culprit"]
        return f"{culprit['pin']} {short_text(culprit['old'])} -> {short_text(culprit['new'])}"
    if result["verdict"] == "range":
        return "range " + ", ".join(f"{step['old']} -> {step['new']}" for step in result["range"])
    return str(result["verdict"])


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", choices=["A", "B", "C"])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--quick", action="store_true", help="leave out those whose probes take over 5 s")
    options = parser.parse_args()
    wrong = 0
    print(f"{'case':38} {'answer':46} {'right':5} {'builds':>6} {'bound':>5} {'swap':>4} {'runs':>4} {'s':>6}")
    with tempfile.TemporaryDirectory(prefix="bisector-cases-") as directory:
        for case in load_cases():
            if options.group not in (None, case.group) or (options.only and case.name not in options.only):
                continue
            if options.quick and case.seconds > 5:
                continue
            if case.group == "C" and case.repository is None:
                print(
                    f"{case.name:38} left out: PINS_HISTORIES names no directory with a clone of {case.facts['repo']}"
                )
                continue
            result, seconds, problem = run(case, directory)
            if result is None:
                wrong += 1
                print(
                    f"{case.name:38} {problem[:46]:46} {'no':5} {'':6} {'':5} {'':4} {'':4} {seconds:6.0f}", flush=True
                )
                continue
            right = case.right(result)
            wrong += not right
            tried = [probe for probe in result["probes"] if probe["input_hash"] and probe["build_log"]]
            on_chain = sum(1 for probe in tried if probe["step"] is not None)
            swap = result["builds"] - on_chain
            bound = math.ceil(math.log2(result["chain_length"] - 1)) + 2
            print(
                f"{case.name:38} {describe(result)[:46]:46} {'yes' if right else 'NO':5} {on_chain:6} {bound:5}"
                f" {swap:4} {result['runs']:4} {seconds:6.0f}",
                flush=True,
            )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
