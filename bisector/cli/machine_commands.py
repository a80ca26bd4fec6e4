"""`bisector gc` and `doctor`: the state of this machine. Each imports what it uses."""

from typing import Annotated

import typer

from pins.command_line import deliver, guarded, new_app, say
from pins.common_options import Format, NoColor, Output, Quiet, Verbose, check_common
from pins.completions import completion

app = new_app("Look after this machine.")


def _looked_at(_: typer.Context) -> list[str]:
    from bisector.cli.doctor import ANY_GPU
    from bisector.cli.machine_checks import CHECKS

    return [*CHECKS, ANY_GPU]


@app.command("gc", short_help="Remove what runs have left behind.")
@guarded
def _gc(
    everything: Annotated[
        bool, typer.Option("--all", help="Also builds of interrupted runs, and those kept with --keep.")
    ] = False,
    older_than: Annotated[
        str,
        typer.Option("--older-than", metavar="DURATION", help="Also whole runs, last touched longer ago, such as 30d."),
    ] = "",
    caches: Annotated[bool, typer.Option("--caches", help="Also downloads, which are then made again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,  # noqa: ARG001 - its lines have none
) -> int:
    r"""Remove what runs have left behind: processes, containers, scratch space, builds of finished runs.

    \b
    Example:
      bisector gc --older-than 30d
    """
    check_common(output_format, output, quiet, verbose)
    from datetime import timedelta

    from bisector.cli.arguments import parse_duration
    from bisector.cli.garbage_text import render_garbage
    from bisector.leftovers import collect_garbage

    age = timedelta(seconds=parse_duration(older_than, "--older-than")) if older_than else None
    garbage = collect_garbage(everything=everything, older_than=age, caches=caches, dry_run=dry_run)
    for what in garbage.not_looked_for:
        say(f"not looked for: {what}")
    code = 6 if garbage.not_looked_for else 0
    return deliver(render_garbage(garbage, output_format, dry_run=dry_run), output, code)


@app.command("doctor", short_help="Say what this machine can run, and what it lacks.")
@guarded
def _doctor(
    need: Annotated[
        list[str],
        typer.Option(
            "--need",
            metavar="NAME",
            help="Exit 1 unless it is there: docker, gpu, ... Repeatable.",
            autocompletion=completion(_looked_at),
        ),
    ] = [],  # noqa: B006 - typer copies it
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
) -> int:
    r"""What this machine can run: Python versions, package index, Docker, GPUs, disk.

    \b
    Example:
      bisector doctor --need docker
    """
    check_common(output_format, output, quiet, verbose)
    from bisector.cli.doctor import check_names, examine, lacking, render_findings
    from bisector.cli.output import page

    check_names(need)
    findings = examine((lambda name: say(f"looking at {name}")) if verbose else lambda _: None)
    missing = lacking(need, findings)
    color = page(output, no_color)[1]
    deliver(render_findings(findings, output_format, color=color), output)
    for finding in missing:
        remedy = f"; {finding.remedy}" if finding.remedy else ""
        say(f"needed and not there: {finding.name}: {finding.detail}{remedy}")
    return 1 if missing else 0
