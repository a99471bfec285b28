"""Where the figures stand in the sections of InnoDB's monitor, and what the global status calls them."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from doctord.regex import regex


class Figure(NamedTuple):
    """A figure: its unit, whether it is a mean per second, and whether the global status has it by this name."""

    value: float
    unit: str = "count"
    is_rate: bool = False
    is_status: bool = True


class Line(NamedTuple):
    """A line with figures: its shape, and what its groups are."""

    shape: re.Pattern[str]
    names: tuple[str, ...]
    is_rate: bool = False
    is_status: bool = True
    unit: str = "count"

    def of(self, line: str) -> dict[str, Figure]:
        """The figures of a line; none where it has another shape."""
        found = self.shape.search(line)
        if found is None:
            return {}
        values = (_sum(text) for text in found.groups())
        return {
            name: Figure(value, self.unit, self.is_rate, self.is_status)
            for name, value in zip(self.names, values, strict=True)
            if value is not None
        }

    def first(self, lines: Iterable[str]) -> dict[str, Figure]:
        """The figures of the first line of this shape; none where there is no such line."""
        return next(filter(None, map(self.of, lines)), {})


_N = r"([\d.]+)"
_LIST = r"(\d+(?: \[[\d, ]*\])?|\[[\d, ]*\])"  # in all, and by thread; MySQL 8 leaves the former out


def _sum(text: str | None) -> float | None:
    """The figure in a text, or the sum of those in brackets."""
    first = re.match(r"[\d.]+", text or "")
    if first:
        return float(first[0]) if first[0].count(".") < 2 else None
    return sum(map(float, re.findall(r"\d+", text))) if text else None


def _rates(prefix: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{prefix}{name}" for name in names)


def _shape(text: str) -> re.Pattern[str]:
    """A line's shape. Colons and slashes may be missing: not every page that a status was pasted into keeps them."""
    return regex(re.sub(r"(?<!\()(?<!\(\?)([:/])(?!\?)", r"\1?", text))


# In the order in which they count: the first line of a shape is that of all users and of the whole buffer pool.
FIGURES: Final[dict[str, tuple[Line, ...]]] = {
    "TRANSACTIONS": (Line(_shape(r"^History list length (\d+)"), ("innodb_history_list_length",)),),
    "FILE I/O": (
        Line(_shape(rf"^{_N} reads/s, [\d.]+ avg bytes/read, {_N} writes/s, {_N} fsyncs/s"),
             _rates("innodb_data_", "reads", "writes", "fsyncs"), is_rate=True),
        Line(_shape(rf"^Pending normal aio reads: ?{_LIST}"), ("innodb_data_pending_reads",)),
        Line(_shape(rf"aio writes: ?{_LIST}"), ("innodb_data_pending_writes",)),
        Line(_shape(r"^Pending flushes \(fsync\) log: (\d+)"), ("innodb_os_log_pending_fsyncs",)),
        Line(_shape(r"^Pending flushes \(fsync\).*buffer pool: (\d+)"), ("innodb_data_pending_fsyncs",)),
    ),
    "LOG": (
        Line(_shape(r"^(\d+) pending log (?:writes|flushes)"), ("innodb_os_log_pending_writes",)),
        Line(_shape(r"^Max checkpoint age\s+(\d+)"), ("innodb_checkpoint_max_age",)),
    ),
    "ROW OPERATIONS": (
        Line(_shape(r"^(\d+) queries inside InnoDB, (\d+) queries in queue"),
             ("queries_inside", "queries_queued"), is_status=False),
        Line(_shape(rf"^{_N} inserts/s, {_N} updates/s, {_N} deletes/s, {_N} reads/s"),
             _rates("innodb_rows_", "inserted", "updated", "deleted", "read"), is_rate=True),
    ),
}  # fmt: skip
_POOL: Final = (
    Line(_shape(r"^Buffer pool size +(\d+)"), ("innodb_buffer_pool_pages_total",)),
    Line(_shape(r"^Free buffers +(\d+)"), ("innodb_buffer_pool_pages_free",)),
    Line(_shape(r"^Database pages +(\d+)"), ("innodb_buffer_pool_pages_data",)),
    Line(_shape(r"^Modified db pages +(\d+)"), ("innodb_buffer_pool_pages_dirty",)),
    Line(_shape(rf"^{_N} reads/s, {_N} creates/s, {_N} writes/s"),
         _rates("innodb_pages_", "read", "created", "written"), is_rate=True),
)  # fmt: skip
_HIT: Final = _shape(r"^Buffer pool hit rate (\d+) +/ *(\d+)")


def pool_of(lines: Iterable[str]) -> dict[str, Figure]:
    """The figures of the buffer pool, and how many of its pages were found in it (0 to 1)."""
    kept = list(lines)
    read = {name: figure for one in _POOL for name, figure in one.first(kept).items()}
    hit = next((found for line in kept if (found := _HIT.match(line))), None)
    if hit and int(hit[2]):
        read["buffer_pool_hit_rate"] = Figure(int(hit[1]) / int(hit[2]), "of 1", is_status=False)
    return read
