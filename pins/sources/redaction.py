"""Masking credentials in text that others wrote: uv, pip, docker, a failing script."""

import json
import re
from collections.abc import Iterable

MASK = "****"

# Shorter secrets are masked inside URLs only: "a" or "123" would garble every log that they stand in.
_SHORTEST = 4
# Begins with what is plain text, which a search finds many times as fast as what only has it behind.
_IN_URL = re.compile(r"://[^\s/'\"<>]+@")
_ESCAPES = "%\\&+"
"""With one of these begins every form of a character that is not the character itself."""


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text with every credential masked.

    Whatever stands between `://` and `@` goes, known or not; known secrets go wherever they stand, raw, percent-encoded
    (fully or in part), or escaped as in JSON and HTML.
    """
    for secret in sorted({secret for secret in secrets if len(secret) >= _SHORTEST}, key=len, reverse=True):
        if any(sign in text for sign in _ESCAPES):
            text = _pattern(secret).sub(MASK, text)
        else:
            text = text.replace(secret, MASK)  # much output is looked through: at the speed of the search for a word
    return _IN_URL.sub(f"://{MASK}@", text)


def _pattern(secret: str) -> re.Pattern[str]:
    return re.compile("".join(_character(character) for character in secret))


def _character(character: str) -> str:
    encoded = "".join(f"%(?i:{byte:02x})" for byte in character.encode())
    in_json = "".join(rf"\\u(?i:{unit:04x})" for unit in _utf16(character))
    forms = {re.escape(character), encoded, in_json, re.escape(json.dumps(character)[1:-1])}
    forms.update(re.escape(escaped) for escaped in _OTHERWISE.get(character, ()))
    # The longest first, so that an escaped form is not left half standing.
    return "(?:" + "|".join(sorted(forms, key=len, reverse=True)) + ")"


_OTHERWISE = {
    "&": ("&amp;",),
    "<": ("&lt;",),
    ">": ("&gt;",),
    '"': ("&quot;", "&#34;"),
    "'": ("&#x27;", "&#39;", "\\'"),
    " ": ("+",),
}
"""Characters with a form in HTML, in the repr of a string, or in a form's data."""


def _utf16(character: str) -> list[int]:
    units = character.encode("utf-16-be")
    return [int.from_bytes(units[start : start + 2], "big") for start in range(0, len(units), 2)]
