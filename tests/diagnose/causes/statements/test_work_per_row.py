"""Statements that look at very many blocks for few rows."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

TIME = {("CPU", "CPU"): 0.2, ("Commit", "WALSync"): 0.1}
PAGE = {
    "statement_id": "7", "text": "select * from items order by id offset $1 limit $2", "calls_per_s": 5.0,
    "elapsed_s_per_s": 0.15, "rows_per_s": 100.0, "hit_blocks_per_s": 40_000.0, "read_blocks_per_s": 0.0,
}  # fmt: skip


def found(statement: dict[str, Any], **more: Any) -> dict[str, Finding]:
    seen = host(**{"time": TIME} | more, statements=[statement])
    return {finding.cause: finding for finding in diagnose(seen).findings}


def test_pages_by_offset() -> None:
    finding = found(PAGE)["few_rows_of_many_blocks"]
    assert (finding.severity, finding.confidence) == ("warning", 0.6)
    assert "8,000 blocks for 20 rows" in said(finding.title)
    assert said(finding.for_[0].figure) == "400 blocks for each row"
    assert [item.what for item in finding.not_measured] == ["where in its plan the blocks are looked at"]


def test_a_small_part_of_the_time_is_a_note() -> None:
    busy = {("CPU", "CPU"): 1.9, ("Commit", "WALSync"): 0.1}
    assert found(PAGE, time=busy)["few_rows_of_many_blocks"].severity == "note"


@pytest.mark.parametrize(
    "changes",
    [
        {"hit_blocks_per_s": 1000.0},  # few blocks
        {"rows_per_s": 50_000.0},  # many rows
        {"elapsed_s_per_s": 0.01},  # quick
        {"calls_per_s": 0.05},  # a job
        {"text": "select count(*) from items"},
        {"text": "select kind from items group by kind"},
        {"text": "vacuum items"},
        {"text": "select refresh_totals()"},
        {"hit_blocks_per_s": None, "read_blocks_per_s": None},
        {"rows_per_s": None},
    ],
)
def test_else_it_is_silent(changes: dict[str, Any]) -> None:
    assert "few_rows_of_many_blocks" not in found(PAGE | changes)


def test_a_statement_that_waits_for_a_lock_is_slow_for_that() -> None:
    waiting = {"statement_id": "7", "wait_class": "Application", "event": "transactionid", "wait_kind": "row lock"}
    assert "few_rows_of_many_blocks" not in found(PAGE, sessions=[waiting])


WORKER = PAGE | {
    "text": "update jobs set state = $1 where id = (select id from jobs order by id limit $2 for update skip locked)"
}
TAKES = {"statement_id": "8", "calls_per_s": 0.1, "elapsed_s_per_s": 0.001, "rows_per_s": 1.0}
MOVER = {
    "sid": 8000, "statement_id": "8", "state": "idle in transaction", "transaction_s": 25.0, "user": "mover",
    "program": "mover",
}  # fmt: skip


def stepping(text: str | None, session: dict[str, Any] = MOVER) -> Finding:
    others = [TAKES | {"text": text}] if text else []
    seen = host(time=TIME, statements=[WORKER, *others], sessions=[session])
    return {finding.cause: finding for finding in diagnose(seen).findings}["few_rows_of_many_blocks"]


@pytest.mark.parametrize(
    ("text", "confidence", "words"),
    [
        ("select id from jobs limit $1 for update", 0.8, "rows that session 8000 of mover mover has locked: update"),
        ("delete from public.jobs where id < $1", 0.8, "rows that session 8000 of mover mover has locked: update"),
        (None, 0.6, "rows that session 8000 of mover mover has locked, it seems: update"),
    ],
    ids=["for update", "changed", "not told"],
)
def test_who_holds_the_rows_that_are_skipped(text: str | None, confidence: float, words: str) -> None:
    finding = stepping(text)
    assert words in said(finding.title)
    assert finding.confidence == confidence


@pytest.mark.parametrize(
    ("text", "session"),
    [
        ("select * from jobs", MOVER),
        ("update other set a = $1", MOVER),
        ("select id from jobs limit $1 for update", MOVER | {"transaction_s": 0.5}),
        (None, MOVER | {"state": "active"}),
    ],
    ids=["reads alone", "another table", "a moment", "a report"],
)
def test_who_has_locked_nothing_there_is_not_to_blame(text: str | None, session: dict[str, Any]) -> None:
    assert "session" not in said(stepping(text, session).title)
