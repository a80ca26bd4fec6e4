"""Reading values out of a JSON document, so that what is wrong is said with its place."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import TypeVar

from pins.errors import UsageError

_Choice = TypeVar("_Choice", bound=Enum)
_Item = TypeVar("_Item")


class JsonValue:
    """A value of a JSON document that knows where it stands ("probes[3].runs").

    Every reader raises `UsageError` with that place where the value is of another sort. A key that is absent reads
    as null, and null as the default: documents of older versions lack keys.
    """

    def __init__(self, value: object, place: str = "") -> None:
        self.value = value
        self._place = place

    def __getitem__(self, key: str) -> "JsonValue":
        if not isinstance(self.value, Mapping):
            raise self.wrong("an object")
        return JsonValue(self.value.get(key), f"{self._place}.{key}" if self._place else key)

    def wrong(self, expected: str) -> UsageError:
        """The error for a value that is not what it should be."""
        found = {type(None): "null", dict: "an object", list: "an array"}.get(type(self.value), repr(self.value)[:60])
        return UsageError(f"{self._place or 'The document'}: expected {expected}, found {found}.")

    @property
    def missing(self) -> bool:
        """Whether the value is null or absent."""
        return self.value is None

    def text(self, default: str | None = "") -> str:
        """A string; `default` None makes it required."""
        if self.value is None and default is not None:
            return default
        if not isinstance(self.value, str):
            raise self.wrong("a string")
        return self.value

    def number(self, default: float = 0.0) -> float:
        """A number."""
        found = self.optional_number()
        return default if found is None else found

    def optional_number(self) -> float | None:
        """A number or null."""
        if self.value is None:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.wrong("a number")
        return float(self.value)

    def integer(self, default: int = 0) -> int:
        """A whole number."""
        found = self.optional_integer()
        return default if found is None else found

    def optional_integer(self) -> int | None:
        """A whole number or null."""
        if self.value is None:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.wrong("a whole number")
        return self.value

    def flag(self, default: bool) -> bool:
        """True or false."""
        if self.value is None:
            return default
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def choice(self, choices: type[_Choice]) -> _Choice:
        """A member of an enumeration, by its value."""
        try:
            return choices(self.value)
        except ValueError:
            raise self.wrong("one of " + ", ".join(str(member.value) for member in choices)) from None

    def optional_moment(self) -> datetime | None:
        """A point in time (RFC 3339) or null; one without an offset is UTC."""
        if self.value is None:
            return None
        try:
            found = datetime.fromisoformat(self.text())
        except ValueError:
            raise self.wrong("a date and time as of RFC 3339") from None
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    def items(self, read: Callable[["JsonValue"], _Item]) -> tuple[_Item, ...]:
        """What `read` makes of each item of an array; none for null."""
        if self.value is None:
            return ()
        if not isinstance(self.value, list):
            raise self.wrong("an array")
        return tuple(read(JsonValue(item, f"{self._place}[{place}]")) for place, item in enumerate(self.value))

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The keys and strings of an object, in order; none for null."""
        if self.value is None:
            return ()
        if not isinstance(self.value, Mapping):
            raise self.wrong("an object")
        return tuple((key, self[key].text(None)) for key in self.value)
