"""The error log while it is written: by the tests, and by real servers."""

import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pymysql
import pytest

from doctord._native import Batch
from doctord.collect.core.notices import Notices
from doctord.collect.mysql import error_log
from doctord.collect.mysql.driver import MySQLDriver
from doctord.collect.mysql.error_log import MySQLErrorLog, Place
from doctord.read.formats import read_file
from mariadb_server import running_mariadb
from mysql_server import running_mysql
from postgres_samples import rows_of

SECRET = "hunter2"  # noqa: S105 - nothing is locked with it
TIME = "2026-11-21  9:53:03 7"
DENIED = f"{TIME} [Warning] Access denied for user '{SECRET}'@'localhost' (using password: YES)\n"
FULL = f"{TIME} [Warning] Too many connections\n"
LATE = f"{TIME} [Note] InnoDB: page_cleaner: 1000ms intended loop took 38809ms.\n"
NEVER = 1e9


@contextmanager
def looking_at(path: Path | str) -> Iterator[MySQLErrorLog]:
    """A collector that knows where the log of its server is, which is this process; it has looked once."""
    with closing(MySQLErrorLog(MySQLDriver("127.0.0.1:1"), Notices())) as collector:
        collector._place = Place(os.getpid(), str(path))
        yield collector


def looks(collector: MySQLErrorLog, count: int = 2) -> list[Batch]:
    """What it tells at so many looks: the last message waits for a look at which nothing follows."""
    return [batch for _ in range(count) for batch in collector.sample()]


def counts_of(batches: list[Batch]) -> dict[str, float]:
    """How often each came, but for what never did; and the largest readings."""
    counts = Counter[str]()
    for row in rows_of("statistic", batches):
        if row["component"] == "mysql":
            about = f" {row['entity']}" if row["entity"] else ""
            counts[row["name"] + about] += row["value"] * (row["interval_s"] or 1.0)
    return {name: round(count, 3) for name, count in counts.items() if count}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "error.log"
    file.write_text(DENIED)
    return file


def append(path: Path, *lines: str) -> None:
    with path.open("a") as out:
        out.write("".join(lines))


def test_what_is_appended_is_told_as_the_file_tells_it_later(path: Path) -> None:
    with looking_at(path) as collector:
        assert looks(collector, 1) == []
        assert counts_of(looks(collector)) == {}, "what was there before"
        append(path, DENIED, FULL, FULL, LATE)
        batches = looks(collector)
    denied = "WARNING Access denied for user ?@? (using password: YES)"
    counts = counts_of(batches)
    assert counts == {
        "log.access_denied": 1,
        "log.connections_refused": 2,
        "log.errors WARNING Too many connections": 2,
        f"log.errors {denied}": 1,
        "log.messages WARNING": 3,
        "log.page_cleaner_late": 1,
        "log.page_cleaner_loop": 38.809,
    }
    assert [(event["kind"], event["subject"]) for event in rows_of("event", batches)] == [
        ("connection refused", "mysql:1")
    ]
    later = read_file(path, zone="UTC").batches
    told = {
        (row["component"], row["name"], row["unit"], row["kind"], row["entity"]) for row in rows_of("statistic", later)
    }
    live = {(row["component"], row["name"], row["unit"], row["kind"], row["entity"])
            for row in rows_of("statistic", batches) if row["component"] == "mysql"}  # fmt: skip
    assert live - told == {("mysql", "log.messages", "per_s", "rate", "ERROR")}, "that there was none is told too"
    assert told - live == {("mysql", "log.messages", "per_s", "rate", "NOTICE")}


def test_a_log_without_errors_is_told_to_have_none(path: Path) -> None:
    with looking_at(path) as collector:
        found = {row["entity"]: row["value"] for row in rows_of("statistic", looks(collector))}
    assert found == {"ERROR": 0, "WARNING": 0}


@pytest.mark.parametrize("how", ["renamed", "renamed, and not begun again yet", "truncated"])
def test_it_goes_on_when_the_log_is_rotated(path: Path, how: str) -> None:
    with looking_at(path) as collector:
        looks(collector)
        append(path, FULL)
        if how == "truncated":
            looks(collector)
            path.write_text("")
        else:
            path.rename(path.with_suffix(".1"))
        told = counts_of(looks(collector)) if how.endswith("yet") else {}
        append(path, LATE)
        told |= counts_of(looks(collector, 4))
        assert rows_of("event", collector._notices.batches()) == []
    assert told["log.page_cleaner_late"] == 1
    assert told.get("log.connections_refused", 1) == 1


@pytest.mark.parametrize(
    ("file", "why", "hint"),
    [("/nowhere/error.log", "it may not be read: No such file or directory", "run as root"),
     ("/dev/null", "it goes to no file", "log_error = /var/log/mysql/error.log")],
)  # fmt: skip
def test_what_cannot_be_read_is_said_once(file: str, why: str, hint: str) -> None:
    with looking_at(file) as collector:
        [event] = rows_of("event", looks(collector, 3))
    assert (event["kind"], event["subject"], event["text"]) == ("not measured", "the error log", why)
    assert event["hint"].startswith(hint)


def test_a_server_of_another_host_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(MySQLErrorLog(MySQLDriver("127.0.0.1:1"), Notices())) as collector:
        monkeypatch.setattr(collector._link, "open", lambda: True)
        monkeypatch.setattr(collector._link, "query", lambda _: [(3307, "./e.err", "/data/")])
        monkeypatch.setattr(error_log, "own_tasks", lambda _: None)
        [event] = rows_of("event", looks(collector, 3))
    assert (event["db"], event["text"]) == ("mysql:3307", "no process of this host is known to be the server")


@pytest.mark.parametrize(
    ("told", "file"),
    [("./host.err", "/data/host.err"), ("error.log", "/data/error.log"), ("/log/e", "/log/e"), ("stderr", None),
     ("", None), (None, None)],
)  # fmt: skip
def test_where_a_server_says_that_its_log_is(
    monkeypatch: pytest.MonkeyPatch, told: str | None, file: str | None
) -> None:
    with closing(MySQLErrorLog(MySQLDriver("127.0.0.1:1"), Notices())) as collector:
        monkeypatch.setattr(collector._link, "query", lambda _: [(3307, told, "/data/")])
        monkeypatch.setattr(error_log, "own_tasks", lambda _: Path("/proc/77/task"))
        assert collector._asked() == Place(77, file)
    assert Place(77, None).path == Path("/proc/77/fd/2")


MONITOR = f"""\
=====================================
2026-11-21 09:53:03 0x7f INNODB MONITOR OUTPUT
=====================================
LATEST DETECTED DEADLOCK
------------------------
2026-11-21 09:53:03 0x7f
*** (1) TRANSACTION:
TRANSACTION 18, ACTIVE 3 sec
MySQL thread id 23, OS thread handle 140, query id 77 web1 10.0.0.7 shop updating
UPDATE item SET name = '{SECRET}'
"""


@pytest.mark.parametrize("pause", [True, False])
@pytest.mark.parametrize("end", ["END OF INNODB MONITOR OUTPUT\n============================\n", ""])
def test_innodbs_monitor_is_no_message(path: Path, end: str, *, pause: bool) -> None:
    with looking_at(path) as collector:
        looks(collector)
        append(path, FULL, MONITOR)
        batches = looks(collector, 2 if pause else 0)
        append(path, end, LATE, "261121  9:53:03 [ERROR] mysqld got signal 11 ;\n")
        batches += looks(collector)
    kinds = [event["kind"] for event in rows_of("event", batches)]
    assert kinds == ["connection refused", "restart"]
    assert counts_of(batches)["log.page_cleaner_late"] == 1
    assert SECRET not in str([rows_of(batch.table, [batch]) for batch in batches])


def test_rare_messages_are_told_by_their_severity(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(error_log, "_MOST_NAMED", 1)
    with looking_at(path) as collector:
        looks(collector)
        append(path, DENIED, f"{TIME} [Warning] Something else\n", FULL, FULL, FULL)
        counts = counts_of(looks(collector))
    assert {name: count for name, count in counts.items() if name.startswith("log.errors")} == {
        "log.errors WARNING Too many connections": 3,
        "log.errors WARNING (others)": 2,
    }


SERVERS: dict[str, Callable[[], Any]] = {
    "mariadb": lambda: running_mariadb(log_warnings=2),
    "mariadb, to a file": lambda: running_mariadb(log_warnings=2, log_error="own.err"),
    "mysql": lambda: running_mysql(log_error_verbosity=3),
    "mysql, to a file": lambda: running_mysql(log_error_verbosity=3, log_error="./own.err"),
}


def until(
    collector: MySQLErrorLog, is_wanted: Callable[[dict[str, Any]], bool], table: str = "event"
) -> list[dict[str, Any]]:
    """All rows up to the first that is wanted."""
    deadline, seen = time.monotonic() + 60, list[dict[str, Any]]()
    while time.monotonic() < deadline:
        seen += rows_of(table, collector.sample())
        if any(map(is_wanted, seen)):
            return seen
        time.sleep(0.1)
    raise AssertionError(f"not among {seen}")


@pytest.mark.server
@pytest.mark.parametrize("kind", SERVERS)
def test_a_real_server_denies_is_killed_and_starts_again(kind: str) -> None:
    with SERVERS[kind]() as server:
        driver = MySQLDriver(f"127.0.0.1:{server.port}", "doctord", "open sesame")
        with closing(MySQLErrorLog(driver, Notices())) as collector:
            assert rows_of("statistic", collector.sample()) == []
            with suppress(pymysql.Error):
                pymysql.connect(user="root", password=SECRET, host="127.0.0.1", port=server.port)
            seen = until(collector, lambda row: row["name"] == "log.access_denied", "statistic")
            assert SECRET not in str(seen)
            assert any(
                (row["entity"] or "").startswith("WARNING") and "Access denied" in row["entity"] for row in seen
            ) or (kind.startswith("mysql")), "MySQL denies in a note"
            assert {row["db"] for row in seen} == {f"mysql:{server.port}"}
            server.execute("CREATE DATABASE shop", "CREATE TABLE shop.t (a int)", "INSERT INTO shop.t VALUES (1)")
            server.stop(signal.SIGKILL)
            collector.sample()
            server.start()
            lived = until(collector, lambda row: "ready for connections" in (row["text"] or ""))
    texts = " | ".join(row["text"] for row in lived if row["kind"] == "restart")
    assert re.search(r"(Starting MariaDB|starting as process).*[Cc]?rash recovery.*ready for connections", texts)


@pytest.mark.server
def test_the_log_of_a_server_that_lets_nobody_in_is_read() -> None:
    with running_mariadb(log_warnings=2) as server:
        driver = MySQLDriver(str(server.socket), "nobody", SECRET)
        with closing(MySQLErrorLog(driver, Notices())) as collector:
            until(collector, lambda row: row["kind"] == "not measured")
            assert collector._tail is not None
            seen = until(collector, lambda row: row["name"] == "log.access_denied", "statistic")
    assert {row["db"] for row in seen} >= {f"mysql:{server.socket}"}
