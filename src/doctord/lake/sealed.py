"""Sealed files: which of them hold rows of an interval, and what of them can be believed.

Every file that this doctord writes has checksums and the times of its rows at its end (native/src/lake/checks.rs).
Files of before have neither: of them only what Parquet itself shows is known, and they are looked for by day.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from doctord._native import damaged_row_groups, read_checks
from doctord.dataset.dataset import arrow_schema
from doctord.dataset.rows import micros
from doctord.dataset.tables import TABLES

A_DAY: Final = timedelta(days=1)  # a file of before is named by a clock that may have been set since


@dataclass(frozen=True)
class Interval:
    """After `since` and no later than `until`; null for without an end."""

    since: datetime | None = None
    until: datetime | None = None

    def may_hold(self, day: str) -> bool:
        """Whether rows of it may be in a folder of this name."""
        first, last = (_day(self.since, -A_DAY), _day(self.until, A_DAY))
        return (first is None or day >= first) and (last is None or day <= last)

    def meets(self, span_us: tuple[int, int] | None) -> bool:
        """Whether a file whose first and last row are of these moments has rows of it; true where that is unknown."""
        if span_us is None:
            return True
        is_late = self.until is not None and span_us[0] > micros(self.until)
        is_early = self.since is not None and span_us[1] <= micros(self.since)
        return not (is_late or is_early)


def _day(moment: datetime | None, slack: timedelta) -> str | None:
    return date.isoformat(moment.astimezone(UTC).date() + slack) if moment else None


@dataclass(frozen=True)
class Sound:
    """What of a file can be believed.

    Attributes:
        is_whole: All of it.
        is_checked: It has checksums, and these say so.
        batches: Where not all of it, the rows of its sound row groups.
        problems: What cannot.
        span_us: Moments of its first and last row, in microseconds; null where it does not tell.
    """

    is_whole: bool = False
    is_checked: bool = False
    batches: tuple[pa.RecordBatch, ...] = ()
    problems: tuple[str, ...] = ()
    span_us: tuple[int, int] | None = None


def examined(path: Path, table: str, interval: Interval, *, rows: bool = True) -> Sound | None:
    """What of a file can be believed; null when it holds nothing of an interval, or was deleted just now.

    Args:
        path: The file.
        table: Whose rows it holds.
        interval: The rows that are wanted.
        rows: Whether the rows are to be held against their checksums too; else only what tells where they are.
    """
    try:
        checks = read_checks(path)
        if checks is None:
            return _unchecked(path, table)
        if not interval.meets(checks[0]):
            return None
        damaged = damaged_row_groups(path) if rows else []
        if not damaged:
            return Sound(is_whole=True, is_checked=True, span_us=checks[0])
        return _salvaged(path, checks[1], damaged)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return Sound(problems=(f"{_text(error)}; skipped",))


def _unchecked(path: Path, table: str) -> Sound:
    """A file of before, or somebody else's: its columns must be those of the table."""
    try:
        found = pq.read_schema(path)
    except pa.ArrowException as error:
        return Sound(problems=(f"damaged; skipped ({_text(error)})",))
    wrong = list(_misfits(found, arrow_schema(TABLES[table])))
    if wrong:
        return Sound(problems=(f"not a file of the table {table}: {', '.join(wrong)}; skipped",))
    return Sound(is_whole=True)


def _misfits(found: pa.Schema, wanted: pa.Schema) -> Iterator[str]:
    if "ts" not in found.names:
        yield "it has no column ts"
    for field in found:
        if field.name in wanted.names:
            kind = wanted.field(field.name).type
            if _family(field.type) != _family(kind):
                yield f"its column {field.name} is {field.type}, not {kind}"


def _family(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        return "time"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "number"
    return "text" if pa.types.is_string(kind) or pa.types.is_large_string(kind) else str(kind)


def _salvaged(path: Path, rows: list[int], damaged: list[int]) -> Sound:
    """The rows of the row groups that are as they were written."""
    lost = sum(rows[number] for number in damaged)
    told = f"{lost} of {sum(rows)} rows are damaged (row group {', '.join(map(str, damaged))}); skipped"
    sound = [number for number in range(len(rows)) if number not in damaged]
    with pq.ParquetFile(path) as file:
        batches = file.read_row_groups(sound).to_batches() if sound else []
    return Sound(batches=tuple(batches), problems=(told,))


def readable(path: Path) -> str | None:
    """What keeps a file without checksums from being read to its end; null when nothing does, or when it is gone."""
    try:
        with pq.ParquetFile(path) as file:
            for _ in file.iter_batches():
                pass
    except FileNotFoundError:
        return None
    except (OSError, pa.ArrowException) as error:
        return _text(error)
    return None


def _text(error: Exception) -> str:
    return getattr(error, "strerror", None) or (str(error).splitlines() or [type(error).__name__])[0]
