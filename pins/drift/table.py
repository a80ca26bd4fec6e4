"""All rules of drift, in the order in which they are listed."""

from pins.drift.model import Rule
from pins.drift.rules.asset_replaced import ASSET_REPLACED
from pins.drift.rules.branch_ahead import BRANCH_AHEAD
from pins.drift.rules.capped import CAPPED
from pins.drift.rules.floating_moved import FLOATING_MOVED
from pins.drift.rules.hold_review import HOLD_REVIEW
from pins.drift.rules.image_digest import IMAGE_DIGEST
from pins.drift.rules.patch_context import PATCH_CONTEXT
from pins.drift.rules.refs import REF_MOVED, REF_VANISHED
from pins.drift.rules.skew import SKEW
from pins.drift.rules.yanked import YANKED

RULES: tuple[Rule, ...] = (
    REF_VANISHED,
    REF_MOVED,
    PATCH_CONTEXT,
    ASSET_REPLACED,
    IMAGE_DIGEST,
    BRANCH_AHEAD,
    FLOATING_MOVED,
    SKEW,
    CAPPED,
    YANKED,
    HOLD_REVIEW,
)
