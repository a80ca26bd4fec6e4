"""Only what is clearly different is DIFFERENT."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisector.model import Signature
from bisector.signature import Comparison, compare

SAME, DIFFERENT, UNSURE = Comparison.SAME, Comparison.DIFFERENT, Comparison.UNSURE

GONE = Signature(
    "exit 1", "AttributeError", "module 'numpy' has no attribute 'float'", "a = np.zeros(3, dtype=np.float)"
)
REWORDED = Signature(
    "exit 1",
    "AttributeError",
    "module 'numpy' has no attribute 'float'. `np.float` was a deprecated alias for the builtin `float`.",
    "a = np.zeros(3, dtype=np.float)",
)


def but(signature: Signature, **changes: str) -> Signature:
    fields = {"exit": signature.exit, "kind": signature.kind, "message": signature.message, "frame": signature.frame}
    return Signature(**{**fields, **changes})


PAIRS = [
    ("equal", GONE, GONE, SAME),
    ("reworded", GONE, REWORDED, UNSURE),
    ("wholly reworded", GONE, but(GONE, message="this alias expired long ago"), UNSURE),
    ("class moved within its family", but(GONE, kind="ImportError"), but(GONE, kind="ModuleNotFoundError"), UNSURE),
    ("another class at the frame", GONE, but(GONE, kind="TypeError", message="expected int"), DIFFERENT),
    ("another class, same words", GONE, but(GONE, kind="PendingRemovalError"), UNSURE),
    ("another place, other words", GONE, but(GONE, frame="x = 1", message="no y in z"), DIFFERENT),
    ("another place, same words", GONE, but(GONE, frame="b = np.ones(3, dtype=np.float)"), UNSURE),
    ("frame unknown, same words", GONE, but(GONE, frame=""), UNSURE),
    ("another status", GONE, but(GONE, exit="exit 2"), UNSURE),
    ("crash instead", GONE, Signature("signal SIGSEGV"), DIFFERENT),
    ("crash in two ways", Signature("signal SIGABRT"), Signature("signal SIGSEGV"), UNSURE),
    ("time out instead", GONE, Signature("timeout"), DIFFERENT),
    ("time out", Signature("timeout"), Signature("timeout"), SAME),
    ("does not build", GONE, but(GONE, exit="build"), DIFFERENT),
    (
        "last words alike",
        Signature("exit 3", "", "load failed after <time>"),
        Signature("exit 3", "", "load failed"),
        UNSURE,
    ),
    ("last words apart", Signature("exit 3", "", "load failed"), Signature("exit 3", "", "loss is nan"), DIFFERENT),
    ("silent", Signature("exit 3"), Signature("exit 3"), SAME),
    ("one silent", Signature("exit 3"), Signature("exit 3", "", "load failed"), UNSURE),
    ("exception against words", GONE, Signature("exit 1", "", "no device found"), DIFFERENT),
    (
        "another attribute, no frame",
        but(GONE, frame=""),
        but(GONE, frame="", message="module 'numpy' has no attribute 'int'"),
        UNSURE,
    ),
]


@pytest.mark.parametrize(("one", "other", "expected"), [pair[1:] for pair in PAIRS], ids=[pair[0] for pair in PAIRS])
def test_two_failures(one: Signature, other: Signature, expected: Comparison) -> None:
    assert compare(one, other) is expected
    assert compare(other, one) is expected


WORDS = st.lists(st.sampled_from(["no", "attribute", "'x'", "'y'", "<n>", "module", "a.b", "é"]), max_size=8).map(
    " ".join
)
SIGNATURES = st.builds(
    Signature,
    exit=st.sampled_from(["exit 1", "exit 2", "signal SIGSEGV", "timeout", "build"]),
    kind=st.sampled_from(["", "TypeError", "ImportError", "ModuleNotFoundError"]),
    message=WORDS,
    frame=st.sampled_from(["", "f(x)", "g(y)"]),
)


@given(SIGNATURES, SIGNATURES)
def test_comparing_is_symmetric(one: Signature, other: Signature) -> None:
    assert compare(one, other) is compare(other, one)


@given(SIGNATURES)
def test_every_failure_is_the_same_as_itself(one: Signature) -> None:
    assert compare(one, one) is SAME


@given(SIGNATURES, WORDS)
def test_a_reworded_message_at_the_same_frame_is_never_different(one: Signature, message: str) -> None:
    if one.kind and one.frame:
        assert compare(one, but(one, message=message)) is not DIFFERENT
