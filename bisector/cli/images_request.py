"""From the options that name images and tags to what is asked of prebuilt images."""

import re

from bisector.cli.arguments import wrong
from bisector.cli.options import RunOptions, key_of
from bisector.image_axes.request import ImagesRequest
from pins.errors import UsageError

_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", re.ASCII)
_REPOSITORY = re.compile(
    r"(?:[A-Za-z0-9.-]+(?::\d{1,5})?/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*", re.ASCII
)
_EXAMPLE = "for example --env image --pin rocm/vllm-dev=nightly_0801..nightly_0810, or --bad rocm/vllm-dev:nightly_0810"
_OF_BUILDS = (
    "fix", "repo", "within", "checkout_only", "require_path", "python", "exclude_newer", "index_url", "extra_index_url",
    "good_file", "bad_file", "good_date", "bad_date", "good_image", "bad_image", "chain", "rebuild_witnesses",
)  # fmt: skip
"""Options that would be without effect where nothing is built."""


def images_request(options: RunOptions) -> ImagesRequest:
    """The repository and the tags of both ends; a good end that is not named is looked for.

    `--pin IMAGE=GOOD..BAD`, `--pin IMAGE=..BAD`, `--pin IMAGE --bad TAG`, or `--good IMAGE:TAG --bad IMAGE:TAG`.

    Raises:
        UsageError: it is none of these, or an option is without effect.
    """
    _refuse_without_effect(options)
    if len(options.pin) > 1:
        raise UsageError(f"--pin is given {len(options.pin)} times: images of one repository are searched, {_EXAMPLE}")
    if options.pin:
        repository, good, bad = _from_pin(options, options.pin[0])
    elif options.bad:
        repository, bad = _reference("--bad", options.bad)
        good = ""
        if options.good:
            other, good = _reference("--good", options.good)
            if other != repository:
                raise UsageError(f"--good {options.good} and --bad {options.bad} are of two repositories; name one")
    else:
        raise UsageError(f"--env image: no image is named, {_EXAMPLE}")
    if not _REPOSITORY.fullmatch(repository):
        raise wrong("--pin" if options.pin else "--bad", repository, "is no repository of images", _EXAMPLE)
    for tag in filter(None, (good, bad)):
        if not _TAG.fullmatch(tag):
            raise wrong("--pin" if options.pin else "--bad", tag, "is no tag", _EXAMPLE)
    if good == bad:
        raise UsageError(f"{repository}: both ends are {good}; there is nothing to search")
    for given, option in ((options.first_good, "--first-good"), (options.regress, "--regress")):
        if given and not good:
            raise UsageError(f"{option} needs both ends: name a tag for the other one, --pin {repository}=TAG..{bad}")
    return ImagesRequest(repository, good, bad, options.only, options.exclude)


def one_image(options: RunOptions) -> ImagesRequest:
    """The image of a single probe, `--pin IMAGE==TAG`: both ends are it.

    Raises:
        UsageError: it is not of that form.
    """
    _refuse_without_effect(options)
    repository, equals, tag = options.pin[0].partition("=")
    tag = tag.removeprefix("=")
    if (
        len(options.pin) != 1
        or not equals
        or ".." in tag
        or not _REPOSITORY.fullmatch(repository)
        or not _TAG.fullmatch(tag)
    ):
        raise wrong("--pin", " ".join(options.pin), "is not one image", "IMAGE==TAG, for example rocm/vllm-dev==0801")
    return ImagesRequest(repository, tag, tag)


_OF_GOING_ON = ("dockerfile", "context", "target", "build_arg", "secret", "ssh", "no_index_time")
"""Options of use where the search goes on in the Dockerfile that the images are built from."""


def _refuse_without_effect(options: RunOptions) -> None:
    given = [f"--{key_of(name)}" for name in _OF_GOING_ON if getattr(options, name)]
    if given and not (options.dockerfile and options.descend):
        raise UsageError(
            f"{', '.join(given)}: nothing is built in --env image, but where the search goes on within the image that"
            " it finds; say so with --dockerfile FILE --descend, or leave it out"
        )
    if options.docker_build_option and not options.descend:
        raise UsageError("--docker-build-option: nothing is built in --env image but with --descend; leave it out")
    useless = [f"--{key_of(name)}" for name in _OF_BUILDS if getattr(options, name)]
    if useless:
        raise UsageError(f"{', '.join(useless)}: without effect in --env image, where nothing is built; leave it out")


def _from_pin(options: RunOptions, text: str) -> tuple[str, str, str]:
    repository, equals, ends = text.partition("=")
    if not equals:
        if not options.bad:
            raise wrong("--pin", text, "names no tags", _EXAMPLE)
        return repository, options.good or "", options.bad
    if options.good or options.bad:
        raise UsageError(f"--pin {text} and --bad both name tags; leave one of them out")
    good, dots, bad = ends.partition("..")
    if not dots or not bad:
        raise wrong("--pin", text, "names no range: IMAGE=GOOD..BAD, or IMAGE=..BAD to look for a good one", _EXAMPLE)
    return repository, good, bad


def _reference(option: str, text: str) -> tuple[str, str]:
    repository, colon, tag = text.rpartition(":")
    if not colon or "/" in tag:
        raise wrong(option, text, "names no tag", _EXAMPLE)
    return repository, tag
