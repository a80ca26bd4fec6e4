"""The JSON documents of `pins show`, `pins diff` and `pins set` are as their schemas say."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from pins.files.compare import Change, Distance, changes
from pins.files.read import read_pins
from pins.files.setting import SetRequest, set_pins
from pins.model import PinSet
from pins.report.pins_json import diff_document, set_document, show_document
from tests.files.test_edit import FILES

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"
ODD = {
    "Dockerfile": b"ARG U\nARG R\nFROM $U AS a\nRUN pip install x==$G y && git clone -b $R https://h/z\nFROM a\nBAD\n",
    "requirements.txt": b"-r gone.txt\n???\nfoo\n",
    "uv.lock": b'[[package]]\nname = "torch"\nversion = "2.9.0"\n',
    "pyproject.toml": b"[",
    "docker-bake.hcl": b'target "a" { args = { A_REF = "${B}-x" } }\n',
}


def check(document: str, name: str) -> dict[str, Any]:
    schema = json.loads((SCHEMAS / f"{name}-1.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    read: dict[str, Any] = json.loads(document)
    Draft202012Validator(schema, format_checker=FormatChecker()).validate(read)
    assert read["schema"] == f"{name}/1"
    return read


def pin_set(path: str, data: bytes) -> PinSet:
    return read_pins(data, path)


@pytest.mark.parametrize("files", [FILES, ODD], ids=["all sorts", "odd"])
def test_show(files: dict[str, bytes]) -> None:
    found = [pin_set(path, data) for path, data in files.items()]
    document = check(show_document(found, {"plain": "1.0", "y": "2"}), "pins.show")
    assert len(document["pins"]) == sum(len(s.pins) for s in found)
    assert any("resolves_to" in pin for pin in document["pins"])
    assert document["complete"] is all(s.complete for s in found)


def test_diff() -> None:
    old, new = pin_set("r.txt", b"foo==1\ngone\n"), pin_set("r.txt", b"foo==2\nnew<3\n")
    groups = [
        ("a", "b", [*changes(old, new), Change(old.pins[0], new.pins[0], Distance(3, 1)), Change(None, new.pins[0])])
    ]
    document = check(diff_document(groups, [old, new]), "pins.diff")
    assert [c["change"] for c in document["changes"]] == ["moved", "added", "removed", "moved", "added"]


def test_set(tmp_path: Path) -> None:
    path = tmp_path / "Dockerfile"
    path.write_bytes(b"# \xe9\nFROM a\nRUN pip install foo==1 bar<2\n")
    done = set_pins(SetRequest(path, ("foo=2",)))
    document = check(set_document(done, written=False), "pins.set")
    assert document["changes"] == [
        {"name": "foo", "kind": "package", "line": 3, "stage": "0", "old": "1", "new": "2"},
    ]
    assert "+RUN pip install foo==2" in document["patch"]
