"""What a person types to search among prebuilt images."""

from pathlib import Path
from typing import Any

import pytest

from bisector.cli.options import RunOptions
from bisector.cli.request import request_for_one, request_from
from bisector.image_axes.request import ImagesRequest
from pins.errors import UsageError

HERE = Path("/here")


def options(**given: Any) -> RunOptions:
    return RunOptions(environment="image", smoke="smoke.py", **given)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"pin": ("rocm/vllm=n1..n9",)}, ("rocm/vllm", "n1", "n9")),
        ({"pin": ("localhost:5000/a/b=..n9",)}, ("localhost:5000/a/b", "", "n9")),
        ({"pin": ("rocm/vllm",), "bad": "n9"}, ("rocm/vllm", "", "n9")),
        ({"pin": ("rocm/vllm",), "good": "n1", "bad": "n9"}, ("rocm/vllm", "n1", "n9")),
        ({"bad": "localhost:5000/a/b:n9"}, ("localhost:5000/a/b", "", "n9")),
        ({"good": "a/b:n1", "bad": "a/b:n9"}, ("a/b", "n1", "n9")),
    ],
)
def test_repository_and_tags_are_read(given: dict[str, Any], expected: tuple[str, str, str]) -> None:
    request = request_from(options(**given), HERE)
    assert request.images == ImagesRequest(*expected)
    assert request.environment == "image"
    assert request.in_containers


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "no image is named"),
        ({"pin": ("a/b=n9",)}, "names no range"),
        ({"pin": ("a/b=n1..n9", "c/d=1..2")}, "images of one repository"),
        ({"pin": ("a/b",)}, "names no tags"),
        ({"pin": ("-x=1..2",)}, "no repository of images"),
        ({"pin": ("a/b=--privileged..n9",)}, "is no tag"),
        ({"pin": ("a/b=n1..n1",)}, "nothing to search"),
        ({"bad": "localhost:5000/a"}, "names no tag"),
        ({"good": "a/c:n1", "bad": "a/b:n9"}, "two repositories"),
        ({"bad": "a/b:n9", "first_good": True}, "--first-good needs both ends"),
        ({"bad": "a/b:n9", "metric": "x", "regress": "5%"}, "--regress needs both ends"),
        ({"bad": "a/b:n9", "fix": ("x=1",)}, "--fix: without effect"),
        ({"bad": "a/b:n9", "dockerfile": "D"}, "--dockerfile FILE --descend"),
        ({"bad": "a/b:n9", "descend": True, "target": "x"}, "--target: nothing is built"),
        ({"bad": "a/b:n9", "docker_build_option": ("-q",)}, "--docker-build-option: nothing is built"),
        ({"bad": "a/b:n9", "with_": ("x",)}, "--with: of use in --env venv alone"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refusal:
        request_from(options(**given), HERE)
    assert said in refusal.value.message


def test_the_dockerfile_of_the_images_goes_with_going_on() -> None:
    given: dict[str, Any] = {"bad": "a/b:n9", "dockerfile": "D", "target": "final", "descend": True}
    request = request_from(options(**given), HERE)
    assert (request.environment, request.docker.dockerfile, request.docker.target) == ("image", HERE / "D", "final")
    assert request.files is None


def test_one_image_is_probed() -> None:
    request = request_for_one(options(pin=("a/b==n9",)), HERE)
    assert request.images == ImagesRequest("a/b", "n9", "n9")
    with pytest.raises(UsageError, match="is not one image"):
        request_for_one(options(pin=("a/b=n1..n9",)), HERE)
