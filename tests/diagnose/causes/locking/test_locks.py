"""Row locks, the idle session behind them, and locks on whole tables."""

from datetime import UTC, datetime
from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

CONVOY = {("Application", "transactionid"): 6.0, ("Application", "tuple"): 2.0, ("CPU", "CPU"): 0.2}
ROOT = {"sid": 7000, "blocker_sid": None, "statement_id": "11", "user": "app", "program": "shop"}
WAITER = {"wait_class": "Application", "event": "transactionid", "blocker_sid": 7000, "in_state_s": 0.2}
STATEMENT = {"statement_id": "11", "text": "UPDATE counter SET n = n + $1", "elapsed_s_per_s": 6.0, "calls_per_s": 90.0}


def test_a_convoy_at_a_hot_row() -> None:
    diagnosis = diagnose(host(time=CONVOY, sessions=[ROOT, WAITER, WAITER], statements=[STATEMENT]))
    finding = diagnosis.findings[0]
    assert finding.cause == "row_locks"
    assert finding.impact.share is not None
    assert finding.impact.share > 0.85
    assert any("UPDATE counter" in said(item.why) for item in finding.for_)
    assert any("moves on" in said(item.why) for item in finding.against)


def test_an_idle_session_at_the_root_is_the_cause_and_the_waits_its_symptom() -> None:
    idle = ROOT | {"state": "idle in transaction", "transaction_s": 42.0, "in_state_s": 41.0}
    found = diagnose(host(time=CONVOY, sessions=[idle, *[WAITER] * 8])).findings
    assert [finding.cause for finding in found[:2]] == ["idle_in_transaction_blocker", "row_locks"]
    assert found[1].explained_by == "idle_in_transaction_blocker"
    assert 'psql -p 5432 -c "select pg_terminate_backend(7000)"' in said(found[0].remedy[0])
    assert found[0].database == "postgresql:5432"


def test_what_is_waited_for_may_be_no_lock_but_a_safe_snapshot() -> None:
    idle = ROOT | {"state": "idle in transaction", "transaction_s": 42.0, "in_state_s": 41.0}
    waiting = {"wait_class": "Application", "event": "SafeSnapshot", "wait_kind": "other lock", "blocker_sid": 7000}
    found = diagnose(host(time={}, sessions=[idle, *[waiting] * 3])).findings
    assert [finding.cause for finding in found] == ["idle_in_transaction_blocker"]
    assert any("60 s of it in SafeSnapshot" in said(item.figure) for item in found[0].for_)


@pytest.mark.parametrize(
    ("db", "ends"),
    [("mysql:3306", 'mysql -P 3306 -e "KILL 7000"'), ("oracle:P", "alter system kill session '7000,SERIAL#'")],
)
def test_a_session_is_ended_with_its_own_servers_words(db: str, ends: str) -> None:
    idle = ROOT | {"state": "idle in transaction", "transaction_s": 42.0, "in_state_s": 41.0, "db": db}
    found = diagnose(host(time={}, sessions=[idle, *[WAITER | {"db": db}] * 8])).findings
    (finding,) = [one for one in found if one.cause == "idle_in_transaction_blocker"]
    assert ends in said(finding.remedy[0])
    assert not any("pg_" in said(step) or "idle_in_" in said(step) for step in finding.remedy)


def test_a_root_that_is_seldom_idle_is_not_blamed_for_idling() -> None:
    found = diagnose(host(time=CONVOY, sessions=[ROOT, WAITER])).findings
    assert "idle_in_transaction_blocker" not in [finding.cause for finding in found]


def test_a_lock_on_a_whole_table() -> None:
    time = {("Application", "relation"): 5.0}
    assert diagnose(host(time=time)).findings[0].cause == "table_locks"


def test_who_holds_a_row_is_not_who_locks_a_table() -> None:
    """Most of the waiting is for a row that session 7000 holds; a few wait for a table, and nobody tells for whom."""
    time = {("Application", "relation"): 2.0}
    found = {one.cause: one for one in diagnose(host(time=time, sessions=[ROOT, *[WAITER] * 8])).findings}
    assert "7000" not in said(found["table_locks"].title)
    assert not any("7000" in said(item.figure) for item in found["table_locks"].for_)
    assert any("7000" in said(item.figure) for item in found["row_locks"].for_)


@pytest.mark.parametrize(("others", "database"), [(0, "postgresql:5432"), (6, None)], ids=["one", "two"])
def test_waits_of_two_servers_are_not_said_of_one(others: int, database: str | None) -> None:
    other = WAITER | {"db": "postgresql:5433"}
    dataset = host(time=CONVOY, sessions=[ROOT, WAITER, ROOT | {"db": other["db"]}, *[other] * others])
    finding = next(one for one in diagnose(dataset).findings if one.cause == "row_locks")
    assert finding.database == database


def test_a_moment_of_waiting_is_no_finding() -> None:
    time = {("Application", "transactionid"): 0.02, ("CPU", "CPU"): 0.2}
    assert diagnose(host(time=time)).healthy


def test_round_trips_to_the_client_make_no_idle_blocker() -> None:
    hopping = ROOT | {"state": "idle in transaction", "transaction_s": 0.2, "in_state_s": 0.1}
    found = diagnose(host(time=CONVOY, sessions=[hopping, *[WAITER] * 8])).findings
    assert found[0].cause == "row_locks"
    assert "idle_in_transaction_blocker" not in [finding.cause for finding in found]
    assert any("round trips" in said(item.why) for item in found[0].for_)


def mysql_host(event: str, **statistics: float) -> Dataset:
    """A MySQL server half of whose time goes into one event, its waits as a lake of an older version holds them."""
    common = {"ts": datetime(2026, 11, 20, tzinfo=UTC), "interval_s": 60.0, "host": "h", "db": "mysql:3306"}
    waits = [
        {"wait_class": "CPU", "event": "CPU", "average_active_sessions": 2.0},
        {
            "wait_class": "Application",
            "event": event,
            "average_active_sessions": 2.0,
            "waits_per_s": 8.0,
            "avg_wait_ms": 250.0,
        },
    ]
    counted = [{**common, "name": f"global_status.{name}", "value": value} for name, value in statistics.items()]
    return Dataset.from_rows(wait=[{**common, "kind": "foreground", **wait} for wait in waits], statistic=counted)


def test_row_locks_of_mysql_are_the_same_cause() -> None:
    dataset = mysql_host("LOCK WAIT", innodb_row_lock_waits=8.0, innodb_row_lock_time=2000.0)
    (finding,) = diagnose(dataset).findings
    assert finding.cause == "row_locks"
    assert finding.impact.share == 0.5
    assert any("250.0 ms each, 8 a second" in said(item.figure) for item in finding.for_)
    assert any(said(step).startswith("MySQL: sys.innodb_lock_waits") for step in finding.remedy)
    assert not any("v$session" in said(step) or "pg_blocking_pids" in said(step) for step in finding.remedy)


@pytest.mark.parametrize("event", ["wait/lock/metadata/sql/mdl", "Waiting for table metadata lock", "User lock"])
def test_metadata_locks_of_mysql_are_locks_on_tables(event: str) -> None:
    (finding,) = diagnose(mysql_host(event)).findings
    assert finding.cause == "table_locks"
    assert any("lock_wait_timeout" in said(step) for step in finding.remedy)


def test_sampled_sessions_of_mysql_show_who_blocks() -> None:
    waiter = WAITER | {"event": "LOCK WAIT", "db": "mysql:3306"}
    dataset = host(
        time={("Application", "LOCK WAIT"): 6.0, ("CPU", "CPU"): 0.2}, sessions=[ROOT | {"db": "mysql:3306"}, waiter]
    )
    finding = diagnose(dataset).findings[0]
    assert finding.cause == "row_locks"
    assert any("waited behind session 7000" in said(item.figure) for item in finding.for_)


@pytest.mark.parametrize(
    ("status", "is_found"),
    [
        ({"innodb_row_lock_current_waits": 64.0, "threads_running": 66.0}, True),
        ({"innodb_row_lock_current_waits": 3.0, "threads_running": 66.0}, False),
        ({"innodb_row_lock_current_waits": 5.0, "threads_running": 80.0}, False),
        ({"innodb_row_lock_time": 9000.0}, True),
        ({"innodb_row_lock_time": 300.0, "threads_running": 9.0}, False),
    ],
)
def test_innodb_status_alone_tells_of_row_locks(status: dict[str, float], *, is_found: bool) -> None:
    at = {"ts": datetime(2026, 11, 20, 12, tzinfo=UTC), "interval_s": 60.0, "component": "mysql", "db": "mysql:3306"}
    rows = [at | {"name": f"global_status.{name}", "value": value} for name, value in status.items()]
    found = {finding.cause: finding for finding in diagnose(Dataset.from_rows(statistic=rows)).findings}
    assert ("row_locks" in found) is is_found
    assert all(finding.severity == "warning" for finding in found.values())


def test_of_two_servers_title_evidence_and_remedy_name_the_one() -> None:
    idle = ROOT | {"state": "idle in transaction", "transaction_s": 42.0, "in_state_s": 41.0}
    other = {"db": "postgresql:5433", "sid": 31, "statement_id": None}
    there = [one | {"db": "postgresql:5433"} for one in (idle, *[WAITER] * 8)]
    (first, second, *_) = diagnose(host(time={("CPU", "CPU"): 0.2}, sessions=[*there, other])).findings
    assert (first.cause, first.database) == ("idle_in_transaction_blocker", "postgresql:5433")
    assert said(first.title).endswith("on postgresql:5433")
    assert "behind session 7000 on postgresql:5433" in said(first.for_[0].figure)
    assert "psql -p 5433 -c" in said(first.remedy[0])
    assert said(second.title).endswith("row locks on postgresql:5433")


def test_a_queued_ddl_is_named_as_the_one_that_all_stand_behind() -> None:
    waiting = {"wait_class": "Application", "event": "relation"}
    holder = ROOT | {"state": "idle in transaction", "transaction_s": 42.0, "in_state_s": 41.0}
    ddl = waiting | {"sid": 7001, "blocker_sid": 7000, "user": "deploy", "statement_id": "12", "in_state_s": 9.0}
    readers = [waiting | {"sid": 7002 + number, "blocker_sid": 7001} for number in range(5)]
    text = {"statement_id": "12", "text": "ALTER TABLE shop ADD note text"}
    found = diagnose(host(time={}, sessions=[holder, ddl, *readers], statements=[text])).findings
    assert [finding.cause for finding in found[:2]] == ["idle_in_transaction_blocker", "table_locks"]
    assert said(found[1].title).endswith("in line behind session 7001, which waits for session 7000")
    (gate,) = [item for item in found[1].for_ if "in line behind session 7001 (deploy" in said(item.figure)]
    assert "9.00 s already" in said(gate.why)
    assert "ALTER TABLE shop" in said(gate.why)


def held(*entities: str) -> dict[str, list[dict[str, Any]]]:
    common = {"component": "postgresql", "db": DB, "name": "pg_locks.table_lock", "value": 1.0, "kind": "gauge"}
    return {"statistic": [common | {"entity": entity} for entity in entities]}


def test_an_idle_transaction_is_told_with_the_locks_on_tables_that_it_holds() -> None:
    waiting = {"wait_class": "Application", "event": "relation", "blocker_sid": 7000}
    idle = ROOT | {"state": "idle in transaction", "transaction_s": 42.0, "in_state_s": 41.0}
    locks = held("7000 ShareLock public.order lines", "7000 StrangeLock public.t", "70001 AccessExclusiveLock x")
    finding = diagnose(host(time={}, sessions=[idle, *[waiting] * 8], extra=locks)).findings[0]
    assert said(finding.title) == (
        "An idle transaction, session 7000, which holds ShareLock on public.order lines, blocks 8 others"
    )
    assert any("CREATE INDEX without CONCURRENTLY" in said(item.why) for item in finding.for_)
    assert any(said(step).startswith("CREATE INDEX CONCURRENTLY") for step in finding.remedy)
    assert not any("70001" in said(item.figure) or "Strange" in said(item.figure) for item in finding.for_)


def test_a_session_at_work_is_told_with_the_lock_that_an_earlier_statement_took() -> None:
    waiting = {"wait_class": "Application", "event": "relation", "blocker_sid": 7000}
    copying = ROOT | {"wait_class": "Network", "event": "ClientRead"}
    text = {"statement_id": "11", "text": "COPY prices FROM stdin"}
    locks = held(
        *(
            "7000 ShareLock public.prices",
            "7000 ShareRowExclusiveLock public.a",
            "7000 AccessExclusiveLock public.prices",
        )
    )
    finding = diagnose(host(time={}, sessions=[copying, *[waiting] * 8], statements=[text], extra=locks)).findings[0]
    assert finding.cause == "table_locks"
    assert said(finding.title).endswith(
        "(app shop), which holds AccessExclusiveLock on public.prices: COPY prices FROM stdin"
    )
    assert not any("holds ShareLock" in said(item.figure) for item in finding.for_)


def test_locks_of_the_applications_own_are_called_so() -> None:
    finding = diagnose(host(time={("Application", "advisory"): 5.0})).findings[0]
    assert "locks of the application's own making" in said(finding.title)


@pytest.mark.parametrize(
    ("text", "is_told"),
    [("INSERT INTO item VALUES ($1)", True), ("UPDATE item SET n = $1", False)],
)
def test_an_insert_waits_for_a_key(text: str, *, is_told: bool) -> None:
    waiter = WAITER | {"statement_id": "11"}
    finding = diagnose(host(time={}, sessions=[ROOT, *[waiter] * 8], statements=[STATEMENT | {"text": text}])).findings[
        0
    ]
    assert finding.cause == "row_locks"
    assert any("foreign key" in said(item.why) for item in finding.for_) is is_told


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("refresh materialized view sales", "REFRESH MATERIALIZED VIEW CONCURRENTLY"),
        ("REFRESH MATERIALIZED VIEW CONCURRENTLY sales", None),
        ("/* nightly */ CREATE UNIQUE INDEX i ON t (a)", "CREATE INDEX CONCURRENTLY"),
        ("create index concurrently i on t (a)", None),
        ("REINDEX TABLE t", "REINDEX ... CONCURRENTLY"),
        ("REINDEX (VERBOSE) TABLE CONCURRENTLY t", None),
        ("DROP INDEX i", "DROP INDEX CONCURRENTLY"),
        ("VACUUM (ANALYZE, FULL) t", "VACUUM FULL"),
        ("VACUUM FULL t", "VACUUM FULL"),
        ("VACUUM (ANALYZE) t", None),
        ("ALTER TABLE t ADD COLUMN c int", "ALTER TABLE: set lock_timeout"),
        ("TRUNCATE t", "TRUNCATE and DROP"),
        ("LOCK TABLE t IN EXCLUSIVE MODE", "LOCK TABLE: the weakest mode"),
        ("SELECT pg_advisory_lock($1)", "Advisory locks"),
        ("UPDATE t SET a = $1", None),
        ("SELECT * FROM clusters", None),
    ],
)
def test_what_to_do_follows_the_kind_of_statement(text: str, step: str | None) -> None:
    root = {"sid": 7000, "blocker_sid": None, "statement_id": "9", "user": "app", "program": "nightly"}
    waiter = {"wait_class": "Application", "event": "relation", "blocker_sid": 7000}
    statement = {"statement_id": "9", "text": text, "elapsed_s_per_s": 1.0, "calls_per_s": 1.0}
    findings = diagnose(host(sessions=[root, *[waiter] * 4], statements=[statement])).findings
    finding = next(one for one in findings if one.cause == "table_locks")
    assert f"most of it behind session 7000 (app nightly): {text[:20]}" in said(finding.title)
    first = said(finding.remedy[0])
    assert first.startswith(step or "Run statements that lock a table with a limit on their waiting")
