"""The HTML pages: readable without colours, pointer or network; opened in a browser where there is one."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.browser import THEMES, needs_browser, opened, violations

GOLDEN = Path(__file__).parent / "golden"
PAGES = ("suggest.html", "check.html")


class Outline(HTMLParser):
    """Collects what an accessibility check asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.language = ""
        self.title = False
        self.headings: list[int] = []
        self.identifiers: list[str] = []
        self.referred: list[str] = []
        self.problems: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.open.append(tag)
        if tag == "html":
            self.language = attributes.get("lang") or ""
        self.title = self.title or tag == "title"
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if "id" in attributes:
            self.identifiers.append(attributes["id"] or "")
        self.referred += (attributes.get("aria-labelledby") or "").split()
        if tag == "th" and not attributes.get("scope"):
            self.problems.append("a table's head says not what it heads")
        if tag == "img" and "alt" not in attributes:
            self.problems.append("a picture without words")
        if attributes.get("tabindex", "0") != "0":
            self.problems.append("the order of the keyboard is not that of the page")
        if attributes.get("role") in {"region", "group"} and not attributes.get("aria-label"):
            self.problems.append("a region without a name")
        if tag in {"script", "iframe", "link", "img", "object"} or any(name.startswith("on") for name in attributes):
            self.problems.append(f"{tag} could run or load something")
        if tag == "a" and not (attributes.get("href") or "").startswith("https://"):
            self.problems.append(f"a link to {attributes.get('href')}")


def outline(name: str) -> Outline:
    parser = Outline()
    parser.feed((GOLDEN / name).read_text(encoding="utf-8"))
    return parser


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_what_keyboards_and_screen_readers_need(name: str) -> None:
    found = outline(name)
    assert found.language == "en"
    assert found.title
    assert found.headings[0] == 1
    assert found.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(found.headings, found.headings[1:], strict=False))
    assert len(set(found.identifiers)) == len(found.identifiers)
    assert set(found.referred) <= set(found.identifiers)
    assert found.problems == []


def test_what_colour_says_of_a_version_is_said_in_words_too() -> None:
    page = (GOLDEN / "suggest.html").read_text(encoding="utf-8")
    versions = re.findall(r'<li class="(good|bad|doubt)"[^>]*>(.*?)</li>', page)
    words = {"good": "allowed", "bad": "excluded", "doubt": "unknown"}
    assert versions
    assert all(f'<span class="unseen">{words[tone]}' in content for tone, content in versions)


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("theme", THEMES)
def test_a_browser_shows_the_page_without_an_error_or_a_request(name: str, theme: str, tmp_path: Path) -> None:
    shown = opened(GOLDEN / name, tmp_path, theme)
    assert shown.picture.stat().st_size > 10_000
    assert shown.console == ()
    assert shown.requested == set()
    assert violations(GOLDEN / name, tmp_path, theme) == []
