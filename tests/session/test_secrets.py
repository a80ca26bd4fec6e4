from dataclasses import replace
from pathlib import Path

import pytest

from bisector.inputs import refuse_secrets
from bisector.model import SmokeScript
from bisector.request import DockerRequest, PinRange, RequirementsRequest, RunRequest
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


URL = "https://me:s3cr3t-w0rd@example.test/x"


@pytest.mark.parametrize(
    ("request_", "cure"),
    [
        (request_with(variables=(("MIRROR", URL),)), "--pass-env"),
        (request_with(build_args=(("MIRROR", URL),)), "--secret"),
        (replace(request_with(), build_command=("curl", URL)), "variable"),
        (replace(request_with(), health=("curl", URL)), "from a file of its machine"),
        (replace(request_with(), build_on=f"command:./ci {URL}"), "--pass-env"),
        (replace(request_with(), requirements=RequirementsRequest((f"six @ {URL}",))), "netrc"),
        (replace(request_with(), requirements=RequirementsRequest(build_constraints=(f"six @ {URL}",))), "netrc"),
        (replace(request_with(), smoke=SmokeScript(Path("/smoke.sh"), (URL,))), "--pass-env"),
        (replace(request_with(), smoke=SmokeScript(Path("/smoke.sh"), ("--hf-token=s3cr3t-w0rd",))), "--pass-env HF_"),
        (replace(request_with(), smoke=SmokeScript(Path("/smoke.sh"), ("--token", "s3cr3t-w0rd"))), "--pass-env TOKEN"),
    ],
)
def test_a_password_is_not_recorded_wherever_it_is_written(request_: RunRequest, cure: str) -> None:
    with pytest.raises(UsageError, match=cure) as refused:
        refuse_secrets(request_)
    assert "s3cr3t-w0rd" not in str(refused.value)


@pytest.mark.parametrize(
    "argument",
    [
        "git+ssh://git@example.test/x",
        "https://me:$TOKEN@example.test/x",
        "--max-token=12",
        "--token",
        "a:b@c",
        "http://h/@",
    ],
)
def test_what_holds_no_password_passes(argument: str) -> None:
    refuse_secrets(
        replace(request_with(), smoke=SmokeScript(Path("/smoke.sh"), (argument,)), build_command=(argument,))
    )
