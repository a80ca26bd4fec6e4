"""Compares two failures by class, frame and similarity of message."""

import re
from difflib import SequenceMatcher
from enum import StrEnum

from bisector.model import Signature


class Comparison(StrEnum):
    """How two failures compare.

    Only what is clearly different is DIFFERENT; UNSURE counts as the failure sought, and is listed.
    """

    SAME = "SAME"
    DIFFERENT = "DIFFERENT"
    UNSURE = "UNSURE"


ALIKE = 0.75
"""Messages at least so similar say the same."""
REMOTE = 0.35
"""Messages less similar than this say something else."""

_WORDS = re.compile(r"<\w+>|[A-Za-z_][\w.]*|[^\s\w]")
_NAMES = re.compile(r"(?<!\w)(?:'[^'\s]+'|\"[^\"\s]+\"|`[^`\s]+`)")
_TEST = re.compile(r"\.py::")
"""A test of pytest: a larger place than a line, in which one fault may be met as a warning or as its consequence."""
_RELATED = ({"ImportError", "ModuleNotFoundError"}, {"AttributeError", "ImportError"})


def similarity(one: str, other: str) -> float:
    """From 0 (nothing in common) to 1 (equal): the share of words that both have in the same order."""
    if one == other:
        return 1.0
    first, second = sorted((_WORDS.findall(one), _WORDS.findall(other)))
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def same_words(one: str, other: str) -> bool:
    """Whether two messages say the same: alike, and of the same names.

    Messages that differ in nothing but the name they quote are as alike as can be, and speak of two things.
    """
    first, second = set(_NAMES.findall(one)), set(_NAMES.findall(other))
    return similarity(one, other) >= ALIKE and (first <= second or second <= first)


def compare(a: Signature, b: Signature) -> Comparison:
    """Whether two failures are the same one."""
    if a == b:
        return Comparison.SAME
    if _ending(a) != _ending(b):
        return Comparison.DIFFERENT
    found = _compare_exceptions(a, b) if a.kind and b.kind else _compare_words(a, b)
    if found is Comparison.SAME and a.exit != b.exit:
        return Comparison.UNSURE
    return found


def _ending(signature: Signature) -> str:
    """timeout, build, signal or exit."""
    return signature.exit.partition(" ")[0]


def _compare_exceptions(a: Signature, b: Signature) -> Comparison:
    alike = similarity(a.message, b.message)
    related = any(a.kind in family and b.kind in family for family in _RELATED)
    same_frame = bool(a.frame) and a.frame == b.frame
    if a.kind != b.kind:
        near = alike >= ALIKE or (same_frame and (related or _TEST.search(a.frame) is not None))
        return Comparison.UNSURE if near else Comparison.DIFFERENT
    if same_frame or not (a.frame or b.frame):
        if same_words(a.message, b.message):
            return Comparison.SAME
        return Comparison.UNSURE if same_frame or alike >= REMOTE else Comparison.DIFFERENT
    return Comparison.UNSURE if alike >= ALIKE or not (a.frame and b.frame) else Comparison.DIFFERENT


def _compare_words(a: Signature, b: Signature) -> Comparison:
    if not a.message or not b.message:
        return Comparison.UNSURE
    alike = similarity(a.message, b.message)
    if a.kind or b.kind:
        return Comparison.UNSURE if alike >= ALIKE else Comparison.DIFFERENT
    if same_words(a.message, b.message):
        return Comparison.SAME
    return Comparison.UNSURE if alike >= REMOTE else Comparison.DIFFERENT
