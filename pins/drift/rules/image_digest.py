"""A base image whose tag leads to another digest than when it was first seen."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from pins.drift.baseline import baseline, kept
from pins.drift.layers import last_built
from pins.drift.model import Check, Json, Observations, Outcome, Subject, WatchedFile, WatchedPin, finding, found, ok
from pins.drift.readings.images import ONLY_HERE, ImageDigest
from pins.drift.rules.rule import ListedRule
from pins.hazards.model import Severity
from pins.model import PinKind
from pins.sources.image_registry import ImageReference, parse_image

ID = "image-digest"


def _lists(subject: Subject) -> Iterable[Check]:
    for file, watched in subject.pins():
        pin = watched.pin
        text = pin.effective or pin.value or ""
        if pin.kind is not PinKind.IMAGE or pin.unknown or "$" in text:
            continue
        image = parse_image(text)
        if image is not None:
            yield Check(watched.about, partial(_check, file, watched, image))


async def _check(
    file: WatchedFile, watched: WatchedPin, image: ImageReference, observations: Observations, previous: Json
) -> Outcome:
    if image.digest:
        return await _pinned(watched, image, observations)
    now = await observations.get(ImageDigest(image))
    built = await last_built(file, watched.pin, observations)
    before = baseline(previous, str(image), built)
    if not now:
        return _gone(watched, image, f"it was {before} when it was first seen" if before else "", previous)
    remembered = kept(before or now, str(image), built)
    if not isinstance(before, str) or before == now:
        return ok(remember=remembered)
    return found(
        finding(
            ID,
            watched.about,
            "another digest",
            f"{image} leads to another image than when it was first seen: the next build that pulls it changes",
            evidence=[f"first seen: {before}", f"now:        {now}"],
            suggestion=f"build with the new one and try it, or pin {replace(image, digest=before)}",
        ),
        remember=remembered,
    )


async def _pinned(watched: WatchedPin, image: ImageReference, observations: Observations) -> Outcome:
    """Of an image that is pinned by digest: whether it is still there, and whether its tag has moved on."""
    if not await observations.get(ImageDigest(replace(image, tag=""))):
        return _gone(watched, image, "its registry keeps no image of that digest any more", None)
    if not image.tag:
        return ok()
    now = await observations.get(ImageDigest(replace(image, digest="")))
    if now in (image.digest, ""):
        return ok()
    return found(
        finding(
            ID,
            watched.about,
            "tag moved on",
            f"{replace(image, digest='')} leads to another digest now than the one that is pinned",
            evidence=[f"pinned: {image.digest}", f"now:    {now}"],
            suggestion=f"try the new one: {replace(image, digest=now)}",
            severity=Severity.NOTE,
        )
    )


def _gone(watched: WatchedPin, image: ImageReference, evidence: str, previous: Json) -> Outcome:
    return found(
        finding(
            ID,
            watched.about,
            "gone",
            f"the registry has no {image}: the next build that pulls it fails",
            evidence=[evidence] if evidence else [],
            suggestion="pin an image that is there" + ("" if evidence else f"; {ONLY_HERE}"),
            severity=Severity.ERROR,
        ),
        remember=previous,
    )


IMAGE_DIGEST = ListedRule(ID, Severity.WARNING, "A base image's tag leads to another digest, or is gone.", _lists)
