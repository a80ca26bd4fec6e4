"""The options of `bisector run`, one field each: what the command line shows and what a configuration file may hold.

Values are kept as they were typed (text, several texts, or a flag); `arguments` and `run_request` make sense of them.
None, or an empty tuple: not given.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_type_hints

import typer

from pins.completions import completion

ENVIRONMENTS = ("venv", "docker", "command", "image")
Text = str | None
Texts = tuple[str, ...]
Flag = bool | None


def _text(name: str, metavar: str, help_text: str, *, rare: bool = False, words: tuple[str, ...] = ()) -> Any:
    known = completion(lambda _: words) if words else None
    return typer.Option(name, metavar=metavar, help=help_text, hidden=rare, show_default=False, autocompletion=known)


def _flag(name: str, help_text: str, *, rare: bool = False) -> Any:
    return typer.Option(name, help=help_text, hidden=rare, show_default=False)


@dataclass(frozen=True)
class RunOptions:
    """Every option, in the order of the help. Those that `rare=True` marks are shown by `--help-all` alone."""

    pin: Annotated[Texts, _text("--pin", "NAME=GOOD..BAD", "A pin and its two ends. Repeatable.")] = ()
    repo: Annotated[Texts, _text("--repo", "NAME=PATH|URL", "The pin NAME is a commit of this. Repeatable.")] = ()
    within: Annotated[
        Texts, _text("--within", "NAME=PIN:PATH", "NAME is pinned by PATH in the tree of PIN. Repeatable.", rare=True)
    ] = ()
    descend: Annotated[
        Flag, _flag("--descend", "Go on inside, where the commit moves a pin of its tree.", rare=True)
    ] = None
    checkout_only: Annotated[
        Texts, _text("--checkout-only", "NAME", "Check it out, do not install it. Repeatable.", rare=True)
    ] = ()
    require_path: Annotated[
        Texts, _text("--require-path", "[NAME=]PATH", "A commit without this file is not tried. Repeatable.", rare=True)
    ] = ()
    smoke: Annotated[Text, _text("--smoke", "SCRIPT", "Exit 0: good, 125: skip, else bad; -- ARGS for it.")] = None
    ask: Annotated[Flag, _flag("--ask", "You judge each candidate: it is built, and you look.", rare=True)] = None
    fix: Annotated[Texts, _text("--fix", "NAME=VALUE", "Hold a pin still. Repeatable.")] = ()
    expect: Annotated[Text, _text("--expect", "REGEX", "Only a failure whose output matches counts.")] = None
    any_failure: Annotated[Flag, _flag("--any-failure", "Every failure counts, whatever it looks like.", rare=True)] = (
        None
    )
    metric: Annotated[Text, _text("--metric", "NAME<=VALUE", "A number that the script prints decides.", rare=True)] = (
        None
    )
    regress: Annotated[
        Text, _text("--regress", "PERCENT", "--metric NAME: worse by this, such as 5%, is bad.", rare=True)
    ] = None
    first_good: Annotated[
        Flag, _flag("--first-good", "The first end fails, the second passes: find the fix.", rare=True)
    ] = None
    suspect: Annotated[
        Texts,
        _text(
            "--suspect",
            "NAME[=VERSION|~WORD|:PATH]",
            "Likely culprit, tried first: a pin, a version, or commits whose subject holds WORD or that change PATH."
            " Repeatable.",
            rare=True,
        ),
    ] = ()
    every_culprit: Annotated[Flag, _flag("--all", "Also search for further, independent culprits.", rare=True)] = None
    timeout: Annotated[Text, _text("--timeout", "DURATION", "Time for one run of the script, such as 20m.")] = None
    timeout_is: Annotated[
        Text, _text("--timeout-is", "auto|fail|skip", "What a timeout means; auto by default.", rare=True)
    ] = None
    smoke_env: Annotated[
        Texts, _text("--smoke-env", "NAME=VALUE", "A variable of the script. Repeatable.", rare=True)
    ] = ()
    pass_env: Annotated[Texts, _text("--pass-env", "NAME", "Hand on a variable of yours. Repeatable.", rare=True)] = ()
    share_cache: Annotated[Text, _text("--share-cache", "DIR", "Use it in place of fresh caches.", rare=True)] = None

    environment: Annotated[
        Text, _text("--env", "KIND", "venv, docker, command or image; the rest tells.", words=ENVIRONMENTS)
    ] = None
    with_: Annotated[Texts, _text("--with", "REQ", "venv: a further requirement. Repeatable.")] = ()
    requirements: Annotated[Texts, _text("--requirements", "FILE", "venv: further requirements. Repeatable.")] = ()
    constraint: Annotated[
        Texts, _text("--constraint", "FILE", "venv: bounds on what is chosen. Repeatable.", rare=True)
    ] = ()
    build_constraint: Annotated[
        Texts, _text("--build-constraint", "REQ", "venv: a constraint of isolated builds. Repeatable.", rare=True)
    ] = ()
    python: Annotated[Text, _text("--python", "VERSION|PATH", "venv: the Python of candidates, such as 3.12.")] = None
    no_build_isolation: Annotated[
        Flag, _flag("--no-build-isolation", "venv: build with what is installed.", rare=True)
    ] = None
    build_command: Annotated[
        Texts, _text("--build-command", "CMD", "command: builds a candidate. Repeatable.", rare=True)
    ] = ()
    build_timeout: Annotated[
        Text, _text("--build-timeout", "DURATION", "Time for one build, such as 2h.", rare=True)
    ] = None
    build_failure_is: Annotated[
        Text, _text("--build-failure-is", "auto|fail|skip", "What a failed build means; auto by default.", rare=True)
    ] = None
    exclude_newer: Annotated[Text, _text("--exclude-newer", "DATE", "Read the index as of then.", rare=True)] = None
    index_url: Annotated[Text, _text("--index-url", "URL", "In place of the configured index.", rare=True)] = None
    extra_index_url: Annotated[Texts, _text("--extra-index-url", "URL", "A further index. Repeatable.", rare=True)] = ()

    dockerfile: Annotated[Text, _text("--dockerfile", "FILE", "docker: its ARGs take the pins.")] = None
    good: Annotated[Text, _text("--good", "REV", "Its good end; what differs is searched.")] = None
    bad: Annotated[Text, _text("--bad", "REV", "Its bad end.")] = None
    good_file: Annotated[Text, _text("--good-file", "FILE", "The good end as a file of its own.", rare=True)] = None
    bad_file: Annotated[Text, _text("--bad-file", "FILE", "The bad end as a file of its own.", rare=True)] = None
    good_date: Annotated[Text, _text("--good-date", "DATE", "What is not pinned is as of then.", rare=True)] = None
    bad_date: Annotated[Text, _text("--bad-date", "DATE", "The same at the bad end.", rare=True)] = None
    good_image: Annotated[Text, _text("--good-image", "IMAGE", "What it holds is the good end.", rare=True)] = None
    bad_image: Annotated[Text, _text("--bad-image", "IMAGE", "What it holds is the bad end.", rare=True)] = None
    only: Annotated[Texts, _text("--only", "NAME", "Search this of what differs. Repeatable.", rare=True)] = ()
    exclude: Annotated[Texts, _text("--exclude", "NAME", "Leave it as at the bad end. Repeatable.", rare=True)] = ()
    chain: Annotated[
        Texts, _text("--chain", "FILE:TARGET=ARG", "FILE builds the image that ARG names. Repeatable.", rare=True)
    ] = ()
    context: Annotated[Text, _text("--context", "DIR", "docker: build context, if another.", rare=True)] = None
    target: Annotated[Text, _text("--target", "STAGE", "docker: the stage to build.", rare=True)] = None
    build_arg: Annotated[
        Texts, _text("--build-arg", "NAME=VALUE", "docker: {PIN} in VALUE is its value. Repeatable.")
    ] = ()
    reuse_stage: Annotated[
        Texts, _text("--reuse-stage", "STAGE[=IMAGE]", "docker: take it as built once. Repeatable.", rare=True)
    ] = ()
    disk: Annotated[Text, _text("--disk", "SIZE", "docker: what images of a run may take, such as 50G.", rare=True)] = (
        None
    )
    cache_from: Annotated[Texts, _text("--cache-from", "SRC", "docker: layers from there. Repeatable.", rare=True)] = ()
    cache_to: Annotated[Texts, _text("--cache-to", "DEST", "docker: layers to there. Repeatable.", rare=True)] = ()
    secret: Annotated[
        Texts, _text("--secret", "id=NAME,src=PATH", "docker: a build secret. Repeatable.", rare=True)
    ] = ()
    ssh: Annotated[Texts, _text("--ssh", "default|ID=PATH", "docker: an agent for builds. Repeatable.", rare=True)] = ()
    gpu: Annotated[Text, _text("--gpu", "rocm|nvidia", "docker: hand the devices on.")] = None
    mount: Annotated[Texts, _text("--mount", "SRC:DST[:ro]", "docker: a bind mount. Repeatable.", rare=True)] = ()
    models: Annotated[Text, _text("--models", "DIR", "docker: models, read-only, hubs offline.", rare=True)] = None
    docker_arg: Annotated[
        Texts, _text("--docker-arg", "ARG", "docker: an argument of docker run. Repeatable.", rare=True)
    ] = ()
    docker_build_option: Annotated[
        Texts, _text("--docker-build-option", "ARG", "docker: an argument of docker build. Repeatable.", rare=True)
    ] = ()
    no_index_time: Annotated[
        Flag, _flag("--no-index-time", "docker: read indexes as they are now, not as of the start.", rare=True)
    ] = None

    confidence: Annotated[Text, _text("--confidence", "PROBABILITY", "What to reach; 0.99 by default.", rare=True)] = (
        None
    )
    max_runs: Annotated[Text, _text("--max-runs", "N", "Stop after so many runs of the script.", rare=True)] = None
    budget: Annotated[Text, _text("--budget", "DURATION", "Stop after this time, such as 6h.")] = None
    repeat: Annotated[
        Text, _text("--repeat", "auto|N", "Confirming runs; auto, by the confidence, by default.", rare=True)
    ] = None
    rebuild_witnesses: Annotated[Flag, _flag("--rebuild-witnesses", "Build both afresh, too.", rare=True)] = None
    workers: Annotated[Text, _text("--workers", "N", "Probes at once; one a host by default.", rare=True)] = None
    executor: Annotated[
        Text, _text("--executor", "local|ray", "Where candidates are built and run; local by default.", rare=True)
    ] = None
    ray_address: Annotated[
        Text, _text("--ray-address", "auto|local|HOST:PORT", "ray: the cluster; local starts one.", rare=True)
    ] = None
    ray_resource: Annotated[
        Texts, _text("--ray-resource", "NAME=AMOUNT", "ray: what one run takes. Repeatable.", rare=True)
    ] = ()
    ray_label: Annotated[
        Texts, _text("--ray-label", "NAME=VALUE", "ray: nodes with this label alone. Repeatable.", rare=True)
    ] = ()
    hosts: Annotated[Text, _text("--hosts", "URL,...", "docker: engines of other machines, by address.", rare=True)] = (
        None
    )
    build_on: Annotated[
        Text, _text("--build-on", "local|URL|command:CMD", "docker: where images are built.", rare=True)
    ] = None
    run_on: Annotated[Text, _text("--run-on", "local|ray|URL,...", "docker: where the script runs.", rare=True)] = None
    registry: Annotated[Text, _text("--registry", "NAME", "docker: images pass through it.", rare=True)] = None
    health: Annotated[
        Text, _text("--health", "CMD", "Asks a machine, before and after each run, whether it is well.", rare=True)
    ] = None
    heartbeat: Annotated[
        Text, _text("--heartbeat", "DURATION", "How often another machine is asked if it is there; 20s.", rare=True)
    ] = None
    keep: Annotated[Flag, _flag("--keep", "Keep the environments.", rare=True)] = None
    run_dir: Annotated[Text, _text("--run-dir", "DIR", "Where the journal and the logs go.", rare=True)] = None

    # Only in a configuration file; on the command line they follow `--`.
    smoke_args: Texts = ()


_KINDS: dict[object, str] = {Text: "text", Texts: "texts", Flag: "flag"}
_HINTS = get_type_hints(RunOptions)

PATHS = frozenset(
    {
        "smoke", "requirements", "constraint", "share_cache", "dockerfile", "context", "models", "run_dir", "good_file",
        "bad_file", "chain",
    }
)  # fmt: skip
"""Options whose value is a path, in a configuration file relative to it (`mount` and `python` are looked at apart)."""


BY_NAME = frozenset({"pin", "repo", "fix", "smoke_env", "build_arg"})
"""Options of the form NAME=VALUE, which a configuration file may give as a table."""


def key_of(name: str) -> str:
    """What a field is called in a configuration file."""
    return {"with_": "with", "environment": "env", "every_culprit": "all"}.get(name, name.replace("_", "-"))


def kind_of(name: str) -> str:
    """What sort of value an option has: "text", "texts" or "flag"."""
    return _KINDS[_HINTS[name]]


_ENDS = frozenset({"good", "bad", "good_file", "bad_file", "good_image", "bad_image", "good_date", "bad_date", "chain"})
"""Options that name ends other than with `--pin`."""
OF_A_SEARCH = _ENDS | frozenset(
    {
        "descend",
        "metric",
        "regress",
        "first_good",
        "suspect",
        "every_culprit",
        "any_failure",
        "confidence",
        "max_runs",
        "budget",
        "repeat",
        "rebuild_witnesses",
        "workers",
        "only",
        "exclude",
    }
)
"""Options that mean nothing where one candidate alone is tried."""
OF_OTHER_ENDS = _ENDS | frozenset(
    {
        "pin",
        "within",
        "descend",
        "ask",
        "first_good",
        "suspect",
        "dockerfile",
        "exclude_newer",
    }
)
"""Options that mean nothing to a canary, whose ends are what a file gives today, and the newest that fits."""
_ONE_PIN = Annotated[Texts, _text("--pin", "NAME==VERSION", "A pin and its value. Repeatable.")]


def with_run_options(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Give a command, in place of its parameter `options`, one command line option for each field that has one."""
    return _with_options(command, get_type_hints(RunOptions, include_extras=True))


def with_probe_options(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """The same without what concerns a search; each pin has one value."""
    hints = get_type_hints(RunOptions, include_extras=True) | {"pin": _ONE_PIN}
    return _with_options(command, {name: hint for name, hint in hints.items() if name not in OF_A_SEARCH})


def with_canary_options(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """The same without what names ends; `--only` and `--exclude` say which exact pins move."""
    hints = get_type_hints(RunOptions, include_extras=True) | {
        "only": Annotated[Texts, _text("--only", "NAME", "Move this exact pin, no other. Repeatable.")],
        "exclude": Annotated[Texts, _text("--exclude", "NAME", "Leave this pin as it is. Repeatable.")],
    }
    return _with_options(command, {name: hint for name, hint in hints.items() if name not in OF_OTHER_ENDS})


def _with_options(command: Callable[..., int | None], hints: dict[str, Any]) -> Callable[..., int | None]:
    own = get_type_hints(command, include_extras=True)
    shown = [each.name for each in fields(RunOptions) if hasattr(hints.get(each.name), "__metadata__")]
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name == "options":
            parameters += [_parameter(name, hints[name]) for name in shown]
        else:
            parameters.append(parameter.replace(annotation=own[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def called(**given: Any) -> int | None:
        typed: dict[str, Any] = {name: given.pop(name) for name in shown}
        typed |= {name: tuple(value) for name, value in typed.items() if isinstance(value, list)}
        return command(options=RunOptions(**typed), **given)

    del called.__wrapped__  # its signature is not this one's
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called


def _parameter(name: str, hint: Any) -> inspect.Parameter:
    default: tuple[str, ...] | None = None
    if kind_of(name) == "texts":  # typer knows lists
        default, hint = (), Annotated[list[str], *hint.__metadata__]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
