"""A report of Oracle's while it is read: whom it is about, over which intervals, and the rows found so far."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from doctord._native import Batch, ReportFigure, ReportTable, Rows
from doctord.dataset.tables import TABLES
from doctord.read.source import SourceFile

# A value for all rows, or one for each.
Values = object

INSTANCE_COLUMNS = ("I#", "Inst #", "Inst#", "Instance#")


@dataclass(frozen=True, slots=True)
class Span:
    """What the figures of one instance (or of all together) are about.

    Attributes:
        ts: End of the interval, microseconds.
        seconds: Its length.
        db: `oracle:NAME`.
        instance: Name of the instance; null for all of a cluster together.
        host: Its host; null where there are several.
        db_time_s: Database time as the report's head gives it, rounded to minutes' hundredths mostly.
    """

    ts: int
    seconds: float
    db: str
    instance: str | None = None
    host: str | None = None
    db_time_s: float | None = None

    @property
    def begin(self) -> int:
        """Begin of the interval, microseconds."""
        return self.ts - round(self.seconds * 1e6)

    def row(self) -> dict[str, Values]:
        """The columns that every row of it has."""
        return {
            "ts": self.ts,
            "interval_s": self.seconds,
            "host": self.host,
            "db": self.db,
            "instance": self.instance,
        }


@dataclass
class Filled:
    """Rows of the dataset's tables by column, as they are found."""

    _held: dict[str, Rows] = field(default_factory=dict)
    _kept: dict[str, list[int]] = field(default_factory=dict)

    def add(self, table: str, count: int, values: Mapping[str, Values]) -> None:
        """Add rows: each column a list of their number, or one value for all; what is left out is null."""
        if count:
            self._rows(table).add(count, values)

    def add_known(self, table: str, count: int, values: Mapping[str, Values], *needed: str) -> int:
        """Add those rows in which these columns, each a list, hold something; how many there are."""
        return self._rows(table).add_known(count, values, needed)

    def add_figures(
        self,
        place: "InstanceRows",
        figures: Sequence[ReportFigure],
        values: dict[str, Values],
        needed: str | None = None,
        factors: float | Sequence[float] = 1.0,
    ) -> int:
        """Add statistics of the figures in columns of a table, of rows that have what is needed; how many there are."""
        return self._rows("statistic").add_figures(
            place.table,
            figures,
            "value",
            place.row | {"component": "oracle"} | values,
            seconds=place.seconds,
            factors=factors,
            needed=needed,
        )

    def column(self, table: str, name: str, rows: list[int] | None = None) -> list[Any]:
        """The values of a column so far, of all rows or of these."""
        return self._held[table].column(name, rows) if table in self._held else []

    def where(self, table: str, name: str, texts: Set[str]) -> list[int]:
        """The rows so far that have one of these texts in a column."""
        return self._held[table].where(name, texts) if table in self._held else []

    def keep_firsts(self, table: str, *names: str) -> None:
        """Of a table to which nothing is added any more, keep the first row of each that are alike in these columns."""
        if table in self._held:
            self._kept[table] = self._held[table].firsts(names)

    def forget(self, table: str) -> None:
        """Leave the rows of a table out that were added so far."""
        self._held.pop(table, None)

    def keep(self, table: str, rows: list[int]) -> None:
        """Of a table to which nothing is added any more, keep these rows only."""
        self._kept[table] = rows

    def _rows(self, table: str) -> Rows:
        if table not in self._held:
            self._held[table] = Rows(table, TABLES[table].layout)
        return self._held[table]

    def batches(self) -> Iterator[Batch]:
        """All rows, a batch for each table."""
        for table, rows in self._held.items():
            if len(rows):
                yield rows.batch().only(self._kept[table]) if table in self._kept else rows.batch()


@dataclass
class Report:
    """What the sections of a report are read with.

    Attributes:
        source: The file.
        whole: The interval of the report; the instance it is about, or null for a cluster.
        spans: Intervals of the instances of a cluster by their number as the columns `I#` have it.
        filled: The rows so far.
        events: Waits so far: which (instance, event, kind) are there already.
        background: Number and seconds of the waits of background processes, by event.
        statements: Figures of statements so far, by instance and SQL id.
        has_top_events_only: Whether its waits are those of a list of top events, which leaves others out.
    """

    source: SourceFile
    whole: Span
    spans: dict[str, Span] = field(default_factory=dict)
    filled: Filled = field(default_factory=Filled)
    events: set[tuple[object, ...]] = field(default_factory=set)
    background: dict[str, tuple[float, float]] = field(default_factory=dict)
    statements: dict[tuple[str | None, str], dict[str, object]] = field(default_factory=dict)
    has_top_events_only: bool = False


class InstanceRows(NamedTuple):
    """Rows of a table that say (or need not say) of which instance they are.

    Attributes:
        table: The table with these rows only.
        row: The columns that say when and whose; each one value, or one for each row.
        seconds: Length of the interval, likewise.
    """

    table: ReportTable
    row: dict[str, Values]
    seconds: float | list[float]

    def per_second(self, values: Sequence[float | None]) -> list[float | None]:
        """Increases over the interval as rates."""
        if isinstance(self.seconds, float):
            seconds = self.seconds
            return [None if value is None else value / seconds for value in values]
        return [None if value is None else value / each for value, each in zip(values, self.seconds, strict=True)]


def place(table: ReportTable, report: Report) -> InstanceRows:
    """Where the rows of a table belong. Sums, means and deviations over instances are left out."""
    column = table.find(*INSTANCE_COLUMNS) if report.spans else None
    if column is None:
        return InstanceRows(table, report.whole.row(), report.whole.seconds)
    numbers = filled_down(table.texts(column))
    known = [at for at, number in enumerate(numbers) if number in report.spans]
    spans = [report.spans[number] for number in numbers if number in report.spans]
    row: dict[str, Values] = {
        "ts": [span.ts for span in spans],
        "interval_s": [span.seconds for span in spans],
        "host": [span.host for span in spans],
        "db": report.whole.db,
        "instance": [span.instance for span in spans],
    }
    return InstanceRows(table.only(known), row, [span.seconds for span in spans])


def filled_down(values: Sequence[str | None]) -> list[str]:
    """A column in which a value stands for the empty cells below it as well."""
    held = [value for value in values if value]
    if len(held) == len(values):
        return held  # most columns
    filled, last = list[str](), ""
    for value in values:
        last = value or last
        filled.append(last)
    return filled
