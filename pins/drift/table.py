"""All rules of drift, in the order in which they are listed."""

from pins.drift.model import Rule
from pins.drift.rules.asset_replaced import ASSET_REPLACED
from pins.drift.rules.branch_ahead import BRANCH_AHEAD
from pins.drift.rules.capped import CAPPED
from pins.drift.rules.comment_lags import COMMENT_LAGS
from pins.drift.rules.floating_moved import FLOATING_MOVED
from pins.drift.rules.hold_reason_gone import HOLD_REASON_GONE
from pins.drift.rules.hold_review import HOLD_REVIEW
from pins.drift.rules.image_digest import IMAGE_DIGEST
from pins.drift.rules.patch_context import PATCH_CONTEXT
from pins.drift.rules.refs import REF_MOVED, REF_VANISHED
from pins.drift.rules.resolving import NEWER_INSIDE, UNRESOLVABLE_PINS
from pins.drift.rules.skew import SKEW
from pins.drift.rules.values_disagree import VALUES_DISAGREE
from pins.drift.rules.yanked import YANKED

RULES: tuple[Rule, ...] = (
    PATCH_CONTEXT,
    REF_VANISHED,
    REF_MOVED,
    ASSET_REPLACED,
    UNRESOLVABLE_PINS,
    SKEW,
    FLOATING_MOVED,
    YANKED,
    IMAGE_DIGEST,
    HOLD_REASON_GONE,
    HOLD_REVIEW,
    COMMENT_LAGS,
    BRANCH_AHEAD,
    NEWER_INSIDE,
    CAPPED,
    VALUES_DISAGREE,
)
