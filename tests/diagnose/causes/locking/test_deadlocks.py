"""Deadlocks that a server's own log or monitor tells of."""

from datetime import timedelta
from pathlib import Path

import pytest

from diagnose import mysql_servers
from diagnose.hosts import host
from diagnose.oracle_hosts import DB, START, found
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.read.formats import read_file
from doctord.report.phrases import said
from reading import SAMPLES


@pytest.mark.parametrize(("count", "told"), [(1, False), (2, True)])
def test_deadlocks_of_oracle(count: int, *, told: bool) -> None:
    event = {"kind": "deadlock", "db": DB, "subject": "ORA-00060", "text": ""}
    events = {"event": [event | {"ts": START + timedelta(minutes=minute)} for minute in range(count)]}
    assert ("deadlocks_reported" in found(extra=events)) is told


def test_the_section_of_the_deadlock_alone() -> None:
    (finding,) = diagnose(Dataset.from_batches(read_file(SAMPLES / "innodb_status.deadlock.txt").batches)).findings
    assert (finding.cause, finding.severity) == ("deadlocks_reported", "note")
    assert said(finding.title) == "2 transactions of InnoDB deadlocked"
    assert "INSERT INTO basket" in said(finding.for_[0].why)
    assert [said(gap.what) for gap in finding.not_measured] == ["how often there are deadlocks"]


def test_an_old_one_says_nothing_of_now(tmp_path: Path) -> None:
    section = (SAMPLES / "innodb_status.deadlock.txt").read_text()
    whole = (SAMPLES / "innodb_status.pasted.txt").read_text()
    at = whole.index("TRANSACTIONS") - len("------------\n")
    file = tmp_path / "status.txt"
    file.write_text(f"{whole[:at]}------------------------\n{section}------------\n{whole[at:]}")
    reading = read_file(file)
    assert "event" in {batch.table for batch in reading.batches}
    causes = {finding.cause for finding in diagnose(Dataset.from_batches(reading.batches)).findings}
    assert "deadlocks_reported" not in causes


def test_a_global_deadlock_names_the_instances_and_the_statement() -> None:
    reading = read_file(SAMPLES / "lock_manager_trace.trc", zone="UTC")
    assert reading.skipped_lines == 0
    (finding,) = diagnose(Dataset.from_batches(reading.batches)).findings
    assert (finding.cause, finding.severity) == ("deadlocks_reported", "note")
    assert said(finding.title) == "1 deadlock between instances"
    told = said(finding.for_[0].why)
    assert "instance 2 waits for TX 0xa0011.0x4204 in mode 3" in told
    assert "insert into orders values (?,?)" in told.replace("( ", "(").replace("?, ?", "?,?")


@pytest.mark.parametrize(("per_s", "severity"), [(0.0, None), (0.05, "note"), (0.2, "warning")])
def test_those_that_postgresql_counts(per_s: float, severity: str | None) -> None:
    found = diagnose(host(postgres={("bench", "pg_stat_database.deadlocks"): per_s})).findings
    assert [(finding.cause, finding.severity) for finding in found] == (
        [("deadlocks_reported", severity)] if severity else []
    )


@pytest.mark.parametrize(("waiting", "explained_by"), [(3.0, "deadlocks_reported"), (30.0, None)])
def test_row_locks_belong_to_deadlocks_that_many_of_those_who_wait_are_in(
    waiting: float, explained_by: str | None
) -> None:
    deadlocks = {("bench", "pg_stat_database.deadlocks"): 5.0}
    settings = {"deadlock_timeout": "200"}
    locked = {("Application", "transactionid"): waiting}
    findings = diagnose(host(time=locked, postgres=deadlocks, settings=settings)).findings
    found = {finding.cause: finding for finding in findings}
    assert found["row_locks"].explained_by == explained_by
    assert found["deadlocks_reported"].impact.share == pytest.approx(2.0 / waiting, rel=0.1)


def test_those_that_innodb_counts_are_told_once_with_the_statements_of_its_log() -> None:
    events = [{"kind": "deadlock", "subject": f"transaction {number}", "text": "UPDATE item"} for number in (1, 2)]
    dataset = mysql_servers.mysql(rates={"global_status.innodb_deadlocks": 1.0}, events=events)
    [finding] = [one for one in diagnose(dataset).findings if one.cause == "deadlocks_reported"]
    assert said(finding.title) == "20 deadlocks on mysql:3306"
    assert [said(item.why) for item in finding.for_ if item.table == "event"] == ["UPDATE item"] * 2
