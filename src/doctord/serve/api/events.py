"""What happened, and what is different from before."""

from typing import Any

from pydantic import Field
from typing_extensions import TypedDict

from doctord.app.changed import changed
from doctord.app.over_time.events import events_of
from doctord.mcp.place import period
from doctord.mcp.told import Notes
from doctord.report.changed import document
from doctord.report.wording import iso
from doctord.serve.lakes import Asked
from doctord.serve.parameters import OfTime

MOST_EVENTS = 500


class EventsParameters(OfTime):
    """A time, and a page of its events."""

    limit: int = Field(200, ge=1, le=1000, description="How many at most.")
    offset: int = Field(0, ge=0, le=10_000_000, description="How many of the first are passed over.")


class ChangesParameters(OfTime):
    """The time after, and the time before."""

    before: str | None = Field(
        None, max_length=200, description="FROM..TO to hold it against; as long a time right before it if not said."
    )


class Event(TypedDict):
    """Something that happened."""

    ts: str
    host: str | None
    db: str | None
    kind: str | None
    subject: str | None
    text: str | None
    hint: str | None


class Events(TypedDict):
    """Events in order of time; `total` counts all of the time's."""

    since: str
    until: str
    events: list[Event]
    total: int


def events(asked: Asked, given: EventsParameters) -> dict[str, Any]:
    """What happened: restarts, crashes, checkpoints, settings that changed, gaps in what was recorded."""
    rows = events_of(asked.recorded, asked.since, asked.until)
    page = rows[given.offset : given.offset + given.limit]
    told = [{name: iso(value) if name == "ts" else value for name, value in row.items()} for row in page]
    return asked.span() | {"events": told, "total": len(rows)}


def changes(asked: Asked, given: ChangesParameters) -> dict[str, Any]:
    """What is different from the time before: settings, plans, relations, events, and whose load moved.

    `from` and `to` are the time after. `moved` has average active sessions before and after, the largest change first.
    """
    notes = Notes()
    before = period(given.before) if given.before else None
    found = changed(asked.recorded, asked.interval(), before, notes)
    return document(found, MOST_EVENTS) | {"notes": notes.lines}
