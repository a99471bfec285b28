"""Where a real server's files lie, and the room there."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from doctord.collect.postgres.statistics import folders
from doctord.collect.postgres.statistics.folders import Folders
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said
from postgres_samples import link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server
FULL = 8 * 2**20


@contextmanager
def small(point: Path, more: str = "") -> Iterator[None]:
    """A file system in memory, of 8 MiB, that belongs to whom its folder belongs to."""
    if os.geteuid() != 0:
        pytest.skip("only root mounts a file system")
    owner = point.parent.stat()
    point.mkdir()
    options = f"size={FULL},uid={owner.st_uid},gid={owner.st_gid},mode=700{more}"
    command = ["mount", "-t", "tmpfs", "-o", options, "small", point]
    mounted = subprocess.run(command, check=False, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no file system may be mounted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", point], check=True)


@pytest.fixture
def full(postgres_server: Callable[..., PostgresServer]) -> Iterator[PostgresServer]:
    """A server with a tablespace `fast` in memory, in a folder `small` of its own, that has no room left."""
    server = postgres_server()
    with small(server.folder / "small"):
        yield server
        server.stop()


def test_a_full_tablespace_in_memory_is_told_and_judged(full: PostgresServer) -> None:
    server, point = full, full.folder / "small"
    server.execute(f"CREATE TABLESPACE fast LOCATION '{point}'", "CREATE TABLE heap (t text) TABLESPACE fast")
    with pytest.raises(psycopg.errors.DiskFull):
        server.execute("INSERT INTO heap SELECT repeat('x', 1000) FROM generate_series(1, 20000)")
    with closing(link_to(server.dsn())) as link:
        link.open()
        batches = Folders().read(link)
    [row] = [row for row in rows_of("filesystem", batches) if row["mount"] == str(point)]
    assert (row["device"], row["size_bytes"], row["available_bytes"]) == ("small", FULL, 0)
    assert row["used_bytes"] == FULL
    assert 0 < row["inodes_used_pct"] < 100
    finding = diagnose(Dataset.from_batches(batches)).findings[0]
    assert (finding.cause, finding.severity) == ("filesystem_full", "critical")
    assert "tablespace fast" in str([item.figure.values for item in finding.for_ if not isinstance(item.figure, str)])


def test_a_tablespace_without_inodes_is_told_to_have_none(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    point = server.folder / "small"
    with small(point, ",nr_inodes=12"):
        server.execute(f"CREATE TABLESPACE fast LOCATION '{point}'")
        with pytest.raises(psycopg.errors.DiskFull, match="could not create file"):
            server.execute(*(f"CREATE TABLE t{number} (n int) TABLESPACE fast" for number in range(20)))
        with closing(link_to(server.dsn())) as link:
            link.open()
            batches = Folders().read(link)
        server.stop()
    finding = diagnose(Dataset.from_batches(batches)).findings[0]
    assert (finding.cause, finding.severity) == ("filesystem_full", "critical")
    assert said(finding.title).startswith(f"{point} has no inodes left: 100 % used")


def test_what_the_host_looks_at_is_not_told_twice(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server(
        settings={"logging_collector": "on", "archive_mode": "on", "archive_command": "cp %p /var/tmp/%f"}
    )
    with closing(link_to(server.dsn())) as link:
        link.open()
        collected = Folders()
        batches, again = collected.read(link), collected.read(link)
    told = {row["name"]: row["value"] for row in rows_of("setting", batches)}
    assert told[f"path.{server.datadir}.holds"] == "data"
    assert told[f"path.{server.datadir}/log.holds"] == "log"
    assert told["path./var/tmp.holds"] == "archive"
    assert told[f"path.{folders.SHARED_MEMORY}.holds"] == "shared memory of parallel workers"
    assert told[f"path.{server.datadir}.mount"].startswith("/")
    assert rows_of("setting", again) == []
    kinds = {name.rpartition(".")[0]: value for name, value in told.items() if name.endswith(".filesystem")}
    if not set(kinds.values()) & {"tmpfs", "overlay"}:
        assert rows_of("filesystem", batches) == []


def test_a_wal_elsewhere_is_found(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    server.stop()
    wal = server.folder / "wal"
    (server.datadir / "pg_wal").rename(wal)
    (server.datadir / "pg_wal").symlink_to(wal)
    server.start()
    with closing(link_to(server.dsn())) as link:
        link.open()
        told = {row["name"]: row["value"] for row in rows_of("setting", Folders().read(link))}
    assert told[f"path.{wal}.holds"] == "WAL"


@pytest.mark.parametrize(
    ("command", "folder"),
    [
        ("cp %p /mnt/archive/%f", "/mnt/archive"),
        ("test ! -f '/mnt/a/%f' && cp %p '/mnt/a/%f'", "/mnt/a"),
        ("rsync %p host:/mnt/%f", None),
        ("pgbackrest --stanza=x archive-push %p", None),
        ("(disabled)", None),
    ],
)
def test_the_folder_of_a_plain_copy(command: str, folder: str | None) -> None:
    found = folders._ARCHIVE.search(command)
    assert (found[1] if found else None) == folder
