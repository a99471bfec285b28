"""When the rows of a table were: timestamps, dates, numbers since 1970, texts, or seconds from the start."""

from itertools import pairwise

import pyarrow as pa

from doctord.dataset.rows import micros
from doctord.read.clock import untimed
from doctord.read.moments import ZONE_ASSUMED, placed_moment
from doctord.read.source import SourceFile

LATEST_US = 1 << 62
# Numbers since 1970 by their size: seconds, milliseconds, microseconds, nanoseconds; in microseconds.
SINCE_1970 = ((1e8, 1e11, 1e6), (1e11, 1e14, 1e3), (1e14, 1e17, 1.0), (1e17, 1e20, 1e-3))


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(plain) or pa.types.is_large_string(plain))


def moments(
    table: pa.Table, time: str, labels: list[str | None], source: SourceFile
) -> tuple[list[int | None], float | None]:
    """Microseconds since 1970 of each row, null where it names no moment, and seconds between rows of the same labels.

    Seconds that count from the start are put one run after the other, the last at the file's last change.
    """
    column = table[time]
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        at_us = _of_timestamps(column, source)
    elif is_text(column.type):
        placed = {text: placed_moment(text, source) for text in column.unique().to_pylist() if text}
        at_us = [micros(moment) if text and (moment := placed[text]) else None for text in column.to_pylist()]
    else:
        at_us = _of_numbers(column, labels, source)
    at_us = [at if at is not None and abs(at) < LATEST_US else None for at in at_us]
    return at_us, _step_s(at_us, labels)


def _of_timestamps(column: pa.ChunkedArray, source: SourceFile) -> list[int | None]:
    kind = column.type
    if pa.types.is_date(kind) or kind.tz is None:
        if source.zone is None:
            source.note(ZONE_ASSUMED)
        zone = str(source.zone or "UTC")
        import pyarrow.compute as pc  # noqa: PLC0415 - it builds its functions when imported, 20 ms

        naive = column.cast(pa.timestamp("us"), safe=False)
        column = pc.assume_timezone(naive, zone, ambiguous="earliest", nonexistent="earliest")
    return list(column.cast(pa.timestamp("us", "UTC"), safe=False).cast(pa.int64()).to_pylist())


def _of_numbers(column: pa.ChunkedArray, labels: list[str | None], source: SourceFile) -> list[int | None]:
    plain = column.cast(pa.float64(), safe=False).to_pylist()
    values = [value if value is not None and abs(value) < LATEST_US else None for value in plain]
    largest = max((value for value in values if value is not None), default=0.0)
    unit_us = next((unit for low, high, unit in SINCE_1970 if low <= largest < high), None)
    if unit_us is not None:
        return [None if value is None else round(value * unit_us) for value in values]
    return _counted(values, labels, source)


def _counted(values: list[float | None], labels: list[str | None], source: SourceFile) -> list[int | None]:
    """Seconds from the start of each run; a run begins where they fall, or the labels change."""
    offset_s, latest_s, placed_s = 0.0, -1.0, list[float | None]()
    before: tuple[float, str | None] | None = None
    for value, label in zip(values, labels, strict=True):
        if value is not None and before is not None and (value <= before[0] or label != before[1]):
            offset_s = latest_s + 1 - value
        if value is not None:
            before, latest_s = (value, label), offset_s + value
        placed_s.append(None if value is None else latest_s)
    end = untimed(source, 1)[0]
    source.note("its times count seconds from the start: runs are put one after the other")
    last_us = micros(end)
    return [None if at_s is None else last_us - round((latest_s - at_s) * 1e6) for at_s in placed_s]


def _step_s(at_us: list[int | None], labels: list[str | None]) -> float | None:
    """The usual time from one row to the next of the same labels."""
    rows = list(zip(at_us, labels, strict=True))
    steps = sorted(
        later - one
        for (one, label), (later, same) in pairwise(rows)
        if one is not None and later is not None and label == same and later > one
    )
    return steps[len(steps) // 2] / 1e6 if steps else None
