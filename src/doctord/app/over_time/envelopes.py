"""A figure of a lake over time: of its rows where a time is short, of sums of minutes or hours where it is long."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import polars as pl

from doctord.analyse.over_time.buckets import Buckets
from doctord.analyse.over_time.envelopes import Enveloped, envelopes, rows_of, rows_of_series, spacing_s
from doctord.app.capacity.history import series_in
from doctord.app.source import Recorded
from doctord.dataset.figure import Figure, own_figures
from doctord.dataset.tables import TABLES
from doctord.errors import UserError
from doctord.lake.place import default_lake
from doctord.lake.query import Lake

SHORT: Final = timedelta(hours=3)  # rows of so long a time are read within a fraction of a second
LONGEST: Final = timedelta(hours=6)  # of what is kept as rows alone
A_MINUTE_S, AN_HOUR_S = 60, 3600
LISTED: Final = timedelta(minutes=10)  # of a time its last minutes tell which entities there are
_STATISTIC: Final = "statistic:"
_UNITS: Final = {"pct": "%", "bytes": "bytes", "ms": "ms", "us": "us", "s": "s"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of a figure.

    Attributes:
        name: Of the figure: see `figure_named`.
        buckets: How many at most; fewer where it was measured more seldom.
        most: How many series at most.
        db: Of which server; null: of all.
        entity: Of which device, file system and so on; null: of all.
    """

    name: str
    buckets: int
    most: int
    db: str | None = None
    entity: str | None = None

    def chosen(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows of what is wanted."""
        for name, value in (("db", self.db), ("entity", self.entity)):
            if value is not None:
                rows = rows.filter(pl.col(name) == value)
        return rows


@dataclass(frozen=True, slots=True)
class FigureFound:
    """A figure over time, that of most first.

    Attributes:
        figure: What it is.
        buckets: The stretches of time.
        step_s: Seconds of the steps that the quartiles are of; 0: of rows as they were measured.
        series: One for each entity, as many as were asked for.
        left_out: How many more there are.
    """

    figure: Figure
    buckets: Buckets
    step_s: int
    series: tuple[Enveloped, ...]
    left_out: int


def figure_found(recorded: Recorded, since: datetime, until: datetime, wanted: Wanted) -> FigureFound:
    """A figure of a time.

    Raises:
        UserError: there is no such figure, or the lake cannot be read.
    """
    figure, lake = figure_named(wanted.name), Lake(recorded.lake or default_lake())
    step_s = 0
    if until - since > SHORT and figure in own_figures():
        step_s = A_MINUTE_S if (until - since).total_seconds() / wanted.buckets < AN_HOUR_S else AN_HOUR_S
        told = recorded.history(lake, [figure], (since, until))
        rows = rows_of_series(series_in(told, [figure], since, until, step_s))
    else:
        _check_length(figure, since, until)
        dataset = lake.dataset(since, until, {figure.table: f"({figure.where or 'true'})"})
        rows = rows_of(recorded.rows(dataset), figure)
    rows = wanted.chosen(rows)
    spacing = max(1, round(step_s or spacing_s(rows)))
    even = Buckets.between(since.timestamp(), until.timestamp(), wanted.buckets, spacing)
    found = sorted(envelopes(rows, even), key=lambda one: (-abs(one.mean), repr(one.labels)))
    return FigureFound(figure, even, step_s, tuple(found[: wanted.most]), max(len(found) - wanted.most, 0))


def _check_length(figure: Figure, since: datetime, until: datetime) -> None:
    if figure not in own_figures() and until - since > LONGEST:
        raise UserError(
            f"{figure.name} is read row by row, and these would be too many",
            f"ask for {LONGEST // timedelta(hours=1)} hours at most; those that /figures lists are kept for years",
        )


def figures_told(
    recorded: Recorded, since: datetime, until: datetime
) -> Iterator[tuple[Figure, list[dict[str, str | None]]]]:
    """The figures that a time tells, each with whom it tells them of, by the last minutes of it.

    Raises:
        UserError: the lake cannot be read.
    """
    tables = dict.fromkeys((figure.table for figure in own_figures()), "true")
    dataset = Lake(recorded.lake or default_lake()).dataset(max(since, until - LISTED), until, tables)
    dataset = recorded.rows(dataset)
    for figure in own_figures():
        entities = rows_of(dataset, figure).select("host", "db", "entity").unique().sort("host", "db", "entity")
        if not entities.is_empty():
            yield figure, entities.to_dicts()


def figure_named(name: str) -> Figure:
    """The figure of a name: one that is kept for years, `TABLE.COLUMN`, or `statistic:NAME`.

    Raises:
        UserError: there is none.
    """
    for figure in own_figures():
        if figure.name == name:
            return figure
    if name.startswith(_STATISTIC):
        wanted = name.removeprefix(_STATISTIC).replace("'", "''")
        return Figure(name, name, "workload", "statistic", "value", "", f"name = '{wanted}'", ("instance", "entity"))
    table, _, column = name.partition(".")
    kinds = {one.name: one.type for one in TABLES[table].columns} if table in TABLES else {}
    if kinds.get(column) not in {"f64", "i64"} or column == "interval_s":
        raise UserError(
            f"there is no figure {name!r}",
            "/figures lists those that are kept; others are TABLE.COLUMN (disk.util_pct) or statistic:NAME",
        )
    each = tuple(one for one in TABLES[table].entity if one != "db")
    return Figure(name, name, "workload", table, column, unit_of(column), "", each)


def unit_of(column: str) -> str:
    """The unit that stands in a column's name.

    >>> [unit_of(name) for name in ("util_pct", "reads_per_s", "run_queue")]
    ['%', 'per_s', '']
    """
    return "per_s" if column.endswith("_per_s") else _UNITS.get(column.rpartition("_")[2], "")
