"""What a run is given, as it is recorded: without credentials, and so that a change is noticed on resume."""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bisector.environments.base import Environment
from bisector.host import host_facts
from bisector.journal import Journal
from bisector.model import Axis
from bisector.request import IndexRequest, RunRequest
from bisector.runs import JOURNAL
from bisector.serial import adapter, to_json
from bisector.space import Chain
from pins.errors import UsageError
from pins.sources.redaction import MASK

if TYPE_CHECKING:
    from pins.sources.index_configuration import IndexConfiguration

_SECRET = re.compile(r"(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|API_?KEY|ACCESS_KEY|PRIVATE_KEY)(?:$|_)")
_NO_SECRET = re.compile(r"\d*|true|false|yes|no|on|off", re.IGNORECASE)
_PASSWORD_IN_URL = re.compile(r"://[^\s/:@'\"]*:(?![$%{])[^\s/@'\"]+@")
"""`https://user:password@host`, where the password is not a variable that a shell or a template fills in."""


def refuse_secrets(request: RunRequest) -> None:
    """Refuse values that look like credentials where they would be recorded: in the journal, reports, an image.

    Raises:
        UsageError: with the option that passes them on without recording them.
    """
    shell = "set it in your shell and name it with --pass-env {name}"
    image = "a build argument is kept in the image; use --secret id={name},env={name}"
    for option, pairs, cure in (
        ("--smoke-env", request.smoke.variables, shell),
        ("--build-arg", request.docker.build_args, image),
        ("the script's argument", tuple(_named(request.smoke.arguments)), shell),
    ):
        for name, value in pairs:
            if _looks_secret(name, value):
                raise UsageError(
                    f"{option} {name}=... looks like a credential, and would be recorded with the run: "
                    + cure.format(name=_variable(name))
                )
    shell = "set it in your shell and name it with --pass-env"
    netrc = "put them into ~/.netrc, where uv finds them"
    for option, texts, cure in (
        ("--smoke-env", tuple(value for _, value in request.smoke.variables), shell),
        ("--build-arg", tuple(value for _, value in request.docker.build_args), "use --secret"),
        ("the script's arguments", request.smoke.arguments, shell),
        ("--build-command", request.build_command, "take them from a variable of your shell, which builds see"),
        ("--health", request.health, "let the command read them from a file of its machine"),
        ("--build-on", (request.build_on,), shell),
        ("--with", request.requirements.requirements, netrc),
        ("--build-constraint", request.requirements.build_constraints, netrc),
    ):
        for text in texts:
            if _PASSWORD_IN_URL.search(text):
                raise UsageError(
                    f"{option}: the password in {_PASSWORD_IN_URL.sub('://****@', text)!r} would be recorded with the"
                    f" run: {cure}"
                )


def _looks_secret(name: str, value: str) -> bool:
    return bool(value and _SECRET.search(_variable(name)) and not _NO_SECRET.fullmatch(value))


def _variable(name: str) -> str:
    """An option's name as a variable would be called."""
    return name.lstrip("-").replace("-", "_").upper()


def _named(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options with their values, of `--name=value` and `--name value`."""
    for argument, following in zip(arguments, (*arguments[1:], ""), strict=False):
        name, equals, value = argument.partition("=")
        if name.startswith("-"):
            yield name, value if equals else "" if following.startswith("-") else following


def refuse_unrecordable(request: RunRequest, state: Path) -> None:
    """Refuse names that are no UTF-8: the journal, and every report, is.

    Args:
        request: all that is asked for.
        state: where runs are kept.

    Raises:
        UsageError: with the name.
    """
    for text in _texts((request, state, Path.cwd())):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(
                f"{text.encode('utf-8', 'surrogateescape')!r} is not UTF-8, and could not be recorded; rename it"
            ) from None


def _texts(value: object) -> Iterator[str]:
    """Every text in the project's dataclasses, and in tuples of them."""
    if isinstance(value, str | Path):
        yield str(value)
    elif isinstance(value, tuple):
        for each in value:
            yield from _texts(each)
    elif is_dataclass(value):
        for each in fields(value):
            yield from _texts(getattr(value, each.name))


def without_credentials(request: RunRequest, index: "IndexConfiguration") -> RunRequest:
    """The request as it may be recorded."""
    return replace(
        request,
        index=IndexRequest(
            index.redact(request.index.index_url),
            tuple(index.redact(url) for url in request.index.extra_index_urls),
        ),
        command_line=tuple(index.redact(word) for word in request.command_line),
    )


def new_journal(
    run_directory: Path,
    request: RunRequest,
    environment: Environment,
    index: "IndexConfiguration",
    axes: tuple[Axis, ...],
    chain: Chain,
    created: datetime,
) -> Journal:
    """The journal of a run that begins, with all that a resume needs."""
    return Journal(
        run_directory / JOURNAL,
        facts={
            "created": created.isoformat(),
            "exclude_newer": (request.exclude_newer or created).isoformat(),
            "request": to_json(without_credentials(request, index)),
            "axes": to_json(axes),
            "chain": to_json(tuple(candidate.pins for candidate in chain.candidates)),
            "fingerprint": to_json(_fingerprint(request, environment)),
            "end_files": to_json(_end_files(request)),
            "environment": environment.name,
            "directory": str(Path.cwd()),
            "facts": to_json(host_facts()),
        },
    )


def _fingerprint(request: RunRequest, environment: Environment) -> dict[str, str]:
    script = hashlib.sha256(request.smoke.path.read_bytes()).hexdigest()
    return {f"the smoke script {request.smoke.path}": script, **environment.fingerprint()}


def _end_files(request: RunRequest) -> dict[str, str]:
    """Digests of the files that are the ends, by the options that name them: such files may change after the run."""
    files = request.files
    if files is None or files.good_file is None or files.bad_file is None:
        return {}
    named = {"--good-file": files.good_file, "--bad-file": files.bad_file}
    return {option: hashlib.sha256(path.read_bytes()).hexdigest() for option, path in named.items()}


def refuse_changed_inputs(journal: Journal, request: RunRequest, environment: Environment) -> None:
    """Refuse to go on where the script, or what candidates are built from, is not what it was at the start.

    Raises:
        UsageError: with what changed.
    """
    before: dict[str, str] = adapter(dict[str, str]).validate_json(journal.meta("fingerprint"))
    now = _fingerprint(request, environment)
    changed = sorted(label for label in before.keys() | now.keys() if before.get(label) != now.get(label))
    if changed:
        raise UsageError(
            f"{', '.join(changed)} changed since this run began, so that what it found so far would not fit what is"
            " still to come; put it back, or start a new run"
        )


def enter_directory_of(run_directory: Path) -> None:
    """Make the directory in which a run was started the current one: relative paths and configuration begin there.

    Raises:
        UsageError: it is gone.
    """
    journal = Journal(run_directory / JOURNAL, writable=False)
    directory = journal.meta("directory")
    journal.close()
    try:
        os.chdir(directory or ".")
    except OSError as error:
        raise UsageError(
            f"run {run_directory.name} was started in {directory}, where its relative paths begin, and that cannot be"
            f" entered: {error.strerror}; make it again, or start a new run"
        ) from error


def with_index_again(request: RunRequest, run_directory: Path, index_url: str) -> RunRequest:
    """The recorded request with its index, which the user names again where it had credentials.

    Raises:
        UsageError: it had, and is not named.
    """
    lost = [url for url in request.index.extra_index_urls if MASK in url]
    if lost:
        raise UsageError(
            f"this run read a further index with credentials, {lost[0]}, and credentials are not recorded; put them"
            " into ~/.netrc or the configuration of pip or uv, and start a new run"
        )
    if index_url:
        return replace(request, index=replace(request.index, index_url=index_url))
    if MASK in request.index.index_url:
        raise UsageError(
            f"this run read an index with credentials, {request.index.index_url}, and credentials are not recorded;"
            f" give it again: bisector resume {run_directory.name} --index-url URL"
        )
    return request
