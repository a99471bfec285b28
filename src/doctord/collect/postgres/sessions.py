"""Samples of the sessions that are not idle, several times a second: where database time goes, and who blocks whom.

Cost is what this file is about. `pg_stat_get_activity` is asked rather than the view on it, which joins names that are
cached here; the text of a client's query is fetched once, and only of what runs for long (`running_texts`);
`pg_blocking_pids`, which takes the lock manager's locks, is asked for sessions that wait for a lock only
(`pg_safe_snapshot_blocking_pids` for those that wait for a safe snapshot), not more than twice a second each; what
those hold that others wait for (`table_locks`, `own_clients`) once in two seconds. Of those at work that wait for
nothing the kernel is asked whether they sleep (`kernel_waits`) and for whom (`answering`), and once a second who is not
logged in yet (`logins_under_way`); clients on this host are looked at as processes (`client_processes`); waits for an
object are told apart (`notify_queue`). What an autovacuum worker is at, the server itself says in place of a query
(`autovacuum: VACUUM public.t`): that is its `program`.
"""

import math
import os
import time
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.cost import Cost
from doctord.collect.core.link import Away
from doctord.collect.core.session_waits import SessionWaits
from doctord.collect.postgres.answering import Answering
from doctord.collect.postgres.client_processes import ClientProcesses
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.kernel_waits import KernelWaits
from doctord.collect.postgres.logins_under_way import LoginsUnderWay
from doctord.collect.postgres.notify_queue import NotifyQueue
from doctord.collect.postgres.own_clients import OwnClients
from doctord.collect.postgres.running_texts import RunningTexts
from doctord.collect.postgres.table_locks import TableLocks
from doctord.dataset.rows import now_us, rows
from doctord.dataset.secrets import program_name
from doctord.dataset.tables import CLIENT
from doctord.dataset.waits.postgres import Wait, classify
from doctord.errors import UserError

_BLOCKERS_EVERY_S: Final = 0.5
_BLOCKERS_SHARE: Final = 0.05  # of the time: a server that answers slowly is asked the more seldom
_WAITERS_AT_ONCE: Final = 32
_NEVER: Final = (-math.inf, None)
_NAMES_EVERY_S: Final = 5.0
_LONGEST_INTERVAL_S: Final = 1.0  # a sample stands for no more, whatever the sampler was kept from

_CLIENT_BACKEND: Final = "client backend"
_ACTIVITY: Final = """\
SELECT /* doctord */ datid, pid, usesysid, application_name, state, wait_event_type, wait_event, backend_type,
       host(client_addr) AS client, {query_id} AS query_id, greatest(age(backend_xmin), age(backend_xid)) AS xmin_age,
       CASE WHEN backend_type = 'autovacuum worker' THEN nullif(query, '') END AS task,
       (date_part('epoch', backend_start) * 1e6)::bigint AS serial,
       date_part('epoch', clock_timestamp() - xact_start) AS transaction_s,
       date_part('epoch', clock_timestamp() - query_start) AS statement_s,
       date_part('epoch', clock_timestamp() - state_change) AS in_state_s
FROM pg_stat_get_activity(NULL)
WHERE pid <> pg_backend_pid()
  AND CASE WHEN state IS NULL THEN backend_type <> 'client backend' AND wait_event_type IS DISTINCT FROM 'Activity'
           ELSE state NOT IN ('idle', 'disabled') AND wait_event_type IS DISTINCT FROM 'Activity' END
"""
_BLOCKERS: Final = """\
SELECT /* doctord */ pid, pg_blocking_pids(pid) AS blockers FROM unnest(%s::int[]) AS pid
UNION ALL
SELECT pid, pg_safe_snapshot_blocking_pids(pid) FROM unnest(%s::int[]) AS pid
"""
_SAFE_SNAPSHOT: Final = "SafeSnapshot"
_DATABASES: Final = "SELECT /* doctord */ oid, datname AS name FROM pg_database"
_ROLES: Final = "SELECT /* doctord */ oid, rolname AS name FROM pg_roles"


class SessionCollector:
    """Fills `session` with every sample and `wait` once a second, for one server.

    `wait` holds the average number of sessions, their parallel workers included, that were active in each event, and
    the event `CPU` also when it was none. An idle transaction is in `session` with the class Idle, but not in `wait`.
    A `blocker_sid` of 0 is a prepared transaction.
    """

    period_s = 0.1
    at_random = True

    def __init__(self, link: Link, notifying: NotifyQueue | None = None) -> None:
        """The link is opened with the first sample, in the thread that takes it; `notifying` others may read."""
        self.name = f"{link.db} sessions"
        self._link = link
        self._databases: dict[int, str] = {}
        self._roles: dict[int, str] = {}
        self._names_at = -math.inf
        self._blockers: dict[int, tuple[float, int | None]] = {}
        self._blockers_from = -math.inf
        self._sampled_at: float | None = None
        self._waits = SessionWaits(self.period_s)
        self._kernel = KernelWaits()
        self._answering = Answering()
        self._logins = LoginsUnderWay()
        self._notifying = notifying or NotifyQueue()
        self._own_clients = OwnClients()
        self._table_locks = TableLocks()
        self._client_processes = ClientProcesses()
        self._texts = RunningTexts()
        self._cost = Cost(self.name)

    def sample(self) -> list[Batch]:
        """Rows of `session`; every second those of `wait` too; what went wrong as `event`."""
        batches: list[Batch] = []
        try:
            with self._cost:
                if self._link.open():
                    self._sampled_at = None
                    self._kernel.begin(self._link)
                    self._logins.begin(self._link)
                    self._client_processes.begin()
                    batches.append(self._link.own_backend())
                batches += self._sessions()
                batches += self._logins.look(self._link.db)
                batches += self._client_processes.look(self._link)
        except Away:
            self._sampled_at = None
            self._waits.forget()
            self._logins.begin_unasked(self._link)
            batches += self._logins.look(self._link.db)
        except UserError as refusal:
            self._link.notices.not_measured(self._link.db, "sessions", str(refusal), refusal.hint)
        return batches + self._cost.batches() + self._link.notices.batches()

    def close(self) -> None:
        """Close the connection."""
        self._link.close()

    def _sessions(self) -> list[Batch]:
        query_id = "query_id" if self._link.version >= 140000 else "NULL::bigint"
        active = self._link.query(_ACTIVITY.format(query_id=query_id), prepare=True)
        now = time.monotonic()
        interval = min(now - self._sampled_at, _LONGEST_INTERVAL_S) if self._sampled_at else self.period_s
        self._sampled_at = now
        self._know_names(active, now)
        self._ask_blockers(active, now)
        active = self._who_notifies(active)
        self._client_processes.add(active, interval)
        in_kernel = self._kernel.find(self._link, active)
        ts = now_us()  # one for all: who blocks whom is found among rows of one moment
        sample = [self._row(session, ts, interval, in_kernel.get(session["pid"])) for session in active]
        batches = [*([rows("session", sample)] if sample else []), *self._kernel.reader(self._link, in_kernel)]
        batches += self._answering.look(self._link, (wait.event for wait in in_kernel.values()))
        batches += self._running(active, ts)
        if self._blockers:
            batches += self._held(active, {pid: blocker for pid, (_, blocker) in self._blockers.items()})
        return batches + self._waits.add(self._link.db, sample, interval)

    def _running(self, active: list[dict[str, Any]], ts: int) -> list[Batch]:
        """Texts of what runs for long."""
        try:
            return self._texts.look(self._link, active, self._databases, ts)
        except UserError as refusal:
            self._link.notices.not_measured(self._link.db, "texts of running statements", str(refusal), refusal.hint)
            return []

    def _held(self, active: list[dict[str, Any]], behind: dict[int, int | None]) -> list[Batch]:
        """What those hold that others wait for, and whether they wait for a session of their own."""
        own = self._own_clients.look(self._link.db, active, behind) if self._link.server_pid() is not None else []
        try:
            return own + self._table_locks.look(self._link, active, behind)
        except UserError as refusal:
            self._link.notices.not_measured(self._link.db, "locks on tables", str(refusal), refusal.hint)
            return own

    def _row(self, session: dict[str, Any], ts: int, interval: float, in_kernel: Wait | None) -> dict[str, Any]:
        kind, state = session["backend_type"], session["state"]
        wait = in_kernel or classify(session["wait_event_type"], session["wait_event"], kind)
        if state is not None and state.startswith("idle in transaction"):
            wait = wait._replace(wait_class="Idle", wait_kind="idle")
        query_id = session["query_id"]
        return {
            "ts": ts,
            "interval_s": interval,
            "host": os.uname().nodename,
            "db": self._link.db,
            "database": self._databases.get(session["datid"]),
            "sid": session["pid"],
            "serial": session["serial"],
            "kind": CLIENT if kind == _CLIENT_BACKEND else kind,
            "user": self._roles.get(session["usesysid"]),
            "program": session["task"] or program_name(session["application_name"] or ""),
            "client": session["client"],
            "state": "active" if state == "fastpath function call" else state,
            **wait._asdict(),
            "statement_id": str(query_id) if query_id else None,
            "blocker_sid": self._blockers.get(session["pid"], _NEVER)[1],
            "in_state_s": session["in_state_s"],
            "statement_s": session["statement_s"],
            "transaction_s": session["transaction_s"],
            "xmin_age": session["xmin_age"],
            "pid": session["pid"],
        }

    def _know_names(self, active: list[dict[str, Any]], now: float) -> None:
        """Names of databases and roles, asked again when one is met that is not known."""
        unknown = any(
            (row["datid"] and row["datid"] not in self._databases)
            or (row["usesysid"] and row["usesysid"] not in self._roles)
            for row in active
        )
        if unknown and now - self._names_at >= _NAMES_EVERY_S:
            self._names_at = now
            self._databases = {row["oid"]: row["name"] for row in self._link.query(_DATABASES)}
            self._roles = {row["oid"]: row["name"] for row in self._link.query(_ROLES)}

    def _who_notifies(self, active: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The same sessions, those that wait to commit with NOTIFY told from those that wait for another object."""
        try:
            return self._notifying.named(self._link, active)
        except UserError as refusal:
            self._link.notices.not_measured(self._link.db, "commits with NOTIFY", str(refusal), refusal.hint)
            return active

    def _ask_blockers(self, active: list[dict[str, Any]], now: float) -> None:
        """Refresh who blocks the waiters that were not asked about lately; forget those that no longer wait."""
        for_snapshot = {row["pid"] for row in active if row["wait_event"] == _SAFE_SNAPSHOT}
        waiters = [row["pid"] for row in active if row["wait_event_type"] == "Lock" or row["pid"] in for_snapshot]
        self._blockers = {pid: self._blockers[pid] for pid in waiters if pid in self._blockers}
        due = [pid for pid in waiters if now - self._blockers.get(pid, _NEVER)[0] >= _BLOCKERS_EVERY_S]
        if not due or now < self._blockers_from:
            return
        due = due[:_WAITERS_AT_ONCE]
        for_lock = [pid for pid in due if pid not in for_snapshot]
        try:
            for row in self._link.query(_BLOCKERS, (for_lock, [*for_snapshot.intersection(due)]), prepare=True):
                self._blockers[row["pid"]] = (now, row["blockers"][0] if row["blockers"] else None)
        except UserError as refusal:  # the sessions themselves are known: this sample must not go with the answer
            self._link.notices.not_measured(self._link.db, "who blocks whom", str(refusal), refusal.hint)
        ended = time.monotonic()
        self._blockers_from = ended + (ended - now) / _BLOCKERS_SHARE - _BLOCKERS_EVERY_S
