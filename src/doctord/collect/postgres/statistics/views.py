"""The cumulative statistics views of the whole server, every number in them as a rate.

A view is read whole (`SELECT *`) and every number in it becomes a rate under the view's and the column's own name, so
that a new version's columns come by themselves. What a version moved to another view is given under the newest name
too, so that a cause needs to know one name only.
"""

import time
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.rates import Cadence, Counters
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures

Key = tuple[str | None, str]
"""Entity and name of a figure."""


@dataclass(frozen=True, slots=True)
class View:
    """A view: the versions that have it, what its rows are about, which columns are no counters.

    `sparse` views have a row for everything that could happen: what never did is left out.
    """

    name: str
    since: int = 13
    entity: tuple[str, ...] = ()
    gauges: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    sparse: bool = False


VIEWS: Final = (
    View("pg_stat_database", entity=("datname",), gauges=frozenset({"numbackends"}), keys=frozenset({"datid"})),
    View("pg_stat_database_conflicts", entity=("datname",), keys=frozenset({"datid"}), sparse=True),
    View("pg_stat_bgwriter"),
    View("pg_stat_checkpointer", since=17),
    View("pg_stat_wal", since=14),
    View(
        "pg_stat_io", since=16, entity=("backend_type", "object", "context"), keys=frozenset({"op_bytes"}), sparse=True
    ),
    View("pg_stat_slru", entity=("name",), sparse=True),
    View("pg_stat_archiver"),
    View("pg_stat_replication_slots", since=14, entity=("slot_name",)),
    View("pg_stat_subscription_stats", since=15, entity=("subname",), keys=frozenset({"subid"})),
)

MOVED: Final = {
    "pg_stat_bgwriter.checkpoints_timed": "pg_stat_checkpointer.num_timed",
    "pg_stat_bgwriter.checkpoints_req": "pg_stat_checkpointer.num_requested",
    "pg_stat_bgwriter.checkpoint_write_time": "pg_stat_checkpointer.write_time",
    "pg_stat_bgwriter.checkpoint_sync_time": "pg_stat_checkpointer.sync_time",
    "pg_stat_bgwriter.buffers_checkpoint": "pg_stat_checkpointer.buffers_written",
}
"""Counters that version 17 moved to pg_stat_checkpointer."""

WAL_IO: Final = {
    "pg_stat_io.writes": "pg_stat_wal.wal_write",
    "pg_stat_io.fsyncs": "pg_stat_wal.wal_sync",
    "pg_stat_io.write_time": "pg_stat_wal.wal_write_time",
    "pg_stat_io.fsync_time": "pg_stat_wal.wal_sync_time",
}
"""Counters of pg_stat_wal that version 18 has in pg_stat_io only (object `wal`, context `normal`)."""


TIMED: Final = {
    "io": frozenset(
        {
            *(f"pg_stat_database.blk_{what}_time" for what in ("read", "write")),
            *(f"pg_stat_io.{what}_time" for what in ("read", "write", "writeback", "extend", "fsync")),
        }
    ),
    "wal": frozenset(WAL_IO.values()) - {"pg_stat_wal.wal_write", "pg_stat_wal.wal_sync"},
}
"""Times that are taken only while track_io_timing, or track_wal_io_timing, is on."""

_TIMINGS: Final = """\
SELECT /* doctord */ current_setting('track_io_timing')::bool AS io,
       coalesce(current_setting('track_wal_io_timing', true)::bool, false) AS wal
"""


class ClusterViews:
    """Fills `statistic` from VIEWS, and notes when somebody reset one of them."""

    name = "cumulative statistics"

    def __init__(self) -> None:
        """Due every five seconds."""
        self.cadence = Cadence(every_s=5)
        self._counters = {view.name: Counters[Key]() for view in VIEWS}
        self._resets: dict[tuple[str, str], Any] = {}

    def read(self, link: Link) -> list[Batch]:
        """Rates since the last call, and the gauges among the columns."""
        figures = Figures(link.db)
        unmeasured = _unmeasured(link)
        for view in VIEWS:
            if link.version // 10000 >= view.since:
                self._read_view(view, unmeasured, link, figures)
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""

    def _read_view(self, view: View, unmeasured: frozenset[str], link: Link, figures: Figures) -> None:
        at_s = time.monotonic()
        reading: dict[Key, float] = {}
        for row in link.query(f"SELECT /* doctord */ * FROM {view.name}"):  # noqa: S608 - VIEWS holds it
            entity = _entity(view, row)
            for column in view.gauges:
                figures.gauge(f"{view.name}.{column}", row[column], entity=entity)
            reading |= _counters_of(view, row, entity)
            self._note_reset(view, entity, row.get("stats_reset"), link)
        moved = _moved(reading, link.version)
        increase = self._counters[view.name].step(at_s, reading | moved)
        if increase is None:
            return
        for key, per_s in increase.per_s.items():
            entity, name = key
            if name not in unmeasured and (key in moved or reading[key] or not view.sparse):
                figures.rate(name, per_s, increase.interval_s, entity)

    def _note_reset(self, view: View, entity: str | None, reset: object, link: Link) -> None:
        key = (view.name, entity or "")
        if self._resets.get(key) is not None and self._resets[key] != reset:
            subject = f"{view.name} {entity}" if entity else view.name
            link.notices.happened("restart", link.db, subject, f"the statistics were reset at {reset}")
        self._resets[key] = reset


def _entity(view: View, row: dict[str, Any]) -> str | None:
    if not view.entity:
        return None
    return " ".join("shared" if row[column] is None else str(row[column]) for column in view.entity)


def _counters_of(view: View, row: dict[str, Any], entity: str | None) -> dict[Key, float]:
    aside = view.keys | view.gauges
    return {
        (entity, f"{view.name}.{column}"): float(value)
        for column, value in row.items()
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool) and column not in aside
    }


def _moved(reading: dict[Key, float], version: int) -> dict[Key, float]:
    """The figures that moved, under their newest names."""
    moved = {(entity, MOVED[name]): value for (entity, name), value in reading.items() if name in MOVED}
    if version >= 180000:
        for (entity, name), value in reading.items():
            if name in WAL_IO and entity and entity.endswith(" wal normal"):
                key = (None, WAL_IO[name])
                moved[key] = moved.get(key, 0.0) + value
    return moved


def _unmeasured(link: Link) -> frozenset[str]:
    """Names of times that stay at zero because nobody takes them."""
    timings = link.query(_TIMINGS)[0]
    return frozenset().union(*(names for setting, names in TIMED.items() if not timings[setting]))
