"""Dead rows, what keeps them, and transaction ids."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.hosts import DB, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

OLD = {"state": "idle in transaction", "transaction_s": 4000.0, "xmin_age": 900_000, "user": "app"}
TABLE = {"db": DB, "database": "bench", "kind": "table", "name": "public.orders"}
BLOATED = TABLE | {"used_bytes": 2**30, "live_rows": 1_000_000, "dead_rows": 700_000}


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def test_an_old_transaction_holds_vacuum_back_and_explains_the_bloat() -> None:
    found = diagnose(host(sessions=[OLD], extra={"space": [BLOATED]})).findings
    assert [finding.cause for finding in found] == ["vacuum_held_back", "bloat"]
    assert found[1].explained_by == "vacuum_held_back"
    assert "session 7000" in said(found[0].title)


def test_a_forgotten_slot() -> None:
    slot = {("standby2", "pg_replication_slots.catalog_xmin_age"): 5e6}
    finding = diagnose(host(postgres=slot)).findings[0]
    assert "slot standby2" in said(finding.title)
    assert finding.against, "no dead rows were seen: it does no harm yet"


def test_bloat_alone() -> None:
    finding = diagnose(host(extra={"space": [BLOATED]})).findings[0]
    assert (finding.cause, finding.impact.share) == ("bloat", None)
    assert "41 %" in said(finding.title)


def test_dead_rows_that_were_not_counted_are_not_bloat() -> None:
    assert diagnose(host(extra={"space": [BLOATED | {"dead_rows": None}]})).healthy


YOUNG = {"state": "idle in transaction", "transaction_s": 25.0, "xmin_age": 9000, "user": "app", "program": "report"}
HOT = TABLE | {"name": "public.counter", "used_bytes": 3 * 2**20, "live_rows": 10, "dead_rows": 20_000}
# A thousand changes of one row a second, each of which looks at three hundred pages to find it.
LOOKED_AT = {
    ("bench.public.counter", "pg_statio_user_tables.heap_blks_hit"): 600_000.0,
    ("bench.public.counter", "pg_statio_user_tables.idx_blks_hit"): 4000.0,
    ("bench.public.orders", "pg_statio_user_tables.heap_blks_hit"): 10_000.0,
    ("bench.public.counter", "pg_stat_user_tables.idx_tup_fetch"): 1000.0,
    ("bench.public.counter", "pg_stat_user_tables.n_tup_upd"): 1000.0,
    ("bench.public.counter", "pg_stat_user_tables.last_vacuum_age_s"): 9.0,
}
VACUUMED_BEFORE = LOOKED_AT | {("bench.public.counter", "pg_stat_user_tables.last_vacuum_age_s"): 900.0}
AT_WORK = {("CPU", "CPU"): 1.6, ("Commit", "WALSync"): 0.2}
WAITER = {"wait_class": "Application", "event": "transactionid", "blocker_sid": 7009}


def hot_row(*holders: dict[str, Any], did: dict[str, str] | None = None, **changes: Any) -> Dataset:
    """A row that is changed all the time, by sessions that wait for one another and step over its old versions."""
    row = {"time": AT_WORK, "postgres": LOOKED_AT, "extra": {"space": [HOT]}} | changes
    root = {"sid": 7009, **(did or {})}
    return host(sessions=[*holders, root, *[WAITER | {"sid": 7010 + number} for number in range(6)]], **row)


def test_a_young_snapshot_is_found_where_a_hot_row_suffers_and_explains_its_locks() -> None:
    found = diagnose(hot_row(YOUNG)).findings
    assert [finding.cause for finding in found[:2]] == ["vacuum_held_back", "row_locks"]
    assert said(found[0].title) == "Vacuum is held back by session 7000 of app report (idle in transaction)"
    assert found[0].impact.known == "at_most"
    assert found[0].impact.share is not None
    assert found[0].impact.share > 0.8
    assert found[1].explained_by == "vacuum_held_back"
    told = " | ".join(said(item.figure) for item in found[0].for_)
    assert "public.counter: 20,000 dead rows beside 10" in told
    assert "300 of its pages are looked at for each row found" in told
    assert "vacuumed 9.00 s ago" in told


@pytest.mark.parametrize(("pages", "is_told"), [(7900.0, False), (12_000.0, True)])
def test_a_small_table_that_is_scanned_finds_all_its_rows_among_the_dead(pages: float, *, is_told: bool) -> None:
    looked_at = LOOKED_AT | {("bench.public.counter", "pg_statio_user_tables.heap_blks_hit"): pages}
    found = [finding.cause for finding in diagnose(hot_row(YOUNG, postgres=looked_at)).findings]
    assert ("vacuum_held_back" in found) is is_told


LITTLE_CPU = {("Commit", "WALSync"): 1.0, ("CPU", "CPU"): 0.02}


def test_dead_rows_that_cost_hardly_any_time_are_a_note() -> None:
    commits = {"wait_class": "Commit", "event": "WALSync"}
    few = {"space": [HOT | {"dead_rows": 9999}]}
    found = {one.cause: one for one in diagnose(hot_row(YOUNG, did=commits, time=LITTLE_CPU, extra=few)).findings}
    assert (found["vacuum_held_back"].severity, found["vacuum_held_back"].impact.known) == ("note", "none_yet")
    assert found["row_locks"].explained_by is None


# A queue of a few rows in front of 400,000 dead ones: ten takes a second, 25 ms each, beside a load that costs more.
QUEUE = TABLE | {"name": "public.queue", "used_bytes": 40 * 2**20, "live_rows": 50, "dead_rows": 400_000}
TAKEN = {
    ("bench.public.queue", "pg_statio_user_tables.heap_blks_hit"): 40_000.0,
    ("bench.public.queue", "pg_stat_user_tables.idx_tup_fetch"): 10.0,
    ("bench.public.queue", "pg_stat_user_tables.n_tup_del"): 800.0,
    ("bench.public.orders", "pg_statio_user_tables.heap_blks_hit"): 10_000.0,
}
CURSOR = {"state": "idle in transaction", "transaction_s": 600.0, "xmin_age": 480_000, "user": "app"}


@pytest.mark.parametrize(
    ("others", "severity"), [(10_000.0, "warning"), (30_000.0, "warning"), (41_000.0, "note"), (400_000.0, "note")]
)
def test_a_queue_before_many_dead_rows_suffers_while_cpus_are_idle(others: float, severity: str) -> None:
    looked_at = TAKEN | {("bench.public.orders", "pg_statio_user_tables.heap_blks_hit"): others}
    finding = found(host(sessions=[CURSOR], postgres=looked_at, extra={"space": [QUEUE]}))["vacuum_held_back"]
    assert finding.severity == severity
    assert "public.queue: 400,000 dead rows beside 50" in " | ".join(said(item.figure) for item in finding.for_)


@pytest.mark.parametrize(("vacuumed_s", "is_told"), [(5.0, True), (90.0, False)])
def test_rows_that_died_at_once_are_held_where_a_vacuum_came_in_vain(vacuumed_s: float, *, is_told: bool) -> None:
    looked_at = TAKEN | {
        ("bench.public.queue", "pg_stat_user_tables.n_tup_del"): 10.0,
        ("bench.public.queue", "pg_stat_user_tables.last_vacuum_age_s"): vacuumed_s,
    }
    cursor = CURSOR | {"transaction_s": 60.0, "xmin_age": 5000}
    causes = found(host(sessions=[cursor], postgres=looked_at, extra={"space": [QUEUE]}))
    assert ("vacuum_held_back" in causes) is is_told


def test_a_small_share_of_the_time_makes_it_no_note() -> None:
    time = {("CPU", "CPU"): 0.15, ("Commit", "WALSync"): 1.5}
    finding = found(host(sessions=[CURSOR], time=time, postgres=TAKEN, extra={"space": [QUEUE]}))["vacuum_held_back"]
    assert finding.severity == "warning"


@pytest.mark.parametrize(
    ("minutes", "reads", "severity"),
    [(15, True, "note"), (15, False, "warning"), (90, True, "warning")],
    ids=["a dump", "reads not counted", "for long"],
)
def test_a_dump_while_nobody_steps_over_dead_rows_is_a_note(minutes: int, severity: str, *, reads: bool) -> None:
    dump = CURSOR | {"state": "active", "transaction_s": 60.0 * minutes, "program": "pg_dump"}
    looked_at = TAKEN | {
        ("bench.public.queue", "pg_statio_user_tables.heap_blks_hit"): 900.0,
        ("bench.public.queue", "pg_stat_user_tables.idx_tup_fetch"): 800.0,
    }
    given = {"postgres": looked_at} if reads else {}
    finding = found(host(sessions=[dump], extra={"space": [QUEUE]}, **given))["vacuum_held_back"]
    assert finding.severity == severity
    assert [item.why for item in finding.against] == (["nobody steps over them so far"] if severity == "note" else [])


@pytest.mark.parametrize(
    ("holder", "changes"),
    [
        (YOUNG | {"transaction_s": 3.0}, {}),
        (YOUNG | {"xmin_age": 20}, {}),
        (YOUNG | {"database": "another"}, {}),
        (YOUNG | {"kind": "autovacuum worker"}, {}),
        (YOUNG, {"extra": {"space": [HOT | {"dead_rows": 500}]}}),
        (YOUNG, {"extra": {"space": [HOT | {"dead_rows": 2_000_000}]}, "postgres": VACUUMED_BEFORE}),
        (YOUNG, {"postgres": LOOKED_AT | {("bench.public.counter", "pg_statio_user_tables.heap_blks_hit"): 4000.0}}),
        (YOUNG, {"postgres": {}}),
    ],
    ids=[
        "a moment", "hardly a transaction since", "another database", "vacuum itself", "few dead rows",
        "most died before", "rows found at once", "not counted",
    ],
)  # fmt: skip
def test_young_snapshots_that_do_no_harm(holder: dict[str, Any], changes: dict[str, Any]) -> None:
    assert "vacuum_held_back" not in [finding.cause for finding in diagnose(hot_row(holder, **changes)).findings]


@pytest.mark.parametrize(
    ("held", "who"),
    [
        ({("standby2", "pg_replication_slots.xmin_age"): 9000.0}, "replication slot standby2"),
        ({("reports", "pg_stat_replication.backend_xmin_age"): 9000.0},
         "a query on standby reports (hot_standby_feedback)"),
        ({("reports", "pg_stat_replication.backend_xmin_age"): 779.0},  # of few transactions that change many rows
         "a query on standby reports (hot_standby_feedback)"),
        ({("order-17", "pg_prepared_xacts.age_s"): 25.0, ("order-17", "pg_prepared_xacts.xid_age"): 9000.0},
         "prepared transaction order-17 that nobody finished"),
    ],
)  # fmt: skip
def test_each_kind_of_holder_is_named(held: dict[tuple[str | None, str], float], who: str) -> None:
    first = diagnose(hot_row(postgres=LOOKED_AT | held)).findings[0]
    assert said(first.title) == f"Vacuum is held back by {who}"


def test_a_logical_slot_keeps_catalogues_alone() -> None:
    slot = {("cdc", "pg_replication_slots.catalog_xmin_age"): 9000.0}
    found = diagnose(hot_row(postgres=LOOKED_AT | slot)).findings
    assert "vacuum_held_back" not in [finding.cause for finding in found]


def test_a_logical_slot_whose_catalogues_are_stepped_over() -> None:
    of_catalogue = {(str(entity).replace("public.counter", "pg_catalog.pg_class"), name): value
                    for (entity, name), value in LOOKED_AT.items()}  # fmt: skip
    slot = {("cdc", "pg_replication_slots.catalog_xmin_age"): 9000.0}
    tables = {"space": [HOT | {"name": "pg_catalog.pg_class"}]}
    first = diagnose(hot_row(postgres=of_catalogue | slot, extra=tables)).findings[0]
    assert said(first.title) == "Vacuum is held back by replication slot cdc (system catalogues)"
    assert "pg_catalog.pg_class: 20,000 dead rows beside 10" in " | ".join(said(item.figure) for item in first.for_)


@pytest.mark.parametrize("name", ["pg_replication_slots.xmin_age", "pg_stat_replication.backend_xmin_age"])
@pytest.mark.parametrize(("then", "is_told"), [(9000.0, True), (2000.0, False)], ids=["stands still", "moves on"])
def test_what_is_read_moves_on_and_holds_nothing(name: str, then: float, *, is_told: bool) -> None:
    before = hot_row(postgres=LOOKED_AT | {("reader", name): 8000.0})
    later = host(start=START + timedelta(seconds=20), seconds=1, postgres={("reader", name): then})
    assert ("vacuum_held_back" in found(Dataset.joined([before, later]))) is is_told


def test_a_prepared_transaction_of_a_recording_without_names() -> None:
    old = {(None, "pg_prepared_xacts.oldest_s"): 4000.0, (None, "pg_prepared_xacts.oldest_xid_age"): 9e5}
    finding = found(host(postgres=old))["vacuum_held_back"]
    assert said(finding.title) == "Vacuum is held back by a prepared transaction that nobody finished"


@pytest.mark.parametrize(("age", "is_told"), [("0", False), ("500", False), ("50000", True), ("1000000", True)])
def test_a_setting_holds_what_nobody_needs(age: str, *, is_told: bool) -> None:
    findings = found(hot_row(settings={"vacuum_defer_cleanup_age": age}))
    assert ("vacuum_held_back" in findings) is is_told
    if is_told:
        title = f"Vacuum is held back by the setting vacuum_defer_cleanup_age = {age}, whoever needs them or not"
        assert said(findings["vacuum_held_back"].title) == title


@pytest.mark.parametrize(("per_s", "is_told"), [(400.0, True), (10_000.0, False)])
def test_a_setting_that_keeps_a_moment_is_not_why_they_are_dead(per_s: float, *, is_told: bool) -> None:
    """20,000 rows, a thousand more a second: kept for 50 s, or 2 s."""
    begun = {(None, "pg_current_snapshot.xmax"): per_s, **{key: value for key, value in LOOKED_AT.items()
                                                           if "last_vacuum" not in key[1]}}  # fmt: skip
    findings = found(hot_row(settings={"vacuum_defer_cleanup_age": "20000"}, postgres=begun))
    assert ("vacuum_held_back" in findings) is is_told


@pytest.mark.parametrize(("dead", "is_told"), [(90_000, True), (4000, False)])
def test_whole_scans_step_over_dead_rows(dead: int, *, is_told: bool) -> None:
    """A table of 400 pages is read whole twenty times a second; of its 91,000 rows so many are dead."""
    live = 91_000 - dead
    scanned = {
        ("bench.public.counter", "pg_statio_user_tables.heap_blks_hit"): 8000.0,
        ("bench.public.counter", "pg_stat_user_tables.seq_tup_read"): 20.0 * live,
        ("bench.public.counter", "pg_stat_user_tables.n_tup_upd"): 1000.0,
    }
    rows = {"space": [HOT | {"used_bytes": 400 * 8192, "live_rows": live, "dead_rows": dead}]}
    reading = {"database": "bench", "state": "idle in transaction", "transaction_s": 95.0, "xmin_age": 9000}
    findings = found(host(sessions=[reading], time=AT_WORK, postgres=scanned, extra=rows))
    assert ("vacuum_held_back" in findings) is is_told
