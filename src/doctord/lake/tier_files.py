"""The files of a lake's tiers, and their index: which of them hold.

```
LAKE/tiers/tiers.json                              what there is: the series, the files, the raw files that are in them
LAKE/tiers/1m/2026-11-20-1f2e3d4c.parquet          series, ts (end of the minute), count, weight, value, low, high, last
LAKE/tiers/1h/2026-11-1f2e3d4c.parquet             the same by hour, a file a month
LAKE/tiers/1h-buckets/2026-11-20-1f2e3d4c.parquet series, ts (end of the hour), bucket, count
LAKE/tiers/1d/2026-11-1f2e3d4c.parquet             the same by day, a file a month
```

New files are written beside the old ones, and hold from the moment that `tiers.json` names them: a crash leaves what
was there before. A series is a number, its place in the list of them: millions of hours are read in a second.
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import Final

import polars as pl
import pyarrow.parquet as pq

from doctord.lake.place import LakeError
from doctord.lake.summaries import WHOSE, added_buckets, added_sums

INDEX: Final = "tiers.json"
FOLDER_MODE: Final = 0o750
ZSTD_LEVEL: Final = 6
INSTANT: Final = timedelta(microseconds=1)
# Seven digits are enough, and half as long; means of hours, which late rows may join for years, keep all of theirs.
_SUMS: Final = {
    "series": pl.UInt32(),
    "ts": pl.Datetime("us"),
    "count": pl.UInt32(),
    "weight": pl.Float32(),
    "value": pl.Float64(),
    "low": pl.Float32(),
    "high": pl.Float32(),
    "last": pl.Float32(),
}
_BUCKETS: Final = {"series": pl.UInt32(), "ts": pl.Datetime("us"), "bucket": pl.Int32(), "count": pl.UInt32()}


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier.

    Attributes:
        columns: Of its files.
        period: What one file is of, as `strftime` writes it: a day or a month.
        added: Adds rows of the same step to each other.
        order: How rows are sorted.
    """

    columns: pl.Schema
    period: str
    added: Callable[[pl.DataFrame], pl.DataFrame]
    order: tuple[str, ...]


_DAY, _MONTH = "%Y-%m-%d", "%Y-%m"
_BY_STEP, _BY_BUCKET = ("series", "ts"), ("series", "ts", "bucket")
TIERS: Final = {
    "1m": Tier(pl.Schema(_SUMS | {"value": pl.Float32()}), _DAY, added_sums, _BY_STEP),
    "1h": Tier(pl.Schema(_SUMS), _MONTH, added_sums, _BY_STEP),
    "1h-buckets": Tier(pl.Schema(_BUCKETS), _DAY, added_buckets, _BY_BUCKET),
    "1d": Tier(pl.Schema(_BUCKETS), _MONTH, added_buckets, _BY_BUCKET),
}


@dataclass
class Index:
    """What `tiers.json` says.

    Attributes:
        series: Whom each series is about (`WHOSE`), by its number.
        files: Names of files by tier and period (`2026-11`, `2026-11-20`).
        taken: Names of the raw files that are in them, by the mark of a figure.
        names: Names of the figures by their marks, for people.
    """

    series: list[tuple[str | None, ...]] = field(default_factory=list)
    files: dict[str, dict[str, str]] = field(default_factory=lambda: {tier: {} for tier in TIERS})
    taken: dict[str, set[str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def numbered(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows with `series` in place of the columns of `WHOSE`; those not seen before are added to the list."""
        known = set(self.series)
        self.series += [row for row in rows.select(WHOSE).unique().sort(WHOSE).iter_rows() if row not in known]
        numbers = pl.DataFrame(self.series, dict.fromkeys(WHOSE, pl.String), orient="row").with_row_index("series")
        return rows.join(numbers, on=WHOSE, nulls_equal=True).select("series", pl.exclude("series", *WHOSE))


def folder(lake: Path) -> Path:
    """Where the tiers of a lake lie."""
    return lake / "tiers"


def read_index(lake: Path) -> Index:
    """What there is; nothing where none was made yet.

    Raises:
        LakeError: the index cannot be read.
    """
    path = folder(lake) / INDEX
    try:
        told = json.loads(path.read_bytes())
        taken = {mark: set(files) for mark, files in told["taken"].items()}
        return Index([tuple(whose) for whose in told["series"]], told["files"], taken, told["names"])
    except FileNotFoundError:
        return Index()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LakeError(
            f"{path}: {error!r}", "move it away, and what the lake still holds is summed up again"
        ) from error


def write_index(lake: Path, index: Index) -> None:
    """Say what holds, from here on."""
    document = {
        "names": index.names,
        "files": index.files,
        "taken": {mark: sorted(names) for mark, names in index.taken.items()},
        "series": index.series,
    }
    unfinished = folder(lake) / "unfinished.json"
    with unfinished.open("w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(folder(lake) / INDEX)


def read_periods(
    lake: Path, index: Index, tier: str, since: datetime, until: datetime
) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of a tier, period by period, of which some end after one moment and no later than another.

    Raises:
        LakeError: a file is damaged, or gone.
    """
    first, last = (moment.strftime(TIERS[tier].period) for moment in (since, until - INSTANT))
    for period, name in sorted(index.files[tier].items()):
        if first <= period <= last:
            yield period, read_file(folder(lake) / tier / name)


def read_file(path: Path) -> pl.DataFrame:
    """The rows of one file.

    Raises:
        LakeError: it is damaged, or gone.
    """
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        hint = "another doctord may just have renewed it: try again; else move LAKE/tiers away, to sum up again"
        raise LakeError(f"{path}: {str(error).splitlines()[0]}", hint) from error


def by_period(tier: str, rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Rows of a tier by the file that they go into: what ends at midnight is of the day before."""
    begins_in = (pl.col("ts") - INSTANT).dt.strftime(TIERS[tier].period)
    for (period,), part in rows.group_by(begins_in):
        yield str(period), part


def write_period(lake: Path, index: Index, tier: str, period: str, rows: pl.DataFrame) -> str:
    """Write the file of a period, these rows added to what it had; its name."""
    of, had = TIERS[tier], index.files[tier].get(period)
    parts = [read_file(folder(lake) / tier / had)] if had else []
    whole = of.added(pl.concat([*parts, rows])).cast(of.columns).select(*of.columns).sort(of.order)
    path = folder(lake) / tier / f"{period}-{token_hex(4)}.parquet"
    path.parent.mkdir(mode=FOLDER_MODE, exist_ok=True)
    floats = [name for name, kind in of.columns.items() if kind.is_float()]
    with path.open("wb") as file:
        pq.write_table(
            whole.to_arrow(),
            file,
            compression="zstd",
            compression_level=ZSTD_LEVEL,
            use_dictionary=[name for name in of.columns if name not in {*floats, "ts"}],
            use_byte_stream_split=floats,
        )
        os.fsync(file.fileno())
    return path.name
