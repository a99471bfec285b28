"""Commits with NOTIFY, which go one by one, whatever each of them waits for."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

BUSY = {("CPU", "CPU"): 0.2}
IN_LINE = {"wait_class": "Application", "wait_kind": "notify", "event": "object (NOTIFY)", "blocker_sid": 7000}
FUNCTIONS = [
    {"component": "postgresql", "db": DB, "name": "pg_proc.notifies", "entity": entity, "value": 1.0, "kind": "gauge"}
    for entity in ("bench.public.tell on public.bookings", "bench.public.told")
]


def line(wait_class: str, event: str, waiters: int = 8, **changes: Any) -> Dataset:
    """Sessions in line behind one, number 7000, that commits and waits for something itself."""
    first = {"sid": 7000, "wait_class": wait_class, "event": event}
    behind = [IN_LINE | {"sid": 7001 + number} for number in range(waiters)]
    return host(**{"time": BUSY, "sessions": [first, *behind, *changes.pop("more", ())]} | changes)


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


@pytest.mark.parametrize(("wait_class", "event"), [("Commit", "SyncRep"), ("Commit", "WALSync"), ("CPU", "CPU")])
def test_what_the_first_in_line_waits_for_does_not_take_the_line_over(wait_class: str, event: str) -> None:
    findings = found(line(wait_class, event, extra={"statistic": FUNCTIONS}))
    first = next(iter(findings.values()))
    assert (first.cause, first.severity) == ("commits_notify", "critical")
    assert first.impact.share == pytest.approx(8 / 9.2)
    told = [said(item.figure) for item in first.for_]
    assert f"100 % of that time the first in line is in {event}" in told
    assert "the source of bench.public.tell notifies" in told
    assert said(first.remedy[0]).startswith("Begin with bench.public.tell on public.bookings")
    if (standby := findings.get("standby_slows_commits")) is not None:
        assert (standby.impact.share or 0.0) < 0.2, "its own wait alone"
        assert standby.explained_by is None


def test_rows_that_are_held_in_that_line_are_its_symptom() -> None:
    row = {"wait_class": "Application", "event": "transactionid", "blocker_sid": 7001, "in_state_s": 0.2}
    findings = found(line("Commit", "SyncRep", more=[row | {"sid": 7100 + number} for number in range(6)]))
    assert next(iter(findings)) == "commits_notify"
    assert findings["row_locks"].explained_by == "commits_notify"


def test_commits_that_wait_for_a_standby_without_notify_are_the_standbys() -> None:
    sessions = [{"wait_class": "Commit", "event": "SyncRep", "sid": 7000 + number} for number in range(9)]
    findings = found(host(time=BUSY, sessions=sessions, extra={"statistic": FUNCTIONS}))
    assert next(iter(findings)) == "standby_slows_commits"
    assert "commits_notify" not in findings


def test_a_lock_on_another_object_is_one_of_the_tables_kind() -> None:
    sessions = [IN_LINE | {"wait_kind": None, "event": "object", "sid": 7001 + number} for number in range(8)]
    findings = found(host(time=BUSY, sessions=sessions))
    assert "table_locks" in findings
    assert "commits_notify" not in findings


def test_a_moment_in_line_is_no_finding() -> None:
    assert diagnose(host(sessions=[IN_LINE | {"sid": 7001, "samples": 1, "interval_s": 0.1}])).healthy


def test_who_notifies_is_asked_for_where_nothing_tells() -> None:
    assert "pg_stat_statements" in said(found(line("Commit", "SyncRep"))["commits_notify"].not_measured[0].grant)
    text = {"statement_id": "7", "text": "select pg_notify($1, $2)", "calls_per_s": 90.0, "elapsed_s_per_s": 0.1}
    told = found(line("Commit", "SyncRep", statements=[text]))["commits_notify"]
    assert "called 90 a second" in [said(item.figure) for item in told.for_]
    assert told.not_measured == ()
