"""Sessions that stand by for a leader's lock are no loss; work that waits for an advisory lock is."""

from typing import Any

import pytest

from diagnose.hosts import host
from diagnose.mysql_servers import mysql
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

LEADER = 7100
WAITING = {
    "wait_class": "Application", "event": "advisory", "wait_kind": "application lock", "blocker_sid": LEADER,
    "in_state_s": 300.0, "statement_s": 300.0, "transaction_s": 300.0, "program": "scheduler",
}  # fmt: skip


def standing(*more: dict[str, Any], waiters: int = 5, text: str | None = None, **changes: Any) -> Dataset:
    """Five sessions that wait for a sixth, which is idle outside a transaction."""
    own = {"statement_id": "12"} if text else {}
    line = [WAITING | own | {"sid": 7200 + number} | changes for number in range(waiters)]
    told = [{"statement_id": "12", "text": text, "calls_per_s": 0.1}] if text else []
    return host(sessions=[*line, *more], statements=told)


def test_an_election_is_a_note_with_what_to_do_if_it_is_none() -> None:
    verdict = diagnose(standing())
    [found] = verdict.findings
    assert verdict.healthy
    assert (found.cause, found.severity) == ("table_locks", "note")
    assert said(found.title) == "5 sessions stand by for an advisory lock of session 7100: as a leader's election"
    assert "scheduler elect a leader so" in said(found.remedy[0])
    assert f"pg_terminate_backend({LEADER})" in said(found.remedy[1])


def test_a_leader_at_work_in_short_transactions_is_one_still() -> None:
    at_work = {"sid": LEADER, "transaction_s": 0.1, "statement_s": 0.1, "interval_s": 0.1}
    assert diagnose(standing(at_work)).healthy


def test_a_statement_sent_in_parts_is_known_by_its_text() -> None:
    late = {"transaction_s": 300.0005, "text": "select pg_advisory_lock($1)"}
    assert diagnose(standing(**late)).healthy
    assert not diagnose(standing(**late | {"text": None})).healthy


@pytest.mark.parametrize(
    "changes",
    [
        {"transaction_s": 300.4},  # something was done in the transaction before
        {"text": "select pg_advisory_xact_lock($1)"},
        {"text": "select pg_advisory_lock($1), id from jobs"},
        {"in_state_s": 4.0, "statement_s": 4.0, "transaction_s": 4.0},  # since a moment: the line moves, or grows
        {"blocker_sid": None},
    ],
)
def test_work_that_waits_is_a_finding(changes: dict[str, Any]) -> None:
    found = diagnose(standing(**changes)).findings[0]
    assert (found.cause, found.severity) == ("table_locks", "critical")
    assert "locks of the application's own making" in said(found.title)


def test_who_does_something_else_as_well_waits_with_work() -> None:
    busy = {"sid": 7200, "serial": 7200, "interval_s": 0.1, "program": "scheduler"}
    assert not diagnose(standing(busy, serial=7200)).healthy


def test_a_holder_in_a_long_transaction_holds_up_work() -> None:
    holder = {"sid": LEADER, "state": "idle in transaction", "wait_class": "Idle", "event": "ClientRead",
              "transaction_s": 400.0, "in_state_s": 390.0}  # fmt: skip
    assert not diagnose(standing(holder)).healthy


def test_beside_an_election_other_work_that_waits_is_still_found() -> None:
    work = [WAITING | {"blocker_sid": 7300, "transaction_s": 310.0, "sid": 7400 + number} for number in range(3)]
    found = diagnose(standing(*work)).findings
    assert {one.severity for one in found if one.cause == "table_locks"} == {"warning", "note"}


def test_two_lines_for_one_lock_where_one_has_work_are_a_finding() -> None:
    work = [WAITING | {"transaction_s": 310.0, "sid": 7400}]
    assert not diagnose(standing(*work)).healthy


def test_a_prepared_transaction_leads_nothing() -> None:
    """It has no session that could be at work: who waits for its lock waits for good."""
    found = diagnose(standing(blocker_sid=0)).findings[0]
    assert (found.cause, found.severity) == ("table_locks", "critical")


def test_beside_an_election_a_locked_table_is_told_as_one_and_behind_its_own_root() -> None:
    table = {"event": "relation", "wait_kind": "table lock", "blocker_sid": 7300, "in_state_s": 20.0, "interval_s": 3.0}
    line = [WAITING | table | {"sid": 7400 + number, "program": "shop"} for number in range(2)]
    altering = {"sid": 7300, "serial": 7300, "program": "deploy", "interval_s": 3.0}
    found = next(
        one for one in diagnose(standing(*line, altering)).findings
        if one.cause == "table_locks" and one.severity != "note"
    )  # fmt: skip
    assert "locks on tables or other objects" in said(found.title)
    assert str(LEADER) not in said(found.title) + " ".join(said(one.figure) for one in found.for_)


def user_locks(text: str = "do get_lock(?, ?)", **changes: Any) -> Dataset:
    """Two sessions of MySQL that wait for a user lock of a third, which is idle."""
    waiting = {
        "wait_class": "Application", "event": "User lock", "wait_kind": "application lock", "blocker_sid": 7,
        "in_state_s": 300.0, "statement_s": 300.0, "statement_id": "s1",
    }  # fmt: skip
    holder = {"sid": 7, "state": "idle", "wait_class": "Idle", "event": "idle", "wait_kind": "idle"}
    return mysql(
        sessions=[waiting | changes, waiting | changes, holder], statements=[{"statement_id": "s1", "text": text}]
    )


def test_user_locks_of_mysql_elect_a_leader_too() -> None:
    verdict = diagnose(user_locks())
    [found] = [finding for finding in verdict.findings if finding.cause == "table_locks"]
    assert (verdict.healthy, found.severity) == (True, "note")
    assert said(found.title) == "2 sessions stand by for a user lock of session 7: as a leader's election"
    assert "KILL 7" in said(found.remedy[1])
    assert diagnose(user_locks("DO `get_lock` (...)")).healthy, "as a digest has it"


@pytest.mark.parametrize(
    "changes",
    [
        {"transaction_s": 300.0},
        {"text": "select get_lock(?, ?), id from jobs"},
        {"in_state_s": 4.0},
        {"blocker_sid": None},
    ],
)
def test_work_that_waits_for_a_user_lock_is_a_finding(changes: dict[str, Any]) -> None:
    assert not diagnose(user_locks(**changes)).healthy
