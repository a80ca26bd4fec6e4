"""What a plan proposes to reuse, from what earlier builds took."""

import json
import subprocess
import sys
from pathlib import Path

from bisector.entries import BuildStatus
from bisector.journal import Journal
from bisector.model import Build, Candidate, Ended
from bisector.smoke import Observation
from bisector.stage_times import StageTime, proposals, stage_seconds, stage_times
from tests.docker.docker_setting import variables_of_its_own
from tests.docker.test_file_candidates import SLOW
from tests.file_axes.small_repository import SmallRepository

LOG = """\
#1 [internal] load build definition from Dockerfile
#1 DONE 0.1s
#4 [base 1/2] FROM docker.io/library/x
#4 CACHED
#5 [base 2/2] RUN pip install x
#5 0.512 Collecting x
#5 0.600 #9 [slow 2/2] RUN printed by a step
#5 DONE 3.5s
#6 [slow 1/1] RUN cc
#7 [stage-3 1/2] COPY --from=slow /a /a
#6 12.00 cc
#6 DONE 7200.0s
#7 DONE 1.5s
#8 [stage-3 2/2] RUN y
#8 DONE 2.0s
"""


def test_the_seconds_of_stages_are_read_from_a_log() -> None:
    assert stage_seconds(LOG) == {"base": 3.5, "slow": 7200.0, "3": 3.5}
    assert stage_seconds("#5 [2/2] RUN x\n#5 DONE 1.0s\n") == {"0": 1.0}
    assert stage_seconds("Step 1/2 : FROM x\n") == {}


def test_what_a_stage_costs_is_its_median_and_how_often_it_was_built() -> None:
    found = stage_times([{"slow": 10.0, "a": 1.0}, {"slow": 20.0}, {"slow": 90.0}, {"a": 3.0}])
    assert found == {"slow": StageTime(20.0, 0.75), "a": StageTime(2.0, 0.5)}
    assert stage_times([]) == {}


def test_what_saves_most_is_proposed_first_and_what_saves_little_is_not() -> None:
    times = {"slow": StageTime(7200.0, 1.0), "wheel": StageTime(600.0, 1.0), "seldom": StageTime(7200.0, 0.2)}
    reusable = {"slow": False, "wheel": False, "seldom": False, "final": True}
    first, second = proposals(times, reusable, builds=9)
    assert first.startswith("--reuse-stage slow would save about 12 h")
    assert "3 times in place of about 9, at 2 h" in first
    assert second.startswith("--reuse-stage wheel would save about 1 h")
    assert proposals(times, reusable, builds=3) == []
    [over] = proposals({"final": StageTime(600.0, 1.0)}, reusable, builds=9)
    assert "takes the finished image once and puts packages over it" in over


def earlier_run(state: Path, dockerfile: Path) -> None:
    """A run of this Dockerfile, whose slow stage took two hours in each of its builds."""
    directory = state / "bisector" / "runs" / "20260101-000000-aaaa"
    (directory / "logs").mkdir(parents=True)
    request = json.dumps({"docker": {"dockerfile": str(dockerfile)}})
    journal = Journal(directory / "journal.sqlite", facts={"environment": "docker", "request": request})
    for number in range(3):
        entry = journal.add_probe(Candidate((("tool", f"1.{number}"),)), "search")
        (directory / "logs" / f"{entry.id}.log").write_text(LOG)
        built = journal.start_build(entry.id, f"logs/{entry.id}.log")
        journal.end_build(built, BuildStatus.BUILT, 7300.0, build=Build(f"hash{number}", "sha256:0"))
        ran = journal.start_run(entry.id, "search", "log", "output", "host")
        journal.end_run(ran, Ended(0, seconds=5.0), Observation("pass"))
    journal.close()


def test_a_plan_proposes_to_reuse_the_stage_that_took_hours(tmp_path: Path) -> None:
    repository = SmallRepository(tmp_path / "repository")
    for number in range(40):
        repository.commit(SLOW.format(tool=f"1.{number}"))
    earlier_run(tmp_path / "state", repository.dockerfile)
    words = ("--dockerfile", str(repository.dockerfile), "--good", repository.revisions[0], "--bad", "HEAD", "--plan")
    variables = variables_of_its_own(tmp_path)

    def planned(*more: str) -> str:
        command = [sys.executable, "-m", "bisector", "run", *words, *more]
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout

    said = planned()
    assert "--reuse-stage slow would save about 10 h" in said, "8 builds at 2 h, but for three"
    assert "--reuse-stage base" not in said, "what moves is used there alone"
    assert "--reuse-stage final" not in said, "what moves is no package of it"
    assert "would save" not in planned("--reuse-stage", "slow")
