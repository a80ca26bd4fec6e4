"""`pins drift`."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pins.command_line import deliver, guarded, new_app, say, wants_color
from pins.common_options import (
    FINDING_FORMATS,
    AllOptions,
    FindingFormat,
    NoColor,
    Output,
    Quiet,
    Verbose,
    check_common,
)
from pins.errors import EnvironmentFailureError, UsageError
from pins.file_options import BuildArg, ContextDirectory, Repo, Target
from pins.index_options import ExtraIndexUrl, IndexUrl
from pins.rule_options import Ignore, Select

if TYPE_CHECKING:
    from pins.drift.model import Rule
    from pins.drift.report import DriftReport
    from pins.drift.running import Ended
    from pins.drift.state.store import StateStore
    from pins.drift.watching import Watched

app = new_app("Say what has moved since last time.")


@app.command("drift", short_help="Say what has moved since last time.")
@guarded
def _drift(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE|DIR...", help="Files, or directories to search.")
    ] = None,
    state: Annotated[
        str,
        typer.Option("--state", metavar="file:PATH|git:BRANCH", help="What remembers; the user's own by default."),
    ] = "",
    push: Annotated[
        str, typer.Option("--push", metavar="REMOTE", help="With git:BRANCH: where it is fetched and pushed.")
    ] = "",
    select: Select = None,
    ignore: Ignore = None,
    every: Annotated[
        str, typer.Option("--every", metavar="DURATION", help="Check again and again, such as every 6h, until stopped.")
    ] = "",
    as_of: Annotated[
        str,
        typer.Option(
            "--as-of", metavar="DATE", help="As if it were then; remembers nothing without --state.", hidden=True
        ),
    ] = "",
    built: Annotated[
        str,
        typer.Option(
            "--built", metavar="DATE", help="When the images were last built; by default the files tell.", hidden=True
        ),
    ] = "",
    offline: Annotated[bool, typer.Option("--offline", help="Ask nothing over the network.")] = False,
    rev: Annotated[
        str, typer.Option("--rev", metavar="REV", help="Check at this revision of the repository.", hidden=True)
    ] = "",
    repo: Repo = None,
    build_arg: BuildArg = None,
    target: Target = "",
    context: ContextDirectory = None,
    index_url: IndexUrl = "",
    extra_index_url: ExtraIndexUrl = None,
    github_issue: Annotated[
        str,
        typer.Option("--github-issue", metavar="OWNER/REPO[#N]", help="Keep an issue, or a comment at N, fresh."),
    ] = "",
    webhook: Annotated[
        str, typer.Option("--webhook", metavar="URL", envvar="PINS_WEBHOOK", help="Post what is new there as JSON.")
    ] = "",
    rules: Annotated[bool, typer.Option("--rules", help="List the rules.", hidden=True)] = False,
    output_format: FindingFormat = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
    help_all: AllOptions = False,  # noqa: ARG001 - its callback does it all
) -> int:
    r"""Say what has moved since last time: branches, releases, tags, images, holds.

    \b
    Examples:
      pins drift docker/
      pins drift . --state git:pins-drift --push origin --github-issue OWNER/REPO
      pins drift docker/ --every 6h --webhook https://chat.example.org/hook

    Exit code 1: something is new; 3: nothing is, but something could not be told.
    """
    check_common(output_format, output, quiet, verbose, FINDING_FORMATS)
    from pins.drift.choice import chosen

    if rules:
        from pins.drift.table import RULES
        from pins.report.rules_list import rules_listed

        widest = max(len(rule.id) for rule in RULES)
        text = "".join(f"{rule.id:{widest}}  {rule.summary}\n" for rule in RULES)
        listed = [(rule.id, rule.summary) for rule in RULES]
        return deliver(rules_listed(listed, text, output_format, output, no_color), output)
    if not paths:
        raise UsageError("give a FILE or a directory to check, such as `pins drift docker/`")
    if every and as_of:
        raise UsageError("--every looks at what is, --as-of at what was: leave one of them out")
    running = chosen(select or (), ignore or ())
    asked = _Asked(
        tuple(paths),
        state,
        push,
        running,
        as_of,
        built,
        offline,
        rev,
        tuple(repo or ()),
        tuple(build_arg or ()),
        target,
        context,
        index_url,
        tuple(extra_index_url or ()),
        github_issue,
        webhook,
    )

    def show(report: "DriftReport") -> None:
        text = _drawn(report, running, output_format, output, no_color, verbose)
        try:
            deliver(text, output)
        except OSError as error:
            raise EnvironmentFailureError(f"the report cannot be written: {error.strerror}") from error

    def check() -> int:
        ended = _checked(asked, show, say if not quiet else lambda _: None)
        if ended.failure is not None:
            raise ended.failure
        return ended.report.exit_code

    if every:
        from pins.drift.repeating import interval, repeat
        from pins.sign_of_life import hush

        hush()

        repeat(check, interval(every), say)
    return check()


@dataclass(frozen=True)
class _Asked:
    paths: tuple[Path, ...]
    state: str
    push: str
    rules: "tuple[Rule, ...]"
    as_of: str
    built: str
    offline: bool
    revision: str
    repo: tuple[str, ...]
    build_arg: tuple[str, ...]
    target: str
    context: Path | None
    index_url: str
    extra_index_url: tuple[str, ...]
    github_issue: str
    webhook: str


def _checked(asked: _Asked, show: "Callable[[DriftReport], None]", progress: Callable[[str], None]) -> "Ended":
    from pins.drift.running import RunRequest, run
    from pins.drift.tools import open_tools
    from pins.drift.watching import WatchRequest, watch
    from pins.file_options import clones, pairs
    from pins.sign_of_life import doing
    from pins.windows_request import moment

    now = moment(asked.as_of, "--as-of") if asked.as_of else datetime.now(UTC)
    watched = watch(
        WatchRequest(
            asked.paths,
            now,
            asked.revision,
            clones(list(asked.repo)),
            pairs(list(asked.build_arg), "--build-arg"),
            asked.target,
            asked.context,
            moment(asked.built, "--built") if asked.built else None,
        )
    )
    store = _store(asked, watched)
    tell = [*_told(asked, watched), show]
    pins = sum(1 for _ in watched.subject.pins())
    files = len(watched.subject.files)
    progress(f"Checking {pins} pin{'s' * (pins != 1)} in {files} file{'s' * (files != 1)}.")
    with (
        open_tools(
            index_url=asked.index_url,
            extra_index_url=asked.extra_index_url,
            as_of=now if asked.as_of else None,
            offline=asked.offline,
        ) as tools,
        doing("asking what has moved"),
    ):
        return run(RunRequest(watched, asked.rules, tools, store), tell)


def _store(asked: _Asked, watched: "Watched") -> "StateStore | None":
    from pins.drift.state.places import state_store

    if asked.as_of and not asked.state:
        if asked.push:
            raise UsageError("--push goes with --state git:BRANCH")
        return None
    return state_store(asked.state, directory=watched.root, targets=watched.targets, push=asked.push)


def _told(asked: _Asked, watched: "Watched") -> "list[Callable[[DriftReport], None]]":
    import hashlib
    import os

    tell: list[Callable[[DriftReport], None]] = []
    if asked.github_issue:
        from pins.drift.telling.github_issue import Issue

        key = hashlib.sha256("\0".join(sorted(watched.targets)).encode("utf-8", "surrogateescape")).hexdigest()[:10]
        tell.append(Issue(asked.github_issue, key, os.environ, _as_markdown).tell)
    if asked.webhook:
        from pins.drift.telling.webhook import webhook

        tell.append(webhook(asked.webhook, os.environ))
    return tell


def _as_markdown(report: "DriftReport") -> str:
    from pins.drawing import drawn
    from pins.report.drift_document import drift_document

    return drawn(drift_document(report), "md", None, no_color=True)


def _drawn(
    report: "DriftReport",
    running: "tuple[Rule, ...]",
    output_format: str,
    output: Path | None,
    no_color: bool,
    verbose: bool,
) -> str:
    if output_format == "json":
        from pins.report.drift_json import drift_json

        return drift_json(report)
    if output_format == "sarif":
        from pins.report.drift_json import drift_sarif

        return drift_sarif(report, running)
    if output_format == "github":
        from pins.report.drift_text import drift_annotations

        return drift_annotations(report)
    if output_format in {"md", "html"}:
        from pins.drawing import drawn
        from pins.report.drift_document import drift_document

        return drawn(drift_document(report), output_format, output, no_color)
    import shutil
    import sys

    from pins.report.drift_text import drift_text

    stream = sys.stdout if output is None else None
    terminal = stream is not None and stream.isatty()
    width = min(shutil.get_terminal_size().columns, 120) if terminal else 100
    color = stream is not None and wants_color(stream, no_color)
    return drift_text(report, width=width, color=color, verbose=verbose)
