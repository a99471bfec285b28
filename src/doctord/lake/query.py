"""Reads a lake with DuckDB, also while it is being written: every row exactly once, whatever is being sealed.

Open segments are listed and read first, sealed files after that. A segment that is sealed in between is then seen as
both; its table is taken from Parquet, for both have the same name.
"""

import struct
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import duckdb
import pyarrow as pa

from doctord._native import Batch, read_segment
from doctord.chart.chart import Chart, arrow_schema
from doctord.chart.tables import TABLES
from doctord.lake.place import LakeError, Place, begun

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

_PARQUET: Final = b"PAR1"
_SMALLEST_PARQUET: Final = 12  # magic, length of the footer, magic
_A_DAY: Final = timedelta(days=1)  # a file's name tells when it was begun by a clock that may have been set since
_INSIDE: Final = 'SELECT * FROM "{table}" WHERE ts > $1 AND ts <= $2 AND ({condition})'
# A setting is recorded when a recorder starts and when it changes: the last word before an interval holds in it. What
# could not be seen is told once by each recorder, and holds until the next one starts.
_LASTING: Final = {
    "event": "SELECT * FROM \"{table}\" WHERE ts <= $2 AND ({condition}) AND (ts > $1 OR (kind = 'unseen' AND ts >= "
    "coalesce((SELECT max(ts) FROM event WHERE kind = 'recording' AND ts <= $2), '-infinity'::TIMESTAMP)))",
    "setting": 'SELECT * FROM "{table}" WHERE ts <= $2 AND ({condition}) '
    "QUALIFY ts > $1 OR "
    "row_number() OVER (PARTITION BY host, component, db, instance, name ORDER BY ts DESC, line DESC) = 1",
}
_PLAIN: Final = {pa.timestamp("us", "UTC"): pa.timestamp("us")}


@dataclass
class _Parts:
    """What a table consists of at one moment."""

    files: list[Path] = field(default_factory=list)
    batches: list[pa.RecordBatch] = field(default_factory=list)


class Lake:
    """A lake to be read. Needs no right to write, and disturbs no writer.

    `problems` names every file, or part of one, that could not be read; the rest is there all the same.
    """

    def __init__(self, path: Path, threads: int | None = None) -> None:
        """Look for a lake at this path; raises a LakeError when there is none, or it may not be read.

        `threads`: how many it is queried with; else as many as there are CPUs.
        """
        self.path = path
        self._config: dict[str, str | bool | int | float | list[str]] = {"threads": threads} if threads else {}
        self._place = Place(path)
        self.problems: list[str] = []
        try:
            found = self._place.open.is_dir() or self._place.sealed.is_dir()
        except PermissionError as error:
            raise LakeError(f"{path}: may not be read", "ask for membership in the group that owns the lake") from error
        if not found:
            raise LakeError(f"{path}: no lake here", "record one with `doctord record`, or name another with --lake")

    def connect(self, tables: "Iterable[str] | None" = None) -> duckdb.DuckDBPyConnection:
        """A DuckDB connection with every table of the vocabulary as a view, the same moment for all of them.

        Tables other than `tables` (default: all) are there but empty. Times are plain timestamps in UTC, and `now()`
        gives one too: DuckDB knows time zones only with an extension that it would have to download.
        """
        return self._connect(set(TABLES if tables is None else tables))

    def fresh(
        self,
        table: str,
        taken: "Collection[str]",
        *,
        sealed: bool,
        between: tuple[datetime, datetime] | None = None,
        only: "Collection[str] | None" = None,
    ) -> tuple[duckdb.DuckDBPyConnection, set[str]]:
        """A connection with one table but for the sealed files of these names, and the names of its other files.

        With `sealed`, nothing is in it that is still open; with `between`, no file of other days; with `only`, no
        sealed file of another name.
        """
        days = _days(*between) if between else None

        def is_wanted(path: Path) -> bool:
            is_asked = only is None or path.stem in only
            return is_asked and path.stem not in taken and (days is None or _is_of(path, days))

        parts = self._snapshot({table}, is_wanted, sealed=sealed)
        return self._viewed(parts), {path.stem for path in parts[table].files}

    def _connect(self, tables: set[str], days: tuple[date, date] | None = None) -> duckdb.DuckDBPyConnection:
        return self._viewed(self._snapshot(tables, lambda path: days is None or _is_of(path, days)))

    def _viewed(self, tables: "Mapping[str, _Parts]") -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(config=self._config)
        connection.execute("CREATE MACRO now() AS make_timestamp(epoch_us(get_current_timestamp()))")
        for name, parts in tables.items():
            try:
                _create_view(connection, name, parts)
            except duckdb.Error:
                parts.files = [path for path in parts.files if self._readable(connection, path)]
                _create_view(connection, name, parts)
        return connection

    def _readable(self, connection: duckdb.DuckDBPyConnection, path: Path) -> bool:
        try:
            connection.sql("SELECT * FROM read_parquet($1)", params=[str(path)])
        except duckdb.Error as error:
            if path.exists():  # else retention took it since the listing
                self._problem(path, f"damaged; skipped ({str(error).splitlines()[0]})")
            return False
        return True

    def chart(self, since: datetime, until: datetime, where: "Mapping[str, str] | None" = None) -> Chart:
        """The rows whose interval ended after `since` and no later than `until`, and the settings in force, as a chart.

        `where` names the tables wanted (default: all), each with a condition in SQL that its rows must meet.
        """
        names = dict.fromkeys(TABLES, "true") if where is None else where
        bounds = [moment.astimezone(UTC).replace(tzinfo=None) for moment in (since, until)]
        try:
            with self._connect(set(names), _days(since, until)) as connection:
                rows = {
                    name: connection.sql(
                        _LASTING.get(name, _INSIDE).format(table=name, condition=condition), params=bounds
                    ).to_arrow_table()
                    for name, condition in names.items()
                }
        except duckdb.Error as error:
            hint = "a file inside is damaged, or was deleted just now: try again, then move it out of the lake"
            raise LakeError(f"{self.path}: {str(error).splitlines()[0]}", hint) from error
        return Chart({name: table.cast(arrow_schema(TABLES[name])) for name, table in rows.items() if table.num_rows})

    def span(self) -> tuple[datetime, datetime] | None:
        """Time of the first and the last row; null for an empty lake."""
        with self.connect() as connection:
            ends = " UNION ALL ".join(f"SELECT min(ts) AS low, max(ts) AS high FROM {name}" for name in TABLES)  # noqa: S608
            row = connection.execute(f"SELECT min(low), max(high) FROM ({ends})").fetchone()  # noqa: S608
        return (row[0].replace(tzinfo=UTC), row[1].replace(tzinfo=UTC)) if row and row[0] else None

    def _snapshot(
        self, wanted: set[str], chosen: "Callable[[Path], bool]", *, sealed: bool = False
    ) -> dict[str, _Parts]:
        self.problems = []
        parts = {name: _Parts() for name in TABLES}
        unsealed = [] if sealed else self._place.segments()
        segments = [(path.stem, self._read(path, wanted)) for path in unsealed]
        files = [path for path in self._place.parquet() if path.parts[-3] in wanted and self._sound(path)]
        for path in files:
            if chosen(path):
                parts[path.parts[-3]].files.append(path)
        in_parquet = {(path.parts[-3], path.stem) for path in files}
        for stem, batches in segments:
            for batch in batches:
                if (batch.table, stem) not in in_parquet and batch.table in parts:
                    parts[batch.table].batches.append(pa.record_batch(batch))
        return parts

    def _read(self, segment: Path, wanted: set[str]) -> list[Batch]:
        if begun(segment.stem) is None:
            self._problem(segment, "not named like a segment; skipped")
            return []
        try:
            batches, troubles = read_segment(segment, sorted(wanted))
        except FileNotFoundError:
            return []  # sealed since the listing: it will be found there
        except (OSError, ValueError) as error:
            self._problem(segment, f"{error}; skipped")
            return []
        for offset, reason, length in troubles:
            if reason != "torn":  # a writer in the middle of a sync looks like that, and a killed one has lost no more
                self._problem(segment, f"{length} bytes at offset {offset} are {reason} and were skipped")
        return batches

    def _sound(self, path: Path) -> bool:
        """Whether this is a whole Parquet file by its ends; anything else would fail the whole query."""
        if begun(path.stem) is None:
            self._problem(path, "not named like a file of the lake; skipped")
            return False
        try:
            size = path.stat().st_size
            with path.open("rb") as file:
                start = file.read(4)
                file.seek(max(0, size - 8))
                end = file.read(8)
        except OSError as error:
            self._problem(path, f"{error.strerror}; skipped")
            return False
        whole = size >= _SMALLEST_PARQUET and start == end[4:] == _PARQUET
        if whole and struct.unpack("<I", end[:4])[0] <= size - _SMALLEST_PARQUET:
            return True
        self._problem(path, "truncated or not Parquet; skipped")
        return False

    def _problem(self, path: Path, text: str) -> None:
        self.problems.append(f"{path}: {text}\nhint: move it out of the lake to be rid of this message")


def _days(since: datetime, until: datetime) -> tuple[date, date]:
    """Days whose files may hold rows between two moments."""
    return since.astimezone(UTC).date() - _A_DAY, until.astimezone(UTC).date() + _A_DAY


def _is_of(path: Path, days: tuple[date, date]) -> bool:
    """Whether a sealed file may tell of these days."""
    table, day = path.parts[-3:-1]
    return day <= days[1].isoformat() and (table in _LASTING or day >= days[0].isoformat())


def _create_view(connection: duckdb.DuckDBPyConnection, name: str, parts: _Parts) -> None:
    # The registered rows give the columns and their types, also to files of an older vocabulary.
    schema = pa.schema([(column.name, _PLAIN.get(column.type, column.type)) for column in arrow_schema(TABLES[name])])
    rows = pa.Table.from_batches([_fit(batch, schema) for batch in parts.batches], schema)
    columns = ", ".join(f'"{column}"' for column in schema.names)
    source = "SELECT * FROM unsealed"
    if parts.files:
        files = ", ".join("'" + str(path).replace("'", "''") + "'" for path in parts.files)
        source += f" UNION ALL BY NAME SELECT * FROM read_parquet([{files}], union_by_name = true)"  # noqa: S608
    relation = connection.from_arrow(rows).query("unsealed", f"SELECT {columns} FROM ({source})")  # noqa: S608
    cast("duckdb.DuckDBPyRelation", relation).create_view(name)  # it is one: a SELECT's; and it keeps the rows alive


def _fit(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    known = set(batch.schema.names)
    columns = [
        batch.column(field.name).cast(field.type) if field.name in known else pa.nulls(len(batch), field.type)
        for field in schema
    ]
    return pa.record_batch(columns, schema=schema)
