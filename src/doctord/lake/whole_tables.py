"""Tables as Polars reads them from sealed files: in a third of the time that SQL takes to hand millions of rows on.

For tables that are wanted whole and have the columns of today. Files of before, and conditions, are for DuckDB
(`doctord.lake.query`), and so is what cannot be read like this: it finds out which file it is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import polars as pl
import pyarrow as pa
from polars.selectors import datetime as datetimes

from doctord.dataset.arrow import polars_frame
from doctord.dataset.dataset import arrow_schema
from doctord.dataset.tables import OLD_WORDS, PLAN_HOLDS_S, TABLES


def rows_between(
    table: str, files: Sequence[Path], unsealed: Sequence[pa.RecordBatch], since: datetime, until: datetime
) -> pl.DataFrame | None:
    """The rows whose interval ended after `since` and no later than `until`; of what lasts, what held in that time.

    Args:
        table: Whose rows.
        files: Sealed files of it, oldest first.
        unsealed: Rows that are in none of them; they come first.
        since: The first moment that does not count.
        until: The last one that counts.

    Returns:
        The rows, with the columns of today; null where these are not all there, or a file cannot be read.
    """
    try:
        rows = _read(table, files, unsealed)
    except (pl.exceptions.PolarsError, pa.ArrowException, OSError):
        return None
    if rows is None:
        return None
    rows = _LASTING.get(table, _inside)(rows, since, until).with_columns(_in_words_of_today(table))
    # In one piece: how sums are rounded is then no matter of how many files there are. A column at a time: memory holds
    # one of them twice, not all.
    return pl.DataFrame([rows.drop_in_place(name).rechunk() for name in rows.columns])


def _read(table: str, files: Sequence[Path], unsealed: Sequence[pa.RecordBatch]) -> pl.DataFrame | None:
    """All rows, the unsealed ones first; null where a part of them has not the columns of today."""
    schema = pl.Schema(arrow_schema(TABLES[table]))
    read = [*_unsealed(unsealed), *([pl.read_parquet(list(files))] if files else [])]
    parts = [part.with_columns(datetimes().dt.replace_time_zone("UTC")) for part in read]
    return pl.concat(parts) if all(part.schema == schema for part in parts) else None


def _inside(rows: pl.DataFrame, since: datetime, until: datetime) -> pl.DataFrame:
    return rows.filter((pl.col("ts") > since) & (pl.col("ts") <= until))


def _settings(rows: pl.DataFrame, since: datetime, until: datetime) -> pl.DataFrame:
    """Recorded when a recorder starts and when they change: the last word before an interval holds in it."""
    name = ["host", "component", "db", "instance", "name"]
    inside = _inside(rows, since, until)
    before = rows.filter(pl.col("ts") <= since).sort("ts", "line", maintain_order=True)
    last = before.unique(name, keep="last", maintain_order=True)
    held = last.join(inside, on=name, how="anti", nulls_equal=True, maintain_order="left")
    return pl.concat([held, inside]).sort("ts", *name, "line", nulls_last=True, maintain_order=True)


def _events(rows: pl.DataFrame, since: datetime, until: datetime) -> pl.DataFrame:
    """What could not be seen is told once by each recorder, and holds until the next one starts."""
    rows = rows.filter(pl.col("ts") <= until)
    began = rows.filter(pl.col("kind") == "recording")["ts"].max()
    is_told = pl.col("kind") == "not measured"
    return rows.filter((pl.col("ts") > since) | (is_told if began is None else is_told & (pl.col("ts") >= began)))


def _plans(rows: pl.DataFrame, since: datetime, until: datetime) -> pl.DataFrame:
    """Recorded once an hour, as long as their statements take much of the time."""
    return _inside(rows, since - timedelta(seconds=PLAN_HOLDS_S), until)


_LASTING: Final[Mapping[str, Callable[[pl.DataFrame, datetime, datetime], pl.DataFrame]]] = {
    "setting": _settings,
    "event": _events,
    "plan": _plans,
}


def _unsealed(batches: Sequence[pa.RecordBatch]) -> Iterator[pl.DataFrame]:
    if batches:
        yield polars_frame(pa.Table.from_batches(batches))


def _in_words_of_today(table: str) -> list[pl.Expr]:
    return [pl.col(column).replace(words) for (of, column), words in OLD_WORDS.items() if of == table]
