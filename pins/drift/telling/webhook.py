"""A webhook: what is new or resolved, posted as JSON."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from pins.drift.report import DriftReport, State
from pins.drift.telling.service import Service, host_of
from pins.errors import UsageError
from pins.report.drift_json import drift_object
from pins.report.drift_text import counted

TOKEN_VARIABLE = "PINS_WEBHOOK_TOKEN"  # noqa: S105 - the name of a variable, not what it holds
"""Variable of a token that is sent as `Authorization: Bearer`."""


def webhook(url: str, environment: Mapping[str, str]) -> Callable[[DriftReport], None]:
    """What tells a webhook of a run in which something is new or resolved.

    The document is `pins.drift/1` with one key more, `text`: what there is, in a line, as chat services want it. Its
    findings are those that are new or resolved.

    Raises:
        UsageError: it is no address of HTTP.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        usable = False
    if not usable:
        raise UsageError("--webhook must be an address that begins with https:// (or http://)")
    token = environment.get(TOKEN_VARIABLE, "")
    headers = {"User-Agent": "pins", **({"Authorization": f"Bearer {token}"} if token else {})}
    secrets = tuple(secret for secret in (token, url, parts.path, parts.query) if len(secret) > 1)
    service = Service(f"the webhook at {host_of(url)}", headers, secrets)

    def tell(report: DriftReport) -> None:
        news = tuple(r for r in report.findings if r.state in {State.NEW, State.RESOLVED})
        if news:
            document = drift_object(replace(report, findings=news))
            service.ask("POST", url, {**document, "text": f"pins drift: {counted(report)}"}, again=False)

    return tell
