"""Latencies of MariaDB and MySQL, live: distributions of statements where the server keeps them, means of its waits.

Histograms of statements fill `latency`, under the names `query` (all of them) and `query DIGEST`. Files, locks, mutexes
and sockets fill `wait`. `mysql_sources` has the tables, `mysql_offer` which of them a server offers, `mysql_driver` the
connection. Our own statements, a handful at each sample, are among those counted.
"""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from doctord._native import Batch
from doctord.collect.core.increase import Buckets, Gained, Growing, latency_rows, wait_rows
from doctord.collect.core.link import Away, Driver, Link
from doctord.collect.core.linked import LinkedCollector
from doctord.collect.core.notices import Notices
from doctord.collect.mysql.offer import Offer, offer
from doctord.collect.mysql.sources import StatusTable, wait_class
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError

_UPTIME = "SHOW /* doctord */ GLOBAL STATUS LIKE 'Uptime'"
_ROUNDED_S = 1.5  # the server tells whole seconds


class MySQLLatency(LinkedCollector[Link]):
    """The latencies of one server."""

    def __init__(self, driver: Driver, *, subjects: Sequence[str] = (), period_s: float = 3.0) -> None:
        """Nothing is connected yet.

        Args:
            driver: How to connect: a `MySQLDriver`.
            subjects: What to read: `query`, `query DIGEST`, wait events, those on files with ` read`, ` write` or
                ` other` after them. None given: all that is on, except single statements.
            period_s: Seconds between two samples.
        """
        super().__init__(f"latency of {driver.db}", Link(driver, Notices()), period_s)
        self._wanted = subjects
        self._offer: Offer | None = None
        self._growing = Growing[StatusTable]()
        self._started_s: float | None = None
        self._interrupted = True

    def check(self) -> None:
        """Connect, and see whether all that is wanted can be read.

        Raises:
            UserError: It cannot; the hint has the statement that turns it on, or similar names.
        """
        with self._link.checking():
            offered = offer(self._link, self._wanted)
            for name in self._unknown(offered):
                for off in (off for off in offered.off if name.startswith(off.covers)):
                    raise UserError(f"nothing is told of {name!r}: {off.why}", off.hint)
                raise UserError(f"there is no {name!r}", _similar(name, offered))

    def _sample(self) -> list[Batch]:
        """Rows of `latency` and `wait` since the last sample: none of an interval with an outage or a reset in it."""
        try:
            if self._link.open() or self._offer is None:
                self._greet()
                self._offer = self._look_around()
            reading = self._read(self._offer)
        except Away:
            self._interrupted = True
            return []
        gained = self._growing.step(time.monotonic(), reading)
        interrupted, self._interrupted = self._interrupted, False
        self._tell(gained.anew, came_back=interrupted)
        return [] if interrupted else self._batches(gained)

    def _greet(self) -> None:
        """Find out whether it is still the server that was left."""
        [(_, uptime)] = self._link.query(_UPTIME)
        started_s = time.monotonic() - float(uptime)
        if self._started_s is not None and started_s - self._started_s > _ROUNDED_S:
            self._notices.happened("restart", self._link.db, self._link.db, f"the server started again {uptime} s ago")
            self._growing = Growing[StatusTable]()
        self._started_s = started_s

    def _tell(self, anew: Iterable[StatusTable], *, came_back: bool) -> None:
        db = self._link.db
        for source in anew:
            if came_back:
                self._notices.happened("restart", db, db, "the counters fell: the server was restarted")
            else:
                self._notices.happened("gap", db, source.name, "its counters fell: somebody reset them")

    def _look_around(self) -> Offer:
        offered = offer(self._link, self._wanted)
        for off in offered.off:
            self._notices.not_measured(self._link.db, off.covers or "performance_schema", off.why, off.hint)
        for name in self._unknown(offered):
            if not any(name.startswith(off.covers) for off in offered.off):
                self._notices.not_measured(
                    self._link.db, name, "there is nothing of this name", _similar(name, offered)
                )
        return offered

    def _read(self, offered: Offer) -> dict[StatusTable, Mapping[str, Buckets]]:
        reading: dict[StatusTable, Mapping[str, Buckets]] = {}
        for source in offered.sources:
            try:
                found = source.read(self._link.query(source.sql, source.parameters))
            except UserError as refusal:  # a right that was revoked, a statement that took too long
                self._notices.not_measured(self._link.db, source.name, str(refusal), refusal.hint)
                continue
            reading[source] = {name: found[name] for name in found if not self._wanted or name in self._wanted}
        return reading

    def _batches(self, gained: Gained[StatusTable]) -> list[Batch]:
        common = {"ts": now_us(), "interval_s": gained.interval_s, "host": os.uname().nodename, "db": self._link.db}
        latencies: list[Mapping[str, object]] = []
        waits: list[Mapping[str, object]] = []
        for source, subjects in gained.by_source.items():
            if source.fills == "latency":
                latencies += latency_rows(subjects, common)
            else:
                found = wait_rows(subjects, common, gained.interval_s)
                waits += ({**row, "wait_class": wait_class(str(row["event"]))} for row in found)
        return [rows("latency", latencies), rows("wait", waits)]

    def _unknown(self, offered: Offer) -> list[str]:
        return [name for name in self._wanted if name not in offered.subjects]


def _similar(name: str, offered: Offer) -> str:
    near = get_close_matches(name, offered.subjects, 3, 0.5)
    return (
        f"did you mean {' or '.join(near)}?" if near else "query, and the names of performance_schema.setup_instruments"
    )
