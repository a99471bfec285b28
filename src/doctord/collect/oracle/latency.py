"""Oracle's wait events, live: how many waits took how long, by event and instance.

The histograms fill `latency`: buckets of powers of two, without times. The totals fill `wait`: number, time and mean,
exactly. `oracle_views` has the views, `oracle_driver` the connection.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from doctord._native import Batch
from doctord.collect.core.increase import Buckets, Gained, Growing, latency_rows, wait_rows
from doctord.collect.core.link import Away, Driver, Link
from doctord.collect.core.linked import LinkedCollector
from doctord.collect.core.notices import Notices
from doctord.collect.oracle import views as oracle_views
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError


class OracleLatency(LinkedCollector[Link]):
    """The waits of one database, by event and instance."""

    def __init__(
        self, driver: Driver, *, events: Sequence[str] = (), instances: Sequence[int] = (), period_s: float = 3.0
    ) -> None:
        """Nothing is connected yet.

        Args:
            driver: How to connect: an `OracleDriver`.
            events: Wait events to read, in any case of letters; none given: all that are not idle.
            instances: Numbers of the instances to read; none given: all.
            period_s: Seconds between two samples.
        """
        super().__init__(f"latency of {driver.db}", Link(driver, Notices()), period_s)
        self._wanted = events
        self._instances = instances
        self._classes: dict[str, str] = {}
        self._histograms = Growing[str]()
        self._totals = Growing[str]()
        self._present: frozenset[str] = frozenset()
        self._interrupted = True

    def check(self) -> None:
        """Connect, and see whether all that is wanted can be read.

        Raises:
            UserError: It cannot. Of an unknown event the hint names those of a similar name.
        """
        with self._link.checking():
            self._classes = oracle_views.wait_classes(self._link)
            for event in self._unknown():
                raise UserError(f"there is no wait event {event!r}", self._similar(event))
            self._read()

    def _sample(self) -> list[Batch]:
        """Rows of `latency` and `wait` since the last sample: none of an interval with an outage or a restart in it."""
        try:
            if self._link.open() or not self._classes:
                self._look_around()
            if self._wanted and not self._chosen():
                return []
            at_s, totals, histograms = self._read()
        except Away:
            self._interrupted = True
            return []
        except UserError as refusal:
            self._interrupted = True
            self._notices.not_measured(self._link.db, "wait events", str(refusal), refusal.hint)
            return []
        distributions, sums = self._histograms.step(at_s, histograms), self._totals.step(at_s, totals)
        anew = distributions.anew | sums.anew
        self._tell(frozenset(totals), anew)
        interrupted, self._interrupted = self._interrupted, False
        return [] if interrupted else self._batches(distributions, sums, anew)

    def _look_around(self) -> None:
        self._classes = oracle_views.wait_classes(self._link)
        for event in self._unknown():
            self._notices.not_measured(
                self._link.db, event, "there is no wait event of this name", self._similar(event)
            )

    def _read(self) -> tuple[float, oracle_views.Instances, oracle_views.Instances]:
        """When it was read, and both kinds of counters by instance, those wanted that never occurred among them."""
        chosen = self._chosen()
        totals = oracle_views.totals(self._link, self._instances)
        at_s = time.monotonic()
        histograms = oracle_views.histograms(self._link, chosen, self._instances)
        never: dict[str, Buckets] = {event: {} for event in chosen}
        return (
            at_s,
            {instance: {**never, **found} for instance, found in totals.items()},
            {instance: {**never, **histograms.get(instance, {})} for instance in totals},
        )

    def _tell(self, present: frozenset[str], anew: frozenset[str]) -> None:
        db = self._link.db
        for instance in anew:
            self._notices.happened("restart", db, f"{db} instance {instance}", "its counters fell: it was restarted")
        for instance in self._present - present:
            self._notices.happened("gap", db, f"{db} instance {instance}", "it is no longer there: stopped, or cut off")
        for number in self._instances:
            if str(number) not in present:
                text, hint = (
                    "gv$system_event has no rows of it",
                    "SELECT inst_id FROM gv$instance lists those there are",
                )
                self._notices.not_measured(db, f"{db} instance {number}", text, hint)
        self._present = present

    def _batches(self, distributions: Gained[str], sums: Gained[str], anew: frozenset[str]) -> list[Batch]:
        common = {"ts": now_us(), "host": os.uname().nodename, "db": self._link.db}
        latencies: list[Mapping[str, object]] = []
        waits: list[Mapping[str, object]] = []
        for instance in sums.by_source.keys() - anew:
            row = {**common, "interval_s": sums.interval_s, "instance": instance}
            latencies += latency_rows(distributions.by_source[instance], row)
            waits += self._waits(sums.by_source[instance], row, sums.interval_s)
        return [rows("latency", latencies), rows("wait", waits)]

    def _waits(
        self, gained: Mapping[str, Buckets], common: Mapping[str, object], seconds: float
    ) -> Iterator[Mapping[str, object]]:
        chosen = self._chosen() or [event for event in gained if self._classes.get(event) != "Idle"]
        for row in wait_rows({event: gained[event] for event in chosen}, common, seconds):
            yield {**row, "wait_class": self._classes.get(str(row["event"]), "Other")}

    def _chosen(self) -> list[str]:
        return [name for name in map(self._named, self._wanted) if name]

    def _unknown(self) -> list[str]:
        return [event for event in self._wanted if self._named(event) is None]

    def _named(self, event: str) -> str | None:
        folded = event.casefold()
        return next((name for name in self._classes if name.casefold() == folded), None)

    def _similar(self, event: str) -> str:
        folded = {name.casefold(): name for name in self._classes}
        near = [folded[name] for name in get_close_matches(event.casefold(), folded, 3, 0.5)]
        return f"did you mean {' or '.join(near)}?" if near else "SELECT name FROM v$event_name lists them"
