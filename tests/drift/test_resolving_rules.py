"""Pins that do not resolve together any more, newer releases that fit, and distributions that differ between stages."""

from pathlib import Path

import pytest

from pins.drift.model import Tools
from pins.drift.readings import resolution
from pins.drift.resolved import Resolved
from pins.drift.rules.resolving import NEWER_INSIDE, UNRESOLVABLE_PINS
from pins.drift.rules.skew import SKEW
from pins.hazards.model import Severity
from tests.drift.watched import Upstream, Watched, days, only
from tests.local_index import LocalIndex


@pytest.fixture
def watched(tmp_path: Path, local_index: LocalIndex) -> Watched:
    return Watched(tmp_path / "project", local_index.url)


def image(*requirements: str) -> dict[str, str]:
    return {"Dockerfile": f"FROM python:3.12-bookworm\nRUN pip install {' '.join(requirements)}\n"}


# -- newer releases ----------------------------------------------------------------------------------------------------


def test_a_newer_release_that_fits_everything_else_until_it_is_pinned(
    watched: Watched, local_index: LocalIndex
) -> None:
    local_index.add("spam", "1.0", upload_time=days(-30))
    local_index.add("eggs", "1.0", requires=["spam<3"], upload_time=days(-30))
    watched.write(image("spam==1.0", "eggs==1.0"))
    assert watched.findings(NEWER_INSIDE) == []
    local_index.add("spam", "3.0", upload_time=days(-2))  # eggs takes none of it
    local_index.add("spam", "2.0rc1", upload_time=days(-2))
    assert watched.findings(NEWER_INSIDE) == []
    local_index.add("spam", "2.0", upload_time=days(-1))
    newer = only(watched.findings(NEWER_INSIDE))
    assert (newer.pin, newer.bucket, newer.severity) == ("spam", "2.0", Severity.NOTE)
    assert newer.summary == "spam 2.0 fits everything else here, and 1.0 is pinned; 3.0, the newest, does not"
    watched.write(image("spam==2.0", "eggs==1.0"))
    assert watched.findings(NEWER_INSIDE) == []


def test_what_is_inside_is_kept_while_nothing_changes_and_asked_again_when_something_does(
    watched: Watched, local_index: LocalIndex
) -> None:
    for version in ("1.0", "2.0"):
        local_index.add("spam", version, upload_time=days(-30))
    watched.write(image("spam==1.0"))
    first = only(watched.findings(NEWER_INSIDE))
    asked = len(local_index.requests)
    watched.now = days(0.5)  # of the same week
    assert only(watched.findings(NEWER_INSIDE)).id == first.id
    again = [request.path for request in local_index.requests[asked:]]
    assert again == ["/simple/spam/"]
    local_index.add("spam", "3.0", upload_time=days(-1))
    assert only(watched.findings(NEWER_INSIDE)).bucket == "3.0"


def test_pins_for_other_systems_and_pre_releases_that_are_pinned_stay_what_they_are(
    watched: Watched, local_index: LocalIndex
) -> None:
    for version in ("1.0", "2.0"):
        local_index.add("spam", version, upload_time=days(-30))
    local_index.add("eggs", "1.0b1", upload_time=days(-30))
    local_index.add("eggs", "1.0", yanked="no", upload_time=days(-30))
    local_index.add("bacon", "1.0", requires=["spam<2"], upload_time=days(-30))
    elsewhere = """'bacon==1.0; sys_platform == "win32"'"""
    watched.write(image("spam==1.0", "eggs==1.0b1", elsewhere))
    assert only(watched.findings(NEWER_INSIDE, UNRESOLVABLE_PINS)).pin == "spam"


def test_a_pin_that_was_yanked_has_newer_ones_too(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", upload_time=days(-30), yanked="broken")
    local_index.add("spam", "1.1", upload_time=days(-20))
    watched.write(image("spam==1.0"))
    assert only(watched.findings(NEWER_INSIDE, UNRESOLVABLE_PINS)).bucket == "1.1"


def test_a_hold_keeps_newer_releases_outside(watched: Watched, local_index: LocalIndex) -> None:
    for version in ("1.0", "2.0"):
        local_index.add("spam", version, upload_time=days(-30))
    hold = '[[hold]]\npin = "spam"\nrequirement = "spam<2"\nreason = "it fails"\n'
    watched.write(image("spam==1.0") | {"pins.toml": hold})
    assert watched.findings(NEWER_INSIDE) == []


def test_an_index_that_is_down_leaves_it_open(watched: Watched, local_index: LocalIndex) -> None:
    for version in ("1.0", "2.0"):
        local_index.add("spam", version, upload_time=days(-30))
    watched.write(image("spam==1.0"))
    local_index.fail_with(503)
    assert len(watched.unknown(NEWER_INSIDE, UNRESOLVABLE_PINS)) == 2


# -- pins that do not resolve ------------------------------------------------------------------------------------------


def test_pins_that_do_not_resolve_together_any_more_until_they_do(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", upload_time=days(-30))
    local_index.add("eggs", "1.0", requires=["spam"], upload_time=days(-30))
    watched.write(image("spam==1.0", "eggs"))
    assert watched.findings(UNRESOLVABLE_PINS) == []
    local_index.remove("eggs")
    local_index.add("eggs", "2.0", requires=["spam>=2"], upload_time=days(-1))
    broken = only(watched.findings(UNRESOLVABLE_PINS))
    assert (broken.severity, broken.file) == (Severity.ERROR, str(watched.root / "Dockerfile"))
    assert any("eggs 2.0 requires spam>=2" in line for line in broken.evidence)
    assert only(watched.findings(UNRESOLVABLE_PINS)).id == broken.id
    local_index.add("spam", "2.0", upload_time=days(0))
    watched.write(image("spam==2.0", "eggs"))
    assert watched.findings(UNRESOLVABLE_PINS) == []


def test_what_does_not_fit_an_unknown_python_is_no_fault_of_the_pins(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", requires_python=">=3.99", upload_time=days(-30))
    watched.write({"Dockerfile": "FROM rocm/primus:v26.4\nRUN pip install spam==1.0\n"})
    (reason,) = watched.unknown(UNRESOLVABLE_PINS)
    assert reason.startswith("the Python of the base image is not known")
    watched.write(image("spam==1.0"))
    assert only(watched.findings(UNRESOLVABLE_PINS)).severity is Severity.ERROR


def test_what_no_configured_index_has_may_be_on_another(watched: Watched) -> None:
    watched.write(image("spam==1.0"))
    (reason,) = watched.unknown(UNRESOLVABLE_PINS)
    assert reason.startswith("what no index that is configured here has may be on another")


def test_a_build_of_a_version_that_no_configured_index_has_may_be_on_another(
    watched: Watched, local_index: LocalIndex
) -> None:
    local_index.add("torch", "2.13.0", upload_time=days(-30))
    watched.write(image("torch==2.13.0+rocm7.2"))
    (reason,) = watched.unknown(UNRESOLVABLE_PINS)
    assert reason.startswith("what no index that is configured here has may be on another")


def test_stages_that_fail_alike_are_told_once(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", upload_time=days(-30))
    local_index.add("eggs", "1.0", requires=["spam>=2"], upload_time=days(-30))
    text = image("spam==1.0", "eggs")["Dockerfile"].replace("bookworm", "bookworm AS one")
    local_index.add("ham", "1.0", upload_time=days(-30))
    watched.write({"Dockerfile": f"{text}FROM one AS two\nRUN pip install ham\n"})
    assert "the pins of stage one and 1 other do not resolve" in only(watched.findings(UNRESOLVABLE_PINS)).summary


def test_an_editable_install_names_a_directory_and_no_package(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", upload_time=days(-30))
    watched.write({"Dockerfile": image("spam==1.0")["Dockerfile"] + 'RUN cd /src && pip install -e "python[all]"\n'})
    assert watched.findings(UNRESOLVABLE_PINS) == []


def test_requirements_that_a_command_edits_first_may_be_others(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", upload_time=days(-30))
    local_index.add("eggs", "1.0", requires=["spam>=2"], upload_time=days(-30))
    text = image("spam==1.0")["Dockerfile"] + "COPY requirements.txt /tmp/requirements.txt\n"
    edit = "RUN sed -i '/eggs/d' /tmp/requirements.txt && pip install -r /tmp/requirements.txt\n"
    watched.write({"docker/Dockerfile": text + edit, "requirements.txt": "eggs==1.0\n"})
    (one,) = [c for c in watched.check(UNRESOLVABLE_PINS) if c.about.place == "docker/Dockerfile"]
    assert "edits this file before it is used" in one.outcome.unknown


def test_the_python_of_a_file_may_be_told_by_its_paths(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", requires_python="==3.10.*", upload_time=days(-30))
    patched = "RUN patch -p1 -d /opt/venv/lib/python3.10/site-packages < /tmp/x.patch\n"
    text = f"FROM rocm/primus:v26.4\nRUN pip install spam==1.0\n{patched}"
    watched.write({"Dockerfile": text})
    assert watched.findings(UNRESOLVABLE_PINS) == []
    watched.write({"Dockerfile": text.replace("3.10", "3.9")})  # which may be for a case that never comes
    assert len(watched.unknown(UNRESOLVABLE_PINS)) == 1


# -- stages that differ ------------------------------------------------------------------------------------------------

STAGES = """\
FROM ubuntu:22.04 AS base
RUN pip install -U {base}
FROM base AS build_widget
RUN git clone --branch v1.0 {url} && cd widget && pip install -r requirements.txt && python3 setup.py bdist_wheel
FROM base AS final
RUN --mount=type=bind,from=build_widget,source=/widget/dist,target=/install pip install /install/*.whl
"""


@pytest.fixture
def widget(tmp_path: Path) -> Upstream:
    upstream = Upstream(tmp_path / "upstream" / "widget")
    upstream.commit("release", days(-60), {"requirements.txt": "pybind11==3.0.4\n", "setup.py": "# none\n"})
    upstream.git("tag", "v1.0")
    return upstream


def test_a_stage_that_pins_by_the_requirements_of_its_checkout_parts_from_one_that_floats(
    watched: Watched, local_index: LocalIndex, widget: Upstream
) -> None:
    local_index.add("pybind11", "3.0.4", upload_time=days(-90))
    watched.write({"Dockerfile": STAGES.format(base="pybind11", url=widget.url)})
    assert watched.findings(SKEW) == []
    local_index.add("pybind11", "3.1.0", upload_time=days(-1))
    skew = only(watched.findings(SKEW))
    assert (skew.pin, skew.bucket, skew.severity) == ("pybind11", "3.0 and 3.1", Severity.WARNING)
    assert "stage build_widget ends with 3.0.4 (widget@v1.0:requirements.txt:1); stage final has 3.1.0 (line 2)" in (
        skew.summary
    )
    local_index.add("pybind11", "3.1.1", upload_time=days(0))
    assert only(watched.findings(SKEW)).id == skew.id
    watched.write({"Dockerfile": STAGES.format(base="'pybind11<3.1.0'", url=widget.url)})
    assert watched.findings(SKEW) == []


def test_a_stage_keeps_what_fits_and_is_not_asked_to_upgrade(
    watched: Watched, local_index: LocalIndex, widget: Upstream
) -> None:
    for version in ("3.0.4", "3.1.0"):
        local_index.add("pybind11", version, upload_time=days(-90))
    text = STAGES.format(base="pybind11==3.0.4", url=widget.url)
    watched.write({"Dockerfile": text + "RUN pip install 'pybind11>=3'\n"})
    assert watched.findings(SKEW) == []
    watched.write({"Dockerfile": text + "RUN pip install -U 'pybind11>=3'\n"})
    assert only(watched.findings(SKEW)).bucket == "3.0 and 3.1"


def test_a_repository_that_is_out_leaves_skew_open(watched: Watched, local_index: LocalIndex, widget: Upstream) -> None:
    for version in ("3.0.4", "3.1.0"):
        local_index.add("pybind11", version, upload_time=days(-90))
    watched.write({"Dockerfile": STAGES.format(base="pybind11", url=widget.url)})
    with widget.out():
        (reason,) = watched.unknown(SKEW)
    assert "what stage build_widget installs from requirements.txt of widget" in reason
    assert only(watched.findings(SKEW)).pin == "pybind11"


def test_what_compiled_modules_do_not_share_is_a_note(watched: Watched, local_index: LocalIndex) -> None:
    for version in ("79.0", "80.0"):
        local_index.add("setuptools", version, upload_time=days(-90))
    text = "FROM ubuntu AS a\nRUN pip install setuptools==79.0\nFROM ubuntu AS b\nRUN pip install setuptools==80.0\n"
    watched.write({"Dockerfile": text + "COPY --from=a /x /x\n"})
    assert only(watched.findings(SKEW)).severity is Severity.NOTE


def test_images_that_are_built_beside_each_other_are_compared_by_what_compiled_modules_share(
    watched: Watched, local_index: LocalIndex
) -> None:
    for version in ("3.0.4", "3.1.0"):
        local_index.add("pybind11", version, upload_time=days(-90))
        local_index.add("tqdm", version, upload_time=days(-90))
    first, second = "FROM ubuntu:22.04\nRUN pip install pybind11 tqdm\n", "FROM base\nRUN pip install {} tqdm==3.0.4\n"
    files = {"docker/Dockerfile.base": first, "docker/Dockerfile": second.format("pybind11==3.0.4")}
    watched.write(files | {"other/Dockerfile": second.format("pybind11==3.0.4")})
    skew = only(watched.findings(SKEW))
    assert (skew.pin, skew.bucket, skew.severity) == ("pybind11@docker", "3.0 and 3.1", Severity.NOTE)
    watched.write({"docker/Dockerfile": second.format("pybind11")})
    assert watched.findings(SKEW) == []


def test_what_stays_unknown_is_not_solved_again_before_something_changes(
    watched: Watched, local_index: LocalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    local_index.add("spam", "1.0", requires_python=">=3.99", upload_time=days(-30))
    local_index.add("spam", "1.1", requires_python=">=3.99", upload_time=days(-30))
    watched.write({"Dockerfile": "FROM rocm/primus:v26.4\nRUN pip install spam==1.0\n"})
    first = watched.unknown(UNRESOLVABLE_PINS, NEWER_INSIDE)
    assert len(first) == 2
    solved: list[str] = []
    resolved = resolution.Resolution.read

    def counting(self: resolution.Resolution, tools: Tools) -> Resolved:
        solved.append(self.place)
        return resolved(self, tools)

    monkeypatch.setattr(resolution.Resolution, "read", counting)
    assert watched.unknown(UNRESOLVABLE_PINS, NEWER_INSIDE) == first
    assert solved == []
    local_index.add("spam", "1.2", upload_time=days(0))
    watched.now = days(1)  # of the same week
    watched.unknown(UNRESOLVABLE_PINS)
    assert solved == ["Dockerfile"]


def test_what_could_not_be_read_this_time_is_solved_again(watched: Watched, local_index: LocalIndex) -> None:
    local_index.add("spam", "1.0", requires=["eggs"], upload_time=days(-30))
    local_index.add("eggs", "1.0", setup_py="raise SystemExit(1)", upload_time=days(-30))
    watched.write(image("spam==1.0"))
    [one] = watched.check(UNRESOLVABLE_PINS)
    assert one.outcome.unknown
    assert one.outcome.remember is None
