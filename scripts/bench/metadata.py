"""Reading the metadata of many wheels: our own way beside httpx with threads, and with asyncio (HTTP/2 with `h2`).

    scripts/bench/metadata [--files N] [--rounds N] [PROJECT...]

Each method asks for the same files of the configured index: the metadata beside the wheel and, where there is none, the
wheel's last 32 KiB. Wheels are the newest of each project that fit Python 3.12 on Linux. Medians of the rounds, in
seconds; the methods take turns within a round.
"""

import argparse
import asyncio
import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from pins.metadata.wheel import TAIL
from pins.sources.http_reader import HttpReader, Question
from pins.sources.index_configuration import IndexConfiguration, read_index_configuration
from pins.sources.index_file import FileKind
from pins.sources.package_index import PackageIndex
from pins.sources.target import described_target
from pins.sources.usable_files import why_unusable

PROJECTS = ("torch", "triton", "pybind11", "cmake", "setuptools", "numpy", "sympy", "networkx", "filelock", "fsspec")
ABSENT = (400, 401, 403, 404, 410)


def wheel_urls(configuration: IndexConfiguration, projects: list[str], count: int) -> list[str]:
    """The newest wheels of these projects, evenly."""
    target = described_target("3.12", glibc="2.35")
    each = -(-count // len(projects))
    urls: list[str] = []
    with PackageIndex(configuration, target) as index:
        for project in projects:
            newest: dict[object, str] = {}
            for file in sorted(index.files(project), key=lambda file: file.version, reverse=True):
                if file.kind is FileKind.WHEEL and not why_unusable(file, target):
                    newest.setdefault(file.version, file.url)
            urls += list(newest.values())[:each]
    return urls[:count]


def as_we_do(configuration: IndexConfiguration, urls: list[str], threads: int) -> int:
    http = HttpReader(configuration)

    def one(url: str) -> int:
        answer = http.once(Question(f"{url}.metadata", absences=ABSENT))
        if answer.status in ABSENT:
            answer = http.once(
                Question(url, {"Range": f"bytes=-{TAIL}", "Accept-Encoding": "identity"}, answers=(206,))
            )
        return len(answer.body)

    try:
        with ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(one, urls))
    finally:
        http.close()


def with_threads(urls: list[str], threads: int) -> int:
    def one(url: str) -> int:
        answer = client.get(f"{url}.metadata")
        if answer.status_code in ABSENT:
            answer = client.get(url, headers={"Range": f"bytes=-{TAIL}"})
        return len(answer.content)

    transport = httpx.HTTPTransport(retries=5)
    with (
        httpx.Client(follow_redirects=True, timeout=60, transport=transport) as client,
        ThreadPoolExecutor(threads) as pool,
    ):
        return sum(pool.map(one, urls))


async def _with_asyncio(urls: list[str], at_once: int, *, http2: bool) -> int:
    limit = asyncio.Semaphore(at_once)

    async def one(client: httpx.AsyncClient, url: str) -> int:
        async with limit:
            answer = await client.get(f"{url}.metadata")
            if answer.status_code in ABSENT:
                answer = await client.get(url, headers={"Range": f"bytes=-{TAIL}"})
            return len(answer.content)

    transport = httpx.AsyncHTTPTransport(retries=5, http2=http2)
    async with httpx.AsyncClient(follow_redirects=True, timeout=60, transport=transport) as client:
        return sum(await asyncio.gather(*(one(client, url) for url in urls)))


def with_asyncio(urls: list[str], at_once: int, *, http2: bool = False) -> int:
    return asyncio.run(_with_asyncio(urls, at_once, http2=http2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("projects", nargs="*", metavar="PROJECT")
    parser.add_argument("--files", type=int, default=447)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    configuration = read_index_configuration(environment=os.environ, directory=Path.cwd())
    urls = wheel_urls(configuration, given.projects or list(PROJECTS), given.files)
    methods: dict[str, Callable[[], int]] = {
        **{f"ours, {count} threads": partial(as_we_do, configuration, urls, count) for count in (8, 16, 32)},
        **{f"httpx, {count} threads": partial(with_threads, urls, count) for count in (4, 8, 16, 32)},
        **{f"asyncio, HTTP/1.1, {count} at once": partial(with_asyncio, urls, count) for count in (16, 100)},
    }
    if importlib.util.find_spec("h2") is not None:
        methods["asyncio, HTTP/2, 100 at once"] = partial(with_asyncio, urls, 100, http2=True)
    taken: dict[str, list[float]] = {name: [] for name in methods}
    processor: dict[str, list[float]] = {name: [] for name in methods}
    sizes: set[int] = set()
    for _ in range(given.rounds):
        for name, method in methods.items():
            begun, before = time.perf_counter(), time.process_time()
            sizes.add(method())
            taken[name].append(time.perf_counter() - begun)
            processor[name].append(time.process_time() - before)
    print(f"{len(urls)} files, {max(sizes)} bytes, {given.rounds} rounds")
    for name in sorted(methods, key=lambda name: statistics.median(taken[name])):
        print(
            f"{name:<32} {statistics.median(taken[name]):7.2f} s, processor {statistics.median(processor[name]):6.2f} s"
        )


if __name__ == "__main__":
    main()
