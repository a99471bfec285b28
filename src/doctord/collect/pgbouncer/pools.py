"""PgBouncer's pools: who waits there for a server, and how long; its console is asked once a second.

`statistic` of `pgbouncer`, as the readers of its log and of printed tables give it: of each pool (database and user)
SHOW POOLS, of each database SHOW STATS as rates since the last look and SHOW DATABASES' sizes. `setting`: what SHOW
CONFIG says of pools and limits, when connected. Nothing else of the configuration is read: it names files and users.
"""

import os
import time
from collections.abc import Iterator
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.cost import Cost
from doctord.collect.core.link import Away, Driver, Link
from doctord.collect.core.notices import Notices
from doctord.collect.core.rates import Counters
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError

COMPONENT: Final = "pgbouncer"
_CONSOLE: Final = "pgbouncer"
_SETTINGS: Final = frozenset(
    {
        *("pool_mode", "default_pool_size", "min_pool_size", "reserve_pool_size", "reserve_pool_timeout"),
        *("max_client_conn", "max_db_connections", "max_user_connections", "listen_backlog", "max_prepared_statements"),
        *("query_wait_timeout", "query_timeout", "idle_transaction_timeout", "server_idle_timeout", "server_lifetime"),
    }
)
# Counters of SHOW STATS, and how the log calls them, with the unit of their rate.
_RATES: Final = {
    "total_xact_count": ("xacts", "per_s"),
    "total_query_count": ("queries", "per_s"),
    "total_received": ("bytes_in", "bytes_per_s"),
    "total_sent": ("bytes_out", "bytes_per_s"),
    "total_wait_time": ("wait_time", "us_per_s"),
}
# Times that are told for each transaction and each statement.
_EACH: Final = {
    "xact_time": ("total_xact_time", "total_xact_count"),
    "query_time": ("total_query_time", "total_query_count"),
}
_SIZES: Final = ("pool_size", "max_connections", "current_connections")


class Pools:
    """Fills `statistic` and `setting` for one pooler."""

    def __init__(self, driver: Driver, notices: Notices, period_s: float = 1.0) -> None:
        """Nothing is connected yet; `driver` is a `PgBouncerDriver`."""
        self.name = f"pools of {driver.db}"
        self.period_s = period_s
        self._notices = notices
        self._link = Link(driver, notices)
        self._cost = Cost(self.name)
        self._counters = Counters[tuple[str, str]]()

    def sample(self) -> list[Batch]:
        """Settings at first, and the pools as they are now."""
        with self._cost:
            batches = self._sample()
        return [*batches, *self._notices.batches(), *self._cost.batches()]

    def close(self) -> None:
        """Close the connection."""
        self._link.close()

    def _sample(self) -> list[Batch]:
        try:
            settings = [self._settings()] if self._link.open() else []
            return [*settings, self._statistics()]
        except Away:
            return []
        except UserError as refusal:
            self._notices.not_measured(self._link.db, "pools", str(refusal), refusal.hint)
            return []

    def _show(self, what: str) -> list[dict[str, Any]]:
        return self._link.query(f"SHOW {what}")

    def _settings(self) -> Batch:
        told = [row for row in self._show("CONFIG") if row["key"] in _SETTINGS]
        source = {row["key"]: "default" if row.get("default") == row["value"] else None for row in told}
        found = [{"name": row["key"], "value": str(row["value"]), "source": source[row["key"]]} for row in told]
        return rows("setting", [self._common() | row for row in found])

    def _statistics(self) -> Batch:
        found = [*self._pools(), *self._sizes(), *self._rates()]
        return rows("statistic", [self._common() | row for row in found])

    def _pools(self) -> Iterator[dict[str, Any]]:
        for row in self._show("POOLS"):
            if row["database"] == _CONSOLE:
                continue
            entity = f"{row['database']} {row['user']}"
            for name, value in row.items():
                if name.startswith(("cl_", "sv_")):
                    yield _gauge(name, entity, float(value), "connections")
            yield _gauge("maxwait", entity, float(row["maxwait"]) + float(row.get("maxwait_us") or 0) / 1e6, "s")

    def _sizes(self) -> Iterator[dict[str, Any]]:
        for row in self._show("DATABASES"):
            if row["name"] != _CONSOLE:
                yield from (
                    _gauge(name, row["name"], float(row[name]), "connections") for name in _SIZES if row.get(name)
                )

    def _rates(self) -> Iterator[dict[str, Any]]:
        told = {row["database"]: row for row in self._show("STATS") if row["database"] != _CONSOLE}
        counters = {name for pair in _EACH.values() for name in pair} | set(_RATES)
        reading = {
            (database, name): float(row[name]) for database, row in told.items() for name in counters if name in row
        }
        increase = self._counters.step(time.monotonic(), reading)
        if increase is None:
            return
        for (database, counter), rate in increase.per_s.items():
            if counter in _RATES:
                name, unit = _RATES[counter]
                yield _named(name, database, rate, unit, "rate") | {"interval_s": increase.interval_s}
        for database in told:
            for name, (total, count) in _EACH.items():
                often = increase.per_s.get((database, count))
                if often and (database, total) in increase.per_s:
                    yield _gauge(name, database, increase.per_s[database, total] / often, "us")

    def _common(self) -> dict[str, Any]:
        return {"ts": now_us(), "host": os.uname().nodename, "component": COMPONENT, "db": self._link.db}


def _gauge(name: str, entity: str, value: float, unit: str) -> dict[str, Any]:
    return _named(name, entity, value, unit, "gauge")


def _named(name: str, entity: str, value: float, unit: str, kind: str) -> dict[str, Any]:
    return {"name": f"pgbouncer.{name}", "entity": entity, "value": value, "kind": kind, "unit": unit}
