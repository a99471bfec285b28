"""Purge that is behind, or held back."""

from datetime import timedelta

import pytest

from diagnose.mysql_servers import COMMON, NOON, mysql
from diagnose.mysql_servers import found as by_cause
from doctord.dataset.dataset import Dataset
from doctord.report.phrases import said

HISTORY = (None, "global_status.innodb_history_list_length")


@pytest.mark.parametrize(("length", "is_found"), [(999_999.0, False), (1_000_000.0, True), (40_000_000.0, True)])
def test_a_long_history(length: float, *, is_found: bool) -> None:
    assert ("purge_behind" in by_cause(mysql(gauges={HISTORY: length}))) is is_found


@pytest.mark.parametrize(("age_s", "against"), [(7200.0, False), (60.0, True)])
def test_an_old_transaction_is_why_and_none_speaks_of_the_load(age_s: float, *, against: bool) -> None:
    open_now = [{"sid": 7, "state": "idle in transaction", "transaction_s": age_s}]
    finding = by_cause(mysql(sessions=open_now, gauges={HISTORY: 5e6}))["purge_behind"]
    assert said(finding.title) == "InnoDB has 5,000,000 transactions still to purge"
    assert bool(finding.against) is against


def stepping_over(
    *, age_s: float = 25.0, pages: float = 10_000.0, rows: float = 25.0, examined: float = 12.0
) -> Dataset:
    """A look for the next job, 12 times a second, of 14 ms each, beside a session that is idle in its transaction."""
    sessions = [{"statement_id": "d1"}, {"sid": 7, "state": "idle in transaction", "transaction_s": age_s,
                                         "wait_class": "Idle", "event": "idle", "wait_kind": "idle"}]  # fmt: skip
    statement = {"statement_id": "d1", "text": "SELECT `id` FROM `jobs` ORDER BY `id` LIMIT ?", "calls_per_s": 12.0,
                 "elapsed_s_per_s": 0.17, "rows_per_s": 12.0}  # fmt: skip
    examines = {("d1", "events_statements_summary_by_digest.sum_rows_examined"): examined}
    rates = {"global_status.innodb_buffer_pool_read_requests": pages, "global_status.innodb_rows_read": rows}
    return mysql(sessions=sessions, statements=[statement], rates=rates, gauges=examines)


def test_deleted_rows_that_an_open_transaction_keeps() -> None:
    finding = by_cause(stepping_over())["purge_behind"]
    assert "open for 25 s (session 7)" in said(finding.title)
    assert finding.severity != "note"


@pytest.mark.parametrize(
    "changes", [{"age_s": 3.0}, {"pages": 200.0}, {"examined": 12 * 1000.0}], ids=["young", "few pages", "many rows"]
)
def test_no_deleted_rows(changes: dict[str, float]) -> None:
    assert "purge_behind" not in by_cause(stepping_over(**changes))


def growing(
    per_s: float,
    age_s: float = 40.0,
    state: str = "idle in transaction",
    began_at: float = 9e4,
    in_state_s: float | None = None,
) -> Dataset:
    moments = [COMMON | {"ts": NOON + timedelta(seconds=5 * number)} for number in range(5)]
    readings = [
        moment | {"component": "mysql", "kind": "gauge", "name": "global_status.innodb_history_list_length",
                  "value": began_at + 5 * number * per_s}
        for number, moment in enumerate(moments)
    ]  # fmt: skip
    idle_s = age_s if in_state_s is None else in_state_s
    reader = {"sid": 7, "kind": "client", "state": state, "transaction_s": age_s, "in_state_s": idle_s}
    return Dataset.from_rows(statistic=readings, session=[moment | reader for moment in moments])


@pytest.mark.parametrize(
    ("dataset", "is_found"),
    [
        (growing(2000.0), True),
        (growing(10.0), False),
        (growing(2000.0, age_s=10.0), False),
        (growing(2000.0, state="active"), False),
        (growing(2000.0, in_state_s=0.1), False),
        (growing(-500.0), False),
        (growing(20.0, began_at=500.0), False),
    ],
    ids=["grows", "a day to go", "young", "at work", "between two statements", "purged", "short"],
)
def test_purge_that_an_idle_session_holds_back(dataset: Dataset, *, is_found: bool) -> None:
    finding = by_cause(dataset).get("purge_behind")
    assert (finding is not None) is is_found
    if finding:
        assert (finding.severity, "session 7" in said(finding.title)) == ("warning", True)


def test_a_file_that_names_no_server_is_no_error() -> None:
    """As a monitor's output may: nobody knows whose sessions these are."""
    nowhere = {"db": None, "component": "mysql", "kind": "gauge", "name": HISTORY[1], "value": 50_000.0}
    assert "purge_behind" not in by_cause(Dataset.from_rows(statistic=[COMMON | {"ts": NOON} | nowhere]))
