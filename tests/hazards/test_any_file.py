"""Whatever stands in a file, the check ends, and says where."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pins.hazards.check import check
from pins.hazards.fixing import fix
from pins.hazards.table import RULES
from tests.hazards.subjects import subject_of

LINES = sorted({line for rule in RULES for text in (rule.bad.text, rule.good.text) for line in text.splitlines()})
broken = st.builds(
    lambda line, at, junk: line[:at] + junk + line[at:],
    st.sampled_from(LINES),
    st.integers(0, 80),
    st.sampled_from(["", "\\", '"', "'", "#", "$", "${", "`", "<<EOF", "\t", "é", "||", ";", "&&", ">"]),
)
files = st.lists(st.one_of(st.sampled_from(LINES), broken), max_size=12).map(lambda lines: "\n".join(lines) + "\n")


@settings(deadline=None, max_examples=150)
@given(files)
def test_the_check_ends_and_its_places_lie_in_the_file(text: str) -> None:
    subject = subject_of(text)
    hazards = check([subject], RULES)
    count = text.count("\n") + 1
    for hazard in hazards:
        assert 1 <= hazard.line <= hazard.end_line <= count
        assert hazard.column >= 1
        assert hazard.summary
        assert hazard.fix
    assert len({h.fingerprint for h in hazards}) == len(hazards)


@settings(deadline=None, max_examples=100)
@given(files)
def test_edits_never_overlap_and_leave_the_rest_alone(text: str) -> None:
    subject = subject_of(text)
    done = fix(subject, check([subject], RULES))
    if not done.fixed:
        assert done.after == done.before
    touched = {
        line for h in done.fixed for edit in h.edits for line in (subject.line(edit.start), subject.line(edit.end))
    }
    kept = [line for number, line in enumerate(text.splitlines(), 1) if number not in touched]
    after = done.after.decode().splitlines()
    position = 0
    for line in kept:  # the untouched lines stand there still, in their order
        position = after.index(line, position) + 1
