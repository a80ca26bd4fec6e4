"""Commands of the pages that are not run in the sandbox as they stand, each with the reason. All others are."""

from dataclasses import dataclass
from enum import StrEnum

from tests.project.documented.pages import Shown


class How(StrEnum):
    """How far a command is checked."""

    PARSED = "parsed"  # read by the real command line, up to where work would begin
    NETWORK = "network"  # run, and compared, with the package index that pip is configured for (slow)
    DOCKER = "docker"  # parsed; tests/docker runs the same with an engine
    OTHER = "other"  # not a command of ours; other tests run it, or nothing can


@dataclass(frozen=True)
class Except:
    """Some commands of a page.

    Attributes:
        page: where they stand.
        holds: what is in the command; "" for all of the page.
        how: how far they are checked.
        reason: why no further.
    """

    page: str
    holds: str
    how: How
    reason: str


EXCEPTIONS = (
    Except("README.md", "git clone", How.OTHER, "has no address to clone from; what follows is run by itself"),
    Except("README.md", "august/requirements.txt", How.NETWORK, "compiles against the real pybind11"),
    Except("README.md", "pybind11-global", How.NETWORK, "compiles against the real pybind11"),
    Except("README.md", "--pin numpy", How.PARSED, "your own packages and script"),
    Except("README.md", "--requirements requirements.txt", How.PARSED, "your own requirements and script"),
    Except("README.md", "--dockerfile docker", How.PARSED, "needs an engine, and your Dockerfile"),
    Except("README.md", "--repo triton", How.PARSED, "your own clone of Triton"),
    Except("README.md", "--env image", How.PARSED, "images of a registry"),
    Except("docs/canary.md", "", How.PARSED, "your own files; tests/canary and tests/docker run canaries"),
    Except("docs/check.md", "--select compiled-skew", How.PARSED, "shows vLLM's file, which is not ours to keep"),
    Except("docs/check.md", "--metadata", How.PARSED, "shows a file of yours"),
    Except("docs/cluster.md", "", How.OTHER, "needs a Ray cluster; tests/executors start one"),
    Except("docs/contributing.md", "", How.OTHER, "the tests themselves, and what CI runs"),
    Except("docs/dependencies.md", "uvx", How.OTHER, "downloads an auditor, which asks a database"),
    Except("docs/dockerfiles.md", "", How.PARSED, "shows vLLM's file and your own; tests/file_axes plan and run such"),
    Except("docs/drift.md", "rocm_base", How.PARSED, "shows vLLM's and AITER's repositories"),
    Except("docs/drift.md", "pins ack", How.PARSED, "acknowledges a finding of vLLM's file"),
    Except("docs/drift.md", "--every", How.PARSED, "does not end"),
    Except("docs/environments.md", "", How.PARSED, "an engine and a build of yours; tests/docker run such"),
    Except("docs/examples/README.md", "setuptools=80.9.0", How.PARSED, "README.md has it, where it is run"),
    Except("docs/examples/README.md", "Dockerfile", How.DOCKER, "tests/docker/test_docker_example.py runs it"),
    Except("docs/examples/README.md", "pybind11-global", How.NETWORK, "compiles against the real pybind11"),
    Except("docs/examples/README.md", "transformers", How.OTHER, "GOOD and BAD stand for your versions"),
    Except("docs/examples/README.md", "triton", How.PARSED, "downloads gigabytes; tests/cases has it"),
    Except("docs/git.md", "click", How.PARSED, "shows click's repository; a case of tests/cases runs the same"),
    Except("docs/git.md", "--within", How.PARSED, "needs a build of LLVM"),
    Except("docs/images.md", "", How.PARSED, "needs a registry; tests/docker/test_prebuilt_images.py starts one"),
    Except("docs/mutation.md", "", How.OTHER, "runs the tests of the cores over and over, for a quarter of an hour"),
    Except("docs/pins.md", "rocm", How.PARSED, "shows vLLM's files"),
    Except("docs/suggest.md", "rocm_base", How.PARSED, "shows vLLM's file"),
    Except("docs/what-broke.md", "--pin numpy", How.PARSED, "your own script"),
    Except("docs/what-broke.md", "--dockerfile docker", How.PARSED, "needs an engine, and your Dockerfile"),
    Except("docs/what-broke.md", "--pin torch", How.PARSED, "downloads gigabytes"),
    Except("docs/what-broke.md", "--pin cmake", How.PARSED, "your own build"),
    Except("docs/what-broke.md", "bisect.toml", How.PARSED, "your own options; those of the page are read in a test"),
    Except("docs/what-broke.md", "pybind11/Dockerfile", How.DOCKER, "tests/docker/test_docker_example.py runs it"),
    Except("docs/what-moved.md", "bisector canary", How.PARSED, "needs an engine"),
    Except("docs/windows.md", "--require", How.NETWORK, "asks for torch's releases, as of a day"),
    Except("docs/windows.md", "rocm_base", How.PARSED, "shows vLLM's, Triton's and AITER's repositories"),
)


def how_checked(shown: Shown) -> Except | None:
    """The exception that a command falls under; None where it is run."""
    return next((one for one in EXCEPTIONS if one.page == shown.page and one.holds in shown.command), None)
