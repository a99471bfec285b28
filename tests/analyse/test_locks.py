"""Blocking trees lead to the session at the root."""

from datetime import UTC, datetime
from typing import Any

import pytest

from doctord.analyse.locks import blockers
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


def test_nobody_waits() -> None:
    assert blockers(Dataset.from_rows(session=[session(1)])) == []


def test_what_the_root_does_while_others_wait() -> None:
    (blocker,) = blockers(Dataset.from_rows(session=[session(2, 1), session(1, event="WALSync")]))
    assert blocker.event == "WALSync"
    (idle,) = blockers(Dataset.from_rows(session=[session(2, 1), session(1, state="idle in transaction", event="x")]))
    assert idle.event is None
