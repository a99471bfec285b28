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


STAGING = "bench.public.staging"
LOADED = {
    "db": DB, "database": "bench", "kind": "table", "name": "public.staging", "used_bytes": 160_000_000,
    "live_rows": 200_000, "dead_rows": 250_000, "bloat_bytes": 90_000_000,
}  # fmt: skip
# Loaded with 20,000 rows a second, changed as often, read once, and emptied each time.
STAGED = {
    (STAGING, "pg_class.autovacuum_enabled"): 0.0, (STAGING, "pg_class.relfrozenxid_age"): 400.0,
    (None, "pg_current_snapshot.xmax"): 100.0, (STAGING, "pg_stat_user_tables.seq_scan"): 0.2,
    (STAGING, "pg_stat_user_tables.seq_tup_read"): 40_000.0, (STAGING, "pg_stat_user_tables.n_tup_ins"): 20_000.0,
    (STAGING, "pg_stat_user_tables.n_tup_upd"): 20_000.0, (STAGING, "pg_statio_user_tables.heap_blks_hit"): 60_000.0,
}  # fmt: skip


def test_a_staging_table_whose_dead_rows_nobody_steps_over_is_a_note() -> None:
    finding = found(LOADED, postgres=STAGED)
    assert finding
    assert (finding.severity, said(finding.title)) == ("note", "Autovacuum is switched off for table public.staging")
    told = " | ".join(said(item.figure) for item in finding.against)
    assert "0.75 of its pages are looked at for each row found or written" in told
    assert "emptied or made anew 4 s ago" in told


@pytest.mark.parametrize(
    "changes",
    [
        {(STAGING, "pg_class.relfrozenxid_age"): 250e6},
        {(STAGING, "pg_class.relfrozenxid_age"): 500_000.0},
        {(STAGING, "pg_stat_user_tables.seq_tup_read"): 0.0, (STAGING, "pg_stat_user_tables.n_tup_ins"): 100.0,
         (STAGING, "pg_stat_user_tables.n_tup_upd"): 100.0},
        {(STAGING, "pg_stat_user_tables.seq_scan"): None},
    ],
    ids=["its age", "its dead rows stay, and scans look at them", "each look steps over them", "reads not counted"],
)  # fmt: skip
def test_a_table_whose_dead_rows_cost_something(changes: dict[tuple[str, str], float | None]) -> None:
    scanned = STAGED | {(STAGING, "pg_stat_user_tables.seq_scan"): 2.0} | changes
    finding = found(LOADED, postgres={key: value for key, value in scanned.items() if value is not None})
    assert finding
    assert finding.severity == "warning"


def test_the_server_is_to_blame_for_tables_that_have_it_on() -> None:
    findings = diagnose(
        host(postgres=STAGED, extra={"space": [LOADED, QUEUE]}, settings={"autovacuum": "off"})
    ).findings
    titles = [said(one.title) for one in findings if one.cause == "autovacuum_behind"]
    assert titles == ["public.jobs has more dead rows than living ones"]


def test_the_bloat_of_such_a_table_is_a_note_too() -> None:
    [finding] = [
        one for one in diagnose(host(postgres=STAGED, extra={"space": [LOADED]})).findings if one.cause == "bloat"
    ]
    assert finding.severity == "note"


def test_few_dead_rows_are_no_finding_whatever_is_switched_off() -> None:
    assert found(QUEUE | {"dead_rows": 5000}, postgres=OFF) is None
    assert found(QUEUE | {"live_rows": 900_000}, settings={"autovacuum": "off"}) is None


def test_what_an_old_snapshot_holds_is_not_put_on_autovacuum() -> None:
    old = {"state": "idle in transaction", "transaction_s": 7200.0, "xmin_age": 3_000_000, "wait_class": "Client"}
    findings = diagnose(host(postgres=OFF, extra={"space": [QUEUE]}, sessions=[old])).findings
    assert "vacuum_held_back" in [finding.cause for finding in findings]
    assert "autovacuum_behind" not in [finding.cause for finding in findings]
