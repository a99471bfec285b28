"""Real MariaDB servers: as they come, tuned by their own documentation, and with faults put in through settings."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pymysql
import pytest

from doctord.collect.core.notices import Notices
from doctord.collect.core.schedule import collect_for
from doctord.collect.linux import LinuxCollector
from doctord.collect.mysql.driver import MySQLDriver
from doctord.collect.mysql.settings import MySQLSettings
from doctord.dataset.dataset import Dataset
from doctord.lint import engine
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation
from doctord.report import phrases
from mariadb_server import MariaDBServer, running_mariadb

pytestmark = pytest.mark.server

LOOK_S = 2.0
STOCK = {"innodb_buffer_pool_size": "128M", "innodb_flush_log_at_trx_commit": 1}
# MariaDB documentation: InnoDB Buffer Pool, InnoDB Redo Log, Slow Query Log, Replication and Binary Log; with
# half of a machine of 24 GiB for the buffer pool.
TUNED = {
    "innodb_buffer_pool_size": "1G",
    "innodb_log_file_size": "256M",
    "innodb_flush_log_at_trx_commit": 1,
    "log_bin": "bin",
    "server_id": 1,
    "sync_binlog": 1,
    "binlog_expire_logs_seconds": 604800,
    "query_cache_size": 0,
    "slow_query_log": "ON",
    "long_query_time": 1,
    "character_set_server": "utf8mb4",
    "collation_server": "utf8mb4_general_ci",
    "max_connections": 100,
}
FAULTY = {
    "innodb_buffer_pool_size": "8M",
    "innodb_log_file_size": "4M",
    "innodb_flush_log_at_trx_commit": 2,
    "innodb_doublewrite": "OFF",
    "innodb_checksum_algorithm": "full_crc32",
    "innodb_file_per_table": "OFF",
    "log_bin": "bin",
    "sync_binlog": 0,
    "max_connections": 10,
    "sort_buffer_size": "4G",
    "tmp_table_size": "256M",
    "max_heap_table_size": "16M",
    "large_pages": "ON",
    "sql_mode": "",
    "general_log": "ON",
}


@contextmanager
def working(server: MariaDBServer, *statements: str) -> Iterator[None]:
    """Statements again and again, in one session, while something is looked at."""
    stop = threading.Event()

    def work() -> None:
        with closing(pymysql.connect(user="root", unix_socket=str(server.socket), autocommit=True)) as connection:
            cursor = connection.cursor()
            while not stop.is_set():
                for statement in statements:
                    cursor.execute(statement)

    session = threading.Thread(target=work)
    session.start()
    try:
        yield
    finally:
        stop.set()
        session.join()


def fill(server: MariaDBServer) -> None:
    """A table of about 40 MiB, with rows in no order of their keys."""
    server.execute(
        "CREATE DATABASE shop",
        "USE shop",
        "CREATE TABLE shop.goods (id INT PRIMARY KEY, pad CHAR(250) CHARACTER SET latin1 NOT NULL)",
        "INSERT INTO shop.goods SELECT seq, REPEAT('x', 250) FROM seq_1_to_100000",
        "COMMIT",
    )


def violations_on(server: MariaDBServer) -> dict[str, Violation]:
    """What is said of the server after two seconds, with this host measured beside it."""
    driver = MySQLDriver(str(server.socket), "root")
    batches = collect_for([LinuxCollector(period_s=1.0), MySQLSettings(driver, Notices())], LOOK_S)
    found = engine.examine(Dataset.from_batches(batches)).violations
    return {one.rule.partition("/")[2]: one for one in found if one.subject.startswith("mysql")}


READ = "SELECT COUNT(pad) FROM shop.goods WHERE pad > 'a'"
WRITE = "UPDATE shop.goods SET pad = REPEAT(CHAR(97 + RAND() * 25), 250) WHERE id % 20 = FLOOR(RAND() * 20)"


def test_of_a_stock_server_nothing_is_said_without_a_cost() -> None:
    with running_mariadb(**STOCK) as server:
        fill(server)
        with working(server, READ):
            found = violations_on(server)
    assert {name for name, one in found.items() if one.severity > Severity.NOTE} == set()
    assert set(found) <= {"statements_not_measured"}


def test_a_tuned_server_is_healthy_under_load() -> None:
    with running_mariadb(**TUNED) as server:
        fill(server)
        with working(server, READ, "UPDATE shop.goods SET pad = 'y' WHERE id = FLOOR(RAND() * 100000)"):
            found = violations_on(server)
    assert found == {}


def test_faults_put_in_through_settings_are_found_with_their_cost() -> None:
    with running_mariadb(**FAULTY) as server:
        fill(server)
        others = [pymysql.connect(user="root", unix_socket=str(server.socket)) for _ in range(7)]
        with working(server, READ, WRITE):
            found = violations_on(server)
            # Sessions wait for CPUs, and hardly for reads, while others take all of them: look again.
            for _ in range(4):
                found = found if "buffer_pool_small" in found else violations_on(server)
        for other in others:
            other.close()
    assert {
        "binlog_not_synced",
        "binlogs_never_expire",
        "buffer_pool_small",
        "commits_not_flushed",
        "connections_run_out",
        "doublewrite_off",
        "general_log_on",
        "large_pages_missing",
        "redo_log_small",
        "sessions_exceed_memory",
        "sql_mode_not_strict",
        "statements_not_measured",
        "tables_share_one_file",
        "temporary_tables_cut",
    } <= set(found)
    assert (found["buffer_pool_small"].impact or 0.0) > 0.05
    assert {name for name, one in found.items() if CANNOT_JUDGE in phrases.said(one.cost)} == {
        "statements_not_measured"
    }
