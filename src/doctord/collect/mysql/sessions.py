"""Samples of the sessions of a MariaDB or MySQL server that are not at rest: where its time goes, and who blocks whom.

Threads come from performance_schema where it is on, ten times a second; else from the process list, once a second,
which locks more of the server while it is read. Open transactions come from InnoDB (information_schema.innodb_trx,
which needs PROCESS), and who holds what is waited for is asked only while a transaction waits for a lock, not more than
twice a second. A state that tells no wait (`Sending data`) is looked up in the kernel (`threads`).
"""

import os
import time
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.link import Away, Driver, Link
from doctord.collect.core.linked import LinkedCollector
from doctord.collect.core.notices import Notices
from doctord.collect.core.session_waits import SessionWaits
from doctord.collect.mysql.driver import is_mariadb
from doctord.collect.mysql.threads import Threads
from doctord.dataset.mysql_threads import client_of, wait_of
from doctord.dataset.rows import now_us, rows
from doctord.dataset.scrub import scrub, text_id
from doctord.dataset.tables import CLIENT
from doctord.dataset.waits.events import find
from doctord.errors import UserError

PROCESS: Final = "GRANT PROCESS ON *.* TO the user that doctord logs in as"
LOCK_WAIT: Final = "LOCK WAIT"
_PERIOD_S: Final = 0.1
_PERIOD_BY_LIST_S: Final = 1.0
_LONGEST_INTERVAL_S: Final = 2.0  # a sample stands for no more, whatever the sampler was kept from
_BLOCKERS_EVERY_S: Final = 0.5
_TEXT_AGAIN_S: Final = 300.0
_TEXTS_KNOWN: Final = 2000
_AT_REST: Final = (
    "'Sleep', 'Daemon', 'Binlog Dump', 'Binlog Dump GTID', 'Connect', 'Slave_IO', 'Slave_SQL', 'Slave_worker'"
)

_OURS: Final = "/* doctord */"
_INFO: Final = 7  # the place of the statement's text
_WAITS: Final = 9

_TRX: Final = (
    "trx.trx_state = 'LOCK WAIT', TIMESTAMPDIFF(SECOND, trx.trx_started, NOW()), "
    "TIMESTAMPDIFF(SECOND, trx.trx_wait_started, NOW())"
)
_BY_LIST: Final = (
    "SELECT /* doctord */ p.id, p.user, p.host, p.db, p.command, {ms}, p.state, LEFT(p.info, 4000), {tid}, {trx} "
    "FROM information_schema.processlist p {join} WHERE p.id <> CONNECTION_ID() "
    "AND p.user NOT IN ('system user', 'event_scheduler') AND (p.command NOT IN ({rest}){sleeping})"
)
_BY_THREADS: Final = (
    "SELECT /* doctord */ p.processlist_id, p.processlist_user, p.processlist_host, p.processlist_db, "
    "p.processlist_command, 1000 * p.processlist_time, p.processlist_state, LEFT(p.processlist_info, 4000), {tid}, "
    "{trx} FROM performance_schema.threads p {join} WHERE p.type = 'FOREGROUND' "
    "AND p.processlist_id <> CONNECTION_ID() AND (p.processlist_command NOT IN ({rest}){sleeping})"
)
_BLOCKING: Final = (
    "SELECT /* doctord */ r.trx_mysql_thread_id, b.trx_mysql_thread_id FROM {waits} w "
    "JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_{id} "
    "JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_{id}"
)
_BLOCKERS: Final = {
    True: _BLOCKING.format(waits="information_schema.innodb_lock_waits", id="trx_id"),
    False: _BLOCKING.format(waits="performance_schema.data_lock_waits", id="engine_transaction_id"),
}
_OWN_THREAD: Final = {
    True: "SELECT /* doctord */ tid FROM information_schema.processlist WHERE id = CONNECTION_ID()",
    False: "SELECT /* doctord */ thread_os_id FROM performance_schema.threads WHERE processlist_id = CONNECTION_ID()",
}


class MySQLSessions(LinkedCollector[Link]):
    """Fills `session` with every sample, `wait` once a second, and `statement` with the texts of what was met.

    A session that sleeps in an open transaction is `idle in transaction`.
    """

    def __init__(self, driver: Driver, notices: Notices) -> None:
        """Nothing is connected yet; `driver` is a `MySQLDriver`."""
        super().__init__(f"sessions of {driver.db}", Link(driver, notices), _PERIOD_S)
        self._db = driver.db
        self._sql = ""
        self._mariadb = True
        self._every_s = _PERIOD_S
        self._waits = SessionWaits(_PERIOD_S)
        self._threads = Threads()
        self._sampled_at: float | None = None
        self._blockers: dict[int, int] = {}
        self._asked_at = 0.0
        self._told: dict[str, float] = {}
        self._ids: dict[str, str | None] = {}

    def _sample(self) -> list[Batch]:
        """Rows of this moment; none while the server is away."""
        try:
            if self._link.open() or not self._sql:
                self._begin()
            return self._sessions() if self._is_due() else []
        except Away:
            self._sampled_at = None
            self._waits.forget()
        except UserError as refusal:
            self._notices.not_measured(self._db, "sessions", str(refusal), refusal.hint)
        return []

    def _is_due(self) -> bool:
        """Whether this server is to be asked now, which is not known before it was asked at first."""
        return self._sampled_at is None or time.monotonic() - self._sampled_at >= self._every_s - _PERIOD_S / 2

    def _begin(self) -> None:
        """Find out which tables this server has, and which of them may be read."""
        held = dict(self._link.query("SHOW /* doctord */ GLOBAL VARIABLES WHERE variable_name IN "
                                     "('version', 'port', 'performance_schema')"))  # fmt: skip
        self._mariadb = is_mariadb(str(held.get("version", "")))
        port = str(held.get("port", "0"))
        self._db = f"mysql:{port}" if port != "0" else self._link.db
        has_threads = held.get("performance_schema") == "ON" and not self._mariadb
        tid = "p.thread_os_id" if has_threads else "p.tid" if self._mariadb else "NULL"
        ms = "p.time_ms" if self._mariadb else "1000 * p.time"
        form = _BY_THREADS if has_threads else _BY_LIST
        key = "p.processlist_id" if has_threads else "p.id"
        rest = {"ms": ms, "tid": tid, "rest": _AT_REST}
        join = f"LEFT JOIN information_schema.innodb_trx trx ON trx.trx_mysql_thread_id = {key}"
        with_trx = form.format(**rest, trx=_TRX, join=join, sleeping=" OR trx.trx_id IS NOT NULL")
        self._sql = self._readable(with_trx) or form.format(**rest, trx="0, NULL, NULL", join="", sleeping="")
        self._every_s = _PERIOD_S if has_threads else _PERIOD_BY_LIST_S
        self._waits = SessionWaits(self._every_s)
        self._sampled_at = None
        self._threads.begin(self._own_thread())

    def _readable(self, sql: str) -> str | None:
        try:
            self._link.query(sql)
        except UserError as refusal:
            why = f"open transactions and who blocks whom are not seen: {refusal}"
            self._notices.not_measured(self._db, "InnoDB's transactions", why, PROCESS)
            return None
        return sql

    def _own_thread(self) -> int | None:
        try:
            told = self._link.query(_OWN_THREAD[self._mariadb])
        except UserError:  # then states alone tell
            return None
        return int(told[0][0]) if told and told[0][0] else None

    def _sessions(self) -> list[Batch]:
        found = [row for row in self._link.query(self._sql) if _OURS not in str(row[_INFO])]
        now = time.monotonic()
        interval_s = min(now - self._sampled_at, _LONGEST_INTERVAL_S) if self._sampled_at else self._every_s
        self._sampled_at = now
        self._ask_blockers(any(row[_WAITS] for row in found), now)
        moment = {"ts": now_us(), "interval_s": interval_s, "host": os.uname().nodename, "db": self._db}
        texts: dict[str, dict[str, Any]] = {}
        sample = [self._row(row, moment, texts) for row in found]
        batches = [rows(table, told) for table, told in (("session", sample), ("statement", [*texts.values()])) if told]
        return batches + self._waits.add(self._db, sample, interval_s)

    def _row(self, row: tuple[Any, ...], moment: dict[str, Any], texts: dict[str, dict[str, Any]]) -> dict[str, Any]:
        sid, user, host, database, command, since_ms, state, info, thread, waits, age_s, waited_s = row
        since_s = float(since_ms) / 1000 if since_ms is not None else None
        is_idle = command == "Sleep"
        return {
            **moment,
            "database": database or None,
            "sid": int(sid),
            "kind": CLIENT,
            "user": user or None,
            "client": client_of(str(host or "")),
            "state": "idle in transaction" if is_idle else "active",
            **self._wait("idle" if is_idle else LOCK_WAIT if waits else str(state or ""), since_s, thread),
            "statement_id": self._statement(str(info), database, moment, texts) if info else None,
            "blocker_sid": self._blockers.get(int(sid)),
            "in_state_s": float(waited_s) if waits and waited_s is not None else since_s,
            "statement_s": None if is_idle else since_s,
            "transaction_s": float(age_s) if age_s is not None else None,
        }

    def _wait(self, state: str, since_s: float | None, thread: int | None) -> dict[str, str | None]:
        """What a thread waits for: as its state tells, else as the kernel does."""
        told = wait_of(state, since_s)
        event = self._threads.event(thread) if told["wait_class"] == "Unaccounted" else None
        known = find("mysql", event) if event else None
        return {"wait_class": known.wait_class, "event": known.event, "wait_kind": known.wait_kind} if known else told

    def _ask_blockers(self, is_waited: bool, now: float) -> None:  # noqa: FBT001 - whether anybody waits
        if not is_waited:
            self._blockers = {}
        elif now - self._asked_at >= _BLOCKERS_EVERY_S:
            self._asked_at = now
            try:
                self._blockers = {int(sid): int(by) for sid, by in self._link.query(_BLOCKERS[self._mariadb])}
            except UserError as refusal:  # the sessions themselves are known: this sample must not go with the answer
                self._notices.not_measured(self._db, "who blocks whom", str(refusal), refusal.hint)

    def _statement(
        self, info: str, database: str | None, moment: dict[str, Any], texts: dict[str, dict[str, Any]]
    ) -> str | None:
        """The identifier of a text; the text itself goes into `texts` every few minutes."""
        if len(self._ids) > _TEXTS_KNOWN:
            self._ids, self._told = {}, {}
        if info not in self._ids:
            plain = scrub(info, "mysql")
            self._ids[info] = text_id(plain) if plain else None
        named = self._ids[info]
        if named and time.monotonic() - self._told.get(named, -_TEXT_AGAIN_S) >= _TEXT_AGAIN_S:
            self._told[named] = time.monotonic()
            about = {key: moment[key] for key in ("ts", "interval_s", "host", "db")}
            texts[named] = about | {"database": database or None, "statement_id": named, "text": scrub(info, "mysql")}
        return named
