"""What is pinned, and what can be pinned: plain facts, no I/O."""

from dataclasses import dataclass
from enum import StrEnum


class PinKind(StrEnum):
    """What sort of thing a pin chooses a version of."""

    GIT = "git"
    PACKAGE = "package"
    FLOAT = "float"
    IMAGE = "image"
    URL = "url"
    APT = "apt"
    TEXT = "text"


class Quoting(StrEnum):
    """What a text must be escaped for at the place where it stands."""

    DOCKER_BARE = "docker-bare"
    DOCKER_DOUBLE = "docker-double"
    DOCKER_SINGLE = "docker-single"
    SHELL_BARE = "shell-bare"
    SHELL_DOUBLE = "shell-double"
    SHELL_SINGLE = "shell-single"
    SHELL_ANSI = "shell-ansi"
    SHELL_HEREDOC = "shell-heredoc"
    JSON = "json"
    TOML_BASIC = "toml-basic"
    TOML_LITERAL = "toml-literal"
    PLAIN = "plain"


class Scope(StrEnum):
    """Where in a file a pin is written."""

    GLOBAL = "global"  # an ARG before the first FROM
    STAGE = "stage"  # an ARG or ENV of a stage
    FROM = "from"  # a FROM line, or the image of COPY --from
    RUN = "run"  # inside a command
    FILE = "file"  # a file that is not a Dockerfile


class Form(StrEnum):
    """What a pin's place holds, which decides what may be written there."""

    VALUE = "value"  # a revision, a tag, an image, a version without an operator
    EXACT = "exact"  # a version behind "=="
    SPECIFIER = "specifier"  # operators and versions, such as "<3.1.0"
    OPEN = "open"  # nothing: a requirement without a bound, the place is where one would go


@dataclass(frozen=True)
class Place:
    """The bytes that hold a value.

    Attributes:
        file: path as it was given.
        line: of `start`, counted from 1.
        start: offset of the first byte.
        end: offset behind the last byte.
        quoting: how the text is quoted there.
    """

    file: str
    line: int
    start: int
    end: int
    quoting: Quoting = Quoting.PLAIN


@dataclass(frozen=True)
class Override:
    """Who can set a pin from outside the file, and where that takes effect.

    Attributes:
        how: options of the builder, such as ("--build-arg TRITON_BRANCH",); empty when only an edit can.
        reaches: stages whose use of the pin would change.
        misses: stages that use the variable and would not notice.
    """

    how: tuple[str, ...] = ()
    reaches: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()


@dataclass(frozen=True)
class PinUse:
    """A command that takes a pin's value.

    Attributes:
        stage: the stage that runs it.
        line: counted from 1.
        command: for a person, such as "git checkout f0b55c0".
        effective: what the value comes to there, such as "v1.4" for ``v${VERSION}``.
        conditions: what must hold for it to run.
        runs: whether it does with the values known, None when that cannot be told.
        choices: for each condition, which choice decides it and which way: uses that share a choice and go different
            ways exclude each other.
    """

    stage: str
    line: int
    command: str
    effective: str = ""
    conditions: tuple[str, ...] = ()
    runs: bool | None = True
    choices: tuple[tuple[int, int], ...] = ()

    def excludes(self, other: "PinUse") -> bool:
        """Whether the two never run in one build."""
        ways = dict(self.choices)
        return any(choice in ways and ways[choice] != arm for choice, arm in other.choices)


@dataclass(frozen=True)
class Pin:
    """One choice of version, written in one file.

    Attributes:
        name: what is chosen, such as "triton"; the same in every revision of the file.
        kind: what sort of thing.
        value: the text that is written, without quotes and escapes; None when nothing is (a floating requirement) or
            when it is not known.
        file: the file that holds it.
        line: where.
        stage: the stage it is written in, "" for a global ARG or a file without stages.
        scope: where in the file.
        form: what may be written in its place.
        places: the bytes that hold the value; several when it is repeated, none when it cannot be set there.
        unknown: why the value is not known, "" when it is.
        override: who can set it from outside.
        comment: what is written beside or above it.
        repo: for a git pin the repository's address, for an image or a download what it belongs to.
        variable: the ARG, ENV or shell variable that holds it, "" for a literal.
        effective: what the value comes to where it is first used.
        directory: for a git pin, where it is checked out.
        patches: for a git pin, what is applied on it, in order: paths, URLs, cherry-picked commits.
        uses: commands that take the value.
        ships: whether a use belongs to a stage that ends up in the target; False when only files of it do.
        aliases: further names it answers to.
        note: a warning about the pin itself, such as a bound that the shell takes for a redirection.
    """

    name: str
    kind: PinKind
    value: str | None
    file: str
    line: int
    stage: str = ""
    scope: Scope = Scope.FILE
    form: Form = Form.VALUE
    places: tuple[Place, ...] = ()
    unknown: str = ""
    override: Override = Override()
    comment: str = ""
    repo: str = ""
    variable: str = ""
    effective: str = ""
    directory: str = ""
    patches: tuple[str, ...] = ()
    uses: tuple[PinUse, ...] = ()
    ships: bool = True
    aliases: tuple[str, ...] = ()
    note: str = ""

    @property
    def floating(self) -> bool:
        """Whether it is a requirement that the file leaves open."""
        return self.value is None and not self.unknown


@dataclass(frozen=True)
class Installed:
    """What a stage does to one distribution, in order; the last entry for a distribution decides.

    Attributes:
        name: the distribution; "" when a file decides that could not be read.
        requirement: as written, such as "pybind11<3.1.0".
        line: where.
        source: the file that says so, when it is not the file itself.
        unknown: why the effect is not known.
    """

    name: str
    requirement: str
    line: int
    source: str = ""
    unknown: str = ""


@dataclass(frozen=True)
class StageSummary:
    """A stage, for reports.

    Attributes:
        name: its name, or its number.
        line: of its FROM.
        base: what it is built from, evaluated.
        parent: the stage that is, "" for an image.
        role: "target", "ships", "feeds" (only files of it reach the target) or "unused".
        takes_from: stages whose files it copies or mounts.
        installs: what it does to distributions, its ancestors' first.
    """

    name: str
    line: int
    base: str
    parent: str
    role: str
    takes_from: tuple[str, ...] = ()
    installs: tuple[Installed, ...] = ()


@dataclass(frozen=True)
class FileProblem:
    """A part of a file that could not be read.

    Attributes:
        file: the file.
        line: where reading stopped or stepped over something.
        message: a sentence.
        fatal: whether what follows was not read.
    """

    file: str
    line: int
    message: str
    fatal: bool = True


@dataclass(frozen=True)
class PinSet:
    """The pins of one file at one revision.

    Attributes:
        file: its path.
        pins: in the order of their lines.
        stages: of a Dockerfile.
        problems: what could not be read.
        arguments: of a Dockerfile, the names of its ARGs.
    """

    file: str
    pins: tuple[Pin, ...]
    stages: tuple[StageSummary, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    arguments: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the whole file was read."""
        return not any(problem.fatal for problem in self.problems)
