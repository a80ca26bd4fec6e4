"""What `bisector gc` removed, or would remove."""

import json
from dataclasses import asdict

from bisector.leftovers import Garbage
from pins.json_document import opening

SCHEMA = "bisector.cli.gc/1"


def render_garbage(garbage: Garbage, output_format: str, *, dry_run: bool) -> str:
    """As lines, as a table in Markdown or HTML, or as a `bisector.cli.gc/1` document."""
    match output_format:
        case "json":
            document = {
                **opening(SCHEMA, "bisector"),
                "dry_run": dry_run,
                "removed": [asdict(each) for each in garbage.removed],
                "not_looked_for": garbage.not_looked_for,
            }
            return json.dumps(document, indent=2, ensure_ascii=False)
        case "text":
            verb = "would remove" if dry_run else "removed"
            lines = [f"{verb} {each.what} ({each.run})" for each in garbage.removed]
            return "\n".join(lines or ["nothing is left over"])
    from bisector.cli.output import drawn
    from pins.report.blocks import Block, Bullets, Document, Paragraph, Section, Table, literal, prose
    from pins.report.tones import Tone

    table = Table(("what", "run"), tuple((literal(each.what), literal(each.run)) for each in garbage.removed))
    lead: Block = table if garbage.removed else Paragraph(prose("Nothing is left over."))
    missed = Bullets(tuple(literal(what) for what in garbage.not_looked_for))
    sections = (Section("Not looked for", (missed,)),) if garbage.not_looked_for else ()
    return drawn(Document("Would be removed" if dry_run else "Removed", Tone.PLAIN, (lead,), sections), output_format)
