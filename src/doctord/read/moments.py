"""Moments as other tools write them."""

import re
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from doctord.read.source import SourceFile

ZONE_ASSUMED = "no time zone in it: UTC is taken (--zone tells another)"

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
