"""`pins windows` and `pins why`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pins.command_line import deliver, guarded, new_app, say
from pins.common_options import AllOptions, Format, NoColor, Output, Quiet, Verbose, check_common
from pins.drawing import drawn
from pins.errors import NoSolutionError, UndeterminedError, UsageError
from pins.file_options import BuildArg, ContextDirectory, Repo, Target, clones, pairs
from pins.index_options import ExcludeNewer, ExtraIndexUrl, IndexUrl, Offline, Platform, Python

if TYPE_CHECKING:
    from pins.report.windows_model import EnvironmentWindows
    from pins.resolve.problem import Gathered, Problem, RequirementSource
    from pins.windows_request import Question

app = new_app("Say which versions fit together, and why others do not.")

Require = Annotated[
    list[str] | None, typer.Option("--require", metavar="REQ", help="What must fit: 'torch>=2.4'. Repeatable.")
]
Constraint = Annotated[
    list[Path] | None, typer.Option("--constraint", metavar="FILE", help="Bounds on what is chosen. Repeatable.")
]
InstallerName = Annotated[str, typer.Option("--installer", metavar="uv|pip", help="Whose rules hold.", hidden=True)]
Prerelease = Annotated[
    list[str] | None,
    typer.Option("--prerelease", metavar="NAME|:all:", help="Its pre-releases count. Repeatable.", hidden=True),
]
IgnoreKnownBad = Annotated[
    bool, typer.Option("--ignore-known-bad", help="Leave known-bad versions and holds out.", hidden=True)
]
WithoutRule = Annotated[
    list[str] | None,
    typer.Option("--without-rule", metavar="RULE", help="Infer nothing by this rule. Repeatable.", hidden=True),
]
Revision = Annotated[str, typer.Option("--rev", metavar="REV", help="Read FILE at this revision of its repository.")]


@app.command("windows", short_help="Show the compatible versions of each package.")
@guarded
def _windows(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="The file whose pins are asked about.")] = None,
    require: Require = None,
    constraint: Constraint = None,
    package: Annotated[
        list[str] | None,
        typer.Option("--package", metavar="NAME", help="Only this window. Repeatable."),
    ] = None,
    given: Annotated[
        list[str] | None, typer.Option("--given", metavar="NAME=VERSION", help="What fits with this one. Repeatable.")
    ] = None,
    python: Python = "",
    platform: Platform = "",
    installer: InstallerName = "uv",
    index_url: IndexUrl = "",
    extra_index_url: ExtraIndexUrl = None,
    exclude_newer: ExcludeNewer = "",
    prerelease: Prerelease = None,
    offline: Offline = False,
    ignore_known_bad: IgnoreKnownBad = False,
    without_rule: WithoutRule = None,
    rev: Revision = "",
    build_arg: BuildArg = None,
    target: Target = "",
    repo: Repo = None,
    context: ContextDirectory = None,
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
    help_all: AllOptions = False,  # noqa: ARG001 - its callback does it all
) -> int:
    r"""Show all the versions of each package for which everything still resolves, and what bounds them.

    \b
    Examples:
      pins windows docker/Dockerfile.rocm_base
      pins windows --require 'torch>=2.4' --require 'setuptools>=82' --python 3.12
      pins windows --require 'torch>=2.4' --require triton --given torch=2.12.0

    Exit code 5 when no set of versions fits, 3 when that cannot be told.
    """
    from pins.reading_progress import counted
    from pins.windows_request import WindowsRequest, gathered_for

    check_common(output_format, output, quiet, verbose)
    request = WindowsRequest(
        file=file,
        require=tuple(require or ()),
        constraint=tuple(constraint or ()),
        given=tuple(given or ()),
        packages=tuple(package or ()),
        python=python,
        platform=platform,
        installer=installer,
        index_url=index_url,
        extra_index_url=tuple(extra_index_url or ()),
        exclude_newer=exclude_newer,
        prereleases=tuple(prerelease or ()),
        offline=offline,
        ignore_known_bad=ignore_known_bad,
        revision=rev,
        build_args=pairs(build_arg, "--build-arg"),
        target=target,
        context=context,
        clones=clones(repo),
        without_rules=tuple(without_rule or ()),
    )
    from pins.report.windows_model import WindowsReport

    with gathered_for(request) as question, counted(question.gathered.source) as source:
        found = tuple(_solved(question, source, *one, verbose) for one in _alike(question.gathered.problems))
    report = WindowsReport(found, question.gathered.notes)
    code = max((_code(one) for one in found), default=0)
    if output_format == "json":
        from pins.report.windows_json import windows_document

        return deliver(windows_document(report), output, code)
    from pins.report.windows_report import windows_report

    return deliver(drawn(windows_report(report), output_format, output, no_color), output, code)


def _alike(problems: "Sequence[Problem]") -> "list[tuple[Problem, list[str]]]":
    """The problems, each with the names of others that differ by name alone: stages that inherit all they have."""
    found: list[tuple[Problem, list[str]]] = []
    for problem in problems:
        same = next((also for one, also in found if replace(problem, name=one.name) == one), None)
        if same is None:
            found.append((problem, []))
        else:
            same.append(problem.name)
    return found


def _solved(
    question: "Question", source: "RequirementSource", problem: "Problem", also: list[str], verbose: bool
) -> "EnvironmentWindows":
    from pins.report.windows_model import EnvironmentWindows
    from pins.resolve.bounds import package_windows
    from pins.resolve.exclusions import exclusions
    from pins.resolve.other_installer import differences
    from pins.resolve.promises import broken_promises
    from pins.resolve.why import why
    from pins.resolve.windows import windows_of

    found = windows_of(problem, source)
    if verbose:
        search = found.solver.universe.search
        names = len(found.solver.universe.names())
        say(f"{problem.name or 'solved'}: {found.solves} searches, {search.conflicts} conflicts, {names} names")
    answer = None if found.possible else why(problem, source)
    return EnvironmentWindows(
        name=problem.name,
        target=question.target.description,
        installer=problem.installer.value,
        possible=found.possible,
        packages=package_windows(found) if found.possible else (),
        exclusions=exclusions(found) if found.possible else (),
        answer=answer,
        broken=broken_promises(found),
        also=tuple(also),
        differences=differences(problem, source, found),
        not_counted=problem.not_counted,
    )


def _concerned(gathered: "Gathered", requirement: str) -> "list[Problem]":
    """The environments that a question is about: where its name is installed or bounded, else all of them."""
    from pins.resolve.requirement_line import read_line

    name = read_line(requirement).name
    problems = [problem for problem, _ in _alike(gathered.problems)]
    concerned = [problem for problem in problems if name in problem.targets]
    return concerned or problems


def _code(environment: "EnvironmentWindows") -> int:
    if environment.answer is None:
        return 0
    return NoSolutionError.exit_code if environment.answer.explanation else UndeterminedError.exit_code


@app.command("why", short_help="Say why a version is outside its window.")
@guarded
def _why(
    requirement: Annotated[str, typer.Argument(metavar="REQ", help="Such as 'pybind11==3.1.0'.")],
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="The file that it is to fit into.")] = None,
    require: Require = None,
    constraint: Constraint = None,
    python: Python = "",
    platform: Platform = "",
    installer: InstallerName = "uv",
    index_url: IndexUrl = "",
    extra_index_url: ExtraIndexUrl = None,
    exclude_newer: ExcludeNewer = "",
    prerelease: Prerelease = None,
    offline: Offline = False,
    ignore_known_bad: IgnoreKnownBad = False,
    without_rule: WithoutRule = None,
    rev: Revision = "",
    build_arg: BuildArg = None,
    target: Target = "",
    repo: Repo = None,
    context: ContextDirectory = None,
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
    help_all: AllOptions = False,  # noqa: ARG001 - its callback does it all
) -> int:
    r"""Say why a version does not fit: the fewest facts that exclude it, and the least that would have to give way.

    \b
    Examples:
      pins why 'pybind11==3.1.0' docker/Dockerfile.rocm_base
      pins why 'triton==3.7.0' --require 'torch>=2.4' --python 3.12

    Exit code 0 when it fits, 5 when it does not, 3 when that cannot be told.
    """
    from pins.reading_progress import counted
    from pins.resolve.why import why
    from pins.windows_request import WindowsRequest, gathered_for

    check_common(output_format, output, quiet, verbose)
    if file is None and not require:
        raise UsageError("nothing is asked for: give a FILE, or --require 'NAME>=VERSION'")
    request = WindowsRequest(
        file=file,
        require=tuple(require or ()),
        constraint=tuple(constraint or ()),
        python=python,
        platform=platform,
        installer=installer,
        index_url=index_url,
        extra_index_url=tuple(extra_index_url or ()),
        exclude_newer=exclude_newer,
        prereleases=tuple(prerelease or ()),
        offline=offline,
        ignore_known_bad=ignore_known_bad,
        revision=rev,
        build_args=pairs(build_arg, "--build-arg"),
        target=target,
        context=context,
        clones=clones(repo),
        without_rules=tuple(without_rule or ()),
    )
    with gathered_for(request) as question, counted(question.gathered.source) as source:
        concerned = _concerned(question.gathered, requirement)
        answers = [(one.name, why(one, source, requirement)) for one in concerned]
    code = 0
    if any(answer.explanation for _, answer in answers):
        code = NoSolutionError.exit_code
    elif any(answer.unknown for _, answer in answers):
        code = UndeterminedError.exit_code
    if output_format == "json":
        from pins.report.windows_json import why_document

        return deliver(why_document(answers), output, code)
    from pins.report.windows_report import why_report

    return deliver(drawn(why_report(answers), output_format, output, no_color), output, code)
