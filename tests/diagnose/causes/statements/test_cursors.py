"""Cursors that are walked through a row at a time."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said


def statement(text: str, calls_per_s: float, rows: float | None) -> dict[str, Any]:
    per_s = None if rows is None else calls_per_s * rows
    return {"statement_id": text, "text": text, "calls_per_s": calls_per_s, "rows_per_s": per_s, "elapsed_ms": 0.01}


@pytest.mark.parametrize(
    ("fetches", "rows", "declared", "is_told"),
    [
        (300.0, 1.0, 1.0, True),
        (99.0, 1.0, 1.0, False),  # whoever pages by hand
        (25.0, 1.0, 0.0, True),
        (15.0, 1.0, 0.0, False),
        (300.0, 100.0, 1.0, False),
        (300.0, None, 1.0, False),
    ],
)
def test_a_fetch_for_each_row(fetches: float, rows: float | None, declared: float, *, is_told: bool) -> None:
    told = [statement("fetch ? from x", fetches, rows)]
    if declared:
        told.append(statement("declare x cursor for select id from orders", declared, 0.0))
    found = {finding.cause: finding for finding in diagnose(host(statements=told)).findings}
    assert ("rows_fetched_one_by_one" in found) is is_told
    if is_told:
        finding = found["rows_fetched_one_by_one"]
        assert finding.severity == "warning"
        assert finding.not_measured
        assert f"{fetches:.0f} per s" in said(finding.title)
