"""Statements of a log, summed up over its minutes."""

from typing import Any

import pytest

from doctord.analyse.sql.logged_statements import durations_are_all_told, logged
from doctord.dataset.dataset import Dataset


def minute(number: int, text: str, count: float, each_s: float) -> dict[str, Any]:
    rates = {"calls_per_s": count / 60, "elapsed_s_per_s": count * each_s / 60}
    where = {"ts": number * 60_000_000, "interval_s": 60.0, "db": "postgresql", "statement_id": text, "text": text}
    return where | rates


def test_a_statement_is_summed_over_its_minutes() -> None:
    rows = [minute(1, "SELECT 1", 2, 4.0), minute(2, "SELECT 1", 6, 8.0), minute(2, "commit", 1, 90.0)]
    commit, select = logged(Dataset.from_rows(statement=rows))
    assert (commit.is_commit, commit.total_s) == (True, pytest.approx(90))
    assert (select.is_commit, select.count, select.mean_ms) == (False, pytest.approx(8), pytest.approx(7000))


def test_a_statement_without_a_time_is_left_out() -> None:
    assert logged(Dataset.from_rows(statement=[minute(1, "SELECT 1", 2, 4.0) | {"elapsed_s_per_s": None}])) == []


@pytest.mark.parametrize(("gt_us", "told"), [(512.0, True), (1_000_000.0, False)])
def test_a_log_with_quick_statements_tells_them_all(gt_us: float, *, told: bool) -> None:
    row = {"ts": 60_000_000, "interval_s": 60.0, "subject": "statement duration", "count": 3}
    row |= {"gt_us": gt_us, "le_us": gt_us * 2}
    assert durations_are_all_told(Dataset.from_rows(latency=[row])) is told
    assert not durations_are_all_told(Dataset())
