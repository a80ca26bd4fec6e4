import pytest

from pins.drift.repeating import interval, repeat
from pins.errors import EnvironmentFailureError, UsageError


class EnoughError(Exception):
    """Ends a loop that has no end of its own."""


class Loop:
    """A loop of checks that take a while, with a clock that only sleeping and checking move."""

    def __init__(self, *checks: Exception | None, takes: float = 0, share: float = 0.5) -> None:
        self.checks, self.takes, self.share = list(checks), takes, share
        self.time = 0.0
        self.begun: list[float] = []
        self.said: list[str] = []

    def run(self, every: float) -> None:
        repeat(
            self.check,
            every,
            self.said.append,
            sleep=self.sleep,
            random_share=lambda: self.share,
            clock=lambda: self.time,
        )

    def check(self) -> None:
        if not self.checks:
            raise EnoughError
        self.begun.append(self.time)
        self.time += self.takes
        error = self.checks.pop(0)
        if error is not None:
            raise error

    def sleep(self, seconds: float) -> None:
        self.time += seconds


@pytest.mark.parametrize(
    ("text", "seconds"), [("45s", 45), ("30m", 1800), ("6h", 21600), ("1d", 86400), ("2w", 1209600)]
)
def test_an_interval_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert interval(text) == seconds


@pytest.mark.parametrize("text", ["", "6", "h", "0h", "-1h", "1.5h", "6 h", "6H", "9999999h"])
def test_what_is_no_interval_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="must be a number and a unit"):
        interval(text)


@pytest.mark.parametrize(("share", "begun"), [(0, [0, 90, 180]), (0.5, [0, 100, 200]), (1, [0, 110, 220])])
def test_checks_begin_at_equal_distances_give_or_take_a_tenth(share: float, begun: list[float]) -> None:
    loop = Loop(None, None, None, takes=7, share=share)
    with pytest.raises(EnoughError):
        loop.run(100)
    assert loop.begun == pytest.approx(begun)
    assert loop.said[0].startswith("The next check is due in ")


def test_a_check_that_takes_longer_than_the_interval_is_followed_by_the_next() -> None:
    loop = Loop(None, None, takes=300)
    with pytest.raises(EnoughError):
        loop.run(100)
    assert loop.begun == [0, 301]


def test_a_check_that_fails_does_not_end_the_loop() -> None:
    loop = Loop(EnvironmentFailureError("the disk is full"), None, UsageError("docker/ does not exist"), None)
    with pytest.raises(EnoughError):
        loop.run(7200)
    assert len(loop.begun) == 4
    assert loop.said == [
        "This check could not be made: the disk is full",
        "The next check is due in 2 h.",
        "The next check is due in 2 h.",
        "This check could not be made: docker/ does not exist",
        "The next check is due in 2 h.",
        "The next check is due in 2 h.",
    ]


def test_a_wrong_option_ends_the_loop_at_once() -> None:
    loop = Loop(UsageError("docker/ does not exist"), None)
    with pytest.raises(UsageError, match="does not exist"):
        loop.run(100)
    assert loop.begun == [0]
