"""Where a server's log is, found without a connection."""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from doctord.collect.postgres.connection.connect import Target
from doctord.collect.postgres.log_place import log_place, postmaster
from doctord.collect.postgres.statistics.collector import StatisticsCollector
from postgres_samples import link_to, rows_of, until
from servers import PostgresServer

UNIX = "Num       RefCount Protocol Flags    Type St Inode Path\n"
FOLDER = "/srv/sockets"


def made_up(tmp_path: Path, files: str | None, *, inode: int = 12345) -> Path:
    """A /proc with a postmaster that listens at port 5499, its data directory, and what its collector writes."""
    proc, data = tmp_path / "proc", tmp_path / "data"
    (proc / "77/fd").mkdir(parents=True)
    (proc / "net").mkdir()
    data.mkdir()
    (proc / "net/unix").write_text(f"{UNIX}0: 00000002 00000000 00010000 0001 01 12345 {FOLDER}/.s.PGSQL.5499\n")
    (proc / "77/stat").write_text("77 (postgres) S 1 0 0")
    (proc / "77/cmdline").write_bytes(f"postgres\0-D\0{data}\0-p\0005499\0".encode())
    (proc / "77/cwd").symlink_to(data)
    (proc / "77/root").symlink_to("/")
    (proc / "77/fd/5").symlink_to(f"socket:[{inode}]")
    if files is not None:
        (data / "current_logfiles").write_text(files)
    return proc


@pytest.mark.parametrize(
    ("files", "file"),
    [
        ("stderr log/a.log\ncsvlog log/a.csv\n", "log/a.csv"),
        ("stderr log/of monday.log\njsonlog log/a.json\n", "log/a.json"),
        ("stderr log/of monday.log\n", "log/of monday.log"),
        (None, None),
    ],
)
def test_the_data_directory_tells_which_file_it_is(tmp_path: Path, files: str | None, file: str | None) -> None:
    proc = made_up(tmp_path, files)
    assert postmaster(Target.from_dsn(f"host={FOLDER} port=5499"), proc) == 77
    assert log_place(77, proc) == (str(tmp_path / "data"), file)
    assert log_place(78, proc) is None


@pytest.mark.parametrize("dsn", [f"host={FOLDER} port=5498", "host=/elsewhere port=5499", "host=db1 port=5499"])
def test_another_server_has_another_log(tmp_path: Path, dsn: str) -> None:
    assert postmaster(Target.from_dsn(dsn), made_up(tmp_path, None)) is None


def test_a_process_that_does_not_have_the_socket_is_another_server(tmp_path: Path) -> None:
    proc = made_up(tmp_path, None, inode=99)
    assert postmaster(Target.from_dsn(f"host={FOLDER} port=5499"), proc) is None


@pytest.mark.server
@pytest.mark.parametrize(
    "settings",
    [{}, {"logging_collector": "on"}, {"logging_collector": "on", "log_destination": "csvlog"}],
    ids=["stderr", "collector", "csvlog"],
)
@pytest.mark.parametrize("late", [True, False], ids=["late", "never"])
def test_what_is_logged_while_nobody_is_let_in_is_read(
    postgres_server: Callable[..., PostgresServer], settings: dict[str, str], *, late: bool
) -> None:
    limits = {"max_connections": 4, "superuser_reserved_connections": 1, "log_line_prefix": "%m [%p] %q%u@%d "}
    server = postgres_server(settings=limits | settings)
    if os.geteuid() not in (0, server.datadir.stat().st_uid):
        pytest.skip("the server runs as another user")
    server.execute("CREATE ROLE late LOGIN")
    with ExitStack() as taken, closing(StatisticsCollector(link_to(server.dsn("late")))) as collector:
        for _ in range(3):
            taken.enter_context(server.connect())
        batches = collector.sample()
        for _ in range(3):
            with suppress(psycopg.OperationalError):
                psycopg.connect(server.dsn("late")).close()
        refused, told, deadline = 0.0, list[dict[str, Any]](), time.monotonic() + 20
        while round(refused) < 4 and time.monotonic() < deadline:
            time.sleep(0.1)
            told += rows_of("statistic", [*batches, *collector.sample()])
            batches = []
            refused = sum(row["value"] * row["interval_s"] for row in told if row["name"] == "log.connections_refused")
        assert round(refused) >= 4, "the three, and our own"
        if late:
            taken.close()
            until(collector, "setting", lambda row: row["name"] == "max_connections", seconds=20)
            with server.connect() as session, pytest.raises(psycopg.errors.DivisionByZero):
                session.execute("SELECT 1 / 0")
            until(collector, "statistic", lambda row: "division by" in (row["entity"] or ""), seconds=20)
    assert any("late" in (row["entity"] or "") for row in told if row["name"] == "log.errors_from")


@pytest.mark.server
def test_who_may_not_ask_for_the_log_is_refused_once(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    server.execute("CREATE ROLE guest LOGIN")
    if os.geteuid() not in (0, server.datadir.stat().st_uid):
        pytest.skip("the server runs as another user")
    with closing(StatisticsCollector(link_to(server.dsn("guest")))) as collector:
        for _ in range(4):
            collector.sample()
        with server.connect() as session, pytest.raises(psycopg.errors.DivisionByZero):
            session.execute("SELECT 1 / 0")
        until(collector, "statistic", lambda row: "division by" in (row["entity"] or ""), seconds=20)
    assert server.log.count("permission denied for function pg_current_logfile") == 1
