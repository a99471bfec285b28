"""What an interactive tool prints at one moment, and how a text of such reports is placed in time."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from typing import Any

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import TABLES
from doctord.read.clock import ASSUMED_STEP_S, untimed
from doctord.read.plausible import fault
from doctord.read.since_boot import not_measured, set_aside
from doctord.read.source import SourceFile

# Number of the line, from 1, and its text.
Line = tuple[int, str]

SINCE_BOOT_LEFT_OUT = "the first report, which covers the time since boot, is left out"
SINCE_BOOT_ALONE = "its only report covers the time since boot: its rates are means over all that time"
SINCE_BOOT_AGAIN = "reports that each cover the time since boot: their means are set aside (statistic since_boot.*)"
MOST_HELD = 20_000

WHOLE = {name: frozenset(c.name for c in table.columns if c.type == "i64") for name, table in TABLES.items()}


@dataclass(slots=True)
class Report:
    """Rows that were measured at one moment, by table; the moment stands beside them.

    Attributes:
        line: Where it begins in the text.
        at: When it ended; null where the text does not say.
        day: The day of the first report, where the text tells no more.
        interval_s: What it covers, as far as the text itself says.
        since_boot: Whether it covers the time since boot, as the first report of iostat and vmstat does.
        is_set_aside: Whether its means are no figures of its time.
        faults: Why rows were left out that cannot have been measured.
    """

    line: int
    at: datetime | None = None
    day: date | None = None
    interval_s: float | None = None
    since_boot: bool = False
    is_set_aside: bool = False
    faults: list[str] = field(default_factory=list)
    _rows: dict[tuple[object, ...], dict[str, Any]] = field(default_factory=dict)
    _counts: list[tuple[tuple[object, ...], str, float]] = field(default_factory=list)

    def figure(self, table: str, column: str, **entity: Any) -> float | None:  # noqa: ANN401 - a cell
        """What stands in the row of an entity so far; null where nothing does."""
        value: float | None = self._rows.get((table, *entity.values()), {}).get(column)
        return value

    def row(self, table: str, figures: Mapping[str, Any], **entity: Any) -> bool:  # noqa: ANN401 - a cell
        """Add figures to the row of an entity, but those that are null; false where one of them cannot be: none is."""
        if why := fault(table, figures):
            self.faults.append(why)
            return False
        row = self._rows.setdefault((table, *entity.values()), entity)
        whole = WHOLE[table]
        row.update({k: round(v) if k in whole else v for k, v in figures.items() if v is not None})
        return True

    def counted(self, table: str, column: str, count: float, **entity: Any) -> None:  # noqa: ANN401 - a cell
        """Add a count over the interval to an entity's rate, which is known once the interval is."""
        self.row(table, {}, **entity)
        self._counts.append(((table, *entity.values()), column, count))

    def statistic(
        self,
        component: str,
        name: str,
        value: float | None,
        unit: str,
        *,
        kind: str = "gauge",
        entity: str | None = None,
    ) -> None:
        """Add a row of `statistic`; none where the value is null."""
        if value is not None:
            self.row(
                "statistic", {"value": value, "unit": unit, "kind": kind}, component=component, entity=entity, name=name
            )

    def __bool__(self) -> bool:
        """Whether it holds anything."""
        return bool(self._rows)

    def blame(self, line: int, source: SourceFile) -> bool:
        """Tell of a line that some of its figures cannot be; false where all can."""
        for why in dict.fromkeys(self.faults):
            source.skip(line, why)
        found, self.faults = bool(self.faults), []
        return found

    def tables(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each row with the table that it belongs to."""
        if self.interval_s:
            for key, column, count in self._counts:
                row = self._rows[key]
                row[column] = row.get(column, 0.0) + count / self.interval_s
            self._counts.clear()
        told = ((str(key[0]), row) for key, row in self._rows.items())
        return set_aside(told) if self.is_set_aside else told


def placed(
    reports: Iterable[Report], source: SourceFile, moment: datetime | None = None, every_s: float | None = None
) -> Iterator[Batch]:
    """The rows of reports, each at its moment.

    Args:
        reports: As they stand in the text.
        source: The file; it is told what is assumed.
        moment: When the first report was taken, for a text that does not say: that of an archive's stamp above it.
        every_s: Seconds between two reports that do not say their time.
    """
    coming = (report for report in reports if report)
    first = next(coming, None)
    if first is None:
        return
    every_s = every_s or source.every_s
    everything: Iterator[Report] = chain([first], coming)
    if first.at is None:
        everything = iter(_placed_alike(list(everything), source, moment, every_s))
    else:
        everything = _with_intervals(everything, source)
    yield from _batches(_counted(everything, source), source)


def _placed_alike(
    reports: list[Report], source: SourceFile, moment: datetime | None, every_s: float | None
) -> list[Report]:
    """Reports that do not say their time, equally far apart."""
    for report, at in zip(reports, _moments(reports, source, moment, every_s), strict=True):
        report.at = at
        report.interval_s = report.interval_s or every_s
    return reports


def _moments(
    reports: list[Report], source: SourceFile, moment: datetime | None, every_s: float | None
) -> list[datetime]:
    day = reports[0].day
    if moment is None and day is not None and _written_another_day(source, day):
        moment = datetime(day.year, day.month, day.day, tzinfo=source.zone or UTC)
        source.place("time of day", f"no times in it but the day: its reports are placed from {day} 00:00 on")
    if moment is None:
        return untimed(source, len(reports))
    return [moment + timedelta(seconds=number * (every_s or ASSUMED_STEP_S)) for number in range(len(reports))]


def _written_another_day(source: SourceFile, day: date) -> bool:
    """Whether the file's last change cannot be the end of what began that day: a copy, then."""
    return source.modified is None or abs((source.modified.date() - day).days) > 1


def _with_intervals(reports: Iterator[Report], source: SourceFile) -> Iterator[Report]:
    """Reports that say their time: each covers the time since the one before, which the text shows."""
    before: datetime | None = None
    for report in reports:
        if report.at is None:
            source.skip(report.line, "no time beside it, as the others have")
            continue
        if report.interval_s is None and before and report.at > before:
            report.interval_s = (report.at - before).total_seconds()
        before = report.at
        yield report


def _counted(reports: Iterator[Report], source: SourceFile) -> Iterator[Report]:
    """Reports that count: one since boot only where none of the same run follows it, and no other such run."""
    waiting: Report | None = None
    alone: list[Report] = []
    for report in reports:
        if waiting and report.since_boot:
            alone.append(waiting)
        elif waiting:
            source.note(SINCE_BOOT_LEFT_OUT)
        waiting = report if report.since_boot else None
        if waiting is None:
            yield report
    yield from _alone([*alone, waiting] if waiting else alone, source)


def _alone(reports: list[Report], source: SourceFile) -> Iterator[Report]:
    """Reports since boot that no other follows. Several show the same mean again and again, and not their times."""
    for report in reports:
        report.interval_s = None
        report.is_set_aside = len(reports) > 1
    note = SINCE_BOOT_AGAIN if len(reports) > 1 else SINCE_BOOT_ALONE
    if reports and note not in source.notes:  # an archive has many pieces
        source.note(note)
        reports[0].row("event", not_measured())
    yield from reports


def _batches(reports: Iterable[Report], source: SourceFile) -> Iterator[Batch]:
    held: dict[str, list[dict[str, Any]]] = {}
    number = 0
    for report in reports:
        report.blame(report.line, source)
        at = {"ts": micros(report.at), "interval_s": report.interval_s, "host": source.host} if report.at else {}
        for table, row in report.tables():
            held.setdefault(table, []).append(row | at)
            number += 1
        if number >= MOST_HELD:
            yield from (rows(table, values) for table, values in held.items())
            held, number = {}, 0
    yield from (rows(table, values) for table, values in held.items())
