"""Statements that look into every partition of a table."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

TIME = {("CPU", "CPU"): 0.1, ("Commit", "WALSync"): 0.1}
KEY = {"component": "pg_partitioned_table", "db": DB, "name": "bench.public.readings", "value": "range (at)"}
LOOK_UP = {
    "statement_id": "7", "text": "select avg(value) from readings where at::date = date $1 and device = $2",
    "calls_per_s": 8.0, "elapsed_s_per_s": 0.07, "rows_per_s": 8.0,
}  # fmt: skip
# By samples 40 ms a call, of which the server times 9.
SEEN = {"statement_id": "7", "wait_kind": "cpu", "interval_s": 0.32}


def partitions(leaves: float = 1000.0, least: float = 8.0) -> dict[tuple[str | None, str], float]:
    figures = {"leaves": leaves, "leaves_scanned": leaves, "scans": leaves * least, "least_scans": least}
    return {("bench.public.readings", f"pg_partition_tree.{name}"): value for name, value in figures.items()}


def found(
    postgres: dict[tuple[str | None, str], float],
    statement: dict[str, Any] = LOOK_UP,
    key: dict[str, str] = KEY,
    **more: Any,
) -> dict[str, Finding]:
    seen = host(time=TIME, postgres=postgres, statements=[statement], sessions=[SEEN], extra={"setting": [key]}, **more)
    return {finding.cause: finding for finding in diagnose(seen).findings}


def test_a_condition_that_casts_the_partition_key() -> None:
    findings = found(partitions())
    assert next(iter(findings)) == "partitions_not_pruned"
    finding = findings["partitions_not_pruned"]
    assert finding.confidence == 0.95
    told = " | ".join(said(item.figure) for item in finding.for_)
    assert "8.0 scans/s of the partition that is scanned least" in told
    assert "ms more on a CPU besides: planning" in told
    assert "divided by range of at" in told
    assert said(finding.remedy[0]) == "First: add a condition on at to the statement, on the column itself."
    assert findings["planning_slow"].explained_by == "partitions_not_pruned"


def test_a_condition_on_the_key_itself_speaks_against_it() -> None:
    ranged = LOOK_UP | {"text": "select avg(value) from readings where at >= $1 and device = $2"}
    finding = found(partitions(), ranged)["partitions_not_pruned"]
    assert finding.confidence == 0.6
    assert [said(item.why) for item in finding.against] == ["its condition compares it: is the value of the same type?"]


def test_a_range_serves_no_hash() -> None:
    ranged = LOOK_UP | {"text": "select avg(value) from readings where device > $1"}
    by_hash = KEY | {"value": "hash (device)"}
    assert found(partitions(), ranged, by_hash)["partitions_not_pruned"].confidence == 0.95


def test_parallel_workers_count_their_scans_too() -> None:
    assert "partitions_not_pruned" not in found(partitions(least=24.0))
    assert "partitions_not_pruned" in found(partitions(least=24.0), settings={"max_parallel_workers_per_gather": "2"})


@pytest.mark.parametrize(
    "postgres",
    [
        partitions(leaves=4.0),  # few partitions
        partitions(least=0.0),  # some are left out
        partitions(least=0.01),  # a nightly job looks into all
        {},
    ],
)
def test_else_it_is_silent(postgres: dict[tuple[str | None, str], float]) -> None:
    assert "partitions_not_pruned" not in found(postgres)


def test_quick_statements_are_well_whatever_they_look_into() -> None:
    quick = LOOK_UP | {"elapsed_s_per_s": 0.008}
    seen = host(time=TIME, postgres=partitions(leaves=12.0), statements=[quick], extra={"setting": [KEY]})
    assert "partitions_not_pruned" not in [finding.cause for finding in diagnose(seen).findings]
