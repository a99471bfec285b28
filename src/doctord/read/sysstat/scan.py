"""Hands a file to the native scanner, piece by piece."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from doctord._native import Batch, SarScanner
from doctord.dataset.tables import TABLES
from doctord.read.clock import latest_first, note_first_day
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.plausible import LEAST, limits
from doctord.read.source import SourceFile
from doctord.read.sysstat.activities import Activity
from doctord.read.sysstat.vocabulary import VOCABULARY
from doctord.read.zone_offsets import offsets

LAYOUTS = {
    name: TABLES[name].layout for name in ("cpu", "memory", "disk", "network", "filesystem", "statistic", "event")
}
LIMITS = {name: limits(name) for name in LAYOUTS}
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - local times are counted from it


class Header(NamedTuple):
    """What the line tells with which a report begins.

    Attributes:
        host: Whose figures they are.
        component: What their statistics are of: `kernel`, `solaris`, ...
        day: The day of its first time, since 1970; null where it is not told.
        activities: What this machine's sar measures in units of its own, instead of the activities that all have.
    """

    host: str | None
    component: str
    day: int | None
    activities: Sequence[Activity]


def scan(
    form: str, source: SourceFile, pieces: Iterable[bytes], header: Callable[[str], Header] | None = None
) -> Iterator[Batch]:
    """The rows of what sar (`text`), `sadf -d` (`lines`) or `sadf -j` (`json`) printed.

    `header` reads a line that begins a report; only sar's text has such.
    """
    latest_s = (latest_first(source) - EPOCH) // timedelta(seconds=1)
    zone = offsets(source.zone) if source.zone else None
    scanner = SarScanner(form, VOCABULARY, LAYOUTS, (LEAST, LIMITS), zone, latest_s)
    for piece in pieces:
        begin = 0
        while begin < len(piece):
            rows, begin = scanner.feed(piece, begin)
            yield from rows
            _tell(scanner, source)
            if header and begin < len(piece):
                end = piece.find(b"\n", begin) + 1 or len(piece)
                scanner.header(header(piece[begin:end].decode(errors="replace").rstrip("\r\n")))
                begin = end
    yield from scanner.finish()
    _tell(scanner, source)
    source.sum_up()


def day_number(day: date | None) -> int | None:
    """Days of a date since 1970-01-01; null where there is none."""
    return (day - EPOCH.date()).days if day else None


def _tell(scanner: SarScanner, source: SourceFile) -> None:
    for line, reason in scanner.skipped():
        source.skip(line, reason)
    day, is_utc_assumed = scanner.assumed()
    if day is not None:
        note_first_day(source, EPOCH.date() + timedelta(days=day))
    if is_utc_assumed:
        source.note(ZONE_ASSUMED)
