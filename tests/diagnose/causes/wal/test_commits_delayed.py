"""Commits that sleep before they write."""

from datetime import timedelta

import pytest

from diagnose.hosts import DB, HOST, START, host
from diagnose.mysql_servers import found, mysql
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

WAITING = {("LWLock", "WALWrite"): 8.0, ("CPU", "CPU"): 0.2}


def test_a_delay_of_a_tenth_of_a_second_is_the_cause_of_slow_commits() -> None:
    dataset = host(time=WAITING, settings={"commit_delay": "100000", "commit_siblings": "1"})
    first = diagnose(dataset).findings[0]
    assert first.cause == "commit_delay_long"
    assert said(first.title).endswith("sleep 100 ms each before they write the log: commit_delay = 100000")


@pytest.mark.parametrize("settings", [{"commit_delay": "0"}, {"commit_delay": "2000"}, {}])
def test_a_delay_of_a_flush_or_none_is_not(settings: dict[str, str]) -> None:
    causes = {finding.cause for finding in diagnose(host(time=WAITING, settings=settings)).findings}
    assert "commit_delay_long" not in causes


def test_a_delay_that_nobody_waits_for_is_no_finding() -> None:
    dataset = host(time={("CPU", "CPU"): 0.5}, settings={"commit_delay": "100000"})
    assert "commit_delay_long" not in {finding.cause for finding in diagnose(dataset).findings}


@pytest.mark.parametrize(
    ("siblings", "flushes", "is_found"), [("0", 20.0, True), ("0", 0.1, False), ("1", 20.0, False), ("0", None, False)]
)
def test_where_none_other_need_be_open_each_flush_sleeps(
    siblings: str, flushes: float | None, *, is_found: bool
) -> None:
    """Twenty commits a second of one session: the one that sleeps shows no wait."""
    settings = {"commit_delay": "60000", "commit_siblings": siblings}
    counted = {} if flushes is None else {(None, "pg_stat_wal.wal_sync"): flushes}
    findings = diagnose(host(time={("CPU", "CPU"): 0.1}, settings=settings, postgres=counted)).findings
    found = [finding for finding in findings if finding.cause == "commit_delay_long"]
    assert bool(found) is is_found
    assert all(finding.severity == "warning" and "sleeps 60 ms" in said(finding.title) for finding in found)
    dataset = host(time={("CPU", "CPU"): 0.1}, settings=settings | {"synchronous_commit": "off"}, postgres=counted)
    assert "commit_delay_long" not in {finding.cause for finding in diagnose(dataset).findings}


@pytest.mark.parametrize(("flushes", "is_theirs"), [(12.0, True), (3.0, False), (None, False)])
def test_who_sleeps_in_the_kernel_sleeps_for_it(flushes: float | None, *, is_theirs: bool) -> None:
    """Of two sessions that commit one sleeps in select(), without a wait, and the other waits for it."""
    time = {("Network", "poll_schedule_timeout"): 0.7, ("LWLock", "WALWrite"): 0.15, ("CPU", "CPU"): 0.05}
    settings = {"commit_delay": "60000", "commit_siblings": "0"}
    counted = {} if flushes is None else {(None, "pg_stat_wal.wal_sync"): flushes}
    findings = {one.cause: one for one in diagnose(host(time=time, settings=settings, postgres=counted)).findings}
    assert ("other_waits" in findings) is not is_theirs
    share = findings["commit_delay_long"].impact.share
    assert share is not None and share > 0.9 if is_theirs else share is None or share < 0.2


@pytest.mark.parametrize(("siblings", "is_found"), [("5", True), ("9", False), ("50", False)])
def test_where_fewer_transactions_are_open_nobody_sleeps(siblings: str, *, is_found: bool) -> None:
    """Eight sessions wait for a log that is slow by itself."""
    dataset = host(time=WAITING, settings={"commit_delay": "100000", "commit_siblings": siblings})
    assert ("commit_delay_long" in {finding.cause for finding in diagnose(dataset).findings}) is is_found


def test_who_waits_for_a_lock_is_no_sibling() -> None:
    """The server does not count who is blocked: of a queue for one row nobody sleeps at the default of five."""
    queue = {("Commit", "WALSync"): 0.9, ("Lock", "transactionid"): 7.0}
    dataset = host(time=queue, settings={"commit_delay": "100000", "commit_siblings": "5"})
    assert "commit_delay_long" not in {finding.cause for finding in diagnose(dataset).findings}


@pytest.mark.parametrize(("changed_at", "is_found"), [(2, True), (18, False)])
def test_a_delay_that_came_at_the_end_did_not_hold_back_what_was_before(changed_at: int, *, is_found: bool) -> None:
    setting = {"db": DB, "component": "postgresql", "name": "commit_delay", "host": HOST}
    rows = [
        setting | {"ts": START + timedelta(seconds=second), "value": value}
        for second, value in ((0, "0"), (changed_at, "100000"))
    ]
    dataset = host(time=WAITING, settings={"commit_siblings": "1"})
    tables = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    changed = Dataset.from_rows(**(tables | {"setting": [*tables["setting"], *rows]}))
    assert ("commit_delay_long" in {finding.cause for finding in diagnose(changed).findings}) is is_found


@pytest.mark.parametrize("cpu", [{}, {"idle_pct": 1.0, "usr_pct": 90.0}], ids=["idle CPUs", "full CPUs"])
def test_neither_the_device_nor_the_cpus_hold_back_what_the_server_does(cpu: dict[str, float]) -> None:
    """The write is quick, and the wait is long: the difference is the delay, and no CPU scheduling."""
    commits = {("bench", "pg_stat_database.xact_commit"): 100.0}
    asked = {"commit_delay": "100000", "commit_siblings": "1"}
    dataset = host(time=WAITING, postgres=commits, disk={"write_ms": 1.0}, cpu=cpu, settings=asked)
    told = {one.cause: one.explained_by for one in diagnose(dataset).findings}
    slow = [by for name, by in told.items() if name in ("commits_slow", "log_writer_starved")]
    assert slow == ["commit_delay_long"]


@pytest.mark.parametrize(
    ("settings", "is_found"),
    [
        ({"binlog_group_commit_sync_delay": "150000"}, True),
        ({"binlog_group_commit_sync_delay": "500"}, False),
        ({"binlog_commit_wait_count": "20", "binlog_commit_wait_usec": "100000"}, True),
        ({"binlog_commit_wait_count": "0", "binlog_commit_wait_usec": "100000"}, False),
        ({"binlog_commit_wait_count": "20", "binlog_commit_wait_usec": "100K"}, True),
    ],
)
def test_commits_of_mysql_wait_for_company(settings: dict[str, str], *, is_found: bool) -> None:
    waiting = [{"wait_class": "Commit", "event": "waiting for handler commit", "wait_kind": "log sync"}] * 2
    causes = found(mysql(sessions=waiting, settings=settings))
    assert ("commit_delay_long" in causes) is is_found
    assert "commit_delay_long" not in found(mysql(sessions=[{}], settings=settings)), "nobody waits for it"
