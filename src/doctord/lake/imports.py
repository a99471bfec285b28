"""Rows of files into a lake, by the day that they tell of; what is there already is not doubled."""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import polars as pl
import pyarrow as pa

from doctord.dataset.arrow import polars_frame
from doctord.dataset.dataset import arrow_schema
from doctord.dataset.repeats import without_repeats
from doctord.dataset.tables import TABLES
from doctord.lake.parquet_file import write_checked
from doctord.lake.place import FOLDER_MODE, LakeError, LakePaths, new_name
from doctord.lake.query import Lake


def keep(lake: Path, tables: Mapping[str, pa.Table]) -> dict[str, int]:
    """Keep rows in a lake, which is made if need be, also while a recorder writes to it; how many were new, by table.

    Args:
        lake: Its path.
        tables: Rows by table; those that the lake tells already are left out.

    Raises:
        LakeError: it cannot be written to.
    """
    place, kept = LakePaths(lake), dict[str, int]()
    with _alone(place):
        for name, rows in tables.items():
            for day, part in _days(polars_frame(rows)):
                fresh = without_repeats(name, [_there(lake, name, day), part])[1]
                if fresh.height:
                    _write(place, name, day, fresh)
                kept[name] = kept.get(name, 0) + fresh.height
    return kept


def _days(frame: pl.DataFrame) -> Iterator[tuple[date, pl.DataFrame]]:
    for (day,), part in frame.group_by(pl.col("ts").dt.date(), maintain_order=True):
        assert isinstance(day, date)  # noqa: S101 - every row has a ts
        yield day, part


def _there(lake: Path, table: str, day: date) -> pl.DataFrame:
    begin = datetime(day.year, day.month, day.day, tzinfo=UTC)
    # A dataset begins after its first moment.
    dataset = Lake(lake).dataset(begin - timedelta(microseconds=1), begin + timedelta(days=1), {table: "true"})
    return dataset.frame(table)


def _write(place: LakePaths, table: str, day: date, rows: pl.DataFrame) -> None:
    """A file as the sealer writes it: sorted by what rows are about, times in UTC without saying so."""
    schema = arrow_schema(TABLES[table])
    zoneless = [pa.timestamp("us") if pa.types.is_timestamp(kind) else kind for kind in schema.types]
    ordered = rows.sort([*TABLES[table].entity, "ts"]).to_arrow().cast(schema)
    ordered = ordered.cast(pa.schema(list(zip(schema.names, zoneless, strict=True))))
    begun = rows["ts"].min()
    assert isinstance(begun, datetime)  # noqa: S101 - every row has a ts
    folder = place.sealed / table / day.isoformat()
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        write_checked(folder / f"{new_name(begun)}.parquet", ordered)
    except OSError as error:
        raise LakeError(
            f"{place.root}: {error.strerror}", "what was kept so far is whole; the same command again adds the rest"
        ) from error


@contextmanager
def _alone(place: LakePaths) -> Iterator[None]:
    """One import at a time: two that ask what is there, and then write it, would double it."""
    try:
        place.sealed.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        lock = os.open(place.root / "import.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    except OSError as error:
        raise LakeError(
            f"{place.root}: no lake to write to: {error.strerror}",
            "name a folder that you may write to with --lake or DOCTORD_LAKE",
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
