"""Zones of times by their abbreviations, as the logs of servers have them: `UTC`, `CET`, `+02`."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

from doctord.read.moments import UTC_TAKEN, ZONE_ASSUMED
from doctord.read.source import SourceFile
from doctord.regex import regex

UNCLEAR = "its times are in {}, which is not the same everywhere: " + UTC_TAKEN
_UTC_NAMES = frozenset({"UTC", "GMT", "UCT", "Z", "Zulu", "Etc/UTC"})
_NUMERIC = regex(r"([+-])(\d\d):?(\d\d)?")
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - local moments are counted from it
_MICROSECOND = timedelta(microseconds=1)


def placing(source: SourceFile) -> Callable[[str, int], int]:
    """A function from the abbreviation of a zone and a local moment to the moment in UTC, both in microseconds.

    Numbers and UTC are what they say. Other abbreviations are used by several zones: `--zone` tells which is meant, and
    tells in an hour that a clock went through twice. Without it UTC is taken, and that is noted.
    """

    def place(name: str, local_us: int) -> int:
        if name in _UTC_NAMES:
            return local_us
        if numeric := _NUMERIC.fullmatch(name):
            offset = timedelta(hours=int(numeric[2]), minutes=int(numeric[3] or 0))
            return local_us - (offset if numeric[1] == "+" else -offset) // _MICROSECOND
        if source.zone is None:
            source.note(UNCLEAR.format(name) if name else ZONE_ASSUMED)
            return local_us
        return _in_zone(name, local_us, source.zone)

    return place


def _in_zone(name: str, local_us: int, zone: tzinfo) -> int:
    try:
        local = (_EPOCH + local_us * _MICROSECOND).replace(tzinfo=zone)
        twice = local.replace(fold=1)
        # In the hour that comes twice the abbreviation tells which it is.
        moment = twice if name and twice.tzname() == name != local.tzname() else local
        return (moment.astimezone(UTC).replace(tzinfo=None) - _EPOCH) // _MICROSECOND
    except (OverflowError, ValueError):
        return local_us
