"""Rows to put into a lake, and how to get them out again."""

from pathlib import Path

from doctord._native import Batch
from doctord.dataset.rows import now_us, rows
from doctord.lake.query import Lake


def statistic(*values: float, ts: int | None = None) -> Batch:
    """Rows of `statistic` that differ in their value."""
    moment = now_us() if ts is None else ts
    return rows("statistic", [{"ts": moment, "host": "h", "name": "n", "value": value} for value in values])


def values(lake: Lake | Path) -> list[float]:
    """Sorted values of every row of `statistic`."""
    lake = lake if isinstance(lake, Lake) else Lake(lake)
    with lake.connect(["statistic"]) as connection:
        return [value for (value,) in connection.execute("SELECT value FROM statistic ORDER BY value").fetchall()]


def segments(path: Path) -> list[Path]:
    """Segments that are not sealed."""
    return sorted(path.glob("open/*"))
