"""Sessions of real MariaDB and MySQL servers: what they wait for, behind whom, and what may not be seen."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from typing import Any

import pymysql
import pytest

from checkups import checkup
from doctord.collect.core.notices import Notices
from doctord.collect.mysql import sessions
from doctord.collect.mysql.driver import MySQLDriver
from doctord.collect.mysql.sessions import MySQLSessions
from mariadb_server import MariaDBServer, running_mariadb
from mysql_server import running_mysql
from postgres_samples import rows_of

pytestmark = pytest.mark.server
CHANGE = "update shop.account set balance = balance + 17 where id = 1"


SERVERS: dict[str, Callable[[], AbstractContextManager[MariaDBServer]]] = {
    "mariadb": running_mariadb,
    "mariadb-performance-schema": lambda: running_mariadb(performance_schema="ON"),
    "mysql": running_mysql,
}


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[MariaDBServer]:
    with SERVERS[request.param]() as started:
        started.execute(
            "create database shop",
            "create table shop.account (id int primary key, balance int)",
            "insert into shop.account values (1, 0), (2, 0)",
            "create user app@localhost",
            "grant all on shop.* to app@localhost",
            "create user plain@'127.0.0.1' identified by 'open sesame'",
            "grant process on *.* to doctord@'127.0.0.1'",
            "commit",
        )
        yield started


@pytest.fixture
def collector(server: MariaDBServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[MySQLSessions]:
    monkeypatch.setattr(sessions, "_PERIOD_BY_LIST_S", 0.1)
    with closing(MySQLSessions(driver(server), Notices())) as made:
        yield made


def driver(server: MariaDBServer, user: str = "doctord") -> MySQLDriver:
    return MySQLDriver(f"127.0.0.1:{server.port}", user, "open sesame")


def connected(server: MariaDBServer) -> "pymysql.connections.Connection[Any]":
    return pymysql.connect(user="app", unix_socket=str(server.socket), database="shop", ssl_disabled=True)


@contextmanager
def running(server: MariaDBServer, *statements: str) -> Iterator[int]:
    """A session that is at these statements, the last of which takes long; it is ended on the way out."""
    connection = connected(server)
    sid = connection.thread_id()

    def run() -> None:
        cursor = connection.cursor()
        with suppress(pymysql.Error):  # it is ended in the middle
            for statement in statements:
                cursor.execute(statement)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield sid
    finally:
        server.execute(f"kill {sid}")
        thread.join()


def until(collector: MySQLSessions, table: str, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The first such row."""
    last = time.monotonic() + 30
    while time.monotonic() < last:
        for row in rows_of(table, collector.sample()):
            if wanted(row):
                return row
        time.sleep(0.05)
    raise AssertionError(f"no such row of {table}")


def test_who_waits_for_a_row_is_told_with_who_holds_it(server: MariaDBServer, collector: MySQLSessions) -> None:
    with closing(connected(server)) as holder:
        holder.cursor().execute(CHANGE)
        with running(server, CHANGE) as sid:
            row = until(collector, "session", lambda row: row["sid"] == sid and row["blocker_sid"] is not None)
            idle = until(collector, "session", lambda row: row["sid"] == holder.thread_id())
            wait = until(collector, "wait", lambda row: row["event"] == "LOCK WAIT")
    assert (row["wait_class"], row["event"], row["wait_kind"]) == ("Application", "LOCK WAIT", "row lock")
    assert (row["blocker_sid"], row["state"], row["user"], row["database"]) == (
        holder.thread_id(),
        "active",
        "app",
        "shop",
    )
    assert (idle["state"], idle["wait_kind"], idle["statement_id"]) == ("idle in transaction", "idle", None)
    assert idle["transaction_s"] is not None
    assert wait["average_active_sessions"] > 0
    assert row["db"] == wait["db"] == f"mysql:{server.port}"


def test_the_text_of_a_statement_has_no_values(server: MariaDBServer, collector: MySQLSessions) -> None:
    with running(server, "select sleep(30), 'a secret' from account where id = 1") as sid:
        told = until(collector, "statement", lambda row: "account" in row["text"])
        row = until(collector, "session", lambda row: row["sid"] == sid)
    assert told["text"] == "select sleep(?), ? from account where id = ?"
    assert row["statement_id"] == told["statement_id"]


def test_a_lock_on_a_table_is_one(server: MariaDBServer, collector: MySQLSessions) -> None:
    with closing(connected(server)) as holder:
        holder.cursor().execute("select * from account")
        with running(server, "alter table account add note text"):
            row = until(collector, "session", lambda row: row["wait_kind"] == "table lock")
            assert row["event"] == "Waiting for table metadata lock"
            if _metadata_locks(server):
                row = until(collector, "session", lambda row: row["wait_kind"] == "table lock" and row["blocker_sid"])
                assert row["blocker_sid"] == holder.thread_id()


def test_who_holds_a_lock_of_the_application_s_own_is_told_though_idle(
    server: MariaDBServer, collector: MySQLSessions
) -> None:
    with closing(connected(server)) as holder:
        holder.cursor().execute("select get_lock('leader', 1)")
        with running(server, "do get_lock('leader', 60)") as sid:
            row = until(collector, "session", lambda row: row["wait_kind"] == "application lock")
            assert (row["sid"], row["event"], row["transaction_s"]) == (sid, "User lock", None)
            if _metadata_locks(server):
                until(collector, "session", lambda row: row["sid"] == sid and row["blocker_sid"] == holder.thread_id())
                idle = until(collector, "session", lambda row: row["sid"] == holder.thread_id())
                assert (idle["state"], idle["user"], idle["wait_kind"]) == ("idle", "app", "idle")


def test_who_holds_the_lock_for_a_backup_is_told(collector: MySQLSessions, server: MariaDBServer) -> None:
    with closing(connected(server)) as holder:
        try:
            server.execute("grant backup_admin on *.* to app@localhost")
            holder.cursor().execute("lock instance for backup")
        except pymysql.Error:
            pytest.skip("it has no such lock")
        with running(server, "create table another (a int)"):
            row = until(collector, "session", lambda row: row["blocker_sid"] is not None)
    assert (row["event"], row["wait_kind"], row["blocker_sid"]) == (
        "Waiting for backup lock",
        "table lock",
        holder.thread_id(),
    )


def _metadata_locks(server: MariaDBServer) -> bool:
    """Whether the server tells of them: of MySQL's instruments that one is on by default."""
    return server.execute("select count(*) from performance_schema.metadata_locks") != [(0,)]


def test_who_computes_is_on_a_cpu(server: MariaDBServer, collector: MySQLSessions) -> None:
    """The kernel tells, as the state does not: only root and the server's own user may ask it."""
    with running(server, "select benchmark(1000000000, sha2('a', 512))") as sid:
        row = until(collector, "session", lambda row: row["sid"] == sid and row["wait_kind"] == "cpu")
    assert (row["event"], row["wait_class"]) == ("CPU", "CPU")


def test_sessions_at_rest_and_our_own_are_none(server: MariaDBServer, collector: MySQLSessions) -> None:
    with closing(connected(server)):
        collector.sample()
        time.sleep(0.2)
        batches = collector.sample()
    assert rows_of("session", batches) == []


def test_who_sends_for_a_moment_waits_for_nobody(collector: MySQLSessions) -> None:
    assert collector._wait("Writing to net", 0.002, None)["wait_class"] == "Unaccounted"
    assert collector._wait("Writing to net", 0.002, None)["event"] == "running: Writing to net"
    for since_s in (0.2, 0.0, None):  # whole seconds do not tell how young it is
        assert collector._wait("Writing to net", since_s, None)["wait_kind"] == "network to client"


def test_how_long_a_statement_runs_is_told_more_exactly_than_in_seconds(
    server: MariaDBServer, collector: MySQLSessions
) -> None:
    if server.settings.get("performance-schema") == "ON":
        pytest.skip("MariaDB does not time statements there unless it is asked to")
    with running(server, "select benchmark(2000000000, md5('a'))"):
        row = until(collector, "session", lambda row: row["state"] == "active")
    assert row["statement_s"] % 1 > 0


def test_the_list_is_read_once_a_second(server: MariaDBServer) -> None:
    if server.execute("select @@performance_schema") == [(1,)]:
        pytest.skip("it is not the list that is read")
    with closing(MySQLSessions(driver(server), Notices())) as collector, running(server, "select sleep(30)"):
        until(collector, "session", lambda row: row["user"] == "app")
        assert rows_of("session", collector.sample()) == []


def test_without_the_right_it_is_said_what_is_not_seen(server: MariaDBServer) -> None:
    with closing(MySQLSessions(driver(server, "plain"), Notices())) as collector:
        events = rows_of("event", collector.sample())
    assert [(event["kind"], event["subject"]) for event in events] == [("not measured", "InnoDB's transactions")]
    assert "GRANT PROCESS" in events[0]["hint"]


def test_a_server_without_a_connection_left_is_told_as_that(server: MariaDBServer) -> None:
    with closing(MySQLSessions(driver(server), Notices())) as collector:
        others = []
        with suppress(pymysql.Error):
            while True:
                others.append(connected(server))
        events = rows_of("event", collector.sample())
        for one in others:
            one.close()
    assert [(event["kind"], event["text"]) for event in events if event["kind"] == "refused"] == [
        ("refused", "all connections are taken (1040)")
    ]


@pytest.mark.slow
def test_a_checkup_names_the_session_that_holds_the_row(server: MariaDBServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYSQL_PWD", "open sesame")
    with closing(connected(server)) as holder:
        holder.cursor().execute(CHANGE)
        with running(server, CHANGE), running(server, CHANGE):
            _, verdict = checkup(f"mysql://doctord@127.0.0.1:{server.port}", 6)
    first = verdict["findings"][0]
    assert first["cause"] == "idle_in_transaction_blocker"
    assert f"session {holder.thread_id()}" in first["title"]
