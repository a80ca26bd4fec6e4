"""Scripts inside scripts: the body of a heredoc, and the words of ``sh -c`` and ``eval``."""

from pins.files.joined import JoinedText
from pins.files.shell.tokens import HeredocBody
from pins.files.values import Value


def heredoc_text(joined: JoinedText, heredoc: HeredocBody) -> JoinedText:
    """The body of a heredoc as the command reads it, without the tabs that ``<<-`` drops."""
    body = joined.part(heredoc.start, heredoc.end)
    if not heredoc.strip_tabs:
        return body
    spans: list[tuple[int, int]] = []
    position = heredoc.start
    for line in body.text.splitlines(keepends=True):
        spans.append((position + len(line) - len(line.lstrip(b"\t")), position + len(line)))
        position += len(line)
    parts = [joined.part(*span) for span in spans]
    starts: list[int] = []
    length = 0
    sources: list[int] = []
    for part in parts:
        starts.extend(length + start for start in part.starts)
        sources.extend(part.sources)
        length += len(part.text)
    return JoinedText(b"".join(part.text for part in parts), tuple(starts) or (0,), tuple(sources) or (0,))


def script_in(value: Value) -> JoinedText:
    """A script that is held in a word; its bytes keep their places as far as they have one each."""
    text = bytearray()
    starts: list[int] = []
    sources: list[int] = []
    for fragment in value:
        raw = (fragment.text if not fragment.unknown else "$_unknown_").encode("utf-8", "surrogateescape")
        if not raw:
            continue
        starts.append(len(text))
        sources.append(fragment.start if fragment.start >= 0 else 0)
        text += raw
    return JoinedText(bytes(text), tuple(starts) or (0,), tuple(sources) or (0,))
