"""Settings of a MariaDB or MySQL server, once, and its global status at each sample: two of them give rates.

`setting`: SHOW GLOBAL VARIABLES, with where each came from where the server tells (MariaDB's SYSTEM_VARIABLES, MySQL's
variables_info). `statistic`: SHOW GLOBAL STATUS, and with PROCESS the transactions whose sessions sleep, and InnoDB's
history and deadlocks, which MySQL has in its metrics alone. Our own connection is one of `threads_running`.
"""

import os
import re
import time
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.link import Away, Driver, Link
from doctord.collect.core.linked import LinkedCollector
from doctord.collect.core.notices import Notices
from doctord.collect.core.rates import Counters
from doctord.collect.mysql.driver import is_mariadb
from doctord.collect.mysql.process import TO_TELL, UNTOLD, ServerProcess
from doctord.collect.mysql.refusals import Refusals
from doctord.dataset import mysql_names
from doctord.dataset.rows import now_us, rows
from doctord.errors import UserError
from doctord.regex import regex

_VARIABLES: Final = "SHOW /* doctord */ GLOBAL VARIABLES"
_STATUS: Final = "SHOW /* doctord */ GLOBAL STATUS"
_ORIGINS: Final = {
    True: "SELECT /* doctord */ LOWER(variable_name) AS doctord, global_value_origin, global_value_path "
    "FROM information_schema.system_variables",
    False: "SELECT /* doctord */ variable_name AS doctord, variable_source, variable_path "
    "FROM performance_schema.variables_info",
}
_DEFAULTS: Final = frozenset({"COMPILE-TIME", "COMPILED", "AUTO"})
# A transaction without a session is a prepared one (XA), or InnoDB's own for a moment.
_TRANSACTIONS: Final = """\
SELECT /* doctord */ SUM(p.command = 'Sleep') AS doctord,
       MAX(IF(p.command = 'Sleep', TIMESTAMPDIFF(SECOND, t.trx_started, NOW()), 0)),
       SUM(t.trx_mysql_thread_id = 0),
       MAX(IF(t.trx_mysql_thread_id = 0, TIMESTAMPDIFF(SECOND, t.trx_started, NOW()), 0))
FROM information_schema.innodb_trx t LEFT JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id"""
_PREPARED: Final = "XA RECOVER /* doctord */"
# Who has to queue before InnoDB stands in its monitor alone; it is asked for where the number of threads is limited.
_LIMIT: Final = "innodb_thread_concurrency"
_MONITOR: Final = "SHOW /* doctord */ ENGINE INNODB STATUS"
_QUEUE: Final = regex(r"^(?P<inside>\d+) queries inside InnoDB, (?P<queued>\d+) queries in queue", re.MULTILINE)
_XA: Final = "GRANT XA_RECOVER_ADMIN ON *.* TO the user that doctord logs in as (MySQL 8.0; MariaDB asks for no right)"
# What MariaDB has in its status, and MySQL in its metrics alone; both are on by default.
_HISTORY: Final = "innodb_history_list_length"
_AS_METRICS: Final = {"trx_rseg_history_len": _HISTORY, "lock_deadlocks": "innodb_deadlocks"}
_METRICS: Final = (
    "SELECT /* doctord */ name AS doctord, count FROM information_schema.innodb_metrics "  # noqa: S608 - our own names
    f"WHERE status = 'enabled' AND name IN ({', '.join(map(repr, _AS_METRICS))})"
)
_PROCESS: Final = "GRANT PROCESS ON *.* TO the user that doctord logs in as"


class MySQLSettings(LinkedCollector[Link]):
    """Fills `setting` and `statistic` for one server."""

    def __init__(self, driver: Driver, notices: Notices, period_s: float = 1.0) -> None:
        """Nothing is connected yet; `driver` is a `MySQLDriver`."""
        super().__init__(f"settings of {driver.db}", Link(driver, notices), period_s)
        self._counters = Counters[str]()
        self._db: str | None = None
        self._process = ServerProcess()
        self._refused = Refusals()
        self._is_limited = False

    def _sample(self) -> list[Batch]:
        """Settings at first, and figures since the last call."""
        try:
            settings = self._settings() if self._link.open() or self._db is None else []
            return [*settings, self._statistics()]
        except Away:
            return []
        except UserError as refusal:
            self._notices.not_measured(self._link.db, "global status", str(refusal), refusal.hint)
            return []

    def _settings(self) -> list[Batch]:
        self._refused.forget()
        held = {str(name).lower(): str(value) for name, value in self._link.query(_VARIABLES)}
        port = held.get("port", "0")
        self._db = f"mysql:{port}" if port != "0" else self._link.db
        self._is_limited = held.get(_LIMIT, "0") != "0"
        origins = self._origins(is_mariadb(held.get("version", "")))
        found = [
            {**self._common(), "name": name, "value": mysql_names.shown(name, value), **origins.get(name, {})}
            for name, value in held.items()
        ]
        found += [{**self._common(), **row} for row in self._process.settings(self._link)]
        if self._process.is_background_untold:
            self._notices.not_measured(self._db, "background threads", UNTOLD, TO_TELL)
        return [rows("setting", found)]

    def _origins(self, mariadb: bool) -> dict[str, dict[str, str | None]]:  # noqa: FBT001 - which of two servers
        """What set each variable, and in which file, where the server tells."""
        try:
            told = self._link.query(_ORIGINS[mariadb])
        except UserError:  # then every value counts as set by somebody: no rule depends on it
            return {}
        return {
            str(name): {
                "source": "default" if origin in _DEFAULTS else str(origin).lower().replace("_", " "),
                "source_file": str(path) if path else None,
            }
            for name, origin, path in told
        }

    def _statistics(self) -> Batch:
        told = {str(name).lower(): str(value) for name, value in self._link.query(_STATUS)}
        if _HISTORY not in told:
            told |= self._metrics()
        gauges, counters = mysql_names.readings(told)
        increase = self._counters.step(time.monotonic(), counters)
        per_s, interval_s = (increase.per_s, increase.interval_s) if increase else ({}, 0.0)
        found = [*mysql_names.status_rows(gauges, per_s, interval_s), *self._transactions(), *self._queue()]
        found += self._process.statistics(self._link)
        return rows("statistic", [self._common() | row for row in found])

    def _metrics(self) -> dict[str, str]:
        """InnoDB's metrics by the name that the status has for them elsewhere."""
        if _METRICS in self._refused:
            return {}
        try:
            return {_AS_METRICS[str(name)]: str(count) for name, count in self._link.query(_METRICS)}
        except UserError as refusal:
            self._refused.add(_METRICS)
            self._notices.not_measured(self._db, "InnoDB's history and deadlocks", str(refusal), _PROCESS)
            return {}

    def _transactions(self) -> list[dict[str, object]]:
        """Transactions whose session does nothing, and those that have none: how many, and the age of the oldest."""
        if _TRANSACTIONS in self._refused:
            return []
        try:
            [(sleeping, oldest_s, prepared, prepared_s)] = self._link.query(_TRANSACTIONS)
        except UserError as refusal:
            self._refused.add(_TRANSACTIONS)
            self._notices.not_measured(self._db, "transactions of sleeping sessions", str(refusal), _PROCESS)
            return []
        return [
            _gauge("innodb_trx.sleeping", float(sleeping or 0)),
            _gauge("innodb_trx.sleeping_oldest_s", float(oldest_s or 0), "s"),
            _gauge(mysql_names.WITHOUT_SESSION, float(prepared or 0)),
            _gauge(mysql_names.WITHOUT_SESSION_S, float(prepared_s or 0), "s"),
            *(self._prepared() if prepared else ()),
        ]

    def _queue(self) -> list[dict[str, object]]:
        """Statements within InnoDB, and before it, where it lets in so many at a time."""
        if not self._is_limited or _MONITOR in self._refused:
            return []
        try:
            [(*_, text)] = self._link.query(_MONITOR)
        except UserError as refusal:
            self._refused.add(_MONITOR)
            self._notices.not_measured(self._db, "who queues before InnoDB", str(refusal), _PROCESS)
            return []
        found = _QUEUE.search(str(text))
        named = {"queries_inside": "inside", "queries_queued": "queued"}
        return [_gauge(f"innodb_status.{name}", float(found[part])) for name, part in named.items()] if found else []

    def _prepared(self) -> list[dict[str, object]]:
        """Each transaction that is prepared (XA), by its name."""
        if _PREPARED in self._refused:
            return []
        try:
            told = self._link.query(_PREPARED)
        except UserError as refusal:
            self._refused.add(_PREPARED)
            self._notices.not_measured(self._db, "which XA transactions are prepared", str(refusal), _XA)
            return []
        named = [_gauge(mysql_names.PREPARED, 1.0) | {"entity": _text(name)} for *_, name in told]
        return [_gauge(mysql_names.PREPARED_COUNT, float(len(named))), *named]

    def _common(self) -> dict[str, Any]:
        return {
            "ts": now_us(),
            "host": os.uname().nodename,
            "component": mysql_names.COMPONENT,
            "db": self._db or self._link.db,
        }


def _gauge(name: str, value: float, unit: str | None = None) -> dict[str, object]:
    return {"component": mysql_names.COMPONENT, "kind": "gauge", "name": name, "value": value, "unit": unit}


def _text(name: str | bytes) -> str:
    """A name that may hold any bytes."""
    return name.decode(errors="replace") if isinstance(name, bytes) else name
