"""Blocking trees lead to the session at the root."""

from datetime import UTC, datetime
from typing import Any

import pytest

from doctord.analyse.locking.locks import blockers, gates, lock_waits
from doctord.dataset.dataset import Dataset

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def session(sid: int, blocker: int | None = None, state: str = "active", **columns: Any) -> dict[str, Any]:
    known = {"ts": NOW, "interval_s": 0.1, "host": "a", "db": "postgresql:5432", "kind": "client"}
    return {**known, "sid": sid, "blocker_sid": blocker, "state": state, **columns}


def test_a_chain_counts_for_its_root() -> None:
    chain = [session(sid, sid - 1) for sid in range(2, 12)]
    root = session(1, state="idle in transaction", user="app", transaction_s=42.0)
    (blocker,) = blockers(Dataset.from_rows(session=[*chain, root]))
    assert (blocker.sid, blocker.user, blocker.waiters, blocker.transaction_s) == (1, "app", 10, 42.0)
    assert blocker.blocked_s == pytest.approx(1.0)
    assert blocker.idle_blocked_s == pytest.approx(1.0)


def test_a_root_at_work_has_no_idle_time() -> None:
    (blocker,) = blockers(Dataset.from_rows(session=[session(2, 1), session(1)]))
    assert blocker.idle_blocked_s == 0


def test_a_root_that_was_not_sampled_is_still_named() -> None:
    (blocker,) = blockers(Dataset.from_rows(session=[session(2, 99)]))
    assert (blocker.sid, blocker.user) == (99, None)


def test_a_deadlock_ends() -> None:
    assert sum(b.waiters for b in blockers(Dataset.from_rows(session=[session(1, 2), session(2, 1)]))) == 2


def test_a_session_that_two_rows_tell_of_counts_as_often_and_has_one_root() -> None:
    (blocker,) = blockers(Dataset.from_rows(session=[session(3, 2), session(2, 1), session(2, 1), session(1)]))
    assert (blocker.sid, blocker.waiters) == (1, 3)


def test_nobody_waits() -> None:
    assert blockers(Dataset.from_rows(session=[session(1)])) == []


def test_what_the_root_does_while_others_wait() -> None:
    (blocker,) = blockers(Dataset.from_rows(session=[session(2, 1), session(1, event="WALSync")]))
    assert blocker.event == "WALSync"
    (idle,) = blockers(Dataset.from_rows(session=[session(2, 1), session(1, state="idle in transaction", event="x")]))
    assert idle.event is None


def waiter(sid: int, blocker: int, event: str = "transactionid", **columns: Any) -> dict[str, Any]:
    return session(sid, blocker, wait_class="Application", event=event, **columns)


def divided(*rows: dict[str, Any]) -> list[tuple[str | None, str | None, str | None, float]]:
    waits = lock_waits(Dataset.from_rows(session=list(rows)))
    return [(one.wait_kind, one.root_kind, one.root_event, round(one.seconds, 3)) for one in waits]


@pytest.mark.parametrize(
    ("root", "kind", "event"),
    [
        ({"wait_class": "Commit", "event": "SyncRep"}, "standby", "SyncRep"),
        ({"wait_class": "CPU", "event": "CPU"}, "cpu", "CPU"),
        ({"wait_class": "Commit", "event": "an event of tomorrow", "wait_kind": "log sync"}, "log sync", None),
        ({"wait_class": "Idle", "event": "ClientRead", "state": "idle in transaction"}, "idle in transaction", None),
        ({"wait_class": "Application", "event": "transactionid"}, None, None),
    ],
    ids=["standby", "cpu", "kind of the row", "idle", "waits for a holder that was not told"],
)
def test_all_in_line_wait_for_what_the_root_does(root: dict[str, Any], kind: str | None, event: str | None) -> None:
    told = divided(session(1, **root), waiter(2, 1), waiter(3, 2, "tuple"), waiter(4, 2, "tuple"))
    assert [(one[0], one[1], one[3]) for one in told] == [("row lock", kind, 0.1), ("row lock", kind, 0.2)]
    assert event is None or {one[2] for one in told} == {event}


def test_a_root_without_a_session_is_a_prepared_transaction() -> None:
    assert divided(waiter(2, 0)) == [("row lock", "prepared transaction", "prepared transaction", 0.1)]


def test_a_root_that_was_not_sampled_or_waits_in_a_circle_tells_nothing() -> None:
    assert divided(waiter(2, 99)) == [("row lock", None, None, 0.1)]
    assert divided(waiter(2, 3), waiter(3, 2)) == [("row lock", None, None, 0.2)]


def test_who_waits_in_line_behind_one_that_waits_itself() -> None:
    holder = session(1, state="idle in transaction")
    ddl = waiter(2, 1, "relation", user="deploy", in_state_s=4.0)
    readers = [waiter(sid, 2, "relation") for sid in (3, 4, 5)]
    (gate,) = gates(Dataset.from_rows(session=[holder, ddl, *readers]), ["relation"])
    assert (gate.sid, gate.user, gate.waiters, gate.waited_s, gate.root) == (2, "deploy", 3, 4.0, 1)
    assert gate.blocked_s == pytest.approx(0.3)
    assert gates(Dataset.from_rows(session=[holder, ddl]), ["relation"]) == []
    assert gates(Dataset.from_rows(session=[holder, ddl, *readers]), ["tuple"]) == []
    assert gates(Dataset(), ["relation"]) == []
