import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from typing import Any

import pymysql
import pytest

from doctord.collect import mysql
from doctord.collect.core.link import Link
from doctord.collect.core.notices import Notices
from doctord.collect.mysql import discover
from doctord.collect.mysql.driver import MySQLDriver
from doctord.collect.mysql.process import ServerProcess
from doctord.collect.mysql.settings import MySQLSettings
from doctord.dataset.mysql_names import BACKGROUND
from mariadb_server import MariaDBServer, running_mariadb
from mysql_server import running_mysql
from postgres_samples import rows_of

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def server() -> Iterator[MariaDBServer]:
    with running_mariadb() as started:
        started.execute("CREATE USER plain@'127.0.0.1' IDENTIFIED BY 'open sesame'")
        yield started


def test_the_history_of_mysql_has_the_name_that_it_has_elsewhere() -> None:
    with running_mysql() as server:
        server.execute("GRANT PROCESS ON *.* TO doctord@'127.0.0.1'")
        names = {row["name"] for row in asked(server, "doctord")["statistic"]}
    assert {"global_status.innodb_history_list_length", "global_status.innodb_deadlocks"} <= names


def test_the_server_s_process_is_told_and_what_its_background_threads_take() -> None:
    with running_mysql() as server:
        server.execute("GRANT SELECT ON performance_schema.* TO doctord@'127.0.0.1'")
        rows = asked(server, "doctord", samples=3)
        pid = server.process and server.process.pid
    assert [row["value"] for row in rows["setting"] if row["name"] == "server_pid"] == [str(pid)]
    told = [row for row in rows["statistic"] if row["name"].startswith("threads.background")]
    assert {row["name"] for row in told} == set(BACKGROUND)
    assert all(0 <= row["value"] < 60 and row["unit"] == "s_per_s" and row["interval_s"] > 0 for row in told)


def test_where_no_background_threads_are_told_the_process_stands_alone(server: MariaDBServer) -> None:
    rows = asked(server, "plain", samples=3)
    pid = server.process and server.process.pid
    assert [row["value"] for row in rows["setting"] if row["name"] == "server_pid"] == [str(pid)]
    assert not [row for row in rows["statistic"] if row["name"].startswith("threads.")]


def test_of_a_server_elsewhere_no_process_is_told(server: MariaDBServer, tmp_path: Path) -> None:
    link = Link(MySQLDriver(f"127.0.0.1:{server.port}", "doctord", "open sesame"), Notices())
    (tmp_path / "net").mkdir()
    (tmp_path / "net/unix").write_text("Num\n")
    with closing(link):
        link.open()
        process = ServerProcess(tmp_path)
        assert (process.settings(link), process.statistics(link)) == ([], [])


def asked(server: MariaDBServer, user: str, samples: int = 2) -> dict[str, list[dict[str, Any]]]:
    """Rows of some samples by table."""
    driver = MySQLDriver(f"127.0.0.1:{server.port}", user, "open sesame")
    with closing(MySQLSettings(driver, Notices())) as collector:
        batches = [batch for _ in range(samples) for batch in collector.sample()]
    return {table: rows_of(table, batches) for table in ("setting", "statistic", "event")}


def test_settings_come_once_with_what_set_them(server: MariaDBServer) -> None:
    rows = asked(server, "plain")["setting"]
    held = {row["name"]: row for row in rows}
    assert len(held) == len(rows) > 600
    assert (held["innodb_buffer_pool_size"]["value"], held["innodb_buffer_pool_size"]["source"]) == (
        "16777216",
        "command-line",
    )
    assert held["innodb_doublewrite"]["source"] == "default"
    assert held["version"]["db"] == f"mysql:{server.port}"


def test_two_samples_give_rates_and_none_is_below_zero(server: MariaDBServer) -> None:
    rows = asked(server, "plain")["statistic"]
    rates = [row["value"] for row in rows if row["kind"] == "rate" and row["name"] == "global_status.questions"]
    assert len(rates) == 1
    assert rates[0] > 0
    assert {row["value"] for row in rows if row["name"] == "global_status.threads_running"} == {1.0}


def test_what_needs_a_right_is_said_once_with_the_grant(server: MariaDBServer) -> None:
    events = asked(server, "plain", samples=3)["event"]
    assert [(event["kind"], event["subject"]) for event in events] == [
        ("not measured", "background threads"),
        ("not measured", "transactions of sleeping sessions"),
    ]
    assert "performance_schema = ON" in events[0]["hint"]
    assert "GRANT PROCESS" in events[1]["hint"]


def test_what_is_refused_is_not_asked_again_at_once() -> None:
    """Each time that a server refuses us it counts a statement that failed."""
    failed = "select sum(sum_errors) from performance_schema.events_statements_summary_global_by_event_name"
    with running_mysql() as server:
        driver = MySQLDriver(f"127.0.0.1:{server.port}", "doctord", "open sesame")
        with closing(MySQLSettings(driver, Notices())) as collector:
            collector.sample()
            ((before,),) = server.execute(failed)
            for _ in range(5):
                collector.sample()
            ((after,),) = server.execute(failed)
    assert after == before


def test_servers_of_this_host_are_found_with_their_sockets(server: MariaDBServer) -> None:
    assert server.process is not None
    found = {one.pid: one.socket for one in discover.servers()}
    assert found[server.process.pid] == str(server.socket)


def test_a_socket_is_found_without_the_command_line_telling_it(tmp_path: Path) -> None:
    process = tmp_path / "7"
    (process / "fd").mkdir(parents=True)
    (process / "comm").write_text("mysqld\n")
    (process / "cmdline").write_bytes(b"mysqld\0--defaults-file=/etc/my.cnf\0")
    (process / "fd" / "9").symlink_to("socket:[4711]")
    (tmp_path / "net").mkdir()
    line = "0000: 00000002 00000000 00010000 0001 01 4711 /srv/one/mysql.sock"
    (tmp_path / "net" / "unix").write_text(f"Num RefCount Protocol Flags Type St Inode Path\n{line}\n")
    assert discover.servers(tmp_path) == [discover.Server(7, "/srv/one/mysql.sock")]


def test_a_password_in_an_address_is_refused() -> None:
    with pytest.raises(mysql.UserError):
        mysql.collectors(["mysql://root:secret@127.0.0.1:3306"])
    assert "secret" not in os.environ.get("MYSQL_PWD", "")


@pytest.mark.parametrize("run", [running_mariadb, running_mysql])
def test_a_prepared_transaction_without_a_session_is_told_by_its_name(
    run: Callable[[], AbstractContextManager[MariaDBServer]],
) -> None:
    with run() as server:
        server.execute("CREATE DATABASE shop", "CREATE TABLE shop.a (id INT PRIMARY KEY)")
        server.execute("INSERT INTO shop.a VALUES (1)", "COMMIT")
        server.execute("GRANT PROCESS ON *.* TO doctord@'127.0.0.1'")
        with suppress(pymysql.Error):  # MariaDB asks for no right
            server.execute("GRANT XA_RECOVER_ADMIN ON *.* TO doctord@'127.0.0.1'")
        server.execute("XA START 'pay-1'", "DELETE FROM shop.a", "XA END 'pay-1'", "XA PREPARE 'pay-1'")
        told = {(row["name"], row["entity"]): row["value"] for row in asked(server, "doctord")["statistic"]}
    assert told["xa_recover.prepared", "pay-1"] == 1.0
    assert told["innodb_trx.without_session", None] == 1.0


def test_who_queues_before_innodb_is_asked_where_threads_are_limited() -> None:
    with running_mysql() as server:
        server.execute("GRANT PROCESS ON *.* TO doctord@'127.0.0.1'")
        names = {row["name"] for row in asked(server, "doctord")["statistic"]}
        server.execute("SET GLOBAL innodb_thread_concurrency = 4")
        limited = {row["name"]: row["value"] for row in asked(server, "doctord")["statistic"]}
    assert "innodb_status.queries_queued" not in names
    assert limited["innodb_status.queries_queued"] == 0.0
