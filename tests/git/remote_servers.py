"""Real servers of repositories on localhost: git's own backend behind TLS with a password, and an sshd with a key."""

import base64
import os
import pwd
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BACKENDS = (Path("/usr/lib/git-core/git-http-backend"), Path("/usr/libexec/git-core/git-http-backend"))
SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin") or ""
PASSWORD = "pa55-s3cret-w0rd"
USER = "kim"


def lacking_for_https() -> str:
    """Why no https server can be had here, "" where it can."""
    if not any(path.is_file() for path in BACKENDS):
        return "git-http-backend is not installed"
    return "" if shutil.which("openssl") else "openssl, which makes a certificate, is not installed"


def lacking_for_ssh() -> str:
    """Why no sshd can be had here, "" where it can."""
    if not SSHD:
        return "sshd is not installed (openssh-server)"
    return "" if shutil.which("ssh-keygen") and shutil.which("ssh") else "ssh is not installed (openssh-client)"


@dataclass
class HttpsServer:
    """Serves the repositories below a directory to whoever knows the password.

    Attributes:
        url: of the directory.
        authority: file of the certificate that signed the server's.
        asked: (path, user that was believed) of each request.
    """

    url: str
    authority: Path
    asked: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def https_server(root: Path, room: Path) -> Iterator[HttpsServer]:
    """Serve the repositories below `root`; what the server needs is made in `room`."""
    room.mkdir(parents=True, exist_ok=True)
    authority = _certificate(room)
    served = HttpsServer("", authority)

    class Handler(_Backend):
        directory = root
        asked = served.asked

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(room / "server.pem", room / "server.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    served.url = f"https://localhost:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _certificate(room: Path) -> Path:
    """An authority of our own, and a certificate for localhost that it has signed."""
    (room / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    key = ("-newkey", "rsa:2048", "-nodes", "-days", "2")
    _openssl(room, "req", "-x509", *key, "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
    _openssl(room, "req", *key[:3], "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr")
    sign = ("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial")
    _openssl(room, *sign, "-days", "2", "-extfile", "names", "-out", "server.pem")
    return room / "ca.pem"


def _openssl(room: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=room, check=True, capture_output=True)


class _Backend(BaseHTTPRequestHandler):
    """Hands requests to git's own program for it, as CGI (RFC 3875) has it."""

    protocol_version = "HTTP/1.1"
    directory = Path()
    asked: list[tuple[str, str]] = []  # noqa: RUF012 - each server has its own

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        body = self._body()
        given = self.headers.get("Authorization", "")
        believed = given == "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        self.asked.append((self.path, USER if believed else ""))
        if not believed:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="repositories"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        backend = next(str(each) for each in BACKENDS if each.is_file())
        variables = {
            "PATH": os.environ.get("PATH", os.defpath),
            "GIT_PROJECT_ROOT": str(self.directory),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": USER,
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run([backend], input=body, stdout=subprocess.PIPE, check=False, env=variables)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(fields.pop("Status", "200 OK").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)


@dataclass(frozen=True)
class SshServer:
    """An sshd that lets the user of this process in.

    Attributes:
        prefix: of URLs: ssh://USER@127.0.0.1:PORT.
        key: file of the private key that is let in.
        command: what git is to use for ssh: with that key, and the server's own key known.
    """

    prefix: str
    key: Path
    command: str


@contextmanager
def ssh_server(room: Path) -> Iterator[SshServer]:
    """An sshd on a port of its own, which ends with the context."""
    room.mkdir(parents=True, exist_ok=True)
    room.chmod(0o700)
    for name in ("host", "user"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(room / name)]
        subprocess.run(command, check=True, capture_output=True)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    port = _free_port()
    configuration = room / "sshd_config"
    configuration.write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {room / 'host'}\nPidFile {room / 'pid'}\n"
        f"AuthorizedKeysFile {room / 'user.pub'}\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
        "PermitRootLogin prohibit-password\nKbdInteractiveAuthentication no\n"
    )
    log = room / "sshd.log"
    with log.open("wb") as written:
        server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(configuration)], stdout=written, stderr=written)
    try:
        _wait_for(port, server, log)
        host = (room / "host.pub").read_text().split()
        (room / "known_hosts").write_text(f"[127.0.0.1]:{port} {host[0]} {host[1]}\n")
        options = ("-o", "IdentitiesOnly=yes", "-o", f"UserKnownHostsFile={room / 'known_hosts'}", "-F", os.devnull)
        command_line = " ".join(["ssh", "-i", str(room / "user"), "-o", "BatchMode=yes", *options])
        user = pwd.getpwuid(os.geteuid()).pw_name
        yield SshServer(f"ssh://{user}@127.0.0.1:{port}", room / "user", command_line)
    finally:
        server.terminate()
        server.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, server: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(200):
        if server.poll() is not None:
            break
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"sshd did not come up: {log.read_text(errors='replace')}")
