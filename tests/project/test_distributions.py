"""The wheel and the source distribution: what is in them, and that anyone can build the same bytes again."""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from uv import find_uv_bin

pytestmark = [pytest.mark.slow, pytest.mark.network]


def tracked(snapshot: Path, *places: str) -> set[str]:
    """What git holds in these directories."""
    listed = ["git", "-C", str(snapshot), "ls-files", "-z", "--", *places]
    return set(subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split("\0")) - {""}


def test_the_wheel_holds_both_packages_with_schemas_and_licence_and_nothing_else(wheel: Path, snapshot: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    information = wheel.name.removesuffix("-py3-none-any.whl") + ".dist-info"
    schemas = {name.replace("docs/schemas", "bisector/schemas") for name in tracked(snapshot, "docs/schemas")}
    told = {f"{information}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")}
    assert schemas
    assert {"bisector/py.typed", "pins/py.typed"} <= names
    assert names == tracked(snapshot, "bisector", "pins") | schemas | told


def test_the_source_distribution_holds_what_the_wheel_is_made_of_and_the_documentation(
    distributions: Path, snapshot: Path
) -> None:
    (archive,) = distributions.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.split("/", 1)[1] for name in tar.getnames()}
        assert {(member.uname, member.uid, member.mode & 0o022) for member in tar.getmembers()} == {("", 0, 0)}
    top = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore", "PKG-INFO"}
    assert names == tracked(snapshot, "bisector", "pins", "docs") | top


def test_another_build_in_another_place_gives_the_same_bytes(
    distributions: Path, snapshot: Path, tmp_path: Path
) -> None:
    place = tmp_path / "ein anderer Ort"
    for name in tracked(snapshot):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(snapshot / name, place / name)
    (place / "bisector" / "__pycache__").mkdir()
    (place / "bisector" / "__pycache__" / "left.pyc").write_bytes(b"junk")
    committed = ["git", "show", "--no-patch", "--format=%ct", "HEAD"]
    epoch = subprocess.run(committed, cwd=snapshot, capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run(
        [find_uv_bin(), "build", "--quiet", f"--out-dir={tmp_path / 'built'}", "--python", sys.executable, str(place)],
        env={**os.environ, "SOURCE_DATE_EPOCH": epoch, "TZ": "America/St_Johns"},
        umask=0o002,
        check=True,
    )
    ours = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in distributions.iterdir()}
    theirs = {name: hashlib.sha256((tmp_path / "built" / name).read_bytes()).hexdigest() for name in ours}
    assert theirs == ours
    assert len(ours) == 2
