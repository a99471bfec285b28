import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from doctord.collect import postgres
from doctord.collect.postgres.discover import Server, servers
from postgres_samples import rows_of
from servers import PostgresServer

UNIX = "Num       RefCount Protocol Flags    Type St Inode Path\n"


class Proc:
    """A /proc made up in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "net").mkdir()
        self.sockets(UNIX)

    def sockets(self, unix: str, tcp: str = "") -> None:
        (self.folder / "net/unix").write_text(unix)
        (self.folder / "net/tcp").write_text(f"  sl  local_address rem_address   st\n{tcp}")

    def process(self, pid: int, parent: int, name: str, *words: str) -> None:
        folder = self.folder / str(pid)
        folder.mkdir()
        (folder / "stat").write_text(f"{pid} ({name}) S {parent} 0 0")
        (folder / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in words))


@pytest.fixture
def proc(tmp_path: Path) -> Proc:
    folder = tmp_path / "proc"
    folder.mkdir()
    return Proc(folder)


def listening(folder: str, port: int) -> str:
    return f"0: 00000002 00000000 00010000 0001 01 12345 {folder}/.s.PGSQL.{port}\n"


@pytest.mark.server
def test_a_running_server_is_found(server: PostgresServer) -> None:
    found = next(one for one in servers() if one.port == server.port)
    assert server.process is not None
    assert found.socket_dir == str(server.socket_dir)
    assert found.owner == server.datadir.stat().st_uid
    assert found.unreachable is None
    if os.geteuid() in (0, found.owner):
        assert (found.pid, found.version, found.data_dir) == (server.process.pid, server.version, str(server.datadir))


@pytest.mark.server
@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to come in as the server's own user")
def test_collectors_of_what_was_found(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGHOST", "PGPORT", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)
    search = postgres.Search()
    made = [one for one in search.collectors() if one.name.startswith(f"postgresql:{server.port} ")]
    assert [one.name.split()[1] for one in made] == ["sessions", "statistics", "probe"]
    again = [one.name for one in search.collectors()]
    assert not any(name.startswith(f"postgresql:{server.port} ") for name in again), "it is no newcomer"
    with closing(made[1]) as collector:
        assert rows_of("setting", collector.sample())


@pytest.mark.server
def test_the_environment_names_the_server(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGHOST", str(server.socket_dir))
    monkeypatch.setenv("PGPORT", str(server.port))
    monkeypatch.setenv("PGUSER", "doctord")
    monkeypatch.setenv("PGDATABASE", "postgres")
    made = postgres.collectors(postgres.named_by_environment())
    assert [one.name.partition(" ")[2] for one in made] == ["sessions", "statistics", "probe"]
    with closing(made[1]) as collector:
        assert rows_of("setting", collector.sample())


def test_backends_are_not_taken_for_servers(proc: Proc, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "postmaster.pid").write_text(f"100\n{data}\n1700000000\n5433\n{tmp_path}\nlocalhost\n\nready\n")
    (data / "PG_VERSION").write_text("16\n")
    proc.process(100, 1, "postgres", "/usr/lib/postgresql/16/bin/postgres", "-D", str(data))
    proc.process(101, 100, "postgres", "postgres: checkpointer")
    proc.process(102, 1, "postgres_exporter", "/usr/bin/postgres_exporter")
    (tmp_path / ".s.PGSQL.5433").touch()
    proc.sockets(UNIX + listening(str(tmp_path), 5433))
    owner = tmp_path.stat().st_uid
    assert servers(proc.folder) == [Server(5433, str(tmp_path), 100, owner, 16, str(data))]


def test_a_socket_is_enough(proc: Proc, tmp_path: Path) -> None:
    (tmp_path / ".s.PGSQL.5433").touch()
    proc.sockets(UNIX + listening(str(tmp_path), 5433))
    assert servers(proc.folder) == [Server(5433, str(tmp_path), owner=tmp_path.stat().st_uid)]


def test_connected_sockets_do_not_count(proc: Proc) -> None:
    proc.sockets(UNIX + listening("/tmp", 5433).replace("00010000", "00000000"))  # noqa: S108 - no file is made
    assert servers(proc.folder) == []


def test_a_server_on_tcp_only(proc: Proc) -> None:
    proc.process(100, 1, "postgres", "/usr/lib/postgresql/15/bin/postgres", "-D", "/nowhere", "-p", "5434")
    proc.sockets(UNIX, "   0: 0100007F:153A 00000000:0000 0A\n")
    (found,) = servers(proc.folder)
    assert (found.port, found.socket_dir, found.version, found.unreachable) == (5434, None, 15, None)


def test_a_server_in_a_container_is_named_with_the_reason(proc: Proc) -> None:
    proc.process(100, 1, "postgres", "postgres", "-D", "/nowhere", "-p", "5434")
    proc.process(200, 1, "postgres", "postgres")
    proc.sockets(UNIX + listening("/in/the/container", 5435))
    reasons = {one.port: one.unreachable for one in servers(proc.folder)}
    assert "network namespace" in str(reasons[5434])
    assert "container" in str(reasons[5435])


def test_a_server_whose_socket_was_removed_is_reached_by_tcp(proc: Proc, tmp_path: Path) -> None:
    proc.process(100, 1, "postgres", "postgres", "-D", "/nowhere", "-p", "5434")
    proc.sockets(UNIX + listening(str(tmp_path), 5434), "   0: 0100007F:153A 00000000:0000 0A\n")
    assert [(one.port, one.socket_dir, one.pid, one.unreachable) for one in servers(proc.folder)] == [
        (5434, None, 100, None)
    ]
    proc.sockets(UNIX + listening(str(tmp_path), 5434))
    (found,) = servers(proc.folder)
    assert "the file of its socket" in str(found.unreachable)


def test_of_two_sockets_the_one_whose_file_is_there_is_taken(proc: Proc, tmp_path: Path) -> None:
    (tmp_path / ".s.PGSQL.5434").touch()
    (tmp_path / "other").mkdir()
    proc.sockets(UNIX + listening(str(tmp_path), 5434) + listening(str(tmp_path / "other"), 5434))
    (found,) = servers(proc.folder)
    assert (found.socket_dir, found.unreachable) == (str(tmp_path), None)


def test_a_server_whose_socket_is_removed_later_is_no_newcomer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGHOST", "PGPORT", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)
    found = [Server(5434, "/run/postgresql")]
    monkeypatch.setattr(postgres, "servers", lambda: found)
    search = postgres.Search()
    assert len(search.collectors()) == 3
    found[:] = [Server(5434), Server(5435)]
    assert {one.name.partition(" ")[0] for one in search.collectors()} == {"postgresql:5435"}


def test_no_server_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGHOST", "PGPORT", "PGSERVICE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(postgres, "servers", list)
    search = postgres.Search()
    (collector,) = search.collectors()
    assert search.collectors() == []
    with closing(collector):
        (event,) = rows_of("event", collector.sample())
        assert collector.sample() == []
    assert (event["kind"], event["subject"]) == ("not measured", "PostgreSQL")
    assert "--dsn" in event["hint"]


def test_a_server_that_could_not_be_reached_yet_is_found_once_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    starting = Server(5434, pid=100, unreachable="nothing listens on port 5434 here")
    seen = [[starting], [starting], [Server(5434, pid=100)], [Server(5434, pid=100)]]
    monkeypatch.setattr(postgres, "servers", lambda: seen.pop(0))
    search = postgres.Search()
    (waiting,) = search.collectors()
    assert search.collectors() == []
    with closing(waiting):
        assert [event["subject"] for event in rows_of("event", waiting.sample())] == ["PostgreSQL on port 5434"]
    assert next(one.name for one in search.collectors()) == "postgresql:5434 sessions"
    assert search.collectors() == []


def test_the_driver_is_not_loaded_before_there_is_a_server() -> None:
    code = "import sys, doctord.collect.postgres, doctord.collect.postgres.discover; print('psycopg' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
