"""Autovacuum that does not come to tables of which more is dead than alive."""

from typing import Any

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

QUEUE = {
    "db": DB, "database": "bench", "kind": "table", "name": "public.jobs", "used_bytes": 20_000_000,
    "live_rows": 500, "dead_rows": 150_000,
}  # fmt: skip
OFF = {("bench.public.jobs", "pg_class.autovacuum_enabled"): 0.0}
WORKERS = (None, "pg_stat_activity.autovacuum_workers")


def found(table: dict[str, Any] = QUEUE, **more: Any) -> Finding | None:
    findings = diagnose(host(**{"extra": {"space": [table]}} | more)).findings
    return next((finding for finding in findings if finding.cause == "autovacuum_behind"), None)


def test_a_table_for_which_it_is_switched_off() -> None:
    finding = found(postgres=OFF)
    assert finding
    assert (finding.severity, finding.database) == ("warning", DB)
    assert said(finding.title) == "Autovacuum is switched off for table public.jobs"
    assert "150,000 dead rows beside 500" in said(finding.for_[1].figure)


def test_a_server_on_which_it_is_switched_off() -> None:
    finding = found(settings={"autovacuum": "off"})
    assert finding
    assert said(finding.title) == "public.jobs has more dead rows than living ones"


def test_workers_that_are_all_busy() -> None:
    limit = {"autovacuum_max_workers": "3"}
    assert found(settings=limit, postgres={WORKERS: 3.0})
    assert found(settings=limit, postgres={WORKERS: 1.0}) is None


def test_few_dead_rows_are_no_finding_whatever_is_switched_off() -> None:
    assert found(QUEUE | {"dead_rows": 5000}, postgres=OFF) is None
    assert found(QUEUE | {"live_rows": 900_000}, settings={"autovacuum": "off"}) is None


def test_what_an_old_snapshot_holds_is_not_put_on_autovacuum() -> None:
    old = {"state": "idle in transaction", "transaction_s": 7200.0, "xmin_age": 3_000_000, "wait_class": "Client"}
    findings = diagnose(host(postgres=OFF, extra={"space": [QUEUE]}, sessions=[old])).findings
    assert "vacuum_held_back" in [finding.cause for finding in findings]
    assert "autovacuum_behind" not in [finding.cause for finding in findings]
