"""What both commands share at the terminal: how they end, and where results go.

Results go to standard output and nothing else does. A command ends with one of the exit codes of `pins.errors`; what
is caught here is only turned into a message and a code, never into an outcome.
"""

import copy
import errno
import functools
import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import FrameType
from typing import IO, Any, NoReturn, ParamSpec

import typer

from pins.command_making import make_command
from pins.errors import EnvironmentFailureError, PinsError, UsageError
from pins.sign_of_life import make_room, sign_of_life

P = ParamSpec("P")

FAULT = 70
INTERRUPTED = 130
STANDARD_OUTPUT = "-"
"""As the file of `--output`."""
MACHINE_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
_WRONG_NAMES = {errno.ENAMETOOLONG, errno.ELOOP, errno.EACCES}
"""Errors of a name that the system does not let one use: the person named it, directly or by its directory."""
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


class Terminated(KeyboardInterrupt):
    """The system asked the program to end (SIGTERM, SIGHUP): all that stops for Ctrl-C stops for it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


_asked_to_end: list[int] = []


def new_app(help_text: str) -> typer.Typer:
    """An app whose help is plain text and whose errors are ours to show."""
    return typer.Typer(
        help=help_text,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )


def collect_garbage_seldom() -> None:
    """Imports make many objects that stay, and so does reading: looking through them again and again is slow."""
    gc.set_threshold(500_000, 20, 20)


def start(app: typer.Typer, tool: str, **extra: Any) -> NoReturn:
    """Run a command of `app` and exit: the body of `main`."""
    collect_garbage_seldom()
    _open_closed_streams()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup means it
            signal.signal(number, _end)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    command = make_command(_narrowed(app, extra.get("args", sys.argv[1:])))
    try:
        command(prog_name=tool, **extra)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer says so of every interruption, also of one that reaches no command
            raise SystemExit(interrupted_exit_code()) from None
        raise
    raise AssertionError("an app ends the program")


def _open_closed_streams() -> None:
    """Put the null device where standard streams are closed: else the next file that is opened takes their number.

    What a program that is started then writes to its standard error would go into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one


def _narrowed(app: typer.Typer, words: Sequence[str]) -> typer.Typer:
    """The app without the commands that are not asked for, where it is plain which one is: each takes time to make."""
    name = next(iter(words), "")
    for group in app.registered_groups:
        below = group.typer_instance
        asked = [command for command in below.registered_commands if command.name == name] if below else []
        if below is not None and name and asked:
            narrowed, only, alone = copy.copy(app), copy.copy(group), copy.copy(below)
            alone.registered_commands = asked
            only.typer_instance = alone
            narrowed.registered_groups = [only]
            return narrowed
    return app


def _end(number: int, _frame: FrameType | None) -> None:
    _asked_to_end.append(number)
    raise Terminated(number)


def interrupted_exit_code() -> int:
    """What an interrupted command exits with: 130 after Ctrl-C, 143 after SIGTERM."""
    return 128 + _asked_to_end[-1] if _asked_to_end else INTERRUPTED


def guarded(command: Callable[P, int | None]) -> Callable[P, None]:
    """A command that ends with the exit code it returns (None: 0), or with that of the error that ends it."""

    @functools.wraps(command)
    def ending(*arguments: P.args, **options: P.kwargs) -> None:
        try:
            _require_current_directory()
            with nullcontext() if options.get("quiet") else sign_of_life("still working"):
                code = command(*arguments, **options)
        except (typer.Exit, typer.Abort, typer.TyperException):
            raise
        except KeyboardInterrupt as again:
            say(_how_to_go_on(again))
            code = interrupted_exit_code()
        except PinsError as error:
            say(f"Error: {error.message}")
            code = interrupted_exit_code() if error.exit_code == INTERRUPTED else error.exit_code
        except BrokenPipeError:
            _discard(sys.stdout)
            code = 128 + signal.SIGPIPE
        except OSError as error:
            if error.errno in _WRONG_NAMES and error.filename is not None:
                say(f"Error: {os.fsdecode(error.filename)[:200]!r} cannot be used: {error.strerror}; name another")
                code = UsageError.exit_code
            elif error.errno not in MACHINE_ERRORS:
                code = _fault(error)
            else:
                say(f"Error: this machine failed, so nothing is concluded: {_one_line(error)}")
                code = EnvironmentFailureError.exit_code
        except Exception as error:
            code = _fault(error)
        raise typer.Exit(code or 0)

    ending.__doc__ = (command.__doc__ or "").replace("\\b\n", "\b\n")  # docstrings are raw: the mark keeps lines apart
    return ending


def _how_to_go_on(interruption: KeyboardInterrupt) -> str:
    """What an interruption says: one in the middle of another, whose message says how to go on, takes it over."""
    earlier: BaseException | None = interruption
    while earlier is not None:
        if isinstance(earlier, PinsError) and earlier.exit_code == INTERRUPTED:
            return f"Error: {earlier.message}"
        earlier = earlier.__context__
    return "Interrupted."


def deliver(text: str | bytes, output: Path | None, code: int = 0) -> int:
    """Put a result where it belongs: on standard output (also "-"), or in `output`, which is replaced as a whole.

    Bytes, such as a patch of a file in another encoding, arrive as they are.

    Returns:
        `code`, also where the reader of standard output has gone away: the command itself is done.

    Raises:
        UsageError: the file cannot be written.
        EnvironmentFailureError: standard output cannot be written.
    """
    if isinstance(text, str):
        text = text if text.endswith("\n") else text + "\n"
        # A name of a file may be no text, which no encoding takes.
        text = text.encode("utf-8", "backslashreplace").decode()
    if output is not None and str(output) != STANDARD_OUTPUT:
        _replace(output, text)
        return code
    make_room()
    if sys.stdout is None:
        raise EnvironmentFailureError("standard output is closed; give --output FILE, or leave it open")
    try:
        if isinstance(text, bytes):
            sys.stdout.buffer.write(text)
        else:
            sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as error:
        _discard(sys.stdout)
        raise EnvironmentFailureError(f"standard output cannot be written: {error.strerror}") from error
    return code


def _require_current_directory() -> None:
    try:
        os.getcwd()  # noqa: PTH109 - it is not used
    except OSError as error:
        raise EnvironmentFailureError(
            f"the current directory is gone ({error.strerror}): change to one that exists, then type the command again"
        ) from error


def check_output(output: Path | None) -> None:
    """Find out before long work whether its result can be put into `output`.

    Raises:
        UsageError: the file cannot be written.
    """
    if output is None or str(output) == STANDARD_OUTPUT:
        return
    place = output if output.exists() and not output.is_file() else output.resolve().parent  # a file is replaced
    if output.is_dir():
        raise UsageError(f"--output {str(output)!r} is a directory; name a file")
    if not place.exists():
        raise UsageError(f"--output {str(output)!r} cannot be written: there is no directory {place}")
    if not os.access(place, os.W_OK):
        raise UsageError(f"--output {str(output)!r} cannot be written: {place} is not writable")


def say(text: str) -> None:
    """A line for the person, on standard error; what it quotes of files and programs cannot repaint a terminal."""
    make_room()
    if not text.replace("\n", "").isprintable():
        from pins.report.characters import visible

        text = visible(text)
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _discard(sys.stderr)


def wants_color(stream: IO[str], no_color: bool) -> bool:
    """Whether to colour what goes to `stream`: NO_COLOR, then FORCE_COLOR, then whether it is a terminal."""
    if no_color or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "") not in {"", "0"}:
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def without_credentials(text: str) -> str:
    """The text with the user and password of every URL in it masked."""
    return _CREDENTIALS.sub("***@", text)


def _replace(path: Path, text: str | bytes) -> None:
    content = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    try:
        if path.exists() and not path.is_file():  # /dev/stderr, a named pipe
            path.write_bytes(content)
            return
        target = path.resolve()
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            beside.write_bytes(content)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        if error.errno in MACHINE_ERRORS:
            raise
        raise UsageError(f"--output {str(path)!r} cannot be written: {error.strerror}") from error


def _fault(error: Exception) -> int:
    import tempfile
    import traceback

    trace = without_credentials("".join(traceback.format_exception(error)))
    kept = ""
    if os.environ.get("BISECTOR_DEBUG", "") not in {"", "0"}:
        say(trace)
    else:
        try:
            with tempfile.NamedTemporaryFile(
                "w",
                encoding="utf-8",
                errors="backslashreplace",
                prefix="bisector-fault-",
                suffix=".txt",
                delete=False,
            ) as file:
                file.write(f"{sys.version}\n{trace}")
            kept = f" The details are in {file.name}; BISECTOR_DEBUG=1 shows them here."
        except OSError:
            kept = " BISECTOR_DEBUG=1 shows the details."
    say(
        f"Error: a fault in this program, not in what you asked for: {_one_line(error)}\n"
        f"Nothing is concluded from it.{kept}\n"
        "Please report it to the project with those details, the command that you typed and what --version prints."
    )
    return FAULT


def _one_line(error: Exception) -> str:
    return without_credentials(f"{type(error).__name__}: {error}").split("\n", 1)[0][:300]


def _discard(stream: IO[str] | None) -> None:
    """Send what is still buffered nowhere, so that the interpreter does not fail on it as it ends."""
    if stream is not None:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        except (OSError, ValueError):
            return
