"""What changed, as one JSON document."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from doctord.app.changed import Changed
from doctord.report.wording import iso


def document(found: Changed, most_events: int) -> dict[str, Any]:
    """What is different, whose load moved, and so many of the events; `left_out` counts the others."""
    more = len(found.events) - most_events
    return {
        "before": _span(found.before),
        "after": _span(found.after),
        "changes": [asdict(one) for one in found.changes.found],
        "moved": [asdict(one) for one in found.moved],
        "events": [{"ts": iso(ts), "kind": kind, "text": text} for ts, kind, text in found.events[:most_events]],
        "not_recorded": list(found.changes.not_recorded),
        "left_out": {"events": more} if more > 0 else {},
    }


def _span(span: tuple[datetime, datetime]) -> dict[str, str | None]:
    return {"since": iso(span[0]), "until": iso(span[1])}
