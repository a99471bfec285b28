"""Samples of the sessions of a MariaDB or MySQL server that are not at rest: where its time goes, and who blocks whom.

Threads come from performance_schema where it is on, ten times a second; else from the process list, once a second
(`activity`). Who holds what is waited for is asked only while somebody waits (`blockers`). A state that tells no wait
(`Sending data`) is looked up in the kernel (`threads`).
"""

import os
import time
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.link import Away, Driver, Link
from doctord.collect.core.linked import LinkedCollector
from doctord.collect.core.notices import Notices
from doctord.collect.core.session_waits import SessionWaits
from doctord.collect.mysql.activity import PROCESS, Activity, Thread, activity
from doctord.collect.mysql.blockers import Blockers
from doctord.collect.mysql.threads import RUNNING, Threads
from doctord.dataset.mysql_threads import RUNNING as AT_WORK
from doctord.dataset.mysql_threads import client_of, wait_of
from doctord.dataset.rows import now_us, rows
from doctord.dataset.scrub import scrub, text_id
from doctord.dataset.tables import APPLIER, CLIENT
from doctord.dataset.waits.events import find
from doctord.errors import UserError

LOCK_WAIT: Final = "LOCK WAIT"
PARSE: Final = "parse"
LOOKS_UP: Final = "statistics"
NETWORK: Final = "Network"
# Threads are in the state of sending while the kernel copies what they send, too: who waits for a client waits longer.
QUICKLY_SENT_S: Final = 0.01
_PERIOD_S: Final = 0.1
_PERIOD_BY_LIST_S: Final = 1.0
_SOONER_S: Final = 0.07  # samples come at random: so much less than a period may lie between two
_LONGEST_INTERVAL_S: Final = 2.0  # a sample stands for no more, whatever the sampler was kept from
_TEXT_AGAIN_S: Final = 300.0
_TEXTS_KNOWN: Final = 2000


class MySQLSessions(LinkedCollector[Link]):
    """Fills `session` with every sample, `wait` once a second, and `statement` with the texts of what was met.

    A session that sleeps in an open transaction is `idle in transaction`, one that others wait for though it has none
    is `idle`; appliers of a replica that have something to do are of kind `replication applier`, whose time is no
    client's. A statement's identifier is its digest where the server tells it, else a hash of its text without values.
    """

    at_random = True

    def __init__(self, driver: Driver, notices: Notices) -> None:
        """Nothing is connected yet; `driver` is a `MySQLDriver`."""
        super().__init__(f"sessions of {driver.db}", Link(driver, notices), _PERIOD_S)
        self._activity: Activity | None = None
        self._every_s = _PERIOD_S
        self._waits = SessionWaits(_PERIOD_S)
        self._threads = Threads()
        self._blockers = Blockers()
        self._sampled_at: float | None = None
        self._texts = _Texts()

    def _sample(self) -> list[Batch]:
        """Rows of this moment; none while the server is away."""
        try:
            if self._link.open() or self._activity is None:
                self._activity = self._begin()
            return self._sessions(self._activity) if self._is_due() else []
        except Away:
            self._sampled_at = None
            self._waits.forget()
        except UserError as refusal:
            self._notices.not_measured(self._link.db, "sessions", str(refusal), refusal.hint)
        return []

    def _is_due(self) -> bool:
        """Whether this server is to be asked now, which is not known before it was asked at first."""
        return self._sampled_at is None or time.monotonic() - self._sampled_at >= self._every_s - _SOONER_S

    def _begin(self) -> Activity:
        found = activity(self._link)
        if not found.with_transactions:
            why = "open transactions, who holds rows, and sessions of others are not seen"
            self._notices.not_measured(found.db, "InnoDB's transactions", why, PROCESS)
        self._every_s = _PERIOD_S if found.by_threads else _PERIOD_BY_LIST_S
        self._waits = SessionWaits(self._every_s)
        self._sampled_at = None
        self._threads.begin(self._link)
        return found

    def _sessions(self, found: Activity) -> list[Batch]:
        threads = found.ask(self._link, self._blockers.holders)
        now = time.monotonic()
        interval_s = min(now - self._sampled_at, _LONGEST_INTERVAL_S) if self._sampled_at else self._every_s
        self._sampled_at = now
        behind = self._blockers.look(self._link, threads, is_mariadb=found.is_mariadb)
        for subject, refusal in self._blockers.refused.items():
            self._notices.not_measured(found.db, subject, str(refusal), refusal.hint)
        moment = {"ts": now_us(), "interval_s": interval_s, "host": os.uname().nodename, "db": found.db}
        sample = [self._row(one, moment) | {"blocker_sid": behind.get(one.sid)} for one in threads]
        told = {"session": sample, "statement": self._texts.told(moment)}
        batches = [rows(table, those) for table, those in told.items() if those]
        return batches + self._waits.add(found.db, sample, interval_s)

    def _row(self, thread: Thread, moment: dict[str, Any]) -> dict[str, Any]:
        since_s = float(thread.since_ms) / 1000 if thread.since_ms is not None else None
        is_idle = thread.command == "Sleep"
        state = "idle" if is_idle else LOCK_WAIT if thread.waits_for_lock else thread.state or ""
        waited_s = thread.waited_s if thread.waits_for_lock else None
        return {
            **moment,
            "database": thread.database or None,
            "sid": thread.sid,
            "kind": APPLIER if thread.is_applier else CLIENT,
            "user": None if thread.is_applier else thread.user or None,
            "client": client_of(thread.host or ""),
            "state": ("idle" if thread.transaction_s is None else "idle in transaction") if is_idle else "active",
            **self._wait(state, since_s, thread.os_thread),
            "statement_id": None if thread.is_applier else self._texts.id_of(thread),  # of the whole: BEGIN
            "in_state_s": since_s if waited_s is None else float(waited_s),
            "statement_s": None if is_idle else since_s,
            "transaction_s": None if thread.transaction_s is None else float(thread.transaction_s),
        }

    def _wait(self, state: str, since_s: float | None, os_thread: int | None) -> dict[str, str | None]:
        """What a thread waits for: as its state tells, else as the kernel does.

        While a plan is made MySQL reads what the plan goes by: a disk is told as such. In `statistics` it also looks
        up rows by a whole key, for which it may have to queue before InnoDB: that state tells nothing by itself. Nor
        does that of sending, while a statement is young.
        """
        told = wait_of(state, since_s)
        is_young = 0.0 < (since_s or 0.0) < QUICKLY_SENT_S  # of 0 s it is not known
        tells_nothing = state.lower() == LOOKS_UP or (told["wait_class"] == NETWORK and is_young)
        told = wait_of("", since_s) if tells_nothing else told
        is_plan = told["wait_kind"] == PARSE
        event = self._threads.event(os_thread) if is_plan or told["wait_class"] == "Unaccounted" else None
        if is_plan and event == RUNNING:
            return told
        known = find("mysql", event) if event else None
        if known is None and tells_nothing:
            return told | {"event": f"{AT_WORK}: {state}"}
        return {"wait_class": known.wait_class, "event": known.event, "wait_kind": known.wait_kind} if known else told


class _Texts:
    """Identifiers of statements, and their texts without values, each told again after some minutes."""

    def __init__(self) -> None:
        self._ids: dict[str, str | None] = {}
        self._told_at: dict[str, float] = {}
        self._untold: dict[str, Thread] = {}

    def id_of(self, thread: Thread) -> str | None:
        """The identifier of what a thread runs; null where it runs nothing."""
        if not thread.text:
            return None
        named = thread.digest or self._of_text(thread.text)
        if named and time.monotonic() - self._told_at.get(named, -_TEXT_AGAIN_S) >= _TEXT_AGAIN_S:
            self._told_at[named] = time.monotonic()
            self._untold[named] = thread
        return named

    def told(self, moment: dict[str, Any]) -> list[dict[str, Any]]:
        """Rows of `statement` for those whose text is due."""
        untold, self._untold = self._untold, {}
        return [
            moment | {"database": one.database or None, "statement_id": named, "text": scrub(one.text or "", "mysql")}
            for named, one in untold.items()
        ]

    def _of_text(self, text: str) -> str | None:
        if len(self._ids) > _TEXTS_KNOWN:
            self._ids.clear()
            self._told_at.clear()
        if text not in self._ids:
            plain = scrub(text, "mysql")
            self._ids[text] = text_id(plain) if plain else None
        return self._ids[text]
