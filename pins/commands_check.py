"""`pins check`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pins.choices import did_you_mean
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
from pins.completions import completion
from pins.completions import rules as names_of_rules
from pins.errors import UsageError
from pins.file_options import BuildArg, ContextDirectory, Repo, Target, clones, pairs
from pins.rule_options import Ignore, Select

if TYPE_CHECKING:
    from pins.hazards.ignoring import Ignore as Ignored
    from pins.hazards.model import Hazard, Rule
    from pins.hazards.subject import Subject

app = new_app("Find hazards in files.")


@app.command("check", short_help="Find hazards: what makes a file's pins lie.")
@guarded
def _check(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE|DIR...", help="Files, or directories to search.")
    ] = None,
    rev: Annotated[str, typer.Option("--rev", metavar="REV", help="Check at this revision of the repository.")] = "",
    select: Select = None,
    ignore: Ignore = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="FILE", help="Findings that are known and do not count.")
    ] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option("--write-baseline", metavar="FILE", help="Write what is found now as a baseline.", hidden=True),
    ] = None,
    metadata: Annotated[
        bool,
        typer.Option(
            "--metadata", help="Ask the package index what installed releases require of each other.", hidden=True
        ),
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="With --metadata: use only what is kept of package indexes.", hidden=True)
    ] = False,
    python: Annotated[
        str,
        typer.Option("--python", metavar="VERSION|PATH", help="With --metadata: the Python it is for.", hidden=True),
    ] = "",
    fix: Annotated[
        bool, typer.Option("--fix", help="Show the edits that mend what can be mended, as a patch.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help="With --fix: change the files.")] = False,
    repo: Repo = None,
    build_arg: BuildArg = None,
    target: Target = "",
    context: ContextDirectory = None,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules.")] = False,
    explain: Annotated[
        str,
        typer.Option("--explain", metavar="RULE", help="Explain one rule.", autocompletion=completion(names_of_rules)),
    ] = "",
    output_format: FindingFormat = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
    help_all: AllOptions = False,  # noqa: ARG001 - its callback does it all
) -> int:
    r"""Find what makes a file's pins lie: overrides that reach no stage, moving references, lost failures, skew.

    \b
    Examples:
      pins check docker/Dockerfile.rocm_base
      pins check . --format github --baseline .pins-baseline.json
      pins check docker --select junk-arguments --fix --write

    Exit code 1 when something is found. `# pins: ignore[RULE] reason` above a line ignores a finding there.
    """
    check_common(output_format, output, quiet, verbose, FINDING_FORMATS)
    if write and not fix:
        raise UsageError("--write goes with --fix; what is found is only shown otherwise")
    if rules or explain:
        return deliver(_about_rules(explain, output_format, output, no_color), output)
    if not paths:
        raise UsageError("give a FILE or a directory to check, such as `pins check docker/Dockerfile`")
    from pins.hazards.check import check
    from pins.hazards.gather import gather
    from pins.hazards.table import chosen

    if fix and rev:
        raise UsageError("--fix edits files on disk; leave out --rev")
    running = chosen(select or (), ignore or ())
    subjects = gather(
        paths,
        revision=rev,
        clones=clones(repo),
        build_args=pairs(build_arg, "--build-arg"),
        target=target,
        context=context,
    )
    if metadata:
        from pins.hazards.metadata import with_metadata
        from pins.sign_of_life import doing

        with doing("asking the package index what releases require"):
            subjects = with_metadata(subjects, python=python, offline=offline, say=say)
    hazards = _without_ignored(check(subjects, running), subjects, running, baseline)
    if write_baseline is not None:
        from pins.hazards.ignoring import baseline_document

        deliver(baseline_document(hazards), write_baseline)
        say(f"{write_baseline}: {sum(1 for h in hazards if not h.ignored)} findings are known from now on.")
        return 0
    if fix:
        return _fix(subjects, hazards, write, output)
    found = any(not hazard.ignored for hazard in hazards)
    return deliver(_drawn(hazards, subjects, running, output_format, output, no_color), output, 1 if found else 0)


def _without_ignored(
    hazards: "list[Hazard]", subjects: "list[Subject]", running: "tuple[Rule, ...]", baseline: Path | None
) -> "list[Hazard]":
    from pins.hazards.ignoring import apply_baseline, apply_ignores, ignores_in, read_baseline

    ignores = [ignore for subject in subjects for ignore in ignores_in(subject)]
    hazards, unused = apply_ignores(hazards, ignores)
    _say_of_ignores(ignores, unused, {rule.name for rule in running})
    if baseline is not None:
        try:
            text = baseline.read_text(encoding="utf-8")
        except OSError as error:
            raise UsageError(f"--baseline {baseline} cannot be read: {error.strerror}") from error
        hazards = apply_baseline(hazards, read_baseline(text, f"--baseline {baseline}"))
    return hazards


def _say_of_ignores(ignores: "list[Ignored]", unused: "list[Ignored]", running: set[str]) -> None:
    from pins.hazards.table import BY_NAME

    for ignore in ignores:
        where = f"{ignore.file}:{ignore.line}"
        for name in ignore.rules:
            if name not in BY_NAME:
                say(f"{where}: there is no rule {name!r}; `pins check --rules` lists them")
        if not ignore.reason:
            say(f"{where}: say behind ignore[{', '.join(ignore.rules)}] why")
        if (
            ignore in unused
            and running.issuperset(set(ignore.rules) & set(BY_NAME))
            and set(ignore.rules) & set(BY_NAME)
        ):
            say(f"{where}: nothing is found there that ignore[{', '.join(ignore.rules)}] is for")


def _fix(subjects: "list[Subject]", hazards: "list[Hazard]", write: bool, output: Path | None) -> int:
    from pins.files.setting import SetResult
    from pins.hazards.fixing import fix

    done = [one for subject in subjects if (one := fix(subject, hazards)).patch]
    mended = sum(len(one.fixed) for one in done)
    if write:
        changes = [SetResult(Path(one.file), one.before, one.after, one.patch) for one in done]
        for change in changes:
            change.ensure_writable()
        for change in changes:
            change.write()
    for hazard in (hazard for one in done for hazard in one.left):
        say(f"{hazard.file}:{hazard.line}: left for a second run, for another edit touches it")
    rest = sum(1 for h in hazards if not h.ignored) - mended
    if done:
        deliver(b"".join(one.patch for one in done), output)
    say(f"{mended} {'mended' if write else 'can be mended'}, {rest} need a person.")
    return 1 if rest or (mended and not write) else 0


def _about_rules(explain: str, output_format: str, output: Path | None, no_color: bool) -> str:
    from pins.hazards.table import BY_NAME, RULES
    from pins.report.hazards_text import rules_text

    if not explain or output_format not in {"text", "md", "html"}:
        from pins.report.rules_list import rules_listed

        wanted = [rule for rule in RULES if explain in ("", rule.name)]
        listed = [(rule.name, rule.summary) for rule in wanted]
        if listed:
            return rules_listed(listed, rules_text(wanted), output_format, output, no_color)
    if explain not in BY_NAME:
        near = did_you_mean(explain, BY_NAME)
        raise UsageError(f"--explain {explain!r}: there is no such rule{near}; `pins check --rules` lists them")
    from pins.drawing import drawn
    from pins.report.hazards_document import rule_document

    return drawn(rule_document(BY_NAME[explain]), output_format, output, no_color)


def _drawn(
    hazards: "list[Hazard]",
    subjects: "list[Subject]",
    running: "tuple[Rule, ...]",
    output_format: str,
    output: Path | None,
    no_color: bool,
) -> str:
    if output_format == "json":
        from pins.report.hazards_json import check_json

        return check_json(hazards, [subject.file for subject in subjects])
    if output_format == "sarif":
        from pins.report.hazards_json import check_sarif

        return check_sarif(hazards, running)
    if output_format == "github":
        from pins.report.hazards_text import annotations

        return annotations(hazards, len(subjects))
    if output_format in {"md", "html"}:
        from pins.drawing import drawn
        from pins.report.hazards_document import check_document

        return drawn(check_document(hazards, len(subjects)), output_format, output, no_color)
    import shutil
    import sys

    from pins.report.hazards_text import check_text

    stream = sys.stdout if output is None else None
    terminal = stream is not None and stream.isatty()
    width = min(shutil.get_terminal_size().columns, 120) if terminal else 100
    color = stream is not None and wants_color(stream, no_color)
    return check_text(hazards, len(subjects), width=width, color=color)
