"""Figures kept for years: a lake's sums by hour, and counts of buckets by day, which stay when the rows go.

```
LAKE/tiers/tiers.json                    what there is: the series, the file of each month, the raw files in it
LAKE/tiers/1h/2026-11-1f2e3d4c.parquet   series, ts (end of the hour), count, weight, value, low, high, last
LAKE/tiers/1d/2026-11-1f2e3d4c.parquet   series, ts (start of the day), bucket, count
```

Each sealed file is summed up once, and added to the months that it tells of, whenever it came: a row imported for last
year joins last year's sums. New months are written beside the old ones, and hold from the moment that `tiers.json`
names them: a crash leaves what was there before. A series is a number, its place in the list of them: millions of hours
are read in a second. Buckets are kept by day, for by hour they would take ten times the room of all other sums.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import Final

import polars as pl
import pyarrow.parquet as pq

from doctord.lake.place import LakeError, Place
from doctord.lake.query import Lake
from doctord.lake.summaries import WHOSE, Summed, added_days, added_hours, hours_and_days, mark_of

INDEX: Final = "tiers.json"
FOLDER_MODE: Final = 0o750
ZSTD_LEVEL: Final = 6
# Seven digits of the extremes are enough, and half as long; means, which are added again, keep all of theirs.
SCHEMAS: Final = {
    "1h": pl.Schema(
        {
            "series": pl.UInt32(),
            "ts": pl.Datetime("us"),
            "count": pl.UInt32(),
            "weight": pl.Float32(),
            "value": pl.Float64(),
            "low": pl.Float32(),
            "high": pl.Float32(),
            "last": pl.Float32(),
        }
    ),
    "1d": pl.Schema({"series": pl.UInt32(), "ts": pl.Datetime("us"), "bucket": pl.Int32(), "count": pl.UInt32()}),
}
ADDED: Final = {"1h": added_hours, "1d": added_days}
EMPTY: Final = {
    tier: pl.DataFrame(
        schema=dict.fromkeys(WHOSE, pl.String) | {key: kind for key, kind in columns.items() if key != "series"}
    )
    for tier, columns in SCHEMAS.items()
}


@dataclass
class Index:
    """What `tiers.json` says.

    Attributes:
        series: Whom each series is about (`WHOSE`), by its number.
        months: Files by tier and month.
        taken: Names of the raw files that are in them, by the mark of a figure.
        names: Names of the figures by their marks, for people.
    """

    series: list[tuple[str | None, ...]] = field(default_factory=list)
    months: dict[str, dict[str, str]] = field(default_factory=lambda: {tier: {} for tier in SCHEMAS})
    taken: dict[str, set[str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    @property
    def files(self) -> set[tuple[str, str]]:
        """Tier and name of each file that holds."""
        return {(tier, name) for tier, months in self.months.items() for name in months.values()}

    def numbered(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows with `series` in place of the columns of `WHOSE`; those not seen before are added to the list."""
        known = set(self.series)
        self.series += [row for row in rows.select(WHOSE).unique().sort(WHOSE).iter_rows() if row not in known]
        numbers = pl.DataFrame(self.series, dict.fromkeys(WHOSE, pl.String), orient="row").with_row_index("series")
        return rows.join(numbers, on=WHOSE, nulls_equal=True).select("series", pl.exclude("series", *WHOSE))


def read_index(lake: Path) -> Index:
    """What there is; nothing where none was made yet.

    Raises:
        LakeError: the index cannot be read.
    """
    path = folder(lake) / INDEX
    try:
        told = json.loads(path.read_bytes())
        taken = {mark: set(files) for mark, files in told["taken"].items()}
        return Index([tuple(whose) for whose in told["series"]], told["months"], taken, told["names"])
    except FileNotFoundError:
        return Index()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LakeError(f"{path}: {error}", "move it away, and what the lake still holds is summed up again") from error


def renew(lake: Lake, figures: Sequence[Summed]) -> int:
    """Add what was sealed since the last time to the tiers; how many hours of how many series were added or changed.

    Raises:
        LakeError: they cannot be written, or a figure cannot be reckoned.
    """
    with _alone(lake.path):
        index = read_index(lake.path)
        sums, files = fresh(lake, figures, index, sealed=True)
        if not any(files.values()):
            return 0
        old = index.files
        for tier, rows in sums.items():
            for month, part in _by_month(index.numbered(rows).cast(SCHEMAS[tier])):
                index.months[tier][month] = write_month(lake.path, index, tier, month, part)
        commit(lake.path, index, figures, files)
        for tier, name in old - index.files:
            (folder(lake.path) / tier / name).unlink(missing_ok=True)
    return sums["1h"].height


def fresh(
    lake: Lake, figures: Iterable[Summed], index: Index, *, sealed: bool
) -> tuple[dict[str, pl.DataFrame], dict[str, set[str]]]:
    """Sums, by tier, of what is not in the tiers yet, and the raw files that they come of, by the mark of a figure.

    With `sealed` nothing that is still written to is in it.

    Raises:
        LakeError: a figure cannot be reckoned.
    """
    alike = dict[tuple[str, frozenset[str]], list[Summed]]()
    for figure in figures:
        alike.setdefault((figure.table, frozenset(index.taken.get(mark_of(figure), ()))), []).append(figure)
    hours, days, files = [EMPTY["1h"]], [EMPTY["1d"]], dict[str, set[str]]()
    for (table, taken), group in alike.items():
        connection, names = lake.fresh(table, taken, sealed=sealed)
        with connection:
            for figure in group:
                of_hours, of_days = hours_and_days(connection, figure)
                hours.append(of_hours)
                days.append(of_days)
                files[mark_of(figure)] = names
    return {"1h": pl.concat(hours, how="diagonal_relaxed"), "1d": pl.concat(days, how="diagonal_relaxed")}, files


def read_months(
    lake: Path, index: Index, tier: str, since: datetime, until: datetime
) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of a tier, month by month (`2026-11`), of which some lie between two moments.

    Raises:
        LakeError: a file is damaged, or gone.
    """
    for month, name in sorted(index.months[tier].items()):
        if f"{since:%Y-%m}" <= month <= f"{until:%Y-%m}":
            yield month, _read(folder(lake) / tier / name)


def folder(lake: Path) -> Path:
    """Where the tiers of a lake lie."""
    return lake / "tiers"


def _read(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        hint = "another doctord may just have renewed it: try again; else move LAKE/tiers away, to sum up again"
        raise LakeError(f"{path}: {str(error).splitlines()[0]}", hint) from error


def _by_month(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for (month,), part in rows.group_by(pl.col("ts").dt.strftime("%Y-%m")):
        yield str(month), part


def write_month(lake: Path, index: Index, tier: str, month: str, rows: pl.DataFrame) -> str:
    """Write a month with these rows added to what it had; the name of its file."""
    had = index.months[tier].get(month)
    parts = [_read(folder(lake) / tier / had)] if had else []
    whole = ADDED[tier](pl.concat([*parts, rows])).cast(SCHEMAS[tier]).select(*SCHEMAS[tier])
    path = folder(lake) / tier / f"{month}-{token_hex(4)}.parquet"
    path.parent.mkdir(mode=FOLDER_MODE, exist_ok=True)
    floats = [name for name, kind in SCHEMAS[tier].items() if kind.is_float()]
    with path.open("wb") as file:
        pq.write_table(
            whole.sort("series", "ts", *(["bucket"] if tier == "1d" else [])).to_arrow(),
            file,
            compression="zstd",
            compression_level=ZSTD_LEVEL,
            use_dictionary=[name for name in SCHEMAS[tier] if name not in {*floats, "ts"}],
            use_byte_stream_split=floats,
        )
        os.fsync(file.fileno())
    return path.name


def commit(lake: Path, index: Index, figures: Iterable[Summed], files: Mapping[str, set[str]]) -> None:
    """Say in the index what the months hold now: they hold from here on."""
    there = {path.stem for path in Place(lake).parquet()}
    index.names |= {mark_of(figure): figure.name for figure in figures}
    for mark, names in files.items():
        index.taken[mark] = index.taken.get(mark, set()) | names
    document = {
        "names": index.names,
        "months": index.months,
        # Of what retention took since nothing need be known: it does not come again.
        "taken": {mark: sorted(names & there) for mark, names in index.taken.items()},
        "series": index.series,
    }
    unfinished = folder(lake) / "unfinished.json"
    with unfinished.open("w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(folder(lake) / INDEX)


@contextmanager
def _alone(lake: Path) -> Iterator[None]:
    """One at a time: two that add the same file would count it twice."""
    try:
        folder(lake).mkdir(mode=FOLDER_MODE, exist_ok=True)
        lock = os.open(folder(lake) / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
    except OSError as error:
        raise LakeError(f"{folder(lake)}: {error.strerror}", "let who may write to the lake run this") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    except OSError as error:
        raise LakeError(f"{folder(lake)}: {error.strerror}", "make room; what was there before is whole") from error
    finally:
        os.close(lock)
