"""Which process the archiver, or the one that recovers, waits for, found below the server's own."""

import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from doctord.collect.postgres.background_command import running
from doctord.collect.postgres.statistics.wal.archiver import Archiver
from postgres_samples import SECRET, figures, link_to, rows_of
from servers import PostgresServer

SERVER = 10


def process(
    proc: Path, pid: int, name: str, children: tuple[int, ...] = (), *, title: str = "", wchan: str = "0"
) -> None:
    """A process as /proc has it, that began when the host did."""
    folder = proc / str(pid)
    (folder / f"task/{pid}").mkdir(parents=True)
    (folder / f"task/{pid}/children").write_text("".join(f"{child} " for child in children))
    (folder / "cmdline").write_bytes(title.encode() + b"\0")
    (folder / "stat").write_text(f"{pid} ({name}) S 1 " + "0 " * 17 + "0 0\n")
    (folder / "wchan").write_text(wchan)


@pytest.mark.parametrize(
    "title",
    [
        "postgres: archiver",
        "postgres: archiver archiving 000000010000000000000003",
        "postgres: 15/main: archiver failed on 000000010000000000000003",
    ],
)
def test_the_ends_of_a_pipe_are_told_by_name(tmp_path: Path, title: str) -> None:
    process(tmp_path, SERVER, "postgres", (9, 11, 12), title="/usr/lib/postgresql/15/bin/postgres -D /data")
    process(tmp_path, 9, "postgres", (), title="postgres: archiver shop [local] idle")
    process(tmp_path, 11, "postgres", title="postgres: archiver: walwriter")
    process(tmp_path, 12, "postgres", (13,), title=title)
    process(tmp_path, 13, "sh", (14, 15), title=f"sh -c gzip | ssh -p {SECRET}")
    process(tmp_path, 14, "gzip", title="gzip", wchan="pipe_write")
    process(tmp_path, 15, "ssh", title=f"ssh -p {SECRET}", wchan="poll_schedule_timeout")
    told = running(SERVER, "archiver", tmp_path)
    assert told is not None
    assert told.name == "gzip, ssh"
    assert told.where == (
        "process 14 (gzip), state S in pipe_write; process 15 (ssh), state S in poll_schedule_timeout"
    )
    assert told.running_s == pytest.approx(time.clock_gettime(time.CLOCK_BOOTTIME), abs=60)


def test_a_library_copies_within_the_archiver(tmp_path: Path) -> None:
    process(tmp_path, SERVER, "postgres", (12,))
    process(tmp_path, 12, "postgres", title="postgres: archiver", wchan="rpc_wait_bit_killable")
    told = running(SERVER, "archiver", tmp_path)
    assert told == ("archiver", None, "process 12 (archiver), state S in rpc_wait_bit_killable")


def test_without_an_archiver_nothing_is_told(tmp_path: Path) -> None:
    assert running(SERVER, "archiver", tmp_path) is None
    process(tmp_path, SERVER, "postgres", (11, 99))
    process(tmp_path, 11, "postgres", title="postgres: walwriter")
    assert running(SERVER, "archiver", tmp_path) is None


@pytest.mark.parametrize(
    "title",
    [
        "postgres: startup recovering 000000010000000000000003",
        "postgres: standby: startup waiting for 00000002.history",
    ],
)
def test_what_recovery_waits_for(tmp_path: Path, title: str) -> None:
    process(tmp_path, SERVER, "postgres", (9, 12))
    process(tmp_path, 9, "postgres", title="postgres: app shop [local] startup")
    process(tmp_path, 12, "postgres", (13,), title=title)
    process(tmp_path, 13, "scp", title=f"scp {SECRET}", wchan="poll_schedule_timeout")
    told = running(SERVER, "startup", tmp_path)
    assert told is not None
    assert (told.name, told.where) == ("scp", "process 13 (scp), state S in poll_schedule_timeout")


@pytest.mark.server
def test_a_real_command_that_hangs(postgres_server: Callable[..., PostgresServer]) -> None:
    command = f"while [ ! -e release ]; do sleep 0.3; done; : {SECRET}"
    server = postgres_server(settings={"archive_mode": "on", "archive_command": command})
    try:
        with closing(link_to(server.dsn())) as link:
            link.open()
            server.execute("CREATE TABLE t (id int)", "SELECT pg_switch_wal()")
            until = time.monotonic() + 30
            while time.monotonic() < until:
                batches = Archiver().read(link)
                told = figures(batches)
                if any(row["name"] == "pg_stat_archiver.command_s" for row in rows_of("statistic", batches)):
                    break
                time.sleep(0.2)
    finally:
        (server.datadir / "release").touch()
    assert told["pg_ls_archive_statusdir.ready"] >= 1
    assert 0 <= told["pg_ls_archive_statusdir.oldest_ready_s"] < 60
    assert "pg_stat_archiver.last_failed_s" not in told
    [running_s] = [row for row in rows_of("statistic", batches) if row["name"] == "pg_stat_archiver.command_s"]
    assert running_s["entity"] in ("sh", "sleep")
    [setting] = rows_of("setting", batches)
    assert setting["name"] == "archiver.process"
    assert SECRET not in str(rows_of("statistic", batches)) + setting["value"]
