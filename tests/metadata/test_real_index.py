"""What is read in parts of real wheels is what the whole wheels hold."""

import io
import os
import zipfile
from pathlib import Path

import pytest

from pins.metadata.core_metadata import parse_core_metadata
from pins.metadata.file_metadata import read_file_metadata
from pins.metadata.index_requirements import IndexRequirements
from pins.metadata.wheel import TAIL, RangeFile, metadata_in_wheel
from pins.sources.file_reader import FileReader
from pins.sources.index_configuration import read_index_configuration
from pins.sources.index_file import FileKind
from pins.sources.package_index import PackageIndex
from pins.sources.target import described_target

pytestmark = pytest.mark.network


@pytest.mark.parametrize("project", ["pybind11", "filelock", "jinja2"])
def test_parts_tell_what_the_whole_tells(project: str) -> None:
    configuration = read_index_configuration(environment=os.environ, directory=Path("/"))
    with PackageIndex(configuration, described_target("3.12")) as index:
        wheels = [file for file in index.files(project) if file.kind is FileKind.WHEEL]
        newest = max(wheels, key=lambda file: file.version)
        reader = FileReader(index.reader.http)
        whole = reader.whole(newest.url, largest=2**24)
        with zipfile.ZipFile(io.BytesIO(whole)) as archive:
            [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
            truth = parse_core_metadata(archive.read(name))
        size, tail = reader.tail(newest.url, TAIL)
        parts = RangeFile(size, tail, lambda start, end: reader.part(newest.url, start, end))
        assert parse_core_metadata(metadata_in_wheel(parts, newest.filename)) == truth
        found = read_file_metadata(newest, project, reader)
        assert (found.requires, found.unknown) == (truth.requires, "")


def test_a_wheel_of_many_hundred_megabytes_is_read_in_a_few_small_parts() -> None:
    configuration = read_index_configuration(environment=os.environ, directory=Path("/"))
    with PackageIndex(configuration, described_target("3.12", glibc="2.35")) as index:
        source = IndexRequirements(index)
        found = source.requires([("torch", "2.9.1")])["torch", "2.9.1"]
    assert 'setuptools; python_version >= "3.12"' in found.lines
    assert not found.unknown
