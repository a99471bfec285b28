"""Means of PostgreSQL's own counters, where nothing times single waits: pg_stat_io, pg_stat_database and others.

They fill `wait`: how many and how long on average, never how they were spread.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from doctord._native import Batch
from doctord.collect.core.increase import ALL, Buckets, Growing, Total, wait_rows
from doctord.collect.core.link import Away
from doctord.collect.core.linked import LinkedCollector
from doctord.collect.core.notices import Notices
from doctord.collect.postgres.connection.connect import Target
from doctord.collect.postgres.connection.link import Link
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError

GRANT: Final = "GRANT pg_monitor TO the role; pg_stat_statements is an extension: CREATE EXTENSION pg_stat_statements"

_IO: Final = """SELECT /* doctord */ sum({counts}) AS count, sum({time}) AS ms FROM pg_stat_io"""


@dataclass(frozen=True, slots=True)
class Mean:
    """Where a mean comes from: a query that gives `count` and `ms` since the server began, and the setting it needs."""

    query: str
    setting: str | None
    source: str
    since: int = 0


# By subject; the first whose version fits is taken.
MEANS: Final[Mapping[str, tuple[Mean, ...]]] = {
    "smgr read": (
        Mean(_IO.format(counts="reads", time="read_time"), "track_io_timing", "pg_stat_io", 160000),
        Mean(
            "SELECT /* doctord */ sum(blks_read) AS count, sum(blk_read_time) AS ms FROM pg_stat_database",
            "track_io_timing",
            "pg_stat_database",
        ),
    ),
    "smgr write": (Mean(_IO.format(counts="writes", time="write_time"), "track_io_timing", "pg_stat_io", 160000),),
    "wal write": (
        Mean(
            _IO.format(counts="writes", time="write_time") + " WHERE object = 'wal'",
            "track_wal_io_timing",
            "pg_stat_io",
            180000,
        ),
        Mean(
            "SELECT /* doctord */ wal_write AS count, wal_write_time AS ms FROM pg_stat_wal",
            "track_wal_io_timing",
            "pg_stat_wal",
            140000,
        ),
    ),
    "wal sync": (
        Mean(
            _IO.format(counts="fsyncs", time="fsync_time") + " WHERE object = 'wal'",
            "track_wal_io_timing",
            "pg_stat_io",
            180000,
        ),
        Mean(
            "SELECT /* doctord */ wal_sync AS count, wal_sync_time AS ms FROM pg_stat_wal",
            "track_wal_io_timing",
            "pg_stat_wal",
            140000,
        ),
    ),
    "query": (
        Mean(
            "SELECT /* doctord */ sum(calls) AS count, sum(total_exec_time) AS ms FROM pg_stat_statements",
            None,
            "pg_stat_statements",
        ),
    ),
}


class PostgresMeans(LinkedCollector[Link]):
    """The mean of one subject of one server."""

    def __init__(self, target: Target, subject: str, period_s: float) -> None:
        """Nothing is connected yet; `subject` is a key of MEANS."""
        super().__init__(f"mean of {subject} of {target.db}", Link(target, Notices()), period_s)
        self._subject = subject
        self._growing = Growing[str]()

    def _sample(self) -> list[Batch]:
        """Rows of `wait` since the last sample; none of an interval with an outage or a restart in it."""
        try:
            reading = self._read()
        except Away:
            self._growing = Growing()
            return []
        gained = self._growing.step(time.monotonic(), reading)
        if gained.anew:
            self._notices.happened("restart", self._link.db, self._subject, "its counters began anew")
        common = {"ts": now_us(), "host": os.uname().nodename, "db": self._link.db, "interval_s": gained.interval_s}
        return [rows("wait", wait_rows(one, common, gained.interval_s)) for one in gained.by_source.values()]

    def _read(self) -> Mapping[str, Mapping[str, Buckets]]:
        self._link.open()
        mean = next((mean for mean in MEANS[self._subject] if self._link.version >= mean.since), None)
        if mean is None:
            self._notices.not_measured(self._link.db, self._subject, "this version does not count it", None)
            return {}
        if mean.setting and not self._is_on(mean.setting):
            hint = f"ALTER SYSTEM SET {mean.setting} = on; SELECT pg_reload_conf()"
            self._notices.not_measured(self._link.db, f"time of {self._subject}", f"{mean.setting} is off", hint)
            return {}
        try:
            found = self._link.query(mean.query)
        except UserError as refusal:
            self._notices.not_measured(self._link.db, self._subject, f"{mean.source}: {refusal}", GRANT)
            return {}
        if not found or found[0]["count"] is None:
            return {}
        ms = found[0]["ms"]
        total = Total(int(found[0]["count"]), None if ms is None else float(ms) * 1e3)
        return {mean.source: {self._subject: {ALL: total}}}

    def _is_on(self, setting: str) -> bool:
        query = "SELECT /* doctord */ current_setting(%s) = 'on' AS it_is"
        return bool(self._link.query(query, (setting,))[0]["it_is"])
