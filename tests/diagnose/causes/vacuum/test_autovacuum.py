"""Autovacuum that does not come to tables of which more is dead than alive."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

QUEUE = {
    "db": DB, "database": "bench", "kind": "table", "name": "public.jobs", "used_bytes": 50_000_000,
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


WORKER = {"kind": "autovacuum worker", "wait_class": "Vacuum", "event": "VacuumDelay", "sid": 7000, "pid": 7000}
# A hundred a second: five pages that are changed. The table has 6,104.
SLOW = {"autovacuum_vacuum_cost_delay": "100", "autovacuum_vacuum_cost_limit": "10"}


def test_a_worker_that_sleeps_nearly_all_the_time_on_its_way_through_a_table() -> None:
    finding = found(settings=SLOW, sessions=[WORKER])
    assert finding
    told = " | ".join(said(item.figure) for item in finding.for_)
    assert "a worker at work all along, asleep for 100 % of it" in told
    assert "for a pass over public.jobs" in told


@pytest.mark.parametrize(
    ("settings", "worker"),
    [
        ({}, WORKER),
        (SLOW | {"autovacuum_vacuum_cost_delay": "0"}, WORKER),
        (SLOW | {"autovacuum_vacuum_cost_delay": "-1"}, WORKER),
        (SLOW, WORKER | {"samples": 10}),
        (SLOW, WORKER | {"event": "DataFileRead", "wait_class": "User I/O"}),
    ],
    ids=["as by default: a second", "no delay", "that of all vacuums: none", "just begun", "it waits for the disk"],
)
def test_a_worker_that_gets_on(settings: dict[str, str], worker: dict[str, Any]) -> None:
    assert found(settings=settings, sessions=[worker]) is None


def test_a_limit_that_is_that_of_all_vacuums() -> None:
    inherited = SLOW | {"autovacuum_vacuum_cost_limit": "-1", "vacuum_cost_limit": "10"}
    assert found(settings=inherited, sessions=[WORKER])
    assert found(settings=inherited | {"vacuum_cost_limit": "200"}, sessions=[WORKER]) is None


def test_few_dead_rows_are_no_finding_whatever_is_switched_off() -> None:
    assert found(QUEUE | {"dead_rows": 5000}, postgres=OFF) is None
    assert found(QUEUE | {"live_rows": 900_000}, settings={"autovacuum": "off"}) is None


def test_what_an_old_snapshot_holds_is_not_put_on_autovacuum() -> None:
    old = {"state": "idle in transaction", "transaction_s": 7200.0, "xmin_age": 3_000_000, "wait_class": "Client"}
    findings = diagnose(host(postgres=OFF, extra={"space": [QUEUE]}, sessions=[old])).findings
    assert "vacuum_held_back" in [finding.cause for finding in findings]
    assert "autovacuum_behind" not in [finding.cause for finding in findings]
