"""`bisector status` and `report`: what the record of a run says. Each imports what it uses."""

from bisector.cli.output import page, show
from bisector.cli.parameters import Run
from pins.command_line import deliver, guarded, new_app, say
from pins.common_options import Format, NoColor, Output, Quiet, Verbose, check_common

app = new_app("Look at a run.")


@app.command("status", short_help="Say where a run stands, live or finished.")
@guarded
def _status(
    run: Run = None,
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
) -> int:
    r"""Where a run stands (the latest, if none is named), also while it is running.

    \b
    Example:
      bisector status
    """
    check_common(output_format, output, quiet, verbose)
    from datetime import UTC, datetime

    from bisector.report import render
    from bisector.results import load_result
    from bisector.runs import find_run, is_driven

    run_directory = find_run(run)
    running = is_driven(run_directory)
    result = load_result(run_directory)
    if output_format != "text":
        return deliver(render(result, output_format), output)
    from bisector.cli.activity import activity_of
    from bisector.report.status import render_status

    now = datetime.now(UTC)
    activity = activity_of(run_directory, now) if running else ()
    width, color = page(output, no_color)
    text = render_status(result, now=now, activity=activity, running=running, width=width, color=color)
    return deliver(text, output)


@app.command("report", short_help="Render a run: text, md, html, json.")
@guarded
def _report_again(
    run: Run = None,
    output_format: Format = "text",
    output: Output = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    no_color: NoColor = False,
) -> int:
    r"""Render a run (the latest, if none is named): for the terminal, as Markdown, HTML or JSON.

    \b
    Example:
      bisector report --format md --output finding.md
    """
    check_common(output_format, output, quiet, verbose)
    from bisector.results import load_result
    from bisector.runs import find_run, is_driven

    run_directory = find_run(run)
    if is_driven(run_directory):
        say(f"{run_directory.name} is still running: this is what is known so far; `bisector status` follows it.")
    show(load_result(run_directory), output_format, output, no_color)
    return 0
