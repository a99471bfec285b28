"""Two windows held against each other: is it worse, and what is different."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from doctord.app.asked import Interval
from doctord.app.changed import changed
from doctord.app.study.study import Question, of_lake
from doctord.mcp.fitted import fitted
from doctord.mcp.place import period, recorded
from doctord.mcp.told import Notes
from doctord.mcp.tools.parameters import Host, Lake, Period, Since, Until
from doctord.report.changed import document as changed_document
from doctord.report.study.document import document

ROW = ("kind", "name", "of", "unit", "before", "after", "ratio", "low", "high", "outcome")
MOST_EVENTS = 20


class Compared(TypedDict):
    """A verdict on two windows: docs/reference/study.md explains its rows. Names of rows may be strangers' words."""

    verdict: str
    why: str | None
    says: str | None
    unit: str | None
    regressions: list[dict[str, Any]]
    time: list[dict[str, Any]]
    figures: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    not_recorded: list[str]
    notes: list[str]
    left_out: dict[str, int]


class Changes(TypedDict):
    """What is different after from before; names and texts in it were written by strangers."""

    before: dict[str, str | None]
    after: dict[str, str | None]
    changes: list[dict[str, Any]]
    moved: list[dict[str, Any]]
    events: list[dict[str, Any]]
    not_recorded: list[str]
    notes: list[str]
    left_out: dict[str, int]


def compare_windows(
    lakes: Sequence[Path],
    *,
    before: Period,
    after: Period,
    lake: Lake = None,
    host: Host = None,
) -> dict[str, Any]:
    """Say whether a server was better or worse after than before, by how much, and whether that is more than chance.

    Database time is compared by the unit of load. `regressions` got worse beyond chance; `ratio` is after / before with
    its 95 % interval from `low` to `high`.
    """
    notes = Notes()
    for text in (before, after):
        period(text)
    found = document(of_lake(recorded(lakes, lake, host), before, after, Question(), notes))
    told = found["parts"][0]["comparisons"][-1]
    answer = {
        **{key: told[key] for key in ("verdict", "why", "says", "unit")},
        "regressions": _rows(told["regressions"]),
        "time": _rows(told["time"]),
        "figures": [
            row for row in _rows(told["figures"]) if row["outcome"] in {"better", "worse", "changed", "new", "gone"}
        ],
        "changes": told["changes"] or [],
        "not_recorded": told["not_recorded"] or [],
        "notes": notes.lines,
    }
    return fitted(answer, {"figures": 4, "time": 4, "changes": 4, "notes": 2, "regressions": 4})


def what_changed(
    lakes: Sequence[Path],
    *,
    since: Since = None,
    until: Until = None,
    before: Annotated[
        str | None, Field(description="FROM..TO to hold it against; as long a time right before it if not said.")
    ] = None,
    lake: Lake = None,
    host: Host = None,
) -> dict[str, Any]:
    """List what is different from the time before: settings, plans, relations, events, and whose load moved.

    `moved` has average active sessions before and after of programs, users, statements, wait events and blockers, the
    largest change first.
    """
    notes = Notes()
    asked, earlier = Interval.asked(since, until), period(before) if before else None
    found = changed(recorded(lakes, lake, host), asked, earlier, notes)
    answer = changed_document(found, MOST_EVENTS) | {"notes": notes.lines}
    return fitted(answer, {"events": 5, "notes": 2, "changes": 8, "moved": 8})


def _rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{key: _rounded(row[key]) for key in ROW} for row in rows]


def _rounded(value: Any) -> Any:  # noqa: ANN401 - a figure or a word
    return float(f"{value:.4g}") if isinstance(value, float) else value
