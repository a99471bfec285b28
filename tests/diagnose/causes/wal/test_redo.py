"""Commits, log buffers, checkpoints."""

import pytest

from diagnose.hosts import START, host
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


@pytest.mark.parametrize("requested", [0.0, 0.05])
def test_a_single_requested_checkpoint_is_no_storm(requested: float) -> None:
    assert diagnose(host(postgres={(None, "pg_stat_checkpointer.num_requested"): requested})).healthy


def test_full_log_buffers() -> None:
    time = {("Concurrency", "WALBufMapping"): 1.5, ("CPU", "CPU"): 0.5}
    full = {(None, "pg_stat_wal.wal_buffers_full"): 400.0, (None, "pg_stat_wal.wal_bytes"): 90e6}
    found = diagnose(host(time=time, postgres=full, settings={"wal_buffers": "512"})).findings
    assert found[0].cause == "wal_buffers_full"
    assert "400 times a second" in said(found[0].title)


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
