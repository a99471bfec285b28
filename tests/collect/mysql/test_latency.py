import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from doctord.collect.core import link
from doctord.collect.core.link import Link
from doctord.collect.core.notices import Notices
from doctord.collect.mysql import driver as mysql_driver
from doctord.collect.mysql.driver import MySQLDriver
from doctord.collect.mysql.latency import MySQLLatency
from doctord.errors import UserError
from mariadb_server import MariaDBServer, running_mariadb
from postgres_samples import rows_of

pytestmark = pytest.mark.server

ALL_ON = {
    "performance_schema": "ON",
    "performance_schema_instrument": "wait/%=ON",
    "plugin_load_add": "query_response_time",
    "query_response_time_stats": "ON",
}


@pytest.fixture(scope="module")
def server() -> Iterator[MariaDBServer]:
    """A server that tells all it can."""
    with running_mariadb(**ALL_ON) as started:
        yield started


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "_RETRY_S", (0.0,))


def driver(server: MariaDBServer, user: str = "doctord", password: str = "open sesame") -> MySQLDriver:  # noqa: S107 - of nobody
    return MySQLDriver(f"127.0.0.1:{server.port}", user, password)


@pytest.fixture
def collector(server: MariaDBServer) -> Iterator[MySQLLatency]:
    with closing(MySQLLatency(driver(server))) as made:
        batches = made.sample()
        assert [rows_of(table, batches) for table in ("latency", "wait", "event")] == [[], [], []]
        yield made


def told(collector: MySQLLatency) -> dict[str, dict[str, Any]]:
    """What a sample says, by subject."""
    return {row["subject"]: row for row in rows_of("event", collector.sample())}


def kinds(collector: MySQLLatency) -> list[str]:
    return [row["kind"] for row in rows_of("event", collector.sample())]


def back(collector: MySQLLatency, seconds: float = 60) -> list[dict[str, Any]]:
    """Samples until there are latencies again; the events of the meantime."""
    said = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        batches = collector.sample()
        said += rows_of("event", batches)
        if rows_of("latency", batches):
            return said
        time.sleep(0.02)
    raise AssertionError(f"it does not come back: {said}")


def test_statements_are_found_in_the_buckets_of_their_times(server: MariaDBServer, collector: MySQLLatency) -> None:
    server.execute(*["SELECT SLEEP(0.02)"] * 5, "SELECT SLEEP(0.15)")
    found = {(row["gt_us"], row["le_us"]): row for row in rows_of("latency", collector.sample())}
    assert 5 <= found[1e4, 1e5]["count"] < 9, "another one may be slow on a busy machine"
    assert 100_000 < found[1e4, 1e5]["waited_us"] < 900_000, "the server sums the time of each bucket"
    assert 1 <= found[1e5, 1e6]["count"] < 3
    row = found[1e5, 1e6]
    assert (row["db"], row["subject"], row["host"]) == (f"mysql:{server.port}", "query", os.uname().nodename)


def test_the_increases_are_those_of_the_servers_own_table(server: MariaDBServer, collector: MySQLLatency) -> None:
    table = "SELECT sum(count), sum(total) FROM information_schema.QUERY_RESPONSE_TIME WHERE time <> 'TOO LONG'"
    collector.sample()
    [(count, seconds)] = server.execute(table)
    server.execute(*["SELECT 1"] * 500, "SELECT SLEEP(0.05)")
    found = rows_of("latency", collector.sample())
    [(count_now, seconds_now)] = server.execute(table)
    assert sum(row["count"] for row in found) == pytest.approx(int(count_now - count), abs=20)  # of the two lookers-on
    assert sum(row["waited_us"] for row in found) / 1e6 == pytest.approx(seconds_now - seconds, abs=0.02)
    assert count_now - count > 500


def test_waits_on_files_are_means_with_their_class(server: MariaDBServer, collector: MySQLLatency) -> None:
    columns = "count_write, sum_timer_write"
    figures = (
        f"SELECT {columns} FROM performance_schema.file_summary_by_event_name WHERE event_name = 'wait/io/file/sql/FRM'"
    )
    [(count, picos)] = server.execute(figures)
    server.execute(*[f"CREATE OR REPLACE TABLE mysql.f{number} (a int)" for number in range(5)])
    waits = {row["event"]: row for row in rows_of("wait", collector.sample())}
    [(count_now, picos_now)] = server.execute(figures)
    row = waits["wait/io/file/sql/FRM write"]
    assert row["wait_class"] == "User I/O"
    assert row["waits_per_s"] * row["interval_s"] == pytest.approx(count_now - count)
    assert row["avg_wait_ms"] == pytest.approx((picos_now - picos) / (count_now - count) / 1e9)
    assert row["average_active_sessions"] * row["interval_s"] == pytest.approx((picos_now - picos) / 1e12)


def test_waits_on_locks_are_there_and_nothing_is_counted_twice(server: MariaDBServer, collector: MySQLLatency) -> None:
    server.execute("CREATE OR REPLACE TABLE mysql.t (a int)", "INSERT INTO mysql.t VALUES (1)")
    waits = {row["event"]: row["wait_class"] for row in rows_of("wait", collector.sample())}
    assert waits["wait/synch/rwlock/sql/MDL_lock::rwlock"] == "Concurrency"
    assert waits["wait/synch/cond/mysys/COND_timer"] == "Idle"
    assert waits["wait/io/socket/sql/client_connection"] == "Network"
    assert "wait/io/file/sql/FRM" not in waits
    assert not [name for name in waits if name.startswith(("wait/io/table/", "idle"))]


def test_only_what_is_wanted_is_read_and_given(server: MariaDBServer) -> None:
    never = "wait/io/file/csv/data read"
    with closing(MySQLLatency(driver(server), subjects=["query", never])) as collector:
        collector.check()
        collector.sample()
        batches = collector.sample()
    assert {row["subject"] for row in rows_of("latency", batches)} == {"query"}
    assert [(row["event"], row["waits_per_s"], row["avg_wait_ms"]) for row in rows_of("wait", batches)] == [
        (never, 0.0, None)
    ]


def test_the_limits_of_a_connection(server: MariaDBServer) -> None:
    with closing(driver(server).connect()) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT @@max_statement_time, @@lock_wait_timeout, @@session.tx_read_only, @@autocommit")
        assert cursor.fetchall() == ((2.0, 1, 1, 1),)
        cursor.execute(
            "SELECT attr_value FROM performance_schema.session_connect_attrs "
            "WHERE processlist_id = connection_id() AND attr_name = 'program_name'"
        )
        assert cursor.fetchall() == (("doctord",),)


def test_the_server_ends_a_statement_that_takes_long(server: MariaDBServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mysql_driver, "_STATEMENT_S", 0.1)
    with closing(Link(driver(server), Notices())) as asked:
        asked.open()
        with pytest.raises(UserError, match="takes longer"):
            asked.query("SELECT SLEEP(9)")
        assert asked.query("SELECT 1") == [(1,)], "the connection is still good"


def test_nothing_can_be_written(server: MariaDBServer) -> None:
    with closing(Link(driver(server, "root", ""), Notices())) as asked:
        asked.open()
        with pytest.raises(UserError, match="1792"):
            asked.query("CREATE TABLE mysql.never (a int)")


def test_what_is_off_is_said_once_and_what_the_hints_say_turns_it_on() -> None:
    with running_mariadb(performance_schema="ON") as server:
        with closing(MySQLLatency(driver(server))) as collector:
            off = told(collector)
            assert set(off) == {"query", "wait/io/socket/", "wait/synch/"}
            assert {row["kind"] for row in off.values()} == {"not measured"}
            assert told(collector) == {}
            with closing(MySQLLatency(driver(server), subjects=["query"])) as narrow:
                with pytest.raises(UserError, match="nothing is told of 'query': no times of queries are kept"):
                    narrow.check()
                assert set(told(narrow)) == {"query"}, "nothing is said of what nobody wants"
        server.execute(*[statement for row in off.values() for statement in row["hint"].split("; ")])
        with closing(MySQLLatency(driver(server), subjects=["query", "wait/synch/mutex/sql/LOCK_plugin"])) as collector:
            collector.check()
            assert told(collector) == {}
            assert {row["subject"] for row in rows_of("latency", collector.sample())} == {"query"}
        server.execute("SET GLOBAL query_response_time_stats = OFF")
        with closing(MySQLLatency(driver(server))) as collector:
            assert told(collector)["query"]["hint"] == "SET GLOBAL query_response_time_stats = ON"


def test_without_the_performance_schema_statements_are_still_seen() -> None:
    settings = {**ALL_ON, "performance_schema": "OFF"}
    with running_mariadb(**settings) as server, closing(MySQLLatency(driver(server))) as collector:
        [event] = rows_of("event", collector.sample())
        assert (event["subject"], event["text"]) == ("wait/", "the performance schema is off")
        assert "performance_schema = ON" in event["hint"]
        assert {row["subject"] for row in rows_of("latency", collector.sample())} == {"query"}


def test_a_right_that_is_missing_is_said_with_how_to_grant_it(server: MariaDBServer) -> None:
    server.execute("CREATE OR REPLACE USER poor@'127.0.0.1'")
    with closing(MySQLLatency(driver(server, "poor", ""))) as collector:
        [event] = rows_of("event", collector.sample())
        assert (event["subject"], event["text"]) == ("wait/", "no right to read it (1142)")
        assert "GRANT SELECT ON performance_schema.*" in event["hint"]
        batches = collector.sample()
    assert {row["subject"] for row in rows_of("latency", batches)} == {"query"}, "the rest goes on"


def test_a_right_that_is_revoked_in_mid_recording_costs_that_table_only(
    server: MariaDBServer, collector: MySQLLatency
) -> None:
    server.execute("REVOKE SELECT ON performance_schema.* FROM doctord@'127.0.0.1'")
    try:
        batches = collector.sample()
    finally:
        server.execute("GRANT SELECT ON performance_schema.* TO doctord@'127.0.0.1'")
    assert rows_of("latency", batches)
    assert rows_of("wait", batches) == []
    assert {row["text"] for row in rows_of("event", batches)} == {"no right to read it (1142)"}
    assert rows_of("wait", collector.sample()) == [], "what was not read in between is not known"
    assert rows_of("wait", collector.sample())


@pytest.mark.parametrize(("user", "password"), [("doctord", "hunter2"), ("nobody_here", "hunter2")])
def test_a_wrong_password_is_said_with_a_hint_and_nothing_secret_comes_out(
    server: MariaDBServer, caplog: pytest.LogCaptureFixture, user: str, password: str
) -> None:
    caplog.set_level(logging.DEBUG)
    made = driver(server, user, password)
    with closing(MySQLLatency(made)) as collector:
        [event] = rows_of("event", collector.sample())
        assert told(collector) == {}, "it is said once"
        with pytest.raises(UserError, match="user or password is wrong") as refused:
            collector.check()
    assert event["text"] == "user or password is wrong (1045)"
    assert "MYSQL_PWD" in event["hint"]
    said = f"{event['text']} {refused.value} {caplog.text} {made!r}"
    assert not [secret for secret in ("hunter2", "nobody_here", "'doctord'@'localhost'") if secret in said]


def test_where_nobody_listens() -> None:
    with closing(MySQLLatency(MySQLDriver("127.0.0.1:1", "doctord", "x"))) as nobody:
        [event] = rows_of("event", nobody.sample())
    assert (event["kind"], event["text"]) == ("not measured", "nobody answers there (2003)")


def freeze(pid: int) -> None:
    """Stop a process, and wait until each of its threads has stopped."""
    os.kill(pid, signal.SIGSTOP)
    threads = Path(f"/proc/{pid}/task")
    while any(") T " not in (thread / "stat").read_text() for thread in threads.iterdir()):
        time.sleep(0.01)


def test_a_server_that_hangs_is_a_gap_and_waited_for_in_seconds(
    server: MariaDBServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mysql_driver, "_ANSWER_S", 0.3)
    assert server.process is not None
    with closing(MySQLLatency(driver(server))) as collector:
        collector.sample()
        freeze(server.process.pid)
        try:
            began = time.monotonic()
            batches = collector.sample()
            assert time.monotonic() - began < 20
            assert kinds(collector) == ["no answer", "not measured"], "nor does it let in"
        finally:
            server.process.send_signal(signal.SIGCONT)
        assert rows_of("latency", batches) == []
        [silence, event] = rows_of("event", batches)
        assert (silence["kind"], silence["interval_s"]) == ("no answer", pytest.approx(0.2, abs=0.2))
        assert (event["kind"], "no answer" in event["text"]) == ("gap", True)
        assert "answers again" in back(collector)[0]["text"]


def test_a_login_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mysql_driver, "_ANSWER_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        collector = MySQLLatency(MySQLDriver(f"127.0.0.1:{silent.getsockname()[1]}", "doctord", "x"))
        began = time.monotonic()
        assert kinds(collector) == ["no answer", "not measured"]
        assert time.monotonic() - began < 20


def test_a_killed_connection_is_a_gap_and_not_a_restart(server: MariaDBServer, collector: MySQLLatency) -> None:
    [(number,)] = server.execute("SELECT id FROM information_schema.processlist WHERE user = 'doctord'")
    server.execute(f"KILL {number}", "SELECT SLEEP(0.02)")
    batches = collector.sample()
    assert [row["kind"] for row in rows_of("event", batches)] == ["gap"]
    assert rows_of("latency", batches) == []
    batches = collector.sample()
    assert rows_of("latency", batches) == [], "it covers the outage"
    assert [row["kind"] for row in rows_of("event", batches)] == ["gap"], "the server answers again"
    assert 1e5 not in {row["le_us"] for row in rows_of("latency", collector.sample())}


def test_a_restart_in_mid_sample_is_an_event_and_counting_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_mariadb(**ALL_ON) as server, closing(MySQLLatency(driver(server))) as collector:
        collector.sample()
        time.sleep(2.1)  # the server tells its age in whole seconds
        ask = Link.query

        def die_first(self: Link, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
            server.stop(signal.SIGKILL)
            return ask(self, sql, parameters)

        def die_in_the_middle(self: Link, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
            return (die_first if "file_summary" in sql else ask)(self, sql, parameters)

        monkeypatch.setattr(Link, "query", die_in_the_middle)
        batches = collector.sample()
        assert [row["kind"] for row in rows_of("event", batches)] == ["gap"]
        assert rows_of("latency", batches) == [], "it was read, but the interval has no end"
        monkeypatch.setattr(Link, "query", ask)
        assert kinds(collector) == ["refused", "not measured"], "nobody answers there any more"
        server.start()
        server.execute(*["SELECT SLEEP(0.02)"] * 9)
        batches = collector.sample()
        assert [row["kind"] for row in rows_of("event", batches)] == ["gap", "restart"]
        assert rows_of("latency", batches) == rows_of("wait", batches) == []
        server.execute("SELECT SLEEP(0.02)")
        gained = {row["le_us"]: row["count"] for row in rows_of("latency", collector.sample())}
        assert 1 <= gained[1e5] < 5


def test_a_restart_within_the_same_second_shows_in_counters_that_fell(server: MariaDBServer) -> None:
    with closing(MySQLLatency(driver(server), subjects=["query"])) as collector:
        collector.sample()
        [(number,)] = server.execute("SELECT id FROM information_schema.processlist WHERE user = 'doctord'")
        server.execute(f"KILL {number}", "SET GLOBAL query_response_time_flush = 1")  # as after a restart
        assert kinds(collector) == ["gap"]
        assert kinds(collector) == ["gap", "restart"]


@pytest.mark.parametrize("base", [2, 10])
def test_counters_that_were_reset_are_a_gap_of_that_table_only(
    server: MariaDBServer, collector: MySQLLatency, base: int
) -> None:
    server.execute("SELECT SLEEP(0.02)")
    collector.sample()
    server.execute(f"SET GLOBAL query_response_time_range_base = {base}", "SET GLOBAL query_response_time_flush = 1")
    batches = collector.sample()
    [event] = rows_of("event", batches)
    assert (event["kind"], event["subject"]) == ("gap", "information_schema.QUERY_RESPONSE_TIME")
    assert rows_of("latency", batches) == []
    assert rows_of("wait", batches)
    server.execute("SELECT SLEEP(0.02)")
    slow = [row for row in rows_of("latency", collector.sample()) if row["gt_us"] >= 1e4]
    assert [(row["gt_us"], row["le_us"]) for row in slow] == [(15625.0, 31250.0) if base == 2 else (1e4, 1e5)]


@pytest.mark.parametrize(("name", "near"), [("qeury", "query"), ("wait/synch/mutex/sql/LOCK_plugni", "LOCK_plugin")])
def test_an_unknown_subject_is_said_with_those_of_a_similar_name(server: MariaDBServer, name: str, near: str) -> None:
    with closing(MySQLLatency(driver(server), subjects=[name])) as collector:
        [event] = rows_of("event", collector.sample())
        assert near in event["hint"]
        with pytest.raises(UserError, match=f"there is no '{name}'") as refused:
            collector.check()
        assert near in refused.value.hint


@pytest.fixture
def my_cnf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    monkeypatch.setenv("HOME", str(tmp_path))
    return lambda text: (tmp_path / ".my.cnf").write_text(text) and None


def test_the_password_may_stand_in_the_option_file(server: MariaDBServer, my_cnf: Callable[[str], None]) -> None:
    my_cnf("[client]\nuser=doctord\npassword='open sesame'\n")
    with closing(MySQLLatency(MySQLDriver.from_address(f"mysql://127.0.0.1:{server.port}"))) as collector:
        collector.check()


def test_an_option_file_that_cannot_be_understood_is_said(server: MariaDBServer, my_cnf: Callable[[str], None]) -> None:
    my_cnf("password='hunter2'\n")
    with closing(MySQLLatency(driver(server))) as collector:
        [event] = rows_of("event", collector.sample())
    assert event["text"] == "~/.my.cnf cannot be understood"
    assert "hunter2" not in str(event)


def test_through_the_socket(server: MariaDBServer) -> None:
    made = MySQLDriver.from_address(f"mysql://root@{server.socket}")
    assert made.db == f"mysql:{server.socket}"
    with closing(MySQLLatency(made)) as collector:
        collector.check()
