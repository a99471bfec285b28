"""A session that waits for one of its own, which waits for its lock; and one that waits for a slow server."""

from diagnose.hosts import DB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

ROOT = {"sid": 7000, "wait_class": "Other", "event": "Extension", "in_state_s": 90.0, "statement_s": 90.0}
OWN = {"sid": 7001, "wait_class": "Application", "event": "transactionid", "blocker_sid": 7000, "in_state_s": 89.0}


def standing(pair: str | None, value: float = 1.0, db: str = DB) -> Dataset:
    others = [OWN | {"sid": 7002 + number, "in_state_s": 60.0} for number in range(4)]
    rows = [{"component": "postgresql", "db": db, "name": "pg_stat_activity.own_client", "entity": pair, "value": value,
             "kind": "gauge"}] if pair else []  # fmt: skip
    return host(time={}, sessions=[ROOT, OWN, *others], extra={"statistic": rows})


def test_the_circle_is_closed_by_the_socket_between_the_two() -> None:
    findings = diagnose(standing("7000 7001")).findings
    first = findings[0]
    assert (first.cause, first.severity, first.confidence) == ("waits_for_own_session", "critical", 0.95)
    assert said(first.title).startswith("Session 7000 waits for its own session 7001")
    assert "pg_cancel_backend(7001)" in said(first.remedy[0])
    assert next(one for one in findings if one.cause == "row_locks").explained_by == "waits_for_own_session"
    assert "other_waits" not in {one.cause for one in findings}


def test_the_sockets_of_another_server_tell_nothing() -> None:
    findings = diagnose(standing("7000 7001", db="postgresql:5433")).findings
    found = next(one for one in findings if one.cause == "waits_for_own_session")
    assert found.confidence == 0.6


def test_without_its_sockets_it_is_a_question() -> None:
    found = next(one for one in diagnose(standing(None)).findings if one.cause == "waits_for_own_session")
    assert found.confidence == 0.6
    assert said(found.title).endswith("perhaps")
    assert found.not_measured


def test_a_root_whose_connections_lead_elsewhere_waits_for_a_slow_server() -> None:
    assert "waits_for_own_session" not in {one.cause for one in diagnose(standing("7000", 0.0)).findings}


def test_waits_that_move_are_no_circle() -> None:
    moving = host(time={}, sessions=[ROOT | {"in_state_s": 0.3}, *[OWN | {"in_state_s": 0.2}] * 4])
    assert "waits_for_own_session" not in {one.cause for one in diagnose(moving).findings}


def test_a_root_that_works_is_none() -> None:
    busy = host(time={}, sessions=[ROOT | {"event": "CPU", "wait_class": "CPU"}, *[OWN] * 4])
    assert "waits_for_own_session" not in {one.cause for one in diagnose(busy).findings}
