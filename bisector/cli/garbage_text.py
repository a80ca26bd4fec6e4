"""What `bisector gc` removed, or would remove."""

import json
from dataclasses import asdict

from bisector.leftovers import Garbage
from pins.json_document import opening

SCHEMA = "bisector.gc/1"
KEPT = "bisector gc --all removes them"
STRANGE = "that run is not recorded here; if it is nobody's any more, remove it with docker"


def render_garbage(garbage: Garbage, output_format: str, *, dry_run: bool) -> str:
    """As lines, as a table in Markdown or HTML, or as a `bisector.gc/1` document."""
    match output_format:
        case "json":
            document = {
                **opening(SCHEMA, "bisector"),
                "dry_run": dry_run,
                "removed": [asdict(each) for each in garbage.removed],
                "kept": [asdict(each) for each in garbage.kept],
                "strange": [asdict(each) for each in garbage.strange],
                "not_looked_for": garbage.not_looked_for,
                "cache": garbage.cache,
                "cache_bytes": garbage.cache_bytes,
            }
            return json.dumps(document, indent=2, ensure_ascii=False)
        case "text":
            verb = "would remove" if dry_run else "removed"
            lines = [f"{verb} {each.what} ({each.run})" for each in garbage.removed]
            lines = lines or ["nothing to remove" if garbage.kept else "nothing is left over"]
            lines += [f"kept {each.what} ({each.run}): {KEPT}" for each in garbage.kept]
            lines += [f"left {each.what} ({each.run}): {STRANGE}" for each in garbage.strange]
            return "\n".join([*lines, *_of_cache(garbage)])
    from bisector.cli.output import drawn
    from pins.report.blocks import Block, Bullets, Document, Paragraph, Section, Table, literal, prose
    from pins.report.tones import Tone

    table = Table(("what", "run"), tuple((literal(each.what), literal(each.run)) for each in garbage.removed))
    lead: Block = table if garbage.removed else Paragraph(prose("Nothing is left over."))
    kept = Bullets(tuple(literal(f"{each.what} ({each.run})") for each in garbage.kept))
    missed = Bullets(tuple(literal(what) for what in garbage.not_looked_for))
    sections = [Section(f"Kept: {KEPT}", (kept,))] if garbage.kept else []
    strange = Bullets(tuple(literal(f"{each.what} ({each.run})") for each in garbage.strange))
    sections += [Section(f"Left: {STRANGE}", (strange,))] if garbage.strange else []
    sections += [Section("Not looked for", (missed,))] if garbage.not_looked_for else []
    sections += [Section("Cache", (Paragraph(literal(line)),)) for line in _of_cache(garbage)]
    return drawn(
        Document("Would be removed" if dry_run else "Removed", Tone.PLAIN, (lead,), tuple(sections)), output_format
    )


def _of_cache(garbage: Garbage) -> list[str]:
    size = garbage.cache_bytes / 1024**2
    if size < 1:
        return []
    return [f"the cache takes {size:,.0f} MiB ({garbage.cache}): bisector gc --caches removes it"]
