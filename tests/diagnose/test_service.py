"""What a clean bill says of servers: up all along, and at work."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.hosts import DB, HOST, START, host
from diagnose.mysql_servers import mysql
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

SAMPLED = {"db": DB, "wait_class": "CPU", "event": "CPU", "wait_kind": "cpu", "average_active_sessions": 0.1}
UP = {(None, "pg_postmaster_start_time.age_s"): 90_000.0}
WORK = {("bench", "pg_stat_database.xact_commit"): 120.0, ("bench", "pg_stat_database.xact_rollback"): 0.05}
MYSQL_UP = {(None, "global_status.uptime"): 3600.0}
NOT_READ = "its log was not read"


def live(postgres: dict[tuple[str | None, str], float], **more: Any) -> Dataset:
    return host(postgres=postgres, extra={"wait": [SAMPLED]}, **more)


def test_a_server_that_was_up_all_along_and_at_work() -> None:
    diagnosis = diagnose(live(UP | WORK))
    assert diagnosis.healthy
    assert "service" in diagnosis.judged
    assert f"{DB}: up for 1 d 1 h; 2400 commits, 1 rollback, {NOT_READ}" in [said(line) for line in diagnosis.looked_at]


@pytest.mark.parametrize("postgres", [UP, WORK, {}])
def test_it_is_not_judged_where_either_was_not_measured(postgres: dict[tuple[str | None, str], float]) -> None:
    diagnosis = diagnose(live(postgres))
    assert "service" in diagnosis.not_judged
    assert "service" not in diagnosis.judged


def test_of_files_it_is_not_asked() -> None:
    diagnosis = diagnose(host())
    assert "service" not in (*diagnosis.judged, *diagnosis.not_judged)


def test_a_server_that_is_up_is_no_judgement_by_itself() -> None:
    about = {"host": HOST, "db": DB, "component": "postgresql", "interval_s": 5.0}
    rows = [
        about | {"ts": START + timedelta(seconds=5 * n), "entity": entity, "name": name, "value": value}
        for n in range(4)
        for (entity, name), value in (UP | WORK).items()
    ]
    assert diagnose(Dataset.from_rows(statistic=rows)).health == "not_judged"


@pytest.mark.parametrize("is_counted", [True, False])
def test_of_mysql_what_failed_has_to_be_counted(*, is_counted: bool) -> None:
    failed = {"events_statements_summary_global_by_event_name.sum_errors": 0.1} if is_counted else {}
    diagnosis = diagnose(mysql(rates={"global_status.questions": 100.0} | failed, gauges=MYSQL_UP, waits=True))
    assert ("service" in diagnosis.judged, "service" in diagnosis.not_judged) == (is_counted, not is_counted)
    line = next(said(line) for line in diagnosis.looked_at if "up for" in said(line))
    told = (
        "2000 statements, 2 of them failed" if is_counted else "2000 statements, how many of them failed is not counted"
    )
    assert line == f"mysql:3306: up for 1 h; {told}"
