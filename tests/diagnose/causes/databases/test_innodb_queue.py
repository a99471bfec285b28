"""Statements that queue before InnoDB."""

import pytest

from diagnose.mysql_servers import found, mysql
from doctord.report.phrases import said

PLANNING = {"wait_class": "Other", "event": "statistics", "wait_kind": "parse"}


@pytest.mark.parametrize(
    ("limit", "queued", "is_found"), [("1", 3.8, True), ("1", 0.4, False), ("0", 3.8, False), ("16", 5.0, True)]
)
def test_a_queue_before_innodb_is_no_planning(limit: str, queued: float, *, is_found: bool) -> None:
    figures = {(None, "innodb_status.queries_queued"): queued, (None, "innodb_status.queries_inside"): float(limit)}
    dataset = mysql(sessions=[PLANNING] * 4 + [{}], gauges=figures, settings={"innodb_thread_concurrency": limit})
    causes = found(dataset)
    assert ("innodb_threads_limited" in causes) is is_found
    if is_found:
        assert said(causes["innodb_threads_limited"].title).endswith(f"innodb_thread_concurrency = {limit}")
        assert causes["hard_parsing"].explained_by == "innodb_threads_limited"


def test_full_cpus_speak_against_it() -> None:
    figures = {(None, "innodb_status.queries_queued"): 3.0}
    dataset = mysql(sessions=[{}] * 4, gauges=figures, settings={"innodb_thread_concurrency": "2"}, idle_pct=2.0)
    assert found(dataset)["innodb_threads_limited"].against
