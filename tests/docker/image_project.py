"""A small project modelled on the images that vLLM's ROCm base is built from, with a planted culprit.

Its repository holds a Dockerfile with a history, and the source of a second wheel; another repository holds a C++
extension of some 200 commits with merges and a release branch. A base stage installs pinned packages, two stages build
wheels, and the final stage installs them.
"""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DOCKERFILE = """\
ARG BASE_IMAGE
ARG EXT_BRANCH="{ext}"
ARG EXT_REPO="{repository}"

FROM ${{BASE_IMAGE}} AS base
ENV SPEED={speed}
{extra}RUN pip install -U 'packaging=={packaging}' 'setuptools=={setuptools}' wheel 'pybind11=={pybind11}'

{framework}### The extension
FROM base AS build_ext
ARG EXT_BRANCH
ARG EXT_REPO
RUN git clone ${{EXT_REPO}} ext
RUN cd ext \\
    && git checkout ${{EXT_BRANCH}} \\
    && python3 setup.py bdist_wheel --dist-dir=dist \\
    && mkdir -p /app/install && cp dist/*.whl /app/install

### A second wheel
FROM base AS build_second
COPY second /second
RUN cd /second && python3 setup.py bdist_wheel --dist-dir=dist && mkdir -p /app/install && cp dist/*.whl /app/install

FROM base AS final
RUN --mount=type=bind,from=build_ext,src=/app/install/,target=/install pip install /install/*.whl
RUN --mount=type=bind,from=build_second,src=/app/install/,target=/install pip install /install/*.whl
{installed}"""

FRAMEWORK = """\
### What takes long, as a framework does
FROM base AS build_framework
COPY framework /framework
RUN cd /framework && for part in *.cpp; do g++ -O2 -c $part || exit 1; done \\
    && mkdir -p /app/install && ar rcs /app/install/libframework.a *.o

"""
INSTALLED = "COPY --from=build_framework /app/install/libframework.a /usr/local/lib/\n"
PART = """\
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
int part_{number}(const std::string& text) {{
    std::regex pattern("([a-z]+)-(\\\\d+)");
    std::smatch match;
    std::map<std::string, int> seen;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), pattern); at != std::sregex_iterator(); ++at)
        seen[(*at)[1]] += {number};
    std::ostringstream out;
    for (auto& each : seen) out << each.first << each.second;
    return (int)out.str().size() + std::regex_match(text, match, pattern);
}}
"""

EXT_SETUP = """\
from setuptools import Extension, setup
import pybind11

setup(name="ext", version="1.0", ext_modules=[
    Extension("ext", ["ext.cpp"], language="c++", include_dirs=[pybind11.get_include()], extra_compile_args=["-O0"])
])
"""
EXT_SOURCE = """\
#include <pybind11/pybind11.h>
PYBIND11_MODULE(ext, module) {{
    module.attr("level") = {level};
}}
"""
SECOND_SETUP = 'from setuptools import setup\nsetup(name="second", version="1.0", py_modules=["second"])\n'


def git(directory: Path, *arguments: str, date: int = 0) -> str:
    """Run git; `date` (seconds) is the time of what it commits."""
    name = {f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in _PERSON.items()}
    dates = {f"GIT_{who}_DATE": f"{1_750_000_000 + date} +0000" for who in ("AUTHOR", "COMMITTER")}
    done = subprocess.run(
        ["git", "-C", str(directory), *arguments],
        env={**os.environ, **name, **dates, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


_PERSON = {"NAME": "A Person", "EMAIL": "person@example.invalid"}


@dataclass
class Extension:
    """The repository of the extension.

    Attributes:
        path: where it lies.
        commits: the first parents of its main branch, oldest first; every tenth is a merge.
        release: the tip of a release branch that leaves main at commit 100 and picks two changes.
    """

    path: Path
    commits: list[str] = field(default_factory=list)
    release: str = ""

    @classmethod
    def make(cls, path: Path, count: int = 180) -> "Extension":
        """Make it; the module's `level` is the number of the commit."""
        path.mkdir(parents=True)
        git(path, "init", "--quiet", "--initial-branch=main")
        made = cls(path)
        (path / "setup.py").write_text(EXT_SETUP)
        for number in range(count):
            if number % 10 == 9:
                git(path, "checkout", "--quiet", "-b", f"side-{number}")
                (path / f"note-{number}.txt").write_text("beside\n")
                made._commit(f"Beside {number}", number)
                git(path, "checkout", "--quiet", "main")
                git(path, "merge", "--quiet", "--no-ff", "--no-commit", f"side-{number}", date=number)
            (path / "ext.cpp").write_text(EXT_SOURCE.format(level=number))
            made._commit(f"Raise the level to {number}", number)
            made.commits.append(git(path, "rev-parse", "HEAD"))
        git(path, "checkout", "--quiet", "-b", "release", made.commits[100])
        (path / "CHANGES").write_text("picked\n")
        made._commit("Pick a change", count + 1)
        made.release = git(path, "rev-parse", "HEAD")
        git(path, "checkout", "--quiet", "main")
        return made

    def _commit(self, subject: str, date: int) -> None:
        git(self.path, "add", "--all")
        git(self.path, "commit", "--quiet", "--message", subject, date=date)


@contextmanager
def served(repository: Path) -> Iterator[str]:
    """The repository's address while it is served to builds."""
    git(repository, "update-server-info")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(repository)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/.git"
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class ImageProject:
    """The repository that holds the Dockerfile.

    Attributes:
        path: its work tree.
        address: of the extension's repository.
        values: what the Dockerfile holds now.
        revisions: its commits, oldest first.
    """

    path: Path
    address: str
    values: dict[str, str]
    revisions: list[str] = field(default_factory=list)

    @classmethod
    def make(cls, path: Path, address: str, parts: int = 0, **values: str) -> "ImageProject":
        """Make it with a first commit.

        Args:
            path: where.
            address: of the extension's repository, for builds.
            parts: sources of a framework that is compiled between the base and the extension; 0 for no such stage. Each
                takes some seconds.
            values: what the Dockerfile holds.
        """
        (path / "second").mkdir(parents=True)
        git(path, "init", "--quiet", "--initial-branch=main")
        (path / "second" / "setup.py").write_text(SECOND_SETUP)
        (path / "second" / "second.py").write_text("ANSWER = 42\n")
        stage = {"framework": FRAMEWORK if parts else "", "installed": INSTALLED if parts else ""}
        (path / "framework").mkdir()
        for number in range(parts):
            (path / "framework" / f"part_{number}.cpp").write_text(PART.format(number=number))
        made = cls(path, address, {"speed": "normal", "extra": "", **stage, **values})
        made.change("First version")
        return made

    @property
    def dockerfile(self) -> Path:
        """The file."""
        return self.path / "Dockerfile"

    def change(self, subject: str, **values: str) -> str:
        """Commit the Dockerfile with other values."""
        self.values |= values
        self.dockerfile.write_text(DOCKERFILE.format(repository=self.address, **self.values))
        git(self.path, "add", "--all")
        git(self.path, "commit", "--quiet", "--allow-empty", "--message", subject, date=len(self.revisions) * 1000)
        self.revisions.append(git(self.path, "rev-parse", "HEAD"))
        return self.revisions[-1]
