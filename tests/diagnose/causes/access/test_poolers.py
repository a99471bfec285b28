"""Clients that wait in a pooler: who has the servers of the pool, and what these do."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from diagnose.hosts import host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

POOL = "shop app"
POOLER = "pgbouncer:6432"
TAKEN = {"cl_waiting": 8.0, "cl_active": 4.0, "sv_active": 4.0, "sv_idle": 0.0, "maxwait": 12.0}
SLEEPERS = [f"{POOL} {pid} nightly@10.0.0.7" for pid in (8001, 8002, 8003, 8004)]


def pooler(
    pool: Mapping[str, float], held: Mapping[str, float] | None = None, of_all: Mapping[str, float] | None = None
) -> list[dict[str, Any]]:
    """Figures of a pooler: of one pool, of who has its servers, of all databases."""
    told = [
        *((name, POOL, value) for name, value in pool.items()),
        *(("held_s", entity, value) for entity, value in (held or {}).items()),
        *((name, None, value) for name, value in (of_all or {}).items()),
    ]
    return [
        {"component": "pgbouncer", "db": POOLER, "entity": entity, "name": f"pgbouncer.{name}", "value": value,
         "kind": "rate" if name in ("wait_time", "timed_out") else "gauge"}
        for name, entity, value in told
    ]  # fmt: skip


def before(
    pool: Mapping[str, float],
    held: Mapping[str, float] | None = None,
    sessions: Sequence[Mapping[str, Any]] = (),
    of_all: Mapping[str, float] | None = None,
    **changes: Any,
) -> Dataset:
    return host(sessions=sessions, extra={"statistic": pooler(pool, held, of_all)}, **changes)


def test_sleepers_that_keep_a_pool_are_named() -> None:
    found = diagnose(before(TAKEN | {"session_mode": 1.0}, dict.fromkeys(SLEEPERS, 900.0))).findings[0]
    assert (found.cause, found.severity) == ("pooler_queue", "critical")
    assert said(found.title).endswith("servers of shop app, which idle clients keep (pool_mode = session)")
    assert "4 servers have nightly@10.0.0.7 as client, silent for up to 15 min" in [
        said(one.figure) for one in found.for_
    ]
    assert "client_idle_timeout" in " ".join(said(step) for step in found.remedy)
    assert "nightly@10.0.0.7" in said(found.remedy[0])


def test_transactions_that_stay_open_are_another_reason() -> None:
    idle = {"state": "idle in transaction", "wait_class": "Idle", "event": "ClientRead", "transaction_s": 5.0}
    sessions = [idle | {"sid": 8001 + number, "pid": 8001 + number} for number in range(4)]
    found = diagnose(before(TAKEN | {"session_mode": 0.0}, dict.fromkeys(SLEEPERS, 3.0), sessions)).findings[0]
    assert found.cause == "pooler_queue"
    assert said(found.title).endswith("whose transactions stay open")
    assert "idle_transaction_timeout" in said(found.remedy[0])


def test_servers_at_work_are_a_third() -> None:
    sessions = [{"sid": 8001 + number, "pid": 8001 + number, "interval_s": 1.0} for number in range(4)]
    held = dict.fromkeys(SLEEPERS, 3.0)
    findings = diagnose(before(TAKEN | {"session_mode": 1.0}, held, sessions, backends=0, time={})).findings
    found = next(one for one in findings if one.cause == "pooler_queue")
    assert said(found.title).endswith("which are at work")


@pytest.mark.parametrize(
    ("pool", "held"),
    [
        (TAKEN | {"session_mode": 0.0}, dict.fromkeys(SLEEPERS, 0.0)),  # short transactions: a small pool
        (TAKEN | {"session_mode": 1.0}, dict.fromkeys(SLEEPERS, 0.0)),  # sessions that ask all the time
        (TAKEN, {}),  # nobody told who has them
    ],
)
def test_where_nothing_tells_why_they_are_taken_none_is_said(pool: dict[str, float], held: dict[str, float]) -> None:
    found = diagnose(before(pool, held)).findings[0]
    assert (found.cause, found.severity) == ("pooler_queue", "warning")
    assert said(found.title) == "8 clients wait at PgBouncer for one of 4 servers of shop app"


def test_sleepers_in_a_pool_with_room_are_healthy() -> None:
    room = {"cl_waiting": 0.0, "cl_active": 8.0, "sv_active": 8.0, "sv_idle": 3.0, "maxwait": 0.0, "session_mode": 1.0}
    assert diagnose(before(room, dict.fromkeys(SLEEPERS, 900.0))).findings == ()


def test_a_pooler_that_refuses_before_an_idle_server_is_a_note() -> None:
    refused = {"kind": "not measured", "db": POOLER, "subject": POOLER, "text": "PgBouncer refuses", "hint": "grant"}
    quiet = before({}, of_all={"clients_connected": 12.0}, time={("CPU", "CPU"): 0.01}, events=[refused])
    [found] = diagnose(quiet).findings
    assert (found.cause, found.severity, len(found.not_measured)) == ("pooler_not_asked", "note", 1)
    assert diagnose(before({}, of_all={"clients_connected": 12.0})).findings == ()  # it is at work
    assert diagnose(before({}, of_all={"clients_connected": 0.0}, time={("CPU", "CPU"): 0.01})).findings == ()


def test_clients_that_its_log_says_it_turned_away_are_lost_service() -> None:
    told = {"clients_connected": 12.0, "timed_out": 0.5}
    [found] = diagnose(before({}, of_all=told, time={("CPU", "CPU"): 0.01})).findings
    assert (found.cause, found.severity) == ("pooler_not_asked", "critical")


def test_its_log_alone_tells_of_the_queue() -> None:
    told = {"clients_connected": 12.0, "wait_time": 6e6, "xacts": 3.0, "xact_time": 100.0}
    found = diagnose(before({}, of_all=told)).findings[0]
    assert found.cause == "pooler_queue"


def test_a_pooler_that_refuses_beside_one_that_answers_is_still_told_of() -> None:
    room = {"cl_waiting": 0.0, "cl_active": 8.0, "sv_active": 8.0, "sv_idle": 3.0}
    told = pooler(room) + [row | {"db": "pgbouncer:6433"} for row in pooler({}, of_all={"clients_connected": 12.0})]
    [found] = diagnose(host(time={("CPU", "CPU"): 0.01}, extra={"statistic": told})).findings
    assert (found.cause, found.severity) == ("pooler_not_asked", "note")
