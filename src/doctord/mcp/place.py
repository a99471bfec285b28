"""Which lake and which time a tool was asked for."""

from collections.abc import Sequence
from pathlib import Path

from doctord.app.asked import Interval
from doctord.app.source import Recorded
from doctord.errors import UserError
from doctord.lake.place import default_lake


def names(lakes: Sequence[Path]) -> dict[str, Path]:
    """The lakes by the names that tools call them by: that of the folder, or its whole path where two have one name.

    >>> list(names([Path("/var/a"), Path("/srv/b"), Path("/srv/a")]))
    ['/var/a', 'b', '/srv/a']
    """
    places = list(lakes) or [default_lake()]
    last = [place.name for place in places]
    return {place.name if last.count(place.name) == 1 else str(place): place for place in places}


def lake_named(lakes: Sequence[Path], name: str | None) -> Path:
    """The lake of that name; the only one where none is named.

    Raises:
        UserError: there is none of that name, or several and none is named.
    """
    known = names(lakes)
    if name is None and len(known) == 1:
        return next(iter(known.values()))
    if name not in known:
        raise UserError(f"there is no lake {name!r}" if name else "there are several lakes", f"lakes: {list(known)}")
    return known[name]


def recorded(lakes: Sequence[Path], name: str | None, host: str | None) -> Recorded:
    """What was recorded in that lake, of one host where one is named."""
    return Recorded(lake_named(lakes, name), host)


def period(text: str, hint: str = "2026-11-20T10:00Z..2026-11-20T11:00Z") -> Interval:
    """A time that is written FROM..TO.

    Raises:
        UserError: it is none.
    """
    since, parted, until = (part.strip() for part in text.partition(".."))
    if not (since and parted and until):
        raise UserError(f"{text!r} is no period", f"write FROM..TO: {hint}")
    return Interval.asked(since, until)
