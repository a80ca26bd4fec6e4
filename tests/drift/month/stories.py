"""What happens in the month: for each rule a cause, a time in which nothing changes, and an end.

A story lays out files of the project and of the sources, says what happens on which day, and what the check of a day is
to report then: nothing else may be reported in the whole month.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from tests.drift.month.sources import Served
from tests.drift.month.world import LONG_AGO, START, World

YESTERDAY = START - timedelta(days=1)

Happening = Callable[[World], None]


@dataclass(frozen=True, order=True)
class News:
    """What is reported.

    Attributes:
        day: on which.
        state: "new" or "resolved".
        rule: of the finding.
        pin: of the finding.
        bucket: of the finding.
        asks: whether the story's source has to answer for it; a cap, say, ends by itself what is said of open ends.
    """

    day: int
    state: str
    rule: str
    pin: str
    bucket: str
    asks: bool = field(default=True, compare=False)


@dataclass(frozen=True)
class Story:
    """One thing that moves.

    Attributes:
        name: for people.
        source: what has to answer for its news: "index", "server", "git", or "" for nothing.
        begin: lays it out, before the first day.
        happenings: by day, each before that day's check.
        news: what is to be reported.
    """

    name: str
    source: str
    begin: Happening
    happenings: Mapping[int, Happening]
    news: tuple[News, ...] = field(default_factory=tuple)


def once(rule: str, pin: str, bucket: str, new: int, resolved: int) -> tuple[News, News]:
    """Reported when it comes, and when it goes."""
    return News(new, "new", rule, pin, bucket), News(resolved, "resolved", rule, pin, bucket)


# -- a branch ahead of its pin -----------------------------------------------------------------------------------------


def _triton(world: World) -> None:
    triton = world.repository("triton")
    first = triton.commit(YESTERDAY, "begin", {"README.md": "triton\n"})
    world.write("triton/Dockerfile", _built_from(triton.url, first), when=YESTERDAY)


def _built_from(url: str, revision: str) -> str:
    name = url.rpartition("/")[2]
    return f"""\
FROM scratch
ARG {name.upper()}_BRANCH="{revision}"
RUN git clone {url} && cd {name} && git checkout ${{{name.upper()}_BRANCH}} && make install
"""


def _commit_to_triton(world: World) -> None:
    world.repository("triton").commit(world.earlier, f"work of day {world.day}")


def _take_newest_triton(world: World) -> None:
    triton = world.repository("triton")
    world.edit("triton/Dockerfile", triton.git("rev-list", "--max-parents=0", "HEAD"), triton.git("rev-parse", "HEAD"))


BRANCH = Story(
    "a branch that moves every day, until its newest commit is pinned",
    "git",
    _triton,
    {**dict.fromkeys(range(3, 20), _commit_to_triton), 20: _take_newest_triton},
    (
        News(3, "new", "branch-ahead", "triton", "1 commit"),
        News(12, "new", "branch-ahead", "triton", "10 commits or 14 days"),
        News(20, "resolved", "branch-ahead", "triton", "10 commits or 14 days"),
    ),
)


# -- a tag that is moved, a branch that is removed ---------------------------------------------------------------------


def _aiter(world: World) -> None:
    repository = world.repository("aiter")
    repository.commit(LONG_AGO, "begin")
    repository.git("tag", "v0.1.0")
    repository.commit(LONG_AGO, "after the tag")
    world.write("aiter/Dockerfile", _built_from(repository.url, "v0.1.0"), when=YESTERDAY)


TAG = Story(
    "a tag that is moved, and moved back",
    "git",
    _aiter,
    {
        5: lambda world: _git(world, "aiter", "tag", "--force", "v0.1.0", "main"),
        8: lambda world: _git(world, "aiter", "tag", "--force", "v0.1.0", "main~1"),
    },
    once("ref-moved", "aiter", "tag", 5, 8),
)


def _vision(world: World) -> None:
    vision = world.repository("vision")
    vision.commit(LONG_AGO, "begin")
    vision.git("branch", "release")
    world.write("vision/Dockerfile", _built_from(vision.url, "release"), when=YESTERDAY)


def _git(world: World, repository: str, *arguments: str) -> None:
    world.repository(repository).git(*arguments)


REMOVED_BRANCH = Story(
    "a branch that is removed, and made again",
    "git",
    _vision,
    {
        6: lambda world: _git(world, "vision", "branch", "-D", "release"),
        9: lambda world: _git(world, "vision", "branch", "release"),
    },
    once("ref-vanished", "vision", "ref", 6, 9),
)


# -- a patch -----------------------------------------------------------------------------------------------------------

_SERVER = "".join(f"line {number}\n" for number in range(1, 21))
_PATCH = """\
--- a/server.py
+++ b/server.py
@@ -9,3 +9,3 @@
 line 9
-line 10
+line ten
 line 11
"""


def _sglang(world: World) -> None:
    sglang = world.repository("sglang")
    sglang.commit(LONG_AGO, "begin", {"server.py": _SERVER})
    sglang.git("tag", "v1")
    sglang.commit(LONG_AGO, "rewrite", {"server.py": _SERVER.replace("line 11", "other line")})
    sglang.git("tag", "v2")
    world.write("sglang/fix.patch", _PATCH, when=YESTERDAY)
    text = f"""\
FROM scratch
ARG SGLANG_BRANCH="v1"
COPY sglang/fix.patch /fix.patch
RUN git clone {sglang.url} && cd sglang && git checkout ${{SGLANG_BRANCH}} && git apply /fix.patch && make install
"""
    world.write("sglang/Dockerfile", text, when=YESTERDAY)


PATCH = Story(
    "a patch that no longer fits when the pin moves, until it is made anew",
    "git",
    _sglang,
    {
        10: lambda world: world.edit("sglang/Dockerfile", "v1", "v2"),
        14: lambda world: world.edit("sglang/fix.patch", "line 11", "other line"),
    },
    once("patch-context", "sglang", "fix.patch: fails", 10, 14),
)


# -- a file that is replaced, an image that is pushed again ------------------------------------------------------------


def _tool(world: World) -> None:
    for name in ("/tool-1.0.whl", "/tool-2.0.whl"):
        world.server.files[name] = Served(b"one", LONG_AGO)
    text = f"FROM scratch\nADD http://{world.server.host}/tool-1.0.whl /tool.whl\n"
    world.write("tool/Dockerfile", text, when=YESTERDAY)


def _replace_tool(world: World) -> None:
    world.server.files["/tool-1.0.whl"] = Served(b"another one", world.earlier)


ASSET = Story(
    "a file that is replaced in place, until another one is taken",
    "server",
    _tool,
    {7: _replace_tool, 11: lambda world: world.edit("tool/Dockerfile", "tool-1.0", "tool-2.0")},
    once("asset-replaced", "tool", "replaced", 7, 11),
)


def _image(world: World) -> None:
    for tag in ("7.0", "7.1"):
        world.server.push(f"rocm/base:{tag}", f"{tag}, first")
    world.write("image/Dockerfile", f"FROM {world.server.host}/rocm/base:7.0\n", when=YESTERDAY)


IMAGE = Story(
    "an image that is pushed again under its tag, until another one is taken",
    "server",
    _image,
    {
        9: lambda world: world.server.push("rocm/base:7.0", "7.0, second"),
        13: lambda world: world.edit("image/Dockerfile", ":7.0", ":7.1"),
    },
    once("image-digest", "SERVER/rocm/base", "another digest", 9, 13),
)


# -- packages ----------------------------------------------------------------------------------------------------------


def _pybind11(world: World) -> None:
    world.upload("pybind11", "3.0.4", when=LONG_AGO)
    text = """\
FROM scratch AS base
FROM base AS build_wheels
RUN pip install 'pybind11<3.1' && python setup.py bdist_wheel
FROM base AS final
COPY --from=build_wheels /dist /dist
RUN pip install pybind11 /dist/*.whl
"""
    world.write("pybind11/Dockerfile", text, when=YESTERDAY)


PYBIND11 = Story(
    "an open requirement that comes to a new release, and parts the stages, until it is capped",
    "index",
    _pybind11,
    {
        15: lambda world: world.upload("pybind11", "3.1.0"),
        18: lambda world: world.edit("pybind11/Dockerfile", "install pybind11", "install 'pybind11<3.1'"),
    },
    (
        News(15, "new", "capped", "pybind11@build_wheels", "1 releases"),
        News(15, "new", "floating-moved", "pybind11@final", "3.1"),
        News(18, "resolved", "floating-moved", "pybind11@final", "3.1", asks=False),
        *once("skew", "pybind11", "3.0 and 3.1", 15, 18),
        News(18, "new", "capped", "pybind11@final", "1 releases"),
    ),
)


def _numpy(world: World) -> None:
    world.upload("numpy", "2.1.0", when=LONG_AGO)
    world.write("numpy/requirements.txt", "numpy==2.1.0\n", when=YESTERDAY)


YANKED = Story(
    "a release that gets a successor and is yanked, until the successor is pinned",
    "index",
    _numpy,
    {
        10: lambda world: world.upload("numpy", "2.1.1"),
        16: lambda world: world.index.yank("numpy", "2.1.0", "broken"),
        19: lambda world: world.edit("numpy/requirements.txt", "2.1.0", "2.1.1"),
    },
    (*once("newer-inside", "numpy", "2.1", 10, 19), *once("yanked", "numpy", "2.1.0", 16, 19)),
)


def _gamma(world: World) -> None:
    world.index.add("beta", "1.0", requires=["gamma>=2"], upload_time=LONG_AGO)
    for version in ("1.0", "2.0"):
        world.upload("gamma", version, when=LONG_AGO)
    world.write("gamma/requirements.txt", "beta==1.0\ngamma<3\n", when=YESTERDAY)


UNRESOLVABLE = Story(
    "pins that no longer resolve, for what one of them needs was yanked, until it is put back",
    "index",
    _gamma,
    {
        13: lambda world: world.index.yank("gamma", "2.0", "broken"),
        17: lambda world: world.index.yank("gamma", "2.0", None),
    },
    once("unresolvable", "", "all", 13, 17),
)


def _cmake(world: World) -> None:
    world.upload("cmake", "3.31.0", when=LONG_AGO)
    world.write("cmake/requirements.txt", "cmake<4\n", when=YESTERDAY)


CAPPED = Story(
    "a release that a cap keeps out, until the cap is lifted",
    "index",
    _cmake,
    {
        4: lambda world: world.upload("cmake", "4.0.0"),
        17: lambda world: world.edit("cmake/requirements.txt", "<4", "<5"),
    },
    once("capped", "cmake", "1 releases", 4, 17),
)


# -- holds -------------------------------------------------------------------------------------------------------------


def _review(world: World) -> None:
    world.append("pins.toml", _hold("cmake<5", "5 may break", f"review = {_REVIEW}"), when=YESTERDAY)


def _hold(requirement: str, reason: str, end: str) -> str:
    return f'[[hold]]\nrequirement = "{requirement}"\nreason = "{reason}"\n{end}\n\n'


_REVIEW = START.date() + timedelta(days=21)

REVIEW = Story(
    "a hold whose day of review comes, until it gets a later one",
    "",
    _review,
    {23: lambda world: world.edit("pins.toml", str(_REVIEW), str(_REVIEW + timedelta(days=90)))},
    once("hold-review", "cmake", f"review {_REVIEW}", 21, 23),
)

_SETUPTOOLS = _hold("setuptools<80", "mori's setup.py", 'until = "setuptools 84.0 is released"')


def _setuptools(world: World) -> None:
    world.upload("setuptools", "79.0.1", when=LONG_AGO)
    world.append("pins.toml", _SETUPTOOLS, when=YESTERDAY)


REASON = Story(
    "a hold whose reason is gone with a release, until it is lifted",
    "index",
    _setuptools,
    {
        5: lambda world: world.upload("setuptools", "83.0.0"),
        6: lambda world: world.upload("setuptools", "84.0.0"),
        12: lambda world: world.edit("pins.toml", _SETUPTOOLS, ""),
    },
    once("hold-reason-gone", "setuptools", "until", 6, 12),
)


# -- what people write -------------------------------------------------------------------------------------------------


def _mori(world: World) -> None:
    mori = world.repository("mori")
    first = mori.commit(LONG_AGO, "begin")
    text = _built_from(mori.url, first).replace("ARG", f"# main as of {LONG_AGO.date()}\nARG")
    world.write("mori/Dockerfile", text, when=YESTERDAY)


def _move_mori(world: World) -> None:
    mori = world.repository("mori")
    world.edit("mori/Dockerfile", mori.git("rev-parse", "HEAD"), mori.commit(world.earlier, "more"))


def _date_mori(world: World) -> None:
    world.edit("mori/Dockerfile", str(LONG_AGO.date()), str(world.now.date()))


COMMENT = Story(
    "a comment whose date was left behind when the pin moved, until it is corrected",
    "git",
    _mori,
    {11: _move_mori, 16: _date_mori},
    once("comment-lags", "mori", "older than the pin", 11, 16),
)


def _flash(world: World) -> None:
    flash = world.repository("flash")
    for tag in ("v1", "v2"):
        flash.commit(LONG_AGO, tag)
        flash.git("tag", tag)
    for name in ("flash/cuda/Dockerfile", "flash/rocm/Dockerfile"):
        world.write(name, _built_from(flash.url, "v1"), when=YESTERDAY)


DISAGREEING = Story(
    "a pin that moves in one file and not in the other, until it does there too",
    "",
    _flash,
    {
        22: lambda world: world.edit("flash/cuda/Dockerfile", "v1", "v2"),
        25: lambda world: world.edit("flash/rocm/Dockerfile", "v1", "v2"),
    },
    once("values-disagree", "repositories/flash", "values", 22, 25),
)

STORIES = (
    *(BRANCH, TAG, REMOVED_BRANCH, PATCH, ASSET, IMAGE, PYBIND11, YANKED, CAPPED, REVIEW, REASON, COMMENT),
    *(DISAGREEING, UNRESOLVABLE),
)
