"""Which digest an image reference leads to now."""

from dataclasses import dataclass

from pins.drift.model import Tools
from pins.errors import SourceError
from pins.sources.image_registry import ImageReference, ImageRegistry, default_host

ONLY_HERE = "if it exists only on this machine, leave the rule out, for all images, with `--ignore image-digest`"


@dataclass(frozen=True)
class ImageDigest:
    """Asks a registry for the digest of a tag, or whether it still has a digest.

    Attributes:
        image: with a tag or a digest.
    """

    image: ImageReference

    @property
    def host(self) -> str:
        """The registry's host."""
        return (self.image.host or default_host()).partition(":")[0].lower()

    def read(self, tools: Tools) -> str:
        """The digest; "" where the registry has no such thing.

        Raises:
            SourceError: it cannot be asked, or not as of a time that has passed.
        """
        if tools.offline:
            raise SourceError(f"{self.image} is not looked up: --offline forbids it")
        if tools.as_of is not None:
            raise SourceError(
                f"what {self.image} was on {tools.as_of:%Y-%m-%d} cannot be asked: a registry knows only what it is now"
            )
        try:
            return ImageRegistry(tools.http).digest(self.image)
        except SourceError as error:
            raise SourceError(f"{error.message.rstrip('.')}; {ONLY_HERE}") from error
