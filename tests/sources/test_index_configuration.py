import os
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from distlib.index import DEFAULT_INDEX

from pins.errors import UsageError
from pins.sources.index_configuration import IndexConfiguration, read_index_configuration, without_index_variables
from pins.sources.index_settings import IndexStrategy

BEST = IndexStrategy.UNSAFE_BEST_MATCH


class Caller:
    """Someone with a home, a working directory and an environment of their own; the machine's own files left out."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.directory = root / "project" / "src"
        self.home.mkdir()
        self.directory.mkdir(parents=True)
        self.variables = {"HOME": str(self.home), "XDG_CONFIG_DIRS": str(root / "etc")}

    def write(self, place: str, text: str) -> Path:
        path = self.home.parent / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def read(self, index_url: str = "", extra: tuple[str, ...] = (), **variables: str) -> IndexConfiguration:
        return read_index_configuration(
            index_url, extra, environment={**self.variables, **variables}, directory=self.directory
        )


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    return Caller(tmp_path)


def test_nothing_configured_means_the_index_that_the_library_names(caller: Caller) -> None:
    found = caller.read(UV_NO_CONFIG="1", PIP_CONFIG_FILE=os.devnull)
    assert found.public() == (DEFAULT_INDEX.rsplit("/", 1)[0] + "/simple/",)
    assert found.origin == "the default"


def test_the_command_line_replaces_all_that_is_configured(caller: Caller) -> None:
    caller.write("project/uv.toml", 'index-url = "https://uv.test/simple"\nfind-links = ["./wheels"]')
    found = caller.read("https://cli.test/simple", PIP_EXTRA_INDEX_URL="https://pip.test/simple")
    assert found.public() == ("https://cli.test/simple/",)


def test_an_extra_index_on_the_command_line_adds_to_what_is_configured(caller: Caller) -> None:
    found = caller.read("", ("https://rocm.test/simple",), UV_NO_CONFIG="1", PIP_INDEX_URL="https://pip.test/simple")
    assert found.public()[:2] == ("https://pip.test/simple/", "https://rocm.test/simple/")
    assert found.strategy is BEST


def test_uv_comes_before_pip_and_takes_the_first_index(caller: Caller) -> None:
    found = caller.read(
        UV_DEFAULT_INDEX="https://default.test/simple",
        UV_INDEX="extra=https://one.test/simple https://two.test/simple",
        UV_NO_CONFIG="1",
        PIP_INDEX_URL="https://pip.test/simple",
    )
    assert found.public() == ("https://one.test/simple/", "https://two.test/simple/", "https://default.test/simple/")
    assert found.strategy is IndexStrategy.FIRST_INDEX
    assert caller.read(UV_INDEX_URL="https://a.test/", UV_INDEX_STRATEGY=BEST, UV_NO_CONFIG="1").strategy is BEST


def test_uv_settings_of_project_and_user_add_up_and_the_project_wins(caller: Caller) -> None:
    caller.write(
        "project/pyproject.toml",
        """
        [tool.uv]
        index-strategy = "unsafe-best-match"
        [[tool.uv.index]]
        name = "torch"
        url = "https://torch.test/whl/"
        [[tool.uv.index]]
        name = "internal"
        url = "https://internal.test/simple"
        default = true
        [[tool.uv.index]]
        url = "https://pinned.test/simple"
        explicit = true
        [[tool.uv.index]]
        url = "./wheels"
        format = "flat"
        """,
    )
    caller.write(
        "home/.config/uv/uv.toml",
        'index-url = "https://user.test/simple"\nextra-index-url = ["https://more.test/simple"]\n',
    )
    found = caller.read(UV_INDEX_INTERNAL_USERNAME="someone", UV_INDEX_INTERNAL_PASSWORD="hidden-word")
    assert found.public() == (
        "https://internal.test/simple/",
        "https://torch.test/whl/",
        "https://more.test/simple/",
        (caller.home.parent / "project" / "wheels").as_uri(),
    )
    assert found.locations[0].password == "hidden-word"
    assert found.strategy is BEST


def test_the_nearest_uv_settings_count_and_a_broken_pyproject_counts_as_none(caller: Caller) -> None:
    caller.write("project/src/pyproject.toml", "this is not [ TOML")
    caller.write("project/uv.toml", '[pip]\nindex-url = "https://pip-table.test/"\n')
    assert caller.read().public() == ("https://pip-table.test/",)


def test_pip_settings_follow_its_order_of_files_and_sections(caller: Caller) -> None:
    caller.write("etc/pip/pip.conf", "[global]\nindex-url = https://system.test/\nextra-index-url = https://a.test/\n")
    caller.write("home/.pip/pip.conf", "[global]\nindex-url = https://legacy.test/\n")
    caller.write("home/.config/pip/pip.conf", "[global]\nindex-url = https://user.test/\n")
    caller.write(
        "home/special.conf", "[global]\nindex_url = https://special.test/\nextra-index-url = https://b.test/\n"
    )
    assert caller.read(UV_NO_CONFIG="1").public()[0] == "https://user.test/"
    special = caller.read(UV_NO_CONFIG="1", PIP_CONFIG_FILE=str(caller.home / "special.conf"))
    assert special.public()[:2] == ("https://special.test/", "https://b.test/")
    caller.write("etc/pip/pip.conf", "[install]\nindex-url = https://install.test/\n")
    assert caller.read(UV_NO_CONFIG="1").public()[0] == "https://install.test/"
    assert caller.read(UV_NO_CONFIG="1", PIP_INDEX_URL="https://env.test/").public()[0] == "https://env.test/"


def test_no_index_leaves_only_lists_of_files(caller: Caller) -> None:
    (caller.directory / "w").mkdir()
    found = caller.read(UV_NO_CONFIG="1", PIP_CONFIG_FILE=os.devnull, PIP_NO_INDEX="1", PIP_FIND_LINKS="./w")
    assert found.public() == ((caller.directory / "w").as_uri(),)
    assert found.uv_environment()["UV_NO_INDEX"] == "1"
    assert found.pip_environment()["PIP_NO_INDEX"] == "1"
    assert tomllib.loads(found.uv_configuration())["no-index"] is True


def test_credentials_come_from_netrc_and_stay_out_of_everything_but_environments(caller: Caller) -> None:
    caller.write("home/.netrc", "machine cli.test login someone password hidden-word\n").chmod(0o600)
    found = caller.read("https://cli.test/simple")
    assert found.locations[0].password == "hidden-word"
    shown = repr(found) + str(found.public()) + found.uv_configuration(datetime(2026, 1, 1, tzinfo=UTC))
    assert "hidden-word" not in shown
    assert found.uv_environment()["UV_DEFAULT_INDEX"] == "https://someone:hidden-word@cli.test/simple/"
    assert found.pip_environment()["PIP_INDEX_URL"] == "https://someone:hidden-word@cli.test/simple/"
    assert found.uv_file_environment()["UV_INDEX_INDEX_1_PASSWORD"] == "hidden-word"


def test_masked_credentials_of_a_record_are_looked_up_again(caller: Caller) -> None:
    caller.write("home/.netrc", "machine cli.test login someone password hidden-word\n").chmod(0o600)
    recorded = caller.read("https://x:y-secret@cli.test/simple").redact("https://x:y-secret@cli.test/simple")
    assert "y-secret" not in recorded
    assert caller.read(recorded).locations[0].password == "hidden-word"


@pytest.mark.parametrize(
    "text",
    [
        "--config=evil",
        "https://a.test/ https://b.test/",
        "https://a.test/\nhttps://b.test/",
        "ftp://a.test/simple",
        "https:///simple",
        "https://a.test:port/",
        "https://[::1/simple",
        "https://a.test/simple?token=very-secret",
        "file://elsewhere/simple",
        "javascript:alert(1)",
        "a\0b",
    ],
)
def test_what_is_no_index_is_refused_without_being_repeated(caller: Caller, text: str) -> None:
    with pytest.raises(UsageError) as refused:
        caller.read(text)
    assert "--index-url" in refused.value.message
    assert "very-secret" not in refused.value.message


def test_a_password_in_a_refused_index_is_not_repeated(caller: Caller) -> None:
    with pytest.raises(UsageError) as refused:
        caller.read("ftp://someone:very-secret@a.test/simple")
    assert "very-secret" not in refused.value.message


def test_a_path_is_an_index_too(caller: Caller) -> None:
    assert caller.read("./my index").public() == ((caller.directory / "my index").as_uri() + "/",)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("project/uv.toml", "no [ toml"),
        ("project/uv.toml", "[[index]]\nname = 'without url'"),
        ("project/uv.toml", "index-url = 'https://a.test/'\nindex-strategy = 'luck'"),
        ("home/.config/pip/pip.conf", "not an ini file"),
    ],
)
def test_a_configuration_file_that_cannot_be_read_is_named(caller: Caller, place: str, text: str) -> None:
    caller.write(place, text)
    with pytest.raises(UsageError, match=r"uv|pip"):
        caller.read()


def test_certificates_and_trusted_hosts_reach_uv_and_pip(caller: Caller) -> None:
    authorities = caller.write("home/ca.pem", "")
    found = caller.read("https://a.test/", PIP_CERT=str(authorities), PIP_TRUSTED_HOST="a.test b.test")
    assert found.uv_environment()["SSL_CERT_FILE"] == str(authorities)
    assert found.pip_environment()["PIP_CERT"] == str(authorities)
    assert found.uv_environment()["UV_INSECURE_HOST"] == "a.test b.test"
    with pytest.raises(UsageError, match="REQUESTS_CA_BUNDLE"):
        caller.read("https://a.test/", PIP_CONFIG_FILE=os.devnull, REQUESTS_CA_BUNDLE=str(caller.home / "gone.pem"))


def test_a_password_of_a_proxy_is_masked_too(caller: Caller) -> None:
    found = caller.read("https://a.test/", HTTPS_PROXY="http://me:proxy-word@proxy.test:3128")
    assert "proxy-word" not in found.redact("could not reach proxy.test with me and proxy-word")


def test_our_variables_take_the_place_of_the_callers() -> None:
    kept = without_index_variables(
        {"UV_INDEX": "x", "PIP_INDEX_URL": "y", "UV_INDEX_A_PASSWORD": "z", "PATH": "p", "UV_CACHE_DIR": "c"}
    )
    assert kept == {"PATH": "p", "UV_CACHE_DIR": "c"}
