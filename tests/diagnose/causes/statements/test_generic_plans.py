"""A server that plans prepared statements for no value, and the statements that pay for it."""

from typing import Any

import pytest

from diagnose.causes.tables.test_indexes import IDLE, LOOKED, index
from diagnose.hosts import DB, host
from doctord.dataset.role_settings import COMPONENT
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

FORCED = {"plan_cache_mode": "force_generic_plan"}
LOOK_UP = {
    "statement_id": "7", "text": "SELECT id, at FROM shipments WHERE state = $1 AND depot = $2 ORDER BY at LIMIT $3",
    "calls_per_s": 20.0, "elapsed_s_per_s": 0.14, "rows_per_s": 100.0, "hit_blocks_per_s": 6_000.0,
    "read_blocks_per_s": 0.0,
}  # fmt: skip
WORKER = {"statement_id": "7", "kind": "parallel worker", "interval_s": 0.05, "samples": 6}
RUNS = {"statement_id": "7", "user": "depots", "interval_s": 0.07}


def found(
    statement: dict[str, Any] = LOOK_UP,
    settings: dict[str, str] = FORCED,
    sessions: tuple[dict[str, Any], ...] = (RUNS,),
    **more: Any,
) -> Finding | None:
    seen = host(time=IDLE, statements=[statement], settings=settings, sessions=sessions, **more)
    return next((one for one in diagnose(seen).findings if one.cause == "generic_plan_forced"), None)


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(item.figure) for item in side)


def test_a_look_up_that_looks_at_many_blocks_for_its_rows() -> None:
    finding = found()
    assert finding is not None
    assert (finding.severity, finding.confidence, finding.database) == ("warning", 0.75, DB)
    assert "takes 7 ms" in said(finding.title)
    assert "plan_cache_mode = force_generic_plan" in figures(finding.for_)
    assert "60 blocks for each row" in figures(finding.for_)
    assert not finding.against
    assert "force_custom_plan" in said(finding.not_measured[0].grant)


def test_one_that_starts_workers_for_a_few_rows() -> None:
    finding = found(LOOK_UP | {"hit_blocks_per_s": 400.0}, sessions=(RUNS, WORKER))
    assert finding is not None
    assert (finding.severity, finding.confidence) == ("warning", 0.75)
    assert "6 samples of parallel workers" in figures(finding.for_)


def test_of_a_sum_the_blocks_for_its_one_row_tell_nothing() -> None:
    total = LOOK_UP | {"text": "SELECT sum(weight) FROM shipments WHERE state = $1", "rows_per_s": 20.0}
    finding = found(total)
    assert finding is not None
    assert finding.severity == "note"
    started = found(total, sessions=(RUNS, WORKER))
    assert started is not None
    assert started.severity == "warning"


def test_without_either_it_is_a_question() -> None:
    finding = found(LOOK_UP | {"hit_blocks_per_s": 400.0}, sessions=(RUNS, WORKER | {"samples": 2}))
    assert finding is not None
    assert (finding.severity, finding.confidence) == ("note", 0.4)
    assert "20 blocks a call" in figures(finding.against)


@pytest.mark.parametrize(
    ("statement", "settings"),
    [
        (LOOK_UP, {"plan_cache_mode": "auto"}),
        (LOOK_UP, {}),
        (LOOK_UP | {"elapsed_s_per_s": 0.04}, FORCED),
        (LOOK_UP | {"calls_per_s": 0.2, "elapsed_s_per_s": 0.002, "rows_per_s": 1.0}, FORCED),
        (LOOK_UP | {"rows_per_s": 20_000.0}, FORCED),
        (LOOK_UP | {"text": "SELECT id FROM shipments WHERE state IS NULL"}, FORCED),
        (LOOK_UP | {"text": "SELECT pg_sleep($1)"}, FORCED),
    ],
    ids=["auto", "not told", "quick", "seldom", "many rows", "no parameter", "no table"],
)
def test_statements_that_it_is_not(statement: dict[str, Any], settings: dict[str, str]) -> None:
    assert found(statement, settings) is None


def test_what_waits_for_a_lock_is_slow_for_another_reason() -> None:
    waiting = RUNS | {"wait_class": "Lock", "event": "transactionid", "interval_s": 0.14}
    assert found(sessions=(waiting,)) is None


def test_a_role_that_has_it_otherwise_is_not_held_by_it() -> None:
    held = {"component": COMPONENT, "db": DB, "name": "depots * plan_cache_mode", "value": "auto"}
    assert found(extra={"setting": [held]}) is None
    other = held | {"name": "reports * plan_cache_mode"}
    assert found(extra={"setting": [other]}) is not None


def test_a_table_that_is_read_whole_is_a_matter_of_its_index() -> None:
    scanned = LOOK_UP | {"text": "SELECT * FROM orders WHERE customer = $1", "elapsed_s_per_s": 1.9, "rows_per_s": 60.0}
    seen = host(
        time=IDLE, statements=[scanned], settings=FORCED, postgres=LOOKED, sessions=[RUNS | {"interval_s": 1.0}],
        extra={"setting": [index("customer")]},
    )  # fmt: skip
    causes = [one.cause for one in diagnose(seen).findings]
    assert "index_not_used" in causes
    assert "generic_plan_forced" not in causes
