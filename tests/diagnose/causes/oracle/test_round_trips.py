"""Round trips in the trace of a session."""

from typing import Any

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

EVENT = "SQL*Net message from client"
AT: dict[str, Any] = {"ts": 10_000_000, "interval_s": 10.0, "db": "oracle:shop", "instance": "shop1"}
# Of a line: 700 round trips of 12 to 13 ms, and ten longer ones.
EVEN = [(12_000.0, 12_500.0, 500), (12_500.0, 13_000.0, 200), (20_000.0, 21_000.0, 10)]


def session(buckets: list[tuple[float, float, int]], share: float = 0.9, *, is_trace: bool = True) -> Dataset:
    count = sum(number for *_, number in buckets)
    wait = {"event": EVENT, "wait_class": "Idle", "kind": "foreground", "waits_per_s": count / 10}
    busy = {"event": "CPU", "wait_class": "CPU", "kind": "foreground", "average_active_sessions": 0.003}
    statistic = [{"name": "v$sqlstats.fetches", "entity": "7", "value": count / 10}]
    statistic += [{"name": "v$sess_time_model.DB time", "value": 0.003, "unit": "s_per_s"}] if is_trace else []
    return Dataset.from_rows(
        wait=[AT | wait | {"average_active_sessions": share}, AT | busy],
        latency=[
            AT | {"subject": EVENT, "gt_us": low, "le_us": high, "count": number} for low, high, number in buckets
        ],
        statement=[AT | {"statement_id": "7", "text": "select *", "calls_per_s": 0.1, "rows_per_s": count * 5.0}],
        statistic=[AT | {"component": "oracle", "kind": "rate"} | row for row in statistic],
    )


def test_even_waits_for_the_client_are_its_line() -> None:
    (finding,) = diagnose(session(EVEN)).findings
    assert (finding.cause, finding.severity) == ("round_trips_many", "warning")
    assert said(finding.title) == "710 round trips of 12.5 ms each are 90 % of the time traced"
    assert said(finding.for_[1].figure) == "50 rows a fetch"


@pytest.mark.parametrize(
    "dataset",
    [
        session([(1_000.0, 2_000.0, 300), (50_000.0, 90_000.0, 300)]),  # a program that works between its calls
        session([(900_000.0, 1_000_000.0, 500)]),  # one that sleeps
        session([(12_000.0, 12_500.0, 50)]),
        session(EVEN, share=0.3),
        session(EVEN, is_trace=False),  # of many sessions, idle ones among them
    ],
)
def test_other_waits_for_the_client_are_idle(dataset: Dataset) -> None:
    assert not diagnose(dataset).findings
