"""Reads a lake with DuckDB, also while it is being written: every row exactly once, whatever is being sealed.

Open segments are listed and read first, sealed files after that. A segment that is sealed in between is then seen as
both; its table is taken from Parquet, for both have the same name. What is damaged is left out, and named in
`problems`: nothing comes out of a lake but what was put into it.
"""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import polars as pl
import pyarrow as pa

from doctord._native import Batch, read_segment
from doctord.dataset.dataset import Dataset, arrow_schema
from doctord.dataset.tables import OLD_NAMES, OLD_WORDS, PLAN_HOLDS_S, TABLES
from doctord.lake.place import LakeError, LakePaths, begun
from doctord.lake.sealed import A_DAY, Interval, Sound, examined, readable
from doctord.lake.store.shipped import Shipped
from doctord.lake.whole_tables import rows_between

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    import duckdb

_A_WRITE_S: Final = 0.05  # far more than it takes to put a frame into the page cache
_INSIDE: Final = 'SELECT * FROM "{table}" WHERE ts > $1 AND ts <= $2 AND ({condition})'
# A setting is recorded when a recorder starts and when it changes: the last word before an interval holds in it. What
# could not be seen is told once by each recorder, and holds until the next one starts. A plan is asked for every hour.
_LASTING: Final = {
    "event": "SELECT * FROM \"{table}\" WHERE ts <= $2 AND ({condition}) AND (ts > $1 OR (kind = 'not measured' "
    "AND ts >= coalesce((SELECT max(ts) FROM event WHERE kind = 'recording' AND ts <= $2), '-infinity'::TIMESTAMP)))",
    "setting": 'SELECT * FROM "{table}" WHERE ts <= $2 AND ({condition}) '
    "QUALIFY ts > $1 OR "
    "row_number() OVER (PARTITION BY host, component, db, instance, name ORDER BY ts DESC, line DESC) = 1 "
    "ORDER BY ts, host, component, db, instance, name, line",  # a window hands rows out in no order
    "plan": _INSIDE.replace("$1", f"$1 - INTERVAL {PLAN_HOLDS_S} SECOND"),
}
_PLAIN: Final = {pa.timestamp("us", "UTC"): pa.timestamp("us")}


@dataclass
class _Parts:
    """What a table consists of at one moment."""

    files: list[Path] = field(default_factory=list)
    sealed: set[str] = field(default_factory=set)  # names of the sealed files of which rows are in it
    batches: list[pa.RecordBatch] = field(default_factory=list)
    spans_us: list[tuple[int, int] | None] = field(default_factory=list)  # of each file

    @property
    def holds(self) -> bool:
        """Whether there is anything to look for rows in."""
        return bool(self.files or self.batches)


class Lake:
    """A lake to be read. Needs no right to write, and disturbs no writer.

    `problems` names every file, or part of one, that could not be read; the rest is there all the same.
    """

    def __init__(self, place: Path | Shipped, threads: int | None = None) -> None:
        """Look for a lake at this path; raises a LakeError when there is none, or it may not be read.

        Of what was shipped to a store, what is asked for is fetched first. `threads`: how many it is queried with; else
        as many as there are CPUs.
        """
        self._shipped = place if isinstance(place, Shipped) else None
        self.path = path = place.folder if isinstance(place, Shipped) else place
        self._config: dict[str, str | bool | int | float | list[str]] = {"threads": threads} if threads else {}
        self._place = LakePaths(path)
        self.problems: list[str] = []
        try:
            found = self._place.open.is_dir() or self._place.sealed.is_dir()
        except PermissionError as error:
            raise LakeError(f"{path}: may not be read", "ask for membership in the group that owns the lake") from error
        if not found:
            raise LakeError(f"{path}: no lake here", "record one with `doctord record`, or name another")

    def connect(self, tables: "Iterable[str] | None" = None) -> "duckdb.DuckDBPyConnection":
        """A DuckDB connection with every table of the vocabulary as a view, the same moment for all of them.

        Tables other than `tables` (default: all) are there but empty. Times are plain timestamps in UTC, and `now()`
        gives one too: DuckDB knows time zones only with an extension that it would have to download.
        """
        return self._viewed(self._snapshot(set(TABLES if tables is None else tables), Interval()))

    def fresh(
        self,
        table: str,
        taken: "Collection[str]",
        *,
        sealed: bool,
        between: tuple[datetime, datetime] | None = None,
        only: "Collection[str] | None" = None,
    ) -> "tuple[duckdb.DuckDBPyConnection, set[str]]":
        """A connection with this table alone but for the sealed files of these names, and the names of its other files.

        With `sealed`, nothing is in it that is still open; with `between`, no file of another time; with `only`, no
        sealed file of another name.
        """

        def is_wanted(path: Path) -> bool:
            return (only is None or path.stem in only) and path.stem not in taken

        interval = Interval(between[0] - A_DAY, between[1] + A_DAY) if between else Interval()
        parts = self._snapshot({table}, interval, is_wanted, sealed=sealed)
        return self._viewed({table: parts[table]}), parts[table].sealed

    def _viewed(self, tables: "Mapping[str, _Parts]") -> "duckdb.DuckDBPyConnection":
        import duckdb  # noqa: PLC0415 - who reads files alone does without it

        connection = duckdb.connect(config=self._config)
        connection.execute("CREATE MACRO now() AS make_timestamp(epoch_us(get_current_timestamp()))")
        for name, parts in tables.items():
            try:
                _create_view(connection, name, parts)
            except duckdb.Error:  # retention took one since the listing, or DuckDB reads it not as Arrow does
                self._leave_out_unreadable(parts)
                _create_view(connection, name, parts)
        return connection

    def _leave_out_unreadable(self, parts: _Parts) -> None:
        for path in list(parts.files):
            reason = readable(path)
            if reason:
                self._problem(path, f"damaged; skipped ({reason})")
            if reason or not path.exists():
                parts.files.remove(path)

    def dataset(self, since: datetime, until: datetime, where: "Mapping[str, str] | None" = None) -> Dataset:
        """Rows whose interval ended after `since` and no later than `until`, and the settings in force, as a dataset.

        `where` names the tables wanted (default: all), each with a condition in SQL that its rows must meet.
        """
        names = dict.fromkeys(TABLES, "true") if where is None else where
        held = {name: part for name, part in self._snapshot(set(names), Interval(since, until)).items() if part.holds}
        wanted_whole = [name for name in held if names[name] == "true"]
        read = {name: rows_between(name, held[name].files, held[name].batches, since, until) for name in wanted_whole}
        found: dict[str, pa.Table | pl.DataFrame] = {name: rows for name, rows in read.items() if rows is not None}
        found |= self._asked({name: part for name, part in held.items() if name not in found}, names, since, until)
        return Dataset({name: found[name] for name in names if name in found and len(found[name])})

    def _asked(
        self, parts: "Mapping[str, _Parts]", names: "Mapping[str, str]", since: datetime, until: datetime
    ) -> dict[str, pa.Table]:
        """The rows of some tables by SQL; `names` has the condition of each."""
        if not parts:
            return {}
        import duckdb  # noqa: PLC0415 - as above

        bounds = [moment.astimezone(UTC).replace(tzinfo=None) for moment in (since, until)]
        queries = {name: _LASTING.get(name, _INSIDE).format(table=name, condition=names[name]) for name in parts}

        def rows() -> dict[str, pa.Table]:
            with self._viewed(parts) as connection:
                return {name: connection.sql(query, params=bounds).to_arrow_table() for name, query in queries.items()}

        try:
            try:
                found = rows()
            except duckdb.Error:  # only a file without checksums, or one that was just deleted, can come to this
                for part in parts.values():
                    self._leave_out_unreadable(part)
                found = rows()
        except duckdb.Error as error:
            raise LakeError(f"{self.path}: {_first_line(error)}", "doctord verify finds what is damaged") from error
        return {name: table.cast(arrow_schema(TABLES[name])) for name, table in found.items()}

    def span(self) -> tuple[datetime, datetime] | None:
        """Time of the first and the last row; null for an empty lake."""
        if self._shipped:
            self.problems += self._shipped.fetch_ends()
        held = {name: part for name, part in self._snapshot(set(TABLES), Interval(), rows=False).items() if part.holds}
        if not held:
            return None
        of_files = [span_us for part in held.values() for span_us in part.spans_us]
        if None in of_files:
            return self._span_by_sql(held)
        of_batches = [ends for part in held.values() for batch in part.batches if (ends := _ends_us(batch))]
        moments = [moment for span_us in (*of_files, *of_batches) for moment in span_us or ()]
        return (_moment(min(moments)), _moment(max(moments))) if moments else None

    def _span_by_sql(self, held: "Mapping[str, _Parts]") -> tuple[datetime, datetime] | None:
        """Where a file of before does not tell of what time it is."""
        with self._viewed(held) as connection:
            ends = " UNION ALL ".join(f"SELECT min(ts) AS low, max(ts) AS high FROM {name}" for name in held)  # noqa: S608
            row = connection.execute(f"SELECT min(low), max(high) FROM ({ends})").fetchone()  # noqa: S608
        return (row[0].replace(tzinfo=UTC), row[1].replace(tzinfo=UTC)) if row and row[0] else None

    def _snapshot(
        self,
        wanted: set[str],
        interval: Interval,
        chosen: "Callable[[Path], bool]" = lambda _: True,
        *,
        sealed: bool = False,
        rows: bool = True,
    ) -> dict[str, _Parts]:
        if self._shipped and rows:
            self.problems += self._shipped.fetch(wanted, interval)
        parts = {name: _Parts() for name in TABLES}
        segments = {path.stem: self._read(path, wanted) for path in ([] if sealed else self._place.segments())}
        in_parquet = set[tuple[str, str]]()
        for path in self._place.parquet():
            table, day = path.parts[-3:-1]
            if table not in wanted:
                continue
            is_asked = chosen(path) and _of(interval, table).may_hold(day)
            if is_asked or path.stem in segments:
                sound = self._examined(path, table, _of(interval, table), rows=rows)
                # Of a damaged file whose segment is still there, the segment has more.
                is_taken = sound is None or sound.is_whole or bool(sound.batches and path.stem not in segments)
                if is_taken:
                    in_parquet.add((table, path.stem))
                if sound and is_asked and is_taken:
                    if sound.is_whole:
                        parts[table].files.append(path)
                        parts[table].spans_us.append(sound.span_us)
                    parts[table].batches += sound.batches
                    parts[table].sealed.add(path.stem)
        for stem, batches in segments.items():
            for batch in batches:
                if (batch.table, stem) not in in_parquet and batch.table in parts:
                    parts[batch.table].batches.append(pa.record_batch(batch))
        return parts

    def _examined(self, path: Path, table: str, interval: Interval, *, rows: bool) -> Sound | None:
        if begun(path.stem) is None:
            self._problem(path, "not named like a file of the lake; skipped")
            return Sound()
        sound = examined(path, table, interval, rows=rows)
        for problem in sound.problems if sound else ():
            self._problem(path, problem)
        return sound

    def _read(self, segment: Path, wanted: set[str]) -> list[Batch]:
        if begun(segment.stem) is None:
            self._problem(segment, "not named like a segment; skipped")
            return []
        try:
            batches, troubles = read_segment(segment, sorted(wanted))
            if any(reason == "torn" for _, reason, _ in troubles):
                time.sleep(_A_WRITE_S)  # a frame that is just being written looks torn
                batches, troubles = read_segment(segment, sorted(wanted))
        except FileNotFoundError:
            return []  # sealed since the listing: it will be found there
        except (OSError, ValueError) as error:
            self._problem(segment, f"{error}; skipped")
            return []
        for offset, reason, length in troubles:
            self._problem(segment, f"{length} bytes at offset {offset} are {reason} and were skipped")
        return batches

    def _problem(self, path: Path, text: str) -> None:
        problem = f"{path}: {text}\nhint: doctord repair sets aside what is damaged"
        if problem not in self.problems:
            self.problems.append(problem)


def _ends_us(batch: pa.RecordBatch) -> tuple[int, int] | None:
    """Moments of the first and the last row; null where none has one."""
    moments = pl.Series(values=batch.column("ts").cast(pa.int64()))
    first, last = cast("int | None", moments.min()), cast("int | None", moments.max())
    return None if first is None or last is None else (first, last)


def _moment(us: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=us)


def _of(interval: Interval, table: str) -> Interval:
    """The interval whose rows of a table matter: what lasts was told at any time before."""
    return Interval(None, interval.until) if table in _LASTING else interval


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _create_view(connection: "duckdb.DuckDBPyConnection", name: str, parts: _Parts) -> None:
    # The registered rows give the columns and their types, also to files of an older vocabulary.
    today = [(column.name, _PLAIN.get(column.type, column.type)) for column in arrow_schema(TABLES[name])]
    schema = pa.schema([*today, *((OLD_NAMES[name, new], kind) for new, kind in today if (name, new) in OLD_NAMES)])
    rows = pa.Table.from_batches([_fit(batch, schema) for batch in parts.batches], schema)
    columns = ", ".join(_column(name, column) for column, _ in today)
    source = "SELECT * FROM unsealed"
    if parts.files:
        files = ", ".join("'" + str(path).replace("'", "''") + "'" for path in parts.files)
        source += f" UNION ALL BY NAME SELECT * FROM read_parquet([{files}], union_by_name = true)"  # noqa: S608
    relation = connection.from_arrow(rows).query("unsealed", f"SELECT {columns} FROM ({source})")  # noqa: S608
    cast("duckdb.DuckDBPyRelation", relation).create_view(name)  # it is one: a SELECT's; and it keeps the rows alive


def _column(table: str, column: str) -> str:
    """A column as the vocabulary of today has it."""
    if old_name := OLD_NAMES.get((table, column)):
        return f'coalesce("{column}", "{old_name}") AS "{column}"'
    words = OLD_WORDS.get((table, column))
    if not words:
        return f'"{column}"'
    cases = " ".join(f"WHEN '{old}' THEN '{new}'" for old, new in words.items())
    return f'CASE "{column}" {cases} ELSE "{column}" END AS "{column}"'


def _fit(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    known = set(batch.schema.names)
    columns = [
        batch.column(field.name).cast(field.type) if field.name in known else pa.nulls(len(batch), field.type)
        for field in schema
    ]
    return pa.record_batch(columns, schema=schema)
