"""What the end of a failed build means, on what BuildKit and the tools in its RUNs really print."""

import pytest

from bisector.environments.docker.build import (
    build_options,
    check_build_options,
    failure_of_ours,
    image_tag,
    index_time_advice,
    last_words,
    secret_ids,
)
from bisector.model import Ended
from bisector.request import DockerRequest
from pins.errors import UsageError

HEAD = "#1 [internal] load build definition from Dockerfile\n#1 DONE 0.0s\n\n#5 [2/2] RUN x\n#5 sha256:93e2cd4\n"


def ended(text: str) -> Ended:
    return Ended(1, errors=HEAD + text)


OURS = {
    "engine": "unexpected EOF\n",
    "engine's proxy": 'error during connect: Post "http://docker/session": EOF\n',
    "daemon": "ERROR: Cannot connect to the Docker daemon at unix:///x.sock. Is the docker daemon running?\n",
    "unavailable": "ERROR: failed to solve: Unavailable: error reading from server: EOF\n",
    "cancelled by others": "#5 CANCELED\n------\ncontext canceled\n",
    "cancelled by others, newer": "ERROR: failed to solve: Canceled: context canceled\n",
    "disk": "#5 ERROR: failed to copy: write /var/lib/docker/tmp/x: no space left on device\n",
    "disk inside": "#5 12.1 ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"
    "#5 ERROR: executor failed running [/bin/sh -c pip install x]: exit code: 1\n",
    "registry": '#3 ERROR: failed to do request: Head "https://r.invalid/v2/x": dial tcp: no such host\n',
    "registry limit": "ERROR: failed to solve: x: unexpected status code [manifests 1]: 429 Too Many Requests\n",
    "network pip": "#5 1.7 WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by\n"
    "#5 1.8 ERROR: No matching distribution found for six\n"
    "#5 ERROR: executor failed running [/bin/sh -c pip install six]: exit code: 1\n",
    "network git": "#5 1.0 fatal: unable to access 'https://x.invalid/y.git/': Could not resolve host: x.invalid\n"
    "#5 ERROR: executor failed running [/bin/sh -c git clone x]: exit code: 128\n",
    "memory": 'ERROR: failed to solve: ResourceExhausted: process "/bin/sh -c make" did not complete successfully:'
    " cannot allocate memory\n",
}


@pytest.mark.parametrize("name", OURS)
def test_failures_of_engine_disk_network_and_memory_are_ours(name: str) -> None:
    assert failure_of_ours(ended(OURS[name]), kernel_killed=False)


@pytest.mark.parametrize(
    "text",
    [
        "could not parse secrets: [id=a,src=/nope]: failed to stat /nope: stat /nope: no such file or directory\n",
        "could not parse ssh: [default]: invalid empty ssh agent socket, make sure SSH_AUTH_SOCK is set\n",
        'ERROR: unable to prepare context: path "x" not found\n',
    ],
)
def test_what_the_docker_command_cannot_do_before_a_step_is_ours(text: str) -> None:
    assert text.strip() in failure_of_ours(Ended(1, errors=text), kernel_killed=False)


NO_NETWORK = [
    "fatal: unable to access 'http://127.0.0.1:1/x/': Failed to connect to 127.0.0.1 port 1 after 0 ms: Could not",
    "fatal: unable to access 'https://a.invalid/x/': The requested URL returned error: 503",
    "fatal: unable to access 'https://a.invalid/x/': gnutls_handshake() failed: The TLS connection was closed",
    "ssh: connect to host a.invalid port 22: Connection timed out",
    "error: RPC failed; curl 56 GnuTLS recv error (-54): Error in the pull function.",
    "fetch-pack: unexpected disconnect while reading sideband packet",
    "wget: unable to resolve host address 'a.invalid'",
    "Connecting to a.invalid (a.invalid)|192.0.2.1|:80... failed: Connection timed out.",
    "E: Failed to fetch http://a.invalid/x.deb  Unable to connect to a.invalid:http:",
    "npm ERR! code ENOTFOUND",
    'go: x@v1: Get "https://a.invalid/x": dial tcp: lookup a.invalid: no such host',
    "curl: (52) Empty reply from server",
]
FAILED = "#5 ERROR: executor failed running [/bin/sh -c x]: exit code: 1\n"


@pytest.mark.parametrize("line", NO_NETWORK)
def test_a_network_that_is_not_there_is_ours_whichever_program_says_so(line: str) -> None:
    found = failure_of_ours(ended(f"#5 1.2 {line}\n#5 1.3 make: *** [all] Error 1\n{FAILED}"), kernel_killed=False)
    assert found.startswith(f"the network failed while building: {line}")
    assert "--network=host" in found


@pytest.mark.parametrize(
    "line",
    [
        "fatal: unable to access 'https://a.invalid/x/': The requested URL returned error: 404",
        "remote: Repository not found.",
        "dial tcp 127.0.0.1:80: connect: connection refused, says a test of the project",
        "npm ERR! code E404",
    ],
)
def test_what_a_server_does_not_have_is_the_candidates(line: str) -> None:
    assert failure_of_ours(ended(f"#5 1.2 {line}\n{FAILED}"), kernel_killed=False) == ""


CANDIDATES = {
    "a RUN that fails": "#5 0.1 error: cannot connect to the docker daemon of my tests\n"
    "#5 ERROR: executor failed running [/bin/sh -c x]: exit code: 3\n"
    "executor failed running [/bin/sh -c x]: exit code: 3\n",
    "no such version": "#5 2.6 ERROR: No matching distribution found for six==99\n"
    "#5 ERROR: executor failed running [/bin/sh -c pip install six==99]: exit code: 1\n",
    "a survived retry": "#5 1.7 WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by"
    " 'NameResolutionError(Temporary failure in name resolution)'\n"
    "#5 9.8 error: command 'g++' failed\n"
    "#5 ERROR: executor failed running [/bin/sh -c pip install x]: exit code: 1\n",
    "a compiler killed without the kernel's word": "#5 9.8 g++: fatal error: Killed signal terminated program cc1plus\n"
    "#5 ERROR: executor failed running [/bin/sh -c make]: exit code: 1\n",
    "137 without the kernel's word": "#5 ERROR: executor failed running [/bin/sh -c make]: exit code: 137\n",
    "a missing file": '#6 ERROR: "/nothing" not found: not found\n',
    "a parse error": "failed to solve with frontend dockerfile.v0: dockerfile parse error line 2: unknown: RUM\n",
}


@pytest.mark.parametrize("name", CANDIDATES)
def test_failures_of_the_candidate_are_not(name: str) -> None:
    assert failure_of_ours(ended(CANDIDATES[name]), kernel_killed=False) == ""


@pytest.mark.parametrize("name", ["a compiler killed without the kernel's word", "137 without the kernel's word"])
def test_with_the_kernels_word_a_kill_is_ours(name: str) -> None:
    assert "memory" in failure_of_ours(ended(CANDIDATES[name]), kernel_killed=True)


def test_the_kernels_word_alone_is_not_enough() -> None:
    assert failure_of_ours(ended(CANDIDATES["no such version"]), kernel_killed=True) == ""


def test_the_builders_last_words_are_quoted() -> None:
    assert last_words(ended(CANDIDATES["no such version"])) == (
        "#5 ERROR: executor failed running [/bin/sh -c pip install six==99]: exit code: 1"
    )
    assert last_words(ended(CANDIDATES["a RUN that fails"])) == "executor failed running [/bin/sh -c x]: exit code: 3"


def test_an_index_without_upload_times_leads_to_the_option() -> None:
    text = "#5 0.9 ERROR: index x does not provide upload-time metadata\n#5 ERROR: executor failed: exit code: 1"
    assert "--no-index-time" in index_time_advice(ended(text))
    assert index_time_advice(ended(CANDIDATES["no such version"])) == ""


def test_no_value_can_become_an_option() -> None:
    request = DockerRequest(target="--privileged", secrets=("--x",), ssh=("--y",))
    options = build_options(request, {"A": "--push $(id) 'x'"}, target=request.target, run_id="--z", tag="t")
    assert options == [
        "--build-arg=A=--push $(id) 'x'",
        "--target=--privileged",
        "--secret=--x",
        "--ssh=--y",
        "--label=bisector.run=--z",
        "--tag=t",
    ]


@pytest.mark.parametrize(
    "option",
    [
        "--target=x",
        "--build-arg=A=1",
        "-f",
        "--file=x",
        "--push",
        "-o=x",
        "--secret=id=x",
        "-",
        "--",
        "a\0b",
        "-t",
        "-tx",
        "--tag=x",
        "--tag",
        "--iidfile=x",
        "--label=bisector.run=x",
        "--progress=tty",
    ],
)
def test_build_options_that_the_bisector_sets_are_refused(option: str) -> None:
    with pytest.raises(UsageError, match="--docker-build-option"):
        check_build_options(["--network=host", option])


def test_a_label_of_ours_is_refused_in_two_words_too() -> None:
    with pytest.raises(UsageError, match="bisector's own"):
        check_build_options(["--label", "bisector.run=x"])


def test_other_build_options_are_passed_on() -> None:
    check_build_options(["--network=host", "--add-host=a:1", "--no-cache", "--label=mine=bisector.", "--label", "a=b"])


@pytest.mark.parametrize("run_id", ["20261130-1", "My Run $(x)", "--", "ümlaut", "a" * 300])
def test_every_run_has_a_name_for_its_images(run_id: str) -> None:
    name, _, tag = image_tag(run_id, "0123456789abcdef0123").partition(":")
    assert tag == "0123456789abcdef"
    prefix, _, rest = name.partition("/")
    assert prefix == "bisector"
    assert rest
    assert len(rest) <= 100
    assert all(part and part.isascii() and part.isalnum() for part in rest.split("-"))


def test_secrets_are_known_by_name_alone() -> None:
    assert secret_ids(["id=b,env=TOKEN", "src=/etc/key,id=a", "nonsense"]) == ["id=b", "id=?", "id=a"]
