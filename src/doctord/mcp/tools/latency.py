"""How long waits took: not their mean alone, which hides two modes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from doctord.app.asked import Interval
from doctord.app.maps.recorded import Wanted, by_waits
from doctord.app.maps.recorded import recorded as rows_recorded
from doctord.mcp.fitted import fitted
from doctord.mcp.place import lake_named
from doctord.mcp.told import Notes
from doctord.mcp.tools.parameters import Host, Lake, Since, Until
from doctord.read.source import ReadOptions
from doctord.report.map.document import document
from doctord.report.map.terminal import BESIDE_COLUMNS, BESIDE_ROWS, frame
from doctord.report.map.view import View

WIDTH, ROWS, MOST_SUBJECTS = 72, 8, 30


class Latencies(TypedDict):
    """A latency map; docs/reference/map.md explains `whole` and `reading`. `picture` is to be shown in fixed width."""

    subject: str
    db: str | None
    host: str | None
    kind: str
    columns: list[dict[str, Any]]
    whole: dict[str, Any] | None
    reading: dict[str, Any]
    picture: list[str]
    subjects: list[dict[str, Any]]
    notes: list[str]
    left_out: dict[str, int]


def latency_map(
    lakes: Sequence[Path],
    *,
    subject: Annotated[
        str | None, Field(description="What was timed: a wait event, `vda write`; that of most waits if not said.")
    ] = None,
    since: Since = None,
    until: Until = None,
    server: Annotated[str | None, Field(description="The database server, where several time that subject.")] = None,
    lake: Lake = None,
    host: Host = None,
) -> dict[str, Any]:
    """Draw how long waits, calls or disk operations took over time: quantiles, modes, outliers, and a heat map as text.

    `subjects` lists what else was timed. `kind` says how it is known: histogram (all of them), sampled (short ones are
    missed) or mean.
    """
    notes = Notes()
    asked = Interval.asked(since, until)
    dataset = rows_recorded([lake_named(lakes, lake)], asked, ReadOptions(), notes)
    drawn = Wanted(subject, server, host=host).map_of(dataset, WIDTH - BESIDE_COLUMNS)
    told = document(drawn)
    names = ("end", "count", "mean_us")
    known = by_waits(dataset)
    answer = {
        **{key: told[key] for key in ("subject", "db", "host", "kind")},
        "columns": [{name: column[name] for name in names} for column in told["columns"]],
        **{key: told[key] for key in ("whole", "reading")},
        "picture": frame(drawn, View(rows=ROWS), (WIDTH, 2 * ROWS + BESIDE_ROWS), "none").lines,
        "subjects": [{"subject": one.name, "server": one.db, "kind": one.kind} for one in known[:MOST_SUBJECTS]],
        "notes": notes.lines,
        "left_out": {"subjects": len(known) - MOST_SUBJECTS} if len(known) > MOST_SUBJECTS else {},
    }
    return fitted(answer, {"columns": 10, "subjects": 5, "notes": 1})
