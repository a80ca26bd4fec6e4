"""What a failure looks like, and whether two failures are the same (DESIGN: Outcomes). Pure."""

from bisector.signature.comparing import Comparison, compare
from bisector.signature.masking import mask
from bisector.signature.reading import read_build_signature, read_signature

__all__ = ["Comparison", "compare", "mask", "read_build_signature", "read_signature"]
