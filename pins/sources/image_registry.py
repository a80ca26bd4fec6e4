"""Image registries: which digest a tag has now.

Asked as the OCI distribution specification says: HEAD of the manifest, and, where that answers 401, once more with what
`WWW-Authenticate` asks for: basic authentication, or a token. Credentials are those of the user's Docker configuration
(`config.json`, its helpers and stores), read by Docker's own library.
"""

import hashlib
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from pins.errors import SourceError
from pins.sources.http_reader import Answer, HttpReader, Question

MANIFESTS = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
_REFERENCE = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._:/-]*?)(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(?P<digest>[a-z0-9]+:[0-9a-f]{32,}))?"
)
_REPOSITORY = re.compile(r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*")
_PARAMETER = re.compile(r'([A-Za-z_]+)="([^"]*)"|([A-Za-z_]+)=([^\s",]+)')
_REFUSED = (401, 403)
_LARGEST = 16 * 2**20
_ADVICE = "Try again later; `docker login` gives credentials."
_LOOPBACK = re.compile(r"(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?")


@dataclass(frozen=True)
class ImageReference:
    """An image of a registry.

    Attributes:
        host: of the registry, with its port; "" for Docker's default one.
        repository: its path there, such as "rocm/dev-ubuntu-22.04".
        tag: "" where only a digest is given.
        digest: "" where none is.
    """

    host: str
    repository: str
    tag: str = ""
    digest: str = ""

    def __str__(self) -> str:
        place = f"{self.host}/{self.repository}" if self.host else self.repository
        return place + (f":{self.tag}" if self.tag else "") + (f"@{self.digest}" if self.digest else "")


@dataclass(frozen=True)
class RegistryCredentials:
    """What opens a registry.

    Attributes:
        user, password: for basic authentication, and to get a token with.
        identity_token: in their place, to get a token with; "" for none.
    """

    user: str = ""
    password: str = ""
    identity_token: str = ""


FindCredentials = Callable[[str], RegistryCredentials | None]


def parse_image(text: str) -> ImageReference | None:
    """The image that a reference names; None for `scratch`, a stage, or what is no reference.

    Source: the grammar in the distribution project's package `reference`, and its rule that the first part is a host
    where it holds a dot or a colon or is `localhost`.
    """
    match = _REFERENCE.fullmatch(text)
    if match is None or text == "scratch":
        return None
    first, slash, rest = match["name"].partition("/")
    host = first if slash and ("." in first or ":" in first or first == "localhost") else ""
    repository = rest if host else match["name"]
    if host == "index." + default_host() or host == default_host():
        host = ""
    if not host and "/" not in repository:
        repository = f"library/{repository}"
    if _REPOSITORY.fullmatch(repository) is None:
        return None
    digest = match["digest"] or ""
    return ImageReference(host, repository, match["tag"] or ("" if digest else "latest"), digest)


def default_host() -> str:
    """The registry of references without a host, as Docker's library knows it."""
    from docker.auth import INDEX_NAME

    return str(INDEX_NAME)


def docker_credentials(host: str) -> RegistryCredentials | None:
    """What the user's Docker configuration has for a registry; None for nothing, or where it cannot be read."""
    from docker.auth import load_config
    from docker.errors import DockerException

    try:
        found = load_config().resolve_authconfig(host or default_host())
    except (DockerException, ValueError, KeyError, OSError):
        return None
    if not found:
        return None
    named = {str(key).lower(): str(value) for key, value in found.items() if value}
    return RegistryCredentials(named.get("username", ""), named.get("password", ""), named.get("identitytoken", ""))


class ImageRegistry:
    """Asks registries for digests; safe for several threads, and asks for a token once per repository.

    Args:
        http: asks the questions.
        credentials: finds those of a host ("" for the default registry).
    """

    def __init__(self, http: HttpReader, credentials: FindCredentials = docker_credentials) -> None:
        self._http = http
        self._credentials = credentials
        self._headers: dict[tuple[str, str], str] = {}
        self._lock = threading.Lock()

    def digest(self, image: ImageReference) -> str:
        """The digest that a tag (or a digest) leads to now; "" where the registry has no such thing.

        Of an image for several platforms it is that of the index, as `docker pull` prints it.

        Raises:
            SourceError: the registry could not be asked, or wants credentials that nobody gave.
        """
        url = f"{_origin(image.host)}/v2/{image.repository}/manifests/{image.digest or image.tag}"
        answer = self._asked(image, url, "HEAD")
        if answer.status == 404:
            return ""
        found = answer.headers.get("docker-content-digest", "")
        if found:
            return found
        answer = self._asked(image, url, "GET")
        return "" if answer.status == 404 else f"sha256:{hashlib.sha256(answer.body).hexdigest()}"

    def read(self, image: ImageReference, path: str) -> Answer:
        """What a path below a repository holds (`manifests/TAG`, `blobs/DIGEST`, `tags/list`); 404 for nothing.

        Raises:
            SourceError: as for `digest`.
        """
        return self._asked(image, f"{_origin(image.host)}/v2/{image.repository}/{path}", "GET")

    def _asked(self, image: ImageReference, url: str, method: str) -> Answer:
        key = (image.host, image.repository)
        with self._lock:
            known = self._headers.get(key, "")
        answer = self._once(image, url, method, known)
        if answer.status not in _REFUSED:
            return answer
        header = self._authorization(image, answer.headers.get("www-authenticate", ""))
        answer = self._once(image, url, method, header) if header else answer
        if answer.status in _REFUSED:
            given = "those that were given are refused" if self._credentials(image.host) else "none were given"
            command = f"docker login {image.host}".rstrip()
            raise SourceError(
                f"{image} could not be looked up: its registry wants credentials, and {given}. It is private, or not"
                f" there; `{command}` gives credentials"
            )
        with self._lock:
            self._headers[key] = header
        return answer

    def _once(self, image: ImageReference, url: str, method: str, authorization: str) -> Answer:
        headers = {"Accept": MANIFESTS} | ({"Authorization": authorization} if authorization else {})
        question = Question(
            url, headers, method=method, answers=_REFUSED, absences=(404,), largest=_LARGEST, what="an image registry"
        )
        return self._http.retried(url, lambda: self._http.once(question), advice=f"That is where {image} is. {_ADVICE}")

    def _authorization(self, image: ImageReference, challenge: str) -> str:
        """The header that answers a challenge; "" where there is nothing to answer it with."""
        found = self._credentials(image.host)
        scheme = challenge.partition(" ")[0].lower()
        if scheme == "basic":
            if found is None or not found.user:
                return ""
            import httpx

            request = next(httpx.BasicAuth(found.user, found.password).auth_flow(httpx.Request("GET", "http://x/")))
            return str(request.headers["Authorization"])
        if scheme != "bearer":
            return ""
        said = {m[1] or m[3]: m[2] if m[1] else m[4] for m in _PARAMETER.finditer(challenge)}
        token = self._token(image, said, found)
        return f"Bearer {token}" if token else ""

    def _token(self, image: ImageReference, said: dict[str, str], found: RegistryCredentials | None) -> str:
        """A token for pulling, from where the registry says; "" where that gives none."""
        realm = urlsplit(said.get("realm", ""))
        registry = urlsplit(_origin(image.host))
        if realm.scheme not in ("https", registry.scheme) or not realm.netloc:
            return ""  # credentials go to no less safe a place than the registry itself
        wanted = {"service": said.get("service", ""), "scope": f"repository:{image.repository}:pull"}
        url = f"{realm.scheme}://{realm.netloc}{realm.path}"
        if found is not None and found.identity_token:
            body = self._exchanged(url, wanted, found.identity_token)
        else:
            query = "&".join(filter(None, (realm.query, urlencode({k: v for k, v in wanted.items() if v}))))
            question = Question(
                f"{url}?{query}",
                authentication=(found.user, found.password) if found and found.user else None,
                answers=_REFUSED,
                absences=(404,),
                what="a place that gives tokens for images",
            )
            answer = self._http.retried(url, lambda: self._http.once(question), advice=_ADVICE)
            body = answer.body if answer.status == 200 else b""
        return _token_in(body)

    def _exchanged(self, url: str, wanted: dict[str, str], identity_token: str) -> bytes:
        import httpx

        form = {"grant_type": "refresh_token", "refresh_token": identity_token, "client_id": "pins", **wanted}
        try:
            answer = self._http.client().post(url, data=form)
        except httpx.HTTPError as error:
            raise SourceError(f"{self._http.public(url)} gave no token: {type(error).__name__}. {_ADVICE}") from error
        return answer.content if answer.status_code == 200 else b""


def _token_in(body: bytes) -> str:
    try:
        document = json.loads(body)
    except ValueError:
        return ""
    found = (document.get("token") or document.get("access_token")) if isinstance(document, dict) else ""
    return found if isinstance(found, str) and found.isprintable() else ""


def _origin(host: str) -> str:
    """Where a registry is asked; on this machine without encryption, as Docker does."""
    if not host:
        return f"https://registry-1.{default_host()}"
    return f"http://{host}" if _LOOPBACK.fullmatch(host) else f"https://{host}"
