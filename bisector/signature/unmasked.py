"""A failure's own words: in a signature all that varies is masked, which is for comparing and not for reading."""

from dataclasses import replace

from bisector.model import Signature
from bisector.signature.masking import mask, plain

_LONGEST = 500
"""Characters of a message that are shown."""


def unmasked(signature: Signature, output: str) -> Signature:
    """The signature with its message as the output has it; as it is where the output does not hold the message.

    Args:
        signature: read from this output.
        output: what the failing run printed, or the end of it.
    """
    if "<" not in signature.message:
        return signature
    for line in reversed(plain(output).split("\n")):
        text = line.strip()
        if signature.kind:
            text = text.partition(f"{signature.kind}: ")[2].strip() or text
        if text and mask(text) == signature.message:
            return replace(signature, message=text[:_LONGEST])
    return signature
