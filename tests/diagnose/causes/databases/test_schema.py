"""Indexes that are not valid, prepared transactions that nobody finishes."""

from collections.abc import Callable

import pytest

from checkups import checkup
from diagnose.hosts import DB, host
from diagnose.mysql_servers import found as by_cause
from diagnose.mysql_servers import mysql
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said
from servers import PostgresServer

INVALID = {("bench.public.accounts_name on public.accounts", "pg_index.is_invalid"): 1.0}
SCANS = ("bench.public.accounts", "pg_stat_user_tables.seq_tup_read")
OLDEST = (None, "pg_prepared_xacts.oldest_s")
WAITER = {"wait_class": "Application", "event": "transactionid", "blocker_sid": 0, "in_state_s": 9.0}


def test_an_invalid_index_that_nobody_misses_is_a_note() -> None:
    [finding] = diagnose(host(postgres=INVALID)).findings
    assert (finding.cause, finding.severity) == ("indexes_invalid", "note")
    assert said(finding.title) == "Index bench.public.accounts_name is not valid"
    assert "nobody misses" in said(finding.against[0].why)


def test_one_whose_table_is_scanned_meanwhile_is_a_warning() -> None:
    causes = {finding.cause: finding for finding in diagnose(host(postgres=INVALID | {SCANS: 2e6})).findings}
    finding = causes["indexes_invalid"]
    assert (finding.severity, finding.against) == ("warning", ())
    assert "2,000,000 rows a second" in said(finding.for_[0].why)


BUSY = {("CPU", "CPU"): 1.6, ("User I/O", "DataFileRead"): 0.4}
LOOKUP = {
    "statement_id": "7",
    "text": "SELECT * FROM accounts WHERE name = $1",
    "calls_per_s": 20.0,
    "elapsed_s_per_s": 1.9,
    "rows_per_s": 60.0,
}
SCANNED = {SCANS: 20e6, ("bench.public.accounts", "pg_stat_user_tables.seq_scan"): 20.0}


def causes_of(figures: dict[tuple[str, str], float], column: str) -> list[str]:
    """The causes named where an index of a column is not valid, and a statement looks for names."""
    index = {"component": "pg_index", "db": DB, "name": "bench.public.accounts accounts_name"}
    index |= {"value": f"btree ({column}) invalid"}
    seen = host(time=BUSY, statements=[LOOKUP], postgres=SCANNED | figures, extra={"setting": [index]})
    return [finding.cause for finding in diagnose(seen).findings if finding.explained_by is None]


def test_one_that_a_statement_could_use_is_why_it_reads_the_whole_table() -> None:
    named = causes_of(INVALID, "name")
    assert named[0] == "indexes_invalid"
    assert not {"missing_index", "cpu_saturated", "statement_dominates"} & {*named}


def test_one_of_another_column_is_not() -> None:
    assert causes_of(INVALID, "balance")[0] == "missing_index"


def test_one_that_somebody_builds_just_now_was_missing() -> None:
    assert causes_of({}, "name")[0] == "missing_index"


def test_a_prepared_transaction_that_blocks_others_explains_their_waits() -> None:
    waiters = [WAITER | {"sid": 8000 + number, "pid": 8000 + number} for number in range(3)]
    causes = {finding.cause: finding for finding in diagnose(host(sessions=waiters, postgres={OLDEST: 30.0})).findings}
    finding = causes["prepared_transaction_left"]
    assert finding.severity == "critical"
    assert causes["row_locks"].explained_by == "prepared_transaction_left"


@pytest.mark.parametrize(("age", "is_found"), [(30.0, False), (4000.0, True)])
def test_one_behind_which_nobody_waits(age: float, *, is_found: bool) -> None:
    causes = {finding.cause: finding for finding in diagnose(host(postgres={OLDEST: age})).findings}
    assert ("prepared_transaction_left" in causes) is is_found
    if is_found:
        assert causes["prepared_transaction_left"].severity == "note"


@pytest.mark.server
@pytest.mark.slow
def test_live_what_is_wrong_with_a_schema(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server(settings={"max_prepared_transactions": 5})
    server.execute(
        "CREATE TABLE account (id serial, balance int)",
        "INSERT INTO account (balance) SELECT 1 FROM generate_series(1, 100)",
        "SELECT setval('account_id_seq', 2100000000)",
    )
    with pytest.raises(Exception, match="duplicate"):
        server.execute("CREATE UNIQUE INDEX CONCURRENTLY account_balance ON account (balance)")
    _, verdict = checkup(server.dsn(), 6)
    told = {finding["cause"]: finding for finding in verdict["findings"]}
    assert "account_balance" in told["indexes_invalid"]["title"]
    assert "98 %" in told["sequence_near_end"]["title"]


@pytest.mark.parametrize(
    ("count", "oldest_s", "severity"),
    [(5.0, 60.0, "critical"), (5.0, 1.0, "warning"), (4.0, 60.0, None), (0.0, None, None)],
)
def test_prepared_transactions_at_their_limit(count: float, oldest_s: float | None, severity: str | None) -> None:
    figures = {(None, "pg_prepared_xacts.count"): count} | ({OLDEST: oldest_s} if oldest_s else {})
    found = {
        finding.cause: finding
        for finding in diagnose(host(postgres=figures, settings={"max_prepared_transactions": "5"})).findings
    }
    finding = found.get("prepared_transactions_at_limit")
    assert (finding and finding.severity) == severity
    if finding:
        assert bool(finding.against) is (oldest_s == 1.0)


def test_without_the_limit_of_prepared_transactions_nothing_is_said() -> None:
    figures = {(None, "pg_prepared_xacts.count"): 900.0}
    assert diagnose(host(postgres=figures)).healthy


def test_a_prepared_xa_transaction_of_mysql_holds_what_others_wait_for() -> None:
    waiting = {"wait_class": "Application", "event": "LOCK WAIT", "wait_kind": "row lock", "blocker_sid": 0}
    prepared = {(None, "innodb_trx.without_session_oldest_s"): 30.0, ("pay-4711", "xa_recover.prepared"): 1.0}
    causes = by_cause(mysql(sessions=[waiting] * 3, gauges=prepared))
    finding = causes["prepared_transaction_left"]
    assert "XA transaction pay-4711" in [said(item.figure) for item in finding.for_]
    assert causes["row_locks"].explained_by == "prepared_transaction_left"
    assert "prepared_transaction_left" not in by_cause(mysql(sessions=[{}], gauges=prepared)), "young, nobody waits"
    rolled_back = {(None, "innodb_trx.without_session_oldest_s"): 900.0, (None, "xa_recover.count"): 0.0}
    assert "prepared_transaction_left" not in by_cause(mysql(sessions=[waiting] * 3, gauges=rolled_back))
