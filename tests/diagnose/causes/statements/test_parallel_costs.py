"""Parallel workers that are started for statements of milliseconds, and for those that gain by them."""

from collections.abc import Mapping

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

FREE = {"parallel_setup_cost": "0", "parallel_tuple_cost": "0", "min_parallel_table_scan_size": "0"}
DEFAULTS = {"parallel_setup_cost": "1000", "parallel_tuple_cost": "0.1", "min_parallel_table_scan_size": "1024"}
STARTING, HARDLY = 1, 20


def found(
    settings: Mapping[str, str] = FREE, sessions: int = STARTING, calls_per_s: float = 60.0
) -> dict[str, Finding]:
    statement = {
        "statement_id": "5", "text": "select sum(amount) from stock where depot = $1", "calls_per_s": calls_per_s,
        "elapsed_s_per_s": 0.9, "rows_per_s": calls_per_s, "hit_blocks_per_s": 500.0, "read_blocks_per_s": 0.0,
    }  # fmt: skip
    waiting = {"wait_class": "IPC", "event": "BgWorkerShutdown", "statement_id": "5"}
    working = {"wait_class": "CPU", "event": "CPU", "statement_id": "5"}
    at_work = [waiting, *(working for _ in range(sessions - 1))]
    dataset = host(time={("CPU", "CPU"): 0.1}, sessions=at_work, statements=[statement], settings=settings)
    return {one.cause: one for one in diagnose(dataset).findings}


def test_settings_that_make_workers_seem_free() -> None:
    findings = found()
    finding = findings["parallel_workers_for_short_statements"]
    assert "parallel_setup_cost = 0, parallel_tuple_cost = 0" in said(finding.title)
    assert "SET parallel_setup_cost = '1000'" in " ".join(said(step) for step in finding.remedy)
    assert "other_waits" not in findings or findings["other_waits"].explained_by == finding.cause


@pytest.mark.parametrize(
    ("settings", "sessions", "calls_per_s"),
    [
        (DEFAULTS, STARTING, 60.0),
        (FREE, HARDLY, 60.0),
        (FREE, STARTING, 0.5),  # two seconds each: they gain by workers
        ({"min_parallel_table_scan_size": "1024"}, STARTING, 60.0),  # of 8 kB each: the default
    ],
)
def test_what_is_none(settings: Mapping[str, str], sessions: int, calls_per_s: float) -> None:
    assert "parallel_workers_for_short_statements" not in found(settings, sessions, calls_per_s)
