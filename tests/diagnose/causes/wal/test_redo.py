"""Commits, log buffers, checkpoints."""

from typing import Any

import pytest

from diagnose.hosts import DB, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

COMMITS = (None, "pg_stat_database.xact_commit")
FULL = {"usr_pct": 90.0, "sys_pct": 8.0, "idle_pct": 1.0}
WAITING = {("Commit", "WALSync"): 2.0, ("CPU", "CPU"): 0.2}


def test_slow_commits_on_a_slow_device() -> None:
    found = diagnose(host(time=WAITING, postgres={COMMITS: 100.0}, disk={"write_ms": 15.0})).findings
    commits = next(finding for finding in found if finding.cause == "commits_slow")
    assert "20.0 ms" in said(commits.title)
    assert "device is slow" in said(commits.title)
    assert commits.against == ()


def test_commits_that_wait_longer_than_the_device_needs() -> None:
    found = diagnose(host(time=WAITING, postgres={COMMITS: 100.0}, disk={"write_ms": 1.0})).findings
    commits = next(finding for finding in found if finding.cause == "commits_slow")
    assert "more than the device" in said(commits.title)
    assert any("1.0 ms" in said(item.figure) for item in commits.against)
    assert "log_writer_starved" not in {finding.cause for finding in found}, "CPUs are idle, and the device is a guess"


def test_commits_that_wait_longer_than_the_device_needs_while_no_cpu_is_free() -> None:
    found = diagnose(host(time=WAITING, postgres={COMMITS: 100.0}, disk={"write_ms": 1.0}, cpu=FULL)).findings
    commits = next(finding for finding in found if finding.cause == "log_writer_starved")
    assert "20.0 ms, the log write takes 1.0: the difference is CPU scheduling" in said(commits.title)
    assert "commits_slow" not in {finding.cause for finding in found}


def test_the_servers_own_timing_of_the_log_goes_before_the_devices() -> None:
    timed = {COMMITS: 100.0, (None, "pg_stat_wal.wal_sync_time"): 1800.0, (None, "pg_stat_wal.wal_sync"): 100.0}
    found = diagnose(host(time=WAITING, postgres=timed, disk={"write_ms": 1.0})).findings
    assert "device is slow" in said(next(finding for finding in found if finding.cause == "commits_slow").title)


def test_many_quick_commits_are_healthy() -> None:
    busy = {("Commit", "WALSync"): 1.0, ("CPU", "CPU"): 0.4}
    assert diagnose(host(time=busy, postgres={COMMITS: 600.0})).healthy


def test_checkpoints_by_size_every_few_seconds() -> None:
    storm = {
        (None, "pg_stat_checkpointer.num_requested"): 0.25,
        (None, "pg_stat_wal.wal_bytes"): 40e6,
        (None, "pg_stat_wal.wal_fpi"): 4000.0,
        COMMITS: 150.0,
    }
    found = diagnose(host(time=WAITING, postgres=storm, settings={"max_wal_size": "32"})).findings
    assert found[0].cause == "checkpoints_too_frequent"
    assert "every 4 s" in said(found[0].title)
    assert [finding.explained_by for finding in found if finding.cause == "commits_slow"] == [found[0].cause]


ASKED = {(None, "pg_stat_checkpointer.num_requested"): 0.4, (None, "pg_stat_wal.wal_bytes"): 2e6}
ROOM = {"max_wal_size": "4096", "checkpoint_completion_target": "0.9"}


def checkpoints(*reasons: str) -> list[dict[str, Any]]:
    return [{"kind": "checkpoint", "db": DB, "subject": "start", "text": f"started: {reason}"} for reason in reasons]


@pytest.mark.parametrize(
    "seen", [{"settings": ROOM}, {"events": checkpoints(*["immediate force wait"] * 7, "wal", "time", "shutdown")}]
)
def test_checkpoints_that_somebody_asks_for_are_not_the_logs_size(seen: dict[str, Any]) -> None:
    asking = {"wait_class": "Other", "event": "CheckpointDone", "program": "snapshots", "statement_id": "9"}
    text = {"statement_id": "9", "text": "CHECKPOINT", "calls_per_s": 0.4, "elapsed_s_per_s": 0.01}
    quiet: dict[str, Any] = {"time": {("CPU", "CPU"): 0.1}, "postgres": ASKED, "statements": [text]}
    findings = diagnose(host(sessions=[asking | {"samples": 5}], **quiet, **seen)).findings
    finding = next(one for one in findings if one.cause == "checkpoints_too_frequent")
    assert said(finding.title) == f"A checkpoint every 2.5 s at {DB}: each is asked for by a command"
    assert finding.severity == "note"
    told = " | ".join(f"{said(item.figure)}: {said(item.why)}" for item in finding.for_)
    assert "user app, program snapshots: 5 samples waiting for a checkpoint: CHECKPOINT" in told
    assert ("7 of 8 checkpoints in the log: started: immediate force wait" in told) is ("events" in seen)
    assert not any("raise max_wal_size" in said(step).lower() for step in finding.remedy)


def test_the_log_tells_that_it_is_the_size() -> None:
    events = checkpoints(*["wal"] * 7, "fast force wait")
    findings = diagnose(host(postgres=ASKED, settings=ROOM, events=events)).findings
    [title] = [said(one.title) for one in findings if one.cause == "checkpoints_too_frequent"]
    assert title == f"A checkpoint every 2.5 s because the log of {DB} reaches its size limit"


def test_where_nothing_tells_why_no_reason_is_named() -> None:
    findings = diagnose(host(postgres={(None, "pg_stat_checkpointer.num_requested"): 0.4})).findings
    [title] = [said(one.title) for one in findings if one.cause == "checkpoints_too_frequent"]
    assert title == f"A checkpoint every 2.5 s at {DB}, before its time"


@pytest.mark.parametrize("requested", [0.0, 0.05])
def test_a_single_requested_checkpoint_is_no_storm(requested: float) -> None:
    assert diagnose(host(postgres={(None, "pg_stat_checkpointer.num_requested"): requested})).healthy


def test_full_log_buffers() -> None:
    time = {("Concurrency", "WALBufMapping"): 1.5, ("CPU", "CPU"): 0.5}
    full = {(None, "pg_stat_wal.wal_buffers_full"): 400.0, (None, "pg_stat_wal.wal_bytes"): 90e6}
    found = diagnose(host(time=time, postgres=full, settings={"wal_buffers": "512"})).findings
    assert found[0].cause == "wal_buffers_full"
    assert "400 times a second" in said(found[0].title)


LOAD = {
    "statement_id": "7", "text": "insert into readings select $1", "calls_per_s": 5.0, "elapsed_s_per_s": 0.08,
    "rows_per_s": 15_000.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("writes", "blocks", "severity"),
    [(410.0, "8", "warning"), (4000.0, "8", None), (410.0, "2048", "note")],
    ids=["most writes of the log", "few of them", "large buffers"],
)
def test_a_load_that_writes_the_log_itself(writes: float, blocks: str, severity: str | None) -> None:
    figures = {(None, "pg_stat_wal.wal_buffers_full"): 400.0, (None, "pg_stat_wal.wal_write"): writes}
    settings = {"wal_buffers": blocks, "wal_sync_method": "open_sync"}
    waiting = {"wait_class": "Commit", "event": "WALWrite", "statement_id": "7", "interval_s": 0.06}
    seen = host(time={("CPU", "CPU"): 0.05}, postgres=figures, settings=settings, statements=[LOAD], sessions=[waiting])
    found = {finding.cause: finding for finding in diagnose(seen).findings}
    assert ("wal_buffers_full" in found) is (severity is not None)
    if severity:
        finding = found["wal_buffers_full"]
        assert finding.severity == severity
        told = [said(item.figure) for item in finding.for_]
        assert "98 % of its writes" in told
        assert "wal_sync_method = open_sync" in told


def test_commits_of_mysql_are_the_same_causes() -> None:
    """MySQL has the commits that wait, by the state of its threads, and no time of a write of the log."""
    row = {"ts": START, "interval_s": 60.0, "host": "h", "db": "mysql:3306"}
    states = {"waiting for handler commit": 2.0, "Waiting for semi-sync ACK from replica": 1.0, "CPU": 1.0}
    dataset = Dataset.from_rows(
        wait=[
            {**row, "kind": "foreground", "wait_class": "Commit", "event": event, "average_active_sessions": each}
            for event, each in states.items()
        ],
        statistic=[{**row, "name": "global_status.handler_commit", "value": 100.0}],
    )
    found = {finding.cause: finding for finding in diagnose(dataset).findings}
    assert {"commits_slow", "standby_slows_commits"} <= set(found)
    assert said(found["commits_slow"].title) == "Commits wait 20.0 ms for the log"
    assert any("innodb_flush_log_at_trx_commit" in said(step) for step in found["commits_slow"].remedy)
