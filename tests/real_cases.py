"""The real regressions under tests/cases, and how each is asked of the command line."""

import itertools
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases"
HISTORIES = os.environ.get("PINS_HISTORIES", "")
"""A directory of clones of public repositories (`<owner>+<name>/repo`, or `<name>`), for the cases of group C."""


@dataclass(frozen=True)
class Case:
    """One real regression.

    Attributes:
        name: its folder.
        facts: case.json.
    """

    name: str
    facts: dict[str, Any]

    @property
    def directory(self) -> Path:
        return CASES / self.name

    @property
    def group(self) -> str:
        return str(self.facts["group"])

    @property
    def kind(self) -> str:
        return str(self.facts["kind"])

    @property
    def seconds(self) -> float:
        """What one probe took when the case was recorded."""
        return float(self.facts["seconds_per_probe"])

    def options(self) -> list[str]:
        """The words after `bisector run`."""
        words = []
        for pin, ends in self.facts["packages"].items():
            words += ["--pin", f"{pin}={ends['good']}..{ends['bad']}"]
        if self.group == "C":
            words += self._repository_options()
        for requirement in self.facts["extra_requirements"]:
            words += ["--with", requirement]
        for requirement in self.facts.get("build_constraints", ()):
            words += ["--build-constraint", requirement]
        for name, value in self.facts.get("env", {}).items():
            words += ["--smoke-env", f"{name}={value}"]
        return [*words, "--python", self.facts["python"], "--smoke", str(self.directory / "smoke.py")]

    @property
    def repository(self) -> Path | None:
        """The clone of the case's repository, None where there is none (PINS_HISTORIES)."""
        name = str(self.facts["repo"]).removeprefix("github:")
        places = (Path(HISTORIES) / name.replace("/", "+") / "repo", Path(HISTORIES) / name.split("/")[1])
        return next((place for place in places if HISTORIES and place.is_dir()), None)

    def _repository_options(self) -> list[str]:
        (pin,) = self.facts["packages"]
        words = ["--repo", f"{pin}={self.repository}"]
        if self.facts.get("install_mode") == "none":
            words += ["--checkout-only", pin]
        for path in self.facts.get("tree_must_have", ()):
            words += ["--require-path", path]
        return words

    def right(self, result: dict[str, Any]) -> bool:
        """Whether a `bisector.result/1` document gives the case's answer."""
        answer = self.facts["first_bad"]
        untestable = self.facts.get("uninstallable_candidates") or (
            ["5.4", "5.4.1"] if self.kind.endswith("unbuildable-versions") else []
        )
        if untestable:
            versions = [self.facts["predecessor"], *untestable, answer["version"]]
            steps = [(step["pin"], step["old"], step["new"]) for step in result["range"]]
            expected = [(answer["package"], old, new) for old, new in itertools.pairwise(versions)]
            return bool(result["verdict"] == "range" and steps == expected)
        if result["verdict"] != "culprit":
            return False
        if isinstance(answer, list):  # several pins: the culprit, what moves with it, and its partners
            named = {move["pin"] for move in result["culprit"]["moves"]}
            named |= {partner["pin"] for partner in result["culprit"]["partners"]}
            if self.kind == "joint-pair":  # each of the two at its own first bad version
                found = {(result["culprit"]["pin"], result["culprit"]["new"])}
                found |= {(partner["pin"], partner["value"]) for partner in result["culprit"]["partners"]}
                return bool(found == {(one["package"], one["version"]) for one in answer})
            return bool({result["culprit"]["pin"]} <= {one["package"] for one in answer} <= named)
        culprit = result["culprit"]
        if self.group == "C":  # of two commits that each bring it, a range's first parents lead to one
            return culprit["new"] in [answer["commit"], *self.facts.get("acceptable_first_bad", ())]
        acceptable = self.facts.get("acceptable_first_bad") or [answer["version"]]
        return culprit["pin"] == answer["package"] and culprit["new"] in acceptable


def load_cases() -> list[Case]:
    """Every case, by name."""
    return [
        Case(path.parent.name, json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(CASES.glob("*/case.json"))
    ]
