"""Locks of Oracle, by the kind of enqueue."""

import pytest

from diagnose.oracle_hosts import found
from doctord.report.phrases import said

KINDS = {
    "enq: TX - row lock contention": "row_locks",
    "enq: TX - allocate ITL entry": "transaction_slots_missing",
    "enq: TX - index contention": "index_splits",
    "enq: TM - contention": "table_locks",
    "enq: SQ - contention": "sequence_contention",
    "enq: HW - contention": "space_allocation",
    "enq: RO - fast object reuse": "object_checkpoints",
    "enq: CF - contention": "control_file_busy",
    "enq: UL - contention": "table_locks",
    "enq: ZZ - contention": "other_enqueues",
    "enq: US - contention": "undo_contention",
}


@pytest.mark.parametrize(("event", "cause"), KINDS.items())
def test_each_kind_has_one_cause_when_it_is_felt(event: str, cause: str) -> None:
    findings = found(waits={event: (1.0, 200.0)})
    assert set(findings) == {cause}
    assert findings[cause].impact.share == pytest.approx(0.2 / (1.2 + 0.2 + 0.2), abs=0.03)
    assert found(waits={event: (1.0, 50.0)}) == {}


def test_the_segment_is_named() -> None:
    figures = {
        ("v$segment_statistics.row lock waits", "APP.ORDERS"): 1.0,
        ("v$segment_statistics.row lock waits", "B"): 0.2,
    }
    (finding,) = found(waits={"enq: TX - row lock contention": (1.0, 300.0)}, figures=figures).values()
    assert any(said(item.figure).startswith("APP.ORDERS") and "83 %" in said(item.figure) for item in finding.for_)


@pytest.mark.parametrize(("ms", "words"), [(5000.0, "stay open"), (10.0, "hot row")])
def test_long_waits_are_open_transactions_and_short_ones_a_hot_row(ms: float, words: str) -> None:
    (finding,) = found(waits={"enq: TX - row lock contention": (300.0 / ms, ms)}).values()
    assert any(words in said(item.why) for item in finding.for_)


def test_an_enqueue_says_what_the_lock_is_for() -> None:
    (finding,) = found(waits={"enq: JI - contention": (1.0, 300.0)}).values()
    assert any("materialized view" in said(item.why) for item in finding.for_)
    assert "Spread the refreshes" in said(finding.remedy[0])
