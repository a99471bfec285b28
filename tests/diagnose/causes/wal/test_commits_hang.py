"""Commits that wait for one write of the log that does not end."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.hosts import DB, HOST, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

LOOKS = 10
FLUSHED = "pg_current_wal_flush_lsn.flushed_bytes"


def look(pid: int, second: float, in_state_s: float | None, event: str = "WALWrite", **more: Any) -> dict[str, Any]:
    """One sample of a session."""
    kind = {"WALWrite": "log write", "WALSync": "log sync", "CPU": "cpu", "SyncRep": "standby"}[event]
    return {
        "ts": START + timedelta(seconds=second), "interval_s": 1.0, "host": HOST, "db": DB, "sid": pid, "pid": pid,
        "kind": "client", "state": "active", "wait_class": "LWLock", "event": event, "wait_kind": kind,
        "in_state_s": in_state_s,
    } | more  # fmt: skip


def samples(pid: int, event: str = "WALWrite", comes_back_at: int | None = None) -> list[Any]:
    """Of one session, one a second until the end; it came back at one of them, and waits again since."""
    begun = 0 if comes_back_at is None else comes_back_at
    return [
        look(pid, 20 - LOOKS + at, 3.0 + at if at < begun or comes_back_at is None else at - begun + 0.5, event)
        for at in range(LOOKS)
    ]


def causes(*sessions: list[Any], **more: Any) -> dict[str, str]:
    dataset = host(time={}, extra={"session": [row for rows in sessions for row in rows]}, **more)
    return {finding.cause: said(finding.title) for finding in diagnose(once(dataset)).findings}


def once(dataset: Dataset, **more: list[dict[str, Any]]) -> Dataset:
    """A dataset with its sessions' rows once: `host` repeats what has its own time."""
    tables = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    rows = {(row["ts"], row["db"], row["sid"]): row for row in tables.get("session", [])}
    return Dataset.from_rows(**(tables | {"session": [*rows.values()]} | {
        name: [*tables.get(name, []), *extra] for name, extra in more.items()}))  # fmt: skip


def test_sessions_that_never_come_out_of_the_log_hang() -> None:
    found = causes(samples(1), samples(2), samples(3))
    assert found["commits_hang"].endswith("hang: 3 sessions have waited for the log for up to 12 s, and none came back")
    assert "other_waits" not in found


@pytest.mark.parametrize(
    "others",
    [[samples(2, comes_back_at=6)], [], [samples(2, "SyncRep")]],
    ids=["one comes back", "one alone", "for a standby"],
)
def test_what_moves_does_not_hang(others: list[list[Any]]) -> None:
    assert "commits_hang" not in causes(samples(1), *others)


def test_bulk_loads_that_wait_for_the_log_at_each_look_do_not_hang() -> None:
    """Each of five seconds waits for the log; not for one write of it."""
    loads = [
        [look(pid, 15 + 0.1 * at, 60 + 0.1 * at, "WALSync" if (at // 7 + pid) % 2 else "WALWrite") for at in range(50)]
        for pid in (1, 2)
    ]
    assert "commits_hang" not in causes(*loads)


@pytest.mark.parametrize("takes_s", [0.01, 0.07, 0.3, 2.0])
def test_short_commits_that_are_met_at_each_look_do_not_hang(takes_s: float) -> None:
    """Ten looks a second at a disk that each session waits for all the time."""
    busy = [
        [look(pid, 0.1 * at, (0.1 * at + 0.037 * pid) % takes_s, "WALSync", interval_s=0.1) for at in range(200)]
        for pid in (1, 2, 3, 4)
    ]
    writer = [look(9, 0.1 * at, None, "WALSync", kind="walwriter", state=None, interval_s=0.1) for at in range(200)]
    assert "commits_hang" not in causes(*busy, writer)


def test_a_log_writer_that_works_now_and_then_is_not_the_second_that_hangs() -> None:
    background = [look(9, at, None, kind="walwriter", state=None) for at in range(10, 20, 3)]
    more = [look(9, at + 0.5, None, kind="walwriter", state=None) for at in range(10, 20, 3)]
    assert "commits_hang" not in causes(samples(1), background, more)


def flushed(per_s: float, second: float) -> list[dict[str, Any]]:
    return [
        {"ts": START + timedelta(seconds=second), "interval_s": 5.0, "host": HOST, "component": "postgresql", "db": DB,
         "name": FLUSHED, "value": per_s, "unit": "bytes_per_s", "kind": "rate"}
    ]  # fmt: skip


@pytest.mark.parametrize(("per_s", "hangs"), [(0.0, True), (1e6, False)])
def test_whether_anything_of_the_log_was_written_meanwhile(per_s: float, *, hangs: bool) -> None:
    dataset = once(host(time={}, extra={"session": [*samples(1), *samples(2)]}), statistic=flushed(per_s, 17))
    told = {one.cause: one for one in diagnose(dataset).findings}
    assert ("commits_hang" in told) is hangs
    assert not hangs or any("stands still" in said(item.why) for item in told["commits_hang"].for_)


def hour(hang_s: int, at_s: int = 1200, others: int = 0) -> Dataset:
    """An hour in which commits take a moment, but for one time when none comes back; many sessions come meanwhile."""
    rows = []
    for pid in (1, 2, 3):
        for second in range(3600):
            stuck_s = second - at_s if at_s <= second < at_s + hang_s else None
            rows.append(look(pid, second, 0.01 if stuck_s is None else 0.5 + stuck_s,
                             "WALSync" if stuck_s is None and second % 3 else "WALWrite"))  # fmt: skip
    for number in range(others):
        begun = at_s + 2 * number
        rows += [look(100 + number, second, second - begun + 0.1) for second in range(begun, at_s + hang_s)]
    return once(host(seconds=3600, time={}, cpus=0), session=rows)


def test_a_hang_of_ten_minutes_in_an_hour_is_seen() -> None:
    told = {one.cause: one for one in diagnose(hour(600, others=20)).findings}
    finding = told["commits_hang"]
    assert said(finding.title).startswith(f"Commits of {DB} hung for 9 min 59 s until 12:29:59: 23 sessions")
    assert (finding.severity, bool(finding.against)) == ("warning", True)


def test_a_stall_of_some_seconds_that_is_over_is_slow_and_no_hang() -> None:
    assert "commits_hang" not in {one.cause for one in diagnose(hour(12)).findings}


def test_a_statement_that_began_long_before_the_freeze_hangs_too() -> None:
    writers = [
        [look(pid, at, 300.0 + at, "CPU" if at < 5 else "WALWrite", wait_class="CPU" if at < 5 else "LWLock")
         for at in range(20)]
        for pid in (1, 2)
    ]  # fmt: skip
    assert causes(*writers)["commits_hang"].endswith("for up to 14 s, and none came back")


def test_one_writer_and_the_servers_own_log_writer_hang() -> None:
    background = [look(9, at, None, kind="walwriter", state=None) for at in range(10, 20)]
    assert "hang: 2 sessions" in causes(samples(1), background)["commits_hang"]


def test_another_servers_commits_that_move_do_not_hide_a_hang() -> None:
    other = [look(pid, at, 0.01, db="postgresql:5433") for pid in (1, 2, 3) for at in range(20)]
    assert "commits_hang" in causes(samples(1), samples(2), other)


@pytest.mark.parametrize(("server", "by"), [(DB, "commits_hang"), ("postgresql:5433", None)])
def test_a_server_that_hangs_so_leaves_us_without_answer_too(server: str, by: str | None) -> None:
    """Who reads a block may have to write another one out, and its log before it."""
    silence = {"kind": "no answer", "db": server, "subject": server, "text": "no answer for 3 s", "interval_s": 8.0}
    dataset = once(host(time={}, extra={"session": [*samples(1), *samples(2)]}, events=[silence]))
    told = {one.cause: one.explained_by for one in diagnose(dataset).findings}
    assert told["server_does_not_answer"] == by
