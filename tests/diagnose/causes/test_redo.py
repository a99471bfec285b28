"""Commits, log buffers, checkpoints."""

import pytest

from diagnose.patients import patient
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

COMMITS = (None, "pg_stat_database.xact_commit")
WAITING = {("Commit", "WALSync"): 2.0, ("CPU", "CPU"): 0.2}


def test_slow_commits_on_a_slow_device() -> None:
    found = diagnose(patient(time=WAITING, postgres={COMMITS: 100.0}, disk={"write_ms": 15.0})).findings
    commits = next(finding for finding in found if finding.cause == "commits_slow")
    assert "20.0 ms" in said(commits.title)
    assert "device is slow" in said(commits.title)
    assert commits.against == ()


def test_commits_that_wait_longer_than_the_device_needs() -> None:
    found = diagnose(patient(time=WAITING, postgres={COMMITS: 100.0}, disk={"write_ms": 1.0})).findings
    commits = next(finding for finding in found if finding.cause == "commits_slow")
    assert "more than the device explains" in said(commits.title)
    assert commits.against


def test_the_servers_own_timing_of_the_log_goes_before_the_devices() -> None:
    timed = {COMMITS: 100.0, (None, "pg_stat_wal.wal_sync_time"): 1800.0, (None, "pg_stat_wal.wal_sync"): 100.0}
    found = diagnose(patient(time=WAITING, postgres=timed, disk={"write_ms": 1.0})).findings
    assert "device is slow" in said(next(finding for finding in found if finding.cause == "commits_slow").title)


def test_many_quick_commits_are_healthy() -> None:
    busy = {("Commit", "WALSync"): 1.0, ("CPU", "CPU"): 0.4}
    assert diagnose(patient(time=busy, postgres={COMMITS: 600.0})).healthy


def test_checkpoints_by_size_every_few_seconds() -> None:
    storm = {
        (None, "pg_stat_checkpointer.num_requested"): 0.25,
        (None, "pg_stat_wal.wal_bytes"): 40e6,
        (None, "pg_stat_wal.wal_fpi"): 4000.0,
        COMMITS: 150.0,
    }
    found = diagnose(patient(time=WAITING, postgres=storm, settings={"max_wal_size": "32"})).findings
    assert found[0].cause == "checkpoints_too_frequent"
    assert "every 4 s" in said(found[0].title)
    assert [finding.explained_by for finding in found if finding.cause == "commits_slow"] == [found[0].cause]


@pytest.mark.parametrize("requested", [0.0, 0.05])
def test_a_single_requested_checkpoint_is_no_storm(requested: float) -> None:
    assert diagnose(patient(postgres={(None, "pg_stat_checkpointer.num_requested"): requested})).healthy


def test_full_log_buffers() -> None:
    time = {("Concurrency", "WALBufMapping"): 1.5, ("CPU", "CPU"): 0.5}
    full = {(None, "pg_stat_wal.wal_buffers_full"): 400.0, (None, "pg_stat_wal.wal_bytes"): 90e6}
    found = diagnose(patient(time=time, postgres=full, settings={"wal_buffers": "512"})).findings
    assert found[0].cause == "wal_buffers_full"
    assert "400 times a second" in said(found[0].title)
