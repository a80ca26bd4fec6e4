"""One requirement as pip takes it, with the places of its parts: specifier, direct URL, repository, or path."""

import posixpath
import re
from dataclasses import dataclass
from enum import Enum
from urllib.parse import unquote

from packaging.utils import canonicalize_name

from pins.files.values import HIDDEN, Value, cut, shape_of, text_of, unknown_of

_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*")
_CLAUSE = r"(?:===|==|~=|!=|<=|>=|<|>)\s*[^\s,;()#]+"
_SPECIFIER = re.compile(rf"\(?\s*({_CLAUSE}(?:\s*,\s*{_CLAUSE})*)\s*,?\s*\)?")
_EXACT = re.compile(r"===?\s*([^\s,;()*]+)\Z")
_URL = re.compile(r"(?:git|hg|svn|bzr)\+[a-z+]+:|[a-z][a-z0-9+.-]*://|git@")
_WHEEL = re.compile(r"([A-Za-z0-9_.]+)-([^-/]+)(?:-[^-/]+)?-[^-/]+-[^-/]+-[^-/]+\.whl\Z")
_SDIST = re.compile(r"([A-Za-z0-9_.-]+?)-v?(\d[^-/]*)\.(?:tar\.gz|zip|tar\.bz2|tgz)\Z")


class RequirementKind(Enum):
    """How a requirement says what it wants."""

    SPECIFIER = "specifier"
    REPOSITORY = "repository"
    URL = "url"
    PATH = "path"


@dataclass(frozen=True, slots=True)
class ReadRequirement:
    """A requirement.

    Attributes:
        kind: how it says what it wants.
        name: normalised, "" where it does not say.
        specifier: the part with operators, () when there is none.
        version: the version behind a single ``==``, () when the specifier is anything else.
        name_part: name and extras, behind which a specifier would go; () where none can.
        url: for a repository its address without the ref, else the URL or path.
        ref: the part of a repository URL that names a revision, () when it names none.
        whole_url: the URL or path as written, with its places.
        marker: the environment marker, "" when there is none.
        unnamed: the part of the name that is not known, () when all of it is; `name` then holds the reference to it, as
            in "cupy-cuda${CUDA}x".
    """

    kind: RequirementKind
    name: str
    specifier: Value = ()
    version: Value = ()
    name_part: Value = ()
    url: str = ""
    ref: Value = ()
    whole_url: Value = ()
    marker: str = ""
    unnamed: Value = ()


_NAMES_A_SPECIFIER = re.compile(r"(?i)(?:^|[_{])(?:spec|specifier|version|ver|pin|constraint|bound)s?\W*\Z")
"""A variable behind a name that holds a specifier, by its own name; in `cupy-cuda${CUDA}` it is part of the name."""


def read_requirement(value: Value) -> ReadRequirement | None:
    """Read a requirement; None for what is none."""
    text = shape_of(value)
    if not text.strip():
        return None
    if _URL.match(text):
        return _read_url(value, 0, "")
    if re.match(r"(?:git|hg|svn|bzr)\+\$", text) and unknown_of(value):
        # `git+${FOO_URL}`, which only whoever builds can give: address and revision
        name = re.sub(r"(?i)(?:_|\b)(?:url|repo|repository|git|ref|spec)\b", "", text.split("$")[1].strip("{}"))
        name = canonicalize_name(re.sub(r"\W+", "-", name).strip("-"))
        return ReadRequirement(RequirementKind.REPOSITORY, name, ref=cut(value, text.index("+") + 1, len(text)))
    if (of_no_name := _partly_named(value, text)) is not None:
        return of_no_name
    match = _NAME.match(text)
    named = match is not None and text[match.end() : match.end() + 1] == "@"
    if match is None or (not named and _is_path(text)):
        return (
            ReadRequirement(RequirementKind.PATH, "", url=text_of(value), whole_url=value) if _is_path(text) else None
        )
    name = canonicalize_name(match[1])
    position = match.end()
    if text[position : position + 1] == "@":
        start = position + 1
        while start < len(text) and text[start].isspace():
            start += 1
        if _URL.match(text, start):
            return _read_url(value, start, name)
        return ReadRequirement(RequirementKind.PATH, name, url=text_of(value)[start:])
    end_of_name = match.end(2) if match[2] else match.end(1)
    # a specifier can be put behind the name only where no variable has a part in the word
    plain = not any(fragment.variables or fragment.unknown for fragment in value)
    name_part = cut(value, match.start(1), end_of_name) if plain else ()
    rest, _, marker = text[position:].partition(";")
    if not rest.strip() or rest.lstrip().startswith("#"):
        return ReadRequirement(RequirementKind.SPECIFIER, name, name_part=name_part, marker=marker.strip())
    found = _SPECIFIER.match(text, position)
    if not found:
        left_open = cut(value, position, len(text))
        if len(left_open) != 1 or not left_open[0].unknown or not _NAMES_A_SPECIFIER.search(left_open[0].text):
            return None
        # `foo${FOO_SPEC}` with an ARG that has no default: what is asked for is up to who builds
        return ReadRequirement(RequirementKind.SPECIFIER, name, left_open)
    specifier = cut(value, found.start(1), found.end(1))
    exact = _EXACT.match(found[1])
    version: Value = ()
    if exact:
        version = cut(value, found.start(1) + exact.start(1), found.start(1) + exact.end(1))
    return ReadRequirement(RequirementKind.SPECIFIER, name, specifier, version, name_part, marker=marker.strip())


_REFERENCE = r"\$\{?[A-Za-z_][A-Za-z0-9_]*\}?"
_PARTLY_NAMED = re.compile(
    rf"(?P<name>(?:[A-Za-z0-9._{HIDDEN}-]|{_REFERENCE})+)(?:\[[^\]]*\])?\s*(?P<specifier>{_CLAUSE}(?:\s*,\s*{_CLAUSE})*)?\s*(?:;|\Z)"
)


def _partly_named(value: Value, text: str) -> ReadRequirement | None:
    """A requirement with a variable in its name whose value is not known; None for any other.

    A word that is nothing but a variable may be anything: options, or several requirements.
    """
    match = _PARTLY_NAMED.match(text) if unknown_of(value) else None
    if match is None or _NAMES_A_SPECIFIER.search(match["name"]) or _is_path(text):
        return None
    unnamed = tuple(fragment for fragment in cut(value, *match.span("name")) if fragment.unknown)
    if not unnamed or (not match["specifier"] and re.fullmatch(rf"(?:{HIDDEN}|{_REFERENCE})*", match["name"])):
        return None
    name = "".join("$(...)" if f.text.startswith("$(") else f.text for f in cut(value, *match.span("name")))
    specifier = cut(value, *match.span("specifier")) if match["specifier"] else ()
    exact = _EXACT.match(match["specifier"] or "")
    version = cut(specifier, exact.start(1), exact.end(1)) if exact else ()
    return ReadRequirement(RequirementKind.SPECIFIER, name, specifier, version, unnamed=unnamed)


def _is_path(text: str) -> bool:
    return (
        text.startswith((".", "/", "~", "file:"))
        or text.endswith((".whl", ".tar.gz", ".zip"))
        or ("/" in text and "@" not in text and " " not in text.split(";")[0].strip())
    )


def _read_url(value: Value, start: int, name: str) -> ReadRequirement:
    text = shape_of(value)
    end = len(text)
    marker = ""
    if match := re.compile(r"\s+;|\s*;\s+|\s+#").search(text, start):
        marker = text[match.end() :].strip() if ";" in match[0] else ""
        end = match.start()
    fragment = text.find("#", start, end)
    url_end = fragment if fragment >= 0 else end
    details = text[fragment + 1 : end] if fragment >= 0 else ""
    if not name and (egg := re.search(r"egg=([A-Za-z0-9._-]+)", details)):
        name = canonicalize_name(egg[1])
    whole = cut(value, start, url_end)
    url, shape = text_of(value)[start:url_end], text[start:url_end]
    if re.match(r"(git|hg|svn|bzr)\+|git@|git://|ssh://git@", url):
        scheme_end = shape.find("://")
        host_end = shape.find("/", scheme_end + 3 if scheme_end >= 0 else 0)
        at = shape.find("@", host_end) if host_end >= 0 else -1
        ref = cut(value, start + at + 1, url_end) if at >= 0 else ()
        address = url[:at] if at >= 0 else url
        address = address.removeprefix("git+")
        return ReadRequirement(
            RequirementKind.REPOSITORY,
            name or repository_name(address),
            url=address,
            ref=ref,
            whole_url=whole,
            marker=marker,
        )
    if not name:
        name = name_in_file(unquote(posixpath.basename(url)))
    return ReadRequirement(RequirementKind.URL, name, url=url, whole_url=whole, marker=marker)


def name_in_file(filename: str) -> str:
    """The distribution that a wheel's or source archive's file name says, "" when it says none."""
    match = _WHEEL.match(filename) or _SDIST.match(filename)
    return canonicalize_name(match[1]) if match else ""


def version_in_file(filename: str) -> str:
    """The version that a wheel's or source archive's file name says, "" when it says none."""
    match = _WHEEL.match(filename) or _SDIST.match(filename)
    return match[2] if match else ""


def repository_name(address: str) -> str:
    """The last part of a repository's address, such as "triton" for https://host/ROCm/triton.git."""
    return posixpath.basename(address.split("#")[0].rstrip("/")).removesuffix(".git").split(":")[-1].lower()
