"""The pages of the project, and the blocks that stand on them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
GENERATED = ROOT / "docs" / "hazards"
"""Written by scripts/hazard-pages, whose examples tests/hazards runs; only their links are looked at here."""
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w-]*)\n(?P<body>.*?)^ *```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """What stands between two fences.

    Attributes:
        page: its path from the top of the checkout.
        line: of the opening fence, counted from 1.
        language: the word behind the fence, "" where there is none.
        text: what is between.
    """

    page: str
    line: int
    language: str
    text: str


@dataclass(frozen=True)
class Shown:
    """A command as a page shows it.

    Attributes:
        page, line: where its `$` stands.
        command: what is typed, lines joined.
        printed: the lines below it, up to the next command.
    """

    page: str
    line: int
    command: str
    printed: tuple[str, ...]


def pages() -> list[Path]:
    """README.md and everything below docs."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks() -> list[Block]:
    """Every fenced block of every page that a person has written."""
    found = []
    for path in pages():
        if GENERATED in path.parents and path.name != "README.md":
            continue
        text = path.read_text(encoding="utf-8")
        for fence in _FENCE.finditer(text):
            line = text.count("\n", 0, fence.start()) + 1
            found.append(Block(str(path.relative_to(ROOT)), line, fence["language"], fence["body"]))
    return found


def commands(block: Block) -> list[Shown]:
    """The commands of a console block."""
    found: list[Shown] = []
    lines = block.text.splitlines()
    position = 0
    while position < len(lines):
        assert lines[position].startswith("$ "), f"{block.page}:{block.line}: a console block begins with a command"
        start, words = position, lines[position].removeprefix("$ ")
        while words.endswith("\\"):
            position += 1
            words = words[:-1] + lines[position].strip()
        position += 1
        printed = []
        while position < len(lines) and not lines[position].startswith("$ "):
            printed.append(lines[position])
            position += 1
        found.append(Shown(block.page, block.line + 1 + start, words, tuple(printed)))
    return found
