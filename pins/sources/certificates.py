"""Which certificate authorities are trusted: one answer for all who connect."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pins.errors import SourceError
from pins.sources.index_configuration import IndexConfiguration

if TYPE_CHECKING:
    import ssl


def trusting(configuration: IndexConfiguration) -> "ssl.SSLContext":
    """A context that trusts whom the configuration names, else SSL_CERT_FILE or SSL_CERT_DIR, else the built-in ones.

    Raises:
        SourceError: what is named cannot be read.
    """
    import ssl

    named = configuration.certificates or os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")
    if not named:
        import certifi

        return ssl.create_default_context(cafile=certifi.where())
    path = Path(named)
    try:
        if path.is_dir():
            return ssl.create_default_context(capath=path)
        return ssl.create_default_context(cafile=path)
    except OSError as error:
        raise SourceError(f"{path} holds no certificates that can be read: {error}") from error
