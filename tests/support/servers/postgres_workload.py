"""A private PostgreSQL server that logs all it can, and a little of everything that is logged."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from servers import PostgresServer, running_postgres

SECRET = "hunter2"  # noqa: S105 - nothing is locked with it
LOGGING = {
    "logging_collector": "on",
    "log_filename": "server.log",
    "log_min_duration_statement": 0,
    "log_lock_waits": "on",
    "deadlock_timeout": "60ms",
    "log_temp_files": 0,
    "work_mem": "64kB",
    "log_autovacuum_min_duration": 0,
    "autovacuum_naptime": 1,
    "autovacuum_vacuum_threshold": 1,
    "autovacuum_vacuum_scale_factor": 0,
    "autovacuum_analyze_threshold": 1,
    "autovacuum_analyze_scale_factor": 0,
    "log_checkpoints": "on",
    "log_connections": "on",
    "log_disconnections": "on",
    "max_connections": 6,
    "superuser_reserved_connections": 1,
    "max_wal_senders": 0,
    "log_timezone": "UTC",
}
VACUUMED_S = 20


@contextmanager
def logging_server(version: int, destination: str, prefix: str) -> Iterator[PostgresServer]:
    """A server that logs to these destinations at once."""
    settings = LOGGING | {"log_destination": destination, "log_line_prefix": prefix}
    with running_postgres(version, settings) as server:
        yield server


def log(server: PostgresServer, ending: str = "log") -> Path:
    return server.datadir / "log" / f"server.{ending}"


def everything(server: PostgresServer) -> None:
    """Statements, errors, temporary files, checkpoints, lock waits, a deadlock, autovacuum, a crowd, a reload."""
    server.execute(
        "CREATE TABLE item (id int PRIMARY KEY, name text)",
        "INSERT INTO item SELECT n, repeat('x', 100) FROM generate_series(1, 3000) n",
        "SELECT count(*) FROM (SELECT * FROM item ORDER BY name, id DESC) AS sorted",
        f"SELECT 1 AS \"a b\" /* {SECRET} */, '{SECRET}'",
        f"SELECT '{SECRET}\nover\n\ttwo lines'",
        "DELETE FROM item WHERE id > 1000",
        "CHECKPOINT",
    )
    _errors(server)
    _prepared(server)
    _lock_wait(server)
    _deadlock(server)
    _crowd(server)
    server.execute("ALTER SYSTEM SET work_mem = '128kB'", "SELECT pg_reload_conf()")
    _until_vacuumed(server)


def _errors(server: PostgresServer) -> None:
    for statement in (
        f"SELECT '{SECRET}'::int",
        f'SELECT "{SECRET}"',
        "INSERT INTO item VALUES (1, 'again')",
        f"DO $$ BEGIN RAISE EXCEPTION 'the password is {SECRET}'; END $$",
        "SELEC 1",
    ):
        with suppress(psycopg.Error):
            server.execute(statement)


def _prepared(server: PostgresServer) -> None:
    with server.connect() as connection:
        for number in range(3):
            connection.execute("SELECT name FROM item WHERE id = %s AND name <> %s", (number, SECRET), prepare=True)


def _lock_wait(server: PostgresServer) -> None:
    with server.connect() as holder, server.connect() as waiter:
        holder.execute("BEGIN")
        holder.execute("UPDATE item SET name = 'held' WHERE id = 1")
        waiting = threading.Thread(target=waiter.execute, args=(f"UPDATE item SET name = '{SECRET}' WHERE id = 1",))
        waiting.start()
        time.sleep(0.2)
        holder.execute("COMMIT")
        waiting.join()


def _deadlock(server: PostgresServer) -> None:
    with server.connect() as one, server.connect() as other:
        for connection, number in ((one, 1), (other, 2)):
            connection.execute("BEGIN")
            connection.execute(f"UPDATE item SET name = 'locked' WHERE id = {number}")
        waiting = threading.Thread(target=_update, args=(other, 1))
        waiting.start()
        _update(one, 2)
        waiting.join()


def _update(connection: psycopg.Connection[object], number: int) -> None:
    with suppress(psycopg.Error):
        connection.execute(f"UPDATE item SET name = '{SECRET}' WHERE id = {number}".encode())


def _crowd(server: PostgresServer) -> None:
    crowd = []
    with suppress(psycopg.OperationalError):
        crowd.extend(server.connect() for _ in range(LOGGING["max_connections"] + 2))  # type: ignore[operator]
    for connection in crowd:
        connection.close()
    while len(_clients(server)) > 0:  # they leave in their own time
        time.sleep(0.01)


def _clients(server: PostgresServer) -> list[int]:
    return [pid for pid in server.backends() if b"[local]" in _command(pid)]


def _command(pid: int) -> bytes:
    """What stands in the list of processes; nothing of one that has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _until_vacuumed(server: PostgresServer) -> None:
    """The worker logs what it did just after it is counted."""
    deadline = time.monotonic() + VACUUMED_S
    done = "SELECT autovacuum_count + autoanalyze_count FROM pg_stat_user_tables WHERE relname = 'item'"
    while server.execute(done)[0][0] < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(0.1)
