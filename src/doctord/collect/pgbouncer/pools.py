"""PgBouncer's pools: who waits there for a server, and how long; its console is asked once a second.

`statistic` of `pgbouncer`, as the readers of its log and of printed tables give it: of each pool (database and user)
SHOW POOLS, of each database SHOW STATS as rates since the last look and SHOW DATABASES' sizes; while somebody waits,
every few seconds who has the servers (`holders`). `setting`: what SHOW CONFIG says of pools and limits, when connected.
Nothing else of the configuration is read: it names files and users.
"""

import math
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.link import Away, Driver, Link
from doctord.collect.core.linked import LinkedCollector
from doctord.collect.core.notices import Notices
from doctord.collect.core.place import Place
from doctord.collect.core.rates import Counters
from doctord.collect.pgbouncer.holders import held
from doctord.collect.pgbouncer.unasked import Unasked
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
# All clients are listed then, of which there may be thousands.
_HOLDERS_EVERY_S: Final = 5.0
_UNIX: Final = "unix"
_SESSION_MODE: Final = "session"
_SIZES: Final = ("pool_size", "max_connections", "current_connections")


class Pools(LinkedCollector[Link]):
    """Fills `statistic` and `setting` for one pooler."""

    def __init__(
        self,
        driver: Driver,
        notices: Notices,
        period_s: float = 1.0,
        beside: Unasked | None = None,
        places: Sequence[Place] | None = None,
    ) -> None:
        """Nothing is connected yet.

        Args:
            driver: a `PgBouncerDriver`.
            notices: what could not be read.
            period_s: seconds between two looks.
            beside: what tells of it where it cannot be asked.
            places: where the servers are that it is looked at for: one that leads to others is left alone.
        """
        super().__init__(f"pools of {driver.db}", Link(driver, notices), period_s)
        self._counters = Counters[tuple[str, str]]()
        self._beside, self._places = beside, places
        self._leads_elsewhere = False
        self._holders_at = -math.inf

    def _sample(self) -> list[Batch]:
        """Settings at first, and the pools as they are now."""
        if self._leads_elsewhere:
            return []
        try:
            if not self._link.open():
                return [self._statistics()]
            self._leads_elsewhere = not self._leads_there()
            return [] if self._leads_elsewhere else [self._settings(), self._statistics()]
        except Away:
            return self._beside.look() if self._beside else []
        except UserError as refusal:
            self._notices.not_measured(self._link.db, "pools", str(refusal), refusal.hint)
            return []

    def _leads_there(self) -> bool:
        """Whether one of its databases is where it is looked at for, as itself says: true where that is all the same.

        The databases of a wildcard (`*`) are there once somebody asked for one.
        """
        if self._places is None:
            return True
        told = [row for row in self._show("DATABASES") if row["name"] != _CONSOLE]
        own = [Place(host.strip(), int(row["port"])) for row in told for host in (row["host"] or "").split(",")]
        return not own or any(one.may_be(place) for one in own for place in self._places)

    def _is_perhaps_there(self, server: Place) -> bool:
        """The same of one connection, which tells an address where the server is known by a name."""
        places = self._places
        return places is None or any((server.port, server.is_here) == (one.port, one.is_here) for one in places)

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
        pools = [row for row in self._show("POOLS") if row["database"] != _CONSOLE]
        for row in pools:
            entity = f"{row['database']} {row['user']}"
            for name, value in row.items():
                if name.startswith(("cl_", "sv_")):
                    yield _gauge(name, entity, float(value), "connections")
            yield _gauge("maxwait", entity, float(row["maxwait"]) + float(row.get("maxwait_us") or 0) / 1e6, "s")
            if row.get("pool_mode"):
                yield _gauge("session_mode", entity, float(row["pool_mode"] == _SESSION_MODE), "boolean")
        if any(row["cl_waiting"] for row in pools):
            yield from self._holders()

    def _holders(self) -> Iterator[dict[str, Any]]:
        """Who has the servers; asked for now and then, and only while somebody waits for one.

        Of connections to other servers than those looked at nobody could say what their sessions do.
        """
        now = time.monotonic()
        if now - self._holders_at < _HOLDERS_EVERY_S:
            return
        self._holders_at = now
        servers = [row for row in self._show("SERVERS") if self._is_perhaps_there(_server(row))]
        for entity, seconds in held(servers, self._show("CLIENTS")):
            yield _gauge("held_s", entity, seconds, "s")

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


def _server(row: dict[str, Any]) -> Place:
    """Where a connection of SHOW SERVERS leads to."""
    return Place("" if row["addr"] == _UNIX else str(row["addr"]), int(row["port"]))


def _gauge(name: str, entity: str, value: float, unit: str) -> dict[str, Any]:
    return _named(name, entity, value, unit, "gauge")


def _named(name: str, entity: str, value: float, unit: str, kind: str) -> dict[str, Any]:
    return {"name": f"pgbouncer.{name}", "entity": entity, "value": value, "kind": kind, "unit": unit}
