"""Statements that count all rows of a table."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

COUNT = {
    "statement_id": "42", "text": "select count(*) from visits", "calls_per_s": 6.0, "elapsed_s_per_s": 0.75,
    "rows_per_s": 6.0, "hit_blocks_per_s": 12_000.0, "read_blocks_per_s": 0.0,
}  # fmt: skip


def told(**changes: Any) -> dict[str, Finding]:
    session = {"statement_id": "42", "wait_class": "CPU", "event": "CPU", "wait_kind": "cpu", "interval_s": 0.75}
    dataset = host(time={("CPU", "CPU"): 0.05}, sessions=[session], statements=[COUNT | changes])
    return {finding.cause: finding for finding in diagnose(dataset).findings}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM visits",
        'select sum(amount) as "all" from shop."visits" v;',
        "select count(id)\nfrom visits",
        "SELECT COUNT ( * ) FROM `visits`",
    ],
)
def test_a_count_of_everything_that_takes_most_of_the_time(text: str) -> None:
    found = told(text=text)
    finding = found["whole_table_counted"]
    assert finding.severity == "warning"
    assert "are counted 6 times/s, for 125.0 ms each" in said(finding.title)
    assert found["statement_dominates"].explained_by == "whole_table_counted"


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "select count(*) from visits where day = $1"},
        {"text": "select count(*) from visits, days"},
        {"text": "select count(*) from visits group by day"},
        {"text": "select max(id) from visits"},
        {"calls_per_s": 0.2, "elapsed_s_per_s": 0.75},  # a report
        {"calls_per_s": 60.0, "elapsed_s_per_s": 0.75},  # nobody feels it
    ],
    ids=["a condition", "a join", "groups", "an index may serve it", "seldom", "quick"],
)
def test_work_that_may_be_wanted_is_silent(changes: dict[str, Any]) -> None:
    assert "whole_table_counted" not in told(**changes)
