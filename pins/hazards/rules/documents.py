"""Build arguments that workflows and documents pass, and no file declares."""

import re
from collections.abc import Iterator, Sequence

from pins.files.dockerfile.variables import PLATFORM_ARGUMENTS
from pins.hazards.model import Finding
from pins.hazards.rules.references import assigned_by
from pins.hazards.subject import Subject

_PASSED = re.compile(rb"--build-arg(?:[ \t]+|=)[\"']?(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<value>=[^\s\"']*)?")
_PLACEHOLDERS = re.compile(
    r"(?:KEY|NAME|ARG|FOO|BAR|VAR|VARIABLE|VALUE|K|V|ARGUMENT|MY_\w+|YOUR_\w+|EXAMPLE\w*)\d*\Z", re.IGNORECASE
)
_PREDEFINED = frozenset(
    {"http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "all_proxy", "source_date_epoch", "buildkit_inline_cache",
     "buildkit_context_keep_git_dir", "buildkit_multi_platform", "buildkit_syntax", "buildkit_sandbox_hostname",
     "buildkit_cache_mount_ns", "buildkit_dockerfile_check"}
)  # fmt: skip
_FOREIGN = re.compile(rb"docker (?:buildx )?build[^\n]*?\s(?:https?://|git@)|(?:-f|--file)[ \t=]+https?://")


def undeclared_build_argument(subjects: Sequence[Subject]) -> Iterator[tuple[Subject, Finding]]:
    """A build argument that is passed, and that no Dockerfile declares."""
    declared: set[str] = set()
    dockerfiles = [subject for subject in subjects if subject.reading is not None]
    if not dockerfiles or not all(subject.pin_set.complete for subject in dockerfiles):
        return  # a file that was not read to its end may declare it
    for subject in dockerfiles:
        assert subject.reading is not None
        for instruction in subject.reading.stages.syntax.instructions:
            if instruction.keyword == "ARG":
                declared.update(assignment.name for assignment in assigned_by(subject, instruction))
    alone = len(dockerfiles) == 1 and len(subjects) == 1
    for subject in subjects:
        for start, end, name in _passed(subject):
            if name in declared or name in PLATFORM_ARGUMENTS or name.lower() in _PREDEFINED:
                continue
            if _PLACEHOLDERS.match(name) or (alone and _names_another_file(subject, start)):
                continue
            where = subject.file if alone else f"none of the {len(dockerfiles)} Dockerfiles here"
            said = f"{where} does not declare it" if alone else f"{where} declares it"
            yield (
                subject,
                Finding(
                    start,
                    end,
                    f"--build-arg {name} changes nothing: {said}",
                    name,
                    f"declare ARG {name} where it is to be used, or take it out here",
                ),
            )


def _passed(subject: Subject) -> Iterator[tuple[int, int, str]]:
    """(start, end, name) of the build arguments that a file passes."""
    if subject.reading is not None:
        for instruction in subject.reading.stages.syntax.instructions:
            for comment in instruction.comments:
                yield from _in_text(subject, comment.start, comment.end)
        return
    if subject.kind in {"bake", "workflow"}:
        for pin in subject.pins():
            if pin.variable and pin.places:
                yield pin.places[0].start, pin.places[0].end, pin.variable
    yield from _in_text(subject, 0, len(subject.data))


def _in_text(subject: Subject, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    for match in _PASSED.finditer(subject.data, start, end):
        if not match["value"] and not re.fullmatch(rb"[A-Z][A-Z0-9_]*", match["name"]):
            continue  # a sentence about the option
        if not _FOREIGN.search(_command_around(subject.data, match.start())):
            yield match.start("name"), match.end("name"), match["name"].decode()


def _command_around(data: bytes, offset: int) -> bytes:
    """The lines of a command that backslashes join, as one."""
    start = data.rfind(b"\n", 0, offset) + 1
    while start > 1 and data[:start].rstrip(b"\r\n").endswith(b"\\"):
        start = data.rfind(b"\n", 0, start - 1) + 1
    end = data.find(b"\n", offset)
    while end >= 0 and data[start:end].rstrip().endswith(b"\\"):
        end = data.find(b"\n", end + 1)
    return re.sub(rb"\\\r?\n", b" ", data[start : end if end >= 0 else len(data)])


def _names_another_file(subject: Subject, start: int) -> bool:
    """Whether a command in a comment builds another file than the one it stands in."""
    line_start = subject.data.rfind(b"\n", 0, start) + 1
    line_end = subject.data.find(b"\n", start)
    block = subject.data[max(0, line_start - 600) : line_end + 600 if line_end >= 0 else len(subject.data)]
    named = re.findall(rb"(?:-f|--file)[ \t=]+(\S+)", block)
    own = subject.file.rsplit("/", 1)[-1].encode()
    return bool(named) and not any(name.strip(b"\"'").endswith(own) for name in named)
