"""Connections that are taken: by whom, and whether the clients still exist."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from diagnose.hosts import DB, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

SETTINGS = {"max_connections": "100", "superuser_reserved_connections": "3", "tcp_keepalives_idle": "7200"}
WEB, TELLER = "web@127.0.0.1 shop", "teller@127.0.0.1"
LOST = {"held": 93.0, "held_idle": 93.0, "held_idle_s": 720.0, "held_there": 3.0, "held_gone": 90.0, "held_silent": 0.0}
ALIVE = LOST | {"held_there": 93.0, "held_gone": 0.0}
UNSEEN = {name: LOST[name] for name in ("held", "held_idle", "held_idle_s")}


def rows(
    who: str, told: Mapping[str, float], pids: int = 0, fate: str = "gone", at_s: float = 10.0
) -> list[dict[str, Any]]:
    own = {f"pg_stat_activity.{name}": (who, value) for name, value in told.items()}
    lost = [(f"{4000 + n} {who}", 720.0 + 2 * n) for n in range(pids)]
    figures = [*own.items(), *((f"pg_stat_activity.client_{fate}_s", one) for one in lost)]
    return [
        {"ts": START + timedelta(seconds=at_s), "component": "postgresql", "db": DB, "name": name, "entity": entity,
         "value": value, "kind": "gauge"}
        for name, (entity, value) in figures
    ]  # fmt: skip


def taken(*told: list[dict[str, Any]], used: float = 97.0, **changes: Any) -> Dataset:
    gauges = {(None, "pg_stat_activity.connections"): used, (None, "pg_stat_activity.connections_idle"): used - 2}
    extra = {"statistic": [row for one in told for row in one]}
    return host(**{"postgres": gauges, "settings": SETTINGS, "extra": extra} | changes)


def by_cause(dataset: Dataset) -> dict[str, Finding]:
    return {one.cause: one for one in diagnose(dataset).findings}


def test_clients_that_no_longer_exist_are_why_none_is_left() -> None:
    findings = diagnose(taken(rows(WEB, LOST, 90), rows(TELLER, {"held": 4.0}))).findings
    first = findings[0]
    assert (first.cause, first.severity, first.confidence) == ("clients_gone", "critical", 0.95)
    assert said(first.title) == (f"90 of 97 connections to {DB} are kept for clients that no longer exist: {WEB}")
    assert said(first.for_[0].figure) == f"90 sessions of {WEB}, idle for 12 min to 14 min 58 s"
    assert "pg_terminate_backend(pid)" in said(first.remedy[0])
    assert "4000" in said(first.remedy[0])
    assert "4089" in said(first.remedy[0])
    symptom = findings[1]
    assert (symptom.cause, symptom.explained_by) == ("connections_near_limit", "clients_gone")
    assert said(symptom.title).endswith(f"97 of 97 connections to {DB} are taken, 93 of them by {WEB}, idle for 12 min")


@pytest.mark.parametrize(("told", "words"), [(ALIVE, "the clients of 93 are there"), (UNSEEN, "longer")])
def test_a_pool_that_is_too_large_is_named_and_nothing_else(told: dict[str, float], words: str) -> None:
    found = by_cause(taken(rows(WEB, told)))
    assert set(found) == {"connections_near_limit"}
    finding = found["connections_near_limit"]
    assert f"93 of them by {WEB}" in said(finding.title)
    held = next(item for item in finding.for_ if said(item.figure) == f"93 connections of {WEB}")
    assert said(held.why).endswith(words)
    assert ("lower its pool's maximum" in said(finding.remedy[0])) is (told is ALIVE)


def test_connections_that_are_not_given_back_grow() -> None:
    looks = [rows(WEB, ALIVE | {"held_idle": 40.0 + 10 * n, "held": 40.0 + 10 * n}, at_s=5.0 * n) for n in range(4)]
    finding = by_cause(taken(*looks))["connections_near_limit"]
    grown = next(item for item in finding.for_ if "idle ones" in said(item.figure))
    assert said(grown.figure) == "from 40 to 70 idle ones within 15.00 s"
    looks[2] = rows(WEB, ALIVE | {"held_idle": 39.0}, at_s=10.0)
    finding = by_cause(taken(*looks))["connections_near_limit"]
    assert not any("idle ones" in said(item.figure) for item in finding.for_)


def test_clients_elsewhere_that_may_be_gone_are_a_suspicion() -> None:
    found = by_cause(taken(rows("web@10.0.0.7", LOST | {"held_gone": 0.0, "held_silent": 90.0}, 90, "silent")))
    suspicion = found["clients_gone"]
    assert (suspicion.severity, suspicion.confidence) == ("warning", 0.5)
    assert "may be kept for clients that no longer exist" in said(suspicion.title)
    assert said(suspicion.remedy[0]).startswith("First ask at web@10.0.0.7")
    assert "ss -tn" in said(suspicion.not_measured[0].grant)
    limit = found["connections_near_limit"]
    assert (limit.severity, limit.explained_by) == ("critical", None)


@pytest.mark.parametrize(
    ("pids", "fate", "severity"), [(45, "gone", "note"), (20, "gone", None), (45, "silent", None), (0, "gone", None)]
)
def test_far_from_the_limit_only_many_that_are_gone_are_worth_a_note(
    pids: int, fate: str, severity: str | None
) -> None:
    found = by_cause(taken(rows(WEB, UNSEEN, pids, fate), used=60.0))
    assert (found["clients_gone"].severity if "clients_gone" in found else None) == severity


def test_a_few_near_the_limit_are_not_why() -> None:
    assert "clients_gone" not in by_cause(taken(rows(WEB, UNSEEN, 5)))


def test_clients_that_are_gone_at_another_server_explain_nothing_here() -> None:
    other = [row | {"db": "postgresql:5433"} for row in rows(WEB, LOST, 90)]
    found = by_cause(taken(other))
    assert set(found) == {"connections_near_limit"}
    assert said(found["connections_near_limit"].title).endswith("are taken")


def test_a_root_whose_client_is_gone_comes_back_to_nothing() -> None:
    root = {"sid": 4000, "state": "idle in transaction", "transaction_s": 42.0, "in_state_s": 41.0, "user": "web"}
    waiter = {"wait_class": "Application", "event": "transactionid", "blocker_sid": 4000, "in_state_s": 0.2}
    extra = {"statistic": rows(WEB, {"held": 3.0}, 1)}
    found = by_cause(host(time={}, sessions=[root, *[waiter] * 8], extra=extra))["idle_in_transaction_blocker"]
    assert said(found.title) == "An idle transaction, session 4000, whose client is gone, blocks 8 others"
    assert "the client of session 4000 no longer exists" in {said(item.figure) for item in found.for_}
