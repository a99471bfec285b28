"""Clients on this host that get no CPU while sessions wait for them."""

from collections.abc import Sequence
from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

GROUP = "/pods/page"
PAGE = {"command": "python3", "user": "page", "pid": 4711, "usr_pct": 8.0, "sys_pct": 0.0, "run_wait_pct": 92.0}
WAITING = {"sessions": 6.0, "in_transaction": 4.9, "waited_for": 0.0, "active": 0.1}
THROTTLED = {"throttled_pct": 100.0, "throttled_s_per_s": 0.92, "cpu_limit_cpus": 0.08}


def shop(
    sessions: dict[str, float] | None = None,
    quota: dict[str, float] | None = None,
    state: dict[str, float] | None = None,
    locked: Sequence[dict[str, Any]] = (),
    **changes: Any,
) -> Dataset:
    """Six sessions of the program `page` that wait for process 4711, which is throttled."""
    about = {
        "4711 page": WAITING | (sessions or {}),
        f"4711 {GROUP}": THROTTLED if quota is None else quota,
        "4711": {"processes": 1.0, "stopped": 0.0, "frozen": 0.0, "uninterruptible": 0.0} | (state or {}),
    }
    return host(postgres=figures(about), sessions=locked, **{"other_processes": [PAGE], **changes})


def figures(about: dict[str, dict[str, float]]) -> dict[tuple[str | None, str], float]:
    return {(entity, f"client_process.{name}"): value for entity, each in about.items() for name, value in each.items()}


def of_clients(dataset: Dataset) -> list[Finding]:
    return [finding for finding in diagnose(dataset).findings if finding.cause == "client_gets_no_cpu"]


def test_a_throttled_client_is_first() -> None:
    found = diagnose(shop()).findings
    assert [finding.cause for finding in found] == ["client_gets_no_cpu"]
    assert found[0].severity == "warning"
    assert found[0].database == DB
    assert said(found[0].title) == (
        "page (python3, pid 4711) is throttled to 0.08 CPUs: 4.9 of its 6 sessions wait for it in transactions"
    )
    told = [said(item.figure) for item in found[0].for_]
    assert "100 % of the periods were cut short" in told
    assert "0.08 CPUs used by process 4711" in told
    assert GROUP in said(found[0].remedy[0])


@pytest.mark.parametrize(
    ("sessions", "quota"),
    [
        ({}, {}),
        ({}, THROTTLED | {"throttled_pct": 20.0}),
    ],
    ids=["no quota", "a quota that seldom stops it"],
)
def test_a_client_that_gets_its_cpu_is_silent(sessions: dict[str, float], quota: dict[str, float]) -> None:
    assert diagnose(shop(sessions, quota, other_processes=[PAGE | {"run_wait_pct": 1.0}])).findings == ()


@pytest.mark.parametrize(
    "sessions",
    [
        {"in_transaction": 0.0},
        {"sessions": 1.0, "in_transaction": 0.9},
        {"in_transaction": 1.5, "active": 4.0},
    ],
    ids=["idle outside of transactions", "a job of one session", "the server takes the time"],
)
def test_where_nobody_is_known_to_lose_it_is_a_note(sessions: dict[str, float]) -> None:
    (finding,) = of_clients(shop(sessions))
    assert finding.severity == "note"


def test_the_servers_work_and_a_full_host_speak_against_it() -> None:
    (finding,) = of_clients(shop({"in_transaction": 1.5, "active": 4.0}, cpu={"idle_pct": 1.0, "wait_io_pct": 0.0}))
    told = " ".join(said(item.why) for item in finding.against)
    assert "at work in the server meanwhile" in told
    assert "the host itself has little left" in told


@pytest.mark.parametrize("how", ["stopped", "frozen"])
def test_a_client_that_does_not_run_at_all(how: str) -> None:
    idle = PAGE | {"usr_pct": 0.0, "run_wait_pct": 0.0}
    (finding,) = of_clients(shop({"in_transaction": 6.0}, {}, {how: 1.0}, other_processes=[idle]))
    assert finding.severity == "warning"
    assert how in said(finding.title)


@pytest.mark.parametrize(
    ("process", "words"),
    [
        ({"memory_wait_pct": 80.0}, "waiting for memory"),
        ({"io_wait_pct": 70.0}, "waiting for a disk"),
        ({"run_wait_pct": 70.0}, "waiting for a CPU"),
    ],
)
def test_what_a_client_waits_for(process: dict[str, float], words: str) -> None:
    own = PAGE | {"run_wait_pct": 1.0} | process
    (finding,) = of_clients(shop(quota={}, other_processes=[own]))
    assert (finding.severity, words in said(finding.title)) == ("warning", True)


def test_a_client_in_the_run_queue_of_a_full_host_is_no_alarm_of_its_own() -> None:
    (finding,) = of_clients(shop(quota={}, cpu={"idle_pct": 0.5}))
    assert finding.severity == "note"


def test_its_own_work_is_a_note_where_sessions_wait_and_else_nothing() -> None:
    busy = [PAGE | {"usr_pct": 99.0, "run_wait_pct": 0.5}]
    assert [one.severity for one in of_clients(shop(quota={}, other_processes=busy))] == ["note"]
    assert of_clients(shop({"in_transaction": 0.3}, {}, other_processes=busy)) == []


def test_the_servers_own_group_is_not_told_as_its_clients() -> None:
    own = {"cpu.limit_cpus": 0.08, "cpu.throttled_s_per_s": 0.0}
    told = figures({"4711 page": WAITING, "4711 /postgres": THROTTLED})
    assert of_clients(host(postgres=told, cgroup=own, other_processes=[PAGE])) == []


def test_who_waits_behind_its_sessions_is_explained_by_it() -> None:
    root = {
        "sid": 7000,
        "program": "page",
        "state": "idle in transaction",
        "wait_class": "Idle",
        "event": "ClientRead",
        "wait_kind": "idle",
        "in_state_s": 6.0,
        "transaction_s": 7.0,
    }
    waiter = {
        "sid": 7001,
        "wait_class": "Application",
        "event": "transactionid",
        "wait_kind": "row lock",
        "blocker_sid": 7000,
    }
    found = {one.cause: one for one in diagnose(shop(locked=[root, waiter])).findings}
    assert found["idle_in_transaction_blocker"].explained_by == "client_gets_no_cpu"
    assert found["client_gets_no_cpu"].impact.share == pytest.approx(1 / 1.3, abs=0.05)
    others = {one.cause: one for one in diagnose(shop(locked=[root | {"program": "other"}, waiter])).findings}
    assert others["idle_in_transaction_blocker"].explained_by is None
