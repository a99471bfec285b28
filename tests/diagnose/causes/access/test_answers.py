"""A server that takes connections and does not answer."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from checkups import causes, checkup
from diagnose.hosts import DB, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said
from servers import PostgresServer

SILENT = {"kind": "no answer", "db": DB, "subject": DB, "text": "no answer for 3 s"}


def silent(second: int, seconds: float | None) -> dict[str, Any]:
    return SILENT | {"ts": START + timedelta(seconds=second), "interval_s": seconds}


def test_silence_comes_first_and_counts_once() -> None:
    """Two collectors tell of the same seconds."""
    events = [silent(3, 3.0), silent(4, 4.0), silent(20, 16.0), silent(18, 14.0)]
    finding = diagnose(host(events=events, time={}, without=("session", "statistic"))).findings[0]
    assert finding.cause == "server_does_not_answer"
    assert finding.impact.share == pytest.approx(1.0)
    assert finding.against == ()


REFUSED = {"kind": "refused", "db": DB, "subject": DB, "interval_s": 4.0}


def test_a_server_that_nobody_listens_for_any_more_is_gone() -> None:
    text = 'connection to server on socket "/run/.s.PGSQL.5432" failed: No such file or directory'
    gone = REFUSED | {"ts": START + timedelta(seconds=24), "text": text}
    finding = diagnose(host(events=[gone])).findings[0]
    assert (finding.cause, finding.severity) == ("server_does_not_answer", "critical")
    assert said(finding.title) == f"{DB} is gone: nobody has listened where it did for 4.0 s"
    assert "its log" in said(finding.remedy[0])
    restarted = REFUSED | {"ts": START + timedelta(seconds=10), "text": text}
    finding = diagnose(host(events=[restarted])).findings[0]
    assert said(finding.title) == f"{DB} let no client in for 4.0 of 20 s"


@pytest.mark.parametrize(
    ("entity", "minutes", "severity"),
    [
        ("FATAL the database system is not yet accepting connections", range(30), "critical"),
        ("FATAL 57P03 the database system is in recovery mode", range(3), "warning"),
        ("FATAL the database system is starting up", range(2), None),  # a restart, over the end of a minute
        ("FATAL the database system is starting up", range(0, 40, 3), None),  # restarts
        ("FATAL password authentication failed for user", range(22), None),
    ],
)
def test_a_log_that_refuses_clients_is_lost_service(entity: str, minutes: range, severity: str | None) -> None:
    told = {"db": DB, "component": "postgresql", "name": "log.errors", "entity": entity, "kind": "rate"}
    refused = [told | {"ts": START + timedelta(minutes=at), "interval_s": 60.0, "value": 0.1} for at in minutes]
    other = told | {"ts": START + timedelta(minutes=40), "interval_s": 2400.0, "value": 0.001, "entity": "ERROR syntax"}
    found = {finding.cause: finding for finding in diagnose(Dataset.from_rows(statistic=[*refused, other])).findings}
    finding = found.get("server_does_not_answer")
    assert (finding and finding.severity) == severity
    if finding:
        assert said(finding.title) == f"{DB} let no client in for {len(minutes) - 2} min and more"


def test_what_speaks_against_it_is_that_it_answered_at_other_times() -> None:
    postgres = {(None, "pg_stat_activity.connections"): 5.0}
    [finding] = diagnose(host(events=[silent(6, 3.0)], postgres=postgres)).findings
    assert finding.impact.share == pytest.approx(3 / 20)
    assert [item.table for item in finding.against] == ["statistic"]


@pytest.mark.parametrize(
    "event",
    [
        silent(5, None),
        silent(5, 3.0) | {"kind": "gap"},
        {"kind": "not measured", "db": DB, "subject": DB, "text": "no"},
    ],
)
def test_a_refusal_is_an_answer(event: dict[str, Any]) -> None:
    assert diagnose(host(events=[event])).healthy


def test_who_lets_nobody_in_is_lost_service() -> None:
    text = "connection failed: FATAL: the database system is starting up"
    events = [silent(second, 2.0) | {"kind": "refused", "text": text} for second in (8, 10, 10)]
    [finding] = diagnose(host(events=events)).findings
    assert (finding.cause, finding.severity) == ("server_does_not_answer", "warning")
    assert finding.impact.share == pytest.approx(4 / 20)
    assert "starting up" in said(finding.for_[0].why)


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ('FATAL: could not open shared memory segment "/PostgreSQL.7": No such file or directory', "RemoveIPC=no"),
        ("could not fork new process for connection: Resource temporarily unavailable", "TasksMax"),
        ("FATAL: the database system is starting up", "redo in progress"),
    ],
)
def test_the_remedy_is_for_what_it_said(text: str, remedy: str) -> None:
    events = [silent(second, 2.0) | {"kind": "refused", "text": text} for second in (8, 10)]
    [finding] = diagnose(host(events=events)).findings
    [told] = finding.remedy
    assert remedy in said(told)


def test_a_limit_that_is_reached_is_another_cause() -> None:
    event = silent(5, 1.0) | {"kind": "refused", "text": "FATAL: sorry, too many clients already"}
    [finding] = diagnose(host(events=[event])).findings
    assert (finding.cause, finding.severity) == ("connections_near_limit", "critical")
    told = {(None, "log.connections_refused"): 0.2, (None, "pg_stat_activity.connections"): 97.0}
    [whole] = diagnose(host(events=[event], postgres=told, settings={"max_connections": "100"})).findings
    assert len(whole.for_) == 3, "one finding of all that tells of it"


@pytest.mark.server
def test_a_stopped_server_is_no_healthy_one(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    assert server.process is not None
    server.process.send_signal(signal.SIGSTOP)  # what is stopped, goes on at the end of the test
    status, verdict = checkup(server.dsn())
    assert status == 1
    assert "server_does_not_answer" in causes(verdict)


@pytest.mark.server
def test_a_server_that_stops_in_the_middle_is_found_out(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    assert server.process is not None
    command = [Path(sys.executable).with_name("doctord"), "checkup", "--for", "10s", "--json", "--dsn", server.dsn()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        until = time.monotonic() + 30
        while not server.execute("SELECT 1 FROM pg_stat_activity WHERE application_name = 'doctord'"):
            assert time.monotonic() < until
            time.sleep(0.1)
        time.sleep(2)
        stopped = [*server.backends(), server.process.pid]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            verdict = json.loads(process.communicate(timeout=60)[0])
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
    [finding] = [one for one in verdict["findings"] if one["cause"] == "server_does_not_answer"]
    assert finding["against"], "it answered before"


@pytest.mark.slow
def test_a_socket_that_never_answers_is_a_hung_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        status, verdict = checkup(f"host=127.0.0.1 port={mute.getsockname()[1]} user=postgres dbname=postgres", 5)
    assert status == 1
    assert "server_does_not_answer" in causes(verdict)
