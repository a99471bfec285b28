"""The server's own log, as it is read while we look."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from doctord.collect.postgres import server_log
from doctord.collect.postgres.server_log import ServerLog
from doctord.collect.postgres.statistics.collector import StatisticsCollector
from postgres_samples import SECRET, link_to, rows_of, until
from servers import PostgresServer

PREFIX = "2026-11-23 05:00:01.123 UTC [77] app@shop "
CRASH = "server process (PID 77) was terminated by signal 9: Killed"


class Opened(ServerLog):
    """A log whose place is known."""

    def __init__(self, path: Path) -> None:
        super().__init__("postgresql:1")
        self._file = os.open(path, os.O_RDONLY)
        self._read_at = time.monotonic() - 5.0


def told(path: Path, *lines: str) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Events, and how often each other message came."""
    path.write_text("")
    with closing(Opened(path)) as log:
        path.write_text("".join(f"{line}\n" for line in lines))
        batches = log.read()
    counts = {row["entity"] or row["name"]: row["value"] * row["interval_s"] for row in rows_of("statistic", batches)}
    return rows_of("event", batches), {name: round(count) for name, count in counts.items()}


@pytest.mark.parametrize(
    "line",
    [
        f"{PREFIX}LOG:  {CRASH}",
        f'2026-11-23 05:00:01.123 UTC,,,77,,1.1,1,,2026-11-23 05:00:00 UTC,,0,LOG,00000,"{CRASH}","",,,,,,,,,""',
        f'{{"timestamp":"2026-11-23","pid":77,"error_severity":"LOG","message":"{CRASH}","detail":"x"}}',
    ],
    ids=["stderr", "csvlog", "jsonlog"],
)
def test_who_crashed_and_of_what(tmp_path: Path, line: str) -> None:
    [event], counts = told(tmp_path / "log", line)
    assert (event["kind"], event["subject"]) == ("process crashed", "server process")
    assert event["text"] == "server process (pid 77) was terminated by signal 9: Killed"
    assert counts == {}


@pytest.mark.parametrize(
    ("message", "is_crash"),
    [
        ('background worker "parallel worker" (PID 9) was terminated by signal 11: Segmentation fault', True),
        ("server process (PID 9) exited with exit code 2", True),
        ('background worker "logical replication worker" (PID 9) exited with exit code 1', False),
        ("archive command was terminated by signal 15: Terminated", False),
        ("all server processes terminated; reinitializing", False),
    ],
)
def test_what_is_a_crash(tmp_path: Path, message: str, *, is_crash: bool) -> None:
    events, _ = told(tmp_path / "log", f"{PREFIX}LOG:  {message}")
    assert bool(events) is is_crash


def test_fatal_messages_are_counted_without_their_values(tmp_path: Path) -> None:
    events, counts = told(
        tmp_path / "log",
        f'{PREFIX}FATAL:  password authentication failed for user "{SECRET}"',
        f"{PREFIX}FATAL:  sorry, too many clients already",
        f"{PREFIX}FATAL:  sorry, too many clients already",
        f"{PREFIX}FATAL:  terminating connection due to administrator command",
        f"{PREFIX}ERROR:  division by zero",
        f"{PREFIX}STATEMENT:  select 'FATAL:  {SECRET}'",
        f"\tFATAL:  {SECRET}",
        f"{PREFIX}LOG:  duration: 3.2 ms  statement: select '{SECRET} (PID 5) was terminated by'",
    )
    assert events == []
    assert counts == {
        "FATAL password authentication failed for user": 1,
        "FATAL sorry, too many clients already": 2,
        "log.connections_refused": 2,
    }


def test_a_line_that_is_not_ended_waits(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("")
    with closing(Opened(path)) as log, path.open("a") as out:
        out.write(f"{PREFIX}LOG:  server process (PI")
        out.flush()
        assert log.read() == []
        out.write("D 77) was terminated by signal 9: Killed\n")
        out.flush()
        assert len(rows_of("event", log.read())) == 1
        assert log.read() == []


def test_of_very_much_the_newest_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_log, "_AT_MOST_BYTES", 2000)
    _, counts = told(tmp_path / "log", *[f"{PREFIX}FATAL:  old"] * 500, *[f"{PREFIX}FATAL:  new"] * 10)
    assert counts["FATAL new"] == 10
    assert counts["FATAL old"] < 30


@pytest.mark.server
@pytest.mark.parametrize("collects", [False, True], ids=["stderr", "collector"])
def test_a_crash_is_read_while_the_server_is_away(
    postgres_server: Callable[..., PostgresServer], *, collects: bool
) -> None:
    server = postgres_server(settings={"logging_collector": "on" if collects else "off"})
    with closing(StatisticsCollector(link_to(server.dsn()))) as collector:
        collector.sample()
        with server.connect() as victim:
            os.kill(victim.info.backend_pid, signal.SIGKILL)
            crash = until(collector, "event", lambda row: row["kind"] == "process crashed", seconds=20)
    assert "was terminated by signal 9" in crash["text"]


@pytest.mark.server
def test_what_it_was_before_we_looked_is_not_read(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    with (server.folder / "log").open("a") as out:
        out.write(f"{PREFIX}LOG:  {CRASH}\n")
    with closing(StatisticsCollector(link_to(server.dsn()))) as collector:
        batches = [*collector.sample(), *collector.sample()]
    assert not [row for row in rows_of("event", batches) if row["kind"] == "process crashed"]
