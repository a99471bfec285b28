"""How long waits took: not their mean alone, which hides two modes."""

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from doctord.app.asked import Interval
from doctord.app.maps.recorded import Wanted, by_waits, recorded
from doctord.mcp.told import Notes
from doctord.read.source import ReadOptions
from doctord.report.map.document import document
from doctord.report.map.subjects import records
from doctord.serve.lakes import Asked
from doctord.serve.parameters import OfTime, Text

MOST_SUBJECTS = 200


class MapParameters(OfTime):
    """What was timed, where, and how finely."""

    subject: Text | None = Field(
        None, description="What was timed: a wait event, `vda write`; that of most waits if not said."
    )
    db: Text | None = Field(None, description="The database server, where several time that subject.")
    columns: int = Field(200, ge=1, le=1200, description="Columns at most, all of one length.")


class Map(TypedDict):
    """The document of `doctord map --json` (docs/reference/map.md), and what else was timed."""

    since: str
    until: str
    subject: str
    db: str | None
    host: str | None
    kind: str
    columns: list[dict[str, Any]]
    whole: dict[str, Any] | None
    reading: dict[str, Any]
    subjects: list[dict[str, Any]]
    notes: list[str]


def latency_map(asked: Asked, given: MapParameters) -> dict[str, Any]:
    """How long waits, calls or disk operations took over time: counts in buckets, quantiles, modes.

    `subjects` lists what was timed, that of most waits first. `kind` says how it is known: histogram (all of them),
    sampled (short ones are missed) or mean.
    """
    notes = Notes()
    dataset = recorded([asked.lake], Interval(asked.since, asked.until), ReadOptions(), notes)
    drawn = Wanted(given.subject, given.db, host=asked.host).map_of(dataset, given.columns)
    return (
        asked.span() | document(drawn) | {"subjects": records(by_waits(dataset)[:MOST_SUBJECTS]), "notes": notes.lines}
    )
