"""Talking to a service over HTTP with a secret: tries, waits, and messages that do not give the secret away."""

import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pins.errors import EnvironmentFailureError
from pins.report.characters import one_line
from pins.sources.redaction import redact

if TYPE_CHECKING:
    import httpx

_TRIES = 3
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_LONGEST_WAIT = 60.0
_LARGEST = 8 * 2**20
_TIMEOUT = 30.0
_TIME = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True)
class Service:
    """One service.

    Attributes:
        name: for messages, such as "the webhook at hooks.example.org".
        headers: of every request.
        secrets: what must not appear in a message.
        redirects: whether they are followed; a post that is redirected often arrives as something else.
        advice: what a person can do about a refusal, by its status.
    """

    name: str
    headers: Mapping[str, str]
    secrets: tuple[str, ...] = ()
    redirects: bool = False
    advice: Mapping[int, str] = field(default_factory=dict)

    def ask(self, method: str, url: str, content: object = None, *, again: bool = True) -> Any:
        """What it answers, as JSON; None where it answers nothing.

        Args:
            method: of HTTP.
            url: the address.
            content: sent as JSON.
            again: whether a request may reach it twice; else it is only repeated where it cannot have arrived.

        Raises:
            EnvironmentFailureError: it did not answer, or refused.
        """
        import httpx

        for count in range(1, _TRIES + 1):
            wait = 0.5 * 2 ** (count - 1)
            try:
                with httpx.Client(
                    timeout=_TIMEOUT, verify=_certificates(), follow_redirects=self.redirects, max_redirects=3
                ) as client:
                    answer = client.request(method, url, json=content, headers=dict(self.headers))
            except httpx.ConnectError as error:
                said = f"no connection: {error}"
            except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                said = str(error) or type(error).__name__
                if not again:
                    break
            else:
                if answer.is_success:
                    return self._parsed(answer)
                said = f"it answered {answer.status_code} {answer.reason_phrase}{_reason(answer)}{self._advice(answer)}"
                limited = answer.status_code == 403 and "retry-after" in answer.headers
                if answer.status_code not in _PASSING and not limited:
                    break
                wait = max(wait, _seconds(answer.headers.get("retry-after", "")))
            if count < _TRIES:
                time.sleep(wait)
        raise EnvironmentFailureError(f"{self.name} could not be told: {self._public(said)}")

    def _advice(self, answer: "httpx.Response") -> str:
        used_up = answer.headers.get("x-ratelimit-remaining") == "0"
        if used_up and answer.status_code in {403, 429}:
            reset = answer.headers.get("x-ratelimit-reset", "")
            until = f" until {datetime.fromtimestamp(int(reset), UTC):%H:%M} UTC" if _TIME.fullmatch(reset) else ""
            return f": its limit of requests is used up{until}; the next check tries again"
        advice = self.advice.get(answer.status_code, "")
        return f": {advice}" if advice else ""

    def _parsed(self, answer: "httpx.Response") -> Any:
        if not answer.content or len(answer.content) > _LARGEST:
            return None
        try:
            return answer.json()
        except ValueError:
            return None

    def _public(self, text: str) -> str:
        return one_line(redact(text, self.secrets)[:400])


@cache
def _certificates() -> ssl.SSLContext:
    """Made once: it takes longer than a request."""
    import httpx

    return httpx.create_ssl_context()


def host_of(url: str) -> str:
    """The host of a URL, which alone may be shown where the rest is a secret."""
    try:
        return urlsplit(url).hostname or "an address without a host"
    except ValueError:
        return "an address that is no URL"


def _reason(answer: "httpx.Response") -> str:
    try:
        message = answer.json().get("message", "")
    except (ValueError, AttributeError):
        return ""
    return f" ({message})" if isinstance(message, str) and message else ""


def _seconds(text: str) -> float:
    return min(float(text), _LONGEST_WAIT) if text.isdigit() else 0
