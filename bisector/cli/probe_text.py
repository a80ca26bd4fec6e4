"""What became of one candidate that was built and smoked without a search: `bisector probe`."""

import json
from dataclasses import asdict

from bisector.model import Outcome
from bisector.report.model import ProbeRecord
from pins.json_document import opening

SCHEMA = "bisector.probe/1"


def exit_code(record: ProbeRecord) -> int:
    """0: passed; 1: failed, or could not be built; 3: the script could not say; 6: our side failed."""
    return {Outcome.PASS: 0, Outcome.INFRA: 6, Outcome.SKIP: 3}.get(record.outcome, 1)


def render_probe(record: ProbeRecord, output_format: str) -> str:
    """A probe as text, Markdown or HTML, or as a `bisector.probe/1` document."""
    if output_format == "json":
        return json.dumps(_document(record), indent=2, ensure_ascii=False)
    title = f"{record.outcome.value}: {record.candidate}"
    if output_format == "text":
        return "\n".join([title, *(f"  {line}" for line in _lines(record))])
    from bisector.cli.output import drawn
    from pins.report.blocks import Bullets, Document, literal
    from pins.report.tones import Tone

    said = Bullets(tuple(literal(line) for line in _lines(record)))
    return drawn(Document(title, Tone.PLAIN, (said,), ()), output_format)


def _lines(record: ProbeRecord) -> list[str]:
    """What there is to say besides the outcome."""
    reasons = [record.reason, *(run.reason for run in record.runs)]
    lines = [reason for reason in dict.fromkeys(reasons) if reason]
    signature = record.signature
    if signature is not None:
        lines.append(f"{signature.exit}: {': '.join(part for part in (signature.kind, signature.message) if part)}")
    if record.build_log:
        lines.append(f"build {record.build_seconds:.1f} s, log {record.build_log}")
    lines += [
        f"run {run.seconds:.1f} s, {run.outcome.value}, log {run.log}, output {run.output}" for run in record.runs
    ]
    return lines


def _document(record: ProbeRecord) -> dict[str, object]:
    return {
        **opening(SCHEMA, "bisector"),
        "candidate": dict(record.candidate),
        "outcome": record.outcome.value,
        "reason": record.reason,
        "signature": record.signature and asdict(record.signature),
        "host": record.host,
        "build_seconds": record.build_seconds,
        "build_log": record.build_log,
        "runs": [
            {"outcome": run.outcome.value, "seconds": run.seconds, "log": run.log, "output": run.output}
            for run in record.runs
        ],
        "input_hash": record.input_hash,
        "content_identity": record.content_identity,
    }
