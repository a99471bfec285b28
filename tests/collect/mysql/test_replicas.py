"""Replication as real servers tell it: a source and a replica of it, of each kind."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pymysql
import pytest

from doctord.collect.core.notices import Notices
from doctord.collect.mysql.driver import MySQLDriver
from doctord.collect.mysql.replicas import MySQLReplicas, _statement
from doctord.collect.mysql.sessions import MySQLSessions
from mariadb_server import MariaDBServer, running_mariadb
from mysql_server import running_mysql
from postgres_samples import rows_of

pytestmark = pytest.mark.server

PATIENCE_S = 60.0
WORDS = {"mariadb": ("master", "slave"), "mysql": ("source", "replica")}
LOGS = {"log_bin": "log", "binlog_format": "ROW"}
WAYS = {"mariadb": running_mariadb, "mysql": running_mysql}


class Pair:
    """A source and a replica of it that follows."""

    def __init__(self, kind: str, source: MariaDBServer, replica: MariaDBServer) -> None:
        self.source, self.replica, self.is_mariadb = source, replica, kind == "mariadb"
        source.execute(
            "create user follows@'127.0.0.1' identified by 'open sesame'",
            "grant replication slave on *.* to follows@'127.0.0.1'",
            "reset master",  # what was done so far was done on the replica, too
            "create database shop",
            "create table shop.t (id int primary key, a int)",
        )
        to = WORDS[kind][0]
        options = f"{to}_host='127.0.0.1', {to}_port={source.port}, {to}_user='follows', {to}_password='open sesame'"
        key = ", get_source_public_key=1" if kind == "mysql" else ""
        change = f"change {'replication source' if kind == 'mysql' else 'master'} to {options}{key}"
        self.right = "replica monitor" if self.is_mariadb else "replication client"
        replica.execute(
            f"grant process, {self.right} on *.* to doctord@'127.0.0.1'",
            "create user plain@'127.0.0.1' identified by 'open sesame'",
            change,
            f"start {WORDS[kind][1]}",
        )


@pytest.fixture(scope="module", params=["mariadb", "mysql"])
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    start = WAYS[request.param]
    with start(server_id=1, **LOGS) as source, start(server_id=2, performance_schema="ON") as replica:
        yield Pair(request.param, source, replica)


def driver(server: MariaDBServer, user: str = "doctord") -> MySQLDriver:
    return MySQLDriver(f"127.0.0.1:{server.port}", user, "open sesame")


def until(collector: MySQLReplicas, **wanted: float) -> dict[str, dict[str, Any]]:
    """Rows by name, as soon as they say what is wanted."""
    deadline = time.monotonic() + PATIENCE_S
    found: dict[str, dict[str, Any]] = {}
    while time.monotonic() < deadline:
        found = {row["name"].partition(".")[2]: row for row in rows_of("statistic", collector.sample())}
        if found and all(name in found and found[name]["value"] >= least for name, least in wanted.items()):
            return found
        time.sleep(0.1)
    raise AssertionError(f"{wanted} did not come: {found}")


def test_a_replica_tells_whether_it_follows_and_how_far_it_is(pair: Pair) -> None:
    with closing(MySQLReplicas(driver(pair.replica), Notices())) as collector:
        found = until(collector, receiver_running=1, applier_running=1, seconds_behind_source=0)
        pair.source.execute("replace into shop.t values (1, 1)", "commit")
        moved = until(collector, exec_source_log_pos=1)
    assert {row["entity"] for row in found.values()} == {f"127.0.0.1:{pair.source.port}"}
    assert {row["db"] for row in found.values()} == {f"mysql:{pair.replica.port}"}
    assert (found["last_sql_errno"]["value"], found["sql_delay"]["value"]) == (0, 0)
    assert (moved["exec_source_log_pos"]["unit"], moved["exec_source_log_pos"]["kind"]) == ("bytes_per_s", "rate")


def test_a_server_that_follows_nobody_tells_nothing_of_it(pair: Pair) -> None:
    notices = Notices()
    with closing(MySQLReplicas(driver(pair.source), notices)) as collector:
        pair.source.execute(f"grant {pair.right} on *.* to doctord@'127.0.0.1'")
        assert rows_of("statistic", collector.sample()) == []
        assert rows_of("event", collector.sample()) == []


def test_without_the_right_it_is_said_once_how_to_grant_it(pair: Pair) -> None:
    with closing(MySQLReplicas(driver(pair.replica, "plain"), Notices())) as collector:
        [event] = rows_of("event", [*collector.sample(), *collector.sample()])
    assert (event["kind"], event["subject"]) == ("not measured", "replication")
    assert pair.right.upper() in event["hint"]


def test_an_applier_at_work_is_sampled_as_such_and_one_at_rest_is_not(pair: Pair) -> None:
    """It is held by a session that has locked the row which is to be changed."""
    if pair.is_mariadb:
        pytest.skip("MariaDB's performance_schema tells no sessions of its appliers: see the one without it")
    sampled_behind_a_lock(pair)


def test_mariadbs_applier_is_in_the_process_list() -> None:
    """As it comes, without performance_schema, sessions are sampled there."""
    with running_mariadb(server_id=1, **LOGS) as source, running_mariadb(server_id=2) as replica:
        sampled_behind_a_lock(Pair("mariadb", source, replica))


def sampled_behind_a_lock(pair: Pair) -> None:
    pair.source.execute("replace into shop.t values (7, 7)", "commit")
    wait_for_row(pair.replica, 7)
    with closing(MySQLSessions(driver(pair.replica), Notices())) as sessions:
        assert not [row for row in rows_of("session", sessions.sample()) if row["kind"] != "client"]
        with holding(pair.replica):
            pair.source.execute("update shop.t set a = a + 1 where id = 7", "commit")
            row = applier(sessions)
    assert (row["kind"], row["user"], row["client"]) == ("replication applier", None, None)
    assert row["wait_kind"] == "row lock"


@contextmanager
def holding(server: MariaDBServer) -> Iterator[None]:
    """Within, a session of the replica has locked the row."""
    with closing(pymysql.connect(user="root", unix_socket=str(server.socket))) as connection:
        connection.cursor().execute("begin")
        connection.cursor().execute("select * from shop.t where id = 7 for update")
        yield


def wait_for_row(server: MariaDBServer, key: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    there = ("show databases like 'shop'", f"select 1 from shop.t where id = {key}")
    while not all(server.execute(question) for question in there):
        assert time.monotonic() < deadline, "the row was not replicated"
        time.sleep(0.1)


def applier(sessions: MySQLSessions) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for row in rows_of("session", sessions.sample()):
            if row["kind"] == "replication applier" and row["blocker_sid"]:
                return row
        time.sleep(0.1)
    raise AssertionError("no applier was seen behind a session")


def test_one_that_stopped_at_a_duplicate_tells_the_number(pair: Pair) -> None:
    pair.replica.execute("replace into shop.t values (99, 0)", "commit")
    pair.source.execute("insert into shop.t values (99, 1)", "commit")
    with closing(MySQLReplicas(driver(pair.replica), Notices())) as collector:
        found = until(collector, last_sql_errno=1062)
    assert (found["applier_running"]["value"], "seconds_behind_source" in found) == (0, False)


@pytest.mark.parametrize(
    ("version", "says"),
    [("8.0.33", "REPLICA"), ("8.0.21-log", "SLAVE"), ("5.7.44", "SLAVE"), ("9.7.0", "REPLICA"),
     ("10.11.6-MariaDB", "ALL SLAVES")],
)  # fmt: skip
def test_each_server_is_asked_in_its_own_words(version: str, says: str) -> None:
    assert _statement(version) == f"SHOW /* doctord */ {says} STATUS"
