"""What a person asks of an axis of prebuilt images."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class TaggedImage:
    """A tag as it was when a run began.

    Attributes:
        tag: the tag.
        digest: of what a registry has under it (`sha256:...`), or the engine's id of an image that no registry has.
        created: when it was made (aware); None where it does not say.
        local: whether the engine alone has it, so that nothing is fetched.
    """

    tag: str
    digest: str
    created: datetime | None = None
    local: bool = False


@dataclass(frozen=True)
class ImagesRequest:
    """Candidates that are images of one repository.

    Attributes:
        repository: as it is pulled, without a tag.
        good: the tag of the good end; "" where it is not known, and is looked for backwards from the bad one.
        bad: that of the bad end.
        only, exclude: patterns of tags (`nightly-*`); without `only`, those that are made as the ends are.
        tags: those from the good end (or the oldest) to the bad end, in order, read when a run starts.
        said: how they were chosen and ordered, in sentences.
    """

    repository: str
    good: str
    bad: str
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tags: tuple[TaggedImage, ...] = ()
    said: tuple[str, ...] = ()

    @property
    def good_is_known(self) -> bool:
        """Whether the user has named a good end."""
        return bool(self.good)

    def named(self, tag: str) -> TaggedImage:
        """The image that a tag was at the start.

        Raises:
            KeyError: it is none of these.
        """
        found = next((image for image in self.tags if image.tag == tag), None)
        if found is None:
            raise KeyError(tag)
        return found
