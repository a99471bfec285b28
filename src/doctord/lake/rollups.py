"""Figures kept when the rows go: sums by minute for months, by hour for years, and counts in buckets beside them.

Each sealed file is summed up once, and added to the days and months that it tells of, whenever it came: a row imported
for last year joins last year's sums. Buckets of a day are a tenth of those of its hours: these go with the minutes.
"""

import fcntl
import logging
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

import polars as pl

from doctord.dataset.figure import Figure
from doctord.dataset.tables import LASTING
from doctord.lake.place import FOLDER_MODE, LakeError, LakePaths
from doctord.lake.query import Lake
from doctord.lake.rollup_files import (
    ROLLUPS,
    Index,
    by_period,
    folder,
    index_file,
    read_index,
    write_index,
    write_period,
)
from doctord.lake.summaries import (
    LABELS,
    added_buckets,
    added_sums,
    ending,
    fingerprint_of,
    minutes_and_buckets,
)

log = logging.getLogger(__name__)

FOR_MONTHS: Final = ("1m", "1h-buckets")
PORTION_BYTES: Final = 32 << 20  # of raw files that are summed up at once: weeks of them would not fit into memory
_EMPTY: Final = {
    rollup: pl.DataFrame(
        schema=dict.fromkeys(LABELS, pl.String) | {key: kind for key, kind in of.columns.items() if key != "series"}
    )
    for rollup, of in ROLLUPS.items()
}


def renew(lake: Lake, figures: Sequence[Figure]) -> int:
    """Add what was sealed since the last time to the rollups; how many hours of how many series were added or changed.

    Raises:
        LakeError: they cannot be written, or a figure cannot be reckoned.
    """
    with _alone(lake.path):
        index = _sound_index(lake.path)
        return sum(_added(lake, figures, index, names) for names in _portions(lake.path, figures, index))


def _sound_index(lake: Path) -> Index:
    """The index; where it is damaged or gone an empty one, and the sums are set aside: none is deleted for that."""
    try:
        index, reason = read_index(lake), "its index is gone"
    except LakeError as error:
        index, reason = Index(), str(error)
    kept = [path for rollup in ROLLUPS for path in (folder(lake) / rollup).glob("*.parquet")]
    if kept and not any(index.files.values()):
        for path in (*kept, index_file(lake)):
            if path.exists():
                LakePaths(lake).set_aside(path)
        log.warning("%s: %d files of sums set aside: %s", folder(lake), len(kept), reason)
    return index


def _added(lake: Lake, figures: Sequence[Figure], index: Index, names: Collection[str]) -> int:
    """Add the raw files of these names; how many hours of how many series were added or changed."""
    sums, files = fresh(lake, figures, index, sealed=True, only=names)
    if not any(files.values()):
        return 0
    for rollup, rows in sums.items():
        for period, part in by_period(rollup, index.numbered(rows).cast(ROLLUPS[rollup].columns)):
            index.files[rollup][period] = write_period(lake.path, index, rollup, period, part)
    _take(lake.path, index, figures, files)
    _hold(lake.path, index)
    return sums["1h"].height


def _portions(lake: Path, figures: Iterable[Figure], index: Index) -> Iterator[set[str]]:
    """Names of raw files that are to be summed up, oldest first, no more at once than memory is to hold."""
    taken = dict[str, set[str]]()
    for figure in figures:
        own = index.taken.get(fingerprint_of(figure), set())
        taken[figure.table] = taken.get(figure.table, own) & own
    portion, size = set[str](), 0
    for path in LakePaths(lake).parquet():
        table = path.parts[-3]
        if table not in taken or path.stem in taken[table] or not path.exists():
            continue
        if size >= PORTION_BYTES and path.stem not in portion:
            yield portion
            portion, size = set(), 0
        portion.add(path.stem)
        size += path.stat().st_size
    if portion:
        yield portion


def expire(lake: Path, keep: timedelta) -> None:
    """Delete the minutes, and the buckets of hours, of days that are older and of which no rows are left.

    Raises:
        LakeError: the rollups cannot be written.
    """
    with _alone(lake):
        index, oldest = read_index(lake), (datetime.now(UTC) - keep).date()
        held = _days_of_rows(lake)
        for rollup in FOR_MONTHS:
            index.files[rollup] = {
                day: name
                for day, name in index.files[rollup].items()
                if date.fromisoformat(day) >= oldest or day in held
            }
        _hold(lake, index)


def fresh(
    lake: Lake,
    figures: Iterable[Figure],
    index: Index,
    *,
    sealed: bool,
    between: tuple[datetime, datetime] | None = None,
    only: Collection[str] | None = None,
) -> tuple[dict[str, pl.DataFrame], dict[str, set[str]]]:
    """Sums, by rollup, of what is not in the rollups yet, and the raw files that they come of, by the mark of a figure.

    With `sealed` nothing that is still written to is in it; with `between`, files of other days are not looked at,
    with `only`, those of other names.

    Raises:
        LakeError: a figure cannot be reckoned.
    """
    alike = dict[tuple[str, frozenset[str]], list[Figure]]()
    for fingerprint, figure in {
        fingerprint_of(figure): figure for figure in figures
    }.items():  # two may be made of the same
        alike.setdefault((figure.table, frozenset(index.taken.get(fingerprint, ()))), []).append(figure)
    parts = {rollup: [empty] for rollup, empty in _EMPTY.items()}
    files = dict[str, set[str]]()
    for (table, taken), group in alike.items():
        connection, names = lake.fresh(table, taken, sealed=sealed, between=between, only=only)
        with connection:
            is_any = connection.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone()  # noqa: S608 - a table's name
            for figure in group if is_any else ():
                for rollup, rows in _summed(*minutes_and_buckets(connection, figure)).items():
                    parts[rollup].append(rows)
            files |= {fingerprint_of(figure): names for figure in group}
    return {rollup: pl.concat(rows, how="diagonal_relaxed") for rollup, rows in parts.items()}, files


def _summed(minutes: pl.DataFrame, buckets: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """What goes into each rollup."""
    return {
        "1m": minutes,
        "1h": added_sums(minutes.sort("ts").with_columns(ending("1h")), LABELS),
        "1h-buckets": buckets,
        "1d": added_buckets(buckets.with_columns(ending("1d")), LABELS),
    }


def _take(lake: Path, index: Index, figures: Iterable[Figure], files: dict[str, set[str]]) -> None:
    """Note which raw files are in the rollups; of what retention took since nothing need be known, as it is gone."""
    there = {path.stem for path in LakePaths(lake).parquet()}
    index.names |= {fingerprint_of(figure): figure.name for figure in figures}
    for fingerprint, names in files.items():
        index.taken[fingerprint] = index.taken.get(fingerprint, set()) | names
    index.taken = {fingerprint: names & there for fingerprint, names in index.taken.items()}


def _hold(lake: Path, index: Index) -> None:
    """Have an index hold, and delete the files that it does not name: those of before, and what a crash left."""
    write_index(lake, index)
    for rollup in ROLLUPS:
        names = set(index.files[rollup].values())
        for path in (folder(lake) / rollup).glob("*.parquet"):
            if path.name not in names:
                path.unlink(missing_ok=True)


def _days_of_rows(lake: Path) -> set[str]:
    return {path.name for path in LakePaths(lake).sealed.glob("*/*/") if path.parent.name not in LASTING}


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
