import re
from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import example, given

from bisector.model import Outcome
from bisector.report import render
from bisector.report.model import Result
from tests.example_results import CULPRIT, EXAMPLES, PARTNERS, one_pin, probe
from tests.generated_results import HOSTILE, few, results

VOID = {"meta"}


class Page(HTMLParser):
    """Checks that the page is well nested, and gathers what it holds."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@few
@given(results)
@example(replace(PARTNERS, notes=HOSTILE, failing_output="\n".join(HOSTILE)))
def test_foreign_text_becomes_no_markup(result: Result) -> None:
    page = Page(render(result, "html"))
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "img", "iframe", "link", "object", "embed", "form", "base"}
    for tag, attributes in page.tags:
        assert not any(name.startswith("on") or name == "src" for name in attributes), tag
        if tag == "a":
            assert re.match("https?://", attributes["href"] or "")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page.text)


def test_page_stands_alone_and_can_be_read_without_seeing_it() -> None:
    for result in EXAMPLES.values():
        text = render(result, "html")
        page = Page(text)
        assert "url(" not in text
        assert "@import" not in text
        assert [attributes for tag, attributes in page.tags if tag == "html"] == [{"lang": "en"}]
        assert sum(tag == "h1" for tag, _ in page.tags) == 1
        assert all("scope" in attributes for tag, attributes in page.tags if tag == "th")
        assert all("aria-label" in attributes for tag, attributes in page.tags if tag == "pre")
        identities = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
        assert len(identities) == len(set(identities))


def test_the_link_to_the_change_can_be_followed_but_not_a_script() -> None:
    assert '<a href="https://github.com/ROCm/triton/commit/a71f3d2"' in render(PARTNERS, "html")
    assert PARTNERS.culprit is not None
    hostile = replace(PARTNERS, culprit=replace(PARTNERS.culprit, url="javascript:alert(1)"))
    assert "<a " not in render(hostile, "html")


def test_five_hundred_probes_stay_a_small_page() -> None:
    probes = tuple(probe(n, n, one_pin(f"1.{n}.0"), Outcome.PASS) for n in range(500))
    text = render(replace(CULPRIT, probes=probes, chain_length=500), "html")
    assert len(text) < 600_000
    assert Page(text).text.count("run-1.log") >= 500
