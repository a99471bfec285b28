"""Connections that are opened all the time."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from diagnose.hosts import host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding, Impact
from doctord.report.phrases import said

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
BUSY = {"idle_pct": 20.0, "wait_io_pct": 0.0, "usr_pct": 40.0, "sys_pct": 40.0, "forks_per_s": 120.0}


def test_a_connection_for_each_transaction() -> None:
    rates = {(None, "pg_stat_database.sessions"): 115.0, (None, "pg_stat_database.xact_commit"): 118.0}
    finding = diagnose(host(cpu=BUSY, postgres=rates)).findings[0]
    assert finding.cause == "connection_churn"
    assert finding.impact.share == pytest.approx(1.39 / (1.39 + 0.3), abs=0.05)


def test_connections_that_do_much_work_each_and_cost_little_are_a_note() -> None:
    rates = {(None, "pg_stat_database.sessions"): 10.0, (None, "pg_stat_database.xact_commit"): 68.0}
    idle = {"idle_pct": 89.0, "wait_io_pct": 0.0, "usr_pct": 7.0, "sys_pct": 4.0, "irq_pct": 0.0, "steal_pct": 0.0}
    found = {one.cause: one.severity for one in diagnose(host(cpu=idle, postgres=rates)).findings}
    assert found["connection_churn"] == "note"
    without_work = {(None, "pg_stat_database.sessions"): 30.0, (None, "pg_stat_database.xact_commit"): 68.0}
    found = {one.cause: one.severity for one in diagnose(host(cpu=BUSY, postgres=without_work)).findings}
    assert found["connection_churn"] != "note"


def test_helpers_that_come_and_go_are_not_the_connections_doing() -> None:
    rates = {(None, "pg_stat_database.sessions"): 115.0, (None, "pg_stat_database.xact_commit"): 118.0}
    churn = {("gzip", "short_lived.ends_per_s"): 200.0, ("gzip", "short_lived.cpu_s_per_s"): 1.0}
    own = {("postgres", "short_lived.ends_per_s"): 115.0, ("postgres", "short_lived.cpu_s_per_s"): 0.2}
    findings = diagnose(host(cpu=BUSY, postgres=rates, kernel=churn | own)).findings
    finding = next(finding for finding in findings if finding.cause == "connection_churn")
    assert finding.impact.share == pytest.approx(0.5 / (0.5 + 0.3), abs=0.05)


def test_transactions_of_another_server_make_it_no_less() -> None:
    rates = {(None, "pg_stat_database.sessions"): 115.0, (None, "pg_stat_database.xact_commit"): 118.0}
    about = {"component": "postgresql", "db": "postgresql:5433", "kind": "rate"}
    pooled = {"pg_stat_database.sessions": 0.1, "pg_stat_database.xact_commit": 5000.0}
    other = [about | {"name": name, "value": value} for name, value in pooled.items()]
    finding = diagnose(host(cpu=BUSY, postgres=rates, extra={"statistic": other})).findings[0]
    assert (finding.cause, finding.confidence, finding.against) == ("connection_churn", 0.9, ())


def test_a_pool_that_opens_one_now_and_then_is_healthy() -> None:
    rates = {(None, "pg_stat_database.sessions"): 0.5, (None, "pg_stat_database.xact_commit"): 118.0}
    assert diagnose(host(postgres=rates)).healthy


def test_connections_that_were_not_counted_are_not_none() -> None:
    assert diagnose(host(postgres={(None, "pg_stat_database.xact_commit"): 118.0})).healthy


def test_logons_that_oracle_counts_are_not_all_of_clients() -> None:
    """Without the time model: an AWR-miner report of a cluster whose parallel servers log on."""
    common = {"ts": NOON, "interval_s": 3600.0, "component": "oracle", "db": "oracle:DB1", "unit": "per_s"}
    logons = {**common, "name": "v$sysstat.logons cumulative", "value": 13.0}
    commits = {**common, "name": "v$sysstat.user commits", "value": 0.7}
    found = diagnose(Dataset.from_rows(statistic=[logons, commits])).findings
    assert "connection_churn" not in {finding.cause for finding in found}


def by_sessions(*sessions: dict[str, object]) -> Finding:
    rates = {(None, "pg_stat_database.sessions"): 115.0, (None, "pg_stat_database.xact_commit"): 118.0}
    seen = host(cpu=BUSY, postgres=rates, sessions=sessions)
    return next(one for one in diagnose(seen).findings if one.cause == "connection_churn")


FOREIGN = {"user": "warehouse", "program": "postgres_fdw", "client": "10.0.0.7", "samples": 1}


def test_who_opens_them_is_told_by_sessions_that_are_other_ones_at_each_look() -> None:
    finding = by_sessions(*[FOREIGN] * 6, {"user": "app", "program": "shop"})
    assert said(finding.title) == "Clients open 115 connections a second, most of them warehouse (postgres_fdw)"
    told = {said(item.figure): said(item.why) for item in finding.for_}
    assert told["6 sessions of warehouse (postgres_fdw) that lived for a moment"] == "from 10.0.0.7"
    assert "keep_connections" in said(finding.remedy[0])


def test_who_opens_them_may_be_anybody() -> None:
    web = {"user": "app", "program": "web", "samples": 1}
    finding = by_sessions(*[web] * 5)
    assert said(finding.title) == "Clients open 115 connections a second, most of them app (web)"
    assert "keep_connections" not in said(finding.remedy[0])


@pytest.mark.parametrize(
    "sessions",
    [
        [FOREIGN] * 2,
        [FOREIGN | {"samples": 20}] * 6,
        [*[FOREIGN] * 4, *[FOREIGN | {"program": "web"}] * 4],
        [FOREIGN | {"program": "doctord"}] * 6,
    ],
    ids=["few", "they stay", "two alike", "ours"],
)
def test_who_opens_them_is_not_guessed(sessions: list[dict[str, object]]) -> None:
    assert said(by_sessions(*sessions).title) == "Clients open 115 connections a second"


PID = 4711


def threads(cpu_pct: float, kernel_pct: float, rates: Mapping[str, float], sampled: int = 0) -> Dataset:
    """Twenty seconds of a MariaDB whose process uses so much of a CPU, and so many samples of whose statements."""
    about = {"host": "h", "interval_s": 1.0, "db": "mysql:3306"}
    at = [NOON.replace(second=second) for second in range(1, 21)]
    calls = {"syscalls_per_s": 400_000.0} if kernel_pct else {}
    known = {"ts": at[0], "host": "h", "db": "mysql:3306", "component": "mysql"} | {
        "name": "server_pid",
        "value": str(PID),
    }
    busy = {"host": "h", "interval_s": 1.0, "idle_pct": 30.0, "usr_pct": 40.0, "sys_pct": 30.0}
    on_cpu = {"wait_class": "CPU", "event": "CPU", "wait_kind": "cpu", "average_active_sessions": 0.0}
    process = {"host": "h", "interval_s": 1.0, "pid": PID, "ppid": 1, "command": "mariadbd", "database": True}
    process |= {"usr_pct": cpu_pct - kernel_pct, "sys_pct": kernel_pct, "run_wait_pct": 0.0, **calls}
    of_session = {"sid": 9, "kind": "client", "state": "active", "wait_class": "CPU", "event": "CPU"}
    counted = {"component": "mysql", "kind": "rate"}
    return Dataset.from_rows(
        setting=[known],
        cpu=[busy | {"ts": ts} for ts in at],
        process=[process | {"ts": ts} for ts in at],
        wait=[about | on_cpu | {"ts": ts} for ts in at],
        session=[about | of_session | {"ts": ts} for ts in at[:sampled]],
        statistic=[about | counted | {"ts": ts, "name": f"global_status.{name}", "value": value}
                   for ts in at for name, value in rates.items()],
    )  # fmt: skip


def by_cause(findings: Sequence[Finding]) -> dict[str, Finding]:
    return {finding.cause: finding for finding in findings}


def test_threads_are_opened_for_each_statement_and_the_server_calls_the_kernel_for_that() -> None:
    seen = threads(120.0, 80.0, {"connections": 8000.0, "questions": 8200.0, "handler_commit": 100.0}, sampled=6)
    findings = diagnose(seen).findings
    assert findings[0].cause == "connection_churn"
    assert findings[0].impact == Impact(pytest.approx(0.75), "at_most")
    assert findings[0].severity == "critical"
    assert "0.98 for each statement" in [said(item.figure) for item in findings[0].for_]
    assert not any("forks" in said(item.figure) for item in findings[0].for_)
    assert by_cause(findings)["system_call_storm"].explained_by == "connection_churn"


def test_threads_that_serve_many_statements_each_are_a_small_part_of_what_the_server_does_beside() -> None:
    rates: dict[str, Any] = {"connections": 150.0, "questions": 15_000.0}
    found = by_cause(diagnose(threads(120.0, 80.0, rates)).findings)
    assert found["connection_churn"].impact == Impact(pytest.approx(0.05), "at_most")
    assert (found["connection_churn"].severity, len(found["connection_churn"].against)) == ("note", 1)
    assert found["system_call_storm"].explained_by is None


def test_what_threads_cost_is_not_known_where_the_server_runs_elsewhere() -> None:
    seen = threads(120.0, 0.0, {"connections": 8000.0, "questions": 8200.0})
    away = Dataset.from_rows(wait=seen.frame("wait").to_dicts(), statistic=seen.frame("statistic").to_dicts())
    assert by_cause(diagnose(away).findings)["connection_churn"].impact.known == "not_measured"
