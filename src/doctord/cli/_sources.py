"""Where measurements come from, as the options of a command say it."""

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

from doctord.app.source import Files, Recorded
from doctord.cli.arguments import Refusal, parse_duration, parse_moment
from doctord.lake.place import is_lake
from doctord.read.formats import zone_named
from doctord.read.source import Told


def told(zone: str | None, day: str | None, every: str | None, unit: str | None) -> Told:
    """What the user says of files that do not say it themselves."""
    try:
        known = date.fromisoformat(day) if day else None
    except ValueError as error:
        raise Refusal(f"{day!r} is no date", "write it as 2026-11-20") from error
    unit_us = parse_duration(unit) * 1e6 if unit else None
    return Told(zone_named(zone), unit_us, known, parse_duration(every) if every else None)


def source_of(paths: Sequence[Path] | None, lake: Path | None, told: Told | None = None) -> Files | Recorded:
    """Files, or else a lake, which may stand in the place of a file.

    Raises:
        Refusal: both are named.
    """
    lakes = [path for path in paths or () if is_lake(path)]
    if paths and (lake or (lakes and len(paths) > 1)):
        raise Refusal("either files or a lake", "doctord read PATH... --lake LAKE puts files into a lake")
    if lakes:
        return Recorded(lakes[0])
    return Files(paths, told or Told()) if paths else Recorded(lake)


def span(since: str | None, until: str | None) -> tuple[datetime | None, datetime | None]:
    """The moments between which to look; null where they are not said.

    Raises:
        Refusal: one of them is none, or the first is not before the second.
    """
    start, end = (parse_moment(text) if text else None for text in (since, until))
    if start and end and start >= end:
        raise Refusal(f"{since} is not before {until}", "give --from a moment before --to")
    return start, end
