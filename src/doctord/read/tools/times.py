"""Moments as interactive tools print them: beside each report, in the layout of the host's locale."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from doctord.read.clock import Clock
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.source import SourceFile
from doctord.read.tools.banner import day_of
from doctord.regex import regex

TIME = r"(?P<hour>\d{1,2})[:.](?P<minute>\d\d)[:.](?P<second>\d\d)(?:\s(?P<half>[AP]M)\b)?"
TIME_OF_DAY = regex(TIME)
DATE_AND_TIME = regex(
    rf"(?P<date>\d[\d./-]+\d)[ T]{TIME}(?P<zone>Z|[+-]\d\d:?\d\d)?$"  # iostat -t, vmstat -t
)
SECONDS = regex(r"\d{9,11}(?:\.\d+)?$")  # -T u
IN_WORDS = regex(
    r"[A-Z]\w\w\w*,? (?P<month>[A-Z]\w+)\s+(?P<day>\d{1,2}),?(?: (?P<early_year>\d{4}))?(?: at)?"
    rf" {TIME}(?: (?P<zone>[A-Z]{{2,5}}|[+-]\d\d:?\d\d))?(?: (?P<year>\d{{4}}))?$"  # -T d, date
)
LONGEST = 64  # characters; a longer line is none
# Hours from UTC of the abbreviations that mean one zone only, or one before all others.
ZONES_H = {
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "BST": 1, "WEST": 1, "CET": 1, "MET": 1, "CEST": 2, "MEST": 2, "EET": 2,
    "EEST": 3, "MSK": 3, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
    "AKST": -9, "AKDT": -8, "HST": -10, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}  # fmt: skip


def zone_of(text: str | None) -> tzinfo | None:
    """A zone by its abbreviation or its offset; null where it has several meanings.

    >>> zone_of("PDT").utcoffset(None), zone_of("+0530").utcoffset(None), zone_of("IST")
    (datetime.timedelta(days=-1, seconds=61200), datetime.timedelta(seconds=19800), None)
    """
    if text in ZONES_H:
        return timezone(timedelta(hours=ZONES_H[text]))
    offset = re.fullmatch(r"([+-])(\d\d):?([0-5]\d)", text or "")
    if offset is None or int(offset[2]) >= 24:
        return None
    away = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
    return timezone(-away if offset[1] == "-" else away)


def moment_in(line: str, source: SourceFile, zone: str = "") -> datetime | None:
    """The moment that a line consists of; null where it is none. `zone` stands elsewhere in the text.

    A zone that the line does not tell is that of the user, else UTC, which is said.
    """
    text = line.strip()
    if len(text) > LONGEST:
        return None
    if found := DATE_AND_TIME.match(text):
        day = day_of(found["date"])
        return None if day is None else _zoned(datetime(day.year, day.month, day.day), found, source, zone)  # noqa: DTZ001
    if found := IN_WORDS.match(text):
        try:
            year = found["year"] or found["early_year"]
            day_text = f"{found['day']} {found['month'][:3]} {year}"
            return _zoned(datetime.strptime(day_text, "%d %b %Y"), found, source, zone)  # noqa: DTZ007 - zoned next
        except ValueError:
            return None
    return datetime.fromtimestamp(float(text), UTC) if SECONDS.match(text) else None


def _zoned(day: datetime, found: "re.Match[str]", source: SourceFile, zone: str) -> datetime | None:
    seconds = seconds_of(found)
    known = zone_of(found["zone"] or zone) or source.zone
    if seconds is None:
        return None
    if known is None:
        source.note(ZONE_ASSUMED)
    return (day + timedelta(seconds=seconds)).replace(tzinfo=known or UTC)


def time_in(clock: Clock, found: "re.Match[str]", source: SourceFile) -> datetime | None:
    """The moment of a time of day (TIME_OF_DAY); null where there is no such time."""
    seconds = seconds_of(found)
    if seconds is None:
        return None
    if source.zone is None:
        source.note(ZONE_ASSUMED)
    return clock.at(seconds // 3600, seconds // 60 % 60, seconds % 60)


def seconds_of(found: "re.Match[str]") -> int | None:
    """Seconds since midnight; null where it is no time of day."""
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"])
    if found["half"]:
        hour = hour % 12 + (12 if found["half"] == "PM" else 0)
    if hour > 23 or minute > 59 or second > 60:
        return None
    return hour * 3600 + minute * 60 + min(second, 59)
