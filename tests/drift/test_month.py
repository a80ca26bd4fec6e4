"""A simulated month: each rule fires once when it should, is quiet between, and resolves when its cause is gone."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pins.drift.report import State
from pins.drift.table import RULES
from tests.drift.month.stories import STORIES, News
from tests.drift.month.world import world

DAYS = 30
OUTAGES: Mapping[str, frozenset[int]] = {
    "git": frozenset({3, 5, 8, 9, 12, 13, 20}),
    "index": frozenset({4, 15, 16, 18, 19}),
    "server": frozenset({7, 9, 10, 13}),
}
"""Days on which a source does not answer: those on which something begins or ends there are among them."""


def month(room: Path, outages: Mapping[str, frozenset[int]]) -> tuple[list[News], frozenset[int]]:
    """What is new or resolved on each day, and the days on which something could not be told."""
    news: list[News] = []
    incomplete = set()
    with world(room) as here:
        for story in STORIES:
            story.begin(here)
        for here.day in range(DAYS):
            for source in outages:
                here.out(source, is_out=False)  # what happens there happens all the same
            for story in STORIES:
                if here.day in story.happenings:
                    story.happenings[here.day](here)
            for source, days in outages.items():
                here.out(source, is_out=here.day in days)
            report = here.check()
            for reported in report.findings:
                if reported.state in {State.NEW, State.RESOLVED}:
                    one = reported.finding
                    pin = one.pin.replace(here.server.host, "SERVER")
                    news.append(News(here.day, reported.state.value, one.rule, pin, one.bucket))
            if not report.complete:
                incomplete.add(here.day)
    return sorted(news), frozenset(incomplete)


def expected(outages: Mapping[str, frozenset[int]]) -> list[News]:
    """The news of all stories, each on the first day, from its own on, on which its source answers."""

    def day_of(one: News, source: str) -> int:
        silent = outages.get(source, frozenset()) if one.asks else frozenset()
        return next(day for day in range(one.day, DAYS) if day not in silent)

    return sorted(replace(one, day=day_of(one, story.source)) for story in STORIES for one in story.news)


@pytest.mark.slow
def test_every_rule_is_news_once_when_its_cause_comes_and_once_when_it_goes(tmp_path: Path) -> None:
    news, incomplete = month(tmp_path, {})
    assert news == expected({})
    assert not incomplete


def test_outages_delay_news_and_neither_lose_nor_resolve_any(tmp_path: Path) -> None:
    news, incomplete = month(tmp_path, OUTAGES)
    assert news == expected(OUTAGES)
    assert incomplete == frozenset().union(*OUTAGES.values())


def test_every_rule_has_its_story() -> None:
    told = [one for story in STORIES for one in story.news]
    for state in ("new", "resolved"):
        assert {one.rule for one in told if one.state == state} == {rule.id for rule in RULES}
