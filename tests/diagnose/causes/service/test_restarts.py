"""Servers that did not stay up."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from checkups import causes, checkup, checkup_while
from diagnose.hosts import DB, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.read.formats import read_file
from doctord.report.phrases import said
from servers import PostgresServer

SERVER_S, PROCESSES_S = "pg_postmaster_start_time.age_s", "pg_stat_activity.own_processes_s"
KILLED = "server process (pid 77) was terminated by signal 9: Killed"


def event(kind: str, second: int, text: str = "", subject: str = DB) -> dict[str, Any]:
    return {"kind": kind, "db": DB, "subject": subject, "text": text, "ts": START + timedelta(seconds=second)}


def found(*events: dict[str, Any], **more: Any) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(host(events=events, **more)).findings}


KILLS = [
    event("process crashed", second, f"{KILLED}; it was app@192.0.2.9 report, idle for {age} s")
    for second, age in ((4, 90), (9, 75), (14, 300))
]
NO_OOM = {(None, "vmstat.oom_kill"): 0.0}


def test_somebody_ends_sessions_where_the_kernel_killed_nothing() -> None:
    finding = found(*KILLS, kernel=NO_OOM)["server_restarted"]
    assert said(finding.title).endswith("all sessions were ended, by somebody's kill -9")
    told = " | ".join(f"{said(item.figure)}: {said(item.why)}" for item in finding.for_)
    assert "0 kills for want of memory" in told
    assert "83 % of the memory was available" in told
    assert "3 of 3: app@192.0.2.9 report: idle for 1 min 15 s and longer when last looked at" in told
    assert not finding.against


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"kernel": {(None, "vmstat.oom_kill"): 0.2}},
        {"kernel": NO_OOM, "postgres": {(None, "limits.cpu_s"): 600.0}},
    ],
    ids=["not counted", "the kernel kills", "a limit of CPU time"],
)
def test_who_ends_them_is_open_where_it_may_be_another(more: dict[str, Any]) -> None:
    finding = found(*KILLS, **more)["server_restarted"]
    assert said(finding.title).endswith("all sessions were ended")
    assert any("CPU time for each process" in said(item.figure) for item in finding.for_) is ("postgres" in more)


def test_a_daemon_that_ends_processes_speaks_against_somebody() -> None:
    finding = found(*KILLS, kernel=NO_OOM, other_processes=[{"command": "earlyoom"}])["server_restarted"]
    assert [said(item.figure) for item in finding.against] == ["earlyoom runs"]


def test_of_other_signals_nobody_is_suspected() -> None:
    fault = event("process crashed", 14, KILLED.replace("9: Killed", "11: Segmentation fault"))
    finding = found(*KILLS, fault, kernel=NO_OOM)["server_restarted"]
    assert said(finding.title).endswith("all sessions were ended")


def test_a_crash_that_two_connections_tell_of_is_one() -> None:
    crashes = [event("crash", second, f"started again at {second}") for second in (5, 6, 12, 12)]
    finding = found(*crashes)["server_restarted"]
    assert (finding.severity, finding.database) == ("critical", DB)
    assert said(finding.title) == f"Processes of {DB} crashed 2 times: each time all sessions were ended"
    assert [said(item.what) for item in finding.not_measured] == ["which process crashed, and of what"]


def test_the_log_tells_the_signal_and_so_what_to_do() -> None:
    crashes = [event("process crashed", second, KILLED, "server process") for second in (5, 9, 13)]
    finding = found(*crashes, event("crash", 6, "started again"))["server_restarted"]
    assert "crashed 3 times" in said(finding.title)
    assert "OOM" not in said(finding.title)
    assert "memory runs out" in said(finding.remedy[0])
    assert not finding.not_measured
    assert all("signal 9" in said(item.why) for item in finding.for_)


def test_a_connection_that_ended_by_a_crash_is_enough() -> None:
    told = "the connection broke: the server ended it, because another of its processes crashed"
    assert "server_restarted" in found(event("gap", 5, told))
    assert "server_restarted" not in found(event("gap", 5, "the connection broke: closed unexpectedly"))


def test_one_crash_in_a_month_is_a_warning() -> None:
    assert found(event("crash", 5, "x"), seconds=4000)["server_restarted"].severity == "warning"


def test_what_follows_from_a_crash_is_its_symptom() -> None:
    refused = event("refused", 8, "FATAL: the database system is in recovery mode") | {"interval_s": 3.0}
    causes_found = found(event("crash", 5, "x"), refused)
    assert causes_found["server_does_not_answer"].explained_by == "server_restarted"


@pytest.mark.parametrize(
    ("server_s", "processes_s", "severity"),
    [(9000.0, 200.0, "warning"), (9000.0, 8999.0, None), (9000.0, 700.0, None), (9000.0, None, None)],
)
def test_a_crash_minutes_before(server_s: float, processes_s: float | None, severity: str | None) -> None:
    ages = {(None, SERVER_S): server_s} | ({(None, PROCESSES_S): processes_s} if processes_s is not None else {})
    finding = found(postgres=ages).get("server_restarted")
    assert (finding and finding.severity) == severity


@pytest.mark.parametrize(
    ("server_s", "version", "confidence"),
    [(500.0, "140011", 0.6), (500.0, None, 0.6), (500.0, "150004", 0.85), (9000.0, "130014", 0.85)],
    ids=["a start's own recovery", "which version, is not told", "processes come first", "too long for a recovery"],
)
def test_a_start_that_recovered_may_look_like_a_crash_of_one_process(
    server_s: float, version: str | None, confidence: float
) -> None:
    settings = {"server_version_num": version} if version else {}
    finding = found(postgres={(None, SERVER_S): server_s, (None, PROCESSES_S): 200.0}, settings=settings)
    told = finding["server_restarted"]
    assert said(told.title) == f"{DB} recovered from a crash 3 min 20 s ago"
    assert (told.confidence, bool(told.against)) == (confidence, confidence == 0.6)


@pytest.mark.parametrize(("starts", "severity"), [(1, "note"), (2, "critical")])
def test_a_start_by_hand_is_a_note(starts: int, severity: str) -> None:
    events = [event("restart", 6 * number, f"started again at {number}") for number in range(1, starts + 1)]
    assert found(*events)["server_restarted"].severity == severity


def test_statistics_that_somebody_reset_are_no_restart() -> None:
    assert not found(event("restart", 5, "the statistics were reset", "pg_stat_database postgres"))


def test_the_kernels_kill_explains_the_crash() -> None:
    killed = {"kind": "oom kill", "subject": "postgres", "text": "Out of memory: Killed process 77 (postgres)"}
    causes_found = found(event("crash", 5, "x"), killed)
    assert causes_found["server_restarted"].explained_by == "oom_killed"
    of_another = found(event("crash", 5, "x"), killed | {"subject": "java"})
    assert of_another["server_restarted"].explained_by is None


def test_a_kill_of_long_before_explains_no_crash() -> None:
    killed = {"kind": "oom kill", "subject": "postgres", "text": "Out of memory: Killed process 77 (postgres)"}
    crash = event("crash", 5, "x")
    for minutes, explained_by in ((3, "oom_killed"), (8, None)):
        before = killed | {"ts": crash["ts"] - timedelta(minutes=minutes)}
        assert found(crash, before)["server_restarted"].explained_by == explained_by


LIFE = [
    (0.0, "starting PostgreSQL 15.3"),
    (0.2, "database system was shut down at 2026-11-20 11:59:00 UTC"),
    (0.3, "database system is ready to accept connections"),
    (7200.0, "received fast shutdown request"),
    (7209.0, "database system is shut down"),
]
CRASHES = [
    (3600.0, "server process (PID 77) was terminated by signal 9: Killed"),
    (3600.1, "all server processes terminated; reinitializing"),
    (3604.0, "database system was interrupted; last known up at 2026-11-20 11:59:00 UTC"),
    (3609.0, "redo starts at 0/15D"),
    (3690.0, "database system is ready to accept connections"),
]


def logged(tmp_path: Path, *lines: tuple[float, str]) -> list[Finding]:
    """What is found in a log of the server's life."""
    log = tmp_path / "postgresql.log"
    moments = [(START + timedelta(seconds=second), text) for second, text in sorted(lines)]
    log.write_text(
        "".join(f"{ts:%Y-%m-%d %H:%M:%S}.{ts.microsecond // 1000:03} UTC [1] LOG:  {text}\n" for ts, text in moments)
    )
    return [*diagnose(Dataset.from_batches(read_file(log, zone="UTC").batches)).findings]


@pytest.mark.parametrize("begin", [0, 1], ids=["12 and later", "before 12"])
def test_in_a_log_a_start_is_one_whatever_is_said_about_it(tmp_path: Path, begin: int) -> None:
    [finding] = logged(tmp_path, *LIFE[begin:])
    assert (finding.cause, finding.severity) == ("server_restarted", "note")
    assert said(finding.title) == "postgresql was started again 1 time"


def test_a_crash_in_a_log_is_no_start(tmp_path: Path) -> None:
    crashed, started = (one for one in logged(tmp_path, *LIFE, *CRASHES) if one.cause == "server_restarted")
    assert (crashed.severity, started.severity) == ("warning", "note")
    assert "A process of postgresql crashed" in said(crashed.title)
    assert "memory runs out" in said(crashed.remedy[0])
    assert not crashed.not_measured


@pytest.mark.parametrize(
    "who",
    ["server process", "checkpointer process", 'background worker "parallel worker"', "autovacuum launcher process"],
)
@pytest.mark.parametrize(("how", "is_crash"), [
    ("was terminated by signal 11: Segmentation fault", True), ("exited with exit code 2", True),
    ("exited with exit code 1", False),
])  # fmt: skip
def test_who_crashes_in_a_log(tmp_path: Path, who: str, how: str, *, is_crash: bool) -> None:
    found = logged(tmp_path, *LIFE, (5000.0, f"{who} (PID 77) {how}"))
    assert any("crashed" in said(finding.title) for finding in found) is is_crash


def _kill_backends(server: PostgresServer, stop: threading.Event) -> None:
    """What a server does not survive unharmed, every three seconds."""
    while not stop.wait(3.0):
        with suppress(psycopg.Error), server.connect() as victim:  # it may be away just now
            os.kill(victim.info.backend_pid, signal.SIGKILL)
            time.sleep(0.5)


@pytest.mark.server
@pytest.mark.slow
def test_a_server_that_crashes_every_few_seconds(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    stop = threading.Event()
    killer = threading.Thread(target=_kill_backends, args=(server, stop))
    killer.start()
    try:
        status, verdict = checkup(server.dsn(), 20)
    finally:
        stop.set()
        killer.join()
    assert status == 1
    [crashed] = [one for one in verdict["findings"] if one["cause"] == "server_restarted"]
    assert crashed["severity"] == "critical"
    assert "signal 9" in str(crashed["for"])


@pytest.mark.server
def test_the_log_that_the_server_collects_names_the_process(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server(settings={"logging_collector": "on"})
    _, verdict = checkup_while(server, lambda: _kill_checkpointer(server), 14)
    [finding] = [one for one in verdict["findings"] if one["cause"] == "server_restarted"]
    assert "checkpointer process" in str(finding["for"])


def _kill_checkpointer(server: PostgresServer) -> None:
    [pid] = [pid for pid in server.backends() if "checkpointer" in Path(f"/proc/{pid}/cmdline").read_text()]
    os.kill(pid, signal.SIGKILL)


@pytest.mark.server
def test_a_server_that_is_stopped_in_the_middle_and_stays_so(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    status, verdict = checkup_while(server, server.stop, 12)
    assert status == 1
    assert "server_does_not_answer" in causes(verdict)
