"""The files of a lake's rollups, and their index: which of them hold.

```
LAKE/rollups/rollups.json                            what there is: the series, the files, the raw files in them
LAKE/rollups/1m/2026-11-20-1f2e3d4c.parquet          series, ts (end of the minute), count, weight, value, ...
LAKE/rollups/1h/2026-11-1f2e3d4c.parquet             the same by hour, a file a month
LAKE/rollups/1h-buckets/2026-11-20-1f2e3d4c.parquet  series, ts (end of the hour), bucket, count
LAKE/rollups/1d/2026-11-1f2e3d4c.parquet             the same by day, a file a month
```

New files are written beside the old ones, and hold from the moment that `rollups.json` names them: a crash leaves what
was there before. A series is a number, its place in the list of them: millions of hours are read in a second.
"""

import json
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

import polars as pl

from doctord._native import damaged_row_groups, read_checks
from doctord.lake.parquet_file import write_checked
from doctord.lake.place import FOLDER_MODE, LakeError, LakePaths, sync_folder
from doctord.lake.sealed import readable
from doctord.lake.summaries import LABELS, added_buckets, added_sums
from doctord.regex import regex

log = logging.getLogger(__name__)

_NAME: Final = regex(r"[0-9]{4}-[0-9]{2}(-[0-9]{2})?-[0-9a-f]{8}\.parquet")
_REPAIR: Final = "doctord repair sets it aside; its sums are then missing for good"
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
class Rollup:
    """One rollup.

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
ROLLUPS: Final = {
    "1m": Rollup(pl.Schema(_SUMS | {"value": pl.Float32()}), _DAY, added_sums, _BY_STEP),
    "1h": Rollup(pl.Schema(_SUMS), _MONTH, added_sums, _BY_STEP),
    "1h-buckets": Rollup(pl.Schema(_BUCKETS), _DAY, added_buckets, _BY_BUCKET),
    "1d": Rollup(pl.Schema(_BUCKETS), _MONTH, added_buckets, _BY_BUCKET),
}


@dataclass
class Index:
    """What `rollups.json` says.

    Attributes:
        series: Whom each series is about (`LABELS`), by its number.
        files: Names of files by rollup and period (`2026-11`, `2026-11-20`).
        taken: Names of the raw files that are in them, by the mark of a figure.
        names: Names of the figures by their marks, for people.
        sound: Whether a file is as it was written, by its name, as far as that was looked at.
    """

    series: list[tuple[str | None, ...]] = field(default_factory=list)
    files: dict[str, dict[str, str]] = field(default_factory=lambda: {rollup: {} for rollup in ROLLUPS})
    taken: dict[str, set[str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    sound: dict[str, bool] = field(default_factory=dict)

    def numbered(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows with `series` in place of the columns of `LABELS`; those not seen before are added to the list."""
        known = set(self.series)
        self.series += [row for row in rows.select(LABELS).unique().sort(LABELS).iter_rows() if row not in known]
        numbers = pl.DataFrame(self.series, dict.fromkeys(LABELS, pl.String), orient="row").with_row_index("series")
        return rows.join(numbers, on=LABELS, nulls_equal=True).select("series", pl.exclude("series", *LABELS))


def folder(lake: Path) -> Path:
    """Where the rollups of a lake lie; `tiers` in a lake that was begun when they were called so."""
    old, new = lake / "tiers", lake / "rollups"
    return old if old.is_dir() and not new.exists() else new


def index_file(lake: Path) -> Path:
    """The index: a JSON file that names the files of rollups that hold."""
    return folder(lake) / f"{folder(lake).name}.json"


def read_index(lake: Path) -> Index:
    """What there is; nothing where none was made yet.

    Raises:
        LakeError: the index cannot be read, or is none.
    """
    path = index_file(lake)
    try:
        return _index(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return Index()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "doctord repair sets the sums aside; what rows the lake still holds are then summed up again"
        raise LakeError(f"{path}: damaged, the sums by minute and hour cannot be used ({error!r})", hint) from error


def _index(told: dict[str, Any]) -> Index:
    """The index of a JSON document; a ValueError, KeyError or TypeError when it is none."""
    series = [tuple(each) for each in told["series"]]
    files = {rollup: dict(told["files"][rollup]) for rollup in ROLLUPS}
    taken = {fingerprint: set(names) for fingerprint, names in told["taken"].items()}
    names = [name for part in files.values() for name in part.values()]
    texts = [*names, *told["names"].values(), *(name for part in taken.values() for name in part)]
    if not all(isinstance(text, str) for text in texts) or not all(map(_NAME.fullmatch, names)):
        raise ValueError("a name is none")
    if not all(
        len(labels) == len(LABELS) and all(isinstance(text, str | None) for text in labels) for labels in series
    ):
        raise ValueError("a series is none")
    return Index(series, files, taken, dict(told["names"]))


def write_index(lake: Path, index: Index) -> None:
    """Replace the index, so that from here on its files hold and no others; synced."""
    document = {
        "names": index.names,
        "files": index.files,
        "taken": {fingerprint: sorted(names) for fingerprint, names in index.taken.items()},
        "series": index.series,
    }
    unfinished = folder(lake) / "unfinished.json"
    with unfinished.open("w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(index_file(lake))
    sync_folder(folder(lake))


def read_periods(
    lake: Path, index: Index, rollup: str, since: datetime, until: datetime
) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of a rollup, period by period, of which some end after one moment and no later than another.

    What is damaged is left out, and that is said once.

    Raises:
        LakeError: a file is gone.
    """
    first, last = (moment.strftime(ROLLUPS[rollup].period) for moment in (since, until - INSTANT))
    for period, name in sorted(index.files[rollup].items()):
        if first <= period <= last and _is_sound(folder(lake) / rollup / name, index):
            yield period, _read_file(folder(lake) / rollup / name)


def _is_sound(path: Path, index: Index) -> bool:
    if path.name not in index.sound:
        damage = damage_of(path)
        index.sound[path.name] = damage is None
        if damage:
            log.warning("%s: damaged (%s); skipped\nhint: %s", path, damage, _REPAIR)
    return index.sound[path.name]


def damage_of(path: Path) -> str | None:
    """What is damaged in a file of sums; null when nothing is, or when it is gone."""
    try:
        if read_checks(path) is None:
            return readable(path)
        return "its sums are not what was written" if damaged_row_groups(path) else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return str(error)


def _read_file(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        hint = "another doctord may just have renewed it: try again"
        raise LakeError(f"{path}: {str(error).splitlines()[0]}", hint) from error


def by_period(rollup: str, rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Rows of a rollup by the file that they go into: what ends at midnight is of the day before."""
    begins_in = (pl.col("ts") - INSTANT).dt.strftime(ROLLUPS[rollup].period)
    for (period,), part in rows.group_by(begins_in):
        yield str(period), part


def write_period(lake: Path, index: Index, rollup: str, period: str, rows: pl.DataFrame) -> str:
    """Write the file of a period, these rows added to what it had; its name. A damaged one is set aside."""
    of, had = ROLLUPS[rollup], index.files[rollup].get(period)
    parts = [rows]
    if had and not (folder(lake) / rollup / had).exists():  # set aside before a crash: nobody else writes here now
        log.warning("%s: gone: the sums of %s before now are missing", had, period)
    elif had and (damage := damage_of(folder(lake) / rollup / had)):
        kept = LakePaths(lake).set_aside(folder(lake) / rollup / had)
        log.warning("%s: damaged (%s): the sums of %s before now are missing; kept as %s", had, damage, period, kept)
    elif had:
        parts.insert(0, _read_file(folder(lake) / rollup / had))
    whole = of.added(pl.concat(parts)).cast(of.columns).select(*of.columns).sort(of.order)
    path = folder(lake) / rollup / f"{period}-{token_hex(4)}.parquet"
    path.parent.mkdir(mode=FOLDER_MODE, exist_ok=True)
    floats = [name for name, kind in of.columns.items() if kind.is_float()]
    write_checked(
        path,
        whole.to_arrow(),
        use_dictionary=[name for name in of.columns if name not in {*floats, "ts"}],
        use_byte_stream_split=floats,
    )
    return path.name
