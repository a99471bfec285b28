"""Commits that wait for one write of the log that does not end."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.hosts import DB, HOST, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

LOOKS = 10


def samples(pid: int, event: str = "WALWrite", kind: str = "log write", comes_back_at: int | None = None) -> list[Any]:
    """Of one session, one a second; it came back at one of them, and waits again since."""
    begun = 0 if comes_back_at is None else comes_back_at
    return [
        {"ts": START + timedelta(seconds=20 - LOOKS + at), "interval_s": 1.0, "host": HOST, "db": DB, "sid": pid,
         "pid": pid, "kind": "client", "state": "active", "wait_class": "LWLock", "event": event, "wait_kind": kind,
         "in_state_s": 3.0 + at if at < begun or comes_back_at is None else at - begun + 0.5}
        for at in range(LOOKS)
    ]  # fmt: skip


def causes(*sessions: list[Any]) -> dict[str, str]:
    dataset = host(time={}, extra={"session": [row for rows in sessions for row in rows]})
    assert isinstance(dataset, Dataset)
    return {finding.cause: said(finding.title) for finding in diagnose(dataset).findings}


def test_sessions_that_never_come_out_of_the_log_hang() -> None:
    found = causes(samples(1), samples(2), samples(3))
    assert found["commits_hang"].endswith("hang: 3 sessions have waited for the log for up to 12 s, and none came back")
    assert "other_waits" not in found


@pytest.mark.parametrize(
    "others",
    [[samples(2, comes_back_at=6)], [], [samples(2, "SyncRep", "standby")]],
    ids=["one comes back", "one alone", "for a standby"],
)
def test_what_moves_does_not_hang(others: list[list[Any]]) -> None:
    assert "commits_hang" not in causes(samples(1), *others)
