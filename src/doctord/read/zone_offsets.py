"""How far a zone is from UTC, as figures that native readers place local times with."""

from datetime import UTC, datetime, tzinfo
from functools import cache
from itertools import pairwise

FIRST_S = 0
LAST_S = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp())
WEEK_S = 7 * 86_400  # no zone has changed its distance and gone back within one


@cache
def offsets(zone: tzinfo) -> tuple[tuple[int, int], ...]:
    """Since when (seconds since 1970) it is how far (seconds) from UTC, from 1970 to 2100.

    >>> from zoneinfo import ZoneInfo
    >>> offsets(ZoneInfo("Asia/Kolkata"))
    ((0, 19800),)
    """
    found = [(FIRST_S, _offset_s(zone, FIRST_S))]
    for begin, end in pairwise(range(FIRST_S, LAST_S, WEEK_S)):
        while found[-1][1] != _offset_s(zone, end):
            found.append(_change(zone, max(begin, found[-1][0]), end))
    return tuple(found)


def _change(zone: tzinfo, begin_s: int, end_s: int) -> tuple[int, int]:
    """The second at which the offset is no longer that of the beginning, and what it is then."""
    before = _offset_s(zone, begin_s)
    while end_s - begin_s > 1:
        middle = (begin_s + end_s) // 2
        if _offset_s(zone, middle) == before:
            begin_s = middle
        else:
            end_s = middle
    return end_s, _offset_s(zone, end_s)


def _offset_s(zone: tzinfo, moment_s: int) -> int:
    offset = datetime.fromtimestamp(moment_s, zone).utcoffset()
    return round(offset.total_seconds()) if offset else 0
