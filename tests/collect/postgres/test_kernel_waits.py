"""Sessions that sleep where the server names no wait: a tree of /proc, and a real server whose log nobody reads."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.kernel_waits import KernelWaits
from doctord.collect.postgres.sessions import SessionCollector
from postgres_samples import link_to, rows_of, until
from servers import PostgresServer

SERVER = 10
AT_WORK = {"wait_event_type": None, "state": "active", "backend_type": "client backend", "in_state_s": 2.0}


class Answering(Link):
    """A link whose server says the same once more, of those who are still there."""

    def __init__(self, still: dict[int, float]) -> None:
        self.still, self.asked = still, 0

    def server_pid(self) -> int | None:
        return SERVER

    def query(self, *_: Any, **__: Any) -> list[dict[str, Any]]:
        self.asked += 1
        return [{"pid": pid, "in_state_s": seconds} for pid, seconds in self.still.items()]


def process(proc: Path, pid: int, wchan: str, syscall: str = "running", parent: int = SERVER) -> None:
    folder = proc / str(pid)
    (folder / "fd").mkdir(parents=True)
    (folder / "fdinfo").mkdir()
    for name, text in (
        ("wchan", wchan),
        ("syscall", syscall),
        ("stat", f"{pid} (postgres) S {parent} 1"),
        ("cmdline", ""),
    ):
        (folder / name).write_text(text)


def found(proc: Path, still: dict[int, float], **session: Any) -> tuple[dict[int, str], int]:
    """What each session waits for by the kernel, and how often the server was asked again."""
    link, waits = Answering(still), KernelWaits(proc)
    waits.begin(link)
    active = [{"pid": int(one.name), **AT_WORK, **session} for one in sorted(proc.iterdir())]
    return {pid: wait.event for pid, wait in waits.find(link, active).items()}, link.asked


def test_a_session_that_sleeps_is_told_with_the_place(tmp_path: Path) -> None:
    process(tmp_path, 11, "anon_pipe_write", "1 0x2 0x561f 0x2000")
    process(tmp_path, 12, "anon_pipe_write", "1 0x7 0x561f 0x2000")
    process(tmp_path, 13, "jbd2_log_wait_commit", "running")
    events, asked = found(tmp_path, {11: 2.1, 12: 2.1, 13: 2.1})
    assert events == {11: "anon_pipe_write: stderr", 12: "anon_pipe_write", 13: "jbd2_log_wait_commit"}
    assert asked == 1


@pytest.mark.parametrize(
    ("wchan", "parent", "still", "session"),
    [
        ("0", SERVER, {11: 2.1}, {}),
        ("", SERVER, {11: 2.1}, {}),
        ("ep_poll", SERVER, {11: 2.1}, {}),
        ("futex_wait_queue", SERVER, {11: 2.1}, {}),
        ("pipe_write", 99, {11: 2.1}, {}),
        ("pipe_write", SERVER, {}, {}),
        ("pipe_write", SERVER, {11: 0.0}, {}),
        ("pipe_write", SERVER, {11: 2.1}, {"wait_event_type": "IO"}),
        ("pipe_write", SERVER, {11: 2.1}, {"state": "idle in transaction"}),
        ("pipe_write", SERVER, {11: 2.1}, {"backend_type": "walwriter"}),
    ],
    ids=[
        "on a CPU, or not ours to see", "not told", "waits for its client meanwhile", "waits for a lock meanwhile",
        "another's process", "gone meanwhile", "another statement meanwhile", "the server names it", "idle",
        "a background process",
    ],
)  # fmt: skip
def test_what_is_no_wait_in_the_kernel(
    tmp_path: Path, wchan: str, parent: int, still: dict[int, float], session: dict[str, Any]
) -> None:
    process(tmp_path, 11, wchan, parent=parent)
    assert found(tmp_path, still, **session)[0] == {}


def test_the_reader_of_the_log_is_named_and_not_the_server_that_keeps_the_end_open(tmp_path: Path) -> None:
    process(tmp_path, 11, "pipe_write", "1 0x2 0x0 0x0")
    (tmp_path / "11/fd/2").symlink_to("pipe:[77]")
    for pid, wchan, flags in ((SERVER, "ep_poll", "00"), (20, "pipe_read", "01"), (21, "hrtimer_nanosleep", "00")):
        process(tmp_path, pid, wchan)
        (tmp_path / f"{pid}/fd/3").symlink_to("pipe:[77]")
        (tmp_path / f"{pid}/fdinfo/3").write_text(f"pos:\t0\nflags:\t{flags}\nmnt_id:\t1\n")
    link, waits = Answering({11: 3.0}), KernelWaits(tmp_path)
    link.target = None  # type: ignore[assignment]
    waits.begin(link)
    at = waits.find(link, [{"pid": 11, **AT_WORK}])
    assert waits._reader_of(11) == "process 21 (postgres), state S in hrtimer_nanosleep"
    assert at[11].wait_kind == "server log"


@pytest.mark.server
def test_sessions_wait_for_a_log_collector_that_stands_still(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server(settings={"logging_collector": "on", "log_statement": "all"})
    assert server.process is not None
    collector = _child(server.process.pid, b"logger")
    stop = threading.Event()

    def log() -> None:
        with suppress(psycopg.Error), server.connect() as client:
            while not stop.is_set():
                client.execute("select '" + "x" * 4000 + "'")

    with closing(SessionCollector(link_to(server.dsn()))) as sampler:
        sampler.sample()
        os.kill(collector, signal.SIGSTOP)
        client = threading.Thread(target=log)
        client.start()
        try:
            seen: list[dict[str, Any]] = []
            row = until(sampler, "session", lambda one: seen.append(one) or one["wait_kind"] == "server log", 20)
            reader = next(_settings(sampler))
        finally:
            stop.set()
            os.kill(collector, signal.SIGCONT)
            client.join()
    assert row["event"].endswith("pipe_write: stderr")
    assert row["wait_class"] == "Other"
    assert reader == "" or f"process {collector} " in reader


def _settings(sampler: SessionCollector) -> Any:
    told = [row["value"] for row in rows_of("setting", sampler.sample()) if row["name"] == "log.reader"]
    yield told[0] if told else ""


def _child(parent: int, title: bytes) -> int:
    for _ in range(100):
        for one in Path("/proc").iterdir():
            with suppress(OSError, ValueError, IndexError):
                is_child = (one / "stat").read_text().rpartition(")")[2].split()[1] == str(parent)
                if is_child and title in (one / "cmdline").read_bytes():
                    return int(one.name)
        time.sleep(0.1)
    raise AssertionError("no such child")
