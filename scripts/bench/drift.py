"""How long `pins drift` takes on many pins, beside an index that takes its time.

    scripts/bench/drift.py [--files 100] [--pins 1000] [--packages 1000] [--latency 0.05] [--runs 3]

Requirements files are written that pin packages of an index on localhost, which waits before every answer. The command
is run as a user would, once with nothing kept (cold), then with nothing changed (warm). The targets of the project:
1,000 pins over 100 files at 50 ms in 10 s cold, and in 2 s with nothing changed.
"""

import argparse
import functools
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
RELEASES = 40
FIRST = datetime(2022, 1, 1, tzinfo=UTC)
TYPE = "application/vnd.pypi.simple.v1+json"


@functools.cache  # an index does not make its pages anew for each who asks
def page(name: str) -> tuple[bytes, str]:
    """The page, with its ETag, of a project with many releases, each with a wheel and a source distribution."""
    files = []
    for number in range(RELEASES):
        uploaded = (FIRST + timedelta(days=30 * number)).isoformat().replace("+00:00", "Z")
        for filename in (f"{name}-1.{number}-py3-none-any.whl", f"{name}-1.{number}.tar.gz"):
            digest = sha256(filename.encode()).hexdigest()
            file = {"filename": filename, "url": f"/files/{filename}", "hashes": {"sha256": digest}, "size": 1000}
            files.append({**file, "upload-time": uploaded, "yanked": False, "core-metadata": filename.endswith("whl")})
    body = json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": files, "versions": []}).encode()
    return body, _etag(body)


def _etag(body: bytes) -> str:
    return f'"{sha256(body).hexdigest()[:16]}"'


def serve(latency: float, channel: Connection) -> None:
    """Serve until the process is ended; every answer comes after the latency."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            time.sleep(latency)
            parts = self.path.strip("/").split("/")
            if parts[0] == "simple":
                (body, etag), kind = page(parts[1]), TYPE
            else:
                name, _, version = parts[1].removesuffix("-py3-none-any.whl.metadata").rpartition("-")
                body, kind = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(), "text/plain"
                etag = _etag(body)
            unchanged = self.headers.get("if-none-match") == etag
            self.send_response(304 if unchanged else 200)
            self.send_header("ETag", etag)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", "0" if unchanged else str(len(body)))
            self.end_headers()
            if not unchanged:
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 256

    with Server(("127.0.0.1", 0), Handler) as server:
        channel.send(server.server_address[1])
        server.serve_forever()


def write_files(room: Path, files: int, pins: int, packages: int) -> None:
    """Requirements files, half of whose pins are exact and half capped."""
    rows: list[list[str]] = [[] for _ in range(files)]
    for number in range(pins):
        name = f"package{number % packages:04}"
        rows[number % files].append(f"{name}==1.{RELEASES - 1}\n" if number % 2 else f"{name}<2\n")
    for number, lines in enumerate(rows):
        directory = room / f"image{number:03}"
        directory.mkdir(parents=True)
        (directory / "requirements.txt").write_text("".join(lines))


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--pins", type=int, default=1000)
    parser.add_argument("--packages", type=int, default=1000)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(asked.latency, theirs), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{ours.recv()}/simple/"
    try:
        with tempfile.TemporaryDirectory() as directory:
            measure(Path(directory), url, asked)
    finally:
        server.terminate()


def measure(room: Path, url: str, asked: argparse.Namespace) -> None:
    """Run the command cold and warm, and print the least of the times."""
    write_files(room / "files", asked.files, asked.pins, asked.packages)
    subprocess.run(["git", "init", "-q", str(room / "files")], check=True)
    variables = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "PYTHONPATH": str(TOP),
        "XDG_CACHE_HOME": str(room / "cache"),
        "XDG_STATE_HOME": str(room / "state"),
    }
    command = [sys.executable, "-m", "pins", "drift", "-q", "--index-url", url, "--format", "json", "files"]
    print(f"{asked.pins} pins over {asked.files} files, {asked.packages} packages, {asked.latency:g} s an answer")
    for name in ("cold", "warm"):
        times = []
        for _ in range(asked.runs):
            if name == "cold":
                for kept in ("cache", "state"):
                    shutil.rmtree(room / kept, ignore_errors=True)
            begun = time.perf_counter(), os.times()
            done = subprocess.run(command, cwd=room, env=variables, capture_output=True, text=True, check=False)
            taken = os.times()
            spent = taken.children_user + taken.children_system - begun[1].children_user - begun[1].children_system
            times.append((time.perf_counter() - begun[0], spent))
            if done.returncode not in (0, 1):
                sys.exit(f"exit code {done.returncode}: {done.stderr}")
        report = json.loads(done.stdout)
        assert report["pins"] == asked.pins, report["pins"]
        assert report["complete"], report["unknown"][:3]
        clock, processor = min(times)
        print(f"{name}: {clock:.2f} s, {processor:.2f} s of processor; {report['checks']} checks")


if __name__ == "__main__":
    main()
