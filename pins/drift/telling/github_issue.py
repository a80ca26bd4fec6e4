"""One issue of a GitHub repository, or one comment below an issue or pull request, that always shows how things stand.

It is found again by a mark in its text, which readers do not see. An issue is made when there is something to show,
edited in place at every run, closed when nothing is open, and opened again when something is new: an issue that a
person has closed stays closed until then. Source: https://docs.github.com/en/rest/issues.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from pins.drift.report import DriftReport, State
from pins.drift.telling.service import Service
from pins.errors import EnvironmentFailureError, UsageError

LABEL = "pins-drift"
_NAMED = re.compile(r"(?P<owner>[A-Za-z0-9][A-Za-z0-9-]*)/(?P<name>[A-Za-z0-9._-]+)(?:#(?P<number>[1-9][0-9]*))?")
_PER_PAGE = 100
_PAGES = 10
"""Pages of issues that are looked through where none has the label."""


class Issue:
    """The issue or comment of one repository.

    Args:
        where: "OWNER/REPO" for an issue, "OWNER/REPO#NUMBER" for a comment there.
        key: tells apart what several checks of one repository keep.
        environment: variables: `GITHUB_TOKEN` or `GH_TOKEN`, and `GITHUB_API_URL`.
        body: draws a report as Markdown, within GitHub's limit.

    Raises:
        UsageError: it names no repository, or there is no token.
    """

    def __init__(
        self,
        where: str,
        key: str,
        environment: Mapping[str, str],
        body: Callable[[DriftReport], str],
    ) -> None:
        named = _NAMED.fullmatch(where)
        if named is None or named["name"] in {".", ".."}:
            raise UsageError(f"--github-issue {where!r} must be OWNER/REPO, or OWNER/REPO#NUMBER for a comment there")
        token = environment.get("GITHUB_TOKEN") or environment.get("GH_TOKEN") or ""
        if not token:
            raise UsageError("--github-issue needs a token in GITHUB_TOKEN or GH_TOKEN that may write issues")
        root = (environment.get("GITHUB_API_URL") or "https://api.github.com").rstrip("/")
        if not re.match(r"https?://", root):
            raise UsageError(f"GITHUB_API_URL {root!r} must begin with https://")
        self._repository = f"{root}/repos/{named['owner']}/{named['name']}"
        self._number = named["number"]
        self._mark = f"<!-- pins-drift {key} -->"
        self._body = body
        self._run = _link_to_run(environment)
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": "pins",
        }
        self._service = Service(f"GitHub's {where}", headers, (token,), redirects=True, advice=_ADVICE)

    def tell(self, report: DriftReport) -> None:
        """Bring it up to date.

        Raises:
            EnvironmentFailureError: GitHub could not be asked, or refused.
        """
        text = f"{self._mark}\n{self._body(report)}{self._run}"
        if self._number:
            self._comment(text, bool(_open(report)))
        else:
            self._issue(report, text)

    def _issue(self, report: DriftReport, text: str) -> None:
        still = _open(report)
        found = self._find_issue()
        title = f"Pins have drifted: {still} open" if still else "Pins have drifted: nothing open"
        if found is None:
            if still:
                wanted = {"title": title, "body": text, "labels": [LABEL]}
                self._service.ask("POST", f"{self._repository}/issues", wanted, again=False)
            return
        change: dict[str, object] = {"title": title, "body": text}
        if not still and found.get("state") == "open":
            change |= {"state": "closed", "state_reason": "completed"}
        elif report.of(State.NEW) and found.get("state") == "closed":
            change |= {"state": "open"}
        self._service.ask("PATCH", f"{self._repository}/issues/{int(found['number'])}", change)

    def _find_issue(self) -> dict[str, Any] | None:
        """The oldest issue with our mark; those with the label first, for a repository may have very many."""
        for label, pages in ((f"&labels={LABEL}", _PAGES), ("", _PAGES)):
            for page in range(1, pages + 1):
                address = f"{self._repository}/issues?state=all&per_page={_PER_PAGE}&page={page}{label}"
                listed = _entries(self._service.ask("GET", address), "issues")
                ours = [one for one in listed if self._is_ours(one) and "pull_request" not in one]
                if ours:
                    return min(ours, key=lambda one: int(one["number"]))
                if len(listed) < _PER_PAGE:
                    break
        return None

    def _comment(self, text: str, anything: bool) -> None:
        found = self._find_comment()
        if found is not None:
            self._service.ask("PATCH", f"{self._repository}/issues/comments/{int(found['id'])}", {"body": text})
        elif anything:
            self._service.ask("POST", f"{self._repository}/issues/{self._number}/comments", {"body": text}, again=False)

    def _find_comment(self) -> dict[str, Any] | None:
        page = 1
        while True:
            address = f"{self._repository}/issues/{self._number}/comments?per_page={_PER_PAGE}&page={page}"
            listed = _entries(self._service.ask("GET", address), "comments")
            ours = next((one for one in listed if self._is_ours(one)), None)
            if ours is not None or len(listed) < _PER_PAGE:
                return ours
            page += 1

    def _is_ours(self, entry: Mapping[str, Any]) -> bool:
        return str(entry.get("body") or "").startswith(self._mark)


_ADVICE = {
    401: "the token in GITHUB_TOKEN or GH_TOKEN is wrong, or has expired",
    403: "give the token the permission `issues: write`, for a pull request `pull-requests: write`",
    404: "there is no such repository, issue or pull request, or the token may not see it",
    410: "issues are switched off there; name an issue or pull request of another repository",
}


def _open(report: DriftReport) -> int:
    return len(report.of(State.NEW)) + len(report.of(State.OPEN))


def _entries(answer: object, what: str) -> list[dict[str, Any]]:
    if not isinstance(answer, list) or not all(isinstance(entry, dict) for entry in answer):
        raise EnvironmentFailureError(f"GitHub's list of {what} could not be read: the answer is no list")
    return answer


def _link_to_run(environment: Mapping[str, str]) -> str:
    server, repository = environment.get("GITHUB_SERVER_URL", ""), environment.get("GITHUB_REPOSITORY", "")
    run = environment.get("GITHUB_RUN_ID", "")
    if not re.match(r"https?://", server) or not _NAMED.fullmatch(repository) or not run.isdigit():
        return ""
    return f"\n<sub>[the run that wrote this]({server}/{repository}/actions/runs/{run})</sub>\n"
