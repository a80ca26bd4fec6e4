"""Which engine the user's docker command talks to: DOCKER_HOST, or a docker context.

The SDK reads contexts too, but not in every version, and only where a configuration file exists. A wrong guess would
build on one engine and run on another.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pins.errors import EnvironmentFailureError
from pins.home import home


@dataclass(frozen=True)
class DockerContext:
    """An engine that the user has named.

    Attributes:
        name: of the context.
        host: its address.
        verify: whether its certificate is verified.
        certificates: the directory that holds ca.pem, cert.pem and key.pem, or those of them that are needed.
    """

    name: str
    host: str
    verify: bool
    certificates: Path


def current_context(variables: Mapping[str, str]) -> DockerContext | None:
    """The context in force, None where DOCKER_HOST or the usual socket is.

    Raises:
        EnvironmentFailureError: it is named and cannot be read.
    """
    if variables.get("DOCKER_HOST"):
        return None
    base = Path(variables.get("DOCKER_CONFIG") or home() / ".docker")
    source = "DOCKER_CONTEXT"
    name = variables.get("DOCKER_CONTEXT", "")
    if not name:
        source = str(base / "config.json")
        name = str(_read(base / "config.json").get("currentContext") or "")
    if name in {"", "default"}:
        return None
    identity = hashlib.sha256(name.encode()).hexdigest()
    found = _read(base / "contexts" / "meta" / identity / "meta.json")
    endpoint = (found.get("Endpoints") or {}).get("docker") or {}
    if not endpoint.get("Host"):
        raise EnvironmentFailureError(
            f"the docker context {name!r} (from {source}) does not exist; `docker context ls` lists those that do"
        )
    return DockerContext(
        name,
        str(endpoint["Host"]),
        not endpoint.get("SkipTLSVerify", False),
        base / "contexts" / "tls" / identity / "docker",
    )


def client_arguments(context: DockerContext | None) -> dict[str, Any]:
    """The arguments of the SDK's client for this context; empty for what the SDK finds by itself."""
    if context is None:
        return {}
    arguments: dict[str, Any] = {"base_url": context.host}
    if context.certificates.is_dir():
        from docker.tls import TLSConfig

        files = {name: context.certificates / f"{name}.pem" for name in ("ca", "cert", "key")}
        pair = (str(files["cert"]), str(files["key"])) if files["cert"].exists() else None
        authority = str(files["ca"]) if files["ca"].exists() else None
        arguments["tls"] = TLSConfig(client_cert=pair, ca_cert=authority, verify=context.verify)
    return arguments


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise EnvironmentFailureError(f"docker's file {path} cannot be read: {error}") from error
    return content if isinstance(content, dict) else {}
