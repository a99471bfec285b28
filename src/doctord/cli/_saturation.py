"""What `doctord forecast --saturation` and `--scaling` print."""

from collections.abc import Sequence

from doctord.analyse.capacity.saturation import Database, Saturation
from doctord.analyse.capacity.whatif import Change
from doctord.printable import json_text
from doctord.report import capacity_saturation


def page(
    held: Sequence[Saturation], scaled: Sequence[Database], horizon_s: float, changes: Sequence[Change], *, json: bool
) -> str:
    """The document, as JSON or to be read."""
    document = capacity_saturation.document_of(held, scaled, horizon_s, [change.text for change in changes])
    return json_text(document) if json else capacity_saturation.render(document)


def status(held: Sequence[Saturation], scaled: Sequence[Database]) -> int:
    """1 when something reaches its knee within the horizon, or is beyond it; 2 when nothing can be told; else 0."""
    verdicts = {one.when.verdict for one in held}
    if verdicts & {"violated", "date"}:
        return 1
    can_tell = any(one.knee for one in held) or any(not one.scaling.why for one in scaled)
    return 0 if can_tell else 2
