import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress

import psycopg
import pytest

from doctord.analyse.locking.standing_by import ITS_OWN_S
from doctord.collect.core.sock_diag import unix_peers
from doctord.collect.postgres import running_texts, table_locks
from doctord.collect.postgres.notify_queue import EVENT, NotifyQueue
from doctord.collect.postgres.own_clients import NAME
from doctord.collect.postgres.sessions import SessionCollector
from doctord.collect.postgres.statistics.objects.notifiers import Notifiers
from postgres_samples import link_to, rows_of, until
from servers import PostgresServer

pytestmark = pytest.mark.server


@pytest.fixture
def collector(server: PostgresServer) -> Iterator[SessionCollector]:
    with closing(SessionCollector(link_to(server.dsn("doctord")))) as made:
        yield made


@contextmanager
def running(connection: psycopg.Connection, statement: str) -> Iterator[int]:
    """A statement in the background, cancelled at the end; yields the backend's process id."""

    def run() -> None:
        with suppress(psycopg.errors.QueryCanceled):
            connection.execute(statement)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield connection.info.backend_pid
    finally:
        while thread.is_alive():
            connection.cancel()
            thread.join(0.05)


def test_a_lock_convoy_shows_who_blocks_whom(server: PostgresServer, collector: SessionCollector) -> None:
    change = "UPDATE account SET balance = balance + 1 WHERE id = 1"
    with server.connect() as holder, server.connect() as first, server.connect() as second:
        holder.execute("BEGIN")
        holder.execute(change)
        with running(first, change) as waiting:
            row = until(collector, "session", lambda row: row["sid"] == waiting and row["blocker_sid"] is not None)
            assert (row["wait_class"], row["event"]) == ("Application", "transactionid")
            assert row["blocker_sid"] == holder.info.backend_pid
            with running(second, change) as queued:
                row = until(collector, "session", lambda row: row["sid"] == queued and row["blocker_sid"] is not None)
            assert (row["wait_class"], row["event"]) == ("Application", "tuple")
            assert row["blocker_sid"] == waiting
            idle = until(collector, "session", lambda row: row["sid"] == holder.info.backend_pid)
            assert (idle["state"], idle["wait_class"]) == ("idle in transaction", "Idle")
            assert idle["transaction_s"] > 0
            assert idle["in_state_s"] > 0
            assert idle["xmin_age"] >= 1, "it holds no snapshot, and vacuum keeps what it changed all the same"
            together = rows_of("session", collector.sample())
            assert len(together) >= 2
            assert len({row["ts"] for row in together}) == 1
        holder.execute("ROLLBACK")


def test_the_text_of_what_runs_for_long_is_read_once_without_its_constants(
    server: PostgresServer, collector: SessionCollector, monkeypatch: pytest.MonkeyPatch
) -> None:
    if server.version < 14:
        pytest.skip("it gives a running statement no identifier")
    monkeypatch.setattr(running_texts, "_EVERY_S", 0.0)
    with server.connect() as client, ExitStack() as stack:
        client.execute("SET compute_query_id = on")  # `auto` is off until some session loads pg_stat_statements
        stack.enter_context(running(client, "SELECT pg_sleep(30), 'a secret' AS told"))
        row = until(collector, "statement", lambda row: "pg_sleep" in (row["text"] or ""))
        assert row["text"] == "SELECT pg_sleep(?), ? AS told"
        assert (row["interval_s"], row["calls_per_s"], row["database"]) == (None, None, "postgres")
        assert row["statement_id"] is not None
        assert not [one for _ in range(10) for one in rows_of("statement", collector.sample())]


def test_a_running_text_that_the_server_cut_off_is_marked(server: PostgresServer, collector: SessionCollector) -> None:
    if server.version < 14:
        pytest.skip("it gives a running statement no identifier")
    with server.connect() as client, ExitStack() as stack:
        client.execute("SET compute_query_id = on")
        stack.enter_context(running(client, f"SELECT pg_sleep(30), {', '.join(f'{n} AS c{n}' for n in range(200))}"))
        row = until(collector, "statement", lambda row: "pg_sleep" in (row["text"] or ""))
    assert row["text"].startswith("SELECT pg_sleep(?), ? AS c0, ? AS c1,")
    assert row["text"].endswith(" ...")


def test_whose_transaction_a_safe_snapshot_is_waited_for(server: PostgresServer, collector: SessionCollector) -> None:
    with server.connect() as holder, server.connect() as report:
        holder.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
        holder.execute("UPDATE account SET balance = balance + 1 WHERE id = 1")
        report.execute("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE")
        with running(report, "SELECT sum(balance) FROM account") as waiting:
            row = until(collector, "session", lambda row: row["sid"] == waiting and row["blocker_sid"] is not None)
        assert (row["event"], row["wait_kind"]) == ("SafeSnapshot", "other lock")
        assert row["blocker_sid"] == holder.info.backend_pid


def test_locks_on_tables_of_who_is_waited_for_are_told(server: PostgresServer, collector: SessionCollector) -> None:
    with server.connect() as holder, server.connect() as reader:
        holder.execute("BEGIN")
        holder.execute("TRUNCATE account")
        holder.execute("SELECT 1")
        with running(reader, "SELECT count(*) FROM account"):
            exclusive = f"{holder.info.backend_pid} AccessExclusiveLock public.account"
            row = until(collector, "statistic", lambda row: row["entity"] == exclusive)
        assert (row["name"], row["value"]) == (table_locks.NAME, 1.0)
        holder.execute("ROLLBACK")


def test_commits_in_line_to_notify_are_told_from_other_objects(server: PostgresServer) -> None:
    notifying = NotifyQueue()
    server.execute(
        "CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM pg_notify('news', ''); RETURN NULL; END $$",
        "CREATE TRIGGER tell AFTER UPDATE ON account FOR EACH STATEMENT EXECUTE FUNCTION tell()",
    )
    with (
        closing(SessionCollector(link_to(server.dsn("doctord")), notifying)) as collector,
        closing(Notifiers(notifying)) as notifiers,
        server.connect() as holder,
        server.connect() as waiter,
    ):
        assert notifiers.read(link_to(server.dsn("doctord"))) == []
        server.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()")
        try:
            until_commits_wait(server)
            with running(holder, "UPDATE account SET balance = 1 WHERE id = 1") as first:
                until(collector, "session", lambda row: row["event"] == "SyncRep")
                with running(waiter, "UPDATE account SET balance = 1 WHERE id = 2") as waiting:
                    row = until(
                        collector, "session", lambda row: row["sid"] == waiting and row["blocker_sid"] is not None
                    )
                    link = link_to(server.dsn("doctord"))
                    link.open()
                    told = [one["entity"] for one in rows_of("statistic", notifiers.read(link))]
                    assert notifiers.read(link) == [], "each database once"
                    link.close()
        finally:
            server.execute(
                "SET synchronous_commit = local",
                "ALTER SYSTEM RESET synchronous_standby_names",
                "SELECT pg_reload_conf()",
                "DROP TRIGGER tell ON account",
                "DROP FUNCTION tell",
            )
    assert (row["event"], row["wait_kind"], row["blocker_sid"]) == (EVENT, "notify", first)
    assert [entity.partition(".")[2] for entity in told] == ["public.tell on public.account"]


def test_a_session_that_waits_for_one_of_its_own_is_told(server: PostgresServer, collector: SessionCollector) -> None:
    if not server.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'dblink'"):
        pytest.skip("dblink is not installed")
    server.execute("CREATE EXTENSION IF NOT EXISTS dblink")
    change = "UPDATE account SET balance = 7 WHERE id = 3"
    with server.connect() as root:
        root.execute("SELECT dblink_connect('own', %s)", [server.dsn("postgres")])
        root.execute("BEGIN")
        root.execute(change)
        with running(root, f"SELECT dblink_exec('own', '{change}')") as sid:
            row = until(collector, "statistic", lambda row: row["name"] == NAME)
            waiting = until(collector, "session", lambda row: row["blocker_sid"] == sid)["sid"]
        root.execute("ROLLBACK")
    if can_see_sockets():
        assert (row["entity"], row["value"]) == (f"{sid} {waiting}", 1.0)


def can_see_sockets() -> bool:
    """Whether the ends of sockets of other processes may be seen: as root, or as the server's user."""
    return bool(dict(unix_peers()))


def test_a_statement_of_its_own_begins_its_transaction(server: PostgresServer, collector: SessionCollector) -> None:
    wanted = "SELECT pg_advisory_lock(4711)"
    with server.connect() as leader, server.connect() as alone, server.connect() as second:
        leader.execute(wanted)
        second.execute("BEGIN")
        time.sleep(0.01)
        before = [_least_before(collector, waiter, wanted) for waiter in (alone, second)]
    assert before[0] < ITS_OWN_S < 0.01 <= before[1]


def _least_before(collector: SessionCollector, waiter: psycopg.Connection, statement: str) -> float:
    """By how much its transaction is older than its statement, of ten looks at the least."""
    with running(waiter, statement) as sid:
        rows = [
            until(collector, "session", lambda row: (row["sid"], row["event"]) == (sid, "advisory")) for _ in range(10)
        ]
    return min(abs(row["transaction_s"] - row["statement_s"]) for row in rows)


def until_commits_wait(server: PostgresServer) -> None:
    """Commits wait for a standby once the checkpointer has read the new settings, some time after it was told to."""
    for _ in range(200):
        with server.connect() as probe, running(probe, "UPDATE account SET balance = 1 WHERE id = 9"):
            time.sleep(0.1)
            if server.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"):
                return
    raise AssertionError


def test_a_lock_on_another_object_stays_what_it_is(server: PostgresServer, collector: SessionCollector) -> None:
    with server.connect() as holder, server.connect() as waiter:
        holder.execute("BEGIN")
        holder.execute("COMMENT ON SCHEMA public IS 'x'")
        with running(waiter, "DROP SCHEMA public") as waiting:
            row = until(collector, "session", lambda row: row["sid"] == waiting and row["wait_class"] == "Application")
        holder.execute("ROLLBACK")
    assert (row["event"], row["wait_kind"]) == ("object", "table lock")


def test_our_own_backend_is_told_once_for_each_connection(collector: SessionCollector) -> None:
    told = [row for _ in range(3) for row in rows_of("setting", collector.sample())]
    (own,) = told
    assert (own["component"], own["name"]) == ("doctord", f"backend {collector._link.connection.info.backend_pid}")


def test_a_session_is_named(server: PostgresServer, collector: SessionCollector) -> None:
    with server.connect(application_name="payroll") as client, running(client, "SELECT pg_sleep(20)") as pid:
        row = until(collector, "session", lambda row: row["sid"] == pid and row["event"] == "PgSleep")
    assert (row["db"], row["database"]) == (f"postgresql:{server.port}", "postgres")
    assert (row["user"], row["program"], row["kind"]) == ("postgres", "payroll", "client")
    assert (row["state"], row["wait_class"], row["event"]) == ("active", "Idle", "PgSleep")
    assert row["client"] is None
    assert row["blocker_sid"] is None
    assert (row["statement_id"] is not None) == (server.version >= 14)


def test_a_busy_session_is_on_cpu(server: PostgresServer, collector: SessionCollector) -> None:
    work = "SELECT count(*) FROM generate_series(1, 100000000) AS a"
    with server.connect() as client, running(client, work) as pid:
        row = until(collector, "session", lambda row: row["sid"] == pid and row["event"] == "CPU")
    assert row["wait_class"] == "CPU"
    assert 0 < row["interval_s"] <= 1


def test_waits_add_up_to_the_active_sessions(server: PostgresServer, collector: SessionCollector) -> None:
    with server.connect() as client, running(client, "SELECT pg_sleep(20)") as pid:
        until(collector, "session", lambda row: row["sid"] == pid)
        row = until(collector, "wait", lambda row: row["event"] == "PgSleep" and row["average_active_sessions"] > 0.99)
    assert row["average_active_sessions"] == pytest.approx(1.0)
    assert 0.8 < row["interval_s"] < 10, "a second; longer where samples come late on a busy machine"
    assert row["waits_per_s"] is None
    cpu = until(collector, "wait", lambda row: row["event"] == "CPU" and row["average_active_sessions"] == 0)
    assert cpu["wait_class"] == "CPU"


def test_the_collector_does_not_see_itself_nor_idle_sessions(
    server: PostgresServer, collector: SessionCollector
) -> None:
    with server.connect() as idle:
        idle.execute("SELECT 1")
        seen = []
        for _ in range(5):
            seen += rows_of("session", collector.sample())
            time.sleep(0.02)
        assert not [row for row in seen if row["program"] == "doctord"]
        assert idle.info.backend_pid not in {row["sid"] for row in seen}
