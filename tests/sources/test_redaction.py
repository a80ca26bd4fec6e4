import json
from html import escape
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from pins.sources.redaction import MASK, redact

SECRETS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=4, max_size=12)


@given(secret=SECRETS)
def test_a_secret_is_masked_in_every_form(secret: str) -> None:
    forms = [
        secret,
        quote(secret, safe=""),
        quote(secret, safe="!$&'()*+,;=~"),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        escape(secret),
    ]
    for form in forms:
        assert redact(f"\0{form}\0", [secret]) == f"\0{MASK}\0"


def test_whatever_stands_before_the_host_of_a_url_is_masked_known_or_not() -> None:
    text = "GET https://user:pa55@host.test/simple/ and git+ssh://tok@host.test/x but mail me@host.test"
    assert redact(text, []) == (
        f"GET https://{MASK}@host.test/simple/ and git+ssh://{MASK}@host.test/x but mail me@host.test"
    )


def test_percent_encoding_in_lower_case_is_masked_too() -> None:
    assert redact("p%c3%a4ss%2fword and p%C3%A4ss/word", ["päss/word"]) == f"{MASK} and {MASK}"


def test_a_password_with_an_at_sign_goes_whole() -> None:
    assert redact("https://user:p@ss@host.test/", []) == f"https://{MASK}@host.test/"


def test_a_longer_secret_is_masked_before_one_that_it_contains() -> None:
    assert redact("abcdefgh", ["abcd", "abcdefgh"]) == MASK


def test_a_short_secret_does_not_garble_the_text_around() -> None:
    assert redact("a cat sat on http://x:a@b/", ["a"]) == f"a cat sat on http://{MASK}@b/"


def test_a_long_text_without_secrets_is_quick_to_read() -> None:
    text = "a.b-c+" * 50_000 + "://" * 1_000
    assert redact(text, ["hidden-word"]) == text


@given(secret=SECRETS, around=st.text("ab %&+\\:/@", max_size=12))
def test_a_secret_is_masked_beside_whatever_could_begin_an_escape(secret: str, around: str) -> None:
    assert secret not in redact(f"{around}\0{secret}\0{around}", [secret]).replace(MASK, "\0")
