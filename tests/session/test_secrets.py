from pathlib import Path

import pytest

from bisector.inputs import refuse_secrets
from bisector.model import SmokeScript
from bisector.request import DockerRequest, PinRange, RunRequest
from pins.errors import UsageError


def request_with(
    variables: tuple[tuple[str, str], ...] = (), build_args: tuple[tuple[str, str], ...] = ()
) -> RunRequest:
    script = SmokeScript(Path("/smoke.sh"), variables=variables)
    return RunRequest((PinRange("widget", "1", "2"),), script, docker=DockerRequest(build_args=build_args))


@pytest.mark.parametrize("name", ["HF_TOKEN", "token", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "OPENAI_API_KEY"])
def test_a_variable_that_looks_like_a_credential_is_not_recorded(name: str) -> None:
    with pytest.raises(UsageError, match="--pass-env") as refused:
        refuse_secrets(request_with(variables=((name, "s3cr3t-w0rd"),)))
    assert "s3cr3t-w0rd" not in str(refused.value)
    with pytest.raises(UsageError, match="--secret"):
        refuse_secrets(request_with(build_args=((name, "s3cr3t-w0rd"),)))


@pytest.mark.parametrize(("name", "value"), [("TOKENIZERS_PARALLELISM", "false"), ("MAX_TOKEN", "4096"), ("KEYS", "a")])
def test_what_only_sounds_like_one_passes(name: str, value: str) -> None:
    refuse_secrets(request_with(variables=((name, value),), build_args=((name, value),)))
