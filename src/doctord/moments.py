"""Moments as people write them: `2026-11-20T10:00`, `02:19`, `yesterday`, `-2h` or `2 hours ago`, `now`."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeAlias

from doctord.errors import UserError
from doctord.regex import regex
from doctord.units import parse_duration

HINT = "write 2026-11-20T10:00Z, 10:00, yesterday, -2h or 2 hours ago, or now"
_AGO = regex(r"(?:-(.+)|(.+?)\s+ago)")
_WORD = regex(r"(an?|\d+(?:\.\d+)?)\s*(second|sec|s|minute|min|m|hour|hr|h|day|d|week|wk|w)s?")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DAY = regex(r"(today|yesterday)(?:\s+(?:at\s+)?(.+))?")


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """A time of day as somebody wrote it: what was measured tells of which day."""

    text: str

    def last(self, end: datetime) -> datetime:
        """The last such moment at or before another.

        >>> f"{TimeOfDay('14:00').last(datetime(2024, 3, 2, 10, tzinfo=UTC)):%F %H:%M}"
        '2024-03-01 14:00'
        """
        return parse_moment(self.text, end)


Moment: TypeAlias = datetime | TimeOfDay


def asked_moment(text: str) -> Moment:
    """A moment that is asked for of what was measured at some time: as `parse_moment`, a time of day left open.

    Words such as `yesterday` or `2 hours ago` are said of now, whenever it was measured.
    """
    moment = parse_moment(text)
    return TimeOfDay(text) if _is_time_of_day(text.strip().lower()) else moment


def parse_moment(text: str, now: datetime | None = None) -> datetime:
    """A point in time, in UTC: ISO 8601 (UTC unless it names a zone), or as people say it.

    A time of day is the last one that was; a day without a time begins at midnight. Both are UTC, as all that is
    printed, unless they name a zone.

    >>> parse_moment("2026-11-20T10:00")
    datetime.datetime(2026, 11, 20, 10, 0, tzinfo=datetime.timezone.utc)
    >>> noon = datetime(2026, 11, 20, 12, tzinfo=UTC)
    >>> [f"{parse_moment(text, noon):%d %H:%M}" for text in ("02:19", "14:00", "yesterday", "2 hours ago")]
    ['20 02:19', '19 14:00', '19 00:00', '20 10:00']
    """
    now, asked = now or datetime.now(UTC), text.strip().lower()
    if asked == "now":
        return now
    if ago := _AGO.fullmatch(asked):
        return now - timedelta(seconds=_length(ago[1] or ago[2]))
    if day := _DAY.fullmatch(asked):
        midnight = now.date() - timedelta(days=day[1] == "yesterday")
        return _at(midnight, day[2] or "00:00", text)
    if _is_time_of_day(asked):
        moment = _at(now.date(), asked, text)
        return moment if moment <= now else _at(now.date() - timedelta(days=1), asked, text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise _no_moment(text) from error
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def parse_day(text: str) -> date:
    """A date as ISO 8601 writes it, or as people say it.

    >>> parse_day("2026-11-20")
    datetime.date(2026, 11, 20)
    """
    if text in {"today", "yesterday"}:
        return parse_moment(text).date()
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UserError(f"{text!r} is no date", "write it as 2026-11-20, today or yesterday") from error


def _is_time_of_day(asked: str) -> bool:
    return ":" in asked[:3]


def _length(text: str) -> float:
    if word := _WORD.fullmatch(text):
        return (1.0 if word[1].startswith("a") else float(word[1])) * _SECONDS[word[2][0]]
    return parse_duration(text)


def _at(day: date, clock: str, text: str) -> datetime:
    try:
        at = time.fromisoformat(clock.upper() if clock[1:2] != ":" else f"0{clock.upper()}")
    except ValueError as error:
        raise _no_moment(text) from error
    moment = datetime.combine(day, at)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _no_moment(text: str) -> UserError:
    return UserError(f"{text!r} is no point in time", HINT)
