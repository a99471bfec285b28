"""Row locks, the idle session behind them, and locks on whole tables."""

from diagnose.patients import patient
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

CONVOY = {("Application", "transactionid"): 6.0, ("Application", "tuple"): 2.0, ("CPU", "CPU"): 0.2}
ROOT = {"sid": 7000, "blocker_sid": None, "statement_id": "11", "user": "app", "program": "shop"}
WAITER = {"wait_class": "Application", "event": "transactionid", "blocker_sid": 7000, "in_state_s": 0.2}
STATEMENT = {"statement_id": "11", "text": "UPDATE counter SET n = n + $1", "elapsed_s_per_s": 6.0, "calls_per_s": 90.0}


def test_a_convoy_at_a_hot_row() -> None:
    diagnosis = diagnose(patient(time=CONVOY, sessions=[ROOT, WAITER, WAITER], statements=[STATEMENT]))
    finding = diagnosis.findings[0]
    assert finding.cause == "row_locks"
    assert finding.impact.share is not None
    assert finding.impact.share > 0.85
    assert any("UPDATE counter" in said(item.why) for item in finding.for_)
    assert any("moves on" in said(item.why) for item in finding.against)


def test_an_idle_session_at_the_root_is_the_cause_and_the_waits_its_symptom() -> None:
    idle = ROOT | {"state": "idle in transaction", "transaction_s": 42.0, "in_state_s": 41.0}
    found = diagnose(patient(time=CONVOY, sessions=[idle, *[WAITER] * 8])).findings
    assert [finding.cause for finding in found[:2]] == ["idle_in_transaction_blocker", "row_locks"]
    assert found[1].explained_by == "idle_in_transaction_blocker"
    assert "pg_terminate_backend(7000)" in said(found[0].remedy[0])


def test_a_root_that_is_seldom_idle_is_not_blamed_for_idling() -> None:
    found = diagnose(patient(time=CONVOY, sessions=[ROOT, WAITER])).findings
    assert "idle_in_transaction_blocker" not in [finding.cause for finding in found]


def test_a_lock_on_a_whole_table() -> None:
    time = {("Application", "relation"): 5.0}
    assert diagnose(patient(time=time)).findings[0].cause == "relation_locks"


def test_a_moment_of_waiting_is_no_finding() -> None:
    time = {("Application", "transactionid"): 0.02, ("CPU", "CPU"): 0.2}
    assert diagnose(patient(time=time)).healthy


def test_round_trips_to_the_client_make_no_idle_blocker() -> None:
    hopping = ROOT | {"state": "idle in transaction", "transaction_s": 0.2, "in_state_s": 0.1}
    found = diagnose(patient(time=CONVOY, sessions=[hopping, *[WAITER] * 8])).findings
    assert found[0].cause == "row_locks"
    assert "idle_in_transaction_blocker" not in [finding.cause for finding in found]
    assert any("round trips" in said(item.why) for item in found[0].for_)
