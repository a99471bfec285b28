"""Errors and rollbacks of any vendor."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from diagnose.hosts import DB, START, host
from diagnose.oracle_hosts import oracle_host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.read.formats import read_file
from doctord.report.phrases import said

POOL = "ERROR Failed to get pooled connections"
# As a node of PostgreSQL-XL logs it, without a code.
XL_LINE = "2026-11-20 12:00:{:02d} UTC [{}] ERROR:  Failed to get pooled connections\n"


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def transactions(rollbacks: float, commits: float, **more: Any) -> Dataset:
    names = {"xact_rollback": rollbacks, "xact_commit": commits}
    return host(postgres={("bench", f"pg_stat_database.{name}"): value for name, value in names.items()}, **more)


def errors(entity: str, per_s: float) -> dict[str, Any]:
    return {
        "statistic": [{"db": DB, "component": "postgresql", "name": "log.errors", "entity": entity, "value": per_s}]
    }


@pytest.mark.parametrize(
    ("rollbacks", "commits", "many"),
    [(962.0, 38.0, True), (25.0, 75.0, True), (19.0, 81.0, False), (4.0, 1.0, False), (0.0, 90.0, False)],
)
def test_rollbacks_by_their_share_and_number(rollbacks: float, commits: float, *, many: bool) -> None:
    assert ("rollbacks_many" in found(transactions(rollbacks, commits))) is many


def test_the_errors_behind_rollbacks_are_named() -> None:
    finding = found(transactions(962.0, 38.0, extra=errors(POOL, 50.0)))["rollbacks_many"]
    assert said(finding.title) == f"96 % of the transactions of {DB} are rolled back"
    assert finding.impact.share is None
    assert any("Failed to get pooled connections: 1,000 times" in said(item.figure) for item in finding.for_)
    assert any(said(step).startswith("PostgreSQL:") for step in finding.remedy)
    assert not any("Oracle" in said(step) or "MySQL" in said(step) for step in finding.remedy)


@pytest.mark.parametrize(("undone", "against"), [(30.0, True), (900.0, False)])
def test_rollbacks_of_oracle_that_undo_nothing_speak_against_it(undone: float, *, against: bool) -> None:
    figures = {
        "v$sysstat.user rollbacks": 60.0,
        "v$sysstat.rollback changes - undo records applied": undone,
    }
    assert bool(found(oracle_host(figures=figures))["rollbacks_many"].against) is against


def test_mysql_counts_rollbacks_too() -> None:
    rows = [{"ts": 60_000_000, "interval_s": 60.0, "db": "mysql:3306", "name": f"global_status.handler_{name}",
             "value": value} for name, value in (("rollback", 50.0), ("commit", 50.0))]  # fmt: skip
    dataset = Dataset.joined([Dataset.from_rows(statistic=rows), host(without=["session", "statement"], seconds=60)])
    assert "50 % of the transactions of mysql:3306" in said(found(dataset)["rollbacks_many"].title)


@pytest.mark.parametrize(
    ("entity", "per_s", "told"),
    [
        (POOL, 1.0, True),
        (POOL, 0.4, False),  # eight of them
        ("FATAL 53300 sorry, too many clients already", 0.05, True),  # the server's own, once
        ("PANIC could not write to file", 0.05, True),
        ("WARNING there is no transaction in progress", 9.0, False),
    ],
)
def test_errors_by_how_often_they_come_and_whose_they_are(entity: str, per_s: float, *, told: bool) -> None:
    assert ("errors_logged" in found(host(extra=errors(entity, per_s)))) is told


@pytest.mark.parametrize(("per_s", "severity"), [(0.01, "note"), (1.0, "warning")])
def test_errors_now_and_then_are_a_note(per_s: float, severity: str) -> None:
    assert found(host(seconds=1200, extra=errors(POOL, per_s)))["errors_logged"].severity == severity


@pytest.mark.parametrize(("count", "severity"), [(1000.0, "warning"), (30.0, "note")])
def test_a_bad_hour_of_a_month_is_no_note(count: float, severity: str) -> None:
    burst = {"ts": START, "interval_s": 60.0, "db": DB, "component": "postgresql", "name": "log.errors"}
    rows = [burst | {"entity": POOL, "value": count / 60}, burst | {"ts": START + timedelta(days=25), "entity": "LOG"}]
    assert found(Dataset.from_rows(statistic=rows))["errors_logged"].severity == severity


def test_a_message_brings_its_remedy_and_its_number() -> None:
    finding = found(host(extra=errors(POOL, 3.0)))["errors_logged"]
    assert said(finding.title) == f"An error in the log of {DB}, 60 times: Failed to get pooled connections"
    assert "max_pool_size" in said(finding.remedy[0])
    once = found(host(extra=errors("PANIC XX001 invalid page in block ?", 0.05)))["errors_logged"]
    assert ", once: invalid page" in said(once.title)


def test_a_log_of_a_node_of_postgresql_xl(tmp_path: Path) -> None:
    log = tmp_path / "postgresql.log"
    log.write_text("".join(XL_LINE.format(second, 100 + second) for second in range(40)))
    finding = found(Dataset.from_batches(read_file(log, zone="UTC").batches))["errors_logged"]
    assert "40 times: Failed to get pooled connections" in said(finding.title)
