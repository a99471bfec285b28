"""Moments as other tools write them."""

import re
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from doctord.read.figures import number
from doctord.read.source import SourceFile

UTC_TAKEN = "UTC is taken (--zone tells another)"
ZONE_ASSUMED = f"no time zone in it: {UTC_TAKEN}"

# Seconds since 1970 stay below the first for ages, milliseconds below the second.
SECONDS_TO = 1e11
MILLISECONDS_TO = 1e14

# Layouts in which a moment may stand, with its zone or without.
LAYOUTS = (
    "%d-%b-%y %I.%M.%S.%f %p %z",  # Oracle: systimestamp
    "%d-%b-%y %H.%M.%S.%f %z",
    "%Y %b %d %H:%M:%S",  # DTrace: walltimestamp, %Y
    "%a %b %d %H:%M:%S %Y",  # ctime
    "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S.%f%z",
    "%Y-%m-%dT%H:%M:%S%z",
)


def moment_of(text: str, zone: tzinfo | None) -> datetime | None:
    """The moment that a text names; null when it names none, or no zone and none is given.

    >>> moment_of("26-AUG-13 04.26.51.653754 PM +02:00", None).isoformat()
    '2013-08-26T14:26:51.653754+00:00'
    >>> moment_of("2013 Aug 27 10:54:53", ZoneInfo("Europe/Paris")).isoformat()
    '2013-08-27T08:54:53+00:00'
    """
    plain = re.sub(r"\s+", " ", text.strip())
    for layout in LAYOUTS:
        try:
            found = datetime.strptime(plain, layout)  # noqa: DTZ007 - its zone is looked at below
        except ValueError:
            continue
        known: tzinfo | None = found.tzinfo or zone
        return found.replace(tzinfo=known).astimezone(UTC) if known else None
    return None


def placed_moment(text: str, source: SourceFile) -> datetime | None:
    """The moment that a text of this source names, in UTC where neither says the zone: then that is said."""
    moment = moment_of(text, source.zone)
    if moment is None and (moment := moment_of(text, ZoneInfo("UTC"))):
        source.note(ZONE_ASSUMED)
    return moment


def moment_of_cell(cell: str, source: SourceFile) -> datetime:
    """The moment in a cell: ISO 8601, or since 1970. Where it has no zone, that of the user, else UTC, which is said.

    Raises:
        ValueError: it is none.
    """
    since_1970 = number(cell)
    try:
        if since_1970 is not None:
            scale = 1.0 if since_1970 < SECONDS_TO else 1e3 if since_1970 < MILLISECONDS_TO else 1e6
            return datetime.fromtimestamp(since_1970 / scale, UTC)
        moment = datetime.fromisoformat(cell)
        if moment.tzinfo is None:
            if source.zone is None:
                source.note(ZONE_ASSUMED)
            moment = moment.replace(tzinfo=source.zone or UTC)
        return moment.astimezone(UTC)
    except (OverflowError, OSError) as error:
        raise ValueError(f"{cell!r} is no moment") from error
