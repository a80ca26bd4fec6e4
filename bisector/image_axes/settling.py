"""The tags of a repository as they are when a run begins: which there are, and what each of them leads to.

A tag can be moved while a run lasts. So each is looked up once, and goes by its digest from then on.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bisector.image_axes.request import ImagesRequest, TaggedImage
from bisector.image_axes.tags import contradictions, date_in, in_order, shape, wanted, within
from bisector.model import Axis, AxisValue
from bisector.report.wording import count
from pins.errors import EnvironmentFailureError, PinsError, SourceError, UsageError
from pins.model import PinKind
from pins.sources.http_reader import HttpReader
from pins.sources.image_registry import ImageRegistry, parse_image
from pins.sources.image_tags import PublishedImage, list_tags, published, read_time
from pins.sources.index_configuration import read_index_configuration

MOST_TAGS = 2000
"""Tags that are looked at one by one; a repository with more of one sort needs --only."""


def settled_images(images: ImagesRequest) -> ImagesRequest:
    """The request with its tags in order, each with its digest.

    Tags are those of the registry, and those that the engine alone has.

    Raises:
        UsageError: no such repository or tag, or the ends are one image, or in the wrong order.
        SourceError: neither registry nor engine has the repository, and one of them could not be asked.
    """
    if images.tags:
        return images
    local, platform, engine_trouble = _in_engine(images.repository)
    published_tags, registry_trouble = _in_registry(images, platform, local)
    found = {image.tag: image for image in local}
    notes: list[str] = []
    lacking = []
    for each in published_tags:
        if each.lacking:
            lacking.append(each)
        elif each.digest:
            found[each.tag] = TaggedImage(each.tag, each.digest, each.created)
    if not found:
        raise _nothing(images.repository, registry_trouble, engine_trouble)
    if registry_trouble:
        notes.append(f"{images.repository}: its tags are those that the engine has, for {registry_trouble}")
    if lacking:
        notes.append(f"{images.repository}: {count(len(lacking), 'tag')} left out, for {lacking[0].lacking}")
    return _between_ends(images, found, notes, platform)


def image_axis(images: ImagesRequest) -> Axis:
    """The axis of a settled request: from the good end to the bad one; without a good end, the last step alone."""
    tags = images.tags if images.good_is_known else images.tags[-2:]
    return axis_over(images, tags)


def axis_over(images: ImagesRequest, tags: Sequence[TaggedImage]) -> Axis:
    """The axis over these tags."""
    values = tuple(AxisValue(image.tag, image.created or date_in(image.tag)) for image in tags)
    return Axis(images.repository, PinKind.IMAGE, values)


def _between_ends(
    images: ImagesRequest, found: dict[str, TaggedImage], notes: list[str], platform: str
) -> ImagesRequest:
    ends = [end for end in (images.good, images.bad) if end]
    for end in ends:
        if end not in found:
            alike = [tag for tag in found if shape(tag) == shape(end)] or list(found)
            raise UsageError(
                f"{images.repository} has no tag {end}{f' for {platform}' if platform else ''}; it has"
                f" {_listed(sorted(alike))}"
            )
    chosen = [found[tag] for tag in wanted(found, ends, images.only, images.exclude) if tag in found]
    ordered, by = in_order(chosen)
    tags = [image.tag for image in ordered]
    last = tags.index(images.bad)
    first = tags.index(images.good) if images.good else 0
    if images.good == images.bad:  # a single probe
        return replace(images, tags=(found[images.bad],))
    if images.good and found[images.good].digest == found[images.bad].digest:
        raise UsageError(f"{images.repository}: {images.good} and {images.bad} are the same image; nothing to search")
    if first > last:
        raise UsageError(
            f"{images.repository}: the ends are in the wrong order: by {by}, {images.bad} is older than {images.good},"
            f" and the good end goes first. To look for the image that mended something, give"
            f" --pin {images.repository}={images.bad}..{images.good} with --first-good"
        )
    way = ordered[first : last + 1]
    if len(way) < 2:
        raise UsageError(
            f"{images.repository}: {images.bad} is the oldest tag of its sort, so that none is left to be good; name"
            " tags of another sort with --only 'PATTERN'"
        )
    sorts = list(dict.fromkeys(map(shape, ends)))
    sort = f"that match {' or '.join(images.only)}" if images.only else f"like {' or '.join(sorts)}"
    notes.insert(0, f"{images.repository}: {count(len(way), 'tag')} {sort}, ordered by {by}, each held at its digest")
    if not images.good:
        notes.insert(
            1, f"no good end is named: it is looked for 1, 2, 4, 8, ... tags back from {images.bad}, down to {tags[0]}"
        )
    if by.startswith("the date") and (late := contradictions(way)):
        notes.append(
            f"{images.repository}: made before the tag that stands before it, so built again or dated otherwise:"
            f" {_listed([image.tag for image in late])}"
        )
    return replace(images, tags=tuple(way), said=tuple(notes))


def _in_engine(repository: str) -> tuple[list[TaggedImage], str, str]:
    """The images of a repository that the engine has, the engine's platform, and why it could not be asked."""
    from bisector.environments.docker.engine import engine

    try:
        with engine() as client:
            version = client.version()
            entries = client.api.images(name=repository)
            created = {entry["Id"]: client.api.inspect_image(entry["Id"]).get("Created") for entry in entries}
    except EnvironmentFailureError as error:
        return [], "", str(error)
    found = [
        TaggedImage(name.rpartition(":")[2], entry["Id"], read_time(created[entry["Id"]]), local=True)
        for entry in entries
        for name in entry["RepoTags"] or ()
        if name.rpartition(":")[0] == repository and not name.endswith(":<none>")
    ]
    return found, f"{version.get('Os')}/{version.get('Arch')}", ""


def _in_registry(
    images: ImagesRequest, platform: str, local: Sequence[TaggedImage]
) -> tuple[list[PublishedImage], str]:
    """What the registry has, as far as it may lie between the ends, and why it could not be asked."""
    reference = parse_image(images.repository)
    if reference is None:
        raise UsageError(f"{images.repository} is no repository of images, such as OWNER/NAME or HOST:PORT/NAME")
    ends = [end for end in (images.good, images.bad) if end]
    reader = HttpReader(read_index_configuration("", (), environment=os.environ, directory=Path.cwd()))
    registry = ImageRegistry(reader)
    try:
        tags = list_tags(registry, reference)
        if tags is None:
            return [], "its registry has no such repository"
        there = {*tags, *(image.tag for image in local)}
        known = set(tags)
        chosen = wanted(tags, [end for end in ends if end in there], images.only, images.exclude)
        chosen = [tag for tag in within(chosen, images.good, images.bad) if tag in known]
        if len(chosen) > MOST_TAGS:
            raise UsageError(
                f"{images.repository} has {len(chosen)} tags of that sort; name fewer with --only 'PATTERN'"
            )
        return published(registry, reference, chosen, platform), ""
    except SourceError as error:
        return [], _phrase(error)
    finally:
        reader.close()


def _nothing(repository: str, registry_trouble: str, engine_trouble: str) -> PinsError:
    why = "; ".join(filter(None, (registry_trouble, engine_trouble)))
    if registry_trouble and not registry_trouble.endswith("no such repository"):
        return SourceError(f"no tags of {repository} are known: {why}")
    return UsageError(f"there are no images of {repository}: {why or 'neither its registry nor the engine has any'}")


def _phrase(error: PinsError) -> str:
    return str(error).rstrip(".")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")
