"""Transactions that fail, by what failed them."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from checkups import checkup
from diagnose.hosts import DB, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.causes.service.no_room import SHARED_MEMORY
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Diagnosis, Finding
from doctord.report.diagnosis.document import document
from doctord.report.phrases import said
from servers import PostgresServer

SSI = "could not serialize access due to read/write dependencies among transactions"
QUEUE = "pg_notification_queue.used_pct"
NOTIFY = "too many notifications in the NOTIFY queue"
DUPLICATE = 'duplicate key value violates unique constraint "t_pkey"'
NO_ROOM = 'could not extend file "?": No space left on device'


def figure(name: str, value: float, entity: str | None, **more: Any) -> dict[str, Any]:
    kind = {"kind": "rate", "component": "postgresql", "db": DB}
    return {**kind, "name": name, "entity": entity, "value": value, **more}


def failing(
    errors: dict[str, float],
    commits: float = 100.0,
    rollbacks: float | None = None,
    *,
    is_read: bool = True,
    **more: Any,
) -> Dataset:
    """A server with errors a second by their names; each rolls a transaction back unless told otherwise."""
    whole = sum(errors.values())
    read = [figure("log.messages", whole if severity == "ERROR" else 0.0, severity)
            for severity in ("ERROR", "FATAL", "PANIC")]  # fmt: skip
    rows = [*read, *(figure("log.errors", per_s, name) for name, per_s in errors.items() if per_s)] if is_read else []
    counted = {"xact_commit": commits, "xact_rollback": whole if rollbacks is None else rollbacks}
    postgres = {("bench", f"pg_stat_database.{name}"): value for name, value in counted.items()}
    # Of a database in which nothing fails nothing is said.
    postgres |= {
        ("postgres", "pg_stat_database.xact_commit"): 15.0,
        ("postgres", "pg_stat_database.xact_rollback"): 0.0,
    }
    rows += more.pop("functions", [])
    further = {name: more.pop(name, []) for name in ("wait", "setting")}
    return host(postgres=postgres | more.pop("postgres", {}), extra={"statistic": rows, **further}, **more)


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def severities(dataset: Dataset) -> dict[str, str]:
    return {name: finding.severity for name, finding in found(dataset).items()}


@pytest.mark.parametrize("state", ["40001 ", ""])
@pytest.mark.parametrize(
    ("per_s", "severity"), [(150.0, "critical"), (25.0, "warning"), (6.0, "warning"), (4.0, "note"), (0.2, None)]
)
def test_serialization_failures_by_their_part(state: str, per_s: float, severity: str | None) -> None:
    finding = found(failing({f"ERROR {state}{SSI}": per_s})).get("serialization_failures")
    assert (finding and finding.severity) == severity
    if finding:
        assert finding.impact.share == pytest.approx(per_s / (100 + per_s))
        assert finding.time_of == "transactions"
        assert any("max_pred_locks_per_transaction" in said(step) for step in finding.remedy)


AMBIGUOUS = "ERROR 42725 operator is not unique: unknown || integer"
UTILITY = {"db": DB, "component": "postgresql", "name": "pg_stat_statements.track_utility", "value": "on"}
SELECT = {"statement_id": "1", "text": "select weight from parcels where id = $1", "calls_per_s": 40.0}
SAVEPOINT = {"statement_id": "2", "text": "SAVEPOINT autosave", "calls_per_s": 40.0}


def test_errors_that_no_savepoint_takes_back_count_though_the_server_counts_no_rollback() -> None:
    dataset = failing({AMBIGUOUS: 40.0}, commits=60.0, rollbacks=0.0, statements=[SELECT], setting=[UTILITY])
    finding = found(dataset)["transactions_fail"]
    assert (finding.severity, finding.impact.share) == ("warning", pytest.approx(40 / 115))
    assert any("no statement sets a savepoint" in said(item.why) for item in finding.for_)
    assert not finding.against


@pytest.mark.parametrize(
    ("setting", "whose"),
    [
        ({"component": "postgresql", "name": "default_transaction_isolation"}, "the server"),
        ({"component": "pg_db_role_setting", "name": "app * default_transaction_isolation"}, "role app"),
    ],
)
def test_a_level_that_is_set_for_who_does_not_ask_for_it(setting: dict[str, str], whose: str) -> None:
    told = setting | {"db": DB, "value": "repeatable read"}
    finding = found(failing({f"ERROR 40001 {SSI}": 40.0}, setting=[told]))["serialization_failures"]
    assert said(finding.title).endswith(f": default_transaction_isolation = repeatable read, set for {whose}")
    as_it_comes = found(failing({f"ERROR 40001 {SSI}": 40.0}, setting=[told | {"value": "read committed"}]))
    assert "isolation" not in said(as_it_comes["serialization_failures"].title)


def test_rows_that_are_there_twice_are_what_a_subquery_fails_for() -> None:
    error = "ERROR more than one row returned by a subquery used as an expression"
    finding = found(failing({error: 30.0}))["transactions_fail"]
    assert "no unique constraint forbids it" in said(finding.remedy[0])


def test_the_function_that_fails_is_named() -> None:
    error = "ERROR structure of query does not match function result type"
    within = figure("log.errors_in", 40.0, f"{error} | orders_of(integer) line 3 at RETURN QUERY")
    finding = found(failing({error: 40.0}, functions=[within]))["transactions_fail"]
    assert "function orders_of(integer) line 3 at RETURN QUERY: 800 times" in [said(one.figure) for one in finding.for_]


@pytest.mark.parametrize(
    ("statements", "setting"),
    [
        ([SELECT, SAVEPOINT], [UTILITY]),
        ([SELECT], [UTILITY | {"value": "off"}]),
        ([SELECT], []),
        (
            [SELECT, *({"statement_id": str(number), "text": "x", "calls_per_s": 1.0} for number in range(3, 200))],
            [UTILITY],
        ),
        ([], [UTILITY]),
    ],
)
def test_errors_that_may_have_been_taken_back_are_a_note(statements: list[Any], setting: list[Any]) -> None:
    dataset = failing({AMBIGUOUS: 40.0}, commits=60.0, rollbacks=0.0, statements=statements, setting=setting)
    assert "warning" not in severities(dataset).values()


def test_what_serializable_transactions_read_whole_is_named() -> None:
    scanned = {("bench public.t", "pg_stat_user_tables.seq_tup_read"): 90_000.0}
    finding = found(failing({f"ERROR 40001 {SSI}": 40.0}, postgres=scanned))["serialization_failures"]
    assert said(finding.title) == f"29 % of the transactions of {DB} cannot be serialized, and are undone"
    assert any("bench public.t" in said(item.figure) for item in finding.for_)


def test_errors_are_said_once() -> None:
    told = severities(failing({f"ERROR 40001 {SSI}": 60.0}))
    assert told == {"serialization_failures": "warning", "rollbacks_many": "note"}
    assert found(failing({f"ERROR 40001 {SSI}": 60.0}))["rollbacks_many"].explained_by == "serialization_failures"


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (f"ERROR 53100 {NO_ROOM}", "disk_full"),
        (f"ERROR {NO_ROOM}", "disk_full"),
        ("ERROR 53100 Konnte Datei nicht erweitern", "disk_full"),
        ("ERROR 53200 out of shared memory", "lock_table_full"),
        ("ERROR 53200 Speicher aufgebraucht", "out_of_memory"),
        ("ERROR out of memory", "out_of_memory"),
        (f"ERROR 54000 {NOTIFY}", "notify_queue_full"),
        (f"ERROR {NOTIFY}", "notify_queue_full"),
        ("ERROR 57014 canceling statement due to statement timeout", "statements_cancelled"),
        ("ERROR canceling statement due to lock timeout", "statements_cancelled"),
        ("FATAL 25P03 terminating connection due to idle-in-transaction timeout", "statements_cancelled"),
        ('ERROR relation "orders" does not exist', "transactions_fail"),
        ("ERROR 42501 permission denied for table t", "transactions_fail"),
        ("ERROR etwas ist schiefgegangen", "transactions_fail"),
        (f"ERROR 23505 {DUPLICATE}", None),
        (f"ERROR {DUPLICATE}", None),
        ("ERROR P0001 (raised by a function)", None),
        ("ERROR could not obtain lock on row in relation \"t\"", None),
        ("ERROR deadlock detected", None),
        ("ERROR current transaction is aborted, commands ignored until end of transaction block", None),
        ("ERROR 40001 canceling statement due to conflict with recovery", None),
    ],
)  # fmt: skip
def test_an_error_by_its_code_or_its_words(error: str, cause: str | None) -> None:
    told = {name: rank for name, rank in severities(failing({error: 15.0})).items() if rank != "note"}
    assert list(told) == ([cause] if cause else [])


@pytest.mark.parametrize(("per_s", "severity"), [(20.0, None), (90.0, None), (300.0, "warning")])
def test_duplicate_keys_may_be_meant(per_s: float, severity: str | None) -> None:
    """A receiver that tries each key is healthy; where hardly anything else is done, somebody has to say that it is."""
    dataset = failing({f"ERROR 23505 {DUPLICATE}": per_s})
    finding = found(dataset).get("transactions_fail")
    assert (finding and finding.severity) == severity
    assert diagnose(dataset).healthy is (severity is None)


def test_errors_after_savepoints_end_no_transaction() -> None:
    """As Django's get_or_create has them."""
    dataset = failing({'ERROR relation "t" does not exist': 50.0}, rollbacks=1.0)
    assert severities(dataset) == {"errors_logged": "note"}
    some = found(failing({'ERROR relation "t" does not exist': 50.0}, rollbacks=10.0))["transactions_fail"]
    assert some.impact.share == pytest.approx(10 / 110)
    assert "after a savepoint" in said(some.against[0].why)


@pytest.mark.parametrize(("per_s", "severity"), [(2.0, "warning"), (1.0, "warning"), (0.8, "note")])
@pytest.mark.parametrize(
    "error", ['42P01 relation "t" does not exist', '55000 cannot update table "t" because it does not have ...']
)
def test_a_statement_that_never_succeeds_is_a_warning_however_much_else_is_done(
    error: str, per_s: float, severity: str
) -> None:
    told = found(failing({f"ERROR {error}": per_s}, commits=5000.0))
    if severity == "note":
        assert {name: finding.severity for name, finding in told.items()} == {"errors_logged": "note"}
    else:
        assert told["transactions_fail"].severity == severity
        assert said(told["transactions_fail"].title).startswith(f"Statements of {DB} fail again and again")


def test_what_an_application_expects_is_judged_by_its_part_alone() -> None:
    assert severities(failing({f"ERROR 23505 {DUPLICATE}": 20.0}, commits=5000.0)) == {"errors_logged": "note"}


@pytest.mark.parametrize(("commits", "per_s", "severity"), [(1000.0, 5.0, "critical"), (100.0, 0.1, "warning")])
def test_no_room_is_a_trouble_whatever_part_it_is(commits: float, per_s: float, severity: str) -> None:
    full = [{"mount": "/data", "size_bytes": 2**34, "used_bytes": 2**34, "available_bytes": 0}]
    finding = found(failing({f"ERROR 53100 {NO_ROOM}": per_s}, commits=commits, filesystems=[{}, *full]))["disk_full"]
    assert finding.severity == severity
    assert any("/data" in said(item.figure) for item in finding.for_)
    assert not finding.not_measured


def test_no_room_days_ago_is_told_and_wakes_nobody() -> None:
    """A recording of which the rest came two days later."""
    dataset = failing({f"ERROR 53100 {NO_ROOM}": 5.0}, commits=1000.0)
    rows = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    late = {**rows["memory"][-1], "ts": START + timedelta(days=2)}
    finding = found(Dataset.from_rows(**{**rows, "memory": [*rows["memory"], late]}))["disk_full"]
    assert finding.severity == "warning"
    assert [said(item.why) for item in finding.against] == ["it is over"]


SERVERS = [{"component": "kernel", "db": DB, "name": f"path./srv/pg.{part}", "value": value}
           for part, value in (("holds", "data"), ("mount", "/srv"))]  # fmt: skip
ALL_OF_IT = {"size_bytes": 2**34, "used_bytes": 2**34, "available_bytes": 0}


@pytest.mark.parametrize(
    ("mount", "places", "is_told"),
    [
        ({"mount": "/snap/core/1", "device": "/dev/loop3"}, [], False),
        ({"mount": "/home", "device": "/dev/vdc"}, SERVERS, False),
        ({"mount": "/srv", "device": "/dev/loop4"}, SERVERS, True),
        ({"mount": SHARED_MEMORY, "device": "shm"}, SERVERS, True),
        ({"mount": "/home", "device": "/dev/vdc"}, [], True),
    ],
    ids=["an image", "nothing of the server's", "the server's", "shared memory", "what is where, is not known"],
)
def test_a_full_file_system_that_holds_nothing_of_the_server_is_not_why(
    mount: dict[str, Any], places: list[dict[str, Any]], *, is_told: bool
) -> None:
    dataset = failing({f"ERROR 53100 {NO_ROOM}": 5.0}, filesystems=[{}, ALL_OF_IT | mount])
    rows = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    end = {"ts": START + timedelta(seconds=20), "host": "host"}
    settings = [*rows.get("setting", []), *(end | place for place in places)]
    finding = found(Dataset.from_rows(**{**rows, "setting": settings}))["disk_full"]
    assert any(item.table == "filesystem" for item in finding.for_) is is_told
    assert bool(finding.not_measured) is not is_told


def test_no_room_where_no_file_system_is_full() -> None:
    finding = found(failing({f"ERROR 53100 {NO_ROOM}": 5.0}))["disk_full"]
    assert [said(one.what) for one in finding.not_measured] == ["which file system is full"]


@pytest.mark.parametrize(("used_pct", "severity"), [(30.0, None), (51.0, "warning")])
def test_the_queue_of_notifications_fills(used_pct: float, severity: str | None) -> None:
    listener = {"sid": 4711, "user": "app", "program": "listener", "state": "idle in transaction",
                "transaction_s": 900.0, "kind": "client", "event": "ClientRead", "wait_class": "Idle"}  # fmt: skip
    finding = found(failing({}, postgres={(None, QUEUE): used_pct}, sessions=[listener])).get("notify_queue_full")
    assert (finding and finding.severity) == severity
    if finding:
        assert finding.impact.known == "none_yet"
        assert "session 4711 (app, listener)" in said(finding.for_[-1].figure)


def test_the_queue_of_notifications_is_full() -> None:
    finding = found(failing({f"ERROR 54000 {NOTIFY}": 10.0}, postgres={(None, QUEUE): 100.0}))["notify_queue_full"]
    assert finding.severity == "critical"
    assert said(finding.title) == f"The queue of notifications of {DB} is full: NOTIFY fails"
    emptied = found(failing({f"ERROR 54000 {NOTIFY}": 10.0}, postgres={(None, QUEUE): 0.0}))["notify_queue_full"]
    assert [said(item.why) for item in emptied.against] == ["it was emptied"]


def test_few_errors_of_a_server_that_does_little_are_rare() -> None:
    assert "transactions_fail" not in found(failing({'ERROR relation "t" does not exist': 0.2}, commits=0.5))


def _of_service(verdict: Diagnosis) -> list[str]:
    return [said(line) for line in verdict.looked_at if f"{DB}: up" in said(line)]


UP = {(None, "pg_postmaster_start_time.age_s"): 9000.0}
SAMPLED = {"db": DB, "wait_class": "CPU", "event": "CPU", "wait_kind": "cpu", "average_active_sessions": 0.1}


@pytest.mark.parametrize(
    ("rollbacks", "is_read", "judged"), [(1.0, False, True), (15.0, False, False), (15.0, True, True)]
)
def test_rollbacks_without_a_log_are_no_clean_bill(rollbacks: float, *, is_read: bool, judged: bool) -> None:
    verdict = diagnose(failing({}, rollbacks=rollbacks, is_read=is_read, postgres=UP, wait=[SAMPLED]))
    assert ("service" in verdict.judged) is judged
    [line] = _of_service(verdict)
    assert line.endswith("0 errors in its log" if is_read else "its log was not read")


@pytest.mark.parametrize(("rollbacks", "severity"), [(40.0, "note"), (200.0, "warning")])
def test_which_errors_is_asked_where_the_log_was_not_read(rollbacks: float, severity: str) -> None:
    finding = found(failing({}, rollbacks=rollbacks, is_read=False))["rollbacks_many"]
    assert finding.severity == severity
    assert [said(one.what) for one in finding.not_measured] == ["which errors ended transactions"]
    assert "log_min_messages" in said(finding.not_measured[0].grant)


def test_rollbacks_that_no_error_is_behind_were_asked_for() -> None:
    dataset = failing({}, rollbacks=200.0)
    finding = found(dataset)["rollbacks_many"]
    assert (finding.severity, finding.not_measured) == ("note", ())
    assert any("the application itself asked" in said(item.why) for item in finding.against)


def test_a_log_that_holds_no_errors_was_not_read() -> None:
    dataset = failing({}, rollbacks=200.0, settings={"log_min_messages": "fatal"})
    assert found(dataset)["rollbacks_many"].severity == "warning"


def test_the_share_is_said_of_the_transactions() -> None:
    verdict = document(diagnose(failing({f"ERROR 40001 {SSI}": 150.0})))
    assert verdict["findings"][0]["time_of"] == "transactions"
    assert verdict["findings"][0]["impact"] == pytest.approx(0.6)


FAILS = (psycopg.errors.SerializationFailure, psycopg.errors.UniqueViolation)


@contextmanager
def at_work(server: PostgresServer, level: str, *statements: str, clients: int = 4) -> Iterator[None]:
    """Clients that try a transaction again and again, whatever comes of it."""
    stop = threading.Event()

    def work() -> None:
        with server.connect() as connection:
            connection.isolation_level = psycopg.IsolationLevel[level]
            while not stop.is_set():
                with suppress(*FAILS), connection.transaction():
                    for statement in statements:
                        connection.execute(statement)
                time.sleep(0.02)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.server
@pytest.mark.parametrize("prefix", ["%m [%p] ", "%m [%p] %e "])
def test_a_storm_of_serialization_failures(postgres_server: Callable[..., PostgresServer], prefix: str) -> None:
    server = postgres_server(settings={"log_line_prefix": prefix})
    server.execute("CREATE TABLE account AS SELECT n AS id, 0 AS amount FROM generate_series(1, 200) AS n")
    change = "UPDATE account SET amount = amount + 1 WHERE id = (random() * 199)::int + 1"
    overlap = "SELECT pg_sleep(0.03)"  # on a busy machine too
    with at_work(server, "SERIALIZABLE", "SELECT sum(amount) FROM account", overlap, change):
        status, verdict = checkup(server.dsn(), 12)
    assert status == 1
    [finding] = [one for one in verdict["findings"] if one["cause"] == "serialization_failures"]
    assert finding["severity"] in ("warning", "critical")
    assert finding["impact"] >= 0.05
    assert "could not serialize access" in str(finding["for"])


@pytest.mark.server
def test_a_receiver_that_expects_duplicate_keys(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    server.execute("CREATE TABLE message (id int PRIMARY KEY); INSERT INTO message VALUES (1)")
    with (
        at_work(server, "READ_COMMITTED", "INSERT INTO message VALUES (1)", clients=1),
        at_work(server, "READ_COMMITTED", "SELECT count(*) FROM message", clients=4),  # without a table none is counted
    ):
        _, verdict = checkup(server.dsn(), 12)
    told = [
        one for one in verdict["findings"] if one["cause"] in ("errors_logged", "transactions_fail", "rollbacks_many")
    ]
    assert [one["severity"] for one in told] == ["note"] * len(told), told
    assert "duplicate key" in str(told)


@pytest.mark.parametrize("threshold", ["0", None])
def test_snapshots_that_are_too_old_are_told_from_the_first_on(threshold: str | None) -> None:
    settings = {"old_snapshot_threshold": threshold} if threshold else {}
    seen = failing({"ERROR 72000 snapshot too old": 0.5}, settings=settings)
    finding = found(seen)["snapshots_too_old"]
    assert finding.severity == "warning"
    told = ", old_snapshot_threshold = 0" if threshold else ""
    assert said(finding.title) == f"Statements of {DB} fail, 10 times: snapshot too old{told}"
