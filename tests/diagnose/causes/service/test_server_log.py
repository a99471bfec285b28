"""Sessions that wait for the server's own log."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

EVENT = "anon_pipe_write: stderr"
STANDS = {"wait_class": "Other", "event": EVENT, "wait_kind": "server log"}
ALL = {"log_statement": "all", "log.reader": "process 77 (cat), state S in hrtimer_nanosleep"}


def found(sessions: int = 4, **more: Any) -> dict[str, Finding]:
    rows = [STANDS | {"sid": 7000 + number} for number in range(sessions)]
    return {one.cause: one for one in diagnose(host(sessions=rows, **more)).findings}


def test_a_log_that_is_read_slowly_comes_first_and_names_the_reader() -> None:
    told = found(settings=ALL)
    finding = next(iter(told.values()))
    assert (finding.cause, finding.severity, finding.confidence) == ("server_log_slow", "critical", 0.9)
    assert "waits for the server's own log" in said(finding.title)
    figures = " | ".join(said(item.figure) for item in finding.for_)
    assert "process 77 (cat), state S in hrtimer_nanosleep" in figures
    assert "log_statement = all" in figures
    assert "other_waits" not in told, "it is explained"


def test_where_little_is_logged_that_speaks_against_it() -> None:
    finding = found(settings={"log_statement": "none"})["server_log_slow"]
    assert (finding.confidence, len(finding.against)) == (0.8, 1)


@pytest.mark.parametrize("settings", [ALL, {}])
def test_a_log_of_all_statements_that_nobody_waits_for_is_healthy(settings: dict[str, str]) -> None:
    assert diagnose(host(settings=settings)).healthy


def test_rows_that_are_locked_meanwhile_are_its_symptom() -> None:
    waiter = {"wait_class": "Application", "event": "transactionid", "wait_kind": "row lock", "blocker_sid": 7000}
    rows = [STANDS | {"sid": 7000}, *[waiter | {"sid": 7001 + number} for number in range(4)]]
    told = {one.cause: one for one in diagnose(host(sessions=rows, settings=ALL)).findings}
    assert told["row_locks"].explained_by == "server_log_slow"


@pytest.mark.parametrize(
    ("event", "kind", "said_of_it"),
    [
        ("poll_schedule_timeout", "network to server", "Another process or server has not answered"),
        ("rwsem_down_write_slowpath", "other", "A lock of the kernel is held"),
        ("of_tomorrow", "other", "Something else that has a name"),
    ],
)
def test_other_places_in_the_kernel_are_told_as_what_nobody_explains(event: str, kind: str, said_of_it: str) -> None:
    rows = [{"wait_class": "Other", "event": event, "wait_kind": kind, "sid": 7000 + number} for number in range(4)]
    told = {one.cause: one for one in diagnose(host(sessions=rows)).findings}
    finding = told["other_waits"]
    assert event in said(finding.title)
    assert said_of_it in " | ".join(said(item.why) for item in finding.for_)
    assert finding.confidence == 0.5


def test_what_is_neither_on_a_cpu_nor_waits_for_anything_is_told() -> None:
    asleep = {"usr_pct": 1.0, "sys_pct": 0.0, "run_wait_pct": 0.0}
    server = {"component": "postgresql", "db": DB, "name": "postmaster_pid", "value": "900"}
    dataset = host(
        seconds=30,
        time={("CPU", "CPU"): 3.0},
        backend=asleep | {"ppid": 900},
        backends=4,
        extra={"setting": [server]},
    )
    told = {one.cause: one for one in diagnose(dataset).findings}
    finding = told["other_waits"]
    assert "off the CPU" in said(finding.title)
    assert finding.for_[0].table == "process"
    assert any("wchan" in said(step) for step in finding.remedy)
    assert "cpu_saturated" not in told
