import asyncio
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from pins.drift.checking import check_all
from pins.drift.model import About, Check, Json, Observations, Outcome, Subject, Tools, finding, found, ok
from pins.drift.observing import Observer
from pins.drift.rules.rule import ListedRule
from pins.errors import SourceError, UsageError
from pins.hazards.model import Severity
from pins.sources.http_reader import TryAgainError

NO_TOOLS: Tools = None  # type: ignore[assignment]
SUBJECT = Subject((), datetime(2026, 8, 1, tzinfo=UTC))


@dataclass(frozen=True)
class Asked:
    """A reading that does what it is told to."""

    name: str
    host: str = "example.org"
    does: Callable[[], str] = field(default=lambda: "seen", compare=False)

    def read(self, tools: Tools) -> str:
        return self.does()


def observe(*readings: Asked, at_once: int = 8) -> list[str | BaseException]:
    async def all_of_them() -> list[str | BaseException]:
        observer = Observer(NO_TOOLS, at_once=at_once)
        try:
            return await asyncio.gather(*(observer.get(one) for one in readings), return_exceptions=True)
        finally:
            observer.close()

    return asyncio.run(all_of_them())


def test_equal_readings_are_read_once() -> None:
    times: list[int] = []

    def count() -> str:
        times.append(1)
        return "seen"

    assert observe(*(Asked("one", does=count) for _ in range(50)), Asked("other", does=count)) == ["seen"] * 51
    assert len(times) == 2


def test_a_failure_reaches_everybody_who_asked() -> None:
    def fail() -> str:
        raise SourceError("it is down")

    said = observe(*(Asked("one", does=fail) for _ in range(3)))
    assert [str(one) for one in said] == ["it is down"] * 3


def test_a_host_that_hangs_holds_up_nobody_else_and_not_the_end() -> None:
    """The last reading of the other host is only made when it can be seen that none of it waited."""
    never = threading.Event()
    hanging = [Asked(f"hang {n}", "hanging.example", lambda: str(never.wait(60))) for n in range(100)]

    async def others() -> list[str]:
        observer = Observer(NO_TOOLS)
        stuck = [asyncio.ensure_future(observer.get(one)) for one in hanging]
        answered = [await observer.get(Asked(f"answer {n}")) for n in range(100)]
        for task in stuck:
            task.cancel()
        observer.close()
        return answered

    begun = threading.active_count()
    assert asyncio.run(others()) == ["seen"] * 100
    assert threading.active_count() - begun <= 16
    never.set()


def test_only_so_many_readings_of_a_host_are_under_way() -> None:
    lock, under_way, most = threading.Lock(), [0], [0]
    together = threading.Barrier(3)

    def count() -> str:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        together.wait(10)  # all three must be there at once to go on
        with lock:
            under_way[0] -= 1
        return "seen"

    assert observe(*(Asked(str(n), does=count) for n in range(9)), at_once=3) == ["seen"] * 9
    assert most == [3]


def down() -> str:
    try:
        raise TryAgainError("no connection within 10 s")
    except TryAgainError as error:
        raise SourceError("example.org could not be read: no connection within 10 s") from error


def test_a_host_that_does_not_answer_is_not_asked_for_ever() -> None:
    times: list[int] = []

    def fail() -> str:
        times.append(1)
        return down()

    said = observe(*(Asked(str(n), does=fail) for n in range(50)), at_once=1)
    assert len(times) == 3
    assert str(said[-1]).startswith("example.org was not asked again in this run, for it did not answer: ")
    assert all(isinstance(one, SourceError) for one in said)


def test_what_a_host_refuses_is_no_reason_not_to_ask_it_again() -> None:
    def refuse() -> str:
        raise SourceError("it answered 403")

    def missing() -> str:
        raise UsageError("there is no such project")

    readings = [Asked(str(n), does=refuse if n % 2 else missing) for n in range(20)]
    assert observe(*readings, Asked("last"), at_once=1)[-1] == "seen"


def test_one_answer_between_failures_keeps_a_host_trusted() -> None:
    readings = [Asked(str(n), does=down if n % 3 else lambda: "seen") for n in range(30)]
    assert [one for one in observe(*readings, at_once=1) if one == "seen"] == ["seen"] * 10


def test_a_reading_without_an_end_is_given_up_and_others_take_its_place() -> None:
    never = threading.Event()
    hanging = [Asked(f"hang {n}", does=lambda: str(never.wait(60))) for n in range(3)]

    async def all_of_them() -> list[str | BaseException]:
        observer = Observer(NO_TOOLS, at_once=2, longest=0.5)
        readings = (*hanging, *(Asked(f"answer {n}") for n in range(20)))
        return await asyncio.gather(*(observer.get(one) for one in readings), return_exceptions=True)

    said = asyncio.run(all_of_them())
    never.set()
    assert [str(one) for one in said[:3]] == [
        f"Asked of hang {n} took longer than 0.5 s on example.org, and was given up" for n in range(3)
    ]
    assert said[3:] == ["seen"] * 20


def rule(name: str, run: Callable[[Observations, Json], object], *pins: str) -> ListedRule:
    def lists(_: Subject) -> Iterable[Check]:
        return [Check(About(pin, "Dockerfile"), run) for pin in pins]  # type: ignore[arg-type]

    return ListedRule(name, Severity.NOTE, "a rule", lists)


def outcomes(*rules: ListedRule) -> dict[tuple[str, str], Outcome]:
    async def made() -> dict[tuple[str, str], Outcome]:
        checked = await check_all(rules, SUBJECT, Observer(NO_TOOLS), {("r", "Dockerfile", "a"): {"seen": 1}})
        return {(one.rule, one.about.pin): one.outcome for one in checked}

    return asyncio.run(made())


def test_a_check_that_fails_is_unknown_and_takes_no_other_with_it() -> None:
    async def source(observations: Observations, previous: Json) -> Outcome:
        return ok(remember=await observations.get(Asked("x", does=down)))

    async def fault(observations: Observations, previous: Json) -> Outcome:
        raise KeyError("x")

    async def good(observations: Observations, previous: Json) -> Outcome:
        return ok(remember=previous)

    seen = outcomes(rule("down", source, "a"), rule("fault", fault, "a"), rule("r", good, "a", "b"))
    assert seen["down", "a"].unknown == "example.org could not be read: no connection within 10 s"
    assert seen["fault", "a"].unknown == "a fault in this program, in rule fault: KeyError: 'x'"
    assert seen["r", "a"] == ok(remember={"seen": 1})
    assert seen["r", "b"] == ok()


def test_a_check_speaks_of_nothing_but_what_it_is_about() -> None:
    async def other(observations: Observations, previous: Json) -> Outcome:
        return found(finding("r", About("other", "Dockerfile"), "x", "y"))

    assert "not its own" in outcomes(rule("r", other, "a"))["r", "a"].unknown


def test_two_checks_of_a_rule_are_not_about_the_same() -> None:
    async def good(observations: Observations, previous: Json) -> Outcome:
        return ok()

    with pytest.raises(AssertionError, match="two checks of r are about a of Dockerfile"):
        outcomes(rule("r", good, "a", "a"))
