"""The stamps of OSWatcher: what `date` printed, in the locale of the host."""

from datetime import UTC, datetime
from typing import Final

from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import SourceFile
from doctord.read.tools.times import zone_of
from doctord.regex import regex

STAMP: Final = regex(r"zzz (?:\*\*\*(.+)|<([^>]+)>)")
TIME: Final = regex(r"(\d{1,2}):(\d\d):(\d\d)(?:\.\d+)?")
ISO_DAY: Final = regex(r"(\d{4})-(\d\d)-(\d\d)")
AMERICAN_DAY: Final = regex(r"(\d\d)/(\d\d)/(\d{4})")
YEAR: Final = regex(r"\b(\d{4})\b")
MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTH: Final = rf"({'|'.join(MONTHS)})[a-z]*"
DAY_AND_MONTH: Final = regex(rf"\b(?:{MONTH} +(\d{{1,2}})|(\d{{1,2}}) +{MONTH})\b")
HALF: Final = regex(r"\b([AP])M\b")
ZONE: Final = regex(r"\b(?!AM\b|PM\b)[A-Z]{3,5}\b|[+-]\d\d:?\d\d\b|Z$")


def is_stamp(line: str) -> bool:
    """Whether a line is a stamp."""
    return STAMP.match(line) is not None


def stamped(line: str, source: SourceFile) -> datetime | None:
    """The moment of a stamp in the zone of the user, else its own, else UTC, which is said; null when it tells none."""
    found = STAMP.match(line)
    text = (found[1] or found[2]) if found else ""
    time = TIME.search(text)
    if time is None or (day := _day(text[: time.start()] + " " + text[time.end() :])) is None:
        return None
    half, named = HALF.search(text), ZONE.search(text, time.end())
    hour = int(time[1]) % 12 + (12 if half[1] == "P" else 0) if half else int(time[1])
    zone = source.zone or (zone_of(named[0]) if named else None)
    if zone is None:
        source.note(ZONE_ASSUMED)
    try:
        return datetime(*day, hour, int(time[2]), int(time[3]), tzinfo=zone or UTC)
    except ValueError:
        return None


def _day(text: str) -> tuple[int, int, int] | None:
    """Year, month and day in a text from which the time was taken."""
    if found := ISO_DAY.search(text):
        return int(found[1]), int(found[2]), int(found[3])
    if found := AMERICAN_DAY.search(text):
        return int(found[3]), int(found[1]), int(found[2])
    year, found = YEAR.search(text), DAY_AND_MONTH.search(text)
    if year and found:
        return int(year[1]), MONTHS.index(found[1] or found[4]) + 1, int(found[2] or found[3])
    return None
