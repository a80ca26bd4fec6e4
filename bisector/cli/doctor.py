"""What `bisector doctor` shows: what this machine can run, and how to get what it lacks."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict

from bisector.cli.machine_checks import CHECKS, Finding
from pins.choices import did_you_mean
from pins.errors import UsageError
from pins.json_document import opening

SCHEMA = "bisector.doctor/1"
GPUS = ("rocm", "nvidia")
ANY_GPU = "gpu"


def examine(watch: Callable[[str], None] = lambda _: None) -> list[Finding]:
    """Look at everything, in the order in which a run would need it; `watch` is told of each before."""
    findings = []
    for name, check in CHECKS.items():
        watch(name)
        findings.append(check())
    return findings


def check_names(names: Sequence[str]) -> None:
    """Refuse a name that no check has.

    Raises:
        UsageError: there is one.
    """
    for name in names:
        if name not in CHECKS and name != ANY_GPU:
            known = (*CHECKS, ANY_GPU)
            raise UsageError(
                f"--need {name!r} is none of what is looked at: {', '.join(CHECKS)}, or {ANY_GPU} for any"
                f"{did_you_mean(name, known)}"
            )


def lacking(needed: Sequence[str], findings: Sequence[Finding]) -> list[Finding]:
    """What is needed and not there; `gpu` needs a GPU of any make."""
    found = {finding.name: finding for finding in findings}
    gpus = [found[name] for name in GPUS if name in found]
    details, remedies = ("; ".join(texts) for texts in ([gpu.detail for gpu in gpus], [gpu.remedy for gpu in gpus]))
    found[ANY_GPU] = Finding(ANY_GPU, any(gpu.found for gpu in gpus), details, remedies)
    return [found[name] for name in dict.fromkeys(needed) if name in found and not found[name].found]


def render_findings(findings: Sequence[Finding], output_format: str, *, color: bool = False) -> str:
    """As a table, in text, Markdown or HTML, or as a `bisector.doctor/1` document."""
    if output_format == "json":
        document = {
            **opening(SCHEMA, "bisector"),
            "findings": [asdict(finding) for finding in findings],
        }
        return json.dumps(document, indent=2, ensure_ascii=False)
    if output_format != "text":
        from bisector.cli.output import drawn
        from pins.report.blocks import Document, Table, literal, prose
        from pins.report.tones import Tone

        rows = tuple(
            (
                prose("ok" if finding.found else "missing"),
                literal(finding.name),
                literal(finding.detail),
                literal(finding.remedy),
            )
            for finding in findings
        )
        table = Table(("state", "what", "detail", "how to get it"), rows)
        return drawn(Document("What this machine can run", Tone.PLAIN, (table,), ()), output_format)
    from pins.report.terminal_colours import painted
    from pins.report.tones import Tone

    width = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        state, tone = ("ok     ", Tone.GOOD) if finding.found else ("missing", Tone.DOUBT)
        lines.append(f"{painted(state, tone) if color else state}  {finding.name:{width}}  {finding.detail}")
        if finding.remedy:
            lines.append(f"{'':{9 + width}}  -> {finding.remedy}")
    return "\n".join(lines)
