"""What is said of a word or a path that is not there."""

from pathlib import Path

import pytest

from pins.choices import did_you_mean, not_there, one_of
from pins.errors import UsageError


def test_a_word_that_is_none_of_a_few_is_told_with_them_and_the_nearest() -> None:
    assert one_of("json", "--format", ("text", "json")) == "json"
    with pytest.raises(UsageError) as error:
        one_of("jsn", "--format", ("text", "md", "json"))
    assert error.value.message == "--format 'jsn' is none of text, md or json; did you mean json?"


def test_what_is_like_nothing_has_no_nearest() -> None:
    assert did_you_mean("zzz", ["alpha", "beta"]) == ""
    assert did_you_mean("ALPHA", ["alpha", "beta"]) == "; did you mean alpha?"


def test_a_path_is_told_from_where_on_it_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "docker").mkdir()
    (tmp_path / "docker" / "Dockerfile.rocm_base").touch()
    misspelt = tmp_path / "docker" / "Dockerfile.rocmbase"
    assert not_there(misspelt) == f"{misspelt} does not exist; did you mean Dockerfile.rocm_base?"
    above = tmp_path / "dcker" / "Dockerfile.rocm_base"
    assert not_there(above) == f"{above} does not exist: there is no {tmp_path / 'dcker'}; did you mean docker?"
    assert "standard input is not read" in not_there(Path("-"))
