"""Error logs of MySQL and MariaDB: made ones of each age, and one that a real server wrote."""

import re
import signal
import threading
import time
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pymysql
import pytest

from doctord.dataset.dataset import Dataset
from doctord.read.formats import read_file
from mariadb_server import MariaDBServer, running_mariadb
from reading import SAMPLES

SECRET = "hunter2"  # noqa: S105 - nothing is locked with it


def read(path: Path, zone: str | None = None) -> Dataset:
    reading = read_file(path, zone=zone)
    assert reading.skipped_lines == 0
    return Dataset.from_batches(reading.batches)


def total(dataset: Dataset, name: str) -> float:
    rows = dataset.frame("statistic").filter((pl.col("name") == name) & (pl.col("kind") == "rate"))
    return float((rows["value"] * rows["interval_s"]).sum())


def events(dataset: Dataset) -> list[tuple[str, str]]:
    return dataset.frame("event").select("kind", "subject").rows()


def test_mysql_8() -> None:
    dataset = read(SAMPLES / "mysql_error.log")
    assert events(dataset) == [
        ("restart", "mysql:3306"),
        ("restart", "mysql:3306"),
        ("connection refused", "mysql:3306"),
        ("deadlock", "transaction 1"),
        ("restart", "mysql:3306"),
        ("semaphore wait", "mysql:3306"),
        ("disk full", "mysql:3306"),
        ("restart", "mysql:3306"),
    ]
    assert total(dataset, "log.connections_refused") == pytest.approx(2)
    assert total(dataset, "log.aborted_connections") == pytest.approx(1)
    assert total(dataset, "log.page_cleaner_late") == pytest.approx(1)
    assert total(dataset, "log.deadlocks") == pytest.approx(1)
    loop = dataset.frame("statistic").filter(pl.col("name") == "log.page_cleaner_loop")
    assert loop.select("value", "unit", "kind").rows() == [(7.432, "s", "gauge")]
    texts = dict(dataset.frame("event").select("kind", "text").rows())
    assert texts["deadlock"] == "UPDATE item SET name = ? WHERE id = ?"
    errors = set(dataset.frame("statistic").filter(pl.col("name") == "log.errors")["entity"])
    assert "WARNING MY-010235 Too many connections" in errors


def test_mariadb_5_5_in_a_zone_of_its_own() -> None:
    dataset = read(SAMPLES / "mysql_error.55.log", zone="Europe/Paris")
    assert [kind for kind, _ in events(dataset)] == ["restart", "restart", "restart", "restart", "disk full"]
    assert dataset.frame("event")["ts"][0] == datetime(2026, 11, 21, 9, tzinfo=UTC)
    assert total(dataset, "log.messages") == pytest.approx(7)


def test_mysql_5_0_whose_times_stick_to_the_text_or_are_missing() -> None:
    dataset = read(SAMPLES / "mysql_error.50.log")
    waits = dataset.frame("event").filter(pl.col("kind") == "semaphore wait")
    assert waits["text"].to_list() == ["btr0sea.c line 1127: for 242 s", "btr0sea.c line 489: for 601 s"]
    assert set(waits["ts"]) == {datetime(2026, 11, 21, 4, 40, 12, tzinfo=UTC)}, "of the monitor before them"
    assert total(dataset, "log.semaphore_waits") == pytest.approx(2)
    assert total(dataset, "log.messages") == pytest.approx(2)
    ends = dataset.frame("event").filter(pl.col("kind") == "restart")["text"].to_list()
    assert [text.partition(" ")[0] for text in ends] == ["We", "InnoDB:"]


def test_a_zone_that_nobody_told_is_said() -> None:
    assert any("no time zone" in note for note in read_file(SAMPLES / "mysql_error.55.log").notes)
    assert read_file(SAMPLES / "mysql_error.log").notes == []


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The error log of a server that saw a deadlock, a wrong password, a crowd, a kill and a stop."""
    path = tmp_path_factory.mktemp("logs") / "error"
    with running_mariadb(log_warnings=4, innodb_print_all_deadlocks="ON", max_connections=4) as server:
        _deadlock(server)
        with suppress(pymysql.Error):
            pymysql.connect(user="root", password=SECRET, host="127.0.0.1", port=server.port)
        _crowd(server)
        server.stop(signal.SIGKILL)
        server.start()
        server.execute("SELECT 1")  # it has recovered
        server.stop()
        path.write_text(server.log)
    return path


@pytest.mark.server
def test_a_real_server(written: Path) -> None:
    text, dataset = written.read_text(), read(written, zone="UTC")
    assert total(dataset, "log.messages") == pytest.approx(len(re.findall(r"\[(?:Note|Warning|ERROR)\]", text)))
    assert total(dataset, "log.errors") == pytest.approx(len(re.findall(r"\[(?:Warning|ERROR)\]", text)))
    assert total(dataset, "log.deadlocks") == pytest.approx(1)
    assert total(dataset, "log.access_denied") == pytest.approx(1)
    assert total(dataset, "log.aborted_connections") == pytest.approx(text.count("] Aborted connection"))
    assert text.count("Too many connections") == pytest.approx(total(dataset, "log.connections_refused"))
    assert [kind for kind, _ in events(dataset)].count("deadlock") == 2
    lived = dataset.frame("event").filter(pl.col("kind") == "restart")["text"]
    assert lived.str.starts_with("Starting MariaDB").sum() == 2
    assert lived[-1].endswith("Shutdown complete")


@pytest.mark.server
def test_no_value_leaves_the_log(written: Path) -> None:
    assert SECRET in written.read_text()
    dataset = read(written, zone="UTC")
    assert SECRET not in "".join(dataset.frame(name).write_csv() for name in dataset.tables)


def _deadlock(server: MariaDBServer) -> None:
    server.execute(
        "CREATE DATABASE shop",
        "CREATE TABLE shop.item (id int PRIMARY KEY, name varchar(100))",
        "INSERT INTO shop.item VALUES (1, 'a'), (2, 'b')",
        "COMMIT",
    )
    with closing(_connected(server)) as one, closing(_connected(server)) as other:
        _update(one, 1)
        _update(other, 2)
        waiting = threading.Thread(target=_update, args=(other, 1))
        waiting.start()
        time.sleep(0.2)
        _update(one, 2)
        waiting.join()


def _connected(server: MariaDBServer) -> "pymysql.Connection[pymysql.cursors.Cursor]":
    return pymysql.connect(user="root", unix_socket=str(server.socket), database="shop")


def _update(connection: "pymysql.Connection[pymysql.cursors.Cursor]", number: int) -> None:
    with suppress(pymysql.Error):
        connection.cursor().execute(f"UPDATE item SET name = '{SECRET}' WHERE id = {number}")


def _crowd(server: MariaDBServer) -> None:
    crowd = []
    with suppress(pymysql.Error):
        crowd.extend(_connected(server) for _ in range(8))
    for connection in crowd:
        connection.close()
