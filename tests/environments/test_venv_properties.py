"""Whatever stands in a pin or a requirement, uv is given requirements and nothing else."""

from hypothesis import example, given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.version import Version

from bisector.environments.venv.failures import Cause, explain
from bisector.environments.venv.requirements import read_requirements
from bisector.environments.venv.resolution import pin_requirements
from bisector.model import Candidate, Ended
from bisector.request import RequirementsRequest
from pins.errors import UsageError

NEARLY_VERSIONS = st.text(alphabet="01.2ab rc+-;,<>=!*@$`'\"\n#[]()/", max_size=12)
NEARLY_NAMES = st.text(alphabet="aB1-_. \n@;[]<=/$", max_size=8)


@given(NEARLY_NAMES | st.text(max_size=8), NEARLY_VERSIONS | st.text(max_size=12))
@example("spam", "1.0+local.1")
@example("spam[extra]", "1!2.0rc1")
def test_a_pin_is_one_package_at_one_version_or_refused(name: str, value: str) -> None:
    try:
        [line] = pin_requirements(Candidate(((name, value),)))
    except UsageError:
        return
    requirement = Requirement(line.text)
    [specifier] = requirement.specifier
    assert line.text.isprintable()
    assert not line.text.startswith("-")
    assert requirement.url is None
    assert requirement.marker is None
    assert specifier.operator == "=="
    assert Version(specifier.version) == Version(value.strip())


@given(st.text(alphabet="ab1-_. \n\t@;[]<=>/$#\\{}:'\"r", max_size=40))
def test_a_further_requirement_is_one_line_that_is_no_option_or_refused(text: str) -> None:
    try:
        base = read_requirements(RequirementsRequest(requirements=(text,)), {})
    except UsageError:
        return
    [line] = base.requirements
    assert line.text.isprintable()
    assert not line.text.startswith("-")
    assert "\n" not in line.text


@given(st.text(max_size=400), st.sampled_from([1, 2]))
def test_nothing_that_uv_has_never_said_is_held_against_a_candidate(printed: str, status: int) -> None:
    failure = explain(Ended(status, errors=printed))
    telling = ("No solution found", "build", "etadata", "ETADATA", "heel", "ECORD", "ecord", "dist-info", "xtract")
    assert failure.cause is Cause.ENVIRONMENT or any(word.lower() in printed.lower() for word in telling)
