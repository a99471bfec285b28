"""Replicas of MySQL and MariaDB that have stopped, or are far behind."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
DB, SOURCE = "mysql:3307", "db1:3306"
FOLLOWS = {"receiver_running": 1.0, "applier_running": 1.0, "seconds_behind_source": 0.0, "sql_delay": 0.0,
           "last_io_errno": 0.0, "last_sql_errno": 0.0, "not_applied_bytes": 0.0}  # fmt: skip


def replica(
    *looks: dict[str, float | None], sessions: Sequence[dict[str, Any]] = (), settings: dict[str, str] | None = None
) -> dict[str, Finding]:
    """The findings where a replica told this at looks five seconds apart; what is null was not told."""
    statistic = [
        {"ts": NOON + timedelta(seconds=5 * number), "host": "h", "component": "mysql", "db": DB, "entity": SOURCE,
         "kind": "gauge", "name": f"replica_status.{name}", "value": value}
        for number, look in enumerate(looks) for name, value in (FOLLOWS | look).items() if value is not None
    ]  # fmt: skip
    told = [{"ts": NOON, "host": "h", "component": "mysql", "db": DB, "name": name, "value": value}
            for name, value in (settings or {}).items()]  # fmt: skip
    about = {"ts": NOON, "interval_s": 0.1, "host": "h", "db": DB, "state": "active"}
    dataset = Dataset.from_rows(statistic=statistic, setting=told, session=[about | one for one in sessions])
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def test_one_that_follows_is_not_told() -> None:
    assert not {"standby_behind", "standby_stands_still"} & {*replica({}, {}, {"seconds_behind_source": 20.0})}


DUPLICATE = {"applier_running": 0.0, "seconds_behind_source": None, "last_sql_errno": 1062.0}


def test_an_applier_that_met_a_row_which_is_there_already() -> None:
    finding = replica(DUPLICATE, DUPLICATE)["standby_stands_still"]
    why = "a row with that key is here already (error 1062)"
    assert said(finding.title) == f"Replica {DB} applies nothing from {SOURCE}: {why}"
    assert (finding.severity, finding.against, finding.database) == ("warning", (), DB)
    assert "Last_SQL_Error" in said(finding.remedy[0])


@pytest.mark.parametrize(
    ("look", "what", "why", "step"),
    [
        ({"receiver_running": 0.0, "last_io_errno": 2003.0}, "receives",
         "the source is not reached (error 2003)", "log in"),
        ({"receiver_running": 0.0, "last_io_errno": 13114.0}, "receives",
         "the source cannot send the log from there on (error 13114)", "CLONE"),
        ({"applier_running": 0.0, "last_sql_errno": 9999.0}, "applies", "error 9999", "Last_SQL_Error"),
        ({"applier_running": 0.0, "receiver_running": 0.0}, "applies", "it was stopped", "START REPLICA"),
    ],
    ids=["not reached", "no log", "any other error", "by a command"],
)  # fmt: skip
def test_why_it_stopped(look: dict[str, float | None], what: str, why: str, step: str) -> None:
    finding = replica(look, look)["standby_stands_still"]
    assert said(finding.title) == f"Replica {DB} {what} nothing from {SOURCE}: {why}"
    assert step in " ".join(map(said, finding.remedy))
    assert bool(finding.against) is (why == "it was stopped")


def test_one_that_was_stopped_for_a_moment_is_not_told() -> None:
    assert "standby_stands_still" not in replica(DUPLICATE, DUPLICATE, {})


def late(seconds: float, **more: float) -> dict[str, float | None]:
    return {"seconds_behind_source": seconds, "not_applied_bytes": 5e8, **more}


def test_one_applier_that_waits_for_a_lock_of_somebody() -> None:
    applier = {
        "sid": 5,
        "kind": "replication applier",
        "wait_class": "Application",
        "event": "LOCK WAIT",
        "blocker_sid": 77,
    }
    report = {"sid": 77, "kind": "client", "user": "report", "wait_class": "CPU", "event": "CPU"}
    found = replica(
        late(300.0), late(305.0), sessions=[*[applier] * 8, report], settings={"replica_parallel_workers": "1"}
    )  # fmt: skip
    finding = found["standby_behind"]
    assert said(finding.title) == f"Replica {DB} is 5 min 5 s behind {SOURCE}"
    assert (finding.severity, finding.confidence) == ("warning", 0.9)
    told = [said(item.figure) for item in finding.for_]
    assert "477 MiB received and not applied" in told
    assert "replica_parallel_workers = 1" in told
    assert "100 % of its samples at: LOCK WAIT" in told
    assert "behind session 77 (report)" in told


def test_one_that_is_as_late_as_it_was_told_to_be_is_not_behind() -> None:
    assert "standby_behind" not in replica(late(3610.0, sql_delay=3600.0))
    assert "standby_behind" in replica(late(3670.0, sql_delay=3600.0))


def test_one_that_catches_up_is_told_as_such() -> None:
    finding = replica(late(400.0), late(100.0))["standby_behind"]
    assert said(finding.against[0].figure) == "5 min less than before"


def test_an_applier_is_no_client_whose_time_counts() -> None:
    applier = {"sid": 5, "kind": "replication applier", "wait_class": "Commit", "event": "Waiting for group commit"}
    client = {"sid": 6, "kind": "client", "wait_class": "CPU", "event": "CPU"}
    about = {"ts": NOON, "interval_s": 1.0, "host": "h", "db": DB, "state": "active"}
    time = diagnose(Dataset.from_rows(session=[about | applier, about | client])).time
    assert {part.wait_class for part in time} == {"CPU"}
