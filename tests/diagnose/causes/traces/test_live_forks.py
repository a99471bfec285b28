"""Slow forks without a trace."""

import pytest

from diagnose.hosts import host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

NAME = "listener (pid 5000)"
SOCKET = "127.0.0.1:1521"


def listener(
    *,
    sys_pct: float,
    anon_bytes: float | None,
    children_per_s: float = 10.0,
    delay_s: float = 0.0,
    accepts: float | None = 5000.0,
) -> Dataset:
    kernel = {(NAME, "process.children_per_s"): children_per_s}
    if anon_bytes is not None:
        kernel |= {(NAME, "process.anon_bytes"): anon_bytes, (NAME, "process.page_table_bytes"): anon_bytes / 500}
    if delay_s:
        told = {"accept_delay": delay_s, "accept_queue": 5.0, "backlog": 128.0, "pid": accepts}
        kernel |= {(SOCKET, f"listen.{name}"): value for name, value in told.items() if value is not None}
    process = {"command": "listener", "usr_pct": 1.0, "sys_pct": sys_pct}
    return host(kernel=kernel, other_processes=[process])


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def test_a_large_listener_forks_slowly() -> None:
    finding = found(listener(sys_pct=12.0, anon_bytes=400 * 2**20))["slow_fork"]
    assert said(finding.title) == "A fork of listener (pid 5000) takes up to 12.0 ms"
    figures = " | ".join(said(item.figure) for item in finding.for_)
    assert "12.0 ms of system time for each child" in figures
    assert "400 MiB of its own memory" in figures
    assert said(finding.remedy[0]).startswith("doctord trace --pid 5000")


def test_it_explains_that_clients_wait() -> None:
    findings = diagnose(listener(sys_pct=12.0, anon_bytes=400 * 2**20, delay_s=0.4)).findings
    assert [finding.cause for finding in findings] == ["slow_fork", "clients_wait_to_connect"]
    assert findings[1].explained_by == "slow_fork"


def test_it_explains_nothing_of_clients_that_wait_for_another_process() -> None:
    findings = found(listener(sys_pct=12.0, anon_bytes=400 * 2**20, delay_s=0.4, accepts=6000.0))
    assert findings["clients_wait_to_connect"].explained_by is None
    assert next(iter(findings)) == "clients_wait_to_connect"


def test_it_is_a_note_where_the_queues_are_seen_and_no_client_waits_for_it() -> None:
    """As a run of tests that starts processes all day beside a server."""
    sick = listener(sys_pct=12.0, anon_bytes=400 * 2**20)
    assert found(sick)["slow_fork"].severity == "warning"
    finding = found(listener(sys_pct=12.0, anon_bytes=400 * 2**20, delay_s=0.01, accepts=6000.0))["slow_fork"]
    assert finding.severity == "note"
    assert "no client waits 0.1 s to be connected to it" in said(finding.against[-1].figure)


def test_it_is_no_note_where_clients_wait_for_nobody_knows_whom() -> None:
    """An unprivileged user is not told who accepts at the socket of another."""
    findings = found(listener(sys_pct=12.0, anon_bytes=400 * 2**20, delay_s=0.4, accepts=None))
    assert findings["slow_fork"].severity == "warning"
    assert findings["clients_wait_to_connect"].explained_by == "slow_fork"


def test_with_time_left_it_is_told_only_where_clients_wait() -> None:
    quiet = {"sys_pct": 6.0, "anon_bytes": 400.0 * 2**20}
    assert found(listener(**quiet)) == {}
    finding = found(listener(**quiet, delay_s=0.4))["slow_fork"]
    assert "it has time left for more" in [said(item.why) for item in finding.against]


@pytest.mark.parametrize(
    "dataset",
    [
        listener(sys_pct=12.0, anon_bytes=23e6),
        listener(sys_pct=2.0, anon_bytes=400e6),
        listener(sys_pct=12.0, anon_bytes=400e6, children_per_s=0.4),
    ],
    ids=["a fresh one", "quick forks", "too few"],
)
def test_what_is_no_slow_fork(dataset: Dataset) -> None:
    assert "slow_fork" not in found(dataset)


def test_a_size_that_was_not_read_is_said() -> None:
    finding = found(listener(sys_pct=12.0, anon_bytes=None))["slow_fork"]
    assert [said(item.what) for item in finding.not_measured] == ["the size of the process that forks"]
    assert finding.confidence == 0.5
