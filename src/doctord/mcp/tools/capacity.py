"""What runs out, and when."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from doctord.app.capacity.forecast import forecast
from doctord.mcp.fitted import fitted
from doctord.mcp.place import recorded
from doctord.mcp.told import Notes
from doctord.mcp.tools.parameters import Host, Lake
from doctord.report.capacity.forecast import document
from doctord.units import parse_duration

ORDER = ("violated", "date", "cannot be told", "not within the horizon")
# Of a threshold's keys what says which, when and how sure.
ITEM = (
    *("threshold", "title", "unit", "entity", "db", "limit", "worse", "newest", "as_of"),
    *("verdict", "date", "earliest", "latest", "why"),
)


class Capacity(TypedDict):
    """Thresholds, those violated now first, then by date; keys: docs/reference/forecast.md."""

    host: str | None
    horizon_s: float
    history_s: float
    verdicts: dict[str, int]
    items: list[dict[str, Any]]
    sizes: list[dict[str, Any]]
    others: list[dict[str, Any]]
    notes: list[str]
    left_out: dict[str, int]


def capacity(
    lakes: Sequence[Path],
    *,
    horizon: Annotated[str, Field(description="How far to look ahead: 90d.")] = "90d",
    lake: Lake = None,
    host: Host = None,
) -> dict[str, Any]:
    """Say which thresholds are violated now, which will be, when, and how sure that is; and where sizes grow to.

    `verdicts` counts them all. What cannot be told says why: mostly that too short a time was recorded.
    """
    notes = Notes()
    told = document(forecast(recorded(lakes, lake, host), None, parse_duration(horizon), (), notes))
    answer = {
        **{key: told[key] for key in ("host", "horizon_s", "history_s")},
        "verdicts": {word: sum(item["verdict"] == word for item in told["items"]) for word in ORDER},
        "items": [{key: item[key] for key in ITEM if key in item} for item in sorted(told["items"], key=_urgency)],
        "sizes": [{key: one[key] for key in one if key not in {"notes", "model"}} for one in told["sizes"]],
        "others": [{"host": one["host"], "items": len(one["items"])} for one in told["others"]],
        "notes": notes.lines,
    }
    return fitted(answer, {"sizes": 3, "others": 5, "notes": 2, "items": 5})


def _urgency(item: Mapping[str, Any]) -> tuple[int, str]:
    return ORDER.index(item["verdict"]), item["date"] or ""
