"""Statements of a MariaDB or MySQL server by digest: what each cost between two readings of performance_schema.

The first reading takes the counters of all digests, each later one of those alone that ran since, by the server's own
clock. The text of a digest, which holds no values, is fetched once, when it first matters.
"""

import os
import time
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

from doctord._native import Batch
from doctord.collect.core.link import Away, Driver, Link
from doctord.collect.core.linked import LinkedCollector
from doctord.collect.core.notices import Notices
from doctord.collect.core.rates import EARLY, Cadence
from doctord.collect.mysql.activity import Activity, activity
from doctord.collect.mysql.errors import TO_TELL, UNTOLD, Errors
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError

_EVERY_S: Final = 10.0
_TICK_S: Final = 5.0
_TOP: Final = 200
_TOP_FAILED: Final = 20  # what fails takes little time
_TEXTS_KEPT: Final = 5000
_PICO: Final = 1e12
# As of PostgreSQL's: less is within the ups and downs of any statement, and a few calls are no past.
_SLOWER: Final = 2.0
_FEWEST_CALLS: Final = 100.0
_TABLE: Final = "performance_schema.events_statements_summary_by_digest"
_COUNTERS: Final = (
    "SELECT /* doctord */ schema_name AS doctord, digest, count_star, sum_timer_wait, "  # noqa: S608 - names
    "sum_rows_sent + sum_rows_affected, sum_rows_examined, sum_no_index_used, sum_errors, "
    "sum_created_tmp_disk_tables, sum_sort_merge_passes, {cpu} "
    f"FROM {_TABLE} WHERE last_seen >= %s"
)
_TEXTS: Final = (
    "SELECT /* doctord */ digest AS doctord, MIN(LEFT(digest_text, 2000)) "  # noqa: S608 - names
    f"FROM {_TABLE} WHERE digest IN ({{}}) GROUP BY 1"
)
# MariaDB keeps full seconds of when a digest was last seen: what ran in this one is to be met again.
_NOW: Final = "SELECT /* doctord */ NOW(6) - INTERVAL 1 SECOND AS doctord"
# A digest keeps no comments by which to tell ours, but names of columns: each of our statements names one so.
_OURS: Final = "doctord"
_CPU: Final = "sum_cpu_time"
_FULL: Final = "more kinds of statement were run than the digest table holds: the rest is one row without a text"
_ENLARGE: Final = "performance_schema_digests_size in my.cnf, and a restart"


class Cost(NamedTuple):
    """What the executions of a digest came to.

    Their number, seconds, rows sent or changed, rows looked at, how many used no index, how many failed, temporary
    tables that went to disk, passes that merged sorted files, and seconds of CPU, null where the server does not tell.
    """

    calls: float
    elapsed_s: float
    rows: float
    examined: float
    without_index: float
    errors: float
    disk_tables: float
    merge_passes: float
    cpu_s: float | None


Key = tuple[str | None, str]
NOTHING: Final = Cost(*[0.0] * len(Cost._fields))
FIGURES: Final = "events_statements_summary_by_digest."


class MySQLStatements(LinkedCollector[Link]):
    """Fills `statement` for those that took most time, where performance_schema is on.

    What one took before, since the server counts it, goes into `statistic` where it takes much longer now: that is its
    past, also on a server that nobody has recorded.
    """

    def __init__(self, driver: Driver, notices: Notices) -> None:
        """Nothing is connected yet; `driver` is a `MySQLDriver`."""
        super().__init__(f"statements of {driver.db}", Link(driver, notices), _TICK_S)
        self._cadence = Cadence(_EVERY_S, EARLY)
        self._begin()

    def _begin(self) -> None:
        self._activity: Activity | None = None
        self._sql = ""
        self._known: dict[Key, Cost] = {}
        self._texts: dict[str, str] = {}
        self._seen_until = "1970-01-01"
        self._read_at: float | None = None
        self._errors = Errors()

    def _sample(self) -> list[Batch]:
        """Rows of the time since the last reading; none at the first."""
        try:
            if self._link.open():
                self._begin()
            if not self._cadence.due(time.monotonic()):
                return []
            self._activity = self._activity or activity(self._link)
            if not self._activity.by_threads:
                self._notices.not_measured(self._activity.db, "failed statements", UNTOLD, TO_TELL)
                return []
            return [*self._statements(self._activity.db), *self._failed(self._activity)]
        except Away:
            return []
        except UserError as refusal:
            self._notices.not_measured(self._link.db, "statements", str(refusal), refusal.hint)
            return []

    def _failed(self, server: Activity) -> list[Batch]:
        try:
            found = self._errors.read(self._link, server.db, by_number=not server.is_mariadb)
        except UserError as refusal:
            self._notices.not_measured(server.db, "failed statements", str(refusal), refusal.hint)
            return []
        if (whose := self._errors.refused) is not None:
            self._notices.not_measured(server.db, "whose statements fail", str(whose), whose.hint)
        return [rows("statistic", found)] if found else []

    def _statements(self, db: str) -> list[Batch]:
        sql = self._sql or self._counters()
        [(moment,)] = self._link.query(_NOW)
        read = self._link.query(sql, (self._seen_until,))
        now = time.monotonic()
        before, self._read_at, self._seen_until = self._read_at, now, str(moment)
        if any(digest is None for _, digest, *_ in read):
            self._notices.not_measured(db, "statements by digest", _FULL, _ENLARGE)
        grown = self._grown(read, is_first=before is None)
        if before is None:
            return []
        top = _top(grown)
        self._learn(digest for (_, digest), _ in top)
        top = [(key, cost) for key, cost in top if _OURS not in self._texts.get(key[1], "")]
        found = [self._row(db, key, cost, now - before) for key, cost in top]
        figures = [row for key, cost in top for row in self._figures(db, key, cost, now - before)]
        figures += [row for key, cost in top for row in self._past(db, key, cost)]
        return [rows("statement", found), rows("statistic", figures)] if found else []

    def _counters(self) -> str:
        """The statement that this server understands: CPU times are of MySQL 8.0.28 and later."""
        for cpu in (_CPU, "NULL"):
            try:
                self._link.query(_COUNTERS.format(cpu=cpu), ("9999-01-01",))
            except UserError:
                continue
            self._sql = _COUNTERS.format(cpu=cpu)
            return self._sql
        raise UserError("performance_schema's digests are not to be read", "GRANT SELECT ON performance_schema.*")

    def _grown(self, read: Iterable[Sequence[Any]], *, is_first: bool) -> dict[Key, Cost]:
        """What was added since the last reading; a counter that went down began anew."""
        grown: dict[Key, Cost] = {}
        for schema, digest, *counters in read:
            if digest is None:
                continue
            key, cost = (schema, digest), _cost(counters)
            last = self._known.get(key, NOTHING)
            self._known[key] = cost
            more = _less(cost, last if cost.calls >= last.calls else NOTHING)
            if not is_first and more.calls > 0:
                grown[key] = more
        return grown

    def _learn(self, digests: Iterable[str]) -> None:
        unknown = [digest for digest in dict.fromkeys(digests) if digest not in self._texts]
        if unknown:
            if len(self._texts) > _TEXTS_KEPT:
                self._texts.clear()
            told = self._link.query(_TEXTS.format(", ".join(["%s"] * len(unknown))), unknown)
            self._texts |= {digest: text or "" for digest, text in told}

    def _row(self, db: str, key: Key, cost: Cost, seconds: float) -> dict[str, Any]:
        schema, digest = key
        return {
            "ts": now_us(),
            "interval_s": seconds,
            "host": os.uname().nodename,
            "db": db,
            "database": schema,
            "statement_id": digest,
            "text": self._texts.get(digest) or None,
            "calls_per_s": cost.calls / seconds,
            "elapsed_s_per_s": cost.elapsed_s / seconds,
            "rows_per_s": cost.rows / seconds,
            "cpu_s_per_s": None if cost.cpu_s is None else cost.cpu_s / seconds,
        }

    def _past(self, db: str, key: Key, cost: Cost) -> list[dict[str, Any]]:
        """What those that take _SLOWER times as long as ever before took then, of all calls that were counted."""
        past = _less(self._known[key], cost)
        if past.calls < _FEWEST_CALLS or cost.elapsed_s / cost.calls < _SLOWER * past.elapsed_s / past.calls:
            return []
        about = {"ts": now_us(), "host": os.uname().nodename, "component": "mysql", "db": db, "entity": key[1]}
        told = {
            ("calls", "count"): past.calls,
            ("ms_per_call", "ms"): past.elapsed_s * 1e3 / past.calls,
            ("rows_per_call", "rows"): past.rows / past.calls,
            ("examined_per_call", "rows"): past.examined / past.calls,
        }
        return [
            about | {"name": f"{FIGURES}past_{name}", "kind": "gauge", "unit": unit, "value": value}
            for (name, unit), value in told.items()
        ]

    @staticmethod
    def _figures(db: str, key: Key, cost: Cost, seconds: float) -> list[dict[str, Any]]:
        about = {"ts": now_us(), "interval_s": seconds, "host": os.uname().nodename, "component": "mysql", "db": db}
        about |= {"entity": key[1], "unit": "per_s", "kind": "rate"}
        named = {"sum_rows_examined": cost.examined, "sum_no_index_used": cost.without_index}
        seldom = {
            "sum_errors": cost.errors,
            "sum_created_tmp_disk_tables": cost.disk_tables,
            "sum_sort_merge_passes": cost.merge_passes,
        }
        named |= {name: value for name, value in seldom.items() if value}
        return [about | {"name": f"{FIGURES}{name}", "value": value / seconds} for name, value in named.items()]


def _top(grown: dict[Key, Cost]) -> list[tuple[Key, Cost]]:
    """Those that took most time, and those that failed most often."""
    by_time = sorted(grown.items(), key=lambda one: -one[1].elapsed_s)[:_TOP]
    failed = sorted((one for one in grown.items() if one[1].errors), key=lambda one: -one[1].errors)[:_TOP_FAILED]
    return list(dict([*by_time, *failed]).items())


def _cost(counters: Sequence[Decimal | int | None]) -> Cost:
    calls, elapsed, *others = (float(one or 0) for one in counters[:-1])
    cpu = counters[-1]
    return Cost._make([calls, elapsed / _PICO, *others, None if cpu is None else float(cpu) / _PICO])


def _less(cost: Cost, last: Cost) -> Cost:
    more = [now - before for now, before in zip(cost[:-1], last[:-1], strict=True)]
    return Cost._make([*more, None if cost.cpu_s is None else cost.cpu_s - (last.cpu_s or 0.0)])
